/* The rows of a subtree become a block: a row is a number below 64, a feature is a line of 64 bins,
 * and a node is a list of its rows by class. Per candidate the bins of the node's rows are looked
 * up; they are the rows and the thresholds. Each row is compared with all thresholds at once and
 * its weight added where it goes left, so that the sums of all cuts come out together. */
#include "small_kernel.h"

#include "cut_any.h"
#include "cut_scores.h"

enum {
  ROWS = SR__SMALL_ROWS,
  TILE = SR__SMALL_TILE,
  LIGHT = 255, /* weight of a block up to which sums fit into bytes */
  BIAS = 128   /* makes signed bytes of bins, for which there is a comparison */
};

/* Rows stand in the order of their classes. */
typedef struct small_node {
  _Alignas(64) uint8_t row[ROWS];
  uint8_t weight[ROWS]; /* of a light block */
  int32_t count;
  int32_t first;         /* of two classes: rows of the first one */
  int32_t total, second; /* of two classes in a light block: weight, and that of the second class */
  uint32_t node;
  int32_t depth;
} small_node;

/* The best split of a node so far. */
typedef struct small_best {
  double score;
  int32_t feature; /* -1: none */
  uint8_t key;     /* the highest of the left bins, shifted */
  uint8_t shift;
  bool missing;
  int64_t left, second; /* weight on the left, and of the second class there */
} small_best;

typedef struct small_grower {
  const sr__tree_rules *rules;
  sr__feature_draw *draw;
  sr__small_scratch *scratch;
  const sr__small_block *block;
  sr__small_growth *growth;
  bool light;
  bool two; /* light, two classes, gini */
  int32_t class[ROWS], weight[ROWS];
  /* The node in hand, where it is not one of two classes. */
  sr__node_classes classes;
  int64_t slot_count[ROWS];
  int32_t slot_end[ROWS], list_weight[ROWS];
  sr__split categories; /* the last split by categories that was the best */
  small_node stack[ROWS];
} small_grower;

/* ---- columns ------------------------------------------------------------------------------- */

typedef uint8_t line __attribute__((vector_size(TILE)));

/* One step of a transposition: lines 2 k and 2 k + 1 of `to` are lines k and k + 8 of `from`, a
 * byte of each in turn. Four steps put byte i of line j to byte j of line i. */
