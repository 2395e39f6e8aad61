/* The reach of a series: its mean residual correlation.
 *
 *   reach = max over k = 1, 2, 4, ... of  sum_{j = k .. cut} r_j / r_k
 *
 * It is T at every k for a first-order chain with r_j = (1 - 1/T)^j, and stays T under added white
 * noise, which shrinks all r_j alike. Fast and slow parts side by side show the slow one at large
 * k. */
#include "reach.h"

#include <math.h>
#include "core/maths.h"

enum { LEAST_ROWS = 30, ROUNDS = 3, WINDOWS_IN_ROWS = 10 };
#define CUT_AT 1.65        /* standard errors below which the correlation has ended */
#define CUT_AT_CAREFUL 1.0 /* the same for the careful form */
#define LARGEST_PULL 0.3
#define CLEAR_LATER 4.0       /* standard errors of a correlation at a later start */
#define LEAST_SHARE_LATER 0.2 /* and its least share of the first one */
#define CLEAR_TOGETHER 5.5    /* standard errors of a sum of correlations */
#define NEARLY_CLEAREST 0.8   /* the shortest sum that is so clear beside the clearest is taken */

double sr__reach_clear(int64_t features) {
  return 4.0 + 0.3 * sr__log_portable((double)(features > 1 ? features : 1));
}

#define CLEAR_SEASON 3.5 /* standard errors of the correlation one period later */
#define CLEAR_AGAIN 2.0  /* and two periods later */
#define PACES 2.0        /* so much faster must the correlation fall at first than later */

#define NOISE_OF_THE_CUT 0.2

double sr__reach_noise(double reach, int64_t rows) {
  return NOISE_OF_THE_CUT + sqrt(2.0 * reach / (double)rows);
}

/* ---- from a correlation --------------------------------------------------------------------- */

typedef struct curve {
  int64_t most, rows;
  double *r, *total, *error; /* total[k] = r_0 + .. + r_{k-1}; error[k]: Bartlett's of r_k */
} curve;

static void sum_up(curve *c) {
  double total = 0.0, square = 0.0;
  for (int64_t k = 0; k <= c->most; k++) {
    c->total[k] = total;
    total += c->r[k];
    if (k > 0) square += c->r[k] * c->r[k];
    c->error[k] = sqrt((1.0 + 2.0 * square) / (double)c->rows);
  }
  c->total[c->most + 1] = total;
}

/* Mean of r over [k, 1.25 k]. */
static double around(const curve *c, int64_t k) {
  int64_t end = k + k / 4 + 1;
  if (end > c->most + 1) end = c->most + 1;
  return (c->total[end] - c->total[k]) / (double)(end - k);
}

/* The first lag from `start` on at which the correlation has ended. */
static int64_t find_cut(const curve *c, int64_t start, double cut_at) {
  for (int64_t k = start; k < c->most - 1; k++)
    if (around(c, k) < cut_at * c->error[k]) return k;
  return c->most - 1;
}

static curve curve_in(const double *correlation, int64_t most, int64_t rows, double *scratch) {
  curve c = {.most = most, .rows = rows, .r = scratch};
  c.total = scratch + most + 1;
  c.error = scratch + 2 * most + 3;
  memcpy(c.r, correlation, (size_t)(most + 1) * sizeof *c.r);
  sum_up(&c);
  return c;
}

/* Subtracting the mean pulls every correlation down by about (1 + 2 sum r) / n. */
static void put_mean_back(curve *c, const double *correlation, int64_t cut) {
  double pull = fmax(1.0, 1.0 + 2.0 * (c->total[cut] - c->total[1])) / (double)c->rows;
  if (pull > LARGEST_PULL) pull = LARGEST_PULL;
  for (int64_t k = 1; k <= c->most; k++) c->r[k] = (correlation[k] + pull) / (1.0 + pull);
  sum_up(c);
}

