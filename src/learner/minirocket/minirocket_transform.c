#include "minirocket_kernel.h"

/* `step` elements stand side by side at one time. */
static sr_status new_work(sr_context *ctx, const sr__minirocket *mini, int64_t longest,
                          int64_t step, sr__mini_work *work) {
  enum { CACHE_LINE = 64 };
  sr_status status = SR_OK;
  size_t element = mini->whole ? sizeof(int16_t) : sizeof(float);
  int64_t reach = 4 * (int64_t)mini->dilation[mini->dilations - 1];
  int64_t slack = 4 * SR__MINI_LANES; /* vectors of one series end late */
  *work = (sr__mini_work){.steps = longest > 2 * reach + 1 ? longest : 2 * reach + 1};
  int64_t padded = (work->steps + 2 * reach) * step + slack, plain = work->steps * step + slack;
  padded = (padded + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  plain = (plain + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  char *memory = sr__alloc_zero(ctx, 2 * (padded + plain) + CACHE_LINE, element);
  if (!memory) SR_TRY(sr_context_error(ctx).status);
  work->memory = memory;
  char *first = (char *)(((uintptr_t)memory + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
  work->x = first + (size_t)(reach * step) * element;
  work->triple = first + (size_t)(padded + reach * step) * element;
  work->base = first + (size_t)(2 * padded) * element;
  work->pair = first + (size_t)(2 * padded + plain) * element;
cleanup:
  return status;
}

/* Block b, and with whole numbers the one after it, where it is below `end`; their series go to
 * `lanes`, where each has `room` floats. */
static int look_at_blocks(const sr__minirocket *mini, const sr__series_blocks *blocks, int64_t b,
                          int64_t end, int64_t room, float *lanes, sr__mini_input *input) {
  int number = mini->whole && b + 1 < end ? 2 : 1;
  *input = (sr__mini_input){.step = SR__SERIES_LANES};
  for (int i = 0; i < number; i++) {
    input->steps[i] = sr__block_steps(blocks, b + i);
    input->x[i] = lanes + i * room;
    input->channel_stride[i] = input->steps[i] * SR__SERIES_LANES;
    sr__series_block_fill(blocks, b + i, input->channel_stride[i], lanes + i * room);
    memcpy(input->length + i * SR__SERIES_LANES, blocks->length + (b + i) * SR__SERIES_LANES,
           SR__SERIES_LANES * sizeof *input->length);
    memcpy(input->peak + i * SR__SERIES_LANES, blocks->peak + (b + i) * SR__SERIES_LANES,
           SR__SERIES_LANES * sizeof *input->peak);
  }
  if (number == 1)
    memcpy(input->length + SR__SERIES_LANES, input->length,
           SR__SERIES_LANES * sizeof *input->length);
  return number;
}

sr_status sr__minirocket_transform(sr_context *ctx, const sr__minirocket *mini,
                                   sr__mini_filters filters, sr__made_blocks made) {
  sr_status status = SR_OK;
  const sr__minirocket_kernel *kernel = sr__minirocket_kernel_now();
  sr__mini_work work = {0};
  sr__mini_input input;
  float *lanes = NULL;
  int64_t room = made.blocks->longest * made.blocks->channels * SR__SERIES_LANES;
  SR_NEW(ctx, lanes, (mini->whole ? 2 : 1) * room);
  SR_TRY(new_work(ctx, mini, made.blocks->longest, mini->whole ? SR__MINI_LANES : SR__SERIES_LANES,
                  &work));
  for (int64_t b = 0; b < made.count;) {
    SR_TRY(sr__check_interrupt(ctx));
    int number = look_at_blocks(mini, made.blocks, made.first + b, made.first + made.count, room,
                                lanes, &input);
    (mini->whole ? kernel->transform_whole : kernel->transform)(mini, &input, filters, &work,
                                                                made.out + b * SR__SERIES_LANES,
                                                                made.stride);
    b += number;
  }
cleanup:
  sr__free(ctx, lanes);
  sr__free(ctx, work.memory);
  return status;
}

sr_status sr__minirocket_transform_one(sr_context *ctx, const sr__minirocket *mini,
                                       const sr__series_rows *rows, int64_t r, float *out) {
  sr_status status = SR_OK;
  const sr__minirocket_kernel *kernel = sr__minirocket_kernel_now();
  int32_t length = sr__series_length(rows, r);
  sr__mini_work work = {0};
  sr__mini_input input = {.x = {rows->values + rows->begin[r]},
                          .channel_stride = {length},
                          .steps = {length},
                          .step = 1};
  for (int i = 0; i < SR__MINI_LANES; i++) {
    input.length[i] = length;
    input.peak[i] = sr__series_peak(rows, r);
  }
  SR_TRY(new_work(ctx, mini, length, 1, &work));
  for (int32_t d = 0; d < mini->dilations; d++)
    (mini->whole ? kernel->transform_whole
                 : kernel->transform)(mini, &input, (sr__mini_filters){d, 0, SR__MINI_FILTERS},
                                      &work, out + mini->first[d], 1);
cleanup:
  sr__free(ctx, work.memory);
  return status;
}
