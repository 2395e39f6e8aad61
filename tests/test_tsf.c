/* Time Series Forest: features against plain sums, every split against an exhaustive search, and
 * what must hold for any tree. */
#include "interval_kit.h"
#include "learner/tsf/tsf_kernel.h"

/* Of `intervals` intervals, into f->member. */
static sr_status fit_bag(sr_context *ctx, const kit_series *series, sr__bag bag, int64_t intervals,
                         sr__random *random, kit_fitted *f) {
  return kit_fit(ctx, &sr__learner_tsf, series, bag, &(sr__tsf_options){intervals}, random, f);
}

static sr_status fit_series(sr_context *ctx, const kit_series *series, const int32_t *bag,
                            const int32_t *counts, int64_t length, uint64_t member, kit_fitted *f) {
  sr_status status = SR_OK;
  sr__random random;
  *f = (kit_fitted){0};
  sr__random_init(&random, 7, SR_PURPOSE_LEARNER, 0, member);
  SR_TRY(sr__tsf_prepare(ctx, &series->ragged, series->classes, &f->encoder, &f->rows));
  sr__bag rows = {.rows = bag, .counts = counts, .length = length};
  SR_TRY(fit_bag(ctx, series, rows, 0, &random, f));
cleanup:
  return status;
}

static float feature_of(const sr__encoder *encoder, const sr__encoded *rows, int64_t row,
                        const sr__tsf_interval *interval, int32_t kind) {
  sr__tsf_reader reader = sr__tsf_reader_of(encoder, interval, kind);
  float eight[8];
  sr__tsf_features(encoder, rows, (sr__tsf_lanes){row / rows->width, row % rows->width / 8, 1},
                   (sr__tsf_asked){&reader, NULL, 1}, eight);
  return eight[row % 8];
}

static void fitted_free(kit_fitted *f) { kit_fitted_free(&sr__learner_tsf, f); }

/* ---- features ------------------------------------------------------------------------------ */

static double slow_feature(const float *x, int32_t start, int32_t end, int kind) {
  double w = end - start, mean = 0.0, variance = 0.0, above = 0.0, below = 0.0;
  for (int32_t t = start; t < end; t++) mean += x[t] / w;
  for (int32_t t = start; t < end; t++) {
    double u = t - start - 0.5 * (w - 1.0);
    variance += (x[t] - mean) * (x[t] - mean) / w;
    above += u * (x[t] - mean);
    below += u * u;
  }
  return kind == 0 ? mean : kind == 1 ? sqrt(variance) : below > 0.0 ? above / below : 0.0;
}

/* Also of series far from zero, where sums of squares alone would lose the deviation. */
static void features_agree_with_plain_sums(void **state) {
  (void)state;
  double level[] = {0.0, 1e4, -3e6};
  sr_context *ctx = test_context(1);
  for (int k = 0; k < 3; k++) {
    kit_shape shape = {3, 2, 2, 61, 61, 0.0};
    kit_series series = kit_shapelets(&shape, 1.0, 5);
    sr__encoder *encoder = NULL;
    sr__encoded *rows = NULL;
    for (int i = 0; i < 3 * 2 * 61; i++) series.values[i] += (float)level[k];
    assert_ok(ctx, sr__tsf_prepare(ctx, &series.ragged, 2, &encoder, &rows));
    for (int32_t start = 0; start < 61; start += 3) {
      for (int32_t end = start + 1; end <= 61; end++) {
        for (int i = 0; i < 6; i++) {
          sr__tsf_interval interval = {i % 2, start, end};
          for (int kind = 0; kind < 3; kind++)
            assert_close(feature_of(encoder, rows, i / 2, &interval, kind),
                         slow_feature(series.values + 61 * i, start, end, kind), 2e-6);
        }
      }
    }
    sr__tsf_free_encoded(rows);
    sr__tsf_free_encoder(encoder);
    kit_free(&series);
  }
  sr_context_free(&ctx);
}

/* The levels that this machine has. */
static int find_levels(const sr__tsf_kernel *level[3]) {
  int levels = 0;
  level[levels++] = &sr__tsf_kernel_base;
#if defined(__x86_64__)
  if (sr__isa() >= SR__ISA_V3) level[levels++] = &sr__tsf_kernel_v3;
  if (sr__isa() >= SR__ISA_V4) level[levels++] = &sr__tsf_kernel_v4;
#endif
  return levels;
}

