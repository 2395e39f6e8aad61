/* The automatic block length of Politis and White, in two published readings. */
#include <math.h>

#include "core/maths.h"
#include "dependence.h"

typedef struct politis_white_work {
  const float *x; /* centered */
  const sr__piece *piece;
  int64_t piece_count;
  int64_t n, run, cap; /* length of an insignificant run, largest lag */
  double band;
  double *covariance; /* cap + 1 */
  bool *significant;  /* cap + 1 */
} politis_white_work;

static sr_status check_series(sr_context *ctx, const float *series, int64_t n) {
  if (n < 10)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "the series has %lld values, a block length needs at least 10", (long long)n);
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(series[i]))
      return sr__fail(ctx, SR_ERROR_ARGUMENT,
                      "value %lld of the series is not finite; fill missing values first",
                      (long long)i + 1);
  return SR_OK;
}

/* Pairs inside the runs only. */
static double covariance_at(const politis_white_work *w, int64_t lag) {
  double sum = 0.0;
  for (int64_t p = 0; p < w->piece_count; p++) {
    const sr__piece *piece = w->piece + p;
    int64_t end = piece->limit - lag < piece->end ? piece->limit - lag : piece->end;
    if (end > piece->start)
      sum += sr__dot(w->x + piece->start, w->x + piece->start + lag, end - piece->start);
  }
  return sum / (double)w->n;
}

/* First lag of the first run of insignificant lags; -1 where there is none below the cap. Lags are
 * measured only as far as the bandwidth will need them. The test of the arch package leaves lag + 1
 * values out of either norm; the other divides by the variance. */
static int64_t first_quiet_lag(const politis_white_work *w, sr_politis_white_form form) {
  int64_t first = form == SR_POLITIS_WHITE_ARCH ? 0 : 1, quiet = 0;
  double head = 0.0, tail = 0.0; /* squares of the first lag + 1 values and of the last ones */
  for (int64_t lag = 0; lag <= w->cap; lag++) {
    double here = w->covariance[lag] = covariance_at(w, lag);
    double total = w->covariance[0] * (double)w->n;
    head += (double)w->x[lag] * (double)w->x[lag];
    tail += (double)w->x[w->n - 1 - lag] * (double)w->x[w->n - 1 - lag];
    w->significant[lag] =
        form == SR_POLITIS_WHITE_NP
            ? fabs(here) >= w->band * w->covariance[0]
            : fabs(here * (double)w->n) >= w->band * sqrt((total - head) * (total - tail));
    quiet = lag >= first && !w->significant[lag] ? quiet + 1 : 0;
    /* The arch rule sees a run only once the lag after it exists below the cap. */
    if (quiet == w->run && lag + (form == SR_POLITIS_WHITE_ARCH) <= w->cap) return lag - w->run + 1;
  }
  return -1;
}

static int64_t last_significant_lag(const politis_white_work *w) {
  for (int64_t lag = w->cap; lag > 0; lag--)
    if (w->significant[lag]) return lag;
  return 1;
}

static int64_t choose_bandwidth(politis_white_work *w, sr_politis_white_form form,
                                sr_politis_white *out) {
  int64_t quiet = first_quiet_lag(w, form);
  out->saturated = quiet < 0;
  int64_t bandwidth = 2 * (quiet > 1 ? quiet : 1);
  if (quiet < 0) bandwidth = form == SR_POLITIS_WHITE_ARCH ? w->cap : 2 * last_significant_lag(w);
  if (bandwidth > w->cap) bandwidth = w->cap;
  for (int64_t lag = (quiet < 0 ? w->cap : quiet + w->run - 1) + 1; lag <= bandwidth; lag++)
    w->covariance[lag] = covariance_at(w, lag);
  return bandwidth;
}

static void block_lengths(const politis_white_work *w, sr_politis_white *out) {
  double g = 0.0, long_run = w->covariance[0], n = (double)w->n, m = (double)out->bandwidth;
  double cap = ceil(fmin(3.0 * sqrt(n), n / 3.0));
  for (int64_t lag = 1; lag <= out->bandwidth; lag++) {
    double k = (double)lag, window = k / m <= 0.5 ? 1.0 : 2.0 * (1.0 - k / m);
    g += 2.0 * window * k * w->covariance[lag];
    long_run += 2.0 * window * w->covariance[lag];
  }
  double spread = long_run * long_run;
  if (!(spread > 0.0)) return;
  out->stationary = sr__cbrt_portable(2.0 * g * g / (2.0 * spread)) * sr__cbrt_portable(n);
  out->circular = sr__cbrt_portable(2.0 * g * g / (4.0 / 3.0 * spread)) * sr__cbrt_portable(n);
  if (out->stationary > cap || out->circular > cap) out->saturated = 1;
  out->stationary = fmin(out->stationary, cap);
  out->circular = fmin(out->circular, cap);
}

sr_status sr__politis_white_runs(sr_context *ctx, const sr__centered_runs *runs,
                                 sr_politis_white_form form, sr_politis_white *length) {
  sr_status status = SR_OK;
  int64_t n = runs->n;
  politis_white_work w = {.x = runs->value,
                          .piece = runs->piece,
                          .piece_count = runs->piece_count,
                          .n = n};
  double digits = sr__log_portable((double)n) * 0.43429448190325182765;
  if (fabs(digits - rint(digits)) < 1e-13 * digits) digits = rint(digits); /* powers of ten */
  *length = (sr_politis_white){NAN, NAN, 0, 0};
  w.run = (int64_t)(form == SR_POLITIS_WHITE_ARCH ? floor(digits) : ceil(digits));
  if (w.run < 5) w.run = 5;
  w.cap = (int64_t)ceil(sqrt((double)n)) + w.run;
  if (w.cap > n - 1) w.cap = n - 1;
  w.band = (form == SR_POLITIS_WHITE_ARCH ? 2.0 : 1.959963984540054) * sqrt(digits / (double)n);
  SR_NEW_ZERO(ctx, w.covariance, w.cap + 1);
  SR_NEW_ZERO(ctx, w.significant, w.cap + 1);
  if (!(sr__dot(runs->value, runs->value, n) > 0.0)) goto cleanup; /* constant: no length */
  length->bandwidth = choose_bandwidth(&w, form, length);
  block_lengths(&w, length);
cleanup:
  sr__free(ctx, w.covariance);
  sr__free(ctx, w.significant);
  return status;
}

sr_status sr_politis_white_length(sr_context *ctx, const float *series, int64_t n,
                                  sr_politis_white_form form, sr_politis_white *length) {
  sr_status status = SR_OK;
  float *centered = NULL;
  double sum = 0.0;
  sr__piece whole = {0, n, n, 0};
  *length = (sr_politis_white){NAN, NAN, 0, 0};
  SR_TRY(check_series(ctx, series, n));
  SR_NEW(ctx, centered, n);
  for (int64_t i = 0; i < n; i++) sum += (double)series[i];
  for (int64_t i = 0; i < n; i++) centered[i] = (float)((double)series[i] - sum / (double)n);
  SR_TRY(sr__politis_white_runs(ctx, &(sr__centered_runs){centered, n, &whole, 1}, form, length));
cleanup:
  sr__free(ctx, centered);
  return status;
}
