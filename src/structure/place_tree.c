#include "place_tree.h"

#include <math.h>

enum { LEAF = 12, GRAIN = 2048 };

static int64_t begin_of(const sr__place_tree *tree, int level, int64_t index) {
  return (int64_t)(((__int128)index * tree->count) >> level);
}

int64_t sr__place_tree_nodes(const sr__place_tree *tree) {
  return (INT64_C(2) << tree->levels) - 1;
}

static double *box_of(const sr__place_tree *tree, int64_t node) {
  return tree->box + node * 2 * tree->dimension;
}

/* ---- building ----------------------------------------------------------------------------- */

static void fit_box(sr__place_tree *tree, int64_t node, int64_t begin, int64_t end) {
  double *low = box_of(tree, node), *high = low + tree->dimension;
  for (int32_t j = 0; j < tree->dimension; j++) {
    const double *x = tree->at + j * tree->count;
    low[j] = INFINITY;
    high[j] = -INFINITY;
    for (int64_t i = begin; i < end; i++) {
      double value = x[tree->order[i]];
      if (value < low[j]) low[j] = value;
      if (value > high[j]) high[j] = value;
    }
  }
}

static bool comes_before(const double *x, int32_t a, int32_t b) {
  return x[a] != x[b] ? x[a] < x[b] : a < b;
}

/* Puts the place of rank `wanted` by x where it belongs, smaller ones before it. */
static void select_rank(int32_t *order, int64_t low, int64_t high, int64_t wanted,
                        const double *x) {
  while (high - low > 1) {
    int32_t a = order[low], b = order[low + (high - low) / 2], c = order[high - 1];
    int32_t pivot = comes_before(x, a, b) ? (comes_before(x, b, c)   ? b
                                             : comes_before(x, a, c) ? c
                                                                     : a)
                                          : (comes_before(x, a, c)   ? a
                                             : comes_before(x, b, c) ? c
                                                                     : b);
    int64_t i = low, j = high - 1;
    while (i <= j) {
      while (comes_before(x, order[i], pivot)) i++;
      while (comes_before(x, pivot, order[j])) j--;
      if (i > j) break;
      int32_t swap = order[i];
      order[i++] = order[j];
      order[j--] = swap;
    }
    if (wanted <= j)
      high = j + 1;
    else if (wanted >= i)
      low = i;
    else
      return;
  }
}

static void halve(sr__place_tree *tree, int level, int64_t index) {
  int64_t node = (INT64_C(1) << level) - 1 + index;
  int64_t begin = begin_of(tree, level, index), end = begin_of(tree, level, index + 1);
  fit_box(tree, node, begin, end);
  if (level == tree->levels) return;
  const double *low = box_of(tree, node), *high = low + tree->dimension;
  int32_t axis = 0;
  for (int32_t j = 1; j < tree->dimension; j++)
    if (high[j] - low[j] > high[axis] - low[axis]) axis = j;
  int64_t middle = begin_of(tree, level + 1, 2 * index + 1);
  if (end - begin > 1 && middle < end)
    select_rank(tree->order, begin, end, middle, tree->at + axis * tree->count);
}

typedef struct halve_job {
  sr__place_tree *tree;
  int level;
} halve_job;

static sr_status halve_node(sr_context *ctx, void *data, int64_t index, int slot) {
  (void)ctx, (void)slot;
  const halve_job *job = data;
  halve(job->tree, job->level, index);
  return SR_OK;
}

sr_status sr__place_tree_build(sr_context *ctx, const double *at, int64_t count, int32_t dimension,
                               sr__place_tree *tree) {
  sr_status status = SR_OK;
  *tree = (sr__place_tree){.count = count, .dimension = dimension, .at = at};
  while (count >> tree->levels > LEAF) tree->levels++;
  SR_NEW(ctx, tree->order, count);
  SR_NEW(ctx, tree->box, sr__place_tree_nodes(tree) * 2 * dimension);
  for (int64_t i = 0; i < count; i++) tree->order[i] = (int32_t)i;
  for (int level = 0; level <= tree->levels; level++) {
    halve_job job = {tree, level};
    SR_TRY(sr__parallel_for(ctx, INT64_C(1) << level, halve_node, &job));
  }
cleanup:
  return status;
}

