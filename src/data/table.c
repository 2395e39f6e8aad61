#include "table.h"

sr_status sr__copy_array(sr_context *ctx, const void *from, int64_t count, size_t size,
                         const void **to) {
  *to = NULL;
  if (!from) return SR_OK;
  enum { AT_ONCE = 1 << 25 }; /* bytes, between two looks for an interrupt */
  sr_status status = SR_OK;
  char *copy = sr__alloc(ctx, count, size);
  if (!copy) return sr_context_error(ctx).status;
  size_t bytes = (size_t)count * size;
  for (size_t done = 0; done < bytes && status == SR_OK; done += AT_ONCE) {
    memcpy(copy + done, (const char *)from + done, bytes - done < AT_ONCE ? bytes - done : AT_ONCE);
    status = sr__check_interrupt(ctx);
  }
  if (status == SR_OK)
    *to = copy;
  else
    sr__free(ctx, copy);
  return status;
}

static sr_status check_codes(sr_context *ctx, const char *what, const int32_t *code, int64_t rows,
                             int32_t lowest, int32_t count) {
  if (!code) return SR_OK;
  for (int64_t i = 0; i < rows; i++) {
    if (code[i] < lowest || code[i] >= count)
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "%s of row %lld is %d, expected %d to %d", what,
                      (long long)i, code[i], lowest, count - 1);
  }
  return SR_OK;
}

static sr_status check_series(sr_context *ctx, const sr_table_view *view) {
  if (view->channels == 0) return SR_OK;
  if (view->channels < 0)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "series of %d channels were asked for", view->channels);
  int64_t pieces = view->rows * view->channels;
  if (!view->series_offset || view->series_offset[0] != 0)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "series need offsets that start at 0");
  for (int64_t i = 0; i < pieces; i++) {
    if (view->series_offset[i + 1] < view->series_offset[i])
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "offset %lld of the series is below the one before",
                      (long long)(i + 1));
  }
  if (!view->series && view->series_offset[pieces] > 0)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "series need their values");
  return SR_OK;
}

static sr_status check_cells(sr_context *ctx, const sr_table_view *view) {
  int64_t cells = view->grid_rows * view->grid_columns;
  for (int64_t i = 0; view->cell && i < view->rows; i++) {
    if (view->cell[i] < (i ? view->cell[i - 1] + 1 : 0) || view->cell[i] >= cells)
      return sr__fail(ctx, SR_ERROR_ARGUMENT,
                      "cell of row %lld is %lld; cells must increase and stay below %lld",
                      (long long)i, (long long)view->cell[i], (long long)cells);
  }
  return SR_OK;
}

/* What sr_table_new asks of a view. */
static sr_status table_check_view(sr_context *ctx, const sr_table_view *view) {
  sr_status status = SR_OK;
  if (view->rows < 0 || view->features < 0 || view->rows > INT32_MAX)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "a table of %lld rows and %lld features was asked for; rows go to %d",
                    (long long)view->rows, (long long)view->features, INT32_MAX));
  if (!view->x && view->features > 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "a table with features needs their values"));
  if (view->overlap < 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "an overlap of %lld rows was asked for",
                    (long long)view->overlap));
  if (view->label && view->value)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "a target is a class or a number: give label or value, not both"));
  SR_TRY(check_series(ctx, view));
  SR_TRY(check_codes(ctx, "label", view->label, view->rows, -1, view->classes.count));
  SR_TRY(check_codes(ctx, "group", view->group, view->rows, 0, view->groups.count));
  SR_TRY(check_codes(ctx, "region", view->region, view->rows, 0, view->regions.count));
  SR_TRY(check_cells(ctx, view));
cleanup:
  return status;
}

static sr_status copy_text(sr_context *ctx, const char *from, const char **to) {
  if (!from) return SR_OK;
  *to = sr__strdup(ctx, from);
  return *to ? SR_OK : SR_ERROR_MEMORY;
}

