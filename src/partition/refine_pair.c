/* Fiduccia-Mattheyses between two parts: single nodes change sides in the order of their gain,
 * downhill too, each at most once a pass; the best state of the pass is kept. */
#include "gain_heap.h"

/* Searches that run at once read labels of each other's nodes. Whatever they read there is neither
 * a nor b, so the result does not depend on the moment; the relaxed order makes it well defined. */
static inline int32_t part_of(const sr__refiner *refiner, int32_t node) {
  return __atomic_load_n(&refiner->part[node], __ATOMIC_RELAXED);
}

static inline void set_part(const sr__refiner *refiner, int32_t node, int32_t part) {
  __atomic_store_n(&refiner->part[node], part, __ATOMIC_RELAXED);
}

enum { WEIGHT_SAMPLE = 4096 };
/* In squares of the mean arc weight. */
static const double DRIFT_ALLOWED = 20;

typedef struct pair_search {
  const sr__refiner *refiner;
  sr__pair_scratch *scratch;
  const sr__pair_limits *limits;
  int32_t name[2];
  int64_t rows_a;
  /* of the present pass */
  double loss; /* change of the cut weight since the pass began */
  double best_loss;
  int64_t best_count; /* moves up to the best state */
  int64_t best_excess;
  int64_t best_tilt;
  /* moves since the best state */
  int64_t since_best;
  double gain_sum, gain_squares;
} pair_search;

static inline int64_t excess(const sr__pair_limits *limits, int64_t rows_a) {
  if (rows_a > limits->highest) return rows_a - limits->highest;
  return rows_a < limits->lowest ? limits->lowest - rows_a : 0;
}

/* Distance from the middle of the limits, doubled to stay whole. */
static inline int64_t tilt(const sr__pair_limits *limits, int64_t rows_a) {
  int64_t distance = 2 * rows_a - limits->lowest - limits->highest;
  return distance < 0 ? -distance : distance;
}

/* Gain of a node from scratch; true where it has a neighbor on the other side. */
static bool measure_gain(const pair_search *search, int32_t node, int side) {
  const sr__working_graph *working = search->refiner->working;
  double inside = 0, outside = 0;
  for (int64_t arc = working->graph.offset[node]; arc < working->graph.offset[node + 1]; arc++) {
    int32_t part = part_of(search->refiner, working->graph.neighbor[arc]);
    if (part == search->name[side])
      inside += sr__arc_weight(working, arc);
    else if (part == search->name[!side])
      outside += sr__arc_weight(working, arc);
  }
  search->refiner->gain[node] = outside - inside;
  return outside > 0;
}

static sr_status reserve_heaps(sr_context *ctx, pair_search *search, int64_t more) {
  sr_status status = SR_OK;
  sr__pair_scratch *scratch = search->scratch;
  SR_TRY(sr__gain_heap_reserve(ctx, &scratch->heap[0], more));
  SR_TRY(sr__gain_heap_reserve(ctx, &scratch->heap[1], more));
  SR_GROW(ctx, scratch->touched, scratch->touched_capacity, scratch->touched_count + more);
  SR_GROW(ctx, scratch->moved, scratch->moved_capacity, scratch->moved_count + 1);
cleanup:
  return status;
}

/* Among equal gains the latest goes first: a search that follows its own trail finds its way over
 * hills. Many moves in one direction make a tongue that way, so they take the oldest first. */
static uint32_t next_clock(pair_search *search) {
  uint32_t now = search->scratch->clock++;
  return search->limits->oldest_first ? ~now : now;
}

/* The node has been measured; room was reserved. */
static void insert_node(pair_search *search, int32_t node, int side) {
  sr__pair_scratch *scratch = search->scratch;
  const sr__refiner *refiner = search->refiner;
  scratch->touched[scratch->touched_count++] = node;
  sr__gain_heap_insert(&scratch->heap[side], refiner->place,
                       sr__gain_heap_key(refiner->gain[node], next_clock(search)), node);
}

/* Seeds that are not `measured` may lie in other parts by now, or away from the border. */
static sr_status insert_seeds(sr_context *ctx, pair_search *search, const int32_t *seeds,
                              int64_t count, bool measured) {
  sr_status status = SR_OK;
  SR_TRY(reserve_heaps(ctx, search, count));
  for (int64_t i = 0; i < count; i++) {
    int32_t node = seeds[i], part = part_of(search->refiner, node);
    if (part != search->name[0] && part != search->name[1]) continue;
    if (search->refiner->place[node] != SR_PLACE_UNSEEN) continue;
    int side = part == search->name[1];
    if (measured || measure_gain(search, node, side)) insert_node(search, node, side);
  }
cleanup:
  return status;
}

