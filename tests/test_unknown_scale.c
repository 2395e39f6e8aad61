/* A T that cannot be told is never 1: it is NaN, null and "cannot be told", and parts, buffers,
 * folds, plans and intervals take the careful way. */
#include <jansson.h>
#include <math.h>

#include "harness.h"

enum { ROWS = 800, CLASSES = 17 };

/* Features that vary and more classes than the estimators take: on a graph of near features nothing
 * is left to tell T by. */
static sr_table *make_table(sr_context *ctx) {
  static float x[2 * ROWS];
  static int32_t label[ROWS];
  static char name[CLASSES][16];
  static const char *names[CLASSES];
  double noise[2 * ROWS];
  sr_random_normal(3, 0, 0, 2 * ROWS, noise);
  for (int i = 0; i < 2 * ROWS; i++) x[i] = (float)noise[i];
  for (int i = 0; i < ROWS; i++) label[i] = x[i] > 0.5F ? 0 : i % CLASSES;
  for (int c = 0; c < CLASSES; c++) {
    snprintf(name[c], sizeof name[c], "c%d", c);
    names[c] = name[c];
  }
  sr_table_view view = {
      .rows = ROWS, .features = 2, .x = x, .label = label, .classes = {CLASSES, names}};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  return table;
}

static void expect_unknown(const sr_structure_view *v) {
  assert_true(isnan(v->tmix) && isnan(v->tmix_careful) && isnan(v->tmix_low) &&
              isnan(v->tmix_high));
  assert_string_equal(v->tmix_method, "none: it cannot be told");
  assert_false(v->independent);
  assert_int_equal(sr_parts_get(v->parts)->parts, 20); /* the fewest */
}

static void a_structure_says_so(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = make_table(ctx);
  sr_structure_options options;
  sr_structure_options_init(&options);
  options.graph = "features:8";
  sr_structure *structure = NULL, *back = NULL;
  void *bytes = NULL;
  char *text = NULL;
  int64_t count = 0;
  assert_ok(ctx, sr_structure_estimate(ctx, table, &options, 1, &structure));
  const sr_structure_view *v = sr_structure_get(structure);
  expect_unknown(v);
  const sr_dependence_view *found = sr_dependence_get(v->dependence);
  assert_non_null(strstr(found->warnings[found->warning_count - 1], "T cannot be told"));
  assert_ok(ctx, sr_describe_structure(ctx, structure, SR_DESCRIPTION_JSON, &text));
  json_t *told = json_loads(text, 0, NULL);
  assert_true(json_is_null(json_object_get(json_object_get(told, "tmix"), "estimate")));
  json_decref(told);
  sr_bytes_free((void **)&text);
  assert_ok(ctx, sr_describe_structure(ctx, structure, SR_DESCRIPTION_HTML, &text));
  assert_non_null(strstr(text, "T cannot be told from these rows"));
  assert_null(strstr(text, "as good as independent"));
  sr_bytes_free((void **)&text);
  assert_ok(ctx, sr_structure_to_bytes(ctx, structure, &bytes, &count));
  assert_ok(ctx, sr_structure_from_bytes(ctx, bytes, count, &back));
  expect_unknown(sr_structure_get(back));
  assert_ok(ctx, sr_describe_structure(ctx, back, SR_DESCRIPTION_TEXT, &text));
  assert_non_null(strstr(text, "cannot be told"));
  sr_bytes_free((void **)&text);
  sr_bytes_free(&bytes);
  sr_structure_free(&back);
  sr_structure_free(&structure);
  /* once T is given, nothing is left to say */
  options.tmix = 3.0;
  assert_ok(ctx, sr_structure_estimate(ctx, table, &options, 1, &structure));
  assert_close(sr_structure_get(structure)->tmix, 3.0, 0.0);
  sr_structure_free(&structure);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* One series whose T nobody knows: long blocks, a buffer, and every plan that goes by T. */
static void folds_and_plans_are_careful(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_structure_input input = {.rows = ROWS, .tmix = NAN};
  sr_structure *structure = NULL;
  sr_folds *folds = NULL;
  assert_ok(ctx, sr_structure_new(ctx, &input, &structure));
  expect_unknown(sr_structure_get(structure));
  assert_ok(ctx, sr_folds_new(ctx, structure, NULL, 1, &folds));
  assert_int_equal(sr_folds_get(folds)->units, 8);
  assert_int_equal(sr_folds_get(folds)->buffer, ROWS / 80);
  sr_folds_free(&folds);
  static const char *const plans[] = {"tmix-thin", "oracle-block", "burn-in", "spectral", "routed"};
  for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
    sr_plan *plan = NULL;
    assert_ok(ctx, sr_plan_new(ctx, structure, plans[k], 40, 1, &plan));
    sr_plan_free(&plan);
  }
  sr_structure_free(&structure);
  input.tmix = 0.5;
  assert_int_equal(sr_structure_new(ctx, &input, &structure), SR_ERROR_ARGUMENT);
  sr_context_free(&ctx);
}

