/* For kernel files of this room alone: a vector of floats of the level's width. Single precision
 * only rules out there, so a level may fuse as it likes. */
#ifndef SR_GRAPH_LANES_H
#define SR_GRAPH_LANES_H

#include "core/vectors.h"

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef float floats __attribute__((vector_size(4 * LANES)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));

SR__INLINE floats load(const float *from) {
  floats to;
  memcpy(&to, from, sizeof to);
  return to;
}

SR__INLINE floats spread(float x) { return x - (floats){0}; }

/* a * b + c */
SR__INLINE floats add_product(floats a, floats b, floats c) {
#if defined(__AVX512F__)
  return (floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
  return (floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__aarch64__)
  return (floats)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  return a * b + c;
#endif
}

/* Bit i: a[i] <= b[i]. */
SR__INLINE uint32_t at_most(floats a, floats b) {
#if defined(__AVX512F__)
  return (uint32_t)_mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LE_OQ);
#elif defined(__AVX2__)
  return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_LE_OQ));
#elif defined(__SSE2__)
  return (uint32_t)_mm_movemask_ps(_mm_cmple_ps((__m128)a, (__m128)b));
#else
  uint32_t mask = 0;
  for (int i = 0; i < LANES; i++) mask |= (uint32_t)(a[i] <= b[i]) << i;
  return mask;
#endif
}

#endif
