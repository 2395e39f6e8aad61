/* Politis and Romano's circular block bootstrap: blocks from uniform starts, wrapping inside the
 * group, cut off at exactly n rows. */
#include "plan.h"

typedef struct circular {
  double block;
} circular;

static const sr_option options[] = {SR_REAL(circular, block, "0", 0, 1e9,
                                            "rows per block; 0 is n^(1/3)"),
                                    SR_OPTIONS_END};

static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  const circular *o = values;
  return sr__rows_state(ctx, sr__default_block(o->block, scope->rows), "block", plan, state);
}

const sr__scheme sr__scheme_circular = {
    .about = {"circular", "circular block bootstrap", options, sizeof(circular), NULL},
    .flags = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = sr__bag_circular,
};
