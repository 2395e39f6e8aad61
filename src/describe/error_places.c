/* Where errors lie: by group, on the map or in the order of the rows. */
#include <math.h>
#include <stdlib.h>

#include "describe.h"
#include "evaluate/evaluate.h"

enum { MOST_GROUPS = 20, WINDOWS = 60, MOST_FOLDS = 32, NAME = 96 };

/* ---- losses ------------------------------------------------------------------------------- */

/* 1 where the prediction is wrong, NaN where there is none. */
static double loss_of(const sr_table_view *view, const sr_predictions *given, int64_t i) {
  int32_t classes = view->classes.count, vote = given->label ? given->label[i] : 0;
  if (!given->label) {
    for (int32_t c = 0; c < classes; c++) {
      if (isnan(given->proba[i * classes + c])) return NAN;
      if (given->proba[i * classes + c] > given->proba[i * classes + vote]) vote = c;
    }
  }
  return sr__class_loss(vote, view->label[i]);
}

/* ---- by group ------------------------------------------------------------------------------- */

typedef struct group_error {
  double wrong, rows;
  int32_t group;
} group_error;

static int by_error(const void *a, const void *b) {
  const group_error *x = a, *y = b;
  double gap = y->wrong / fmax(y->rows, 1.0) - x->wrong / fmax(x->rows, 1.0);
  if (gap != 0.0) return gap > 0.0 ? 1 : -1;
  return (x->group > y->group) - (x->group < y->group);
}

static sr_status add_groups(sr_context *ctx, sr_page *page, const sr_table_view *view,
                            const double *loss) {
  sr_status status = SR_OK;
  group_error *of = NULL;
  const char *names[MOST_GROUPS];
  double x[MOST_GROUPS], y[MOST_GROUPS];
  int32_t count = 0, judged = 0;
  char title[NAME];
  SR_NEW_ZERO(ctx, of, view->groups.count);
  for (int32_t g = 0; g < view->groups.count; g++) of[g].group = g;
  for (int64_t i = 0; i < view->rows; i++) {
    if (isnan(loss[i]) || view->group[i] < 0) continue;
    of[view->group[i]].wrong += loss[i];
    of[view->group[i]].rows += 1.0;
  }
  for (int32_t g = 0; g < view->groups.count; g++)
    if (of[g].rows > 0.0) of[judged++] = of[g];
  qsort(of, (size_t)judged, sizeof *of, by_error);
  for (; count < judged && count < MOST_GROUPS; count++) {
    names[count] = view->groups.names[of[count].group];
    x[count] = count;
    y[count] = of[count].wrong / of[count].rows;
  }
  snprintf(title, sizeof title, "Error by group%s",
           judged > MOST_GROUPS ? ": the twenty with the largest" : ", the largest first");
  sr_plot_series series = {.kind = SR_PLOT_BARS, .count = count, .x = x, .y = y};
  sr_plot plot = {.title = title,
                  .y_label = "error",
                  .series_count = 1,
                  .series = &series,
                  .x_names = names,
                  .x_name_count = count};
  SR_TRY(sr_page_add_plot(ctx, page, &plot));
cleanup:
  sr__free(ctx, of);
  return status;
}

/* ---- in order ------------------------------------------------------------------------------- */

static sr_status add_order(sr_context *ctx, sr_page *page, const sr_table_view *view,
                           const double *loss) {
  double x[WINDOWS], y[WINDOWS], ends[2], mean[2], all = 0.0, rows = 0.0;
  int32_t count = 0;
  bool timed = view->time && !isnan(view->time[0]);
  for (int32_t w = 0; w < WINDOWS; w++) {
    int64_t from = view->rows * w / WINDOWS, to = view->rows * (w + 1) / WINDOWS;
    double wrong = 0.0, seen = 0.0;
    for (int64_t i = from; i < to; i++) {
      if (isnan(loss[i])) continue;
      wrong += loss[i];
      seen += 1.0;
    }
    all += wrong;
    rows += seen;
    if (seen == 0.0) continue;
    x[count] = timed ? view->time[(from + to) / 2] : 0.5 * (double)(from + to);
    y[count++] = wrong / seen;
  }
  if (count < 2) return SR_OK;
  ends[0] = x[0];
  ends[1] = x[count - 1];
  mean[0] = mean[1] = all / rows;
  sr_plot_series series[] = {
      {.label = "error of a sixtieth of the rows",
       .kind = SR_PLOT_LINE,
       .count = count,
       .x = x,
       .y = y},
      {.label = "of all", .kind = SR_PLOT_DASHED, .count = 2, .x = ends, .y = mean}};
  sr_plot plot = {.title = timed ? "Error over time" : "Error in the order of the rows",
                  .x_label = timed ? "time" : "row",
                  .y_label = "error",
                  .series_count = 2,
                  .series = series};
  return sr_page_add_plot(ctx, page, &plot);
}

