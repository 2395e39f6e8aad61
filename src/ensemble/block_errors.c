/* Errors counted by block, because blocks, not rows, are the independent units. */
#include <math.h>
#include <specroute/stats.h>
#include <stdlib.h>

#include "ensemble.h"

enum { REPLICATES = 2000 };

sr_status sr__count_block_errors(sr_context *ctx, const int32_t *label, const int32_t *vote,
                                 int64_t rows, const int32_t *block, int32_t blocks,
                                 sr__block_errors *errors) {
  sr_status status = SR_OK;
  *errors = (sr__block_errors){.blocks = blocks};
  SR_NEW_ZERO(ctx, errors->wrong, blocks);
  SR_NEW_ZERO(ctx, errors->judged, blocks);
  for (int64_t i = 0; i < rows; i++) {
    if (label[i] < 0 || vote[i] < 0) continue;
    errors->judged[block[i]] += 1.0;
    errors->wrong[block[i]] += vote[i] != label[i];
  }
cleanup:
  if (status != SR_OK) sr__block_errors_free(ctx, errors);
  return status;
}

void sr__block_errors_free(sr_context *ctx, sr__block_errors *errors) {
  sr__free(ctx, errors->wrong);
  sr__free(ctx, errors->judged);
  *errors = (sr__block_errors){0};
}

double sr__block_error_rate(const sr__block_errors *errors) {
  double wrong = 0.0, judged = 0.0;
  for (int32_t b = 0; b < errors->blocks; b++) {
    wrong += errors->wrong[b];
    judged += errors->judged[b];
  }
  return judged > 0.0 ? wrong / judged : NAN;
}

static int compare_doubles(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* The error rate of blocks drawn with replacement; blocks without a judged row are not there. */
static double resampled_rate(const sr__block_errors *errors, const int32_t *present, int32_t count,
                             sr__random *random) {
  double wrong = 0.0, judged = 0.0;
  for (int32_t k = 0; k < count; k++) {
    int32_t b = present[sr__random_below(random, (uint64_t)count)];
    wrong += errors->wrong[b];
    judged += errors->judged[b];
  }
  return wrong / judged;
}

sr_status sr__block_interval(sr_context *ctx, const sr__block_errors *errors, double level,
                             uint64_t seed, double *low, double *high) {
  sr_status status = SR_OK;
  double *rate = NULL;
  int32_t *present = NULL, count = 0;
  *low = *high = NAN;
  SR_NEW(ctx, rate, REPLICATES);
  SR_NEW(ctx, present, errors->blocks);
  for (int32_t b = 0; b < errors->blocks; b++) {
    if (errors->judged[b] > 0.0) present[count++] = b;
  }
  if (count < 2) goto cleanup;
  for (int32_t r = 0; r < REPLICATES; r++) {
    sr__random random;
    sr__random_init(&random, seed, SR_PURPOSE_BOOTSTRAP, 0, (uint64_t)r);
    rate[r] = resampled_rate(errors, present, count, &random);
  }
  qsort(rate, REPLICATES, sizeof *rate, compare_doubles);
  *low = sr_quantile_sorted(REPLICATES, rate, 0.5 * (1.0 - level));
  *high = sr_quantile_sorted(REPLICATES, rate, 0.5 * (1.0 + level));
cleanup:
  sr__free(ctx, rate);
  sr__free(ctx, present);
  return status;
}
