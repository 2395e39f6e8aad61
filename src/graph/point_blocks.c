/* Scanning blocks of points for the nearest of a few queries. */
#include "point_blocks.h"

#include <float.h>

/* Half a line of a block. Loads need no more alignment than a float. */
typedef float lanes __attribute__((vector_size(32), aligned(4)));
typedef int32_t lane_mask __attribute__((vector_size(32)));
enum { HALF = SR__POINT_LANES / 2 };

double sr__squared_distance(const float *a, const float *b, int32_t dimension) {
  double sum[4] = {0.0, 0.0, 0.0, 0.0};
  int32_t j = 0;
  for (; j + 4 <= dimension; j += 4) {
    for (int s = 0; s < 4; s++) {
      double gap = (double)a[j + s] - b[j + s];
      sum[s] += gap * gap;
    }
  }
  for (; j < dimension; j++) sum[0] += ((double)a[j] - b[j]) * ((double)a[j] - b[j]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* ---- blocks ------------------------------------------------------------------------------- */

typedef struct fill_work {
  const float *x;
  const int32_t *order;
  sr__point_blocks *blocks;
} fill_work;

static sr_status fill_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  fill_work *work = data;
  sr__point_blocks *blocks = work->blocks;
  int64_t dimension = blocks->dimension;
  int64_t padded = (blocks->count + SR__POINT_LANES - 1) / SR__POINT_LANES * SR__POINT_LANES;
  sr__span span = sr__graph_chunk(padded, chunk);
  for (int64_t p = span.begin; p < span.end; p++) {
    bool past = p >= blocks->count;
    const float *row = past ? NULL : work->x + (work->order ? work->order[p] : p) * dimension;
    float *first =
        blocks->x + p / SR__POINT_LANES * SR__POINT_LANES * dimension + p % SR__POINT_LANES;
    double norm = 0.0;
    for (int64_t j = 0; j < dimension; j++) {
      first[j * SR__POINT_LANES] = past ? 0.0f : row[j];
      norm += past ? 0.0 : (double)row[j] * row[j];
    }
    blocks->norm[p] = past ? INFINITY : (float)(norm * (1.0 - blocks->slack));
  }
  return SR_OK;
}

sr_status sr__point_blocks_new(sr_context *ctx, const float *x, int64_t count, int32_t dimension,
                               const int32_t *order, sr__point_blocks *blocks) {
  sr_status status = SR_OK;
  int64_t padded = (count + SR__POINT_LANES - 1) / SR__POINT_LANES * SR__POINT_LANES;
  /* A sum of products in floats is off by at most `dimension` roundings of |a||b|, which is at most
   * (|a|^2 + |b|^2) / 2; the rest covers norms, threshold and the last subtraction. */
  *blocks = (sr__point_blocks){.count = count,
                               .dimension = dimension,
                               .slack = (dimension + 16) * (double)FLT_EPSILON};
  SR_NEW(ctx, blocks->x, padded * dimension);
  SR_NEW(ctx, blocks->norm, padded);
  fill_work work = {x, order, blocks};
  SR_TRY(sr__parallel_for(ctx, sr__graph_chunks(padded), fill_chunk, &work));
cleanup:
  if (status != SR_OK) sr__point_blocks_free(ctx, blocks);
  return status;
}

void sr__point_blocks_free(sr_context *ctx, sr__point_blocks *blocks) {
  sr__free(ctx, blocks->x);
  sr__free(ctx, blocks->norm);
  *blocks = (sr__point_blocks){0};
}

/* ---- queries ------------------------------------------------------------------------------ */

static void update_threshold(sr__query_tile *tile, int q, double slack) {
  double worst = sr__knn_list_worst(tile->list[q]);
  tile->threshold[q] = (float)(worst - tile->norm[q] * (1.0 - slack));
}

/* Missing queries of a short tile repeat the first with a threshold that nothing passes. */
void sr__query_tile_begin(sr__query_tile *tile, const sr__point_blocks *blocks) {
  tile->dimension = blocks->dimension;
  for (int q = 0; q < SR__QUERY_TILE; q++) {
    const float *query = tile->query[q < tile->count ? q : 0];
    double norm = 0.0;
    for (int32_t j = 0; j < tile->dimension; j++) {
      tile->line[j * SR__QUERY_TILE + q] = query[j];
      norm += (double)query[j] * query[j];
    }
    tile->norm[q] = norm;
    tile->threshold[q] = -INFINITY;
    if (q < tile->count) update_threshold(tile, q, blocks->slack);
  }
}

/* |b|^2 - 2 ab of the queries against a block, lowered by the slack of b. */
static inline void tile_values(const sr__query_tile *tile, const float *block, const float *norm,
                               int32_t dimension, lanes value[SR__QUERY_TILE][2]) {
  lanes product[SR__QUERY_TILE][2];
  for (int q = 0; q < SR__QUERY_TILE; q++) product[q][0] = product[q][1] = (lanes){0};
  for (int32_t j = 0; j < dimension; j++) {
    lanes low = *(const lanes *)(block + j * SR__POINT_LANES);
    lanes high = *(const lanes *)(block + j * SR__POINT_LANES + HALF);
    for (int q = 0; q < SR__QUERY_TILE; q++) {
      float x = tile->line[j * SR__QUERY_TILE + q];
      product[q][0] += low * x;
      product[q][1] += high * x;
    }
  }
  lanes norm_low = *(const lanes *)norm, norm_high = *(const lanes *)(norm + HALF);
  for (int q = 0; q < SR__QUERY_TILE; q++) {
    value[q][0] = norm_low - (product[q][0] + product[q][0]);
    value[q][1] = norm_high - (product[q][1] + product[q][1]);
  }
}

static inline bool any_lane(lane_mask mask) {
  int64_t words[4];
  memcpy(words, &mask, sizeof words);
  return (words[0] | words[1] | words[2] | words[3]) != 0;
}

static inline lane_mask lanes_below(const sr__query_tile *tile, int q, lanes value[2]) {
  return (value[0] <= tile->threshold[q]) | (value[1] <= tile->threshold[q]);
}

static inline bool any_below(const sr__query_tile *tile, lanes value[SR__QUERY_TILE][2]) {
  lane_mask below = {0};
  for (int q = 0; q < SR__QUERY_TILE; q++) below |= lanes_below(tile, q, value[q]);
  return any_lane(below);
}

static double lane_distance(const float *query, const float *block, int lane, int32_t dimension) {
  double sum = 0.0;
  for (int32_t j = 0; j < dimension; j++) {
    double gap = (double)query[j] - block[j * SR__POINT_LANES + lane];
    sum += gap * gap;
  }
  return sum;
}

/* Measures those lanes of a block that the float bound did not rule out. */
static void offer_block(sr__query_tile *tile, const sr__point_blocks *blocks, int64_t block,
                        int64_t begin, int64_t end, lanes value[SR__QUERY_TILE][2]) {
  const float *x = blocks->x + block * SR__POINT_LANES * blocks->dimension;
  for (int q = 0; q < tile->count; q++) {
    if (!any_lane(lanes_below(tile, q, value[q]))) continue;
    float bound[SR__POINT_LANES];
    memcpy(bound, value[q], sizeof bound);
    for (int lane = 0; lane < SR__POINT_LANES; lane++) {
      int64_t place = block * SR__POINT_LANES + lane;
      if (!(bound[lane] <= tile->threshold[q]) || place < begin || place >= end ||
          place == tile->own_place[q])
        continue;
      double distance = lane_distance(tile->query[q], x, lane, blocks->dimension);
      sr__knn_list_offer(tile->list[q], distance, (int32_t)place);
      update_threshold(tile, q, blocks->slack);
    }
  }
}

void sr__query_tile_scan(sr__query_tile *tile, const sr__point_blocks *blocks, int64_t begin,
                         int64_t end) {
  int64_t first = begin / SR__POINT_LANES, last = (end + SR__POINT_LANES - 1) / SR__POINT_LANES;
  for (int64_t block = first; block < last; block++) {
    lanes value[SR__QUERY_TILE][2];
    tile_values(tile, blocks->x + block * SR__POINT_LANES * blocks->dimension,
                blocks->norm + block * SR__POINT_LANES, blocks->dimension, value);
    if (any_below(tile, value)) offer_block(tile, blocks, block, begin, end, value);
  }
}
