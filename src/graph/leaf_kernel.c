/* The lanes are the queries of a leaf. Each point of a near leaf is measured against all of them at
 * once, in single precision relative to the middle of the leaf. The last bits of its distances are
 * replaced by its number, and these keys sink through k + 1 sorted columns by minima and maxima:
 * the k least keys of every query name its neighbors without a branch on data. Where the next key
 * is not clearly larger, a second pass over the leaves that were near collects the points about the
 * limit.
 *
 * With u = 2^-24, H the diagonal of the leaf and r a distance, the float distance is off by a few
 * u (H + r), and the key of its square by 2^-11 of it. So the k-th key widened by 2^-9 of itself
 * and 2^-30 H^2 holds every true neighbor, and narrowed by as much it holds true ones alone. What
 * lies between is decided in double precision: by distance, then by nearness in the file, then by
 * the lower row. Every level and every order of leaves gives the same set. */
#include "leaf_kernel.h"

#include <math.h>

#include "lanes.h"

enum {
  POINTS = SR__LEAF_POINTS,
  AXES = SR__LEAF_AXES,
  GROUP = SR__KDTREE_GROUP,
  PARTS = POINTS / LANES,
  MOST_WAITING = 8 * 64 / SR__KDTREE_STEP,
  NUMBER_BITS = 12, /* of a point among those of the leaves seen */
  CLUMP_LEVELS = 6  /* a node so far above the leaves whose points are all one is left to others */
};

/* ---- lanes --------------------------------------------------------------------------------- */

SR__INLINE floats least(floats a, floats b) {
#if defined(__AVX512F__)
  return (floats)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
  return (floats)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
  return (floats)_mm_min_ps((__m128)a, (__m128)b);
#else
  for (int i = 0; i < LANES; i++) a[i] = a[i] < b[i] ? a[i] : b[i];
  return a;
#endif
}

SR__INLINE floats most(floats a, floats b) {
#if defined(__AVX512F__)
  return (floats)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
  return (floats)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
  return (floats)_mm_max_ps((__m128)a, (__m128)b);
#else
  for (int i = 0; i < LANES; i++) a[i] = a[i] > b[i] ? a[i] : b[i];
  return a;
#endif
}

SR__INLINE floats add_square(floats sum, floats x) { return add_product(x, x, sum); }

/* The distance with its last bits replaced by the number of the point. */
SR__INLINE floats make_key(floats distance, int32_t number) {
  return (floats)(((ints)distance & ~((1 << NUMBER_BITS) - 1)) | number);
}

/* ---- the queries of a leaf ----------------------------------------------------------------- */

typedef struct search {
  const sr__kdtree *tree;
  sr__leaf_search *s;
  int64_t leaf;
  double scale, unscale;                      /* of coordinates; of squared distances, back */
  double origin[AXES], low[AXES], high[AXES]; /* of the leaf */
  double reach;                               /* squared distance beyond which no box counts */
  float blur;                                 /* (1 + 1 / v) (8 u H)^2 and more */
  float limit[POINTS];                        /* squared, that no true neighbor exceeds */
  int k, queries, seen;
  bool given_up;
} search;

static const float u = 0x1p-24f;
/* The share of itself by which a key may differ from its squared distance. */
static const float v = 0x1p-11f;
/* Where a place is empty; its square is a number, and all else lies within about 1 of the leaf. */
static const float NOWHERE = 1e18f;

SR__INLINE void load_leaf(const search *q, int64_t leaf, int d, float (*x)[POINTS]) {
  const double *block = q->tree->block + leaf * d * POINTS;
  for (int j = 0; j < d; j++)
    for (int i = 0; i < POINTS; i++) {
      float at = (float)((block[j * POINTS + i] - q->origin[j]) * q->scale);
      x[j][i] = at < NOWHERE ? at : NOWHERE;
    }
}

SR__INLINE void in_order(floats *a, floats *b) {
  floats smaller = least(*a, *b);
  *b = most(*a, *b);
  *a = smaller;
}

/* Eight keys sink into nine sorted columns at once: they are sorted, the lesser of the i-th column
 * and the i-th key from the end are the eight least, which a bitonic merge sorts; the ninth is the
 * least of the others. Half the work of one after the other. */
