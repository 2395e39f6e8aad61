/* T of rows in order: the largest reach that features, their sizes and the labels show. */
#include <math.h>
#include <stdlib.h>

#include "core/sort.h"
#include "dependence.h"
#include "reach.h"

enum { MOST_FEATURES = 64, QUARTERS = 4 };
#define CLEAR_SLOWING 3.5    /* standard errors, features together */
#define LOOK_AT_QUARTERS 8.0 /* rows of T below which its growth is not looked for */

typedef struct scale_job {
  const sr__columns *columns, *labels;
  const int64_t *chosen; /* features that are looked at; the slow coordinate is -1 */
  int64_t chosen_count;
  const float *slow;
  int64_t first, n; /* rows [first, first + n) */
  const sr__reach_plan *plan;
  double clear;
  double **scratch; /* per thread */
  sr__reach *found; /* 2 per feature, then 1 per class */
} scale_job;

/* ---- ranks ---------------------------------------------------------------------------------- */

/* A column, as it stands in memory. */
typedef struct scale_column {
  const float *value;
  const uint8_t *present; /* NULL: all are */
  int64_t rows;
} scale_column;

/* Ranks in (-1/2, 1/2), ties share their mean, 0 where the value is missing; `size` is how far a
 * rank lies from the middle. `items` holds two for each row. */
static void rank_column(scale_column column, sr__float_at *items, double *rank, double *size) {
  const float *x = column.value;
  const uint8_t *present = column.present;
  int64_t n = column.rows, count = 0;
  double mean = 0.0;
  for (int64_t i = 0; i < n; i++) {
    rank[i] = 0.0;
    if (!present || present[i]) items[count++] = (sr__float_at){x[i], (int32_t)i};
  }
  const sr__float_at *sorted = sr__sort_floats(items, items + n, count);
  for (int64_t low = 0, high; low < count; low = high) {
    for (high = low + 1; high < count && sorted[high].value == sorted[low].value;) high++;
    double value = 0.5 * (double)(low + high) / (double)count - 0.5;
    for (int64_t k = low; k < high; k++) rank[sorted[k].place] = value;
    mean += fabs(value) * (double)(high - low);
  }
  mean = count ? mean / (double)count : 0.0;
  for (int64_t i = 0; i < n; i++) size[i] = !present || present[i] ? fabs(rank[i]) : mean;
}

/* A thread keeps its scratch, because clearing pages for each column would take as long as ranking
 * it: two series, then what ranks and correlations need, one after the other. */
static sr_status measure_series(sr_context *ctx, void *data, int64_t item, int slot) {
  const scale_job *job = data;
  sr_status status = SR_OK;
  int64_t n = job->n, all = job->columns->n, reach = sr__reach_memory(job->plan);
  if (!job->scratch[slot]) SR_NEW(ctx, job->scratch[slot], 2 * n + (2 * n > reach ? 2 * n : reach));
  double *first = job->scratch[slot], *second = first + n, *memory = second + n;
  if (item < job->chosen_count) {
    int64_t j = job->chosen[item];
    const float *x = j < 0 ? job->slow : job->columns->value + j * all;
    const uint8_t *present =
        j < 0 || !job->columns->present ? NULL : job->columns->present + j * all;
    scale_column column = {x + job->first, present ? present + job->first : NULL, n};
    rank_column(column, (sr__float_at *)memory, first, second);
    sr__reach_measure_in(job->plan, first, second, (sr__reach_asked){job->clear, false}, memory,
                         job->found + 2 * item);
  } else {
    int64_t c = item - job->chosen_count;
    for (int64_t i = 0; i < n; i++) first[i] = (double)job->labels->value[c * all + job->first + i];
    sr__reach_measure_in(job->plan, first, NULL, (sr__reach_asked){sr__reach_clear(1), true},
                         memory, job->found + 2 * job->chosen_count + c);
  }
cleanup:
  return status;
}

/* ---- which features ------------------------------------------------------------------------- */

typedef struct lagged {
  double correlation;
  int64_t column;
} lagged;

static int by_correlation(const void *a, const void *b) {
  const lagged *x = a, *y = b;
  if (x->correlation != y->correlation) return x->correlation > y->correlation ? -1 : 1;
  return x->column < y->column ? -1 : x->column > y->column;
}

