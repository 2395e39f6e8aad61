/* The binned CART tree: its objects and the pieces that grow one. Internal to src/learner/tree. */
#ifndef SR_LEARNER_TREE_TREE_H
#define SR_LEARNER_TREE_TREE_H

#include "blocks_kernel.h"
#include "lanes.h"
#include "learner/bins.h"
#include "learner/learner.h"

/* ---- objects ------------------------------------------------------------------------------ */

struct sr__shared {
  sr_allocator allocator;
  sr__binning *binning;
  int32_t classes;
};

/* Bytes row-major: one cache line or two hold all that a split may ask of a row. */
struct sr__rows {
  sr_allocator allocator;
  int64_t count;
  int64_t features;
  int64_t stride; /* bytes from a row to the next; more than `features` where rows are to be
                     predicted */
  uint8_t *bins;
  uint8_t *memory; /* owns `bins` */
};

struct sr__training {
  sr_allocator allocator;
  sr__rows *rows;
  uint16_t *label;     /* SR__NO_LABEL where it is missing */
  uint32_t *weight;    /* units of 2^-k; NULL where all weights are 1 */
  double unit_per_row; /* mean weight of a row in units; 1 without weights */
};

enum { SR__NO_LABEL = UINT16_MAX, SR__MAX_CLASSES = 4096, SR__MAX_TREE_FEATURES = 1 << 20 };

/* Bins that go left, one bit each. */
typedef struct sr__bin_set {
  uint64_t word[4];
} sr__bin_set;

struct sr__member {
  sr_allocator allocator;
  int64_t nodes;
  sr__node *node;
  uint32_t *info; /* leaf: its vote; categorical node: index of its set */
  int64_t sets;
  sr__bin_set *set;
  int32_t *mixed; /* leaf: index of its class shares, -1 where pure; NULL: all are pure */
  int64_t mixtures;
  float *share;                 /* mixtures x classes */
  uint16_t *mixture_vote;       /* with blocks: a vote a mixture */
  sr__tree_block *block_memory; /* owns `block` */
  sr__tree_block *block;        /* NULL: there are none, the tree is walked by its nodes */
};

static inline bool sr__set_has(const sr__bin_set *set, uint8_t bin) {
  return set->word[bin >> 6] >> (bin & 63) & 1;
}

/* ---- growing ------------------------------------------------------------------------------ */

/* A row of the bag: where its bins are, and weight << 12 | class. */
typedef struct sr__entry {
  uint32_t row;
  uint32_t load;
} sr__entry;

enum { SR__LOAD_CLASS = 12, SR__MAX_LOAD = (1 << 20) - 1 };

static inline uint32_t sr__entry_class(sr__entry entry) {
  return entry.load & (SR__MAX_CLASSES - 1);
}
static inline uint32_t sr__entry_weight(sr__entry entry) { return entry.load >> SR__LOAD_CLASS; }

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

/* The best split found so far in a node. Larger scores are better; of equal scores the one found
 * first stands: features in the order drawn, missing right before missing left, thresholds from
 * below. */
typedef struct sr__split {
  double score;
  int32_t feature;   /* -1: none found */
  uint8_t threshold; /* (uint8_t)(bin + shift) <= threshold goes left */
  uint8_t shift;
  bool categorical;
  bool missing_seen;
  int64_t left_weight;
  sr__bin_set set; /* categorical: the bins that go left */
} sr__split;

/* Subtrees of at most 64 rows are grown on bit masks, see grow_masked.c. */
enum {
  SR__MASK_ROWS = 64,
  SR__GROUP = 8, /* candidates whose histograms are filled together */
  SR__TILE = 512 /* coded rows that are read together */
};

typedef struct sr__grower {
  sr_context *ctx;
  const sr__shared *shared;
  int32_t classes;
  int64_t features;
  sr_criterion criterion;
  bool two_class_gini; /* the form D^2 / (left right) of the score is used */
  bool packed_fits;    /* the bag's weight fits into 31 bits */
  int64_t candidates;  /* features drawn at a node */
  int64_t min_weight;  /* of a leaf, in units */
  int32_t max_depth;

  uint8_t *code; /* coded rows of the large nodes under way */
  int64_t code_capacity;
  int class_bits; /* of a coded row's load */
  uint8_t *work;  /* bytes of a side while coded rows are split; else entry and spare */
  int64_t work_capacity;
  int64_t open_rows; /* nodes of at most so many rows stand in entries */
  sr__entry *entry;  /* rows of the subtree in hand; a node is a range of it */
  sr__entry *spare;  /* rows that go right while a node is split */
  uint64_t state;    /* of the generator that draws features */
  int32_t *order;    /* a permutation of the features */

  /* The node in hand. */
  int64_t total;
  int32_t present;      /* classes with weight */
  int64_t *class_count; /* one a class */
  int32_t *class_slot;  /* column of a present class in the histogram */
  int64_t *slot_count;  /* class_count of the present classes, side by side */
  int64_t *left_count;  /* one a slot */
  int64_t *histogram;   /* 256 bins x present classes; only bins that the feature uses are read */
  uint64_t *packed;     /* two classes: 256 bins a candidate, total << 32 | second class */

  uint8_t *column_block;  /* owns `column` */
  uint8_t *column;        /* features x 64 bins of the masked block, filled when first asked for */
  uint32_t *column_stamp; /* the block that each column belongs to */
  uint32_t stamp;

  sr__member *tree; /* so far */
  int64_t node_capacity, set_capacity, share_capacity;
} sr__grower;

