/* Numbers against the C library: random digits, random bit patterns, half-way cases, the ends. */
#include <float.h>
#include <math.h>

#include "core/random.h"
#include "data/parse_number.h"
#include "harness.h"

static void same_as_library(const char *text) {
  char padded[1200];
  snprintf(padded, sizeof padded, "%s,----------------", text);
  double expected = strtod(text, NULL), value = 0;
  float expected_float = strtof(text, NULL), value_float = 0;
  const char *end = sr__parse_double(padded, &value);
  const char *end_float = sr__parse_float(padded, &value_float);
  if (!end || (size_t)(end - padded) != strlen(text) || end != end_float)
    fail_msg("'%s' was not read to its end", text);
  if (memcmp(&value, &expected, sizeof value) != 0)
    fail_msg("'%s' gave %.17g, expected %.17g", text, value, expected);
  if (memcmp(&value_float, &expected_float, sizeof value_float) != 0)
    fail_msg("'%s' gave %.9g, expected %.9g", text, value_float, expected_float);
}

static void known_hard_numbers(void **state) {
  (void)state;
  static const char *const texts[] = {"0",
                                      "-0",
                                      "0.0",
                                      "-0.0e5",
                                      "1",
                                      "+1",
                                      "1.",
                                      ".5",
                                      "-.5e-3",
                                      "00001.50",
                                      "9007199254740993",
                                      "9007199254740992.5",
                                      "1e22",
                                      "1e23",
                                      "8.5e23",
                                      "2.2250738585072011e-308",
                                      "5e-324",
                                      "2.4703282292062327208e-324",
                                      "1.7976931348623157e308",
                                      "1.7976931348623159e308",
                                      "1e400",
                                      "1e-400",
                                      "16777217",
                                      "16777219",
                                      "1.00000017881393421514957253748434595763683319091796875",
                                      "1.00000017881393432617187499",
                                      "3.4028235e38",
                                      "3.4028236e38",
                                      "1.17549435e-38",
                                      "1e-45",
                                      "0.000000000000000000000000000000000000000000000000000001",
                                      "123456789012345678901234567890",
                                      "12345678901234567890123456789e-40",
                                      "0.1000000000000000055511151231257827021181583404541015625",
                                      "7.2057594037927933e16",
                                      "9214843084008499",
                                      "0.3e1000000000000000000",
                                      "0e99999999999"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) same_as_library(texts[i]);
}

static void random_digits_round_as_the_library(void **state) {
  (void)state;
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_TEST, 0, 0);
  for (int i = 0; i < 400000; i++) {
    char text[64];
    int used = 0, digits = 1 + (int)sr__random_below(&random, 24);
    int point = (int)sr__random_below(&random, 30);
    if (sr__random_below(&random, 2)) text[used++] = '-';
    for (int k = 0; k < digits; k++) {
      if (k == point) text[used++] = '.';
      text[used++] = (char)('0' + sr__random_below(&random, 10));
    }
    text[used] = '\0';
    if (sr__random_below(&random, 2))
      sprintf(text + used, "e%d", (int)sr__random_below(&random, 700) - 350);
    same_as_library(text);
  }
}

static void random_bits_come_back(void **state) {
  (void)state;
  sr__random random;
  sr__random_init(&random, 2, SR_PURPOSE_TEST, 0, 0);
  for (int i = 0; i < 200000; i++) {
    uint64_t bits = sr__random_bits(&random);
    uint32_t half = (uint32_t)(bits >> 32);
    double value;
    float single;
    memcpy(&value, &bits, sizeof value);
    memcpy(&single, &half, sizeof single);
    char text[64];
    if (isfinite(value)) {
      snprintf(text, sizeof text, "%.17g", value);
      same_as_library(text);
    }
    if (!isfinite(single)) continue;
    snprintf(text, sizeof text, "%.9g", single);
    same_as_library(text);
    /* Exactly between two floats: the double is exact, so ties to even must be met. */
    snprintf(text, sizeof text, "%.17g", ((double)single + nextafterf(single, 0)) / 2);
    same_as_library(text);
  }
}

static void what_is_no_number(void **state) {
  (void)state;
  static const char *const texts[] = {"", "-", "+", ".", "e5", "-e", "abc", "--1", "+-1", "0x"};
  for (size_t i = 0; i + 1 < sizeof texts / sizeof *texts; i++) {
    char padded[40] = {0};
    double value;
    snprintf(padded, sizeof padded, "%s", texts[i]);
    assert_null(sr__parse_double(padded, &value));
    assert_false(sr__whole_double(texts[i], strlen(texts[i]), &value));
  }
  double value;
  float single;
  assert_false(sr__whole_double("1x", 2, &value));
  assert_false(sr__whole_double("1e", 2, &value));
  assert_false(sr__whole_double("0x10", 4, &value));
  assert_false(sr__whole_double("1,5", 3, &value));
  assert_true(sr__whole_double("-INF", 4, &value) && value == -INFINITY);
  assert_true(sr__whole_float("Infinity", 8, &single) && single == INFINITY);
  assert_true(sr__whole_float("nan", 3, &single) && isnan(single));
  assert_true(sr__whole_float("-2.5e1", 6, &single) && single == -25.0f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_hard_numbers),
      cmocka_unit_test(random_digits_round_as_the_library),
      cmocka_unit_test(random_bits_come_back),
      cmocka_unit_test(what_is_no_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
