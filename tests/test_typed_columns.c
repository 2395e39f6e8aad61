/* Tables of columns that other programs hold: any type, any stride, missing values, Arrow streams,
 * tables that only show what somebody else owns. */
#include <math.h>

#include "harness.h"

/* ---- columns ------------------------------------------------------------------------------ */

static void types_are_converted(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  const uint8_t bits[] = {0x0D}, bools[] = {0, 1, 7, 0}, valid[] = {0x0B};
  const int8_t i8[] = {-128, 0, 5, 127};
  const int16_t i16[] = {-32768, 0, 5, 32767};
  const int32_t i32[] = {INT32_MIN, 0, 5, INT32_MAX};
  const int64_t i64[] = {INT64_MIN, 0, 5, INT64_MAX};
  const uint8_t u8[] = {0, 1, 5, 255};
  const uint16_t u16[] = {0, 1, 5, 65535}, f16[] = {0x3C00, 0xC000, 0x0001, 0x7E00};
  const uint32_t u32[] = {0, 1, 5, UINT32_MAX};
  const uint64_t u64[] = {0, 1, 5, UINT64_MAX};
  const float f32[] = {-1.5f, 0, 5, NAN};
  const double f64[] = {-1.5, 1e-300, 5, NAN};
  const sr_column columns[] = {
      {.type = SR_TYPE_BIT, .data = bits},
      {.type = SR_TYPE_BOOL, .data = bools, .stride = 1},
      {.type = SR_TYPE_INT8, .data = i8, .stride = 1},
      {.type = SR_TYPE_INT16, .data = i16, .stride = 2},
      {.type = SR_TYPE_INT32, .data = i32, .stride = 4},
      {.type = SR_TYPE_INT64, .data = i64, .stride = 8},
      {.type = SR_TYPE_UINT8, .data = u8, .stride = 1},
      {.type = SR_TYPE_UINT16, .data = u16, .stride = 2},
      {.type = SR_TYPE_UINT32, .data = u32, .stride = 4},
      {.type = SR_TYPE_UINT64, .data = u64, .stride = 8},
      {.type = SR_TYPE_FLOAT16, .data = f16, .stride = 2},
      {.type = SR_TYPE_FLOAT32, .data = f32, .stride = 4, .valid = valid},
      {.type = SR_TYPE_FLOAT64, .data = f64, .stride = 8},
  };
  const float expected[][4] = {{1, 0, 1, 1},
                               {0, 1, 1, 0},
                               {-128, 0, 5, 127},
                               {-32768, 0, 5, 32767},
                               {-2147483648.0f, 0, 5, 2147483648.0f},
                               {-9223372036854775808.0f, 0, 5, 9223372036854775808.0f},
                               {0, 1, 5, 255},
                               {0, 1, 5, 65535},
                               {0, 1, 5, 4294967296.0f},
                               {0, 1, 5, 18446744073709551616.0f},
                               {1, -2, 0x1p-24f, NAN},
                               {-1.5f, 0, NAN, NAN},
                               {-1.5f, 0, 5, NAN}};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_from_columns(ctx, 4, 13, columns, &table));
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->features, 13);
  assert_null(view->feature_names);
  for (int j = 0; j < 13; j++) {
    for (int i = 0; i < 4; i++) {
      float got = view->x[j * 4 + i], want = expected[j][i];
      if (!(isnan(want) ? isnan(got) : got == want))
        fail_msg("column %d row %d: %g, expected %g", j, i, (double)got, (double)want);
    }
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Records of mixed width, read forward, backward and by leaps, against a plain loop. */
static void strides_do_not_matter(void **state) {
  (void)state;
  enum { ROWS = 5000, COLUMNS = 7 };
  sr_context *ctx = test_context(2);
  double *records = malloc((size_t)ROWS * 2 * COLUMNS * sizeof *records);
  assert_non_null(records);
  sr_random_normal(1, 0, 0, (int64_t)ROWS * 2 * COLUMNS, records);
  sr_column columns[COLUMNS];
  static const char *const name[] = {"a", "b", "c", "d", "e", "f", "g"};
  for (int j = 0; j < COLUMNS; j++) {
    columns[j] = (sr_column){.name = name[j], .type = SR_TYPE_FLOAT64, .data = records + j};
    columns[j].stride = (j % 3 == 0 ? 1 : j % 3 == 1 ? -1 : 2) * COLUMNS * 8;
    if (j % 3 == 1) columns[j].data = records + (ROWS - 1) * COLUMNS + j;
    if (j == 6) columns[j].stride = 0;
  }
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_from_columns(ctx, ROWS, COLUMNS, columns, &table));
  const sr_table_view *view = sr_table_get(table);
  assert_string_equal(view->feature_names[6], "g");
  for (int64_t j = 0; j < COLUMNS; j++) {
    for (int64_t i = 0; i < ROWS; i++) {
      int64_t row = j == 6 ? 0 : j % 3 == 0 ? i : j % 3 == 1 ? ROWS - 1 - i : 2 * i;
      assert_true(view->x[j * ROWS + i] == (float)records[row * COLUMNS + j]);
    }
  }
  sr_table_free(&table);
  free(records);
  sr_context_free(&ctx);
}

