/* n draws with replacement: what every bagged forest does. */
#include "plan.h"

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)member;
  return sr__bootstrap_list(ctx, random, plan->rows, plan->rows, NULL, bag);
}

static void say(const void *options, char *words, size_t size) {
  (void)options;
  snprintf(words, size, "plain bagging: as many rows as there are, drawn with replacement");
}

const sr__scheme sr__scheme_uniform = {
    .about = {"uniform", "full bootstrap: n draws with replacement", NULL, 0, NULL},
    .say = say,
    .bag = make_bag,
};
