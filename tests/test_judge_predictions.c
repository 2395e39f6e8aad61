/* Anybody's predictions judged on rows that depend on each other, and an ensemble on new rows. */
#include <math.h>

#include "evaluate/loss.h"
#include "harness.h"

/* A table of labels with a structure of its own. */
typedef struct judged_rows {
  sr_table *table;
  sr_structure *structure;
} judged_rows;

static judged_rows make_rows(sr_context *ctx, int64_t rows, const int32_t *label, int32_t classes,
                             double tmix, const int32_t *group, int32_t groups) {
  static const char *const names[] = {"a", "b", "c"};
  judged_rows made = {0};
  sr_table_view view = {.rows = rows, .label = label, .classes = {classes, names}};
  sr_structure_input input = {.rows = rows, .tmix = tmix, .group = group, .groups = groups};
  assert_ok(ctx, sr_table_new(ctx, &view, &made.table));
  assert_ok(ctx, sr_structure_new(ctx, &input, &made.structure));
  return made;
}

static void free_rows(judged_rows *made) {
  sr_table_free(&made->table);
  sr_structure_free(&made->structure);
}

/* By hand: four rows, three classes. */
static void numbers_are_those_of_the_definitions(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int32_t label[] = {0, 1, 2, 1};
  const float proba[] = {0.5f, 0.25f, 0.25f, 0.25f, 0.75f, 0, 0.5f, 0.25f, 0.25f, 1, 0, 0};
  judged_rows made = make_rows(ctx, 4, label, 3, 1, NULL, 0);
  sr_predictions given = {.proba = proba};
  sr_judgment j;
  assert_ok(ctx, sr_judge(ctx, made.table, made.structure, &given, NULL, &j));
  assert_int_equal(j.rows, 4);
  assert_close(j.error, 0.5, 1e-12); /* votes 0 1 0 0 */
  assert_close(j.baseline, 0.5, 1e-12);
  assert_close(j.metrics.balanced_accuracy, (1 + 0.5 + 0) / 3, 1e-12);
  assert_close(j.metrics.macro_f1, (2.0 / 4 + 2.0 / 3 + 0) / 3, 1e-12);
  /* class 0: .5 against .25 .5 1 = 1.5 / 3; class 1: .75, 0 against .25, .25: 1/2; class 2: .25
   * against .25 0 0: 2.5 / 3 */
  assert_close(j.metrics.auc, (0.5 + 0.5 + 2.5 / 3) / 3, 1e-12);
  assert_close(j.metrics.brier, (0.375 + 0.125 + 0.875 + 2.0) / 4, 1e-12);
  assert_close(j.metrics.log_loss, -(log(0.5) + log(0.75) + log(0.25) + log(1e-7)) / 4, 1e-12);
  assert_true(isnan(j.low) && j.naive_low < 0.5 && j.naive_high > 0.5);
  free_rows(&made);
  sr_context_free(&ctx);
}

/* Errors of chains with a known T: the interval holds the truth, the naive one does not. */
static void intervals_cover(void **state) {
  (void)state;
  enum { ROWS = 4000, RUNS = 200 };
  sr_context *ctx = test_context(1);
  const double tmix = 20, risk = 0.3;
  static int32_t label[ROWS], vote[ROWS];
  static double uniform[2 * ROWS];
  int covered = 0, naive = 0;
  judged_rows made = make_rows(ctx, ROWS, label, 2, tmix, NULL, 0);
  for (uint64_t run = 0; run < RUNS; run++) {
    sr_random_uniform(9, run, 0, 2 * ROWS, uniform);
    int wrong = uniform[0] < risk;
    for (int i = 0; i < ROWS; i++) {
      if (uniform[2 * i] < 1 / tmix) wrong = uniform[2 * i + 1] < risk;
      vote[i] = wrong;
    }
    sr_predictions given = {.label = vote};
    sr_judgment j;
    assert_ok(ctx, sr_judge(ctx, made.table, made.structure, &given, NULL, &j));
    covered += j.low <= risk && risk <= j.high;
    naive += j.naive_low <= risk && risk <= j.naive_high;
  }
  /* 190 expected; below 174 a right interval falls less than once in a million runs. */
  assert_true(covered >= 174);
  assert_true(naive < 120);
  free_rows(&made);
  sr_context_free(&ctx);
}

