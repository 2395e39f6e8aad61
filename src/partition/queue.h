/* A heap of nodes by gain, the latest first among equals, with the place of every node known. */
#ifndef SR_PARTITION_QUEUE_H
#define SR_PARTITION_QUEUE_H

#include "partition.h"

/* States of a node that is in no queue. */
enum { SR_PLACE_UNSEEN = -1, SR_PLACE_LOCKED = -2 };

/* Orders by gain, then by clock: the bits of a float, mapped so that they sort as integers. */
static inline uint64_t sr__queue_key(double gain, uint32_t clock) {
  float value = (float)gain;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return (uint64_t)bits << 32 | clock;
}

static inline void sr__queue_set(sr__queue *queue, int32_t *place, int64_t at, uint64_t key,
                                 int32_t node) {
  queue->key[at] = key;
  queue->node[at] = node;
  place[node] = (int32_t)at;
}

static inline void sr__queue_up(sr__queue *queue, int32_t *place, int64_t at, uint64_t key,
                                int32_t node) {
  while (at > 0) {
    int64_t parent = (at - 1) / 4;
    if (queue->key[parent] >= key) break;
    sr__queue_set(queue, place, at, queue->key[parent], queue->node[parent]);
    at = parent;
  }
  sr__queue_set(queue, place, at, key, node);
}

static inline void sr__queue_down(sr__queue *queue, int32_t *place, int64_t at, uint64_t key,
                                  int32_t node) {
  for (;;) {
    int64_t child = 4 * at + 1, end = child + 4 < queue->count ? child + 4 : queue->count;
    if (child >= queue->count) break;
    int64_t best = child;
    for (int64_t c = child + 1; c < end; c++)
      if (queue->key[c] > queue->key[best]) best = c;
    if (queue->key[best] <= key) break;
    sr__queue_set(queue, place, at, queue->key[best], queue->node[best]);
    at = best;
  }
  sr__queue_set(queue, place, at, key, node);
}

/* There must be room: see sr__queue_reserve. */
static inline void sr__queue_insert(sr__queue *queue, int32_t *place, uint64_t key, int32_t node) {
  sr__queue_up(queue, place, queue->count++, key, node);
}

static inline void sr__queue_change(sr__queue *queue, int32_t *place, int32_t node, uint64_t key) {
  int64_t at = place[node];
  if (key > queue->key[at])
    sr__queue_up(queue, place, at, key, node);
  else
    sr__queue_down(queue, place, at, key, node);
}

/* Takes the best node out; its place becomes `state`. */
static inline int32_t sr__queue_pop(sr__queue *queue, int32_t *place, int32_t state) {
  int32_t node = queue->node[0];
  queue->count--;
  if (queue->count > 0)
    sr__queue_down(queue, place, 0, queue->key[queue->count], queue->node[queue->count]);
  place[node] = state;
  return node;
}

SR_MUST_CHECK static inline sr_status sr__queue_reserve(sr_context *ctx, sr__queue *queue,
                                                        int64_t more) {
  sr_status status = SR_OK;
  int64_t needed = queue->count + more, capacity = queue->capacity;
  if (needed <= capacity) return SR_OK;
  SR_GROW(ctx, queue->node, capacity, needed);
  capacity = queue->capacity;
  SR_GROW(ctx, queue->key, capacity, needed);
  queue->capacity = capacity;
cleanup:
  return status;
}

#endif
