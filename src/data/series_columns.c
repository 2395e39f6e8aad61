#include "series_columns.h"

#include <math.h>

static int64_t longest_series(const sr_table_view *view) {
  int64_t longest = 0;
  for (int64_t i = 0; i < view->rows * view->channels; i++) {
    int64_t length = view->series_offset[i + 1] - view->series_offset[i];
    if (length > longest) longest = length;
  }
  return longest;
}

/* One long series beside many short ones must not ask for memory without bound. */
static sr_status check_padding(sr_context *ctx, const sr_table_view *view, int64_t length) {
  enum { ALWAYS_FINE = 1 << 20, MOST_PADDING = 1000 };
  double cells = (double)view->rows * view->channels * (double)length;
  double filled = (double)view->series_offset[view->rows * view->channels];
  if (cells <= ALWAYS_FINE || cells <= MOST_PADDING * filled) return SR_OK;
  return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                  "%lld series filled up to the length %lld would be nearly all padding; use a "
                  "learner that takes series, or cut the long ones",
                  (long long)view->rows, (long long)length);
}

static sr_status name_columns(sr_context *ctx, const sr_table_view *view, int64_t length,
                              char **text, const char **names) {
  enum { NAME_BYTES = 48 };
  sr_status status = SR_OK;
  int64_t added = view->channels * length;
  SR_NEW(ctx, *text, (view->features + added) * NAME_BYTES);
  for (int64_t j = 0; j < view->features + added; j++) {
    char *name = *text + j * NAME_BYTES;
    int64_t step = j - view->features;
    names[j] = name;
    if (j < view->features && view->feature_names)
      names[j] = view->feature_names[j];
    else if (j < view->features)
      snprintf(name, NAME_BYTES, "x%lld", (long long)j + 1);
    else if (view->channels == 1)
      snprintf(name, NAME_BYTES, "t%lld", (long long)step + 1);
    else
      snprintf(name, NAME_BYTES, "c%lld_t%lld", (long long)(step / length) + 1,
               (long long)(step % length) + 1);
  }
cleanup:
  return status;
}

static void fill_column(const sr_table_view *view, int64_t channel, int64_t step, float *to) {
  for (int64_t i = 0; i < view->rows; i++) {
    const int64_t *offset = view->series_offset + i * view->channels + channel;
    to[i] = step < offset[1] - offset[0] ? view->series[offset[0] + step] : NAN;
  }
}

sr_status sr__series_columns(sr_context *ctx, const sr_table *table, int64_t length,
                             sr_table **made) {
  sr_status status = SR_OK;
  const sr_table_view *from = sr_table_get(table);
  sr_table_view view = *from;
  float *x = NULL;
  char *text = NULL;
  const char **names = NULL;
  sr_dictionary *categories = NULL;
  *made = NULL;
  if (from->channels == 0) return SR_OK;
  if (length == 0) length = longest_series(from);
  SR_TRY(check_padding(ctx, from, length));
  view.features = from->features + from->channels * length;
  SR_NEW(ctx, x, view.features * from->rows);
  if (from->features) memcpy(x, from->x, (size_t)(from->features * from->rows) * sizeof *x);
  for (int64_t j = from->features; j < view.features; j++)
    fill_column(from, (j - from->features) / length, (j - from->features) % length,
                x + j * from->rows);
  SR_NEW(ctx, names, view.features);
  SR_TRY(name_columns(ctx, from, length, &text, names));
  if (from->categories) {
    SR_NEW_ZERO(ctx, categories, view.features);
    memcpy(categories, from->categories, (size_t)from->features * sizeof *categories);
  }
  view.x = x;
  view.feature_names = names;
  view.categories = categories;
  view.channels = 0;
  view.series = NULL;
  view.series_offset = NULL;
  view.channel_names = NULL;
  SR_TRY(sr_table_new(ctx, &view, made));
cleanup:
  sr__free(ctx, categories);
  sr__free(ctx, names);
  sr__free(ctx, text);
  sr__free(ctx, x);
  return status;
}

