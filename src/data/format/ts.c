/* The .ts files of the time series archives (sktime, aeon): one case a line, channels cut by ':',
 * values by ',', the class last. Lengths may differ, also between the channels of a case. */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "data/column_roles.h"
#include "data/field_text.h"
#include "data/packed_file.h"
#include "data/parse_number.h"
#include "data/read.h"
#include "data/row_text.h"

typedef struct ts_file {
  const char *file;
  int64_t line;
  char *name;
  bool has_classes, has_data;
  int32_t channels; /* 0: not known yet */
  bool channels_declared;
  sr__names classes;
  int64_t cases;
  int64_t *offset;
  int32_t *label;
  float *value;
  int64_t values;
  int64_t offset_capacity, label_capacity, value_capacity;
} ts_file;

static sr_status fail_line(sr_context *ctx, const ts_file *ts, const char *what) {
  return sr__fail_at(ctx, SR_ERROR_FORMAT, ts->file, ts->line, 0, "%s", what);
}

/* ---- header ------------------------------------------------------------------------------- */

static char *next_word(char **at) {
  while (isspace((unsigned char)**at)) ++*at;
  if (**at == '\0') return NULL;
  char *word = *at;
  while (**at && !isspace((unsigned char)**at)) ++*at;
  if (**at) *(*at)++ = '\0';
  return word;
}

static sr_status read_flag(sr_context *ctx, const ts_file *ts, char **at, bool *flag) {
  const char *word = next_word(at);
  *flag = word && strcasecmp(word, "true") == 0;
  if (*flag || (word && strcasecmp(word, "false") == 0)) return SR_OK;
  return fail_line(ctx, ts, "expected true or false after this keyword");
}

static sr_status read_classes(sr_context *ctx, ts_file *ts, char *at) {
  sr_status status = SR_OK;
  SR_TRY(read_flag(ctx, ts, &at, &ts->has_classes));
  for (const char *word; ts->has_classes && (word = next_word(&at));) {
    int32_t code;
    SR_TRY(sr__names_add(ctx, &ts->classes, word, strlen(word), ts->line, &code));
  }
  if (ts->has_classes && ts->classes.count == 0)
    SR_TRY(fail_line(ctx, ts, "expected the class names after @classLabel true"));
cleanup:
  return status;
}

static sr_status read_channels(sr_context *ctx, ts_file *ts, char *at) {
  enum { MOST_CHANNELS = 1 << 20 };
  const char *word = next_word(&at);
  double count;
  if (!word || !sr__whole_double(word, strlen(word), &count) || !(count >= 1) ||
      count > MOST_CHANNELS || count != floor(count))
    return fail_line(ctx, ts, "expected the number of channels after @dimensions");
  ts->channels = (int32_t)count;
  ts->channels_declared = true;
  return SR_OK;
}

static sr_status refuse(sr_context *ctx, const ts_file *ts, const char *what) {
  return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, ts->file, ts->line, 0, "%s", what);
}

/* What the keyword says; unknown keywords are passed over, as the format asks. */
static sr_status read_keyword(sr_context *ctx, ts_file *ts, char *at) {
  sr_status status = SR_OK;
  bool flag;
  const char *keyword = next_word(&at);
  if (strcasecmp(keyword, "@data") == 0) {
    ts->has_data = true;
  } else if (strcasecmp(keyword, "@problemname") == 0) {
    const char *name = next_word(&at);
    sr__free(ctx, ts->name);
    ts->name = sr__strdup(ctx, name ? name : "");
    if (!ts->name) SR_TRY(SR_ERROR_MEMORY);
  } else if (strcasecmp(keyword, "@classlabel") == 0) {
    SR_TRY(read_classes(ctx, ts, at));
  } else if (strcasecmp(keyword, "@dimension") == 0 || strcasecmp(keyword, "@dimensions") == 0) {
    SR_TRY(read_channels(ctx, ts, at));
  } else if (strcasecmp(keyword, "@timestamps") == 0) {
    SR_TRY(read_flag(ctx, ts, &at, &flag));
    if (flag)
      SR_TRY(refuse(ctx, ts,
                    "series with time stamps (@timestamps true) are not read; write the values at "
                    "equal steps without them"));
  } else if (strcasecmp(keyword, "@targetlabel") == 0) {
    SR_TRY(read_flag(ctx, ts, &at, &flag));
    if (flag)
      SR_TRY(refuse(ctx, ts,
                    "this is a regression problem (@targetLabel true); specroute learns classes: "
                    "bin the target and use @classLabel"));
  }
cleanup:
  return status;
}

/* ---- cases -------------------------------------------------------------------------------- */

