/* Draws with replacement as counts, without touching memory out of order.
 *
 * Items stand in blocks of 256. Each draw first gets a block (32 random bits, multiply and reject),
 * which only counts how many draws each block has; then every block hands out its draws by 8 random
 * bits each, inside the first-level cache, and writes its items and counts at once. A draw that
 * falls past the end of the last, short block is drawn again, so every item is equally likely. */
#include "plan.h"

enum { BLOCK_ITEMS = 256 };

void sr__compact_counts(const int32_t *counts, int64_t items, sr__bag_buffer *bag) {
  int64_t length = 0;
  for (int64_t i = 0; i < items; i++) {
    if (!counts[i]) continue;
    int32_t count = counts[i];
    bag->rows[length] = (int32_t)i;
    bag->counts[length++] = count;
  }
  bag->length = length;
}

static uint32_t block_of_bits(sr__random *random, uint32_t bits, uint32_t blocks,
                              uint32_t threshold) {
  uint64_t product = (uint64_t)bits * blocks;
  if ((uint32_t)product < threshold) return (uint32_t)sr__random_below(random, blocks);
  return (uint32_t)(product >> 32);
}

static void draw_blocks(sr__random *random, int64_t draws, uint32_t blocks, int32_t *block_count) {
  uint32_t threshold = (0u - blocks) % blocks;
  int64_t i = 0;
  for (; i + 1 < draws; i += 2) {
    uint64_t bits = sr__random_bits(random);
    block_count[block_of_bits(random, (uint32_t)bits, blocks, threshold)]++;
    block_count[block_of_bits(random, (uint32_t)(bits >> 32), blocks, threshold)]++;
  }
  if (i < draws) block_count[sr__random_below(random, blocks)]++;
}

/* Spreads `draws` draws over the 256 cells of a block. */
static void draw_cells(sr__random *random, int32_t draws, int32_t *cell) {
  memset(cell, 0, BLOCK_ITEMS * sizeof *cell);
  for (; draws >= 8; draws -= 8) {
    uint64_t bits = sr__random_bits(random);
    for (int k = 0; k < 8; k++, bits >>= 8) cell[bits & 255]++;
  }
  uint64_t bits = draws ? sr__random_bits(random) : 0;
  for (; draws > 0; draws--, bits >>= 8) cell[bits & 255]++;
}

/* The last block, which may be short: what falls past its end is drawn again over all items. */
static void draw_last_block(sr__random *random, int64_t items, uint32_t blocks,
                            int32_t *block_count, int32_t *cell) {
  int64_t width = items - (int64_t)(blocks - 1) * BLOCK_ITEMS;
  draw_cells(random, block_count[blocks - 1], cell);
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

static void write_cells(const int32_t *cell, int64_t first, int64_t width, const int32_t *list,
                        sr__bag_buffer *bag) {
  int64_t length = bag->length;
  for (int64_t k = 0; k < width; k++) {
    /* Always written, kept only where the count is not 0: no branch to mispredict. */
    bag->rows[length] = list ? list[first + k] : (int32_t)(first + k);
    bag->counts[length] = cell[k];
    length += cell[k] != 0;
  }
  bag->length = length;
}

static sr_status bootstrap_dense(sr_context *ctx, sr__random *random, int64_t items, int64_t draws,
                                 const int32_t *list, sr__bag_buffer *bag) {
  sr_status status = SR_OK;
  uint32_t blocks = (uint32_t)((items + BLOCK_ITEMS - 1) / BLOCK_ITEMS);
  int32_t cell[BLOCK_ITEMS], last[BLOCK_ITEMS];
  int32_t *block_count = NULL;
  SR_NEW_ZERO(ctx, block_count, blocks);
  draw_blocks(random, draws, blocks, block_count);
  draw_last_block(random, items, blocks, block_count, last);
  bag->length = 0;
  for (uint32_t b = 0; b + 1 < blocks; b++) {
    draw_cells(random, block_count[b], cell);
    write_cells(cell, (int64_t)b * BLOCK_ITEMS, BLOCK_ITEMS, list, bag);
  }
  int64_t first = (int64_t)(blocks - 1) * BLOCK_ITEMS;
  write_cells(last, first, items - first, list, bag);
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
  int64_t length = 0;
  for (int64_t i = 0; i < draws; length++) {
    int64_t end = i + 1;
    while (end < draws && drawn[end] == drawn[i]) end++;
    bag->rows[length] = list ? list[drawn[i]] : drawn[i];
    bag->counts[length] = (int32_t)(end - i);
    i = end;
  }
  bag->length = length;
cleanup:
  sr__free(ctx, drawn);
  return status;
}

sr_status sr__bootstrap_list(sr_context *ctx, sr__random *random, int64_t items, int64_t draws,
                             const int32_t *list, sr__bag_buffer *bag) {
  /* A list that stands in the bag's own rows is overwritten behind the reading head. */
  return draws < items / 8 ? bootstrap_sparse(ctx, random, items, draws, list, bag)
                           : bootstrap_dense(ctx, random, items, draws, list, bag);
}
