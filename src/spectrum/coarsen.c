/* Aggregation by two rounds of matching, and the coarse graph P' L P. */
#include "multilevel.h"

/* ---- matching inside one chunk ------------------------------------------------------------ */

/* Aggregates hold two pairs; nodes left alone may make them a little larger. */
enum { LARGEST_AGGREGATE = 6 };

typedef struct matcher {
  const sr__csr *graph;
  int32_t begin, end; /* the chunk's nodes */
  int32_t *group;     /* of each node of the graph: its pair, later its aggregate */
  int32_t *member;    /* two nodes a pair, -1 where the second is missing */
  int32_t *aggregate; /* of each pair */
  int32_t *size;      /* nodes in each aggregate; 0 = dissolved */
  float *link;        /* weight between the present pair and each other pair */
  int32_t *touched;   /* pairs with a link */
  int32_t pairs, aggregates;
} matcher;

static bool in_chunk(const matcher *m, int32_t node) { return node >= m->begin && node < m->end; }

/* The free neighbor with the heaviest edge; ties go to the first in the row. */
static int32_t best_partner(const matcher *m, int32_t node) {
  const sr__csr *g = m->graph;
  int32_t best = -1;
  float heaviest = 0;
  for (int64_t a = g->offset[node]; a < g->offset[node + 1]; a++) {
    int32_t other = g->neighbor[a];
    if (!in_chunk(m, other) || m->group[other] >= 0 || other == node) continue;
    if (!g->weight) return other;
    if (g->weight[a] > heaviest) {
      heaviest = g->weight[a];
      best = other;
    }
  }
  return best;
}

static void match_nodes(matcher *m) {
  for (int32_t i = m->begin; i < m->end; i++) m->group[i] = -1;
  for (int32_t i = m->begin; i < m->end; i++) {
    if (m->group[i] >= 0) continue;
    int32_t partner = best_partner(m, i);
    m->group[i] = m->pairs;
    if (partner >= 0) m->group[partner] = m->pairs;
    m->member[2 * m->pairs] = i;
    m->member[2 * m->pairs + 1] = partner;
    m->pairs++;
  }
}

/* Adds the links of one node to pairs that are still free. */
static int32_t add_links(matcher *m, int32_t pair, int32_t node, int32_t touched) {
  const sr__csr *g = m->graph;
  for (int64_t a = g->offset[node]; a < g->offset[node + 1]; a++) {
    if (!in_chunk(m, g->neighbor[a])) continue;
    int32_t other = m->group[g->neighbor[a]];
    if (other == pair || m->aggregate[other] >= 0) continue;
    if (m->link[other] == 0) m->touched[touched++] = other;
    m->link[other] += g->weight ? g->weight[a] : 1.0f;
  }
  return touched;
}

static int32_t best_pair(matcher *m, int32_t pair) {
  int32_t touched = add_links(m, pair, m->member[2 * pair], 0), best = -1;
  if (m->member[2 * pair + 1] >= 0) touched = add_links(m, pair, m->member[2 * pair + 1], touched);
  float heaviest = 0;
  for (int32_t t = 0; t < touched; t++) {
    int32_t other = m->touched[t];
    if (m->link[other] > heaviest) {
      heaviest = m->link[other];
      best = other;
    }
    m->link[other] = 0;
  }
  return best;
}

static int32_t pair_size(const matcher *m, int32_t pair) {
  return m->member[2 * pair + 1] >= 0 ? 2 : 1;
}

static void match_pairs(matcher *m) {
  for (int32_t p = 0; p < m->pairs; p++) {
    m->aggregate[p] = -1;
    m->link[p] = 0;
  }
  for (int32_t p = 0; p < m->pairs; p++) {
    if (m->aggregate[p] >= 0) continue;
    int32_t other = best_pair(m, p);
    m->size[m->aggregates] = pair_size(m, p);
    m->aggregate[p] = m->aggregates;
    if (other >= 0) {
      m->aggregate[other] = m->aggregates;
      m->size[m->aggregates] += pair_size(m, other);
    }
    m->aggregates++;
  }
}

/* Single nodes join the neighboring aggregate with the heaviest edge for its size. A leaf joins
 * its only neighbor however large that has grown, or stars would never get smaller. */
static void place_single(matcher *m, int32_t pair) {
  const sr__csr *g = m->graph;
  int32_t own = m->aggregate[pair], node = m->member[2 * pair], best = -1;
  bool leaf = g->offset[node + 1] - g->offset[node] == 1;
  float heaviest = 0;
  for (int64_t a = g->offset[node]; a < g->offset[node + 1]; a++) {
    if (!in_chunk(m, g->neighbor[a])) continue;
    int32_t other = m->aggregate[m->group[g->neighbor[a]]];
    if (other == own || m->size[other] == 0) continue;
    if (m->size[other] >= LARGEST_AGGREGATE && !leaf) continue;
    float pull = (g->weight ? g->weight[a] : 1.0f) / (float)m->size[other];
    if (pull > heaviest) {
      heaviest = pull;
      best = other;
    }
  }
  if (best < 0) return;
  m->size[own] = 0;
  m->size[best]++;
  m->aggregate[pair] = best;
}

