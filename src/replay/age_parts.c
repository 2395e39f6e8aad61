#include "sampler.h"

sr_status sr__age_parts_new(sr_context *ctx, const sr__buffer *buffer, int64_t block,
                            sr__age_parts *parts) {
  sr_status status = SR_OK;
  memset(parts, 0, sizeof *parts);
  parts->buffer = buffer;
  parts->block = block;
  SR_NEW_ZERO(ctx, parts->start, buffer->capacity + 1);
  SR_NEW_ZERO(ctx, parts->part, buffer->capacity);
cleanup:
  return status;
}

void sr__age_parts_free(const sr_allocator *allocator, sr__age_parts *parts) {
  sr__release(allocator, parts->start);
  sr__release(allocator, parts->part);
  memset(parts, 0, sizeof *parts);
}

static int64_t start_of(const sr__age_parts *parts, int64_t part) {
  return parts->start[part % (parts->buffer->capacity + 1)];
}

void sr__age_parts_add(sr__age_parts *parts, int64_t row, bool first_of_episode) {
  if (first_of_episode || row - start_of(parts, parts->parts - 1) >= parts->block) {
    parts->start[parts->parts % (parts->buffer->capacity + 1)] = row;
    parts->parts++;
  }
  parts->part[sr__buffer_slot(parts->buffer, row)] = (uint32_t)(parts->parts - 1);
}

int64_t sr__age_part_of(const sr__age_parts *parts, int64_t row) {
  /* Living parts span fewer than 2^32 numbers, so the low bits tell the part. */
  int64_t newest = parts->parts - 1;
  return newest -
         (int64_t)(uint32_t)((uint32_t)newest - parts->part[sr__buffer_slot(parts->buffer, row)]);
}

void sr__age_part_rows(const sr__age_parts *parts, int64_t part, int64_t *first, int64_t *end) {
  int64_t oldest = sr__buffer_oldest(parts->buffer);
  *first = start_of(parts, part) > oldest ? start_of(parts, part) : oldest;
  *end = part + 1 < parts->parts ? start_of(parts, part + 1) : parts->buffer->written;
}

void sr__age_parts_again(sr__age_parts *parts, int64_t block) {
  const sr__buffer *buffer = parts->buffer;
  int64_t oldest = sr__buffer_oldest(buffer);
  parts->block = block;
  parts->parts = 0;
  for (int64_t row = oldest; row < buffer->written; row++)
    sr__age_parts_add(parts, row,
                      row == oldest || buffer->flags[sr__buffer_slot(buffer, row)] & SR__ROW_FIRST);
}

sr_status sr__age_parts_grow(sr_context *ctx, sr__age_parts *parts, const sr__buffer *larger) {
  sr_status status = SR_OK;
  const sr__buffer *buffer = parts->buffer;
  int64_t oldest = sr__buffer_oldest(buffer), *start = NULL;
  uint32_t *part = NULL;
  SR_NEW_ZERO(ctx, start, larger->capacity + 1);
  SR_NEW_ZERO(ctx, part, larger->capacity);
  for (int64_t row = oldest; row < buffer->written; row++)
    part[sr__buffer_slot(larger, row)] = parts->part[sr__buffer_slot(buffer, row)];
  for (int64_t p = parts->parts > 0 ? sr__age_part_of(parts, oldest) : 0; p < parts->parts; p++)
    start[p % (larger->capacity + 1)] = start_of(parts, p);
  int64_t *old_start = parts->start;
  uint32_t *old_part = parts->part;
  parts->start = start;
  parts->part = part;
  start = old_start;
  part = old_part;
cleanup:
  sr__free(ctx, start);
  sr__free(ctx, part);
  return status;
}

void sr__age_parts_save(const sr__age_parts *parts, sr__bytes *bytes) {
  sr__put_u64(bytes, (uint64_t)parts->parts);
  sr__put_u64(bytes, (uint64_t)parts->block);
  sr__put_raw(bytes, parts->start, (parts->buffer->capacity + 1) * (int64_t)sizeof *parts->start);
  sr__put_raw(bytes, parts->part, parts->buffer->capacity * (int64_t)sizeof *parts->part);
}

void sr__age_parts_load(sr__age_parts *parts, sr__byte_reader *reader) {
  parts->parts = (int64_t)sr__get_u64(reader);
  parts->block = (int64_t)sr__get_u64(reader);
  if (parts->block < 1) sr__get_refuse(reader, "a part has no rows");
  sr__get_raw(reader, parts->start, (parts->buffer->capacity + 1) * (int64_t)sizeof *parts->start);
  sr__get_raw(reader, parts->part, parts->buffer->capacity * (int64_t)sizeof *parts->part);
}
