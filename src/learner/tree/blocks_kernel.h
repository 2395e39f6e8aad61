/* Walking trees, once per vector level: by blocks of five levels where bytes can be looked up and
 * compared side by side, else node by node. Both give the same leaves. Internal to the tree. */
#ifndef SR_LEARNER_TREE_BLOCKS_KERNEL_H
#define SR_LEARNER_TREE_BLOCKS_KERNEL_H

#include <stdint.h>

#include "core/isa.h"

/* One node in eight bytes. Children stand side by side: a row goes to left + (it goes right).
 * what = feature << 10 | categorical << 9 | shift << 8 | threshold. A row goes left where
 * (uint8_t)(bin + shift) <= threshold: shift 1 turns the bin of missing values (255) into 0, so
 * that missing values go left without a branch. A leaf is its own left child with threshold 255, so
 * that walking on stays where it is. */
typedef struct sr__node {
  uint32_t left;
  uint32_t what;
} sr__node;

enum { SR__NODE_CATEGORICAL = 1 << 9, SR__NODE_SHIFT = 1 << 8, SR__NODE_FEATURE = 10 };
#define SR__LEAF_WHAT 255u

enum {
  SR__BLOCK_LEVELS = 5,
  SR__BLOCK_EXITS = 1 << SR__BLOCK_LEVELS,
  SR__BLOCK_ONWARD = 1 << 15, /* of an exit: a block follows; without it: a leaf */
  SR__BLOCK_SHIFTED = 1 << 7, /* in `feature`: the node's SR__NODE_SHIFT */
  SR__BLOCK_FEATURES = 64     /* the most that a block can tell apart */
};

/* Node i (from 1) of a block has the children 2 i and 2 i + 1; exit e is child SR__BLOCK_EXITS + e.
 * A leaf inside a block sends everything left and stands at all exits below it. Two cache lines. */
typedef struct sr__tree_block {
  uint8_t feature[SR__BLOCK_EXITS];
  uint8_t threshold[SR__BLOCK_EXITS];
  uint16_t exit[SR__BLOCK_EXITS]; /* SR__BLOCK_ONWARD | block, or the class of a pure leaf, or
                                     classes + mixture */
} sr__tree_block;

/* Rows that walk: number i is index[i], or i where index is NULL; its bins are at
 * bins + number * stride. For blocks at least 16, 32 or 64 bytes from there are read. */
typedef struct sr__walk_rows {
  const uint8_t *bins;
  int64_t stride, features;
  const int32_t *index;
} sr__walk_rows;

typedef struct sr__blocks_kernel {
  /* NULL where the level has no use for blocks. */
  void (*leaves_by_blocks)(const sr__tree_block *block, const sr__walk_rows *rows, int64_t count,
                           int32_t *leaf);
  /* Numbers of the leaves in the tree, which has no categorical node. */
  void (*leaves_by_nodes)(const sr__node *node, const sr__walk_rows *rows, int64_t count,
                          uint32_t *leaf);
} sr__blocks_kernel;

SR__KERNEL_LEVELS(sr__blocks_kernel)

#endif
