/* Subtrees of at most 64 rows: the kernel grows them, and what it leaves open is stored here. */
#include "tree.h"

/* Leaves with several classes, from the rows that the kernel names. */
static sr_status store_mixed(sr__grower *g, const sr__entry *entry,
                             const sr__small_growth *growth) {
  sr_status status = SR_OK;
  for (int32_t k = 0; k < growth->mixed; k++) {
    memset(g->class_count, 0, (size_t)g->rules.classes * sizeof *g->class_count);
    g->node.total = 0;
    for (uint64_t rest = growth->mixed_rows[k]; rest; rest &= rest - 1) {
      sr__entry row = entry[__builtin_ctzll(rest)];
      g->class_count[sr__entry_class(row)] += sr__entry_weight(row);
      g->node.total += sr__entry_weight(row);
    }
    SR_TRY(sr__make_leaf(g, growth->mixed_node[k]));
  }
cleanup:
  return status;
}

/* Rows of a subtree that is done, each in its leaf. */
static void count_in_leaves(sr__grower *g, const sr__small_block *block) {
  sr__member *tree = g->tree;
  for (int32_t k = 0; k < block->count; k++) {
    sr__entry row = block->entry[k];
    uint32_t at = sr__tree_walk_from(tree, block->node, block->bins + row.row * g->rules.features);
    tree->leaf_count[(int64_t)at * g->rules.classes + sr__entry_class(row)] +=
        (uint32_t)sr__entry_weight(row);
  }
}

sr_status sr__grow_small(sr__grower *g, const uint8_t *bins, const sr__entry *entry, int64_t count,
                         uint32_t node, int32_t depth) {
  sr_status status = SR_OK;
  sr__member *tree = g->tree;
  sr__small_growth growth;
  SR_TRY(sr__reserve_nodes(g, tree->nodes + SR__SMALL_NODES));
  sr__small_block block = {bins, entry, (int32_t)count, node, depth};
  growth.node = tree->node;
  growth.info = tree->info;
  growth.nodes = (uint32_t)tree->nodes;
  sr__small_kernel_now()->grow(&g->rules, &g->draw, &g->small, &block, &growth);
  for (int64_t i = tree->nodes; tree->mixed && i < growth.nodes; i++) tree->mixed[i] = -1;
  tree->nodes = growth.nodes;
  for (int32_t k = 0; k < growth.sets; k++) {
    SR_GROW(g->ctx, tree->set, g->set_capacity, tree->sets + 1);
    tree->set[tree->sets] = growth.set[k];
    tree->info[growth.set_node[k]] = (uint32_t)tree->sets++;
  }
  SR_TRY(store_mixed(g, entry, &growth));
  if (g->counting) count_in_leaves(g, &block);
cleanup:
  return status;
}
