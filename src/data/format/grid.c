#include "grid.h"

#include <math.h>
#include <stdlib.h>

#include "data/parse_number.h"
#include "data/print_number.h"

sr_status sr__grid_check_options(sr_context *ctx, const char *file,
                                 const sr_read_options *options) {
  const char *asked = options->time                         ? "time"
                      : options->group && !options->labels  ? "group"
                      : options->region && !options->labels ? "region"
                      : options->weight                     ? "weight"
                      : options->coordinates                ? "coordinates"
                      : options->categorical                ? "categorical"
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
  sr__free(ctx, grid->axes);
  grid->x = NULL;
  grid->coordinates = grid->target = grid->axes = NULL;
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
  for (int64_t i = 0; i < cells; i++) {
    filled[i] &= !grid->group || grid->group[i] >= 0;
    *count += filled[i];
  }
  if (*count == 0 && grid->lattice_rows > 0) goto cleanup;
  if (*count == 0)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, grid->file, 0, 0,
                       grid->group ? "every cell inside a polygon is missing in every feature"
                                   : "every cell is missing in every feature"));
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

/* Gives back what the holes took; the old array stays good where that fails. */
static void *shrink(sr_context *ctx, void *array, int64_t count, size_t size) {
  void *smaller = sr__resize(ctx, array, count, size);
  return smaller ? smaller : array;
}

sr_status sr__grid_store(sr_context *ctx, const char *file, const char *feature,
                         const double *values, int64_t count, float *x) {
  for (int64_t i = 0; i < count; i++) {
    x[i] = (float)values[i];
    if (isinf(x[i]) && !isinf(values[i]))
      return sr__fail_at(ctx, SR_ERROR_DATA, file, 0, 0,
                         "'%s' holds %g, beyond the largest number that is kept, 3.4e38; rescale "
                         "it, or mark the value as missing",
                         feature, values[i]);
  }
  return SR_OK;
}

static sr_status number_target(sr_context *ctx, const sr__grid *grid, const int64_t *cell,
                               sr_table_view *view) {
  double *value = sr__alloc(ctx, view->rows, sizeof *value);
  if (!value) return sr_context_error(ctx).status;
  for (int64_t i = 0; i < view->rows; i++) value[i] = grid->target[cell[i]];
  return sr__set_number_target(ctx, grid->target_name, &grid->target_rule, value, view);
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
    const char *name = grid->target_names ? grid->target_names[(int64_t)value] : text;
    size_t length =
        grid->target_names ? strlen(name) : (size_t)(sr__print_double(value, text) - text);
    SR_TRY(sr__names_add(ctx, &names, name, length, 0, &label[i]));
  }
  SR_TRY(sr__check_classes(ctx, grid->file, grid->target_name, &names, view->rows, false));
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

/* Groups and regions of the cells that became rows. */
static sr_status name_rows(sr_context *ctx, const sr__grid *grid, const int64_t *cell,
                           sr_table_view *view) {
  sr_status status = SR_OK;
  int32_t *group = NULL, *region = NULL;
  if (grid->group) {
    SR_NEW(ctx, group, view->rows);
    view->group = group;
    for (int64_t i = 0; i < view->rows; i++) group[i] = grid->group[cell[i]];
    SR_TRY(sr__dictionary_copy(ctx, grid->groups, &view->groups));
  }
  if (grid->region) {
    SR_NEW(ctx, region, view->rows);
    view->region = region;
    for (int64_t i = 0; i < view->rows; i++) region[i] = grid->region[cell[i]];
    SR_TRY(sr__dictionary_copy(ctx, grid->regions, &view->regions));
  }
cleanup:
  return status;
}

static void number_in_lattice(const sr__grid *grid, int64_t *cell, sr_table_view *view) {
  for (int64_t i = 0; i < view->rows; i++)
    cell[i] = (grid->first_row + cell[i] / grid->columns) * grid->lattice_columns +
              grid->first_column + cell[i] % grid->columns;
  view->grid_rows = grid->lattice_rows;
  view->grid_columns = grid->lattice_columns;
}

