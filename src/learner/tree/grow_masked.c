/* Subtrees of at most 64 rows. The rows of such a node become a block: row i is bit i, a node is a
 * mask of its rows, and a feature is one line of 64 bins, gathered when it is first drawn. The rows
 * on the left of a cut are one vector comparison; their weight is a few population counts, because
 * the weights are kept as bit planes. Nothing is sorted and nothing is moved. */
#include <math.h>

#if defined(__AVX512BW__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#include "tree.h"

enum { MAX_PLANES = 20, FEW_BINS = 16 };

typedef struct masked_block {
  const uint8_t *bins;
  const sr__entry *entry;
  int32_t count;
  int32_t planes;
  uint64_t plane[MAX_PLANES]; /* bit p of each row's weight */
  int32_t classes;            /* that the block holds */
  int32_t class_of[SR__MASK_ROWS];
  uint64_t class_mask[SR__MASK_ROWS];
  uint64_t slot_mask[SR__MASK_ROWS]; /* of the classes present in the node in hand */
} masked_block;

/* The cuts of one feature in one node. */
typedef struct cut_list {
  int32_t count; /* padded to a multiple of SR__LANES by empty cuts */
  uint64_t left[SR__MASK_ROWS];
  int64_t threshold[SR__MASK_ROWS];
} cut_list;

static inline int64_t weight_of(const masked_block *block, uint64_t mask) {
  int64_t sum = 0;
  for (int32_t p = 0; p < block->planes; p++)
    sum += (int64_t)__builtin_popcountll(mask & block->plane[p]) << p;
  return sum;
}

/* ---- comparisons -------------------------------------------------------------------------- */

#if defined(__AVX512BW__)
typedef __m512i column_vector;
static inline column_vector load_column(const uint8_t *column) {
  return _mm512_loadu_si512(column);
}
static inline uint64_t at_most(column_vector column, uint8_t threshold) {
  return _mm512_cmple_epu8_mask(column, _mm512_set1_epi8((char)threshold));
}
#elif defined(__AVX2__)
typedef struct column_vector {
  __m256i low, high;
} column_vector;
static inline column_vector load_column(const uint8_t *column) {
  return (column_vector){_mm256_loadu_si256((const __m256i *)column),
                         _mm256_loadu_si256((const __m256i *)(column + 32))};
}
static inline uint64_t at_most(column_vector column, uint8_t threshold) {
  __m256i limit = _mm256_set1_epi8((char)threshold);
  __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(column.low, limit), column.low);
  __m256i high = _mm256_cmpeq_epi8(_mm256_min_epu8(column.high, limit), column.high);
  return (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32 | (uint32_t)_mm256_movemask_epi8(low);
}
#else
typedef const uint8_t *column_vector;
static inline column_vector load_column(const uint8_t *column) { return column; }
static inline uint64_t at_most(column_vector column, uint8_t threshold) {
  uint64_t mask = 0;
  for (int i = 0; i < SR__MASK_ROWS; i++) mask |= (uint64_t)(column[i] <= threshold) << i;
  return mask;
}
#endif

/* One cut a row, or, with `distinct`, one a value: that makes each comparison wait for the last,
 * and pays where values repeat or cuts are dear. */
static void list_cuts(const uint8_t *column, uint64_t active, bool distinct, cut_list *cuts) {
  column_vector vector = load_column(column);
  int32_t count = 0;
  for (uint64_t rest = active; rest;) {
    uint8_t threshold = column[__builtin_ctzll(rest)];
    uint64_t left = at_most(vector, threshold);
    uint64_t below = distinct && threshold > 0 ? at_most(vector, (uint8_t)(threshold - 1)) : 0;
    cuts->threshold[count] = threshold;
    cuts->left[count++] = left & active;
    rest = distinct ? rest & ~(left & ~below) : rest & (rest - 1);
  }
  for (; count % SR__LANES; count++) {
    cuts->threshold[count] = UINT8_MAX;
    cuts->left[count] = 0;
  }
  cuts->count = count;
}

/* ---- the block ---------------------------------------------------------------------------- */

static void fill_block(sr__grower *g, masked_block *block) {
  uint32_t all = 0;
  block->classes = 0;
  for (int32_t i = 0; i < block->count; i++) all |= sr__entry_weight(block->entry[i]);
  block->planes = 32 - __builtin_clz(all);
  memset(block->plane, 0, (size_t)block->planes * sizeof *block->plane);
  for (int32_t i = 0; i < block->count; i++) {
    uint32_t weight = sr__entry_weight(block->entry[i]);
    int32_t class = (int32_t)sr__entry_class(block->entry[i]), at = 0;
    for (int32_t p = 0; p < block->planes; p++) block->plane[p] |= (uint64_t)(weight >> p & 1) << i;
    while (at < block->classes && block->class_of[at] != class) at++;
    if (at == block->classes) {
      block->class_of[at] = class;
      block->class_mask[at] = 0;
      block->classes++;
    }
    block->class_mask[at] |= (uint64_t)1 << i;
  }
  g->stamp++;
}

