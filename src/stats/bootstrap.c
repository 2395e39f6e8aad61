/* Bootstrap intervals, the interquartile mean, calibration error. */
#include <math.h>

#include "core/random.h"
#include "stats.h"

void sr_bootstrap_options_init(sr_bootstrap_options *options) {
  *options =
      (sr_bootstrap_options){.kind = SR_BOOTSTRAP_PERCENTILE, .replicates = 2000, .level = 0.95};
}

/* The options that are meant, checked. */
static sr_status read_options(sr_context *ctx, const sr_bootstrap_options *given,
                              sr_bootstrap_options *o) {
  sr_bootstrap_options_init(o);
  if (given) *o = *given;
  if (o->replicates < 1)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "replicates is %d, expected 1 or more", o->replicates);
  if (!(o->level > 0.0 && o->level < 1.0))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "level is %g, expected between 0 and 1", o->level);
  return SR_OK;
}

/* ---- replicates --------------------------------------------------------------------------- */

/* A statistic of `rows` x `strata` items, row-major: a draw takes rows inside each column. It is
 * told by the items' numbers, or by their values where there are any. */
typedef struct resampling {
  int64_t rows, strata;
  const double *value; /* NULL: of_indices */
  sr_statistic_fn of_values;
  sr_index_statistic_fn of_indices;
  void *data;
  uint64_t seed;
  int64_t *index; /* rows x strata for each thread */
  double *drawn;  /* the same where there are values */
  double *replicate;
} resampling;

/* Of the first `count` indices of a thread. */
static double statistic_of(const resampling *r, int64_t count, int slot) {
  const int64_t *index = r->index + (int64_t)slot * r->rows * r->strata;
  if (!r->value) return r->of_indices(r->data, count, index);
  double *drawn = r->drawn + (int64_t)slot * r->rows * r->strata;
  for (int64_t i = 0; i < count; i++) drawn[i] = r->value[index[i]];
  return r->of_values ? r->of_values(r->data, count, drawn) : sr_mean(count, drawn);
}

static sr_status resample(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)ctx;
  resampling *r = data;
  int64_t count = r->rows * r->strata, *index = r->index + (int64_t)slot * count;
  sr__random random;
  sr__random_init(&random, r->seed, SR_PURPOSE_BOOTSTRAP, (uint64_t)item, 0);
  for (int64_t i = 0; i < count; i++)
    index[i] = (int64_t)sr__random_below(&random, (uint64_t)r->rows) * r->strata + i % r->strata;
  r->replicate[item] = statistic_of(r, count, slot);
  return SR_OK;
}

/* The statistic of the items as they are, then that of each replicate. */
static sr_status draw_replicates(sr_context *ctx, resampling *r, int32_t replicates,
                                 double *estimate) {
  sr_status status = SR_OK;
  int64_t count = r->rows * r->strata, threads = sr_context_threads(ctx);
  SR_NEW(ctx, r->replicate, replicates);
  SR_NEW(ctx, r->index, count * threads);
  if (r->value) SR_NEW(ctx, r->drawn, count * threads);
  for (int64_t i = 0; i < count; i++) r->index[i] = i;
  *estimate = statistic_of(r, count, 0);
  SR_TRY(sr__parallel_for(ctx, replicates, resample, r));
cleanup:
  return status;
}

static void free_replicates(sr_context *ctx, resampling *r) {
  sr__free(ctx, r->replicate);
  sr__free(ctx, r->index);
  sr__free(ctx, r->drawn);
}

/* ---- intervals ---------------------------------------------------------------------------- */

