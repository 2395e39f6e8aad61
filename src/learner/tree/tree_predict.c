/* Walking trees. Several rows walk at once, so that their memory reads overlap; a leaf leads to
 * itself, so that the step has no branch. */
#include "tree.h"

enum { WALKERS = 16, CHUNK = 1024 };

static inline uint32_t step(const sr__node *node, uint32_t at, const uint8_t *row) {
  sr__node here = node[at];
  uint8_t bin = (uint8_t)(row[here.what >> SR__NODE_FEATURE] + (here.what >> 8 & 1));
  return here.left + (bin > (uint8_t)here.what);
}

static uint32_t walk_with_sets(const sr__member *tree, const uint8_t *row) {
  uint32_t at = 0;
  for (;;) {
    sr__node here = tree->node[at];
    if (here.left == at) return at;
    if (here.what & SR__NODE_CATEGORICAL)
      at = here.left + !sr__set_has(&tree->set[tree->info[at]], row[here.what >> SR__NODE_FEATURE]);
    else
      at = step(tree->node, at, row);
  }
}

/* Leaves of WALKERS rows: steps until none of them moves. */
static void walk_group(const sr__member *tree, const uint8_t *const row[WALKERS],
                       uint32_t leaf[WALKERS]) {
  uint32_t at[WALKERS] = {0};
  const sr__node *node = tree->node;
  for (bool moved = true; moved;) {
    uint32_t changed = 0;
    for (int repeat = 0; repeat < 2; repeat++) {
      changed = 0;
      for (int k = 0; k < WALKERS; k++) {
        uint32_t next = step(node, at[k], row[k]);
        changed |= next ^ at[k];
        at[k] = next;
      }
    }
    moved = changed != 0;
  }
  memcpy(leaf, at, sizeof at);
}

static void give(const sr__shared *shared, const sr__member *tree, uint32_t leaf, int64_t i,
                 int32_t *vote, float *proba) {
  if (vote) vote[i] = (int32_t)tree->info[leaf];
  if (!proba) return;
  float *out = proba + i * shared->classes;
  int32_t mixture = tree->mixed ? tree->mixed[leaf] : -1;
  if (mixture >= 0) {
    memcpy(out, tree->share + (int64_t)mixture * shared->classes,
           (size_t)shared->classes * sizeof *out);
  } else {
    memset(out, 0, (size_t)shared->classes * sizeof *out);
    out[tree->info[leaf]] = 1.0f;
  }
}

static void give_shares(const sr__shared *shared, const sr__member *tree, const int32_t *leaf,
                        int64_t count, float *proba) {
  int32_t classes = shared->classes;
  size_t bytes = (size_t)classes * sizeof *proba;
  memset(proba, 0, (size_t)count * bytes);
  for (int64_t i = 0; tree->mixtures == 0 && i < count; i++) proba[i * classes + leaf[i]] = 1.0f;
  for (int64_t i = 0; tree->mixtures > 0 && i < count; i++) {
    float *out = proba + i * classes;
    if (leaf[i] < classes)
      out[leaf[i]] = 1.0f;
    else
      memcpy(out, tree->share + (int64_t)(leaf[i] - classes) * classes, bytes);
  }
}

static void predict_by_blocks(const sr__shared *shared, const sr__member *tree,
                              const sr__rows *rows, const int32_t *index, int64_t count,
                              int32_t *vote, float *proba) {
  sr__tree_leaves_by_blocks(tree, rows, index, count, vote);
  if (proba) give_shares(shared, tree, vote, count, proba);
  for (int64_t i = 0; tree->mixtures > 0 && i < count; i++)
    if (vote[i] >= shared->classes) vote[i] = tree->mixture_vote[vote[i] - shared->classes];
}

/* Where only shares are asked for, votes stand in a chunk of their own. */
static void shares_by_blocks(const sr__shared *shared, const sr__member *tree, sr__rows rows,
                             const int32_t *index, int64_t count, float *proba) {
  int32_t vote[CHUNK];
  for (int64_t first = 0; first < count; first += CHUNK) {
    int64_t here = count - first < CHUNK ? count - first : CHUNK;
    predict_by_blocks(shared, tree, &rows, index ? index + first : NULL, here, vote,
                      proba + first * shared->classes);
    if (!index) rows.bins += here * rows.stride;
  }
}

sr_status sr__tree_predict(sr_context *ctx, const sr__shared *shared, const sr__member *tree,
                           const sr__rows *rows, const int32_t *index, int64_t count, int32_t *vote,
                           float *proba) {
  (void)ctx;
  int64_t i = 0;
  if (tree->block && vote) {
    predict_by_blocks(shared, tree, rows, index, count, vote, proba);
    return SR_OK;
  }
  if (tree->block && proba) {
    shares_by_blocks(shared, tree, *rows, index, count, proba);
    return SR_OK;
  }
  for (; tree->sets == 0 && i + WALKERS <= count; i += WALKERS) {
    const uint8_t *row[WALKERS];
    uint32_t leaf[WALKERS];
    for (int k = 0; k < WALKERS; k++)
      row[k] = rows->bins + (index ? index[i + k] : i + k) * rows->stride;
    walk_group(tree, row, leaf);
    for (int k = 0; k < WALKERS; k++) give(shared, tree, leaf[k], i + k, vote, proba);
  }
  for (; i < count; i++)
    give(shared, tree, walk_with_sets(tree, rows->bins + (index ? index[i] : i) * rows->stride), i,
         vote, proba);
  return SR_OK;
}
