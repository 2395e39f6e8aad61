/* What the losses of held-out rows answer, and what they do not.
 *
 * Each question gets a number with an interval, or a sentence that says why there is none. */
#include <math.h>
#include <specroute/stats.h>

#include "core/maths.h"
#include "core/text.h"
#include "dependence/reach.h"
#include "interval.h"
#include "trial.h"

enum { LEAST_SPANS = 5, ROUGH_SPANS = 20, LEAST_UNITS = 6, LEAST_CLASS_FOLDS = 3, NEXT_SHARE = 20 };
enum { SENTENCES = 1024, NAMED_CLASSES = 3 };
#define WIDEN_ROWS 2.1   /* on the variance of the error between the rows of the table */
#define CLEAR_DRIFT 0.99 /* level at which later folds must be worse, or better */

const char *sr_question_name(sr_question_kind kind) {
  static const char *const name[] = {"rows",   "elsewhere", "next",  "future",  "groups",
                                     "pixels", "fields",    "areas", "regions", "use"};
  return name[kind];
}

typedef struct question_job {
  const sr__evaluate_input *in;
  const sr_folds_view *folds;
  const sr_evaluate_options *options;
  const sr__judged *judged;
  sr_evaluation *to;
  bool by_group, in_order;
  double *unit_loss, *unit_rows; /* per unit of the folds */
  double tmix;                   /* careful, in judged rows */
  sr__interval mean;
  bool unknown; /* T, a class elsewhere, what the order means: nothing can be said of other rows */
  char text[SENTENCES];
} question_job;

static void say(question_job *job, const char *format, ...) SR_PRINTF(2, 3);
static void say(question_job *job, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sr__add_sentence(job->text, sizeof job->text, format, arguments);
  va_end(arguments);
}

/* ---- the mean ----------------------------------------------------------------------------- */

bool sr__losses_in_order(const sr_structure *structure, const sr_folds_view *folds) {
  return folds->unit != SR_UNIT_GROUP && !structure->map &&
         (sr__structure_is_series(structure) || structure->rank);
}

sr_status sr__scale_of_losses(sr_context *ctx, const sr_structure *structure, const double *loss,
                              int64_t count, int64_t stride, double *tmix) {
  sr_status status = SR_OK;
  sr__reach_plan plan = {0};
  sr__reach reach;
  int64_t start[2] = {0, count};
  *tmix = fmax(1.0, structure->scale_careful / (double)stride);
  SR_TRY(sr__reach_plan_new(ctx, &(sr__runs){1, start}, &plan));
  SR_TRY(sr__reach_measure(ctx, &plan, loss, NULL, (sr__reach_asked){sr__reach_clear(1), false},
                           &reach));
  *tmix = fmax(*tmix, reach.careful);
cleanup:
  sr__reach_plan_free(ctx, &plan);
  return status;
}

static sr_status find_scale(sr_context *ctx, question_job *job) {
  sr_status status = SR_OK;
  const sr__judged *judged = job->judged;
  const sr_structure *structure = job->in->structure;
  job->tmix = fmax(1.0, structure->scale_careful / (double)judged->stride);
  if (job->in_order)
    SR_TRY(sr__scale_of_losses(ctx, structure, judged->loss, judged->count, judged->stride,
                               &job->tmix));
  job->to->tmix_careful = isnan(structure->view.tmix) ? NAN : job->tmix * (double)judged->stride;
cleanup:
  return status;
}

static int32_t units_judged(const question_job *job) {
  int32_t count = 0;
  for (int32_t u = 0; u < job->folds->units; u++) count += job->unit_rows[u] > 0.0;
  return count;
}

static bool rows_are_sorted(const sr_table_view *view) {
  int64_t runs = 1;
  int32_t last = -1;
  for (int64_t i = 0; i < view->rows; i++) {
    if (view->label[i] < 0 || view->label[i] == last) continue;
    runs += last >= 0;
    last = view->label[i];
  }
  return view->classes.count > 1 && runs <= 2 * view->classes.count;
}

