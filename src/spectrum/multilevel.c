/* The multilevel solver: coarsest pairs by LAPACK, improved on every level on the way up. */
#include "multilevel.h"

#include <math.h>

#include "lanczos.h"

/* Coarse levels only make the start of the next one: what they need does not depend on the
 * tolerance of the finest. */
static const double COARSE_TOLERANCE = 1e-2;
enum { COARSE_ITERATIONS = 6, FINE_ITERATIONS = 200 };
/* Guards carried on the coarsest level; most are let go on the way up. */
enum { MORE_GUARDS = 6 };

/* ---- vectors of the iteration ------------------------------------------------------------- */

static sr_status new_iterates(sr_context *ctx, int64_t stride, int size, sr__block *block) {
  sr_status status = SR_OK;
  block->size = size;
  block->stride = stride;
  for (int i = 0; i < size; i++) SR_NEW_ZERO(ctx, block->x[i], stride);
cleanup:
  return status;
}

static sr_status new_directions(sr_context *ctx, sr__block *block) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, block->r, block->stride);
  for (int i = 0; i < block->wanted; i++) SR_NEW_ZERO(ctx, block->p[i], block->stride);
  for (int i = 0; i < block->size - 1; i++) SR_NEW_ZERO(ctx, block->z[i], block->stride);
cleanup:
  return status;
}

static void free_directions(sr_context *ctx, sr__block *block) {
  sr__free(ctx, block->r);
  block->r = NULL;
  for (int i = 0; i < SR__BLOCK_MAX; i++) {
    sr__free(ctx, block->p[i]);
    sr__free(ctx, block->z[i]);
    block->p[i] = block->z[i] = NULL;
  }
}

static void block_free(sr_context *ctx, sr__block *block) {
  free_directions(ctx, block);
  for (int i = 0; i < SR__BLOCK_MAX; i++) sr__free(ctx, block->x[i]);
  *block = (sr__block){0};
}

typedef struct lift_work {
  const sr__level *level;
  const double *from;
  double *to;
} lift_work;

static sr_status lift_chunk(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  lift_work *w = data;
  for (int32_t s = sr__chunk_begin(chunk); s < sr__chunk_end(w->level, chunk); s++)
    w->to[s] = w->from[w->level->coarse[s]];
  return SR_OK;
}

/* x of level k := P x of level k + 1, which is `from`. */
static sr_status lift(sr_context *ctx, const sr__hierarchy *h, int k, double *const *from,
                      sr__block *block) {
  sr_status status = SR_OK;
  for (int i = 0; i < block->size; i++) {
    lift_work w = {&h->level[k], from[i], block->x[i]};
    SR_TRY(sr__run(ctx, w.level, lift_chunk, &w, NULL, 0));
  }
cleanup:
  return status;
}

/* ---- from the coarsest level up ----------------------------------------------------------- */

/* Values within this factor of the last wanted one may belong to a cluster with it, whose vectors
 * only a block of all of them tells apart. Small levels show it only roughly, and cost little. */
static double near_factor(int level) { return level <= 2 ? 1.3 : 1.6; }

/* Lets the guards go that are not needed to tell the wanted ones apart; one always stays. */
static void keep_near(sr__block *block, double factor) {
  int least = block->wanted + (block->guard ? 1 : 0);
  while (block->size > least &&
         block->value[block->size - 1] > factor * block->value[block->wanted - 1])
    block->size--;
}

/* A block for the levels below the finest, with the vectors of the last. */
static sr_status start_coarsest(sr_context *ctx, const sr__hierarchy *h, int64_t stride,
                                sr__block *block) {
  sr_status status = SR_OK;
  block->size = h->wanted;
  memcpy(block->value, h->values, (size_t)h->wanted * sizeof(double));
  keep_near(block, near_factor(h->count - 1));
  SR_TRY(new_iterates(ctx, stride, block->size, block));
  SR_TRY(new_directions(ctx, block));
  for (int i = 0; i < block->size; i++) {
    for (int32_t node = 0; node < h->dense; node++)
      block->x[i][sr__slot_of(h->dense, node)] = h->vectors[(int64_t)i * h->dense + node];
  }
cleanup:
  return status;
}

