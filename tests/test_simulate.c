/* Witnesses against the moments and risks that their definition gives. */
#include <math.h>

#include "harness.h"

static double lag_product(const float *x, int64_t n, int64_t lag, double mean) {
  double sum = 0.0;
  for (int64_t t = 0; t + lag < n; t++) sum += (x[t] - mean) * (x[t + lag] - mean);
  return sum / (double)(n - lag);
}

enum { N = 200000 };

/* Both chains have lambda^lag. Var of a lag product of an AR(1) is at most about 4 T / n: six
 * standard errors. */
static void chains_have_their_autocovariance(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  double tmix[] = {1.0, 10.0, 50.0};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 2; k++) {
      sr_table *table =
          test_simulate(ctx, 1, "%s:n=%d,d=2,tmix=%g,delta=0", k ? "sticky" : "ar1", N, tmix[i]);
      const sr_table_view *view = sr_table_get(table);
      double error = 6.0 * sqrt(4.0 * tmix[i] / N), lambda = 1.0 - 1.0 / tmix[i];
      for (int j = 0; j < 2; j++) {
        const float *x = view->x + j * N;
        assert_close(lag_product(x, N, 0, 0.0), 1.0, error);
        assert_close(lag_product(x, N, 1, 0.0), lambda, error);
        assert_close(lag_product(x, N, 20, 0.0), pow(lambda, 20), error);
      }
      sr_table_free(&table);
    }
  }
  sr_context_free(&ctx);
}

