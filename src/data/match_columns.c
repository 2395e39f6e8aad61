#include "match_columns.h"

#include <math.h>
#include <stdlib.h>

#include "names.h"
#include "parse_number.h"
#include "print_number.h"
#include "series_columns.h"

/* ---- which column ------------------------------------------------------------------------- */

static sr_status fail_absent(sr_context *ctx, const char *name) {
  return sr__fail(ctx, SR_ERROR_DATA,
                  "column '%s', on which the model was trained, is not in the data", name);
}

/* Names that occur more than once, in the schema or in the table, tell nothing: then the columns
 * must agree one by one. */
static bool same_order(const sr_table_view *schema, const sr_table_view *table) {
  if (schema->features != table->features) return false;
  for (int64_t j = 0; j < schema->features; j++) {
    if (strcmp(schema->feature_names[j], table->feature_names[j]) != 0) return false;
  }
  return true;
}

static sr_status find_by_name(sr_context *ctx, const sr_table_view *schema,
                              const sr_table_view *table, int64_t *source) {
  sr_status status = SR_OK;
  sr__names names = {0};
  int64_t *first = NULL;
  bool *twice = NULL, *taken = NULL;
  int32_t code;
  SR_NEW(ctx, first, table->features);
  SR_NEW_ZERO(ctx, twice, table->features);
  SR_NEW_ZERO(ctx, taken, table->features);
  for (int64_t j = 0; j < table->features; j++) {
    int64_t before = names.count;
    SR_TRY(sr__names_add(ctx, &names, table->feature_names[j], strlen(table->feature_names[j]), 0,
                         &code));
    if (names.count > before)
      first[code] = j;
    else
      twice[code] = true;
  }
  for (int64_t j = 0; j < schema->features; j++) {
    const char *name = schema->feature_names[j];
    code = sr__names_find(&names, name, strlen(name));
    if (code < 0) SR_TRY(fail_absent(ctx, name));
    if (twice[code])
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                      "several columns of the data are named '%s', so that those of the model "
                      "cannot be told apart; give them in the order of training or rename them",
                      name));
    if (taken[code])
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                      "the model was trained on several columns named '%s', the data have one; "
                      "give all columns in the order of training",
                      name));
    taken[code] = true;
    source[j] = first[code];
  }
cleanup:
  sr__names_free(ctx, &names);
  sr__free(ctx, taken);
  sr__free(ctx, twice);
  sr__free(ctx, first);
  return status;
}

/* Splits "sst:683" at its last colon; false where no number follows one. */
static bool split_step(const char *name, size_t *stem, int64_t *step) {
  const char *colon = strrchr(name, ':');
  char *end = NULL;
  if (!colon || colon[1] < '0' || colon[1] > '9') return false;
  *stem = (size_t)(colon - name);
  *step = strtoll(colon + 1, &end, 10);
  return *end == '\0';
}

/* The same steps of the same variable, all of them so many later or earlier. */
static bool are_moved_steps(const sr_table_view *schema, const sr_table_view *table) {
  int64_t moved = 0;
  for (int64_t j = 0; j < schema->features; j++) {
    const char *a = schema->feature_names[j], *b = table->feature_names[j];
    size_t stem[2];
    int64_t step[2];
    if (!split_step(a, &stem[0], &step[0]) || !split_step(b, &stem[1], &step[1])) return false;
    if (stem[0] != stem[1] || strncmp(a, b, stem[0]) != 0) return false;
    if (j > 0 && step[1] - step[0] != moved) return false;
    moved = step[1] - step[0];
  }
  return true;
}

static sr_status is_none_known(sr_context *ctx, const sr_table_view *schema,
                               const sr_table_view *table, bool *none) {
  sr_status status = SR_OK;
  sr__names names = {0};
  int32_t code;
  *none = true;
  for (int64_t j = 0; j < table->features; j++)
    SR_TRY(sr__names_add(ctx, &names, table->feature_names[j], strlen(table->feature_names[j]), 0,
                         &code));
  for (int64_t j = 0; j < schema->features && *none; j++)
    *none = sr__names_find(&names, schema->feature_names[j], strlen(schema->feature_names[j])) < 0;
cleanup:
  sr__names_free(ctx, &names);
  return status;
}

sr_status sr__match_by_position(sr_context *ctx, const sr_table_view *schema,
                                const sr_table_view *table, bool *by_position) {
  *by_position = false;
  if (!table->cell || !schema->feature_names || !table->feature_names ||
      table->features != schema->features || schema->features == 0 || same_order(schema, table))
    return SR_OK;
  *by_position = are_moved_steps(schema, table);
  return *by_position ? SR_OK : is_none_known(ctx, schema, table, by_position);
}

