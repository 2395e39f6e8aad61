/* Bootstrap intervals, the interquartile mean, calibration error. */
#include <math.h>

#include "core/random.h"
#include "stats.h"

void sr_bootstrap_options_init(sr_bootstrap_options *options) {
  *options = (sr_bootstrap_options){.kind = SR_BOOTSTRAP_PERCENTILE,
                                    .replicates = 2000,
                                    .level = 0.95,
                                    .seed = 1};
}

static sr_status check_options(sr_context *ctx, const sr_bootstrap_options *o) {
  if (o->replicates < 1)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "replicates is %d, expected 1 or more", o->replicates);
  if (!(o->level > 0.0 && o->level < 1.0))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "level is %g, expected between 0 and 1", o->level);
  return SR_OK;
}

static double mean_of(void *data, int64_t count, const double *value) {
  (void)data;
  return sr_mean(count, value);
}

/* ---- replicates --------------------------------------------------------------------------- */

/* `count` values in `strata` columns, row-major: a draw takes rows inside each column. */
typedef struct resampling {
  int64_t rows, strata;
  const double *value;
  sr_statistic_fn statistic;
  void *data;
  uint64_t seed;
  double *scratch; /* rows x strata for each thread */
  double *replicate;
} resampling;

static sr_status resample(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)ctx;
  resampling *r = data;
  int64_t count = r->rows * r->strata;
  double *drawn = r->scratch + (int64_t)slot * count;
  sr__random random;
  sr__random_init(&random, r->seed, SR_PURPOSE_BOOTSTRAP, (uint64_t)item, 0);
  for (int64_t i = 0; i < count; i++) {
    int64_t row = (int64_t)sr__random_below(&random, (uint64_t)r->rows);
    drawn[i] = r->value[row * r->strata + i % r->strata];
  }
  r->replicate[item] = r->statistic(r->data, count, drawn);
  return SR_OK;
}

static sr_status draw_replicates(sr_context *ctx, resampling *r, int32_t replicates) {
  sr_status status = SR_OK;
  SR_NEW(ctx, r->replicate, replicates);
  SR_NEW(ctx, r->scratch, r->rows * r->strata * sr_context_threads(ctx));
  SR_TRY(sr__parallel_for(ctx, replicates, resample, r));
cleanup:
  return status;
}

/* ---- intervals ---------------------------------------------------------------------------- */

/* The acceleration of BCa from the jackknife. */
static sr_status acceleration(sr_context *ctx, int64_t count, const double *value,
                              sr_statistic_fn statistic, void *data, double *a) {
  sr_status status = SR_OK;
  double *left = NULL, *rest = NULL, squares = 0.0, cubes = 0.0;
  SR_NEW(ctx, left, count);
  SR_NEW(ctx, rest, count);
  for (int64_t i = 0; i < count; i++) {
    memcpy(rest, value, (size_t)i * sizeof *rest);
    memcpy(rest + i, value + i + 1, (size_t)(count - 1 - i) * sizeof *rest);
    left[i] = statistic(data, count - 1, rest);
  }
  double mean = sr_mean(count, left);
  for (int64_t i = 0; i < count; i++) {
    double difference = mean - left[i];
    squares += difference * difference;
    cubes += difference * difference * difference;
  }
  *a = squares > 0.0 ? cubes / (6.0 * pow(squares, 1.5)) : 0.0;
cleanup:
  sr__free(ctx, left);
  sr__free(ctx, rest);
  return status;
}

/* Share of the replicates below the estimate, half of those equal to it. */
static double share_below(int32_t count, const double *replicate, double estimate) {
  double below = 0.0;
  for (int32_t i = 0; i < count; i++)
    below += replicate[i] < estimate ? 1.0 : replicate[i] == estimate ? 0.5 : 0.0;
  return below / (double)count;
}

static double corrected_level(double bias, double a, double z) {
  double sum = bias + z;
  return sr_normal_cdf(bias + sum / (1.0 - a * sum));
}

static sr_status check_replicates(sr_context *ctx, int32_t count, const double *replicate) {
  for (int32_t i = 0; i < count; i++)
    if (!isfinite(replicate[i]))
      return sr__fail(ctx, SR_ERROR_DATA, "the statistic of bootstrap replicate %d is not finite",
                      i);
  return SR_OK;
}

