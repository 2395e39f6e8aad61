/* Parts against a slow counter, closed forms, and what must hold for every graph. */
#include "core/random.h"
#include "graphs.h"
#include "partition/partition.h"

/* ---- slow references ---------------------------------------------------------------------- */

static int64_t slow_cut(const sr_graph_view *graph, const int32_t *part, double *weight) {
  int64_t edges = 0;
  *weight = 0;
  for (int64_t i = 0; i < graph->nodes; i++) {
    for (int64_t a = graph->offset[i]; a < graph->offset[i + 1]; a++) {
      if (graph->neighbor[a] < i || part[graph->neighbor[a]] == part[i]) continue;
      edges++;
      *weight += graph->weight ? graph->weight[a] : 1;
    }
  }
  return edges;
}

/* All that must hold for any parts; gives the cut. */
static int64_t check_parts(const sr_graph *graph, const sr_parts *parts, int32_t count,
                           bool exact) {
  const sr_graph_view *g = sr_graph_get(graph);
  const sr_parts_view *view = sr_parts_get(parts);
  int64_t *size = calloc((size_t)count, sizeof *size), least = INT64_MAX, most = 0;
  assert_int_equal(view->nodes, g->nodes);
  assert_int_equal(view->parts, count);
  for (int64_t i = 0; i < view->nodes; i++) {
    assert_in_range(view->part[i], 0, count - 1);
    size[view->part[i]]++;
  }
  for (int32_t p = 0; p < count; p++) {
    assert_int_equal(size[p], view->size[p]);
    if (size[p] < least) least = size[p];
    if (size[p] > most) most = size[p];
  }
  assert_true(least > 0);
  if (exact) assert_true(most - least <= 1);
  assert_close(view->balance, (double)most * count / (double)g->nodes, 1e-12);
  double weight;
  int64_t cut = slow_cut(g, view->part, &weight);
  assert_int_equal(cut, view->cut_edges);
  assert_close(weight, view->cut_weight, 1e-9);
  free(size);
  return cut;
}

static sr_parts *make_parts(sr_context *ctx, const sr_graph *graph, int32_t count,
                            sr_parts_mode mode, int refine) {
  sr_parts *parts = NULL;
  sr_parts_options options;
  sr_parts_options_init(&options);
  options.parts = count;
  options.mode = mode;
  options.pure = !refine;
  assert_ok(ctx, sr_parts_compute(ctx, graph, &options, &parts));
  return parts;
}

/* Makes and checks all three ways of cutting; gives the cut of the refined exact one. */
static int64_t check_all_ways(sr_context *ctx, const sr_graph *graph, int32_t count) {
  int64_t nodes = sr_graph_get(graph)->nodes;
  sr_parts *pure = make_parts(ctx, graph, count, SR_PARTS_EXACT, 0);
  sr_parts *refined = make_parts(ctx, graph, count, SR_PARTS_EXACT, 1);
  sr_parts *fast = make_parts(ctx, graph, count, SR_PARTS_FAST, 1);
  check_parts(graph, pure, count, true);
  int64_t cut = check_parts(graph, refined, count, true);
  check_parts(graph, fast, count, false);
  double fair = (double)((nodes + count - 1) / count) * count / (double)nodes;
  assert_true(sr_parts_get(fast)->balance <= (fair > 1.03 ? fair : 1.03) + 1e-9);
  sr_parts_free(&pure);
  sr_parts_free(&refined);
  sr_parts_free(&fast);
  return cut;
}

static test_edges random_edges(uint64_t seed, int64_t nodes, double degree) {
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 11, 0);
  test_edges edges = {.nodes = nodes};
  for (int64_t e = 0; e < (int64_t)(degree * (double)nodes / 2); e++)
    test_add_edge(&edges, (int64_t)sr__random_below(&random, (uint64_t)nodes),
                  (int64_t)sr__random_below(&random, (uint64_t)nodes));
  return edges;
}

/* ---- what must hold for every graph --------------------------------------------------------- */

