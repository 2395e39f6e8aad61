#include "buffer.h"

sr_status sr__buffer_new(sr_context *ctx, int64_t capacity, int64_t frame_bytes, int32_t stack,
                         sr__buffer **buffer) {
  sr_status status = SR_OK;
  sr__buffer *made = NULL;
  *buffer = NULL;
  if (stack < 1 || stack > SR__STACK_MAX)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "a stack of %d frames is not possible; it may have 1 to %d", (int)stack,
                    SR__STACK_MAX);
  if (capacity < 4 * stack)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "a buffer of %lld rows is too small for stacks of %d; give it at least %d",
                    (long long)capacity, (int)stack, 4 * (int)stack);
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->capacity = capacity;
  made->frame_bytes = frame_bytes;
  made->stack = stack;
  made->frame = sr__alloc(ctx, capacity, (size_t)frame_bytes);
  if (!made->frame) {
    status = sr_context_error(ctx).status;
    goto cleanup;
  }
  SR_NEW_ZERO(ctx, made->action, capacity);
  SR_NEW_ZERO(ctx, made->flags, capacity);
  SR_NEW_ZERO(ctx, made->reward, capacity);
  SR_NEW_ZERO(ctx, made->blank, frame_bytes);
  *buffer = made;
  made = NULL;
cleanup:
  sr__buffer_free(&made);
  return status;
}

void sr__buffer_free(sr__buffer **buffer) {
  if (!*buffer) return;
  sr_allocator allocator = (*buffer)->allocator;
  sr__release(&allocator, (*buffer)->frame);
  sr__release(&allocator, (*buffer)->action);
  sr__release(&allocator, (*buffer)->flags);
  sr__release(&allocator, (*buffer)->reward);
  sr__release(&allocator, (*buffer)->blank);
  sr__release(&allocator, *buffer);
  *buffer = NULL;
}

sr_status sr__buffer_larger(sr_context *ctx, const sr__buffer *buffer, int64_t capacity,
                            sr__buffer **larger) {
  sr_status status = sr__buffer_new(ctx, capacity, buffer->frame_bytes, buffer->stack, larger);
  if (status != SR_OK) return status;
  sr__buffer *made = *larger;
  made->written = buffer->written;
  made->whole = buffer->whole;
  made->first = sr__buffer_oldest(buffer);
  for (int64_t row = made->first; row < buffer->written; row++) {
    int64_t from = sr__buffer_slot(buffer, row), to = sr__buffer_slot(made, row);
    memcpy(made->frame + to * made->frame_bytes, buffer->frame + from * buffer->frame_bytes,
           (size_t)buffer->frame_bytes);
    made->action[to] = buffer->action[from];
    made->flags[to] = buffer->flags[from];
    made->reward[to] = buffer->reward[from];
  }
  return SR_OK;
}

/* Writes a frame over the oldest row once the ring is full. */
static void write_row(sr__buffer *buffer, const uint8_t *frame, uint8_t flags) {
  int64_t slot = sr__buffer_slot(buffer, buffer->written);
  if (buffer->written >= buffer->capacity && buffer->flags[slot] & SR__ROW_WHOLE) buffer->whole--;
  memcpy(buffer->frame + slot * buffer->frame_bytes, frame, (size_t)buffer->frame_bytes);
  buffer->action[slot] = 0;
  buffer->reward[slot] = 0;
  buffer->flags[slot] = flags;
  buffer->written++;
}

void sr__buffer_begin(sr__buffer *buffer, const uint8_t *frame) {
  write_row(buffer, frame, SR__ROW_FIRST);
}

void sr__buffer_add(sr__buffer *buffer, int32_t action, float reward, bool over,
                    const uint8_t *next) {
  int64_t slot = sr__buffer_slot(buffer, buffer->written - 1);
  buffer->action[slot] = (uint8_t)action;
  buffer->reward[slot] = reward;
  buffer->flags[slot] |= (uint8_t)(SR__ROW_WHOLE | (over ? SR__ROW_OVER : 0));
  buffer->whole++;
  write_row(buffer, next, 0);
}

bool sr__buffer_drawable(const sr__buffer *buffer, int64_t row) {
  if (!(buffer->flags[sr__buffer_slot(buffer, row)] & SR__ROW_WHOLE)) return false;
  int64_t oldest = sr__buffer_oldest(buffer);
  if (row - oldest >= buffer->stack - 1) return true;
  while (!(buffer->flags[sr__buffer_slot(buffer, row)] & SR__ROW_FIRST))
    if (row-- == oldest) return false; /* its episode began before the oldest row */
  return true;
}

void sr__buffer_frames(const sr__buffer *buffer, int64_t row, const uint8_t **frames) {
  frames[buffer->stack] = buffer->frame + sr__buffer_slot(buffer, row + 1) * buffer->frame_bytes;
  bool before_episode = false;
  for (int32_t k = buffer->stack - 1; k >= 0; k--, row--) {
    if (before_episode) {
      frames[k] = buffer->blank;
      continue;
    }
    int64_t slot = sr__buffer_slot(buffer, row);
    frames[k] = buffer->frame + slot * buffer->frame_bytes;
    before_episode = buffer->flags[slot] & SR__ROW_FIRST;
  }
}

