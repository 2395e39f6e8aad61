/* Fiedler pairs against closed forms and against LAPACK on random graphs, for every solver. */
#include <math.h>

#include "core/random.h"
#include "graphs.h"
#include "spectrum/multilevel.h"

static const double PI = 3.14159265358979323846;

/* ---- graphs ------------------------------------------------------------------------------- */

static test_edges path_edges(int64_t n) {
  test_edges e = {.nodes = n};
  for (int64_t i = 0; i + 1 < n; i++) test_add_weighted(&e, i, i + 1, 1);
  return e;
}

static test_edges grid_edges(int64_t rows, int64_t columns, bool product_weights) {
  test_edges e = {.nodes = rows * columns};
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < columns; c++) {
      double row_degree = r == 0 || r == rows - 1 ? 1 : 2;
      double column_degree = c == 0 || c == columns - 1 ? 1 : 2;
      if (c + 1 < columns)
        test_add_weighted(&e, r * columns + c, r * columns + c + 1,
                          product_weights ? row_degree : 1);
      if (r + 1 < rows)
        test_add_weighted(&e, r * columns + c, (r + 1) * columns + c,
                          product_weights ? column_degree : 1);
    }
  }
  return e;
}

/* ---- solving and checking ----------------------------------------------------------------- */

static sr_spectrum *solve(sr_context *ctx, const sr_graph *graph, const char *solver,
                          int32_t pairs) {
  sr_spectrum_options options;
  sr_spectrum_options_init(&options);
  options.solver = solver;
  options.pairs = pairs;
  sr_spectrum *spectrum = NULL;
  assert_ok(ctx, sr_spectrum_compute(ctx, graph, &options, 1, &spectrum));
  return spectrum;
}

/* Relative, however small the value is. */
static void assert_relative(double actual, double expected, double tolerance) {
  if (!(fabs(actual - expected) <= tolerance * fabs(expected)))
    fail_msg("%.15g instead of %.15g: %.2e", actual, expected, actual / expected - 1);
}

/* x' D x = 1, x' D 1 = 0, and the residual is what the object says, by a slow loop. */
static void check_pair(const sr_graph *graph, const sr_spectrum_view *s) {
  const sr_graph_view *g = sr_graph_get(graph);
  double norm = 0, mean = 0, squares = 0, scale = 0;
  for (int64_t i = 0; i < g->nodes; i++) {
    double degree = 0, row = 0;
    for (int64_t a = g->offset[i]; a < g->offset[i + 1]; a++) {
      double w = g->weight ? g->weight[a] : 1;
      degree += w;
      row += w * (s->vector[i] - s->vector[g->neighbor[a]]);
    }
    norm += degree * s->vector[i] * s->vector[i];
    mean += degree * s->vector[i];
    scale += degree * fabs(s->vector[i]);
    if (degree == 0) continue;
    double r = row - s->value[0] * degree * s->vector[i];
    squares += r * r / degree;
  }
  assert_close(norm, 1, 1e-9);
  assert_true(fabs(mean) <= 1e-9 * scale);
  assert_close(sqrt(squares), s->residual, 1e-9);
}

static void check_value(test_edges e, bool weighted, const char *solver, double expected) {
  sr_context *ctx = test_context(1);
  sr_graph *graph = NULL;
  assert_ok(ctx, test_try_graph(ctx, &e, weighted, &graph));
  sr_spectrum *spectrum = solve(ctx, graph, solver, 1);
  const sr_spectrum_view *view = sr_spectrum_get(spectrum);
  assert_relative(view->value[0], expected, 1e-6);
  check_pair(graph, view);
  sr_spectrum_free(&spectrum);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
  test_edges_free(&e);
}

static const char *const SOLVERS[] = {"dense", "lanczos", "multilevel", "auto"};
enum { SOLVER_COUNT = sizeof SOLVERS / sizeof *SOLVERS };

/* ---- closed forms ------------------------------------------------------------------------- */

static void path_has_its_closed_form(void **state) {
  (void)state;
  for (int64_t n = 2; n <= 300; n = n * 3 + 1) {
    for (int s = 0; s < SOLVER_COUNT; s++)
      check_value(path_edges(n), false, SOLVERS[s], 2 * pow(sin(PI / (2 * (double)(n - 1))), 2));
  }
  check_value(path_edges(20000), false, "multilevel", 2 * pow(sin(PI / (2 * 19999.0)), 2));
}

