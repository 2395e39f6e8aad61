/* Trees cut into blocks of five levels, for processors that look up and compare bytes side by side:
 * a few instructions fetch the bins that all 31 nodes of a block ask for, one compares them, and
 * the path is then read off the answers without touching memory. Gives the leaves that node by node
 * walking gives; without such a processor nothing here is made or used. */
#include "block_lanes.h"
#include "tree.h"

enum {
  EXITS = SR__BLOCK_EXITS,
  ONWARD = SR__BLOCK_ONWARD,
  MOST_FEATURES = 64,
  SHIFTED = 1 << 7, /* in `feature`: the node's SR__NODE_SHIFT */
  GROUP = 1024,     /* rows that walk together */
  TILE = 128,       /* rows that pass their blocks together */
  AHEAD = 64        /* rows whose blocks are on their way from memory */
};

/* Node i (from 1) of a block has the children 2 i and 2 i + 1; exit e is child EXITS + e. A leaf
 * inside a block sends everything left and stands at all exits below it. Two cache lines. */
struct sr__tree_block {
  uint8_t feature[EXITS];
  uint8_t threshold[EXITS];
  uint16_t exit[EXITS]; /* ONWARD | block, or the class of a pure leaf, or classes + mixture */
};

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

static uint16_t leaf_code(const sr__shared *shared, const sr__member *tree, uint32_t leaf) {
  int32_t mixture = tree->mixed ? tree->mixed[leaf] : -1;
  if (mixture < 0) return (uint16_t)tree->info[leaf];
  tree->mixture_vote[mixture] = (uint16_t)tree->info[leaf];
  return (uint16_t)(shared->classes + mixture);
}

static void fill_block(const sr__shared *shared, const sr__member *tree, uint32_t root,
                       int64_t *next, sr__tree_block *block) {
  uint32_t place[2 * EXITS];
  lay_out(tree, root, place);
  block->feature[0] = block->threshold[0] = 0; /* there is no node 0 */
  for (int i = 1; i < EXITS; i++) {
    uint32_t what = tree->node[place[i]].what;
    block->feature[i] = (uint8_t)(what >> SR__NODE_FEATURE | (what & SR__NODE_SHIFT ? SHIFTED : 0));
    block->threshold[i] = (uint8_t)what;
  }
  for (int e = 0; e < EXITS; e++) {
    uint32_t at = place[EXITS + e];
    bool leaf = tree->node[at].left == at;
    block->exit[e] = leaf ? leaf_code(shared, tree, at) : (uint16_t)(ONWARD | (uint32_t)(*next)++);
  }
}

sr_status sr__tree_make_blocks(sr_context *ctx, const sr__shared *shared, sr__member *tree) {
  sr_status status = SR_OK;
  uint32_t *root = NULL;
  int64_t next = 1;
  if (!SR__HAVE_BLOCKS || tree->sets > 0 || shared->binning->features > MOST_FEATURES ||
      shared->classes + tree->mixtures > ONWARD)
    return SR_OK;
  SR_NEW(ctx, root, tree->nodes / 2 + 1);
  int64_t count = list_roots(tree, root);
  if (count > ONWARD) goto cleanup; /* too many to be named in an exit */
  if (tree->mixtures > 0) SR_NEW(ctx, tree->mixture_vote, tree->mixtures);
  SR_NEW(ctx, tree->block_memory, count + 1);
  size_t beyond = (uintptr_t)tree->block_memory % sizeof(sr__tree_block);
  tree->block = (sr__tree_block *)((char *)tree->block_memory + sizeof(sr__tree_block) - beyond);
  for (int64_t b = 0; b < count; b++) fill_block(shared, tree, root[b], &next, &tree->block[b]);
cleanup:
  sr__free(ctx, root);
  return status;
}

/* ---- walking ------------------------------------------------------------------------------- */

#if SR__HAVE_BLOCKS

typedef struct walk {
  const sr__tree_block *block;
  const uint8_t *bins;
  int64_t stride;
  const int32_t *index; /* of the group; NULL: rows in order */
} walk;

/* Rows under way, by number in the group, and the blocks they stand at, with ONWARD. */
typedef struct travellers {
  uint16_t row[GROUP + SR__BLOCK_LANES];
  uint16_t at[GROUP + SR__BLOCK_LANES + AHEAD];
} travellers;

SR__INLINE const sr__tree_block *block_at(const walk *w, uint16_t at) {
  return w->block + (at & (ONWARD - 1));
}

