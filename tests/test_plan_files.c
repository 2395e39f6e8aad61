/* Bags to and from files. */
#include "plan_kit.h"

enum { ROWS = 3 };

static sr_status bags_plan(sr_context *ctx, const char *path, sr_plan **plan) {
  plan_input input = {.rows = ROWS};
  char text[300];
  snprintf(text, sizeof text, "bags:%s", path);
  return plan_new(ctx, &input, text, 100, 1, plan);
}

static void assert_bag(sr_context *ctx, const sr_plan *plan, int32_t member, int64_t length,
                       const int64_t *rows, const int32_t *counts) {
  int64_t got_rows[ROWS];
  int32_t got_counts[ROWS];
  int64_t got;
  assert_ok(ctx, sr_plan_bag(ctx, plan, member, got_rows, got_counts, &got));
  assert_int_equal(got, length);
  assert_memory_equal(got_rows, rows, (size_t)length * sizeof *rows);
  assert_memory_equal(got_counts, counts, (size_t)length * sizeof *counts);
}

/* Unsorted, with a repeat, with and without the count. */
static void csv_bags_are_sorted_and_added_up(void **state) {
  (void)state;
  const char *text = "member,row,count\n1,0,300\n0,2\n0,1,1\n0,1,1\n\n";
  sr_context *ctx = test_context(1);
  sr_plan *plan = NULL;
  assert_ok(ctx, bags_plan(ctx, test_file("bags.csv", text, strlen(text)), &plan));
  assert_int_equal(sr_plan_get(plan).members, 2);
  assert_bag(ctx, plan, 0, 2, (int64_t[]){1, 2}, (int32_t[]){2, 1});
  assert_bag(ctx, plan, 1, 1, (int64_t[]){0}, (int32_t[]){300});
  sr_plan_free(&plan);
  sr_context_free(&ctx);
}

/* numpy.save of np.array([[0, 2, 1], [300, 0, 0]], dtype='<u2'). */
static const char numpy_header[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }"
    "                                                          \n";
static const unsigned char numpy_data[12] = {0, 0, 2, 0, 1, 0, 44, 1, 0, 0, 0, 0};

static void npy_is_what_numpy_writes(void **state) {
  (void)state;
  char bytes[140];
  memcpy(bytes, numpy_header, 128);
  memcpy(bytes + 128, numpy_data, 12);
  sr_context *ctx = test_context(1);
  sr_plan *plan = NULL;
  assert_ok(ctx, bags_plan(ctx, test_file("numpy.npy", bytes, sizeof bytes), &plan));
  assert_bag(ctx, plan, 0, 2, (int64_t[]){1, 2}, (int32_t[]){2, 1});
  assert_bag(ctx, plan, 1, 1, (int64_t[]){0}, (int32_t[]){300});
  char path[256];
  snprintf(path, sizeof path, "%s/out.npy", test_folder());
  sr_plan_sizes sizes;
  assert_ok(ctx, sr_plan_write(ctx, plan, path, &sizes));
  assert_int_equal(sizes.smallest, 3);
  assert_int_equal(sizes.largest, 300);
  assert_close(sizes.mean, 151.5, 1e-15);
  size_t count;
  char *written = test_read_file(path, &count);
  assert_int_equal(count, sizeof bytes);
  assert_memory_equal(written, bytes, count);
  free(written);
  sr_plan_free(&plan);
  sr_context_free(&ctx);
}

static void csv_comes_back(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  plan_input input = {.rows = ROWS};
  sr_plan *plan = NULL, *back = NULL;
  assert_ok(ctx, plan_new(ctx, &input, "uniform", 4, 1, &plan));
  char path[256];
  snprintf(path, sizeof path, "%s/back.csv", test_folder());
  assert_ok(ctx, sr_plan_write(ctx, plan, path, NULL));
  assert_ok(ctx, bags_plan(ctx, path, &back));
  for (int32_t member = 0; member < 4; member++) {
    int64_t rows[ROWS];
    int32_t counts[ROWS];
    int64_t length;
    assert_ok(ctx, sr_plan_bag(ctx, plan, member, rows, counts, &length));
    assert_bag(ctx, back, member, length, rows, counts);
  }
  sr_plan_free(&plan);
  sr_plan_free(&back);
  sr_context_free(&ctx);
}

