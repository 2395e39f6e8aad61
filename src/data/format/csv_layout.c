/* What a csv file looks like: separator, header, and which columns are numbers. */
#include <ctype.h>

#include "csv.h"
#include "data/field_text.h"
#include "data/parse_number.h"

enum { TRIED_RECORDS = 100 };

/* ---- separator ---------------------------------------------------------------------------- */

/* Fields of the record at *at, which moves past it; quotes are respected, nothing is changed. */
static int64_t count_fields(char separator, const char **at, const char *end) {
  int64_t fields = 1;
  const char *p = *at;
  bool at_start = true;
  for (; p < end && *p != '\n'; p++) {
    if (separator == ' ' && *p == ' ' && (at_start || p[1] == ' ' || sr__csv_at_line_end(p + 1)))
      continue;
    if (*p == '"' && at_start) {
      for (p++; p < end && (*p != '"' || p[1] == '"'); p++) {
        if (*p == '"') p++;
      }
      if (p >= end) break;
    }
    at_start = *p == separator;
    if (at_start) fields++;
  }
  *at = p < end ? p + 1 : end;
  return fields;
}

typedef struct trial {
  int64_t first;   /* fields of the first record */
  bool consistent; /* the others agree, or the first lacks one (row names without a heading) */
} trial;

static trial try_separator(char separator, char *text, size_t size) {
  const sr__csv_dialect dialect = {.separator = separator};
  const char *end = text + size;
  trial result = {0, true};
  int64_t second = 0, line = 0;
  char *at = sr__csv_skip_blank(&dialect, text, end, &line);
  for (int record = 0; at < end && record < TRIED_RECORDS; record++) {
    const char *next = at;
    int64_t fields = count_fields(separator, &next, end);
    if (record == 0) result.first = fields;
    if (record == 1) second = fields;
    if (record == 1 && fields != result.first && fields != result.first + 1)
      result.consistent = false;
    if (record > 1 && fields != second) result.consistent = false;
    at = sr__csv_skip_blank(&dialect, (char *)(uintptr_t)next, end, &line);
  }
  return result;
}

/* The separator that cuts every record alike into the most fields; blanks only where no other does;
 * where none does, the one that cuts the first record most, so that the ragged line is reported. */
static char detect_separator(char *text, size_t size) {
  static const char candidates[] = {',', ';', '\t', '|', ' '};
  char best = ',', longest = ',';
  int64_t best_fields = 1, longest_fields = 1;
  for (size_t i = 0; i < sizeof candidates; i++) {
    if (candidates[i] == ' ' && (best_fields > 1 || longest_fields > 1)) break;
    trial result = try_separator(candidates[i], text, size);
    if (result.consistent && result.first > best_fields) {
      best = candidates[i];
      best_fields = result.first;
    }
    if (result.first > longest_fields) {
      longest = candidates[i];
      longest_fields = result.first;
    }
  }
  return best_fields > 1 ? best : longest;
}

/* ---- sample ------------------------------------------------------------------------------- */

/* What the sample says of one column. */
typedef struct sampled {
  int64_t numbers, texts, missing;
  const char *example; /* the first text, and its length */
  size_t example_length;
  int64_t example_line;
  bool iso_time;     /* the first filled value is a date and no number */
  int64_t iso_times; /* texts that are such dates */
  int64_t dates[3];  /* texts that are dates in each sr__date_order */
  bool heading_recurs;
} sampled;

typedef struct sample {
  sr__csv_field *heading; /* the first record */
  int64_t headings;
  int64_t heading_line, first_line; /* of the first and of the second record */
  size_t heading_end;               /* where the second begins */
  sampled *columns;
  int64_t count; /* columns of the second record; of the first where there is no second */
  int64_t records;
} sample;

static void classify(const sr__csv_field *field, int64_t line, sampled *column) {
  double value;
  if ((!field->quoted || field->length == 0) && sr__is_missing(field->text, field->length)) {
    column->missing++;
    return;
  }
  bool number = sr__whole_double(field->text, field->length, &value);
  bool iso_time = !number && sr__parse_iso_time(field->text, field->length, &value);
  if (column->numbers + column->texts == 0) column->iso_time = iso_time;
  column->iso_times += iso_time;
  if (number) {
    column->numbers++;
    return;
  }
  for (int order = 0; order < 3; order++)
    column->dates[order] +=
        sr__parse_date(field->text, field->length, (sr__date_order)order, &value);
  if (column->texts++ == 0) {
    column->example = field->text;
    column->example_length = field->length;
    column->example_line = line;
  }
}

