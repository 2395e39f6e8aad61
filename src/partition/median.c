/* One cut at the median of the Fiedler vector. */
#include <math.h>

#include "partition.h"

/* Two eigenvalues closer than this count as a pair, any vector of whose plane is as good. */
static const double PAIR_GAP = 0.05;
/* cos(k pi / 16); sin is the same table from the other end. */
enum { ANGLES = 16 };
static const double COSINE[ANGLES / 2 + 1] = {1.0,
                                              0.98078528040323043,
                                              0.92387953251128674,
                                              0.83146961230254524,
                                              0.70710678118654757,
                                              0.55557023301960218,
                                              0.38268343236508978,
                                              0.19509032201612825,
                                              0.0};

static double cosine(int k) { return k <= ANGLES / 2 ? COSINE[k] : -COSINE[ANGLES - k]; }
static double sine(int k) { return COSINE[k <= ANGLES / 2 ? ANGLES / 2 - k : k - ANGLES / 2]; }

typedef struct median_work {
  const sr__working_graph *working;
  int64_t rows; /* of side 0 */
  double *x, *second, *mixed;
  sr__valued_node *entry;
  int32_t *side;
} median_work;

static void split_by(median_work *work, const double *x) {
  int64_t nodes = work->working->graph.nodes;
  for (int64_t i = 0; i < nodes; i++)
    work->entry[i] = (sr__valued_node){.value = x[i], .node = (int32_t)i};
  int64_t front = sr__select_rows(work->working, work->entry, nodes, work->rows);
  for (int64_t i = 0; i < nodes; i++) work->side[work->entry[i].node] = i >= front;
}

/* Turns the pair so that its first vector is the projection of the index ramp on their plane: which
 * basis of the plane the solver gave is chance. */
static void turn_to_ramp(median_work *work) {
  int64_t nodes = work->working->graph.nodes;
  double along[2] = {0, 0};
  for (int64_t i = 0; i < nodes; i++) {
    double ramp = (2.0 * (double)i - (double)(nodes - 1)) / (double)nodes;
    along[0] += ramp * work->x[i];
    along[1] += ramp * work->second[i];
  }
  double length = sqrt(along[0] * along[0] + along[1] * along[1]);
  if (!(length > 0)) return;
  double c = along[0] / length, s = along[1] / length;
  for (int64_t i = 0; i < nodes; i++) {
    double x = work->x[i], second = work->second[i];
    work->x[i] = c * x + s * second;
    work->second[i] = c * second - s * x;
  }
  sr__fix_sign(&work->working->graph, work->second);
}

/* The angle whose cut is smallest, ties: the smallest angle. */
static void search_angles(median_work *work) {
  int64_t nodes = work->working->graph.nodes;
  double best_cut = INFINITY;
  int best = 0;
  turn_to_ramp(work);
  for (int k = 0; k <= ANGLES; k++) {
    /* The last turn makes the best cut again. */
    int angle = k < ANGLES ? k : best;
    for (int64_t i = 0; i < nodes; i++)
      work->mixed[i] = cosine(angle) * work->x[i] + sine(angle) * work->second[i];
    sr__fix_sign(&work->working->graph, work->mixed);
    split_by(work, work->mixed);
    if (k == ANGLES) break;
    double cut = sr__cut_weight(work->working, work->side);
    if (cut < best_cut) {
      best_cut = cut;
      best = k;
    }
  }
}

/* A connected graph. */
static sr_status split_connected(sr_context *ctx, const sr__working_graph *working, int64_t rows,
                                 sr__bisection *bisection, int32_t *side) {
  sr_status status = SR_OK;
  int64_t nodes = working->graph.nodes;
  median_work work = {.working = working, .rows = rows, .side = side};
  SR_NEW_ZERO(ctx, work.x, nodes);
  SR_NEW_ZERO(ctx, work.second, nodes);
  SR_NEW(ctx, work.mixed, nodes);
  SR_NEW(ctx, work.entry, nodes);
  if (nodes > 2) {
    sr__fiedler_options options = sr__fiedler_defaults();
    sr__fiedler_result result;
    double start = sr_seconds();
    options.guard = true;
    options.tolerance = bisection->refine ? 1e-2 : 1e-4;
    SR_TRY(sr__fiedler(ctx, &working->graph, &options, work.x, work.second, &result));
    bisection->seconds_spectrum += sr_seconds() - start;
    if (nodes > 3 && result.value_second - result.value < PAIR_GAP * result.value) {
      search_angles(&work);
      goto cleanup;
    }
  }
  split_by(&work, work.x);
cleanup:
  sr__free(ctx, work.x);
  sr__free(ctx, work.second);
  sr__free(ctx, work.mixed);
  sr__free(ctx, work.entry);
  return status;
}

/* One component of several: its nodes become a graph of their own. */
static sr_status split_component(sr_context *ctx, const sr__working_graph *working,
                                 const int32_t *component, const sr__packing *packing,
                                 sr__bisection *bisection, int32_t *side) {
  sr_status status = SR_OK;
  sr__working_graph half[2] = {{.rows = 0}, {.rows = 0}};
  int32_t *chosen = NULL, *local = NULL, *inner = NULL;
  int64_t nodes = working->graph.nodes;
  SR_NEW(ctx, chosen, nodes);
  SR_NEW(ctx, local, nodes);
  for (int64_t i = 0; i < nodes; i++) chosen[i] = component[i] == packing->split;
  SR_TRY(sr__working_graph_split(ctx, working, chosen, local, half));
  SR_NEW(ctx, inner, half[1].graph.nodes);
  SR_TRY(split_connected(ctx, &half[1], packing->split_left, bisection, inner));
  for (int64_t i = 0; i < nodes; i++)
    if (chosen[i]) side[i] = inner[local[i]];
cleanup:
  sr__working_graph_free(ctx, &half[0]);
  sr__working_graph_free(ctx, &half[1]);
  sr__free(ctx, chosen);
  sr__free(ctx, local);
  sr__free(ctx, inner);
  return status;
}

sr_status sr__split_at_median(sr_context *ctx, const sr__working_graph *working, int64_t rows,
                              sr__bisection *bisection, int32_t *side) {
  sr_status status = SR_OK;
  int32_t *component = NULL;
  int64_t *component_rows = NULL, count = 0;
  uint8_t *component_side = NULL;
  sr__packing packing;
  SR_NEW(ctx, component, working->graph.nodes);
  SR_TRY(sr__working_graph_components(ctx, working, component, &component_rows, &count));
  if (count == 1) {
    SR_TRY(split_connected(ctx, working, rows, bisection, side));
    goto cleanup;
  }
  SR_NEW_ZERO(ctx, component_side, count);
  SR_TRY(sr__pack_whole(ctx, count, component_rows, rows, component_side, &packing));
  for (int64_t i = 0; i < working->graph.nodes; i++) side[i] = component_side[component[i]];
  if (packing.split >= 0)
    SR_TRY(split_component(ctx, working, component, &packing, bisection, side));
cleanup:
  sr__free(ctx, component);
  sr__free(ctx, component_rows);
  sr__free(ctx, component_side);
  return status;
}