/* Numbers the aggregates that are left from 0 and writes them to the nodes; gives their number. */
static int32_t number_aggregates(matcher *m) {
  int32_t count = 0;
  for (int32_t g = 0; g < m->aggregates; g++) m->size[g] = m->size[g] > 0 ? count++ : -1;
  for (int32_t i = m->begin; i < m->end; i++) m->group[i] = m->size[m->aggregate[m->group[i]]];
  return count;
}

/* ---- all chunks --------------------------------------------------------------------------- */

typedef struct coarsening {
  const sr__csr *fine;
  int32_t *aggregate;
  int64_t chunks;
  int32_t *first; /* first aggregate of each chunk, chunks + 1 entries */
  int64_t coarse_nodes;
  int32_t **position; /* a slot: place of a coarse neighbor in the present row, else -1 */
  int32_t **neighbor; /* a chunk: its coarse rows, until they are joined */
  float **weight;
  int64_t *offset;
  int32_t *all_neighbor;
  float *all_weight;
  float *mass;
} coarsening;

static int32_t chunk_end(const sr__csr *graph, int64_t chunk) {
  int64_t end = (chunk + 1) * SR__CHUNK;
  return (int32_t)(end < graph->nodes ? end : graph->nodes);
}

static sr_status match_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)slot;
  sr_status status = SR_OK;
  coarsening *c = data;
  matcher m = {.graph = c->fine,
               .group = c->aggregate,
               .begin = (int32_t)(chunk * SR__CHUNK),
               .end = chunk_end(c->fine, chunk)};
  int64_t n = m.end - m.begin;
  int32_t *scratch = NULL;
  SR_NEW(worker, scratch, 6 * n);
  m.member = scratch;
  m.aggregate = scratch + 2 * n;
  m.size = scratch + 3 * n;
  m.touched = scratch + 4 * n;
  m.link = (float *)(scratch + 5 * n);
  match_nodes(&m);
  match_pairs(&m);
  for (int32_t p = 0; p < m.pairs; p++) {
    if (m.size[m.aggregate[p]] == 1) place_single(&m, p);
  }
  c->first[chunk + 1] = number_aggregates(&m);
cleanup:
  sr__free(worker, scratch);
  return status;
}

static sr_status shift_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  coarsening *c = data;
  for (int32_t i = (int32_t)(chunk * SR__CHUNK); i < chunk_end(c->fine, chunk); i++)
    c->aggregate[i] += c->first[chunk];
  return SR_OK;
}

/* ---- the coarse rows ------------------------------------------------------------------------ */

/* Members of the chunk's aggregates: those of aggregate first + g are member[start[g] ..
 * start[g + 1]). */
static void sort_members(const coarsening *c, int64_t chunk, int32_t *start, int32_t *member) {
  int32_t begin = (int32_t)(chunk * SR__CHUNK), end = chunk_end(c->fine, chunk);
  int32_t first = c->first[chunk], count = c->first[chunk + 1] - first;
  memset(start, 0, (size_t)(count + 2) * sizeof *start);
  for (int32_t i = begin; i < end; i++) start[c->aggregate[i] - first + 2]++;
  for (int32_t g = 0; g < count; g++) start[g + 2] += start[g + 1];
  for (int32_t i = begin; i < end; i++) member[start[c->aggregate[i] - first + 1]++] = i;
}

/* Adds the arcs of one fine node to the coarse row that begins at `row`; gives the row's end. */
static int64_t add_arcs(const coarsening *c, int32_t node, int32_t own, int32_t *position,
                        int32_t *neighbor, float *weight, int64_t row, int64_t end) {
  const sr__csr *fine = c->fine;
  for (int64_t a = fine->offset[node]; a < fine->offset[node + 1]; a++) {
    int32_t other = c->aggregate[fine->neighbor[a]];
    if (other == own) continue;
    float w = fine->weight ? fine->weight[a] : 1.0f;
    if (position[other] >= 0) {
      weight[row + position[other]] += w;
      continue;
    }
    position[other] = (int32_t)(end - row);
    neighbor[end] = other;
    weight[end++] = w;
  }
  return end;
}

