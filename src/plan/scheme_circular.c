/* Politis and Romano's circular block bootstrap: blocks from uniform starts, wrapping inside the
 * group, cut off at exactly n rows. */
#include <math.h>

#include "plan.h"

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)ctx;
  double length = options->block > 0.0 ? options->block : cbrt((double)input->rows);
  plan->block = sr__plan_length(length, input->rows);
  sr__plan_parameter(plan, "block", (double)plan->block);
  return SR_OK;
}

const sr__scheme sr__scheme_circular = {
    .info = {"circular", "circular block bootstrap, blocks of n^(1/3) rows unless given"},
    .needs = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = sr__bag_circular,
};
