/* A long recording as windows: rows that each hold a stretch of it. */
#include "windows.h"

#include <math.h>

typedef struct window_cut {
  const sr_table_view *from;
  int64_t length, stride;
  int32_t channels;
  const int64_t *column; /* feature of each channel */
  const int64_t *row;    /* rows of the table, group after group, in their order */
  const int64_t *begin;  /* of each group among them */
  int64_t groups;
} window_cut;

static int64_t windows_of(const window_cut *cut, int64_t group) {
  int64_t rows = cut->begin[group + 1] - cut->begin[group];
  return rows < cut->length ? 0 : (rows - cut->length) / cut->stride + 1;
}

/* ---- what there is to cut ------------------------------------------------------------------- */

static sr_status list_rows(sr_context *ctx, const sr_table_view *from, int64_t groups, int64_t *row,
                           int64_t *begin) {
  sr_status status = SR_OK;
  int64_t *next = NULL;
  SR_NEW_ZERO(ctx, next, groups);
  memset(begin, 0, (size_t)(groups + 1) * sizeof *begin);
  for (int64_t i = 0; i < from->rows; i++) begin[(from->group ? from->group[i] : 0) + 1]++;
  for (int64_t g = 0; g < groups; g++) begin[g + 1] += begin[g];
  for (int64_t i = 0; i < from->rows; i++) {
    int64_t g = from->group ? from->group[i] : 0;
    row[begin[g] + next[g]++] = i;
  }
cleanup:
  sr__free(ctx, next);
  return status;
}

static int64_t find_feature(const sr_table_view *from, const char *name) {
  for (int64_t j = 0; from->feature_names && j < from->features; j++)
    if (strcmp(from->feature_names[j], name) == 0) return j;
  return -1;
}

/* All features, or those that a model knows as channels. */
static sr_status choose_columns(sr_context *ctx, const sr_table_view *from,
                                const sr_table_view *schema, int32_t channels, int64_t *column) {
  for (int32_t c = 0; c < channels; c++) {
    column[c] = c;
    if (schema && schema->channel_names) {
      column[c] = find_feature(from, schema->channel_names[c]);
      if (column[c] < 0)
        return sr__fail(ctx, SR_ERROR_DATA,
                        "column '%s', on which the model was trained, is not in the data",
                        schema->channel_names[c]);
    }
    sr_dictionary texts = sr__categories_of(from, column[c]);
    if (texts.count)
      return sr__fail(ctx, SR_ERROR_DATA,
                      "column '%s' holds text such as '%s', and windows are made of numbers; drop "
                      "it or name it as group",
                      from->feature_names ? from->feature_names[column[c]] : "unnamed",
                      texts.names[0]);
  }
  return SR_OK;
}

static sr_status check(sr_context *ctx, const sr_table_view *from, int64_t length, int64_t stride) {
  if (length < 1 || stride < 1)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "windows of %lld rows every %lld rows were asked for; both are at least 1",
                    (long long)length, (long long)stride);
  if (from->channels || from->cell)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "windows are cut from rows in the order of time; these rows %s",
                    from->channels ? "hold series already" : "are cells of a lattice");
  if (from->features < 1 || from->features > INT32_MAX)
    return sr__fail(ctx, SR_ERROR_DATA, "the table has no features to cut windows from");
  return SR_OK;
}

/* ---- the windows ---------------------------------------------------------------------------- */

/* Arrays of the windows; the view shows them. */
typedef struct window_arrays {
  int64_t *offset, *last; /* last: row of the table at the end of each window */
  float *series, *weight;
  int32_t *label, *group;
  double *value, *time;
  const char **name;
} window_arrays;

static void fill(const window_cut *cut, window_arrays *to) {
  int64_t window = 0, at = 0;
  to->offset[0] = 0;
  for (int64_t g = 0; g < cut->groups; g++) {
    for (int64_t w = 0; w < windows_of(cut, g); w++, window++) {
      const int64_t *row = cut->row + cut->begin[g] + w * cut->stride;
      to->last[window] = row[cut->length - 1];
      for (int32_t c = 0; c < cut->channels; c++) {
        const float *x = cut->from->x + cut->column[c] * cut->from->rows;
        for (int64_t t = 0; t < cut->length; t++) to->series[at++] = x[row[t]];
        to->offset[window * cut->channels + c + 1] = at;
      }
    }
  }
}