/* The bag of every member is written from its beginning. */
static void every_scheme_is_written(void **state) {
  (void)state;
  enum { MANY = 5000, MEMBERS = 6 };
  sr_context *ctx = test_context(1);
  plan_input input = {.rows = MANY, .tmix = 3.0, .block = 4.0};
  int64_t rows[2][MANY], length[2];
  static int32_t counts[2][MANY];
  char path[256], text[300];
  snprintf(path, sizeof path, "%s/every.csv", test_folder());
  snprintf(text, sizeof text, "bags:%s", path);
  const char *const plans[] = {"uniform",  "whole",      "uniform-nm",
                               "lag-thin", "stationary", "moving"};
  for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
    sr_plan *plan = NULL, *back = NULL;
    assert_ok(ctx, plan_new(ctx, &input, plans[k], MEMBERS, 1, &plan));
    assert_ok(ctx, sr_plan_write(ctx, plan, path, NULL));
    assert_ok(ctx, plan_new(ctx, &input, text, MEMBERS, 1, &back));
    for (int32_t member = 0; member < MEMBERS; member++) {
      assert_ok(ctx, sr_plan_bag(ctx, plan, member, rows[0], counts[0], &length[0]));
      assert_ok(ctx, sr_plan_bag(ctx, back, member, rows[1], counts[1], &length[1]));
      assert_true(length[0] > 0 && length[0] <= sr_plan_get(plan).capacity);
      assert_int_equal(length[0], length[1]);
      assert_memory_equal(rows[0], rows[1], (size_t)length[0] * sizeof **rows);
      assert_memory_equal(counts[0], counts[1], (size_t)length[0] * sizeof **counts);
    }
    sr_plan_free(&plan);
    sr_plan_free(&back);
  }
  sr_context_free(&ctx);
}

static void bad_files_name_line_and_column(void **state) {
  (void)state;
  const struct {
    const char *text;
    int64_t line, column;
  } cases[] = {{"0,1\n0,3\n", 2, 2},
               {"0,1\n-1,0\n", 2, 1},
               {"0,1,x\n", 1, 1},
               {"member,row\n0\n", 2, 1},
               {"0,0,-1\n", 1, 3},
               {"", 0, 0},
               {"0,0\n2,0\n", 0, 0},
               {"0,0,1,1\n", 1, 1},
               {"0,99999999999999999999\n", 1, 1},
               {"0,1,2147483647\n0,1,1\n", 0, 0}};
  sr_context *ctx = test_context(1);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    sr_plan *plan = NULL;
    const char *path = test_file("bad.csv", cases[c].text, strlen(cases[c].text));
    assert_int_equal(bags_plan(ctx, path, &plan), SR_ERROR_FORMAT);
    assert_int_equal(sr_context_error(ctx).line, cases[c].line);
    assert_int_equal(sr_context_error(ctx).column, cases[c].column);
    assert_null(plan);
  }
  sr_plan *plan = NULL;
  assert_int_equal(bags_plan(ctx, "/nonexistent/bags.csv", &plan), SR_ERROR_IO);
  assert_int_equal(bags_plan(ctx, "/dev/zero", &plan), SR_ERROR_FORMAT);
  sr_context_free(&ctx);
}

/* Every cut and every changed byte of the header gives a plan or a clear word, never a crash. */
static void broken_npy_is_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (size_t length = 0; length < 140; length++) {
    char bytes[140];
    memcpy(bytes, numpy_header, 128);
    memcpy(bytes + 128, numpy_data, 12);
    sr_plan *plan = NULL;
    sr_status status = bags_plan(ctx, test_file("cut.npy", bytes, length), &plan);
    assert_int_equal(status, SR_ERROR_FORMAT);
    bytes[length] ^= 0x20;
    status = bags_plan(ctx, test_file("flip.npy", bytes, sizeof bytes), &plan);
    assert_true(status == SR_OK || status == SR_ERROR_FORMAT || status == SR_ERROR_UNSUPPORTED);
    sr_plan_free(&plan);
  }
  sr_context_free(&ctx);
}

static sr_status read_and_write(sr_context *ctx, void *data) {
  char path[256];
  snprintf(path, sizeof path, "%s/oom.npy", test_folder());
  sr_plan *plan = NULL;
  sr_status status = bags_plan(ctx, data, &plan);
  if (status == SR_OK) status = sr_plan_write(ctx, plan, path, NULL);
  sr_plan_free(&plan);
  return status;
}

static void files_survive_every_allocation_failure(void **state) {
  (void)state;
  const char *text = "0,2\n0,1\n1,0\n";
  test_every_allocation(read_and_write, (void *)(uintptr_t)test_file("o.csv", text, strlen(text)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(csv_bags_are_sorted_and_added_up),
      cmocka_unit_test(npy_is_what_numpy_writes),
      cmocka_unit_test(csv_comes_back),
      cmocka_unit_test(every_scheme_is_written),
      cmocka_unit_test(bad_files_name_line_and_column),
      cmocka_unit_test(broken_npy_is_refused),
      cmocka_unit_test(files_survive_every_allocation_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
