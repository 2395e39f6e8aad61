#include "csv.h"

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool is_quote(const sr__csv_dialect *dialect, char c) {
  return c == '"' || (c == '\'' && dialect->arff);
}

int64_t sr__count_lines(const char *text, size_t size) {
  int64_t count = 0;
  /* Short stretches keep the inner counter in bytes, which the compiler turns into vectors. */
  while (size > 0) {
    size_t stretch = size < 255 ? size : 255;
    uint8_t here = 0;
    for (size_t i = 0; i < stretch; i++) here = (uint8_t)(here + (text[i] == '\n'));
    count += here;
    text += stretch;
    size -= stretch;
  }
  return count;
}

/* ---- fields ------------------------------------------------------------------------------- */

static sr_status fail_open_quote(sr_context *ctx, const sr__csv_place *place) {
  return sr__fail_at(ctx, SR_ERROR_FORMAT, place->file, place->line, place->column,
                     "a quote opens here and is never closed; write a quote inside a quoted "
                     "field twice");
}

/* Copies quoted text over itself without its escapes; at stands after the opening quote. */
static sr_status cut_quoted(sr_context *ctx, const sr__csv_dialect *dialect,
                            const sr__csv_place *place, char *at, const char *end, char quote,
                            sr__csv_field *field, char **next, int64_t *lines) {
  char *to = at;
  field->text = at;
  field->quoted = true;
  for (;; at++) {
    if (at >= end) return fail_open_quote(ctx, place);
    if (dialect->arff && *at == '\n') return fail_open_quote(ctx, place);
    if (dialect->arff && *at == '\\' && at[1] != '\n') {
      at++;
    } else if (*at == quote) {
      if (at[1] != quote) break;
      at++;
    } else if (*at == '\n') {
      ++*lines;
    }
    *to++ = *at;
  }
  field->length = (size_t)(to - field->text);
  at++;
  while (is_blank(*at) && *at != dialect->separator) at++;
  *next = at;
  if (*at == dialect->separator || sr__csv_at_line_end(at)) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_FORMAT, place->file, place->line, place->column,
                     "text follows a closing quote, expected a separator '%c' or the line's end; "
                     "write a quote inside a quoted field twice",
                     dialect->separator);
}

sr_status sr__csv_cut(sr_context *ctx, const sr__csv_dialect *dialect, const sr__csv_place *place,
                      char *at, const char *end, sr__csv_field *field, char **next,
                      int64_t *lines) {
  while (is_blank(*at) && *at != dialect->separator) at++;
  if (is_quote(dialect, *at))
    return cut_quoted(ctx, dialect, place, at + 1, end, *at, field, next, lines);
  field->text = at;
  field->quoted = false;
  while (*at != dialect->separator && *at != '\n') at++;
  *next = at;
  if (*at == '\n' && at > field->text && at[-1] == '\r') *next = --at;
  while (at > field->text && is_blank(at[-1])) at--;
  field->length = (size_t)(at - field->text);
  return SR_OK;
}

bool sr__csv_next_field(const sr__csv_dialect *dialect, char **at) {
  if (dialect->separator == ' ') {
    while (**at == ' ') ++*at;
    return !sr__csv_at_line_end(*at);
  }
  if (**at != dialect->separator) return false;
  ++*at;
  return true;
}

/* ---- records ------------------------------------------------------------------------------ */

char *sr__csv_skip_blank(const sr__csv_dialect *dialect, char *at, const char *end, int64_t *line) {
  while (at < end) {
    char *look = at;
    while (*look == ' ' || (*look == '\t' && dialect->separator != '\t')) look++;
    if (dialect->arff && *look == '%') look = memchr(look, '\n', (size_t)(end - look));
    if (!sr__csv_at_line_end(look)) return dialect->separator == ' ' ? look : at;
    at = look + (*look == '\r' ? 2 : 1);
    ++*line;
  }
  return at;
}

/* Quotes open only at the start of a field, as sr__csv_cut reads them. */
static size_t whole_records_with_quotes(const sr__csv_dialect *dialect, const char *text,
                                        size_t size) {
  const char *at = text, *end = text + size;
  size_t whole = 0;
  while (at < end) {
    while (at < end && is_blank(*at) && *at != dialect->separator) at++;
    if (at < end && *at == '"') {
      for (at++; at < end; at++) {
        if (*at != '"') continue;
        if (at + 1 < end && at[1] == '"')
          at++;
        else
          break;
      }
      if (at < end) at++;
    }
    while (at < end && *at != dialect->separator && *at != '\n') at++;
    if (at == end) break;
    if (*at++ == '\n') whole = (size_t)(at - text);
  }
  return whole;
}

size_t sr__csv_whole_records(const sr__csv_dialect *dialect, const char *text, size_t size) {
  if (!dialect->arff && memchr(text, '"', size))
    return whole_records_with_quotes(dialect, text, size);
  const char *last = memrchr(text, '\n', size);
  return last ? (size_t)(last - text) + 1 : 0;
}
