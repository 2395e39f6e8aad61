/* UCR, .ts, ARFF, .npy and LIBSVM: what is read, what is refused and where. */
#include "data/series_columns.h"
#include "read_check.h"

static int64_t length_of(const sr_table *table, int64_t piece) {
  const sr_table_view *view = sr_table_get(table);
  return view->series_offset[piece + 1] - view->series_offset[piece];
}

/* ---- UCR ---------------------------------------------------------------------------------- */

/* The ending says it, or the content does where nothing was said of the columns. */
static void ucr_rows_carry_series(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const char *text = "2\t0.5\t1.5\tNaN\n-1\t2.5\tNaN\tNaN\n2\tNaN\t3.5\t4.5\n";
  static const char *const names[] = {"Name_TRAIN.tsv", "Name_TEST.txt", "any.tsv", "any"};
  for (int k = 0; k < 4; k++) {
    sr_table *table = read_text(ctx, text, names[k], NULL);
    const sr_table_view *view = sr_table_get(table);
    assert_int_equal(view->features, 0);
    assert_int_equal(view->channels, 1);
    assert_string_equal(class_of(table, 1), "-1");
    assert_string_equal(view->classes.names[0], "-1");
    assert_int_equal(view->classes.count, 2);
    /* Trailing NaN are padding, NaN inside are missing values. */
    assert_int_equal(length_of(table, 0), 2);
    assert_int_equal(length_of(table, 1), 1);
    assert_int_equal(length_of(table, 2), 3);
    assert_true(isnan(view->series[view->series_offset[2]]));
    sr_table_free(&table);
  }
  /* The older form of the archive: commas. */
  sr_read_options options = read_defaults();
  options.format = "ucr";
  sr_table *table = read_text(ctx, "1,0.5,1.5\n2,2.5,3.5\n", "old.csv", &options);
  assert_int_equal(sr_table_get(table)->classes.count, 2);
  assert_int_equal(sr_table_get(table)->channels, 1);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void other_tsv_files_are_tables(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_read_options with_target = read_defaults(), with_header = read_defaults();
  with_target.target = "1";
  with_header.header = 1;
  const struct {
    const char *text, *name;
    const sr_read_options *options;
  } cases[] = {{"1\t2\t3\n2\t3\t4\n", "integers.tsv", NULL},
               {"a\tb\n1\t0.5\n", "header.tsv", NULL},
               {"1.5\t0.5\n2.5\t0.5\n", "fractions.tsv", NULL},
               {"1\t0.5\n2\t0.5\n", "roles.tsv", &with_target},
               {"1\t0.5\n2\t0.5\n", "header_asked.tsv", &with_header},
               {"1,0.5\n2,0.5\n", "commas.csv", NULL}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    sr_table *table = read_text(ctx, cases[k].text, cases[k].name, cases[k].options);
    if (sr_table_get(table)->channels) fail_msg("%s was taken for series", cases[k].name);
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

static void text_is_no_series(void **state) {
  (void)state;
  refuses("1\ta\n2\tb\n", "x_TRAIN.tsv", NULL, SR_ERROR_DATA, 0, 0,
          "values of a series are numbers");
}

/* ---- ts ----------------------------------------------------------------------------------- */

static const char *const ts_text =
    "# a comment\n@problemName Gestures\n@timestamps false\n@missing true\n@univariate false\n"
    "@dimensions 2\n@equalLength false\n@classLabel true walk run\n@data\n"
    "1,2,?:4,5:run\n-1.5e2:NaN,7,8,9:walk\n:1:?\n";

static void ts_is_ragged_and_multivariate(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = read_text(ctx, ts_text, "x.ts", NULL), *columns = NULL;
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, 3);
  assert_int_equal(view->channels, 2);
  assert_int_equal(view->features, 0);
  const int64_t lengths[] = {3, 2, 1, 4, 0, 1};
  for (int i = 0; i < 6; i++) assert_int_equal(length_of(table, i), lengths[i]);
  assert_true(view->series[view->series_offset[2]] == -150 && isnan(view->series[2]));
  /* Classes keep the order of the header. */
  assert_string_equal(view->classes.names[0], "walk");
  assert_true(view->label[0] == 1 && view->label[1] == 0 && view->label[2] == -1);
  /* As columns: four steps of each channel, what is over is missing. */
  assert_ok(ctx, sr__series_columns(ctx, table, 0, &columns));
  const sr_table_view *filled = sr_table_get(columns);
  assert_int_equal(filled->features, 8);
  assert_int_equal(filled->channels, 0);
  assert_string_equal(filled->feature_names[5], "c2_t2");
  assert_true(cell(columns, 0, 1) == 2 && isnan(cell(columns, 0, 3)) && cell(columns, 1, 7) == 9);
  assert_int_equal(filled->label[0], 1);
  sr_table_free(&columns);
  assert_ok(ctx, sr__series_columns(ctx, table, 2, &columns));
  assert_int_equal(sr_table_get(columns)->features, 4);
  assert_true(cell(columns, 1, 3) == 7);
  sr_table_free(&columns);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void ts_numbers_are_targets(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table =
      read_text(ctx, "@problemName p\n@targetLabel true\n@data\n1,2:0.1\n3,4:?\n", "x.ts", NULL);
  const sr_table_view *view = sr_table_get(table);
  assert_null(view->label);
  assert_true(view->value[0] == 0.1 && isnan(view->value[1]));
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void ts_errors(void **state) {
  (void)state;
  refuses("@timestamps true\n@data\n", "x.ts", NULL, SR_ERROR_UNSUPPORTED, 1, 0, "time stamps");
  refuses("@data\n(0,1),(1,2)\n", "x.ts", NULL, SR_ERROR_UNSUPPORTED, 2, 0, "time stamps");
  refuses("@classLabel true a b\n@data\n1,2:c\n", "x.ts", NULL, SR_ERROR_FORMAT, 3, 5, "'c'");
  refuses("@dimensions 2\n@data\n1,2\n", "x.ts", NULL, SR_ERROR_FORMAT, 3, 0, "1 channels");
  refuses("@data\n1,2:3\n1\n", "x.ts", NULL, SR_ERROR_FORMAT, 3, 0, "in the first case");
  refuses("@targetLabel true\n@data\n13\n", "x.ts", NULL, SR_ERROR_FORMAT, 3, 0, "no channel");
  refuses("@data\n1,x,3\n", "x.ts", NULL, SR_ERROR_FORMAT, 2, 3, "'x', expected a number");
  refuses("@data\n1,,3\n", "x.ts", NULL, SR_ERROR_FORMAT, 2, 3, "expected a number");
  refuses("@data\n", "x.ts", NULL, SR_ERROR_DATA, 2, 0, "no case");
  refuses("1,2\n", "x.ts", NULL, SR_ERROR_FORMAT, 1, 0, "expected a keyword");
  refuses("@problemName p\n", "x.ts", NULL, SR_ERROR_FORMAT, 2, 0, "before @data");
  refuses("@classLabel maybe\n@data\n", "x.ts", NULL, SR_ERROR_FORMAT, 1, 0, "true or false");
}

/* ---- arff --------------------------------------------------------------------------------- */

static void arff_attributes(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_read_options options = read_defaults();
  options.target = "class";
  options.time = "day";
  sr_table *table = read_text(ctx,
                              "% Weka\n@RELATION 'a b'\n@attribute 'it''s' NUMERIC\n"
                              "@attribute \"size of it\" { small , 'very big', \"q\\\"q\" }\n"
                              "@attribute note string\n@attribute day date 'yyyy-MM-dd'\n"
                              "@attribute class {z,a}\n\n@DATA\n% first\n"
                              "1.5, 'very big', 'say \\'hi\\'', 2024-01-02, a\n"
                              "?,small,?,\"2024-01-03\",z\n3e1,'q\"q',x,2024-01-04,?\n",
                              "x.arff", &options);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, 3);
  assert_int_equal(view->features, 3);
  assert_string_equal(view->feature_names[1], "size of it");
  assert_true(cell(table, 0, 0) == 1.5f && isnan(cell(table, 1, 0)) && cell(table, 2, 0) == 30);
  /* Nominal codes keep the order of the declaration, also of values that never occur. */
  assert_int_equal(view->categories[1].count, 3);
  assert_true(cell(table, 0, 1) == 1 && cell(table, 1, 1) == 0 && cell(table, 2, 1) == 2);
  assert_string_equal(view->categories[2].names[(int)cell(table, 0, 2)], "say 'hi'");
  assert_true(view->label[0] == 1 && view->label[1] == 0 && view->label[2] == -1);
  assert_true(view->time[1] - view->time[0] == 86400);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void arff_errors(void **state) {
  (void)state;
#define HEAD "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"
  refuses(HEAD "1,z\n", "x.arff", NULL, SR_ERROR_FORMAT, 5, 2, "'z', which its declaration");
  refuses(HEAD "1,x\nq,x\n", "x.arff", NULL, SR_ERROR_FORMAT, 6, 1, "'q', expected a number");
  refuses(HEAD "1\n", "x.arff", NULL, SR_ERROR_FORMAT, 5, 1, "one for each attribute");
  refuses(HEAD "{0 1}\n", "x.arff", NULL, SR_ERROR_UNSUPPORTED, 5, 1, "sparse");
  refuses(HEAD, "x.arff", NULL, SR_ERROR_DATA, 0, 0, "no rows");
  refuses(HEAD "1,'x\n", "x.arff", NULL, SR_ERROR_FORMAT, 5, 2, "never closed");
#undef HEAD
  refuses("@relation r\n@attribute a relational\n@data\n", "x.arff", NULL, SR_ERROR_UNSUPPORTED, 2,
          0, "'relational'");
  refuses("@relation r\n@attribute a {x\n@data\n", "x.arff", NULL, SR_ERROR_FORMAT, 2, 0,
          "expected ',' or '}'");
  refuses("@relation r\n@attribute a {x,x}\n", "x.arff", NULL, SR_ERROR_FORMAT, 2, 0, "twice");
  refuses("@relation r\nhello\n", "x.arff", NULL, SR_ERROR_FORMAT, 2, 0, "expected @relation");
  refuses("@relation r\n@data\n", "x.arff", NULL, SR_ERROR_FORMAT, 2, 0, "no @attribute");
}

/* ---- npy ---------------------------------------------------------------------------------- */

static size_t npy_bytes(int version, const char *header, const void *data, size_t size,
                        unsigned char *to) {
  size_t length = strlen(header), at = 8;
  memcpy(to, "\x93NUMPY", 6);
  to[6] = (unsigned char)version;
  to[7] = 0;
  for (int i = 0; i < (version == 1 ? 2 : 4); i++) to[at++] = (unsigned char)(length >> 8 * i);
  memcpy(to + at, header, length);
  memcpy(to + at + length, data, size);
  return at + length + size;
}

/* numpy.array([[1, 2, 3], [-4, 5, 6]]) in each type and order, as bytes. */
static void npy_types_and_orders(void **state) {
  (void)state;
  static const struct {
    const char *header;
    int size;
    bool big_endian, columns_first, is_float, is_signed;
  } cases[] = {
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 4, 0, 0, 1, 1},
      {"{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }\n", 4, 1, 1, 1, 1},
      {"{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }\n", 8, 0, 1, 1, 1},
      {"{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3), }\n", 8, 1, 0, 1, 1},
      {"{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }\n", 1, 0, 0, 0, 1},
      {"{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }\n", 2, 1, 0, 0, 1},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n", 4, 0, 0, 0, 1},
      {"{'descr': '<i8', 'fortran_order': False, 'shape': (2L, 3L), }\n", 8, 0, 0, 0, 1},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", 1, 0, 0, 0, 0},
      {"{'descr': '>u8', 'fortran_order': True, 'shape': (2, 3), }\n", 8, 1, 1, 0, 0},
  };
  const double values[2][3] = {{1, 2, 3}, {-4, 5, 6}};
  sr_context *ctx = test_context(1);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    unsigned char data[48], file[256];
    for (int item = 0; item < 6; item++) {
      double value =
          cases[k].columns_first ? values[item % 2][item / 2] : values[item / 3][item % 3];
      if (!cases[k].is_signed) value = fabs(value);
      uint64_t bits = (uint64_t)(int64_t)value;
      float single = (float)value;
      uint32_t half;
      memcpy(&half, &single, 4);
      if (cases[k].is_float && cases[k].size == 4) bits = half;
      if (cases[k].is_float && cases[k].size == 8) memcpy(&bits, &value, 8);
      for (int b = 0; b < cases[k].size; b++)
        data[item * cases[k].size + (cases[k].big_endian ? cases[k].size - 1 - b : b)] =
            (unsigned char)(bits >> 8 * b);
    }
    size_t size = npy_bytes(1 + (int)k % 3, cases[k].header, data, 6 * (size_t)cases[k].size, file);
    sr_read_options options = read_defaults();
    sr_table *table = NULL;
    assert_ok(ctx,
              sr__table_read_memory(ctx, (sr__memory_file){file, size, "x", 0}, &options, &table));
    for (int item = 0; item < 6; item++) {
      double value = values[item / 3][item % 3];
      assert_true(cell(table, item / 3, item % 3) == (cases[k].is_signed ? value : fabs(value)));
    }
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

static void npy_errors(void **state) {
  (void)state;
  unsigned char file[256];
  const double one[3] = {1, 1e300, 2};
  size_t size =
      npy_bytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n", one, 24, file);
  refuses_bytes(file, size, "x.npy", NULL, SR_ERROR_DATA, 2, 1, "row 2, column 1");
  refuses_bytes(file, size - 1, "x.npy", NULL, SR_ERROR_FORMAT, 0, 0, "only 23 bytes");
  refuses_bytes(file, 20, "x.npy", NULL, SR_ERROR_FORMAT, 0, 0, "inside its header");
  size = npy_bytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", one, 24, file);
  refuses_bytes(file, size, "x.npy", NULL, SR_ERROR_FORMAT, 0, 0, "more than 16 bytes");
  size = npy_bytes(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }\n", one, 16, file);
  refuses_bytes(file, size, "x.npy", NULL, SR_ERROR_UNSUPPORTED, 0, 0, "type '<c8'");
  size = npy_bytes(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n", one,
                   8, file);
  refuses_bytes(file, size, "x.npy", NULL, SR_ERROR_UNSUPPORTED, 0, 0, "the items are of type");
  size = npy_bytes(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2), }\n", one, 8,
                   file);
  refuses_bytes(file, size, "x.npy", NULL, SR_ERROR_UNSUPPORTED, 0, 0, "two dimensions");
  size = npy_bytes(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", one, 4, file);
  refuses_bytes(file, size, "x.npy", NULL, SR_ERROR_UNSUPPORTED, 0, 0, "single number");
  size = npy_bytes(
      1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000000, 9000000000000), }\n",
      one, 4, file);
  refuses_bytes(file, size, "x.npy", NULL, SR_ERROR_OVERFLOW, 0, 0, "too large");
  size = npy_bytes(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (100000000, 9), }\n", one,
                   4, file);
  refuses_bytes(file, size, "x.npy", NULL, SR_ERROR_FORMAT, 0, 0, "only 4 bytes");
  sr_read_options options = read_defaults();
  options.target = "1";
  refuses_bytes(file, size, "x.npy", &options, SR_ERROR_UNSUPPORTED, 0, 0,
                "'target' cannot be set");
}

