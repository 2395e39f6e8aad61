/* Correlation by distance in steps on a graph: how many nodes lie in a correlated neighborhood. */
#include <math.h>

#include "core/maths.h"
#include "dependence.h"

enum {
  BLOCKS = 40, /* regions around random nodes: the units of the jackknife */
  MOST_COLUMNS = 32,
  MOST_STEPS = 256,  /* of the curve */
  MOST_RINGS = 4096, /* of the ring sizes */
  LEAST_SOURCES = 4, /* a block */
  MOST_SOURCES = 100
};
static const double PRODUCTS = 1e8; /* about as many are formed for the curve ... */
static const double VISITS = 2e7;   /* ... and so many nodes met for the ring sizes */

typedef struct region {
  double edge_product, edge_square; /* over the arcs that leave its nodes */
  double ring_product[MOST_STEPS];  /* over its sources, by distance */
  double ring_square[MOST_STEPS];
  double *ring_size; /* nodes at each distance, over its deep sources */
  int64_t deep_sources;
} region;

typedef struct correlogram_work {
  const sr_graph_view *graph;
  const sr__columns *columns;
  int64_t d;
  float *value;    /* row-major copy: n x d */
  int32_t *block;  /* region of each node */
  int64_t *offset; /* BLOCKS + 1: nodes by region ... */
  int32_t *member;
  region *regions;
  double *rings; /* memory of ring_size */
  int32_t steps, ring_steps;
  int64_t sources, deep_sources; /* a block */
  double columns_alike;  /* sum of squared correlations of the columns / d^2: 1/d where unrelated */
  int32_t *mark, *queue; /* n a thread each */
  uint64_t seed;
} correlogram_work;

/* ---- regions ------------------------------------------------------------------------------ */

/* From queue[head, tail): nodes without a region join the one that reaches them first. Gives the
 * new tail; stops where an interrupt came. */
static int64_t spread_regions(sr_context *ctx, correlogram_work *w, int64_t head, int64_t tail) {
  enum { NODES = 1 << 18 };
  const sr_graph_view *g = w->graph;
  while (head < tail) {
    int32_t node = w->queue[head++];
    if (head % NODES == 0 && sr__check_interrupt(ctx) != SR_OK) return tail;
    for (int64_t a = g->offset[node]; a < g->offset[node + 1]; a++) {
      int32_t next = g->neighbor[a];
      if (w->block[next] >= 0) continue;
      w->block[next] = w->block[node];
      w->queue[tail++] = next;
    }
  }
  return tail;
}

/* Every node joins the random center that a breadth-first search from all of them reaches it from;
 * components without a center are dealt out in turn, each whole: its nodes depend on each other. */
static sr_status grow_regions(sr_context *ctx, correlogram_work *w) {
  sr_status status = SR_OK;
  int64_t n = w->graph->nodes, tail = 0;
  int32_t turn = 0;
  sr__random random;
  sr__random_init(&random, w->seed, SR_PURPOSE_BOOTSTRAP, 0, 0);
  for (int64_t i = 0; i < n; i++) w->block[i] = -1;
  for (int32_t b = 0; b < BLOCKS; b++) {
    int32_t center = (int32_t)sr__random_below(&random, (uint64_t)n);
    if (w->block[center] >= 0) continue;
    w->block[center] = b;
    w->queue[tail++] = center;
  }
  tail = spread_regions(ctx, w, 0, tail);
  SR_TRY(sr__check_interrupt(ctx));
  for (int64_t i = 0; i < n; i++) {
    if (w->block[i] >= 0) continue;
    w->block[i] = turn++ % BLOCKS;
    w->queue[tail] = (int32_t)i;
    tail = spread_regions(ctx, w, tail, tail + 1);
  }
  SR_TRY(sr__check_interrupt(ctx));
cleanup:
  return status;
}

static void list_members(correlogram_work *w) {
  int64_t n = w->graph->nodes;
  memset(w->offset, 0, (BLOCKS + 1) * sizeof *w->offset);
  for (int64_t i = 0; i < n; i++) w->offset[w->block[i] + 1]++;
  for (int b = 0; b < BLOCKS; b++) w->offset[b + 1] += w->offset[b];
  for (int64_t i = 0; i < n; i++) w->member[w->offset[w->block[i]]++] = (int32_t)i;
  for (int b = BLOCKS; b > 0; b--) w->offset[b] = w->offset[b - 1];
  w->offset[0] = 0;
}

