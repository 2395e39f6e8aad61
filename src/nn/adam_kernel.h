#ifndef SR_NN_ADAM_KERNEL_H
#define SR_NN_ADAM_KERNEL_H

#include "core/isa.h"
#include "nn/nn.h"

/* One step for `count` parameters. */
typedef struct sr__adam_update {
  float gradient_factor; /* of clipping */
  float beta1, beta2, epsilon;
  float shrink;        /* 1 - rate * decay */
  float step;          /* rate / (1 - beta1^t) */
  float second_factor; /* 1 / (1 - beta2^t) */
} sr__adam_update;

typedef struct sr__adam_kernel {
  void (*update)(int64_t count, const sr__adam_update *how, const float *gradient, float *first,
                 float *second, float *value);
  double (*sum_of_squares)(int64_t count, const float *x);
} sr__adam_kernel;
SR__KERNEL_LEVELS(sr__adam_kernel)

#endif
