/* Growing a whole subtree of at most 64 rows, once per vector level. Internal to the tree. */
#ifndef SR_LEARNER_TREE_SMALL_KERNEL_H
#define SR_LEARNER_TREE_SMALL_KERNEL_H

#include "cuts.h"
#include "walk_kernel.h"

enum {
  SR__SMALL_ROWS = 64,
  SR__SMALL_NODES = 2 * SR__SMALL_ROWS - 2, /* the most that a subtree has below its root */
  SR__SMALL_TILE = 16                       /* features whose columns are made together */
};

/* What the growth of subtrees needs besides, made once per tree. */
typedef struct sr__small_scratch {
  uint8_t *column;    /* a line of 64 bins per feature, on lines; features up to a full tile */
  uint32_t *stamp;    /* per tile: the block whose columns stand there */
  uint32_t blocks;    /* so far */
  int64_t *histogram; /* 256 bins x classes */
} sr__small_scratch;

/* The subtree's root and rows. Bins of a row are at bins + row * features, and SR__SMALL_TILE bytes
 * past the last row may be read. */
typedef struct sr__small_block {
  const uint8_t *bins;
  const sr__entry *entry;
  int32_t count;
  uint32_t node;
  int32_t depth;
} sr__small_block;

/* The tree, with room for SR__SMALL_NODES nodes after `nodes`, which grows. Of categorical nodes
 * and of leaves with several classes the caller is told what it has to store. */
typedef struct sr__small_growth {
  sr__node *node;
  uint32_t *info; /* pure leaf: its class */
  uint32_t nodes;
  int32_t sets, mixed;
  uint32_t set_node[SR__SMALL_ROWS], mixed_node[SR__SMALL_ROWS];
  sr__bin_set set[SR__SMALL_ROWS];
  uint64_t mixed_rows[SR__SMALL_ROWS]; /* bit i: row i of the block */
} sr__small_growth;

typedef struct sr__small_kernel {
  void (*grow)(const sr__tree_rules *rules, sr__feature_draw *draw, sr__small_scratch *scratch,
               const sr__small_block *block, sr__small_growth *growth);
} sr__small_kernel;

SR__KERNEL_LEVELS(sr__small_kernel)

#endif