static void random_graphs_keep_the_invariants(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  for (uint64_t seed = 0; seed < 60; seed++) {
    sr__random random;
    sr__random_init(&random, seed, SR_PURPOSE_TEST, 12, 0);
    int64_t nodes = 1 + (int64_t)sr__random_below(&random, seed < 40 ? 60 : 1500);
    test_edges edges = random_edges(seed, nodes, 0.5 + 6 * sr__random_uniform(&random));
    sr_graph *graph = test_graph(ctx, &edges, seed % 3 == 0);
    int32_t count = 1 + (int32_t)sr__random_below(&random, (uint64_t)nodes);
    if (seed >= 40) count = 1 + count % 40;
    check_all_ways(ctx, graph, count);
    sr_graph_free(&graph);
    test_edges_free(&edges);
  }
  sr_context_free(&ctx);
}

static void one_part_and_all_parts(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  test_edges edges = test_grid(12, 9);
  sr_graph *graph = test_graph(ctx, &edges, false);
  assert_int_equal(check_all_ways(ctx, graph, 1), 0);
  assert_int_equal(check_all_ways(ctx, graph, 108), edges.count);
  sr_graph_free(&graph);
  test_edges_free(&edges);
  sr_context_free(&ctx);
}

static void wrong_numbers_of_parts_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  test_edges edges = test_path(5, 1);
  sr_graph *graph = test_graph(ctx, &edges, false);
  sr_parts *parts = NULL;
  sr_parts_options options;
  sr_parts_options_init(&options);
  options.parts = 6;
  assert_int_equal(sr_parts_compute(ctx, graph, &options, &parts), SR_ERROR_ARGUMENT);
  assert_non_null(strstr(sr_context_error(ctx).message, "6 parts"));
  options.parts = -1;
  assert_int_equal(sr_parts_compute(ctx, graph, &options, &parts), SR_ERROR_ARGUMENT);
  options.parts = 2;
  options.imbalance = -0.5;
  assert_int_equal(sr_parts_compute(ctx, graph, &options, &parts), SR_ERROR_ARGUMENT);
  assert_ok(ctx, sr_parts_compute(ctx, graph, NULL, &parts)); /* the default: min(n, 64) */
  assert_int_equal(sr_parts_get(parts)->parts, 5);
  sr_parts_free(&parts);
  sr_graph_free(&graph);
  test_edges_free(&edges);
  sr_context_free(&ctx);
}

/* A star's parts are one with the hub and leaves elsewhere, whatever the cut: n - 1 edges less
 * those inside the hub's part. In a complete graph every cut of given sizes is the same. */
static void stars_and_complete_graphs(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  test_edges star = {.nodes = 1000}, complete = {.nodes = 60};
  for (int64_t i = 1; i < 1000; i++) test_add_edge(&star, 0, i);
  for (int64_t i = 0; i < 60; i++)
    for (int64_t j = 0; j < i; j++) test_add_edge(&complete, i, j);
  sr_graph *graph = test_graph(ctx, &star, false);
  assert_int_equal(check_all_ways(ctx, graph, 8), 999 - 124);
  sr_graph_free(&graph);
  graph = test_graph(ctx, &complete, false);
  assert_int_equal(check_all_ways(ctx, graph, 6), 60 * 59 / 2 - 6 * 10 * 9 / 2);
  sr_graph_free(&graph);
  test_edges_free(&star);
  test_edges_free(&complete);
  sr_context_free(&ctx);
}

/* ---- closed forms ------------------------------------------------------------------------- */

/* (P - 1) tau (tau + 1) / 2 edges join contiguous blocks that are longer than tau. */
static void check_blocks(const sr_parts_view *view, int64_t tau) {
  int64_t changes = 0;
  for (int64_t i = 1; i < view->nodes; i++) changes += view->part[i] != view->part[i - 1];
  assert_int_equal(changes, view->parts - 1);
  assert_int_equal(view->cut_edges, (view->parts - 1) * tau * (tau + 1) / 2);
}

/* Given as plain edges, so that the eigenvectors have to find the blocks. */
static void paths_give_contiguous_blocks(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  for (int64_t tau = 1; tau <= 5; tau += 4) {
    for (int32_t count = 2; count <= 16; count += 7) {
      test_edges edges = test_path(1003, tau);
      sr_graph *graph = test_graph(ctx, &edges, false);
      for (int refine = 0; refine < 2; refine++) {
        sr_parts *parts = make_parts(ctx, graph, count, SR_PARTS_EXACT, refine);
        check_parts(graph, parts, count, true);
        check_blocks(sr_parts_get(parts), tau);
        sr_parts_free(&parts);
      }
      sr_graph_free(&graph);
      test_edges_free(&edges);
    }
  }
  sr_context_free(&ctx);
}

