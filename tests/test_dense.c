/* The dense door: plain code against LAPACK on random, clustered and broken matrices, both sides of
 * the limit between plain code and BLAS, and what a call leaves behind. */
#include <lapacke.h>
#include <math.h>
#include <sys/mman.h>

#include "core/dense.h"
#include "core/dense_kernel.h"
#include "core/random.h"
#include "harness.h"

extern int openblas_get_num_threads(void);
extern void openblas_set_num_threads(int threads);

/* The linker sends the archive's calls here. */
static bool refuse_maps;
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
  return refuse_maps ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, file, offset);
}

static double *new_values(int64_t count, uint64_t seed) {
  double *x = malloc((size_t)count * sizeof *x);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_SOLVER, 0, 0);
  for (int64_t i = 0; i < count; i++) x[i] = sr__random_normal(&random);
  return x;
}

static double *copy_of(const double *x, int64_t count) {
  double *copy = malloc((size_t)count * sizeof *copy);
  memcpy(copy, x, (size_t)count * sizeof *copy);
  return copy;
}

typedef enum kind { RANDOM, PIECES, EQUAL, PATH, GRADED, KINDS } kind;

/* Symmetric: random; of equal pieces that do not touch; with few different values; a path's
 * Laplacian; entries from 1 to 1e-12. */
static double *new_symmetric(int64_t n, kind what, uint64_t seed) {
  double *random = new_values(n * n, seed), *a = calloc((size_t)(n * n), sizeof *a);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) {
      double value = random[i * n + j];
      if (what == PIECES) value = i / 5 == j / 5 ? 1.0 / (1.0 + (double)(i - j)) : 0.0;
      if (what == EQUAL) value = i == j ? (double)(i % 3) : 0.0;
      if (what == PATH) value = i == j ? 2.0 - (i == 0) - (i == n - 1) : i == j + 1 ? -1.0 : 0.0;
      if (what == GRADED) value *= pow(10.0, -12.0 * (double)i / (double)n);
      a[i * n + j] = a[j * n + i] = value;
    }
  free(random);
  return a;
}

static double norm_of(int64_t n, const double *a) {
  double norm = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (int64_t j = 0; j < n; j++) sum += fabs(a[i * n + j]);
    norm = fmax(norm, sum);
  }
  return norm;
}

/* Residuals and inner products of `count` vectors, to a multiple of what rounding leaves. */
static void check_vectors(int64_t n, const double *a, int64_t count, const double *value,
                          const double *vector) {
  double norm = norm_of(n, a), tolerance = 1e-13 * (double)(n + 10);
  for (int64_t k = 0; k < count; k++) {
    const double *x = vector + k * n;
    for (int64_t i = 0; i < n; i++) {
      double sum = -value[k] * x[i];
      for (int64_t j = 0; j < n; j++) sum += a[i * n + j] * x[j];
      assert_true(fabs(sum) <= tolerance * norm);
    }
    for (int64_t l = 0; l <= k; l++) {
      double product = 0.0;
      for (int64_t i = 0; i < n; i++) product += x[i] * vector[l * n + i];
      assert_true(fabs(product - (k == l)) <= tolerance);
    }
  }
}

static void check_pairs(sr_context *ctx, int64_t n, kind what, int64_t first, int64_t count) {
  double *a = new_symmetric(n, what, (uint64_t)n), *reference = copy_of(a, n * n);
  double *work = copy_of(a, n * n), *expected = malloc((size_t)n * sizeof *expected);
  double *value = malloc((size_t)n * sizeof *value), *vector = malloc((size_t)(n * n) * sizeof *a);
  assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'U', (int)n, reference, (int)n, expected),
                   0);
  assert_ok(ctx, sr__plain_eigen(ctx, n, work, &(sr__eigenpairs){first, count, value, vector}));
  double norm = norm_of(n, a);
  for (int64_t k = 0; k < count; k++)
    assert_true(fabs(value[k] - expected[first + k]) <= 1e-13 * (double)(n + 10) * norm);
  check_vectors(n, a, count, value, vector);
  memcpy(work, a, (size_t)(n * n) * sizeof *a);
  double *alone = malloc((size_t)n * sizeof *alone);
  assert_ok(ctx, sr__plain_eigen(ctx, n, work, &(sr__eigenpairs){first, count, alone, NULL}));
  for (int64_t k = 0; k < count; k++)
    assert_true(fabs(alone[k] - value[k]) <= 1e-13 * (double)(n + 10) * norm);
  free(a);
  free(reference);
  free(work);
  free(expected);
  free(value);
  free(vector);
  free(alone);
}

