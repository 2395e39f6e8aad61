/* Vectors of the level that a kernel file is compiled for. Eight lanes are one vector with AVX2 and
 * two halves without. To be included by *_kernel.c only. */
#ifndef SR_LEARNER_LANE_VECTORS_H
#define SR_LEARNER_LANE_VECTORS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define SR__INLINE static inline __attribute__((always_inline))

#if defined(__AVX2__)
#define SR__VECTOR_BYTES 32
#else
#define SR__VECTOR_BYTES 16
#endif
enum { FLOAT_LANES = SR__VECTOR_BYTES / 4, SHORT_LANES = SR__VECTOR_BYTES / 2 };

typedef float floats __attribute__((vector_size(SR__VECTOR_BYTES)));
typedef int32_t ints __attribute__((vector_size(SR__VECTOR_BYTES)));
typedef int16_t shorts __attribute__((vector_size(SR__VECTOR_BYTES)));

SR__INLINE floats load_floats(const float *from) {
  floats v;
  memcpy(&v, from, sizeof v);
  return v;
}
SR__INLINE ints load_ints(const int32_t *from) {
  ints v;
  memcpy(&v, from, sizeof v);
  return v;
}
SR__INLINE shorts load_shorts(const int16_t *from) {
  shorts v;
  memcpy(&v, from, sizeof v);
  return v;
}
SR__INLINE floats all_floats(float x) { return x - (floats){0}; }
SR__INLINE ints all_ints(int32_t x) { return x - (ints){0}; }

/* Keeps a loaded value in its register: the compiler would read it again for every use. */
#if defined(__AVX2__)
#define SR__PIN(v) __asm__("" : "+x"(v))
#else
#define SR__PIN(v) (void)(v)
#endif

/* a where a > b, else b. */
SR__INLINE floats larger(floats a, floats b) {
#if defined(__AVX2__)
  return (floats)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
  return (floats)_mm_max_ps((__m128)a, (__m128)b);
#else
  ints mask = a > b;
  return (floats)((mask & (ints)a) | (~mask & (ints)b));
#endif
}

#if defined(__SSE2__) && !defined(__FMA__)
/* The sum of two doubles rounded to odd: cut off, then the last bit set where that lost something.
 * Rounding it on to 24 bits gives what rounding the exact sum would. */
SR__INLINE __m128d sum_to_odd(__m128d a, __m128d b) {
  __m128d sum = _mm_add_pd(a, b), part = _mm_sub_pd(sum, a);
  __m128d lost = _mm_add_pd(_mm_sub_pd(a, _mm_sub_pd(sum, part)), _mm_sub_pd(b, part));
  __m128i bits = _mm_castpd_si128(sum);
  __m128i inexact = _mm_castpd_si128(_mm_cmpneq_pd(lost, _mm_setzero_pd()));
  __m128i beyond = _mm_srli_epi64(_mm_xor_si128(bits, _mm_castpd_si128(lost)), 63);
  bits = _mm_sub_epi64(bits, _mm_and_si128(beyond, inexact));
  return _mm_castsi128_pd(_mm_or_si128(bits, _mm_srli_epi64(inexact, 63)));
}
#endif

/* a b + c with one rounding, the same bits with and without an instruction for it. Without: the
 * product of two floats is exact as a double. */
SR__INLINE floats fused(floats a, floats b, floats c) {
#if defined(__FMA__)
  return (floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__SSE2__)
  __m128 x = (__m128)a, y = (__m128)b, z = (__m128)c;
  __m128d low = _mm_mul_pd(_mm_cvtps_pd(x), _mm_cvtps_pd(y));
  __m128d high = _mm_mul_pd(_mm_cvtps_pd(_mm_movehl_ps(x, x)), _mm_cvtps_pd(_mm_movehl_ps(y, y)));
  low = sum_to_odd(low, _mm_cvtps_pd(z));
  high = sum_to_odd(high, _mm_cvtps_pd(_mm_movehl_ps(z, z)));
  return (floats)_mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
#elif defined(__ARM_NEON) && defined(__aarch64__)
  return (floats)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  for (int i = 0; i < FLOAT_LANES; i++) c[i] = fmaf(a[i], b[i], c[i]);
  return c;
#endif
}

#endif
