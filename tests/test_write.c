/* What is written is read back bit for bit; files are the same at any number of threads. */
#include <locale.h>

#include "core/random.h"
#include "data/print_number.h"
#include "read_check.h"

static void floats_come_back_and_are_short(void **state) {
  (void)state;
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_TEST, 0, 0);
  for (int i = 0; i < 300000; i++) {
    uint32_t bits = (uint32_t)sr__random_bits(&random);
    float value;
    memcpy(&value, &bits, sizeof value);
    if (i % 2) value = (float)sr__random_normal(&random) * (float)pow(10, i % 9 - 4);
    if (isnan(value)) continue;
    char text[SR_NUMBER_BYTES + 1], shortest[64];
    *sr__print_float(value, text) = '\0';
    float back = strtof(text, NULL);
    if (memcmp(&back, &value, sizeof value) != 0) fail_msg("%.9g was written as %s", value, text);
    /* No fewer digits do. */
    for (int digits = 1; digits <= 9; digits++) {
      snprintf(shortest, sizeof shortest, "%.*g", digits, value);
      if (strtof(shortest, NULL) == value) break;
    }
    size_t digits_used = 0, digits_needed = 0;
    for (const char *c = text; *c && *c != 'e'; c++) digits_used += *c >= '0' && *c <= '9';
    for (const char *c = shortest; *c && *c != 'e'; c++) digits_needed += *c >= '0' && *c <= '9';
    if (fabsf(value) >= 1 && value != rintf(value) && digits_used > digits_needed)
      fail_msg("%s was written, %s is enough", text, shortest);
  }
}

static void doubles_come_back(void **state) {
  (void)state;
  sr__random random;
  sr__random_init(&random, 2, SR_PURPOSE_TEST, 0, 0);
  for (int i = 0; i < 50000; i++) {
    uint64_t bits = sr__random_bits(&random);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (i % 2) value = (double)(bits >> 20);
    if (isnan(value)) continue;
    char text[SR_NUMBER_BYTES + 1];
    *sr__print_double(value, text) = '\0';
    double back = strtod(text, NULL);
    assert_memory_equal(&back, &value, sizeof value);
  }
}

/* A table with every kind of column and names that need quotes. */
static sr_table *full_table(sr_context *ctx, int64_t rows) {
  static const char *const names[] = {"plain", "with, comma", "color"};
  static const char *const colors[] = {"NA", "blue", "red \"ish\""};
  static const char *const classes[] = {"-1", "1", " padded "};
  static const char *const groups[] = {"a\nb", "c"};
  const sr_dictionary categories[] = {{0, NULL}, {0, NULL}, {3, colors}};
  sr__random random;
  sr__random_init(&random, 3, SR_PURPOSE_TEST, 0, 0);
  float *x = malloc((size_t)rows * 3 * sizeof *x), *weight = malloc((size_t)rows * sizeof *weight);
  int32_t *label = malloc((size_t)rows * sizeof *label),
          *group = malloc((size_t)rows * sizeof *group);
  double *time = malloc((size_t)rows * sizeof *time),
         *place = malloc((size_t)rows * 2 * sizeof *place);
  for (int64_t i = 0; i < rows; i++) {
    x[i] = (float)sr__random_normal(&random);
    x[rows + i] = i % 7 ? (float)i : NAN;
    x[2 * rows + i] = i < 3 ? (float)i : i % 5 ? (float)sr__random_below(&random, 3) : NAN;
    label[i] = i < 3 ? (int32_t)i : (int32_t)sr__random_below(&random, 4) - 1;
    group[i] = (int32_t)(i % 2);
    time[i] = (double)i / 3;
    weight[i] = (float)sr__random_uniform(&random);
    place[i] = sr__random_normal(&random) * 1e9;
    place[rows + i] = 1e-300 * (double)i;
  }
  sr_table_view view = {.rows = rows,
                        .features = 3,
                        .x = x,
                        .feature_names = names,
                        .categories = categories,
                        .label = label,
                        .classes = {3, classes},
                        .target_name = "y",
                        .time = time,
                        .group = group,
                        .groups = {2, groups},
                        .coordinate_count = 2,
                        .coordinates = place,
                        .weight = weight};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  free(x), free(weight), free(label), free(group), free(time), free(place);
  return table;
}

static sr_read_options full_roles(void) {
  static const char *const coordinates[] = {"coordinate1", "coordinate2", NULL};
  sr_read_options options = read_defaults();
  options.target = "y";
  options.time = "time";
  options.group = "group";
  options.weight = "weight";
  options.coordinates = coordinates;
  return options;
}

