/* Where a model may be applied: no farther from the training rows, in the features, than held-out
 * rows were. It sees new ground, never a change of law. Internal. */
#ifndef SR_ENSEMBLE_APPLICABILITY_H
#define SR_ENSEMBLE_APPLICABILITY_H

#include <specroute/ensemble.h>

#include "core/bytes.h"
#include "core/core.h"

/* Owns what it holds; free with sr__applicability_free. */
struct sr_applicability {
  int64_t rows, features;
  double limit; /* a row farther than this from every row below is outside */
  float *mean;  /* per feature */
  float *scale; /* one over its standard deviation; 0: not compared (categories, constants) */
  float *row;   /* rows x features: a sample of the training rows, standardized; missing = 0 */
};

/* `fold` by row: a distance counts between rows of different folds. The limit is the upper whisker,
 * Q3 + 1.5 (Q3 - Q1), of the distances from a row to the nearest of another fold, among at most
 * 2,000 rows drawn by `seed`. *made stays NULL where no feature can be compared or there are fewer
 * than 20 rows or two folds. Cost: 4e6 distances. */
SR_MUST_CHECK sr_status sr__applicability_new(sr_context *ctx, const sr_table_view *table,
                                              const int32_t *fold, uint64_t seed,
                                              sr_applicability **made);
void sr__applicability_free(const sr_allocator *allocator, sr_applicability **a);
/* outside[i] is 1 where row first + i of the table, whose features are those of training, lies
 * outside, else 0. */
SR_MUST_CHECK sr_status sr__applicability_ask(sr_context *ctx, const sr_applicability *a,
                                              const sr_table_view *table, int64_t first,
                                              int64_t count, float *outside);
void sr__applicability_save(const sr_applicability *a, sr__bytes *to);
SR_MUST_CHECK sr_status sr__applicability_load(sr_context *ctx, sr__byte_reader *reader,
                                               int64_t features, sr_applicability **a);

#endif
