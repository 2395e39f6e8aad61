#include "table_series.h"

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

int64_t sr__longest_series(const sr_table_view *view, int32_t channel) {
  int64_t longest = 0;
  for (int64_t r = 0; r < view->rows; r++) {
    const int64_t *offset = view->series_offset + r * view->channels + channel;
    if (offset[1] - offset[0] > longest) longest = offset[1] - offset[0];
  }
  return longest;
}

sr_status sr__refuse_weights(sr_context *ctx, const sr_table_view *view, const char *learner) {
  if (!view->weight) return SR_OK;
  return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                  "learner %s counts rows and takes no weights; leave the weight column out",
                  learner);
}
