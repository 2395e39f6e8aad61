/* Refinement of all cuts at once: the pairs of neighboring parts are searched in classes of pairs
 * that have no part in common. Searches of one class touch no common node, so they run side by side
 * and the result does not depend on how many do. */
#include "kway.h"

enum { BORDER_GRAIN = 8192, MAX_CLASSES = 256 };
/* How many times more strongly a node may be bound to its own part and still begin a search. */
static const double LOOSE = 3;

/* ---- the border --------------------------------------------------------------------------- */

static bool is_inner(const sr__kway_work *work, int64_t node) {
  const sr__csr *graph = &work->working->graph;
  const int32_t *part = work->refiner.part;
  int32_t other = 0;
  for (int64_t arc = graph->offset[node]; arc < graph->offset[node + 1]; arc++)
    other |= part[graph->neighbor[arc]] ^ part[node];
  return other == 0;
}

/* Weight of the node's arcs into each part; gives how many parts it meets, its own among them. */
static int32_t link_parts(const sr__kway_work *work, int64_t node, sr__part_links *links) {
  const sr__working_graph *working = work->working;
  int32_t count = 0;
  for (int64_t arc = working->graph.offset[node]; arc < working->graph.offset[node + 1]; arc++) {
    int32_t part = work->refiner.part[working->graph.neighbor[arc]];
    if (links->weight[part] == 0) links->met[count++] = part;
    links->weight[part] += sr__arc_weight(working, arc);
  }
  return count;
}

/* A node that is bound to its own part far more strongly than to another one is left to the search,
 * which meets it when its neighbors move. */
static sr_status collect_border(sr_context *worker, void *data, int64_t chunk, int slot) {
  sr_status status = SR_OK;
  sr__kway_work *work = data;
  sr__border_list *list = &work->chunk_border[chunk];
  sr__part_links *links = &work->links[slot];
  int64_t nodes = work->working->graph.nodes, size = sr__chunk_size(nodes, BORDER_GRAIN);
  int64_t end = (chunk + 1) * size < nodes ? (chunk + 1) * size : nodes;
  for (int64_t node = chunk * size; node < end; node++) {
    if (is_inner(work, node)) continue;
    int32_t own = work->refiner.part[node], met = link_parts(work, node, links);
    double inner = links->weight[own];
    for (int32_t m = 0; m < met; m++) {
      int32_t other = links->met[m];
      double outer = links->weight[other];
      links->weight[other] = 0;
      if (other == own || LOOSE * outer < inner) continue;
      if (!work->active[own] && !work->active[other]) continue;
      SR_GROW(worker, list->entry, list->capacity, list->count + 1);
      list->entry[list->count++] = (sr__border_entry){.low = own < other ? own : other,
                                                      .high = own < other ? other : own,
                                                      .node = (int32_t)node};
    }
  }
cleanup:
  return status;
}

/* One pass of a stable counting sort by `low` or `high`. */
static void sort_by_part(sr__kway_work *work, const sr__border_entry *from, sr__border_entry *to,
                         int64_t count, bool by_high) {
  int64_t *place = work->count;
  memset(place, 0, ((size_t)work->parts + 1) * sizeof *place);
  for (int64_t i = 0; i < count; i++) place[(by_high ? from[i].high : from[i].low) + 1]++;
  for (int32_t p = 0; p < work->parts; p++) place[p + 1] += place[p];
  for (int64_t i = 0; i < count; i++) to[place[by_high ? from[i].high : from[i].low]++] = from[i];
}

static sr_status list_pairs(sr_context *ctx, sr__kway_work *work, const sr__border_entry *entry,
                            int64_t count) {
  sr_status status = SR_OK;
  work->pairs = 0;
  for (int64_t i = 0; i < count; i++) {
    work->border[i] = entry[i].node;
    if (i == 0 || entry[i].low != entry[i - 1].low || entry[i].high != entry[i - 1].high) {
      SR_GROW(ctx, work->pair, work->pair_capacity, work->pairs + 1);
      work->pair[work->pairs++] =
          (sr__part_pair){.low = entry[i].low, .high = entry[i].high, .first = i, .waiting = true};
    }
    work->pair[work->pairs - 1].count++;
  }
cleanup:
  return status;
}

