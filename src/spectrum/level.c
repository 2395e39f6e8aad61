/* Levels: the sliced layout and the hierarchy of them. */
#include "core/dense.h"
#include "multilevel.h"

typedef struct layout_work {
  const sr__csr *graph;
  sr__level *level;
  const int32_t *aggregate; /* of nodes, when coarse slots are written */
  int64_t coarse_nodes;
} layout_work;

/* Points to an earlier slice of the same chunk. */
static bool points_back(int32_t from, int32_t to) {
  return to >> SR__CHUNK_BITS == from >> SR__CHUNK_BITS && to / SR__SLICE < from / SR__SLICE;
}

/* ---- columns ------------------------------------------------------------------------------ */

/* Width of both halves of each slice, for now in first[slice + 1] (all) and middle[slice]; whether
 * a column is too far for the narrow way. */
static sr_status measure_chunk(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  layout_work *w = data;
  sr__level *level = w->level;
  int32_t end = sr__chunk_end(level, chunk);
  uint32_t farthest = 0;
  for (int32_t slice = sr__chunk_begin(chunk); slice < end; slice += SR__SLICE) {
    int64_t back_width = 0, rest_width = 0;
    for (int32_t slot = slice; slot < slice + SR__SLICE; slot++) {
      int32_t node = sr__node_at(level->nodes, slot);
      if (node < 0) continue;
      int64_t back = 0, row = w->graph->offset[node], row_end = w->graph->offset[node + 1];
      for (int64_t a = row; a < row_end; a++) {
        int32_t to = sr__slot_of(level->nodes, w->graph->neighbor[a]);
        uint32_t far = (uint32_t)(to > slot ? to - slot : slot - to);
        back += points_back(slot, to);
        if (far > farthest) farthest = far;
      }
      if (back > back_width) back_width = back;
      if (row_end - row - back > rest_width) rest_width = row_end - row - back;
    }
    level->middle[slice / SR__SLICE] = (uint32_t)back_width;
    level->first[slice / SR__SLICE + 1] = (uint32_t)(back_width + rest_width);
  }
  level->partial[chunk * SR__SUMS] = farthest;
  return SR_OK;
}

static void fill_row(const layout_work *w, int32_t slot, int32_t node) {
  sr__level *level = w->level;
  const sr__csr *graph = w->graph;
  int lane = slot % SR__SLICE;
  /* Of the next group with a free lane: columns that point elsewhere, and back. */
  size_t next[2] = {level->middle[slot / SR__SLICE], level->first[slot / SR__SLICE]};
  double degree = 0;
  for (int64_t a = graph->offset[node]; a < graph->offset[node + 1]; a++) {
    int32_t to = sr__slot_of(level->nodes, graph->neighbor[a]);
    size_t place = next[points_back(slot, to)]++ * SR__SLICE + (size_t)lane;
    float weight = graph->weight ? graph->weight[a] : 1.0f;
    if (level->step)
      level->step[place] = (int16_t)(to - slot);
    else
      level->column[place] = to;
    if (level->value) level->value[place] = weight;
    degree += weight;
  }
  level->degree[slot] = (float)degree;
  if (level->mass) level->mass[slot] = graph->mass[node];
}

/* Nothing but padding, for rows to be written into. */
static void pad_groups(sr__level *level, size_t from, size_t to) {
  if (level->step) memset(level->step + from, 0, (to - from) * sizeof *level->step);
  for (size_t c = from; level->column && c < to; c++) level->column[c] = level->slots;
  if (level->value) memset(level->value + from, 0, (to - from) * sizeof(float));
}

static sr_status fill_chunk(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  layout_work *w = data;
  sr__level *level = w->level;
  int32_t begin = sr__chunk_begin(chunk), end = sr__chunk_end(level, chunk);
  pad_groups(level, (size_t)level->first[begin / SR__SLICE] * SR__SLICE,
             (size_t)level->first[end / SR__SLICE] * SR__SLICE);
  for (int32_t slot = begin; slot < end; slot++) {
    int32_t node = sr__node_at(level->nodes, slot);
    level->degree[slot] = 0;
    if (level->mass) level->mass[slot] = 0;
    if (node >= 0) fill_row(w, slot, node);
  }
  return SR_OK;
}

