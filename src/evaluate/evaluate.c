/* Naive and honest error, covariance of the members. */
#include <math.h>

#include "evaluate.h"

enum { FOLD_MEMBERS_SHARE = 4, LEAST_FOLD_MEMBERS = 20 };

typedef struct evaluation_job {
  const sr__evaluate_input *in;
  const sr_evaluate_options *options;
  uint64_t seed;
  int32_t *naive, *honest; /* votes by row */
  sr_folds *folds;
  sr__margins margins;
} evaluation_job;

void sr_evaluate_options_init(sr_evaluate_options *options) {
  *options = (sr_evaluate_options){.evaluate = 1, .importance = 1, .level = 0.95};
  sr_folds_options_init(&options->folds);
}

static sr__judging judging_of_members(const evaluation_job *job) {
  return (sr__judging){.prepared = job->in->prepared,
                       .members = job->in->members,
                       .rule = job->in->vote,
                       .part_weights = job->in->part_weights,
                       .count = job->in->prepared->view->rows};
}

/* ---- folds -------------------------------------------------------------------------------- */

/* A share of the members judges a fold, but not too few of them. */
static int32_t members_of_fold(int32_t members) {
  int32_t share = members / FOLD_MEMBERS_SHARE;
  if (share < LEAST_FOLD_MEMBERS) share = LEAST_FOLD_MEMBERS;
  return share < members ? share : members;
}

static int32_t members_of_folds(const sr__mix *mix) {
  int32_t count = 0;
  for (int32_t k = 0; k < mix->count; k++) count += members_of_fold(mix->entry[k].members);
  return count;
}

static sr_status fit_fold(sr_context *ctx, const evaluation_job *job, int32_t fold,
                          const sr__fold_rows *rows, sr__members *members) {
  sr_status status = SR_OK;
  const sr__mix *mix = job->in->mix;
  sr__members more = {0};
  for (int32_t k = 0; k < mix->count; k++) {
    const sr__mix_entry *entry = &mix->entry[k];
    sr__holdout holdout = {.structure = job->in->structure,
                           .prepared = job->in->prepared,
                           .plan = &entry->plan,
                           .plan_members = entry->members,
                           .count = members_of_fold(entry->members),
                           .seed = job->seed};
    SR_TRY(sr__holdout_fit(ctx, &holdout, fold, rows, &more));
    SR_TRY(sr__members_append(ctx, &more, entry->weight, members));
  }
cleanup:
  sr__members_free(ctx, &more);
  return status;
}

/* An ensemble that never saw the fold, nor its margin, judges it. */
static sr_status judge_fold(sr_context *ctx, evaluation_job *job, int32_t fold) {
  sr_status status = SR_OK;
  sr__fold_rows rows = {0};
  sr__members members = {0};
  SR_TRY(sr__fold_rows_new(ctx, job->folds, fold, &rows));
  SR_TRY(fit_fold(ctx, job, fold, &rows, &members));
  sr__judging judging = judging_of_members(job);
  judging.members = &members;
  judging.part_weights = NULL;
  judging.rule = job->in->vote == SR_VOTE_SOFT ? SR_VOTE_SOFT : SR_VOTE_HARD;
  judging.rows = rows.test;
  judging.count = rows.test_count;
  judging.vote = job->honest;
  judging.margins = &job->margins;
  SR_TRY(sr__judge_rows(ctx, &judging));
  sr__progress(ctx, "honest error", fold + 1, sr_folds_get(job->folds)->folds);
cleanup:
  sr__members_free(ctx, &members);
  sr__fold_rows_free(ctx, &rows);
  return status;
}

static sr_status judge_by_folds(sr_context *ctx, evaluation_job *job) {
  sr_status status = SR_OK;
  SR_TRY(sr__margins_init(ctx, members_of_folds(job->in->mix), &job->margins));
  for (int32_t fold = 0; fold < sr_folds_get(job->folds)->folds; fold++)
    SR_TRY(judge_fold(ctx, job, fold));
cleanup:
  return status;
}

/* ---- bags of the user's own --------------------------------------------------------------- */

/* Bags that name rows cannot be dealt on a fold: a row is judged by the members that drew nothing
 * of its unit nor of the margin around it. */
