/* Pooled autocorrelation inside runs, Geyer's initial monotone sequence, block jackknife. */
#include <math.h>

#include "core/maths.h"
#include "dependence.h"

enum { DENSE_LAGS = 32, LAGS_AN_OCTAVE = 16, LONGEST_LAG = 65536, MOST_COMPARED = 32 };

int64_t sr__lag_at(int32_t index) {
  if (index <= DENSE_LAGS) return index;
  int32_t octave = (index - DENSE_LAGS) / LAGS_AN_OCTAVE;
  int32_t step = (index - DENSE_LAGS) % LAGS_AN_OCTAVE;
  return ((int64_t)DENSE_LAGS << octave) + step * ((int64_t)DENSE_LAGS / LAGS_AN_OCTAVE << octave);
}

int32_t sr__lag_index_limit(int64_t longest) {
  int32_t count = 0;
  while (sr__lag_at(count) < longest) count++;
  return count;
}

double sr__columns_alike(const sr__columns *columns) {
  double sum = 0.0, total = 0.0;
  int64_t n = columns->n, d = columns->count < MOST_COMPARED ? columns->count : MOST_COMPARED;
  for (int64_t i = 0; i < d; i++)
    for (int64_t j = 0; j <= i; j++) {
      double c = sr__dot(columns->value + i * n, columns->value + j * n, n);
      total += i == j ? c : 0.0;
      sum += (i == j ? 1.0 : 2.0) * c * c;
    }
  return total > 0.0 ? sum / (total * total) : 1.0;
}

static int64_t count_both(const uint8_t *a, const uint8_t *b, int64_t count) {
  int64_t total = 0;
  for (int64_t i = 0; i < count; i++) total += a[i] & b[i];
  return total;
}

/* ---- sums of products --------------------------------------------------------------------- */

typedef struct lag_job {
  const sr__rows *rows;
  const sr__columns *columns;
  sr__lags *lags;
  int32_t first;
} lag_job;

static sr_status measure_lag(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  lag_job *job = data;
  const sr__columns *columns = job->columns;
  int64_t index = job->first + item, lag = sr__lag_at((int32_t)index), n = columns->n;
  double *sum = job->lags->sum + index * job->lags->blocks;
  double *pairs = job->lags->pairs + index * job->lags->blocks;
  for (int64_t j = 0; j < columns->count; j++) {
    const float *x = columns->value + j * n;
    const uint8_t *present = columns->present ? columns->present + j * n : NULL;
    for (int64_t p = 0; p < job->rows->piece_count; p++) {
      const sr__piece *piece = job->rows->piece + p;
      int64_t end = piece->limit - lag < piece->end ? piece->limit - lag : piece->end;
      int64_t start = piece->start;
      if (end <= start) continue;
      sum[piece->block] += sr__dot(x + start, x + start + lag, end - start);
      pairs[piece->block] +=
          (double)(present ? count_both(present + start, present + start + lag, end - start)
                           : end - start);
    }
  }
  return sr__check_interrupt(ctx);
}

static sr_status extend_lags(sr_context *ctx, const sr__rows *rows, const sr__columns *columns,
                             sr__lags *lags, int32_t count) {
  sr_status status = SR_OK;
  lag_job job = {rows, columns, lags, lags->count};
  size_t added = (size_t)(count - lags->count) * (size_t)lags->blocks;
  double *sum = sr__resize(ctx, lags->sum, (int64_t)count * lags->blocks, sizeof *sum);
  if (!sum) return sr_context_error(ctx).status;
  lags->sum = sum;
  double *pairs = sr__resize(ctx, lags->pairs, (int64_t)count * lags->blocks, sizeof *pairs);
  if (!pairs) return sr_context_error(ctx).status;
  lags->pairs = pairs;
  memset(sum + (size_t)lags->count * (size_t)lags->blocks, 0, added * sizeof *sum);
  memset(pairs + (size_t)lags->count * (size_t)lags->blocks, 0, added * sizeof *pairs);
  SR_TRY(sr__parallel_for(ctx, count - lags->count, measure_lag, &job));
  lags->count = count;
cleanup:
  return status;
}

