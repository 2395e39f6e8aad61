/* Where a model will be used: losses matched by distance, and the area of applicability, against an
 * independent program and by what they must say of made-up maps. */
#include <math.h>

#include "core/context.h"
#include "ensemble/applicability.h"
#include "evaluate/map_use.h"
#include "harness.h"

enum { POOL = 400, USES = 150, GROUPS = 9 };

static void fill_pool(double *loss, double *distance, int32_t *group, sr__use_pool *pool) {
  for (int i = 0; i < POOL; i++) {
    loss[i] = (7 * i * i + 3 * i) % 11 < 3;
    distance[i] = (i * 37 % 101) / 10.0;
    group[i] = i * i / 3 % GROUPS;
  }
  *pool = (sr__use_pool){
      .count = POOL, .loss = loss, .distance = distance, .group = group, .groups = GROUPS};
}

/* Numbers of a program in numpy and scipy by the rule of docs/methods/map-error.md: even use, use
 * near the sample with thin bins, use that lies too far. */
static void matched_losses_equal_a_reference(void **state) {
  (void)state;
  static const double expected[3][4] = {
      {0.363380621550229, 0.33082391658006893, 0.3972393280358617, 0.16},
      {0.3650000000000001, 0.3481208152723438, 0.3822177361866813, 0.0},
      {0.3432296846387134, 0.2664688394114308, 0.42916561262513164, 0.48}};
  sr_context *ctx = test_context(1);
  double loss[POOL], distance[POOL], use[USES + 5];
  int32_t group[POOL];
  sr__use_pool pool;
  fill_pool(loss, distance, group, &pool);
  for (int k = 0; k < 3; k++) {
    sr__use_answer a;
    for (int i = 0; i < USES; i++) {
      double u = (i * 53 % 97) / 8.0;
      use[i] = k == 0 ? u : k == 1 ? 0.02 * u : u + 4;
    }
    for (int i = USES; i < USES + 5; i++) use[i] = 3.0;
    assert_ok(ctx, sr__match_distances(ctx, &pool, use, k == 1 ? USES + 5 : USES, 0.95, &a));
    assert_close(a.estimate, expected[k][0], 1e-9);
    assert_close(a.low, expected[k][1], 1e-9);
    assert_close(a.high, expected[k][2], 1e-9);
    assert_close(a.beyond, expected[k][3], 1e-9);
    assert_true(a.within == 0.0);
    assert_int_equal(a.groups, GROUPS);
  }
  sr_context_free(&ctx);
}

/* ---- the area of applicability ------------------------------------------------------------------
 */

static sr_table *plain_rows(sr_context *ctx, double shift) {
  static float x[2 * POOL];
  for (int i = 0; i < POOL; i++) {
    x[i] = (float)((i * 29 % 53) / 7.0 + shift);
    x[POOL + i] = (float)((i * i % 31) / 3.0);
  }
  sr_table_view view = {.rows = POOL, .features = 2, .x = x};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  return table;
}

/* The limit of the same program; every training row is inside, rows far off are not; a slow checker
 * decides the same. */
