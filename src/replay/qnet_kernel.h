/* The inner loops of qnet.c. Internal. */
#ifndef SR_REPLAY_QNET_KERNEL_H
#define SR_REPLAY_QNET_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/isa.h"

/* Sixteen filters of 3 x 3 on a grid of 10 x 10 cells: 8 x 8 x 16 come out. */
enum { SR__GRID_FILTERS = 16, SR__GRID_OUT = 8 };

typedef struct sr__qnet_kernel {
  /* y = max(0, bias + sum of the filters of the cells that are set). planes: two 64-bit words per
   * channel and frame; weight: 3 x 3 x (frames x channels) x 16. */
  void (*grid_forward)(int32_t frames, int32_t channels, const uint8_t *const *planes,
                       const float *weight, const float *bias, float *y);
  /* dy (before the ReLU) of one picture into the gradients of weight and bias. */
  void (*grid_backward)(int32_t frames, int32_t channels, const uint8_t *const *planes,
                        const float *dy, float *weight_gradient, float *bias_gradient);
  /* y (out) = bias + x (in) w (in x out), skipping inputs that are 0; out: a multiple of 8. */
  void (*dense_row)(int64_t in, int64_t out, const float *x, const float *weight, const float *bias,
                    float *y);
  void (*relu)(int64_t count, float *x);
  /* to (cells x frames) = frame / 255. */
  void (*interleave)(int32_t frames, int64_t cells, const uint8_t *const *frame, float *to);
} sr__qnet_kernel;
SR__KERNEL_LEVELS(sr__qnet_kernel)

#endif
