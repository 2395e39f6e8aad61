/* From a graph to its parts: the way is chosen by the graph and the mode. */
#include "partition.h"

enum { DEFAULT_PARTS = 64 };

void sr_parts_options_init(sr_parts_options *options) {
  *options = (sr_parts_options){.mode = SR_PARTS_EXACT, .refine = 1, .imbalance = 0.03};
}

static sr_status check_options(sr_context *ctx, const sr_graph_view *view,
                               const sr_parts_options *options) {
  if (view->nodes < 1)
    return sr__fail(ctx, SR_ERROR_DATA, "a graph without nodes cannot be cut into parts");
  if (options->parts < 0 || options->parts > view->nodes)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "%d parts were asked for; a graph of %lld nodes gives 1 to %lld",
                    options->parts, (long long)view->nodes, (long long)view->nodes);
  if (options->mode != SR_PARTS_EXACT && options->mode != SR_PARTS_FAST)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "mode %d of parts is neither exact nor fast",
                    (int)options->mode);
  if (!(options->imbalance >= 0 && options->imbalance <= 1))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "an imbalance of %g was asked for; it goes from 0 to 1",
                    options->imbalance);
  return SR_OK;
}

/* The coarse tree, or the refined tree where that cannot be balanced: few rows per part, or nothing
 * to hand over between components. */
static sr_status cut_refined(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                             const sr_parts_options *options, const char **method, double *seconds,
                             int32_t *label) {
  sr_status status = SR_OK;
  bool fast = options->mode == SR_PARTS_FAST, balanced = false;
  sr__cut_options tree = {.refine = true, .exact = true, .slack = 0.001};
  sr__kway_options kway = {.highest = 0, .patience = 100, .rounds = 2, .passes = 3};
  SR_TRY(
      sr__coarse_tree(ctx, working, parts, !fast, options->imbalance, seconds, label, &balanced));
  if (balanced) goto cleanup;
  *method = "exact";
  SR_TRY(sr__bisect_tree(ctx, working, parts, &tree, label));
  *seconds += tree.seconds_spectrum;
  SR_TRY(sr__refine_kway(ctx, working, parts, label, &kway));
cleanup:
  return status;
}

/* Plain bisection takes five to twenty times as long as a coarse tree. It finds straight cuts that
 * searches do not, where nearly all nodes have equally many neighbors, as in a lattice. */
static bool plain_may_win(const sr__working_graph *working) {
  enum { SMALL = 20000, LARGEST = 200000, DEGREES = 64 };
  const sr__csr *graph = &working->graph;
  int64_t having[DEGREES] = {0}, most = 0;
  if (graph->nodes <= SMALL) return true;
  if (graph->nodes > LARGEST) return false;
  for (int64_t i = 0; i < graph->nodes; i++) {
    int64_t degree = graph->offset[i + 1] - graph->offset[i];
    if (degree < DEGREES && ++having[degree] > most) most = having[degree];
  }
  return most * 4 >= graph->nodes * 3;
}

static double cut_weight(const sr__working_graph *working, const int32_t *label) {
  const sr__csr *graph = &working->graph;
  double cut = 0;
  for (int64_t node = 0; node < graph->nodes; node++)
    for (int64_t arc = graph->offset[node]; arc < graph->offset[node + 1]; arc++)
      if (label[graph->neighbor[arc]] != label[node]) cut += sr__arc_weight(working, arc);
  return cut;
}

/* Improves cuts with sizes kept, which never makes them worse; `label` changes where the result is
 * better than what it holds. */
static sr_status offer(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                       int32_t *other, int32_t *label) {
  sr_status status = SR_OK;
  sr__kway_options kway = {.highest = 0, .patience = 100, .rounds = 2, .passes = 3};
  SR_TRY(sr__refine_kway(ctx, working, parts, other, &kway));
  if (cut_weight(working, other) < cut_weight(working, label))
    memcpy(label, other, (size_t)working->graph.nodes * sizeof *label);
cleanup:
  return status;
}

/* What may be better than the coarse tree: straight cuts of a lattice, at every size, and plain
 * bisection where it does not take too long. */
