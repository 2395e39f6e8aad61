/* Weights of a mix from held-out squared error, and the offset of its vote. Internal.
 *
 * A node is one plan at one leaf size. Everything is worked out from sums over blocks of held-out
 * rows, so that leaving a fold out costs nothing. */
#ifndef SR_TRAIN_MIX_WEIGHTS_H
#define SR_TRAIN_MIX_WEIGHTS_H

#include "core/core.h"

enum { SR__MOST_NODES = 12 };
#define SR__THIN 10.0 /* 1 + SR__THIN T / n multiplies the price of evidence, a variance */

typedef struct sr__mix_sums {
  int32_t nodes, blocks, classes;
  double *square; /* blocks x nodes x nodes: products of mean answers */
  double *gram;   /* the same, free of the members' own noise */
  double *truth;  /* blocks x nodes: products with the truth */
  double *noise;  /* blocks x nodes: variance of one member */
  double *answer; /* blocks x nodes x classes: sums of mean answers */
  double *label;  /* blocks x classes: rows of each class */
  double *rows;   /* blocks */
} sr__mix_sums;

SR_MUST_CHECK sr_status sr__mix_sums_new(sr_context *ctx, int32_t nodes, int32_t blocks,
                                         int32_t classes, sr__mix_sums *sums);
/* Everything in which the node stands, so that it can be summed anew. */
void sr__mix_sums_clear(sr__mix_sums *sums, int32_t node);
void sr__mix_sums_free(sr_context *ctx, sr__mix_sums *sums);

/* Which blocks and nodes count, for how many members, and how thin the evidence is. */
typedef struct sr__mix_question {
  const uint8_t *use;        /* per block; NULL: all */
  bool open[SR__MOST_NODES]; /* nodes that may weigh; node 0, plain bagging, always may */
  int32_t members;           /* of the delivered vote */
  double thin;               /* T / n, or one over the groups */
  int32_t fold_members[SR__MOST_NODES]; /* behind the mean answer of each node */
} sr__mix_question;

/* Least held-out squared error over the simplex, starting at node 0: any other node first pays one
 * standard error (over blocks) of its slope there, times sqrt(1 + 10 thin). */
SR_MUST_CHECK sr_status sr__mix_weights(sr_context *ctx, const sr__mix_sums *sums,
                                        const sr__mix_question *question, double *weight);
/* argmin w'Gw - 2 b'w over w >= 0, sum w = 1; G symmetric, its negative eigenvalues are cut. */
void sr__on_the_simplex(int32_t count, const double *gram, const double *linear, double *weight);
/* What is added to the vote, from the line truth = a + s vote through the held-out rows: a / s,
 * centered, shrunk by its jackknife variance over blocks; 0 where n / T < 50, or where the line has
 * no slope (*slope is 0 then). */
SR_MUST_CHECK sr_status sr__mix_offset(sr_context *ctx, const sr__mix_sums *sums,
                                       const sr__mix_question *question, const double *weight,
                                       double *offset, double *slope);
/* Held-out squared error of the vote per row, as m members would have it. */
double sr__mix_error(const sr__mix_sums *sums, const double *weight, int32_t members);
/* What the offset takes off the squared error of s vote, the same for every class added: the class
 * that is named does not depend on s, and the offset was found for this line. */
double sr__mix_offset_gain(const sr__mix_sums *sums, const double *weight, const double *offset,
                           double slope);
/* A vote, or (`fold` not NULL) one for each fold: blocks of fold f are answered with the weights
 * from weight + f SR__MOST_NODES. */
typedef struct sr__mix_vote {
  const double *weight;
  const int32_t *fold; /* of each block */
} sr__mix_vote;
/* Difference of that of two votes and its standard error over blocks. */
void sr__mix_difference(const sr__mix_sums *sums, sr__mix_vote first, const double *second,
                        int32_t members, double *difference, double *error);

#endif
