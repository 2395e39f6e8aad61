/* Every split of grown trees against an exhaustive search over the same bins in exact arithmetic.
 */
#include <math.h>

#include "learner/tree/tree.h"
#include "learner_kit.h"

typedef __int128 exact;

typedef struct reference {
  const uint8_t *bins;
  const int32_t *label;
  const float *weight; /* whole numbers; NULL = 1 */
  int64_t features;
  int32_t classes;
  int64_t min_leaf;
  const sr__member *tree;
  int64_t splits_checked;
} reference;

/* A score as a fraction: sum over both sides of (sum of squared class weights) / weight. */
typedef struct fraction {
  exact top, bottom;
} fraction;

static bool is_larger(fraction a, fraction b) { return a.top * b.bottom > b.top * a.bottom; }

static int64_t weigh(const reference *r, int32_t row) {
  return r->weight ? (int64_t)r->weight[row] : 1;
}

static bool side_of(const reference *r, int32_t row, int64_t feature, int shift, int threshold) {
  return (uint8_t)(r->bins[row * r->features + feature] + shift) <= threshold;
}

/* Left counts are those of rows for which go[i]; false where a side is too light. */
static bool score(const reference *r, const int32_t *rows, const bool *go, int64_t count,
                  fraction *result, int64_t *left_weight) {
  int64_t left[20] = {0}, right[20] = {0}, left_total = 0, right_total = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t weight = weigh(r, rows[i]);
    (go[i] ? left : right)[r->label[rows[i]]] += weight;
    *(go[i] ? &left_total : &right_total) += weight;
  }
  if (left_total < r->min_leaf || right_total < r->min_leaf) return false;
  exact left_square = 0, right_square = 0;
  for (int c = 0; c < r->classes; c++) {
    left_square += (exact)left[c] * left[c];
    right_square += (exact)right[c] * right[c];
  }
  *result = (fraction){left_square * right_total + right_square * left_total,
                       (exact)left_total * right_total};
  *left_weight = left_total;
  return true;
}

typedef struct choice {
  int64_t feature;
  int shift, threshold;
  bool missing;
  fraction score;
  int64_t left_weight;
} choice;

static choice search(const reference *r, const int32_t *rows, int64_t count) {
  choice best = {.feature = -1};
  bool *go = malloc(sizeof *go * (size_t)count);
  for (int64_t f = 0; f < r->features; f++) {
    bool missing = false;
    for (int64_t i = 0; i < count; i++) missing |= r->bins[rows[i] * r->features + f] == 255;
    for (int shift = 0; shift <= missing; shift++) {
      for (int t = 0; t < 255; t++) {
        fraction here;
        int64_t left_weight;
        for (int64_t i = 0; i < count; i++) go[i] = side_of(r, rows[i], f, shift, t);
        if (!score(r, rows, go, count, &here, &left_weight)) continue;
        if (best.feature < 0 || is_larger(here, best.score))
          best = (choice){f, shift, t, missing, here, left_weight};
      }
    }
  }
  free(go);
  return best;
}

/* The node must split exactly as the search says; then both children alike. */
static void check_node(reference *r, uint32_t at, const int32_t *rows, int64_t count) {
  int64_t total = 0, of_class[20] = {0};
  int present = 0, vote = 0;
  for (int64_t i = 0; i < count; i++) {
    of_class[r->label[rows[i]]] += weigh(r, rows[i]);
    total += weigh(r, rows[i]);
  }
  for (int c = 0; c < r->classes; c++) {
    present += of_class[c] > 0;
    if (of_class[c] > of_class[vote]) vote = c;
  }
  choice best = present > 1 ? search(r, rows, count) : (choice){.feature = -1};
  sr__node node = r->tree->node[at];
  if (best.feature < 0) {
    assert_int_equal(node.left, at);
    assert_int_equal(r->tree->info[at], vote);
    return;
  }
  /* Halfway between the neighboring bins of the node; missing values stay apart. */
  int lower = -1, upper = 256;
  for (int64_t i = 0; i < count; i++) {
    int bin = (uint8_t)(r->bins[rows[i] * r->features + best.feature] + best.shift);
    if (bin <= best.threshold && bin > lower) lower = bin;
    if (bin > best.threshold && bin < upper) upper = bin;
  }
  best.threshold = best.shift && lower == 0      ? 0
                   : !best.shift && upper == 255 ? 254
                                                 : (lower + upper) / 2;
  if (!best.missing && 2 * best.left_weight >= total) {
    best.shift = 1;
    best.threshold++;
  }
  assert_int_not_equal(node.left, at);
  assert_int_equal(node.what >> SR__NODE_FEATURE, best.feature);
  assert_int_equal(node.what >> 8 & 1, best.shift);
  assert_int_equal(node.what & 255, best.threshold);
  r->splits_checked++;
  int32_t *child = malloc(sizeof *child * (size_t)count);
  for (int right = 0; right < 2; right++) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++)
      if (side_of(r, rows[i], best.feature, best.shift, best.threshold) != right)
        child[kept++] = rows[i];
    check_node(r, node.left + (uint32_t)right, child, kept);
  }
  free(child);
}

