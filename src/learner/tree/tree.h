/* The binned CART tree: its objects and the pieces that grow one. Internal to src/learner/tree. */
#ifndef SR_LEARNER_TREE_TREE_H
#define SR_LEARNER_TREE_TREE_H

#include "bins.h"
#include "cuts.h"
#include "learner/learner.h"
#include "rows_kernel.h"
#include "small_kernel.h"
#include "split_kernel.h"
#include "walk_kernel.h"

enum { SR__TREE_GINI, SR__TREE_ENTROPY };

typedef struct sr__tree_options {
  int64_t min_leaf, max_depth, max_features;
  int criterion;
  int64_t max_bins;
  double min_share;
} sr__tree_options;

/* ---- objects ------------------------------------------------------------------------------ */

struct sr__encoder {
  sr_allocator allocator;
  sr__binning *binning;
  int32_t classes;
};

/* Bytes row-major: one cache line or two hold all that a split may ask of a row. */
struct sr__encoded {
  sr_allocator allocator;
  int64_t count;
  int64_t features;
  int64_t stride; /* bytes from a row to the next; more than `features` where rows are to be
                     predicted */
  uint8_t *bins;
  uint8_t *columns; /* the same bins column by column (walk_kernel.h); NULL: not made */
  bool whole;       /* columns are made and no value is missing */
  uint8_t *memory, *column_memory; /* own `bins` and `columns` */
};

struct sr__training {
  sr_allocator allocator;
  sr__encoded *rows;
  uint16_t *label;     /* SR__NO_LABEL where it is missing */
  uint32_t *weight;    /* units of 2^-k; NULL where all weights are 1 */
  double unit_per_row; /* mean weight of a row in units; 1 without weights */
};

enum { SR__NO_LABEL = UINT16_MAX, SR__MAX_TREE_FEATURES = 1 << 20 };

struct sr__member {
  sr_allocator allocator;
  int64_t nodes;
  sr__node *node;
  uint32_t *info; /* leaf: its vote; categorical node: index of its set */
  int64_t sets;
  sr__bin_set *set;
  int32_t *mixed; /* leaf: index of its class shares, -1 where pure; NULL: all are pure */
  int64_t mixtures;
  float *share;           /* mixtures x classes */
  bool shifted;           /* some node has SR__NODE_SHIFT */
  sr__crown_piece *piece; /* twice where a node shifts, see sr__walk_tree */
  int32_t pieces, exits;
  sr__pass_node *pass;      /* NULL: there are none, the tree is walked by its nodes */
  sr__branch *branch;       /* one per exit of the crown and the end */
  uint32_t *pass_leaf;      /* node of each leaf that branches number */
  uint8_t *pass_vote;       /* and its vote, as in `vote` */
  sr__pass_node *vote_pass; /* see sr__walk_tree */
  uint8_t *vote;            /* of the leaves, in little room; NULL: more than 256 classes */
  int32_t *large;           /* leaf: index of its large leaf; NULL: not read */
  float *large_share;       /* large leaves x classes */
  int64_t large_count;
  uint32_t *leaf_count; /* nodes x classes: rows of the bag in each leaf; NULL: not counted */
};

/* ---- growing ------------------------------------------------------------------------------ */

/* Rows in the bytes [begin, end) of the grower's code, see row_code.c. */
typedef struct sr__coded_rows {
  int64_t begin, end;
  uint32_t before; /* the last row that was read or added */
} sr__coded_rows;

/* The rows of a node: entries, or coded where `entry` is NULL. Bins of a row are at
 * bins + row * features. */
typedef struct sr__node_rows {
  const uint8_t *bins;
  sr__entry *entry;
  int64_t count;
  sr__coded_rows coded;
} sr__node_rows;

enum {
  SR__GROUP = 8,     /* candidates whose histograms are filled together */
  SR__ROW_TILE = 512 /* coded rows that are read together */
};

typedef struct sr__grower {
  sr_context *ctx;
  sr__tree_rules rules;
  sr__feature_draw draw;

  uint8_t *code; /* coded rows of the large nodes under way */
  int64_t code_capacity;
  int class_bits; /* of a coded row's load */
  uint8_t *work;  /* bytes of a side while coded rows are split; else entry and spare */
  int64_t work_capacity;
  int64_t open_rows; /* nodes of at most so many rows stand in entries */
  sr__entry *entry;  /* rows of the subtree in hand; a node is a range of it */
  sr__entry *spare;  /* rows that go right while a node is split */

  sr__node_classes node;   /* the node in hand */
  int64_t *class_count;    /* its weight per class */
  int64_t *left_count;     /* one per slot */
  int64_t *any_histogram;  /* 256 bins x classes */
  void *histogram;         /* of a group of candidates, see split_kernel.h */
  int64_t histogram_slots; /* of 256 bins of 32 bits each that it has room for */
  uint8_t *column_memory;  /* owns small.column */
  sr__small_scratch small;

  sr__member *tree; /* so far */
  int64_t node_capacity, set_capacity, share_capacity;
  bool counting; /* rows are counted in the leaves, see leaf_count */
} sr__grower;

/* Draws candidates and finds the best split of the rows. */
void sr__search_split(sr__grower *grower, const sr__node_rows *rows, sr__split *split);

/* Reads on: gives how many of at most `limit` rows were there. */
int64_t sr__read_rows(const sr__grower *grower, sr__coded_rows *rows, sr__entry *entry,
                      int64_t limit);
/* Adds rows at the end of the code. */
SR_MUST_CHECK sr_status sr__add_rows(sr__grower *grower, sr__coded_rows *rows,
                                     const sr__entry *entry, int64_t count);
