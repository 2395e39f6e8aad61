/* Targets: classes, numbers, and two classes made of a number. */
#include "read_check.h"

static sr_read_options with_target(const char *target) {
  sr_read_options options = read_defaults();
  options.target = target;
  return options;
}

/* Each sign against the rule it stands for, on values below, at and above the number. */
static void comparisons_make_two_classes(void **state) {
  (void)state;
  const struct {
    const char *target, *classes[2];
    int labels[4];
  } cases[] = {{"pm2.5 > 75", {"pm2.5 <= 75", "pm2.5 > 75"}, {0, 0, 1, -1}},
               {"pm2.5>=75", {"pm2.5 < 75", "pm2.5 >= 75"}, {0, 1, 1, -1}},
               {" pm2.5 <  75.0 ", {"pm2.5 >= 75", "pm2.5 < 75"}, {1, 0, 0, -1}},
               {"pm2.5 <= 75", {"pm2.5 > 75", "pm2.5 <= 75"}, {1, 1, 0, -1}},
               {"pm2.5 == 75", {"pm2.5 != 75", "pm2.5 == 75"}, {0, 1, 0, -1}},
               {"1 != 75", {"pm2.5 == 75", "pm2.5 != 75"}, {1, 0, 1, -1}},
               {"pm2.5 > median", {"pm2.5 <= 75", "pm2.5 > 75"}, {0, 0, 1, -1}}};
  sr_context *ctx = test_context(1);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    sr_read_options options = with_target(cases[c].target);
    sr_table *table = read_text(ctx, "pm2.5,x\n-3.5,1\n75,2\n80,3\nNA,4\n", "x.csv", &options);
    const sr_table_view *view = sr_table_get(table);
    assert_int_equal(view->features, 1);
    assert_int_equal(view->classes.count, 2);
    for (int k = 0; k < 2; k++) assert_string_equal(view->classes.names[k], cases[c].classes[k]);
    for (int i = 0; i < 4; i++) assert_int_equal(view->label[i], cases[c].labels[i]);
    assert_string_equal(view->target_name, cases[c].classes[1]);
    /* What the table calls its target reads the same again. */
    sr_read_options again = with_target(view->target_name);
    sr_table *second = read_text(ctx, "pm2.5,x\n-3.5,1\n75,2\n80,3\nNA,4\n", "x.csv", &again);
    assert_memory_equal(sr_table_get(second)->label, view->label, 4 * sizeof(int32_t));
    sr_table_free(&second);
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

static void medians_lie_between_even_counts(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_read_options options = with_target("a > median");
  sr_table *table = read_text(ctx, "a,b\n4,1\n1,1\n2,1\n7,1\n", "x.csv", &options);
  assert_string_equal(sr_table_get(table)->target_name, "a > 3");
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void a_column_with_a_sign_in_its_name_is_a_column(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_read_options options = with_target("age > 5");
  sr_table *table = read_text(ctx, "age > 5,b\nyes,1\nno,1\n", "x.csv", &options);
  assert_string_equal(class_of(table, 0), "yes");
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void wrong_comparisons_are_refused(void **state) {
  (void)state;
  const char *text = "a,b\n1,x\n2,y\n";
  sr_read_options word = with_target("a > high"), absent = with_target("c > 1"),
                  text_column = with_target("b > 1");
  refuses(text, "x.csv", &word, SR_ERROR_ARGUMENT, 0, 0, "'high', expected a number or median");
  refuses(text, "x.csv", &absent, SR_ERROR_NOT_FOUND, 0, 0, "'c' is no column");
  refuses(text, "x.csv", &text_column, SR_ERROR_FORMAT, 2, 2, "expected a number");
  sr_read_options empty = with_target("a > median");
  refuses("a,b\nNA,1\nNA,2\n", "x.csv", &empty, SR_ERROR_DATA, 0, 0, "no median");
}

static void numbers_are_read_as_numbers(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_read_options options = with_target("price");
  options.target_kind = SR_TARGET_NUMBER;
  sr_table *table = read_text(ctx, "price,x\n0.1,1\n,2\n1e300,3\n", "x.csv", &options);
  const sr_table_view *view = sr_table_get(table);
  assert_null(view->label);
  assert_true(view->value[0] == 0.1 && isnan(view->value[1]) && view->value[2] == 1e300);
  assert_string_equal(view->target_name, "price");
  sr_table_free(&table);
  table =
      read_text(ctx, "@relation r\n@attribute price real\n@attribute x real\n@data\n2.5,1\n?,1\n",
                "x.arff", &options);
  assert_true(sr_table_get(table)->value[0] == 2.5 && isnan(sr_table_get(table)->value[1]));
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Writes `rows` lines "format(i),1" below a header "t,x". */
static char *column_text(int rows, const char *format, double factor) {
  char *text = malloc((size_t)rows * 40 + 16);
  int used = sprintf(text, "t,x\n");
  for (int i = 0; i < rows; i++) {
    used += sprintf(text + used, format, i * factor);
    used += sprintf(text + used, ",1\n");
  }
  return text;
}

static void measurements_are_no_classes(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_read_options options = with_target("t"), sure = with_target("t");
  static const char *const categorical[] = {"t", NULL};
  sure.categorical = categorical;
  char *whole = column_text(581, "%.0f", 1), *fractions = column_text(40, "%g", 0.25),
       *few = column_text(100, "%.0f", 1);
  refuses(whole, "x.csv", &options, SR_ERROR_DATA, 0, 0, "\"t > median\"");
  refuses(fractions, "x.csv", &options, SR_ERROR_DATA, 0, 0, "measurements");
  sr_table *table = read_text(ctx, whole, "x.csv", &sure);
  assert_int_equal(sr_table_get(table)->classes.count, 581);
  sr_table_free(&table);
  table = read_text(ctx, few, "x.csv", &options);
  assert_int_equal(sr_table_get(table)->classes.count, 100);
  sr_table_free(&table);
  free(whole);
  free(fractions);
  free(few);
  sr_context_free(&ctx);
}

/* One number is one class, however it is written and whatever the other classes are; ids that are
 * too long for a number stay apart. */
static void numbers_that_are_equal_are_one_class(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_read_options options = with_target("1");
  sr_table *table = read_text(ctx, "+1,a\n1,b\n-1,a\n1.0,b\n-1.00,b\n", "x.csv", &options);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->classes.count, 2);
  assert_string_equal(view->classes.names[0], "-1");
  assert_string_equal(view->classes.names[1], "1");
  const int32_t labels[] = {1, 1, 0, 1, 0};
  assert_memory_equal(view->label, labels, sizeof labels);
  sr_table_free(&table);
  table = read_text(ctx, "\xEF\xBB\xBF+1 1:2\n1 1:3\n-1 1:1\n", "x.libsvm", NULL);
  assert_int_equal(sr_table_get(table)->classes.count, 2);
  assert_string_equal(class_of(table, 0), "1");
  sr_table_free(&table);
  table = read_text(ctx, "1.0,b\nx,a\n1,a\n01,b\n-0,a\n0,b\nX,b\n+1,a\n", "x.csv", &options);
  view = sr_table_get(table);
  const int32_t mixed[] = {1, 3, 1, 1, 0, 0, 2, 1};
  assert_int_equal(view->classes.count, 4);
  assert_string_equal(view->classes.names[1], "1");
  assert_memory_equal(view->label, mixed, sizeof mixed);
  sr_table_free(&table);
  table = read_text(ctx,
                    "1237648720693755918,a\n1237648720693755919,b\n12e456,a\n99e999,b\n"
                    "1237648720693755919,b\n",
                    "x.csv", &options);
  assert_int_equal(sr_table_get(table)->classes.count, 4);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void declared_lengths_are_checked(void **state) {
  (void)state;
  refuses("@seriesLength 3\n@data\n1,2,3\n1,2\n", "x.ts", NULL, SR_ERROR_FORMAT, 4, 0,
          "has 2 values, @seriesLength says 3");
  sr_context *ctx = test_context(1);
  sr_table *table =
      read_text(ctx, "@equalLength false\n@seriesLength 3\n@data\n1,2\n", "x.ts", NULL);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static sr_status read_comparison(sr_context *ctx, void *data) {
  sr_read_options options = with_target(data);
  sr_table *table = NULL;
  sr_status status = sr_table_read_bytes(ctx, "a,b\n1,2\n3,4\n", 12, "x.csv", &options, &table);
  sr_table_free(&table);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  char text[] = "a > median";
  test_every_allocation(read_comparison, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comparisons_make_two_classes),
      cmocka_unit_test(medians_lie_between_even_counts),
      cmocka_unit_test(a_column_with_a_sign_in_its_name_is_a_column),
      cmocka_unit_test(wrong_comparisons_are_refused),
      cmocka_unit_test(numbers_are_read_as_numbers),
      cmocka_unit_test(measurements_are_no_classes),
      cmocka_unit_test(numbers_that_are_equal_are_one_class),
      cmocka_unit_test(declared_lengths_are_checked),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
