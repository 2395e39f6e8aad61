/* A pure window graph needs no eigenvector: D^(-1/2) v_2 of a run is monotone and odd, so every cut
 * at the median is a cut in time, and the hierarchy is one of intervals. */
#include "partition.h"

typedef struct interval {
  int64_t begin, end;
} interval;

/* A node of the tree: some intervals, to be cut into `leaves` parts that start at `first_leaf`. */
typedef struct interval_node {
  interval *intervals;
  int64_t count;
  int64_t rows;
  int32_t leaves, first_leaf;
} interval_node;

static void write_label(const interval_node *node, int32_t *label) {
  for (int64_t i = 0; i < node->count; i++)
    for (int64_t row = node->intervals[i].begin; row < node->intervals[i].end; row++)
      label[row] = node->first_leaf;
}

static void put_interval(interval_node *node, int64_t begin, int64_t end) {
  node->intervals[node->count++] = (interval){begin, end};
  node->rows += end - begin;
}

/* Deals the intervals of `node` to its children; the one that is split is cut in time. */
static sr_status deal_intervals(sr_context *ctx, const interval_node *node, interval_node *child) {
  sr_status status = SR_OK;
  int64_t *size = NULL;
  uint8_t *side = NULL;
  sr__packing packing;
  SR_NEW(ctx, size, node->count);
  SR_NEW(ctx, side, node->count);
  for (int64_t i = 0; i < node->count; i++)
    size[i] = node->intervals[i].end - node->intervals[i].begin;
  SR_TRY(sr__pack_whole(ctx, node->count, size, sr__left_rows(node->rows, node->leaves), side,
                        &packing));
  for (int64_t i = 0; i < node->count; i++) {
    interval whole = node->intervals[i];
    if (i == packing.split) {
      put_interval(&child[0], whole.begin, whole.begin + packing.split_left);
      put_interval(&child[1], whole.begin + packing.split_left, whole.end);
    } else {
      put_interval(&child[side[i]], whole.begin, whole.end);
    }
  }
cleanup:
  sr__free(ctx, size);
  sr__free(ctx, side);
  return status;
}

/* Takes the node's intervals over. */
static sr_status bisect_intervals(sr_context *ctx, interval_node *node, interval_node *child) {
  sr_status status = SR_OK;
  child[0] =
      (interval_node){.leaves = sr__left_leaves(node->leaves), .first_leaf = node->first_leaf};
  child[1] = (interval_node){.leaves = node->leaves - child[0].leaves,
                             .first_leaf = node->first_leaf + child[0].leaves};
  SR_NEW(ctx, child[0].intervals, node->count);
  SR_NEW(ctx, child[1].intervals, node->count);
  SR_TRY(deal_intervals(ctx, node, child));
cleanup:
  if (status != SR_OK) {
    sr__free(ctx, child[0].intervals);
    sr__free(ctx, child[1].intervals);
  }
  sr__free(ctx, node->intervals);
  node->intervals = NULL;
  return status;
}

/* The depth of the tree is below 32, and the stack holds one sibling a level. */
enum { MAX_STACK = 64 };

sr_status sr__window_labels(sr_context *ctx, const sr_graph_view *view, int32_t parts,
                            int32_t *label) {
  sr_status status = SR_OK;
  interval_node stack[MAX_STACK] = {{.leaves = parts, .rows = 0}};
  int top = 1;
  SR_NEW(ctx, stack[0].intervals, view->runs);
  for (int64_t r = 0; r < view->runs; r++)
    put_interval(&stack[0], view->run_offset[r], view->run_offset[r + 1]);
  while (top > 0) {
    interval_node node = stack[--top], child[2];
    if (node.leaves == 1) {
      write_label(&node, label);
      sr__free(ctx, node.intervals);
      continue;
    }
    SR_TRY(bisect_intervals(ctx, &node, child));
    stack[top++] = child[1];
    stack[top++] = child[0];
  }
cleanup:
  while (top > 0) sr__free(ctx, stack[--top].intervals);
  return status;
}