static void eigenpairs_agree_with_lapack(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int what = 0; what < KINDS; what++)
    for (int64_t n = 1; n <= 130; n += n < 12 ? 1 : 29) {
      check_pairs(ctx, n, (kind)what, 0, n);
      check_pairs(ctx, n, (kind)what, 0, n < 3 ? n : 3);
      check_pairs(ctx, n, (kind)what, n / 2, n - n / 2 < 2 ? n - n / 2 : 2);
    }
  sr_context_free(&ctx);
}

/* The same call on both sides of the limit. */
static void whole_eigenproblems(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t size[] = {1, 2, 40, SR__DENSE_SMALL, SR__DENSE_SMALL + 1, 150};
  for (size_t s = 0; s < sizeof size / sizeof *size; s++)
    for (int what = 0; what < KINDS; what++) {
      int64_t n = size[s];
      double *a = new_symmetric(n, (kind)what, 7), *vector = copy_of(a, n * n);
      double *value = malloc((size_t)n * sizeof *value);
      assert_ok(ctx, sr__dense_eigen(ctx, n, vector, value));
      for (int64_t k = 1; k < n; k++) assert_true(value[k - 1] <= value[k]);
      check_vectors(n, a, n, value, vector);
      free(a);
      free(vector);
      free(value);
    }
  sr_context_free(&ctx);
}

static void values_that_are_not_finite_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int64_t n = 3; n <= 80; n += 77) {
    double *a = new_symmetric(n, RANDOM, 1), value[80];
    a[n + 1] = NAN;
    assert_int_not_equal(sr__dense_eigen(ctx, n, a, value), SR_OK);
    assert_int_equal(sr__plain_eigen(ctx, n, a, &(sr__eigenpairs){0, 1, value, NULL}),
                     SR_ERROR_DATA);
    free(a);
  }
  sr_context_free(&ctx);
}

/* A' A + I, column-major. */
static double *new_definite(int64_t n, uint64_t seed) {
  double *x = new_values(n * n, seed), *a = calloc((size_t)(n * n), sizeof *a);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      for (int64_t k = 0; k < n; k++) a[i * n + j] += x[k * n + i] * x[k * n + j];
      a[i * n + j] = a[i * n + j] / (double)n + (i == j);
    }
  free(x);
  return a;
}

static void check_system(sr_context *ctx, int64_t n, bool plain) {
  enum { COLUMNS = 3 };
  bool definite = false;
  double *a = new_definite(n, (uint64_t)n), *factor = copy_of(a, n * n);
  double *b = new_values(n * COLUMNS, 5), *x = copy_of(b, n * COLUMNS);
  assert_ok(ctx, plain ? sr__plain_factor(ctx, n, factor, &definite)
                       : sr__dense_factor(ctx, n, factor, &definite));
  assert_true(definite);
  for (int64_t j = 1; j < n; j++)
    assert_memory_equal(factor + j * n, a + j * n, (size_t)j * sizeof *a); /* above the diagonal */
  if (plain)
    sr__plain_factor_solve(n, COLUMNS, factor, x);
  else
    assert_ok(ctx, sr__dense_factor_solve(ctx, n, COLUMNS, factor, x));
  for (int c = 0; c < COLUMNS; c++)
    for (int64_t i = 0; i < n; i++) {
      double sum = 0.0;
      for (int64_t j = 0; j < n; j++) sum += a[j * n + i] * x[c * n + j];
      assert_close(sum, b[c * n + i], 1e-10);
    }
  /* L^-1 b, then L times that. */
  double *inverse = copy_of(factor, n * n), *y = copy_of(b, n * COLUMNS);
  assert_ok(ctx, plain ? sr__plain_factor_invert(ctx, n, inverse)
                       : sr__dense_factor_invert(ctx, n, inverse));
  assert_ok(ctx, sr__dense_lower_times(ctx, n, COLUMNS, inverse, y));
  assert_ok(ctx, sr__dense_lower_times(ctx, n, COLUMNS, factor, y));
  for (int64_t i = 0; i < n * COLUMNS; i++) assert_close(y[i], b[i], 1e-10);
  memcpy(factor, a, (size_t)(n * n) * sizeof *a);
  assert_ok(ctx, sr__plain_invert(ctx, n, factor, &definite));
  for (int64_t j = 0; j < n; j++) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += a[j * n + i] * factor[i > j ? j * n + i : i * n + j];
    assert_close(sum, 1.0, 1e-10);
  }
  a[n * n - 1] = -1.0;
  assert_ok(ctx, plain ? sr__plain_factor(ctx, n, a, &definite)
                       : sr__dense_factor(ctx, n, a, &definite));
  assert_false(definite);
  free(a);
  free(factor);
  free(b);
  free(x);
  free(inverse);
  free(y);
}

