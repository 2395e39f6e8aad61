/* What labels of a tree cut, depth by depth: a tree that is made depth by depth can be held against
 * them before it is whole. Pieces of the graph would not tell: their borders are not straight, and
 * then no cut of them is. */
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
