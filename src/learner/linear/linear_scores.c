#include "linear_work.h"
#include "scores_kernel.h"

void sr__linear_start(const sr__linear_model *model, int64_t rows, double *score,
                      int64_t score_stride) {
  for (int32_t t = 0; t < model->targets; t++)
    for (int64_t i = 0; i < rows; i++) score[t * score_stride + i] = model->intercept[t];
}

/* One row: the targets go on side by side, each in the order of the features. */
static void add_one(const sr__linear_model *model, int64_t first, int64_t features, const float *x,
                    int64_t stride, double *score, int64_t score_stride) {
  int32_t targets = model->targets;
  for (int32_t t = 0; t < targets; t += 4) {
    const float *c = model->coefficient + first * targets + t;
    int32_t number = targets - t < 4 ? targets - t : 4;
    double sum[4] = {0};
    for (int32_t k = 0; k < number; k++) sum[k] = score[(t + k) * score_stride];
    if (number == 4) {
      for (int64_t f = 0; f < features; f++, c += targets)
        for (int32_t k = 0; k < 4; k++) sum[k] += (double)c[k] * (double)x[f * stride];
    } else {
      for (int64_t f = 0; f < features; f++, c += targets)
        for (int32_t k = 0; k < number; k++) sum[k] += (double)c[k] * (double)x[f * stride];
    }
    for (int32_t k = 0; k < number; k++) score[(t + k) * score_stride] = sum[k];
  }
}

void sr__linear_add(const sr__linear_model *model, int64_t first, int64_t features, const float *x,
                    int64_t stride, int64_t rows, double *score, int64_t score_stride) {
  if (rows == 1)
    add_one(model, first, features, x, stride, score, score_stride);
  else
    sr__scores_kernel_now()->add(features, model->targets,
                                 model->coefficient + first * model->targets, x, stride, rows,
                                 score, score_stride);
}

sr_status sr__linear_predict(sr_context *ctx, const sr__linear_model *model,
                             const sr__feature_maker *maker, double *score, int64_t score_stride) {
  enum { CHUNK = 256 }; /* rows at a time: a tile of a thousand features is a megabyte */
  sr_status status = SR_OK;
  float *tile = NULL;
  SR_NEW(ctx, tile, sr__linear_widest_tile(maker) * CHUNK);
  sr__linear_start(model, sr__linear_stride(maker->rows), score, score_stride);
  for (int64_t first = 0; first < maker->rows; first += CHUNK) {
    int64_t rows = maker->rows - first < CHUNK ? maker->rows - first : CHUNK;
    for (int64_t t = 0; t < maker->tiles; t++) {
      SR_TRY(maker->make(ctx, maker->data, first, rows, t, tile, CHUNK));
      sr__scores_kernel_now()->add(maker->tile_begin[t + 1] - maker->tile_begin[t], model->targets,
                                   model->coefficient + maker->tile_begin[t] * model->targets, tile,
                                   CHUNK, sr__linear_stride(rows), score + first, score_stride);
    }
  }
cleanup:
  sr__free(ctx, tile);
  return status;
}
