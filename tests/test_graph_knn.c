/* Nearest neighbors against brute force: ties, repeated points, clusters, every thread count. */
#include "core/random.h"
#include "graph/leaf_kernel.h"
#include "graph/visit_kernel.h"
#include "graph_check.h"

/* ---- brute force -------------------------------------------------------------------------- */

typedef struct cloud {
  int64_t rows;
  int32_t dimension;
  double *x; /* column-major */
} cloud;

typedef enum cloud_kind {
  UNIFORM,
  LATTICE,
  CLUSTERS,
  CONSTANT,
  LINE,
  FEW_VALUES,
  FAR_AWAY,   /* on a fine raster, far from the origin */
  ALL_SCALES, /* from 2^-30 to 2^30 */
  HALF_CLUMP, /* two rows in three on one spot */
  KINDS
} cloud_kind;

static cloud make_cloud(cloud_kind kind, int64_t rows, int32_t dimension, uint64_t unit) {
  cloud made = {rows, dimension, malloc((size_t)(rows * dimension + 1) * sizeof(double))};
  sr__random random;
  sr__random_init(&random, 11, SR_PURPOSE_TEST, 0, unit);
  for (int32_t j = 0; j < dimension; j++) {
    for (int64_t i = 0; i < rows; i++) {
      double u = sr__random_uniform(&random), value = u;
      if (kind == LATTICE) value = floor(u * 7);
      if (kind == CLUSTERS) value = (double)(i % 5) * 1e3 + u * (i % 3 ? 1.0 : 1e-6);
      if (kind == CONSTANT) value = 4.25;
      if (kind == LINE) value = j ? -1.0 : (double)(i / 3);
      if (kind == FEW_VALUES) value = i % 2 ? 1.0 : -3.0;
      if (kind == FAR_AWAY) value = 1e9 + floor(u * 20) * 0.1;
      if (kind == ALL_SCALES) value = ldexp(u, (int)(i % 61) - 30);
      if (kind == HALF_CLUMP) value = i % 3 ? 0.5 : u;
      made.x[j * rows + i] = value;
    }
  }
  return made;
}

static double cloud_distance(const cloud *c, int64_t a, int64_t b) {
  double sum = 0;
  for (int32_t j = 0; j < c->dimension; j++) {
    double gap = c->x[j * c->rows + a] - c->x[j * c->rows + b];
    sum += gap * gap;
  }
  return sum;
}

static const cloud *sorted_cloud;
static int64_t sorted_row;

/* Nearest first; equal distances by nearness in the file, then by the lower row. */
static int nearer(const void *left, const void *right) {
  int64_t a = *(const int32_t *)left, b = *(const int32_t *)right;
  double da = cloud_distance(sorted_cloud, sorted_row, a);
  double db = cloud_distance(sorted_cloud, sorted_row, b);
  if (da != db) return da < db ? -1 : 1;
  if (llabs(a - sorted_row) != llabs(b - sorted_row))
    return llabs(a - sorted_row) < llabs(b - sorted_row) ? -1 : 1;
  return a < b ? -1 : 1;
}

static void brute_force(const cloud *c, int64_t row, int32_t *all) {
  int64_t count = 0;
  for (int64_t i = 0; i < c->rows; i++) {
    if (i != row) all[count++] = (int32_t)i;
  }
  sorted_cloud = c;
  sorted_row = row;
  qsort(all, (size_t)count, sizeof *all, nearer);
}

/* ---- the tree ----------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Lists hold the right rows, in any order. */
static void check_lists(const cloud *c, const sr__knn *knn, int64_t step) {
  int32_t *all = malloc((size_t)c->rows * sizeof *all);
  int32_t *found = malloc((size_t)knn->k * sizeof *found);
  for (int64_t p = 0; p < knn->count; p += step) {
    brute_force(c, knn->row[p], all);
    for (int32_t s = 0; s < knn->k; s++) found[s] = knn->row[knn->neighbor[p * knn->k + s]];
    qsort(all, (size_t)knn->k, sizeof *all, by_number);
    qsort(found, (size_t)knn->k, sizeof *found, by_number);
    assert_memory_equal(found, all, (size_t)knn->k * sizeof *found);
  }
  free(found);
  free(all);
}

