/* Tables and series to files. Rows are put into words by all threads, chunk by chunk. */
#include <math.h>

#include "column_roles.h"
#include "output.h"
#include "print_number.h"

enum { CHUNK_ROWS = 2048, CHUNKS_AT_ONCE = 64 };

/* Puts rows [begin, end) of the table or series into words. */
typedef sr_status (*row_writer)(sr_context *ctx, const void *from, char separator, int64_t begin,
                                int64_t end, sr__words *text);

/* ---- fields ------------------------------------------------------------------------------- */

/* Text that would be cut, trimmed or taken for a missing value is put in quotes. */
static bool needs_quotes(const char *text, size_t length, char separator) {
  if (sr__is_missing(text, length)) return true;
  if (text[0] == ' ' || text[0] == '\t' || text[length - 1] == ' ' || text[length - 1] == '\t')
    return true;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == separator || text[i] == '"' || text[i] == '\n' || text[i] == '\r') return true;
  }
  return false;
}

static sr_status put_name(sr_context *ctx, sr__words *text, const char *name, char separator) {
  size_t length = strlen(name);
  if (!needs_quotes(name, length, separator)) return sr__words_put(ctx, text, name, length);
  sr_status status = SR_OK;
  SR_TRY(sr__words_reserve(ctx, text, 2 * (int64_t)length + 2));
  text->bytes[text->used++] = '"';
  for (size_t i = 0; i < length; i++) {
    if (name[i] == '"') text->bytes[text->used++] = '"';
    text->bytes[text->used++] = name[i];
  }
  text->bytes[text->used++] = '"';
cleanup:
  return status;
}

static sr_status put_code(sr_context *ctx, sr__words *text, const sr_dictionary *names,
                          int32_t code, char separator) {
  if (code < 0) return sr__words_put(ctx, text, "NA", 2);
  return put_name(ctx, text, names->names[code], separator);
}

static sr_status put_double(sr_context *ctx, sr__words *text, double value) {
  sr_status status = sr__words_reserve(ctx, text, SR_NUMBER_BYTES);
  if (status == SR_OK) text->used = sr__print_double(value, text->bytes + text->used) - text->bytes;
  return status;
}

static sr_status put_float(sr_context *ctx, sr__words *text, float value) {
  sr_status status = sr__words_reserve(ctx, text, SR_NUMBER_BYTES);
  if (status == SR_OK) text->used = sr__print_float(value, text->bytes + text->used) - text->bytes;
  return status;
}

static sr_status put_char(sr_context *ctx, sr__words *text, char c) {
  return sr__words_put(ctx, text, &c, 1);
}

/* ---- csv ---------------------------------------------------------------------------------- */

/* What stands before each field: nothing before the first, else the separator. */
typedef struct row_text {
  sr_context *ctx;
  sr__words *text;
  int64_t start;
  char separator;
} row_text;

static sr_status next_field(row_text *row) {
  return row->text->used == row->start ? SR_OK : put_char(row->ctx, row->text, row->separator);
}

static bool is_category(const sr_table_view *t, int64_t feature) {
  return t->categories && t->categories[feature].count > 0;
}

static sr_status put_features(row_text *row, const sr_table_view *t, int64_t i) {
  sr_status status = SR_OK;
  for (int64_t j = 0; j < t->features; j++) {
    float value = t->x[j * t->rows + i];
    SR_TRY(next_field(row));
    if (is_category(t, j))
      SR_TRY(put_code(row->ctx, row->text, &t->categories[j], isnan(value) ? -1 : (int32_t)value,
                      row->separator));
    else
      SR_TRY(put_float(row->ctx, row->text, value));
  }
cleanup:
  return status;
}

static sr_status put_roles(row_text *row, const sr_table_view *t, int64_t i) {
  sr_status status = SR_OK;
  for (int32_t c = 0; c < t->coordinate_count; c++) {
    SR_TRY(next_field(row));
    SR_TRY(put_double(row->ctx, row->text, t->coordinates[c * t->rows + i]));
  }
  if (t->time) {
    SR_TRY(next_field(row));
    SR_TRY(put_double(row->ctx, row->text, t->time[i]));
  }
  if (t->group) {
    SR_TRY(next_field(row));
    SR_TRY(put_code(row->ctx, row->text, &t->groups, t->group[i], row->separator));
  }
  if (t->weight) {
    SR_TRY(next_field(row));
    SR_TRY(put_float(row->ctx, row->text, t->weight[i]));
  }
  if (t->label) {
    SR_TRY(next_field(row));
    SR_TRY(put_code(row->ctx, row->text, &t->classes, t->label[i], row->separator));
  }
cleanup:
  return status;
}

