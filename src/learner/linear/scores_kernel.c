/* Eight rows in the lanes of doubles, four targets together. A product of two floats is exact as a
 * double, so that it does not matter whether multiplication and addition are fused. */
#include "scores_kernel.h"

#include "learner/series/lane_vectors.h"

enum { ROWS = 8, WIDE = SR__VECTOR_BYTES / 8, VECTORS = ROWS / WIDE, MOST_TARGETS = 4 };

typedef double doubles __attribute__((vector_size(SR__VECTOR_BYTES)));
typedef float half_floats __attribute__((vector_size(SR__VECTOR_BYTES / 2)));

SR__INLINE void add_targets(int64_t features, int64_t targets, const float *coefficient,
                            const float *x, int64_t stride, double *score, int64_t score_stride,
                            int number) {
  doubles sum[MOST_TARGETS][VECTORS];
  for (int t = 0; t < number; t++)
    for (int v = 0; v < VECTORS; v++)
      memcpy(&sum[t][v], score + t * score_stride + v * WIDE, sizeof sum[t][v]);
  for (int64_t f = 0; f < features; f++, x += stride, coefficient += targets) {
    doubles value[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
      half_floats narrow;
      memcpy(&narrow, x + v * WIDE, sizeof narrow);
      value[v] = __builtin_convertvector(narrow, doubles);
    }
#pragma GCC unroll 4
    for (int t = 0; t < number; t++) {
      doubles c = (double)coefficient[t] - (doubles){0};
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; v++) sum[t][v] += c * value[v];
    }
  }
  for (int t = 0; t < number; t++)
    for (int v = 0; v < VECTORS; v++)
      memcpy(score + t * score_stride + v * WIDE, &sum[t][v], sizeof sum[t][v]);
}

static void add(int64_t features, int64_t targets, const float *coefficient, const float *x,
                int64_t stride, int64_t rows, double *score, int64_t score_stride) {
  for (int64_t i = 0; i < rows; i += ROWS)
    for (int64_t t = 0; t < targets; t += MOST_TARGETS) {
      double *to = score + t * score_stride + i;
      const float *c = coefficient + t;
      switch (targets - t) {
        case 1:
          add_targets(features, targets, c, x + i, stride, to, score_stride, 1);
          break;
        case 2:
          add_targets(features, targets, c, x + i, stride, to, score_stride, 2);
          break;
        case 3:
          add_targets(features, targets, c, x + i, stride, to, score_stride, 3);
          break;
        default:
          add_targets(features, targets, c, x + i, stride, to, score_stride, 4);
      }
    }
}

const sr__scores_kernel SR__KERNEL(sr__scores_kernel) = {add};
