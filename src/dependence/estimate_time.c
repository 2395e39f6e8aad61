/* The diagnosis of rows in time. */
#include <math.h>

#include "core/maths.h"
#include "core/text.h"
#include "dependence.h"

typedef struct time_work {
  sr__rows rows;
  sr__columns columns, labels, slow_column;
  sr__lags lags, slow_lags, label_lags, residual_lags;
  sr__integrated pooled, slow, label, residual;
  float *eigenvector; /* by position */
  bool has_slow;
  sr__transition_modes transition;
  sr__row_scale scale;
} time_work;

static void free_work(sr_context *ctx, time_work *w) {
  sr__rows_free(ctx, &w->rows);
  sr__columns_free(ctx, &w->columns);
  sr__columns_free(ctx, &w->labels);
  sr__columns_free(ctx, &w->slow_column);
  sr__lags_free(ctx, &w->lags);
  sr__lags_free(ctx, &w->slow_lags);
  sr__lags_free(ctx, &w->label_lags);
  sr__lags_free(ctx, &w->residual_lags);
  sr__free(ctx, w->eigenvector);
}

/* ---- groups ------------------------------------------------------------------------------- */

/* Share of the variance of the features that lies between groups. */
static sr_status group_share(sr_context *ctx, const sr_table_view *table, const time_work *w,
                             double *share) {
  sr_status status = SR_OK;
  double *sum = NULL;
  int64_t *count = NULL, n = w->rows.n, groups = w->rows.groups;
  *share = NAN;
  if (groups < 2 || w->columns.count == 0) goto cleanup;
  SR_NEW(ctx, sum, groups);
  SR_NEW_ZERO(ctx, count, groups);
  for (int64_t i = 0; i < n; i++) count[table->group[i]]++;
  double total = 0.0;
  for (int64_t j = 0; j < w->columns.count; j++) {
    memset(sum, 0, (size_t)groups * sizeof *sum);
    for (int64_t p = 0; p < n; p++)
      sum[table->group[w->rows.order[p]]] += (double)w->columns.value[j * n + p];
    for (int64_t g = 0; g < groups; g++)
      if (count[g] > 0) total += sum[g] * sum[g] / (double)count[g];
  }
  *share = total / ((double)n * (double)w->columns.count);
cleanup:
  sr__free(ctx, sum);
  sr__free(ctx, count);
  return status;
}

/* ---- measuring ---------------------------------------------------------------------------- */

static sr_status measure_slow(sr_context *ctx, double z, time_work *w) {
  sr_status status = SR_OK;
  w->slow_column = (sr__columns){.n = w->rows.n, .count = 1};
  SR_NEW(ctx, w->slow_column.value, w->rows.n);
  SR_NEW_ZERO(ctx, w->eigenvector, w->rows.n);
  SR_TRY(sr__slow_coordinate(ctx, &w->rows, &w->columns, w->slow_column.value, &w->has_slow));
  if (!w->has_slow) goto cleanup;
  sr__progress(ctx, "transition graph", 2, 3);
  SR_TRY(sr__transition_modes_estimate(ctx, &w->rows, w->slow_column.value, z, &w->transition,
                                       w->eigenvector));
  SR_TRY(sr__lags_measure(ctx, &w->rows, &w->slow_column, &w->slow_lags, &w->slow));
cleanup:
  return status;
}

static sr_status measure(sr_context *ctx, const sr_table_view *table, double z, time_work *w) {
  sr_status status = SR_OK;
  w->transition.scale = (sr_scale){"slow-graph", NAN, NAN, NAN};
  w->pooled.iact = w->slow.iact = w->label.iact = w->residual.iact = NAN;
  w->pooled.period = w->slow.period = NAN;
  SR_TRY(sr__rows_gather(ctx, table, &w->rows));
  SR_TRY(sr__columns_standardize(ctx, table, w->rows.order, &w->columns));
  SR_TRY(sr__columns_labels(ctx, table, w->rows.order, &w->labels));
  sr__progress(ctx, "autocorrelation", 0, 3);
  SR_TRY(sr__lags_measure(ctx, &w->rows, &w->columns, &w->lags, &w->pooled));
  SR_TRY(sr__lags_measure(ctx, &w->rows, &w->labels, &w->label_lags, &w->label));
  sr__progress(ctx, "slow coordinate", 1, 3);
  SR_TRY(measure_slow(ctx, z, w));
  SR_TRY(sr__row_scale_measure(ctx, &w->rows, &w->columns, &w->labels,
                               w->has_slow ? w->slow_column.value : NULL, &w->scale));
  SR_TRY(sr__columns_residuals(ctx, &w->columns, &w->labels));
  SR_TRY(sr__lags_measure(ctx, &w->rows, &w->labels, &w->residual_lags, &w->residual));
  sr__progress(ctx, "slow coordinate", 3, 3);
cleanup:
  return status;
}

