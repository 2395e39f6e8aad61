/* Plans x learners on the same folds of whole units, with paired tests over the units. */
#include <math.h>
#include <specroute/stats.h>

#include "core/text.h"
#include "evaluate/interval.h"
#include "train.h"

enum { MOST_METHODS = 64 };

struct sr_comparison {
  sr_comparison_view view;
  sr_allocator allocator;
  sr_compare_row *row;
  sr_compare_test *test;
  double *unit_error;
  sr_structure *structure;
  char **text; /* of plans, then learners */
  int32_t texts;
  char **reason; /* per row */
};

/* Losses of one row of the comparison. */
typedef struct kept_losses {
  float *of_row;  /* per row of the table; NaN where it was not judged */
  int64_t stride; /* one of so many held-out rows was judged */
  double widen;   /* of the variance of a mean */
} kept_losses;

typedef struct compare_job {
  const sr_compare_options *options;
  uint64_t seed;
  const sr_table *table;
  sr_table *kept; /* rows with a class, where some have none */
  sr__class_weights weights;
  sr_structure *structure;
  sr_folds *folds;
  sr_comparison *comparison;
  kept_losses *losses; /* per row of the comparison */
  int32_t plan_count, learner_count;
  sr__configuration plan[MOST_METHODS];
  char *plan_text[MOST_METHODS], *learner_text[MOST_METHODS]; /* owned by the comparison */
} compare_job;

#define COMPARE(kind, key, field, ...) SR_##kind##_AT(sr_compare_options, field, key, __VA_ARGS__)

static const sr_option compare_options[] = {
    COMPARE(TEXT, "plans", plans, "uniform,auto", "plans to compare"),
    COMPARE(TEXT, "learners", learners, "tree", "learners to compare"),
    COMPARE(INTEGER, "members", members, "100", 1, 1e7, "number of members"),
    COMPARE(CHOICE, "vote", vote, "auto", "hard|soft|auto",
            "majority, mean probability, or soft where members are calibrated and else hard"),
    SR__CLASS_WEIGHT_OPTION(COMPARE),
    COMPARE(REAL, "level", level, "0.95", 0.01, 0.999, "probability of the intervals"),
    COMPARE(INTEGER, "next", next, "0", 0, 1e12,
            "rows of the next unit that is asked about; 0 is a twentieth of all, or a group"),
    COMPARE(FLAG, "forward", forward, "no",
            "the future as well: train on the past, judge what follows, from five origins"),
    COMPARE(FLAG, "naive", naive, "no",
            "the naive error as well: every plan is fitted on all rows for it"),
    SR__STRUCTURE_OPTIONS(COMPARE, structure.),
    SR__FOLDS_OPTIONS(COMPARE, folds.),
    SR_OPTIONS_END};

const sr_option *sr_compare_option_list(void) { return compare_options; }

void sr_compare_options_init(sr_compare_options *options) {
  *options = (sr_compare_options){0};
  sr_options_init(compare_options, options);
}

/* ---- names -------------------------------------------------------------------------------- */

/* Methods that a text lists. */
typedef struct listed_methods {
  const char *kind;
  sr_method_at at;
  const char *list;
} listed_methods;

/* Each method of a list as a text of its own, in the form in which it is printed. */
static sr_status parse_list(sr_context *ctx, listed_methods from, sr_comparison *c,
                            sr__configuration *parsed, char **text, int32_t *count) {
  sr_status status = SR_OK;
  sr_allocator allocator = sr__allocator(ctx);
  const char *start[MOST_METHODS];
  size_t length[MOST_METHODS];
  sr__configuration one = {0};
  char *given = NULL;
  int32_t found = sr_methods_split(from.list, MOST_METHODS, start, length);
  if (found < 1 || found > MOST_METHODS)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "a comparison takes 1 to %d %ss, not %d", MOST_METHODS,
                    from.kind, found));
  for (*count = 0; *count < found; (*count)++) {
    SR_NEW(ctx, given, (int64_t)length[*count] + 1);
    memcpy(given, start[*count], length[*count]);
    given[length[*count]] = '\0';
    SR_TRY(sr__configure(ctx, from.kind, from.at, given, &one));
    sr__free(ctx, given);
    given = NULL;
    char *printed = sr__configuration_text(ctx, one.method, one.options);
    if (!printed) SR_TRY(SR_ERROR_MEMORY);
    c->text[c->texts++] = text[*count] = printed;
    if (parsed)
      parsed[*count] = one;
    else
      sr__configuration_free(&allocator, &one);
    one = (sr__configuration){0};
  }
