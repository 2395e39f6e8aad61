/* What walk_kernel.c needs of a finished tree whose nodes many rows pass together: its crown, the
 * branches below the crown's exits, and votes in bytes. */
#include "tree.h"

enum {
  EXITS = SR__WALK_EXITS,
  SMALL = 64, /* a tree of so many splits is all crown */
  NONE = -1
};

/* Per node of the tree. */
typedef struct crown_work {
  const sr__member *tree;
  int32_t *splits; /* in it and below it */
  int32_t *exit;   /* its number; NONE inside the crown and inside branches */
  uint32_t *value; /* where its value stands, in bytes */
  uint32_t *list;  /* nodes of the piece in hand, from its root down */
  uint32_t root[EXITS];
  int32_t exits;
  int64_t features, nodes, leaves; /* nodes and leaves so far */
} crown_work;

static bool is_leaf(const sr__member *tree, uint32_t at) { return tree->node[at].left == at; }

static int32_t largest(const crown_work *w) {
  int32_t best = 0;
  for (int32_t e = 1; e < w->exits; e++)
    if (w->splits[w->root[e]] > w->splits[w->root[best]]) best = e;
  return best;
}

/* About as many exits as a branch has splits: what stands at the largest exit is taken into the
 * crown. False where a branch would still have more leaves than a byte can number. */
static bool choose_exits(crown_work *w) {
  int32_t splits = w->splits[0], wanted = splits <= SMALL ? splits + 1 : 1;
  while (splits > SMALL && wanted < EXITS && wanted * wanted < splits) wanted++;
  w->exits = 1;
  w->root[0] = 0;
  for (int32_t e = 0; w->splits[w->root[e]] > 0 && w->exits < EXITS; e = largest(w)) {
    if (w->exits >= wanted && w->splits[w->root[e]] < EXITS) break;
    uint32_t left = w->tree->node[w->root[e]].left;
    w->root[e] = left;
    w->root[w->exits++] = left + 1;
  }
  for (int32_t e = 0; e < w->exits; e++) w->exit[w->root[e]] = e;
  return w->splits[w->root[largest(w)]] < EXITS;
}

/* Where nothing is missing, a bin one higher is at most the threshold where the bin itself is at
 * most one below it. */
static sr__pass_node pass_node(const crown_work *w, uint32_t at, bool whole) {
  sr__node node = w->tree->node[at];
  int64_t column = node.what >> SR__NODE_FEATURE;
  uint32_t shift = node.what >> 8 & 1;
  if (shift && !whole) column += sr__walk_columns(w->features) / 2;
  bool all_left = (uint8_t)node.what == UINT8_MAX;
  return (sr__pass_node){.left = w->value[node.left],
                         .right = w->value[node.left + !all_left],
                         .column = (uint32_t)column * SR__WALK_LANES,
                         .threshold =
                             (((node.what + 1 - (whole ? shift : 0)) & 0xff) ^ 0x80) * 0x01010101u};
}

/* The crown, or the branch below a node: what it ends in gets numbers, its splits follow from the
 * deepest to its root. */
static void add_piece(crown_work *w, uint32_t root, bool crown, sr__member *tree) {
  int64_t listed = 1, splits = 0, first_leaf = w->leaves;
  w->list[0] = root;
  for (int64_t i = 0; i < listed; i++) {
    uint32_t at = w->list[i];
    if (crown ? w->exit[at] == NONE : !is_leaf(tree, at)) {
      w->list[splits++] = at; /* never beyond what was read */
      w->list[listed++] = tree->node[at].left;
      w->list[listed++] = tree->node[at].left + 1;
    } else if (crown) {
      w->value[at] = (uint32_t)w->exit[at] * SR__WALK_LANES;
    } else {
      w->value[at] = (uint32_t)(w->leaves - first_leaf) * SR__WALK_LANES;
      tree->pass_leaf[w->leaves++] = at;
    }
  }
  for (int64_t i = splits - 1; i >= 0; i--) {
    uint32_t at = w->list[i];
    w->value[at] = (uint32_t)(EXITS + splits - 1 - i) * SR__WALK_LANES;
    if (tree->shifted) tree->pass[tree->pass_whole + w->nodes] = pass_node(w, at, true);
    tree->pass[w->nodes++] = pass_node(w, at, false);
  }
}

