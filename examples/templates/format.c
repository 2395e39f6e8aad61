/* Copy me to src/data/format/NAME.c, rename `blanks` to NAME, and add SR_ENTRY(NAME) to
 * src/data/format/methods.def, a test that names it and a page docs/methods/format-NAME.md.
 *
 * This one has a row per line: its class, then as many numbers as the first line, with single
 * blanks between them. "nan" is a missing number. */
#include "format.h"

#include <math.h>
#include <stdlib.h>

#include "data/column_roles.h"
#include "data/names.h"
#include "data/row_text.h"

typedef struct blank_rows {
  const char *file;
  int64_t rows, features, value_capacity, label_capacity;
  float *value;   /* row by row */
  int32_t *label; /* in the order in which classes were seen */
  sr__names classes;
} blank_rows;

/* Every error names file, line, column, what was found and what was expected. */
static sr_status read_row(sr_context *ctx, blank_rows *read, const char *line, int64_t number) {
  sr_status status = SR_OK;
  size_t class_length = strcspn(line, " ");
  const char *at = line + class_length;
  int64_t count = 0;
  SR_GROW(ctx, read->label, read->label_capacity, read->rows + 1);
  SR_TRY(sr__names_add(ctx, &read->classes, line, class_length, number, &read->label[read->rows]));
  while (*at == ' ') {
    char *end;
    float value = strtof(++at, &end);
    if (end == at || (*end != ' ' && *end != '\0'))
      SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, read->file, number, at - line + 1,
                         "found '%.*s', expected a number", (int)strcspn(at, " "), at));
    SR_GROW(ctx, read->value, read->value_capacity, read->rows * read->features + count + 1);
    read->value[read->rows * read->features + count++] = value;
    at = end;
  }
  if (read->rows == 0) read->features = count;
  if (count != read->features)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, read->file, number, 1,
                       "the line has %lld numbers, expected %lld as in the first line",
                       (long long)count, (long long)read->features));
  read->rows++;
cleanup:
  return status;
}

/* Each array of the view is an allocation of its own, which the table takes over. */
static sr_status fill_view(sr_context *ctx, blank_rows *read, sr_table_view *view) {
  sr_status status = SR_OK;
  int32_t *rank = NULL;
  float *x = NULL;
  view->rows = read->rows;
  view->features = read->features;
  SR_NEW(ctx, x, view->rows * view->features);
  view->x = x;
  for (int64_t i = 0; i < view->rows; i++)
    for (int64_t j = 0; j < view->features; j++)
      x[j * view->rows + i] = read->value[i * view->features + j];
  SR_NEW(ctx, rank, read->classes.count);
  SR_TRY(sr__names_sort_classes(ctx, &read->classes, rank, &view->classes));
  for (int64_t i = 0; i < view->rows; i++) read->label[i] = rank[read->label[i]];
  SR_COPY_ARRAY(ctx, view->label, read->label, view->rows);
cleanup:
  sr__free(ctx, rank);
  return status;
}

static sr_status read_blanks(sr_context *ctx, sr__source *source, const sr_read_options *options,
                             sr_table **table) {
  sr_status status = SR_OK;
  blank_rows read = {.file = sr__source_name(source)};
  sr__lines lines = {.source = source};
  sr_table_view view = {0};
  *table = NULL;
  SR_TRY(sr__refuse_roles(ctx, read.file, "blanks", options));
  for (;;) {
    char *line;
    size_t length;
    SR_TRY(sr__lines_next(ctx, &lines, &line, &length));
    if (!line) break;
    if (length) SR_TRY(read_row(ctx, &read, line, lines.number));
  }
  if (read.rows == 0)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, read.file, 0, 0, "the file has no rows"));
  SR_TRY(fill_view(ctx, &read, &view));
  SR_TRY(sr__table_adopt(ctx, &view, table));
cleanup:
  sr__table_view_free(ctx, &view);
  sr__lines_free(ctx, &lines);
  sr__names_free(ctx, &read.classes);
  sr__free(ctx, read.value);
  sr__free(ctx, read.label);
  return status;
}

/* ---- writing -------------------------------------------------------------------------------- */

static sr_status put_rows(sr_context *ctx, const void *from, char separator, int64_t begin,
                          int64_t end, sr__text *text) {
  sr_status status = SR_OK;
  const sr_table_view *t = from;
  for (int64_t i = begin; i < end; i++) {
    SR_TRY(sr__text_string(ctx, text, t->classes.names[t->label[i]]));
    for (int64_t j = 0; j < t->features; j++) {
      float value = t->x[j * t->rows + i];
      SR_TRY(sr__put_char(ctx, text, separator));
      if (isnan(value))
        SR_TRY(sr__text_string(ctx, text, "nan"));
      else
        SR_TRY(sr__put_float(ctx, text, value));
    }
    SR_TRY(sr__put_char(ctx, text, '\n'));
  }
cleanup:
  return status;
}

/* What the format cannot hold is refused before a file is opened. */
static sr_status write_blanks(sr_context *ctx, const sr_table_view *t, const char *path) {
  for (int64_t i = 0; i < t->rows; i++)
    if (!t->label || t->label[i] < 0)
      return sr__fail(ctx, SR_ERROR_UNSUPPORTED, "row %lld has no class; write csv instead",
                      (long long)i + 1);
  for (int32_t c = 0; c < t->classes.count; c++)
    if (strpbrk(t->classes.names[c], " \n"))
      return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                      "the class '%s' has a blank or a line end; write csv instead",
                      t->classes.names[c]);
  return sr__write_rows(ctx, path, &(sr__text){0}, (sr__written_rows){put_rows, t, t->rows, ' '});
}

const sr__format sr__format_blanks = {
    .about = {"blanks", "a class and numbers per line, with blanks between them", NULL, 0, NULL},
    SR__ENDINGS_1(".blanks"),
    .read = read_blanks,
    .write = write_blanks,
    .is_text = true,
};
