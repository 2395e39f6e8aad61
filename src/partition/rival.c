/* Whether plain bisection may be better than the labels at hand. A plain tree takes several times
 * as long as the coarse one, so one half of the graph is asked first. Smaller pieces do not tell:
 * their borders are not straight, and then no cut of them is. */
#include "partition.h"

/* The depth at which the ways to two leaves part. */
static int depth_of_parting(int32_t parts, int32_t a, int32_t b) {
  int32_t first = 0, leaves = parts;
  for (int depth = 0;; depth++) {
    int32_t left = sr__left_leaves(leaves);
    bool a_left = a < first + left, b_left = b < first + left;
    if (a_left != b_left) return depth;
    if (!a_left) first += left;
    leaves = a_left ? left : leaves - left;
  }
}

void sr__cut_by_depth(const sr__working_graph *working, int32_t parts, const int32_t *label,
                      double cut[SR_MAX_DEPTHS]) {
  const sr__csr *graph = &working->graph;
  memset(cut, 0, SR_MAX_DEPTHS * sizeof *cut);
  for (int64_t node = 0; node < graph->nodes; node++) {
    for (int64_t arc = graph->offset[node]; arc < graph->offset[node + 1]; arc++) {
      int32_t other = label[graph->neighbor[arc]];
      if (other > label[node])
        cut[depth_of_parting(parts, label[node], other)] += sr__arc_weight(working, arc);
    }
  }
  for (int d = 1; d < SR_MAX_DEPTHS; d++) cut[d] += cut[d - 1];
}

/* Nodes with a label below `end` as a graph of their own, and their labels. */
static sr_status pick(sr_context *ctx, const sr__working_graph *from, const int32_t *label,
                      int32_t end, sr__working_graph *picked, int32_t **picked_label) {
  sr_status status = SR_OK;
  sr__working_graph half[2] = {{.rows = 0}, {.rows = 0}};
  int32_t *side = NULL, *local = NULL;
  SR_NEW(ctx, side, from->graph.nodes);
  SR_NEW(ctx, local, from->graph.nodes);
  for (int64_t i = 0; i < from->graph.nodes; i++) side[i] = label[i] >= end;
  SR_TRY(sr__working_graph_split(ctx, from, side, local, half));
  SR_NEW(ctx, *picked_label, half[0].graph.nodes);
  for (int64_t i = 0; i < from->graph.nodes; i++)
    if (!side[i]) (*picked_label)[local[i]] = label[i];
  *picked = half[0];
  half[0] = (sr__working_graph){0};
cleanup:
  sr__working_graph_free(ctx, &half[0]);
  sr__working_graph_free(ctx, &half[1]);
  sr__free(ctx, side);
  sr__free(ctx, local);
  return status;
}

sr_status sr__plain_leads(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                          const int32_t *label, bool *leads) {
  sr_status status = SR_OK;
  sr__working_graph half = {0};
  sr__bisection bisection = {.exact = true};
  int32_t leaves = parts > 2 ? sr__left_leaves(parts) : parts, left = sr__left_leaves(leaves);
  int32_t *own = NULL, *plain = NULL;
  int64_t rows = 0;
  SR_TRY(pick(ctx, working, label, leaves, &half, &own));
  SR_NEW(ctx, plain, half.graph.nodes);
  for (int64_t i = 0; i < half.graph.nodes; i++) {
    own[i] = own[i] >= left;
    if (!own[i]) rows += sr__node_size(&half, i);
  }
  SR_TRY(sr__bisect(ctx, &half, rows, &bisection, plain));
  *leads = sr__cut_weight(&half, plain) < sr__cut_weight(&half, own);
cleanup:
  sr__working_graph_free(ctx, &half);
  sr__free(ctx, own);
  sr__free(ctx, plain);
  return status;
}