static void count_splits(crown_work *w) {
  for (int64_t at = w->tree->nodes - 1; at >= 0; at--) {
    uint32_t left = w->tree->node[at].left;
    w->splits[at] = left == at ? 0 : 1 + w->splits[left] + w->splits[left + 1];
    w->exit[at] = NONE;
  }
}

sr_status sr__tree_make_crown(sr_context *ctx, const sr__encoder *encoder, sr__member *tree) {
  sr_status status = SR_OK;
  crown_work w = {.tree = tree, .features = encoder->binning->features};
  if (tree->sets > 0 || w.features > SR__WALK_FEATURES || is_leaf(tree, 0)) return SR_OK;
  SR_NEW(ctx, w.splits, tree->nodes);
  SR_NEW(ctx, w.exit, tree->nodes);
  SR_NEW(ctx, w.value, tree->nodes);
  SR_NEW(ctx, w.list, tree->nodes);
  count_splits(&w);
  if (!choose_exits(&w)) goto cleanup;
  SR_NEW(ctx, tree->branch, w.exits + 1);
  SR_NEW(ctx, tree->pass_leaf, tree->nodes / 2 + 1);
  tree->pass_whole = tree->shifted ? tree->nodes / 2 : 0;
  SR_NEW(ctx, tree->pass, tree->nodes / 2 + tree->pass_whole);
  tree->exits = w.exits;
  add_piece(&w, 0, true, tree);
  for (int32_t e = 0; e < w.exits; e++) {
    tree->branch[e] = (sr__branch){(uint32_t)w.nodes, (uint32_t)w.leaves};
    add_piece(&w, w.root[e], false, tree);
  }
  tree->branch[w.exits] = (sr__branch){(uint32_t)w.nodes, (uint32_t)w.leaves};
cleanup:
  sr__free(ctx, w.splits);
  sr__free(ctx, w.exit);
  sr__free(ctx, w.value);
  sr__free(ctx, w.list);
  return status;
}

void sr__tree_note_votes(sr__member *tree) {
  int64_t leaves = tree->nodes / 2 + 1;
  if (!tree->vote) return;
  for (int64_t at = 0; at < tree->nodes; at++) tree->vote[at] = (uint8_t)tree->info[at];
  for (int64_t i = 0; tree->pass && i < leaves; i++)
    tree->pass_vote[i] = tree->vote[tree->pass_leaf[i]];
  for (int64_t i = 0; tree->block && i < leaves; i++)
    tree->block_vote[i] = tree->vote[tree->block_leaf[i]];
}

sr_status sr__tree_ready(sr_context *ctx, const sr__encoder *encoder, int64_t asked,
                         sr__member *tree) {
  sr_status status = SR_OK;
  for (int64_t i = 0; i < tree->nodes; i++)
    tree->shifted = tree->shifted || tree->node[i].what & SR__NODE_SHIFT;
  if (asked == 0 || asked >= tree->nodes) { /* they take longer than a few walks */
    SR_TRY(sr__tree_make_blocks(ctx, encoder, tree));
    if (!tree->block) SR_TRY(sr__tree_make_crown(ctx, encoder, tree));
  }
  if (encoder->classes <= UINT8_MAX + 1) {
    SR_NEW(ctx, tree->vote, tree->nodes);
    if (tree->pass) SR_NEW(ctx, tree->pass_vote, tree->nodes / 2 + 1);
    if (tree->block) SR_NEW(ctx, tree->block_vote, tree->nodes / 2 + 1);
    sr__tree_note_votes(tree);
  }
cleanup:
  return status;
}