static void systems_on_both_sides_of_the_limit(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t size[] = {1, 2, 17, SR__DENSE_SMALL, SR__DENSE_SMALL + 1, 300};
  for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
    check_system(ctx, size[s], true);
    check_system(ctx, size[s], false);
  }
  sr_context_free(&ctx);
}

static void check_band(sr_context *ctx, int64_t n, int64_t width) {
  bool definite = false;
  double *band = new_values(n * (width + 1), 3), *b = new_values(n, 4), *x = copy_of(b, n);
  for (int64_t i = 0; i < n; i++) band[i * (width + 1)] = 3.0 * (double)(width + 1);
  double *factor = copy_of(band, n * (width + 1));
  assert_ok(ctx, sr__plain_band_factor(ctx, n, width, factor, &definite));
  assert_true(definite);
  sr__plain_band_solve(n, width, factor, x);
  for (int64_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (int64_t j = i > width ? i - width : 0; j < n && j <= i + width; j++)
      sum += x[j] * (j < i ? band[j * (width + 1) + i - j] : band[i * (width + 1) + j - i]);
    assert_close(sum, b[i], 1e-10);
  }
  band[(n - 1) * (width + 1)] = -1.0;
  assert_ok(ctx, sr__plain_band_factor(ctx, n, width, band, &definite));
  assert_false(definite);
  free(band);
  free(factor);
  free(b);
  free(x);
}

static void bands(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int64_t width = 0; width < 9; width += 4)
    for (int64_t n = 1; n < 40; n += 9) check_band(ctx, n, width);
  sr_context_free(&ctx);
}

static void check_product(sr_context *ctx, int64_t m, int64_t n, int64_t k, bool ta, bool tb) {
  double *a = new_values(m * k, 1), *b = new_values(k * n, 2), *c = new_values(m * n, 3);
  double *before = copy_of(c, m * n);
  for (int keep = 0; keep < 2; keep++) {
    memcpy(c, before, (size_t)(m * n) * sizeof *c);
    assert_ok(ctx, sr__dense_multiply(ctx, (sr__product_shape){m, n, k},
                                      (sr__factor_view){a, ta ? m : k, ta},
                                      (sr__factor_view){b, tb ? k : n, tb},
                                      (sr__product_view){c, n, keep}));
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++) {
        double sum = keep ? before[i * n + j] : 0.0;
        for (int64_t p = 0; p < k; p++)
          sum += a[ta ? p * m + i : i * k + p] * b[tb ? j * k + p : p * n + j];
        assert_true(fabs(c[i * n + j] - sum) <= 1e-11);
      }
  }
  free(a);
  free(b);
  free(c);
  free(before);
}

static void products(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t shape[][3] = {{1, 1, 1},    {3, 5, 70},    {70, 3, 5},
                              {5, 70, 3},   {64, 64, 130}, {90, 64, 64},
                              {66, 67, 68}, {1, 90, 100},  {1100, 66, 67}};
  for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
    for (int side = 0; side < 4; side++)
      check_product(ctx, shape[s][0], shape[s][1], shape[s][2], side & 1, side & 2);
  sr_context_free(&ctx);
}

/* The other triangle is not touched. */
static void check_square(sr_context *ctx, int64_t n, int64_t k, sr__triangle triangle,
                         bool turned) {
  double *a = new_values(n * k, 1), *c = new_values(n * n, 2), *before = copy_of(c, n * n);
  assert_ok(ctx, sr__dense_square(ctx, -1.0, (sr__factor_view){a, turned ? n : k, turned}, k,
                                  (sr__triangle_view){triangle, n, c}));
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      double sum = before[i * n + j];
      for (int64_t p = 0; p < k && (triangle == SR__UPPER ? j >= i : j <= i); p++)
        sum -= turned ? a[p * n + i] * a[p * n + j] : a[i * k + p] * a[j * k + p];
      assert_true(fabs(c[i * n + j] - sum) <= 1e-11);
    }
  free(a);
  free(c);
  free(before);
}

