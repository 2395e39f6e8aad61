#include "rocket_kernel.h"

/* Steps that a scratch must hold: the longest series, or a filter that is longer. */
static int64_t steps_for(const sr__rocket *rocket, int64_t longest) {
  int64_t least = rocket->most_reach + 1;
  return longest > least ? longest : least;
}

sr_status sr__rocket_transform(sr_context *ctx, const sr__rocket *rocket,
                               const sr__series_blocks *blocks, int64_t first_block, int64_t count,
                               int32_t first, int32_t filters, float *out, int64_t stride) {
  sr_status status = SR_OK;
  const sr__rocket_kernel *kernel = sr__rocket_kernel_now();
  sr__lane_scratch scratch = {0};
  SR_TRY(sr__lane_scratch_new(ctx, rocket->channels, SR__SERIES_LANES, rocket->most_padding,
                              steps_for(rocket, blocks->longest),
                              rocket->most_padding + SR__ROCKET_LATE, &scratch));
  for (int64_t b = 0; b < count; b++) {
    sr__lane_input input;
    SR_TRY(sr__check_interrupt(ctx));
    sr__lane_scratch_block(&scratch, blocks, first_block + b, &input);
    kernel->transform(rocket, &input, first, filters, out + b * SR__SERIES_LANES, stride);
  }
cleanup:
  sr__lane_scratch_free(ctx, &scratch);
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
  sr__rocket_kernel_now()->transform(rocket, &input, 0, rocket->filters, out, 1);
cleanup:
  sr__lane_scratch_free(ctx, &scratch);
  return status;
}
