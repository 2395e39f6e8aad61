/* Mamba's convolution and scan at each vector level. Internal to src/nn. */
#ifndef SR_NN_SCAN_KERNEL_H
#define SR_NN_SCAN_KERNEL_H

#include "core/isa.h"
#include "nn/layers.h"

typedef struct sr__scan_kernel {
  void (*causal_forward)(int64_t tokens, int64_t channels, const float *h, int64_t h_row,
                         const float *weight, const float *bias, float *u, float *slope,
                         float *past);
  void (*causal_backward)(int64_t tokens, int64_t channels, const float *h, int64_t h_row,
                          const float *weight, const float *da, float *dh, float *weight_gradient,
                          float *bias_gradient);
  void (*forward)(const sr__scan *scan, float *y, float *g, float *kept, float *state);
  void (*backward)(const sr__scan *scan, const float *dy, const float *kept, float *du,
                   float *ddelta, float *db, float *dc, float *a_gradient, float *skip_gradient,
                   float *scratch);
  void (*gate_backward)(int64_t tokens, int64_t channels, float *dg, const float *y,
                        const float *gate, const float *gate_slope, float *dz, int64_t dz_row);
} sr__scan_kernel;
SR__KERNEL_LEVELS(sr__scan_kernel)

#endif
