/* All solvers by name. */
#include "solver.h"

#define SR_ENTRY(name) extern const sr__solver sr__solver_##name;
#include "methods.def"
#undef SR_ENTRY
#define SR_ENTRY(name) &sr__solver_##name,
static const sr__solver *const solvers[] = {
#include "methods.def"
};
#undef SR_ENTRY
enum { SOLVER_COUNT = sizeof solvers / sizeof *solvers };

const sr_method *sr_solver_method(int index) {
  return index >= 0 && index < SOLVER_COUNT ? &solvers[index]->about : NULL;
}
