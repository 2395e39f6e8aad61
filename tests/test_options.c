/* The grammar NAME[:KEY=VALUE,...]: what it accepts, what it refuses and with which words. */
#include "core/options.h"

#include "harness.h"

typedef struct routed {
  double part_share, row_share;
} routed;
typedef struct tree {
  int64_t min_leaf;
  int criterion, exact;
} tree;
typedef struct edges {
  const char *file;
} edges;

static const sr_option routed_options[] = {
    SR_REAL(routed, part_share, "0.5", 1e-9, 1, "share of the parts"),
    SR_REAL(routed, row_share, "1", 1e-9, 1, "share of the rows"), SR_OPTIONS_END};
static const sr_option tree_options[] = {SR_INTEGER(tree, min_leaf, "1", 1, 1e9, "rows in a leaf"),
                                         SR_CHOICE(tree, criterion, "gini", "gini|entropy",
                                                   "what a split lowers"),
                                         SR_FLAG(tree, exact, "no", "no bins"), SR_OPTIONS_END};
static const sr_option edges_options[] = {SR_TEXT(edges, file, NULL, "lines i j [w]"),
                                          SR_OPTIONS_END};
static const sr_method methods[] = {{"uniform", "full bootstrap", NULL, 0, NULL},
                                    {"routed", "a random set of parts", routed_options,
                                     sizeof(routed), NULL},
                                    {"tree", "CART", tree_options, sizeof(tree), NULL},
                                    {"edges", "a list of edges", edges_options, sizeof(edges),
                                     NULL},
                                    {"netcdf", "grids", NULL, 0, "NetCDF (Debian: libnetcdf-dev)"}};

static const sr_method *method_at(int index) {
  return index >= 0 && index < (int)(sizeof methods / sizeof *methods) ? &methods[index] : NULL;
}

static void check_printed(sr_context *ctx, const char *text, const char *printed) {
  sr__configuration c;
  sr_allocator allocator = sr__allocator(ctx);
  assert_ok(ctx, sr__configure(ctx, "method", method_at, text, &c));
  char *again = sr__configuration_text(ctx, c.method, c.options);
  assert_string_equal(again, printed);
  sr__free(ctx, again);
  sr__configuration_free(&allocator, &c);
}

static void check_refused(sr_context *ctx, const char *text, sr_status status, const char *word) {
  assert_int_equal(sr_method_check(ctx, "method", method_at, text, NULL), status);
  if (!strstr(sr_context_error(ctx).message, word))
    fail_msg("'%s' said: %s", text, sr_context_error(ctx).message);
}

static void printed_texts_hold_what_is_not_default(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  check_printed(ctx, "uniform", "uniform");
  check_printed(ctx, "uniform:", "uniform");
  check_printed(ctx, "routed", "routed");
  check_printed(ctx, "routed:0.2", "routed:part_share=0.2");
  check_printed(ctx, "routed:row_share=0.25,part_share=.50", "routed:row_share=0.25");
  check_printed(ctx, "tree:criterion=entropy,exact=yes", "tree:criterion=entropy,exact=yes");
  check_printed(ctx, "tree:1e3,criterion=entropy", "tree:min_leaf=1000,criterion=entropy");
  check_printed(ctx, "edges:a,b:c.txt", "edges:file=a,b:c.txt");
  check_printed(ctx, "edges:file=c=d.txt", "edges:file=c=d.txt");
  sr_context_free(&ctx);
}

static void refusals_name_value_and_remedy(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  check_refused(ctx, "roted", SR_ERROR_NOT_FOUND, "did you mean 'routed'");
  check_refused(ctx, "nothing-like-it", SR_ERROR_NOT_FOUND, "uniform, routed, tree");
  check_refused(ctx, "", SR_ERROR_NOT_FOUND, "known:");
  check_refused(ctx, "routed:part_shar=1", SR_ERROR_NOT_FOUND, "did you mean 'part_share'");
  check_refused(ctx, "routed:zebra=1", SR_ERROR_NOT_FOUND, "it has part_share, row_share");
  check_refused(ctx, "uniform:lag=3", SR_ERROR_NOT_FOUND, "it has none");
  check_refused(ctx, "routed:part_share=2", SR_ERROR_ARGUMENT, "'2', expected a number from 1e-09");
  check_refused(ctx, "routed:part_share=x", SR_ERROR_ARGUMENT, "'x'");
  check_refused(ctx, "routed:part_share=nan", SR_ERROR_ARGUMENT, "'nan'");
  check_refused(ctx, "routed:part_share=", SR_ERROR_ARGUMENT, "''");
  check_refused(ctx, "tree:min_leaf=1.5", SR_ERROR_ARGUMENT, "whole number");
  check_refused(ctx, "tree:criterion=geni", SR_ERROR_ARGUMENT, "gini|entropy");
  check_refused(ctx, "edges", SR_ERROR_ARGUMENT, "needs file");
  check_refused(ctx, "edges:", SR_ERROR_ARGUMENT, "needs file");
  check_refused(ctx, "netcdf", SR_ERROR_UNSUPPORTED, "libnetcdf-dev");
  check_refused(ctx, "uniform:3", SR_ERROR_ARGUMENT, "'3' is not KEY=VALUE");
  check_refused(ctx, "routed:0.5,0.2", SR_ERROR_ARGUMENT, "'0.2' is not KEY=VALUE");
  sr_context_free(&ctx);
}

static void single_options_are_set_by_key(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  tree t;
  sr_options_init(tree_options, &t);
  assert_int_equal(t.min_leaf, 1);
  assert_int_equal(t.criterion, 0);
  assert_ok(ctx, sr_options_set(ctx, "learner tree", tree_options, &t, "min_leaf", "7"));
  assert_int_equal(t.min_leaf, 7);
  assert_int_equal(sr_options_set(ctx, "learner tree", tree_options, &t, "leaf", "7"),
                   SR_ERROR_NOT_FOUND);
  assert_int_equal(t.min_leaf, 7);
  sr_context_free(&ctx);
}

static void lists_keep_options_with_their_method(void **state) {
  (void)state;
  const char *start[8];
  size_t length[8];
  const char *list = "uniform,routed:part_share=0.2,row_share=0.5,tree:5,uniform";
  assert_int_equal(sr_methods_split(list, 8, start, length), 4);
  assert_int_equal(length[1], strlen("routed:part_share=0.2,row_share=0.5"));
  assert_int_equal(length[2], strlen("tree:5"));
  assert_memory_equal(start[3], "uniform", 7);
  assert_int_equal(sr_methods_split(list, 2, start, length), 4);
  assert_int_equal(sr_methods_split("", 8, start, length), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(printed_texts_hold_what_is_not_default),
      cmocka_unit_test(refusals_name_value_and_remedy),
      cmocka_unit_test(single_options_are_set_by_key),
      cmocka_unit_test(lists_keep_options_with_their_method),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
