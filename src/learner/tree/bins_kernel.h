/* The search for a value's bin, once per vector level. Internal. */
#ifndef SR_LEARNER_TREE_BINS_KERNEL_H
#define SR_LEARNER_TREE_BINS_KERNEL_H

#include <stdint.h>

#include "core/isa.h"

enum { SR__BIN_EDGES = 256 };

typedef struct sr__bins_kernel {
  /* out[i * stride] = number of edges below x[i], 255 where x[i] is missing. Edges increase; +inf
   * follows the last one up to SR__BIN_EDGES, at least once. The array is aligned to 64 bytes. */
  void (*search)(const float *edge, const float *x, int64_t count, int64_t stride, uint8_t *out);
} sr__bins_kernel;

SR__KERNEL_LEVELS(sr__bins_kernel)

#endif
