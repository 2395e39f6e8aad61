/* Eight floats at a time for the kernels of this room. Every function is defined to the bit: each
 * operation rounds once, and where a sum is fused it is fused at every level. Internal to
 * *_kernel.c. */
#ifndef SR_NN_LANES_H
#define SR_NN_LANES_H

#include "core/vectors.h"

enum { SR__WIDE = 8 };

typedef sr__eight_floats sr__wide;
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
  return sr__fused_eight(a, b, c);
}

/* mask lanes are all ones or all zeros. */
SR__INLINE sr__wide sr__select(sr__wide_int mask, sr__wide yes, sr__wide no) {
#if defined(__FMA__)
  return (sr__wide)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)mask);
#else
  return (sr__wide)((mask & (sr__wide_int)yes) | (~mask & (sr__wide_int)no));
#endif
}
SR__INLINE sr__wide sr__select_by_sign(sr__wide x, sr__wide negative, sr__wide positive) {
  return sr__select((sr__wide_int)x >> 31, negative, positive);
}
/* a where a > b, else b; so b where either is NaN. */
SR__INLINE sr__wide sr__larger(sr__wide a, sr__wide b) {
#if defined(__FMA__)
  return (sr__wide)_mm256_max_ps((__m256)a, (__m256)b);
#else
  return sr__select(a > b, a, b);
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

/* Eight rows become eight columns: pairs, then fours, then halves change places. */
SR__INLINE void sr__transpose_square(sr__wide row[SR__WIDE]) {
  sr__wide pair[SR__WIDE], four[SR__WIDE];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    pair[i] = __builtin_shufflevector(row[i], row[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    pair[i + 1] = __builtin_shufflevector(row[i], row[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) {
    const int i = k / 2 * 4, j = k % 2;
    sr__wide x = pair[i + j], y = pair[i + 2 + j];
    four[i + 2 * j] = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
    four[i + 2 * j + 1] = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    row[i] = __builtin_shufflevector(four[i], four[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    row[i + 4] = __builtin_shufflevector(four[i], four[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

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
  return sr__select_by_sign(x, e * s, s);
}

#endif
