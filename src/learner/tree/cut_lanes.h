/* Vectors of the width that the level has, and the few operations on them that C does not know.
 * Wider ones than the machine's are taken apart badly. For kernel files alone. */
#ifndef SR_LEARNER_TREE_CUT_LANES_H
#define SR_LEARNER_TREE_CUT_LANES_H

#include "core/vectors.h"

#if defined(__AVX512BW__)
enum { WIDTH = 64 };
#elif defined(__AVX2__)
enum { WIDTH = 32 };
#else
enum { WIDTH = 16 };
#endif

enum { LANES = WIDTH / 4, HALF_LANES = WIDTH / 8 };

typedef uint8_t bytes __attribute__((vector_size(WIDTH)));
typedef int8_t signed_bytes __attribute__((vector_size(WIDTH)));
typedef int32_t ints __attribute__((vector_size(WIDTH)));
typedef uint32_t unsigned_ints __attribute__((vector_size(WIDTH)));
typedef int32_t few_ints __attribute__((vector_size(WIDTH / 2)));
typedef int64_t longs __attribute__((vector_size(WIDTH)));
typedef float floats __attribute__((vector_size(WIDTH)));
typedef double doubles __attribute__((vector_size(WIDTH)));
typedef uint8_t few_bytes __attribute__((vector_size(WIDTH / 4)));
typedef uint16_t few_shorts __attribute__((vector_size(WIDTH / 2)));

SR__INLINE ints load_ints(const int32_t *from) {
  ints to;
  memcpy(&to, from, sizeof to);
  return to;
}

SR__INLINE doubles load_doubles(const double *from) {
  doubles to;
  memcpy(&to, from, sizeof to);
  return to;
}

SR__INLINE floats load_floats(const float *from) {
  floats to;
  memcpy(&to, from, sizeof to);
  return to;
}

SR__INLINE doubles widen_ints(const int32_t *from) {
  few_ints few;
  memcpy(&few, from, sizeof few);
  return __builtin_convertvector(few, doubles);
}

/* The lanes that are set in `mask` from yes, the others from no. */
SR__INLINE ints choose_ints(ints mask, ints yes, ints no) { return (mask & yes) | (~mask & no); }

/* A sum of lanes that may hold anything: it wraps. */
SR__INLINE ints add_ints(ints a, ints b) { return (ints)((unsigned_ints)a + (unsigned_ints)b); }

SR__INLINE int32_t highest_int(ints a) {
#if defined(__AVX2__)
#if defined(__AVX512BW__)
  __m256i b = _mm256_max_epi32(_mm512_castsi512_si256((__m512i)a),
                               _mm512_extracti64x4_epi64((__m512i)a, 1));
#else
  __m256i b = (__m256i)a;
#endif
  __m128i c = _mm_max_epi32(_mm256_castsi256_si128(b), _mm256_extracti128_si256(b, 1));
  c = _mm_max_epi32(c, _mm_shuffle_epi32(c, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(c, _mm_shuffle_epi32(c, 0xb1)));
#else
  int32_t lane[LANES];
  memcpy(lane, &a, sizeof lane);
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int k = 0; k < half; k++) lane[k] = lane[k] > lane[k + half] ? lane[k] : lane[k + half];
  return lane[0];
#endif
}

/* Lane k: the sum of lanes 0 to k. */
SR__INLINE ints running_sum(ints a) {
#if defined(__AVX512BW__)
  const __m512i zero = _mm512_setzero_si512();
  __m512i x = (__m512i)a;
  x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 15));
  x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 14));
  x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 12));
  return (ints)_mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 8));
#elif defined(__AVX2__)
  __m256i x = (__m256i)a;
  x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
  x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
  __m256i last = _mm256_shuffle_epi32(x, 0xff); /* of each half; the lower one is moved up */
  return (ints)_mm256_add_epi32(x, _mm256_permute2x128_si256(last, last, 0x08));
#elif defined(__SSE2__)
  __m128i x = (__m128i)a;
  x = _mm_add_epi32(x, _mm_slli_si128(x, 4));
  return (ints)_mm_add_epi32(x, _mm_slli_si128(x, 8));
#else
  for (int k = 1; k < LANES; k++) a[k] += a[k - 1];
  return a;
#endif
}

