#include "grid.h"

#include <math.h>

#include "data/print_number.h"

sr_status sr__grid_check_options(sr_context *ctx, const char *file,
                                 const sr_read_options *options) {
  const char *asked = options->time          ? "time"
                      : options->group       ? "group"
                      : options->weight      ? "weight"
                      : options->coordinates ? "coordinates"
                      : options->categorical ? "categorical"
                                             : NULL;
  if (!asked) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, file, 0, 0,
                     "'%s' cannot be set for a grid, which brings its own coordinates; set target, "
                     "drop or variables",
                     asked);
}

sr_status sr__grid_allocate(sr_context *ctx, sr__grid *grid) {
  sr_status status = SR_OK;
  size_t cells, values;
  if (!sr__size_multiply((size_t)grid->rows, (size_t)grid->columns, &cells) || cells > INT32_MAX ||
      !sr__size_multiply(cells, (size_t)grid->features, &values) || values > INT64_MAX / 8)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_OVERFLOW, grid->file, 0, 0,
                       "a grid of %lld x %lld cells and %lld features is too large; name fewer "
                       "variables",
                       (long long)grid->rows, (long long)grid->columns, (long long)grid->features));
  SR_NEW(ctx, grid->x, (int64_t)values);
  SR_NEW(ctx, grid->coordinates, 2 * (int64_t)cells);
  if (grid->target_name) SR_NEW(ctx, grid->target, (int64_t)cells);
  for (size_t i = 0; i < values; i++) grid->x[i] = NAN;
  for (size_t i = 0; i < 2 * cells; i++) grid->coordinates[i] = NAN;
  for (size_t i = 0; grid->target && i < cells; i++) grid->target[i] = NAN;
cleanup:
  return status;
}

void sr__grid_free(sr_context *ctx, sr__grid *grid) {
  sr__free(ctx, grid->x);
  sr__free(ctx, grid->coordinates);
  sr__free(ctx, grid->target);
  grid->x = NULL;
  grid->coordinates = grid->target = NULL;
}

/* ---- holes -------------------------------------------------------------------------------- */

/* The cells with a value in at least one feature, in increasing order. */
static sr_status find_cells(sr_context *ctx, const sr__grid *grid, int64_t **cell, int64_t *count) {
  sr_status status = SR_OK;
  int64_t cells = grid->rows * grid->columns;
  bool *filled = NULL;
  SR_NEW_ZERO(ctx, filled, cells);
  for (int64_t j = 0; j < grid->features; j++) {
    const float *column = grid->x + j * cells;
    for (int64_t i = 0; i < cells; i++) filled[i] |= !isnan(column[i]);
  }
  *count = 0;
  for (int64_t i = 0; i < cells; i++) *count += filled[i];
  if (*count == 0)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, grid->file, 0, 0,
                       "every cell is missing in every feature"));
  SR_NEW(ctx, *cell, *count);
  int64_t next = 0;
  for (int64_t i = 0; i < cells; i++) {
    if (filled[i]) (*cell)[next++] = i;
  }
cleanup:
  sr__free(ctx, filled);
  return status;
}

/* Keeps the chosen cells of each column, in place: kept cells never move up. */
static void compact(void *values, size_t size, int64_t columns, int64_t cells, const int64_t *cell,
                    int64_t count) {
  char *to = values;
  for (int64_t j = 0; j < columns; j++) {
    const char *column = (const char *)values + (size_t)(j * cells) * size;
    for (int64_t i = 0; i < count; i++, to += size)
      memmove(to, column + (size_t)cell[i] * size, size);
  }
}

/* Gives back what the holes took; the old block stays good where that fails. */
static void *shrink(sr_context *ctx, void *block, int64_t count, size_t size) {
  void *smaller = sr__resize(ctx, block, count, size);
  return smaller ? smaller : block;
}

static sr_status code_target(sr_context *ctx, const sr__grid *grid, const int64_t *cell,
                             sr_table_view *view) {
  sr_status status = SR_OK;
  sr__names names = {0};
  int32_t *label = NULL, *rank = NULL;
  SR_NEW(ctx, label, view->rows);
  view->label = label;
  for (int64_t i = 0; i < view->rows; i++) {
    double value = grid->target[cell[i]];
    char text[SR_NUMBER_BYTES];
    label[i] = -1;
    if (isnan(value)) continue;
    size_t length = (size_t)(sr__print_double(value, text) - text);
    SR_TRY(sr__names_add(ctx, &names, text, length, 0, &label[i]));
  }
  SR_TRY(sr__check_classes(ctx, grid->file, grid->target_name, &names, view->rows));
  SR_NEW(ctx, rank, names.count);
  SR_TRY(sr__names_sort(ctx, &names, rank, &view->classes));
  for (int64_t i = 0; i < view->rows; i++) {
    if (label[i] >= 0) label[i] = rank[label[i]];
  }
  view->target_name = sr__strdup(ctx, grid->target_name);
  if (!view->target_name) SR_TRY(SR_ERROR_MEMORY);
cleanup:
  sr__free(ctx, rank);
  sr__names_free(ctx, &names);
  return status;
}

sr_status sr__grid_to_table(sr_context *ctx, sr__grid *grid, sr_table **table) {
  sr_status status = SR_OK;
  int64_t *cell = NULL, count = 0, cells = grid->rows * grid->columns;
  sr_table_view view = {0};
  if (grid->features == 0)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_ARGUMENT, grid->file, 0, 0,
                       "no feature is left; name variables that are neither target nor dropped"));
  SR_TRY(find_cells(ctx, grid, &cell, &count));
  compact(grid->x, sizeof *grid->x, grid->features, cells, cell, count);
  compact(grid->coordinates, sizeof *grid->coordinates, 2, cells, cell, count);
  view = (sr_table_view){.rows = count,
                         .features = grid->features,
                         .cell = cell,
                         .grid_rows = grid->rows,
                         .grid_columns = grid->columns,
                         .coordinate_count = 2};
  if (grid->target) SR_TRY(code_target(ctx, grid, cell, &view));
  SR_TRY(sr__copy_names(ctx, grid->names, grid->features, &view.feature_names));
  view.x = shrink(ctx, grid->x, count * grid->features, sizeof *grid->x);
  view.coordinates = shrink(ctx, grid->coordinates, 2 * count, sizeof *grid->coordinates);
  grid->x = NULL;
  grid->coordinates = NULL;
  cell = NULL;
  SR_TRY(sr__table_adopt(ctx, &view, table));
cleanup:
  if (view.cell == cell) view.cell = NULL;
  sr__free(ctx, cell);
  sr__table_view_free(ctx, &view);
  return status;
}
