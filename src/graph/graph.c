/* The graph object: allocation, the checks on graphs that a user brings, release. */
#include "graph.h"

#include <math.h>

/* ---- two passes --------------------------------------------------------------------------- */

sr_status sr__graph_begin(sr_context *ctx, int64_t nodes, const char *builder, sr_graph **graph) {
  sr_status status = SR_OK;
  sr_graph *made = NULL;
  *graph = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_NEW(ctx, made->offset, nodes + 1);
  made->offset[0] = 0;
  made->view.nodes = nodes;
  made->view.builder = builder;
  made->view.recall = 1.0;
  *graph = made;
  made = NULL;
cleanup:
  sr_graph_free(&made);
  return status;
}

typedef struct degree_sums {
  int64_t nodes;
  int64_t *offset;
  int64_t *chunk_total;
} degree_sums;

static sr_status total_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  degree_sums *sums = data;
  sr__span span = sr__graph_chunk(sums->nodes, chunk);
  int64_t total = 0;
  for (int64_t i = span.begin; i < span.end; i++) total += sums->offset[i + 1];
  sums->chunk_total[chunk] = total;
  return SR_OK;
}

static sr_status accumulate_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  degree_sums *sums = data;
  sr__span span = sr__graph_chunk(sums->nodes, chunk);
  int64_t total = sums->chunk_total[chunk];
  for (int64_t i = span.begin; i < span.end; i++) {
    total += sums->offset[i + 1];
    sums->offset[i + 1] = total;
  }
  return SR_OK;
}

sr_status sr__graph_sum_degrees(sr_context *ctx, sr_graph *graph, bool weighted) {
  sr_status status = SR_OK;
  int64_t nodes = graph->view.nodes, chunks = sr__graph_chunks(nodes);
  degree_sums sums = {nodes, graph->offset, NULL};
  SR_NEW(ctx, sums.chunk_total, chunks);
  SR_TRY(sr__parallel_for(ctx, chunks, total_chunk, &sums));
  int64_t arcs = 0;
  for (int64_t c = 0; c < chunks; c++) {
    int64_t total = sums.chunk_total[c];
    sums.chunk_total[c] = arcs;
    arcs += total;
  }
  SR_TRY(sr__parallel_for(ctx, chunks, accumulate_chunk, &sums));
  graph->view.arcs = arcs;
  SR_NEW(ctx, graph->neighbor, arcs);
  if (weighted) SR_NEW(ctx, graph->weight, arcs);
cleanup:
  sr__free(ctx, sums.chunk_total);
  return status;
}

void sr__graph_finish(sr_graph *graph) {
  graph->view.arcs = graph->offset[graph->view.nodes];
  graph->view.offset = graph->offset;
  graph->view.neighbor = graph->neighbor;
  graph->view.weight = graph->weight;
  graph->view.run_offset = graph->run_offset;
}

void sr_graph_free(sr_graph **graph) {
  if (!graph || !*graph) return;
  sr_graph *g = *graph;
  sr_allocator allocator = g->allocator;
  sr__release(&allocator, g->offset);
  sr__release(&allocator, g->neighbor);
  sr__release(&allocator, g->weight);
  sr__release(&allocator, g->run_offset);
  sr__release(&allocator, g);
  *graph = NULL;
}

const sr_graph_view *sr_graph_get(const sr_graph *graph) { return &graph->view; }

/* ---- checks ------------------------------------------------------------------------------- */

static sr_status check_offsets(sr_context *ctx, const sr_graph_view *view) {
  if (view->nodes < 0 || view->nodes > INT32_MAX)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "a graph of %lld nodes was given; nodes go from 0 to %d",
                    (long long)view->nodes, INT32_MAX);
  if (view->arcs < 0 || !view->offset || (view->arcs > 0 && !view->neighbor))
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "a graph of %lld nodes and %lld arcs needs offsets and neighbors",
                    (long long)view->nodes, (long long)view->arcs);
  if (view->offset[0] != 0 || view->offset[view->nodes] != view->arcs)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "offsets go from %lld to %lld, expected 0 to %lld, the number of arcs",
                    (long long)view->offset[0], (long long)view->offset[view->nodes],
                    (long long)view->arcs);
  for (int64_t i = 0; i < view->nodes; i++) {
    if (view->offset[i + 1] < view->offset[i])
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "offset %lld is %lld, below the one before it",
                      (long long)(i + 1), (long long)view->offset[i + 1]);
  }
  return SR_OK;
}