sr_status sr__grid_to_table(sr_context *ctx, sr__grid *grid, sr_table **table) {
  sr_status status = SR_OK;
  int64_t *cell = NULL, count = 0, cells = grid->rows * grid->columns;
  sr_table_view view = {0};
  if (grid->features == 0)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_ARGUMENT, grid->file, 0, 0,
                       "no feature is left; name variables that are neither target nor dropped"));
  SR_TRY(find_cells(ctx, grid, &cell, &count));
  if (count == 0) goto cleanup;
  compact(grid->x, sizeof *grid->x, grid->features, cells, cell, count);
  compact(grid->coordinates, sizeof *grid->coordinates, 2, cells, cell, count);
  view = (sr_table_view){.rows = count,
                         .features = grid->features,
                         .cell = cell,
                         .grid_rows = grid->rows,
                         .grid_columns = grid->columns,
                         .coordinate_count = 2};
  if (grid->target)
    SR_TRY(grid->target_rule.form == SR__CLASSES ? code_target(ctx, grid, cell, &view)
                                                 : number_target(ctx, grid, cell, &view));
  SR_TRY(name_rows(ctx, grid, cell, &view));
  if (grid->lattice_rows > 0) number_in_lattice(grid, cell, &view);
  if (grid->projection) {
    view.projection = sr__strdup(ctx, grid->projection);
    if (!view.projection) SR_TRY(SR_ERROR_MEMORY);
  }
  SR_TRY(sr__copy_names(ctx, grid->names, grid->features, &view.feature_names));
  view.x = shrink(ctx, grid->x, count * grid->features, sizeof *grid->x);
  view.coordinates = shrink(ctx, grid->coordinates, 2 * count, sizeof *grid->coordinates);
  view.grid_axes = grid->axes;
  grid->x = NULL;
  grid->coordinates = grid->axes = NULL;
  cell = NULL;
  SR_TRY(sr__table_adopt(ctx, &view, table));
cleanup:
  if (view.cell == cell) view.cell = NULL;
  sr__free(ctx, cell);
  sr__table_view_free(ctx, &view);
  return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Solves the 3 x 3 system a x = b by elimination; a direction that the cells do not span gets 0. */
static void solve_three(double a[3][3], double b[3]) {
  for (int k = 0; k < 3; k++) {
    for (int r = k + 1; r < 3; r++) {
      double factor = fabs(a[k][k]) > 1e-12 ? a[r][k] / a[k][k] : 0;
      for (int c = k; c < 3; c++) a[r][c] -= factor * a[k][c];
      b[r] -= factor * b[k];
    }
  }
  for (int k = 2; k >= 0; k--) {
    for (int c = k + 1; c < 3; c++) b[k] -= a[k][c] * b[c];
    b[k] = fabs(a[k][k]) > 1e-12 ? b[k] / a[k][k] : 0;
  }
}

/* Least squares of one coordinate on 1, column and row, around the middle of the lattice. */
static void fit_axis(const sr_table_view *t, const double *coordinate, double axis[3]) {
  double a[3][3] = {{0}}, b[3] = {0}, origin = coordinate[0];
  double middle[2] = {0.5 * (double)t->grid_columns, 0.5 * (double)t->grid_rows};
  for (int64_t i = 0; i < t->rows; i++) {
    double place[3] = {1, (double)(t->cell[i] % t->grid_columns) + 0.5 - middle[0],
                       (double)(t->cell[i] / t->grid_columns) + 0.5 - middle[1]};
    for (int r = 0; r < 3; r++) {
      for (int c = 0; c < 3; c++) a[r][c] += place[r] * place[c];
      b[r] += place[r] * (coordinate[i] - origin);
    }
  }
  solve_three(a, b);
  axis[1] = b[1];
  axis[2] = b[2];
  axis[0] = origin + b[0] - b[1] * middle[0] - b[2] * middle[1];
}

static sr_status check_fit(sr_context *ctx, const sr_table_view *t, const char *format,
                           const double transform[6]) {
  double side = fabs(transform[1]) + fabs(transform[2]) + fabs(transform[4]) + fabs(transform[5]);
  for (int64_t i = 0; i < t->rows; i++) {
    double column = (double)(t->cell[i] % t->grid_columns) + 0.5;
    double row = (double)(t->cell[i] / t->grid_columns) + 0.5;
    double x = transform[0] + column * transform[1] + row * transform[2];
    double y = transform[3] + column * transform[4] + row * transform[5];
    if (fabs(x - t->coordinates[i]) + fabs(y - t->coordinates[t->rows + i]) <= 0.01 * side)
      continue;
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "the cells do not lie on a straight lattice (row %lld is at %g, %g), which %s "
                    "needs; write %s instead",
                    (long long)i, t->coordinates[i], t->coordinates[t->rows + i], format,
                    t->grid_axes ? ".nc or .csv" : ".csv");
  }
  return SR_OK;
}

