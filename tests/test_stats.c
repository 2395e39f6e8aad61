/* Statistics against SciPy, statsmodels and closed forms (tests/data/make_stats_reference.py). */
#include "harness.h"

#include <math.h>

#include <jansson.h>

static json_t *reference;

static int load_reference(void **state) {
  (void)state;
  reference = json_load_file(SR_TEST_DATA "/stats_reference.json", 0, NULL);
  return reference ? 0 : -1;
}

static int drop_reference(void **state) {
  (void)state;
  json_decref(reference);
  return 0;
}

static double number(const json_t *object, const char *name) {
  return json_number_value(json_object_get(object, name));
}

/* The list under `name` as doubles (nested lists are flattened); freed by the caller. */
static double *numbers(const json_t *object, const char *name, int64_t *count) {
  json_t *list = json_object_get(object, name);
  size_t rows = json_array_size(list);
  json_t *first = json_array_get(list, 0);
  size_t columns = json_is_array(first) ? json_array_size(first) : 1;
  double *out = malloc(rows * columns * sizeof *out);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) {
      json_t *item = json_array_get(list, i);
      out[i * columns + j] =
          json_number_value(json_is_array(item) ? json_array_get(item, j) : item);
    }
  if (count) *count = (int64_t)(rows * columns);
  return out;
}

static double law(const char *name, double x, double a, double b) {
  if (strcmp(name, "normal") == 0) return sr_normal_cdf(x);
  if (strcmp(name, "chi2") == 0) return sr_chi_square_tail(x, a);
  if (strcmp(name, "t") == 0) return sr_student_tail(x, a);
  if (strcmp(name, "tq") == 0) return sr_student_quantile(x, a);
  if (strcmp(name, "f") == 0) return sr_f_tail(x, a, b);
  if (strcmp(name, "range") == 0) return sr_studentized_range_tail(x, (int32_t)a);
  fail_msg("no law %s", name);
  return NAN;
}

static void test_laws(void **state) {
  (void)state;
  size_t i;
  json_t *one;
  json_array_foreach(json_object_get(reference, "laws"), i, one) {
    const char *name = json_string_value(json_object_get(one, "law"));
    double expected = number(one, "value");
    double actual = law(name, number(one, "x"), number(one, "a"), number(one, "b"));
    /* SciPy integrates the range law numerically to about 1e-9; the others are exact to rounding,
     * and tails must keep relative accuracy. */
    double tolerance = strcmp(name, "range") == 0 ? 1e-8 : 1e-11 * fmax(fabs(expected), 1e-290);
    if (fabs(actual - expected) > tolerance)
      fail_msg("%s at %g (%g, %g): %.17g, expected %.17g", name, number(one, "x"), number(one, "a"),
               number(one, "b"), actual, expected);
  }
}

static void test_law_edges(void **state) {
  (void)state;
  assert_true(isnan(sr_chi_square_tail(1.0, 0.0)));
  assert_true(sr_chi_square_tail(-1.0, 3.0) == 1.0);
  assert_true(sr_f_tail(INFINITY, 2.0, 3.0) == 0.0);
  assert_true(isnan(sr_student_quantile(1.0, 3.0)));
  assert_true(sr_normal_quantile(0.0) == -INFINITY);
  assert_true(isnan(sr_studentized_range_tail(1.0, 1)));
  /* The range of two standard normals is |N(0, 2)|. */
  assert_close(sr_studentized_range_tail(1.7, 2), 2.0 * sr_normal_cdf(-1.7 / sqrt(2.0)), 1e-12);
}

