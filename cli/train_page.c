#include "train_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose_page.h"

enum { CELL = 96, MOST_ROWS = 32, MOST_FEATURES = 10 };

/* ---- the error ---------------------------------------------------------------------------- */

static sr_status add_error_table(sr_context *ctx, sr_page *page, const sr_evaluation *e) {
  static const char *const header[] = {"error", "value", "interval", "held out"};
  char naive[CELL], honest[CELL], interval[CELL], held[CELL], baseline[CELL];
  snprintf(naive, CELL, "%.4f", e->naive);
  snprintf(honest, CELL, "%.4f", e->honest);
  snprintf(interval, CELL, "%.4f to %.4f (%.0f %%)", e->honest_low, e->honest_high,
           100.0 * e->level);
  snprintf(held, CELL, "%d whole %ss, %lld rows kept free around them", e->units,
           sr_unit_name(e->held_out), (long long)e->buffer);
  snprintf(baseline, CELL, "%.4f", e->baseline);
  sr_page_cell cells[] = {{"naive", 0},       {naive, 0},    {"", 0},
                          {"single rows", 0}, {"honest", 0}, {honest, 0},
                          {interval, 0},      {held, 0},     {"most frequent class", 0},
                          {baseline, 0},      {"", 0},       {"", 0}};
  sr_page_table table = {.caption = "What the ensemble gets wrong",
                         .columns = 4,
                         .header = header,
                         .alignment = "lrll",
                         .rows = 3,
                         .cells = cells};
  return sr_page_add_table(ctx, page, &table);
}

static sr_status add_error_plot(sr_context *ctx, sr_page *page, const sr_evaluation *e) {
  static const char *const names[] = {"naive", "honest", "most frequent class"};
  double x[] = {0, 1, 2}, y[] = {e->naive, e->honest, e->baseline};
  double low[] = {e->naive, e->honest_low, e->baseline};
  double high[] = {e->naive, e->honest_high, e->baseline};
  sr_plot_series series = {
      .kind = SR_PLOT_BARS, .count = 3, .x = x, .y = y, .low = low, .high = high};
  sr_plot plot = {.title = "Error, by what was held out",
                  .y_label = "error",
                  .series_count = 1,
                  .series = &series,
                  .x_names = names,
                  .x_name_count = 3};
  return sr_page_add_plot(ctx, page, &plot);
}

static sr_status add_classes(sr_context *ctx, sr_page *page, const sr_ensemble_view *v) {
  static const char *const header[] = {"class", "rows", "error", "precision"};
  const sr_evaluation *e = v->evaluation;
  char text[MOST_ROWS][3][CELL];
  sr_page_cell cells[MOST_ROWS * 4] = {0};
  int32_t rows = e->classes < MOST_ROWS ? e->classes : MOST_ROWS;
  for (int32_t c = 0; c < rows; c++) {
    snprintf(text[c][0], CELL, "%lld", (long long)e->by_class[c].rows);
    snprintf(text[c][1], CELL, "%.4f", e->by_class[c].error);
    snprintf(text[c][2], CELL, "%.4f", e->by_class[c].precision);
    cells[4 * c].text = v->classes.names[c];
    for (int k = 0; k < 3; k++) cells[4 * c + 1 + k].text = text[c][k];
  }
  sr_page_table table = {.caption = "By class, on held-out rows",
                         .columns = 4,
                         .header = header,
                         .rows = rows,
                         .cells = cells};
  return sr_page_add_table(ctx, page, &table);
}

/* ---- the plan ----------------------------------------------------------------------------- */

static sr_status add_candidates(sr_context *ctx, sr_page *page, const sr_choice *choice) {
  static const char *const header[] = {"plan", "error on held-out blocks", "against the default",
                                       "standard error"};
  char text[MOST_ROWS][3][CELL];
  sr_page_cell cells[MOST_ROWS * 4] = {0};
  int32_t rows = 0;
  for (int32_t i = 0; i < choice->candidate_count && rows < MOST_ROWS; i++) {
    const sr_candidate *c = choice->candidates + i;
    if (isnan(c->error)) continue;
    snprintf(text[rows][0], CELL, "%.4f", c->error);
    snprintf(text[rows][1], CELL, "%+.4f", c->difference);
    snprintf(text[rows][2], CELL, "%.4f", c->difference_se);
    cells[4 * rows] =
        (sr_page_cell){c->plan, i == choice->chosen ? SR_AGREEMENT_GOOD : SR_AGREEMENT_NONE};
    for (int k = 0; k < 3; k++) cells[4 * rows + 1 + k].text = text[rows][k];
    rows++;
  }
  sr_page_table table = {.caption = "Plans that were tried; the mark is the one that was taken",
                         .columns = 4,
                         .header = header,
                         .rows = rows,
                         .cells = cells};
  return sr_page_add_table(ctx, page, &table);
}

