/* The reversible transition graph on quantile cells of the slow coordinate, and its gap. */
#include <math.h>
#include <stdlib.h>

#include "core/maths.h"
#include "core/sort.h"
#include "dependence.h"

enum { MANY_CELLS = 256, FEW_CELLS = 64, MANY_ROWS = 20000, ROWS_A_CELL = 16, SPECTRUM = 16 };

typedef struct half_graph {
  int64_t start, end;
  int32_t cells;
  double *weight; /* cells x cells */
  double *degree;
  double *value;  /* top eigenvalues */
  double *vector; /* top eigenvectors, cells each */
  double pairs;   /* at the lag last counted */
} half_graph;

typedef struct transition_work {
  const sr__rows *rows;
  uint16_t *cell; /* a position */
  half_graph half[2];
} transition_work;

/* ---- cells -------------------------------------------------------------------------------- */

/* Equal values stay in one cell, so a coordinate with few values has few cells. */
static sr_status assign_cells(sr_context *ctx, const float *slow, int64_t all_rows,
                              half_graph *half, uint16_t *cell) {
  sr_status status = SR_OK;
  float *sorted = NULL, border[MANY_CELLS];
  int64_t count = half->end - half->start, wanted = all_rows >= MANY_ROWS ? MANY_CELLS : FEW_CELLS;
  int32_t borders = 0;
  if (wanted > count / ROWS_A_CELL) wanted = count / ROWS_A_CELL;
  if (wanted < 2) wanted = 2;
  SR_NEW(ctx, sorted, count);
  memcpy(sorted, slow + half->start, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, sr__compare_floats);
  for (int64_t k = 1; k < wanted; k++) {
    float at = sorted[count * k / wanted];
    if (at > sorted[0] && (borders == 0 || at > border[borders - 1])) border[borders++] = at;
  }
  half->cells = borders + 1;
  for (int64_t t = half->start; t < half->end; t++) {
    int32_t low = 0, high = borders;
    while (low < high) {
      int32_t middle = (low + high) / 2;
      if (slow[t] >= border[middle])
        low = middle + 1;
      else
        high = middle;
    }
    cell[t] = (uint16_t)low;
  }
cleanup:
  sr__free(ctx, sorted);
  return status;
}

/* ---- the graph and its spectrum ------------------------------------------------------------- */

/* Symmetric, over the roots of the degrees; a cell that is never left or entered stays apart with
 * eigenvalue 0. */
static void count_transitions(const transition_work *work, half_graph *half, int64_t lag) {
  int32_t cells = half->cells;
  double *w = half->weight;
  memset(w, 0, (size_t)cells * (size_t)cells * sizeof *w);
  half->pairs = 0.0;
  for (int64_t p = 0; p < work->rows->piece_count; p++) {
    const sr__piece *piece = work->rows->piece + p;
    if (piece->start < half->start || piece->end > half->end) continue;
    int64_t end = piece->limit - lag < piece->end ? piece->limit - lag : piece->end;
    for (int64_t t = piece->start; t < end; t++)
      w[(int64_t)work->cell[t] * cells + work->cell[t + lag]] += 1.0;
    if (end > piece->start) half->pairs += (double)(end - piece->start);
  }
  for (int32_t a = 0; a < cells; a++) {
    half->degree[a] = 0.0;
    for (int32_t b = 0; b < cells; b++)
      half->degree[a] += 0.5 * (w[(int64_t)a * cells + b] + w[(int64_t)b * cells + a]);
  }
  for (int32_t a = 0; a < cells; a++)
    for (int32_t b = 0; b <= a; b++) {
      double sum = 0.5 * (w[(int64_t)a * cells + b] + w[(int64_t)b * cells + a]);
      double root = sqrt(half->degree[a] * half->degree[b]);
      w[(int64_t)a * cells + b] = w[(int64_t)b * cells + a] = root > 0.0 ? sum / root : 0.0;
    }
}

static sr_status solve_half(sr_context *ctx, const transition_work *work, half_graph *half,
                            int64_t lag, int32_t count, bool vectors) {
  count_transitions(work, half, lag);
  if (count > half->cells) count = half->cells;
  return sr__symmetric_top(ctx, half->weight, half->cells, count, half->value,
                           vectors ? half->vector : NULL);
}

/* How far the largest noise eigenvalue scatters about its edge 2 sqrt(s) (Tracy and Widom's law has
 * a standard deviation of 1.27). */
static double edge_scatter(double s, int32_t cells) {
  return 1.3 * sqrt(s) * sr__pow_portable(cells, -2.0 / 3.0);
}

/* Counting noise lifts the second eigenvalue from theta to theta + s (1 - theta^2) / theta, s =
 * (cells - 2) / (2 pairs): the deformed semicircle for independent rows (where everything below
 * 2 sqrt(s) is noise), second-order perturbation for dependent ones. This is the inverse; what lies
 * within two deviations of the edge counts as noise. */
