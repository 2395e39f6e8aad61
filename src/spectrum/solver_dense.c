/* The whole matrix: the reference the others are checked against. */
#include "multilevel.h"
#include "solver.h"

static sr_status solve(sr_context *ctx, const sr__problem *problem, sr__answer *answer) {
  if (problem->graph.nodes > SR__DENSE_LIMIT)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "solver dense takes graphs of at most %d nodes, this one has %lld: use auto",
                    SR__DENSE_LIMIT, (long long)problem->graph.nodes);
  answer->converged = true;
  answer->iterations = 1;
  return sr__dense_pairs(ctx, &problem->graph, problem->pairs, answer->value, answer->vector);
}

const sr__solver sr__solver_dense = {
    .about = {"dense", "the whole matrix at once; the reference for small graphs", NULL, 0, NULL},
    .solve = solve};
