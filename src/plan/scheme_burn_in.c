/* The first T log n rows of every group are dropped; the rest is bootstrapped. */
#include <math.h>

#include "plan.h"

static int64_t first_kept(const sr_plan *plan, int64_t group) {
  int64_t low = plan->group_offset[group], high = plan->group_offset[group + 1];
  return high - low > plan->skip ? low + plan->skip : high;
}

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)options;
  double skip = ceil(input->tmix * log((double)input->rows));
  plan->skip = skip < (double)input->rows ? (int64_t)skip : input->rows;
  plan->capacity = 0;
  for (int64_t g = 0; g < plan->groups; g++)
    plan->capacity += plan->group_offset[g + 1] - first_kept(plan, g);
  sr__plan_parameter(plan, "dropped", (double)plan->skip);
  if (plan->capacity > 0) return SR_OK;
  return sr__fail(ctx, SR_ERROR_DATA,
                  "burn-in drops the first %lld rows of every group and nothing is left of %lld "
                  "rows; use another plan or a smaller mixing time",
                  (long long)plan->skip, (long long)plan->rows);
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)member;
  int64_t kept = 0;
  for (int64_t g = 0; g < plan->groups; g++) {
    for (int64_t i = first_kept(plan, g); i < plan->group_offset[g + 1]; i++)
      bag->rows[kept++] = (int32_t)i;
  }
  return sr__bootstrap_list(ctx, random, kept, kept, bag->rows, bag);
}

const sr__scheme sr__scheme_burn_in = {
    .info = {"burn-in", "the first T log n rows of each group dropped, the rest bootstrapped"},
    .needs = SR_PLAN_KNOWS_GROUPS | SR_PLAN_NEEDS_TMIX,
    .prepare = prepare,
    .bag = make_bag,
};