/* The mean product of pairs at the lag, over that of each row with itself. */
double sr__lags_correlation(const sr__lags *lags, int32_t index, int32_t left_out) {
  const int64_t at[2] = {(int64_t)index * lags->blocks, 0};
  double mean[2];
  for (int k = 0; k < 2; k++) {
    double sum = 0.0, pairs = 0.0;
    for (int32_t b = 0; b < lags->blocks; b++) {
      if (b == left_out) continue;
      sum += lags->sum[at[k] + b];
      pairs += lags->pairs[at[k] + b];
    }
    mean[k] = pairs > 0.0 ? sum / pairs : NAN;
  }
  return mean[0] / mean[1];
}

/* ---- the integrated time ------------------------------------------------------------------ */

/* The correlation at any lag, straight between the lags of the grid. */
typedef struct curve {
  const sr__lags *lags;
  int32_t left_out;
  int32_t index; /* grid lag at or below the last lag asked for */
  double here, next;
} curve;

/* Lags must not decrease from call to call; lag < sr__lag_at(count - 1). */
static double curve_at(curve *c, int64_t lag) {
  while (sr__lag_at(c->index + 1) <= lag) {
    c->index++;
    c->here = c->next;
    c->next = sr__lags_correlation(c->lags, c->index + 1, c->left_out);
  }
  int64_t from = sr__lag_at(c->index), to = sr__lag_at(c->index + 1);
  double share = (double)(lag - from) / (double)(to - from);
  return c->here + share * (c->next - c->here);
}

/* Pairs rho(2m) + rho(2m + 1), kept positive and decreasing. A curve that rises again by more than
 * its noise (Bartlett's formula, four standard errors) comes back with a season: the sum ends at
 * the low before it. `limit` > 0 ends the sum at a given lag instead. */
static sr__integrated integrate(const sr__lags *lags, int32_t left_out, int64_t limit,
                                double rows) {
  sr__integrated result = {.cut = 0, .period = NAN};
  int64_t last = sr__lag_at(lags->count - 1);
  double sum = 0.0, least = HUGE_VAL, squares = 0.0, sum_at_least = 0.0;
  int64_t least_at = 0;
  curve c = {lags, left_out, 0, sr__lags_correlation(lags, 0, left_out),
             sr__lags_correlation(lags, 1, left_out)};
  for (int64_t lag = 0; lag + 1 < last && !(limit && lag >= limit); lag += 2) {
    double first = curve_at(&c, lag), second = curve_at(&c, lag + 1), pair = first + second;
    result.cut = lag;
    if (!limit && !(pair > 0.0)) {
      result.finished = true;
      break;
    }
    squares += first * first + second * second;
    if (!limit && pair > least + 8.0 * sqrt((2.0 * squares - 1.0) / rows)) {
      result = (sr__integrated){2.0 * sum_at_least - 1.0, least_at + 2, true, (double)lag};
      return result;
    }
    if (pair < least) {
      least = pair;
      least_at = lag;
      sum_at_least = sum + pair;
    }
    sum += least;
  }
  result.iact = 2.0 * sum - 1.0;
  return result;
}

/* The top of the first hump after the point where the curve was seen to rise. */
static double find_period(const sr__lags *lags, double rising) {
  double best = -HUGE_VAL, best_lag = rising;
  for (int32_t i = 0; i < lags->count; i++) {
    if ((double)sr__lag_at(i) < rising) continue;
    double rho = sr__lags_correlation(lags, i, -1);
    if (rho > best) {
      best = rho;
      best_lag = (double)sr__lag_at(i);
    } else if (rho < 0.5 * best) {
      break;
    }
  }
  return best_lag;
}

