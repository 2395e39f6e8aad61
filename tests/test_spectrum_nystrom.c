/* Nystrom against the dense kernel: with every row a landmark it is exact. */
#include <lapacke.h>
#include <math.h>

#include "harness.h"

static sr_table *clusters(sr_context *ctx, int64_t n, double apart) {
  sr_table *drawn = test_simulate(ctx, 5, "ar1:n=%lld,d=3,tmix=1", (long long)n), *table = NULL;
  const sr_table_view *view = sr_table_get(drawn);
  float *x = malloc((size_t)(3 * n) * sizeof *x);
  memcpy(x, view->x, (size_t)(3 * n) * sizeof *x);
  for (int64_t i = n / 2; i < n; i++) x[i] += (float)apart;
  sr_table_view moved = {.rows = n, .features = 3, .x = x};
  assert_ok(ctx, sr_table_new(ctx, &moved, &table));
  sr_table_free(&drawn);
  free(x);
  return table;
}

/* lambda_2 and trace / largest eigenvalue of the kernel, by LAPACK on the n x n matrices. */
static void dense_kernel(const sr_table_view *view, double bandwidth, double *lambda,
                         double *rank) {
  int n = (int)view->rows;
  double *k = malloc((size_t)n * (size_t)n * sizeof *k), *z = calloc((size_t)n * 3, sizeof *z);
  double *value = malloc((size_t)n * sizeof *value), *degree = calloc((size_t)n, sizeof *degree);
  for (int j = 0; j < 3; j++) {
    double mean = 0, squares = 0;
    for (int i = 0; i < n; i++) mean += view->x[j * n + i] / (double)n;
    for (int i = 0; i < n; i++) squares += pow(view->x[j * n + i] - mean, 2);
    for (int i = 0; i < n; i++) z[i * 3 + j] = (view->x[j * n + i] - mean) / sqrt(squares / n);
  }
  for (int a = 0; a < n; a++) {
    for (int b = 0; b < n; b++) {
      double d = 0;
      for (int j = 0; j < 3; j++) d += pow(z[a * 3 + j] - z[b * 3 + j], 2);
      k[a * n + b] = exp(-d / (2 * bandwidth * bandwidth));
      degree[a] += k[a * n + b];
    }
  }
  double *copy = malloc((size_t)n * (size_t)n * sizeof *copy);
  memcpy(copy, k, (size_t)n * (size_t)n * sizeof *copy);
  assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'U', n, copy, n, value), 0);
  *rank = n / value[n - 1];
  for (int a = 0; a < n; a++) {
    for (int b = 0; b < n; b++) k[a * n + b] /= sqrt(degree[a] * degree[b]);
  }
  assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'U', n, k, n, value), 0);
  *lambda = 1 - value[n - 2];
  free(k);
  free(copy);
  free(z);
  free(value);
  free(degree);
}

static sr_spectrum *run(sr_context *ctx, const sr_table *table, int32_t landmarks, int leverage,
                        double bandwidth) {
  sr_nystrom_options options;
  sr_nystrom_options_init(&options);
  options.landmarks = landmarks;
  options.leverage = leverage;
  options.bandwidth = bandwidth;
  sr_spectrum *spectrum = NULL;
  assert_ok(ctx, sr_spectrum_nystrom(ctx, table, &options, 1, &spectrum));
  return spectrum;
}

