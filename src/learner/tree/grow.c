/* Growing a tree depth first. A node is a range of rows, coded bytes near the root and entries
 * below; splitting it is a stable partition, so that rows stay in the table's order and are read
 * almost in sequence. */
#include <math.h>

#include "learner/labeled_bag.h"
#include "tree.h"

enum {
  BLOCK_SHRINK = 16,      /* a block's rows are copied out once a node is this much smaller */
  CACHED_BYTES = 1 << 20, /* blocks of bins up to this size are not copied */
  FINAL_BYTES = 1 << 18,  /* the last copy is at most this large */
  MAX_LEVELS = 8,
  OPEN_SHRINK = 8,    /* subtrees of the table's rows over this stand in entries */
  LEAST_OPEN = 65536, /* rows */
  CODED = -1,
  COUNTED_CLASSES = 8,              /* of more, counts of all nodes would take much room */
  CLASS_SLOTS = 128,                /* histograms of 256 bins that several classes are counted in */
  MOST_LOGS = SR__NARROW_WEIGHT + 1 /* x log x is kept for smaller numbers */
};

/* ---- the tree so far ---------------------------------------------------------------------- */

/* A quarter more than asked for: less lies idle than after doubling. */
sr_status sr__reserve_nodes(sr__grower *g, int64_t count) {
  sr_status status = SR_OK;
  sr__member *tree = g->tree;
  if (count <= g->node_capacity) return SR_OK;
  int64_t capacity = count + count / 4, info = 0, mixed = 0, node = 0;
  SR_GROW(g->ctx, tree->info, info, capacity);
  if (tree->mixed) SR_GROW(g->ctx, tree->mixed, mixed, capacity);
  SR_GROW(g->ctx, tree->node, node, capacity);
  if (g->counting) {
    int64_t before = g->node_capacity * g->rules.classes, there = 0;
    SR_GROW(g->ctx, tree->leaf_count, there, capacity * g->rules.classes);
    memset(tree->leaf_count + before, 0,
           (size_t)(capacity * g->rules.classes - before) * sizeof *tree->leaf_count);
  }
  g->node_capacity = capacity;
cleanup:
  return status;
}

/* Trees without a mixed leaf need no array of mixtures; the first mixed leaf makes it. */
static sr_status add_mixture(sr__grower *g, uint32_t node) {
  sr_status status = SR_OK;
  sr__member *tree = g->tree;
  if (!tree->mixed) {
    SR_NEW(g->ctx, tree->mixed, g->node_capacity);
    for (int64_t i = 0; i < tree->nodes; i++) tree->mixed[i] = -1;
  }
  SR_GROW(g->ctx, tree->share, g->share_capacity, (tree->mixtures + 1) * g->rules.classes);
  float *share = tree->share + tree->mixtures * g->rules.classes;
  for (int32_t c = 0; c < g->rules.classes; c++)
    share[c] = (float)((double)g->class_count[c] / (double)g->node.total);
  tree->mixed[node] = (int32_t)tree->mixtures++;
cleanup:
  return status;
}

sr_status sr__make_leaf(sr__grower *g, uint32_t node) {
  int32_t vote = 0, present = 0;
  for (int32_t c = 0; c < g->rules.classes; c++) {
    present += g->class_count[c] > 0;
    if (g->class_count[c] > g->class_count[vote]) vote = c;
  }
  g->tree->node[node] = (sr__node){.left = node, .what = SR__LEAF_WHAT};
  g->tree->info[node] = (uint32_t)vote;
  return present > 1 ? add_mixture(g, node) : SR_OK;
}

/* Makes the node a split with two new children, the left one at *left. */
static sr_status make_split(sr__grower *g, uint32_t node, sr__split *split, uint32_t *left) {
  sr_status status = SR_OK;
  sr__member *tree = g->tree;
  SR_TRY(sr__reserve_nodes(g, tree->nodes + 2));
  *left = (uint32_t)tree->nodes;
  tree->nodes += 2;
  if (tree->mixed) tree->mixed[*left] = tree->mixed[*left + 1] = -1;
  sr__send_unseen_missing(split, g->node.total);
  uint32_t what = (uint32_t)split->feature << SR__NODE_FEATURE;
  if (split->categorical) {
    SR_GROW(g->ctx, tree->set, g->set_capacity, tree->sets + 1);
    tree->set[tree->sets] = split->set;
    tree->info[node] = (uint32_t)tree->sets++;
    what |= SR__NODE_CATEGORICAL;
  } else {
    tree->info[node] = 0;
    what |= (split->shift ? SR__NODE_SHIFT : 0u) | split->threshold;
  }
  tree->node[node] = (sr__node){.left = *left, .what = what};
cleanup:
  return status;
}

