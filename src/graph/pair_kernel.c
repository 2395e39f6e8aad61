/* Products of a few queries with blocks of points. With p = a.b in floats,
 * (|a|^2 + |b|^2) / 2 - p <= worst / 2 can hold only where p - low_b >= low_a - worst_a / 2, `low`
 * being half the squared length less its share of what rounding may do. So one product is tested
 * against the bars of both sides. What passes is measured in double, so the lists are the same
 * whatever the order and the rounding of the products. */
#include "pair_kernel.h"

#include "lanes.h"

#if defined(__AVX512F__)
enum { TILE = 12 };
#else
enum { TILE = 6 };
#endif
enum {
  BLOCK = SR__PAIR_BLOCK,
  CLUMP = SR__PAIR_CLUMP,
  SPAN = SR__PAIR_SPAN,
  CENTERS = SR__PAIR_CENTERS,
  TILES = SPAN / TILE /* of a span */
};
/* ---- the sieve ------------------------------------------------------------------------------ */

static void set_reach(const sr__pair_points *points, int64_t span) {
  for (int64_t p = span * SPAN; p < (span + 1) * SPAN; p++)
    points->reach[p] = points->worst[p] < 0 ? -1.0f : sqrtf(points->worst[p]) * (1 + 2e-7f);
  for (int64_t c = span * CENTERS; c < (span + 1) * CENTERS; c++) {
    float widest = -1;
    for (int64_t p = c * CLUMP; p < (c + 1) * CLUMP; p++)
      widest = points->reach[p] > widest ? points->reach[p] : widest;
    points->wide[c] = widest;
  }
}

/* Half the square of radius and reach, negated: what a product with a center must exceed. */
static void set_center_bars(const sr__pair_points *points, int64_t tile, const float *radius,
                            const float *wide, float *bar) {
  float mine = -1;
  for (int64_t q = tile * TILE; q < (tile + 1) * TILE; q++)
    mine = points->reach[q] > mine ? points->reach[q] : mine;
  for (int c = 0; c < CENTERS; c++) {
    float reach = wide[c] > mine ? wide[c] : mine, sum = reach + radius[c];
    bar[c] = reach < 0 ? INFINITY : -(sum * sum * (0.5f + 1e-6f));
  }
}

/* Bit c: clump c of span t may hold a neighbor of a query of the tile, or the other way round:
 * |query - center| <= radius + the larger reach. */
static uint64_t near_clumps(const sr__pair_points *points, int64_t tile, int64_t t) {
  int32_t d = points->dimension;
  const float *net = points->net + t * CENTERS * (d + 2);
  const float *query = points->panel + tile * TILE * d, *low = points->low + tile * TILE;
  float bar[CENTERS];
  uint64_t near = 0;
  set_center_bars(points, tile, net + (d + 1) * CENTERS, points->wide + t * CENTERS, bar);
  for (int part = 0; part < CENTERS; part += LANES) {
    floats sum[TILE], low_center = load(net + d * CENTERS + part);
    for (int q = 0; q < TILE; q++) sum[q] = -low_center - low[q];
    for (int32_t j = 0; j < d; j++) {
      floats x = load(net + j * CENTERS + part);
#pragma GCC unroll 12
      for (int q = 0; q < TILE; q++) sum[q] = add_product(x, spread(query[j * TILE + q]), sum[q]);
    }
    for (int q = 1; q < TILE; q++) {
      ints larger = sum[q] > sum[0];
      sum[0] = (floats)((larger & (ints)sum[q]) | (~larger & (ints)sum[0]));
    }
    near |= (uint64_t)at_most(load(bar + part), sum[0]) << part;
  }
  return near;
}

/* ---- products ------------------------------------------------------------------------------- */

static void meet(const sr__pair_points *points, int64_t a, int64_t b, bool both) {
  if (a >= points->count || b >= points->count || a == b) return;
  int32_t d = points->dimension;
  double distance = sr__pair_distance(points->x + (int64_t)points->example[a] * d,
                                      points->x + (int64_t)points->example[b] * d, d);
  if (distance <= points->worst[a]) {
    sr__near_offer(&points->lists, a, distance, points->kind[b]);
    sr__pair_set_bar(points, a);
  }
  if (both && distance <= points->worst[b]) {
    sr__near_offer(&points->lists, b, distance, points->kind[a]);
    sr__pair_set_bar(points, b);
  }
}

