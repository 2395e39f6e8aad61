/* Building the k-d tree: exact medians along the widest side of a box around each node. */
#include "kdtree.h"

#include <math.h>

/* While it grows, a point is `dimension` coordinates and its row number (exact in a double), moved
 * as one piece, so that every level works on memory in order. */
enum { TOP_LEVELS = 6, FEW_LEAVES_LEVELS = 3, BOX = 2 * SR__KDTREE_DIMENSIONS };
typedef struct growth {
  sr__kdtree *tree;
  const sr__points *from;
  double *point;
  int stride;
  int level;                                /* of the nodes that are split now */
  double loose[(2 << TOP_LEVELS) - 1][BOX]; /* boxes around nodes of the top, level after level */
} growth;

/* ---- selection ---------------------------------------------------------------------------- */

static inline void swap_points(double *a, double *b, int stride) {
  for (int s = 0; s < stride; s++) {
    double kept = a[s];
    a[s] = b[s];
    b[s] = kept;
  }
}

static inline bool goes_front(const double *point, int axis, double pivot, bool equal_too) {
  return equal_too ? point[axis] <= pivot : point[axis] < pivot;
}

/* Every step swaps and only the front's end depends on the data: no branch to mispredict. */
static inline int64_t partition_few(double *point, int64_t count, int stride, int axis,
                                    double pivot, bool equal_too) {
  int64_t front = 0;
  for (int64_t i = 0; i < count; i++) {
    bool here = goes_front(point + i * stride, axis, pivot, equal_too);
    swap_points(point + i * stride, point + front * stride, stride);
    front += here;
  }
  return front;
}

/* Moves the points with coordinate below the pivot (or equal to it, where asked) to the front and
 * gives their number. Blocks from both ends note which of their points stand on the wrong side,
 * without a branch, and these change places. */
static inline int64_t partition(double *point, int64_t count, int stride, int axis, double pivot,
                                bool equal_too) {
  enum { BLOCK = 32 };
  uint8_t low[BLOCK + 1], high[BLOCK + 1];
  int lows = 0, highs = 0, low_done = 0, high_done = 0;
  int64_t begin = 0, end = count;
  while (end - begin > 2 * BLOCK) {
    double *last = point + (end - 1) * stride;
    if (low_done == lows) {
      lows = low_done = 0;
      for (int k = 0; k < BLOCK; k++) {
        low[lows] = (uint8_t)k;
        lows += !goes_front(point + (begin + k) * stride, axis, pivot, equal_too);
      }
    }
    if (high_done == highs) {
      highs = high_done = 0;
      for (int k = 0; k < BLOCK; k++) {
        high[highs] = (uint8_t)k;
        highs += goes_front(last - k * stride, axis, pivot, equal_too);
      }
    }
    while (low_done < lows && high_done < highs)
      swap_points(point + (begin + low[low_done++]) * stride, last - high[high_done++] * stride,
                  stride);
    if (low_done == lows) begin += BLOCK;
    if (high_done == highs) end -= BLOCK;
  }
  return begin + partition_few(point + begin * stride, end - begin, stride, axis, pivot, equal_too);
}

/* The sample of that rank. Each is compared with all: no branch to mispredict. */
static inline double value_of_rank(const double *sample, int size, int64_t wanted) {
  double value = sample[0];
  for (int i = 0; i < size; i++) {
    int64_t before = 0;
    for (int j = 0; j < size; j++)
      before += (sample[j] < sample[i]) | ((sample[j] == sample[i]) & (j < i));
    value = before == wanted ? sample[i] : value;
  }
  return value;
}

/* The value at the wanted rank of a sample, whose places look random, so that no natural order of
 * the data is a bad case. */
static double choose_pivot(const double *point, int64_t count, int stride, int axis,
                           int64_t target) {
  enum { LARGE = 65, MIDDLE = 17, SMALL = 7 };
  int size = count > 4096 ? LARGE : count > 256 ? MIDDLE : SMALL;
  uint64_t state = (uint64_t)count;
  double sample[LARGE];
  for (int s = 0; s < size; s++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    int64_t place = (int64_t)(((state >> 32) * (uint64_t)count) >> 32);
    sample[s] = point[place * stride + axis];
  }
  int64_t wanted = target * size / count;
  return size == SMALL    ? value_of_rank(sample, SMALL, wanted)
         : size == MIDDLE ? value_of_rank(sample, MIDDLE, wanted)
                          : value_of_rank(sample, LARGE, wanted);
}

/* Puts the `target` smallest along the axis first; false where all are equal along it, and then
 * they stay as they are. */
static inline bool select_points(double *point, int64_t count, int stride, int axis,
                                 int64_t target) {
  int64_t whole = count;
  while (count > 1) {
    double pivot = choose_pivot(point, count, stride, axis, target);
    int64_t below = partition(point, count, stride, axis, pivot, false);
    if (target <= below) {
      if (target == below) return true;
      count = below;
      continue;
    }
    point += below * stride;
    count -= below;
    target -= below;
    if (below > 0) continue;
    int64_t equal = partition(point, count, stride, axis, pivot, true);
    if (target <= equal) return equal < whole;
    point += equal * stride;
    count -= equal;
    target -= equal;
  }
  return true;
}