static void ring_star_and_complete_have_theirs(void **state) {
  (void)state;
  for (int s = 0; s < SOLVER_COUNT; s++) {
    test_edges ring = path_edges(120), star = {.nodes = 150}, complete = {.nodes = 40};
    test_add_weighted(&ring, 0, 119, 1);
    check_value(ring, false, SOLVERS[s], 1 - cos(2 * PI / 120));
    for (int64_t i = 1; i < 150; i++) test_add_weighted(&star, 0, i, 1);
    check_value(star, false, SOLVERS[s], 1);
    for (int64_t i = 0; i < 40; i++) {
      for (int64_t j = 0; j < i; j++) test_add_weighted(&complete, i, j, 1);
    }
    check_value(complete, false, SOLVERS[s], 40.0 / 39);
  }
}

static void products_have_theirs(void **state) {
  (void)state;
  /* W = W1 x D2 + D1 x W2 is a product of walks: lambda_2 is half the smaller of both. */
  for (int s = 0; s < SOLVER_COUNT; s++)
    check_value(grid_edges(17, 12, true), true, SOLVERS[s], 0.5 * (1 - cos(PI / 16)));
  check_value(grid_edges(150, 140, true), true, "auto", 0.5 * (1 - cos(PI / 149)));
  test_edges torus = {.nodes = 60 * 50};
  for (int64_t r = 0; r < 60; r++) {
    for (int64_t c = 0; c < 50; c++) {
      test_add_weighted(&torus, r * 50 + c, r * 50 + (c + 1) % 50, 1);
      test_add_weighted(&torus, r * 50 + c, (r + 1) % 60 * 50 + c, 1);
    }
  }
  check_value(torus, false, "multilevel", 0.5 * (1 - cos(2 * PI / 60)));
  test_edges cube = {.nodes = 256};
  for (int64_t i = 0; i < 256; i++) {
    for (int64_t bit = 1; bit < 256; bit *= 2) {
      if (i < (i ^ bit)) test_add_weighted(&cube, i, i ^ bit, 1);
    }
  }
  check_value(cube, false, "lanczos", 2.0 / 8);
}

/* ---- windows ------------------------------------------------------------------------------ */

static sr_graph *window_graph(sr_context *ctx, int64_t n, int32_t tau, const int32_t *group,
                              int32_t groups) {
  float *x = calloc((size_t)n, sizeof *x);
  const char *names[] = {"a", "b", "c", "d"};
  sr_table_view view = {
      .rows = n, .features = 1, .x = x, .group = group, .groups = {groups, names}};
  sr_table *table = NULL;
  sr_graph *graph = NULL;
  char text[32];
  snprintf(text, sizeof text, "time:%d", tau);
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  assert_ok(ctx, sr_graph_build(ctx, table, text, 1, &graph));
  sr_table_free(&table);
  free(x);
  return graph;
}

static void windows_agree_with_lapack(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t sizes[] = {3, 7, 30, 101, 400};
  for (int k = 0; k < 5; k++) {
    for (int32_t tau = 1; tau <= 20; tau += 4) {
      sr_graph *graph = window_graph(ctx, sizes[k], tau, NULL, 0);
      sr_spectrum *fast = solve(ctx, graph, "auto", 1), *slow = solve(ctx, graph, "dense", 1);
      assert_relative(sr_spectrum_get(fast)->value[0], sr_spectrum_get(slow)->value[0], 1e-6);
      check_pair(graph, sr_spectrum_get(fast));
      if (sizes[k] > 2 * tau) assert_string_equal(sr_spectrum_get(fast)->solver, "window");
      sr_spectrum_free(&fast);
      sr_spectrum_free(&slow);
      sr_graph_free(&graph);
    }
  }
  sr_context_free(&ctx);
}

static void long_windows_agree_with_the_multilevel_solver(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_graph *graph = window_graph(ctx, 30000, 5, NULL, 0);
  sr_spectrum *closed = solve(ctx, graph, "window", 1);
  sr_spectrum *iterated = solve(ctx, graph, "multilevel", 1);
  const sr_spectrum_view *a = sr_spectrum_get(closed), *b = sr_spectrum_get(iterated);
  assert_relative(b->value[0], a->value[0], 1e-6);
  for (int64_t i = 1; i < a->nodes; i++) assert_true(a->vector[i] > a->vector[i - 1]);
  for (int64_t i = 0; i < a->nodes; i += 997) assert_close(a->vector[i], b->vector[i], 1e-5);
  sr_spectrum_free(&closed);
  sr_spectrum_free(&iterated);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
}