/* Children behind their parents; the way down is long on one side. Gives the number of nodes. */
static uint32_t random_tree(sr__random *random, uint32_t splits, sr__tsf_node *node) {
  uint32_t nodes = 1, open = 0;
  node[0] = (sr__tsf_node){0, 0, INFINITY, 0};
  for (uint32_t k = 0; k < splits; k++, nodes += 2) {
    open = sr__random_below(random, 3) ? nodes - 1 : (uint32_t)sr__random_below(random, nodes);
    while (node[open].left != open) open = node[open].left;
    node[open].left = nodes;
    node[open].feature = (uint32_t)sr__random_below(random, 5);
    node[open].threshold = (float)sr__random_uniform(random);
    for (uint32_t side = 0; side < 2; side++)
      node[nodes + side] = (sr__tsf_node){nodes + side, 0, INFINITY, nodes + side};
  }
  return nodes;
}

/* Of any lanes of a tile, by small trees and large ones, at every level. */
static void every_lane_finds_its_leaf(void **state) {
  (void)state;
  enum { SPLITS = 400 };
  static sr__tsf_node node[2 * SPLITS + 1];
  static float feature[5 * SR__TSF_TILE];
  const sr__tsf_kernel *level[3];
  int levels = find_levels(level);
  sr__random random;
  sr__random_init(&random, 3, SR_PURPOSE_LEARNER, 0, 1);
  for (uint32_t round = 0; round < 60; round++) {
    uint32_t eights = 1 + round % 8, width = 8 * eights;
    uint64_t lanes = (sr__random_bits(&random) | (round % 2 ? 0 : UINT64_MAX)) >> (64 - width);
    random_tree(&random, round < 10 ? round : SPLITS / (1 + round % 7), node);
    for (uint32_t i = 0; i < 5 * width; i++)
      feature[i] = i % 11 ? (float)sr__random_uniform(&random) : INFINITY;
    for (int k = 0; k < levels; k++) {
      uint32_t leaf[SR__TSF_TILE];
      level[k]->leaves(node, feature, eights, lanes, leaf);
      for (uint32_t j = 0; j < width; j++) {
        uint32_t at = 0;
        if (!(lanes >> j & 1)) continue;
        while (node[at].left != at)
          at = node[at].left + (feature[width * node[at].feature + j] > node[at].threshold);
        assert_int_equal(leaf[j], node[at].leaf);
      }
    }
  }
}

/* Sums, centers and features at every level, all kinds of an interval together or one by one. */
static void every_level_gives_the_same_bytes(void **state) {
  (void)state;
  enum { LENGTH = 45, WIDTH = 24 };
  const sr__tsf_kernel *level[3];
  int levels = find_levels(level);
  kit_shape shape = {WIDTH, 1, 2, LENGTH, LENGTH, 0.0};
  kit_series series = kit_shapelets(&shape, 1.0, 5);
  size_t cells = (LENGTH + 1) * 3 * WIDTH;
  double *sum[2], *center[2];
  float feature[2][3 * 8 * 2];
  for (int k = 0; k < 2; k++) {
    sum[k] = aligned_alloc(64, sizeof(double) * cells);
    center[k] = aligned_alloc(64, sizeof(double) * 64);
    memset(center[k], 0, sizeof(double) * 64);
    memset(sum[k], 0, sizeof(double) * cells);
  }
  sr__encoder *encoder = NULL;
  int32_t length = LENGTH, list[] = {0, 1, 2};
  sr_context *ctx = test_context(1);
  assert_ok(ctx, sr__tsf_encoder_new(ctx, &(sr__even_shape){2, 1, &length}, &encoder));
  for (int k = 0; k < levels; k++) {
    for (int lane = 0; lane < WIDTH; lane += 8) {
      float eight[LENGTH * 8];
      for (int i = 0; i < LENGTH * 8; i++)
        eight[i] = series.values[(lane + i % 8) * LENGTH + i / 8];
      level[k]->sums(eight, LENGTH, WIDTH, sum[k > 0] + lane, center[k > 0] + lane);
    }
    assert_memory_equal(sum[0], sum[k > 0], sizeof(double) * cells);
    assert_memory_equal(center[0], center[k > 0], sizeof(double) * WIDTH);
    for (int32_t start = 0; start + 3 < LENGTH; start += 4) {
      sr__tsf_reader reader[3];
      for (int32_t kind = 0; kind < 3; kind++)
        reader[kind] =
            sr__tsf_reader_of(encoder, &(sr__tsf_interval){0, start, LENGTH - start / 4}, kind);
      for (int m = 0; m < 2; m++)
        level[m ? k : 0]->features(sum[0] + 8, center[0] + 8, WIDTH, 2,
                                   (sr__tsf_asked){reader, m ? list : NULL, 3}, feature[m]);
      assert_memory_equal(feature[0], feature[1], sizeof feature[0]);
      memset(feature[1], 0, sizeof feature[1]);
      for (int kind = 0; kind < 3; kind++)
        level[k]->features(sum[0] + 8, center[0] + 8, WIDTH, 2,
                           (sr__tsf_asked){reader, list + kind, 1}, feature[1]);
      assert_memory_equal(feature[0], feature[1], sizeof feature[0]);
    }
  }
  for (int k = 0; k < 2; k++) {
    free(sum[k]);
    free(center[k]);
  }
  sr__tsf_free_encoder(encoder);
  kit_free(&series);
  sr_context_free(&ctx);
}

