#include "ensemble.h"
#include "applicability.h"

#include <math.h>

void sr_ensemble_options_init(sr_ensemble_options *options) {
  *options = (sr_ensemble_options){.learner = "tree", .vote = SR_VOTE_AUTO};
}

sr_vote sr__vote_of(const sr__learner *learner, sr_vote asked) {
  if (asked != SR_VOTE_AUTO) return asked;
  return learner->flags & SR_LEARNER_CALIBRATED ? SR_VOTE_SOFT : SR_VOTE_HARD;
}

/* Of features and series, those that the learner takes. */
static sr_status copy_schema(sr_context *ctx, const sr__prepared *prepared, sr_ensemble *e) {
  static const float no_values[1] = {0};
  static const int64_t no_offset[1] = {0};
  const sr_table_view *from = prepared->view;
  sr_table_view view = {.x = no_values,
                        .series_offset = no_offset,
                        .classes = from->classes,
                        .target_name = from->target_name};
  if (prepared->learner->flags & SR_LEARNER_TAKES_FEATURES) {
    view.features = from->features;
    view.feature_names = from->feature_names;
    view.categories = from->categories;
  }
  if (prepared->learner->flags & SR_LEARNER_TAKES_SERIES) {
    view.channels = from->channels;
    view.channel_names = from->channel_names;
  }
  sr_status status = sr_table_new(ctx, &view, &e->schema);
  if (status != SR_OK) return status;
  sr__ensemble_show_schema(e);
  return SR_OK;
}

void sr__ensemble_show_schema(sr_ensemble *e) {
  const sr_table_view *schema = sr_table_get(e->schema);
  e->view.features = schema->features;
  e->view.channels = schema->channels;
  e->view.channel_names = schema->channel_names;
  e->view.feature_names = schema->feature_names;
  e->view.classes = schema->classes;
  e->view.target_name = schema->target_name;
}

sr_status sr__ensemble_show_mix(sr_context *ctx, sr_ensemble *e, int32_t count) {
  sr_status status = SR_OK;
  e->view.mix_count = count;
  SR_NEW(ctx, e->mix, count);
  for (int32_t k = 0; k < count; k++) {
    const sr__plan_record *r = &e->record[k];
    e->mix[k] = (sr_mix_entry){.plan = r->text,
                               .name = r->name,
                               .parameter_count = r->parameter_count,
                               .parameters = r->parameters,
                               .members = r->members,
                               .weight = r->weight,
                               .large_leaf = r->large_leaf};
  }
  e->view.mix = e->mix;
cleanup:
  return status;
}

static sr_status copy_structure(sr_context *ctx, const sr_structure *structure, sr_ensemble *e) {
  sr_status status = SR_OK;
  e->view.tmix = structure->view.tmix;
  e->view.seconds_structure = structure->view.seconds;
  if (!structure->dependence) return SR_OK;
  const sr_dependence_view *found = sr_dependence_get(structure->dependence);
  SR_NEW_ZERO(ctx, e->warning, found->warning_count);
  e->view.warnings = (const char *const *)e->warning;
  for (int32_t k = 0; k < found->warning_count; k++) {
    e->warning[k] = sr__strdup(ctx, found->warnings[k]);
    if (!e->warning[k]) SR_TRY(SR_ERROR_MEMORY);
    e->view.warning_count++;
  }
cleanup:
  return status;
}

/* Nothing can fail from here on, so that pieces are taken whole or not at all. */
static void take_pieces(const sr__ensemble_pieces *p, sr_ensemble *e) {
  sr__members *members = p->members;
  if (p->structure) {
    e->structure = *p->structure;
    e->view.structure = e->structure;
    *p->structure = NULL;
  }
  e->encoder = p->prepared->encoder;
  p->prepared->encoder = NULL;
  e->member = members->member;
  e->weight = members->weight;
  members->member = NULL;
  members->weight = NULL;
  if (p->mix) {
    e->offset = p->mix->offset;
    e->view.offset = e->offset;
    e->reason = p->mix->reason;
    e->choice = p->mix->choice;
    e->gain = p->mix->gain;
    if (p->mix->has_gain) e->view.gain = &e->gain;
    if (e->choice.candidate_count) e->view.choice = &e->choice;
    p->mix->offset = NULL;
    p->mix->reason = NULL;
    p->mix->choice = (sr_choice){0};
  }
  e->view.reason = e->reason;
  if (p->evaluation) {
    e->evaluation = *p->evaluation;
    e->view.evaluation = &e->evaluation;
    *p->evaluation = (sr_evaluation){0};
  }
  if (p->part_weights) {
    e->part_weights = *p->part_weights;
    *p->part_weights = (sr__part_weights){0};
  }
}

sr_status sr__ensemble_new(sr_context *ctx, const sr__ensemble_pieces *p, sr_ensemble **ensemble) {
  sr_status status = SR_OK;
  sr_ensemble *e = NULL;
  const sr__prepared *prepared = p->prepared;
  SR_NEW_ZERO(ctx, e, 1);
  e->allocator = sr__allocator(ctx);
  e->view.members = p->members->count;
  e->view.vote = p->vote;
  e->view.seed = p->seed;
  e->view.rows = prepared->view->rows;
  e->view.tmix = NAN;
  e->view.seconds_fit = p->seconds_prepare + p->members->seconds;
  e->view.seconds_choice = p->seconds_choice;
  e->learner_text =
      sr__configuration_text(ctx, prepared->configuration.method, prepared->configuration.options);
  if (!e->learner_text) SR_TRY(SR_ERROR_MEMORY);
  e->view.learner = e->learner_text;
  e->view.learner_name = prepared->learner->about.name;
  SR_TRY(copy_schema(ctx, prepared, e));
  if (p->structure) SR_TRY(copy_structure(ctx, *p->structure, e));
  e->record = p->members->record;
  SR_TRY(sr__ensemble_show_mix(ctx, e, p->members->record_count));
  p->members->record = NULL;
  e->learner = prepared->learner;
  take_pieces(p, e);
  *ensemble = e;
  return SR_OK;
cleanup:
  if (e) e->record = NULL; /* still the members' own */
  sr_ensemble_free(&e);
  return status;
}

