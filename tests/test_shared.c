/* What members share, against what is so: gains that are told against gains that come, and the
 * shared law against members that were trained on streams of their own. */
#include <math.h>

#include "core/random.h"
#include "harness.h"

enum { N = 1500, D = 3, MEMBERS = 20, STREAMS = 4, FRESH = 3000 };

/* First-order chains of unit variance with T rows of memory; noise on a bent rule. */
static sr_table *stream(sr_context *ctx, int64_t n, double tmix, double noise_tmix, uint64_t seed) {
  static const char *const names[] = {"a", "b"};
  float *x = malloc(sizeof *x * (size_t)(n * D));
  int32_t *label = malloc(sizeof *label * (size_t)n);
  double state[D + 1] = {0}, scale[D + 1];
  sr__random r;
  sr_table *table = NULL;
  sr__random_init(&r, seed, SR_PURPOSE_TEST, 0, 0);
  for (int j = 0; j <= D; j++) scale[j] = 1.0 - 1.0 / (j < D ? tmix : noise_tmix);
  for (int64_t i = -200; i < n; i++) {
    for (int j = 0; j <= D; j++)
      state[j] = scale[j] * state[j] + sqrt(1.0 - scale[j] * scale[j]) * sr__random_normal(&r);
    if (i < 0) continue;
    for (int j = 0; j < D; j++) x[j * n + i] = (float)state[j];
    label[i] = state[0] * state[0] - 0.8 + state[1] + 0.7 * state[D] > 0.0;
  }
  sr_table_view view = {.rows = n, .features = D, .x = x, .label = label, .classes = {2, names}};
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  free(x);
  free(label);
  return table;
}

static sr_evaluation train(sr_context *ctx, const sr_table *table, const char *plan,
                           int64_t members, int importance) {
  sr_ensemble *ensemble = NULL;
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = plan;
  options.members = members;
  options.evaluate.importance = importance;
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
  sr_evaluation e = *sr_ensemble_get(ensemble)->evaluation;
  sr_ensemble_free(&ensemble);
  return e;
}

/* Shares of the variance of the margin: told, and what a training of its own finds. */
static void gains_come_true(double tmix, double noise_tmix, double *shared) {
  sr_context *ctx = test_context(2);
  double told[3] = {0}, came[3] = {0};
  shared[0] = shared[1] = shared[2] = 0.0;
  for (uint64_t s = 0; s < STREAMS; s++) {
    sr_table *table = stream(ctx, N, tmix, noise_tmix, s + 1);
    sr_evaluation e = train(ctx, table, "uniform", MEMBERS, 1);
    double all = e.variance_of_margin * STREAMS;
    assert_close(e.shared_rows + e.shared_parts + e.shared_law, e.covariance, 1e-9);
    shared[0] += e.shared_rows / all;
    shared[1] += e.shared_parts / all;
    shared[2] += e.shared_law / all;
    told[0] += e.gain_members / all;
    told[1] += e.gain_bags / all;
    told[2] += e.gain_place / all;
    const char *plans[] = {"uniform", "routed:part_share=1,row_share=0.3", "routed:part_share=0.5"};
    for (int k = 0; k < 3; k++) {
      sr_evaluation other = train(ctx, table, plans[k], k == 0 ? 2 * MEMBERS : MEMBERS, 0);
      assert_true(isnan(other.shared_law) && isnan(other.gain_bags));
      came[k] += (e.variance_of_margin - other.variance_of_margin) / all;
    }
    sr_table_free(&table);
  }
  for (int k = 0; k < 3; k++) {
    if (fabs(told[k] - came[k]) >= 0.06) print_error("remedy %d: %g, %g\n", k, told[k], came[k]);
    assert_true(fabs(told[k] - came[k]) < 0.06);
  }
  sr_context_free(&ctx);
}

static void independent_rows_share_rows_alone(void **state) {
  (void)state;
  double shared[3];
  gains_come_true(1.0, 1.0, shared);
  assert_true(shared[0] > 0.08 && shared[1] < 0.03 && shared[2] > 0.6);
}

static void slow_rows_share_parts(void **state) {
  (void)state;
  double shared[3];
  gains_come_true(40.0, 1.0, shared);
  assert_true(shared[1] > 0.1 && shared[2] < 0.6);
}

static void slow_noise_is_shared_by_parts(void **state) {
  (void)state;
  double shared[3];
  gains_come_true(20.0, 20.0, shared);
  assert_true(shared[1] > 0.06);
}

/* Trees of two streams share nothing but the law. */
static void the_law_is_what_strangers_share(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  double told = 0.0, found = 0.0;
  sr_table *fresh = stream(ctx, FRESH, 1.0, 1.0, 99);
  const int32_t *label = sr_table_get(fresh)->label;
  int32_t *vote[2];
  for (int k = 0; k < 2; k++) vote[k] = malloc(sizeof *vote[k] * FRESH);
  for (uint64_t s = 0; s < STREAMS; s++) {
    for (int64_t member = 0; member < 4; member++) { /* forests of one tree */
      double mean[2] = {0}, product = 0.0;
      for (int k = 0; k < 2; k++) {
        sr_table *table = stream(ctx, N, 10.0, 1.0, 10 * s + 5 * (uint64_t)k + 1);
        sr_ensemble *one = NULL;
        sr_train_options options;
        sr_train_options_init(&options);
        options.plan = "uniform";
        options.members = 1;
        options.evaluate.evaluate = 0;
        assert_ok(ctx, sr_train(ctx, table, &options, (uint64_t)(member + 1), &one));
        assert_ok(ctx, sr_ensemble_predict(ctx, one, fresh, vote[k], NULL));
        sr_ensemble_free(&one);
        if (k == 0 && member == 0) {
          sr_evaluation e = train(ctx, table, "uniform", MEMBERS, 1);
          told += e.shared_law / STREAMS;
        }
        sr_table_free(&table);
      }
      for (int64_t i = 0; i < FRESH; i++) {
        double a = vote[0][i] == label[i] ? 1.0 : -1.0, b = vote[1][i] == label[i] ? 1.0 : -1.0;
        mean[0] += a / FRESH;
        mean[1] += b / FRESH;
        product += a * b / FRESH;
      }
      found += (product - mean[0] * mean[1]) / (4.0 * STREAMS);
    }
  }
  if (fabs(told - found) >= 0.08) print_error("told %g, found %g\n", told, found);
  assert_true(fabs(told - found) < 0.08);
  for (int k = 0; k < 2; k++) free(vote[k]);
  sr_table_free(&fresh);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(independent_rows_share_rows_alone),
      cmocka_unit_test(slow_rows_share_parts),
      cmocka_unit_test(slow_noise_is_shared_by_parts),
      cmocka_unit_test(the_law_is_what_strangers_share),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