static double product(const correlogram_work *w, int64_t a, int64_t b) {
  const float *x = w->value + a * w->d, *y = w->value + b * w->d;
  double sum = 0.0;
  for (int64_t j = 0; j < w->d; j++) sum += (double)x[j] * (double)y[j];
  return sum;
}

/* ---- one step ----------------------------------------------------------------------------- */

static sr_status measure_edges(sr_context *ctx, void *data, int64_t b, int slot) {
  (void)slot;
  correlogram_work *w = data;
  region *r = w->regions + b;
  for (int64_t m = w->offset[b]; m < w->offset[b + 1]; m++) {
    int64_t node = w->member[m];
    int64_t begin = w->graph->offset[node], end = w->graph->offset[node + 1];
    r->edge_square += (double)(end - begin) * product(w, node, node);
    for (int64_t a = begin; a < end; a++)
      r->edge_product += product(w, node, w->graph->neighbor[a]);
  }
  return sr__check_interrupt(ctx);
}

static double edge_correlation(const correlogram_work *w, int left_out) {
  double products = 0.0, squares = 0.0;
  for (int b = 0; b < BLOCKS; b++) {
    if (b == left_out) continue;
    products += w->regions[b].edge_product;
    squares += w->regions[b].edge_square;
  }
  return squares > 0.0 ? products / squares : NAN;
}

/* ---- many steps --------------------------------------------------------------------------- */

typedef struct walk_room {
  int32_t *mark, *queue; /* a node each */
  int32_t stamp;         /* marks those that were reached */
} walk_room;

/* Breadth-first from one source: products to `steps`, ring sizes to `ring_steps` where `deep`.
 * Gives the number of nodes met. */
static int64_t walk(const correlogram_work *w, int32_t source, bool deep, walk_room room,
                    region *r) {
  int32_t *mark = room.mark, *queue = room.queue, stamp = room.stamp;
  const sr_graph_view *g = w->graph;
  int64_t head = 0, tail = 1;
  int32_t most = deep ? w->ring_steps : w->steps;
  double square = product(w, source, source);
  queue[0] = source;
  mark[source] = stamp;
  for (int32_t distance = 0; distance < most && head < tail; distance++) {
    int64_t ring_end = tail;
    if (deep) r->ring_size[distance] += (double)(ring_end - head);
    for (; head < ring_end; head++) {
      int32_t node = queue[head];
      if (distance < w->steps) {
        r->ring_product[distance] += product(w, source, node);
        r->ring_square[distance] += 0.5 * (square + product(w, node, node));
      }
      for (int64_t a = g->offset[node]; a < g->offset[node + 1]; a++)
        if (mark[g->neighbor[a]] != stamp) {
          mark[g->neighbor[a]] = stamp;
          queue[tail++] = g->neighbor[a];
        }
    }
  }
  r->deep_sources += deep;
  return tail;
}

static sr_status measure_rings(sr_context *ctx, void *data, int64_t b, int slot) {
  correlogram_work *w = data;
  int64_t n = w->graph->nodes, size = w->offset[b + 1] - w->offset[b];
  int32_t *mark = w->mark + (int64_t)slot * n, *queue = w->queue + (int64_t)slot * n;
  int64_t sources = w->sources < size ? w->sources : size;
  for (int64_t s = 0; s < sources; s++) {
    /* One stamp a source of all blocks, so that marks need no clearing. */
    int32_t stamp = (int32_t)(b * MOST_SOURCES + s + 1);
    int32_t source = w->member[w->offset[b] + size * (2 * s + 1) / (2 * sources)];
    bool deep = s * w->deep_sources % sources < w->deep_sources;
    walk(w, source, deep, (walk_room){mark, queue, stamp}, w->regions + b);
    sr_status status = sr__check_interrupt(ctx);
    if (status != SR_OK) return status;
  }
  return SR_OK;
}

/* How far and from how many sources: three ranges out, about PRODUCTS products. */
static void plan_rings(correlogram_work *w, double rho) {
  double range = rho > 0.0 && rho < 1.0 ? -1.0 / sr__log_portable(rho)
                 : rho >= 1.0           ? MOST_RINGS
                                        : 0.0;
  w->steps = (int32_t)fmin(4.0 + ceil(3.0 * range), MOST_STEPS);
  w->ring_steps = (int32_t)fmin(4.0 + ceil(12.0 * range), MOST_RINGS);
  region probe = {0};
  int32_t middle = w->member[w->graph->nodes / 2];
  double met = (double)walk(w, middle, false, (walk_room){w->mark, w->queue, -1}, &probe);
  double sources = PRODUCTS / (met * (double)(w->d + 1)) / BLOCKS;
  w->sources = (int64_t)fmin(fmax(sources, LEAST_SOURCES), MOST_SOURCES);
  probe.ring_size = w->rings;
  met = (double)walk(w, middle, true, (walk_room){w->mark, w->queue, -2}, &probe);
  memset(w->rings, 0, MOST_RINGS * sizeof *w->rings);
  double deep = fmin(fmax(VISITS / met / BLOCKS, LEAST_SOURCES), (double)w->sources);
  w->deep_sources = (int64_t)deep;
}

