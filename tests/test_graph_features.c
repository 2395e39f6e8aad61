/* Neighbors among features: all pairs and near clusters against brute force; what counts as a
 * feature; RBF weights; the transition graph. */
#include "core/random.h"
#include "graph/features.h"
#include "graph/knn_kinds.h"
#include "graph/knn_pairs.h"
#include "graph/tile_kernel.h"
#include "graph_check.h"

typedef struct points {
  int64_t rows;
  int32_t dimension;
  float *x; /* row-major */
} points;

typedef enum points_kind {
  NORMAL,
  CLUSTERED,
  BINARY,
  REPEATED,
  OUTLIER,
  POINT_KINDS,
  WALK = POINT_KINDS,
  FAR_AWAY,   /* floats say little about distances */
  INDICATORS, /* all distances are equal */
  HALF_COPIES,
  ALL_KINDS
} points_kind;

/* Exact, n^2 products. */
static sr_status knn_all_pairs(sr_context *ctx, const float *x, int64_t rows, int32_t dimension,
                               int32_t k, sr__knn *knn) {
  sr_status status = SR_OK;
  sr__equal_rows equal = {0};
  *knn = (sr__knn){0};
  SR_TRY(sr__equal_rows_find(ctx, x, rows, dimension, &equal));
  SR_TRY(sr__knn_pairs(ctx, x, &equal, dimension, k, sr__pair_kernel_now(), knn));
cleanup:
  sr__equal_rows_free(ctx, &equal);
  return status;
}

static points make_points(points_kind kind, int64_t rows, int32_t dimension, uint64_t unit) {
  points made = {rows, dimension, malloc((size_t)(rows * dimension) * sizeof(float))};
  sr__random random;
  sr__random_init(&random, 21, SR_PURPOSE_TEST, 0, unit);
  for (int64_t i = 0; i < rows; i++) {
    for (int32_t j = 0; j < dimension; j++) {
      double value = sr__random_normal(&random);
      if (kind == CLUSTERED) value = 0.2 * value + (double)((i % 7) * (j % 3));
      if (kind == BINARY) value = value > 0.8;
      if (kind == REPEATED) value = (double)((i / 5) % 3 + j);
      if (kind == OUTLIER && i == 3) value = 1e6;
      if (kind == WALK && i > 0) value = 0.1 * value + made.x[(i - 1) * dimension + j];
      if (kind == FAR_AWAY) value = 1000.0 + 0.001 * value;
      if (kind == INDICATORS) value = j == (int32_t)(i % dimension);
      if (kind == HALF_COPIES && i % 2) value = made.x[i / 40 * 40 * dimension + j];
      made.x[i * dimension + j] = (float)value;
    }
  }
  return made;
}

static double points_distance(const points *p, int64_t a, int64_t b) {
  double sum = 0;
  for (int32_t j = 0; j < p->dimension; j++) {
    double gap = (double)p->x[a * p->dimension + j] - p->x[b * p->dimension + j];
    sum += gap * gap;
  }
  return sum;
}

static const points *sorted_points;
static int64_t sorted_row;

static int nearer(const void *left, const void *right) {
  int64_t a = *(const int32_t *)left, b = *(const int32_t *)right;
  double da = points_distance(sorted_points, sorted_row, a);
  double db = points_distance(sorted_points, sorted_row, b);
  if (da != db) return da < db ? -1 : 1;
  if (llabs(a - sorted_row) != llabs(b - sorted_row))
    return llabs(a - sorted_row) < llabs(b - sorted_row) ? -1 : 1;
  return a < b ? -1 : 1;
}

static void brute_force(const points *p, int64_t row, int32_t *all) {
  int64_t count = 0;
  for (int64_t i = 0; i < p->rows; i++) {
    if (i != row) all[count++] = (int32_t)i;
  }
  sorted_points = p;
  sorted_row = row;
  qsort(all, (size_t)count, sizeof *all, nearer);
}

/* ---- all pairs and clusters --------------------------------------------------------------- */

