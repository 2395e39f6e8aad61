/* A tree as node arrays in the units of its features: bins become thresholds and category codes. */
#include <math.h>

#include "tree.h"

/* A bin goes left where (uint8_t)(bin + shift) <= limit: shift 1 sends missing values left. */
static void numeric_node(const sr__bin_feature *feature, uint32_t what, int64_t i, sr__nodes *n) {
  int shift = what >> 8 & 1, last = (int)(what & 255) - shift;
  n->missing_left[i] = shift != 0;
  n->threshold[i] = last < 0                    ? -INFINITY
                    : last >= feature->bins - 1 ? INFINITY
                                                : feature->edge[last];
}

static sr_status categorical_node(sr_context *ctx, const sr__bin_feature *feature,
                                  const sr__bin_set *set, int64_t i, sr__nodes *n) {
  sr_status status = SR_OK;
  n->missing_left[i] = sr__set_has(set, SR__BIN_MISSING);
  n->threshold[i] = NAN;
  SR_GROW(ctx, n->category, n->category_capacity, n->category_count + feature->categories.count);
  for (int32_t c = 0; c < feature->categories.count; c++)
    if (sr__set_has(set, feature->bin_of_code[c])) n->category[n->category_count++] = c;
cleanup:
  return status;
}

static void leaf(const sr__member *tree, int64_t i, sr__nodes *n) {
  float *share = n->share + i * n->classes;
  int32_t mixture = tree->mixed ? tree->mixed[i] : -1;
  n->feature[i] = n->left[i] = n->right[i] = -1;
  n->threshold[i] = NAN;
  if (mixture >= 0)
    memcpy(share, tree->share + (int64_t)mixture * n->classes, (size_t)n->classes * sizeof *share);
  else
    share[tree->info[i]] = 1.0f;
}

sr_status sr__tree_nodes(sr_context *ctx, const sr__encoder *encoder, const sr__member *tree,
                         sr__nodes *n) {
  sr_status status = SR_OK;
  n->nodes = tree->nodes;
  n->classes = encoder->classes;
  SR_NEW_ZERO(ctx, n->feature, n->nodes);
  SR_NEW_ZERO(ctx, n->threshold, n->nodes);
  SR_NEW_ZERO(ctx, n->left, n->nodes);
  SR_NEW_ZERO(ctx, n->right, n->nodes);
  SR_NEW_ZERO(ctx, n->missing_left, n->nodes);
  SR_NEW_ZERO(ctx, n->category_offset, n->nodes + 1);
  SR_NEW_ZERO(ctx, n->share, n->nodes * n->classes);
  for (int64_t i = 0; i < n->nodes; i++) {
    sr__node node = tree->node[i];
    int32_t j = (int32_t)(node.what >> SR__NODE_FEATURE);
    if (node.left == i) {
      leaf(tree, i, n);
    } else {
      n->feature[i] = j;
      n->left[i] = (int32_t)node.left;
      n->right[i] = (int32_t)node.left + 1;
      if (node.what & SR__NODE_CATEGORICAL)
        SR_TRY(
            categorical_node(ctx, &encoder->binning->feature[j], &tree->set[tree->info[i]], i, n));
      else
        numeric_node(&encoder->binning->feature[j], node.what, i, n);
    }
    n->category_offset[i + 1] = n->category_count;
  }
  if (!n->category) SR_NEW(ctx, n->category, 0);
cleanup:
  return status;
}
