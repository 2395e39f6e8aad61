/* Draws with replacement as counts, without touching memory out of order.
 *
 * Items stand in blocks of 256. Fair coins split the draws into halves, again and again, until each
 * block knows how many it has: the heads among k coins are the set bits of k random ones. Then
 * every block hands out its draws by 8 random bits each, inside the first-level cache, and writes
 * its items and counts at once. A draw that falls past the last item is drawn again, so every item
 * is equally likely. */
#include "draw_kernel.h"
#include "plan.h"

enum { BLOCK_ITEMS = SR__DRAW_CELLS };

void sr__bag_add_counts(sr__bag_buffer *bag, const int32_t *count, int64_t first, int64_t width,
                        const int32_t *list) {
  bag->length +=
      sr__draw_kernel_now()->keep_counted(count, (int32_t)first, width, list,
                                          bag->rows + bag->length, bag->counts + bag->length);
}

/* Words of random bits that were not used yet. */
typedef struct bit_source {
  uint64_t key, next;
} bit_source;

/* ---- how many draws a block has ------------------------------------------------------------ */

static int64_t count_heads(bit_source *source, int64_t coins) {
  int64_t heads = sr__draw_kernel_now()->count_heads(source->key, source->next, coins);
  source->next += (uint64_t)(coins + 63) / 64;
  return heads;
}

/* Hands `draws` to the blocks [first, first + width), width a power of two. Gives how many fell on
 * blocks that do not exist. */
static int64_t split_draws(bit_source *source, int64_t draws, int64_t first, int64_t width,
                           int64_t blocks, int32_t *block_count) {
  if (draws == 0) return 0;
  if (first >= blocks) return draws;
  if (width == 1) {
    block_count[first] += (int32_t)draws;
    return 0;
  }
  int64_t left = count_heads(source, draws);
  return split_draws(source, left, first, width / 2, blocks, block_count) +
         split_draws(source, draws - left, first + width / 2, width / 2, blocks, block_count);
}

static void draw_blocks(bit_source *source, int64_t draws, int64_t blocks, int32_t *block_count) {
  int64_t width = 1;
  while (width < blocks) width *= 2;
  while (draws > 0) draws = split_draws(source, draws, 0, width, blocks, block_count);
}

/* ---- the draws inside a block -------------------------------------------------------------- */

static void draw_cells(bit_source *source, int64_t draws, int32_t *cell) {
  sr__draw_kernel_now()->draw_cells(source->key, source->next, draws, cell);
  source->next += (uint64_t)(draws + 7) / 8;
}

/* The last block, which may be short: what falls past its end is drawn again over all items. */
static void draw_last_block(sr__random *random, bit_source *source, int64_t items, int64_t blocks,
                            int32_t *block_count, int32_t *cell) {
  int64_t width = items - (blocks - 1) * BLOCK_ITEMS;
  draw_cells(source, block_count[blocks - 1], cell);
  int64_t again = 0;
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
  int64_t blocks = (items + BLOCK_ITEMS - 1) / BLOCK_ITEMS;
  bit_source source = {.key = sr__random_bits(random)};
  int32_t cell[BLOCK_ITEMS], last[BLOCK_ITEMS];
  int32_t *block_count = NULL;
  SR_NEW_ZERO(ctx, block_count, blocks);
  draw_blocks(&source, draws, blocks, block_count);
  draw_last_block(random, &source, items, blocks, block_count, last);
  bag->length = 0;
  for (int64_t b = 0; b + 1 < blocks; b++) {
    draw_cells(&source, block_count[b], cell);
    SR_TRY(sr__bag_room(bag, BLOCK_ITEMS));
    sr__bag_add_counts(bag, cell, b * BLOCK_ITEMS, BLOCK_ITEMS, list);
  }
  int64_t first = (blocks - 1) * BLOCK_ITEMS;
  SR_TRY(sr__bag_room(bag, BLOCK_ITEMS));
  sr__bag_add_counts(bag, last, first, items - first, list);
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
  bag->length = 0;
  for (int64_t i = 0; i < draws;) {
    int64_t end = i + 1;
    while (end < draws && drawn[end] == drawn[i]) end++;
    SR_TRY(sr__bag_room(bag, 1));
    bag->rows[bag->length] = list ? list[drawn[i]] : drawn[i];
    bag->counts[bag->length++] = (int32_t)(end - i);
    i = end;
  }
cleanup:
  sr__free(ctx, drawn);
  return status;
}

sr_status sr__bootstrap_list(sr_context *ctx, sr__random *random, int64_t items, int64_t draws,
                             const int32_t *list, sr__bag_buffer *bag) {
  /* A list that stands in the bag's own rows is overwritten behind the reading head. */
  return draws < items / 64 ? bootstrap_sparse(ctx, random, items, draws, list, bag)
                            : bootstrap_dense(ctx, random, items, draws, list, bag);
}
