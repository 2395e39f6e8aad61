/* Structure, choice, fit and evaluation in one call. */
#include "train.h"
#include "data/table.h"

#define TRAIN(kind, key, field, ...) SR_##kind##_AT(sr_train_options, field, key, __VA_ARGS__)

static const sr_option train_options[] = {
    TRAIN(TEXT, "plan", plan, "auto", "plan, or rule that chooses one: NAME[:KEY=VALUE,...]"),
    TRAIN(TEXT, "learner", learner, "tree", "learner: NAME[:KEY=VALUE,...]"),
    TRAIN(INTEGER, "members", members, "100", 1, 1e7, "number of members"),
    TRAIN(
        CHOICE, "vote", vote, "auto", "hard|soft|auto|gated",
        "majority, mean probability, soft where members are calibrated and else hard, or weighted "
        "by nearness of parts"),
    TRAIN(TEXT, "resume", resume, "",
          "file that keeps fitted members, so that the same command goes on after an interrupt"),
    SR__CLASS_WEIGHT_OPTION(TRAIN),
    SR__STRUCTURE_OPTIONS(TRAIN, structure.),
    TRAIN(FLAG, "evaluation", evaluate.evaluate, "yes", "error, covariance and importance"),
    TRAIN(FLAG, "importance", evaluate.importance, "yes",
          "importance of every feature, and what members share"),
    TRAIN(REAL, "level", evaluate.level, "0.95", 0.01, 0.999, "probability of the intervals"),
    TRAIN(INTEGER, "next", evaluate.next, "0", 0, 1e12,
          "rows of the next unit that is asked about; 0 is a twentieth of all, or a group"),
    TRAIN(FLAG, "forward", evaluate.forward, "no",
          "the future as well: train on the past, judge what follows, from five origins"),
    SR__FOLDS_OPTIONS(TRAIN, evaluate.folds.),
    SR_OPTIONS_END};

const sr_option *sr_train_option_list(void) { return train_options; }

void sr_train_options_init(sr_train_options *options) {
  *options = (sr_train_options){0};
  sr_options_init(train_options, options);
}

/* Everything that can be wrong in the options is found before a row is looked at. */
static sr_status check_options(sr_context *ctx, const sr_train_options *o,
                               sr__configuration *plan) {
  sr_status status = SR_OK;
  SR_TRY(sr__options_check(ctx, "train", train_options, o));
  SR_TRY(sr__configure(ctx, "plan", sr_train_plan_method, o->plan, plan));
  SR_TRY(sr_method_check(ctx, "learner", sr_learner_method, o->learner, NULL));
  if (o->structure.graph && *o->structure.graph)
    SR_TRY(sr_method_check(ctx, "graph", sr_graph_method, o->structure.graph, NULL));
  SR_TRY(sr__folds_options_check(ctx, &o->evaluate.folds));
cleanup:
  return status;
}

sr_status sr_train_options_check(sr_context *ctx, const sr_train_options *options) {
  sr__configuration plan = {0};
  sr_train_options defaults;
  sr_train_options_init(&defaults);
  sr_allocator allocator = sr__allocator(ctx);
  sr_status status = check_options(ctx, options ? options : &defaults, &plan);
  sr__configuration_free(&allocator, &plan);
  return status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static bool has_own_bags(const sr__mix *mix) {
  for (int32_t k = 0; k < mix->count; k++) {
    if (((const sr__scheme *)mix->entry[k].plan.method)->flags & SR_PLAN_OWN_BAGS) return true;
  }
  return false;
}

sr_status sr__try_mix(sr_context *ctx, const sr__choose_input *input, const sr__mix *mix,
                      sr_vote vote, sr__trial *trial) {
  sr_status status = SR_OK;
  sr__fold_rows *rows = NULL;
  if (!sr__trial_is_empty(trial) || has_own_bags(mix)) return SR_OK;
  sr__evaluate_input what = {.structure = input->structure,
                             .prepared = input->prepared,
                             .folds = input->folds,
                             .mix = mix,
                             .vote = vote};
  SR_TRY(sr__all_fold_rows(ctx, input->folds, &rows));
  sr__trial_folds on = {.rows = rows,
                        .folds = sr_folds_get(input->folds)->folds,
                        .keep_members = input->keep_members,
                        .seed = input->seed,
                        .stage = "honest error"};
  SR_TRY(sr__trial_of_mix(ctx, &what, on, trial));
cleanup:
  return status;
}

/* That structure and plan are of the rows of the table, all of which have a class. */
static sr_status check_input(sr_context *ctx, const sr_table_view *view,
                             const sr_train_input *input) {
  sr_status status = SR_OK;
  if (input->structure && input->structure->view.rows != view->rows)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "the structure is of %lld rows, the table has %lld",
                    (long long)input->structure->view.rows, (long long)view->rows));
  if (input->plan && input->plan->rows != view->rows)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "the plan is for %lld rows, the table has %lld",
                    (long long)input->plan->rows, (long long)view->rows));
  for (int64_t i = 0; (input->structure || input->plan) && i < view->rows; i++) {
    if (view->label[i] < 0)
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                      "row %lld has no class; leave such rows out of the table and of what is "
                      "known of them",
                      (long long)i));
  }