static void the_longest_run_counts(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  int32_t group[100];
  for (int i = 0; i < 100; i++) group[i] = i < 20 ? 0 : i < 75 ? 1 : 2;
  sr_graph *graph = window_graph(ctx, 100, 1, group, 3);
  sr_spectrum *spectrum = solve(ctx, graph, "auto", 2);
  const sr_spectrum_view *view = sr_spectrum_get(spectrum);
  assert_int_equal(view->components, 3);
  assert_relative(view->value[0], 1 - cos(PI / 54), 1e-9);
  assert_relative(view->value[1], 1 - cos(2 * PI / 54), 1e-9);
  for (int i = 0; i < 100; i++) {
    if (i == 47) continue; /* the middle, zero up to rounding */
    assert_true((view->vector[i] != 0) == (i >= 20 && i < 75));
  }
  check_pair(graph, view);
  sr_spectrum_free(&spectrum);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
}

/* ---- random graphs against LAPACK --------------------------------------------------------- */

static int64_t below(sr__random *random, int64_t bound) {
  return (int64_t)sr__random_below(random, (uint64_t)bound);
}

static void add_clique(test_edges *e, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    for (int64_t j = 0; j < i; j++) test_add_weighted(e, first + i, first + j, 1);
  }
}

static void add_tree(test_edges *e, sr__random *random, int64_t first, int64_t count,
                     int64_t reach) {
  for (int64_t i = 1; i < count; i++) {
    int64_t back = i < reach ? i : reach;
    test_add_weighted(e, first + i, first + i - 1 - below(random, back),
                      0.1 + sr__random_uniform(random));
  }
}

/* Six kinds: trees, trees with chords, two pieces, cliques on a bridge, a star on a clique, grids
 * with chords. */
static test_edges random_edges(sr__random *random, int kind, int64_t most) {
  test_edges e = {.nodes = 3 + below(random, most)};
  int64_t n = e.nodes, half = n / 2 + 1;
  if (kind == 0) add_tree(&e, random, 0, n, n);
  if (kind == 1 || kind == 5) add_tree(&e, random, 0, n, kind == 1 ? 3 : n);
  if (kind == 2) {
    add_tree(&e, random, 0, half, 4);
    add_tree(&e, random, half, n - half, 4);
  }
  if (kind == 3) {
    int64_t side = half > 12 ? 12 : half;
    e.nodes = 2 * side;
    add_clique(&e, 0, side);
    add_clique(&e, side, side);
    test_add_weighted(&e, 0, side, 0.3);
  }
  if (kind == 4) {
    int64_t side = n > 20 ? 10 : n / 2;
    add_clique(&e, 0, side);
    for (int64_t i = side; i < n; i++) test_add_weighted(&e, below(random, 2) ? 0 : i - 1, i, 2);
  }
  int64_t chords = kind == 1 ? n / 4 : kind == 5 ? 3 * n : 0;
  for (int64_t c = 0; c < chords; c++)
    test_add_weighted(&e, below(random, n), below(random, n), 0.1 + sr__random_uniform(random));
  return e;
}

static void random_graphs_agree_with_lapack(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  int rounds = getenv("SR_FULL") ? 2000 : 240;
  for (int round = 0; round < rounds; round++) {
    sr__random random;
    sr__random_init(&random, 7, SR_PURPOSE_TEST, 1, (uint64_t)round);
    test_edges e = random_edges(&random, round % 6, round % 10 == 9 ? 400 : 90);
    sr_graph *graph = NULL;
    assert_ok(ctx, test_try_graph(ctx, &e, round % 2 == 0, &graph));
    bool tiny = e.nodes < 6; /* a largest component of two nodes has one pair alone */
    sr_spectrum *reference = solve(ctx, graph, "dense", tiny ? 1 : 2);
    const sr_spectrum_view *expected = sr_spectrum_get(reference);
    double gap = tiny ? INFINITY : expected->value[1] - expected->value[0];
    for (int s = 1; s < SOLVER_COUNT; s++) {
      sr_spectrum *spectrum = solve(ctx, graph, SOLVERS[s], 1);
      const sr_spectrum_view *view = sr_spectrum_get(spectrum);
      /* Where the next value is near, a residual r allows r^2 / gap (Temple and Kato). */
      double allowed = fmax(1e-6 * expected->value[0], view->residual * view->residual / gap);
      if (!(fabs(view->value[0] - expected->value[0]) <= allowed))
        fail_msg("round %d, %lld nodes, %s: %.12g instead of %.12g", round, (long long)e.nodes,
                 view->solver, view->value[0], expected->value[0]);
      assert_int_equal(view->components, expected->components);
      check_pair(graph, view);
      sr_spectrum_free(&spectrum);
    }
    assert_true(expected->residual < 1e-12);
    sr_spectrum_free(&reference);
    sr_graph_free(&graph);
    test_edges_free(&e);
  }
  sr_context_free(&ctx);
}

