#include "table_series.h"

#include <math.h>

sr_status sr__table_series(sr_context *ctx, const sr_table *table, int32_t channels,
                           sr__series_view *series) {
  const sr_table_view *view = sr_table_get(table);
  if (view->channels != channels)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the model was trained on series of %d channels, the data have %d", channels,
                    view->channels);
  *series = (sr__series_view){.values = view->series,
                              .offset = view->series_offset,
                              .rows = view->rows,
                              .channels = view->channels};
  return SR_OK;
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
                      (long long)i + 1, (double)view->weight[i]));
  if (view->weight) {
    SR_NEW(ctx, *weight, view->rows);
    memcpy(*weight, view->weight, (size_t)view->rows * sizeof **weight);
  }
cleanup:
  return status;
}

sr_status sr__refuse_weights(sr_context *ctx, const sr_table_view *view, const char *learner) {
  if (!view->weight) return SR_OK;
  return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                  "learner %s counts rows and takes no weights; leave the weight column out",
                  learner);
}
