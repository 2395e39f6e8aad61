/* Whole blocks first: the shares of the hierarchy, and blocks packed into two sides. */
#include <stdlib.h>

#include "partition.h"

int64_t sr__left_rows(int64_t rows, int32_t leaves) {
  int64_t share = rows / leaves, rest = rows % leaves, left = sr__left_leaves(leaves);
  return share * left + (rest * left + leaves - 1) / leaves;
}

typedef struct sized_block {
  int64_t size, index;
} sized_block;

static int largest_first(const void *a, const void *b) {
  const sized_block *x = a, *y = b;
  if (x->size != y->size) return x->size > y->size ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

/* The blocks that fitted on no side, in order: left until it is full. */
static void place_held(const sized_block *held, int64_t count, int64_t room, uint8_t *side,
                       sr__packing *packing) {
  for (int64_t i = 0; i < count; i++) {
    side[held[i].index] = held[i].size > room;
    if (room > 0 && held[i].size > room)
      *packing = (sr__packing){.split = held[i].index, .split_left = room};
    room = held[i].size > room ? 0 : room - held[i].size;
  }
}

sr_status sr__pack_whole(sr_context *ctx, int64_t blocks, const int64_t *size, int64_t left,
                         uint8_t *side, sr__packing *packing) {
  sr_status status = SR_OK;
  sized_block *order = NULL;
  int64_t room[2] = {left, -left}, held = 0;
  *packing = (sr__packing){.split = -1};
  SR_NEW(ctx, order, blocks);
  for (int64_t b = 0; b < blocks; b++) {
    order[b] = (sized_block){.size = size[b], .index = b};
    room[1] += size[b];
  }
  qsort(order, (size_t)blocks, sizeof *order, largest_first);
  for (int64_t i = 0; i < blocks; i++) {
    int roomier = room[1] > room[0];
    if (order[i].size > room[roomier]) {
      order[held++] = order[i];
    } else {
      side[order[i].index] = (uint8_t)roomier;
      room[roomier] -= order[i].size;
    }
  }
  place_held(order, held, room[0], side, packing);
cleanup:
  sr__free(ctx, order);
  return status;
}