SR__INLINE void sink_eight(floats key[8], floats best[9]) {
  static const uint8_t network[19][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6},
                                         {5, 7}, {1, 2}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {3, 7},
                                         {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};
#pragma GCC unroll 19
  for (int s = 0; s < 19; s++) in_order(&key[network[s][0]], &key[network[s][1]]);
  floats ninth = best[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
    ninth = least(ninth, most(best[i], key[7 - i]));
    best[i] = least(best[i], key[7 - i]);
  }
  best[8] = ninth;
#pragma GCC unroll 3
  for (int step = 4; step > 0; step /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
      if (!(i & step)) in_order(&best[i], &best[i + step]);
}

SR__INLINE void sink_one(floats key, floats *best, int K) {
#pragma GCC unroll 17
  for (int c = 0; c <= K; c++) in_order(&best[c], &key);
}

/* The points of the leaf that was seen as number `seen` sink into the sorted columns of the
 * queries, one more than K; `own`: it is their leaf. */
SR__INLINE void sink(search *q, int seen, int d, int K, bool own) {
  enum { BATCH = 8 };
  float(*x)[POINTS] = q->s->x[seen];
  for (int g = 0; g < PARTS; g++) {
    floats best[SR__LEAF_K + 1], at[AXES];
#pragma GCC unroll 17
    for (int c = 0; c <= K; c++) best[c] = load(q->s->best[c] + g * LANES);
    for (int j = 0; j < d; j++) at[j] = load(q->s->query[j] + g * LANES);
    for (int begin = 0; begin < POINTS; begin += BATCH) {
      floats key[BATCH], first = spread(INFINITY);
#pragma GCC unroll 8
      for (int i = 0; i < BATCH; i++) {
        floats value = {0};
#pragma GCC unroll 3
        for (int j = 0; j < d; j++) value = add_square(value, at[j] - x[j][begin + i]);
        if (own && (begin + i) / LANES == g) value[(begin + i) % LANES] = NOWHERE * NOWHERE;
        key[i] = make_key(value, seen * POINTS + begin + i);
        first = least(first, key[i]);
        if (K != 8 && at_most(key[i], best[K])) sink_one(key[i], best, K);
      }
      if (K == 8 && at_most(first, best[8])) sink_eight(key, best);
    }
#pragma GCC unroll 17
    for (int c = 0; c <= K; c++) memcpy(q->s->best[c] + g * LANES, &best[c], sizeof best[c]);
  }
}

SR__INLINE float largest(floats a) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_ps((__m512)a);
#else
  float far = a[0];
  for (int i = 1; i < LANES; i++) far = a[i] > far ? a[i] : far;
  return far;
#endif
}

/* (r + 8 u H)^2 <= (1 + v) r^2 + (1 + 1 / v) (8 u H)^2, and (r - 8 u H)^2 >= the same with minus.
 */
SR__INLINE floats raise(const search *q, floats key) { return key * (1 + 4 * v) + q->blur; }
SR__INLINE floats lower(const search *q, floats key) { return key * (1 - 4 * v) - q->blur; }

SR__INLINE void set_reach(search *q) {
  floats far = {0};
  for (int g = 0; g < PARTS; g++) {
    floats limit = raise(q, load(q->s->best[q->k - 1] + g * LANES));
    memcpy(q->limit + g * LANES, &limit, sizeof limit);
    far = most(far, limit);
  }
  q->reach = (double)largest(far) * q->unscale;
}

/* Queries that have the box within their limit. */
SR__INLINE uint32_t near_queries(const search *q, const float *box, int d) {
  uint32_t near = 0;
  for (int g = 0; g < PARTS; g++) {
    floats distance = {0};
    for (int j = 0; j < d; j++) {
      floats at = load(q->s->query[j] + g * LANES);
      floats gap = most(most(box[j] - at, at - box[d + j]), (floats){0});
      distance += gap * gap;
    }
    near |= at_most(distance, load(q->limit + g * LANES)) << (g * LANES);
  }
  return near;
}