/* `auto` works, and no interval rests on a T that nobody knows. */
static void training_gives_no_interval(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  static float x[2 * ROWS]; /* nothing varies */
  sr_table *varied = make_table(ctx), *table = NULL;
  sr_table_view view = *sr_table_get(varied);
  view.x = x;
  sr_structure *structure = NULL;
  sr_ensemble *ensemble = NULL;
  sr_judgment judgment;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  assert_ok(ctx, sr_structure_estimate(ctx, table, NULL, 1, &structure));
  expect_unknown(sr_structure_get(structure));
  sr_train_options options;
  sr_train_options_init(&options);
  options.members = 10;
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
  const sr_ensemble_view *v = sr_ensemble_get(ensemble);
  assert_true(isnan(v->tmix) && isnan(v->evaluation->tmix_careful));
  assert_true(isfinite(v->evaluation->honest) && isnan(v->evaluation->honest_low));
  bool said = false;
  for (int32_t k = 0; k < v->evaluation->question_count; k++) {
    const sr_question *q = &v->evaluation->questions[k];
    if (q->kind == SR_QUESTION_ELSEWHERE) said = strstr(q->reason, "T cannot be told") != NULL;
  }
  assert_true(said);
  sr_predictions given = {.label = view.label};
  assert_ok(ctx, sr_judge(ctx, table, structure, &given, NULL, &judgment));
  assert_true(isnan(judgment.tmix) && isnan(judgment.low) && isnan(judgment.high));
  sr_ensemble_free(&ensemble);
  sr_structure_free(&structure);
  sr_table_free(&table);
  sr_table_free(&varied);
  sr_context_free(&ctx);
}

/* Fields of Maipo without a way from one to the next: T is told inside the fields, and it is not 1.
 */
static void fields_of_maipo(void **state) {
  (void)state;
  char line[1024], *out = NULL;
  const char *path = test_shared_data("satellite/maipo_crops.csv.gz");
  if (!path) skip();
  static const char *const graphs[] = {"space:3", "space:8", "features:5"};
  for (size_t k = 0; k < sizeof graphs / sizeof *graphs; k++) {
    snprintf(line, sizeof line,
             "diagnose %s --target croptype --drop field --coords utmx,utmy --graph %s --json",
             path, graphs[k]);
    assert_int_equal(test_command(line, &out, NULL), 0);
    json_t *told = json_loads(out, 0, NULL);
    double scale = json_number_value(json_object_get(json_object_get(told, "tmix"), "estimate"));
    assert_true(scale > 2.0);
    json_decref(told);
    free(out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_structure_says_so),
                                     cmocka_unit_test(folds_and_plans_are_careful),
                                     cmocka_unit_test(training_gives_no_interval),
                                     cmocka_unit_test(fields_of_maipo)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