static void limit_equals_a_reference(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_allocator allocator = sr__allocator(ctx);
  sr_table *table = plain_rows(ctx, 0.0), *moved = plain_rows(ctx, 2.0);
  int32_t fold[POOL];
  float outside[POOL];
  sr_applicability *a = NULL;
  for (int i = 0; i < POOL; i++) fold[i] = i % 5;
  assert_ok(ctx, sr__applicability_new(ctx, sr_table_get(table), fold, 1, &a));
  assert_non_null(a);
  assert_close(a->limit, 0.2288010851586415, 1e-5); /* features are floats */
  assert_ok(ctx, sr__applicability_ask(ctx, a, sr_table_get(table), 0, POOL, outside));
  for (int i = 0; i < POOL; i++) assert_true(outside[i] == 0.0f);
  assert_ok(ctx, sr__applicability_ask(ctx, a, sr_table_get(moved), 0, POOL, outside));
  int64_t far = 0;
  const sr_table_view *t = sr_table_get(moved), *own = sr_table_get(table);
  for (int i = 0; i < POOL; i++) {
    double nearest = INFINITY;
    for (int k = 0; k < POOL; k++)
      nearest = fmin(nearest, hypot((t->x[i] - own->x[k]) * a->scale[0],
                                    (t->x[POOL + i] - own->x[POOL + k]) * a->scale[1]));
    if (fabs(nearest - a->limit) > 1e-4) assert_int_equal(outside[i], nearest > a->limit);
    far += outside[i] > 0.0f;
  }
  assert_in_range(far, POOL / 10, POOL / 2);
  sr__applicability_free(&allocator, &a);
  for (int i = 0; i < POOL; i++) fold[i] = 0; /* one fold: nothing is held out from another */
  assert_ok(ctx, sr__applicability_new(ctx, sr_table_get(table), fold, 1, &a));
  assert_null(a);
  sr_table_free(&moved);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- trained models ---------------------------------------------------------------------------
 */

enum { N = 900, USE = 200 };

/* Even points of a square of side `wide`, moved by `left`; the class follows both features, which
 * are waves over the ground. */
static sr_table *ground(sr_context *ctx, int rows, uint64_t seed, double wide, double left,
                        double shift, const char *projection) {
  static float x[2 * N];
  static double place[2 * N];
  static int32_t label[N];
  static const char *const names[] = {"a", "b"}, *const features[] = {"wet", "warm"};
  double draw[3 * N];
  sr_random_uniform(seed, 0, 0, 2 * rows, draw);
  sr_random_normal(seed, 1, 0, rows, draw + 2 * rows);
  for (int i = 0; i < rows; i++) {
    place[i] = left + wide * draw[i];
    place[rows + i] = wide * draw[rows + i];
    x[i] = (float)(sin(place[i] / 9.0) + shift);
    x[rows + i] = (float)cos(place[rows + i] / 7.0);
    label[i] = (double)x[i] + (double)x[rows + i] + 0.7 * draw[2 * rows + i] > 0;
  }
  sr_table_view view = {.rows = rows,
                        .features = 2,
                        .x = x,
                        .feature_names = features,
                        .label = label,
                        .classes = {2, names},
                        .coordinate_count = 2,
                        .coordinates = place,
                        .projection = projection};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  return table;
}

static sr_status train(sr_context *ctx, const sr_table *table, const sr_table *use,
                       sr_ensemble **ensemble) {
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = "uniform";
  options.members = 20;
  options.structure.graph = "space";
  options.evaluate.importance = 0;
  options.evaluate.predict_on = use;
  return sr_train(ctx, table, &options, 1, ensemble);
}

static const sr_question *asked(const sr_ensemble *ensemble, sr_question_kind kind) {
  const sr_evaluation *e = sr_ensemble_get(ensemble)->evaluation;
  for (int32_t k = 0; k < e->question_count; k++)
    if (e->questions[k].kind == kind) return &e->questions[k];
  return NULL;
}

static void use_is_told_or_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = ground(ctx, N, 1, 100, 0, 0, NULL);
  sr_table *between = ground(ctx, USE, 2, 100, 0, 0, NULL);
  sr_table *far = ground(ctx, USE, 3, 100, 400, 0, NULL);
  sr_table *unlike = ground(ctx, USE, 4, 100, 0, 9, NULL);
  sr_ensemble *ensemble = NULL;
  assert_ok(ctx, train(ctx, table, NULL, &ensemble));
  assert_null(asked(ensemble, SR_QUESTION_USE));
  assert_true(isnan(sr_ensemble_get(ensemble)->evaluation->outside));
  assert_non_null(sr_ensemble_get(ensemble)->evaluation->applicability);
  sr_ensemble_free(&ensemble);
  /* Between the rows: as new pixels, inside the area. */
  assert_ok(ctx, train(ctx, table, between, &ensemble));
  const sr_question *use = asked(ensemble, SR_QUESTION_USE);
  assert_true(use->low < use->estimate && use->estimate < use->high);
  assert_close(use->estimate, asked(ensemble, SR_QUESTION_PIXELS)->estimate, 0.05);
  assert_true(use->distance < 5);
  assert_true(sr_ensemble_get(ensemble)->evaluation->outside < 0.02);
  sr_ensemble_free(&ensemble);
  /* Far away: a number at best, no interval. */
  assert_ok(ctx, train(ctx, table, far, &ensemble));
  use = asked(ensemble, SR_QUESTION_USE);
  assert_true(isnan(use->low) && strstr(use->reason, "farther than anything held out"));
  sr_ensemble_free(&ensemble);
  /* The same ground with features that training never saw. */
  assert_ok(ctx, train(ctx, table, unlike, &ensemble));
  use = asked(ensemble, SR_QUESTION_USE);
  assert_true(isnan(use->low) && strstr(use->reason, "unlike the training rows"));
  assert_true(sr_ensemble_get(ensemble)->evaluation->outside > 0.9);
  /* The model keeps the area, and predictions say who is outside. */
  void *bytes = NULL;
  int64_t size = 0;
  sr_ensemble *back = NULL;
  sr_table *said = NULL;
  assert_ok(ctx, sr_ensemble_to_bytes(ctx, ensemble, &bytes, &size));
  assert_ok(ctx, sr_ensemble_from_bytes(ctx, bytes, size, &back));
  assert_true(sr_ensemble_get(back)->evaluation->outside ==
              sr_ensemble_get(ensemble)->evaluation->outside);
  assert_string_equal(sr_question_name(asked(back, SR_QUESTION_USE)->kind), "use");
  for (int k = 0; k < 2; k++) {
    const sr_table *rows = k ? unlike : between;
    double share = 0;
    const sr_predict_options both = {.uncertainty = 1, .outside = 1};
    assert_ok(ctx, sr_ensemble_predict_table(ctx, back, rows, &both, &said));
    const sr_table_view *v = sr_table_get(said);
    assert_int_equal(v->features, 2);
    assert_string_equal(v->feature_names[1], "outside");
    for (int i = 0; i < USE; i++) share += (double)v->x[USE + i] / USE;
    assert_true(k ? share > 0.9 : share < 0.02);
    sr_table_free(&said);
  }
  sr_bytes_free(&bytes);
  sr_ensemble_free(&back);
  sr_ensemble_free(&ensemble);
  sr_table_free(&unlike);
  sr_table_free(&far);
  sr_table_free(&between);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void what_cannot_be_asked(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = ground(ctx, N, 1, 100, 0, 0, NULL), *said = NULL;
  sr_table *elsewhere = ground(ctx, USE, 2, 100, 0, 0, "PROJCS[\"another\"]");
  sr_ensemble *ensemble = NULL;
  assert_int_equal(train(ctx, table, elsewhere, &ensemble), SR_ERROR_DATA);
  assert_non_null(strstr(sr_context_error(ctx).message, "reference system"));
  /* A model of rows without places knows no area. */
  sr_table *series = test_simulate(ctx, 1, "ar1:n=300,tmix=5,d=2");
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = "uniform";
  options.members = 5;
  assert_ok(ctx, sr_train(ctx, series, &options, 1, &ensemble));
  const sr_predict_options outside = {.outside = 1};
  assert_int_equal(sr_ensemble_predict_table(ctx, ensemble, series, &outside, &said),
                   SR_ERROR_UNSUPPORTED);
  sr_ensemble_free(&ensemble);
  sr_table_free(&series);
  sr_table_free(&elsewhere);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static sr_status work_once(sr_context *ctx, void *data) {
  (void)data;
  double loss[POOL], distance[POOL];
  int32_t group[POOL], fold[POOL];
  float x[POOL], outside[POOL];
  sr__use_pool pool;
  sr__use_answer answer;
  sr_applicability *a = NULL;
  sr_allocator allocator = sr__allocator(ctx);
  fill_pool(loss, distance, group, &pool);
  for (int i = 0; i < POOL; i++) {
    x[i] = (float)(i * 7 % 31);
    fold[i] = i % 3;
  }
  sr_table_view view = {.rows = POOL, .features = 1, .x = x};
  sr_status status = sr__match_distances(ctx, &pool, distance, POOL, 0.95, &answer);
  if (status == SR_OK) status = sr__applicability_new(ctx, &view, fold, 1, &a);
  if (status == SR_OK) status = sr__applicability_ask(ctx, a, &view, 0, POOL, outside);
  sr__applicability_free(&allocator, &a);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_every_allocation(work_once, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(matched_losses_equal_a_reference),
                                     cmocka_unit_test(limit_equals_a_reference),
                                     cmocka_unit_test(use_is_told_or_refused),
                                     cmocka_unit_test(what_cannot_be_asked),
                                     cmocka_unit_test(every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
