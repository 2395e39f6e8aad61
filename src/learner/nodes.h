/* A tree as plain arrays, for whoever looks inside a model. Internal. */
#ifndef SR_LEARNER_NODES_H
#define SR_LEARNER_NODES_H

#include "core/core.h"

/* Node 0 is the root. Each array is an allocation of its own. */
typedef struct sr__nodes {
  int64_t nodes;
  int32_t classes;
  int32_t *feature; /* -1: a leaf */
  float *threshold; /* numeric: x <= threshold goes left */
  int32_t *left, *right;
  uint8_t *missing_left;
  int64_t *category_offset; /* nodes + 1 */
  int32_t *category;        /* codes that go left at a categorical node */
  int64_t category_count, category_capacity;
  float *share; /* nodes x classes: of a leaf; zeros elsewhere */
} sr__nodes;

#endif