/* ---- files -------------------------------------------------------------------------------- */

/* A running checksum of 64 bits: any altered word changes it. */
static uint64_t checksum(uint64_t sum, const void *bytes, int64_t count) {
  const uint8_t *at = bytes;
  for (; count >= 8; count -= 8, at += 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    sum ^= sum >> 29;
  }
  for (; count > 0; count--, at++) sum = (sum ^ *at) * UINT64_C(0x100000001B3);
  return sum;
}

typedef struct column {
  uint8_t *data;
  int64_t size; /* bytes per row */
} column;

static void list_columns(const sr__buffer *buffer, column *columns) {
  columns[0] = (column){buffer->frame, buffer->frame_bytes};
  columns[1] = (column){buffer->action, 1};
  columns[2] = (column){buffer->flags, 1};
  columns[3] = (column){(uint8_t *)buffer->reward, (int64_t)sizeof(float)};
}
enum { COLUMNS = 4, HEADER_WORDS = 7, FILE_MAGIC = 0x53524246 };

static void fill_header(const sr__buffer *buffer, uint64_t *header) {
  header[0] = FILE_MAGIC;
  header[1] = (uint64_t)buffer->capacity;
  header[2] = (uint64_t)buffer->frame_bytes;
  header[3] = (uint64_t)buffer->stack;
  header[4] = (uint64_t)buffer->written;
  header[5] = (uint64_t)buffer->whole;
  header[6] = (uint64_t)buffer->first;
}

sr_status sr__buffer_save(const sr__buffer *buffer, sr__writer *writer) {
  sr_status status = SR_OK;
  uint64_t header[HEADER_WORDS];
  column columns[COLUMNS];
  int64_t oldest = sr__buffer_oldest(buffer), rows = buffer->written - oldest;
  int64_t start = sr__buffer_slot(buffer, oldest), until_end = buffer->capacity - start;
  int64_t piece[2] = {rows < until_end ? rows : until_end, rows < until_end ? 0 : rows - until_end};
  fill_header(buffer, header);
  uint64_t sum = checksum(0, header, sizeof header);
  SR_TRY(sr__writer_put(writer, header, sizeof header));
  list_columns(buffer, columns);
  for (int c = 0; c < COLUMNS; c++)
    for (int k = 0; k < 2; k++) {
      const uint8_t *from = columns[c].data + (k == 0 ? start * columns[c].size : 0);
      SR_TRY(sr__writer_put(writer, from, (size_t)(piece[k] * columns[c].size)));
      sum = checksum(sum, from, piece[k] * columns[c].size);
    }
  SR_TRY(sr__writer_put(writer, &sum, sizeof sum));
cleanup:
  return status;
}

sr_status sr__buffer_load(sr_context *ctx, FILE *file, const char *path, sr__buffer *buffer) {
  uint64_t header[HEADER_WORDS], wanted[HEADER_WORDS], stored;
  column columns[COLUMNS];
  fill_header(buffer, wanted);
  if (fread(header, sizeof header, 1, file) != 1 || memcmp(header, wanted, 4 * sizeof *header) != 0)
    return sr__fail(ctx, SR_ERROR_FORMAT,
                    "%s does not hold a replay buffer of %lld rows of %lld bytes", path,
                    (long long)buffer->capacity, (long long)buffer->frame_bytes);
  uint64_t sum = checksum(0, header, sizeof header);
  if (header[4] > INT64_MAX / 2 || header[5] > header[4] || header[6] > header[4])
    return sr__fail(ctx, SR_ERROR_FORMAT, "%s: the replay buffer's count of rows is damaged", path);
  buffer->written = (int64_t)header[4];
  buffer->whole = (int64_t)header[5];
  buffer->first = (int64_t)header[6];
  int64_t oldest = sr__buffer_oldest(buffer), rows = buffer->written - oldest;
  int64_t start = sr__buffer_slot(buffer, oldest), until_end = buffer->capacity - start;
  int64_t piece[2] = {rows < until_end ? rows : until_end, rows < until_end ? 0 : rows - until_end};
  list_columns(buffer, columns);
  for (int c = 0; c < COLUMNS; c++)
    for (int k = 0; k < 2; k++) {
      uint8_t *to = columns[c].data + (k == 0 ? start * columns[c].size : 0);
      size_t count = (size_t)(piece[k] * columns[c].size);
      if (count > 0 && fread(to, 1, count, file) != count)
        return sr__fail(ctx, SR_ERROR_FORMAT, "%s: the replay buffer ends too early", path);
      sum = checksum(sum, to, (int64_t)count);
    }
  if (fread(&stored, sizeof stored, 1, file) != 1 || stored != sum)
    return sr__fail(ctx, SR_ERROR_FORMAT,
                    "%s: the replay buffer's checksum is wrong, some byte was altered", path);
  return SR_OK;
}
