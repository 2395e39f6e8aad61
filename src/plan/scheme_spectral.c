/* Algorithm 1 of the paper: floor(m / P) members a part, the remainder to the first parts, and a
 * bootstrap inside the part. */
#include "plan.h"

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)input;
  if (plan->parts > options->members)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "plan spectral has %d parts for %d members; give it no more parts than members",
                    plan->parts, options->members);
  plan->capacity = 0;
  for (int32_t p = 0; p < plan->parts; p++) {
    int64_t size = plan->part_offset[p + 1] - plan->part_offset[p];
    if (size > plan->capacity) plan->capacity = size;
  }
  plan->leaves_parts_out = plan->parts > 1;
  sr__plan_parameter(plan, "parts", plan->parts);
  return SR_OK;
}

static int32_t part_of_member(const sr_plan *plan, int32_t member) {
  int32_t each = plan->members / plan->parts, more = plan->members % plan->parts;
  int32_t in_larger = more * (each + 1);
  if (member < in_larger) return member / (each + 1);
  return more + (member - in_larger) / each;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  int32_t part = part_of_member(plan, member);
  int64_t low = plan->part_offset[part], size = plan->part_offset[part + 1] - low;
  return sr__bootstrap_list(ctx, random, size, size, plan->part_row + low, bag);
}

const sr__scheme sr__scheme_spectral = {
    .info = {"spectral", "the paper's Algorithm 1: one part a member, bootstrapped"},
    .needs = SR_PLAN_NEEDS_PARTS,
    .in_pieces = true,
    .prepare = prepare,
    .bag = make_bag,
};