static void test_wilcoxon(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  size_t i;
  json_t *one;
  json_array_foreach(json_object_get(reference, "wilcoxon"), i, one) {
    int64_t count;
    double *x = numbers(one, "x", &count), *y = numbers(one, "y", NULL);
    bool pratt = strcmp(json_string_value(json_object_get(one, "zeros")), "pratt") == 0;
    bool exact = strcmp(json_string_value(json_object_get(one, "method")), "exact") == 0;
    sr_wilcoxon w;
    assert_ok(ctx, sr_wilcoxon_test(ctx, count, x, y, pratt ? SR_ZERO_PRATT : SR_ZERO_WILCOX,
                                    exact ? SR_TAIL_EXACT : SR_TAIL_NORMAL, &w));
    assert_close(w.p, number(one, "p"), 1e-10);
    assert_close(w.p_less, number(one, "less"), 1e-10);
    assert_close(w.p_greater, number(one, "greater"), 1e-10);
    free(x);
    free(y);
  }
  sr_context_free(&ctx);
}

static void test_wilcoxon_special(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  json_t *ties = json_object_get(reference, "wilcoxon_ties");
  int64_t count;
  double *d = numbers(ties, "d", &count);
  sr_wilcoxon w;
  assert_ok(ctx, sr_wilcoxon_test(ctx, count, d, NULL, SR_ZERO_WILCOX, SR_TAIL_EXACT, &w));
  assert_close(w.p_less, number(ties, "less"), 1e-12);
  assert_close(w.p_greater, number(ties, "greater"), 1e-12);
  assert_ok(ctx, sr_wilcoxon_test(ctx, count, d, NULL, SR_ZERO_WILCOX, SR_TAIL_AUTO, &w));
  assert_int_equal(w.method, SR_TAIL_NORMAL);
  assert_ok(ctx, sr_wilcoxon_test(ctx, count, d, d, SR_ZERO_WILCOX, SR_TAIL_AUTO, &w));
  assert_true(w.p == 1.0 && w.used == 0);
  /* Five increases of five: one pattern of 32 on each side. */
  const double up[] = {1, 2, 3, 4, 5};
  assert_ok(ctx, sr_wilcoxon_test(ctx, 5, up, NULL, SR_ZERO_WILCOX, SR_TAIL_AUTO, &w));
  assert_int_equal(w.method, SR_TAIL_EXACT);
  assert_close(w.p, 2.0 / 32.0, 1e-15);
  assert_close(w.median_difference, 3.0, 1e-15);
  d[0] = NAN;
  assert_int_equal(sr_wilcoxon_test(ctx, count, d, NULL, SR_ZERO_WILCOX, SR_TAIL_AUTO, &w),
                   SR_ERROR_DATA);
  free(d);
  sr_context_free(&ctx);
}

static void test_friedman_and_nemenyi(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  size_t i;
  json_t *one;
  json_array_foreach(json_object_get(reference, "friedman"), i, one) {
    int64_t count, methods;
    double *table = numbers(one, "table", &count), *ranks = numbers(one, "ranks", &methods);
    double measured[8];
    sr_friedman f;
    assert_ok(ctx,
              sr_friedman_test(ctx, count / methods, (int32_t)methods, table, 1, measured, &f));
    assert_close(f.statistic, number(one, "statistic"), 1e-11);
    assert_close(f.p, number(one, "p"), 1e-11);
    for (int64_t k = 0; k < methods; k++) assert_close(measured[k], ranks[k], 1e-13);
    free(table);
    free(ranks);
  }
  json_array_foreach(json_object_get(reference, "nemenyi"), i, one) {
    double cd = sr_nemenyi_critical_difference((int32_t)number(one, "k"), (int64_t)number(one, "n"),
                                               number(one, "alpha"));
    assert_close(cd, number(one, "value"), 1e-7);
  }
  /* The published q for eight methods at .05 is 3.031. */
  assert_close(sr_nemenyi_critical_difference(8, 12, .05), 3.031, 5e-4);
  sr_context_free(&ctx);
}

