/* What anybody's predictions are worth, on rows that depend on each other. */
#include <math.h>
#include <specroute/stats.h>

#include "data/dictionary.h"
#include "dependence/reach.h"
#include "evaluate.h"
#include "interval.h"

/* Below, an interval would be a guess. */
enum { LEAST_SPANS = 5, LEAST_UNITS = 6 };

static const sr_option judge_options[] = {SR_REAL(sr_judge_options, level, "0.95", 0.01, 0.999,
                                                  "probability of the interval"),
                                          SR_OPTIONS_END};

const sr_option *sr_judge_option_list(void) { return judge_options; }

void sr_judge_options_init(sr_judge_options *options) {
  *options = (sr_judge_options){0};
  sr_options_init(judge_options, options);
}

/* ---- which rows are judged ----------------------------------------------------------------- */

/* Losses of the rows that have a class and a prediction, in order. */
typedef struct judged {
  int64_t count;
  int64_t *row; /* of the table */
  double *loss;
  int32_t *vote; /* of every row of the table; -1: none */
} judged;

static void judged_free(sr_context *ctx, judged *j) {
  sr__free(ctx, j->row);
  sr__free(ctx, j->loss);
  sr__free(ctx, j->vote);
}

static int32_t largest_share(const float *share, int32_t classes) {
  int32_t best = 0;
  for (int32_t c = 0; c < classes; c++) {
    if (isnan(share[c])) return -1;
    if (share[c] > share[best]) best = c;
  }
  return best;
}

static sr_status check_row(sr_context *ctx, const sr_predictions *given, int32_t classes,
                           int64_t i) {
  if (given->label && (given->label[i] < -1 || given->label[i] >= classes))
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "the prediction of row %lld is class %d, expected 0 to %d, or -1 for none",
                    (long long)i, given->label[i], classes - 1);
  for (int32_t c = 0; given->proba && c < classes; c++) {
    float share = given->proba[i * classes + c];
    if (!(share >= 0.0f && share <= 1.0f) && !isnan(share))
      return sr__fail(ctx, SR_ERROR_ARGUMENT,
                      "the probability of class %d in row %lld is %g, expected 0 to 1", c,
                      (long long)i, (double)share);
  }
  return SR_OK;
}

static sr_status collect(sr_context *ctx, const sr_table_view *view, const sr_predictions *given,
                         judged *j) {
  sr_status status = SR_OK;
  int32_t classes = view->classes.count;
  SR_NEW(ctx, j->vote, view->rows);
  SR_NEW(ctx, j->row, view->rows);
  SR_NEW(ctx, j->loss, view->rows);
  for (int64_t i = 0; i < view->rows; i++) {
    SR_TRY(check_row(ctx, given, classes, i));
    j->vote[i] = given->proba ? largest_share(given->proba + i * classes, classes) : 0;
    if (given->label && j->vote[i] >= 0) j->vote[i] = given->label[i];
    double loss = sr__row_loss(view, j->vote, i);
    if (isnan(loss)) continue;
    j->row[j->count] = i;
    j->loss[j->count++] = loss;
  }
  if (j->count == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "no row has both a class and a prediction"));
cleanup:
  return status;
}

/* ---- the error ---------------------------------------------------------------------------- */

/* Losses of units that are held out together. */
static sr_status judge_units(sr_context *ctx, const sr_structure *structure, const judged *j,
                             sr_judgment *to) {
  sr_status status = SR_OK;
  const sr_parts_view *parts = sr_parts_get(structure->parts);
  double *loss = NULL, *rows = NULL;
  sr__interval interval;
  int32_t present = 0;
  SR_NEW_ZERO(ctx, loss, parts->parts);
  SR_NEW_ZERO(ctx, rows, parts->parts);
  for (int64_t i = 0; i < j->count; i++) {
    int32_t unit = parts->part[j->row[i]];
    loss[unit] += j->loss[i];
    rows[unit]++;
  }
  for (int32_t u = 0; u < parts->parts; u++) {
    if (rows[u] == 0.0) continue;
    loss[present] = loss[u];
    rows[present++] = rows[u];
  }
  to->unit = structure->view.unit;
  to->units = present;
  /* an order that tells nothing was not denied by the user: rows may depend on each other all the
   * same */
  bool unknown = structure->rank && !structure->graph;
  if (present >= LEAST_UNITS && !unknown) {
    sr__interval_of_units(loss, rows, present, 1.0, to->level, &interval);
    to->low = interval.low;
    to->high = interval.high;
  }
cleanup:
  sr__free(ctx, loss);
  sr__free(ctx, rows);
  return status;
}

