/* NumPy's .npy files, versions 1 to 3: one or two dimensions of plain numbers become features. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "data/column_roles.h"
#include "data/packed_file.h"
#include "data/read.h"

enum { BLOCK_BYTES = 1 << 20, LONGEST_HEADER = 1 << 16 };

typedef struct npy_array {
  const char *file;
  char kind; /* f i u b */
  int size;  /* bytes of an item */
  bool swapped;
  bool columns_first; /* Fortran order */
  int64_t rows, columns;
} npy_array;

static sr_status fail_npy(sr_context *ctx, const char *file, sr_status status, const char *what) {
  return sr__fail_at(ctx, status, file, 0, 0, "%s", what);
}

/* ---- header ------------------------------------------------------------------------------- */

/* The text after 'key': in the header's dictionary, or NULL. */
static const char *value_of(const char *header, const char *key) {
  const char *at = strstr(header, key);
  if (!at) return NULL;
  at += strlen(key);
  while (*at == ' ') at++;
  if (*at++ != ':') return NULL;
  while (*at == ' ') at++;
  return at;
}

static sr_status parse_type(sr_context *ctx, npy_array *array, const char *text) {
  const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  if (text && (*text == '\'' || *text == '"')) {
    char order = text[1];
    array->kind = order ? text[2] : 0;
    array->size = array->kind && isdigit((unsigned char)text[3]) ? text[3] - '0' : 0;
    bool ends = array->size && text[4] == *text;
    array->swapped = little ? order == '>' : order == '<';
    bool known = array->kind == 'f'   ? array->size == 4 || array->size == 8
                 : array->kind == 'b' ? array->size == 1
                                      : (array->kind == 'i' || array->kind == 'u') &&
                                            (array->size == 1 || array->size == 2 ||
                                             array->size == 4 || array->size == 8);
    if (ends && known && strchr("<>|=", order)) return SR_OK;
  }
  return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, array->file, 0, 0,
                     "the items are of type %.*s, expected f4, f8, i1 to i8, u1 to u8 or b1; "
                     "convert with numpy.ndarray.astype('f4')",
                     text ? (int)(strcspn(text, ",}\n") < 40 ? strcspn(text, ",}\n") : 40) : 7,
                     text ? text : "unknown");
}

static sr_status parse_shape(sr_context *ctx, npy_array *array, const char *text) {
  int64_t sizes[2] = {1, 1};
  int count = 0;
  if (!text || *text++ != '(')
    return fail_npy(ctx, array->file, SR_ERROR_FORMAT, "the header has no shape such as (100, 3)");
  for (;;) {
    while (*text == ' ' || *text == ',') text++;
    if (*text == ')') break;
    char *end;
    long long size = strtoll(text, &end, 10);
    if (end == text || size < 0)
      return fail_npy(ctx, array->file, SR_ERROR_FORMAT,
                      "the shape in the header is damaged, expected one such as (100, 3)");
    if (*end == 'L') end++; /* Python 2 */
    if (count == 2)
      return fail_npy(ctx, array->file, SR_ERROR_UNSUPPORTED,
                      "the array has more than two dimensions; reshape it to rows x features");
    sizes[count++] = size;
    text = end;
  }
  if (count == 0)
    return fail_npy(ctx, array->file, SR_ERROR_UNSUPPORTED,
                    "the array is a single number, expected rows x features");
  array->rows = sizes[0];
  array->columns = sizes[1];
  size_t bytes;
  if (array->rows == 0 || array->columns == 0)
    return fail_npy(ctx, array->file, SR_ERROR_DATA, "the array is empty");
  if (array->rows > INT32_MAX ||
      !sr__size_multiply((size_t)array->rows, (size_t)array->columns, &bytes) ||
      !sr__size_multiply(bytes, 8, &bytes) || bytes > PTRDIFF_MAX)
    return fail_npy(ctx, array->file, SR_ERROR_OVERFLOW, "the array is too large for a table");
  return SR_OK;
}

static sr_status read_header(sr_context *ctx, sr__source *source, npy_array *array) {
  sr_status status = SR_OK;
  unsigned char start[12];
  size_t got;
  char *header = NULL;
  SR_TRY(sr__source_read(ctx, source, start, 8, &got));
  if (got < 8 || memcmp(start, "\x93NUMPY", 6) != 0)
    SR_TRY(fail_npy(ctx, array->file, SR_ERROR_FORMAT,
                    "the file does not begin as a .npy file does (\\x93NUMPY)"));
  if (start[6] < 1 || start[6] > 3)
    SR_TRY(fail_npy(ctx, array->file, SR_ERROR_UNSUPPORTED, "the .npy version is not 1, 2 or 3"));
  size_t width = start[6] == 1 ? 2 : 4, length = 0;
  SR_TRY(sr__source_read(ctx, source, start, width, &got));
  for (size_t i = got == width ? width : 0; i > 0; i--) length = length << 8 | start[i - 1];
  if (length == 0 || length > LONGEST_HEADER)
    SR_TRY(fail_npy(ctx, array->file, SR_ERROR_FORMAT, "the length of the header is damaged"));
  SR_NEW_ZERO(ctx, header, (int64_t)length + 1);
  SR_TRY(sr__source_read(ctx, source, header, length, &got));
  if (got < length)
    SR_TRY(fail_npy(ctx, array->file, SR_ERROR_FORMAT, "the file ends inside its header"));
  const char *order = value_of(header, "'fortran_order'");
  if (!order || (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0))
    SR_TRY(fail_npy(ctx, array->file, SR_ERROR_FORMAT, "the header has no fortran_order"));
  array->columns_first = *order == 'T';
  SR_TRY(parse_type(ctx, array, value_of(header, "'descr'")));
  SR_TRY(parse_shape(ctx, array, value_of(header, "'shape'")));
cleanup:
  sr__free(ctx, header);
  return status;
}