static double remove_noise(double lambda, double s, int32_t cells) {
  if (!(lambda > 0.0)) return 0.0;
  if (lambda >= 1.0) return 1.0;
  double root = lambda * lambda - 4.0 * s * (1.0 - s);
  if (root < 0.0 || lambda < 2.0 * sqrt(s) + 2.0 * edge_scatter(s, cells)) return 0.0;
  double theta = (lambda + sqrt(root)) / (2.0 * (1.0 - s));
  return theta < 1.0 ? theta : 1.0;
}

static double noise_of(const half_graph *half) {
  return half->pairs > 0.0 ? (half->cells - 2) / (2.0 * half->pairs) : 0.0;
}

/* Mean of the halves, weighted by their pairs. */
static double halves_mean(const transition_work *work, double a, double b) {
  double first = work->half[0].pairs, second = work->half[1].pairs;
  return first + second > 0.0 ? (a * first + b * second) / (first + second) : NAN;
}

/* ---- the interval --------------------------------------------------------------------------- */

/* Second eigenvector at each position of a half, mean 0 and variance 1. */
static void spread_eigenvector(const transition_work *work, const half_graph *half,
                               float *eigenvector) {
  double total = 0.0;
  for (int32_t a = 0; a < half->cells; a++) total += half->degree[a];
  const double *v = half->vector + half->cells;
  double sign = 0.0; /* along the slow coordinate, whose cells are in order */
  for (int32_t a = 0; a < half->cells; a++) sign += v[a] * (a - 0.5 * (half->cells - 1));
  double scale = sqrt(total) * (sign < 0.0 ? -1.0 : 1.0);
  for (int64_t t = half->start; t < half->end; t++) {
    int32_t a = work->cell[t];
    eigenvector[t] = half->degree[a] > 0.0 ? (float)(scale * v[a] / sqrt(half->degree[a])) : 0.0F;
  }
}

/* Variance of the second eigenvalue: with u the eigenvector at each row, lambda = N / D, N =
 * sum u_t u_(t+1), D = sum (u_t^2 + u_(t+1)^2) / 2, and to first order only N - lambda D of the
 * blocks moves it. Never below the information limit (1 - lambda^2) / pairs of a one-dimensional
 * chain. */
static double eigenvalue_variance(const transition_work *work, const float *u,
                                  const double lambda[2]) {
  double residual[SR__MAX_BLOCKS] = {0}, total = 0.0, square = 0.0, pairs = 0.0;
  int32_t blocks = work->rows->blocks;
  for (int64_t p = 0; p < work->rows->piece_count; p++) {
    const sr__piece *piece = work->rows->piece + p;
    int half = piece->start >= work->half[1].start;
    int64_t end = piece->limit - 1 < piece->end ? piece->limit - 1 : piece->end;
    for (int64_t t = piece->start; t < end; t++) {
      double x = (double)u[t], y = (double)u[t + 1], d = 0.5 * (x * x + y * y);
      residual[piece->block] += x * y - lambda[half] * d;
      total += d;
    }
  }
  for (int32_t b = 0; b < blocks; b++) square += residual[b] * residual[b];
  pairs = work->half[0].pairs + work->half[1].pairs;
  double mean = halves_mean(work, lambda[0], lambda[1]);
  double limit = (1.0 - mean * mean) / pairs;
  double jackknife = square / (total * total) * blocks / (blocks - 1.0);
  return jackknife > limit ? jackknife : limit;
}

static double timescale(double lambda) {
  return lambda >= 1.0 ? HUGE_VAL : 1.0 / (1.0 - (lambda > 0.0 ? lambda : 0.0));
}

/* Symmetric in log(1 - lambda) where the eigenvalue is well above the floor; below, the floor's own
 * fluctuation (Tracy-Widom scale) is added and the ends are mapped through the noise removal. */
static sr_scale make_scale(double lambda, double variance, double s, int32_t cells, double z) {
  sr_scale scale = {"slow-graph", NAN, NAN, NAN};
  double theta = remove_noise(lambda, s, cells), edge = edge_scatter(s, cells);
  double error = z * sqrt(variance + (1.0 - theta * theta) * edge * edge) / (1.0 - lambda);
  scale.estimate = timescale(theta);
  scale.low = timescale(remove_noise(1.0 - (1.0 - lambda) * sr__exp_portable(error), s, cells));
  scale.high = timescale(
      fmax(sqrt(s), remove_noise(1.0 - (1.0 - lambda) * sr__exp_portable(-error), s, cells)));
  return scale;
}

/* ---- implied timescales --------------------------------------------------------------------- */

/* T of the lag-l graph, 1 / (1 - lambda^(1/l)), for l = 1, 2, 5, 10, 20 ... while the eigenvalue
 * stands clear of noise and the runs are long enough. */
