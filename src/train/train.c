/* Structure, choice, fit and evaluation in one call. */
#include "train.h"
#include "data/table.h"

#define TRAIN(kind, key, field, ...) SR_##kind##_AT(sr_train_options, field, key, __VA_ARGS__)

static const sr_option train_options[] = {
    TRAIN(TEXT, "plan", plan, "auto", "plan, or rule that chooses one: NAME[:KEY=VALUE,...]"),
    TRAIN(TEXT, "learner", learner, "tree", "learner: NAME[:KEY=VALUE,...]"),
    TRAIN(INTEGER, "members", members, "100", 1, 1e7, "number of members"),
    TRAIN(CHOICE, "vote", vote, "hard", "hard|soft|gated",
          "majority, mean probability, or weighted by nearness of parts"),
    TRAIN(TEXT, "graph", structure.graph, "", "dependency graph; by default as the table is"),
    TRAIN(REAL, "tmix", structure.tmix, "0", 0, 1e12, "rows until a row is new; 0 estimates it"),
    TRAIN(INTEGER, "parts", structure.parts, "0", 0, 1e9,
          "number of parts; 0 is the groups, or about four T rows each"),
    TRAIN(REAL, "tmix_level", structure.level, "0.9", 0.01, 0.999,
          "probability of the interval of T"),
    TRAIN(FLAG, "evaluation", evaluate.evaluate, "yes", "error, covariance and importance"),
    TRAIN(FLAG, "importance", evaluate.importance, "yes", "importance of every feature"),
    TRAIN(REAL, "level", evaluate.level, "0.95", 0.01, 0.999, "probability of the intervals"),
    TRAIN(INTEGER, "folds", evaluate.folds.folds, "5", 0, 1e6,
          "folds of the honest error; 0 is one per group"),
    TRAIN(INTEGER, "buffer", evaluate.folds.buffer, "-1", -1, 1e12,
          "rows or graph steps left out around what is held out; -1 is by T"),
    SR_OPTIONS_END};

const sr_option *sr_train_option_list(void) { return train_options; }

void sr_train_options_init(sr_train_options *options) { sr_options_init(train_options, options); }

sr_status sr__check_target(sr_context *ctx, const sr_table *table) {
  const sr_table_view *view = sr_table_get(table);
  if (view->value)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "the target is a number, and what is learned here are classes; compare it with "
                    "a number to make two, as in \"%s > median\"",
                    view->target_name ? view->target_name : "target");
  if (!view->label)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the table has no classes to learn; name the target column");
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
  SR_TRY(sr__table_select(ctx, table, rows, count, kept));
cleanup:
  sr__free(ctx, rows);
  return status;
}

/* Everything that can be wrong in the options is found before a row is looked at. */
static sr_status check_options(sr_context *ctx, const sr_train_options *o,
                               sr__configuration *plan) {
  sr_status status = SR_OK;
  SR_TRY(sr__configure(ctx, "plan", sr_train_plan_method, o->plan, plan));
  SR_TRY(sr_method_check(ctx, "learner", sr_learner_method, o->learner, NULL));
  if (o->structure.graph && *o->structure.graph)
    SR_TRY(sr_method_check(ctx, "graph", sr_graph_method, o->structure.graph, NULL));
  if (o->members < 1 || o->members > INT32_MAX)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "members is %lld, expected 1 or more",
                    (long long)o->members));
  if (o->evaluate.folds.folds < 0 || o->evaluate.folds.folds == 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "folds is %lld, expected 2 or more",
                    (long long)o->evaluate.folds.folds));
  if (!(o->evaluate.level > 0.0 && o->evaluate.level < 1.0))
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "level is %g, expected a number between 0 and 1",
                    o->evaluate.level));
cleanup:
  return status;
}

sr_status sr_train_options_check(sr_context *ctx, const sr_train_options *options) {
  sr__configuration plan = {0};
  sr_allocator allocator = sr__allocator(ctx);
  sr_status status = check_options(ctx, options, &plan);
  sr__configuration_free(&allocator, &plan);
  return status;
}

sr_status sr_train(sr_context *ctx, const sr_table *table, const sr_train_options *options,
                   uint64_t seed, sr_ensemble **ensemble) {
  sr_status status = SR_OK;
  sr_allocator allocator = sr__allocator(ctx);
  sr_train_options o;
  sr__configuration plan = {0};
  sr_table *kept = NULL;
  sr_structure *structure = NULL;
  sr__prepared prepared = {0};
  sr__mix mix = {0};
  sr__members members = {0};
  sr__part_weights part_weights = {0};
  sr_evaluation evaluation = {0};
  *ensemble = NULL;
  sr_train_options_init(&o);
  if (options) o = *options;
  bool gated = o.vote == SR_VOTE_GATED, judged = o.evaluate.evaluate;
  SR_TRY(check_options(ctx, &o, &plan));
  SR_TRY(sr__check_target(ctx, table));
  SR_TRY(drop_unlabelled(ctx, table, &kept));
  const sr_table *rows = kept ? kept : table;
  SR_TRY(sr_structure_estimate(ctx, rows, &o.structure, seed, &structure));
  SR_TRY(sr__prepare(ctx, rows, o.learner, &prepared));
  sr__choose_input choose = {.structure = structure,
                             .prepared = &prepared,
                             .members = (int32_t)o.members,
                             .vote = (sr_vote)o.vote,
                             .buffer = o.evaluate.folds.buffer,
                             .seed = seed};
  SR_TRY(sr__choose(ctx, &plan, &choose, &mix));
  SR_TRY(sr__fit_members(ctx, structure, &prepared, &mix, judged || gated, seed, &members));
  if (gated)
    SR_TRY(sr__part_weights_new(ctx, prepared.view, sr_parts_get(structure->parts), &members,
                                &part_weights));
  sr__evaluate_input judge = {.structure = structure,
                              .prepared = &prepared,
                              .mix = &mix,
                              .members = &members,
                              .part_weights = gated ? &part_weights : NULL,
                              .vote = (sr_vote)o.vote};
  if (judged) SR_TRY(sr__evaluate(ctx, &judge, &o.evaluate, seed, &evaluation));
  sr__ensemble_pieces pieces = {.prepared = &prepared,
                                .members = &members,
                                .mix = &mix,
                                .evaluation = judged ? &evaluation : NULL,
                                .part_weights = gated ? &part_weights : NULL,
                                .structure = &structure,
                                .vote = (sr_vote)o.vote,
                                .seed = seed};
  SR_TRY(sr__ensemble_new(ctx, &pieces, ensemble));
cleanup:
  sr__evaluation_free(&allocator, &evaluation);
  sr__part_weights_free(&allocator, &part_weights);
  sr__members_free(ctx, &members);
  sr__mix_free(&allocator, &mix);
  sr__prepared_free(ctx, &prepared);
  sr_structure_free(&structure);
  sr_table_free(&kept);
  sr__configuration_free(&allocator, &plan);
  return status;
}
