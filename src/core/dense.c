#include "core/dense.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>

#include "core/dense_kernel.h"

/* ---- calls of BLAS at the same time --------------------------------------------------------- */

/* OpenBLAS needs one buffer for each call that runs at the same time. It maps a buffer when it is
 * first needed, asks again for ever where memory is refused, and never gives one back. So only as
 * many calls run at once as buffers are known to be mapped. Another buffer is mapped while no call
 * runs, after its size was tried; where that fails, calls wait until others have returned. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void *blas_memory_alloc(int place) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

/* Of the largest builds of OpenBLAS, with a little for what other threads take meanwhile. */
static const size_t BUFFER_BYTES = ((size_t)128 << 20) + ((size_t)8 << 20);
enum { BUFFERS_MOST = 64 };

/* OpenBLAS's buffers and threads belong to the process, and so does this. */
static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed; /* a call returned or a buffer was added */
  int buffers, running;   /* known to be mapped; calls that run now */
  bool adding;            /* no call begins until a buffer was tried */
  bool refused;           /* no memory for a further buffer */
  int threads;            /* of BLAS before the first of the calls */
} blas = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static bool buffer_fits(void) {
  void *tried =
      mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (tried == MAP_FAILED) return false;
  munmap(tried, BUFFER_BYTES);
  return true;
}

/* No call runs: every known buffer is free, and holding all of them makes OpenBLAS map one more. */
static bool map_buffer(void) {
  void *held[BUFFERS_MOST];
  if (blas.buffers == BUFFERS_MOST) return false;
  if (!blas_memory_alloc || !blas_memory_free) { /* another BLAS: no such buffers */
    blas.buffers = BUFFERS_MOST;
    return true;
  }
  if (!buffer_fits()) return false;
  for (int i = 0; i <= blas.buffers; i++) held[i] = blas_memory_alloc(0);
  for (int i = 0; i <= blas.buffers; i++) blas_memory_free(held[i]);
  blas.buffers++;
  return true;
}

/* With the mutex held. False where there is no buffer at all. */
static bool wait_for_buffer(void) {
  while (blas.adding || blas.running == blas.buffers) {
    if (blas.running == 0) {
      blas.refused = !map_buffer();
      blas.adding = false;
      pthread_cond_broadcast(&blas.changed);
      if (blas.buffers == 0) return false;
    } else {
      if (!blas.refused && blas.buffers < BUFFERS_MOST) blas.adding = true;
      pthread_cond_wait(&blas.changed, &blas.mutex);
    }
  }
  return true;
}

sr_status sr__blas_begin(sr_context *ctx) {
  pthread_mutex_lock(&blas.mutex);
  if (!wait_for_buffer()) {
    pthread_mutex_unlock(&blas.mutex);
    return sr__fail(ctx, SR_ERROR_MEMORY, "no memory for the %d MB that BLAS works in",
                    (int)(BUFFER_BYTES >> 20));
  }
  if (blas.running++ == 0 && openblas_set_num_threads && openblas_get_num_threads) {
    blas.threads = openblas_get_num_threads();
    if (blas.threads != 1) openblas_set_num_threads(1);
  }
  pthread_mutex_unlock(&blas.mutex);
  return SR_OK;
}

void sr__blas_end(void) {
  pthread_mutex_lock(&blas.mutex);
  if (--blas.running == 0 && openblas_set_num_threads && blas.threads > 1)
    openblas_set_num_threads(blas.threads);
  pthread_cond_broadcast(&blas.changed);
  pthread_mutex_unlock(&blas.mutex);
}

/* Rows or columns that one call of BLAS takes at most, so that an interrupt is seen between calls.
 */
enum { SLICE = 256 };

static sr_status begin_call(sr_context *ctx) {
  sr_status status = sr__check_interrupt(ctx);
  return status == SR_OK ? sr__blas_begin(ctx) : status;
}

