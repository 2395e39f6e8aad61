/* How dependent the rows are. */
#include <math.h>

#include "describe.h"

enum { CELL = 64, MOST_ESTIMATES = 16 };

static bool in_time(const sr_dependence_view *v) { return v->relation == SR_RELATION_ORDER; }
static const char *unit_of(const sr_dependence_view *v) { return in_time(v) ? "rows" : "nodes"; }

/* ---- text --------------------------------------------------------------------------------- */

void sr__dependence_head(sr__description *lines, const sr_dependence_view *v) {
  sr__description_add(lines, "%lld rows", (long long)v->rows);
  if (v->groups > 1) sr__description_add(lines, " in %lld groups", (long long)v->groups);
  sr__description_add(lines, ", %lld feature%s", (long long)v->features,
                      v->features == 1 ? "" : "s");
  if (v->missing_share > 0.0)
    sr__description_add(lines, " (%.2g %% missing)", 100.0 * v->missing_share);
  if (v->classes > 0) sr__description_add(lines, ", %d classes", v->classes);
  sr__description_add(lines, "; dependence by %s.\n\n", v->graph);
  if (isnan(v->tmix.estimate)) {
    sr__description_add(lines, "  T                cannot be told (see below)\n");
    return;
  }
  sr__description_add(lines, "  T                %.9g %s (%.9g to %.9g), by %s\n",
                      sr__three_digits(v->tmix.estimate), unit_of(v), sr__three_digits(v->tmix.low),
                      sr__three_digits(v->tmix.high), v->tmix.method);
  sr__description_add(lines, "                   %s\n", v->reason);
  if (!isnan(v->range))
    sr__description_add(lines, "  range            %.3g steps on the graph\n", v->range);
  if (!isnan(v->ess))
    sr__description_add(lines, "  worth            %.0f independent rows of %lld\n", v->ess,
                        (long long)v->rows);
}

void sr__dependence_tail(sr__description *lines, const sr_dependence_view *v) {
  if (v->scale_count > 0) sr__description_add(lines, "\n  every estimate of T\n");
  for (int32_t i = 0; i < v->scale_count; i++) {
    const sr_scale *s = v->scales + i;
    sr__description_add(lines, "    %-18s %10.9g   (%.9g to %.9g)\n", s->method,
                        sr__three_digits(s->estimate), sr__three_digits(s->low),
                        sr__three_digits(s->high));
  }
  if (v->implied_count > 1) sr__description_add(lines, "    implied at lag    ");
  for (int32_t i = 0; v->implied_count > 1 && i < v->implied_count; i++)
    sr__description_add(lines, " %.0f: %.3g%s", v->implied_lag[i], v->implied_timescale[i],
                        i + 1 < v->implied_count ? "," : "\n");
  if (v->warning_count > 0) sr__description_add(lines, "\n  to know\n");
  for (int32_t i = 0; i < v->warning_count; i++)
    sr__description_add(lines, "    - %s\n", v->warnings[i]);
}

