/* n/m draws with replacement: the paper's own definition of a bag. */
#include "plan.h"

typedef struct uniform_nm {
  double draw_share;
} uniform_nm;

static const sr_option options[] = {
    SR_REAL(uniform_nm, draw_share, "0", 0, 1,
            "rows drawn over rows there are; 0 is one over the number of members"),
    SR_OPTIONS_END};

static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  const uniform_nm *o = values;
  double share = o->draw_share > 0.0 ? o->draw_share : 1.0 / plan->members;
  sr_status status = sr__rows_state(ctx, share * (double)scope->rows, "draws", plan, state);
  if (status != SR_OK) return status;
  plan->capacity = *(int64_t *)*state;
  return SR_OK;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)member;
  const int64_t *draws = plan->state;
  return sr__bootstrap_list(ctx, random, plan->rows, *draws, NULL, bag);
}

static void say(const void *values, char *words, size_t size) {
  const uniform_nm *o = values;
  if (o->draw_share > 0.0)
    snprintf(words, size, "%g %% of the rows, drawn with replacement", 100.0 * o->draw_share);
  else
    snprintf(words, size, "as many rows as members go into all, drawn with replacement");
}

const sr__scheme sr__scheme_uniform_nm = {
    .about = {"uniform-nm", "small bootstrap: n/m draws with replacement", options,
              sizeof(uniform_nm), NULL},
    .say = say,
    .search = "draw_share=0.01|0.03|0.1|0.3",
    .prepare = prepare,
    .bag = make_bag,
};