SR__INLINE void see_leaf(search *q, int64_t leaf, const double *member, int d, int K) {
  float box[2 * AXES];
  for (int j = 0; j < d; j++) {
    float low = (float)((member[j * GROUP] - q->origin[j]) * q->scale);
    float high = (float)((member[(d + j) * GROUP] - q->origin[j]) * q->scale);
    box[j] = low - 2 * u * fabsf(low);
    box[d + j] = high + 2 * u * fabsf(high);
  }
  if (!near_queries(q, box, d)) return;
  if (q->seen == SR__LEAF_SEEN) {
    q->given_up = true;
    return;
  }
  int at = q->seen++;
  q->s->leaf[at] = (int32_t)leaf;
  memcpy(q->s->box[at], box, sizeof box);
  load_leaf(q, leaf, d, q->s->x[at]);
  sink(q, at, d, K, false);
  set_reach(q);
}

/* Bit i: box i of the group is within reach of the leaf's. */
SR__INLINE uint32_t near_boxes(const search *q, const double *group, int d) {
  uint32_t near = 0;
  double distance[GROUP] = {0};
  for (int j = 0; j < d; j++) {
    const double *low = group + j * GROUP, *high = low + d * GROUP;
    for (int i = 0; i < GROUP; i++) {
      double a = low[i] - q->high[j], b = q->low[j] - high[i], gap = a > b ? a : b;
      gap = gap > 0.0 ? gap : 0.0;
      distance[i] += gap * gap;
    }
  }
  for (int i = 0; i < GROUP; i++) near |= (uint32_t)(distance[i] <= q->reach) << i;
  return near;
}

static bool is_one_point(const double *member, int d) {
  for (int j = 0; j < d; j++)
    if (member[j * GROUP] != member[(d + j) * GROUP]) return false;
  return true;
}

/* The group of (level, index) but for that node itself, and what lies below. */
SR__INLINE void visit(search *q, int level, int64_t index, int d, int K) {
  const sr__kdtree *tree = q->tree;
  struct {
    int64_t index;
    int level;
  } waiting[MOST_WAITING];
  int height = 0;
  int64_t left_out = index;
  for (;;) {
    int64_t first = index & ~(int64_t)(GROUP - 1), nodes = INT64_C(1) << level;
    const double *group = sr__kdtree_group(tree, level, index);
    uint32_t near = near_boxes(q, group, d);
    if (nodes < GROUP) near &= (1u << nodes) - 1;
    if (left_out >= 0) near &= ~(1u << (left_out - first));
    left_out = -1;
    for (; near && !q->given_up; near &= near - 1) {
      int i = __builtin_ctz(near);
      if (level == tree->levels) {
        see_leaf(q, first + i, group + i, d, K);
      } else if (tree->levels - level >= CLUMP_LEVELS && is_one_point(group + i, d)) {
        q->given_up = true;
      } else {
        waiting[height].index = first + i;
        waiting[height++].level = level;
      }
    }
    if (q->given_up || height == 0) return;
    height--;
    level = waiting[height].level + SR__KDTREE_STEP;
    index = waiting[height].index * GROUP;
  }
}

/* Limits of all queries of the leaf, and the leaves within them. */
SR__INLINE void find_limits(search *q, int d, int K) {
  const sr__kdtree *tree = q->tree;
  const double *member = sr__kdtree_group(tree, tree->levels, q->leaf) + q->leaf % GROUP;
  double diagonal = 0.0;
  for (int j = 0; j < d; j++) {
    q->low[j] = member[j * GROUP];
    q->high[j] = member[(d + j) * GROUP];
    q->origin[j] = q->low[j] + 0.5 * (q->high[j] - q->low[j]);
    double side = (q->high[j] - q->low[j]) * q->scale;
    diagonal += side * side;
    q->s->box[0][j] = -INFINITY;
    q->s->box[0][d + j] = INFINITY;
  }
  q->blur = (float)(0x1p-30 * diagonal) + 1e-36f;
  q->s->leaf[0] = (int32_t)q->leaf;
  q->seen = 1;
  load_leaf(q, q->leaf, d, q->s->x[0]);
  for (int j = 0; j < d; j++) /* lanes without a query stand at the middle and ask for nothing */
    for (int i = 0; i < POINTS; i++) q->s->query[j][i] = i < q->queries ? q->s->x[0][j][i] : 0.0f;
  for (int c = 0; c <= K; c++)
    for (int i = 0; i < POINTS; i++) q->s->best[c][i] = i < q->queries ? INFINITY : -1.0f;
  sink(q, 0, d, K, true);
  set_reach(q);
  int64_t node = q->leaf;
  for (int level = tree->levels; level > 0 && !q->given_up;
       level -= SR__KDTREE_STEP, node /= GROUP) {
    const double *own = sr__kdtree_group(tree, level, node) + node % GROUP;
    if (tree->levels - level >= CLUMP_LEVELS && is_one_point(own, d)) q->given_up = true;
    visit(q, level, node, d, K);
  }
}

