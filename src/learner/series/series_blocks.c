#include <stdlib.h>

#include "series_rows.h"

void sr__series_blocks_free(sr__series_blocks *blocks) {
  if (!blocks) return;
  sr_allocator allocator = blocks->allocator;
  void *owned[] = {blocks->order, blocks->length, blocks->peak, blocks->row};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) sr__release(&allocator, owned[i]);
  sr__release(&allocator, blocks);
}

typedef struct place {
  int32_t length, entry;
} place;

static int by_length(const void *a, const void *b) {
  const place *p = a, *q = b;
  if (p->length != q->length) return p->length < q->length ? -1 : 1;
  return p->entry < q->entry ? -1 : 1;
}

static sr_status sort_by_length(sr_context *ctx, const sr__series_rows *rows, const int32_t *row,
                                sr__series_blocks *made) {
  sr_status status = SR_OK;
  place *places = NULL;
  SR_NEW(ctx, places, made->rows);
  for (int64_t i = 0; i < made->rows; i++)
    places[i] = (place){sr__series_length(rows, row ? row[i] : i), (int32_t)i};
  qsort(places, (size_t)made->rows, sizeof *places, by_length);
  for (int64_t i = 0; i < made->rows; i++) {
    made->order[i] = places[i].entry;
    made->length[i] = places[i].length;
  }
  /* The last lane says how many steps a block has: lanes without a row take that of the last row.
   */
  for (int64_t i = made->rows; i < made->blocks * SR__SERIES_LANES; i++)
    made->length[i] = made->length[i - 1];
cleanup:
  sr__free(ctx, places);
  return status;
}

void sr__series_block_fill(const sr__series_blocks *blocks, int64_t b, int64_t channel_stride,
                           float *x) {
  const int64_t steps = sr__block_steps(blocks, b), first = b * SR__SERIES_LANES;
  const int32_t *length = blocks->length + first;
  for (int32_t c = 0; c < blocks->channels; c++) {
    const float *lane[SR__SERIES_LANES];
    int64_t common = blocks->rows - first >= SR__SERIES_LANES ? length[0] : 0; /* the shortest */
    float *to = x + c * channel_stride;
    for (int i = 0; i < SR__SERIES_LANES; i++) {
      bool there = first + i < blocks->rows;
      lane[i] = blocks->of->values;
      if (there) lane[i] += blocks->of->begin[blocks->row[first + i]] + c * (int64_t)length[i];
    }
    for (int64_t t = 0; t < common; t++)
      for (int i = 0; i < SR__SERIES_LANES; i++) to[t * SR__SERIES_LANES + i] = lane[i][t];
    for (int64_t t = common; t < steps; t++)
      for (int i = 0; i < SR__SERIES_LANES; i++)
        to[t * SR__SERIES_LANES + i] =
            first + i < blocks->rows && t < length[i] ? lane[i][t] : 0.0f;
  }
}

sr_status sr__series_blocks_new(sr_context *ctx, const sr__series_rows *rows, const int32_t *row,
                                int64_t count, sr__series_blocks **blocks) {
  sr_status status = SR_OK;
  sr__series_blocks *made = NULL;
  int64_t number = (count + SR__SERIES_LANES - 1) / SR__SERIES_LANES;
  *blocks = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  *made = (sr__series_blocks){.allocator = sr__allocator(ctx),
                              .rows = count,
                              .blocks = number,
                              .channels = rows->channels,
                              .of = rows};
  SR_NEW(ctx, made->order, count);
  SR_NEW(ctx, made->row, count);
  SR_NEW(ctx, made->length, number * SR__SERIES_LANES);
  SR_NEW_ZERO(ctx, made->peak, number * SR__SERIES_LANES);
  SR_TRY(sort_by_length(ctx, rows, row, made));
  for (int64_t b = 0; b < number; b++)
    if (sr__block_steps(made, b) > made->longest) made->longest = sr__block_steps(made, b);
  for (int64_t i = 0; i < count; i++) {
    made->row[i] = row ? row[made->order[i]] : made->order[i];
    made->peak[i] = sr__series_peak(rows, made->row[i]);
  }
  *blocks = made;
  made = NULL;
cleanup:
  sr__series_blocks_free(made);
  return status;
}

/* ---- scratch ------------------------------------------------------------------------------- */

sr_status sr__lane_scratch_new(sr_context *ctx, sr__lane_room room, sr__lane_scratch *scratch) {
  enum { CACHE_LINE = 64 };
  sr_status status = SR_OK;
  /* Vectors of one series may begin at any step and so end up to seven steps late. */
  int64_t stride = (room.before + room.steps + room.after) * room.step + SR__SERIES_LANES;
  stride = (stride + SR__SERIES_LANES - 1) / SR__SERIES_LANES * SR__SERIES_LANES;
  *scratch = (sr__lane_scratch){.room = room, .channel_stride = stride};
  SR_NEW_ZERO(ctx, scratch->memory, stride * room.channels + CACHE_LINE / (int64_t)sizeof(float));
  uintptr_t first = (uintptr_t)(scratch->memory + room.before * room.step);
  scratch->x = (float *)((first + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
cleanup:
  return status;
}

void sr__lane_scratch_free(sr_context *ctx, sr__lane_scratch *scratch) {
  sr__free(ctx, scratch->memory);
  *scratch = (sr__lane_scratch){0};
}

void sr__lane_scratch_block(sr__lane_scratch *scratch, const sr__series_blocks *blocks, int64_t b,
                            sr__lane_input *input) {
  int64_t steps = sr__block_steps(blocks, b), left = scratch->room.steps - steps;
  for (int32_t c = 0; c < scratch->room.channels; c++)
    memset(scratch->x + c * scratch->channel_stride + steps * SR__SERIES_LANES, 0,
           (size_t)(left * SR__SERIES_LANES) * sizeof(float));
  sr__series_block_fill(blocks, b, scratch->channel_stride, scratch->x);
  *input = (sr__lane_input){.x = scratch->x,
                            .channel_stride = scratch->channel_stride,
                            .step = SR__SERIES_LANES};
  memcpy(input->length, blocks->length + b * SR__SERIES_LANES, sizeof input->length);
}

void sr__lane_scratch_row(sr__lane_scratch *scratch, const sr__series_rows *rows, int64_t r,
                          sr__lane_input *input) {
  int32_t length = sr__series_length(rows, r);
  int64_t left = scratch->room.steps - length;
  for (int32_t c = 0; c < scratch->room.channels; c++) {
    float *to = scratch->x + c * scratch->channel_stride;
    memcpy(to, rows->values + rows->begin[r] + (int64_t)c * length, (size_t)length * sizeof *to);
    memset(to + length, 0, (size_t)left * sizeof *to);
  }
  *input = (sr__lane_input){.x = scratch->x, .channel_stride = scratch->channel_stride, .step = 1};
  for (int i = 0; i < SR__SERIES_LANES; i++) input->length[i] = length;
}