/* ---- choosing ----------------------------------------------------------------------------- */

static sr_scale scale_of(const sr__reach *reach, const char *method, int64_t rows, double z) {
  double width = z * sr__reach_noise(reach->careful, rows);
  if (reach->estimate <= 1.0) /* what would have been seen */
    return (sr_scale){method, 1.0, 1.0, 1.0 / (1.0 - fmin(0.9, 4.0 / sqrt((double)rows)))};
  return (sr_scale){method, reach->estimate, fmax(1.0, reach->estimate * sr__exp_portable(-width)),
                    reach->careful * sr__exp_portable(width)};
}

/* Runs of 2 to 4 rows have too few lags to see any memory in; rows that are groups of their own
 * have none inside. */
static bool runs_too_short(const sr__rows *rows) {
  int64_t longest = 0;
  for (int64_t g = 0; g < rows->groups; g++) {
    int64_t length = rows->group_start[g + 1] - rows->group_start[g];
    if (length > longest) longest = length;
  }
  return rows->groups > 1 && longest > 1 && longest < SR__SHORTEST_RUN;
}

/* The largest reach is T: what is missed by one of them is seen by another. */
static void trust_reach(sr_dependence *d, const time_work *w, double z) {
  static const char *const names[] = {"reach-features", "reach-sizes", "reach-labels"};
  static const char *const what[] = {"the ranks of the features",
                                     "how far the features lie from their middle", "the labels"};
  const sr__reach *found[] = {&w->scale.features, &w->scale.sizes, &w->scale.labels};
  int largest = 0;
  if (w->columns.count == 0 && w->labels.count == 0) return;
  if (runs_too_short(&w->rows)) {
    snprintf(d->reason, sizeof d->reason, "the groups are too short to measure memory inside them");
    return;
  }
  for (int k = 0; k < 3; k++) {
    if (k == 2 && w->labels.count == 0) continue;
    sr__dependence_add(d, scale_of(found[k], names[k], w->rows.n, z));
    if (found[k]->estimate > found[largest]->estimate) largest = k;
  }
  d->view.tmix = scale_of(&w->scale.all, names[largest], w->rows.n, z);
  d->view.tmix.estimate = found[largest]->estimate;
  d->view.tmix_careful = w->scale.all.careful;
  if (found[largest]->estimate > 1.0)
    snprintf(d->reason, sizeof d->reason,
             "the longest memory is that of %s: the autocorrelation still to come, over its value "
             "now",
             what[largest]);
  else
    snprintf(d->reason, sizeof d->reason,
             "no autocorrelation of features, of their sizes or of the labels is clear");
}

/* What other estimators say, from the sharpest to the plainest. */
static void list_others(sr_dependence *d, const time_work *w, double z) {
  const sr_scale scales[] = {w->transition.scale,
                             sr__lags_integrated_scale(&w->slow_lags, &w->slow, "slow-geyer", z),
                             sr__lags_integrated_scale(&w->lags, &w->pooled, "pooled-geyer", z),
                             sr__lags_first(&w->lags, "pooled-lag1", z),
                             sr__lags_integrated_scale(&w->label_lags, &w->label, "labels", z),
                             sr__lags_integrated_scale(&w->residual_lags, &w->residual, "residuals",
                                                       z)};
  for (size_t k = 0; k < sizeof scales / sizeof *scales; k++)
    if (isfinite(scales[k].estimate)) sr__dependence_add(d, scales[k]);
}

/* ---- telling ------------------------------------------------------------------------------ */

