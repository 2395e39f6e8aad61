/* The first T log n rows of every group are dropped; the rest is bootstrapped. */
#include <math.h>

#include "core/maths.h"
#include "plan.h"

static int64_t first_kept(const sr_plan *plan, int64_t group) {
  int64_t low = plan->group_offset[group], high = plan->group_offset[group + 1];
  const int64_t *skip = plan->state;
  return high - low > *skip ? low + *skip : high;
}

static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  (void)values;
  double skip = ceil(scope->structure->scale * sr__log_portable((double)scope->rows));
  sr_status status = SR_OK;
  int64_t *skipped = NULL;
  SR_NEW(ctx, skipped, 1);
  *state = skipped;
  plan->state = skipped;
  *skipped = skip < (double)scope->rows ? (int64_t)skip : scope->rows;
  plan->capacity = 0;
  for (int64_t g = 0; g < plan->groups; g++)
    plan->capacity += plan->group_offset[g + 1] - first_kept(plan, g);
  sr__plan_parameter(plan, "dropped", (double)*skipped);
  if (plan->capacity == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "burn-in drops the first %lld rows of every group and nothing is left of %lld "
                    "rows; use another plan or a smaller mixing time",
                    (long long)*skipped, (long long)plan->rows));
cleanup:
  return status;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)member;
  sr_status status = SR_OK;
  int32_t *kept = NULL;
  int64_t count = 0;
  SR_NEW(ctx, kept, plan->capacity);
  for (int64_t g = 0; g < plan->groups; g++) {
    for (int64_t i = first_kept(plan, g); i < plan->group_offset[g + 1]; i++)
      kept[count++] = (int32_t)i;
  }
  SR_TRY(sr__bootstrap_list(ctx, random, count, count, kept, bag));
cleanup:
  sr__free(ctx, kept);
  return status;
}

const sr__scheme sr__scheme_burn_in = {
    .about = {"burn-in", "the first T log n rows of each group dropped, the rest bootstrapped",
              NULL, 0, NULL},
    .flags = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = make_bag,
};