static sr_status sample_heading(sr_context *ctx, sr__csv_layout *layout, char **at, const char *end,
                                int64_t *line, sr__arena *arena, sample *into) {
  sr_status status = SR_OK;
  const char *peek = *at;
  /* An upper bound: quotes may hold separators and escaped quotes. */
  int64_t most = 1;
  for (; peek < end && *peek != '\n'; peek++) most += *peek == layout->dialect.separator;
  peek = *at;
  int64_t counted = count_fields(layout->dialect.separator, &peek, end);
  if (counted > most) most = counted;
  into->heading = sr__arena_alloc(ctx, arena, most, sizeof *into->heading);
  if (!into->heading) SR_TRY(SR_ERROR_MEMORY);
  into->heading_line = *line;
  do {
    if (into->headings == most)
      SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, layout->file, *line, into->headings,
                         "the first record cannot be cut into fields; check its quotes"));
    const sr__csv_place place = {layout->file, *line, into->headings + 1};
    SR_TRY(sr__csv_cut(ctx, &layout->dialect, &place, *at, end, &into->heading[into->headings++],
                       at, line));
  } while (sr__csv_next_field(&layout->dialect, at));
  *at += **at == '\r' ? 2 : 1;
  ++*line;
cleanup:
  return status;
}

/* One record below the first. Ragged lines are left to the reader, which reports them. */
static sr_status sample_record(sr_context *ctx, const sr__csv_layout *layout, char **at,
                               const char *end, int64_t *line, sample *into) {
  sr_status status = SR_OK;
  int64_t column = 0, shift = into->count - into->headings;
  int64_t record_line = *line;
  do {
    sr__csv_field field;
    const sr__csv_place place = {layout->file, *line, column + 1};
    SR_TRY(sr__csv_cut(ctx, &layout->dialect, &place, *at, end, &field, at, line));
    if (column < into->count) {
      classify(&field, record_line, &into->columns[column]);
      const sr__csv_field *heading = column >= shift ? &into->heading[column - shift] : NULL;
      if (heading && field.length == heading->length &&
          memcmp(field.text, heading->text, field.length) == 0)
        into->columns[column].heading_recurs = true;
    }
    column++;
  } while (sr__csv_next_field(&layout->dialect, at));
  *at += **at == '\r' ? 2 : 1;
  ++*line;
  into->records++;
cleanup:
  return status;
}

static sr_status take_sample(sr_context *ctx, sr__csv_layout *layout, char *text, size_t size,
                             sr__arena *arena, sample *into) {
  sr_status status = SR_OK;
  const char *end = text + size;
  int64_t line = layout->line + 1;
  char *at = sr__csv_skip_blank(&layout->dialect, text, end, &line);
  if (at == end)
    SR_TRY(
        sr__fail_at(ctx, SR_ERROR_DATA, layout->file, 0, 0, "the file is empty, expected a table"));
  SR_TRY(sample_heading(ctx, layout, &at, end, &line, arena, into));
  at = sr__csv_skip_blank(&layout->dialect, at, end, &line);
  into->heading_end = (size_t)(at - text);
  into->first_line = line;
  into->count = into->headings;
  if (at < end) {
    const char *peek = at;
    if (count_fields(layout->dialect.separator, &peek, end) == into->headings + 1) into->count++;
  }
  into->columns = sr__arena_alloc(ctx, arena, into->count, sizeof *into->columns);
  if (!into->columns) SR_TRY(SR_ERROR_MEMORY);
  memset(into->columns, 0, (size_t)into->count * sizeof *into->columns);
  while (at < end) {
    SR_TRY(sample_record(ctx, layout, &at, end, &line, into));
    at = sr__csv_skip_blank(&layout->dialect, at, end, &line);
  }
cleanup:
  return status;
}

/* ---- header ------------------------------------------------------------------------------- */

/* The first line is a header where all of it is text and something below differs in kind: a column
 * of numbers, or no column in which its text comes again. */
static bool detect_header(const sample *seen) {
  bool recurs = false, numbers = false;
  for (int64_t j = 0; j < seen->headings; j++) {
    const sr__csv_field *field = &seen->heading[j];
    double value;
    if (sr__whole_double(field->text, field->length, &value)) return false;
    if (field->length > 0 && sr__is_missing(field->text, field->length)) return false;
  }
  for (int64_t j = 0; j < seen->count; j++) {
    if (seen->columns[j].numbers > seen->columns[j].texts) numbers = true;
    if (seen->columns[j].heading_recurs) recurs = true;
  }
  return numbers || !recurs;
}

static sr_status copy_name(sr_context *ctx, sr__csv_layout *layout, const char *text, size_t length,
                           int64_t column, const char **name) {
  char numbered[32];
  if (!text || length == 0) {
    length = (size_t)snprintf(numbered, sizeof numbered, "x%lld", (long long)column + 1);
    text = numbered;
  }
  char *copy = sr__arena_alloc(ctx, &layout->arena, (int64_t)length + 1, 1);
  if (!copy) return SR_ERROR_MEMORY;
  memcpy(copy, text, length);
  copy[length] = '\0';
  *name = copy;
  return SR_OK;
}

