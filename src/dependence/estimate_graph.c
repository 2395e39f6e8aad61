/* The diagnosis of rows on a graph without an order: T counts nodes. */
#include <math.h>

#include "core/maths.h"
#include "dependence.h"

typedef struct graph_work {
  int64_t *order;
  sr__columns features, labels;
  sr__correlogram by_feature, by_label;
} graph_work;

static sr_status measure(sr_context *ctx, const sr_table_view *view, const sr_graph_view *graph,
                         uint64_t seed, double z, graph_work *w) {
  sr_status status = SR_OK;
  SR_NEW(ctx, w->order, view->rows);
  for (int64_t i = 0; i < view->rows; i++) w->order[i] = i;
  SR_TRY(sr__columns_standardize(ctx, view, w->order, &w->features));
  SR_TRY(sr__columns_labels(ctx, view, w->order, &w->labels));
  SR_TRY(sr__columns_residuals(ctx, &w->features, &w->labels));
  SR_TRY(sr__correlogram_measure(ctx, graph, &w->features, z, seed, &w->by_feature));
  SR_TRY(sr__correlogram_measure(ctx, graph, &w->labels, z, seed, &w->by_label));
cleanup:
  return status;
}

/* The first step says all where the correlation falls exponentially, and it is known best; where
 * the curve crosses 1/e elsewhere than the first step foretells, the measured curve is summed. */
static bool falls_exponentially(const sr__correlogram *c) {
  if (!(c->range.estimate > 1.0)) return true;
  double width = sr__log_portable(c->range.high / fmax(c->range.low, 1.0));
  return fabs(sr__log_portable(c->crossing / c->range.estimate)) <
         sr__log_portable(1.6) + 0.6 * width;
}

static void choose(sr_dependence *d, const sr__correlogram *c, const char *what) {
  if (falls_exponentially(c)) {
    d->view.tmix = c->nodes;
    d->view.range = c->range.estimate;
    snprintf(d->reason, sizeof d->reason,
             "the correlation of the %s falls by the same factor at each step, so the first step, "
             "which is known best, gives the range",
             what);
  } else {
    d->view.tmix = c->sum;
    d->view.range = c->crossing;
    snprintf(d->reason, sizeof d->reason,
             "the correlation of the %s does not fall by the same factor at each step, so the "
             "measured curve is summed over the nodes",
             what);
  }
}

static sr_status keep_curve(sr_context *ctx, const sr__correlogram *c, sr_dependence *d) {
  sr_status status = SR_OK;
  SR_NEW(ctx, d->lag, c->count);
  SR_NEW(ctx, d->correlation, c->count);
  for (int32_t h = 0; h < c->count; h++) {
    d->lag[h] = h;
    d->correlation[h] = c->correlation[h];
  }
  d->view.lag_count = c->count;
  d->view.lag = d->lag;
  d->view.correlation = d->correlation;
cleanup:
  return status;
}

static void tell(sr_dependence *d, const sr__correlogram *c) {
  sr_dependence_view *v = &d->view;
  v->iact = v->iact_pooled = v->tmix.estimate;
  v->ess = isfinite(v->iact) ? (double)v->rows / fmax(v->iact, 1.0) : NAN;
  v->lambda2 = 1.0 - c->lambda;
  if (isfinite(c->nodes.estimate)) sr__dependence_add(d, c->nodes);
  if (isfinite(c->sum.estimate)) sr__dependence_add(d, c->sum);
  if (isfinite(c->range.estimate)) sr__dependence_add(d, c->range);
}

/* A correlation of so few pairs is noise, and most rows have no neighbor at all. */
static bool has_few_edges(const sr_graph_view *graph) {
  enum { FEWEST_EDGES = 30, FEWEST_SHARE = 4 };
  int64_t edges = graph->arcs / 2;
  return edges < FEWEST_EDGES && edges * FEWEST_SHARE < graph->nodes;
}

sr_status sr__estimate_graph(sr_context *ctx, const sr_table_view *table, const sr_graph *graph,
                             uint64_t seed, double z, sr_dependence *d) {
  sr_status status = SR_OK;
  graph_work w = {0};
  SR_TRY(measure(ctx, table, sr_graph_get(graph), seed, z, &w));
  sr__warn_columns(d, table, &w.features);
  bool by_labels = d->view.relation == SR_RELATION_FEATURES;
  const sr__correlogram *c = by_labels ? &w.by_label : &w.by_feature;
  if (by_labels && w.labels.count == 0)
    sr__dependence_warn(d,
                        "neighbors in feature space are alike by construction; without labels (a "
                        "target of at most 16 classes) their dependence cannot be measured");
  const sr_graph_view *joined = sr_graph_get(graph);
  if (joined->arcs == 0) {
    sr__dependence_warn(d, "the graph has no edges, so nothing can be said about dependence");
  } else if (has_few_edges(joined)) {
    sr__dependence_warn(d,
                        "the graph has %lld edge%s among %lld rows, too few to measure how alike "
                        "neighbors are",
                        (long long)joined->arcs / 2, joined->arcs == 2 ? "" : "s",
                        (long long)table->rows);
  } else if (isfinite(c->lambda)) {
    choose(d, c, by_labels ? "label residuals" : "features");
    tell(d, c);
    SR_TRY(keep_curve(ctx, c, d));
  }
  if (!by_labels && isfinite(w.by_label.nodes.estimate)) {
    sr_scale labels = w.by_label.nodes;
    labels.method = "labels";
    sr__dependence_add(d, labels);
  }
cleanup:
  sr__free(ctx, w.order);
  sr__columns_free(ctx, &w.features);
  sr__columns_free(ctx, &w.labels);
  sr__correlogram_free(ctx, &w.by_feature);
  sr__correlogram_free(ctx, &w.by_label);
  return status;
}
