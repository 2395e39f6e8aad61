/* Real files: the numbers of rows, features, classes and groups that their sources state. Each test
 * is skipped where the file is absent. */
#include <unistd.h>

#include "read_check.h"

typedef struct expectation {
  const char *path;
  const char *target, *group, *time, *drop, *coordinates[3];
  int64_t rows, features;
  int32_t classes, groups;
} expectation;

static void check(const expectation *expected) {
  const char *path = test_shared_data(expected->path);
  if (!path) skip();
  sr_context *ctx = test_context(2);
  const char *const drop[] = {expected->drop, NULL};
  sr_read_options options = read_defaults();
  options.target = expected->target;
  options.group = expected->group;
  options.time = expected->time;
  if (expected->drop) options.drop = drop;
  if (expected->coordinates[0]) options.coordinates = expected->coordinates;
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, path, &options, &table));
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, expected->rows);
  assert_int_equal(view->features, expected->features);
  assert_int_equal(view->classes.count, expected->classes);
  assert_int_equal(view->groups.count, expected->groups);
  for (int64_t i = 0; view->time && i < view->rows; i++) assert_true(isfinite(view->time[i]));
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void elec2(void **state) {
  (void)state;
  check(&(expectation){"streams/elec2.csv.gz", .target = "class", .rows = 45312, .features = 6,
                       .classes = 2});
}

static void beijing(void **state) {
  (void)state;
  check(&(expectation){"streams/beijing_pm25.csv.gz", .target = "cbwd", .time = "No", .rows = 43824,
                       .features = 8, .classes = 4} /* year, month and day name rows */);
}

static void weather(void **state) {
  (void)state;
  check(&(expectation){"streams/weather.csv.gz", .target = "9", .rows = 18159, .features = 8,
                       .classes = 2});
}

static void eeg(void **state) {
  (void)state;
  check(&(expectation){"streams/eeg_eye_state.csv.gz", .target = "class", .rows = 14980,
                       .features = 14, .classes = 2});
}

/* Row names without a heading, times in quotes or not. */
static void occupancy(void **state) {
  (void)state;
  const expectation files[] = {{"streams/occupancy_datatraining.csv.gz", .target = "Occupancy",
                                .time = "date", .rows = 8143, .features = 5, .classes = 2},
                               {"streams/occupancy_datatest.csv.gz", .target = "Occupancy",
                                .time = "date", .rows = 2665, .features = 5, .classes = 2},
                               {"streams/occupancy_datatest2.csv.gz", .target = "Occupancy",
                                .time = "date", .rows = 9752, .features = 5, .classes = 2}};
  for (int i = 0; i < 3; i++) check(&files[i]);
}

static void skab(void **state) {
  (void)state;
  check(&(expectation){"streams/skab_valve1_other.csv.gz", .target = "anomaly", .group = "run",
                       .time = "datetime", .drop = "changepoint", .rows = 33089, .features = 8,
                       .classes = 2, .groups = 30});
}

static void maipo(void **state) {
  (void)state;
  check(&(expectation){"satellite/maipo_crops.csv.gz", .target = "croptype", .group = "field",
                       .coordinates = {"utmx", "utmy"}, .rows = 7713, .features = 64, .classes = 4,
                       .groups = 400});
}

static void sentinel2(void **state) {
  (void)state;
  check(&(expectation){"satellite/sentinel2_germany.csv.gz", .target = "Label", .group = "Region",
                       .drop = "ID", .coordinates = {"Lon", "Lat"}, .rows = 36600, .features = 14,
                       .classes = 10, .groups = 4});
}

static void tabular(void **state) {
  (void)state;
  check(&(expectation){"tabular/covertype_93k.csv.gz", .target = "55", .rows = 92962,
                       .features = 54, .classes = 7});
  check(&(expectation){"tabular/higgs_11k.csv.gz", .target = "label", .rows = 10984, .features = 28,
                       .classes = 2});
}

