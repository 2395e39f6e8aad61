/* Tables and series as objects: copies, checks, selection, passage between the two. */
#include "data/series_columns.h"
#include "read_check.h"

static const float features[] = {1, 2, 3, 4, 5, 6};
static const int32_t labels[] = {0, 1, -1};
static const char *const class_names[] = {"no", "yes"};
static const int64_t cells[] = {0, 2, 3};

static sr_table_view small_view(void) {
  return (sr_table_view){.rows = 3,
                         .features = 2,
                         .x = features,
                         .label = labels,
                         .classes = {2, class_names},
                         .target_name = "y",
                         .grid_rows = 2,
                         .grid_columns = 2,
                         .cell = cells};
}

static void tables_are_copies(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table_view view = small_view();
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  const sr_table_view *got = sr_table_get(table);
  assert_ptr_not_equal(got->x, features);
  assert_memory_equal(got->x, features, sizeof features);
  assert_string_equal(got->classes.names[1], "yes");
  assert_int_equal(got->cell[2], 3);
  sr_table_free(&table);
  assert_null(table);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void wrong_tables_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = NULL;
  const int32_t bad_label[] = {0, 2, 0};
  const int64_t bad_cell[] = {0, 2, 2}, far_cell[] = {0, 2, 4};
  sr_table_view view = small_view();
  view.label = bad_label;
  assert_int_equal(sr_table_new(ctx, &view, &table), SR_ERROR_ARGUMENT);
  assert_non_null(strstr(sr_context_error(ctx).message, "label of row 1 is 2"));
  view = small_view();
  view.cell = bad_cell;
  assert_int_equal(sr_table_new(ctx, &view, &table), SR_ERROR_ARGUMENT);
  view.cell = far_cell;
  assert_int_equal(sr_table_new(ctx, &view, &table), SR_ERROR_ARGUMENT);
  view = small_view();
  view.rows = -1;
  assert_int_equal(sr_table_new(ctx, &view, &table), SR_ERROR_ARGUMENT);
  view = small_view();
  view.x = NULL;
  assert_int_equal(sr_table_new(ctx, &view, &table), SR_ERROR_ARGUMENT);
  assert_null(table);
  sr_context_free(&ctx);
}

static void rows_are_selected(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table_view view = small_view();
  sr_table *table = NULL, *some = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  const int64_t up[] = {0, 2}, twice[] = {2, 2, 0}, far[] = {3};
  assert_ok(ctx, sr_table_select(ctx, table, up, 2, &some));
  assert_true(cell(some, 1, 0) == 3 && cell(some, 1, 1) == 6);
  assert_int_equal(sr_table_get(some)->cell[1], 3);
  assert_int_equal(sr_table_get(some)->classes.count, 2);
  sr_table_free(&some);
  assert_ok(ctx, sr_table_select(ctx, table, twice, 3, &some));
  assert_true(cell(some, 0, 0) == 3 && cell(some, 2, 1) == 4);
  assert_null(sr_table_get(some)->cell); /* cells would no longer increase */
  sr_table_free(&some);
  assert_int_equal(sr_table_select(ctx, table, far, 1, &some), SR_ERROR_ARGUMENT);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void wrong_series_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t offset[] = {0, 2, 6}, falling[] = {0, 3, 2}, late[] = {1, 2, 6};
  const int32_t label[] = {0, 1}, bad_label[] = {0, 5};
  sr_table_view view = {.rows = 2,
                        .channels = 1,
                        .series_offset = offset,
                        .series = features,
                        .label = label,
                        .classes = {2, class_names}};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  sr_table_free(&table);
  sr_table_free(&table);
  view.series_offset = falling;
  assert_int_equal(sr_table_new(ctx, &view, &table), SR_ERROR_ARGUMENT);
  view.series_offset = late;
  assert_int_equal(sr_table_new(ctx, &view, &table), SR_ERROR_ARGUMENT);
  view.series_offset = NULL;
  assert_int_equal(sr_table_new(ctx, &view, &table), SR_ERROR_ARGUMENT);
  view.series_offset = offset;
  view.series = NULL;
  assert_int_equal(sr_table_new(ctx, &view, &table), SR_ERROR_ARGUMENT);
  view.series = features;
  view.label = bad_label;
  assert_int_equal(sr_table_new(ctx, &view, &table), SR_ERROR_ARGUMENT);
  view.label = label;
  view.channels = -1;
  assert_int_equal(sr_table_new(ctx, &view, &table), SR_ERROR_ARGUMENT);
  view.channels = 1;
  const double value[] = {1, 2};
  view.value = value;
  assert_int_equal(sr_table_new(ctx, &view, &table), SR_ERROR_ARGUMENT);
  sr_context_free(&ctx);
}

/* Ragged series of two channels beside a feature and a number as target. */
static void series_are_selected(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t offset[] = {0, 2, 2, 3, 6}, rows[] = {1, 0, 1};
  const float series[] = {1, 2, 3, 4, 5, 6}, x[] = {7, 8};
  const double value[] = {0.5, NAN};
  sr_table_view view = {.rows = 2,
                        .features = 1,
                        .x = x,
                        .channels = 2,
                        .series_offset = offset,
                        .series = series,
                        .value = value};
  sr_table *table = NULL, *some = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  assert_ok(ctx, sr_table_select(ctx, table, rows, 3, &some));
  const sr_table_view *chosen = sr_table_get(some);
  const int64_t expected[] = {0, 1, 4, 6, 6, 7, 10};
  const float values[] = {3, 4, 5, 6, 1, 2, 3, 4, 5, 6};
  assert_int_equal(chosen->channels, 2);
  assert_memory_equal(chosen->series_offset, expected, sizeof expected);
  assert_memory_equal(chosen->series, values, sizeof values);
  assert_true(isnan(chosen->value[0]) && chosen->value[1] == 0.5 && chosen->x[0] == 8);
  sr_table_free(&some);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static sr_status make_all(sr_context *ctx, void *data) {
  (void)data;
  sr_table_view view = small_view();
  sr_table *table = NULL, *some = NULL, *filled = NULL;
  sr_table *series = NULL;
  const int64_t rows[] = {1, 2};
  sr_status status = sr_table_new(ctx, &view, &table);
  if (status == SR_OK) status = sr_table_select(ctx, table, rows, 2, &some);
  if (status == SR_OK) status = sr__columns_to_series(ctx, "x", some, &series);
  if (status == SR_OK) status = sr__series_columns(ctx, series, 0, &filled);
  if (status == SR_OK) assert_same_values(some, filled);
  sr_table_free(&filled);
  sr_table_free(&series);
  sr_table_free(&some);
  sr_table_free(&table);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_every_allocation(make_all, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_are_copies),   cmocka_unit_test(wrong_tables_are_refused),
      cmocka_unit_test(rows_are_selected),   cmocka_unit_test(wrong_series_are_refused),
      cmocka_unit_test(series_are_selected), cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
