/* Circular blocks as long as the true mixing time, which the user or the simulator gives. */
#include "plan.h"

static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  (void)values;
  return sr__rows_state(ctx, scope->structure->scale, "block", plan, state);
}

const sr__scheme sr__scheme_oracle_block = {
    .about = {"oracle-block", "circular blocks as long as the given mixing time", NULL, 0, NULL},
    .flags = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = sr__bag_circular,
};
