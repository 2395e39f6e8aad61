/* The public object: the largest component is solved, measured and put back in place. */
#include "spectrum.h"

#include <math.h>

#include "core/options.h"
#include "graph/graph.h"
#include "multilevel.h"
#include "object.h"
#include "solver.h"

static const sr_option spectrum_options[] = {
    SR_TEXT(sr_spectrum_options, solver, "auto", "solver of the Fiedler pair"),
    SR_INTEGER(sr_spectrum_options, pairs, "1", 1, 1e6, "smallest eigenvalues that are told"),
    SR_REAL(sr_spectrum_options, tolerance, "1e-6", 1e-16, 0.999, "relative error of lambda_2"),
    SR_INTEGER(sr_spectrum_options, max_iterations, "0", 0, 1e12,
               "steps of the solver at most; 0 is the solver's own number"),
    SR_OPTIONS_END};

const sr_option *sr_spectrum_option_list(void) { return spectrum_options; }

void sr_spectrum_options_init(sr_spectrum_options *options) {
  sr_options_init(spectrum_options, options);
}

const sr_spectrum_view *sr_spectrum_get(const sr_spectrum *spectrum) { return &spectrum->view; }

void sr_spectrum_free(sr_spectrum **spectrum) {
  if (!spectrum || !*spectrum) return;
  sr_allocator allocator = (*spectrum)->allocator;
  sr__release(&allocator, (*spectrum)->value);
  sr__release(&allocator, (*spectrum)->vector);
  sr__release(&allocator, *spectrum);
  *spectrum = NULL;
}

sr_status sr__spectrum_new(sr_context *ctx, int64_t nodes, int32_t pairs, sr_spectrum **spectrum) {
  sr_status status = SR_OK;
  sr_spectrum *made = NULL;
  *spectrum = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_NEW_ZERO(ctx, made->value, pairs);
  made->view = (sr_spectrum_view){
      .nodes = nodes, .pairs = pairs, .value = made->value, .solver = "", .components = 1};
  *spectrum = made;
  made = NULL;
cleanup:
  sr_spectrum_free(&made);
  return status;
}

sr_status sr__answer_room(sr_context *ctx, sr__answer *answer) {
  sr_status status = SR_OK;
  if (!answer->vector) SR_NEW_ZERO(ctx, answer->vector, answer->room);
cleanup:
  return status;
}

/* ---- measuring a pair --------------------------------------------------------------------- */

typedef struct measure_work {
  const sr__csr *graph;
  double *x;
  double value, scale, mean;
  double *partial; /* four sums a chunk */
} measure_work;

static int64_t chunk_end(const sr__csr *graph, int64_t chunk) {
  int64_t end = (chunk + 1) * SR__CHUNK;
  return end < graph->nodes ? end : graph->nodes;
}

/* Energy from edge differences, D-norm, D-mean and volume. */
static sr_status measure_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  measure_work *w = data;
  double energy = 0, norm = 0, mean = 0, volume = 0;
  for (int64_t i = chunk * SR__CHUNK; i < chunk_end(w->graph, chunk); i++) {
    double degree = 0, row = 0;
    for (int64_t a = w->graph->offset[i]; a < w->graph->offset[i + 1]; a++) {
      double weight = w->graph->weight ? w->graph->weight[a] : 1;
      double difference = w->x[i] - w->x[w->graph->neighbor[a]];
      row += weight * difference * difference;
      degree += weight;
    }
    energy += 0.5 * row;
    norm += degree * w->x[i] * w->x[i];
    mean += degree * w->x[i];
    volume += degree;
  }
  memcpy(w->partial + 4 * chunk, (double[]){energy, norm, mean, volume}, 4 * sizeof(double));
  return SR_OK;
}

static sr_status rescale_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  measure_work *w = data;
  for (int64_t i = chunk * SR__CHUNK; i < chunk_end(w->graph, chunk); i++)
    w->x[i] = (w->x[i] - w->mean) * w->scale;
  return SR_OK;
}

/* |D^(-1/2) (L x - value D x)|^2 of the rescaled vector. */
static sr_status residual_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  measure_work *w = data;
  double sum = 0;
  for (int64_t i = chunk * SR__CHUNK; i < chunk_end(w->graph, chunk); i++) {
    double degree = 0, row = 0;
    for (int64_t a = w->graph->offset[i]; a < w->graph->offset[i + 1]; a++) {
      double weight = w->graph->weight ? w->graph->weight[a] : 1;
      row += weight * (w->x[i] - w->x[w->graph->neighbor[a]]);
      degree += weight;
    }
    row -= w->value * degree * w->x[i];
    sum += row * row / degree;
  }
  w->partial[4 * chunk] = sum;
  return SR_OK;
}

