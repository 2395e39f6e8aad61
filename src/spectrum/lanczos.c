/* Lanczos with thick restarts for D^(-1/2) W D^(-1/2), its known top vector D^(1/2) 1 deflated.
 * Right where lambda_2 is not small: expander-like graphs, feature neighbors in many dimensions.
 */
#include "lanczos.h"

#include <math.h>

#include "core/dense.h"
#include "core/random.h"
#include "lanczos_kernel.h"

enum { STEPS_LEAST = 18, CHECK_EVERY = 4, RESTARTS = 2000 };
/* Largest residual over lambda. A start that holds little of the wanted vector shows the next one
 * first, with a residual of (what it holds) x (the gap): a value may be near before its vector. */
static const double LARGEST_RESIDUAL = 1e-5;

static void add_partial(const sr__lanczos *z, double *sums, int count) {
  for (int s = 0; s < count; s++) sums[s] = 0;
  for (int64_t c = 0; c < z->chunks; c++) {
    for (int s = 0; s < count; s++) sums[s] += z->partial[c * (SR__LANCZOS_STEPS + 2) + s];
  }
}

/* ---- one step ------------------------------------------------------------------------------- */

/* Makes `to` orthogonal to the first `count` basis vectors and to the top vector, twice where the
 * first time took most of it away; adds what it removed to `removed` and gives the length left. */
static sr_status orthogonalize(sr_context *ctx, sr__lanczos *z, double *to, int count,
                               double *removed, double *length) {
  sr_status status = SR_OK;
  double sums[SR__LANCZOS_STEPS + 1], before = 0, norm = 0;
  for (int round = 0; round < 3; round++) {
    sr__lanczos_pass pass = {.z = z, .to = to, .count = count, .coefficient = sums};
    SR_TRY(sr__parallel_for(ctx, z->chunks, sr__lanczos_kernel_now()->project, &pass));
    add_partial(z, sums, count + 1);
    SR_TRY(sr__parallel_for(ctx, z->chunks, sr__lanczos_kernel_now()->subtract, &pass));
    add_partial(z, &norm, 1);
    double taken = 0;
    for (int j = 0; j <= count; j++) taken += sums[j] * sums[j];
    for (int j = 0; j < count; j++) removed[j] += sums[j];
    before = norm + taken;
    if (norm > 0.5 * before || norm == 0) break;
  }
  *length = sqrt(norm);
cleanup:
  return status;
}

/* A vector that does not depend on anything but the index. */
static void fill_start(sr__lanczos *z, double *v, const double *start) {
  sr__random random;
  sr__random_init(&random, 0, SR_PURPOSE_SOLVER, 0, 0);
  for (int64_t i = 0; i < z->graph->nodes; i++)
    v[i] = start ? start[i] / sr__lanczos_root(z, i) : sr__random_normal(&random);
}

static void scale_vector(const sr__lanczos *z, double *v, double factor) {
  for (int64_t i = 0; i < z->length; i++) v[i] *= factor;
}

/* Extends the basis from `filled` by one. */
static sr_status step(sr_context *ctx, sr__lanczos *z) {
  sr_status status = SR_OK;
  int j = z->filled;
  double removed[SR__LANCZOS_STEPS + 1] = {0};
  double *next = z->basis[j + 1];
  sr__lanczos_pass pass = {.z = z, .from = z->basis[j], .to = next};
  SR_TRY(sr__parallel_for(ctx, z->chunks, sr__lanczos_kernel_now()->scale, &pass));
  SR_TRY(sr__parallel_for(ctx, z->chunks, sr__lanczos_kernel_now()->multiply, &pass));
  z->products++;
  SR_TRY(orthogonalize(ctx, z, next, j + 1, removed, &z->beta));
  for (int i = 0; i <= j; i++)
    z->t[i * SR__LANCZOS_STEPS + j] = z->t[j * SR__LANCZOS_STEPS + i] = removed[i];
  z->filled++;
  if (z->beta > 0) scale_vector(z, next, 1 / z->beta);
cleanup:
  return status;
}