static sr_status add_plan(sr_context *ctx, sr_page *page, const sr_ensemble_view *v) {
  sr_status status = SR_OK;
  char text[512];
  snprintf(text, sizeof text, "%d members (%s) by the plan '%s': %s.", v->members, v->learner,
           v->mix[0].plan, v->reason);
  TRY(sr_page_heading(ctx, page, 2, "The plan"));
  TRY(sr_page_paragraph(ctx, page, text));
  if (v->evaluation) {
    snprintf(text, sizeof text,
             "The members' margins have a mean pairwise covariance of %.4f on held-out rows; their "
             "vote is worth %.1f independent members.",
             v->evaluation->covariance, v->evaluation->effective_members);
    TRY(sr_page_paragraph(ctx, page, text));
  }
  if (v->choice) TRY(add_candidates(ctx, page, v->choice));
cleanup:
  return status;
}

/* ---- features ----------------------------------------------------------------------------- */

typedef struct ranked {
  double gain;
  int64_t feature;
} ranked;

static int by_gain(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->gain != y->gain) return x->gain < y->gain ? 1 : -1;
  return (x->feature > y->feature) - (x->feature < y->feature);
}

static sr_status add_features(sr_context *ctx, sr_page *page, const sr_ensemble_view *v) {
  const sr_evaluation *e = v->evaluation;
  ranked *order = malloc((size_t)e->features * sizeof *order);
  if (!order) return SR_ERROR_MEMORY;
  for (int64_t j = 0; j < e->features; j++) order[j] = (ranked){e->importance[j], j};
  qsort(order, (size_t)e->features, sizeof *order, by_gain);
  int32_t count = e->features < MOST_FEATURES ? (int32_t)e->features : MOST_FEATURES;
  const char *names[MOST_FEATURES];
  char numbers[MOST_FEATURES][CELL];
  double x[MOST_FEATURES], y[MOST_FEATURES];
  for (int32_t i = 0; i < count; i++) {
    snprintf(numbers[i], CELL, "%lld", (long long)order[i].feature + 1);
    names[i] = v->feature_names ? v->feature_names[order[i].feature] : numbers[i];
    x[i] = i;
    y[i] = order[i].gain;
  }
  free(order);
  sr_plot_series series = {.kind = SR_PLOT_BARS, .count = count, .x = x, .y = y};
  sr_plot plot = {.title = "Error gained by shuffling a feature inside parts",
                  .y_label = "error",
                  .series_count = 1,
                  .series = &series,
                  .x_names = names,
                  .x_name_count = count};
  return sr_page_add_plot(ctx, page, &plot);
}

/* ---- the page ----------------------------------------------------------------------------- */

static sr_status add_error(sr_context *ctx, sr_page *page, const sr_ensemble_view *v) {
  sr_status status = SR_OK;
  const sr_evaluation *e = v->evaluation;
  char text[512];
  snprintf(
      text, sizeof text,
      "Judged by members that never drew the row, the error looks like %.4f. Judged by members "
      "that saw nothing of the whole %s around it, it is %.4f. The second number is what new "
      "%ss will meet.",
      e->naive, sr_unit_name(e->held_out), e->honest, sr_unit_name(e->held_out));
  TRY(sr_page_heading(ctx, page, 2, "The error"));
  TRY(sr_page_paragraph(ctx, page, text));
  TRY(add_error_table(ctx, page, e));
  TRY(add_error_plot(ctx, page, e));
  TRY(add_classes(ctx, page, v));
cleanup:
  return status;
}

static sr_status add_dependence(cli_run *run, sr_page *page, const sr_table *table,
                                const sr_structure *structure) {
  sr_status status = SR_OK;
  TRY(sr_page_heading(run->ctx, page, 2, "How dependent the rows are"));
  TRY(diagnose_add_sections(run, page, table, sr_structure_get(structure)));
cleanup:
  return status;
}

static sr_status add_origin(cli_run *run, sr_page *page, const sr_ensemble_view *v) {
  sr_status status = SR_OK;
  sr_build build = sr_build_info();
  char text[512];
  snprintf(text, sizeof text, "%s: %lld rows, %lld features, seed %llu. specroute %s, commit %s.",
           run->arguments[0], (long long)v->rows, (long long)v->features,
           (unsigned long long)v->seed, build.version, build.commit);
  TRY(sr_page_heading(run->ctx, page, 2, "How this was made"));
  TRY(sr_page_paragraph(run->ctx, page, text));
cleanup:
  return status;
}

sr_status train_write_page(cli_run *run, const sr_table *table, const sr_ensemble *ensemble,
                           const char *path) {
  sr_status status = SR_OK;
  sr_page *page = NULL;
  const sr_ensemble_view *v = sr_ensemble_get(ensemble);
  char title[256];
  sr_page_options options;
  sr_page_options_init(&options);
  snprintf(title, sizeof title, "An ensemble for %s", run->arguments[0]);
  options.title = title;
  options.format = sr_page_format_of(path);
  TRY(sr_page_new(run->ctx, &options, &page));
  if (v->evaluation) TRY(add_error(run->ctx, page, v));
  TRY(add_plan(run->ctx, page, v));
  if (v->evaluation && v->evaluation->importance && v->evaluation->features > 0)
    TRY(add_features(run->ctx, page, v));
  TRY(add_dependence(run, page, table, v->structure));
  TRY(add_origin(run, page, v));
  TRY(sr_page_write(run->ctx, page, path));
cleanup:
  sr_page_free(&page);
  return status;
}
