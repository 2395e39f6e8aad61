/* The graph object, its components and subgraphs, and the builders without a search: time, grid. */
#include "core/random.h"
#include "graph/graph.h"
#include "graph_check.h"

/* ---- random graphs ------------------------------------------------------------------------ */

/* A symmetric 0/1 matrix with about `degree` neighbors a node, as arrays for sr_graph_new. */
typedef struct small_graph {
  int64_t offset[201];
  int32_t neighbor[200 * 200];
  float weight[200 * 200];
  sr_graph_view view;
} small_graph;

static void make_small(small_graph *small, int64_t nodes, double degree, bool weighted,
                       uint64_t unit) {
  static float matrix[200][200];
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_TEST, 0, unit);
  for (int i = 0; i < nodes; i++) {
    matrix[i][i] = 0;
    for (int j = 0; j < i; j++) {
      bool joined = sr__random_uniform(&random) < degree / (double)nodes;
      matrix[i][j] = matrix[j][i] = joined ? 0.5f + (float)sr__random_uniform(&random) : 0.0f;
    }
  }
  int64_t arcs = 0;
  small->offset[0] = 0;
  for (int i = 0; i < nodes; i++) {
    for (int j = 0; j < nodes; j++) {
      if (matrix[i][j] == 0) continue;
      small->neighbor[arcs] = j;
      small->weight[arcs++] = matrix[i][j];
    }
    small->offset[i + 1] = arcs;
  }
  small->view = (sr_graph_view){.nodes = nodes,
                                .arcs = arcs,
                                .offset = small->offset,
                                .neighbor = small->neighbor,
                                .weight = weighted ? small->weight : NULL};
}

/* ---- the object --------------------------------------------------------------------------- */

static void given_graphs_are_copied(void **state) {
  (void)state;
  static small_graph small;
  sr_context *ctx = test_context(2);
  for (uint64_t round = 0; round < 40; round++) {
    make_small(&small, (int64_t)(round * 5), (double)(round % 7), round % 2, round);
    sr_graph *graph = NULL;
    assert_ok(ctx, sr_graph_new(ctx, &small.view, &graph));
    graph_check_equal(sr_graph_get(graph), &small.view);
    graph_check_invariants(sr_graph_get(graph));
    assert_int_equal(sr_graph_get(graph)->window, 0);
    assert_string_equal(sr_graph_get(graph)->builder, "");
    sr_graph_free(&graph);
    assert_null(graph);
  }
  sr_context_free(&ctx);
}

static void expect_refusal(sr_context *ctx, const sr_graph_view *view, const char *words) {
  sr_graph *graph = NULL;
  assert_int_equal(sr_graph_new(ctx, view, &graph), SR_ERROR_ARGUMENT);
  assert_null(graph);
  if (!strstr(sr_context_error(ctx).message, words))
    fail_msg("\"%s\" does not say \"%s\"", sr_context_error(ctx).message, words);
}

/* One fault at a time in the triangle with a tail 0-1, 0-2, 1-2, 2-3. */
static void faults_are_named(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t good_offset[] = {0, 2, 4, 7, 8};
  const int32_t good[] = {1, 2, 0, 2, 0, 1, 3, 2};
  int64_t offset[5];
  int32_t neighbor[8];
  float weight[8];
  sr_graph_view view = {.nodes = 4, .arcs = 8, .offset = offset, .neighbor = neighbor};
#define RESET()                                 \
  do {                                          \
    memcpy(offset, good_offset, sizeof offset); \
    memcpy(neighbor, good, sizeof neighbor);    \
    for (int a = 0; a < 8; a++) weight[a] = 1;  \
    view.nodes = 4;                             \
    view.arcs = 8;                              \
    view.weight = NULL;                         \
  } while (0)
  RESET();
  view.nodes = -1;
  expect_refusal(ctx, &view, "-1 nodes");
  view.nodes = (int64_t)INT32_MAX + 1;
  expect_refusal(ctx, &view, "nodes go from 0");
  RESET();
  view.arcs = 7;
  expect_refusal(ctx, &view, "offsets go from 0 to 8");
  RESET();
  offset[1] = 5;
  expect_refusal(ctx, &view, "offset 2 is 4");
  RESET();
  neighbor[1] = 4;
  expect_refusal(ctx, &view, "neighbor 4 of node 0");
  RESET();
  neighbor[0] = -1;
  expect_refusal(ctx, &view, "neighbor -1");
  RESET();
  neighbor[1] = 1;
  expect_refusal(ctx, &view, "do not increase");
  RESET();
  neighbor[0] = 0;
  expect_refusal(ctx, &view, "its own neighbor");
  RESET();
  neighbor[7] = 1;
  expect_refusal(ctx, &view, "none back");
  RESET();
  view.weight = weight;
  weight[3] = 2;
  expect_refusal(ctx, &view, "weighs 2 one way and 1 back");
  RESET();
  view.weight = weight;
  weight[5] = NAN;
  expect_refusal(ctx, &view, "finite and above 0");
  weight[5] = 0;
  expect_refusal(ctx, &view, "has weight 0");
  RESET();
  view.offset = NULL;
  expect_refusal(ctx, &view, "needs offsets");
#undef RESET
  sr_context_free(&ctx);
}

