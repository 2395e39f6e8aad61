/* Ridge classification with the penalty chosen by leave-one-out error. The solver stands apart from
 * the learner, so that learners which make their own features can end in it. Internal. */
#ifndef SR_LEARNER_RIDGE_H
#define SR_LEARNER_RIDGE_H

#include "core/core.h"

/* Rows row[0..rows) of a matrix with `columns` floats a row; NaN = missing, taken as the mean. */
typedef struct sr__ridge_problem {
  const float *x;
  int64_t columns;
  const int32_t *row;
  int64_t rows;
  const double *weight; /* > 0, one a row of the problem */
  const int32_t *label; /* in [0, classes), one a row of the problem */
  int32_t classes;
} sr__ridge_problem;

/* Decision of class k at x: intercept[k] + sum over j of coefficient[k * columns + j] (x_j -
 * mean_j). Classes that the problem did not hold are not `seen` and have zeros. */
typedef struct sr__ridge_model {
  int32_t classes;
  int64_t columns;
  double alpha;
  double *mean;
  double *coefficient;
  double *intercept;
  uint8_t *seen;
} sr__ridge_model;

/* Fills a zeroed model, its alpha the best of sr__linear_penalty up to sr__linear_most_penalty;
 * free with sr__ridge_free_model even after a failure. */
SR_MUST_CHECK sr_status sr__ridge_solve(sr_context *ctx, const sr__ridge_problem *problem,
                                        sr__ridge_model *model);
void sr__ridge_free_model(const sr_allocator *allocator, sr__ridge_model *model);
SR_MUST_CHECK sr_status sr__ridge_new_model(sr_context *ctx, int32_t classes, int64_t columns,
                                            sr__ridge_model *model);
/* The class of the largest decision; `centered` holds `columns` doubles of scratch, `decision` (may
 * be NULL) gets one number a class. */
int32_t sr__ridge_vote(const sr__ridge_model *model, const float *x, double *centered,
                       double *decision);

#endif