sr_status sr__kway_find_border(sr_context *ctx, sr__kway_work *work) {
  sr_status status = SR_OK;
  sr__border_entry *entry = NULL, *sorted = NULL;
  int64_t chunks = sr__chunk_count(work->working->graph.nodes, BORDER_GRAIN), total = 0;
  SR_NEW_ZERO(ctx, work->chunk_border, chunks);
  SR_TRY(sr__parallel_for(ctx, chunks, collect_border, work));
  for (int64_t c = 0; c < chunks; c++) total += work->chunk_border[c].count;
  SR_NEW(ctx, entry, total);
  SR_NEW(ctx, sorted, total);
  total = 0;
  for (int64_t c = 0; c < chunks; c++) {
    const sr__border_list *list = &work->chunk_border[c];
    if (list->count) memcpy(entry + total, list->entry, (size_t)list->count * sizeof *entry);
    total += list->count;
  }
  sort_by_part(work, entry, sorted, total, true);
  sort_by_part(work, sorted, entry, total, false);
  sr__free(ctx, work->border);
  work->border = NULL;
  SR_NEW(ctx, work->border, total);
  SR_TRY(list_pairs(ctx, work, entry, total));
cleanup:
  for (int64_t c = 0; work->chunk_border && c < chunks; c++)
    sr__free(ctx, work->chunk_border[c].entry);
  sr__free(ctx, work->chunk_border);
  work->chunk_border = NULL;
  sr__free(ctx, entry);
  sr__free(ctx, sorted);
  return status;
}

/* ---- pairs -------------------------------------------------------------------------------- */

static sr__pair_limits limits_of(const sr__kway_work *work, const sr__part_pair *pair) {
  const sr__kway_options *options = work->options;
  sr__pair_limits limits = {.largest_node = work->largest_node,
                            .patience = options->patience,
                            .passes = options->passes};
  int64_t both = work->rows[pair->low] + work->rows[pair->high];
  int64_t rest = both - options->highest, lowest = options->lowest > rest ? options->lowest : rest;
  if (options->highest == 0) {
    limits.lowest = limits.highest = work->rows[pair->low];
  } else if (2 * lowest > both) {
    limits.lowest = limits.highest = both / 2;
  } else {
    limits.lowest = lowest > 1 ? lowest : 1;
    limits.highest = both - limits.lowest;
  }
  return limits;
}

static sr_status search_pair(sr_context *worker, void *data, int64_t item, int slot) {
  sr__kway_work *work = data;
  sr__part_pair *pair = &work->pair[work->class_pair[item]];
  sr__pair_limits limits = limits_of(work, pair);
  int64_t before = work->rows[pair->low];
  sr__searched_pair searched = {.a = pair->low,
                                .b = pair->high,
                                .seed = work->border + pair->first,
                                .seed_count = pair->count,
                                .rows_a = before};
  sr_status status =
      sr__refine_pair(worker, &work->refiner, &work->scratch[slot], &limits, &searched);
  pair->gained = searched.gained;
  work->rows[pair->low] += searched.rows_a - before;
  work->rows[pair->high] -= searched.rows_a - before;
  if (pair->gained > 0 || searched.rows_a != before)
    work->changed[pair->low] = work->changed[pair->high] = true;
  return status;
}

/* The next class: every waiting pair, in order, whose parts no earlier pair of the class holds. */
static int64_t choose_class(sr__kway_work *work) {
  int64_t chosen = 0;
  memset(work->busy, 0, (size_t)work->parts * sizeof *work->busy);
  for (int64_t i = 0; i < work->pairs; i++) {
    sr__part_pair *pair = &work->pair[i];
    if (!pair->waiting || work->busy[pair->low] || work->busy[pair->high]) continue;
    work->busy[pair->low] = work->busy[pair->high] = true;
    pair->waiting = false;
    work->class_pair[chosen++] = i;
  }
  return chosen;
}

