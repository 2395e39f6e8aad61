/* Every row once: members differ by their own draws alone, as deep ensembles and forests without
 * bootstrap do. */
#include "plan.h"

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)ctx;
  (void)member;
  (void)random;
  for (int64_t i = 0; i < plan->rows; i++) {
    sr_status status = sr__bag_room(bag, 1);
    if (status != SR_OK) return status;
    bag->rows[bag->length] = (int32_t)i;
    bag->counts[bag->length++] = 1;
  }
  return SR_OK;
}

const sr__scheme sr__scheme_whole = {
    .about = {"whole", "all rows to every member, nothing drawn", NULL, 0, NULL},
    .in_pieces = true,
    .bag = make_bag,
};
