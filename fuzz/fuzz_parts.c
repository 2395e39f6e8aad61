/* Bytes as edges of a small weighted graph. Parts must be a partition that keeps its promises, and
 * the Fiedler pair of every solver must agree with LAPACK on the whole matrix. */
#include "fuzz_table.h"

enum { MOST_NODES = 40, MOST_EDGES = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct small_graph {
  float weight[MOST_NODES][MOST_NODES];
  int64_t nodes;
} small_graph;

/* First byte: nodes; then three bytes per edge: two ends and a weight. */
static small_graph read_edges(const uint8_t *data, size_t size) {
  small_graph g = {.nodes = 2 + data[0] % (MOST_NODES - 1)};
  for (size_t at = 1; at + 2 < size && at < 3 * MOST_EDGES; at += 3) {
    int a = data[at] % (int)g.nodes, b = data[at + 1] % (int)g.nodes;
    if (a != b) g.weight[a][b] = g.weight[b][a] = (float)(1 + data[at + 2] % 9);
  }
  return g;
}

static sr_graph *make_graph(sr_context *ctx, const small_graph *g) {
  int64_t offset[MOST_NODES + 1] = {0}, arcs = 0;
  int32_t neighbor[MOST_NODES * MOST_NODES];
  float weight[MOST_NODES * MOST_NODES];
  for (int64_t i = 0; i < g->nodes; i++) {
    for (int64_t j = 0; j < g->nodes; j++) {
      if (g->weight[i][j] == 0) continue;
      neighbor[arcs] = (int32_t)j;
      weight[arcs++] = g->weight[i][j];
    }
    offset[i + 1] = arcs;
  }
  sr_graph_view view = {
      .nodes = g->nodes, .arcs = arcs, .offset = offset, .neighbor = neighbor, .weight = weight};
  sr_graph *graph = NULL;
  fuzz_must(sr_graph_new(ctx, &view, &graph) == SR_OK);
  return graph;
}

/* Exactly as many parts as asked for, none empty, sizes and cut as counted here, and a coarser cut
 * that only joins parts. */
static void check_parts(sr_context *ctx, const small_graph *g, const sr_graph *graph,
                        sr_parts_mode mode, int32_t count) {
  sr_parts_options options;
  sr_parts *parts = NULL;
  sr_parts_options_init(&options);
  options.parts = count;
  options.mode = mode;
  fuzz_must(sr_parts_compute(ctx, graph, &options, &parts) == SR_OK);
  const sr_parts_view *view = sr_parts_get(parts);
  int64_t held[MOST_NODES] = {0}, cut = 0;
  int32_t coarse[MOST_NODES], joined[MOST_NODES];
  fuzz_must(view->parts == count && view->nodes == g->nodes);
  for (int64_t i = 0; i < g->nodes; i++) {
    fuzz_must(view->part[i] >= 0 && view->part[i] < count);
    held[view->part[i]]++;
    for (int64_t j = 0; j < i; j++) cut += g->weight[i][j] > 0 && view->part[i] != view->part[j];
  }
  for (int32_t p = 0; p < count; p++) fuzz_must(held[p] > 0 && held[p] == view->size[p]);
  fuzz_must(cut == view->cut_edges);
  if (mode == SR_PARTS_EXACT) /* sizes differ by at most one at every bisection */
    for (int32_t p = 0; p < count; p++) fuzz_must(held[p] <= g->nodes / count + 1 + count);
  fuzz_must(sr_parts_coarsen(ctx, parts, 1 + count / 2, coarse) == SR_OK);
  for (int32_t p = 0; p < count; p++) joined[p] = -1;
  for (int64_t i = 0; i < g->nodes; i++) {
    int32_t *label = &joined[view->part[i]];
    fuzz_must(coarse[i] >= 0 && coarse[i] < 1 + count / 2 && (*label < 0 || *label == coarse[i]));
    *label = coarse[i];
  }
  sr_parts_free(&parts);
}

/* |L x - lambda D x| of the first pair by plain sums, against the residual and the dense value. */
static void check_pair(sr_context *ctx, const small_graph *g, const sr_graph *graph,
                       const char *solver, double *reference) {
  sr_spectrum_options options;
  sr_spectrum *spectrum = NULL;
  sr_spectrum_options_init(&options);
  options.solver = solver;
  if (sr_spectrum_compute(ctx, graph, &options, 1, &spectrum) == SR_OK) {
    const sr_spectrum_view *v = sr_spectrum_get(spectrum);
    double squares = 0, norm = 0;
    for (int64_t i = 0; i < g->nodes; i++) {
      double degree = 0, row = 0;
      for (int64_t j = 0; j < g->nodes; j++) {
        degree += g->weight[i][j];
        row += g->weight[i][j] * (v->vector[i] - v->vector[j]);
      }
      row -= v->value[0] * degree * v->vector[i];
      if (v->vector[i] != 0) squares += degree > 0 ? row * row / degree : 0;
      norm += degree * v->vector[i] * v->vector[i];
    }
    fuzz_must(v->value[0] > 0 && v->value[0] <= 2.0 + 1e-9);
    fuzz_must(norm > 1 - 1e-6 && norm < 1 + 1e-6 && squares < 1e-4);
    if (*reference > 0) fuzz_must(v->value[0] <= *reference * (1 + 1e-5) + 1e-12);
    if (*reference > 0) fuzz_must(v->value[0] >= *reference * (1 - 1e-5) - 1e-12);
    *reference = v->value[0];
  }
  sr_spectrum_free(&spectrum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4) return 0;
  sr_context *ctx = fuzz_context();
  small_graph g = read_edges(data, size);
  sr_graph *graph = make_graph(ctx, &g);
  int32_t count = 1 + (int32_t)(data[1] % (uint8_t)g.nodes);
  double reference = 0;
  check_parts(ctx, &g, graph, SR_PARTS_EXACT, count);
  check_parts(ctx, &g, graph, SR_PARTS_FAST, count);
  check_pair(ctx, &g, graph, "dense", &reference);
  check_pair(ctx, &g, graph, "lanczos", &reference);
  check_pair(ctx, &g, graph, "multilevel", &reference);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
  return 0;
}
