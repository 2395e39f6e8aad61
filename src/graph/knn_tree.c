/* The k nearest neighbours of all points of a k-d tree, a leaf of queries at a time. */
#include "kdtree.h"
#include "knn_list.h"

/* The queries are the points of one leaf. They share the walk through the tree; each keeps its own
 * k best, nearest first. */
typedef struct leaf_queries {
  const sr__kdtree *tree;
  int32_t k;
  int64_t begin;
  int first, last;     /* those of the leaf's points that search now */
  const double *block; /* coordinates of the queries */
  const double *box;
  double point[2 * SR__KDTREE_DIMENSIONS]; /* the box of a query that searches alone */
  double bound;     /* the largest k-th distance: what lies farther helps nobody */
  double *distance; /* SR__KDTREE_LEAF lists of k squared distances */
  int32_t *place;   /* SR__KDTREE_LEAF lists of k places */
} leaf_queries;

/* ---- lists -------------------------------------------------------------------------------- */

static inline sr__knn_list list_of(const leaf_queries *queries, int q) {
  int64_t first = (int64_t)q * queries->k;
  return (sr__knn_list){queries->k, queries->distance + first, queries->place + first,
                        queries->tree->row, queries->tree->row[queries->begin + q]};
}

static double worst_of(const leaf_queries *queries, int q) {
  return queries->distance[(int64_t)(q + 1) * queries->k - 1];
}

static void update_bound(leaf_queries *queries) {
  double bound = 0.0;
  for (int q = queries->first; q < queries->last; q++) {
    double worst = worst_of(queries, q);
    bound = worst > bound ? worst : bound;
  }
  queries->bound = bound;
}

/* ---- distances ---------------------------------------------------------------------------- */

static inline double gap_between(double low, double high, double other_low, double other_high) {
  double gap = other_low - high > low - other_high ? other_low - high : low - other_high;
  return gap > 0.0 ? gap : 0.0;
}

static inline double box_distance(const double *a, const double *b, int dimension) {
  double sum = 0.0;
  for (int j = 0; j < dimension; j++) {
    double gap = gap_between(a[j], a[dimension + j], b[j], b[dimension + j]);
    sum += gap * gap;
  }
  return sum;
}

static inline double point_box_distance(const double *block, int q, const double *box,
                                        int dimension) {
  double sum = 0.0;
  for (int j = 0; j < dimension; j++) {
    double x = block[j * SR__KDTREE_LEAF + q];
    double gap = gap_between(x, x, box[j], box[dimension + j]);
    sum += gap * gap;
  }
  return sum;
}

/* Squared distances of query q to the points of a leaf; the loop over a leaf's eight places is
 * what the compiler turns into vectors. */
static inline void leaf_distances(const double *queries, int q, const double *block, int dimension,
                                  double *distance) {
  for (int i = 0; i < SR__KDTREE_LEAF; i++) distance[i] = 0.0;
  for (int j = 0; j < dimension; j++) {
    double x = queries[j * SR__KDTREE_LEAF + q];
    const double *line = block + j * SR__KDTREE_LEAF;
    for (int i = 0; i < SR__KDTREE_LEAF; i++) distance[i] += (line[i] - x) * (line[i] - x);
  }
}

/* ---- the walk ----------------------------------------------------------------------------- */

static inline void scan_leaf(leaf_queries *queries, int64_t leaf, int dimension) {
  const sr__kdtree *tree = queries->tree;
  const double *block = tree->block + leaf * dimension * SR__KDTREE_LEAF;
  const double *box = tree->box + ((INT64_C(1) << tree->levels) + leaf) * 2 * dimension;
  int64_t begin = sr__kdtree_begin(tree, tree->levels, leaf);
  int count = (int)(sr__kdtree_begin(tree, tree->levels, leaf + 1) - begin);
  bool own = begin == queries->begin;
  for (int q = queries->first; q < queries->last; q++) {
    double worst = worst_of(queries, q), distance[SR__KDTREE_LEAF];
    if (!own && point_box_distance(queries->block, q, box, dimension) > worst) continue;
    leaf_distances(queries->block, q, block, dimension, distance);
    for (int i = 0; i < count; i++) {
      if (distance[i] <= worst && !(own && i == q)) {
        sr__knn_list_offer(list_of(queries, q), distance[i], (int32_t)(begin + i));
        worst = worst_of(queries, q);
      }
    }
  }
  update_bound(queries);
}