static void test_holm_and_spearman(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  json_t *holm = json_object_get(reference, "holm");
  int64_t count;
  double *p = numbers(holm, "p", &count), *expected = numbers(holm, "adjusted", NULL);
  assert_ok(ctx, sr_holm(ctx, count, p, p));
  for (int64_t i = 0; i < count; i++) assert_close(p[i], expected[i], 1e-14);
  free(p);
  free(expected);
  size_t i;
  json_t *one;
  json_array_foreach(json_object_get(reference, "spearman"), i, one) {
    double *x = numbers(one, "x", &count), *y = numbers(one, "y", NULL), r, chance;
    assert_ok(ctx, sr_spearman(ctx, count, x, y, &r, &chance));
    assert_close(r, number(one, "r"), 1e-13);
    assert_close(chance, number(one, "p"), 1e-11);
    assert_ok(ctx, sr_spearman(ctx, count, x, x, &r, &chance));
    assert_true(r == 1.0 && chance == 0.0);
    free(x);
    free(y);
  }
  sr_context_free(&ctx);
}

static void test_line(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  json_t *line = json_object_get(reference, "line");
  int64_t count;
  double *x = numbers(line, "x", &count), *y = numbers(line, "y", NULL);
  sr_line_fit fit;
  assert_ok(ctx, sr_fit_line(ctx, count, x, y, 1, 0.95, &fit));
  assert_close(fit.slope.estimate, number(line, "slope"), 1e-12);
  assert_close(fit.slope.low, number(line, "slope_low"), 1e-11);
  assert_close(fit.intercept.estimate, number(line, "intercept"), 1e-12);
  assert_close(fit.intercept.high, number(line, "intercept_high"), 1e-11);
  assert_close(fit.r_squared, number(line, "r_squared"), 1e-12);
  y[3] = -1.0;
  assert_int_equal(sr_fit_line(ctx, count, x, y, 1, 0.95, &fit), SR_ERROR_DATA);
  assert_int_equal(sr_fit_line(ctx, 2, x, y, 0, 0.95, &fit), SR_ERROR_DATA);
  free(x);
  free(y);
  sr_context_free(&ctx);
}

static double mean_by_index(void *data, int64_t count, const int64_t *index) {
  const double *sample = data;
  double sum = 0.0;
  for (int64_t i = 0; i < count; i++) sum += sample[index[i]];
  return sum / (double)count;
}

/* The replicates differ from SciPy's, so the ends agree within Monte Carlo error: with 40,000
 * replicates a 2.5 % end moves by about sd * 0.015. */
static void test_bootstrap(void **state) {
  (void)state;
  json_t *boot = json_object_get(reference, "bootstrap");
  int64_t count;
  double *sample = numbers(boot, "sample", &count);
  double tolerance = 0.05 * sr_standard_deviation(count, sample) / sqrt((double)count);
  static const struct {
    sr_bootstrap_kind kind;
    const char *name;
  } kinds[] = {{SR_BOOTSTRAP_PERCENTILE, "percentile"}, {SR_BOOTSTRAP_BCA, "BCa"}};
  for (int k = 0; k < 2; k++) {
    sr_interval first = {0}, other;
    for (int threads = 1; threads <= 8; threads *= 2) {
      sr_context *ctx = test_context(threads);
      sr_bootstrap_options options;
      sr_bootstrap_options_init(&options);
      options.kind = kinds[k].kind;
      options.replicates = 40000;
      assert_ok(ctx, sr_bootstrap(ctx, count, sample, NULL, NULL, &options, 1,
                                  threads == 1 ? &first : &other));
      if (threads > 1) assert_memory_equal(&first, &other, sizeof first);
      if (threads == 2) { /* the form by numbers draws the same items */
        assert_ok(ctx,
                  sr_bootstrap_indices(ctx, count, mean_by_index, sample, &options, 1, &other));
        assert_memory_equal(&first, &other, sizeof first);
      }
      sr_context_free(&ctx);
    }
    double *ends = numbers(boot, kinds[k].name, NULL);
    assert_true(fabs(first.low - ends[0]) < tolerance);
    assert_true(fabs(first.high - ends[1]) < tolerance);
    free(ends);
  }
  free(sample);
}

