/* Bags that the user brings in a file. */
#include "plan.h"

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)input;
  if (!options->bags_path)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "plan bags needs the file that holds the bags");
  return sr__plan_read_bags(ctx, options->bags_path, plan);
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)ctx;
  (void)random;
  int64_t low = plan->bag_offset[member];
  bag->length = plan->bag_offset[member + 1] - low;
  memcpy(bag->rows, plan->bag_row + low, (size_t)bag->length * sizeof *bag->rows);
  memcpy(bag->counts, plan->bag_count + low, (size_t)bag->length * sizeof *bag->counts);
  return SR_OK;
}

const sr__scheme sr__scheme_bags = {
    .info = {"bags", "the user's own bags from a csv or npy file"},
    .prepare = prepare,
    .bag = make_bag,
};