/* ---- estimates ---------------------------------------------------------------------------- */

static double ring_correlation(const correlogram_work *w, int32_t distance, int left_out) {
  double products = 0.0, squares = 0.0;
  for (int b = 0; b < BLOCKS; b++) {
    if (b == left_out) continue;
    products += w->regions[b].ring_product[distance];
    squares += w->regions[b].ring_square[distance];
  }
  return squares > 0.0 ? products / squares : NAN;
}

static double ring_size(const correlogram_work *w, int32_t distance) {
  double nodes = 0.0, sources = 0.0;
  for (int b = 0; b < BLOCKS; b++) {
    nodes += w->regions[b].ring_size[distance];
    sources += (double)w->regions[b].deep_sources;
  }
  return sources > 0.0 ? nodes / sources : 0.0;
}

/* Sum over all nodes of rho^distance. */
static double exponential_nodes(const correlogram_work *w, double rho) {
  double sum = 1.0, power = rho;
  if (!(rho > 0.0)) return 1.0;
  for (int32_t h = 1; h < w->ring_steps; h++, power *= rho) sum += ring_size(w, h) * power;
  return sum;
}

/* Sum over all nodes of the measured correlation down to 0.05, and of an exponential tail from
 * there. */
static double measured_nodes(const correlogram_work *w, int left_out, double range) {
  double sum = 1.0, rho = 1.0;
  int32_t h = 1;
  for (; h < w->steps; h++) {
    double next = ring_correlation(w, h, left_out);
    if (!(next > 0.05)) break;
    rho = next;
    sum += ring_size(w, h) * rho;
  }
  for (; h < w->ring_steps; h++) sum += ring_size(w, h) * (rho *= sr__exp_portable(-1.0 / range));
  return sum;
}

static double range_of(double rho) { return rho > 0.0 ? -1.0 / sr__log_portable(rho) : 0.0; }

/* Where the measured curve crosses 1/e, straight between steps; where it does not, the last step
 * that has pairs of nodes: in a graph of small components no two are farther apart. */
static double crossing(const correlogram_work *w) {
  double before = 1.0;
  for (int32_t h = 1; h < w->steps; h++) {
    double rho = ring_correlation(w, h, -1);
    if (!isfinite(rho)) return h;
    if (!(rho > sr__exp_portable(-1.0)))
      return h - 1 + (before - sr__exp_portable(-1.0)) / (before - rho);
    before = rho;
  }
  return w->steps;
}

static double jackknife_error(const double *leave_out) {
  double mean = 0.0, square = 0.0;
  for (int b = 0; b < BLOCKS; b++) mean += leave_out[b] / BLOCKS;
  for (int b = 0; b < BLOCKS; b++) square += (leave_out[b] - mean) * (leave_out[b] - mean);
  return sqrt(square * (BLOCKS - 1) / BLOCKS);
}

/* Relative error that the measured variance of a Gaussian field has at best: its correlated
 * neighborhoods, counted with squared correlations, are the independent values. Neighboring
 * regions of the jackknife depend on each other, so it may fall below this. */
static double information_limit(const correlogram_work *w, double rho) {
  double nodes = exponential_nodes(w, rho * rho);
  return (1.0 - rho) * sqrt(2.0 * nodes * w->columns_alike / (double)w->graph->nodes);
}

/* Intervals are symmetric in log(1 - rho). */
static void estimate_first(const correlogram_work *w, double z, sr__correlogram *out) {
  double leave_out[BLOCKS];
  for (int b = 0; b < BLOCKS; b++) {
    double without = edge_correlation(w, b);
    leave_out[b] = isfinite(without) ? without : out->lambda; /* all edges lie in region b */
  }
  double rho = fmin(out->lambda, 1.0), error = 0.0; /* 1: neighbors are copies, nothing scatters */
  if (rho < 1.0)
    error = fmax(jackknife_error(leave_out), information_limit(w, rho)) * z / (1.0 - rho);
  double low = 1.0 - (1.0 - rho) * sr__exp_portable(error),
         high = 1.0 - (1.0 - rho) * sr__exp_portable(-error);
  out->range = (sr_scale){"range", range_of(rho), range_of(low), range_of(high)};
  out->nodes = (sr_scale){"correlogram-first", exponential_nodes(w, rho), exponential_nodes(w, low),
                          exponential_nodes(w, high)};
}