static void all_pairs_are_exact(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  const int64_t sizes[] = {2, 7, 16, 33, 250};
  int32_t all[400];
  for (int kind = 0; kind < POINT_KINDS; kind++) {
    for (int size = 0; size < 5; size++) {
      points p = make_points((points_kind)kind, sizes[size], 9 + 3 * size, (uint64_t)kind);
      int32_t k = sizes[size] > 20 ? 10 : 1;
      sr__knn knn = {0};
      assert_ok(ctx, knn_all_pairs(ctx, p.x, p.rows, p.dimension, k, &knn));
      for (int64_t i = 0; i < p.rows; i++) {
        brute_force(&p, i, all);
        assert_memory_equal(knn.neighbor + i * k, all, (size_t)k * sizeof *all);
      }
      sr__knn_free(ctx, &knn);
      free(p.x);
    }
  }
  sr_context_free(&ctx);
}

/* The kernels of all levels that this processor has, lowest first. */
static int pair_kernels(const sr__pair_kernel *kernel[SR__ISA_LEVELS]) {
#if defined(__x86_64__)
  kernel[SR__ISA_V3] = &sr__pair_kernel_v3;
  kernel[SR__ISA_V4] = &sr__pair_kernel_v4;
#endif
  kernel[SR__ISA_BASE] = &sr__pair_kernel_base;
  return (int)sr__isa() + 1;
}

static void check_levels(const points *p, int32_t k) {
  const sr__pair_kernel *kernel[SR__ISA_LEVELS];
  int levels = pair_kernels(kernel);
  sr__knn knn[2 * SR__ISA_LEVELS] = {0};
  sr__equal_rows equal = {0};
  sr_context *ctx[2] = {test_context(1), test_context(3)};
  int32_t *all = malloc((size_t)p->rows * sizeof *all);
  size_t bytes = (size_t)(p->rows * k) * sizeof *all;
  assert_ok(ctx[0], sr__equal_rows_find(ctx[0], p->x, p->rows, p->dimension, &equal));
  for (int run = 0; run < 2 * levels; run++) {
    assert_ok(ctx[run % 2], sr__knn_pairs(ctx[run % 2], p->x, &equal, p->dimension, k,
                                          kernel[run / 2], &knn[run]));
    assert_memory_equal(knn[run].neighbor, knn[0].neighbor, bytes);
  }
  for (int64_t i = 0; i < p->rows; i += 1 + p->rows / 12) {
    brute_force(p, i, all);
    assert_memory_equal(knn[0].neighbor + i * k, all, (size_t)k * sizeof *all);
  }
  for (int run = 0; run < 2 * levels; run++) sr__knn_free(ctx[run % 2], &knn[run]);
  sr__equal_rows_free(ctx[0], &equal);
  for (int t = 0; t < 2; t++) sr_context_free(&ctx[t]);
  free(all);
}

/* Every level and thread count gives the lists of brute force, over one span of points and many. */
static void all_pairs_do_not_see_level_or_threads(void **state) {
  (void)state;
  static const int64_t rows[] = {30, 383, 900, 1700};
  static const int32_t dimensions[] = {9, 20, 53, 3}, ks[] = {1, 8, 10, 17, 29};
  for (int c = 0; c < 4 * ALL_KINDS; c++) {
    points p = make_points((points_kind)(c / 4), rows[c % 4], dimensions[(c + c / 4) % 4],
                           200 + (uint64_t)c);
    check_levels(&p, ks[c % 5]);
    free(p.x);
  }
}

/* The kernels of all levels that this processor has, lowest first. */
static int tile_kernels(const sr__tile_kernel *kernel[SR__ISA_LEVELS]) {
#if defined(__x86_64__)
  kernel[SR__ISA_V3] = &sr__tile_kernel_v3;
  kernel[SR__ISA_V4] = &sr__tile_kernel_v4;
#endif
  kernel[SR__ISA_BASE] = &sr__tile_kernel_base;
  return (int)sr__isa() + 1;
}

