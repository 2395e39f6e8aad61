/* What an ensemble is worth: naive and honest error, by class, covariance, importance. */
#include <math.h>

#include "map_answer.h"
#include "trial.h"

void sr_evaluate_options_init(sr_evaluate_options *options) {
  *options = (sr_evaluate_options){.evaluate = 1, .importance = 1, .level = 0.95};
  sr_folds_options_init(&options->folds);
}

static sr__judging judging_of_members(const sr__evaluate_input *in) {
  return (sr__judging){.prepared = in->prepared,
                       .members = in->members,
                       .rule = in->vote,
                       .part_weights = in->part_weights,
                       .count = in->prepared->view->rows,
                       .offset = in->mix->offset};
}

/* ---- naive -------------------------------------------------------------------------------- */

/* Of a plan whose bags hold many rows fewer members may judge a row; they stand in for the others,
 * so that each plan of the mix keeps its weight. */
static sr_status weights_of_absent(sr_context *ctx, const sr__members *members, int64_t rows,
                                   float **weight) {
  sr_status status = SR_OK;
  int32_t at = 0;
  *weight = NULL;
  if (!members->weight) return SR_OK;
  SR_NEW(ctx, *weight, members->count);
  for (int32_t k = 0; k < members->record_count; k++) {
    int32_t count = members->record[k].members;
    int64_t drawn = 0;
    for (int64_t w = at * members->words; w < (at + count) * members->words; w++)
      drawn += __builtin_popcountll(members->drawn[w]);
    double absent = 1.0 - (double)drawn / ((double)rows * count);
    for (int32_t j = 0; j < count; j++, at++)
      (*weight)[at] = (float)((double)members->weight[at] / fmax(absent, 0.05));
  }
cleanup:
  return status;
}

/* The rows that are judged between the others: all, or so many of a large table, evenly taken, as
 * tell the error to a thousandth. */
static sr_status rows_between(sr_context *ctx, int64_t n, int32_t **rows, int64_t *count) {
  enum { MOST_BETWEEN = 250000 };
  sr_status status = SR_OK;
  *rows = NULL;
  *count = n;
  if (n <= MOST_BETWEEN) return SR_OK;
  *count = MOST_BETWEEN;
  SR_NEW(ctx, *rows, *count);
  for (int64_t k = 0; k < *count; k++) (*rows)[k] = (int32_t)(n * k / *count);
cleanup:
  return status;
}

/* Gives the votes by row, -1 where none was taken, to be freed; NULL where there are no members. */
static sr_status judge_naively(sr_context *ctx, const sr__evaluate_input *in, int32_t **votes,
                               sr_evaluation *to) {
  sr_status status = SR_OK;
  int32_t *vote = NULL, *rows = NULL;
  int64_t n = in->prepared->view->rows;
  float *weight = NULL;
  *votes = NULL;
  to->naive = NAN;
  if (!in->members) return SR_OK;
  SR_NEW(ctx, vote, n);
  for (int64_t i = 0; i < n; i++) vote[i] = -1;
  SR_TRY(weights_of_absent(ctx, in->members, n, &weight));
  sr__judging judging = judging_of_members(in);
  SR_TRY(rows_between(ctx, n, &rows, &judging.count));
  judging.rows = rows;
  judging.weight = weight;
  judging.vote = vote;
  SR_TRY(sr__judge_rows(ctx, &judging));
  to->naive = sr__mean_loss(in->prepared->view, vote, &to->naive_rows);
  *votes = vote;
  vote = NULL;
cleanup:
  sr__free(ctx, rows);
  sr__free(ctx, vote);
  sr__free(ctx, weight);
  return status;
}

/* ---- bags of the user's own --------------------------------------------------------------- */