/* A class that few folds hold is not known elsewhere. */
static sr_status find_confined(sr_context *ctx, question_job *job, bool *confined) {
  sr_status status = SR_OK;
  const sr_table_view *view = job->in->prepared->view;
  uint8_t *seen = NULL;
  int32_t named = 0, folds = job->folds->folds;
  int32_t least = folds < LEAST_CLASS_FOLDS ? folds : LEAST_CLASS_FOLDS;
  SR_NEW_ZERO(ctx, seen, (int64_t)view->classes.count * folds);
  for (int64_t i = 0; i < view->rows; i++)
    if (view->label[i] >= 0)
      seen[(int64_t)view->label[i] * folds + job->folds->fold_of_unit[job->folds->unit_of_row[i]]] =
          1;
  for (int32_t c = 0; c < view->classes.count; c++) {
    int32_t count = 0;
    for (int32_t f = 0; f < folds; f++) count += seen[(int64_t)c * folds + f];
    if (count == 0 || count >= least) continue;
    *confined = true;
    if (named++ < NAMED_CLASSES)
      say(job, "Class %s occurs in %d of %d folds: how it looks elsewhere is not known.",
          view->classes.names[c], count, folds);
  }
cleanup:
  sr__free(ctx, seen);
  return status;
}

/* Takes an interval back that is nearly as wide as all there is. */
static void keep_what_tells(question_job *job, double *low, double *high) {
  if (!sr__interval_says_nothing(*low, *high)) return;
  say(job, "It cannot be told: the %g %% interval would reach from %.2f to %.2f.",
      100.0 * job->options->level, *low, *high);
  *low = *high = NAN;
}

static sr_status judge_mean(sr_context *ctx, question_job *job) {
  sr_status status = SR_OK;
  double widen = job->in->trial ? job->in->trial->widen : SR__WIDEN;
  double level = job->options->level, n = (double)job->judged->count;
  bool refused = false, unknown = false;
  int32_t units = units_judged(job);
  if (job->in_order)
    sr__interval_in_order(job->judged->loss, job->judged->count, job->tmix, widen, level,
                          &job->mean);
  else
    sr__interval_of_units(job->unit_loss, job->unit_rows, job->folds->units, widen, level,
                          &job->mean);
  sr__interval_carried(job->judged->way, n, level, &job->mean);
  double spans = n / job->tmix, rows = n * (double)job->judged->stride;
  /* with the graph "none" the user has said that the order means nothing */
  bool order_is_denied = job->in->structure->rank && job->in->structure->graph;
  if (!job->by_group && !order_is_denied && rows_are_sorted(job->in->prepared->view)) {
    say(job,
        "The file is sorted by class: its order tells nothing about time; give the rows in "
        "the order in which they were taken, or a group column.");
    unknown = true;
  } else if (job->in_order && isnan(job->to->tmix_careful)) {
    say(job, "T cannot be told from these rows, so no interval can be given; give T (--tmix).");
    unknown = true;
  } else if (job->in_order && spans < LEAST_SPANS) {
    say(job, "%.0f rows are %.1f spans of %.0f rows, fewer than %d: no interval can be given.",
        rows, spans, job->to->tmix_careful, LEAST_SPANS);
    refused = true;
  } else if (job->in_order && spans < ROUGH_SPANS) {
    say(job, "%.0f rows are only %.0f spans of %.0f rows: the interval is rough.", rows, spans,
        job->to->tmix_careful);
  } else if (!job->in_order && units < LEAST_UNITS) {
    say(job, "%d %ss are fewer than %d: no interval can be given.", units,
        sr_unit_name(job->folds->unit), LEAST_UNITS);
    refused = true;
  }
  SR_TRY(find_confined(ctx, job, &unknown));
  job->unknown = unknown;
  if (refused || unknown) job->mean.low = job->mean.high = NAN;
cleanup:
  return status;
}

/* ---- drift -------------------------------------------------------------------------------- */

/* The line through the folds' errors in order of time. */
static sr_status look_for_drift(sr_context *ctx, question_job *job) {
  sr_status status = SR_OK;
  double *error = NULL, *rows = NULL;
  int32_t folds = job->folds->folds;
  sr__outlook outlook;
  SR_NEW_ZERO(ctx, error, folds);
  SR_NEW_ZERO(ctx, rows, folds);
  for (int32_t u = 0; u < job->folds->units; u++) {
    error[job->folds->fold_of_unit[u]] += job->unit_loss[u];
    rows[job->folds->fold_of_unit[u]] += job->unit_rows[u];
  }
  if (!job->in_order || folds < 5) goto cleanup;
  for (int32_t f = 0; f < folds; f++) {
    if (rows[f] <= 0.0) goto cleanup;
    error[f] /= rows[f];
  }
  sr__outlook_of(error, folds, job->options->level, &outlook);
  if (fabs(outlook.slope) > sr_student_quantile(0.5 + 0.5 * CLEAR_DRIFT, folds - 2.0))
    say(job, "Later folds are clearly %s: there is drift%s.",
        outlook.slope > 0.0 ? "worse" : "better",
        job->options->forward ? ", read the future" : ", ask for the future (--forward)");
cleanup:
  sr__free(ctx, error);
  sr__free(ctx, rows);
  return status;
}

