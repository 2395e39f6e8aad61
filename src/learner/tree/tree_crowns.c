/* What walk_kernel.c needs of a finished tree whose nodes many rows pass together: its crown, the
 * branches below the crown's exits, and votes in bytes. */
#include "tree.h"

enum {
  LANES = SR__WALK_LANES,
  BLOCK = SR__WALK_BLOCK,
  ENDS = SR__PIECE_ENDS,
  EXITS = SR__WALK_EXITS,
  PIECES = SR__WALK_PIECES,
  LEAST = 16 /* splits below an exit that are worth a piece */
};

/* The crown grows from the root by pieces: an open end of one is an exit so far. */
typedef struct crown_work {
  const sr__member *tree;
  int32_t *splits; /* per node: in it and below it */
  uint32_t *value; /* per node: where its value stands, in bytes */
  uint32_t *list;  /* nodes of the branch in hand, from its root down */
  uint32_t root[PIECES], open[EXITS];
  uint32_t exit[EXITS]; /* nodes; a leaf that ends a piece early stands at several exits */
  int32_t pieces, opens, exits;
  bool idle; /* a split sends everything left: no tree that was grown has one */
  int64_t features, nodes, leaves; /* of branches so far */
} crown_work;

static bool is_leaf(const sr__member *tree, uint32_t at) { return tree->node[at].left == at; }

/* The tree's nodes at the places of a piece; what ends before stands at all places under it. */
static void lay_out(const sr__member *tree, uint32_t root, uint32_t place[2 * ENDS]) {
  place[1] = root;
  for (int i = 1; i < ENDS; i++) {
    uint32_t at = place[i], left = tree->node[at].left;
    place[2 * i] = left;
    place[2 * i + 1] = left == at ? at : left + 1;
  }
}

static int32_t largest(const crown_work *w) {
  int32_t best = 0;
  for (int32_t e = 1; e < w->opens; e++)
    if (w->splits[w->open[e]] > w->splits[w->open[best]]) best = e;
  return best;
}

static void add_piece(crown_work *w, int32_t at) {
  uint32_t place[2 * ENDS];
  w->root[w->pieces++] = w->open[at];
  lay_out(w->tree, w->open[at], place);
  w->open[at] = place[ENDS];
  for (int e = 1; e < ENDS; e++)
    if (place[ENDS + e] != place[ENDS + e - 1]) w->open[w->opens++] = place[ENDS + e];
}

/* Until a branch has fewer splits than the root of six times those of the tree: rows pass a node of
 * the crown faster than one of a branch, but few rows at each of many exits do not fill the lanes.
 * False where a branch would still have more leaves than a byte can number. */
static bool choose_pieces(crown_work *w) {
  int64_t splits = w->splits[0];
  w->opens = 1;
  w->open[0] = 0;
  add_piece(w, 0);
  for (int32_t e = largest(w); w->pieces < PIECES; e = largest(w)) {
    int64_t most = w->splits[w->open[e]];
    if (most < LEAST || (most < EXITS && most * most < 6 * splits)) break;
    add_piece(w, e);
  }
  return w->splits[w->open[largest(w)]] < EXITS;
}

static void name_exit(crown_work *w, uint32_t at) {
  w->value[at] = (uint32_t)w->exits;
  w->exit[w->exits++] = at;
}

/* Where nothing is missing, a bin one higher is at most the threshold where the bin itself is at
 * most one below it. */
static uint8_t threshold_of(uint32_t what, bool whole) {
  uint32_t shift = what >> 8 & 1;
  return (uint8_t)((what + 1 - (whole ? shift : 0)) ^ 0x80);
}

static uint16_t column_of(const crown_work *w, uint32_t what, bool whole) {
  int64_t column = what >> SR__NODE_FEATURE;
  if (what & SR__NODE_SHIFT && !whole) column += sr__walk_columns(w->features);
  return (uint16_t)column;
}

