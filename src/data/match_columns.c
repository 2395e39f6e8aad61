/* Columns of a new table in the order of the training table, by name. */
#include <math.h>

#include "match_columns.h"

static int64_t find_name(const char *const *names, int64_t count, const char *name,
                         int64_t likely) {
  if (likely < count && strcmp(names[likely], name) == 0) return likely;
  for (int64_t j = 0; j < count; j++) {
    if (strcmp(names[j], name) == 0) return j;
  }
  return -1;
}

/* source[j]: the table's column for the schema's feature j. */
static sr_status find_columns(sr_context *ctx, const sr_table_view *schema,
                              const sr_table_view *table, int64_t *source) {
  if (!schema->feature_names || !table->feature_names) {
    if (table->features != schema->features)
      return sr__fail(ctx, SR_ERROR_DATA,
                      "the model was trained on %lld features, the data have %lld",
                      (long long)schema->features, (long long)table->features);
    for (int64_t j = 0; j < schema->features; j++) source[j] = j;
    return SR_OK;
  }
  for (int64_t j = 0; j < schema->features; j++) {
    source[j] = find_name(table->feature_names, table->features, schema->feature_names[j], j);
    if (source[j] < 0)
      return sr__fail(ctx, SR_ERROR_DATA,
                      "column '%s', on which the model was trained, is not in the data",
                      schema->feature_names[j]);
  }
  return SR_OK;
}

/* A category the model never met is a missing value. */
static void copy_column(const sr_table_view *table, int64_t from, sr_dictionary old_names,
                        sr_dictionary new_names, const int32_t *code, float *to) {
  const float *x = table->x + from * table->rows;
  bool recode = new_names.count > 0 && !sr__dictionary_equal(old_names, new_names);
  for (int64_t i = 0; i < table->rows; i++) {
    if (!recode || isnan(x[i])) {
      to[i] = x[i];
      continue;
    }
    int32_t found = x[i] >= 0 && x[i] < (float)old_names.count ? code[(int32_t)x[i]] : -1;
    to[i] = found >= 0 ? (float)found : NAN;
  }
}

static bool already_matches(const sr_table_view *schema, const sr_table_view *table,
                            const int64_t *source) {
  if (table->features != schema->features) return false;
  for (int64_t j = 0; j < schema->features; j++) {
    sr_dictionary names = sr__categories_of(schema, j);
    if (source[j] != j) return false;
    if (names.count > 0 && !sr__dictionary_equal(names, sr__categories_of(table, j))) return false;
  }
  return true;
}

static sr_status copy_columns(sr_context *ctx, const sr_table_view *schema,
                              const sr_table_view *table, const int64_t *source, sr_table **owned) {
  sr_status status = SR_OK;
  float *x = NULL;
  int32_t *code = NULL;
  SR_NEW(ctx, x, schema->features * table->rows);
  for (int64_t j = 0; j < schema->features; j++) {
    sr_dictionary from = sr__categories_of(table, source[j]), to = sr__categories_of(schema, j);
    if (to.count > 0) SR_TRY(sr__dictionary_match(ctx, to, from, &code));
    copy_column(table, source[j], from, to, code, x + j * table->rows);
    sr__free(ctx, code);
    code = NULL;
  }
  sr_table_view view = {.rows = table->rows,
                        .features = schema->features,
                        .x = x,
                        .feature_names = schema->feature_names,
                        .categories = schema->categories};
  SR_TRY(sr_table_new(ctx, &view, owned));
cleanup:
  sr__free(ctx, x);
  sr__free(ctx, code);
  return status;
}

sr_status sr__match_columns(sr_context *ctx, const sr_table_view *schema, const sr_table *table,
                            const sr_table **matched, sr_table **owned) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  int64_t *source = NULL;
  *owned = NULL;
  SR_NEW(ctx, source, schema->features);
  SR_TRY(find_columns(ctx, schema, view, source));
  if (!already_matches(schema, view, source))
    SR_TRY(copy_columns(ctx, schema, view, source, owned));
  *matched = *owned ? *owned : table;
cleanup:
  sr__free(ctx, source);
  return status;
}
