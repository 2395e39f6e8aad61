/* What is done with a table once it is read: order of time, columns that count rows, the target in
 * disguise, and files that a model reads. */
#include <time.h>

#include "core/random.h"
#include "data/match_columns.h"
#include "read_check.h"

enum { ROWS = 60 };

typedef struct log_lines {
  char text[4096];
} log_lines;

static void keep_line(void *data, sr_log_level level, const char *message) {
  log_lines *lines = data;
  if (level < SR_LOG_WARNING) return;
  size_t used = strlen(lines->text);
  snprintf(lines->text + used, sizeof lines->text - used, "%s\n", message);
}

static sr_context *logging_context(log_lines *lines) {
  sr_context_options options;
  sr_context *ctx = NULL;
  lines->text[0] = '\0';
  sr_context_options_init(&options);
  options.log = keep_line;
  options.log_data = lines;
  assert_int_equal(sr_context_new(&options, &ctx), SR_OK);
  return ctx;
}

/* A csv of ROWS rows in which column k of row i is value(k, i). */
static char *make_csv(const char *header, int columns, double (*value)(int column, int row)) {
  char *text = malloc(ROWS * (size_t)columns * 24 + 256);
  int used = sprintf(text, "%s\n", header);
  for (int i = 0; i < ROWS; i++) {
    for (int k = 0; k < columns; k++)
      used += sprintf(text + used, "%s%.9g", k ? "," : "", value(k, i));
    used += sprintf(text + used, "\n");
  }
  return text;
}

static double noise(int column, int row) {
  double x;
  sr_random_uniform(9, (uint64_t)column, (uint64_t)row, 1, &x);
  return x;
}

static int shuffled(int row) { return (row * 37 + 11) % ROWS; } /* 37 and 60 have no divisor */

/* ---- time --------------------------------------------------------------------------------- */

static double timed(int column, int row) {
  return column == 0 ? 100 + shuffled(row) : column == 1 ? row % 3 : noise(column, shuffled(row));
}

