/* What a plan on some rows of a structure may look at. */
#include "core/label_sort.h"
#include "plan.h"

static int64_t row_at(const sr__plan_scope *scope, int64_t i) {
  return scope->subset ? scope->subset[i] : i;
}

/* Labels of the scope's rows, renumbered without gaps in the order of the old numbers. */
static sr_status restrict_labels(sr_context *ctx, const sr__plan_scope *scope, const int32_t *label,
                                 int32_t labels, int32_t *restricted, int32_t *count) {
  sr_status status = SR_OK;
  int32_t *number = NULL, next = 0;
  SR_NEW_ZERO(ctx, number, labels);
  for (int64_t i = 0; i < scope->rows; i++) number[label[row_at(scope, i)]] = 1;
  for (int32_t p = 0; p < labels; p++) number[p] = number[p] ? next++ : -1;
  for (int64_t i = 0; i < scope->rows; i++) restricted[i] = number[label[row_at(scope, i)]];
  *count = next;
cleanup:
  sr__free(ctx, number);
  return status;
}

/* `count` parts of the scope: ranges of a series are cut anew, other cuts keep what is left. */
static sr_status cut_scope(sr_context *ctx, const sr__plan_scope *scope, int32_t *count,
                           int32_t *label) {
  sr_status status = SR_OK;
  int32_t *whole = NULL;
  if (*count > scope->rows) *count = (int32_t)scope->rows;
  if (sr__structure_is_series(scope->structure)) {
    for (int64_t i = 0; i < scope->rows; i++) label[i] = (int32_t)(i * *count / scope->rows);
    return SR_OK;
  }
  SR_NEW(ctx, whole, scope->structure->view.rows);
  SR_TRY(sr_structure_cut(ctx, scope->structure, *count, whole));
  SR_TRY(restrict_labels(ctx, scope, whole, *count, label, count));
cleanup:
  sr__free(ctx, whole);
  return status;
}

sr_status sr__scope_parts(sr_context *ctx, const sr__plan_scope *scope, int32_t count,
                          sr__part_rows *parts) {
  sr_status status = SR_OK;
  int32_t *label = NULL;
  const sr_parts_view *own = sr_parts_get(scope->structure->parts);
  *parts = (sr__part_rows){0};
  SR_NEW(ctx, label, scope->rows);
  if (count > 0)
    SR_TRY(cut_scope(ctx, scope, &count, label));
  else
    SR_TRY(restrict_labels(ctx, scope, own->part, own->parts, label, &count));
  parts->parts = count;
  SR_TRY(sr__sort_by_label(ctx, label, scope->rows, count, &parts->offset, &parts->row));
cleanup:
  sr__free(ctx, label);
  return status;
}

void sr__part_rows_free(const sr_allocator *allocator, sr__part_rows *parts) {
  sr__release(allocator, parts->offset);
  sr__release(allocator, parts->row);
  *parts = (sr__part_rows){0};
}
