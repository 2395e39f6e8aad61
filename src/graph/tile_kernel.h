/* Scanning blocks of points for the nearest of a few queries, once per vector level. Internal to
 * src/graph. */
#ifndef SR_GRAPH_TILE_KERNEL_H
#define SR_GRAPH_TILE_KERNEL_H

#include "core/isa.h"
#include "point_blocks.h"

typedef struct sr__tile_kernel {
  /* Sets what the scan needs once the queries and cleared lists are in place. */
  void (*begin)(sr__query_tile *tile, const sr__point_blocks *blocks);
  /* Offers all places of [begin, end) to the lists. A float product rules out nearly all of them,
   * by a bound that holds in spite of rounding; what is left is measured in double. So the lists
   * hold the true nearest, to the last bit, whatever the order of float operations. */
  void (*scan)(sr__query_tile *tile, const sr__point_blocks *blocks, int64_t begin, int64_t end);
} sr__tile_kernel;

SR__KERNEL_LEVELS(sr__tile_kernel)

#endif
