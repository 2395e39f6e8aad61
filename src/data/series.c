/* Sets of series, and their passage to and from tables with one series a row. */
#include <math.h>

#include "read.h"

static sr_status check_series(sr_context *ctx, const sr_series_view *view) {
  if (view->cases < 0 || view->channels < 1 || view->cases > INT32_MAX)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "%lld series of %d channels were asked for; expected 0 to %d series and at "
                    "least one channel",
                    (long long)view->cases, view->channels, INT32_MAX);
  int64_t pieces = view->cases * view->channels;
  if (!view->offset || view->offset[0] != 0)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "series need offsets that start at 0");
  for (int64_t i = 0; i < pieces; i++) {
    if (view->offset[i + 1] < view->offset[i])
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "offset %lld of the series is below the one before",
                      (long long)(i + 1));
  }
  if (!view->value && view->offset[pieces] > 0)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "series need their values");
  for (int64_t i = 0; view->label && i < view->cases; i++) {
    if (view->label[i] < -1 || view->label[i] >= view->classes.count)
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "label of series %lld is %d, expected -1 to %d",
                      (long long)i, view->label[i], view->classes.count - 1);
  }
  return SR_OK;
}

sr_status sr_series_new(sr_context *ctx, const sr_series_view *view, sr_series **series) {
  sr_status status = SR_OK;
  sr_series *made = NULL;
  *series = NULL;
  SR_TRY(check_series(ctx, view));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  int64_t pieces = view->cases * view->channels, values = view->offset[pieces];
  sr_series_view *to = &made->view;
  to->cases = view->cases;
  to->channels = view->channels;
  SR_COPY_ARRAY(ctx, to->offset, view->offset, pieces + 1);
  SR_COPY_ARRAY(ctx, to->value, view->value, values);
  SR_COPY_ARRAY(ctx, to->label, view->label, view->cases);
  SR_TRY(sr__dictionary_copy(ctx, view->classes, &to->classes));
  if (view->name) {
    to->name = sr__strdup(ctx, view->name);
    if (!to->name) SR_TRY(SR_ERROR_MEMORY);
  }
  *series = made;
  made = NULL;
cleanup:
  sr_series_free(&made);
  return status;
}

void sr_series_free(sr_series **series) {
  if (!series || !*series) return;
  sr_series *s = *series;
  sr_allocator allocator = s->allocator;
  const void *blocks[] = {s->view.offset, s->view.value, s->view.label, s->view.classes.names,
                          s->view.name};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    sr__release(&allocator, (void *)(uintptr_t)blocks[i]);
  sr__release(&allocator, s);
  *series = NULL;
}

const sr_series_view *sr_series_get(const sr_series *series) { return &series->view; }

/* ---- tables ------------------------------------------------------------------------------- */

static sr_status only_numbers(sr_context *ctx, const char *file, const sr_table_view *table) {
  for (int64_t j = 0; table->categories && j < table->features; j++) {
    if (table->categories[j].count)
      return sr__fail_at(ctx, SR_ERROR_DATA, file, 0, 0,
                         "column '%s' holds text such as '%s', but the values of a series are "
                         "numbers; name the class column with target or drop this one",
                         table->feature_names[j], table->categories[j].names[0]);
  }
  return SR_OK;
}

static int64_t length_without_padding(const sr_table_view *table, int64_t row) {
  int64_t length = table->features;
  while (length > 0 && isnan(table->x[(length - 1) * table->rows + row])) length--;
  return length;
}

sr_status sr__series_from_table(sr_context *ctx, const char *file, const sr_table *table,
                                sr_series **series) {
  sr_status status = SR_OK;
  const sr_table_view *from = sr_table_get(table);
  int64_t *offset = NULL;
  float *value = NULL;
  *series = NULL;
  SR_TRY(only_numbers(ctx, file, from));
  SR_NEW_ZERO(ctx, offset, from->rows + 1);
  for (int64_t i = 0; i < from->rows; i++)
    offset[i + 1] = offset[i] + length_without_padding(from, i);
  SR_NEW(ctx, value, offset[from->rows]);
  for (int64_t i = 0; i < from->rows; i++) {
    for (int64_t t = 0; t < offset[i + 1] - offset[i]; t++)
      value[offset[i] + t] = from->x[t * from->rows + i];
  }
  sr_series_view view = {.cases = from->rows,
                         .channels = 1,
                         .offset = offset,
                         .value = value,
                         .label = from->label,
                         .classes = from->classes};
  SR_TRY(sr_series_new(ctx, &view, series));
cleanup:
  sr__free(ctx, value);
  sr__free(ctx, offset);
  return status;
}

static int64_t longest_channel(const sr_series_view *from) {
  int64_t longest = 0;
  for (int64_t i = 0; i < from->cases * from->channels; i++) {
    int64_t length = from->offset[i + 1] - from->offset[i];
    if (length > longest) longest = length;
  }
  return longest;
}

static sr_status name_features(sr_context *ctx, int64_t channels, int64_t length, char **text,
                               const char ***names) {
  enum { NAME_BYTES = 48 };
  sr_status status = SR_OK;
  SR_NEW(ctx, *names, channels * length);
  SR_NEW(ctx, *text, channels * length * NAME_BYTES);
  for (int64_t j = 0; j < channels * length; j++) {
    char *name = *text + j * NAME_BYTES;
    if (channels == 1)
      snprintf(name, NAME_BYTES, "t%lld", (long long)j + 1);
    else
      snprintf(name, NAME_BYTES, "c%lld_t%lld", (long long)(j / length) + 1,
               (long long)(j % length) + 1);
    (*names)[j] = name;
  }
cleanup:
  return status;
}

sr_status sr__table_from_series(sr_context *ctx, const sr_series *series, sr_table **table) {
  sr_status status = SR_OK;
  const sr_series_view *from = sr_series_get(series);
  int64_t length = longest_channel(from), features = length * from->channels;
  float *x = NULL;
  char *text = NULL;
  const char **names = NULL;
  *table = NULL;
  /* One long series beside many short ones must not ask for memory without bound. */
  if (features > 0 && from->cases > ((int64_t)1 << 20) / features &&
      from->cases * (double)features > 1000.0 * (double)from->offset[from->cases * from->channels])
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "%lld series filled up to the longest length %lld would be nearly all "
                    "padding; read them as series",
                    (long long)from->cases, (long long)length));
  SR_NEW(ctx, x, features * from->cases);
  for (int64_t j = 0; j < features; j++) {
    for (int64_t i = 0; i < from->cases; i++) {
      const int64_t *offset = from->offset + i * from->channels + j / length;
      int64_t t = j % length;
      x[j * from->cases + i] = t < offset[1] - offset[0] ? from->value[offset[0] + t] : NAN;
    }
  }
  SR_TRY(name_features(ctx, from->channels, length, &text, &names));
  sr_table_view view = {.rows = from->cases,
                        .features = features,
                        .x = x,
                        .feature_names = names,
                        .label = from->label,
                        .classes = from->classes,
                        .target_name = from->label ? "class" : NULL};
  SR_TRY(sr_table_new(ctx, &view, table));
cleanup:
  sr__free(ctx, names);
  sr__free(ctx, text);
  sr__free(ctx, x);
  return status;
}
