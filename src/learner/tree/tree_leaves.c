/* Answers of larger leaves from a tree that was grown to small ones.
 *
 * The rows of the bag are counted in the leaves while the tree grows, or run down the tree once
 * more where that could not be; the counts are added up toward the root, and each leaf looks up to
 * the smallest node above it that holds enough rows. A blend of both answers can then be stored in
 * the leaves, where it costs nothing to ask for. */
#include "tree.h"

enum { CHUNK = SR__WALK_GROUP };

/* ---- counting ----------------------------------------------------------------------------- */

typedef struct leaf_counter {
  const sr__training *training;
  const sr__member *tree;
  int32_t classes;
  double *count; /* nodes x classes */
  double *rows;  /* nodes: rows of the bag, each as often as it was drawn */
  uint8_t *scratch;
} leaf_counter;

static sr_status count_piece(void *data, const int32_t *rows, const int32_t *counts,
                             int64_t length) {
  leaf_counter *c = data;
  const sr__encoded *encoded = c->training->rows;
  uint32_t leaf[CHUNK];
  for (int64_t first = 0; first < length; first += CHUNK) {
    int64_t here = length - first < CHUNK ? length - first : CHUNK;
    sr__walk_rows walk = sr__walk_over(encoded, rows + first);
    sr__tree_find_leaves(c->tree, &walk, here, c->scratch, leaf);
    for (int64_t i = 0; i < here; i++) {
      int32_t row = rows[first + i];
      uint16_t label = c->training->label[row];
      double times = counts ? counts[first + i] : 1.0;
      double weight = c->training->weight ? c->training->weight[row] * times : times;
      if (label == SR__NO_LABEL || weight <= 0.0) continue;
      c->count[(int64_t)leaf[i] * c->classes + label] += weight;
      c->rows[leaf[i]] += times;
    }
  }
  return SR_OK;
}

/* What was counted while the tree grew. */
static void take_counts(leaf_counter *c) {
  for (int64_t k = 0; k < c->tree->nodes * c->classes; k++) {
    c->count[k] = c->tree->leaf_count[k];
    c->rows[k / c->classes] += c->count[k];
  }
}

/* Children stand behind their parents: one pass from the end adds everything up. */
static void add_up(const sr__member *tree, int32_t classes, double *count, double *rows) {
  for (int64_t at = tree->nodes - 1; at >= 0; at--) {
    uint32_t left = tree->node[at].left;
    if (left == at) continue;
    for (int side = 0; side < 2; side++) {
      rows[at] += rows[left + side];
      for (int32_t c = 0; c < classes; c++)
        count[at * classes + c] += count[(left + side) * (int64_t)classes + c];
    }
  }
}

/* The node whose answer a large leaf gives: itself where it is large enough, else its parent's. */
static int32_t choose_nodes(const sr__member *tree, const double *rows, uint32_t *chosen,
                            int32_t *place) {
  int32_t used = 0;
  chosen[0] = 0;
  for (int64_t at = 0; at < tree->nodes; at++) {
    uint32_t left = tree->node[at].left;
    for (int side = 0; left != at && side < 2; side++)
      chosen[left + side] =
          rows[left + side] >= SR__LARGE_LEAF ? left + (uint32_t)side : chosen[at];
  }
  for (int64_t at = 0; at < tree->nodes; at++) place[at] = -1;
  for (int64_t at = 0; at < tree->nodes; at++)
    if (tree->node[at].left == at && place[chosen[at]] < 0) place[chosen[at]] = used++;
  return used;
}

sr_status sr__tree_read_leaves(sr_context *ctx, const sr__encoder *encoder,
                               const sr__training *training, const sr__bag *bag, sr__member *tree) {
  sr_status status = SR_OK;
  int32_t classes = encoder->classes, *place = NULL;
  uint32_t *chosen = NULL;
  leaf_counter c = {.training = training, .tree = tree, .classes = classes};
  SR_NEW_ZERO(ctx, c.count, tree->nodes * classes);
  SR_NEW_ZERO(ctx, c.rows, tree->nodes);
  SR_NEW(ctx, chosen, tree->nodes);
  SR_NEW(ctx, place, tree->nodes);
  if (tree->leaf_count) {
    take_counts(&c);
  } else {
    SR_TRY(sr__leaf_scratch(ctx, tree, &c.scratch));
    SR_TRY(sr__bag_read(ctx, bag, count_piece, &c));
  }
  add_up(tree, classes, c.count, c.rows);
  int32_t used = choose_nodes(tree, c.rows, chosen, place);
  SR_NEW(ctx, tree->large, tree->nodes);
  SR_NEW(ctx, tree->large_share, (int64_t)used * classes);
  tree->large_count = used;
  for (int64_t at = 0; at < tree->nodes; at++) {
    tree->large[at] = tree->node[at].left == at ? place[chosen[at]] : -1;
    if (place[at] < 0) continue;
    double total = 0.0;
    for (int32_t k = 0; k < classes; k++) total += c.count[at * classes + k];
    for (int32_t k = 0; k < classes; k++)
      tree->large_share[(int64_t)place[at] * classes + k] =
          total > 0.0 ? (float)(c.count[at * classes + k] / total) : 1.0f / (float)classes;
  }
  sr__release(&tree->allocator, tree->leaf_count);
  tree->leaf_count = NULL;
cleanup:
  sr__free(ctx, c.count);
  sr__free(ctx, c.rows);
  sr__free(ctx, c.scratch);
  sr__free(ctx, chosen);
  sr__free(ctx, place);
  return status;
}

