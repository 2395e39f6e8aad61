#include "applicability.h"

#include <math.h>
#include <stdlib.h>

#include <specroute/stats.h>

#include "core/random.h"
#include "core/sort.h"
#include "data/column_moments.h"
#include "data/dictionary.h"

enum { MOST_ROWS = 2000, LEAST_ROWS = 20, LANES = 16 };

void sr__applicability_free(const sr_allocator *allocator, sr_applicability **a) {
  if (!*a) return;
  sr__release(allocator, (*a)->mean);
  sr__release(allocator, (*a)->scale);
  sr__release(allocator, (*a)->row);
  sr__release(allocator, *a);
  *a = NULL;
}

static sr_status make_room(sr_context *ctx, int64_t rows, int64_t features, sr_applicability **a) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, *a, 1);
  (*a)->rows = rows;
  (*a)->features = features;
  SR_NEW_ZERO(ctx, (*a)->mean, features);
  SR_NEW_ZERO(ctx, (*a)->scale, features);
  SR_NEW(ctx, (*a)->row, rows * features);
cleanup:
  return status;
}

/* ---- the sample ----------------------------------------------------------------------------- */

/* Mean and spread of the numbers of a feature; categories and constants are not compared. */
static bool measure(const sr_table_view *t, int64_t j, float *mean, float *scale) {
  if (sr__categories_of(t, j).count > 0) return false;
  sr__moments m = sr__column_moments(t->x + j * t->rows, t->rows);
  if (m.finite < 2 || !(m.deviation > 1e-6 * fabs(m.mean))) return false;
  *mean = (float)m.mean;
  *scale = (float)(1.0 / m.deviation);
  return true;
}

static sr_status draw_rows(sr_context *ctx, int64_t n, int64_t count, uint64_t seed,
                           int32_t *drawn) {
  sr_status status = SR_OK;
  sr__random random;
  uint64_t *bitmap = NULL;
  SR_NEW_ZERO(ctx, bitmap, (n + 63) / 64);
  sr__random_init(&random, seed, SR_PURPOSE_PERMUTE, 2, 0);
  sr__random_sample(&random, n, count, bitmap, drawn);
cleanup:
  sr__free(ctx, bitmap);
  return status;
}

static void standardize(const sr_applicability *a, const sr_table_view *t, int64_t i, float *to) {
  for (int64_t j = 0; j < a->features; j++) {
    float x = t->x[j * t->rows + i];
    to[j] = isfinite(x) ? (x - a->mean[j]) * a->scale[j] : 0.0f;
  }
}

/* The sample in tiles of LANES rows, a feature of all of them side by side; rows behind the last
 * are infinitely far. */
static sr_status lay_tiles(sr_context *ctx, const sr_applicability *a, float **tiles) {
  sr_status status = SR_OK;
  int64_t count = (a->rows + LANES - 1) / LANES * LANES;
  SR_NEW(ctx, *tiles, count * a->features);
  for (int64_t k = 0; k < count; k++)
    for (int64_t j = 0; j < a->features; j++)
      (*tiles)[(k / LANES * a->features + j) * LANES + k % LANES] =
          k < a->rows ? a->row[k * a->features + j] : INFINITY;
cleanup:
  return status;
}

typedef float four __attribute__((vector_size(16), aligned(4)));

/* Squared distances from a row to those of a tile: each sum is one of floats in order of the
 * features, the same on every machine. */
static void apart(const float *row, const float *tile, int64_t features, float sum[LANES]) {
  four total[LANES / 4] = {0};
  for (int64_t j = 0; j < features; j++) {
    four here = row[j] - (four){0};
#pragma GCC unroll 4
    for (int q = 0; q < LANES / 4; q++) {
      four d = here - *(const four *)(tile + j * LANES + 4 * q);
      total[q] += d * d;
    }
  }
  memcpy(sum, total, sizeof total);
}

/* Distances from each row of the sample to the nearest of another fold, and their upper whisker. */
static sr_status find_limit(sr_context *ctx, const int32_t *fold, sr_applicability *a) {
  sr_status status = SR_OK;
  double *nearest = NULL;
  float *tiles = NULL;
  int64_t known = 0;
  SR_NEW(ctx, nearest, a->rows);
  SR_TRY(lay_tiles(ctx, a, &tiles));
  for (int64_t i = 0; i < a->rows; i++) {
    float best = INFINITY, d[LANES];
    SR_TRY(sr__check_interrupt(ctx));
    for (int64_t k = 0; k < a->rows; k += LANES) {
      apart(a->row + i * a->features, tiles + k * a->features, a->features, d);
      for (int64_t lane = 0; lane < LANES && k + lane < a->rows; lane++)
        if (fold[k + lane] != fold[i] && d[lane] < best) best = d[lane];
    }
    if (isfinite(best)) nearest[known++] = sqrt((double)best);
  }
  a->limit = NAN;
  if (known == 0) goto cleanup;
  qsort(nearest, (size_t)known, sizeof *nearest, sr__compare_doubles);
  double low = sr_quantile_sorted(known, nearest, 0.25),
         high = sr_quantile_sorted(known, nearest, 0.75);
  a->limit = high + 1.5 * (high - low);
cleanup:
  sr__free(ctx, nearest);
  sr__free(ctx, tiles);
  return status;
}