/* ---- items -------------------------------------------------------------------------------- */

static uint64_t load(const unsigned char *bytes, int size, bool swapped) {
  uint64_t value = 0;
  bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != swapped;
  for (int i = 0; i < size; i++) value = value << 8 | bytes[little ? size - 1 - i : i];
  return value;
}

static double item_value(const npy_array *array, const unsigned char *bytes) {
  uint64_t bits = load(bytes, array->size, array->swapped);
  if (array->kind == 'f' && array->size == 4) {
    uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, sizeof value);
    return (double)value;
  }
  if (array->kind == 'f') {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  if (array->kind == 'b') return bits != 0;
  if (array->kind == 'u') return (double)bits;
  int unused = 64 - 8 * array->size;
  return (double)((int64_t)(bits << unused) >> unused);
}

static sr_status store_item(sr_context *ctx, const npy_array *array, int64_t item,
                            const unsigned char *bytes, float *x) {
  double value = item_value(array, bytes);
  int64_t row = array->columns_first ? item % array->rows : item / array->columns;
  int64_t column = array->columns_first ? item / array->rows : item % array->columns;
  float kept = (float)value;
  x[column * array->rows + row] = kept;
  if (isinf(kept) && !isinf(value))
    return sr__fail_at(ctx, SR_ERROR_DATA, array->file, row + 1, column + 1,
                       "row %lld, column %lld is %g, beyond the largest number that is kept, "
                       "3.4e38; rescale the column",
                       (long long)row + 1, (long long)column + 1, value);
  return SR_OK;
}

/* Items are read into a buffer that grows with the file, so that a damaged shape cannot ask for
 * more memory than there are bytes. */
static sr_status read_items(sr_context *ctx, sr__source *source, const npy_array *array,
                            unsigned char **items) {
  sr_status status = SR_OK;
  size_t wanted = (size_t)array->rows * (size_t)array->columns * (size_t)array->size;
  size_t used = 0, got = 0;
  int64_t capacity = 0;
  for (;;) {
    size_t step = wanted + 1 - used < BLOCK_BYTES ? wanted + 1 - used : BLOCK_BYTES;
    SR_GROW(ctx, *items, capacity, (int64_t)(used + step));
    SR_TRY(sr__source_read(ctx, source, *items + used, step, &got));
    used += got;
    if (got < step || used > wanted) break;
  }
  if (used != wanted)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, array->file, 0, 0,
                       "the file holds %s %zu bytes of data, its shape (%lld, %lld) needs %zu; was "
                       "it cut off?",
                       used > wanted ? "more than" : "only", used > wanted ? wanted : used,
                       (long long)array->rows, (long long)array->columns, wanted));
cleanup:
  return status;
}

sr_status sr__read_npy(sr_context *ctx, sr__source *source, const sr_read_options *options,
                       sr_table **table) {
  sr_status status = SR_OK;
  npy_array array = {.file = sr__source_name(source)};
  unsigned char *items = NULL;
  float *x = NULL;
  sr_table_view view = {0};
  *table = NULL;
  SR_TRY(sr__refuse_roles(ctx, array.file, "npy", options));
  SR_TRY(read_header(ctx, source, &array));
  SR_TRY(read_items(ctx, source, &array, &items));
  int64_t count = array.rows * array.columns;
  SR_NEW(ctx, x, count);
  view = (sr_table_view){.rows = array.rows, .features = array.columns, .x = x};
  for (int64_t item = 0; item < count; item++)
    SR_TRY(store_item(ctx, &array, item, items + item * array.size, x));
  SR_TRY(sr__table_adopt(ctx, &view, table));
cleanup:
  sr__table_view_free(ctx, &view);
  sr__free(ctx, items);
  return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Version 1.0; the matrix is kept in its own order, which NumPy calls Fortran's. */
sr_status sr__write_npy(sr_context *ctx, const sr_table_view *t, const char *path) {
  enum { ALIGNMENT = 64, PREAMBLE = 10 };
  sr_status status = SR_OK;
  sr__packed_file *file = NULL;
  char header[256] = "\x93NUMPY\x01";
  int used = snprintf(header + PREAMBLE, sizeof header - PREAMBLE,
                      "{'descr': '%cf4', 'fortran_order': True, 'shape': (%lld, %lld), }",
                      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>', (long long)t->rows,
                      (long long)t->features);
  int total = (PREAMBLE + used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  memset(header + PREAMBLE + used, ' ', (size_t)(total - PREAMBLE - used));
  header[total - 1] = '\n';
  header[8] = (char)((total - PREAMBLE) & 0xff);
  header[9] = (char)((total - PREAMBLE) >> 8);
  SR_TRY(sr__packed_file_open(ctx, path, &file));
  SR_TRY(sr__packed_file_put(ctx, file, header, (size_t)total));
  SR_TRY(sr__packed_file_put(ctx, file, t->x, (size_t)(t->rows * t->features) * sizeof *t->x));
  SR_TRY(sr__packed_file_commit(ctx, &file));
cleanup:
  sr__packed_file_abort(ctx, &file);
  return status;
}
