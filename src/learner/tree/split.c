/* Split search in nodes of more than 64 rows: histograms of the candidates' bins. */
#include <math.h>
#include <stdlib.h>

#include "tree.h"

enum { PREFETCH_AHEAD = 12 };

/* ---- scores ------------------------------------------------------------------------------- */

static double x_log_x(double x) { return x > 0.0 ? x * sr__log_portable(x) : 0.0; }

/* Sum over classes of count^2 / total on each side: larger is purer. On a common denominator, so
 * that there is one rounding and equal impurities tie. */
static double score_gini(const sr__grower *g, const int64_t *left, int64_t left_total) {
  double left_square = 0.0, right_square = 0.0;
  for (int32_t s = 0; s < g->present; s++) {
    double l = (double)left[s], r = (double)(g->slot_count[s] - left[s]);
    left_square += l * l;
    right_square += r * r;
  }
  double l = (double)left_total, r = (double)(g->total - left_total);
  return (left_square * r + right_square * l) / (l * r);
}

/* Minus the entropy of both sides, weighted by their totals. */
static double score_entropy(const sr__grower *g, const int64_t *left, int64_t left_total) {
  double sum = -x_log_x((double)left_total) - x_log_x((double)(g->total - left_total));
  for (int32_t s = 0; s < g->present; s++)
    sum += x_log_x((double)left[s]) + x_log_x((double)(g->slot_count[s] - left[s]));
  return sum;
}

double sr__score_slots(const sr__grower *g, const int64_t *left, int64_t left_total) {
  if (g->two_class_gini && g->present == 2)
    return sr__score_two((double)left[1], (double)left_total, (double)g->slot_count[1],
                         (double)g->total);
  return g->criterion == SR_CRITERION_GINI ? score_gini(g, left, left_total)
                                           : score_entropy(g, left, left_total);
}

static bool is_better(const sr__split *split, double score) {
  return split->feature < 0 || score > split->score;
}

/* ---- histograms of any number of classes --------------------------------------------------- */

/* Tries every cut of the bins taken in the order of `sequence`; gives the number of bins that go
 * left in the best one, 0 where none beats `split`. */
static int32_t cut_sequence(sr__grower *g, const int64_t *histogram, const uint8_t *sequence,
                            int32_t length, sr__split *split) {
  int32_t best = 0;
  int64_t left_total = 0;
  memset(g->left_count, 0, (size_t)g->present * sizeof *g->left_count);
  for (int32_t i = 0; i + 1 < length; i++) {
    const int64_t *here = histogram + (int64_t)sequence[i] * g->present;
    int64_t added = 0;
    for (int32_t s = 0; s < g->present; s++) {
      g->left_count[s] += here[s];
      added += here[s];
    }
    left_total += added;
    if (g->total - left_total < g->min_weight) break;
    if (added == 0 || left_total < g->min_weight) continue;
    double score = sr__score_slots(g, g->left_count, left_total);
    if (!is_better(split, score)) continue;
    split->score = score;
    split->feature = INT32_MAX; /* the caller names it */
    split->left_weight = left_total;
    best = i + 1;
  }
  return best;
}

static int64_t bin_weight(const sr__grower *g, const int64_t *histogram, int32_t bin) {
  int64_t sum = 0;
  for (int32_t s = 0; s < g->present; s++) sum += histogram[(int64_t)bin * g->present + s];
  return sum;
}

static int32_t bins_of(const sr__grower *g, int32_t feature) {
  return g->shared->binning->feature[feature].bins;
}

static void cut_numeric(sr__grower *g, const int64_t *histogram, int32_t feature,
                        sr__split *split) {
  uint8_t sequence[256];
  int32_t used = bins_of(g, feature);
  bool missing = bin_weight(g, histogram, SR__BIN_MISSING) > 0;
  for (int shift = 0; shift <= (missing ? 1 : 0); shift++) {
    for (int32_t b = 0; b <= used; b++) sequence[b] = (uint8_t)(b - shift);
    if (shift == 0) sequence[used] = SR__BIN_MISSING;
    int32_t taken = cut_sequence(g, histogram, sequence, used + missing, split);
    if (taken == 0) continue;
    split->feature = feature;
    split->categorical = false;
    split->missing_seen = missing;
    split->shift = (uint8_t)shift;
    int32_t next = taken;
    while (bin_weight(g, histogram, sequence[next]) == 0) next++;
    int32_t upper = (uint8_t)(sequence[next] + shift);
    split->threshold = sr__threshold_between(taken - 1, upper, shift);
  }
}

