/* How the vote moves with single features, as plots. */
#include <math.h>

#include "describe.h"

enum { MOST_LINES = 6, MOST_PLOTS = 8, NAME = 128 };

/* Of many classes, those whose share moves most. */
static int32_t choose_classes(const sr_partial_dependence_view *d, int32_t *chosen) {
  int32_t count = 0;
  for (; count < MOST_LINES && count < d->classes; count++) {
    double most = -1.0;
    for (int32_t c = d->classes == 2; c < d->classes; c++) {
      double low = INFINITY, high = -INFINITY;
      bool used = false;
      for (int32_t k = 0; k < count; k++) used |= chosen[k] == c;
      for (int32_t p = 0; p < d->points; p++) {
        low = fmin(low, d->share[p * d->classes + c]);
        high = fmax(high, d->share[p * d->classes + c]);
      }
      if (used || high - low <= most) continue;
      most = high - low;
      chosen[count] = c;
    }
    if (most < 0.0) break;
  }
  return count;
}

/* A first or last value so far out that the others would fall into one place is not drawn; `count`
 * of the values from the one that is given back on are. */
static int32_t inner_values(const sr_partial_dependence_view *d, int32_t *count) {
  int32_t first = 0, last = d->points - 1;
  *count = d->points;
  if (d->points < 6) return 0;
  double span = d->value[last - 1] - d->value[1];
  if (d->value[1] - d->value[0] > span) first++;
  if (d->value[last] - d->value[last - 1] > span) last--;
  *count = last - first + 1;
  return first;
}

static sr_status add_plot(sr_context *ctx, sr_page *page, const sr_ensemble_view *v,
                          const sr_table_view *table, int64_t feature,
                          const sr_partial_dependence_view *d) {
  int32_t chosen[MOST_LINES], count = choose_classes(d, chosen);
  double y[MOST_LINES][SR_PARTIAL_POINTS];
  sr_plot_series series[MOST_LINES];
  char title[NAME], label[MOST_LINES][NAME];
  const sr_dictionary *names =
      table->categories && feature < table->features ? &table->categories[feature] : NULL;
  bool text = names && names->count > 0;
  int32_t points = d->points, first = text ? 0 : inner_values(d, &points);
  for (int32_t k = 0; k < count; k++) {
    for (int32_t p = 0; p < d->points; p++) y[k][p] = d->share[p * d->classes + chosen[k]];
    snprintf(label[k], NAME, "%s%.100s", count == 1 ? "class " : "", v->classes.names[chosen[k]]);
    series[k] = (sr_plot_series){.label = label[k],
                                 .kind = text ? SR_PLOT_BARS : SR_PLOT_LINE_POINTS,
                                 .count = points,
                                 .x = d->value + first,
                                 .y = y[k] + first};
  }
  snprintf(title, sizeof title, "Mean share of the vote where '%.60s' is set",
           v->feature_names ? v->feature_names[feature] : "the feature");
  sr_plot plot = {.title = title,
                  .x_label = v->feature_names ? v->feature_names[feature] : "feature",
                  .y_label = "share",
                  .series_count = text ? 1 : count,
                  .series = series,
                  .x_names = text ? names->names : NULL,
                  .x_name_count = text ? d->points : 0};
  return sr_page_add_plot(ctx, page, &plot);
}

sr_status sr_page_add_partial_dependence(sr_context *ctx, sr_page *page,
                                         const sr_ensemble *ensemble, const sr_table *table,
                                         int32_t most) {
  sr_status status = SR_OK;
  const sr_ensemble_view *v = sr_ensemble_get(ensemble);
  const double *importance = v->evaluation ? v->evaluation->importance : NULL;
  int64_t shown[MOST_PLOTS];
  double *share = NULL;
  if (!importance || v->features == 0) return SR_OK;
  SR_NEW(ctx, share, SR_PARTIAL_POINTS * (int64_t)v->classes.count);
  SR_TRY(sr_page_heading(ctx, page, 1, "What features do"));
  for (int32_t k = 0; k < most && k < MOST_PLOTS && k < v->features; k++) {
    sr_partial_dependence_view d;
    shown[k] = -1;
    for (int64_t j = 0; j < v->features; j++) {
      bool taken = false;
      for (int32_t i = 0; i < k; i++) taken |= shown[i] == j;
      if (!taken && (shown[k] < 0 || importance[j] > importance[shown[k]])) shown[k] = j;
    }
    status = sr_partial_dependence(ctx, ensemble, table, shown[k], share, &d);
    if (status == SR_ERROR_DATA) { /* a feature without values */
      status = SR_OK;
      continue;
    }
    SR_TRY(status);
    if (d.points > 1) SR_TRY(add_plot(ctx, page, v, sr_table_get(table), shown[k], &d));
  }
cleanup:
  sr__free(ctx, share);
  return status;
}
