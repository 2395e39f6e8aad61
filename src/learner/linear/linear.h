/* Ridge regression of several targets on features that are made tile by tile, with the penalty
 * chosen by the closed form of the left-out error. Internal.
 *
 * Minimizes  sum_i weight_i |y_i - b - W'z_i|^2 + penalty |W|^2,  z being the features with mean 0
 * and deviation 1 over the rows (constant ones 0). Up to as many rows as features the solution
 * comes from the Gram matrix of the rows, otherwise from that of the features. One penalty serves
 * all targets; it is walked over 10^(-3 + 6 i / 9), downhill from 10. */
#ifndef SR_LEARNER_LINEAR_H
#define SR_LEARNER_LINEAR_H

#include "core/bytes.h"
#include "core/core.h"

/* Rows [first, first + count) and where their features go: out[(feature - tile_begin[tile]) *
 * stride + row - first]; first is a multiple of 8 and stride >= count rounded up to one. */
typedef struct sr__made_rows {
  int64_t first, count;
  float *out;
  int64_t stride;
} sr__made_rows;

/* Tiles of features for some rows. All features are finite. */
typedef struct sr__feature_maker {
  int64_t rows, features;
  int64_t tiles;
  const int64_t *tile_begin; /* tiles + 1 */
  sr_status (*make)(sr_context *ctx, const void *data, int64_t tile, sr__made_rows rows);
  const void *data;
} sr__feature_maker;

/* Sets of rows that are left out together: rows row[begin[s] .. begin[s + 1]), of which the first
 * judged[s] are predicted from all rows outside of the set and the rest is a buffer. A row is
 * judged at most once. */
typedef struct sr__left_out {
  int64_t sets;
  const int64_t *begin; /* sets + 1 */
  const int64_t *judged;
  const int32_t *row;
} sr__left_out;

typedef struct sr__linear_problem {
  const sr__feature_maker *maker;
  const double *target;         /* one target after the other, maker->rows values each */
  int32_t targets;              /* >= 1 */
  const double *weight;         /* > 0; NULL: 1 each */
  const sr__left_out *left_out; /* NULL: every row by itself */
  double most_penalty;          /* of the walk; at least 10 */
  int64_t memory;               /* bytes: features are kept where all fits, else made twice */
} sr__linear_problem;

/* Score of target t: intercept[t] + sum over f of coefficient[f * targets + t] x_f, f increasing.
 */
typedef struct sr__linear_model {
  sr_allocator allocator;
  int64_t features;
  int32_t targets;
  double penalty;
  float *coefficient;
  double *intercept;
} sr__linear_model;

enum { SR__PENALTIES = 19 };
/* 10^(-3 + 6 i / 9). */
double sr__linear_penalty(int i);
/* How many of them, from the least on, are at most `most`. */
int sr__linear_penalties(double most);
/* The largest penalty to try on rows of these classes: 10^6, or 10^3 where a class has fewer than
 * three rows. */
SR_MUST_CHECK sr_status sr__linear_most_penalty(sr_context *ctx, const int32_t *label, int64_t rows,
                                                int32_t classes, double *most);

typedef struct sr__linear_report {
  double curve[SR__PENALTIES]; /* mean squared left-out error; NaN where the walk did not look */
  double error;                /* at the chosen penalty */
  int factorizations;
  bool held;     /* the features were kept */
  int64_t bytes; /* of the largest arrays together */
} sr__linear_report;

/* How large a problem is. */
typedef struct sr__linear_size {
  int64_t rows, features;
  int64_t widest;      /* features of the widest tile */
  int64_t largest_set; /* rows that are left out together; 0: each by itself */
  int32_t targets;
} sr__linear_size;

/* The most bytes that a fit holds at once, and whether it keeps its features, for which all must
 * fit into `memory`. */
int64_t sr__linear_bytes(const sr__linear_size *size, int64_t memory, bool *held);
/* `score` (targets x rows, may be NULL) gets the left-out scores, NaN for rows that are not judged.
 * SR_ERROR_DATA with fewer than two rows. */
SR_MUST_CHECK sr_status sr__linear_fit(sr_context *ctx, const sr__linear_problem *problem,
                                       double *score, sr__linear_report *report,
                                       sr__linear_model **model);
void sr__linear_free(sr__linear_model *model);

/* Scores of one row, a score per target; the same bytes as among others. */
void sr__linear_score(const sr__linear_model *model, const float *x, double *score);
/* Scores of all rows of a maker; score[t * score_stride + i], score_stride >= the rows rounded up
 * to a multiple of 8. */
SR_MUST_CHECK sr_status sr__linear_predict(sr_context *ctx, const sr__linear_model *model,
                                           const sr__feature_maker *maker, double *score,
                                           int64_t score_stride);

void sr__linear_save(const sr__linear_model *model, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__linear_load(sr__byte_reader *reader, sr__linear_model **model);

#endif
