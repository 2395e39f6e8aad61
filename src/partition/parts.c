/* The parts object: labels, sizes, cut and balance, and the coarser cuts of the same ladder. */
#include "partition.h"

struct sr_parts {
  sr_parts_view view;
  int32_t *part;
  int64_t *size;
  sr_allocator allocator;
};

void sr_parts_free(sr_parts **parts) {
  if (!parts || !*parts) return;
  sr_allocator allocator = (*parts)->allocator;
  sr__release(&allocator, (*parts)->part);
  sr__release(&allocator, (*parts)->size);
  sr__release(&allocator, *parts);
  *parts = NULL;
}

const sr_parts_view *sr_parts_get(const sr_parts *parts) { return &parts->view; }

void sr__parts_set_seconds(sr_parts *parts, double spectrum, double bisection) {
  parts->view.seconds_spectrum = spectrum;
  parts->view.seconds_bisection = bisection;
}

void sr__parts_set_components(sr_parts *parts, int64_t components) {
  parts->view.components = components;
}

/* ---- cut and balance ---------------------------------------------------------------------- */

typedef struct cut_sum {
  int64_t edges;
  double weight;
} cut_sum;

typedef struct cut_work {
  const sr_graph_view *graph;
  const int32_t *part;
  cut_sum *sum; /* one a chunk */
} cut_work;

enum { CUT_GRAIN = 16384 };

static sr_status sum_cut(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  cut_work *work = data;
  const sr_graph_view *graph = work->graph;
  int64_t size = sr__chunk_size(graph->nodes, CUT_GRAIN), first = chunk * size;
  int64_t end = first + size < graph->nodes ? first + size : graph->nodes;
  cut_sum sum = {0, 0};
  for (int64_t node = first; node < end; node++) {
    int32_t own = work->part[node];
    int64_t begin = graph->offset[node], behind = graph->offset[node + 1], before = sum.edges;
    for (int64_t arc = begin; arc < behind; arc++) {
      int32_t other = graph->neighbor[arc];
      sum.edges += (other > node) & (work->part[other] != own);
    }
    for (int64_t arc = begin; graph->weight && sum.edges > before && arc < behind; arc++) {
      int32_t other = graph->neighbor[arc];
      if (other > node && work->part[other] != own) sum.weight += (double)graph->weight[arc];
    }
  }
  if (!graph->weight) sum.weight = (double)sum.edges;
  work->sum[chunk] = sum;
  return SR_OK;
}

/* In a pure window graph the neighbors need not be read. */
static int64_t count_window_cut(const sr_graph_view *graph, const int32_t *part) {
  int64_t edges = 0;
  for (int64_t r = 0; r < graph->runs; r++) {
    int64_t begin = graph->run_offset[r], end = graph->run_offset[r + 1];
    for (int64_t step = 1; step <= graph->window && step < end - begin; step++)
      for (int64_t i = begin; i < end - step; i++) edges += part[i] != part[i + step];
  }
  return edges;
}

/* Chunks do not depend on the thread count and are added in order, so the weight does not either.
 */
static sr_status measure_cut(sr_context *ctx, const sr_graph_view *graph, sr_parts *parts) {
  sr_status status = SR_OK;
  int64_t chunks = sr__chunk_count(graph->nodes, CUT_GRAIN);
  cut_work work = {.graph = graph, .part = parts->part};
  if (graph->window > 0 && !graph->weight) {
    parts->view.cut_edges = count_window_cut(graph, parts->part);
    parts->view.cut_weight = (double)parts->view.cut_edges;
    return SR_OK;
  }
  SR_NEW(ctx, work.sum, chunks);
  SR_TRY(sr__parallel_for(ctx, chunks, sum_cut, &work));
  for (int64_t c = 0; c < chunks; c++) {
    parts->view.cut_edges += work.sum[c].edges;
    parts->view.cut_weight += work.sum[c].weight;
  }
cleanup:
  sr__free(ctx, work.sum);
  return status;
}

static sr_status measure_sizes(sr_context *ctx, sr_parts *parts) {
  sr_parts_view *view = &parts->view;
  int64_t largest = 0;
  for (int64_t i = 0; i < view->nodes; i++) parts->size[parts->part[i]]++;
  for (int32_t p = 0; p < view->parts; p++) {
    if (parts->size[p] == 0)
      return sr__fail(ctx, SR_ERROR_ARGUMENT,
                      "part %d of %d holds no node; number the parts without gaps", p, view->parts);
    if (parts->size[p] > largest) largest = parts->size[p];
  }
  view->balance = (double)largest * (double)view->parts / (double)view->nodes;
  return SR_OK;
}

sr_status sr__parts_adopt(sr_context *ctx, sr_parts_view view, int32_t *label,
                          const sr_graph *graph, sr_parts **parts) {
  sr_status status = SR_OK;
  sr_parts *made = NULL;
  *parts = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->view = view;
  SR_NEW_ZERO(ctx, made->size, view.parts);
  made->part = label;
  made->view.part = made->part;
  made->view.size = made->size;
  SR_TRY(measure_sizes(ctx, made));
  if (graph) SR_TRY(measure_cut(ctx, sr_graph_get(graph), made));
  *parts = made;
  return SR_OK;
cleanup:
  if (made && made->part)
    sr_parts_free(&made);
  else {
    sr__free(ctx, label);
    sr_parts_free(&made);
  }
  return status;
}