sr_status sr_ensemble_fit(sr_context *ctx, const sr_table *table, const sr_plan *plan,
                          const sr_ensemble_options *options, uint64_t seed,
                          sr_ensemble **ensemble) {
  sr_status status = SR_OK;
  sr_ensemble_options defaults;
  sr__prepared prepared = {0};
  sr__members members = {0};
  sr_plan_view view = sr_plan_get(plan);
  *ensemble = NULL;
  sr_ensemble_options_init(&defaults);
  if (!options) options = &defaults;
  if (options->vote == SR_VOTE_GATED)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "a gated vote needs to know the parts; train with sr_train"));
  if (view.rows != sr_table_get(table)->rows)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "the plan is for %lld rows, the table has %lld",
                    (long long)view.rows, (long long)sr_table_get(table)->rows));
  sr__fit_plans plans = {.members = view.members, .fits = view.members};
  SR_TRY(sr__prepare(ctx, table, options->learner, &plans, &prepared));
  sr__fit fit = {.plan = plan, .count = view.members, .seed = seed, .stage = "fit"};
  SR_TRY(sr__fit_plan(ctx, &prepared, &fit, &members));
  SR_NEW_ZERO(ctx, members.record, 1);
  members.record_count = 1;
  SR_TRY(sr__plan_record_new(ctx, plan, view.members, 1.0, &members.record[0]));
  sr__ensemble_pieces pieces = {.prepared = &prepared,
                                .members = &members,
                                .vote = sr__vote_of(prepared.learner, options->vote),
                                .seed = seed};
  SR_TRY(sr__ensemble_new(ctx, &pieces, ensemble));
cleanup:
  sr__members_free(ctx, &members);
  sr__prepared_free(ctx, &prepared);
  return status;
}

void sr__evaluation_free(const sr_allocator *allocator, sr_evaluation *evaluation) {
  sr__release(allocator, (void *)(uintptr_t)evaluation->by_class);
  sr__release(allocator, (void *)(uintptr_t)evaluation->importance);
  for (int32_t k = 0; k < evaluation->question_count; k++)
    sr__release(allocator, (void *)(uintptr_t)evaluation->questions[k].reason);
  sr__release(allocator, (void *)(uintptr_t)evaluation->questions);
  sr__release(allocator, (void *)(uintptr_t)evaluation->origin_error);
  sr__release(allocator, (void *)(uintptr_t)evaluation->curve);
  sr__release(allocator, (void *)(uintptr_t)evaluation->confusion);
  sr_applicability *applicability = (sr_applicability *)(uintptr_t)evaluation->applicability;
  sr__applicability_free(allocator, &applicability);
  const sr_held_rows *held = &evaluation->held_rows;
  const void *blocks[] = {held->row, held->label, held->vote, held->share, held->unit, held->fold};
  for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
    sr__release(allocator, (void *)(uintptr_t)blocks[k]);
  *evaluation = (sr_evaluation){0};
}

void sr_ensemble_free(sr_ensemble **ensemble) {
  if (!ensemble || !*ensemble) return;
  sr_ensemble *e = *ensemble;
  sr_allocator allocator = e->allocator;
  for (int32_t j = 0; e->member && j < e->view.members; j++) e->learner->free_member(e->member[j]);
  if (e->learner) e->learner->free_encoder(e->encoder);
  sr_table_free(&e->schema);
  sr_structure_free(&e->structure);
  sr__plan_records_free(&allocator, e->view.mix_count, e->record);
  sr__choice_free(&allocator, &e->choice);
  sr__evaluation_free(&allocator, &e->evaluation);
  sr__part_weights_free(&allocator, &e->part_weights);
  for (int32_t k = 0; e->warning && k < e->view.warning_count; k++)
    sr__release(&allocator, e->warning[k]);
  void *blocks[] = {e->member, e->weight,       e->mix,     e->offset,
                    e->reason, e->learner_text, e->warning, e};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
  *ensemble = NULL;
}

const sr_table_view *sr_ensemble_schema(const sr_ensemble *ensemble) {
  return sr_table_get(ensemble->schema);
}

const sr_ensemble_view *sr_ensemble_get(const sr_ensemble *ensemble) { return &ensemble->view; }

int sr_ensemble_look(const sr_ensemble *ensemble, int32_t member, int64_t index,
                     sr_learning_look *look) {
  sr__learning_look found;
  if (!ensemble->learner->look || member < 0 || member >= ensemble->view.members) return 0;
  if (!ensemble->learner->look(ensemble->member[member], index, &found)) return 0;
  *look = (sr_learning_look){found.step, found.training_loss, found.held_out_loss, found.kept,
                             found.best};
  return 1;
}

int sr_ensemble_own_judgment(const sr_ensemble *ensemble, int32_t member,
                             sr_own_judgment *judgment) {
  sr__own_judgment found;
  if (!ensemble->learner->own_judgment || member < 0 || member >= ensemble->view.members) return 0;
  if (!ensemble->learner->own_judgment(ensemble->member[member], &found)) return 0;
  *judgment = (sr_own_judgment){.judged = found.judged,
                                .error = (double)found.wrong / (double)found.judged,
                                .sets = found.sets,
                                .penalty = found.penalty,
                                .temperature = found.temperature};
  return 1;
}