static void csv_comes_back(void **state) {
  (void)state;
  static const char *const files[] = {"t.csv", "t.tsv", "t.csv.gz", "t.tsv.gz"};
  sr_context *ctx = test_context(2);
  sr_table *table = full_table(ctx, 5000);
  for (int f = 0; f < 4; f++) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", test_folder(), files[f]);
    assert_ok(ctx, sr_table_write(ctx, table, path));
    sr_read_options options = full_roles();
    sr_table *back = NULL;
    assert_ok(ctx, sr_table_read(ctx, path, &options, &back));
    assert_same_values(table, back);
    assert_string_equal(sr_table_get(back)->feature_names[1], "with, comma");
    sr_table_free(&back);
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void files_do_not_depend_on_threads(void **state) {
  (void)state;
  char *first = NULL;
  size_t first_size = 0;
  for (int threads = 1; threads <= 8; threads *= 2) {
    sr_context *ctx = test_context(threads);
    sr_table *table = full_table(ctx, 10000);
    char path[300];
    snprintf(path, sizeof path, "%s/threads.csv.gz", test_folder());
    assert_ok(ctx, sr_table_write(ctx, table, path));
    size_t size;
    char *bytes = test_read_file(path, &size);
    if (!first) {
      first = bytes;
      first_size = size;
    } else {
      assert_int_equal(size, first_size);
      assert_memory_equal(first, bytes, size);
      free(bytes);
    }
    sr_table_free(&table);
    sr_context_free(&ctx);
  }
  free(first);
}

/* A program that speaks German still writes and reads decimal points. */
static void the_locale_does_not_matter(void **state) {
  (void)state;
  if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8")) skip();
  sr_context *ctx = test_context(1);
  sr_table *table = full_table(ctx, 100), *back = NULL;
  char path[300];
  snprintf(path, sizeof path, "%s/german.csv", test_folder());
  assert_ok(ctx, sr_table_write(ctx, table, path));
  sr_read_options options = full_roles();
  assert_ok(ctx, sr_table_read(ctx, path, &options, &back));
  assert_same_values(table, back);
  sr_table_free(&back);
  sr_table_free(&table);
  sr_context_free(&ctx);
  setlocale(LC_ALL, "C");
}

static void npy_and_libsvm_come_back(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const char *text = "a,b,y\n1,0,2\n0,2.5,-1.5\n-3,1e-9,2\n";
  sr_read_options options = read_defaults();
  options.target = "y";
  sr_table *table = read_text(ctx, text, "x.csv", &options), *back = NULL;
  char path[300];
  snprintf(path, sizeof path, "%s/t.libsvm.gz", test_folder());
  assert_ok(ctx, sr_table_write(ctx, table, path));
  assert_ok(ctx, sr_table_read(ctx, path, NULL, &back));
  assert_same_values(table, back);
  sr_table_free(&back);
  snprintf(path, sizeof path, "%s/t.npy", test_folder());
  assert_ok(ctx, sr_table_write(ctx, table, path));
  assert_ok(ctx, sr_table_read(ctx, path, NULL, &back));
  const float classes[] = {2, -1.5f, 2}; /* the last column */
  assert_int_equal(sr_table_get(back)->features, 3);
  assert_memory_equal(sr_table_get(table)->x, sr_table_get(back)->x, 6 * sizeof(float));
  assert_memory_equal(classes, sr_table_get(back)->x + 6, sizeof classes);
  size_t size;
  char *bytes = test_read_file(path, &size);
  assert_int_equal(size % 64, 36); /* the data begin at a multiple of 64, as NumPy asks */
  free(bytes);
  sr_table_free(&back);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void what_a_format_cannot_hold(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = full_table(ctx, 10);
  char path[300];
  snprintf(path, sizeof path, "%s/t.libsvm", test_folder());
  assert_int_equal(sr_table_write(ctx, table, path), SR_ERROR_UNSUPPORTED);
  snprintf(path, sizeof path, "%s/t.npy", test_folder());
  assert_int_equal(sr_table_write(ctx, table, path), SR_ERROR_UNSUPPORTED);
  assert_non_null(strstr(sr_context_error(ctx).message, "feature 'color' is text"));
  snprintf(path, sizeof path, "%s/t.xlsx", test_folder());
  assert_int_equal(sr_table_write(ctx, table, path), SR_ERROR_UNSUPPORTED);
  assert_non_null(strstr(sr_context_error(ctx).message, ".csv .txt .data .tsv"));
  assert_int_equal(sr_table_write(ctx, table, "/nonexistent/t.csv"), SR_ERROR_OUTPUT);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void series_come_back(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t offset[] = {0, 3, 5, 5};
  const float value[] = {1.5f, NAN, 3, -4e-7f, 5};
  static const char *const classes[] = {"1", "2"};
  const int32_t label[] = {1, 0, 1};
  sr_table_view view = {.rows = 3,
                        .channels = 1,
                        .series_offset = offset,
                        .series = value,
                        .label = label,
                        .classes = {2, classes}};
  sr_table *table = NULL, *back = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  static const char *const files[] = {"s.ts", "s.ts.gz", "s_TRAIN.tsv"};
  char path[300];
  for (int f = 0; f < 3; f++) {
    snprintf(path, sizeof path, "%s/%s", test_folder(), files[f]);
    assert_ok(ctx, sr_table_write(ctx, table, path));
    assert_ok(ctx, sr_table_read(ctx, path, NULL, &back));
    const sr_table_view *read = sr_table_get(back);
    assert_memory_equal(read->series_offset, offset, sizeof offset);
    assert_memory_equal(read->label, label, sizeof label);
    for (int i = 0; i < 5; i++)
      assert_true(read->series[i] == value[i] || (isnan(read->series[i]) && isnan(value[i])));
    sr_table_free(&back);
  }
  /* Formats without series get them as columns. */
  snprintf(path, sizeof path, "%s/s.csv", test_folder());
  assert_ok(ctx, sr_table_write(ctx, table, path));
  char *text = test_read_file(path, NULL);
  assert_string_equal(text, "t1,t2,t3,class\n1.5,NA,3,2\n-4e-07,5,NA,1\nNA,NA,NA,2\n");
  free(text);
  sr_table_free(&table);
  view.channels = 3;
  view.rows = 1;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  snprintf(path, sizeof path, "%s/m_TRAIN.tsv", test_folder());
  assert_int_equal(sr_table_write(ctx, table, path), SR_ERROR_UNSUPPORTED);
  snprintf(path, sizeof path, "%s/m.ts", test_folder());
  assert_ok(ctx, sr_table_write(ctx, table, path));
  assert_ok(ctx, sr_table_read(ctx, path, NULL, &back));
  assert_int_equal(sr_table_get(back)->channels, 3);
  assert_memory_equal(sr_table_get(back)->series_offset, offset, sizeof offset);
  sr_table_free(&back);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Numbers as targets come back bit for bit; a missing one stays missing. */
static void numbers_as_targets_come_back(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t offset[] = {0, 1, 2, 3};
  const float x[] = {1, 2, 3};
  const double value[] = {0.1, NAN, -1e300};
  sr_table_view views[] = {
      {.rows = 3, .features = 1, .x = x, .value = value, .target_name = "price"},
      {.rows = 3, .channels = 1, .series_offset = offset, .series = x, .value = value}};
  static const char *const files[] = {"v.csv", "v.ts"};
  for (int k = 0; k < 2; k++) {
    sr_table *table = NULL, *back = NULL;
    char path[300];
    sr_read_options options;
    sr_read_options_init(&options);
    options.target = k ? NULL : "price";
    options.target_kind = SR_TARGET_NUMBER;
    snprintf(path, sizeof path, "%s/%s", test_folder(), files[k]);
    assert_ok(ctx, sr_table_new(ctx, &views[k], &table));
    assert_ok(ctx, sr_table_write(ctx, table, path));
    assert_ok(ctx, sr_table_read(ctx, path, &options, &back));
    assert_null(sr_table_get(back)->label);
    assert_true(sr_table_get(back)->value[0] == 0.1 && isnan(sr_table_get(back)->value[1]) &&
                sr_table_get(back)->value[2] == -1e300);
    sr_table_free(&back);
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

static sr_status write_once(sr_context *ctx, void *data) {
  sr_status status;
  sr_table *table = NULL;
  char path[300];
  static const char *const coordinates[] = {"c", "d", NULL};
  sr_read_options options = read_defaults();
  options.coordinates = coordinates;
  options.target = "y";
  const char *text = "a,c,d,y\n1,2,3,7\n4,5,6,8\n";
  status = sr__table_read_memory(ctx, (sr__memory_file){text, strlen(text), "x.csv", 0}, &options,
                                 &table);
  snprintf(path, sizeof path, "%s/%s", test_folder(), (const char *)data);
  if (status == SR_OK) status = sr_table_write(ctx, table, path);
  sr_table_free(&table);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  static char csv[] = "a.csv", gz[] = "a.csv.gz", npy[] = "a.npy", libsvm[] = "a.libsvm";
  test_every_allocation(write_once, csv);
  test_every_allocation(write_once, gz);
  test_every_allocation(write_once, npy);
  test_every_allocation(write_once, libsvm);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(floats_come_back_and_are_short),
      cmocka_unit_test(doubles_come_back),
      cmocka_unit_test(csv_comes_back),
      cmocka_unit_test(files_do_not_depend_on_threads),
      cmocka_unit_test(the_locale_does_not_matter),
      cmocka_unit_test(npy_and_libsvm_come_back),
      cmocka_unit_test(what_a_format_cannot_hold),
      cmocka_unit_test(series_come_back),
      cmocka_unit_test(numbers_as_targets_come_back),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