static void tree_lists_are_exact(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  const int64_t sizes[] = {2, 9, 33, 64, 65, 257, 400, 2100};
  for (int kind = 0; kind < KINDS; kind++) {
    for (int size = 0; size < 8; size++) {
      int32_t dimension = 1 + (kind + size) % SR__KDTREE_DIMENSIONS;
      cloud c = make_cloud((cloud_kind)kind, sizes[size], dimension, (uint64_t)(kind * 8 + size));
      const int32_t ks[] = {1, 5, 8, 30};
      for (int t = 0; t < 4; t++) {
        if (ks[t] >= c.rows) continue;
        sr__knn knn = {0};
        sr__points points = {.rows = c.rows, .dimension = dimension, .column = c.x};
        assert_ok(ctx, sr__knn_tree(ctx, &points, ks[t], &knn));
        check_lists(&c, &knn, 1 + c.rows / 50);
        sr__knn_free(ctx, &knn);
      }
      free(c.x);
    }
  }
  sr_context_free(&ctx);
}

/* The kernels of all levels that this processor has, lowest first. */
static int leaf_kernels(const sr__leaf_kernel *kernel[SR__ISA_LEVELS]) {
#if defined(__x86_64__)
  kernel[SR__ISA_V3] = &sr__leaf_kernel_v3;
  kernel[SR__ISA_V4] = &sr__leaf_kernel_v4;
#endif
  kernel[SR__ISA_BASE] = &sr__leaf_kernel_base;
  return (int)sr__isa() + 1;
}

/* Every row stands at one place, and the box of every node that has one is that of its points. */
static void check_tree(const cloud *c, const sr__kdtree *tree) {
  char *seen = calloc((size_t)c->rows, 1);
  for (int64_t p = 0; p < c->rows; p++) assert_false(seen[tree->row[p]]++);
  free(seen);
  for (int level = tree->levels; level >= 0; level -= SR__KDTREE_STEP)
    for (int64_t node = 0; node < INT64_C(1) << level; node++)
      for (int32_t j = 0; j < tree->dimension; j++) {
        const double *group = sr__kdtree_group(tree, level, node) + node % SR__KDTREE_GROUP;
        double low = INFINITY, high = -INFINITY;
        int64_t begin = sr__kdtree_begin(tree, level, node);
        int64_t end = sr__kdtree_begin(tree, level, node + 1);
        for (int64_t p = begin; p < end; p++) {
          low = fmin(low, c->x[j * c->rows + tree->row[p]]);
          high = fmax(high, c->x[j * c->rows + tree->row[p]]);
        }
        assert_true(group[j * SR__KDTREE_GROUP] == low);
        assert_true(group[(tree->dimension + j) * SR__KDTREE_GROUP] == high);
      }
}

