/* Plans over all rows of a table or a subset of them. */
#include <math.h>

#include "ensemble.h"

/* What a plan over a subset looks at. */
typedef struct subset_input {
  sr_plan_input input;
  int32_t *group, *label;
  sr_parts *parts;
} subset_input;

static int64_t row_at(const int32_t *subset, int64_t i) { return subset ? subset[i] : i; }

/* Labels of the subset, renumbered without gaps in the order of the old numbers. */
static sr_status restrict_labels(sr_context *ctx, const int32_t *label, int32_t labels,
                                 const int32_t *subset, int64_t count, int32_t *restricted) {
  sr_status status = SR_OK;
  int32_t *number = NULL, next = 0;
  SR_NEW_ZERO(ctx, number, labels);
  for (int64_t i = 0; i < count; i++) number[label[row_at(subset, i)]] = 1;
  for (int32_t p = 0; p < labels; p++) number[p] = number[p] ? next++ : -1;
  for (int64_t i = 0; i < count; i++) restricted[i] = number[label[row_at(subset, i)]];
cleanup:
  sr__free(ctx, number);
  return status;
}

/* `parts` parts of a subset: ranges of a series are cut anew, other cuts keep what is left. */
static sr_status cut_subset(sr_context *ctx, const sr_structure *s, int32_t parts,
                            const int32_t *subset, int64_t count, int32_t *label) {
  sr_status status = SR_OK;
  int32_t *whole = NULL;
  if (parts > count) parts = (int32_t)count;
  if (sr__is_plain_series(s)) {
    for (int64_t i = 0; i < count; i++) label[i] = (int32_t)(i * parts / count);
    return SR_OK;
  }
  SR_NEW(ctx, whole, sr_table_get(s->table)->rows);
  SR_TRY(sr__structure_labels(ctx, s, parts, whole));
  SR_TRY(restrict_labels(ctx, whole, parts, subset, count, label));
cleanup:
  sr__free(ctx, whole);
  return status;
}

static sr_status add_parts(sr_context *ctx, const sr_structure *s, int32_t parts,
                           const int32_t *subset, subset_input *in) {
  sr_status status = SR_OK;
  int64_t count = in->input.rows;
  const sr_parts_view *own = sr_parts_get(s->parts);
  SR_NEW(ctx, in->label, count);
  if (parts)
    SR_TRY(cut_subset(ctx, s, parts, subset, count, in->label));
  else
    SR_TRY(restrict_labels(ctx, own->part, own->parts, subset, count, in->label));
  SR_TRY(sr_parts_new(ctx, count, in->label, NULL, &in->parts));
  in->input.parts = in->parts;
cleanup:
  return status;
}

static sr_status add_groups(sr_context *ctx, const sr_table_view *view, const int32_t *subset,
                            subset_input *in) {
  sr_status status = SR_OK;
  if (!view->group) return SR_OK;
  SR_NEW(ctx, in->group, in->input.rows);
  for (int64_t i = 0; i < in->input.rows; i++) in->group[i] = view->group[row_at(subset, i)];
  in->input.group = in->group;
  in->input.groups = view->groups.count;
cleanup:
  return status;
}

sr_status sr__subset_plan(sr_context *ctx, const sr_structure *structure,
                          const sr_plan_options *options, int32_t parts, const int32_t *subset,
                          int64_t count, sr_plan **plan) {
  sr_status status = SR_OK;
  const sr__scheme *scheme = NULL;
  const sr_structure_view *view = &structure->view;
  subset_input in = {.input = {.rows = count, .tmix = view->tmix, .block = view->block}};
  *plan = NULL;
  SR_TRY(sr__scheme_find(ctx, options->name, &scheme));
  /* Where Politis and White have no answer, rows count as independent. */
  if (!(in.input.block > 0.0 && isfinite(in.input.block))) in.input.block = 1.0;
  if (parts == 0 && scheme == &sr__scheme_spectral)
    parts = sr_plan_spectral_parts(1.0, view->lambda2, options->members, count);
  if (scheme->needs & SR_PLAN_NEEDS_PARTS) SR_TRY(add_parts(ctx, structure, parts, subset, &in));
  if (scheme->needs & SR_PLAN_KNOWS_GROUPS)
    SR_TRY(add_groups(ctx, sr_table_get(structure->table), subset, &in));
  SR_TRY(sr_plan_new(ctx, &in.input, options, plan));
cleanup:
  sr__free(ctx, in.group);
  sr__free(ctx, in.label);
  sr_parts_free(&in.parts);
  return status;
}

sr_status sr_structure_plan_parts(sr_context *ctx, const sr_structure *structure,
                                  const sr_plan_options *options, int32_t parts, sr_plan **plan) {
  return sr__subset_plan(ctx, structure, options, parts, NULL, sr_table_get(structure->table)->rows,
                         plan);
}

sr_status sr_structure_plan(sr_context *ctx, const sr_structure *structure,
                            const sr_plan_options *options, sr_plan **plan) {
  return sr_structure_plan_parts(ctx, structure, options, 0, plan);
}