cleanup:
  sr__free(ctx, given);
  sr__configuration_free(&allocator, &one);
  return status;
}

static sr_status check_options(sr_context *ctx, compare_job *job) {
  sr_status status = SR_OK;
  const sr_compare_options *o = job->options;
  sr_comparison *c = job->comparison;
  SR_TRY(sr__options_check(ctx, "compare", compare_options, o));
  SR_TRY(sr__folds_options_check(ctx, &o->folds));
  SR_NEW_ZERO(ctx, c->text, 2 * MOST_METHODS);
  SR_TRY(parse_list(ctx, (listed_methods){"plan", sr_train_plan_method, o->plans}, c, job->plan,
                    job->plan_text, &job->plan_count));
  SR_TRY(parse_list(ctx, (listed_methods){"learner", sr_learner_method, o->learners}, c, NULL,
                    job->learner_text, &job->learner_count));
  if (o->structure.graph && *o->structure.graph)
    SR_TRY(sr_method_check(ctx, "graph", sr_graph_method, o->structure.graph, NULL));
cleanup:
  return status;
}

/* ---- one plan and learner ------------------------------------------------------------------- */

/* Errors by unit, for the tests. */
static sr_status keep_units(sr_context *ctx, const compare_job *job, const sr__judged *judged,
                            double *unit_error) {
  sr_status status = SR_OK;
  const sr_folds_view *folds = sr_folds_get(job->folds);
  double *rows = NULL;
  SR_NEW_ZERO(ctx, rows, folds->units);
  for (int32_t u = 0; u < folds->units; u++) unit_error[u] = 0.0;
  for (int64_t k = 0; k < judged->count; k++) {
    unit_error[folds->unit_of_row[judged->row[k]]] += judged->loss[k];
    rows[folds->unit_of_row[judged->row[k]]] += 1.0;
  }
  for (int32_t u = 0; u < folds->units; u++)
    unit_error[u] = rows[u] > 0.0 ? unit_error[u] / rows[u] : NAN;
cleanup:
  sr__free(ctx, rows);
  return status;
}

/* Row by row, for the intervals of differences. */
static sr_status keep_losses(sr_context *ctx, const compare_job *job, const sr__judged *judged,
                             double widen, kept_losses *to) {
  sr_status status = SR_OK;
  int64_t rows = sr_folds_get(job->folds)->rows;
  to->stride = judged->stride;
  to->widen = widen;
  SR_NEW(ctx, to->of_row, rows);
  for (int64_t i = 0; i < rows; i++) to->of_row[i] = NAN;
  for (int64_t k = 0; k < judged->count; k++) to->of_row[judged->row[k]] = (float)judged->loss[k];
cleanup:
  return status;
}

/* What the questions had to say, each sentence once. */
static sr_status keep_reason(sr_context *ctx, const sr_evaluation *e, char **reason) {
  sr_status status = SR_OK;
  sr__text text = {0};
  for (int32_t k = 0; k < e->question_count; k++) {
    const char *here = e->questions[k].reason;
    if (!here || (text.bytes && strstr(text.bytes, here))) continue;
    SR_TRY(sr__text_print(ctx, &text, "%s%s", text.bytes ? " " : "", here));
  }
  *reason = text.bytes;
  text.bytes = NULL;
cleanup:
  sr__free(ctx, text.bytes);
  return status;
}

static void keep_row(const sr_evaluation *e, sr_compare_row *row) {
  row->error = e->honest;
  row->low = e->honest_low;
  row->high = e->honest_high;
  row->next_low = row->next_high = NAN;
  row->naive = row->naive_low = row->naive_high = NAN;
  for (int32_t k = 0; k < e->question_count; k++) {
    const sr_question *q = &e->questions[k];
    if (q->kind == SR_QUESTION_NEXT) {
      row->next_low = q->low;
      row->next_high = q->high;
    } else if (q->kind == SR_QUESTION_ROWS) {
      row->naive = q->estimate;
      row->naive_low = q->low;
      row->naive_high = q->high;
    }
  }
  row->forward = e->forward;
  row->forward_low = e->forward_low;
  row->forward_high = e->forward_high;
}

