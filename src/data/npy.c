#include "npy.h"

#include <ctype.h>
#include <stdlib.h>

enum { LONGEST_HEADER = 1 << 16 };

static sr_status fail_npy(sr_context *ctx, const char *file, sr_status status, const char *what) {
  return sr__fail_at(ctx, status, file, 0, 0, "%s", what);
}

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

static sr_status parse_type(sr_context *ctx, const char *file, const char *text, sr__npy *array) {
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
  return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, file, 0, 0,
                     "the items are of type %.*s, expected f4, f8, i1 to i8, u1 to u8 or b1; "
                     "convert with numpy.ndarray.astype('f4')",
                     text ? (int)(strcspn(text, ",}\n") < 40 ? strcspn(text, ",}\n") : 40) : 7,
                     text ? text : "unknown");
}

static sr_status parse_shape(sr_context *ctx, const char *file, const char *text, sr__npy *array) {
  int64_t sizes[2] = {1, 1};
  int count = 0;
  if (!text || *text++ != '(')
    return fail_npy(ctx, file, SR_ERROR_FORMAT, "the header has no shape such as (100, 3)");
  for (;;) {
    while (*text == ' ' || *text == ',') text++;
    if (*text == ')') break;
    char *end;
    long long size = strtoll(text, &end, 10);
    if (end == text || size < 0)
      return fail_npy(ctx, file, SR_ERROR_FORMAT,
                      "the shape in the header is damaged, expected one such as (100, 3)");
    if (*end == 'L') end++; /* Python 2 */
    if (count == 2)
      return fail_npy(ctx, file, SR_ERROR_UNSUPPORTED,
                      "the array has more than two dimensions; reshape it to rows x features");
    sizes[count++] = size;
    text = end;
  }
  if (count == 0)
    return fail_npy(ctx, file, SR_ERROR_UNSUPPORTED,
                    "the array is a single number, expected rows x features");
  array->rows = sizes[0];
  array->columns = sizes[1];
  size_t bytes;
  if (array->rows == 0 || array->columns == 0)
    return fail_npy(ctx, file, SR_ERROR_DATA, "the array is empty");
  if (array->rows > INT32_MAX ||
      !sr__size_multiply((size_t)array->rows, (size_t)array->columns, &bytes) ||
      !sr__size_multiply(bytes, 8, &bytes) || bytes > PTRDIFF_MAX)
    return fail_npy(ctx, file, SR_ERROR_OVERFLOW, "the array is too large for a table");
  return SR_OK;
}

sr_status sr__npy_read_header(sr_context *ctx, sr__source *source, sr__npy *array) {
  sr_status status = SR_OK;
  const char *file = sr__source_name(source);
  unsigned char start[12];
  size_t got;
  char *header = NULL;
  SR_TRY(sr__source_read(ctx, source, start, 8, &got));
  if (got < 8 || memcmp(start, "\x93NUMPY", 6) != 0)
    SR_TRY(fail_npy(ctx, file, SR_ERROR_FORMAT,
                    "the file does not begin as a .npy file does (\\x93NUMPY)"));
  if (start[6] < 1 || start[6] > 3)
    SR_TRY(fail_npy(ctx, file, SR_ERROR_UNSUPPORTED, "the .npy version is not 1, 2 or 3"));
  size_t width = start[6] == 1 ? 2 : 4, length = 0;
  SR_TRY(sr__source_read(ctx, source, start, width, &got));
  for (size_t i = got == width ? width : 0; i > 0; i--) length = length << 8 | start[i - 1];
  if (length == 0 || length > LONGEST_HEADER)
    SR_TRY(fail_npy(ctx, file, SR_ERROR_FORMAT, "the length of the header is damaged"));
  SR_NEW_ZERO(ctx, header, (int64_t)length + 1);
  SR_TRY(sr__source_read(ctx, source, header, length, &got));
  if (got < length) SR_TRY(fail_npy(ctx, file, SR_ERROR_FORMAT, "the file ends inside its header"));
  const char *order = value_of(header, "'fortran_order'");
  if (!order || (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0))
    SR_TRY(fail_npy(ctx, file, SR_ERROR_FORMAT, "the header has no fortran_order"));
  array->columns_first = *order == 'T';
  SR_TRY(parse_type(ctx, file, value_of(header, "'descr'"), array));
  SR_TRY(parse_shape(ctx, file, value_of(header, "'shape'"), array));
cleanup:
  sr__free(ctx, header);
  return status;
}

static uint64_t load(const unsigned char *bytes, int size, bool swapped) {
  uint64_t value = 0;
  bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != swapped;
  for (int i = 0; i < size; i++) value = value << 8 | bytes[little ? size - 1 - i : i];
  return value;
}

int64_t sr__npy_integer(const sr__npy *array, const unsigned char *item) {
  uint64_t bits = load(item, array->size, array->swapped);
  if (array->kind == 'b') return bits != 0;
  if (array->kind == 'u') return (int64_t)bits;
  int unused = 64 - 8 * array->size;
  return (int64_t)(bits << unused) >> unused;
}

double sr__npy_real(const sr__npy *array, const unsigned char *item) {
  uint64_t bits = load(item, array->size, array->swapped);
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
  if (array->kind == 'u') return (double)bits;
  return (double)sr__npy_integer(array, item);
}

/* ---- writing -------- */

size_t sr__npy_print_header(const sr__npy *array, char header[SR__NPY_HEADER_BYTES]) {
  enum { ALIGNMENT = 64, PREAMBLE = 10 };
  const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  memset(header, ' ', SR__NPY_HEADER_BYTES);
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  int used = snprintf(header + PREAMBLE, SR__NPY_HEADER_BYTES - PREAMBLE,
                      "{'descr': '%c%c%d', 'fortran_order': %s, 'shape': (%lld, %lld), }",
                      array->size == 1 ? '|'
                      : little         ? '<'
                                       : '>',
                      array->kind, array->size, array->columns_first ? "True" : "False",
                      (long long)array->rows, (long long)array->columns);
  size_t total = ((size_t)(PREAMBLE + used + 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  header[PREAMBLE + used] = ' '; /* snprintf's zero */
  header[total - 1] = '\n';
  header[8] = (char)((total - PREAMBLE) & 0xff);
  header[9] = (char)((total - PREAMBLE) >> 8);
  return total;
}