static void groups_are_units(void **state) {
  (void)state;
  enum { ROWS = 120 };
  sr_context *ctx = test_context(1);
  int32_t label[ROWS], vote[ROWS], group[ROWS];
  for (int i = 0; i < ROWS; i++) {
    label[i] = i % 2;
    group[i] = i / 10;
    vote[i] = group[i] < 3 ? 1 - label[i] : label[i];
    if (group[i] == 11) vote[i] = -1;
  }
  judged_rows made = make_rows(ctx, ROWS, label, 2, 1, group, 12);
  sr_predictions given = {.label = vote};
  sr_judgment j;
  assert_ok(ctx, sr_judge(ctx, made.table, made.structure, &given, NULL, &j));
  assert_int_equal(j.unit, SR_UNIT_GROUP);
  assert_int_equal(j.units, 11);
  assert_int_equal(j.rows, 110);
  assert_close(j.error, 30.0 / 110, 1e-12);
  assert_true(j.high - j.low > 2 * (j.naive_high - j.naive_low));
  free_rows(&made);
  sr_context_free(&ctx);
}

static void wrong_predictions_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int32_t label[] = {0, 1, 0}, none[] = {-1, -1, -1}, wild[] = {0, 2, 0};
  const float proba[] = {1, 0, 2, 0, 0, 1};
  judged_rows made = make_rows(ctx, 3, label, 2, 1, NULL, 0);
  judged_rows other = make_rows(ctx, 2, label, 2, 1, NULL, 0);
  sr_judgment j;
  sr_predictions given = {.label = wild};
  sr_judge_options options = {.level = 1.5};
  assert_int_equal(sr_judge(ctx, made.table, made.structure, &given, NULL, &j), SR_ERROR_ARGUMENT);
  given.label = none;
  assert_int_equal(sr_judge(ctx, made.table, made.structure, &given, NULL, &j), SR_ERROR_DATA);
  given = (sr_predictions){.proba = proba};
  assert_int_equal(sr_judge(ctx, made.table, made.structure, &given, NULL, &j), SR_ERROR_ARGUMENT);
  given = (sr_predictions){.label = label};
  assert_int_equal(sr_judge(ctx, made.table, other.structure, &given, NULL, &j), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_judge(ctx, made.table, made.structure, &given, &options, &j),
                   SR_ERROR_ARGUMENT);
  given.label = NULL;
  assert_int_equal(sr_judge(ctx, made.table, made.structure, &given, NULL, &j), SR_ERROR_ARGUMENT);
  given.value = (const double[]){0.5, 1.5, 0.25};
  assert_int_equal(sr_judge(ctx, made.table, made.structure, &given, NULL, &j),
                   SR_ERROR_UNSUPPORTED);
  free_rows(&made);
  free_rows(&other);
  sr_context_free(&ctx);
}

/* ---- losses and scores ---------------------------------------------------------------------- */

static void a_loss_is_the_share_of_wrong_classes_in_the_lead(void **state) {
  (void)state;
  const double three[] = {0.4, 0.4, 0.2}, offset[] = {0.0, 0.0, 0.2};
  const float share[] = {0.25f, 0.5f, 0.25f}, low[] = {0.5f, 0.25f, 0.25f};
  assert_true(sr__vote_loss(three, NULL, 3, 0) == 0.5);
  assert_true(sr__vote_loss(three, NULL, 3, 2) == 1.0);
  assert_true(fabs(sr__vote_loss(three, offset, 3, 2) - 2.0 / 3.0) < 1e-15);
  for (double first = 0.0; first <= 1.0; first += 0.125) {
    const double two[] = {first, 1.0 - first};
    for (int32_t label = 0; label < 2; label++)
      assert_true(sr__vote_loss(two, NULL, 2, label) ==
                  sr__vote_loss_of_two(two[1] - two[0], label));
  }
  assert_true(sr__class_loss(1, 1) == 0.0 && sr__class_loss(0, 1) == 1.0);
  assert_true(isnan(sr__class_loss(-1, 1)) && isnan(sr__class_loss(1, -1)));
  assert_true(sr__class_score(1, 1) == 1.0 && sr__class_score(0, 1) == -1.0);
  assert_true(sr__share_score(share, 3, 1) == 0.25 && sr__share_score(low, 3, 1) == -0.25);
  assert_int_equal(sr__vote_class(share, NULL, 3), 1);
}