/* Dependence inside the groups alone leaves about iact * groups / n of the variance between them.
 * The T inside follows from the steps: they do not see the levels, which are a constant. */
static bool groups_differ(const sr_dependence *d, const time_work *w) {
  const sr_dependence_view *v = &d->view;
  if (v->groups < 2 || w->lags.count < 2) return false;
  double inside = (1.0 - v->group_share) / (1.0 - sr__lags_correlation(&w->lags, 1, -1));
  double expected = (2.0 * fmax(inside, 1.0) - 1.0) * (double)v->groups / (double)v->rows;
  return v->group_share > 0.1 + 2.0 * expected;
}

static void warn_rows(sr_dependence *d, const time_work *w) {
  if (w->rows.time_missing)
    sr__dependence_warn(d, "the time is missing in some rows; rows are taken in file order");
  if (w->rows.time_disordered)
    sr__dependence_warn(d,
                        "the time goes back in places, but rows are taken in file order; sort the "
                        "file by group and time first");
  if (w->rows.time_irregular)
    sr__dependence_warn(d, "the steps in time differ a lot; T counts rows, not time");
  if (d->view.rows < 200)
    sr__dependence_warn(d, "%lld rows are few: read the interval, not the estimate",
                        (long long)d->view.rows);
  if (w->columns.count > 0 && !isfinite(d->view.tmix.estimate))
    sr__dependence_warn(d,
                        "the runs are too short to measure dependence inside them (longest: "
                        "%lld rows)",
                        (long long)w->rows.longest_run);
  if (groups_differ(d, w))
    sr__dependence_warn(d,
                        "%.0f %% of the variance lies between the %lld groups: rows of one group "
                        "never become new to each other, so hold out whole groups",
                        100.0 * d->view.group_share, (long long)d->view.groups);
}

/* Memory that a look at the features' values alone would miss. */
static void warn_scale(sr_dependence *d, const time_work *w) {
  const sr__row_scale *s = &w->scale;
  double seen = fmax(s->features.estimate, 1.0);
  if (s->labels.estimate > SR__SLOW_LABELS * fmax(seen, s->sizes.estimate))
    sr__dependence_warn(d,
                        "the labels are slow: they remember %.9g rows, the features %.9g; rows "
                        "that are near each other share their class",
                        sr__three_digits(s->labels.estimate), sr__three_digits(seen));
  if (s->sizes.estimate > 3.0 * seen)
    sr__dependence_warn(d,
                        "the spread of the features comes in regimes: it remembers %.9g rows, the "
                        "values themselves %.9g",
                        sr__three_digits(s->sizes.estimate), sr__three_digits(seen));
  if (s->endless)
    sr__dependence_warn(d,
                        "the memory has no end in sight: the autocorrelation falls fast at first "
                        "and ever more slowly later, so T grows with the number of rows, and "
                        "intervals are rather too short");
  else if (s->quarters > 1.0 && s->all.estimate > 3.0 * s->quarters)
    sr__dependence_warn(d,
                        "T still grows with the number of rows (%.9g over all, %.9g over a "
                        "quarter of them): memory without end, jumps or drift; more rows would "
                        "give a longer T, and intervals are rather too short",
                        sr__three_digits(s->all.estimate), sr__three_digits(s->quarters));
}

static void warn_series(sr_dependence *d, const sr_table_view *table) {
  const sr_dependence_view *v = &d->view;
  if (isfinite(v->period))
    sr__dependence_warn(d,
                        "the autocorrelation comes back at lag %.0f: the rows have a season, which "
                        "T leaves out",
                        v->period);
  if (v->politis_white_saturated)
    sr__dependence_warn(d,
                        "the Politis-White rule ran into its cap: the block it asks for may be too "
                        "short");
  /* Two-sided 1 % for one feature of many, Student with 18 degrees of freedom. */
  if (fabs(v->drift_score) > 3.9 && fabs(v->drift) > 0.2)
    sr__dependence_warn(d,
                        "the mean of %s moves by %.2g standard deviations from the first rows to "
                        "the last (%.1f standard errors): the rows are not stationary",
                        table->feature_names && v->drift_feature >= 0
                            ? table->feature_names[v->drift_feature]
                            : "a feature",
                        v->drift, fabs(v->drift_score));
}

