/* Vectors of 32 bytes at every level: eight floats, eight whole numbers, four doubles, 32 bytes.
 * What GCC does not do well by itself is written out, in two halves of 16 bytes where there is no
 * wider register. Every operation is exact or correctly rounded: the same bits at every level. For
 * kernel files only. */
#ifndef SR_LEARNER_QUANT_QUANT_LANES_H
#define SR_LEARNER_QUANT_QUANT_LANES_H

#include "core/vectors.h"

typedef float f32x8 __attribute__((vector_size(32), may_alias));
typedef int32_t i32x8 __attribute__((vector_size(32), may_alias));
typedef uint32_t u32x8 __attribute__((vector_size(32), may_alias));
typedef double f64x4 __attribute__((vector_size(32), may_alias));
typedef uint16_t u16x16 __attribute__((vector_size(32), may_alias));
typedef uint8_t u8x32 __attribute__((vector_size(32), may_alias));

typedef float f32x4 __attribute__((vector_size(16), may_alias));
typedef int32_t i32x4 __attribute__((vector_size(16), may_alias));
typedef uint8_t u8x16 __attribute__((vector_size(16), may_alias));

typedef union floats_in_halves {
  f32x8 whole;
  f32x4 half[2];
} floats_in_halves;
typedef union numbers_in_halves {
  i32x8 whole;
  i32x4 half[2];
} numbers_in_halves;
typedef union bytes_in_halves {
  u8x32 whole;
  u8x16 half[2];
} bytes_in_halves;

/* ---- floats -------------------------------------------------------------------------------- */

/* a < b ? a : b */
SR__INLINE f32x8 lane_min(f32x8 a, f32x8 b) {
#if defined(__AVX__)
  return (f32x8)_mm256_min_ps((__m256)a, (__m256)b);
#else
  floats_in_halves x = {a}, y = {b};
  for (int k = 0; k < 2; k++) {
#if defined(__SSE2__)
    x.half[k] = (f32x4)_mm_min_ps((__m128)x.half[k], (__m128)y.half[k]);
#else
    i32x4 below = x.half[k] < y.half[k];
    x.half[k] = (f32x4)((below & (i32x4)x.half[k]) | (~below & (i32x4)y.half[k]));
#endif
  }
  return x.whole;
#endif
}

/* a > b ? a : b */
SR__INLINE f32x8 lane_max(f32x8 a, f32x8 b) {
#if defined(__AVX__)
  return (f32x8)_mm256_max_ps((__m256)a, (__m256)b);
#else
  floats_in_halves x = {a}, y = {b};
  for (int k = 0; k < 2; k++) {
#if defined(__SSE2__)
    x.half[k] = (f32x4)_mm_max_ps((__m128)x.half[k], (__m128)y.half[k]);
#else
    i32x4 above = x.half[k] > y.half[k];
    x.half[k] = (f32x4)((above & (i32x4)x.half[k]) | (~above & (i32x4)y.half[k]));
#endif
  }
  return x.whole;
#endif
}

/* All bits set where a < b. */
SR__INLINE i32x8 lane_below(f32x8 a, f32x8 b) {
#if defined(__AVX__)
  return a < b;
#else
  floats_in_halves x = {a}, y = {b};
  numbers_in_halves z;
  for (int k = 0; k < 2; k++) z.half[k] = x.half[k] < y.half[k];
  return z.whole;
#endif
}

SR__INLINE f32x8 lane_pick(i32x8 mask, f32x8 yes, f32x8 no) {
  return (f32x8)((mask & (i32x8)yes) | (~mask & (i32x8)no));
}

/* ---- whole numbers ------------------------------------------------------------------------- */

SR__INLINE i32x8 lane_look_up(const void *table, i32x8 at) {
#if defined(__AVX2__)
  return (i32x8)_mm256_i32gather_epi32((const int *)table, (__m256i)at, 4);
#else
  const int32_t *from = table;
  i32x8 found;
  for (int k = 0; k < 8; k++) found[k] = from[at[k]];
  return found;
#endif
}

