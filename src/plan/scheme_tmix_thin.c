/* Thinning by the mixing time. */
#include "plan.h"

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)ctx;
  (void)options;
  plan->lag = sr__plan_length(input->tmix, input->rows);
  plan->capacity = sr__thinned_capacity(plan);
  sr__plan_parameter(plan, "lag", (double)plan->lag);
  return SR_OK;
}

const sr__scheme sr__scheme_tmix_thin = {
    .info = {"tmix-thin", "every T-th row (T = mixing time) from a random offset, bootstrapped"},
    .needs = SR_PLAN_KNOWS_GROUPS | SR_PLAN_NEEDS_TMIX,
    .prepare = prepare,
    .bag = sr__bag_thinned,
};