SR__INLINE void interleave(const line *from, line *to) {
  for (int k = 0; k < TILE / 2; k++) {
    to[2 * k] = __builtin_shufflevector(from[k], from[k + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                        21, 6, 22, 7, 23);
    to[2 * k + 1] = __builtin_shufflevector(from[k], from[k + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                            28, 13, 29, 14, 30, 15, 31);
  }
}

/* Columns of the TILE features from `first` on. Rows that the block does not have give any bins. */
static void fill_tile(const small_grower *g, int64_t first) {
  uint8_t *column = g->scratch->column + first * ROWS;
  int32_t count = g->block->count;
  int64_t features = g->rules->features;
  for (int32_t i = 0; i < count; i += TILE) {
    line one[TILE], two[TILE];
    for (int k = 0; k < TILE; k++) {
      uint32_t row = g->block->entry[i + k < count ? i + k : i].row;
      memcpy(&one[k], g->block->bins + (int64_t)row * features + first, sizeof *one);
    }
    interleave(one, two);
    interleave(two, one);
    interleave(one, two);
    interleave(two, one);
    for (int k = 0; k < TILE; k++) memcpy(column + k * ROWS + i, &one[k], sizeof *one);
  }
}

SR__INLINE const uint8_t *column_of(const small_grower *g, int32_t feature) {
  uint32_t *stamp = &g->scratch->stamp[feature / TILE];
  if (*stamp != g->scratch->blocks) {
    *stamp = g->scratch->blocks;
    fill_tile(g, feature / TILE * TILE);
  }
  return g->scratch->column + (int64_t)feature * ROWS;
}

/* Bins of the node's rows plus `shift`; LIGHT at places without a row. */
SR__INLINE void look_up_keys(const small_grower *g, const small_node *at, int32_t feature,
                             int shift, uint8_t *key) {
  look_up_bytes(column_of(g, feature), g->block->count, at->row, at->count, key);
  for (int start = 0; start < ROWS; start += WIDTH) {
    bytes here, place;
    for (int k = 0; k < WIDTH; k++) place[k] = (uint8_t)k;
    memcpy(&here, key + start, sizeof here);
    here = (here + (uint8_t)shift) | (bytes)(place + (uint8_t)start >= (uint8_t)at->count);
    memcpy(key + start, &here, sizeof here);
  }
}

/* ---- two classes in a light block ----------------------------------------------------------- */

SR__INLINE signed_bytes signed_keys(const uint8_t *key) {
  bytes here;
  memcpy(&here, key, sizeof here);
  return (signed_bytes)(here ^ BIAS);
}

/* Adds the weight of a row to the sums of the rows whose bin is not below its own. */
SR__INLINE void add_row(uint8_t key, uint8_t weight, const signed_bytes *limit, int parts,
                        bytes *sum) {
  signed_bytes row = (signed_bytes){0} + (int8_t)(key ^ BIAS);
  bytes load = (bytes){0} + weight;
  for (int p = 0; p < parts; p++) sum[p] += load & ~(bytes)(row > limit[p]);
}

/* sum[c] = weight of the rows in [from, to) whose bin is at most that of row c. */
SR__INLINE void sum_bytes(const uint8_t *key, const uint8_t *weight, int32_t from, int32_t to,
                          int parts, uint8_t *sum) {
  signed_bytes limit[ROWS / WIDTH];
  bytes here[ROWS / WIDTH];
  for (int p = 0; p < parts; p++) {
    limit[p] = signed_keys(key + p * WIDTH);
    here[p] = (bytes){0};
  }
  for (int32_t i = from; i < to; i++) add_row(key[i], weight[i], limit, parts, here);
  memcpy(sum, here, (size_t)parts * WIDTH);
}

SR__INLINE floats widen_bytes(const uint8_t *from) {
  few_bytes few;
  memcpy(&few, from, sizeof few);
  return __builtin_convertvector(__builtin_convertvector(few, ints), floats);
}

SR__INLINE floats widen_shorts(const uint16_t *from) {
  few_shorts few;
  memcpy(&few, from, sizeof few);
  return __builtin_convertvector(__builtin_convertvector(few, ints), floats);
}

SR__INLINE void cut_two_parts(const small_grower *g, const small_node *at, const uint8_t *key,
                              int parts, int32_t feature, int shift, bool missing,
                              small_best *best) {
  uint8_t one[ROWS], two[ROWS];
  int32_t bits[ROWS];
  int64_t least = g->rules->min_weight < LIGHT ? g->rules->min_weight : LIGHT + 1;
  two_classes c = {(float)at->total, (float)at->second, (float)least};
  sum_bytes(key, at->weight, 0, at->first, parts, one);
  sum_bytes(key, at->weight, at->first, at->count, parts, two);
  ints most = (ints){0} - 1;
  for (int32_t start = 0; start < at->count; start += LANES) {
    floats second = widen_bytes(two + start);
    ints here = bits_of_two(&c, widen_bytes(one + start) + second, second);
    memcpy(bits + start, &here, sizeof here);
    most = higher_ints(here, most);
  }
  int32_t top = highest_int(most);
  if (!may_beat(top, best->score)) return;
  int32_t enough = as_bits(as_float(top) * NEARLY);
  bool found = false;
  for (int32_t start = 0; start < at->count; start += LANES) {
    for (uint32_t rest = lanes_from(load_ints(bits + start), enough); rest; rest &= rest - 1) {
      int32_t i = start + __builtin_ctz(rest);
      if (found && key[i] == best->key) continue;
      double score = score_two(two[i], one[i] + two[i], at->second, at->total);
      if (score < best->score || (score == best->score && !(found && key[i] < best->key))) continue;
      found = true;
      best->score = score;
      best->key = key[i];
      best->left = one[i] + two[i];
      best->second = two[i];
    }
  }
  if (!found) return;
  best->feature = feature;
  best->shift = (uint8_t)shift;
  best->missing = missing;
}

SR__INLINE void cut_two(const small_grower *g, const small_node *at, const uint8_t *key,
                        int32_t feature, int shift, bool missing, small_best *best) {
  int parts = (at->count + WIDTH - 1) / WIDTH;
  if (parts == 1)
    cut_two_parts(g, at, key, 1, feature, shift, missing, best);
  else if (2 * WIDTH <= ROWS && parts == 2)
    cut_two_parts(g, at, key, 2 * WIDTH <= ROWS ? 2 : 1, feature, shift, missing, best);
  else
    cut_two_parts(g, at, key, ROWS / WIDTH, feature, shift, missing, best);
}

/* ---- any classes and weights ----------------------------------------------------------------- */

/* sum[c] as above, of keys and weights of any size; a multiple of LANES places is written. */
SR__INLINE void sum_ints(const int32_t *key, const int32_t *weight, int32_t from, int32_t to,
                         int32_t count, int32_t *sum) {
  enum { TOGETHER = 4 };
  for (int32_t start = 0; start < count; start += TOGETHER * LANES) {
    ints limit[TOGETHER], here[TOGETHER];
    for (int p = 0; p < TOGETHER; p++) {
      limit[p] = load_ints(key + (start + p * LANES) % ROWS);
      here[p] = (ints){0};
    }
    for (int32_t i = from; i < to; i++)
      for (int p = 0; p < TOGETHER; p++) here[p] += (key[i] <= limit[p]) & weight[i];
    for (int p = 0; p < TOGETHER && start + p * LANES < ROWS; p++)
      memcpy(sum + start + p * LANES, &here[p], sizeof *here);
  }
}

/* Sums of bytes per slot: entropy in a light block. */
SR__INLINE cut cut_entropy(const small_grower *g, const small_node *at, const uint8_t *key,
                           int parts, double to_beat) {
  uint8_t sum[ROWS];
  int32_t left[ROWS * ROWS], total[ROWS];
  memset(total, 0, sizeof total);
  for (int32_t s = 0, from = 0; s < g->classes.present; from = g->slot_end[s++]) {
    sum_bytes(key, at->weight, from, g->slot_end[s], parts, sum);
    for (int32_t i = 0; i < parts * WIDTH; i++) total[i] += left[s * ROWS + i] = sum[i];
  }
  cut_list cuts = {left, total, ROWS, key, at->count};
  return best_of_classes(g->rules, &g->classes, &cuts, to_beat);
}

/* At most 32 bytes: nodes of several classes mostly hold few rows, and a wider vector is of no use
 * to them. */
enum { SHORT = WIDTH < 32 ? WIDTH : 32 };
typedef uint8_t short_bytes __attribute__((vector_size(SHORT)));
typedef int8_t short_signed __attribute__((vector_size(SHORT)));
typedef uint8_t short_half __attribute__((vector_size(SHORT / 2)));
typedef uint16_t short_sums __attribute__((vector_size(SHORT)));

/* The lower (0) or upper half. */
SR__INLINE short_sums half_of_bytes(short_bytes all, int half) {
  short_half few;
  memcpy(&few, (const uint8_t *)&all + half * (SHORT / 2), sizeof few);
  return __builtin_convertvector(few, short_sums);
}

/* Under gini: sums of squares over all slots stay below LIGHT^2, so that 16 bits hold them. Of a
 * slot with weight a, of which l is on the left, r = a - l is on the right: r^2 = a^2 - 2 a l +
 * l^2. */
SR__INLINE cut cut_squares(const small_grower *g, const small_node *at, const uint8_t *key,
                           int parts, double to_beat) {
  enum { HALVES = 2 * ROWS / SHORT };
  short_sums left_square[HALVES], cross[HALVES];
  short_signed limit[ROWS / SHORT];
  short_bytes left[ROWS / SHORT];
  uint16_t all_square = 0;
  bool one_half = at->count <= SHORT / 2;
  for (int p = 0; p < parts; p++) {
    short_bytes here;
    memcpy(&here, key + p * SHORT, sizeof here);
    limit[p] = (short_signed)(here ^ BIAS);
    left[p] = (short_bytes){0};
    for (int h = 2 * p; h < 2 * p + 2; h++) left_square[h] = cross[h] = (short_sums){0};
  }
  for (int32_t s = 0, i = 0; s < g->classes.present; s++) {
    uint16_t all = (uint16_t)g->slot_count[s];
    short_bytes here[ROWS / SHORT];
    for (int p = 0; p < parts; p++) here[p] = (short_bytes){0};
    for (; i < g->slot_end[s]; i++) {
      short_signed row = (short_signed){0} + (int8_t)(key[i] ^ BIAS);
      short_bytes load = (short_bytes){0} + at->weight[i];
      for (int p = 0; p < parts; p++) here[p] += load & ~(short_bytes)(row > limit[p]);
    }
    all_square = (uint16_t)(all_square + all * all);
    for (int p = 0; p < parts; p++) {
      left[p] += here[p];
      for (int h = 0; h < 2 - (parts == 1 && one_half); h++) {
        short_sums l = half_of_bytes(here[p], h);
        left_square[2 * p + h] += l * l;
        cross[2 * p + h] += l * all;
      }
    }
  }
  square_sums sums;
  ints most = (ints){0} - 1;
  uint16_t squares[2][ROWS];
  uint8_t lefts[ROWS];
  for (int h = 0; h < 2 * parts; h++) {
    short_sums right_square = all_square - 2 * cross[h] + left_square[h];
    memcpy(squares[0] + h * (SHORT / 2), &left_square[h], sizeof right_square);
    memcpy(squares[1] + h * (SHORT / 2), &right_square, sizeof right_square);
  }
  memcpy(lefts, left, (size_t)parts * SHORT);
  for (int32_t start = 0; start < at->count; start += LANES)
    most = higher_ints(store_squares(g->rules, &g->classes, start, widen_shorts(squares[0] + start),
                                     widen_shorts(squares[1] + start), widen_bytes(lefts + start),
                                     &sums),
                       most);
  return best_of_squares(&g->classes, &sums, at->count, key, highest_int(most), to_beat);
}

static cut cut_heavy(small_grower *g, const small_node *at, const uint8_t *key, double to_beat) {
  int32_t left[ROWS * ROWS], total[ROWS], wide_key[ROWS];
  int32_t padded = (at->count + LANES - 1) / LANES * LANES;
  for (int32_t i = 0; i < ROWS; i++) wide_key[i] = key[i];
  memset(total, 0, sizeof total);
  for (int32_t s = 0, from = 0; s < g->classes.present; from = g->slot_end[s++]) {
    int32_t *here = left + s * ROWS;
    sum_ints(wide_key, g->list_weight, from, g->slot_end[s], at->count, here);
    for (int32_t i = 0; i < padded; i++) total[i] += here[i];
  }
  cut_list cuts = {left, total, ROWS, key, at->count};
  return best_of_classes(g->rules, &g->classes, &cuts, to_beat);
}

static void cut_any(small_grower *g, const small_node *at, const uint8_t *key, int32_t feature,
                    int shift, bool missing, small_best *best) {
  bool one = at->count <= WIDTH;
  cut found = !g->light            ? cut_heavy(g, at, key, best->score)
              : g->rules->entropy  ? (one ? cut_entropy(g, at, key, 1, best->score)
                                          : cut_entropy(g, at, key, ROWS / WIDTH, best->score))
              : at->count <= SHORT ? cut_squares(g, at, key, 1, best->score)
                                   : cut_squares(g, at, key, ROWS / SHORT, best->score);
  if (found.place < 0) return;
  best->score = found.score;
  best->feature = feature;
  best->key = key[found.place];
  best->shift = (uint8_t)shift;
  best->missing = missing;
  best->left = found.left;
}

/* Slots and weights of the node in hand. */
static void count_slots(small_grower *g, const small_node *at) {
  int32_t present = 0, last = -1;
  g->classes.total = 0;
  for (int32_t i = 0; i < at->count; i++) {
    int32_t class = g->class[at->row[i]], weight = g->weight[at->row[i]];
    if (class != last) g->slot_count[present++] = 0;
    last = class;
    g->slot_count[present - 1] += weight;
    g->slot_end[present - 1] = i + 1;
    g->list_weight[i] = weight;
    g->classes.total += weight;
  }
  g->classes.present = present;
  g->classes.slot_count = g->slot_count;
}

static void cut_categories(small_grower *g, const small_node *at, int32_t feature,
                           small_best *best) {
  int64_t left[ROWS], *histogram = g->scratch->histogram;
  const uint8_t *column = column_of(g, feature);
  if (g->two) count_slots(g, at);
  any_node a = {g->rules, &g->classes, histogram, left, g->rules->binning->feature[feature].bins};
  clear_any(&a, histogram);
  for (int32_t s = 0, i = 0; s < g->classes.present; s++)
    for (; i < g->slot_end[s]; i++)
      histogram[column[at->row[i]] * g->classes.present + s] += g->list_weight[i];
  sr__split split = {.score = best->score, .feature = best->feature};
  cut_any_categories(&a, feature, &split);
  if (split.feature < 0 || !split.categorical) return;
  best->score = split.score;
  best->feature = feature;
  best->left = split.left_weight;
  g->categories = split;
}

/* ---- the split of a node --------------------------------------------------------------------- */

SR__INLINE uint64_t lowest_bits(int32_t count) {
  return count >= ROWS ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

SR__INLINE void cut_feature(small_grower *g, const small_node *at, int32_t feature, bool two,
                            small_best *best) {
  _Alignas(64) uint8_t key[ROWS];
  if (sr__has_categories(g->rules, feature)) {
    cut_categories(g, at, feature, best);
    return;
  }
  look_up_keys(g, at, feature, 0, key);
  bool missing = ~bytes_at_most(key, SR__BIN_MISSING - 1) & lowest_bits(at->count);
  for (int shift = 0;; shift++) {
    if (two)
      cut_two(g, at, key, feature, shift, missing, best);
    else
      cut_any(g, at, key, feature, shift, missing, best);
    if (!missing || shift == 1) return;
    look_up_keys(g, at, feature, 1, key);
  }
}

SR__INLINE void search(small_grower *g, const small_node *at, bool two, small_best *best) {
  sr__feature_draw *draw = g->draw;
  for (int64_t drawn = 0; drawn < draw->features && (drawn < draw->candidates || best->feature < 0);
       drawn++)
    cut_feature(g, at, sr__draw_feature(draw, drawn), two, best);
}

static void make_leaf(small_grower *g, uint32_t node, int32_t class) {
  g->growth->node[node] = (sr__node){.left = node, .what = SR__LEAF_WHAT};
  g->growth->info[node] = (uint32_t) class;
}

static void make_mixed_leaf(small_grower *g, const small_node *at) {
  sr__small_growth *growth = g->growth;
  uint64_t rows = 0;
  for (int32_t i = 0; i < at->count; i++) rows |= (uint64_t)1 << at->row[i];
  growth->mixed_node[growth->mixed] = at->node;
  growth->mixed_rows[growth->mixed++] = rows;
}

/* Makes the node a split; gives its left child. */
static uint32_t make_split(small_grower *g, uint32_t node, const sr__split *split) {
  sr__small_growth *growth = g->growth;
  uint32_t left = growth->nodes, what = (uint32_t)split->feature << SR__NODE_FEATURE;
  growth->nodes += 2;
  if (split->categorical) {
    growth->set_node[growth->sets] = node;
    growth->set[growth->sets++] = split->set;
    what |= SR__NODE_CATEGORICAL;
  } else {
    what |= (split->shift ? SR__NODE_SHIFT : 0u) | split->threshold;
  }
  growth->node[node] = (sr__node){.left = left, .what = what};
  growth->info[node] = 0;
  return left;
}

/* Bit i: row i of the node's list goes left. Fills the split but for unseen missing values. */
static uint64_t settle(const small_grower *g, const small_node *at, const small_best *best,
                       sr__split *split) {
  uint64_t left = 0;
  if (sr__has_categories(g->rules, best->feature)) {
    const uint8_t *column = column_of(g, best->feature);
    *split = g->categories;
    for (int32_t i = 0; i < at->count; i++)
      left |= (uint64_t)sr__set_has(&split->set, column[at->row[i]]) << i;
    return left;
  }
  _Alignas(64) uint8_t key[ROWS];
  look_up_keys(g, at, best->feature, best->shift, key);
  uint8_t upper = lowest_above(key, best->key);
  *split = (sr__split){.feature = best->feature,
                       .threshold = sr__threshold_between(best->key, upper, best->shift),
                       .shift = best->shift,
                       .missing_seen = best->missing,
                       .left_weight = best->left};
  return bytes_at_most(key, best->key);
}

/* The rows of `from` whose bit is set; both may be the same node. */
SR__INLINE void keep_rows(const small_grower *g, const small_node *from, uint64_t rows,
                          small_node *to) {
  int32_t count = from->count;
  to->first = count_bits(rows & lowest_bits(from->first));
  if (g->light) keep_bytes(from->weight, rows, count, to->weight);
  to->count = keep_bytes(from->row, rows, count, to->row);
}

/* ---- depth first ----------------------------------------------------------------------------- */

/* Weights of the rows whose bit is set: of all, and of the second class. */
static void weigh_two(const small_node *at, uint64_t rows, small_best *best) {
  best->left = best->second = 0;
  for (int32_t i = 0; i < at->count; i++) {
    int32_t weight = rows >> i & 1 ? at->weight[i] : 0;
    best->left += weight;
    best->second += i >= at->first ? weight : 0;
  }
}

/* Makes a leaf of rows of one class, which stand in its order. */
SR__INLINE bool is_pure(small_grower *g, const small_node *at, uint64_t rows, uint32_t node) {
  int32_t lowest = g->class[at->row[__builtin_ctzll(rows)]];
  int32_t highest = g->class[at->row[63 - __builtin_clzll(rows)]];
  if (lowest == highest) make_leaf(g, node, lowest);
  return lowest == highest;
}

/* Puts the children that are not leaves in the place of the node on the stack, the left one last.
 * Gives how many nodes are then pending. */
SR__INLINE int split_node(small_grower *g, int pending, bool two, small_best *best) {
  small_node *at = &g->stack[pending - 1], *spare = &g->stack[pending];
  sr__split split;
  uint64_t left = settle(g, at, best, &split), right = lowest_bits(at->count) & ~left;
  int64_t total = two ? at->total : g->classes.total;
  if (two && split.categorical) weigh_two(at, left, best);
  sr__send_unseen_missing(&split, total);
  uint32_t child = make_split(g, at->node, &split);
  bool left_ends = is_pure(g, at, left, child), right_ends = is_pure(g, at, right, child + 1);
  if (left_ends && right_ends) return pending - 1;
  small_node *to = right_ends ? at : spare;
  int32_t second = at->second, depth = at->depth + 1;
  if (!left_ends) {
    keep_rows(g, at, left, to);
    to->total = (int32_t)best->left;
    to->second = (int32_t)best->second;
    to->node = child;
    to->depth = depth;
  }
  if (right_ends) return pending;
  keep_rows(g, at, right, at);
  at->total = (int32_t)(total - best->left);
  at->second = (int32_t)(second - best->second);
  at->node = child + 1;
  at->depth = depth;
  return pending + !left_ends;
}

SR__INLINE void grow_nodes(small_grower *g, bool two) {
  for (int pending = 1; pending > 0;) {
    const small_node *at = &g->stack[pending - 1];
    small_best best = {.score = -INFINITY, .feature = -1};
    if (!two) count_slots(g, at);
    int64_t total = two ? at->total : g->classes.total;
    if (total >= 2 * g->rules->min_weight && at->depth < g->rules->max_depth)
      search(g, at, two, &best);
    if (best.feature >= 0) {
      pending = split_node(g, pending, two, &best);
    } else {
      make_mixed_leaf(g, at);
      pending--;
    }
  }
}

/* Rows by class, by counting where there are few classes. */
static void sort_by_class(const small_grower *g, uint8_t sorted[ROWS + 1]) {
  int32_t count = g->block->count, classes = g->rules->classes, at = 0;
  if (classes <= ROWS) {
    uint8_t next[ROWS] = {0};
    for (int32_t i = 0; i < count; i++) next[g->class[i]]++;
    for (int32_t c = 0; c < classes; c++) {
      int32_t here = next[c];
      next[c] = (uint8_t)at;
      at += here;
    }
    for (int32_t i = 0; i < count; i++) sorted[next[g->class[i]]++] = (uint8_t)i;
    return;
  }
  for (int32_t last = -1; at < count;) {
    int32_t next = INT32_MAX;
    for (int32_t i = 0; i < count; i++)
      next = g->class[i] > last && g->class[i] < next ? g->class[i] : next;
    for (int32_t i = 0; i < count; i++) {
      sorted[at] = (uint8_t)i;
      at += g->class[i] == next;
    }
    last = next;
  }
}

/* The root's list. */
static void list_rows(small_grower *g, small_node *root) {
  uint8_t sorted[ROWS + 1]; /* one more than there are is written */
  int32_t count = g->block->count;
  sort_by_class(g, sorted);
  root->first = 0;
  while (root->first < count && g->class[sorted[root->first]] == g->class[sorted[0]]) root->first++;
  memset(root->row, 0, sizeof root->row);
  memcpy(root->row, sorted, (size_t)count);
  for (int32_t i = 0; i < count; i++) root->weight[i] = (uint8_t)g->weight[sorted[i]];
}

static void grow(const sr__tree_rules *rules, sr__feature_draw *draw, sr__small_scratch *scratch,
                 const sr__small_block *block, sr__small_growth *growth) {
  small_grower g;
  int64_t total = 0, second = 0;
  g.rules = rules;
  g.draw = draw;
  g.scratch = scratch;
  g.block = block;
  g.growth = growth;
  growth->sets = growth->mixed = 0;
  scratch->blocks++;
  for (int32_t i = 0; i < block->count; i++) {
    g.class[i] = (int32_t)sr__entry_class(block->entry[i]);
    g.weight[i] = (int32_t)sr__entry_weight(block->entry[i]);
    total += g.weight[i];
    second += g.class[i] == 1 ? g.weight[i] : 0;
  }
  small_node *root = &g.stack[0];
  list_rows(&g, root);
  g.light = total <= LIGHT;
  g.two = g.light && sr__two_class_gini(rules);
  root->count = block->count;
  root->total = (int32_t)total;
  root->second = (int32_t)second;
  root->node = block->node;
  root->depth = block->depth;
  if (is_pure(&g, root, lowest_bits(root->count), root->node)) return;
  if (g.two)
    grow_nodes(&g, true);
  else
    grow_nodes(&g, false);
}

const sr__small_kernel SR__KERNEL(sr__small_kernel) = {grow};
