/* Draws with replacement as counts, without touching memory out of order.
 *
 * Items stand in blocks of 256. Fair coins split the draws into halves, again and again, until each
 * block knows how many it has: the heads among k coins are the set bits of k random ones. Then
 * every block hands out its draws by 8 random bits each, inside the first-level cache, and writes
 * its items and counts at once. A draw that falls past the last item is drawn again, so every item
 * is equally likely. */
#include "plan.h"

enum { BLOCK_ITEMS = SR__DRAW_CELLS, TOGETHER = SR__BAG_PIECE / BLOCK_ITEMS };

sr_status sr__bag_add_counts(sr__bag_buffer *bag, int32_t *count, int64_t items) {
  sr_status status = SR_OK;
  const sr__draw_kernel *kernel = sr__draw_kernel_now();
  for (int64_t first = 0; first < items; first += BLOCK_ITEMS) {
    int64_t width = items - first < BLOCK_ITEMS ? items - first : BLOCK_ITEMS;
    SR_TRY(sr__bag_room(bag, width));
    bag->length +=
        kernel->keep_counted(count + first, (int32_t)first, width, NULL, sr__bag_end(bag));
  }
cleanup:
  return status;
}

/* The last block, which may be short: what falls past its end is drawn again over all items. */
static void draw_last_block(sr__random *random, sr__bit_source *source, int64_t items,
                            int32_t *block_count, int32_t *cell) {
  int64_t blocks = (items + BLOCK_ITEMS - 1) / BLOCK_ITEMS;
  int64_t width = items - (blocks - 1) * BLOCK_ITEMS;
  int64_t again = 0;
  sr__draw_kernel_now()->draw_cells(source, block_count[blocks - 1], cell);
  for (int64_t k = width; k < BLOCK_ITEMS; k++) again += cell[k];
  for (; again > 0; again--) {
    int64_t item = (int64_t)sr__random_below(random, (uint64_t)items);
    if (item / BLOCK_ITEMS == blocks - 1)
      cell[item % BLOCK_ITEMS]++;
    else
      block_count[item / BLOCK_ITEMS]++;
  }
}

static sr_status bootstrap_dense(sr_context *ctx, sr__random *random, int64_t items, int64_t draws,
                                 const int32_t *list, sr__bag_buffer *bag) {
  sr_status status = SR_OK;
  const sr__draw_kernel *kernel = sr__draw_kernel_now();
  int64_t blocks = (items + BLOCK_ITEMS - 1) / BLOCK_ITEMS, first = (blocks - 1) * BLOCK_ITEMS;
  sr__bit_source source = {.key = sr__random_bits(random)};
  int32_t last[BLOCK_ITEMS];
  int32_t *block_count = NULL;
  SR_NEW_ZERO(ctx, block_count, blocks);
  while (draws > 0) draws = kernel->deal_draws(&source, draws, blocks, block_count);
  draw_last_block(random, &source, items, block_count, last);
  for (int64_t b = 0; b + 1 < blocks; b += TOGETHER) {
    int64_t here = blocks - 1 - b < TOGETHER ? blocks - 1 - b : TOGETHER;
    SR_TRY(sr__bag_room(bag, here * BLOCK_ITEMS));
    bag->length += kernel->draw_blocks(&source, block_count + b, here, (int32_t)(b * BLOCK_ITEMS),
                                       list, sr__bag_end(bag));
  }
  SR_TRY(sr__bag_room(bag, items - first));
  bag->length += kernel->keep_counted(last, (int32_t)first, items - first, list, sr__bag_end(bag));
cleanup:
  sr__free(ctx, block_count);
  return status;
}

/* ---- few draws from many items ------------------------------------------------------------ */

/* Sorts by 11 bits at a time; the sorted values end in `values`. */
static void radix_sort(int32_t *values, int32_t *scratch, int64_t count, int64_t limit) {
  enum { BITS = 11, BUCKETS = 1 << BITS };
  int32_t *from = values, *to = scratch;
  for (int shift = 0; shift == 0 || limit >> shift; shift += BITS) {
    int64_t start[BUCKETS + 1] = {0};
    for (int64_t i = 0; i < count; i++) start[((from[i] >> shift) & (BUCKETS - 1)) + 1]++;
    for (int b = 0; b < BUCKETS; b++) start[b + 1] += start[b];
    for (int64_t i = 0; i < count; i++) to[start[(from[i] >> shift) & (BUCKETS - 1)]++] = from[i];
    int32_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != values) memcpy(values, from, (size_t)count * sizeof *values);
}

static sr_status bootstrap_sparse(sr_context *ctx, sr__random *random, int64_t items, int64_t draws,
                                  const int32_t *list, sr__bag_buffer *bag) {
  sr_status status = SR_OK;
  int32_t *drawn = NULL;
  SR_NEW(ctx, drawn, 2 * draws);
  for (int64_t i = 0; i < draws; i++) drawn[i] = (int32_t)sr__random_below(random, (uint64_t)items);
  radix_sort(drawn, drawn + draws, draws, items - 1);
  for (int64_t i = 0; i < draws;) {
    int64_t end = i + 1;
    while (end < draws && drawn[end] == drawn[i]) end++;
    SR_TRY(sr__bag_add(bag, list ? list[drawn[i]] : drawn[i], (int32_t)(end - i)));
    i = end;
  }
cleanup:
  sr__free(ctx, drawn);
  return status;
}

sr_status sr__bootstrap_list(sr_context *ctx, sr__random *random, int64_t items, int64_t draws,
                             const int32_t *list, sr__bag_buffer *bag) {
  return draws < items / 64 ? bootstrap_sparse(ctx, random, items, draws, list, bag)
                            : bootstrap_dense(ctx, random, items, draws, list, bag);
}
