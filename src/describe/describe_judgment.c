/* What anybody's predictions are worth. */
#include <math.h>

#include "describe.h"
#include "ensemble_words.h"

static const char *units_name(sr_unit unit) {
  static const char *const name[] = {"spans of T rows", "blocks", "parts",
                                     "groups",          "fields", "areas"};
  return name[unit];
}

/* ---- text --------------------------------------------------------------------------------- */

/* What the interval was made from. */
static void print_source(const sr_judgment *j, char *text, size_t size) {
  if (isnan(j->tmix) && isnan(j->low))
    snprintf(text, size, "for want of T; give it with --tmix");
  else
    snprintf(text, size, "%d %s%s", j->units, units_name(j->unit),
             isfinite(j->low) ? "" : ": too few");
}

static void add_lines(sr__description *lines, const void *object) {
  const sr_judgment *j = object;
  char naive[64], honest[64], source[96];
  sr__print_interval(j->naive_low, j->naive_high, naive, sizeof naive);
  sr__print_interval(j->low, j->high, honest, sizeof honest);
  print_source(j, source, sizeof source);
  sr__description_add(lines,
                      "error     %.4f of %lld rows %*s %g %% interval\n"
                      "          naive: as if rows were independent         %s\n"
                      "          honest: rows that depend on each other     %s, %s%s\n"
                      "          always naming the most frequent class: %.4f\n",
                      j->error, (long long)j->rows,
                      (int)(26 - snprintf(NULL, 0, "%lld", (long long)j->rows)), "", 100 * j->level,
                      naive, honest, isfinite(j->low) ? "from " : "", source, j->baseline);
  if (isnan(j->tmix))
    sr__description_add(lines, "scale     T cannot be told from these rows\n");
  else
    sr__description_add(lines, "scale     rows are new after about %.9g rows\n",
                        sr__three_digits(j->tmix));
  sr__description_add_metrics(lines, &j->metrics);
  if (!j->confusion) return;
  sr__description_add_confusion(lines, &j->classes, j->confusion);
  sr__description_add_calibration(lines, &j->metrics);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *to_json(const void *object) {
  const sr_judgment *j = object;
  json_t *value =
      json_pack("{s:I,s:{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:i},s:o,s:o,s:o}", "rows",
                (json_int_t)j->rows, "error", "honest", sr__json_real(j->error), "honest_low",
                sr__json_real(j->low), "honest_high", sr__json_real(j->high), "naive",
                sr__json_real(j->error), "naive_low", sr__json_real(j->naive_low), "naive_high",
                sr__json_real(j->naive_high), "baseline", sr__json_real(j->baseline), "held_out",
                sr_unit_name(j->unit), "units", (int)j->units, "tmix",
                sr__json_scale(j->tmix, NAN, NAN, NULL), "level", sr__json_real(j->level),
                "metrics", sr__json_metrics(&j->metrics));
  if (!value || !j->confusion) return value;
  json_object_set_new(value, "confusion", sr__json_confusion(&j->classes, j->confusion));
  json_object_set_new(value, "calibration", sr__json_calibration(&j->metrics));
  return value;
}

/* ---- the page ----------------------------------------------------------------------------- */

/* The verdict in one sentence. */
static void print_headline(const sr_judgment *j, char *text, size_t size) {
  const char *verdict = !isfinite(j->low) ? "the rows are too few to say more"
                        : j->high < j->baseline
                            ? "better than always naming the most frequent class"
                        : j->low > j->baseline ? "worse than always naming the most frequent class"
                                               : "no better, as far as these rows can tell, than "
                                                 "always naming the most frequent class";
  if (isfinite(j->low))
    snprintf(text, size,
             "The predictions are wrong on %.1f %% of the rows (%.1f to %.1f %%): %s (%.1f %%).",
             100 * j->error, 100 * j->low, 100 * j->high, verdict, 100 * j->baseline);
  else
    snprintf(text, size, "The predictions are wrong on %.1f %% of %lld rows; %s.", 100 * j->error,
             (long long)j->rows, verdict);
}

static sr_status add_error_table(sr_context *ctx, sr_page *page, const sr_judgment *j) {
  enum { ROWS = 3, COLUMNS = 4, CELL = 96 };
  static const char *const header[] = {"", "error", "interval", "made from"};
  char error[CELL], naive[CELL], honest[CELL], rows[CELL], source[CELL], baseline[CELL];
  snprintf(error, CELL, "%.4f", j->error);
  snprintf(baseline, CELL, "%.4f", j->baseline);
  snprintf(rows, CELL, "%lld rows", (long long)j->rows);
  sr__print_interval(j->naive_low, j->naive_high, naive, CELL);
  sr__print_interval(j->low, j->high, honest, CELL);
  print_source(j, source, CELL);
  const sr_page_cell cells[ROWS * COLUMNS] = {{.text = "naive: as if rows were independent"},
                                              {.text = error},
                                              {.text = naive},
                                              {.text = rows},
                                              {.text = "honest: rows that depend on each other"},
                                              {.text = error},
                                              {.text = honest},
                                              {.text = source},
                                              {.text = "always the most frequent class"},
                                              {.text = baseline},
                                              {.text = ""},
                                              {.text = rows}};
  sr_page_table table = {.caption = "Predictions on held-out rows",
                         .columns = COLUMNS,
                         .header = header,
                         .alignment = "lrll",
                         .rows = ROWS,
                         .cells = cells};
  return sr_page_add_table(ctx, page, &table);
}

/* The two intervals side by side: the same error, known less well where rows depend. */
static sr_status add_interval_plot(sr_context *ctx, sr_page *page, const sr_judgment *j) {
  static const char *const names[] = {"naive: as if rows were independent",
                                      "honest: rows that depend on each other",
                                      "always the most frequent class"};
  const double x[] = {0, 1, 2}, y[] = {j->error, j->error, j->baseline};
  const double low[] = {j->naive_low, j->low, j->baseline};
  const double high[] = {j->naive_high, j->high, j->baseline};
  sr_plot_series bars = {
      .kind = SR_PLOT_BARS, .count = 3, .x = x, .y = y, .low = low, .high = high};
  sr_plot plot = {.title = "The error, and how well it is known",
                  .y_label = "error",
                  .series_count = 1,
                  .series = &bars,
                  .x_names = names,
                  .x_name_count = 3};
  return isfinite(j->low) ? sr_page_add_plot(ctx, page, &plot) : SR_OK;
}

sr_status sr_page_add_judgment(sr_context *ctx, sr_page *page, const sr_judgment *judgment) {
  sr_status status = SR_OK;
  const sr_judgment *j = judgment;
  char text[512];
  print_headline(j, text, sizeof text);
  SR_TRY(sr_page_note(ctx, page,
                      isfinite(j->high) && j->high < j->baseline ? SR_AGREEMENT_GOOD
                      : isfinite(j->low) && j->low > j->baseline ? SR_AGREEMENT_BAD
                                                                 : SR_AGREEMENT_PARTLY,
                      text));
  if (isnan(j->tmix))
    snprintf(text, sizeof text, "T cannot be told from these rows.");
  else
    snprintf(text, sizeof text,
             "Rows are new after about %.9g rows; the interval comes from %d %s. It holds if the "
             "predictions were made without having seen the rows or what lies near them.",
             sr__three_digits(j->tmix), j->units, units_name(j->unit));
  SR_TRY(sr_page_paragraph(ctx, page, text));
  SR_TRY(add_error_table(ctx, page, j));
  SR_TRY(add_interval_plot(ctx, page, j));
  SR_TRY(sr__page_add_metrics(ctx, page, &j->metrics, &j->classes, j->confusion));
cleanup:
  return status;
}

static sr_status add_to_page(sr_context *ctx, sr_page *page, const void *object) {
  return sr_page_add_judgment(ctx, page, object);
}

sr_status sr_describe_judgment(sr_context *ctx, const sr_judgment *judgment, sr_description format,
                               char **text) {
  static const sr__describer describer = {"What the predictions are worth", add_lines, to_json,
                                          add_to_page};
  return sr__describe(ctx, &describer, judgment, format, text);
}
