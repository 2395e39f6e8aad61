/* The nearest neighbors of all points of a leaf of the k-d tree together, once per vector level.
 * Internal to src/graph. */
#ifndef SR_GRAPH_LEAF_KERNEL_H
#define SR_GRAPH_LEAF_KERNEL_H

#include "core/isa.h"
#include "kdtree.h"

enum {
  SR__LEAF_POINTS = 16, /* of a leaf in up to three dimensions */
  SR__LEAF_AXES = 3,
  SR__LEAF_K = 16,     /* the most neighbors that are looked for in this way */
  SR__LEAF_SEEN = 192, /* leaves that may be near */
  SR__LEAF_DOUBTS = 40 /* points of a query that may lie at the limit */
};

/* What one thread works with. */
typedef struct sr__leaf_search {
  float query[SR__LEAF_AXES][SR__LEAF_POINTS];
  float best[SR__LEAF_K + 1][SR__LEAF_POINTS];            /* least keys of each query, sorted */
  float x[SR__LEAF_SEEN][SR__LEAF_AXES][SR__LEAF_POINTS]; /* points of the leaves seen */
  float box[SR__LEAF_SEEN][2 * SR__LEAF_AXES];
  int32_t leaf[SR__LEAF_SEEN];
  int32_t base[SR__LEAF_SEEN]; /* place of the first point of the leaves seen */
  /* Places of certain neighbors and points in doubt, with room for a leaf more. */
  int32_t sure[SR__LEAF_POINTS][SR__LEAF_K + SR__LEAF_POINTS];
  int32_t doubt[SR__LEAF_POINTS][SR__LEAF_DOUBTS + SR__LEAF_POINTS];
} sr__leaf_search;

typedef struct sr__leaf_kernel {
  /* The k nearest of every point of the leaf, in any order, at neighbor + place * k. Bit i of the
   * answer: point i was not decided, and its list means nothing. 1 <= k <= SR__LEAF_K and k less
   * than the points; `scale` is a power of two that brings the points to about 1. */
  uint32_t (*search)(const sr__kdtree *tree, double scale, int64_t leaf, int32_t k,
                     sr__leaf_search *scratch, int32_t *neighbor);
} sr__leaf_kernel;

SR__KERNEL_LEVELS(sr__leaf_kernel)

#endif
