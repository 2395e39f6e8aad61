/* The choice of a plan, and comparisons. */
#include <math.h>

#include "harness.h"

static sr_table *witness(sr_context *ctx, int64_t n, int32_t d, double tmix, double noise) {
  return test_simulate(ctx, 1, "ar1:n=%lld,d=%d,tmix=%.17g,noise=%.17g", (long long)n, d, tmix,
                       noise);
}

static sr_train_options auto_options(int32_t members) {
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = "choose";
  options.members = members;
  options.evaluate.evaluate = 0;
  return options;
}

/* Noisy labels and two features: full bootstraps of trees with leaves of one row copy the noise,
 * and every smaller bag is far better. */
static void noise_makes_it_leave_the_full_bootstrap(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_table *table = witness(ctx, 3000, 2, 5, 1.0);
  sr_train_options options = auto_options(60);
  sr_ensemble *ensemble = NULL;
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
  const sr_choice *choice = sr_ensemble_get(ensemble)->choice;
  assert_non_null(choice);
  const sr_candidate *chosen = &choice->candidates[choice->chosen];
  assert_string_not_equal(chosen->plan, "uniform");
  assert_string_equal(chosen->plan, sr_ensemble_get(ensemble)->mix[0].plan);
  assert_true(chosen->error < choice->candidates[0].error);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void the_record_of_a_choice_is_consistent(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_table *table = witness(ctx, 1500, 4, 10, 0.5);
  sr_train_options options = auto_options(40);
  sr_ensemble *ensemble = NULL;
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
  const sr_choice *choice = sr_ensemble_get(ensemble)->choice;
  const sr_evaluation *judged = sr_ensemble_get(ensemble)->evaluation;
  if (judged) { /* chosen where it is judged */
    assert_int_equal(choice->folds, judged->folds);
    assert_int_equal(choice->buffer, judged->buffer);
  }
  assert_string_equal(choice->candidates[0].plan, "uniform");
  assert_string_equal(choice->candidates[1].plan, "uniform-nm");
  assert_true(choice->fallback == 0 || choice->fallback == 1);
  assert_close(choice->candidates[choice->fallback].difference, 0.0, 0.0);
  assert_true(choice->cost > 0.0 && choice->cost < 1.5);
  for (int32_t k = 0; k < choice->candidate_count; k++) {
    const sr_candidate *c = &choice->candidates[k];
    assert_true(isfinite(c->error) && c->members >= 2 && c->members <= 40);
    assert_close(c->difference, c->error - choice->candidates[choice->fallback].error, 1e-12);
  }
  if (choice->chosen != choice->fallback)
    assert_true(choice->candidates[choice->chosen].difference < 0.0);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* The ensemble of auto is that of the chosen plan by name. */
static void auto_trains_the_plan_it_names(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_table *table = witness(ctx, 1200, 3, 5, 1.0);
  sr_train_options options = auto_options(20);
  sr_ensemble *chosen = NULL, *named = NULL;
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &chosen));
  const sr_choice *choice = sr_ensemble_get(chosen)->choice;
  const sr_candidate *c = &choice->candidates[choice->chosen];
  sr_structure *structure = NULL;
  sr_plan *plan = NULL;
  assert_ok(ctx, sr_structure_estimate(ctx, table, &options.structure, 1, &structure));
  assert_ok(ctx, sr_plan_new(ctx, structure, c->plan, 20, 1, &plan));
  assert_ok(ctx, sr_ensemble_fit(ctx, table, plan, NULL, 1, &named));
  static int32_t votes[2][20 * 1200];
  assert_ok(ctx, sr_ensemble_votes(ctx, chosen, table, votes[0]));
  assert_ok(ctx, sr_ensemble_votes(ctx, named, table, votes[1]));
  assert_memory_equal(votes[0], votes[1], sizeof votes[0]);
  sr_plan_free(&plan);
  sr_structure_free(&structure);
  sr_ensemble_free(&chosen);
  sr_ensemble_free(&named);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- comparison --------------------------------------------------------------------------- */

static void rows_tests_and_blocks_agree(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_table *table = witness(ctx, 1500, 3, 5, 0.5);
  const char *names[] = {"uniform", "routed", "choose"};
  sr_compare_options options;
  sr_compare_options_init(&options);
  options.plans = "uniform,routed,choose";
  options.members = 10;
  sr_comparison *comparison = NULL;
  assert_ok(ctx, sr_compare(ctx, table, &options, 1, &comparison));
  const sr_comparison_view *view = sr_comparison_get(comparison);
  assert_int_equal(view->row_count, 3);
  assert_int_equal(view->test_count, 2);
  assert_int_equal(view->folds, 8);
  for (int r = 0; r < 3; r++) {
    const sr_compare_row *row = &view->rows[r];
    assert_string_equal(row->plan, names[r]);
    assert_true(row->error > 0.05 && row->error < 0.45);
    assert_true(row->low <= row->error && row->error <= row->high);
    assert_true(view->rows[view->best].error <= row->error);
  }
  /* The test is SciPy's: Wilcoxon over the blocks' differences, which stats checks by itself. */
  for (int t = 0; t < 2; t++) {
    const sr_compare_test *test = &view->tests[t];
    double x[64], y[64];
    sr_wilcoxon expected;
    assert_true(view->units <= 64);
    for (int b = 0; b < view->units; b++) {
      x[b] = view->unit_error[test->first * view->units + b];
      y[b] = view->unit_error[test->second * view->units + b];
    }
    assert_ok(ctx,
              sr_wilcoxon_test(ctx, view->units, x, y, SR_ZERO_WILCOX, SR_TAIL_AUTO, &expected));
    assert_close(test->p, expected.p, 1e-12);
    assert_true(test->low <= test->difference && test->difference <= test->high);
    assert_true(test->high - test->low < 0.5);
    assert_true(test->p_holm >= test->p);
  }
  sr_comparison_free(&comparison);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Each group has its own answer, so whole groups held out leave nothing to know: the error is that
 * of guessing, while a comparison by blocks of the same rows would see every group. */
static void groups_are_held_out_whole(void **state) {
  (void)state;
  enum { ROWS = 400, GROUPS = 20 };
  sr_context *ctx = test_context(1);
  static float x[ROWS];
  static int32_t group[ROWS], label[ROWS];
  char text[GROUPS][16];
  const char *group_names[GROUPS], *class_names[] = {"a", "b"};
  for (int g = 0; g < GROUPS; g++) {
    snprintf(text[g], sizeof text[g], "g%d", g);
    group_names[g] = text[g];
  }
  for (int i = 0; i < ROWS; i++) {
    group[i] = i % GROUPS;
    x[i] = (float)(group[i] * 7 % GROUPS);
    label[i] = ((int)x[i] + (int)x[i] / 2) % 2;
  }
  sr_table_view view = {.rows = ROWS,
                        .features = 1,
                        .x = x,
                        .label = label,
                        .classes = {2, class_names},
                        .group = group,
                        .groups = {GROUPS, group_names}};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  sr_compare_options options;
  sr_compare_options_init(&options);
  options.plans = "uniform";
  options.members = 5;
  options.folds.folds = 0;
  sr_comparison *comparison = NULL;
  assert_ok(ctx, sr_compare(ctx, table, &options, 1, &comparison));
  const sr_comparison_view *found = sr_comparison_get(comparison);
  assert_int_equal(found->folds, GROUPS);
  assert_int_equal(found->units, GROUPS);
  assert_int_equal(found->held_out, SR_UNIT_GROUP);
  for (int g = 0; g < GROUPS; g++) {
    double error = found->unit_error[g];
    assert_true(error == 0.0 || error == 1.0); /* one answer a group */
  }
  assert_true(found->rows[0].error > 0.3);
  sr_comparison_free(&comparison);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void wrong_options_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = witness(ctx, 100, 2, 2, 0.5);
  sr_compare_options options;
  sr_compare_options_init(&options);
  sr_comparison *comparison = NULL;
  options.plans = "";
  assert_int_equal(sr_compare(ctx, table, &options, 1, &comparison), SR_ERROR_ARGUMENT);
  options.plans = "uniform";
  options.folds.folds = 0; /* one group per fold, but there are none */
  assert_int_equal(sr_compare(ctx, table, &options, 1, &comparison), SR_ERROR_ARGUMENT);
  options.folds.folds = 5;
  options.plans = "uniform,nothing";
  assert_int_equal(sr_compare(ctx, table, &options, 1, &comparison), SR_ERROR_NOT_FOUND);
  assert_int_equal(sr_compare_options_check(ctx, &options), SR_ERROR_NOT_FOUND);
  options.plans = "uniform";
  options.folds.folds = 1;
  assert_int_equal(sr_compare(ctx, table, &options, 1, &comparison), SR_ERROR_ARGUMENT);
  assert_null(comparison);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static sr_status choose_and_compare(sr_context *ctx, void *data) {
  (void)data;
  sr_compare_options options;
  sr_compare_options_init(&options);
  options.plans = "choose";
  options.members = 3;
  options.folds.folds = 2;
  options.structure.parts = 1; /* two candidates are enough to meet every allocation */
  sr_table *table = NULL;
  sr_comparison *comparison = NULL;
  sr_status status = sr_simulate(ctx, "ar1:n=60,d=2", 1, 0, &table, NULL);
  if (status == SR_OK) status = sr_compare(ctx, table, &options, 1, &comparison);
  sr_comparison_free(&comparison);
  sr_table_free(&table);
  return status;
}

static void choices_survive_every_allocation_failure(void **state) {
  (void)state;
  test_every_allocation(choose_and_compare, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(noise_makes_it_leave_the_full_bootstrap),
      cmocka_unit_test(the_record_of_a_choice_is_consistent),
      cmocka_unit_test(auto_trains_the_plan_it_names),
      cmocka_unit_test(rows_tests_and_blocks_agree),
      cmocka_unit_test(groups_are_held_out_whole),
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(choices_survive_every_allocation_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
