#include "plan.h"

#include <math.h>

enum { PIECE = 2048 }; /* rows of a bag that are handed on together */

void sr_plan_options_init(sr_plan_options *options) {
  *options = (sr_plan_options){
      .name = "uniform", .members = 100, .seed = 1, .lag = 5, .part_share = 0.5, .row_share = 1.0};
}

void sr__plan_parameter(sr_plan *plan, const char *name, double value) {
  if (plan->parameter_count < SR_PLAN_PARAMETERS)
    plan->parameters[plan->parameter_count++] = (sr_plan_parameter){name, value};
}

int64_t sr__plan_length(double value, int64_t limit) {
  double rounded = floor(value + 0.5);
  if (!(rounded >= 1.0)) return 1;
  return rounded < (double)limit ? (int64_t)rounded : limit;
}

int32_t sr_plan_spectral_parts(double c, double lambda2, int32_t members, int64_t rows) {
  double limit = (double)(rows < members ? rows : members);
  double parts = lambda2 > 0.0 ? ceil(c / lambda2) : limit;
  if (!(parts < limit)) parts = limit;
  return parts >= 1.0 ? (int32_t)parts : 1;
}

/* ---- input -------------------------------------------------------------------------------- */

static sr_status check_share(sr_context *ctx, const char *name, double share) {
  if (share > 0.0 && share <= 1.0) return SR_OK;
  return sr__fail(ctx, SR_ERROR_ARGUMENT, "%s is %g, expected a share above 0 and up to 1", name,
                  share);
}

static sr_status check_options(sr_context *ctx, const sr_plan_input *input,
                               const sr_plan_options *o) {
  sr_status status = SR_OK;
  if (input->rows < 1 || input->rows > INT32_MAX)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "a plan needs 1 to %d rows, not %lld", INT32_MAX,
                    (long long)input->rows));
  if (o->members < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "members is %d, expected 1 or more", o->members));
  if (!(o->block >= 0.0) || !isfinite(o->block))
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "block is %g, expected 1 or more rows (0 = n^(1/3))",
                    o->block));
  if (o->lag < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "lag is %lld, expected 1 or more rows",
                    (long long)o->lag));
  SR_TRY(check_share(ctx, "part_share", o->part_share));
  SR_TRY(check_share(ctx, "row_share", o->row_share));
  if (o->draw_share != 0.0) SR_TRY(check_share(ctx, "draw_share", o->draw_share));
cleanup:
  return status;
}

static sr_status check_needs(sr_context *ctx, const sr__scheme *scheme,
                             const sr_plan_input *input) {
  const char *name = scheme->info.name;
  if ((scheme->needs & SR_PLAN_NEEDS_PARTS) && !input->parts)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "plan %s needs parts; compute or give them", name);
  if ((scheme->needs & SR_PLAN_NEEDS_PARTS) && sr_parts_get(input->parts)->nodes != input->rows)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "the parts cover %lld rows, the data have %lld",
                    (long long)sr_parts_get(input->parts)->nodes, (long long)input->rows);
  if ((scheme->needs & SR_PLAN_NEEDS_TMIX) && !(input->tmix >= 1.0 && isfinite(input->tmix)))
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "plan %s needs a mixing time of 1 row or more, not %g; estimate or give it",
                    name, input->tmix);
  if ((scheme->needs & SR_PLAN_NEEDS_BLOCK) && !(input->block > 0.0 && isfinite(input->block)))
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "plan %s needs an estimated block length above 0, not %g", name, input->block);
  return SR_OK;
}

/* Offsets of `count` classes and, where `item` is given, the rows sorted by class. */
static sr_status sort_by_label(sr_context *ctx, const int32_t *label, int64_t rows, int32_t count,
                               const char *what, int64_t **offset, int32_t **item) {
  sr_status status = SR_OK;
  int64_t *start = NULL;
  int32_t *sorted = NULL;
  SR_NEW_ZERO(ctx, start, (int64_t)count + 1);
  SR_NEW(ctx, sorted, rows);
  for (int64_t i = 0; i < rows; i++) {
    if (label[i] < 0 || label[i] >= count)
      SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "%s of row %lld is %d, expected 0 to %d", what,
                      (long long)i, label[i], count - 1));
    start[label[i] + 1]++;
  }
  for (int32_t c = 0; c < count; c++) start[c + 1] += start[c];
  for (int64_t i = 0; i < rows; i++) sorted[start[label[i]]++] = (int32_t)i;
  for (int32_t c = count; c > 0; c--) start[c] = start[c - 1];
  start[0] = 0;
  *offset = start;
  *item = sorted;
  return SR_OK;
cleanup:
  sr__free(ctx, start);
  sr__free(ctx, sorted);
  return status;
}

static bool is_identity(const int32_t *order, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (order[i] != i) return false;
  }
  return true;
}