static sr_graph *window_graph(sr_context *ctx, int64_t rows, int32_t tau, const int32_t *group,
                              int32_t groups) {
  sr_table *table = NULL;
  sr_graph *graph = NULL;
  const char *names[64];
  for (int i = 0; i < groups; i++) names[i] = "g";
  sr_table_view view = {.rows = rows, .group = group, .groups = {.count = groups, .names = names}};
  char text[32];
  snprintf(text, sizeof text, "time:%d", tau);
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  assert_ok(ctx, sr_graph_build(ctx, table, text, 1, &graph));
  sr_table_free(&table);
  return graph;
}

static void windows_need_no_solver(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_graph *graph = window_graph(ctx, 100003, 5, NULL, 0);
  sr_parts *parts = make_parts(ctx, graph, 64, SR_PARTS_EXACT, 1);
  check_parts(graph, parts, 64, true);
  check_blocks(sr_parts_get(parts), 5);
  assert_string_equal(sr_parts_get(parts)->method, "window");
  assert_int_equal(sr_parts_get(parts)->components, 1);
  sr_parts_free(&parts);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
}

/* Runs of 30, 30, 10 and 10 rows into two parts: no edge has to be cut. Into 8 parts of 10: each
 * run of 30 is cut twice. */
static void runs_are_packed_whole(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  static const int length[] = {30, 30, 10, 10};
  int32_t group[80];
  int row = 0;
  for (int g = 0; g < 4; g++)
    for (int i = 0; i < length[g]; i++) group[row++] = g;
  sr_graph *graph = window_graph(ctx, 80, 2, group, 4);
  sr_parts *parts = make_parts(ctx, graph, 2, SR_PARTS_EXACT, 1);
  assert_int_equal(check_parts(graph, parts, 2, true), 0);
  assert_int_equal(sr_parts_get(parts)->components, 4);
  sr_parts_free(&parts);
  parts = make_parts(ctx, graph, 8, SR_PARTS_FAST, 1);
  assert_int_equal(check_parts(graph, parts, 8, true), 4 * 3);
  sr_parts_free(&parts);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
}

/* A square grid's pair of eigenvalues is equal; the straight cut is the best and must be found.
 * Into quarters: two straight cuts. A long grid is cut across. */
static void grids_are_cut_straight(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  test_edges square = test_grid(40, 40), wide = test_grid(30, 90);
  for (int refine = 0; refine < 2; refine++) {
    sr_graph *graph = test_graph(ctx, &square, false);
    sr_parts *parts = make_parts(ctx, graph, 2, SR_PARTS_EXACT, refine);
    assert_int_equal(check_parts(graph, parts, 2, true), 40);
    sr_parts_free(&parts);
    parts = make_parts(ctx, graph, 4, SR_PARTS_EXACT, refine);
    assert_int_equal(check_parts(graph, parts, 4, true), 80);
    sr_parts_free(&parts);
    sr_graph_free(&graph);
    graph = test_graph(ctx, &wide, false);
    parts = make_parts(ctx, graph, 3, SR_PARTS_EXACT, refine);
    assert_int_equal(check_parts(graph, parts, 3, true), 60);
    sr_parts_free(&parts);
    sr_graph_free(&graph);
  }
  test_edges_free(&square);
  test_edges_free(&wide);
  sr_context_free(&ctx);
}

/* ---- components --------------------------------------------------------------------------- */

static test_edges make_lattice(int64_t a, int64_t b, int64_t c) {
  test_edges edges = {.nodes = a * b * c};
  for (int64_t i = 0; i < edges.nodes; i++) {
    if (i % c + 1 < c) test_add_edge(&edges, i, i + 1);
    if (i / c % b + 1 < b) test_add_edge(&edges, i, i + c);
    if (i / c / b + 1 < a) test_add_edge(&edges, i, i + b * c);
  }
  return edges;
}

typedef enum made_by { PLAIN, REFINED, FAST } made_by;

static int64_t cut_edges(sr_context *ctx, const sr_graph *graph, int32_t parts, made_by how) {
  sr_parts_options options;
  sr_parts_options_init(&options);
  options.parts = parts;
  options.pure = how == PLAIN;
  options.mode = how == FAST ? SR_PARTS_FAST : SR_PARTS_EXACT;
  sr_parts *made = NULL;
  assert_ok(ctx, sr_parts_compute(ctx, graph, &options, &made));
  int64_t cut = sr_parts_get(made)->cut_edges;
  sr_parts_free(&made);
  return cut;
}