/* Lists of a tile over [begin, end) are those of all rows in that order. */
static void check_tile(const points *p, const sr__point_blocks *blocks,
                       const sr__tile_kernel *kernel, int count, int64_t begin, int64_t end) {
  enum { K = 7 };
  double distance[SR__QUERY_TILE][K];
  int32_t place[SR__QUERY_TILE][K];
  sr__query_tile tile = {.count = count};
  tile.line = malloc((size_t)p->dimension * SR__QUERY_TILE * sizeof *tile.line);
  for (int q = 0; q < count; q++) {
    tile.query[q] = p->x + (int64_t)(5 * q) * p->dimension;
    tile.own_place[q] = 5 * q;
    tile.list[q] = (sr__knn_list){K, distance[q], place[q], NULL, 5 * q};
    sr__knn_list_clear(tile.list[q]);
  }
  kernel->begin(&tile, blocks);
  kernel->scan(&tile, blocks, begin, end);
  for (int q = 0; q < count; q++) {
    double least[K];
    int32_t at[K];
    sr__knn_list list = {K, least, at, NULL, 5 * q};
    sr__knn_list_clear(list);
    for (int64_t i = begin; i < end; i++)
      if (i != 5 * q) sr__knn_list_offer(list, points_distance(p, 5 * q, i), (int32_t)i);
    assert_memory_equal(place[q], at, sizeof at);
    assert_memory_equal(distance[q], least, sizeof least);
  }
  free(tile.line);
}

/* Spans that begin and end anywhere in a block, full and short tiles, lists that stay short. */
static void tiles_are_alike_at_every_level(void **state) {
  (void)state;
  enum { N = 210 };
  static const int64_t spans[][2] = {{0, N},   {3, 5},   {16, 48}, {31, 32},
                                     {40, 40}, {7, 203}, {192, N}, {193, 209}};
  sr_context *ctx = test_context(1);
  const sr__tile_kernel *kernel[SR__ISA_LEVELS];
  int levels = tile_kernels(kernel);
  for (int kind = 0; kind < ALL_KINDS; kind++) {
    points p = make_points((points_kind)kind, N, 5 + 7 * (kind % 3), 600 + (uint64_t)kind);
    sr__point_blocks blocks = {0};
    assert_ok(ctx, sr__point_blocks_new(ctx, p.x, N, p.dimension, NULL, &blocks));
    for (int level = 0; level < levels; level++)
      for (int s = 0; s < 8; s++)
        check_tile(&p, &blocks, kernel[level], 1 + (s + kind) % SR__QUERY_TILE, spans[s][0],
                   spans[s][1]);
    sr__point_blocks_free(ctx, &blocks);
    free(p.x);
  }
  sr_context_free(&ctx);
}

static void equal_rows_are_one_kind(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr__equal_rows equal = {0};
  const float x[] = {1, 2, 0, 5, 1, 2, -0.0f, 5, 3, 3, 1, 2};
  const int32_t kind[] = {0, 1, 0, 1, 2, 0}, first[] = {0, 3, 5, 6}, member[] = {0, 2, 5, 1, 3, 4};
  assert_ok(ctx, sr__equal_rows_find(ctx, x, 6, 2, &equal));
  assert_int_equal(equal.kinds, 3);
  assert_memory_equal(equal.kind, kind, sizeof kind);
  assert_memory_equal(equal.first, first, sizeof first);
  assert_memory_equal(equal.member, member, sizeof member);
  sr__equal_rows_free(ctx, &equal);
  sr_context_free(&ctx);
}

/* Lists name distinct places, and the recall on the sample is near the recall on all points. */
static void clustered_lists_have_their_recall(void **state) {
  (void)state;
  enum { N = 3000, K = 10 };
  sr_context *ctx = test_context(2);
  for (int kind = 0; kind < POINT_KINDS; kind++) {
    points p = make_points((points_kind)kind, N, 12, 40 + (uint64_t)kind);
    sr__knn knn = {0}, exact = {0};
    assert_ok(ctx, sr__knn_clustered(ctx, p.x, N, 12, K, 1, &knn));
    assert_ok(ctx, knn_all_pairs(ctx, p.x, N, 12, K, &exact));
    int64_t found = 0;
    for (int64_t place = 0; place < N; place++) {
      const int32_t *truth = exact.neighbor + (int64_t)knn.row[place] * K;
      for (int s = 0; s < K; s++) {
        int32_t row = knn.row[knn.neighbor[place * K + s]];
        assert_int_not_equal(row, knn.row[place]);
        for (int t = 0; t < K; t++) found += truth[t] == row;
        for (int t = 0; t < s; t++)
          assert_int_not_equal(knn.neighbor[place * K + s], knn.neighbor[place * K + t]);
      }
    }
    double recall = (double)found / (N * K);
    assert_true(recall > 0.9);
    /* 252 lists of ten: three standard errors of a share near 0.95 are below 0.03. */
    assert_true(fabs(recall - knn.recall) < 0.03);
    sr__knn_free(ctx, &knn);
    sr__knn_free(ctx, &exact);
    free(p.x);
  }
  sr_context_free(&ctx);
}

