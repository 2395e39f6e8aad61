/* NULL options mean defaults, and values outside their ranges are refused, wherever the public
 * header takes options. */
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

/* ---- what a list refuses, its task refuses --------------------------------------------------- */

typedef struct task_inputs {
  sr_table *table;
  sr_graph *graph;
  sr_structure *structure;
  sr_ensemble *ensemble;
} task_inputs;

static sr_status do_train(sr_context *ctx, const task_inputs *in, const void *options) {
  sr_ensemble *made = NULL;
  sr_status status = sr_train(ctx, in->table, options, 1, &made);
  sr_ensemble_free(&made);
  return status;
}

static sr_status do_compare(sr_context *ctx, const task_inputs *in, const void *options) {
  sr_comparison *made = NULL;
  sr_status status = sr_compare(ctx, in->table, options, 1, &made);
  sr_comparison_free(&made);
  return status;
}

static sr_status do_tune(sr_context *ctx, const task_inputs *in, const void *options) {
  sr_tuning *made = NULL;
  sr_status status = sr_tune(ctx, in->table, options, 1, &made);
  sr_tuning_free(&made);
  return status;
}

static sr_status do_structure(sr_context *ctx, const task_inputs *in, const void *options) {
  sr_structure *made = NULL;
  sr_status status = sr_structure_estimate(ctx, in->table, options, 1, &made);
  sr_structure_free(&made);
  return status;
}

static sr_status do_dependence(sr_context *ctx, const task_inputs *in, const void *options) {
  sr_dependence *made = NULL;
  sr_status status = sr_dependence_estimate(ctx, in->table, NULL, options, 1, &made);
  sr_dependence_free(&made);
  return status;
}

static sr_status do_parts(sr_context *ctx, const task_inputs *in, const void *options) {
  sr_parts *made = NULL;
  sr_status status = sr_parts_compute(ctx, in->graph, options, &made);
  sr_parts_free(&made);
  return status;
}

static sr_status do_spectrum(sr_context *ctx, const task_inputs *in, const void *options) {
  sr_spectrum *made = NULL;
  sr_status status = sr_spectrum_compute(ctx, in->graph, options, 1, &made);
  sr_spectrum_free(&made);
  return status;
}

static sr_status do_folds(sr_context *ctx, const task_inputs *in, const void *options) {
  sr_folds *made = NULL;
  sr_status status = sr_folds_new(ctx, in->structure, options, 1, &made);
  sr_folds_free(&made);
  return status;
}

static sr_status do_judge(sr_context *ctx, const task_inputs *in, const void *options) {
  const sr_predictions said = {.label = sr_table_get(in->table)->label};
  sr_judgment judgment;
  return sr_judge(ctx, in->table, in->structure, &said, options, &judgment);
}

static sr_status do_predict(sr_context *ctx, const task_inputs *in, const void *options) {
  sr_table *made = NULL;
  sr_status status = sr_ensemble_predict_table(ctx, in->ensemble, in->table, options, &made);
  sr_table_free(&made);
  return status;
}

/* A number beyond either end of its range, or a word that is no choice, in a struct that is right
 * otherwise. */
static void lists_and_tasks_agree(void **state) {
  (void)state;
  static const struct {
    const char *name;
    const sr_option *(*list)(void);
    sr_status (*run)(sr_context *, const task_inputs *, const void *);
  } task[] = {{"train", sr_train_option_list, do_train},
              {"compare", sr_compare_option_list, do_compare},
              {"tune", sr_tune_option_list, do_tune},
              {"structure", sr_structure_option_list, do_structure},
              {"dependence", sr_dependence_option_list, do_dependence},
              {"parts", sr_parts_option_list, do_parts},
              {"spectrum", sr_spectrum_option_list, do_spectrum},
              {"folds", sr_folds_option_list, do_folds},
              {"judge", sr_judge_option_list, do_judge},
              {"predict", sr_predict_option_list, do_predict}};
  sr_context *ctx = test_context(1);
  task_inputs in = {.table = make_table(ctx)};
  sr_plan *plan = NULL;
  assert_ok(ctx, sr_graph_build(ctx, in.table, "time", 1, &in.graph));
  assert_ok(ctx, sr_structure_estimate(ctx, in.table, NULL, 1, &in.structure));
  assert_ok(ctx, sr_plan_new(ctx, in.structure, "uniform", 2, 1, &plan));
  assert_ok(ctx, sr_ensemble_fit(ctx, in.table, plan, NULL, 1, &in.ensemble));
  for (size_t t = 0; t < sizeof task / sizeof *task; t++) {
    for (const sr_option *o = task[t].list(); o->key; o++) {
      for (int high = 0; high < 2; high++) {
        union { /* room for every struct of options */
          double align;
          char bytes[1024];
        } options = {.align = 0};
        char *at = options.bytes + o->offset;
        const double real = high ? o->high * 2.0 + 1.0 : o->low - 1.0;
        const int64_t integer = (int64_t)real;
        const int word = high ? 99 : -1;
        if (o->type == SR_OPTION_TEXT) continue;
        sr_options_init(task[t].list(), options.bytes);
        if (o->type == SR_OPTION_REAL)
          memcpy(at, &real, sizeof real);
        else if (o->type == SR_OPTION_INTEGER)
          memcpy(at, &integer, sizeof integer);
        else
          memcpy(at, &word, sizeof word);
        if (task[t].run(ctx, &in, options.bytes) != SR_ERROR_ARGUMENT)
          fail_msg("%s takes %s = %g", task[t].name, o->key,
                   o->type == SR_OPTION_REAL || o->type == SR_OPTION_INTEGER ? real : word);
      }
    }
  }
  sr_plan_free(&plan);
  sr_ensemble_free(&in.ensemble);
  sr_structure_free(&in.structure);
  sr_graph_free(&in.graph);
  sr_table_free(&in.table);
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
      cmocka_unit_test(training_and_comparing), cmocka_unit_test(structure_folds_and_members),
      cmocka_unit_test(graphs_and_pages),       cmocka_unit_test(reading_and_statistics),
      cmocka_unit_test(lists_and_tasks_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