/* Normalizes x (x' D 1 = 0, x' D x = 1); gives its Rayleigh quotient and, with the value that will
 * be reported, its residual. */
static sr_status measure(sr_context *ctx, const sr__csr *graph, double *x, bool keep_value,
                         double *value, double *residual) {
  sr_status status = SR_OK;
  measure_work w = {.graph = graph, .x = x};
  int64_t chunks = sr__chunks_of(graph->nodes);
  double sum[4] = {0}, squares = 0;
  SR_NEW(ctx, w.partial, 4 * chunks);
  SR_TRY(sr__parallel_for(ctx, chunks, measure_chunk, &w));
  for (int64_t c = 0; c < chunks; c++) {
    for (int s = 0; s < 4; s++) sum[s] += w.partial[4 * c + s];
  }
  w.mean = sum[2] / sum[3];
  double norm = sum[1] - w.mean * sum[2];
  if (!(norm > 0)) norm = 1; /* a vector that was not found stays zero */
  w.scale = 1 / sqrt(norm);
  if (!keep_value) *value = sum[0] / norm;
  SR_TRY(sr__parallel_for(ctx, chunks, rescale_chunk, &w));
  sr__fix_sign(graph, x);
  if (!residual) goto cleanup;
  w.value = *value;
  SR_TRY(sr__parallel_for(ctx, chunks, residual_chunk, &w));
  for (int64_t c = 0; c < chunks; c++) squares += w.partial[4 * c];
  *residual = sqrt(squares);
cleanup:
  sr__free(ctx, w.partial);
  return status;
}

/* ---- the largest component ---------------------------------------------------------------- */

/* The part of the graph that is solved: all of it, a run, or an extracted component. */
typedef struct selection {
  sr__csr graph;
  int32_t window;
  int64_t components;
  int64_t first;       /* of a run */
  int64_t *run_offset; /* offsets of a run, moved to begin at 0 */
  int32_t *run_neighbor;
  int32_t *nodes; /* of a component that was extracted; NULL = consecutive from `first` */
  sr_graph *extracted;
} selection;

/* The longest run of a window graph. A single run is the graph itself. */
static sr_status select_run(sr_context *ctx, const sr_graph_view *view, selection *s) {
  sr_status status = SR_OK;
  int64_t longest = 0;
  for (int64_t r = 1; r < view->runs; r++) {
    if (view->run_offset[r + 1] - view->run_offset[r] >
        view->run_offset[longest + 1] - view->run_offset[longest])
      longest = r;
  }
  s->graph = sr__csr_view(view);
  s->window = view->window;
  s->components = view->runs;
  if (view->runs == 1) goto cleanup;
  s->first = view->run_offset[longest];
  int64_t count = view->run_offset[longest + 1] - s->first, base = view->offset[s->first];
  int64_t arcs = view->offset[s->first + count] - base;
  SR_NEW(ctx, s->run_offset, count + 1);
  SR_NEW(ctx, s->run_neighbor, arcs);
  for (int64_t i = 0; i <= count; i++) s->run_offset[i] = view->offset[s->first + i] - base;
  for (int64_t a = 0; a < arcs; a++)
    s->run_neighbor[a] = (int32_t)(view->neighbor[base + a] - s->first);
  s->graph =
      (sr__csr){.nodes = count, .arcs = arcs, .offset = s->run_offset, .neighbor = s->run_neighbor};
cleanup:
  return status;
}

static sr_status select_component(sr_context *ctx, const sr_graph *graph, selection *s) {
  sr_status status = SR_OK;
  const sr_graph_view *view = sr_graph_get(graph);
  int32_t *component = NULL;
  int64_t count = 0;
  SR_NEW(ctx, component, view->nodes);
  SR_TRY(sr_graph_components(ctx, graph, component, &s->components));
  sr__free(ctx, component);
  component = NULL;
  s->graph = sr__csr_view(view);
  if (s->components <= 1) goto cleanup;
  SR_TRY(sr__graph_largest(ctx, graph, &s->nodes, &count));
  SR_TRY(sr__graph_extract(ctx, graph, s->nodes, count, &s->extracted));
  s->graph = sr__csr_view(sr_graph_get(s->extracted));
cleanup:
  sr__free(ctx, component);
  return status;
}

