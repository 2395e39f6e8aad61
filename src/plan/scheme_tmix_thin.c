/* Thinning by the mixing time. */
#include "plan.h"

static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  (void)values;
  int64_t lag = sr__plan_length(scope->structure->scale, scope->rows);
  plan->capacity = sr__thinned_capacity(plan, lag);
  return sr__rows_state(ctx, (double)lag, "lag", plan, state);
}

const sr__scheme sr__scheme_tmix_thin = {
    .about = {"tmix-thin", "every T-th row (T = mixing time) from a random offset, bootstrapped",
              NULL, 0, NULL},
    .flags = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = sr__bag_thinned,
};
