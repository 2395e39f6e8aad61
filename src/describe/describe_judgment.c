/* What anybody's predictions are worth. */
#include <math.h>

#include "describe.h"

static const char *units_name(sr_unit unit) {
  static const char *const name[] = {"spans of T rows", "blocks", "parts",
                                     "groups",          "fields", "areas"};
  return name[unit];
}

/* ---- text --------------------------------------------------------------------------------- */

static void add_interval(sr__description *lines, const sr_judgment *j) {
  if (isfinite(j->low))
    sr__description_add(lines, "%g %% interval %.4f to %.4f, from %d %s", 100 * j->level, j->low,
                        j->high, j->units, units_name(j->unit));
  else
    sr__description_add(lines, "no interval: %d %s tell too little", j->units, units_name(j->unit));
}

static void add_lines(sr__description *lines, const void *object) {
  const sr_judgment *j = object;
  sr__description_add(lines, "error     %.4f of %lld rows (", j->error, (long long)j->rows);
  add_interval(lines, j);
  sr__description_add(lines, ")\n");
  sr__description_add(lines,
                      "          were the rows independent: %.4f to %.4f\n"
                      "          always naming the most frequent class: %.4f\n"
                      "scale     rows are new after about %.3g rows\n",
                      j->naive_low, j->naive_high, j->baseline, j->tmix);
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
  enum { ROWS = 4, CELL = 64 };
  static const char *const header[] = {"", "value"};
  static const char *const name[ROWS] = {"error", "interval, dependence included",
                                         "interval, were the rows independent",
                                         "always the most frequent class"};
  char shown[ROWS][CELL];
  sr_page_cell cell[2 * ROWS] = {0};
  snprintf(shown[0], CELL, "%.4f", j->error);
  snprintf(shown[1], CELL, isfinite(j->low) ? "%.4f to %.4f" : "not told", j->low, j->high);
  snprintf(shown[2], CELL, "%.4f to %.4f", j->naive_low, j->naive_high);
  snprintf(shown[3], CELL, "%.4f", j->baseline);
  for (int r = 0; r < ROWS; r++) {
    cell[2 * r].text = name[r];
    cell[2 * r + 1].text = shown[r];
  }
  sr_page_table table = {.caption = "Predictions on held-out rows",
                         .columns = 2,
                         .header = header,
                         .rows = ROWS,
                         .cells = cell};
  return sr_page_add_table(ctx, page, &table);
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
  snprintf(text, sizeof text,
           "Rows are new after about %.3g rows; the interval comes from %d %s. It holds if the "
           "predictions were made without having seen the rows or what lies near them.",
           j->tmix, j->units, units_name(j->unit));
  SR_TRY(sr_page_paragraph(ctx, page, text));
  SR_TRY(add_error_table(ctx, page, j));
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