sr_status sr_page_add_errors(sr_context *ctx, sr_page *page, const sr_table *table,
                             const sr_predictions *predictions) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  double *loss = NULL;
  if (!view->label || (!predictions->label && !predictions->proba))
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "errors need the classes of the table and classes or probabilities"));
  SR_NEW(ctx, loss, view->rows);
  for (int64_t i = 0; i < view->rows; i++) loss[i] = loss_of(view, predictions, i);
  SR_TRY(sr_page_heading(ctx, page, 1, "Where the errors lie"));
  if (view->group && view->groups.count > 1) SR_TRY(add_groups(ctx, page, view, loss));
  if (sr__has_places(view))
    SR_TRY(sr__page_add_values(ctx, page, view, loss,
                               "Map of the errors: share of rows that is wrong",
                               (sr_dictionary){0}));
  else if (!view->group)
    SR_TRY(add_order(ctx, page, view, loss));
cleanup:
  sr__free(ctx, loss);
  return status;
}

/* ---- what an ensemble kept ------------------------------------------------------------------ */

static sr_status add_fold_map(sr_context *ctx, sr_page *page, const sr_table_view *view,
                              const double *fold, int32_t folds) {
  char text[MOST_FOLDS][24];
  const char *names[MOST_FOLDS];
  if (!sr__has_places(view) || folds > MOST_FOLDS) return SR_OK;
  for (int32_t f = 0; f < folds; f++) {
    snprintf(text[f], sizeof text[f], "fold %d", f + 1);
    names[f] = text[f];
  }
  return sr__page_add_values(ctx, page, view, fold,
                             "What was held out together: the folds on the map",
                             (sr_dictionary){folds, names});
}

/* The classes that were said of held-out rows, in the colors of the legend. */
static sr_status add_vote_map(sr_context *ctx, sr_page *page, const sr_table_view *view,
                              const int32_t *label) {
  sr_status status = SR_OK;
  double *vote = NULL;
  if (!sr__has_places(view) || view->classes.count > MOST_FOLDS) return SR_OK;
  SR_NEW(ctx, vote, view->rows);
  for (int64_t i = 0; i < view->rows; i++) vote[i] = label[i] < 0 ? NAN : label[i];
  SR_TRY(sr__page_add_values(ctx, page, view, vote,
                             "What was said of the held-out rows: their classes", view->classes));
cleanup:
  sr__free(ctx, vote);
  return status;
}

sr_status sr_page_add_held_rows(sr_context *ctx, sr_page *page, const sr_table *table,
                                const sr_ensemble *ensemble) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  const sr_evaluation *e = sr_ensemble_get(ensemble)->evaluation;
  int64_t *at = NULL, file_rows;
  int32_t *label = NULL, folds = 0;
  double *fold = NULL;
  if (!e || e->held_rows.count == 0) return SR_OK;
  SR_TRY(sr__rows_of_file(ctx, view, &at, &file_rows));
  SR_NEW(ctx, label, view->rows);
  SR_NEW(ctx, fold, view->rows);
  for (int64_t i = 0; i < view->rows; i++) label[i] = -1;
  for (int64_t i = 0; i < view->rows; i++) fold[i] = NAN;
  for (int64_t k = 0; k < e->held_rows.count; k++) {
    int64_t row = e->held_rows.row[k] < file_rows ? at[e->held_rows.row[k]] : -1;
    if (row < 0) continue;
    label[row] = e->held_rows.vote[k];
    fold[row] = e->held_rows.fold[k];
    if (e->held_rows.fold[k] >= folds) folds = e->held_rows.fold[k] + 1;
  }
  SR_TRY(sr_page_add_errors(ctx, page, table, &(sr_predictions){.label = label}));
  SR_TRY(add_vote_map(ctx, page, view, label));
  SR_TRY(add_fold_map(ctx, page, view, fold, folds));
cleanup:
  sr__free(ctx, at);
  sr__free(ctx, label);
  sr__free(ctx, fold);
  return status;
}