/* ---- libsvm ------------------------------------------------------------------------------- */

static void libsvm_rows(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table =
      read_text(ctx, "+1 1:0.5 3:-2e1 # first\n\n-1 qid:4 2:1\r\n+1\n", "x.libsvm", NULL);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, 3);
  assert_int_equal(view->features, 3);
  assert_string_equal(view->feature_names[0], "x1");
  assert_true(cell(table, 0, 2) == -20 && cell(table, 1, 1) == 1 && cell(table, 2, 0) == 0);
  assert_string_equal(class_of(table, 0), "+1");
  assert_true(view->label[0] == 1 && view->label[1] == 0);
  sr_table_free(&table);
  table = read_text(ctx, "a 0:1\nb 1:2\n", "x.svm", NULL);
  assert_string_equal(sr_table_get(table)->feature_names[0], "x0");
  assert_true(cell(table, 0, 0) == 1 && cell(table, 1, 1) == 2);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void libsvm_errors(void **state) {
  (void)state;
  refuses("1 1:2\n2 3:1 2:1\n", "x.libsvm", NULL, SR_ERROR_FORMAT, 2, 7, "indices that increase");
  refuses("1 1:2\n2 a:1\n", "x.libsvm", NULL, SR_ERROR_FORMAT, 2, 3, "found 'a:1'");
  refuses("1 1:2x\n", "x.libsvm", NULL, SR_ERROR_FORMAT, 1, 3, "found '1:2x'");
  refuses("1 -1:2\n", "x.libsvm", NULL, SR_ERROR_FORMAT, 1, 3, "found '-1:2'");
  refuses("1:2 2:3\n", "x.libsvm", NULL, SR_ERROR_FORMAT, 1, 1, "a class label first");
  refuses("1 1:1e99\n", "x.libsvm", NULL, SR_ERROR_FORMAT, 1, 3, "beyond the largest");
  refuses("1 1:1\n2 2000000000:1\n", "x.libsvm", NULL, SR_ERROR_UNSUPPORTED, 0, 0, "too sparse");
  refuses("# nothing\n", "x.libsvm", NULL, SR_ERROR_DATA, 0, 0, "0 rows");
}

