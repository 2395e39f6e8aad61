/* The .ts files of the time series archives (sktime, aeon): one case a line, channels cut by ':',
 * values by ',', the class last. Lengths may differ, also between the channels of a case. */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "data/column_roles.h"
#include "data/field_text.h"
#include "data/parse_number.h"
#include "data/row_text.h"
#include "format.h"

typedef struct ts_file {
  const char *file;
  int64_t line;
  bool has_classes, has_numbers, has_data, lengths_differ;
  int64_t length;   /* of every series; 0: not declared */
  int32_t channels; /* 0: not known yet */
  bool channels_declared;
  sr__names classes;
  int64_t cases;
  int64_t *offset;
  int32_t *label;
  double *number;
  float *value;
  int64_t values;
  int64_t offset_capacity, label_capacity, number_capacity, value_capacity;
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

static sr_status read_length(sr_context *ctx, ts_file *ts, char *at) {
  const char *word = next_word(&at);
  double length;
  if (!word || !sr__whole_double(word, strlen(word), &length) || !(length >= 0) ||
      length > INT32_MAX || length != floor(length))
    return fail_line(ctx, ts, "expected the length of every series after @seriesLength");
  ts->length = (int64_t)length;
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
    SR_TRY(read_flag(ctx, ts, &at, &ts->has_numbers));
  } else if (strcasecmp(keyword, "@equallength") == 0) {
    SR_TRY(read_flag(ctx, ts, &at, &flag));
    ts->lengths_differ = !flag;
  } else if (strcasecmp(keyword, "@serieslength") == 0) {
    SR_TRY(read_length(ctx, ts, at));
  }
cleanup:
  return status;
}

/* ---- cases -------------------------------------------------------------------------------- */

static sr_status add_value(sr_context *ctx, ts_file *ts, const char *text, size_t length,
                           int64_t column) {
  sr_status status = SR_OK;
  float value = NAN;
  text = sr__trim(text, &length);
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
  size_t length = strlen(text);
  text = sr__trim(text, &length);
  SR_GROW(ctx, ts->label, ts->label_capacity, ts->cases + 1);
  ts->label[ts->cases] = sr__names_find(&ts->classes, text, length);
  if (ts->label[ts->cases] < 0 && !sr__is_missing(text, length))
    SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, ts->file, ts->line, column,
                       "the class is '%.*s', which @classLabel does not list",
                       (int)(length < 40 ? length : 40), text));
cleanup:
  return status;
}

static sr_status read_number(sr_context *ctx, ts_file *ts, const char *text, int64_t column) {
  sr_status status = SR_OK;
  size_t length = strlen(text);
  text = sr__trim(text, &length);
  SR_GROW(ctx, ts->number, ts->number_capacity, ts->cases + 1);
  ts->number[ts->cases] = NAN;
  if (!sr__is_missing(text, length) && !sr__whole_double(text, length, &ts->number[ts->cases]))
    SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, ts->file, ts->line, column,
                       "the target is '%.*s', expected a number or ? for a missing one",
                       (int)(length < 40 ? length : 40), text));
cleanup:
  return status;
}

/* A declared length is a promise, unless the file also says that lengths differ. */
static sr_status check_length(sr_context *ctx, const ts_file *ts, int64_t channel, int64_t found) {
  if (ts->length == 0 || ts->lengths_differ || found == ts->length) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_FORMAT, ts->file, ts->line, 0,
                     "channel %lld of this case has %lld values, @seriesLength says %lld; correct "
                     "it, or write @equalLength false",
                     (long long)channel + 1, (long long)found, (long long)ts->length);
}

