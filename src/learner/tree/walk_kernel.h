/* Walking rows down a tree, once per vector level: by blocks of five levels where bytes can be
 * looked up side by side; else many rows together through the crowns of six levels and the rest
 * node by node. Every way gives the same leaves. Internal to the tree. */
#ifndef SR_LEARNER_TREE_WALK_KERNEL_H
#define SR_LEARNER_TREE_WALK_KERNEL_H

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
  SR__CROWN_LEVELS = 6,
  SR__CROWN_EXITS = 1 << SR__CROWN_LEVELS,
  SR__CROWN_FEATURES = 128, /* the most that rows may have to walk through crowns */
  SR__WALK_GROUP = 8192,    /* rows that walk together */
  SR__WALK_SPARE = 64       /* rows more that the scratch has room for */
};

typedef struct sr__crown_node {
  uint32_t threshold; /* one more than the node's, with the sign bit turned over, four times */
  uint32_t column;    /* the feature, SR__CROWN_FEATURES more where the node shifts */
} sr__crown_node;

/* The first six levels below a node of the tree. Node i (from 1) has the children 2 i and 2 i + 1.
 * A row's exit is a code of the turns it took: a left turn at a node h levels above the last level
 * turns over bit h, on the last level all bits. A leaf stands at all exits below it. */
typedef struct sr__crown {
  sr__crown_node node[SR__CROWN_EXITS];
  uint32_t exit[SR__CROWN_EXITS]; /* nodes of the tree */
} sr__crown;

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
  uint16_t exit[SR__BLOCK_EXITS]; /* SR__BLOCK_ONWARD | block, or the number of a leaf */
} sr__tree_block;

/* A tree without categorical nodes. */
typedef struct sr__walk_tree {
  const sr__node *node;
  const uint8_t *value;   /* what a leaf gives; NULL: its number */
  const sr__crown *crown; /* the first is that of the root; NULL: there are none */
  const uint8_t *next;    /* per exit of the first: the crown below it, 0 where there is none */
  int shifted;            /* whether a node shifts */
  const sr__tree_block *block; /* NULL: there are none */
  const uint32_t *block_leaf;  /* node of each leaf that blocks number */
  const uint8_t *block_value;  /* and its value */
} sr__walk_tree;

/* Rows that walk: number i is index[i], or i where index is NULL; its bins are at
 * bins + number * stride. With crowns, bins up to the next multiple of 16 are read; with blocks at
 * least 16, 32 or 64 bytes. */
typedef struct sr__walk_rows {
  const uint8_t *bins;
  int64_t stride, features;
  const int32_t *index;
} sr__walk_rows;

/* Bytes of a row in the scratch. */
static inline int64_t sr__walk_stride(int64_t features) { return (features + 15) / 16 * 16; }

typedef struct sr__walk_kernel {
  /* given[i]: what the leaf of row i gives. With crowns, `scratch` has room for SR__WALK_SPARE
   * rows more than walk together. */
  void (*walk)(const sr__walk_tree *tree, const sr__walk_rows *rows, int64_t count,
               uint8_t *scratch, uint32_t *given);
  int blocks; /* whether this level walks by blocks */
} sr__walk_kernel;

SR__KERNEL_LEVELS(sr__walk_kernel)

#endif
