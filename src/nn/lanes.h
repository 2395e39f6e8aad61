/* Eight floats at a time for the kernels of this room. Every function is defined to the bit: each
 * operation rounds once, and where a sum is fused it is fused at every level; levels without such
 * an instruction compute it from exact products. Internal to *_kernel.c. */
#ifndef SR_NN_LANES_H
#define SR_NN_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define SR__INLINE static inline __attribute__((always_inline, unused))

enum { SR__WIDE = 8 };

typedef float sr__wide __attribute__((vector_size(32)));
typedef int32_t sr__wide_int __attribute__((vector_size(32)));
typedef uint32_t sr__wide_bits __attribute__((vector_size(32)));

SR__INLINE sr__wide sr__load(const float *from) {
  sr__wide v;
  memcpy(&v, from, sizeof v);
  return v;
}
SR__INLINE void sr__store(float *to, sr__wide v) { memcpy(to, &v, sizeof v); }
/* The first `count` < 8 lanes; the others are 0 or stay unwritten. */
SR__INLINE sr__wide sr__load_some(const float *from, int64_t count) {
  sr__wide v = {0};
  memcpy(&v, from, (size_t)count * sizeof *from);
  return v;
}
SR__INLINE void sr__store_some(float *to, sr__wide v, int64_t count) {
  memcpy(to, &v, (size_t)count * sizeof *to);
}
SR__INLINE sr__wide sr__all(float x) { return (sr__wide){x, x, x, x, x, x, x, x}; }

/* a * b + c, rounded once. */
SR__INLINE sr__wide sr__fused(sr__wide a, sr__wide b, sr__wide c) {
#if defined(__FMA__)
  return (sr__wide)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__aarch64__)
  typedef union both {
    sr__wide whole;
    float32x4_t half[2];
  } both;
  both x = {a}, y = {b}, sum = {c};
  sum.half[0] = vfmaq_f32(sum.half[0], x.half[0], y.half[0]);
  sum.half[1] = vfmaq_f32(sum.half[1], x.half[1], y.half[1]);
  return sum.whole;
#else
  /* The product is exact in double. The sum is rounded to odd: where it is inexact (`lost` is what
   * the addition lost, by Knuth) and its last bit is even, it moves one unit towards the true sum.
   * Rounding that to float is then as if the exact sum had been rounded. */
  typedef float four __attribute__((vector_size(16)));
  typedef double four_doubles __attribute__((vector_size(32)));
  typedef int64_t four_longs __attribute__((vector_size(32)));
  four half[2];
  for (int h = 0; h < 2; h++) {
    four a4, b4, c4;
    memcpy(&a4, (const char *)&a + 16 * h, sizeof a4);
    memcpy(&b4, (const char *)&b + 16 * h, sizeof b4);
    memcpy(&c4, (const char *)&c + 16 * h, sizeof c4);
    four_doubles product =
        __builtin_convertvector(a4, four_doubles) * __builtin_convertvector(b4, four_doubles);
    four_doubles addend = __builtin_convertvector(c4, four_doubles);
    four_doubles sum = product + addend, back = sum - product;
    four_doubles lost = (product - (sum - back)) + (addend - back);
    four_longs bits = (four_longs)sum;
    four_longs inexact = (lost < 0) | (lost > 0);
    four_longs even = (bits & 1) - 1;
    /* Away from zero where sum and lost have one sign, towards zero where they differ. */
    four_longs step = (((four_longs)lost ^ bits) >> 63) | 1;
    sum = (four_doubles)(bits + (step & inexact & even));
    half[h] = __builtin_convertvector(sum, four);
  }
  sr__wide result;
  memcpy(&result, half, sizeof result);
  return result;
#endif
}

/* mask lanes are all ones or all zeros. */
SR__INLINE sr__wide sr__choose(sr__wide_int mask, sr__wide yes, sr__wide no) {
#if defined(__FMA__)
  return (sr__wide)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)mask);
#else
  return (sr__wide)((mask & (sr__wide_int)yes) | (~mask & (sr__wide_int)no));
#endif
}
SR__INLINE sr__wide sr__choose_by_sign(sr__wide x, sr__wide negative, sr__wide positive) {
  return sr__choose((sr__wide_int)x >> 31, negative, positive);
}
/* a where a > b, else b; so b where either is NaN. */
SR__INLINE sr__wide sr__larger(sr__wide a, sr__wide b) {
#if defined(__FMA__)
  return (sr__wide)_mm256_max_ps((__m256)a, (__m256)b);
#else
  return sr__choose(a > b, a, b);
#endif
}
SR__INLINE sr__wide sr__root(sr__wide x) {
#if defined(__FMA__)
  return (sr__wide)_mm256_sqrt_ps((__m256)x);
#else
  for (int i = 0; i < SR__WIDE; i++) x[i] = sqrtf(x[i]);
  return x;
#endif
}
SR__INLINE sr__wide sr__magnitude(sr__wide x) { return (sr__wide)((sr__wide_int)x & 0x7fffffff); }

/* Sum and maximum of the lanes, always as the tree ((0 4)(2 6))((1 5)(3 7)). */
SR__INLINE float sr__lane_sum(sr__wide x) {
  return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}
SR__INLINE float sr__lane_max(sr__wide x) {
  float pair[4];
  for (int i = 0; i < 4; i++) pair[i] = x[i] > x[i + 4] ? x[i] : x[i + 4];
  float even = pair[0] > pair[2] ? pair[0] : pair[2], odd = pair[1] > pair[3] ? pair[1] : pair[3];
  return even > odd ? even : odd;
}

/* 2^x for x <= 126, relative error 2e-7; 2^-126 below. Adding 1.5 * 2^23 rounds to whole numbers;
 * degree 5 on [-1/2, 1/2], exactly 1 at 0; the whole part goes into the exponent. */
SR__INLINE sr__wide sr__exp2(sr__wide x) {
  const sr__wide magic = sr__all(12582912.0f);
  x = sr__larger(x, sr__all(-126.0f));
  sr__wide whole = x + magic;
  sr__wide_int exponent = (sr__wide_int)whole << 23;
  sr__wide r = x - (whole - magic);
  sr__wide p = sr__all(1.3264727184e-3f);
  p = sr__fused(p, r, sr__all(9.6715126406e-3f));
  p = sr__fused(p, r, sr__all(5.5507337433e-2f));
  p = sr__fused(p, r, sr__all(2.4022242085e-1f));
  p = sr__fused(p, r, sr__all(6.9314697760e-1f));
  p = sr__fused(p, r, sr__all(1.0f));
  return (sr__wide)((sr__wide_int)p + exponent);
}
#define SR__LOG2_E 1.44269504f

/* 1 / (1 + exp(-x)) by way of exp(-|x|), so that neither side overflows. */
SR__INLINE sr__wide sr__sigmoid(sr__wide x) {
  sr__wide e = sr__exp2(sr__magnitude(x) * -SR__LOG2_E);
  sr__wide s = sr__all(1.0f) / (sr__all(1.0f) + e);
  return sr__choose_by_sign(x, e * s, s);
}

#endif
