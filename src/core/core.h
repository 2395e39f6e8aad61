/* What every room may use: errors, memory, threads, streams, files. Internal. */
#ifndef SR_CORE_CORE_H
#define SR_CORE_CORE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <specroute/core.h>

/* ---- errors ------------------------------------------------------------------------------- */

/* Records the sentence and returns the status. The sentence names the input, the value and the
 * remedy. */
SR_MUST_CHECK sr_status sr__fail(sr_context *ctx, sr_status status, const char *format, ...)
    SR_PRINTF(3, 4);
/* The same with a place in an input file. */
SR_MUST_CHECK sr_status sr__fail_at(sr_context *ctx, sr_status status, const char *file,
                                    int64_t line, int64_t column, const char *format, ...)
    SR_PRINTF(6, 7);
void sr__log(sr_context *ctx, sr_log_level level, const char *format, ...) SR_PRINTF(3, 4);
void sr__progress(sr_context *ctx, const char *stage, int64_t done, int64_t total);
/* SR_ERROR_INTERRUPTED once an interrupt was asked for; cheap enough for inner loops. */
SR_MUST_CHECK sr_status sr__check_interrupt(sr_context *ctx);

/* ---- memory ------------------------------------------------------------------------------- */

/* NULL with the error recorded where memory is out or the size overflows. count 0 gives a valid
 * pointer. Blocks are aligned for any type. */
void *sr__alloc(sr_context *ctx, int64_t count, size_t size);
void *sr__alloc_zero(sr_context *ctx, int64_t count, size_t size);
/* Grows or shrinks; on failure the old block stays valid. */
void *sr__resize(sr_context *ctx, void *block, int64_t count, size_t size);
void sr__free(sr_context *ctx, void *block);
/* Objects keep this copy, so that they can be freed without a context. */
sr_allocator sr__allocator(const sr_context *ctx);
void sr__release(const sr_allocator *allocator, void *block);
char *sr__strdup(sr_context *ctx, const char *text);
/* SR_ERROR_MEMORY where a block of so many bytes is not to be had: asked before libraries that say
 * little of that, or crash. */
SR_MUST_CHECK sr_status sr__memory_check(sr_context *ctx, int64_t bytes);

#define SR_NEW(ctx, pointer, count)                           \
  do {                                                        \
    (pointer) = sr__alloc((ctx), (count), sizeof *(pointer)); \
    if (!(pointer)) {                                         \
      status = sr_context_error(ctx).status;                  \
      goto cleanup;                                           \
    }                                                         \
  } while (0)
#define SR_NEW_ZERO(ctx, pointer, count)                           \
  do {                                                             \
    (pointer) = sr__alloc_zero((ctx), (count), sizeof *(pointer)); \
    if (!(pointer)) {                                              \
      status = sr_context_error(ctx).status;                       \
      goto cleanup;                                                \
    }                                                              \
  } while (0)
/* Makes room for `count` items, at least doubling; `capacity` is an int64_t lvalue. */
#define SR_GROW(ctx, pointer, capacity, count)                                \
  do {                                                                        \
    if ((count) > (capacity)) {                                               \
      int64_t grown_ = (capacity)*2 > (count) ? (capacity)*2 : (count);       \
      void *block_ = sr__resize((ctx), (pointer), grown_, sizeof *(pointer)); \
      if (!block_) {                                                          \
        status = sr_context_error(ctx).status;                                \
        goto cleanup;                                                         \
      }                                                                       \
      (pointer) = block_;                                                     \
      (capacity) = grown_;                                                    \
    }                                                                         \
  } while (0)

/* false where the result does not fit; *result is then untouched. */
bool sr__size_multiply(size_t a, size_t b, size_t *result);

/* Scratch memory: many small pieces, freed together. A zeroed struct is an empty arena. */
typedef struct sr__arena_block sr__arena_block;
typedef struct sr__arena {
  sr__arena_block *head;
  size_t used; /* of the head block */
} sr__arena;
void *sr__arena_alloc(sr_context *ctx, sr__arena *arena, int64_t count, size_t size);
void sr__arena_free(sr_context *ctx, sr__arena *arena);

/* ---- threads ------------------------------------------------------------------------------ */

/* Work on one item. `worker` is the context to use inside: it shares allocator and interrupt with
 * the parent, has its own error, and runs nested loops serially. `slot` is below
 * sr_context_threads(parent) and no two running items share it: index scratch by it, never results.
 */
typedef sr_status (*sr__item_fn)(sr_context *worker, void *data, int64_t item, int slot);

/* Runs fn for every item in [0, items). Items are handed out in order; a worker writes only what
 * belongs to its item, so the result does not depend on the thread count. Where items fail, the
 * error of the lowest failing item is reported, as a serial loop would. */
SR_MUST_CHECK sr_status sr__parallel_for(sr_context *ctx, int64_t items, sr__item_fn fn,
                                         void *data);
/* Splits [0, n) into chunks of a size that depends on n and `grain` alone, never on the thread
 * count: chunk c covers [c*size, min(n, (c+1)*size)). At most 4096 chunks. */
int64_t sr__chunk_size(int64_t n, int64_t grain);
int64_t sr__chunk_count(int64_t n, int64_t grain);

/* ---- files -------------------------------------------------------------------------------- */

/* Writes under a temporary name in the same folder; commit syncs and renames, abort removes.
 * "-" writes to standard output. After a failed write every further call fails alike. */
typedef struct sr__writer sr__writer;
SR_MUST_CHECK sr_status sr__writer_open(sr_context *ctx, const char *path, sr__writer **writer);
SR_MUST_CHECK sr_status sr__writer_put(sr__writer *writer, const void *bytes, size_t count);
SR_MUST_CHECK sr_status sr__writer_print(sr__writer *writer, const char *format, ...)
    SR_PRINTF(2, 3);
SR_MUST_CHECK sr_status sr__writer_commit(sr__writer **writer);
/* Null-safe; a no-op after commit. */
void sr__writer_abort(sr__writer **writer);

#endif