static void squares(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int64_t n = 1; n < 100; n += 32)
    for (int side = 0; side < 4; side++)
      for (int64_t k = 1; k < 200; k += 90)
        check_square(ctx, n, k, side & 1 ? SR__UPPER : SR__LOWER, side & 2);
  sr_context_free(&ctx);
}

static void pencils_agree_with_lapack(void **state) {
  (void)state;
  for (int n = 1; n <= 30; n += 7) {
    double *a = new_definite(n, 9), *b = new_symmetric(n, RANDOM, 4), *a_copy = copy_of(a, n * n);
    double *b_copy = copy_of(b, n * n), *c = copy_of(b, n * n), *left = copy_of(a, n * n);
    double value[30], expected[30];
    assert_int_equal(LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'N', 'U', n, b_copy, n, a_copy, n,
                                   expected),
                     0);
    assert_true(sr__small_pencil_pairs(n, c, left, value));
    for (int k = 0; k < n; k++) {
      assert_close(value[k], expected[k], 1e-12);
      double length = 0.0;
      for (int i = 0; i < n; i++) {
        double residual = 0.0;
        for (int j = 0; j < n; j++) {
          residual += (b[i * n + j] - value[k] * a[i * n + j]) * c[k * n + j];
          length += c[k * n + i] * a[i * n + j] * c[k * n + j];
        }
        assert_true(fabs(residual) < 1e-11);
      }
      assert_close(length, 1.0, 1e-12);
    }
    memcpy(c, b, (size_t)(n * n) * sizeof *b);
    memcpy(left, a, (size_t)(n * n) * sizeof *a);
    left[0] = -1.0;
    assert_false(sr__small_pencil_pairs(n, c, left, value));
    free(a);
    free(b);
    free(a_copy);
    free(b_copy);
    free(c);
    free(left);
  }
}

/* Each loop gives the same bytes at every vector level of this machine. */
static void levels_agree(void **state) {
  (void)state;
  enum { N = 103 };
#if defined(__x86_64__)
  const sr__dense_kernel *level[] = {&sr__dense_kernel_base, &sr__dense_kernel_v3,
                                     &sr__dense_kernel_v4};
  double *a = new_values(N * N, 1), *out[2];
  for (int l = 0; l <= (int)sr__isa(); l++) {
    out[l > 0] = new_values(4 * N, 2);
    double *x = out[l > 0];
    level[l]->add_rows(N, N, a, 1, a, N, x);
    level[l]->add(N, 0.3, a, x + N);
    level[l]->rotate(N, 0.6, 0.8, x, x + N);
    level[l]->rank_two(N, 0.1, a, 0.7, a + N, x + 2 * N);
    x[3 * N] = level[l]->dot(N, a, a + N);
    if (l > 0) {
      assert_memory_equal(out[0], out[1], 4 * N * sizeof *x);
      free(out[1]);
    }
  }
  free(out[0]);
  free(a);
#endif
}

/* A host program's BLAS keeps its threads. */
static void blas_keeps_its_threads(void **state) {
  (void)state;
  enum { N = 100 };
  bool definite = false;
  openblas_set_num_threads(2);
  sr_context *ctx = test_context(2);
  assert_int_equal(openblas_get_num_threads(), 2);
  double *a = new_definite(N, 1);
  assert_ok(ctx, sr__dense_factor(ctx, N, a, &definite));
  assert_int_equal(openblas_get_num_threads(), 2);
  free(a);
  sr_context_free(&ctx);
  assert_int_equal(openblas_get_num_threads(), 2);
}

/* Must run before any other call has made BLAS map its buffer: OpenBLAS would ask for ever. Small
 * systems need none. */
