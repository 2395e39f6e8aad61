/* From a graph to its parts: the way is chosen by the graph and the mode. */
#include "core/options.h"
#include "partition.h"

enum { DEFAULT_PARTS = 64 };

static const sr_option parts_options[] = {
    SR_INTEGER(sr_parts_options, parts, "0", 0, 2147483647,
               "how many parts; 0 is 64, or the rows where these are fewer"),
    SR_CHOICE(sr_parts_options, mode, "exact", "exact|fast",
              "exact: sizes differ by at most one; fast: multilevel, within --imbalance"),
    SR_REAL(sr_parts_options, imbalance, "0.03", 0, 1,
            "fast: how far a part may be above its fair share"),
    SR_FLAG(sr_parts_options, pure, "no",
            "exact: the median of the Fiedler vector as it is, cuts not improved"),
    SR_OPTIONS_END};

const sr_option *sr_parts_option_list(void) { return parts_options; }

void sr_parts_options_init(sr_parts_options *options) {
  *options = (sr_parts_options){0};
  sr_options_init(parts_options, options);
}

static sr_status check_options(sr_context *ctx, const sr_graph_view *view,
                               const sr_parts_options *options) {
  if (view->nodes < 1)
    return sr__fail(ctx, SR_ERROR_DATA, "a graph without nodes cannot be cut into parts");
  if (options->parts > view->nodes)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "%lld parts were asked for; a graph of %lld nodes gives 1 to %lld",
                    (long long)options->parts, (long long)view->nodes, (long long)view->nodes);
  return sr__options_check(ctx, "parts", parts_options, options);
}

/* One way from a graph to labels. */
typedef struct cut_job {
  const sr__working_graph *working;
  int32_t parts;
  const sr_parts_options *options;
  const char *method;
  double seconds; /* spent on eigenvectors */
  int32_t *label;
} cut_job;

/* Improves cuts with sizes kept, which never makes them worse. */
static sr_status refine_sizes_kept(sr_context *ctx, const cut_job *job, int32_t *label) {
  sr__kway_options kway = {.highest = 0, .patience = 100, .rounds = 2, .passes = 3};
  return sr__refine_kway(ctx, job->working, job->parts, label, &kway);
}

static sr_status cut_tree(sr_context *ctx, cut_job *job, bool refine, int32_t *label) {
  sr__cut_options tree = {.refine = refine, .exact = true, .slack = 0.001};
  sr_status status = sr__bisect_tree(ctx, job->working, job->parts, &tree, label);
  job->seconds += tree.seconds_spectrum;
  return status;
}

/* The coarse tree, or the refined tree where that cannot be balanced: few rows per part, or nothing
 * to hand over between components. */
static sr_status cut_refined(sr_context *ctx, cut_job *job) {
  sr_status status = SR_OK;
  sr__coarse_cut cut = {.exact = job->options->mode != SR_PARTS_FAST,
                        .imbalance = job->options->imbalance};
  SR_TRY(sr__coarse_tree(ctx, job->working, job->parts, &cut, job->label));
  job->seconds += cut.seconds_spectrum;
  if (cut.balanced) goto cleanup;
  job->method = "exact";
  SR_TRY(cut_tree(ctx, job, true, job->label));
  SR_TRY(refine_sizes_kept(ctx, job, job->label));
cleanup:
  return status;
}

/* The job's labels change where others, refined, are better. */
static sr_status offer(sr_context *ctx, cut_job *job, int32_t *other) {
  sr_status status = SR_OK;
  SR_TRY(refine_sizes_kept(ctx, job, other));
  if (sr__cut_weight(job->working, other) < sr__cut_weight(job->working, job->label))
    memcpy(job->label, other, (size_t)job->working->graph.nodes * sizeof *other);
cleanup:
  return status;
}

/* Nodes up to which the plain tree is made to its end. In larger graphs it takes several times as
 * long as all else. */
enum { WHOLE_NODES = 50000 };

/* Whether plain cuts were not found to lead in a large graph: few arcs a node, and no degree that
 * nearly half of the nodes have, as in what is nearly a lattice. */
static bool is_irregular(const sr__csr *graph) {
  enum { DEGREES = 64, MOST_MEAN = 12 };
  const double share = 0.45;
  int64_t count[DEGREES] = {0}, most = 0;
  for (int64_t i = 0; i < graph->nodes; i++) {
    int64_t degree = graph->offset[i + 1] - graph->offset[i];
    count[degree < DEGREES ? degree : DEGREES - 1]++;
  }
  for (int d = 0; d < DEGREES; d++) most = count[d] > most ? count[d] : most;
  return graph->offset[graph->nodes] <= MOST_MEAN * graph->nodes &&
         (double)most < share * (double)graph->nodes;
}