/* ---- nodes -------------------------------------------------------------------------------- */

static void count_classes(sr__grower *g, const sr__node_rows *rows) {
  const sr__entry *entry;
  sr__row_tiles tiles;
  sr__node_classes *node = &g->node;
  memset(g->class_count, 0, (size_t)g->rules.classes * sizeof *g->class_count);
  sr__tiles_start(rows, &tiles);
  for (int64_t count; (count = sr__next_tile(g, rows, &tiles, &entry)) > 0;)
    sr__rows_kernel_now()->weigh(g->rules.classes, entry, count, g->class_count);
  node->total = node->present = 0;
  for (int32_t c = 0; c < g->rules.classes; c++) {
    if (g->class_count[c] == 0) continue;
    node->total += g->class_count[c];
    node->slot_count[node->present] = g->class_count[c];
    node->class_slot[c] = node->present++;
  }
}

/* ---- blocks of bins ----------------------------------------------------------------------- */

/* Nodes deep in the tree hold rows from everywhere. Once a node is much smaller than the block its
 * bins lie in, they are copied side by side, and the subtree reads the copy. Depth-first order
 * means that one copy a level is alive. */
typedef struct block_levels {
  int count;
  int64_t capacity[MAX_LEVELS]; /* rows; capacity[0] is the table */
  uint8_t *bins[MAX_LEVELS];
} block_levels;

static void free_levels(sr_context *ctx, block_levels *levels) {
  for (int level = 1; level < levels->count; level++) sr__free(ctx, levels->bins[level]);
}

static sr_status plan_levels(sr_context *ctx, const sr__encoded *rows, int64_t bag,
                             block_levels *levels) {
  sr_status status = SR_OK;
  int64_t features = rows->features > 0 ? rows->features : 1;
  int64_t final_rows = FINAL_BYTES / features;
  int64_t size = rows->count;
  levels->bins[0] = rows->bins;
  levels->capacity[0] = size;
  levels->count = 1;
  while (size * features > CACHED_BYTES && final_rows >= SR__SMALL_ROWS &&
         levels->count < MAX_LEVELS) {
    size = size / BLOCK_SHRINK > final_rows ? size / BLOCK_SHRINK : final_rows;
    int64_t needed = size < bag ? size : bag;
    levels->bins[levels->count] = NULL;
    levels->capacity[levels->count++] = size;
    SR_NEW(ctx, levels->bins[levels->count - 1], needed * features + SR__SMALL_TILE);
  }
cleanup:
  return status;
}

/* ---- depth first -------------------------------------------------------------------------- */

typedef struct pending_node {
  int64_t begin, end; /* of the entries, or of the code */
  int64_t count;      /* rows */
  uint32_t node;
  int32_t depth;
  int level; /* of the bins; CODED: the rows are coded and the bins those of the table */
} pending_node;

typedef struct node_stack {
  pending_node *item;
  int64_t count, capacity;
} node_stack;

static sr_status push(sr__grower *g, node_stack *stack, pending_node item) {
  sr_status status = SR_OK;
  SR_GROW(g->ctx, stack->item, stack->capacity, stack->count + 1);
  stack->item[stack->count++] = item;
cleanup:
  return status;
}

/* The coded rows of a node that is small enough become entries; nothing else stands there. */
static void open_node(sr__grower *g, pending_node *at) {
  sr__coded_rows coded = {.begin = at->begin, .end = at->end};
  g->entry = (sr__entry *)(void *)g->work;
  g->spare = g->entry + g->open_rows;
  at->count = sr__read_rows(g, &coded, g->entry, g->open_rows);
  at->begin = 0;
  at->end = at->count;
  at->level = 0;
}

/* Copies the bins of a node that has become small beside the block they lie in to the lowest level
 * that holds its rows. */
