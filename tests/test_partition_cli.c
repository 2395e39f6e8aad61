/* specroute parts as a program sees it. */
#include <jansson.h>
#include <math.h>

#include "harness.h"

/* `rows` lines of two coordinates on a spiral and one feature. */
static const char *write_table(int rows) {
  size_t size = (size_t)rows * 64 + 64, used;
  char *text = malloc(size);
  used = (size_t)snprintf(text, size, "east,north,x\n");
  for (int i = 0; i < rows; i++) {
    double turn = 0.1 * i;
    used += (size_t)snprintf(text + used, size - used, "%.6f,%.6f,%d\n", turn * cos(turn),
                             turn * sin(turn), i % 7);
  }
  const char *path = test_file("rows.csv", text, used);
  free(text);
  return path;
}

static json_t *run_json(const char *arguments) {
  char *out = NULL;
  assert_int_equal(test_command(arguments, &out, NULL), 0);
  json_error_t error;
  json_t *result = json_loads(out, 0, &error);
  assert_non_null(result);
  free(out);
  return result;
}

static int64_t integer_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  assert_true(json_is_integer(value));
  return json_integer_value(value);
}

static double real_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  assert_true(json_is_number(value));
  return json_number_value(value);
}

/* 100 rows, window 5: 5 * 100 - 15 edges; three cuts of 15; lambda_2 by the closed form, whose own
 * error is about (tau / n)^3. */
static void time_graphs_have_closed_forms(void **state) {
  (void)state;
  char line[512];
  snprintf(line, sizeof line, "parts %s --graph time:5 --parts 4 --json", write_table(100));
  json_t *result = run_json(line);
  assert_int_equal(integer_of(result, "n"), 100);
  assert_int_equal(integer_of(result, "edges"), 485);
  assert_int_equal(integer_of(result, "components"), 1);
  assert_int_equal(integer_of(result, "parts"), 4);
  assert_int_equal(integer_of(result, "cut_edges"), 45);
  assert_close(real_of(result, "balance"), 1, 1e-12);
  double theta = 3.14159265358979 / (100 - 3), lambda = 0;
  for (int k = 1; k <= 5; k++) lambda += 2 * pow(sin(k * theta / 2), 2) / 5;
  assert_true(fabs(real_of(result, "lambda2") - lambda) < 1e-3 * lambda);
  assert_true(real_of(result, "residual") < 1e-3);
  assert_true(json_is_string(json_object_get(result, "solver")));
  const json_t *seconds = json_object_get(result, "seconds");
  assert_true(real_of(seconds, "graph") >= 0);
  assert_true(real_of(seconds, "spectrum") >= 0);
  assert_true(real_of(seconds, "bisection") >= 0);
  json_decref(result);
}

/* The file has a header and a line per row, its part and its place; sizes differ by at most one;
 * threads do not matter. */
static void parts_are_written_in_the_order_of_the_rows(void **state) {
  (void)state;
  char line[1024], path[2][512];
  const char *table = write_table(500);
  for (int threads = 1; threads <= 2; threads++) {
    snprintf(path[threads - 1], sizeof path[0], "%s/parts%d.csv", test_folder(), threads);
    snprintf(line, sizeof line,
             "parts %s --coords east,north --graph space:6 --parts 7 -o %s --threads %d --json",
             table, path[threads - 1], threads);
    json_t *result = run_json(line);
    assert_int_equal(integer_of(result, "parts"), 7);
    json_decref(result);
  }
  char *first = test_read_file(path[0], NULL), *second = test_read_file(path[1], NULL);
  assert_non_null(first);
  assert_string_equal(first, second);
  int size[7] = {0}, rows = 0;
  static const char header[] = "part,coordinate1,coordinate2\n";
  assert_memory_equal(first, header, sizeof header - 1);
  for (const char *p = first + sizeof header - 1; *p; rows++) {
    char *end;
    long part = strtol(p, &end, 10);
    assert_in_range(part, 0, 6);
    assert_int_equal(*end, ',');
    strtod(end + 1, &end);
    assert_int_equal(*end, ',');
    strtod(end + 1, &end);
    assert_int_equal(*end, '\n');
    size[part]++;
    p = end + 1;
  }
  assert_int_equal(rows, 500);
  for (int p = 0; p < 7; p++) assert_in_range(size[p], 71, 72);
  free(first);
  free(second);
}

static void wrong_usage_is_told(void **state) {
  (void)state;
  char line[512], *err = NULL;
  const char *table = write_table(20);
  snprintf(line, sizeof line, "parts %s --parts 21", table);
  assert_int_not_equal(test_command(line, NULL, &err), 0);
  assert_non_null(strstr(err, "21 parts"));
  free(err);
  snprintf(line, sizeof line, "parts %s -o - --json", table);
  assert_int_equal(test_command(line, NULL, NULL), 2);
  snprintf(line, sizeof line, "parts %s --mode quick", table);
  assert_int_equal(test_command(line, NULL, NULL), 2);
}

static void people_get_a_summary(void **state) {
  (void)state;
  char line[512], *out = NULL;
  snprintf(line, sizeof line, "parts %s --mode fast --graph time", write_table(80));
  assert_int_equal(test_command(line, &out, NULL), 0);
  assert_non_null(strstr(out, "80 rows, 79 edges"));
  assert_non_null(strstr(out, "parts       64"));
  assert_non_null(strstr(out, "cut         63 edges"));
  free(out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(time_graphs_have_closed_forms),
      cmocka_unit_test(parts_are_written_in_the_order_of_the_rows),
      cmocka_unit_test(wrong_usage_is_told),
      cmocka_unit_test(people_get_a_summary),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
