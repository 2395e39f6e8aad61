/* The tree learner: what any tree must do. Splits against an exhaustive search: test_tree_splits.c.
 */
#include <math.h>

#include "data/table.h"
#include "learner/tree/bins_kernel.h"
#include "learner/tree/tree.h"
#include "learner_kit.h"

/* d features of 40 distinct values each, class by a noisy rule over the first three. */
static sr_table *random_table(sr_context *ctx, int64_t n, int32_t d, int32_t classes,
                              double missing, uint64_t seed) {
  float *x = malloc(sizeof *x * (size_t)(n * d));
  int32_t *label = malloc(sizeof *label * (size_t)n);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  for (int64_t i = 0; i < n * d; i++) {
    x[i] = (float)sr__random_below(&random, 40) * 0.25f;
    if (sr__random_uniform(&random) < missing) x[i] = NAN;
  }
  for (int64_t i = 0; i < n; i++) {
    double score = 0.0;
    for (int32_t j = 0; j < 3 && j < d; j++) score += isnan(x[j * n + i]) ? 7.0 : x[j * n + i];
    score += 4.0 * sr__random_uniform(&random);
    label[i] = (int32_t)(score / 34.0 * classes) % classes;
  }
  sr_table_view view = {
      .rows = n, .features = d, .x = x, .label = label, .classes = {classes, kit_names}};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  free(x);
  free(label);
  return table;
}

static kit_options tree_options(void) {
  kit_options options;
  kit_options_init(&options);
  options.name = "tree";
  return options;
}

/* With leaf 1, no depth limit and distinct rows every training row is reproduced. */
static void distinct_rows_are_memorized(void **state) {
  (void)state;
  for (int32_t classes = 2; classes <= 7; classes += 5) {
    for (int criterion = 0; criterion < 2; criterion++) {
      sr_context *ctx = test_context(1);
      /* Few enough rows for every value to have its own bin. */
      sr_table *plain = test_simulate(ctx, 1, "ar1:n=250"), *table = NULL;
      sr_table_view view = *sr_table_get(plain);
      int32_t label[250];
      sr__random random;
      sr__random_init(&random, 5, SR_PURPOSE_TEST, 0, 0);
      for (int i = 0; i < 250; i++)
        label[i] = (int32_t)sr__random_below(&random, (uint64_t)classes);
      view.label = label;
      view.classes = (sr_dictionary){classes, kit_names};
      assert_ok(ctx, sr_table_new(ctx, &view, &table));
      kit_options options = tree_options();
      options.criterion = criterion;
      fitted f;
      int32_t vote[250];
      assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
      assert_ok(ctx, predict_table(ctx, &f, table, vote, NULL));
      assert_true(share_correct(table, vote) == 1.0);
      fitted_free(&f);
      sr_table_free(&plain);
      sr_table_free(&table);
      sr_context_free(&ctx);
    }
  }
}

/* ---- weights and multiplicities ------------------------------------------------------------ */

static void assert_same_tree(const sr__member *a, const sr__member *b) {
  assert_int_equal(a->nodes, b->nodes);
  for (int64_t i = 0; i < a->nodes; i++) {
    assert_int_equal(a->node[i].left, b->node[i].left);
    assert_int_equal(a->node[i].what, b->node[i].what);
    assert_int_equal(a->info[i], b->info[i]);
  }
}

static sr_table *with_weights(sr_context *ctx, const sr_table *table, const float *weight) {
  sr_table_view view = *sr_table_get(table);
  sr_table *made = NULL;
  view.weight = weight;
  assert_ok(ctx, sr_table_new(ctx, &view, &made));
  return made;
}

/* A weight of k, a multiplicity of k and k equal rows give one and the same tree; and so do weights
 * that are all scaled by one factor. */