/* Losses in order; they may remember longer than the rows do. */
static sr_status judge_in_order(sr_context *ctx, const judged *j, sr_judgment *to) {
  sr_status status = SR_OK;
  sr__reach_plan plan = {0};
  sr__reach reach;
  sr__interval interval;
  int64_t start[2] = {0, j->count};
  SR_TRY(sr__reach_plan_new(ctx, &(sr__runs){1, start}, &plan));
  SR_TRY(sr__reach_measure(ctx, &plan, j->loss, NULL, (sr__reach_asked){sr__reach_clear(1), false},
                           &reach));
  to->unit = SR_UNIT_ROW;
  if (isnan(to->tmix)) goto cleanup; /* no interval without T */
  to->tmix = fmax(to->tmix, reach.careful);
  double spans = (double)j->count / to->tmix;
  to->units = (int32_t)spans;
  if (spans >= LEAST_SPANS) {
    sr__interval_in_order(j->loss, j->count, to->tmix, 1.0, to->level, &interval);
    to->low = interval.low;
    to->high = interval.high;
  }
cleanup:
  sr__reach_plan_free(ctx, &plan);
  return status;
}

/* Wilson's interval: what it would be were the rows independent. */
static void judge_naively(const judged *j, sr_judgment *to) {
  double n = (double)j->count, z = sr_normal_quantile(0.5 + 0.5 * to->level);
  double e = to->error, middle = (e + 0.5 * z * z / n) / (1.0 + z * z / n);
  double half = z * sqrt(e * (1.0 - e) / n + 0.25 * z * z / (n * n)) / (1.0 + z * z / n);
  to->naive_low = fmax(0.0, middle - half);
  to->naive_high = fmin(1.0, middle + half);
}

static sr_status measure_baseline(sr_context *ctx, const sr_table_view *view, const judged *j,
                                  double *baseline) {
  sr_status status = SR_OK;
  int64_t *rows = NULL, most = 0;
  SR_NEW_ZERO(ctx, rows, view->classes.count);
  for (int64_t i = 0; i < j->count; i++) {
    int64_t here = ++rows[view->label[j->row[i]]];
    if (here > most) most = here;
  }
  *baseline = 1.0 - (double)most / (double)j->count;
cleanup:
  sr__free(ctx, rows);
  return status;
}

sr_status sr_judge(sr_context *ctx, const sr_table *table, const sr_structure *structure,
                   const sr_predictions *predictions, const sr_judge_options *options,
                   sr_judgment *judgment) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  sr_judge_options defaults;
  judged j = {0};
  sr_judge_options_init(&defaults);
  if (!options) options = &defaults;
  *judgment = (sr_judgment){.level = options->level, .low = NAN, .high = NAN};
  SR_TRY(sr__options_check(ctx, "judge", judge_options, options));
  if (!view->label) SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the table has no classes to judge by"));
  if (predictions->value)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "predictions are numbers; only those of classes can be judged so far"));
  if (!predictions->label && !predictions->proba)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "predictions need classes, probabilities or both"));
  if (structure->view.rows != view->rows)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "the structure is of %lld rows, the table has %lld",
                    (long long)structure->view.rows, (long long)view->rows));
  SR_TRY(collect(ctx, view, predictions, &j));
  judgment->rows = j.count;
  judgment->tmix = structure->view.tmix_careful;
  judgment->error = sr_mean(j.count, j.loss);
  SR_TRY(measure_baseline(ctx, view, &j, &judgment->baseline));
  judge_naively(&j, judgment);
  SR_TRY(sr__structure_is_series(structure) ? judge_in_order(ctx, &j, judgment)
                                            : judge_units(ctx, structure, &j, judgment));
  if (sr__interval_says_nothing(judgment->low, judgment->high))
    judgment->low = judgment->high = NAN;
  sr_metrics_input all = {view->rows, view->classes.count, view->label, j.vote, predictions->proba};
  SR_TRY(sr_metrics_compute(ctx, &all, &judgment->metrics, options->confusion));
  judgment->classes = view->classes;
  judgment->confusion = options->confusion;