double sr__reach_of(const double *correlation, int64_t most, int64_t rows, double clear,
                    double cut_at, double *scratch) {
  int64_t cut = 1;
  if (most < 3) return 1.0;
  curve c = curve_in(correlation, most, rows, scratch);
  for (int round = 0; round < ROUNDS; round++) {
    cut = find_cut(&c, 1, cut_at);
    put_mean_back(&c, correlation, cut);
  }
  double best = 1.0;
  for (int64_t k = 1; k < cut; k *= 2) {
    double here = around(&c, k);
    double least = k == 1 ? clear / sqrt((double)rows)
                          : fmax(CLEAR_LATER * c.error[k], LEAST_SHARE_LATER * c.r[1]);
    if (here > least) best = fmax(best, (c.total[cut] - c.total[k]) / here);
  }
  return best;
}

/* Correlations that are lost in noise one by one are clear together: on independent rows the sum of
 * w of them has a standard error of sqrt(w / n). The shortest window 1..w whose sum is nearly as
 * clear as the clearest one; 0: none is clear. Windows of a tenth of the rows and more have sums
 * far from normal. */
static int64_t clear_window(const curve *c) {
  double clearest = 0.0, rows = sqrt((double)c->rows);
  int64_t longest = c->rows / WINDOWS_IN_ROWS < c->most ? c->rows / WINDOWS_IN_ROWS : c->most;
  for (int64_t w = 1; w <= longest; w++)
    clearest = fmax(clearest, (c->total[w + 1] - c->total[1]) / sqrt((double)w));
  if (clearest * rows < CLEAR_TOGETHER) return 0;
  for (int64_t w = 1; w <= longest; w++)
    if ((c->total[w + 1] - c->total[1]) / sqrt((double)w) >= NEARLY_CLEAREST * clearest) return w;
  return 0;
}

double sr__reach_together(const double *correlation, int64_t most, int64_t rows, double cut_at,
                          double *scratch) {
  int64_t cut = 1, window = 0;
  if (most < 3) return 1.0;
  curve c = curve_in(correlation, most, rows, scratch);
  for (int round = 0; round < ROUNDS; round++) {
    window = clear_window(&c);
    if (!window) return 1.0;
    cut = find_cut(&c, window, cut_at);
    put_mean_back(&c, correlation, cut);
  }
  /* a chain has r_k + .. + r_{cut - 1} = T (r_k - r_cut): what is left at the cut counts as well */
  int64_t first = window > 4 ? window / 4 : 1, middle = (first + 1) / 2;
  double level = (c.total[first + 1] - c.total[1]) / (double)first;
  double fall = fmax(level - fmax(around(&c, cut), 0.0), 0.5 * level);
  return level > 0.0 ? fmax(1.0, (c.total[cut] - c.total[middle]) / fall) : 1.0;
}

/* ---- seasons and memory without end --------------------------------------------------------- */

/* Mean of r over a twentieth of k around it. */
static double level_at(const curve *c, int64_t k) {
  int64_t low = k - k / 20, high = k + k / 20;
  if (high > c->most) return -1.0;
  return (c->total[high + 1] - c->total[low]) / (double)(high + 1 - low);
}

/* The lag of the highest level in [low, high]. */
static int64_t top_of(const curve *c, int64_t low, int64_t high) {
  int64_t top = low;
  for (int64_t k = low; k <= high; k++)
    if (level_at(c, k) > level_at(c, top)) top = k;
  return top;
}

/* Behind the first lag without memory the correlation comes back, and once more as far on, and is
 * gone half way between. */
static double find_period(const curve *c) {
  int64_t start = find_cut(c, 1, 1.0), top;
  if (start < 2 || start >= c->most / 2) return NAN;
  top = top_of(c, start, c->most * 9 / 20);
  for (int64_t part = top / start; part > 1; part--) { /* the period itself, not a multiple of it */
    int64_t near = top / part, low = top_of(c, near - near / 10, near + near / 10);
    if (low > start && level_at(c, low) > 0.8 * level_at(c, top)) {
      top = low;
      break;
    }
  }
  int64_t again = top_of(c, 2 * top - top / 10, 2 * top + top / 10);
  double level = level_at(c, top), second = level_at(c, again);
  double between = fmax(level_at(c, top / 2), level_at(c, 3 * top / 2));
  bool clear = level > CLEAR_SEASON * c->error[top] && between < 0.4 * level &&
               second > CLEAR_AGAIN * c->error[again] && second > 0.5 * level;
  return clear ? (double)top : NAN;
}

