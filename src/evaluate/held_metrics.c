/* How good the votes on held-out rows are, and these votes row by row. */
#include <stdlib.h>

#include "evaluate.h"

/* Votes and shares one behind the other, as sr_metrics_compute takes them. */
static sr_status measure(sr_context *ctx, const sr_table_view *view, const sr__judged *judged,
                         sr_evaluation *to) {
  sr_status status = SR_OK;
  int64_t *confusion = NULL;
  int32_t *truth = NULL, classes = view->classes.count;
  SR_NEW(ctx, confusion, (int64_t)classes * classes);
  to->confusion = confusion;
  SR_NEW(ctx, truth, judged->count);
  for (int64_t k = 0; k < judged->count; k++) truth[k] = view->label[judged->row[k]];
  sr_metrics_input input = {judged->count, classes, truth, judged->vote, judged->share};
  SR_TRY(sr_metrics_compute(ctx, &input, &to->metrics, confusion));
cleanup:
  sr__free(ctx, truth);
  return status;
}

typedef struct placed {
  int64_t row, at;
} placed;

static int by_row(const void *a, const void *b) {
  int64_t x = ((const placed *)a)->row, y = ((const placed *)b)->row;
  return (x > y) - (x < y);
}

static sr_status keep_rows(sr_context *ctx, const sr_table_view *view, const sr_folds_view *folds,
                           const sr__judged *judged, sr_held_rows *to) {
  sr_status status = SR_OK;
  int64_t count = judged->count, *row = NULL;
  int32_t *label = NULL, *vote = NULL, *unit = NULL, *fold = NULL, classes = view->classes.count;
  float *share = NULL;
  placed *order = NULL;
  SR_NEW(ctx, order, count);
  SR_NEW(ctx, row, count);
  to->row = row;
  SR_NEW(ctx, label, count);
  to->label = label;
  SR_NEW(ctx, vote, count);
  to->vote = vote;
  SR_NEW(ctx, unit, count);
  to->unit = unit;
  SR_NEW(ctx, fold, count);
  to->fold = fold;
  if (judged->share) SR_NEW(ctx, share, count * classes);
  to->share = share;
  for (int64_t k = 0; k < count; k++) {
    int64_t i = judged->row[k];
    order[k] = (placed){view->source_row ? view->source_row[i] : i, k};
  }
  qsort(order, (size_t)count, sizeof *order, by_row);
  for (int64_t k = 0; k < count; k++) {
    int64_t at = order[k].at, i = judged->row[at];
    row[k] = order[k].row;
    label[k] = view->label[i];
    vote[k] = judged->vote[at];
    unit[k] = folds->unit_of_row[i];
    fold[k] = folds->fold_of_unit[unit[k]];
    for (int32_t c = 0; share && c < classes; c++)
      share[k * classes + c] = judged->share[at * classes + c];
  }
  to->count = count;
cleanup:
  sr__free(ctx, order);
  return status;
}

sr_status sr__measure_held(sr_context *ctx, const sr_table_view *view, const sr_folds_view *folds,
                           const sr__judged *judged, bool keep, sr_evaluation *to) {
  sr_status status = measure(ctx, view, judged, to);
  if (status == SR_OK && keep) status = keep_rows(ctx, view, folds, judged, &to->held_rows);
  return status;
}