/* Shapes go to BLAS as int. */
static sr_status check_sizes(sr_context *ctx, int64_t m, int64_t n, int64_t k) {
  if (m <= INT32_MAX && n <= INT32_MAX && k <= INT32_MAX) return SR_OK;
  return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                  "a product of %lld x %lld x %lld is larger than BLAS takes", (long long)m,
                  (long long)n, (long long)k);
}

/* ---- products ------------------------------------------------------------------------------- */

static bool is_small(int64_t n) { return n <= SR__DENSE_SMALL; }

/* A row of C at a time, the rows of B in blocks that stay in the cache. B is as stored. */
static void add_by_rows(sr__product_shape shape, sr__factor_view a, sr__factor_view b,
                        sr__product_view c) {
  const sr__dense_kernel *kernel = sr__dense_kernel_now();
  int64_t a_row = a.transposed ? 1 : a.row, a_step = a.transposed ? a.row : 1;
  for (int64_t first = 0; first < shape.inner; first += SR__DENSE_SMALL) {
    int64_t left = shape.inner - first, depth = left < SR__DENSE_SMALL ? left : SR__DENSE_SMALL;
    for (int64_t i = 0; i < shape.rows; i++)
      kernel->add_rows(shape.columns, depth, a.at + i * a_row + first * a_step, a_step,
                       b.at + first * b.row, b.row, c.at + i * c.row);
  }
}

/* Rows of A by rows of B, which is transposed: sums of products. */
static void add_by_dots(sr__product_shape shape, sr__factor_view a, sr__factor_view b,
                        sr__product_view c) {
  const sr__dense_kernel *kernel = sr__dense_kernel_now();
  for (int64_t i = 0; i < shape.rows; i++)
    for (int64_t j = 0; j < shape.columns; j++)
      c.at[i * c.row + j] += kernel->dot(shape.inner, a.at + i * a.row, b.at + j * b.row);
}

static void add_small(sr__product_shape shape, sr__factor_view a, sr__factor_view b,
                      sr__product_view c) {
  double turned[SR__DENSE_SMALL * SR__DENSE_SMALL];
  int64_t n = shape.columns, k = shape.inner;
  if (!b.transposed) {
    add_by_rows(shape, a, b, c);
  } else if (is_small(n) && is_small(k)) {
    for (int64_t i = 0; i < k; i++)
      for (int64_t j = 0; j < n; j++) turned[i * n + j] = b.at[j * b.row + i];
    add_by_rows(shape, a, (sr__factor_view){turned, n, false}, c);
  } else if (!a.transposed) {
    add_by_dots(shape, a, b, c);
  } else {
    for (int64_t i = 0; i < shape.rows; i++)
      for (int64_t j = 0; j < n; j++)
        for (int64_t p = 0; p < k; p++)
          c.at[i * c.row + j] += a.at[p * a.row + i] * b.at[j * b.row + p];
  }
}

sr_status sr__dense_multiply(sr_context *ctx, sr__product_shape shape, sr__factor_view a,
                             sr__factor_view b, sr__product_view c) {
  sr_status status = SR_OK;
  int64_t m = shape.rows, n = shape.columns, k = shape.inner;
  if (is_small(m) + is_small(n) + is_small(k) >= 2) {
    for (int64_t i = 0; i < m && !c.add; i++) memset(c.at + i * c.row, 0, (size_t)n * sizeof *c.at);
    add_small(shape, a, b, c);
    return status;
  }
  SR_TRY(check_sizes(ctx, m, n, k));
  for (int64_t first = 0; first < m; first += 4 * SLICE) {
    int64_t rows = m - first < 4 * SLICE ? m - first : 4 * SLICE;
    SR_TRY(begin_call(ctx));
    cblas_dgemm(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans,
                b.transposed ? CblasTrans : CblasNoTrans, (int)rows, (int)n, (int)k, 1.0,
                a.at + first * (a.transposed ? 1 : a.row), (int)a.row, b.at, (int)b.row,
                c.add ? 1.0 : 0.0, c.at + first * c.row, (int)c.row);
    sr__blas_end();
  }
cleanup:
  return status;
}

