#include "blocks_kernel.h"

#include <stdbool.h>
#include <stddef.h>

#include "block_lanes.h"

/* ---- node by node -------------------------------------------------------------------------- */

enum {
  COMPANY = 512, /* rows that are under way together, so that their memory reads overlap */
  STEPS = 4      /* that a row takes before it is asked whether it has arrived */
};

static inline uint32_t step(const sr__node *node, uint32_t at, const uint8_t *row) {
  sr__node here = node[at];
  uint8_t bin = (uint8_t)(row[here.what >> SR__NODE_FEATURE] + (here.what >> 8 & 1));
  return here.left + (bin > (uint8_t)here.what);
}

/* A leaf leads to itself, so that a step has no branch. Rows that have not arrived stand in front
 * of `row` and `at`; gives how many there are. */
static int walk_on(const sr__node *node, const uint8_t **row, uint32_t *at, uint16_t *number,
                   int count, uint32_t *leaf) {
  int kept = 0;
  for (int k = 0; k < count; k++) {
    const uint8_t *here = row[k];
    uint32_t to = at[k];
    for (int s = 0; s < STEPS; s++) to = step(node, to, here);
    leaf[number[k]] = to;
    row[kept] = here;
    number[kept] = number[k];
    at[kept] = to;
    kept += node[to].left != to;
  }
  return kept;
}

static void leaves_by_nodes(const sr__node *node, const sr__walk_rows *rows, int64_t count,
                            uint32_t *leaf) {
  const uint8_t *row[COMPANY];
  uint32_t at[COMPANY];
  uint16_t number[COMPANY];
  for (int64_t first = 0; first < count; first += COMPANY) {
    int here = (int)(count - first < COMPANY ? count - first : COMPANY);
    for (int k = 0; k < here; k++) {
      row[k] = rows->bins + (rows->index ? rows->index[first + k] : first + k) * rows->stride;
      at[k] = 0;
      number[k] = (uint16_t)k;
    }
    while (here > 0) here = walk_on(node, row, at, number, here, leaf + first);
  }
}

/* ---- by blocks ----------------------------------------------------------------------------- */

/* A few instructions fetch the bins that all 31 nodes of a block ask for, one compares them, and
 * the path is then read off the answers without touching memory. */
#if SR__HAVE_BLOCKS

enum {
  GROUP = 1024, /* rows that walk together */
  TILE = 128,   /* rows that pass their blocks together */
  AHEAD = 64    /* rows whose blocks are on their way from memory */
};

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
  return w->block + (at & (SR__BLOCK_ONWARD - 1));
}

/* Bit i: node i of the block sends the row right. */
SR__INLINE uint32_t goes_right(const sr__tree_block *block, sr__row_bytes row, int width) {
  __m256i feature = _mm256_load_si256((const void *)block->feature);
  __m256i threshold = _mm256_load_si256((const void *)block->threshold);
  /* The look-up ignores the bit SR__BLOCK_SHIFTED, which is the sign. */
  __m256i bin = sr__look_up(row, feature, width);
  __m256i minus_shift = _mm256_cmpgt_epi8(_mm256_setzero_si256(), feature);
  return sr__bytes_above(_mm256_sub_epi8(bin, minus_shift), threshold);
}

/* Past the last row something else stands in `coming`; then the address means nothing, and it is
 * not read. */
SR__INLINE void fetch_block(const walk *w, uint16_t coming) {
  uintptr_t at = (uintptr_t)w->block + (coming & (SR__BLOCK_ONWARD - 1)) * sizeof *w->block;
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
    exit[j] = block_at(w, t->at[k + j])->exit[node[j] - SR__BLOCK_EXITS];
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
    walk_group(w, count, leaf, SR__BLOCK_FEATURES, true);
  else if (features <= 16)
    walk_group(w, count, leaf, 16, false);
  else if (features <= 32)
    walk_group(w, count, leaf, 32, false);
  else
    walk_group(w, count, leaf, SR__BLOCK_FEATURES, false);
}

static void leaves_by_blocks(const sr__tree_block *block, const sr__walk_rows *rows, int64_t count,
                             int32_t *leaf) {
  walk w = {.block = block, .stride = rows->stride};
  for (int64_t first = 0; first < count; first += GROUP) {
    int64_t here = count - first < GROUP ? count - first : GROUP;
    w.index = rows->index ? rows->index + first : NULL;
    w.bins = rows->bins + (rows->index ? 0 : first * rows->stride);
    walk_rows(&w, rows->features, here, leaf + first);
  }
}

#else
#define leaves_by_blocks NULL
#endif

const sr__blocks_kernel SR__KERNEL(sr__blocks_kernel) = {leaves_by_blocks, leaves_by_nodes};
