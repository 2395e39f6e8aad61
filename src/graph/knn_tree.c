/* The k nearest neighbors of all points of a k-d tree, leaf after leaf, so that what one query
 * read is at hand for the next. In up to three dimensions the points of a leaf search together
 * (leaf_kernel.c); the others, and those that are not decided in this way, one by one. */
#include "kdtree.h"
#include "knn_list.h"
#include "leaf_kernel.h"

enum { MOST_POINTS = 32 /* of a leaf */ };

typedef struct tree_query {
  const sr__kdtree *tree;
  int64_t own; /* place */
  double point[SR__KDTREE_DIMENSIONS];
  sr__knn_list list;
} tree_query;

/* ---- distances ---------------------------------------------------------------------------- */

static inline double gap_outside(double x, double low, double high) {
  double gap = low - x > x - high ? low - x : x - high;
  return gap > 0.0 ? gap : 0.0;
}

/* Squared distances of the query to all boxes of a group. */
static inline void group_distances(const double *point, const double *group, int dimension,
                                   double *distance) {
  for (int i = 0; i < SR__KDTREE_GROUP; i++) distance[i] = 0.0;
  for (int j = 0; j < dimension; j++) {
    const double *low = group + j * SR__KDTREE_GROUP, *high = low + dimension * SR__KDTREE_GROUP;
    for (int i = 0; i < SR__KDTREE_GROUP; i++) {
      double gap = gap_outside(point[j], low[i], high[i]);
      distance[i] += gap * gap;
    }
  }
}

/* Squared distances of the query to the points of a leaf; the loop over the places of a leaf is
 * what the compiler turns into vectors. */
static inline void leaf_distances(const double *point, const double *block, int dimension,
                                  double *distance) {
  int most = sr__kdtree_leaf(dimension);
  for (int i = 0; i < most; i++) distance[i] = 0.0;
  for (int j = 0; j < dimension; j++) {
    const double *line = block + j * most;
    for (int i = 0; i < most; i++) distance[i] += (line[i] - point[j]) * (line[i] - point[j]);
  }
}

/* Bit i is set where distance i is at most the bound. */
static inline uint64_t within(const double *distance, int count, double bound) {
  uint64_t mask = 0;
  for (int i = 0; i < count; i++) mask |= (uint64_t)(distance[i] <= bound) << i;
  return mask;
}

/* ---- the walk of one query
 * ----------------------------------------------------------------------------- */

static inline void scan_leaf(tree_query *query, int64_t leaf, int dimension) {
  const sr__kdtree *tree = query->tree;
  int64_t begin = sr__kdtree_begin(tree, tree->levels, leaf);
  int64_t end = sr__kdtree_begin(tree, tree->levels, leaf + 1), own = query->own - begin;
  int most = sr__kdtree_leaf(dimension);
  uint64_t wanted = (UINT64_C(1) << (end - begin)) - 1;
  if (own >= 0 && own < most) wanted &= ~(UINT64_C(1) << own);
  double distance[MOST_POINTS];
  leaf_distances(query->point, tree->block + leaf * dimension * most, dimension, distance);
  wanted &= within(distance, most, sr__knn_list_worst(query->list));
  for (; wanted; wanted &= wanted - 1) {
    int i = __builtin_ctzll(wanted);
    sr__knn_list_offer(query->list, distance[i], (int32_t)(begin + i));
  }
}

/* A node whose points are all one, in the order of their rows: only the k rows before and the k
 * rows after the query's own can be among its neighbors. */
static void scan_clump(tree_query *query, double distance, int64_t begin, int64_t end) {
  const int32_t *row = query->tree->row;
  int64_t low = begin, high = end, k = query->list.k;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (row[middle] < query->list.own_row)
      low = middle + 1;
    else
      high = middle;
  }
  int64_t first = low - k > begin ? low - k : begin, last = low + k < end ? low + k : end;
  for (int64_t p = first; p < last; p++) sr__knn_list_offer(query->list, distance, (int32_t)p);
}

/* `member` is the place of the node's box in its group. */
static bool is_clump(const double *member, int dimension) {
  for (int j = 0; j < dimension; j++) {
    const double *low = member + j * SR__KDTREE_GROUP;
    if (low[0] != low[dimension * SR__KDTREE_GROUP]) return false;
  }
  return true;
}

/* Nodes that wait to be visited, the nearest of a group on top. Seven wait on each level that has
 * groups, and eight on the last. */
typedef struct waiting_node {
  double distance;
  int64_t index;
  int level;
} waiting_node;
enum { MOST_WAITING = 7 * 64 / SR__KDTREE_STEP + 8 };

/* Those nodes of the group of (level, index) that are near enough, but for one to be left out (-1 =
 * none). */
