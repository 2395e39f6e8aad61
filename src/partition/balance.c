/* The rows that every part shall hold. First the surplus flows from neighbor to neighbor like
 * heat, which spreads it over many borders. What is left, rounding above all, is handed on along a
 * spanning forest of the pairs of neighbors, leaves first, so that every edge carries what lies
 * behind it and is searched once. */
#include <math.h>
#include <stdlib.h>

#include "kway.h"

/* A border that moved away while others were searched leaves a rest for the next turn. */
enum { TURNS = 4, SWEEPS = 100, PATIENCE = 50, PASSES = 2 };

typedef struct forest {
  int32_t *root;   /* of each part, for joining */
  int32_t *degree; /* pairs of the forest that wait, of each part */
  int64_t *link;   /* of each part: all its waiting pairs, added up */
  int32_t *leaf;   /* parts with one waiting pair */
  int32_t leaves;
} forest;

static int longest_first(const void *a, const void *b) {
  const sr__part_pair *x = a, *y = b;
  if (x->count != y->count) return x->count > y->count ? -1 : 1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static int32_t find_root(int32_t *root, int32_t part) {
  while (root[part] != part) part = root[part] = root[root[part]];
  return part;
}

/* A part with one waiting pair finds it in the sum of its pairs. */
static void plant(sr__kway_work *work, forest *f) {
  if (work->pairs > 0) qsort(work->pair, (size_t)work->pairs, sizeof *work->pair, longest_first);
  for (int32_t p = 0; p < work->parts; p++) f->root[p] = p;
  for (int64_t i = 0; i < work->pairs; i++) {
    sr__part_pair *pair = &work->pair[i];
    int32_t low = find_root(f->root, pair->low), high = find_root(f->root, pair->high);
    pair->waiting = low != high;
    if (low == high) continue;
    f->root[high] = low;
    f->degree[pair->low]++;
    f->degree[pair->high]++;
    f->link[pair->low] += i;
    f->link[pair->high] += i;
  }
  for (int32_t p = work->parts; p-- > 0;)
    if (f->degree[p] == 1) f->leaf[f->leaves++] = p;
}

/* Leaves `giver` with the rows that are wanted. */
static sr_status search_edge(sr_context *ctx, sr__kway_work *work, const sr__part_pair *pair,
                             int32_t giver, int64_t wanted) {
  int32_t taker = pair->low == giver ? pair->high : pair->low;
  int64_t both = work->rows[giver] + work->rows[taker];
  sr__searched_pair searched = {.a = giver,
                                .b = taker,
                                .seed = work->border + pair->first,
                                .seed_count = pair->count,
                                .rows_a = work->rows[giver]};
  wanted = wanted < 1 ? 1 : wanted < both ? wanted : both - 1;
  sr__pair_limits limits = {.lowest = wanted,
                            .highest = wanted,
                            .largest_node = work->largest_node,
                            .patience = PATIENCE,
                            .passes = PASSES,
                            .oldest_first = true};
  if (searched.rows_a == wanted) return SR_OK;
  sr_status status = sr__refine_pair(ctx, &work->refiner, &work->scratch[0], &limits, &searched);
  work->rows[giver] = searched.rows_a;
  work->rows[taker] = both - searched.rows_a;
  return status;
}

static sr_status drain(sr_context *ctx, sr__kway_work *work, forest *f, const int64_t *target) {
  sr_status status = SR_OK;
  while (f->leaves > 0) {
    int32_t part = f->leaf[--f->leaves];
    if (f->degree[part] == 0) continue; /* the last of its tree */
    const sr__part_pair *pair = &work->pair[f->link[part]];
    int32_t other = pair->low == part ? pair->high : pair->low;
    SR_TRY(search_edge(ctx, work, pair, part, target[part]));
    f->degree[part] = 0;
    f->link[other] -= f->link[part];
    if (--f->degree[other] == 1) f->leaf[f->leaves++] = other;
  }
cleanup:
  return status;
}

static sr_status take_turn(sr_context *ctx, sr__kway_work *work, const int64_t *target) {
  sr_status status = SR_OK;
  forest f = {.leaves = 0};
  SR_TRY(sr__kway_find_border(ctx, work));
  SR_NEW(ctx, f.root, work->parts);
  SR_NEW_ZERO(ctx, f.degree, work->parts);
  SR_NEW_ZERO(ctx, f.link, work->parts);
  SR_NEW(ctx, f.leaf, work->parts);
  plant(work, &f);
  SR_TRY(drain(ctx, work, &f, target));
cleanup:
  sr__free(ctx, f.root);
  sr__free(ctx, f.degree);
  sr__free(ctx, f.link);
  sr__free(ctx, f.leaf);
  return status;
}

/* Every sweep moves a share of the difference over every border; the share keeps sweeps stable. */
static void find_flow(const sr__kway_work *work, const int32_t *degree, double *surplus,
                      double *change, double *flow) {
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    for (int64_t i = 0; i < work->pairs; i++) {
      int32_t low = work->pair[i].low, high = work->pair[i].high;
      int32_t most = degree[low] > degree[high] ? degree[low] : degree[high];
      double moved = (surplus[low] - surplus[high]) / (most + 1);
      flow[i] += moved;
      change[low] -= moved;
      change[high] += moved;
    }
    for (int32_t p = 0; p < work->parts; p++) {
      surplus[p] += change[p];
      change[p] = 0;
    }
  }
}

static sr_status spread(sr_context *ctx, sr__kway_work *work, const int64_t *target) {
  sr_status status = SR_OK;
  int32_t *degree = NULL;
  double *surplus = NULL, *change = NULL, *flow = NULL;
  SR_TRY(sr__kway_find_border(ctx, work));
  SR_NEW_ZERO(ctx, degree, work->parts);
  SR_NEW(ctx, surplus, work->parts);
  SR_NEW_ZERO(ctx, change, work->parts);
  SR_NEW_ZERO(ctx, flow, work->pairs);
  for (int32_t p = 0; p < work->parts; p++) surplus[p] = (double)(work->rows[p] - target[p]);
  for (int64_t i = 0; i < work->pairs; i++) {
    degree[work->pair[i].low]++;
    degree[work->pair[i].high]++;
  }
  find_flow(work, degree, surplus, change, flow);
  for (int64_t i = 0; i < work->pairs; i++) {
    int32_t low = work->pair[i].low;
    SR_TRY(search_edge(ctx, work, &work->pair[i], low, work->rows[low] - llround(flow[i])));
  }
cleanup:
  sr__free(ctx, degree);
  sr__free(ctx, surplus);
  sr__free(ctx, change);
  sr__free(ctx, flow);
  return status;
}

static bool is_reached(const sr__kway_work *work, const int64_t *target) {
  for (int32_t p = 0; p < work->parts; p++)
    if (work->rows[p] != target[p]) return false;
  return true;
}

sr_status sr__balance_rows(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                           const int64_t *target, int32_t *part, bool *reached) {
  sr_status status = SR_OK;
  sr__kway_work work = {0};
  sr__kway_options options = {0};
  SR_TRY(sr__kway_init(ctx, working, parts, part, &options, &work));
  *reached = is_reached(&work, target);
  if (!*reached) SR_TRY(spread(ctx, &work, target));
  for (int turn = 0; turn < TURNS && !*reached; turn++) {
    SR_TRY(take_turn(ctx, &work, target));
    *reached = is_reached(&work, target);
  }
cleanup:
  sr__kway_free(ctx, &work);
  return status;
}
