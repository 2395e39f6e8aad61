/* Elementary functions of our own: near the C library's in long double, and the same bits whatever
 * the machine. */
#include <math.h>

#include "core/maths.h"
#include "harness.h"

static double off_by(double found, long double wanted) {
  double near = fabs((double)wanted);
  return (double)(fabsl((long double)found - wanted) / (nextafter(near, INFINITY) - near));
}

static void values_are_near(void **state) {
  (void)state;
  enum { DRAWS = 20000 };
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_TEST, 0, 0);
  for (int i = 0; i < DRAWS; i++) {
    double x = 1400.0 * (sr__random_uniform(&random) - 0.5);
    double angle = 400.0 * (sr__random_uniform(&random) - 0.5);
    double base = exp(60.0 * (sr__random_uniform(&random) - 0.5));
    double power = 4.0 * (sr__random_uniform(&random) - 0.5);
    assert_true(off_by(sr__exp_portable(x), expl((long double)x)) < 2.0);
    assert_true(off_by(sr__sin_portable(angle), sinl((long double)angle)) < 2.0);
    assert_true(off_by(sr__cos_portable(angle), cosl((long double)angle)) < 2.0);
    assert_true(off_by(sr__cbrt_portable(base), cbrtl((long double)base)) < 2.0);
    assert_true(off_by(sr__log_portable(base), logl((long double)base)) < 2.0 ||
                fabs(log(base)) < 1e-3);
    double side = 2.0 * (sr__random_uniform(&random) - 0.5);
    assert_true(off_by(sr__asin_portable(side), asinl((long double)side)) < 2.0);
    double gamma = (double)lgammal((long double)base);
    assert_true(fabs(sr__lgamma_portable(base) - gamma) < 1e-14 * fmax(1.0, fabs(gamma)) ||
                base > 1e9 || base < 1e-9);
    assert_true(off_by(sr__pow_portable(base, power), powl((long double)base, (long double)power)) <
                2.0 * (1.0 + fabs(power * log(base))));
  }
}

static void ends_are_reached(void **state) {
  (void)state;
  assert_true(sr__exp_portable(0.0) == 1.0);
  assert_true(sr__lgamma_portable(1.0) == 0.0 && sr__lgamma_portable(2.0) == 0.0);
  assert_true(isinf(sr__exp_portable(800.0)) && sr__exp_portable(-800.0) == 0.0);
  assert_true(isnan(sr__exp_portable(NAN)));
  assert_true(sr__sin_portable(0.0) == 0.0 && sr__cos_portable(0.0) == 1.0);
  assert_true(sr__cbrt_portable(27.0) == 3.0 && sr__cbrt_portable(0.0) == 0.0);
  assert_true(sr__asin_portable(0.0) == 0.0 && sr__asin_portable(1.0) == asin(1.0));
  assert_true(sr__asin_portable(-1.0) == asin(-1.0) && isnan(sr__asin_portable(1.5)));
  assert_true(sr__log_portable(1.0) == 0.0);
  assert_true(isinf(sr__log_portable(0.0)) && isinf(sr__log_portable(INFINITY)));
  assert_true(isnan(sr__log_portable(-1.0)));
}

/* A hash of many values, so that another machine or compiler that gives other bits is seen. */
static void bits_are_known(void **state) {
  (void)state;
  uint64_t hash = 1469598103934665603u;
  for (int i = 1; i < 5000; i++) {
    double x = 0.0137 * i;
    double value[] = {sr__exp_portable(-x), sr__exp_portable(x), sr__sin_portable(x),
                      sr__cos_portable(x),  sr__log_portable(x), sr__cbrt_portable(x)};
    for (int k = 0; k < 6; k++) {
      uint64_t bits;
      memcpy(&bits, &value[k], sizeof bits);
      hash = (hash ^ bits) * 1099511628211u;
    }
  }
  assert_int_equal(hash, UINT64_C(0xb590391fbecbc502));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_near),
      cmocka_unit_test(ends_are_reached),
      cmocka_unit_test(bits_are_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