/* What both modes promise of graphs of at most 50,000 nodes. */
static void cuts_no_more_than_plain(sr_context *ctx, const sr_graph *graph, int32_t parts) {
  int64_t plain = cut_edges(ctx, graph, parts, PLAIN);
  assert_true(cut_edges(ctx, graph, parts, REFINED) <= plain);
  assert_true(cut_edges(ctx, graph, parts, FAST) <= plain);
}

/* Straight cuts of a lattice are found by plain bisection and hard to reach by searches. */
static void refined_parts_cut_no_more_than_plain_ones(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  static const int64_t side[][3] = {{24, 24, 24}, {1, 70, 70}, {10, 15, 20}, {17, 17, 17}};
  for (int c = 0; c < 4; c++) {
    test_edges edges = make_lattice(side[c][0], side[c][1], side[c][2]);
    sr_graph *graph = test_graph(ctx, &edges, false);
    for (int32_t parts = 7; parts <= 64; parts += 19) cuts_no_more_than_plain(ctx, graph, parts);
    for (made_by how = REFINED; c == 0 && how <= FAST; how++)
      assert_true(cut_edges(ctx, graph, 64, how) <= 5184); /* 64 cubes of 6^3 */
    sr_graph_free(&graph);
    test_edges_free(&edges);
  }
  for (uint64_t seed = 0; seed < 6; seed++) {
    sr__random random;
    sr__random_init(&random, 31, SR_PURPOSE_TEST, 0, seed);
    test_edges edges = {.nodes = 300};
    for (int e = 0; e < 900; e++)
      test_add_edge(&edges, (int64_t)sr__random_below(&random, 300),
                    (int64_t)sr__random_below(&random, 300));
    sr_graph *graph = test_graph(ctx, &edges, false);
    cuts_no_more_than_plain(ctx, graph, 8);
    sr_graph_free(&graph);
    test_edges_free(&edges);
  }
  sr_context_free(&ctx);
}

/* The graph without a share of its nodes. */
static test_edges punch_holes(const test_edges *edges, double share) {
  test_edges out = {0};
  int32_t *name = malloc((size_t)edges->nodes * sizeof *name);
  sr__random random;
  sr__random_init(&random, 41, SR_PURPOSE_TEST, 0, 0);
  for (int64_t i = 0; i < edges->nodes; i++)
    name[i] = sr__random_uniform(&random) < share ? -1 : (int32_t)out.nodes++;
  for (int64_t e = 0; e < edges->count; e++)
    if (name[edges->from[e]] >= 0 && name[edges->to[e]] >= 0)
      test_add_edge(&out, name[edges->from[e]], name[edges->to[e]]);
  free(name);
  return out;
}

static sr_graph *near_points(sr_context *ctx, int64_t rows, int32_t dimension) {
  double *place = malloc((size_t)(rows * dimension) * sizeof *place);
  sr_table_view view = {.rows = rows, .coordinate_count = dimension, .coordinates = place};
  sr_table *table = NULL;
  sr_graph *graph = NULL;
  sr_random_uniform(9, 0, 0, rows * dimension, place);
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  assert_ok(ctx, sr_graph_build(ctx, table, "space:8", 1, &graph));
  sr_table_free(&table);
  free(place);
  return graph;
}

/* Graphs of a size at which the tree is made of a coarse graph, which misses the straight cuts of
 * what is nearly a lattice; from the third on so large that plain bisection has to lead at every
 * depth to be made. */
