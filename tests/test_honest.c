/* The honest error against whole fields and polygons that were left out, on real pixels. */
#include <math.h>

#include "harness.h"

enum { MEMBERS = 20 };

static sr_table *read_table(sr_context *ctx, const char *path, const sr_read_options *options) {
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, path, options, &table));
  return table;
}

static const sr_evaluation *train(sr_context *ctx, const sr_table *table, const char *plan,
                                  sr_ensemble **ensemble) {
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = plan;
  options.members = MEMBERS;
  options.evaluate.importance = 0;
  assert_ok(ctx, sr_train(ctx, table, &options, 1, ensemble));
  return sr_ensemble_get(*ensemble)->evaluation;
}

/* The error of the same plan on groups that no member saw. */
static double leave_groups_out(sr_context *ctx, const sr_table *table, const char *plan_name,
                               int32_t folds) {
  sr_compare_options options;
  sr_compare_options_init(&options);
  options.plans = plan_name;
  options.members = MEMBERS;
  options.folds.folds = folds;
  sr_comparison *comparison = NULL;
  assert_ok(ctx, sr_compare(ctx, table, &options, 1, &comparison));
  assert_int_equal(sr_comparison_get(comparison)->held_out, SR_UNIT_GROUP);
  double error = sr_comparison_get(comparison)->rows[0].error;
  sr_comparison_free(&comparison);
  return error;
}

/* Parts come from coordinates alone; the fields are hidden. */
static void maipo_within_three_points_of_leave_field_out(void **state) {
  (void)state;
  const char *path = test_shared_data("satellite/maipo_crops.csv.gz");
  if (!path) skip();
  sr_context *ctx = test_context(2);
  const char *coordinates[] = {"utmx", "utmy", NULL}, *field[] = {"field", NULL};
  sr_read_options options;
  sr_read_options_init(&options);
  options.target = "croptype";
  options.coordinates = coordinates;
  options.drop = field;
  sr_table *hidden = read_table(ctx, path, &options);
  options.coordinates = NULL;
  options.drop = coordinates;
  options.group = "field";
  sr_table *shown = read_table(ctx, path, &options);
  sr_ensemble *ensemble = NULL;
  const sr_evaluation *e = train(ctx, hidden, "routed", &ensemble);
  double truth = leave_groups_out(ctx, shown, "routed", 5);
  assert_int_equal(e->held_out, SR_UNIT_FIELD);
  assert_true(fabs(e->honest - truth) < 0.03);
  sr_ensemble_free(&ensemble);
  if (getenv("SR_FULL")) {
    e = train(ctx, hidden, "uniform", &ensemble);
    truth = leave_groups_out(ctx, shown, "uniform", 10);
    assert_true(fabs(e->honest - truth) < 0.03);
    assert_true(e->naive < 0.3 * truth);
    sr_ensemble_free(&ensemble);
  }
  sr_table_free(&hidden);
  sr_table_free(&shown);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(maipo_within_three_points_of_leave_field_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