static void move_to_level(sr__grower *g, const block_levels *levels, pending_node *at) {
  int level = at->level;
  while (level + 1 < levels->count && at->count <= levels->capacity[level + 1]) level++;
  if (level == at->level) return;
  sr__rows_kernel_now()->gather(levels->bins[at->level], g->rules.features, g->entry + at->begin,
                                at->count, levels->bins[level]);
  at->level = level;
}

static sr_status split_rows(sr__grower *g, const sr__node_rows *rows, const sr__split *split,
                            const pending_node *at, pending_node *left, pending_node *right) {
  sr_status status = SR_OK;
  int64_t left_count;
  *left = *right = *at;
  left->depth = right->depth = at->depth + 1;
  if (rows->entry) {
    left_count = sr__rows_kernel_now()->partition(rows->bins, g->rules.features, split, rows->entry,
                                                  rows->count, g->spare);
    left->end = right->begin = at->begin + left_count;
  } else {
    sr__coded_rows left_rows, right_rows;
    SR_TRY(sr__split_code(g, rows->bins, split, rows->coded, &left_rows, &right_rows, &left_count));
    left->begin = left_rows.begin;
    left->end = left_rows.end;
    right->begin = right_rows.begin;
    right->end = right_rows.end;
  }
  left->count = left_count;
  right->count = at->count - left_count;
cleanup:
  return status;
}

static sr__node_rows rows_of(const sr__grower *g, const block_levels *levels,
                             const pending_node *at) {
  if (at->level == CODED)
    return (sr__node_rows){.bins = levels->bins[0], .coded = {at->begin, at->end, 0}};
  return (sr__node_rows){.bins = levels->bins[at->level],
                         .entry = g->entry + at->begin,
                         .count = at->count};
}

static sr_status grow_node(sr__grower *g, block_levels *levels, node_stack *stack,
                           pending_node at) {
  sr_status status = SR_OK;
  if (at.level == CODED && at.count <= g->open_rows) open_node(g, &at);
  sr__node_rows rows = rows_of(g, levels, &at);
  if (at.count <= SR__SMALL_ROWS)
    return sr__grow_small(g, rows.bins, rows.entry, rows.count, at.node, at.depth);
  count_classes(g, &rows);
  bool stop = g->node.present < 2 || g->node.total < 2 * g->rules.min_weight ||
              at.depth == g->rules.max_depth;
  sr__split split = {.feature = -1};
  if (!stop) {
    if (at.level != CODED) move_to_level(g, levels, &at);
    rows = rows_of(g, levels, &at);
    sr__search_split(g, &rows, &split);
  }
  if (split.feature < 0) {
    for (int32_t c = 0; g->counting && c < g->rules.classes; c++)
      g->tree->leaf_count[(int64_t)at.node * g->rules.classes + c] = (uint32_t)g->class_count[c];
    return sr__make_leaf(g, at.node);
  }
  pending_node left, right;
  uint32_t child;
  SR_TRY(make_split(g, at.node, &split, &child));
  SR_TRY(split_rows(g, &rows, &split, &at, &left, &right));
  left.node = child;
  right.node = child + 1;
  SR_TRY(push(g, stack, right));
  SR_TRY(push(g, stack, left));
cleanup:
  return status;
}

/* Entries take eight bytes a row and as many for the partition: a large bag is kept in code, and
 * only subtrees of an eighth of the table are opened. */
static sr_status plan_entries(sr__grower *g, const sr__encoded *rows, int64_t count) {
  sr_status status = SR_OK;
  int64_t open = rows->count / OPEN_SHRINK > LEAST_OPEN ? rows->count / OPEN_SHRINK : LEAST_OPEN;
  g->open_rows = open < count ? open : count;
  SR_GROW(g->ctx, g->work, g->work_capacity, 2 * g->open_rows * (int64_t)sizeof(sr__entry));
cleanup:
  return status;
}

