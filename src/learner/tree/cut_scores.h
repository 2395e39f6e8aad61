/* The best of many cuts of a node, judged side by side. For kernel files alone.
 *
 * Every level gives the bits of one expression in double precision. Where the weight is small,
 * scores are first taken in single precision, and those within its rounding of the best are then
 * taken in double precision: the choice is the one that double precision alone would make. */
#ifndef SR_LEARNER_TREE_CUT_SCORES_H
#define SR_LEARNER_TREE_CUT_SCORES_H

#include <math.h>

#include "cut_lanes.h"
#include "cuts.h"

enum {
  MOST_CUTS = 256,
  EXACT_WEIGHT = 4096 /* products of two weights up to this are exact in single precision */
};

/* More than all roundings of a score in single precision. */
static const float NEARLY = 1.0f - 0x1p-20f;

/* `place` is -1 where no cut counts or beats the score that was asked for. */
typedef struct cut {
  double score;
  int32_t place;
  int64_t left; /* weight */
} cut;

/* Weights of the left side at each cut: left[s * stride + place] of slot s, total[place] of all.
 * The arrays may be read up to the next multiple of LANES; what stands there must not count as a
 * cut, that is, leave nothing on the right. Of equal scores the cut with the lowest key wins, or
 * the first one where `key` is NULL. */
typedef struct cut_list {
  const int32_t *left, *total;
  int64_t stride;
  const uint8_t *key;
  int32_t count;
} cut_list;

