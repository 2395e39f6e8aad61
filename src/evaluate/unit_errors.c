/* Losses summed by unit, because units, not rows, are independent. */
#include <math.h>
#include <specroute/stats.h>
#include <stdlib.h>

#include "evaluate.h"

enum { REPLICATES = 2000 };

sr_status sr__unit_errors_new(sr_context *ctx, const sr_table_view *view, const int32_t *vote,
                              const int32_t *unit, int32_t units, sr__unit_errors *errors) {
  sr_status status = SR_OK;
  *errors = (sr__unit_errors){.units = units};
  SR_NEW_ZERO(ctx, errors->loss, units);
  SR_NEW_ZERO(ctx, errors->judged, units);
  for (int64_t i = 0; i < view->rows; i++) {
    double loss = sr__row_loss(view, vote, i);
    if (isnan(loss)) continue;
    errors->judged[unit[i]] += 1.0;
    errors->loss[unit[i]] += loss;
  }
cleanup:
  if (status != SR_OK) sr__unit_errors_free(ctx, errors);
  return status;
}

void sr__unit_errors_free(sr_context *ctx, sr__unit_errors *errors) {
  sr__free(ctx, errors->loss);
  sr__free(ctx, errors->judged);
  *errors = (sr__unit_errors){0};
}

double sr__unit_error_rate(const sr__unit_errors *errors) {
  double loss = 0.0, judged = 0.0;
  for (int32_t b = 0; b < errors->units; b++) {
    loss += errors->loss[b];
    judged += errors->judged[b];
  }
  return judged > 0.0 ? loss / judged : NAN;
}

static int compare_doubles(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* The error rate of units drawn with replacement; units without a judged row are not there. */
static double resampled_rate(const sr__unit_errors *errors, const int32_t *present, int32_t count,
                             sr__random *random) {
  double loss = 0.0, judged = 0.0;
  for (int32_t k = 0; k < count; k++) {
    int32_t b = present[sr__random_below(random, (uint64_t)count)];
    loss += errors->loss[b];
    judged += errors->judged[b];
  }
  return loss / judged;
}

sr_status sr__unit_interval(sr_context *ctx, const sr__unit_errors *errors, double level,
                            uint64_t seed, double *low, double *high) {
  sr_status status = SR_OK;
  double *rate = NULL;
  int32_t *present = NULL, count = 0;
  *low = *high = NAN;
  SR_NEW(ctx, rate, REPLICATES);
  SR_NEW(ctx, present, errors->units);
  for (int32_t b = 0; b < errors->units; b++) {
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