/* ---- components and subgraphs ------------------------------------------------------------- */

/* Relabels by the smaller of two ends until nothing changes. */
static int64_t slow_components(const sr_graph_view *view, int32_t *label) {
  for (int64_t i = 0; i < view->nodes; i++) label[i] = (int32_t)i;
  for (bool changed = true; changed;) {
    changed = false;
    for (int64_t i = 0; i < view->nodes; i++) {
      for (int64_t a = view->offset[i]; a < view->offset[i + 1]; a++) {
        if (label[view->neighbor[a]] >= label[i]) continue;
        label[i] = label[view->neighbor[a]];
        changed = true;
      }
    }
  }
  int64_t count = 0;
  for (int64_t i = 0; i < view->nodes; i++)
    label[i] = label[i] == i ? (int32_t)count++ : label[label[i]];
  return count;
}

static void components_match_relabeling(void **state) {
  (void)state;
  static small_graph small;
  int32_t component[200], expected[200];
  sr_context *ctx = test_context(2);
  for (uint64_t round = 0; round < 100; round++) {
    make_small(&small, (int64_t)(2 * round), (double)(round % 5) * 0.6, false, 100 + round);
    sr_graph *graph = NULL;
    int64_t count = -1;
    assert_ok(ctx, sr_graph_new(ctx, &small.view, &graph));
    assert_ok(ctx, sr_graph_components(ctx, graph, component, &count));
    assert_int_equal(count, slow_components(&small.view, expected));
    if (round) assert_memory_equal(component, expected, 2 * round * sizeof *component);
    sr_graph_free(&graph);
  }
  sr_context_free(&ctx);
}

/* A ladder longer than a chunk, with rungs cut so that many components span chunk borders. */
static void components_cross_chunks(void **state) {
  (void)state;
  enum { N = 100000 };
  int32_t *group = malloc(N * sizeof *group), *component = malloc(N * sizeof *component);
  for (int i = 0; i < N; i++) group[i] = i % 7;
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
  sr_table_view view = {.rows = N, .group = group, .groups = {7, names}};
  sr_context *ctx = test_context(8);
  sr_graph *graph = NULL;
  int64_t count = 0;
  assert_ok(ctx, graph_build_view(ctx, &view, "time:3", &graph));
  assert_int_equal(sr_graph_get(graph)->window, 0);
  assert_ok(ctx, sr_graph_components(ctx, graph, component, &count));
  assert_int_equal(count, 7);
  for (int i = 0; i < N; i++) assert_int_equal(component[i], i % 7);
  int32_t *largest = NULL;
  assert_ok(ctx, sr__graph_largest(ctx, graph, &largest, &count));
  assert_int_equal(count, N / 7 + 1);
  for (int64_t i = 0; i < count; i++) assert_int_equal(largest[i], 7 * i);
  sr__free(ctx, largest);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
  free(group);
  free(component);
}