/* The block's classes in increasing order, so that scores do not depend on the order of rows. */
static void sort_classes(masked_block *block) {
  for (int32_t i = 1; i < block->classes; i++) {
    int32_t class = block->class_of[i], j = i;
    uint64_t mask = block->class_mask[i];
    for (; j > 0 && block->class_of[j - 1] > class; j--) {
      block->class_of[j] = block->class_of[j - 1];
      block->class_mask[j] = block->class_mask[j - 1];
    }
    block->class_of[j] = class;
    block->class_mask[j] = mask;
  }
}

static const uint8_t *column_of(sr__grower *g, const masked_block *block, int32_t feature) {
  uint8_t *column = g->column + (int64_t)feature * SR__MASK_ROWS;
  if (g->column_stamp[feature] == g->stamp) return column;
  g->column_stamp[feature] = g->stamp;
  const uint8_t *from = block->bins + feature;
  for (int32_t i = 0; i < block->count; i++)
    column[i] = from[(int64_t)block->entry[i].row * g->features];
  memset(column + block->count, 0, (size_t)(SR__MASK_ROWS - block->count));
  return column;
}

/* Weights of the node's classes; class_count keeps zeros for classes that the block lacks. */
static void count_masked(sr__grower *g, masked_block *block, uint64_t active) {
  g->present = 0;
  g->total = 0;
  for (int32_t b = 0; b < block->classes; b++) {
    uint64_t mask = block->class_mask[b] & active;
    int64_t weight = weight_of(block, mask);
    g->class_count[block->class_of[b]] = weight;
    if (weight == 0) continue;
    g->class_slot[block->class_of[b]] = g->present;
    block->slot_mask[g->present] = mask;
    g->slot_count[g->present++] = weight;
    g->total += weight;
  }
}

/* ---- cuts --------------------------------------------------------------------------------- */

typedef struct best_cut {
  double score;
  int32_t threshold; /* -1: none */
  int64_t left_weight;
} best_cut;

static best_cut best_of_two(const sr__grower *g, const masked_block *block, const cut_list *cuts) {
  sr__lane_best best;
  sr__lane_node node = {g->total, g->slot_count[1], g->min_weight};
  sr__lane_init(&best);
  for (int32_t start = 0; start < cuts->count; start += SR__LANES) {
    sr__i64x8 mask = sr__lane_load(cuts->left + start);
    sr__i64x8 left = {0}, second = {0};
    for (int32_t p = 0; p < block->planes; p++) {
      sr__i64x8 in_plane = mask & (int64_t)block->plane[p];
      left += sr__lane_popcount(in_plane) << p;
      second += sr__lane_popcount(in_plane & (int64_t)block->slot_mask[1]) << p;
    }
    sr__lane_consider(&best, &node, left, second, sr__lane_load(cuts->threshold + start));
  }
  int lane = sr__lane_winner(&best);
  if (lane < 0) return (best_cut){.threshold = -1};
  return (best_cut){best.score[lane], (int32_t)best.key[lane], best.left[lane]};
}

static best_cut best_of_any(sr__grower *g, const masked_block *block, const cut_list *cuts) {
  best_cut best = {.threshold = -1};
  for (int32_t i = 0; i < cuts->count; i++) {
    int64_t left = 0;
    for (int32_t s = 0; s < g->present; s++) {
      g->left_count[s] = weight_of(block, cuts->left[i] & block->slot_mask[s]);
      left += g->left_count[s];
    }
    if (left < g->min_weight || g->total - left < g->min_weight) continue;
    double score = sr__score_slots(g, g->left_count, left);
    int32_t threshold = (int32_t)cuts->threshold[i];
    if (best.threshold < 0 || score > best.score ||
        (score == best.score && threshold < best.threshold))
      best = (best_cut){score, threshold, left};
  }
  return best;
}

/* The lowest value above `threshold` among the cuts: every value of the node is one. */
static int32_t next_value(const cut_list *cuts, int32_t threshold) {
  int64_t next = UINT8_MAX;
  for (int32_t i = 0; i < cuts->count; i++)
    next = cuts->threshold[i] > threshold && cuts->threshold[i] < next ? cuts->threshold[i] : next;
  return (int32_t)next;
}

