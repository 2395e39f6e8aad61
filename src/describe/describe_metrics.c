/* Metrics, confusion and calibration, wherever votes were judged. */
#include <math.h>

#include "describe.h"

enum { SHOWN_CLASSES = 8, PAGE_CLASSES = 16, CELL = 64 };

/* ---- text --------------------------------------------------------------------------------- */

void sr__description_add_metrics(sr__description *lines, const sr_metrics *m) {
  sr__description_add(lines, "metrics   balanced accuracy %.4f, macro F1 %.4f\n",
                      m->balanced_accuracy, m->macro_f1);
  if (isfinite(m->brier))
    sr__description_add(
        lines, "          AUC %.4f, Brier score %.4f, log loss %.4f, calibration error %.4f\n",
        m->auc, m->brier, m->log_loss, m->ece);
}

void sr__description_add_confusion(sr__description *lines, const sr_dictionary *classes,
                                   const int64_t *confusion) {
  if (!confusion || classes->count > SHOWN_CLASSES) return;
  sr__description_add(lines, "confusion rows are true classes, columns what the vote says\n%26s",
                      "");
  for (int32_t c = 0; c < classes->count; c++)
    sr__description_add(lines, " %9.9s", classes->names[c]);
  sr__description_add(lines, "\n");
  for (int32_t t = 0; t < classes->count; t++) {
    sr__description_add(lines, "          %-16.16s", classes->names[t]);
    for (int32_t c = 0; c < classes->count; c++)
      sr__description_add(lines, " %9lld", (long long)confusion[t * classes->count + c]);
    sr__description_add(lines, "\n");
  }
}

void sr__description_add_calibration(sr__description *lines, const sr_metrics *m) {
  if (!isfinite(m->ece)) return;
  sr__description_add(lines, "calibration (share of the top class, and how often it is right)\n");
  for (int b = 0; b < SR_CALIBRATION_BINS; b++) {
    const sr_calibration_bin *bin = &m->calibration[b];
    if (bin->rows)
      sr__description_add(lines, "          %.2f said, %.2f right, %lld rows\n", bin->share,
                          bin->right, (long long)bin->rows);
  }
}

/* ---- JSON --------------------------------------------------------------------------------- */

json_t *sr__json_metrics(const sr_metrics *m) {
  return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "balanced_accuracy",
                   sr__json_real(m->balanced_accuracy), "macro_f1", sr__json_real(m->macro_f1),
                   "auc", sr__json_real(m->auc), "brier", sr__json_real(m->brier), "log_loss",
                   sr__json_real(m->log_loss), "ece", sr__json_real(m->ece));
}

json_t *sr__json_confusion(const sr_dictionary *classes, const int64_t *confusion) {
  json_t *names = json_array(), *counts = json_array();
  for (int32_t t = 0; t < classes->count; t++) {
    json_t *row = json_array();
    json_array_append_new(names, sr__json_text(classes->names[t]));
    for (int32_t c = 0; c < classes->count; c++)
      json_array_append_new(row, json_integer(confusion[t * classes->count + c]));
    json_array_append_new(counts, row);
  }
  return json_pack("{s:o,s:o}", "classes", names, "counts", counts);
}

json_t *sr__json_calibration(const sr_metrics *m) {
  json_t *list = json_array();
  for (int b = 0; b < SR_CALIBRATION_BINS; b++) {
    const sr_calibration_bin *bin = &m->calibration[b];
    if (bin->rows)
      json_array_append_new(list,
                            json_pack("{s:o,s:o,s:I}", "share", sr__json_real(bin->share), "right",
                                      sr__json_real(bin->right), "rows", (json_int_t)bin->rows));
  }
  return list;
}

/* ---- the page ----------------------------------------------------------------------------- */

