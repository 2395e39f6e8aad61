/* Circular blocks of Politis and White's estimated length. */
#include "plan.h"

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)ctx;
  (void)options;
  plan->block = sr__plan_length(input->block, input->rows);
  sr__plan_parameter(plan, "block", (double)plan->block);
  return SR_OK;
}

const sr__scheme sr__scheme_auto_block = {
    .info = {"auto-block", "circular blocks of the Politis-White length"},
    .needs = SR_PLAN_KNOWS_GROUPS | SR_PLAN_NEEDS_BLOCK,
    .prepare = prepare,
    .bag = sr__bag_circular,
};