void sr__place_tree_free(const sr_allocator *allocator, sr__place_tree *tree) {
  sr__release(allocator, tree->order);
  sr__release(allocator, tree->box);
  *tree = (sr__place_tree){0};
}

/* ---- searching ---------------------------------------------------------------------------- */

/* A question to the tree. `skip` leaves out whole nodes, `takes` single places; either may be
 * NULL. */
typedef struct search {
  const sr__place_tree *tree;
  double at[SR__PLACE_DIMENSIONS];
  const void *data;
  int32_t own; /* label or fold that asks */
  bool (*skip)(const struct search *s, int64_t node);
  bool (*takes)(const struct search *s, int32_t place);
  double best; /* squared distance */
  int32_t found;
} search;

static double to_box(const search *s, int64_t node) {
  const double *low = box_of(s->tree, node), *high = low + s->tree->dimension;
  double sum = 0.0;
  for (int32_t j = 0; j < s->tree->dimension; j++) {
    double gap = s->at[j] < low[j]    ? low[j] - s->at[j]
                 : s->at[j] > high[j] ? s->at[j] - high[j]
                                      : 0;
    sum += gap * gap;
  }
  return sum;
}

static double to_place(const search *s, int32_t place) {
  double sum = 0.0;
  for (int32_t j = 0; j < s->tree->dimension; j++) {
    double gap = s->at[j] - s->tree->at[j * s->tree->count + place];
    sum += gap * gap;
  }
  return sum;
}

static void search_leaf(search *s, int level, int64_t index) {
  int64_t end = begin_of(s->tree, level, index + 1);
  for (int64_t i = begin_of(s->tree, level, index); i < end; i++) {
    int32_t place = s->tree->order[i];
    if (s->takes && !s->takes(s, place)) continue;
    double distance = to_place(s, place);
    if (distance > s->best || (distance == s->best && s->found >= 0 && place > s->found)) continue;
    s->best = distance;
    s->found = place;
  }
}

static void search_node(search *s, int level, int64_t index) {
  int64_t node = (INT64_C(1) << level) - 1 + index;
  if (s->skip && s->skip(s, node)) return;
  if (level == s->tree->levels) {
    search_leaf(s, level, index);
    return;
  }
  double left = to_box(s, 2 * node + 1), right = to_box(s, 2 * node + 2);
  int64_t near = 2 * index + (right < left);
  double nearer = right < left ? right : left, farther = right < left ? left : right;
  if (nearer <= s->best) search_node(s, level + 1, near);
  if (farther <= s->best) search_node(s, level + 1, near ^ 1);
}

/* Point i of `count` points, as the tree holds its places. */
static void ask_from(search *s, const double *at, int64_t count, int64_t i) {
  for (int32_t j = 0; j < s->tree->dimension; j++) s->at[j] = at[j * count + i];
}

/* The distance to the nearest, which is s->found. */
static double find_nearest(search *s) {
  s->best = INFINITY;
  s->found = -1;
  search_node(s, 0, 0);
  return sqrt(s->best);
}

/* What each of `count` askers does, some of them side by side. */
typedef struct asking {
  void (*ask)(const void *job, int64_t i);
  const void *job;
  int64_t count, chunk;
} asking;

static sr_status ask_chunk(sr_context *ctx, void *data, int64_t chunk, int slot) {
  (void)ctx, (void)slot;
  const asking *all = data;
  int64_t end = (chunk + 1) * all->chunk < all->count ? (chunk + 1) * all->chunk : all->count;
  for (int64_t i = chunk * all->chunk; i < end; i++) all->ask(all->job, i);
  return SR_OK;
}