static sr_status check_row(sr_context *ctx, const sr_graph_view *view, int64_t i) {
  for (int64_t a = view->offset[i]; a < view->offset[i + 1]; a++) {
    int32_t j = view->neighbor[a];
    if (j < 0 || j >= view->nodes)
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "neighbor %d of node %lld is not in 0 to %lld", j,
                      (long long)i, (long long)view->nodes - 1);
    if (j == i)
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "node %d is its own neighbor; leave loops out", j);
    if (a > view->offset[i] && j <= view->neighbor[a - 1])
      return sr__fail(ctx, SR_ERROR_ARGUMENT,
                      "neighbors %d, %d of node %lld do not increase; sort them and merge repeats",
                      view->neighbor[a - 1], j, (long long)i);
    if (view->weight && !(view->weight[a] > 0.0f && isfinite(view->weight[a])))
      return sr__fail(ctx, SR_ERROR_ARGUMENT,
                      "the arc %lld -> %d has weight %g; weights must be finite and above 0",
                      (long long)i, j, (double)view->weight[a]);
  }
  return SR_OK;
}

/* The place of `target` among the neighbors of a checked row, -1 where it is absent. */
static int64_t find_arc(const sr_graph_view *view, int64_t row, int64_t target) {
  int64_t low = view->offset[row], high = view->offset[row + 1];
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (view->neighbor[middle] < target)
      low = middle + 1;
    else
      high = middle;
  }
  return low < view->offset[row + 1] && view->neighbor[low] == target ? low : -1;
}

static sr_status check_mirrored(sr_context *ctx, const sr_graph_view *view, int64_t i) {
  for (int64_t a = view->offset[i]; a < view->offset[i + 1]; a++) {
    int32_t j = view->neighbor[a];
    int64_t mirror = find_arc(view, j, i);
    if (mirror < 0)
      return sr__fail(
          ctx, SR_ERROR_ARGUMENT,
          "there is an arc %lld -> %d but none back; give every edge in both directions",
          (long long)i, j);
    if (view->weight && view->weight[a] != view->weight[mirror])
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "the edge %lld - %d weighs %g one way and %g back",
                      (long long)i, j, (double)view->weight[a], (double)view->weight[mirror]);
  }
  return SR_OK;
}

typedef struct row_check {
  const sr_graph_view *view;
  sr_status (*check)(sr_context *ctx, const sr_graph_view *view, int64_t row);
} row_check;

static sr_status check_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)slot;
  const row_check *work = data;
  sr__span span = sr__graph_chunk(work->view->nodes, chunk);
  sr_status status = SR_OK;
  for (int64_t i = span.begin; i < span.end; i++) SR_TRY(work->check(worker, work->view, i));
cleanup:
  return status;
}

/* Rows first: the search for mirrored arcs relies on sorted rows in range. */
static sr_status check_view(sr_context *ctx, const sr_graph_view *view) {
  sr_status status = SR_OK;
  SR_TRY(check_offsets(ctx, view));
  row_check rows = {view, check_row}, mirrored = {view, check_mirrored};
  int64_t chunks = sr__graph_chunks(view->nodes);
  SR_TRY(sr__parallel_for(ctx, chunks, check_chunk, &rows));
  SR_TRY(sr__parallel_for(ctx, chunks, check_chunk, &mirrored));
cleanup:
  return status;
}

sr_status sr_graph_new(sr_context *ctx, const sr_graph_view *view, sr_graph **graph) {
  sr_status status = SR_OK;
  sr_graph *made = NULL;
  *graph = NULL;
  SR_TRY(check_view(ctx, view));
  SR_TRY(sr__graph_begin(ctx, view->nodes, "", &made));
  memcpy(made->offset, view->offset, (size_t)(view->nodes + 1) * sizeof *made->offset);
  SR_NEW(ctx, made->neighbor, view->arcs);
  if (view->arcs > 0)
    memcpy(made->neighbor, view->neighbor, (size_t)view->arcs * sizeof *made->neighbor);
  if (view->weight) {
    SR_NEW(ctx, made->weight, view->arcs);
    memcpy(made->weight, view->weight, (size_t)view->arcs * sizeof *made->weight);
  }
  sr__graph_finish(made);
  *graph = made;
  made = NULL;
cleanup:
  sr_graph_free(&made);
  return status;
}
