#include "linear_work.h"
#include "scores_kernel.h"

/* The targets go on side by side, each in the order of the features. */
void sr__linear_score(const sr__linear_model *model, const float *x, double *score) {
  int32_t targets = model->targets;
  for (int32_t t = 0; t < targets; t += 4) {
    const float *c = model->coefficient + t;
    int32_t number = targets - t < 4 ? targets - t : 4;
    double sum[4] = {0};
    for (int32_t k = 0; k < number; k++) sum[k] = model->intercept[t + k];
    if (number == 4) {
      for (int64_t f = 0; f < model->features; f++, c += targets)
        for (int32_t k = 0; k < 4; k++) sum[k] += (double)c[k] * (double)x[f];
    } else {
      for (int64_t f = 0; f < model->features; f++, c += targets)
        for (int32_t k = 0; k < number; k++) sum[k] += (double)c[k] * (double)x[f];
    }
    for (int32_t k = 0; k < number; k++) score[t + k] = sum[k];
  }
}

sr_status sr__linear_predict(sr_context *ctx, const sr__linear_model *model,
                             const sr__feature_maker *maker, double *score, int64_t score_stride) {
  enum { CHUNK = 256 }; /* rows at a time: a tile of a thousand features is a megabyte */
  sr_status status = SR_OK;
  float *tile = NULL;
  SR_NEW(ctx, tile, sr__linear_widest_tile(maker) * CHUNK);
  for (int32_t t = 0; t < model->targets; t++)
    for (int64_t i = 0; i < sr__linear_stride(maker->rows); i++)
      score[t * score_stride + i] = model->intercept[t];
  for (int64_t first = 0; first < maker->rows; first += CHUNK) {
    int64_t rows = maker->rows - first < CHUNK ? maker->rows - first : CHUNK;
    for (int64_t t = 0; t < maker->tiles; t++) {
      SR_TRY(maker->make(ctx, maker->data, t, (sr__made_rows){first, rows, tile, CHUNK}));
      sr__scores_kernel_now()->add(maker->tile_begin[t + 1] - maker->tile_begin[t], model->targets,
                                   model->coefficient + maker->tile_begin[t] * model->targets, tile,
                                   CHUNK, sr__linear_stride(rows), score + first, score_stride);
    }
  }
cleanup:
  sr__free(ctx, tile);
  return status;
}
