/* One matrix product for all layers. Tiles of 6 rows x 16 columns stay in twelve vectors; B is read
 * from panels of 16 columns (the last one 8 or 16 wide), A where it lies, through two strides. */
#include "nn/product_kernel.h"

#include "nn/lanes.h"

enum { TILE_ROWS = 6, TILE_COLUMNS = 16, INNER_BLOCK = 256 };

/* What one call of `strip` works on: all rows of C, one panel of B, one block of inner. */
typedef struct strip_job {
  int64_t rows, inner;
  const float *a;
  int64_t a_row, a_inner;
  const float *panel; /* inner x (8 or 16) */
  float *c;
  int64_t c_row, columns; /* columns of C in this panel: at most 8 or 16 */
  bool add;
  const float *bias; /* as wide as the panel, or NULL */
} strip_job;

/* C's rows [0, rows) of one tile. `rows` and `vectors` are constants where this is inlined, and one
 * of the strides of A is 1. */
SR__INLINE void tile(const int rows, const int vectors, const strip_job *job, const float *a,
                     const int64_t a_row, const int64_t a_inner, float *c) {
  sr__wide sum[TILE_ROWS][2];
  const float *panel = job->panel;
#pragma GCC unroll 6
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++)
      sum[i][v] = job->bias ? sr__load(job->bias + SR__WIDE * v) : sr__all(0);
#pragma GCC unroll 2
  for (int64_t k = job->inner; k > 0; k--) {
    sr__wide b[2];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) b[v] = sr__load(panel + SR__WIDE * v);
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
      sr__wide x = sr__all(a[i * a_row]);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) sum[i][v] = sr__fused(x, b[v], sum[i][v]);
    }
    a += a_inner;
    panel += SR__WIDE * vectors;
  }
  /* Row after row, because rows of C may overlap. */
#pragma GCC unroll 6
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      float *to = c + i * job->c_row + SR__WIDE * v;
      int64_t left = job->columns - SR__WIDE * v;
      if (left >= SR__WIDE)
        sr__store(to, job->add ? sum[i][v] + sr__load(to) : sum[i][v]);
      else if (left > 0)
        sr__store_some(to, job->add ? sum[i][v] + sr__load_some(to, left) : sum[i][v], left);
    }
}

SR__INLINE void strip(const int vectors, const strip_job *job, const int64_t a_row,
                      const int64_t a_inner) {
  const float *a = job->a;
  float *c = job->c;
  int64_t left = job->rows;
  for (; left >= TILE_ROWS; left -= TILE_ROWS) {
    tile(TILE_ROWS, vectors, job, a, a_row, a_inner, c);
    a += TILE_ROWS * a_row;
    c += TILE_ROWS * job->c_row;
  }
  switch (left) {
    case 5:
      tile(5, vectors, job, a, a_row, a_inner, c);
      break;
    case 4:
      tile(4, vectors, job, a, a_row, a_inner, c);
      break;
    case 3:
      tile(3, vectors, job, a, a_row, a_inner, c);
      break;
    case 2:
      tile(2, vectors, job, a, a_row, a_inner, c);
      break;
    case 1:
      tile(1, vectors, job, a, a_row, a_inner, c);
      break;
    default:
      break;
  }
}

/* One copy of the code per width of the panel and per stride of A that is 1. */
static void strip_wide_rows(const strip_job *job) { strip(2, job, job->a_row, 1); }
static void strip_wide_columns(const strip_job *job) { strip(2, job, 1, job->a_inner); }
static void strip_narrow_rows(const strip_job *job) { strip(1, job, job->a_row, 1); }
static void strip_narrow_columns(const strip_job *job) { strip(1, job, 1, job->a_inner); }

static int64_t panel_width(int64_t columns_left) {
  return columns_left > SR__WIDE ? TILE_COLUMNS : SR__WIDE;
}