static void refinement_never_ends_worse_than_plain_bisection(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  static const int64_t side[][3] = {{30, 30, 30},  {8, 56, 56},     {40, 40, 40},
                                    {1, 320, 320}, {100, 100, 100}, {1, 1000, 1000}};
  bool full = getenv("SR_FULL") != NULL;
  for (int c = 0; c < (full ? 6 : 4); c++) {
    test_edges whole = make_lattice(side[c][0], side[c][1], side[c][2]);
    test_edges edges = punch_holes(&whole, 0.02);
    sr_graph *graph = test_graph(ctx, &edges, false);
    if (edges.nodes > 50000)
      assert_true(cut_edges(ctx, graph, 64, REFINED) <= cut_edges(ctx, graph, 64, PLAIN));
    else
      cuts_no_more_than_plain(ctx, graph, 64);
    sr_graph_free(&graph);
    test_edges_free(&edges);
    test_edges_free(&whole);
  }
  for (int32_t dimension = 2; dimension <= 3; dimension++) {
    sr_graph *graph = near_points(ctx, full ? 250000 : 24000, dimension);
    if (full)
      assert_true(cut_edges(ctx, graph, 64, REFINED) <= cut_edges(ctx, graph, 64, PLAIN));
    else
      cuts_no_more_than_plain(ctx, graph, 64);
    sr_graph_free(&graph);
  }
  sr_context_free(&ctx);
}

/* The nodes in another order: the straight cuts do not come from the numbering. */
static test_edges shuffle_nodes(const test_edges *edges, uint64_t seed) {
  test_edges out = {.nodes = edges->nodes};
  int32_t *name = malloc((size_t)edges->nodes * sizeof *name);
  sr__random random;
  sr__random_init(&random, 37, SR_PURPOSE_TEST, 0, seed);
  for (int64_t i = 0; i < edges->nodes; i++) name[i] = (int32_t)i;
  sr__random_shuffle(&random, name, edges->nodes);
  for (int64_t e = 0; e < edges->count; e++)
    test_add_edge(&out, name[edges->from[e]], name[edges->to[e]]);
  free(name);
  return out;
}

/* A plane where a node is joined to the eight around it. */
static test_edges make_plane(int64_t a, int64_t b) {
  test_edges edges = {.nodes = a * b};
  for (int64_t i = 0; i < a; i++)
    for (int64_t j = 0; j < b; j++) {
      int64_t at = i * b + j;
      if (j + 1 < b) test_add_edge(&edges, at, at + 1);
      if (i + 1 < a) test_add_edge(&edges, at, at + b);
      if (i + 1 < a && j + 1 < b) test_add_edge(&edges, at, at + b + 1);
      if (i + 1 < a && j > 0) test_add_edge(&edges, at, at + b - 1);
    }
  return edges;
}

/* 8 x 8 parts of 32 x 25: a straight line cuts 3 L - 2 edges, and 2 where two lines meet count
 * twice. */
static void large_planes_of_eight_are_cut_straight(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  test_edges ordered = make_plane(256, 200), edges = shuffle_nodes(&ordered, 5);
  sr_graph *graph = test_graph(ctx, &edges, false);
  for (made_by how = REFINED; how <= FAST; how++)
    assert_true(cut_edges(ctx, graph, 64, how) <= 7 * (3 * 256 - 2) + 7 * (3 * 200 - 2) - 49 * 2);
  sr_graph_free(&graph);
  test_edges_free(&edges);
  test_edges_free(&ordered);
  sr_context_free(&ctx);
}

/* Whether it is known for a lattice in any order of its nodes, its four parts alike; with
 * `by_planes` one that is not known without them. */
static void check_lattice(sr_context *ctx, const test_edges *ordered, uint64_t seed, bool known,
                          bool by_planes) {
  test_edges edges = shuffle_nodes(ordered, seed);
  sr_graph *graph = test_graph(ctx, &edges, false);
  sr__working_graph working = {.graph = sr__csr_view(sr_graph_get(graph)), .rows = edges.nodes};
  int32_t *label = calloc((size_t)edges.nodes, sizeof *label), rows[4] = {0};
  bool found;
  assert_ok(ctx, sr__lattice_tree(ctx, &working, 4, true, label, &found));
  assert_int_equal(found, known);
  for (int64_t i = 0; found && i < edges.nodes; i++) rows[label[i]]++;
  for (int p = 0; found && p < 4; p++)
    assert_in_range(rows[p], edges.nodes / 4, (edges.nodes + 3) / 4);
  if (by_planes) {
    assert_ok(ctx, sr__lattice_tree(ctx, &working, 4, false, label, &found));
    assert_false(found);
  }
  free(label);
  sr_graph_free(&graph);
  test_edges_free(&edges);
}

/* Planes of eight are known from three nodes a side on; with an edge less, an edge more or one that
 * lies elsewhere they are not. */
