/* The fast mode: coarsen once, cut the coarse graph, refine all cuts on every level back. */
#include "partition.h"

/* The coarse graph has about this many nodes a part; large graphs are coarsened by at most this
 * factor, since their borders are long. */
enum { COARSE_NODES_PER_PART = 500, MOST_SHRINKING = 150 };

static void check_balance(const sr__piece *piece, int32_t parts, int64_t highest,
                          const int32_t *label, int64_t *rows, bool *balanced) {
  for (int64_t i = 0; i < piece->graph.nodes; i++) rows[label[i]] += sr__node_size(piece, i);
  *balanced = true;
  for (int32_t p = 0; p < parts; p++)
    if (rows[p] == 0 || rows[p] > highest) *balanced = false;
}

static sr_status refine_levels(sr_context *ctx, const sr__ladder *ladder, int32_t parts,
                               int64_t highest, int32_t **coarse, int32_t *label) {
  sr_status status = SR_OK;
  for (int k = ladder->levels - 1; k >= 0; k--) {
    const sr__piece *piece = &ladder->piece[k];
    int32_t *fine = label;
    if (k < ladder->levels - 1) {
      if (k > 0) SR_NEW(ctx, fine, piece->graph.nodes);
      for (int64_t i = 0; i < piece->graph.nodes; i++) fine[i] = (*coarse)[ladder->aggregate[k][i]];
      sr__free(ctx, *coarse);
      *coarse = k > 0 ? fine : NULL;
    } else if (k > 0) {
      fine = *coarse;
    } else {
      memcpy(label, *coarse, (size_t)piece->graph.nodes * sizeof *label);
    }
    sr__kway_options options = {
        .highest = highest, .patience = 60, .rounds = k > 0 ? 3 : 1, .passes = 3};
    SR_TRY(sr__refine_kway(ctx, piece, parts, fine, &options));
    sr__progress(ctx, "refinement", ladder->levels - k, ladder->levels);
  }
cleanup:
  return status;
}

sr_status sr__fast_labels(sr_context *ctx, const sr__piece *piece, int32_t parts, int64_t highest,
                          double *seconds_spectrum, int32_t *label, bool *balanced) {
  sr_status status = SR_OK;
  sr__ladder ladder = {.levels = 0};
  sr__tree_options tree = {.refine = true, .slack = 0.005};
  int32_t *coarse = NULL;
  int64_t *rows = NULL;
  int64_t coarsest = (int64_t)COARSE_NODES_PER_PART * parts;
  if (coarsest < piece->rows / MOST_SHRINKING) coarsest = piece->rows / MOST_SHRINKING;
  SR_TRY(sr__ladder_build(ctx, piece, coarsest, &ladder));
  const sr__piece *top = &ladder.piece[ladder.levels - 1];
  SR_NEW(ctx, coarse, top->graph.nodes);
  SR_TRY(sr__bisect_tree(ctx, top, parts, &tree, coarse));
  SR_TRY(refine_levels(ctx, &ladder, parts, highest, &coarse, label));
  SR_NEW_ZERO(ctx, rows, parts);
  check_balance(piece, parts, highest, label, rows, balanced);
  *seconds_spectrum += tree.seconds_spectrum;
cleanup:
  sr__free(ctx, coarse);
  sr__free(ctx, rows);
  sr__ladder_free(ctx, &ladder);
  return status;
}
