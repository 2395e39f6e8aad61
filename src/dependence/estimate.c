/* The diagnosis: run every estimator, trust one and say why, and turn the numbers into advice. */
#include <math.h>

#include "core/options.h"
#include "core/random.h"
#include "core/text.h"
#include "data/series_columns.h"
#include "dependence.h"
#include "graph/graph.h"

enum { LEAST_ROWS = 10 };

static const sr_option dependence_options[] = {SR_REAL(sr_dependence_options, level, "0.9", 0.01,
                                                       0.999, "probability of the intervals"),
                                               SR_OPTIONS_END};

const sr_option *sr_dependence_option_list(void) { return dependence_options; }

void sr_dependence_options_init(sr_dependence_options *options) {
  sr_options_init(dependence_options, options);
}

void sr__dependence_warn(sr_dependence *d, const char *format, ...) {
  if (d->view.warning_count == SR__MAX_WARNINGS) return;
  int32_t index = d->view.warning_count++;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(d->text[index], sizeof d->text[index], format, arguments);
  va_end(arguments);
  d->warnings[index] = d->text[index];
}

void sr__dependence_add(sr_dependence *d, sr_scale scale) {
  if (d->view.scale_count < SR__MAX_SCALES) d->scales[d->view.scale_count++] = scale;
}

void sr__warn_columns(sr_dependence *d, const sr_table_view *table, const sr__columns *columns) {
  d->view.used_features = columns->count;
  d->view.missing_share = columns->missing_share;
  if (columns->constant > 0)
    sr__dependence_warn(d, "%lld of %lld features never vary and were left out",
                        (long long)columns->constant, (long long)table->features);
  if (columns->empty > 0)
    sr__dependence_warn(d, "%lld of %lld features have no value at all and were left out",
                        (long long)columns->empty, (long long)table->features);
  if (columns->many_categories > 0)
    sr__dependence_warn(d, "%lld features with more than 16 categories were left out",
                        (long long)columns->many_categories);
  if (columns->missing_share > 0.05)
    sr__dependence_warn(d,
                        "%.0f %% of the values are missing; long gaps make the rows look less "
                        "dependent than they are",
                        100.0 * columns->missing_share);
  if (columns->count == 0)
    sr__dependence_warn(d, "no feature varies, so nothing can be said about dependence");
}

static void warn_labels(sr_dependence *d, const sr_table_view *table) {
  if (!table->label) return;
  int32_t first = -1;
  for (int64_t i = 0; i < table->rows; i++) {
    if (table->label[i] < 0) continue;
    if (first >= 0 && table->label[i] != first) return;
    first = table->label[i];
  }
  if (first < 0)
    sr__dependence_warn(d, "no row has a label");
  else
    sr__dependence_warn(d, "all labeled rows are of one class (%s): there is nothing to learn",
                        table->classes.names[first]);
}

/* ---- advice ------------------------------------------------------------------------------- */

static void warn_scale(sr_dependence *d) {
  sr_dependence_view *v = &d->view;
  double n = (double)v->rows, t = v->tmix.estimate;
  const char *unit = v->relation == SR_RELATION_ORDER ? "rows" : "nodes";
  if (t > n / 20.0)
    sr__dependence_warn(d,
                        "T is about %.9g %s, more than a twentieth of all %lld: there are hardly "
                        "any independent stretches, so T itself and every error estimate are rough",
                        sr__three_digits(t), unit, (long long)v->rows);
  else if (v->sample_condition < 1.0)
    sr__dependence_warn(d,
                        "n = %lld is below T^3 log n = %.3g: the paper's guarantee for adaptive "
                        "routing does not reach this far",
                        (long long)v->rows, t * t * t * log(n));
}

/* Labels may well be faster or slower than the features; a range is no number of nodes. */
static bool about_features(const char *method) {
  return strcmp(method, "labels") != 0 && strcmp(method, "residuals") != 0 &&
         strcmp(method, "range") != 0 && strncmp(method, "reach", 5) != 0;
}

static void warn_disagreement(sr_dependence *d) {
  const sr_scale *least = NULL, *most = NULL;
  for (int32_t i = 0; i < d->view.scale_count; i++) {
    const sr_scale *s = d->scales + i;
    if (!isfinite(s->estimate) || !about_features(s->method)) continue;
    if (!least || s->estimate < least->estimate) least = s;
    if (!most || s->estimate > most->estimate) most = s;
  }
  if (least && most->estimate > 3.0 * least->estimate)
    sr__dependence_warn(d,
                        "the estimators disagree: %s says %.9g, %s says %.9g; features differ in "
                        "speed, or the memory has more than one scale",
                        least->method, sr__three_digits(least->estimate), most->method,
                        sr__three_digits(most->estimate));
}

static void conclude(sr_dependence *d) {
  sr_dependence_view *v = &d->view;
  v->scales = d->scales;
  if (!isfinite(v->tmix_careful)) v->tmix_careful = v->tmix.estimate;
  v->warnings = d->warnings;
  v->sample_condition = sr_theory_bounds(v->tmix.estimate, (double)v->rows, 0.0).sample_condition;
  if (isfinite(v->tmix.estimate) && v->relation != SR_RELATION_NONE) warn_scale(d);
  warn_disagreement(d);
}

