/* The searches that improve cuts, against slow counters and exhaustive search. */
#include <math.h>

#include "core/random.h"
#include "graphs.h"
#include "partition/partition.h"

static test_edges random_edges(sr__random *random, int64_t nodes, int64_t count) {
  test_edges edges = {.nodes = nodes};
  for (int64_t e = 0; e < count; e++)
    test_add_edge(&edges, (int64_t)sr__random_below(random, (uint64_t)nodes),
                  (int64_t)sr__random_below(random, (uint64_t)nodes));
  return edges;
}

/* The working graph shows the graph; sizes from 1 to 3 where asked for (freed by the caller). */
static sr__working_graph show_graph(const sr_graph *graph, sr__random *random, bool sized) {
  const sr_graph_view *view = sr_graph_get(graph);
  sr__working_graph working = {.graph = sr__csr_view(view), .rows = view->nodes};
  if (!sized) return working;
  working.size = malloc((size_t)view->nodes * sizeof *working.size);
  working.rows = 0;
  for (int64_t i = 0; i < view->nodes; i++)
    working.rows += working.size[i] = 1 + (int32_t)sr__random_below(random, 3);
  return working;
}

static double slow_cut(const sr__working_graph *working, const int32_t *part) {
  double cut = 0;
  for (int64_t i = 0; i < working->graph.nodes; i++)
    for (int64_t a = working->graph.offset[i]; a < working->graph.offset[i + 1]; a++)
      if (part[working->graph.neighbor[a]] != part[i]) cut += sr__arc_weight(working, a);
  return cut / 2;
}

static int64_t rows_of(const sr__working_graph *working, const int32_t *part, int32_t which) {
  int64_t rows = 0;
  for (int64_t i = 0; i < working->graph.nodes; i++)
    if (part[i] == which) rows += sr__node_size(working, i);
  return rows;
}

/* Other parts stay as they are; the cut falls by what is reported and never grows. */
static void pairs_improve_and_say_by_how_much(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (uint64_t seed = 0; seed < 200; seed++) {
    sr__random random;
    sr__random_init(&random, seed, SR_PURPOSE_TEST, 21, 0);
    int64_t nodes = 4 + (int64_t)sr__random_below(&random, 120);
    test_edges edges = random_edges(&random, nodes, 3 * nodes);
    sr_graph *graph = test_graph(ctx, &edges, seed % 2);
    sr__working_graph working = show_graph(graph, &random, seed % 3 == 0);
    int32_t part[124], before[124], seeds[124];
    for (int64_t i = 0; i < nodes; i++) {
      before[i] = part[i] = (int32_t)sr__random_below(&random, 3);
      seeds[i] = (int32_t)i;
    }
    int64_t rows = rows_of(&working, part, 0), slack = (int64_t)sr__random_below(&random, 4);
    sr__pair_limits limits = {.lowest = rows - slack,
                              .highest = rows + slack,
                              .largest_node = sr__largest_node(&working),
                              .patience = 30,
                              .passes = 4};
    sr__refiner refiner;
    sr__pair_scratch scratch = {.clock = 0};
    sr__searched_pair pair = {.a = 0, .b = 2, .seed = seeds, .seed_count = nodes, .rows_a = rows};
    double cut = slow_cut(&working, part);
    assert_ok(ctx, sr__refiner_init(ctx, &working, part, &refiner));
    assert_ok(ctx, sr__refine_pair(ctx, &refiner, &scratch, &limits, &pair));
    assert_true(pair.gained >= 0);
    assert_close(slow_cut(&working, part), cut - pair.gained, 1e-9);
    assert_int_equal(pair.rows_a, rows_of(&working, part, 0));
    assert_true(pair.rows_a >= limits.lowest && pair.rows_a <= limits.highest);
    for (int64_t i = 0; i < nodes; i++) assert_int_equal(before[i] == 1, part[i] == 1);
    sr__pair_scratch_free(ctx, &scratch);
    sr__refiner_free(ctx, &refiner);
    free(working.size);
    sr_graph_free(&graph);
    test_edges_free(&edges);
  }
  sr_context_free(&ctx);
}