static bool is_piece(const crown_work *w, uint32_t at) {
  for (int32_t p = 0; p < w->pieces; p++)
    if (w->root[p] == at) return true;
  return false;
}

/* Exits of a piece are numbered one after the other. */
static void name_ends(crown_work *w, sr__crown_piece *piece, const uint32_t end[ENDS]) {
  bool last = true;
  for (int e = 0; e < ENDS; e++) last = last && !is_piece(w, end[e]);
  piece->exit = (int16_t)(last ? w->exits : -1);
  for (int e = 0; e < ENDS; e++) {
    if (last || (!is_piece(w, end[e]) && (e == 0 || end[e] != end[e - 1]))) name_exit(w, end[e]);
    piece->end[e] = (uint16_t)w->value[end[e]];
  }
}

static void fill_piece(crown_work *w, int32_t p, sr__member *tree) {
  uint32_t place[2 * ENDS];
  sr__crown_piece *piece = &tree->piece[p], *whole = &tree->piece[w->pieces + p];
  lay_out(tree, w->root[p], place);
  name_ends(w, piece, place + ENDS);
  if (tree->shifted) *whole = *piece;
  for (int i = 1; i < ENDS; i++) {
    uint32_t what = tree->node[place[i]].what;
    piece->column[i - 1] = (uint16_t)(column_of(w, what, false) * LANES);
    piece->threshold[i - 1] = threshold_of(what, false) * 0x01010101u;
    if (!tree->shifted) continue;
    whole->column[i - 1] = (uint16_t)(column_of(w, what, true) * LANES);
    whole->threshold[i - 1] = threshold_of(what, true) * 0x01010101u;
  }
}

static bool has_twigs(const sr__member *tree, uint32_t at) {
  uint32_t left = tree->node[at].left;
  return is_leaf(tree, left) && is_leaf(tree, left + 1);
}

static sr__pass_node pass_node(const crown_work *w, uint32_t at) {
  sr__node node = w->tree->node[at];
  bool twigs = has_twigs(w->tree, at), shift = node.what & SR__NODE_SHIFT;
  return (sr__pass_node){(uint16_t)w->value[node.left], (uint16_t)w->value[node.left + 1],
                         (uint16_t)(column_of(w, node.what, true) * BLOCK),
                         threshold_of(node.what, true),
                         (uint8_t)((twigs ? SR__PASS_TWIGS : 0) | (shift ? SR__PASS_SHIFT : 0))};
}

/* The branch below an exit: its leaves get numbers, those of a node one after the other; its splits
 * follow from the deepest to its root. */
static void add_branch(crown_work *w, uint32_t root, sr__member *tree) {
  int64_t listed = 1, splits = 0, first_leaf = w->leaves;
  w->list[0] = root;
  for (int64_t i = 0; i < listed; i++) {
    uint32_t at = w->list[i];
    if (is_leaf(tree, at)) {
      w->value[at] = (uint32_t)(w->leaves - first_leaf) * BLOCK;
      tree->pass_leaf[w->leaves++] = at;
    } else {
      w->list[splits++] = at; /* never beyond what was read */
      w->list[listed++] = tree->node[at].left;
      w->list[listed++] = tree->node[at].left + 1;
    }
  }
  for (int twigs = 1, at = 0; twigs >= 0; twigs--)
    for (int64_t i = splits - 1; i >= 0; i--) {
      if (has_twigs(tree, w->list[i]) != twigs) continue;
      w->value[w->list[i]] = (uint32_t)(EXITS + at++) * BLOCK;
      tree->pass[w->nodes++] = pass_node(w, w->list[i]);
    }
}

static void count_splits(crown_work *w) {
  for (int64_t at = w->tree->nodes - 1; at >= 0; at--) {
    uint32_t left = w->tree->node[at].left;
    w->splits[at] = left == at ? 0 : 1 + w->splits[left] + w->splits[left + 1];
    if (left != at && (uint8_t)w->tree->node[at].what == UINT8_MAX) w->idle = true;
  }
}

