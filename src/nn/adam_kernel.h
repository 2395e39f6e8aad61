#ifndef SR_NN_ADAM_KERNEL_H
#define SR_NN_ADAM_KERNEL_H

#include "core/isa.h"
#include "nn/nn.h"

typedef struct sr__adam_kernel {
  /* One step for `count` parameters. */
  void (*update)(int64_t count, const sr__adam_tensor *tensor, const float *gradient);
  double (*sum_of_squares)(int64_t count, const float *x);
} sr__adam_kernel;
SR__KERNEL_LEVELS(sr__adam_kernel)

#endif