/* ---- the questions ------------------------------------------------------------------------ */

static sr_status add_question(sr_context *ctx, question_job *job, sr_question question) {
  sr_status status = SR_OK;
  sr_question *list = (sr_question *)job->to->questions;
  char *reason = NULL;
  if (*job->text) {
    reason = sr__strdup(ctx, job->text);
    if (!reason) SR_TRY(SR_ERROR_MEMORY);
  }
  job->text[0] = '\0';
  question.reason = reason;
  question.buffer = NAN; /* a distance, of maps alone */
  list[job->to->question_count++] = question;
cleanup:
  return status;
}

/* New rows among those that are there: the members that did not draw a row judge it. */
static sr_status ask_rows(sr_context *ctx, question_job *job) {
  sr_evaluation *e = job->to;
  double n = (double)e->naive_rows, p = e->naive;
  if (!job->in->members || !isfinite(p)) return SR_OK;
  double q = fmin(fmax(p, 0.5 / n), 1.0 - 0.5 / n), z = sr_normal_quantile(0.5 + 0.5 * e->level);
  double center = sr__log_portable(q / (1.0 - q)),
         step = z * sqrt(WIDEN_ROWS / (n * q * (1.0 - q)));
  double low = 1.0 / (1.0 + sr__exp_portable(step - center)),
         high = 1.0 / (1.0 + sr__exp_portable(-step - center));
  keep_what_tells(job, &low, &high);
  return add_question(ctx, job,
                      (sr_question){.kind = SR_QUESTION_ROWS,
                                    .estimate = p,
                                    .low = low,
                                    .high = high,
                                    .next_low = NAN,
                                    .next_high = NAN,
                                    .units = (int32_t)fmin(n, INT32_MAX),
                                    .distance = 1.0});
}

static sr_status ask_mean(sr_context *ctx, question_job *job) {
  sr_status status = SR_OK;
  sr_evaluation *e = job->to;
  SR_TRY(judge_mean(ctx, job));
  keep_what_tells(job, &job->mean.low, &job->mean.high);
  SR_TRY(look_for_drift(ctx, job));
  e->honest = job->mean.estimate;
  e->honest_low = job->mean.low;
  e->honest_high = job->mean.high;
  e->degrees = job->mean.degrees;
  SR_TRY(
      add_question(ctx, job,
                   (sr_question){.kind = job->by_group ? SR_QUESTION_GROUPS : SR_QUESTION_ELSEWHERE,
                                 .estimate = e->honest,
                                 .low = e->honest_low,
                                 .high = e->honest_high,
                                 .next_low = NAN,
                                 .next_high = NAN,
                                 .units = job->by_group ? job->folds->units : job->folds->folds,
                                 .distance =
                                     job->in_order ? (double)job->folds->buffer + 1.0 : NAN}));
cleanup:
  return status;
}

/* Bags of one's own may leave nobody to judge. */
static sr_status refuse_all(sr_context *ctx, question_job *job) {
  sr_evaluation *e = job->to;
  e->honest = e->honest_low = e->honest_high = e->degrees = NAN;
  e->tmix_careful = job->in->structure->view.tmix_careful;
  say(job, "Every member drew rows of every unit or beside it: nobody is left to judge.");
  return add_question(ctx, job,
                      (sr_question){.kind =
                                        job->by_group ? SR_QUESTION_GROUPS : SR_QUESTION_ELSEWHERE,
                                    .estimate = NAN,
                                    .low = NAN,
                                    .high = NAN,
                                    .next_low = NAN,
                                    .next_high = NAN,
                                    .distance = NAN});
}

/* Errors of stretches of `length` judged rows, the last one whole; or of groups. */
static int32_t next_units(const question_job *job, int64_t length, double *error) {
  int32_t units = 0;
  if (!job->in_order) {
    for (int32_t u = 0; u < job->folds->units; u++)
      if (job->unit_rows[u] > 0.0) error[units++] = job->unit_loss[u] / job->unit_rows[u];
    return units;
  }
  units = (int32_t)(job->judged->count / length);
  int64_t begin = job->judged->count - units * length;
  for (int32_t u = 0; u < units; u++) {
    error[u] = 0.0;
    for (int64_t k = 0; k < length; k++) error[u] += job->judged->loss[begin + u * length + k];
    error[u] /= (double)length;
  }
  return units;
}