static sr_status name_columns(sr_context *ctx, sr__csv_layout *layout, const sample *seen,
                              bool header) {
  sr_status status = SR_OK;
  int64_t shift = header ? seen->count - seen->headings : 0;
  if (!header && seen->count != seen->headings)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, layout->file, seen->first_line, seen->count,
                       "line %lld has %lld fields, expected %lld as in line %lld",
                       (long long)seen->first_line, (long long)seen->count,
                       (long long)seen->headings, (long long)seen->heading_line));
  SR_NEW_ZERO(ctx, layout->columns, seen->count);
  layout->count = seen->count;
  layout->pattern_line = seen->heading_line;
  for (int64_t j = 0; j < seen->count; j++) {
    bool named = header && j >= shift;
    const sr__csv_field *field = named ? &seen->heading[j - shift] : NULL;
    const char *text = field ? field->text : header ? "row_names" : NULL;
    size_t length = field ? field->length : header ? strlen("row_names") : 0;
    SR_TRY(copy_name(ctx, layout, text, length, j, &layout->columns[j].name));
  }
cleanup:
  return status;
}

/* ---- kinds -------------------------------------------------------------------------------- */

static bool is_decimal_comma(const char *text, size_t length) {
  size_t commas = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == ',' && i > 0 && i + 1 < length)
      commas++;
    else if (!isdigit((unsigned char)text[i]) && !(i == 0 && (text[i] == '-' || text[i] == '+')))
      return false;
  }
  return commas == 1;
}

void sr__csv_set_kind(sr__csv_column *column, bool iso_time, bool text) {
  sr__role role = column->role.role;
  column->required = role == SR_ROLE_GROUP || role == SR_ROLE_REGION || role == SR_ROLE_TIME ||
                     role == SR_ROLE_COORDINATE || role == SR_ROLE_WEIGHT;
  switch (role) {
    case SR_ROLE_DROP:
      column->kind = SR_CELL_SKIP;
      break;
    case SR_ROLE_TARGET:
      column->kind = column->role.rule.form == SR__CLASSES ? SR_CELL_CODE : SR_CELL_DOUBLE;
      break;
    case SR_ROLE_GROUP:
    case SR_ROLE_REGION:
      column->kind = SR_CELL_CODE;
      break;
    case SR_ROLE_TIME:
      column->kind = iso_time ? SR_CELL_ISO_TIME : SR_CELL_DOUBLE;
      break;
    case SR_ROLE_COORDINATE:
      column->kind = SR_CELL_DOUBLE;
      break;
    case SR_ROLE_WEIGHT:
      column->kind = SR_CELL_FLOAT;
      break;
    case SR_ROLE_FEATURE:
      column->kind = text ? SR_CELL_CODE : SR_CELL_FLOAT;
      break;
  }
}

sr_status sr__csv_assign_roles(sr_context *ctx, const sr_read_options *options,
                               sr__csv_layout *layout) {
  sr_status status = SR_OK;
  const char **names = NULL;
  sr__column_role *roles = NULL;
  SR_NEW(ctx, names, layout->count);
  SR_NEW(ctx, roles, layout->count);
  for (int64_t j = 0; j < layout->count; j++) names[j] = layout->columns[j].name;
  SR_TRY(sr__assign_roles(ctx, layout->file, names, layout->count, options, roles));
  for (int64_t j = 0; j < layout->count; j++) layout->columns[j].role = roles[j];
cleanup:
  sr__free(ctx, roles);
  sr__free(ctx, names);
  return status;
}

/* In which order the dates of a time column stand: as the user says, or as every date of the sample
 * can be read. ISO times need no order. */
static sr_status decide_date(sr_context *ctx, const sr_read_options *options,
                             const sr__csv_layout *layout, int64_t number, const sampled *seen,
                             sr__csv_column *column) {
  static const char *const words[] = {"ymd", "dmy", "mdy"};
  int possible = 0;
  if (column->role.role != SR_ROLE_TIME || seen->texts == 0) return SR_OK;
  for (int order = 0; order < 3; order++) {
    if (options->date_format ? strcmp(options->date_format, words[order]) != 0
                             : seen->iso_times == seen->texts || seen->dates[order] < seen->texts)
      continue;
    possible++;
    column->dated = true;
    column->date_order = (sr__date_order)order;
    column->kind = SR_CELL_ISO_TIME;
  }
  if (possible < 2) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_FORMAT, layout->file, seen->example_line, number + 1,
                     "time column '%s' holds '%.*s', where day and month cannot be told apart; say "
                     "--date-format dmy (day first) or mdy (month first)",
                     column->name, (int)(seen->example_length < 40 ? seen->example_length : 40),
                     seen->example);
}

