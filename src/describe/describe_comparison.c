/* Plans and learners side by side. */
#include <math.h>

#include "describe.h"

enum { CELL = 96, TEXTS = 8, COLUMNS = 2 + TEXTS };

static const sr_compare_test *test_against(const sr_comparison_view *view, int32_t row) {
  for (int32_t t = 0; t < view->test_count; t++)
    if (view->tests[t].second == row) return &view->tests[t];
  return NULL;
}

/* "-" where no interval can be given. */
static void print_bound(double value, char text[CELL]) {
  if (isfinite(value))
    snprintf(text, CELL, "%.4f", value);
  else
    snprintf(text, CELL, "-");
}

/* What was held out, how many, how long, and which buffer was kept. */
static void print_held_out(const sr_comparison_view *v, char *text, size_t size) {
  sr__print_held_out(&(sr__held_out){v->held_out, v->units, v->folds, v->table_rows, v->buffer, NAN,
                                     SR_DISTANCE_NONE},
                     text, size);
}

static void print_next(const sr_comparison_view *v, char *text, size_t size) {
  if (v->next_rows > 0)
    snprintf(text, size, "the next %lld rows", (long long)v->next_rows);
  else
    snprintf(text, size, "the next %s", sr_unit_name(v->held_out));
}

/* ---- text --------------------------------------------------------------------------------- */

/* Whether an earlier row has the same to say. */
static bool said_before(const sr_comparison_view *v, int32_t row) {
  for (int32_t r = 0; r < row; r++)
    if (v->rows[r].reason && strcmp(v->rows[r].reason, v->rows[row].reason) == 0) return true;
  return false;
}

static void add_reasons(sr__description *lines, const sr_comparison_view *v) {
  for (int32_t r = 0; r < v->row_count; r++)
    if (v->rows[r].reason && !said_before(v, r))
      sr__description_add(lines, "%s: %s\n", v->rows[r].plan, v->rows[r].reason);
}

static void add_lines(sr__description *lines, const void *object) {
  const sr_comparison_view *view = sr_comparison_get(object);
  const char *unit = sr_unit_name(view->held_out);
  int plan_width = 24, learner_width = 8;
  for (int32_t r = 0; r < view->row_count; r++) {
    int plan = (int)strlen(view->rows[r].plan), learner = (int)strlen(view->rows[r].learner);
    if (plan > plan_width) plan_width = plan;
    if (learner > learner_width) learner_width = learner;
  }
  char held[256], next[64];
  print_held_out(view, held, sizeof held);
  sr__description_add(lines, "held out: %s\n", held);
  sr__description_add(lines, "%-*s %-*s %8s %8s %8s %9s %10s  %s\n", plan_width, "plan",
                      learner_width, "learner", "error", "low", "high", "seconds", "p (Holm)",
                      "best minus this");
  for (int32_t r = 0; r < view->row_count; r++) {
    const sr_compare_row *row = &view->rows[r];
    const sr_compare_test *test = test_against(view, r);
    char low[CELL], high[CELL];
    print_bound(row->low, low);
    print_bound(row->high, high);
    sr__description_add(lines, "%-*s %-*s %8.4f %8s %8s %9.2f ", plan_width, row->plan,
                        learner_width, row->learner, row->error, low, high, row->seconds);
    if (test) sr__description_add(lines, "%10.4f  %+.4f", test->p_holm, test->difference);
    if (test && isfinite(test->low))
      sr__description_add(lines, " (%+.4f to %+.4f)", test->low, test->high);
    sr__description_add(lines, "%s\n", r == view->best ? "      best" : "");
  }
  for (int32_t r = 0; r < view->row_count; r++) {
    const sr_compare_row *row = &view->rows[r];
    if (isnan(row->next_low) && isnan(row->forward) && isnan(row->naive)) continue;
    print_next(view, next, sizeof next);
    sr__description_add(lines, "%-*s %s ", plan_width, row->plan, next);
    if (isfinite(row->next_low))
      sr__description_add(lines, "%.4f to %.4f", row->next_low, row->next_high);
    else
      sr__description_add(lines, "not told");
    if (isfinite(row->forward))
      sr__description_add(lines, "; the future %.4f (%.4f to %.4f)", row->forward, row->forward_low,
                          row->forward_high);
    if (isfinite(row->naive))
      sr__description_add(lines, "; naive %.4f (%.4f to %.4f)", row->naive, row->naive_low,
                          row->naive_high);
    sr__description_add(lines, "\n");
  }
  add_reasons(lines, view);
  sr__description_add(
      lines, "p: the best against each other row, Wilcoxon signed ranks paired over %ss, Holm\n",
      unit);
  sr__description_add_warnings(lines, view->warning_count, view->warnings);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *row_json(const sr_compare_row *row) {
  return json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s?}", "plan",
                   row->plan, "learner", row->learner, "error", sr__json_real(row->error), "low",
                   sr__json_real(row->low), "high", sr__json_real(row->high), "next_low",
                   sr__json_real(row->next_low), "next_high", sr__json_real(row->next_high),
                   "forward", sr__json_real(row->forward), "forward_low",
                   sr__json_real(row->forward_low), "forward_high",
                   sr__json_real(row->forward_high), "naive", sr__json_real(row->naive),
                   "naive_low", sr__json_real(row->naive_low), "naive_high",
                   sr__json_real(row->naive_high), "seconds", sr__json_real(row->seconds), "reason",
                   row->reason);
}