/* Lays a graph out in slices. Vectors of the cycle come later; `inner` levels need all of them. */
static sr_status level_build(sr_context *ctx, const sr__csr *graph, sr__level *level) {
  sr_status status = SR_OK;
  layout_work w = {.graph = graph, .level = level};
  *level = (sr__level){.nodes = graph->nodes, .chunks = sr__chunks_of(graph->nodes)};
  level->slots =
      sr__chunk_begin(level->chunks - 1) + sr__stretch(level->nodes, level->chunks - 1) * SR__SLICE;
  level->stride = level->slots + SR__SLICE;
  int64_t slices = level->slots / SR__SLICE, total = 0;
  SR_NEW(ctx, level->first, slices + 1);
  SR_NEW(ctx, level->middle, slices);
  SR_NEW(ctx, level->degree, level->slots);
  if (graph->mass) SR_NEW(ctx, level->mass, level->slots);
  SR_NEW(ctx, level->partial, level->chunks * SR__SUMS);
  SR_TRY(sr__parallel_for(ctx, level->chunks, measure_chunk, &w));
  level->first[0] = 0;
  for (int64_t s = 0; s < slices; s++) {
    level->middle[s] += (uint32_t)total;
    total += level->first[s + 1];
    if (total > UINT32_MAX)
      SR_TRY(sr__fail(ctx, SR_ERROR_OVERFLOW, "a graph of %lld arcs is too large for the solver",
                      (long long)graph->arcs));
    level->first[s + 1] = (uint32_t)total;
  }
  bool narrow = true;
  for (int64_t c = 0; c < level->chunks; c++)
    narrow = narrow && level->partial[c * SR__SUMS] <= INT16_MAX;
  if (narrow)
    SR_NEW(ctx, level->step, total * SR__SLICE);
  else
    SR_NEW(ctx, level->column, total * SR__SLICE);
  if (graph->weight) SR_NEW(ctx, level->value, total * SR__SLICE);
  SR_TRY(sr__parallel_for(ctx, level->chunks, fill_chunk, &w));
cleanup:
  if (status != SR_OK) sr__level_free(ctx, level);
  return status;
}

sr_status sr__level_add_vectors(sr_context *ctx, sr__level *level, bool inner) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, level->y, 2 * (int64_t)level->stride);
  level->z = level->y + level->stride;
  if (inner) {
    SR_NEW_ZERO(ctx, level->b, level->stride);
    SR_NEW_ZERO(ctx, level->p, level->stride);
    SR_NEW_ZERO(ctx, level->q, level->stride);
  }
cleanup:
  return status;
}

void sr__level_free(sr_context *ctx, sr__level *level) {
  void *blocks[] = {level->first,  level->middle, level->column, level->step, level->value,
                    level->degree, level->mass,   level->coarse, level->b,    level->y,
                    level->p,      level->q,      level->partial};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__free(ctx, blocks[i]);
  *level = (sr__level){0};
}

/* ---- the hierarchy ------------------------------------------------------------------------ */

static sr_status write_coarse_slots(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  layout_work *w = data;
  sr__level *level = w->level;
  for (int32_t slot = sr__chunk_begin(chunk); slot < sr__chunk_end(level, chunk); slot++) {
    int32_t node = sr__node_at(level->nodes, slot);
    /* Slots without a node share the aggregate of a neighbor chunk member: they add zero there. */
    if (node < 0) node = sr__chunk_begin(chunk);
    level->coarse[slot] = sr__slot_of(w->coarse_nodes, w->aggregate[node]);
  }
  return SR_OK;
}

/* Nodes at which the dense solver takes over, and the rate below which coarsening has stalled. */
enum { DENSE_NODES = 96 };
static const double STALL = 0.8;

/* Whether the step from fine to coarse is worth taking: it makes the graph smaller, but leaves
 * enough nodes to tell the wanted vectors apart. */
static bool is_useful(const sr__hierarchy *h, const sr__csr *fine, const sr__csr *coarse) {
  return (double)coarse->nodes <= STALL * (double)fine->nodes && coarse->nodes >= 2 * h->wanted + 4;
}

/* The lower triangle of the Laplacian with its mean added to every entry, so that constants are no
 * longer in its kernel; `shift` of its mean diagonal is put on top of each diagonal entry. Both
 * arcs of an edge are sums of floats in orders of their own: one of them is taken for both ends, so
 * that every column sums to zero as closely as doubles can. */
static void fill_dense(const sr__csr *graph, double shift, double *a) {
  int64_t n = graph->nodes;
  double trace = 0;
  memset(a, 0, (size_t)(n * n) * sizeof *a);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++) {
      int64_t j = graph->neighbor[e];
      double w = graph->weight ? graph->weight[e] : 1;
      if (j <= i) continue;
      a[i * n + j] -= w;
      a[i * n + i] += w;
      a[j * n + j] += w;
      trace += 2 * w;
    }
  }
  for (int64_t i = 0; i < n * n; i++) a[i] += trace / (double)(n * n);
  for (int64_t i = 0; i < n; i++) a[i * n + i] += shift * trace / (double)n;
}

