/* The plans that the single-plan rule tries. */
#include <math.h>

#include "train.h"

/* Costs are distinct rows of a bag over those of a full bootstrap, 1 - 1/e of the rows. */
int32_t sr__list_candidates(const sr_structure *structure, int32_t members,
                            sr__candidate_plan *list) {
  static const double shares[][2] = {{1, .3}, {1, .1}, {1, .03}, {.5, 1},
                                     {.2, 1}, {.1, 1}, {.5, .2}};
  static const int32_t parts[] = {5, 20, 50};
  const double full = 1.0 - exp(-1.0);
  int32_t count = 0, own = sr_parts_get(structure->parts)->parts;
  list[count++] = (sr__candidate_plan){"uniform", 1.0};
  list[count++] = (sr__candidate_plan){"uniform-nm", 1.0 / members / full};
  for (size_t k = 0; k < sizeof shares / sizeof *shares && own > 1; k++) {
    sr__candidate_plan *c = &list[count++];
    snprintf(c->text, sizeof c->text, "routed:part_share=%g,row_share=%g", shares[k][0],
             shares[k][1]);
    c->cost = shares[k][0] * shares[k][1] / full;
  }
  for (size_t k = 0; k < sizeof parts / sizeof *parts && sr__structure_has_cuts(structure); k++) {
    if (parts[k] > members || parts[k] > own) continue;
    sr__candidate_plan *c = &list[count++];
    snprintf(c->text, sizeof c->text, "spectral:parts=%d", parts[k]);
    c->cost = 1.0 / parts[k];
  }
  return count;
}
