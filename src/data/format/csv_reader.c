/* Delimited text, read by all threads. Workers take stretches of whole records in turn under a
 * lock, parse them into segments of typed columns, and merge their texts into the columns' names.
 * Names are sorted when all are known, so nothing depends on which worker was first. */
#include <math.h>
#include <pthread.h>

#include "csv.h"
#include "data/field_text.h"
#include "data/parse_number.h"
#include "format.h"

enum { SAMPLE_BYTES = 1 << 20, BUFFER_PADDING = 64, SEGMENT_BYTES = 40 << 20 };
static const size_t LONGEST_RECORD = (size_t)1 << 30;

typedef struct reader {
  sr__csv_layout *layout;
  sr__source *source;
  pthread_mutex_t mutex; /* all below */
  char *carry;           /* the start of a record whose end was not read yet */
  size_t carry_used, carry_capacity;
  bool at_end;
  int64_t line;  /* lines handed out */
  int64_t bytes; /* handed out, for the progress */
  sr__csv_segment *segments;
  int64_t segment_count, segment_capacity;
  sr__csv_chunk *chunks;
  int64_t chunk_count, chunk_capacity;
  /* the failure of the lowest chunk */
  int64_t failed_chunk; /* -1: none */
  sr_status failed_status;
  int64_t failed_line, failed_column;
  char failed_message[1024];
} reader;

/* What one worker holds while it parses a stretch of text. */
typedef struct stretch {
  char *text;
  size_t capacity, size;
  int64_t line; /* of its first byte */
  int64_t chunk;
  sr__csv_segment segment;
  int64_t first;
  char **cells;     /* of each column, at the chunk's first row */
  sr__names *names; /* new texts of each code column */
} stretch;

/* ---- taking a stretch ----------------------------------------------------------------------- */

static sr_status reserve(sr_context *ctx, char **text, size_t *capacity, size_t wanted) {
  if (wanted <= *capacity) return SR_OK;
  char *grown = sr__resize(ctx, *text, (int64_t)wanted + BUFFER_PADDING, 1);
  if (!grown) return SR_ERROR_MEMORY;
  *text = grown;
  *capacity = wanted;
  return SR_OK;
}

static sr_status check_text(sr_context *ctx, const reader *r, const stretch *s) {
  const char *zero = memchr(s->text, 0, s->size);
  if (!zero) return SR_OK;
  int64_t line = s->line + sr__count_lines(s->text, (size_t)(zero - s->text));
  return sr__fail_at(ctx, SR_ERROR_FORMAT, r->layout->file, line, 0,
                     "line %lld holds a zero byte; expected text in UTF-8 (or gzip of it)",
                     (long long)line);
}

/* Fills the stretch with whole records: what was left over, then new bytes until a record ends. */
static sr_status fill_stretch(sr_context *ctx, reader *r, stretch *s) {
  sr_status status = SR_OK;
  size_t used = r->carry_used, step = sr__source_room(r->source, sr__source_step(r->source));
  SR_TRY(reserve(ctx, &s->text, &s->capacity, used + step));
  if (used) memcpy(s->text, r->carry, used);
  for (s->size = 0; s->size == 0; step = used ? used : 1) {
    if (used > LONGEST_RECORD)
      SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, r->layout->file, r->line + 1, 0,
                         "the record that begins here does not end within %zu bytes; is a quote "
                         "left open?",
                         LONGEST_RECORD));
    SR_TRY(reserve(ctx, &s->text, &s->capacity, used + step));
    size_t got;
    SR_TRY(sr__source_read(ctx, r->source, s->text + used, step, &got));
    used += got;
    r->at_end = got < step;
    if (r->at_end) {
      if (used && s->text[used - 1] != '\n') s->text[used++] = '\n';
      s->size = used;
      break;
    }
    s->size = sr__csv_whole_records(&r->layout->dialect, s->text, used);
  }
  r->carry_used = used - s->size;
  SR_TRY(reserve(ctx, &r->carry, &r->carry_capacity, r->carry_used));
  if (r->carry_used) memcpy(r->carry, s->text + s->size, r->carry_used);
  /* The first byte after the stretch ends any number, and eight more can be read. */
  memset(s->text + s->size, 0, BUFFER_PADDING / 2);
  s->line = r->line + 1;
  SR_TRY(check_text(ctx, r, s));