static sr_status ask_all(sr_context *ctx, void (*ask)(const void *job, int64_t i), const void *job,
                         int64_t count) {
  asking all = {ask, job, count, sr__chunk_size(count, GRAIN)};
  return sr__parallel_for(ctx, sr__chunk_count(count, GRAIN), ask_chunk, &all);
}

/* ---- the nearest of another label ------------------------------------------------------------ */

typedef struct other_job {
  const sr__place_tree *tree;
  const int32_t *label;
  int32_t *node_label; /* the one label of a node, or -1 */
  const uint8_t *asks;
  int32_t *nearest;
  double *distance;
} other_job;

static bool has_own_label(const search *s, int64_t node) {
  return ((const other_job *)s->data)->node_label[node] == s->own;
}
static bool has_other_label(const search *s, int32_t place) {
  return ((const other_job *)s->data)->label[place] != s->own;
}

static void label_nodes(const other_job *job) {
  const sr__place_tree *tree = job->tree;
  for (int level = tree->levels; level >= 0; level--)
    for (int64_t index = 0; index < INT64_C(1) << level; index++) {
      int64_t node = (INT64_C(1) << level) - 1 + index;
      int64_t begin = begin_of(tree, level, index), end = begin_of(tree, level, index + 1);
      int32_t label = begin < end ? job->label[tree->order[begin]] : -1;
      if (level < tree->levels) {
        int32_t a = job->node_label[2 * node + 1], b = job->node_label[2 * node + 2];
        label = a == b ? a : -1;
      } else {
        for (int64_t i = begin; i < end; i++)
          if (job->label[tree->order[i]] != label) label = -1;
      }
      job->node_label[node] = label;
    }
}

static void find_other(const void *data, int64_t i) {
  const other_job *job = data;
  int32_t place = job->tree->order[i];
  job->nearest[place] = -1;
  job->distance[place] = INFINITY;
  if (job->asks && !job->asks[place]) return;
  search s = {.tree = job->tree,
              .data = job,
              .own = job->label[place],
              .skip = has_own_label,
              .takes = has_other_label};
  ask_from(&s, job->tree->at, job->tree->count, place);
  job->distance[place] = find_nearest(&s);
  job->nearest[place] = s.found;
}

sr_status sr__nearest_other(sr_context *ctx, const sr__place_tree *tree, const int32_t *label,
                            const uint8_t *asks, int32_t *nearest, double *distance) {
  sr_status status = SR_OK;
  other_job job = {tree, label, NULL, asks, nearest, distance};
  SR_NEW(ctx, job.node_label, sr__place_tree_nodes(tree));
  label_nodes(&job);
  SR_TRY(ask_all(ctx, find_other, &job, tree->count));
cleanup:
  sr__free(ctx, job.node_label);
  return status;
}

/* ---- folds within a distance ----------------------------------------------------------------- */

typedef struct fold_job {
  const sr__place_tree *tree;
  const int32_t *fold;
  double square; /* of the reach */
  const uint64_t *near_in;
  uint64_t *near, *node_any, *node_all;
  double *distance;
  int64_t stride; /* one place of so many asks */
} fold_job;

/* Of each node: the folds that occur in it, or (all) the folds that none of its places trains
 * for. */
static void mark_nodes(const fold_job *job, uint64_t *mark, bool all) {
  const sr__place_tree *tree = job->tree;
  for (int level = tree->levels; level >= 0; level--)
    for (int64_t index = 0; index < INT64_C(1) << level; index++) {
      int64_t node = (INT64_C(1) << level) - 1 + index, end = begin_of(tree, level, index + 1);
      uint64_t bits = all ? ~UINT64_C(0) : 0;
      if (level < tree->levels) {
        uint64_t a = mark[2 * node + 1], b = mark[2 * node + 2];
        bits = all ? a & b : a | b;
      } else {
        for (int64_t i = begin_of(tree, level, index); i < end; i++) {
          int32_t place = tree->order[i];
          uint64_t own = UINT64_C(1) << job->fold[place];
          bits = all ? bits & (own | job->near_in[place]) : bits | own;
        }
      }
      mark[node] = bits;
    }
}