static sr_status implied_timescales(sr_context *ctx, transition_work *work,
                                    sr__transition_modes *out) {
  static const int64_t digit[3] = {1, 2, 5};
  sr_status status = SR_OK;
  int64_t decade = 1;
  for (int32_t i = 0; i < SR__MAX_IMPLIED; i++) {
    int64_t lag = digit[i % 3] * decade;
    if (i % 3 == 2) decade *= 10;
    if (lag * 8 > work->rows->longest_run) break;
    double lambda[2], s[2];
    for (int h = 0; h < 2; h++) {
      SR_TRY(solve_half(ctx, work, &work->half[h], lag, 2, false));
      lambda[h] = work->half[h].value[1];
      s[h] = noise_of(&work->half[h]);
    }
    double measured = halves_mean(work, lambda[0], lambda[1]);
    double noise = halves_mean(work, s[0], s[1]);
    double theta = remove_noise(measured, noise, work->half[0].cells);
    if (!(measured > 3.0 * sqrt(noise)) || theta >= 1.0) break;
    out->implied_lag[i] = (double)lag;
    out->implied_timescale[i] = timescale(sr__pow_portable(theta, 1.0 / (double)lag));
    out->implied_count = i + 1;
  }
cleanup:
  return status;
}

/* A one-step memory has the same implied timescale at every lag. Lags far beyond the longest
 * timescale seen so far say little; the tolerance is a factor 1.6, widened by the uncertainty of T.
 */
static bool timescales_bend(const sr__transition_modes *t) {
  double width = sr__log_portable(t->scale.high / t->scale.low), longest = t->scale.estimate;
  for (int32_t i = 1; i < t->implied_count; i++) {
    if (t->implied_lag[i] > 2.5 * longest) break;
    longest = fmax(longest, t->implied_timescale[i]);
    if (fabs(sr__log_portable(t->implied_timescale[i] / t->implied_timescale[0])) >
        sr__log_portable(1.6) + 0.6 * width)
      return true;
  }
  return false;
}

/* ---- together ------------------------------------------------------------------------------- */

static sr_status new_half(sr_context *ctx, half_graph *half) {
  sr_status status = SR_OK;
  SR_NEW(ctx, half->weight, (int64_t)half->cells * half->cells);
  SR_NEW(ctx, half->degree, half->cells);
  SR_NEW(ctx, half->value, SPECTRUM + 1);
  SR_NEW(ctx, half->vector, (int64_t)half->cells * (SPECTRUM + 1));
cleanup:
  return status;
}

static void free_half(sr_context *ctx, half_graph *half) {
  sr__free(ctx, half->weight);
  sr__free(ctx, half->degree);
  sr__free(ctx, half->value);
  sr__free(ctx, half->vector);
}

static void keep_spectrum(const transition_work *work, const float *eigenvector, double z,
                          sr__transition_modes *out) {
  const half_graph *a = &work->half[0], *b = &work->half[1];
  int32_t least = a->cells < b->cells ? a->cells : b->cells;
  out->cells = a->cells > b->cells ? a->cells : b->cells;
  out->spectrum_count = least - 1 < SPECTRUM ? least - 1 : SPECTRUM;
  for (int32_t k = 0; k < out->spectrum_count; k++)
    out->spectrum[k] = halves_mean(work, a->value[k + 1], b->value[k + 1]);
  double lambda[2] = {a->value[1], b->value[1]};
  double measured = halves_mean(work, lambda[0], lambda[1]);
  double s = halves_mean(work, noise_of(a), noise_of(b));
  out->lambda = remove_noise(measured, s, out->cells);
  out->connected = lambda[0] < 1.0 - 1e-9 && lambda[1] < 1.0 - 1e-9;
  if (!out->connected) return;
  double variance = eigenvalue_variance(work, eigenvector, lambda);
  out->scale = make_scale(measured, variance, s, out->cells, z);
}

sr_status sr__transition_modes_estimate(sr_context *ctx, const sr__rows *rows, const float *slow,
                                        double z, sr__transition_modes *transition,
                                        float *eigenvector) {
  sr_status status = SR_OK;
  transition_work work = {.rows = rows,
                          .half = {{.start = 0, .end = rows->cut},
                                   {.start = rows->cut, .end = rows->n}}};
  *transition = (sr__transition_modes){.lambda = NAN, .scale = {"slow-graph", NAN, NAN, NAN}};
  SR_NEW(ctx, work.cell, rows->n);
  for (int h = 0; h < 2; h++) {
    SR_TRY(assign_cells(ctx, slow, rows->n, &work.half[h], work.cell));
    if (work.half[h].cells < 2) goto cleanup;
    SR_TRY(new_half(ctx, &work.half[h]));
    SR_TRY(solve_half(ctx, &work, &work.half[h], 1, SPECTRUM + 1, true));
    if (!(work.half[h].pairs > 0.0)) goto cleanup;
    spread_eigenvector(&work, &work.half[h], eigenvector);
  }
  keep_spectrum(&work, eigenvector, z, transition);
  if (!transition->connected) goto cleanup;
  SR_TRY(implied_timescales(ctx, &work, transition));
  transition->implied_bends = timescales_bend(transition);
cleanup:
  sr__free(ctx, work.cell);
  free_half(ctx, &work.half[0]);
  free_half(ctx, &work.half[1]);
  return status;
}
