/* What a diagnosis does with every kind of table: invariances, odd inputs, memory, threads. */
#include <math.h>

#include "harness.h"

static sr_table *chain(sr_context *ctx, int64_t n, int32_t d, double tmix, uint64_t seed) {
  return test_simulate(ctx, seed, "ar1:n=%lld,d=%d,tmix=%.17g", (long long)n, d, tmix);
}

static sr_table *lattice(sr_context *ctx, int64_t n, int32_t d, uint64_t seed) {
  return test_simulate(ctx, seed, "grid:n=%lld,d=%d,range=3", (long long)n, d);
}

static sr_dependence *diagnose(sr_context *ctx, const sr_table *table, const char *graph) {
  sr_dependence *dependence = NULL;
  sr_graph *built = NULL;
  if (graph) assert_ok(ctx, sr_graph_build(ctx, table, graph, 1, &built));
  assert_ok(ctx, sr_dependence_estimate(ctx, table, built, NULL, 1, &dependence));
  sr_graph_free(&built);
  return dependence;
}

static sr_dependence *diagnose_view(sr_context *ctx, const sr_table_view *view, const char *graph) {
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, view, &table));
  sr_dependence *dependence = diagnose(ctx, table, graph);
  sr_table_free(&table);
  return dependence;
}

static bool warns(const sr_dependence *dependence, const char *words) {
  const sr_dependence_view *v = sr_dependence_get(dependence);
  for (int32_t i = 0; i < v->warning_count; i++)
    if (strstr(v->warnings[i], words)) return true;
  return false;
}

/* NaN equals NaN; everything else to the bit. */
static void assert_same(double a, double b) {
  if (!(isnan(a) && isnan(b))) assert_true(a == b);
}

static void assert_same_diagnosis(const sr_dependence *a, const sr_dependence *b) {
  const sr_dependence_view *x = sr_dependence_get(a), *y = sr_dependence_get(b);
  assert_int_equal(x->scale_count, y->scale_count);
  for (int32_t i = 0; i < x->scale_count; i++) {
    assert_string_equal(x->scales[i].method, y->scales[i].method);
    assert_same(x->scales[i].estimate, y->scales[i].estimate);
    assert_same(x->scales[i].low, y->scales[i].low);
    assert_same(x->scales[i].high, y->scales[i].high);
  }
  assert_same(x->tmix.estimate, y->tmix.estimate);
  assert_same(x->lambda2, y->lambda2);
  assert_same(x->ess, y->ess);
  assert_same(x->politis_white_stationary, y->politis_white_stationary);
  assert_same(x->drift_score, y->drift_score);
  assert_int_equal(x->lag_count, y->lag_count);
  for (int32_t i = 0; i < x->lag_count; i++) assert_same(x->correlation[i], y->correlation[i]);
}

/* ---- threads and memory ------------------------------------------------------------------- */

static void test_threads(void **state) {
  (void)state;
  sr_dependence *first[2] = {NULL, NULL};
  static const int threads[] = {1, 2, 8};
  for (int i = 0; i < 3; i++) {
    sr_context *ctx = test_context(threads[i]);
    sr_table *series = chain(ctx, 6000, 4, 20.0, 5);
    sr_table *field = lattice(ctx, 2500, 3, 5);
    sr_dependence *found[2] = {diagnose(ctx, series, "time"), diagnose(ctx, field, "grid")};
    for (int k = 0; k < 2; k++) {
      if (i > 0) assert_same_diagnosis(first[k], found[k]);
      if (i > 0)
        sr_dependence_free(&found[k]);
      else
        first[k] = found[k];
    }
    sr_table_free(&series);
    sr_table_free(&field);
    sr_context_free(&ctx);
  }
  sr_dependence_free(&first[0]);
  sr_dependence_free(&first[1]);
}

typedef struct allocation_case {
  sr_table_view view;
  const char *graph;
} allocation_case;

static sr_status allocation_body(sr_context *ctx, void *data) {
  const allocation_case *c = data;
  sr_table *table = NULL;
  sr_dependence *dependence = NULL;
  sr_graph *graph = NULL;
  sr_status status = sr_table_new(ctx, &c->view, &table);
  if (status == SR_OK) status = sr_graph_build(ctx, table, c->graph, 1, &graph);
  if (status == SR_OK) status = sr_dependence_estimate(ctx, table, graph, NULL, 1, &dependence);
  sr_graph_free(&graph);
  sr_dependence_free(&dependence);
  sr_table_free(&table);
  return status;
}

