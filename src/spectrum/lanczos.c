/* Lanczos with thick restarts for D^(-1/2) W D^(-1/2), its known top vector D^(1/2) 1 deflated.
 * Right where lambda_2 is not small: expander-like graphs, feature neighbours in many dimensions.
 */
#include "lanczos.h"

#include <lapacke.h>
#include <math.h>

#include "core/random.h"
#include "multilevel.h"

enum { STEPS_MAX = 64, STEPS_LEAST = 18, CHECK_EVERY = 4, RESTARTS = 2000 };

typedef struct lanczos {
  const sr__csr *graph;
  int64_t length; /* nodes, rounded up to whole lanes; the rest is zero */
  int64_t chunks;
  double *top; /* the deflated vector, unit length: D^(1/2) 1 times `unit` */
  double unit;
  double *scaled; /* D^(-1/2) v of the vector that is multiplied */
  double *basis[STEPS_MAX + 1];
  double *partial; /* sums of each chunk */
  double t[STEPS_MAX * STEPS_MAX], vectors[STEPS_MAX * STEPS_MAX], theta[STEPS_MAX];
  int steps, filled;   /* size of the basis, part of it in use */
  double beta;         /* length of what the last step left over */
  double theta_before; /* of the last wanted pair, a few steps ago */
  int64_t products;
} lanczos;

typedef struct lanczos_pass {
  lanczos *z;
  double *to;
  const double *from;
  int count; /* basis vectors used */
  const double *coefficient;
} lanczos_pass;

static int64_t pass_end(const lanczos *z, int64_t chunk) {
  int64_t end = (chunk + 1) * SR__CHUNK;
  return end < z->length ? end : z->length;
}

/* D^(-1/2) of a node. */
static inline double root(const lanczos *z, int64_t i) { return z->unit / z->top[i]; }

/* ---- kernels ------------------------------------------------------------------------------ */

static sr_status scale_chunk(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const lanczos_pass *pass = data;
  const lanczos *z = pass->z;
  int64_t end = pass_end(z, chunk);
  if (end > z->graph->nodes) end = z->graph->nodes;
  for (int64_t i = chunk * SR__CHUNK; i < end; i++) z->scaled[i] = pass->from[i] * root(z, i);
  return SR_OK;
}

static sr_status multiply_chunk(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const lanczos_pass *pass = data;
  const sr__csr *g = pass->z->graph;
  const double *v = pass->z->scaled;
  int64_t end = pass_end(pass->z, chunk);
  if (end > g->nodes) end = g->nodes;
  for (int64_t i = chunk * SR__CHUNK; i < end; i++) {
    double even = 0, odd = 0;
    int64_t a = g->offset[i], last = g->offset[i + 1];
    if (g->mass) { /* what the mass exceeds the degree by acts like a loop */
      double degree = 0;
      for (; a < last; a++) {
        double w = g->weight ? g->weight[a] : 1;
        even += w * v[g->neighbor[a]];
        degree += w;
      }
      odd = (g->mass[i] - degree) * v[i];
    } else if (g->weight) {
      for (; a < last; a++) even += g->weight[a] * v[g->neighbor[a]];
    } else {
      for (; a + 1 < last; a += 2) {
        even += v[g->neighbor[a]];
        odd += v[g->neighbor[a + 1]];
      }
      if (a < last) even += v[g->neighbor[a]];
    }
    pass->to[i] = (even + odd) * root(pass->z, i);
  }
  return SR_OK;
}

/* Sums to' basis_j for j < count, then to' top. */
static sr_status project_chunk(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const lanczos_pass *pass = data;
  lanczos *z = pass->z;
  double *sum = z->partial + chunk * (STEPS_MAX + 2);
  for (int j = 0; j <= pass->count; j++) {
    const double *v = j < pass->count ? z->basis[j] : z->top;
    sr__d4 dot = {0};
    for (int64_t i = chunk * SR__CHUNK; i < pass_end(z, chunk); i += SR__LANES)
      dot = sr__d4_dot(dot, sr__d8_load(v + i), sr__d8_load(pass->to + i));
    sum[j] = sr__d4_sum(dot);
  }
  return SR_OK;
}

/* to -= sum of coefficient_j basis_j, and of the last one times top; sums to' to. */
static sr_status subtract_chunk(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const lanczos_pass *pass = data;
  lanczos *z = pass->z;
  int64_t begin = chunk * SR__CHUNK, end = pass_end(z, chunk);
  for (int j = 0; j <= pass->count; j++) {
    const double *v = j < pass->count ? z->basis[j] : z->top;
    for (int64_t i = begin; i < end; i++) pass->to[i] -= pass->coefficient[j] * v[i];
  }
  sr__d4 norm = {0};
  for (int64_t i = begin; i < end; i += SR__LANES) {
    sr__d8 v = sr__d8_load(pass->to + i);
    norm = sr__d4_dot(norm, v, v);
  }
  z->partial[chunk * (STEPS_MAX + 2)] = sr__d4_sum(norm);
  return SR_OK;
}

