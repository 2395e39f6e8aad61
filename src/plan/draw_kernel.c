#include "draw_kernel.h"

#include <stddef.h>
#include <string.h>

#include "draw_lanes.h"

enum { WORDS = 64, WORD_BITS = 64, CELL_BITS = 8, DRAWS = WORD_BITS / CELL_BITS, FEW_WORDS = 24 };

static inline uint64_t word_at(uint64_t key, uint64_t at) {
  uint64_t z = key + at * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

#if defined(__AVX512F__)
static inline __m512i words_at(uint64_t key, __m512i at) {
  const __m512i step = _mm512_set1_epi64((int64_t)0x9e3779b97f4a7c15u);
  const __m512i one = _mm512_set1_epi64((int64_t)0xbf58476d1ce4e5b9u);
  const __m512i two = _mm512_set1_epi64((int64_t)0x94d049bb133111ebu);
  __m512i z = _mm512_add_epi64(_mm512_set1_epi64((int64_t)key), _mm512_mullo_epi64(at, step));
  z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64(z, 30)), one);
  z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64(z, 27)), two);
  return _mm512_xor_si512(z, _mm512_srli_epi64(z, 31));
}
#endif

/* A machine without an instruction for it would call a function for each word. */
static inline int64_t set_bits(uint64_t word) {
#if defined(__POPCNT__) || !defined(__x86_64__)
  return __builtin_popcountll(word);
#else
  word -= word >> 1 & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
  return (int64_t)(((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
#endif
}

/* Set bits among the first `coins` bits; the last word gives its upper ones. */
#if defined(__AVX512F__)
static inline int64_t count_heads(sr__bit_source *source, int64_t coins) {
  const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  __m512i heads = _mm512_setzero_si512();
  int64_t words = (coins + WORD_BITS - 1) / WORD_BITS;
  for (int64_t i = 0; i < words; i += 8) {
    __m512i at = _mm512_add_epi64(lane, _mm512_set1_epi64((int64_t)source->next + i));
    __m512i word = words_at(source->key, at);
    /* bits of the lane that are no coins */
    __m512i over = _mm512_add_epi64(_mm512_slli_epi64(lane, 6),
                                    _mm512_set1_epi64((i + 1) * WORD_BITS - coins));
    word = _mm512_srlv_epi64(word, _mm512_max_epi64(over, _mm512_setzero_si512()));
    heads = _mm512_add_epi64(heads, _mm512_popcnt_epi64(word));
  }
  source->next += (uint64_t)words;
  return _mm512_reduce_add_epi64(heads);
}
#else
/* Calls wait for each other, so that vectors, which answer later, pay for many words alone. */
static inline int64_t count_heads(sr__bit_source *source, int64_t coins) {
  int64_t heads = 0, words = coins / WORD_BITS, rest = coins % WORD_BITS;
  uint64_t key = source->key, next = source->next;
  source->next += (uint64_t)(words + (rest > 0));
  if (words > FEW_WORDS)
    for (int64_t i = 0; i < words; i++) heads += set_bits(word_at(key, next + (uint64_t)i));
  else
    for (int64_t i = 0; i < words; i++) {
      uint64_t word = word_at(key, next + (uint64_t)i);
      __asm__("" : "+r"(word)); /* keeps the compiler from vectors */
      heads += set_bits(word);
    }
  if (rest) heads += set_bits(word_at(key, next + (uint64_t)words) >> (WORD_BITS - rest));
  return heads;
}
#endif

typedef struct dealt {
  int64_t blocks;
  int32_t *count;
} dealt;

/* To the blocks [first, first + width), width a power of two; there are draws, at most as many as
 * bits in a word, and a first block. */
static int64_t deal_few(sr__bit_source *source, int64_t draws, int64_t first, int64_t width,
                        const dealt *to) {
  int64_t behind = 0;
  for (; draws > 0 && first < to->blocks; first += width) {
    if (width == 1) {
      to->count[first] += (int32_t)draws;
      return behind;
    }
    int64_t left = set_bits(word_at(source->key, source->next++) >> (WORD_BITS - draws));
    width /= 2;
    if (left > 0) behind += deal_few(source, left, first, width, to);
    draws -= left;
  }
  return behind + draws;
}

/* The same of any number of draws. */
static int64_t deal_halves(sr__bit_source *source, int64_t draws, int64_t first, int64_t width,
                           const dealt *to) {
  int64_t behind = 0;
  for (; draws > WORD_BITS && first < to->blocks; first += width) {
    if (width == 1) {
      to->count[first] += (int32_t)draws;
      return behind;
    }
    int64_t left = count_heads(source, draws);
    width /= 2;
    if (left > 0) behind += deal_halves(source, left, first, width, to);
    draws -= left;
  }
  return behind + deal_few(source, draws, first, width, to);
}

static int64_t deal_draws(sr__bit_source *source, int64_t draws, int64_t blocks,
                          int32_t *block_count) {
  int64_t width = 1;
  while (width < blocks) width *= 2;
  return deal_halves(source, draws, 0, width, &(dealt){blocks, block_count});
}

/* ---- entries -------------------------------------------------------------------------------- */

/* One item behind the last full lanes. */
static inline int64_t keep_one(int32_t item, int32_t count, sr__entries to, bool wide, int64_t at) {
  if (wide)
    to.wide[at] = item;
  else
    to.rows[at] = item;
  to.counts[at] = count;
  return count != 0;
}

static inline int64_t keep_counted_as(int32_t *count, int32_t first, int64_t width,
                                      const int32_t *list, sr__entries to, bool wide) {
  int64_t length = 0, k = 0;
  lanes item = add(count_up(), all(first));
  for (; k + LANES <= width; k += LANES, item = add(item, all(LANES))) {
    lanes here = load(count + k);
    clear(count + k);
    uint64_t kept = not_zero(here);
    put_kept(kept, list ? load(list + first + k) : item, here, to, wide, length);
    length += set_bits(kept);
  }
  for (; k < width; k++) {
    length += keep_one(list ? list[first + k] : first + (int32_t)k, count[k], to, wide, length);
    count[k] = 0;
  }
  return length;
}

static int64_t keep_counted(int32_t *count, int32_t first, int64_t width, const int32_t *list,
                            sr__entries to) {
  return to.wide ? keep_counted_as(count, first, width, list, to, true)
                 : keep_counted_as(count, first, width, list, to, false);
}

static inline int64_t keep_levels_as(int32_t *step, int32_t *level, int32_t first, int64_t width,
                                     sr__entries to, bool wide) {
  int64_t length = 0, k = 0;
  lanes before = all(*level), item = add(count_up(), all(first));
  for (; k + LANES <= width; k += LANES, item = add(item, all(LANES))) {
    lanes here = add(running_sum(load(step + k)), before);
    clear(step + k);
    before = last_of(here);
    uint64_t kept = not_zero(here);
    put_kept(kept, item, here, to, wide, length);
    length += set_bits(kept);
  }
  int32_t here = first_of(before);
  for (; k < width; k++) {
    here += step[k];
    step[k] = 0;
    length += keep_one(first + (int32_t)k, here, to, wide, length);
  }
  *level = here;
  return length;
}

static int64_t keep_levels(int32_t *step, int32_t *level, int32_t first, int64_t width,
                           sr__entries to) {
  return to.wide ? keep_levels_as(step, level, first, width, to, true)
                 : keep_levels_as(step, level, first, width, to, false);
}

static inline int64_t keep_bits_as(const uint64_t *word, int64_t first, int64_t words,
                                   sr__entries to, bool wide) {
  int64_t length = 0;
  for (int64_t w = first; w < first + words; w++) {
    uint64_t bits = word[w];
    int32_t item = (int32_t)(w * WORD_BITS);
    if (bits == UINT64_MAX) {
      lanes items = add(count_up(), all(item));
      for (int k = 0; k < WORD_BITS; k += LANES, items = add(items, all(LANES)))
        put(items, all(1), to, wide, length + k);
      length += WORD_BITS;
    } else if (bits) {
      for (int k = 0; k < WORD_BITS; k += GROUP) {
        uint64_t kept = bits >> k & (UINT64_MAX >> (WORD_BITS - GROUP));
        put_group(kept, item + k, all_bytes(1), to, wide, length);
        length += set_bits(kept);
      }
    }
  }
  return length;
}

static int64_t keep_bits(const uint64_t *word, int64_t first, int64_t words, sr__entries to) {
  return to.wide ? keep_bits_as(word, first, words, to, true)
                 : keep_bits_as(word, first, words, to, false);
}

/* ---- the draws inside a block --------------------------------------------------------------- */

/* Draws of one block in bytes. Every other draw has cells of its own: two that follow each other on
 * one cell would wait for each other. */
typedef struct block_draws {
  uint8_t even[SR__DRAW_CELLS], odd[SR__DRAW_CELLS]; /* 0 before and after */
  uint64_t start;                                    /* the first word */
} block_draws;

/* The words behind the next draws, at most WORDS; gives for how many draws they are. */
static inline int64_t next_words(sr__bit_source *source, int64_t draws, uint64_t *word) {
  enum { TOGETHER = 8 }; /* some more than are asked for: no loop over the rest */
  int64_t here = draws < DRAWS * WORDS ? draws : DRAWS * WORDS, words = (here + DRAWS - 1) / DRAWS;
  for (int64_t i = 0; i < words; i += TOGETHER)
    for (int64_t k = i; k < i + TOGETHER; k++)
      word[k] = word_at(source->key, source->next + (uint64_t)k);
  source->next += (uint64_t)words;
  return here;
}

static inline void draw_bytes(sr__bit_source *source, int64_t draws, block_draws *block) {
  uint64_t word[WORDS + 1];
  block->start = source->next;
  word[WORDS] = 0;
  for (int64_t here; draws > 0; draws -= here) {
    here = next_words(source, draws, word);
    for (int64_t i = 0; i < here / DRAWS; i++)
      for (int k = 0; k < WORD_BITS; k += 2 * CELL_BITS) {
        block->even[word[i] >> k & (SR__DRAW_CELLS - 1)]++;
        block->odd[word[i] >> (k + CELL_BITS) & (SR__DRAW_CELLS - 1)]++;
      }
    uint64_t last = here % DRAWS ? word[here / DRAWS] : 0;
    for (int k = 0; k < DRAWS; k++) /* no branch on how many are left */
      block->even[last >> CELL_BITS * k & (SR__DRAW_CELLS - 1)] += k < here % DRAWS;
  }
}

/* The cells of both halves together, and their sum. A byte that ran over has lost 256, so the sum
 * is the number of draws where none did. */
static inline int64_t add_halves(block_draws *block, uint8_t *cell) {
#if defined(__AVX512F__)
  const __m512i zero = _mm512_setzero_si512();
  __m512i sums = zero;
  for (int k = 0; k < SR__DRAW_CELLS; k += 64) {
    __m512i both =
        _mm512_add_epi8(_mm512_loadu_si512(block->even + k), _mm512_loadu_si512(block->odd + k));
    _mm512_storeu_si512(block->even + k, zero);
    _mm512_storeu_si512(block->odd + k, zero);
    _mm512_storeu_si512(cell + k, both);
    sums = _mm512_add_epi64(sums, _mm512_sad_epu8(both, zero));
  }
  return _mm512_reduce_add_epi64(sums);
#elif defined(__AVX2__)
  const __m256i zero = _mm256_setzero_si256();
  __m256i sums = zero;
  for (int k = 0; k < SR__DRAW_CELLS; k += 32) {
    __m256i *even = (__m256i *)(block->even + k), *odd = (__m256i *)(block->odd + k);
    __m256i both = _mm256_add_epi8(_mm256_loadu_si256(even), _mm256_loadu_si256(odd));
    _mm256_storeu_si256(even, zero);
    _mm256_storeu_si256(odd, zero);
    _mm256_storeu_si256((__m256i *)(cell + k), both);
    sums = _mm256_add_epi64(sums, _mm256_sad_epu8(both, zero));
  }
  return _mm256_extract_epi64(sums, 0) + _mm256_extract_epi64(sums, 1) +
         _mm256_extract_epi64(sums, 2) + _mm256_extract_epi64(sums, 3);
#else
  int32_t sum = 0;
  for (int k = 0; k < SR__DRAW_CELLS; k++) {
    cell[k] = (uint8_t)(block->even[k] + block->odd[k]);
    sum += cell[k];
  }
  memset(block->even, 0, sizeof block->even);
  memset(block->odd, 0, sizeof block->odd);
  return sum;
#endif
}

/* More draws than bytes can count, from the words at `start` on. */
static void draw_many(const sr__bit_source *source, uint64_t start, int64_t draws, int32_t *cell) {
  memset(cell, 0, SR__DRAW_CELLS * sizeof *cell);
  for (int64_t k = 0; k < draws; k++) {
    uint64_t word = word_at(source->key, start + (uint64_t)(k / DRAWS));
    cell[word >> k % DRAWS * CELL_BITS & (SR__DRAW_CELLS - 1)]++;
  }
}

static void draw_cells(sr__bit_source *source, int64_t draws, int32_t *cell) {
  block_draws block = {.start = 0};
  uint8_t byte[SR__DRAW_CELLS];
  draw_bytes(source, draws, &block);
  if (add_halves(&block, byte) == draws)
    for (int k = 0; k < SR__DRAW_CELLS; k++) cell[k] = byte[k];
  else
    draw_many(source, block.start, draws, cell);
}

static inline int64_t keep_bytes(const uint8_t *cell, int32_t first, const int32_t *list,
                                 sr__entries to, bool wide, int64_t length) {
  if (list) {
    for (int k = 0; k < SR__DRAW_CELLS; k += LANES) {
      lanes here = lanes_of_bytes(cell + k);
      uint64_t kept = not_zero(here);
      put_kept(kept, load(list + first + k), here, to, wide, length);
      length += set_bits(kept);
    }
  } else {
    for (int k = 0; k < SR__DRAW_CELLS; k += GROUP) {
      group here = load_group(cell + k);
      uint64_t kept = bytes_not_zero(here);
      put_group(kept, first + k, here, to, wide, length);
      length += set_bits(kept);
    }
  }
  return length;
}

/* The draws of the next block come before the entries of this one: bytes that were just written
 * cannot be read together yet. */
static int64_t draw_blocks(sr__bit_source *source, const int32_t *draws, int64_t blocks,
                           int32_t first, const int32_t *list, sr__entries to) {
  block_draws two[2] = {0};
  uint8_t cell[SR__DRAW_CELLS];
  int64_t length = 0;
  draw_bytes(source, draws[0], &two[0]);
  for (int64_t b = 0; b < blocks; b++, first += SR__DRAW_CELLS) {
    block_draws *here = &two[b % 2];
    if (b + 1 < blocks) draw_bytes(source, draws[b + 1], &two[(b + 1) % 2]);
    if (add_halves(here, cell) == draws[b]) {
      length = to.wide ? keep_bytes(cell, first, list, to, true, length)
                       : keep_bytes(cell, first, list, to, false, length);
      continue;
    }
    int32_t many[SR__DRAW_CELLS];
    sr__entries end = {.rows = to.rows ? to.rows + length : NULL,
                       .wide = to.wide ? to.wide + length : NULL,
                       .counts = to.counts + length};
    draw_many(source, here->start, draws[b], many);
    length += keep_counted(many, first, SR__DRAW_CELLS, list, end);
  }
  return length;
}

static void widen(const int32_t *from, int64_t count, int64_t *to) {
  for (int64_t i = 0; i < count; i++) to[i] = from[i];
}

const sr__draw_kernel SR__KERNEL(sr__draw_kernel) = {
    .deal_draws = deal_draws,
    .draw_cells = draw_cells,
    .draw_blocks = draw_blocks,
    .keep_counted = keep_counted,
    .keep_levels = keep_levels,
    .keep_bits = keep_bits,
    .widen = widen,
};