static void subgraphs_hold_what_was_chosen(void **state) {
  (void)state;
  static small_graph small;
  sr_context *ctx = test_context(2);
  for (uint64_t round = 0; round < 60; round++) {
    int64_t nodes = (int64_t)(3 * round);
    make_small(&small, nodes, 6, round % 2, 200 + round);
    int32_t chosen[200];
    for (int i = 0; i < nodes; i++) chosen[i] = i;
    sr__random random;
    sr__random_init(&random, 2, SR_PURPOSE_TEST, 0, round);
    if (round % 3) sr__random_shuffle(&random, chosen, nodes);
    int64_t count = round % 3 == 1 ? nodes : nodes / 2;
    sr_graph *graph = NULL, *sub = NULL;
    assert_ok(ctx, sr_graph_new(ctx, &small.view, &graph));
    assert_ok(ctx, sr__graph_extract(ctx, graph, chosen, count, &sub));
    const sr_graph_view *view = sr_graph_get(sub);
    graph_check_invariants(view);
    assert_int_equal(view->nodes, count);
    for (int64_t i = 0; i < count; i++) {
      for (int64_t j = 0; j < count; j++) {
        int64_t here = graph_find_arc(view, i, j);
        int64_t there = graph_find_arc(&small.view, chosen[i], chosen[j]);
        assert_int_equal(here >= 0, there >= 0);
        if (here >= 0 && view->weight) assert_true(view->weight[here] == small.weight[there]);
      }
    }
    sr_graph_free(&sub);
    if (nodes > 1) {
      chosen[1] = chosen[0];
      assert_int_equal(sr__graph_extract(ctx, graph, chosen, 2, &sub), SR_ERROR_ARGUMENT);
      assert_null(sub);
    }
    sr_graph_free(&graph);
  }
  sr_context_free(&ctx);
}

/* ---- time --------------------------------------------------------------------------------- */

/* Joined where the rows' places inside their group are at most tau apart. */
static void check_window(const sr_graph_view *view, const int32_t *group, int64_t rows,
                         int32_t tau) {
  int32_t place[400], next[10] = {0};
  for (int64_t i = 0; i < rows; i++) place[i] = next[group ? group[i] : 0]++;
  graph_check_invariants(view);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < rows; j++) {
      bool joined = i != j && (!group || group[i] == group[j]) && abs(place[i] - place[j]) <= tau;
      assert_int_equal(joined, graph_find_arc(view, i, j) >= 0);
    }
  }
}

static void windows_stay_inside_groups(void **state) {
  (void)state;
  static const char *const names[] = {"a", "b", "c", "d", "e"};
  sr_context *ctx = test_context(2);
  for (int round = 0; round < 60; round++) {
    int32_t group[400];
    int64_t rows = round * 4;
    int kind = round % 3; /* none, contiguous, scattered */
    sr__random random;
    sr__random_init(&random, 3, SR_PURPOSE_TEST, 0, (uint64_t)round);
    for (int64_t i = 0; i < rows; i++)
      group[i] =
          kind == 1 ? (int32_t)(4 - i * 4 / (rows + 1)) : (int32_t)sr__random_below(&random, 5);
    sr_table_view table = {.rows = rows};
    if (kind) {
      table.group = group;
      table.groups = (sr_dictionary){5, names};
    }
    int32_t tau = 1 + round % 6;
    sr_graph *graph = NULL;
    assert_ok(ctx, graph_build_view(ctx, &table, graph_text("time", tau), &graph));
    const sr_graph_view *view = sr_graph_get(graph);
    check_window(view, table.group, rows, tau);
    assert_string_equal(view->builder, "time");
    if (kind < 2) {
      assert_int_equal(view->window, tau);
      assert_int_equal(view->run_offset[0], 0);
      assert_int_equal(view->run_offset[view->runs], rows);
      for (int64_t r = 1; r < view->runs; r++)
        assert_int_not_equal(group[view->run_offset[r]], group[view->run_offset[r] - 1]);
      if (kind == 1 && rows > 8) assert_int_equal(view->runs, 4);
    }
    sr_graph_free(&graph);
  }
  sr_context_free(&ctx);
}

/* ---- grid --------------------------------------------------------------------------------- */

static void check_grid(const sr_graph_view *view, const int64_t *cell, int64_t columns, int32_t k) {
  graph_check_invariants(view);
  for (int64_t i = 0; i < view->nodes; i++) {
    for (int64_t j = 0; j < view->nodes; j++) {
      long dr = labs(cell[i] / columns - cell[j] / columns);
      long dc = labs(cell[i] % columns - cell[j] % columns);
      bool joined = k == 4 ? dr + dc == 1 : (dr <= 1 && dc <= 1 && i != j);
      assert_int_equal(joined, graph_find_arc(view, i, j) >= 0);
    }
  }
}

