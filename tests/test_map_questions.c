/* What is told of maps: intervals against a reference, folds against a slow checker, made-up and
 * real maps. */
#include <math.h>

#include <specroute/specroute.h>

#include "data/geographic.h"
#include "evaluate/map_answer.h"
#include "map_kit.h"
#include "structure/structure.h"

/* Numbers of an independent program (numpy and scipy) by the formula of docs/methods/map-error.md,
 * for losses and groups that are written out below. */
static void intervals_equal_a_reference(void **state) {
  (void)state;
  static const struct {
    int rows;
    double widen, expected[6]; /* mean, low, high, next low, next high, worth */
  } cases[] = {
      {60,
       1.5,
       {0.366666666667, 0.216059755337, 0.548767065387, 0.0690292964819, 0.818855027832, 10}},
      {50,
       2.1,
       {0.098, 0.0185342518121, 0.384647620054, 0.00332726203007, 0.779538436839, 6.21890547264}},
      {40,
       1.5,
       {0.0121951219512, 0.000190342441535, 0.444627332353, 3.4015344111e-07, 0.99777322212, 8}}};
  for (int k = 0; k < 3; k++) {
    double loss[61];
    sr__group_sum sum[10];
    int32_t group[61];
    for (int i = 0; i < cases[k].rows; i++) {
      loss[i] = k == 0 ? (7 * i * i + 3 * i) % 11 < 3 : k == 1 ? (i * i % 7) / 20.0 : 0.0;
      group[i] = k == 0 ? i / 6 : k == 1 ? (i * i / 250 < 9 ? i * i / 250 : 9) : i % 8;
    }
    loss[cases[k].rows] = NAN; /* not judged: left out */
    group[cases[k].rows] = 0;
    sr__map_answer a = sr__map_interval((sr__grouped_losses){cases[k].rows + 1, loss, group, 10},
                                        sum, cases[k].widen, 0.95);
    const double got[] = {a.estimate, a.low, a.high, a.next_low, a.next_high, a.worth};
    for (int v = 0; v < 6; v++)
      assert_close(got[v], cases[k].expected[v], 1e-8 * fmax(1.0, fabs(cases[k].expected[v])));
  }
}

/* From 39 groups on the next one lies between order statistics: of 79 the second and the 78th. A
 * group of many that are never wrong has error 0, which no interval on the logit holds. */
static void the_next_of_many_goes_by_rank(void **state) {
  (void)state;
  enum { MOST = 79, ROWS = 3 };
  double loss[MOST * ROWS + 900];
  sr__group_sum sum[MOST];
  int32_t group[MOST * ROWS + 900];
  for (int i = 0; i < MOST * ROWS; i++) {
    group[i] = i % MOST;
    loss[i] = group[i] * 37 % MOST / 100.0;
  }
  sr__map_answer many =
      sr__map_interval((sr__grouped_losses){MOST * ROWS, loss, group, MOST}, sum, 1.5, 0.95);
  assert_close(many.next_low, 0.01, 1e-12);
  assert_close(many.next_high, 0.77, 1e-12);
  for (int i = 0; i < MOST * ROWS; i++) loss[i] = group[i] < 20 ? 0.0 : group[i] % ROWS == i % ROWS;
  many = sr__map_interval((sr__grouped_losses){MOST * ROWS, loss, group, MOST}, sum, 1.5, 0.95);
  assert_true(many.next_low == 0.0 && many.low > 0.0);
  for (int groups = 38; groups <= 39; groups++) {
    for (int i = 0; i < groups * ROWS; i++) {
      group[i] = i % groups;
      loss[i] = group[i] / 100.0;
    }
    sr__map_answer few =
        sr__map_interval((sr__grouped_losses){groups * ROWS, loss, group, groups}, sum, 1.5, 0.95);
    assert_true((few.next_low == 0.0) == (groups == 39));
  }
  /* Small groups count by their rows: 900 more rows in 50 groups, and what the other 29 with their
   * 3 rows say is a tenth of the rows. */
  for (int i = 0; i < MOST * ROWS + 900; i++) {
    group[i] = i < MOST * ROWS ? i % MOST : i % 50;
    loss[i] = group[i] < 50 ? 0.3 + group[i] / 1000.0 : group[i] == 50 ? 0.0 : 0.2;
  }
  many =
      sr__map_interval((sr__grouped_losses){MOST * ROWS + 900, loss, group, MOST}, sum, 1.5, 0.95);
  assert_close(many.next_low, 0.2, 1e-12);
  assert_close(many.next_high, 0.349, 1e-12);
}