static void every_row_a_landmark_is_exact(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = clusters(ctx, 300, 4);
  double lambda, rank;
  dense_kernel(sr_table_get(table), 1, &lambda, &rank);
  sr_spectrum *spectrum = run(ctx, table, 300, 0, 1);
  const sr_spectrum_view *view = sr_spectrum_get(spectrum);
  assert_close(view->value[0], lambda, 1e-6);
  assert_close(view->effective_rank, rank, 1e-6);
  assert_string_equal(view->solver, "nystrom");
  sr_spectrum_free(&spectrum);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void few_landmarks_are_close(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_table *table = clusters(ctx, 900, 6);
  double lambda, rank;
  dense_kernel(sr_table_get(table), 1, &lambda, &rank);
  for (int leverage = 0; leverage < 2; leverage++) {
    sr_spectrum *spectrum = run(ctx, table, 150, leverage, 1);
    const sr_spectrum_view *view = sr_spectrum_get(spectrum);
    assert_close(view->value[0] / lambda, 1, 0.02);
    assert_close(view->effective_rank / rank, 1, 0.01);
    int wrong = 0; /* the vector separates the two clusters */
    for (int64_t i = 0; i < 900; i++) wrong += (view->vector[i] > 0) != (i >= 450);
    assert_true(wrong < 20);
    sr_spectrum_free(&spectrum);
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void the_thread_count_does_not_show(void **state) {
  (void)state;
  double first[2] = {0};
  for (int threads = 1; threads <= 8; threads *= 2) {
    sr_context *ctx = test_context(threads);
    sr_table *table = clusters(ctx, 6000, 3);
    sr_spectrum *spectrum = run(ctx, table, 60, 1, 0);
    const sr_spectrum_view *view = sr_spectrum_get(spectrum);
    if (threads == 1) {
      first[0] = view->value[0];
      first[1] = view->vector[1234];
    }
    assert_true(view->value[0] == first[0] && view->vector[1234] == first[1]);
    sr_spectrum_free(&spectrum);
    sr_table_free(&table);
    sr_context_free(&ctx);
  }
}

static sr_status body(sr_context *ctx, void *data) {
  const sr_table_view *from = data;
  sr_table *table = NULL;
  sr_spectrum *spectrum = NULL;
  sr_nystrom_options options;
  sr_nystrom_options_init(&options);
  options.landmarks = 10;
  options.leverage = 1;
  sr_status status = sr_table_new(ctx, from, &table);
  if (status == SR_OK) status = sr_spectrum_nystrom(ctx, table, &options, 1, &spectrum);
  sr_spectrum_free(&spectrum);
  sr_table_free(&table);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = clusters(ctx, 80, 3);
  sr_table_view view = *sr_table_get(table);
  test_every_allocation(body, &view);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* The rank needs no degrees: it is told without pairs too, and where a row is far from all
 * landmarks. */
static void the_rank_stands_without_pairs(void **state) {
  (void)state;
  enum { ROWS = 400 };
  sr_context *ctx = test_context(1);
  float x[ROWS];
  double rank[3];
  for (int outlier = 0; outlier < 2; outlier++) {
    sr_table_view view = {.rows = ROWS, .features = 1, .x = x};
    sr_table *table = NULL;
    sr_spectrum *spectrum = NULL;
    sr_nystrom_options options;
    sr_nystrom_options_init(&options);
    options.landmarks = 20;
    options.bandwidth = 0.02;
    for (int i = 0; i < ROWS; i++) x[i] = (float)(i % 20) / 20;
    if (outlier) x[ROWS / 2] = 40;
    assert_ok(ctx, sr_table_new(ctx, &view, &table));
    sr_status status = sr_spectrum_nystrom(ctx, table, &options, 1, &spectrum);
    assert_int_equal(status, outlier ? SR_ERROR_DATA : SR_OK);
    if (!outlier) rank[2] = sr_spectrum_get(spectrum)->effective_rank;
    sr_spectrum_free(&spectrum);
    options.pairs = 0;
    assert_ok(ctx, sr_spectrum_nystrom(ctx, table, &options, 1, &spectrum));
    assert_int_equal(sr_spectrum_get(spectrum)->pairs, 0);
    rank[outlier] = sr_spectrum_get(spectrum)->effective_rank;
    sr_spectrum_free(&spectrum);
    sr_table_free(&table);
  }
  assert_true(rank[0] == rank[2]);
  assert_true(rank[1] >= 1 && rank[1] < ROWS);
  sr_context_free(&ctx);
}

static void wrong_requests_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  float same[40] = {0};
  sr_table_view view = {.rows = 40, .features = 1, .x = same};
  sr_table *table = NULL;
  sr_spectrum *spectrum = NULL;
  sr_nystrom_options options;
  sr_nystrom_options_init(&options);
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  assert_int_equal(sr_spectrum_nystrom(ctx, table, &options, 1, &spectrum), SR_ERROR_DATA);
  options.bandwidth = 1; /* rank one: no second pair */
  assert_int_equal(sr_spectrum_nystrom(ctx, table, &options, 1, &spectrum), SR_ERROR_DATA);
  options.landmarks = 1;
  assert_int_equal(sr_spectrum_nystrom(ctx, table, &options, 1, &spectrum), SR_ERROR_ARGUMENT);
  assert_null(spectrum);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_a_landmark_is_exact),
      cmocka_unit_test(few_landmarks_are_close),
      cmocka_unit_test(the_thread_count_does_not_show),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(the_rank_stands_without_pairs),
      cmocka_unit_test(wrong_requests_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
