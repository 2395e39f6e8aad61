#include "rocket_kernel.h"

/* Steps that a scratch must hold: the longest series, or a filter that is longer. */
static int64_t steps_for(const sr__rocket *rocket, int64_t longest) {
  int64_t least = rocket->most_reach + 1;
  return longest > least ? longest : least;
}

sr_status sr__rocket_transform(sr_context *ctx, const sr__rocket *rocket,
                               const sr__series_blocks *blocks, int64_t first_block, int64_t count,
                               int32_t first, int32_t filters, float *out, int64_t stride) {
  enum { CACHE = 24 << 10 /* bytes that may be read again for every filter */ };
  sr_status status = SR_OK;
  sr__lane_scratch scratch[SR__ROCKET_INPUTS] = {0};
  sr__lane_input input[SR__ROCKET_INPUTS];
  sr__rocket_task task = {.input = input, .first = first, .filters = filters};
  int64_t steps = steps_for(rocket, blocks->longest), together = 0;
  while (together < SR__ROCKET_INPUTS && together < count &&
         (together + 1) * scratch[0].channel_stride * rocket->channels * (int64_t)sizeof(float) <=
             CACHE) {
    SR_TRY(sr__lane_scratch_new(ctx, rocket->channels, SR__SERIES_LANES, rocket->most_padding,
                                steps, rocket->most_padding + SR__ROCKET_LATE, &scratch[together]));
    together++;
  }
  for (int64_t b = 0; b < count; b += task.inputs) {
    SR_TRY(sr__check_interrupt(ctx));
    task.inputs = (int32_t)(count - b < together ? count - b : together);
    for (int i = 0; i < task.inputs; i++)
      sr__lane_scratch_block(&scratch[i], blocks, first_block + b + i, &input[i]);
    sr__rocket_kernel_now()->transform(rocket, &task, out + b * SR__SERIES_LANES, stride);
  }
cleanup:
  for (int i = 0; i < SR__ROCKET_INPUTS; i++) sr__lane_scratch_free(ctx, &scratch[i]);
  return status;
}

sr_status sr__rocket_transform_one(sr_context *ctx, const sr__rocket *rocket,
                                   const sr__series_rows *rows, int64_t r, float *out) {
  sr_status status = SR_OK;
  sr__lane_scratch scratch = {0};
  sr__lane_input input;
  SR_TRY(sr__lane_scratch_new(ctx, rocket->channels, 1, rocket->most_padding,
                              steps_for(rocket, sr__series_length(rows, r)),
                              rocket->most_padding + SR__ROCKET_LATE * SR__SERIES_LANES, &scratch));
  sr__lane_scratch_row(&scratch, rows, r, &input);
  sr__rocket_task task = {.input = &input, .inputs = 1, .filters = rocket->filters};
  sr__rocket_kernel_now()->transform(rocket, &task, out, 1);
cleanup:
  sr__lane_scratch_free(ctx, &scratch);
  return status;
}
