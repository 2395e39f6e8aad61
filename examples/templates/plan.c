/* Copy me to src/plan/scheme_NAME.c, rename `every` to NAME, and add SR_ENTRY(NAME) to
 * src/plan/methods.def, a test that names it and a page docs/methods/plan-NAME.md.
 *
 * This one keeps every step-th row of each group, from an offset of its own for each member. */
#include "plan.h"

typedef struct every {
  int64_t step;
} every;

/* Help, completions, reference pages and errors come from this list. */
static const sr_option options[] = {SR_INTEGER(every, step, "3", 1, 1e9,
                                               "rows from one kept row to the next"),
                                    SR_OPTIONS_END};

/* The options are the caller's; what bags need of them is copied into the state, one block here. */
static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  (void)scope; /* graph, parts and T of the rows, for schemes that use them */
  sr_status status = SR_OK;
  const every *given = values;
  int64_t *step = NULL;
  SR_NEW(ctx, step, 1);
  *step = sr__plan_length((double)given->step, plan->rows);
  sr__plan_parameter(plan, "step", (double)*step);
  *state = step;
cleanup:
  return status;
}

/* A pure function of the plan and the member's own random stream; any thread may call it. Positions
 * must increase; a scheme that knows groups gets each group as one range of positions. */
static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)ctx;
  (void)member;
  int64_t step = *(const int64_t *)plan->state;
  sr_status status = SR_OK;
  for (int64_t g = 0; g < plan->groups; g++) {
    int64_t first = plan->group_offset[g], end = plan->group_offset[g + 1];
    int64_t span = step < end - first ? step : end - first; /* a short group gives a row too */
    first += (int64_t)sr__random_below(random, (uint64_t)span);
    for (int64_t position = first; position < end; position += step)
      SR_TRY(sr__bag_add(bag, position, 1));
  }
cleanup:
  return status;
}

const sr__scheme sr__scheme_every = {
    .about = {"every", "every step-th row from a random start", options, sizeof(every), NULL},
    .flags = SR_PLAN_KNOWS_GROUPS,
    .prepare = prepare,
    .bag = make_bag,
};
