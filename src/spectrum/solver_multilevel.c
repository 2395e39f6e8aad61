/* The multilevel solver as the registry sees it. */
#include "multilevel.h"
#include "solver.h"

typedef struct room {
  sr__answer *answer;
  double **x;
  int64_t nodes;
  int32_t pairs;
} room;

static sr_status make_room(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  room *r = data;
  SR_TRY(sr__answer_room(ctx, r->answer));
  for (int p = 0; p < r->pairs; p++) r->x[p] = r->answer->vector + p * r->nodes;
cleanup:
  return status;
}

static sr_status solve(sr_context *ctx, const sr__problem *problem, sr__answer *answer) {
  sr_status status = SR_OK;
  int64_t n = problem->graph.nodes;
  int32_t pairs = problem->pairs;
  double *x[SR__BLOCK_MAX] = {NULL}, value[SR__BLOCK_MAX];
  if (pairs >= SR__BLOCK_MAX)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "solver multilevel gives at most %d pairs, %d were asked for: use lanczos",
                    SR__BLOCK_MAX - 1, pairs));
  if (pairs > n / 8) {
    SR_TRY(sr__answer_room(ctx, answer));
    status = sr__solver_dense.solve(ctx, problem, answer);
    goto cleanup;
  }
  room vectors = {.answer = answer, .x = x, .nodes = n, .pairs = pairs};
  sr__multilevel_options own = {.pairs = pairs,
                                .guard = true,
                                .tolerance = problem->options->tolerance,
                                .max_iterations = problem->options->max_iterations,
                                .arc_limit = SR__EXPANDER_ARCS,
                                .make_room = make_room,
                                .data = &vectors};
  sr__multilevel_result result;
  SR_TRY(sr__multilevel_pairs(ctx, &problem->graph, &own, x, value, &result));
  if (result.levels == 0) answer->solver = "lanczos";
  memcpy(answer->value, value, (size_t)pairs * sizeof *value);
  answer->iterations = result.iterations;
  answer->converged = result.converged;
cleanup:
  return status;
}

const sr__solver sr__solver_multilevel = {
    .about = {"multilevel",
              "aggregation hierarchy and block LOBPCG; meshes, neighbor graphs, long windows", NULL,
              0, NULL},
    .solve = solve,
    .makes_room = true};