sr_status sr__lags_measure(sr_context *ctx, const sr__rows *rows, const sr__columns *columns,
                           sr__lags *lags, sr__integrated *integrated) {
  sr_status status = SR_OK;
  *lags = (sr__lags){.blocks = rows->blocks};
  *integrated = (sr__integrated){.iact = NAN, .period = NAN};
  int64_t longest = rows->longest_run / 2 < LONGEST_LAG ? rows->longest_run / 2 : LONGEST_LAG;
  int32_t limit = sr__lag_index_limit(longest);
  if (columns->count == 0 || limit < 4) goto cleanup;
  lags->rows = (double)rows->n;
  lags->alike = sr__columns_alike(columns);
  int32_t count = limit < DENSE_LAGS ? limit : DENSE_LAGS;
  for (;;) {
    SR_TRY(extend_lags(ctx, rows, columns, lags, count));
    *integrated = integrate(lags, -1, 0, (double)rows->n);
    if (integrated->finished || count == limit) break;
    count = count + LAGS_AN_OCTAVE < limit ? count + LAGS_AN_OCTAVE : limit;
  }
  if (!isnan(integrated->period)) {
    int32_t more = sr__lag_index_limit((int64_t)(2.5 * integrated->period));
    if (more > lags->count)
      SR_TRY(extend_lags(ctx, rows, columns, lags, more < limit ? more : limit));
    integrated->period = find_period(lags, integrated->period);
  }
cleanup:
  return status;
}

void sr__lags_free(sr_context *ctx, sr__lags *lags) {
  sr__free(ctx, lags->sum);
  sr__free(ctx, lags->pairs);
  *lags = (sr__lags){0};
}

/* ---- scales ------------------------------------------------------------------------------- */

/* The jackknife acts on log T, where the distribution is closest to normal; its relative error is
 * never taken below `limit`. */
static sr_scale jackknife_scale(const char *method, double estimate, const double *leave_out,
                                int32_t blocks, double limit, double z) {
  sr_scale scale = {method, estimate < 1.0 ? 1.0 : estimate, NAN, NAN};
  double mean = 0.0, square = 0.0;
  for (int32_t b = 0; b < blocks; b++) mean += sr__log_portable(leave_out[b]) / blocks;
  for (int32_t b = 0; b < blocks; b++)
    square += (sr__log_portable(leave_out[b]) - mean) * (sr__log_portable(leave_out[b]) - mean);
  double error = fmax(sqrt(square * (blocks - 1) / blocks), limit);
  scale.low = fmax(1.0, estimate * sr__exp_portable(-z * error));
  scale.high = fmax(1.0, estimate * sr__exp_portable(z * error));
  if (!isfinite(scale.estimate) || !isfinite(scale.high))
    scale.estimate = scale.low = scale.high = NAN;
  return scale;
}

sr_scale sr__lags_first(const sr__lags *lags, const char *method, double z) {
  if (lags->count < 2) return (sr_scale){method, NAN, NAN, NAN};
  double leave_out[SR__MAX_BLOCKS];
  for (int32_t b = 0; b < lags->blocks; b++)
    leave_out[b] = 1.0 / (1.0 - sr__lags_correlation(lags, 1, b));
  double estimate = 1.0 / (1.0 - sr__lags_correlation(lags, 1, -1));
  return jackknife_scale(method, estimate, leave_out, lags->blocks, 0.0, z);
}

/* iact = (1 + lambda) / (1 - lambda) of a first-order chain, so T = (iact + 1) / 2. A sum of W lags
 * over n rows has a relative variance of about 2 (2 W + 1) / n (Madras and Sokal), which blocks not
 * much longer than W do not show. */
sr_scale sr__lags_integrated_scale(const sr__lags *lags, const sr__integrated *integrated,
                                   const char *method, double z) {
  if (!isfinite(integrated->iact)) return (sr_scale){method, NAN, NAN, NAN};
  double leave_out[SR__MAX_BLOCKS];
  for (int32_t b = 0; b < lags->blocks; b++) {
    double iact = integrate(lags, b, integrated->cut, 0.0).iact;
    leave_out[b] = 0.5 * (fmax(iact, 1.0) + 1.0);
  }
  double estimate = 0.5 * (integrated->iact + 1.0);
  double limit = sqrt(2.0 * (2.0 * (double)integrated->cut + 1.0) / lags->rows * lags->alike);
  return jackknife_scale(method, estimate, leave_out, lags->blocks, limit, z);
}
