/* Blocks of B lie in the nearest cache; a stretch of a row of C stays in vectors while the elements
 * of A's row that are not 0 are found by the bits of a mask. */
#include "nn/sparse_kernel.h"

#include "nn/adam_lanes.h"

/* Vectors of a stretch, as many as there are registers for, and rows of a block of B: 16 KB. */
#if defined(__AVX512F__)
enum { MOST_VECTORS = 16 };
#else
enum { MOST_VECTORS = 8 };
#endif
enum { LEAST_VECTORS = 8, BLOCK = 512 / MOST_VECTORS, GROUP = SR__WIDE };

/* Bit k: element k of `count` is not 0. */
SR__INLINE uint64_t mask_along(const float *a, int64_t count) {
  uint64_t mask = 0;
  int64_t k = 0;
#if defined(__AVX512F__)
  for (; k + 16 <= count; k += 16)
    mask |= (uint64_t)_mm512_cmp_ps_mask(_mm512_loadu_ps(a + k), _mm512_setzero_ps(), _CMP_NEQ_UQ)
            << k;
#elif defined(__AVX2__)
  for (; k + 8 <= count; k += 8)
    mask |= (uint64_t)(uint32_t)_mm256_movemask_ps(
                _mm256_cmp_ps(_mm256_loadu_ps(a + k), _mm256_setzero_ps(), _CMP_NEQ_UQ))
            << k;
#endif
  for (; k < count; k++) mask |= (uint64_t)(a[k] != 0) << k;
  return mask;
}

/* Bits `first` to `end` of eight neighbors whose elements lie a_inner apart; the elements are kept
 * side by side, since such steps often fall on one another in the cache. */
SR__INLINE sr__wide_bits masks_across(const float *a, int64_t a_inner, int64_t first, int64_t end,
                                      float *tile) {
  sr__wide_bits mask = {0}, bit = mask + 1;
  for (int64_t k = first; k < end; k++, bit += bit) {
    const sr__wide x = sr__load(a + k * a_inner);
    sr__store(tile + k * GROUP, x);
    mask |= (sr__wide_bits)(x != sr__all(0)) & bit;
  }
  return mask;
}

/* Rows of A: element k of row i is a[i * row + k * inner]. */
typedef struct group {
  const float *a;
  int64_t row, inner;
  uint64_t mask[GROUP];
  float tile[BLOCK * GROUP] __attribute__((aligned(64)));
} group;

static void open_group(const sr__sparse_product *p, const float *a, int64_t rows, int64_t count,
                       group *g) {
  g->a = a;
  g->row = p->a_row;
  g->inner = p->a_inner;
  if (p->a_inner == 1) {
    for (int64_t i = 0; i < rows; i++) g->mask[i] = mask_along(a + i * p->a_row, count);
  } else if (rows == GROUP) {
    const int64_t half = count < 32 ? count : 32;
    sr__wide_bits low = masks_across(a, p->a_inner, 0, half, g->tile);
    sr__wide_bits high = masks_across(a, p->a_inner, half, count, g->tile);
    for (int i = 0; i < GROUP; i++) g->mask[i] = low[i] | (uint64_t)high[i] << 32;
    g->a = g->tile;
    g->inner = GROUP;
  } else {
    for (int64_t i = 0; i < rows; i++) {
      g->mask[i] = 0;
      for (int64_t k = 0; k < count; k++) g->mask[i] |= (uint64_t)(a[i + k * p->a_inner] != 0) << k;
    }
  }
}

SR__INLINE void add_terms(const int vectors, uint64_t mask, const float *a, int64_t a_inner,
                          const float *block, sr__wide *sum) {
  for (; mask; mask &= mask - 1) {
    const int64_t k = __builtin_ctzll(mask);
    const sr__wide x = sr__all(a[k * a_inner]);
    const float *b = block + k * SR__WIDE * vectors;
#pragma GCC unroll 16
    for (int v = 0; v < vectors; v++) sum[v] = sr__fused(x, sr__load(b + SR__WIDE * v), sum[v]);
  }
}

/* A step of what has `sum` for its gradient, from element `at` on. */
SR__INLINE void step_row(const int vectors, const sr__adam_tensor *tensor, int64_t at,
                         const sr__wide *sum) {
  const sr__adam_update how = tensor->how;
  float *first = tensor->first + at, *second = tensor->second + at, *value = tensor->value + at;
#pragma GCC unroll 16
  for (int v = 0; v < vectors; v++) {
    const int64_t i = SR__WIDE * v;
    sr__adam_lanes here = {sr__load(first + i), sr__load(second + i), sr__load(value + i)};
    sr__adam_lanes_step(&how, sum[v], &here);
    sr__store(first + i, here.first), sr__store(second + i, here.second);
    sr__store(value + i, here.value);
  }
}