cleanup:
  return status;
}

/* Room for `rows` rows in the last segment or in a new one. Segments grow with what was read, so
 * that the one being moved into the table is a small part of it; the largest are above the 32 MB
 * beyond which malloc always gives memory back. */
static sr_status reserve_rows(sr_context *ctx, reader *r, int64_t rows) {
  enum { SHARE = 8 };
  sr_status status = SR_OK;
  sr__csv_segment *last = r->segment_count ? &r->segments[r->segment_count - 1] : NULL;
  if (last && last->capacity - last->used >= rows) return SR_OK;
  size_t row_bytes = r->layout->row_bytes ? r->layout->row_bytes : 1;
  int64_t most = (int64_t)(SEGMENT_BYTES / row_bytes), capacity = r->line / SHARE;
  if (capacity > most) capacity = most;
  if (capacity < rows) capacity = rows;
  SR_GROW(ctx, r->segments, r->segment_capacity, r->segment_count + 1);
  sr__csv_segment *made = &r->segments[r->segment_count];
  *made = (sr__csv_segment){.capacity = capacity};
  made->cells = sr__alloc(ctx, capacity, row_bytes);
  if (!made->cells) SR_TRY(sr_context_error(ctx).status);
  r->segment_count++;
cleanup:
  return status;
}

static sr_status take_stretch(sr_context *ctx, reader *r, stretch *s, bool *taken) {
  sr_status status = SR_OK;
  *taken = false;
  s->chunk = r->chunk_count;
  if (r->failed_chunk >= 0 || (r->at_end && r->carry_used == 0)) return SR_OK;
  SR_TRY(sr__check_interrupt(ctx));
  SR_TRY(fill_stretch(ctx, r, s));
  if (s->size == 0) return SR_OK;
  int64_t lines = sr__count_lines(s->text, s->size);
  SR_TRY(reserve_rows(ctx, r, lines));
  SR_GROW(ctx, r->chunks, r->chunk_capacity, r->chunk_count + 1);
  sr__csv_segment *segment = &r->segments[r->segment_count - 1];
  r->chunks[r->chunk_count++] =
      (sr__csv_chunk){.segment = (int32_t)(r->segment_count - 1), .first = segment->used};
  s->segment = *segment;
  s->first = segment->used;
  segment->used += lines;
  r->line += lines;
  r->bytes += (int64_t)s->size;
  sr__progress(ctx, "reading", r->bytes, 0);
  *taken = true;
cleanup:
  return status;
}

/* ---- fields ------------------------------------------------------------------------------- */

static int shown(size_t length) { return length < 40 ? (int)length : 40; }

static sr_status fail_missing(sr_context *ctx, const sr__csv_place *place,
                              const sr__csv_column *column) {
  return sr__fail_at(ctx, SR_ERROR_DATA, place->file, place->line, place->column,
                     "column '%s' has no value here, but every row needs one in this role; fill it "
                     "in or leave the row out",
                     column->name);
}

static sr_status fail_number(sr_context *ctx, const sr__csv_place *place,
                             const sr__csv_column *column, const sr__csv_field *field) {
  const char *why = column->role.role == SR_ROLE_FEATURE
                        ? "expected a number as in most rows; write NA where a value is missing, "
                          "or read the column as categorical"
                        : "expected a number in this role; write a number or leave the row out";
  return sr__fail_at(ctx, SR_ERROR_FORMAT, place->file, place->line, place->column,
                     "column '%s' holds '%.*s', %s", column->name, shown(field->length),
                     field->text, why);
}