static void test_allocation(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *series = chain(ctx, 200, 2, 5.0, 2);
  sr_table *field = lattice(ctx, 64, 2, 2);
  allocation_case time = {*sr_table_get(series), "time"}, grid = {*sr_table_get(field), "grid"};
  test_every_allocation(allocation_body, &time);
  test_every_allocation(allocation_body, &grid);
  sr_table_free(&series);
  sr_table_free(&field);
  sr_context_free(&ctx);
}

/* ---- odd inputs --------------------------------------------------------------------------- */

static void assert_unknown(const sr_dependence *dependence) {
  const sr_dependence_view *v = sr_dependence_get(dependence);
  assert_true(isnan(v->tmix.estimate));
  assert_true(isnan(v->tmix.low));
  assert_true(isnan(v->ess));
  assert_true(v->warning_count > 0);
}

static void test_few_rows(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (int64_t n = 0; n <= 9; n += 3) {
    sr_dependence *d =
        diagnose_view(ctx, &(sr_table_view){.rows = n, .features = 1, .x = x}, "time");
    assert_unknown(d);
    assert_true(warns(d, "too few"));
    sr_dependence_free(&d);
  }
  sr_context_free(&ctx);
}

/* Random sizes from 10 rows on, with ties, gaps and tiny groups: never a crash, and either NaN or
 * an interval around the estimate. */
static void test_small_tables(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  static const char *names[8] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  for (uint64_t seed = 1; seed <= 60; seed++) {
    double u[400];
    sr_random_uniform(seed, 0, 0, 400, u);
    int64_t n = 10 + (int64_t)(u[0] * 90.0);
    float x[300];
    int32_t group[100];
    for (int64_t i = 0; i < 3 * n; i++) {
      double v = u[1 + i];
      x[i] = v < 0.1 ? NAN : i < n ? (float)floor(3.0 * v) : i < 2 * n ? (float)i : (float)v;
    }
    for (int64_t i = 0; i < n; i++) group[i] = (int32_t)(u[300 + i] * 8.0);
    sr_table_view view = {.rows = n, .features = 3, .x = x};
    if (seed % 2) {
      view.group = group;
      view.groups = (sr_dictionary){8, names};
    }
    sr_dependence *d = diagnose_view(ctx, &view, "time");
    const sr_dependence_view *v = sr_dependence_get(d);
    if (isnan(v->tmix.estimate)) {
      assert_true(v->warning_count > 0);
    } else {
      assert_true(v->tmix.estimate >= 1.0);
      assert_true(v->tmix.low <= v->tmix.estimate && v->tmix.estimate <= v->tmix.high);
    }
    sr_dependence_free(&d);
  }
  sr_context_free(&ctx);
}