/* ---- asking ------------------------------------------------------------------------------- */

sr_status sr__tree_predict_leaves(sr_context *ctx, const sr__encoder *encoder,
                                  const sr__member *tree, const sr__encoded *rows,
                                  sr__picked picked, sr__leaf_answers answers) {
  sr_status status = SR_OK;
  int64_t classes = encoder->classes;
  uint32_t at[CHUNK];
  uint8_t *scratch = NULL;
  sr__walk_rows walk = sr__walk_over(rows, picked.index);
  SR_TRY(sr__leaf_scratch(ctx, tree, &scratch));
  for (int64_t first = 0; first < picked.count; first += CHUNK) {
    int64_t here = picked.count - first < CHUNK ? picked.count - first : CHUNK;
    sr__tree_find_leaves(tree, &walk, here, scratch, at);
    for (int64_t i = 0; i < here; i++) {
      sr__tree_share(encoder, tree, at[i], answers.leaf + (first + i) * classes);
      memcpy(answers.large_leaf + (first + i) * classes,
             tree->large_share + tree->large[at[i]] * classes,
             (size_t)classes * sizeof *answers.large_leaf);
    }
    sr__walk_on(&walk, here);
  }
cleanup:
  sr__free(ctx, scratch);
  return status;
}

/* ---- blending ----------------------------------------------------------------------------- */

static void forget(sr__member *tree) {
  sr__release(&tree->allocator, tree->large);
  sr__release(&tree->allocator, tree->large_share);
  tree->large = NULL;
  tree->large_share = NULL;
  tree->large_count = 0;
}

static uint32_t vote_of(const float *share, int32_t classes) {
  int32_t best = 0;
  for (int32_t c = 1; c < classes; c++)
    if (share[c] > share[best]) best = c;
  return (uint32_t)best;
}

/* Pure leaves of one class under one large node have the same blend: they share it. */
static sr_status store_blends(sr_context *ctx, const sr__encoder *encoder, float weight,
                              sr__member *tree, int32_t *mixed, float **share, int64_t *count) {
  sr_status status = SR_OK;
  int64_t classes = encoder->classes, capacity = 0;
  int32_t *same = NULL;
  float *blend = NULL;
  SR_NEW(ctx, blend, classes);
  SR_NEW(ctx, same, (int64_t)tree->large_count * classes);
  for (int64_t k = 0; k < tree->large_count * classes; k++) same[k] = -1;
  for (int64_t at = 0; at < tree->nodes; at++) {
    mixed[at] = -1;
    if (tree->node[at].left != at) continue;
    bool pure = !tree->mixed || tree->mixed[at] < 0;
    int32_t *known = &same[tree->large[at] * classes + tree->info[at]];
    if (pure && *known >= 0) {
      mixed[at] = *known;
    } else {
      const float *large = tree->large_share + tree->large[at] * classes;
      sr__tree_share(encoder, tree, (uint32_t)at, blend);
      for (int64_t c = 0; c < classes; c++)
        blend[c] = (1.0f - weight) * blend[c] + weight * large[c];
      SR_GROW(ctx, *share, capacity, (*count + 1) * classes);
      memcpy(*share + *count * classes, blend, (size_t)classes * sizeof *blend);
      mixed[at] = (int32_t)(*count)++;
      if (pure) *known = mixed[at];
    }
    tree->info[at] = vote_of(*share + mixed[at] * classes, (int32_t)classes);
  }
  void *trimmed = sr__resize(ctx, *share, *count * classes, sizeof **share);
  if (trimmed) *share = trimmed;
cleanup:
  sr__free(ctx, same);
  sr__free(ctx, blend);
  return status;
}

sr_status sr__tree_blend_leaves(sr_context *ctx, const sr__encoder *encoder, float weight,
                                sr__member *tree) {
  sr_status status = SR_OK;
  int32_t *mixed = NULL;
  float *share = NULL;
  int64_t count = 0;
  if (!tree->large || weight <= 0.0f) goto cleanup;
  SR_NEW(ctx, mixed, tree->nodes);
  SR_TRY(store_blends(ctx, encoder, weight, tree, mixed, &share, &count));
  sr__release(&tree->allocator, tree->mixed);
  sr__release(&tree->allocator, tree->share);
  tree->mixed = mixed;
  tree->share = share;
  tree->mixtures = count;
  mixed = NULL;
  share = NULL;
  sr__tree_note_votes(tree);
cleanup:
  sr__free(ctx, mixed);
  sr__free(ctx, share);
  forget(tree);
  return status;
}
