/* How far residuals reach: correlation by distance, pairs of one unit left out. */
#include <math.h>
#include <stdlib.h>

#include "core/maths.h"
#include "core/random.h"
#include "core/sort.h"
#include "data/table.h"
#include "dependence/dependence.h"
#include "places.h"

enum {
  BINS = SR__RANGE_BINS,
  MOST_SAMPLED = 1200,
  MOST_FITTED = 20000,
  LEAST_PAIRS = 20,
  LENGTHS = 40
};
static const double FALLEN = 0.05;   /* where a correlation counts as gone */
static const double EXPLAINED = 0.8; /* of the squares that a curve may leave */

/* The residuals of some rows: `count` vectors of `width`, and the rows. */
typedef struct residuals {
  int64_t count, width;
  float *value; /* row-major */
  int32_t *row;
} residuals;

static void residuals_free(sr_context *ctx, residuals *r) {
  sr__free(ctx, r->value);
  sr__free(ctx, r->row);
}

static sr_status draw_rows(sr_context *ctx, const sr_table_view *view, uint64_t seed,
                           residuals *r) {
  sr_status status = SR_OK;
  sr__random random;
  SR_NEW(ctx, r->row, view->rows);
  for (int64_t i = 0; i < view->rows; i++)
    if (view->label ? view->label[i] >= 0 : view->value && !isnan(view->value[i]))
      r->row[r->count++] = (int32_t)i;
  sr__random_init(&random, seed, SR_PURPOSE_PERMUTE, 1, 0);
  sr__random_shuffle(&random, r->row, r->count);
  if (r->count > MOST_FITTED) r->count = MOST_FITTED;
cleanup:
  return status;
}

/* One column of a number target, centered and of variance 1. */
static sr_status value_column(sr_context *ctx, const sr_table_view *view, sr__columns *column) {
  sr_status status = SR_OK;
  double mean = 0.0, square = 0.0;
  int64_t n = view->rows;
  *column = (sr__columns){.n = n, .count = 1};
  SR_NEW(ctx, column->value, n);
  SR_NEW(ctx, column->present, n);
  for (int64_t i = 0; i < n; i++) mean += view->value[i] / (double)n;
  for (int64_t i = 0; i < n; i++)
    square += (view->value[i] - mean) * (view->value[i] - mean) / (double)n;
  for (int64_t i = 0; i < n; i++) {
    column->value[i] = square > 0.0 ? (float)((view->value[i] - mean) / sqrt(square)) : 0.0F;
    column->present[i] = 1;
  }
cleanup:
  return status;
}

/* Indicators have variance 1 after standardizing; each gets back the weight of its class. */
static double class_deviation(const sr_table_view *view, int32_t c) {
  int64_t held = 0;
  for (int64_t i = 0; i < view->rows; i++) held += view->label[i] == c;
  double share = (double)held / (double)view->rows;
  return sqrt(share * (1.0 - share));
}

static sr_status fill_residuals(sr_context *ctx, const sr_table *table, residuals *r) {
  sr_status status = SR_OK;
  sr_table *some = NULL;
  sr__columns features = {0}, targets = {0};
  int64_t *order = NULL;
  SR_TRY(sr__table_select(ctx, table, r->row, r->count, &some));
  const sr_table_view *view = sr_table_get(some);
  SR_NEW(ctx, order, r->count);
  for (int64_t i = 0; i < r->count; i++) order[i] = i;
  SR_TRY(sr__columns_standardize(ctx, view, order, &features));
  SR_TRY(view->label ? sr__columns_labels(ctx, view, order, &targets)
                     : value_column(ctx, view, &targets));
  SR_TRY(sr__columns_residuals(ctx, &features, &targets));
  if (r->count > MOST_SAMPLED) r->count = MOST_SAMPLED;
  r->width = targets.count;
  SR_NEW(ctx, r->value, r->count * r->width);
  for (int64_t c = 0, class = 0; c < r->width; c++, class ++) {
    double scale = 1.0;
    while (view->label && !((scale = class_deviation(view, (int32_t) class)) > 0.0)) class ++;
    for (int64_t i = 0; i < r->count; i++)
      r->value[i * r->width + c] = (float)scale * targets.value[c * targets.n + i];
  }
cleanup:
  sr__free(ctx, order);
  sr__columns_free(ctx, &features);
  sr__columns_free(ctx, &targets);
  sr_table_free(&some);
  return status;
}

/* ---- correlation by distance ------------------------------------------------------------------
 */

typedef struct pair {
  double distance, product;
} pair;

static int nearer_first(const void *x, const void *y) {
  const pair *a = x, *b = y;
  if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
  return (a->product > b->product) - (a->product < b->product);
}

static double between(const sr__places *p, int32_t a, int32_t b) {
  double sum = 0.0;
  for (int32_t j = 0; j < p->dimension; j++) {
    double gap = p->at[j * p->count + a] - p->at[j * p->count + b];
    sum += gap * gap;
  }
  return sr__arc_of_chord(p, sqrt(sum));
}

