/* LIBSVM's sparse rows (label index:value ...) as a dense table; what a row does not name is 0. */
#include <math.h>
#include <stdlib.h>

#include "data/column_roles.h"
#include "data/parse_number.h"
#include "data/row_text.h"
#include "format.h"

typedef struct sparse_rows {
  const char *file;
  int64_t rows;
  int64_t *start; /* of each row among the entries, and the end */
  int32_t *label;
  int64_t start_capacity, label_capacity;
  int64_t entries;
  int64_t *index;
  float *value;
  int64_t index_capacity, value_capacity;
  int64_t lowest, highest; /* index seen */
  sr__names classes;
} sparse_rows;

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static sr_status fail_entry(sr_context *ctx, const sparse_rows *sparse, int64_t line,
                            int64_t column, const char *at) {
  int length = (int)strcspn(at, " \t");
  return sr__fail_at(ctx, SR_ERROR_FORMAT, sparse->file, line, column,
                     "found '%.*s', expected index:value such as 3:0.5", length < 40 ? length : 40,
                     at);
}

static sr_status add_entry(sr_context *ctx, sparse_rows *sparse, int64_t index, float value) {
  sr_status status = SR_OK;
  SR_GROW(ctx, sparse->index, sparse->index_capacity, sparse->entries + 1);
  SR_GROW(ctx, sparse->value, sparse->value_capacity, sparse->entries + 1);
  sparse->index[sparse->entries] = index;
  sparse->value[sparse->entries++] = value;
  if (index < sparse->lowest) sparse->lowest = index;
  if (index > sparse->highest) sparse->highest = index;
cleanup:
  return status;
}

/* The entries after the label. Ranking files carry qid:7 before them, which is no feature. */
static sr_status read_entries(sr_context *ctx, sparse_rows *sparse, int64_t line, const char *start,
                              const char *at) {
  sr_status status = SR_OK;
  int64_t before = -1;
  for (;;) {
    while (is_blank(*at)) at++;
    if (*at == '\0') break;
    int64_t column = at - start + 1;
    if (strncmp(at, "qid:", 4) == 0) {
      at += strcspn(at, " \t");
      continue;
    }
    char *colon;
    long long index = strtoll(at, &colon, 10);
    if (colon == at || *colon != ':' || index < 0 || index > INT32_MAX - 2)
      SR_TRY(fail_entry(ctx, sparse, line, column, at));
    if (index <= before)
      SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, sparse->file, line, column,
                         "index %lld stands after %lld; expected indices that increase", index,
                         (long long)before));
    float value;
    const char *next = sr__parse_float(colon + 1, &value);
    if (!next || !(is_blank(*next) || *next == '\0')) {
      size_t length = strcspn(colon + 1, " \t");
      next = colon + 1 + length;
      if (!sr__whole_float(colon + 1, length, &value))
        SR_TRY(fail_entry(ctx, sparse, line, column, at));
    } else if (isinf(value)) {
      SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, sparse->file, line, column,
                         "the value of index %lld is beyond the largest that is kept, 3.4e38",
                         index));
    }
    SR_TRY(add_entry(ctx, sparse, index, value));
    before = index;
    at = next;
  }
cleanup:
  return status;
}

static sr_status read_row(sr_context *ctx, sparse_rows *sparse, int64_t line, char *text) {
  sr_status status = SR_OK;
  char *at = text;
  while (is_blank(*at)) at++;
  char *comment = strchr(at, '#');
  if (comment) *comment = '\0';
  if (*at == '\0') return SR_OK;
  size_t length = strcspn(at, " \t");
  if (memchr(at, ':', length))
    SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, sparse->file, line, 1,
                       "the line begins with '%.*s', expected a class label first",
                       (int)(length < 40 ? length : 40), at));
  SR_GROW(ctx, sparse->start, sparse->start_capacity, sparse->rows + 2);
  SR_GROW(ctx, sparse->label, sparse->label_capacity, sparse->rows + 1);
  SR_TRY(sr__names_add(ctx, &sparse->classes, at, length, line, &sparse->label[sparse->rows]));
  sparse->start[sparse->rows++] = sparse->entries;
  SR_TRY(read_entries(ctx, sparse, line, text, at + length));
  sparse->start[sparse->rows] = sparse->entries;
cleanup:
  return status;
}

static sr_status read_rows(sr_context *ctx, sr__lines *lines, sparse_rows *sparse) {
  sr_status status = SR_OK;
  for (;;) {
    char *line;
    size_t length;
    SR_TRY(sr__lines_next(ctx, lines, &line, &length));
    if (!line) break;
    if (lines->number == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0) line += 3;
    SR_TRY(read_row(ctx, sparse, lines->number, line));
  }
  if (sparse->rows == 0 || sparse->rows > INT32_MAX)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, sparse->file, 0, 0,
                       "the file has %lld rows, expected 1 to %d", (long long)sparse->rows,
                       INT32_MAX));
cleanup:
  return status;
}

/* One far index must not ask for memory without bound. */
static sr_status check_size(sr_context *ctx, const sparse_rows *sparse, int64_t features) {
  enum { ALWAYS_FINE = 1 << 20, SPARSEST = 1000 };
  if (features <= ALWAYS_FINE / sparse->rows) return SR_OK;
  if ((double)features * (double)sparse->rows <= SPARSEST * (double)sparse->entries) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, sparse->file, 0, 0,
                     "%lld rows with indices up to %lld and only %lld values are too sparse for a "
                     "dense table; keep fewer columns",
                     (long long)sparse->rows, (long long)sparse->highest,
                     (long long)sparse->entries);
}