/* At least three points where there are three; every point of the series is in some. */
static void intervals_follow_the_law(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int32_t length = 1; length < 40; length += length < 6 ? 1 : 11) {
    kit_shape shape = {4, 1, 2, length, length, 0.0};
    kit_series series = kit_shapelets(&shape, 1.0, 5);
    int32_t *all = kit_all_rows(4), covered[64] = {0}, whole = 0, drawn = 0;
    for (uint64_t member = 0; member < 300; member++) {
      kit_fitted f;
      assert_ok(ctx, fit_series(ctx, &series, all, NULL, 4, member, &f));
      assert_int_equal(f.member->intervals, length < 4 ? 1 : (int)sqrt(length));
      for (int32_t k = 0; k < f.member->intervals; k++) {
        sr__tsf_interval interval = f.member->interval[k];
        assert_true(interval.start >= 0 && interval.end <= length);
        assert_true(interval.end - interval.start >= (length < 3 ? length : 3));
        whole += interval.end - interval.start == length;
        drawn++;
        for (int32_t t = interval.start; t < interval.end; t++) covered[t]++;
      }
      fitted_free(&f);
    }
    for (int32_t t = 0; t < length; t++) assert_true(covered[t] > 0);
    /* Start 0 has chance 1 / (m - 2) and then end m as well, and the same from the other side. */
    double chance = length < 4 ? 1.0 : pow(length - 2, -2.0);
    double deviation = sqrt(chance * (1.0 - chance) * drawn);
    assert_true(fabs(whole - chance * drawn) <= 5.0 * deviation + 1e-9);
    free(all);
    kit_free(&series);
  }
  sr_context_free(&ctx);
}

/* ---- splits -------------------------------------------------------------------------------- */

static double entropy_left(const double count[2][16], int32_t classes) {
  double sum = 0.0;
  for (int side = 0; side < 2; side++) {
    double total = 0.0;
    for (int32_t c = 0; c < classes; c++) total += count[side][c];
    for (int32_t c = 0; c < classes; c++)
      if (count[side][c] > 0.0) sum -= count[side][c] * log2(count[side][c] / total);
  }
  return sum;
}

typedef struct walker {
  const kit_fitted *f;
  const kit_series *series;
  const int32_t *counts; /* a row */
  int32_t checked;
} walker;

/* Entropy that a cut of a feature leaves; infinite where a side is empty. */
static double left_by(const walker *w, const int32_t *row, int32_t rows, uint32_t feature,
                      float threshold) {
  double count[2][16] = {{0.0}};
  int32_t right = 0;
  for (int32_t i = 0; i < rows; i++) {
    float value = feature_of(w->f->encoder, w->f->rows, row[i],
                             &w->f->member->interval[feature / 3], (int)(feature % 3));
    right += value > threshold;
    count[value > threshold][w->series->label[row[i]]] += w->counts[row[i]];
  }
  return right == 0 || right == rows ? INFINITY : entropy_left(count, w->series->classes);
}

