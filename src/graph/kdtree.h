/* The k-d tree that knn_tree.c searches. Internal to src/graph. */
#ifndef SR_GRAPH_KDTREE_H
#define SR_GRAPH_KDTREE_H

#include "knn.h"

/* A complete binary tree: node 1 is the root, node h has children 2h and 2h + 1, and its 2^levels
 * leaves hold equal shares of the points. Points are stored in the order of the leaves. Node j of
 * level l holds places [j n / 2^l, (j + 1) n / 2^l), so no node needs to say where it begins. */
enum { SR__KDTREE_LEAF = 8 };
typedef struct sr__kdtree {
  int64_t count;
  int32_t dimension;
  int32_t levels;
  int32_t *row; /* of each place */
  double
      *block;  /* a leaf: `dimension` lines of SR__KDTREE_LEAF coordinates, infinity where empty */
  double *box; /* a node: `dimension` lower bounds, then as many upper ones; tight */
} sr__kdtree;

SR_MUST_CHECK sr_status sr__kdtree_build(sr_context *ctx, const double *const *column, int64_t rows,
                                         int32_t dimension, sr__kdtree *tree);
void sr__kdtree_free(sr_context *ctx, sr__kdtree *tree);

static inline int64_t sr__kdtree_begin(const sr__kdtree *tree, int level, int64_t index) {
  return (index * tree->count) >> level;
}

#endif