static sr_status check_channels(sr_context *ctx, ts_file *ts, int64_t found) {
  if (found < 1)
    return sr__fail_at(ctx, SR_ERROR_FORMAT, ts->file, ts->line, 0,
                       "this case has no channel before its target; write VALUE,...:TARGET");
  if (ts->channels == 0 && found <= INT32_MAX) ts->channels = (int32_t)found;
  if (found == ts->channels) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_FORMAT, ts->file, ts->line, 0,
                     "this case has %lld channels%s, expected %d as %s", (long long)found,
                     ts->has_classes || ts->has_numbers ? " before its target" : "", ts->channels,
                     ts->channels_declared ? "@dimensions says" : "in the first case");
}

static sr_status read_case(sr_context *ctx, ts_file *ts, char *line) {
  sr_status status = SR_OK;
  int64_t fields = 1;
  for (const char *p = line; *p; p++) fields += *p == ':';
  int64_t channels = fields - (ts->has_classes || ts->has_numbers);
  SR_TRY(check_channels(ctx, ts, channels));
  SR_GROW(ctx, ts->offset, ts->offset_capacity, (ts->cases + 1) * channels + 1);
  const char *at = line;
  for (int64_t c = 0; c < channels; c++) {
    const char *stop = at + strcspn(at, ":");
    ts->offset[ts->cases * channels + c] = ts->values;
    SR_TRY(read_channel(ctx, ts, line, at, stop));
    SR_TRY(check_length(ctx, ts, c, ts->values - ts->offset[ts->cases * channels + c]));
    at = stop + (*stop == ':');
  }
  ts->offset[(ts->cases + 1) * channels] = ts->values;
  if (ts->has_classes) SR_TRY(read_label(ctx, ts, at, at - line + 1));
  if (ts->has_numbers) SR_TRY(read_number(ctx, ts, at, at - line + 1));
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
  if (ts->has_classes && ts->has_numbers)
    SR_TRY(fail_line(ctx, ts, "@classLabel and @targetLabel cannot both be true"));
  if (!ts->has_data) SR_TRY(fail_line(ctx, ts, "the file ends before @data"));
  if (ts->cases == 0)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, ts->file, ts->line, 0, "there is no case after @data"));
cleanup:
  return status;
}

static sr_status read_ts(sr_context *ctx, sr__source *source, const sr_read_options *options,
                         sr_table **table) {
  sr_status status = SR_OK;
  ts_file ts = {.file = sr__source_name(source)};
  sr__lines lines = {.source = source};
  sr_table_view view = {0};
  *table = NULL;
  SR_TRY(sr__refuse_roles(ctx, ts.file, "ts", options));
  SR_TRY(read_all(ctx, &ts, &lines));
  view = (sr_table_view){.rows = ts.cases,
                         .channels = ts.channels,
                         .series_offset = ts.offset,
                         .series = ts.value,
                         .label = ts.has_classes ? ts.label : NULL,
                         .value = ts.has_numbers ? ts.number : NULL};
  if (ts.has_classes || ts.has_numbers) view.target_name = ts.has_classes ? "class" : "target";
  if (ts.has_classes) SR_TRY(sr__names_dictionary(ctx, &ts.classes, &view.classes));
  SR_TRY(sr_table_new(ctx, &view, table));
cleanup:
  sr__free(ctx, (void *)(uintptr_t)view.classes.names);
  sr__lines_free(ctx, &lines);
  sr__names_free(ctx, &ts.classes);
  sr__free(ctx, ts.offset);
  sr__free(ctx, ts.label);
  sr__free(ctx, ts.number);
  sr__free(ctx, ts.value);
  return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

static sr_status put_channel(sr_context *ctx, sr__text *text, const float *value, int64_t count,
                             char separator) {
  sr_status status = SR_OK;
  for (int64_t t = 0; t < count; t++) {
    if (t) SR_TRY(sr__put_char(ctx, text, separator));
    SR_TRY(isnan(value[t]) ? sr__put_char(ctx, text, '?') : sr__put_float(ctx, text, value[t]));
  }
cleanup:
  return status;
}

static sr_status put_target(sr_context *ctx, sr__text *text, const sr_table_view *t, int64_t i) {
  sr_status status = SR_OK;
  if (!t->label && !t->value) return SR_OK;
  SR_TRY(sr__put_char(ctx, text, ':'));
  if (t->label ? t->label[i] < 0 : isnan(t->value[i]))
    SR_TRY(sr__put_char(ctx, text, '?'));
  else if (t->label)
    SR_TRY(sr__text_string(ctx, text, t->classes.names[t->label[i]]));
  else
    SR_TRY(sr__put_double(ctx, text, t->value[i]));
cleanup:
  return status;
}

static sr_status ts_rows(sr_context *ctx, const void *from, char separator, int64_t begin,
                         int64_t end, sr__text *text) {
  sr_status status = SR_OK;
  const sr_table_view *t = from;
  for (int64_t i = begin; i < end; i++) {
    for (int32_t c = 0; c < t->channels; c++) {
      const int64_t *offset = t->series_offset + i * t->channels + c;
      if (c) SR_TRY(sr__put_char(ctx, text, ':'));
      SR_TRY(put_channel(ctx, text, t->series + offset[0], offset[1] - offset[0], separator));
    }
    SR_TRY(put_target(ctx, text, t, i));
    SR_TRY(sr__put_char(ctx, text, '\n'));
  }
cleanup:
  return status;
}

static sr_status check_table(sr_context *ctx, const sr_table_view *t) {
  if (t->channels == 0 || t->features > 0)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "a .ts file holds series and no features, this table has %d channels and %lld "
                    "features; write csv instead",
                    t->channels, (long long)t->features);
  for (int32_t c = 0; c < t->classes.count; c++) {
    const char *name = t->classes.names[c];
    if (!*name || name[strcspn(name, " \t\r\n:")])
      return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                      "a .ts file cannot hold the class '%s': blanks, tabs and colons cut fields",
                      name);
  }
  return SR_OK;
}

