/* Extremely randomized trees on bins: per node one random cut of each of a tenth of the features,
 * the one that leaves the least entropy; down to pure leaves. */
#include <math.h>

#include "learner/labeled_bag.h"
#include "quant_kernel.h"

enum { FINE_ROWS = 4096 /* nodes of at most so many rows are scored in finer units */ };

typedef struct open_node {
  int32_t begin, end; /* of the rows */
  uint32_t node;
  int32_t depth;
} open_node;

typedef struct grower {
  sr_context *ctx;
  const sr__encoder *encoder;
  const sr__encoded *rows;
  const int32_t *label;
  double wanted; /* tiles a node, on average */

  int32_t count;    /* rows of the bag, with multiplicity */
  uint32_t *sorted; /* by class, as every tree starts */
  uint32_t *row;    /* of the tree under way; a node is a range, by class */
  uint32_t *spare;
  int32_t *end; /* a class that the node holds */
  int32_t *entropy, *fine_entropy;
  int32_t *order; /* of the tiles */

  open_node *open;
  int64_t open_capacity;
  sr__member *member;
  int64_t node_capacity, share_capacity;
} grower;

/* ---- the bag ------------------------------------------------------------------------------ */

/* Rows, each as often as it counts, class after class. */
static sr_status sort_bag(grower *g, const sr__labeled_bag *bag) {
  sr_status status = SR_OK;
  int64_t total = 0, *first = NULL;
  SR_NEW_ZERO(g->ctx, first, g->encoder->classes + 1);
  for (int64_t i = 0; i < bag->length; i++) {
    total += bag->count[i];
    first[bag->label[i] + 1] += bag->count[i];
  }
  if (total > INT32_MAX)
    SR_TRY(sr__fail(g->ctx, SR_ERROR_DATA, "the bag holds %lld rows; at most %d can be held",
                    (long long)total, INT32_MAX));
  for (int32_t c = 0; c < g->encoder->classes; c++) first[c + 1] += first[c];
  g->count = (int32_t)total;
  SR_NEW(g->ctx, g->sorted, total);
  SR_NEW(g->ctx, g->row, total);
  SR_NEW(g->ctx, g->spare, total);
  for (int64_t i = 0; i < bag->length; i++)
    for (int32_t k = 0; k < bag->count[i]; k++)
      g->sorted[first[bag->label[i]]++] = (uint32_t)bag->row[i];
cleanup:
  sr__free(g->ctx, first);
  return status;
}

/* k log2 k for k <= limit, rounded to a unit in which sums over classes and sides fit. */
static sr_status entropy_table(sr_context *ctx, int64_t limit, int32_t **table) {
  sr_status status = SR_OK;
  const double per_bit = 1.0 / 0.69314718055994530942;
  double unit = 0x1p20;
  SR_NEW(ctx, *table, limit + 1);
  while (limit > 1 && unit * (double)limit * sr__log_portable((double)limit) * per_bit > 0x1p29)
    unit /= 2;
  for (int64_t k = 0; k <= limit; k++)
    (*table)[k] =
        k < 2 ? 0 : (int32_t)rint(unit * (double)k * (sr__log_portable((double)k) * per_bit));
cleanup:
  return status;
}

/* ---- nodes -------------------------------------------------------------------------------- */

static sr_status add_nodes(grower *g, int64_t count, uint32_t *first) {
  sr_status status = SR_OK;
  sr__member *member = g->member;
  if (member->nodes > UINT32_MAX - count)
    SR_TRY(sr__fail(g->ctx, SR_ERROR_OVERFLOW, "a member has more than %u nodes; take fewer trees",
                    UINT32_MAX));
  SR_GROW(g->ctx, member->node, g->node_capacity, member->nodes + count);
  *first = (uint32_t)member->nodes;
  for (int64_t i = 0; i < count; i++, member->nodes++)
    member->node[member->nodes] =
        (sr__quant_node){(uint32_t)member->nodes, 0, INFINITY, SR__QUANT_LAST_BIN};
cleanup:
  return status;
}