/* Which members drew something of each unit or of the margin around it. */
static sr_status bar_members(sr_context *ctx, const sr__evaluate_input *in, uint8_t **barred) {
  sr_status status = SR_OK;
  const sr_folds_view *folds = sr_folds_get(in->folds);
  const sr__members *members = in->members;
  uint8_t *role = NULL;
  SR_NEW(ctx, role, folds->rows);
  SR_NEW_ZERO(ctx, *barred, (int64_t)members->count * folds->units);
  for (int32_t u = 0; u < folds->units; u++) {
    for (int64_t i = 0; i < folds->rows; i++)
      role[i] = folds->unit_of_row[i] == u ? SR_ROLE_TEST : SR_ROLE_TRAIN;
    SR_TRY(sr__free_margin(ctx, in->structure, folds->buffer, role));
    for (int32_t j = 0; j < members->count; j++) {
      uint8_t *here = &(*barred)[(int64_t)j * folds->units + u];
      for (int64_t i = 0; i < folds->rows && !*here; i++)
        *here = role[i] != SR_ROLE_TRAIN && sr__has_drawn(members, j, i);
    }
  }
cleanup:
  sr__free(ctx, role);
  return status;
}

/* Bags that name rows cannot be dealt on a fold: a row is judged by the members that drew nothing
 * of its unit nor of the margin around it. */
static sr_status judge_by_members(sr_context *ctx, const sr__evaluate_input *in, sr__judged *judged,
                                  sr_evaluation *to) {
  sr_status status = SR_OK;
  const sr_folds_view *folds = sr_folds_get(in->folds);
  const sr_table_view *view = in->prepared->view;
  uint8_t *barred = NULL;
  int32_t *vote = NULL;
  SR_NEW(ctx, vote, view->rows);
  *judged = (sr__judged){.stride = 1};
  SR_NEW(ctx, judged->row, view->rows);
  SR_NEW(ctx, judged->loss, view->rows);
  SR_NEW(ctx, judged->vote, view->rows);
  SR_TRY(bar_members(ctx, in, &barred));
  sr__judging judging = judging_of_members(in);
  judging.unit = folds->unit_of_row;
  judging.units = folds->units;
  judging.barred = barred;
  judging.vote = vote;
  SR_TRY(sr__judge_rows(ctx, &judging));
  SR_TRY(sr__covariance_of_members(ctx, &judging, to));
  for (int64_t i = 0; i < view->rows; i++) {
    double loss = sr__row_loss(view, vote, i);
    if (isnan(loss)) continue;
    judged->row[judged->count] = (int32_t)i;
    judged->loss[judged->count] = loss;
    judged->vote[judged->count++] = vote[i];
  }
cleanup:
  sr__free(ctx, barred);
  sr__free(ctx, vote);
  return status;
}

/* ---- by class ----------------------------------------------------------------------------- */

static double baseline_error(const sr_table_view *view, const sr_class_report *report,
                             int64_t rows) {
  int64_t most = 0;
  for (int32_t c = 0; c < view->classes.count; c++)
    most = report[c].rows > most ? report[c].rows : most;
  return rows ? 1.0 - (double)most / (double)rows : NAN;
}

static sr_status report_classes(sr_context *ctx, const sr_table_view *view,
                                const sr__judged *judged, sr_evaluation *to) {
  sr_status status = SR_OK;
  sr_class_report *report = NULL;
  int64_t *named = NULL, *right = NULL;
  double *loss = NULL;
  int32_t classes = view->classes.count;
  SR_NEW_ZERO(ctx, report, classes);
  to->by_class = report;
  to->classes = classes;
  SR_NEW_ZERO(ctx, named, classes);
  SR_NEW_ZERO(ctx, right, classes);
  SR_NEW_ZERO(ctx, loss, classes);
  for (int64_t i = 0; i < view->rows; i++) {
    if (view->label[i] < 0) continue;
    to->rows++;
    report[view->label[i]].rows++;
  }
  to->baseline = baseline_error(view, report, to->rows);
  for (int32_t c = 0; c < classes; c++) report[c].rows = 0;
  for (int64_t k = 0; k < judged->count; k++) {
    int32_t label = view->label[judged->row[k]];
    report[label].rows++;
    loss[label] += judged->loss[k];
    named[judged->vote[k]]++;
    right[label] += judged->vote[k] == label;
  }
  for (int32_t c = 0; c < classes; c++) {
    double mean = loss[c] / (double)report[c].rows;
    report[c].error = report[c].rows ? fmin(fmax(mean, 0.0), 1.0) : NAN;
    report[c].precision = named[c] ? (double)right[c] / (double)named[c] : NAN;
  }
cleanup:
  sr__free(ctx, named);
  sr__free(ctx, right);
  sr__free(ctx, loss);
  return status;
}

