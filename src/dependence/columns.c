/* Standardized feature and label columns in position order. */
#include <math.h>
#include <stdlib.h>

#include "core/sort.h"
#include "data/column_moments.h"
#include "dependence.h"

enum { SAMPLE = 4096, MOST_CATEGORIES = 16 };

/* Where a column comes from: a feature as it is, or the indicator of one of its categories. */
typedef struct column_source {
  int64_t feature;
  int32_t category; /* -1: numeric */
} column_source;

typedef struct column_job {
  const sr_table_view *table;
  const int64_t *order;
  const column_source *source;
  sr__columns *columns;
  int64_t *missing; /* a column */
  uint8_t *useless; /* a column: 1 constant, 2 empty */
} column_job;

/* Bounds beyond which a value is pulled in, from a strided sample; wide open where the middle 80 %
 * of the values are equal. */
static void winsor_bounds(const float *x, int64_t n, float *low, float *high) {
  float sample[SAMPLE];
  int64_t count = 0, stride = n / SAMPLE + 1;
  for (int64_t i = 0; i < n; i += stride)
    if (isfinite(x[i])) sample[count++] = x[i];
  *low = -HUGE_VALF;
  *high = HUGE_VALF;
  if (count < 10) return;
  qsort(sample, (size_t)count, sizeof *sample, sr__compare_floats);
  float spread = sample[count * 9 / 10] - sample[count / 10], median = sample[count / 2];
  if (!(spread > 0.0F) || !isfinite(spread)) return;
  *low = median - 4.0F * spread;
  *high = median + 4.0F * spread;
}

/* Mean 0 and, where asked, variance 1 over the values there are; NaN for the others. Tells how many
 * are missing and whether the column varies at all. */
static int standardize(float *x, int64_t n, bool scale, int64_t *missing) {
  sr__moments m = sr__column_moments(x, n);
  *missing = n - m.finite;
  if (m.finite == 0) return 2;
  double factor = scale ? 1.0 / m.deviation : 1.0;
  if (!(m.deviation > 0.0) || !isfinite(factor)) return 1;
  for (int64_t i = 0; i < n; i++)
    x[i] = isnan(x[i]) ? NAN : (float)(((double)x[i] - m.mean) * factor);
  return 0;
}

/* Copies one column in position order; missing values become NaN. */
static sr_status make_column(sr_context *ctx, void *data, int64_t j, int slot) {
  (void)slot;
  column_job *job = data;
  int64_t n = job->columns->n;
  const float *x = job->table->x + job->source[j].feature * n;
  float *out = job->columns->value + j * n, low = -HUGE_VALF, high = HUGE_VALF;
  int32_t category = job->source[j].category;
  if (category < 0) winsor_bounds(x, n, &low, &high);
  for (int64_t p = 0; p < n; p++) {
    float value = x[job->order[p]];
    if (category >= 0 && !isnan(value))
      out[p] = value == (float)category ? 1.0F : 0.0F;
    else
      out[p] = !isfinite(value) ? NAN : value < low ? low : value > high ? high : value;
  }
  job->useless[j] = (uint8_t)standardize(out, n, true, job->missing + j);
  return sr__check_interrupt(ctx);
}

/* Numbers are one column; a feature with a few categories is one indicator each. */
static sr_status list_sources(sr_context *ctx, const sr_table_view *table, sr__columns *columns,
                              column_source **source) {
  sr_status status = SR_OK;
  int64_t capacity = 0;
  columns->count = 0;
  for (int64_t j = 0; j < table->features; j++) {
    int32_t categories = table->categories ? table->categories[j].count : 0;
    if (categories > MOST_CATEGORIES) {
      columns->many_categories++;
      continue;
    }
    /* Two categories have one indicator: the second would be its mirror image. */
    int32_t indicators = categories == 0 ? 1 : categories <= 2 ? 1 : categories;
    SR_GROW(ctx, *source, capacity, columns->count + indicators);
    for (int32_t c = 0; c < indicators; c++)
      (*source)[columns->count++] = (column_source){j, categories ? c : -1};
  }
cleanup:
  return status;
}

/* Closes the gaps that constant and empty columns leave, and flags missing values. */
static sr_status compact(sr_context *ctx, const column_job *job) {
  sr_status status = SR_OK;
  sr__columns *columns = job->columns;
  int64_t n = columns->n, kept = 0, missing = 0;
  for (int64_t j = 0; j < columns->count; j++) {
    columns->constant += job->useless[j] == 1;
    columns->empty += job->useless[j] == 2;
    if (job->useless[j]) continue;
    if (kept != j) memmove(columns->value + kept * n, columns->value + j * n, (size_t)n * 4);
    columns->feature[kept++] = job->source[j].feature;
    missing += job->missing[j];
  }
  columns->count = kept;
  columns->missing_share = kept ? (double)missing / ((double)kept * (double)n) : 0.0;
  if (missing == 0) goto cleanup;
  SR_NEW(ctx, columns->present, kept * n);
  for (int64_t i = 0; i < kept * n; i++) {
    columns->present[i] = !isnan(columns->value[i]);
    if (!columns->present[i]) columns->value[i] = 0.0F;
  }
cleanup:
  return status;
}

sr_status sr__columns_standardize(sr_context *ctx, const sr_table_view *table, const int64_t *order,
                                  sr__columns *columns) {
  sr_status status = SR_OK;
  column_source *source = NULL;
  column_job job = {.table = table, .order = order, .columns = columns};
  *columns = (sr__columns){.n = table->rows};
  SR_TRY(list_sources(ctx, table, columns, &source));
  job.source = source;
  SR_NEW(ctx, columns->value, columns->count * columns->n);
  SR_NEW(ctx, columns->feature, columns->count);
  SR_NEW(ctx, job.missing, columns->count);
  SR_NEW(ctx, job.useless, columns->count);
  SR_TRY(sr__parallel_for(ctx, columns->count, make_column, &job));
  SR_TRY(compact(ctx, &job));
cleanup:
  sr__free(ctx, source);
  sr__free(ctx, job.missing);
  sr__free(ctx, job.useless);
  return status;
}

sr_status sr__columns_labels(sr_context *ctx, const sr_table_view *table, const int64_t *order,
                             sr__columns *columns) {
  sr_status status = SR_OK;
  int64_t n = table->rows, missing = 0;
  *columns = (sr__columns){.n = n};
  if (!table->label || table->classes.count < 2 || table->classes.count > MOST_CATEGORIES)
    goto cleanup;
  int32_t classes = table->classes.count;
  SR_NEW(ctx, columns->value, classes * n);
  SR_NEW(ctx, columns->present, classes * n);
  for (int32_t c = 0; c < classes; c++) {
    float *x = columns->value + columns->count * n;
    uint8_t *present = columns->present + columns->count * n;
    for (int64_t p = 0; p < n; p++) {
      int32_t label = table->label[order[p]];
      x[p] = label < 0 ? NAN : label == c ? 1.0F : 0.0F;
    }
    if (standardize(x, n, false, &missing) != 0) continue;
    for (int64_t p = 0; p < n; p++) {
      present[p] = !isnan(x[p]);
      if (!present[p]) x[p] = 0.0F;
    }
    columns->count++;
  }
cleanup:
  return status;
}

void sr__columns_free(sr_context *ctx, sr__columns *columns) {
  sr__free(ctx, columns->value);
  sr__free(ctx, columns->present);
  sr__free(ctx, columns->feature);
  *columns = (sr__columns){0};
}