static sr_status fail_range(sr_context *ctx, const sr__csv_place *place,
                            const sr__csv_column *column, const sr__csv_field *field) {
  return sr__fail_at(ctx, SR_ERROR_FORMAT, place->file, place->line, place->column,
                     "column '%s' holds '%.*s', %s", column->name, shown(field->length),
                     field->text,
                     column->role.role == SR_ROLE_WEIGHT
                         ? "expected a weight that is finite and not negative"
                         : "which is beyond the largest number that is kept, 3.4e38; rescale "
                           "the column");
}

static sr_status store_float(sr_context *ctx, const sr__csv_place *place,
                             const sr__csv_column *column, const sr__csv_field *field,
                             float *cell) {
  if (sr__is_missing(field->text, field->length)) {
    *cell = NAN;
    return column->required ? fail_missing(ctx, place, column) : SR_OK;
  }
  if (!sr__whole_float(field->text, field->length, cell))
    return fail_number(ctx, place, column, field);
  bool spelled_out = field->text[field->length - 1] > '9'; /* inf, infinity */
  if ((isinf(*cell) && !spelled_out) ||
      (column->role.role == SR_ROLE_WEIGHT && !(*cell >= 0 && isfinite(*cell))))
    return fail_range(ctx, place, column, field);
  return SR_OK;
}

static sr_status store_double(sr_context *ctx, const sr__csv_place *place,
                              const sr__csv_column *column, const sr__csv_field *field,
                              double *cell) {
  if (sr__is_missing(field->text, field->length)) {
    *cell = NAN;
    return column->required ? fail_missing(ctx, place, column) : SR_OK;
  }
  if (!sr__whole_double(field->text, field->length, cell) || !isfinite(*cell))
    return fail_number(ctx, place, column, field);
  return SR_OK;
}

static sr_status store_time(sr_context *ctx, const sr__csv_place *place,
                            const sr__csv_column *column, const sr__csv_field *field,
                            double *cell) {
  if (sr__is_missing(field->text, field->length)) return fail_missing(ctx, place, column);
  if (column->dated ? sr__parse_date(field->text, field->length, column->date_order, cell)
                    : sr__parse_iso_time(field->text, field->length, cell))
    return SR_OK;
  if (column->dated)
    return sr__fail_at(
        ctx, SR_ERROR_FORMAT, place->file, place->line, place->column,
        "time column '%s' holds '%.*s', which is no date with the %s first, as those "
        "before it are; say --date-format dmy, mdy or ymd",
        column->name, shown(field->length), field->text,
        column->date_order == SR__DAY_FIRST     ? "day"
        : column->date_order == SR__MONTH_FIRST ? "month"
                                                : "year");
  return sr__fail_at(ctx, SR_ERROR_FORMAT, place->file, place->line, place->column,
                     "time column '%s' holds '%.*s', expected a date and time such as "
                     "2024-05-31 or 2024-05-31T18:30:00 as in the first row",
                     column->name, shown(field->length), field->text);
}

static sr_status store_code(sr_context *ctx, const sr__csv_place *place,
                            const sr__csv_column *column, const sr__csv_field *field,
                            sr__names *names, int32_t *cell) {
  if ((!field->quoted || field->length == 0) && sr__is_missing(field->text, field->length)) {
    *cell = -1;
    return column->required ? fail_missing(ctx, place, column) : SR_OK;
  }
  if (!column->closed)
    return sr__names_add(ctx, names, field->text, field->length, place->line, cell);
  *cell = sr__names_find(&column->names, field->text, field->length);
  if (*cell >= 0) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_FORMAT, place->file, place->line, place->column,
                     "attribute '%s' holds '%.*s', which its declaration does not list",
                     column->name, shown(field->length), field->text);
}

static sr_status store(sr_context *ctx, const sr__csv_place *place, const sr__csv_column *column,
                       const sr__csv_field *field, sr__names *names, char *cells, int64_t row) {
  switch (column->kind) {
    case SR_CELL_SKIP:
      return SR_OK;
    case SR_CELL_FLOAT:
      return store_float(ctx, place, column, field, (float *)(void *)cells + row);
    case SR_CELL_DOUBLE:
      return store_double(ctx, place, column, field, (double *)(void *)cells + row);
    case SR_CELL_ISO_TIME:
      return store_time(ctx, place, column, field, (double *)(void *)cells + row);
    case SR_CELL_CODE:
      return store_code(ctx, place, column, field, names, (int32_t *)(void *)cells + row);
  }
  return SR_OK;
}