static sr_status csv_rows(sr_context *ctx, const void *from, char separator, int64_t begin,
                          int64_t end, sr__words *text) {
  sr_status status = SR_OK;
  const sr_table_view *t = from;
  for (int64_t i = begin; i < end; i++) {
    row_text row = {ctx, text, text->used, separator};
    SR_TRY(put_features(&row, t, i));
    SR_TRY(put_roles(&row, t, i));
    SR_TRY(put_char(ctx, text, '\n'));
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
  SR_TRY(sr__words_put(row->ctx, row->text, unique, strlen(unique)));
cleanup:
  return status;
}

static sr_status csv_header(sr_context *ctx, const sr_table_view *t, char separator,
                            sr__words *text) {
  sr_status status = SR_OK;
  row_text row = {ctx, text, 0, separator};
  for (int64_t j = 0; j < t->features; j++) {
    char numbered[32];
    snprintf(numbered, sizeof numbered, "x%lld", (long long)j + 1);
    SR_TRY(next_field(&row));
    SR_TRY(put_name(ctx, text, t->feature_names ? t->feature_names[j] : numbered, separator));
  }
  static const char *const coordinate_names[] = {"coordinate1", "coordinate2", "coordinate3"};
  for (int32_t c = 0; c < t->coordinate_count; c++)
    SR_TRY(put_role_name(&row, t, coordinate_names[c]));
  if (t->time) SR_TRY(put_role_name(&row, t, "time"));
  if (t->group) SR_TRY(put_role_name(&row, t, "group"));
  if (t->weight) SR_TRY(put_role_name(&row, t, "weight"));
  if (t->label && t->target_name) {
    SR_TRY(next_field(&row));
    SR_TRY(put_name(ctx, text, t->target_name, separator));
  } else if (t->label) {
    SR_TRY(put_role_name(&row, t, "class"));
  }
  SR_TRY(put_char(ctx, text, '\n'));
cleanup:
  return status;
}

/* ---- chunks ------------------------------------------------------------------------------- */

typedef struct batch {
  row_writer write;
  const void *from;
  char separator;
  int64_t first_row, rows;
  sr__words texts[CHUNKS_AT_ONCE];
} batch;

static sr_status write_chunk(sr_context *worker, void *data, int64_t item, int slot) {
  (void)slot;
  batch *b = data;
  int64_t begin = b->first_row + item * CHUNK_ROWS, end = begin + CHUNK_ROWS;
  b->texts[item].used = 0;
  return b->write(worker, b->from, b->separator, begin, end < b->rows ? end : b->rows,
                  &b->texts[item]);
}

static sr_status write_rows(sr_context *ctx, batch *b, sr__output *output) {
  sr_status status = SR_OK;
  for (b->first_row = 0; b->first_row < b->rows; b->first_row += CHUNK_ROWS * CHUNKS_AT_ONCE) {
    int64_t chunks = (b->rows - b->first_row + CHUNK_ROWS - 1) / CHUNK_ROWS;
    if (chunks > CHUNKS_AT_ONCE) chunks = CHUNKS_AT_ONCE;
    SR_TRY(sr__parallel_for(ctx, chunks, write_chunk, b));
    for (int64_t c = 0; c < chunks; c++)
      SR_TRY(sr__output_put(ctx, output, b->texts[c].bytes, (size_t)b->texts[c].used));
    sr__progress(ctx, "writing", b->first_row, b->rows);
  }
cleanup:
  for (int c = 0; c < CHUNKS_AT_ONCE; c++) sr__free(ctx, b->texts[c].bytes);
  return status;
}

static sr_status write_text(sr_context *ctx, const char *path, const sr__words *header,
                            row_writer write, const void *from, int64_t rows, char separator) {
  sr_status status = SR_OK;
  sr__output *output = NULL;
  batch b = {.write = write, .from = from, .separator = separator, .rows = rows};
  SR_TRY(sr__output_open(ctx, path, &output));
  if (header->used) SR_TRY(sr__output_put(ctx, output, header->bytes, (size_t)header->used));
  SR_TRY(write_rows(ctx, &b, output));
  SR_TRY(sr__output_commit(ctx, &output));
cleanup:
  sr__output_abort(ctx, &output);
  return status;
}

static sr_status write_csv(sr_context *ctx, const sr_table_view *t, const char *path,
                           char separator) {
  sr_status status = SR_OK;
  sr__words header = {0};
  SR_TRY(csv_header(ctx, t, separator, &header));
  SR_TRY(write_text(ctx, path, &header, csv_rows, t, t->rows, separator));
cleanup:
  sr__free(ctx, header.bytes);
  return status;
}

/* ---- libsvm ------------------------------------------------------------------------------- */

static sr_status libsvm_rows(sr_context *ctx, const void *from, char separator, int64_t begin,
                             int64_t end, sr__words *text) {
  (void)separator;
  sr_status status = SR_OK;
  const sr_table_view *t = from;
  for (int64_t i = begin; i < end; i++) {
    const char *label = t->label ? t->classes.names[t->label[i]] : "0";
    SR_TRY(sr__words_put(ctx, text, label, strlen(label)));
    for (int64_t j = 0; j < t->features; j++) {
      float value = t->x[j * t->rows + i];
      if (value == 0) continue;
      SR_TRY(sr__words_reserve(ctx, text, 32));
      text->used += snprintf(text->bytes + text->used, 32, " %lld:", (long long)j + 1);
      SR_TRY(put_float(ctx, text, value));
    }
    SR_TRY(put_char(ctx, text, '\n'));
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
    if (is_category(t, j))
      return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                      "libsvm cannot hold the categories of feature %lld; write csv instead",
                      (long long)j + 1);
  }
  for (int64_t i = 0; i < t->rows * t->features; i++) {
    if (isnan(t->x[i]) || (t->label && i < t->rows && t->label[i] < 0))
      return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                      "libsvm cannot hold the missing value in row %lld; write csv instead",
                      (long long)(i % t->rows) + 1);
  }
  return write_text(ctx, path, &(sr__words){0}, libsvm_rows, t, t->rows, ' ');
}

