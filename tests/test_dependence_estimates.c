/* The estimators against exact gaps, closed forms and slow references. SR_FULL=1 runs the whole
 * coverage study of 50 seeds a cell. */
#include <math.h>

#include "core/random.h"
#include "dependence/dependence.h"
#include "harness.h"

static const double PI = 3.14159265358979323846;

static int full(void) {
  const char *text = getenv("SR_FULL");
  return text && text[0] == '1';
}

static sr_table *chain(sr_context *ctx, int64_t n, int32_t d, double tmix, uint64_t seed) {
  return test_simulate(ctx, seed, "ar1:n=%lld,d=%d,tmix=%.17g", (long long)n, d, tmix);
}

static sr_table *table_of(sr_context *ctx, int64_t n, int32_t d, const float *x) {
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &(sr_table_view){.rows = n, .features = d, .x = x}, &table));
  return table;
}

static sr_dependence *diagnose(sr_context *ctx, sr_table *table, const char *graph) {
  sr_dependence *dependence = NULL;
  sr_graph *built = NULL;
  if (graph) assert_ok(ctx, sr_graph_build(ctx, table, graph, 1, &built));
  assert_ok(ctx, sr_dependence_estimate(ctx, table, built, NULL, 1, &dependence));
  sr_graph_free(&built);
  sr_table_free(&table);
  return dependence;
}

static sr_scale scale_named(const sr_dependence *d, const char *method) {
  const sr_dependence_view *v = sr_dependence_get(d);
  for (int32_t i = 0; i < v->scale_count; i++)
    if (strcmp(v->scales[i].method, method) == 0) return v->scales[i];
  fail_msg("no estimate called %s", method);
  return (sr_scale){0};
}

/* A single run may miss its 90 % interval, but not by as much again. */
static void assert_near_interval(sr_scale scale, double truth) {
  double half = 0.5 * log(scale.high / scale.low);
  assert_true(fabs(log(scale.estimate / truth)) <= 2.0 * half);
}

/* ---- the Gaussian AR(1) ------------------------------------------------------------------- */

typedef struct tally {
  int runs, covered;
  double mean;
} tally;

static tally run_cell(int32_t d, double tmix, const char *method, int seeds) {
  tally t = {0};
  sr_context *ctx = test_context(0);
  for (int seed = 1; seed <= seeds; seed++) {
    sr_dependence *found = diagnose(ctx, chain(ctx, 50000, d, tmix, (uint64_t)seed), "time");
    sr_scale scale = method ? scale_named(found, method) : sr_dependence_get(found)->tmix;
    t.runs++;
    t.covered += scale.low <= tmix && tmix <= scale.high;
    t.mean += scale.estimate / tmix / seeds;
    sr_dependence_free(&found);
  }
  sr_context_free(&ctx);
  return t;
}

/* One run may be off by four standard errors at the information limit, and by 3 %. */
static void test_ar1(void **state) {
  (void)state;
  static const int32_t dimensions[] = {1, 5, 20};
  static const double times[] = {1.0, 10.0, 50.0, 200.0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) {
      tally t = run_cell(dimensions[i], times[j], "slow-graph", 1);
      assert_close(t.mean, 1.0, 0.05 + 4.0 * sqrt(2.0 * times[j] / 50000.0));
    }
}

/* What is trusted is the largest of the reaches of all features and sizes: it may not be too short,
 * and is too long by what the largest of so many lies above the middle one. */
static void test_reach_of_ar1(void **state) {
  (void)state;
  static const int32_t dimensions[] = {1, 5, 20};
  static const double times[] = {1.0, 10.0, 50.0, 200.0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) {
      tally t = run_cell(dimensions[i], times[j], NULL, 1);
      if (times[j] == 1.0)
        assert_close(t.mean, 1.0, 0.0);
      else
        assert_true(t.mean > 0.6 && t.mean < 1.9);
    }
}

static void test_coverage(void **state) {
  (void)state;
  if (!full()) skip();
  static const int32_t dimensions[] = {1, 2, 5, 10, 20};
  static const double times[] = {1.0, 10.0, 50.0, 200.0};
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 4; j++) {
      tally t = run_cell(dimensions[i], times[j], "slow-graph", 50);
      print_message("d %d T %g: mean %.3f covered %d of %d\n", dimensions[i], times[j], t.mean,
                    t.covered, t.runs);
      assert_true(t.covered >= 40);
      assert_close(t.mean, 1.0, 0.1);
    }
}

