#include "draw_kernel.h"

#include <stddef.h>
#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

enum { WORDS = 64, WORD_BITS = 64, CELL_BITS = 8, DRAWS = WORD_BITS / CELL_BITS };

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

static int64_t count_heads(uint64_t key, uint64_t next, int64_t coins) {
  int64_t heads = 0, words = coins / WORD_BITS, rest = coins % WORD_BITS;
  for (int64_t i = 0; i < words; i++) heads += set_bits(word_at(key, next + (uint64_t)i));
  if (rest) heads += set_bits(word_at(key, next + (uint64_t)words) >> (WORD_BITS - rest));
  return heads;
}

static void draw_cells(uint64_t key, uint64_t next, int64_t draws, int32_t *cell) {
  memset(cell, 0, SR__DRAW_CELLS * sizeof *cell);
  while (draws > 0) {
    uint64_t word[WORDS];
    int64_t here = draws < DRAWS * WORDS ? draws : DRAWS * WORDS,
            words = (here + DRAWS - 1) / DRAWS;
    for (int64_t i = 0; i < words; i++) word[i] = word_at(key, next + (uint64_t)i);
    next += (uint64_t)words;
    for (int64_t i = 0; i < here / DRAWS; i++)
      for (int k = 0; k < WORD_BITS; k += CELL_BITS) cell[word[i] >> k & (SR__DRAW_CELLS - 1)]++;
    for (int64_t k = 0; k < here % DRAWS; k++)
      cell[word[here / DRAWS] >> CELL_BITS * k & (SR__DRAW_CELLS - 1)]++;
    draws -= here;
  }
}

#if defined(__AVX512F__)
static int64_t keep_counted(const int32_t *count, int32_t first, int64_t width, const int32_t *list,
                            int32_t *rows, int32_t *counts) {
  const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  int64_t length = 0;
  for (int64_t k = 0; k < width; k += 16) {
    __mmask16 there = (__mmask16)(width - k >= 16 ? 0xffff : (1 << (width - k)) - 1);
    __m512i here = _mm512_maskz_loadu_epi32(there, count + k);
    __m512i items = list ? _mm512_maskz_loadu_epi32(there, list + first + k)
                         : _mm512_add_epi32(steps, _mm512_set1_epi32(first + (int32_t)k));
    __mmask16 kept = _mm512_test_epi32_mask(here, here);
    int kept_count = __builtin_popcount(kept);
    __mmask16 front = (__mmask16)((1 << kept_count) - 1);
    _mm512_mask_storeu_epi32(rows + length, front, _mm512_maskz_compress_epi32(kept, items));
    _mm512_mask_storeu_epi32(counts + length, front, _mm512_maskz_compress_epi32(kept, here));
    length += kept_count;
  }
  return length;
}
#else
static int64_t keep_counted(const int32_t *count, int32_t first, int64_t width, const int32_t *list,
                            int32_t *rows, int32_t *counts) {
  int64_t length = 0;
  for (int64_t k = 0; k < width; k++) {
    /* Always written, kept only where the count is not 0: no branch to mispredict. */
    int32_t here = count[k];
    rows[length] = list ? list[first + k] : first + (int32_t)k;
    counts[length] = here;
    length += here != 0;
  }
  return length;
}
#endif

const sr__draw_kernel SR__KERNEL(sr__draw_kernel) = {count_heads, draw_cells, keep_counted};