/* With the stride known at compile time a swap is a few vector moves. */
static bool select_along(double *point, int64_t count, int stride, int axis, int64_t target) {
  switch (stride) {
    case 3:
      return select_points(point, count, 3, axis, target);
    case 4:
      return select_points(point, count, 4, axis, target);
    default:
      return select_points(point, count, stride, axis, target);
  }
}

/* ---- nodes -------------------------------------------------------------------------------- */

static void measure_box(const double *point, int64_t count, int stride, double *box) {
  int dimension = stride - 1;
  for (int j = 0; j < dimension; j++) {
    box[j] = INFINITY;
    box[dimension + j] = -INFINITY;
  }
  for (int64_t i = 0; i < count; i++) {
    for (int j = 0; j < dimension; j++) {
      double x = point[i * stride + j];
      box[j] = x < box[j] ? x : box[j];
      box[dimension + j] = x > box[dimension + j] ? x : box[dimension + j];
    }
  }
}

/* The row number where the box is one point: the search relies on this order of equal points. */
static int widest_axis(const double *box, int dimension) {
  int widest = 0;
  for (int j = 1; j < dimension; j++) {
    if (box[dimension + j] - box[j] > box[dimension + widest] - box[widest]) widest = j;
  }
  return box[widest] == box[dimension + widest] ? dimension : widest;
}

static void sort_by_row(double *point, int64_t count, int stride) {
  for (int64_t i = 1; i < count; i++) {
    for (int64_t j = i; j > 0 && point[j * stride - 1] > point[(j + 1) * stride - 1]; j--)
      swap_points(point + (j - 1) * stride, point + j * stride, stride);
  }
}

/* Copies a leaf's points into its block and its rows into their places. */
static void fill_leaf(growth *grow, int64_t leaf, const double *point, int64_t begin,
                      int64_t count) {
  sr__kdtree *tree = grow->tree;
  int most = sr__kdtree_leaf(tree->dimension);
  double *block = tree->block + leaf * tree->dimension * most;
  for (int j = 0; j < tree->dimension; j++) {
    for (int64_t i = 0; i < most; i++)
      block[j * most + i] = i < count ? point[i * grow->stride + j] : INFINITY;
  }
  for (int64_t i = 0; i < count; i++)
    tree->row[begin + i] = (int32_t)point[i * grow->stride + tree->dimension];
}

static void keep_box(sr__kdtree *tree, int level, int64_t index, const double *box) {
  double *group = sr__kdtree_group(tree, level, index) + index % SR__KDTREE_GROUP;
  for (int j = 0; j < 2 * tree->dimension; j++) group[j * SR__KDTREE_GROUP] = box[j];
}

static void end_in_leaf(growth *grow, int64_t index) {
  sr__kdtree *tree = grow->tree;
  int64_t begin = sr__kdtree_begin(tree, tree->levels, index);
  int64_t count = sr__kdtree_begin(tree, tree->levels, index + 1) - begin;
  double *point = grow->point + begin * grow->stride, box[BOX];
  measure_box(point, count, grow->stride, box);
  keep_box(tree, tree->levels, index, box);
  if (widest_axis(box, tree->dimension) == tree->dimension) sort_by_row(point, count, grow->stride);
  fill_leaf(grow, index, point, begin, count);
}

/* Splits along the widest side of a box around the points, which is cut in two for the children.
 * Only near the leaves, where sides matter most, and where all points are equal along the side, is
 * the box measured. */
static void split_node(growth *grow, int level, int64_t index, const double *loose, double *lower,
                       double *upper) {
  sr__kdtree *tree = grow->tree;
  int dimension = tree->dimension, stride = grow->stride, axis = dimension;
  int64_t begin = sr__kdtree_begin(tree, level, index);
  int64_t count = sr__kdtree_begin(tree, level, index + 1) - begin;
  int64_t half = sr__kdtree_begin(tree, level + 1, 2 * index + 1) - begin;
  double *point = grow->point + begin * stride, box[BOX];
  bool done = false;
  memcpy(box, loose, sizeof box);
  if (tree->levels - level > FEW_LEAVES_LEVELS) axis = widest_axis(box, dimension);
  if (axis < dimension) done = select_along(point, count, stride, axis, half);
  if (!done) {
    measure_box(point, count, stride, box);
    axis = widest_axis(box, dimension);
    (void)select_along(point, count, stride, axis, half);
  }
  memcpy(lower, box, sizeof box);
  memcpy(upper, box, sizeof box);
  if (axis == dimension) return;
  lower[dimension + axis] = upper[axis] = point[half * stride + axis];
}

static void split_subtree(growth *grow, int level, int64_t index, const double *loose) {
  double lower[BOX], upper[BOX];
  if (level == grow->tree->levels) {
    end_in_leaf(grow, index);
    return;
  }
  split_node(grow, level, index, loose, lower, upper);
  split_subtree(grow, level + 1, 2 * index, lower);
  split_subtree(grow, level + 1, 2 * index + 1, upper);
}