/* All that does not depend on the rows. */
static sr_status copy_names_of(sr_context *ctx, const sr_table_view *from, sr_table_view *to) {
  sr_status status = SR_OK;
  to->features = from->features;
  to->channels = from->channels;
  to->predicted = from->predicted;
  to->source_rows = from->source_rows;
  to->overlap = from->overlap;
  to->coordinate_count = from->coordinates ? from->coordinate_count : 0;
  if (from->feature_names)
    SR_TRY(sr__copy_names(ctx, from->feature_names, from->features, &to->feature_names));
  if (from->channel_names)
    SR_TRY(sr__copy_names(ctx, from->channel_names, from->channels, &to->channel_names));
  if (from->categories) {
    sr_dictionary *categories = sr__alloc_zero(ctx, from->features, sizeof *categories);
    if (!categories) SR_TRY(sr_context_error(ctx).status);
    to->categories = categories;
    for (int64_t j = 0; j < from->features; j++)
      SR_TRY(sr__dictionary_copy(ctx, from->categories[j], &categories[j]));
  }
  SR_TRY(sr__dictionary_copy(ctx, from->classes, &to->classes));
  SR_TRY(sr__dictionary_copy(ctx, from->groups, &to->groups));
  SR_TRY(sr__dictionary_copy(ctx, from->regions, &to->regions));
  SR_TRY(copy_text(ctx, from->target_name, &to->target_name));
  SR_TRY(copy_text(ctx, from->projection, &to->projection));
cleanup:
  return status;
}

static sr_status copy_lattice(sr_context *ctx, const sr_table_view *from, sr_table_view *to) {
  sr_status status = SR_OK;
  to->grid_rows = from->grid_rows;
  to->grid_columns = from->grid_columns;
  SR_COPY_ARRAY(ctx, to->grid_axes, from->grid_axes, from->grid_rows + from->grid_columns);
cleanup:
  return status;
}

static sr_status copy_view(sr_context *ctx, const sr_table_view *from, sr_table_view *to) {
  sr_status status = SR_OK;
  size_t values;
  int64_t pieces = from->rows * from->channels;
  if (!sr__size_multiply((size_t)from->rows, (size_t)from->features, &values) || values > INT64_MAX)
    SR_TRY(sr__fail(ctx, SR_ERROR_OVERFLOW, "%lld x %lld values are too many",
                    (long long)from->rows, (long long)from->features));
  SR_TRY(copy_names_of(ctx, from, to));
  to->rows = from->rows;
  SR_TRY(copy_lattice(ctx, from, to));
  SR_COPY_ARRAY(ctx, to->x, from->x, (int64_t)values);
  if (from->channels) {
    SR_COPY_ARRAY(ctx, to->series_offset, from->series_offset, pieces + 1);
    SR_COPY_ARRAY(ctx, to->series, from->series, from->series_offset[pieces]);
  }
  SR_COPY_ARRAY(ctx, to->label, from->label, from->rows);
  SR_COPY_ARRAY(ctx, to->value, from->value, from->rows);
  SR_COPY_ARRAY(ctx, to->time, from->time, from->rows);
  SR_COPY_ARRAY(ctx, to->group, from->group, from->rows);
  SR_COPY_ARRAY(ctx, to->region, from->region, from->rows);
  SR_COPY_ARRAY(ctx, to->coordinates, from->coordinates, from->rows * to->coordinate_count);
  SR_COPY_ARRAY(ctx, to->weight, from->weight, from->rows);
  SR_COPY_ARRAY(ctx, to->cell, from->cell, from->rows);
  SR_COPY_ARRAY(ctx, to->source_row, from->source_row, from->rows);
cleanup:
  return status;
}

sr_status sr_table_new(sr_context *ctx, const sr_table_view *view, sr_table **table) {
  sr_status status = SR_OK;
  sr_table *made = NULL;
  *table = NULL;
  SR_TRY(table_check_view(ctx, view));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(copy_view(ctx, view, &made->view));
  *table = made;
  made = NULL;
cleanup:
  sr_table_free(&made);
  return status;
}

