#ifndef SR_NN_NORM_KERNEL_H
#define SR_NN_NORM_KERNEL_H

#include "core/isa.h"
#include "nn/layers.h"

typedef struct sr__norm_kernel {
  void (*forward)(int64_t rows, int64_t width, const float *x, const float *weight,
                  const float *bias, float *y, float *moments);
  void (*backward)(int64_t rows, int64_t width, const float *x, const float *weight,
                   const float *moments, const float *dy, float *dx, float *weight_gradient,
                   float *bias_gradient);
} sr__norm_kernel;
SR__KERNEL_LEVELS(sr__norm_kernel)

#endif