typedef struct setting {
  int64_t n;
  int32_t d, classes, values, min_leaf;
  double missing;
  bool weighted;
} setting;

static void check_setting(setting s, uint64_t seed) {
  sr_context *ctx = test_context(1);
  float *x = malloc(sizeof *x * (size_t)(s.n * s.d)),
        *weight = malloc(sizeof *weight * (size_t)s.n);
  int32_t *label = malloc(sizeof *label * (size_t)s.n), *rows = malloc(sizeof *rows * (size_t)s.n);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  for (int64_t i = 0; i < s.n * s.d; i++)
    x[i] = sr__random_uniform(&random) < s.missing
               ? NAN
               : (float)sr__random_below(&random, (uint64_t)s.values) - 3.5f;
  for (int64_t i = 0; i < s.n; i++) {
    bool rule = x[i] > 1.0f;
    label[i] = (int32_t)sr__random_below(&random, (uint64_t)s.classes);
    if (rule) label[i] = 0;
    weight[i] = s.weighted ? (float)(1 + sr__random_below(&random, 5)) : 1.0f;
    rows[i] = (int32_t)i;
  }
  sr_table_view view = {.rows = s.n,
                        .features = s.d,
                        .x = x,
                        .label = label,
                        .classes = {s.classes, kit_names},
                        .weight = s.weighted ? weight : NULL};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  kit_options options;
  kit_options_init(&options);
  options.max_features = -1;
  options.min_leaf = s.min_leaf;
  fitted f;
  assert_ok(ctx, fit_table(ctx, table, &options, NULL, seed, &f));
  reference r = {.bins = f.learner->training_encoded(f.training)->bins,
                 .label = label,
                 .weight = s.weighted ? weight : NULL,
                 .features = s.d,
                 .classes = s.classes,
                 .min_leaf = s.min_leaf,
                 .tree = f.member};
  check_node(&r, 0, rows, s.n);
  assert_int_equal(2 * r.splits_checked + 1, f.member->nodes);
  assert_true(r.splits_checked > 3);
  fitted_free(&f);
  sr_table_free(&table);
  free(x);
  free(weight);
  free(label);
  free(rows);
  sr_context_free(&ctx);
}

/* More and fewer than 64 rows, two and many classes, with and without missing values and weights.
 */
static void splits_are_those_of_an_exhaustive_search(void **state) {
  (void)state;
  const setting settings[] = {
      {300, 4, 2, 30, 1, 0.0, false},     {60, 5, 2, 10, 1, 0.0, false},
      {300, 3, 2, 30, 1, 0.2, false},     {50, 4, 2, 40, 1, 0.3, false},
      {250, 3, 4, 25, 1, 0.1, false},     {60, 4, 7, 12, 1, 0.1, false},
      {300, 3, 2, 20, 9, 0.1, false},     {200, 3, 3, 20, 5, 0.1, false},
      {200, 3, 2, 30, 1, 0.1, true},      {200, 3, 4, 30, 1, 0.1, true},
      {500, 3, 8, 300, 1, 0.1, false},    {500, 3, 12, 200, 1, 0.0, true},
      {500, 3, 16, 100, 1, 0.2, false},   {500, 3, 17, 60, 1, 0.1, false},
      {1500, 2, 10, 300, 20, 0.1, false},
  };
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    for (uint64_t seed = 1; seed <= 3; seed++) check_setting(settings[i], 100 * i + seed);
}

/* ---- categories --------------------------------------------------------------------------- */

