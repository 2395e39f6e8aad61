/* The nearest neighbors of one point of the k-d tree at a time, once per vector level. Internal to
 * src/graph. */
#ifndef SR_GRAPH_VISIT_KERNEL_H
#define SR_GRAPH_VISIT_KERNEL_H

#include "core/isa.h"
#include "kdtree.h"

typedef struct sr__visit_kernel {
  /* The k nearest of those points of the leaf that have a bit in `open`, at neighbor + place * k;
   * `distance` is scratch for k numbers. */
  void (*search)(const sr__kdtree *tree, int64_t leaf, uint32_t open, int32_t k, double *distance,
                 int32_t *neighbor);
} sr__visit_kernel;

SR__KERNEL_LEVELS(sr__visit_kernel)

#endif