/* Chosen, tried and judged exactly as a training does it; the fit on all rows is made where the
 * naive error is asked for. */
static sr_status compare_one(sr_context *ctx, compare_job *job, const sr__prepared *prepared,
                             int32_t learner, int32_t plan) {
  sr_status status = SR_OK;
  sr_allocator allocator = sr__allocator(ctx);
  int32_t index = learner * job->plan_count + plan;
  sr_compare_row *row = &job->comparison->row[index];
  const sr_compare_options *o = job->options;
  sr__mix mix = {0};
  sr__trial trial = {0};
  sr__judged judged = {0};
  sr_evaluation evaluation = {0};
  sr__members members = {0};
  sr_vote vote;
  double start = sr_seconds();
  sr__choose_input choose = {.structure = job->structure,
                             .prepared = prepared,
                             .folds = job->folds,
                             .members = (int32_t)o->members,
                             .vote = sr__vote_of(prepared->learner, (sr_vote)o->vote),
                             .class_weight = job->weights.of_class,
                             .seed = job->seed};
  SR_TRY(sr__choose(ctx, &job->plan[plan], &choose, &mix, &vote, &trial));
  SR_TRY(sr__try_mix(ctx, &choose, &mix, vote, &trial));
  if (sr__trial_is_empty(&trial))
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "the bags of plan %s name rows and cannot be dealt on folds; train it by "
                    "itself",
                    job->plan_text[plan]));
  if (o->naive)
    SR_TRY(sr__fit_members(ctx, job->structure, prepared, &mix, true, job->seed, &members));
  sr__evaluate_input input = {.structure = job->structure,
                              .prepared = prepared,
                              .folds = job->folds,
                              .mix = &mix,
                              .trial = &trial,
                              .members = o->naive ? &members : NULL,
                              .vote = vote};
  sr_evaluate_options asked = {.level = o->level,
                               .next = o->next,
                               .forward = o->forward,
                               .folds = o->folds};
  SR_TRY(sr__evaluate(ctx, &input, &asked, job->seed, &judged, &evaluation));
  SR_TRY(
      keep_units(ctx, job, &judged,
                 job->comparison->unit_error + (int64_t)index * sr_folds_get(job->folds)->units));
  SR_TRY(keep_losses(ctx, job, &judged, trial.widen, &job->losses[index]));
  SR_TRY(keep_reason(ctx, &evaluation, &job->comparison->reason[index]));
  keep_row(&evaluation, row);
  row->reason = job->comparison->reason[index];
  job->comparison->view.next_rows = evaluation.next_rows;
  row->plan = job->plan_text[plan];
  row->learner = job->learner_text[learner];
  row->seconds = sr_seconds() - start;
  sr__progress(ctx, "compare", index + 1, job->comparison->view.row_count);
cleanup:
  sr__evaluation_free(&allocator, &evaluation);
  sr__judged_free(ctx, &judged);
  sr__trial_free(ctx, &trial);
  sr__members_free(ctx, &members);
  sr__mix_free(&allocator, &mix);
  return status;
}

/* ---- tests -------------------------------------------------------------------------------- */

/* Differences of the losses of two rows of the comparison, where both were judged. */
typedef struct differences {
  const compare_job *job;
  double *of_row, *of_unit, *unit_rows;
  int64_t count;
} differences;

static void take_differences(differences *d, int32_t first, int32_t second) {
  const sr_folds_view *folds = sr_folds_get(d->job->folds);
  const float *x = d->job->losses[first].of_row, *y = d->job->losses[second].of_row;
  d->count = 0;
  for (int32_t u = 0; u < folds->units; u++) d->of_unit[u] = d->unit_rows[u] = 0.0;
  for (int64_t i = 0; i < folds->rows; i++) {
    if (isnan(x[i]) || isnan(y[i])) continue;
    double here = (double)x[i] - (double)y[i];
    d->of_row[d->count++] = here;
    d->of_unit[folds->unit_of_row[i]] += here;
    d->unit_rows[folds->unit_of_row[i]] += 1.0;
  }
}

