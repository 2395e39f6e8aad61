#include "bytes.h"

#include <stddef.h>

/* ---- writing ------------------------------------------------------------------------------ */

static sr_status reserve(sr__bytes *bytes, int64_t count) {
  sr_status status = SR_OK;
  if (count > INT64_MAX / 4 - bytes->size)
    SR_TRY(sr__fail(bytes->ctx, SR_ERROR_OVERFLOW, "a buffer of more than 2^61 bytes"));
  SR_GROW(bytes->ctx, bytes->data, bytes->capacity, bytes->size + count);
cleanup:
  return status;
}

void sr__bytes_free(sr__bytes *bytes) {
  if (bytes->ctx) sr__free(bytes->ctx, bytes->data);
  *bytes = (sr__bytes){.ctx = bytes->ctx};
}

void sr__put_raw(sr__bytes *bytes, const void *from, int64_t count) {
  if (bytes->status != SR_OK || count == 0) return;
  bytes->status = reserve(bytes, count);
  if (bytes->status != SR_OK) return;
  memcpy(bytes->data + bytes->size, from, (size_t)count);
  bytes->size += count;
}

static void put_word(sr__bytes *bytes, uint64_t value, int width) {
  uint8_t word[8];
  for (int i = 0; i < width; i++) word[i] = (uint8_t)(value >> (8 * i));
  sr__put_raw(bytes, word, width);
}

void sr__put_u8(sr__bytes *bytes, uint8_t value) { put_word(bytes, value, 1); }
void sr__put_u32(sr__bytes *bytes, uint32_t value) { put_word(bytes, value, 4); }
void sr__put_u64(sr__bytes *bytes, uint64_t value) { put_word(bytes, value, 8); }

void sr__put_f32(sr__bytes *bytes, float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  put_word(bytes, word, 4);
}

void sr__put_f64(sr__bytes *bytes, double value) {
  uint64_t word;
  memcpy(&word, &value, sizeof word);
  put_word(bytes, word, 8);
}

void sr__put_string(sr__bytes *bytes, const char *text) {
  size_t length = text ? strlen(text) : 0;
  sr__put_u64(bytes, length);
  sr__put_raw(bytes, text, (int64_t)length);
}

/* ---- reading ------------------------------------------------------------------------------ */

void sr__get_refuse(sr__byte_reader *reader, const char *reason) {
  if (reader->status != SR_OK) return;
  reader->status =
      sr__fail(reader->ctx, SR_ERROR_FORMAT,
               "%s is damaged at byte %lld of %lld: %s; write it anew or fetch it again",
               reader->what ? reader->what : "the input", (long long)reader->at,
               (long long)reader->size, reason);
}

void sr__get_raw(sr__byte_reader *reader, void *to, int64_t count) {
  if (count == 0) return;
  if (reader->status == SR_OK && (count < 0 || count > reader->size - reader->at))
    sr__get_refuse(reader, "it ends too early");
  if (reader->status != SR_OK) {
    if (count > 0) memset(to, 0, (size_t)count);
    return;
  }
  memcpy(to, reader->data + reader->at, (size_t)count);
  reader->at += count;
}

static uint64_t get_word(sr__byte_reader *reader, int width) {
  uint8_t word[8];
  uint64_t value = 0;
  sr__get_raw(reader, word, width);
  for (int i = 0; i < width; i++) value |= (uint64_t)word[i] << (8 * i);
  return value;
}

uint8_t sr__get_u8(sr__byte_reader *reader) { return (uint8_t)get_word(reader, 1); }
uint32_t sr__get_u32(sr__byte_reader *reader) { return (uint32_t)get_word(reader, 4); }
uint64_t sr__get_u64(sr__byte_reader *reader) { return get_word(reader, 8); }

float sr__get_f32(sr__byte_reader *reader) {
  uint32_t word = sr__get_u32(reader);
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

double sr__get_f64(sr__byte_reader *reader) {
  uint64_t word = sr__get_u64(reader);
  double value;
  memcpy(&value, &word, sizeof value);
  return value;
}

int64_t sr__get_count(sr__byte_reader *reader, int64_t item_size) {
  uint64_t count = sr__get_u64(reader);
  if (reader->status == SR_OK && count > (uint64_t)((reader->size - reader->at) / item_size))
    sr__get_refuse(reader, "a count is larger than what follows");
  return reader->status == SR_OK ? (int64_t)count : 0;
}

char *sr__get_string(sr__byte_reader *reader) {
  int64_t length = sr__get_count(reader, 1);
  if (reader->status != SR_OK) return NULL;
  char *text = sr__alloc(reader->ctx, length + 1, 1);
  if (!text) {
    reader->status = sr_context_error(reader->ctx).status;
    return NULL;
  }
  sr__get_raw(reader, text, length);
  text[length] = '\0';
  if (memchr(text, '\0', (size_t)length)) {
    sr__get_refuse(reader, "a name has a zero byte");
    sr__free(reader->ctx, text);
    return NULL;
  }
  return text;
}

/* ---- bytes for the user -------------------------------------------------------------------- */

/* The allocator stands before the bytes, so that they can be freed without a context. */
typedef union owned_bytes {
  sr_allocator allocator;
  max_align_t align;
} owned_bytes;

sr_status sr__bytes_hand_over(sr_context *ctx, const sr__bytes *bytes, void **copy,
                              int64_t *count) {
  *copy = NULL;
  *count = 0;
  if (bytes->status != SR_OK) return bytes->status;
  owned_bytes *block = sr__alloc(ctx, bytes->size + (int64_t)sizeof *block, 1);
  if (!block) return sr_context_error(ctx).status;
  block->allocator = sr__allocator(ctx);
  if (bytes->size) memcpy(block + 1, bytes->data, (size_t)bytes->size);
  *copy = block + 1;
  *count = bytes->size;
  return SR_OK;
}

sr_status sr__give_text(sr_context *ctx, const char *text, int64_t length, char **given) {
  *given = NULL;
  owned_bytes *block = sr__alloc(ctx, length + 1 + (int64_t)sizeof *block, 1);
  if (!block) return sr_context_error(ctx).status;
  block->allocator = sr__allocator(ctx);
  *given = (char *)(block + 1);
  if (length) memcpy(*given, text, (size_t)length);
  (*given)[length] = '\0';
  return SR_OK;
}

void sr_bytes_free(void **bytes) {
  if (!bytes || !*bytes) return;
  owned_bytes *block = (owned_bytes *)*bytes - 1;
  sr_allocator allocator = block->allocator;
  sr__release(&allocator, block);
  *bytes = NULL;
}
