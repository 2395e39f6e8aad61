/* Sums of coefficients times features at every vector level. */
#ifndef SR_LEARNER_SCORES_KERNEL_H
#define SR_LEARNER_SCORES_KERNEL_H

#include <stdint.h>

#include "core/isa.h"

typedef struct sr__scores_kernel {
  /* score[t * score_stride + i] += sum over f < features of coefficient[f * targets + t] x[f *
   * stride
   * + i], one f after the other, for i < rows: a multiple of 8. */
  void (*add)(int64_t features, int64_t targets, const float *coefficient, const float *x,
              int64_t stride, int64_t rows, double *score, int64_t score_stride);
} sr__scores_kernel;
SR__KERNEL_LEVELS(sr__scores_kernel)

#endif