static sr_status copy_groups(sr_context *ctx, sr_plan *plan, const sr_plan_input *input) {
  sr_status status = SR_OK;
  if (input->group) {
    plan->groups = input->groups;
    SR_TRY(sort_by_label(ctx, input->group, input->rows, input->groups, "group",
                         &plan->group_offset, &plan->order));
    if (is_identity(plan->order, input->rows)) {
      sr__free(ctx, plan->order);
      plan->order = NULL;
    }
  } else {
    plan->groups = 1;
    SR_NEW_ZERO(ctx, plan->group_offset, 2);
    plan->group_offset[1] = input->rows;
  }
cleanup:
  return status;
}

/* ---- the plan ----------------------------------------------------------------------------- */

sr_status sr_plan_new(sr_context *ctx, const sr_plan_input *input, const sr_plan_options *options,
                      sr_plan **plan) {
  sr_status status = SR_OK;
  sr_plan *made = NULL;
  const sr__scheme *scheme = NULL;
  *plan = NULL;
  SR_TRY(sr__scheme_find(ctx, options->name, &scheme));
  SR_TRY(check_options(ctx, input, options));
  SR_TRY(check_needs(ctx, scheme, input));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->scheme = scheme;
  made->seed = options->seed;
  made->members = options->members;
  made->rows = input->rows;
  made->capacity = input->rows;
  if (scheme->needs & SR_PLAN_KNOWS_GROUPS) SR_TRY(copy_groups(ctx, made, input));
  if (scheme->needs & SR_PLAN_NEEDS_PARTS) {
    const sr_parts_view *parts = sr_parts_get(input->parts);
    made->parts = parts->parts;
    SR_TRY(sort_by_label(ctx, parts->part, parts->nodes, parts->parts, "part", &made->part_offset,
                         &made->part_row));
  }
  SR_TRY(scheme->prepare(ctx, made, input, options));
  *plan = made;
  made = NULL;
cleanup:
  sr_plan_free(&made);
  return status;
}

void sr_plan_free(sr_plan **plan) {
  if (!plan || !*plan) return;
  sr_plan *p = *plan;
  sr_allocator allocator = p->allocator;
  void *blocks[] = {p->group_offset, p->order,   p->part_offset, p->part_row,
                    p->bag_offset,   p->bag_row, p->bag_count,   p};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
  *plan = NULL;
}

sr_plan_info sr_plan_get(const sr_plan *plan) {
  return (sr_plan_info){.name = plan->scheme->info.name,
                        .members = plan->members,
                        .rows = plan->rows,
                        .capacity = plan->capacity,
                        .leaves_parts_out = plan->leaves_parts_out,
                        .parameter_count = plan->parameter_count,
                        .parameters = plan->parameters};
}

/* Positions become rows, increasing again. */
static sr_status rows_of_positions(sr_context *ctx, const sr_plan *plan, sr__bag_buffer *bag) {
  int32_t *dense = sr__alloc_zero(ctx, plan->rows, sizeof *dense);
  if (!dense) return SR_ERROR_MEMORY;
  for (int64_t i = 0; i < bag->length; i++) dense[plan->order[bag->rows[i]]] = bag->counts[i];
  bag->length = 0;
  sr__bag_add_counts(bag, dense, 0, plan->rows, NULL);
  sr__free(ctx, dense);
  return SR_OK;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member,
                          sr__bag_buffer *bag) {
  sr_status status = SR_OK;
  if (member < 0 || member >= plan->members)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "bag %d was asked for; the plan has bags 0 to %d",
                    member, plan->members - 1));
  sr__random random;
  sr__random_init(&random, plan->seed, SR_PURPOSE_BAG, 0, (uint64_t)member);
  SR_TRY(plan->scheme->bag(ctx, plan, member, &random, bag));
  if (plan->order) SR_TRY(rows_of_positions(ctx, plan, bag));
cleanup:
  return status;
}

sr_status sr_plan_bag(sr_context *ctx, const sr_plan *plan, int32_t member, int32_t *rows,
                      int32_t *counts, int64_t *length) {
  sr__bag_buffer bag = {.rows = rows, .counts = counts, .capacity = plan->capacity};
  sr_status status = make_bag(ctx, plan, member, &bag);
  *length = status == SR_OK ? bag.length : 0;
  return status;
}

static sr_status read_pieces(sr_context *ctx, const sr_plan *plan, int32_t member,
                             sr__bag_take take, void *data) {
  int32_t rows[PIECE], counts[PIECE];
  sr__bag_buffer bag = {
      .rows = rows, .counts = counts, .capacity = PIECE, .take = take, .data = data};
  sr_status status = make_bag(ctx, plan, member, &bag);
  return status == SR_OK ? take(data, rows, counts, bag.length) : status;
}

sr_status sr__plan_read_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__bag_take take,
                            void *data) {
  sr_status status = SR_OK;
  sr__bag_buffer bag = {.capacity = plan->capacity};
  if (plan->scheme->in_pieces && !plan->order) return read_pieces(ctx, plan, member, take, data);
  SR_NEW(ctx, bag.rows, plan->capacity);
  SR_NEW(ctx, bag.counts, plan->capacity);
  SR_TRY(make_bag(ctx, plan, member, &bag));
  SR_TRY(take(data, bag.rows, bag.counts, bag.length));
cleanup:
  sr__free(ctx, bag.rows);
  sr__free(ctx, bag.counts);
  return status;
}
