/* The learner "xgboost" against the library called directly, and what a member must keep. */
#include <math.h>

#include <specroute/specroute.h>

#include "learner_kit.h"

#ifdef SR_HAVE_XGBOOST
#include <xgboost/c_api.h>

enum { N = 500, D = 5 };

typedef struct rows_kit {
  float x[N * D]; /* column-major */
  float weight[N];
  int32_t label[N];
} rows_kit;

/* Numbers with gaps; the class by two of them. */
static void fill_rows(rows_kit *rows, int32_t classes, uint64_t seed) {
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  for (int i = 0; i < N; i++) {
    double value[D];
    for (int j = 0; j < D; j++) {
      value[j] = sr__random_normal(&random);
      rows->x[j * N + i] = sr__random_uniform(&random) < 0.1 ? NAN : (float)value[j];
    }
    double score = value[0] + value[1] * value[2] + 0.5 * sr__random_normal(&random);
    rows->label[i] = (int32_t)(score < -1.0 ? 0 : score < 1.0 ? 1 : 2) % classes;
    rows->weight[i] = (float)(0.5 + sr__random_uniform(&random));
  }
}

static sr_table *table_of(sr_context *ctx, const rows_kit *rows, int32_t classes, bool weighted) {
  sr_table_view view = {.rows = N,
                        .features = D,
                        .x = rows->x,
                        .label = rows->label,
                        .classes = {classes, kit_names},
                        .weight = weighted ? rows->weight : NULL};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  return table;
}

static void set(BoosterHandle booster, const char *key, const char *value) {
  assert_int_equal(XGBoosterSetParam(booster, key, value), 0);
}

/* The same rows, weights and options given to XGBoost; its probabilities, N x classes. */
static void call_directly(const rows_kit *rows, const float *weight, int32_t classes,
                          const char *method, double *probability) {
  float x[N * D], label[N];
  DMatrixHandle matrix = NULL;
  BoosterHandle booster = NULL;
  bst_ulong length = 0;
  const float *result = NULL;
  for (int i = 0; i < N; i++) {
    label[i] = (float)rows->label[i];
    for (int j = 0; j < D; j++) x[i * D + j] = rows->x[j * N + i];
  }
  assert_int_equal(XGDMatrixCreateFromMat(x, N, D, NAN, &matrix), 0);
  assert_int_equal(XGDMatrixSetFloatInfo(matrix, "label", label, N), 0);
  if (weight) assert_int_equal(XGDMatrixSetFloatInfo(matrix, "weight", weight, N), 0);
  assert_int_equal(XGBoosterCreate(&matrix, 1, &booster), 0);
  set(booster, "tree_method", method);
  set(booster, "max_depth", "4");
  set(booster, "eta", "0.2");
  set(booster, "nthread", "1");
  set(booster, "objective", classes > 2 ? "multi:softprob" : "binary:logistic");
  if (classes > 2) set(booster, "num_class", "3");
  for (int round = 0; round < 25; round++)
    assert_int_equal(XGBoosterUpdateOneIter(booster, round, matrix), 0);
  assert_int_equal(XGBoosterPredict(booster, matrix, 0, 0, 0, &length, &result), 0);
  assert_int_equal(length, classes > 2 ? N * classes : N);
  for (int i = 0; i < N; i++)
    for (int c = 0; c < classes; c++)
      probability[i * classes + c] = classes > 2 ? result[i * classes + c]
                                     : c         ? result[i]
                                                 : 1.0f - result[i];
  XGBoosterFree(booster);
  XGDMatrixFree(matrix);
}

/* Bit for bit: two and three classes, every way of looking for splits, with weights and without. */
static void shares_are_those_of_the_library(void **state) {
  (void)state;
  static const char *const methods[] = {"hist", "exact", "approx"};
  for (int variant = 0; variant < 12; variant++) {
    sr_context *ctx = test_context(1);
    int32_t classes = variant % 2 ? 3 : 2;
    bool weighted = variant / 2 % 2;
    const char *method = methods[variant / 4];
    rows_kit rows;
    fill_rows(&rows, classes, 5);
    sr_table *table = table_of(ctx, &rows, classes, weighted);
    char name[100];
    snprintf(name, sizeof name, "xgboost:rounds=25,max_depth=4,eta=0.2,tree_method=%s", method);
    kit_options options = {.name = name};
    fitted f;
    int32_t vote[N];
    float proba[N * 3];
    double expected[N * 3];
    assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
    assert_ok(ctx, predict_table(ctx, &f, table, vote, proba));
    call_directly(&rows, weighted ? rows.weight : NULL, classes, method, expected);
    for (int i = 0; i < N; i++) {
      int32_t best = 0;
      for (int32_t c = 0; c < classes; c++) {
        assert_true((double)proba[i * classes + c] == expected[i * classes + c]);
        if (expected[i * classes + c] > expected[i * classes + best]) best = c;
      }
      assert_int_equal(vote[i], best);
    }
    assert_true(share_correct(table, vote) > 0.85);
    fitted_free(&f);
    sr_table_free(&table);
    sr_context_free(&ctx);
  }
}

