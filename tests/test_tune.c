/* Searches, class weights, exported trees and partial dependence. */
#include <math.h>

#include "harness.h"

/* ---- searches ----------------------------------------------------------------------------- */

static sr_status tune_small(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  sr_tuning *tuning = NULL;
  char *text = NULL;
  sr_tune_options o;
  sr_tune_options_init(&o);
  o.plans = "uniform,routed";
  o.tries = 2;
  o.members = 3;
  o.folds.folds = 4;
  o.class_weight = "balanced";
  SR_TRY(sr_tune(ctx, data, &o, 1, &tuning));
  SR_TRY(sr_describe_tuning(ctx, tuning, SR_DESCRIPTION_HTML, &text));
cleanup:
  sr_bytes_free((void **)&text);
  sr_tuning_free(&tuning);
  return status;
}

static void searches_may_run_out_of_memory(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = test_simulate(ctx, 3, "ar1:n=72,tmix=2,d=1");
  test_every_allocation(tune_small, table);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Rounds of 11, 33 and 100 members: all, a third, a ninth. The winner is the best of the last. */
static void the_best_third_goes_on(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_table *table = test_simulate(ctx, 3, "ar1:n=900,tmix=5,d=3");
  sr_tuning *tuning = NULL, *again = NULL;
  sr_tune_options o;
  sr_tune_options_init(&o);
  o.plans = "uniform,routed";
  o.learners = "tree:max_depth=4";
  o.tries = 9;
  o.members = 30;
  assert_ok(ctx, sr_tune(ctx, table, &o, 5, &tuning));
  const sr_tuning_view *v = sr_tuning_get(tuning);
  assert_int_equal(v->settings, 9);
  assert_int_equal(v->tried_count, 9 + 3 + 1);
  double best_kept = INFINITY, worst_kept = 0.0;
  int32_t left_out = 0;
  for (int32_t k = 9; k < 12; k++) {
    assert_int_equal(v->tried[k].round, 1);
    assert_true(v->tried[k].members > v->tried[0].members);
    for (int32_t j = 0; j < 9; j++) {
      bool same = strcmp(v->tried[j].plan, v->tried[k].plan) == 0 &&
                  strcmp(v->tried[j].learner, v->tried[k].learner) == 0;
      if (same) worst_kept = fmax(worst_kept, v->tried[j].error);
      left_out += same;
    }
    best_kept = fmin(best_kept, v->tried[k].error);
  }
  assert_int_equal(left_out, 3);
  int32_t better = 0;
  for (int32_t j = 0; j < 9; j++) better += v->tried[j].error < worst_kept;
  assert_true(better < 3);
  for (int32_t k = 9; k < 12; k++) {
    if (strcmp(v->tried[k].plan, v->best_plan) == 0 &&
        strcmp(v->tried[k].learner, v->best_learner) == 0)
      assert_true(v->tried[k].error == best_kept);
  }
  assert_int_equal(v->tried[12].members, 30);
  assert_string_equal(v->tried[12].plan, v->best_plan);
  assert_string_equal(v->tried[12].learner, v->best_learner);
  assert_string_equal(v->tried[0].plan, v->first_plan);
  assert_non_null(strstr(v->best_learner, "max_depth=4"));
  /* What judges was never searched, nor near it. */
  assert_int_equal(v->best.rows, v->judged_rows);
  assert_true(v->searched_rows + v->judged_rows < 900 && v->judged_rows > 200);
  assert_true(v->best.error > 0.0 && v->best.error < 0.5);
  assert_ok(ctx, sr_tune(ctx, table, &o, 5, &again));
  for (int32_t k = 0; k < v->tried_count; k++)
    assert_true(sr_tuning_get(again)->tried[k].error == v->tried[k].error);
  sr_tuning_free(&again);
  sr_tuning_free(&tuning);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Labels of a stretch that is put aside are turned round: the search does not notice, the judgment
 * of its winner does. The third and the seventh of eight stretches are those. */
static void what_judges_was_never_searched(void **state) {
  (void)state;
  enum { ROWS = 800 };
  sr_context *ctx = test_context(2);
  sr_table *table = test_simulate(ctx, 3, "ar1:n=%d,tmix=5,d=3", ROWS), *turned = NULL;
  sr_table_view view = *sr_table_get(table);
  int32_t label[ROWS];
  for (int32_t i = 0; i < ROWS; i++)
    label[i] = i / (ROWS / 8) == 2 || i / (ROWS / 8) == 6 ? 1 - view.label[i] : view.label[i];
  view.label = label;
  assert_ok(ctx, sr_table_new(ctx, &view, &turned));
  sr_tuning *tuning = NULL, *other = NULL;
  sr_tune_options o;
  sr_tune_options_init(&o);
  o.plans = "uniform,auto";
  o.tries = 5;
  o.members = 18;
  o.structure.tmix = 5;
  assert_ok(ctx, sr_tune(ctx, table, &o, 5, &tuning));
  assert_ok(ctx, sr_tune(ctx, turned, &o, 5, &other));
  const sr_tuning_view *a = sr_tuning_get(tuning), *b = sr_tuning_get(other);
  assert_int_equal(a->tried_count, b->tried_count);
  for (int32_t k = 0; k < a->tried_count; k++) assert_true(a->tried[k].error == b->tried[k].error);
  assert_string_equal(a->best_plan, b->best_plan);
  assert_close(a->best.error, 1.0 - b->best.error, 1e-12);
  sr_tuning_free(&other);
  sr_tuning_free(&tuning);
  sr_table_free(&turned);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void stop_after_tries(void *data, const char *stage, int64_t done, int64_t total) {
  (void)total;
  if (strcmp(stage, "tune") == 0 && done >= 20) sr_context_interrupt(*(sr_context **)data);
}

/* The tries that were made before the interrupt are not made again, and all comes out the same. */
static void an_interrupted_search_goes_on(void **state) {
  (void)state;
  sr_context *ctx = NULL, *stopped = NULL;
  sr_context_options options;
  sr_context_options_init(&options);
  assert_int_equal(sr_context_new(&options, &ctx), SR_OK);
  options.progress = stop_after_tries;
  options.progress_data = &stopped;
  assert_int_equal(sr_context_new(&options, &stopped), SR_OK);
  sr_table *table = test_simulate(ctx, 3, "ar1:n=400,tmix=5,d=2");
  sr_tuning *whole = NULL, *resumed = NULL;
  sr_tune_options o;
  sr_tune_options_init(&o);
  o.plans = "uniform,routed";
  o.tries = 6;
  o.members = 18;
  assert_ok(ctx, sr_tune(ctx, table, &o, 5, &whole));
  o.resume = test_file("tries", "", 0);
  assert_int_equal(sr_tune(stopped, table, &o, 5, &resumed), SR_ERROR_INTERRUPTED);
  assert_null(resumed);
  assert_ok(ctx, sr_tune(ctx, table, &o, 5, &resumed));
  const sr_tuning_view *a = sr_tuning_get(whole), *b = sr_tuning_get(resumed);
  assert_int_equal(a->tried_count, b->tried_count);
  for (int32_t k = 0; k < a->tried_count; k++) assert_true(a->tried[k].error == b->tried[k].error);
  assert_string_equal(a->best_learner, b->best_learner);
  assert_true(a->best.error == b->best.error);
  double made = 0.0, kept = 0.0;
  for (int32_t k = 0; k < 2; k++) {
    made += a->tried[k].seconds;
    kept += b->tried[k].seconds;
  }
  assert_true(kept < 0.5 * made);
  /* Another search in the same file finds nothing of its own. */
  sr_tuning_free(&resumed);
  assert_ok(ctx, sr_tune(ctx, table, &o, 6, &resumed));
  assert_true(sr_tuning_get(resumed)->tried[0].error != a->tried[0].error);
  sr_tuning_free(&resumed);
  sr_tuning_free(&whole);
  sr_table_free(&table);
  sr_context_free(&stopped);
  sr_context_free(&ctx);
}

static void wrong_searches_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = test_simulate(ctx, 3, "ar1:n=100,tmix=2,d=1");
  sr_tuning *tuning = NULL;
  sr_tune_options o;
  sr_tune_options_init(&o);
  o.plans = "unifrom";
  assert_int_equal(sr_tune(ctx, table, &o, 1, &tuning), SR_ERROR_NOT_FOUND);
  sr_tune_options_init(&o);
  o.tries = 0;
  assert_int_equal(sr_tune(ctx, table, &o, 1, &tuning), SR_ERROR_ARGUMENT);
  sr_tune_options_init(&o);
  o.class_weight = "no/such/file.csv";
  assert_int_equal(sr_tune(ctx, table, &o, 1, &tuning), SR_ERROR_IO);
  assert_null(tuning);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- class weights -------------------------------------------------------------------------- */

/* One row in ten is rare. x is the sum of two uniforms, moved by 0.5 for rare rows: the smallest
 * error names rare beyond 1.94 (balanced accuracy 0.58), the best balance beyond 1.25 (0.72). */
static sr_table *rare_class(sr_context *ctx, int64_t rows) {
  static const char *const names[] = {"common", "rare"};
  static const char *const features[] = {"x", "noise"};
  float *x = malloc(2 * (size_t)rows * sizeof *x);
  int32_t *label = malloc((size_t)rows * sizeof *label);
  double *u = malloc(4 * (size_t)rows * sizeof *u);
  sr_table *table = NULL;
  sr_random_uniform(3, 0, 0, 4 * rows, u);
  for (int64_t i = 0; i < rows; i++) {
    label[i] = u[4 * i] < 0.1;
    x[i] = (float)(u[4 * i + 1] + u[4 * i + 2] + (label[i] ? 0.5 : 0.0));
    x[rows + i] = (float)u[4 * i + 3];
  }
  sr_table_view view = {.rows = rows,
                        .features = 2,
                        .x = x,
                        .feature_names = features,
                        .label = label,
                        .classes = {2, names},
                        .target_name = "kind"};
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  free(x);
  free(label);
  free(u);
  return table;
}

static double balanced_accuracy(sr_context *ctx, const sr_table *table, const char *plan,
                                const char *weight) {
  sr_train_options o;
  sr_ensemble *ensemble = NULL;
  sr_train_options_init(&o);
  o.plan = plan;
  o.learner = "tree:min_leaf=20";
  o.members = 30;
  o.structure.graph = "none";
  o.class_weight = weight;
  o.evaluate.importance = 0;
  assert_ok(ctx, sr_train(ctx, table, &o, 1, &ensemble));
  double value = sr_ensemble_get(ensemble)->evaluation->metrics.balanced_accuracy;
  sr_ensemble_free(&ensemble);
  return value;
}

/* Weights bring the best balanced accuracy near, by file as by rule, also through the default's
 * choice of a mix. */
static void weights_find_rare_classes(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_table *table = rare_class(ctx, 3000);
  const char *path = test_file("weights.csv", "class,weight\nrare,9\ncommon,1\n", 29);
  const char *const plans[] = {"uniform", "auto"};
  for (int k = 0; k < 2; k++) {
    double plain = balanced_accuracy(ctx, table, plans[k], NULL);
    double balanced = balanced_accuracy(ctx, table, plans[k], "balanced");
    double file = balanced_accuracy(ctx, table, plans[k], path);
    assert_true(plain < 0.62 && balanced > 0.66);
    assert_close(file, balanced, 0.02);
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void wrong_weights_are_named(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = rare_class(ctx, 200);
  static const struct {
    const char *text, *words;
  } cases[] = {{"class,weight\nrare,9\n", "no weight for the class 'common'"},
               {"class,weight\nrare,9\ncommon,0\n", "the weight 0"},
               {"class,weight\nrare,9\ncommon,1\nodd,2\n", "'odd'"},
               {"class,weight,more\nrare,9,1\ncommon,1,1\n", "CLASS,WEIGHT"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    sr_train_options o;
    sr_ensemble *ensemble = NULL;
    sr_train_options_init(&o);
    o.class_weight = test_file("wrong.csv", cases[k].text, strlen(cases[k].text));
    assert_int_equal(sr_train(ctx, table, &o, 1, &ensemble), SR_ERROR_DATA);
    assert_non_null(strstr(sr_context_error(ctx).message, cases[k].words));
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- from inside -------------------------------------------------------------------------- */

static sr_ensemble *forest(sr_context *ctx, const sr_table *table, int64_t members) {
  sr_train_options o;
  sr_ensemble *ensemble = NULL;
  sr_train_options_init(&o);
  o.members = members;
  o.plan = "uniform";
  o.vote = SR_VOTE_SOFT;
  o.evaluate.evaluate = 0;
  assert_ok(ctx, sr_train(ctx, table, &o, 1, &ensemble));
  return ensemble;
}

typedef struct inside {
  const sr_table *table;
  const sr_ensemble *ensemble;
} inside;

static sr_status look_inside(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  const inside *in = data;
  double share[2 * SR_PARTIAL_POINTS];
  sr_partial_dependence_view d;
  char path[512];
  snprintf(path, sizeof path, "%s/forest.json", test_folder());
  SR_TRY(sr_ensemble_export(ctx, in->ensemble, path));
  snprintf(path, sizeof path, "%s/forest.onnx", test_folder());
  SR_TRY(sr_ensemble_export(ctx, in->ensemble, path));
  SR_TRY(sr_partial_dependence(ctx, in->ensemble, in->table, 0, share, &d));
cleanup:
  return status;
}

static void looking_may_run_out_of_memory(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = rare_class(ctx, 100);
  sr_ensemble *ensemble = forest(ctx, table, 2);
  inside in = {table, ensemble};
  test_every_allocation(look_inside, &in);
  assert_int_equal(sr_ensemble_export(ctx, ensemble, "forest.txt"), SR_ERROR_UNSUPPORTED);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* The definition, one row after the other: the feature is set, the votes are averaged. */
static void partial_dependence_is_the_mean_of_predictions(void **state) {
  (void)state;
  enum { ROWS = 400 };
  sr_context *ctx = test_context(1);
  sr_table *table = rare_class(ctx, ROWS);
  sr_ensemble *ensemble = forest(ctx, table, 9);
  const sr_table_view *view = sr_table_get(table);
  double share[2 * SR_PARTIAL_POINTS];
  sr_partial_dependence_view d;
  assert_ok(ctx, sr_partial_dependence(ctx, ensemble, table, 0, share, &d));
  assert_int_equal(d.points, SR_PARTIAL_POINTS);
  for (int32_t p = 0; p < d.points; p += 7) {
    float x[2 * ROWS], proba[2 * ROWS];
    int32_t label[ROWS];
    double sum = 0.0;
    sr_table_view moved = *view;
    memcpy(x, view->x, sizeof x);
    for (int i = 0; i < ROWS; i++) x[i] = (float)d.value[p];
    moved.x = x;
    assert_ok(ctx, sr_ensemble_predict_view(ctx, ensemble, &moved, label, proba));
    for (int i = 0; i < ROWS; i++) sum += (double)proba[2 * i + 1];
    assert_close(share[2 * p + 1], sum / ROWS, 1e-6);
    assert_close(share[2 * p] + share[2 * p + 1], 1.0, 1e-5);
  }
  assert_true(share[2 * (SR_PARTIAL_POINTS - 1) + 1] > share[1] + 0.2);
  assert_int_equal(sr_partial_dependence(ctx, ensemble, table, 2, share, &d), SR_ERROR_ARGUMENT);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(searches_may_run_out_of_memory),
      cmocka_unit_test(the_best_third_goes_on),
      cmocka_unit_test(what_judges_was_never_searched),
      cmocka_unit_test(an_interrupted_search_goes_on),
      cmocka_unit_test(wrong_searches_are_refused),
      cmocka_unit_test(weights_find_rare_classes),
      cmocka_unit_test(wrong_weights_are_named),
      cmocka_unit_test(looking_may_run_out_of_memory),
      cmocka_unit_test(partial_dependence_is_the_mean_of_predictions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
