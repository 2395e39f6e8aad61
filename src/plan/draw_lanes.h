/* Lanes of counts and groups of bytes at the vector level of the file that includes this. Internal.
 *
 * What is kept is moved to the front. All lanes are written, and the next ones overwrite what is
 * too much: no branch to mispredict. A level without vectors has one lane. */
#ifndef SR_PLAN_DRAW_LANES_H
#define SR_PLAN_DRAW_LANES_H

#include <stdbool.h>

#include "draw_kernel.h"

#if defined(__AVX512F__)
#include <immintrin.h>

enum { LANES = 16, GROUP = 64 };
typedef __m512i lanes; /* LANES 32-bit numbers */
typedef __m512i group; /* GROUP bytes */

static inline lanes load(const int32_t *from) { return _mm512_loadu_si512(from); }
static inline void clear(int32_t *at) { _mm512_storeu_si512(at, _mm512_setzero_si512()); }
static inline lanes all(int32_t value) { return _mm512_set1_epi32(value); }
static inline lanes add(lanes a, lanes b) { return _mm512_add_epi32(a, b); }
static inline lanes count_up(void) {
  return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
static inline lanes running_sum(lanes x) {
  const __m512i zero = _mm512_setzero_si512();
  x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 15));
  x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 14));
  x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 12));
  return _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 8));
}
static inline lanes last_of(lanes x) { return _mm512_permutexvar_epi32(all(LANES - 1), x); }
static inline int32_t first_of(lanes x) { return _mm512_cvtsi512_si32(x); }
static inline uint64_t not_zero(lanes x) { return _mm512_test_epi32_mask(x, x); }

static inline lanes lanes_of_bytes(const uint8_t *from) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)from));
}
static inline group load_group(const uint8_t *from) { return _mm512_loadu_si512(from); }
static inline group all_bytes(int value) { return _mm512_set1_epi8((char)value); }
static inline uint64_t bytes_not_zero(group x) { return _mm512_test_epi8_mask(x, x); }

static inline void put(lanes item, lanes count, sr__entries to, bool wide, int64_t at) {
  if (wide) {
    __m256i low = _mm512_castsi512_si256(item), high = _mm512_extracti64x4_epi64(item, 1);
    _mm512_storeu_si512(to.wide + at, _mm512_cvtepi32_epi64(low));
    _mm512_storeu_si512(to.wide + at + LANES / 2, _mm512_cvtepi32_epi64(high));
  } else {
    _mm512_storeu_si512(to.rows + at, item);
  }
  _mm512_storeu_si512(to.counts + at, count);
}

static inline void put_kept(uint64_t kept, lanes item, lanes count, sr__entries to, bool wide,
                            int64_t at) {
  put(_mm512_maskz_compress_epi32((__mmask16)kept, item),
      _mm512_maskz_compress_epi32((__mmask16)kept, count), to, wide, at);
}

/* Items `first` and on. A quarter that holds nothing is not written, except that few groups of
 * plain draws have less than two or more than three. */
static inline void put_group(uint64_t kept, int32_t first, group count, sr__entries to, bool wide,
                             int64_t at) {
  static const uint8_t PLACES[GROUP] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                        13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                        26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38,
                                        39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51,
                                        52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  group place = _mm512_maskz_compress_epi8(kept, _mm512_loadu_si512(PLACES));
  int length = __builtin_popcountll(kept);
  lanes base = all(first);
  count = _mm512_maskz_compress_epi8(kept, count);
#define PUT_QUARTER(q)                                                      \
  put(add(_mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(place, q)), base), \
      _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(count, q)), to, wide, at + (q)*LANES)
  PUT_QUARTER(0);
  if (length <= LANES) return;
  PUT_QUARTER(1);
  PUT_QUARTER(2);
  if (length > 3 * LANES) PUT_QUARTER(3);
#undef PUT_QUARTER
}

#elif defined(__AVX2__)
#include <immintrin.h>

enum { LANES = 8, GROUP = 8 };
typedef __m256i lanes;
typedef __m128i group; /* its lower half */

