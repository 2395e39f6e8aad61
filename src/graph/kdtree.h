/* The k-d tree that knn_tree.c searches. Internal to src/graph. */
#ifndef SR_GRAPH_KDTREE_H
#define SR_GRAPH_KDTREE_H

#include "knn.h"

/* A complete binary tree: node j of level l holds places [j n / 2^l, (j + 1) n / 2^l), so no node
 * needs to say where it begins; its children are 2j and 2j + 1, and the 2^levels leaves hold equal
 * shares of the points. Points are stored in the order of the leaves.
 *
 * The search steps down three levels at once. So boxes are kept of the last level and of every
 * third one above it, in groups of the eight nodes that have the same node three levels up (fewer
 * in the group at the top), laid out so that distances to all eight are a few vector operations. */
enum { SR__KDTREE_GROUP = 8, SR__KDTREE_STEP = 3 };

/* The most points of a leaf: as many as leaf_kernel.c takes together, more where it does not. */
static inline int sr__kdtree_leaf(int dimension) { return dimension <= 3 ? 16 : 32; }

typedef struct sr__kdtree {
  int64_t count;
  int32_t dimension;
  int32_t levels;
  int32_t *row; /* of each place */
  double
      *block; /* a leaf: `dimension` lines of sr__kdtree_leaf() coordinates, infinity where empty */
  double *group; /* a group: `dimension` lines of SR__KDTREE_GROUP lower bounds, then as many of
                  * upper ones; tight; where there is no node, infinity and minus infinity */
  int64_t first_group[64]; /* of each level that has groups */
} sr__kdtree;

/* `room` is for rows * (dimension + 1) numbers while it grows. */
SR_MUST_CHECK sr_status sr__kdtree_build(sr_context *ctx, const sr__points *points, double *room,
                                         sr__kdtree *tree);
void sr__kdtree_free(sr_context *ctx, sr__kdtree *tree);

/* The group that holds a node of a level that has groups. */
static inline double *sr__kdtree_group(const sr__kdtree *tree, int level, int64_t index) {
  int64_t group = tree->first_group[level] + index / SR__KDTREE_GROUP;
  return tree->group + group * 2 * tree->dimension * SR__KDTREE_GROUP;
}
static inline int64_t sr__kdtree_begin(const sr__kdtree *tree, int level, int64_t index) {
  return (index * tree->count) >> level;
}

#endif