static void test_iqm_and_calibration(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  json_t *iqm = json_object_get(reference, "iqm"), *ece = json_object_get(reference, "ece");
  int64_t count;
  double *scores = numbers(iqm, "scores", &count), *ends = numbers(iqm, "interval", NULL), error;
  sr_bootstrap_options options;
  sr_bootstrap_options_init(&options);
  options.replicates = 20000;
  sr_interval interval;
  assert_ok(ctx, sr_iqm(ctx, 10, 6, scores, &options, 1, &interval));
  assert_close(interval.estimate, number(iqm, "value"), 1e-13);
  assert_true(fabs(interval.low - ends[0]) < 0.02 && fabs(interval.high - ends[1]) < 0.02);
  double *proba = numbers(ece, "proba", &count), *label = numbers(ece, "label", NULL);
  float *p = malloc((size_t)count * sizeof *p);
  int32_t *y = malloc(200 * sizeof *y);
  for (int64_t i = 0; i < count; i++) p[i] = (float)proba[i];
  for (int i = 0; i < 200; i++) y[i] = (int32_t)label[i];
  assert_ok(ctx, sr_calibration_error(ctx, 200, 3, p, y, 15, &error));
  assert_close(error, number(ece, "value"), 1e-7);
  free(scores);
  free(ends);
  free(proba);
  free(label);
  free(p);
  free(y);
  sr_context_free(&ctx);
}

/* Mann-Whitney's U over runs x runs: 2 x 3 pairs per task by hand; and SciPy's
 * mannwhitneyu([1,4,2,8,5],[3,3,1,9]).statistic = 10.5 of 20. */
static void test_probability_of_improvement(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  static const double x[] = {1, 5, /**/ 3, 5}, y[] = {2, 5, /**/ 0, 9, /**/ 3, 1};
  static const double u[] = {1, 4, 2, 8, 5}, v[] = {3, 3, 1, 9};
  sr_interval p, again;
  /* Task 1: 1 against 2, 0, 3 wins once, 3 wins twice and ties once; task 2: both tie, lose, win.
   */
  assert_ok(ctx, sr_probability_of_improvement(ctx, 2, 2, x, 3, y, NULL, 1, &p));
  assert_close(p.estimate, ((1 + 2.5) / 6 + (1.5 + 1.5) / 6) / 2, 1e-15);
  assert_ok(ctx, sr_probability_of_improvement(ctx, 1, 5, u, 4, v, NULL, 1, &p));
  assert_close(p.estimate, 10.5 / 20, 1e-15);
  assert_true(p.low < 0.3 && p.high > 0.7 && p.low >= 0 && p.high <= 1);
  assert_ok(ctx, sr_probability_of_improvement(ctx, 1, 5, u, 4, v, NULL, 1, &again));
  assert_memory_equal(&p, &again, sizeof p);
  assert_ok(ctx, sr_probability_of_improvement(ctx, 1, 4, v, 5, u, NULL, 1, &again));
  assert_close(again.estimate, 1 - p.estimate, 1e-15);
  assert_int_equal(sr_probability_of_improvement(ctx, 1, 0, u, 4, v, NULL, 1, &p), SR_ERROR_DATA);
  sr_context_free(&ctx);
}

/* Two runs of one task on both sides of tau: a replicate's share is 0, 1/2, 1 with probability 1/4,
 * 1/2, 1/4, so the 95 % ends are 0 and 1 and the 40 % ends both 1/2. */
static void test_performance_profile(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  static const double value[] = {1, 3}, tau[] = {0, 2, 3}, table[] = {1, 10, 2, 20, 3, 30};
  sr_interval share[3];
  sr_bootstrap_options options;
  sr_bootstrap_options_init(&options);
  assert_ok(ctx, sr_performance_profile(ctx, 2, 1, value, 3, tau, NULL, 1, share));
  assert_true(share[0].estimate == 1 && share[0].low == 1 && share[0].high == 1);
  assert_true(share[1].estimate == 0.5 && share[1].low == 0 && share[1].high == 1);
  assert_true(share[2].estimate == 0 && share[2].high == 0); /* above, not at */
  options.level = 0.4;
  assert_ok(ctx, sr_performance_profile(ctx, 2, 1, value, 3, tau, &options, 1, share));
  assert_true(share[1].low == 0.5 && share[1].high == 0.5);
  /* Runs are drawn inside tasks: the three values of the second task stay above 5. */
  static const double five = 5;
  assert_ok(ctx, sr_performance_profile(ctx, 3, 2, table, 1, &five, NULL, 1, share));
  assert_true(share[0].estimate == 0.5 && share[0].low == 0.5 && share[0].high == 0.5);
  options.level = 1;
  assert_int_equal(sr_performance_profile(ctx, 2, 1, value, 3, tau, &options, 1, share),
                   SR_ERROR_ARGUMENT);
  sr_context_free(&ctx);
}

