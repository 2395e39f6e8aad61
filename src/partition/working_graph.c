/* Working graphs: splitting in two, components. */
#include "partition.h"

enum { SPLIT_GRAIN = 16384 };

int64_t sr__largest_node(const sr__working_graph *working) {
  int64_t largest = 1;
  for (int64_t i = 0; working->size && i < working->graph.nodes; i++)
    if (working->size[i] > largest) largest = working->size[i];
  return largest;
}

double sr__cut_weight(const sr__working_graph *working, const int32_t *label) {
  const sr__csr *graph = &working->graph;
  double cut = 0;
  for (int64_t node = 0; node < graph->nodes; node++)
    for (int64_t arc = graph->offset[node]; arc < graph->offset[node + 1]; arc++)
      if (label[graph->neighbor[arc]] != label[node]) cut += sr__arc_weight(working, arc);
  return cut / 2;
}

void sr__working_graph_free(sr_context *ctx, sr__working_graph *working) {
  sr__csr_free(ctx, &working->graph);
  sr__free(ctx, working->size);
  *working = (sr__working_graph){0};
}

/* ---- splitting ---------------------------------------------------------------------------- */

typedef struct half_arrays {
  int64_t *offset;
  int32_t *neighbor;
  float *weight, *mass;
  int32_t *size;
} half_arrays;

typedef struct split_work {
  const sr__working_graph *working;
  const int32_t *side;
  int32_t *local;
  half_arrays half[2];
} split_work;

static int64_t chunk_end(const split_work *work, int64_t first) {
  int64_t nodes = work->working->graph.nodes, end = first + sr__chunk_size(nodes, SPLIT_GRAIN);
  return end < nodes ? end : nodes;
}

/* The degree of local node i goes to offset[i + 1]. */
static sr_status count_arcs(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  split_work *work = data;
  const sr__csr *graph = &work->working->graph;
  int64_t first = chunk * sr__chunk_size(graph->nodes, SPLIT_GRAIN);
  for (int64_t node = first; node < chunk_end(work, first); node++) {
    int32_t side = work->side[node];
    int64_t degree = 0;
    for (int64_t arc = graph->offset[node]; arc < graph->offset[node + 1]; arc++)
      degree += work->side[graph->neighbor[arc]] == side;
    work->half[side].offset[work->local[node] + 1] = degree;
  }
  return SR_OK;
}

static sr_status copy_arcs(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  split_work *work = data;
  const sr__working_graph *working = work->working;
  const sr__csr *graph = &working->graph;
  int64_t first = chunk * sr__chunk_size(graph->nodes, SPLIT_GRAIN);
  for (int64_t node = first; node < chunk_end(work, first); node++) {
    int32_t side = work->side[node], name = work->local[node];
    half_arrays *half = &work->half[side];
    int64_t to = half->offset[name];
    if (half->size) half->size[name] = working->size[node];
    if (half->mass) half->mass[name] = graph->mass[node];
    for (int64_t arc = graph->offset[node]; arc < graph->offset[node + 1]; arc++) {
      int32_t other = graph->neighbor[arc];
      if (work->side[other] != side) continue;
      if (half->weight) half->weight[to] = graph->weight[arc];
      half->neighbor[to++] = work->local[other];
    }
  }
  return SR_OK;
}

static sr_status make_half(sr_context *ctx, split_work *work, int side, sr__working_graph *half) {
  sr_status status = SR_OK;
  half_arrays *arrays = &work->half[side];
  int64_t nodes = half->graph.nodes;
  for (int64_t i = 0; i < nodes; i++) arrays->offset[i + 1] += arrays->offset[i];
  half->graph.arcs = arrays->offset[nodes];
  SR_NEW(ctx, arrays->neighbor, half->graph.arcs);
  half->graph.neighbor = arrays->neighbor;
  if (work->working->graph.weight) SR_NEW(ctx, arrays->weight, half->graph.arcs);
  half->graph.weight = arrays->weight;
  if (work->working->graph.mass) SR_NEW(ctx, arrays->mass, nodes);
  half->graph.mass = arrays->mass;
  if (work->working->size) SR_NEW(ctx, arrays->size, nodes);
  half->size = arrays->size;
cleanup:
  return status;
}

sr_status sr__working_graph_split(sr_context *ctx, const sr__working_graph *working,
                                  const int32_t *side, int32_t *local, sr__working_graph half[2]) {
  sr_status status = SR_OK;
  split_work work = {.working = working, .side = side, .local = local};
  int64_t chunks = sr__chunk_count(working->graph.nodes, SPLIT_GRAIN);
  half[0] = half[1] = (sr__working_graph){0};
  for (int64_t i = 0; i < working->graph.nodes; i++) {
    local[i] = (int32_t)half[side[i]].graph.nodes++;
    half[side[i]].rows += sr__node_size(working, i);
  }
  for (int s = 0; s < 2; s++) {
    SR_NEW_ZERO(ctx, work.half[s].offset, half[s].graph.nodes + 1);
    half[s].graph.offset = work.half[s].offset;
  }
  SR_TRY(sr__parallel_for(ctx, chunks, count_arcs, &work));
  for (int s = 0; s < 2; s++) SR_TRY(make_half(ctx, &work, s, &half[s]));
  SR_TRY(sr__parallel_for(ctx, chunks, copy_arcs, &work));
cleanup:
  for (int s = 0; s < 2 && status != SR_OK; s++) sr__working_graph_free(ctx, &half[s]);
  return status;
}

/* ---- components --------------------------------------------------------------------------- */

sr_status sr__working_graph_components(sr_context *ctx, const sr__working_graph *working,
                                       int32_t *component, int64_t **rows, int64_t *count) {
  sr_status status = SR_OK;
  const sr__csr *graph = &working->graph;
  int32_t *queue = NULL;
  int64_t capacity = 0;
  *rows = NULL;
  *count = 0;
  SR_NEW(ctx, queue, graph->nodes);
  for (int64_t i = 0; i < graph->nodes; i++) component[i] = -1;
  for (int64_t start = 0; start < graph->nodes; start++) {
    if (component[start] >= 0) continue;
    int32_t name = (int32_t)(*count)++;
    SR_GROW(ctx, *rows, capacity, *count);
    int64_t sum = 0, head = 0, tail = 0;
    queue[tail++] = (int32_t)start;
    component[start] = name;
    while (head < tail) {
      int32_t node = queue[head++];
      sum += sr__node_size(working, node);
      for (int64_t arc = graph->offset[node]; arc < graph->offset[node + 1]; arc++) {
        int32_t other = graph->neighbor[arc];
        if (component[other] >= 0) continue;
        component[other] = name;
        queue[tail++] = other;
      }
    }
    (*rows)[name] = sum;
  }
cleanup:
  sr__free(ctx, queue);
  if (status != SR_OK) {
    sr__free(ctx, *rows);
    *rows = NULL;
  }
  return status;
}