static void collect_folds(const fold_job *job, search *s, int level, int64_t index,
                          uint64_t *bits) {
  int64_t node = (INT64_C(1) << level) - 1 + index;
  if ((job->node_any[node] & ~*bits) == 0 || to_box(s, node) > job->square) return;
  if (level < job->tree->levels) {
    collect_folds(job, s, level + 1, 2 * index, bits);
    collect_folds(job, s, level + 1, 2 * index + 1, bits);
    return;
  }
  int64_t end = begin_of(job->tree, level, index + 1);
  for (int64_t i = begin_of(job->tree, level, index); i < end; i++) {
    int32_t place = job->tree->order[i];
    if (to_place(s, place) <= job->square) *bits |= UINT64_C(1) << job->fold[place];
  }
}

static void find_folds(const void *data, int64_t i) {
  const fold_job *job = data;
  int32_t place = job->tree->order[i];
  uint64_t own = UINT64_C(1) << job->fold[place], bits = own;
  search s = {.tree = job->tree};
  ask_from(&s, job->tree->at, job->tree->count, place);
  collect_folds(job, &s, 0, 0, &bits);
  job->near[place] = bits & ~own;
}

sr_status sr__folds_within(sr_context *ctx, const sr__place_tree *tree, const int32_t *fold,
                           double reach, uint64_t *near) {
  sr_status status = SR_OK;
  fold_job job = {.tree = tree, .fold = fold, .square = reach * reach, .near = near};
  memset(near, 0, (size_t)tree->count * sizeof *near);
  if (!(reach > 0.0)) return SR_OK;
  SR_NEW(ctx, job.node_any, sr__place_tree_nodes(tree));
  mark_nodes(&job, job.node_any, false);
  SR_TRY(ask_all(ctx, find_folds, &job, tree->count));
cleanup:
  sr__free(ctx, job.node_any);
  return status;
}

/* ---- distances to training ------------------------------------------------------------------- */

static bool trains_nowhere(const search *s, int64_t node) {
  return ((const fold_job *)s->data)->node_all[node] >> s->own & 1;
}
static bool trains(const search *s, int32_t place) {
  const fold_job *job = s->data;
  return job->fold[place] != s->own && !(job->near_in[place] >> s->own & 1);
}

static void find_training(const void *data, int64_t i) {
  const fold_job *job = data;
  int32_t place = job->tree->order[i];
  job->distance[place] = NAN;
  if (i % job->stride != 0) return;
  search s = {.tree = job->tree,
              .data = job,
              .own = job->fold[place],
              .skip = trains_nowhere,
              .takes = trains};
  ask_from(&s, job->tree->at, job->tree->count, place);
  job->distance[place] = find_nearest(&s);
}

sr_status sr__distance_to_training(sr_context *ctx, const sr__place_tree *tree, const int32_t *fold,
                                   const uint64_t *near, int64_t stride, double *distance) {
  sr_status status = SR_OK;
  fold_job job = {
      .tree = tree, .fold = fold, .near_in = near, .stride = stride, .distance = distance};
  SR_NEW(ctx, job.node_all, sr__place_tree_nodes(tree));
  mark_nodes(&job, job.node_all, true);
  SR_TRY(ask_all(ctx, find_training, &job, tree->count));
cleanup:
  sr__free(ctx, job.node_all);
  return status;
}

/* ---- other points ---------------------------------------------------------------------------- */

typedef struct point_job {
  const sr__place_tree *tree;
  const double *at;
  int64_t count;
  double *distance;
} point_job;

static void find_point(const void *data, int64_t i) {
  const point_job *job = data;
  search s = {.tree = job->tree};
  ask_from(&s, job->at, job->count, i);
  job->distance[i] = find_nearest(&s);
}

sr_status sr__distance_to_places(sr_context *ctx, const sr__place_tree *tree, const double *at,
                                 int64_t count, double *distance) {
  point_job job = {tree, at, count, distance};
  return ask_all(ctx, find_point, &job, count);
}
