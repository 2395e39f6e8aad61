/* Training with a structure or a plan that was made before; plans and structures as bytes; trees as
 * node arrays; predictions on rows that are in no table. */
#include <math.h>

#include "harness.h"

static sr_train_options few_members(void) {
  sr_train_options options;
  sr_train_options_init(&options);
  options.members = 6;
  options.plan = "routed";
  options.evaluate.importance = 0;
  return options;
}

static void assert_same_predictions(sr_context *ctx, const sr_ensemble *a, const sr_ensemble *b,
                                    const sr_table *table) {
  int64_t rows = sr_table_get(table)->rows, classes = sr_ensemble_get(a)->classes.count;
  float *first = malloc((size_t)(rows * classes) * sizeof *first);
  float *second = malloc((size_t)(rows * classes) * sizeof *second);
  assert_true(first && second);
  assert_ok(ctx, sr_ensemble_predict(ctx, a, table, NULL, first));
  assert_ok(ctx, sr_ensemble_predict(ctx, b, table, NULL, second));
  assert_memory_equal(first, second, (size_t)(rows * classes) * sizeof *first);
  free(first);
  free(second);
}

/* The structure that sr_train estimates, given, makes the same ensemble; its plan, given, too. */
static void what_is_given_is_used(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_table *table = test_simulate(ctx, 3, "ar1:n=240,tmix=4,d=3");
  sr_train_options options = few_members();
  sr_structure *structure = NULL;
  sr_plan *plan = NULL;
  sr_ensemble *plain = NULL, *with_structure = NULL, *with_plan = NULL;
  assert_ok(ctx, sr_train(ctx, table, &options, 7, &plain));
  assert_ok(ctx, sr_structure_estimate(ctx, table, &options.structure, 7, &structure));
  assert_ok(ctx, sr_plan_new(ctx, structure, "routed", 6, 7, &plan));
  sr_train_input input = {.structure = structure};
  assert_ok(ctx, sr_train_with(ctx, table, &input, &options, 7, &with_structure));
  input.plan = plan;
  options.plan = "uniform";
  assert_ok(ctx, sr_train_with(ctx, table, &input, &options, 7, &with_plan));
  sr_structure_free(&structure);
  sr_plan_free(&plan);
  assert_same_predictions(ctx, plain, with_structure, table);
  assert_same_predictions(ctx, plain, with_plan, table);
  assert_string_equal(sr_ensemble_get(with_plan)->mix[0].name, "routed");
  assert_true(sr_structure_get(sr_ensemble_get(with_structure)->structure)->rows == 240);
  assert_close(sr_ensemble_get(with_plan)->evaluation->honest,
               sr_ensemble_get(plain)->evaluation->honest, 0);
  sr_ensemble_free(&plain);
  sr_ensemble_free(&with_structure);
  sr_ensemble_free(&with_plan);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Bags of one's own: two halves, each member knows one. */
static void own_bags_train(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = test_simulate(ctx, 3, "ar1:n=200,tmix=2,d=3");
  int64_t row[400], offset[5];
  for (int64_t i = 0; i < 400; i++) row[i] = i % 200;
  for (int64_t j = 0; j < 5; j++) offset[j] = 100 * j;
  sr_plan *plan = NULL;
  assert_ok(ctx, sr_plan_from_bags(ctx, 200, 4, offset, row, NULL, &plan));
  sr_train_options options = few_members();
  sr_ensemble *ensemble = NULL;
  sr_train_input input = {.plan = plan};
  assert_ok(ctx, sr_train_with(ctx, table, &input, &options, 1, &ensemble));
  assert_int_equal(sr_ensemble_get(ensemble)->members, 4);
  assert_true(sr_ensemble_get(ensemble)->evaluation->honest <= 1.0);
  sr_ensemble_free(&ensemble);
  sr_plan_free(&plan);
  assert_ok(ctx, sr_plan_from_bags(ctx, 300, 4, offset, row, NULL, &plan));
  input.plan = plan;
  assert_int_equal(sr_train_with(ctx, table, &input, &options, 1, &ensemble), SR_ERROR_ARGUMENT);
  sr_plan_free(&plan);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void assert_same_bags(sr_context *ctx, const sr_plan *a, const sr_plan *b) {
  sr_plan_view first = sr_plan_get(a), second = sr_plan_get(b);
  assert_int_equal(first.members, second.members);
  assert_string_equal(first.text, second.text);
  int64_t *row = malloc((size_t)first.rows * 2 * sizeof *row), length[2];
  int32_t *times = malloc((size_t)first.rows * 2 * sizeof *times);
  assert_true(row && times);
  for (int32_t j = 0; j < first.members; j++) {
    assert_ok(ctx, sr_plan_bag(ctx, a, j, row, times, &length[0]));
    assert_ok(ctx, sr_plan_bag(ctx, b, j, row + first.rows, times + first.rows, &length[1]));
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(row, row + first.rows, (size_t)length[0] * sizeof *row);
    assert_memory_equal(times, times + first.rows, (size_t)length[0] * sizeof *times);
  }
  free(row);
  free(times);
}

static const char *const graphs[] = {"time", "features:5", "none"};

static void structures_and_plans_travel(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = test_simulate(ctx, 5, "ar1:n=400,tmix=5,d=3");
  for (int g = 0; g < 3; g++) {
    sr_structure_options options;
    sr_structure_options_init(&options);
    options.graph = graphs[g];
    sr_structure *structure = NULL, *back = NULL;
    sr_plan *plan = NULL, *same = NULL, *bags = NULL;
    void *bytes = NULL, *plan_bytes = NULL;
    int64_t count, plan_count;
    assert_ok(ctx, sr_structure_estimate(ctx, table, &options, 1, &structure));
    assert_ok(ctx, sr_structure_to_bytes(ctx, structure, &bytes, &count));
    assert_ok(ctx, sr_structure_from_bytes(ctx, bytes, count, &back));
    const sr_structure_view *a = sr_structure_get(structure), *b = sr_structure_get(back);
    assert_string_equal(a->graph, b->graph);
    assert_string_equal(a->recommend, b->recommend);
    assert_true(a->tmix == b->tmix && a->unit == b->unit && a->independent == b->independent);
    assert_null(b->dependence);
    const sr_parts_view *p = sr_parts_get(a->parts), *q = sr_parts_get(b->parts);
    assert_int_equal(p->cut_edges, q->cut_edges);
    assert_memory_equal(p->part, q->part, 400 * sizeof *p->part);
    int32_t cut[2][400];
    assert_ok(ctx, sr_structure_cut(ctx, structure, 7, cut[0]));
    assert_ok(ctx, sr_structure_cut(ctx, back, 7, cut[1]));
    assert_memory_equal(cut[0], cut[1], sizeof cut[0]);
    assert_ok(ctx, sr_plan_new(ctx, structure, "routed:part_share=0.5", 9, 3, &plan));
    assert_ok(ctx, sr_plan_new(ctx, back, "routed:part_share=0.5", 9, 3, &same));
    assert_same_bags(ctx, plan, same);
    assert_ok(ctx, sr_plan_to_bytes(ctx, plan, &plan_bytes, &plan_count));
    assert_ok(ctx, sr_plan_from_bytes(ctx, plan_bytes, plan_count, &bags));
    assert_same_bags(ctx, plan, bags);
    sr_plan_free(&bags);
    sr_plan_free(&same);
    sr_plan_free(&plan);
    sr_structure_free(&back);
    /* No damaged bytes are taken for whole ones that reach outside. */
    uint8_t *damaged = bytes;
    for (int64_t at = 0; at < count; at += count / 97 + 1) {
      damaged[at] ^= 0x5A;
      if (sr_structure_from_bytes(ctx, damaged, count, &back) == SR_OK) sr_structure_free(&back);
      damaged[at] ^= 0x5A;
      assert_int_not_equal(sr_structure_from_bytes(ctx, damaged, at, &back), SR_OK);
    }
    damaged = plan_bytes;
    for (int64_t at = 0; at < plan_count; at += plan_count / 97 + 1) {
      damaged[at] ^= 0x5A;
      if (sr_plan_from_bytes(ctx, damaged, plan_count, &bags) == SR_OK) sr_plan_free(&bags);
      damaged[at] ^= 0x5A;
      assert_int_not_equal(sr_plan_from_bytes(ctx, damaged, at, &bags), SR_OK);
    }
    sr_bytes_free(&bytes);
    sr_bytes_free(&plan_bytes);
    sr_structure_free(&structure);
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- node arrays -------------------------------------------------------------------------- */

static bool goes_left(const sr_nodes_view *n, int32_t at, float x) {
  if (isnan(x)) return n->missing_left[at];
  if (!isnan(n->threshold[at])) return x <= n->threshold[at];
  for (int64_t k = n->category_offset[at]; k < n->category_offset[at + 1]; k++)
    if ((float)n->category[k] == x) return true;
  return false;
}

/* Walking the arrays gives the votes of the members, with numbers, categories and gaps. */
static void nodes_vote_as_members_do(void **state) {
  (void)state;
  enum { ROWS = 500 };
  sr_context *ctx = test_context(1);
  double normal[2 * ROWS];
  float x[2 * ROWS];
  int32_t label[ROWS], votes[8 * ROWS];
  static const char *const colors[] = {"red", "green", "blue", "gray", "pink"};
  static const char *const names[] = {"a", "b", "c"};
  const sr_dictionary categories[] = {{0, NULL}, {5, colors}};
  sr_random_normal(1, 0, 0, 2 * ROWS, normal);
  for (int i = 0; i < ROWS; i++) {
    x[i] = i % 11 ? (float)normal[i] : NAN;
    int color = (int)(fabs(normal[ROWS + i]) * 3) % 5;
    x[ROWS + i] = i % 13 ? (float)color : NAN;
    label[i] = i % 11 && normal[i] > 0.3 ? 2 : color % 2;
  }
  sr_table_view view = {.rows = ROWS,
                        .features = 2,
                        .x = x,
                        .categories = categories,
                        .label = label,
                        .classes = {3, names}};
  sr_table *table = NULL;
  sr_ensemble *ensemble = NULL;
  sr_nodes *nodes = NULL;
  sr_train_options options = few_members();
  options.members = 8;
  options.evaluate.evaluate = 0;
  assert_ok(ctx, sr_table_wrap(ctx, &view, &table));
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
  assert_ok(ctx, sr_ensemble_votes(ctx, ensemble, table, votes));
  for (int32_t j = 0; j < 8; j++) {
    assert_ok(ctx, sr_ensemble_nodes(ctx, ensemble, j, &nodes));
    const sr_nodes_view *n = sr_nodes_get(nodes);
    assert_int_equal(n->classes, 3);
    for (int i = 0; i < ROWS; i++) {
      int32_t at = 0, best = 0;
      while (n->feature[at] >= 0)
        at = goes_left(n, at, x[n->feature[at] * ROWS + i]) ? n->left[at] : n->right[at];
      for (int32_t c = 1; c < 3; c++)
        if (n->share[at * 3 + c] > n->share[at * 3 + best]) best = c;
      assert_int_equal(best, votes[j * ROWS + i]);
    }
    sr_nodes_free(&nodes);
  }
  assert_int_equal(sr_ensemble_nodes(ctx, ensemble, 8, &nodes), SR_ERROR_ARGUMENT);
  int32_t whole[ROWS], seen[ROWS];
  assert_ok(ctx, sr_ensemble_predict(ctx, ensemble, table, whole, NULL));
  view.label = NULL;
  assert_ok(ctx, sr_ensemble_predict_view(ctx, ensemble, &view, seen, NULL));
  assert_memory_equal(whole, seen, sizeof whole);
  view.features = -1;
  assert_int_equal(sr_ensemble_predict_view(ctx, ensemble, &view, seen, NULL), SR_ERROR_ARGUMENT);
  sr_ensemble_free(&ensemble);
  options.learner = "ridge";
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
  assert_int_equal(sr_ensemble_nodes(ctx, ensemble, 0, &nodes), SR_ERROR_UNSUPPORTED);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- folds of the future ------------------------------------------------------------------ */

static void forward_folds_look_ahead_only(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_structure_input input = {.rows = 103, .tmix = 3, .parts = 5};
  sr_structure *structure = NULL;
  sr_folds *folds = NULL;
  assert_ok(ctx, sr_structure_new(ctx, &input, &structure));
  for (int64_t buffer = -1; buffer < 8; buffer++) {
    assert_ok(ctx, sr_folds_forward(ctx, structure, 4, buffer, &folds));
    const sr_folds_view *v = sr_folds_get(folds);
    int64_t kept = buffer < 0 ? 3 : buffer;
    assert_int_equal(v->buffer, kept);
    assert_int_equal(v->folds, 4);
    for (int32_t k = 0; k < 4; k++) {
      const uint8_t *role = v->role + k * 103;
      int64_t first = 0, trained = 0, tested = 0;
      while (role[first] != SR_ROLE_TEST) first++;
      for (int64_t i = 0; i < 103; i++) {
        tested += role[i] == SR_ROLE_TEST;
        trained += role[i] == SR_ROLE_TRAIN;
        if (role[i] == SR_ROLE_TRAIN) assert_true(i + kept < first);
      }
      assert_true(tested >= 20 && tested <= 21);
      assert_int_equal(trained, first - kept);
    }
    sr_folds_free(&folds);
  }
  assert_int_equal(sr_folds_forward(ctx, structure, 4, 50, &folds), SR_ERROR_DATA);
  assert_int_equal(sr_folds_forward(ctx, structure, 103, 0, &folds), SR_ERROR_DATA);
  assert_int_equal(sr_folds_forward(ctx, structure, 0, 0, &folds), SR_ERROR_ARGUMENT);
  sr_structure_free(&structure);
  sr_context_free(&ctx);
}

/* What the new calls work on; made once, so that only their own allocations fail. */
typedef struct given_objects {
  const sr_table *table;
  sr_structure *structure;
  sr_plan *plan;
  sr_ensemble *ensemble;
} given_objects;

static sr_status make_all(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  const given_objects *given = data;
  sr_structure *back = NULL;
  sr_plan *same = NULL;
  sr_nodes *nodes = NULL;
  sr_folds *folds = NULL;
  void *bytes = NULL, *more = NULL;
  int64_t count;
  int32_t label[40];
  SR_TRY(sr_structure_to_bytes(ctx, given->structure, &bytes, &count));
  SR_TRY(sr_structure_from_bytes(ctx, bytes, count, &back));
  SR_TRY(sr_folds_forward(ctx, back, 3, 0, &folds));
  SR_TRY(sr_plan_to_bytes(ctx, given->plan, &more, &count));
  SR_TRY(sr_plan_from_bytes(ctx, more, count, &same));
  SR_TRY(sr_ensemble_nodes(ctx, given->ensemble, 1, &nodes));
  SR_TRY(sr_ensemble_predict_view(ctx, given->ensemble, sr_table_get(given->table), label, NULL));
cleanup:
  sr_folds_free(&folds);
  sr_nodes_free(&nodes);
  sr_plan_free(&same);
  sr_structure_free(&back);
  sr_bytes_free(&bytes);
  sr_bytes_free(&more);
  return status;
}

static sr_status train_given(sr_context *ctx, void *data) {
  const given_objects *given = data;
  sr_train_options options = few_members();
  sr_ensemble *ensemble = NULL;
  options.evaluate.evaluate = 0;
  sr_train_input input = {.structure = given->structure, .plan = given->plan};
  sr_status status = sr_train_with(ctx, given->table, &input, &options, 1, &ensemble);
  sr_ensemble_free(&ensemble);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = test_simulate(ctx, 5, "ar1:n=40,tmix=2,d=2");
  given_objects given = {.table = table};
  sr_structure_options wanted;
  sr_structure_options_init(&wanted);
  wanted.graph = "features:3";
  assert_ok(ctx, sr_structure_estimate(ctx, table, &wanted, 1, &given.structure));
  assert_ok(ctx, sr_plan_new(ctx, given.structure, "routed", 2, 1, &given.plan));
  sr_train_options options = few_members();
  options.evaluate.evaluate = 0;
  sr_train_input input = {.structure = given.structure, .plan = given.plan};
  assert_ok(ctx, sr_train_with(ctx, table, &input, &options, 1, &given.ensemble));
  test_every_allocation(make_all, &given);
  test_every_allocation(train_given, &given);
  sr_ensemble_free(&given.ensemble);
  sr_plan_free(&given.plan);
  sr_structure_free(&given.structure);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void the_library_tells_its_abi(void **state) {
  (void)state;
  assert_true(sr_abi() >= 0 && sr_abi() < 1 << 28);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_given_is_used),         cmocka_unit_test(own_bags_train),
      cmocka_unit_test(structures_and_plans_travel),   cmocka_unit_test(nodes_vote_as_members_do),
      cmocka_unit_test(forward_folds_look_ahead_only), cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(the_library_tells_its_abi),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