/* With two classes the split of a categorical feature must be the best of all subsets. */
static void categories_split_as_the_best_subset(void **state) {
  (void)state;
  enum { N = 160, CATEGORIES = 6 };
  static const sr_dictionary dictionary = {CATEGORIES, kit_names};
  for (uint64_t seed = 1; seed <= 20; seed++) {
    sr_context *ctx = test_context(1);
    float x[N];
    int32_t label[N], rows[N];
    int64_t count = seed % 2 ? N : 40; /* histograms, masks */
    sr__random random;
    sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
    for (int64_t i = 0; i < count; i++) {
      uint64_t c = sr__random_below(&random, CATEGORIES + 1);
      x[i] = c == CATEGORIES ? NAN : (float)c; /* missing is one more category */
      label[i] = sr__random_uniform(&random) < 0.15 * (double)((c * 3) % 7);
      rows[i] = (int32_t)i;
    }
    sr_table_view view = {.rows = count,
                          .features = 1,
                          .x = x,
                          .categories = &dictionary,
                          .label = label,
                          .classes = {2, kit_names}};
    sr_table *table = NULL;
    assert_ok(ctx, sr_table_new(ctx, &view, &table));
    kit_options options;
    kit_options_init(&options);
    options.max_depth = 1;
    fitted f;
    assert_ok(ctx, fit_table(ctx, table, &options, NULL, seed, &f));
    const uint8_t *bins = f.learner->training_encoded(f.training)->bins;
    reference r = {.bins = bins, .label = label, .features = 1, .classes = 2, .min_leaf = 1};
    fraction best = {0, 1}, ours, here;
    int64_t unused;
    bool go[N];
    for (unsigned subset = 1; subset < 1u << (CATEGORIES + 1); subset++) {
      for (int64_t i = 0; i < count; i++)
        go[i] = subset >> (bins[i] == 255 ? CATEGORIES : bins[i]) & 1;
      if (score(&r, rows, go, count, &here, &unused) && is_larger(here, best)) best = here;
    }
    assert_int_equal(f.member->nodes, 3);
    assert_true(f.member->node[0].what & SR__NODE_CATEGORICAL);
    for (int64_t i = 0; i < count; i++) go[i] = sr__set_has(&f.member->set[0], bins[i]);
    assert_true(score(&r, rows, go, count, &ours, &unused));
    assert_false(is_larger(best, ours));
    fitted_free(&f);
    sr_table_free(&table);
    sr_context_free(&ctx);
  }
}

/* ---- entropy ------------------------------------------------------------------------------ */

static double entropy_after(const uint8_t *bins, const int32_t *label, int64_t n, int classes,
                            int64_t d, int64_t feature, int shift, int threshold) {
  double side[2][20] = {{0}}, total[2] = {0}, sum = 0;
  for (int64_t i = 0; i < n; i++) {
    int right = (uint8_t)(bins[i * d + feature] + shift) > threshold;
    side[right][label[i]]++;
    total[right]++;
  }
  if (total[0] == 0 || total[1] == 0) return INFINITY;
  for (int right = 0; right < 2; right++)
    for (int c = 0; c < classes; c++)
      if (side[right][c] > 0) sum -= side[right][c] * log(side[right][c] / total[right]);
  return sum / (double)n;
}

/* The root under entropy is within rounding of the best cut of all features. */
static void entropy_cut_is_the_best(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    enum { N = 200, D = 3 };
    sr_context *ctx = test_context(1);
    float x[N * D];
    int32_t label[N];
    int32_t classes = seed % 2 ? 2 : 4;
    int64_t n = seed <= 3 ? N : 64;
    sr__random random;
    sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
    for (int i = 0; i < N * D; i++) x[i] = (float)sr__random_normal(&random);
    for (int i = 0; i < N; i++) label[i] = (int32_t)sr__random_below(&random, (uint64_t)classes);
    sr_table_view view = {
        .rows = n, .features = D, .x = x, .label = label, .classes = {classes, kit_names}};
    sr_table *table = NULL;
    assert_ok(ctx, sr_table_new(ctx, &view, &table));
    kit_options options;
    kit_options_init(&options);
    options.criterion = 1;
    options.max_features = -1;
    fitted f;
    assert_ok(ctx, fit_table(ctx, table, &options, NULL, seed, &f));
    const uint8_t *bins = f.learner->training_encoded(f.training)->bins;
    double best = INFINITY;
    for (int64_t j = 0; j < D; j++)
      for (int t = 0; t < 255; t++)
        best = fmin(best, entropy_after(bins, label, n, classes, D, j, 0, t));
    uint32_t what = f.member->node[0].what;
    double ours = entropy_after(bins, label, n, classes, D, what >> SR__NODE_FEATURE, what >> 8 & 1,
                                what & 255);
    assert_true(ours <= best + 1e-12);
    fitted_free(&f);
    sr_table_free(&table);
    sr_context_free(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(splits_are_those_of_an_exhaustive_search),
      cmocka_unit_test(categories_split_as_the_best_subset),
      cmocka_unit_test(entropy_cut_is_the_best),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