static inline lanes load(const int32_t *from) { return _mm256_loadu_si256((const __m256i *)from); }
static inline void clear(int32_t *at) {
  _mm256_storeu_si256((__m256i *)at, _mm256_setzero_si256());
}
static inline lanes all(int32_t value) { return _mm256_set1_epi32(value); }
static inline lanes add(lanes a, lanes b) { return _mm256_add_epi32(a, b); }
static inline lanes count_up(void) { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
static inline lanes running_sum(lanes x) {
  x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
  x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8)); /* halves by themselves */
  __m256i low = _mm256_permute2x128_si256(x, x, 0x08);
  return _mm256_add_epi32(x, _mm256_shuffle_epi32(low, 0xff));
}
static inline lanes last_of(lanes x) { return _mm256_permutevar8x32_epi32(x, all(LANES - 1)); }
static inline int32_t first_of(lanes x) { return _mm256_cvtsi256_si32(x); }
static inline uint64_t not_zero(lanes x) {
  __m256i zero = _mm256_cmpeq_epi32(x, _mm256_setzero_si256());
  return ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(zero)) & 0xff;
}

static inline group load_group(const uint8_t *from) {
  return _mm_loadl_epi64((const __m128i *)from);
}
static inline lanes lanes_of_bytes(const uint8_t *from) {
  return _mm256_cvtepu8_epi32(load_group(from));
}
static inline group all_bytes(int value) { return _mm_set1_epi8((char)value); }
static inline uint64_t bytes_not_zero(group x) {
  return ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_setzero_si128())) & 0xff;
}

static inline void put(lanes item, lanes count, sr__entries to, bool wide, int64_t at) {
  if (wide) {
    __m128i low = _mm256_castsi256_si128(item), high = _mm256_extracti128_si256(item, 1);
    _mm256_storeu_si256((__m256i *)(to.wide + at), _mm256_cvtepi32_epi64(low));
    _mm256_storeu_si256((__m256i *)(to.wide + at + LANES / 2), _mm256_cvtepi32_epi64(high));
  } else {
    _mm256_storeu_si256((__m256i *)(to.rows + at), item);
  }
  _mm256_storeu_si256((__m256i *)(to.counts + at), count);
}

/* The places of the bits, a byte each: of four bits from a table, twice. */
static inline group places(uint64_t kept) {
  static const uint32_t OF_FOUR[16] = {0,      0,        1,        0x0100,    2,      0x0200,
                                       0x0201, 0x020100, 3,        0x0300,    0x0301, 0x030100,
                                       0x0302, 0x030200, 0x030201, 0x03020100};
  uint64_t low = OF_FOUR[kept & 15], high = OF_FOUR[kept >> 4] + UINT64_C(0x04040404);
  return _mm_cvtsi64_si128((int64_t)(low | high << 8 * __builtin_popcountll(kept & 15)));
}

static inline void put_kept(uint64_t kept, lanes item, lanes count, sr__entries to, bool wide,
                            int64_t at) {
  lanes order = _mm256_cvtepu8_epi32(places(kept));
  put(_mm256_permutevar8x32_epi32(item, order), _mm256_permutevar8x32_epi32(count, order), to, wide,
      at);
}

static inline void put_group(uint64_t kept, int32_t first, group count, sr__entries to, bool wide,
                             int64_t at) {
  group place = places(kept);
  put(add(_mm256_cvtepu8_epi32(place), all(first)),
      _mm256_cvtepu8_epi32(_mm_shuffle_epi8(count, place)), to, wide, at);
}

#else
enum { LANES = 1, GROUP = 1 };
typedef int32_t lanes, group;

static inline lanes load(const int32_t *from) { return *from; }
static inline void clear(int32_t *at) { *at = 0; }
static inline lanes all(int32_t value) { return value; }
static inline lanes add(lanes a, lanes b) { return a + b; }
static inline lanes count_up(void) { return 0; }
static inline lanes running_sum(lanes x) { return x; }
static inline lanes last_of(lanes x) { return x; }
static inline int32_t first_of(lanes x) { return x; }
static inline uint64_t not_zero(lanes x) { return x != 0; }
static inline lanes lanes_of_bytes(const uint8_t *from) { return *from; }
static inline group load_group(const uint8_t *from) { return *from; }
static inline group all_bytes(int value) { return value; }
static inline uint64_t bytes_not_zero(group x) { return x != 0; }

static inline void put(lanes item, lanes count, sr__entries to, bool wide, int64_t at) {
  if (wide)
    to.wide[at] = item;
  else
    to.rows[at] = item;
  to.counts[at] = count;
}

static inline void put_kept(uint64_t kept, lanes item, lanes count, sr__entries to, bool wide,
                            int64_t at) {
  (void)kept;
  put(item, count, to, wide, at);
}

static inline void put_group(uint64_t kept, int32_t first, group count, sr__entries to, bool wide,
                             int64_t at) {
  (void)kept;
  put(first, count, to, wide, at);
}
#endif

#endif