/* Limits that the start breaks are reached where moves allow it. */
static void pairs_return_to_the_limits(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  test_edges edges = test_grid(10, 10);
  sr_graph *graph = test_graph(ctx, &edges, false);
  sr__working_graph working = show_graph(graph, NULL, false);
  int32_t part[100], seeds[100];
  for (int i = 0; i < 100; i++) {
    part[i] = i >= 80;
    seeds[i] = i;
  }
  sr__searched_pair pair = {.a = 0, .b = 1, .seed = seeds, .seed_count = 100, .rows_a = 80};
  sr__pair_limits limits = {
      .lowest = 50, .highest = 50, .largest_node = 1, .patience = 50, .passes = 4};
  sr__refiner refiner;
  sr__pair_scratch scratch = {.clock = 0};
  assert_ok(ctx, sr__refiner_init(ctx, &working, part, &refiner));
  assert_ok(ctx, sr__refine_pair(ctx, &refiner, &scratch, &limits, &pair));
  assert_int_equal(pair.rows_a, 50);
  assert_close(slow_cut(&working, part), 10, 1e-9);
  sr__pair_scratch_free(ctx, &scratch);
  sr__refiner_free(ctx, &refiner);
  sr_graph_free(&graph);
  test_edges_free(&edges);
  sr_context_free(&ctx);
}

static void kway_improves_and_keeps_sizes(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  for (uint64_t seed = 0; seed < 60; seed++) {
    sr__random random;
    sr__random_init(&random, seed, SR_PURPOSE_TEST, 22, 0);
    enum { PARTS = 7 };
    int64_t nodes = 60 + (int64_t)sr__random_below(&random, 400);
    test_edges edges = random_edges(&random, nodes, 2 * nodes);
    sr_graph *graph = test_graph(ctx, &edges, seed % 2);
    sr__working_graph working = show_graph(graph, &random, false);
    int32_t part[460], start[460];
    for (int64_t i = 0; i < nodes; i++) start[i] = part[i] = (int32_t)(i % PARTS);
    sr__kway_options options = {.patience = 20, .rounds = 4, .passes = 2};
    assert_ok(ctx, sr__refine_kway(ctx, &working, PARTS, part, &options));
    for (int32_t p = 0; p < PARTS; p++)
      assert_int_equal(rows_of(&working, part, p), rows_of(&working, start, p));
    double kept = slow_cut(&working, part), before = slow_cut(&working, start);
    assert_true(kept < before);
    memcpy(part, start, sizeof part);
    options.highest = nodes / PARTS + 5;
    assert_ok(ctx, sr__refine_kway(ctx, &working, PARTS, part, &options));
    for (int32_t p = 0; p < PARTS; p++)
      assert_in_range(rows_of(&working, part, p), 1, options.highest);
    assert_true(slow_cut(&working, part) < before);
    sr_graph_free(&graph);
    test_edges_free(&edges);
  }
  sr_context_free(&ctx);
}

/* Uneven strips of a grid get any rows that are asked for; two grids without an edge between them
 * cannot hand rows over. */
static void balance_reaches_the_targets(void **state) {
  (void)state;
  enum { SIDE = 40, NODES = SIDE * SIDE, PARTS = 5 };
  sr_context *ctx = test_context(1);
  test_edges edges = test_grid(SIDE, SIDE);
  sr_graph *graph = test_graph(ctx, &edges, false);
  sr__working_graph working = show_graph(graph, NULL, false);
  for (uint64_t seed = 0; seed < 20; seed++) {
    sr__random random;
    sr__random_init(&random, seed, SR_PURPOSE_TEST, 25, 0);
    int64_t target[PARTS], left = NODES;
    int32_t part[NODES];
    bool reached = false;
    for (int i = 0; i < NODES; i++) part[i] = i / SIDE / 8;
    for (int p = 0; p < PARTS - 1; p++)
      left -= target[p] = 250 + (int64_t)sr__random_below(&random, 100);
    target[PARTS - 1] = left;
    assert_ok(ctx, sr__balance_rows(ctx, &working, PARTS, target, part, &reached));
    assert_true(reached);
    for (int p = 0; p < PARTS; p++) assert_int_equal(rows_of(&working, part, p), target[p]);
    /* Straight borders are 40 long; a step in each and some slack. */
    assert_true(slow_cut(&working, part) <= 4 * (SIDE + 8));
  }
  sr_graph_free(&graph);
  test_edges_free(&edges);
  edges = (test_edges){.nodes = 20};
  for (int i = 1; i < 20; i++)
    if (i != 10) test_add_edge(&edges, i - 1, i);
  graph = test_graph(ctx, &edges, false);
  working = show_graph(graph, NULL, false);
  int32_t apart[20];
  bool reached = true;
  for (int i = 0; i < 20; i++) apart[i] = i >= 10;
  assert_ok(ctx, sr__balance_rows(ctx, &working, 2, (int64_t[]){9, 11}, apart, &reached));
  assert_false(reached);
  sr_graph_free(&graph);
  test_edges_free(&edges);
  sr_context_free(&ctx);
}

