/* The k nearest neighbors of all points of a k-d tree, leaf after leaf, so that what one query
 * read is at hand for the next. In up to three dimensions the points of a leaf search together
 * (leaf_kernel.c); the others, and those that are not decided in this way, one by one
 * (visit_kernel.c). */
#include <math.h>

#include "leaf_kernel.h"
#include "visit_kernel.h"

/* ---- all leaves --------------------------------------------------------------------------- */

typedef struct tree_work {
  const sr__kdtree *tree;
  sr__knn *knn;
  double *distance;         /* a slot: one list */
  sr__leaf_search *scratch; /* a slot: one; NULL where points search one by one */
  double scale;             /* see leaf_kernel.h */
} tree_work;

enum { LEAF_GRAIN = 256 };

static void search_leaf(const tree_work *work, int64_t leaf, int slot) {
  const sr__kdtree *tree = work->tree;
  int64_t begin = sr__kdtree_begin(tree, tree->levels, leaf), k = work->knn->k;
  int64_t end = sr__kdtree_begin(tree, tree->levels, leaf + 1);
  uint32_t open = (uint32_t)((UINT64_C(1) << (end - begin)) - 1);
  if (work->scratch)
    open = sr__leaf_kernel_now()->search(tree, work->scale, leaf, (int32_t)k, work->scratch + slot,
                                         work->knn->neighbor);
  sr__visit_kernel_now()->search(tree, leaf, open, (int32_t)k, work->distance + slot * k,
                                 work->knn->neighbor);
}

static sr_status search_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker;
  tree_work *work = data;
  int64_t leaves = INT64_C(1) << work->tree->levels, size = sr__chunk_size(leaves, LEAF_GRAIN);
  int64_t end = (chunk + 1) * size < leaves ? (chunk + 1) * size : leaves;
  for (int64_t leaf = chunk * size; leaf < end; leaf++) search_leaf(work, leaf, slot);
  return SR_OK;
}

/* The longest side of all points. */
static double widest_side(const sr__kdtree *tree) {
  int level = tree->levels % SR__KDTREE_STEP, dimension = tree->dimension;
  const double *group = sr__kdtree_group(tree, level, 0);
  double widest = 0.0;
  for (int j = 0; j < dimension; j++) {
    const double *low = group + j * SR__KDTREE_GROUP, *high = low + dimension * SR__KDTREE_GROUP;
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < SR__KDTREE_GROUP; i++) {
      least = fmin(least, low[i]);
      most = fmax(most, high[i]);
    }
    widest = fmax(widest, most - least);
  }
  return widest;
}

/* Points on one spot, or farther apart than a number can say, search one by one. */
static sr_status search_together(sr_context *ctx, tree_work *work) {
  sr_status status = SR_OK;
  double widest = widest_side(work->tree);
  if (work->tree->dimension > SR__LEAF_AXES || work->knn->k > SR__LEAF_K ||
      !(widest > 1e-290 && widest < 1e290))
    return SR_OK;
  work->scale = ldexp(1.0, -ilogb(widest));
  SR_NEW(ctx, work->scratch, sr_context_threads(ctx));
cleanup:
  return status;
}

sr_status sr__knn_tree(sr_context *ctx, const sr__points *points, int32_t k, sr__knn *knn) {
  sr_status status = SR_OK;
  sr__kdtree tree = {0};
  double *room = NULL;
  tree_work work = {.tree = &tree, .knn = knn};
  *knn = (sr__knn){.count = points->rows, .k = k, .recall = 1.0};
  if (k == 0) return SR_OK;
  int64_t words = k > 2 * (points->dimension + 1) ? k : 2 * (points->dimension + 1);
  SR_NEW(ctx, room, points->rows * words / 2 + 1);
  knn->neighbor = (int32_t *)room; /* the tree grows where the lists will stand */
  SR_TRY(sr__kdtree_build(ctx, points, room, &tree));
  SR_NEW(ctx, work.distance, (int64_t)sr_context_threads(ctx) * k);
  SR_TRY(search_together(ctx, &work));
  SR_TRY(sr__parallel_for(ctx, sr__chunk_count(INT64_C(1) << tree.levels, LEAF_GRAIN), search_chunk,
                          &work));
  knn->row = tree.row;
  tree.row = NULL;
  knn->spare = tree.block;
  knn->spare_bytes = (INT64_C(1) << tree.levels) * tree.dimension *
                     sr__kdtree_leaf(tree.dimension) * (int64_t)sizeof *tree.block;
  tree.block = NULL;
cleanup:
  sr__free(ctx, work.distance);
  sr__free(ctx, work.scratch);
  sr__kdtree_free(ctx, &tree);
  if (status != SR_OK) sr__knn_free(ctx, knn);
  return status;
}
