/* The tree learner: what any tree must do. Splits against an exhaustive search: test_tree_splits.c. */
#include <math.h>

#include "learner_kit.h"

/* d features of 40 distinct values each, class by a noisy rule over the first three. */
static sr_table *random_table(sr_context *ctx, int64_t n, int32_t d, int32_t classes,
                              double missing, uint64_t seed) {
  float *x = malloc(sizeof *x * (size_t)(n * d));
  int32_t *label = malloc(sizeof *label * (size_t)n);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  for (int64_t i = 0; i < n * d; i++) {
    x[i] = (float)sr__random_below(&random, 40) * 0.25f;
    if (sr__random_uniform(&random) < missing) x[i] = NAN;
  }
  for (int64_t i = 0; i < n; i++) {
    double score = 0.0;
    for (int32_t j = 0; j < 3 && j < d; j++) score += isnan(x[j * n + i]) ? 7.0 : x[j * n + i];
    score += 4.0 * sr__random_uniform(&random);
    label[i] = (int32_t)(score / 34.0 * classes) % classes;
  }
  sr_table_view view = {.rows = n,
                        .features = d,
                        .x = x,
                        .label = label,
                        .classes = {classes, kit_names}};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  free(x);
  free(label);
  return table;
}

static sr_learner_options tree_options(void) {
  sr_learner_options options;
  sr_learner_options_init(&options);
  options.name = "tree";
  return options;
}

/* With leaf 1, no depth limit and distinct rows every training row is reproduced. */
static void distinct_rows_are_memorised(void **state) {
  (void)state;
  for (int32_t classes = 2; classes <= 7; classes += 5) {
    for (int criterion = 0; criterion < 2; criterion++) {
      sr_context *ctx = test_context(1);
      sr_simulate_options simulate;
      sr_simulate_options_init(&simulate);
      simulate.n = 250; /* every value has its own bin */
      sr_table *plain = NULL, *table = NULL;
      assert_ok(ctx, sr_simulate(ctx, &simulate, &plain, NULL));
      sr_table_view view = *sr_table_get(plain);
      int32_t label[250];
      sr__random random;
      sr__random_init(&random, 5, SR_PURPOSE_TEST, 0, 0);
      for (int i = 0; i < 250; i++)
        label[i] = (int32_t)sr__random_below(&random, (uint64_t)classes);
      view.label = label;
      view.classes = (sr_dictionary){classes, kit_names};
      assert_ok(ctx, sr_table_new(ctx, &view, &table));
      sr_learner_options options = tree_options();
      options.criterion = (sr_criterion)criterion;
      fitted f;
      int32_t vote[250];
      assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
      assert_ok(ctx, predict_table(ctx, &f, table, vote, NULL));
      assert_true(share_correct(table, vote) == 1.0);
      fitted_free(&f);
      sr_table_free(&plain);
      sr_table_free(&table);
      sr_context_free(&ctx);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distinct_rows_are_memorised),
  };
  (void)random_table;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