/* ---- from afar ---------------------------------------------------------------------------- */

enum { STRETCHES = 8 };

/* Mean of the values that are there in stretch k of a channel; NaN without any. */
static float stretch_mean(const float *x, int64_t length, int64_t k) {
  double sum = 0.0;
  int64_t count = 0;
  for (int64_t t = k * length / STRETCHES; t < (k + 1) * length / STRETCHES; t++)
    if (isfinite(x[t])) sum += (double)x[t], count++;
  return count ? (float)(sum / (double)count) : NAN;
}

sr_status sr__series_summary(sr_context *ctx, const sr_table *table, sr_table **made) {
  sr_status status = SR_OK;
  const sr_table_view *from = sr_table_get(table);
  int64_t pieces = from->rows * from->channels;
  int64_t *offset = NULL;
  float *mean = NULL;
  sr_table *stretches = NULL;
  *made = NULL;
  if (from->channels == 0) return SR_OK;
  if (longest_series(from) <= STRETCHES) return sr__series_columns(ctx, table, 0, made);
  SR_NEW(ctx, offset, pieces + 1);
  SR_NEW(ctx, mean, pieces * STRETCHES);
  offset[0] = 0;
  for (int64_t i = 0; i < pieces; i++) {
    const float *x = from->series + from->series_offset[i];
    int64_t length = from->series_offset[i + 1] - from->series_offset[i];
    offset[i + 1] = offset[i] + STRETCHES;
    for (int64_t k = 0; k < STRETCHES; k++) mean[offset[i] + k] = stretch_mean(x, length, k);
  }
  sr_table_view view = *from;
  view.series_offset = offset;
  view.series = mean;
  SR_TRY(sr_table_new(ctx, &view, &stretches));
  SR_TRY(sr__series_columns(ctx, stretches, STRETCHES, made));
cleanup:
  sr_table_free(&stretches);
  sr__free(ctx, offset);
  sr__free(ctx, mean);
  return status;
}

/* ---- the other way ------------------------------------------------------------------------ */

static sr_status only_numbers(sr_context *ctx, const char *file, const sr_table_view *table) {
  for (int64_t j = 0; j < table->features; j++) {
    sr_dictionary texts = sr__categories_of(table, j);
    if (texts.count)
      return sr__fail_at(ctx, SR_ERROR_DATA, file, 0, 0,
                         "column '%s' holds text such as '%s', but the values of a series are "
                         "numbers; name the class column with target or drop this one",
                         table->feature_names[j], texts.names[0]);
  }
  return SR_OK;
}

static int64_t length_without_padding(const sr_table_view *table, int64_t row) {
  int64_t length = table->features;
  while (length > 0 && isnan(table->x[(length - 1) * table->rows + row])) length--;
  return length;
}

sr_status sr__columns_to_series(sr_context *ctx, const char *file, const sr_table *table,
                                sr_table **made) {
  sr_status status = SR_OK;
  const sr_table_view *from = sr_table_get(table);
  sr_table_view view = *from;
  int64_t *offset = NULL;
  float *series = NULL;
  *made = NULL;
  SR_TRY(only_numbers(ctx, file, from));
  SR_NEW_ZERO(ctx, offset, from->rows + 1);
  for (int64_t i = 0; i < from->rows; i++)
    offset[i + 1] = offset[i] + length_without_padding(from, i);
  SR_NEW(ctx, series, offset[from->rows]);
  for (int64_t i = 0; i < from->rows; i++) {
    for (int64_t t = 0; t < offset[i + 1] - offset[i]; t++)
      series[offset[i] + t] = from->x[t * from->rows + i];
  }
  view.features = 0;
  view.x = NULL;
  view.feature_names = NULL;
  view.categories = NULL;
  view.channels = 1;
  view.series_offset = offset;
  view.series = series;
  SR_TRY(sr_table_new(ctx, &view, made));
cleanup:
  sr__free(ctx, series);
  sr__free(ctx, offset);
  return status;
}
