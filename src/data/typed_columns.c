/* Columns of any type and stride become features: one read and one write of every value. */
#include "typed_columns.h"

#include <float.h>
#include <math.h>

/* Rows that are worked on together: where rows are records, the cache lines that one column touches
 * still hold the next columns. */
enum { CONVERT_ROWS = 1024 };

int sr__type_size(sr_type type) {
  static const int size[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
  return (int)type > 0 && type <= SR_TYPE_FLOAT64 ? size[type] : 0;
}

static inline bool bit_at(const uint8_t *bits, int64_t i) { return bits[i / 8] >> (i % 8) & 1; }

static float float_of_half(uint16_t half) {
  uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
  float size = exponent == 31 ? (fraction ? NAN : INFINITY)
               : exponent     ? ldexpf((float)(fraction | 1024), (int)exponent - 25)
                              : ldexpf((float)fraction, -24);
  return half & 0x8000 ? -size : size;
}

bool sr__column_missing(const sr_column *column, int64_t row) {
  return column->valid && !bit_at(column->valid, column->first + row);
}

/* ---- values ------------------------------------------------------------------------------- */

/* Values may stand at any address. */
#define LOAD(type, at)                  \
  do {                                  \
    type value_;                        \
    memcpy(&value_, at, sizeof value_); \
    return (double)value_;              \
  } while (0)

double sr__column_double(const sr_column *column, int64_t row) {
  if (sr__column_missing(column, row)) return NAN;
  const char *at = (const char *)column->data + (column->first + row) * column->stride;
  switch (column->type) {
    case SR_TYPE_BIT:
      return bit_at(column->data, column->first + row);
    case SR_TYPE_BOOL:
      return *at != 0;
    case SR_TYPE_INT8:
      LOAD(int8_t, at);
    case SR_TYPE_INT16:
      LOAD(int16_t, at);
    case SR_TYPE_INT32:
      LOAD(int32_t, at);
    case SR_TYPE_INT64:
      LOAD(int64_t, at);
    case SR_TYPE_UINT8:
      LOAD(uint8_t, at);
    case SR_TYPE_UINT16:
      LOAD(uint16_t, at);
    case SR_TYPE_UINT32:
      LOAD(uint32_t, at);
    case SR_TYPE_UINT64:
      LOAD(uint64_t, at);
    case SR_TYPE_FLOAT32:
      LOAD(float, at);
    case SR_TYPE_FLOAT64:
      LOAD(double, at);
    case SR_TYPE_FLOAT16: {
      uint16_t half;
      memcpy(&half, at, sizeof half);
      return float_of_half(half);
    }
  }
  return NAN;
}

/* A loop for each type and for values that stand side by side, which vectorizes. */
#define CONVERT(type)                                                    \
  do {                                                                   \
    if (stride == (int64_t)sizeof(type))                                 \
      for (int64_t i = 0; i < count; i++) {                              \
        type value_;                                                     \
        memcpy(&value_, at + i * (int64_t)sizeof value_, sizeof value_); \
        to[i] = (float)value_;                                           \
      }                                                                  \
    else                                                                 \
      for (int64_t i = 0; i < count; i++) {                              \
        type value_;                                                     \
        memcpy(&value_, at + i * stride, sizeof value_);                 \
        to[i] = (float)value_;                                           \
      }                                                                  \
  } while (0)

static void convert(const sr_column *column, int64_t begin, int64_t count, float *to) {
  int64_t first = column->first + begin, stride = column->stride;
  const char *at = (const char *)column->data + first * stride;
  switch (column->type) {
    case SR_TYPE_BIT:
      for (int64_t i = 0; i < count; i++) to[i] = bit_at(column->data, first + i);
      break;
    case SR_TYPE_BOOL:
      for (int64_t i = 0; i < count; i++) to[i] = at[i * stride] != 0;
      break;
    case SR_TYPE_INT8:
      CONVERT(int8_t);
      break;
    case SR_TYPE_INT16:
      CONVERT(int16_t);
      break;
    case SR_TYPE_INT32:
      CONVERT(int32_t);
      break;
    case SR_TYPE_INT64:
      CONVERT(int64_t);
      break;
    case SR_TYPE_UINT8:
      CONVERT(uint8_t);
      break;
    case SR_TYPE_UINT16:
      CONVERT(uint16_t);
      break;
    case SR_TYPE_UINT32:
      CONVERT(uint32_t);
      break;
    case SR_TYPE_UINT64:
      CONVERT(uint64_t);
      break;
    case SR_TYPE_FLOAT32:
      CONVERT(float);
      break;
    case SR_TYPE_FLOAT64:
      CONVERT(double);
      break;
    case SR_TYPE_FLOAT16:
      for (int64_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, at + i * stride, sizeof half);
        to[i] = float_of_half(half);
      }
      break;
  }
}