/* Every set of the archive against the numbers that its index gives. */
static void check_ucr(sr_context *ctx, const char *name, const char *part, long cases,
                      long classes) {
  char relative[256];
  snprintf(relative, sizeof relative, "ucr/%s/%s_%s.tsv.gz", name, name, part);
  const char *path = test_shared_data(relative);
  if (!path || cases == 0) return;
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, path, NULL, &table));
  const sr_table_view *view = sr_table_get(table);
  if (view->rows != cases || view->classes.count > classes || view->channels != 1)
    fail_msg("%s: %lld cases and %d classes, the index says %ld and %ld", relative,
             (long long)view->rows, view->classes.count, cases, classes);
  sr_table_free(&table);
}

static void ucr(void **state) {
  (void)state;
  const char *path = test_shared_data("ucr/INDEX.tsv");
  if (!path) skip();
  bool all = getenv("SR_FULL") != NULL;
  char *index = test_read_file(path, NULL), *rest = index;
  sr_context *ctx = test_context(2);
  strsep(&rest, "\n");
  int set = 0;
  for (char *line; (line = strsep(&rest, "\n")) && *line; set++) {
    char name[128];
    long train, test, classes;
    assert_int_equal(sscanf(line, "%127s %ld %ld %*s %*s %ld", name, &train, &test, &classes), 4);
    if (!all && set % 8) continue;
    check_ucr(ctx, name, "TRAIN", train, classes);
    check_ucr(ctx, name, "TEST", test, classes);
  }
  assert_true(set > 80);
  sr_context_free(&ctx);
  free(index);
}

#if defined(SR_HAVE_NETCDF)

/* All months of ERSST; mean of the first by ncdump and awk over the packed numbers. */
static void sst_grids(void **state) {
  (void)state;
  const char *path = test_shared_data("sst/ersst_v3b_1960-2016.nc");
  if (!path) skip();
  sr_context *ctx = test_context(1);
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, path, NULL, &table));
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, 10988);
  assert_int_equal(view->features, 684);
  assert_true(view->grid_rows == 89 && view->grid_columns == 180);
  sr_table_free(&table);
  path = test_shared_data("sst/oisst_0p25_one_day_global.nc");
  if (path) {
    assert_ok(ctx, sr_table_read(ctx, path, NULL, &table));
    view = sr_table_get(table);
    assert_int_equal(view->rows, 691150);
    float lowest = INFINITY, highest = -INFINITY;
    for (int64_t i = 0; i < view->rows; i++) {
      lowest = fminf(lowest, view->x[i]);
      highest = fmaxf(highest, view->x[i]);
    }
    /* The file's own actual_range is wider than what one day holds. */
    assert_true(lowest >= -1.8f && highest <= 37.21f && highest > 30);
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

#endif

#if defined(SR_HAVE_GDAL)

static void zion(void **state) {
  (void)state;
  static const char *const names[] = {"landsat_b2", "landsat_b3", "landsat_b4",
                                      "landsat_b5", "srtm",       "nlcd"};
  char list[2000];
  size_t used = 0;
  for (int i = 0; i < 6; i++) {
    char relative[64];
    snprintf(relative, sizeof relative, "satellite/zion_%s.tif", names[i]);
    const char *path = test_shared_data(relative);
    if (!path) skip();
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? "," : "", path);
  }
  sr_context *ctx = test_context(1);
  sr_read_options options = read_defaults();
  options.target = "zion_nlcd";
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, list, &options, &table));
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, 1128 * 1428);
  assert_int_equal(view->features, 5);
  assert_true(view->grid_rows == 1428 && view->grid_columns == 1128);
  assert_true(view->coordinates[0] == 301920 && view->coordinates[view->rows] == 4154070);
  assert_int_equal(view->classes.count, 8);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(elec2),
    cmocka_unit_test(beijing),
    cmocka_unit_test(weather),
    cmocka_unit_test(eeg),
    cmocka_unit_test(occupancy),
    cmocka_unit_test(skab),
    cmocka_unit_test(maipo),
    cmocka_unit_test(sentinel2),
    cmocka_unit_test(tabular),
    cmocka_unit_test(ucr),
#if defined(SR_HAVE_NETCDF)
    cmocka_unit_test(sst_grids),
#endif
#if defined(SR_HAVE_GDAL)
    cmocka_unit_test(zion),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
