/* Window graphs |i - j| <= tau by closed form: theta = pi / (n - (tau + 1) / 2),
 * lambda_2 = 1 - (1 / tau) sum_k cos(k theta), x_i = sin(theta (i - (n - 1) / 2)). Exact for
 * tau = 1; otherwise the relative error is about 0.85 (tau / n)^3, and where that is too much a
 * banded factorization with inverse iteration finishes the pair. */
#include <math.h>

#include "core/dense.h"
#include "core/maths.h"
#include "multilevel.h"
#include "solver.h"

static const double PI = 3.14159265358979323846;

static double closed_form_error(int64_t nodes, int32_t window) {
  double share = (double)window / (double)nodes;
  return window == 1 ? 0 : 0.85 * share * share * share;
}

/* Flops that a banded factorization may take. */
static const double BAND_WORK = 2e9;

bool sr__window_answers(int64_t nodes, int32_t window, int32_t pairs, double tolerance) {
  if (pairs > 1) return window == 1;
  if (nodes <= 2 * (int64_t)window) return false;
  return closed_form_error(nodes, window) < tolerance / 10 ||
         (double)nodes * window * window < BAND_WORK;
}

/* Pair p of the path is exact; p = 0 of other windows is the approximation. */
static void closed_form(int64_t n, int32_t window, int32_t p, double *value, double *x) {
  double theta = (p + 1) * PI / ((double)n - 0.5 * (window + 1));
  double middle = 0.5 * (double)(n - 1), sum = 0;
  for (int32_t k = 1; k <= window; k++) {
    double s = sr__sin_portable(0.5 * k * theta);
    sum += 2 * s * s;
  }
  *value = sum / window;
  for (int64_t i = 0; i < n; i++) {
    double angle = theta * ((double)i - middle);
    x[i] = p % 2 == 0 ? sr__sin_portable(angle) : sr__cos_portable(angle);
  }
}

/* ---- banded solves ------------------------------------------------------------------------ */

/* Cholesky factor of L - value D of the first `count` nodes, lower band, column-major. */
static sr_status factor_band(sr_context *ctx, const sr__csr *graph, int32_t window, int64_t count,
                             double value, double *band) {
  sr_status status = SR_OK;
  int64_t rows = window + 1;
  memset(band, 0, (size_t)(count * rows) * sizeof *band);
  for (int64_t i = 0; i < count; i++) {
    band[i * rows] = (1 - value) * sr__csr_degree(graph, i);
    for (int64_t a = graph->offset[i]; a < graph->offset[i + 1]; a++) {
      int64_t j = graph->neighbor[a];
      if (j > i && j < count) band[i * rows + j - i] = -1;
    }
  }
  bool definite = false;
  SR_TRY(sr__plain_band_factor(ctx, count, window, band, &definite));
  if (!definite)
    SR_TRY(
        sr__fail(ctx, SR_ERROR_INTERNAL, "the band of %lld nodes has no factor", (long long)count));
cleanup:
  return status;
}

/* Windows that an end disturbs. */
enum { END_WINDOWS = 12 };

/* Away from the ends the closed form solves L x = value D x row by row. The rows near an end are
 * solved for, with the rest as it is; the other end mirrors them. */
static sr_status fix_ends(sr_context *ctx, const sr__problem *problem, double value, double *x) {
  sr_status status = SR_OK;
  const sr__csr *graph = &problem->graph;
  int64_t n = graph->nodes, count = END_WINDOWS * (int64_t)problem->window;
  double *band = NULL;
  if (count > n / 4) count = n / 4;
  SR_NEW(ctx, band, count * (problem->window + 1));
  SR_TRY(factor_band(ctx, graph, problem->window, count, value, band));
  for (int64_t i = 0; i < count; i++) {
    x[i] = 0;
    for (int64_t a = graph->offset[i]; a < graph->offset[i + 1]; a++) {
      if (graph->neighbor[a] >= count) x[i] += x[graph->neighbor[a]];
    }
  }
  sr__plain_band_solve(count, problem->window, band, x);
  for (int64_t i = 0; i < count; i++) x[n - 1 - i] = -x[i];
cleanup:
  sr__free(ctx, band);
  return status;
}

/* x := x minus its D-mean, in unit D-norm. */
static void normalize(const sr__csr *graph, double *x) {
  double sum = 0, volume = 0, norm = 0;
  for (int64_t i = 0; i < graph->nodes; i++) {
    double d = sr__csr_degree(graph, i);
    sum += d * x[i];
    volume += d;
  }
  for (int64_t i = 0; i < graph->nodes; i++) {
    x[i] -= sum / volume;
    norm += sr__csr_degree(graph, i) * x[i] * x[i];
  }
  for (int64_t i = 0; i < graph->nodes; i++) x[i] /= sqrt(norm);
}

/* ---- refinement --------------------------------------------------------------------------- */

/* Inverse iteration; the error shrinks by (lambda_2 / lambda_4)^2 = 1/81 or so a round, because
 * the start is odd and stays odd. */
enum { ROUNDS = 8 };

static sr_status refine(sr_context *ctx, const sr__problem *problem, double *x) {
  sr_status status = SR_OK;
  const sr__csr *graph = &problem->graph;
  int64_t n = graph->nodes;
  double *band = NULL;
  SR_NEW(ctx, band, (n - 1) * (problem->window + 1));
  SR_TRY(factor_band(ctx, graph, problem->window, n - 1, 0, band));
  normalize(graph, x);
  for (int round = 0; round < ROUNDS; round++) {
    SR_TRY(sr__check_interrupt(ctx));
    for (int64_t i = 0; i < n; i++) x[i] *= sr__csr_degree(graph, i);
    sr__plain_band_solve(n - 1, problem->window, band, x);
    x[n - 1] = 0;
    normalize(graph, x);
  }
cleanup:
  sr__free(ctx, band);
  return status;
}

static sr_status solve(sr_context *ctx, const sr__problem *problem, sr__answer *answer) {
  int64_t n = problem->graph.nodes;
  double tolerance = problem->options->tolerance;
  if (problem->window <= 0)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "solver window needs a graph of the time builder: use auto for other graphs");
  if (!sr__window_answers(n, problem->window, problem->pairs, tolerance))
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "solver window does not give %d pairs of %lld nodes with tau = %d: use auto",
                    problem->pairs, (long long)n, problem->window);
  for (int32_t p = 0; p < problem->pairs; p++)
    closed_form(n, problem->window, p, &answer->value[p], answer->vector + p * n);
  answer->converged = true;
  answer->value_is_exact = closed_form_error(n, problem->window) < tolerance / 10;
  if (!answer->value_is_exact) return refine(ctx, problem, answer->vector);
  return problem->window == 1 ? SR_OK : fix_ends(ctx, problem, answer->value[0], answer->vector);
}

const sr__solver sr__solver_window = {
    .about = {"window",
              "closed form for time windows, refined by a banded solve where it is not exact", NULL,
              0, NULL},
    .solve = solve};