sr_status sr_table_wrap(sr_context *ctx, const sr_table_view *view, sr_table **table) {
  sr_status status = SR_OK;
  sr_table *made = NULL;
  *table = NULL;
  SR_TRY(table_check_view(ctx, view));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->view = *view;
  if (!view->coordinates) made->view.coordinate_count = 0;
  made->borrowed = true;
  *table = made;
cleanup:
  return status;
}

sr_status sr__table_adopt(sr_context *ctx, sr_table_view *view, sr_table **table) {
  sr_table *made = sr__alloc_zero(ctx, 1, sizeof *made);
  *table = NULL;
  if (!made) return SR_ERROR_MEMORY;
  made->allocator = sr__allocator(ctx);
  made->view = *view;
  *view = (sr_table_view){0};
  *table = made;
  return SR_OK;
}

/* The view shows its arrays read-only; the table owns them. */
static void release(const sr_allocator *allocator, const void *array) {
  sr__release(allocator, (void *)(uintptr_t)array);
}

static void free_view(const sr_allocator *allocator, const sr_table_view *v) {
  if (v->categories) {
    for (int64_t j = 0; j < v->features; j++) release(allocator, v->categories[j].names);
  }
  const void *owned[] = {v->categories,    v->x,           v->series_offset, v->series,
                         v->label,         v->value,       v->time,          v->group,
                         v->coordinates,   v->weight,      v->cell,          v->feature_names,
                         v->channel_names, v->target_name, v->classes.names, v->groups.names,
                         v->projection,    v->source_row,  v->region,        v->regions.names,
                         v->grid_axes};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) release(allocator, owned[i]);
}

void sr__table_view_free(sr_context *ctx, sr_table_view *view) {
  sr_allocator allocator = sr__allocator(ctx);
  free_view(&allocator, view);
  *view = (sr_table_view){0};
}

void sr_table_free(sr_table **table) {
  if (!table || !*table) return;
  sr_allocator allocator = (*table)->allocator;
  if (!(*table)->borrowed) free_view(&allocator, &(*table)->view);
  sr__release(&allocator, *table);
  *table = NULL;
}

const sr_table_view *sr_table_get(const sr_table *table) { return &table->view; }

/* ---- rows of a table ---------------------------------------------------------------------- */

/* The chosen rows: of 64 bits from users, of 32 inside the library. */
typedef struct selection {
  const int64_t *wide;
  const int32_t *narrow; /* used where wide is NULL */
  int64_t count;
  int64_t total; /* rows of the table */
} selection;

static inline int64_t row_at(const selection *rows, int64_t i) {
  return rows->wide ? rows->wide[i] : rows->narrow[i];
}

/* The chosen rows of column-major columns; NULL stays NULL. */
static sr_status gather(sr_context *ctx, const void *from, int64_t columns, size_t size,
                        const selection *rows, const void **to) {
  *to = NULL;
  if (!from) return SR_OK;
  char *gathered = sr__alloc(ctx, rows->count, size * (size_t)(columns ? columns : 1));
  if (!gathered) return sr_context_error(ctx).status;
  char *next = gathered;
  for (int64_t j = 0; j < columns; j++) {
    const char *column = (const char *)from + (size_t)(j * rows->total) * size;
    for (int64_t i = 0; i < rows->count; i++, next += size)
      memcpy(next, column + (size_t)row_at(rows, i) * size, size);
  }
  *to = gathered;
  return SR_OK;
}

#define GATHER(field, columns)                                                          \
  do {                                                                                  \
    const void *gathered_ = NULL;                                                       \
    SR_TRY(gather(ctx, from->field, (columns), sizeof *from->field, rows, &gathered_)); \
    to->field = gathered_;                                                              \
  } while (0)