typedef struct category_rate {
  double rate;
  uint8_t bin;
} category_rate;

static int by_rate(const void *a, const void *b) {
  const category_rate *x = a, *y = b;
  if (x->rate != y->rate) return x->rate < y->rate ? -1 : 1;
  return (int)x->bin - (int)y->bin;
}

/* Slot whose share orders the categories: the second class of two, else the commonest. With two
 * classes the best subset is among the prefixes of this order (Breiman et al. 1984, section 4.2).
 */
static int32_t ordering_slot(const sr__grower *g) {
  int32_t slot = 0;
  if (g->classes == 2) return g->present - 1;
  for (int32_t s = 1; s < g->present; s++)
    if (g->slot_count[s] > g->slot_count[slot]) slot = s;
  return slot;
}

/* Categories that the node does not hold go to the heavier side. */
static void fill_set(const sr__grower *g, const uint8_t *sequence, int32_t taken, int32_t length,
                     sr__split *split) {
  bool unseen_left = 2 * split->left_weight >= g->total;
  memset(&split->set, unseen_left ? 0xff : 0, sizeof split->set);
  for (int32_t i = 0; i < length; i++) {
    uint64_t bit = (uint64_t)1 << (sequence[i] & 63);
    uint64_t *word = &split->set.word[sequence[i] >> 6];
    *word = i < taken ? *word | bit : *word & ~bit;
  }
}

static void cut_categorical(sr__grower *g, const int64_t *histogram, int32_t feature,
                            sr__split *split) {
  category_rate order[256];
  uint8_t sequence[256];
  int32_t length = 0, slot = ordering_slot(g);
  int32_t used = bins_of(g, feature);
  for (int32_t b = 0; b <= used; b++) {
    int32_t bin = b < used ? b : SR__BIN_MISSING;
    int64_t weight = bin_weight(g, histogram, bin);
    if (weight == 0) continue;
    double rate = (double)histogram[(int64_t)bin * g->present + slot] / (double)weight;
    order[length++] = (category_rate){rate, (uint8_t)bin};
  }
  qsort(order, (size_t)length, sizeof *order, by_rate);
  for (int32_t i = 0; i < length; i++) sequence[i] = order[i].bin;
  int32_t taken = cut_sequence(g, histogram, sequence, length, split);
  if (taken == 0) return;
  split->feature = feature;
  split->categorical = true;
  split->missing_seen = true;
  split->shift = 0;
  split->threshold = 0;
  fill_set(g, sequence, taken, length, split);
}

void sr__cut_histogram(sr__grower *g, const int64_t *histogram, int32_t feature, sr__split *split) {
  if (sr__binning_is_categorical(g->shared->binning, feature))
    cut_categorical(g, histogram, feature, split);
  else
    cut_numeric(g, histogram, feature, split);
}

void sr__clear_histogram(sr__grower *g, int32_t feature) {
  size_t bin = (size_t)g->present * sizeof *g->histogram;
  memset(g->histogram, 0, (size_t)bins_of(g, feature) * bin);
  memset(g->histogram + (int64_t)SR__BIN_MISSING * g->present, 0, bin);
}

static void fill_histogram(sr__grower *g, const sr__node_rows *rows, int32_t feature) {
  const uint8_t *column = rows->bins + feature;
  const sr__entry *entry;
  sr__row_tiles tiles;
  sr__clear_histogram(g, feature);
  sr__tiles_start(rows, &tiles);
  for (int64_t count; (count = sr__next_tile(g, rows, &tiles, &entry)) > 0;) {
    for (int64_t i = 0; i < count; i++) {
      int64_t bin = column[(int64_t)entry[i].row * g->features];
      g->histogram[bin * g->present + g->class_slot[sr__entry_class(entry[i])]] +=
          sr__entry_weight(entry[i]);
    }
  }
}

/* ---- packed histograms of two classes ------------------------------------------------------ */

static void add_packed(const sr__grower *g, const uint8_t *bins, const sr__entry *entry,
                       int64_t count, const int32_t *feature, int32_t candidates,
                       uint64_t *packed) {
  for (int64_t i = 0; i < count; i++) {
    int64_t ahead = i + PREFETCH_AHEAD < count ? i + PREFETCH_AHEAD : i;
    __builtin_prefetch(bins + (int64_t)entry[ahead].row * g->features);
    const uint8_t *row = bins + (int64_t)entry[i].row * g->features;
    uint64_t weight = sr__entry_weight(entry[i]);
    uint64_t added = weight << 32 | (entry[i].load & 1 ? weight : 0);
    for (int32_t k = 0; k < candidates; k++) packed[256 * k + row[feature[k]]] += added;
  }
}

