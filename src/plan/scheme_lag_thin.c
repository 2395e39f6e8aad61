/* Every lag-th row of each group from a random offset, then a bootstrap of those. */
#include "plan.h"

typedef struct lag_thin {
  int64_t lag;
} lag_thin;

static const sr_option options[] = {SR_INTEGER(lag_thin, lag, "5", 1, 1e9,
                                               "rows from one kept row to the next"),
                                    SR_OPTIONS_END};

static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  (void)scope;
  const lag_thin *o = values;
  plan->capacity = sr__thinned_capacity(plan, o->lag);
  return sr__rows_state(ctx, (double)o->lag, "lag", plan, state);
}

const sr__scheme sr__scheme_lag_thin = {
    .about = {"lag-thin", "every lag-th row from a random offset, bootstrapped", options,
              sizeof(lag_thin), NULL},
    .flags = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = sr__bag_thinned,
};
