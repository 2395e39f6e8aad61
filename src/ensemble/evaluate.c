/* Naive and honest error, covariance of the members. */
#include <math.h>

#include "ensemble.h"

/* Too few judges would make the honest error that of a much smaller ensemble. */
enum { LEAST_JUDGES = 10, FOLD_MEMBERS_SHARE = 4, LEAST_FOLD_MEMBERS = 20 };

typedef struct evaluation_job {
  const sr__engine *engine;
  const sr_structure *structure;
  const sr_plan_options *plan;
  int32_t plan_parts;
  const sr__crew *crew;
  const sr_train_options *options;
  const sr__gate *gate;
  int32_t *naive, *honest; /* votes by row */
  uint8_t *blocked;        /* members x parts */
  sr__folds folds;         /* used where members leave no part out */
  sr__margins margins;
} evaluation_job;

/* ---- who may judge which part ------------------------------------------------------------- */

static void block_seen_parts(const evaluation_job *job, const sr_parts_view *parts) {
  for (int32_t j = 0; j < job->crew->members; j++) {
    uint8_t *blocked = job->blocked + (int64_t)j * parts->parts;
    const uint64_t *drawn = job->crew->drawn + j * job->crew->words;
    for (int64_t w = 0; w < job->crew->words; w++) {
      for (uint64_t bits = drawn[w]; bits; bits &= bits - 1)
        blocked[parts->part[w * 64 + __builtin_ctzll(bits)]] = 1;
    }
  }
}

/* Parts that touch: joined by an edge or, in a series, next to each other. */
static sr_status find_neighbours(sr_context *ctx, const sr_structure *s, uint8_t **touching) {
  sr_status status = SR_OK;
  const sr_parts_view *parts = sr_parts_get(s->parts);
  int64_t p_count = parts->parts;
  SR_NEW_ZERO(ctx, *touching, p_count * p_count);
  if (s->graph) {
    const sr_graph_view *graph = sr_graph_get(s->graph);
    for (int64_t i = 0; i < graph->nodes; i++) {
      for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++)
        (*touching)[parts->part[i] * p_count + parts->part[graph->neighbor[e]]] = 1;
    }
  } else if (sr__is_plain_series(s)) {
    for (int64_t i = 1; i < parts->nodes; i++) {
      (*touching)[parts->part[i] * p_count + parts->part[i - 1]] = 1;
      (*touching)[parts->part[i - 1] * p_count + parts->part[i]] = 1;
    }
  }
cleanup:
  return status;
}

static sr_status block_neighbours(sr_context *ctx, evaluation_job *job) {
  sr_status status = SR_OK;
  int64_t parts = sr_parts_get(job->structure->parts)->parts;
  uint8_t *touching = NULL, *wider = NULL;
  SR_TRY(find_neighbours(ctx, job->structure, &touching));
  SR_NEW(ctx, wider, parts);
  for (int32_t j = 0; j < job->crew->members; j++) {
    uint8_t *blocked = job->blocked + j * parts;
    memcpy(wider, blocked, (size_t)parts);
    for (int64_t p = 0; p < parts; p++) {
      for (int64_t q = 0; q < parts && !wider[p]; q++)
        wider[p] = blocked[q] && touching[p * parts + q];
    }
    memcpy(blocked, wider, (size_t)parts);
  }
cleanup:
  sr__free(ctx, touching);
  sr__free(ctx, wider);
  return status;
}

/* Whether nearly all rows lie in parts that enough members never saw. */
static bool parts_are_left_out(const evaluation_job *job, const sr_parts_view *parts) {
  int32_t members = job->crew->members;
  int32_t wanted = members / 10 < LEAST_JUDGES ? members / 10 : LEAST_JUDGES;
  if (wanted < 1) wanted = 1;
  int64_t covered = 0;
  for (int32_t p = 0; p < parts->parts; p++) {
    int32_t judges = 0;
    for (int32_t j = 0; j < members; j++) judges += !job->blocked[(int64_t)j * parts->parts + p];
    if (judges >= wanted) covered += parts->size[p];
  }
  return (double)covered >= 0.95 * (double)parts->nodes;
}

/* ---- votes -------------------------------------------------------------------------------- */

