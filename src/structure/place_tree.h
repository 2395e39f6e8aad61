/* A k-d tree of places: nearest place of another label, which labels lie within a distance.
 * Internal to src/structure. */
#ifndef SR_STRUCTURE_PLACE_TREE_H
#define SR_STRUCTURE_PLACE_TREE_H

#include "core/core.h"

enum { SR__PLACE_DIMENSIONS = 3 };

/* Node k holds places order[begin .. end); its children are 2k + 1 and 2k + 2. Places are halved
 * across the longest side of their box until few are left. */
typedef struct sr__place_tree {
  int64_t count;
  int32_t dimension;
  const double *at; /* dimension columns of `count`; borrowed */
  int32_t levels;   /* the last one holds the leaves */
  int32_t *order;
  double *box; /* a node: lower bounds, then upper ones */
} sr__place_tree;

/* `at` must live as long as the tree. Free with sr__place_tree_free. O(n log n). */
SR_MUST_CHECK sr_status sr__place_tree_build(sr_context *ctx, const double *at, int64_t count,
                                             int32_t dimension, sr__place_tree *tree);
void sr__place_tree_free(const sr_allocator *allocator, sr__place_tree *tree);
int64_t sr__place_tree_nodes(const sr__place_tree *tree);

/* For each place whose `asks` is not 0 (NULL: all), the nearest place with another label (-1: there
 * is none) and its distance; ties go to the lower place. */
SR_MUST_CHECK sr_status sr__nearest_other(sr_context *ctx, const sr__place_tree *tree,
                                          const int32_t *label, const uint8_t *asks,
                                          int32_t *nearest, double *distance);
/* near[p] gets bit k set where a place of fold k, other than that of p, lies within `reach` of p.
 * Folds are 0 to 63; with reach 0 no bit is set. */
SR_MUST_CHECK sr_status sr__folds_within(sr_context *ctx, const sr__place_tree *tree,
                                         const int32_t *fold, double reach, uint64_t *near);
/* The distance from each place to the nearest one that trains for its fold: of another fold, and
 * without that fold in `near`. Infinity where there is none. Of every `stride` places that lie
 * beside each other one is asked; NaN for the others. */
SR_MUST_CHECK sr_status sr__distance_to_training(sr_context *ctx, const sr__place_tree *tree,
                                                 const int32_t *fold, const uint64_t *near,
                                                 int64_t stride, double *distance);
/* The distance from each of `count` other points (columns as those of the tree) to the nearest
 * place. */
SR_MUST_CHECK sr_status sr__distance_to_places(sr_context *ctx, const sr__place_tree *tree,
                                               const double *at, int64_t count, double *distance);

#endif