static void test_one_slow_coordinate(void **state) {
  (void)state;
  sr_context *ctx = test_context(0);
  enum { N = 50000 };
  static const int32_t dimensions[] = {5, 20};
  for (int i = 0; i < 2; i++) {
    int32_t d = dimensions[i];
    float *x = malloc((size_t)N * (size_t)d * sizeof *x);
    sr_table *slow = chain(ctx, N, 1, 50.0, 11);
    sr_table *fast = chain(ctx, N, d, 1.0, 12);
    memcpy(x, sr_table_get(fast)->x, (size_t)N * (size_t)d * sizeof *x);
    memcpy(x + (d - 1) * N, sr_table_get(slow)->x, (size_t)N * sizeof *x);
    sr_dependence *found = diagnose(ctx, table_of(ctx, N, d, x), "time");
    const sr_dependence_view *v = sr_dependence_get(found);
    assert_close(v->tmix.estimate, 50.0, 0.18);
    assert_near_interval(v->tmix, 50.0);
    assert_true(scale_named(found, "pooled-lag1").estimate < 2.0); /* the mean hides it */
    assert_close(v->ess, N / 99.0, 0.4);
    sr_dependence_free(&found);
    sr_table_free(&slow);
    sr_table_free(&fast);
    free(x);
  }
  sr_context_free(&ctx);
}

/* ---- chains with an exact gap --------------------------------------------------------------- */

/* Left with probabilities p and q: eigenvalue 1 - p - q. The reference counts transitions itself.
 */
static void test_two_states(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  enum { N = 50000 };
  float *x = malloc(N * sizeof *x);
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_TEST, 0, 0);
  x[0] = 0.0F;
  for (int64_t t = 1; t < N; t++) {
    double leave = x[t - 1] > 0.5F ? 0.02 : 0.05;
    x[t] = sr__random_uniform(&random) < leave ? 1.0F - x[t - 1] : x[t - 1];
  }
  sr_dependence *found = diagnose(ctx, table_of(ctx, N, 1, x), "time");
  sr_scale scale = scale_named(found, "slow-graph");
  double truth = 1.0 / 0.07, lambda = 0.0;
  assert_close(scale.estimate, truth, 0.1);
  assert_near_interval(scale, truth);
  for (int half = 0; half < 2; half++) { /* reversible two-state graph: 1 - w01/d0 - w01/d1 */
    double w01 = 0.0, degree[2] = {0};
    for (int64_t t = half * N / 2; t + 1 < (half + 1) * N / 2; t++) {
      w01 += x[t] == x[t + 1] ? 0.0 : 0.5;
      degree[(int)x[t]] += 0.5;
      degree[(int)x[t + 1]] += 0.5;
    }
    lambda += 0.5 * (1.0 - w01 / degree[0] - w01 / degree[1]);
  }
  assert_close(scale.estimate, 1.0 / (1.0 - lambda), 1e-9);
  assert_close(sr_dependence_get(found)->lambda2, 1.0 - lambda, 1e-9);
  sr_dependence_free(&found);
  free(x);
  sr_context_free(&ctx);
}

/* A lazy walk on a ring of 16 states, seen as (cos, sin). */
static void test_ring(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  enum { N = 50000, STATES = 16 };
  float *x = malloc(2 * N * sizeof *x);
  sr__random random;
  sr__random_init(&random, 2, SR_PURPOSE_TEST, 0, 0);
  uint64_t at = 0;
  for (int64_t t = 0; t < N; t++) {
    x[t] = (float)cos(2.0 * PI * (double)at / STATES);
    x[N + t] = (float)sin(2.0 * PI * (double)at / STATES);
    uint64_t move = sr__random_below(&random, 4);
    if (move < 2) at = (at + (move ? 1 : STATES - 1)) % STATES;
  }
  double truth = 2.0 / (1.0 - cos(2.0 * PI / STATES));
  sr_dependence *found = diagnose(ctx, table_of(ctx, N, 2, x), "time");
  assert_close(sr_dependence_get(found)->tmix.estimate, truth, 0.1);
  assert_close(scale_named(found, "pooled-lag1").estimate, truth, 0.05);
  sr_dependence_free(&found);
  free(x);
  sr_context_free(&ctx);
}

