/* Circular blocks as long as the true mixing time, which the user or the simulator gives. */
#include "plan.h"

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)ctx;
  (void)options;
  plan->block = sr__plan_length(input->tmix, input->rows);
  sr__plan_parameter(plan, "block", (double)plan->block);
  return SR_OK;
}

const sr__scheme sr__scheme_oracle_block = {
    .info = {"oracle-block", "circular blocks as long as the given mixing time"},
    .needs = SR_PLAN_KNOWS_GROUPS | SR_PLAN_NEEDS_TMIX,
    .prepare = prepare,
    .bag = sr__bag_circular,
};