/* A field with correlation rho^(|dr|+|dc|): check both directions. */
static void fields_decay_both_ways(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  const int64_t n = 400 * 400;
  sr_table *table = test_simulate(ctx, 1, "grid:n=160000,d=1,range=4,delta=0");
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->grid_columns, 400);
  assert_int_equal(view->grid_rows, 400);
  assert_int_equal(view->coordinate_count, 2);
  double rho = exp(-0.25), across = 0.0, along = 0.0;
  for (int64_t i = 0; i < n; i++) {
    if (i % 400 != 399) along += view->x[i] * view->x[i + 1];
    if (i + 400 < n) across += view->x[i] * view->x[i + 400];
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
  const int64_t n = 100000;
  sr_table *table = test_simulate(ctx, 1, "drift:n=100000,d=1,tmix=2,drift=3,delta=0");
  const float *x = sr_table_get(table)->x;
  double first = 0.0, last = 0.0;
  for (int64_t t = 0; t < 10000; t++) {
    first += x[t];
    last += x[n - 10000 + t];
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
    const int64_t n = 400000;
    char text[64];
    double risk = -1.0;
    sr_table *table = NULL;
    snprintf(text, sizeof text, "ar1:n=400000,tmix=1,noise=%g", cases[i].sd);
    assert_ok(ctx, sr_simulate(ctx, text, 1, 0, &table, &risk));
    if (cases[i].risk > 0) assert_close(risk, cases[i].risk, 1e-6);
    /* The Bayes rule's own error on the rows: six standard errors. */
    double *contrast = malloc((size_t)n * sizeof *contrast);
    assert_ok(ctx, sr_simulate_contrast(ctx, text, 1, table, contrast));
    double wrong = 0.0;
    for (int64_t t = 0; t < n; t++)
      wrong += (contrast[t] > 0.0) != (sr_table_get(table)->label[t] == 1);
    assert_close(wrong / (double)n, risk, 6.0 * 0.5 / sqrt((double)n));
    free(contrast);
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

static void replicates_share_the_witness_only(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *a = NULL, *b = NULL, *other = NULL;
  assert_ok(ctx, sr_simulate(ctx, "ar1:n=1000,noise=0", 1, 0, &a, NULL));
  assert_ok(ctx, sr_simulate(ctx, "ar1:n=1000,noise=0", 1, 1, &b, NULL));
  assert_ok(ctx, sr_simulate(ctx, "ar1:n=1000,d=4", 1, 0, &other, NULL));
  assert_true(sr_table_get(a)->x[0] != sr_table_get(b)->x[0]);
  /* Without noise the Bayes rule of the seed is never wrong; that of another seed is. */
  double right[1000], wrong[1000];
  assert_ok(ctx, sr_simulate_contrast(ctx, "ar1:n=1000,noise=0", 1, b, right));
  assert_ok(ctx, sr_simulate_contrast(ctx, "ar1:n=1000,noise=0", 5, b, wrong));
  int hits = 0, misses = 0;
  for (int i = 0; i < 1000; i++) {
    hits += (right[i] > 0) == (sr_table_get(b)->label[i] == 1);
    misses += (wrong[i] > 0) == (sr_table_get(b)->label[i] == 1);
  }
  assert_int_equal(hits, 1000);
  assert_true(misses < 1000);
  assert_int_equal(sr_simulate_contrast(ctx, "ar1:n=1000,noise=0", 1, other, right),
                   SR_ERROR_ARGUMENT);
  sr_table_free(&other);
  sr_table_free(&a);
  sr_table_free(&b);
  sr_context_free(&ctx);
}

static void threads_do_not_change_a_bit(void **state) {
  (void)state;
  sr_context *one = test_context(1);
  sr_table *first = test_simulate(one, 1, "ar1:n=5000,d=13");
  int counts[] = {2, 8};
  for (int c = 0; c < 2; c++) {
    sr_context *ctx = test_context(counts[c]);
    sr_table *table = test_simulate(ctx, 1, "ar1:n=5000,d=13");
    assert_memory_equal(sr_table_get(table)->x, sr_table_get(first)->x, 5000 * 13 * sizeof(float));
    assert_memory_equal(sr_table_get(table)->label, sr_table_get(first)->label,
                        5000 * sizeof(int32_t));
    sr_table_free(&table);
    sr_context_free(&ctx);
  }
  sr_table_free(&first);
  sr_context_free(&one);
}

/* Rows and classes change together, or not at all, about n / tmix times. */
static void sticky_rows_repeat_whole(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t n = 20000;
  sr_table *table = test_simulate(ctx, 3, "sticky:n=20000,d=2,tmix=20,noise=1");
  const sr_table_view *view = sr_table_get(table);
  int64_t jumps = 0;
  for (int64_t t = 1; t < n; t++) {
    bool first = view->x[t] != view->x[t - 1], second = view->x[n + t] != view->x[n + t - 1];
    assert_int_equal(first, second);
    if (!first) assert_int_equal(view->label[t], view->label[t - 1]);
    jumps += first;
  }
  assert_close((double)jumps, 1000, 0.2); /* sd 31 */
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void wrong_options_are_named(void **state) {
  (void)state;
  const struct {
    const char *text, *word;
    sr_status status;
  } cases[] = {{"ar1:n=0", "n is '0'", SR_ERROR_ARGUMENT},
               {"ar1:tmix=0.5", "tmix", SR_ERROR_ARGUMENT},
               {"ar1:noise=nan", "noise", SR_ERROR_ARGUMENT},
               {"ar1:d=-1", "d is", SR_ERROR_ARGUMENT},
               {"ar1:range=3", "range", SR_ERROR_NOT_FOUND},
               {"sticky:noise_kind=ar", "noise_kind", SR_ERROR_NOT_FOUND},
               {"ar2", "did you mean 'ar1'", SR_ERROR_NOT_FOUND}};
  sr_context *ctx = test_context(1);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    sr_table *table = NULL;
    assert_int_equal(sr_simulate(ctx, cases[c].text, 1, 0, &table, NULL), cases[c].status);
    assert_non_null(strstr(sr_context_error(ctx).message, cases[c].word));
    assert_null(table);
  }
  sr_context_free(&ctx);
}

/* Numbers of the version before the witnesses became methods: specroute simulate KIND --n 4 --d 2
 * --seed 7 (grid with --range 3, drift with --drift 2 --noise-kind ar). */
static void numbers_stay(void **state) {
  (void)state;
  const struct {
    const char *text;
    float first, last;
    const char *labels;
  } cases[] = {{"ar1:n=4,d=2", -0.02358365f, -0.9075277f, "0111"},
               {"grid:n=4,d=2,range=3", -0.02358365f, -1.0721914f, "0111"},
               {"drift:n=4,d=2,drift=2,noise_kind=ar", -0.02358365f, 0.5924723f, "0000"}};
  sr_context *ctx = test_context(1);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    sr_table *table = test_simulate(ctx, 7, "%s", cases[c].text);
    const sr_table_view *view = sr_table_get(table);
    assert_close((double)view->x[0], (double)cases[c].first, 0);
    assert_close((double)view->x[7], (double)cases[c].last, 0);
    for (int i = 0; i < 4; i++) assert_int_equal(view->label[i], cases[c].labels[i] - '0');
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

static sr_status simulate_witness(sr_context *ctx, void *data) {
  sr_table *table = NULL;
  sr_status status = sr_simulate(ctx, data, 1, 0, &table, NULL);
  sr_table_free(&table);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  for (int i = 0; sr_simulator_method(i); i++) {
    char text[64];
    snprintf(text, sizeof text, "%s:n=100", sr_simulator_method(i)->name);
    test_every_allocation(simulate_witness, text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_have_their_autocovariance),
      cmocka_unit_test(fields_decay_both_ways),
      cmocka_unit_test(drift_moves_the_mean),
      cmocka_unit_test(bayes_risks_match_scipy),
      cmocka_unit_test(replicates_share_the_witness_only),
      cmocka_unit_test(threads_do_not_change_a_bit),
      cmocka_unit_test(sticky_rows_repeat_whole),
      cmocka_unit_test(numbers_stay),
      cmocka_unit_test(wrong_options_are_named),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
