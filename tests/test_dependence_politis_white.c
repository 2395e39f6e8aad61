/* Block lengths against arch and against a plain transcription of the other rule. */
#include <math.h>

#include "harness.h"

/* The series of tests/data/politis_white.py. */
static float *make_series(int64_t n, double phi) {
  float *out = malloc((size_t)n * sizeof *out);
  uint32_t state = 12345;
  double x = 0.0;
  for (int64_t t = 0; t < n; t++) {
    state = 1664525u * state + 1013904223u;
    x = phi * x + (state / 4294967296.0 - 0.5);
    out[t] = (float)x;
  }
  return out;
}

/* python3 tests/data/politis_white.py, arch 8.0.0 */
static const struct {
  int64_t n;
  double phi, arch_stationary, arch_circular, np_stationary, np_circular;
  int saturated;
} reference[] = {{200, 0.0, 1.807838, 2.069458, 1.807838, 2.069458, 0},
                 {500, 0.5, 8.324192, 9.528821, 8.324192, 9.528821, 0},
                 {2000, 0.9, 63.791846, 73.023434, 63.791846, 73.023434, 0},
                 {2000, -0.6, 16.334307, 18.698114, 6.189148, 7.084805, 0},
                 {5000, 0.98, 138.252590, 158.259709, 138.252590, 158.259709, 1},
                 {5000, 0.999, 161.041599, 184.346612, 161.041599, 184.346612, 1}};

static void test_reference(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (size_t i = 0; i < sizeof reference / sizeof *reference; i++) {
    float *x = make_series(reference[i].n, reference[i].phi);
    sr_politis_white arch, np;
    assert_ok(ctx, sr_politis_white_length(ctx, x, reference[i].n, SR_POLITIS_WHITE_ARCH, &arch));
    assert_ok(ctx, sr_politis_white_length(ctx, x, reference[i].n, SR_POLITIS_WHITE_NP, &np));
    /* Products are formed in float: six digits. */
    assert_close(arch.stationary, reference[i].arch_stationary, 1e-5);
    assert_close(arch.circular, reference[i].arch_circular, 1e-5);
    assert_close(np.stationary, reference[i].np_stationary, 1e-5);
    assert_close(np.circular, reference[i].np_circular, 1e-5);
    assert_int_equal(arch.saturated, reference[i].saturated);
    free(x);
  }
  sr_context_free(&ctx);
}

static void test_refusals(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_politis_white length;
  float x[20] = {0};
  assert_int_equal(sr_politis_white_length(ctx, x, 9, SR_POLITIS_WHITE_ARCH, &length),
                   SR_ERROR_ARGUMENT);
  assert_ok(ctx, sr_politis_white_length(ctx, x, 20, SR_POLITIS_WHITE_ARCH, &length));
  assert_true(isnan(length.stationary));
  x[3] = NAN;
  assert_int_equal(sr_politis_white_length(ctx, x, 20, SR_POLITIS_WHITE_NP, &length),
                   SR_ERROR_ARGUMENT);
  assert_non_null(strstr(sr_context_error(ctx).message, "value 4"));
  sr_context_free(&ctx);
}

static sr_status body(sr_context *ctx, void *data) {
  sr_politis_white length;
  return sr_politis_white_length(ctx, data, 200, SR_POLITIS_WHITE_NP, &length);
}

static void test_allocation(void **state) {
  (void)state;
  float *x = make_series(200, 0.5);
  test_every_allocation(body, x);
  free(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference),
                                     cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_allocation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