/* The last lane everywhere. */
SR__INLINE ints spread_last(ints a) {
#if defined(__AVX512BW__)
  return (ints)_mm512_permutexvar_epi32(_mm512_set1_epi32(15), (__m512i)a);
#elif defined(__AVX2__)
  return (ints)_mm256_permutevar8x32_epi32((__m256i)a, _mm256_set1_epi32(7));
#elif defined(__SSE2__)
  return (ints)_mm_shuffle_epi32((__m128i)a, 0xff);
#else
  return (ints){0} + a[LANES - 1];
#endif
}

/* Machines without an instruction for it would call a function. */
SR__INLINE int count_bits(uint64_t word) {
#if defined(__POPCNT__) || !defined(__x86_64__)
  return __builtin_popcountll(word);
#else
  word -= word >> 1 & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
  return (int)(((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
#endif
}

/* Bit k: lane k is at least `enough`. */
SR__INLINE uint32_t lanes_from(ints a, int32_t enough) {
#if defined(__AVX512BW__)
  return _mm512_cmpge_epi32_mask((__m512i)a, _mm512_set1_epi32(enough));
#elif defined(__AVX2__)
  __m256i above = _mm256_cmpgt_epi32((__m256i)a, _mm256_set1_epi32(enough - 1));
  return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(above));
#elif defined(__SSE2__)
  __m128i above = _mm_cmpgt_epi32((__m128i)a, _mm_set1_epi32(enough - 1));
  return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(above));
#else
  uint32_t mask = 0;
  for (int k = 0; k < LANES; k++) mask |= (uint32_t)(a[k] >= enough) << k;
  return mask;
#endif
}

/* Bit i: byte i of 64 is at most `limit`. */
SR__INLINE uint64_t bytes_at_most(const uint8_t *from, uint8_t limit) {
#if defined(__AVX512BW__)
  return _mm512_cmple_epu8_mask(_mm512_loadu_si512(from), _mm512_set1_epi8((char)limit));
#elif defined(__AVX2__)
  __m256i most = _mm256_set1_epi8((char)limit);
  __m256i low = _mm256_loadu_si256((const void *)from);
  __m256i high = _mm256_loadu_si256((const void *)(from + 32));
  low = _mm256_cmpeq_epi8(_mm256_min_epu8(low, most), low);
  high = _mm256_cmpeq_epi8(_mm256_min_epu8(high, most), high);
  return (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32 | (uint32_t)_mm256_movemask_epi8(low);
#elif defined(__SSE2__)
  uint64_t mask = 0;
  __m128i most = _mm_set1_epi8((char)limit);
  for (int i = 0; i < 64; i += 16) {
    __m128i here = _mm_loadu_si128((const void *)(from + i));
    __m128i below = _mm_cmpeq_epi8(_mm_min_epu8(here, most), here);
    mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(below) << i;
  }
  return mask;
#elif defined(__ARM_NEON)
  static const uint8_t place[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  uint64_t mask = 0;
  for (int i = 0; i < 64; i += 16) {
    uint8x16_t below = vandq_u8(vcleq_u8(vld1q_u8(from + i), vdupq_n_u8(limit)), vld1q_u8(place));
    mask |= (uint64_t)vaddv_u8(vget_low_u8(below)) << i;
    mask |= (uint64_t)vaddv_u8(vget_high_u8(below)) << (i + 8);
  }
  return mask;
#else
  uint64_t mask = 0;
  for (int i = 0; i < 64; i++) mask |= (uint64_t)(from[i] <= limit) << i;
  return mask;
#endif
}

SR__INLINE uint8_t lowest_byte(bytes a) {
#if defined(__SSE4_1__)
  __m128i part[WIDTH / 16], least;
  memcpy(part, &a, sizeof part);
  least = part[0];
  for (int p = 1; p < WIDTH / 16; p++) least = _mm_min_epu8(least, part[p]);
  __m128i pairs = _mm_min_epu8(least, _mm_srli_epi16(least, 8)); /* in the lower byte of each */
  return (uint8_t)_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_and_si128(pairs, _mm_set1_epi16(255))));
#elif defined(__SSE2__)
  __m128i least = (__m128i)a;
  least = _mm_min_epu8(least, _mm_srli_si128(least, 8));
  least = _mm_min_epu8(least, _mm_srli_si128(least, 4));
  least = _mm_min_epu8(least, _mm_srli_si128(least, 2));
  return (uint8_t)_mm_cvtsi128_si32(_mm_min_epu8(least, _mm_srli_si128(least, 1)));
#elif defined(__ARM_NEON)
  return vminvq_u8((uint8x16_t)a);
#else
  uint8_t least = a[0];
  for (int k = 1; k < WIDTH; k++) least = a[k] < least ? a[k] : least;
  return least;
#endif
}

/* The lowest of 64 bytes above `limit`, or 255. */
SR__INLINE uint8_t lowest_above(const uint8_t *from, uint8_t limit) {
  bytes least = (bytes){0} + UINT8_MAX;
  for (int i = 0; i < 64; i += WIDTH) {
    bytes here;
    memcpy(&here, from + i, sizeof here);
    here |= ~(bytes)(here > limit);
    bytes lower = (bytes)(here < least);
    least = (lower & here) | (~lower & least);
  }
  return lowest_byte(least);
}

/* to[i] = from[at[i]] for the numbers below 64 in `at`. Only numbers below `count` matter, and only
 * the first `length` of 64 places that may be written. */
SR__INLINE void look_up_bytes(const uint8_t *from, int count, const uint8_t *at, int length,
                              uint8_t *to) {
#if defined(__AVX512VBMI__)
  (void)count, (void)length;
  __m512i number = _mm512_loadu_si512(at);
  _mm512_storeu_si512(to, _mm512_permutexvar_epi8(number, _mm512_loadu_si512(from)));
#elif defined(__AVX2__)
  /* A shuffle takes its four lower bits; the two above them choose between shuffles. */
  for (int i = 0; i < length; i += 32) {
    __m256i number = _mm256_loadu_si256((const void *)(at + i)), part[4];
    for (int p = 0; p < 4; p++)
      part[p] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(from + 16 * p)));
    __m256i low = _mm256_and_si256(number, _mm256_set1_epi8(15));
    __m256i found = _mm256_shuffle_epi8(part[0], low);
    if (count > 16) {
      __m256i bit_4 = _mm256_slli_epi16(number, 3);
      found = _mm256_blendv_epi8(found, _mm256_shuffle_epi8(part[1], low), bit_4);
      if (count > 32) {
        __m256i upper = _mm256_blendv_epi8(_mm256_shuffle_epi8(part[2], low),
                                           _mm256_shuffle_epi8(part[3], low), bit_4);
        found = _mm256_blendv_epi8(found, upper, _mm256_slli_epi16(number, 2));
      }
    }
    _mm256_storeu_si256((void *)(to + i), found);
  }