/* No cut at a value of the node leaves less entropy than the node's own. */
static void check_node(walker *w, uint32_t at, const int32_t *row, int32_t rows) {
  const sr__tsf_node *node = &w->f->member->node[at];
  int32_t pure = 1, left[128], right[128], lefts = 0, rights = 0;
  double best = INFINITY;
  assert_true(rows > 0);
  for (int32_t i = 1; i < rows; i++) pure &= w->series->label[row[i]] == w->series->label[row[0]];
  for (uint32_t feature = 0; !pure && feature < (uint32_t)(3 * w->f->member->intervals);
       feature++) {
    for (int32_t i = 0; i < rows; i++) {
      float value = feature_of(w->f->encoder, w->f->rows, row[i],
                               &w->f->member->interval[feature / 3], (int)(feature % 3));
      best = fmin(best, left_by(w, row, rows, feature, value));
    }
  }
  w->checked++;
  if (node->left == at) {
    assert_true(pure || isinf(best));
    return;
  }
  assert_false(pure);
  assert_close(left_by(w, row, rows, node->feature, node->threshold), best, 1e-9);
  for (int32_t i = 0; i < rows; i++) {
    float value = feature_of(w->f->encoder, w->f->rows, row[i],
                             &w->f->member->interval[node->feature / 3], (int)(node->feature % 3));
    if (value > node->threshold)
      right[rights++] = row[i];
    else
      left[lefts++] = row[i];
  }
  check_node(w, node->left, left, lefts);
  check_node(w, node->left + 1, right, rights);
}

static void every_split_is_the_best(void **state) {
  (void)state;
  enum { ROWS = 60 };
  sr_context *ctx = test_context(1);
  for (int k = 0; k < 8; k++) {
    kit_shape shape = {ROWS, 1 + k % 2, k < 4 ? 2 : 5, 40, 25, k == 3 ? 0.2 : 0.0};
    kit_series series = kit_shapelets(&shape, 1.0, 30 + (uint64_t)k);
    int32_t bag[ROWS], counts[ROWS];
    for (int i = 0; i < ROWS; i++) {
      bag[i] = i;
      counts[i] = k % 4 == 2 ? 1 + i % 3 : 1;
    }
    if (k == 1) /* heaps of equal values */
      for (int64_t i = 0; i < series.offset[ROWS]; i++) series.values[i] = rintf(series.values[i]);
    kit_fitted f;
    assert_ok(ctx,
              fit_series(ctx, &series, bag, k % 4 == 2 ? counts : NULL, ROWS, (uint64_t)k, &f));
    walker w = {&f, &series, counts, 0};
    check_node(&w, 0, bag, ROWS);
    assert_int_equal(w.checked, f.member->nodes);
    fitted_free(&f);
    kit_free(&series);
  }
  sr_context_free(&ctx);
}

/* ---- trees --------------------------------------------------------------------------------- */

