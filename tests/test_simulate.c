/* Witnesses against the moments and risks that their definition gives. */
#include <math.h>

#include "harness.h"

static sr_table *simulate(sr_context *ctx, const sr_simulate_options *options, double *risk) {
  sr_table *table = NULL;
  assert_ok(ctx, sr_simulate(ctx, options, &table, risk));
  return table;
}

static double lag_product(const float *x, int64_t n, int64_t lag, double mean) {
  double sum = 0.0;
  for (int64_t t = 0; t + lag < n; t++) sum += (x[t] - mean) * (x[t + lag] - mean);
  return sum / (double)(n - lag);
}

/* Var of a lag product of an AR(1) is at most about 4 T / n: six standard errors. */
static void chains_have_their_autocovariance(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  double tmix[] = {1.0, 10.0, 50.0};
  for (int i = 0; i < 3; i++) {
    sr_simulate_options o;
    sr_simulate_options_init(&o);
    o.n = 200000;
    o.d = 2;
    o.tmix = tmix[i];
    o.delta = 0.0;
    sr_table *table = simulate(ctx, &o, NULL);
    const sr_table_view *view = sr_table_get(table);
    double error = 6.0 * sqrt(4.0 * tmix[i] / (double)o.n), lambda = 1.0 - 1.0 / tmix[i];
    for (int j = 0; j < 2; j++) {
      const float *x = view->x + j * o.n;
      assert_close(lag_product(x, o.n, 0, 0.0), 1.0, error);
      assert_close(lag_product(x, o.n, 1, 0.0), lambda, error);
      assert_close(lag_product(x, o.n, 20, 0.0), pow(lambda, 20), error);
    }
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

/* A field with correlation rho^(|dr|+|dc|): check both directions. */
static void fields_decay_both_ways(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_simulate_options o;
  sr_simulate_options_init(&o);
  o.kind = SR_SIMULATE_GRID;
  o.n = 400 * 400;
  o.d = 1;
  o.range = 4.0;
  o.delta = 0.0;
  sr_table *table = simulate(ctx, &o, NULL);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->grid_columns, 400);
  assert_int_equal(view->grid_rows, 400);
  assert_int_equal(view->coordinate_count, 2);
  double rho = exp(-0.25), across = 0.0, along = 0.0;
  for (int64_t i = 0; i < o.n; i++) {
    if (i % 400 != 399) along += view->x[i] * view->x[i + 1];
    if (i + 400 < o.n) across += view->x[i] * view->x[i + 400];
  }
  /* (2 * range)^2 correlated cells: effective n about 2500. */
  assert_close(along / (400 * 399), rho, 0.12);
  assert_close(across / (400 * 399), rho, 0.12);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void drift_moves_the_mean(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_simulate_options o;
  sr_simulate_options_init(&o);
  o.kind = SR_SIMULATE_DRIFT;
  o.n = 100000;
  o.d = 1;
  o.tmix = 2.0;
  o.drift = 3.0;
  o.delta = 0.0;
  sr_table *table = simulate(ctx, &o, NULL);
  const float *x = sr_table_get(table)->x;
  double first = 0.0, last = 0.0;
  for (int64_t t = 0; t < 10000; t++) {
    first += x[t];
    last += x[o.n - 10000 + t];
  }
  assert_close((last - first) / 10000, 3.0 * 0.9, 0.2);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* scipy: integrate.quad(lambda z: norm.pdf(z)*norm.sf(abs(0.5+z)/s), -12, 12, points=[-0.5]). */
static void bayes_risks_match_scipy(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  struct {
    double sd, risk;
  } cases[] = {{1.0, 0.23091093152414785}, {0.3, 0.08244456824991171}, {0.0, 0.0}};
  for (int i = 0; i < 3; i++) {
    sr_simulate_options o;
    sr_simulate_options_init(&o);
    o.n = 400000;
    o.tmix = 1.0;
    o.noise_sd = cases[i].sd;
    double risk = -1.0;
    sr_table *table = simulate(ctx, &o, &risk);
    if (cases[i].risk > 0) assert_close(risk, cases[i].risk, 1e-6);
    /* The Bayes rule's own error on the rows: six standard errors. */
    double *contrast = malloc((size_t)o.n * sizeof *contrast);
    assert_ok(ctx, sr_simulate_contrast(ctx, &o, table, contrast));
    double wrong = 0.0;
    for (int64_t t = 0; t < o.n; t++)
      wrong += (contrast[t] > 0.0) != (sr_table_get(table)->label[t] == 1);
    assert_close(wrong / (double)o.n, risk, 6.0 * 0.5 / sqrt((double)o.n));
    free(contrast);
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

static void replicates_share_the_witness_only(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_simulate_options o;
  sr_simulate_options_init(&o);
  o.n = 1000;
  sr_table *a = simulate(ctx, &o, NULL);
  o.replicate = 1;
  sr_table *b = simulate(ctx, &o, NULL);
  double ca[1000], cb[1000];
  assert_ok(ctx, sr_simulate_contrast(ctx, &o, a, ca));
  o.replicate = 0;
  assert_ok(ctx, sr_simulate_contrast(ctx, &o, a, cb));
  assert_memory_equal(ca, cb, sizeof ca);
  assert_true(sr_table_get(a)->x[0] != sr_table_get(b)->x[0]);
  sr_table_free(&a);
  sr_table_free(&b);
  sr_context_free(&ctx);
}

static void threads_do_not_change_a_bit(void **state) {
  (void)state;
  sr_simulate_options o;
  sr_simulate_options_init(&o);
  o.n = 5000;
  o.d = 13;
  sr_table *first = NULL;
  sr_context *one = test_context(1);
  assert_ok(one, sr_simulate(one, &o, &first, NULL));
  int counts[] = {2, 8};
  for (int c = 0; c < 2; c++) {
    sr_context *ctx = test_context(counts[c]);
    sr_table *table = simulate(ctx, &o, NULL);
    assert_memory_equal(sr_table_get(table)->x, sr_table_get(first)->x, 5000 * 13 * sizeof(float));
    assert_memory_equal(sr_table_get(table)->label, sr_table_get(first)->label,
                        5000 * sizeof(int32_t));
    sr_table_free(&table);
    sr_context_free(&ctx);
  }
  sr_table_free(&first);
  sr_context_free(&one);
}

static void wrong_options_are_named(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_simulate_options good, o;
  sr_simulate_options_init(&good);
  sr_table *table = NULL;
  o = good, o.n = 0;
  assert_int_equal(sr_simulate(ctx, &o, &table, NULL), SR_ERROR_ARGUMENT);
  o = good, o.tmix = 0.5;
  assert_int_equal(sr_simulate(ctx, &o, &table, NULL), SR_ERROR_ARGUMENT);
  assert_non_null(strstr(sr_context_error(ctx).message, "tmix"));
  o = good, o.noise_sd = NAN;
  assert_int_equal(sr_simulate(ctx, &o, &table, NULL), SR_ERROR_ARGUMENT);
  o = good, o.d = -1;
  assert_int_equal(sr_simulate(ctx, &o, &table, NULL), SR_ERROR_ARGUMENT);
  assert_null(table);
  sr_context_free(&ctx);
}

static sr_status simulate_grid(sr_context *ctx, void *data) {
  sr_table *table = NULL;
  sr_status status = sr_simulate(ctx, data, &table, NULL);
  sr_table_free(&table);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  sr_simulate_options o;
  sr_simulate_options_init(&o);
  o.kind = SR_SIMULATE_GRID;
  o.n = 100;
  test_every_allocation(simulate_grid, &o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_have_their_autocovariance),
      cmocka_unit_test(fields_decay_both_ways),
      cmocka_unit_test(drift_moves_the_mean),
      cmocka_unit_test(bayes_risks_match_scipy),
      cmocka_unit_test(replicates_share_the_witness_only),
      cmocka_unit_test(threads_do_not_change_a_bit),
      cmocka_unit_test(wrong_options_are_named),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