/* A tile against `parts` vectors of points from place p on, all of one block. */
SR__INLINE void scan_part(const sr__pair_points *points, int64_t tile, int64_t p, int parts,
                          bool both) {
  int32_t d = points->dimension;
  const float *line = points->line + p / BLOCK * BLOCK * d + p % BLOCK;
  const float *query = points->panel + tile * TILE * d;
  int64_t a = tile * TILE;
  floats low[2], lift[2], x[2], sum[TILE][2];
  uint32_t near[TILE], any = 0;
  for (int h = 0; h < parts; h++) low[h] = load(points->low + p + h * LANES);
#pragma GCC unroll 12
  for (int q = 0; q < TILE; q++)
    for (int h = 0; h < parts; h++) sum[q][h] = -low[h];
  for (int32_t j = 0; j < d; j++) {
    for (int h = 0; h < parts; h++) x[h] = load(line + j * BLOCK + h * LANES);
#pragma GCC unroll 12
    for (int q = 0; q < TILE; q++) {
      floats value = spread(query[j * TILE + q]);
      for (int h = 0; h < parts; h++) sum[q][h] = add_product(x[h], value, sum[q][h]);
    }
  }
  for (int h = 0; h < parts; h++) lift[h] = load(points->bar + p + h * LANES) - low[h];
#pragma GCC unroll 12
  for (int q = 0; q < TILE; q++) {
    near[q] = 0;
    for (int h = 0; h < parts; h++) {
      near[q] |= at_most(spread(points->bar[a + q]), sum[q][h]) << (h * LANES);
      if (both) near[q] |= at_most(lift[h] + points->low[a + q], sum[q][h]) << (h * LANES);
    }
    any |= near[q];
  }
  if (!any) return;
  for (int q = 0; q < TILE; q++)
    for (uint32_t m = near[q]; m; m &= m - 1) meet(points, a + q, p + __builtin_ctz(m), both);
}

/* The two clumps of a block of which `near` has the bit. */
SR__INLINE void scan_block(const sr__pair_points *points, int64_t tile, int64_t block,
                           uint32_t near, bool both) {
  int64_t p = block * BLOCK;
  if ((int)LANES == (int)CLUMP && near == 3) {
    scan_part(points, tile, p, 2, both);
    return;
  }
  for (int clump = 0; clump < 2; clump++, p += CLUMP) {
    if (!(near >> clump & 1)) continue;
    if ((int)LANES == (int)CLUMP)
      scan_part(points, tile, p, 1, both);
    else
      for (int part = 0; part < CLUMP; part += 2 * LANES)
        scan_part(points, tile, p + part, 2, both);
  }
}

static int64_t scan(const sr__pair_points *points, int64_t s, int64_t t, bool sieve) {
  uint64_t near[TILES], all = (UINT64_C(1) << CENTERS) - 1;
  int64_t kept = 0;
  if (sieve) {
    set_reach(points, s);
    set_reach(points, t);
  }
  for (int i = 0; i < TILES; i++) {
    near[i] = sieve ? near_clumps(points, s * TILES + i, t) : all;
    kept += __builtin_popcountll(near[i]);
  }
  for (int c = 0; kept && c < SPAN / BLOCK; c++) {
    int64_t block = t * (SPAN / BLOCK) + c;
    if (block * BLOCK >= points->count) break;
    for (int i = 0; i < TILES; i++) {
      uint32_t clumps = (uint32_t)(near[i] >> (2 * c)) & 3;
      if (clumps == 0) continue;
      if (s != t)
        scan_block(points, s * TILES + i, block, clumps, true);
      else
        scan_block(points, s * TILES + i, block, clumps, false);
    }
  }
  return (int64_t)TILES * CENTERS - kept;
}

const sr__pair_kernel SR__KERNEL(sr__pair_kernel) = {TILE, scan};
