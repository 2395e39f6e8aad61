/* Two-class cuts, eight side by side. The vectors are those of GCC and Clang: one source for every
 * machine, and the same bits on each, because every operation is exact or correctly rounded. */
#ifndef SR_LEARNER_TREE_LANES_H
#define SR_LEARNER_TREE_LANES_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512VPOPCNTDQ__)
#include <immintrin.h>
#endif

enum { SR__LANES = 8 };
typedef int64_t sr__i64x8 __attribute__((vector_size(64)));
typedef double sr__f64x8 __attribute__((vector_size(64)));

static inline sr__i64x8 sr__lane_load(const void *from) {
  sr__i64x8 to;
  memcpy(&to, from, sizeof to);
  return to;
}

static inline sr__i64x8 sr__lane_popcount(sr__i64x8 x) {
#if defined(__AVX512VPOPCNTDQ__)
  return (sr__i64x8)_mm512_popcnt_epi64((__m512i)x);
#else
  for (int k = 0; k < SR__LANES; k++) x[k] = __builtin_popcountll((uint64_t)x[k]);
  return x;
#endif
}

static inline sr__i64x8 sr__lane_choose(sr__i64x8 mask, sr__i64x8 yes, sr__i64x8 no) {
  return (mask & yes) | (~mask & no);
}

/* Of two classes under gini: proportional to the fall of impurity, where 0 < left < total. */
static inline double sr__score_two(double left_second, double left, double second, double total) {
  double cross = left_second * total - second * left;
  return cross * cross / (left * (total - left));
}

/* What the cuts are judged by. */
typedef struct sr__lane_node {
  int64_t total, second, min_weight;
} sr__lane_node;

/* The best so far in each lane; of equal scores the lowest key. */
typedef struct sr__lane_best {
  sr__f64x8 score;
  sr__i64x8 key, left;
} sr__lane_best;

static inline void sr__lane_init(sr__lane_best *best) {
  *best = (sr__lane_best){.score = (sr__f64x8){0} - 1.0, .key = (sr__i64x8){0} + INT64_MAX};
}

/* Cuts that leave less than min_weight on a side do not count. */
static inline void sr__lane_consider(sr__lane_best *best, const sr__lane_node *node, sr__i64x8 left,
                                     sr__i64x8 left_second, sr__i64x8 key) {
  sr__f64x8 l = __builtin_convertvector(left, sr__f64x8);
  sr__f64x8 cross = __builtin_convertvector(left_second, sr__f64x8) * (double)node->total -
                    (double)node->second * l;
  sr__f64x8 score = cross * cross / (l * ((double)node->total - l));
  sr__i64x8 fits = (left >= node->min_weight) & (node->total - left >= node->min_weight);
  sr__i64x8 better = fits & ((score > best->score) | ((score == best->score) & (key < best->key)));
  best->score = (sr__f64x8)sr__lane_choose(better, (sr__i64x8)score, (sr__i64x8)best->score);
  best->key = sr__lane_choose(better, key, best->key);
  best->left = sr__lane_choose(better, left, best->left);
}

/* The lane that won, or -1 where no cut counts. */
static inline int sr__lane_winner(const sr__lane_best *best) {
  int winner = 0;
  for (int k = 1; k < SR__LANES; k++)
    if (best->score[k] > best->score[winner] ||
        (best->score[k] == best->score[winner] && best->key[k] < best->key[winner]))
      winner = k;
  return best->score[winner] >= 0.0 ? winner : -1;
}

#endif
