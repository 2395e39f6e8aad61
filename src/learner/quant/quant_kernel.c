/* QUANT's loops: features of eight series, bins of eight columns, and the search of a node. */
#include "quant_kernel.h"

#include <math.h>

#include "quant_sort.h"

/* ---- Fourier transform --------------------------------------------------------------------- */

/* Four complex numbers. */
typedef struct complex4 {
  f64x4 re, im;
} complex4;

SR__INLINE complex4 turn(complex4 x, const double *root) {
  return (complex4){x.re * root[0] - x.im * root[1], x.re * root[1] + x.im * root[0]};
}

/* Joins four transforms of m points each, root[2 k stride] being the k-th root of all 4 m. */
static void join_four(complex4 *out, int64_t m, int64_t stride, const double *root) {
  for (int64_t u = 0; u < m; u++) {
    const double *w = root + 2 * u * stride;
    complex4 a = out[u], b = turn(out[u + m], w);
    complex4 c = turn(out[u + 2 * m], root + 4 * u * stride);
    complex4 d = turn(out[u + 3 * m], root + 6 * u * stride);
    complex4 even = {a.re + c.re, a.im + c.im}, odd = {a.re - c.re, a.im - c.im};
    complex4 sum = {b.re + d.re, b.im + d.im}, difference = {b.re - d.re, b.im - d.im};
    out[u] = (complex4){even.re + sum.re, even.im + sum.im};
    out[u + m] = (complex4){odd.re + difference.im, odd.im - difference.re};
    out[u + 2 * m] = (complex4){even.re - sum.re, even.im - sum.im};
    out[u + 3 * m] = (complex4){odd.re - difference.im, odd.im + difference.re};
  }
}

static void join_two(complex4 *out, int64_t m, int64_t stride, const double *root) {
  for (int64_t u = 0; u < m; u++) {
    complex4 a = out[u], b = turn(out[u + m], root + 2 * u * stride);
    out[u] = (complex4){a.re + b.re, a.im + b.im};
    out[u + m] = (complex4){a.re - b.re, a.im - b.im};
  }
}

static void join_many(complex4 *out, int32_t p, int64_t m, int64_t stride, const double *root,
                      int64_t length) {
  complex4 term[32];
  for (int64_t u = 0; u < m; u++) {
    for (int32_t q = 0; q < p; q++) term[q] = turn(out[u + q * m], root + 2 * u * stride * q);
    for (int32_t k = 0; k < p; k++) {
      complex4 sum = term[0];
      for (int32_t q = 1; q < p; q++) {
        complex4 next = turn(term[q], root + 2 * (length / p) * (k * q % p));
        sum.re += next.re, sum.im += next.im;
      }
      out[u + k * m] = sum;
    }
  }
}

/* n points in[0], in[stride], ... to out[0 .. n - 1]. */
static void fourier_step(const sr__quant_fourier *fourier, const complex4 *in, int64_t stride,
                         int32_t level, int64_t n, complex4 *out) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  int32_t p = fourier->factor[level];
  int64_t m = n / p;
  for (int32_t k = 0; k < p; k++)
    fourier_step(fourier, in + k * stride, stride * p, level + 1, m, out + k * m);
  if (p == 4)
    join_four(out, m, stride, fourier->root);
  else if (p == 2)
    join_two(out, m, stride, fourier->root);
  else
    join_many(out, p, m, stride, fourier->root, fourier->length);
}

static void fourier(const sr__quant_fourier *plan, const double *from, double *to,
                    double *const spare[2]) {
  const complex4 *in = (const void *)from;
  complex4 *out = (void *)to;
  if (!plan->inner) {
    fourier_step(plan, in, 1, 0, plan->length, out);
    return;
  }
  /* x_k chirp_k convolved with the conjugate chirp, times chirp_k. */
  int64_t n = plan->length, m = plan->inner->length;
  complex4 *a = (void *)spare[0], *b = (void *)spare[1];
  for (int64_t k = 0; k < n; k++) a[k] = turn(in[k], plan->chirp + 2 * k);
  memset(a + n, 0, sizeof *a * (size_t)(m - n));
  fourier_step(plan->inner, a, 1, 0, m, b);
  for (int64_t k = 0; k < m; k++) { /* conjugated: then a forward transform is the inverse */
    complex4 y = turn(b[k], plan->chirp_transform + 2 * k);
    a[k] = (complex4){y.re, -y.im};
  }
  fourier_step(plan->inner, a, 1, 0, m, b);
  double scale = 1.0 / (double)m;
  for (int64_t k = 0; k < n; k++) {
    complex4 y = {b[k].re * scale, -b[k].im * scale};
    out[k] = turn(y, plan->chirp + 2 * k);
  }
}