/* Class, number, time, group and weight of a window are those of its last row; without a time it is
 * the number of that row. */
static sr_status fill_roles(sr_context *ctx, const sr_table_view *from, int64_t windows,
                            window_arrays *to) {
  sr_status status = SR_OK;
  SR_NEW(ctx, to->time, windows);
  if (from->label) SR_NEW(ctx, to->label, windows);
  if (from->value) SR_NEW(ctx, to->value, windows);
  if (from->group) SR_NEW(ctx, to->group, windows);
  if (from->weight) SR_NEW(ctx, to->weight, windows);
  for (int64_t w = 0; w < windows; w++) {
    int64_t last = to->last[w];
    to->time[w] = from->time ? from->time[last] : (double)last;
    if (from->label) to->label[w] = from->label[last];
    if (from->value) to->value[w] = from->value[last];
    if (from->group) to->group[w] = from->group[last];
    if (from->weight) to->weight[w] = from->weight[last];
  }
cleanup:
  return status;
}

static sr_status make_table(sr_context *ctx, const window_cut *cut, int64_t windows,
                            const window_arrays *a, sr_table **made) {
  sr_table_view view = {.rows = windows,
                        .channels = cut->channels,
                        .series_offset = a->offset,
                        .series = a->series,
                        .channel_names = cut->from->feature_names ? a->name : NULL,
                        .overlap = (cut->length - 1) / cut->stride,
                        .label = a->label,
                        .classes = cut->from->classes,
                        .value = a->value,
                        .target_name = cut->from->target_name,
                        .time = a->time,
                        .group = a->group,
                        .groups = cut->from->groups,
                        .weight = a->weight};
  return sr_table_new(ctx, &view, made);
}

sr_status sr__table_windows(sr_context *ctx, const sr_table *table, const sr_table_view *schema,
                            int64_t length, int64_t stride, sr_table **windows) {
  sr_status status = SR_OK;
  const sr_table_view *from = sr_table_get(table);
  int64_t *row = NULL, *begin = NULL, *column = NULL, count = 0;
  window_arrays a = {0};
  *windows = NULL;
  SR_TRY(check(ctx, from, length, stride));
  window_cut cut = {.from = from, .length = length, .stride = stride};
  cut.groups = from->group ? from->groups.count : 1;
  cut.channels = schema && schema->channel_names ? schema->channels : (int32_t)from->features;
  SR_NEW(ctx, row, from->rows);
  SR_NEW(ctx, begin, cut.groups + 1);
  SR_NEW(ctx, column, cut.channels);
  cut.row = row;
  cut.begin = begin;
  cut.column = column;
  SR_TRY(choose_columns(ctx, from, schema, cut.channels, column));
  SR_TRY(list_rows(ctx, from, cut.groups, row, begin));
  for (int64_t g = 0; g < cut.groups; g++) count += windows_of(&cut, g);
  if (count == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "no window of %lld rows fits into %s of %lld rows; give a shorter one",
                    (long long)length, from->group ? "a group of the table" : "the table",
                    (long long)from->rows));
  SR_NEW(ctx, a.offset, count * cut.channels + 1);
  SR_NEW(ctx, a.last, count);
  SR_NEW(ctx, a.series, count * cut.channels * length);
  SR_NEW(ctx, a.name, cut.channels);
  for (int32_t c = 0; from->feature_names && c < cut.channels; c++)
    a.name[c] = from->feature_names[column[c]];
  fill(&cut, &a);
  SR_TRY(fill_roles(ctx, from, count, &a));
  SR_TRY(make_table(ctx, &cut, count, &a, windows));
cleanup:;
  void *blocks[] = {row,      begin,   column,  a.offset, a.last, a.series,
                    a.weight, a.label, a.group, a.value,  a.time, (void *)(uintptr_t)a.name};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__free(ctx, blocks[i]);
  return status;
}

sr_status sr_table_windows(sr_context *ctx, const sr_table *table, int64_t length, int64_t stride,
                           sr_table **windows) {
  return sr__table_windows(ctx, table, NULL, length, stride, windows);
}