cleanup:
  return status;
}

/* A plan that was made before is a mix of one. */
static sr_status mix_of_plan(sr_context *ctx, const sr_plan *plan, sr__mix *mix) {
  sr_status status = SR_OK;
  SR_TRY(sr__mix_new(ctx, 1, mix));
  if (plan->scheme->flags & SR_PLAN_OWN_BAGS)
    mix->entry[0].plan.method = &plan->scheme->about;
  else
    SR_TRY(sr__configure(ctx, "plan", sr_plan_method, plan->text, &mix->entry[0].plan));
  mix->entry[0].members = plan->members;
  mix->entry[0].weight = 1.0;
  mix->entry[0].given = plan;
  mix->reason = sr__strdup(ctx, "given by the user");
  if (!mix->reason) SR_TRY(SR_ERROR_MEMORY);
cleanup:
  return status;
}

/* What a training makes on its way. */
typedef struct train_job {
  sr_train_input input;
  sr_train_options options;
  uint64_t seed;
  sr__configuration plan;
  sr_table *kept;
  sr__class_weights weights;
  const double *class_weight; /* NULL: none */
  sr_structure *structure;
  sr_folds *folds;
  sr__prepared prepared;
  sr__member_store *store;
  sr__mix mix;
  sr_vote vote;
  sr__trial trial;
  sr__members members;
  sr__part_weights part_weights;
  sr__judged judged;
  sr_evaluation evaluation;
  double seconds_prepare, seconds_choice, seconds_folds; /* folds: what a named plan fits there */
} train_job;

static void job_free(sr_context *ctx, train_job *job) {
  sr_allocator allocator = sr__allocator(ctx);
  sr__evaluation_free(&allocator, &job->evaluation);
  sr__judged_free(ctx, &job->judged);
  sr__trial_free(ctx, &job->trial);
  sr__part_weights_free(&allocator, &job->part_weights);
  sr__members_free(ctx, &job->members);
  sr__mix_free(&allocator, &job->mix);
  sr__prepared_free(ctx, &job->prepared);
  sr__member_store_close(&job->store);
  sr_folds_free(&job->folds);
  sr_structure_free(&job->structure);
  sr__class_weights_free(ctx, &job->weights);
  sr_table_free(&job->kept);
  sr__configuration_free(&allocator, &job->plan);
}

/* The mix, and its answers on held-out rows: what is fitted on folds is fitted once. */
static sr_status choose_and_try(sr_context *ctx, train_job *job) {
  sr_status status = SR_OK;
  const sr_train_options *o = &job->options;
  sr__choose_input choose = {.structure = job->structure,
                             .prepared = &job->prepared,
                             .folds = job->folds,
                             .members = (int32_t)o->members,
                             .vote = job->vote,
                             .class_weight = job->class_weight,
                             .keep_members = o->evaluate.evaluate && o->evaluate.importance &&
                                             job->prepared.learner->copy_feature,
                             .seed = job->seed};
  double start = sr_seconds();
  SR_TRY(job->input.plan
             ? mix_of_plan(ctx, job->input.plan, &job->mix)
             : sr__choose(ctx, &job->plan, &choose, &job->mix, &job->vote, &job->trial));
  job->seconds_choice = sr_seconds() - start;
  if (o->evaluate.evaluate) SR_TRY(sr__try_mix(ctx, &choose, &job->mix, job->vote, &job->trial));
  job->seconds_folds = sr_seconds() - start - job->seconds_choice;
cleanup:
  return status;
}