sr_status sr__dense_multiply_floats(sr_context *ctx, sr__product_shape shape, sr__float_view a,
                                    sr__float_view b, float *c) {
  sr_status status = SR_OK;
  SR_TRY(check_sizes(ctx, shape.rows, shape.columns, shape.inner));
  SR_TRY(begin_call(ctx));
  cblas_sgemm(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans,
              b.transposed ? CblasTrans : CblasNoTrans, (int)shape.rows, (int)shape.columns,
              (int)shape.inner, 1.0f, a.at, (int)a.row, b.at, (int)b.row, 0.0f, c,
              (int)shape.columns);
  sr__blas_end();
cleanup:
  return status;
}

static void square_small(double sign, sr__factor_view a, int64_t inner, sr__triangle_view c) {
  double square[SR__DENSE_SMALL * SR__DENSE_SMALL] = {0};
  int64_t n = c.side;
  bool upper = c.triangle == SR__UPPER;
  sr__factor_view turned = {a.at, a.row, !a.transposed};
  add_small((sr__product_shape){n, n, inner}, a, turned, (sr__product_view){square, n, true});
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = upper ? i : 0; j < (upper ? n : i + 1); j++)
      c.at[i * n + j] += sign * square[i * n + j];
}

sr_status sr__dense_square(sr_context *ctx, double sign, sr__factor_view a, int64_t inner,
                           sr__triangle_view c) {
  sr_status status = SR_OK;
  if (is_small(c.side)) {
    square_small(sign, a, inner, c);
    return status;
  }
  SR_TRY(check_sizes(ctx, c.side, c.side, inner));
  SR_TRY(begin_call(ctx));
  cblas_dsyrk(CblasRowMajor, c.triangle == SR__UPPER ? CblasUpper : CblasLower,
              a.transposed ? CblasTrans : CblasNoTrans, (int)c.side, (int)inner, sign, a.at,
              (int)a.row, 1.0, c.at, (int)c.side);
  sr__blas_end();
cleanup:
  return status;
}

/* ---- positive definite systems -------------------------------------------------------------- */

/* Block columns of SLICE: the diagonal block, what lies below it, and its share in the rest. */
sr_status sr__dense_factor(sr_context *ctx, int64_t n, double *a, bool *definite) {
  sr_status status = SR_OK;
  if (is_small(n)) return sr__plain_factor(ctx, n, a, definite);
  *definite = true;
  SR_TRY(check_sizes(ctx, n, n, n));
  for (int64_t j = 0; j < n && *definite; j += SLICE) {
    int width = (int)(n - j < SLICE ? n - j : SLICE), below = (int)(n - j - width), size = (int)n;
    double *block = a + j * n + j, *under = block + width;
    SR_TRY(begin_call(ctx));
    *definite = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', width, block, size) == 0;
    if (*definite && below > 0)
      cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, below, width,
                  1.0, block, size, under, size);
    sr__blas_end();
    for (int64_t k = j + width; k < n && *definite; k += SLICE) {
      int columns = (int)(n - k < SLICE ? n - k : SLICE), rest = (int)(n - k - columns);
      const double *row = a + j * n + k;
      double *to = a + k * n + k;
      SR_TRY(begin_call(ctx));
      cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, columns, width, -1.0, row, size, 1.0, to,
                  size);
      if (rest > 0)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rest, columns, width, -1.0,
                    row + columns, size, row, size, 1.0, to + columns, size);
      sr__blas_end();
    }
  }
cleanup:
  return status;
}

sr_status sr__dense_factor_solve(sr_context *ctx, int64_t n, int64_t columns, const double *factor,
                                 double *b) {
  sr_status status = SR_OK;
  if (is_small(n)) {
    sr__plain_factor_solve(n, columns, factor, b);
    return status;
  }
  SR_TRY(check_sizes(ctx, n, columns, n));
  for (int64_t first = 0; first < columns; first += SLICE) {
    int width = (int)(columns - first < SLICE ? columns - first : SLICE);
    SR_TRY(begin_call(ctx));
    for (int step = 0; step < 2; step++)
      cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, step ? CblasTrans : CblasNoTrans,
                  CblasNonUnit, (int)n, width, 1.0, factor, (int)n, b + first * n, (int)n);
    sr__blas_end();
  }
