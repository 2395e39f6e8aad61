/* What a cut is about: rows of a bag, candidates, splits, and the rules of a tree. Shared by the
 * kernels that grow trees and the code that calls them. Internal to the tree. */
#ifndef SR_LEARNER_TREE_CUTS_H
#define SR_LEARNER_TREE_CUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bins.h"

/* ---- rows --------------------------------------------------------------------------------- */

enum { SR__MAX_CLASSES = 4096, SR__LOAD_CLASS = 12, SR__MAX_LOAD = (1 << 20) - 1 };

/* A row of the bag: where its bins are, and weight << 12 | class. */
typedef struct sr__entry {
  uint32_t row;
  uint32_t load;
} sr__entry;

static inline uint32_t sr__entry_class(sr__entry entry) {
  return entry.load & (SR__MAX_CLASSES - 1);
}
static inline uint32_t sr__entry_weight(sr__entry entry) { return entry.load >> SR__LOAD_CLASS; }

/* ---- splits ------------------------------------------------------------------------------- */

/* Bins that go left, one bit each. */
typedef struct sr__bin_set {
  uint64_t word[4];
} sr__bin_set;

static inline bool sr__set_has(const sr__bin_set *set, uint8_t bin) {
  return set->word[bin >> 6] >> (bin & 63) & 1;
}

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

static inline bool sr__goes_left(const sr__split *split, uint8_t bin) {
  return split->categorical ? sr__set_has(&split->set, bin)
                            : (uint8_t)(bin + split->shift) <= split->threshold;
}

/* Where between two neighboring bins of a node, both shifted, the threshold is put: halfway, so
 * that bins that the node does not hold go to the nearer side; missing values stay apart. */
static inline uint8_t sr__threshold_between(int lower, int upper, int shift) {
  if (shift && lower == 0) return 0; /* only missing values go left */
  if (!shift && upper == SR__BIN_MISSING) return SR__BIN_MISSING - 1;
  return (uint8_t)((lower + upper) / 2);
}

/* Missing values that the node has not seen go to the heavier child. */
static inline void sr__send_unseen_missing(sr__split *split, int64_t total) {
  bool left_is_heavier = 2 * split->left_weight >= total;
  if (split->missing_seen || split->categorical || !left_is_heavier) return;
  split->shift = 1;
  split->threshold++;
}

/* ---- rules and candidates ------------------------------------------------------------------ */

typedef struct sr__tree_rules {
  const sr__binning *binning;
  int64_t features;
  int32_t classes;
  int32_t max_depth;
  int64_t min_weight; /* of a leaf, in units */
  bool entropy;       /* else gini */
  double *x_log_x;    /* entropy: of the whole numbers below `logs` */
  int32_t logs;
} sr__tree_rules;

/* Two classes under gini have a score of their own, D^2 / (left right). */
static inline bool sr__two_class_gini(const sr__tree_rules *rules) {
  return rules->classes == 2 && !rules->entropy;
}

static inline bool sr__has_categories(const sr__tree_rules *rules, int32_t feature) {
  return rules->binning->feature[feature].categories.count > 0;
}

/* The classes that a node holds, in increasing order: its slots. */
typedef struct sr__node_classes {
  int64_t total; /* weight */
  int32_t present;
  int64_t *slot_count; /* weight of each slot */
  int32_t *class_slot; /* of a class that is present */
} sr__node_classes;

/* Draws the features that are tried at a node. */
typedef struct sr__feature_draw {
  uint64_t state; /* splitmix64, started from the member's stream */
  int32_t *order; /* a permutation of the features */
  int64_t features, candidates;
} sr__feature_draw;

/* Candidate number `drawn` (from 0) of a node, without repeats. */
static inline int32_t sr__draw_feature(sr__feature_draw *draw, int64_t drawn) {
  if (draw->candidates >= draw->features) return (int32_t)drawn; /* all of them: in their order */
  uint64_t z = draw->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  int64_t at = drawn + (int64_t)((z >> 32) * (uint64_t)(draw->features - drawn) >> 32);
  int32_t feature = draw->order[at];
  draw->order[at] = draw->order[drawn];
  draw->order[drawn] = feature;
  return feature;
}

#endif