static sr_status grow_tree(sr__grower *g, const sr__encoded *rows, const sr__coded_rows *bag,
                           int64_t count) {
  sr_status status = SR_OK;
  node_stack stack = {0};
  block_levels levels = {0};
  SR_TRY(plan_levels(g->ctx, rows, count, &levels));
  SR_TRY(plan_entries(g, rows, count));
  SR_TRY(sr__reserve_nodes(g, 64));
  g->tree->nodes = 1;
  SR_TRY(
      push(g, &stack, (pending_node){.begin = 0, .end = bag->end, .count = count, .level = CODED}));
  while (stack.count > 0) {
    SR_TRY(sr__check_interrupt(g->ctx));
    SR_TRY(grow_node(g, &levels, &stack, stack.item[--stack.count]));
  }
cleanup:
  free_levels(g->ctx, &levels);
  sr__free(g->ctx, stack.item);
  return status;
}

/* ---- the bag ------------------------------------------------------------------------------ */

typedef struct bag_filler {
  sr__grower *grower;
  const sr__training *training;
  sr__coded_rows *coded;
  double scale, largest, units; /* of the rows that were kept */
  int64_t given, kept;
} bag_filler;

/* Weight times multiplicity in units. */
static double units_of(const bag_filler *f, int32_t row, int32_t count) {
  double weight = (f->training->weight ? f->training->weight[row] : 1.0) * count;
  return f->scale < 1.0 && weight > 0.0 ? fmax(1.0, rint(weight * f->scale)) : weight;
}

static sr_status fill_piece(void *data, const int32_t *rows, const int32_t *counts,
                            int64_t length) {
  sr_status status = SR_OK;
  bag_filler *f = data;
  sr__entry tile[SR__ROW_TILE];
  int64_t filled = 0;
  f->given += length;
  for (int64_t i = 0; i < length; i++) {
    uint16_t label = f->training->label[rows[i]];
    double units = units_of(f, rows[i], counts ? counts[i] : 1);
    if (units > f->largest) f->largest = units;
    if (label == SR__NO_LABEL || units == 0.0 || f->largest > SR__MAX_LOAD) continue;
    f->units += units;
    tile[filled++] = (sr__entry){(uint32_t)rows[i], (uint32_t)units << SR__LOAD_CLASS | label};
    if (filled < SR__ROW_TILE) continue;
    SR_TRY(sr__add_rows(f->grower, f->coded, tile, filled));
    f->kept += filled;
    filled = 0;
  }
  SR_TRY(sr__add_rows(f->grower, f->coded, tile, filled));
  f->kept += filled;
cleanup:
  return status;
}

/* Scaled down and read again where a row would not fit into 20 bits. */
static sr_status fill_code(sr__grower *g, const sr__training *training, const sr__bag *bag,
                           sr__coded_rows *coded, bag_filler *filled) {
  sr_status status = SR_OK;
  bag_filler f = {.grower = g, .training = training, .coded = coded, .scale = 1.0};
  SR_TRY(sr__bag_read(g->ctx, bag, fill_piece, &f));
  if (f.largest > SR__MAX_LOAD) {
    double factor = 1.0;
    while (f.largest * factor > SR__MAX_LOAD) factor *= 0.5;
    *coded = (sr__coded_rows){0};
    f = (bag_filler){.grower = g, .training = training, .coded = coded, .scale = factor};
    SR_TRY(sr__bag_read(g->ctx, bag, fill_piece, &f));
  }
  *filled = f;
  if (f.kept == 0) status = sr__fail_empty_bag(g->ctx, f.given);
cleanup:
  return status;
}

/* ---- fit ---------------------------------------------------------------------------------- */

static void read_options(sr__grower *g, const sr__tree_options *options) {
  int64_t features = g->rules.features, root = (int64_t)sqrt((double)features);
  int64_t wanted = options->max_features > 0 ? options->max_features : root;
  g->draw.features = features;
  g->draw.candidates = options->max_features < 0 || wanted > features ? features
                       : wanted < 1                                   ? 1
                                                                      : wanted;
  g->rules.entropy = options->criterion == SR__TREE_ENTROPY;
  g->rules.max_depth = options->max_depth > 0 ? (int32_t)options->max_depth : INT32_MAX;
  while (1 << g->class_bits < g->rules.classes) g->class_bits++;
}

