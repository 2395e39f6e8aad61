#include "rocket_kernel.h"

/* Steps that a scratch must hold: the longest series, or a filter that is longer. */
static int64_t steps_for(const sr__rocket *rocket, int64_t longest) {
  int64_t least = rocket->most_reach + 1;
  return longest > least ? longest : least;
}

sr_status sr__rocket_transform(sr_context *ctx, const sr__rocket *rocket, int32_t first,
                               int32_t filters, sr__made_blocks made) {
  enum { CACHE = 24 << 10 /* bytes that may be read again for every filter */ };
  sr_status status = SR_OK;
  sr__lane_scratch scratch[SR__ROCKET_INPUTS] = {0};
  sr__lane_input input[SR__ROCKET_INPUTS];
  sr__rocket_task task = {.input = input, .first = first, .filters = filters};
  sr__lane_room room = {.channels = rocket->channels,
                        .step = SR__SERIES_LANES,
                        .before = rocket->most_padding,
                        .steps = steps_for(rocket, made.blocks->longest),
                        .after = rocket->most_padding + SR__ROCKET_LATE};
  int64_t together = 0;
  while (together < SR__ROCKET_INPUTS && together < made.count &&
         (together + 1) * scratch[0].channel_stride * rocket->channels * (int64_t)sizeof(float) <=
             CACHE) {
    SR_TRY(sr__lane_scratch_new(ctx, room, &scratch[together]));
    together++;
  }
  for (int64_t b = 0; b < made.count; b += task.inputs) {
    SR_TRY(sr__check_interrupt(ctx));
    task.inputs = (int32_t)(made.count - b < together ? made.count - b : together);
    for (int i = 0; i < task.inputs; i++)
      sr__lane_scratch_block(&scratch[i], made.blocks, made.first + b + i, &input[i]);
    sr__rocket_kernel_now()->transform(rocket, &task, made.out + b * SR__SERIES_LANES, made.stride);
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
  sr__lane_room room = {.channels = rocket->channels,
                        .step = 1,
                        .before = rocket->most_padding,
                        .steps = steps_for(rocket, sr__series_length(rows, r)),
                        .after = rocket->most_padding + SR__ROCKET_LATE * SR__SERIES_LANES};
  SR_TRY(sr__lane_scratch_new(ctx, room, &scratch));
  sr__lane_scratch_row(&scratch, rows, r, &input);
  sr__rocket_task task = {.input = &input, .inputs = 1, .filters = rocket->filters};
  sr__rocket_kernel_now()->transform(rocket, &task, out, 1);
cleanup:
  sr__lane_scratch_free(ctx, &scratch);
  return status;
}
