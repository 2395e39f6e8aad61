/* Vectors of the level that a kernel file is compiled for. Eight lanes are one vector with AVX2 and
 * two halves without. To be included by *_kernel.c only. */
#ifndef SR_LEARNER_LANE_VECTORS_H
#define SR_LEARNER_LANE_VECTORS_H

#include "core/vectors.h"

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

/* Keeps a loaded value in its register: the compiler would read it again for every use.
 * SR__READ_ANEW reads what stands behind a pointer in every round of a loop: it would be read once
 * before the loop into more registers than there are, and spilled. */
#if defined(__AVX512F__)
#define SR__PIN(v) __asm__("" : "+v"(v))
#elif defined(__AVX2__)
#define SR__PIN(v) __asm__("" : "+x"(v))
#else
#define SR__PIN(v) (void)(v)
#endif
#if defined(__AVX2__)
#define SR__READ_ANEW(pointer) __asm__ volatile("" : "+r"(pointer))
#else
#define SR__READ_ANEW(pointer) (void)(pointer)
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

/* a b + c with one rounding, the same bits with and without an instruction for it. */
SR__INLINE floats fused(floats a, floats b, floats c) {
#if defined(__AVX2__)
  return sr__fused_eight(a, b, c);
#else
  return sr__fused_four(a, b, c);
#endif
}

#endif