/* Votes of a forest of all rows or of bootstrap bags, on series that it may have seen. */
static double forest_accuracy(sr_context *ctx, const kit_series *train, const kit_series *test,
                              int members, bool bootstrap) {
  int64_t rows = train->ragged.rows, new_rows = test->ragged.rows;
  int32_t classes = train->classes, *bag = malloc(sizeof *bag * (size_t)rows);
  int32_t *counts = malloc(sizeof *counts * (size_t)rows), *vote;
  float *share = malloc(sizeof *share * (size_t)(new_rows * classes));
  float *sum = calloc((size_t)(new_rows * classes), sizeof *sum);
  sr__encoded *encoded = NULL;
  sr__random random;
  kit_fitted f = {0};
  vote = malloc(sizeof *vote * (size_t)new_rows);
  assert_ok(ctx, sr__tsf_prepare(ctx, &train->ragged, classes, &f.encoder, &f.rows));
  assert_ok(ctx, sr__tsf_encode(ctx, f.encoder, &test->ragged, 0, new_rows, &encoded));
  for (int k = 0; k < members; k++) {
    int64_t length = 0;
    sr__random_init(&random, 3, SR_PURPOSE_LEARNER, 0, (uint64_t)k);
    memset(counts, 0, sizeof *counts * (size_t)rows);
    for (int64_t i = 0; i < rows; i++)
      counts[bootstrap ? (int64_t)sr__random_below(&random, (uint64_t)rows) : i]++;
    for (int64_t i = 0; i < rows; i++) {
      if (!counts[i]) continue;
      bag[length] = (int32_t)i;
      counts[length++] = counts[i];
    }
    sr__bag drawn = {.rows = bag, .counts = counts, .length = length};
    assert_ok(ctx, fit_bag(ctx, train, drawn, 0, &random, &f));
    assert_ok(ctx, sr__tsf_predict(ctx, f.encoder, f.member, encoded, (sr__picked){NULL, new_rows},
                                   (sr__answers){.share = share}));
    for (int64_t i = 0; i < new_rows * classes; i++) sum[i] += share[i];
    sr__tsf_free_member(f.member);
    f.member = NULL;
  }
  for (int64_t i = 0; i < new_rows; i++) {
    vote[i] = 0;
    for (int32_t c = 1; c < classes; c++)
      if (sum[i * classes + c] > sum[i * classes + vote[i]]) vote[i] = c;
  }
  double accuracy = kit_accuracy(test, vote);
  sr__tsf_free_encoded(encoded);
  fitted_free(&f);
  free(bag);
  free(counts);
  free(vote);
  free(share);
  free(sum);
  return accuracy;
}

static void forests_know_their_rows_and_tell_new_ones_apart(void **state) {
  (void)state;
  kit_shape shapes[] = {{200, 1, 3, 60, 60, 0.0}, {200, 2, 3, 60, 40, 0.05}};
  sr_context *ctx = test_context(1);
  for (int k = 0; k < 2; k++) {
    kit_series train = kit_shapelets(&shapes[k], 0.2, 1), test = kit_shapelets(&shapes[k], 0.2, 2);
    assert_true(forest_accuracy(ctx, &train, &train, 5, false) == 1.0);
    assert_true(forest_accuracy(ctx, &train, &test, 40, false) > 0.85);
    assert_true(forest_accuracy(ctx, &train, &test, 40, true) > 0.85);
    kit_free(&train);
    kit_free(&test);
  }
  sr_context_free(&ctx);
}

/* A row that counts k times weighs as k rows; counts of one are none; rows without a class are not
 * there. */
static void counts_are_repeated_rows(void **state) {
  (void)state;
  enum { ROWS = 70 };
  kit_shape shape = {ROWS, 1, 3, 30, 30, 0.0};
  sr_context *ctx = test_context(1);
  kit_series series = kit_shapelets(&shape, 1.0, 9);
  kit_counted made = kit_count_rows(&series);
  int32_t vote[2][ROWS], ones[4 * ROWS];
  kit_fitted f[3];
  for (int i = 0; i < 4 * ROWS; i++) ones[i] = 1;
  assert_ok(ctx, fit_series(ctx, &series, made.bag, made.counts, made.rows, 1, &f[0]));
  assert_ok(ctx, fit_series(ctx, &series, made.repeated, NULL, made.repeated_rows, 1, &f[1]));
  assert_ok(ctx, fit_series(ctx, &series, made.repeated, ones, made.repeated_rows, 1, &f[2]));
  for (int k = 1; k < 3; k++) {
    assert_int_equal(f[0].member->nodes, f[k].member->nodes);
    assert_memory_equal(f[0].member->node, f[k].member->node,
                        sizeof(sr__tsf_node) * (size_t)f[0].member->nodes);
  }
  assert_ok(ctx, sr__tsf_predict(ctx, f[0].encoder, f[0].member, f[0].rows,
                                 (sr__picked){NULL, ROWS}, (sr__answers){.vote = vote[0]}));
  int32_t *all = kit_all_rows(ROWS);
  assert_ok(ctx, sr__tsf_predict(ctx, f[0].encoder, f[0].member, f[0].rows, (sr__picked){all, ROWS},
                                 (sr__answers){.vote = vote[1]}));
  assert_memory_equal(vote[0], vote[1], sizeof vote[0]);
  for (int i = 0; i < ROWS; i++) all[i] = i * 37 % ROWS; /* any order, some left out */
  for (int count = 1; count <= ROWS; count += 23) {
    assert_ok(ctx, sr__tsf_predict(ctx, f[0].encoder, f[0].member, f[0].rows,
                                   (sr__picked){all, count}, (sr__answers){.vote = vote[1]}));
    for (int i = 0; i < count; i++) assert_int_equal(vote[1][i], vote[0][all[i]]);
  }
  for (int k = 0; k < 3; k++) fitted_free(&f[k]);
  for (int i = 0; i < ROWS; i++) series.label[i] = -1;
  assert_int_equal(fit_series(ctx, &series, made.bag, made.counts, made.rows, 1, &f[0]),
                   SR_ERROR_DATA);
  fitted_free(&f[0]);
  free(all);
  kit_free(&series);
  sr_context_free(&ctx);
}