static sr_status name_features(sr_context *ctx, int64_t first, sr_table_view *view) {
  enum { NAME_BYTES = 24 };
  sr_status status = SR_OK;
  char *text = NULL;
  const char **names = NULL;
  SR_NEW(ctx, text, view->features * NAME_BYTES);
  SR_NEW(ctx, names, view->features);
  for (int64_t j = 0; j < view->features; j++) {
    names[j] = text + j * NAME_BYTES;
    snprintf(text + j * NAME_BYTES, NAME_BYTES, "x%lld", (long long)(first + j));
  }
  SR_TRY(sr__copy_names(ctx, names, view->features, &view->feature_names));
cleanup:
  sr__free(ctx, names);
  sr__free(ctx, text);
  return status;
}

static sr_status make_dense(sr_context *ctx, sparse_rows *sparse, sr_table_view *view) {
  sr_status status = SR_OK;
  int32_t *rank = NULL;
  float *x = NULL;
  /* Indices count from 1, unless the file has a 0. */
  int64_t first = sparse->lowest == 0 ? 0 : 1;
  view->rows = sparse->rows;
  view->features = sparse->entries ? sparse->highest - first + 1 : 0;
  SR_TRY(check_size(ctx, sparse, view->features));
  SR_TRY(sr__check_classes(ctx, sparse->file, "label", &sparse->classes, sparse->rows, false));
  SR_NEW_ZERO(ctx, x, view->rows * view->features);
  view->x = x;
  for (int64_t i = 0; i < sparse->rows; i++) {
    for (int64_t e = sparse->start[i]; e < sparse->start[i + 1]; e++)
      x[(sparse->index[e] - first) * view->rows + i] = sparse->value[e];
  }
  SR_TRY(name_features(ctx, first, view));
  SR_NEW(ctx, rank, sparse->classes.count);
  SR_TRY(sr__names_sort_classes(ctx, &sparse->classes, rank, &view->classes));
  for (int64_t i = 0; i < sparse->rows; i++) sparse->label[i] = rank[sparse->label[i]];
  SR_COPY_ARRAY(ctx, view->label, sparse->label, sparse->rows);
  view->target_name = sr__strdup(ctx, "label");
  if (!view->target_name) SR_TRY(SR_ERROR_MEMORY);
cleanup:
  sr__free(ctx, rank);
  return status;
}

static sr_status read_libsvm(sr_context *ctx, sr__source *source, const sr_read_options *options,
                             sr_table **table) {
  sr_status status = SR_OK;
  sparse_rows sparse = {.file = sr__source_name(source), .lowest = INT64_MAX};
  sr__lines lines = {.source = source};
  sr_table_view view = {0};
  *table = NULL;
  SR_TRY(sr__refuse_roles(ctx, sparse.file, "libsvm", options));
  SR_TRY(read_rows(ctx, &lines, &sparse));
  SR_TRY(make_dense(ctx, &sparse, &view));
  SR_TRY(sr__table_adopt(ctx, &view, table));
cleanup:
  sr__table_view_free(ctx, &view);
  sr__lines_free(ctx, &lines);
  sr__free(ctx, sparse.start);
  sr__free(ctx, sparse.label);
  sr__free(ctx, sparse.index);
  sr__free(ctx, sparse.value);
  sr__names_free(ctx, &sparse.classes);
  return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

static sr_status libsvm_rows(sr_context *ctx, const void *from, char separator, int64_t begin,
                             int64_t end, sr__text *text) {
  (void)separator;
  sr_status status = SR_OK;
  const sr_table_view *t = from;
  for (int64_t i = begin; i < end; i++) {
    if (t->value)
      SR_TRY(sr__put_double(ctx, text, t->value[i]));
    else
      SR_TRY(sr__text_string(ctx, text, t->label ? t->classes.names[t->label[i]] : "0"));
    for (int64_t j = 0; j < t->features; j++) {
      float value = t->x[j * t->rows + i];
      if (value == 0) continue;
      SR_TRY(sr__text_reserve(ctx, text, 32));
      text->length += snprintf(text->bytes + text->length, 32, " %lld:", (long long)j + 1);
      SR_TRY(sr__put_float(ctx, text, value));
    }
    SR_TRY(sr__put_char(ctx, text, '\n'));
  }
cleanup:
  return status;
}

static sr_status write_libsvm(sr_context *ctx, const sr_table_view *t, const char *path) {
  for (int64_t c = 0; c < t->classes.count; c++) {
    const char *name = t->classes.names[c];
    if (!*name || name[strcspn(name, " \t\r\n#:")])
      return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                      "libsvm cannot hold the class '%s'; write csv instead", name);
  }
  for (int64_t j = 0; j < t->features; j++) {
    if (sr__categories_of(t, j).count)
      return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                      "libsvm cannot hold the categories of feature %lld; write csv instead",
                      (long long)j + 1);
  }
  for (int64_t i = 0; i < t->rows * t->features; i++) {
    if (isnan(t->x[i]) || (t->label && i < t->rows && t->label[i] < 0) ||
        (t->value && i < t->rows && isnan(t->value[i])))
      return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                      "libsvm cannot hold the missing value in row %lld; write csv instead",
                      (long long)(i % t->rows) + 1);
  }
  return sr__write_rows(ctx, path, &(sr__text){0},
                        (sr__written_rows){libsvm_rows, t, t->rows, ' '});
}

const sr__format sr__format_libsvm = {.about = {"libsvm", "LIBSVM's sparse rows, class first", NULL,
                                                0, NULL},
                                      SR__ENDINGS_3(".libsvm", ".svm", ".svmlight"),
                                      .read = read_libsvm,
                                      .write = write_libsvm,
                                      .is_text = true};
