/* n/m draws with replacement: the paper's own definition of a bag. */
#include "plan.h"

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)ctx;
  double share = options->draw_share > 0.0 ? options->draw_share : 1.0 / options->members;
  plan->draws = sr__plan_length(share * (double)input->rows, input->rows);
  /* One entry more than can be kept: the bootstrap writes each item before it knows its count. */
  plan->capacity = plan->draws < input->rows ? plan->draws + 1 : input->rows;
  sr__plan_parameter(plan, "draws", (double)plan->draws);
  return SR_OK;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)member;
  return sr__bootstrap_list(ctx, random, plan->rows, plan->draws, NULL, bag);
}

const sr__scheme sr__scheme_uniform_nm = {
    .info = {"uniform-nm", "small bootstrap: n/m draws with replacement"},
    .in_pieces = true,
    .prepare = prepare,
    .bag = make_bag,
};