/* Solves level 1 well enough to start level 0 from it. */
static sr_status climb(sr_context *ctx, sr__hierarchy *h, sr__block *block) {
  sr_status status = SR_OK;
  double *below[SR__BLOCK_MAX] = {NULL};
  if (h->count > 2) {
    for (int i = 0; i < block->size; i++) SR_NEW(ctx, below[i], h->level[2].stride);
  }
  for (int k = h->count - 2; k > 0; k--) {
    for (int i = 0; i < block->size; i++)
      memcpy(below[i], block->x[i], (size_t)h->level[k + 1].stride * sizeof(double));
    SR_TRY(lift(ctx, h, k, below, block));
    SR_TRY(sr__lobpcg(ctx, h, k, block, COARSE_TOLERANCE, COARSE_ITERATIONS));
    keep_near(block, near_factor(k));
  }
cleanup:
  for (int i = 0; i < SR__BLOCK_MAX; i++) sr__free(ctx, below[i]);
  return status;
}

/* The block of the finest level, from the coarser ones. */
static sr_status start_from_coarse(sr_context *ctx, sr__hierarchy *h, sr__block *block) {
  sr_status status = SR_OK;
  sr__block coarse = {.wanted = block->wanted, .guard = block->guard, .lifted = true};
  if (h->count == 1) {
    SR_TRY(start_coarsest(ctx, h, h->level[0].stride, block));
    goto cleanup;
  }
  SR_TRY(start_coarsest(ctx, h, h->level[1].stride, &coarse));
  SR_TRY(climb(ctx, h, &coarse));
  SR_TRY(new_iterates(ctx, h->level[0].stride, coarse.size, block));
  SR_TRY(lift(ctx, h, 0, coarse.x, block));
  block->lifted = true;
  block_free(ctx, &coarse);
  SR_TRY(new_directions(ctx, block));
cleanup:
  block_free(ctx, &coarse);
  return status;
}

static sr_status start_from_vector(sr_context *ctx, const sr__hierarchy *h, const double *start,
                                   sr__block *block) {
  sr_status status = SR_OK;
  SR_TRY(new_iterates(ctx, h->level[0].stride, 1, block));
  SR_TRY(new_directions(ctx, block));
  for (int32_t s = 0; s < h->level[0].slots; s++) {
    int32_t node = sr__node_at(h->level[0].nodes, s);
    block->x[0][s] = node >= 0 ? start[node] : 0;
  }
cleanup:
  return status;
}

static sr_status solve(sr_context *ctx, sr__hierarchy *h, const sr__multilevel_options *options,
                       sr__block *block) {
  sr_status status = SR_OK;
  int64_t most = options->max_iterations ? options->max_iterations : FINE_ITERATIONS;
  block->wanted = options->pairs;
  block->guard = options->guard;
  SR_TRY(options->start ? start_from_vector(ctx, h, options->start, block)
                        : start_from_coarse(ctx, h, block));
  block->may_freeze = true;
  SR_TRY(sr__lobpcg(ctx, h, 0, block, options->tolerance, most));
cleanup:
  return status;
}

/* A double eigenvalue leaves a plane of vectors. The one with the largest D-weighted sum with the
 * ramp over the node indices is taken: every solver and compiler finds the same. */
static void turn_pair(const sr__level *level, const int32_t *order, sr__block *block) {
  double a = 0, b = 0;
  for (int32_t s = 0; s < level->slots; s++) {
    int32_t node = sr__node_at(level->nodes, s);
    if (node < 0) continue;
    double u = sr__level_mass(level)[s] * sr__ramp(order ? order[node] : node, level->nodes);
    a += u * block->x[0][s];
    b += u * block->x[1][s];
  }
  double length = sqrt(a * a + b * b);
  if (!(length > 0)) return;
  for (int32_t s = 0; s < level->slots; s++) {
    double x = block->x[0][s], y = block->x[1][s];
    block->x[0][s] = (a * x + b * y) / length;
    block->x[1][s] = (a * y - b * x) / length;
  }
}