/* ---- made-up maps ------------------------------------------------------------------------------
 */

enum { PATCHES = 24, EACH = 25, N = PATCHES * EACH };

/* Patches in one to three regions, or an even sample; the class follows a feature and, inside a
 * patch, a mood of its own. */
static sr_table *made_map(sr_context *ctx, int regions, bool even) {
  static float x[2 * N];
  static double place[2 * N];
  static int32_t label[N];
  double draw[5 * N], mood[PATCHES];
  sr_random_normal(5, 0, 0, 5 * N, draw);
  sr_random_normal(5, 1, 0, PATCHES, mood);
  for (int i = 0; i < N; i++) {
    int patch = i / EACH, region = patch * regions / PATCHES;
    double unit = even ? 0.0 : mood[patch];
    x[i] = (float)draw[i];
    x[N + i] = (float)(unit + 0.1 * draw[N + i]);
    place[i] = even ? 40 * fabs(sin(draw[2 * N + i] * 37))
                    : 900 * region + 20 * (patch % 5) + fabs(sin(draw[2 * N + i] * 37));
    place[N + i] = even ? 40 * fabs(sin(draw[3 * N + i] * 41))
                        : 20 * (patch / 5 % 5) + fabs(sin(draw[3 * N + i] * 41));
    label[i] = draw[i] + unit + 0.5 * draw[4 * N + i] > 0;
  }
  return kit_map(
      ctx, (sr_table_view){.rows = N, .features = 2, .x = x, .label = label, .coordinates = place});
}

static sr_ensemble *train_with_buffer(sr_context *ctx, const sr_table *table, int64_t members,
                                      int64_t buffer) {
  sr_train_options options;
  sr_ensemble *ensemble = NULL;
  sr_train_options_init(&options);
  options.plan = "uniform";
  options.members = members;
  options.structure.graph = "space";
  options.evaluate.importance = 0;
  options.evaluate.folds.buffer = buffer;
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
  return ensemble;
}

static sr_ensemble *train(sr_context *ctx, const sr_table *table, int64_t members) {
  return train_with_buffer(ctx, table, members, -1);
}

static const sr_question *question(const sr_ensemble *ensemble, sr_question_kind kind) {
  const sr_evaluation *e = sr_ensemble_get(ensemble)->evaluation;
  for (int32_t k = 0; k < e->question_count; k++)
    if (e->questions[k].kind == kind) return &e->questions[k];
  return NULL;
}

static double logit_width(double low, double high) {
  return log(high / (1.0 - high)) - log(low / (1.0 - low));
}

/* Units of one size: the interval of the next one tells the factor on the variance of the mean. */
static double factor_of(const sr_question *q) {
  double ratio = logit_width(q->next_low, q->next_high) / logit_width(q->low, q->high);
  return q->units / (ratio * ratio - 1.0);
}