/* Whatever the level decides of a leaf is right; what is left open goes to another search. */
static void every_level_decides_alike(void **state) {
  (void)state;
  enum { N = 700, MOST = 16 };
  static const int32_t ks[] = {1, 4, 7, 8, 10, 13, 16};
  sr_context *ctx = test_context(1);
  const sr__leaf_kernel *kernel[SR__ISA_LEVELS];
  sr__leaf_search *scratch = malloc(sizeof *scratch);
  int levels = leaf_kernels(kernel), decided = 0;
  int32_t *all = malloc(N * sizeof *all), *neighbor = malloc(N * MOST * sizeof *neighbor);
  for (int kind = 0; kind < KINDS; kind++)
    for (int32_t dimension = 1; dimension <= SR__LEAF_AXES; dimension++) {
      if (kind == CONSTANT) continue; /* has no scale */
      cloud c = make_cloud((cloud_kind)kind, N - kind, dimension, 300 + (uint64_t)kind);
      int32_t k = ks[(kind + dimension) % 7];
      sr__points points = {.rows = c.rows, .dimension = dimension, .column = c.x};
      sr__kdtree tree = {0};
      double widest = 0.0;
      for (int64_t i = 0; i < c.rows * dimension; i++) widest = fmax(widest, fabs(c.x[i]));
      double *room = malloc((size_t)(c.rows * (dimension + 1)) * sizeof *room);
      assert_ok(ctx, sr__kdtree_build(ctx, &points, room, &tree));
      free(room);
      check_tree(&c, &tree);
      for (int level = 0; level < levels; level++)
        for (int64_t leaf = 0; leaf < INT64_C(1) << tree.levels; leaf++) {
          int64_t begin = sr__kdtree_begin(&tree, tree.levels, leaf);
          int64_t end = sr__kdtree_begin(&tree, tree.levels, leaf + 1);
          uint32_t open =
              kernel[level]->search(&tree, ldexp(1.0, -ilogb(widest)), leaf, k, scratch, neighbor);
          for (int64_t p = begin; p < end; p += 3) {
            if (open >> (p - begin) & 1) continue;
            brute_force(&c, tree.row[p], all);
            qsort(all, (size_t)k, sizeof *all, by_number);
            int32_t found[MOST];
            for (int32_t s = 0; s < k; s++) found[s] = tree.row[neighbor[p * k + s]];
            qsort(found, (size_t)k, sizeof *found, by_number);
            assert_memory_equal(found, all, (size_t)k * sizeof *found);
            decided++;
          }
        }
      sr__kdtree_free(ctx, &tree);
      free(c.x);
    }
  assert_true(decided > levels * 3 * N); /* not by leaving all open */
  free(neighbor);
  free(all);
  free(scratch);
  sr_context_free(&ctx);
}

/* The kernels of all levels that this processor has, lowest first. */
static int visit_kernels(const sr__visit_kernel *kernel[SR__ISA_LEVELS]) {
#if defined(__x86_64__)
  kernel[SR__ISA_V3] = &sr__visit_kernel_v3;
  kernel[SR__ISA_V4] = &sr__visit_kernel_v4;
#endif
  kernel[SR__ISA_BASE] = &sr__visit_kernel_base;
  return (int)sr__isa() + 1;
}

/* Every point of every leaf by itself. */
static void walks_are_alike_at_every_level(void **state) {
  (void)state;
  enum { N = 900, K = 6 };
  sr_context *ctx = test_context(1);
  const sr__visit_kernel *kernel[SR__ISA_LEVELS];
  int levels = visit_kernels(kernel);
  int32_t neighbor[N * K];
  double distance[K];
  for (int kind = 0; kind < KINDS; kind++) {
    int32_t dimension = 1 + kind % SR__KDTREE_DIMENSIONS;
    cloud c = make_cloud((cloud_kind)kind, N - kind, dimension, 500 + (uint64_t)kind);
    sr__points points = {.rows = c.rows, .dimension = dimension, .column = c.x};
    sr__knn knn = {.count = c.rows, .k = K, .neighbor = neighbor};
    sr__kdtree tree = {0};
    double *room = malloc((size_t)(c.rows * (dimension + 1)) * sizeof *room);
    assert_ok(ctx, sr__kdtree_build(ctx, &points, room, &tree));
    free(room);
    knn.row = tree.row;
    for (int level = 0; level < levels; level++) {
      memset(neighbor, -1, sizeof neighbor);
      for (int64_t leaf = 0; leaf < INT64_C(1) << tree.levels; leaf++) {
        int64_t begin = sr__kdtree_begin(&tree, tree.levels, leaf);
        int64_t end = sr__kdtree_begin(&tree, tree.levels, leaf + 1);
        kernel[level]->search(&tree, leaf, (uint32_t)((UINT64_C(1) << (end - begin)) - 1), K,
                              distance, neighbor);
      }
      check_lists(&c, &knn, 17);
    }
    sr__kdtree_free(ctx, &tree);
    free(c.x);
  }
  sr_context_free(&ctx);
}