static sr_status new_scratch(sr__grower *g) {
  sr_status status = SR_OK;
  int64_t tiles = (g->rules.features + SR__SMALL_TILE - 1) / SR__SMALL_TILE;
  SR_NEW(g->ctx, g->column_memory, SR__SMALL_ROWS * (tiles * SR__SMALL_TILE + 1));
  /* A column is one cache line. */
  g->small.column =
      g->column_memory + (SR__SMALL_ROWS - (uintptr_t)g->column_memory % SR__SMALL_ROWS);
  SR_NEW_ZERO(g->ctx, g->small.stamp, tiles);
  g->small.histogram = g->any_histogram;
cleanup:
  return status;
}

static sr_status new_grower(sr__grower *g) {
  sr_status status = SR_OK;
  int32_t classes = g->rules.classes;
  SR_NEW(g->ctx, g->draw.order, g->rules.features);
  SR_NEW_ZERO(g->ctx, g->class_count, classes);
  SR_NEW(g->ctx, g->node.class_slot, classes);
  SR_NEW(g->ctx, g->node.slot_count, classes);
  SR_NEW(g->ctx, g->left_count, classes);
  SR_NEW(g->ctx, g->any_histogram, 256 * (int64_t)classes);
  g->histogram_slots = classes == 2                ? 4 * SR__GROUP
                       : 2 * classes > CLASS_SLOTS ? 2 * classes
                                                   : CLASS_SLOTS;
  g->histogram = sr__alloc(g->ctx, 256 * g->histogram_slots, sizeof(int32_t));
  if (!g->histogram) SR_TRY(sr_context_error(g->ctx).status);
  SR_TRY(new_scratch(g));
  for (int64_t j = 0; j < g->rules.features; j++) g->draw.order[j] = (int32_t)j;
  if (g->rules.entropy) {
    SR_NEW(g->ctx, g->rules.x_log_x, MOST_LOGS);
    sr__split_kernel_now()->fill_logs(MOST_LOGS, g->rules.x_log_x);
    g->rules.logs = MOST_LOGS;
  }
cleanup:
  return status;
}

/* All but the tree. */
static void free_grower(sr__grower *g) {
  void *blocks[] = {g->code,
                    g->work,
                    g->draw.order,
                    g->class_count,
                    g->node.class_slot,
                    g->node.slot_count,
                    g->left_count,
                    g->any_histogram,
                    g->histogram,
                    g->column_memory,
                    g->small.stamp,
                    g->rules.x_log_x};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__free(g->ctx, blocks[i]);
  *g = (sr__grower){.ctx = g->ctx, .tree = g->tree};
}

/* Gives back what growing by doubling left over. */
static void trim_tree(sr__grower *g) {
  sr__member *tree = g->tree;
  void *node = sr__resize(g->ctx, tree->node, tree->nodes, sizeof *tree->node);
  if (node) tree->node = node;
  void *info = sr__resize(g->ctx, tree->info, tree->nodes, sizeof *tree->info);
  if (info) tree->info = info;
}

sr_status sr__tree_fit(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                       sr__random *random, sr__member **member) {
  sr_status status = SR_OK;
  const sr__tree_options *options = input->options;
  sr__grower g = {.ctx = ctx,
                  .rules = {.binning = input->encoder->binning,
                            .features = input->encoder->binning->features,
                            .classes = input->encoder->classes},
                  .draw = {.state = sr__random_bits(random)},
                  .counting = bag->leaves && !input->training->weight &&
                              input->encoder->classes <= COUNTED_CLASSES};
  sr__coded_rows coded = {0};
  bag_filler filled;
  *member = NULL;
  read_options(&g, options);
  SR_NEW_ZERO(ctx, g.tree, 1);
  g.tree->allocator = sr__allocator(ctx);
  SR_TRY(new_grower(&g));
  SR_TRY(fill_code(&g, input->training, bag, &coded, &filled));
  double rows = (double)options->min_leaf * input->training->unit_per_row * filled.scale;
  double least = fmax(options->min_leaf > 1 ? rows : 1.0, options->min_share * filled.units);
  g.rules.min_weight = (int64_t)ceil(fmax(least, 1.0));
  SR_TRY(grow_tree(&g, input->training->rows, &coded, filled.kept));
  trim_tree(&g);
  free_grower(&g);
  SR_TRY(sr__tree_ready(ctx, input->encoder, bag->asked, g.tree));
  *member = g.tree;
  g.tree = NULL;
cleanup:
  sr__tree_free(g.tree);
  free_grower(&g);
  return status;
}