/* source[j]: the table's column for the schema's feature j. */
static sr_status find_columns(sr_context *ctx, const sr_table_view *schema,
                              const sr_table_view *table, int64_t *source) {
  bool named = schema->feature_names && table->feature_names, by_position = false;
  if (schema->features == 0) return SR_OK;
  sr_status status = sr__match_by_position(ctx, schema, table, &by_position);
  if (status != SR_OK) return status;
  if (named && !by_position && !same_order(schema, table))
    return find_by_name(ctx, schema, table, source);
  if (table->features != schema->features)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the model was trained on %lld features, the data have %lld",
                    (long long)schema->features, (long long)table->features);
  for (int64_t j = 0; j < schema->features; j++) source[j] = j;
  return SR_OK;
}

/* ---- values ------------------------------------------------------------------------------- */

/* A category the model never met is a missing value. */
static void recode(const float *x, int64_t rows, int32_t codes, const int32_t *code, float *to) {
  for (int64_t i = 0; i < rows; i++) {
    int32_t found = x[i] >= 0 && x[i] < (float)codes ? code[(int32_t)x[i]] : -1;
    to[i] = found >= 0 ? (float)found : NAN;
  }
}

/* Said once of a column, with the first of them. */
static void tell_unmet(sr_context *ctx, const char *column, sr_dictionary given,
                       const int32_t *code) {
  int32_t unmet = 0, first = 0;
  for (int32_t c = given.count - 1; c >= 0; c--) {
    if (code[c] >= 0) continue;
    unmet++;
    first = c;
  }
  if (unmet)
    sr__log(ctx, SR_LOG_WARNING, "column '%s': the model never met '%.40s'%s; it counts as missing",
            column, given.names[first], unmet > 1 ? " and others" : "");
}

/* Numbers where the model knows texts: they are looked up as they would be written. */
static sr_status look_up_numbers(sr_context *ctx, const char *column, sr_dictionary known,
                                 const float *x, int64_t rows, float *to) {
  sr_status status = SR_OK;
  sr__names names = {0};
  bool told = false;
  int32_t code;
  for (int32_t c = 0; c < known.count; c++) {
    float value;
    char text[SR_NUMBER_BYTES];
    size_t length = strlen(known.names[c]);
    /* "2.0" and "02" are found by 2 where no other category is written so. */
    if (!sr__whole_float(known.names[c], length, &value) || isnan(value)) continue;
    size_t printed = (size_t)(sr__print_float(value, text) - text);
    bool plain = printed == length && memcmp(text, known.names[c], length) == 0;
    SR_TRY(sr__names_add(ctx, &names, text, printed, c, &code));
    if (plain) names.line[code] = c;
  }
  for (int64_t i = 0; i < rows; i++) {
    char text[SR_NUMBER_BYTES];
    code = isnan(x[i]) ? -1
                       : sr__names_find(&names, text, (size_t)(sr__print_float(x[i], text) - text));
    to[i] = code >= 0 ? (float)names.line[code] : NAN;
    if (code >= 0 || isnan(x[i]) || told) continue;
    told = true;
    sr__log(ctx, SR_LOG_WARNING, "column '%s': the model never met '%.9g'; it counts as missing",
            column, (double)x[i]);
  }
cleanup:
  sr__names_free(ctx, &names);
  return status;
}

/* Texts where the model knows numbers: each must be one. */
static sr_status parse_texts(sr_context *ctx, const char *column, sr_dictionary texts,
                             const float *x, int64_t rows, float *to) {
  sr_status status = SR_OK;
  float *number = NULL;
  SR_NEW(ctx, number, texts.count);
  for (int32_t c = 0; c < texts.count; c++) {
    if (!sr__whole_float(texts.names[c], strlen(texts.names[c]), &number[c]))
      SR_TRY(
          sr__fail(ctx, SR_ERROR_DATA,
                   "column '%s' holds '%.40s', but the model was trained on numbers there; write "
                   "NA where a value is missing",
                   column, texts.names[c]));
  }
  for (int64_t i = 0; i < rows; i++) to[i] = isnan(x[i]) ? NAN : number[(int32_t)x[i]];
cleanup:
  sr__free(ctx, number);
  return status;
}

