/* n draws with replacement: what every bagged forest does. */
#include "plan.h"

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)ctx;
  (void)options;
  plan->draws = input->rows;
  return SR_OK;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)member;
  return sr__bootstrap_list(ctx, random, plan->rows, plan->draws, NULL, bag);
}

const sr__scheme sr__scheme_uniform = {
    .info = {"uniform", "full bootstrap: n draws with replacement"},
    .in_pieces = true,
    .prepare = prepare,
    .bag = make_bag,
};