static void several_pairs_agree_with_lapack(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  test_edges e = grid_edges(23, 31, false);
  sr_graph *graph = NULL;
  assert_ok(ctx, test_try_graph(ctx, &e, false, &graph));
  sr_spectrum *reference = solve(ctx, graph, "dense", 5);
  for (int s = 1; s < SOLVER_COUNT; s++) {
    sr_spectrum *spectrum = solve(ctx, graph, SOLVERS[s], 5);
    for (int p = 0; p < 5; p++)
      assert_relative(sr_spectrum_get(spectrum)->value[p], sr_spectrum_get(reference)->value[p],
                      1e-6);
    sr_spectrum_free(&spectrum);
  }
  sr_spectrum_free(&reference);
  sr_graph_free(&graph);
  test_edges_free(&e);
  sr_context_free(&ctx);
}

static bool is_in_this_build(const char *name) {
  for (int i = 0; sr_solver_method(i); i++) {
    if (strcmp(sr_solver_method(i)->name, name) == 0) return !sr_solver_method(i)->missing;
  }
  fail_msg("no solver is called %s", name);
  return false;
}

static void arpack_agrees_with_lapack(void **state) {
  (void)state;
  if (!is_in_this_build("arpack")) skip(); /* built without it */
  sr_context *ctx = test_context(1);
  test_edges cases[] = {grid_edges(23, 31, true), path_edges(5), path_edges(3)};
  for (int k = 0; k < 3; k++) {
    sr_graph *graph = NULL;
    assert_ok(ctx, test_try_graph(ctx, &cases[k], k == 0, &graph));
    sr_spectrum_options options;
    sr_spectrum_options_init(&options);
    options.solver = "arpack";
    options.pairs = 2;
    options.tolerance = 1e-10; /* ARPACK's bounds the residual, not lambda */
    sr_spectrum *spectrum = NULL, *reference = solve(ctx, graph, "dense", 2);
    assert_ok(ctx, sr_spectrum_compute(ctx, graph, &options, 1, &spectrum));
    for (int p = 0; p < 2; p++)
      assert_relative(sr_spectrum_get(spectrum)->value[p], sr_spectrum_get(reference)->value[p],
                      1e-6);
    check_pair(graph, sr_spectrum_get(spectrum));
    sr_spectrum_free(&spectrum);
    sr_spectrum_free(&reference);
    sr_graph_free(&graph);
    test_edges_free(&cases[k]);
  }
  sr_context_free(&ctx);
}

/* A cube in five dimensions with unequal weights has five values close together. */
static void a_cluster_of_values_is_told_apart(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  enum { SIDE = 6, DIMENSIONS = 5 };
  test_edges e = {.nodes = SIDE * SIDE * SIDE * SIDE * SIDE};
  for (uint64_t seed = 0; seed < 6; seed++) {
    sr__random random;
    sr__random_init(&random, 11, SR_PURPOSE_TEST, 2, seed);
    e.count = 0;
    for (int64_t i = 0; i < e.nodes; i++) {
      for (int64_t d = 0, step = 1; d < DIMENSIONS; d++, step *= SIDE) {
        if (i / step % SIDE + 1 < SIDE)
          test_add_weighted(&e, i, i + step, 0.2 + 1.6 * sr__random_uniform(&random));
      }
    }
    sr_graph *graph = NULL;
    assert_ok(ctx, test_try_graph(ctx, &e, true, &graph));
    sr_spectrum_options options;
    sr_spectrum_options_init(&options);
    options.solver = "lanczos";
    options.tolerance = 1e-11;
    sr_spectrum *exact = NULL, *spectrum = solve(ctx, graph, "multilevel", 1);
    assert_ok(ctx, sr_spectrum_compute(ctx, graph, &options, 1, &exact));
    assert_relative(sr_spectrum_get(spectrum)->value[0], sr_spectrum_get(exact)->value[0], 1e-6);
    sr_spectrum_free(&spectrum);
    sr_spectrum_free(&exact);
    sr_graph_free(&graph);
  }
  test_edges_free(&e);
  sr_context_free(&ctx);
}

/* ---- behavior ---------------------------------------------------------------------------- */

