#include "labeled_bag.h"

#include <math.h>

static sr_status take(void *data, const int32_t *rows, const int32_t *counts, int64_t length) {
  sr_status status = SR_OK;
  sr__labeled_bag *b = data;
  SR_GROW(b->ctx, b->row, b->row_capacity, b->length + length);
  SR_GROW(b->ctx, b->label, b->label_capacity, b->length + length);
  SR_GROW(b->ctx, b->count, b->count_capacity, b->length + length);
  SR_GROW(b->ctx, b->weight, b->weight_capacity, b->length + length);
  b->given += length;
  for (int64_t i = 0; i < length; i++) {
    int32_t at = rows[i], count = counts ? counts[i] : 1;
    double weight = (b->all_weights ? (double)b->all_weights[at] : 1.0) * count;
    if (b->all_labels[at] < 0 || !(weight > 0.0)) continue;
    b->row[b->length] = at;
    b->label[b->length] = b->all_labels[at];
    b->count[b->length] = count;
    b->weight[b->length++] = weight;
  }
cleanup:
  return status;
}

sr_status sr__fail_empty_bag(sr_context *ctx, int64_t rows) {
  return sr__fail(
      ctx, SR_ERROR_DATA,
      "none of the %lld rows of a bag has a class and a weight above 0; leave such rows "
      "out of the table, or make bags larger",
      (long long)rows);
}

sr_status sr__labeled_bag_read(sr_context *ctx, const sr__bag *bag, const int32_t *label,
                               const float *weight, sr__labeled_bag *labeled) {
  *labeled = (sr__labeled_bag){.all_labels = label, .all_weights = weight, .ctx = ctx};
  sr_status status = sr__bag_read(ctx, bag, take, labeled);
  if (status == SR_OK && labeled->length == 0) status = sr__fail_empty_bag(ctx, labeled->given);
  return status;
}

void sr__labeled_bag_free(sr_context *ctx, sr__labeled_bag *labeled) {
  sr__free(ctx, labeled->row);
  sr__free(ctx, labeled->label);
  sr__free(ctx, labeled->count);
  sr__free(ctx, labeled->weight);
  *labeled = (sr__labeled_bag){0};
}

sr_status sr__copy_labels(sr_context *ctx, const sr_table_view *view, int32_t **label) {
  sr_status status = SR_OK;
  SR_NEW(ctx, *label, view->rows);
  memcpy(*label, view->label, (size_t)view->rows * sizeof **label);
cleanup:
  return status;
}

sr_status sr__copy_weights(sr_context *ctx, const sr_table_view *view, float **weight) {
  sr_status status = SR_OK;
  *weight = NULL;
  for (int64_t i = 0; view->weight && i < view->rows; i++)
    if (!(view->weight[i] >= 0.0f) || !isfinite(view->weight[i]))
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the weight of row %lld is %g, expected 0 or more",
                      (long long)i, (double)view->weight[i]));
  if (view->weight) {
    SR_NEW(ctx, *weight, view->rows);
    memcpy(*weight, view->weight, (size_t)view->rows * sizeof **weight);
  }
cleanup:
  return status;
}