static sr_status add_metrics_table(sr_context *ctx, sr_page *page, const sr_metrics *m) {
  enum { ROWS = 6 };
  static const char *const header[] = {"metric", "value", "how to read it"};
  static const char *const name[ROWS] = {"balanced accuracy", "macro F1", "AUC",
                                         "Brier score",       "log loss", "calibration error"};
  static const char *const reading[ROWS] = {
      "mean over classes of the share that is found; guessing gives 1 / classes",
      "mean over classes of F1",
      "chance that a row of the class is ranked above another; guessing gives 0.5",
      "squared error of the shares, summed over classes; 0 is best",
      "of the share that the true class got; 0 is best",
      "mean distance between the share that is said and how often it is right"};
  const double value[ROWS] = {m->balanced_accuracy, m->macro_f1, m->auc, m->brier,
                              m->log_loss,          m->ece};
  char text[ROWS][CELL];
  sr_page_cell cells[3 * ROWS] = {0};
  for (int r = 0; r < ROWS; r++) {
    snprintf(text[r], CELL, isfinite(value[r]) ? "%.4f" : "not told", value[r]);
    cells[3 * r].text = name[r];
    cells[3 * r + 1].text = text[r];
    cells[3 * r + 2].text = reading[r];
  }
  sr_page_table table = {.caption = "Metrics on held-out rows",
                         .columns = 3,
                         .header = header,
                         .alignment = "lrl",
                         .rows = ROWS,
                         .cells = cells};
  return sr_page_add_table(ctx, page, &table);
}

static sr_status add_confusion(sr_context *ctx, sr_page *page, const sr_dictionary *classes,
                               const int64_t *confusion) {
  sr_status status = SR_OK;
  int32_t k = classes->count, columns = k + 1;
  char(*text)[CELL] = NULL;
  sr_page_cell *cells = NULL;
  const char **header = NULL;
  SR_NEW(ctx, header, columns);
  SR_NEW(ctx, text, (int64_t)k * k);
  SR_NEW_ZERO(ctx, cells, (int64_t)k * columns);
  header[0] = "true class";
  for (int32_t t = 0; t < k; t++) {
    header[t + 1] = classes->names[t];
    cells[t * columns].text = classes->names[t];
    for (int32_t c = 0; c < k; c++) {
      snprintf(text[t * k + c], CELL, "%lld", (long long)confusion[t * k + c]);
      cells[t * columns + c + 1] =
          (sr_page_cell){text[t * k + c], t == c ? SR_AGREEMENT_GOOD : SR_AGREEMENT_NONE};
    }
  }
  sr_page_table table = {.caption = "Confusion: rows of each true class by what the vote says",
                         .columns = columns,
                         .header = header,
                         .rows = k,
                         .cells = cells};
  SR_TRY(sr_page_add_table(ctx, page, &table));
cleanup:
  sr__free(ctx, header);
  sr__free(ctx, text);
  sr__free(ctx, cells);
  return status;
}

static sr_status add_calibration(sr_context *ctx, sr_page *page, const sr_metrics *m) {
  double x[SR_CALIBRATION_BINS], y[SR_CALIBRATION_BINS], ends[] = {0.0, 1.0};
  int64_t count = 0;
  for (int b = 0; b < SR_CALIBRATION_BINS; b++) {
    if (!m->calibration[b].rows) continue;
    x[count] = m->calibration[b].share;
    y[count++] = m->calibration[b].right;
  }
  sr_plot_series series[] = {
      {.label = "as it was", .kind = SR_PLOT_LINE_POINTS, .count = count, .x = x, .y = y},
      {.label = "where shares are right",
       .kind = SR_PLOT_DASHED,
       .count = 2,
       .x = ends,
       .y = ends}};
  sr_plot plot = {.title = "Calibration: the share of the vote, and how often it is right",
                  .x_label = "share of the top class",
                  .y_label = "share that is right",
                  .series_count = 2,
                  .series = series};
  return sr_page_add_plot(ctx, page, &plot);
}

sr_status sr__page_add_metrics(sr_context *ctx, sr_page *page, const sr_metrics *metrics,
                               const sr_dictionary *classes, const int64_t *confusion) {
  sr_status status = SR_OK;
  SR_TRY(add_metrics_table(ctx, page, metrics));
  if (confusion && classes->count <= PAGE_CLASSES)
    SR_TRY(add_confusion(ctx, page, classes, confusion));
  if (isfinite(metrics->ece)) SR_TRY(add_calibration(ctx, page, metrics));
cleanup:
  return status;
}