static void add_lines(sr__description *lines, const void *object) {
  const sr_dependence_view *view = sr_dependence_get(object);
  sr__dependence_head(lines, view);
  sr__dependence_tail(lines, view);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *scale_json(const sr_scale *scale) {
  return sr__json_scale(scale->estimate, scale->low, scale->high, scale->method);
}

void sr__dependence_keys(const sr_dependence_view *v, json_t *object) {
  json_object_set_new(object, "n", json_integer(v->rows));
  json_object_set_new(object, "d", json_integer(v->features));
  json_object_set_new(object, "classes", json_integer(v->classes));
  json_object_set_new(object, "groups", json_integer(v->groups));
  json_object_set_new(object, "graph", sr__json_text(v->graph));
  json_t *tmix = scale_json(&v->tmix);
  json_object_set_new(tmix, "careful", sr__json_real(v->tmix_careful));
  json_object_set_new(object, "tmix", tmix);
  json_object_set_new(object, "reason", sr__json_text(v->reason));
  json_object_set_new(object, "iact", sr__json_real(v->iact));
  json_object_set_new(object, "iact_pooled", sr__json_real(v->iact_pooled));
  json_object_set_new(object, "ess", sr__json_real(v->ess));
  json_object_set_new(object, "politis_white", sr__json_real(v->politis_white_stationary));
  json_object_set_new(object, "politis_white_circular", sr__json_real(v->politis_white_circular));
  json_object_set_new(object, "politis_white_saturated", json_boolean(v->politis_white_saturated));
  json_object_set_new(object, "lambda2", sr__json_real(v->lambda2));
  json_object_set_new(object, "range", sr__json_real(v->range));
  json_object_set_new(object, "period", sr__json_real(v->period));
  json_object_set_new(object, "drift", sr__json_real(v->drift));
  json_object_set_new(object, "drift_score", sr__json_real(v->drift_score));
  json_object_set_new(object, "group_share", sr__json_real(v->group_share));
  json_object_set_new(object, "missing_share", sr__json_real(v->missing_share));
  json_object_set_new(object, "sample_condition", sr__json_real(v->sample_condition));
}

void sr__dependence_lists(const sr_dependence_view *v, json_t *object) {
  json_t *estimates = json_array(), *implied = json_array();
  for (int32_t i = 0; i < v->scale_count; i++)
    json_array_append_new(estimates, scale_json(v->scales + i));
  for (int32_t i = 0; i < v->implied_count; i++)
    json_array_append_new(implied, json_pack("{s:o,s:o}", "lag", sr__json_real(v->implied_lag[i]),
                                             "timescale", sr__json_real(v->implied_timescale[i])));
  json_object_set_new(object, "warnings", sr__json_strings(v->warning_count, v->warnings));
  json_object_set_new(object, "estimates", estimates);
  json_object_set_new(object, "implied", implied);
}

static json_t *to_json(const void *object) {
  json_t *value = json_object();
  sr__dependence_keys(sr_dependence_get(object), value);
  sr__dependence_lists(sr_dependence_get(object), value);
  return value;
}

/* ---- words and tables of the page --------------------------------------------------------- */

static sr_status add_summary(sr_context *ctx, sr_page *page, const sr_dependence_view *v) {
  sr_status status = SR_OK;
  char text[768], worth[128] = "";
  if (!isnan(v->ess))
    snprintf(worth, sizeof worth, " The %lld rows are worth about %.0f independent ones.",
             (long long)v->rows, v->ess);
  if (isnan(v->tmix.estimate))
    snprintf(text, sizeof text, "T cannot be told from these rows.");
  else
    snprintf(text, sizeof text, "T is about %.9g %s (%.9g to %.9g), estimated by %s: %s.%s",
             sr__three_digits(v->tmix.estimate), unit_of(v), sr__three_digits(v->tmix.low),
             sr__three_digits(v->tmix.high), v->tmix.method, v->reason, worth);
  SR_TRY(sr_page_paragraph(ctx, page, text));
  for (int32_t i = 0; i < v->warning_count; i++)
    SR_TRY(sr_page_note(ctx, page, SR_AGREEMENT_PARTLY, v->warnings[i]));
cleanup:
  return status;
}

static sr_status add_estimates(sr_context *ctx, sr_page *page, const sr_dependence_view *v) {
  static const char *const header[] = {"estimator", "T", "low", "high"};
  char text[MOST_ESTIMATES][4][CELL];
  sr_page_cell cells[MOST_ESTIMATES * 4] = {0};
  int32_t count = v->scale_count < MOST_ESTIMATES ? v->scale_count : MOST_ESTIMATES;
  if (count == 0) return SR_OK;
  for (int32_t i = 0; i < count; i++) {
    const sr_scale *s = v->scales + i;
    snprintf(text[i][0], CELL, "%s", s->method);
    snprintf(text[i][1], CELL, "%.4g", s->estimate);
    snprintf(text[i][2], CELL, "%.4g", s->low);
    snprintf(text[i][3], CELL, "%.4g", s->high);
    for (int c = 0; c < 4; c++) cells[4 * i + c].text = text[i][c];
  }
  sr_page_table table = {.caption = "Every estimate, with its interval",
                         .columns = 4,
                         .header = header,
                         .rows = count,
                         .cells = cells};
  return sr_page_add_table(ctx, page, &table);
}

/* ---- pictures ----------------------------------------------------------------------------- */

/* The decay that a first-order chain with the trusted T has; on graphs, with the range. */
static double fitted(const sr_dependence_view *v, double lag) {
  if (in_time(v)) return pow(1.0 - 1.0 / v->tmix.estimate, lag);
  return v->range > 0.0 ? exp(-lag / v->range) : lag == 0.0;
}

static sr_status add_correlation(sr_context *ctx, sr_page *page, const sr_dependence_view *v) {
  sr_status status = SR_OK;
  double *fit = NULL;
  if (v->lag_count < 2) return SR_OK;
  SR_NEW(ctx, fit, v->lag_count);
  for (int32_t i = 0; i < v->lag_count; i++) fit[i] = fitted(v, v->lag[i]);
  sr_plot_series series[3] = {{.label = in_time(v) ? "mean of the features" : "measured",
                               .kind = SR_PLOT_LINE_POINTS,
                               .count = v->lag_count,
                               .x = v->lag,
                               .y = v->correlation},
                              {.label = "fitted decay",
                               .kind = SR_PLOT_DASHED,
                               .count = v->lag_count,
                               .x = v->lag,
                               .y = fit},
                              {.label = "slowest direction",
                               .kind = SR_PLOT_LINE_POINTS,
                               .count = v->lag_count,
                               .x = v->lag,
                               .y = v->slow_correlation}};
  sr_plot plot = {.title = in_time(v) ? "Autocorrelation" : "Correlogram",
                  .x_label = in_time(v) ? "rows apart" : "steps apart on the graph",
                  .y_label = "correlation",
                  .series_count = v->slow_correlation ? 3 : 2,
                  .series = series};
  SR_TRY(sr_page_add_plot(ctx, page, &plot));
cleanup:
  sr__free(ctx, fit);
  return status;
}

static sr_status add_implied(sr_context *ctx, sr_page *page, const sr_dependence_view *v) {
  if (v->implied_count < 2) return SR_OK;
  sr_plot_series series = {.kind = SR_PLOT_LINE_POINTS,
                           .count = v->implied_count,
                           .x = v->implied_lag,
                           .y = v->implied_timescale};
  sr_plot plot = {.title = "Implied timescale: flat where the memory is one step deep",
                  .x_label = "lag in rows",
                  .y_label = "T",
                  .log_x = 1,
                  .series_count = 1,
                  .series = &series};
  return sr_page_add_plot(ctx, page, &plot);
}

static sr_status add_spectrum(sr_context *ctx, sr_page *page, const sr_dependence_view *v) {
  double index[16];
  if (v->eigenvalue_count < 2) return SR_OK;
  for (int32_t i = 0; i < v->eigenvalue_count; i++) index[i] = i + 2;
  sr_plot_series series = {.kind = SR_PLOT_BARS,
                           .count = v->eigenvalue_count,
                           .x = index,
                           .y = v->eigenvalue};
  sr_plot plot = {.title = "Eigenvalues of the transition graph (1 - lambda_k of its Laplacian)",
                  .x_label = "number",
                  .y_label = "eigenvalue",
                  .series_count = 1,
                  .series = &series};
  return sr_page_add_plot(ctx, page, &plot);
}

static sr_status add_slow(sr_context *ctx, sr_page *page, const sr_dependence_view *v) {
  sr_status status = SR_OK;
  double *x = NULL;
  if (!v->slow) return SR_OK;
  SR_NEW(ctx, x, 2 * v->rows);
  double *y = x + v->rows;
  for (int64_t i = 0; i < v->rows; i++) {
    x[i] = (double)i + 1.0;
    y[i] = (double)v->slow[i];
  }
  sr_plot_series series = {.kind = SR_PLOT_LINE, .count = v->rows, .x = x, .y = y};
  sr_plot plot = {.title = "Second eigenvector of the transition graph over time",
                  .x_label = "row",
                  .y_label = "value",
                  .series_count = 1,
                  .series = &series};
  SR_TRY(sr_page_add_plot(ctx, page, &plot));
cleanup:
  sr__free(ctx, x);
  return status;
}

sr_status sr_page_add_dependence(sr_context *ctx, sr_page *page, const sr_dependence *dependence) {
  sr_status status = SR_OK;
  const sr_dependence_view *view = sr_dependence_get(dependence);
  SR_TRY(add_summary(ctx, page, view));
  SR_TRY(add_estimates(ctx, page, view));
  if (isnan(view->tmix.estimate)) goto cleanup;
  SR_TRY(add_correlation(ctx, page, view));
  SR_TRY(add_implied(ctx, page, view));
  SR_TRY(add_slow(ctx, page, view));
  SR_TRY(add_spectrum(ctx, page, view));
cleanup:
  return status;
}

static sr_status add_to_page(sr_context *ctx, sr_page *page, const void *object) {
  return sr_page_add_dependence(ctx, page, object);
}

sr_status sr_describe_dependence(sr_context *ctx, const sr_dependence *dependence,
                                 sr_description format, char **text) {
  static const sr__describer describer = {"How dependent are the rows?", add_lines, to_json,
                                          add_to_page};
  return sr__describe(ctx, &describer, dependence, format, text);
}