#elif defined(__ARM_NEON)
  (void)count;
  uint8x16x4_t table = vld1q_u8_x4(from);
  for (int i = 0; i < length; i += 16) vst1q_u8(to + i, vqtbl4q_u8(table, vld1q_u8(at + i)));
#else
  (void)count;
  for (int i = 0; i < length; i++) to[i] = from[at[i]];
#endif
}

/* The bytes of `from` whose bit is set, side by side; gives their number. 64 places of both are
 * read and written; they may be the same. */
SR__INLINE int keep_bytes(const uint8_t *from, uint64_t mask, int length, uint8_t *to) {
#if defined(__AVX512VBMI2__)
  (void)length;
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(from)));
  return __builtin_popcountll(mask);
#elif defined(__AVX2__) || defined(__ARM_NEON)
  /* Numbers of the bits of a half byte, lowest first. */
  static const uint32_t bits[16] = {0, 0,     1,     0x100,   2,     0x200,   0x201,   0x20100,
                                    3, 0x300, 0x301, 0x30100, 0x302, 0x30200, 0x30201, 0x3020100};
  int kept = 0;
  for (int i = 0; i < length; i += 8) {
    uint32_t low = mask >> i & 15, high = mask >> (i + 4) & 15;
    int lows = __builtin_popcount(low);
    uint64_t order = bits[low] | (uint64_t)(bits[high] + 0x04040404u) << 8 * lows;
#if defined(__AVX2__)
    __m128i here = _mm_loadl_epi64((const void *)(from + i));
    _mm_storel_epi64((void *)(to + kept),
                     _mm_shuffle_epi8(here, _mm_cvtsi64_si128((long long)order)));
#else
    vst1_u8(to + kept, vtbl1_u8(vld1_u8(from + i), vcreate_u8(order)));
#endif
    kept += lows + __builtin_popcount(high);
  }
  return kept;
#else
  int kept = 0;
  for (int i = 0; i < length; i++) {
    to[kept] = from[i];
    kept += (int)(mask >> i & 1);
  }
  return kept;
#endif
}

#endif
