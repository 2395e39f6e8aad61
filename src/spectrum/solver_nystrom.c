/* Nystrom has no meaning on a sparse graph; sr_spectrum_nystrom takes the points instead. */
#include "solver.h"

static sr_status solve(sr_context *ctx, const sr__problem *problem, sr__answer *answer) {
  (void)answer;
  return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                  "solver nystrom needs a smooth kernel: among the landmarks of a sparse graph "
                  "(here %.1f neighbours for %lld nodes) hardly any two are neighbours, so their "
                  "matrix is singular; use auto, or sr_spectrum_nystrom on the table",
                  (double)problem->graph.arcs / (double)problem->graph.nodes,
                  (long long)problem->graph.nodes);
}

const sr__solver sr__solver_nystrom = {
    {"nystrom", "landmarks of a smooth kernel on the rows of a table; refuses sparse graphs"},
    solve,
    false};
