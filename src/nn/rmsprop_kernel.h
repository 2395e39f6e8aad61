#ifndef SR_NN_RMSPROP_KERNEL_H
#define SR_NN_RMSPROP_KERNEL_H

#include "core/isa.h"
#include "nn/rmsprop.h"

typedef struct sr__rmsprop_kernel {
  /* count: a multiple of 8 */
  void (*update)(int64_t count, const sr__rmsprop *how, const float *gradient, float *first,
                 float *second, float *value);
} sr__rmsprop_kernel;
SR__KERNEL_LEVELS(sr__rmsprop_kernel)

#endif