static sr_status add_value(sr_context *ctx, ts_file *ts, const char *text, size_t length,
                           int64_t column) {
  sr_status status = SR_OK;
  float value = NAN;
  while (length && isspace((unsigned char)*text)) text++, length--;
  while (length && isspace((unsigned char)text[length - 1])) length--;
  if (length == 0 || (!sr__is_missing(text, length) && !sr__whole_float(text, length, &value)))
    SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, ts->file, ts->line, column,
                       "found '%.*s', expected a number or ? for a missing value",
                       (int)(length < 40 ? length : 40), text));
  if (isinf(value) && isdigit((unsigned char)text[length - 1]))
    SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, ts->file, ts->line, column,
                       "'%.*s' is beyond the largest number that is kept, 3.4e38",
                       (int)(length < 40 ? length : 40), text));
  SR_GROW(ctx, ts->value, ts->value_capacity, ts->values + 1);
  ts->value[ts->values++] = value;
cleanup:
  return status;
}

/* One channel: values cut by commas. Nothing at all is a channel of length 0. */
static sr_status read_channel(sr_context *ctx, ts_file *ts, const char *start, const char *at,
                              const char *end) {
  sr_status status = SR_OK;
  const char *look = at;
  while (look < end && isspace((unsigned char)*look)) look++;
  if (look == end) return SR_OK;
  if (*look == '(')
    return refuse(ctx, ts, "series with time stamps, (time,value) pairs, are not read");
  while (at <= end) {
    const char *stop = memchr(at, ',', (size_t)(end - at));
    if (!stop) stop = end;
    SR_TRY(add_value(ctx, ts, at, (size_t)(stop - at), at - start + 1));
    at = stop + 1;
  }
cleanup:
  return status;
}

static sr_status read_label(sr_context *ctx, ts_file *ts, const char *text, int64_t column) {
  sr_status status = SR_OK;
  while (isspace((unsigned char)*text)) text++;
  size_t length = strlen(text);
  while (length && isspace((unsigned char)text[length - 1])) length--;
  SR_GROW(ctx, ts->label, ts->label_capacity, ts->cases + 1);
  ts->label[ts->cases] = sr__names_find(&ts->classes, text, length);
  if (ts->label[ts->cases] < 0 && !sr__is_missing(text, length))
    SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, ts->file, ts->line, column,
                       "the class is '%.*s', which @classLabel does not list",
                       (int)(length < 40 ? length : 40), text));
cleanup:
  return status;
}

static sr_status check_channels(sr_context *ctx, ts_file *ts, int64_t found) {
  if (ts->channels == 0 && found >= 1 && found <= INT32_MAX) ts->channels = (int32_t)found;
  if (found == ts->channels) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_FORMAT, ts->file, ts->line, 0,
                     "this case has %lld channels%s, expected %d as %s", (long long)found,
                     ts->has_classes ? " before its class" : "", ts->channels,
                     ts->channels_declared ? "@dimensions says" : "in the first case");
}

static sr_status read_case(sr_context *ctx, ts_file *ts, char *line) {
  sr_status status = SR_OK;
  int64_t fields = 1;
  for (const char *p = line; *p; p++) fields += *p == ':';
  int64_t channels = fields - ts->has_classes;
  SR_TRY(check_channels(ctx, ts, channels));
  SR_GROW(ctx, ts->offset, ts->offset_capacity, (ts->cases + 1) * channels + 1);
  const char *at = line;
  for (int64_t c = 0; c < channels; c++) {
    const char *stop = at + strcspn(at, ":");
    ts->offset[ts->cases * channels + c] = ts->values;
    SR_TRY(read_channel(ctx, ts, line, at, stop));
    at = stop + (*stop == ':');
  }
  ts->offset[(ts->cases + 1) * channels] = ts->values;
  if (ts->has_classes) SR_TRY(read_label(ctx, ts, at, at - line + 1));
  ts->cases++;
cleanup:
  return status;
}

static sr_status read_all(sr_context *ctx, ts_file *ts, sr__lines *lines) {
  sr_status status = SR_OK;
  for (;;) {
    char *line;
    size_t length;
    SR_TRY(sr__lines_next(ctx, lines, &line, &length));
    ts->line = lines->number;
    if (!line) break;
    if (ts->line == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0) line += 3;
    while (isspace((unsigned char)*line)) line++;
    if (*line == '\0' || *line == '#' || (*line == '%' && !ts->has_data)) continue;
    if (ts->has_data)
      SR_TRY(read_case(ctx, ts, line));
    else if (*line == '@')
      SR_TRY(read_keyword(ctx, ts, line));
    else
      SR_TRY(fail_line(ctx, ts, "expected a keyword such as @problemName or @data"));
  }
  if (!ts->has_data) SR_TRY(fail_line(ctx, ts, "the file ends before @data"));
  if (ts->cases == 0)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, ts->file, ts->line, 0, "there is no case after @data"));
cleanup:
  return status;
}

