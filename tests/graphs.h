/* Small graphs for tests, given as lists of edges. */
#ifndef SR_TESTS_GRAPHS_H
#define SR_TESTS_GRAPHS_H

#include "harness.h"

typedef struct test_edges {
  int64_t nodes;
  int64_t count, capacity;
  int32_t *from, *to;
  float *weight;
} test_edges;

static inline void test_add_weighted(test_edges *edges, int64_t from, int64_t to, double weight) {
  if (edges->count == edges->capacity) {
    edges->capacity = edges->capacity ? 2 * edges->capacity : 64;
    edges->from = realloc(edges->from, (size_t)edges->capacity * sizeof *edges->from);
    edges->to = realloc(edges->to, (size_t)edges->capacity * sizeof *edges->to);
    edges->weight = realloc(edges->weight, (size_t)edges->capacity * sizeof *edges->weight);
  }
  edges->from[edges->count] = (int32_t)from;
  edges->to[edges->count] = (int32_t)to;
  edges->weight[edges->count++] = (float)weight;
}

/* With a weight that is a function of the two nodes. */
static inline void test_add_edge(test_edges *edges, int64_t from, int64_t to) {
  test_add_weighted(edges, from, to, (double)(1 + (from + to) % 7) / 4);
}

static inline void test_edges_free(test_edges *edges) {
  free(edges->from);
  free(edges->to);
  free(edges->weight);
  *edges = (test_edges){0};
}

typedef struct test_arc {
  int32_t from, to;
  float weight;
  int64_t edge;
} test_arc;

static inline int test_compare_arcs(const void *a, const void *b) {
  const test_arc *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  if (x->to != y->to) return x->to < y->to ? -1 : 1;
  return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* Loops are dropped, and of repeats all but the first. */
static inline sr_status test_try_graph(sr_context *ctx, const test_edges *edges, bool weighted,
                                       sr_graph **graph) {
  test_arc *arc = malloc((2 * (size_t)edges->count + 1) * sizeof *arc);
  int64_t arcs = 0, kept = 0;
  for (int64_t e = 0; e < edges->count; e++) {
    int32_t from = edges->from[e], to = edges->to[e];
    if (from == to) continue;
    arc[arcs++] = (test_arc){from, to, edges->weight[e], e};
    arc[arcs++] = (test_arc){to, from, edges->weight[e], e};
  }
  qsort(arc, (size_t)arcs, sizeof *arc, test_compare_arcs);
  int64_t *offset = calloc((size_t)edges->nodes + 1, sizeof *offset);
  int32_t *neighbor = malloc(((size_t)arcs + 1) * sizeof *neighbor);
  float *weight = malloc(((size_t)arcs + 1) * sizeof *weight);
  for (int64_t a = 0; a < arcs; a++) {
    if (a > 0 && arc[a].from == arc[a - 1].from && arc[a].to == arc[a - 1].to) continue;
    offset[arc[a].from + 1]++;
    neighbor[kept] = arc[a].to;
    weight[kept++] = arc[a].weight;
  }
  for (int64_t i = 0; i < edges->nodes; i++) offset[i + 1] += offset[i];
  sr_graph_view view = {.nodes = edges->nodes,
                        .arcs = kept,
                        .offset = offset,
                        .neighbor = neighbor,
                        .weight = weighted ? weight : NULL};
  sr_status status = sr_graph_new(ctx, &view, graph);
  free(arc);
  free(offset);
  free(neighbor);
  free(weight);
  return status;
}

static inline sr_graph *test_graph(sr_context *ctx, const test_edges *edges, bool weighted) {
  sr_graph *graph = NULL;
  assert_ok(ctx, test_try_graph(ctx, edges, weighted, &graph));
  return graph;
}

static inline test_edges test_grid(int64_t rows, int64_t columns) {
  test_edges edges = {.nodes = rows * columns};
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < columns; c++) {
      if (c + 1 < columns) test_add_edge(&edges, r * columns + c, r * columns + c + 1);
      if (r + 1 < rows) test_add_edge(&edges, r * columns + c, (r + 1) * columns + c);
    }
  }
  return edges;
}

static inline test_edges test_path(int64_t nodes, int64_t tau) {
  test_edges edges = {.nodes = nodes};
  for (int64_t i = 0; i < nodes; i++)
    for (int64_t k = 1; k <= tau && i + k < nodes; k++) test_add_edge(&edges, i, i + k);
  return edges;
}

#endif