/* ---- those at the limit -------------------------------------------------------------------- */

/* A point in doubt is named by its leaf's number among those seen and its number in it. */
static int32_t place_of(const search *q, int32_t doubt) {
  return q->s->base[doubt / POINTS] + doubt % POINTS;
}

static double exact_distance(const search *q, int query, int32_t doubt, int d) {
  const double *a = q->tree->block + q->leaf * d * POINTS + query;
  const double *b = q->tree->block + (int64_t)q->s->leaf[doubt / POINTS] * d * POINTS;
  double sum = 0.0;
  for (int j = 0; j < d; j++) {
    double gap = b[j * POINTS + doubt % POINTS] - a[j * POINTS];
    sum += gap * gap;
  }
  return sum;
}

typedef struct rank {
  double distance;
  int64_t tie;
} rank;

static bool ranks_after(rank a, rank b) {
  return a.distance > b.distance || (a.distance == b.distance && a.tie > b.tie);
}

/* Drops the last in order from those in doubt until `want` are left; few are to be dropped. */
static void drop_last(const search *q, int query, int count, int want, int d) {
  const sr__kdtree *tree = q->tree;
  int64_t own = tree->row[sr__kdtree_begin(tree, tree->levels, q->leaf) + query];
  int32_t *doubt = q->s->doubt[query];
  rank key[SR__LEAF_DOUBTS + POINTS];
  for (int h = 0; h < count; h++) {
    int64_t gap = (int64_t)tree->row[place_of(q, doubt[h])] - own;
    key[h].distance = exact_distance(q, query, doubt[h], d);
    key[h].tie = gap > 0 ? 2 * gap + 1 : -2 * gap;
  }
  for (; count > want; count--) {
    int last = 0;
    for (int h = 1; h < count; h++)
      if (ranks_after(key[h], key[last])) last = h;
    doubt[last] = doubt[count - 1];
    key[last] = key[count - 1];
  }
}

/* Bits of the points of a seen leaf whose distance from query i is at most its limit. */
SR__INLINE uint32_t points_within(const search *q, int seen, int i, float sure, int d,
                                  uint32_t *inside) {
  uint32_t within = 0;
  *inside = 0;
  for (int g = 0; g < PARTS; g++) {
    floats value = {0};
    for (int j = 0; j < d; j++)
      value = add_square(value, q->s->query[j][i] - load(q->s->x[seen][j] + g * LANES));
    within |= at_most(value, spread(q->limit[i])) << (g * LANES);
    *inside |= at_most(value, spread(sure)) << (g * LANES);
  }
  return within;
}

/* Bits of the queries whose k least keys are certainly those of their neighbors, which are written
 * to their lists: the next key is larger by more than keys and rounding can hide. */
SR__INLINE uint32_t take_keys(const search *q, int64_t first, int32_t *neighbor) {
  uint32_t clear = 0;
  for (int g = 0; g < PARTS; g++) {
    floats next = lower(q, load(q->s->best[q->k] + g * LANES));
    clear |= at_most(load(q->limit + g * LANES), next) << (g * LANES);
  }
  clear &= (1u << q->queries) - 1;
  if (!clear) return 0;
  int32_t place[SR__LEAF_K][POINTS];
  for (int c = 0; c < q->k; c++)
    for (int i = 0; i < POINTS; i++) {
      uint32_t bits;
      memcpy(&bits, &q->s->best[c][i], sizeof bits);
      uint32_t number = bits & ((1u << NUMBER_BITS) - 1);
      place[c][i] = q->s->base[number / POINTS] + (int32_t)(number % POINTS);
    }
  for (uint32_t left = clear; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    int32_t *out = neighbor + (first + i) * q->k;
    if (q->k == 8) {
#pragma GCC unroll 8
      for (int c = 0; c < 8; c++) out[c] = place[c][i];
    } else {
      for (int c = 0; c < q->k; c++) out[c] = place[c][i];
    }
  }
  return clear;
}

/* Writes `first` + i for every bit i in order and gives their number; up to 16 places are written
 * to. */