sr_status sr__read_ts(sr_context *ctx, sr__source *source, sr_series **series) {
  sr_status status = SR_OK;
  ts_file ts = {.file = sr__source_name(source)};
  sr__lines lines = {.source = source};
  sr_series_view view = {0};
  *series = NULL;
  SR_TRY(read_all(ctx, &ts, &lines));
  view = (sr_series_view){.cases = ts.cases,
                          .channels = ts.channels,
                          .offset = ts.offset,
                          .value = ts.value,
                          .label = ts.has_classes ? ts.label : NULL,
                          .name = ts.name};
  if (ts.has_classes) SR_TRY(sr__names_dictionary(ctx, &ts.classes, &view.classes));
  SR_TRY(sr_series_new(ctx, &view, series));
cleanup:
  sr__free(ctx, (void *)(uintptr_t)view.classes.names);
  sr__lines_free(ctx, &lines);
  sr__names_free(ctx, &ts.classes);
  sr__free(ctx, ts.name);
  sr__free(ctx, ts.offset);
  sr__free(ctx, ts.label);
  sr__free(ctx, ts.value);
  return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

static sr_status put_values(sr_context *ctx, sr__text *text, const float *value, int64_t count,
                            char separator) {
  sr_status status = SR_OK;
  for (int64_t t = 0; t < count; t++) {
    if (t) SR_TRY(sr__put_char(ctx, text, separator));
    if (isnan(value[t]))
      SR_TRY(sr__text_put(ctx, text, separator == ',' ? "?" : "NaN", separator == ',' ? 1 : 3));
    else
      SR_TRY(sr__put_float(ctx, text, value[t]));
  }
cleanup:
  return status;
}

static sr_status ts_rows(sr_context *ctx, const void *from, char separator, int64_t begin,
                         int64_t end, sr__text *text) {
  sr_status status = SR_OK;
  const sr_series_view *s = from;
  for (int64_t i = begin; i < end; i++) {
    for (int32_t c = 0; c < s->channels; c++) {
      const int64_t *offset = s->offset + i * s->channels + c;
      if (c) SR_TRY(sr__put_char(ctx, text, ':'));
      SR_TRY(put_values(ctx, text, s->value + offset[0], offset[1] - offset[0], separator));
    }
    if (s->label) {
      const char *name = s->label[i] < 0 ? "?" : s->classes.names[s->label[i]];
      SR_TRY(sr__put_char(ctx, text, ':'));
      SR_TRY(sr__text_put(ctx, text, name, strlen(name)));
    }
    SR_TRY(sr__put_char(ctx, text, '\n'));
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
  sr__text header = {0};
  char line[128];
  int64_t pieces = s->cases * s->channels;
  bool equal = true, missing = false;
  for (int64_t i = 1; i < pieces; i++)
    equal &= s->offset[i + 1] - s->offset[i] == s->offset[1] - s->offset[0];
  for (int64_t i = 0; pieces && i < s->offset[pieces]; i++) missing |= isnan(s->value[i]);
  SR_TRY(sr__text_put(ctx, &header, "@problemName ", 13));
  const char *name = s->name && *s->name ? s->name : "series";
  SR_TRY(sr__text_put(ctx, &header, name, strlen(name)));
  int used = snprintf(line, sizeof line,
                      "\n@timestamps false\n@missing %s\n@univariate %s\n@dimensions %d\n"
                      "@equalLength %s\n@classLabel %s",
                      missing ? "true" : "false", s->channels == 1 ? "true" : "false", s->channels,
                      equal ? "true" : "false", s->label ? "true" : "false");
  SR_TRY(sr__text_put(ctx, &header, line, (size_t)used));
  for (int32_t c = 0; s->label && c < s->classes.count; c++) {
    SR_TRY(sr__put_char(ctx, &header, ' '));
    SR_TRY(sr__text_put(ctx, &header, s->classes.names[c], strlen(s->classes.names[c])));
  }
  SR_TRY(sr__text_put(ctx, &header, "\n@data\n", 7));
  SR_TRY(sr__write_rows(ctx, path, &header, ts_rows, s, s->cases, ','));
cleanup:
  sr__free(ctx, header.bytes);
  return status;
}

typedef struct padded_series {
  const sr_series_view *series;
  int64_t longest;
} padded_series;

static sr_status ucr_rows(sr_context *ctx, const void *from, char separator, int64_t begin,
                          int64_t end, sr__text *text) {
  sr_status status = SR_OK;
  const padded_series *padded = from;
  const sr_series_view *s = padded->series;
  for (int64_t i = begin; i < end; i++) {
    SR_TRY(sr__put_code(ctx, text, &s->classes, s->label ? s->label[i] : -1, separator));
    int64_t length = s->offset[i + 1] - s->offset[i];
    if (length) SR_TRY(sr__put_char(ctx, text, separator));
    SR_TRY(put_values(ctx, text, s->value + s->offset[i], length, separator));
    for (int64_t t = length; t < padded->longest; t++) {
      SR_TRY(sr__put_char(ctx, text, separator));
      SR_TRY(sr__text_put(ctx, text, "NaN", 3));
    }
    SR_TRY(sr__put_char(ctx, text, '\n'));
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
  return sr__write_rows(ctx, path, &(sr__text){0}, ucr_rows, &padded, s->cases, '\t');
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
