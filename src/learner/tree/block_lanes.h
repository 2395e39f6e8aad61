/* What walk_kernel.c needs of a processor to walk by blocks: bytes looked up by number and compared
 * side by side, paths of several rows read off together. Written for AVX-512 VBMI; SR__HAVE_BLOCKS
 * is 0 elsewhere. */
#ifndef SR_LEARNER_TREE_BLOCK_LANES_H
#define SR_LEARNER_TREE_BLOCK_LANES_H

#include "core/vectors.h"
#include "walk_kernel.h"

#if defined(__AVX512VBMI2__) && defined(__AVX512VBMI__) && defined(__AVX512BW__) && \
    defined(__AVX512VL__)
#define SR__HAVE_BLOCKS 1
#else
#define SR__HAVE_BLOCKS 0
#endif

#if SR__HAVE_BLOCKS

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

/* The exits of SR__BLOCK_LANES rows from their answers: node i leads to 2 i + (bit i of the
 * answer). */
SR__INLINE void sr__find_exits(const uint32_t *right, uint32_t *node) {
  const __m512i one = _mm512_set1_epi32(1);
  __m512i answer = _mm512_loadu_si512(right), at = one;
  for (int level = 0; level < SR__BLOCK_LEVELS; level++) {
    __m512i bit = _mm512_and_si512(_mm512_srlv_epi32(answer, at), one);
    at = _mm512_add_epi32(_mm512_add_epi32(at, at), bit);
  }
  _mm512_storeu_si512(node, at);
}

/* Copies the rows whose exit leads onward to row_to and their exits to exit_to, both of which may
 * overlap what is read, before it. SR__BLOCK_LANES places are written; gives how many count. */
SR__INLINE int sr__keep_onward(const uint16_t *row, const uint32_t *exit, uint16_t *row_to,
                               uint16_t *exit_to) {
  __m512i exits = _mm512_loadu_si512(exit);
  __mmask16 on = _mm512_test_epi32_mask(exits, _mm512_set1_epi32(SR__BLOCK_ONWARD));
  __m256i rows = _mm256_loadu_si256((const void *)row);
  _mm256_storeu_si256((void *)row_to, _mm256_maskz_compress_epi16(on, rows));
  _mm256_storeu_si256((void *)exit_to,
                      _mm256_maskz_compress_epi16(on, _mm512_cvtepi32_epi16(exits)));
  return __builtin_popcount(on);
}

#endif
#endif