/* ---- parts that the user brings ------------------------------------------------------------- */

static sr_status count_labels(sr_context *ctx, int64_t nodes, const int32_t *label,
                              int32_t *count) {
  *count = 0;
  for (int64_t i = 0; i < nodes; i++) {
    if (label[i] < 0 || label[i] >= nodes)
      return sr__fail(ctx, SR_ERROR_ARGUMENT,
                      "the part of node %lld is %d; parts are numbered from 0 without gaps",
                      (long long)i, label[i]);
    if (label[i] >= *count) *count = label[i] + 1;
  }
  return SR_OK;
}

sr_status sr_parts_new(sr_context *ctx, int64_t nodes, const int32_t *label, const sr_graph *graph,
                       sr_parts **parts) {
  sr_status status = SR_OK;
  int32_t *copy = NULL, *component = NULL, count = 0;
  int64_t components = 0;
  *parts = NULL;
  if (nodes < 1 || nodes > INT32_MAX || !label)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "parts need 1 to %d nodes with a label each, not %lld",
                    INT32_MAX, (long long)nodes));
  if (graph && sr_graph_get(graph)->nodes != nodes)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "%lld labels were given for a graph of %lld nodes",
                    (long long)nodes, (long long)sr_graph_get(graph)->nodes));
  SR_TRY(count_labels(ctx, nodes, label, &count));
  if (graph) {
    SR_NEW(ctx, component, nodes);
    SR_TRY(sr_graph_components(ctx, graph, component, &components));
  }
  SR_NEW(ctx, copy, nodes);
  memcpy(copy, label, (size_t)nodes * sizeof *copy);
  sr_parts_view given = {.nodes = nodes, .parts = count, .method = "given"};
  SR_TRY(sr__parts_adopt(ctx, given, copy, graph, parts));
  sr__parts_set_components(*parts, components);
cleanup:
  sr__free(ctx, component);
  return status;
}

/* ---- coarser cuts ------------------------------------------------------------------------- */

/* A node of the tree: the labels [first, first + leaves). */
typedef struct label_range {
  int32_t first, leaves;
  int64_t rows;
} label_range;

/* The heap's order: the range to split next is the one with most rows, ties by the lowest label. */
static bool splits_before(const label_range *a, const label_range *b) {
  if ((a->leaves > 1) != (b->leaves > 1)) return a->leaves > 1;
  return a->rows != b->rows ? a->rows > b->rows : a->first < b->first;
}

static void sift_down(label_range *heap, int32_t count, int32_t at) {
  label_range range = heap[at];
  for (;;) {
    int64_t child = 2 * (int64_t)at + 1;
    if (child >= count) break;
    if (child + 1 < count && splits_before(&heap[child + 1], &heap[child])) child++;
    if (!splits_before(&heap[child], &range)) break;
    heap[at] = heap[child];
    at = (int32_t)child;
  }
  heap[at] = range;
}

static void push_range(label_range *heap, int32_t count, label_range range) {
  int32_t at = count;
  while (at > 0 && splits_before(&range, &heap[(at - 1) / 2])) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = range;
}

/* Splits the largest range until there are `count`. */
static void split_ranges(label_range *heap, int32_t count, const int64_t *size) {
  for (int32_t ranges = 1; ranges < count; ranges++) {
    label_range left = heap[0], right;
    left.leaves = sr__left_leaves(heap[0].leaves);
    right =
        (label_range){.first = left.first + left.leaves, .leaves = heap[0].leaves - left.leaves};
    for (int32_t p = 0; p < right.leaves; p++) right.rows += size[right.first + p];
    left.rows -= right.rows;
    heap[0] = left;
    sift_down(heap, ranges, 0);
    push_range(heap, ranges, right);
  }
}

sr_status sr_parts_coarsen(sr_context *ctx, const sr_parts *parts, int32_t count, int32_t *label) {
  sr_status status = SR_OK;
  const sr_parts_view *view = &parts->view;
  label_range *heap = NULL;
  int32_t *coarse = NULL, next = 0;
  if (count < 1 || count > view->parts)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "%d coarse parts were asked for; this hierarchy has 1 to %d", count,
                    view->parts));
  SR_NEW(ctx, heap, count);
  SR_NEW_ZERO(ctx, coarse, view->parts);
  heap[0] = (label_range){.first = 0, .leaves = view->parts, .rows = view->nodes};
  split_ranges(heap, count, view->size);
  /* Number the ranges from left to right: mark where each begins, then count the marks. */
  for (int32_t r = 0; r < count; r++) coarse[heap[r].first] = 1;
  for (int32_t p = 0; p < view->parts; p++) coarse[p] = (next += coarse[p]) - 1;
  for (int64_t i = 0; i < view->nodes; i++) label[i] = coarse[view->part[i]];
cleanup:
  sr__free(ctx, heap);
  sr__free(ctx, coarse);
  return status;
}