static void weights_are_repeated_rows(void **state) {
  (void)state;
  enum { N = 300 };
  for (int32_t classes = 2; classes <= 5; classes += 3) {
    sr_context *ctx = test_context(1);
    sr_table *table = random_table(ctx, N, 4, classes, 0.1, 11);
    float weight[N], fractional[N];
    int32_t repeated[4 * N], all[N], counts[N];
    int64_t length = 0;
    for (int i = 0; i < N; i++) {
      counts[i] = 1 + i % 4;
      weight[i] = (float)counts[i];
      fractional[i] = 0.375f * (float)counts[i];
      all[i] = i;
      for (int k = 0; k < counts[i]; k++) repeated[length++] = i;
    }
    sr_table *long_table = NULL, *weighted = with_weights(ctx, table, weight);
    sr_table *scaled = with_weights(ctx, table, fractional);
    assert_ok(ctx, sr__table_select(ctx, table, repeated, length, &long_table));
    kit_options options = tree_options();
    sr__bag bag = {.rows = all, .counts = counts, .length = N};
    fitted by_rows, by_weight, by_scaled, by_count;
    assert_ok(ctx, fit_table(ctx, long_table, &options, NULL, 3, &by_rows));
    assert_ok(ctx, fit_table(ctx, weighted, &options, NULL, 3, &by_weight));
    assert_ok(ctx, fit_table(ctx, scaled, &options, NULL, 3, &by_scaled));
    assert_ok(ctx, fit_table(ctx, table, &options, &bag, 3, &by_count));
    assert_same_tree(by_rows.member, by_weight.member);
    assert_same_tree(by_rows.member, by_scaled.member);
    assert_same_tree(by_rows.member, by_count.member);
    assert_true(by_rows.member->nodes > 50);
    fitted_free(&by_rows);
    fitted_free(&by_weight);
    fitted_free(&by_scaled);
    fitted_free(&by_count);
    sr_table_free(&table);
    sr_table_free(&long_table);
    sr_table_free(&weighted);
    sr_table_free(&scaled);
    sr_context_free(&ctx);
  }
}

/* Nodes whose weight does not fit into 32 bits are counted in pairs of 64: about the tree of rows
 * without weights, which differ by one part in 2^17 here. */
static void heavy_nodes_are_split(void **state) {
  (void)state;
  enum { N = 20000 };
  sr_context *ctx = test_context(1);
  sr_table *plain = random_table(ctx, N, 8, 2, 0.0, 33);
  float *weight = malloc(sizeof *weight * N);
  int32_t *vote = malloc(sizeof *vote * N);
  for (int i = 0; i < N; i++) weight[i] = i % 2 ? 1.0f : 1.0f + 0x1p-17f;
  sr_table *weighted = with_weights(ctx, plain, weight);
  kit_options options = tree_options();
  fitted light, heavy;
  assert_ok(ctx, fit_table(ctx, plain, &options, NULL, 5, &light));
  assert_ok(ctx, fit_table(ctx, weighted, &options, NULL, 5, &heavy));
  assert_in_range(heavy.member->nodes, light.member->nodes * 8 / 10, light.member->nodes * 12 / 10);
  assert_ok(ctx, predict_table(ctx, &heavy, weighted, vote, NULL));
  assert_true(share_correct(weighted, vote) > 0.99);
  fitted_free(&light);
  fitted_free(&heavy);
  sr_table_free(&plain);
  sr_table_free(&weighted);
  free(weight);
  free(vote);
  sr_context_free(&ctx);
}