/* Values this close, in tolerances, are one value. */
enum { SAME_TOLERANCES = 3 };

/* ---- one graph ---------------------------------------------------------------------------- */

/* Where the pairs go. */
typedef struct pairs_place {
  double *const *x;
  double *value;
  const int32_t *order; /* a node's own number; NULL: the same */
} pairs_place;

/* The whole of a graph that has no useful coarse graphs. */
static sr_status solve_by_lanczos(sr_context *ctx, const sr__csr *graph,
                                  const sr__multilevel_options *options, const pairs_place *to,
                                  sr__multilevel_result *result) {
  sr_status status = SR_OK;
  int size = options->start ? 1 : options->pairs;
  sr__lanczos_options own = {.pairs = size,
                             .tolerance = options->tolerance,
                             .start = options->start};
  sr__lanczos_result outcome;
  double *scratch = NULL;
  if (options->make_room) SR_TRY(options->make_room(ctx, options->data));
  SR_TRY(sr__lanczos_pairs(ctx, graph, &own, to->x, to->value, &outcome));
  result->error = outcome.error;
  result->iterations = outcome.iterations;
  result->converged = outcome.converged;
  if (!to->order) goto cleanup;
  SR_NEW(ctx, scratch, graph->nodes);
  for (int i = 0; i < size; i++) {
    memcpy(scratch, to->x[i], (size_t)graph->nodes * sizeof *scratch);
    for (int64_t node = 0; node < graph->nodes; node++) to->x[i][to->order[node]] = scratch[node];
  }
cleanup:
  sr__free(ctx, scratch);
  return status;
}

/* `graph` is freed as soon as it is laid out where it is a relabeled copy: `order` is given. */
static sr_status solve_ordered(sr_context *ctx, sr__csr *graph,
                               const sr__multilevel_options *options, const pairs_place *to,
                               sr__multilevel_result *result) {
  sr_status status = SR_OK;
  const int32_t *order = to->order;
  sr__hierarchy h = {0};
  sr__block block = {0};
  int size = options->start ? 1 : options->pairs + (options->guard ? MORE_GUARDS : 0);
  if (size > SR__BLOCK_MAX) size = SR__BLOCK_MAX;
  bool stalled;
  SR_TRY(sr__hierarchy_build(ctx, graph, size, options->arc_limit, &h, &stalled));
  if (stalled) {
    status = solve_by_lanczos(ctx, graph, options, to, result);
    goto cleanup;
  }
  int64_t nodes = graph->nodes;
  if (order) sr__csr_free(ctx, graph);
  SR_TRY(solve(ctx, &h, options, &block));
  if (options->pairs == 1 && block.size >= 2 && block.converged &&
      block.value[1] - block.value[0] <= SAME_TOLERANCES * options->tolerance * block.value[0])
    turn_pair(&h.level[0], order, &block);
  int32_t slots = h.level[0].slots;
  result->levels = h.count;
  sr__hierarchy_free(ctx, &h);
  free_directions(ctx, &block);
  if (options->make_room) SR_TRY(options->make_room(ctx, options->data));
  int given = options->start ? 1 : options->pairs + (options->guard ? 1 : 0);
  for (int i = 0; i < given; i++) {
    to->value[i] = block.value[i];
    for (int32_t s = 0; to->x[i] && s < slots; s++) {
      int32_t node = sr__node_at(nodes, s);
      if (node >= 0) to->x[i][order ? order[node] : node] = block.x[i][s];
    }
  }
  for (int i = 0; i < options->pairs; i++) result->error = fmax(result->error, block.error[i]);
  result->iterations = block.iterations;
  result->converged = block.converged;
cleanup:
  block_free(ctx, &block);
  sr__hierarchy_free(ctx, &h);
  return status;
}