/* Eigenpairs of the projected matrix, largest first, into theta and vectors (filled each). */
static sr_status solve_projected(sr_context *ctx, sr__lanczos *z) {
  int n = z->filled;
  double a[SR__LANCZOS_STEPS * SR__LANCZOS_STEPS], value[SR__LANCZOS_STEPS];
  _Static_assert((int)SR__LANCZOS_STEPS <= (int)SR__DENSE_SMALL, "small problems only");
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a[i * n + j] = z->t[i * SR__LANCZOS_STEPS + j];
  }
  if (!sr__small_eigen(n, a, value))
    return sr__fail(ctx, SR_ERROR_INTERNAL, "the %d Ritz values did not settle", n);
  for (int k = 0; k < n; k++) {
    z->theta[k] = value[n - 1 - k];
    memcpy(z->vectors + k * n, a + (n - 1 - k) * n, (size_t)n * sizeof *a);
  }
  return SR_OK;
}

static double residual(const sr__lanczos *z, int p) {
  return z->beta * fabs(z->vectors[p * z->filled + z->filled - 1]);
}

/* Estimate of the relative error of lambda of pair p: the smaller of residual and residual^2 / gap.
 * The gap is to the next Ritz value. */
static double pair_error(const sr__lanczos *z, int p) {
  double left = residual(z, p);
  double gap = p + 1 < z->filled ? z->theta[p] - z->theta[p + 1] : 0;
  double error = gap > left ? left * left / gap : left;
  double lambda = 1 - z->theta[p];
  return lambda > 0 ? error / lambda : left;
}

/* The gap may still be overestimated, so the value must also have stopped moving. */
static double worst_error(sr__lanczos *z, int pairs) {
  double last = z->theta[pairs - 1], moved = fabs(last - z->theta_before);
  double worst = moved / fmax(1 - last, 1e-300);
  for (int p = 0; p < pairs; p++) worst = fmax(worst, pair_error(z, p));
  z->theta_before = last;
  return worst;
}

static bool vectors_are_near(const sr__lanczos *z, int pairs) {
  for (int p = 0; p < pairs; p++)
    if (residual(z, p) > LARGEST_RESIDUAL * (1 - z->theta[p])) return false;
  return true;
}

/* Keeps the best `kept` Ritz vectors and what was left over. */
static sr_status restart(sr_context *ctx, sr__lanczos *z, int kept) {
  sr_status status = SR_OK;
  double *left_over = z->basis[z->filled];
  double bottom[SR__LANCZOS_STEPS];
  for (int k = 0; k < kept; k++) bottom[k] = z->vectors[k * z->filled + z->filled - 1];
  sr__lanczos_pass pass = {.z = z, .count = kept, .coefficient = z->vectors};
  SR_TRY(sr__parallel_for(ctx, z->chunks, sr__lanczos_kernel_now()->rotate, &pass));
  z->basis[z->filled] = z->basis[kept];
  z->basis[kept] = left_over;
  memset(z->t, 0, sizeof z->t);
  for (int k = 0; k < kept; k++) {
    z->t[k * SR__LANCZOS_STEPS + k] = z->theta[k];
    z->t[k * SR__LANCZOS_STEPS + kept] = z->t[kept * SR__LANCZOS_STEPS + k] = z->beta * bottom[k];
  }
  z->filled = kept;
cleanup:
  return status;
}

/* ---- the solver --------------------------------------------------------------------------- */

static sr_status allocate(sr_context *ctx, sr__lanczos *z) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, z->top, z->length);
  SR_NEW_ZERO(ctx, z->scaled, z->length);
  SR_NEW_ZERO(ctx, z->partial, z->chunks * (SR__LANCZOS_STEPS + 2));
  for (int j = 0; j <= z->steps; j++) SR_NEW_ZERO(ctx, z->basis[j], z->length);
  double volume = 0;
  for (int64_t i = 0; i < z->graph->nodes; i++) {
    double mass = z->graph->mass ? z->graph->mass[i] : sr__csr_degree(z->graph, i);
    z->top[i] = sqrt(mass);
    volume += mass;
  }
  z->unit = 1 / sqrt(volume);
  scale_vector(z, z->top, z->unit);
