/* Real sets give sane answers, and the command prints what other programs rely on. */
#include <jansson.h>
#include <math.h>

#include "harness.h"

/* NULL where the set is not there. */
static json_t *diagnose(const char *relative, const char *options) {
  const char *path = test_shared_data(relative);
  if (!path) return NULL;
  char line[768], *out = NULL;
  snprintf(line, sizeof line, "diagnose '%s' %s --json", path, options);
  int code = test_command(line, &out, NULL);
  assert_int_equal(code, 0);
  json_t *result = json_loads(out, 0, NULL);
  free(out);
  assert_non_null(result);
  return result;
}

static double estimate_of(const json_t *result) {
  return json_number_value(json_object_get(json_object_get(result, "tmix"), "estimate"));
}

static void test_streams(void **state) {
  (void)state;
  json_t *eeg = diagnose("streams/eeg_eye_state.csv.gz", "--target class");
  json_t *elec = diagnose("streams/elec2.csv.gz", "--target class");
  json_t *office =
      diagnose("streams/occupancy_datatraining.csv.gz", "--target Occupancy --drop date");
  if (!eeg || !elec || !office) skip();
  assert_true(estimate_of(eeg) > 80.0 && estimate_of(eeg) < 1500.0);
  /* Prices have regimes of weeks and months: T grows with the rows, and that is said. */
  assert_true(estimate_of(elec) > 500.0);
  const json_t *warnings = json_object_get(elec, "warnings");
  bool grows = false;
  for (size_t i = 0; i < json_array_size(warnings); i++)
    grows |= strstr(json_string_value(json_array_get(warnings, i)),
                    "grows with the number of rows") != NULL;
  assert_true(grows);
  assert_close(json_number_value(json_object_get(elec, "period")), 48.0, 0.05);
  assert_true(estimate_of(office) > 200.0);
  assert_string_equal(json_string_value(json_object_get(office, "recommend")), "auto");
  json_decref(eeg);
  json_decref(elec);
  json_decref(office);
}

static void test_runs(void **state) {
  (void)state;
  json_t *runs = diagnose("streams/skab_valve1_other.csv.gz",
                          "--target anomaly --group run --drop datetime,changepoint");
  if (!runs) skip();
  assert_int_equal(json_integer_value(json_object_get(runs, "groups")), 30);
  assert_true(json_number_value(json_object_get(runs, "group_share")) > 0.3);
  json_decref(runs);
}

static void test_events(void **state) {
  (void)state;
  json_t *events = diagnose("tabular/higgs_11k.csv.gz", "--target label");
  if (!events) skip();
  assert_true(estimate_of(events) < 1.1);
  assert_string_equal(json_string_value(json_object_get(events, "recommend")), "auto");
  json_decref(events);
}

/* ---- the command -------------------------------------------------------------------------- */

static void test_keys(void **state) {
  (void)state;
  static const char *const keys[] = {"n",     "d",         "classes",       "tmix",
                                     "iact",  "ess",       "politis_white", "lambda2",
                                     "parts", "recommend", "warnings"};
  char line[256], *out = NULL;
  snprintf(line, sizeof line, "simulate ar1 --n 3000 --tmix 10 --d 3 -o %s/a.csv", test_folder());
  assert_int_equal(test_command(line, NULL, NULL), 0);
  snprintf(line, sizeof line, "diagnose %s/a.csv --target y --json --report %s/a.html",
           test_folder(), test_folder());
  assert_int_equal(test_command(line, &out, NULL), 0);
  json_t *result = json_loads(out, 0, NULL);
  assert_non_null(result);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!json_object_get(result, keys[i])) fail_msg("no key %s", keys[i]);
  assert_close(estimate_of(result), 10.0, 0.35);
  json_decref(result);
  free(out);
  snprintf(line, sizeof line, "%s/a.html", test_folder());
  char *page = test_read_file(line, NULL);
  assert_non_null(page);
  assert_non_null(strstr(page, "T is about"));
  free(page);
}

/* A person's page; and tiny tables give null, never a number. */
static void test_words(void **state) {
  (void)state;
  char line[256], *out = NULL;
  const char *path = test_file("tiny.csv", "a,y\n1,0\n2,1\n3,0\n", 16);
  snprintf(line, sizeof line, "diagnose %s --target y", path);
  assert_int_equal(test_command(line, &out, NULL), 0);
  assert_non_null(strstr(out, "cannot be told"));
  assert_non_null(strstr(out, "3 rows are too few"));
  free(out);
  snprintf(line, sizeof line, "diagnose %s --target y --json", path);
  assert_int_equal(test_command(line, &out, NULL), 0);
  json_t *result = json_loads(out, 0, NULL);
  assert_true(json_is_null(json_object_get(json_object_get(result, "tmix"), "estimate")));
  json_decref(result);
  free(out);
  assert_int_equal(test_command("theory --tmix 50 --n 50000 --json", &out, NULL), 0);
  result = json_loads(out, 0, NULL);
  assert_close(json_number_value(json_object_get(result, "minimax")), sqrt(0.001), 1e-12);
  assert_non_null(json_object_get(result, "sample_condition"));
  json_decref(result);
  free(out);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_streams), cmocka_unit_test(test_runs),
                                     cmocka_unit_test(test_events), cmocka_unit_test(test_keys),
                                     cmocka_unit_test(test_words)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
