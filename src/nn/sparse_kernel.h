/* The product with a sparse matrix at each vector level. Internal to src/nn; others call
 * sr__nn_sparse_product. */
#ifndef SR_NN_SPARSE_KERNEL_H
#define SR_NN_SPARSE_KERNEL_H

#include "core/isa.h"
#include "nn/nn.h"

typedef struct sr__sparse_kernel {
  void (*product)(const sr__sparse_product *p);
} sr__sparse_kernel;
SR__KERNEL_LEVELS(sr__sparse_kernel)

#endif