static sr_status report_importance(sr_context *ctx, const sr__evaluate_input *in, uint64_t seed,
                                   sr_evaluation *to) {
  sr_status status = SR_OK;
  double *importance = NULL;
  if (!in->prepared->learner->copy_feature || !in->trial || !in->trial->held.keep_members)
    return SR_OK;
  SR_NEW_ZERO(ctx, importance, in->prepared->view->features);
  to->importance = importance;
  to->features = in->prepared->view->features;
  SR_TRY(sr__importance(ctx, in->trial, seed, importance));
cleanup:
  return status;
}

sr_status sr__evaluate(sr_context *ctx, const sr__evaluate_input *input,
                       const sr_evaluate_options *options, uint64_t seed, sr__judged *judged,
                       sr_evaluation *evaluation) {
  sr_status status = SR_OK;
  sr_allocator allocator = sr__allocator(ctx);
  const sr_folds_view *folds = sr_folds_get(input->folds);
  double start = sr_seconds();
  int32_t *between = NULL;
  *evaluation = (sr_evaluation){.held_out = folds->unit,
                                .units = folds->units,
                                .folds = input->trial ? folds->folds : 0,
                                .buffer = folds->buffer,
                                .level = options->level,
                                .covariance = NAN,
                                .variance_of_margin = NAN,
                                .variance_of_member = NAN,
                                .effective_members = NAN,
                                .applicability_limit = NAN,
                                .reach = NAN,
                                .buffer_distance = NAN,
                                .outside = NAN,
                                .shared_rows = NAN,
                                .shared_parts = NAN,
                                .shared_law = NAN,
                                .gain_members = NAN,
                                .gain_bags = NAN,
                                .gain_place = NAN};
  *judged = (sr__judged){0};
  SR_TRY(judge_naively(ctx, input, &between, evaluation));
  if (input->trial)
    SR_TRY(sr__trial_losses(ctx, input->trial, judged));
  else
    SR_TRY(judge_by_members(ctx, input, judged, evaluation));
  evaluation->honest_rows = judged->count;
  SR_TRY(sr__look_forward(ctx, input, options, seed, evaluation));
  if (input->structure->map && input->trial)
    SR_TRY(sr__answer_map(ctx, input, options, seed, judged, between, evaluation));
  else
    SR_TRY(sr__answer_questions(ctx, input, options, judged, evaluation));
  SR_TRY(report_classes(ctx, input->prepared->view, judged, evaluation));
  SR_TRY(sr__measure_held(ctx, input->prepared->view, folds, judged, options->keep_held_rows,
                          evaluation));
  if (input->trial) SR_TRY(sr__covariance(ctx, input->trial, evaluation));
  if (input->trial) SR_TRY(sr__members_curve(ctx, input->trial, judged, evaluation));
  if (options->importance) SR_TRY(report_importance(ctx, input, seed, evaluation));
  if (input->trial) sr__trial_forget_members(ctx, input->trial, true);
  if (options->importance && input->trial)
    SR_TRY(sr__shared_covariance(ctx, input->trial, input->mix, seed, evaluation));
  evaluation->seconds = sr_seconds() - start;
cleanup:
  sr__free(ctx, between);
  if (status != SR_OK) {
    sr__judged_free(ctx, judged);
    sr__evaluation_free(&allocator, evaluation);
  }
  return status;
}
