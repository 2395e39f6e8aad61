/* An ensemble on a page: its error, its plan, its features. */
#include <math.h>

#include "describe.h"
#include "ensemble_words.h"
#include "plan/plan.h"

enum { CELL = 96, MOST_ROWS = 32, MOST_FEATURES = 10 };

/* ---- the error ------------------------------------------------------------------------------ */

enum { MOST_QUESTIONS = 16 };

static sr_status add_error_table(sr_context *ctx, sr_page *page, const sr_evaluation *e) {
  enum { MOST_COLUMNS = 5 };
  const char *header[MOST_COLUMNS] = {"question", "error", "interval"};
  char text[MOST_QUESTIONS + 1][4][2 * CELL], alignment[MOST_COLUMNS + 1] = "lrl";
  sr_page_cell cells[MOST_COLUMNS * (MOST_QUESTIONS + 1)] = {0};
  int32_t rows = e->question_count < MOST_QUESTIONS ? e->question_count : MOST_QUESTIONS;
  int32_t columns = 3, told = e->distance_unit != SR_DISTANCE_NONE ? columns++ : 0, read = 0;
  if (told) header[told] = "held out";
  for (int32_t k = 0; k < rows && !read; k++) /* where there is something to say */
    if (e->questions[k].reason) read = columns++;
  if (read) header[read] = "how to read it";
  for (int32_t c = 3; c < columns; c++) alignment[c] = 'l';
  for (int32_t k = 0; k < rows; k++) {
    const sr_question *q = &e->questions[k];
    sr__name_question(e, q, text[k][0], CELL);
    sr__print_number(q->estimate, text[k][1], CELL);
    sr__print_interval(q->low, q->high, text[k][2], CELL);
    sr__print_map_line(e, q, text[k][3], sizeof text[k][3]);
    for (int c = 0; c < 3; c++) cells[columns * k + c].text = text[k][c];
    if (told) cells[columns * k + told].text = text[k][3];
    if (read) cells[columns * k + read].text = q->reason ? q->reason : "";
  }
  snprintf(text[rows][1], CELL, "%.4f", e->baseline);
  cells[columns * rows].text = "always the most frequent class";
  cells[columns * rows + 1].text = text[rows][1];
  sr_page_table table = {.caption = "What the ensemble gets wrong, by what is asked",
                         .columns = columns,
                         .header = header,
                         .alignment = alignment,
                         .rows = rows + 1,
                         .cells = cells};
  return sr_page_add_table(ctx, page, &table);
}

static sr_status add_error_plot(sr_context *ctx, sr_page *page, const sr_evaluation *e) {
  char text[MOST_QUESTIONS][CELL];
  const char *names[MOST_QUESTIONS];
  double x[MOST_QUESTIONS], y[MOST_QUESTIONS], low[MOST_QUESTIONS], high[MOST_QUESTIONS];
  int32_t count = 0;
  for (int32_t k = 0; k < e->question_count && count < MOST_QUESTIONS; k++) {
    const sr_question *q = &e->questions[k];
    if (!isfinite(q->estimate)) continue;
    sr__name_question(e, q, text[count], CELL);
    names[count] = text[count];
    x[count] = count;
    y[count] = q->estimate;
    low[count] = isfinite(q->low) ? q->low : q->estimate;
    high[count] = isfinite(q->high) ? q->high : q->estimate;
    count++;
  }
  sr_plot_series series = {
      .kind = SR_PLOT_BARS, .count = count, .x = x, .y = y, .low = low, .high = high};
  sr_plot plot = {.title = "Error, by what is asked",
                  .y_label = "error",
                  .series_count = 1,
                  .series = &series,
                  .x_names = names,
                  .x_name_count = count};
  return sr_page_add_plot(ctx, page, &plot);
}