static void bad_weights_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = random_table(ctx, 10, 2, 2, 0.0, 1);
  kit_options options = tree_options();
  const float bad[] = {-1.0f, NAN, INFINITY, 0.0f};
  for (int k = 0; k < 4; k++) {
    float weight[10];
    for (int i = 0; i < 10; i++) weight[i] = k == 3 || i == 4 ? bad[k] : 1.0f;
    sr_table *weighted = with_weights(ctx, table, weight);
    fitted f;
    assert_int_equal(fit_table(ctx, weighted, &options, NULL, 1, &f), SR_ERROR_DATA);
    fitted_free(&f);
    sr_table_free(&weighted);
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- limits and leaves -------------------------------------------------------------------- */

static int depth_of(const sr__member *tree, uint32_t at) {
  sr__node node = tree->node[at];
  if (node.left == at) return 0;
  int left = depth_of(tree, node.left), right = depth_of(tree, node.left + 1);
  return 1 + (left > right ? left : right);
}

/* Leaves hold at least min_leaf rows, the depth is bounded, and shares are those of the rows. */
static void limits_hold_and_shares_are_counts(void **state) {
  (void)state;
  enum { N = 2000, CLASSES = 4 };
  sr_context *ctx = test_context(1);
  sr_table *table = random_table(ctx, N, 6, CLASSES, 0.05, 21);
  const sr_table_view *view = sr_table_get(table);
  kit_options options = tree_options();
  options.min_leaf = 7;
  options.max_depth = 9;
  fitted f;
  assert_ok(ctx, fit_table(ctx, table, &options, NULL, 2, &f));
  assert_true(depth_of(f.member, 0) <= 9 && depth_of(f.member, 0) > 3);
  int32_t *vote = malloc(N * sizeof *vote);
  float *proba = malloc(N * CLASSES * sizeof *proba);
  assert_ok(ctx, predict_table(ctx, &f, table, vote, proba));
  int64_t(*counts)[CLASSES] = calloc((size_t)f.member->nodes, sizeof *counts);
  uint32_t *leaf = malloc(N * sizeof *leaf);
  const uint8_t *bins = f.learner->training_encoded(f.training)->bins;
  for (int64_t i = 0; i < N; i++) {
    uint32_t at = 0;
    while (f.member->node[at].left != at) {
      uint32_t what = f.member->node[at].what;
      uint8_t bin = (uint8_t)(bins[i * 6 + (what >> SR__NODE_FEATURE)] + (what >> 8 & 1));
      at = f.member->node[at].left + (bin > (what & 255));
    }
    leaf[i] = at;
    counts[at][view->label[i]]++;
  }
  for (int64_t i = 0; i < N; i++) {
    int64_t total = 0;
    int best = 0;
    for (int c = 0; c < CLASSES; c++) {
      total += counts[leaf[i]][c];
      if (counts[leaf[i]][c] > counts[leaf[i]][best]) best = c;
    }
    assert_true(total >= 7);
    assert_int_equal(vote[i], best);
    for (int c = 0; c < CLASSES; c++)
      assert_close(proba[i * CLASSES + c], (double)counts[leaf[i]][c] / (double)total, 1e-6);
  }
  free(counts);
  free(leaf);
  free(vote);
  free(proba);
  fitted_free(&f);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Rows of little weight are no leaf of their own; min_leaf counts rows of the mean weight. */
static void leaves_hold_their_share_of_the_weight(void **state) {
  (void)state;
  enum { N = 600 };
  sr_context *ctx = test_context(1);
  float weight[N];
  for (int i = 0; i < N; i++) weight[i] = i % 2 ? 1.0f : 0.001f;
  sr_table *table = random_table(ctx, N, 4, 2, 0.0, 5), *weighed = with_weights(ctx, table, weight);
  kit_options options = tree_options();
  int64_t leaves[2];
  for (int k = 0; k < 2; k++) {
    fitted f;
    options.min_share = k ? 0.05 : 0.0;
    assert_ok(ctx, fit_table(ctx, weighed, &options, NULL, 2, &f));
    leaves[k] = (f.member->nodes + 1) / 2;
    fitted_free(&f);
  }
  assert_true(leaves[0] > 20);
  assert_true(leaves[1] > 1 && leaves[1] <= 20);
  sr_table_free(&weighed);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void members_vote_for_classes_they_saw(void **state) {
  (void)state;
  enum { N = 500 };
  sr_context *ctx = test_context(1);
  sr_table *table = random_table(ctx, N, 5, 6, 0.1, 4);
  const sr_table_view *view = sr_table_get(table);
  int32_t rows[N], vote[N];
  int64_t length = 0;
  for (int32_t i = 0; i < N; i++)
    if (view->label[i] == 1 || view->label[i] == 4) rows[length++] = i;
  sr__bag bag = {.rows = rows, .length = length}, empty = {.rows = rows};
  kit_options options = tree_options();
  fitted f;
  assert_ok(ctx, fit_table(ctx, table, &options, &bag, 1, &f));
  assert_ok(ctx, predict_table(ctx, &f, table, vote, NULL));
  for (int i = 0; i < N; i++) assert_true(vote[i] == 1 || vote[i] == 4);
  fitted_free(&f);
  assert_int_equal(fit_table(ctx, table, &options, &empty, 1, &f), SR_ERROR_DATA);
  fitted_free(&f);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- missing values and categories --------------------------------------------------------- */

/* The class is whether the value is missing: one split must do, in both sizes of node. */
static void missing_values_carry_the_class(void **state) {
  (void)state;
  for (int n = 40; n <= 400; n += 360) {
    sr_context *ctx = test_context(1);
    float x[400];
    int32_t label[400], vote[400];
    for (int i = 0; i < n; i++) {
      label[i] = i % 3 == 0;
      x[i] = label[i] ? NAN : (float)i;
    }
    sr_table_view view = {
        .rows = n, .features = 1, .x = x, .label = label, .classes = {2, kit_names}};
    sr_table *table = NULL;
    assert_ok(ctx, sr_table_new(ctx, &view, &table));
    kit_options options = tree_options();
    fitted f;
    assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
    assert_ok(ctx, predict_table(ctx, &f, table, vote, NULL));
    assert_int_equal(f.member->nodes, 3);
    assert_true(share_correct(table, vote) == 1.0);
    fitted_free(&f);
    sr_table_free(&table);
    sr_context_free(&ctx);
  }
}

/* Codes may differ between tables; names count. New names are treated as missing. */
static void categories_match_by_name(void **state) {
  (void)state;
  static const char *const train_names[] = {"red", "green", "blue"};
  static const char *const test_names[] = {"violet", "blue", "red", "green"};
  static const sr_dictionary train_dictionary = {3, train_names}, test_dictionary = {4, test_names};
  sr_context *ctx = test_context(1);
  float x[30], y[4] = {1.0f, 2.0f, 3.0f, 0.0f};
  int32_t label[30], vote[4];
  for (int i = 0; i < 30; i++) {
    x[i] = (float)(i % 3);
    label[i] = i % 3 == 1 ? 1 : 0; /* green */
  }
  sr_table_view view = {.rows = 30,
                        .features = 1,
                        .x = x,
                        .categories = &train_dictionary,
                        .label = label,
                        .classes = {2, kit_names}};
  sr_table_view new_view = {.rows = 4, .features = 1, .x = y, .categories = &test_dictionary};
  sr_table_view numeric_view = {.rows = 4, .features = 1, .x = y};
  sr_table *table = NULL, *other = NULL, *numeric = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  assert_ok(ctx, sr_table_new(ctx, &new_view, &other));
  assert_ok(ctx, sr_table_new(ctx, &numeric_view, &numeric));
  kit_options options = tree_options();
  fitted f;
  assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
  assert_ok(ctx, predict_table(ctx, &f, other, vote, NULL));
  const int32_t expected[] = {0, 0, 1, 0}; /* violet goes to the heavier side */
  for (int i = 0; i < 4; i++) assert_int_equal(vote[i], expected[i]);
  assert_int_equal(predict_table(ctx, &f, numeric, vote, NULL), SR_ERROR_DATA);
  fitted_free(&f);
  sr_table_free(&table);
  sr_table_free(&other);
  sr_table_free(&numeric);
  sr_context_free(&ctx);
}

/* More categories than bins: the commonest keep a bin of their own. */
static void many_categories_share_the_last_bin(void **state) {
  (void)state;
  enum { N = 3000, CATEGORIES = 400 };
  static char text[CATEGORIES][16];
  static const char *names[CATEGORIES];
  for (int c = 0; c < CATEGORIES; c++) {
    snprintf(text[c], sizeof text[c], "c%d", c);
    names[c] = text[c];
  }
  sr_dictionary dictionary = {CATEGORIES, names};
  sr_context *ctx = test_context(1);
  static float x[N];
  static int32_t label[N], vote[N];
  for (int i = 0; i < N; i++) {
    int common = i % 2 ? 7 : 9;
    x[i] = (float)(i % 5 == 0 ? (i * 7) % CATEGORIES : common);
    label[i] = x[i] == 7.0f;
  }
  sr_table_view view = {.rows = N,
                        .features = 1,
                        .x = x,
                        .categories = &dictionary,
                        .label = label,
                        .classes = {2, kit_names}};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  kit_options options = tree_options();
  fitted f;
  assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
  assert_ok(ctx, predict_table(ctx, &f, table, vote, NULL));
  assert_true(share_correct(table, vote) == 1.0);
  assert_true(f.encoder->binning->feature[0].bins <= SR__BIN_VALUES);
  fitted_free(&f);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- larger leaves ------------------------------------------------------------------------ */

static void answer_leaves(sr_context *ctx, const sr_table *table, const kit_options *options,
                          const sr__bag *bag, bool counted, float *fine, float *large) {
  fitted f;
  assert_ok(ctx, fit_table(ctx, table, options, bag, 3, &f));
  assert_true((f.member->leaf_count != NULL) == counted);
  assert_ok(ctx, f.learner->read_leaves(ctx, f.encoder, f.training, bag, f.member));
  assert_ok(ctx, f.learner->predict_leaves(ctx, f.encoder, f.member,
                                           f.learner->training_encoded(f.training),
                                           (sr__picked){NULL, sr_table_get(table)->rows},
                                           (sr__leaf_answers){fine, large}));
  fitted_free(&f);
}

/* Rows that are counted while the tree grows are those that a walk of the bag counts; a tree that
 * will be asked little is walked by its nodes and answers the same. */
static void leaves_are_counted_in_passing(void **state) {
  (void)state;
  enum { N = 3000, MOST = 12 };
  static const int32_t classes[] = {2, 4, MOST};
  static float fine[2][N * MOST], large[2][N * MOST];
  static int32_t rows[N], counts[N];
  sr_context *ctx = test_context(1);
  for (int kind = 0; kind < 6; kind++) {
    int32_t count = classes[kind / 2];
    sr_table *table = random_table(ctx, N, 6, count, 0.05, 31 + (uint64_t)kind);
    kit_options options = tree_options();
    if (kind % 2) options.max_depth = 3; /* leaves of many rows */
    for (int i = 0; i < N; i++) {
      rows[i] = i;
      counts[i] = 1 + i % 3;
    }
    sr__bag bag = {.rows = rows, .counts = counts, .length = N - 100};
    answer_leaves(ctx, table, &options, &bag, false, fine[0], large[0]);
    bag.leaves = true;
    bag.asked = 1;
    answer_leaves(ctx, table, &options, &bag, count <= 8, fine[1], large[1]);
    size_t bytes = (size_t)N * (size_t)count * sizeof **fine;
    assert_memory_equal(fine[0], fine[1], bytes);
    assert_memory_equal(large[0], large[1], bytes);
    assert_true(kind % 2 || memcmp(fine[0], large[0], bytes) != 0);
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

/* ---- blocks, threads, storage ------------------------------------------------------------- */

/* The rows in the order of the first feature: its cuts leave long gaps between the rows of a node.
 */
static sr_table *ordered_table(sr_context *ctx, int64_t n, int32_t classes, uint64_t seed) {
  sr_table *table = random_table(ctx, n, 8, classes, 0.0, seed), *ordered = NULL;
  const float *x = sr_table_get(table)->x;
  int32_t *row = malloc(sizeof *row * (size_t)n);
  int64_t placed = 0;
  for (int value = 0; value < 40; value++)
    for (int64_t i = 0; i < n; i++)
      if (x[i] == (float)value * 0.25f) row[placed++] = (int32_t)i;
  assert_int_equal(placed, n);
  assert_ok(ctx, sr__table_select(ctx, table, row, n, &ordered));
  free(row);
  sr_table_free(&table);
  return ordered;
}

/* A large bag is coded near the root and opened below, and a table too large for the cache is
 * copied in blocks: the same tree as on entries and row numbers that lie together. Here: the same
 * rows spread over a table 24 times as long, in which a bag of this size is small. */
static void codes_and_copies_do_not_change_the_tree(void **state) {
  (void)state;
  enum { SMALL = 20000, FACTOR = 24 };
  sr_context *ctx = test_context(2);
  int32_t *spread = malloc(sizeof *spread * SMALL * FACTOR), *rows = malloc(sizeof *rows * SMALL);
  float *weight = malloc(sizeof *weight * SMALL);
  for (int64_t i = 0; i < (int64_t)SMALL * FACTOR; i++) spread[i] = (int32_t)(i / FACTOR);
  for (int64_t i = 0; i < SMALL; i++) rows[i] = (int32_t)(i * FACTOR + i % FACTOR);
  for (int64_t i = 0; i < SMALL; i++) weight[i] = (float)(i % 7 == 0 ? 900 + i % 50 : 1 + i % 3);
  for (int kind = 0; kind < 4; kind++) {
    int32_t classes = kind % 2 ? 5 : 2;
    sr_table *plain = kind < 2 ? random_table(ctx, SMALL, 8, classes, 0.02, 31)
                               : ordered_table(ctx, SMALL, classes, 32);
    sr_table *small = kind == 0 ? plain : with_weights(ctx, plain, weight), *large = NULL;
    assert_ok(ctx, sr__table_select(ctx, small, spread, (int64_t)SMALL * FACTOR, &large));
    kit_options options = tree_options();
    sr__bag bag = {.rows = rows, .length = SMALL};
    fitted a, b;
    assert_ok(ctx, fit_table(ctx, small, &options, NULL, 5, &a));
    assert_ok(ctx, fit_table(ctx, large, &options, &bag, 5, &b));
    assert_same_tree(a.member, b.member);
    fitted_free(&a);
    fitted_free(&b);
    if (small != plain) sr_table_free(&small);
    sr_table_free(&plain);
    sr_table_free(&large);
  }
  free(spread);
  free(rows);
  free(weight);
  sr_context_free(&ctx);
}

/* Prediction by index, by block and for single rows agree. */
static void rows_may_be_asked_for_in_any_way(void **state) {
  (void)state;
  enum { N = 333 };
  sr_context *ctx = test_context(1);
  sr_table *table = random_table(ctx, N, 5, 3, 0.1, 8);
  kit_options options = tree_options();
  options.max_depth = 4;
  fitted f;
  assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
  const sr__encoded *rows = f.learner->training_encoded(f.training);
  int32_t all[N], some[N], index[N], one;
  float shares[N * 3], share[3];
  for (int i = 0; i < N; i++) index[i] = (i * 7) % N;
  assert_ok(ctx, f.learner->predict(ctx, f.encoder, f.member, rows, (sr__picked){NULL, N},
                                    (sr__answers){.vote = all, .share = shares}));
  assert_ok(ctx, f.learner->predict(ctx, f.encoder, f.member, rows, (sr__picked){index, N},
                                    (sr__answers){.vote = some}));
  for (int i = 0; i < N; i++) {
    assert_int_equal(some[i], all[index[i]]);
    assert_ok(ctx, f.learner->predict(ctx, f.encoder, f.member, rows, (sr__picked){&index[i], 1},
                                      (sr__answers){.vote = &one, .share = share}));
    assert_int_equal(one, all[index[i]]);
    assert_memory_equal(share, shares + 3 * index[i], sizeof share);
  }
  sr__encoded *copy = NULL;
  assert_ok(ctx, f.learner->copy_encoded(ctx, f.encoder, rows, &copy));
  f.learner->copy_feature(f.encoder, rows, 2, index, copy);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 5; j++)
      assert_int_equal(copy->bins[i * 5 + j], rows->bins[(j == 2 ? index[i] : i) * 5 + j]);
  f.learner->copy_feature(f.encoder, rows, 2, NULL, copy);
  assert_memory_equal(copy->bins, rows->bins, N * 5);
  f.learner->free_encoded(copy);
  fitted_free(&f);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Leaves may be found several levels at a time; votes and shares are those of the walk node by
 * node, for every width of a row, with missing values and for groups that are not full. */
static void votes_do_not_depend_on_the_walk(void **state) {
  (void)state;
  enum { N = 1500 };
  static const int32_t widths[] = {1, 2, 15, 16, 17, 33, 64, 65, 128, 129};
  sr_context *ctx = test_context(1);
  int32_t alone[N], beside[N], by_index[N], by_node[N], index[N];
  float shares[N * 3], some[N * 3];
  for (int i = 0; i < N; i++) index[i] = (i * 7) % N;
  for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
    sr_table *table = random_table(ctx, N, widths[k], 3, k % 3 == 0 ? 0.0 : 0.2, 20 + k);
    sr_table *other = random_table(ctx, N, widths[k], 3, 0.1, 40 + k);
    kit_options options = tree_options();
    options.max_depth = k % 2 ? 0 : k;
    fitted f;
    sr__encoded *rows = NULL;
    assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
    assert_ok(ctx, f.learner->encode(ctx, f.encoder, other, 0, N, &rows));
    sr__pass_node *pass = f.member->pass;
    f.member->pass = NULL; /* node by node */
    assert_ok(ctx, f.learner->predict(ctx, f.encoder, f.member, rows, (sr__picked){NULL, N},
                                      (sr__answers){.vote = by_node, .share = shares}));
    f.member->pass = pass;
    assert_ok(ctx, f.learner->predict(ctx, f.encoder, f.member, rows, (sr__picked){NULL, N},
                                      (sr__answers){.vote = alone}));
    assert_ok(ctx, f.learner->predict(ctx, f.encoder, f.member, rows, (sr__picked){NULL, N},
                                      (sr__answers){.vote = beside, .share = some}));
    assert_memory_equal(some, shares, sizeof shares);
    assert_ok(ctx, f.learner->predict(ctx, f.encoder, f.member, rows, (sr__picked){index, N},
                                      (sr__answers){.vote = by_index}));
    assert_ok(ctx, f.learner->predict(ctx, f.encoder, f.member, rows, (sr__picked){index, N},
                                      (sr__answers){.share = some}));
    for (int i = 0; i < N; i++) {
      assert_int_equal(alone[i], by_node[i]);
      assert_int_equal(beside[i], by_node[i]);
      assert_int_equal(by_index[i], by_node[index[i]]);
      assert_memory_equal(some + 3 * i, shares + 3 * index[i], 3 * sizeof *shares);
    }
    f.learner->free_encoded(rows);
    fitted_free(&f);
    sr_table_free(&table);
    sr_table_free(&other);
  }
  sr_context_free(&ctx);
}

/* The votes of a tree whose leaves were blended are those of its shares. */
static void blended_leaves_vote_as_they_share(void **state) {
  (void)state;
  enum { N = 2000 };
  sr_context *ctx = test_context(1);
  sr_table *table = random_table(ctx, N, 6, 2, 0.0, 7);
  kit_options options = tree_options();
  fitted f;
  sr__encoded *rows = NULL;
  int32_t all[N], vote[N];
  float share[2 * N];
  int different = 0;
  for (int i = 0; i < N; i++) all[i] = i;
  sr__bag bag = {.rows = all, .length = N};
  assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
  assert_ok(ctx, f.learner->encode(ctx, f.encoder, table, 0, N, &rows));
  assert_ok(ctx, f.learner->read_leaves(ctx, f.encoder, f.training, &bag, f.member));
  assert_ok(ctx, f.learner->blend_leaves(ctx, f.encoder, 0.9f, f.member));
  assert_ok(ctx, f.learner->predict(ctx, f.encoder, f.member, rows, (sr__picked){NULL, N},
                                    (sr__answers){.share = share}));
  assert_ok(ctx, f.learner->predict(ctx, f.encoder, f.member, rows, (sr__picked){NULL, N},
                                    (sr__answers){.vote = vote}));
  for (int i = 0; i < N; i++) {
    assert_int_equal(vote[i], share[2 * i + 1] > share[2 * i]);
    different += vote[i] != sr_table_get(table)->label[i];
  }
  assert_true(different > 0); /* leaf 1 alone remembers every row */
  f.learner->free_encoded(rows);
  fitted_free(&f);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* The kernels of all levels that this processor has, lowest first. */
static int walk_kernels(const sr__walk_kernel *kernel[SR__ISA_LEVELS]) {
#if defined(__x86_64__)
  kernel[SR__ISA_V3] = &sr__walk_kernel_v3;
  kernel[SR__ISA_V4] = &sr__walk_kernel_v4;
#endif
  kernel[SR__ISA_BASE] = &sr__walk_kernel_base;
  return (int)sr__isa() + 1;
}

/* ---- bins at every level ------------------------------------------------------------------ */

/* Edges that a grid tells apart, crowded ones, a single one, none, and infinite ranges: every level
 * counts the edges below each value, at and beside the edges too. */
static void every_level_finds_the_same_bins(void **state) {
  (void)state;
  enum { N = 3000, CASES = 7 };
  static const int32_t edges[CASES] = {254, 254, 254, 1, 0, 3, 200};
  static _Alignas(64) sr__bin_grid grid;
  static float x[N];
  static uint8_t searched[N], found[3 * N];
  const sr__bins_kernel *kernel[SR__ISA_LEVELS] = {&sr__bins_kernel_base};
#if defined(__x86_64__)
  kernel[SR__ISA_V3] = &sr__bins_kernel_v3;
  kernel[SR__ISA_V4] = &sr__bins_kernel_v4;
#endif
  for (int c = 0; c < CASES; c++) {
    for (int e = 0; e < SR__BIN_EDGES; e++) {
      float even = (float)(e - 100), steep = expf(0.3f * (float)e - 30.0f);
      float small = 1e-40f * (float)e, huge = (float)(e - 1) * 3e38f;
      float edge = c == 1   ? steep
                   : c == 2 ? even * fabsf(even)
                   : c == 5 ? huge
                   : c == 6 ? small
                            : even;
      grid.edge[e] = e < edges[c] ? edge : INFINITY;
    }
    for (int i = 0; i < N; i++) {
      float edge = edges[c] > 0 ? grid.edge[i % edges[c]] : 0.0f;
      float others[] = {edge,
                        nextafterf(edge, -INFINITY),
                        nextafterf(edge, INFINITY),
                        edge + (float)(i % 7) / 7.0f,
                        NAN,
                        INFINITY,
                        -INFINITY,
                        -edge};
      x[i] = others[i / 254 % 8];
    }
    for (int i = 0; i < N; i++) {
      searched[i] = 0;
      for (int e = 0; e < edges[c]; e++)
        searched[i] = (uint8_t)(searched[i] + (grid.edge[e] < x[i]));
      if (isnan(x[i])) searched[i] = SR__BIN_MISSING;
    }
    for (int level = 0; level <= (int)sr__isa(); level++) {
      kernel[level]->search(grid.edge, x, N, 1, found);
      assert_memory_equal(found, searched, N);
      kernel[level]->make_grid(&grid, edges[c]);
      kernel[level]->search_grid(&grid, x, N, 3, found);
      for (int i = 0; i < N; i++) assert_int_equal(found[3 * i], searched[i]);
    }
  }
}

/* More rows than walk together, fewer than fill the lanes, in order, turned and by index: every
 * level finds the leaves of the walk node by node, and what they vote for. */
static void every_level_finds_the_same_leaves(void **state) {
  (void)state;
  enum { N = 20000, TREES = 3, PLAIN = 0, TURNED, INDEXED, WAYS };
  static const int32_t widths[] = {3, 20, 100};
  static const int64_t counts[] = {1, 63, 64, 65, 500, 16385, N};
  sr_context *ctx = test_context(1);
  const sr__walk_kernel *kernel[SR__ISA_LEVELS];
  int levels = walk_kernels(kernel);
  uint32_t *by_node = malloc(N * sizeof *by_node), *given = malloc(N * sizeof *given);
  int32_t *index = malloc(N * sizeof *index);
  uint8_t *scratch = malloc(SR__WALK_SCRATCH), *vote = malloc(TREES * N);
  uint8_t *columns = aligned_alloc(64, (size_t)sr__turned_bytes(100, N));
  for (int i = 0; i < N; i++) index[i] = (int32_t)((i * 7LL + 3) % N);
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    sr_table *table = random_table(ctx, N, widths[w], 3, w == 1 ? 0.0 : 0.2, 60 + w);
    kit_options options = tree_options();
    fitted f;
    sr__encoded *rows = NULL;
    assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
    assert_ok(ctx, f.learner->encode(ctx, f.encoder, table, 0, N, &rows));
    if (!f.member->pass) assert_ok(ctx, sr__tree_make_crown(ctx, f.encoder, f.member));
    assert_non_null(f.member->pass);
    sr__walk_tree plain = {.node = f.member->node, .shifted = 1}, tree = plain;
    tree.piece = f.member->piece;
    tree.pieces = f.member->pieces;
    tree.pass = f.member->pass;
    tree.vote_pass = f.member->vote_pass;
    tree.branch = f.member->branch;
    tree.exits = f.member->exits;
    tree.pass_leaf = f.member->pass_leaf;
    tree.pass_vote = f.member->pass_vote;
    plain.vote = tree.vote = f.member->vote;
    tree.shifted = f.member->shifted;
    sr__walk_tree trees[TREES] = {tree, plain, tree};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
      for (int way = 0; way < WAYS; way++) {
        sr__walk_rows walk = sr__walk_over(rows, way == INDEXED ? index : NULL);
        sr__walk_kernel_base.walk(&plain, &walk, counts[c], NULL, by_node);
        for (int level = 0; level < levels; level++) {
          memset(given, 0xff, N * sizeof *given);
          walk.columns = NULL;
          walk.whole = way == TURNED && kernel[level]->turn(&walk, counts[c], columns);
          if (way == TURNED) walk.columns = columns;
          if (way == TURNED && w == 1) assert_true(walk.whole && tree.shifted);
          if (way == TURNED && w != 1 && counts[c] > 100) assert_false(walk.whole);
          kernel[level]->walk(&tree, &walk, counts[c], scratch, given);
          assert_memory_equal(given, by_node, (size_t)counts[c] * sizeof *given);
          trees[1] = c % 2 ? plain : tree; /* where one has no branches, all are walked by nodes */
          kernel[level]->ask((sr__walk_trees){trees, TREES}, &walk, counts[c], scratch, vote);
          for (int64_t i = 0; i < TREES * counts[c]; i++)
            assert_int_equal(vote[i], f.member->info[by_node[i % counts[c]]]);
        }
      }
    f.learner->free_encoded(rows);
    fitted_free(&f);
    sr_table_free(&table);
  }
  free(by_node);
  free(given);
  free(index);
  free(columns);
  free(scratch);
  free(vote);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distinct_rows_are_memorized),
      cmocka_unit_test(weights_are_repeated_rows),
      cmocka_unit_test(heavy_nodes_are_split),
      cmocka_unit_test(bad_weights_are_refused),
      cmocka_unit_test(limits_hold_and_shares_are_counts),
      cmocka_unit_test(leaves_hold_their_share_of_the_weight),
      cmocka_unit_test(members_vote_for_classes_they_saw),
      cmocka_unit_test(missing_values_carry_the_class),
      cmocka_unit_test(categories_match_by_name),
      cmocka_unit_test(many_categories_share_the_last_bin),
      cmocka_unit_test(leaves_are_counted_in_passing),
      cmocka_unit_test(codes_and_copies_do_not_change_the_tree),
      cmocka_unit_test(rows_may_be_asked_for_in_any_way),
      cmocka_unit_test(votes_do_not_depend_on_the_walk),
      cmocka_unit_test(blended_leaves_vote_as_they_share),
      cmocka_unit_test(every_level_finds_the_same_bins),
      cmocka_unit_test(every_level_finds_the_same_leaves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
