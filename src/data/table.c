#include "table.h"

sr_status sr__copy_array(sr_context *ctx, const void *from, int64_t count, size_t size,
                         const void **to) {
  *to = NULL;
  if (!from) return SR_OK;
  void *copy = sr__alloc(ctx, count, size);
  if (!copy) return sr_context_error(ctx).status;
  memcpy(copy, from, (size_t)count * size);
  *to = copy;
  return SR_OK;
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

static sr_status check_view(sr_context *ctx, const sr_table_view *view) {
  sr_status status = SR_OK;
  if (view->rows < 0 || view->features < 0 || view->rows > INT32_MAX)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "a table of %lld rows and %lld features was asked for; rows go to %d",
                    (long long)view->rows, (long long)view->features, INT32_MAX));
  if (!view->x && view->features > 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "a table with features needs their values"));
  SR_TRY(check_codes(ctx, "label", view->label, view->rows, -1, view->classes.count));
  SR_TRY(check_codes(ctx, "group", view->group, view->rows, 0, view->groups.count));
  if (view->cell) {
    for (int64_t i = 0; i < view->rows; i++) {
      if (view->cell[i] < (i ? view->cell[i - 1] + 1 : 0) ||
          view->cell[i] >= view->grid_rows * view->grid_columns)
        SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                        "cell of row %lld is %lld; cells must increase and stay below %lld",
                        (long long)i, (long long)view->cell[i],
                        (long long)(view->grid_rows * view->grid_columns)));
    }
  }
cleanup:
  return status;
}

static sr_status copy_view(sr_context *ctx, const sr_table_view *from, sr_table_view *to) {
  sr_status status = SR_OK;
  to->rows = from->rows;
  to->features = from->features;
  to->coordinate_count = from->coordinates ? from->coordinate_count : 0;
  to->grid_rows = from->grid_rows;
  to->grid_columns = from->grid_columns;
  size_t values;
  if (!sr__size_multiply((size_t)from->rows, (size_t)from->features, &values) || values > INT64_MAX)
    SR_TRY(sr__fail(ctx, SR_ERROR_OVERFLOW, "%lld x %lld values are too many",
                    (long long)from->rows, (long long)from->features));
  SR_COPY_ARRAY(ctx, to->x, from->x, (int64_t)values);
  SR_COPY_ARRAY(ctx, to->label, from->label, from->rows);
  SR_COPY_ARRAY(ctx, to->time, from->time, from->rows);
  SR_COPY_ARRAY(ctx, to->group, from->group, from->rows);
  SR_COPY_ARRAY(ctx, to->coordinates, from->coordinates, from->rows * from->coordinate_count);
  SR_COPY_ARRAY(ctx, to->weight, from->weight, from->rows);
  SR_COPY_ARRAY(ctx, to->cell, from->cell, from->rows);
  if (from->feature_names)
    SR_TRY(sr__copy_names(ctx, from->feature_names, from->features, &to->feature_names));
  if (from->categories) {
    sr_dictionary *categories = sr__alloc_zero(ctx, from->features, sizeof *categories);
    if (!categories) SR_TRY(sr_context_error(ctx).status);
    to->categories = categories;
    for (int64_t j = 0; j < from->features; j++)
      SR_TRY(sr__dictionary_copy(ctx, from->categories[j], &categories[j]));
  }
  SR_TRY(sr__dictionary_copy(ctx, from->classes, &to->classes));
  SR_TRY(sr__dictionary_copy(ctx, from->groups, &to->groups));
  to->predicted = from->predicted;
  if (from->target_name) {
    to->target_name = sr__strdup(ctx, from->target_name);
    if (!to->target_name) SR_TRY(SR_ERROR_MEMORY);
  }
cleanup:
  return status;
}

