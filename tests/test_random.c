/* Streams against Random123's published vectors and closed-form moments. */
#include <math.h>

#include "core/random.h"
#include "harness.h"

/* kat_vectors of Random123: philox4x64 10, counter and key all zero. */
static void first_block_is_philox(void **state) {
  (void)state;
  sr__random random;
  sr__random_init(&random, 0, (sr__purpose)0, 0, 0);
  assert_int_equal(sr__random_bits(&random), 0x16554d9eca36314c);
  assert_int_equal(sr__random_bits(&random), 0xdb20fe9d672d0fdc);
  assert_int_equal(sr__random_bits(&random), 0xd7e772cee186176b);
  assert_int_equal(sr__random_bits(&random), 0x7e68b68aec7ba23b);
}

static void streams_differ_in_each_name(void **state) {
  (void)state;
  sr__random random;
  uint64_t first[5];
  uint64_t names[5][4] = {{1, 1, 0, 0}, {2, 1, 0, 0}, {1, 2, 0, 0}, {1, 1, 1, 0}, {1, 1, 0, 1}};
  for (int i = 0; i < 5; i++) {
    sr__random_init(&random, names[i][0], (sr__purpose)names[i][1], names[i][2], names[i][3]);
    first[i] = sr__random_bits(&random);
    for (int j = 0; j < i; j++) assert_int_not_equal(first[i], first[j]);
  }
}

/* scipy.stats.norm.ppf of these numbers. */
static void quantile_matches_scipy(void **state) {
  (void)state;
  assert_close(sr__normal_quantile(0.975), 1.959963984540054, 1e-14);
  assert_close(sr__normal_quantile(1e-10), -6.361340902404056, 1e-14);
  assert_close(sr__normal_quantile(0.3), -0.5244005127080409, 1e-14);
  assert_close(sr__normal_quantile(1 - 1e-4), 3.719016485455709, 1e-12);
  assert_close(sr__normal_quantile(0x1p-54), -8.292361075813595, 1e-13);
}

static void log_is_within_two_ulp(void **state) {
  (void)state;
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_TEST, 0, 0);
  for (int i = 0; i < 200000; i++) {
    double x =
        ldexp(sr__random_uniform(&random) + 0x1p-60, (int)sr__random_below(&random, 200) - 100);
    double expected = log(x);
    assert_true(fabs(sr__log_portable(x) - expected) <= 4.5e-16 * fmax(fabs(expected), 1e-3));
  }
}

/* Moments of 10^6 draws; six standard errors, so a false alarm is rarer than 1e-8 a check. */
static void moments_are_those_of_the_law(void **state) {
  (void)state;
  enum { N = 1000000 };
  sr__random random;
  sr__random_init(&random, 7, SR_PURPOSE_TEST, 0, 1);
  double sum = 0, square = 0, uniform = 0, geometric = 0;
  for (int i = 0; i < N; i++) {
    double z = sr__random_normal(&random);
    sum += z;
    square += z * z;
    uniform += sr__random_uniform(&random);
    geometric += (double)sr__random_geometric(&random, sr__geometric_rate(0.2));
  }
  assert_true(fabs(sum / N) < 6.0 / sqrt(N));
  assert_true(fabs(square / N - 1.0) < 6.0 * sqrt(2.0 / N));
  assert_true(fabs(uniform / N - 0.5) < 6.0 / sqrt(12.0 * N));
  assert_true(fabs(geometric / N - 5.0) < 6.0 * sqrt(20.0 / N));
}

static void below_is_uniform(void **state) {
  (void)state;
  enum { N = 700000, BOUND = 7 };
  int64_t count[BOUND] = {0};
  sr__random random;
  sr__random_init(&random, 3, SR_PURPOSE_TEST, 0, 2);
  for (int i = 0; i < N; i++) count[sr__random_below(&random, BOUND)]++;
  double chi = 0, expected = (double)N / BOUND;
  for (int b = 0; b < BOUND; b++) chi += (count[b] - expected) * (count[b] - expected) / expected;
  assert_true(chi < 42.0); /* chi-square, 6 degrees: upper tail 2e-7 */
}

static void samples_are_distinct_sorted_and_fair(void **state) {
  (void)state;
  enum { N = 20, K = 5, ROUNDS = 40000 };
  uint64_t bitmap[1];
  int32_t values[K];
  int64_t count[N] = {0};
  for (int round = 0; round < ROUNDS; round++) {
    sr__random random;
    sr__random_init(&random, 5, SR_PURPOSE_TEST, (uint64_t)round, 3);
    sr__random_sample(&random, N, K, bitmap, values);
    for (int i = 0; i < K; i++) {
      assert_true(values[i] >= 0 && values[i] < N && (i == 0 || values[i] > values[i - 1]));
      count[values[i]]++;
    }
  }
  /* Each value is in a sample with probability 1/4: six standard deviations. */
  for (int v = 0; v < N; v++)
    assert_true(fabs(count[v] - ROUNDS / 4.0) < 6.0 * sqrt(ROUNDS * 3.0 / 16.0));
}

static void shuffles_are_permutations(void **state) {
  (void)state;
  enum { N = 1000 };
  int32_t values[N];
  bool seen[N] = {false};
  for (int i = 0; i < N; i++) values[i] = i;
  sr__random random;
  sr__random_init(&random, 9, SR_PURPOSE_TEST, 0, 4);
  sr__random_shuffle(&random, values, N);
  for (int i = 0; i < N; i++) {
    assert_false(seen[values[i]]);
    seen[values[i]] = true;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(first_block_is_philox),
      cmocka_unit_test(streams_differ_in_each_name),
      cmocka_unit_test(quantile_matches_scipy),
      cmocka_unit_test(log_is_within_two_ulp),
      cmocka_unit_test(moments_are_those_of_the_law),
      cmocka_unit_test(below_is_uniform),
      cmocka_unit_test(samples_are_distinct_sorted_and_fair),
      cmocka_unit_test(shuffles_are_permutations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