sr_status sr__multilevel_pairs(sr_context *ctx, const sr__csr *graph,
                               const sr__multilevel_options *options, double *const *x,
                               double *value, sr__multilevel_result *result) {
  sr_status status = SR_OK;
  sr__csr permuted = {0};
  int32_t *order = NULL;
  double *start = NULL;
  sr__multilevel_options own = *options;
  *result = (sr__multilevel_result){0};
  if (sr__is_local(graph)) {
    sr__csr same = *graph;
    SR_TRY(solve_ordered(ctx, &same, options, &(pairs_place){x, value, NULL}, result));
    goto cleanup;
  }
  SR_NEW(ctx, order, graph->nodes);
  SR_TRY(sr__locality_order(ctx, graph, order));
  SR_TRY(sr__csr_permute(ctx, graph, order, &permuted));
  if (options->start) {
    SR_NEW(ctx, start, graph->nodes);
    for (int64_t k = 0; k < graph->nodes; k++) start[k] = options->start[order[k]];
    own.start = start;
  }
  SR_TRY(solve_ordered(ctx, &permuted, &own, &(pairs_place){x, value, order}, result));
cleanup:
  sr__free(ctx, order);
  sr__free(ctx, start);
  sr__csr_free(ctx, &permuted);
  return status;
}

/* ---- the Fiedler pair --------------------------------------------------------------------- */

enum { DENSE_UP_TO = 96 };

sr__fiedler_options sr__fiedler_defaults(void) {
  return (sr__fiedler_options){.tolerance = 1e-6, .guard = true};
}

static sr_status fiedler_dense(sr_context *ctx, const sr__csr *graph, double *x, double *x_second,
                               sr__fiedler_result *result) {
  sr_status status = SR_OK;
  int32_t wanted = graph->nodes > 2 ? 2 : 1;
  double *vectors = NULL, values[2] = {0, INFINITY};
  SR_NEW(ctx, vectors, wanted * graph->nodes);
  SR_TRY(sr__dense_pairs(ctx, graph, wanted, values, vectors));
  memcpy(x, vectors, (size_t)graph->nodes * sizeof *x);
  if (x_second && wanted > 1)
    memcpy(x_second, vectors + graph->nodes, (size_t)graph->nodes * sizeof *x);
  else if (x_second)
    memset(x_second, 0, (size_t)graph->nodes * sizeof *x);
  *result = (sr__fiedler_result){.value = values[0], .value_second = values[1], .converged = true};
cleanup:
  sr__free(ctx, vectors);
  return status;
}

/* A guard that was frozen early is not quite orthogonal to x. */
static void orthogonalize_second(const sr__csr *graph, const double *x, double *second) {
  double product = 0;
  for (int64_t i = 0; i < graph->nodes; i++) {
    double mass = graph->mass ? graph->mass[i] : sr__csr_degree(graph, i);
    product += mass * x[i] * second[i];
  }
  for (int64_t i = 0; i < graph->nodes; i++) second[i] -= product * x[i];
}

sr_status sr__fiedler(sr_context *ctx, const sr__csr *graph, const sr__fiedler_options *options,
                      double *x, double *x_second, sr__fiedler_result *result) {
  sr_status status = SR_OK;
  double values[2] = {0, INFINITY};
  sr__multilevel_result outcome = {0};
  *result = (sr__fiedler_result){0};
  if (graph->nodes <= DENSE_UP_TO) {
    SR_TRY(fiedler_dense(ctx, graph, x, x_second, result));
    sr__fix_sign(graph, x);
    goto cleanup;
  }
  sr__multilevel_options own = {.pairs = 1,
                                .guard = options->guard,
                                .tolerance = options->tolerance,
                                .max_iterations = options->max_iterations,
                                .arc_limit = SR__EXPANDER_ARCS,
                                .start = options->start};
  double *pair[2] = {x, x_second};
  SR_TRY(sr__multilevel_pairs(ctx, graph, &own, pair, values, &outcome));
  if (x_second) orthogonalize_second(graph, x, x_second);
  *result = (sr__fiedler_result){.value = values[0],
                                 .value_second = values[1],
                                 .error = outcome.error,
                                 .iterations = outcome.iterations,
                                 .converged = outcome.converged};
  sr__fix_sign(graph, x);
cleanup:
  return status;
}