/* ---- all ---------------------------------------------------------------------------------- */

typedef struct sample_file {
  const char *name, *text;
} sample_file;

static sr_status read_sample(sr_context *ctx, void *data) {
  const sample_file *sample = data;
  sr_read_options options = read_defaults();
  sr_table *table = NULL;
  sr_status status =
      sr__table_read_memory(ctx,
                            (sr__memory_file){sample->text, strlen(sample->text), sample->name, 0},
                            &options, &table);
  sr_table_free(&table);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  sample_file ts = {"x.ts", ts_text}, ucr = {"A_TRAIN.tsv", "1\t2\t3\n2\t4\tNaN\n"};
  sample_file arff = {"x.arff",
                      "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n1,x\n"};
  sample_file libsvm = {"x.libsvm", "a 1:2\nb 2:3\n"};
  test_every_allocation(read_sample, &ts);
  test_every_allocation(read_sample, &ucr);
  test_every_allocation(read_sample, &arff);
  test_every_allocation(read_sample, &libsvm);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ucr_rows_carry_series),
      cmocka_unit_test(other_tsv_files_are_tables),
      cmocka_unit_test(text_is_no_series),
      cmocka_unit_test(ts_is_ragged_and_multivariate),
      cmocka_unit_test(ts_numbers_are_targets),
      cmocka_unit_test(ts_errors),
      cmocka_unit_test(arff_attributes),
      cmocka_unit_test(arff_errors),
      cmocka_unit_test(npy_types_and_orders),
      cmocka_unit_test(npy_errors),
      cmocka_unit_test(libsvm_rows),
      cmocka_unit_test(libsvm_errors),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
