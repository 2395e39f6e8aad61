/* Every row once: members differ by their own draws alone, as deep ensembles and forests without
 * bootstrap do. */
#include "plan.h"

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)ctx;
  (void)member;
  (void)random;
  sr_status status = SR_OK;
  for (int64_t i = 0; i < plan->rows && status == SR_OK; i++) status = sr__bag_add(bag, i, 1);
  return status;
}

const sr__scheme sr__scheme_whole = {
    .about = {"whole", "all rows to every member, nothing drawn", NULL, 0, NULL},
    .bag = make_bag,
};