/* ---- npy ---------------------------------------------------------------------------------- */

/* Version 1.0; the matrix is kept in its own order, which NumPy calls Fortran's. */
static sr_status write_npy(sr_context *ctx, const sr_table_view *t, const char *path) {
  enum { ALIGNMENT = 64, PREAMBLE = 10 };
  sr_status status = SR_OK;
  sr__output *output = NULL;
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
  SR_TRY(sr__output_open(ctx, path, &output));
  SR_TRY(sr__output_put(ctx, output, header, (size_t)total));
  SR_TRY(sr__output_put(ctx, output, t->x, (size_t)(t->rows * t->features) * sizeof *t->x));
  SR_TRY(sr__output_commit(ctx, &output));
cleanup:
  sr__output_abort(ctx, &output);
  return status;
}

sr_status sr_table_write(sr_context *ctx, const sr_table *table, const char *path) {
  const sr_table_view *t = sr_table_get(table);
  if (strcmp(path, "-") == 0 || sr__path_ends(path, ".csv")) return write_csv(ctx, t, path, ',');
  if (sr__path_ends(path, ".tsv")) return write_csv(ctx, t, path, '\t');
  if (sr__path_ends(path, ".npy")) return write_npy(ctx, t, path);
  if (sr__path_ends(path, ".libsvm") || sr__path_ends(path, ".svm"))
    return write_libsvm(ctx, t, path);
  return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, path, 0, 0,
                     "a table is not written as '%s'; expected an ending of .csv, .tsv, .npy or "
                     ".libsvm, text also with .gz",
                     path);
}

/* ---- series ------------------------------------------------------------------------------- */

static sr_status put_values(sr_context *ctx, sr__words *text, const float *value, int64_t count,
                            char separator) {
  sr_status status = SR_OK;
  for (int64_t t = 0; t < count; t++) {
    if (t) SR_TRY(put_char(ctx, text, separator));
    if (isnan(value[t]))
      SR_TRY(sr__words_put(ctx, text, separator == ',' ? "?" : "NaN", separator == ',' ? 1 : 3));
    else
      SR_TRY(put_float(ctx, text, value[t]));
  }
cleanup:
  return status;
}

static sr_status ts_rows(sr_context *ctx, const void *from, char separator, int64_t begin,
                         int64_t end, sr__words *text) {
  sr_status status = SR_OK;
  const sr_series_view *s = from;
  for (int64_t i = begin; i < end; i++) {
    for (int32_t c = 0; c < s->channels; c++) {
      const int64_t *offset = s->offset + i * s->channels + c;
      if (c) SR_TRY(put_char(ctx, text, ':'));
      SR_TRY(put_values(ctx, text, s->value + offset[0], offset[1] - offset[0], separator));
    }
    if (s->label) {
      const char *name = s->label[i] < 0 ? "?" : s->classes.names[s->label[i]];
      SR_TRY(put_char(ctx, text, ':'));
      SR_TRY(sr__words_put(ctx, text, name, strlen(name)));
    }
    SR_TRY(put_char(ctx, text, '\n'));
  }
cleanup:
  return status;
}