/* Rows of a after the best node of `side` has moved, and whether that is allowed. */
static bool may_move(const pair_search *search, int side) {
  const sr__gain_heap *heap = &search->scratch->heap[side];
  if (heap->count == 0) return false;
  int64_t size = sr__node_size(search->refiner->working, heap->node[0]);
  int64_t now = excess(search->limits, search->rows_a);
  int64_t then = excess(search->limits, side == 0 ? search->rows_a - size : search->rows_a + size);
  return then < now || (now == 0 && then <= search->limits->largest_node);
}

/* The side to move from, -1 where no move is allowed. */
static int choose_side(const pair_search *search) {
  bool left = may_move(search, 0), right = may_move(search, 1);
  if (!left && !right) return -1;
  if (!left || !right) return right;
  const sr__gain_heap *heap = search->scratch->heap;
  uint32_t left_gain = (uint32_t)(heap[0].key[0] >> 32);
  uint32_t right_gain = (uint32_t)(heap[1].key[0] >> 32);
  if (left_gain != right_gain) return right_gain > left_gain;
  return 2 * search->rows_a < search->limits->lowest + search->limits->highest;
}

/* The neighbors of a node that has just come to `side`. */
static void update_neighbors(pair_search *search, int32_t node, int side) {
  const sr__refiner *refiner = search->refiner;
  const sr__working_graph *working = refiner->working;
  sr__pair_scratch *scratch = search->scratch;
  for (int64_t arc = working->graph.offset[node]; arc < working->graph.offset[node + 1]; arc++) {
    int32_t other = working->graph.neighbor[arc], part = part_of(refiner, other);
    int other_side = part == search->name[1];
    if (!other_side && part != search->name[0]) continue;
    int32_t place = refiner->place[other];
    if (place == SR_PLACE_UNSEEN) {
      measure_gain(search, other, other_side);
      insert_node(search, other, other_side);
      continue;
    }
    double change = 2 * sr__arc_weight(working, arc);
    refiner->gain[other] += other_side == side ? -change : change;
    if (place == SR_PLACE_LOCKED) continue;
    sr__gain_heap_change(&scratch->heap[other_side], refiner->place, other,
                         sr__gain_heap_key(refiner->gain[other], next_clock(search)));
  }
}

static void move_node(pair_search *search, int32_t node, int from) {
  int64_t size = sr__node_size(search->refiner->working, node);
  set_part(search->refiner, node, search->name[!from]);
  search->refiner->gain[node] = -search->refiner->gain[node];
  search->rows_a += from == 0 ? -size : size;
}

/* Keeps the present state where it is better: nearer the limits, then the smaller cut, then the
 * smaller tilt. */
static bool keep_if_better(pair_search *search) {
  int64_t now_excess = excess(search->limits, search->rows_a);
  int64_t now_tilt = tilt(search->limits, search->rows_a);
  if (now_excess > search->best_excess) return false;
  if (now_excess == search->best_excess) {
    if (search->loss > search->best_loss) return false;
    if (search->loss == search->best_loss && now_tilt >= search->best_tilt) return false;
  }
  search->best_excess = now_excess;
  search->best_loss = search->loss;
  search->best_tilt = now_tilt;
  search->best_count = search->scratch->moved_count;
  return true;
}

/* The gains of all nodes that the pass has met stay right, so the next pass need not measure them.
 */
static void move_back(pair_search *search, int32_t node) {
  const sr__refiner *refiner = search->refiner;
  const sr__working_graph *working = refiner->working;
  int from = part_of(refiner, node) == search->name[1];
  move_node(search, node, from);
  for (int64_t arc = working->graph.offset[node]; arc < working->graph.offset[node + 1]; arc++) {
    int32_t other = working->graph.neighbor[arc];
    double change = 2 * sr__arc_weight(working, arc);
    int32_t part = part_of(refiner, other);
    if (part == search->name[from])
      refiner->gain[other] += change;
    else if (part == search->name[!from])
      refiner->gain[other] -= change;
  }
}

static void roll_back(pair_search *search) {
  sr__pair_scratch *scratch = search->scratch;
  while (scratch->moved_count > search->best_count)
    move_back(search, scratch->moved[--scratch->moved_count]);
}

/* A search that has gone downhill for long will not come back: its gains since the best state,
 * taken as a random walk with drift, are too far below zero for their spread (Osipov and Sanders
 * 2010). */
static bool is_hopeless(const pair_search *search) {
  double steps = (double)search->since_best, scale = search->refiner->mean_weight;
  if (search->since_best >= search->limits->patience) return true;
  if (!(search->gain_sum < 0)) return false;
  double mean = search->gain_sum / steps, spread = search->gain_squares / steps - mean * mean;
  return steps * mean * mean > spread + DRIFT_ALLOWED * scale * scale;
}

static void note_move(pair_search *search, double gain) {
  if (keep_if_better(search)) {
    search->since_best = 0;
    search->gain_sum = search->gain_squares = 0;
  } else {
    search->since_best++;
    search->gain_sum += gain;
    search->gain_squares += gain * gain;
  }
}