/* ---- the four kinds of values --------------------------------------------------------------- */

static void first_differences(const f32x8 *x, int32_t length, f32x8 *difference, f32x8 *to) {
  int32_t m = length - 1;
  for (int32_t t = 0; t < m; t++) difference[t] = x[t + 1] - x[t];
  for (int32_t t = 0; t < m; t++) {
    f32x8 sum = {0};
    for (int32_t k = t - 2; k <= t + 2; k++) sum += difference[k < 0 ? 0 : k >= m ? m - 1 : k];
    to[t] = sum * 0.2f;
  }
}

static void second_differences(const f32x8 *x, int32_t length, f32x8 *to) {
  for (int32_t t = 0; t + 2 < length; t++) to[t] = (x[t + 2] - x[t + 1]) - (x[t + 1] - x[t]);
}

/* Two real series in one complex one: lanes 0-3 and 4-7. */
static void magnitudes(const sr__quant_fourier *plan, sr__quant_scratch *scratch, float *to) {
  int64_t n = plan->length;
  for (int64_t i = 0; i < 8 * n; i++) scratch->fourier_in[i] = scratch->series[i];
  fourier(plan, scratch->fourier_in, scratch->fourier_out, scratch->fourier_spare);
  const complex4 *out = (const void *)scratch->fourier_out;
  for (int64_t k = 0; k <= n / 2; k++) {
    complex4 a = out[k], b = out[k ? n - k : 0];
    f64x4 xr = a.re + b.re, xi = a.im - b.im, yr = a.im + b.im, yi = b.re - a.re;
    f64x4 x = 0.25 * (xr * xr + xi * xi), y = 0.25 * (yr * yr + yi * yi);
    for (int j = 0; j < 4; j++) {
      to[8 * k + j] = (float)sqrt(x[j]);
      to[8 * k + 4 + j] = (float)sqrt(y[j]);
    }
  }
}

/* ---- quantiles of intervals ----------------------------------------------------------------- */

/* Of the sorted values of [first, first + width): at even ranks from least to largest, every second
 * one minus the mean. Adding zero turns -0 into 0. */
static void read_quantiles(const double *sum, const f32x8 *sorted, int32_t first, int32_t width,
                           f32x8 *out) {
  const f32x8 zero = {0};
  int32_t quantiles = sr__quant_quantiles(width);
  if (quantiles == 1) { /* the median of up to four values */
    f32x8 middle = sorted[(width - 1) / 2];
    if (width % 2 == 0) middle += 0.5f * (sorted[width / 2] - middle);
    out[0] = middle + zero;
    return;
  }
  f32x8 mean;
  for (int j = 0; j < 8; j++)
    mean[j] =
        (float)((sum[8 * (int64_t)(first + width) + j] - sum[8 * (int64_t)first + j]) / width);
  int32_t gaps = quantiles - 1, step = (width - 1) / gaps, rest = (width - 1) % gaps;
  int32_t at = 0, part = 0; /* rank at + part / gaps */
  float scale = 1.0f / (float)gaps;
  for (int32_t i = 0; i < quantiles; i++) {
    f32x8 value = sorted[at];
    if (part) value += (float)part * scale * (sorted[at + 1] - value);
    if (i & 1) value -= mean;
    out[i] = value + zero;
    at += step;
    part += rest;
    if (part >= gaps) at++, part -= gaps;
  }
}

static void running_sums(const f32x8 *z, int32_t count, double *sum) {
  f64x4 a = {0}, b = {0}, *to = (void *)sum;
  to[0] = a, to[1] = b;
  for (int32_t t = 0; t < count; t++) {
    const float *value = (const float *)(z + t);
    a += (f64x4){value[0], value[1], value[2], value[3]};
    b += (f64x4){value[4], value[5], value[6], value[7]};
    to[2 * t + 2] = a, to[2 * t + 3] = b;
  }
}

/* Moved intervals of the level above `level`: each joins two neighbors of `level` that the plain
 * ones keep apart. Rounding of the edges may take one value out in front and put one in behind. */
