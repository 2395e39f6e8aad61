/* Slow checks on graphs that share no code with the library. */
#ifndef SR_TESTS_GRAPH_CHECK_H
#define SR_TESTS_GRAPH_CHECK_H

#include <math.h>

#include "harness.h"

static inline int64_t graph_find_arc(const sr_graph_view *view, int64_t i, int64_t j) {
  for (int64_t a = view->offset[i]; a < view->offset[i + 1]; a++) {
    if (view->neighbor[a] == j) return a;
  }
  return -1;
}

/* Sorted rows, no loops, every arc mirrored with the same weight. */
static inline void graph_check_invariants(const sr_graph_view *view) {
  assert_int_equal(view->offset[0], 0);
  assert_int_equal(view->offset[view->nodes], view->arcs);
  assert_int_equal(view->arcs % 2, 0);
  for (int64_t i = 0; i < view->nodes; i++) {
    assert_true(view->offset[i] <= view->offset[i + 1]);
    for (int64_t a = view->offset[i]; a < view->offset[i + 1]; a++) {
      int32_t j = view->neighbor[a];
      assert_in_range(j, 0, view->nodes - 1);
      assert_int_not_equal(j, i);
      if (a > view->offset[i]) assert_true(j > view->neighbor[a - 1]);
      int64_t mirror = graph_find_arc(view, j, i);
      assert_true(mirror >= 0);
      if (!view->weight) continue;
      assert_true(view->weight[a] > 0 && isfinite(view->weight[a]));
      assert_true(view->weight[a] == view->weight[mirror]);
    }
  }
}

static inline void graph_check_equal(const sr_graph_view *a, const sr_graph_view *b) {
  assert_int_equal(a->nodes, b->nodes);
  assert_int_equal(a->arcs, b->arcs);
  assert_memory_equal(a->offset, b->offset, (size_t)(a->nodes + 1) * sizeof *a->offset);
  if (a->arcs == 0) return;
  assert_memory_equal(a->neighbor, b->neighbor, (size_t)a->arcs * sizeof *a->neighbor);
  assert_int_equal(a->weight == NULL, b->weight == NULL);
  if (a->weight) assert_memory_equal(a->weight, b->weight, (size_t)a->arcs * sizeof *a->weight);
}

/* The text of a builder with its first option, in one of a few buffers. */
static inline const char *graph_text(const char *builder, int64_t number) {
  static char text[4][64];
  static int next;
  next = (next + 1) % 4;
  snprintf(text[next], sizeof text[next], "%s:%lld", builder, (long long)number);
  return text[next];
}

/* Builds from a view of a table; the table is freed at once. */
static inline sr_status graph_build_view(sr_context *ctx, const sr_table_view *view,
                                         const char *text, sr_graph **graph) {
  sr_table *table = NULL;
  *graph = NULL;
  sr_status status = sr_table_new(ctx, view, &table);
  if (status == SR_OK) status = sr_graph_build(ctx, table, text, 1, graph);
  sr_table_free(&table);
  return status;
}

#endif
