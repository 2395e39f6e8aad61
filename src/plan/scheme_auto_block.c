/* Circular blocks of Politis and White's estimated length. Where they have no answer, rows count as
 * independent. */
#include <math.h>

#include "plan.h"

static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  (void)values;
  double block = scope->structure->view.block_rows;
  return sr__rows_state(ctx, block > 0.0 && isfinite(block) ? block : 1.0, "block", plan, state);
}

const sr__scheme sr__scheme_auto_block = {
    .about = {"auto-block", "circular blocks of the Politis-White length", NULL, 0, NULL},
    .flags = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = sr__bag_circular,
};
