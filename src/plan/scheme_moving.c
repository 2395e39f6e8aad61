/* Moving blocks: starts are uniform over the places where a whole block fits, nothing wraps. A
 * group shorter than a block is one block by itself. */
#include "plan.h"

typedef struct moving {
  double block;
} moving;

static const sr_option options[] = {SR_REAL(moving, block, "0", 0, 1e9,
                                            "rows per block; 0 is n^(1/3)"),
                                    SR_OPTIONS_END};

static int64_t block_in_group(const sr_plan *plan, int64_t group) {
  int64_t size = plan->group_offset[group + 1] - plan->group_offset[group];
  const int64_t *block = plan->state;
  return size < *block ? size : *block;
}

static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  const moving *o = values;
  return sr__rows_state(ctx, sr__default_block(o->block, scope->rows), "block", plan, state);
}

/* A start that does not fit is drawn again, which leaves the fitting ones equally likely. Each
 * non-empty group has at least one fitting start. */
static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)member;
  sr_status status = SR_OK;
  sr__ranges ranges = {0};
  for (int64_t left = plan->rows; left > 0;) {
    int64_t start = (int64_t)sr__random_below(random, (uint64_t)plan->rows);
    int64_t group = sr__plan_group_of(plan, start);
    int64_t length = block_in_group(plan, group);
    if (start + length > plan->group_offset[group + 1]) continue;
    if (length > left) length = left;
    SR_TRY(sr__ranges_add(ctx, &ranges, start, start + length));
    left -= length;
  }
  SR_TRY(sr__ranges_write(ctx, plan, &ranges, bag));
cleanup:
  sr__free(ctx, ranges.edge);
  return status;
}

const sr__scheme sr__scheme_moving = {
    .about = {"moving", "moving block bootstrap", options, sizeof(moving), NULL},
    .flags = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = make_bag,
};