static sr_status check_ts_classes(sr_context *ctx, const sr_series_view *s) {
  for (int32_t c = 0; c < s->classes.count; c++) {
    const char *name = s->classes.names[c];
    if (!*name || name[strcspn(name, " \t\r\n:")])
      return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                      "a series file cannot hold the class '%s': blanks, tabs and colons cut "
                      "fields",
                      name);
  }
  return SR_OK;
}

static sr_status write_ts(sr_context *ctx, const sr_series_view *s, const char *path) {
  sr_status status = SR_OK;
  sr__words header = {0};
  char line[128];
  int64_t pieces = s->cases * s->channels;
  bool equal = true, missing = false;
  for (int64_t i = 1; i < pieces; i++)
    equal &= s->offset[i + 1] - s->offset[i] == s->offset[1] - s->offset[0];
  for (int64_t i = 0; pieces && i < s->offset[pieces]; i++) missing |= isnan(s->value[i]);
  SR_TRY(sr__words_put(ctx, &header, "@problemName ", 13));
  const char *name = s->name && *s->name ? s->name : "series";
  SR_TRY(sr__words_put(ctx, &header, name, strlen(name)));
  int used = snprintf(line, sizeof line,
                      "\n@timestamps false\n@missing %s\n@univariate %s\n@dimensions %d\n"
                      "@equalLength %s\n@classLabel %s",
                      missing ? "true" : "false", s->channels == 1 ? "true" : "false", s->channels,
                      equal ? "true" : "false", s->label ? "true" : "false");
  SR_TRY(sr__words_put(ctx, &header, line, (size_t)used));
  for (int32_t c = 0; s->label && c < s->classes.count; c++) {
    SR_TRY(put_char(ctx, &header, ' '));
    SR_TRY(sr__words_put(ctx, &header, s->classes.names[c], strlen(s->classes.names[c])));
  }
  SR_TRY(sr__words_put(ctx, &header, "\n@data\n", 7));
  SR_TRY(write_text(ctx, path, &header, ts_rows, s, s->cases, ','));
cleanup:
  sr__free(ctx, header.bytes);
  return status;
}

typedef struct padded_series {
  const sr_series_view *series;
  int64_t longest;
} padded_series;

static sr_status ucr_rows(sr_context *ctx, const void *from, char separator, int64_t begin,
                          int64_t end, sr__words *text) {
  sr_status status = SR_OK;
  const padded_series *padded = from;
  const sr_series_view *s = padded->series;
  for (int64_t i = begin; i < end; i++) {
    SR_TRY(put_code(ctx, text, &s->classes, s->label ? s->label[i] : -1, separator));
    int64_t length = s->offset[i + 1] - s->offset[i];
    if (length) SR_TRY(put_char(ctx, text, separator));
    SR_TRY(put_values(ctx, text, s->value + s->offset[i], length, separator));
    for (int64_t t = length; t < padded->longest; t++) {
      SR_TRY(put_char(ctx, text, separator));
      SR_TRY(sr__words_put(ctx, text, "NaN", 3));
    }
    SR_TRY(put_char(ctx, text, '\n'));
  }
cleanup:
  return status;
}

static sr_status write_ucr(sr_context *ctx, const sr_series_view *s, const char *path) {
  padded_series padded = {s, 0};
  if (s->channels != 1)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "the UCR layout holds one channel, these series have %d; write .ts instead",
                    s->channels);
  for (int64_t i = 0; i < s->cases; i++) {
    int64_t length = s->offset[i + 1] - s->offset[i];
    if (length > padded.longest) padded.longest = length;
  }
  return write_text(ctx, path, &(sr__words){0}, ucr_rows, &padded, s->cases, '\t');
}

sr_status sr_series_write(sr_context *ctx, const sr_series *series, const char *path) {
  const sr_series_view *s = sr_series_get(series);
  sr_status status = check_ts_classes(ctx, s);
  if (status != SR_OK) return status;
  if (sr__path_ends(path, ".ts")) return write_ts(ctx, s, path);
  if (sr__path_ends(path, ".tsv")) return write_ucr(ctx, s, path);
  return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, path, 0, 0,
                     "series are not written as '%s'; expected an ending of .ts or .tsv, also with "
                     ".gz",
                     path);
}
