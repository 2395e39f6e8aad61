/* Boosted trees: fitted by XGBoost, kept and walked here. Internal. */
#ifndef SR_LEARNER_BOOST_H
#define SR_LEARNER_BOOST_H

#include "core/bytes.h"
#include "core/core.h"

typedef struct sr__boost_options {
  int64_t rounds, max_depth, max_bins;
  double eta, min_child_weight, lambda, alpha, gamma, subsample, colsample;
  int tree_method; /* hist, exact, approx */
} sr__boost_options;

/* Both children of a node stand side by side, the left one first. */
typedef struct sr__boost_node {
  int32_t feature; /* -1: a leaf */
  int32_t child;   /* the left one; 0 for a leaf */
  float value;     /* left where x < value; of a leaf, what it adds */
  uint8_t missing_left;
} sr__boost_node;

/* Tree t adds to the score of class seen[t % scores], or to that of seen[1] where there are two.
 * Scores begin at `start`. Node numbers are those of the whole forest, root[t] <= node <
 * root[t + 1]. */
typedef struct sr__boost_model {
  int32_t seen_count; /* classes that the bag held; 1: no trees, always that class */
  int32_t *seen;      /* increasing */
  int64_t trees;
  int64_t *root; /* trees + 1 */
  sr__boost_node *node;
} sr__boost_model;

/* Labeled rows, row-major; NaN = missing. */
typedef struct sr__boost_problem {
  const float *x;
  int64_t rows, columns;
  const float *weight;
  const float *label; /* index into the seen classes */
  int32_t seen_count;
  int seed;
} sr__boost_problem;

/* Fills root, node and trees of a zeroed model by XGBoost; free with sr__boost_free even after a
 * failure. One thread. */
SR_MUST_CHECK sr_status sr__boost_fit(sr_context *ctx, const sr__boost_problem *problem,
                                      const sr__boost_options *options, sr__boost_model *model);
void sr__boost_free(const sr_allocator *allocator, sr__boost_model *model);

/* Trees a round: one where there are two classes, else one per class. */
static inline int32_t sr__boost_scores(const sr__boost_model *model) {
  return model->seen_count > 2 ? model->seen_count : 1;
}
/* The scores of one row (sr__boost_scores of them), bit for bit those of XGBoost. */
void sr__boost_score(const sr__boost_model *model, const float *x, float *score);
/* Scores become shares of the seen classes, `share` has seen_count of them. */
void sr__boost_shares(const sr__boost_model *model, const float *score, float *share);

#endif