int64_t sr__column_floats(const sr_column *column, int64_t begin, int64_t end, float *to) {
  int64_t count = end - begin;
  int infinite = 0;
  convert(column, begin, count, to);
  for (int64_t i = 0; column->valid && i < count; i++)
    if (!bit_at(column->valid, column->first + begin + i)) to[i] = NAN;
  if (column->categories.count > 0) {
    for (int64_t i = 0; i < count; i++)
      if (!(to[i] >= 0.0f && to[i] < (float)column->categories.count)) to[i] = NAN;
  }
  for (int64_t i = 0; i < count; i++) infinite |= fabsf(to[i]) > FLT_MAX;
  for (int64_t i = 0; infinite && i < count; i++)
    if (isinf(to[i])) return begin + i;
  return -1;
}

/* ---- all columns -------------------------------------------------------------------------- */

typedef struct convert_job {
  int64_t rows, count;
  const sr_column *columns;
  float *x;
} convert_job;

static sr_status fail_infinite(sr_context *ctx, const sr_column *column, int64_t j, int64_t row) {
  double value = sr__column_double(column, row);
  char number[32];
  snprintf(number, sizeof number, "%lld", (long long)j);
  return sr__fail(ctx, SR_ERROR_DATA,
                  "column '%s' holds %g in row %lld, and numbers go to 3.4e38; leave the row out, "
                  "clip the value or make it missing (NaN)",
                  column->name ? column->name : number, value, (long long)row);
}

static sr_status convert_rows(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  const convert_job *job = data;
  int64_t size = sr__chunk_size(job->rows, CONVERT_ROWS), end = (item + 1) * size;
  if (end > job->rows) end = job->rows;
  sr_status status = sr__check_interrupt(ctx);
  for (int64_t low = item * size; low < end && status == SR_OK; low += CONVERT_ROWS) {
    int64_t high = low + CONVERT_ROWS < end ? low + CONVERT_ROWS : end;
    for (int64_t j = 0; j < job->count && status == SR_OK; j++) {
      int64_t row = sr__column_floats(&job->columns[j], low, high, job->x + j * job->rows + low);
      if (row >= 0) status = fail_infinite(ctx, &job->columns[j], j, row);
    }
  }
  return status;
}

static sr_status check_columns(sr_context *ctx, int64_t rows, int64_t count,
                               const sr_column *columns) {
  size_t values;
  if (rows < 0 || count < 0 || rows > INT32_MAX ||
      !sr__size_multiply((size_t)rows, (size_t)count, &values) || values > INT64_MAX)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "%lld columns of %lld rows cannot be a table",
                    (long long)count, (long long)rows);
  for (int64_t j = 0; j < count; j++) {
    if (columns[j].type != SR_TYPE_BIT && !sr__type_size(columns[j].type))
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "column %lld is of type %d, and there is none",
                      (long long)j, (int)columns[j].type);
    if (!columns[j].data && rows > 0)
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "column %lld has no values", (long long)j);
    if (!columns[j].name != !columns[0].name)
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "some columns have names and column %lld %s",
                      (long long)j, columns[j].name ? "has one" : "has none");
  }
  return SR_OK;
}

static sr_status copy_column_names(sr_context *ctx, int64_t count, const sr_column *columns,
                                   sr_table_view *view) {
  sr_status status = SR_OK;
  const char **name = NULL;
  if (count == 0 || !columns[0].name) return SR_OK;
  SR_NEW(ctx, name, count);
  for (int64_t j = 0; j < count; j++) name[j] = columns[j].name;
  SR_TRY(sr__copy_names(ctx, name, count, &view->feature_names));
cleanup:
  sr__free(ctx, name);
  return status;
}

static sr_status copy_categories(sr_context *ctx, int64_t count, const sr_column *columns,
                                 sr_table_view *view) {
  sr_status status = SR_OK;
  sr_dictionary *categories = NULL;
  int64_t coded = 0;
  for (int64_t j = 0; j < count; j++) coded += columns[j].categories.count > 0;
  if (coded == 0) return SR_OK;
  SR_NEW_ZERO(ctx, categories, count);
  view->categories = categories;
  for (int64_t j = 0; j < count; j++)
    SR_TRY(sr__dictionary_copy(ctx, columns[j].categories, &categories[j]));
cleanup:
  return status;
}

sr_status sr__set_feature_columns(sr_context *ctx, int64_t rows, int64_t count,
                                  const sr_column *columns, sr_table_view *view) {
  sr_status status = SR_OK;
  convert_job job = {.rows = rows, .count = count, .columns = columns};
  SR_TRY(check_columns(ctx, rows, count, columns));
  view->rows = rows;
  view->features = count;
  SR_NEW(ctx, job.x, rows * count);
  view->x = job.x;
  SR_TRY(copy_column_names(ctx, count, columns, view));
  SR_TRY(copy_categories(ctx, count, columns, view));
  SR_TRY(sr__parallel_for(ctx, sr__chunk_count(rows, CONVERT_ROWS), convert_rows, &job));
cleanup:
  return status;
}

sr_status sr_table_from_columns(sr_context *ctx, int64_t rows, int64_t count,
                                const sr_column *columns, sr_table **table) {
  sr_status status = SR_OK;
  sr_table_view view = {0};
  *table = NULL;
  SR_TRY(sr__set_feature_columns(ctx, rows, count, columns, &view));
  SR_TRY(sr__table_adopt(ctx, &view, table));
cleanup:
  sr__table_view_free(ctx, &view);
  return status;
}
