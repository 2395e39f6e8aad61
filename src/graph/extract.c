/* Induced subgraphs and relabeled graphs. */
#include "graph.h"

typedef struct extract_work {
  const sr_graph_view *from;
  const int32_t *nodes;
  int64_t count;
  int32_t *new_name; /* of every node of `from`; -1 = left out */
  bool increasing;   /* names keep their order, so rows stay sorted */
  sr_graph *sub;
} extract_work;

static sr_status count_rows(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  extract_work *work = data;
  const sr_graph_view *from = work->from;
  sr__span span = sr__graph_chunk(work->count, chunk);
  for (int64_t i = span.begin; i < span.end; i++) {
    int64_t node = work->nodes[i], degree = 0;
    for (int64_t a = from->offset[node]; a < from->offset[node + 1]; a++)
      degree += work->new_name[from->neighbor[a]] >= 0;
    work->sub->offset[i + 1] = degree;
  }
  return SR_OK;
}

enum { SHORT_ROW = 16 };

/* Each neighbor goes to the place that the number of those before it says (equal ones in their
 * order): no branch depends on the data. */
static void sort_short_row(int32_t *neighbor, float *weight, int64_t count) {
  int32_t name[SHORT_ROW];
  float kept[SHORT_ROW];
  for (int i = 0; i < SHORT_ROW; i++) name[i] = i < count ? neighbor[i] : INT32_MAX;
  for (int i = 0; i < count && weight; i++) kept[i] = weight[i];
  for (int i = 0; i < count; i++) {
    int32_t rank = 0;
    for (int j = 0; j < SHORT_ROW; j++)
      rank += (name[j] < name[i]) | ((name[j] == name[i]) & (j < i));
    neighbor[rank] = name[i];
    if (weight) weight[rank] = kept[i];
  }
}

/* Shell's sort, so that a hub's long row does not cost the square of its degree. */
static void sort_long_row(int32_t *neighbor, float *weight, int64_t count) {
  for (int64_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
    for (int64_t i = gap; i < count; i++) {
      int32_t key = neighbor[i];
      float key_weight = weight ? weight[i] : 0.0f;
      int64_t j = i;
      for (; j >= gap && neighbor[j - gap] > key; j -= gap) {
        neighbor[j] = neighbor[j - gap];
        if (weight) weight[j] = weight[j - gap];
      }
      neighbor[j] = key;
      if (weight) weight[j] = key_weight;
    }
  }
}

void sr__graph_sort_row(int32_t *neighbor, float *weight, int64_t count) {
  if (count <= SHORT_ROW)
    sort_short_row(neighbor, weight, count);
  else
    sort_long_row(neighbor, weight, count);
}

static sr_status fill_rows(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  extract_work *work = data;
  const sr_graph_view *from = work->from;
  sr_graph *sub = work->sub;
  sr__span span = sr__graph_chunk(work->count, chunk);
  for (int64_t i = span.begin; i < span.end; i++) {
    int64_t node = work->nodes[i], place = sub->offset[i];
    for (int64_t a = from->offset[node]; a < from->offset[node + 1]; a++) {
      int32_t name = work->new_name[from->neighbor[a]];
      if (name < 0) continue;
      if (sub->weight) sub->weight[place] = from->weight[a];
      sub->neighbor[place++] = name;
    }
    if (!work->increasing) {
      int64_t first = sub->offset[i];
      sr__graph_sort_row(sub->neighbor + first, sub->weight ? sub->weight + first : NULL,
                         place - first);
    }
  }
  return SR_OK;
}

static sr_status name_nodes(sr_context *ctx, extract_work *work) {
  for (int64_t i = 0; i < work->from->nodes; i++) work->new_name[i] = -1;
  work->increasing = true;
  for (int64_t i = 0; i < work->count; i++) {
    int32_t node = work->nodes[i];
    if (node < 0 || node >= work->from->nodes || work->new_name[node] >= 0)
      return sr__fail(ctx, SR_ERROR_ARGUMENT,
                      "node %d at place %lld of a subgraph is out of range or repeated", node,
                      (long long)i);
    work->new_name[node] = (int32_t)i;
    if (i > 0 && node < work->nodes[i - 1]) work->increasing = false;
  }
  return SR_OK;
}

sr_status sr__graph_extract(sr_context *ctx, const sr_graph *graph, const int32_t *nodes,
                            int64_t count, sr_graph **sub) {
  sr_status status = SR_OK;
  const sr_graph_view *from = &graph->view;
  extract_work work = {.from = from, .nodes = nodes, .count = count};
  *sub = NULL;
  SR_NEW(ctx, work.new_name, from->nodes);
  SR_TRY(name_nodes(ctx, &work));
  SR_TRY(sr__graph_begin(ctx, count, from->builder, &work.sub));
  work.sub->view.recall = from->recall;
  SR_TRY(sr__parallel_for(ctx, sr__graph_chunks(count), count_rows, &work));
  SR_TRY(sr__graph_sum_degrees(ctx, work.sub, from->weight != NULL));
  SR_TRY(sr__parallel_for(ctx, sr__graph_chunks(count), fill_rows, &work));
  sr__graph_finish(work.sub);
  *sub = work.sub;
  work.sub = NULL;
cleanup:
  sr_graph_free(&work.sub);
  sr__free(ctx, work.new_name);
  return status;
}
