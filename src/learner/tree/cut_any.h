/* The best cut of a histogram of any number of classes and any weight, one after the other: for
 * categories, and for nodes that are too heavy for vectors. For kernel files alone. */
#ifndef SR_LEARNER_TREE_CUT_ANY_H
#define SR_LEARNER_TREE_CUT_ANY_H

#include <stdlib.h>

#include "core/random.h"
#include "cut_scores.h"

/* histogram[bin * present + slot]; only bins that the feature uses, and that of missing values, are
 * read. `left` has a place for each slot. */
typedef struct any_node {
  const sr__tree_rules *rules;
  const sr__node_classes *node;
  const int64_t *histogram;
  int64_t *left;
  int32_t used; /* bins of the feature */
} any_node;

static double x_log_x_of(double x) { return x > 0.0 ? x * sr__log_portable(x) : 0.0; }

static double any_gini(const any_node *a, int64_t left_total) {
  double left_square = 0.0, right_square = 0.0;
  for (int32_t s = 0; s < a->node->present; s++) {
    double l = (double)a->left[s], r = (double)(a->node->slot_count[s] - a->left[s]);
    left_square += l * l;
    right_square += r * r;
  }
  double l = (double)left_total, r = (double)(a->node->total - left_total);
  return (left_square * r + right_square * l) / (l * r);
}

static double any_entropy(const any_node *a, int64_t left_total) {
  double sum = -x_log_x_of((double)left_total) - x_log_x_of((double)(a->node->total - left_total));
  for (int32_t s = 0; s < a->node->present; s++)
    sum +=
        x_log_x_of((double)a->left[s]) + x_log_x_of((double)(a->node->slot_count[s] - a->left[s]));
  return sum;
}

static double any_score(const any_node *a, int64_t left_total) {
  if (sr__two_class_gini(a->rules) && a->node->present == 2)
    return score_two((double)a->left[1], (double)left_total, (double)a->node->slot_count[1],
                     (double)a->node->total);
  return a->rules->entropy ? any_entropy(a, left_total) : any_gini(a, left_total);
}

/* Tries every cut of the bins taken in the order of `sequence`; gives the number of bins that go
 * left in the best one, 0 where none beats `split`. */
static int32_t cut_sequence(const any_node *a, const uint8_t *sequence, int32_t length,
                            sr__split *split) {
  int32_t best = 0, present = a->node->present;
  int64_t left_total = 0, least = a->rules->min_weight;
  memset(a->left, 0, (size_t)present * sizeof *a->left);
  for (int32_t i = 0; i + 1 < length; i++) {
    const int64_t *here = a->histogram + (int64_t)sequence[i] * present;
    int64_t added = 0;
    for (int32_t s = 0; s < present; s++) {
      a->left[s] += here[s];
      added += here[s];
    }
    left_total += added;
    if (a->node->total - left_total < least) break;
    if (added == 0 || left_total < least) continue;
    double score = any_score(a, left_total);
    if (split->feature >= 0 && score <= split->score) continue;
    split->score = score;
    split->feature = INT32_MAX; /* the caller names it */
    split->left_weight = left_total;
    best = i + 1;
  }
  return best;
}

static int64_t bin_weight(const any_node *a, int32_t bin) {
  int64_t sum = 0;
  for (int32_t s = 0; s < a->node->present; s++)
    sum += a->histogram[(int64_t)bin * a->node->present + s];
  return sum;
}

typedef struct category_rate {
  double rate;
  uint8_t bin;
} category_rate;

static int by_rate(const void *a, const void *b) {
  const category_rate *x = a, *y = b;
  if (x->rate != y->rate) return x->rate < y->rate ? -1 : 1;
  return (int)x->bin - (int)y->bin;
}

/* Slot whose share orders the categories: the second class of two, else the commonest. With two
 * classes the best subset is among the prefixes of this order (Breiman et al. 1984, section 4.2).
 */
static int32_t ordering_slot(const any_node *a) {
  int32_t slot = 0;
  if (a->rules->classes == 2) return a->node->present - 1;
  for (int32_t s = 1; s < a->node->present; s++)
    if (a->node->slot_count[s] > a->node->slot_count[slot]) slot = s;
  return slot;
}

/* Categories that the node does not hold go to the heavier side. */
static void fill_set(const any_node *a, const uint8_t *sequence, int32_t taken, int32_t length,
                     sr__split *split) {
  bool unseen_left = 2 * split->left_weight >= a->node->total;
  memset(&split->set, unseen_left ? 0xff : 0, sizeof split->set);
  for (int32_t i = 0; i < length; i++) {
    uint64_t bit = (uint64_t)1 << (sequence[i] & 63);
    uint64_t *word = &split->set.word[sequence[i] >> 6];
    *word = i < taken ? *word | bit : *word & ~bit;
  }
}

static void cut_any_categories(const any_node *a, int32_t feature, sr__split *split) {
  category_rate order[256];
  uint8_t sequence[256];
  int32_t length = 0, slot = ordering_slot(a);
  for (int32_t b = 0; b <= a->used; b++) {
    int32_t bin = b < a->used ? b : SR__BIN_MISSING;
    int64_t weight = bin_weight(a, bin);
    if (weight == 0) continue;
    double rate = (double)a->histogram[(int64_t)bin * a->node->present + slot] / (double)weight;
    order[length++] = (category_rate){rate, (uint8_t)bin};
  }
  qsort(order, (size_t)length, sizeof *order, by_rate);
  for (int32_t i = 0; i < length; i++) sequence[i] = order[i].bin;
  int32_t taken = cut_sequence(a, sequence, length, split);
  if (taken == 0) return;
  split->feature = feature;
  split->categorical = true;
  split->missing_seen = true;
  split->shift = 0;
  split->threshold = 0;
  fill_set(a, sequence, taken, length, split);
}

static void clear_any(const any_node *a, int64_t *histogram) {
  size_t bin = (size_t)a->node->present * sizeof *histogram;
  memset(histogram, 0, (size_t)a->used * bin);
  memset(histogram + (int64_t)SR__BIN_MISSING * a->node->present, 0, bin);
}

#endif
