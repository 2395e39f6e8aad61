/* Thick-restart Lanczos as the registry sees it. */
#include "lanczos.h"
#include "solver.h"

enum { PAIRS_MAX = 20 };

static sr_status solve(sr_context *ctx, const sr__problem *problem, sr__answer *answer) {
  sr_status status = SR_OK;
  double *x[PAIRS_MAX];
  if (problem->pairs > PAIRS_MAX)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "solver lanczos gives at most %d pairs, %d were asked for", PAIRS_MAX,
                    problem->pairs));
  for (int p = 0; p < problem->pairs; p++) x[p] = answer->vector + p * problem->graph.nodes;
  sr__lanczos_options own = {.pairs = problem->pairs,
                             .tolerance = problem->options->tolerance,
                             .max_products = problem->options->max_iterations};
  sr__lanczos_result result;
  SR_TRY(sr__lanczos_pairs(ctx, &problem->graph, &own, x, answer->value, &result));
  answer->iterations = result.iterations;
  answer->converged = result.converged;
cleanup:
  return status;
}

const sr__solver sr__solver_lanczos = {
    .about = {"lanczos", "Lanczos with thick restarts; graphs whose lambda_2 is not small", NULL, 0,
              NULL},
    .solve = solve};