/* Rows that no feature tells apart, of several classes. */
static sr_status add_mixture(grower *g, const open_node *open) {
  sr_status status = SR_OK;
  sr__member *member = g->member;
  int32_t classes = g->encoder->classes;
  if (classes + member->mixtures >= SR__QUANT_MAX_LEAF)
    SR_TRY(sr__fail(g->ctx, SR_ERROR_OVERFLOW,
                    "a member has more than %d leaves with several classes", SR__QUANT_MAX_LEAF));
  SR_GROW(g->ctx, member->share, g->share_capacity, (member->mixtures + 1) * classes);
  float *share = member->share + member->mixtures * classes;
  for (int32_t c = 0; c < classes; c++) share[c] = 0.0f;
  for (int32_t i = open->begin; i < open->end; i++) share[g->label[g->row[i]]] += 1.0f;
  for (int32_t c = 0; c < classes; c++) share[c] /= (float)(open->end - open->begin);
  member->node[open->node].bin |= (uint32_t)(classes + member->mixtures) << 8;
  member->mixtures++;
cleanup:
  return status;
}

/* The rows stay in the order of their classes. Gives how many go left. */
static int32_t divide_rows(grower *g, const open_node *open, sr__quant_cut cut) {
  const uint8_t *bin = g->rows->bin + cut.place / SR__QUANT_TILE * g->rows->count * SR__QUANT_TILE +
                       cut.place % SR__QUANT_TILE;
  uint32_t *row = g->row + open->begin;
  int32_t left = 0, right = 0;
  for (int32_t i = 0; i < open->end - open->begin; i++) { /* both writes, one stays: no branch */
    uint32_t here = row[i];
    bool above = bin[(int64_t)here * SR__QUANT_TILE] > cut.bin;
    row[left] = here;
    g->spare[right] = here;
    left += !above;
    right += above;
  }
  memcpy(row + left, g->spare, sizeof *row * (size_t)right);
  return left;
}

/* Fills `end` and gives the number of classes. */
static int32_t list_classes(grower *g, const open_node *open) {
  const uint32_t *row = g->row + open->begin;
  int32_t count = open->end - open->begin, present = 0;
  for (int32_t i = 1; i <= count; i++)
    if (i == count || g->label[row[i]] != g->label[row[i - 1]]) g->end[present++] = i;
  return present;
}

/* ---- trees -------------------------------------------------------------------------------- */

static sr__quant_cut find_cut(grower *g, const open_node *open, int32_t present,
                              sr__quant_draw *draw) {
  int32_t count = open->end - open->begin, wanted = (int32_t)g->wanted;
  double uniform = (double)(sr__quant_draw_bits(draw) >> 11) * 0x1p-53;
  wanted += uniform < g->wanted - wanted; /* rounded at random */
  sr__quant_search search = {
      .bin = g->rows->bin,
      .rows = g->rows->count,
      .tiles = g->encoder->tiles,
      .order = g->order,
      .row = g->row + open->begin,
      .count = count,
      .present = present,
      .end = g->end,
      .entropy = count <= FINE_ROWS ? g->fine_entropy : g->entropy,
      .wanted = wanted < 1 ? 1 : wanted,
      .draw = *draw,
  };
  sr__quant_cut cut = sr__quant_kernel_now()->search(&search);
  *draw = search.draw;
  return cut;
}

/* Splits the node and opens its children, the left one last, or closes it. */
static sr_status grow_node(grower *g, open_node open, sr__quant_draw *draw, int64_t *opened) {
  sr_status status = SR_OK;
  sr__quant_cut cut = {-1, 0};
  uint32_t left = 0;
  int32_t present = list_classes(g, &open);
  if (present == 1) {
    g->member->node[open.node].bin |= (uint32_t)g->label[g->row[open.begin]] << 8;
    return SR_OK;
  }
  cut = find_cut(g, &open, present, draw);
  if (cut.place < 0) return add_mixture(g, &open);
  SR_TRY(add_nodes(g, 2, &left));
  int32_t feature = g->encoder->feature_at[cut.place];
  float threshold = g->encoder->edge[(int64_t)feature * SR__QUANT_EDGES + cut.bin];
  g->member->node[open.node] =
      (sr__quant_node){left, (uint32_t)feature, threshold, (uint32_t)cut.bin};
  int32_t middle = open.begin + divide_rows(g, &open, cut);
  SR_GROW(g->ctx, g->open, g->open_capacity, *opened + 2);
  g->open[(*opened)++] = (open_node){middle, open.end, left + 1, open.depth + 1};
  g->open[(*opened)++] = (open_node){open.begin, middle, left, open.depth + 1};
cleanup:
  return status;
}