static void test_useless_columns(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_table *table = chain(ctx, 3000, 2, 10.0, 3);
  const sr_table_view *v = sr_table_get(table);
  float *x = malloc(4 * 3000 * sizeof *x);
  for (int64_t i = 0; i < 3000; i++) {
    x[i] = 7.5F;
    x[3000 + i] = v->x[i];
    x[6000 + i] = NAN;
    x[9000 + i] = v->x[3000 + i];
  }
  sr_dependence *plain =
      diagnose_view(ctx, &(sr_table_view){.rows = 3000, .features = 2, .x = v->x}, "time");
  sr_dependence *with =
      diagnose_view(ctx, &(sr_table_view){.rows = 3000, .features = 4, .x = x}, "time");
  assert_same_diagnosis(plain, with);
  assert_true(warns(with, "1 of 4 features never vary"));
  assert_true(warns(with, "1 of 4 features have no value"));
  assert_int_equal(sr_dependence_get(with)->used_features, 2);
  sr_dependence_free(&plain);
  sr_dependence_free(&with);
  for (int64_t i = 0; i < 3000; i++) x[i] = 1.0F;
  plain = diagnose_view(ctx, &(sr_table_view){.rows = 3000, .features = 1, .x = x}, "time");
  assert_unknown(plain);
  assert_true(warns(plain, "no feature varies"));
  sr_dependence_free(&plain);
  free(x);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void test_one_class(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  static const char *names[] = {"no", "yes"};
  float x[50];
  int32_t label[50];
  for (int i = 0; i < 50; i++) {
    x[i] = (float)(i * 37 % 50);
    label[i] = 1;
  }
  sr_table_view view = {.rows = 50, .features = 1, .x = x, .label = label, .classes = {2, names}};
  sr_dependence *d = diagnose_view(ctx, &view, "time");
  assert_true(warns(d, "one class (yes)"));
  sr_dependence_free(&d);
  for (int i = 0; i < 50; i++) label[i] = -1;
  d = diagnose_view(ctx, &view, "time");
  assert_true(warns(d, "no row has a label"));
  sr_dependence_free(&d);
  sr_context_free(&ctx);
}

/* A tenth of the values missing at random moves T by little, and it is said. */
static void test_missing(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  enum { N = 20000 };
  sr_table *table = chain(ctx, N, 2, 20.0, 4);
  float *x = malloc(2 * N * sizeof *x);
  double *u = malloc(2 * N * sizeof *u);
  sr_random_uniform(9, 0, 0, 2 * N, u);
  for (int64_t i = 0; i < 2 * N; i++) x[i] = u[i] < 0.1 ? NAN : sr_table_get(table)->x[i];
  sr_dependence *d = diagnose_view(ctx, &(sr_table_view){.rows = N, .features = 2, .x = x}, "time");
  const sr_dependence_view *v = sr_dependence_get(d);
  assert_true(warns(d, "10 % of the values are missing"));
  assert_true(v->tmix.estimate > 12.0 && v->tmix.estimate < 28.0);
  for (int32_t i = 0; i < v->scale_count; i++) /* pairs with a gap do not count */
    if (strcmp(v->scales[i].method, "pooled-lag1") == 0)
      assert_close(v->scales[i].estimate, 20.0, 0.1);
  sr_dependence_free(&d);
  free(x);
  free(u);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void test_arguments(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = chain(ctx, 100, 1, 2.0, 1);
  sr_dependence_options options;
  sr_dependence *d = NULL;
  sr_dependence_options_init(&options);
  options.level = 1.0;
  assert_int_equal(sr_dependence_estimate(ctx, table, NULL, &options, 1, &d), SR_ERROR_ARGUMENT);
  assert_null(d);
  sr_table *other = chain(ctx, 50, 1, 2.0, 1);
  sr_graph *graph = NULL;
  assert_ok(ctx, sr_graph_build(ctx, other, "time", 1, &graph));
  assert_int_equal(sr_dependence_estimate(ctx, table, graph, NULL, 1, &d), SR_ERROR_ARGUMENT);
  assert_null(d);
  sr_graph_free(&graph);
  sr_table_free(&other);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Nothing is estimated of rows that are said to be independent, few or many. */
static void test_independent(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int64_t n = 5; n <= 500; n += 495) {
    sr_table *table = chain(ctx, n, 1, 20.0, 1);
    sr_dependence *d = diagnose(ctx, table, "none");
    const sr_dependence_view *v = sr_dependence_get(d);
    assert_true(v->tmix.estimate == 1.0 && v->tmix.low == 1.0 && v->tmix.high == 1.0);
    assert_true(v->ess == (double)n);
    assert_int_equal(v->warning_count, 0);
    sr_dependence_free(&d);
    assert_ok(ctx, sr_dependence_estimate(ctx, table, NULL, NULL, 1, &d)); /* by order */
    assert_string_equal(sr_dependence_get(d)->graph, "time");
    sr_dependence_free(&d);
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

/* ---- invariances -------------------------------------------------------------------------- */

/* Units, signs and the order of the features mean nothing. */
static void test_units(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  enum { N = 4000 };
  sr_table *table = chain(ctx, N, 2, 15.0, 6);
  const float *x = sr_table_get(table)->x;
  float *y = malloc(2 * N * sizeof *y);
  for (int64_t i = 0; i < N; i++) {
    y[i] = -3.0F * x[N + i] + 100.0F;
    y[N + i] = 0.01F * x[i];
  }
  sr_dependence *a = diagnose_view(ctx, &(sr_table_view){.rows = N, .features = 2, .x = x}, "time");
  sr_dependence *b = diagnose_view(ctx, &(sr_table_view){.rows = N, .features = 2, .x = y}, "time");
  assert_close(sr_dependence_get(b)->tmix.estimate, sr_dependence_get(a)->tmix.estimate, 0.02);
  assert_close(sr_dependence_get(b)->iact_pooled, sr_dependence_get(a)->iact_pooled, 1e-4);
  sr_dependence_free(&a);
  sr_dependence_free(&b);
  free(y);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Two runs one after the other or row by row in turn: the same diagnosis, because groups are never
 * joined. */
static void test_groups(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  enum { N = 4000, HALF = N / 2 };
  static const char *names[] = {"a", "b"};
  sr_table *table = chain(ctx, N, 1, 15.0, 6);
  const float *x = sr_table_get(table)->x;
  float *mixed = malloc(N * sizeof *mixed);
  int32_t *group = malloc(2 * N * sizeof *group), *in_turn = group + N;
  for (int64_t i = 0; i < N; i++) {
    group[i] = i >= HALF;
    in_turn[i] = i % 2;
    mixed[i] = x[i % 2 * HALF + i / 2];
  }
  sr_table_view view = {.rows = N, .features = 1, .x = x, .group = group, .groups = {2, names}};
  sr_dependence *a = diagnose_view(ctx, &view, "time");
  view.x = mixed;
  view.group = in_turn;
  sr_dependence *b = diagnose_view(ctx, &view, "time");
  assert_same_diagnosis(a, b);
  assert_int_equal(sr_dependence_get(a)->groups, 2);
  for (int64_t i = HALF; i < N; i++) mixed[i] = x[i] + 10.0F; /* runs of their own level */
  memcpy(mixed, x, HALF * sizeof *mixed);
  view.x = mixed;
  view.group = group;
  sr_dependence *c = diagnose_view(ctx, &view, "time");
  assert_true(warns(c, "between the 2 groups"));
  assert_false(warns(a, "between the 2 groups"));
  sr_dependence_free(&a);
  sr_dependence_free(&b);
  sr_dependence_free(&c);
  free(mixed);
  free(group);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- advice ------------------------------------------------------------------------------- */

static void test_advice(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_table *still = chain(ctx, 5000, 3, 1.0, 1);
  sr_table *slow = chain(ctx, 2000, 3, 400.0, 1);
  sr_table *moving = test_simulate(ctx, 1, "drift:n=5000,d=3,tmix=5,drift=3");
  sr_table *steady = chain(ctx, 5000, 3, 5.0, 1);
  sr_dependence *a = diagnose(ctx, still, "time"), *b = diagnose(ctx, slow, "time");
  sr_dependence *c = diagnose(ctx, moving, "time"), *d = diagnose(ctx, steady, "time");
  assert_true(warns(b, "more than a twentieth"));
  assert_true(warns(c, "not stationary"));
  assert_false(warns(d, "not stationary"));
  assert_close(fabs(sr_dependence_get(c)->drift), 3.0 / sqrt(1.0 + 9.0 / 12.0), 0.15);
  assert_true(sr_dependence_get(b)->sample_condition < 1.0);
  const sr_dependence_view *v = sr_dependence_get(d);
  assert_close(v->sample_condition, 5000.0 / (pow(v->tmix.estimate, 3.0) * log(5000.0)), 1e-12);
  sr_dependence_free(&a);
  sr_dependence_free(&b);
  sr_dependence_free(&c);
  sr_dependence_free(&d);
  sr_table_free(&still);
  sr_table_free(&slow);
  sr_table_free(&moving);
  sr_table_free(&steady);
  sr_context_free(&ctx);
}

/* A day of 48 rows on top of noise: the season is named and left out of T. */
static void test_season(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  enum { N = 20000 };
  double *noise = malloc(N * sizeof *noise);
  float *x = malloc(N * sizeof *x);
  sr_random_normal(3, 0, 0, N, noise);
  for (int64_t i = 0; i < N; i++) {
    double angle = 2.0 * 3.14159265358979323846 * (double)(i % 48) / 48.0;
    x[i] = (float)(exp(2.0 * cos(angle)) + 0.5 * noise[i]);
  }
  sr_dependence *d = diagnose_view(ctx, &(sr_table_view){.rows = N, .features = 1, .x = x}, "time");
  const sr_dependence_view *v = sr_dependence_get(d);
  assert_true(v->tmix.estimate < 48.0);
  assert_true(fabs(v->period - 48.0) <= 2.0);
  sr_dependence_free(&d);
  free(noise);
  free(x);
  sr_context_free(&ctx);
}

static void test_theory(void **state) {
  (void)state;
  sr_theory t = sr_theory_bounds(50.0, 50000.0, 2.0);
  assert_close(t.minimax, 0.03162277660168379, 1e-15);
  assert_close(t.bagging, 0.22360679774997896, 1e-15);
  assert_close(t.drift, 0.002, 1e-15);
  assert_close(t.sample_condition, 50000.0 / (125000.0 * log(50000.0)), 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_threads),         cmocka_unit_test(test_allocation),
      cmocka_unit_test(test_few_rows),        cmocka_unit_test(test_small_tables),
      cmocka_unit_test(test_useless_columns), cmocka_unit_test(test_one_class),
      cmocka_unit_test(test_missing),         cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_independent),     cmocka_unit_test(test_units),
      cmocka_unit_test(test_groups),          cmocka_unit_test(test_advice),
      cmocka_unit_test(test_season),          cmocka_unit_test(test_theory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
