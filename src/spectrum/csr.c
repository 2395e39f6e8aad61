/* Plain weighted graphs: views, degrees, locality, relabeling. */
#include "multilevel.h"

sr__csr sr__csr_view(const sr_graph_view *view) {
  return (sr__csr){.nodes = view->nodes,
                   .arcs = view->arcs,
                   .offset = view->offset,
                   .neighbor = view->neighbor,
                   .weight = view->weight};
}

void sr__csr_free(sr_context *ctx, sr__csr *graph) {
  sr__free(ctx, (void *)graph->offset);
  sr__free(ctx, (void *)graph->neighbor);
  sr__free(ctx, (void *)graph->weight);
  sr__free(ctx, (void *)graph->mass);
  *graph = (sr__csr){0};
}

double sr__csr_degree(const sr__csr *graph, int64_t node) {
  if (!graph->weight) return (double)(graph->offset[node + 1] - graph->offset[node]);
  double sum = 0;
  for (int64_t a = graph->offset[node]; a < graph->offset[node + 1]; a++) sum += graph->weight[a];
  return sum;
}

/* Looks at every node of small graphs and at a regular sample of large ones. */
bool sr__is_local(const sr__csr *graph) {
  enum { NEAR = 512 };
  int64_t inside = 0, near = 0, seen = 0, stride = graph->nodes / 65536 + 1;
  for (int64_t i = 0; i < graph->nodes; i += stride) {
    for (int64_t a = graph->offset[i]; a < graph->offset[i + 1]; a++) {
      inside += graph->neighbor[a] / SR__CHUNK == i / SR__CHUNK;
      near += graph->neighbor[a] / NEAR == i / NEAR;
      seen++;
    }
  }
  return (double)inside >= 0.6 * (double)seen && (double)near >= 0.3 * (double)seen;
}

/* ---- blocks grown by breadth-first search --------------------------------------------------- */

typedef struct grower {
  const sr__csr *graph;
  uint8_t *placed;
  int32_t *order; /* the places taken so far are also the queue */
  int64_t count;
  int32_t *seeds; /* nodes seen at the rim of finished blocks, oldest first */
  int64_t first_seed, seed_count;
  int64_t next_node; /* no unplaced node lies below it */
} grower;

static int64_t next_seed(grower *g) {
  while (g->first_seed < g->seed_count) {
    int32_t node = g->seeds[g->first_seed++];
    if (!g->placed[node]) return node;
  }
  while (g->next_node < g->graph->nodes && g->placed[g->next_node]) g->next_node++;
  return g->next_node < g->graph->nodes ? g->next_node : -1;
}

static void place(grower *g, int32_t node) {
  g->placed[node] = 1;
  g->order[g->count++] = node;
}

static void remember_rim(grower *g, int32_t node) {
  for (int64_t a = g->graph->offset[node]; a < g->graph->offset[node + 1]; a++) {
    int32_t other = g->graph->neighbor[a];
    if (!g->placed[other] && g->seed_count < g->graph->nodes) g->seeds[g->seed_count++] = other;
  }
}

/* Fills the places up to `end`; unplaced neighbors of the block become seeds of later ones. */
static void grow_block(grower *g, int64_t end) {
  int64_t head = g->count;
  while (g->count < end) {
    if (head == g->count) {
      int64_t seed = next_seed(g);
      if (seed < 0) return;
      place(g, (int32_t)seed);
    }
    int32_t node = g->order[head++];
    for (int64_t a = g->graph->offset[node]; a < g->graph->offset[node + 1]; a++) {
      int32_t other = g->graph->neighbor[a];
      if (!g->placed[other] && g->count < end) place(g, other);
    }
    if (g->count == end) head--; /* its row may be cut short */
  }
  for (; head < g->count; head++) remember_rim(g, g->order[head]);
}

sr_status sr__locality_order(sr_context *ctx, const sr__csr *graph, int32_t *order) {
  sr_status status = SR_OK;
  grower g = {.graph = graph, .order = order};
  SR_NEW_ZERO(ctx, g.placed, graph->nodes);
  SR_NEW(ctx, g.seeds, graph->nodes);
  while (g.count < graph->nodes) {
    int64_t end = g.count + SR__CHUNK;
    grow_block(&g, end < graph->nodes ? end : graph->nodes);
    SR_TRY(sr__check_interrupt(ctx));
  }
cleanup:
  sr__free(ctx, g.placed);
  sr__free(ctx, g.seeds);
  return status;
}

/* ---- relabeling ---------------------------------------------------------------------------- */

typedef struct permute_work {
  const sr__csr *from;
  const int32_t *order;
  int32_t *place_of;
  int64_t *offset;
  int32_t *neighbor;
  float *weight, *mass;
} permute_work;

static sr_status permute_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  permute_work *w = data;
  int64_t end = (chunk + 1) * SR__CHUNK;
  if (end > w->from->nodes) end = w->from->nodes;
  for (int64_t k = chunk * SR__CHUNK; k < end; k++) {
    int64_t node = w->order[k], to = w->offset[k];
    if (w->mass) w->mass[k] = w->from->mass[node];
    for (int64_t a = w->from->offset[node]; a < w->from->offset[node + 1]; a++, to++) {
      w->neighbor[to] = w->place_of[w->from->neighbor[a]];
      if (w->weight) w->weight[to] = w->from->weight[a];
    }
  }
  return SR_OK;
}

sr_status sr__csr_permute(sr_context *ctx, const sr__csr *graph, const int32_t *order,
                          sr__csr *permuted) {
  sr_status status = SR_OK;
  permute_work w = {.from = graph, .order = order};
  *permuted = (sr__csr){.nodes = graph->nodes, .arcs = graph->arcs};
  SR_NEW(ctx, w.offset, graph->nodes + 1);
  permuted->offset = w.offset;
  SR_NEW(ctx, w.neighbor, graph->arcs);
  permuted->neighbor = w.neighbor;
  if (graph->weight) SR_NEW(ctx, w.weight, graph->arcs);
  permuted->weight = w.weight;
  if (graph->mass) SR_NEW(ctx, w.mass, graph->nodes);
  permuted->mass = w.mass;
  SR_NEW(ctx, w.place_of, graph->nodes);
  w.offset[0] = 0;
  for (int64_t k = 0; k < graph->nodes; k++) {
    w.place_of[order[k]] = (int32_t)k;
    w.offset[k + 1] = w.offset[k] + graph->offset[order[k] + 1] - graph->offset[order[k]];
  }
  SR_TRY(sr__parallel_for(ctx, sr__chunks_of(graph->nodes), permute_chunk, &w));
cleanup:
  sr__free(ctx, w.place_of);
  if (status != SR_OK) sr__csr_free(ctx, permuted);
  return status;
}