/* Every question of a map with patches; regions only where there are some. */
static void patches_and_regions_are_asked(void **state) {
  (void)state;
  for (int regions = 1; regions <= 3; regions += 2) {
    sr_context *ctx = test_context(1);
    sr_table *table = made_map(ctx, regions, false);
    sr_ensemble *ensemble = train(ctx, table, 30);
    const sr_evaluation *e = sr_ensemble_get(ensemble)->evaluation;
    const sr_question *pixels = question(ensemble, SR_QUESTION_PIXELS),
                      *fields = question(ensemble, SR_QUESTION_FIELDS),
                      *areas = question(ensemble, SR_QUESTION_AREAS),
                      *region = question(ensemble, SR_QUESTION_REGIONS);
    assert_true(pixels && fields && areas && region && e->question_count == 4);
    assert_int_equal(e->held_out, SR_UNIT_FIELD);
    assert_int_equal(fields->units, PATCHES);
    assert_true(e->honest == fields->estimate && e->honest_low == fields->low);
    assert_true(pixels->low < pixels->estimate && pixels->estimate < pixels->high);
    assert_true(fields->low < fields->estimate && fields->estimate < fields->high);
    assert_true(fields->next_low < fields->low && fields->next_high > fields->high);
    assert_close(factor_of(fields), 2.1, 1e-6);
    assert_true(fields->distance > 15 && fields->distance < 40);
    assert_true(areas->estimate > 0 && areas->units <= 8);
    if (regions == 1) {
      assert_true(isnan(region->estimate) && strstr(region->reason, "one region") != NULL);
    } else {
      assert_int_equal(region->units, 3);
      assert_true(region->distance > 700 && region->low < region->estimate);
    }
    /* What was told is in the model file. */
    void *bytes = NULL;
    int64_t size = 0;
    sr_ensemble *back = NULL;
    assert_ok(ctx, sr_ensemble_to_bytes(ctx, ensemble, &bytes, &size));
    assert_ok(ctx, sr_ensemble_from_bytes(ctx, bytes, size, &back));
    assert_true(question(back, SR_QUESTION_FIELDS)->distance == fields->distance);
    assert_true(question(back, SR_QUESTION_AREAS)->buffer == areas->buffer);
    assert_true(sr_ensemble_get(back)->evaluation->reach == e->reach);
    assert_int_equal(sr_ensemble_get(back)->evaluation->distance_unit, SR_DISTANCE_MAP);
    assert_int_equal(sr_ensemble_get(back)->evaluation->held_out, SR_UNIT_FIELD);
    sr_bytes_free(&bytes);
    sr_ensemble_free(&back);
    sr_ensemble_free(&ensemble);
    sr_table_free(&table);
    sr_context_free(&ctx);
  }
}

/* ---- distances ---------------------------------------------------------------------------------
 */

static void distances_are_told_with_their_unit(void **state) {
  (void)state;
  static const struct {
    double distance;
    sr_distance_unit unit;
    const char *expected;
  } cases[] = {{0, SR_DISTANCE_METERS, "0 m"},
               {2.34, SR_DISTANCE_METERS, "2.3 m"},
               {850.4, SR_DISTANCE_METERS, "850 m"},
               {999.7, SR_DISTANCE_METERS, "1.00 km"},
               {1100, SR_DISTANCE_METERS, "1.10 km"},
               {23456, SR_DISTANCE_METERS, "23.5 km"},
               {2.12e6, SR_DISTANCE_METERS, "2120 km"},
               {270000, SR_DISTANCE_MAP, "270000 units of the map"},
               {0.1234, SR_DISTANCE_MAP, "0.123 units of the map"},
               {3, SR_DISTANCE_NONE, "3"}};
  char text[48];
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    sr_distance_text(cases[k].distance, cases[k].unit, text, sizeof text);
    assert_string_equal(text, cases[k].expected);
  }
  sr_table_view view = {.coordinate_count = 2};
  assert_int_equal(sr__distance_unit(&view), SR_DISTANCE_MAP);
  view.projection = "GEOGCS[\"WGS 84\",UNIT[\"degree\",0.01]]";
  assert_int_equal(sr__distance_unit(&view), SR_DISTANCE_METERS);
  view.projection =
      "PROJCS[\"a\",GEOGCS[\"b\",UNIT[\"degree\",0.01]],UNIT[\"metre\",1],AXIS[\"x\",EAST]]";
  assert_int_equal(sr__distance_unit(&view), SR_DISTANCE_METERS);
  view.projection =
      "PROJCS[\"a\",GEOGCS[\"b\",UNIT[\"degree\",0.01]],UNIT[\"US survey foot\",0.3]]";
  assert_int_equal(sr__distance_unit(&view), SR_DISTANCE_MAP);
  view.coordinate_count = 0;
  assert_int_equal(sr__distance_unit(&view), SR_DISTANCE_NONE);
}

static void assert_says(sr_context *ctx, const sr_ensemble *ensemble, sr_description format,
                        const char *words) {
  char *text = NULL;
  assert_ok(ctx, sr_describe_ensemble(ctx, ensemble, format, &text));
  assert_non_null(strstr(text, words));
  sr_bytes_free((void **)&text);
}