static sr_status try_others(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                            double *seconds, int32_t *label) {
  sr_status status = SR_OK;
  int32_t *other = NULL;
  bool is_lattice = false;
  sr__cut_options tree = {.exact = true, .slack = 0.001};
  SR_NEW(ctx, other, working->graph.nodes);
  SR_TRY(sr__lattice_tree(ctx, working, parts, other, &is_lattice));
  if (is_lattice) SR_TRY(offer(ctx, working, parts, other, label));
  if (!plain_may_win(working)) goto cleanup;
  SR_TRY(sr__bisect_tree(ctx, working, parts, &tree, other));
  *seconds += tree.seconds_spectrum;
  SR_TRY(offer(ctx, working, parts, other, label));
cleanup:
  sr__free(ctx, other);
  return status;
}

static sr_status cut_working_graph(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                                   const sr_parts_options *options, const char **method,
                                   double *seconds, int32_t *label) {
  sr_status status = SR_OK;
  bool fast = options->mode == SR_PARTS_FAST;
  sr__cut_options tree = {.exact = true, .slack = 0.001};
  *method = fast ? "fast" : "exact";
  if (fast || options->refine) {
    SR_TRY(cut_refined(ctx, working, parts, options, method, seconds, label));
    if (!fast) SR_TRY(try_others(ctx, working, parts, seconds, label));
  } else {
    SR_TRY(sr__bisect_tree(ctx, working, parts, &tree, label));
    *seconds += tree.seconds_spectrum;
  }
cleanup:
  return status;
}

/* Renumbers the nodes first where neighbors lie far apart. */
static sr_status cut_graph(sr_context *ctx, const sr_graph_view *view, int32_t parts,
                           const sr_parts_options *options, const char **method, double *seconds,
                           int32_t *label) {
  sr_status status = SR_OK;
  sr__working_graph working = {.graph = sr__csr_view(view), .rows = view->nodes};
  sr__csr permuted = {.nodes = 0};
  int32_t *order = NULL, *inner = NULL;
  if (sr__is_local(&working.graph))
    return cut_working_graph(ctx, &working, parts, options, method, seconds, label);
  SR_NEW(ctx, order, view->nodes);
  SR_NEW(ctx, inner, view->nodes);
  SR_TRY(sr__locality_order(ctx, &working.graph, order));
  SR_TRY(sr__csr_permute(ctx, &working.graph, order, &permuted));
  working.graph = permuted;
  SR_TRY(cut_working_graph(ctx, &working, parts, options, method, seconds, inner));
  for (int64_t i = 0; i < view->nodes; i++) label[order[i]] = inner[i];
cleanup:
  sr__csr_free(ctx, &permuted);
  sr__free(ctx, order);
  sr__free(ctx, inner);
  return status;
}

static sr_status count_components(sr_context *ctx, const sr_graph *graph, int64_t *components) {
  sr_status status = SR_OK;
  const sr_graph_view *view = sr_graph_get(graph);
  int32_t *component = NULL;
  *components = 0;
  if (view->window > 0) {
    for (int64_t r = 0; r < view->runs; r++)
      *components += view->run_offset[r + 1] > view->run_offset[r];
    return SR_OK;
  }
  SR_NEW(ctx, component, view->nodes);
  SR_TRY(sr_graph_components(ctx, graph, component, components));
cleanup:
  sr__free(ctx, component);
  return status;
}

sr_status sr_parts_compute(sr_context *ctx, const sr_graph *graph, const sr_parts_options *options,
                           sr_parts **parts) {
  sr_status status = SR_OK;
  const sr_graph_view *view = sr_graph_get(graph);
  sr_parts_options given;
  double start = sr_seconds(), seconds = 0;
  int64_t components = 0;
  int32_t *label = NULL, count;
  const char *method = "window";
  *parts = NULL;
  sr_parts_options_init(&given);
  if (options) given = *options;
  SR_TRY(check_options(ctx, view, &given));
  count = given.parts ? given.parts : DEFAULT_PARTS;
  if (count > view->nodes) count = (int32_t)view->nodes;
  SR_TRY(count_components(ctx, graph, &components));
  SR_NEW_ZERO(ctx, label, view->nodes);
  if (view->window > 0)
    SR_TRY(sr__window_labels(ctx, view, count, label));
  else if (count > 1)
    SR_TRY(cut_graph(ctx, view, count, &given, &method, &seconds, label));
  int32_t *handed = label;
  label = NULL; /* adopted, also where that fails */
  SR_TRY(sr__parts_adopt(ctx, view->nodes, count, handed, graph, method, parts));
  sr__parts_set_components(*parts, components);
  sr__parts_set_seconds(*parts, seconds, sr_seconds() - start);
cleanup:
  sr__free(ctx, label);
  return status;
}
