/* The bags of a plan as bytes: each row by its distance from the one before and its count. */
#include "core/bytes.h"
#include "plan.h"

enum { PLAN_MARK = 0x6C507253, PLAN_VERSION = 1 };

/* Seven bits a byte, the lowest first; the eighth says that more follow. */
static void put_short(sr__bytes *bytes, uint32_t value) {
  for (; value >= 128; value >>= 7) sr__put_u8(bytes, (uint8_t)(value | 128));
  sr__put_u8(bytes, (uint8_t)value);
}

static uint32_t get_short(sr__byte_reader *in) {
  uint32_t value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    uint8_t byte = sr__get_u8(in);
    if (shift == 28 && byte > 15) break;
    value |= (uint32_t)(byte & 127) << shift;
    if (byte < 128) return value;
  }
  sr__get_refuse(in, "a number does not end");
  return 0;
}

sr_status sr_plan_to_bytes(sr_context *ctx, const sr_plan *plan, void **bytes, int64_t *count) {
  sr_status status = SR_OK;
  sr__bytes out = {.ctx = ctx};
  int64_t *row = NULL, length;
  int32_t *times = NULL;
  *bytes = NULL;
  *count = 0;
  SR_NEW(ctx, row, plan->capacity);
  SR_NEW(ctx, times, plan->capacity);
  sr__put_u32(&out, PLAN_MARK);
  sr__put_u32(&out, PLAN_VERSION);
  sr__put_string(&out, plan->text);
  sr__put_u64(&out, (uint64_t)plan->rows);
  sr__put_u32(&out, (uint32_t)plan->members);
  for (int32_t j = 0; j < plan->members; j++) {
    SR_TRY(sr_plan_bag(ctx, plan, j, row, times, &length));
    sr__put_u64(&out, (uint64_t)length);
    for (int64_t i = 0; i < length; i++) {
      put_short(&out, (uint32_t)(row[i] - (i ? row[i - 1] : 0)));
      put_short(&out, (uint32_t)times[i]);
    }
    SR_TRY(out.status);
    SR_TRY(sr__check_interrupt(ctx));
  }
  SR_TRY(sr__bytes_hand_over(ctx, &out, bytes, count));
cleanup:
  sr__bytes_free(&out);
  sr__free(ctx, row);
  sr__free(ctx, times);
  return status;
}

typedef struct bag_entries {
  int64_t *offset, *row;
  int32_t *times;
  int64_t count, capacity, times_capacity;
} bag_entries;

static sr_status get_bag(sr__byte_reader *in, int64_t rows, int32_t member, bag_entries *e) {
  sr_status status = SR_OK;
  int64_t length = sr__get_count(in, 2), at = 0;
  SR_GROW(in->ctx, e->row, e->capacity, e->count + length);
  SR_GROW(in->ctx, e->times, e->times_capacity, e->count + length);
  for (int64_t i = 0; i < length; i++, e->count++) {
    uint32_t step = get_short(in), times = get_short(in);
    at += step;
    if (at >= rows || times == 0 || times > INT32_MAX || (i && step == 0))
      sr__get_refuse(in, "a row or its count is out of range");
    SR_TRY(in->status);
    e->row[e->count] = at;
    e->times[e->count] = (int32_t)times;
  }
  e->offset[member + 1] = e->count;
  status = in->status;
cleanup:
  return status;
}

sr_status sr_plan_from_bytes(sr_context *ctx, const void *bytes, int64_t count, sr_plan **plan) {
  sr_status status = SR_OK;
  sr__byte_reader in = {.ctx = ctx, .data = bytes, .size = count, .what = "the plan"};
  bag_entries e = {0};
  char *text = NULL;
  *plan = NULL;
  if (sr__get_u32(&in) != PLAN_MARK || sr__get_u32(&in) != PLAN_VERSION)
    sr__get_refuse(&in, "these bytes are no plan of this version");
  text = sr__get_string(&in);
  uint64_t rows = sr__get_u64(&in);
  uint32_t members = sr__get_u32(&in);
  if (rows < 1 || rows > INT32_MAX || members < 1 || members > in.size / 8)
    sr__get_refuse(&in, "a size is out of range");
  SR_TRY(in.status);
  SR_NEW_ZERO(ctx, e.offset, (int64_t)members + 1);
  for (uint32_t j = 0; j < members; j++) SR_TRY(get_bag(&in, (int64_t)rows, (int32_t)j, &e));
  if (in.at != in.size) sr__get_refuse(&in, "it does not end where it should");
  SR_TRY(in.status);
  SR_TRY(sr_plan_from_bags(ctx, (int64_t)rows, (int32_t)members, e.offset, e.row, e.times, plan));
  sr__free(ctx, (*plan)->text);
  (*plan)->text = text;
  text = NULL;
cleanup:
  sr__free(ctx, e.offset);
  sr__free(ctx, e.row);
  sr__free(ctx, e.times);
  sr__free(ctx, text);
  return status;
}
