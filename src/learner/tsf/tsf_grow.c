/* A CART tree on the features of the member's own intervals: entropy, all features at every node,
 * down to pure leaves. Columns are sorted once; nodes read them in order and divide them. */
#include <math.h>

#include "learner/labeled_bag.h"
#include "tsf.h"

/* A value of a column, and whose it is. */
typedef struct cell {
  float value;
  uint32_t entry;
} cell;

typedef struct open_node {
  int64_t begin, end; /* of every column */
  uint32_t node;
  int32_t depth;
} open_node;

typedef struct grower {
  sr_context *ctx;
  const sr__encoder *encoder;
  const sr__encoded *rows;
  sr__random *random;

  int64_t entries;          /* rows of the bag with a label, each once */
  const int32_t *row;       /* an entry */
  uint16_t *label;          /* an entry */
  const int32_t *times;     /* an entry; NULL: all once */
  int64_t weight;           /* of all entries */
  int32_t columns;          /* 3 a interval */
  uint32_t *column_feature; /* in a random order */
  cell *cells;              /* columns x entries */
  cell *spare;              /* entries */
  uint8_t *right;           /* an entry: goes right */
  int64_t *k_log_k;         /* of whole numbers up to the weight, in units of 2^-24 bits */

  /* The node in hand. */
  int64_t *count;  /* a class */
  int64_t *sides;  /* weight on the left: k log k of both sides */
  int64_t *gain;   /* what one more of a class on the left adds, class after class */
  int64_t *cursor; /* a class: its place in `gain` */

  open_node *open;
  int64_t open_capacity;
  sr__member *member;
  int64_t node_capacity, share_capacity;
} grower;

/* ---- the bag ------------------------------------------------------------------------------ */

static sr_status read_bag(grower *g, const sr__labeled_bag *bag) {
  sr_status status = SR_OK;
  g->entries = bag->length;
  g->row = bag->row;
  SR_NEW(g->ctx, g->label, bag->length);
  for (int64_t i = 0; i < bag->length; i++) {
    g->label[i] = (uint16_t)bag->label[i];
    g->weight += bag->count[i];
    if (bag->count[i] > 1) g->times = bag->count;
  }
  if (g->entries > UINT32_MAX || g->weight > INT32_MAX)
    SR_TRY(sr__fail(g->ctx, SR_ERROR_DATA, "the bag holds %lld rows; at most %d can be held",
                    (long long)g->weight, INT32_MAX));
cleanup:
  return status;
}

static sr_status fill_k_log_k(grower *g) {
  sr_status status = SR_OK;
  SR_NEW(g->ctx, g->k_log_k, g->weight + 1);
  for (int64_t k = 0; k <= g->weight; k++)
    g->k_log_k[k] = k < 2 ? 0
                          : (int64_t)rint((double)k * sr__log_portable((double)k) *
                                          (0x1p24 / 0.69314718055994530942));
cleanup:
  return status;
}

/* ---- columns ------------------------------------------------------------------------------ */

/* A coin says whether the start or the end is drawn first; the length then is even over what is
 * left. */
static void draw_interval(grower *g, sr__tsf_interval *interval) {
  const int64_t shortest = SR__TSF_SHORTEST;
  interval->channel = (int32_t)sr__random_below(g->random, (uint64_t)g->encoder->channels);
  int64_t m = g->encoder->length[interval->channel], start = 0, end = m;
  if (m > shortest && sr__random_below(g->random, 2)) {
    start = (int64_t)sr__random_below(g->random, (uint64_t)(m - shortest + 1));
    end = start + shortest +
          (int64_t)sr__random_below(g->random, (uint64_t)(m - start - shortest + 1));
  } else if (m > shortest) {
    end = shortest + (int64_t)sr__random_below(g->random, (uint64_t)(m - shortest + 1));
    start = (int64_t)sr__random_below(g->random, (uint64_t)(end - shortest + 1));
  }
  interval->start = (int32_t)start;
  interval->end = (int32_t)end;
}

