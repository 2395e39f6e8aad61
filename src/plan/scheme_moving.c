/* Moving blocks: starts are uniform over the places where a whole block fits, nothing wraps. A
 * group shorter than a block is one block by itself. */
#include <math.h>

#include "plan.h"

static int64_t block_in_group(const sr_plan *plan, int64_t group) {
  int64_t size = plan->group_offset[group + 1] - plan->group_offset[group];
  return size < plan->block ? size : plan->block;
}

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)ctx;
  double length = options->block > 0.0 ? options->block : cbrt((double)input->rows);
  plan->block = sr__plan_length(length, input->rows);
  sr__plan_parameter(plan, "block", (double)plan->block);
  return SR_OK;
}

/* A start that does not fit is drawn again, which leaves the fitting ones equally likely. Each
 * non-empty group has at least one fitting start. */
static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)ctx;
  (void)member;
  sr__ranges_start(plan, bag);
  for (int64_t left = plan->rows; left > 0;) {
    int64_t start = (int64_t)sr__random_below(random, (uint64_t)plan->rows);
    int64_t group = sr__plan_group_of(plan, start);
    int64_t length = block_in_group(plan, group);
    if (start + length > plan->group_offset[group + 1]) continue;
    if (length > left) length = left;
    sr__ranges_add(plan, bag, start, start + length);
    left -= length;
  }
  sr__ranges_finish(plan, bag);
  return SR_OK;
}

const sr__scheme sr__scheme_moving = {
    .info = {"moving", "moving block bootstrap, blocks of n^(1/3) rows unless given"},
    .needs = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = make_bag,
};