static void other_labels_give_the_same_value(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  test_edges e = grid_edges(130, 110, false), shuffled = {.nodes = e.nodes};
  int32_t *name = malloc((size_t)e.nodes * sizeof *name);
  sr__random random;
  sr__random_init(&random, 3, SR_PURPOSE_TEST, 0, 0);
  for (int64_t i = 0; i < e.nodes; i++) name[i] = (int32_t)i;
  sr__random_shuffle(&random, name, e.nodes);
  for (int64_t k = 0; k < e.count; k++)
    test_add_weighted(&shuffled, name[e.from[k]], name[e.to[k]], 1);
  sr_graph *a = NULL, *b = NULL;
  assert_ok(ctx, test_try_graph(ctx, &e, false, &a));
  assert_ok(ctx, test_try_graph(ctx, &shuffled, false, &b));
  sr_spectrum *one = solve(ctx, a, "multilevel", 1), *two = solve(ctx, b, "multilevel", 1);
  const sr_spectrum_view *v = sr_spectrum_get(one), *w = sr_spectrum_get(two);
  assert_relative(v->value[0], w->value[0], 1e-6);
  double sign = v->vector[0] * w->vector[name[0]] < 0 ? -1 : 1;
  for (int64_t i = 0; i < e.nodes; i += 37)
    assert_close(v->vector[i], sign * w->vector[name[i]], 1e-4);
  sr_spectrum_free(&one);
  sr_spectrum_free(&two);
  sr_graph_free(&a);
  sr_graph_free(&b);
  free(name);
  test_edges_free(&e);
  test_edges_free(&shuffled);
  sr_context_free(&ctx);
}

/* Rings of random weights, joined by arcs of next to no weight: rounding leaves the dense factor of
 * the coarsest graph (here the graph itself) without a pivot, in about every second of these. */
static void arcs_of_no_weight_are_survived(void **state) {
  (void)state;
  enum { GRAPHS = 30, RINGS = 6, RING = 15 };
  sr_context *ctx = test_context(1);
  uint64_t random = 1;
  for (int g = 0; g < GRAPHS; g++) {
    test_edges e = {.nodes = (int64_t)RINGS * RING};
    for (int64_t i = 0; i < e.nodes; i++) {
      int64_t first = i / RING * RING, next = i + 1 < first + RING ? i + 1 : first;
      random = random * 6364136223846793005u + 1442695040888963407u;
      test_add_weighted(&e, i, next, (double)(1 + (random >> 40) % 1000) / 1000.0);
      if (i == first && i > 0) test_add_weighted(&e, i, i - 1, 1e-37);
    }
    sr_graph *graph = NULL;
    sr_spectrum *spectrum = NULL;
    sr_spectrum_options options;
    sr_spectrum_options_init(&options);
    options.solver = "multilevel";
    assert_ok(ctx, test_try_graph(ctx, &e, true, &graph));
    sr_status status = sr_spectrum_compute(ctx, graph, &options, 1, &spectrum);
    assert_true(status == SR_OK || status == SR_ERROR_NOT_CONVERGED);
    assert_true(fabs(sr_spectrum_get(spectrum)->value[0]) < 1e-6);
    sr_spectrum_free(&spectrum);
    sr_graph_free(&graph);
    test_edges_free(&e);
  }
  sr_context_free(&ctx);
}

/* Two crowds, joined by an arc of next to no weight. As in a coarse graph, both arcs of an edge are
 * sums of floats rounded on their own: here the first is larger by a few units in the last place.
 */
static void arcs_rounded_on_their_own_are_survived(void **state) {
  (void)state;
  enum { CROWD = 20, NODES = 2 * CROWD };
  int64_t offset[NODES + 1] = {0}, arcs = 0;
  int32_t neighbor[NODES * NODES];
  float weight[NODES * NODES];
  for (int i = 0; i < NODES; i++) {
    for (int j = 0; j < NODES; j++) {
      bool together = i / CROWD == j / CROWD, bridge = i + j == NODES - 1 && (i == 0 || j == 0);
      if (i == j || !(together || bridge)) continue;
      neighbor[arcs] = j;
      weight[arcs++] = bridge ? 1e-38f : i < j ? 1.0f + 4e-7f : 1.0f;
    }
    offset[i + 1] = arcs;
  }
  sr__csr graph = {
      .nodes = NODES, .arcs = arcs, .offset = offset, .neighbor = neighbor, .weight = weight};
  sr_context *ctx = test_context(1);
  sr__hierarchy h;
  bool stalled;
  assert_ok(ctx, sr__hierarchy_build(ctx, &graph, 1, 1e9, &h, &stalled));
  /* Between two nodes of a crowd of ones the inverse of its Laplacian has 2 / CROWD. */
  for (int i = 1; i < CROWD; i++)
    assert_close(h.solve[0] - 2 * h.solve[i] + h.solve[i * NODES + i], 2.0 / CROWD, 1e-3);
  sr__hierarchy_free(ctx, &h);
  sr_context_free(&ctx);
}

/* Rings with a few chords have values close together. A start that holds little of the first vector
 * shows the second one first: it must not be taken for the answer. */