/* The bits of a float as a whole number in the order of the values. */
static inline uint32_t float_order(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits ^ ((uint32_t)((int32_t)bits >> 31) | 0x80000000u);
}

/* By value, stable: four passes of eight bits, those left out in which all cells agree. The result
 * stands in `cells`. */
static void sort_cells(cell *cells, cell *spare, int64_t count) {
  uint32_t histogram[4][256] = {{0}};
  cell *from = cells, *to = spare;
  for (int64_t i = 0; i < count; i++) {
    uint32_t key = float_order(cells[i].value);
    for (int pass = 0; pass < 4; pass++) histogram[pass][key >> (8 * pass) & 255]++;
  }
  for (int pass = 0; pass < 4; pass++) {
    uint32_t *place = histogram[pass], sum = 0;
    if (place[float_order(cells[0].value) >> (8 * pass) & 255] == count) continue;
    for (int b = 0; b < 256; b++) {
      uint32_t here = place[b];
      place[b] = sum;
      sum += here;
    }
    for (int64_t i = 0; i < count; i++)
      to[place[float_order(from[i].value) >> (8 * pass) & 255]++] = from[i];
    cell *swap = from;
    from = to;
    to = swap;
  }
  if (from != cells) memcpy(cells, from, sizeof *cells * (size_t)count);
}

/* Tile by tile: the features of its rows to the ends of all columns. */
static sr_status fill_columns(grower *g) {
  sr_status status = SR_OK;
  float *feature = NULL;
  int64_t width = g->rows->width;
  SR_NEW(g->ctx, feature, g->columns * width);
  for (int32_t k = 0; k < g->columns; k++) g->column_feature[k] = (uint32_t)k;
  sr__random_shuffle(g->random, (int32_t *)g->column_feature, g->columns);
  for (int64_t i = 0, end = 0; i < g->entries; i = end) {
    int64_t tile = g->row[i] / width;
    SR_TRY(sr__check_interrupt(g->ctx));
    while (end < g->entries && g->row[end] / width == tile) end++;
    int64_t first = g->row[i] % width / 8, eights = g->row[end - 1] % width / 8 - first + 1;
    sr__tsf_features(g->encoder, g->rows, (sr__tsf_lanes){tile, first, eights},
                     (sr__tsf_asked){g->member->reader, NULL, g->columns}, feature);
    for (int32_t k = 0; k < g->columns; k++) {
      const float *from = feature + g->column_feature[k] * 8 * eights;
      cell *column = g->cells + k * g->entries;
      for (int64_t e = i; e < end; e++) {
        float value = from[g->row[e] % width - 8 * first];
        column[e] = (cell){value, (uint32_t)e};
      }
    }
  }
  for (int32_t k = 0; k < g->columns; k++) {
    SR_TRY(sr__check_interrupt(g->ctx));
    sort_cells(g->cells + k * g->entries, g->spare, g->entries);
  }
cleanup:
  sr__free(g->ctx, feature);
  return status;
}

/* ---- the search of a node ------------------------------------------------------------------ */

/* Cells up to `last` of the column go left. */
typedef struct cut {
  int64_t score;  /* minus the entropy that is left; 0: both sides are pure */
  int32_t column; /* -1: none */
  int64_t last;
} cut;

static int64_t times_of(const grower *g, uint32_t entry) { return g->times ? g->times[entry] : 1; }

/* Counts the classes; gives how many are there. */
static int32_t count_classes(grower *g, const open_node *open, int64_t *total) {
  int32_t present = 0;
  memset(g->count, 0, sizeof *g->count * (size_t)g->encoder->classes);
  *total = 0;
  for (int64_t i = open->begin; i < open->end; i++) {
    uint32_t entry = g->cells[i].entry;
    present += g->count[g->label[entry]] == 0;
    g->count[g->label[entry]] += times_of(g, entry);
    *total += times_of(g, entry);
  }
  return present;
}

