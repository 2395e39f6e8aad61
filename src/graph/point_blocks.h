/* Points in many dimensions, laid out so that distances to 16 of them are a few vector operations.
 * Internal to src/graph. */
#ifndef SR_GRAPH_POINT_BLOCKS_H
#define SR_GRAPH_POINT_BLOCKS_H

#include "knn_list.h"

enum { SR__POINT_LANES = 16, SR__QUERY_TILE = 6 };

/* Block b holds the places [16 b, 16 b + 16): a line of 16 values for each dimension. */
typedef struct sr__point_blocks {
  int64_t count;
  int32_t dimension;
  float *x;
  float
      *norm; /* squared length of each place, a little lowered (see slack); infinity past the end */
  /* Relative error that a squared distance |a|^2 + |b|^2 - 2 ab in floats may have, with respect to
   * |a|^2 + |b|^2. */
  double slack;
} sr__point_blocks;

/* `x` is row-major; place p holds row order[p], or p where order is NULL. */
SR_MUST_CHECK sr_status sr__point_blocks_new(sr_context *ctx, const float *x, int64_t count,
                                             int32_t dimension, const int32_t *order,
                                             sr__point_blocks *blocks);
void sr__point_blocks_free(sr_context *ctx, sr__point_blocks *blocks);

/* Up to SR__QUERY_TILE queries and their lists. */
typedef struct sr__query_tile {
  int count;
  int32_t dimension;
  const float *query[SR__QUERY_TILE];
  int64_t own_place[SR__QUERY_TILE]; /* not offered to the query's own list; -1 = none */
  sr__knn_list list[SR__QUERY_TILE];
  float *line; /* scratch: dimension * SR__QUERY_TILE */
  double norm[SR__QUERY_TILE];
  float threshold[SR__QUERY_TILE];
} sr__query_tile;

/* Squared distance in double of two float vectors; the order of sums is fixed. */
double sr__squared_distance(const float *a, const float *b, int32_t dimension);

#endif
