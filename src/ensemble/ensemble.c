#include "ensemble.h"

#include <math.h>

void sr_ensemble_options_init(sr_ensemble_options *options) {
  memset(options, 0, sizeof *options);
  sr_learner_options_init(&options->learner);
  options->vote = SR_VOTE_HARD;
  options->seed = 1;
}

static sr_status copy_schema(sr_context *ctx, const sr_table_view *from, sr_table **schema) {
  static const float no_values[1] = {0};
  sr_table_view view = {.features = from->features,
                        .x = no_values,
                        .feature_names = from->feature_names,
                        .categories = from->categories,
                        .classes = from->classes,
                        .target_name = from->target_name};
  return sr_table_new(ctx, &view, schema);
}

static sr_status copy_plan_info(sr_context *ctx, const sr_plan *plan, sr_ensemble *e) {
  sr_plan_info info = sr_plan_get(plan);
  e->plan_name = sr__strdup(ctx, info.name);
  if (!e->plan_name) return SR_ERROR_MEMORY;
  e->view.plan = e->plan_name;
  for (int32_t k = 0; k < info.parameter_count; k++) {
    e->parameter_name[k] = sr__strdup(ctx, info.parameters[k].name);
    if (!e->parameter_name[k]) return SR_ERROR_MEMORY;
    e->parameters[k] = (sr_plan_parameter){e->parameter_name[k], info.parameters[k].value};
  }
  e->view.parameter_count = info.parameter_count;
  e->view.parameters = e->parameters;
  return SR_OK;
}

sr_status sr__ensemble_assemble(sr_context *ctx, sr__engine *engine, sr__crew *crew,
                                const sr_plan *plan, sr_vote vote, uint64_t seed,
                                sr_ensemble **ensemble) {
  sr_status status = SR_OK;
  sr_ensemble *e = NULL;
  SR_NEW_ZERO(ctx, e, 1);
  e->allocator = sr__allocator(ctx);
  e->learner = engine->learner;
  SR_TRY(copy_schema(ctx, engine->view, &e->schema));
  SR_TRY(copy_plan_info(ctx, plan, e));
  const sr_table_view *schema = sr_table_get(e->schema);
  e->view.learner = engine->learner->info.name;
  e->view.vote = vote;
  e->view.members = crew->members;
  e->view.seed = seed;
  e->view.rows = engine->view->rows;
  e->view.features = schema->features;
  e->view.feature_names = schema->feature_names;
  e->view.classes = schema->classes;
  e->view.target_name = schema->target_name;
  e->view.tmix = NAN;
  e->shared = engine->shared;
  e->member = crew->member;
  engine->shared = NULL;
  crew->member = NULL;
  *ensemble = e;
  return SR_OK;
cleanup:
  sr_ensemble_free(&e);
  return status;
}

sr_status sr_ensemble_fit(sr_context *ctx, const sr_table *table, const sr_plan *plan,
                          const sr_ensemble_options *options, sr_ensemble **ensemble) {
  sr_status status = SR_OK;
  sr__engine engine = {0};
  sr__crew crew = {0};
  *ensemble = NULL;
  if (options->vote == SR_VOTE_GATED)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "a gated vote needs to know the parts; train with sr_train"));
  if (sr_plan_get(plan).rows != sr_table_get(table)->rows)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "the plan is for %lld rows, the table has %lld",
                    (long long)sr_plan_get(plan).rows, (long long)sr_table_get(table)->rows));
  SR_TRY(sr__engine_open(ctx, table, &options->learner, &engine));
  sr__fit fit = {.plan = plan,
                 .count = sr_plan_get(plan).members,
                 .seed = options->seed,
                 .stage = "fit"};
  SR_TRY(sr__crew_fit(ctx, &engine, &fit, &crew));
  SR_TRY(sr__ensemble_assemble(ctx, &engine, &crew, plan, options->vote, options->seed, ensemble));
cleanup:
  sr__crew_free(ctx, &crew);
  sr__engine_close(&engine);
  return status;
}

void sr__choice_free(const sr_allocator *allocator, sr_choice *choice) {
  sr__release(allocator, (void *)(uintptr_t)choice->candidates);
  sr__release(allocator, (void *)(uintptr_t)choice->reason);
  *choice = (sr_choice){0};
}

void sr_ensemble_free(sr_ensemble **ensemble) {
  if (!ensemble || !*ensemble) return;
  sr_ensemble *e = *ensemble;
  sr_allocator allocator = e->allocator;
  for (int32_t j = 0; e->member && j < e->view.members; j++) e->learner->free_member(e->member[j]);
  if (e->learner) e->learner->free_shared(e->shared);
  sr_table_free(&e->schema);
  for (int k = 0; k < SR_PLAN_PARAMETERS; k++) sr__release(&allocator, e->parameter_name[k]);
  sr__choice_free(&allocator, &e->choice);
  sr__gate_free(&allocator, &e->gate);
  void *blocks[] = {e->member,
                    e->plan_name,
                    e->reason,
                    e->held_out,
                    (void *)(uintptr_t)e->evaluation.by_class,
                    (void *)(uintptr_t)e->evaluation.importance,
                    e};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
  *ensemble = NULL;
}

const sr_ensemble_view *sr_ensemble_get(const sr_ensemble *ensemble) { return &ensemble->view; }
