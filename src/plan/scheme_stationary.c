/* Politis and Romano's stationary bootstrap: blocks of geometric length from uniform starts,
 * wrapping inside the group, cut off at exactly n rows. */
#include "plan.h"

typedef struct stationary {
  double block;
} stationary;

static const sr_option options[] = {SR_REAL(stationary, block, "0", 0, 1e9,
                                            "mean rows per block; 0 is n^(1/3)"),
                                    SR_OPTIONS_END};

/* The state is the rate of the probability that a block ends. */
static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  sr_status status = SR_OK;
  const stationary *o = values;
  double *rate = NULL, mean = sr__default_block(o->block, scope->rows);
  if (mean < 1.0) mean = 1.0;
  SR_NEW(ctx, rate, 1);
  *rate = sr__geometric_rate(1.0 / mean);
  *state = rate;
  sr__plan_parameter(plan, "mean_block", mean);
cleanup:
  return status;
}

static int64_t length_of(const sr_plan *plan, sr__random *random, int64_t start, int64_t group) {
  (void)start, (void)group;
  return sr__random_geometric(random, *(const double *)plan->state);
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)member;
  return sr__bag_blocks(ctx, plan, random, length_of, bag);
}

const sr__scheme sr__scheme_stationary = {
    .about = {"stationary", "stationary bootstrap", options, sizeof(stationary), NULL},
    .flags = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = make_bag,
};