/* Tables of the node, so that moving a row to the left is one look-up. */
static void fill_tables(grower *g, int64_t total) {
  const int64_t *f = g->k_log_k;
  int64_t at = 0;
  for (int64_t left = 0; left <= total; left++) g->sides[left] = f[left] + f[total - left];
  for (int32_t c = 0; c < g->encoder->classes; c++) {
    int64_t count = g->count[c];
    g->cursor[c] = at;
    for (int64_t left = 0; left < count; left++)
      g->gain[at++] = f[left + 1] - f[left] + f[count - left - 1] - f[count - left];
  }
}

/* k log k of both sides of a class by its count on the left, and the label of the upper one. */
typedef struct two_classes {
  const int64_t *lower, *upper;
  uint16_t upper_label;
} two_classes;

/* Of two classes, each row once: the sums of a side follow from the count of the upper class. */
static bool scan_two(const grower *g, const cell *column, int64_t count, two_classes of,
                     cut *best) {
  const int64_t *lower = of.lower, *upper = of.upper;
  int64_t uppers = 0;
  bool found = false;
  for (int64_t i = 0; i + 1 < count; i++) {
    uppers += g->label[column[i].entry] == of.upper_label;
    int64_t score = lower[i + 1 - uppers] + upper[uppers] - g->sides[i + 1];
    if (score <= best->score || !(column[i].value < column[i + 1].value)) continue;
    best->score = score;
    best->last = i;
    found = true;
  }
  return found;
}

static bool scan_many(const grower *g, const cell *column, int64_t count, int64_t start,
                      int64_t *cursor, cut *best) {
  int64_t score = start, left = 0; /* start: the classes' sums with all on the right */
  bool found = false;
  for (int64_t i = 0; i + 1 < count; i++) {
    uint32_t entry = column[i].entry;
    int64_t *place = &cursor[g->label[entry]];
    int64_t times = times_of(g, entry);
    for (int64_t k = 0; k < times; k++) score += g->gain[(*place)++];
    left += times;
    if (score - g->sides[left] <= best->score || !(column[i].value < column[i + 1].value)) continue;
    best->score = score - g->sides[left];
    best->last = i;
    found = true;
  }
  return found;
}

/* The best cut of all columns, from a random one on; the first of equal ones. */
static cut search_columns(grower *g, const open_node *open, int32_t present, int64_t total) {
  int64_t count = open->end - open->begin, start = 0;
  int32_t classes = g->encoder->classes, lower = -1, upper = -1;
  cut best = {INT64_MIN, -1, 0};
  for (int32_t c = 0; c < classes; c++) {
    start += g->k_log_k[g->count[c]];
    if (g->count[c]) lower = upper, upper = c;
  }
  bool two = present == 2 && !g->times;
  int64_t *by_lower = g->gain, *by_upper = g->gain + count + 1;
  if (two) {
    for (int64_t left = 0; left <= total; left++)
      g->sides[left] = g->k_log_k[left] + g->k_log_k[total - left];
    for (int64_t left = 0; left <= g->count[lower]; left++)
      by_lower[left] = g->k_log_k[left] + g->k_log_k[g->count[lower] - left];
    for (int64_t left = 0; left <= g->count[upper]; left++)
      by_upper[left] = g->k_log_k[left] + g->k_log_k[g->count[upper] - left];
  } else {
    fill_tables(g, total);
  }
  int32_t first = (int32_t)sr__random_below(g->random, (uint64_t)g->columns);
  for (int32_t k = 0; k < g->columns && best.score < 0; k++) {
    int32_t c = first + k < g->columns ? first + k : first + k - g->columns;
    const cell *column = g->cells + c * g->entries + open->begin;
    if (!(column[0].value < column[count - 1].value)) continue;
    bool found;
    if (two) {
      found = scan_two(g, column, count, (two_classes){by_lower, by_upper, (uint16_t)upper}, &best);
    } else {
      int64_t *cursor = g->cursor + classes;
      memcpy(cursor, g->cursor, sizeof *cursor * (size_t)classes);
      found = scan_many(g, column, count, start, cursor, &best);
    }
    if (found) best.column = c;
  }
  return best;
}

