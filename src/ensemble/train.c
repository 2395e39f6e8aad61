/* Structure, plan, fit and evaluation in one call. */
#include <math.h>

#include "ensemble.h"

void sr_train_options_init(sr_train_options *options) {
  memset(options, 0, sizeof *options);
  sr_structure_options_init(&options->structure);
  sr_plan_options_init(&options->plan);
  sr_learner_options_init(&options->learner);
  options->plan.name = "auto";
  options->vote = SR_VOTE_HARD;
  options->seed = 1;
  options->evaluate = 1;
  options->importance = 1;
  options->folds = 5;
  options->buffer = -1;
  options->level = 0.95;
}

static sr_status check_options(sr_context *ctx, const sr_table *table, const sr_train_options *o) {
  const sr_table_view *view = sr_table_get(table);
  if (!view->label)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the table has no classes to learn; name the target column");
  if (o->folds < 2)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "folds is %d, expected 2 or more", o->folds);
  if (!(o->level > 0.0 && o->level < 1.0))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "level is %g, expected a number between 0 and 1",
                    o->level);
  return SR_OK;
}

/* Rows without a class cannot teach and are left out, with a word. *kept is NULL where all have
 * one. */
static sr_status drop_unlabelled(sr_context *ctx, const sr_table *table, sr_table **kept) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  int32_t *rows = NULL;
  int64_t count = 0;
  SR_NEW(ctx, rows, view->rows);
  for (int64_t i = 0; i < view->rows; i++) {
    if (view->label[i] >= 0) rows[count++] = (int32_t)i;
  }
  if (count == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "no row has a class; fill in the target column"));
  if (count == view->rows) goto cleanup;
  sr__log(ctx, SR_LOG_WARNING, "%lld of %lld rows have no class and are left out",
          (long long)(view->rows - count), (long long)view->rows);
  SR_TRY(sr_table_select(ctx, table, rows, count, kept));
cleanup:
  sr__free(ctx, rows);
  return status;
}

typedef struct train_job {
  const sr_table *table;
  const sr_train_options *options;
  sr_table *kept;
  sr_structure *structure;
  sr__engine engine;
  sr__crew crew;
  sr_plan_options plan_options;
  int32_t plan_parts;
  sr_plan *plan;
  sr_choice choice;
  double seconds_structure, seconds_choose, seconds_fit, seconds_evaluate;
} train_job;

static sr_status find_structure(sr_context *ctx, train_job *job) {
  sr_status status = SR_OK;
  double start = sr_seconds();
  sr_structure_options options = job->options->structure;
  options.seed = job->options->seed;
  SR_TRY(sr_structure_estimate(ctx, job->table, &options, &job->structure));
  job->seconds_structure = sr_seconds() - start;
cleanup:
  return status;
}

static sr_status find_plan(sr_context *ctx, train_job *job) {
  sr_status status = SR_OK;
  double start = sr_seconds();
  job->plan_options = job->options->plan;
  job->plan_options.seed = job->options->seed;
  if (strcmp(job->plan_options.name, "auto") == 0)
    SR_TRY(sr__auto_choose(ctx, &job->engine, job->structure, job->options, &job->choice,
                           &job->plan_options, &job->plan_parts));
  SR_TRY(sr_structure_plan_parts(ctx, job->structure, &job->plan_options, job->plan_parts,
                                 &job->plan));
  job->seconds_choose = sr_seconds() - start;
cleanup:
  return status;
}

static sr_status fit_members(sr_context *ctx, train_job *job) {
  sr_status status = SR_OK;
  double start = sr_seconds();
  sr__fit fit = {.plan = job->plan,
                 .count = sr_plan_get(job->plan).members,
                 .seed = job->options->seed,
                 .stage = "fit",
                 .keep_drawn = job->options->evaluate || job->options->vote == SR_VOTE_GATED};
  SR_TRY(sr__crew_fit(ctx, &job->engine, &fit, &job->crew));
  job->seconds_fit = sr_seconds() - start;
cleanup:
  return status;
}

static sr_status describe(sr_context *ctx, train_job *job, sr_ensemble *e) {
  const char *reason = job->choice.reason ? job->choice.reason : "named by the user";
  e->reason = sr__strdup(ctx, reason);
  if (!e->reason) return SR_ERROR_MEMORY;
  e->view.reason = e->reason;
  e->view.tmix = job->structure->view.tmix;
  if (job->choice.candidate_count) {
    e->choice = job->choice;
    job->choice = (sr_choice){0};
    e->view.choice = &e->choice;
  }
  return SR_OK;
}

/* The crew's members move into the ensemble last, so that the evaluation can still use them. */
static sr_status assemble(sr_context *ctx, train_job *job, sr_ensemble **ensemble) {
  sr_status status = SR_OK;
  sr_ensemble *e = NULL;
  const sr_train_options *o = job->options;
  sr__shared *shared = job->engine.shared;
  sr__member **member = job->crew.member;
  SR_TRY(sr__ensemble_assemble(ctx, &job->engine, &job->crew, job->plan, o->vote, o->seed, &e));
  job->engine.shared = shared; /* lent back until the evaluation is done */
  job->crew.member = member;
  if (o->vote == SR_VOTE_GATED)
    SR_TRY(sr__gate_make(ctx, job->engine.view, sr_parts_get(job->structure->parts), &job->crew,
                         &e->gate));
  SR_TRY(describe(ctx, job, e));
  double start = sr_seconds();
  if (o->evaluate)
    SR_TRY(sr__evaluate(ctx, &job->engine, job->structure, &job->plan_options, job->plan_parts,
                        &job->crew, o, e));
  job->seconds_evaluate = sr_seconds() - start;
  e->view.seconds_structure = job->seconds_structure;
  e->view.seconds_choose = job->seconds_choose;
  e->view.seconds_fit = job->seconds_fit;
  e->view.seconds_evaluate = job->seconds_evaluate;
  *ensemble = e;
  e = NULL;
cleanup:
  if (*ensemble || e) {
    job->engine.shared = NULL;
    job->crew.member = NULL;
  }
  sr_ensemble_free(&e);
  return status;
}

sr_status sr_train(sr_context *ctx, const sr_table *table, const sr_train_options *options,
                   sr_ensemble **ensemble) {
  sr_status status = SR_OK;
  train_job job = {.table = table, .options = options};
  *ensemble = NULL;
  SR_TRY(check_options(ctx, table, options));
  SR_TRY(drop_unlabelled(ctx, table, &job.kept));
  if (job.kept) job.table = job.kept;
  SR_TRY(find_structure(ctx, &job));
  SR_TRY(sr__engine_open(ctx, job.table, &options->learner, &job.engine));
  SR_TRY(find_plan(ctx, &job));
  SR_TRY(fit_members(ctx, &job));
  SR_TRY(assemble(ctx, &job, ensemble));
cleanup:;
  sr_allocator allocator = sr__allocator(ctx);
  sr__crew_free(ctx, &job.crew);
  sr__engine_close(&job.engine);
  sr__choice_free(&allocator, &job.choice);
  sr_plan_free(&job.plan);
  sr_structure_free(&job.structure);
  sr_table_free(&job.kept);
  return status;
}