static sr_status copy_column(sr_context *ctx, const sr_table_view *schema, int64_t j,
                             const sr_table_view *table, int64_t source, float *to) {
  sr_status status = SR_OK;
  sr_dictionary given = sr__categories_of(table, source), known = sr__categories_of(schema, j);
  const float *x = table->x + source * table->rows;
  const char *name = schema->feature_names ? schema->feature_names[j] : "unnamed";
  int32_t *code = NULL;
  if (known.count == 0 && given.count > 0) return parse_texts(ctx, name, given, x, table->rows, to);
  if (known.count > 0 && given.count == 0)
    return look_up_numbers(ctx, name, known, x, table->rows, to);
  if (known.count == 0 || sr__dictionary_equal(given, known)) {
    memcpy(to, x, (size_t)table->rows * sizeof *to);
    return SR_OK;
  }
  SR_TRY(sr__categories_match(ctx, known, given, &code));
  tell_unmet(ctx, name, given, code);
  recode(x, table->rows, given.count, code, to);
cleanup:
  sr__free(ctx, code);
  return status;
}

/* A column that is empty in the whole table is more often a slip than meant. */
static void tell_empty(sr_context *ctx, const sr_table_view *schema, const sr_table_view *table,
                       const int64_t *source) {
  if (table->rows < 2 || table->cell) return;
  for (int64_t j = 0; j < schema->features; j++) {
    const float *x = table->x + source[j] * table->rows;
    int64_t i = 0;
    while (i < table->rows && isnan(x[i])) i++;
    if (i == table->rows)
      sr__log(ctx, SR_LOG_WARNING, "column '%s' has no value in any of the %lld rows",
              schema->feature_names ? schema->feature_names[j] : "unnamed", (long long)table->rows);
  }
}

static bool already_matches(const sr_table_view *schema, const sr_table_view *table,
                            const int64_t *source) {
  if (table->features != schema->features) return false;
  for (int64_t j = 0; j < schema->features; j++) {
    if (source[j] != j) return false;
    if (!sr__dictionary_equal(sr__categories_of(schema, j), sr__categories_of(table, j)))
      return false;
  }
  return true;
}

static sr_status copy_columns(sr_context *ctx, const sr_table_view *schema,
                              const sr_table_view *table, const int64_t *source, sr_table **owned) {
  sr_status status = SR_OK;
  float *x = NULL;
  SR_NEW(ctx, x, schema->features * table->rows);
  for (int64_t j = 0; j < schema->features; j++)
    SR_TRY(copy_column(ctx, schema, j, table, source[j], x + j * table->rows));
  sr_table_view view = {.rows = table->rows,
                        .features = schema->features,
                        .x = x,
                        .feature_names = schema->feature_names,
                        .categories = schema->categories,
                        .channels = table->channels,
                        .series_offset = table->series_offset,
                        .series = table->series,
                        .channel_names = table->channel_names};
  SR_TRY(sr_table_new(ctx, &view, owned));
cleanup:
  sr__free(ctx, x);
  return status;
}

/* ---- series ------------------------------------------------------------------------------- */

/* Where the model was trained on series as columns, each channel gets as many as it had then. */
static sr_status match_series(sr_context *ctx, const sr_table_view *schema, const sr_table *table,
                              sr_table **as_columns) {
  const sr_table_view *view = sr_table_get(table);
  *as_columns = NULL;
  if (view->channels == schema->channels) return SR_OK;
  int64_t columns = schema->features - view->features;
  if (schema->channels || columns <= 0 || columns % view->channels)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the model was trained on rows with %d channels of series and %lld features, "
                    "the data have %d and %lld%s",
                    schema->channels, (long long)schema->features, view->channels,
                    (long long)view->features,
                    view->channels ? "" : "; cut them into windows as in training");
  return sr__series_columns(ctx, table, columns / view->channels, as_columns);
}

sr_status sr__match_columns(sr_context *ctx, const sr_table_view *schema, const sr_table *table,
                            const sr_table **matched, sr_table **owned) {
  sr_status status = SR_OK;
  sr_table *as_columns = NULL;
  int64_t *source = NULL;
  *owned = NULL;
  *matched = NULL;
  SR_TRY(match_series(ctx, schema, table, &as_columns));
  const sr_table_view *view = sr_table_get(as_columns ? as_columns : table);
  SR_NEW(ctx, source, schema->features);
  SR_TRY(find_columns(ctx, schema, view, source));
  tell_empty(ctx, schema, view, source);
  if (!already_matches(schema, view, source)) {
    SR_TRY(copy_columns(ctx, schema, view, source, owned));
  } else {
    *owned = as_columns;
    as_columns = NULL;
  }
  *matched = *owned ? *owned : table;
cleanup:
  sr_table_free(&as_columns);
  sr__free(ctx, source);
  return status;
}