/* Patches lie 20 apart: a buffer of 25 takes the nearest ones, around areas and around fields. */
static void a_given_buffer_is_kept_by_every_question(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = made_map(ctx, 1, false);
  sr_ensemble *near = train_with_buffer(ctx, table, 20, 0),
              *far = train_with_buffer(ctx, table, 20, 25);
  static const sr_question_kind kinds[] = {SR_QUESTION_FIELDS, SR_QUESTION_AREAS};
  for (int k = 0; k < 2; k++) {
    assert_true(question(near, kinds[k])->distance < 25 && question(near, kinds[k])->buffer == 0);
    assert_true(question(far, kinds[k])->distance > 25 && question(far, kinds[k])->buffer == 25);
    const char *reason = question(far, kinds[k])->reason;
    assert_true(!reason || !strstr(reason, "cut to a sixth"));
  }
  assert_true(isnan(question(far, SR_QUESTION_PIXELS)->buffer));
  const sr_evaluation *e = sr_ensemble_get(far)->evaluation;
  assert_true(e->distance_unit == SR_DISTANCE_MAP && e->buffer_distance == 25 && e->reach >= 0);
  assert_says(ctx, far, SR_DESCRIPTION_TEXT, "(buffer 25 units of the map)");
  assert_says(ctx, far, SR_DESCRIPTION_TEXT,
              "in 8 folds, 25 units of the map kept free around each");
  assert_says(ctx, far, SR_DESCRIPTION_JSON, "\"distance_unit\":");
  assert_says(ctx, far, SR_DESCRIPTION_HTML, "(buffer 25 units of the map)");
  sr_ensemble_free(&near);
  sr_ensemble_free(&far);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* A class that follows hidden waves and no feature, on a lattice of 24 by 25. */
static sr_table *hidden_waves(sr_context *ctx) {
  static float x[N];
  static double place[2 * N];
  static int32_t label[N];
  double draw[2 * N];
  sr_random_normal(8, 0, 0, 2 * N, draw);
  for (int i = 0; i < N; i++) {
    place[i] = i % 24;
    place[N + i] = i / 24;
    x[i] = (float)draw[i];
    label[i] = cos(place[i] / 4 + 1) + cos(place[N + i] / 5) > 0.3 * draw[N + i];
  }
  return kit_map(
      ctx, (sr_table_view){.rows = N, .features = 1, .x = x, .label = label, .coordinates = place});
}

/* Residuals of this map reach further than the buffer: told so, as what was given or what was cut.
 */
static void a_small_buffer_is_told_as_what_it_is(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = hidden_waves(ctx);
  sr_ensemble *given = train_with_buffer(ctx, table, 20, 1),
              *cut = train_with_buffer(ctx, table, 20, -1);
  const sr_question *areas = question(given, SR_QUESTION_AREAS),
                    *fitted = question(cut, SR_QUESTION_AREAS);
  double reach = sr_ensemble_get(given)->evaluation->reach;
  assert_true(reach > 4 && areas->buffer == 1);
  assert_non_null(strstr(areas->reason, "The buffer of 1 units of the map is less than"));
  assert_null(strstr(areas->reason, "cut to a sixth"));
  assert_close(fitted->buffer, fmin(reach, 4), 1e-12);
  assert_non_null(strstr(fitted->reason, "The buffer was cut to a sixth of the map, 4 units"));
  sr_ensemble_free(&given);
  sr_ensemble_free(&cut);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* An even sample has no fields: the folds are areas, and no training row lies within the buffer. */
static void areas_keep_their_distance(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = made_map(ctx, 1, true);
  const double *at = sr_table_get(table)->coordinates;
  sr_structure_options options;
  sr_structure *structure = NULL;
  sr_structure_options_init(&options);
  options.graph = "space";
  assert_ok(ctx, sr_structure_estimate(ctx, table, &options, 1, &structure));
  for (int64_t buffer = 0; buffer <= 4; buffer += 2) {
    sr_folds *folds = NULL;
    sr_folds_options how;
    sr_folds_options_init(&how);
    how.buffer = buffer;
    assert_ok(ctx, sr_folds_new(ctx, structure, &how, 1, &folds));
    const sr_folds_view *v = sr_folds_get(folds);
    assert_int_equal(v->unit, SR_UNIT_AREA);
    assert_true(v->buffer_distance == (double)buffer && v->folds == 8);
    for (int32_t f = 0; f < v->folds; f++) {
      const uint8_t *role = v->role + f * v->rows;
      for (int i = 0; i < N; i++) {
        double nearest = INFINITY;
        for (int j = 0; j < N; j++)
          if (role[j] == SR_ROLE_TEST)
            nearest = fmin(nearest, hypot(at[i] - at[j], at[N + i] - at[N + j]));
        if (role[i] == SR_ROLE_TRAIN) assert_true(nearest > (double)buffer);
        if (role[i] == SR_ROLE_FREE) assert_true(nearest <= (double)buffer);
      }
    }
    sr_folds_free(&folds);
  }
  sr_structure_free(&structure);
  sr_ensemble *ensemble = train(ctx, table, 20);
  assert_null(question(ensemble, SR_QUESTION_FIELDS));
  assert_non_null(question(ensemble, SR_QUESTION_AREAS));
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Groups that are named win over what the coordinates show. */
static void named_groups_are_the_fields(void **state) {
  (void)state;
  enum { GROUPS = 12 };
  static const char *const names[GROUPS] = {"a", "b", "c", "d", "e", "f",
                                            "g", "h", "i", "j", "k", "l"};
  sr_context *ctx = test_context(1);
  sr_table *table = made_map(ctx, 1, false), *grouped = NULL;
  sr_table_view view = *sr_table_get(table);
  int32_t group[N];
  for (int i = 0; i < N; i++) group[i] = i / EACH / 2;
  view.group = group;
  view.groups = (sr_dictionary){GROUPS, names};
  assert_ok(ctx, sr_table_new(ctx, &view, &grouped));
  sr_ensemble *ensemble = train(ctx, grouped, 20);
  assert_int_equal(question(ensemble, SR_QUESTION_FIELDS)->units, GROUPS);
  assert_int_equal(sr_ensemble_get(ensemble)->evaluation->held_out, SR_UNIT_GROUP);
  sr_ensemble_free(&ensemble);
  sr_table_free(&grouped);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* A map whose rows name their region: names g0, g1, ... of `code`. */
static sr_table *with_regions(sr_context *ctx, const sr_table *table, const int32_t *code,
                              int32_t regions) {
  static char text[100][16];
  const char *names[100];
  sr_table *made = NULL;
  sr_table_view view = *sr_table_get(table);
  for (int32_t r = 0; r < regions; r++) {
    snprintf(text[r], sizeof text[r], "g%d", r);
    names[r] = text[r];
  }
  view.region = code;
  view.regions = (sr_dictionary){regions, names};
  assert_ok(ctx, sr_table_new(ctx, &view, &made));
  return made;
}

/* Regions that are named win over what the coordinates show; names that no row has are none, one
 * region alone is none, and more than 64 share folds. */
static void named_regions_are_the_regions(void **state) {
  (void)state;
  static const struct {
    int32_t names, used, unused;
  } cases[] = {{4, 4, 0}, {6, 4, 2}, {1, 0, 0}, {80, 80, 0}};
  sr_context *ctx = test_context(1);
  sr_table *table = made_map(ctx, 3, false), *named = NULL;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    int32_t code[N], names = cases[k].names, used = names - cases[k].unused;
    for (int i = 0; i < N; i++)
      code[i] = cases[k].unused + (names == 80 ? i % 80 : i / EACH * used / PATCHES);
    named = with_regions(ctx, table, code, names);
    sr_ensemble *ensemble = train(ctx, named, 20);
    const sr_question *region = question(ensemble, SR_QUESTION_REGIONS);
    const sr_structure *structure = sr_ensemble_get(ensemble)->structure;
    assert_int_equal(sr_structure_get(structure)->regions, used);
    if (cases[k].used == 0) {
      assert_true(isnan(region->estimate) && strstr(region->reason, "one region") != NULL);
    } else {
      assert_int_equal(region->units, cases[k].used);
      assert_true(region->estimate > 0 && region->estimate < 1);
    }
    /* Regions of one patch each lie as far apart as patches do, not as the coordinates' regions. */
    if (names == 4) assert_true(region->distance < 700);
    assert_int_equal(question(ensemble, SR_QUESTION_FIELDS)->units, PATCHES);
    sr_ensemble_free(&ensemble);
    sr_table_free(&named);
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Regions without places would be passed over in silence. */
static void regions_need_a_map(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *map = made_map(ctx, 1, false), *plain = NULL;
  sr_structure *structure = NULL;
  int32_t code[N];
  for (int i = 0; i < N; i++) code[i] = i / EACH % 2;
  sr_table *named = with_regions(ctx, map, code, 2);
  sr_table_view view = *sr_table_get(named);
  view.coordinate_count = 0;
  view.coordinates = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &plain));
  assert_int_equal(sr_structure_estimate(ctx, plain, NULL, 1, &structure), SR_ERROR_ARGUMENT);
  assert_non_null(strstr(sr_context_error(ctx).message, "name their coordinates"));
  sr_table_free(&plain);
  sr_table_free(&named);
  sr_table_free(&map);
  sr_context_free(&ctx);
}

/* ---- real maps
 * ----------------------------------------------------------------------------------- */

/* By coordinates alone. Germany: a tenth of its pixels; leaving polygons and regions out gives .19
 * to .27 and .30 to .40. Maipo: leaving fields and areas out gives .09 to .13 and .11 to .17. */
static void real_maps_are_told_honestly(void **state) {
  (void)state;
  static const char *const names[] = {"ID", "ClassID", "Region", NULL}, *const field[] = {"field",
                                                                                          NULL};
  sr_context *ctx = test_context(2);
  sr_table *all = kit_real_map(ctx, "sentinel2_germany.csv.gz", "Label", "Lon", "Lat", names);
  if (!all) {
    sr_context_free(&ctx);
    skip();
  }
  int64_t n = sr_table_get(all)->rows / 10, *row = malloc(sizeof *row * (size_t)n);
  sr_table *some = NULL;
  for (int64_t i = 0; i < n; i++) row[i] = 10 * i;
  assert_ok(ctx, sr_table_select(ctx, all, row, n, &some));
  sr_ensemble *ensemble = train(ctx, some, 100);
  const sr_question *fields = question(ensemble, SR_QUESTION_FIELDS),
                    *regions = question(ensemble, SR_QUESTION_REGIONS);
  assert_true(fields->units == 183 && regions->units == 4);
  assert_true(fields->estimate > 0.19 && fields->estimate < 0.27);
  assert_true(regions->estimate > 0.30 && regions->estimate < 0.40);
  assert_true(regions->low < 0.337 && regions->high > 0.337);
  sr_ensemble_free(&ensemble);
  sr_table_free(&some);
  sr_table_free(&all);
  free(row);
  all = kit_real_map(ctx, "maipo_crops.csv.gz", "croptype", "utmx", "utmy", field);
  ensemble = train(ctx, all, 60);
  fields = question(ensemble, SR_QUESTION_FIELDS);
  assert_in_range(fields->units, 370, 400);
  assert_true(fields->estimate > 0.09 && fields->estimate < 0.13);
  assert_true(question(ensemble, SR_QUESTION_AREAS)->estimate > 0.11);
  assert_true(question(ensemble, SR_QUESTION_AREAS)->estimate < 0.17);
  assert_true(isnan(question(ensemble, SR_QUESTION_REGIONS)->estimate));
  sr_ensemble_free(&ensemble);
  sr_table_free(&all);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intervals_equal_a_reference),
      cmocka_unit_test(the_next_of_many_goes_by_rank),
      cmocka_unit_test(patches_and_regions_are_asked),
      cmocka_unit_test(areas_keep_their_distance),
      cmocka_unit_test(distances_are_told_with_their_unit),
      cmocka_unit_test(a_given_buffer_is_kept_by_every_question),
      cmocka_unit_test(a_small_buffer_is_told_as_what_it_is),
      cmocka_unit_test(named_groups_are_the_fields),
      cmocka_unit_test(named_regions_are_the_regions),
      cmocka_unit_test(regions_need_a_map),
      cmocka_unit_test(real_maps_are_told_honestly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
