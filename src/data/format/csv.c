/* Delimited text, csv and tsv, both ways. */
#include <math.h>

#include "csv.h"
#include "data/row_text.h"
#include "format.h"

/* ---- reading ------------------------------------------------------------------------------ */

static sr_status read_csv(sr_context *ctx, sr__source *source, const sr_read_options *options,
                          sr_table **table) {
  return sr__read_delimited(ctx, source, options, options->separator, table);
}

static sr_status read_tsv(sr_context *ctx, sr__source *source, const sr_read_options *options,
                          sr_table **table) {
  return sr__read_delimited(ctx, source, options, options->separator ? options->separator : '\t',
                            table);
}

/* ---- writing ------------------------------------------------------------------------------ */

/* What stands before each field: nothing before the first, else the separator. */
typedef struct row_text {
  sr_context *ctx;
  sr__text *text;
  int64_t start;
  char separator;
} row_text;

static sr_status next_field(row_text *row) {
  return row->text->length == row->start ? SR_OK
                                         : sr__put_char(row->ctx, row->text, row->separator);
}

static sr_status put_features(row_text *row, const sr_table_view *t, int64_t i) {
  sr_status status = SR_OK;
  for (int64_t j = 0; j < t->features; j++) {
    float value = t->x[j * t->rows + i];
    SR_TRY(next_field(row));
    if (sr__categories_of(t, j).count)
      SR_TRY(sr__put_code(row->ctx, row->text, &t->categories[j],
                          isnan(value) ? -1 : (int32_t)value, row->separator));
    else
      SR_TRY(sr__put_float(row->ctx, row->text, value));
  }
cleanup:
  return status;
}

static sr_status put_roles(row_text *row, const sr_table_view *t, int64_t i) {
  sr_status status = SR_OK;
  for (int32_t c = 0; c < t->coordinate_count; c++) {
    SR_TRY(next_field(row));
    SR_TRY(sr__put_double(row->ctx, row->text, t->coordinates[c * t->rows + i]));
  }
  if (t->time) {
    SR_TRY(next_field(row));
    SR_TRY(sr__put_double(row->ctx, row->text, t->time[i]));
  }
  if (t->group) {
    SR_TRY(next_field(row));
    SR_TRY(sr__put_code(row->ctx, row->text, &t->groups, t->group[i], row->separator));
  }
  if (t->region) {
    SR_TRY(next_field(row));
    SR_TRY(sr__put_code(row->ctx, row->text, &t->regions, t->region[i], row->separator));
  }
  if (t->weight) {
    SR_TRY(next_field(row));
    SR_TRY(sr__put_float(row->ctx, row->text, t->weight[i]));
  }
cleanup:
  return status;
}

static sr_status put_target(row_text *row, const sr_table_view *t, int64_t i) {
  sr_status status = SR_OK;
  if (!t->label && !t->value) return SR_OK;
  SR_TRY(next_field(row));
  SR_TRY(t->label ? sr__put_code(row->ctx, row->text, &t->classes, t->label[i], row->separator)
                  : sr__put_double(row->ctx, row->text, t->value[i]));
cleanup:
  return status;
}

static sr_status csv_rows(sr_context *ctx, const void *from, char separator, int64_t begin,
                          int64_t end, sr__text *text) {
  sr_status status = SR_OK;
  const sr_table_view *t = from;
  for (int64_t i = begin; i < end; i++) {
    row_text row = {ctx, text, text->length, separator};
    if (t->predicted) SR_TRY(put_target(&row, t, i));
    SR_TRY(put_features(&row, t, i));
    SR_TRY(put_roles(&row, t, i));
    if (!t->predicted) SR_TRY(put_target(&row, t, i));
    SR_TRY(sr__put_char(ctx, text, '\n'));
  }
cleanup:
  return status;
}

static bool is_feature_name(const sr_table_view *t, const char *name) {
  for (int64_t j = 0; t->feature_names && j < t->features; j++) {
    if (strcmp(t->feature_names[j], name) == 0) return true;
  }
  return false;
}

/* Columns that have no name in the table get one that no feature has. */
static sr_status put_role_name(row_text *row, const sr_table_view *t, const char *name) {
  sr_status status = SR_OK;
  char unique[64];
  snprintf(unique, sizeof unique, "%s", name);
  for (size_t used = strlen(unique); is_feature_name(t, unique) && used + 2 < sizeof unique; used++)
    memcpy(unique + used, "_", 2);
  SR_TRY(next_field(row));
  SR_TRY(sr__text_put(row->ctx, row->text, unique, strlen(unique)));
cleanup:
  return status;
}

static sr_status put_target_name(row_text *row, const sr_table_view *t) {
  sr_status status = SR_OK;
  if (!t->label && !t->value) return SR_OK;
  if (!t->target_name) return put_role_name(row, t, t->label ? "class" : "value");
  SR_TRY(next_field(row));
  SR_TRY(sr__put_name(row->ctx, row->text, t->target_name, row->separator));
cleanup:
  return status;
}

static sr_status csv_header(sr_context *ctx, const sr_table_view *t, char separator,
                            sr__text *text) {
  sr_status status = SR_OK;
  row_text row = {ctx, text, 0, separator};
  if (t->predicted) SR_TRY(put_target_name(&row, t));
  for (int64_t j = 0; j < t->features; j++) {
    char numbered[32];
    snprintf(numbered, sizeof numbered, "x%lld", (long long)j + 1);
    SR_TRY(next_field(&row));
    SR_TRY(sr__put_name(ctx, text, t->feature_names ? t->feature_names[j] : numbered, separator));
  }
  static const char *const coordinate_names[] = {"coordinate1", "coordinate2", "coordinate3"};
  for (int32_t c = 0; c < t->coordinate_count; c++)
    SR_TRY(put_role_name(&row, t, coordinate_names[c]));
  if (t->time) SR_TRY(put_role_name(&row, t, "time"));
  if (t->group) SR_TRY(put_role_name(&row, t, "group"));
  if (t->region) SR_TRY(put_role_name(&row, t, "region"));
  if (t->weight) SR_TRY(put_role_name(&row, t, "weight"));
  if (!t->predicted) SR_TRY(put_target_name(&row, t));
  SR_TRY(sr__put_char(ctx, text, '\n'));
cleanup:
  return status;
}

static sr_status write_delimited(sr_context *ctx, const sr_table_view *t, const char *path,
                                 char separator) {
  sr_status status = SR_OK;
  sr__text header = {0};
  SR_TRY(csv_header(ctx, t, separator, &header));
  SR_TRY(sr__write_rows(ctx, path, &header, (sr__written_rows){csv_rows, t, t->rows, separator}));
cleanup:
  sr__free(ctx, header.bytes);
  return status;
}

static sr_status write_csv(sr_context *ctx, const sr_table_view *t, const char *path) {
  return write_delimited(ctx, t, path, ',');
}

static sr_status write_tsv(sr_context *ctx, const sr_table_view *t, const char *path) {
  return write_delimited(ctx, t, path, '\t');
}

const sr__format sr__format_csv = {
    .about = {"csv", "delimited text; separator, header and types are detected", NULL, 0, NULL},
    SR__ENDINGS_3(".csv", ".txt", ".data"),
    .read = read_csv,
    .write = write_csv,
    .is_text = true};
const sr__format sr__format_tsv = {.about = {"tsv", "text with tabs between the fields", NULL, 0,
                                             NULL},
                                   SR__ENDINGS_2(".tsv", ".tab"),
                                   .read = read_tsv,
                                   .write = write_tsv,
                                   .is_text = true};
