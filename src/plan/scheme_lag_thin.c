/* Every L-th row of each group from a random offset, then a bootstrap of those. */
#include "plan.h"

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)ctx;
  (void)input;
  plan->lag = options->lag;
  plan->capacity = sr__thinned_capacity(plan);
  sr__plan_parameter(plan, "lag", (double)plan->lag);
  return SR_OK;
}

const sr__scheme sr__scheme_lag_thin = {
    .info = {"lag-thin", "every L-th row (L = 5) from a random offset, bootstrapped"},
    .needs = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = sr__bag_thinned,
};
