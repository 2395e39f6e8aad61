/* The inner loops of conv2d.c. Internal. */
#ifndef SR_NN_CONV2D_KERNEL_H
#define SR_NN_CONV2D_KERNEL_H

#include "core/isa.h"
#include "nn/conv2d.h"

/* Windows on a picture: rows x columns of them, each of `runs` runs of `run` consecutive floats. */
typedef struct sr__windows {
  const float *in;
  int32_t rows, columns;
  int64_t in_row, in_column; /* floats from one window to the one below it, to the right of it */
  int32_t runs, run;
  int64_t run_step; /* floats from one run to the next */
} sr__windows;

typedef struct sr__conv2d_kernel {
  /* out at (row, column) = bias + window x panels (runs * run x channels, packed by 16 columns). */
  void (*apply)(const sr__windows *w, const float *panels, const float *bias, int32_t channels,
                bool relu, float *out, int64_t out_row, int64_t out_column);
  /* gradient (runs * run x channels) += sum over windows of window' x dy (windows x channels). */
  void (*weight_gradient)(const sr__windows *w, const float *dy, int32_t channels, float *gradient);
  /* sums (channels) += sums over the rows of dy (count x channels). */
  void (*row_sums)(int64_t count, int32_t channels, const float *dy, float *sums);
  void (*relu_backward)(int64_t count, const float *y, float *dy);
} sr__conv2d_kernel;
SR__KERNEL_LEVELS(sr__conv2d_kernel)

#endif