/* A node whose points are all one, in the order of their rows: only the k rows before and the k
 * rows after a query's own can be among its neighbours. */
static void scan_clump(leaf_queries *queries, int64_t begin, int64_t end, const double *box,
                       int dimension) {
  const int32_t *row = queries->tree->row;
  for (int q = queries->first; q < queries->last; q++) {
    double distance = point_box_distance(queries->block, q, box, dimension);
    if (distance > worst_of(queries, q)) continue;
    int64_t low = begin, high = end;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (row[middle] < row[queries->begin + q])
        low = middle + 1;
      else
        high = middle;
    }
    sr__knn_list list = list_of(queries, q);
    int64_t first = low - queries->k > begin ? low - queries->k : begin;
    int64_t last = low + queries->k < end ? low + queries->k : end;
    for (int64_t p = first; p < last; p++) sr__knn_list_offer(list, distance, (int32_t)p);
  }
  update_bound(queries);
}

static bool is_clump(const double *box, int dimension) {
  for (int j = 0; j < dimension; j++) {
    if (box[j] != box[dimension + j]) return false;
  }
  return true;
}

/* Visits what lies below a node, nearer children first. */
static inline void visit(leaf_queries *queries, int64_t node, int level, int dimension) {
  const sr__kdtree *tree = queries->tree;
  struct {
    int64_t node;
    double distance;
    int level;
  } stack[64];
  int height = 0;
  stack[height].node = node;
  stack[height].distance = box_distance(queries->box, tree->box + node * 2 * dimension, dimension);
  stack[height++].level = level;
  while (height > 0) {
    node = stack[--height].node;
    level = stack[height].level;
    if (stack[height].distance > queries->bound) continue;
    int64_t index = node - (INT64_C(1) << level);
    const double *box = tree->box + node * 2 * dimension;
    if (level == tree->levels) {
      scan_leaf(queries, index, dimension);
      continue;
    }
    if (is_clump(box, dimension)) {
      scan_clump(queries, sr__kdtree_begin(tree, level, index),
                 sr__kdtree_begin(tree, level, index + 1), box, dimension);
      continue;
    }
    const double *left = tree->box + 2 * node * 2 * dimension;
    double to_left = box_distance(queries->box, left, dimension);
    double to_right = box_distance(queries->box, left + 2 * dimension, dimension);
    bool right_first = to_right < to_left;
    stack[height].node = 2 * node + !right_first;
    stack[height].distance = right_first ? to_left : to_right;
    stack[height++].level = level + 1;
    stack[height].node = 2 * node + right_first;
    stack[height].distance = right_first ? to_right : to_left;
    stack[height++].level = level + 1;
  }
}

/* From the leaf upwards: its sibling, its parent's sibling, and so on to the root. */
static inline void climb(leaf_queries *queries, int64_t leaf, int dimension) {
  const sr__kdtree *tree = queries->tree;
  int64_t node = (INT64_C(1) << tree->levels) + leaf;
  for (int q = queries->first; q < queries->last; q++) sr__knn_list_clear(list_of(queries, q));
  scan_leaf(queries, leaf, dimension);
  for (int level = tree->levels; level > 0; level--, node >>= 1)
    visit(queries, node ^ 1, level, dimension);
}

/* In few dimensions the points of a leaf see nearly the same leaves and share a walk; with
 * more a leaf's box is wide, and each point does better alone. */