/* ---- records ------------------------------------------------------------------------------ */

static sr_status fail_ragged(sr_context *ctx, const sr__csv_layout *layout, int64_t line,
                             int64_t found, const char *more) {
  if (layout->declared)
    return sr__fail_at(ctx, SR_ERROR_FORMAT, layout->file, line, found,
                       "this line has %s%lld fields, expected %lld, one for each attribute", more,
                       (long long)found, (long long)layout->count);
  return sr__fail_at(ctx, SR_ERROR_FORMAT, layout->file, line, found,
                     "this line has %s%lld fields, expected %lld as in line %lld; is '%c' the "
                     "separator, and is every field that holds one in quotes?",
                     more, (long long)found, (long long)layout->count,
                     (long long)layout->pattern_line, layout->dialect.separator);
}

static bool ends_field(const sr__csv_dialect *dialect, const char *at) {
  return *at == dialect->separator || sr__csv_at_line_end(at);
}

static sr_status parse_record(sr_context *ctx, const sr__csv_layout *layout, stretch *s,
                              int64_t row, char **at, int64_t *line) {
  const sr__csv_dialect *dialect = &layout->dialect;
  const char *end = s->text + s->size;
  sr__csv_place place = {layout->file, *line, 0};
  char *p = *at;
  int64_t j = 0;
  if (dialect->arff && *p == '{')
    return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, layout->file, *line, 1,
                       "sparse ARFF data ({...}) are not read; write them dense or as libsvm");
  do {
    if (j == layout->count) return fail_ragged(ctx, layout, *line, j + 1, "at least ");
    const sr__csv_column *column = &layout->columns[j];
    /* Most fields are plain numbers, which need no cutting. */
    if (column->kind == SR_CELL_FLOAT) {
      float value;
      char *next = (char *)(uintptr_t)sr__parse_float(p, &value);
      if (next && ends_field(dialect, next) && isfinite(value) && !column->required) {
        ((float *)(void *)s->cells[j])[row] = value;
        p = next;
        j++;
        continue;
      }
    }
    sr__csv_field field;
    place.column = j + 1;
    sr_status status = sr__csv_cut(ctx, dialect, &place, p, end, &field, &p, line);
    if (status == SR_OK)
      status = store(ctx, &place, column, &field, &s->names[j], s->cells[j], row);
    if (status != SR_OK) return status;
    j++;
  } while (sr__csv_next_field(dialect, &p));
  if (j != layout->count) return fail_ragged(ctx, layout, place.line, j, "");
  *at = p + (*p == '\r' ? 2 : 1);
  ++*line;
  return SR_OK;
}

static sr_status parse_stretch(sr_context *ctx, const sr__csv_layout *layout, stretch *s,
                               int64_t *rows) {
  sr_status status = SR_OK;
  char *at = s->text;
  const char *end = s->text + s->size;
  int64_t line = s->line;
  *rows = 0;
  for (int64_t j = 0; j < layout->count; j++) {
    const sr__csv_column *column = &layout->columns[j];
    size_t cell = column->kind == SR_CELL_DOUBLE || column->kind == SR_CELL_ISO_TIME ? 8 : 4;
    s->cells[j] = column->kind == SR_CELL_SKIP
                      ? NULL
                      : sr__csv_cells(&s->segment, column) + (size_t)s->first * cell;
  }
  for (;;) {
    at = sr__csv_skip_blank(&layout->dialect, at, end, &line);
    if (at >= end) break;
    SR_TRY(parse_record(ctx, layout, s, *rows, &at, &line));
    ++*rows;
  }
cleanup:
  return status;
}