static void planes_of_eight_are_recognized(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  static const int64_t side[][2] = {{4, 4}, {3, 9}, {30, 3}, {12, 31}, {2, 9}, {1, 40}};
  for (int c = 0; c < 6; c++)
    for (int wrong = 0; wrong < 4; wrong++) {
      test_edges ordered = make_plane(side[c][0], side[c][1]);
      if (wrong == 1) ordered.count--;
      if (wrong == 2) test_add_edge(&ordered, 0, ordered.nodes - 1);
      if (wrong == 3) ordered.to[ordered.count / 2] = (int32_t)(ordered.nodes - 1);
      check_lattice(ctx, &ordered, (uint64_t)c, wrong == 0 && c < 4, c < 4);
      test_edges_free(&ordered);
    }
  sr_context_free(&ctx);
}

/* A lattice gets its straight cuts, which are known: parts of equal boxes. */
static void large_lattices_are_cut_straight(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  static const int64_t side[][5] = {{1, 256, 200, 64, 7 * (256 + 200)}, /* 8 x 8 parts of 32 x 25 */
                                    {64, 60, 56, 8, 60 * 56 + 64 * 56 + 64 * 60},
                                    {100, 100, 100, 64, 90000}};
  bool full = getenv("SR_FULL") != NULL;
  for (int c = 0; c < (full ? 3 : 1); c++) {
    test_edges ordered = make_lattice(side[c][0], side[c][1], side[c][2]);
    test_edges edges = shuffle_nodes(&ordered, (uint64_t)c);
    sr_graph *graph = test_graph(ctx, &edges, false);
    for (made_by how = REFINED; how <= FAST; how++)
      assert_true(cut_edges(ctx, graph, (int32_t)side[c][3], how) <= side[c][4]);
    sr_graph_free(&graph);
    test_edges_free(&edges);
    test_edges_free(&ordered);
  }
  sr_context_free(&ctx);
}

/* Boxes are known whatever their sides, near-boxes are not taken for boxes. */
static void lattices_are_recognized(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  static const int64_t side[][3] = {{1, 2, 2}, {2, 2, 2}, {1, 3, 9}, {10, 10, 19},
                                    {5, 4, 8}, {2, 3, 4}, {7, 7, 7}, {1, 1, 40}};
  for (int c = 0; c < 8; c++) {
    for (int hole = 0; hole < 3; hole++) {
      test_edges ordered = make_lattice(side[c][0], side[c][1], side[c][2]);
      if (hole == 1) ordered.count--; /* an edge is missing */
      if (hole == 2) test_add_edge(&ordered, 0, ordered.nodes - 1);
      check_lattice(ctx, &ordered, (uint64_t)c, hole == 0 && side[c][1] > 1, false);
      test_edges_free(&ordered);
    }
  }
  sr_context_free(&ctx);
}

/* 3000 triangles into 9 parts of 1000 rows: only the triangle that straddles a border is cut. */
static void components_stay_whole(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  test_edges edges = {.nodes = 9000};
  for (int64_t t = 0; t < 3000; t++) {
    test_add_edge(&edges, 3 * t, 3 * t + 1);
    test_add_edge(&edges, 3 * t + 1, 3 * t + 2);
    test_add_edge(&edges, 3 * t, 3 * t + 2);
  }
  sr_graph *graph = test_graph(ctx, &edges, false);
  assert_true(check_all_ways(ctx, graph, 9) <= 8 * 2);
  sr_parts *parts = make_parts(ctx, graph, 8, SR_PARTS_EXACT, 0);
  assert_int_equal(sr_parts_get(parts)->components, 3000);
  assert_int_equal(check_parts(graph, parts, 8, true), 0); /* 375 triangles each */
  sr_parts_free(&parts);
  sr_graph_free(&graph);
  test_edges_free(&edges);
  sr_context_free(&ctx);
}

static void packing_splits_at_most_one_block(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (uint64_t seed = 0; seed < 500; seed++) {
    sr__random random;
    sr__random_init(&random, seed, SR_PURPOSE_TEST, 13, 0);
    int64_t size[40], blocks = 1 + (int64_t)sr__random_below(&random, 40), total = 0;
    uint8_t side[40];
    for (int64_t b = 0; b < blocks; b++)
      total += size[b] = 1 + (int64_t)sr__random_below(&random, 20);
    int64_t left = (int64_t)sr__random_below(&random, (uint64_t)total + 1), sum = 0;
    sr__packing packing;
    assert_ok(ctx, sr__pack_whole(ctx, blocks, size, left, side, &packing));
    for (int64_t b = 0; b < blocks; b++) {
      if (b == packing.split) {
        assert_true(packing.split_left > 0 && packing.split_left < size[b]);
        sum += packing.split_left;
      } else if (side[b] == 0) {
        sum += size[b];
      }
    }
    assert_int_equal(sum, left);
  }
  sr_context_free(&ctx);
}

