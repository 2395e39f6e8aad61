/* What walk_kernel.c needs of a processor: bytes looked up by number and compared side by side,
 * paths of several rows read off together. Written for AVX-512 VBMI and for AVX2; the results are
 * the same. SR__HAVE_BLOCKS is 0 where there is neither. */
#ifndef SR_LEARNER_TREE_BLOCK_LANES_H
#define SR_LEARNER_TREE_BLOCK_LANES_H

#include "core/vectors.h"
#include "walk_kernel.h"

#if defined(__AVX512VBMI2__) && defined(__AVX512VBMI__) && defined(__AVX512BW__) && \
    defined(__AVX512VL__)
#define SR__HAVE_BLOCKS 1
#define SR__BLOCKS_VBMI 1
#elif defined(__AVX2__)
#define SR__HAVE_BLOCKS 1
#define SR__BLOCKS_VBMI 0
#else
#define SR__HAVE_BLOCKS 0
#endif

#if SR__HAVE_BLOCKS
#if SR__BLOCKS_VBMI

enum { SR__BLOCK_LANES = 16 };
typedef __m512i sr__row_bytes;

/* A load that crosses cache lines is slow: no more than `width` bytes. */
SR__INLINE sr__row_bytes sr__load_row(const uint8_t *row, int width) {
  if (width == 16) return _mm512_castsi128_si512(_mm_loadu_si128((const void *)row));
  if (width == 32) return _mm512_castsi256_si512(_mm256_loadu_si256((const void *)row));
  return _mm512_loadu_si512(row);
}

/* The bytes of the row whose numbers are the lower bits of `at`. */
SR__INLINE __m256i sr__look_up(sr__row_bytes row, __m256i at, int width) {
  (void)width;
  return _mm512_castsi512_si256(_mm512_permutexvar_epi8(_mm512_castsi256_si512(at), row));
}

SR__INLINE uint32_t sr__bytes_above(__m256i a, __m256i b) { return _mm256_cmpgt_epu8_mask(a, b); }

#else

enum { SR__BLOCK_LANES = 8 };
typedef struct sr__row_bytes {
  __m256i part[4]; /* 16 bytes each, twice */
} sr__row_bytes;

SR__INLINE sr__row_bytes sr__load_row(const uint8_t *row, int width) {
  sr__row_bytes bytes;
  for (int p = 0; p < width / 16; p++)
    bytes.part[p] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(row + 16 * p)));
  return bytes;
}

/* A shuffle takes its four lower bits; the two above them choose between shuffles. */
SR__INLINE __m256i sr__look_up(sr__row_bytes row, __m256i at, int width) {
  __m256i low = _mm256_and_si256(at, _mm256_set1_epi8(15));
  __m256i found = _mm256_shuffle_epi8(row.part[0], low);
  if (width == 16) return found;
  __m256i bit_4 = _mm256_slli_epi16(at, 3), bit_5 = _mm256_slli_epi16(at, 2);
  found = _mm256_blendv_epi8(found, _mm256_shuffle_epi8(row.part[1], low), bit_4);
  if (width == 32) return found;
  __m256i upper = _mm256_blendv_epi8(_mm256_shuffle_epi8(row.part[2], low),
                                     _mm256_shuffle_epi8(row.part[3], low), bit_4);
  return _mm256_blendv_epi8(found, upper, bit_5);
}

SR__INLINE uint32_t sr__bytes_above(__m256i a, __m256i b) {
  return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(a, b), a));
}

#endif

/* The exits of SR__BLOCK_LANES rows from their answers: node i leads to 2 i + (bit i of the
 * answer). */
SR__INLINE void sr__find_exits(const uint32_t *right, uint32_t *node) {
#if SR__BLOCKS_VBMI
  const __m512i one = _mm512_set1_epi32(1);
  __m512i answer = _mm512_loadu_si512(right), at = one;
  for (int level = 0; level < SR__BLOCK_LEVELS; level++) {
    __m512i bit = _mm512_and_si512(_mm512_srlv_epi32(answer, at), one);
    at = _mm512_add_epi32(_mm512_add_epi32(at, at), bit);
  }
  _mm512_storeu_si512(node, at);
#else
  const __m256i one = _mm256_set1_epi32(1);
  __m256i answer = _mm256_loadu_si256((const void *)right), at = one;
  for (int level = 0; level < SR__BLOCK_LEVELS; level++) {
    __m256i bit = _mm256_and_si256(_mm256_srlv_epi32(answer, at), one);
    at = _mm256_add_epi32(_mm256_add_epi32(at, at), bit);
  }
  _mm256_storeu_si256((void *)node, at);
#endif
}

/* Copies the rows whose exit leads onward to row_to and their exits to exit_to, both of which may
 * overlap what is read, before it. SR__BLOCK_LANES places are written; gives how many count. */
SR__INLINE int sr__keep_onward(const uint16_t *row, const uint32_t *exit, uint16_t *row_to,
                               uint16_t *exit_to) {
#if SR__BLOCKS_VBMI
  __m512i exits = _mm512_loadu_si512(exit);
  __mmask16 on = _mm512_test_epi32_mask(exits, _mm512_set1_epi32(SR__BLOCK_ONWARD));
  __m256i rows = _mm256_loadu_si256((const void *)row);
  _mm256_storeu_si256((void *)row_to, _mm256_maskz_compress_epi16(on, rows));
  _mm256_storeu_si256((void *)exit_to,
                      _mm256_maskz_compress_epi16(on, _mm512_cvtepi32_epi16(exits)));
  return __builtin_popcount(on);
#else
  /* Numbers of the bits of a half byte, lowest first. */
  static const uint32_t bits[16] = {0, 0,     1,     0x100,   2,     0x200,   0x201,   0x20100,
                                    3, 0x300, 0x301, 0x30100, 0x302, 0x30200, 0x30201, 0x3020100};
  __m256i exits = _mm256_loadu_si256((const void *)exit);
  uint32_t on = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(exits, 16)));
  int lows = __builtin_popcount(on & 15);
  uint64_t lanes = bits[on & 15] | (uint64_t)(bits[on >> 4] + 0x04040404u) << 8 * lows;
  /* Lane k is the bytes 2 k and 2 k + 1. */
  __m128i order = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long)lanes));
  order = _mm_add_epi16(_mm_mullo_epi16(order, _mm_set1_epi16(0x0202)), _mm_set1_epi16(0x0100));
  __m128i short_exits =
      _mm_packus_epi32(_mm256_castsi256_si128(exits), _mm256_extracti128_si256(exits, 1));
  __m128i rows = _mm_loadu_si128((const void *)row);
  _mm_storeu_si128((void *)row_to, _mm_shuffle_epi8(rows, order));
  _mm_storeu_si128((void *)exit_to, _mm_shuffle_epi8(short_exits, order));
  return lows + __builtin_popcount(on >> 4);
#endif
}

#endif
#endif