/* From the leaves upward, the box of a node is that of the group below it. */
static void join_boxes(sr__kdtree *tree) {
  int dimension = tree->dimension;
  for (int level = tree->levels - SR__KDTREE_STEP; level >= 0; level -= SR__KDTREE_STEP) {
    for (int64_t node = 0; node < INT64_C(1) << level; node++) {
      const double *group =
          sr__kdtree_group(tree, level + SR__KDTREE_STEP, node * SR__KDTREE_GROUP);
      double box[BOX];
      for (int j = 0; j < dimension; j++) {
        const double *low = group + j * SR__KDTREE_GROUP;
        const double *high = low + dimension * SR__KDTREE_GROUP;
        box[j] = low[0];
        box[dimension + j] = high[0];
        for (int i = 1; i < SR__KDTREE_GROUP; i++) {
          box[j] = low[i] < box[j] ? low[i] : box[j];
          box[dimension + j] = high[i] > box[dimension + j] ? high[i] : box[dimension + j];
        }
      }
      keep_box(tree, level, node, box);
    }
  }
}

/* ---- the whole ---------------------------------------------------------------------------- */

static sr_status gather_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  growth *grow = data;
  const sr__points *from = grow->from;
  int dimension = from->dimension;
  sr__span span = sr__graph_chunk(grow->tree->count, chunk);
  for (int64_t i = span.begin; i < span.end; i++) {
    double *point = grow->point + i * grow->stride;
    for (int j = 0; j < dimension; j++)
      point[j] =
          from->column ? from->column[j * from->rows + i] : (double)from->x[i * dimension + j];
    point[dimension] = (double)i;
  }
  return SR_OK;
}

static sr_status split_item(sr_context *worker, void *data, int64_t item, int slot) {
  (void)worker, (void)slot;
  growth *grow = data;
  int64_t place = (INT64_C(1) << grow->level) - 1 + item, child = 2 * place + 1;
  split_node(grow, grow->level, item, grow->loose[place], grow->loose[child],
             grow->loose[child + 1]);
  return SR_OK;
}

static sr_status subtree_item(sr_context *worker, void *data, int64_t item, int slot) {
  (void)worker, (void)slot;
  growth *grow = data;
  split_subtree(grow, grow->level, item, grow->loose[(INT64_C(1) << grow->level) - 1 + item]);
  return SR_OK;
}

static int levels_for(int64_t count, int dimension) {
  int levels = 0;
  while (((count - 1) >> levels) + 1 > sr__kdtree_leaf(dimension)) levels++;
  return levels;
}

/* Numbers the groups and marks places in them without a node. */
static sr_status new_groups(sr_context *ctx, sr__kdtree *tree) {
  sr_status status = SR_OK;
  int64_t groups = 0, lines = tree->dimension * SR__KDTREE_GROUP;
  for (int level = tree->levels; level >= 0; level -= SR__KDTREE_STEP) {
    int64_t nodes = INT64_C(1) << level;
    tree->first_group[level] = groups;
    groups += (nodes + SR__KDTREE_GROUP - 1) / SR__KDTREE_GROUP;
  }
  SR_NEW(ctx, tree->group, groups * 2 * lines);
  double *top = tree->group + (groups - 1) * 2 * lines;
  for (int64_t i = 0; i < lines; i++) {
    top[i] = INFINITY;
    top[lines + i] = -INFINITY;
  }
cleanup:
  return status;
}

/* Level by level at the top, where nodes are few, then whole subtrees. */
sr_status sr__kdtree_build(sr_context *ctx, const sr__points *points, double *room,
                           sr__kdtree *tree) {
  sr_status status = SR_OK;
  int64_t rows = points->rows;
  int32_t dimension = points->dimension;
  *tree =
      (sr__kdtree){.count = rows, .dimension = dimension, .levels = levels_for(rows, dimension)};
  growth grow = {.tree = tree, .from = points, .point = room, .stride = dimension + 1};
  int64_t leaves = INT64_C(1) << tree->levels;
  SR_NEW(ctx, tree->row, rows);
  SR_NEW(ctx, tree->block, leaves * dimension * sr__kdtree_leaf(dimension));
  SR_TRY(new_groups(ctx, tree));
  SR_TRY(sr__parallel_for(ctx, sr__graph_chunks(rows), gather_chunk, &grow));
  measure_box(grow.point, rows, grow.stride, grow.loose[0]);
  int top = tree->levels < TOP_LEVELS ? tree->levels : TOP_LEVELS;
  for (grow.level = 0; grow.level < top; grow.level++)
    SR_TRY(sr__parallel_for(ctx, INT64_C(1) << grow.level, split_item, &grow));
  SR_TRY(sr__parallel_for(ctx, INT64_C(1) << top, subtree_item, &grow));
  join_boxes(tree);
cleanup:
  if (status != SR_OK) sr__kdtree_free(ctx, tree);
  return status;
}

void sr__kdtree_free(sr_context *ctx, sr__kdtree *tree) {
  sr__free(ctx, tree->row);
  sr__free(ctx, tree->block);
  sr__free(ctx, tree->group);
  *tree = (sr__kdtree){0};
}
