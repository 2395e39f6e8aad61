#include "label_sort.h"

sr_status sr__sort_by_label(sr_context *ctx, const int32_t *label, int64_t items, int32_t count,
                            int64_t **offset, int32_t **item) {
  sr_status status = SR_OK;
  int64_t *start = NULL;
  int32_t *sorted = NULL;
  SR_NEW_ZERO(ctx, start, (int64_t)count + 1);
  SR_NEW(ctx, sorted, items);
  for (int64_t i = 0; i < items; i++)
    if (label[i] >= 0) start[label[i] + 1]++;
  for (int32_t c = 0; c < count; c++) start[c + 1] += start[c];
  for (int64_t i = 0; i < items; i++)
    if (label[i] >= 0) sorted[start[label[i]]++] = (int32_t)i;
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