static void selection_free(sr_context *ctx, selection *s) {
  sr__free(ctx, s->run_offset);
  sr__free(ctx, s->run_neighbor);
  sr__free(ctx, s->nodes);
  sr_graph_free(&s->extracted);
}

/* ---- the call ------------------------------------------------------------------------------- */

static sr_status check_size(sr_context *ctx, const selection *s, int32_t pairs) {
  if (s->graph.nodes < 2)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the graph has no edges, so it has no Fiedler pair: connect its %lld nodes",
                    (long long)s->components);
  if (pairs >= s->graph.nodes)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "%d pairs were asked for, but the largest component has %lld nodes and so %lld",
                    pairs, (long long)s->graph.nodes, (long long)(s->graph.nodes - 1));
  return SR_OK;
}

/* Spreads the vectors of the selection over all nodes, in place from the back. */
static void put_in_place(const selection *s, int64_t nodes, int32_t pairs, double *vector) {
  int64_t count = s->graph.nodes;
  if (count == nodes) return;
  for (int32_t p = pairs - 1; p >= 0; p--) {
    double *to = vector + p * nodes, *from = vector + p * count;
    /* A node's place is never below the place its value comes from. */
    for (int64_t k = count - 1, next = nodes; k >= 0; k--) {
      int64_t node = s->nodes ? s->nodes[k] : s->first + k;
      double x = from[k];
      for (int64_t i = node + 1; i < next; i++) to[i] = 0;
      to[node] = x;
      next = node;
      if (k == 0) {
        for (int64_t i = 0; i < node; i++) to[i] = 0;
      }
    }
  }
}

sr_status sr_spectrum_compute(sr_context *ctx, const sr_graph *graph,
                              const sr_spectrum_options *options, uint64_t seed,
                              sr_spectrum **spectrum) {
  sr_status status = SR_OK;
  sr_spectrum_options defaults;
  const sr_graph_view *view = sr_graph_get(graph);
  selection s = {0};
  sr_spectrum *made = NULL;
  sr_allocator allocator = sr__allocator(ctx);
  sr__configuration chosen = {0};
  sr__answer answer = {0};
  *spectrum = NULL;
  sr_spectrum_options_init(&defaults);
  if (!options) options = &defaults;
  SR_TRY(sr__options_check(ctx, "spectrum", spectrum_options, options));
  SR_TRY(sr__configure(ctx, "solver", sr_solver_method, options->solver ? options->solver : "auto",
                       &chosen));
  const sr__solver *solver = (const sr__solver *)chosen.method; /* `about` is its first field */
  SR_TRY(view->window > 0 && !view->weight ? select_run(ctx, view, &s)
                                           : select_component(ctx, graph, &s));
  const int32_t pairs = (int32_t)options->pairs;
  SR_TRY(check_size(ctx, &s, pairs));
  SR_TRY(sr__spectrum_new(ctx, view->nodes, pairs, &made));
  sr__problem problem = {.graph = s.graph,
                         .window = s.window,
                         .pairs = pairs,
                         .options = options,
                         .seed = seed,
                         .own = chosen.options};
  answer = (sr__answer){.value = made->value, .room = view->nodes * pairs};
  if (!solver->makes_room) SR_TRY(sr__answer_room(ctx, &answer));
  SR_TRY(solver->solve(ctx, &problem, &answer));
  made->view.vector = made->vector = answer.vector;
  answer.vector = NULL;
  for (int32_t p = 0; p < pairs; p++)
    SR_TRY(measure(ctx, &s.graph, made->vector + p * s.graph.nodes, answer.value_is_exact,
                   &made->value[p], p == 0 ? &made->view.residual : NULL));
  put_in_place(&s, view->nodes, pairs, made->vector);
  made->view.iterations = answer.iterations;
  made->view.solver = answer.solver ? answer.solver : solver->about.name;
  made->view.components = s.components;
  if (!answer.converged)
    status = sr__fail(ctx, SR_ERROR_NOT_CONVERGED,
                      "solver %s stopped after %lld iterations with a residual of %.3g: allow more "
                      "iterations or a larger tolerance than %g",
                      made->view.solver, (long long)answer.iterations, made->view.residual,
                      options->tolerance);
  *spectrum = made;
  made = NULL;
cleanup:
  sr__free(ctx, answer.vector);
  sr_spectrum_free(&made);
  selection_free(ctx, &s);
  sr__configuration_free(&allocator, &chosen);
  return status;
}