/* ---- the hierarchy ------------------------------------------------------------------------ */

static void coarser_cuts_are_nested(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  test_edges edges = random_edges(5, 700, 5);
  sr_graph *graph = test_graph(ctx, &edges, false);
  sr_parts *parts = make_parts(ctx, graph, 23, SR_PARTS_EXACT, 1);
  const sr_parts_view *view = sr_parts_get(parts);
  int32_t *finer = malloc(700 * sizeof *finer), *coarser = malloc(700 * sizeof *coarser);
  assert_ok(ctx, sr_parts_coarsen(ctx, parts, 23, finer));
  assert_memory_equal(finer, view->part, 700 * sizeof *finer);
  for (int32_t count = 22; count >= 1; count--) {
    assert_ok(ctx, sr_parts_coarsen(ctx, parts, count, coarser));
    int32_t parent[23], split = 0, seen = 0;
    memset(parent, -1, sizeof parent);
    for (int i = 0; i < 700; i++) {
      assert_in_range(coarser[i], 0, count - 1);
      if (parent[finer[i]] < 0) parent[finer[i]] = coarser[i];
      assert_int_equal(parent[finer[i]], coarser[i]);
    }
    for (int32_t p = 0; p <= count; p++) {
      assert_true(parent[p] >= 0);
      if (p > 0 && parent[p] == parent[p - 1]) split++;
      if (parent[p] >= seen) seen = parent[p] + 1;
    }
    assert_int_equal(split, 1); /* one piece more, made of one piece */
    assert_int_equal(seen, count);
    int32_t *swap = finer;
    finer = coarser;
    coarser = swap;
  }
  assert_int_equal(sr_parts_coarsen(ctx, parts, 0, finer), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_parts_coarsen(ctx, parts, 24, finer), SR_ERROR_ARGUMENT);
  free(finer);
  free(coarser);
  sr_parts_free(&parts);
  sr_graph_free(&graph);
  test_edges_free(&edges);
  sr_context_free(&ctx);
}

/* Powers of two: every level of the hierarchy is as balanced as the leaves. */
static void every_level_is_balanced(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_graph *graph = window_graph(ctx, 1001, 1, NULL, 0);
  sr_parts *parts = make_parts(ctx, graph, 64, SR_PARTS_EXACT, 1);
  int32_t label[1001];
  for (int32_t count = 1; count <= 64; count *= 2) {
    int64_t size[64] = {0}, least = 1001, most = 0;
    assert_ok(ctx, sr_parts_coarsen(ctx, parts, count, label));
    for (int i = 0; i < 1001; i++) size[label[i]]++;
    for (int32_t p = 0; p < count; p++) {
      if (size[p] < least) least = size[p];
      if (size[p] > most) most = size[p];
    }
    assert_true(most - least <= 1);
  }
  sr_parts_free(&parts);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
}

static void given_parts_are_measured(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  test_edges edges = test_grid(4, 4);
  sr_graph *graph = test_graph(ctx, &edges, true);
  int32_t label[16];
  for (int i = 0; i < 16; i++) label[i] = i < 4 ? 0 : i < 8 ? 2 : 1;
  sr_parts *parts = NULL;
  assert_ok(ctx, sr_parts_new(ctx, 16, label, graph, &parts));
  assert_int_equal(check_parts(graph, parts, 3, false), 8);
  assert_close(sr_parts_get(parts)->balance, 1.5, 1e-12);
  sr_parts_free(&parts);
  assert_ok(ctx, sr_parts_new(ctx, 16, label, NULL, &parts));
  assert_int_equal(sr_parts_get(parts)->cut_edges, 0);
  sr_parts_free(&parts);
  label[3] = 4; /* part 3 is empty */
  assert_int_equal(sr_parts_new(ctx, 16, label, graph, &parts), SR_ERROR_ARGUMENT);
  assert_null(parts);
  label[3] = -1;
  assert_int_equal(sr_parts_new(ctx, 16, label, graph, &parts), SR_ERROR_ARGUMENT);
  label[3] = 0;
  assert_int_equal(sr_parts_new(ctx, 15, label, graph, &parts), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_parts_new(ctx, 0, label, NULL, &parts), SR_ERROR_ARGUMENT);
  sr_graph_free(&graph);
  test_edges_free(&edges);
  sr_context_free(&ctx);
}

