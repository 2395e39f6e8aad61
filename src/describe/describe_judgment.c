/* What anybody's predictions are worth. */
#include <math.h>

#include "describe.h"

static const char *units_name(sr_unit unit) {
  static const char *const name[] = {"spans of T rows", "blocks", "parts", "groups"};
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
  const sr_metrics *m = &j->metrics;
  sr__description_add(lines, "error     %.4f of %lld rows (", j->error, (long long)j->rows);
  add_interval(lines, j);
  sr__description_add(lines, ")\n");
  sr__description_add(lines,
                      "          were the rows independent: %.4f to %.4f\n"
                      "          always naming the most frequent class: %.4f\n"
                      "scale     rows are new after about %.3g rows\n"
                      "metrics   balanced accuracy %.4f, macro F1 %.4f\n",
                      j->naive_low, j->naive_high, j->baseline, j->tmix, m->balanced_accuracy,
                      m->macro_f1);
  if (isfinite(m->brier))
    sr__description_add(lines, "          AUC %.4f, Brier %.4f, log loss %.4f, calibration %.4f\n",
                        m->auc, m->brier, m->log_loss, m->ece);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *to_json(const void *object) {
  const sr_judgment *j = object;
  const sr_metrics *m = &j->metrics;
  return json_pack(
      "{s:I,s:{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:i},s:o,s:o,s:{s:o,s:o,s:o,s:o,s:o,s:o}}", "rows",
      (json_int_t)j->rows, "error", "honest", sr__json_real(j->error), "honest_low",
      sr__json_real(j->low), "honest_high", sr__json_real(j->high), "naive",
      sr__json_real(j->error), "naive_low", sr__json_real(j->naive_low), "naive_high",
      sr__json_real(j->naive_high), "baseline", sr__json_real(j->baseline), "held_out",
      sr_unit_name(j->unit), "units", (int)j->units, "tmix", sr__json_real(j->tmix), "level",
      sr__json_real(j->level), "metrics", "balanced_accuracy", sr__json_real(m->balanced_accuracy),
      "macro_f1", sr__json_real(m->macro_f1), "auc", sr__json_real(m->auc), "brier",
      sr__json_real(m->brier), "log_loss", sr__json_real(m->log_loss), "ece",
      sr__json_real(m->ece));
}

/* ---- the page ----------------------------------------------------------------------------- */

static sr_status add_to_page(sr_context *ctx, sr_page *page, const void *object) {
  enum { ROWS = 9, CELL = 64 };
  const sr_judgment *j = object;
  const sr_metrics *m = &j->metrics;
  static const char *const header[] = {"", "value"};
  static const char *const name[ROWS] = {"error",
                                         "interval, dependence included",
                                         "interval, were the rows independent",
                                         "balanced accuracy",
                                         "macro F1",
                                         "AUC",
                                         "Brier score",
                                         "log loss",
                                         "calibration error"};
  const double value[ROWS] = {j->error,    NAN,    NAN,      m->balanced_accuracy,
                              m->macro_f1, m->auc, m->brier, m->log_loss,
                              m->ece};
  char shown[ROWS][CELL];
  sr_page_cell cell[2 * ROWS] = {0};
  for (int r = 0; r < ROWS; r++) {
    double low = r == 1 ? j->low : j->naive_low, high = r == 1 ? j->high : j->naive_high;
    if (r == 1 || r == 2)
      snprintf(shown[r], CELL, isfinite(low) ? "%.4f to %.4f" : "not told", low, high);
    else
      snprintf(shown[r], CELL, isfinite(value[r]) ? "%.4f" : "not told", value[r]);
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

sr_status sr_describe_judgment(sr_context *ctx, const sr_judgment *judgment, sr_description format,
                               char **text) {
  static const sr__describer describer = {"What the predictions are worth", add_lines, to_json,
                                          add_to_page};
  return sr__describe(ctx, &describer, judgment, format, text);
}