/* A bag of rows with counts is the table of these rows with the counts as weights. */
static void bags_are_weights(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  rows_kit rows;
  fill_rows(&rows, 2, 7);
  int32_t row[N], counts[N];
  float weight[N];
  sr__bag bag = {.rows = row, .counts = counts};
  for (int i = 0; i < N; i++) {
    weight[i] = (float)(i % 3);
    if (i % 3 == 0) continue;
    row[bag.length] = i;
    counts[bag.length++] = i % 3;
  }
  sr_table *plain = table_of(ctx, &rows, 2, false);
  memcpy(rows.weight, weight, sizeof weight);
  sr_table *weighted = table_of(ctx, &rows, 2, true);
  kit_options options = {.name = "xgboost:rounds=10"};
  fitted a, b;
  sr__bytes a_encoder, a_member, b_encoder, b_member;
  assert_ok(ctx, fit_table(ctx, plain, &options, &bag, 1, &a));
  assert_ok(ctx, fit_table(ctx, weighted, &options, NULL, 1, &b));
  save_fitted(ctx, &a, &a_encoder, &a_member);
  save_fitted(ctx, &b, &b_encoder, &b_member);
  assert_int_equal(a_member.size, b_member.size);
  assert_memory_equal(a_member.data, b_member.data, (size_t)a_member.size);
  sr__bytes_free(&a_encoder);
  sr__bytes_free(&a_member);
  sr__bytes_free(&b_encoder);
  sr__bytes_free(&b_member);
  fitted_free(&a);
  fitted_free(&b);
  sr_table_free(&plain);
  sr_table_free(&weighted);
  sr_context_free(&ctx);
}

/* Classes that a bag lacks get no vote and no share; one class alone always wins. */
static void unseen_classes_get_nothing(void **state) {
  (void)state;
  for (int32_t held = 1; held <= 2; held++) {
    sr_context *ctx = test_context(1);
    rows_kit rows;
    fill_rows(&rows, 3, 9);
    int32_t row[N], vote[N];
    float proba[N * 3];
    sr__bag bag = {.rows = row};
    for (int i = 0; i < N; i++)
      if (rows.label[i] == 2 || (held == 2 && rows.label[i] == 0)) row[bag.length++] = i;
    sr_table *table = table_of(ctx, &rows, 3, false);
    kit_options options = {.name = "xgboost:rounds=5"};
    fitted f;
    assert_ok(ctx, fit_table(ctx, table, &options, &bag, 1, &f));
    assert_ok(ctx, predict_table(ctx, &f, table, vote, proba));
    for (int i = 0; i < N; i++) {
      assert_true(vote[i] == 2 || (held == 2 && vote[i] == 0));
      assert_true(proba[3 * i + 1] == 0.0f);
      assert_close(proba[3 * i] + proba[3 * i + 2], 1.0, 1e-6);
    }
    fitted_free(&f);
    sr_table_free(&table);
    sr_context_free(&ctx);
  }
}

static bool takes_no_file(const sr_method *method) {
  return !method->options || !method->options->key || method->options->fallback;
}

/* Under every plan, with drawn rows and features: the same bytes at one thread and at three. */
static void every_plan_is_the_same_at_any_thread_count(void **state) {
  (void)state;
  rows_kit rows;
  fill_rows(&rows, 3, 11);
  for (int k = 0; sr_plan_method(k); k++) {
    const char *plan = sr_plan_method(k)->name;
    if (!takes_no_file(sr_plan_method(k))) continue;
    sr_train_options options;
    sr_train_options_init(&options);
    options.plan = plan;
    options.learner = "xgboost:rounds=3,max_depth=2,subsample=0.7,colsample=0.6";
    options.members = 7;
    void *bytes[2] = {NULL, NULL};
    int64_t size[2];
    for (int way = 0; way < 2; way++) {
      sr_context *ctx = test_context(way ? 3 : 1);
      sr_table *table = table_of(ctx, &rows, 3, true);
      sr_ensemble *ensemble = NULL;
      assert_ok(ctx, sr_train(ctx, table, &options, 3, &ensemble));
      assert_ok(ctx, sr_ensemble_to_bytes(ctx, ensemble, &bytes[way], &size[way]));
      sr_ensemble_free(&ensemble);
      sr_table_free(&table);
      sr_context_free(&ctx);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], (size_t)size[0]);
    sr_bytes_free(&bytes[0]);
    sr_bytes_free(&bytes[1]);
  }
}
#endif

/* Listed in every build; refused with the package's name where it is missing. */
static void it_is_listed(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const sr_method *found = NULL;
  sr_status status = sr_method_check(ctx, "learner", sr_learner_method, "xgboost", &found);
#ifdef SR_HAVE_XGBOOST
  assert_ok(ctx, status);
  assert_null(found->missing);
#else
  assert_int_equal(status, SR_ERROR_UNSUPPORTED);
  assert_non_null(strstr(sr_context_error(ctx).message, "libxgboost-dev"));
#endif
  assert_int_equal(sr_method_check(ctx, "learner", sr_learner_method, "xgboost:rounds=0", NULL),
                   SR_ERROR_ARGUMENT);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef SR_HAVE_XGBOOST
      cmocka_unit_test(shares_are_those_of_the_library),
      cmocka_unit_test(bags_are_weights),
      cmocka_unit_test(unseen_classes_get_nothing),
      cmocka_unit_test(every_plan_is_the_same_at_any_thread_count),
#endif
      cmocka_unit_test(it_is_listed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