/* The shuffled file gives the table of the sorted one. */
static void rows_are_put_in_the_order_of_time(void **state) {
  (void)state;
  log_lines lines;
  sr_context *ctx = logging_context(&lines);
  sr_read_options options = read_defaults();
  options.time = "t";
  options.target = "y";
  char *text = make_csv("t,y,x", 3, timed);
  sr_table *table = read_text(ctx, text, "x.csv", &options);
  const sr_table_view *view = sr_table_get(table);
  for (int i = 0; i < ROWS; i++) {
    assert_true(view->time[i] == 100 + i);
    assert_close((double)view->x[i], noise(2, i), 1e-6);
  }
  assert_non_null(strstr(lines.text, "not in the order of time and have been sorted"));
  free(text);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static double in_groups(int column, int row) {
  int at = shuffled(row);
  return column == 0 ? at / 2 : column == 1 ? at % 2 : noise(2, at);
}

/* Time repeats between groups, never inside one: the group decides. Without it nothing can. */
static void times_that_repeat_need_a_group(void **state) {
  (void)state;
  log_lines lines;
  sr_context *ctx = logging_context(&lines);
  sr_read_options options = read_defaults();
  char *text = make_csv("t,g,x", 3, in_groups);
  options.time = "t";
  refuses(text, "x.csv", &options, SR_ERROR_DATA, 0, 0, "as group, or a finer time");
  options.group = "g";
  sr_table *table = read_text(ctx, text, "x.csv", &options);
  const sr_table_view *view = sr_table_get(table);
  for (int i = 0; i < ROWS; i++) {
    assert_int_equal(view->group[i], i / 30);
    assert_true(view->time[i] == i % 30);
    assert_close((double)view->x[i], noise(2, 2 * (i % 30) + i / 30), 1e-6);
  }
  free(text);
  sr_table_free(&table);
  /* Rows in order keep their places, also where times repeat. */
  table =
      read_text(ctx, "t,x\n1,5\n1,4\n2,3\n", "x.csv", &(sr_read_options){.header = 1, .time = "t"});
  assert_true(cell(table, 0, 0) == 5 && cell(table, 1, 0) == 4);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void several_columns_are_one_time_or_group(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_read_options options = read_defaults();
  options.time = "year,month";
  options.group = "city,part";
  sr_table *table = read_text(ctx,
                              "year,month,city,part,x\n2013,12,b,1,1\n2014,1,b,1,2\n2013,2,a,1,3\n"
                              "2013,2,b,2,4\n",
                              "x.csv", &options);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->features, 1);
  assert_int_equal(view->groups.count, 3);
  assert_string_equal(view->groups.names[1], "b / 1");
  const double times[] = {1, 2, 0, 0};
  const int32_t groups[] = {1, 1, 0, 2};
  assert_memory_equal(view->time, times, sizeof times);
  assert_memory_equal(view->group, groups, sizeof groups);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- columns that count ------------------------------------------------------------------- */

static double with_counters(int column, int row) {
  switch (column) {
    case 0:
      return row; /* pandas' index */
    case 1:
      return 2010 + row / 25; /* year */
    case 2:
      return row % 25 / 3 + 1; /* month of that year */
    case 3:
      return row % 24; /* hour */
    case 4:
      return 7 * shuffled(row) + 3; /* id in no order */
    case 5:
      return shuffled(row) + 1; /* an index, shuffled */
    case 6:
      return row < 30; /* a flag that changes once is no clock */
    default:
      return noise(column, row);
  }
}

static void counters_are_left_out(void **state) {
  (void)state;
  log_lines lines;
  sr_context *ctx = logging_context(&lines);
  char *text = make_csv(",year,month,hour,case_id,order,flag,x", 8, with_counters);
  sr_read_options options = read_defaults();
  options.header = 1;
  sr_table *table = read_text(ctx, text, "x.csv", &options);
  const sr_table_view *view = sr_table_get(table);
  static const char *const left[] = {"hour", "flag", "x"};
  assert_int_equal(view->features, 3);
  for (int j = 0; j < 3; j++) assert_string_equal(view->feature_names[j], left[j]);
  assert_close((double)view->x[2 * ROWS + 5], noise(7, 5), 1e-6);
  static const char *const said[] = {"'x1'", "'year'", "'month'", "'case_id'", "'order'"};
  for (int k = 0; k < 5; k++) assert_non_null(strstr(lines.text, said[k]));
  assert_null(strstr(lines.text, "'hour'"));
  sr_table_free(&table);
  static const char *const keep[] = {"year", "case_id", NULL};
  options.keep = keep;
  table = read_text(ctx, text, "x.csv", &options);
  assert_int_equal(sr_table_get(table)->features, 5);
  sr_table_free(&table);
  free(text);
  sr_context_free(&ctx);
}

static double beyond_floats(int column, int row) {
  switch (column) {
    case 0:
      return 20131200 + shuffled(row) % 31 + 1; /* dates in no order, many rows a day */
    case 1:
      return 1600000000 + 60 * shuffled(row); /* seconds */
    case 2:
      return 30000001 + shuffled(row); /* an index, shuffled */
    case 3:
      return floor(2e7 + 2e6 * noise(column, row)); /* money */
    default:
      return noise(column, row);
  }
}

/* A float stands for several whole numbers from 2^24 on. */
static void numbers_beyond_floats_are_left_out_too(void **state) {
  (void)state;
  log_lines lines;
  sr_context *ctx = logging_context(&lines);
  char *text = make_csv("day,timestamp,order,price,x", 5, beyond_floats);
  sr_table *table = read_text(ctx, text, "x.csv", NULL);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->features, 2);
  assert_string_equal(view->feature_names[0], "price");
  assert_non_null(strstr(lines.text, "--keep"));
  sr_table_free(&table);
  free(text);
  sr_context_free(&ctx);
}

static void texts_that_name_rows_are_left_out(void **state) {
  (void)state;
  log_lines lines;
  sr_context *ctx = logging_context(&lines);
  char text[ROWS * 48 + 32];
  int used = sprintf(text, "name,date,kind,x\n");
  for (int i = 0; i < ROWS; i++)
    used += sprintf(text + used, "row%d,2020-01-%02d,k%d,%g\n", i, i % 28 + 1, i % 4, noise(0, i));
  sr_table *table = read_text(ctx, text, "x.csv", NULL);
  assert_int_equal(sr_table_get(table)->features, 2);
  assert_string_equal(sr_table_get(table)->feature_names[0], "kind");
  assert_int_equal(sr_table_get(table)->categories[0].count, 4);
  assert_int_equal(sr_table_get(table)->categories[1].count, 0);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- disguise ----------------------------------------------------------------------------- */

static double disguised(int column, int row) {
  double x = noise(1, row);
  return column == 0 ? x > 0.4 : column == 1 ? 3 * x : noise(2, row);
}

static void a_target_in_disguise_is_named(void **state) {
  (void)state;
  log_lines lines;
  sr_context *ctx = logging_context(&lines);
  sr_read_options options = read_defaults();
  options.target = "y";
  char *text = make_csv("y,copy,x", 3, disguised);
  sr_table *table = read_text(ctx, text, "x.csv", &options);
  assert_non_null(strstr(lines.text, "'copy' alone tells the class"));
  assert_int_equal(sr_table_get(table)->features, 2); /* said, not done */
  sr_table_free(&table);
  static const char *const drop[] = {"copy", NULL};
  lines.text[0] = '\0';
  options.drop = drop;
  table = read_text(ctx, text, "x.csv", &options);
  assert_null(strstr(lines.text, "tells the class"));
  sr_table_free(&table);
  free(text);
  sr_context_free(&ctx);
}

/* ---- files for a model -------------------------------------------------------------------- */

/* Categories that look like numbers in the new file are found, and so are classes written
 * differently. */
static void the_schema_decides_how_a_file_is_read(void **state) {
  (void)state;
  log_lines lines;
  sr_context *ctx = logging_context(&lines);
  sr_read_options options = read_defaults();
  static const char *const texts[] = {"c", NULL};
  options.target = "y";
  options.categorical = texts;
  sr_table *schema = read_text(ctx, "c,x,y\n01,1,0\nb,2,1\n2,3,1\n7.5,4,0\n", "x.csv", &options);
  options.categorical = NULL;
  options.schema = sr_table_get(schema);
  sr_table *table = read_text(ctx, "c,x,y\n01,1,1.0\n2,9,0.0\n3,9,2\n", "x.csv", &options);
  const sr_table_view *view = sr_table_get(table);
  assert_true(view->categories && view->categories[0].count == 3);
  assert_int_equal(view->classes.count, 3);
  const int32_t labels[] = {1, 0, 2};
  assert_memory_equal(view->label, labels, sizeof labels);
  assert_string_equal(view->classes.names[1], "1");
  assert_non_null(strstr(lines.text, "never shown the class '2'"));
  const sr_table *matched = NULL;
  sr_table *owned = NULL;
  assert_ok(ctx, sr__match_columns(ctx, sr_table_get(schema), table, &matched, &owned));
  const sr_table_view *known = sr_table_get(schema);
  assert_true(cell(matched, 0, 0) == cell(schema, 0, 0) &&
              cell(matched, 1, 0) == cell(schema, 2, 0));
  assert_true(isnan(cell(matched, 2, 0))); /* a category that was never met */
  sr_table_free(&owned);
  sr_table_free(&table);
  /* A numeric column that holds a word is an error at its line. */
  refuses("c,x,y\nb,nine,1\n", "x.csv", &options, SR_ERROR_FORMAT, 2, 2, "'nine'");
  /* Without the schema at reading, numbers are looked up as they are written. */
  options.schema = NULL;
  table = read_text(ctx, "c,x,y\n2,1,1\n7.50,9,0\n5,9,0\n", "x.csv", &options);
  assert_null(sr_table_get(table)->categories);
  assert_ok(ctx, sr__match_columns(ctx, known, table, &matched, &owned));
  assert_true(cell(matched, 0, 0) == cell(schema, 2, 0) &&
              cell(matched, 1, 0) == cell(schema, 3, 0));
  assert_true(isnan(cell(matched, 2, 0)));
  sr_table_free(&owned);
  sr_table_free(&table);
  sr_table_free(&schema);
  sr_context_free(&ctx);
}

static void texts_for_numbers_are_refused_by_name(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *schema = read_text(ctx, "a,b\n1,2\n3,4\n", "x.csv", NULL);
  sr_table *table = read_text(ctx, "a,b\nlow,2\nhigh,4\n", "x.csv", NULL), *owned = NULL;
  const sr_table *matched = NULL;
  assert_int_equal(sr__match_columns(ctx, sr_table_get(schema), table, &matched, &owned),
                   SR_ERROR_DATA);
  assert_non_null(strstr(sr_context_error(ctx).message, "column 'a' holds 'high'"));
  sr_table_free(&table);
  sr_table_free(&schema);
  sr_context_free(&ctx);
}

/* Two columns of one name: matched by place where all agree, refused where they moved. */
static void names_that_occur_twice_are_matched_by_place_or_refused(void **state) {
  (void)state;
  log_lines lines;
  sr_context *ctx = logging_context(&lines);
  sr_table *schema = read_text(ctx, "a,a,b\n1,2,3\n4,5,6\n", "x.csv", NULL), *owned = NULL;
  assert_non_null(strstr(lines.text, "several columns are named 'a'"));
  sr_table *same = read_text(ctx, "a,a,b\n7,8,9\n", "x.csv", &(sr_read_options){.header = 1});
  sr_table *moved = read_text(ctx, "b,a,a\n7,8,9\n", "x.csv", &(sr_read_options){.header = 1});
  const sr_table *matched = NULL;
  assert_ok(ctx, sr__match_columns(ctx, sr_table_get(schema), same, &matched, &owned));
  assert_true(cell(matched, 0, 0) == 7 && cell(matched, 0, 1) == 8);
  assert_null(owned);
  assert_int_equal(sr__match_columns(ctx, sr_table_get(schema), moved, &matched, &owned),
                   SR_ERROR_DATA);
  assert_non_null(
      strstr(sr_context_error(ctx).message, "several columns of the data are named 'a'"));
  sr_table *fewer = read_text(ctx, "b,a\n7,8\n", "x.csv", &(sr_read_options){.header = 1});
  assert_int_equal(sr__match_columns(ctx, sr_table_get(schema), fewer, &matched, &owned),
                   SR_ERROR_DATA);
  assert_non_null(strstr(sr_context_error(ctx).message, "several columns named 'a'"));
  sr_table_free(&fewer);
  sr_table_free(&moved);
  sr_table_free(&same);
  sr_table_free(&schema);
  sr_context_free(&ctx);
}

/* 120,000 categories are matched in well under a second. */
static void many_categories_are_matched_quickly(void **state) {
  (void)state;
  enum { MANY = 120000 };
  sr_context *ctx = test_context(2);
  char *text = malloc(MANY * 16 + 16);
  sr_table *tables[2], *owned = NULL;
  for (int k = 0; k < 2; k++) {
    int used = sprintf(text, "c,x\n");
    for (int i = 0; i < MANY; i++) used += sprintf(text + used, "n%d,1\n", k ? MANY - i : i);
    /* Half of the rows again, so that the column names no rows. */
    sr_read_options options = read_defaults();
    static const char *const keep[] = {"c", NULL};
    options.keep = keep;
    tables[k] = read_text(ctx, text, "x.csv", &options);
  }
  const sr_table *matched = NULL;
  clock_t start = clock(); /* processor time: other programs run beside this one */
  assert_ok(ctx, sr__match_columns(ctx, sr_table_get(tables[0]), tables[1], &matched, &owned));
  assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
  assert_true(isnan(cell(matched, 0, 0))); /* n120000 is new */
  assert_true(cell(matched, MANY - 1, 0) == cell(tables[0], 1, 0));
  sr_table_free(&owned);
  sr_table_free(&tables[0]);
  sr_table_free(&tables[1]);
  free(text);
  sr_context_free(&ctx);
}

/* Series as columns: the model's length counts, not the file's. */
static void series_are_cut_or_filled_to_the_models_length(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *trained = read_text(ctx, "t1,t2,t3\n1,2,3\n4,5,6\n", "x.csv", NULL), *owned = NULL;
  sr_table *longer =
      read_text(ctx, "1\t0.5\t1.5\t2.5\t3.5\n2\t9.5\tNaN\tNaN\tNaN\n", "x_TEST.tsv", NULL);
  const sr_table *matched = NULL;
  assert_ok(ctx, sr__match_columns(ctx, sr_table_get(trained), longer, &matched, &owned));
  assert_int_equal(sr_table_get(matched)->features, 3);
  assert_true(cell(matched, 0, 2) == 2.5f && isnan(cell(matched, 1, 1)));
  sr_table_free(&owned);
  sr_table_free(&longer);
  sr_table_free(&trained);
  sr_context_free(&ctx);
}

static sr_status read_and_settle(sr_context *ctx, void *data) {
  sr_read_options options = read_defaults();
  options.time = "t,u";
  options.group = "g,h";
  options.target = "y";
  sr_table *table = NULL, *again = NULL;
  sr_status status = sr__table_read_memory(ctx, (sr__memory_file){data, strlen(data), "x.csv", 0},
                                           &options, &table);
  if (status == SR_OK) {
    options.schema = sr_table_get(table);
    status = sr__table_read_memory(ctx, (sr__memory_file){data, strlen(data), "x.csv", 0}, &options,
                                   &again);
  }
  sr_table_free(&again);
  sr_table_free(&table);
  return status;
}

static double for_memory(int column, int row) {
  return column == 0 ? shuffled(row) : column < 4 ? 1 : column == 4 ? row % 2 : noise(column, row);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  char *text = make_csv("t,u,g,h,y,x,index", 7, for_memory);
  test_every_allocation(read_and_settle, text);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_put_in_the_order_of_time),
      cmocka_unit_test(times_that_repeat_need_a_group),
      cmocka_unit_test(several_columns_are_one_time_or_group),
      cmocka_unit_test(counters_are_left_out),
      cmocka_unit_test(numbers_beyond_floats_are_left_out_too),
      cmocka_unit_test(texts_that_name_rows_are_left_out),
      cmocka_unit_test(a_target_in_disguise_is_named),
      cmocka_unit_test(the_schema_decides_how_a_file_is_read),
      cmocka_unit_test(texts_for_numbers_are_refused_by_name),
      cmocka_unit_test(names_that_occur_twice_are_matched_by_place_or_refused),
      cmocka_unit_test(many_categories_are_matched_quickly),
      cmocka_unit_test(series_are_cut_or_filled_to_the_models_length),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