sr_status sr_table_new(sr_context *ctx, const sr_table_view *view, sr_table **table) {
  sr_status status = SR_OK;
  sr_table *made = NULL;
  *table = NULL;
  SR_TRY(check_view(ctx, view));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(copy_view(ctx, view, &made->view));
  *table = made;
  made = NULL;
cleanup:
  sr_table_free(&made);
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
static void release(const sr_allocator *allocator, const void *block) {
  sr__release(allocator, (void *)(uintptr_t)block);
}

static void free_view(const sr_allocator *allocator, const sr_table_view *v) {
  if (v->categories) {
    for (int64_t j = 0; j < v->features; j++) release(allocator, v->categories[j].names);
  }
  const void *blocks[] = {
      v->categories, v->x,    v->label,         v->time,          v->group,        v->coordinates,
      v->weight,     v->cell, v->feature_names, v->classes.names, v->groups.names, v->target_name};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) release(allocator, blocks[i]);
}

void sr__table_view_free(sr_context *ctx, sr_table_view *view) {
  sr_allocator allocator = sr__allocator(ctx);
  free_view(&allocator, view);
  *view = (sr_table_view){0};
}

void sr_table_free(sr_table **table) {
  if (!table || !*table) return;
  sr_allocator allocator = (*table)->allocator;
  free_view(&allocator, &(*table)->view);
  sr__release(&allocator, *table);
  *table = NULL;
}

const sr_table_view *sr_table_get(const sr_table *table) { return &table->view; }

/* ---- rows of a table ---------------------------------------------------------------------- */

/* The chosen rows of column-major columns; NULL stays NULL. */
static sr_status gather(sr_context *ctx, const void *from, int64_t from_rows, int64_t columns,
                        size_t size, const int32_t *rows, int64_t count, const void **to) {
  *to = NULL;
  if (!from) return SR_OK;
  char *gathered = sr__alloc(ctx, count, size * (size_t)(columns ? columns : 1));
  if (!gathered) return sr_context_error(ctx).status;
  char *next = gathered;
  for (int64_t j = 0; j < columns; j++) {
    const char *column = (const char *)from + (size_t)(j * from_rows) * size;
    for (int64_t i = 0; i < count; i++, next += size)
      memcpy(next, column + (size_t)rows[i] * size, size);
  }
  *to = gathered;
  return SR_OK;
}

#define GATHER(field, columns)                                                               \
  do {                                                                                       \
    const void *gathered_ = NULL;                                                            \
    SR_TRY(gather(ctx, from->field, from->rows, (columns), sizeof *from->field, rows, count, \
                  &gathered_));                                                              \
    to->field = gathered_;                                                                   \
  } while (0)

static sr_status check_selection(sr_context *ctx, const int32_t *rows, int64_t count, int64_t limit,
                                 bool *increasing) {
  *increasing = true;
  for (int64_t i = 0; i < count; i++) {
    if (rows[i] < 0 || rows[i] >= limit)
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "row %d was selected from a table of %lld rows",
                      rows[i], (long long)limit);
    if (i && rows[i] <= rows[i - 1]) *increasing = false;
  }
  return SR_OK;
}

sr_status sr_table_select(sr_context *ctx, const sr_table *table, const int32_t *rows,
                          int64_t count, sr_table **selected) {
  sr_status status = SR_OK;
  const sr_table_view *from = &table->view;
  sr_table *made = NULL;
  bool increasing;
  *selected = NULL;
  SR_TRY(check_selection(ctx, rows, count, from->rows, &increasing));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  /* Names come from a view without arrays; the arrays are gathered straight into place. */
  sr_table_view names = {.features = from->features,
                         .feature_names = from->feature_names,
                         .categories = from->categories,
                         .classes = from->classes,
                         .groups = from->groups,
                         .target_name = from->target_name,
                         .predicted = from->predicted};
  SR_TRY(copy_view(ctx, &names, &made->view));
  sr_table_view *to = &made->view;
  to->rows = count;
  to->coordinate_count = from->coordinate_count;
  GATHER(x, from->features);
  GATHER(label, 1);
  GATHER(time, 1);
  GATHER(group, 1);
  GATHER(coordinates, from->coordinate_count);
  GATHER(weight, 1);
  if (from->cell && increasing) {
    GATHER(cell, 1);
    to->grid_rows = from->grid_rows;
    to->grid_columns = from->grid_columns;
  }
  *selected = made;
  made = NULL;
cleanup:
  sr_table_free(&made);
  return status;
}