static sr_status judge_by_members(sr_context *ctx, evaluation_job *job) {
  sr_status status = SR_OK;
  const sr_folds_view *folds = sr_folds_get(job->folds);
  const sr__members *members = job->in->members;
  uint8_t *role = NULL, *barred = NULL;
  SR_NEW(ctx, role, folds->rows);
  SR_NEW_ZERO(ctx, barred, (int64_t)members->count * folds->units);
  for (int32_t u = 0; u < folds->units; u++) {
    for (int64_t i = 0; i < folds->rows; i++)
      role[i] = folds->unit_of_row[i] == u ? SR_ROLE_TEST : SR_ROLE_TRAIN;
    SR_TRY(sr__free_margin(ctx, job->in->structure, folds->buffer, role));
    for (int32_t j = 0; j < members->count; j++) {
      uint8_t *here = &barred[(int64_t)j * folds->units + u];
      for (int64_t i = 0; i < folds->rows && !*here; i++)
        *here = role[i] != SR_ROLE_TRAIN && sr__has_drawn(members, j, i);
    }
  }
  SR_TRY(sr__margins_init(ctx, members->count, &job->margins));
  sr__judging judging = judging_of_members(job);
  judging.unit = folds->unit_of_row;
  judging.units = folds->units;
  judging.barred = barred;
  judging.vote = job->honest;
  judging.margins = &job->margins;
  SR_TRY(sr__judge_rows(ctx, &judging));
cleanup:
  sr__free(ctx, role);
  sr__free(ctx, barred);
  return status;
}

/* ---- numbers ------------------------------------------------------------------------------ */

static double baseline_error(const sr_class_report *report, int32_t classes, int64_t rows) {
  int64_t most = 0;
  for (int32_t c = 0; c < classes; c++) most = report[c].rows > most ? report[c].rows : most;
  return rows ? 1.0 - (double)most / (double)rows : NAN;
}

static sr_status report_classes(sr_context *ctx, const evaluation_job *job, sr_evaluation *to) {
  sr_status status = SR_OK;
  const sr_table_view *view = job->in->prepared->view;
  sr_class_report *report = NULL;
  int64_t *named = NULL, *right = NULL;
  int32_t classes = view->classes.count;
  SR_NEW_ZERO(ctx, report, classes);
  to->by_class = report;
  to->classes = classes;
  SR_NEW_ZERO(ctx, named, classes);
  SR_NEW_ZERO(ctx, right, classes);
  for (int64_t i = 0; i < view->rows; i++) {
    if (view->label[i] < 0) continue;
    to->rows++;
    report[view->label[i]].rows++;
  }
  to->baseline = baseline_error(report, classes, to->rows);
  for (int32_t c = 0; c < classes; c++) report[c].rows = 0;
  for (int64_t i = 0; i < view->rows; i++) {
    if (view->label[i] < 0 || job->honest[i] < 0) continue;
    report[view->label[i]].rows++;
    named[job->honest[i]]++;
    right[view->label[i]] += job->honest[i] == view->label[i];
  }
  for (int32_t c = 0; c < classes; c++) {
    report[c].error = report[c].rows ? 1.0 - (double)right[c] / (double)report[c].rows : NAN;
    report[c].precision = named[c] ? (double)right[c] / (double)named[c] : NAN;
  }
cleanup:
  sr__free(ctx, named);
  sr__free(ctx, right);
  return status;
}

/* Mean over pairs of E[M_i M_j] - E[M_i] E[M_j]; exact where all members judge the same rows. */
static void report_margins(const sr__margins *m, sr_evaluation *to) {
  double mean_sum = 0.0, mean_square = 0.0, square = 0.0;
  int32_t judging = 0;
  for (int32_t j = 0; j < m->members; j++) {
    if (!m->member_count[j]) continue;
    double mean = m->member_sum[j] / (double)m->member_count[j];
    mean_sum += mean;
    mean_square += mean * mean;
    square += m->member_square[j] / (double)m->member_count[j];
    judging++;
  }
  to->judges = m->judged ? m->judges / (double)m->judged : 0.0;
  to->variance_of_member = judging ? (square - mean_square) / judging : NAN;
  to->covariance = to->variance_of_margin = to->effective_members = NAN;
  if (m->pair_count <= 0.0 || judging < 2) return;
  to->covariance = m->pair_sum / m->pair_count -
                   (mean_sum * mean_sum - mean_square) / (judging * (judging - 1.0));
  double rho = m->rho_sum / (double)m->rho_count;
  to->variance_of_margin = m->rho_square / (double)m->rho_count - rho * rho;
  if (to->variance_of_margin > 0.0)
    to->effective_members = to->variance_of_member / to->variance_of_margin;
}

