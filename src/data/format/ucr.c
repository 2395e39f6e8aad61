/* The UCR archive's layout: no header, the class first, then a series per line; NaN at the end of a
 * line are padding. */
#include <ctype.h>
#include <math.h>

#include "csv.h"
#include "data/row_text.h"
#include "data/series_columns.h"
#include "format.h"

static sr_status read_ucr(sr_context *ctx, sr__source *source, const sr_read_options *options,
                          sr_table **table) {
  sr_status status = SR_OK;
  sr_read_options ucr = *options;
  sr_table *columns = NULL;
  *table = NULL;
  if (ucr.header < 0) ucr.header = 0;
  if (!ucr.target) ucr.target = "1";
  SR_TRY(sr__read_delimited(ctx, source, &ucr, options->separator, &columns));
  SR_TRY(sr__columns_to_series(ctx, sr__source_name(source), columns, table));
cleanup:
  sr_table_free(&columns);
  return status;
}

/* ---- content ------------------------------------------------------------------------------ */

/* Past an integer and its tab, or NULL. */
static const char *after_integer(const char *at, const char *end) {
  if (at < end && (*at == '-' || *at == '+')) at++;
  const char *digits = at;
  while (at < end && isdigit((unsigned char)*at)) at++;
  return at > digits && at < end && *at == '\t' ? at + 1 : NULL;
}

/* A file without a header whose lines are an integer and numbers, cut by tabs, where nothing was
 * said of its columns. A line of integers alone may be any table. */
static sr__recognition recognize(const sr__beginning *b) {
  const sr_read_options *o = b->options;
  const char *at = b->bytes, *end = at + b->size;
  bool asked = o->target || o->time || o->group || o->region || o->coordinates || o->weight ||
               o->drop || o->categorical || o->separator || o->header > 0;
  bool fractions = false;
  int64_t lines = 0;
  if (asked) return SR__NOT_RECOGNIZED;
  while (at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop && lines && !b->whole) break; /* a line that is cut off */
    if (!stop) stop = end;
    at = after_integer(at, stop);
    if (!at) return SR__NOT_RECOGNIZED;
    for (; at < stop; at++) {
      if (!strchr("0123456789+-.eENaAn\t\r", *at)) return SR__NOT_RECOGNIZED;
      fractions |= *at == '.';
    }
    at = stop + 1;
    lines++;
  }
  return lines && fractions ? SR__MORE_LIKELY : SR__NOT_RECOGNIZED;
}

/* ---- writing ------------------------------------------------------------------------------ */

typedef struct padded_series {
  const sr_table_view *table;
  int64_t longest;
} padded_series;

static sr_status ucr_rows(sr_context *ctx, const void *from, char separator, int64_t begin,
                          int64_t end, sr__text *text) {
  sr_status status = SR_OK;
  const padded_series *padded = from;
  const sr_table_view *t = padded->table;
  for (int64_t i = begin; i < end; i++) {
    SR_TRY(sr__put_code(ctx, text, &t->classes, t->label ? t->label[i] : -1, separator));
    int64_t length = t->series_offset[i + 1] - t->series_offset[i];
    for (int64_t step = 0; step < padded->longest; step++) {
      float value = step < length ? t->series[t->series_offset[i] + step] : NAN;
      SR_TRY(sr__put_char(ctx, text, separator));
      if (isnan(value))
        SR_TRY(sr__text_put(ctx, text, "NaN", 3));
      else
        SR_TRY(sr__put_float(ctx, text, value));
    }
    SR_TRY(sr__put_char(ctx, text, '\n'));
  }
cleanup:
  return status;
}

static sr_status write_ucr(sr_context *ctx, const sr_table_view *t, const char *path) {
  padded_series padded = {t, 0};
  if (t->channels != 1 || t->features || t->value)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "the UCR layout holds a class and series of one channel, this table has %d "
                    "channels and %lld features%s; write .ts or .csv instead",
                    t->channels, (long long)t->features, t->value ? " and a number as target" : "");
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t length = t->series_offset[i + 1] - t->series_offset[i];
    if (length > padded.longest) padded.longest = length;
  }
  return sr__write_rows(ctx, path, &(sr__text){0},
                        (sr__written_rows){ucr_rows, &padded, t->rows, '\t'});
}

const sr__format sr__format_ucr = {
    .about = {"ucr", "the UCR archive's layout: class first, then a series", NULL, 0, NULL},
    SR__ENDINGS_4("_TRAIN.tsv", "_TEST.tsv", "_TRAIN.txt", "_TEST.txt"),
    .recognize = recognize,
    .read = read_ucr,
    .write = write_ucr,
    .holds_series = true,
    .is_text = true};