/* Quadratic behavior on repeated or sorted points would take hours here. */
static void degenerate_clouds_stay_quick(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  for (int kind = 0; kind < KINDS; kind++) {
    cloud c = make_cloud((cloud_kind)kind, 60000, 2, 90);
    sr__knn knn = {0};
    sr__points points = {.rows = c.rows, .dimension = 2, .column = c.x};
    assert_ok(ctx, sr__knn_tree(ctx, &points, 6, &knn));
    check_lists(&c, &knn, 30011);
    sr__knn_free(ctx, &knn);
    free(c.x);
  }
  sr_context_free(&ctx);
}

/* ---- the space graph ---------------------------------------------------------------------- */

static sr_graph *space_graph(sr_context *ctx, const cloud *c, int32_t k) {
  sr_table_view table = {.rows = c->rows, .coordinate_count = c->dimension, .coordinates = c->x};
  sr_graph *graph = NULL;
  assert_ok(ctx, graph_build_view(ctx, &table, graph_text("space", k), &graph));
  return graph;
}

static void check_union(const cloud *c, const sr_graph_view *view, int32_t k) {
  bool *joined = calloc((size_t)(c->rows * c->rows), sizeof *joined);
  int32_t *all = malloc((size_t)c->rows * sizeof *all);
  for (int64_t i = 0; i < c->rows; i++) {
    brute_force(c, i, all);
    for (int32_t s = 0; s < k; s++)
      joined[i * c->rows + all[s]] = joined[all[s] * c->rows + i] = true;
  }
  graph_check_invariants(view);
  for (int64_t i = 0; i < c->rows; i++) {
    for (int64_t j = 0; j < c->rows; j++)
      assert_int_equal(joined[i * c->rows + j], graph_find_arc(view, i, j) >= 0);
  }
  free(all);
  free(joined);
}

static void space_joins_nearest_neighbors(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  for (int kind = 0; kind < KINDS; kind++) {
    for (int32_t dimension = 2; dimension <= 3; dimension++) {
      cloud c = make_cloud((cloud_kind)kind, 150, dimension, 100);
      sr_graph *graph = space_graph(ctx, &c, kind == 2 ? 40 : 5);
      check_union(&c, sr_graph_get(graph), kind == 2 ? 40 : 5);
      assert_string_equal(sr_graph_get(graph)->builder, "space");
      assert_true(sr_graph_get(graph)->recall == 1.0);
      sr_graph_free(&graph);
      free(c.x);
    }
  }
  sr_context_free(&ctx);
}

static void threads_change_nothing(void **state) {
  (void)state;
  const int threads[] = {1, 2, 8};
  for (int kind = 0; kind < KINDS; kind++) {
    cloud c = make_cloud((cloud_kind)kind, 40000, 2, 110);
    sr_graph *graph[3];
    for (int t = 0; t < 3; t++) {
      sr_context *ctx = test_context(threads[t]);
      graph[t] = space_graph(ctx, &c, 8);
      sr_context_free(&ctx);
    }
    graph_check_equal(sr_graph_get(graph[0]), sr_graph_get(graph[1]));
    graph_check_equal(sr_graph_get(graph[0]), sr_graph_get(graph[2]));
    for (int t = 0; t < 3; t++) sr_graph_free(&graph[t]);
    free(c.x);
  }
}

static void tiny_tables_get_what_they_can(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  for (int64_t rows = 0; rows < 5; rows++) {
    cloud c = make_cloud(UNIFORM, rows, 2, 120);
    sr_graph *graph = space_graph(ctx, &c, 8);
    assert_int_equal(sr_graph_get(graph)->arcs, rows > 0 ? rows * (rows - 1) : 0);
    sr_graph_free(&graph);
    free(c.x);
  }
  sr_context_free(&ctx);
}

/* Angle between two places, in another way than by points on the sphere (haversines). */
static double great_circle(const double *lon, const double *lat, int i, int j) {
  const double radian = acos(-1.0) / 180.0;
  double up = sin((lat[i] - lat[j]) * radian / 2), along = sin((lon[i] - lon[j]) * radian / 2);
  return 2 * asin(sqrt(up * up + cos(lat[i] * radian) * cos(lat[j] * radian) * along * along));
}

