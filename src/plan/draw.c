/* Draws with replacement as counts, without touching memory out of order.
 *
 * Items stand in blocks of 256. Fair coins split the draws into halves, again and again, until each
 * block knows how many it has: the heads among k coins are the set bits of k random ones. Then
 * every block hands out its draws by 8 random bits each, inside the first-level cache, and writes
 * its items and counts at once. A draw that falls past the last item is drawn again, so every item
 * is equally likely. */
#include "plan.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

enum { BLOCK_ITEMS = 256, WORDS = 64 };

/* ---- writing ------------------------------------------------------------------------------- */

#if defined(__AVX512F__)
/* Sixteen items at a time; nothing is written past what is kept, which `list` may still need. */
void sr__bag_add_counts(sr__bag_buffer *bag, const int32_t *count, int64_t first, int64_t width,
                        const int32_t *list) {
  const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  int64_t length = bag->length;
  for (int64_t k = 0; k < width; k += 16) {
    __mmask16 there = (__mmask16)(width - k >= 16 ? 0xffff : (1 << (width - k)) - 1);
    __m512i counts = _mm512_maskz_loadu_epi32(there, count + k);
    __m512i rows = list ? _mm512_maskz_loadu_epi32(there, list + first + k)
                        : _mm512_add_epi32(steps, _mm512_set1_epi32((int32_t)(first + k)));
    __mmask16 kept = _mm512_test_epi32_mask(counts, counts);
    int kept_count = __builtin_popcount(kept);
    __mmask16 front = (__mmask16)((1 << kept_count) - 1);
    _mm512_mask_storeu_epi32(bag->rows + length, front, _mm512_maskz_compress_epi32(kept, rows));
    _mm512_mask_storeu_epi32(bag->counts + length, front,
                             _mm512_maskz_compress_epi32(kept, counts));
    length += kept_count;
  }
  bag->length = length;
}
#else
void sr__bag_add_counts(sr__bag_buffer *bag, const int32_t *count, int64_t first, int64_t width,
                        const int32_t *list) {
  int64_t length = bag->length;
  for (int64_t k = 0; k < width; k++) {
    /* Always written, kept only where the count is not 0: no branch to mispredict. */
    int32_t here = count[k];
    bag->rows[length] = list ? list[first + k] : (int32_t)(first + k);
    bag->counts[length] = here;
    length += here != 0;
  }
  bag->length = length;
}
#endif

/* ---- random bits --------------------------------------------------------------------------- */

/* Word i is a hash (splitmix64) of key + i: words do not wait for each other, and the compiler
 * makes several at once. The key is a word of the member's stream. */
typedef struct bit_source {
  uint64_t key, next;
} bit_source;

static inline uint64_t word_at(uint64_t key, uint64_t at) {
  uint64_t z = key + at * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* ---- how many draws a block has ------------------------------------------------------------ */

static int64_t count_heads(bit_source *source, int64_t coins) {
  int64_t heads = 0, words = coins / 64;
  for (int64_t i = 0; i < words; i++)
    heads += __builtin_popcountll(word_at(source->key, source->next + (uint64_t)i));
  source->next += (uint64_t)words;
  if (coins % 64)
    heads += __builtin_popcountll(word_at(source->key, source->next++) >> (64 - coins % 64));
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
  memset(cell, 0, BLOCK_ITEMS * sizeof *cell);
  while (draws > 0) {
    uint64_t word[WORDS];
    int64_t here = draws < 8 * WORDS ? draws : 8 * WORDS, words = (here + 7) / 8;
    for (int64_t i = 0; i < words; i++) word[i] = word_at(source->key, source->next + (uint64_t)i);
    source->next += (uint64_t)words;
    for (int64_t i = 0; i < here / 8; i++)
      for (int k = 0; k < 64; k += 8) cell[word[i] >> k & 255]++;
    for (int64_t k = 0; k < here % 8; k++) cell[word[here / 8] >> 8 * k & 255]++;
    draws -= here;
  }
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
