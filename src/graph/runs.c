/* Rows by group: runs where groups stand together in the file, an order where they do not. */
#include "core/label_sort.h"
#include "graph.h"

/* Number of stretches of equal groups, or -1 where a group comes back after another one. */
static int64_t count_runs(const int32_t *group, int64_t rows, uint8_t *seen) {
  int64_t runs = 0;
  for (int64_t i = 0; i < rows; i++) {
    if (i > 0 && group[i] == group[i - 1]) continue;
    if (seen[group[i]]) return -1;
    seen[group[i]] = 1;
    runs++;
  }
  return runs;
}

static void mark_runs(const int32_t *group, int64_t rows, int64_t runs, int64_t *run) {
  int64_t next = 0;
  for (int64_t i = 0; i < rows; i++) {
    if (i == 0 || group[i] != group[i - 1]) run[next++] = i;
  }
  run[runs] = rows;
}

sr_status sr__group_runs(sr_context *ctx, const int32_t *group, int64_t rows, int64_t **run,
                         int64_t *runs, int32_t **order) {
  sr_status status = SR_OK;
  uint8_t *seen = NULL;
  int64_t groups = 0;
  *run = NULL;
  *order = NULL;
  for (int64_t i = 0; i < rows && group; i++) groups = group[i] >= groups ? group[i] + 1 : groups;
  SR_NEW_ZERO(ctx, seen, groups);
  *runs = group ? count_runs(group, rows, seen) : 1;
  bool together = *runs >= 0;
  if (!together) *runs = groups;
  if (!together) {
    SR_TRY(sr__sort_by_label(ctx, group, rows, (int32_t)groups, run, order));
    goto cleanup;
  }
  SR_NEW_ZERO(ctx, *run, *runs + 1);
  if (group)
    mark_runs(group, rows, *runs, *run);
  else
    (*run)[1] = rows;
cleanup:
  sr__free(ctx, seen);
  if (status != SR_OK) {
    sr__free(ctx, *run);
    sr__free(ctx, *order);
    *run = NULL;
    *order = NULL;
  }
  return status;
}
