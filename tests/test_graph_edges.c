/* The reader of edge lists: what it accepts, where it says an error is, and random lists. */
#include "core/random.h"
#include "graph_check.h"

static sr_status read_text(sr_context *ctx, const char *text, int64_t rows, sr_graph **graph) {
  sr_table_view table = {.rows = rows};
  char named[512];
  snprintf(named, sizeof named, "edges:%s", test_file("edges.txt", text, strlen(text)));
  return graph_build_view(ctx, &table, named, graph);
}

static void lists_become_graphs(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_graph *graph = NULL;
  assert_ok(ctx, read_text(ctx, "# a path and a loop\n0 1\n\n2,1\r\n  3\t2  \n3 3\n1 0\n% end", 5,
                           &graph));
  const sr_graph_view *view = sr_graph_get(graph);
  const int64_t offset[] = {0, 1, 3, 5, 6, 6};
  const int32_t neighbor[] = {1, 0, 2, 1, 3, 2};
  assert_string_equal(view->builder, "edges");
  assert_int_equal(view->nodes, 5);
  assert_memory_equal(view->offset, offset, sizeof offset);
  assert_memory_equal(view->neighbor, neighbor, sizeof neighbor);
  assert_null(view->weight);
  sr_graph_free(&graph);
  assert_ok(ctx, read_text(ctx, "0 1 2.5\n1 0 1.5\n2, 0, 1e-3\n", 3, &graph));
  view = sr_graph_get(graph);
  graph_check_invariants(view);
  assert_int_equal(view->arcs, 4);
  assert_true(view->weight[graph_find_arc(view, 0, 1)] == 2.0f);
  assert_true(view->weight[graph_find_arc(view, 0, 2)] == 1e-3f);
  sr_graph_free(&graph);
  assert_ok(ctx, read_text(ctx, "", 0, &graph));
  assert_int_equal(sr_graph_get(graph)->arcs, 0);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
}

static void errors_have_a_place(void **state) {
  (void)state;
  const struct {
    const char *text;
    int64_t line, column;
    const char *words;
  } cases[] = {
      {"0 1\n0 x\n", 2, 3, "expected a node number, found \"x\""},
      {"0 1\n\n  0 7\n", 3, 5, "node 7 is not one of the table's 5 rows"},
      {"0\n", 1, 2, "found the end of the line"},
      {"-1 0\n", 1, 1, "a node number"},
      {"0 1.5\n", 1, 3, "a node number"},
      {"0 99999999999999999999\n", 1, 3, "node"},
      {"0 1\n1 2 0.5\n", 2, 5, "no weight"},
      {"0 1 2\n1 2\n", 2, 4, "a weight, as on"},
      {"0 1 -2\n", 1, 5, "weight above 0"},
      {"0 1 nan\n", 1, 5, "weight above 0"},
      {"0 1 1e99\n", 1, 5, "weight above 0"},
      {"0 1 2x\n", 1, 5, "weight above 0"},
      {"0 1 2 3\n", 1, 7, "the end of the line"},
      {"0,,1\n", 1, 3, "a node number"},
      {"\xff\xfe 1\n", 1, 1, "a node number"},
  };
  sr_context *ctx = test_context(1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sr_graph *graph = NULL;
    assert_int_equal(read_text(ctx, cases[i].text, 5, &graph), SR_ERROR_FORMAT);
    assert_null(graph);
    sr_error error = sr_context_error(ctx);
    assert_int_equal(error.line, cases[i].line);
    assert_int_equal(error.column, cases[i].column);
    assert_non_null(strstr(error.file, "edges.txt"));
    if (!strstr(error.message, cases[i].words))
      fail_msg("\"%s\" does not say \"%s\"", error.message, cases[i].words);
  }
  sr_context_free(&ctx);
}

static void files_must_be_there_and_be_text(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_graph *graph = NULL;
  sr_table_view table = {.rows = 4};
  char named[512];
  assert_int_equal(graph_build_view(ctx, &table, "edges:/nowhere/at/all", &graph), SR_ERROR_IO);
  assert_int_equal(graph_build_view(ctx, &table, "edges:", &graph), SR_ERROR_ARGUMENT);
  assert_int_equal(graph_build_view(ctx, &table, "edges", &graph), SR_ERROR_ARGUMENT);
  snprintf(named, sizeof named, "edges:file=%s", test_file("zero.txt", "0 1\n2\0 3\n", 9));
  assert_int_equal(graph_build_view(ctx, &table, named, &graph), SR_ERROR_FORMAT);
  assert_int_equal(sr_context_error(ctx).line, 2);
  sr_context_free(&ctx);
}

/* Random multigraphs with loops and both directions, against a matrix. */
static void random_lists_match_a_matrix(void **state) {
  (void)state;
  enum { N = 40 };
  sr_context *ctx = test_context(2);
  for (uint64_t round = 0; round < 30; round++) {
    sr__random random;
    sr__random_init(&random, 31, SR_PURPOSE_TEST, 0, round);
    static double sum[N][N];
    static int times[N][N];
    char text[16384];
    size_t used = 0;
    memset(sum, 0, sizeof sum);
    memset(times, 0, sizeof times);
    for (uint64_t e = 0; e < round * 20; e++) {
      int a = (int)sr__random_below(&random, N), b = (int)sr__random_below(&random, N);
      int weight = 1 + (int)sr__random_below(&random, 8);
      used += (size_t)snprintf(text + used, sizeof text - used, "%d %d %d\n", a, b, weight);
      times[a][b]++, sum[a][b] += weight;
      if (a != b) times[b][a]++, sum[b][a] += weight;
    }
    text[used] = '\0';
    sr_graph *graph = NULL;
    assert_ok(ctx, read_text(ctx, text, N, &graph));
    const sr_graph_view *view = sr_graph_get(graph);
    graph_check_invariants(view);
    for (int a = 0; a < N; a++) {
      for (int b = 0; b < N; b++) {
        int64_t arc = graph_find_arc(view, a, b);
        assert_int_equal(arc >= 0, a != b && times[a][b] > 0);
        if (arc >= 0) assert_close(view->weight[arc], sum[a][b] / times[a][b], 1e-6);
      }
    }
    sr_graph_free(&graph);
  }
  sr_context_free(&ctx);
}

static sr_status read_once(sr_context *ctx, void *data) {
  sr_graph *graph = NULL;
  sr_status status = read_text(ctx, data, 6, &graph);
  sr_graph_free(&graph);
  return status;
}

static void allocations_may_fail(void **state) {
  (void)state;
  char text[] = "0 1 1\n2 3 1\n1 2 2\n4 5 1\n1 0 1\n0 0 1\n";
  test_every_allocation(read_once, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_become_graphs),
      cmocka_unit_test(errors_have_a_place),
      cmocka_unit_test(files_must_be_there_and_be_text),
      cmocka_unit_test(random_lists_match_a_matrix),
      cmocka_unit_test(allocations_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
