/* NULL options mean defaults, wherever the public header takes options. */
#include "harness.h"

enum { ROWS = 400 };

/* A chain of two features whose sign is the class. */
static sr_table *make_table(sr_context *ctx) {
  static const char *const names[] = {"down", "up"};
  static float x[2 * ROWS];
  static int32_t label[ROWS];
  uint32_t state = 1;
  for (int j = 0; j < 2; j++) {
    float now = 0;
    for (int i = 0; i < ROWS; i++) {
      state = state * 1664525u + 1013904223u;
      now = 0.9f * now + (float)(state >> 8) / (float)(1 << 24) - 0.5f;
      x[j * ROWS + i] = now;
    }
  }
  for (int i = 0; i < ROWS; i++) label[i] = x[i] > 0;
  const sr_table_view view = {
      .rows = ROWS, .features = 2, .x = x, .label = label, .classes = {2, names}};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  return table;
}

static double honest_error(sr_ensemble *ensemble) {
  return sr_ensemble_get(ensemble)->evaluation->honest;
}

static void training_and_comparing(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = make_table(ctx);
  sr_train_options train;
  sr_train_options_init(&train);
  sr_ensemble *plain = NULL, *given = NULL;
  assert_ok(ctx, sr_train_options_check(ctx, NULL));
  assert_ok(ctx, sr_train(ctx, table, NULL, 3, &plain));
  assert_ok(ctx, sr_train(ctx, table, &train, 3, &given));
  assert_close(honest_error(plain), honest_error(given), 0);
  sr_ensemble_free(&plain), sr_ensemble_free(&given);
  sr_comparison *comparison = NULL;
  assert_ok(ctx, sr_compare_options_check(ctx, NULL));
  assert_ok(ctx, sr_compare(ctx, table, NULL, 3, &comparison));
  sr_comparison_free(&comparison);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void structure_folds_and_members(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = make_table(ctx);
  sr_structure *structure = NULL;
  sr_folds *folds = NULL;
  sr_dependence *dependence = NULL;
  assert_ok(ctx, sr_structure_estimate(ctx, table, NULL, 1, &structure));
  assert_ok(ctx, sr_folds_new(ctx, structure, NULL, 1, &folds));
  assert_ok(ctx, sr_dependence_estimate(ctx, table, NULL, NULL, 1, &dependence));
  sr_ensemble *ensemble = NULL;
  sr_plan *plan = NULL;
  sr_spectrum *spectrum = NULL;
  assert_ok(ctx, sr_plan_new(ctx, structure, "uniform", 3, 1, &plan));
  assert_ok(ctx, sr_ensemble_fit(ctx, table, plan, NULL, 1, &ensemble));
  assert_ok(ctx, sr_spectrum_nystrom(ctx, table, NULL, 1, &spectrum));
  sr_spectrum_free(&spectrum);
  sr_ensemble_free(&ensemble);
  sr_plan_free(&plan);
  sr_dependence_free(&dependence);
  sr_folds_free(&folds);
  sr_structure_free(&structure);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void graphs_and_pages(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t start[] = {0, 1, 3, 5, 6};
  const int32_t neighbor[] = {1, 0, 2, 1, 3, 2};
  sr_graph *graph = NULL;
  sr_parts *parts = NULL;
  sr_spectrum *spectrum = NULL;
  sr_page *page = NULL;
  sr_agent *agent = NULL;
  sr_context *other = NULL;
  const sr_graph_view view = {.nodes = 4, .arcs = 6, .offset = start, .neighbor = neighbor};
  assert_ok(ctx, sr_graph_new(ctx, &view, &graph));
  assert_ok(ctx, sr_parts_compute(ctx, graph, NULL, &parts));
  assert_ok(ctx, sr_spectrum_compute(ctx, graph, NULL, 1, &spectrum));
  assert_ok(ctx, sr_page_new(ctx, NULL, &page));
  assert_ok(ctx, sr_agent_new(ctx, NULL, 1, &agent));
  sr_agent_free(&agent);
  assert_int_equal(sr_context_new(NULL, &other), SR_OK);
  sr_context_free(&other);
  sr_page_free(&page);
  sr_spectrum_free(&spectrum);
  sr_parts_free(&parts);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
}

static double mean(void *data, int64_t count, const double *value) {
  (void)data;
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += value[i];
  return sum / (double)count;
}

static void reading_and_statistics(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  static const char text[] = "a,b\n1,2\n3,4\n";
  const double value[] = {1, 2, 3, 4, 5, 6}, tau[] = {2};
  sr_table *table = NULL;
  sr_interval interval;
  assert_ok(ctx, sr_table_read_bytes(ctx, text, sizeof text - 1, "rows.csv", NULL, &table));
  assert_ok(ctx, sr_bootstrap(ctx, 6, value, mean, NULL, NULL, 1, &interval));
  assert_ok(ctx, sr_iqm(ctx, 3, 2, value, NULL, 1, &interval));
  assert_ok(ctx, sr_performance_profile(ctx, 3, 2, value, 1, tau, NULL, 1, &interval));
  assert_ok(ctx, sr_probability_of_improvement(ctx, 2, 3, value, 3, value, NULL, 1, &interval));
  sr_table_free(&table);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(training_and_comparing),
      cmocka_unit_test(structure_folds_and_members),
      cmocka_unit_test(graphs_and_pages),
      cmocka_unit_test(reading_and_statistics),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
