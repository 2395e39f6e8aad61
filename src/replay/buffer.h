/* The replay buffer: a ring of rows, one newest frame each. Internal.
 *
 * A row is a picture, the action played on it and what came of it. Rows are numbered from 0 in the
 * order in which they are written; row r lies in slot r % capacity until row r + capacity
 * overwrites it. The last picture of an episode is a row of its own that is never drawn, so that
 * the picture after a row is always the next row and a truncated step has one too. Stacks are
 * assembled when drawn and never reach across an episode's start. */
#ifndef SR_REPLAY_BUFFER_H
#define SR_REPLAY_BUFFER_H

#include "core/bytes.h"
#include "core/core.h"

enum { SR__STACK_MAX = 8 };

enum {
  SR__ROW_FIRST = 1, /* the first picture of an episode */
  SR__ROW_WHOLE = 2, /* action, reward and next picture are known */
  SR__ROW_OVER = 4   /* the episode ended by the rules: nothing is to come after it */
};

typedef struct sr__buffer {
  sr_allocator allocator;
  int64_t capacity;
  int64_t written; /* rows ever written; the newest waits for its outcome */
  int64_t first;   /* rows before this one are gone although the ring has room for them */
  int64_t whole;   /* living rows that may be drawn, but for those whose history is overwritten */
  int32_t stack;   /* frames that are shown together */
  int64_t frame_bytes;
  uint8_t *frame; /* capacity x frame_bytes; the rest by slot */
  uint8_t *action;
  uint8_t *flags;
  float *reward;
  uint8_t *blank; /* a frame of zeros, in place of those before an episode */
} sr__buffer;

SR_MUST_CHECK sr_status sr__buffer_new(sr_context *ctx, int64_t capacity, int64_t frame_bytes,
                                       int32_t stack, sr__buffer **buffer);
void sr__buffer_free(sr__buffer **buffer);

/* The same living rows, under the same numbers, in a ring of `capacity` rows, no fewer than before.
 * Free with sr__buffer_free. */
SR_MUST_CHECK sr_status sr__buffer_larger(sr_context *ctx, const sr__buffer *buffer,
                                          int64_t capacity, sr__buffer **larger);

/* The first picture of an episode. The row before it, if it still waits, is never drawn. */
void sr__buffer_begin(sr__buffer *buffer, const uint8_t *frame);
/* The outcome of the newest row, and the picture after it, which becomes the newest row. */
void sr__buffer_add(sr__buffer *buffer, int32_t action, float reward, bool over,
                    const uint8_t *next);

static inline int64_t sr__buffer_oldest(const sr__buffer *buffer) {
  int64_t oldest = buffer->written - buffer->capacity;
  return oldest > buffer->first ? oldest : buffer->first;
}
static inline int64_t sr__buffer_slot(const sr__buffer *buffer, int64_t row) {
  return row % buffer->capacity;
}
/* Whether a living row has its outcome and all frames of its stack. */
bool sr__buffer_drawable(const sr__buffer *buffer, int64_t row);
/* The stack + 1 frames of a drawable row, oldest first: the first `stack` of them are what was
 * seen, the last `stack` what was seen after the action. */
void sr__buffer_frames(const sr__buffer *buffer, int64_t row, const uint8_t **frames);

/* All rows in the order of their numbers, with a checksum; streamed, so that no second copy is in
 * memory. */
SR_MUST_CHECK sr_status sr__buffer_save(const sr__buffer *buffer, sr__writer *writer);
/* Reads what sr__buffer_save wrote from `file` at its position into a buffer of the same shape. */
SR_MUST_CHECK sr_status sr__buffer_load(sr_context *ctx, FILE *file, const char *path,
                                        sr__buffer *buffer);

#endif
