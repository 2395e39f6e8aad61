/* ARPACK's implicitly restarted Lanczos, for comparison. It keeps hidden static state, so one call
 * runs at a time. */
#include "solver.h"

#ifdef SR_HAVE_ARPACK
#include <arpack/arpack.h>
#include <math.h>
#include <pthread.h>

#include "core/dense.h"
#include "core/random.h"

static pthread_mutex_t one_call = PTHREAD_MUTEX_INITIALIZER;

enum { BASIS_LEAST = 20, RESTARTS = 20000 };

typedef struct arpack_state {
  const sr__csr *graph;
  int n, wanted, basis;
  double *root, *top, *residual, *vectors, *exchange, *work, *scaled, *value;
  int *select;
} arpack_state;

static void arpack_free(sr_context *ctx, arpack_state *s) {
  void *blocks[] = {s->root, s->top,    s->residual, s->vectors, s->exchange,
                    s->work, s->scaled, s->value,    s->select};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__free(ctx, blocks[i]);
}

static sr_status arpack_new(sr_context *ctx, const sr__problem *problem, arpack_state *s) {
  sr_status status = SR_OK;
  int n = (int)problem->graph.nodes, basis = 2 * problem->pairs + BASIS_LEAST;
  *s = (arpack_state){.graph = &problem->graph,
                      .n = n,
                      .wanted = problem->pairs,
                      .basis = basis < n ? basis : n};
  SR_NEW(ctx, s->root, n);
  SR_NEW(ctx, s->top, n);
  SR_NEW(ctx, s->scaled, n);
  SR_NEW(ctx, s->residual, n);
  SR_NEW(ctx, s->vectors, (int64_t)n * s->basis);
  SR_NEW(ctx, s->exchange, 3 * (int64_t)n);
  SR_NEW(ctx, s->work, (int64_t)s->basis * (s->basis + 8));
  SR_NEW(ctx, s->value, s->basis);
  SR_NEW_ZERO(ctx, s->select, s->basis);
  double volume = 0;
  sr__random random;
  sr__random_init(&random, problem->seed, SR_PURPOSE_SOLVER, 0, 0);
  for (int i = 0; i < n; i++) {
    double degree = sr__csr_degree(s->graph, i);
    s->root[i] = 1 / sqrt(degree);
    s->top[i] = sqrt(degree);
    volume += degree;
    s->residual[i] = sr__random_normal(&random);
  }
  for (int i = 0; i < n; i++) s->top[i] /= sqrt(volume);
cleanup:
  return status;
}

/* y := D^(-1/2) W D^(-1/2) x without its top eigenvector. */
static void multiply(arpack_state *s, const double *x, double *y) {
  double dot = 0;
  for (int i = 0; i < s->n; i++) {
    s->scaled[i] = x[i] * s->root[i];
    dot += s->top[i] * x[i];
  }
  for (int i = 0; i < s->n; i++) {
    double sum = 0;
    for (int64_t a = s->graph->offset[i]; a < s->graph->offset[i + 1]; a++)
      sum += (s->graph->weight ? s->graph->weight[a] : 1) * s->scaled[s->graph->neighbor[a]];
    y[i] = sum * s->root[i] - dot * s->top[i];
  }
}

/* ARPACK bounds the residual; lambda's relative error is its square over the gap, so the root of
 * the tolerance times lambda would do, but lambda is not known before. */
static sr_status run(sr_context *ctx, arpack_state *s, const sr_spectrum_options *options,
                     sr__answer *answer) {
  int ido = 0, info = 1, parameters[11] = {0}, pointer[14] = {0};
  int work_size = s->basis * (s->basis + 8);
  parameters[0] = 1;
  parameters[2] = options->max_iterations ? (int)options->max_iterations : RESTARTS;
  parameters[6] = 1;
  for (;;) {
    dsaupd_c(&ido, "I", s->n, "LA", s->wanted, options->tolerance, s->residual, s->basis,
             s->vectors, s->n, parameters, pointer, s->exchange, s->work, work_size, &info);
    if (ido != 1 && ido != -1) break;
    sr_status status = sr__check_interrupt(ctx);
    if (status != SR_OK) return status;
    multiply(s, s->exchange + pointer[0] - 1, s->exchange + pointer[1] - 1);
    answer->iterations++;
  }
  answer->converged = info == 0;
  if (info < 0) return sr__fail(ctx, SR_ERROR_INTERNAL, "ARPACK dsaupd failed with %d", info);
  if (parameters[4] < 1)
    return sr__fail(ctx, SR_ERROR_NOT_CONVERGED,
                    "solver arpack found no pair in %lld products: use auto",
                    (long long)answer->iterations);
  dseupd_c(1, "A", s->select, s->value, s->vectors, s->n, 0, "I", s->n, "LA", s->wanted,
           options->tolerance, s->residual, s->basis, s->vectors, s->n, parameters, pointer,
           s->exchange, s->work, work_size, &info);
  if (info != 0) return sr__fail(ctx, SR_ERROR_INTERNAL, "ARPACK dseupd failed with %d", info);
  /* ARPACK gives the values in increasing order; lambda_2 is the largest of them. */
  int found = parameters[4] < s->wanted ? parameters[4] : s->wanted;
  for (int p = 0; p < found; p++) {
    answer->value[p] = 1 - s->value[found - 1 - p];
    for (int i = 0; i < s->n; i++)
      answer->vector[(int64_t)p * s->n + i] =
          s->vectors[(int64_t)(found - 1 - p) * s->n + i] * s->root[i];
  }
  return SR_OK;
}

static sr_status solve(sr_context *ctx, const sr__problem *problem, sr__answer *answer) {
  sr_status status = SR_OK;
  arpack_state s;
  /* ARPACK wants more basis vectors than pairs and fewer than nodes. */
  if (problem->pairs + 2 > problem->graph.nodes || problem->graph.nodes > INT32_MAX / 4)
    return sr__solver_dense.solve(ctx, problem, answer);
  status = arpack_new(ctx, problem, &s);
  if (status == SR_OK) {
    pthread_mutex_lock(&one_call);
    status = sr__blas_begin(ctx);
    if (status == SR_OK) {
      status = run(ctx, &s, problem->options, answer);
      sr__blas_end();
    }
    pthread_mutex_unlock(&one_call);
  }
  arpack_free(ctx, &s);
  return status;
}

#define SOLVE solve
#define MISSING NULL
#else
#define SOLVE NULL
#define MISSING "ARPACK (Debian: libarpack2-dev)"
#endif

const sr__solver sr__solver_arpack = {
    .about = {"arpack", "ARPACK's implicitly restarted Lanczos, one call at a time; for comparison",
              NULL, 0, MISSING},
    .solve = SOLVE};