/* Moves the stretch's own texts into the columns' names and renumbers its cells. */
static sr_status merge_names(sr_context *ctx, sr__csv_layout *layout, stretch *s, int64_t rows) {
  sr_status status = SR_OK;
  int32_t *global = NULL;
  for (int64_t j = 0; j < layout->count; j++) {
    sr__names *local = &s->names[j];
    if (local->count == 0) continue;
    SR_NEW(ctx, global, local->count);
    for (int64_t code = 0; code < local->count; code++)
      SR_TRY(sr__names_add(ctx, &layout->columns[j].names, sr__names_get(local, code),
                           sr__names_length(local, code), local->line[code], &global[code]));
    int32_t *cell = (int32_t *)(void *)s->cells[j];
    for (int64_t i = 0; i < rows; i++) {
      if (cell[i] >= 0) cell[i] = global[cell[i]];
    }
    sr__names_clear(local);
    sr__free(ctx, global);
    global = NULL;
  }
cleanup:
  sr__free(ctx, global);
  return status;
}

/* ---- workers ------------------------------------------------------------------------------ */

static void record_failure(sr_context *worker, reader *r, int64_t chunk, sr_status failed) {
  if (r->failed_chunk >= 0 && r->failed_chunk < chunk) return;
  sr_error error = sr_context_error(worker);
  r->failed_chunk = chunk;
  r->failed_status = failed;
  r->failed_line = error.line;
  r->failed_column = error.column;
  snprintf(r->failed_message, sizeof r->failed_message, "%s", error.message);
}

static sr_status allocate_stretch(sr_context *ctx, int64_t columns, stretch *s) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, s->cells, columns);
  SR_NEW_ZERO(ctx, s->names, columns);
cleanup:
  return status;
}

static void free_stretch(sr_context *ctx, int64_t columns, stretch *s) {
  for (int64_t j = 0; s->names && j < columns; j++) sr__names_free(ctx, &s->names[j]);
  sr__free(ctx, s->names);
  sr__free(ctx, s->cells);
  sr__free(ctx, s->text);
}

/* Takes and parses stretches until none is left or one failed. Failures are kept in the reader,
 * where the lowest chunk wins; the loop itself always succeeds. */
static sr_status read_stretches(sr_context *worker, void *data, int64_t item, int slot) {
  (void)item;
  (void)slot;
  reader *r = data;
  stretch s = {0};
  int64_t columns = r->layout->count;
  bool taken = true;
  sr_status status = allocate_stretch(worker, columns, &s);
  pthread_mutex_lock(&r->mutex);
  while (status == SR_OK) {
    status = take_stretch(worker, r, &s, &taken);
    if (status != SR_OK || !taken) break;
    int64_t rows;
    pthread_mutex_unlock(&r->mutex);
    status = parse_stretch(worker, r->layout, &s, &rows);
    pthread_mutex_lock(&r->mutex);
    r->chunks[s.chunk].rows = rows;
    if (status == SR_OK) status = merge_names(worker, r->layout, &s, rows);
  }
  if (status != SR_OK) record_failure(worker, r, s.chunk, status);
  pthread_mutex_unlock(&r->mutex);
  free_stretch(worker, columns, &s);
  return SR_OK;
}

sr_status sr__csv_read_data(sr_context *ctx, sr__source *source, sr__csv_layout *layout,
                            sr_table **table) {
  sr_status status = SR_OK;
  reader r = {.layout = layout, .source = source, .failed_chunk = -1, .line = layout->line};
  pthread_mutex_init(&r.mutex, NULL);
  SR_TRY(sr__parallel_for(ctx, sr_context_threads(ctx), read_stretches, &r));
  if (r.failed_chunk >= 0)
    SR_TRY(sr__fail_at(ctx, r.failed_status, r.failed_line ? layout->file : "", r.failed_line,
                       r.failed_column, "%s", r.failed_message));
  sr__free(ctx, r.carry);
  r.carry = NULL;
  SR_TRY(sr__csv_join(ctx, layout, r.segments, r.segment_count, r.chunks, r.chunk_count, table));
cleanup:
  pthread_mutex_destroy(&r.mutex);
  for (int64_t s = 0; s < r.segment_count; s++) sr__free(ctx, r.segments[s].cells);
  sr__free(ctx, r.segments);
  sr__free(ctx, r.chunks);
  sr__free(ctx, r.carry);
  return status;
}