cleanup:
  judged_free(ctx, &j);
  return status;
}

/* ---- an ensemble on new rows ---------------------------------------------------------------- */

/* The classes of the model first, then those that it never saw; `label` gets the table's rows in
 * these codes. Names live as long as model and table. */
static sr_status join_classes(sr_context *ctx, const sr_dictionary *model,
                              const sr_table_view *view, const char **names, int32_t *classes,
                              int32_t *label) {
  sr_status status = SR_OK;
  int32_t *code = NULL;
  *classes = model->count;
  SR_TRY(sr__classes_match(ctx, *model, view->classes, &code));
  for (int32_t c = 0; c < model->count; c++) names[c] = model->names[c];
  for (int32_t c = 0; c < view->classes.count; c++) {
    if (code[c] >= 0) continue;
    names[*classes] = view->classes.names[c];
    code[c] = (*classes)++;
  }
  for (int64_t i = 0; i < view->rows; i++)
    label[i] = view->label[i] < 0 ? -1 : code[view->label[i]];
cleanup:
  sr__free(ctx, code);
  return status;
}

static void widen_shares(const float *share, int64_t rows, int32_t from, int32_t to, float *wide) {
  for (int64_t i = 0; i < rows; i++)
    for (int32_t c = 0; c < to; c++) wide[i * to + c] = c < from ? share[i * from + c] : 0.0f;
}

sr_status sr_evaluate(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *table,
                      const sr_structure *structure, const sr_judge_options *options,
                      sr_judgment *judgment) {
  sr_status status = SR_OK;
  sr_table_view view = *sr_table_get(table);
  const sr_dictionary *known = &sr_ensemble_get(ensemble)->classes;
  sr_structure *own = NULL;
  sr_table *joined = NULL;
  const char **names = NULL;
  int32_t *label = NULL, *vote = NULL, classes = 0;
  float *share = NULL, *wide = NULL;
  sr_judge_options asked;
  sr_judge_options_init(&asked);
  if (options) asked.level = options->level; /* the classes that are joined here are not theirs */
  *judgment = (sr_judgment){0};
  if (!view.label) SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the table has no classes to judge by"));
  SR_NEW(ctx, names, (int64_t)known->count + view.classes.count);
  SR_NEW(ctx, label, view.rows);
  SR_NEW(ctx, vote, view.rows);
  SR_NEW(ctx, share, view.rows * known->count);
  SR_TRY(join_classes(ctx, known, &view, names, &classes, label));
  SR_TRY(sr_ensemble_predict(ctx, ensemble, table, vote, share));
  SR_NEW(ctx, wide, view.rows * classes);
  widen_shares(share, view.rows, known->count, classes, wide);
  if (!structure) SR_TRY(sr_structure_estimate(ctx, table, NULL, 1, &own));
  view.label = label;
  view.classes = (sr_dictionary){classes, names};
  SR_TRY(sr_table_wrap(ctx, &view, &joined));
  sr_predictions predictions = {.label = vote, .proba = wide};
  SR_TRY(sr_judge(ctx, joined, structure ? structure : own, &predictions, &asked, judgment));
  judgment->classes = (sr_dictionary){0};
cleanup:
  sr_table_free(&joined);
  sr_structure_free(&own);
  sr__free(ctx, names);
  sr__free(ctx, label);
  sr__free(ctx, vote);
  sr__free(ctx, share);
  sr__free(ctx, wide);
  return status;
}
