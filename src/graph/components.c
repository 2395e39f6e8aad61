/* Connected components by union-find: inside chunks in parallel, then across them. */
#include "core/joined_sets.h"
#include "graph.h"

typedef struct component_work {
  const sr_graph_view *view;
  int32_t *parent;
} component_work;

static sr_status join_inside(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  component_work *work = data;
  const sr_graph_view *view = work->view;
  sr__span span = sr__graph_chunk(view->nodes, chunk);
  for (int64_t i = span.begin; i < span.end; i++) work->parent[i] = (int32_t)i;
  for (int64_t i = span.begin; i < span.end; i++) {
    for (int64_t a = view->offset[i]; a < view->offset[i + 1] && view->neighbor[a] < i; a++) {
      if (view->neighbor[a] >= span.begin)
        sr__join_sets(work->parent, (int32_t)i, view->neighbor[a]);
    }
  }
  return SR_OK;
}

static void join_across(const component_work *work, sr__span span) {
  const sr_graph_view *view = work->view;
  for (int64_t i = span.begin; i < span.end; i++) {
    for (int64_t a = view->offset[i]; a < view->offset[i + 1] && view->neighbor[a] < span.begin;
         a++)
      sr__join_sets(work->parent, (int32_t)i, view->neighbor[a]);
  }
}

/* Replaces parents by component numbers in place: a parent lies below its child, so it has its
 * number already. */
static int64_t number_components(int32_t *parent, int64_t nodes) {
  int32_t count = 0;
  for (int64_t i = 0; i < nodes; i++) parent[i] = parent[i] == i ? count++ : parent[parent[i]];
  return count;
}

sr_status sr_graph_components(sr_context *ctx, const sr_graph *graph, int32_t *component,
                              int64_t *count) {
  sr_status status = SR_OK;
  component_work work = {&graph->view, component};
  int64_t chunks = sr__graph_chunks(graph->view.nodes);
  SR_TRY(sr__parallel_for(ctx, chunks, join_inside, &work));
  for (int64_t c = 1; c < chunks; c++) {
    SR_TRY(sr__check_interrupt(ctx));
    join_across(&work, sr__graph_chunk(graph->view.nodes, c));
  }
  *count = number_components(component, graph->view.nodes);
cleanup:
  return status;
}

sr_status sr__graph_largest(sr_context *ctx, const sr_graph *graph, int32_t **nodes,
                            int64_t *count) {
  sr_status status = SR_OK;
  int32_t *component = NULL, *chosen = NULL;
  int64_t *size = NULL, components = 0, n = graph->view.nodes, largest = 0;
  *nodes = NULL;
  *count = 0;
  SR_NEW(ctx, component, n);
  SR_TRY(sr_graph_components(ctx, graph, component, &components));
  SR_NEW_ZERO(ctx, size, components + 1);
  for (int64_t i = 0; i < n; i++) size[component[i]]++;
  for (int64_t c = 1; c < components; c++) largest = size[c] > size[largest] ? c : largest;
  SR_NEW(ctx, chosen, size[largest]);
  for (int64_t i = 0; i < n; i++) {
    if (component[i] == largest) chosen[(*count)++] = (int32_t)i;
  }
  *nodes = chosen;
cleanup:
  sr__free(ctx, component);
  sr__free(ctx, size);
  return status;
}
