/* Objects as text, JSON and pages say what their views hold; the list of methods is whole. */
#include <jansson.h>
#include <math.h>

#include "harness.h"

static sr_table *rows_of(sr_context *ctx, int64_t n) {
  return test_simulate(ctx, 3, "ar1:n=%lld,d=2,tmix=5,noise_kind=ar", (long long)n);
}

static json_t *read_json(char **text) {
  json_error_t error;
  json_t *value = json_loads(*text, 0, &error);
  if (!value) fail_msg("%s in %s", error.text, *text);
  sr_bytes_free((void **)text);
  assert_null(*text);
  return value;
}

static void assert_real(const json_t *object, const char *key, double expected) {
  const json_t *value = json_object_get(object, key);
  if (!value) fail_msg("no key %s", key);
  if (isfinite(expected))
    assert_close(json_number_value(value), expected, 1e-12);
  else
    assert_true(json_is_null(value));
}

static void assert_says(const char *text, const char *format, double value) {
  char words[64];
  snprintf(words, sizeof words, format, value);
  if (!strstr(text, words)) fail_msg("\"%s\" is not in: %s", words, text);
}

/* ---- structure and dependence ------------------------------------------------------------- */

static void structures_are_told(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = rows_of(ctx, 1500);
  sr_structure *structure = NULL;
  char *text = NULL;
  assert_ok(ctx, sr_structure_estimate(ctx, table, NULL, 1, &structure));
  const sr_structure_view *v = sr_structure_get(structure);
  const sr_dependence_view *d = sr_dependence_get(v->dependence);
  assert_ok(ctx, sr_describe_structure(ctx, structure, SR_DESCRIPTION_TEXT, &text));
  assert_int_equal(strncmp(text, "1500 rows, 2 features, 2 classes; dependence by time.", 53), 0);
  assert_says(text, "T                %.3g rows", v->tmix);
  sr_bytes_free((void **)&text);
  for (int alone = 0; alone < 2; alone++) {
    if (alone)
      assert_ok(ctx, sr_describe_dependence(ctx, v->dependence, SR_DESCRIPTION_JSON, &text));
    else
      assert_ok(ctx, sr_describe_structure(ctx, structure, SR_DESCRIPTION_JSON, &text));
    json_t *json = read_json(&text);
    assert_int_equal(json_integer_value(json_object_get(json, "n")), 1500);
    assert_real(json_object_get(json, "tmix"), "estimate", d->tmix.estimate);
    assert_real(json, "iact", d->iact);
    assert_real(json, "range", d->range); /* NaN in time: null */
    assert_int_equal((int)json_array_size(json_object_get(json, "estimates")), d->scale_count);
    assert_int_equal((int)json_array_size(json_object_get(json, "warnings")), d->warning_count);
    assert_int_equal(json_object_get(json, "parts") != NULL, !alone);
    json_decref(json);
  }
  assert_ok(ctx, sr_describe_structure(ctx, structure, SR_DESCRIPTION_MARKDOWN, &text));
  assert_says(text, "T is about %.3g rows", v->tmix);
  assert_null(strstr(text, "<svg"));
  sr_bytes_free((void **)&text);
  assert_int_equal(sr_describe_structure(ctx, structure, (sr_description)17, &text),
                   SR_ERROR_ARGUMENT);
  assert_null(text);
  sr_structure_free(&structure);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* A structure that the user brings has no dependence to tell of. */
static void given_structures_are_told(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_structure_input input = {.rows = 100, .parts = 5, .tmix = 7.0};
  sr_structure *structure = NULL;
  char *text = NULL;
  assert_ok(ctx, sr_structure_new(ctx, &input, &structure));
  for (int format = SR_DESCRIPTION_TEXT; format <= SR_DESCRIPTION_MARKDOWN; format++) {
    assert_ok(ctx, sr_describe_structure(ctx, structure, (sr_description)format, &text));
    assert_says(text, "%g", 7.0);
    sr_bytes_free((void **)&text);
  }
  sr_structure_free(&structure);
  sr_context_free(&ctx);
}

/* ---- ensembles and comparisons ------------------------------------------------------------ */

static void ensembles_are_told(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = rows_of(ctx, 600);
  sr_ensemble *ensemble = NULL;
  sr_train_options options;
  char *text = NULL;
  sr_train_options_init(&options);
  options.plan = "routed:part_share=0.4";
  options.members = 12;
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
  const sr_ensemble_view *v = sr_ensemble_get(ensemble);
  const sr_evaluation *e = v->evaluation;
  assert_ok(ctx, sr_describe_ensemble(ctx, ensemble, SR_DESCRIPTION_TEXT, &text));
  assert_says(text, "honest: the process elsewhere      %.4f", e->honest);
  assert_says(text, "naive: new rows between these      %.4f", e->naive);
  for (int32_t k = 0; k < v->warning_count; k++) assert_non_null(strstr(text, v->warnings[k]));
  sr_bytes_free((void **)&text);
  assert_ok(ctx, sr_describe_ensemble(ctx, ensemble, SR_DESCRIPTION_JSON, &text));
  json_t *json = read_json(&text), *plan = json_object_get(json, "plan");
  assert_string_equal(json_string_value(json_object_get(plan, "name")), "routed");
  assert_real(json_object_get(plan, "parameters"), "part_share", 0.4);
  assert_int_equal((int)json_array_size(json_object_get(plan, "weights")), v->mix_count);
  assert_real(json_object_get(json, "error"), "honest", e->honest);
  assert_real(json_object_get(json, "error"), "honest_high", e->honest_high);
  assert_real(json_object_get(json, "error"), "stretch_rows", (double)(e->rows / e->folds));
  assert_real(json_object_get(json, "covariance"), "mean_pairwise", e->covariance);
  assert_int_equal((int)json_array_size(json_object_get(json, "classes")), 2);
  assert_int_equal((int)json_array_size(json_object_get(json, "warnings")), v->warning_count);
  json_decref(json);
  assert_ok(ctx, sr_describe_ensemble(ctx, ensemble, SR_DESCRIPTION_HTML, &text));
  assert_says(text, "%.4f", e->honest);
  assert_non_null(strstr(text, "<table"));
  sr_bytes_free((void **)&text);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void comparisons_are_told(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = rows_of(ctx, 400);
  sr_comparison *comparison = NULL;
  sr_compare_options options;
  char *text = NULL;
  sr_compare_options_init(&options);
  options.plans = "uniform,routed:part_share=0.3";
  options.members = 6;
  options.naive = 1;
  options.next = 90; /* four of them: nothing can be said */
  assert_ok(ctx, sr_compare(ctx, table, &options, 1, &comparison));
  const sr_comparison_view *v = sr_comparison_get(comparison);
  assert_int_equal(v->next_rows, 90);
  assert_non_null(strstr(v->rows[0].reason, "4 stretches are fewer than 6"));
  assert_ok(ctx, sr_describe_comparison(ctx, comparison, SR_DESCRIPTION_JSON, &text));
  json_t *json = read_json(&text), *rows = json_object_get(json, "rows");
  assert_int_equal((int)json_array_size(rows), 2);
  for (int r = 0; r < 2; r++) {
    assert_real(json_array_get(rows, (size_t)r), "error", v->rows[r].error);
    assert_real(json_array_get(rows, (size_t)r), "naive", v->rows[r].naive);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, (size_t)r), "plan")),
                        v->rows[r].plan);
  }
  json_t *tests = json_object_get(json, "wilcoxon");
  assert_int_equal((int)json_array_size(tests), 1);
  assert_real(json_array_get(tests, 0), "difference_low", v->tests[0].low);
  json_decref(json);
  for (int format = SR_DESCRIPTION_TEXT; format <= SR_DESCRIPTION_MARKDOWN; format++) {
    assert_ok(ctx, sr_describe_comparison(ctx, comparison, (sr_description)format, &text));
    assert_says(text, format == SR_DESCRIPTION_JSON ? "%.5f" : "%.4f", v->rows[v->best].error);
    assert_non_null(strstr(text, "4 stretches are fewer than 6"));
    if (format != SR_DESCRIPTION_JSON) {
      assert_non_null(strstr(text, "8 stretches of about 50 rows"));
      assert_says(text, "%+.4f", v->tests[0].low);
      assert_says(text, "%.4f", v->rows[0].naive);
    }
    sr_bytes_free((void **)&text);
  }
  sr_comparison_free(&comparison);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- methods ------------------------------------------------------------------------------ */