static sr_status keep_curves(sr_context *ctx, const time_work *w, sr_dependence *d) {
  sr_status status = SR_OK;
  int32_t pooled = w->lags.count, slow = w->slow_lags.count;
  int32_t count = pooled > slow ? pooled : slow;
  SR_NEW(ctx, d->lag, count);
  SR_NEW(ctx, d->correlation, count);
  SR_NEW(ctx, d->slow_correlation, count);
  for (int32_t i = 0; i < count; i++) {
    d->lag[i] = (double)sr__lag_at(i);
    d->correlation[i] = i < pooled ? sr__lags_correlation(&w->lags, i, -1) : NAN;
    d->slow_correlation[i] = i < slow ? sr__lags_correlation(&w->slow_lags, i, -1) : NAN;
  }
  d->view.lag_count = count;
  d->view.lag = d->lag;
  d->view.correlation = d->correlation;
  d->view.slow_correlation = d->slow_correlation;
cleanup:
  return status;
}

static sr_status keep_slow(sr_context *ctx, const time_work *w, sr_dependence *d) {
  sr_status status = SR_OK;
  const sr__transition_modes *t = &w->transition;
  if (!w->has_slow || !isfinite(t->lambda)) goto cleanup;
  SR_NEW(ctx, d->slow, w->rows.n);
  for (int64_t p = 0; p < w->rows.n; p++) d->slow[w->rows.order[p]] = w->eigenvector[p];
  d->view.slow = d->slow;
  d->view.lambda2 = 1.0 - t->lambda;
  d->view.eigenvalue_count = t->spectrum_count;
  memcpy(d->eigenvalue, t->spectrum, sizeof d->eigenvalue);
  d->view.implied_count = t->implied_count;
  memcpy(d->implied_lag, t->implied_lag, sizeof d->implied_lag);
  memcpy(d->implied_timescale, t->implied_timescale, sizeof d->implied_timescale);
cleanup:
  return status;
}

static sr_status keep_block_length(sr_context *ctx, const time_work *w, sr_dependence *d) {
  sr_status status = SR_OK;
  sr_politis_white length;
  if (!w->has_slow) goto cleanup;
  sr__centered_runs runs = {w->slow_column.value, w->rows.n, w->rows.piece, w->rows.piece_count};
  SR_TRY(sr__politis_white_runs(ctx, &runs, SR_POLITIS_WHITE_ARCH, &length));
  d->view.politis_white_stationary = length.stationary;
  d->view.politis_white_circular = length.circular;
  d->view.politis_white_saturated = length.saturated;
cleanup:
  return status;
}

sr_status sr__estimate_time(sr_context *ctx, const sr_table_view *table, double z,
                            sr_dependence *d) {
  sr_status status = SR_OK;
  time_work w = {0};
  sr__drift drift;
  sr_dependence_view *v = &d->view;
  SR_TRY(measure(ctx, table, z, &w));
  sr__warn_columns(d, table, &w.columns);
  d->free_warnings = v->warning_count;
  trust_reach(d, &w, z);
  list_others(d, &w, z);
  v->groups = w.rows.groups;
  v->iact_pooled = w.pooled.iact;
  v->iact = isfinite(w.slow.iact) ? w.slow.iact : w.pooled.iact;
  v->ess = isfinite(v->iact) ? (double)v->rows / fmax(v->iact, 1.0) : NAN;
  v->period = isfinite(w.scale.period)  ? w.scale.period
              : isfinite(w.slow.period) ? w.slow.period
                                        : w.pooled.period;
  SR_TRY(group_share(ctx, table, &w, &v->group_share));
  SR_TRY(keep_curves(ctx, &w, d));
  SR_TRY(keep_slow(ctx, &w, d));
  SR_TRY(keep_block_length(ctx, &w, d));
  SR_TRY(sr__drift_measure(ctx, &w.columns, &drift));
  v->drift = drift.change;
  v->drift_score = drift.score;
  v->drift_feature = drift.feature;
  warn_rows(d, &w);
  warn_scale(d, &w);
  warn_series(d, table);
cleanup:
  free_work(ctx, &w);
  return status;
}