static sr_status coarse_rows(sr_context *worker, void *data, int64_t chunk, int slot) {
  sr_status status = SR_OK;
  coarsening *c = data;
  const sr__csr *fine = c->fine;
  int32_t begin = (int32_t)(chunk * SR__CHUNK), end = chunk_end(fine, chunk);
  int32_t *start = NULL, *member = NULL, *neighbor = NULL;
  float *weight = NULL;
  if (!c->position[slot]) {
    SR_NEW(worker, c->position[slot], c->coarse_nodes);
    memset(c->position[slot], -1, (size_t)c->coarse_nodes * sizeof(int32_t));
  }
  int32_t *position = c->position[slot];
  SR_NEW(worker, start, end - begin + 2);
  SR_NEW(worker, member, end - begin);
  SR_NEW(worker, neighbor, fine->offset[end] - fine->offset[begin]);
  SR_NEW(worker, weight, fine->offset[end] - fine->offset[begin]);
  sort_members(c, chunk, start, member);
  int64_t filled = 0;
  for (int32_t g = c->first[chunk]; g < c->first[chunk + 1]; g++) {
    int64_t row = filled;
    double mass = 0;
    for (int32_t k = start[g - c->first[chunk]]; k < start[g - c->first[chunk] + 1]; k++) {
      mass += fine->mass ? fine->mass[member[k]] : sr__csr_degree(fine, member[k]);
      filled = add_arcs(c, member[k], g, position, neighbor, weight, row, filled);
    }
    for (int64_t a = row; a < filled; a++) position[neighbor[a]] = -1;
    c->mass[g] = (float)mass;
    c->offset[g + 1] = filled - row;
  }
  SR_NEW(worker, c->neighbor[chunk], filled);
  SR_NEW(worker, c->weight[chunk], filled);
  memcpy(c->neighbor[chunk], neighbor, (size_t)filled * sizeof *neighbor);
  memcpy(c->weight[chunk], weight, (size_t)filled * sizeof *weight);
cleanup:
  sr__free(worker, start);
  sr__free(worker, member);
  sr__free(worker, neighbor);
  sr__free(worker, weight);
  return status;
}

static sr_status join_rows(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)slot;
  coarsening *c = data;
  int64_t from = c->offset[c->first[chunk]], count = c->offset[c->first[chunk + 1]] - from;
  memcpy(c->all_neighbor + from, c->neighbor[chunk], (size_t)count * sizeof(int32_t));
  memcpy(c->all_weight + from, c->weight[chunk], (size_t)count * sizeof(float));
  sr__free(worker, c->neighbor[chunk]);
  sr__free(worker, c->weight[chunk]);
  c->neighbor[chunk] = NULL;
  c->weight[chunk] = NULL;
  return SR_OK;
}

static sr_status match_all(sr_context *ctx, coarsening *c) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, c->first, c->chunks + 1);
  SR_TRY(sr__parallel_for(ctx, c->chunks, match_chunk, c));
  for (int64_t k = 0; k < c->chunks; k++) c->first[k + 1] += c->first[k];
  c->coarse_nodes = c->first[c->chunks];
  SR_TRY(sr__parallel_for(ctx, c->chunks, shift_chunk, c));
cleanup:
  return status;
}

static sr_status build_rows(sr_context *ctx, coarsening *c) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, c->position, sr_context_threads(ctx));
  SR_NEW_ZERO(ctx, c->neighbor, c->chunks);
  SR_NEW_ZERO(ctx, c->weight, c->chunks);
  SR_NEW(ctx, c->offset, c->coarse_nodes + 1);
  SR_NEW(ctx, c->mass, c->coarse_nodes);
  SR_TRY(sr__parallel_for(ctx, c->chunks, coarse_rows, c));
  c->offset[0] = 0;
  for (int64_t g = 0; g < c->coarse_nodes; g++) c->offset[g + 1] += c->offset[g];
  SR_NEW(ctx, c->all_neighbor, c->offset[c->coarse_nodes]);
  SR_NEW(ctx, c->all_weight, c->offset[c->coarse_nodes]);
  SR_TRY(sr__parallel_for(ctx, c->chunks, join_rows, c));
cleanup:
  return status;
}

sr_status sr__coarsen(sr_context *ctx, const sr__csr *fine, int32_t *aggregate, sr__csr *coarse) {
  sr_status status = SR_OK;
  coarsening c = {.fine = fine, .aggregate = aggregate, .chunks = sr__chunks_of(fine->nodes)};
  *coarse = (sr__csr){0};
  SR_TRY(match_all(ctx, &c));
  SR_TRY(build_rows(ctx, &c));
  *coarse = (sr__csr){.nodes = c.coarse_nodes,
                      .arcs = c.offset[c.coarse_nodes],
                      .offset = c.offset,
                      .neighbor = c.all_neighbor,
                      .weight = c.all_weight,
                      .mass = c.mass};
  c.offset = NULL;
  c.all_neighbor = NULL;
  c.all_weight = NULL;
  c.mass = NULL;
cleanup:
  for (int t = 0; c.position && t < sr_context_threads(ctx); t++) sr__free(ctx, c.position[t]);
  for (int64_t k = 0; c.neighbor && k < c.chunks; k++) sr__free(ctx, c.neighbor[k]);
  for (int64_t k = 0; c.weight && k < c.chunks; k++) sr__free(ctx, c.weight[k]);
  sr__free(ctx, c.first);
  sr__free(ctx, c.position);
  sr__free(ctx, c.neighbor);
  sr__free(ctx, c.weight);
  sr__free(ctx, c.offset);
  sr__free(ctx, c.all_neighbor);
  sr__free(ctx, c.all_weight);
  sr__free(ctx, c.mass);
  return status;
}
