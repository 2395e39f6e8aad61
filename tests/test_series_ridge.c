/* ROCKET and MiniRocket with their ridge: simulated classes, left-out rows, ragged rows, storage.
 */
#include "learner/minirocket/minirocket.h"
#include "learner/rocket/rocket.h"
#include "learner/series/series_ridge.h"
#include "series_kit.h"

/* Two classes of noise with a bump at a random place, up or down first. */
static test_series bumps(int64_t rows, int32_t channels, int64_t shortest, int64_t longest,
                         uint64_t seed, int32_t *label) {
  test_series s = test_series_new(rows, channels, shortest, longest, 0, seed);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 1, 0);
  for (int64_t r = 0; r < rows; r++) {
    int64_t begin = s.offset[r * channels], length = s.offset[r * channels + 1] - begin;
    int64_t at = begin + (int64_t)sr__random_below(&random, (uint64_t)(length - 12));
    label[r] = (int32_t)sr__random_below(&random, 2);
    for (int64_t t = s.offset[r * channels]; t < s.offset[(r + 1) * channels]; t++)
      s.values[t] *= 0.3f;
    for (int i = 0; i < 12; i++) s.values[at + i] += (i < 6) == (label[r] == 1) ? 1.5f : -1.5f;
  }
  return s;
}

typedef struct test_method {
  const sr__series_transform *transform;
  const void *options;
  bool normalize;
} test_method;

static const sr__rocket_options few_kernels = {.kernels = 300};
static const sr__minirocket_options few_features = {.features = 1008, .dilations = 32};
static const sr__minirocket_options few_whole = {.features = 1008, .dilations = 32, .whole = true};
static const test_method methods[] = {{&sr__rocket_series, &few_kernels, true},
                                      {&sr__minirocket_series, &few_features, false},
                                      {&sr__minirocket_series, &few_whole, false}};
enum { METHODS = 3 };

static sr_status fit(sr_context *ctx, const test_method *method, const sr__series_cases *cases,
                     float *proba, sr__classes_report *report, sr__series_ridge **model) {
  sr__series_cases judged = *cases;
  sr__series_recipe recipe = {.transform = method->transform,
                              .options = method->options,
                              .length = cases->rows->longest,
                              .ridge = {.memory = (int64_t)1 << 28}};
  sr__random random;
  judged.judged = proba;
  sr__random_init(&random, 5, SR_PURPOSE_LEARNER, 0, 0);
  return sr__series_ridge_fit(ctx, &recipe, &judged, &random, report, model);
}

/* Learns where to look: a straight line through the values could not, the bump being anywhere. The
 * left-out rows tell the error on new ones. */
static void test_learns(void **state) {
  (void)state;
  enum { TRAIN = 150, TEST = 200 };
  sr_context *ctx = test_context(1);
  int32_t label[TRAIN], truth[TEST], vote[TEST], single[TEST];
  float *proba = malloc(TEST * 2 * sizeof *proba), *alone = malloc(TEST * 2 * sizeof *alone);
  for (int k = 0; k < METHODS; k++)
    for (int ragged = 0; ragged < 2; ragged++) {
      test_series train = bumps(TRAIN, 1 + ragged, ragged ? 40 : 80, 80, 1, label);
      test_series test = bumps(TEST, 1 + ragged, ragged ? 40 : 80, 80, 2, truth);
      sr__series_rows *rows = NULL, *fresh = NULL;
      sr__series_ridge *model = NULL;
      sr__classes_report report;
      assert_ok(ctx, sr__series_prepare(ctx, &train.view, 0, TRAIN, methods[k].normalize, &rows));
      assert_ok(ctx, sr__series_prepare(ctx, &test.view, 0, TEST, methods[k].normalize, &fresh));
      sr__series_cases cases = {.rows = rows, .count = TRAIN, .label = label, .classes = 2};
      assert_ok(ctx, fit(ctx, &methods[k], &cases, NULL, &report, &model));
      assert_ok(ctx, sr__series_ridge_predict(ctx, model, fresh, (sr__picked){NULL, TEST},
                                              (sr__answers){.vote = vote, .share = proba}));
      double wrong = 0.0, left_out = (double)report.wrong / (double)report.judged;
      for (int i = 0; i < TEST; i++) wrong += vote[i] != truth[i];
      assert_true(wrong / TEST < 0.12);
      assert_close(left_out, wrong / TEST, 0.08);
      for (int32_t i = 0; i < TEST; i++)
        assert_ok(ctx, sr__series_ridge_predict(ctx, model, fresh, (sr__picked){&i, 1},
                                                (sr__answers){.vote = &single[i],
                                                              .share = alone + 2 * i}));
      assert_memory_equal(vote, single, sizeof vote);
      assert_memory_equal(proba, alone, TEST * 2 * sizeof *proba);
      sr__series_ridge_free(model);
      sr__series_rows_free(rows);
      sr__series_rows_free(fresh);
      test_series_free(&train);
      test_series_free(&test);
    }
  free(proba);
  free(alone);
  sr_context_free(&ctx);
}

/* Rows are named by the list, however the blocks order them: a list in another order gives the same
 * answers up to rounding, and sets of one row each are leaving one out. */