static void grids_join_lattice_neighbors(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  for (uint64_t round = 0; round < 200; round++) {
    sr__random random;
    sr__random_init(&random, 4, SR_PURPOSE_TEST, 0, round);
    int64_t lines = 1 + (int64_t)sr__random_below(&random, 13);
    int64_t columns = 1 + (int64_t)sr__random_below(&random, round % 2 ? 3 : 13), cell[200],
            rows = 0;
    double kept = round % 4 ? sr__random_uniform(&random) : 1.0;
    for (int64_t c = 0; c < lines * columns; c++) {
      if (sr__random_uniform(&random) < kept) cell[rows++] = c;
    }
    sr_table_view table = {.rows = rows, .grid_rows = lines, .grid_columns = columns, .cell = cell};
    static const char *const texts[] = {"grid", "grid:4", "grid:k=8"};
    sr_graph *graph = NULL;
    assert_ok(ctx, graph_build_view(ctx, &table, texts[round % 3], &graph));
    check_grid(sr_graph_get(graph), cell, columns, round % 3 == 2 ? 8 : 4);
    sr_graph_free(&graph);
  }
  sr_context_free(&ctx);
}

/* An r x c grid has 2rc - r - c edges, and 2(r-1)(c-1) more with diagonals. */
static void large_grids_have_their_edges(void **state) {
  (void)state;
  enum { R = 301, C = 402 };
  int64_t *cell = malloc((size_t)R * C * sizeof *cell);
  for (int64_t c = 0; c < R * C; c++) cell[c] = c;
  sr_table_view table = {.rows = R * C, .grid_rows = R, .grid_columns = C, .cell = cell};
  for (int k = 4; k <= 8; k += 4) {
    sr_graph *graphs[3] = {NULL};
    const int threads[] = {1, 2, 8};
    for (int t = 0; t < 3; t++) {
      sr_context *ctx = test_context(threads[t]);
      assert_ok(ctx, graph_build_view(ctx, &table, graph_text("grid", k), &graphs[t]));
      sr_context_free(&ctx);
    }
    int64_t edges = 2 * R * C - R - C + (k == 8 ? 2 * (R - 1) * (C - 1) : 0);
    assert_int_equal(sr_graph_get(graphs[0])->arcs, 2 * edges);
    for (int t = 1; t < 3; t++) graph_check_equal(sr_graph_get(graphs[t]), sr_graph_get(graphs[0]));
    for (int t = 0; t < 3; t++) sr_graph_free(&graphs[t]);
  }
  free(cell);
}

/* Sea surface on a quarter-degree lattice: 691,150 cells hold water. The neighbors are counted
 * again from a map of the whole lattice. */
static void the_sea_is_a_grid_with_holes(void **state) {
  (void)state;
  const char *path = test_shared_data("sst/oisst_0p25_one_day_global.nc");
  if (!path || !strstr(sr_build_info().features, "netcdf")) skip();
  sr_context *ctx = test_context(2);
  sr_read_options reading;
  sr_read_options_init(&reading);
  sr_table *table = NULL;
  sr_graph *graph = NULL;
  assert_ok(ctx, sr_table_read(ctx, path, &reading, &table));
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, 691150);
  assert_ok(ctx, sr_graph_build(ctx, table, NULL, 1, &graph));
  assert_string_equal(sr_graph_get(graph)->builder, "grid");
  int64_t cells = view->grid_rows * view->grid_columns, arcs = 0, count = 0;
  bool *water = calloc((size_t)cells, sizeof *water);
  int32_t *component = malloc((size_t)view->rows * sizeof *component);
  for (int64_t i = 0; i < view->rows; i++) water[view->cell[i]] = true;
  for (int64_t c = 0; c < cells; c++) {
    if (!water[c]) continue;
    /* The grid goes round the globe: the last column lies beside the first. */
    bool last = (c + 1) % view->grid_columns == 0;
    arcs += 2 * water[last ? c + 1 - view->grid_columns : c + 1];
    if (c + view->grid_columns < cells) arcs += 2 * water[c + view->grid_columns];
  }
  assert_int_equal(sr_graph_get(graph)->arcs, arcs);
  assert_ok(ctx, sr_graph_components(ctx, graph, component, &count));
  /* One ocean and many lakes and inlets. */
  assert_in_range(count, 2, 2000);
  int64_t ocean = 0;
  for (int64_t i = 0; i < view->rows; i++) ocean += component[i] == component[view->rows / 2];
  assert_true(ocean > view->rows * 9 / 10);
  free(component);
  free(water);
  sr_graph_free(&graph);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- options ------------------------------------------------------------------------------ */