/* ---- nodes -------------------------------------------------------------------------------- */

static sr_status make_leaf(grower *g, const open_node *open, int32_t present, int64_t total) {
  sr_status status = SR_OK;
  sr__member *member = g->member;
  int32_t classes = g->encoder->classes;
  sr__tsf_node *node = &member->node[open->node];
  *node = (sr__tsf_node){open->node, 0, INFINITY, 0};
  if (present == 1) {
    node->leaf = g->label[g->cells[open->begin].entry];
    return SR_OK;
  }
  SR_GROW(g->ctx, member->share, g->share_capacity, (member->mixtures + 1) * classes);
  for (int32_t c = 0; c < classes; c++)
    member->share[member->mixtures * classes + c] = (float)((double)g->count[c] / (double)total);
  node->leaf = (uint32_t)(classes + member->mixtures++);
cleanup:
  return status;
}

/* Every column keeps its order on both sides. A side of one class needs no columns but the first,
 * which says whose rows it holds. */
static void divide_columns(grower *g, const open_node *open, const cut *best) {
  const cell *by = g->cells + best->column * g->entries + open->begin;
  int64_t count = open->end - open->begin;
  bool pure[2] = {true, true};
  for (int64_t i = 0; i < count; i++) {
    bool right = i > best->last;
    g->right[by[i].entry] = right;
    pure[right] = pure[right] && g->label[by[i].entry] == g->label[by[right ? count - 1 : 0].entry];
  }
  int32_t columns = pure[0] && pure[1] ? 1 : g->columns;
  for (int32_t k = 0; k < columns; k++) {
    cell *column = g->cells + k * g->entries + open->begin;
    int64_t left = 0, right = 0;
    for (int64_t i = 0; i < count; i++) { /* both writes, one stays: no branch */
      cell here = column[i];
      int64_t goes_right = g->right[here.entry];
      column[left] = here;
      g->spare[right] = here;
      left += 1 - goes_right;
      right += goes_right;
    }
    memcpy(column + left, g->spare, sizeof *column * (size_t)right);
  }
}

static sr_status grow_node(grower *g, open_node open, int64_t *opened) {
  sr_status status = SR_OK;
  int64_t total = 0;
  int32_t present = count_classes(g, &open, &total);
  cut best = {INT64_MIN, -1, 0};
  if (present > 1) best = search_columns(g, &open, present, total);
  if (best.column < 0) return make_leaf(g, &open, present, total);
  const cell *by = g->cells + best.column * g->entries + open.begin + best.last;
  float threshold = (float)(by[0].value + 0.5 * ((double)by[1].value - by[0].value));
  if (!(threshold < by[1].value)) threshold = by[0].value;
  if (g->member->nodes > UINT32_MAX - 2)
    SR_TRY(sr__fail(g->ctx, SR_ERROR_OVERFLOW, "a tree has more than %u nodes", UINT32_MAX));
  SR_GROW(g->ctx, g->member->node, g->node_capacity, g->member->nodes + 2);
  SR_GROW(g->ctx, g->open, g->open_capacity, *opened + 2);
  uint32_t left = (uint32_t)g->member->nodes;
  g->member->nodes += 2;
  g->member->node[open.node] = (sr__tsf_node){left, g->column_feature[best.column], threshold, 0};
  int64_t middle = open.begin + best.last + 1;
  divide_columns(g, &open, &best);
  g->open[(*opened)++] = (open_node){middle, open.end, left + 1, open.depth + 1};
  g->open[(*opened)++] = (open_node){open.begin, middle, left, open.depth + 1};
cleanup:
  return status;
}

