/* Cutting trees into blocks of five levels, for vector levels that walk them (walk_kernel.c). */
#include "tree.h"

enum { EXITS = SR__BLOCK_EXITS, ONWARD = SR__BLOCK_ONWARD };

/* ---- cutting a tree into blocks ------------------------------------------------------------ */

/* The tree's nodes at the places of the block below `root`, a leaf at all places under it. */
static void lay_out(const sr__member *tree, uint32_t root, uint32_t place[2 * EXITS]) {
  place[1] = root;
  for (int i = 1; i < EXITS; i++) {
    uint32_t at = place[i], left = tree->node[at].left;
    place[2 * i] = left;
    place[2 * i + 1] = left == at ? at : left + 1;
  }
}

/* Roots of the blocks, those of a block's exits side by side. Gives their number. */
static int64_t list_roots(const sr__member *tree, uint32_t *root) {
  int64_t count = 1;
  root[0] = 0;
  for (int64_t b = 0; b < count; b++) {
    uint32_t place[2 * EXITS];
    lay_out(tree, root[b], place);
    for (int i = EXITS; i < 2 * EXITS; i++)
      if (tree->node[place[i]].left != place[i]) root[count++] = place[i];
  }
  return count;
}

/* Leaves get numbers in the order in which blocks name them. */
static uint16_t number_leaf(sr__member *tree, uint32_t leaf, int64_t *leaves) {
  if (*leaves > 0 && tree->block_leaf[*leaves - 1] == leaf) return (uint16_t)(*leaves - 1);
  tree->block_leaf[*leaves] = leaf;
  return (uint16_t)(*leaves)++;
}

static void fill_block(sr__member *tree, uint32_t root, int64_t *next, int64_t *leaves,
                       sr__tree_block *block) {
  uint32_t place[2 * EXITS];
  lay_out(tree, root, place);
  block->feature[0] = block->threshold[0] = 0; /* there is no node 0 */
  for (int i = 1; i < EXITS; i++) {
    uint32_t what = tree->node[place[i]].what;
    block->feature[i] =
        (uint8_t)(what >> SR__NODE_FEATURE | (what & SR__NODE_SHIFT ? SR__BLOCK_SHIFTED : 0));
    block->threshold[i] = (uint8_t)what;
  }
  for (int e = 0; e < EXITS; e++) {
    uint32_t at = place[EXITS + e];
    bool leaf = tree->node[at].left == at;
    block->exit[e] =
        leaf ? number_leaf(tree, at, leaves) : (uint16_t)(ONWARD | (uint32_t)(*next)++);
  }
}

sr_status sr__tree_make_blocks(sr_context *ctx, const sr__encoder *encoder, sr__member *tree) {
  sr_status status = SR_OK;
  uint32_t *root = NULL;
  int64_t next = 1, leaves = 0, most = tree->nodes / 2 + 1;
  if (!sr__walk_kernel_now()->blocks || tree->sets > 0 ||
      encoder->binning->features > SR__BLOCK_FEATURES || most > ONWARD)
    return SR_OK;
  SR_NEW(ctx, root, most);
  int64_t count = list_roots(tree, root);
  SR_NEW(ctx, tree->block_leaf, most);
  SR_NEW(ctx, tree->block_memory, count + 1);
  size_t beyond = (uintptr_t)tree->block_memory % sizeof(sr__tree_block);
  tree->block = (sr__tree_block *)((char *)tree->block_memory + sizeof(sr__tree_block) - beyond);
  for (int64_t b = 0; b < count; b++) fill_block(tree, root[b], &next, &leaves, &tree->block[b]);
cleanup:
  sr__free(ctx, root);
  return status;
}
