/* The softmax of attention, row by row. Internal to src/nn. */
#ifndef SR_NN_SOFTMAX_KERNEL_H
#define SR_NN_SOFTMAX_KERNEL_H

#include "core/isa.h"
#include "nn/layers.h"

typedef struct sr__softmax_kernel {
  /* score: rows x padded, of which `columns` count (padded: the next multiple of 8), becomes the
   * softmax of scale * score; 0 in the columns beyond. moments: rows x 2, shift and factor. */
  void (*forward)(int64_t rows, int64_t columns, float scale, float *score, float *moments);
  /* The same again from the moments. */
  void (*again)(int64_t rows, int64_t columns, float scale, float *score, const float *moments);
  /* dp: rows x padded, the gradient of the softmax p, becomes that of the scores. */
  void (*backward)(int64_t rows, int64_t columns, float scale, const float *p, float *dp);
} sr__softmax_kernel;
SR__KERNEL_LEVELS(sr__softmax_kernel)

#endif