static sr_status put_header(sr_context *ctx, const sr_table_view *t, sr__text *header) {
  sr_status status = SR_OK;
  int64_t pieces = t->rows * t->channels;
  bool equal = true, missing = false;
  for (int64_t i = 1; i < pieces; i++)
    equal &= t->series_offset[i + 1] - t->series_offset[i] == t->series_offset[1];
  for (int64_t i = 0; i < t->series_offset[pieces]; i++) missing |= isnan(t->series[i]);
  SR_TRY(sr__text_print(ctx, header,
                        "@problemName series\n@timestamps false\n@missing %s\n@univariate %s\n"
                        "@dimensions %d\n@equalLength %s\n@%s %s",
                        missing ? "true" : "false", t->channels == 1 ? "true" : "false",
                        t->channels, equal ? "true" : "false",
                        t->value ? "targetLabel" : "classLabel",
                        t->label || t->value ? "true" : "false"));
  for (int32_t c = 0; t->label && c < t->classes.count; c++)
    SR_TRY(sr__text_print(ctx, header, " %s", t->classes.names[c]));
  SR_TRY(sr__text_string(ctx, header, "\n@data\n"));
cleanup:
  return status;
}

static sr_status write_ts(sr_context *ctx, const sr_table_view *t, const char *path) {
  sr_status status = SR_OK;
  sr__text header = {0};
  SR_TRY(check_table(ctx, t));
  SR_TRY(put_header(ctx, t, &header));
  SR_TRY(sr__write_rows(ctx, path, &header, (sr__written_rows){ts_rows, t, t->rows, ','}));
cleanup:
  sr__free(ctx, header.bytes);
  return status;
}

static sr__recognition recognize(const sr__beginning *beginning) {
  return sr__begins_with_word(beginning, "@problemname") ? SR__LIKELY : SR__NOT_RECOGNIZED;
}

const sr__format sr__format_ts = {
    .about = {"ts", "the .ts files of sktime and aeon: series and their class or number", NULL, 0,
              NULL},
    SR__ENDINGS_1(".ts"),
    .recognize = recognize,
    .read = read_ts,
    .write = write_ts,
    .holds_series = true,
    .is_text = true};