sr_status sr__applicability_new(sr_context *ctx, const sr_table_view *table, const int32_t *fold,
                                uint64_t seed, sr_applicability **made) {
  sr_status status = SR_OK;
  sr_applicability *a = NULL;
  sr_allocator allocator = sr__allocator(ctx);
  int64_t rows = table->rows < MOST_ROWS ? table->rows : MOST_ROWS, compared = 0;
  int32_t *drawn = NULL, *fold_of = NULL;
  *made = NULL;
  if (rows < LEAST_ROWS || table->features == 0) return SR_OK;
  SR_TRY(make_room(ctx, rows, table->features, &a));
  SR_NEW(ctx, drawn, rows);
  SR_NEW(ctx, fold_of, rows);
  for (int64_t j = 0; j < table->features; j++)
    compared += measure(table, j, &a->mean[j], &a->scale[j]);
  SR_TRY(draw_rows(ctx, table->rows, rows, seed, drawn));
  for (int64_t k = 0; k < rows; k++) {
    fold_of[k] = fold[drawn[k]];
    standardize(a, table, drawn[k], a->row + k * a->features);
  }
  SR_TRY(find_limit(ctx, fold_of, a));
  if (compared > 0 && isfinite(a->limit)) {
    *made = a;
    a = NULL;
  }
cleanup:
  sr__applicability_free(&allocator, &a);
  sr__free(ctx, drawn);
  sr__free(ctx, fold_of);
  return status;
}

/* ---- asking --------------------------------------------------------------------------------- */

sr_status sr__applicability_ask(sr_context *ctx, const sr_applicability *a,
                                const sr_table_view *table, int64_t first, int64_t count,
                                float *outside) {
  sr_status status = SR_OK;
  float *row = NULL, *tiles = NULL, limit = (float)(a->limit * a->limit);
  SR_NEW(ctx, row, a->features);
  SR_TRY(lay_tiles(ctx, a, &tiles));
  for (int64_t i = 0; i < count; i++) {
    int near = 0;
    standardize(a, table, first + i, row);
    for (int64_t k = 0; k < a->rows && !near; k += LANES) {
      float d[LANES];
      apart(row, tiles + k * a->features, a->features, d);
      for (int lane = 0; lane < LANES; lane++) near += d[lane] <= limit;
    }
    outside[i] = near ? 0.0f : 1.0f;
  }
cleanup:
  sr__free(ctx, row);
  sr__free(ctx, tiles);
  return status;
}

/* ---- in a model ----------------------------------------------------------------------------- */

void sr__applicability_save(const sr_applicability *a, sr__bytes *to) {
  sr__put_u64(to, (uint64_t)a->rows);
  sr__put_f64(to, a->limit);
  for (int64_t j = 0; j < a->features; j++) {
    sr__put_f32(to, a->mean[j]);
    sr__put_f32(to, a->scale[j]);
  }
  for (int64_t k = 0; k < a->rows * a->features; k++) sr__put_f32(to, a->row[k]);
}

sr_status sr__applicability_load(sr_context *ctx, sr__byte_reader *reader, int64_t features,
                                 sr_applicability **a) {
  sr_status status = SR_OK;
  sr_allocator allocator = sr__allocator(ctx);
  int64_t rows = sr__get_count(reader, 4 * features);
  double limit = sr__get_f64(reader);
  *a = NULL;
  SR_TRY(reader->status);
  if (rows < 1 || !isfinite(limit) || limit < 0.0) {
    sr__get_refuse(reader, "its area of applicability is out of range");
    SR_TRY(reader->status);
  }
  SR_TRY(make_room(ctx, rows, features, a));
  (*a)->limit = limit;
  for (int64_t j = 0; j < features; j++) {
    (*a)->mean[j] = sr__get_f32(reader);
    (*a)->scale[j] = sr__get_f32(reader);
  }
  for (int64_t k = 0; k < rows * features; k++) (*a)->row[k] = sr__get_f32(reader);
  SR_TRY(reader->status);
cleanup:
  if (status != SR_OK) sr__applicability_free(&allocator, a);
  return status;
}
