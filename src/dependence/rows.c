/* Rows in runs that are never joined, two halves, and blocks for the jackknife. */
#include <math.h>
#include <stdlib.h>

#include "core/label_sort.h"
#include "core/sort.h"
#include "dependence.h"

static bool all_finite(const double *values, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

/* The rows of each group in their order, one group after the other: `start` gets groups + 1
 * offsets. */
static sr_status order_by_group(sr_context *ctx, const sr_table_view *table, sr__rows *rows,
                                int64_t **start) {
  sr_status status = SR_OK;
  int32_t *sorted = NULL;
  SR_NEW(ctx, rows->order, rows->n);
  if (table->group) {
    SR_TRY(sr__sort_by_label(ctx, table->group, rows->n, (int32_t)rows->groups, start, &sorted));
  } else {
    SR_NEW_ZERO(ctx, *start, 2);
    (*start)[1] = rows->n;
  }
  for (int64_t p = 0; p < rows->n; p++) rows->order[p] = sorted ? sorted[p] : p;
cleanup:
  sr__free(ctx, sorted);
  return status;
}

/* More than one step in twenty that is over half off the median step. */
static bool steps_irregular(const double *time, const int64_t *order, const int64_t *start,
                            int64_t groups, double *step) {
  int64_t count = 0, off = 0;
  for (int64_t g = 0; g < groups; g++)
    for (int64_t p = start[g] + 1; p < start[g + 1]; p++)
      step[count++] = time[order[p]] - time[order[p - 1]];
  if (count == 0) return false;
  qsort(step, (size_t)count, sizeof *step, sr__compare_doubles);
  double median = step[count / 2];
  for (int64_t i = 0; i < count; i++) off += fabs(step[i] - median) > 0.5 * fabs(median);
  return off * 20 > count;
}

/* Looks at the time; the order of the rows is the table's, because every other room goes by it. */
static sr_status check_time(sr_context *ctx, const double *time, const int64_t *start,
                            sr__rows *rows) {
  sr_status status = SR_OK;
  double *step = NULL;
  SR_NEW(ctx, step, rows->n);
  for (int64_t g = 0; g < rows->groups; g++)
    for (int64_t p = start[g] + 1; p < start[g + 1]; p++)
      if (time[rows->order[p]] < time[rows->order[p - 1]]) rows->time_disordered = true;
  rows->time_irregular =
      !rows->time_disordered && steps_irregular(time, rows->order, start, rows->groups, step);
cleanup:
  sr__free(ctx, step);
  return status;
}

/* The middle, or the border of a group where one lies within a tenth of all rows of it. */
static int64_t choose_cut(const int64_t *start, int64_t groups, int64_t n) {
  int64_t cut = n / 2, nearest = n / 10 + 1;
  for (int64_t g = 1; g < groups; g++) {
    int64_t distance = llabs(start[g] - n / 2);
    if (distance < nearest) {
      nearest = distance;
      cut = start[g];
    }
  }
  return cut;
}

static int64_t block_start(const sr__rows *rows, int32_t block) {
  int64_t each = rows->blocks / 2;
  int64_t from = block < each ? 0 : rows->cut, to = block < each ? rows->cut : rows->n;
  int64_t index = block < each ? block : block - each;
  return from + (to - from) * index / each;
}

/* Walks runs and blocks side by side. */
static sr_status cut_pieces(sr_context *ctx, const int64_t *start, sr__rows *rows) {
  sr_status status = SR_OK;
  SR_NEW(ctx, rows->piece, rows->groups + rows->blocks + 1);
  int32_t block = 0;
  for (int64_t g = 0; g < rows->groups; g++) {
    int64_t position = start[g];
    while (position < start[g + 1]) {
      while (block + 1 < rows->blocks && block_start(rows, block + 1) <= position) block++;
      int64_t block_end = block + 1 < rows->blocks ? block_start(rows, block + 1) : rows->n;
      int64_t run_end = start[g + 1];
      if (position < rows->cut && run_end > rows->cut) run_end = rows->cut;
      int64_t end = block_end < run_end ? block_end : run_end;
      rows->piece[rows->piece_count++] = (sr__piece){position, end, run_end, block};
      if (run_end - position > rows->longest_run) rows->longest_run = run_end - position;
      position = end;
    }
  }
cleanup:
  return status;
}

sr_status sr__rows_gather(sr_context *ctx, const sr_table_view *table, sr__rows *rows) {
  sr_status status = SR_OK;
  int64_t *start = NULL;
  *rows = (sr__rows){.n = table->rows};
  rows->groups = table->group && table->groups.count > 0 ? table->groups.count : 1;
  SR_TRY(order_by_group(ctx, table, rows, &rows->group_start));
  start = rows->group_start;
  if (table->time) {
    rows->time_missing = !all_finite(table->time, rows->n);
    if (!rows->time_missing) SR_TRY(check_time(ctx, table->time, start, rows));
  }
  rows->cut = choose_cut(start, rows->groups, rows->n);
  int64_t blocks = rows->n / 20 * 2;
  rows->blocks = (int32_t)(blocks < 4 ? 4 : blocks > SR__MAX_BLOCKS ? SR__MAX_BLOCKS : blocks);
  SR_TRY(cut_pieces(ctx, start, rows));
cleanup:
  return status;
}

void sr__rows_free(sr_context *ctx, sr__rows *rows) {
  sr__free(ctx, rows->group_start);
  sr__free(ctx, rows->order);
  sr__free(ctx, rows->piece);
  *rows = (sr__rows){0};
}