static sr_status ask_next(sr_context *ctx, question_job *job) {
  sr_status status = SR_OK;
  sr_evaluation *e = job->to;
  double *error = NULL, low = NAN, high = NAN, n = (double)job->judged->count;
  int64_t stride = job->judged->stride, length = job->options->next / stride;
  if (job->options->next == 0) length = job->judged->count / NEXT_SHARE;
  if (length < 1) length = 1;
  int64_t most = job->judged->count / length;
  SR_NEW(ctx, error, most > job->folds->units ? most : job->folds->units);
  int32_t units = next_units(job, length, error);
  double free = units - 1.0;
  if (job->in_order) free = fmin(free, fmax(floor(n / (2.0 * job->tmix)), 3.0));
  if (job->unknown)
    say(job, "What keeps the mean from being told keeps the next one from it.");
  else if (units >= LEAST_UNITS)
    sr__interval_next(e->honest, error, units, free, e->level, &low, &high);
  else
    say(job, "%d %s are fewer than %d: nothing can be said of the next one.", units,
        job->in_order ? "stretches" : "units", LEAST_UNITS);
  keep_what_tells(job, &low, &high);
  e->next_rows = job->in_order ? length * stride : 0;
  for (int32_t k = 0; k < e->question_count; k++) {
    sr_question *q = (sr_question *)&e->questions[k];
    if (q->kind != SR_QUESTION_ELSEWHERE && q->kind != SR_QUESTION_GROUPS) continue;
    q->next_low = low;
    q->next_high = high;
  }
  SR_TRY(add_question(ctx, job,
                      (sr_question){.kind = SR_QUESTION_NEXT,
                                    .estimate = e->honest,
                                    .low = low,
                                    .high = high,
                                    .next_low = low,
                                    .next_high = high,
                                    .units = units,
                                    .distance =
                                        job->in_order ? (double)job->folds->buffer + 1.0 : NAN}));
cleanup:
  sr__free(ctx, error);
  return status;
}

static sr_status ask_future(sr_context *ctx, question_job *job) {
  sr_evaluation *e = job->to;
  if (!job->options->forward) return SR_OK;
  if (e->origin_count == 0)
    say(job, "The future is asked of rows in one order of time; these are %s.",
        job->by_group ? "in groups" : "not in order, too few, or in bags of one's own");
  else if (fabs(e->forward_slope) >
           sr_student_quantile(0.5 + 0.5 * e->level, e->origin_count - 2.0))
    say(job, "The error %s from origin to origin: there is drift.",
        e->forward_slope > 0.0 ? "rises" : "falls");
  keep_what_tells(job, &e->forward_low, &e->forward_high);
  if (sr__interval_says_nothing(e->forward_mean_low, e->forward_mean_high))
    e->forward_mean_low = e->forward_mean_high = NAN;
  return add_question(ctx, job,
                      (sr_question){.kind = SR_QUESTION_FUTURE,
                                    .estimate = e->forward,
                                    .low = e->forward_low,
                                    .high = e->forward_high,
                                    .next_low = e->forward_mean_low,
                                    .next_high = e->forward_mean_high,
                                    .units = e->origin_count,
                                    .distance = (double)job->folds->buffer + 1.0});
}

sr_status sr__answer_questions(sr_context *ctx, const sr__evaluate_input *input,
                               const sr_evaluate_options *options, const sr__judged *judged,
                               sr_evaluation *evaluation) {
  sr_status status = SR_OK;
  enum { MOST_QUESTIONS = 4 };
  const sr_folds_view *folds = sr_folds_get(input->folds);
  question_job job = {.in = input,
                      .folds = folds,
                      .options = options,
                      .judged = judged,
                      .to = evaluation,
                      .by_group = folds->unit == SR_UNIT_GROUP,
                      .in_order = sr__losses_in_order(input->structure, folds)};
  sr_question *list = NULL;
  SR_NEW_ZERO(ctx, list, MOST_QUESTIONS);
  evaluation->questions = list;
  SR_NEW_ZERO(ctx, job.unit_loss, folds->units);
  SR_NEW_ZERO(ctx, job.unit_rows, folds->units);
  if (judged->count == 0) {
    SR_TRY(ask_rows(ctx, &job));
    SR_TRY(refuse_all(ctx, &job));
    goto cleanup;
  }
  for (int64_t k = 0; k < job.judged->count; k++) {
    int32_t unit = job.folds->unit_of_row[job.judged->row[k]];
    job.unit_loss[unit] += job.judged->loss[k];
    job.unit_rows[unit] += 1.0;
  }
  SR_TRY(find_scale(ctx, &job));
  SR_TRY(ask_rows(ctx, &job));
  SR_TRY(ask_mean(ctx, &job));
  SR_TRY(ask_next(ctx, &job));
  SR_TRY(ask_future(ctx, &job));
cleanup:
  sr__free(ctx, job.unit_loss);
  sr__free(ctx, job.unit_rows);
  return status;
}
