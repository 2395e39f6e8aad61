/* Running sums, features of intervals from them, and the way through a tree. Every operation is
 * correctly rounded and none is fused: the same bits at every level. */
#include "tsf_kernel.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef double f64x4 __attribute__((vector_size(32), may_alias));
typedef float f32x4 __attribute__((vector_size(16), may_alias));
typedef int32_t i32x4 __attribute__((vector_size(16), may_alias));

static inline f64x4 wide_of(const float *x) { return (f64x4){x[0], x[1], x[2], x[3]}; }

static void sums(const float *series, int32_t length, int64_t width, double *sum, double *center) {
  for (int h = 0; h < 8; h += 4) {
    f64x4 total = {0}, value = {0}, square = {0}, moment = {0};
    for (int64_t t = 0; t < length; t++) total += wide_of(series + 8 * t + h);
    f64x4 middle = total / (double)length;
    *(f64x4 *)(void *)(center + h) = middle;
    for (int64_t t = 0; t <= length; t++) {
      double *to = sum + 3 * width * t + h;
      *(f64x4 *)(void *)to = value;
      *(f64x4 *)(void *)(to + width) = square;
      *(f64x4 *)(void *)(to + 2 * width) = moment;
      if (t == length) break;
      f64x4 here = wide_of(series + 8 * t + h) - middle;
      value += here;
      square += here * here;
      moment += (double)t * here;
    }
  }
}

static inline f64x4 difference(const double *from, const double *to) {
  return *(const f64x4 *)(const void *)to - *(const f64x4 *)(const void *)from;
}

/* What is missing becomes +inf. */
static inline void store_narrow(f64x4 made, float *to) {
  f32x4 narrow = __builtin_convertvector(made, f32x4), missing = (f32x4){0} + INFINITY;
  i32x4 there = narrow == narrow;
  narrow = (f32x4)((there & (i32x4)narrow) | (~there & (i32x4)missing));
  memcpy(to, &narrow, sizeof narrow);
}

/* Of the variance, or of 0 where rounding made it negative. */
static inline f64x4 square_root(f64x4 variance) {
#if defined(__AVX__)
  return (f64x4)_mm256_sqrt_pd(_mm256_max_pd(_mm256_setzero_pd(), (__m256d)variance));
#else
  f64x4 root;
  for (int j = 0; j < 4; j++) root[j] = sqrt(variance[j] < 0.0 ? 0.0 : variance[j]);
  return root;
#endif
}

static void means(const double *from, const double *to, const double *center, int64_t rows,
                  const sr__tsf_reader *reader, float *feature) {
  for (int64_t i = 0; i < rows; i += 4)
    store_narrow(reader->by_value * difference(from + i, to + i) +
                     *(const f64x4 *)(const void *)(center + i),
                 feature + i);
}

static void deviations(const double *from, const double *to, int64_t width, int64_t rows,
                       const sr__tsf_reader *reader, float *feature) {
  for (int64_t i = 0; i < rows; i += 4) {
    f64x4 mean = reader->by_value * difference(from + i, to + i);
    f64x4 variance = reader->by_value * difference(from + width + i, to + width + i) - mean * mean;
    store_narrow(square_root(variance), feature + i);
  }
}

static void slopes(const double *from, const double *to, int64_t width, int64_t rows,
                   const sr__tsf_reader *reader, float *feature) {
  for (int64_t i = 0; i < rows; i += 4)
    store_narrow(reader->by_value * difference(from + i, to + i) +
                     reader->by_moment * difference(from + 2 * width + i, to + 2 * width + i),
                 feature + i);
}

/* All three at once: the differences of the values serve each. */
static void all_kinds(const double *from, const double *to, const double *center, int64_t width,
                      int64_t rows, const sr__tsf_reader *reader, float *feature) {
  double by_value = reader[0].by_value, slope = reader[2].by_value, moment = reader[2].by_moment;
  for (int64_t i = 0; i < rows; i += 4) {
    f64x4 value = difference(from + i, to + i), mean = by_value * value;
    f64x4 variance = by_value * difference(from + width + i, to + width + i) - mean * mean;
    store_narrow(mean + *(const f64x4 *)(const void *)(center + i), feature + i);
    store_narrow(square_root(variance), feature + rows + i);
    store_narrow(slope * value + moment * difference(from + 2 * width + i, to + 2 * width + i),
                 feature + 2 * rows + i);
  }
}

