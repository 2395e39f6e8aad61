/* Moving blocks: starts are uniform over the places where a whole block fits, nothing wraps. A
 * group shorter than a block is one block by itself. */
#include "plan.h"

typedef struct moving {
  double block;
} moving;

static const sr_option options[] = {SR_REAL(moving, block, "0", 0, 1e9,
                                            "rows per block; 0 is n^(1/3)"),
                                    SR_OPTIONS_END};

static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  const moving *o = values;
  return sr__rows_state(ctx, sr__default_block(o->block, scope->rows), "block", plan, state);
}

/* A start that does not fit is drawn again, which leaves the fitting ones equally likely. Each
 * non-empty group has at least one fitting start. */
static int64_t length_of(const sr_plan *plan, sr__random *random, int64_t start, int64_t group) {
  (void)random;
  const int64_t *offset = plan->group_offset + group, *block = plan->state;
  int64_t size = offset[1] - offset[0], length = size < *block ? size : *block;
  return start + length > offset[1] ? 0 : length;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)member;
  return sr__bag_blocks(ctx, plan, random, length_of, bag);
}

const sr__scheme sr__scheme_moving = {
    .about = {"moving", "moving block bootstrap", options, sizeof(moving), NULL},
    .flags = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = make_bag,
};