SR__INLINE int put_bits(uint32_t bits, int32_t first, int32_t *to) {
#if defined(__AVX512F__)
  const __m512i count = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  __m512i all = _mm512_add_epi32(count, _mm512_set1_epi32(first));
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)bits, all));
#else
  for (uint32_t left = bits; left; left &= left - 1) *to++ = first + __builtin_ctz(left);
#endif
  return __builtin_popcount(bits);
}

/* Collects what lies within the limits of the open queries: the points that are certainly their
 * neighbors, and those in doubt. */
SR__INLINE void collect(search *q, int d, uint32_t open, int sure[POINTS], int doubts[POINTS]) {
  float certain[POINTS];
  for (int g = 0; g < PARTS; g++) {
    floats sure_below = lower(q, load(q->s->best[q->k - 1] + g * LANES));
    memcpy(certain + g * LANES, &sure_below, sizeof sure_below);
  }
  for (int c = 0; c < q->seen; c++) {
    uint32_t near = near_queries(q, q->s->box[c], d) & open;
    for (; near; near &= near - 1) {
      int i = __builtin_ctz(near);
      uint32_t inside, within = points_within(q, c, i, certain[i], d, &inside);
      if (c == 0) {
        within &= ~(1u << i);
        inside &= ~(1u << i);
      }
      within &= ~inside;
      sure[i] += put_bits(inside, q->s->base[c], q->s->sure[i] + sure[i]);
      if (doubts[i] > SR__LEAF_DOUBTS) continue;
      doubts[i] += put_bits(within, c * POINTS, q->s->doubt[i] + doubts[i]);
    }
  }
}

SR__INLINE uint32_t search_leaf(search *q, int d, int K, int32_t *neighbor) {
  const sr__kdtree *tree = q->tree;
  int doubts[POINTS] = {0}, sure[POINTS] = {0};
  int64_t first = sr__kdtree_begin(tree, tree->levels, q->leaf);
  q->queries = (int)(sr__kdtree_begin(tree, tree->levels, q->leaf + 1) - first);
  uint32_t all = (1u << q->queries) - 1, undecided = 0;
  q->given_up = false;
  find_limits(q, d, K);
  if (q->given_up) return all;
  for (int c = 0; c < q->seen; c++)
    q->s->base[c] = (int32_t)sr__kdtree_begin(tree, tree->levels, q->s->leaf[c]);
  uint32_t open = all & ~take_keys(q, first, neighbor);
  if (!open) return 0;
  collect(q, d, open, sure, doubts);
  for (; open; open &= open - 1) {
    int i = __builtin_ctz(open), want = q->k - sure[i];
    if (doubts[i] > SR__LEAF_DOUBTS) {
      undecided |= 1u << i;
      continue;
    }
    if (doubts[i] > want) drop_last(q, i, doubts[i], want, d);
    int32_t *out = neighbor + (first + i) * q->k;
    for (int h = 0; h < sure[i]; h++) out[h] = q->s->sure[i][h];
    for (int h = 0; h < want; h++) out[sure[i] + h] = place_of(q, q->s->doubt[i][h]);
  }
  return undecided;
}

/* The number of axes and of columns as constants keeps the columns in registers. */
#define FORM(d, K)                                                 \
  static uint32_t search_##d##_##K(search *q, int32_t *neighbor) { \
    return search_leaf(q, d, K, neighbor);                         \
  }
FORM(1, 8)
FORM(1, 16)
FORM(2, 8)
FORM(2, 16)
FORM(3, 8)
FORM(3, 16)

static uint32_t search_points(const sr__kdtree *tree, double scale, int64_t leaf, int32_t k,
                              sr__leaf_search *scratch, int32_t *neighbor) {
  typedef uint32_t form(search *, int32_t *);
  static form *const forms[AXES][2] = {{search_1_8, search_1_16},
                                       {search_2_8, search_2_16},
                                       {search_3_8, search_3_16}};
  search q = {.tree = tree,
              .s = scratch,
              .leaf = leaf,
              .scale = scale,
              .unscale = (1 + 1e-6) / (scale * scale),
              .k = k};
  return forms[tree->dimension - 1][k > 8](&q, neighbor);
}

const sr__leaf_kernel SR__KERNEL(sr__leaf_kernel) = {search_points};