static void blas_without_memory_is_not_called(void **state) {
  (void)state;
  enum { N = 100 };
  sr_context *ctx = test_context(1);
  double *a = new_definite(N, 1), value[N];
  bool definite = false;
  refuse_maps = true;
  assert_int_equal(sr__dense_factor(ctx, N, a, &definite), SR_ERROR_MEMORY);
  assert_int_equal(sr__dense_factor_solve(ctx, N, 1, a, value), SR_ERROR_MEMORY);
  assert_int_equal(sr__dense_eigen(ctx, N, a, value), SR_ERROR_MEMORY);
  assert_int_equal(sr__blas_begin(ctx), SR_ERROR_MEMORY);
  assert_ok(ctx, sr__dense_factor(ctx, SR__DENSE_SMALL, a, &definite));
  refuse_maps = false;
  assert_ok(ctx, sr__dense_factor(ctx, N, a, &definite));
  refuse_maps = true; /* the buffer is there now */
  assert_ok(ctx, sr__dense_factor(ctx, N, a, &definite));
  refuse_maps = false;
  free(a);
  sr_context_free(&ctx);
}

static sr_status factor_one(sr_context *worker, void *data, int64_t item, int slot) {
  enum { N = 90, ROUNDS = 20 };
  double *const *result = data;
  bool definite = false;
  (void)slot;
  for (int round = 0; round < ROUNDS; round++) {
    double *a = new_definite(N, (uint64_t)item);
    sr_status status = sr__dense_factor(worker, N, a, &definite);
    memcpy(result[item], a, N * N * sizeof *a);
    free(a);
    if (status != SR_OK || !definite) return status;
  }
  return SR_OK;
}

/* More threads than seats: calls wait and add seats, and nothing is mixed up. */
static void many_threads_take_seats(void **state) {
  (void)state;
  enum { ITEMS = 12, N = 90 };
  double *result[2][ITEMS];
  for (int r = 0; r < 2; r++) {
    sr_context *ctx = test_context(r ? 6 : 1);
    for (int i = 0; i < ITEMS; i++) result[r][i] = calloc(N * N, sizeof(double));
    assert_ok(ctx, sr__parallel_for(ctx, ITEMS, factor_one, result[r]));
    sr_context_free(&ctx);
  }
  for (int i = 0; i < ITEMS; i++) {
    assert_memory_equal(result[0][i], result[1][i], N * N * sizeof(double));
    free(result[0][i]);
    free(result[1][i]);
  }
}

static sr_status eigen_of_path(sr_context *ctx, void *data) {
  double *a = new_symmetric(70, PATH, 1), value[70];
  double *vector = malloc(70 * 70 * sizeof *vector);
  (void)data;
  sr_status status = sr__plain_eigen(ctx, 70, a, &(sr__eigenpairs){0, 2, value, vector});
  if (status == SR_OK)
    status = sr__plain_eigen(ctx, 70, a, &(sr__eigenpairs){0, 70, value, vector});
  if (status == SR_OK) status = sr__dense_eigen(ctx, 70, a, value);
  free(a);
  free(vector);
  return status;
}

static void allocation_failures(void **state) {
  (void)state;
  test_every_allocation(eigen_of_path, NULL);
}

static void interrupts_are_seen(void **state) {
  (void)state;
  enum { N = 100 };
  sr_context *ctx = test_context(1);
  double *a = new_definite(N, 1), value[N];
  bool definite = false;
  sr_context_interrupt(ctx);
  assert_int_equal(sr__dense_factor(ctx, N, a, &definite), SR_ERROR_INTERRUPTED);
  assert_int_equal(sr__dense_eigen(ctx, N, a, value), SR_ERROR_INTERRUPTED);
  assert_int_equal(sr__plain_eigen(ctx, N, a, &(sr__eigenpairs){0, 1, value, NULL}),
                   SR_ERROR_INTERRUPTED);
  sr_context_resume(ctx);
  assert_ok(ctx, sr__dense_factor(ctx, N, a, &definite));
  free(a);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blas_without_memory_is_not_called),
      cmocka_unit_test(eigenpairs_agree_with_lapack),
      cmocka_unit_test(whole_eigenproblems),
      cmocka_unit_test(values_that_are_not_finite_are_refused),
      cmocka_unit_test(systems_on_both_sides_of_the_limit),
      cmocka_unit_test(bands),
      cmocka_unit_test(products),
      cmocka_unit_test(squares),
      cmocka_unit_test(pencils_agree_with_lapack),
      cmocka_unit_test(levels_agree),
      cmocka_unit_test(blas_keeps_its_threads),
      cmocka_unit_test(many_threads_take_seats),
      cmocka_unit_test(allocation_failures),
      cmocka_unit_test(interrupts_are_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