static void the_second_pair_is_not_taken_for_the_first(void **state) {
  (void)state;
  enum { GRAPHS = 6000 };
  sr_context *ctx = test_context(1);
  sr__random random;
  sr__random_init(&random, 5, SR_PURPOSE_TEST, 0, 0);
  for (int g = 0; g < GRAPHS; g++) {
    test_edges e = {.nodes = g % 2 ? 80 : 40};
    for (int64_t i = 0; i < e.nodes; i++) {
      test_add_weighted(&e, i, (i + 1) % e.nodes, (double)(1 + sr__random_below(&random, 9)));
      int64_t other = (int64_t)sr__random_below(&random, (uint64_t)e.nodes);
      if (i % 8 == 0 && other != i)
        test_add_weighted(&e, i, other, (double)(1 + sr__random_below(&random, 9)));
    }
    sr_graph *graph = NULL;
    assert_ok(ctx, test_try_graph(ctx, &e, true, &graph));
    sr_spectrum *exact = solve(ctx, graph, "dense", 1), *found = solve(ctx, graph, "lanczos", 1);
    assert_relative(sr_spectrum_get(found)->value[0], sr_spectrum_get(exact)->value[0], 1e-5);
    sr_spectrum_free(&exact);
    sr_spectrum_free(&found);
    sr_graph_free(&graph);
    test_edges_free(&e);
  }
  sr_context_free(&ctx);
}

static void the_thread_count_does_not_show(void **state) {
  (void)state;
  test_edges e = grid_edges(300, 251, false);
  double *first[2] = {NULL, NULL};
  const int threads[] = {1, 2, 8};
  const char *const solvers[] = {"multilevel", "lanczos"};
  for (int t = 0; t < 3; t++) {
    for (int s = 0; s < 2; s++) {
      sr_context *ctx = test_context(threads[t]);
      sr_graph *graph = NULL;
      assert_ok(ctx, test_try_graph(ctx, &e, false, &graph));
      sr_spectrum_options options;
      sr_spectrum_options_init(&options);
      options.solver = solvers[s];
      options.max_iterations = s == 0 ? 4 : 30;
      sr_spectrum *spectrum = NULL;
      sr_status status = sr_spectrum_compute(ctx, graph, &options, 1, &spectrum);
      assert_true(status == SR_OK || status == SR_ERROR_NOT_CONVERGED);
      size_t bytes = (size_t)e.nodes * sizeof(double);
      if (t == 0) {
        first[s] = malloc(bytes);
        memcpy(first[s], sr_spectrum_get(spectrum)->vector, bytes);
      }
      assert_memory_equal(first[s], sr_spectrum_get(spectrum)->vector, bytes);
      sr_spectrum_free(&spectrum);
      sr_graph_free(&graph);
      sr_context_free(&ctx);
    }
  }
  free(first[0]);
  free(first[1]);
  test_edges_free(&e);
}

static void stopping_early_says_so(void **state) {
  (void)state;
  const char *const solvers[] = {"lanczos", "multilevel"};
  for (int s = 0; s < 2; s++) {
    sr_context *ctx = test_context(1);
    test_edges e = path_edges(3000);
    sr_graph *graph = NULL;
    assert_ok(ctx, test_try_graph(ctx, &e, false, &graph));
    sr_spectrum_options options;
    sr_spectrum_options_init(&options);
    options.solver = solvers[s];
    options.max_iterations = 2;
    options.tolerance = 1e-9;
    sr_spectrum *spectrum = NULL;
    assert_int_equal(sr_spectrum_compute(ctx, graph, &options, 1, &spectrum),
                     SR_ERROR_NOT_CONVERGED);
    assert_non_null(spectrum);
    assert_true(sr_spectrum_get(spectrum)->value[0] > 0);
    assert_non_null(strstr(sr_context_error(ctx).message, "iterations"));
    check_pair(graph, sr_spectrum_get(spectrum));
    sr_spectrum_free(&spectrum);
    sr_graph_free(&graph);
    test_edges_free(&e);
    sr_context_free(&ctx);
  }
}