static sr__jury jury_of_members(const evaluation_job *job) {
  const sr_parts_view *parts = sr_parts_get(job->structure->parts);
  return (sr__jury){.engine = job->engine,
                    .crew = job->crew,
                    .rule = job->options->vote,
                    .gate = job->gate,
                    .count = job->engine->view->rows,
                    .part = parts->part,
                    .parts = parts->parts};
}

static sr_status judge_by_members(sr_context *ctx, evaluation_job *job) {
  sr_status status = SR_OK;
  sr__jury jury = jury_of_members(job);
  jury.naive = job->naive;
  jury.honest = job->honest;
  jury.blocked = job->blocked;
  SR_TRY(sr__margins_init(ctx, job->crew->members, &job->margins));
  jury.margins = &job->margins;
  SR_TRY(sr__jury_judge(ctx, &jury));
cleanup:
  return status;
}

static int32_t members_a_fold(const evaluation_job *job) {
  int32_t members = job->crew->members / FOLD_MEMBERS_SHARE;
  if (members < LEAST_FOLD_MEMBERS) members = LEAST_FOLD_MEMBERS;
  return members < job->crew->members ? members : job->crew->members;
}

/* An ensemble that never saw the fold, nor its margin, judges it. */
static sr_status judge_fold(sr_context *ctx, evaluation_job *job, int32_t fold) {
  sr_status status = SR_OK;
  int64_t rows = job->engine->view->rows, train_count, test_count;
  int32_t *train = NULL, *test = NULL;
  sr_plan *plan = NULL;
  sr__crew crew = {0};
  SR_NEW(ctx, train, rows);
  SR_NEW(ctx, test, rows);
  SR_TRY(sr__folds_rows(ctx, job->structure, &job->folds, fold, train, &train_count, test,
                        &test_count));
  SR_TRY(
      sr__subset_plan(ctx, job->structure, job->plan, job->plan_parts, train, train_count, &plan));
  sr__fit fit = {.plan = plan,
                 .subset = train,
                 .count = job->margins.members,
                 .stride = sr__fair_stride(sr_plan_get(plan).members),
                 .seed = job->options->seed,
                 .replicate = (uint64_t)fold + 1};
  if (fit.count > sr_plan_get(plan).members) fit.count = sr_plan_get(plan).members;
  SR_TRY(sr__crew_fit(ctx, job->engine, &fit, &crew));
  sr__jury jury = jury_of_members(job);
  jury.crew = &crew;
  jury.gate = NULL;
  jury.rule = job->options->vote == SR_VOTE_SOFT ? SR_VOTE_SOFT : SR_VOTE_HARD;
  jury.rows = test;
  jury.count = test_count;
  jury.honest = job->honest;
  jury.margins = &job->margins;
  SR_TRY(sr__jury_judge(ctx, &jury));
  sr__progress(ctx, "honest error", fold + 1, job->folds.folds);
cleanup:
  sr__crew_free(ctx, &crew);
  sr_plan_free(&plan);
  sr__free(ctx, train);
  sr__free(ctx, test);
  return status;
}

static sr_status judge_by_folds(sr_context *ctx, evaluation_job *job) {
  sr_status status = SR_OK;
  sr__jury jury = jury_of_members(job);
  jury.naive = job->naive;
  SR_TRY(sr__jury_judge(ctx, &jury));
  for (int64_t i = 0; i < job->engine->view->rows; i++) job->honest[i] = -1;
  SR_TRY(sr__folds_make(ctx, job->structure, job->options->folds, false, job->options->buffer,
                        job->options->seed, &job->folds));
  SR_TRY(sr__margins_init(ctx, members_a_fold(job), &job->margins));
  for (int32_t fold = 0; fold < job->folds.folds; fold++) SR_TRY(judge_fold(ctx, job, fold));
cleanup:
  return status;
}

/* ---- numbers ------------------------------------------------------------------------------ */

static double error_rate(const sr_table_view *view, const int32_t *vote, int64_t *judged) {
  int64_t wrong = 0;
  *judged = 0;
  for (int64_t i = 0; i < view->rows; i++) {
    if (view->label[i] < 0 || vote[i] < 0) continue;
    (*judged)++;
    wrong += vote[i] != view->label[i];
  }
  return *judged ? (double)wrong / (double)*judged : NAN;
}