/* Waves of the differences where they are in order, else their spread over units. */
static sr_status bound_difference(sr_context *ctx, differences *d, sr_compare_test *test) {
  sr_status status = SR_OK;
  const compare_job *job = d->job;
  const kept_losses *one = &job->losses[test->first], *two = &job->losses[test->second];
  const sr_compare_row *row = job->comparison->row;
  const sr_folds_view *folds = sr_folds_get(job->folds);
  double tmix, widen = fmax(one->widen, two->widen), level = job->options->level;
  sr__interval interval = {.low = NAN, .high = NAN};
  test->low = test->high = NAN;
  if (isnan(row[test->first].low) || isnan(row[test->second].low)) return SR_OK;
  take_differences(d, test->first, test->second);
  if (d->count > 1 && one->stride == two->stride && sr__losses_in_order(job->structure, folds)) {
    SR_TRY(sr__scale_of_losses(ctx, job->structure, d->of_row, d->count, one->stride, &tmix));
    sr__interval_of_differences(d->of_row, d->count, tmix, widen, level, &interval);
  } else {
    sr__interval_of_unit_differences(d->of_unit, d->unit_rows, folds->units, widen, level,
                                     &interval);
  }
  test->low = interval.low;
  test->high = interval.high;
cleanup:
  return status;
}

static sr_status test_pair(sr_context *ctx, const sr_comparison *c, double *scratch,
                           sr_compare_test *test) {
  sr_wilcoxon result;
  int64_t used = 0, units = c->view.units;
  for (int64_t b = 0; b < units; b++) {
    double x = c->unit_error[test->first * units + b], y = c->unit_error[test->second * units + b];
    if (!isnan(x) && !isnan(y)) scratch[used++] = x - y;
  }
  if (used == 0) return SR_OK;
  sr_status status =
      sr_wilcoxon_test(ctx, used, scratch, NULL, SR_ZERO_WILCOX, SR_TAIL_AUTO, &result);
  if (status == SR_OK) test->p = result.p;
  return status;
}

static sr_status test_rows(sr_context *ctx, const compare_job *job) {
  sr_status status = SR_OK;
  sr_comparison *c = job->comparison;
  double *p = NULL;
  differences d = {.job = job};
  int32_t count = 0;
  for (int32_t r = 1; r < c->view.row_count; r++) {
    if (c->row[r].error < c->row[c->view.best].error) c->view.best = r;
  }
  SR_NEW(ctx, c->test, c->view.row_count);
  SR_NEW(ctx, p, c->view.row_count);
  SR_NEW(ctx, d.of_row, c->view.table_rows);
  SR_NEW(ctx, d.of_unit, c->view.units);
  SR_NEW(ctx, d.unit_rows, c->view.units);
  for (int32_t r = 0; r < c->view.row_count; r++) {
    if (r == c->view.best) continue;
    sr_compare_test *test = &c->test[count];
    *test = (sr_compare_test){.first = c->view.best,
                              .second = r,
                              .difference = c->row[c->view.best].error - c->row[r].error,
                              .p = 1.0,
                              .p_holm = 1.0};
    SR_TRY(bound_difference(ctx, &d, test));
    SR_TRY(test_pair(ctx, c, d.of_unit, test));
    p[count++] = test->p;
  }
  if (count > 0) SR_TRY(sr_holm(ctx, count, p, p));
  for (int32_t t = 0; t < count; t++) c->test[t].p_holm = p[t];
  c->view.test_count = count;
  c->view.tests = c->test;
cleanup:
  sr__free(ctx, p);
  sr__free(ctx, d.of_row);
  sr__free(ctx, d.of_unit);
  sr__free(ctx, d.unit_rows);
  return status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static sr_status start_comparison(sr_context *ctx, compare_job *job) {
  sr_status status = SR_OK;
  sr_comparison *c = job->comparison;
  const sr_folds_view *folds = sr_folds_get(job->folds);
  int32_t count = job->plan_count * job->learner_count;
  SR_NEW_ZERO(ctx, c->row, count);
  SR_NEW_ZERO(ctx, c->unit_error, (int64_t)count * folds->units);
  SR_NEW_ZERO(ctx, c->reason, count);
  SR_NEW_ZERO(ctx, job->losses, count);
  c->view = (sr_comparison_view){.row_count = count,
                                 .rows = c->row,
                                 .folds = folds->folds,
                                 .units = folds->units,
                                 .held_out = folds->unit,
                                 .buffer = folds->buffer,
                                 .table_rows = folds->rows,
                                 .unit_error = c->unit_error};
cleanup:
  return status;
}

static sr_status compare_learner(sr_context *ctx, compare_job *job, int32_t learner) {
  sr_status status = SR_OK;
  sr__prepared prepared = {0};
  sr__fit_plans plans = {job->options->members, INT64_MAX, job->structure};
  SR_TRY(sr__prepare(ctx, job->table, job->learner_text[learner], &plans, &prepared));
  for (int32_t p = 0; p < job->plan_count; p++)
    SR_TRY(compare_one(ctx, job, &prepared, learner, p));
cleanup:
  sr__prepared_free(ctx, &prepared);
  return status;
}

static void job_free(sr_context *ctx, compare_job *job) {
  sr_allocator allocator = sr__allocator(ctx);
  int32_t rows = job->plan_count * job->learner_count;
  for (int32_t p = 0; p < MOST_METHODS; p++) sr__configuration_free(&allocator, &job->plan[p]);
  for (int32_t r = 0; job->losses && r < rows; r++) sr__free(ctx, job->losses[r].of_row);
  sr__free(ctx, job->losses);
  sr_comparison_free(&job->comparison);
  sr_folds_free(&job->folds);
  sr_structure_free(&job->structure);
  sr__class_weights_free(ctx, &job->weights);
  sr_table_free(&job->kept);
}

static sr_status open_job(sr_context *ctx, compare_job *job) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, job->comparison, 1);
  job->comparison->allocator = sr__allocator(ctx);
  SR_TRY(check_options(ctx, job));