/* A chain, with or without noise, loses as much from one row to the next at every lag; long memory
 * loses several times as much from row 1 to row 4 as from row 8 to row 32. */
static double slowing_of(const curve *c) {
  if (c->most < 40) return NAN;
  double r1 = c->r[1], r4 = c->r[4], r8 = around(c, 8), r32 = around(c, 32);
  if (!(r1 > 0.0 && r4 > 0.0 && r8 > 0.0 && r32 > CUT_AT * c->error[32])) return NAN;
  double first = sr__log_portable(r1 / r4) / 3.0;
  double later = fmax(sr__log_portable(r8 / r32) / 28.0, 0.0);
  double error = sqrt((1.0 / (r1 * r1) + 1.0 / (r4 * r4)) / (double)c->rows) / 3.0;
  return (first - PACES * later) / error;
}

/* ---- the correlation ------------------------------------------------------------------------ */

/* The lags of a run that are looked at, and the transform of 2^bits numbers that sums its products.
 */
static int fft_of(const sr__reach_plan *plan, int64_t length, int64_t *lags) {
  *lags = plan->most < length - 1 ? plan->most : length - 1;
  int64_t size = sr__fft_size(length + *lags + 1);
  int bits = 0;
  while ((INT64_C(1) << bits) < size) bits++;
  return bits;
}

sr_status sr__reach_plan_new(sr_context *ctx, const sr__runs *runs, sr__reach_plan *plan) {
  sr_status status = SR_OK;
  const int64_t *start = runs->start;
  int64_t longest = 0, lags;
  *plan = (sr__reach_plan){.runs = *runs, .rows = start[runs->count] - start[0]};
  for (int64_t k = 0; k < runs->count; k++)
    if (start[k + 1] - start[k] > longest) longest = start[k + 1] - start[k];
  plan->most = plan->rows / 3;
  if (runs->count > 1 && plan->most > 2 * longest / 3) plan->most = 2 * longest / 3;
  SR_NEW_ZERO(ctx, plan->pairs, plan->most + 2);
  for (int64_t k = 0; k < runs->count; k++) {
    int64_t length = start[k + 1] - start[k];
    for (int64_t lag = 0; lag <= plan->most && lag < length; lag++)
      plan->pairs[lag] += (double)(length - lag);
    int bits = length > 1 ? fft_of(plan, length, &lags) : 0;
    if (bits > 0 && !plan->fft[bits].size)
      SR_TRY(sr__fft_new(ctx, INT64_C(1) << bits, &plan->fft[bits]));
  }
cleanup:
  return status;
}

void sr__reach_plan_free(sr_context *ctx, sr__reach_plan *plan) {
  sr__free(ctx, plan->pairs);
  for (size_t b = 0; b < sizeof plan->fft / sizeof *plan->fft; b++)
    sr__fft_free(ctx, &plan->fft[b]);
  *plan = (sr__reach_plan){0};
}

static double mean_of(const double *x, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) sum += x[i];
  return sum / (double)n;
}

/* A run of one series, or of two side by side. */
typedef struct series_run {
  const double *first, *second; /* second: NULL: none */
  double mean[2];
  int64_t length, lags;
} series_run;

/* Two real series are one complex one: the sums of products of the first come out as real, those of
 * the second as imaginary numbers. */
static void add_run(const sr__fft *fft, const series_run *run, double *memory, double *sum[2]) {
  int64_t size = fft->size, zeros = size - run->length;
  double *re = memory, *im = re + size;
  for (int64_t i = 0; i < run->length; i++) {
    re[i] = run->first[i] - run->mean[0];
    im[i] = run->second ? run->second[i] - run->mean[1] : 0.0;
  }
  memset(re + run->length, 0, (size_t)zeros * sizeof *re);
  memset(im + run->length, 0, (size_t)zeros * sizeof *im);
  sr__fft_forward(fft, re, im);
  sr__fft_powers(fft, re, im);
  sr__fft_backward(fft, re, im); /* both are even: the same sign leads back */
  for (int64_t k = 0; k <= run->lags; k++) {
    sum[0][k] += re[k] / (double)size;
    sum[1][k] += im[k] / (double)size;
  }
}

