/* Eight floats at a time for the kernels of this room. Every function is defined to the bit: each
 * operation rounds once, and where a sum is fused it is fused at every level; levels without such
 * an instruction compute it from exact products. Internal to *_kernel.c. */
#ifndef SR_NN_LANES_H
#define SR_NN_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
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

#if defined(__SSE2__) && !defined(__FMA__)
/* The lower two lanes of a * b + c as doubles that round to the right floats. The product is exact
 * in double; the sum is rounded to odd: where the addition lost something (found by Knuth's
 * two-sum), the sum is cut off and its last bit set. Rounding that on to float is as if the exact
 * sum were rounded. */
SR__INLINE __m128d sr__fused_pair(__m128 a, __m128 b, __m128 c) {
  __m128d product = _mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), addend = _mm_cvtps_pd(c);
  __m128d sum = _mm_add_pd(product, addend), back = _mm_sub_pd(sum, product);
  __m128d lost = _mm_add_pd(_mm_sub_pd(product, _mm_sub_pd(sum, back)), _mm_sub_pd(addend, back));
  __m128i bits = _mm_castpd_si128(sum);
  /* Ordered comparisons: an infinite sum leaves a NaN behind and must stay as it is. */
  __m128i inexact = _mm_castpd_si128(
      _mm_or_pd(_mm_cmplt_pd(lost, _mm_setzero_pd()), _mm_cmpgt_pd(lost, _mm_setzero_pd())));
  __m128i too_large = _mm_srli_epi64(_mm_xor_si128(bits, _mm_castpd_si128(lost)), 63);
  bits = _mm_sub_epi64(bits, _mm_and_si128(too_large, inexact));
  return _mm_castsi128_pd(_mm_or_si128(bits, _mm_srli_epi64(inexact, 63)));
}
#endif

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
#elif defined(__SSE2__)
  typedef union halves {
    sr__wide whole;
    __m128 half[2];
  } halves;
  halves x = {a}, y = {b}, sum = {c};
  for (int h = 0; h < 2; h++) {
    __m128 p = x.half[h], q = y.half[h], r = sum.half[h];
    __m128d low = sr__fused_pair(p, q, r);
    __m128d high = sr__fused_pair(_mm_movehl_ps(p, p), _mm_movehl_ps(q, q), _mm_movehl_ps(r, r));
    sum.half[h] = _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
  }
  return sum.whole;
#else
  for (int i = 0; i < SR__WIDE; i++) c[i] = fmaf(a[i], b[i], c[i]);
  return c;
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