static sr_status report_honest(sr_context *ctx, const evaluation_job *job, bool by_folds,
                               sr_evaluation *to) {
  sr_status status = SR_OK;
  const sr_table_view *view = job->in->prepared->view;
  const sr_folds_view *folds = sr_folds_get(job->folds);
  sr__unit_errors errors = {0};
  to->held_out = folds->unit;
  to->units = folds->units;
  to->folds = by_folds ? folds->folds : 0;
  to->buffer = folds->buffer;
  to->level = job->options->level;
  to->honest = sr__mean_loss(view, job->honest, &to->honest_rows);
  SR_TRY(sr__unit_errors_new(ctx, view, job->honest, folds->unit_of_row, folds->units, &errors));
  SR_TRY(sr__unit_interval(ctx, &errors, to->level, job->seed, &to->honest_low, &to->honest_high));
  SR_TRY(report_classes(ctx, job, to));
  report_margins(&job->margins, to);
cleanup:
  sr__unit_errors_free(ctx, &errors);
  return status;
}

static sr_status report_importance(sr_context *ctx, const evaluation_job *job, sr_evaluation *to) {
  sr_status status = SR_OK;
  const sr__prepared *prepared = job->in->prepared;
  double *importance = NULL;
  if (!prepared->learner->copy_feature) return SR_OK;
  sr__judging judging = judging_of_members(job);
  SR_NEW_ZERO(ctx, importance, prepared->view->features);
  to->importance = importance;
  to->features = prepared->view->features;
  SR_TRY(sr__importance(ctx, &judging, sr_parts_get(job->in->structure->parts), job->seed,
                        importance));
cleanup:
  return status;
}

static bool has_own_bags(const sr__mix *mix) {
  for (int32_t k = 0; k < mix->count; k++) {
    if (((const sr__scheme *)mix->entry[k].plan.method)->flags & SR_PLAN_OWN_BAGS) return true;
  }
  return false;
}

sr_status sr__evaluate(sr_context *ctx, const sr__evaluate_input *input,
                       const sr_evaluate_options *options, uint64_t seed,
                       sr_evaluation *evaluation) {
  sr_status status = SR_OK;
  sr_allocator allocator = sr__allocator(ctx);
  const sr_table_view *view = input->prepared->view;
  evaluation_job job = {.in = input, .options = options, .seed = seed};
  double start = sr_seconds();
  *evaluation = (sr_evaluation){0};
  SR_NEW(ctx, job.naive, view->rows);
  SR_NEW(ctx, job.honest, view->rows);
  for (int64_t i = 0; i < view->rows; i++) job.honest[i] = -1;
  SR_TRY(sr_folds_new(ctx, input->structure, &options->folds, seed, &job.folds));
  sr__judging judging = judging_of_members(&job);
  judging.vote = job.naive;
  SR_TRY(sr__judge_rows(ctx, &judging));
  evaluation->naive = sr__mean_loss(view, job.naive, &evaluation->naive_rows);
  bool by_folds = !has_own_bags(input->mix);
  SR_TRY(by_folds ? judge_by_folds(ctx, &job) : judge_by_members(ctx, &job));
  SR_TRY(report_honest(ctx, &job, by_folds, evaluation));
  if (options->importance) SR_TRY(report_importance(ctx, &job, evaluation));
  evaluation->seconds = sr_seconds() - start;
cleanup:
  sr__margins_free(ctx, &job.margins);
  sr_folds_free(&job.folds);
  sr__free(ctx, job.naive);
  sr__free(ctx, job.honest);
  if (status != SR_OK) sr__evaluation_free(&allocator, evaluation);
  return status;
}