/* Rows of a few kinds, some thrown far away: centers then hold a row or two, or none, while nearly
 * all true neighbors are copies in the own cluster. */
static points make_copies(int64_t rows, int32_t dimension, int32_t kinds, double lonely,
                          uint64_t unit) {
  points made = {rows, dimension, malloc((size_t)(rows * dimension) * sizeof(float))};
  sr__random random;
  sr__random_init(&random, 22, SR_PURPOSE_TEST, 0, unit);
  for (int64_t i = 0; i < rows; i++) {
    bool far = sr__random_uniform(&random) < lonely;
    int64_t kind = (int64_t)sr__random_below(&random, (uint64_t)kinds);
    for (int32_t j = 0; j < dimension; j++)
      made.x[i * dimension + j] =
          far ? (float)(1e3 * sr__random_normal(&random)) : (float)((kind * (j + 3)) % 7);
  }
  return made;
}

static void copies_leave_no_list_short(void **state) {
  (void)state;
  const int32_t kinds[] = {1, 2, 3, 3}, ks[] = {1, 10, 25};
  const double lonely[] = {0, 0.005, 0.03};
  sr_context *ctx = test_context(2);
  for (int c = 0; c < 36; c++) {
    int64_t rows = c % 2 ? 500 : 3000;
    int32_t k = ks[c / 12];
    points p = make_copies(rows, 9, kinds[c % 4], lonely[c / 4 % 3], (uint64_t)c);
    sr__knn knn = {0};
    sr_graph *graph = NULL;
    assert_ok(ctx, sr__knn_clustered(ctx, p.x, rows, 9, k, 1 + (uint64_t)c, &knn));
    for (int64_t e = 0; e < rows * k; e++) {
      assert_in_range(knn.neighbor[e], 0, rows - 1);
      assert_int_not_equal(knn.neighbor[e], e / k);
      for (int64_t other = e / k * k; other < e; other++)
        assert_int_not_equal(knn.neighbor[e], knn.neighbor[other]);
    }
    assert_ok(ctx, sr__graph_from_knn(ctx, &knn, "features", &graph));
    if (rows == 500) graph_check_invariants(sr_graph_get(graph));
    sr_graph_free(&graph);
    free(p.x);
  }
  sr_context_free(&ctx);
}

/* Exact lists of the same rows, against brute force. */
static void copies_are_taken_by_nearness_in_the_file(void **state) {
  (void)state;
  int32_t all[400];
  sr_context *ctx = test_context(2);
  for (int c = 0; c < 24; c++) {
    int64_t rows = 40 + 25 * (c % 12);
    int32_t k = c % 3 ? 10 : 30;
    points p = make_copies(rows, 9, 1 + c % 5 * 7, c % 4 * 0.1, 100 + (uint64_t)c);
    sr__knn knn = {0};
    assert_ok(ctx, knn_all_pairs(ctx, p.x, rows, 9, k, &knn));
    for (int64_t i = 0; i < rows; i++) {
      brute_force(&p, i, all);
      assert_memory_equal(knn.neighbor + i * k, all, (size_t)k * sizeof *all);
    }
    sr__knn_free(ctx, &knn);
    free(p.x);
  }
  sr_context_free(&ctx);
}

/* Near clusters of the distinct rows: every row has its own copies, nearest in the file first, and
 * lists are nearly those of brute force. */
