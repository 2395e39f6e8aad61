/* Predicting by a tree: leaves by the kernels, then votes and class shares. */
#include "tree.h"

enum { CHUNK = 1024 };

static uint32_t walk_with_sets(const sr__member *tree, const uint8_t *row) {
  uint32_t at = 0;
  for (;;) {
    sr__node here = tree->node[at];
    uint8_t bin = row[here.what >> SR__NODE_FEATURE];
    if (here.left == at) return at;
    if (here.what & SR__NODE_CATEGORICAL)
      at = here.left + !sr__set_has(&tree->set[tree->info[at]], bin);
    else
      at = here.left + ((uint8_t)(bin + (here.what >> 8 & 1)) > (uint8_t)here.what);
  }
}

static void give(const sr__encoder *encoder, const sr__member *tree, uint32_t leaf, int64_t i,
                 int32_t *vote, float *proba) {
  if (vote) vote[i] = (int32_t)tree->info[leaf];
  if (!proba) return;
  float *out = proba + i * encoder->classes;
  int32_t mixture = tree->mixed ? tree->mixed[leaf] : -1;
  if (mixture >= 0) {
    memcpy(out, tree->share + (int64_t)mixture * encoder->classes,
           (size_t)encoder->classes * sizeof *out);
  } else {
    memset(out, 0, (size_t)encoder->classes * sizeof *out);
    out[tree->info[leaf]] = 1.0f;
  }
}

static void give_shares(const sr__encoder *encoder, const sr__member *tree, const int32_t *leaf,
                        int64_t count, float *proba) {
  int32_t classes = encoder->classes;
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

static void predict_by_blocks(const sr__encoder *encoder, const sr__member *tree,
                              const sr__walk_rows *rows, int64_t count, int32_t *vote,
                              float *proba) {
  sr__blocks_kernel_now()->leaves_by_blocks(tree->block, rows, count, vote);
  if (proba) give_shares(encoder, tree, vote, count, proba);
  for (int64_t i = 0; tree->mixtures > 0 && i < count; i++)
    if (vote[i] >= encoder->classes) vote[i] = tree->mixture_vote[vote[i] - encoder->classes];
}

static void predict_by_nodes(const sr__encoder *encoder, const sr__member *tree,
                             const sr__walk_rows *rows, int64_t count, int32_t *vote,
                             float *proba) {
  uint32_t leaf[CHUNK];
  if (tree->sets == 0) sr__blocks_kernel_now()->leaves_by_nodes(tree->node, rows, count, leaf);
  for (int64_t i = 0; tree->sets > 0 && i < count; i++)
    leaf[i] = walk_with_sets(tree, rows->bins + (rows->index ? rows->index[i] : i) * rows->stride);
  for (int64_t i = 0; i < count; i++) give(encoder, tree, leaf[i], i, vote, proba);
}

sr_status sr__tree_predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *tree,
                           const sr__encoded *rows, const int32_t *index, int64_t count,
                           int32_t *vote, float *proba) {
  (void)ctx;
  int32_t unasked[CHUNK];
  sr__walk_rows walk = {rows->bins, rows->stride, rows->features, index};
  for (int64_t first = 0; first < count; first += CHUNK) {
    int64_t here = count - first < CHUNK ? count - first : CHUNK;
    int32_t *votes = vote ? vote + first : unasked;
    float *shares = proba ? proba + first * encoder->classes : NULL;
    if (tree->block)
      predict_by_blocks(encoder, tree, &walk, here, votes, shares);
    else
      predict_by_nodes(encoder, tree, &walk, here, votes, shares);
    if (index)
      walk.index += here;
    else
      walk.bins += here * walk.stride;
  }
  return SR_OK;
}