/* ---- an ensemble on new rows ---------------------------------------------------------------- */

static sr_ensemble *train(sr_context *ctx, const sr_table *table) {
  sr_train_options options;
  sr_ensemble *ensemble = NULL;
  sr_train_options_init(&options);
  options.members = 9;
  options.plan = "uniform";
  options.evaluate.evaluate = 0;
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
  return ensemble;
}

static void ensembles_are_judged_on_new_rows(void **state) {
  (void)state;
  enum { ROWS = 800 };
  sr_context *ctx = test_context(1);
  sr_table *old = test_simulate(ctx, 3, "ar1:n=800,tmix=5,d=3"), *renamed = NULL;
  sr_table *new = NULL;
  assert_ok(ctx, sr_simulate(ctx, "ar1:n=800,tmix=5,d=3", 3, 1, &new, NULL));
  sr_ensemble *ensemble = train(ctx, old);
  int32_t vote[ROWS], label[ROWS];
  sr_judgment j, k;
  assert_ok(ctx, sr_ensemble_predict(ctx, ensemble, new, vote, NULL));
  double wrong = 0;
  for (int i = 0; i < ROWS; i++) wrong += vote[i] != sr_table_get(new)->label[i];
  assert_ok(ctx, sr_evaluate(ctx, ensemble, new, NULL, NULL, &j));
  assert_close(j.error, wrong / ROWS, 1e-12);
  assert_true(j.low < j.error && j.error < j.high && j.metrics.auc > 0.5);
  /* The same rows with their classes in another order and one that the model never saw. */
  static const char *const names[] = {"other", "1", "-1"};
  sr_table_view view = *sr_table_get(new);
  for (int i = 0; i < ROWS; i++) label[i] = i < 10 ? 0 : view.label[i] ? 1 : 2;
  view.label = label;
  view.classes = (sr_dictionary){3, names};
  assert_ok(ctx, sr_table_wrap(ctx, &view, &renamed));
  assert_ok(ctx, sr_evaluate(ctx, ensemble, renamed, NULL, NULL, &k));
  for (int i = 0; i < 10; i++) wrong += vote[i] == sr_table_get(new)->label[i];
  assert_close(k.error, wrong / ROWS, 1e-12);
  char *text = NULL;
  for (sr_description form = SR_DESCRIPTION_TEXT; form <= SR_DESCRIPTION_MARKDOWN; form++) {
    assert_ok(ctx, sr_describe_judgment(ctx, &j, form, &text));
    assert_non_null(strstr(text, form == SR_DESCRIPTION_JSON ? "honest_low" : "error"));
    sr_bytes_free((void **)&text);
  }
  sr_table_free(&renamed);
  sr_table_free(&old);
  sr_table_free(&new);
  sr_ensemble_free(&ensemble);
  sr_context_free(&ctx);
}

typedef struct allocation_input {
  const sr_ensemble *ensemble;
  const sr_table *table;
} allocation_input;

