/* Which rows a member is asked about, and where its answers go. */
#ifndef SR_LEARNER_ANSWERS_H
#define SR_LEARNER_ANSWERS_H

#include <stdint.h>

/* `count` rows of encoded rows: index[i], or the i-th where index is NULL. */
typedef struct sr__picked {
  const int32_t *index;
  int64_t count;
} sr__picked;

static inline int64_t sr__picked_row(sr__picked picked, int64_t i) {
  return picked.index ? picked.index[i] : i;
}

/* Of the picked rows, where the target is a class: the class that the member names, and rows x
 * classes shares. Where it is a number, which no learner takes yet: the number. What is NULL is not
 * asked for. */
typedef struct sr__answers {
  int32_t *vote;
  float *share;
  double *value;
} sr__answers;

/* Rows x classes shares of the leaf itself and of the larger leaf above it. */
typedef struct sr__leaf_answers {
  float *leaf, *large_leaf;
} sr__leaf_answers;

#endif
