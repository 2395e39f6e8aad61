/* The search for a value's bin, once per vector level. Internal. */
#ifndef SR_LEARNER_TREE_BINS_KERNEL_H
#define SR_LEARNER_TREE_BINS_KERNEL_H

#include <stdint.h>

#include "core/isa.h"

enum { SR__BIN_EDGES = 256, SR__GRID_CELLS = 1024 };

/* The edges of a feature, and equal cells over their range: a value needs to be compared only with
 * the edges in its own cell. */
typedef struct sr__bin_grid {
  float edge[SR__BIN_EDGES];         /* as in `search` */
  float low, scale;                  /* cell = (x - low) * scale, cut to those that there are */
  int32_t most;                      /* edges in one cell */
  uint8_t first[SR__GRID_CELLS + 1]; /* edges before the cell; 255 in the cell of missing values */
} sr__bin_grid;

typedef struct sr__bins_kernel {
  /* out[i * stride] = number of edges below x[i], 255 where x[i] is missing. Edges increase; +inf
   * follows the last one up to SR__BIN_EDGES, at least once. The array is aligned to 64 bytes. */
  void (*search)(const float *edge, const float *x, int64_t count, int64_t stride, uint8_t *out);
  /* Completes a grid whose `edge` is given; the first `edges` are numbers. */
  void (*make_grid)(sr__bin_grid *grid, int32_t edges);
  /* As `search`. */
  void (*search_grid)(const sr__bin_grid *grid, const float *x, int64_t count, int64_t stride,
                      uint8_t *out);
} sr__bins_kernel;

SR__KERNEL_LEVELS(sr__bins_kernel)

#endif