/* Candidate number `drawn` (from 0) of a node, without repeats. */
int32_t sr__draw_feature(sr__grower *grower, int64_t drawn);
/* Fills class_slot, slot_count and present from class_count. */
void sr__list_classes(sr__grower *grower);
/* Of left counts a slot, any criterion. */
double sr__score_slots(const sr__grower *grower, const int64_t *left, int64_t left_total);
/* Zeros the bins that the feature uses, and that of missing values. */
void sr__clear_histogram(sr__grower *grower, int32_t feature);
/* Best cut of a histogram of 256 bins x present classes, numeric or categorical. */
void sr__cut_histogram(sr__grower *grower, const int64_t *histogram, int32_t feature,
                       sr__split *split);
/* Where between two neighbouring bins of a node, both shifted, the threshold is put: halfway, so
 * that bins that the node does not hold go to the nearer side; missing values stay apart. */
static inline uint8_t sr__threshold_between(int lower, int upper, int shift) {
  if (shift && lower == 0) return 0; /* only missing values go left */
  if (!shift && upper == SR__BIN_MISSING) return SR__BIN_MISSING - 1;
  return (uint8_t)((lower + upper) / 2);
}
/* Best cut of a packed histogram of two classes. */
void sr__cut_packed(const sr__grower *grower, const uint64_t *packed, int32_t feature,
                    sr__split *split);
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
  sr__entry tile[SR__TILE];
} sr__row_tiles;

static inline void sr__tiles_start(const sr__node_rows *rows, sr__row_tiles *tiles) {
  tiles->left = rows->coded;
  tiles->done = false;
}

/* 0 where there are no more. */
static inline int64_t sr__next_tile(const sr__grower *grower, const sr__node_rows *rows,
                                    sr__row_tiles *tiles, const sr__entry **entry) {
  *entry = rows->entry ? rows->entry : tiles->tile;
  if (!rows->entry) return sr__read_rows(grower, &tiles->left, tiles->tile, SR__TILE);
  int64_t count = tiles->done ? 0 : rows->count;
  tiles->done = true;
  return count;
}
/* Grows the whole subtree of a node with at most 64 rows. */
SR_MUST_CHECK sr_status sr__grow_masked(sr__grower *grower, const uint8_t *bins,
                                        const sr__entry *entry, int64_t count, uint32_t node,
                                        int32_t depth);

/* Makes the node a leaf of one class, or one with the votes of class_count. */
void sr__make_pure_leaf(sr__grower *grower, uint32_t node, int32_t vote);
SR_MUST_CHECK sr_status sr__make_leaf(sr__grower *grower, uint32_t node);
/* Makes the node a split with two new children, the left one at *left. Decides where missing values
 * go that the node has not seen: to the heavier child. */
SR_MUST_CHECK sr_status sr__make_split(sr__grower *grower, uint32_t node, sr__split *split,
                                       uint32_t *left);

static inline bool sr__goes_left(const sr__split *split, uint8_t bin) {
  return split->categorical ? sr__set_has(&split->set, bin)
                            : (uint8_t)(bin + split->shift) <= split->threshold;
}

SR_MUST_CHECK sr_status sr__tree_fit(sr_context *ctx, const sr__shared *shared,
                                     const sr__training *training,
                                     const sr_learner_options *options, const sr__bag *bag,
                                     sr__random *random, sr__member **member);
SR_MUST_CHECK sr_status sr__tree_predict(sr_context *ctx, const sr__shared *shared,
                                         const sr__member *member, const sr__rows *rows,
                                         const int32_t *index, int64_t count, int32_t *vote,
                                         float *proba);
/* Blocks for a finished tree, where the processor and the tree allow them. */
SR_MUST_CHECK sr_status sr__tree_make_blocks(sr_context *ctx, const sr__shared *shared,
                                             sr__member *tree);
void sr__tree_save(const sr__shared *shared, const sr__member *member, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__tree_load(sr__byte_reader *reader, const sr__shared *shared,
                                      sr__member **member);
void sr__tree_free(sr__member *member);

#endif