static void test_lists(void **state) {
  (void)state;
  enum { ROWS = 60, USED = 50 };
  sr_context *ctx = test_context(1);
  int32_t label[ROWS], row[USED], entry_label[USED];
  int64_t begin[USED + 1], judged[USED];
  int32_t set_row[USED];
  float first[USED * 2], second[USED * 2];
  test_series s = bumps(ROWS, 1, 30, 60, 3, label);
  sr__series_rows *rows = NULL;
  assert_ok(ctx, sr__series_prepare(ctx, &s.view, 0, ROWS, true, &rows));
  for (int i = 0; i < USED; i++) {
    row[i] = (i * 7) % ROWS;
    entry_label[i] = label[row[i]];
    begin[i] = i;
    judged[i] = 1;
    set_row[i] = i;
  }
  begin[USED] = USED;
  sr__left_out each = {USED, begin, judged, set_row};
  sr__series_cases cases = {
      .rows = rows, .row = row, .count = USED, .label = entry_label, .classes = 2};
  sr__series_ridge *model = NULL;
  assert_ok(ctx, fit(ctx, &methods[0], &cases, first, NULL, &model));
  sr__series_ridge_free(model);
  cases.left_out = &each;
  assert_ok(ctx, fit(ctx, &methods[0], &cases, second, NULL, &model));
  sr__series_ridge_free(model);
  for (int i = 0; i < USED * 2; i++) assert_close(first[i], second[i], 1e-5);
  for (int i = 0; i < USED; i++) { /* the other way round */
    row[i] = ((USED - 1 - i) * 7) % ROWS;
    entry_label[i] = label[row[i]];
  }
  cases.left_out = NULL;
  assert_ok(ctx, fit(ctx, &methods[0], &cases, second, NULL, &model));
  sr__series_ridge_free(model);
  for (int i = 0; i < USED; i++) {
    assert_close(first[2 * i], second[2 * (USED - 1 - i)], 1e-4);
    assert_true(first[2 * i] + first[2 * i + 1] > 0.999f);
  }
  sr__series_rows_free(rows);
  test_series_free(&s);
  sr_context_free(&ctx);
}

static void test_store(void **state) {
  (void)state;
  enum { ROWS = 20 };
  sr_context *ctx = test_context(1);
  int32_t label[ROWS], vote[ROWS], again[ROWS];
  test_series s = bumps(ROWS, 2, 30, 60, 3, label);
  for (int k = 0; k < METHODS; k++) {
    sr__series_rows *rows = NULL;
    sr__series_ridge *model = NULL, *loaded = NULL;
    sr__bytes bytes = {.ctx = ctx};
    assert_ok(ctx, sr__series_prepare(ctx, &s.view, 0, ROWS, methods[k].normalize, &rows));
    sr__series_cases cases = {.rows = rows, .count = ROWS, .label = label, .classes = 2};
    assert_ok(ctx, fit(ctx, &methods[k], &cases, NULL, NULL, &model));
    sr__series_ridge_save(model, &bytes);
    sr__byte_reader reader = {.ctx = ctx, .data = bytes.data, .size = bytes.size, .what = "x"};
    assert_ok(ctx, sr__series_ridge_load(&reader, methods[k].transform, 2, 2, &loaded));
    assert_int_equal(reader.at, bytes.size);
    assert_ok(ctx, sr__series_ridge_predict(ctx, model, rows, (sr__picked){NULL, ROWS},
                                            (sr__answers){.vote = vote}));
    assert_ok(ctx, sr__series_ridge_predict(ctx, loaded, rows, (sr__picked){NULL, ROWS},
                                            (sr__answers){.vote = again}));
    assert_memory_equal(vote, again, sizeof vote);
    sr__series_ridge_free(loaded);
    reader = (sr__byte_reader){.ctx = ctx, .data = bytes.data, .size = bytes.size, .what = "x"};
    assert_int_equal(sr__series_ridge_load(&reader, methods[k].transform, 1, 2, &loaded),
                     SR_ERROR_FORMAT);
    assert_null(loaded);
    sr__bytes_free(&bytes);
    sr__series_ridge_free(model);
    sr__series_rows_free(rows);
  }
  test_series_free(&s);
  sr_context_free(&ctx);
}

typedef struct allocation_case {
  test_series series;
  const int32_t *label;
  const test_method *method;
} allocation_case;

static sr_status fit_and_predict(sr_context *ctx, void *data) {
  const allocation_case *c = data;
  sr_status status = SR_OK;
  sr__series_rows *rows = NULL;
  sr__series_ridge *model = NULL;
  int32_t vote[10];
  float proba[20];
  SR_TRY(sr__series_prepare(ctx, &c->series.view, 0, 10, true, &rows));
  sr__series_cases cases = {.rows = rows, .count = 10, .label = c->label, .classes = 2};
  SR_TRY(fit(ctx, c->method, &cases, proba, NULL, &model));
  SR_TRY(sr__series_ridge_predict(ctx, model, rows, (sr__picked){NULL, 10},
                                  (sr__answers){.vote = vote, .share = proba}));
  SR_TRY(sr__series_ridge_predict(ctx, model, rows, (sr__picked){NULL, 2},
                                  (sr__answers){.vote = vote, .share = proba}));
cleanup:
  sr__series_ridge_free(model);
  sr__series_rows_free(rows);
  return status;
}

static void test_allocations(void **state) {
  (void)state;
  int32_t label[10];
  const sr__rocket_options kernels = {.kernels = 10};
  const sr__minirocket_options features = {.features = 84, .dilations = 1};
  const test_method small[] = {{&sr__rocket_series, &kernels, true},
                               {&sr__minirocket_series, &features, true}};
  test_series s = bumps(10, 1, 20, 20, 4, label);
  for (int k = 0; k < 2; k++) {
    allocation_case c = {s, label, &small[k]};
    test_every_allocation(fit_and_predict, &c);
  }
  test_series_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_learns), cmocka_unit_test(test_lists),
                                     cmocka_unit_test(test_store),
                                     cmocka_unit_test(test_allocations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