sr_status sr_bootstrap(sr_context *ctx, int64_t count, const double *value,
                       sr_statistic_fn statistic, void *data, const sr_bootstrap_options *options,
                       sr_interval *interval) {
  sr_status status = SR_OK;
  resampling r = {count,         1,    value, statistic ? statistic : mean_of, data,
                  options->seed, NULL, NULL};
  double low = 0.5 * (1.0 - options->level), high = 1.0 - low, a = 0.0;
  SR_TRY(check_options(ctx, options));
  if (count < 2)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "an interval needs two values at least, not %lld",
                    (long long)count));
  interval->estimate = r.statistic(data, count, value);
  SR_TRY(draw_replicates(ctx, &r, options->replicates));
  SR_TRY(check_replicates(ctx, options->replicates, r.replicate));
  if (options->kind == SR_BOOTSTRAP_BCA) {
    SR_TRY(acceleration(ctx, count, value, r.statistic, data, &a));
    double share = share_below(options->replicates, r.replicate, interval->estimate);
    double bias = sr_normal_quantile(share);
    if (isfinite(bias)) {
      double z = sr_normal_quantile(high);
      low = corrected_level(bias, a, -z);
      high = corrected_level(bias, a, z);
    }
  }
  sr__sort_doubles(r.replicate, options->replicates);
  interval->low = sr_quantile_sorted(options->replicates, r.replicate, low);
  interval->high = sr_quantile_sorted(options->replicates, r.replicate, high);
cleanup:
  sr__free(ctx, r.replicate);
  sr__free(ctx, r.scratch);
  return status;
}

/* ---- interquartile mean ------------------------------------------------------------------- */

/* Sorts its argument: the scratch of a replicate, or a copy. */
static double interquartile_mean(void *data, int64_t count, const double *value) {
  (void)data;
  double *sorted = (double *)value;
  sr__sort_doubles(sorted, count);
  int64_t trimmed = count / 4;
  return sr_mean(count - 2 * trimmed, sorted + trimmed);
}

sr_status sr_iqm(sr_context *ctx, int64_t runs, int64_t tasks, const double *value,
                 const sr_bootstrap_options *options, sr_interval *interval) {
  sr_status status = SR_OK;
  double *copy = NULL;
  resampling r = {runs, tasks, value, interquartile_mean, NULL, options->seed, NULL, NULL};
  SR_TRY(check_options(ctx, options));
  if (runs < 1 || tasks < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "an interquartile mean needs a run and a task"));
  SR_NEW(ctx, copy, runs * tasks);
  memcpy(copy, value, (size_t)(runs * tasks) * sizeof *copy);
  interval->estimate = interquartile_mean(NULL, runs * tasks, copy);
  SR_TRY(draw_replicates(ctx, &r, options->replicates));
  sr__sort_doubles(r.replicate, options->replicates);
  double tail = 0.5 * (1.0 - options->level);
  interval->low = sr_quantile_sorted(options->replicates, r.replicate, tail);
  interval->high = sr_quantile_sorted(options->replicates, r.replicate, 1.0 - tail);
cleanup:
  sr__free(ctx, copy);
  sr__free(ctx, r.replicate);
  sr__free(ctx, r.scratch);
  return status;
}

/* ---- calibration -------------------------------------------------------------------------- */

sr_status sr_calibration_error(sr_context *ctx, int64_t rows, int32_t classes, const float *proba,
                               const int32_t *label, int32_t bins, double *error) {
  sr_status status = SR_OK;
  double *confidence = NULL, *correct = NULL;
  int64_t *seen = NULL;
  if (rows < 1 || classes < 1 || bins < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "calibration needs rows, classes and bins"));
  SR_NEW_ZERO(ctx, confidence, bins);
  SR_NEW_ZERO(ctx, correct, bins);
  SR_NEW_ZERO(ctx, seen, bins);
  for (int64_t i = 0; i < rows; i++) {
    const float *p = proba + i * classes;
    int32_t top = 0;
    for (int32_t k = 1; k < classes; k++)
      if (p[k] > p[top]) top = k;
    /* Bins are open below and closed above: (b/bins, (b+1)/bins]. */
    int32_t bin = (int32_t)ceil((double)p[top] * bins) - 1;
    bin = bin < 0 ? 0 : bin >= bins ? bins - 1 : bin;
    confidence[bin] += (double)p[top];
    correct[bin] += label[i] == top;
    seen[bin]++;
  }
  *error = 0.0;
  for (int32_t b = 0; b < bins; b++)
    if (seen[b]) *error += fabs(confidence[b] - correct[b]) / (double)rows;
cleanup:
  sr__free(ctx, confidence);
  sr__free(ctx, correct);
  sr__free(ctx, seen);
  return status;
}