static void moved_intervals(const sr__quant_kind *kind, int level, const f32x8 *z,
                            const f32x8 *runs, const sr__quant_scratch *scratch, f32x8 *out) {
  int32_t m = kind->count, above = level - 1, pieces = (int32_t)1 << above;
  int32_t shift = (int32_t)(((int64_t)m + ((int64_t)1 << level) - 1) >> level);
  for (int32_t j = 0; j + 1 < pieces; j++) {
    int32_t begin = sr__quant_edge(m, level, 2 * j + 1);
    int32_t middle = sr__quant_edge(m, level, 2 * j + 2);
    int32_t end = sr__quant_edge(m, level, 2 * j + 3);
    int32_t from = sr__quant_edge(m, above, j) + shift,
            to = sr__quant_edge(m, above, j + 1) + shift;
    const f32x8 *first = runs + begin, *second = runs + middle;
    int32_t firsts = middle - begin, seconds = end - middle;
    f32x8 *cut = (void *)scratch->cut, *merged = (void *)scratch->spare;
    if (from > begin && firsts) {
      firsts = take_out(first, firsts, z[begin], cut);
      first = cut;
      cut += firsts + 1;
    } else if (from > begin) {
      seconds = take_out(second, seconds, z[begin], cut);
      second = cut;
      cut += seconds + 1;
    }
    if (to > end) {
      seconds = put_in(second, seconds, z[end], cut);
      second = cut;
    }
    merge_runs(first, firsts, second, seconds, merged);
    read_quantiles(scratch->sum, merged, from, to - from, out + kind->moved_at[above][j]);
  }
}

/* Pieces of the finest level are sorted; those of a level are merged from two of the next. */
static void intervals(const sr__quant_kind *kind, const f32x8 *z, const sr__quant_scratch *scratch,
                      f32x8 *out) {
  int32_t m = kind->count;
  if (!kind->levels) return;
  running_sums(z, m, scratch->sum);
  f32x8 *runs = (void *)scratch->run[0], *next = (void *)scratch->run[1];
  for (int32_t j = 0; j < (int32_t)1 << kind->finest; j++) {
    int32_t begin = sr__quant_edge(m, kind->finest, j);
    sort_run(z + begin, sr__quant_edge(m, kind->finest, j + 1) - begin, (void *)scratch->spare,
             runs + begin);
  }
  for (int level = kind->finest; level >= 0; level--) {
    for (int32_t j = 0; level < kind->levels && j < (int32_t)1 << level; j++) {
      int32_t begin = sr__quant_edge(m, level, j);
      read_quantiles(scratch->sum, runs + begin, begin, sr__quant_edge(m, level, j + 1) - begin,
                     out + kind->at[level][j]);
    }
    if (level == 0) break;
    if (kind->moved[level - 1]) moved_intervals(kind, level, z, runs, scratch, out);
    for (int32_t j = 0; j < (int32_t)1 << (level - 1); j++) {
      int32_t begin = sr__quant_edge(m, level, 2 * j);
      int32_t middle = sr__quant_edge(m, level, 2 * j + 1);
      int32_t end = sr__quant_edge(m, level, 2 * j + 2);
      merge_runs(runs + begin, middle - begin, runs + middle, end - middle, next + begin);
    }
    f32x8 *swap = runs;
    runs = next;
    next = swap;
  }
}

static void features(const sr__quant_shape *shape, sr__quant_scratch *scratch, float *out) {
  const f32x8 *x = (const void *)scratch->series;
  f32x8 *changed = (void *)scratch->changed, *to = (void *)out;
  intervals(&shape->kind[0], x, scratch, to);
  first_differences(x, shape->length, (void *)scratch->cut, changed);
  intervals(&shape->kind[1], changed, scratch, to);
  second_differences(x, shape->length, changed);
  intervals(&shape->kind[2], changed, scratch, to);
  magnitudes(shape->fourier, scratch, scratch->changed);
  intervals(&shape->kind[3], changed, scratch, to);
}

/* ---- bins ----------------------------------------------------------------------------------- */

static void sort(const float *from, int64_t count, float *spare, float *to) {
  sort_run((const void *)from, (int32_t)count, (void *)spare, (void *)to);
}

/* How many of 16 edges, which do not fall, lie below the value. */
SR__INLINE int32_t below_of_16(const float *edge, float value) {
#if defined(__AVX__)
  __m256 x = _mm256_set1_ps(value);
  int lower = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(edge), x, _CMP_LT_OQ));
  int upper = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(edge + 8), x, _CMP_LT_OQ));
  return __builtin_ctz(~(lower | upper << 8));
#elif defined(__SSE2__)
  __m128 x = _mm_set1_ps(value);
  int below = 0;
  for (int k = 0; k < 4; k++)
    below |= _mm_movemask_ps(_mm_cmplt_ps(_mm_loadu_ps(edge + 4 * k), x)) << (4 * k);
  return __builtin_ctz(~below);
#else
  int32_t below = 0;
  for (int k = 0; k < 16; k++) below += edge[k] < value;
  return below;
#endif
}

