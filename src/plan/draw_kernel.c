#include "draw_kernel.h"

#include <stddef.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

enum { WORDS = 64, WORD_BITS = 64, CELL_BITS = 8, DRAWS = WORD_BITS / CELL_BITS, FEW_WORDS = 24 };

static inline uint64_t word_at(uint64_t key, uint64_t at) {
  uint64_t z = key + at * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

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

/* Set bits among the first `coins` bits; the last word gives its upper ones. Calls wait for each
 * other, so that vectors, which answer later, pay for many words alone. */
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

typedef struct dealt {
  int64_t blocks;
  int32_t *count;
} dealt;

/* To the blocks [first, first + width), width a power of two; there are draws and a first block. */
static int64_t deal_halves(sr__bit_source *source, int64_t draws, int64_t first, int64_t width,
                           const dealt *to) {
  if (width == 1) {
    to->count[first] += (int32_t)draws;
    return 0;
  }
  int64_t half = width / 2, left = count_heads(source, draws), right = draws - left, behind = 0;
  if (left > 0) behind = deal_halves(source, left, first, half, to);
  if (right > 0)
    behind +=
        first + half < to->blocks ? deal_halves(source, right, first + half, half, to) : right;
  return behind;
}

static int64_t deal_draws(sr__bit_source *source, int64_t draws, int64_t blocks,
                          int32_t *block_count) {
  int64_t width = 1;
  while (width < blocks) width *= 2;
  return deal_halves(source, draws, 0, width, &(dealt){blocks, block_count});
}

static inline void draw_cells(sr__bit_source *source, int64_t draws) {
  int32_t *cell = source->cell;
  while (draws > 0) {
    uint64_t word[WORDS];
    int64_t here = draws < DRAWS * WORDS ? draws : DRAWS * WORDS,
            words = (here + DRAWS - 1) / DRAWS;
    for (int64_t i = 0; i < words; i++) word[i] = word_at(source->key, source->next + (uint64_t)i);
    source->next += (uint64_t)words;
    for (int64_t i = 0; i < here / DRAWS; i++)
      for (int k = 0; k < WORD_BITS; k += CELL_BITS) cell[word[i] >> k & (SR__DRAW_CELLS - 1)]++;
    for (int64_t k = 0; k < here % DRAWS; k++)
      cell[word[here / DRAWS] >> CELL_BITS * k & (SR__DRAW_CELLS - 1)]++;
    draws -= here;
  }
}

/* Everything is written, and kept only where the count is not 0: no branch to mispredict. */
#if defined(__AVX512F__)
static inline int64_t keep_lanes(__m512i count, __m512i item, __mmask16 there, int32_t *rows,
                                 int32_t *counts) {
  __mmask16 kept = _mm512_mask_test_epi32_mask(there, count, count);
  item = _mm512_maskz_compress_epi32(kept, item);
  count = _mm512_maskz_compress_epi32(kept, count);
  if (there == 0xffff) {
    _mm512_storeu_si512(rows, item);
    _mm512_storeu_si512(counts, count);
  } else {
    _mm512_mask_storeu_epi32(rows, there, item);
    _mm512_mask_storeu_epi32(counts, there, count);
  }
  return __builtin_popcount(kept);
}

static inline __mmask16 lanes_there(int64_t left) {
  return (__mmask16)(left >= 16 ? 0xffff : (1 << left) - 1);
}

static inline __m512i items_from(int32_t first) {
  const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_add_epi32(steps, _mm512_set1_epi32(first));
}

static int64_t keep_counted(int32_t *count, int32_t first, int64_t width, const int32_t *list,
                            int32_t *rows, int32_t *counts) {
  int64_t length = 0;
  for (int64_t k = 0; k < width; k += 16) {
    __mmask16 there = lanes_there(width - k);
    __m512i here = _mm512_maskz_loadu_epi32(there, count + k);
    _mm512_mask_storeu_epi32(count + k, there, _mm512_setzero_si512());
    __m512i items =
        list ? _mm512_maskz_loadu_epi32(there, list + first + k) : items_from(first + (int32_t)k);
    length += keep_lanes(here, items, there, rows + length, counts + length);
  }
  return length;
}

static int64_t keep_levels(int32_t *step, int32_t *level, int32_t first, int64_t width,
                           int32_t *rows, int32_t *counts) {
  const __m512i zero = _mm512_setzero_si512();
  __m512i before = _mm512_set1_epi32(*level);
  int64_t length = 0;
  for (int64_t k = 0; k < width; k += 16) {
    __mmask16 there = lanes_there(width - k);
    __m512i sum = _mm512_maskz_loadu_epi32(there, step + k);
    _mm512_mask_storeu_epi32(step + k, there, zero);
    sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 15));
    sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 14));
    sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 12));
    sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 8));
    sum = _mm512_add_epi32(sum, before);
    before = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), sum);
    length +=
        keep_lanes(sum, items_from(first + (int32_t)k), there, rows + length, counts + length);
  }
  *level = _mm512_cvtsi512_si32(before);
  return length;
}
#else
static int64_t keep_counted(int32_t *count, int32_t first, int64_t width, const int32_t *list,
                            int32_t *rows, int32_t *counts) {
  int64_t length = 0;
  for (int64_t k = 0; k < width; k++) {
    int32_t here = count[k];
    count[k] = 0;
    rows[length] = list ? list[first + k] : first + (int32_t)k;
    counts[length] = here;
    length += here != 0;
  }
  return length;
}

static int64_t keep_levels(int32_t *step, int32_t *level, int32_t first, int64_t width,
                           int32_t *rows, int32_t *counts) {
  int64_t length = 0;
  int32_t here = *level;
  for (int64_t k = 0; k < width; k++) {
    here += step[k];
    step[k] = 0;
    rows[length] = first + (int32_t)k;
    counts[length] = here;
    length += here != 0;
  }
  *level = here;
  return length;
}
#endif

static int64_t draw_block(sr__bit_source *source, int64_t draws, int32_t first, const int32_t *list,
                          int32_t *rows, int32_t *counts) {
  draw_cells(source, draws);
  return keep_counted(source->cell, first, SR__DRAW_CELLS, list, rows, counts);
}

static int64_t keep_bits(const uint64_t *word, int64_t first, int64_t words, int32_t *rows,
                         int32_t *counts) {
  int64_t length = 0;
  for (int64_t w = first; w < first + words; w++) {
    uint64_t bits = word[w];
    int32_t item = (int32_t)(w * WORD_BITS);
    int32_t *row = rows + length, *count = counts + length;
    if (bits == 0) continue;
    for (int k = 0; k < WORD_BITS; k++) count[k] = 1;
    length += set_bits(bits);
    if (bits == UINT64_MAX)
      for (int k = 0; k < WORD_BITS; k++) row[k] = item + k;
    else
      for (; bits; bits &= bits - 1) *row++ = item + __builtin_ctzll(bits);
  }
  return length;
}

static void widen(const int32_t *from, int64_t count, int64_t *to) {
  for (int64_t i = 0; i < count; i++) to[i] = from[i];
}

const sr__draw_kernel SR__KERNEL(sr__draw_kernel) = {
    .deal_draws = deal_draws,
    .draw_cells = draw_cells,
    .draw_block = draw_block,
    .keep_counted = keep_counted,
    .keep_levels = keep_levels,
    .keep_bits = keep_bits,
    .widen = widen,
};