/* Splits the last rows of the code; the left ones then stand last. */
SR_MUST_CHECK sr_status sr__split_code(sr__grower *grower, const uint8_t *bins,
                                       const sr__split *split, sr__coded_rows rows,
                                       sr__coded_rows *left, sr__coded_rows *right,
                                       int64_t *left_count);

/* Walks over the rows of a node in tiles: all at once where they are entries. */
typedef struct sr__row_tiles {
  sr__coded_rows left;
  bool done;
  sr__entry tile[SR__ROW_TILE];
} sr__row_tiles;

static inline void sr__tiles_start(const sr__node_rows *rows, sr__row_tiles *tiles) {
  tiles->left = rows->coded;
  tiles->done = false;
}

/* 0 where there are no more. */
static inline int64_t sr__next_tile(const sr__grower *grower, const sr__node_rows *rows,
                                    sr__row_tiles *tiles, const sr__entry **entry) {
  *entry = rows->entry ? rows->entry : tiles->tile;
  if (!rows->entry) return sr__read_rows(grower, &tiles->left, tiles->tile, SR__ROW_TILE);
  int64_t count = tiles->done ? 0 : rows->count;
  tiles->done = true;
  return count;
}
/* Grows the whole subtree of a node with at most SR__SMALL_ROWS rows. */
SR_MUST_CHECK sr_status sr__grow_small(sr__grower *grower, const uint8_t *bins,
                                       const sr__entry *entry, int64_t count, uint32_t node,
                                       int32_t depth);

/* Room for `count` nodes in all. */
SR_MUST_CHECK sr_status sr__reserve_nodes(sr__grower *grower, int64_t count);
/* Makes the node a leaf with the votes of class_count. */
SR_MUST_CHECK sr_status sr__make_leaf(sr__grower *grower, uint32_t node);

SR_MUST_CHECK sr_status sr__tree_fit(sr_context *ctx, const sr__fit_input *input,
                                     const sr__bag *bag, sr__random *random, sr__member **member);
SR_MUST_CHECK sr_status sr__tree_predict(sr_context *ctx, const sr__encoder *encoder,
                                         const sr__member *member, const sr__encoded *rows,
                                         sr__picked picked, sr__answers answers);
SR_MUST_CHECK sr_status sr__tree_predict_votes(sr_context *ctx, const sr__encoder *encoder,
                                               sr__panel panel, const sr__encoded *rows,
                                               uint8_t *vote);
/* The leaf of one row below a node. */
static inline uint32_t sr__tree_walk_from(const sr__member *tree, uint32_t at, const uint8_t *row) {
  for (;;) {
    sr__node here = tree->node[at];
    uint8_t bin = row[here.what >> SR__NODE_FEATURE];
    if (here.left == at) return at;
    if (here.what & SR__NODE_CATEGORICAL)
      at = here.left + !sr__set_has(&tree->set[tree->info[at]], bin);
    else
      at = here.left + ((uint8_t)(bin + (here.what >> 8 & 1)) > (uint8_t)here.what);
  }
}
/* The leaves of rows; `scratch` is what sr__leaf_scratch gave. At most SR__WALK_GROUP rows. */
void sr__tree_find_leaves(const sr__member *tree, const sr__walk_rows *rows, int64_t count,
                          uint8_t *scratch, uint32_t *leaf);
/* Room to find leaves; NULL where the tree needs none. */
SR_MUST_CHECK sr_status sr__leaf_scratch(sr_context *ctx, const sr__member *tree,
                                         uint8_t **scratch);
/* The rows of an index, all of them where it is NULL. */
static inline sr__walk_rows sr__walk_over(const sr__encoded *rows, const int32_t *index) {
  return (
      sr__walk_rows){rows->bins, rows->stride, rows->features, index, index ? NULL : rows->columns,
                     rows->whole};
}
/* The class shares of a leaf. */
void sr__tree_share(const sr__encoder *encoder, const sr__member *tree, uint32_t leaf,
                    float *share);
/* Large leaves: see sr__learner. */
SR_MUST_CHECK sr_status sr__tree_read_leaves(sr_context *ctx, const sr__encoder *encoder,
                                             const sr__training *training, const sr__bag *bag,
                                             sr__member *member);
SR_MUST_CHECK sr_status sr__tree_predict_leaves(sr_context *ctx, const sr__encoder *encoder,
                                                const sr__member *member, const sr__encoded *rows,
                                                sr__picked picked, sr__leaf_answers answers);
SR_MUST_CHECK sr_status sr__tree_blend_leaves(sr_context *ctx, const sr__encoder *encoder,
                                              float weight, sr__member *member);
/* Crown and branches, where the tree allows them. */
SR_MUST_CHECK sr_status sr__tree_make_crown(sr_context *ctx, const sr__encoder *encoder,
                                            sr__member *tree);
/* Votes in bytes, wherever they are kept, from the leaves' `info`. */
void sr__tree_note_votes(sr__member *tree);
/* Makes a finished tree ready to predict: votes in bytes, and crown and branches where `asked` rows
 * (0: many) repay them. */
SR_MUST_CHECK sr_status sr__tree_ready(sr_context *ctx, const sr__encoder *encoder, int64_t asked,
                                       sr__member *tree);
SR_MUST_CHECK sr_status sr__tree_nodes(sr_context *ctx, const sr__encoder *encoder,
                                       const sr__member *tree, sr__nodes *nodes);
void sr__tree_save(const sr__encoder *encoder, const sr__member *member, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__tree_load(sr__byte_reader *reader, const sr__encoder *encoder,
                                      sr__member **member);
void sr__tree_free(sr__member *member);

#endif
