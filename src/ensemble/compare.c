/* Plans x learners on the same folds of whole blocks, with paired tests over the blocks. */
#include <math.h>
#include <specroute/stats.h>

#include "ensemble.h"

struct sr_comparison {
  sr_comparison_view view;
  sr_allocator allocator;
  sr_compare_row *row;
  sr_compare_test *test;
  double *block_error;
  char *held_out;
};

typedef struct compare_job {
  const sr_compare_options *options;
  const sr_table *table;
  sr_structure *structure;
  sr__folds folds;
  sr_comparison *comparison;
  int32_t *vote; /* of the present plan and learner, a row of the table */
  int32_t *train, *test;
} compare_job;

void sr_compare_options_init(sr_compare_options *options) {
  memset(options, 0, sizeof *options);
  sr_structure_options_init(&options->structure);
  options->folds = 5;
  options->buffer = -1;
  options->vote = SR_VOTE_HARD;
  options->seed = 1;
  options->level = 0.95;
}

static sr_status check_options(sr_context *ctx, const sr_table *table,
                               const sr_compare_options *o) {
  if (!sr_table_get(table)->label)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the table has no classes to learn; name the target column");
  if (o->plan_count < 1 || o->learner_count < 1)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "a comparison needs at least one plan and one learner");
  if (!(o->level > 0.0 && o->level < 1.0))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "level is %g, expected a number between 0 and 1",
                    o->level);
  if (o->vote == SR_VOTE_GATED)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED, "a comparison votes hard or soft, not gated");
  return SR_OK;
}

/* ---- one plan and learner ------------------------------------------------------------------- */

/* The scheme for the present fold: as named, or chosen on the fold's training rows alone. */
static sr_status choose_in_fold(sr_context *ctx, const compare_job *job, int64_t count,
                                const sr_learner_options *learner, sr_plan_options *plan,
                                int32_t *parts) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  sr_structure *structure = NULL;
  sr__engine engine = {0};
  sr_choice choice = {0};
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = *plan;
  options.seed = job->options->seed;
  options.vote = job->options->vote;
  options.buffer = job->options->buffer;
  sr_structure_options wanted = job->options->structure;
  wanted.tmix = job->structure->view.tmix;
  SR_TRY(sr_table_select(ctx, job->table, job->train, count, &table));
  SR_TRY(sr_structure_estimate(ctx, table, &wanted, &structure));
  SR_TRY(sr__engine_open(ctx, table, learner, &engine));
  SR_TRY(sr__auto_choose(ctx, &engine, structure, &options, &choice, plan, parts));
cleanup:;
  sr_allocator allocator = sr__allocator(ctx);
  sr__choice_free(&allocator, &choice);
  sr__engine_close(&engine);
  sr_structure_free(&structure);
  sr_table_free(&table);
  return status;
}

static sr_status judge_fold(sr_context *ctx, compare_job *job, const sr__engine *engine,
                            const sr_plan_options *wanted, int32_t fold) {
  sr_status status = SR_OK;
  sr_plan *plan = NULL;
  sr__crew crew = {0};
  int64_t train_count, test_count;
  int32_t parts = 0;
  sr_plan_options plan_options = *wanted;
  plan_options.seed = job->options->seed;
  SR_TRY(sr__folds_rows(ctx, job->structure, &job->folds, fold, job->train, &train_count, job->test,
                        &test_count));
  if (strcmp(plan_options.name, "auto") == 0)
    SR_TRY(choose_in_fold(ctx, job, train_count, &engine->options, &plan_options, &parts));
  SR_TRY(
      sr__subset_plan(ctx, job->structure, &plan_options, parts, job->train, train_count, &plan));
  sr__fit fit = {.plan = plan,
                 .subset = job->train,
                 .count = sr_plan_get(plan).members,
                 .seed = job->options->seed,
                 .replicate = (uint64_t)fold + 1};
  SR_TRY(sr__crew_fit(ctx, engine, &fit, &crew));
  sr__jury jury = {.engine = engine,
                   .crew = &crew,
                   .rule = job->options->vote,
                   .rows = job->test,
                   .count = test_count,
                   .honest = job->vote};
  SR_TRY(sr__jury_judge(ctx, &jury));
cleanup:
  sr__crew_free(ctx, &crew);
  sr_plan_free(&plan);
  return status;
}

static void label_row(const sr_plan_options *plan, sr_compare_row *row) {
  if (strcmp(plan->name, "routed") == 0)
    snprintf(row->label, sizeof row->label, "routed %g %g", plan->part_share, plan->row_share);
  else
    snprintf(row->label, sizeof row->label, "%s", plan->name);
}

static sr_status compare_one(sr_context *ctx, compare_job *job, const sr__engine *engine,
                             const sr_plan_options *plan, int32_t index) {
  sr_status status = SR_OK;
  sr_compare_row *row = &job->comparison->row[index];
  sr__block_errors errors = {0};
  const sr_table_view *view = sr_table_get(job->table);
  double start = sr_seconds();
  for (int64_t i = 0; i < view->rows; i++) job->vote[i] = -1;
  for (int32_t fold = 0; fold < job->folds.folds; fold++) {
    SR_TRY(judge_fold(ctx, job, engine, plan, fold));
    sr__progress(ctx, "compare", (int64_t)index * job->folds.folds + fold + 1,
                 (int64_t)job->comparison->view.row_count * job->folds.folds);
  }
  SR_TRY(sr__count_block_errors(ctx, view->label, job->vote, view->rows, job->folds.block,
                                job->folds.blocks, &errors));
  for (int32_t b = 0; b < errors.blocks; b++)
    job->comparison->block_error[(int64_t)index * errors.blocks + b] =
        errors.judged[b] > 0.0 ? errors.wrong[b] / errors.judged[b] : NAN;
  row->error = sr__block_error_rate(&errors);
  SR_TRY(sr__block_interval(ctx, &errors, job->options->level, job->options->seed, &row->low,
                            &row->high));
  row->plan = plan->name;
  row->learner = engine->learner->info.name;
  row->seconds = sr_seconds() - start;
  label_row(plan, row);
cleanup:
  sr__block_errors_free(ctx, &errors);
  return status;
}