static void codes_get_their_names(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int8_t code[] = {1, -1, 0, 2};
  static const char *const names[] = {"red", "green"};
  const sr_column column = {
      .name = "color", .type = SR_TYPE_INT8, .data = code, .stride = 1, .categories = {2, names}};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_from_columns(ctx, 4, 1, &column, &table));
  const sr_table_view *view = sr_table_get(table);
  assert_string_equal(view->categories[0].names[1], "green");
  assert_true(view->x[0] == 1 && isnan(view->x[1]) && view->x[2] == 0 && isnan(view->x[3]));
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void wrong_columns_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  double data[] = {1, INFINITY, 1e300};
  sr_column column = {.name = "x", .type = SR_TYPE_FLOAT64, .data = data, .stride = 8};
  sr_column two[] = {column, column};
  sr_table *table = NULL;
  assert_int_equal(sr_table_from_columns(ctx, 2, 1, &column, &table), SR_ERROR_DATA);
  assert_non_null(strstr(sr_context_error(ctx).message, "'x' holds inf in row 1"));
  data[1] = 0;
  assert_int_equal(sr_table_from_columns(ctx, 3, 1, &column, &table), SR_ERROR_DATA);
  assert_non_null(strstr(sr_context_error(ctx).message, "1e+300 in row 2"));
  assert_int_equal(sr_table_from_columns(ctx, -1, 1, &column, &table), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_table_from_columns(ctx, INT64_C(1) << 40, 1, &column, &table),
                   SR_ERROR_ARGUMENT);
  two[1].name = NULL;
  assert_int_equal(sr_table_from_columns(ctx, 1, 2, two, &table), SR_ERROR_ARGUMENT);
  column.type = (sr_type)77;
  assert_int_equal(sr_table_from_columns(ctx, 1, 1, &column, &table), SR_ERROR_ARGUMENT);
  column.type = SR_TYPE_FLOAT64;
  column.data = NULL;
  assert_int_equal(sr_table_from_columns(ctx, 1, 1, &column, &table), SR_ERROR_ARGUMENT);
  assert_null(table);
  assert_ok(ctx, sr_table_from_columns(ctx, 0, 1, &column, &table));
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void wrapped_tables_own_nothing(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  float x[] = {1, 2, 3, 4};
  int32_t label[] = {0, 1};
  static const char *const names[] = {"no", "yes"};
  sr_table_view view = {.rows = 2, .features = 2, .x = x, .label = label, .classes = {2, names}};
  sr_table *table = NULL, *some = NULL;
  assert_ok(ctx, sr_table_wrap(ctx, &view, &table));
  assert_ptr_equal(sr_table_get(table)->x, x);
  const int64_t rows[] = {1};
  assert_ok(ctx, sr_table_select(ctx, table, rows, 1, &some));
  sr_table_free(&table);
  assert_null(table);
  assert_true(sr_table_get(some)->x[1] == 4 && sr_table_get(some)->label[0] == 1);
  sr_table_free(&some);
  label[1] = 2;
  assert_int_equal(sr_table_wrap(ctx, &view, &table), SR_ERROR_ARGUMENT);
  sr_context_free(&ctx);
}

/* ---- Arrow -------------------------------------------------------------------------------- */

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

enum { COLUMNS = 8 };

/* A stream of two batches with a column of each kind; counts what is still held. */
typedef struct fake_stream {
  int next, held, batches, broken;
  struct ArrowSchema child[COLUMNS], *children[COLUMNS], dictionary;
  struct ArrowArray array[2][COLUMNS], *arrays[2][COLUMNS], entries;
  const void *buffer[2][COLUMNS][4];
  const void *entry_buffer[3];
} fake_stream;

static const char text_bytes[] = "northsouthnorthwest";
static const int32_t text_offset[2][4] = {{0, 5, 10, 15}, {0, 5, 5, 9}};
static const int64_t wide_offset[] = {0, 5, 10, 15};
static const double numbers[2][4] = {{9, 1, 2, 3}, {9, 4, 5, 6}};
static const int32_t days[2][3] = {{0, 1, 2}, {3, 4, 5}};
static const uint8_t truth[] = {5}, some_valid[] = {6};
static const int8_t codes[2][3] = {{1, 0, 1}, {0, -1, 1}};
static const int32_t entry_offset[] = {0, 5, 10};
static const int64_t classes[2][3] = {{1, 0, 1}, {0, 0, 1}};
/* "no", and a text of 20 bytes that stands in a buffer of its own */
static const char long_text[] = "a text of 20 bytes!!";
static int32_t views[3][4];