/* The acceleration of BCa from the jackknife. */
static sr_status acceleration(sr_context *ctx, const resampling *r, double *a) {
  sr_status status = SR_OK;
  double *left = NULL, squares = 0.0, cubes = 0.0;
  int64_t count = r->rows;
  SR_NEW(ctx, left, count);
  for (int64_t i = 0; i < count; i++) {
    for (int64_t k = 0; k < count - 1; k++) r->index[k] = k + (k >= i);
    left[i] = statistic_of(r, count - 1, 0);
  }
  double mean = sr_mean(count, left);
  for (int64_t i = 0; i < count; i++) {
    double difference = mean - left[i];
    squares += difference * difference;
    cubes += difference * difference * difference;
  }
  *a = squares > 0.0 ? cubes / (6.0 * squares * sqrt(squares)) : 0.0;
cleanup:
  sr__free(ctx, left);
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

static void take_quantiles(const sr_bootstrap_options *o, resampling *r, double low, double high,
                           sr_interval *interval) {
  sr__sort_doubles(r->replicate, o->replicates);
  interval->low = sr_quantile_sorted(o->replicates, r->replicate, low);
  interval->high = sr_quantile_sorted(o->replicates, r->replicate, high);
}

static sr_status find_interval(sr_context *ctx, resampling *r, const sr_bootstrap_options *options,
                               sr_interval *interval) {
  sr_status status = SR_OK;
  sr_bootstrap_options o;
  SR_TRY(read_options(ctx, options, &o));
  if (r->rows < 2)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "an interval needs two values at least, not %lld",
                    (long long)r->rows));
  SR_TRY(draw_replicates(ctx, r, o.replicates, &interval->estimate));
  SR_TRY(check_replicates(ctx, o.replicates, r->replicate));
  double low = 0.5 * (1.0 - o.level), high = 1.0 - low, a = 0.0;
  if (o.kind == SR_BOOTSTRAP_BCA) {
    SR_TRY(acceleration(ctx, r, &a));
    double bias = sr_normal_quantile(share_below(o.replicates, r->replicate, interval->estimate));
    if (isfinite(bias)) {
      double z = sr_normal_quantile(high);
      low = corrected_level(bias, a, -z);
      high = corrected_level(bias, a, z);
    }
  }
  take_quantiles(&o, r, low, high, interval);
cleanup:
  free_replicates(ctx, r);
  return status;
}

sr_status sr_bootstrap(sr_context *ctx, int64_t count, const double *value,
                       sr_statistic_fn statistic, void *data, const sr_bootstrap_options *options,
                       uint64_t seed, sr_interval *interval) {
  resampling r = {.rows = count,
                  .strata = 1,
                  .value = value,
                  .of_values = statistic,
                  .data = data,
                  .seed = seed};
  return find_interval(ctx, &r, options, interval);
}

sr_status sr_bootstrap_indices(sr_context *ctx, int64_t count, sr_index_statistic_fn statistic,
                               void *data, const sr_bootstrap_options *options, uint64_t seed,
                               sr_interval *interval) {
  resampling r = {.rows = count, .strata = 1, .of_indices = statistic, .data = data, .seed = seed};
  return find_interval(ctx, &r, options, interval);
}

/* ---- interquartile mean ------------------------------------------------------------------- */

/* Sorts its argument, which is a replicate's own. */
static double interquartile_mean(void *data, int64_t count, const double *value) {
  (void)data;
  double *sorted = (double *)value;
  sr__sort_doubles(sorted, count);
  int64_t trimmed = count / 4;
  return sr_mean(count - 2 * trimmed, sorted + trimmed);
}

sr_status sr_iqm(sr_context *ctx, int64_t runs, int64_t tasks, const double *value,
                 const sr_bootstrap_options *options, uint64_t seed, sr_interval *interval) {
  sr_status status = SR_OK;
  sr_bootstrap_options o;
  resampling r = {
      .rows = runs, .strata = tasks, .value = value, .of_values = interquartile_mean, .seed = seed};
  SR_TRY(read_options(ctx, options, &o));
  if (runs < 1 || tasks < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "an interquartile mean needs a run and a task"));
  SR_TRY(draw_replicates(ctx, &r, o.replicates, &interval->estimate));
  double tail = 0.5 * (1.0 - o.level);
  take_quantiles(&o, &r, tail, 1.0 - tail, interval);
cleanup:
  free_replicates(ctx, &r);
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
