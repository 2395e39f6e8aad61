/* Trees cut into blocks of five levels, for processors that look up and compare bytes side by side:
 * one instruction fetches the bins that all 31 nodes of a block ask for, one compares them, and the
 * path is then read off the answers without touching memory. Gives the leaves that node by node
 * walking gives; without such a processor nothing here is made or used. */
#include "tree.h"

#if defined(__AVX512VBMI__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define HAVE_BLOCKS 1
#include <immintrin.h>
#else
#define HAVE_BLOCKS 0
#endif

enum {
  LEVELS = 5,
  EXITS = 1 << LEVELS,
  MOST_FEATURES = 64, /* of one register */
  SHIFTED = 1 << 7,   /* in `feature`: the node's SR__NODE_SHIFT */
  ONWARD = 1 << 15,   /* in `exit`: a block follows; without it: the vote of a leaf */
  GROUP = 1024,       /* rows that walk together */
  AHEAD = 32          /* rows whose blocks are on their way from memory */
};

/* Node i (from 1) of a block has the children 2 i and 2 i + 1; exit e is child EXITS + e. A leaf
 * inside a block sends everything left and stands at all exits below it. Two cache lines. */
struct sr__tree_block {
  uint8_t feature[EXITS];
  uint8_t threshold[EXITS];
  uint16_t exit[EXITS];
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

static void fill_block(const sr__member *tree, uint32_t root, int64_t *next,
                       sr__tree_block *block) {
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
    block->exit[e] = (uint16_t)(leaf ? tree->info[at] : ONWARD | (uint32_t)(*next)++);
  }
}

sr_status sr__tree_make_blocks(sr_context *ctx, const sr__shared *shared, sr__member *tree) {
  sr_status status = SR_OK;
  uint32_t *root = NULL;
  int64_t next = 1;
  if (!HAVE_BLOCKS || tree->sets > 0 || shared->binning->features > MOST_FEATURES) return SR_OK;
  SR_NEW(ctx, root, tree->nodes / 2 + 1);
  int64_t count = list_roots(tree, root);
  if (count > ONWARD) goto cleanup; /* too many to be named in an exit */
  SR_NEW(ctx, tree->block_memory, count + 1);
  size_t beyond = (uintptr_t)tree->block_memory % sizeof(sr__tree_block);
  tree->block = (sr__tree_block *)((char *)tree->block_memory + sizeof(sr__tree_block) - beyond);
  for (int64_t b = 0; b < count; b++) fill_block(tree, root[b], &next, &tree->block[b]);
cleanup:
  sr__free(ctx, root);
  return status;
}

/* ---- walking ------------------------------------------------------------------------------- */

#if HAVE_BLOCKS

typedef struct walk {
  const sr__tree_block *block;
  const uint8_t *bins;
  int64_t features;
  const int32_t *index; /* of the group; NULL: rows in order */
  __mmask64 present;    /* a bit a feature */
} walk;

/* A load that crosses cache lines is slow, so that no more is loaded than `width` bytes. */
static inline __attribute__((always_inline)) __m512i load_row(const walk *w, int64_t i, int width,
                                                              bool indexed) {
  const uint8_t *row = w->bins + (indexed ? w->index[i] : i) * w->features;
  if (width == 16) return _mm512_castsi128_si512(_mm_maskz_loadu_epi8((__mmask16)w->present, row));
  if (width == 32)
    return _mm512_castsi256_si512(_mm256_maskz_loadu_epi8((__mmask32)w->present, row));
  return _mm512_maskz_loadu_epi8(w->present, row);
}

/* 2 at + (bit `at` of right): compilers do not find these two instructions by themselves. */
static inline uint64_t descend(uint64_t at, uint32_t right) {
  __asm__("bt %k0, %k1\n\tadc %0, %0" : "+r"(at) : "r"(right) : "cc");
  return at;
}

static inline uint32_t leave_block(const sr__tree_block *block, __m512i row) {
  __m256i feature = _mm256_load_si256((const __m256i *)(const void *)block->feature);
  __m256i threshold = _mm256_load_si256((const __m256i *)(const void *)block->threshold);
  /* The look-up ignores the bit SHIFTED, which is the sign. */
  __m256i bin =
      _mm512_castsi512_si256(_mm512_permutexvar_epi8(_mm512_castsi256_si512(feature), row));
  __m256i minus_shift = _mm256_cmpgt_epi8(_mm256_setzero_si256(), feature);
  uint32_t right = _mm256_cmpgt_epu8_mask(_mm256_sub_epi8(bin, minus_shift), threshold);
  uint64_t at = 1;
  for (int level = 0; level < LEVELS; level++) at = descend(at, right);
  return block->exit[at - EXITS];
}

/* Past the last row something else stands in `coming`; then the address means nothing, and it is
 * not read. */
static inline void fetch_block(const walk *w, uint16_t coming) {
  uintptr_t at = (uintptr_t)w->block + (coming & (ONWARD - 1)) * sizeof *w->block;
  __builtin_prefetch((const void *)at);
  __builtin_prefetch((const void *)(at + sizeof *w->block / 2));
}

/* All rows take one block, then those that have not arrived the next one: rows do not wait for
 * each other's reads, and short paths not for long ones. */
static inline __attribute__((always_inline)) void walk_group(const walk *w, int64_t count,
                                                             int32_t *vote, int width,
                                                             bool indexed) {
  uint16_t row[GROUP], at[GROUP + AHEAD]; /* of those under way; `at` with ONWARD */
  memset(at + GROUP, 0, AHEAD * sizeof *at);
  int64_t left = 0;
  for (int64_t i = 0; i < count; i++) {
    uint32_t exit = leave_block(w->block, load_row(w, i, width, indexed));
    vote[i] = (int32_t)exit;
    row[left] = (uint16_t)i;
    at[left] = (uint16_t)exit;
    left += exit >> 15;
  }
  while (left > 0) {
    int64_t kept = 0;
    for (int64_t k = 0; k < left; k++) {
      uint16_t i = row[k];
      fetch_block(w, at[k + AHEAD]);
      const sr__tree_block *block = w->block + (at[k] & (ONWARD - 1));
      uint32_t exit = leave_block(block, load_row(w, i, width, indexed));
      vote[i] = (int32_t)exit;
      row[kept] = i;
      at[kept] = (uint16_t)exit;
      kept += exit >> 15;
    }
    left = kept;
  }
}

static void walk_rows(const walk *w, int64_t count, int32_t *vote) {
  if (w->index)
    walk_group(w, count, vote, MOST_FEATURES, true);
  else if (w->features <= 16)
    walk_group(w, count, vote, 16, false);
  else if (w->features <= 32)
    walk_group(w, count, vote, 32, false);
  else
    walk_group(w, count, vote, MOST_FEATURES, false);
}

void sr__tree_vote_by_blocks(const sr__member *tree, const sr__rows *rows, const int32_t *index,
                             int64_t count, int32_t *vote) {
  walk w = {.block = tree->block, .features = rows->features};
  w.present = ~(uint64_t)0 >> (MOST_FEATURES - rows->features);
  for (int64_t first = 0; first < count; first += GROUP) {
    int64_t here = count - first < GROUP ? count - first : GROUP;
    w.index = index ? index + first : NULL;
    w.bins = rows->bins + (index ? 0 : first * rows->features);
    walk_rows(&w, here, vote + first);
  }
}

#else

void sr__tree_vote_by_blocks(const sr__member *tree, const sr__rows *rows, const int32_t *index,
                             int64_t count, int32_t *vote) {
  (void)tree, (void)rows, (void)index, (void)count, (void)vote;
}

#endif