static void wrong_requests_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  test_edges e = path_edges(5), none = {.nodes = 4};
  sr_graph *graph = NULL, *empty = NULL;
  assert_ok(ctx, test_try_graph(ctx, &e, false, &graph));
  assert_ok(ctx, test_try_graph(ctx, &none, false, &empty));
  sr_spectrum_options options;
  sr_spectrum *spectrum = NULL;
  sr_spectrum_options_init(&options);
  assert_int_equal(sr_spectrum_compute(ctx, empty, &options, 1, &spectrum), SR_ERROR_DATA);
  options.pairs = 5;
  assert_int_equal(sr_spectrum_compute(ctx, graph, &options, 1, &spectrum), SR_ERROR_ARGUMENT);
  options.pairs = 0;
  assert_int_equal(sr_spectrum_compute(ctx, graph, &options, 1, &spectrum), SR_ERROR_ARGUMENT);
  sr_spectrum_options_init(&options);
  options.solver = "guess";
  assert_int_equal(sr_spectrum_compute(ctx, graph, &options, 1, &spectrum), SR_ERROR_NOT_FOUND);
  options.solver = "window";
  assert_int_equal(sr_spectrum_compute(ctx, graph, &options, 1, &spectrum), SR_ERROR_UNSUPPORTED);
  options.solver = "dense:x=1";
  assert_int_equal(sr_spectrum_compute(ctx, graph, &options, 1, &spectrum), SR_ERROR_NOT_FOUND);
  options.solver = NULL;
  options.tolerance = 0;
  assert_int_equal(sr_spectrum_compute(ctx, graph, &options, 1, &spectrum), SR_ERROR_ARGUMENT);
  assert_null(spectrum);
  sr_graph_free(&graph);
  sr_graph_free(&empty);
  test_edges_free(&e);
  sr_context_free(&ctx);
}

static void the_ramp_fixes_the_sign(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  test_edges e = grid_edges(40, 9, false);
  sr_graph *graph = NULL;
  assert_ok(ctx, test_try_graph(ctx, &e, false, &graph));
  for (int s = 0; s < SOLVER_COUNT; s++) {
    sr_spectrum *spectrum = solve(ctx, graph, SOLVERS[s], 1);
    assert_true(sr_spectrum_get(spectrum)->vector[0] < 0);
    assert_true(sr_spectrum_get(spectrum)->vector[e.nodes - 1] > 0);
    sr_spectrum_free(&spectrum);
  }
  sr_graph_free(&graph);
  test_edges_free(&e);
  sr_context_free(&ctx);
}

/* A square grid has a plane of Fiedler vectors; the numbering of the nodes settles which is taken.
 */
static void a_double_value_has_one_vector(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  test_edges e = grid_edges(64, 64, false), turned = {.nodes = e.nodes};
  for (int64_t k = 0; k < e.count; k++) /* the transposed grid, numbered alike: the same graph */
    test_add_weighted(&turned, e.from[k] % 64 * 64 + e.from[k] / 64,
                      e.to[k] % 64 * 64 + e.to[k] / 64, 1);
  sr_graph *a = NULL, *b = NULL;
  assert_ok(ctx, test_try_graph(ctx, &e, false, &a));
  assert_ok(ctx, test_try_graph(ctx, &turned, false, &b));
  sr_spectrum *one = solve(ctx, a, "multilevel", 1), *two = solve(ctx, b, "multilevel", 1);
  const double *x = sr_spectrum_get(one)->vector, *y = sr_spectrum_get(two)->vector;
  assert_relative(sr_spectrum_get(one)->value[0], sr_spectrum_get(two)->value[0], 1e-6);
  for (int64_t i = 0; i < e.nodes; i++) assert_close(x[i], y[i], 1e-4);
  /* The ramp runs down the rows, so the vector does: first row low, last row high. */
  for (int64_t c = 0; c < 64; c++) assert_true(x[c] < 0 && x[63 * 64 + c] > 0);
  sr_spectrum_free(&one);
  sr_spectrum_free(&two);
  sr_graph_free(&a);
  sr_graph_free(&b);
  test_edges_free(&e);
  test_edges_free(&turned);
  sr_context_free(&ctx);
}

static sr_status allocate_and_solve(sr_context *ctx, void *data) {
  sr_graph *graph = NULL;
  sr_spectrum *spectrum = NULL;
  sr_status status = test_try_graph(ctx, data, false, &graph);
  const char *const solvers[] = {"multilevel", "lanczos", "dense"};
  for (int s = 0; s < 3 && status == SR_OK; s++) {
    sr_spectrum_options options;
    sr_spectrum_options_init(&options);
    options.solver = solvers[s];
    options.tolerance = 1e-2;
    status = sr_spectrum_compute(ctx, graph, &options, 1, &spectrum);
    sr_spectrum_free(&spectrum);
  }
  sr_graph_free(&graph);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_edges e = grid_edges(25, 20, false);
  e.nodes += 30; /* more components, so that the extraction is tried too */
  test_add_weighted(&e, e.nodes - 1, e.nodes - 2, 1);
  test_every_allocation(allocate_and_solve, &e);
  test_edges_free(&e);
}