static json_t *test_json(const sr_comparison_view *view, const sr_compare_test *test) {
  const sr_compare_row *first = &view->rows[test->first], *second = &view->rows[test->second];
  return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o}", "first", first->plan, "first_learner",
                   first->learner, "second", second->plan, "second_learner", second->learner,
                   "difference", sr__json_real(test->difference), "difference_low",
                   sr__json_real(test->low), "difference_high", sr__json_real(test->high), "p",
                   sr__json_real(test->p), "p_holm", sr__json_real(test->p_holm));
}

static json_t *to_json(const void *object) {
  const sr_comparison_view *view = sr_comparison_get(object);
  json_t *rows = json_array(), *tests = json_array();
  for (int32_t r = 0; r < view->row_count; r++)
    json_array_append_new(rows, row_json(&view->rows[r]));
  for (int32_t t = 0; t < view->test_count; t++)
    json_array_append_new(tests, test_json(view, &view->tests[t]));
  return json_pack("{s:o,s:o,s:{s:s,s:s},s:s,s:i,s:i,s:I,s:I,s:o}", "rows", rows, "wilcoxon", tests,
                   "best", "plan", view->rows[view->best].plan, "learner",
                   view->rows[view->best].learner, "held_out", sr_unit_name(view->held_out),
                   "blocks", (int)view->units, "folds", (int)view->folds, "buffer",
                   (json_int_t)view->buffer, "next_rows", (json_int_t)view->next_rows, "warnings",
                   sr__json_strings(view->warning_count, view->warnings));
}

/* ---- the page ----------------------------------------------------------------------------- */

static void print_range(double low, double high, char text[CELL]) {
  if (isfinite(low))
    snprintf(text, CELL, "%.4f to %.4f", low, high);
  else
    snprintf(text, CELL, "not told");
}

static void fill_row(const sr_comparison_view *view, int32_t r, char (*text)[CELL],
                     sr_page_cell *cells) {
  const sr_compare_row *row = &view->rows[r];
  const sr_compare_test *test = test_against(view, r);
  snprintf(text[0], CELL, "%.4f", row->error);
  print_range(row->low, row->high, text[1]);
  print_range(row->next_low, row->next_high, text[2]);
  if (isfinite(row->forward))
    snprintf(text[3], CELL, "%.4f (%.4f to %.4f)", row->forward, row->forward_low,
             row->forward_high);
  else
    snprintf(text[3], CELL, "not asked");
  text[4][0] = text[5][0] = '\0';
  if (test) {
    snprintf(text[4], CELL, "%.4f", test->p_holm);
    if (isfinite(test->low))
      snprintf(text[5], CELL, "%+.4f (%+.4f to %+.4f)", test->difference, test->low, test->high);
    else
      snprintf(text[5], CELL, "%+.4f", test->difference);
  }
  snprintf(text[6], CELL, "%.2f", row->seconds);
  if (isfinite(row->naive))
    snprintf(text[7], CELL, "%.4f (%.4f to %.4f)", row->naive, row->naive_low, row->naive_high);
  else
    snprintf(text[7], CELL, "not asked");
  cells[0] = (sr_page_cell){row->plan, r == view->best ? SR_AGREEMENT_GOOD : SR_AGREEMENT_NONE};
  cells[1].text = row->learner;
  for (int c = 0; c < TEXTS; c++) cells[2 + c].text = text[c];
}

/* The best, and whether the next can be told from it. */
static sr_status add_headline(sr_context *ctx, sr_page *page, const sr_comparison_view *v) {
  const sr_compare_row *best = &v->rows[v->best];
  const sr_compare_test *nearest = NULL;
  char text[512];
  for (int32_t t = 0; t < v->test_count; t++)
    if (!nearest || v->rows[v->tests[t].second].error < v->rows[nearest->second].error)
      nearest = &v->tests[t];
  if (!nearest)
    snprintf(text, sizeof text, "Plan %s with learner %s is wrong on %.1f %% of the held-out rows.",
             best->plan, best->learner, 100 * best->error);
  else
    snprintf(
        text, sizeof text,
        "Plan %s with learner %s has the smallest error on held-out rows, %.1f %%; plan %s with "
        "%s follows with %.1f %%, and the difference %s (p = %.2g).",
        best->plan, best->learner, 100 * best->error, v->rows[nearest->second].plan,
        v->rows[nearest->second].learner, 100 * v->rows[nearest->second].error,
        nearest->p_holm < 0.05 ? "is more than chance" : "may be chance", nearest->p_holm);
  return sr_page_note(ctx, page,
                      nearest && nearest->p_holm < 0.05 ? SR_AGREEMENT_GOOD : SR_AGREEMENT_PARTLY,
                      text);
}