static inline void search_from(leaf_queries *queries, int64_t leaf, int dimension) {
  enum { SHARED_DIMENSIONS = 3 };
  const sr__kdtree *tree = queries->tree;
  double *point = queries->point;
  queries->begin = sr__kdtree_begin(tree, tree->levels, leaf);
  queries->block = tree->block + leaf * dimension * SR__KDTREE_LEAF;
  queries->box = tree->box + ((INT64_C(1) << tree->levels) + leaf) * 2 * dimension;
  int count = (int)(sr__kdtree_begin(tree, tree->levels, leaf + 1) - queries->begin);
  queries->first = 0;
  queries->last = count;
  if (dimension <= SHARED_DIMENSIONS) {
    climb(queries, leaf, dimension);
    return;
  }
  queries->box = point;
  for (int q = 0; q < count; q++) {
    queries->first = q;
    queries->last = q + 1;
    for (int j = 0; j < dimension; j++)
      point[j] = point[dimension + j] = queries->block[j * SR__KDTREE_LEAF + q];
    climb(queries, leaf, dimension);
  }
}

/* The dimension as a constant unrolls the inner loops. */
static void search_leaf(leaf_queries *queries, int64_t leaf) {
  switch (queries->tree->dimension) {
    case 1:
      search_from(queries, leaf, 1);
      break;
    case 2:
      search_from(queries, leaf, 2);
      break;
    case 3:
      search_from(queries, leaf, 3);
      break;
    case 4:
      search_from(queries, leaf, 4);
      break;
    case 5:
      search_from(queries, leaf, 5);
      break;
    default:
      search_from(queries, leaf, queries->tree->dimension);
  }
}

/* ---- all leaves --------------------------------------------------------------------------- */

typedef struct tree_work {
  const sr__kdtree *tree;
  sr__knn *knn;
  double *distance; /* a slot: SR__KDTREE_LEAF lists */
} tree_work;

enum { LEAF_GRAIN = 1024 };

static sr_status search_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker;
  tree_work *work = data;
  int64_t leaves = INT64_C(1) << work->tree->levels;
  int64_t size = sr__chunk_size(leaves, LEAF_GRAIN), k = work->knn->k;
  int64_t end = (chunk + 1) * size < leaves ? (chunk + 1) * size : leaves;
  leaf_queries queries = {.tree = work->tree, .k = (int32_t)k};
  queries.distance = work->distance + slot * k * SR__KDTREE_LEAF;
  for (int64_t leaf = chunk * size; leaf < end; leaf++) {
    queries.place =
        work->knn->neighbor + sr__kdtree_begin(work->tree, work->tree->levels, leaf) * k;
    search_leaf(&queries, leaf);
  }
  return SR_OK;
}

sr_status sr__knn_tree(sr_context *ctx, const double *const *column, int64_t rows,
                       int32_t dimension, int32_t k, sr__knn *knn) {
  sr_status status = SR_OK;
  sr__kdtree tree = {0};
  tree_work work = {.tree = &tree, .knn = knn};
  *knn = (sr__knn){.count = rows, .k = k, .recall = 1.0};
  if (k == 0) return SR_OK;
  SR_TRY(sr__kdtree_build(ctx, column, rows, dimension, &tree));
  SR_NEW(ctx, knn->neighbor, rows * k);
  SR_NEW(ctx, work.distance, (int64_t)sr_context_threads(ctx) * k * SR__KDTREE_LEAF);
  SR_TRY(sr__parallel_for(ctx, sr__chunk_count(INT64_C(1) << tree.levels, LEAF_GRAIN), search_chunk,
                          &work));
  knn->row = tree.row;
  tree.row = NULL;
cleanup:
  sr__free(ctx, work.distance);
  sr__kdtree_free(ctx, &tree);
  if (status != SR_OK) sr__knn_free(ctx, knn);
  return status;
}
