/* Rows in the order of time. */
#include <math.h>

#include "core/sort.h"
#include "settle.h"

typedef struct timed_row {
  double time;
  int32_t group, row;
} timed_row;

static int by_group_and_time(const void *left, const void *right) {
  const timed_row *a = left, *b = right;
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  if (a->time != b->time) return a->time < b->time ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

/* Whether time never falls inside a group, in the order of the file. */
static sr_status is_in_order(sr_context *ctx, const sr_table_view *view, bool *in_order) {
  sr_status status = SR_OK;
  double *last = NULL;
  int32_t groups = view->group ? view->groups.count : 1;
  SR_NEW(ctx, last, groups);
  for (int32_t g = 0; g < groups; g++) last[g] = -INFINITY;
  *in_order = true;
  for (int64_t i = 0; i < view->rows && *in_order; i++) {
    int32_t g = view->group ? view->group[i] : 0;
    *in_order = view->time[i] >= last[g];
    last[g] = view->time[i];
  }
cleanup:
  sr__free(ctx, last);
  return status;
}

/* Rows of one group and one time have no order that could be restored. */
static sr_status check_ties(sr_context *ctx, const char *file, const sr_table_view *view,
                            const timed_row *order) {
  for (int64_t i = 1; i < view->rows; i++) {
    const timed_row *a = &order[i - 1], *b = &order[i];
    if (a->group != b->group || a->time != b->time) continue;
    return sr__fail_at(ctx, SR_ERROR_DATA, file, 0, 0,
                       "the rows are not in the order of time, and rows %d and %d have the same "
                       "time (%.17g)%s, so their order cannot be told; name the column that tells "
                       "the series apart as group, or a finer time",
                       a->row + 1, b->row + 1, a->time, view->group ? " in the same group" : "");
  }
  return SR_OK;
}

sr_status sr__find_order(sr_context *ctx, const char *file, const sr_table_view *view,
                         int32_t **rows) {
  sr_status status = SR_OK;
  timed_row *order = NULL;
  bool in_order = false;
  *rows = NULL;
  if (!view->time || view->cell) return SR_OK;
  SR_TRY(is_in_order(ctx, view, &in_order));
  if (in_order) return SR_OK;
  SR_NEW(ctx, order, view->rows);
  for (int64_t i = 0; i < view->rows; i++)
    order[i] = (timed_row){view->time[i], view->group ? view->group[i] : 0, (int32_t)i};
  SR_TRY(sr__sort(ctx, order, view->rows, sizeof *order, by_group_and_time));
  SR_TRY(check_ties(ctx, file, view, order));
  SR_NEW(ctx, *rows, view->rows);
  for (int64_t i = 0; i < view->rows; i++) (*rows)[i] = order[i].row;
cleanup:
  sr__free(ctx, order);
  return status;
}

sr_status sr__order_by_time(sr_context *ctx, const char *file, sr_table **table, bool *moved) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(*table);
  int32_t *rows = NULL;
  sr_table *sorted = NULL;
  *moved = false;
  SR_TRY(sr__find_order(ctx, file, view, &rows));
  if (!rows) return SR_OK;
  SR_TRY(sr__table_select(ctx, *table, rows, view->rows, &sorted));
  SR_TRY(sr__table_name_rows(ctx, sorted, rows, view->rows));
  sr_table_free(table);
  *table = sorted;
  sorted = NULL;
  *moved = true;
cleanup:
  sr_table_free(&sorted);
  sr__free(ctx, rows);
  return status;
}
