/* Points in blocks, for tile_kernel.c. */
#include "point_blocks.h"

#include <float.h>

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
