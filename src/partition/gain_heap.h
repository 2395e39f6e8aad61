/* A heap of nodes by gain, the latest first among equals, with the place of every node known. */
#ifndef SR_PARTITION_GAIN_HEAP_H
#define SR_PARTITION_GAIN_HEAP_H

#include "partition.h"

/* States of a node that is in no heap. */
enum { SR_PLACE_UNSEEN = -1, SR_PLACE_LOCKED = -2 };

/* Orders by gain, then by clock: the bits of a float, mapped so that they sort as integers. */
static inline uint64_t sr__gain_heap_key(double gain, uint32_t clock) {
  float value = (float)gain;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return (uint64_t)bits << 32 | clock;
}

static inline void sr__gain_heap_set(sr__gain_heap *heap, int32_t *place, int64_t at, uint64_t key,
                                     int32_t node) {
  heap->key[at] = key;
  heap->node[at] = node;
  place[node] = (int32_t)at;
}

static inline void sr__gain_heap_up(sr__gain_heap *heap, int32_t *place, int64_t at, uint64_t key,
                                    int32_t node) {
  while (at > 0) {
    int64_t parent = (at - 1) / 4;
    if (heap->key[parent] >= key) break;
    sr__gain_heap_set(heap, place, at, heap->key[parent], heap->node[parent]);
    at = parent;
  }
  sr__gain_heap_set(heap, place, at, key, node);
}

static inline void sr__gain_heap_down(sr__gain_heap *heap, int32_t *place, int64_t at, uint64_t key,
                                      int32_t node) {
  for (;;) {
    int64_t child = 4 * at + 1, end = child + 4 < heap->count ? child + 4 : heap->count;
    if (child >= heap->count) break;
    int64_t best = child;
    for (int64_t c = child + 1; c < end; c++)
      if (heap->key[c] > heap->key[best]) best = c;
    if (heap->key[best] <= key) break;
    sr__gain_heap_set(heap, place, at, heap->key[best], heap->node[best]);
    at = best;
  }
  sr__gain_heap_set(heap, place, at, key, node);
}

/* There must be room: see sr__gain_heap_reserve. */
static inline void sr__gain_heap_insert(sr__gain_heap *heap, int32_t *place, uint64_t key,
                                        int32_t node) {
  sr__gain_heap_up(heap, place, heap->count++, key, node);
}

static inline void sr__gain_heap_change(sr__gain_heap *heap, int32_t *place, int32_t node,
                                        uint64_t key) {
  int64_t at = place[node];
  if (key > heap->key[at])
    sr__gain_heap_up(heap, place, at, key, node);
  else
    sr__gain_heap_down(heap, place, at, key, node);
}

/* Takes the best node out; its place becomes `state`. */
static inline int32_t sr__gain_heap_pop(sr__gain_heap *heap, int32_t *place, int32_t state) {
  int32_t node = heap->node[0];
  heap->count--;
  if (heap->count > 0)
    sr__gain_heap_down(heap, place, 0, heap->key[heap->count], heap->node[heap->count]);
  place[node] = state;
  return node;
}

SR_MUST_CHECK static inline sr_status sr__gain_heap_reserve(sr_context *ctx, sr__gain_heap *heap,
                                                            int64_t more) {
  sr_status status = SR_OK;
  int64_t needed = heap->count + more, capacity = heap->capacity;
  if (needed <= capacity) return SR_OK;
  SR_GROW(ctx, heap->node, capacity, needed);
  capacity = heap->capacity;
  SR_GROW(ctx, heap->key, capacity, needed);
  heap->capacity = capacity;
cleanup:
  return status;
}

#endif