/* Errors with their intervals, a bar per row. */
static sr_status add_plot(sr_context *ctx, sr_page *page, const sr_comparison_view *v) {
  sr_status status = SR_OK;
  double *number = NULL;
  char(*text)[2 * CELL] = NULL;
  const char **names = NULL;
  int32_t n = v->row_count;
  SR_NEW(ctx, number, 4 * n);
  SR_NEW(ctx, text, n);
  SR_NEW(ctx, names, n);
  for (int32_t r = 0; r < n; r++) {
    const sr_compare_row *row = &v->rows[r];
    snprintf(text[r], sizeof text[r], "%.90s, %.90s", row->plan, row->learner);
    names[r] = text[r];
    number[r] = r;
    number[n + r] = row->error;
    number[2 * n + r] = isfinite(row->low) ? row->low : row->error;
    number[3 * n + r] = isfinite(row->high) ? row->high : row->error;
  }
  sr_plot_series series = {.kind = SR_PLOT_BARS,
                           .count = n,
                           .x = number,
                           .y = number + n,
                           .low = number + 2 * n,
                           .high = number + 3 * n};
  sr_plot plot = {.title = "Error on held-out rows, with intervals",
                  .y_label = "error",
                  .series_count = 1,
                  .series = &series,
                  .x_names = names,
                  .x_name_count = n};
  SR_TRY(sr_page_add_plot(ctx, page, &plot));
cleanup:
  sr__free(ctx, number);
  sr__free(ctx, text);
  sr__free(ctx, names);
  return status;
}

sr_status sr_page_add_comparison(sr_context *ctx, sr_page *page, const sr_comparison *comparison) {
  char next[64];
  const char *const header[COLUMNS] = {"plan",    "learner",    "error",    "interval",
                                       next,      "the future", "p (Holm)", "best minus this",
                                       "seconds", "naive"};
  sr_status status = SR_OK;
  const sr_comparison_view *view = sr_comparison_get(comparison);
  char(*text)[CELL] = NULL, words[640], held[256];
  sr_page_cell *cells = NULL;
  print_next(view, next, sizeof next);
  print_held_out(view, held, sizeof held);
  SR_NEW(ctx, text, TEXTS * view->row_count);
  SR_NEW_ZERO(ctx, cells, COLUMNS * view->row_count);
  for (int32_t r = 0; r < view->row_count; r++)
    fill_row(view, r, text + TEXTS * r, cells + COLUMNS * r);
  snprintf(
      words, sizeof words,
      "Held out: %s. The best is tested against each other row by Wilcoxon's signed ranks over "
      "the %ss, corrected by Holm; the difference has an interval of its own, from losses row "
      "by row.",
      held, sr_unit_name(view->held_out));
  SR_TRY(add_headline(ctx, page, view));
  SR_TRY(sr_page_paragraph(ctx, page, words));
  sr_page_table table = {.caption = "Errors on held-out rows; the mark is the best",
                         .columns = COLUMNS,
                         .header = header,
                         .alignment = "llrlllrlrl",
                         .rows = view->row_count,
                         .cells = cells};
  SR_TRY(sr_page_add_table(ctx, page, &table));
  SR_TRY(add_plot(ctx, page, view));
  for (int32_t r = 0; r < view->row_count; r++)
    if (view->rows[r].reason && !said_before(view, r))
      SR_TRY(sr_page_note(ctx, page, SR_AGREEMENT_PARTLY, view->rows[r].reason));
  for (int32_t i = 0; i < view->warning_count; i++)
    SR_TRY(sr_page_note(ctx, page, SR_AGREEMENT_PARTLY, view->warnings[i]));
cleanup:
  sr__free(ctx, text);
  sr__free(ctx, cells);
  return status;
}

static sr_status add_to_page(sr_context *ctx, sr_page *page, const void *object) {
  return sr_page_add_comparison(ctx, page, object);
}

sr_status sr_describe_comparison(sr_context *ctx, const sr_comparison *comparison,
                                 sr_description format, char **text) {
  static const sr__describer describer = {"Plans and learners side by side", add_lines, to_json,
                                          add_to_page};
  return sr__describe(ctx, &describer, comparison, format, text);
}