/* No refined cut may be worse than the plain one, which can lead where cuts are straight, as in a
 * graph that is nearly a lattice. In large graphs it is given up at the first depth at which it
 * does not lead. */
static sr_status try_plain(sr_context *ctx, cut_job *job, int32_t *other) {
  sr_status status = SR_OK;
  double rival[SR_MAX_DEPTHS];
  sr__cut_options tree = {.exact = true};
  if (job->working->graph.nodes > WHOLE_NODES) {
    sr__cut_by_depth(job->working, job->parts, job->label, rival);
    tree.rival = rival;
  }
  SR_TRY(sr__bisect_tree(ctx, job->working, job->parts, &tree, other));
  job->seconds += tree.seconds_spectrum;
  if (!tree.given_up) SR_TRY(offer(ctx, job, other));
cleanup:
  return status;
}

/* What may be better than the coarse tree: straight cuts of a lattice, and plain bisection. The
 * Fiedler vector of a box is that of its longest axis, so that plain cuts of a box are straight
 * too, or worse. Planes of eight neighbors are known in large graphs alone: small ones have plain
 * cuts. The fast mode does not make the plain tree of a large graph. */
static sr_status try_others(sr_context *ctx, cut_job *job) {
  sr_status status = SR_OK;
  int32_t *other = NULL;
  const sr__csr *graph = &job->working->graph;
  bool is_lattice = false, is_large = graph->nodes > WHOLE_NODES;
  SR_NEW(ctx, other, graph->nodes);
  SR_TRY(sr__lattice_tree(ctx, job->working, job->parts, is_large, other, &is_lattice));
  if (is_lattice) SR_TRY(offer(ctx, job, other));
  bool fast = job->options->mode == SR_PARTS_FAST;
  if (!is_large || !(fast || is_lattice || is_irregular(graph))) SR_TRY(try_plain(ctx, job, other));
cleanup:
  sr__free(ctx, other);
  return status;
}

static sr_status cut_working_graph(sr_context *ctx, cut_job *job) {
  sr_status status = SR_OK;
  bool fast = job->options->mode == SR_PARTS_FAST;
  job->method = fast ? "fast" : "exact";
  if (!fast && job->options->pure) return cut_tree(ctx, job, false, job->label);
  SR_TRY(cut_refined(ctx, job));
  SR_TRY(try_others(ctx, job));
cleanup:
  return status;
}

/* Renumbers the nodes first where neighbors lie far apart. */
static sr_status cut_graph(sr_context *ctx, const sr_graph_view *view, cut_job *job) {
  sr_status status = SR_OK;
  sr__working_graph working = {.graph = sr__csr_view(view), .rows = view->nodes};
  sr__csr permuted = {.nodes = 0};
  int32_t *order = NULL, *inner = NULL, *label = job->label;
  job->working = &working;
  if (sr__is_local(&working.graph)) return cut_working_graph(ctx, job);
  SR_NEW(ctx, order, view->nodes);
  SR_NEW(ctx, inner, view->nodes);
  SR_TRY(sr__locality_order(ctx, &working.graph, order));
  SR_TRY(sr__csr_permute(ctx, &working.graph, order, &permuted));
  working.graph = permuted;
  job->label = inner;
  SR_TRY(cut_working_graph(ctx, job));
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
  cut_job job = {.options = &given, .method = "window"};
  double start = sr_seconds();
  int64_t components = 0;
  int32_t *label = NULL, count;
  *parts = NULL;
  sr_parts_options_init(&given);
  if (options) given = *options;
  SR_TRY(check_options(ctx, view, &given));
  count = given.parts ? given.parts : DEFAULT_PARTS;
  if (count > view->nodes) count = (int32_t)view->nodes;
  SR_TRY(count_components(ctx, graph, &components));
  SR_NEW_ZERO(ctx, label, view->nodes);
  job.parts = count;
  job.label = label;
  if (view->window > 0)
    SR_TRY(sr__window_labels(ctx, view, count, label));
  else if (count > 1)
    SR_TRY(cut_graph(ctx, view, &job));
  int32_t *handed = label;
  label = NULL; /* adopted, also where that fails */
  sr_parts_view made = {.nodes = view->nodes, .parts = count, .method = job.method};
  SR_TRY(sr__parts_adopt(ctx, made, handed, graph, parts));
  sr__parts_set_components(*parts, components);
  sr__parts_set_seconds(*parts, job.seconds, sr_seconds() - start);
cleanup:
  sr__free(ctx, label);
  return status;
}
