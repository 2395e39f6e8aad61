#include "context.h"

#include <stdalign.h>

bool sr__size_multiply(size_t a, size_t b, size_t *result) {
  if (b != 0 && a > SIZE_MAX / b) return false;
  *result = a * b;
  return true;
}

/* 0 with the error recorded where count * size has no place in memory. */
static size_t checked_bytes(sr_context *ctx, int64_t count, size_t size) {
  size_t bytes;
  if (count < 0 || !sr__size_multiply((size_t)count, size, &bytes) || bytes > PTRDIFF_MAX) {
    (void)!sr__fail(ctx, SR_ERROR_OVERFLOW, "cannot hold %lld items of %zu bytes", (long long)count,
                    size);
    return 0;
  }
  return bytes ? bytes : 1;
}

static void *checked_block(sr_context *ctx, void *block, size_t bytes) {
  if (!block)
    (void)!sr__fail(ctx, SR_ERROR_MEMORY, "out of memory: %zu bytes were asked for", bytes);
  return block;
}

void *sr__alloc(sr_context *ctx, int64_t count, size_t size) {
  size_t bytes = checked_bytes(ctx, count, size);
  if (!bytes) return NULL;
  return checked_block(ctx, ctx->allocator.allocate(ctx->allocator.data, bytes), bytes);
}

void *sr__alloc_zero(sr_context *ctx, int64_t count, size_t size) {
  void *block = sr__alloc(ctx, count, size);
  if (block) memset(block, 0, (size_t)count * size);
  return block;
}

void *sr__resize(sr_context *ctx, void *block, int64_t count, size_t size) {
  size_t bytes = checked_bytes(ctx, count, size);
  if (!bytes) return NULL;
  return checked_block(ctx, ctx->allocator.resize(ctx->allocator.data, block, bytes), bytes);
}

void sr__free(sr_context *ctx, void *block) { sr__release(&ctx->allocator, block); }

sr_allocator sr__allocator(const sr_context *ctx) { return ctx->allocator; }

void sr__release(const sr_allocator *allocator, void *block) {
  if (block) allocator->release(allocator->data, block);
}

sr_status sr__memory_check(sr_context *ctx, int64_t bytes) {
  void *block = sr__alloc(ctx, bytes, 1);
  if (!block) return sr_context_error(ctx).status;
  sr__free(ctx, block);
  return SR_OK;
}

char *sr__strdup(sr_context *ctx, const char *text) {
  size_t length = strlen(text) + 1;
  char *copy = sr__alloc(ctx, (int64_t)length, 1);
  if (copy) memcpy(copy, text, length);
  return copy;
}

/* ---- arena -------------------------------------------------------------------------------- */

struct sr__arena_block {
  sr__arena_block *next;
  size_t capacity;
  alignas(max_align_t) unsigned char bytes[];
};

enum { ARENA_BLOCK_BYTES = 64 * 1024 };

void *sr__arena_alloc(sr_context *ctx, sr__arena *arena, int64_t count, size_t size) {
  size_t bytes = checked_bytes(ctx, count, size);
  if (!bytes) return NULL;
  const size_t align = alignof(max_align_t);
  bytes = (bytes + align - 1) / align * align;
  if (!arena->head || arena->head->capacity - arena->used < bytes) {
    size_t capacity = bytes > ARENA_BLOCK_BYTES ? bytes : ARENA_BLOCK_BYTES;
    sr__arena_block *block = sr__alloc(ctx, (int64_t)(sizeof *block + capacity), 1);
    if (!block) return NULL;
    block->next = arena->head;
    block->capacity = capacity;
    arena->head = block;
    arena->used = 0;
  }
  void *result = arena->head->bytes + arena->used;
  arena->used += bytes;
  return result;
}

void sr__arena_free(sr_context *ctx, sr__arena *arena) {
  while (arena->head) {
    sr__arena_block *next = arena->head->next;
    sr__free(ctx, arena->head);
    arena->head = next;
  }
  arena->used = 0;
}