static sr_status gather_series(sr_context *ctx, const sr_table_view *from, const selection *rows,
                               sr_table_view *to) {
  sr_status status = SR_OK;
  int64_t *offset = NULL, channels = from->channels;
  float *series = NULL;
  if (channels == 0) return SR_OK;
  SR_NEW(ctx, offset, rows->count * channels + 1);
  to->series_offset = offset;
  offset[0] = 0;
  for (int64_t i = 0; i < rows->count; i++) {
    const int64_t *old = from->series_offset + row_at(rows, i) * channels;
    for (int64_t c = 0; c < channels; c++)
      offset[i * channels + c + 1] = offset[i * channels + c] + (old[c + 1] - old[c]);
  }
  SR_NEW(ctx, series, offset[rows->count * channels]);
  to->series = series;
  for (int64_t i = 0; i < rows->count; i++) {
    const int64_t *old = from->series_offset + row_at(rows, i) * channels;
    size_t values = (size_t)(old[channels] - old[0]);
    if (values)
      memcpy(series + offset[i * channels], from->series + old[0], values * sizeof *series);
  }
cleanup:
  return status;
}

static sr_status check_selection(sr_context *ctx, const selection *rows, int64_t limit,
                                 bool *increasing) {
  *increasing = true;
  for (int64_t i = 0; i < rows->count; i++) {
    int64_t row = row_at(rows, i);
    if (row < 0 || row >= limit)
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "row %lld was selected from a table of %lld rows",
                      (long long)row, (long long)limit);
    if (i && row <= row_at(rows, i - 1)) *increasing = false;
  }
  return SR_OK;
}

static sr_status select_rows(sr_context *ctx, const sr_table *table, const selection *rows,
                             sr_table **selected) {
  sr_status status = SR_OK;
  const sr_table_view *from = &table->view;
  sr_table *made = NULL;
  bool increasing;
  *selected = NULL;
  if (rows->count < 0 || rows->count > INT32_MAX)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "%lld rows were selected; rows go to %d",
                    (long long)rows->count, INT32_MAX));
  SR_TRY(check_selection(ctx, rows, from->rows, &increasing));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  sr_table_view *to = &made->view;
  SR_TRY(copy_names_of(ctx, from, to));
  to->rows = rows->count;
  GATHER(x, from->features);
  SR_TRY(gather_series(ctx, from, rows, to));
  GATHER(label, 1);
  GATHER(value, 1);
  GATHER(time, 1);
  GATHER(group, 1);
  GATHER(region, 1);
  GATHER(coordinates, from->coordinate_count);
  GATHER(weight, 1);
  GATHER(source_row, 1);
  if (from->cell && increasing) {
    GATHER(cell, 1);
    SR_TRY(copy_lattice(ctx, from, to));
  }
  *selected = made;
  made = NULL;
cleanup:
  sr_table_free(&made);
  return status;
}

sr_status sr__table_name_rows(sr_context *ctx, sr_table *table, const int32_t *rows,
                              int64_t file_rows) {
  sr_status status = SR_OK;
  int64_t *source_row = NULL;
  if (table->view.source_row) return SR_OK;
  SR_NEW(ctx, source_row, table->view.rows);
  for (int64_t i = 0; i < table->view.rows; i++) source_row[i] = rows[i];
  table->view.source_row = source_row;
  table->view.source_rows = file_rows;
cleanup:
  return status;
}

sr_status sr_table_select(sr_context *ctx, const sr_table *table, const int64_t *rows,
                          int64_t count, sr_table **selected) {
  return select_rows(ctx, table,
                     &(selection){.wide = rows, .count = count, .total = sr_table_get(table)->rows},
                     selected);
}

sr_status sr__table_select(sr_context *ctx, const sr_table *table, const int32_t *rows,
                           int64_t count, sr_table **selected) {
  return select_rows(
      ctx, table, &(selection){.narrow = rows, .count = count, .total = sr_table_get(table)->rows},
      selected);
}
