/* What walk_kernel.c needs of a finished tree: its crowns (the first six levels and the six below
 * each of their exits, laid out so that many rows pass them together) and votes in bytes. */
#include "tree.h"

enum {
  EXITS = SR__CROWN_EXITS,
  WORTH = 8 /* splits below an exit for which its rows are passed on together */
};

/* The tree's nodes at the places of the crown below `root`. A leaf stands at all places under it,
 * and so does the left child of a node that sends everything left. */
static void lay_out(const sr__member *tree, uint32_t root, uint32_t place[2 * EXITS]) {
  place[1] = root;
  for (int i = 1; i < EXITS; i++) {
    uint32_t at = place[i], left = tree->node[at].left;
    place[2 * i] = left;
    place[2 * i + 1] = (uint8_t)tree->node[at].what == UINT8_MAX ? left : left + 1;
  }
}

static int splits(const uint32_t place[2 * EXITS]) {
  int count = 0;
  for (int i = 1; i < EXITS; i++) count += place[2 * i] != place[2 * i + 1];
  return count;
}

/* The code of the turns on the way to a place of the last level. */
static int exit_code(int place) {
  int code = place & 1 ? 0 : EXITS - 1;
  for (int level = 1; level < SR__CROWN_LEVELS; level++)
    code ^= place >> level & 1 ? 0 : 1 << level;
  return code;
}

static void fill_crown(const sr__member *tree, const uint32_t place[2 * EXITS], sr__crown *crown) {
  crown->node[0] = (sr__crown_node){0, 0}; /* there is no node 0 */
  for (int i = 1; i < EXITS; i++) {
    uint32_t what = tree->node[place[i]].what;
    crown->node[i].threshold = (((what + 1) & 0xff) ^ 0x80) * 0x01010101u;
    crown->node[i].column =
        (what >> SR__NODE_FEATURE) + (what & SR__NODE_SHIFT ? SR__CROWN_FEATURES : 0);
  }
  for (int e = 0; e < EXITS; e++) crown->exit[exit_code(EXITS + e)] = place[EXITS + e];
}

/* Which exits of the first crown have one below them; gives how many crowns there are. */
static int64_t number_crowns(const sr__member *tree, const sr__crown *first, uint8_t next[EXITS]) {
  uint32_t place[2 * EXITS];
  int64_t count = 1;
  for (int e = 0; e < EXITS; e++) {
    lay_out(tree, first->exit[e], place);
    next[e] = splits(place) >= WORTH ? (uint8_t)count++ : 0;
  }
  return count;
}

sr_status sr__tree_make_crowns(sr_context *ctx, const sr__encoder *encoder, sr__member *tree) {
  sr_status status = SR_OK;
  uint32_t place[2 * EXITS];
  sr__crown first;
  if (tree->sets > 0 || encoder->binning->features > SR__CROWN_FEATURES) return SR_OK;
  lay_out(tree, 0, place);
  if (splits(place) < WORTH) return SR_OK;
  fill_crown(tree, place, &first);
  SR_NEW(ctx, tree->crown, number_crowns(tree, &first, tree->next));
  tree->crown[0] = first;
  for (int e = 0; e < EXITS; e++) {
    if (tree->next[e] == 0) continue;
    lay_out(tree, first.exit[e], place);
    fill_crown(tree, place, &tree->crown[tree->next[e]]);
  }
cleanup:
  return status;
}

sr_status sr__tree_ready(sr_context *ctx, const sr__encoder *encoder, int64_t asked,
                         sr__member *tree) {
  sr_status status = SR_OK;
  if (encoder->classes <= UINT8_MAX + 1) SR_NEW(ctx, tree->vote, tree->nodes);
  for (int64_t i = 0; i < tree->nodes; i++) {
    tree->shifted = tree->shifted || tree->node[i].what & SR__NODE_SHIFT;
    if (tree->vote) tree->vote[i] = (uint8_t)tree->info[i];
  }
  if (asked > 0 && asked < tree->nodes) return SR_OK; /* a block takes longer than a few walks */
  SR_TRY(sr__tree_make_blocks(ctx, encoder, tree));
  if (!tree->block) SR_TRY(sr__tree_make_crowns(ctx, encoder, tree));
cleanup:
  return status;
}