static double baseline_error(const sr_class_report *report, int32_t classes, int64_t rows) {
  int64_t most = 0;
  for (int32_t c = 0; c < classes; c++) most = report[c].rows > most ? report[c].rows : most;
  return rows ? 1.0 - (double)most / (double)rows : NAN;
}

static sr_status report_classes(sr_context *ctx, const evaluation_job *job, sr_evaluation *to) {
  sr_status status = SR_OK;
  const sr_table_view *view = job->engine->view;
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
                               sr_ensemble *ensemble) {
  sr_status status = SR_OK;
  sr_evaluation *to = &ensemble->evaluation;
  const sr_parts_view *parts = sr_parts_get(job->structure->parts);
  const sr_table_view *view = job->engine->view;
  sr__block_errors errors = {0};
  const char *unit = by_folds ? job->folds.unit : job->structure->view.unit;
  ensemble->held_out = sr__strdup(ctx, unit);
  if (!ensemble->held_out) SR_TRY(SR_ERROR_MEMORY);
  to->held_out = ensemble->held_out;
  to->units = by_folds ? job->folds.blocks : parts->parts;
  to->folds = by_folds ? job->folds.folds : 0;
  to->buffer = by_folds ? job->folds.buffer : job->options->buffer > 0 ? job->options->buffer : 0;
  to->level = job->options->level;
  to->honest = error_rate(view, job->honest, &to->honest_rows);
  SR_TRY(sr__count_block_errors(ctx, view->label, job->honest, view->rows,
                                by_folds ? job->folds.block : parts->part, to->units, &errors));
  SR_TRY(sr__block_interval(ctx, &errors, to->level, job->options->seed, &to->honest_low,
                            &to->honest_high));
  SR_TRY(report_classes(ctx, job, to));
  report_margins(&job->margins, to);
cleanup:
  sr__block_errors_free(ctx, &errors);
  return status;
}

static sr_status report_importance(sr_context *ctx, const evaluation_job *job, bool by_folds,
                                   sr_evaluation *to) {
  sr_status status = SR_OK;
  const sr_parts_view *parts = sr_parts_get(job->structure->parts);
  double *importance = NULL;
  if (!job->engine->learner->copy_feature) return SR_OK;
  sr__jury jury = jury_of_members(job);
  if (!by_folds) jury.blocked = job->blocked;
  SR_NEW_ZERO(ctx, importance, job->engine->view->features);
  to->importance = importance;
  to->features = job->engine->view->features;
  SR_TRY(sr__importance(ctx, &jury, parts->parts, parts->part, job->options->seed, importance));
cleanup:
  return status;
}

sr_status sr__evaluate(sr_context *ctx, const sr__engine *engine, const sr_structure *structure,
                       const sr_plan_options *plan, int32_t plan_parts, const sr__crew *crew,
                       const sr_train_options *options, sr_ensemble *ensemble) {
  sr_status status = SR_OK;
  const sr_parts_view *parts = sr_parts_get(structure->parts);
  evaluation_job job = {.engine = engine,
                        .structure = structure,
                        .plan = plan,
                        .plan_parts = plan_parts,
                        .crew = crew,
                        .options = options,
                        .gate = ensemble->gate.parts ? &ensemble->gate : NULL};
  SR_NEW(ctx, job.naive, engine->view->rows);
  SR_NEW(ctx, job.honest, engine->view->rows);
  SR_NEW_ZERO(ctx, job.blocked, (int64_t)crew->members * parts->parts);
  block_seen_parts(&job, parts);
  if (options->buffer > 0) SR_TRY(block_neighbours(ctx, &job));
  bool by_folds = !parts_are_left_out(&job, parts) && strcmp(plan->name, "bags") != 0;
  SR_TRY(by_folds ? judge_by_folds(ctx, &job) : judge_by_members(ctx, &job));
  ensemble->evaluation.naive =
      error_rate(engine->view, job.naive, &ensemble->evaluation.naive_rows);
  SR_TRY(report_honest(ctx, &job, by_folds, ensemble));
  if (options->importance) SR_TRY(report_importance(ctx, &job, by_folds, &ensemble->evaluation));
  ensemble->view.evaluation = &ensemble->evaluation;
cleanup:
  sr__margins_free(ctx, &job.margins);
  sr__folds_free(ctx, &job.folds);
  sr__free(ctx, job.naive);
  sr__free(ctx, job.honest);
  sr__free(ctx, job.blocked);
  return status;
}
