/* Products of a few queries with blocks of points, in single precision. They only rule out, by a
 * bound that holds whatever the rounding, so a level may fuse and add as it likes; what is left is
 * measured in double, in the same order at every level. */
#include "tile_kernel.h"

#include "lanes.h"

enum { TILE = SR__QUERY_TILE, BLOCK = SR__POINT_LANES };

/* ---- queries -------------------------------------------------------------------------------- */

SR__INLINE void update_threshold(sr__query_tile *tile, int q, double slack) {
  double worst = sr__knn_list_worst(tile->list[q]);
  tile->threshold[q] = (float)(worst - tile->norm[q] * (1.0 - slack));
}

/* Missing queries of a short tile repeat the first with a threshold that nothing passes. */
static void begin_tile(sr__query_tile *tile, const sr__point_blocks *blocks) {
  tile->dimension = blocks->dimension;
  for (int q = 0; q < TILE; q++) {
    const float *query = tile->query[q < tile->count ? q : 0];
    double norm = 0.0;
    for (int32_t j = 0; j < tile->dimension; j++) {
      tile->line[j * TILE + q] = query[j];
      norm += (double)query[j] * query[j];
    }
    tile->norm[q] = norm;
    tile->threshold[q] = -INFINITY;
    if (q < tile->count) update_threshold(tile, q, blocks->slack);
  }
}

/* ---- points --------------------------------------------------------------------------------- */

SR__INLINE const float *first_value(const sr__point_blocks *blocks, int64_t place) {
  return blocks->x + place / BLOCK * BLOCK * blocks->dimension + place % BLOCK;
}

static double distance_to(const sr__query_tile *tile, int q, const float *value) {
  double sum = 0.0;
  for (int32_t j = 0; j < tile->dimension; j++) {
    double gap = (double)tile->query[q][j] - value[j * BLOCK];
    sum += gap * gap;
  }
  return sum;
}

/* Measures the points that the float bound did not rule out. */
static void offer(sr__query_tile *tile, const sr__point_blocks *blocks, int q, int64_t first,
                  uint32_t near, const float *bound) {
  for (; near; near &= near - 1) {
    int i = __builtin_ctz(near);
    if (!(bound[i] <= tile->threshold[q]) || first + i == tile->own_place[q]) continue;
    double distance = distance_to(tile, q, first_value(blocks, first + i));
    sr__knn_list_offer(tile->list[q], distance, (int32_t)(first + i));
    update_threshold(tile, q, blocks->slack);
  }
}

/* |b|^2 - 2 ab, lowered by the slack of b, of all queries and the points of `parts` vectors from
 * place `first` on; `wanted` has a bit for each that counts. */
SR__INLINE void scan_part(sr__query_tile *tile, const sr__point_blocks *blocks, int64_t first,
                          int parts, uint32_t wanted) {
  const float *x[2] = {first_value(blocks, first), NULL};
  floats sum[TILE][2], at[2];
  uint32_t near[TILE], any = 0;
  if (parts == 2) x[1] = first_value(blocks, first + LANES);
#pragma GCC unroll 6
  for (int q = 0; q < TILE; q++)
    for (int h = 0; h < parts; h++) sum[q][h] = (floats){0};
  for (int32_t j = 0; j < tile->dimension; j++) {
    for (int h = 0; h < parts; h++) at[h] = load(x[h] + j * BLOCK);
#pragma GCC unroll 6
    for (int q = 0; q < TILE; q++) {
      floats value = spread(tile->line[j * TILE + q]);
      for (int h = 0; h < parts; h++) sum[q][h] = add_product(at[h], value, sum[q][h]);
    }
  }
  for (int h = 0; h < parts; h++) at[h] = load(blocks->norm + first + h * LANES);
#pragma GCC unroll 6
  for (int q = 0; q < TILE; q++) {
    near[q] = 0;
    for (int h = 0; h < parts; h++) {
      sum[q][h] = at[h] - (sum[q][h] + sum[q][h]);
      near[q] |= at_most(sum[q][h], spread(tile->threshold[q])) << (h * LANES);
    }
    near[q] &= wanted;
    any |= near[q];
  }
  if (!any) return;
  for (int q = 0; q < tile->count; q++) {
    if (!near[q]) continue;
    float bound[2 * LANES];
    for (int h = 0; h < parts; h++) memcpy(bound + h * LANES, &sum[q][h], sizeof(floats));
    offer(tile, blocks, q, first, near[q], bound);
  }
}

/* Bit i: place first + i lies in [begin, end). */
SR__INLINE uint32_t bits_between(int64_t first, int64_t begin, int64_t end) {
  uint64_t bits = UINT32_MAX;
  if (end - first < 32) bits = (UINT64_C(1) << (end - first)) - 1;
  if (begin > first) bits &= ~((UINT64_C(1) << (begin - first)) - 1);
  return (uint32_t)bits;
}

static void scan(sr__query_tile *tile, const sr__point_blocks *blocks, int64_t begin, int64_t end) {
  int64_t first = begin / LANES * LANES;
  for (; first + LANES < end; first += 2 * LANES)
    scan_part(tile, blocks, first, 2, bits_between(first, begin, end));
  if (first < end) scan_part(tile, blocks, first, 1, bits_between(first, begin, end));
}

const sr__tile_kernel SR__KERNEL(sr__tile_kernel) = {begin_tile, scan};
