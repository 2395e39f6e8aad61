/* Products and convolutions of arrays with many zeros at each vector level. Internal to src/nn;
 * others call sr__nn_sparse_product and the functions of conv2d.h. */
#ifndef SR_NN_SPARSE_KERNEL_H
#define SR_NN_SPARSE_KERNEL_H

#include "core/isa.h"
#include "nn/conv2d_kernel.h"

typedef struct sr__sparse_kernel {
  void (*product)(const sr__sparse_product *p);
  /* out (windows x 64) = max(0, bias + window x weight (runs * run x 64)). */
  void (*apply)(const sr__windows *w, const float *weight, const float *bias, float *out);
  /* gradient (runs * run x 64) += sum over windows of window' x dy (windows x 64); a run is a
   * multiple of 8. The same sums as those of sr__conv2d_kernel, terms of 0 left out. */
  void (*weight_gradient)(const sr__windows *w, const float *dy, float *gradient);
} sr__sparse_kernel;
SR__KERNEL_LEVELS(sr__sparse_kernel)

#endif
