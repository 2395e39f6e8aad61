#include "plan.h"

#include <math.h>

#include "core/label_sort.h"

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

/* ---- making a plan ------------------------------------------------------------------------ */

static bool is_identity(const int32_t *order, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (order[i] != i) return false;
  }
  return true;
}

static sr_status copy_groups(sr_context *ctx, const sr__plan_scope *scope, sr_plan *plan) {
  sr_status status = SR_OK;
  int32_t *group = NULL;
  const sr_structure *s = scope->structure;
  plan->groups = s->group ? s->groups : 1;
  if (s->group) {
    SR_NEW(ctx, group, scope->rows);
    for (int64_t i = 0; i < scope->rows; i++)
      group[i] = s->group[scope->subset ? scope->subset[i] : i];
    SR_TRY(
        sr__sort_by_label(ctx, group, scope->rows, s->groups, &plan->group_offset, &plan->order));
    if (is_identity(plan->order, scope->rows)) {
      sr__free(ctx, plan->order);
      plan->order = NULL;
    }
  } else {
    SR_NEW_ZERO(ctx, plan->group_offset, 2);
    plan->group_offset[1] = scope->rows;
  }
cleanup:
  sr__free(ctx, group);
  return status;
}

static sr_status copy_source_rows(sr_context *ctx, const sr__plan_scope *scope, sr_plan *plan) {
  sr_status status = SR_OK;
  const sr_structure *s = scope->structure;
  plan->source_rows = scope->rows;
  if (!s->source_row) return SR_OK;
  plan->source_rows = s->source_rows;
  SR_NEW(ctx, plan->source_row, scope->rows);
  for (int64_t i = 0; i < scope->rows; i++)
    plan->source_row[i] = s->source_row[scope->subset ? scope->subset[i] : i];
cleanup:
  return status;
}

sr_status sr__plan_new(sr_context *ctx, const sr__plan_scope *scope,
                       const sr__configuration *configuration, int32_t members, uint64_t seed,
                       sr_plan **plan) {
  sr_status status = SR_OK;
  sr_plan *made = NULL;
  const sr__scheme *scheme = (const sr__scheme *)configuration->method;
  *plan = NULL;
  if (scope->rows < 1 || scope->rows > INT32_MAX)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "a plan needs 1 to %d rows, not %lld", INT32_MAX,
                    (long long)scope->rows));
  if (members < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "members is %d, expected 1 or more", members));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->scheme = scheme;
  made->seed = seed;
  made->members = members;
  made->rows = scope->rows;
  made->capacity = scope->rows;
  made->text = sr__configuration_text(ctx, configuration->method, configuration->options);
  if (!made->text) SR_TRY(SR_ERROR_MEMORY);
  if (scheme->flags & SR_PLAN_KNOWS_GROUPS) SR_TRY(copy_groups(ctx, scope, made));
  SR_TRY(copy_source_rows(ctx, scope, made));
  if (scheme->prepare)
    SR_TRY(scheme->prepare(ctx, scope, configuration->options, made, &made->state));
  *plan = made;
  made = NULL;
cleanup:
  sr_plan_free(&made);
  return status;
}

sr_status sr_plan_new(sr_context *ctx, const sr_structure *structure, const char *text,
                      int32_t members, uint64_t seed, sr_plan **plan) {
  sr_status status = SR_OK;
  sr_allocator allocator = sr__allocator(ctx);
  sr__configuration scheme = {0};
  sr__plan_scope scope = {.structure = structure, .rows = structure->view.rows};
  *plan = NULL;
  SR_TRY(sr__configure(ctx, "plan", sr_plan_method, text, &scheme));
  SR_TRY(sr__plan_new(ctx, &scope, &scheme, members, seed, plan));
cleanup:
  sr__configuration_free(&allocator, &scheme);
  return status;
}

void sr_plan_free(sr_plan **plan) {
  if (!plan || !*plan) return;
  sr_plan *p = *plan;
  sr_allocator allocator = p->allocator;
  if (p->state && p->scheme->free_state)
    p->scheme->free_state(&allocator, p->state);
  else
    sr__release(&allocator, p->state);
  void *blocks[] = {p->text, p->group_offset, p->order, p->source_row, p};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
  *plan = NULL;
}

sr_plan_view sr_plan_get(const sr_plan *plan) {
  return (sr_plan_view){.name = plan->scheme->about.name,
                        .text = plan->text,
                        .members = plan->members,
                        .rows = plan->rows,
                        .capacity = plan->capacity,
                        .parameter_count = plan->parameter_count,
                        .parameters = plan->parameters};
}