/* Bit i: node i of the block sends the row right. */
SR__INLINE uint32_t goes_right(const sr__tree_block *block, sr__row_bytes row, int width) {
  __m256i feature = _mm256_load_si256((const void *)block->feature);
  __m256i threshold = _mm256_load_si256((const void *)block->threshold);
  /* The look-up ignores the bit SHIFTED, which is the sign. */
  __m256i bin = sr__look_up(row, feature, width);
  __m256i minus_shift = _mm256_cmpgt_epi8(_mm256_setzero_si256(), feature);
  return sr__bytes_above(_mm256_sub_epi8(bin, minus_shift), threshold);
}

/* Past the last row something else stands in `coming`; then the address means nothing, and it is
 * not read. */
SR__INLINE void fetch_block(const walk *w, uint16_t coming) {
  uintptr_t at = (uintptr_t)w->block + (coming & (ONWARD - 1)) * sizeof *w->block;
  __builtin_prefetch((const void *)at);
  __builtin_prefetch((const void *)(at + sizeof *w->block / 2));
}

/* Takes travellers [k, k + count) through one block each, in passes that do not wait for each
 * other's memory. Those that go on stand from `kept` on; gives where they end. */
SR__INLINE int64_t pass_blocks(const walk *w, travellers *t, int64_t k, int count, int64_t kept,
                               int32_t *leaf, int width, bool indexed) {
  uint32_t right[TILE], node[TILE], exit[TILE];
  for (int j = 0; j < count; j++) {
    int64_t row = t->row[k + j];
    fetch_block(w, t->at[k + j + AHEAD]);
    const uint8_t *bins = w->bins + (indexed ? w->index[row] : row) * w->stride;
    right[j] = goes_right(block_at(w, t->at[k + j]), sr__load_row(bins, width), width);
  }
  for (int j = count; j % SR__BLOCK_LANES; j++) right[j] = exit[j] = 0;
  for (int j = 0; j < count; j += SR__BLOCK_LANES) sr__find_exits(right + j, node + j);
  for (int j = 0; j < count; j++) {
    exit[j] = block_at(w, t->at[k + j])->exit[node[j] - EXITS];
    leaf[t->row[k + j]] = (int32_t)exit[j];
  }
  for (int j = 0; j < count; j += SR__BLOCK_LANES)
    kept += sr__keep_onward(t->row + k + j, exit + j, t->row + kept, t->at + kept);
  return kept;
}

/* All rows take one block, then those that have not arrived the next one: rows do not wait for
 * each other's reads, and short paths not for long ones. */
SR__INLINE void walk_group(const walk *w, int64_t count, int32_t *leaf, int width, bool indexed) {
  travellers t = {{0}, {0}};
  for (int64_t i = 0; i < count; i++) t.row[i] = (uint16_t)i;
  for (int64_t left = count; left > 0;) {
    int64_t kept = 0;
    for (int64_t k = 0; k < left; k += TILE) {
      int here = (int)(left - k < TILE ? left - k : TILE);
      kept = pass_blocks(w, &t, k, here, kept, leaf, width, indexed);
    }
    left = kept;
  }
}

static void walk_rows(const walk *w, int64_t features, int64_t count, int32_t *leaf) {
  if (w->index)
    walk_group(w, count, leaf, MOST_FEATURES, true);
  else if (features <= 16)
    walk_group(w, count, leaf, 16, false);
  else if (features <= 32)
    walk_group(w, count, leaf, 32, false);
  else
    walk_group(w, count, leaf, MOST_FEATURES, false);
}

void sr__tree_leaves_by_blocks(const sr__member *tree, const sr__rows *rows, const int32_t *index,
                               int64_t count, int32_t *leaf) {
  walk w = {.block = tree->block, .stride = rows->stride};
  for (int64_t first = 0; first < count; first += GROUP) {
    int64_t here = count - first < GROUP ? count - first : GROUP;
    w.index = index ? index + first : NULL;
    w.bins = rows->bins + (index ? 0 : first * rows->stride);
    walk_rows(&w, rows->features, here, leaf + first);
  }
}

#else

void sr__tree_leaves_by_blocks(const sr__member *tree, const sr__rows *rows, const int32_t *index,
                               int64_t count, int32_t *leaf) {
  (void)tree, (void)rows, (void)index, (void)count, (void)leaf;
}

#endif