/* p of a true null is uniform: half of random data sets have p below one half. */
static void test_wilcoxon_null_is_uniform(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  int low = 0, tiny = 0;
  for (uint64_t round = 0; round < 400; round++) {
    double x[30];
    sr_wilcoxon w;
    sr_random_normal(7, round, 0, 30, x);
    assert_ok(ctx, sr_wilcoxon_test(ctx, 30, x, NULL, SR_ZERO_WILCOX, SR_TAIL_AUTO, &w));
    low += w.p < 0.5;
    tiny += w.p < 0.05;
  }
  /* Four standard deviations of a binomial each way. */
  assert_true(low > 160 && low < 240);
  assert_true(tiny < 38);
  sr_context_free(&ctx);
}

static sr_status every_statistic(sr_context *ctx, void *data) {
  (void)data;
  static const double x[] = {1, 5, 2, 8, 3, 9}, y[] = {2, 4, 4, 7, 5, 5};
  static const float proba[] = {.2f, .8f, .6f, .4f};
  static const int32_t label[] = {1, 1};
  double out[6], a, b;
  sr_wilcoxon w;
  sr_friedman f;
  sr_interval interval;
  sr_line_fit fit;
  sr_bootstrap_options o;
  sr_bootstrap_options_init(&o);
  o.kind = SR_BOOTSTRAP_BCA;
  o.replicates = 20;
  sr_status status = sr_wilcoxon_test(ctx, 6, x, y, SR_ZERO_PRATT, SR_TAIL_EXACT, &w);
  if (status == SR_OK) status = sr_friedman_test(ctx, 2, 3, x, 0, out, &f);
  if (status == SR_OK) status = sr_holm(ctx, 6, y, out);
  if (status == SR_OK) status = sr_spearman(ctx, 6, x, y, &a, &b);
  if (status == SR_OK) status = sr_bootstrap(ctx, 6, x, NULL, NULL, &o, 1, &interval);
  if (status == SR_OK) status = sr_iqm(ctx, 3, 2, x, NULL, 1, &interval);
  if (status == SR_OK) status = sr_probability_of_improvement(ctx, 2, 3, x, 3, y, &o, 1, &interval);
  if (status == SR_OK) status = sr_performance_profile(ctx, 3, 2, x, 1, y, &o, 1, &interval);
  if (status == SR_OK) status = sr_calibration_error(ctx, 2, 2, proba, label, 15, &a);
  if (status == SR_OK) status = sr_fit_line(ctx, 6, x, y, 1, 0.9, &fit);
  return status;
}

static void test_memory_failures(void **state) {
  (void)state;
  test_every_allocation(every_statistic, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_laws),
      cmocka_unit_test(test_law_edges),
      cmocka_unit_test(test_wilcoxon),
      cmocka_unit_test(test_wilcoxon_special),
      cmocka_unit_test(test_friedman_and_nemenyi),
      cmocka_unit_test(test_holm_and_spearman),
      cmocka_unit_test(test_line),
      cmocka_unit_test(test_bootstrap),
      cmocka_unit_test(test_iqm_and_calibration),
      cmocka_unit_test(test_probability_of_improvement),
      cmocka_unit_test(test_performance_profile),
      cmocka_unit_test(test_wilcoxon_null_is_uniform),
      cmocka_unit_test(test_memory_failures),
  };
  return cmocka_run_group_tests(tests, load_reference, drop_reference);
}