static inline uint64_t near_nodes(const tree_query *query, int level, int64_t index,
                                  int64_t left_out, double *distance, int dimension) {
  int64_t first = index & ~(int64_t)(SR__KDTREE_GROUP - 1), nodes = INT64_C(1) << level;
  group_distances(query->point, sr__kdtree_group(query->tree, level, index), dimension, distance);
  uint64_t near = within(distance, SR__KDTREE_GROUP, sr__knn_list_worst(query->list));
  if (nodes < SR__KDTREE_GROUP) near &= (UINT64_C(1) << nodes) - 1;
  if (left_out >= 0) near &= ~(UINT64_C(1) << (left_out - first));
  return near;
}

static inline int push_group(const tree_query *query, int level, int64_t index, int64_t left_out,
                             waiting_node *stack, int height, int dimension) {
  double distance[SR__KDTREE_GROUP];
  uint64_t near = near_nodes(query, level, index, left_out, distance, dimension);
  int64_t first = index & ~(int64_t)(SR__KDTREE_GROUP - 1);
  int bottom = height;
  for (; near; near &= near - 1, height++) {
    int i = __builtin_ctzll(near), at = height;
    for (; at > bottom && stack[at - 1].distance < distance[i]; at--) stack[at] = stack[at - 1];
    stack[at] = (waiting_node){distance[i], first + i, level};
  }
  return height;
}

static inline void scan_group(tree_query *query, int64_t index, int64_t left_out, int dimension) {
  double distance[SR__KDTREE_GROUP];
  uint64_t near = near_nodes(query, query->tree->levels, index, left_out, distance, dimension);
  int64_t first = index & ~(int64_t)(SR__KDTREE_GROUP - 1);
  for (; near; near &= near - 1) {
    int i = __builtin_ctzll(near);
    if (distance[i] <= sr__knn_list_worst(query->list)) scan_leaf(query, first + i, dimension);
  }
}

/* Visits the group of (level, index) but for `left_out`, and what lies below, nearer nodes first.
 */
static inline void visit(tree_query *query, int level, int64_t index, int64_t left_out,
                         int dimension) {
  const sr__kdtree *tree = query->tree;
  waiting_node stack[MOST_WAITING];
  if (level == tree->levels) {
    scan_group(query, index, left_out, dimension);
    return;
  }
  int height = push_group(query, level, index, left_out, stack, 0, dimension);
  while (height > 0) {
    waiting_node node = stack[--height];
    if (node.distance > sr__knn_list_worst(query->list)) continue;
    const double *group = sr__kdtree_group(tree, node.level, node.index);
    int below = node.level + SR__KDTREE_STEP;
    int64_t child = node.index * SR__KDTREE_GROUP;
    if (is_clump(group + node.index % SR__KDTREE_GROUP, dimension))
      scan_clump(query, node.distance, sr__kdtree_begin(tree, node.level, node.index),
                 sr__kdtree_begin(tree, node.level, node.index + 1));
    else if (below == tree->levels)
      scan_group(query, child, -1, dimension);
    else
      height = push_group(query, below, child, -1, stack, height, dimension);
  }
}

/* From the leaf upwards: the rest of its group, the rest of the group three levels up, and so on to
 * the top. */
static inline void climb(tree_query *query, int64_t leaf, int dimension) {
  int64_t node = leaf;
  sr__knn_list_clear(query->list);
  scan_leaf(query, leaf, dimension);
  for (int level = query->tree->levels; level > 0;
       level -= SR__KDTREE_STEP, node /= SR__KDTREE_GROUP)
    visit(query, level, node, node, dimension);
}

/* The dimension as a constant unrolls the inner loops. */
static void search_from(tree_query *query, int64_t leaf) {
  switch (query->tree->dimension) {
    case 1:
      climb(query, leaf, 1);
      break;
    case 2:
      climb(query, leaf, 2);
      break;
    case 3:
      climb(query, leaf, 3);
      break;
    case 4:
      climb(query, leaf, 4);
      break;
    case 5:
      climb(query, leaf, 5);
      break;
    default:
      climb(query, leaf, query->tree->dimension);
  }
}

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
  int most = sr__kdtree_leaf(tree->dimension);
  const double *block = tree->block + leaf * tree->dimension * most;
  int64_t begin = sr__kdtree_begin(tree, tree->levels, leaf), k = work->knn->k;
  int64_t end = sr__kdtree_begin(tree, tree->levels, leaf + 1);
  uint32_t undecided = UINT32_MAX;
  if (work->scratch)
    undecided = sr__leaf_kernel_now()->search(tree, work->scale, leaf, (int32_t)k,
                                              work->scratch + slot, work->knn->neighbor);
  for (int64_t place = begin; place < end; place++) {
    if (!(undecided >> (place - begin) & 1)) continue;
    tree_query query = {.tree = tree, .own = place};
    for (int j = 0; j < tree->dimension; j++) query.point[j] = block[j * most + place - begin];
    query.list = (sr__knn_list){(int32_t)k, work->distance + slot * k,
                                work->knn->neighbor + place * k, tree->row, tree->row[place]};
    search_from(&query, leaf);
  }
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
