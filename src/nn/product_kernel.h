/* The matrix product at each vector level. Internal to src/nn; others call sr__nn_product. */
#ifndef SR_NN_PRODUCT_KERNEL_H
#define SR_NN_PRODUCT_KERNEL_H

#include "core/isa.h"
#include "nn/nn.h"

typedef struct sr__product_kernel {
  void (*product)(const sr__product *p);
  void (*pack)(int64_t inner, int64_t columns, const float *b, int64_t b_row, float *packed);
  void (*pack_transposed)(int64_t inner, int64_t columns, const float *b, int64_t b_row,
                          float *packed);
} sr__product_kernel;
SR__KERNEL_LEVELS(sr__product_kernel)

#endif