static sr_scale estimate_sum(const correlogram_work *w, double z, double range) {
  double leave_out[BLOCKS], estimate = measured_nodes(w, -1, range);
  for (int b = 0; b < BLOCKS; b++) leave_out[b] = sr__log_portable(measured_nodes(w, b, range));
  /* The size of the neighborhood moves with the square of the range, and its tail is measured from
   * few sources: simulated fields scatter by two to three times the plain propagation of 2. */
  double rho = edge_correlation(w, -1);
  double limit = rho < 1.0 ? 5.0 * information_limit(w, rho) / (1.0 - rho) : 0.0;
  double error = z * fmax(jackknife_error(leave_out), limit);
  return (sr_scale){"correlogram-sum", estimate, fmax(1.0, estimate * sr__exp_portable(-error)),
                    estimate * sr__exp_portable(error)};
}

static sr_status new_work(sr_context *ctx, correlogram_work *w) {
  sr_status status = SR_OK;
  int64_t n = w->graph->nodes, threads = sr_context_threads(ctx);
  SR_NEW(ctx, w->value, n * w->d);
  SR_NEW(ctx, w->block, n);
  SR_NEW(ctx, w->member, n);
  SR_NEW(ctx, w->offset, BLOCKS + 1);
  SR_NEW_ZERO(ctx, w->regions, BLOCKS);
  SR_NEW_ZERO(ctx, w->rings, (int64_t)BLOCKS * MOST_RINGS);
  SR_NEW_ZERO(ctx, w->mark, n * threads);
  SR_NEW(ctx, w->queue, n * threads);
  for (int b = 0; b < BLOCKS; b++) w->regions[b].ring_size = w->rings + (int64_t)b * MOST_RINGS;
  for (int64_t j = 0; j < w->d; j++)
    for (int64_t i = 0; i < n; i++) w->value[i * w->d + j] = w->columns->value[j * n + i];
cleanup:
  return status;
}

static void free_work(sr_context *ctx, correlogram_work *w) {
  sr__free(ctx, w->value);
  sr__free(ctx, w->block);
  sr__free(ctx, w->member);
  sr__free(ctx, w->offset);
  sr__free(ctx, w->regions);
  sr__free(ctx, w->rings);
  sr__free(ctx, w->mark);
  sr__free(ctx, w->queue);
}

sr_status sr__correlogram_measure(sr_context *ctx, const sr_graph_view *graph,
                                  const sr__columns *columns, double z, uint64_t seed,
                                  sr__correlogram *correlogram) {
  sr_status status = SR_OK;
  correlogram_work w = {.graph = graph, .columns = columns, .seed = seed};
  w.d = columns->count < MOST_COLUMNS ? columns->count : MOST_COLUMNS;
  *correlogram = (sr__correlogram){.lambda = NAN,
                                   .range = {"range", NAN, NAN, NAN},
                                   .nodes = {"correlogram-first", NAN, NAN, NAN},
                                   .sum = {"correlogram-sum", NAN, NAN, NAN},
                                   .crossing = NAN};
  if (w.d == 0 || graph->arcs == 0) goto cleanup;
  SR_TRY(new_work(ctx, &w));
  w.columns_alike = sr__columns_alike(columns);
  SR_TRY(grow_regions(ctx, &w));
  list_members(&w);
  SR_TRY(sr__parallel_for(ctx, BLOCKS, measure_edges, &w));
  correlogram->lambda = edge_correlation(&w, -1);
  if (!isfinite(correlogram->lambda)) goto cleanup;
  plan_rings(&w, correlogram->lambda);
  SR_TRY(sr__parallel_for(ctx, BLOCKS, measure_rings, &w));
  SR_NEW(ctx, correlogram->correlation, w.steps);
  correlogram->count = w.steps;
  for (int32_t h = 0; h < w.steps; h++) correlogram->correlation[h] = ring_correlation(&w, h, -1);
  correlogram->crossing = crossing(&w);
  estimate_first(&w, z, correlogram);
  correlogram->sum = estimate_sum(&w, z, correlogram->crossing);
cleanup:
  free_work(ctx, &w);
  return status;
}

void sr__correlogram_free(sr_context *ctx, sr__correlogram *correlogram) {
  sr__free(ctx, correlogram->correlation);
  *correlogram = (sr__correlogram){0};
}