/* ---- a whole file ----------------------------------------------------------------------- */

static sr_status check_start(sr_context *ctx, const char *file, const char *text, size_t size) {
  const unsigned char *bytes = (const unsigned char *)text;
  if (size >= 2 &&
      ((bytes[0] == 0xff && bytes[1] == 0xfe) || (bytes[0] == 0xfe && bytes[1] == 0xff)))
    return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, file, 1, 0,
                       "the file is in UTF-16; convert it with iconv -f utf-16 -t utf-8");
  if (memchr(text, 0, size))
    return sr__fail_at(ctx, SR_ERROR_FORMAT, file, 0, 0,
                       "the file holds zero bytes; expected text in UTF-8 (or gzip of it)");
  if (memchr(text, '\r', size) && !memchr(text, '\n', size - 1))
    return sr__fail_at(ctx, SR_ERROR_FORMAT, file, 1, 0,
                       "the lines end in carriage returns alone; convert them with tr '\\r' '\\n'");
  return SR_OK;
}

/* The first records, whole records only, ended by a line end. */
static sr_status read_start(sr_context *ctx, sr__source *source, const sr_read_options *options,
                            char **text, size_t *got, size_t *whole) {
  sr_status status = SR_OK;
  const sr__csv_dialect any = {.separator = options->separator ? options->separator : ','};
  size_t capacity = 0, step = sr__source_room(source, SAMPLE_BYTES);
  *got = *whole = 0;
  for (bool at_end = false; !at_end && *whole == 0; step = *got) {
    size_t more;
    if (*got > LONGEST_RECORD)
      SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, sr__source_name(source), 1, 0,
                         "no line ends within the first %zu bytes; expected a text table",
                         LONGEST_RECORD));
    SR_TRY(reserve(ctx, text, &capacity, *got + step));
    SR_TRY(sr__source_read(ctx, source, *text + *got, step, &more));
    /* A stream of zeros has no line end: what is here is enough to refuse it. */
    at_end = more < step || memchr(*text + *got, 0, more);
    *got += more;
    *whole = at_end ? *got : sr__csv_whole_records(&any, *text, *got);
  }
cleanup:
  return status;
}

sr_status sr__read_delimited(sr_context *ctx, sr__source *source, const sr_read_options *options,
                             char separator, sr_table **table) {
  sr_status status = SR_OK;
  sr__csv_layout layout = {.file = sr__source_name(source), .dialect.separator = separator};
  char *text = NULL, *sample = NULL;
  size_t got, whole, data = 0;
  *table = NULL;
  SR_TRY(read_start(ctx, source, options, &text, &got, &whole));
  size_t mark = got >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* byte order mark */
  whole -= mark;
  SR_NEW(ctx, sample, (int64_t)whole + BUFFER_PADDING);
  if (whole) memcpy(sample, text + mark, whole);
  memset(sample + whole, 0, BUFFER_PADDING);
  size_t sample_size = whole;
  if (whole == 0 || sample[whole - 1] != '\n') sample[sample_size++] = '\n';
  SR_TRY(check_start(ctx, layout.file, sample, sample_size));
  SR_TRY(sr__csv_detect(ctx, sample, sample_size, options, &layout, &data));
  sr__free(ctx, sample);
  sample = NULL;
  if (data > whole) data = whole;
  SR_TRY(sr__source_unread(ctx, source, text + mark + data, got - mark - data));
  sr__free(ctx, text);
  text = NULL;
  SR_TRY(sr__csv_read_data(ctx, source, &layout, table));
cleanup:
  sr__free(ctx, sample);
  sr__free(ctx, text);
  sr__csv_layout_free(ctx, &layout);
  return status;
}
