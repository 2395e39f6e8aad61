/* Weka's attribute-relation files: a header that declares the columns, then delimited text.
 * Nominal, numeric, string and date attributes are read; sparse data and relational attributes are
 * refused. */
#include <ctype.h>
#include <strings.h>

#include "csv.h"
#include "format.h"

/* The kind an attribute was declared with. */
typedef enum attribute_kind { ATTRIBUTE_NUMBER, ATTRIBUTE_TEXT, ATTRIBUTE_NOMINAL } attribute_kind;

typedef struct arff {
  sr__csv_layout layout;
  attribute_kind *kinds;
  int64_t capacity, kind_capacity;
  int64_t line;
} arff;

static sr_status fail_header(sr_context *ctx, const arff *file, const char *what) {
  return sr__fail_at(ctx, SR_ERROR_FORMAT, file->layout.file, file->line, 0, "%s", what);
}

static char *skip_blanks(char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
}

/* A word or quoted text at *at, unescaped in place; stops at blanks and at any of `stops`. */
static bool take_word(char **at, const char *stops, char **word, size_t *length) {
  char *p = skip_blanks(*at), quote = *p == '\'' || *p == '"' ? *p : 0;
  *word = quote ? ++p : p;
  char *to = p;
  for (; *p; p++) {
    bool doubled = quote && *p == quote && p[1] == quote;
    if (!doubled && (quote ? *p == quote : isblank((unsigned char)*p) || strchr(stops, *p))) break;
    if (doubled || (quote && *p == '\\' && p[1])) p++;
    *to++ = *p;
  }
  *length = (size_t)(to - *word);
  if (quote && *p != quote) return false;
  *at = quote ? p + 1 : p;
  return quote || *length > 0;
}

/* ---- attributes --------------------------------------------------------------------------- */

static sr_status read_nominal(sr_context *ctx, arff *file, char *at, sr__csv_column *column) {
  sr_status status = SR_OK;
  for (at++;;) {
    char *word;
    size_t length;
    int32_t code;
    if (!take_word(&at, ",}", &word, &length))
      SR_TRY(fail_header(ctx, file, "expected a list of values such as {a,b,'c d'}"));
    int64_t before = column->names.count;
    SR_TRY(sr__names_add(ctx, &column->names, word, length, file->line, &code));
    if (column->names.count == before)
      SR_TRY(fail_header(ctx, file, "a value stands twice in the list of this attribute"));
    at = skip_blanks(at);
    if (*at == '}') break;
    if (*at++ != ',') SR_TRY(fail_header(ctx, file, "expected ',' or '}' in the list of values"));
  }
  column->closed = column->keep_order = true;
cleanup:
  return status;
}

static sr_status read_type(sr_context *ctx, arff *file, char *at, sr__csv_column *column,
                           attribute_kind *kind) {
  at = skip_blanks(at);
  if (*at == '{') {
    *kind = ATTRIBUTE_NOMINAL;
    return read_nominal(ctx, file, at, column);
  }
  char *word;
  size_t length;
  if (!take_word(&at, "", &word, &length)) length = 0;
  *kind = ATTRIBUTE_NUMBER;
  if ((length == 7 && strncasecmp(word, "numeric", 7) == 0) ||
      (length == 7 && strncasecmp(word, "integer", 7) == 0) ||
      (length == 4 && strncasecmp(word, "real", 4) == 0))
    return SR_OK;
  *kind = ATTRIBUTE_TEXT;
  if ((length == 6 && strncasecmp(word, "string", 6) == 0) ||
      (length == 4 && strncasecmp(word, "date", 4) == 0))
    return SR_OK;
  return sr__fail_at(ctx,
                     length == 10 && strncasecmp(word, "relational", 10) == 0 ? SR_ERROR_UNSUPPORTED
                                                                              : SR_ERROR_FORMAT,
                     file->layout.file, file->line, 0,
                     "attribute '%s' has the type '%.*s', expected numeric, real, integer, string, "
                     "date or {a,b,...}",
                     column->name, (int)(length < 40 ? length : 40), word);
}