/* Reads each row once for all candidates of a group. */
static void fill_packed(sr__grower *g, const sr__node_rows *rows, const int32_t *feature,
                        int32_t candidates, uint64_t *packed) {
  const sr__entry *entry;
  sr__row_tiles tiles;
  memset(packed, 0, 256 * (size_t)candidates * sizeof *packed);
  sr__tiles_start(rows, &tiles);
  for (int64_t count; (count = sr__next_tile(g, rows, &tiles, &entry)) > 0;)
    add_packed(g, rows->bins, entry, count, feature, candidates, packed);
}

/* Cuts of `used` bins taken from `first` on, in order: position b holds bin (uint8_t)(first + b).
 */
static void cut_rotated(const sr__grower *g, const uint64_t *packed, uint8_t first, int32_t used,
                        sr__lane_best *best) {
  int64_t sums[256 + SR__LANES], position[256 + SR__LANES];
  int64_t sum = 0;
  int32_t count = 0;
  for (int32_t b = 0; b < used; b++) {
    int64_t here = (int64_t)packed[(uint8_t)(first + b)];
    sum += here;
    sums[count] = sum;
    position[count] = b;
    count += here != 0; /* an empty bin is overwritten by the next */
  }
  for (int k = 0; k < SR__LANES; k++) sums[count + k] = position[count + k] = 0;
  sr__lane_node node = {g->total, g->class_count[1], g->min_weight};
  sr__lane_init(best);
  for (int32_t start = 0; start < count; start += SR__LANES) {
    sr__i64x8 cut = sr__lane_load(sums + start);
    sr__lane_consider(best, &node, cut >> 32, cut & (int64_t)UINT32_MAX,
                      sr__lane_load(position + start));
  }
}

void sr__cut_packed(const sr__grower *g, const uint64_t *packed, int32_t feature,
                    sr__split *split) {
  bool missing = packed[SR__BIN_MISSING] != 0;
  for (int shift = 0; shift <= (missing ? 1 : 0); shift++) {
    sr__lane_best best;
    cut_rotated(g, packed, (uint8_t)-shift, bins_of(g, feature), &best);
    int lane = sr__lane_winner(&best);
    if (lane < 0 || !is_better(split, best.score[lane])) continue;
    split->score = best.score[lane];
    split->left_weight = best.left[lane];
    split->feature = feature;
    split->categorical = false;
    split->missing_seen = missing;
    split->shift = (uint8_t)shift;
    int32_t lower = (int32_t)best.key[lane], upper = lower + 1;
    while (packed[(uint8_t)(upper - shift)] == 0) upper++;
    split->threshold = sr__threshold_between(lower, upper, shift);
  }
}

/* ---- search ------------------------------------------------------------------------------- */

static void search_feature(sr__grower *g, const sr__node_rows *rows, int32_t feature,
                           sr__split *split) {
  fill_histogram(g, rows, feature);
  sr__cut_histogram(g, g->histogram, feature, split);
}

static void search_group(sr__grower *g, const sr__node_rows *rows, const int32_t *feature,
                         int32_t candidates, sr__split *split) {
  bool packed = g->two_class_gini && g->packed_fits;
  if (packed) fill_packed(g, rows, feature, candidates, g->packed);
  for (int32_t k = 0; k < candidates; k++) {
    if (packed && !sr__binning_is_categorical(g->shared->binning, feature[k]))
      sr__cut_packed(g, g->packed + 256 * k, feature[k], split);
    else
      search_feature(g, rows, feature[k], split);
  }
}

void sr__search_split(sr__grower *g, const sr__node_rows *rows, sr__split *split) {
  split->feature = -1;
  int64_t drawn = 0;
  while (drawn < g->features && (drawn < g->candidates || split->feature < 0)) {
    int32_t feature[SR__GROUP], group = 0;
    int64_t limit = drawn < g->candidates ? g->candidates : drawn + 1;
    while (group < SR__GROUP && drawn < limit) feature[group++] = sr__draw_feature(g, drawn++);
    search_group(g, rows, feature, group, split);
  }
}
