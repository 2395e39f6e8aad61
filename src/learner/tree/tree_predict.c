/* Predicting by a tree: leaves by the kernel, then votes and class shares. */
#include "tree.h"

enum { CHUNK = SR__WALK_GROUP };

void sr__tree_share(const sr__encoder *encoder, const sr__member *tree, uint32_t leaf,
                    float *share) {
  size_t bytes = (size_t)encoder->classes * sizeof *share;
  int32_t mixture = tree->mixed ? tree->mixed[leaf] : -1;
  if (mixture >= 0) {
    memcpy(share, tree->share + (int64_t)mixture * encoder->classes, bytes);
  } else {
    memset(share, 0, bytes);
    share[tree->info[leaf]] = 1.0f;
  }
}

/* What `value` says of the leaf of each row, or its number where that is NULL. */
static void find_leaves(const sr__member *tree, const sr__walk_rows *rows, int64_t count,
                        const uint8_t *value, uint8_t *scratch, uint32_t *given) {
  sr__walk_tree walk = {.node = tree->node,
                        .value = value,
                        .shifted = tree->shifted,
                        .piece = tree->piece,
                        .pieces = tree->pieces,
                        .pass = tree->pass,
                        .whole = tree->pass_whole,
                        .branch = tree->branch,
                        .exits = tree->exits,
                        .pass_leaf = tree->pass_leaf,
                        .pass_value = tree->pass_vote};
  if (tree->sets == 0) {
    sr__walk_kernel_now()->walk(&walk, rows, count, scratch, given);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    int64_t row = rows->index ? rows->index[i] : i;
    uint32_t leaf = sr__tree_walk_from(tree, 0, rows->bins + row * rows->stride);
    given[i] = value ? value[leaf] : leaf;
  }
}

void sr__tree_find_leaves(const sr__member *tree, const sr__walk_rows *rows, int64_t count,
                          uint8_t *scratch, uint32_t *leaf) {
  find_leaves(tree, rows, count, NULL, scratch, leaf);
}

sr_status sr__leaf_scratch(sr_context *ctx, const sr__member *tree, uint8_t **scratch) {
  sr_status status = SR_OK;
  *scratch = NULL;
  if (tree->pass) SR_NEW(ctx, *scratch, SR__WALK_SCRATCH);
cleanup:
  return status;
}

sr_status sr__tree_predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *tree,
                           const sr__encoded *rows, sr__picked picked, sr__answers answers) {
  sr_status status = SR_OK;
  uint32_t leaf[CHUNK];
  uint8_t *scratch = NULL;
  sr__walk_rows walk = sr__walk_over(rows, picked.index);
  SR_TRY(sr__leaf_scratch(ctx, tree, &scratch));
  for (int64_t first = 0; first < picked.count; first += CHUNK) {
    int64_t here = picked.count - first < CHUNK ? picked.count - first : CHUNK;
    if (!answers.share && tree->vote) {
      find_leaves(tree, &walk, here, tree->vote, scratch, (uint32_t *)answers.vote + first);
    } else {
      find_leaves(tree, &walk, here, NULL, scratch, leaf);
      for (int64_t i = 0; answers.share && i < here; i++)
        sr__tree_share(encoder, tree, leaf[i], answers.share + (first + i) * encoder->classes);
      for (int64_t i = 0; answers.vote && i < here; i++)
        answers.vote[first + i] = (int32_t)tree->info[leaf[i]];
    }
    sr__walk_on(&walk, here);
  }
cleanup:
  sr__free(ctx, scratch);
  return status;
}
