/* What the tests of readers share. */
#ifndef SR_TESTS_READ_CHECK_H
#define SR_TESTS_READ_CHECK_H

#include <math.h>

#include "data/format/format.h"
#include "harness.h"

static inline sr_read_options read_defaults(void) {
  sr_read_options options;
  sr_read_options_init(&options);
  return options;
}

/* The table of this text under this name; the test fails with the reader's words. */
static inline sr_table *read_text(sr_context *ctx, const char *text, const char *name,
                                  const sr_read_options *options) {
  sr_read_options defaults = read_defaults();
  sr_table *table = NULL;
  assert_ok(ctx, sr__table_read_memory(ctx, (sr__memory_file){text, strlen(text), name, 0},
                                       options ? options : &defaults, &table));
  return table;
}

/* Reading must fail with this status at this place and with these words in the sentence. */
static inline void refuses_bytes(const void *bytes, size_t size, const char *name,
                                 const sr_read_options *options, sr_status expected, int64_t line,
                                 int64_t column, const char *words) {
  sr_context *ctx = test_context(1);
  sr_read_options defaults = read_defaults();
  sr_table *table = NULL;
  sr_status status = sr__table_read_memory(ctx, (sr__memory_file){bytes, size, name, 0},
                                           options ? options : &defaults, &table);
  sr_error error = sr_context_error(ctx);
  if (status != expected || error.line != line || error.column != column ||
      !strstr(error.message, words))
    fail_msg("got %s at %lld:%lld '%s', expected %s at %lld:%lld with '%s'", sr_status_name(status),
             (long long)error.line, (long long)error.column, status == SR_OK ? "" : error.message,
             sr_status_name(expected), (long long)line, (long long)column, words);
  assert_null(table);
  sr_context_free(&ctx);
}

static inline void refuses(const char *text, const char *name, const sr_read_options *options,
                           sr_status expected, int64_t line, int64_t column, const char *words) {
  refuses_bytes(text, strlen(text), name, options, expected, line, column, words);
}

static inline float cell(const sr_table *table, int64_t row, int64_t feature) {
  const sr_table_view *view = sr_table_get(table);
  return view->x[feature * view->rows + row];
}

static inline const char *class_of(const sr_table *table, int64_t row) {
  const sr_table_view *view = sr_table_get(table);
  return view->label[row] < 0 ? NULL : view->classes.names[view->label[row]];
}

static inline bool same_array(const void *a, const void *b, int64_t count, size_t size) {
  return !a == !b && (!a || memcmp(a, b, (size_t)count * size) == 0);
}

static inline bool same_names(sr_dictionary a, sr_dictionary b) {
  if (a.count != b.count) return false;
  for (int32_t c = 0; c < a.count; c++) {
    if (strcmp(a.names[c], b.names[c]) != 0) return false;
  }
  return true;
}

/* Every byte that a table holds, except the names of features. */
static inline void assert_same_values(const sr_table *left, const sr_table *right) {
  const sr_table_view *a = sr_table_get(left), *b = sr_table_get(right);
  assert_int_equal(a->rows, b->rows);
  assert_int_equal(a->features, b->features);
  assert_true(same_array(a->x, b->x, a->rows * a->features, sizeof *a->x));
  assert_true(same_array(a->label, b->label, a->rows, sizeof *a->label));
  assert_true(same_array(a->group, b->group, a->rows, sizeof *a->group));
  assert_true(same_array(a->time, b->time, a->rows, sizeof *a->time));
  assert_true(same_array(a->weight, b->weight, a->rows, sizeof *a->weight));
  assert_int_equal(a->coordinate_count, b->coordinate_count);
  assert_true(same_array(a->coordinates, b->coordinates, a->rows * a->coordinate_count,
                         sizeof *a->coordinates));
  assert_true(same_names(a->classes, b->classes) && same_names(a->groups, b->groups));
  assert_true(!a->categories == !b->categories);
  for (int64_t j = 0; a->categories && j < a->features; j++)
    assert_true(same_names(a->categories[j], b->categories[j]));
}

#endif
