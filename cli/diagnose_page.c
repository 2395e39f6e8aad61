#include "diagnose_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 64, MOST_ESTIMATES = 16 };

static bool in_time(const sr_dependence_view *v) { return v->relation == SR_RELATION_ORDER; }

/* ---- words and tables --------------------------------------------------------------------- */

static sr_status add_summary(sr_context *ctx, sr_page *page, const sr_structure_view *s) {
  sr_status status = SR_OK;
  const sr_dependence_view *v = sr_dependence_get(s->dependence);
  int32_t parts = sr_parts_get(s->parts)->parts;
  char text[768];
  const char *unit = in_time(v) ? "rows" : "nodes";
  if (isnan(v->tmix.estimate))
    snprintf(text, sizeof text, "T cannot be told from these rows.");
  else
    snprintf(
        text, sizeof text,
        "T is about %.3g %s (%.3g to %.3g), estimated by %s: %s. The %lld rows are worth about "
        "%.0f independent ones. Use parts or blocks of about %.0f rows (%d parts); recommended "
        "plan: %s.",
        v->tmix.estimate, unit, v->tmix.low, v->tmix.high, v->tmix.method, v->reason,
        (long long)v->rows, v->ess, (double)v->rows / parts, parts, s->recommend);
  TRY(sr_page_paragraph(ctx, page, text));
  for (int32_t i = 0; i < v->warning_count; i++)
    TRY(sr_page_note(ctx, page, SR_AGREEMENT_PARTLY, v->warnings[i]));
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
  double *fit = malloc(((size_t)v->lag_count + 1) * sizeof *fit);
  if (!fit) return SR_ERROR_MEMORY;
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
  sr_status status = v->lag_count > 1 ? sr_page_add_plot(ctx, page, &plot) : SR_OK;
  free(fit);
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
  if (!v->slow) return SR_OK;
  double *x = malloc(2 * (size_t)v->rows * sizeof *x), *y = x ? x + v->rows : NULL;
  if (!x) return SR_ERROR_MEMORY;
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
  sr_status status = sr_page_add_plot(ctx, page, &plot);
  free(x);
  return status;
}

sr_status diagnose_add_sections(cli_run *run, sr_page *page, const sr_table *table,
                                const sr_structure_view *structure) {
  sr_status status = SR_OK;
  sr_context *ctx = run->ctx;
  const sr_dependence_view *view = sr_dependence_get(structure->dependence);
  TRY(add_summary(ctx, page, structure));
  TRY(add_estimates(ctx, page, view));
  if (isnan(view->tmix.estimate)) return SR_OK;
  TRY(add_correlation(ctx, page, view));
  TRY(add_implied(ctx, page, view));
  TRY(add_slow(ctx, page, view));
  TRY(add_spectrum(ctx, page, view));
  if (!in_time(view)) TRY(diagnose_add_map(run, page, table, structure->dependency_graph));
cleanup:
  return status;
}

sr_status diagnose_write_page(cli_run *run, const sr_table *table, const sr_structure_view *view,
                              const char *path) {
  sr_status status = SR_OK;
  sr_page *page = NULL;
  char title[256];
  sr_page_options options;
  sr_page_options_init(&options);
  snprintf(title, sizeof title, "How dependent are the rows of %s?", run->arguments[0]);
  options.title = title;
  options.format = sr_page_format_of(path);
  TRY(sr_page_new(run->ctx, &options, &page));
  TRY(diagnose_add_sections(run, page, table, view));
  TRY(sr_page_write(run->ctx, page, path));
cleanup:
  sr_page_free(&page);
  return status;
}