cleanup:
  return status;
}

sr_status sr_compare_options_check(sr_context *ctx, const sr_compare_options *options) {
  sr_compare_options defaults;
  sr_compare_options_init(&defaults);
  compare_job job = {.options = options ? options : &defaults};
  sr_status status = open_job(ctx, &job);
  job_free(ctx, &job);
  return status;
}

/* The warnings of the dependence are shown as long as the comparison lives. */
static void keep_structure(compare_job *job) {
  sr_comparison *c = job->comparison;
  const sr_dependence *dependence = sr_structure_get(job->structure)->dependence;
  c->structure = job->structure;
  job->structure = NULL;
  if (!dependence) return;
  c->view.warning_count = sr_dependence_get(dependence)->warning_count;
  c->view.warnings = sr_dependence_get(dependence)->warnings;
}

sr_status sr_compare(sr_context *ctx, const sr_table *table, const sr_compare_options *options,
                     uint64_t seed, sr_comparison **comparison) {
  sr_status status = SR_OK;
  sr_compare_options defaults;
  sr_compare_options_init(&defaults);
  compare_job job = {.options = options ? options : &defaults, .table = table, .seed = seed};
  *comparison = NULL;
  SR_TRY(open_job(ctx, &job));
  SR_TRY(sr__check_target(ctx, table));
  SR_TRY(sr__keep_teaching_rows(ctx, table, &job.kept));
  if (job.kept) job.table = job.kept;
  SR_TRY(sr__class_weights_new(ctx, job.table, job.options->class_weight, &job.weights));
  if (job.weights.table) job.table = job.weights.table;
  SR_TRY(sr_structure_estimate(ctx, job.table, &job.options->structure, seed, &job.structure));
  SR_TRY(sr_folds_new(ctx, job.structure, &job.options->folds, seed, &job.folds));
  SR_TRY(start_comparison(ctx, &job));
  for (int32_t l = 0; l < job.learner_count; l++) SR_TRY(compare_learner(ctx, &job, l));
  SR_TRY(test_rows(ctx, &job));
  keep_structure(&job);
  *comparison = job.comparison;
  job.comparison = NULL;
cleanup:
  job_free(ctx, &job);
  return status;
}

void sr_comparison_free(sr_comparison **comparison) {
  if (!comparison || !*comparison) return;
  sr_comparison *c = *comparison;
  sr_allocator allocator = c->allocator;
  sr_structure_free(&c->structure);
  for (int32_t k = 0; k < c->texts; k++) sr__release(&allocator, c->text[k]);
  for (int32_t r = 0; c->reason && r < c->view.row_count; r++)
    sr__release(&allocator, c->reason[r]);
  void *blocks[] = {c->row, c->test, c->unit_error, c->text, c->reason, c};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
  *comparison = NULL;
}

const sr_comparison_view *sr_comparison_get(const sr_comparison *comparison) {
  return &comparison->view;
}