/* The first `count` basis vectors := basis times the columns of `coefficient` (filled x count). */
static sr_status rotate_chunk(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const lanczos_pass *pass = data;
  lanczos *z = pass->z;
  for (int64_t i = chunk * SR__CHUNK; i < pass_end(z, chunk); i += SR__LANES) {
    sr__d8 old[STEPS_MAX];
    for (int j = 0; j < z->filled; j++) old[j] = sr__d8_load(z->basis[j] + i);
    for (int k = 0; k < pass->count; k++) {
      sr__d8 sum = {{0}, {0}};
      for (int j = 0; j < z->filled; j++) {
        sum.low += pass->coefficient[k * z->filled + j] * old[j].low;
        sum.high += pass->coefficient[k * z->filled + j] * old[j].high;
      }
      sr__d8_store(z->basis[k] + i, sum);
    }
  }
  return SR_OK;
}

static void add_partial(const lanczos *z, double *sums, int count) {
  for (int s = 0; s < count; s++) sums[s] = 0;
  for (int64_t c = 0; c < z->chunks; c++) {
    for (int s = 0; s < count; s++) sums[s] += z->partial[c * (STEPS_MAX + 2) + s];
  }
}

/* ---- one step ------------------------------------------------------------------------------- */

/* Makes `to` orthogonal to the first `count` basis vectors and to the top vector, twice where the
 * first time took most of it away; adds what it removed to `removed` and gives the length left. */
static sr_status orthogonalize(sr_context *ctx, lanczos *z, double *to, int count, double *removed,
                               double *length) {
  sr_status status = SR_OK;
  double sums[STEPS_MAX + 1], before = 0, norm = 0;
  for (int round = 0; round < 3; round++) {
    lanczos_pass pass = {.z = z, .to = to, .count = count, .coefficient = sums};
    SR_TRY(sr__parallel_for(ctx, z->chunks, project_chunk, &pass));
    add_partial(z, sums, count + 1);
    SR_TRY(sr__parallel_for(ctx, z->chunks, subtract_chunk, &pass));
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
static void fill_start(lanczos *z, double *v, const double *start) {
  sr__random random;
  sr__random_init(&random, 0, SR_PURPOSE_SOLVER, 0, 0);
  for (int64_t i = 0; i < z->graph->nodes; i++)
    v[i] = start ? start[i] / root(z, i) : sr__random_normal(&random);
}

static void scale_vector(const lanczos *z, double *v, double factor) {
  for (int64_t i = 0; i < z->length; i++) v[i] *= factor;
}

/* Extends the basis from `filled` by one. */
static sr_status step(sr_context *ctx, lanczos *z) {
  sr_status status = SR_OK;
  int j = z->filled;
  double removed[STEPS_MAX + 1] = {0};
  double *next = z->basis[j + 1];
  lanczos_pass pass = {.z = z, .from = z->basis[j], .to = next};
  SR_TRY(sr__parallel_for(ctx, z->chunks, scale_chunk, &pass));
  SR_TRY(sr__parallel_for(ctx, z->chunks, multiply_chunk, &pass));
  z->products++;
  SR_TRY(orthogonalize(ctx, z, next, j + 1, removed, &z->beta));
  for (int i = 0; i <= j; i++) z->t[i * STEPS_MAX + j] = z->t[j * STEPS_MAX + i] = removed[i];
  z->filled++;
  if (z->beta > 0) scale_vector(z, next, 1 / z->beta);
cleanup:
  return status;
}

/* Eigenpairs of the projected matrix, largest first, into theta and vectors (filled each). */
static sr_status solve_projected(sr_context *ctx, lanczos *z) {
  int n = z->filled;
  double a[STEPS_MAX * STEPS_MAX], value[STEPS_MAX], work[34 * STEPS_MAX];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a[i * n + j] = z->t[i * STEPS_MAX + j];
  }
  int info = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, value, work,
                                (int)(sizeof work / sizeof *work));
  if (info != 0) return sr__fail(ctx, SR_ERROR_INTERNAL, "LAPACK dsyev failed with %d", info);
  for (int k = 0; k < n; k++) {
    z->theta[k] = value[n - 1 - k];
    memcpy(z->vectors + k * n, a + (n - 1 - k) * n, (size_t)n * sizeof *a);
  }
  return SR_OK;
}

/* Estimate of the relative error of lambda of pair p: the smaller of residual and residual^2 / gap.
 * The gap is to the next Ritz value. */