/* All features; of many, those that are most alike from row to row, and the slow coordinate. */
static sr_status choose_features(sr_context *ctx, const sr__rows *rows, const sr__columns *columns,
                                 const float *slow, int64_t *chosen, int64_t *count) {
  sr_status status = SR_OK;
  lagged *list = NULL;
  *count = 0;
  if (columns->count <= MOST_FEATURES) {
    for (; *count < columns->count; (*count)++) chosen[*count] = *count;
    return SR_OK;
  }
  SR_NEW(ctx, list, columns->count);
  for (int64_t j = 0; j < columns->count; j++) {
    const float *x = columns->value + j * columns->n;
    list[j] = (lagged){0.0, j};
    for (int64_t p = 0; p < rows->piece_count; p++) {
      const sr__piece *piece = rows->piece + p;
      int64_t end = piece->limit - 1 < piece->end ? piece->limit - 1 : piece->end;
      if (end > piece->start)
        list[j].correlation += sr__dot(x + piece->start, x + piece->start + 1, end - piece->start);
    }
  }
  qsort(list, (size_t)columns->count, sizeof *list, by_correlation);
  for (; *count < MOST_FEATURES; (*count)++) chosen[*count] = list[*count].column;
  if (slow) chosen[(*count)++] = -1;
cleanup:
  sr__free(ctx, list);
  return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static sr__reach largest_of(const sr__reach *found, int64_t count, int64_t step) {
  sr__reach largest = SR__NO_REACH;
  for (int64_t j = 0; j < count; j++) {
    const sr__reach *f = found + j * step;
    if (f->estimate > largest.estimate) largest.estimate = f->estimate;
    if (f->careful > largest.careful) largest.careful = f->careful;
    if (f->together > largest.together) largest.together = f->together;
    if (f->together_careful > largest.together_careful)
      largest.together_careful = f->together_careful;
  }
  return largest;
}

/* Seasons of features and classes; memory without end, features together. */
static void look_beyond(const scale_job *job, sr__row_scale *scale) {
  double slowing = 0.0, count = 0.0;
  scale->period = NAN;
  for (int64_t k = 2 * job->chosen_count + job->labels->count - 1; k >= 0; k--)
    if (isfinite(job->found[k].period)) scale->period = job->found[k].period;
  for (int64_t j = 0; j < job->chosen_count; j++) {
    if (!isfinite(job->found[2 * j].slowing)) continue;
    slowing += job->found[2 * j].slowing;
    count += 1.0;
  }
  scale->endless = slowing > CLEAR_SLOWING * sqrt(count);
}

/* Slow labels on fast features are faint: what is slow shows in few of them. Where many of their
 * correlations together reach so much farther than the features do, that is their memory. */
static void see_faint_labels(sr__row_scale *scale) {
  double seen = fmax(scale->features.estimate, scale->sizes.estimate);
  if (scale->labels.together <= SR__SLOW_LABELS * seen) return;
  scale->labels.estimate = fmax(scale->labels.estimate, scale->labels.together);
  scale->labels.careful = fmax(scale->labels.careful, scale->labels.together_careful);
}

static sr_status measure_rows(sr_context *ctx, scale_job *job, const sr__runs *runs,
                              sr__row_scale *scale) {
  sr_status status = SR_OK;
  sr__reach_plan plan = {0};
  SR_TRY(sr__reach_plan_new(ctx, runs, &plan));
  SR_NEW_ZERO(ctx, job->scratch, sr_context_threads(ctx));
  job->plan = &plan;
  SR_TRY(sr__parallel_for(ctx, job->chosen_count + job->labels->count, measure_series, job));
  scale->features = largest_of(job->found, job->chosen_count, 2);
  scale->sizes = largest_of(job->found + 1, job->chosen_count, 2);
  scale->labels = largest_of(job->found + 2 * job->chosen_count, job->labels->count, 1);
  see_faint_labels(scale);
  scale->all = largest_of((sr__reach[]){scale->features, scale->sizes, scale->labels}, 3, 1);
  look_beyond(job, scale);
cleanup:
  for (int s = 0; job->scratch && s < sr_context_threads(ctx); s++) sr__free(ctx, job->scratch[s]);
  sr__free(ctx, job->scratch);
  job->scratch = NULL;
  sr__reach_plan_free(ctx, &plan);
  return status;
}

/* The median T of the four quarters of one series. */
static sr_status measure_quarters(sr_context *ctx, scale_job *job, int64_t n, double *median) {
  sr_status status = SR_OK;
  double t[QUARTERS];
  for (int q = 0; q < QUARTERS; q++) {
    sr__row_scale quarter = {0};
    job->first = n * q / QUARTERS;
    job->n = n * (q + 1) / QUARTERS - job->first;
    int64_t start[2] = {0, job->n};
    SR_TRY(measure_rows(ctx, job, &(sr__runs){1, start}, &quarter));
    t[q] = quarter.all.estimate;
  }
  qsort(t, QUARTERS, sizeof *t, sr__compare_doubles);
  *median = 0.5 * (t[1] + t[2]);
cleanup:
  return status;
}

sr_status sr__row_scale_measure(sr_context *ctx, const sr__rows *rows, const sr__columns *columns,
                                const sr__columns *labels, const float *slow,
                                sr__row_scale *scale) {
  sr_status status = SR_OK;
  int64_t *chosen = NULL;
  scale_job job = {.columns = columns,
                   .labels = labels,
                   .slow = slow,
                   .n = rows->n,
                   .clear = sr__reach_clear(columns->count)};
  *scale = (sr__row_scale){.quarters = NAN, .period = NAN};
  SR_NEW(ctx, chosen, MOST_FEATURES + 1);
  SR_TRY(choose_features(ctx, rows, columns, slow, chosen, &job.chosen_count));
  job.chosen = chosen;
  SR_NEW(ctx, job.found, 2 * job.chosen_count + labels->count + 1);
  SR_TRY(measure_rows(ctx, &job, &(sr__runs){rows->groups, rows->group_start}, scale));
  if (rows->groups == 1 && scale->all.estimate > LOOK_AT_QUARTERS)
    SR_TRY(measure_quarters(ctx, &job, rows->n, &scale->quarters));
cleanup:
  sr__free(ctx, chosen);
  sr__free(ctx, job.found);
  return status;
}