/* AR(1) under heavy measurement noise: one step says T = 1.4, the memory is 50 rows long. */
static void test_hidden_chain(void **state) {
  (void)state;
  sr_context *ctx = test_context(0);
  enum { N = 50000 };
  sr_table *slow = chain(ctx, N, 1, 50.0, 3);
  float *x = malloc(N * sizeof *x);
  double *noise = malloc(N * sizeof *noise);
  sr_random_normal(4, 0, 0, N, noise);
  for (int64_t t = 0; t < N; t++) x[t] = sr_table_get(slow)->x[t] + 1.5F * (float)noise[t];
  sr_dependence *found = diagnose(ctx, table_of(ctx, N, 1, x), "time");
  const sr_dependence_view *v = sr_dependence_get(found);
  /* 1 + 2 sum rho_k = 1 + 98 / 3.25; T = (iact + 1) / 2 */
  assert_close(scale_named(found, "slow-geyer").estimate, 1.0 + 49.0 / 3.25, 0.25);
  /* the reach is not fooled by noise: it is T of the chain below it */
  assert_string_equal(v->tmix.method, "reach-features");
  assert_true(v->tmix.estimate > 30.0 && v->tmix.estimate < 90.0);
  assert_true(v->implied_timescale[0] < 3.0 && v->implied_timescale[v->implied_count - 1] > 5.0);
  sr_dependence_free(&found);
  free(x);
  free(noise);
  sr_table_free(&slow);
  sr_context_free(&ctx);
}

/* ---- fields ------------------------------------------------------------------------------- */

/* Mean over a square lattice of sum_j rho^(|dr| + |dc|), cell by cell. */
static double lattice_nodes(int64_t side, double range) {
  double rho = exp(-1.0 / range), sum = 0.0;
  for (int64_t a = 0; a < side; a++)
    for (int64_t b = 0; b < side; b++) sum += pow(rho, (double)llabs(a - b));
  return sum / (double)side * (sum / (double)side);
}

static void test_fields(void **state) {
  (void)state;
  sr_context *ctx = test_context(0);
  static const double ranges[] = {1.0, 3.0, 8.0};
  for (int i = 0; i < 3; i++) {
    sr_table *table = test_simulate(ctx, 5, "grid:n=22500,d=4,range=%.17g", ranges[i]);
    sr_dependence *found = diagnose(ctx, table, "grid");
    const sr_dependence_view *v = sr_dependence_get(found);
    double truth = lattice_nodes(150, ranges[i]);
    assert_close(v->range / ranges[i], 1.0, 0.1);
    assert_close(v->tmix.estimate / truth, 1.0, 0.2);
    assert_true(v->tmix.low <= truth * 1.05 && truth * 0.95 <= v->tmix.high);
    sr_dependence_free(&found);
  }
  sr_context_free(&ctx);
}

/* A graph of cliques of `size` nodes: a node is a share of what its clique has in common plus
 * noise, so that its correlations sum to 1 + (size - 1) share. */
static void test_many_pieces(void **state) {
  (void)state;
  enum { CLIQUES = 900 };
  sr_context *ctx = test_context(2);
  static const int sizes[] = {2, 5, 9};
  static const double shares[] = {0.5, 0.8, 1.0};
  for (int c = 0; c < 9; c++) {
    int size = sizes[c / 3];
    double share = shares[c % 3];
    int64_t n = (int64_t)CLIQUES * size;
    float *x = malloc((size_t)n * sizeof *x);
    double *place = malloc((size_t)(2 * n) * sizeof *place);
    sr__random random;
    sr__random_init(&random, 12, SR_PURPOSE_TEST, 0, (uint64_t)c);
    for (int64_t i = 0; i < n; i += size) {
      double common = sr__random_normal(&random);
      for (int64_t j = i; j < i + size; j++) {
        x[j] = (float)(sqrt(share) * common + sqrt(1.0 - share) * sr__random_normal(&random));
        place[j] = (double)(i / size % 30) + 0.01 * sr__random_uniform(&random);
        place[n + j] = (double)(i / size / 30) + 0.01 * sr__random_uniform(&random);
      }
    }
    sr_table_view view = {
        .rows = n, .features = 1, .x = x, .coordinate_count = 2, .coordinates = place};
    sr_table *table = NULL;
    char graph[16];
    snprintf(graph, sizeof graph, "space:%d", size - 1);
    assert_ok(ctx, sr_table_new(ctx, &view, &table));
    sr_dependence *found = diagnose(ctx, table, graph);
    sr_scale scale = sr_dependence_get(found)->tmix;
    double truth = 1.0 + (size - 1) * share;
    assert_close(scale.estimate / truth, 1.0, 0.1);
    assert_true(isfinite(scale.low) && scale.low <= scale.estimate);
    assert_true(isfinite(scale.high) && scale.high >= scale.estimate);
    for (int32_t s = 0; s < sr_dependence_get(found)->scale_count; s++)
      assert_false(isnan(sr_dependence_get(found)->scales[s].estimate));
    sr_dependence_free(&found);
    free(x);
    free(place);
  }
  sr_context_free(&ctx);
}

