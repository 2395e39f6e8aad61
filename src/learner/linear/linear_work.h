/* Between the files of src/learner/linear. */
#ifndef SR_LEARNER_LINEAR_WORK_H
#define SR_LEARNER_LINEAR_WORK_H

#include "gram.h"
#include "linear.h"

/* One problem while it is solved. */
typedef struct sr__linear_work {
  sr_context *ctx;
  const sr__linear_problem *problem;
  int64_t n, p;
  int32_t targets;
  double total;        /* of the weights */
  double judged;       /* weight of the rows that are judged */
  int64_t largest_set; /* rows; 1 where every row is left out by itself */
  double *root;        /* square root of each row's weight */
  double *target;      /* targets x n: root (y - mean) */
  double *target_mean;
  double *mean, *scale; /* of each feature; scale is 1 / deviation, 0 where it is constant */
  double *weights;      /* p x targets: W, of the standardized features */
  double *residual;     /* targets x n: root (y - left-out score) at the chosen penalty */
  sr__linear_report report;
} sr__linear_work;

/* Rows that fit a multiple of 8. */
static inline int64_t sr__linear_stride(int64_t rows) { return (rows + 7) / 8 * 8; }
int64_t sr__linear_widest_tile(const sr__feature_maker *maker);

/* The left-out error at a penalty; `solution` and `residual` (targets x n) get what belongs to it.
 * INFINITY where the matrix cannot be factored. */
typedef sr_status (*sr__penalty_fn)(sr__linear_work *work, void *data, double penalty,
                                    double *solution, double *residual, double *error);
/* Walks downhill from penalty 10; `size` numbers of solution. Leaves those of the best penalty in
 * `solution` and work->residual and gives its number. */
SR_MUST_CHECK sr_status sr__linear_walk(sr__linear_work *work, sr__penalty_fn at, void *data,
                                        int64_t size, double *solution, int *best);

/* Bytes of the largest arrays of both ways, features with them where they are held. */
int64_t sr__linear_rows_bytes(const sr__linear_size *size, int64_t memory, bool *held);
int64_t sr__linear_features_bytes(const sr__linear_size *size, int64_t memory, bool *held);
/* From the Gram matrix of the rows: fills weights and residual. */
SR_MUST_CHECK sr_status sr__linear_by_rows(sr__linear_work *work, double *penalty);
/* From the Gram matrix of the features. */
SR_MUST_CHECK sr_status sr__linear_by_features(sr__linear_work *work, double *penalty);

/* A Gram matrix G with penalty[i] more on its diagonal, and level v v' more everywhere. */
typedef struct sr__penalized {
  int64_t side;
  double *gram; /* the upper triangle and `diagonal` keep G, the lower is overwritten */
  const double *diagonal;
  const double *penalty;
  double level;
  const double *direction; /* v */
} sr__penalized;

/* The lower triangle of `gram` becomes the matrix's factor. */
SR_MUST_CHECK sr_status sr__linear_factor(sr_context *ctx, const sr__penalized *matrix,
                                          bool *definite);
/* By the weights of the rows that are judged. */
double sr__linear_mean_square(const sr__linear_work *work, const double *residual);

#endif