static void methods_are_listed(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const sr_method_kind *kinds[32], *kind;
  int count = 0, methods = 0;
  char *text = NULL;
  for (; (kind = sr_method_kind_at(count)); count++) {
    kinds[count] = kind;
    while (kind->at(methods)) methods++;
    methods = 0;
  }
  assert_null(sr_method_kind_at(-1));
  assert_true(count >= 6);
  assert_ok(ctx, sr_describe_methods(ctx, count, kinds, SR_DESCRIPTION_JSON, &text));
  json_t *json = read_json(&text), *list = json_object_get(json, "methods");
  size_t at = 0;
  for (int k = 0; k < count; k++) {
    for (int i = 0; kinds[k]->at(i); i++, at++) {
      const json_t *one = json_array_get(list, at);
      int options = 0;
      assert_string_equal(json_string_value(json_object_get(one, "kind")), kinds[k]->name);
      assert_string_equal(json_string_value(json_object_get(one, "name")), kinds[k]->at(i)->name);
      for (const sr_option *o = kinds[k]->at(i)->options; o && o->key; o++) options++;
      assert_int_equal((int)json_array_size(json_object_get(one, "options")), options);
    }
  }
  assert_int_equal((int)json_array_size(list), (int)at);
  json_decref(json);
  assert_ok(ctx, sr_describe_methods(ctx, count, kinds, SR_DESCRIPTION_TEXT, &text));
  assert_non_null(strstr(text, "part_share"));
  sr_bytes_free((void **)&text);
  sr_context_free(&ctx);
}

/* ---- memory ------------------------------------------------------------------------------- */

static sr_status tell_all(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  char *text = NULL;
  for (int format = SR_DESCRIPTION_TEXT; format <= SR_DESCRIPTION_MARKDOWN; format++) {
    SR_TRY(sr_describe_structure(ctx, data, (sr_description)format, &text));
    sr_bytes_free((void **)&text);
  }
cleanup:
  sr_bytes_free((void **)&text);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = rows_of(ctx, 300);
  sr_structure *structure = NULL;
  assert_ok(ctx, sr_structure_estimate(ctx, table, NULL, 1, &structure));
  test_every_allocation(tell_all, structure);
  sr_structure_free(&structure);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(structures_are_told), cmocka_unit_test(given_structures_are_told),
      cmocka_unit_test(ensembles_are_told),  cmocka_unit_test(comparisons_are_told),
      cmocka_unit_test(methods_are_listed),  cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
