/* A plan's bag as it is read: in pieces, so that it need not be whole in memory, or straight into
 * the arrays of a caller who wants it whole. */
#include "plan.h"

/* A bag in the caller's arrays. */
typedef struct wide_bag {
  int64_t *rows;
  int32_t *counts;
  int64_t length;
} wide_bag;

struct sr__bag_reader {
  const sr__bag *bag;
  sr__bag_taker take;
  void *data;
  wide_bag *wide; /* where the first entries are written at once; NULL: nowhere */
};

typedef struct bag_piece {
  int32_t rows[SR__BAG_PIECE], counts[SR__BAG_PIECE];
} bag_piece;

static void use_piece(sr__bag_buffer *buffer) {
  buffer->to = (sr__entries){.rows = buffer->rows, .counts = buffer->counts};
  buffer->length = 0;
  buffer->capacity = SR__BAG_PIECE;
}

static sr__bag_buffer new_buffer(const sr_plan *plan, bag_piece *piece, sr__bag_reader *reader) {
  sr__bag_buffer buffer = {.rows = piece->rows, .counts = piece->counts, .reader = reader};
  use_piece(&buffer);
  if (reader->wide) {
    buffer.to = (sr__entries){.wide = reader->wide->rows, .counts = reader->wide->counts};
    buffer.capacity = plan->capacity;
  }
  return buffer;
}

/* Rows of the plan become rows of the table and are noted. */
static void note_rows(const sr__bag *bag, int32_t *rows, int64_t length) {
  if (bag->subset)
    for (int64_t i = 0; i < length; i++) rows[i] = bag->subset[rows[i]];
  if (bag->drawn)
    for (int64_t i = 0; i < length; i++) bag->drawn[rows[i] / 64] |= UINT64_C(1) << (rows[i] % 64);
  if (bag->distinct) *bag->distinct += length;
}

sr_status sr__bag_hand_over(sr__bag_buffer *buffer) {
  const sr__bag_reader *reader = buffer->reader;
  int64_t length = buffer->length;
  if (buffer->to.wide) { /* these are in their place; kernels write more than they keep, so that
                            the last ones come in a piece */
    reader->wide->length = length;
    use_piece(buffer);
    return SR_OK;
  }
  if (reader->bag) note_rows(reader->bag, buffer->rows, length);
  buffer->length = 0;
  return reader->take(reader->data, buffer->rows, buffer->counts, length);
}

/* What the scheme gives. */
static sr_status read_positions(sr_context *ctx, const sr_plan *plan, int32_t member,
                                sr__bag_reader *reader) {
  bag_piece piece;
  sr__bag_buffer buffer = new_buffer(plan, &piece, reader);
  sr__random random;
  if (member < 0 || member >= plan->members)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "bag %d was asked for; the plan has bags 0 to %d",
                    member, plan->members - 1);
  sr__random_init(&random, plan->seed, SR_PURPOSE_BAG, 0, (uint64_t)member);
  sr_status status = plan->scheme->bag(ctx, plan, member, &random, &buffer);
  return status == SR_OK ? sr__bag_hand_over(&buffer) : status;
}

/* Counts of rows from those of positions. */
typedef struct row_counts {
  const int32_t *order;
  int32_t *count;
} row_counts;

static sr_status count_rows(void *data, const int32_t *positions, const int32_t *counts,
                            int64_t length) {
  row_counts *r = data;
  for (int64_t i = 0; i < length; i++) r->count[r->order[positions[i]]] = counts[i];
  return SR_OK;
}

/* Positions become rows, increasing again. */
static sr_status read_in_order(sr_context *ctx, const sr_plan *plan, int32_t member,
                               sr__bag_reader *reader) {
  sr_status status = SR_OK;
  bag_piece piece;
  sr__bag_buffer buffer = new_buffer(plan, &piece, reader);
  row_counts dense = {.order = plan->order};
  SR_NEW_ZERO(ctx, dense.count, plan->rows);
  SR_TRY(read_positions(ctx, plan, member, &(sr__bag_reader){.take = count_rows, .data = &dense}));
  SR_TRY(sr__bag_add_counts(&buffer, dense.count, plan->rows));
  SR_TRY(sr__bag_hand_over(&buffer));
cleanup:
  sr__free(ctx, dense.count);
  return status;
}

static sr_status read_all(sr_context *ctx, const sr_plan *plan, int32_t member,
                          sr__bag_reader *reader) {
  return plan->order ? read_in_order(ctx, plan, member, reader)
                     : read_positions(ctx, plan, member, reader);
}

static sr_status read_bag(sr_context *ctx, const sr__bag *bag, sr__bag_taker take, void *data) {
  sr__bag_reader reader = {.bag = bag, .take = take, .data = data};
  if (bag->distinct) *bag->distinct = 0;
  return read_all(ctx, bag->plan, bag->member, &reader);
}

sr__bag sr__bag_open(const sr_plan *plan, int32_t member) {
  return (sr__bag){.read = read_bag, .plan = plan, .member = member};
}

static sr_status widen_piece(void *data, const int32_t *rows, const int32_t *counts,
                             int64_t length) {
  wide_bag *bag = data;
  sr__draw_kernel_now()->widen(rows, length, bag->rows + bag->length);
  memcpy(bag->counts + bag->length, counts, (size_t)length * sizeof *counts);
  bag->length += length;
  return SR_OK;
}

sr_status sr_plan_bag(sr_context *ctx, const sr_plan *plan, int32_t member, int64_t *rows,
                      int32_t *counts, int64_t *length) {
  wide_bag wide = {.rows = rows, .counts = counts};
  sr__bag_reader reader = {.take = widen_piece, .data = &wide, .wide = &wide};
  sr_status status = read_all(ctx, plan, member, &reader);
  *length = status == SR_OK ? wide.length : 0;
  return status;
}