/* ---- the object --------------------------------------------------------------------------- */

static void set_unknown(sr_dependence *d, const sr_table_view *table, const sr_graph *graph) {
  const sr_graph_view *view = graph ? sr_graph_get(graph) : NULL;
  d->view = (sr_dependence_view){.rows = table->rows,
                                 .features = table->features,
                                 .classes = table->label ? table->classes.count : 0,
                                 .tmix = {"none", NAN, NAN, NAN},
                                 .tmix_careful = NAN,
                                 .lambda2 = NAN,
                                 .iact = NAN,
                                 .ess = NAN,
                                 .politis_white_stationary = NAN,
                                 .politis_white_circular = NAN,
                                 .drift = NAN,
                                 .sample_condition = NAN,
                                 .graph = view ? view->builder : "time",
                                 .relation = view ? view->relation : SR_RELATION_ORDER,
                                 .reason = d->reason,
                                 .groups = 1,
                                 .group_share = NAN,
                                 .iact_pooled = NAN,
                                 .drift_score = NAN,
                                 .drift_feature = -1,
                                 .period = NAN,
                                 .range = NAN,
                                 .implied_lag = d->implied_lag,
                                 .implied_timescale = d->implied_timescale,
                                 .eigenvalue = d->eigenvalue};
  snprintf(d->reason, sizeof d->reason, "nothing could be estimated");
}

void sr__dependence_deny_order(sr_dependence *d, const char *reason) {
  sr_dependence_view *v = &d->view;
  v->tmix = (sr_scale){"none", NAN, NAN, NAN};
  v->tmix_careful = v->lambda2 = v->iact = v->iact_pooled = v->ess = NAN;
  v->politis_white_stationary = v->politis_white_circular = v->sample_condition = NAN;
  v->drift = v->drift_score = v->period = NAN;
  v->drift_feature = -1;
  v->politis_white_saturated = 0;
  v->scale_count = v->implied_count = v->eigenvalue_count = v->lag_count = 0;
  v->slow = NULL;
  if (v->warning_count > d->free_warnings) v->warning_count = d->free_warnings;
  snprintf(d->reason, sizeof d->reason, "%s", reason);
}

/* Quantile of Student's t with about as many degrees of freedom as there are blocks (Cornish and
 * Fisher's first term). */
static double interval_quantile(double level) {
  double z = sr__normal_quantile(0.5 + 0.5 * level);
  return z * (1.0 + (z * z + 1.0) / (4.0 * (SR__MAX_BLOCKS - 1)));
}

/* The user says that there is nothing to estimate. */
static void set_independent(sr_dependence *d) {
  d->view.tmix = (sr_scale){"independent", 1.0, 1.0, 1.0};
  d->view.tmix_careful = 1.0;
  d->view.iact = d->view.iact_pooled = 1.0;
  d->view.ess = (double)d->view.rows;
  snprintf(d->reason, sizeof d->reason, "the rows were said not to depend on each other");
}

sr_status sr_dependence_estimate(sr_context *ctx, const sr_table *table, const sr_graph *graph,
                                 const sr_dependence_options *options, uint64_t seed,
                                 sr_dependence **dependence) {
  sr_status status = SR_OK;
  sr_table *columns = NULL;
  sr_dependence *d = NULL;
  sr_dependence_options given;
  *dependence = NULL;
  SR_TRY(sr__series_summary(ctx, table, &columns));
  const sr_table_view *view = sr_table_get(columns ? columns : table);
  sr_dependence_options_init(&given);
  if (options) given = *options;
  SR_TRY(sr__options_check(ctx, "dependence", sr_dependence_option_list(), &given));
  if (graph && sr_graph_get(graph)->nodes != view->rows)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "the graph has %lld nodes, the table %lld rows",
                    (long long)sr_graph_get(graph)->nodes, (long long)view->rows));
  SR_NEW_ZERO(ctx, d, 1);
  d->allocator = sr__allocator(ctx);
  set_unknown(d, view, graph);
  warn_labels(d, view);
  double z = interval_quantile(given.level);
  if (d->view.relation == SR_RELATION_NONE)
    set_independent(d);
  else if (view->rows < LEAST_ROWS)
    sr__dependence_warn(d,
                        "%lld rows are too few to say anything about dependence; %d are the least",
                        (long long)view->rows, LEAST_ROWS);
  else if (d->view.relation == SR_RELATION_ORDER)
    SR_TRY(sr__estimate_time(ctx, view, z, d));
  else
    SR_TRY(sr__estimate_graph(ctx, view, graph, seed, z, d));
  conclude(d);
  *dependence = d;
  d = NULL;
cleanup:
  sr_dependence_free(&d);
  sr_table_free(&columns);
  return status;
}

void sr_dependence_free(sr_dependence **dependence) {
  if (!dependence || !*dependence) return;
  sr_dependence *d = *dependence;
  sr_allocator allocator = d->allocator;
  sr__release(&allocator, d->lag);
  sr__release(&allocator, d->correlation);
  sr__release(&allocator, d->slow_correlation);
  sr__release(&allocator, d->slow);
  sr__release(&allocator, d);
  *dependence = NULL;
}

const sr_dependence_view *sr_dependence_get(const sr_dependence *dependence) {
  return &dependence->view;
}