/* Equal series of different classes share a leaf; series without any point go one way. */
static void leaves_hold_shares(void **state) {
  (void)state;
  kit_shape shape = {12, 1, 3, 20, 20, 0.0};
  sr_context *ctx = test_context(1);
  kit_series series = kit_shapelets(&shape, 1.0, 4);
  int32_t *all = kit_all_rows(12), vote[12];
  float share[12 * 3];
  kit_fitted f;
  for (int i = 0; i < 12; i++) {
    for (int t = 0; t < 20; t++) series.values[20 * i + t] = i % 2 ? 1.0f : NAN;
    series.label[i] = i % 2 ? 2 : i % 4 / 2; /* even rows: 0 1 0 1 0 1 */
  }
  assert_ok(ctx, fit_series(ctx, &series, all, NULL, 12, 1, &f));
  assert_ok(ctx, sr__tsf_predict(ctx, f.encoder, f.member, f.rows, (sr__picked){NULL, 12},
                                 (sr__answers){.vote = vote, .share = share}));
  kit_assert_shared_leaf(vote, share);
  fitted_free(&f);
  free(all);
  kit_free(&series);
  sr_context_free(&ctx);
}

/* Twice every series gives the same votes to the bit: features double, and so do the thresholds. */
static void scale_does_not_matter(void **state) {
  (void)state;
  kit_shape shape = {80, 1, 4, 50, 50, 0.0};
  sr_context *ctx = test_context(1);
  kit_series plain = kit_shapelets(&shape, 1.0, 4), doubled = kit_shapelets(&shape, 1.0, 4);
  int32_t *all = kit_all_rows(80), vote[2][80];
  kit_fitted f[2];
  for (int i = 0; i < 80 * 50; i++) doubled.values[i] *= 2.0f;
  for (int k = 0; k < 2; k++) {
    assert_ok(ctx, fit_series(ctx, k ? &doubled : &plain, all, NULL, 50, 1, &f[k]));
    assert_ok(ctx, sr__tsf_predict(ctx, f[k].encoder, f[k].member, f[k].rows,
                                   (sr__picked){NULL, 80}, (sr__answers){.vote = vote[k]}));
  }
  assert_memory_equal(vote[0], vote[1], sizeof vote[0]);
  for (int64_t i = 0; i < f[0].member->nodes; i++)
    assert_true(f[1].member->node[i].threshold == 2.0f * f[0].member->node[i].threshold);
  fitted_free(&f[0]);
  fitted_free(&f[1]);
  free(all);
  kit_free(&plain);
  kit_free(&doubled);
  sr_context_free(&ctx);
}

/* ---- storing and memory --------------------------------------------------------------------- */

static sr_status load_all(sr_context *ctx, const uint8_t *data, int64_t size, kit_fitted *f) {
  return kit_load(ctx, &sr__learner_tsf, data, size, f);
}

static void save_all(const kit_fitted *f, sr__bytes *bytes) {
  sr__tsf_save_encoder(f->encoder, bytes);
  sr__tsf_save_member(f->encoder, f->member, bytes);
}

