/* Metrics of predicted classes: scikit-learn's numbers, slow definitions on random rows, what
 * cannot be told, memory failures. */
#include "harness.h"

#include <math.h>

/* Ten rows, three classes. Reference values:
 *   python3 -c "import numpy as np; from sklearn.metrics import *
 *   y=[0,0,0,1,1,1,2,2,2,2]; p=np.array([[.7,.2,.1],[.4,.5,.1],[.6,.3,.1],[.2,.7,.1],[.3,.3,.4],
 *     [.1,.8,.1],[.1,.2,.7],[.2,.2,.6],[.5,.1,.4],[.1,.1,.8]]); v=p.argmax(1)
 *   print(balanced_accuracy_score(y,v), f1_score(y,v,average='macro'),
 *     roc_auc_score(y,p,multi_class='ovr',average='macro'), log_loss(y,p), confusion_matrix(y,v))"
 */
static const int32_t truth[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 2};
static const int32_t vote[] = {0, 1, 0, 1, 2, 1, 2, 2, 0, 2};
static const float share[] = {.7f, .2f, .1f, .4f, .5f, .1f, .6f, .3f, .1f, .2f,
                              .7f, .1f, .3f, .3f, .4f, .1f, .8f, .1f, .1f, .2f,
                              .7f, .2f, .2f, .6f, .5f, .1f, .4f, .1f, .1f, .8f};

static void test_reference(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_metrics m;
  int64_t confusion[9];
  const sr_metrics_input input = {10, 3, truth, vote, share};
  assert_ok(ctx, sr_metrics_compute(ctx, &input, &m, confusion));
  const int64_t expected[] = {2, 1, 0, 0, 2, 1, 1, 0, 3};
  for (int k = 0; k < 9; k++) assert_int_equal(confusion[k], expected[k]);
  assert_int_equal(m.rows, 10);
  assert_close(m.error, 0.3, 1e-12);
  assert_close(m.balanced_accuracy, 0.6944444444444443, 1e-7);
  assert_close(m.macro_f1, 0.6944444444444443, 1e-7);
  assert_close(m.auc, 0.9533730158730158, 1e-7);
  assert_close(m.log_loss, 0.5574517450050844, 1e-6);
  assert_close(m.brier, 0.302, 1e-6);
  sr_context_free(&ctx);
}

/* The area by all pairs of rows, one against the rest. */
static double slow_auc(int64_t rows, int32_t classes, const int32_t *y, const float *p) {
  double sum = 0.0;
  int told = 0;
  for (int32_t c = 0; c < classes; c++) {
    double wins = 0.0, pairs = 0.0;
    for (int64_t i = 0; i < rows; i++) {
      for (int64_t k = 0; k < rows; k++) {
        if (y[i] != c || y[k] == c || y[k] < 0) continue;
        float a = p[i * classes + c], b = p[k * classes + c];
        wins += a > b ? 1.0 : a == b ? 0.5 : 0.0;
        pairs += 1.0;
      }
    }
    if (pairs == 0.0) continue;
    sum += wins / pairs;
    told++;
  }
  return told ? sum / told : NAN;
}

static void test_random_rows(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  uint64_t random = 7;
  for (int trial = 0; trial < 60; trial++) {
    int32_t classes = 1 + trial % 5;
    int64_t rows = 1 + trial * 2;
    int32_t y[120], v[120];
    float p[600];
    for (int64_t i = 0; i < rows; i++) {
      float total = 0.0f;
      for (int32_t c = 0; c < classes; c++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        p[i * classes + c] = (float)(random >> 60) + 1.0f; /* many ties */
        total += p[i * classes + c];
      }
      for (int32_t c = 0; c < classes; c++) p[i * classes + c] /= total;
      random = random * 6364136223846793005u + 1442695040888963407u;
      y[i] = (int32_t)((random >> 33) % (uint64_t)(classes + 1)) - 1;
      v[i] = (int32_t)((random >> 40) % (uint64_t)classes);
    }
    sr_metrics m;
    const sr_metrics_input input = {rows, classes, y, v, p};
    assert_ok(ctx, sr_metrics_compute(ctx, &input, &m, NULL));
    double slow = slow_auc(rows, classes, y, p);
    if (isnan(slow))
      assert_true(isnan(m.auc));
    else if (classes != 2) /* with two classes one side is told, see below */
      assert_close(m.auc, slow, 1e-9);
    int64_t wrong = 0, judged = 0;
    for (int64_t i = 0; i < rows; i++) {
      if (y[i] < 0) continue;
      judged++;
      wrong += y[i] != v[i];
    }
    assert_int_equal(m.rows, judged);
    if (judged) assert_close(m.error, (double)wrong / (double)judged, 1e-12);
  }
  sr_context_free(&ctx);
}

/* A perfect ranking has area 1 whatever the threshold; reversed it has 0; constant shares 1/2. */
static void test_two_classes(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int32_t y[] = {0, 0, 1, 1};
  const float good[] = {.9f, .1f, .8f, .2f, .7f, .3f, .6f, .4f};
  const float bad[] = {.6f, .4f, .7f, .3f, .8f, .2f, .9f, .1f};
  const float flat[] = {.5f, .5f, .5f, .5f, .5f, .5f, .5f, .5f};
  const float *const given[] = {good, bad, flat};
  const double expected[] = {1.0, 0.0, 0.5};
  for (int k = 0; k < 3; k++) {
    sr_metrics m;
    const sr_metrics_input input = {4, 2, y, y, given[k]};
    assert_ok(ctx, sr_metrics_compute(ctx, &input, &m, NULL));
    assert_close(m.auc, expected[k], 1e-12);
  }
  sr_context_free(&ctx);
}

static void test_what_cannot_be_told(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_metrics m;
  const int32_t none[] = {-1, -1}, zero[] = {0, 0};
  const sr_metrics_input empty = {2, 2, none, zero, NULL};
  assert_ok(ctx, sr_metrics_compute(ctx, &empty, &m, NULL));
  assert_int_equal(m.rows, 0);
  assert_true(isnan(m.error) && isnan(m.balanced_accuracy) && isnan(m.auc) && isnan(m.ece));
  const int32_t beyond[] = {0, 2};
  const sr_metrics_input wrong = {2, 2, zero, beyond, NULL};
  assert_int_equal(sr_metrics_compute(ctx, &wrong, &m, NULL), SR_ERROR_ARGUMENT);
  sr_context_free(&ctx);
}

static sr_status compute(sr_context *ctx, void *data) {
  (void)data;
  sr_metrics m;
  const sr_metrics_input input = {10, 3, truth, vote, share};
  return sr_metrics_compute(ctx, &input, &m, NULL);
}

static void test_memory_failures(void **state) {
  (void)state;
  test_every_allocation(compute, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reference),       cmocka_unit_test(test_random_rows),
      cmocka_unit_test(test_two_classes),     cmocka_unit_test(test_what_cannot_be_told),
      cmocka_unit_test(test_memory_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
