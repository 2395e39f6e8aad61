/* Bags that the user brings, in a file or in memory. */
#include "plan.h"

typedef struct bags {
  const char *bags;
} bags;

static const sr_option options[] = {
    SR_TEXT(bags, bags, NULL,
            "file of bags: csv \"member,row[,count]\" from 0, or npy members x rows"),
    SR_OPTIONS_END};

static void free_state(const sr_allocator *allocator, void *state) {
  sr__bag_list_free(allocator, state);
  sr__release(allocator, state);
}

/* The number of members is that of the bags. */
static sr_status take_list(sr_context *ctx, const sr__bag_list *list, sr_plan *plan) {
  plan->members = list->members;
  plan->capacity = 1;
  for (int32_t j = 0; j < list->members; j++) {
    int64_t length = list->offset[j + 1] - list->offset[j];
    if (length <= 0)
      return sr__fail(ctx, SR_ERROR_ARGUMENT,
                      "bag %d is empty; number the members from 0 without a gap", j);
    if (length > plan->capacity) plan->capacity = length;
  }
  return SR_OK;
}

static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  sr_status status = SR_OK;
  const bags *o = values;
  sr__bag_list *list = NULL;
  SR_NEW_ZERO(ctx, list, 1);
  *state = list;
  (void)scope;
  SR_TRY(sr__bag_list_read(ctx, o->bags, plan, list));
  SR_TRY(take_list(ctx, list, plan));
cleanup:
  return status;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)ctx;
  (void)random;
  const sr__bag_list *list = plan->state;
  sr_status status = SR_OK;
  for (int64_t i = list->offset[member]; i < list->offset[member + 1] && status == SR_OK; i++)
    status = sr__bag_add(bag, list->row[i], list->count[i]);
  return status;
}

const sr__scheme sr__scheme_bags = {
    .about = {"bags", "the user's own bags from a csv or npy file", options, sizeof(bags), NULL},
    .flags = SR_PLAN_OWN_BAGS,
    .prepare = prepare,
    .bag = make_bag,
    .free_state = free_state,
};

/* A bag as it was given. */
typedef struct given_bag {
  int64_t length;
  const int64_t *row;
  const int32_t *count; /* NULL: each row once */
} given_bag;

/* Appends a bag behind the `stored` rows of the list, sorted by row, what occurs twice added up.
 * `dense` holds a zero per row, before and after. */
static sr_status copy_bag(sr_context *ctx, int64_t rows, given_bag bag, int32_t *dense,
                          sr__bag_list *list, int64_t *stored) {
  for (int64_t i = 0; i < bag.length; i++) {
    int32_t times = bag.count ? bag.count[i] : 1;
    if (bag.row[i] < 0 || bag.row[i] >= rows || times < 0)
      return sr__fail(ctx, SR_ERROR_ARGUMENT,
                      "a bag holds row %lld %d times; rows are 0 to %lld, counts 0 or more",
                      (long long)bag.row[i], times, (long long)rows - 1);
    dense[bag.row[i]] += times;
  }
  for (int64_t r = 0; r < rows; r++) {
    if (!dense[r]) continue;
    list->row[*stored] = (int32_t)r;
    list->count[(*stored)++] = dense[r];
    dense[r] = 0;
  }
  return SR_OK;
}

sr_status sr_plan_from_bags(sr_context *ctx, int64_t rows, int32_t members, const int64_t *offset,
                            const int64_t *row, const int32_t *count, sr_plan **plan) {
  sr_status status = SR_OK;
  sr_plan *made = NULL;
  sr__bag_list *list = NULL;
  int32_t *dense = NULL;
  int64_t stored = 0;
  *plan = NULL;
  if (rows < 1 || rows > INT32_MAX || members < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "bags of %lld rows for %d members cannot be a plan",
                    (long long)rows, members));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->scheme = &sr__scheme_bags;
  made->rows = made->source_rows = rows;
  made->text = sr__strdup(ctx, "bags");
  if (!made->text) SR_TRY(SR_ERROR_MEMORY);
  SR_NEW_ZERO(ctx, list, 1);
  made->state = list;
  list->members = members;
  SR_NEW_ZERO(ctx, list->offset, (int64_t)members + 1);
  SR_NEW(ctx, list->row, offset[members]);
  SR_NEW(ctx, list->count, offset[members]);
  SR_NEW_ZERO(ctx, dense, rows);
  for (int32_t j = 0; j < members; j++) {
    given_bag bag = {offset[j + 1] - offset[j], row + offset[j], count ? count + offset[j] : NULL};
    SR_TRY(copy_bag(ctx, rows, bag, dense, list, &stored));
    list->offset[j + 1] = stored;
  }
  SR_TRY(take_list(ctx, list, made));
  *plan = made;
  made = NULL;
cleanup:
  sr__free(ctx, dense);
  sr_plan_free(&made);
  return status;
}
