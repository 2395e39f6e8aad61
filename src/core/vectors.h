/* For kernel files alone: what the rooms' kernels share. A fused sum is fused at every level;
 * levels without such an instruction compute it from exact products, so that each level gives the
 * same bits. */
#ifndef SR_CORE_VECTORS_H
#define SR_CORE_VECTORS_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define SR__INLINE static inline __attribute__((always_inline, unused))

typedef float sr__four_floats __attribute__((vector_size(16)));
typedef float sr__eight_floats __attribute__((vector_size(32)));

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
SR__INLINE sr__four_floats sr__fused_four(sr__four_floats a, sr__four_floats b, sr__four_floats c) {
#if defined(__FMA__)
  return (sr__four_floats)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
#elif defined(__SSE2__)
  __m128 x = (__m128)a, y = (__m128)b, z = (__m128)c;
  __m128d low = sr__fused_pair(x, y, z);
  __m128d high = sr__fused_pair(_mm_movehl_ps(x, x), _mm_movehl_ps(y, y), _mm_movehl_ps(z, z));
  return (sr__four_floats)_mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
#elif defined(__aarch64__)
  return (sr__four_floats)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  for (int i = 0; i < 4; i++) c[i] = fmaf(a[i], b[i], c[i]);
  return c;
#endif
}

SR__INLINE sr__eight_floats sr__fused_eight(sr__eight_floats a, sr__eight_floats b,
                                            sr__eight_floats c) {
#if defined(__FMA__)
  return (sr__eight_floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  typedef union halves {
    sr__eight_floats whole;
    sr__four_floats half[2];
  } halves;
  halves x = {a}, y = {b}, sum = {c};
  for (int h = 0; h < 2; h++) sum.half[h] = sr__fused_four(x.half[h], y.half[h], sum.half[h]);
  return sum.whole;
#endif
}

#endif
