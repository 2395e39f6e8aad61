/* Walking rows down a tree, once per vector level: many rows together pass all nodes of the tree's
 * crown, then all of the branch below the exit they took; few rows go node by node. Both ways give
 * the same leaves. Internal to the tree. */
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
  SR__WALK_LANES = 64,     /* rows that pass a node of the crown together */
  SR__WALK_BLOCK = 128,    /* the most that pass a node of a branch together */
  SR__WALK_TILE = 256,     /* that pass a piece of the crown before those of the next */
  SR__WALK_EXITS = 256,    /* the most exits of a crown, and leaves of a branch */
  SR__WALK_PIECES = 32,    /* the most pieces of a crown */
  SR__WALK_FEATURES = 128, /* the most that rows may have to pass nodes together */
  SR__WALK_TREES = 8,      /* whose crowns rows pass before the rest of any */
  SR__WALK_GROUP = 16384   /* rows that are brought to the exits before the rest is finished */
};

enum { SR__PIECE_LEVELS = 3, SR__PIECE_ENDS = 1 << SR__PIECE_LEVELS };

/* Three levels of a crown. Node i (from 1, kept at i - 1) has the children 2 i and 2 i + 1; end e
 * is child SR__PIECE_ENDS + e. For each row a piece gives the value of the end that the row comes
 * to: an exit, or what the piece below gives. A piece stands before those that are below it.
 * Offsets are bytes. */
typedef struct sr__crown_piece {
  uint32_t threshold[SR__PIECE_ENDS - 1]; /* one more than the node's, with the sign bit turned
                                             over, four times */
  uint16_t column[SR__PIECE_ENDS - 1]; /* into the columns: of the feature; behind all of them once
                                          more where the node shifts */
  int16_t exit; /* that of end 0 where all ends are exits, numbered one after the other; else -1 */
  uint16_t end[SR__PIECE_ENDS]; /* else: an exit, or SR__WALK_EXITS and more: a piece */
} sr__crown_piece;

/* A node of a branch. Below it two values stand, numbers of leaves or their votes; it keeps for
 * each row the one of the side that the row takes. Nodes stand behind all that are below them.
 * Offsets are bytes: `left` and `right` into the values (first those that are numbers, then those
 * of the nodes), `column` into the columns. */
typedef struct sr__pass_node {
  uint16_t left, right;
  uint16_t column;
  uint8_t threshold; /* one more than the node's, less its shift, with the sign bit turned over */
  uint8_t flags;     /* of SR__PASS_* */
} sr__pass_node;

enum {
  SR__PASS_SHIFT = 1, /* where values may be missing, threshold and column are further by one */
  SR__PASS_TWIGS = 2  /* both children are leaves. Such nodes stand before all others. */
};

/* The branch below an exit: its nodes and the numbers of its leaves go on to those of the next. */
typedef struct sr__branch {
  uint32_t node, leaf;
} sr__branch;

/* A tree without categorical nodes. */
typedef struct sr__walk_tree {
  const sr__node *node;
  int shifted;                  /* whether a node shifts */
  const sr__crown_piece *piece; /* NULL: there is no crown */
  int32_t pieces, exits; /* pieces again, for rows without missing values, where a node shifts */
  const sr__pass_node *pass;      /* NULL: there are no branches */
  const sr__pass_node *vote_pass; /* the same with the leaves' votes instead of their numbers */
  const sr__branch *branch;       /* one per exit and the end */
  const uint32_t *pass_leaf;      /* node of each leaf that branches number */
  const uint8_t *vote;            /* of each leaf, by its node */
  const uint8_t *pass_vote;       /* and as branches number them */
} sr__walk_tree;

typedef struct sr__walk_trees {
  const sr__walk_tree *tree;
  int count;
} sr__walk_trees;

/* Rows that walk: number i is index[i], or i where index is NULL; its bins are at
 * bins + number * stride. Where rows pass nodes together, bins up to the next multiple of 16 are
 * read. */
typedef struct sr__walk_rows {
  const uint8_t *bins;
  int64_t stride, features;
  const int32_t *index;
  const uint8_t *columns; /* what `turn` made of them; NULL: not made, or rows go by index */
  int whole;              /* what `turn` gave: no value is missing */
} sr__walk_rows;

/* Columns of so many features that may be read; where a value is missing, once more with the shift.
 */
static inline int64_t sr__walk_columns(int64_t features) { return (features + 15) / 16 * 16; }
static inline int64_t sr__turned_columns(int64_t features, int whole) {
  return sr__walk_columns(features) * (whole ? 1 : 2);
}

/* Bytes of the columns of `count` rows. */
static inline int64_t sr__turned_bytes(int64_t features, int64_t count) {
  return (count + SR__WALK_LANES - 1) / SR__WALK_LANES * SR__WALK_LANES *
         sr__turned_columns(features, 0);
}

/* Goes on to the rows behind the first `count`, a multiple of SR__WALK_LANES where more follow. */
static inline void sr__walk_on(sr__walk_rows *rows, int64_t count) {
  if (rows->index)
    rows->index += count;
  else
    rows->bins += count * rows->stride;
  if (rows->columns) rows->columns += count * sr__turned_columns(rows->features, rows->whole);
}

/* What a walk works in: it starts on a cache line. */
typedef struct sr__walk_scratch {
  uint8_t value[2 * SR__WALK_EXITS][SR__WALK_BLOCK];
  uint8_t column[2 * SR__WALK_FEATURES][SR__WALK_BLOCK];
  uint8_t crown[SR__WALK_PIECES][SR__WALK_TILE];
  uint8_t ends[SR__PIECE_ENDS][SR__WALK_TILE];
  uint8_t exit[SR__WALK_TREES][SR__WALK_GROUP];    /* of each row */
  uint16_t order[SR__WALK_GROUP + SR__WALK_BLOCK]; /* rows by their exits */
} sr__walk_scratch;

/* Bytes that a walk is given for it. */
enum { SR__WALK_LINE = 64, SR__WALK_SCRATCH = sizeof(sr__walk_scratch) + SR__WALK_LINE };

typedef struct sr__walk_kernel {
  /* leaf[i]: the node that row i comes to. `scratch` has SR__WALK_SCRATCH bytes where the tree has
   * `pass`. */
  void (*walk)(const sr__walk_tree *tree, const sr__walk_rows *rows, int64_t count,
               uint8_t *scratch, uint32_t *leaf);
  /* vote[t * count + i]: what the leaf of row i in tree t votes for, of at most SR__WALK_TREES. */
  void (*ask)(sr__walk_trees trees, const sr__walk_rows *rows, int64_t count, uint8_t *scratch,
              uint8_t *vote);
  /* The columns of rows in order, on cache lines, for `sr__walk_rows`; those that shift only where
   * a value is missing. Gives whether none is. */
  int (*turn)(const sr__walk_rows *rows, int64_t count, uint8_t *columns);
} sr__walk_kernel;

SR__KERNEL_LEVELS(sr__walk_kernel)

#endif
