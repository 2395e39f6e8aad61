/* Delimited text: dialects, roles, missing values, errors with their place, blocks and threads. */
#include <unistd.h>
#include <zlib.h>

#include "core/random.h"
#include "read_check.h"

/* ---- dialects ----------------------------------------------------------------------------- */

static void plain_numbers(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = read_text(ctx, "a,b,c\n1,2.5,-3e-4\n4,NA,6\n", "x.csv", NULL);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, 2);
  assert_int_equal(view->features, 3);
  assert_string_equal(view->feature_names[2], "c");
  assert_true(cell(table, 0, 1) == 2.5f && cell(table, 0, 2) == -3e-4f && isnan(cell(table, 1, 1)));
  assert_null(view->label);
  assert_null(view->categories);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void separators_are_found(void **state) {
  (void)state;
  static const char *const texts[] = {"a,b\n1,2\n3,4\n",
                                      "a;b\n1;2\n3;4\n",
                                      "a\tb\n1\t2\n3\t4\n",
                                      "a|b\n1|2\n3|4\n",
                                      "a b\n1   2\n 3 4 \n",
                                      "\xEF\xBB\xBF"
                                      "a,b\r\n1,2\r\n\r\n3,4",
                                      "a,b\n 1 ,\t2\n\"3\" , \"4\"\n"};
  sr_context *ctx = test_context(1);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    sr_table *table = read_text(ctx, texts[i], "x.csv", NULL);
    const sr_table_view *view = sr_table_get(table);
    assert_int_equal(view->rows, 2);
    assert_int_equal(view->features, 2);
    assert_string_equal(view->feature_names[0], "a");
    for (int k = 0; k < 4; k++) assert_true(cell(table, k / 2, k % 2) == (float)(k + 1));
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

static void quotes_follow_rfc_4180(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_read_options options = read_defaults();
  options.target = "name, first";
  sr_table *table = read_text(ctx,
                              "\"name, first\",y\r\n\"say \"\"hi\"\"\",1\r\n\"two\nlines\",2\r\n"
                              "5\" pipe,3\r\n\"NA\",4\r\n,5\r\n",
                              "x.csv", &options);
  assert_int_equal(sr_table_get(table)->rows, 5);
  assert_string_equal(class_of(table, 0), "say \"hi\"");
  assert_string_equal(class_of(table, 1), "two\nlines");
  assert_string_equal(class_of(table, 2), "5\" pipe");
  assert_string_equal(class_of(table, 3), "NA"); /* in quotes it is a text */
  assert_null(class_of(table, 4));
  assert_string_equal(sr_table_get(table)->target_name, "name, first");
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void headers_are_told_from_data(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  static const struct {
    const char *text;
    int header;
    int64_t rows;
    const char *first_name;
  } cases[] = {{"a,b\n1,2\n", -1, 1, "a"},         {"1,2\n3,4\n", -1, 2, "x1"},
               {"a,b\nx,y\nx,z\n", -1, 2, "a"},    {"x,y\nx,z\nw,y\n", -1, 3, "x1"},
               {"2010,2011\n1,2\n", 1, 1, "2010"}, {"a,b\nx,y\n", 0, 2, "x1"},
               {",b\n1,2\n3,4\n", -1, 2, "x1"},    {"NA,1\n2,3\n", -1, 2, "x1"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sr_read_options options = read_defaults();
    options.header = cases[i].header;
    sr_table *table = read_text(ctx, cases[i].text, "x.csv", &options);
    assert_int_equal(sr_table_get(table)->rows, cases[i].rows);
    assert_string_equal(sr_table_get(table)->feature_names[0], cases[i].first_name);
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

/* R writes row names without a heading. */
static void row_names_are_left_out(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = read_text(ctx, "\"a\",\"b\"\n\"1\",2,3\n\"2\",4,5\n", "x.csv", NULL);
  assert_int_equal(sr_table_get(table)->features, 2);
  assert_true(cell(table, 1, 0) == 4);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void missing_values_have_many_names(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table =
      read_text(ctx, "a,b\n1,x\n,\nNA,na\nNaN,nan\nnull,NULL\n?,?\nN/A,n/a\n 7 , x \n", "x.csv",
                NULL);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, 8);
  for (int i = 1; i < 7; i++) assert_true(isnan(cell(table, i, 0)) && isnan(cell(table, i, 1)));
  assert_int_equal(view->categories[1].count, 1);
  assert_string_equal(view->categories[1].names[0], "x");
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- columns ------------------------------------------------------------------------------ */

static void roles_are_kept_apart(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  static const char *const coordinates[] = {"lon", "3", NULL}, *const drop[] = {"id", NULL};
  sr_read_options options = read_defaults();
  options.target = "y";
  options.time = "when";
  options.group = "run";
  options.weight = "w";
  options.coordinates = coordinates;
  options.drop = drop;
  sr_table *table = read_text(ctx,
                              "id,lon,lat,when,run,w,y,f,g\n"
                              "7,10.5,1e300,2024-02-29T12:00:00+02:00,b,0.5,10,1,red\n"
                              "8,11.5,-2,2024-02-29 10:00:01.5,a,0,9,2,blue\n"
                              "9,12.5,3,2024/03/01,b,1,10,3,red\n",
                              "x.csv", &options);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->features, 2);
  assert_string_equal(view->feature_names[0], "f");
  assert_int_equal(view->coordinate_count, 2);
  assert_true(view->coordinates[1] == 11.5 && view->coordinates[3] == 1e300);
  /* date -u -d '2024-02-29 10:00' +%s */
  assert_true(view->time[0] == 1709200800 && view->time[1] == 1709200801.5 &&
              view->time[2] == 1709251200);
  assert_string_equal(view->groups.names[view->group[0]], "b");
  assert_int_equal(view->groups.count, 2);
  assert_true(view->weight[0] == 0.5f);
  /* Classes that are numbers are sorted by value, whatever their text. */
  assert_string_equal(view->classes.names[0], "9");
  assert_string_equal(class_of(table, 2), "10");
  assert_int_equal(view->categories[1].count, 2);
  assert_string_equal(view->categories[1].names[(int)cell(table, 0, 1)], "red");
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Group and region are columns of one kind: texts or numbers, one or several. */
static void regions_are_named_as_groups_are(void **state) {
  (void)state;
  static const char text[] =
      "x,east,north,country,district,y\n1,0,0,b,1,p\n2,1,0,a,2,q\n3,2,1,b,2,p\n";
  static const char *const coordinates[] = {"east", "north", NULL};
  sr_context *ctx = test_context(1);
  sr_read_options options = read_defaults();
  options.target = "y";
  options.coordinates = coordinates;
  options.region = "country,district";
  sr_table *table = read_text(ctx, text, "x.csv", &options);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->features, 1);
  assert_int_equal(view->regions.count, 3);
  assert_string_equal(view->regions.names[view->region[0]], "b / 1");
  assert_string_equal(view->regions.names[view->region[1]], "a / 2");
  const int64_t last[] = {2};
  sr_table *some = NULL;
  assert_ok(ctx, sr_table_select(ctx, table, last, 1, &some));
  assert_string_equal(view->regions.names[sr_table_get(some)->region[0]], "b / 2");
  sr_table_free(&some);
  char path[300];
  snprintf(path, sizeof path, "%s/regions.csv", test_folder());
  assert_ok(ctx, sr_table_write(ctx, table, path));
  size_t size;
  char *bytes = test_read_file(path, &size);
  assert_non_null(strstr(bytes, "coordinate2,region,y\n1,0,0,b / 1,p\n"));
  free(bytes);
  sr_table_free(&table);
  options.group = "country";
  refuses(text, "x.csv", &options, SR_ERROR_ARGUMENT, 0, 0, "both group and region");
  options.group = NULL;
  options.region = "country";
  refuses("x,east,north,country,y\n1,0,0,,p\n", "x.csv", &options, SR_ERROR_DATA, 2, 4, "country");
  sr_context_free(&ctx);
}

static void categories_can_be_asked_for(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  static const char *const categorical[] = {"zip", NULL};
  sr_read_options options = read_defaults();
  options.categorical = categorical;
  sr_table *table = read_text(ctx, "zip,v\n10115,1\n80331,2\n10115,3\n", "x.csv", &options);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->categories[0].count, 2);
  assert_true(cell(table, 0, 0) == 0 && cell(table, 1, 0) == 1);
  assert_int_equal(view->categories[1].count, 0);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Nothing in the first block says what such a column is; all of the file then does. */
static void late_columns_are_decided_at_the_end(void **state) {
  (void)state;
  enum { ROWS = 200000 };
  sr_context *ctx = test_context(2);
  char *text = malloc(ROWS * 16);
  size_t used = (size_t)sprintf(text, "a,number,word,never\n");
  for (int i = 0; i < ROWS; i++)
    used += (size_t)sprintf(text + used, i < ROWS - 2 ? "%d,,,\n" : "%d,2.5,x,\n", i % 1000);
  sr_table *table = read_text(ctx, text, "x.csv", NULL);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, ROWS);
  assert_true(cell(table, ROWS - 1, 1) == 2.5f && view->categories[1].count == 0);
  assert_int_equal(view->categories[2].count, 1);
  assert_true(isnan(cell(table, ROWS - 1, 3)) && view->categories[3].count == 0);
  sr_table_free(&table);
  free(text);
  sr_context_free(&ctx);
}

/* ---- errors ------------------------------------------------------------------------------- */

static void errors_name_the_place(void **state) {
  (void)state;
  refuses("a,b\n1,2\n3,4\n5,six\n7,8\n", "x.csv", NULL, SR_ERROR_FORMAT, 4, 2,
          "'six', expected a number");
  refuses("a,b\n1,2\n3\n", "x.csv", NULL, SR_ERROR_FORMAT, 3, 1,
          "has 1 fields, expected 2 as in line 1");
  refuses("a,b\n1,2\n\n3,4,5\n", "x.csv", NULL, SR_ERROR_FORMAT, 4, 3,
          "at least 3 fields, expected 2");
  refuses("a,b\n\"x\ny\",2\n\"z\",q\nu,v\n1,\"2", "x.csv", NULL, SR_ERROR_FORMAT, 6, 2,
          "never closed");
  refuses("a,b\n1,\"2\"x\n", "x.csv", NULL, SR_ERROR_FORMAT, 2, 2, "follows a closing quote");
  refuses("a,b\n1,1e39\n", "x.csv", NULL, SR_ERROR_FORMAT, 2, 2, "beyond the largest");
  refuses("a;b\n1,5;2\n1,6;3\n", "x.csv", NULL, SR_ERROR_FORMAT, 2, 1, "decimal comma");
  refuses("", "x.csv", NULL, SR_ERROR_DATA, 0, 0, "empty");
  refuses("\n\n  \n", "x.csv", NULL, SR_ERROR_DATA, 0, 0, "empty");
  refuses("a,b\n", "x.csv", NULL, SR_ERROR_DATA, 0, 0, "no rows");
  refuses("a\rb\r1\r", "x.csv", NULL, SR_ERROR_FORMAT, 1, 0, "carriage returns");
  refuses_bytes("a,b\n1,\0\n", 8, "x.csv", NULL, SR_ERROR_FORMAT, 0, 0, "zero bytes");
  refuses_bytes("\xff\xfe\x61\0", 4, "x.csv", NULL, SR_ERROR_UNSUPPORTED, 1, 0, "UTF-16");
}

static void roles_are_checked(void **state) {
  (void)state;
  static const char *const one[] = {"a", NULL}, *const two[] = {"a", "b", NULL};
  const char *text = "a,price,Price2,t\n1,2,3,2024-01-01\n4,5,6,2024-13-01\n";
  sr_read_options options = read_defaults();
  options.target = "prise";
  refuses(text, "x.csv", &options, SR_ERROR_NOT_FOUND, 0, 0, "did you mean 'price', 'Price2'");
  options.target = "5";
  refuses(text, "x.csv", &options, SR_ERROR_NOT_FOUND, 0, 0, "columns 1 to 4");
  options.target = "a";
  options.group = "1";
  refuses(text, "x.csv", &options, SR_ERROR_ARGUMENT, 0, 0, "both target and group");
  options = read_defaults();
  options.coordinates = one;
  refuses(text, "x.csv", &options, SR_ERROR_ARGUMENT, 0, 0, "expected 2 or 3");
  options = read_defaults();
  options.time = "t";
  refuses(text, "x.csv", &options, SR_ERROR_FORMAT, 3, 4, "expected a date and time");
  options = read_defaults();
  options.coordinates = two;
  refuses("a,b\n1,2\n3,\n", "x.csv", &options, SR_ERROR_DATA, 3, 2, "has no value");
  options = read_defaults();
  options.weight = "b";
  refuses("a,b\n1,2\n3,-1\n", "x.csv", &options, SR_ERROR_FORMAT, 3, 2, "not negative");
  options = read_defaults();
  options.target = "a";
  refuses("a,a\n1,2\n", "x.csv", &options, SR_ERROR_NOT_FOUND, 0, 0, "columns 1 and 2");
  options.format = "xls";
  refuses("a,a\n1,2\n", "x.csv", &options, SR_ERROR_NOT_FOUND, 0, 0, "no format 'xls'");
}

static void a_continuous_target_is_refused(void **state) {
  (void)state;
  enum { ROWS = 1500 };
  char *text = malloc(ROWS * 32);
  size_t used = (size_t)sprintf(text, "x,y\n");
  for (int i = 0; i < ROWS; i++) used += (size_t)sprintf(text + used, "1,%g\n", i / 7.0);
  sr_read_options options = read_defaults();
  options.target = "y";
  refuses(text, "x.csv", &options, SR_ERROR_DATA, 0, 0, "look like measurements");
  free(text);
}

/* The lowest line is reported, whichever thread meets its error first. */
static void errors_do_not_depend_on_threads(void **state) {
  (void)state;
  enum { ROWS = 400000 };
  char *text = malloc(ROWS * 12);
  size_t used = (size_t)sprintf(text, "a,b\n");
  for (int i = 0; i < ROWS; i++) {
    bool bad = i == 150000 || i == 150001 || i == 399000;
    used += (size_t)sprintf(text + used, bad ? "%d,bad\n" : "%d,1\n", i);
  }
  for (int threads = 1; threads <= 8; threads *= 2) {
    sr_context *ctx = test_context(threads);
    sr_read_options options = read_defaults();
    sr_table *table = NULL;
    assert_int_equal(sr__table_read_memory(ctx, (sr__memory_file){text, used, "x.csv", 0}, &options,
                                           &table),
                     SR_ERROR_FORMAT);
    assert_int_equal(sr_context_error(ctx).line, 150002);
    assert_int_equal(sr_context_error(ctx).column, 2);
    sr_context_free(&ctx);
  }
  free(text);
}

/* ---- blocks, threads, memory -------------------------------------------------------------- */

/* Text with every feature of the format, from a stream of random numbers. */
static char *random_csv(int rows, uint64_t seed, size_t *size) {
  static const char *const words[] = {
      "red", "\"a, b\"", "\"x \"\"q\"\" y\"", "NA", "\"two\nlines\"", "green", "1e5", ""};
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  char *text = malloc((size_t)rows * 120 + 100);
  size_t used = (size_t)sprintf(text, "n1,word,n2,class,n3\n");
  for (int i = 0; i < rows; i++) {
    used +=
        (size_t)sprintf(text + used, "%.*g,%s,%d,%s%d,%g%s", 1 + (int)sr__random_below(&random, 12),
                        sr__random_normal(&random), words[sr__random_below(&random, 8)], i,
                        sr__random_below(&random, 2) ? "c" : "d", (int)sr__random_below(&random, 5),
                        sr__random_uniform(&random),
                        sr__random_below(&random, 9) ? "\n" : "\r\n\n");
  }
  *size = used;
  return text;
}

static void blocks_of_any_size_give_the_same(void **state) {
  (void)state;
  size_t size;
  char *text = random_csv(400, 3, &size);
  sr_context *ctx = test_context(1);
  sr_read_options options = read_defaults();
  options.target = "class";
  sr_table *whole = read_text(ctx, text, "x.csv", &options);
  assert_int_equal(sr_table_get(whole)->rows, 400);
  for (size_t block = 1; block < 300; block += 1 + block / 4) {
    sr_table *table = NULL;
    assert_ok(ctx, sr__table_read_memory(ctx, (sr__memory_file){text, size, "x.csv", block},
                                         &options, &table));
    assert_same_values(whole, table);
    sr_table_free(&table);
  }
  sr_table_free(&whole);
  sr_context_free(&ctx);
  free(text);
}

static void threads_give_the_same_bytes(void **state) {
  (void)state;
  size_t size;
  char *text = random_csv(60000, 4, &size);
  const char *path = test_file("threads.csv", text, size);
  sr_read_options options = read_defaults();
  options.target = "class";
  sr_table *first = NULL;
  for (int threads = 1; threads <= 8; threads *= 2) {
    sr_context *ctx = test_context(threads);
    sr_table *table = NULL;
    assert_ok(ctx, sr_table_read(ctx, path, &options, &table));
    if (first) assert_same_values(first, table);
    if (first)
      sr_table_free(&table);
    else
      first = table;
    sr_context_free(&ctx);
  }
  assert_int_equal(sr_table_get(first)->rows, 60000);
  sr_table_free(&first);
  free(text);
}

static void gzip_is_told_by_its_bytes(void **state) {
  (void)state;
  size_t size;
  char *text = random_csv(30000, 5, &size);
  char path[300];
  snprintf(path, sizeof path, "%s/no_ending.csv", test_folder());
  gzFile file = gzopen(path, "wb");
  assert_int_equal(gzwrite(file, text, (unsigned)(size / 2)), (int)(size / 2));
  gzclose(file);
  file = gzopen(path, "ab"); /* a second member */
  assert_int_equal(gzwrite(file, text + size / 2, (unsigned)(size - size / 2)),
                   (int)(size - size / 2));
  gzclose(file);
  sr_context *ctx = test_context(2);
  sr_table *plain = read_text(ctx, text, "x.csv", NULL), *packed = NULL;
  assert_ok(ctx, sr_table_read(ctx, path, NULL, &packed));
  assert_same_values(plain, packed);
  sr_table_free(&packed);
  size_t bytes;
  char *damaged = test_read_file(path, &bytes);
  refuses_bytes(damaged, bytes - 9, "x.csv.gz", NULL, SR_ERROR_FORMAT, 0, 0, "end too early");
  damaged[bytes / 2] ^= 0x55;
  refuses_bytes(damaged, bytes, "x.csv.gz", NULL, SR_ERROR_FORMAT, 0, 0, "damaged");
  free(damaged);
  sr_table_free(&plain);
  sr_context_free(&ctx);
  free(text);
}

static void standard_input_is_csv(void **state) {
  (void)state;
  const char *text = "a,b\n1,2\n3,4\n";
  const char *path = test_file("stdin.csv", text, strlen(text));
  int saved = dup(STDIN_FILENO);
  assert_non_null(freopen(path, "r", stdin));
  sr_context *ctx = test_context(1);
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, "-", NULL, &table));
  assert_int_equal(sr_table_get(table)->rows, 2);
  sr_table_free(&table);
  sr_context_free(&ctx);
  dup2(saved, STDIN_FILENO);
  close(saved);
}

static void files_that_are_not_there(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = NULL;
  assert_int_equal(sr_table_read(ctx, "/nonexistent/x.csv", NULL, &table), SR_ERROR_IO);
  assert_non_null(strstr(sr_context_error(ctx).message, "No such file"));
  assert_int_equal(sr_table_read(ctx, "/tmp", NULL, &table), SR_ERROR_IO);
  assert_null(table);
  sr_context_free(&ctx);
}

static void an_interrupt_stops_reading(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_read_options options = read_defaults();
  sr_table *table = NULL;
  sr_context_interrupt(ctx);
  assert_int_equal(sr__table_read_memory(ctx, (sr__memory_file){"a\n1\n", 4, "x.csv", 0}, &options,
                                         &table),
                   SR_ERROR_INTERRUPTED);
  sr_context_resume(ctx);
  assert_ok(ctx, sr__table_read_memory(ctx, (sr__memory_file){"a\n1\n", 4, "x.csv", 0}, &options,
                                       &table));
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static sr_status read_once(sr_context *ctx, void *data) {
  sr_read_options options = read_defaults();
  options.target = "class";
  sr_table *table = NULL;
  const char *text = data;
  sr_status status = sr__table_read_memory(ctx, (sr__memory_file){text, strlen(text), "x.csv", 64},
                                           &options, &table);
  sr_table_free(&table);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  size_t size;
  char *text = random_csv(12, 6, &size);
  test_every_allocation(read_once, text);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_numbers),
      cmocka_unit_test(separators_are_found),
      cmocka_unit_test(quotes_follow_rfc_4180),
      cmocka_unit_test(headers_are_told_from_data),
      cmocka_unit_test(row_names_are_left_out),
      cmocka_unit_test(missing_values_have_many_names),
      cmocka_unit_test(roles_are_kept_apart),
      cmocka_unit_test(regions_are_named_as_groups_are),
      cmocka_unit_test(categories_can_be_asked_for),
      cmocka_unit_test(late_columns_are_decided_at_the_end),
      cmocka_unit_test(errors_name_the_place),
      cmocka_unit_test(roles_are_checked),
      cmocka_unit_test(a_continuous_target_is_refused),
      cmocka_unit_test(errors_do_not_depend_on_threads),
      cmocka_unit_test(blocks_of_any_size_give_the_same),
      cmocka_unit_test(threads_give_the_same_bytes),
      cmocka_unit_test(gzip_is_told_by_its_bytes),
      cmocka_unit_test(standard_input_is_csv),
      cmocka_unit_test(files_that_are_not_there),
      cmocka_unit_test(an_interrupt_stops_reading),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