/* All bits set where a > b. */
SR__INLINE i32x8 lane_above(i32x8 a, i32x8 b) {
#if defined(__AVX2__)
  return a > b;
#else
  numbers_in_halves x = {a}, y = {b};
  for (int k = 0; k < 2; k++) x.half[k] = x.half[k] > y.half[k];
  return x.whole;
#endif
}

SR__INLINE int lane_any(i32x8 mask) {
#if defined(__AVX__)
  return _mm256_movemask_ps((__m256)mask) != 0;
#else
  numbers_in_halves x = {mask};
  i32x4 both = x.half[0] | x.half[1];
  return (both[0] | both[1] | both[2] | both[3]) != 0;
#endif
}

/* ---- bytes --------------------------------------------------------------------------------- */

SR__INLINE u8x32 byte_min(u8x32 a, u8x32 b) {
#if defined(__AVX2__)
  return (u8x32)_mm256_min_epu8((__m256i)a, (__m256i)b);
#else
  bytes_in_halves x = {a}, y = {b};
  for (int k = 0; k < 2; k++) {
#if defined(__SSE2__)
    x.half[k] = (u8x16)_mm_min_epu8((__m128i)x.half[k], (__m128i)y.half[k]);
#else
    u8x16 below = (u8x16)(x.half[k] < y.half[k]);
    x.half[k] = (below & x.half[k]) | (~below & y.half[k]);
#endif
  }
  return x.whole;
#endif
}

SR__INLINE u8x32 byte_max(u8x32 a, u8x32 b) {
#if defined(__AVX2__)
  return (u8x32)_mm256_max_epu8((__m256i)a, (__m256i)b);
#else
  bytes_in_halves x = {a}, y = {b};
  for (int k = 0; k < 2; k++) {
#if defined(__SSE2__)
    x.half[k] = (u8x16)_mm_max_epu8((__m128i)x.half[k], (__m128i)y.half[k]);
#else
    u8x16 above = (u8x16)(x.half[k] > y.half[k]);
    x.half[k] = (above & x.half[k]) | (~above & y.half[k]);
#endif
  }
  return x.whole;
#endif
}

/* 255 where a <= b, else 0. */
SR__INLINE u8x32 byte_at_most(u8x32 a, u8x32 b) {
#if defined(__AVX2__)
  return (u8x32)(byte_min(a, b) == a);
#else
  bytes_in_halves x = {a}, y = {byte_min(a, b)};
  for (int k = 0; k < 2; k++) x.half[k] = (u8x16)(x.half[k] == y.half[k]);
  return x.whole;
#endif
}

/* The upper 16 bits of the 32-bit products. */
SR__INLINE u16x16 word_multiply_high(u16x16 a, u16x16 b) {
#if defined(__AVX2__)
  return (u16x16)_mm256_mulhi_epu16((__m256i)a, (__m256i)b);
#else
  for (int k = 0; k < 16; k++) a[k] = (uint16_t)((uint32_t)a[k] * b[k] >> 16);
  return a;
#endif
}

/* Adds 32 bytes to 32 counters. */
SR__INLINE void bytes_add_to(i32x8 counter[4], u8x32 few) {
  uint8_t byte[32];
  memcpy(byte, &few, sizeof byte);
  for (int k = 0; k < 4; k++) {
#if defined(__AVX2__)
    counter[k] += (i32x8)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(byte + 8 * k)));
#else
    for (int j = 0; j < 8; j++) counter[k][j] += byte[8 * k + j];
#endif
  }
}

/* 32 random bits a lane from a key and the lane's number. */
SR__INLINE u32x8 lane_random(uint32_t key, uint32_t first) {
  const u32x8 number = {0, 1, 2, 3, 4, 5, 6, 7};
  u32x8 x = (number + first) * 0x9e3779b9u + key;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

#endif