static sr_status decide_kind(sr_context *ctx, const sr__csv_layout *layout, int64_t number,
                             const sampled *seen, sr__csv_column *column) {
  bool feature = column->role.role == SR_ROLE_FEATURE, categorical = column->role.categorical;
  bool numeric = column->role.numeric;
  column->undecided = feature && !categorical && !numeric && seen->numbers + seen->texts == 0;
  sr__csv_set_kind(column, seen->iso_time,
                   !numeric && (categorical || column->undecided || seen->texts >= seen->numbers));
  if (feature && seen->texts && is_decimal_comma(seen->example, seen->example_length))
    return sr__fail_at(ctx, SR_ERROR_FORMAT, layout->file, seen->example_line, number + 1,
                       "column '%s' holds '%.*s', a number with a decimal comma; expected a "
                       "decimal point: replace the commas, for example with sed 's/,/./g'",
                       column->name, (int)(seen->example_length < 40 ? seen->example_length : 40),
                       seen->example);
  return SR_OK;
}

static sr_status decide_columns(sr_context *ctx, const sr_read_options *options, const sample *seen,
                                bool row_names, sr__csv_layout *layout) {
  sr_status status = SR_OK;
  SR_TRY(sr__csv_assign_roles(ctx, options, layout));
  if (row_names && layout->columns[0].role.role == SR_ROLE_FEATURE) {
    layout->columns[0].role.role = SR_ROLE_DROP;
    sr__log(ctx, SR_LOG_INFO,
            "%s: the header names one column less than the lines have, so the first column is "
            "taken for row names and left out",
            layout->file);
  }
  for (int64_t j = 0; j < layout->count; j++)
    SR_TRY(decide_kind(ctx, layout, j, &seen->columns[j], &layout->columns[j]));
  for (int64_t j = 0; j < layout->count; j++)
    SR_TRY(decide_date(ctx, options, layout, j, &seen->columns[j], &layout->columns[j]));
  sr__csv_place_columns(layout);
cleanup:
  return status;
}

static size_t cell_bytes(sr__cell_kind kind) {
  switch (kind) {
    case SR_CELL_SKIP:
      return 0;
    case SR_CELL_FLOAT:
    case SR_CELL_CODE:
      return 4;
    case SR_CELL_DOUBLE:
    case SR_CELL_ISO_TIME:
      return 8;
  }
  return 0;
}

void sr__csv_place_columns(sr__csv_layout *layout) {
  layout->row_bytes = 0;
  /* Doubles first, so that every cell is aligned whatever the number of rows. */
  for (size_t bytes = 8; bytes >= 4; bytes -= 4) {
    for (int64_t j = 0; j < layout->count; j++) {
      if (cell_bytes(layout->columns[j].kind) != bytes) continue;
      layout->columns[j].offset = layout->row_bytes;
      layout->row_bytes += bytes;
    }
  }
}

/* ---- all of it ---------------------------------------------------------------------------- */

sr_status sr__csv_detect(sr_context *ctx, char *text, size_t size, const sr_read_options *options,
                         sr__csv_layout *layout, size_t *data) {
  sr_status status = SR_OK;
  sr__arena arena = {0};
  sample seen = {0};
  if (!layout->dialect.separator) layout->dialect.separator = options->separator;
  if (!layout->dialect.separator) layout->dialect.separator = detect_separator(text, size);
  SR_TRY(take_sample(ctx, layout, text, size, &arena, &seen));
  bool header = options->header < 0 ? detect_header(&seen) : options->header > 0;
  *data = header ? seen.heading_end : 0;
  if (!header) {
    /* The first record is data too. */
    if (seen.count == seen.headings) {
      for (int64_t j = 0; j < seen.headings; j++)
        classify(&seen.heading[j], seen.heading_line, &seen.columns[j]);
    }
  } else {
    layout->line = seen.first_line - 1;
  }
  SR_TRY(name_columns(ctx, layout, &seen, header));
  SR_TRY(decide_columns(ctx, options, &seen, header && seen.count > seen.headings, layout));
cleanup:
  sr__arena_free(ctx, &arena);
  return status;
}

void sr__csv_layout_free(sr_context *ctx, sr__csv_layout *layout) {
  for (int64_t j = 0; layout->columns && j < layout->count; j++)
    sr__names_free(ctx, &layout->columns[j].names);
  sr__free(ctx, layout->columns);
  layout->columns = NULL;
  sr__arena_free(ctx, &layout->arena);
}