static void copies_are_merged_before_clusters_are_made(void **state) {
  (void)state;
  enum { N = 2400, K = 10 };
  static const int32_t kinds[] = {1, 3, 40, 700};
  const int threads[] = {1, 3};
  int32_t all[N];
  for (int c = 0; c < 4; c++) {
    points p = make_copies(N, 12, kinds[c], 0.05, 300 + (uint64_t)c);
    sr__knn knn[2] = {0};
    for (int t = 0; t < 2; t++) {
      sr_context *ctx = test_context(threads[t]);
      sr__equal_rows equal = {0};
      assert_ok(ctx, sr__equal_rows_find(ctx, p.x, N, 12, &equal));
      assert_true(equal.kinds < N);
      assert_ok(ctx, sr__knn_clustered_kinds(ctx, p.x, &equal, 12, K, 3, &knn[t]));
      sr__equal_rows_free(ctx, &equal);
      sr_context_free(&ctx);
    }
    assert_memory_equal(knn[0].neighbor, knn[1].neighbor, (size_t)(N * K) * sizeof(int32_t));
    int64_t found = 0, asked = 0;
    for (int64_t i = 0; i < N; i += 7) {
      brute_force(&p, i, all);
      for (int s = 0; s < K; s++, asked++) {
        bool listed = false;
        for (int t = 0; t < K; t++) listed |= knn[0].neighbor[i * K + t] == all[s];
        if (points_distance(&p, i, all[s]) == 0.0) assert_true(listed);
        found += listed;
      }
    }
    assert_true((double)found > 0.9 * (double)asked);
    sr_context *ctx = test_context(1);
    for (int t = 0; t < 2; t++) sr__knn_free(ctx, &knn[t]);
    sr_context_free(&ctx);
    free(p.x);
  }
}

static void clusters_do_not_see_threads(void **state) {
  (void)state;
  points p = make_points(CLUSTERED, 20000, 10, 60);
  const int threads[] = {1, 2, 8};
  sr_graph *graph[3] = {NULL};
  for (int t = 0; t < 3; t++) {
    sr_context *ctx = test_context(threads[t]);
    sr__knn knn = {0};
    assert_ok(ctx, sr__knn_clustered(ctx, p.x, p.rows, p.dimension, 10, 7, &knn));
    assert_ok(ctx, sr__graph_from_knn(ctx, &knn, "features", &graph[t]));
    sr_context_free(&ctx);
  }
  graph_check_invariants(sr_graph_get(graph[0]));
  assert_true(sr_graph_get(graph[0])->recall == sr_graph_get(graph[2])->recall);
  for (int t = 1; t < 3; t++) graph_check_equal(sr_graph_get(graph[0]), sr_graph_get(graph[t]));
  for (int t = 0; t < 3; t++) sr_graph_free(&graph[t]);
  free(p.x);
}

/* ---- the builder -------------------------------------------------------------------------- */

static const char *const colors[] = {"red", "green", "blue"};

/* Two numbers with gaps, a constant, a color. */
typedef struct mixed_table {
  float x[4 * 60];
  sr_dictionary categories[4];
  sr_table_view view;
} mixed_table;

static void make_mixed(mixed_table *mixed) {
  sr__random random;
  sr__random_init(&random, 23, SR_PURPOSE_TEST, 0, 0);
  memset(mixed->categories, 0, sizeof mixed->categories);
  mixed->categories[3] = (sr_dictionary){3, colors};
  for (int i = 0; i < 60; i++) {
    mixed->x[i] = (float)(100.0 + 5.0 * sr__random_normal(&random));
    mixed->x[60 + i] = i % 9 ? (float)sr__random_normal(&random) : NAN;
    mixed->x[120 + i] = 3.0f;
    mixed->x[180 + i] = i % 10 ? (float)(i % 3) : NAN;
  }
  mixed->view =
      (sr_table_view){.rows = 60, .features = 4, .x = mixed->x, .categories = mixed->categories};
}

/* Standardized by hand: the mean of a column is 0, its variance 1; gaps are 0; colors are one
 * column each, and two random colors are sqrt(2) apart on average in the square. */
