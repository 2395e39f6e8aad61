/* All solvers, and which one a graph gets. */
#include "solver.h"

static const sr__solver *const SOLVERS[] = {
    &sr__solver_dense,      &sr__solver_window,  &sr__solver_lanczos,
    &sr__solver_multilevel, &sr__solver_nystrom,
#ifdef SR_HAVE_ARPACK
    &sr__solver_arpack,
#endif
};
enum { SOLVER_COUNT = sizeof SOLVERS / sizeof *SOLVERS };

const sr_method_info *sr_spectrum_solver(int index) {
  return index >= 0 && index < SOLVER_COUNT ? &SOLVERS[index]->info : NULL;
}

const sr__solver *sr__solver_find(const char *name) {
  for (int i = 0; i < SOLVER_COUNT; i++) {
    if (strcmp(SOLVERS[i]->info.name, name) == 0) return SOLVERS[i];
  }
  return NULL;
}

/* Graphs this small are done before another solver has set up. */
enum { DENSE_IS_FASTER = 128 };

const sr__solver *sr__solver_choose(const sr__problem *problem) {
  int64_t n = problem->graph.nodes;
  if (problem->window > 0 &&
      sr__window_answers(n, problem->window, problem->pairs, problem->options->tolerance))
    return &sr__solver_window;
  if (n <= DENSE_IS_FASTER || problem->pairs > n / 8) return &sr__solver_dense;
  return &sr__solver_multilevel;
}
