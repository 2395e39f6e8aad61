/* Means, spreads, quantiles, ranks, lines. */
#include <math.h>
#include <stdlib.h>

#include "core/maths.h"
#include "core/sort.h"
#include "stats.h"

double sr_mean(int64_t count, const double *value) {
  double sum = 0.0;
  for (int64_t i = 0; i < count; i++) sum += value[i];
  return count > 0 ? sum / (double)count : NAN;
}

double sr_standard_deviation(int64_t count, const double *value) {
  if (count < 2) return 0.0;
  double mean = sr_mean(count, value), sum = 0.0;
  for (int64_t i = 0; i < count; i++) sum += (value[i] - mean) * (value[i] - mean);
  return sqrt(sum / (double)(count - 1));
}

double sr_quantile_sorted(int64_t count, const double *sorted, double p) {
  if (count < 1 || !(p >= 0.0 && p <= 1.0)) return NAN;
  double place = p * (double)(count - 1);
  int64_t below = (int64_t)floor(place);
  if (below >= count - 1) return sorted[count - 1];
  double share = place - (double)below;
  return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

void sr__sort_doubles(double *value, int64_t count) {
  if (count > 1) qsort(value, (size_t)count, sizeof *value, sr__compare_doubles);
}

/* ---- ranks -------------------------------------------------------------------------------- */

static int compare_indexed(const void *a, const void *b, void *data) {
  const double *value = data;
  double x = value[*(const int64_t *)a], y = value[*(const int64_t *)b];
  return x < y ? -1 : x > y;
}

double sr__average_ranks(int64_t count, const double *value, int64_t *order, double *rank) {
  double ties = 0.0;
  for (int64_t i = 0; i < count; i++) order[i] = i;
  if (count > 1) qsort_r(order, (size_t)count, sizeof *order, compare_indexed, (void *)value);
  for (int64_t start = 0, end; start < count; start = end) {
    for (end = start + 1; end < count && value[order[end]] == value[order[start]]; end++) continue;
    double size = (double)(end - start);
    for (int64_t i = start; i < end; i++) rank[order[i]] = 0.5 * (double)(start + end + 1);
    ties += size * size * size - size;
  }
  return ties;
}

sr_status sr_ranks(sr_context *ctx, int64_t count, const double *value, double *rank) {
  sr_status status = SR_OK;
  int64_t *order = NULL;
  SR_NEW(ctx, order, count);
  sr__average_ranks(count, value, order, rank);
cleanup:
  sr__free(ctx, order);
  return status;
}

/* ---- lines -------------------------------------------------------------------------------- */

typedef struct points {
  int64_t count;
  const double *x, *y;
} points;

/* u and v: their values, or the logarithms. */
static sr_status take_points(sr_context *ctx, points given, int log_log, double *u, double *v) {
  const double *x = given.x, *y = given.y;
  for (int64_t i = 0; i < given.count; i++) {
    if (!isfinite(x[i]) || !isfinite(y[i]))
      return sr__fail(ctx, SR_ERROR_DATA, "point %lld (%g, %g) is not finite", (long long)i, x[i],
                      y[i]);
    if (log_log && (x[i] <= 0.0 || y[i] <= 0.0))
      return sr__fail(ctx, SR_ERROR_DATA, "point %lld (%g, %g) has no logarithm", (long long)i,
                      x[i], y[i]);
    u[i] = log_log ? sr__log_portable(x[i]) : x[i];
    v[i] = log_log ? sr__log_portable(y[i]) : y[i];
  }
  return SR_OK;
}

sr_status sr_fit_line(sr_context *ctx, int64_t count, const double *x, const double *y, int log_log,
                      double level, sr_line_fit *fit) {
  sr_status status = SR_OK;
  double *u = NULL, *v = NULL;
  if (count < 3)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "a line needs three points at least, not %lld",
                    (long long)count));
  if (!(level > 0.0 && level < 1.0))
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "level is %g, expected between 0 and 1", level));
  SR_NEW(ctx, u, count);
  SR_NEW(ctx, v, count);
  SR_TRY(take_points(ctx, (points){count, x, y}, log_log, u, v));
  double mean_u = sr_mean(count, u), mean_v = sr_mean(count, v), uu = 0.0, uv = 0.0, vv = 0.0;
  for (int64_t i = 0; i < count; i++) {
    uu += (u[i] - mean_u) * (u[i] - mean_u);
    uv += (u[i] - mean_u) * (v[i] - mean_v);
    vv += (v[i] - mean_v) * (v[i] - mean_v);
  }
  if (!(uu > 0.0)) SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "all points have the same x"));
  double slope = uv / uu, intercept = mean_v - slope * mean_u, residual = 0.0;
  for (int64_t i = 0; i < count; i++) {
    double r = v[i] - intercept - slope * u[i];
    residual += r * r;
  }
  double variance = residual / (double)(count - 2);
  double t = sr_student_quantile(0.5 + 0.5 * level, (double)(count - 2));
  double wide = t * sqrt(variance / uu);
  double high = t * sqrt(variance * (1.0 / (double)count + mean_u * mean_u / uu));
  *fit = (sr_line_fit){.slope = {slope, slope - wide, slope + wide},
                       .intercept = {intercept, intercept - high, intercept + high},
                       .r_squared = vv > 0.0 ? 1.0 - residual / vv : 1.0,
                       .used = count};
cleanup:
  sr__free(ctx, u);
  sr__free(ctx, v);
  return status;
}
