/* How the vote moves with one feature. */
#include <math.h>
#include <stdlib.h>

#include "core/sort.h"
#include "ensemble.h"

enum { MOST_ROWS = 500 };

/* Distinct quantiles of the values that are there. */
static sr_status quantiles(sr_context *ctx, const float *x, int64_t rows,
                           sr_partial_dependence_view *to) {
  sr_status status = SR_OK;
  float *sorted = NULL;
  int64_t count = 0;
  SR_NEW(ctx, sorted, rows);
  for (int64_t i = 0; i < rows; i++)
    if (!isnan(x[i])) sorted[count++] = x[i];
  qsort(sorted, (size_t)count, sizeof *sorted, sr__compare_floats);
  for (int32_t k = 0; k < SR_PARTIAL_POINTS && count > 0; k++) {
    double value = (double)sorted[(count - 1) * k / (SR_PARTIAL_POINTS - 1)];
    if (to->points == 0 || value > to->value[to->points - 1]) to->value[to->points++] = value;
  }
cleanup:
  sr__free(ctx, sorted);
  return status;
}

/* The column of the table that the ensemble's feature is. */
static sr_status find_feature(sr_context *ctx, const sr_ensemble *e, const sr_table_view *view,
                              int64_t feature, int64_t *column) {
  *column = feature;
  if (!e->view.feature_names || !view->feature_names) return SR_OK;
  for (*column = 0; *column < view->features; ++*column)
    if (strcmp(view->feature_names[*column], e->view.feature_names[feature]) == 0) return SR_OK;
  return sr__fail(ctx, SR_ERROR_DATA, "the table has no column '%s'",
                  e->view.feature_names[feature]);
}

static sr_status average(sr_context *ctx, const sr_ensemble *e, const sr_table_view *some,
                         float *column, sr_partial_dependence_view *to, double *share) {
  sr_status status = SR_OK;
  int32_t *label = NULL;
  float *proba = NULL;
  SR_NEW(ctx, label, some->rows);
  SR_NEW(ctx, proba, some->rows * to->classes);
  for (int32_t k = 0; k < to->points; k++) {
    for (int64_t i = 0; i < some->rows; i++) column[i] = (float)to->value[k];
    SR_TRY(sr_ensemble_predict_view(ctx, e, some, label, proba));
    for (int32_t c = 0; c < to->classes; c++) {
      double sum = 0.0;
      for (int64_t i = 0; i < some->rows; i++) sum += (double)proba[i * to->classes + c];
      share[k * to->classes + c] = sum / (double)some->rows;
    }
  }
cleanup:
  sr__free(ctx, label);
  sr__free(ctx, proba);
  return status;
}

sr_status sr_partial_dependence(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *table,
                                int64_t feature, double *share,
                                sr_partial_dependence_view *dependence) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  int64_t *rows = NULL, column, count = view->rows < MOST_ROWS ? view->rows : MOST_ROWS;
  sr_table *some = NULL;
  float *x = NULL;
  *dependence =
      (sr_partial_dependence_view){.classes = ensemble->view.classes.count, .share = share};
  if (ensemble->view.features == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED, "the learner %s takes no features",
                    ensemble->learner->about.name));
  if (feature < 0 || feature >= ensemble->view.features)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "feature %lld was asked for; the model has 0 to %lld",
                    (long long)feature, (long long)ensemble->view.features - 1));
  SR_TRY(find_feature(ctx, ensemble, view, feature, &column));
  bool text = view->categories && view->categories[column].count;
  for (int32_t c = 0; text && c < view->categories[column].count && c < SR_PARTIAL_POINTS; c++)
    dependence->value[dependence->points++] = c;
  if (!text) SR_TRY(quantiles(ctx, view->x + column * view->rows, view->rows, dependence));
  if (dependence->points == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "feature %lld has no value in the table",
                    (long long)feature + 1));
  SR_NEW(ctx, rows, count);
  for (int64_t k = 0; k < count; k++) rows[k] = view->rows * k / count;
  SR_TRY(sr_table_select(ctx, table, rows, count, &some));
  sr_table_view moved = *sr_table_get(some);
  SR_NEW(ctx, x, moved.features * count);
  memcpy(x, moved.x, (size_t)(moved.features * count) * sizeof *x);
  moved.x = x;
  SR_TRY(average(ctx, ensemble, &moved, x + column * count, dependence, share));
cleanup:
  sr__free(ctx, rows);
  sr__free(ctx, x);
  sr_table_free(&some);
  return status;
}
