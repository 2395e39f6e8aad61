#ifndef SR_NN_POINTWISE_KERNEL_H
#define SR_NN_POINTWISE_KERNEL_H

#include "core/isa.h"
#include "nn/nn.h"

typedef struct sr__pointwise_kernel {
  void (*gelu)(int64_t count, const float *x, float *y, float *slope);
  void (*silu)(int64_t count, const float *x, float *y, float *slope);
  void (*softplus)(int64_t count, const float *x, float *y, float *slope);
  void (*multiply)(int64_t count, float *x, const float *factor);
  void (*add)(int64_t count, float *x, const float *other);
  void (*dropout)(int64_t count, const float *x, const float *base, float *y, float drop,
                  uint32_t key);
  void (*exp)(int64_t count, const float *x, float *y);
} sr__pointwise_kernel;
SR__KERNEL_LEVELS(sr__pointwise_kernel)

#endif