static void release_array(struct ArrowArray *array) {
  ((fake_stream *)array->private_data)->held--;
  array->release = NULL;
}
static void release_schema(struct ArrowSchema *schema) {
  ((fake_stream *)schema->private_data)->held--;
  schema->release = NULL;
}
static void release_stream(struct ArrowArrayStream *stream) {
  ((fake_stream *)stream->private_data)->held--;
  stream->release = NULL;
}
static const char *last_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return "the disk is gone";
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema) {
  fake_stream *fake = stream->private_data;
  static const char *const formats[COLUMNS] = {"g", "u", "tdD", "b", "c", "l", "U", "vu"};
  static const char *const names[COLUMNS] = {"x",   "wind", "day",   "wet",
                                             "sky", "y",    "large", "view"};
  for (int j = 0; j < COLUMNS; j++) {
    fake->child[j] = (struct ArrowSchema){.format = formats[j], .name = names[j]};
    fake->children[j] = &fake->child[j];
  }
  fake->dictionary = (struct ArrowSchema){.format = "u"};
  fake->child[4].dictionary = &fake->dictionary;
  if (fake->broken == 2) fake->child[0].format = "+l";
  *schema = (struct ArrowSchema){.format = "+s",
                                 .n_children = COLUMNS,
                                 .children = fake->children,
                                 .release = release_schema,
                                 .private_data = fake};
  fake->held++;
  return 0;
}

static void set_array(fake_stream *fake, int b, int j, const uint8_t *valid, const void *one,
                      const void *two, int64_t offset) {
  const void **buffer = fake->buffer[b][j];
  buffer[0] = valid, buffer[1] = one, buffer[2] = two;
  fake->array[b][j] = (struct ArrowArray){.length = 3,
                                          .null_count = valid ? -1 : 0,
                                          .offset = offset,
                                          .n_buffers = two ? 3 : 2,
                                          .buffers = buffer};
  fake->arrays[b][j] = &fake->array[b][j];
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *batch) {
  fake_stream *fake = stream->private_data;
  int b = fake->next++;
  if (fake->broken == 1) return 5;
  if (b >= fake->batches) return 0;
  set_array(fake, b, 0, NULL, numbers[b], NULL, 1);
  set_array(fake, b, 1, b ? some_valid : NULL, text_offset[b], text_bytes + (b ? 10 : 0), 0);
  set_array(fake, b, 2, NULL, days[b], NULL, 0);
  set_array(fake, b, 3, NULL, truth, NULL, 0);
  set_array(fake, b, 4, NULL, codes[b], NULL, 0);
  set_array(fake, b, 5, NULL, classes[b], NULL, 0);
  set_array(fake, b, 6, NULL, wide_offset, text_bytes, 0);
  set_array(fake, b, 7, NULL, views, long_text, 0);
  for (int i = 0; i < 3; i++) {
    views[i][0] = i == 1 ? 20 : 2;
    memcpy(&views[i][1], i == 1 ? "a te" : "no\0\0", 4);
    views[i][2] = views[i][3] = 0;
  }
  fake->entry_buffer[0] = NULL;
  fake->entry_buffer[1] = entry_offset;
  fake->entry_buffer[2] = text_bytes;
  fake->entries = (struct ArrowArray){.length = 2, .n_buffers = 3, .buffers = fake->entry_buffer};
  fake->array[b][4].dictionary = &fake->entries;
  *batch = (struct ArrowArray){.length = 3,
                               .n_children = COLUMNS,
                               .children = fake->arrays[b],
                               .release = release_array,
                               .private_data = fake};
  fake->held++;
  return 0;
}

static struct ArrowArrayStream start_stream(fake_stream *fake, int batches) {
  *fake = (fake_stream){.batches = batches, .held = 1};
  return (struct ArrowArrayStream){get_schema, get_next, last_error, release_stream, fake};
}

static void assert_floats(const float *got, const float *expected, int count) {
  for (int i = 0; i < count; i++)
    assert_true(isnan(expected[i]) ? isnan(got[i]) : got[i] == expected[i]);
}