static void options_are_checked(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t cell[] = {0, 1, 2};
  sr_table_view table = {.rows = 3, .grid_rows = 1, .grid_columns = 3, .cell = cell};
  const struct {
    const char *text;
    sr_status status;
  } wrong[] = {{"", SR_ERROR_NOT_FOUND},
               {"tim", SR_ERROR_NOT_FOUND},
               {"time:0", SR_ERROR_ARGUMENT},
               {"time:-1", SR_ERROR_ARGUMENT},
               {"time:1x", SR_ERROR_ARGUMENT},
               {"time:k=3", SR_ERROR_NOT_FOUND},
               {"grid:5", SR_ERROR_ARGUMENT},
               {"grid:99999999999", SR_ERROR_ARGUMENT},
               {"none:1", SR_ERROR_ARGUMENT},
               {"edges", SR_ERROR_ARGUMENT},
               {"time:2,3", SR_ERROR_ARGUMENT},
               {"edges:weights=rbf", SR_ERROR_NOT_FOUND},
               {"nothing", SR_ERROR_NOT_FOUND},
               {"transition:weights=rbf", SR_ERROR_NOT_FOUND},
               {"time:weights=x", SR_ERROR_ARGUMENT}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    sr_graph *graph = NULL;
    assert_int_equal(graph_build_view(ctx, &table, wrong[i].text, &graph), wrong[i].status);
    assert_null(graph);
  }
  sr_graph *graph = NULL;
  table.cell = NULL;
  assert_int_equal(graph_build_view(ctx, &table, "grid", &graph), SR_ERROR_DATA);
  assert_null(graph);
  sr_context_free(&ctx);
}

/* Which builder a table gets, and what its neighbors have in common. */
static void tables_choose_their_builder(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t cell[] = {0, 1, 2};
  const double place[] = {0, 1, 2, 3, 4, 5};
  sr_table_view table = {.rows = 3};
  sr_graph *graph = NULL;
  for (int kind = 0; kind < 3; kind++) {
    static const char *const names[] = {"time", "space", "grid"};
    static const sr_graph_relation relations[] = {SR_RELATION_ORDER, SR_RELATION_PLACE,
                                                  SR_RELATION_PLACE};
    if (kind == 1) table.coordinate_count = 2, table.coordinates = place;
    if (kind == 2) table.grid_rows = 1, table.grid_columns = 3, table.cell = cell;
    assert_ok(ctx, graph_build_view(ctx, &table, NULL, &graph));
    assert_string_equal(sr_graph_get(graph)->builder, names[kind]);
    assert_int_equal(sr_graph_get(graph)->relation, relations[kind]);
    sr_graph_free(&graph);
  }
  sr_context_free(&ctx);
}

static void none_has_no_edges(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  int32_t component[50];
  for (int64_t rows = 0; rows <= 50; rows += 25) {
    sr_table_view table = {.rows = rows};
    sr_graph *graph = NULL;
    int64_t count = -1;
    assert_ok(ctx, graph_build_view(ctx, &table, "none", &graph));
    graph_check_invariants(sr_graph_get(graph));
    assert_int_equal(sr_graph_get(graph)->nodes, rows);
    assert_int_equal(sr_graph_get(graph)->arcs, 0);
    assert_int_equal(sr_graph_get(graph)->relation, SR_RELATION_NONE);
    assert_ok(ctx, sr_graph_components(ctx, graph, component, &count));
    assert_int_equal(count, rows);
    sr_graph_free(&graph);
  }
  sr_context_free(&ctx);
}

/* ---- memory ------------------------------------------------------------------------------- */

