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

static sr__walk_tree walk_tree(const sr__member *tree) {
  return (sr__walk_tree){.node = tree->node,
                         .shifted = tree->shifted,
                         .piece = tree->piece,
                         .pieces = tree->pieces,
                         .pass = tree->pass,
                         .vote_pass = tree->vote_pass,
                         .branch = tree->branch,
                         .exits = tree->exits,
                         .pass_leaf = tree->pass_leaf,
                         .vote = tree->vote,
                         .pass_vote = tree->pass_vote};
}

static uint32_t find_leaf(const sr__member *tree, const sr__walk_rows *rows, int64_t i) {
  int64_t row = rows->index ? rows->index[i] : i;
  return sr__tree_walk_from(tree, 0, rows->bins + row * rows->stride);
}

void sr__tree_find_leaves(const sr__member *tree, const sr__walk_rows *rows, int64_t count,
                          uint8_t *scratch, uint32_t *leaf) {
  sr__walk_tree walk = walk_tree(tree);
  if (tree->sets == 0)
    sr__walk_kernel_now()->walk(&walk, rows, count, scratch, leaf);
  else
    for (int64_t i = 0; i < count; i++) leaf[i] = find_leaf(tree, rows, i);
}

sr_status sr__leaf_scratch(sr_context *ctx, const sr__member *tree, uint8_t **scratch) {
  sr_status status = SR_OK;
  *scratch = NULL;
  if (tree->pass) SR_NEW(ctx, *scratch, SR__WALK_SCRATCH);
cleanup:
  return status;
}

/* Votes of a few trees that have them in bytes. */
static void find_votes(const sr__member *const *tree, int trees, const sr__walk_rows *rows,
                       int64_t count, uint8_t *scratch, uint8_t *vote) {
  sr__walk_tree walk[SR__WALK_TREES];
  bool sets = false;
  for (int t = 0; t < trees; t++) {
    walk[t] = walk_tree(tree[t]);
    sets = sets || tree[t]->sets > 0;
  }
  if (!sets) {
    sr__walk_kernel_now()->ask((sr__walk_trees){walk, trees}, rows, count, scratch, vote);
    return;
  }
  for (int t = 0; t < trees; t++)
    for (int64_t i = 0; i < count; i++)
      vote[t * count + i] = tree[t]->vote[find_leaf(tree[t], rows, i)];
}

sr_status sr__tree_predict_votes(sr_context *ctx, const sr__encoder *encoder, sr__panel panel,
                                 const sr__encoded *rows, uint8_t *vote) {
  sr_status status = SR_OK;
  const sr__member *tree[SR__WALK_TREES];
  uint8_t *scratch = NULL;
  sr__walk_rows walk = sr__walk_over(rows, NULL);
  (void)encoder;
  SR_NEW(ctx, scratch, SR__WALK_SCRATCH);
  for (int32_t first = 0; first < panel.members; first += SR__WALK_TREES) {
    int trees = panel.members - first < SR__WALK_TREES ? panel.members - first : SR__WALK_TREES;
    for (int t = 0; t < trees; t++) tree[t] = panel.member[first + t];
    find_votes(tree, trees, &walk, rows->count, scratch, vote + first * rows->count);
  }
cleanup:
  sr__free(ctx, scratch);
  return status;
}

sr_status sr__tree_predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *tree,
                           const sr__encoded *rows, sr__picked picked, sr__answers answers) {
  sr_status status = SR_OK;
  uint32_t leaf[CHUNK];
  uint8_t *scratch = NULL, *vote = (uint8_t *)leaf; /* one of the two is found */
  sr__walk_rows walk = sr__walk_over(rows, picked.index);
  SR_TRY(sr__leaf_scratch(ctx, tree, &scratch));
  for (int64_t first = 0; first < picked.count; first += CHUNK) {
    int64_t here = picked.count - first < CHUNK ? picked.count - first : CHUNK;
    if (!answers.share && tree->vote) {
      find_votes(&tree, 1, &walk, here, scratch, vote);
      for (int64_t i = 0; i < here; i++) answers.vote[first + i] = vote[i];
    } else {
      sr__tree_find_leaves(tree, &walk, here, scratch, leaf);
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