static void features(const double *sum, const double *center, int64_t width, int64_t eights,
                     sr__tsf_asked asked, float *feature) {
  const sr__tsf_reader *reader = asked.reader;
  for (int32_t i = 0; i < asked.count; i++) {
    int64_t k = asked.list ? asked.list[i] : i, rows = 8 * eights;
    const double *from = sum + 3 * width * reader[k].start, *to = sum + 3 * width * reader[k].end;
    const double *middle = center + width * reader[k].channel;
    float *made = feature + rows * k;
    if (reader[k].kind == 0 && i + 2 < asked.count && (!asked.list || asked.list[i + 2] == k + 2)) {
      all_kinds(from, to, middle, width, rows, &reader[k], made);
      i += 2;
    } else if (reader[k].kind == 0)
      means(from, to, middle, rows, &reader[k], made);
    else if (reader[k].kind == 1)
      deviations(from, to, width, rows, &reader[k], made);
    else
      slopes(from, to, width, rows, &reader[k], made);
  }
}

/* ---- the way through a tree ------------------------------------------------------------------ */

enum { FEW = 12, TOGETHER = 8, STEPS = 4 };

/* Bit j: lane j is above the threshold. */
static inline uint64_t lanes_above(const float *feature, int64_t eights, float threshold) {
  uint64_t above = 0;
#if defined(__AVX__)
  __m256 limit = _mm256_set1_ps(threshold);
  for (int64_t e = 0; e < eights; e++) {
    __m256 here = _mm256_loadu_ps(feature + 8 * e);
    int eight = _mm256_movemask_ps(_mm256_cmp_ps(here, limit, _CMP_GT_OQ));
    above |= (uint64_t)(uint32_t)eight << (8 * e);
  }
#elif defined(__SSE2__)
  __m128 limit = _mm_set1_ps(threshold);
  for (int64_t h = 0; h < 2 * eights; h++) {
    int four = _mm_movemask_ps(_mm_cmpgt_ps(_mm_loadu_ps(feature + 4 * h), limit));
    above |= (uint64_t)(uint32_t)four << (4 * h);
  }
#else
  for (int64_t j = 0; j < 8 * eights; j++) above |= (uint64_t)(feature[j] > threshold) << j;
#endif
  return above;
}

/* Lanes that have left the others, each with the node that it has come to. */
typedef struct strays {
  int32_t count;
  uint32_t lane[SR__TSF_TILE + TOGETHER], at[SR__TSF_TILE + TOGETHER];
} strays;

static inline void stray(strays *s, uint64_t lanes, uint32_t node) {
  for (; lanes; lanes &= lanes - 1) {
    s->lane[s->count] = (uint32_t)__builtin_ctzll(lanes);
    s->at[s->count++] = node;
  }
}

/* Eight lanes side by side, so that what they wait for overlaps; until none moves any more. */
static void walk_eight(const sr__tsf_node *node, const float *feature, int64_t width,
                       const uint32_t lane[], uint32_t at[]) {
  uint32_t moved = 1;
  while (moved)
    for (int step = 0; step < STEPS; step++) {
      moved = 0;
      for (int j = 0; j < TOGETHER; j++) {
        sr__tsf_node here = node[at[j]];
        uint32_t next = here.left + (feature[here.feature * width + lane[j]] > here.threshold);
        moved |= next ^ at[j];
        at[j] = next;
      }
    }
}

static void walk_strays(const sr__tsf_node *node, const float *feature, int64_t width, strays *s,
                        uint32_t leaf[SR__TSF_TILE]) {
  for (int32_t j = s->count; s->count && j % TOGETHER; j++)
    s->lane[j] = s->lane[0], s->at[j] = s->at[0];
  for (int32_t j = 0; j < s->count; j += TOGETHER)
    walk_eight(node, feature, width, s->lane + j, s->at + j);
  for (int32_t j = 0; j < s->count; j++) leaf[s->lane[j]] = node[s->at[j]].leaf;
}

/* Where many lanes stand at a node, one comparison tells the way of all; few walk by themselves. */
static void leaves(const sr__tsf_node *node, const float *feature, int64_t eights, uint64_t lanes,
                   uint32_t leaf[SR__TSF_TILE]) {
  struct {
    uint64_t lanes;
    uint32_t node;
  } open[SR__TSF_TILE + 1]; /* no lane twice, and none without lanes */
  int opened = 1;
  strays alone;
  open[0].lanes = lanes, open[0].node = 0;
  alone.count = 0;
  while (opened) {
    uint64_t here = open[--opened].lanes;
    uint32_t at = open[opened].node;
    sr__tsf_node split = node[at];
    if (split.left == at) {
      for (; here; here &= here - 1) leaf[__builtin_ctzll(here)] = split.leaf;
      continue;
    }
    if (__builtin_popcountll(here) <= FEW) {
      stray(&alone, here, at);
      continue;
    }
    uint64_t right =
        here & lanes_above(feature + 8 * eights * split.feature, eights, split.threshold);
    open[opened].lanes = here & ~right, open[opened].node = split.left;
    opened += here != right;
    open[opened].lanes = right, open[opened].node = split.left + 1;
    opened += right != 0;
  }
  walk_strays(node, feature, 8 * eights, &alone, leaf);
}

const sr__tsf_kernel SR__KERNEL(sr__tsf_kernel) = {sums, features, leaves};