static sr_status every_object(sr_context *ctx, void *data) {
  const int32_t group[] = {0, 1, 0, 1, 1, 0}, chosen[] = {4, 1, 3};
  static const char *const names[] = {"a", "b"};
  const int64_t cell[] = {0, 1, 3, 4, 6, 8};
  sr_table_view view = {.rows = 6,
                        .group = group,
                        .groups = {2, names},
                        .grid_rows = 3,
                        .grid_columns = 3,
                        .cell = cell};
  sr_status status = SR_OK;
  sr_graph *graph = NULL, *copy = NULL, *sub = NULL;
  int32_t component[6], *largest = NULL;
  int64_t count;
  SR_TRY(graph_build_view(ctx, &view, data, &graph));
  SR_TRY(sr_graph_new(ctx, sr_graph_get(graph), &copy));
  SR_TRY(sr_graph_components(ctx, copy, component, &count));
  SR_TRY(sr__graph_extract(ctx, copy, chosen, 3, &sub));
  SR_TRY(sr__graph_largest(ctx, copy, &largest, &count));
cleanup:
  sr__free(ctx, largest);
  sr_graph_free(&sub);
  sr_graph_free(&copy);
  sr_graph_free(&graph);
  return status;
}

static void allocations_may_fail(void **state) {
  (void)state;
  char time[] = "time", grid[] = "grid", none[] = "none";
  test_every_allocation(every_object, time);
  test_every_allocation(every_object, grid);
  test_every_allocation(every_object, none);
}

/* A lattice of 90 x 45 cells of 4 degrees goes round the globe: the last column lies beside the
 * first. 89 x 45 does not, nor do cells without degrees. */
static void global_grids_wrap(void **state) {
  (void)state;
  enum { COLUMNS = 90, LINES = 45 };
  for (int variant = 0; variant < 6; variant++) {
    sr_context *ctx = test_context(1);
    int64_t columns = variant % 3 == 1 ? COLUMNS - 1 : COLUMNS, n = columns * LINES;
    double *place = malloc(sizeof *place * (size_t)(2 * n));
    int64_t *cell = malloc(sizeof *cell * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
      cell[i] = i;
      place[i] = -178.0 + 4.0 * (double)(i % columns);
      place[n + i] = -88.0 + 4.0 * (double)(i / columns);
    }
    sr_table_view view = {.rows = n,
                          .coordinate_count = 2,
                          .coordinates = place,
                          .grid_rows = LINES,
                          .grid_columns = columns,
                          .cell = cell,
                          .projection = variant % 3 == 2 ? NULL : "GEOGCS[\"WGS 84\"]"};
    sr_table *table = NULL;
    sr_graph *graph = NULL;
    bool eight = variant >= 3;
    assert_ok(ctx, sr_table_new(ctx, &view, &table));
    assert_ok(ctx, sr_graph_build(ctx, table, eight ? "grid:k=8" : "grid", 1, &graph));
    const sr_graph_view *g = sr_graph_get(graph);
    int64_t edges = (columns - 1) * LINES + columns * (LINES - 1);
    if (eight) edges += 2 * (columns - 1) * (LINES - 1);
    if (variant % 3 == 0) edges += eight ? LINES + 2 * (LINES - 1) : LINES;
    assert_int_equal(g->offset[n], 2 * edges);
    for (int64_t i = 0; i < n; i++) {
      bool across = false;
      for (int64_t k = g->offset[i]; k < g->offset[i + 1]; k++) {
        if (k > g->offset[i]) assert_true(g->neighbor[k] > g->neighbor[k - 1]);
        across |= g->neighbor[k] == i + columns - 1;
      }
      if (i % columns == 0) assert_int_equal(across, variant % 3 == 0);
    }
    sr_graph_free(&graph);
    sr_table_free(&table);
    free(place);
    free(cell);
    sr_context_free(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(global_grids_wrap),
      cmocka_unit_test(given_graphs_are_copied),
      cmocka_unit_test(faults_are_named),
      cmocka_unit_test(components_match_relabeling),
      cmocka_unit_test(components_cross_chunks),
      cmocka_unit_test(subgraphs_hold_what_was_chosen),
      cmocka_unit_test(windows_stay_inside_groups),
      cmocka_unit_test(grids_join_lattice_neighbors),
      cmocka_unit_test(large_grids_have_their_edges),
      cmocka_unit_test(the_sea_is_a_grid_with_holes),
      cmocka_unit_test(options_are_checked),
      cmocka_unit_test(tables_choose_their_builder),
      cmocka_unit_test(none_has_no_edges),
      cmocka_unit_test(allocations_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