/* Unbiased, over the variance. false for a constant series. */
static bool scale_sums(const sr__reach_plan *plan, double *sum) {
  double variance = sum[0] / (double)plan->rows;
  if (!(variance > 1e-24)) return false;
  for (int64_t k = 0; k <= plan->most; k++)
    sum[k] = plan->pairs[k] > 0.0 ? sum[k] / plan->pairs[k] / variance : 0.0;
  return true;
}

static void sum_reach(const sr__reach_plan *plan, const double *r, sr__reach_asked asked,
                      double *scratch, sr__reach *reach) {
  int64_t most = plan->most, rows = plan->rows;
  reach->estimate = sr__reach_of(r, most, rows, asked.clear, CUT_AT, scratch);
  reach->careful =
      fmax(reach->estimate, sr__reach_of(r, most, rows, asked.clear, CUT_AT_CAREFUL, scratch));
  if (asked.together) {
    reach->together = sr__reach_together(r, most, rows, CUT_AT, scratch);
    reach->together_careful =
        fmax(reach->together, sr__reach_together(r, most, rows, CUT_AT_CAREFUL, scratch));
  }
  if (reach->estimate <= 1.0) return;
  curve beyond = curve_in(r, most, rows, scratch);
  reach->period = find_period(&beyond);
  reach->slowing = slowing_of(&beyond);
}

static int64_t largest_fft(const sr__reach_plan *plan) {
  int64_t largest = 1;
  for (size_t b = 0; b < sizeof plan->fft / sizeof *plan->fft; b++)
    if (plan->fft[b].size > largest) largest = plan->fft[b].size;
  return largest;
}

int64_t sr__reach_memory(const sr__reach_plan *plan) {
  return 2 * largest_fft(plan) + 5 * (plan->most + 2) + 3;
}

void sr__reach_measure_in(const sr__reach_plan *plan, const double *first, const double *second,
                          sr__reach_asked asked, double *memory, sr__reach *reach) {
  int64_t lags = plan->most + 2;
  double *sums = memory + 2 * largest_fft(plan), *sum[2] = {sums, sums + lags};
  for (int s = 0; s < (second ? 2 : 1); s++) reach[s] = SR__NO_REACH;
  if (plan->rows < LEAST_ROWS || plan->most < 3) return;
  memset(sums, 0, (size_t)(2 * lags) * sizeof *sums);
  double mean[2] = {mean_of(first, plan->rows), second ? mean_of(second, plan->rows) : 0.0};
  for (int64_t k = 0; k < plan->runs.count; k++) {
    const int64_t *start = plan->runs.start;
    int64_t at = start[k] - start[0], length = start[k + 1] - start[k];
    if (length < 1) continue;
    if (length == 1) {
      sum[0][0] += (first[at] - mean[0]) * (first[at] - mean[0]);
      if (second) sum[1][0] += (second[at] - mean[1]) * (second[at] - mean[1]);
      continue;
    }
    series_run run = {.first = first + at,
                      .second = second ? second + at : NULL,
                      .mean = {mean[0], mean[1]},
                      .length = length};
    int bits = fft_of(plan, length, &run.lags);
    add_run(&plan->fft[bits], &run, memory, sum);
  }
  for (int s = 0; s < (second ? 2 : 1); s++)
    if (scale_sums(plan, sum[s])) sum_reach(plan, sum[s], asked, sums + 2 * lags, &reach[s]);
}

sr_status sr__reach_measure(sr_context *ctx, const sr__reach_plan *plan, const double *first,
                            const double *second, sr__reach_asked asked, sr__reach *reach) {
  sr_status status = SR_OK;
  double *memory = NULL;
  SR_NEW(ctx, memory, sr__reach_memory(plan));
  sr__reach_measure_in(plan, first, second, asked, memory, reach);
cleanup:
  sr__free(ctx, memory);
  return status;
}