static void streams_become_features(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  fake_stream fake;
  struct ArrowArrayStream stream = start_stream(&fake, 2);
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_from_arrow(ctx, &stream, NULL, &table));
  assert_int_equal(fake.held, 0);
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, 6);
  assert_int_equal(view->features, COLUMNS);
  const float x[] = {1, 2, 3, 4, 5, 6}, wind[] = {1, 2, 1, NAN, 0, 3};
  const float day[] = {0, 86400, 172800, 259200, 345600, 432000}, wet[] = {1, 0, 1, 1, 0, 1};
  const float sky[] = {1, 0, 1, 0, NAN, 1}, seen[] = {1, 0, 1, 1, 0, 1};
  assert_floats(view->x, x, 6);
  assert_string_equal(view->feature_names[1], "wind");
  assert_int_equal(view->categories[1].count, 4);
  assert_string_equal(view->categories[1].names[0], "");
  assert_string_equal(view->categories[1].names[3], "west");
  assert_floats(view->x + 6, wind, 6);
  assert_floats(view->x + 12, day, 6);
  assert_floats(view->x + 18, wet, 6);
  assert_floats(view->x + 24, sky, 6);
  assert_string_equal(view->categories[4].names[0], "north");
  assert_floats(view->x + 42, seen, 6);
  assert_string_equal(view->categories[7].names[0], long_text);
  sr_table_free(&table);
  assert_int_equal(sr_table_from_arrow(ctx, &stream, NULL, &table), SR_ERROR_ARGUMENT);
  sr_context_free(&ctx);
}

static void columns_of_streams_have_roles(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  fake_stream fake;
  struct ArrowArrayStream stream = start_stream(&fake, 2);
  static const char *const drop[] = {"large", "view", NULL};
  sr_read_options options;
  sr_read_options_init(&options);
  options.target = "y";
  options.time = "day";
  options.group = "sky";
  options.drop = drop;
  sr_table *table = NULL;
  assert_int_equal(sr_table_from_arrow(ctx, &stream, &options, &table), SR_ERROR_DATA);
  assert_non_null(strstr(sr_context_error(ctx).message, "group 'sky' is missing in row 4"));
  assert_int_equal(fake.held, 0);
  stream = start_stream(&fake, 2);
  options.group = "wet";
  options.weight = "x";
  assert_ok(ctx, sr_table_from_arrow(ctx, &stream, &options, &table));
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->features, 2);
  assert_string_equal(view->target_name, "y");
  assert_int_equal(view->classes.count, 2);
  const double time[] = {0, 86400, 172800, 259200, 345600, 432000};
  const int32_t label[] = {1, 0, 1, 0, 0, 1};
  assert_memory_equal(view->time, time, sizeof time);
  assert_memory_equal(view->label, label, sizeof label);
  assert_true(view->weight[0] == 1 && view->groups.count == 2);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void broken_streams_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  fake_stream fake;
  struct ArrowArrayStream stream = start_stream(&fake, 2);
  sr_table *table = NULL;
  fake.broken = 1;
  assert_int_equal(sr_table_from_arrow(ctx, &stream, NULL, &table), SR_ERROR_IO);
  assert_non_null(strstr(sr_context_error(ctx).message, "the disk is gone"));
  assert_int_equal(fake.held, 0);
  stream = start_stream(&fake, 2);
  fake.broken = 2;
  assert_int_equal(sr_table_from_arrow(ctx, &stream, NULL, &table), SR_ERROR_UNSUPPORTED);
  assert_int_equal(fake.held, 0);
  stream = start_stream(&fake, 0);
  assert_ok(ctx, sr_table_from_arrow(ctx, &stream, NULL, &table));
  assert_int_equal(sr_table_get(table)->rows, 0);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static sr_status make_all(sr_context *ctx, void *data) {
  (void)data;
  fake_stream fake;
  struct ArrowArrayStream stream = start_stream(&fake, 2);
  sr_read_options options;
  sr_table *table = NULL, *columns = NULL, *wrapped = NULL;
  const int8_t code[] = {1, -1, 0, 2};
  static const char *const names[] = {"red", "green"};
  const sr_column column = {
      .name = "color", .type = SR_TYPE_INT8, .data = code, .stride = 1, .categories = {2, names}};
  sr_read_options_init(&options);
  options.target = "y";
  options.time = "day";
  options.group = "wet";
  options.weight = "x";
  sr_status status = sr_table_from_arrow(ctx, &stream, &options, &table);
  assert_int_equal(fake.held, 0);
  if (status == SR_OK) status = sr_table_from_columns(ctx, 4, 1, &column, &columns);
  if (status == SR_OK) status = sr_table_wrap(ctx, sr_table_get(columns), &wrapped);
  sr_table_free(&wrapped);
  sr_table_free(&columns);
  sr_table_free(&table);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_every_allocation(make_all, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types_are_converted),           cmocka_unit_test(strides_do_not_matter),
      cmocka_unit_test(codes_get_their_names),         cmocka_unit_test(wrong_columns_are_refused),
      cmocka_unit_test(wrapped_tables_own_nothing),    cmocka_unit_test(streams_become_features),
      cmocka_unit_test(columns_of_streams_have_roles), cmocka_unit_test(broken_streams_are_refused),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