/* The shortest decimal within 1e-11 of a cell's side: least squares leaves noise in the last digits
 * of numbers that were short. */
static double without_noise(double value, double side) {
  char text[40];
  if (fabs(value) <= 1e-11 * side) return 0;
  for (int digits = 1; digits < 16; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    double rounded = strtod(text, NULL);
    if (fabs(rounded - value) <= 1e-11 * side) return rounded;
  }
  return value;
}

sr_status sr__grid_transform(sr_context *ctx, const sr_table_view *table, const char *format,
                             double t[6]) {
  static const double unit[6] = {0, 1, 0, 0, 0, 1};
  if (!table->cell || table->rows == 0)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "%s holds cells of a grid, and the rows of this table are none; write csv "
                    "instead",
                    format);
  memcpy(t, unit, sizeof unit);
  if (table->coordinate_count < 2) return SR_OK;
  fit_axis(table, table->coordinates, t);
  fit_axis(table, table->coordinates + table->rows, t + 3);
  /* A single row or column of cells says nothing of its other side: cells are square then. */
  double column = (double)(table->cell[0] % table->grid_columns) + 0.5;
  double row = (double)(table->cell[0] / table->grid_columns) + 0.5;
  if (t[1] == 0 && t[4] == 0) {
    t[1] = fabs(t[5]) + fabs(t[2]);
    t[0] -= column * t[1];
  }
  if (t[5] == 0 && t[2] == 0) {
    t[5] = -(fabs(t[1]) + fabs(t[4]));
    t[3] -= row * t[5];
  }
  double side = fabs(t[1]) + fabs(t[2]) + fabs(t[4]) + fabs(t[5]);
  for (int k = 0; k < 6; k++)
    t[k] = without_noise(t[k], k % 3 ? side / (double)(table->grid_rows + table->grid_columns)
                                     : side * 10);
  return check_fit(ctx, table, format, t);
}

static bool has_target(const sr_table_view *t) { return t->label || t->value; }

int64_t sr__grid_layers(const sr_table_view *table) { return table->features + has_target(table); }

/* The feature of a layer, or -1 for the target. */
static int64_t feature_of(const sr_table_view *t, int64_t layer) {
  if (!has_target(t)) return layer;
  if (t->predicted) return layer - 1;
  return layer < t->features ? layer : -1;
}

const char *sr__grid_layer_name(const sr_table_view *table, int64_t layer, bool *is_target,
                                char numbered[32]) {
  int64_t feature = feature_of(table, layer);
  *is_target = feature < 0;
  if (*is_target) return table->target_name ? table->target_name : table->label ? "class" : "value";
  snprintf(numbered, 32, "x%lld", (long long)feature + 1);
  return table->feature_names ? table->feature_names[feature] : numbered;
}

bool sr__classes_are_numbers(const sr_table_view *table) {
  double value;
  for (int32_t c = 0; c < table->classes.count; c++) {
    if (!sr__whole_double(table->classes.names[c], strlen(table->classes.names[c]), &value))
      return false;
  }
  return true;
}

sr_status sr__grid_class_values(sr_context *ctx, const sr_table_view *table, double **values) {
  sr_status status = SR_OK;
  bool numbers = sr__classes_are_numbers(table);
  *values = NULL;
  if (!table->label) return SR_OK;
  SR_NEW(ctx, *values, table->classes.count);
  for (int32_t c = 0; c < table->classes.count; c++) {
    const char *name = table->classes.names[c];
    if (!numbers || !sr__whole_double(name, strlen(name), &(*values)[c])) (*values)[c] = c;
  }
cleanup:
  return status;
}

double sr__grid_value(const sr_table_view *table, const double *class_values, int64_t layer,
                      int64_t row) {
  int64_t feature = feature_of(table, layer);
  if (feature >= 0) return (double)table->x[feature * table->rows + row];
  if (table->value) return table->value[row];
  return table->label[row] >= 0 ? class_values[table->label[row]] : NAN;
}

void sr__grid_layer(const sr_table_view *table, const double *class_values, int64_t layer,
                    double *cells) {
  for (int64_t i = 0; i < table->grid_rows * table->grid_columns; i++) cells[i] = NAN;
  for (int64_t i = 0; i < table->rows; i++)
    cells[table->cell[i]] = sr__grid_value(table, class_values, layer, i);
}
