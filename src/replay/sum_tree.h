/* Weights with sums over groups of sixteen: draw an item by its weight, change a weight. Internal.
 */
#ifndef SR_REPLAY_SUM_TREE_H
#define SR_REPLAY_SUM_TREE_H

#include "core/core.h"

enum { SR__TREE_LEVELS_MAX = 16 };

/* Level 0 holds the weights, an entry of level l + 1 the sum of sixteen entries of level l, the
 * last level one entry. Sums are recomputed from their children at every change, so they do not
 * drift. */
typedef struct sr__sum_tree {
  int64_t items;
  int levels;
  double *level[SR__TREE_LEVELS_MAX];
  double *block;
} sr__sum_tree;

SR_MUST_CHECK sr_status sr__sum_tree_new(sr_context *ctx, int64_t items, sr__sum_tree *tree);
void sr__sum_tree_free(const sr_allocator *allocator, sr__sum_tree *tree);
/* weight >= 0 */
void sr__sum_tree_set(sr__sum_tree *tree, int64_t item, double weight);
/* The item that `at` in [0, total) falls on where the weights are laid end to end; never one of
 * weight 0 while the total is positive. */
int64_t sr__sum_tree_find(const sr__sum_tree *tree, double at);

static inline double sr__sum_tree_total(const sr__sum_tree *tree) {
  return tree->level[tree->levels - 1][0];
}
static inline double sr__sum_tree_weight(const sr__sum_tree *tree, int64_t item) {
  return tree->level[0][item];
}

#endif