static sr_status dense_level(sr_context *ctx, const sr__csr *graph, sr__hierarchy *h) {
  /* Arcs of next to no weight leave the factor without a pivot. The solve only has to be near the
   * inverse: the shift is small enough to leave vectors apart and large enough that floats, which
   * hold the inverse, still tell the nodes of one piece apart. */
  static const double shifts[] = {0, 1e-6};
  sr_status status = SR_OK;
  int64_t n = graph->nodes;
  double *a = NULL;
  bool definite = false;
  SR_NEW(ctx, a, n * n);
  SR_NEW(ctx, h->solve, n * n);
  for (size_t k = 0; !definite && k < sizeof shifts / sizeof *shifts; k++) {
    fill_dense(graph, shifts[k], a);
    SR_TRY(sr__plain_invert(ctx, n, a, &definite));
  }
  if (!definite)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the coarsest graph of %lld nodes is not connected",
                    (long long)n));
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j <= i; j++)
      h->solve[i * n + j] = h->solve[j * n + i] = (float)a[j * n + i];
  }
  h->dense = (int32_t)n;
  SR_NEW(ctx, h->values, h->wanted);
  SR_NEW(ctx, h->vectors, h->wanted * n);
  SR_TRY(sr__dense_pairs(ctx, graph, h->wanted, h->values, h->vectors));
cleanup:
  sr__free(ctx, a);
  return status;
}

/* One step: the coarse graph of level k, and the slots of its nodes in level k. The finer graph is
 * laid out here and freed, so that only one pair of plain graphs is alive. */
static sr_status add_level(sr_context *ctx, sr__hierarchy *h, const sr__csr *fine, sr__csr *coarse,
                           int32_t *aggregate) {
  sr_status status = SR_OK;
  sr__level *level = &h->level[h->count];
  SR_TRY(level_build(ctx, fine, level));
  h->count++;
  SR_NEW(ctx, level->coarse, level->slots);
  layout_work w = {.level = level, .aggregate = aggregate, .coarse_nodes = coarse->nodes};
  SR_TRY(sr__parallel_for(ctx, level->chunks, write_coarse_slots, &w));
cleanup:
  return status;
}

static sr_status finish_hierarchy(sr_context *ctx, sr__hierarchy *h, const sr__csr *last) {
  sr_status status = SR_OK;
  SR_TRY(level_build(ctx, last, &h->level[h->count]));
  h->count++;
  SR_TRY(dense_level(ctx, last, h));
  for (int64_t i = 0; i < last->nodes; i++)
    h->volume += last->mass ? last->mass[i] : sr__csr_degree(last, i);
  for (int k = 0; k < h->count; k++) SR_TRY(sr__level_add_vectors(ctx, &h->level[k], k > 0));
cleanup:
  return status;
}

sr_status sr__hierarchy_build(sr_context *ctx, const sr__csr *graph, int32_t wanted,
                              double arc_limit, sr__hierarchy *h, bool *stalled) {
  sr_status status = SR_OK;
  sr__csr fine = *graph, coarse = {0};
  int32_t *aggregate = NULL;
  int64_t enough = DENSE_NODES > 4 * wanted ? DENSE_NODES : 4 * wanted;
  *h = (sr__hierarchy){.wanted = wanted, .kept_arcs = 0};
  *stalled = false;
  SR_NEW(ctx, aggregate, graph->nodes);
  while (fine.nodes > enough && h->count < SR__LEVELS - 1) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_TRY(sr__coarsen(ctx, &fine, aggregate, &coarse));
    if (h->count == 0) h->kept_arcs = (double)coarse.arcs / (double)(fine.arcs + 1);
    bool useful = is_useful(h, &fine, &coarse);
    if (!useful && fine.nodes <= SR__DENSE_MAX) break;
    *stalled = !useful || h->kept_arcs > arc_limit;
    if (*stalled) goto cleanup;
    SR_TRY(add_level(ctx, h, &fine, &coarse, aggregate));
    if (h->count > 1) sr__csr_free(ctx, &fine);
    fine = coarse;
    coarse = (sr__csr){0};
  }
  SR_TRY(finish_hierarchy(ctx, h, &fine));
cleanup:
  sr__free(ctx, aggregate);
  if (fine.offset != graph->offset) sr__csr_free(ctx, &fine);
  sr__csr_free(ctx, &coarse);
  if (status != SR_OK || *stalled) sr__hierarchy_free(ctx, h);
  return status;
}

void sr__hierarchy_free(sr_context *ctx, sr__hierarchy *h) {
  for (int k = 0; k < SR__LEVELS; k++) sr__level_free(ctx, &h->level[k]);
  sr__free(ctx, h->solve);
  sr__free(ctx, h->values);
  sr__free(ctx, h->vectors);
  double kept = h->kept_arcs;
  *h = (sr__hierarchy){.kept_arcs = kept};
}