/* ---- threads and memory ------------------------------------------------------------------- */

static void labels_do_not_depend_on_threads(void **state) {
  (void)state;
  static const int threads[] = {1, 2, 8};
  test_edges grid = test_grid(150, 130), random = random_edges(8, 4000, 4);
  const test_edges *edges[] = {&grid, &random};
  for (int which = 0; which < 2; which++) {
    for (int mode = 0; mode < 3; mode++) {
      int32_t *first = NULL;
      for (int t = 0; t < 3; t++) {
        sr_context *ctx = test_context(threads[t]);
        sr_graph *graph = test_graph(ctx, edges[which], which == 1);
        sr_parts *parts =
            make_parts(ctx, graph, 12, mode == 2 ? SR_PARTS_FAST : SR_PARTS_EXACT, mode == 1);
        size_t bytes = (size_t)edges[which]->nodes * sizeof *first;
        if (t == 0) first = memcpy(malloc(bytes), sr_parts_get(parts)->part, bytes);
        assert_memory_equal(first, sr_parts_get(parts)->part, bytes);
        sr_parts_free(&parts);
        sr_graph_free(&graph);
        sr_context_free(&ctx);
      }
      free(first);
    }
  }
  test_edges_free(&grid);
  test_edges_free(&random);
}

static sr_status compute_and_coarsen(sr_context *ctx, void *data) {
  const test_edges *edges = data;
  sr_status status = SR_OK;
  sr_graph *graph = NULL;
  sr_parts *parts = NULL, *copy = NULL;
  sr_parts_options options;
  int32_t label[200];
  sr_parts_options_init(&options);
  SR_TRY(test_try_graph(ctx, edges, false, &graph));
  for (int mode = 0; mode < 3; mode++) {
    options.mode = mode == 2 ? SR_PARTS_FAST : SR_PARTS_EXACT;
    options.pure = !mode;
    options.parts = mode == 1 ? 3 : 6; /* 3: enough rows a part to be coarsened first */
    SR_TRY(sr_parts_compute(ctx, graph, &options, &parts));
    SR_TRY(sr_parts_coarsen(ctx, parts, 3, label));
    SR_TRY(sr_parts_new(ctx, edges->nodes, label, graph, &copy));
    sr_parts_free(&parts);
    sr_parts_free(&copy);
  }
cleanup:
  sr_parts_free(&parts);
  sr_parts_free(&copy);
  sr_graph_free(&graph);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_edges edges = test_grid(9, 14);
  edges.nodes += 10; /* with isolated nodes, so that components are packed */
  test_every_allocation(compute_and_coarsen, &edges);
  test_edges_free(&edges);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_graphs_keep_the_invariants),
      cmocka_unit_test(one_part_and_all_parts),
      cmocka_unit_test(wrong_numbers_of_parts_are_refused),
      cmocka_unit_test(stars_and_complete_graphs),
      cmocka_unit_test(paths_give_contiguous_blocks),
      cmocka_unit_test(windows_need_no_solver),
      cmocka_unit_test(runs_are_packed_whole),
      cmocka_unit_test(grids_are_cut_straight),
      cmocka_unit_test(refined_parts_cut_no_more_than_plain_ones),
      cmocka_unit_test(refinement_never_ends_worse_than_plain_bisection),
      cmocka_unit_test(large_lattices_are_cut_straight),
      cmocka_unit_test(lattices_are_recognized),
      cmocka_unit_test(large_planes_of_eight_are_cut_straight),
      cmocka_unit_test(planes_of_eight_are_recognized),
      cmocka_unit_test(components_stay_whole),
      cmocka_unit_test(packing_splits_at_most_one_block),
      cmocka_unit_test(coarser_cuts_are_nested),
      cmocka_unit_test(every_level_is_balanced),
      cmocka_unit_test(given_parts_are_measured),
      cmocka_unit_test(labels_do_not_depend_on_threads),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
