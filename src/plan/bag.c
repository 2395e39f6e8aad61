/* A plan's bag as a learner reads it: in pieces, so that it need not be whole in memory. */
#include "plan.h"

enum { PIECE = 2048 }; /* rows that are handed over together */

struct sr__bag_reader {
  const sr__bag *bag;
  sr__bag_taker take;
  void *data;
};

sr_status sr__bag_hand_over(sr__bag_buffer *buffer) {
  const sr__bag *bag = buffer->reader->bag;
  int64_t length = buffer->length;
  int32_t *rows = buffer->rows;
  if (bag->subset)
    for (int64_t i = 0; i < length; i++) rows[i] = bag->subset[rows[i]];
  if (bag->drawn)
    for (int64_t i = 0; i < length; i++) bag->drawn[rows[i] / 64] |= UINT64_C(1) << (rows[i] % 64);
  if (bag->distinct) *bag->distinct += length;
  buffer->length = 0;
  return buffer->reader->take(buffer->reader->data, rows, buffer->counts, length);
}

static sr_status read_pieces(sr_context *ctx, const sr__bag *bag, sr__bag_reader *reader) {
  int32_t rows[PIECE], counts[PIECE];
  sr__bag_buffer buffer = {.rows = rows, .counts = counts, .capacity = PIECE, .reader = reader};
  sr_status status = sr__plan_make_bag(ctx, bag->plan, bag->member, &buffer);
  return status == SR_OK ? sr__bag_hand_over(&buffer) : status;
}

static sr_status read_whole(sr_context *ctx, const sr__bag *bag, sr__bag_reader *reader) {
  sr_status status = SR_OK;
  const sr_plan *plan = bag->plan;
  sr__bag_buffer buffer = {.capacity = plan->capacity};
  SR_NEW(ctx, buffer.rows, plan->capacity);
  SR_NEW(ctx, buffer.counts, plan->capacity);
  SR_TRY(sr__plan_make_bag(ctx, plan, bag->member, &buffer));
  buffer.reader = reader;
  SR_TRY(sr__bag_hand_over(&buffer));
cleanup:
  sr__free(ctx, buffer.rows);
  sr__free(ctx, buffer.counts);
  return status;
}

static sr_status read_bag(sr_context *ctx, const sr__bag *bag, sr__bag_taker take, void *data) {
  const sr_plan *plan = bag->plan;
  sr__bag_reader reader = {bag, take, data};
  if (bag->distinct) *bag->distinct = 0;
  return plan->scheme->in_pieces && !plan->order ? read_pieces(ctx, bag, &reader)
                                                 : read_whole(ctx, bag, &reader);
}

sr__bag sr__bag_open(const sr_plan *plan, int32_t member) {
  return (sr__bag){.read = read_bag, .plan = plan, .member = member};
}