/* ---- tests -------------------------------------------------------------------------------- */

static sr_status test_pair(sr_context *ctx, const sr_comparison *c, int32_t first, int32_t second,
                           double *scratch, sr_compare_test *test) {
  sr_wilcoxon result;
  int64_t used = 0, blocks = c->view.blocks;
  for (int64_t b = 0; b < blocks; b++) {
    double x = c->block_error[first * blocks + b], y = c->block_error[second * blocks + b];
    if (!isnan(x) && !isnan(y)) scratch[used++] = x - y;
  }
  *test = (sr_compare_test){first, second, c->row[first].error - c->row[second].error, 1.0, 1.0};
  if (used == 0) return SR_OK;
  sr_status status =
      sr_wilcoxon_test(ctx, used, scratch, NULL, SR_ZERO_WILCOX, SR_TAIL_AUTO, &result);
  if (status == SR_OK) test->p = result.p;
  return status;
}

static sr_status test_rows(sr_context *ctx, sr_comparison *c) {
  sr_status status = SR_OK;
  double *p = NULL, *scratch = NULL;
  int32_t count = 0;
  for (int32_t r = 1; r < c->view.row_count; r++) {
    if (c->row[r].error < c->row[c->view.best].error) c->view.best = r;
  }
  SR_NEW(ctx, c->test, c->view.row_count);
  SR_NEW(ctx, p, c->view.row_count);
  SR_NEW(ctx, scratch, c->view.blocks);
  for (int32_t r = 0; r < c->view.row_count; r++) {
    if (r == c->view.best) continue;
    SR_TRY(test_pair(ctx, c, c->view.best, r, scratch, &c->test[count]));
    p[count] = c->test[count].p;
    count++;
  }
  if (count > 0) SR_TRY(sr_holm(ctx, count, p, p));
  for (int32_t t = 0; t < count; t++) c->test[t].p_holm = p[t];
  c->view.test_count = count;
  c->view.tests = c->test;
cleanup:
  sr__free(ctx, p);
  sr__free(ctx, scratch);
  return status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static sr_status start_comparison(sr_context *ctx, compare_job *job) {
  sr_status status = SR_OK;
  sr_comparison *c = NULL;
  int32_t count = job->options->plan_count * job->options->learner_count;
  SR_NEW_ZERO(ctx, c, 1);
  job->comparison = c;
  c->allocator = sr__allocator(ctx);
  SR_NEW_ZERO(ctx, c->row, count);
  SR_NEW_ZERO(ctx, c->block_error, (int64_t)count * job->folds.blocks);
  c->held_out = sr__strdup(ctx, job->folds.unit);
  if (!c->held_out) SR_TRY(SR_ERROR_MEMORY);
  c->view = (sr_comparison_view){.row_count = count,
                                 .rows = c->row,
                                 .folds = job->folds.folds,
                                 .blocks = job->folds.blocks,
                                 .held_out = c->held_out,
                                 .buffer = job->folds.buffer,
                                 .block_error = c->block_error};
  SR_NEW(ctx, job->vote, sr_table_get(job->table)->rows);
  SR_NEW(ctx, job->train, sr_table_get(job->table)->rows);
  SR_NEW(ctx, job->test, sr_table_get(job->table)->rows);
cleanup:
  return status;
}

static sr_status compare_learner(sr_context *ctx, compare_job *job, int32_t learner) {
  sr_status status = SR_OK;
  const sr_compare_options *o = job->options;
  sr__engine engine = {0};
  SR_TRY(sr__engine_open(ctx, job->table, &o->learners[learner], &engine));
  for (int32_t p = 0; p < o->plan_count; p++)
    SR_TRY(compare_one(ctx, job, &engine, &o->plans[p], learner * o->plan_count + p));
cleanup:
  sr__engine_close(&engine);
  return status;
}

sr_status sr_compare(sr_context *ctx, const sr_table *table, const sr_compare_options *options,
                     sr_comparison **comparison) {
  sr_status status = SR_OK;
  compare_job job = {.options = options, .table = table};
  *comparison = NULL;
  SR_TRY(check_options(ctx, table, options));
  SR_TRY(sr_structure_estimate(ctx, table, &options->structure, &job.structure));
  SR_TRY(sr__folds_make(ctx, job.structure, options->folds, options->leave_group_out != 0,
                        options->buffer, options->seed, &job.folds));
  SR_TRY(start_comparison(ctx, &job));
  for (int32_t l = 0; l < options->learner_count; l++) SR_TRY(compare_learner(ctx, &job, l));
  SR_TRY(test_rows(ctx, job.comparison));
  *comparison = job.comparison;
  job.comparison = NULL;
cleanup:
  sr_comparison_free(&job.comparison);
  sr__folds_free(ctx, &job.folds);
  sr_structure_free(&job.structure);
  sr__free(ctx, job.vote);
  sr__free(ctx, job.train);
  sr__free(ctx, job.test);
  return status;
}

void sr_comparison_free(sr_comparison **comparison) {
  if (!comparison || !*comparison) return;
  sr_comparison *c = *comparison;
  sr_allocator allocator = c->allocator;
  void *blocks[] = {c->row, c->test, c->block_error, c->held_out, c};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
  *comparison = NULL;
}

const sr_comparison_view *sr_comparison_get(const sr_comparison *comparison) {
  return &comparison->view;
}