static sr_status list_pairs(sr_context *ctx, const residuals *r, const sr__places *p,
                            const int32_t *apart, pair **pairs, int64_t *count) {
  sr_status status = SR_OK;
  double power = 0.0;
  *count = 0;
  SR_NEW(ctx, *pairs, r->count * (r->count - 1) / 2 + 1);
  for (int64_t k = 0; k < r->count * r->width; k++)
    power += (double)r->value[k] * (double)r->value[k];
  power /= (double)r->count;
  if (!(power > 0.0)) goto cleanup;
  for (int64_t i = 0; i < r->count; i++) {
    if (i % 64 == 0) SR_TRY(sr__check_interrupt(ctx));
    for (int64_t j = i + 1; j < r->count; j++) {
      if (apart && apart[r->row[i]] == apart[r->row[j]]) continue;
      double product = 0.0;
      for (int64_t c = 0; c < r->width; c++)
        product += (double)r->value[i * r->width + c] * (double)r->value[j * r->width + c];
      (*pairs)[(*count)++] =
          (pair){between(p, p->place[r->row[i]], p->place[r->row[j]]), product / power};
    }
  }
  SR_TRY(sr__sort(ctx, *pairs, *count, sizeof **pairs, nearer_first));
cleanup:
  return status;
}

typedef struct correlogram {
  int bins;
  double distance[BINS], correlation[BINS], weight[BINS];
} correlogram;

static double at_share(const pair *pairs, int64_t count, double share) {
  double place = share * (double)(count - 1);
  int64_t low = (int64_t)place, high = low + 1 < count ? low + 1 : low;
  return pairs[low].distance + (place - (double)low) * (pairs[high].distance - pairs[low].distance);
}

/* Bins grow geometrically from the nearest pairs to half of all. */
static void bin_pairs(const pair *pairs, int64_t count, correlogram *g) {
  double first = fmax(at_share(pairs, count, 5e-4), 1e-9), last = at_share(pairs, count, 0.5);
  double ratio = sr__pow_portable(last / first, 1.0 / BINS), edge = first;
  int64_t i = 0;
  for (int b = 0; b < BINS; b++) {
    double distance = 0.0, product = 0.0;
    int64_t begin = i;
    edge = b + 1 == BINS ? last : edge * ratio;
    for (; i < count && pairs[i].distance < edge; i++) {
      distance += pairs[i].distance;
      product += pairs[i].product;
    }
    int64_t inside = i - begin;
    if (inside < LEAST_PAIRS) continue;
    g->distance[g->bins] = distance / (double)inside;
    g->correlation[g->bins] = product / (double)inside;
    g->weight[g->bins++] = sqrt((double)inside);
  }
}

/* share * exp(-h / length) by least squares over a grid of lengths. */
static void fit_curve(const correlogram *g, double extent, sr__range *range) {
  double best = INFINITY, plain = 0.0;
  if (g->bins == 0) return;
  double low = fmax(g->distance[0], extent / 2000.0);
  for (int b = 0; b < g->bins; b++) plain += g->weight[b] * g->correlation[b] * g->correlation[b];
  for (int k = 0; k < LENGTHS; k++) {
    double length = low * sr__pow_portable(extent / low, (double)k / (LENGTHS - 1)), top = 0.0,
           bottom = 0.0, left = 0.0;
    for (int b = 0; b < g->bins; b++) {
      double e = sr__exp_portable(-g->distance[b] / length);
      top += g->weight[b] * e * g->correlation[b];
      bottom += g->weight[b] * e * e;
    }
    double share = fmin(1.0, fmax(0.0, top / bottom));
    for (int b = 0; b < g->bins; b++) {
      double miss = g->correlation[b] - share * sr__exp_portable(-g->distance[b] / length);
      left += g->weight[b] * miss * miss;
    }
    if (left >= best) continue;
    best = left;
    range->share = share;
    range->length = length;
  }
  if (!(best <= EXPLAINED * plain)) range->share = range->length = 0.0;
  if (range->share > FALLEN) range->reach = range->length * sr__log_portable(range->share / FALLEN);
}

/* Rows are worth n / (1 + (n - 1) mean correlation of two of them). */
static void count_patches(const residuals *r, const sr__places *p, int64_t rows, sr__range *range) {
  double sum = 0.0;
  for (int64_t i = 0; range->share > 0.0 && i < r->count; i++)
    for (int64_t j = i + 1; j < r->count; j++)
      sum += range->share * sr__exp_portable(-between(p, p->place[r->row[i]], p->place[r->row[j]]) /
                                             range->length);
  double pairs = 0.5 * (double)r->count * ((double)r->count - 1.0);
  range->patches = (double)rows / (1.0 + ((double)rows - 1.0) * (pairs > 0.0 ? sum / pairs : 0.0));
}

sr_status sr__range_estimate(sr_context *ctx, const sr_table *table, const sr__places *places,
                             const int32_t *apart, uint64_t seed, sr__range *range) {
  sr_status status = SR_OK;
  residuals r = {0};
  pair *pairs = NULL;
  int64_t count = 0;
  correlogram g = {0};
  *range = (sr__range){.patches = NAN};
  SR_TRY(draw_rows(ctx, sr_table_get(table), seed, &r));
  if (r.count < 3) goto cleanup;
  SR_TRY(fill_residuals(ctx, table, &r));
  if (r.width == 0) goto cleanup;
  SR_TRY(list_pairs(ctx, &r, places, apart, &pairs, &count));
  if (count >= LEAST_PAIRS) {
    bin_pairs(pairs, count, &g);
    fit_curve(&g, places->extent, range);
    range->bins = g.bins;
    memcpy(range->distance, g.distance, sizeof g.distance);
    memcpy(range->correlation, g.correlation, sizeof g.correlation);
  }
  count_patches(&r, places, sr_table_get(table)->rows, range);
cleanup:
  residuals_free(ctx, &r);
  sr__free(ctx, pairs);
  return status;
}