static void add_branches(crown_work *w, sr__member *tree) {
  for (int32_t e = 0; e <= w->exits; e++) {
    tree->branch[e] = (sr__branch){(uint32_t)w->nodes, (uint32_t)w->leaves};
    if (e == w->exits) break;
    add_branch(w, w->exit[e], tree);
  }
}

sr_status sr__tree_make_crown(sr_context *ctx, const sr__encoder *encoder, sr__member *tree) {
  sr_status status = SR_OK;
  crown_work w = {.tree = tree, .features = encoder->binning->features};
  if (tree->sets > 0 || w.features > SR__WALK_FEATURES || is_leaf(tree, 0)) return SR_OK;
  SR_NEW(ctx, w.splits, tree->nodes);
  SR_NEW(ctx, w.value, tree->nodes);
  SR_NEW(ctx, w.list, tree->nodes);
  count_splits(&w);
  if (w.idle || !choose_pieces(&w)) goto cleanup;
  SR_NEW(ctx, tree->piece, w.pieces * (tree->shifted ? 2 : 1));
  for (int32_t p = 0; p < w.pieces; p++) w.value[w.root[p]] = (uint32_t)(EXITS + p);
  for (int32_t p = 0; p < w.pieces; p++) fill_piece(&w, p, tree);
  SR_NEW(ctx, tree->branch, w.exits + 1);
  SR_NEW(ctx, tree->pass_leaf, tree->nodes / 2 + 1 + EXITS);
  SR_NEW(ctx, tree->pass, tree->nodes / 2);
  tree->exits = w.exits;
  tree->pieces = w.pieces;
  add_branches(&w, tree);
cleanup:
  sr__free(ctx, w.splits);
  sr__free(ctx, w.value);
  sr__free(ctx, w.list);
  return status;
}

/* The node with the votes of leaves instead of their numbers. */
static sr__pass_node with_votes(sr__pass_node node, const uint8_t *vote) {
  if (node.left < EXITS * BLOCK) node.left = (uint16_t)(vote[node.left / BLOCK] * BLOCK);
  if (node.right < EXITS * BLOCK) node.right = (uint16_t)(vote[node.right / BLOCK] * BLOCK);
  return node;
}

void sr__tree_note_votes(sr__member *tree) {
  if (!tree->vote) return;
  for (int64_t at = 0; at < tree->nodes; at++) tree->vote[at] = (uint8_t)tree->info[at];
  if (!tree->pass) return;
  for (int64_t i = 0; i < tree->branch[tree->exits].leaf; i++)
    tree->pass_vote[i] = tree->vote[tree->pass_leaf[i]];
  for (int32_t e = 0; e < tree->exits; e++)
    for (int64_t i = tree->branch[e].node; i < tree->branch[e + 1].node; i++) {
      const uint8_t *vote = tree->pass_vote + tree->branch[e].leaf;
      tree->vote_pass[i] = with_votes(tree->pass[i], vote);
    }
}

sr_status sr__tree_ready(sr_context *ctx, const sr__encoder *encoder, int64_t asked,
                         sr__member *tree) {
  sr_status status = SR_OK;
  for (int64_t i = 0; i < tree->nodes; i++)
    tree->shifted = tree->shifted || tree->node[i].what & SR__NODE_SHIFT;
  if (asked == 0 || asked >= tree->nodes) /* it takes longer than a few walks */
    SR_TRY(sr__tree_make_crown(ctx, encoder, tree));
  if (encoder->classes <= UINT8_MAX + 1) {
    SR_NEW(ctx, tree->vote, tree->nodes);
    if (tree->pass) {
      SR_NEW(ctx, tree->pass_vote, tree->branch[tree->exits].leaf);
      SR_NEW(ctx, tree->vote_pass, tree->nodes / 2);
    }
    sr__tree_note_votes(tree);
  }
cleanup:
  return status;
}
