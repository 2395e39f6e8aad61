/* A table as NumPy's .npy: one or two dimensions of plain numbers become features; features are
 * written, and the class or value behind them. */
#include <math.h>

#include "data/column_roles.h"
#include "data/npy.h"
#include "data/packed_file.h"
#include "data/parse_number.h"
#include "format.h"

enum { STEP_BYTES = 1 << 20 };

static sr_status store_item(sr_context *ctx, const char *file, const sr__npy *array, int64_t item,
                            const unsigned char *bytes, float *x) {
  double value = sr__npy_real(array, bytes);
  int64_t row = array->columns_first ? item % array->rows : item / array->columns;
  int64_t column = array->columns_first ? item / array->rows : item % array->columns;
  float kept = (float)value;
  x[column * array->rows + row] = kept;
  if (isinf(kept) && !isinf(value))
    return sr__fail_at(ctx, SR_ERROR_DATA, file, row + 1, column + 1,
                       "row %lld, column %lld is %g, beyond the largest number that is kept, "
                       "3.4e38; rescale the column",
                       (long long)row + 1, (long long)column + 1, value);
  return SR_OK;
}

/* Items are read into a buffer that grows with the file, so that a damaged shape cannot ask for
 * more memory than there are bytes. */
static sr_status read_items(sr_context *ctx, sr__source *source, const sr__npy *array,
                            unsigned char **items) {
  sr_status status = SR_OK;
  const char *file = sr__source_name(source);
  size_t wanted = (size_t)array->rows * (size_t)array->columns * (size_t)array->size;
  size_t used = 0, got = 0;
  int64_t capacity = 0;
  for (;;) {
    size_t step = wanted + 1 - used < STEP_BYTES ? wanted + 1 - used : STEP_BYTES;
    SR_GROW(ctx, *items, capacity, (int64_t)(used + step));
    SR_TRY(sr__source_read(ctx, source, *items + used, step, &got));
    used += got;
    if (got < step || used > wanted) break;
  }
  if (used != wanted)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, file, 0, 0,
                       "the file holds %s %zu bytes of data, its shape (%lld, %lld) needs %zu; was "
                       "it cut off?",
                       used > wanted ? "more than" : "only", used > wanted ? wanted : used,
                       (long long)array->rows, (long long)array->columns, wanted));
cleanup:
  return status;
}

static sr_status read_npy(sr_context *ctx, sr__source *source, const sr_read_options *options,
                          sr_table **table) {
  sr_status status = SR_OK;
  const char *file = sr__source_name(source);
  sr__npy array = {0};
  unsigned char *items = NULL;
  float *x = NULL;
  sr_table_view view = {0};
  *table = NULL;
  SR_TRY(sr__refuse_roles(ctx, file, "npy", options));
  SR_TRY(sr__npy_read_header(ctx, source, &array));
  SR_TRY(read_items(ctx, source, &array, &items));
  int64_t count = array.rows * array.columns;
  SR_NEW(ctx, x, count);
  view = (sr_table_view){.rows = array.rows, .features = array.columns, .x = x};
  for (int64_t item = 0; item < count; item++)
    SR_TRY(store_item(ctx, file, &array, item, items + item * array.size, x));
  SR_TRY(sr__table_adopt(ctx, &view, table));
cleanup:
  sr__table_view_free(ctx, &view);
  sr__free(ctx, items);
  return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* The classes as numbers; those that are text have no place in an array. */
static sr_status number_classes(sr_context *ctx, const sr_table_view *t, const char *path,
                                float *number) {
  for (int32_t c = 0; c < t->classes.count; c++) {
    const char *name = t->classes.names[c];
    double value;
    bool is_number = sr__whole_double(name, strlen(name), &value);
    number[c] = is_number ? (float)value : NAN;
    if (!is_number || (double)number[c] != value)
      return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, path, 0, 0,
                         "npy holds numbers of 24 bits, and the class '%s' is none; write csv "
                         "instead",
                         name);
  }
  return SR_OK;
}

static sr_status check_features(sr_context *ctx, const sr_table_view *t, const char *path) {
  for (int64_t j = 0; j < t->features; j++) {
    if (sr__categories_of(t, j).count)
      return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, path, 0, 0,
                         "npy holds numbers, and feature '%s' is text; write csv instead",
                         t->feature_names ? t->feature_names[j] : "unnamed");
  }
  return SR_OK;
}

/* The class or the value of each row as the last column; NULL where the table has none. */
static sr_status make_target(sr_context *ctx, const sr_table_view *t, const char *path,
                             float **target) {
  sr_status status = SR_OK;
  float *number = NULL;
  if (!t->label && !t->value) return SR_OK;
  SR_NEW(ctx, *target, t->rows);
  SR_NEW(ctx, number, t->classes.count);
  SR_TRY(number_classes(ctx, t, path, number));
  for (int64_t i = 0; i < t->rows; i++) {
    if (t->value)
      (*target)[i] = (float)t->value[i];
    else
      (*target)[i] = t->label[i] < 0 ? NAN : number[t->label[i]];
  }
cleanup:
  sr__free(ctx, number);
  return status;
}

/* The matrix is kept in its own order, which NumPy calls Fortran's. */
static sr_status write_npy(sr_context *ctx, const sr_table_view *t, const char *path) {
  sr_status status = SR_OK;
  sr__packed_file *file = NULL;
  char header[SR__NPY_HEADER_BYTES];
  float *target = NULL;
  SR_TRY(check_features(ctx, t, path));
  SR_TRY(make_target(ctx, t, path, &target));
  const sr__npy array = {.kind = 'f',
                         .size = 4,
                         .columns_first = true,
                         .rows = t->rows,
                         .columns = t->features + (target != NULL)};
  SR_TRY(sr__packed_file_open(ctx, path, &file));
  SR_TRY(sr__packed_file_put(ctx, file, header, sr__npy_print_header(&array, header)));
  SR_TRY(sr__packed_file_put(ctx, file, t->x, (size_t)(t->rows * t->features) * sizeof *t->x));
  if (target) SR_TRY(sr__packed_file_put(ctx, file, target, (size_t)t->rows * sizeof *target));
  SR_TRY(sr__packed_file_commit(ctx, &file));
cleanup:
  sr__packed_file_abort(ctx, &file);
  sr__free(ctx, target);
  return status;
}

static sr__recognition recognize(const sr__beginning *beginning) {
  return beginning->size >= 6 && memcmp(beginning->bytes, "\x93NUMPY", 6) == 0 ? SR__CERTAIN
                                                                               : SR__NOT_RECOGNIZED;
}

const sr__format sr__format_npy = {.about = {"npy",
                                             "NumPy's arrays of one or two dimensions of numbers",
                                             NULL, 0, NULL},
                                   SR__ENDINGS_1(".npy"),
                                   .recognize = recognize,
                                   .read = read_npy,
                                   .write = write_npy,
                                   .is_text = true};