/* ---- what other rooms use ----------------------------------------------------------------- */

static void coarse_graphs_keep_the_quadratic_form(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  test_edges e = grid_edges(150, 131, false);
  sr_graph *graph = NULL;
  assert_ok(ctx, test_try_graph(ctx, &e, false, &graph));
  sr__csr fine = sr__csr_view(sr_graph_get(graph)), coarse;
  int32_t *aggregate = malloc((size_t)e.nodes * sizeof *aggregate);
  assert_ok(ctx, sr__coarsen(ctx, &fine, aggregate, &coarse));
  assert_true(coarse.nodes < fine.nodes / 3);
  /* x' L_c x = (P x)' L (P x) for a vector that is not constant, and masses add up. */
  double form[2] = {0, 0}, mass[2] = {0, 0};
  for (int64_t i = 0; i < fine.nodes; i++) {
    for (int64_t a = fine.offset[i]; a < fine.offset[i + 1]; a++) {
      double d = sin(aggregate[i]) - sin(aggregate[fine.neighbor[a]]);
      form[0] += d * d;
    }
    mass[0] += sr__csr_degree(&fine, i);
  }
  for (int64_t i = 0; i < coarse.nodes; i++) {
    for (int64_t a = coarse.offset[i]; a < coarse.offset[i + 1]; a++) {
      double d = sin((double)i) - sin(coarse.neighbor[a]);
      form[1] += coarse.weight[a] * d * d;
    }
    mass[1] += coarse.mass[i];
  }
  assert_close(form[1], form[0], 1e-12);
  assert_close(mass[1], mass[0], 1e-12);
  sr__csr_free(ctx, &coarse);
  sr_graph_free(&graph);
  free(aggregate);
  test_edges_free(&e);
  sr_context_free(&ctx);
}

static void a_second_vector_is_given(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  test_edges e = grid_edges(60, 57, false);
  sr_graph *graph = NULL;
  assert_ok(ctx, test_try_graph(ctx, &e, false, &graph));
  sr_spectrum *reference = solve(ctx, graph, "lanczos", 2);
  sr__csr csr = sr__csr_view(sr_graph_get(graph));
  double *x = malloc((size_t)e.nodes * sizeof *x), *y = malloc((size_t)e.nodes * sizeof *y);
  sr__fiedler_options options = sr__fiedler_defaults();
  sr__fiedler_result result;
  assert_ok(ctx, sr__fiedler(ctx, &csr, &options, x, y, &result));
  assert_true(result.converged);
  assert_relative(result.value, sr_spectrum_get(reference)->value[0], 1e-6);
  assert_relative(result.value_second, sr_spectrum_get(reference)->value[1], 1e-3);
  double product = 0;
  for (int64_t i = 0; i < e.nodes; i++) product += sr__csr_degree(&csr, i) * x[i] * y[i];
  assert_true(fabs(product) < 1e-4);
  options.start = x;
  assert_ok(ctx, sr__fiedler(ctx, &csr, &options, y, NULL, &result));
  assert_relative(result.value, sr_spectrum_get(reference)->value[0], 1e-6);
  assert_true(result.iterations <= 2);
  sr_spectrum_free(&reference);
  sr_graph_free(&graph);
  free(x);
  free(y);
  test_edges_free(&e);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(path_has_its_closed_form),
      cmocka_unit_test(ring_star_and_complete_have_theirs),
      cmocka_unit_test(products_have_theirs),
      cmocka_unit_test(windows_agree_with_lapack),
      cmocka_unit_test(long_windows_agree_with_the_multilevel_solver),
      cmocka_unit_test(the_longest_run_counts),
      cmocka_unit_test(random_graphs_agree_with_lapack),
      cmocka_unit_test(several_pairs_agree_with_lapack),
      cmocka_unit_test(arpack_agrees_with_lapack),
      cmocka_unit_test(a_cluster_of_values_is_told_apart),
      cmocka_unit_test(other_labels_give_the_same_value),
      cmocka_unit_test(arcs_of_no_weight_are_survived),
      cmocka_unit_test(arcs_rounded_on_their_own_are_survived),
      cmocka_unit_test(the_second_pair_is_not_taken_for_the_first),
      cmocka_unit_test(the_thread_count_does_not_show),
      cmocka_unit_test(stopping_early_says_so),
      cmocka_unit_test(wrong_requests_are_refused),
      cmocka_unit_test(the_ramp_fixes_the_sign),
      cmocka_unit_test(a_double_value_has_one_vector),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(coarse_graphs_keep_the_quadratic_form),
      cmocka_unit_test(a_second_vector_is_given),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