/* Near a pole and on both sides of the date line, degrees say little of who is near. */
static void degrees_are_places_on_the_sphere(void **state) {
  (void)state;
  enum { N = 240, K = 6 };
  sr_context *ctx = test_context(1);
  double place[2 * N], *lon = place, *lat = place + N, draw[2 * N];
  sr_random_uniform(3, 1, 0, 2 * N, draw);
  for (int i = 0; i < N; i++) {
    lon[i] = i % 2 ? 360 * draw[i] - 180 : fmod(175 + 10 * draw[i] + 180, 360) - 180;
    lat[i] = i % 2 ? 70 + 19 * draw[N + i] : 20 * draw[N + i] - 10;
  }
  sr_table_view table = {.rows = N,
                         .coordinate_count = 2,
                         .coordinates = place,
                         .projection = "GEOGCS[\"WGS 84\"]"};
  sr_graph *graph = NULL, *weighed = NULL;
  assert_ok(ctx, graph_build_view(ctx, &table, "space:6", &graph));
  assert_ok(ctx, graph_build_view(ctx, &table, "space:k=6,weights=rbf", &weighed));
  const sr_graph_view *view = sr_graph_get(graph), *weights = sr_graph_get(weighed);
  int nearest[N][K], across = 0;
  for (int i = 0; i < N; i++) {
    bool taken[N] = {false};
    taken[i] = true;
    for (int s = 0; s < K; s++) {
      int best = -1;
      for (int j = 0; j < N; j++)
        if (!taken[j] &&
            (best < 0 || great_circle(lon, lat, i, j) < great_circle(lon, lat, i, best)))
          best = j;
      taken[nearest[i][s] = best] = true;
    }
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      bool joined = false;
      for (int s = 0; s < K; s++) joined |= nearest[i][s] == j || nearest[j][s] == i;
      assert_int_equal(joined, graph_find_arc(view, i, j) >= 0);
      across += joined && fabs(lon[i] - lon[j]) > 180;
    }
  assert_true(across > 20);
  for (int i = 0; i < N; i++) /* of two edges of a row the longer one weighs less */
    for (int s = 1; s < K; s++) {
      int64_t far = graph_find_arc(weights, i, nearest[i][s]),
              near = graph_find_arc(weights, i, nearest[i][s - 1]);
      assert_true(weights->weight[far] <= weights->weight[near]);
    }
  sr_graph_free(&weighed);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
}

static void places_must_be_known(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_graph *graph = NULL;
  double x[] = {1, 2, NAN, 4, 5, 6};
  sr_table_view table = {.rows = 3, .coordinate_count = 2, .coordinates = x};
  assert_int_equal(graph_build_view(ctx, &table, "space", &graph), SR_ERROR_DATA);
  assert_non_null(strstr(sr_context_error(ctx).message, "coordinate 1 of row 2"));
  table.coordinates = NULL;
  assert_int_equal(graph_build_view(ctx, &table, "space", &graph), SR_ERROR_DATA);
  assert_int_equal(graph_build_view(ctx, &table, "space:-3", &graph), SR_ERROR_ARGUMENT);
  sr_context_free(&ctx);
}

static sr_status build_space_once(sr_context *ctx, void *data) {
  const cloud *c = data;
  sr_table_view table = {.rows = c->rows, .coordinate_count = 2, .coordinates = c->x};
  sr_graph *graph = NULL;
  sr_status status = graph_build_view(ctx, &table, "space", &graph);
  sr_graph_free(&graph);
  return status;
}

static void allocations_may_fail(void **state) {
  (void)state;
  cloud c = make_cloud(UNIFORM, 100, 2, 130);
  test_every_allocation(build_space_once, &c);
  free(c.x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tree_lists_are_exact),
      cmocka_unit_test(every_level_decides_alike),
      cmocka_unit_test(walks_are_alike_at_every_level),
      cmocka_unit_test(degenerate_clouds_stay_quick),
      cmocka_unit_test(space_joins_nearest_neighbors),
      cmocka_unit_test(degrees_are_places_on_the_sphere),
      cmocka_unit_test(threads_change_nothing),
      cmocka_unit_test(tiny_tables_get_what_they_can),
      cmocka_unit_test(places_must_be_known),
      cmocka_unit_test(allocations_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