static sr_status grow_tree(grower *g, int32_t tree, sr__random *random) {
  sr_status status = SR_OK;
  sr__quant_draw draw = {sr__random_bits(random)};
  sr__member *member = g->member;
  int64_t opened = 0;
  memcpy(g->row, g->sorted, sizeof *g->row * (size_t)g->count);
  for (int32_t t = 0; t < g->encoder->tiles; t++) g->order[t] = t;
  SR_TRY(add_nodes(g, 1, &member->root[tree]));
  SR_GROW(g->ctx, g->open, g->open_capacity, 1);
  g->open[opened++] = (open_node){0, g->count, member->root[tree], 0};
  member->depth[tree] = 0;
  while (opened > 0) {
    open_node open = g->open[--opened];
    if (open.end - open.begin > 64) SR_TRY(sr__check_interrupt(g->ctx));
    if (open.depth > member->depth[tree]) member->depth[tree] = open.depth;
    SR_TRY(grow_node(g, open, &draw, &opened));
  }
cleanup:
  return status;
}

static sr_status check_options(sr_context *ctx, const sr__quant_options *options) {
  if (options->trees < 1 || options->trees > INT32_MAX)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "trees is %lld, expected 1 or more",
                    (long long)options->trees);
  if (!(options->share > 0.0 && options->share <= 1.0))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "share is %g, expected more than 0 and at most 1",
                    options->share);
  return SR_OK;
}

static void free_grower(grower *g) {
  void *block[] = {g->sorted, g->row, g->spare, g->end, g->entropy, g->order, g->open};
  if (g->fine_entropy != g->entropy) sr__free(g->ctx, g->fine_entropy);
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) sr__free(g->ctx, block[i]);
  sr__quant_free_member(g->member);
}

sr_status sr__quant_fit(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                        sr__random *random, sr__member **member) {
  sr_status status = SR_OK;
  const sr__encoder *encoder = input->encoder;
  const sr__quant_options *options = input->options;
  sr__labeled_bag labeled = {0};
  grower g = {.ctx = ctx,
              .encoder = encoder,
              .rows = input->training->rows,
              .label = input->training->label};
  *member = NULL;
  SR_TRY(check_options(ctx, options));
  if (!g.rows->bin || !encoder->edge)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "only binned rows can be learned from"));
  g.wanted = options->share * encoder->features / SR__QUANT_TILE;
  SR_TRY(sr__labeled_bag_read(ctx, bag, g.label, NULL, &labeled));
  SR_TRY(sort_bag(&g, &labeled));
  SR_TRY(entropy_table(ctx, g.count, &g.entropy));
  if (g.count <= FINE_ROWS)
    g.fine_entropy = g.entropy;
  else
    SR_TRY(entropy_table(ctx, FINE_ROWS, &g.fine_entropy));
  SR_NEW(ctx, g.order, encoder->tiles);
  SR_NEW(ctx, g.end, encoder->classes);
  SR_NEW_ZERO(ctx, g.member, 1);
  g.member->allocator = sr__allocator(ctx);
  g.member->trees = (int32_t)options->trees;
  SR_NEW(ctx, g.member->root, options->trees);
  SR_NEW(ctx, g.member->depth, options->trees);
  for (int32_t t = 0; t < g.member->trees; t++) SR_TRY(grow_tree(&g, t, random));
  *member = g.member;
  g.member = NULL;
cleanup:
  sr__labeled_bag_free(ctx, &labeled);
  free_grower(&g);
  return status;
}