SR__INLINE float as_float(int32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

SR__INLINE int32_t as_bits(float value) {
  int32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

SR__INLINE bool wins(const cut_list *cuts, const cut *best, double score, int32_t place) {
  if (score != best->score) return score > best->score;
  return best->place >= 0 && cuts->key && cuts->key[place] < cuts->key[best->place];
}

/* ---- two classes under gini ----------------------------------------------------------------- */

/* Proportional to the fall of impurity, where 0 < left < total. */
SR__INLINE double score_two(double second, double left, double all_second, double total) {
  double cross = second * total - all_second * left;
  return cross * cross / (left * (total - left));
}

typedef struct two_classes {
  float total, second, least;
} two_classes;

/* Bits of scores, which are in the order of whole numbers; negative where a cut does not count.
 * With weights up to EXACT_WEIGHT all is exact but the square and the quotient. */
SR__INLINE ints bits_of_two(const two_classes *c, floats left, floats second) {
  floats right = c->total - left;
  floats cross = second * c->total - c->second * left;
  floats score = cross * cross / (left * right);
  ints fits = (left >= c->least) & (right >= c->least);
  return (ints)score | ~fits;
}

SR__INLINE ints higher_ints(ints a, ints b) { return choose_ints(a > b, a, b); }

/* Whether a score whose bits in single precision are `top` may still beat `score`. */
SR__INLINE bool may_beat(int32_t top, double score) {
  return top >= 0 && (double)as_float(top) * (1.0 + 0x1p-20) >= score;
}

/* ---- double precision ----------------------------------------------------------------------- */

/* The best of scores[0 .. count), -INFINITY where a cut does not count. */
SR__INLINE cut best_score(const cut_list *cuts, const double *score, double to_beat) {
  cut best = {.score = to_beat, .place = -1};
  doubles most = (doubles){0} - INFINITY;
  for (int32_t i = 0; i < cuts->count; i += HALF_LANES) {
    doubles here = load_doubles(score + i);
    longs above = here > most;
    most = (doubles)((above & (longs)here) | (~above & (longs)most));
  }
  double top = most[0];
  for (int k = 1; k < HALF_LANES; k++) top = most[k] > top ? most[k] : top;
  if (!(top > to_beat)) return best;
  for (int32_t i = 0; i < cuts->count; i++)
    if (score[i] == top && (best.place < 0 || wins(cuts, &best, top, i)))
      best = (cut){top, i, cuts->total[i]};
  return best;
}

/* Scores of cuts that leave too little on a side become -INFINITY. */
SR__INLINE void drop_light(const sr__node_classes *node, int64_t least, const cut_list *cuts,
                           double *score) {
  const doubles none = (doubles){0} - INFINITY;
  for (int32_t i = 0; i < cuts->count; i += HALF_LANES) {
    doubles l = widen_ints(cuts->total + i), here = load_doubles(score + i);
    longs fits = (l >= (double)least) & ((double)node->total - l >= (double)least);
    here = (doubles)((fits & (longs)here) | (~fits & (longs)none));
    memcpy(score + i, &here, sizeof here);
  }
}

SR__INLINE void score_pairs(const sr__node_classes *node, const cut_list *cuts, double *score) {
  double total = (double)node->total, all_second = (double)node->slot_count[1];
  for (int32_t i = 0; i < cuts->count; i += HALF_LANES) {
    doubles l = widen_ints(cuts->total + i), second = widen_ints(cuts->left + cuts->stride + i);
    doubles cross = second * total - all_second * l;
    doubles here = cross * cross / (l * (total - l));
    memcpy(score + i, &here, sizeof here);
  }
}

/* Sum over classes of weight^2 / total on each side: larger is purer. On a common denominator, so
 * that there is one rounding and equal impurities tie. */
SR__INLINE void score_squares(const sr__node_classes *node, const cut_list *cuts, double *score) {
  for (int32_t i = 0; i < cuts->count; i += HALF_LANES) {
    doubles left_square = {0}, right_square = {0};
    for (int32_t s = 0; s < node->present; s++) {
      doubles l = widen_ints(cuts->left + s * cuts->stride + i);
      doubles r = (double)node->slot_count[s] - l;
      left_square += l * l;
      right_square += r * r;
    }
    doubles l = widen_ints(cuts->total + i), r = (double)node->total - l;
    doubles here = (left_square * r + right_square * l) / (l * r);
    memcpy(score + i, &here, sizeof here);
  }
}

/* sr__log_portable, side by side, of whole numbers from 1 up. */
SR__INLINE doubles log_lanes(doubles x) {
  const longs fraction = (longs){0} + 0x000fffffffffffff,
              one_half = (longs){0} + 0x3fe0000000000000;
  const doubles magic = (doubles){0} + 0x1p52;
  longs bits = (longs)x;
  doubles m = (doubles)((bits & fraction) | one_half);
  longs small = m < 0.70710678118654752440;
  doubles e = (doubles)((bits >> 52) | (longs)magic) - magic - 1022.0;
  m = (doubles)((small & (longs)(m * 2.0)) | (~small & (longs)m));
  e = (doubles)((small & (longs)(e - 1.0)) | (~small & (longs)e));
  doubles s = (m - 1.0) / (m + 1.0), s2 = s * s, sum = {0};
#pragma GCC unroll 11
  for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * s2;
  return e * 6.93147180369123816490e-01 + (e * 1.90821492927058770002e-10 + 2.0 * (s + s * sum));
}

SR__INLINE doubles x_log_x_lanes(doubles x) {
  longs some = x > 0.0;
  doubles safe = (doubles)((some & (longs)x) | (~some & (longs)((doubles){0} + 1.0)));
  return (doubles)(some & (longs)(safe * log_lanes(safe)));
}

/* Minus the entropy of both sides, weighted by their totals. */
SR__INLINE void score_entropy_table(const sr__tree_rules *rules, const sr__node_classes *node,
                                    const cut_list *cuts, double *score) {
  const double *x_log_x = rules->x_log_x;
  int32_t total = (int32_t)node->total;
  for (int32_t i = 0; i < cuts->count; i++)
    score[i] = -x_log_x[cuts->total[i]] - x_log_x[total - cuts->total[i]];
  for (int32_t s = 0; s < node->present; s++) {
    const int32_t *left = cuts->left + s * cuts->stride;
    int32_t all = (int32_t)node->slot_count[s];
    for (int32_t i = 0; i < cuts->count; i++) score[i] += x_log_x[left[i]] + x_log_x[all - left[i]];
  }
}

SR__INLINE void score_entropy_logs(const sr__node_classes *node, const cut_list *cuts,
                                   double *score) {
  for (int32_t i = 0; i < cuts->count; i += HALF_LANES) {
    doubles l = widen_ints(cuts->total + i);
    doubles sum = -x_log_x_lanes(l) - x_log_x_lanes((double)node->total - l);
    for (int32_t s = 0; s < node->present; s++) {
      doubles part = widen_ints(cuts->left + s * cuts->stride + i);
      sum += x_log_x_lanes(part) + x_log_x_lanes((double)node->slot_count[s] - part);
    }
    memcpy(score + i, &sum, sizeof sum);
  }
}

/* ---- several classes under gini, small weight ------------------------------------------------ */

/* Per cut: sums of squared weights on each side, weight on the left, and the bits of the score. All
 * but the last are whole numbers up to EXACT_WEIGHT^2, exact in single precision. */
typedef struct square_sums {
  float left_square[MOST_CUTS + LANES], right_square[MOST_CUTS + LANES], left[MOST_CUTS + LANES];
  int32_t bits[MOST_CUTS + LANES];
} square_sums;

/* Adds a slot of weight `all` whose left weights are `l`. */
SR__INLINE void add_squares(floats l, float all, floats *left_square, floats *right_square,
                            floats *left) {
  floats r = all - l;
  *left_square += l * l;
  *right_square += r * r;
  *left += l;
}

/* Stores the cuts from `at` on; gives the bits of their scores. */
SR__INLINE ints store_squares(const sr__tree_rules *rules, const sr__node_classes *node, int32_t at,
                              floats left_square, floats right_square, floats left,
                              square_sums *sums) {
  float least = (float)(rules->min_weight < node->total ? rules->min_weight : node->total);
  floats right = (float)node->total - left;
  floats score = (left_square * right + right_square * left) / (left * right);
  ints bits = (ints)score | ~((left >= least) & (right >= least));
  memcpy(sums->left_square + at, &left_square, sizeof left_square);
  memcpy(sums->right_square + at, &right_square, sizeof right_square);
  memcpy(sums->left + at, &left, sizeof left);
  memcpy(sums->bits + at, &bits, sizeof bits);
  return bits;
}

/* `top` is the highest of the bits. */
SR__INLINE cut best_of_squares(const sr__node_classes *node, const square_sums *sums, int32_t count,
                               const uint8_t *key, int32_t top, double to_beat) {
  cut best = {.score = to_beat, .place = -1};
  cut_list cuts = {.key = key, .count = count};
  if (!may_beat(top, to_beat)) return best;
  int32_t enough = as_bits(as_float(top) * NEARLY);
  for (int32_t start = 0; start < count; start += LANES) {
    for (uint32_t rest = lanes_from(load_ints(sums->bits + start), enough); rest;
         rest &= rest - 1) {
      int32_t i = start + __builtin_ctz(rest);
      double l = sums->left[i], r = (double)node->total - l;
      double score = (sums->left_square[i] * r + sums->right_square[i] * l) / (l * r);
      if (wins(&cuts, &best, score, i)) best = (cut){score, i, (int64_t)l};
    }
  }
  return best;
}

/* ---- any ------------------------------------------------------------------------------------ */

/* Of a node whose weight is below 2^31. */
static cut best_of_classes(const sr__tree_rules *rules, const sr__node_classes *node,
                           const cut_list *cuts, double to_beat) {
  double score[MOST_CUTS + LANES];
  if (sr__two_class_gini(rules))
    score_pairs(node, cuts, score);
  else if (!rules->entropy)
    score_squares(node, cuts, score);
  else if (node->total < rules->logs)
    score_entropy_table(rules, node, cuts, score);
  else
    score_entropy_logs(node, cuts, score);
  for (int32_t i = cuts->count; i % LANES; i++) score[i] = -INFINITY;
  drop_light(node, rules->min_weight, cuts, score);
  return best_score(cuts, score, to_beat);
}

#endif