/* ---- references --------------------------------------------------------------------------- */

static void test_lags_reference(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  enum { N = 700 };
  sr_table *table = chain(ctx, N, 2, 4.0, 8);
  const sr_table_view *view = sr_table_get(table);
  sr__rows rows;
  sr__columns columns;
  sr__lags lags;
  sr__integrated integrated;
  assert_ok(ctx, sr__rows_gather(ctx, view, &rows));
  assert_ok(ctx, sr__columns_standardize(ctx, view, rows.order, &columns));
  assert_ok(ctx, sr__lags_measure(ctx, &rows, &columns, &lags, &integrated));
  for (int32_t i = 1; i < lags.count; i++) {
    int64_t lag = sr__lag_at(i), pairs = 0;
    double sum = 0.0;
    for (int j = 0; j < 2; j++)
      for (int64_t t = 0; t + lag < N; t++) {
        if (t < rows.cut && t + lag >= rows.cut) continue; /* the halves are apart */
        sum += (double)columns.value[j * N + t] * (double)columns.value[j * N + t + lag];
        pairs++;
      }
    assert_close(sr__lags_correlation(&lags, i, -1), sum / (double)pairs, 1e-5);
  }
  double expected = 0.0, least = 1e300; /* Geyer, straight from his definition */
  for (int32_t m = 0; 2 * m + 1 < lags.count && sr__lag_at(2 * m + 1) == 2 * m + 1; m++) {
    double pair =
        sr__lags_correlation(&lags, 2 * m, -1) + sr__lags_correlation(&lags, 2 * m + 1, -1);
    if (pair <= 0.0) break;
    least = fmin(least, pair);
    expected += least;
  }
  assert_true(integrated.finished);
  assert_close(integrated.iact, 2.0 * expected - 1.0, 1e-9);
  sr__lags_free(ctx, &lags);
  sr__columns_free(ctx, &columns);
  sr__rows_free(ctx, &rows);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void test_lag_grid(void **state) {
  (void)state;
  for (int32_t i = 0; i < 300; i++) assert_true(sr__lag_at(i) < sr__lag_at(i + 1));
  assert_int_equal(sr__lag_at(32), 32);
  assert_int_equal(sr__lag_at(33), 34);
  assert_int_equal(sr__lag_at(48), 64);
  assert_int_equal(sr__lag_index_limit(33), 33);
}

/* Path with free ends: eigenvalues 2 cos(k pi / (n + 1)). */
static void test_symmetric_top(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  enum { SIZE = 40 };
  double matrix[SIZE * SIZE] = {0}, value[3], vector[3 * SIZE];
  for (int i = 0; i + 1 < SIZE; i++) matrix[i * SIZE + i + 1] = matrix[(i + 1) * SIZE + i] = 1.0;
  assert_ok(ctx, sr__symmetric_top(ctx, matrix, SIZE, 3, value, vector));
  for (int k = 0; k < 3; k++) {
    assert_close(value[k], 2.0 * cos((k + 1) * PI / (SIZE + 1)), 1e-12);
    for (int i = 1; i + 1 < SIZE; i++)
      assert_close(vector[k * SIZE + i - 1] + vector[k * SIZE + i + 1],
                   value[k] * vector[k * SIZE + i], 1e-10);
  }
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ar1),          cmocka_unit_test(test_reach_of_ar1),
      cmocka_unit_test(test_coverage),     cmocka_unit_test(test_one_slow_coordinate),
      cmocka_unit_test(test_two_states),   cmocka_unit_test(test_ring),
      cmocka_unit_test(test_hidden_chain), cmocka_unit_test(test_fields),
      cmocka_unit_test(test_many_pieces),  cmocka_unit_test(test_lags_reference),
      cmocka_unit_test(test_lag_grid),     cmocka_unit_test(test_symmetric_top)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