/* One search of every pair of neighbors; *gained is what the cut lost. */
static sr_status run_round(sr_context *ctx, sr__kway_work *work, double *gained) {
  sr_status status = SR_OK;
  SR_TRY(sr__kway_find_border(ctx, work));
  sr__free(ctx, work->class_pair);
  work->class_pair = NULL;
  SR_NEW(ctx, work->class_pair, work->pairs);
  /* A part with very many neighbors would take a class for each. */
  for (int round = 0; round < MAX_CLASSES; round++) {
    int64_t count = choose_class(work);
    if (count == 0) break;
    SR_TRY(sr__parallel_for(ctx, count, search_pair, work));
  }
  *gained = 0;
  for (int64_t i = 0; i < work->pairs; i++) *gained += work->pair[i].gained;
cleanup:
  return status;
}

/* ---- rounds ------------------------------------------------------------------------------- */

sr_status sr__kway_init(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                        int32_t *part, const sr__kway_options *options, sr__kway_work *work) {
  sr_status status = SR_OK;
  *work =
      (sr__kway_work){.working = working, .parts = parts, .options = options, .largest_node = 1};
  work->slots = sr_context_threads(ctx);
  SR_TRY(sr__refiner_init(ctx, working, part, &work->refiner));
  SR_NEW_ZERO(ctx, work->rows, parts);
  SR_NEW_ZERO(ctx, work->changed, parts);
  SR_NEW_ZERO(ctx, work->active, parts);
  SR_NEW_ZERO(ctx, work->busy, parts);
  SR_NEW_ZERO(ctx, work->count, (int64_t)parts + 1);
  SR_NEW_ZERO(ctx, work->scratch, work->slots);
  SR_NEW_ZERO(ctx, work->links, work->slots);
  for (int s = 0; s < work->slots; s++) {
    SR_NEW_ZERO(ctx, work->links[s].weight, parts);
    SR_NEW(ctx, work->links[s].met, parts);
  }
  for (int32_t i = 0; i < working->graph.nodes; i++) {
    int64_t size = sr__node_size(working, i);
    work->rows[part[i]] += size;
    if (size > work->largest_node) work->largest_node = size;
  }
  memset(work->active, 1, (size_t)parts * sizeof *work->active);
cleanup:
  return status;
}

void sr__kway_free(sr_context *ctx, sr__kway_work *work) {
  sr__refiner_free(ctx, &work->refiner);
  for (int s = 0; s < work->slots; s++) {
    if (work->scratch) sr__pair_scratch_free(ctx, &work->scratch[s]);
    if (work->links) sr__free(ctx, work->links[s].weight);
    if (work->links) sr__free(ctx, work->links[s].met);
  }
  sr__free(ctx, work->rows);
  sr__free(ctx, work->changed);
  sr__free(ctx, work->active);
  sr__free(ctx, work->busy);
  sr__free(ctx, work->count);
  sr__free(ctx, work->border);
  sr__free(ctx, work->pair);
  sr__free(ctx, work->class_pair);
  sr__free(ctx, work->scratch);
  sr__free(ctx, work->links);
}

sr_status sr__refine_kway(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                          int32_t *part, const sr__kway_options *options) {
  sr_status status = SR_OK;
  sr__kway_work work = {0};
  SR_TRY(sr__kway_init(ctx, working, parts, part, options, &work));
  for (int round = 0; round < options->rounds; round++) {
    double gained = 0;
    SR_TRY(run_round(ctx, &work, &gained));
    if (!(gained > 0)) break;
    bool *swap = work.active;
    work.active = work.changed;
    work.changed = swap;
    memset(work.changed, 0, (size_t)parts * sizeof *work.changed);
  }
cleanup:
  sr__kway_free(ctx, &work);
  return status;
}