/* Copies `inner` rows of B into a panel, zeros behind its columns, and adds up the columns. */
static void copy_panel(int64_t inner, int64_t columns, const float *b, int64_t b_row,
                       float *restrict panel, float *column_sums) {
  for (int64_t j = 0; j < panel_width(columns); j += SR__WIDE) {
    const int64_t width = panel_width(columns), left = columns - j;
    sr__wide sum = sr__all(0);
    for (int64_t k = 0; k < inner; k++) {
      const float *from = b + k * b_row + j;
      sr__wide row = left >= SR__WIDE ? sr__load(from)
                     : left > 0       ? sr__load_some(from, left)
                                      : sr__all(0);
      sr__store(panel + k * width + j, row);
      sum += row;
    }
    if (!column_sums) continue;
    if (left >= SR__WIDE)
      sr__store(column_sums + j, sr__load(column_sums + j) + sum);
    else if (left > 0)
      sr__store_some(column_sums + j, sr__load_some(column_sums + j, left) + sum, left);
  }
}

static void product(const sr__product *p) {
  float copied[INNER_BLOCK * TILE_COLUMNS] __attribute__((aligned(64)));
  float bias[TILE_COLUMNS];
  for (int64_t k = 0; k == 0 || k < p->inner; k += INNER_BLOCK) {
    const int64_t inner = p->inner - k < INNER_BLOCK ? p->inner - k : INNER_BLOCK;
    for (int64_t j = 0; j < p->columns; j += TILE_COLUMNS) {
      const int64_t left = p->columns - j, columns = left < TILE_COLUMNS ? left : TILE_COLUMNS;
      const int64_t width = panel_width(left);
      strip_job job = {.rows = p->rows,
                       .inner = inner,
                       .a = p->a + k * p->a_inner,
                       .a_row = p->a_row,
                       .a_inner = p->a_inner,
                       .c = p->c + j,
                       .c_row = p->c_row,
                       .columns = columns,
                       .add = p->add || k > 0};
      if (p->b_row) {
        copy_panel(inner, columns, p->b + k * p->b_row + j, p->b_row, copied,
                   p->column_sums ? p->column_sums + j : NULL);
        job.panel = copied;
      } else {
        job.panel = p->b + j * p->inner + k * width;
      }
      if (p->bias && k == 0) {
        memset(bias, 0, sizeof bias);
        memcpy(bias, p->bias + j, (size_t)columns * sizeof *bias);
        job.bias = bias;
      }
      if (p->a_inner == 1)
        (width == TILE_COLUMNS ? strip_wide_rows : strip_narrow_rows)(&job);
      else
        (width == TILE_COLUMNS ? strip_wide_columns : strip_narrow_columns)(&job);
    }
  }
}

static void pack(int64_t inner, int64_t columns, const float *b, int64_t b_row, float *packed) {
  for (int64_t j = 0; j < columns; j += TILE_COLUMNS) {
    int64_t left = columns - j;
    copy_panel(inner, left < TILE_COLUMNS ? left : TILE_COLUMNS, b + j, b_row, packed + j * inner,
               NULL);
  }
}

/* `to` is inner x width; column n is row n of b. */
static void transpose_panel(int64_t inner, int64_t columns, int64_t width, const float *b,
                            int64_t b_row, float *restrict to) {
  for (int64_t k = 0; k < inner; k += SR__WIDE) {
    const int64_t deep = inner - k < SR__WIDE ? inner - k : SR__WIDE;
    for (int64_t n = 0; n < width; n += SR__WIDE) {
      sr__wide row[SR__WIDE];
      for (int64_t i = 0; i < SR__WIDE; i++) {
        const float *from = b + (n + i) * b_row + k;
        row[i] = n + i >= columns   ? sr__all(0)
                 : deep == SR__WIDE ? sr__load(from)
                                    : sr__load_some(from, deep);
      }
      sr__transpose_square(row);
      for (int64_t l = 0; l < deep; l++) sr__store(to + (k + l) * width + n, row[l]);
    }
  }
}

static void pack_transposed(int64_t inner, int64_t columns, const float *b, int64_t b_row,
                            float *packed) {
  for (int64_t j = 0; j < columns; j += TILE_COLUMNS) {
    int64_t left = columns - j;
    transpose_panel(inner, left < TILE_COLUMNS ? left : TILE_COLUMNS, panel_width(left),
                    b + j * b_row, b_row, packed + j * inner);
  }
}

const sr__product_kernel SR__KERNEL(sr__product_kernel) = {product, pack, pack_transposed};