static void features_are_made_comparable(void **state) {
  (void)state;
  static mixed_table mixed;
  make_mixed(&mixed);
  sr_context *ctx = test_context(1);
  sr__features features = {0};
  assert_ok(ctx, sr__features_standardize(ctx, &mixed.view, &features));
  assert_int_equal(features.columns, 5);
  for (int j = 0; j < 2; j++) {
    double sum = 0, square = 0;
    int known = 0;
    for (int i = 0; i < 60; i++) {
      double value = features.x[i * 5 + j];
      if (isnan(mixed.x[j * 60 + i])) assert_true(value == 0);
      known += !isnan(mixed.x[j * 60 + i]);
      sum += value;
      square += value * value;
    }
    assert_close(sum / known, 0, 1e-6);
    assert_close(square / known, 1, 1e-6);
  }
  double total = 0;
  int pairs = 0;
  for (int a = 0; a < 60; a++) {
    for (int b = 0; b < 60; b++) {
      if (a % 10 == 0 || b % 10 == 0) continue;
      for (int c = 2; c < 5; c++)
        total += pow((double)features.x[a * 5 + c] - features.x[b * 5 + c], 2);
      pairs++;
    }
  }
  assert_close(total / pairs, 2.0, 1e-6);
  sr__features_free(ctx, &features);
  sr_context_free(&ctx);
}

static void check_features_graph(sr_context *ctx, const sr_table_view *view, int32_t k) {
  sr__features features = {0};
  sr_graph *graph = NULL;
  assert_ok(ctx, graph_build_view(ctx, view, graph_text("features", k), &graph));
  assert_ok(ctx, sr__features_standardize(ctx, view, &features));
  points p = {view->rows, (int32_t)features.columns, features.x};
  int64_t n = view->rows;
  bool *joined = calloc((size_t)(n * n), sizeof *joined);
  int32_t *all = malloc((size_t)n * sizeof *all);
  for (int64_t i = 0; i < n; i++) {
    brute_force(&p, i, all);
    for (int32_t s = 0; s < k; s++) joined[i * n + all[s]] = joined[all[s] * n + i] = true;
  }
  graph_check_invariants(sr_graph_get(graph));
  for (int64_t a = 0; a < n * n; a++)
    assert_int_equal(joined[a], graph_find_arc(sr_graph_get(graph), a / n, a % n) >= 0);
  free(joined);
  free(all);
  sr__features_free(ctx, &features);
  sr_graph_free(&graph);
}

static void feature_graphs_join_nearest(void **state) {
  (void)state;
  static mixed_table mixed;
  make_mixed(&mixed);
  sr_context *ctx = test_context(2);
  check_features_graph(ctx, &mixed.view, 4);
  float wide[12 * 80];
  points p = make_points(NORMAL, 80, 12, 70);
  for (int i = 0; i < 80; i++) {
    for (int j = 0; j < 12; j++) wide[j * 80 + i] = i % 11 ? p.x[i * 12 + j] : NAN;
  }
  sr_table_view view = {.rows = 80, .features = 12, .x = wide};
  check_features_graph(ctx, &view, 10);
  free(p.x);
  float constant[] = {1, 1, 1};
  view = (sr_table_view){.rows = 3, .features = 1, .x = constant};
  sr_graph *graph = NULL;
  assert_int_equal(graph_build_view(ctx, &view, "features", &graph), SR_ERROR_DATA);
  sr_context_free(&ctx);
}

/* ---- weights ------------------------------------------------------------------------------ */

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* exp(-d^2 / 2 s^2) with s^2 the median squared length, by sorting. */
static void rbf_weights_follow_the_median(void **state) {
  (void)state;
  double xy[2 * 90], lengths[90 * 90];
  sr__random random;
  sr__random_init(&random, 25, SR_PURPOSE_TEST, 0, 0);
  for (int i = 0; i < 180; i++) xy[i] = sr__random_normal(&random);
  xy[1] = xy[0];
  xy[91] = xy[90]; /* two rows in one place: length 0, weight 1 */
  sr_table_view view = {.rows = 90, .coordinate_count = 2, .coordinates = xy};
  sr_context *ctx = test_context(2);
  sr_graph *graph = NULL;
  assert_ok(ctx, graph_build_view(ctx, &view, "space:weights=rbf", &graph));
  const sr_graph_view *g = sr_graph_get(graph);
  graph_check_invariants(g);
  int64_t positive = 0;
  for (int64_t i = 0; i < 90; i++) {
    for (int64_t a = g->offset[i]; a < g->offset[i + 1]; a++) {
      double dx = xy[i] - xy[g->neighbor[a]], dy = xy[90 + i] - xy[90 + g->neighbor[a]];
      if (dx * dx + dy * dy > 0) lengths[positive++] = dx * dx + dy * dy;
    }
  }
  qsort(lengths, (size_t)positive, sizeof *lengths, compare_doubles);
  double median = lengths[(positive - 1) / 2];
  for (int64_t i = 0; i < 90; i++) {
    for (int64_t a = g->offset[i]; a < g->offset[i + 1]; a++) {
      double dx = xy[i] - xy[g->neighbor[a]], dy = xy[90 + i] - xy[90 + g->neighbor[a]];
      assert_close(g->weight[a], exp(-(dx * dx + dy * dy) / (2 * median)), 1e-6);
    }
  }
  assert_true(g->weight[graph_find_arc(g, 0, 1)] == 1.0f);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
}