/* Errors in order of time, and where the line through them goes. */
static sr_status add_forward_plot(sr_context *ctx, sr_page *page, const sr_evaluation *e) {
  double x[MOST_QUESTIONS], y[MOST_QUESTIONS], next = e->origin_count;
  int32_t count = e->origin_count < MOST_QUESTIONS ? e->origin_count : MOST_QUESTIONS;
  for (int32_t k = 0; k < count; k++) {
    x[k] = k;
    y[k] = e->origin_error[k];
  }
  sr_plot_series series[] = {
      {.label = "origins", .kind = SR_PLOT_LINE, .count = count, .x = x, .y = y},
      {.label = "the line's next",
       .kind = SR_PLOT_POINTS,
       .count = 1,
       .x = &next,
       .y = &e->forward,
       .low = &e->forward_low,
       .high = &e->forward_high}};
  sr_plot plot = {.title = "Trained on the past, judged on the tenth that follows",
                  .x_label = "origin",
                  .y_label = "error",
                  .series_count = 2,
                  .series = series};
  return sr_page_add_plot(ctx, page, &plot);
}

/* How the error falls as members join, and what more of them could still take off. */
static sr_status add_curve_plot(sr_context *ctx, sr_page *page, const sr_evaluation *e) {
  enum { MOST_POINTS = 64 };
  double x[MOST_POINTS], y[MOST_POINTS];
  int32_t count = e->curve_count < MOST_POINTS ? e->curve_count : MOST_POINTS;
  for (int32_t k = 0; k < count; k++) {
    x[k] = e->curve[k].members;
    y[k] = e->curve[k].error;
  }
  sr_plot_series series = {.kind = SR_PLOT_LINE_POINTS, .count = count, .x = x, .y = y};
  sr_plot plot = {.title = "Error on held-out rows against the number of members",
                  .x_label = "members that vote",
                  .y_label = "error",
                  .log_x = 1,
                  .series_count = 1,
                  .series = &series};
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

static sr_status add_error(sr_context *ctx, sr_page *page, const sr_ensemble_view *v) {
  sr_status status = SR_OK;
  const sr_evaluation *e = v->evaluation;
  char text[768], held[256], reach[96];
  sr__print_evaluated(e, held, sizeof held);
  sr__print_reach(e, reach, sizeof reach);
  snprintf(text, sizeof text,
           "Judged by members that never drew the row, the error looks like %.4f. Judged by "
           "members that saw nothing near it, it is %.4f: this is what the same process will show "
           "elsewhere. Held out: %s%s%s.",
           e->naive, e->honest, held, *reach ? "; " : "", reach);
  SR_TRY(sr_page_heading(ctx, page, 1, "The error"));
  SR_TRY(sr_page_paragraph(ctx, page, text));
  SR_TRY(add_error_table(ctx, page, e));
  SR_TRY(add_error_plot(ctx, page, e));
  if (e->origin_count > 0) SR_TRY(add_forward_plot(ctx, page, e));
  if (e->curve_count > 1) SR_TRY(add_curve_plot(ctx, page, e));
  SR_TRY(add_classes(ctx, page, v));
  if (e->confusion) SR_TRY(sr__page_add_metrics(ctx, page, &e->metrics, &v->classes, e->confusion));
cleanup:
  return status;
}

/* ---- plan and features ---------------------------------------------------------------------- */

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

static sr_status add_mix(sr_context *ctx, sr_page *page, const sr_ensemble_view *v) {
  sr_status status = SR_OK;
  static const char *const header[] = {"what a member learns from", "members", "weight"};
  char text[MOST_ROWS][3][CELL];
  sr_page_cell cells[MOST_ROWS * 3] = {0};
  int32_t rows = v->mix_count < MOST_ROWS ? v->mix_count : MOST_ROWS;
  for (int32_t k = 0; k < rows; k++) {
    snprintf(text[k][0], CELL, "%d", v->mix[k].members);
    snprintf(text[k][1], CELL, "%.3f", v->mix[k].weight);
    SR_TRY(sr__plan_words(ctx, v->mix[k].plan, text[k][2], CELL));
    cells[3 * k].text = text[k][2];
    for (int c = 0; c < 2; c++) cells[3 * k + 1 + c].text = text[k][c];
  }
  sr_page_table table = {.caption = "Plans of the mix and their weights",
                         .columns = 3,
                         .header = header,
                         .rows = rows,
                         .cells = cells};
  SR_TRY(sr_page_add_table(ctx, page, &table));
cleanup:
  return status;
}

/* Weights by plan, and what made the gain. */
static sr_status add_mix_plots(sr_context *ctx, sr_page *page, const sr_ensemble_view *v) {
  static const char *const parts[] = {"smaller bags", "larger leaves", "offset of the vote",
                                      "whole parts left out"};
  sr_status status = SR_OK;
  const sr_mix_gain *g = v->gain;
  const char *names[MOST_ROWS];
  char words[MOST_ROWS][CELL];
  double x[MOST_ROWS], y[MOST_ROWS], px[] = {0, 1, 2, 3};
  double py[] = {g->bag_size, g->leaf_size, g->offset, g->place};
  int32_t count = v->mix_count < MOST_ROWS ? v->mix_count : MOST_ROWS;
  for (int32_t k = 0; k < count; k++) {
    SR_TRY(sr__plan_words(ctx, v->mix[k].plan, words[k], CELL));
    names[k] = words[k];
    x[k] = k;
    y[k] = v->mix[k].weight;
  }
  sr_plot_series weights = {.kind = SR_PLOT_BARS, .count = count, .x = x, .y = y};
  sr_plot plot = {.title = "Weight in the vote, by plan",
                  .y_label = "weight",
                  .series_count = 1,
                  .series = &weights,
                  .x_names = names,
                  .x_name_count = count};
  if (count > 1) SR_TRY(sr_page_add_plot(ctx, page, &plot));
  if (g->bag_size == 0.0 && g->leaf_size == 0.0 && g->offset == 0.0 && g->place == 0.0)
    goto cleanup; /* plain bagging stayed */
  sr_plot_series gains = {.kind = SR_PLOT_BARS, .count = 4, .x = px, .y = py};
  sr_plot more = {.title = "What made the gain over plain bagging",
                  .y_label = "held-out squared error taken off",
                  .series_count = 1,
                  .series = &gains,
                  .x_names = parts,
                  .x_name_count = 4};
  SR_TRY(sr_page_add_plot(ctx, page, &more));
cleanup:
  return status;
}

/* What the members share, as bars, and what would help. */
static sr_status add_shared(sr_context *ctx, sr_page *page, const sr_evaluation *e) {
  sr_status status = SR_OK;
  static const char *const names[] = {"shared rows", "shared parts", "shared law", "own noise"};
  const double x[] = {0, 1, 2, 3};
  const double y[] = {e->shared_rows, e->shared_parts, e->shared_law,
                      e->variance_of_margin - e->covariance};
  char text[600], remedy[512];
  sr__print_remedy(e, remedy, sizeof remedy);
  if (!*remedy) return SR_OK;
  sr_plot_series bars = {.kind = SR_PLOT_BARS, .count = 4, .x = x, .y = y};
  sr_plot plot = {.title = "What the variance of the margin is made of",
                  .y_label = "variance of the margin",
                  .series_count = 1,
                  .series = &bars,
                  .x_names = names,
                  .x_name_count = 4};
  remedy[0] = (char)(remedy[0] - 'a' + 'A');
  snprintf(text, sizeof text, "%s.", remedy);
  SR_TRY(sr_page_paragraph(ctx, page, text));
  SR_TRY(sr_page_add_plot(ctx, page, &plot));
cleanup:
  return status;
}

static sr_status add_plan(sr_context *ctx, sr_page *page, const sr_ensemble_view *v) {
  sr_status status = SR_OK;
  char text[768], words[CELL];
  SR_TRY(sr__plan_words(ctx, v->mix->plan, words, sizeof words));
  if (v->mix_count > 1)
    snprintf(text, sizeof text, "%d members (%s) of %d kinds: %s.", v->members, v->learner,
             v->mix_count, v->reason);
  else
    snprintf(text, sizeof text, "%d members (%s), each with %s (plan '%s'): %s.", v->members,
             v->learner, words, v->mix->plan, v->reason);
  SR_TRY(sr_page_heading(ctx, page, 1, "The plan"));
  SR_TRY(sr_page_paragraph(ctx, page, text));
  if (v->evaluation) {
    snprintf(text, sizeof text,
             "The members' margins have a mean pairwise covariance of %.4f on held-out rows; their "
             "vote is worth %.1f independent members.",
             v->evaluation->covariance, v->evaluation->effective_members);
    SR_TRY(sr_page_paragraph(ctx, page, text));
    SR_TRY(add_shared(ctx, page, v->evaluation));
  }
  if (v->mix_count > 1) SR_TRY(add_mix(ctx, page, v));
  if (v->gain) SR_TRY(add_mix_plots(ctx, page, v));
  if (v->choice) SR_TRY(add_candidates(ctx, page, v->choice));
cleanup:
  return status;
}

static sr_status add_features(sr_context *ctx, sr_page *page, const sr_ensemble_view *v) {
  int64_t list[MOST_FEATURES];
  const char *names[MOST_FEATURES];
  char name[MOST_FEATURES][CELL];
  double x[MOST_FEATURES], y[MOST_FEATURES];
  int32_t count = sr__list_important(v->evaluation, MOST_FEATURES, list);
  for (int32_t i = 0; i < count; i++) {
    sr__name_feature(v, list[i], name[i], CELL);
    names[i] = name[i];
    x[i] = i;
    y[i] = v->evaluation->importance[list[i]];
  }
  sr_plot_series series = {.kind = SR_PLOT_BARS, .count = count, .x = x, .y = y};
  sr_plot plot = {.title = "Error gained by shuffling a feature inside parts",
                  .y_label = "error gained",
                  .series_count = 1,
                  .series = &series,
                  .x_names = names,
                  .x_name_count = count};
  return sr_page_add_plot(ctx, page, &plot);
}

/* The verdict in one sentence: what the model is worth where it will be used. */
static sr_status add_headline(sr_context *ctx, sr_page *page, const sr_evaluation *e) {
  char text[512], where[64];
  bool told = isfinite(e->honest_low) && isfinite(e->honest_high);
  bool good = told && e->honest_high < e->baseline, bad = told && e->honest_low > e->baseline;
  const char *verdict = good ? "it is better than always naming the most frequent class"
                        : bad
                            ? "always naming the most frequent class is better"
                            : "that it beats always naming the most frequent class cannot be said";
  snprintf(where, sizeof where, "On %s that it never saw",
           e->held_out == SR_UNIT_GROUP   ? "groups"
           : e->held_out == SR_UNIT_FIELD ? "fields"
           : e->held_out == SR_UNIT_AREA  ? "ground"
                                          : "stretches");
  if (told)
    snprintf(text, sizeof text,
             "%s the model is wrong on %.1f %% of the rows (%.1f to %.1f %%), where the naive "
             "estimate says %.1f %%: %s (%.1f %%).",
             where, 100 * e->honest, 100 * e->honest_low, 100 * e->honest_high, 100 * e->naive,
             verdict, 100 * e->baseline);
  else
    snprintf(text, sizeof text,
             "%s the model is wrong on %.1f %% of the rows, where the naive estimate says %.1f %%; "
             "the rows are too few for an interval, and always naming the most frequent class has "
             "%.1f %%.",
             where, 100 * e->honest, 100 * e->naive, 100 * e->baseline);
  return sr_page_note(ctx, page,
                      good  ? SR_AGREEMENT_GOOD
                      : bad ? SR_AGREEMENT_BAD
                            : SR_AGREEMENT_PARTLY,
                      text);
}

sr_status sr_page_add_ensemble(sr_context *ctx, sr_page *page, const sr_ensemble *ensemble) {
  sr_status status = SR_OK;
  const sr_ensemble_view *v = sr_ensemble_get(ensemble);
  if (v->evaluation && isfinite(v->evaluation->honest))
    SR_TRY(add_headline(ctx, page, v->evaluation));
  if (v->evaluation) SR_TRY(add_error(ctx, page, v));
  for (int32_t i = 0; i < v->warning_count; i++)
    SR_TRY(sr_page_note(ctx, page, SR_AGREEMENT_PARTLY, v->warnings[i]));
  SR_TRY(add_plan(ctx, page, v));
  if (v->evaluation && v->evaluation->importance && v->evaluation->features > 0)
    SR_TRY(add_features(ctx, page, v));
  SR_TRY(sr__page_add_learning(ctx, page, ensemble));
cleanup:
  return status;
}