/* The last of each 16 edges says which 16 to look at. */
static void bins(const float *value, int64_t blocks, int64_t features, const float *edge,
                 const int32_t *place_of, int64_t places, uint8_t *coded) {
  for (int64_t f = 0; f < features; f++, edge += SR__QUANT_EDGES) {
    float last[16];
    uint8_t *to = coded + 8 * (int64_t)place_of[f];
    for (int k = 0; k < 16; k++) last[k] = edge[16 * k + 15];
    for (int64_t b = 0; b < blocks; b++) {
      const float *eight = value + 8 * (b * features + f);
      uint8_t bin[8];
      for (int j = 0; j < 8; j++) {
        int32_t before = 16 * below_of_16(last, eight[j]);
        bin[j] = (uint8_t)(before + below_of_16(edge + before, eight[j]));
      }
      memcpy(to + 8 * b * places, bin, sizeof bin);
    }
  }
}

/* ---- the search of a node ------------------------------------------------------------------- */

/* lower + (upper - lower) r / 2^16, rounded down, r random: even bytes by one set of lanes, odd
 * ones by the other. */
SR__INLINE u8x32 random_cuts(u8x32 lower, u8x32 upper, uint32_t key) {
  u16x16 range = (u16x16)(upper - lower);
  u16x16 even = word_multiply_high(range & 255, (u16x16)lane_random(key, 0));
  u16x16 odd = word_multiply_high(range >> 8, (u16x16)lane_random(key, 8));
  return lower + (u8x32)(even | odd << 8);
}

/* Rows at or below the cut of each of the 32 features, class after class; and the sum of k log k
 * over classes and sides minus that of the sides: minus the entropy that is left. */
SR__INLINE void score_cuts(const sr__quant_search *node, const u8x32 *bin, u8x32 cut, i32x8 left[4],
                           i32x8 score[4]) {
  int32_t at = 0;
  for (int k = 0; k < 4; k++) left[k] = score[k] = (i32x8){0};
  for (int32_t c = 0; c < node->present; c++) {
    int32_t of_class = node->end[c] - at;
    i32x8 below[4] = {{0}, {0}, {0}, {0}};
    while (at < node->end[c]) {
      int32_t end = node->end[c] - at > 255 ? at + 255 : node->end[c];
      u8x32 few = {0}; /* bytes hold up to 255 */
      for (; at < end; at++) few -= byte_at_most(bin[node->row[at]], cut);
      bytes_add_to(below, few);
    }
    for (int k = 0; k < 4; k++) {
      left[k] += below[k];
      if (of_class > 1)
        score[k] += lane_look_up(node->entropy, below[k]) +
                    lane_look_up(node->entropy, of_class - below[k]);
    }
  }
  for (int k = 0; k < 4; k++)
    score[k] -=
        lane_look_up(node->entropy, left[k]) + lane_look_up(node->entropy, node->count - left[k]);
}

/* Looks at the features of one tile; true where both sides of a cut are pure, which nothing beats.
 */
SR__INLINE bool search_tile(const sr__quant_search *node, int32_t tile, uint32_t key, int32_t *best,
                            sr__quant_cut *cut) {
  const u8x32 *bin = (const u8x32 *)(const void *)(node->bin + tile * node->rows * SR__QUANT_TILE);
  u8x32 lower = bin[node->row[0]], upper = lower;
  for (int32_t i = 1; i < node->count; i++) {
    u8x32 here = bin[node->row[i]];
    lower = byte_min(lower, here);
    upper = byte_max(upper, here);
  }
  u8x32 cuts = random_cuts(lower, upper, key);
  i32x8 left[4], score[4], better = {0}, floor = (i32x8){0} + *best;
  score_cuts(node, bin, cuts, left, score);
  for (int k = 0; k < 4; k++) {
    i32x8 splits = lane_above((i32x8){0} + node->count, left[k]); /* else all bins are equal */
    score[k] = (splits & score[k]) | (~splits & INT32_MIN);
    better |= lane_above(score[k], floor);
  }
  if (!lane_any(better)) return false;
  for (int32_t j = 0; j < SR__QUANT_TILE; j++) {
    if (score[j / 8][j % 8] <= *best) continue;
    *best = score[j / 8][j % 8];
    *cut = (sr__quant_cut){tile * SR__QUANT_TILE + j, cuts[j]};
  }
  return *best == 0;
}

static sr__quant_cut search(sr__quant_search *node) {
  sr__quant_cut cut = {-1, 0};
  int32_t best = INT32_MIN;
  for (int32_t v = 0; v < node->tiles && (v < node->wanted || cut.place < 0); v++) {
    int32_t drawn = v + (int32_t)sr__quant_draw_below(&node->draw, (uint32_t)(node->tiles - v));
    int32_t tile = node->order[drawn];
    node->order[drawn] = node->order[v];
    node->order[v] = tile;
    if (search_tile(node, tile, (uint32_t)sr__quant_draw_bits(&node->draw), &best, &cut)) break;
  }
  return cut;
}

const sr__quant_kernel SR__KERNEL(sr__quant_kernel) = {fourier, features, sort, bins, search};