static void what_is_stored_is_what_was(void **state) {
  (void)state;
  kit_shape shape = {50, 2, 3, 23, 15, 0.05};
  sr_context *ctx = test_context(1);
  kit_series series = kit_shapelets(&shape, 1.0, 12);
  int32_t *all = kit_all_rows(50), vote[50];
  kit_fitted f, back;
  sr__bytes bytes = {.ctx = ctx}, again = {.ctx = ctx};
  assert_ok(ctx, fit_series(ctx, &series, all, NULL, 50, 1, &f));
  save_all(&f, &bytes);
  assert_ok(ctx, bytes.status);
  assert_ok(ctx, load_all(ctx, bytes.data, bytes.size, &back));
  save_all(&back, &again);
  kit_assert_same_bytes(&bytes, &again);
  fitted_free(&back);
  for (int64_t size = 0; size < bytes.size; size++) {
    assert_int_equal(load_all(ctx, bytes.data, size, &back), SR_ERROR_FORMAT);
    fitted_free(&back);
  }
  /* From byte 20 on: before stand class count, channels and lengths. */
  for (int64_t at = 20; at < bytes.size; at++) {
    for (int change = 1; change < 256; change += 50) {
      bytes.data[at] ^= (uint8_t)change;
      if (load_all(ctx, bytes.data, bytes.size, &back) == SR_OK)
        assert_ok(ctx, sr__tsf_predict(ctx, back.encoder, back.member, f.rows,
                                       (sr__picked){NULL, 50}, (sr__answers){.vote = vote}));
      bytes.data[at] ^= (uint8_t)change;
      fitted_free(&back);
    }
  }
  sr__bytes_free(&bytes);
  sr__bytes_free(&again);
  fitted_free(&f);
  free(all);
  kit_free(&series);
  sr_context_free(&ctx);
}

static sr_status whole_life(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  const kit_series *series = data;
  int32_t all[20], counts[20];
  kit_fitted f = {0}, back = {0};
  sr__bytes bytes = {.ctx = ctx};
  for (int i = 0; i < 20; i++) {
    all[i] = i;
    counts[i] = 1 + i % 3;
  }
  SR_TRY(fit_series(ctx, series, all, counts, 20, 1, &f));
  save_all(&f, &bytes);
  SR_TRY(bytes.status);
  SR_TRY(load_all(ctx, bytes.data, bytes.size, &back));
cleanup:
  sr__bytes_free(&bytes);
  fitted_free(&f);
  fitted_free(&back);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  kit_shape shape = {20, 2, 3, 30, 20, 0.05};
  kit_series series = kit_shapelets(&shape, 1.0, 13);
  /* Two rows of different classes without a point, for a leaf with shares. */
  for (int s = 1; s < 5; s++) series.offset[s] = 0;
  test_every_allocation(whole_life, &series);
  kit_free(&series);
}

static void what_cannot_be_is_said(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  kit_shape shape = {10, 2, 2, 8, 8, 0.0};
  kit_series series = kit_shapelets(&shape, 1.0, 17);
  int32_t *all = kit_all_rows(10);
  sr__random random;
  sr__encoded *rows = NULL;
  kit_fitted f;
  assert_ok(ctx, fit_series(ctx, &series, all, NULL, 10, 1, &f));
  sr__tsf_free_member(f.member);
  sr__random_init(&random, 1, SR_PURPOSE_TEST, 0, 0);
  sr__bag rows_of_all = {.rows = all, .length = 10};
  assert_int_equal(fit_bag(ctx, &series, rows_of_all, -1, &random, &f), SR_ERROR_ARGUMENT);
  series.ragged.channels = 1;
  assert_int_equal(sr__tsf_encode(ctx, f.encoder, &series.ragged, 0, 10, &rows), SR_ERROR_DATA);
  fitted_free(&f);
  series.ragged.rows = 0;
  assert_int_equal(fit_series(ctx, &series, all, NULL, 0, 1, &f), SR_ERROR_DATA);
  fitted_free(&f);
  free(all);
  kit_free(&series);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(features_agree_with_plain_sums),
      cmocka_unit_test(every_level_gives_the_same_bytes),
      cmocka_unit_test(every_lane_finds_its_leaf),
      cmocka_unit_test(intervals_follow_the_law),
      cmocka_unit_test(every_split_is_the_best),
      cmocka_unit_test(forests_know_their_rows_and_tell_new_ones_apart),
      cmocka_unit_test(counts_are_repeated_rows),
      cmocka_unit_test(leaves_hold_shares),
      cmocka_unit_test(scale_does_not_matter),
      cmocka_unit_test(what_is_stored_is_what_was),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(what_cannot_be_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