static sr_status judge_all(sr_context *ctx, void *data) {
  const allocation_input *in = data;
  sr_judgment j;
  return sr_evaluate(ctx, in->ensemble, in->table, NULL, NULL, &j);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = test_simulate(ctx, 3, "ar1:n=60,tmix=2,d=2");
  sr_ensemble *ensemble = train(ctx, table);
  allocation_input in = {ensemble, table};
  test_every_allocation(judge_all, &in);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- files of predictions -------------------------------------------------------------------- */

typedef struct file_input {
  const sr_table *table;
  const char *path;
} file_input;

static sr_status read_judge_and_show(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  const file_input *in = data;
  sr_prediction_file *file = NULL;
  sr_structure *structure = NULL;
  sr_page *page = NULL;
  int64_t confusion[4];
  sr_judge_options options;
  sr_page_options how;
  sr_judgment j;
  const sr_structure_input known = {.rows = sr_table_get(in->table)->rows, .tmix = 2};
  sr_judge_options_init(&options);
  sr_page_options_init(&how);
  how.title = "judged";
  options.confusion = confusion;
  SR_TRY(sr_prediction_file_read(ctx, in->path, in->table, NULL, &file));
  SR_TRY(sr_structure_new(ctx, &known, &structure));
  SR_TRY(sr_judge(ctx, in->table, structure, sr_prediction_file_get(file), &options, &j));
  SR_TRY(sr_page_new(ctx, &how, &page));
  SR_TRY(sr_page_add_judgment(ctx, page, &j));
  SR_TRY(sr_page_add_errors(ctx, page, in->table, sr_prediction_file_get(file)));
cleanup:
  sr_page_free(&page);
  sr_structure_free(&structure);
  sr_prediction_file_free(&file);
  return status;
}

/* Row 2 was predicted last, row 3 not at all. */
static void files_are_put_in_the_order_of_the_rows(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  static const char *const names[] = {"no", "yes"};
  static const int64_t source[] = {3, 2, 1, 0};
  const int32_t label[] = {0, 1, 0, 1};
  static const char text[] = "row,prediction,p_yes\n1,no,0.25\n0,yes,0.75\n2,yes,1\n";
  sr_table_view view = {.rows = 4, .label = label, .classes = {2, names}, .source_row = source};
  sr_table *table = NULL;
  sr_prediction_file *file = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  file_input in = {table, test_file("said.csv", text, sizeof text - 1)};
  assert_ok(ctx, sr_prediction_file_read(ctx, in.path, table, NULL, &file));
  const sr_predictions *said = sr_prediction_file_get(file);
  assert_int_equal(said->label[0], -1);
  assert_int_equal(said->label[1], 1);
  assert_int_equal(said->label[2], 0);
  assert_int_equal(said->label[3], 1);
  assert_true(isnan(said->proba[0]) && isnan(said->proba[1]));
  assert_close((double)said->proba[2 * 2], 0.75, 0);
  assert_close((double)said->proba[2 * 2 + 1], 0.25, 0);
  sr_prediction_file_free(&file);
  test_every_allocation(read_judge_and_show, &in);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

typedef struct held_input {
  const sr_table *table;
  const char *path;
} held_input;

static sr_status train_and_write(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  const held_input *in = data;
  sr_ensemble *ensemble = NULL;
  sr_page *page = NULL;
  sr_page_options how;
  sr_train_options options;
  sr_train_options_init(&options);
  sr_page_options_init(&how);
  how.title = "held out";
  options.members = 3;
  options.plan = "uniform";
  options.evaluate.keep_held_rows = 1;
  options.evaluate.importance = 0;
  options.evaluate.folds.folds = 2;
  SR_TRY(sr_train(ctx, in->table, &options, 1, &ensemble));
  SR_TRY(sr_held_rows_write(ctx, ensemble, in->path));
  SR_TRY(sr_page_new(ctx, &how, &page));
  SR_TRY(sr_page_add_held_rows(ctx, page, in->table, ensemble));
cleanup:
  sr_page_free(&page);
  sr_ensemble_free(&ensemble);
  return status;
}

static void held_rows_may_run_out_of_memory(void **state) {
  (void)state;
  char path[512];
  sr_context *ctx = test_context(1);
  sr_table *table = test_simulate(ctx, 3, "ar1:n=80,tmix=2,d=1");
  snprintf(path, sizeof path, "%s/held.csv", test_folder());
  held_input in = {table, path};
  test_every_allocation(train_and_write, &in);
  sr_ensemble *ensemble = train(ctx, table);
  assert_int_equal(sr_held_rows_write(ctx, ensemble, path), SR_ERROR_ARGUMENT);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_those_of_the_definitions),
      cmocka_unit_test(intervals_cover),
      cmocka_unit_test(groups_are_units),
      cmocka_unit_test(wrong_predictions_are_refused),
      cmocka_unit_test(a_loss_is_the_share_of_wrong_classes_in_the_lead),
      cmocka_unit_test(ensembles_are_judged_on_new_rows),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(files_are_put_in_the_order_of_the_rows),
      cmocka_unit_test(held_rows_may_run_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
