#include "sum_tree.h"

enum { CHILDREN = 16 };

sr_status sr__sum_tree_new(sr_context *ctx, int64_t items, sr__sum_tree *tree) {
  sr_status status = SR_OK;
  int64_t size[SR__TREE_LEVELS_MAX], total = 0;
  memset(tree, 0, sizeof *tree);
  tree->items = items;
  /* Every level is filled up to whole groups of sixteen zeros, so that a sum needs no count. */
  for (int64_t count = items;; count = (count + CHILDREN - 1) / CHILDREN) {
    size[tree->levels] = (count + CHILDREN - 1) / CHILDREN * CHILDREN;
    total += size[tree->levels++];
    if (count <= 1) break;
  }
  SR_NEW_ZERO(ctx, tree->block, total);
  double *at = tree->block;
  for (int l = 0; l < tree->levels; at += size[l++]) tree->level[l] = at;
cleanup:
  return status;
}

void sr__sum_tree_free(const sr_allocator *allocator, sr__sum_tree *tree) {
  sr__release(allocator, tree->block);
  memset(tree, 0, sizeof *tree);
}

void sr__sum_tree_set(sr__sum_tree *tree, int64_t item, double weight) {
  tree->level[0][item] = weight;
  for (int l = 1; l < tree->levels; l++) {
    item /= CHILDREN;
    const double *child = tree->level[l - 1] + item * CHILDREN;
    double quarter[4] = {0};
    for (int k = 0; k < CHILDREN; k++) quarter[k % 4] += child[k];
    tree->level[l][item] = (quarter[0] + quarter[1]) + (quarter[2] + quarter[3]);
  }
}

int64_t sr__sum_tree_find(const sr__sum_tree *tree, double at) {
  int64_t item = 0;
  for (int l = tree->levels - 2; l >= 0; l--) {
    const double *child = tree->level[l] + item * CHILDREN;
    int k = 0,
        last =
            0; /* last: the last child of positive weight, where rounding would lead past the end */
    for (; k < CHILDREN; k++) {
      if (child[k] <= 0) continue;
      last = k;
      if (at < child[k]) break;
      at -= child[k];
    }
    if (k == CHILDREN) {
      k = last;
      at = child[k]; /* and below it the last again */
    }
    item = item * CHILDREN + k;
  }
  return item;
}