static sr_status fit_and_judge(sr_context *ctx, train_job *job) {
  sr_status status = SR_OK;
  bool gated = job->vote == SR_VOTE_GATED, judged = job->options.evaluate.evaluate;
  if (!sr__trial_is_empty(&job->trial)) sr__trial_forget_members(ctx, &job->trial, false);
  SR_TRY(sr__fit_members(ctx, job->structure, &job->prepared, &job->mix, judged || gated, job->seed,
                         &job->members));
  if (gated && job->prepared.view->features == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "a gated vote looks at features, and the rows have series alone; vote hard or "
                    "soft"));
  if (gated)
    SR_TRY(sr__part_weights_new(ctx, job->prepared.view, sr_parts_get(job->structure->parts),
                                &job->members, &job->part_weights));
  sr__evaluate_input input = {.structure = job->structure,
                              .prepared = &job->prepared,
                              .folds = job->folds,
                              .mix = &job->mix,
                              .trial = sr__trial_is_empty(&job->trial) ? NULL : &job->trial,
                              .members = &job->members,
                              .part_weights = gated ? &job->part_weights : NULL,
                              .vote = job->vote};
  if (judged)
    SR_TRY(sr__evaluate(ctx, &input, &job->options.evaluate, job->seed, &job->judged,
                        &job->evaluation));
  if (judged) job->evaluation.seconds += job->seconds_folds;
cleanup:
  return status;
}

static sr_status train(sr_context *ctx, const sr_table *table, train_job *job,
                       sr_ensemble **ensemble) {
  sr_status status = SR_OK;
  const sr_train_options *o = &job->options;
  SR_TRY(check_options(ctx, o, &job->plan));
  SR_TRY(sr__check_target(ctx, table));
  SR_TRY(check_input(ctx, sr_table_get(table), &job->input));
  if (o->resume && *o->resume) SR_TRY(sr__member_store_open(ctx, o->resume, &job->store));
  if (!job->input.structure && !job->input.plan)
    SR_TRY(sr__keep_teaching_rows(ctx, table, &job->kept));
  const sr_table *rows = job->kept ? job->kept : table;
  SR_TRY(sr__class_weights_new(ctx, rows, o->class_weight, &job->weights));
  if (job->weights.table) {
    rows = job->weights.table;
    job->class_weight = job->weights.of_class;
  }
  if (job->input.structure)
    job->structure = sr__structure_share(job->input.structure);
  else
    SR_TRY(sr_structure_estimate(ctx, rows, &o->structure, job->seed, &job->structure));
  double start = sr_seconds();
  bool on_folds = o->evaluate.evaluate || (!job->input.plan && sr__plan_chooses(&job->plan));
  sr__fit_plans plans = {.members = o->members,
                         .fits = on_folds ? INT64_MAX : o->members,
                         .structure = job->structure};
  SR_TRY(sr__prepare(ctx, rows, o->learner, &plans, &job->prepared));
  job->seconds_prepare = sr_seconds() - start;
  job->vote = sr__vote_of(job->prepared.learner, (sr_vote)o->vote);
  if (job->store) SR_TRY(sr__prepared_use_store(ctx, &job->prepared, o->learner, job->store));
  SR_TRY(sr_folds_new(ctx, job->structure, &o->evaluate.folds, job->seed, &job->folds));
  SR_TRY(choose_and_try(ctx, job));
  SR_TRY(fit_and_judge(ctx, job));
  sr__ensemble_pieces pieces = {.prepared = &job->prepared,
                                .members = &job->members,
                                .mix = &job->mix,
                                .evaluation = o->evaluate.evaluate ? &job->evaluation : NULL,
                                .part_weights =
                                    job->vote == SR_VOTE_GATED ? &job->part_weights : NULL,
                                .structure = &job->structure,
                                .vote = job->vote,
                                .seed = job->seed,
                                .seconds_prepare = job->seconds_prepare,
                                .seconds_choice = job->seconds_choice};
  SR_TRY(sr__ensemble_new(ctx, &pieces, ensemble));
cleanup:
  return status;
}

sr_status sr__train_weighted(sr_context *ctx, const sr_table *table, const sr_train_input *input,
                             const sr_train_options *options, const double *class_weight,
                             uint64_t seed, sr_ensemble **ensemble) {
  train_job job = {.seed = seed, .class_weight = class_weight};
  *ensemble = NULL;
  if (input) job.input = *input;
  sr_train_options_init(&job.options);
  if (options) job.options = *options;
  sr_status status = train(ctx, table, &job, ensemble);
  job_free(ctx, &job);
  return status;
}

sr_status sr_train_with(sr_context *ctx, const sr_table *table, const sr_train_input *input,
                        const sr_train_options *options, uint64_t seed, sr_ensemble **ensemble) {
  return sr__train_weighted(ctx, table, input, options, NULL, seed, ensemble);
}

sr_status sr_train(sr_context *ctx, const sr_table *table, const sr_train_options *options,
                   uint64_t seed, sr_ensemble **ensemble) {
  return sr__train_weighted(ctx, table, NULL, options, NULL, seed, ensemble);
}