static int compare_entries(const void *a, const void *b) {
  const sr__valued_node *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

/* The front that quickselect gives is the front of the sorted entries: it holds the rows asked for
 * to within half a node. Many equal values make the node number decide. */
static void selection_is_the_front_of_the_order(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 300; seed++) {
    sr__random random;
    sr__random_init(&random, seed, SR_PURPOSE_TEST, 23, 0);
    int64_t count = 1 + (int64_t)sr__random_below(&random, 200), rows = 0;
    sr__valued_node entry[200], sorted[200];
    int32_t size[200];
    sr__working_graph working = {.size = seed % 2 ? size : NULL};
    for (int64_t i = 0; i < count; i++) {
      size[i] = 1 + (int32_t)sr__random_below(&random, 5);
      entry[i] =
          (sr__valued_node){.value = (double)sr__random_below(&random, 20), .node = (int32_t)i};
      rows += sr__node_size(&working, i);
    }
    memcpy(sorted, entry, sizeof sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_entries);
    int64_t wanted = (int64_t)sr__random_below(&random, (uint64_t)rows + 1), got = 0;
    int64_t front = sr__select_rows(&working, entry, count, wanted);
    qsort(entry, (size_t)front, sizeof *entry, compare_entries);
    for (int64_t i = 0; i < front; i++) {
      assert_int_equal(entry[i].node, sorted[i].node);
      got += sr__node_size(&working, entry[i].node);
    }
    if (seed % 2)
      assert_true(llabs(got - wanted) <= 3);
    else
      assert_int_equal(got, wanted);
  }
}

/* Every leaf of the tree holds floor or ceil of rows / leaves. */
static void leaves_share_the_rows(void **state) {
  (void)state;
  for (int64_t rows = 1; rows <= 60; rows++) {
    for (int32_t leaves = 2; leaves <= rows; leaves++) {
      int64_t left = sr__left_rows(rows, leaves), right = rows - left;
      int32_t left_leaves = sr__left_leaves(leaves), right_leaves = leaves - left_leaves;
      assert_true(left >= left_leaves * (rows / leaves));
      assert_true(left <= left_leaves * ((rows + leaves - 1) / leaves));
      assert_true(right >= right_leaves * (rows / leaves));
      assert_true(right <= right_leaves * ((rows + leaves - 1) / leaves));
    }
  }
}

static double best_bisection(const sr__working_graph *working, int64_t left) {
  double best = INFINITY;
  int32_t part[14];
  for (uint32_t mask = 0; mask < 1u << working->graph.nodes; mask++) {
    if (__builtin_popcount(mask) != working->graph.nodes - left) continue;
    for (int64_t i = 0; i < working->graph.nodes; i++) part[i] = mask >> i & 1;
    double cut = slow_cut(working, part);
    if (cut < best) best = cut;
  }
  return best;
}

/* 60 graphs of 14 nodes: never below the best of all halves, and close to it on the whole. */
static void bisections_are_close_to_the_best(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  double best = 0, found = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    sr__random random;
    sr__random_init(&random, seed, SR_PURPOSE_TEST, 24, 0);
    test_edges edges = random_edges(&random, 14, 28);
    sr_graph *graph = test_graph(ctx, &edges, seed % 2);
    sr__working_graph working = show_graph(graph, &random, false);
    int32_t side[14];
    sr__bisection bisection = {.refine = true, .exact = true};
    assert_ok(ctx, sr__bisect(ctx, &working, 7, &bisection, side));
    assert_int_equal(rows_of(&working, side, 0), 7);
    double cut = slow_cut(&working, side), least = best_bisection(&working, 7);
    assert_true(cut >= least - 1e-9);
    best += least;
    found += cut;
    sr_graph_free(&graph);
    test_edges_free(&edges);
  }
  assert_true(found <= 1.1 * best);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_improve_and_say_by_how_much),
      cmocka_unit_test(pairs_return_to_the_limits),
      cmocka_unit_test(kway_improves_and_keeps_sizes),
      cmocka_unit_test(balance_reaches_the_targets),
      cmocka_unit_test(selection_is_the_front_of_the_order),
      cmocka_unit_test(leaves_share_the_rows),
      cmocka_unit_test(bisections_are_close_to_the_best),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
