/* Sixteen blocks of sixteen edges: the last edges of the blocks tell the block, its own edges the
 * rest. The edges below a value stand in front, so the lowest bit that is not set counts them. */
#include "bins_kernel.h"

#include <math.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { BLOCK = 16, MISSING = 255 };

/* Bit k: edge[k] is below the value, of BLOCK edges. */
#if defined(__AVX512F__)
typedef __m512 value_lanes;
static inline value_lanes spread(float x) { return _mm512_set1_ps(x); }
static inline uint32_t edges_below(const float *edge, value_lanes x) {
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(edge), x, _CMP_LT_OQ);
}
#elif defined(__AVX2__)
typedef __m256 value_lanes;
static inline value_lanes spread(float x) { return _mm256_set1_ps(x); }
static inline uint32_t edges_below(const float *edge, value_lanes x) {
  __m256 low = _mm256_cmp_ps(_mm256_loadu_ps(edge), x, _CMP_LT_OQ);
  __m256 high = _mm256_cmp_ps(_mm256_loadu_ps(edge + 8), x, _CMP_LT_OQ);
  return (uint32_t)_mm256_movemask_ps(low) | (uint32_t)_mm256_movemask_ps(high) << 8;
}
#elif defined(__SSE2__)
typedef __m128 value_lanes;
static inline value_lanes spread(float x) { return _mm_set1_ps(x); }
static inline __m128i four_below(const float *edge, value_lanes x) {
  return _mm_castps_si128(_mm_cmplt_ps(_mm_loadu_ps(edge), x));
}
static inline uint32_t edges_below(const float *edge, value_lanes x) {
  __m128i low = _mm_packs_epi32(four_below(edge, x), four_below(edge + 4, x));
  __m128i high = _mm_packs_epi32(four_below(edge + 8, x), four_below(edge + 12, x));
  return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}
#else
typedef float value_lanes;
static inline value_lanes spread(float x) { return x; }
static inline uint32_t edges_below(const float *edge, value_lanes x) {
  uint32_t mask = 0;
  for (int k = 0; k < BLOCK; k++) mask |= (uint32_t)(edge[k] < x) << k;
  return mask;
}
#endif

static void search(const float *edge, const float *x, int64_t count, int64_t stride, uint8_t *out) {
  _Alignas(64) float last[BLOCK];
  for (int b = 0; b < BLOCK; b++) last[b] = edge[BLOCK * b + BLOCK - 1];
  for (int64_t i = 0; i < count; i++) {
    value_lanes value = spread(x[i]);
    int block = __builtin_ctz(~edges_below(last, value));
    int inside = __builtin_ctz(~edges_below(edge + BLOCK * block, value));
    out[i * stride] = (uint8_t)(isnan(x[i]) ? MISSING : BLOCK * block + inside);
  }
}

/* ---- by a grid ----------------------------------------------------------------------------- */

enum { TILE = 256, MOST = 3 /* edges that are tried one after the other */ };

/* Never falls as x rises, whatever is rounded, so that an edge in another cell is on the side that
 * its cell is on. Missing values have a cell of their own, behind all. */
static inline int32_t cell_of(const sr__bin_grid *grid, float x) {
  float at = (x - grid->low) * grid->scale;
  at = at > 0.0f ? at : 0.0f;
  at = at < (float)(SR__GRID_CELLS - 1) ? at : (float)(SR__GRID_CELLS - 1);
  return x == x ? (int32_t)at : SR__GRID_CELLS;
}

static void make_grid(sr__bin_grid *grid, int32_t edges) {
  int32_t e = 0;
  grid->low = edges > 0 ? grid->edge[0] : 0.0f;
  grid->scale = edges > 1 ? (float)SR__GRID_CELLS / (grid->edge[edges - 1] - grid->low) : 0.0f;
  grid->most = 0;
  for (int32_t cell = 0; cell < SR__GRID_CELLS; cell++) {
    int32_t before = e;
    grid->first[cell] = (uint8_t)e;
    while (e < edges && cell_of(grid, grid->edge[e]) <= cell) e++;
    if (e - before > grid->most) grid->most = e - before;
  }
  grid->first[SR__GRID_CELLS] = MISSING;
}

static inline void search_tile(const sr__bin_grid *grid, const float *x, int count, int64_t stride,
                               int most, uint8_t *out) {
  int32_t cell[TILE];
  for (int i = 0; i < count; i++) cell[i] = cell_of(grid, x[i]);
  for (int i = 0; i < count; i++) {
    uint32_t bin = grid->first[cell[i]];
    for (int k = 0; k < most; k++) bin += grid->edge[bin] < x[i];
    out[i * stride] = (uint8_t)bin;
  }
}

static void search_grid(const sr__bin_grid *grid, const float *x, int64_t count, int64_t stride,
                        uint8_t *out) {
  if (grid->most > MOST) {
    search(grid->edge, x, count, stride, out);
    return;
  }
  for (int64_t first = 0; first < count; first += TILE) {
    int here = (int)(count - first < TILE ? count - first : TILE);
    if (grid->most <= 1)
      search_tile(grid, x + first, here, stride, 1, out + first * stride);
    else
      search_tile(grid, x + first, here, stride, MOST, out + first * stride);
  }
}

const sr__bins_kernel SR__KERNEL(sr__bins_kernel) = {search, make_grid, search_grid};
