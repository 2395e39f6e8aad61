/* Politis and Romano's stationary bootstrap: blocks of geometric length from uniform starts,
 * wrapping inside the group, cut off at exactly n rows. */
#include <math.h>

#include "plan.h"

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)ctx;
  double mean = options->block > 0.0 ? options->block : cbrt((double)input->rows);
  if (mean < 1.0) mean = 1.0;
  plan->restart = 1.0 / mean;
  sr__plan_parameter(plan, "mean_block", mean);
  return SR_OK;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)ctx;
  (void)member;
  sr__ranges_start(plan, bag);
  for (int64_t left = plan->rows; left > 0;) {
    int64_t start = (int64_t)sr__random_below(random, (uint64_t)plan->rows);
    int64_t length = sr__random_geometric(random, plan->restart);
    if (length > left) length = left;
    sr__ranges_add_circular(plan, bag, start, length);
    left -= length;
  }
  sr__ranges_finish(plan, bag);
  return SR_OK;
}

const sr__scheme sr__scheme_stationary = {
    .info = {"stationary", "stationary bootstrap, mean block n^(1/3) rows unless given"},
    .needs = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = make_bag,
};