/* A weighted window graph is no pure window graph any more. */
static void weighted_windows_lose_their_closed_form(void **state) {
  (void)state;
  static mixed_table mixed;
  make_mixed(&mixed);
  sr_context *ctx = test_context(1);
  sr_graph *graph = NULL;
  assert_ok(ctx, graph_build_view(ctx, &mixed.view, "time:tau=3,weights=rbf", &graph));
  assert_int_equal(sr_graph_get(graph)->window, 0);
  assert_int_equal(sr_graph_get(graph)->runs, 0);
  graph_check_invariants(sr_graph_get(graph));
  assert_non_null(sr_graph_get(graph)->weight);
  sr_graph_free(&graph);
  assert_int_equal(graph_build_view(ctx, &mixed.view, "transition:weights=rbf", &graph),
                   SR_ERROR_NOT_FOUND);
  sr_context_free(&ctx);
}

/* ---- transition --------------------------------------------------------------------------- */

/* Steps of 0 1 0 2 2 1 and, in another group, 2 0: counted by hand. */
static void transitions_are_counted(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const double value[] = {0, 2, 1, 0, NAN, 2, 0, 2, 1};
  const int32_t group[] = {0, 1, 0, 0, 1, 0, 1, 0, 0};
  sr__transition_graph transition = {0};
  assert_ok(ctx, sr__transition_graph_count(ctx, value, 9, group, 3, 1, &transition));
  const sr_graph_view *view = sr_graph_get(transition.graph);
  graph_check_invariants(view);
  assert_int_equal(view->nodes, 3);
  /* group 0: 0 1 0 2 2 1; group 1: 2 nan 0, which has no step. */
  assert_true(view->weight[graph_find_arc(view, 0, 1)] == 2.0f);
  assert_true(view->weight[graph_find_arc(view, 0, 2)] == 1.0f);
  assert_true(view->weight[graph_find_arc(view, 1, 2)] == 1.0f);
  assert_true(transition.stay[0] == 0 && transition.stay[1] == 0 && transition.stay[2] == 2);
  const int32_t cells[] = {0, 2, 1, 0, -1, 2, 0, 2, 1};
  assert_memory_equal(transition.cell, cells, sizeof cells);
  sr__transition_graph_free(ctx, &transition);
  assert_ok(ctx, sr__transition_graph_count(ctx, value, 9, NULL, 3, 2, &transition));
  /* lag 2 without groups: 0-1, 2-0, 1-nan, 0-2, nan-0, 2-2, 0-1. */
  view = sr_graph_get(transition.graph);
  assert_true(view->weight[graph_find_arc(view, 0, 1)] == 2.0f);
  assert_true(view->weight[graph_find_arc(view, 0, 2)] == 2.0f);
  assert_true(transition.stay[2] == 2);
  sr__transition_graph_free(ctx, &transition);
  assert_int_equal(sr__transition_graph_count(ctx, value, 9, NULL, 1, 1, &transition),
                   SR_ERROR_ARGUMENT);
  assert_int_equal(sr__transition_graph_count(ctx, value, 9, NULL, 3, 9, &transition),
                   SR_ERROR_ARGUMENT);
  assert_int_equal(sr__transition_graph_count(ctx, value + 4, 1, NULL, 3, 1, &transition),
                   SR_ERROR_ARGUMENT);
  sr_context_free(&ctx);
}