static sr_status run_moves(sr_context *ctx, pair_search *search) {
  sr_status status = SR_OK;
  const sr__working_graph *working = search->refiner->working;
  sr__pair_scratch *scratch = search->scratch;
  while (!is_hopeless(search)) {
    int side = choose_side(search);
    if (side < 0) break;
    int32_t node = scratch->heap[side].node[0];
    SR_TRY(
        reserve_heaps(ctx, search, working->graph.offset[node + 1] - working->graph.offset[node]));
    sr__gain_heap_pop(&scratch->heap[side], search->refiner->place, SR_PLACE_LOCKED);
    double gain = search->refiner->gain[node];
    search->loss -= gain;
    move_node(search, node, side);
    scratch->moved[scratch->moved_count++] = node;
    update_neighbors(search, node, !side);
    note_move(search, gain);
  }
cleanup:
  return status;
}

/* What the pass touched seeds the next one. */
static void end_pass(pair_search *search) {
  sr__pair_scratch *scratch = search->scratch;
  roll_back(search);
  for (int64_t i = 0; i < scratch->touched_count; i++)
    search->refiner->place[scratch->touched[i]] = SR_PLACE_UNSEEN;
  int32_t *seed = scratch->seed;
  int64_t capacity = scratch->seed_capacity;
  scratch->seed = scratch->touched;
  scratch->seed_count = scratch->touched_count;
  scratch->seed_capacity = scratch->touched_capacity;
  scratch->touched = seed;
  scratch->touched_capacity = capacity;
  scratch->touched_count = 0;
  scratch->heap[0].count = scratch->heap[1].count = 0;
}

static sr_status run_pass(sr_context *ctx, pair_search *search, const int32_t *seeds,
                          int64_t seed_count, bool measured) {
  sr_status status = SR_OK;
  search->loss = search->best_loss = 0;
  search->best_count = search->scratch->moved_count = 0;
  search->best_excess = excess(search->limits, search->rows_a);
  search->best_tilt = tilt(search->limits, search->rows_a);
  search->since_best = 0;
  search->gain_sum = search->gain_squares = 0;
  search->scratch->clock = 0;
  SR_TRY(insert_seeds(ctx, search, seeds, seed_count, measured));
  SR_TRY(run_moves(ctx, search));
cleanup:
  end_pass(search);
  return status;
}

sr_status sr__refine_pair(sr_context *ctx, const sr__refiner *refiner, sr__pair_scratch *scratch,
                          const sr__pair_limits *limits, sr__searched_pair *pair) {
  sr_status status = SR_OK;
  pair_search search = {.refiner = refiner,
                        .scratch = scratch,
                        .limits = limits,
                        .name = {pair->a, pair->b},
                        .rows_a = pair->rows_a};
  pair->gained = 0;
  for (int pass = 0; pass < limits->passes; pass++) {
    int64_t before = excess(limits, search.rows_a);
    SR_TRY(run_pass(ctx, &search, pass ? scratch->seed : pair->seed,
                    pass ? scratch->seed_count : pair->seed_count, pass > 0));
    pair->gained -= search.best_loss;
    if (search.best_loss >= 0 && search.best_excess == before) break;
  }
cleanup:
  pair->rows_a = search.rows_a;
  return status;
}

sr_status sr__refiner_init(sr_context *ctx, const sr__working_graph *working, int32_t *part,
                           sr__refiner *refiner) {
  sr_status status = SR_OK;
  double weight = 0;
  int64_t step = working->graph.arcs / WEIGHT_SAMPLE + 1, sampled = 0;
  *refiner = (sr__refiner){.working = working, .part = part};
  SR_NEW(ctx, refiner->gain, working->graph.nodes);
  SR_NEW(ctx, refiner->place, working->graph.nodes);
  for (int64_t i = 0; i < working->graph.nodes; i++) refiner->place[i] = SR_PLACE_UNSEEN;
  /* A sample gives the scale. */
  for (int64_t a = 0; working->graph.weight && a < working->graph.arcs; a += step, sampled++)
    weight += working->graph.weight[a];
  refiner->mean_weight = weight > 0 ? weight / (double)sampled : 1;
cleanup:
  if (status != SR_OK) sr__refiner_free(ctx, refiner);
  return status;
}

void sr__refiner_free(sr_context *ctx, sr__refiner *refiner) {
  sr__free(ctx, refiner->gain);
  sr__free(ctx, refiner->place);
  refiner->gain = NULL;
  refiner->place = NULL;
}

void sr__pair_scratch_free(sr_context *ctx, sr__pair_scratch *scratch) {
  for (int side = 0; side < 2; side++) {
    sr__free(ctx, scratch->heap[side].key);
    sr__free(ctx, scratch->heap[side].node);
  }
  sr__free(ctx, scratch->touched);
  sr__free(ctx, scratch->moved);
  sr__free(ctx, scratch->seed);
  *scratch = (sr__pair_scratch){0};
}