static double pair_error(const lanczos *z, int p) {
  double left = z->beta * fabs(z->vectors[p * z->filled + z->filled - 1]);
  double gap = p + 1 < z->filled ? z->theta[p] - z->theta[p + 1] : 0;
  double error = gap > left ? left * left / gap : left;
  double lambda = 1 - z->theta[p];
  return lambda > 0 ? error / lambda : left;
}

/* The gap may still be overestimated, so the value must also have stopped moving. */
static double worst_error(lanczos *z, int pairs) {
  double last = z->theta[pairs - 1], moved = fabs(last - z->theta_before);
  double worst = moved / fmax(1 - last, 1e-300);
  for (int p = 0; p < pairs; p++) worst = fmax(worst, pair_error(z, p));
  z->theta_before = last;
  return worst;
}

/* Keeps the best `kept` Ritz vectors and what was left over. */
static sr_status restart(sr_context *ctx, lanczos *z, int kept) {
  sr_status status = SR_OK;
  double *left_over = z->basis[z->filled];
  double bottom[STEPS_MAX];
  for (int k = 0; k < kept; k++) bottom[k] = z->vectors[k * z->filled + z->filled - 1];
  lanczos_pass pass = {.z = z, .count = kept, .coefficient = z->vectors};
  SR_TRY(sr__parallel_for(ctx, z->chunks, rotate_chunk, &pass));
  z->basis[z->filled] = z->basis[kept];
  z->basis[kept] = left_over;
  memset(z->t, 0, sizeof z->t);
  for (int k = 0; k < kept; k++) {
    z->t[k * STEPS_MAX + k] = z->theta[k];
    z->t[k * STEPS_MAX + kept] = z->t[kept * STEPS_MAX + k] = z->beta * bottom[k];
  }
  z->filled = kept;
cleanup:
  return status;
}

/* ---- the solver --------------------------------------------------------------------------- */

static sr_status allocate(sr_context *ctx, lanczos *z) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, z->top, z->length);
  SR_NEW_ZERO(ctx, z->scaled, z->length);
  SR_NEW_ZERO(ctx, z->partial, z->chunks * (STEPS_MAX + 2));
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
static sr_status iterate(sr_context *ctx, lanczos *z, const sr__lanczos_options *options,
                         sr__lanczos_result *result) {
  sr_status status = SR_OK;
  int pairs = options->pairs, kept = pairs + (z->steps - pairs) / 3;
  int64_t most = options->max_products ? options->max_products : (int64_t)RESTARTS * z->steps;
  while (!result->converged && z->products < most) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_TRY(step(ctx, z));
    bool full = z->filled == z->steps, exhausted = !(z->beta > 1e-14);
    if (!full && !exhausted && z->filled % CHECK_EVERY != 0) continue;
    if (z->filled <= pairs && !exhausted) continue;
    SR_TRY(solve_projected(ctx, z));
    result->error = z->filled >= pairs ? worst_error(z, pairs) : 1;
    result->converged = z->filled >= pairs && (result->error <= options->tolerance || exhausted);
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
  lanczos *z = NULL;
  *result = (sr__lanczos_result){0};
  SR_NEW_ZERO(ctx, z, 1);
  z->graph = graph;
  z->length = (graph->nodes + SR__LANES - 1) / SR__LANES * SR__LANES;
  z->chunks = sr__chunks_of(z->length);
  z->steps = 2 * options->pairs + STEPS_LEAST;
  if (z->steps > graph->nodes - 1) z->steps = (int)(graph->nodes - 1);
  if (z->steps > STEPS_MAX - 1) z->steps = STEPS_MAX - 1;
  SR_TRY(allocate(ctx, z));
  double removed[1], length;
  fill_start(z, z->basis[0], options->start);
  SR_TRY(orthogonalize(ctx, z, z->basis[0], 0, removed, &length));
  if (length > 0) scale_vector(z, z->basis[0], 1 / length);
  SR_TRY(iterate(ctx, z, options, result));
  int found = z->filled < options->pairs ? z->filled : options->pairs;
  lanczos_pass pass = {.z = z, .count = found, .coefficient = z->vectors};
  SR_TRY(sr__parallel_for(ctx, z->chunks, rotate_chunk, &pass));
  for (int p = 0; p < options->pairs; p++) {
    value[p] = p < found ? 1 - z->theta[p] : 0;
    for (int64_t i = 0; i < graph->nodes; i++)
      x[p][i] = p < found ? z->basis[p][i] * root(z, i) : 0;
  }
cleanup:
  if (z) {
    for (int j = 0; j <= STEPS_MAX; j++) sr__free(ctx, z->basis[j]);
    sr__free(ctx, z->top);
    sr__free(ctx, z->scaled);
    sr__free(ctx, z->partial);
    sr__free(ctx, z);
  }
  return status;
}