/* A stretch of all rows of C from `column` on, `count` elements of inner: the first of them begin
 * with the bias, later ones go on from C. */
SR__INLINE void add_block(const int vectors, const sr__sparse_product *p, int64_t column,
                          int64_t inner, int64_t count, const float *block) {
  const float *start = p->bias ? p->bias + column : NULL;
  group g;
  for (int64_t first = 0; first < p->rows; first += GROUP) {
    const int64_t rows = p->rows - first < GROUP ? p->rows - first : GROUP;
    open_group(p, p->a + first * p->a_row + inner * p->a_inner, rows, count, &g);
    for (int64_t i = 0; i < rows; i++) {
      const int64_t row = (first + i) * p->c_row + column;
      const float *from = inner > 0 ? p->c + row : start;
      sr__wide sum[MOST_VECTORS];
#pragma GCC unroll 16
      for (int v = 0; v < vectors; v++) sum[v] = from ? sr__load(from + SR__WIDE * v) : sr__all(0);
      add_terms(vectors, g.mask[i], g.a + i * g.row, g.inner, block, sum);
      if (p->update) {
        step_row(vectors, p->update, row, sum);
        continue;
      }
#pragma GCC unroll 16
      for (int v = 0; v < vectors; v++) sr__store(p->c + row + SR__WIDE * v, sum[v]);
    }
  }
}

/* Each gives back a block of `count` rows and `columns` columns of B. The one that comes next is
 * asked for meanwhile: weights of a large layer come from afar. */
static void copy_block(int64_t count, int64_t columns, const float *b, int64_t b_row,
                       float *restrict block) {
  for (int64_t k = 0; k < count; k++, b += b_row)
    for (int64_t j = 0; j < columns; j += 2 * SR__WIDE, block += 2 * SR__WIDE) {
      const sr__wide first = sr__load(b + j), second = sr__load(b + j + SR__WIDE);
      __builtin_prefetch(b + BLOCK * b_row + j, 0, 2);
      sr__store(block, first);
      sr__store(block + SR__WIDE, second);
    }
}

/* Columns lie b_column apart. */
static void turn_block(int64_t count, int64_t columns, const float *b, int64_t b_column,
                       float *restrict block) {
  for (int64_t k = 0; k < count; k += SR__WIDE) {
    const int64_t deep = count - k < SR__WIDE ? count - k : SR__WIDE;
    for (int64_t n = 0; n < columns; n += SR__WIDE) {
      sr__wide row[SR__WIDE];
      for (int64_t i = 0; i < SR__WIDE; i++) {
        const float *from = b + (n + i) * b_column + k;
        row[i] = deep == SR__WIDE ? sr__load(from) : sr__load_some(from, deep);
      }
      sr__transpose_square(row);
      for (int64_t l = 0; l < deep; l++) sr__store(block + (k + l) * columns + n, row[l]);
    }
  }
}

static void add_sums(int64_t count, int64_t columns, const float *block, float *column_sums) {
  for (int64_t j = 0; j < columns; j += SR__WIDE) {
    sr__wide sum = sr__load(column_sums + j);
    for (int64_t k = 0; k < count; k++) sum += sr__load(block + k * columns + j);
    sr__store(column_sums + j, sum);
  }
}

static void product(const sr__sparse_product *p) {
  float block[BLOCK * MOST_VECTORS * SR__WIDE] __attribute__((aligned(64)));
  int64_t columns;
  for (int64_t j = 0; j < p->columns; j += columns) {
    columns = SR__WIDE * (p->columns - j < MOST_VECTORS * SR__WIDE ? LEAST_VECTORS : MOST_VECTORS);
    for (int64_t k = 0; k == 0 || k < p->inner; k += BLOCK) {
      const int64_t count = p->inner - k < BLOCK ? p->inner - k : BLOCK;
      const float *b = p->b + k * p->b_row + j * p->b_column;
      if (p->b_column == 1)
        copy_block(count, columns, b, p->b_row, block);
      else
        turn_block(count, columns, b, p->b_column, block);
      if (p->column_sums) add_sums(count, columns, block, p->column_sums + j);
      if (columns == MOST_VECTORS * SR__WIDE)
        add_block(MOST_VECTORS, p, j, k, count, block);
      else
        add_block(LEAST_VECTORS, p, j, k, count, block);
    }
  }
}