static sr_status grow_tree(grower *g) {
  sr_status status = SR_OK;
  int64_t opened = 0;
  SR_GROW(g->ctx, g->member->node, g->node_capacity, 1);
  SR_GROW(g->ctx, g->open, g->open_capacity, 1);
  g->member->nodes = 1;
  g->open[opened++] = (open_node){0, g->entries, 0, 0};
  while (opened > 0) {
    open_node open = g->open[--opened];
    if (open.end - open.begin > 64) SR_TRY(sr__check_interrupt(g->ctx));
    if (open.depth > g->member->depth) g->member->depth = open.depth;
    SR_TRY(grow_node(g, open, &opened));
  }
cleanup:
  return status;
}

static sr_status allocate(grower *g, int32_t intervals) {
  sr_status status = SR_OK;
  int32_t classes = g->encoder->classes;
  SR_NEW_ZERO(g->ctx, g->member, 1);
  g->member->allocator = sr__allocator(g->ctx);
  g->member->intervals = intervals;
  SR_NEW(g->ctx, g->member->interval, intervals);
  g->columns = SR__TSF_KINDS * intervals;
  SR_NEW(g->ctx, g->column_feature, g->columns);
  SR_NEW(g->ctx, g->cells, g->columns * g->entries);
  SR_NEW(g->ctx, g->spare, g->entries);
  SR_NEW(g->ctx, g->right, g->entries);
  SR_NEW(g->ctx, g->count, classes);
  SR_NEW(g->ctx, g->cursor, 2 * (int64_t)classes);
  SR_NEW(g->ctx, g->sides, g->weight + 1);
  SR_NEW(g->ctx, g->gain, 2 * (g->weight + 1));
cleanup:
  return status;
}

static void free_grower(grower *g) {
  void *block[] = {g->label, g->column_feature, g->cells,   g->spare, g->right, g->count,
                   g->sides, g->cursor,         g->k_log_k, g->gain,  g->open};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) sr__free(g->ctx, block[i]);
  sr__tsf_free_member(g->member);
}

/* sqrt(points of all channels), rounded down: sqrt(length) sqrt(channels) of even channels. */
static int32_t tsf_intervals(const sr__encoder *encoder) {
  double points = (double)encoder->first[encoder->channels];
  int32_t intervals = (int32_t)sqrt(points);
  return intervals < 1 ? 1 : intervals;
}

sr_status sr__tsf_fit(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                      sr__random *random, sr__member **member) {
  sr_status status = SR_OK;
  const sr__encoder *encoder = input->encoder;
  const sr__tsf_options *options = input->options;
  sr__labeled_bag labeled = {0};
  grower g = {.ctx = ctx, .encoder = encoder, .rows = input->training->rows, .random = random};
  *member = NULL;
  if (options->intervals < 0 || options->intervals > SR__TSF_MAX_INTERVALS)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "intervals is %lld, expected 0 (by the length) to %d",
                    (long long)options->intervals, SR__TSF_MAX_INTERVALS));
  int32_t intervals = options->intervals ? (int32_t)options->intervals : tsf_intervals(encoder);
  SR_TRY(sr__labeled_bag_read(ctx, bag, input->training->label, NULL, &labeled));
  SR_TRY(read_bag(&g, &labeled));
  SR_TRY(allocate(&g, intervals));
  SR_TRY(fill_k_log_k(&g));
  for (int32_t k = 0; k < intervals; k++) draw_interval(&g, &g.member->interval[k]);
  SR_TRY(sr__tsf_member_readers(ctx, encoder, g.member));
  SR_TRY(fill_columns(&g));
  SR_TRY(grow_tree(&g));
  SR_TRY(sr__tsf_member_used(ctx, g.member));
  *member = g.member;
  g.member = NULL;
cleanup:
  free_grower(&g);
  sr__labeled_bag_free(ctx, &labeled);
  return status;
}