cleanup:
  return status;
}

/* Block columns from the last: below its diagonal block an inverse is minus the inverse that stands
 * right of it, times the factor's block, times the inverse of the diagonal block. */
sr_status sr__dense_factor_invert(sr_context *ctx, int64_t n, double *factor) {
  sr_status status = SR_OK;
  if (is_small(n)) return sr__plain_factor_invert(ctx, n, factor);
  SR_TRY(check_sizes(ctx, n, n, n));
  for (int64_t j = (n - 1) / SLICE * SLICE; j >= 0; j -= SLICE) {
    int width = (int)(n - j < SLICE ? n - j : SLICE), below = (int)(n - j - width), size = (int)n;
    double *block = factor + j * n + j, *under = block + width;
    SR_TRY(begin_call(ctx));
    if (below > 0) {
      cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, below, width,
                  1.0, factor + (j + width) * n + j + width, size, under, size);
      cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, below, width,
                  -1.0, block, size, under, size);
    }
    int info = LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', width, block, size);
    sr__blas_end();
    if (info != 0)
      SR_TRY(sr__fail(ctx, SR_ERROR_INTERNAL, "a factor of size %lld has a zero on its diagonal",
                      (long long)n));
  }
cleanup:
  return status;
}

sr_status sr__dense_lower_times(sr_context *ctx, int64_t n, int64_t columns, const double *m,
                                double *b) {
  sr_status status = SR_OK;
  const sr__dense_kernel *kernel = sr__dense_kernel_now();
  if (is_small(n)) {
    for (int64_t c = 0; c < columns; c++)
      for (int64_t k = n - 1; k >= 0; k--) {
        double value = b[c * n + k];
        b[c * n + k] = value * m[k * n + k];
        kernel->add(n - k - 1, value, m + k * n + k + 1, b + c * n + k + 1);
      }
    return status;
  }
  SR_TRY(check_sizes(ctx, n, columns, n));
  for (int64_t first = 0; first < columns; first += SLICE) {
    int width = (int)(columns - first < SLICE ? columns - first : SLICE);
    SR_TRY(begin_call(ctx));
    cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, width,
                1.0, m, (int)n, b + first * n, (int)n);
    sr__blas_end();
  }
cleanup:
  return status;
}

/* ---- all eigenpairs ------------------------------------------------------------------------- */

static bool are_finite(int64_t count, const double *a) {
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(a[i])) return false;
  return true;
}

sr_status sr__dense_eigen(sr_context *ctx, int64_t n, double *a, double *value) {
  sr_status status = SR_OK;
  double *work = NULL;
  int *integers = NULL, info = 0;
  if (n == 0) return status;
  if (is_small(n)) {
    if (!sr__small_eigen(n, a, value)) info = 1;
  } else {
    int64_t size = 1 + 6 * n + 2 * n * n, integer_size = 3 + 5 * n;
    SR_TRY(check_sizes(ctx, n, size, n));
    SR_NEW(ctx, work, size);
    SR_NEW(ctx, integers, integer_size);
    if (!are_finite(n * n, a))
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "a %lld x %lld matrix holds values that are not finite",
                      (long long)n, (long long)n));
    SR_TRY(begin_call(ctx));
    info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', (int)n, a, (int)n, value, work,
                               (int)size, integers, (int)integer_size);
    sr__blas_end();
  }
  if (info != 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_NOT_CONVERGED,
                    "the eigenvalues of a %lld x %lld matrix did not settle", (long long)n,
                    (long long)n));
cleanup:
  sr__free(ctx, work);
  sr__free(ctx, integers);
  return status;
}