static void cut_column(sr__grower *g, const masked_block *block, uint64_t active,
                       const uint8_t *column, uint8_t shift, int32_t feature, bool missing,
                       sr__split *split) {
  cut_list cuts;
  bool distinct = !g->two_class_gini || g->shared->binning->feature[feature].bins <= FEW_BINS;
  list_cuts(column, active, distinct, &cuts);
  best_cut best = g->two_class_gini ? best_of_two(g, block, &cuts) : best_of_any(g, block, &cuts);
  if (best.threshold < 0 || (split->feature >= 0 && best.score <= split->score)) return;
  *split = (sr__split){.score = best.score,
                       .feature = feature,
                       .threshold = sr__threshold_between(best.threshold,
                                                          next_value(&cuts, best.threshold), shift),
                       .shift = shift,
                       .missing_seen = missing,
                       .left_weight = best.left_weight};
}

static void cut_categories(sr__grower *g, const masked_block *block, uint64_t active,
                           const uint8_t *column, int32_t feature, sr__split *split) {
  sr__clear_histogram(g, feature);
  for (uint64_t rest = active; rest; rest &= rest - 1) {
    int row = __builtin_ctzll(rest);
    int32_t slot = g->class_slot[sr__entry_class(block->entry[row])];
    g->histogram[(int64_t)column[row] * g->present + slot] += sr__entry_weight(block->entry[row]);
  }
  sr__cut_histogram(g, g->histogram, feature, split);
}

static void shift_column(const uint8_t *column, uint8_t *shifted) {
  for (int i = 0; i < SR__MASK_ROWS; i++) shifted[i] = (uint8_t)(column[i] + 1);
}

static void cut_feature(sr__grower *g, const masked_block *block, uint64_t active, int32_t feature,
                        sr__split *split) {
  const uint8_t *column = column_of(g, block, feature);
  if (sr__binning_is_categorical(g->shared->binning, feature)) {
    cut_categories(g, block, active, column, feature, split);
    return;
  }
  bool missing = active & ~at_most(load_column(column), SR__BIN_MISSING - 1);
  cut_column(g, block, active, column, 0, feature, missing, split);
  if (!missing) return;
  uint8_t shifted[SR__MASK_ROWS];
  shift_column(column, shifted);
  cut_column(g, block, active, shifted, 1, feature, missing, split);
}

static uint64_t left_rows(sr__grower *g, const masked_block *block, uint64_t active,
                          const sr__split *split) {
  const uint8_t *column = column_of(g, block, split->feature);
  uint64_t left = 0;
  if (!split->categorical && !split->shift)
    return at_most(load_column(column), split->threshold) & active;
  for (uint64_t rest = active; rest; rest &= rest - 1)
    if (sr__goes_left(split, column[__builtin_ctzll(rest)])) left |= rest & -rest;
  return left;
}

/* ---- depth first -------------------------------------------------------------------------- */

typedef struct masked_node {
  uint64_t active;
  uint32_t node;
  int32_t depth;
} masked_node;

/* Gives the split, or feature -1 after making the node a leaf. */
static sr_status search_masked(sr__grower *g, masked_block *block, masked_node at,
                               sr__split *split) {
  split->feature = -1;
  count_masked(g, block, at.active);
  if (g->present == 1) {
    int row = __builtin_ctzll(at.active);
    sr__make_pure_leaf(g, at.node, (int32_t)sr__entry_class(block->entry[row]));
    return SR_OK;
  }
  if (g->total >= 2 * g->min_weight && at.depth < g->max_depth) {
    for (int64_t drawn = 0; drawn < g->features && (drawn < g->candidates || split->feature < 0);
         drawn++)
      cut_feature(g, block, at.active, sr__draw_feature(g, drawn), split);
  }
  return split->feature < 0 ? sr__make_leaf(g, at.node) : SR_OK;
}

sr_status sr__grow_masked(sr__grower *g, const uint8_t *bins, const sr__entry *entry, int64_t count,
                          uint32_t node, int32_t depth) {
  sr_status status = SR_OK;
  masked_block block = {.bins = bins, .entry = entry, .count = (int32_t)count};
  masked_node stack[SR__MASK_ROWS + 1];
  int pending = 0;
  fill_block(g, &block);
  sort_classes(&block);
  memset(g->class_count, 0, (size_t)g->classes * sizeof *g->class_count);
  uint64_t all = count == SR__MASK_ROWS ? UINT64_MAX : ((uint64_t)1 << count) - 1;
  stack[pending++] = (masked_node){all, node, depth};
  while (pending > 0) {
    masked_node at = stack[--pending];
    sr__split split;
    SR_TRY(search_masked(g, &block, at, &split));
    if (split.feature < 0) continue;
    uint32_t left;
    SR_TRY(sr__make_split(g, at.node, &split, &left));
    uint64_t goes_left = left_rows(g, &block, at.active, &split);
    stack[pending++] = (masked_node){at.active & ~goes_left, left + 1, at.depth + 1};
    stack[pending++] = (masked_node){goes_left, left, at.depth + 1};
  }
cleanup:
  return status;
}