cleanup:
  return status;
}

/* Steps until the pairs have converged or the products are used up. */
static sr_status iterate(sr_context *ctx, sr__lanczos *z, const sr__lanczos_options *options,
                         sr__lanczos_result *result) {
  sr_status status = SR_OK;
  int pairs = options->pairs, kept = pairs + (z->steps - pairs) / 3;
  int64_t most = options->max_products ? options->max_products : (int64_t)RESTARTS * z->steps;
  bool whole = z->steps == z->graph->nodes - 1; /* the basis takes in all there is */
  while (!result->converged && z->products < most) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_TRY(step(ctx, z));
    bool full = z->filled == z->steps, exhausted = !(z->beta > 1e-14) || (whole && full);
    if (!full && !exhausted && z->filled % CHECK_EVERY != 0) continue;
    if (z->filled <= pairs && !exhausted) continue;
    SR_TRY(solve_projected(ctx, z));
    result->error = z->filled >= pairs ? worst_error(z, pairs) : 1;
    result->converged =
        z->filled >= pairs && (exhausted || (!whole && result->error <= options->tolerance &&
                                             vectors_are_near(z, pairs)));
    if (exhausted) break;
    if (full && !result->converged) SR_TRY(restart(ctx, z, kept));
  }
  if (!result->converged) SR_TRY(solve_projected(ctx, z));
  result->iterations = z->products;
cleanup:
  return status;
}

sr_status sr__lanczos_pairs(sr_context *ctx, const sr__csr *graph,
                            const sr__lanczos_options *options, double *const *x, double *value,
                            sr__lanczos_result *result) {
  sr_status status = SR_OK;
  sr__lanczos *z = NULL;
  *result = (sr__lanczos_result){0};
  SR_NEW_ZERO(ctx, z, 1);
  z->graph = graph;
  z->length = (graph->nodes + SR__SLICE - 1) / SR__SLICE * SR__SLICE;
  z->chunks = sr__chunks_of(z->length);
  z->steps = 2 * options->pairs + STEPS_LEAST;
  if (z->steps > SR__LANCZOS_STEPS - 1 || graph->nodes <= SR__LANCZOS_STEPS)
    z->steps = SR__LANCZOS_STEPS - 1;
  if (z->steps > graph->nodes - 1) z->steps = (int)(graph->nodes - 1);
  SR_TRY(allocate(ctx, z));
  double removed[1], length;
  fill_start(z, z->basis[0], options->start);
  SR_TRY(orthogonalize(ctx, z, z->basis[0], 0, removed, &length));
  if (length > 0) scale_vector(z, z->basis[0], 1 / length);
  SR_TRY(iterate(ctx, z, options, result));
  int found = z->filled < options->pairs ? z->filled : options->pairs;
  sr__lanczos_pass pass = {.z = z, .count = found, .coefficient = z->vectors};
  SR_TRY(sr__parallel_for(ctx, z->chunks, sr__lanczos_kernel_now()->rotate, &pass));
  for (int p = 0; p < options->pairs; p++) {
    value[p] = p < found ? 1 - z->theta[p] : 0;
    for (int64_t i = 0; i < graph->nodes; i++)
      x[p][i] = p < found ? z->basis[p][i] * sr__lanczos_root(z, i) : 0;
  }
cleanup:
  if (z) {
    for (int j = 0; j <= SR__LANCZOS_STEPS; j++) sr__free(ctx, z->basis[j]);
    sr__free(ctx, z->top);
    sr__free(ctx, z->scaled);
    sr__free(ctx, z->partial);
    sr__free(ctx, z);
  }
  return status;
}
