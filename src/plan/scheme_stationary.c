/* Politis and Romano's stationary bootstrap: blocks of geometric length from uniform starts,
 * wrapping inside the group, cut off at exactly n rows. */
#include "plan.h"

typedef struct stationary {
  double block;
} stationary;

static const sr_option options[] = {SR_REAL(stationary, block, "0", 0, 1e9,
                                            "mean rows per block; 0 is n^(1/3)"),
                                    SR_OPTIONS_END};

/* The state is the probability that a block ends. */
static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  sr_status status = SR_OK;
  const stationary *o = values;
  double *restart = NULL, mean = sr__default_block(o->block, scope->rows);
  if (mean < 1.0) mean = 1.0;
  SR_NEW(ctx, restart, 1);
  *restart = 1.0 / mean;
  *state = restart;
  sr__plan_parameter(plan, "mean_block", mean);
cleanup:
  return status;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)ctx;
  (void)member;
  const double *restart = plan->state;
  sr__ranges_start(plan, bag);
  for (int64_t left = plan->rows; left > 0;) {
    int64_t start = (int64_t)sr__random_below(random, (uint64_t)plan->rows);
    int64_t length = sr__random_geometric(random, *restart);
    if (length > left) length = left;
    sr__ranges_add_circular(plan, bag, start, length);
    left -= length;
  }
  sr__ranges_finish(plan, bag);
  return SR_OK;
}

const sr__scheme sr__scheme_stationary = {
    .about = {"stationary", "stationary bootstrap", options, sizeof(stationary), NULL},
    .flags = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = make_bag,
};
