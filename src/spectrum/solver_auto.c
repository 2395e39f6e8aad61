/* The right solver for a graph, by its kind and size. */
#include "solver.h"

/* Graphs this small are done before another solver has set up. */
enum { DENSE_IS_FASTER = 128 };

static const sr__solver *choose(const sr__problem *problem) {
  int64_t n = problem->graph.nodes;
  if (problem->window > 0 &&
      sr__window_answers(n, problem->window, problem->pairs, problem->options->tolerance))
    return &sr__solver_window;
  if (n <= DENSE_IS_FASTER || problem->pairs > n / 8) return &sr__solver_dense;
  return &sr__solver_multilevel;
}

static sr_status solve(sr_context *ctx, const sr__problem *problem, sr__answer *answer) {
  sr_status status = SR_OK;
  const sr__solver *chosen = choose(problem);
  answer->solver = chosen->about.name;
  if (!chosen->makes_room) SR_TRY(sr__answer_room(ctx, answer));
  SR_TRY(chosen->solve(ctx, problem, answer));
cleanup:
  return status;
}

const sr__solver sr__solver_auto = {
    .about = {"auto", "the right one of the others, by kind and size of the graph", NULL, 0, NULL},
    .solve = solve,
    .makes_room = true};