static sr_status read_attribute(sr_context *ctx, arff *file, char *at) {
  sr_status status = SR_OK;
  sr__csv_layout *layout = &file->layout;
  char *word;
  size_t length;
  if (!take_word(&at, "{", &word, &length))
    SR_TRY(fail_header(ctx, file, "expected @attribute NAME TYPE"));
  SR_GROW(ctx, layout->columns, file->capacity, layout->count + 1);
  SR_GROW(ctx, file->kinds, file->kind_capacity, layout->count + 1);
  sr__csv_column *column = &layout->columns[layout->count];
  *column = (sr__csv_column){0};
  char *name = sr__arena_alloc(ctx, &layout->arena, (int64_t)length + 1, 1);
  if (!name) SR_TRY(SR_ERROR_MEMORY);
  memcpy(name, word, length);
  name[length] = '\0';
  column->name = name;
  SR_TRY(read_type(ctx, file, at, column, &file->kinds[layout->count++]));
cleanup:
  return status;
}

static bool is_keyword(const char *line, const char *keyword) {
  size_t length = strlen(keyword);
  return strncasecmp(line, keyword, length) == 0 &&
         (line[length] == '\0' || isspace((unsigned char)line[length]));
}

static sr_status read_header(sr_context *ctx, arff *file, sr__lines *lines) {
  sr_status status = SR_OK;
  for (;;) {
    char *line;
    size_t length;
    SR_TRY(sr__lines_next(ctx, lines, &line, &length));
    file->line = lines->number;
    if (!line) SR_TRY(fail_header(ctx, file, "the file ends before @data"));
    if (file->line == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0) line += 3;
    line = skip_blanks(line);
    if (*line == '\0' || *line == '%' || is_keyword(line, "@relation")) continue;
    if (is_keyword(line, "@data")) break;
    if (!is_keyword(line, "@attribute"))
      SR_TRY(fail_header(ctx, file, "expected @relation, @attribute, @data or a % comment"));
    SR_TRY(read_attribute(ctx, file, line + strlen("@attribute")));
  }
  if (file->layout.count == 0)
    SR_TRY(fail_header(ctx, file, "there is no @attribute before @data"));
cleanup:
  return status;
}

/* ---- roles -------------------------------------------------------------------------------- */

static sr_status decide_kind(sr_context *ctx, const arff *file, attribute_kind declared,
                             sr__csv_column *column) {
  bool number = declared == ATTRIBUTE_NUMBER;
  sr__csv_set_kind(column, !number, !number || column->role.categorical);
  if (number || (column->role.role != SR_ROLE_COORDINATE && column->role.role != SR_ROLE_WEIGHT))
    return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_DATA, file->layout.file, 0, 0,
                     "attribute '%s' is not numeric, as coordinates and weights must be",
                     column->name);
}

static sr_status decide_columns(sr_context *ctx, const sr_read_options *options, arff *file) {
  sr_status status = SR_OK;
  sr__csv_layout *layout = &file->layout;
  SR_TRY(sr__csv_assign_roles(ctx, options, layout));
  for (int64_t j = 0; j < layout->count; j++)
    SR_TRY(decide_kind(ctx, file, file->kinds[j], &layout->columns[j]));
  sr__csv_place_columns(layout);
cleanup:
  return status;
}

static sr_status read_arff(sr_context *ctx, sr__source *source, const sr_read_options *options,
                           sr_table **table) {
  sr_status status = SR_OK;
  arff file = {.layout = {.file = sr__source_name(source),
                          .dialect = {.separator = ',', .arff = true},
                          .declared = true}};
  sr__lines lines = {.source = source};
  *table = NULL;
  SR_TRY(read_header(ctx, &file, &lines));
  file.layout.line = lines.number;
  SR_TRY(sr__lines_return(ctx, &lines));
  SR_TRY(decide_columns(ctx, options, &file));
  SR_TRY(sr__csv_read_data(ctx, source, &file.layout, table));
cleanup:
  sr__lines_free(ctx, &lines);
  sr__free(ctx, file.kinds);
  sr__csv_layout_free(ctx, &file.layout);
  return status;
}

static sr__recognition recognize(const sr__beginning *beginning) {
  return sr__begins_with_word(beginning, "@relation") ? SR__LIKELY : SR__NOT_RECOGNIZED;
}

const sr__format sr__format_arff = {.about = {"arff", "Weka's attribute-relation files", NULL, 0,
                                              NULL},
                                    SR__ENDINGS_1(".arff"),
                                    .recognize = recognize,
                                    .read = read_arff,
                                    .is_text = true};
