/* For kernel files alone: eight lanes at a time with compiler vectors. Only the gathers name an
 * instruction; without AVX2 they are eight loads. Every operation rounds once and nothing is
 * contracted, so each path gives the same bits. */
#ifndef SR_SPECTRUM_SIMD_H
#define SR_SPECTRUM_SIMD_H

#ifdef __AVX2__
#include <immintrin.h>
#endif
#include <stdint.h>
#include <string.h>

#include "multilevel.h"

typedef float sr__f8 __attribute__((vector_size(32)));
typedef int32_t sr__i8 __attribute__((vector_size(32)));
typedef int16_t sr__s8 __attribute__((vector_size(16)));
typedef double sr__d4 __attribute__((vector_size(32)));
typedef int64_t sr__l4 __attribute__((vector_size(32)));
typedef float sr__f4 __attribute__((vector_size(16)));
typedef int32_t sr__i4 __attribute__((vector_size(16)));

typedef struct sr__d8 {
  sr__d4 low, high;
} sr__d8;

static inline sr__f8 sr__f8_load(const float *from) {
  sr__f8 v;
  memcpy(&v, from, sizeof v);
  return v;
}
static inline void sr__f8_store(float *to, sr__f8 v) { memcpy(to, &v, sizeof v); }
static inline sr__i8 sr__i8_load(const int32_t *from) {
  sr__i8 v;
  memcpy(&v, from, sizeof v);
  return v;
}
static inline sr__d8 sr__d8_load(const double *from) {
  sr__d8 v;
  memcpy(&v, from, sizeof v);
  return v;
}
static inline void sr__d8_store(double *to, sr__d8 v) { memcpy(to, &v, sizeof v); }
static inline sr__f8 sr__f8_all(float value) { return value - (sr__f8){0}; }
static inline sr__d4 sr__d4_all(double value) { return value - (sr__d4){0}; }

static inline sr__f8 sr__f8_gather(const float *base, sr__i8 index) {
#ifdef __AVX2__
  return (sr__f8)_mm256_i32gather_ps(base, (__m256i)index, 4);
#else
  sr__f8 v;
  for (int lane = 0; lane < SR__SLICE; lane++) v[lane] = base[index[lane]];
  return v;
#endif
}

/* The same with the indices in memory: single loads are faster than one gather of eight. */
static inline sr__f8 sr__f8_gather_at(const float *base, const int32_t *index) {
#ifdef __AVX2__
  uint64_t pair[4];
  __m128 two[4];
  memcpy(pair, index, sizeof pair);
  for (int i = 0; i < 4; i++)
    two[i] = _mm_insert_ps(_mm_load_ss(base + (uint32_t)pair[i]),
                           _mm_load_ss(base + (pair[i] >> 32)), 0x10);
  return (sr__f8)_mm256_set_m128(_mm_movelh_ps(two[2], two[3]), _mm_movelh_ps(two[0], two[1]));
#else
  return sr__f8_gather(base, sr__i8_load(index));
#endif
}

/* base[lane + step[lane]]. */
static inline sr__f8 sr__f8_gather_near(const float *base, const int16_t *step) {
#ifdef __AVX2__
  __m128 two[4];
  for (int i = 0; i < 4; i++)
    two[i] = _mm_insert_ps(_mm_load_ss(base + 2 * i + step[2 * i]),
                           _mm_load_ss(base + 2 * i + 1 + step[2 * i + 1]), 0x10);
  return (sr__f8)_mm256_set_m128(_mm_movelh_ps(two[2], two[3]), _mm_movelh_ps(two[0], two[1]));
#else
  sr__f8 v;
  for (int lane = 0; lane < SR__SLICE; lane++) v[lane] = base[lane + step[lane]];
  return v;
#endif
}

static inline sr__i8 sr__i8_from(const int16_t *from) {
  sr__s8 v;
  memcpy(&v, from, sizeof v);
  return __builtin_convertvector(v, sr__i8);
}

static inline sr__i4 sr__i8_low(sr__i8 v) { return __builtin_shufflevector(v, v, 0, 1, 2, 3); }
static inline sr__i4 sr__i8_high(sr__i8 v) { return __builtin_shufflevector(v, v, 4, 5, 6, 7); }

static inline sr__d8 sr__d8_gather(const double *base, sr__i8 index) {
#ifdef __AVX2__
  return (sr__d8){(sr__d4)_mm256_i32gather_pd(base, (__m128i)sr__i8_low(index), 8),
                  (sr__d4)_mm256_i32gather_pd(base, (__m128i)sr__i8_high(index), 8)};
#else
  sr__d8 v;
  for (int lane = 0; lane < 4; lane++) {
    v.low[lane] = base[index[lane]];
    v.high[lane] = base[index[lane + 4]];
  }
  return v;
#endif
}

static inline sr__d8 sr__d8_from(sr__f8 v) {
  return (sr__d8){__builtin_convertvector(__builtin_shufflevector(v, v, 0, 1, 2, 3), sr__d4),
                  __builtin_convertvector(__builtin_shufflevector(v, v, 4, 5, 6, 7), sr__d4)};
}
static inline sr__f8 sr__f8_from(sr__d8 v) {
  return __builtin_shufflevector(__builtin_convertvector(v.low, sr__f4),
                                 __builtin_convertvector(v.high, sr__f4), 0, 1, 2, 3, 4, 5, 6, 7);
}

/* v where mask is all ones, 0 where it is 0. */
static inline sr__f8 sr__f8_mask(sr__f8 v, sr__i8 mask) { return (sr__f8)((sr__i8)v & mask); }
static inline sr__d8 sr__d8_mask(sr__d8 v, sr__i8 mask) {
  sr__l4 low = __builtin_convertvector(sr__i8_low(mask), sr__l4);
  sr__l4 high = __builtin_convertvector(sr__i8_high(mask), sr__l4);
  return (sr__d8){(sr__d4)((sr__l4)v.low & low), (sr__d4)((sr__l4)v.high & high)};
}

/* sum += a * b in four running sums. */
static inline sr__d4 sr__d4_dot(sr__d4 sum, sr__d8 a, sr__d8 b) {
  sum += a.low * b.low;
  return sum + a.high * b.high;
}
static inline double sr__d4_sum(sr__d4 v) { return (v[0] + v[1]) + (v[2] + v[3]); }

#endif