/* Without ties every cell holds its share, and the steps add up to both directions of all. */
static void cells_hold_equal_shares(void **state) {
  (void)state;
  enum { N = 10000, CELLS = 64 };
  double *value = malloc(N * sizeof *value);
  int64_t size[CELLS] = {0};
  sr__random random;
  sr__random_init(&random, 27, SR_PURPOSE_TEST, 0, 0);
  for (int i = 0; i < N; i++) value[i] = sr__random_normal(&random);
  sr_context *ctx = test_context(1);
  sr__transition_graph transition = {0};
  assert_ok(ctx, sr__transition_graph_count(ctx, value, N, NULL, CELLS, 1, &transition));
  for (int i = 0; i < N; i++) size[transition.cell[i]]++;
  for (int c = 0; c < CELLS; c++) assert_true(size[c] == N / CELLS || size[c] == N / CELLS + 1);
  const sr_graph_view *view = sr_graph_get(transition.graph);
  double steps = 0;
  for (int64_t a = 0; a < view->arcs; a++) steps += view->weight[a];
  for (int64_t c = 0; c < view->nodes; c++) steps += transition.stay[c];
  assert_true(steps == 2.0 * (N - 1));
  sr__transition_graph_free(ctx, &transition);
  sr_context_free(&ctx);
  free(value);
}

/* ---- memory ------------------------------------------------------------------------------- */

static sr_status build_once(sr_context *ctx, void *data) {
  static mixed_table mixed;
  make_mixed(&mixed);
  sr_graph *graph = NULL;
  sr_status status = graph_build_view(ctx, &mixed.view, data, &graph);
  sr_graph_free(&graph);
  return status;
}

static sr_status search_once(sr_context *ctx, void *data) {
  const points *p = data;
  sr__knn knn = {0};
  sr_status status = sr__knn_clustered(ctx, p->x, p->rows, p->dimension, 3, 1, &knn);
  sr__knn_free(ctx, &knn);
  if (status == SR_OK) status = knn_all_pairs(ctx, p->x, p->rows, p->dimension, 3, &knn);
  sr__knn_free(ctx, &knn);
  return status;
}

static sr_status merge_once(sr_context *ctx, void *data) {
  const points *p = data;
  sr__knn knn = {0};
  sr__equal_rows equal = {0};
  sr_status status = sr__equal_rows_find(ctx, p->x, p->rows, p->dimension, &equal);
  if (status == SR_OK)
    status = sr__knn_clustered_kinds(ctx, p->x, &equal, p->dimension, 3, 1, &knn);
  sr__knn_free(ctx, &knn);
  sr__equal_rows_free(ctx, &equal);
  return status;
}

static void allocations_may_fail(void **state) {
  (void)state;
  char features[] = "features:weights=rbf", time[] = "time:weights=rbf",
       transition[] = "transition";
  test_every_allocation(build_once, features);
  test_every_allocation(build_once, time);
  test_every_allocation(build_once, transition);
  points p = make_points(CLUSTERED, 450, 9, 80);
  test_every_allocation(search_once, &p);
  points copies = make_copies(60, 9, 5, 0.1, 400);
  test_every_allocation(merge_once, &copies);
  free(copies.x);
  free(p.x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_pairs_are_exact),
      cmocka_unit_test(all_pairs_do_not_see_level_or_threads),
      cmocka_unit_test(tiles_are_alike_at_every_level),
      cmocka_unit_test(equal_rows_are_one_kind),
      cmocka_unit_test(clustered_lists_have_their_recall),
      cmocka_unit_test(copies_leave_no_list_short),
      cmocka_unit_test(copies_are_taken_by_nearness_in_the_file),
      cmocka_unit_test(copies_are_merged_before_clusters_are_made),
      cmocka_unit_test(clusters_do_not_see_threads),
      cmocka_unit_test(features_are_made_comparable),
      cmocka_unit_test(feature_graphs_join_nearest),
      cmocka_unit_test(rbf_weights_follow_the_median),
      cmocka_unit_test(weighted_windows_lose_their_closed_form),
      cmocka_unit_test(transitions_are_counted),
      cmocka_unit_test(cells_hold_equal_shares),
      cmocka_unit_test(allocations_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
