/* A point goes from its leaf upwards and looks into every box that is within the k-th distance so
 * far. All is measured in double precision, in the same order at every level. */
#include "visit_kernel.h"

#include "core/vectors.h"
#include "knn_list.h"

enum { MOST_POINTS = 32 /* of a leaf */ };

typedef struct tree_query {
  const sr__kdtree *tree;
  int64_t own; /* place */
  double point[SR__KDTREE_DIMENSIONS];
  sr__knn_list list;
} tree_query;

/* ---- distances ---------------------------------------------------------------------------- */

SR__INLINE double gap_outside(double x, double low, double high) {
  double gap = low - x > x - high ? low - x : x - high;
  return gap > 0.0 ? gap : 0.0;
}

/* Squared distances of the query to all boxes of a group. */
SR__INLINE void group_distances(const double *point, const double *group, int dimension,
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
SR__INLINE void leaf_distances(const double *point, const double *block, int dimension,
                               double *distance) {
  int most = sr__kdtree_leaf(dimension);
  for (int i = 0; i < most; i++) distance[i] = 0.0;
  for (int j = 0; j < dimension; j++) {
    const double *line = block + j * most;
    for (int i = 0; i < most; i++) distance[i] += (line[i] - point[j]) * (line[i] - point[j]);
  }
}

/* Bit i is set where distance i is at most the bound. */
SR__INLINE uint64_t within(const double *distance, int count, double bound) {
  uint64_t mask = 0;
  for (int i = 0; i < count; i++) mask |= (uint64_t)(distance[i] <= bound) << i;
  return mask;
}

/* ---- the walk of one query ----------------------------------------------------------------- */

SR__INLINE void scan_leaf(tree_query *query, int64_t leaf, int dimension) {
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
SR__INLINE uint64_t near_nodes(const tree_query *query, int level, int64_t index, int64_t left_out,
                               double *distance, int dimension) {
  int64_t first = index & ~(int64_t)(SR__KDTREE_GROUP - 1), nodes = INT64_C(1) << level;
  group_distances(query->point, sr__kdtree_group(query->tree, level, index), dimension, distance);
  uint64_t near = within(distance, SR__KDTREE_GROUP, sr__knn_list_worst(query->list));
  if (nodes < SR__KDTREE_GROUP) near &= (UINT64_C(1) << nodes) - 1;
  if (left_out >= 0) near &= ~(UINT64_C(1) << (left_out - first));
  return near;
}

SR__INLINE int push_group(const tree_query *query, int level, int64_t index, int64_t left_out,
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

SR__INLINE void scan_group(tree_query *query, int64_t index, int64_t left_out, int dimension) {
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
SR__INLINE void visit(tree_query *query, int level, int64_t index, int64_t left_out,
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
SR__INLINE void climb(tree_query *query, int64_t leaf, int dimension) {
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

static void search(const sr__kdtree *tree, int64_t leaf, uint32_t open, int32_t k, double *distance,
                   int32_t *neighbor) {
  int most = sr__kdtree_leaf(tree->dimension);
  const double *block = tree->block + leaf * tree->dimension * most;
  int64_t begin = sr__kdtree_begin(tree, tree->levels, leaf);
  for (; open; open &= open - 1) {
    int i = __builtin_ctz(open);
    int64_t place = begin + i;
    tree_query query = {.tree = tree, .own = place};
    for (int j = 0; j < tree->dimension; j++) query.point[j] = block[j * most + i];
    query.list = (sr__knn_list){k, distance, neighbor + place * k, tree->row, tree->row[place]};
    search_from(&query, leaf);
  }
}

const sr__visit_kernel SR__KERNEL(sr__visit_kernel) = {search};