/* ---- convolution --------------------------------------------------------------------------- */

enum {
  CHANNELS = SR__SPARSE_COLUMNS,
  DEEP = 64
}; /* elements of a window taken together: 16 KB of weights */

/* Elements of all windows that are taken together: `count` from `offset` on. */
typedef struct piece {
  int64_t offset, count;
  const float *weight; /* count x 64 */
  const float *start;  /* bias; NULL: go on from what is there */
  bool last;           /* the ReLU follows */
} piece;

SR__INLINE void add_windows(const sr__windows *w, const piece *p, float *out) {
  for (int32_t row = 0; row < w->rows; row++)
    for (int32_t column = 0; column < w->columns; column++, out += CHANNELS) {
      const float *a = w->in + row * w->in_row + column * w->in_column + p->offset;
      const float *from = p->start ? p->start : out;
      sr__wide sum[LEAST_VECTORS];
#pragma GCC unroll 8
      for (int v = 0; v < LEAST_VECTORS; v++) sum[v] = sr__load(from + SR__WIDE * v);
      add_terms(LEAST_VECTORS, mask_along(a, p->count), a, 1, p->weight, sum);
#pragma GCC unroll 8
      for (int v = 0; v < LEAST_VECTORS; v++)
        sr__store(out + SR__WIDE * v, p->last ? sr__larger(sum[v], sr__all(0)) : sum[v]);
    }
}

static void apply(const sr__windows *w, const float *weight, const float *bias, float *out) {
  for (int32_t r = 0; r < w->runs; r++)
    for (int32_t k = 0; k < w->run; k += DEEP) {
      const piece p = {.offset = r * w->run_step + k,
                       .count = w->run - k < DEEP ? w->run - k : DEEP,
                       .weight = weight,
                       .start = r == 0 && k == 0 ? bias : NULL,
                       .last = r + 1 == w->runs && k + DEEP >= w->run};
      add_windows(w, &p, out);
      weight += p.count * CHANNELS;
    }
}

/* Windows [begin, end) into the gradient of eight places of the window, the first at `offset`. */
SR__INLINE void add_places(const sr__windows *w, int32_t begin, int32_t end, int64_t offset,
                           const float *dy, float *gradient) {
  float tile[DEEP * GROUP] __attribute__((aligned(64)));
  uint64_t mask[GROUP];
  sr__wide_bits half[2] = {{0}, {0}};
  int32_t row = begin / w->columns, column = begin % w->columns, at = begin;
#pragma GCC unroll 2
  for (int h = 0; h < 2; h++) {
    sr__wide_bits found = {0}, bit = found + 1;
    for (; at < end && at - begin < 32 * (h + 1); at++, bit += bit) {
      const sr__wide x = sr__load(w->in + row * w->in_row + column * w->in_column + offset);
      sr__store(tile + (at - begin) * GROUP, x);
      found |= (sr__wide_bits)(x != sr__all(0)) & bit;
      if (++column == w->columns) column = 0, row++;
    }
    half[h] = found;
  }
  for (int i = 0; i < GROUP; i++) mask[i] = half[0][i] | (uint64_t)half[1][i] << 32;
  for (int i = 0; i < GROUP; i++, gradient += CHANNELS) {
    sr__wide sum[LEAST_VECTORS];
#pragma GCC unroll 8
    for (int v = 0; v < LEAST_VECTORS; v++) sum[v] = sr__load(gradient + SR__WIDE * v);
    add_terms(LEAST_VECTORS, mask[i], tile + i, GROUP, dy + (int64_t)begin * CHANNELS, sum);
#pragma GCC unroll 8
    for (int v = 0; v < LEAST_VECTORS; v++) sr__store(gradient + SR__WIDE * v, sum[v]);
  }
}

static void weight_gradient(const sr__windows *w, const float *dy, float *gradient) {
  const int32_t windows = w->rows * w->columns, pieces = (windows + DEEP - 1) / DEEP;
  for (int32_t p = 0; p < pieces; p++) {
    const int32_t begin = p * windows / pieces, end = (p + 1) * windows / pieces;
    for (int32_t r = 0; r < w->runs; r++)
      for (int32_t k = 0; k < w->run; k += GROUP)
        add_places(w, begin, end, r * w->run_step + k, dy,
                   gradient + ((int64_t)r * w->run + k) * CHANNELS);
  }
}

const sr__sparse_kernel SR__KERNEL(sr__sparse_kernel) = {product, apply, weight_gradient};
