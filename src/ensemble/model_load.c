/* Nothing that is read is trusted: counts are held against what is left of the file, codes against
 * their range. */
#include <math.h>

#include "applicability.h"
#include "data/source.h"
#include "model_file.h"

typedef struct model_reader {
  sr_context *ctx;
  const char *path;
  sr_ensemble *ensemble;
  sr__arena arena;
  bool has_head, has_mix, has_told, has_evaluation, has_shared, has_members;
} model_reader;

static sr_status refuse(model_reader *m, const char *reason) {
  return sr__fail_at(m->ctx, SR_ERROR_FORMAT, m->path, 0, 0,
                     "'%s' is not a whole specroute model: %s; train it again", m->path, reason);
}

/* ---- sections ----------------------------------------------------------------------------- */

static char *arena_string(model_reader *m, sr__byte_reader *from) {
  char *text = sr__get_string(from);
  if (!text) return NULL;
  size_t length = strlen(text) + 1;
  char *copy = sr__arena_alloc(m->ctx, &m->arena, (int64_t)length, 1);
  if (copy)
    memcpy(copy, text, length);
  else
    from->status = SR_ERROR_MEMORY;
  sr__free(m->ctx, text);
  return copy;
}

static sr_dictionary get_dictionary(model_reader *m, sr__byte_reader *from) {
  sr_dictionary dictionary = {0, NULL};
  int64_t count = sr__get_count(from, 4);
  if (from->status != SR_OK || count == 0) return dictionary;
  if (count > INT32_MAX) {
    sr__get_refuse(from, "a list of names is too long");
    return dictionary;
  }
  const char **names = sr__arena_alloc(m->ctx, &m->arena, count, sizeof *names);
  if (!names) {
    from->status = SR_ERROR_MEMORY;
    return dictionary;
  }
  for (int64_t c = 0; c < count && from->status == SR_OK; c++) names[c] = arena_string(m, from);
  if (from->status == SR_OK) dictionary = (sr_dictionary){(int32_t)count, names};
  return dictionary;
}

static sr_status get_features(model_reader *m, sr__byte_reader *from, sr_table_view *schema) {
  bool named = sr__get_u8(from) != 0, categorical = sr__get_u8(from) != 0;
  int64_t count = sr__get_count(from, 4);
  if (from->status != SR_OK) return from->status;
  const char **names = sr__arena_alloc(m->ctx, &m->arena, count, sizeof *names);
  sr_dictionary *categories = sr__arena_alloc(m->ctx, &m->arena, count, sizeof *categories);
  if (!names || !categories) return SR_ERROR_MEMORY;
  for (int64_t j = 0; j < count && from->status == SR_OK; j++) {
    names[j] = arena_string(m, from);
    categories[j] = get_dictionary(m, from);
  }
  schema->features = count;
  if (named) schema->feature_names = names;
  if (categorical) schema->categories = categories;
  return from->status;
}

static sr_status get_channels(model_reader *m, sr__byte_reader *from, sr_table_view *schema) {
  uint64_t count = sr__get_u64(from);
  bool named = sr__get_u8(from) != 0;
  if (count > SR_MODEL_MAX_CHANNELS) sr__get_refuse(from, "it has too many channels");
  if (from->status != SR_OK) return from->status;
  schema->channels = (int32_t)count;
  if (!named) return SR_OK;
  const char **names = sr__arena_alloc(m->ctx, &m->arena, (int64_t)count, sizeof *names);
  if (!names) return SR_ERROR_MEMORY;
  for (uint64_t c = 0; c < count && from->status == SR_OK; c++) names[c] = arena_string(m, from);
  schema->channel_names = names;
  return from->status;
}

static sr_status get_head(model_reader *m, sr__byte_reader *from) {
  static const float no_values[1] = {0};
  sr_status status = SR_OK;
  sr_ensemble *e = m->ensemble;
  static const int64_t no_offset[1] = {0};
  sr_table_view schema = {.x = no_values, .series_offset = no_offset};
  if (m->has_head) return refuse(m, "it has two heads");
  uint8_t target_kind = sr__get_u8(from);
  e->learner_text = sr__get_string(from);
  if (from->status != SR_OK) return from->status;
  if (target_kind != SR_MODEL_CLASSES) return refuse(m, "its target is not a class");
  const sr_method *method = NULL;
  status = sr_method_check(m->ctx, "learner", sr_learner_method, e->learner_text, &method);
  if (status == SR_ERROR_MEMORY) return status;
  if (status != SR_OK) return refuse(m, "its learner is not known to this version");
  e->learner = (const sr__learner *)method;
  e->view.learner = e->learner_text;
  e->view.learner_name = method->name;
  uint32_t vote = sr__get_u32(from);
  e->view.seed = sr__get_u64(from);
  e->view.rows = (int64_t)sr__get_u64(from);
  schema.classes = get_dictionary(m, from);
  bool has_target = sr__get_u8(from) != 0;
  char *target = arena_string(m, from);
  if (has_target) schema.target_name = target;
  SR_TRY(get_features(m, from, &schema));
  SR_TRY(get_channels(m, from, &schema));
  if (vote > SR_MODEL_GATED || e->view.rows < 0 || schema.classes.count < 1)
    SR_TRY(refuse(m, "its head is out of range"));
  SR_TRY(sr_table_new(m->ctx, &schema, &e->schema));
  e->view.vote = vote == SR_MODEL_GATED ? SR_VOTE_GATED : (sr_vote)vote;
  sr__ensemble_show_schema(e);
  m->has_head = true;
cleanup:
  return status;
}

static sr_status get_record(model_reader *m, sr__byte_reader *from, sr__plan_record *r) {
  r->text = sr__get_string(from);
  r->members = (int32_t)sr__get_u32(from);
  r->weight = sr__get_f64(from);
  int64_t count = sr__get_count(from, 12);
  if (from->status != SR_OK) return from->status;
  if (count > SR_PLAN_PARAMETERS) return refuse(m, "its plan has too many numbers");
  if (r->members < 1 || !(r->weight >= 0.0) || !isfinite(r->weight))
    return refuse(m, "its plan has no members or a weight that is no number");
  for (int64_t k = 0; k < count; k++) {
    r->parameter_name[k] = sr__get_string(from);
    r->parameters[k] = (sr_plan_parameter){r->parameter_name[k], sr__get_f64(from)};
    if (from->status != SR_OK) return from->status;
    r->parameter_count++;
  }
  const sr_method *method = NULL; /* bags in memory name no file */
  size_t length = strcspn(r->text, ":");
  for (int i = 0; (method = sr_plan_method(i)); i++) {
    if (strlen(method->name) == length && memcmp(method->name, r->text, length) == 0) break;
  }
  if (!method) return refuse(m, "its plan is not known to this version");
  r->name = method->name;
  return SR_OK;
}

static sr_status get_mix(model_reader *m, sr__byte_reader *from) {
  sr_status status = SR_OK;
  sr_ensemble *e = m->ensemble;
  if (!m->has_head || m->has_mix) return refuse(m, "its mix is out of place");
  m->has_mix = true;
  int64_t count = sr__get_count(from, 24);
  SR_TRY(from->status);
  if (count < 1 || count > INT32_MAX) SR_TRY(refuse(m, "it has no plan"));
  SR_NEW_ZERO(m->ctx, e->record, count);
  e->view.mix_count = (int32_t)count;
  for (int64_t k = 0; k < count; k++) SR_TRY(get_record(m, from, &e->record[k]));
  SR_TRY(sr__ensemble_show_mix(m->ctx, e, (int32_t)count));
  if (sr__get_u8(from)) {
    SR_NEW(m->ctx, e->offset, e->view.classes.count);
    for (int32_t c = 0; c < e->view.classes.count; c++) {
      e->offset[c] = sr__get_f32(from);
      if (!isfinite(e->offset[c])) SR_TRY(refuse(m, "its offset is no number"));
    }
    e->view.offset = e->offset;
  }
  status = from->status;
cleanup:
  return status;
}

static sr_status get_gain(model_reader *m, sr__byte_reader *from) {
  sr_ensemble *e = m->ensemble;
  sr_mix_gain *g = &e->gain;
  if (!m->has_mix || e->view.gain) return refuse(m, "its gain is out of place");
  double *reals[] = {&g->plain,     &g->mix,   &g->difference, &g->difference_se, &g->bag_size,
                     &g->leaf_size, &g->place, &g->offset,     &g->score_tmix};
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) *reals[k] = sr__get_f64(from);
  g->thin = sr__get_u8(from) != 0;
  for (int32_t k = 0; k < e->view.mix_count; k++)
    e->mix[k].large_leaf = e->record[k].large_leaf = sr__get_f64(from);
  if (from->status == SR_OK) e->view.gain = g;
  return from->status;
}

static sr_status get_story(model_reader *m, sr__byte_reader *from) {
  sr_status status = SR_OK;
  sr_ensemble *e = m->ensemble;
  if (m->has_told) return refuse(m, "it is told twice");
  m->has_told = true;
  e->reason = sr__get_string(from);
  e->view.tmix = sr__get_f64(from);
  int64_t count = sr__get_count(from, 4);
  SR_TRY(from->status);
  if (count > INT32_MAX) SR_TRY(refuse(m, "it has too many warnings"));
  e->view.reason = e->reason;
  SR_NEW_ZERO(m->ctx, e->warning, count);
  e->view.warnings = (const char *const *)e->warning;
  for (int64_t k = 0; k < count; k++) {
    e->warning[k] = sr__get_string(from);
    SR_TRY(from->status);
    e->view.warning_count++;
  }
cleanup:
  return status;
}

static sr_status get_classes(model_reader *m, sr__byte_reader *from, sr_evaluation *to) {
  sr_status status = SR_OK;
  sr_class_report *report = NULL;
  int64_t count = sr__get_count(from, 24);
  if (from->status != SR_OK) return from->status;
  SR_NEW(m->ctx, report, count);
  to->by_class = report;
  to->classes = (int32_t)count;
  for (int64_t c = 0; c < count; c++) {
    report[c].rows = (int64_t)sr__get_u64(from);
    report[c].error = sr__get_f64(from);
    report[c].precision = sr__get_f64(from);
  }
  if (count != m->ensemble->view.classes.count)
    SR_TRY(refuse(m, "its evaluation is about other classes"));
cleanup:
  return status;
}

static sr_status get_importance(model_reader *m, sr__byte_reader *from, sr_evaluation *to) {
  sr_status status = SR_OK;
  double *importance = NULL;
  int64_t count = sr__get_count(from, 8);
  if (from->status != SR_OK || count == 0) return from->status;
  if (count != m->ensemble->view.features)
    return refuse(m, "its evaluation is about other features");
  SR_NEW(m->ctx, importance, count);
  to->importance = importance;
  to->features = count;
  for (int64_t j = 0; j < count; j++) importance[j] = sr__get_f64(from);
cleanup:
  return status;
}

static sr_status get_evaluation(model_reader *m, sr__byte_reader *from) {
  sr_status status = SR_OK;
  sr_ensemble *e = m->ensemble;
  sr_evaluation *to = &e->evaluation;
  if (!m->has_head || m->has_evaluation) return refuse(m, "its evaluation is out of place");
  m->has_evaluation = true;
  to->shared_rows = to->shared_parts = to->shared_law = NAN;
  to->gain_members = to->gain_bags = to->gain_place = NAN;
  to->applicability_limit = to->outside = to->reach = to->buffer_distance = NAN;
  to->rows = (int64_t)sr__get_u64(from);
  to->naive_rows = (int64_t)sr__get_u64(from);
  to->honest_rows = (int64_t)sr__get_u64(from);
  to->units = (int32_t)sr__get_u64(from);
  to->folds = (int32_t)sr__get_u64(from);
  to->buffer = (int64_t)sr__get_u64(from);
  double *reals[] = {&to->baseline,
                     &to->naive,
                     &to->honest,
                     &to->honest_low,
                     &to->honest_high,
                     &to->level,
                     &to->judges,
                     &to->covariance,
                     &to->variance_of_margin,
                     &to->variance_of_member,
                     &to->effective_members};
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) *reals[k] = sr__get_f64(from);
  uint32_t unit = sr__get_u32(from);
  SR_TRY(from->status);
  if (unit > SR_UNIT_AREA) SR_TRY(refuse(m, "it held out something unknown"));
  to->held_out = (sr_unit)unit;
  SR_TRY(get_classes(m, from, to));
  SR_TRY(get_importance(m, from, to));
  e->view.evaluation = to;
cleanup:
  return status;
}

static sr_status get_applicability(model_reader *m, sr__byte_reader *from) {
  sr_status status = SR_OK;
  sr_evaluation *to = &m->ensemble->evaluation;
  sr_applicability *made = NULL;
  if (!m->has_evaluation || to->applicability)
    return refuse(m, "its area of applicability is out of place");
  to->outside = sr__get_f64(from);
  SR_TRY(sr__applicability_load(m->ctx, from, m->ensemble->view.features, &made));
  to->applicability = made;
  to->applicability_limit = made->limit;
cleanup:
  return status;
}

static sr_status get_pairs(model_reader *m, sr__byte_reader *from) {
  sr_evaluation *to = &m->ensemble->evaluation;
  double *reals[] = {&to->shared_rows,  &to->shared_parts, &to->shared_law,
                     &to->gain_members, &to->gain_bags,    &to->gain_place};
  if (!m->has_evaluation) return refuse(m, "what its members share is out of place");
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) *reals[k] = sr__get_f64(from);
  return from->status;
}

static sr_status get_curve(model_reader *m, sr__byte_reader *from) {
  sr_status status = SR_OK;
  sr_evaluation *to = &m->ensemble->evaluation;
  sr_curve_point *curve = NULL;
  if (!m->has_evaluation || to->curve) return refuse(m, "its error by members is out of place");
  int64_t count = sr__get_count(from, 12);
  SR_TRY(from->status);
  if (count > INT32_MAX) SR_TRY(refuse(m, "its error by members is out of range"));
  SR_NEW(m->ctx, curve, count);
  to->curve = curve;
  to->curve_count = (int32_t)count;
  for (int64_t k = 0; k < count; k++) {
    curve[k].members = (int32_t)sr__get_u32(from);
    curve[k].error = sr__get_f64(from);
  }
  status = from->status;
cleanup:
  return status;
}

static sr_status get_question(model_reader *m, sr__byte_reader *from, sr_question *q) {
  uint32_t kind = sr__get_u32(from);
  q->units = (int32_t)sr__get_u32(from);
  double *reals[] = {&q->estimate, &q->low, &q->high, &q->next_low, &q->next_high, &q->distance};
  for (size_t r = 0; r < sizeof reals / sizeof *reals; r++) *reals[r] = sr__get_f64(from);
  bool has_reason = sr__get_u8(from) != 0;
  char *reason = sr__get_string(from);
  if (has_reason)
    q->reason = reason;
  else
    sr__free(m->ctx, reason);
  if (from->status != SR_OK) return from->status;
  if (kind > SR_QUESTION_USE) return refuse(m, "it was asked something unknown");
  q->kind = (sr_question_kind)kind;
  q->buffer = NAN; /* told by a section of its own */
  return SR_OK;
}

static sr_status get_questions(model_reader *m, sr__byte_reader *from) {
  sr_status status = SR_OK;
  sr_evaluation *to = &m->ensemble->evaluation;
  sr_question *list = NULL;
  double *origin = NULL;
  if (!m->has_evaluation || to->questions) return refuse(m, "its questions are out of place");
  int64_t count = sr__get_count(from, 61);
  SR_TRY(from->status);
  SR_NEW_ZERO(m->ctx, list, count);
  to->questions = list;
  for (int64_t k = 0; k < count; k++) {
    to->question_count++;
    SR_TRY(get_question(m, from, &list[k]));
  }
  double *reals[] = {&to->tmix_careful,     &to->degrees,           &to->forward,
                     &to->forward_low,      &to->forward_high,      &to->forward_mean,
                     &to->forward_mean_low, &to->forward_mean_high, &to->forward_slope};
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) *reals[k] = sr__get_f64(from);
  to->next_rows = (int64_t)sr__get_u64(from);
  int64_t origins = sr__get_count(from, 8);
  SR_TRY(from->status);
  SR_NEW(m->ctx, origin, origins);
  to->origin_error = origin;
  to->origin_count = (int32_t)origins;
  for (int64_t k = 0; k < origins; k++) origin[k] = sr__get_f64(from);
  status = from->status;
cleanup:
  return status;
}

static sr_status get_metrics(model_reader *m, sr__byte_reader *from) {
  sr_status status = SR_OK;
  sr_evaluation *to = &m->ensemble->evaluation;
  sr_metrics *s = &to->metrics;
  int64_t *confusion = NULL, cells = (int64_t)to->classes * to->classes;
  double *reals[] = {&s->error, &s->balanced_accuracy, &s->macro_f1, &s->auc,
                     &s->brier, &s->log_loss,          &s->ece};
  if (!m->has_evaluation || to->confusion) return refuse(m, "its metrics are out of place");
  s->rows = (int64_t)sr__get_u64(from);
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) *reals[k] = sr__get_f64(from);
  for (int b = 0; b < SR_CALIBRATION_BINS; b++) {
    s->calibration[b].rows = (int64_t)sr__get_u64(from);
    s->calibration[b].share = sr__get_f64(from);
    s->calibration[b].right = sr__get_f64(from);
  }
  if (from->status == SR_OK && from->size - from->at != 8 * cells)
    SR_TRY(refuse(m, "its metrics are about other classes"));
  SR_TRY(from->status);
  SR_NEW(m->ctx, confusion, cells);
  to->confusion = confusion;
  for (int64_t k = 0; k < cells; k++) confusion[k] = (int64_t)sr__get_u64(from);
  status = from->status;
cleanup:
  return status;
}

static sr_status get_shared(model_reader *m, sr__byte_reader *from) {
  sr_ensemble *e = m->ensemble;
  if (!m->has_head || m->has_shared) return refuse(m, "its encoder section is out of place");
  sr_status status = e->learner->load_encoder(from, &e->encoder);
  if (status != SR_OK) return status;
  m->has_shared = true;
  if (e->learner->classes(e->encoder) != e->view.classes.count ||
      e->learner->features(e->encoder) != e->view.features ||
      (e->learner->channels ? e->learner->channels(e->encoder) : 0) != e->view.channels)
    return refuse(m, "its learner and its head disagree on classes, features or channels");
  return SR_OK;
}

static sr_status get_members(model_reader *m, sr__byte_reader *from) {
  sr_status status = SR_OK;
  sr_ensemble *e = m->ensemble;
  if (!m->has_shared || m->has_members) return refuse(m, "its members are out of place");
  int64_t count = sr__get_count(from, 1);
  SR_TRY(from->status);
  if (count < 1 || count > INT32_MAX) SR_TRY(refuse(m, "it has no members"));
  SR_NEW_ZERO(m->ctx, e->member, count);
  e->view.members = (int32_t)count;
  for (int64_t j = 0; j < count; j++)
    SR_TRY(e->learner->load_member(from, e->encoder, &e->member[j]));
  m->has_members = true;
cleanup:
  return status;
}

static void get_floats(sr__byte_reader *from, float *to, int64_t count) {
  for (int64_t k = 0; k < count; k++) to[k] = sr__get_f32(from);
}

static sr_status get_part_weights(model_reader *m, sr__byte_reader *from) {
  sr_status status = SR_OK;
  sr__part_weights *w = &m->ensemble->part_weights;
  int64_t members = m->ensemble->view.members, features = m->ensemble->view.features;
  if (!m->has_members || w->center) return refuse(m, "its nearness is out of place");
  int64_t parts = sr__get_count(from, members);
  double width = sr__get_f64(from);
  SR_TRY(from->status);
  if (parts < 1 || parts > INT32_MAX || !(width > 0.0) || !isfinite(width))
    SR_TRY(refuse(m, "its nearness is out of range"));
  if (features > 0 && parts > from->size / 4 / features)
    SR_TRY(refuse(m, "its nearness is cut off"));
  SR_NEW(m->ctx, w->mean, features);
  SR_NEW(m->ctx, w->scale, features);
  SR_NEW(m->ctx, w->center, parts * features);
  SR_NEW(m->ctx, w->seen, parts * members);
  for (int64_t j = 0; j < features; j++) {
    w->mean[j] = sr__get_f32(from);
    w->scale[j] = sr__get_f32(from);
  }
  get_floats(from, w->center, parts * features);
  sr__get_raw(from, w->seen, parts * members);
  w->features = features;
  w->width = width;
  w->parts = (int32_t)parts;
  status = from->status;
cleanup:
  return status;
}

static sr_status get_distances(model_reader *m, sr__byte_reader *from) {
  sr_evaluation *to = &m->ensemble->evaluation;
  sr_question *list = (sr_question *)(uintptr_t)to->questions;
  if (!m->has_evaluation || !list) return refuse(m, "its distances are out of place");
  uint32_t unit = sr__get_u32(from);
  to->reach = sr__get_f64(from);
  to->buffer_distance = sr__get_f64(from);
  int64_t count = sr__get_count(from, 8);
  if (from->status != SR_OK) return from->status;
  if (unit > SR_DISTANCE_MAP || count != to->question_count)
    return refuse(m, "its distances are not those of its questions");
  to->distance_unit = (sr_distance_unit)unit;
  for (int64_t k = 0; k < count; k++) list[k].buffer = sr__get_f64(from);
  return from->status;
}

typedef struct section_kind {
  const char *tag;
  sr_status (*get)(model_reader *m, sr__byte_reader *from);
} section_kind;

static const section_kind kinds[] = {{"Head", get_head},      {"Mix ", get_mix},
                                     {"told", get_story},     {"eval", get_evaluation},
                                     {"asks", get_questions}, {"pair", get_pairs},
                                     {"gain", get_gain},      {"Shar", get_shared},
                                     {"Memb", get_members},   {"Near", get_part_weights},
                                     {"scor", get_metrics},   {"area", get_applicability},
                                     {"curv", get_curve},     {"dist", get_distances}};

static sr_status get_section(model_reader *m, sr__byte_reader *from) {
  char tag[SR_MODEL_TAG_BYTES + 1] = {0};
  sr__get_raw(from, tag, SR_MODEL_TAG_BYTES);
  int64_t length = sr__get_count(from, 1);
  if (from->status != SR_OK) return from->status;
  sr__byte_reader section = {.ctx = m->ctx,
                             .data = from->data + from->at,
                             .size = length,
                             .what = from->what};
  from->at += length;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    if (memcmp(tag, kinds[k].tag, SR_MODEL_TAG_BYTES) != 0) continue;
    sr_status status = kinds[k].get(m, &section);
    if (status != SR_OK) return status;
    return section.at == length ? SR_OK : refuse(m, "a section is longer than what it says");
  }
  bool optional = tag[0] >= 'a' && tag[0] <= 'z';
  return optional ? SR_OK : refuse(m, "a newer version wrote a section that must be understood");
}

/* ---- the file ----------------------------------------------------------------------------- */

static sr_status check_envelope(model_reader *m, const uint8_t *bytes, int64_t count) {
  if (count < SR_MODEL_HEADER_BYTES + SR_MODEL_CHECKSUM_BYTES ||
      memcmp(bytes, SR_MODEL_MAGIC, SR_MODEL_MAGIC_BYTES) != 0)
    return refuse(m, "it does not begin like one");
  sr__byte_reader head = {
      .ctx = m->ctx, .data = bytes, .size = count, .at = SR_MODEL_MAGIC_BYTES, .what = "the model"};
  uint32_t version = sr__get_u32(&head);
  uint64_t length = sr__get_u64(&head);
  if (version != SR_MODEL_VERSION)
    return sr__fail_at(m->ctx, SR_ERROR_FORMAT, m->path, 0, 0,
                       "'%s' has version %u; this specroute reads version %d", m->path, version,
                       SR_MODEL_VERSION);
  if (length != (uint64_t)(count - SR_MODEL_HEADER_BYTES - SR_MODEL_CHECKSUM_BYTES))
    return refuse(m, "it is cut off or has something behind it");
  head.at = count - SR_MODEL_CHECKSUM_BYTES;
  if (sr__get_u32(&head) != sr__model_checksum(bytes, count - SR_MODEL_CHECKSUM_BYTES))
    return refuse(m, "its checksum is wrong, some byte was altered");
  return SR_OK;
}

static sr_status check_whole(model_reader *m) {
  const sr_ensemble *e = m->ensemble;
  if (!m->has_members || !m->has_mix) return refuse(m, "a section is missing");
  if ((e->view.vote == SR_VOTE_GATED) != (e->part_weights.parts > 0))
    return refuse(m, "its vote and its nearness do not go together");
  int64_t members = 0;
  for (int32_t k = 0; k < e->view.mix_count; k++) members += e->record[k].members;
  return members == e->view.members ? SR_OK : refuse(m, "its mix has other members");
}

/* Members of a mix weigh what their plan gives each of them; those of one plan all the same. */
static sr_status share_weights(model_reader *m) {
  sr_status status = SR_OK;
  sr_ensemble *e = m->ensemble;
  int64_t member = 0;
  if (e->view.mix_count == 1) return SR_OK;
  SR_NEW(m->ctx, e->weight, e->view.members);
  for (int32_t k = 0; k < e->view.mix_count; k++) {
    const sr__plan_record *r = &e->record[k];
    for (int32_t j = 0; j < r->members; j++) e->weight[member++] = (float)(r->weight / r->members);
  }
cleanup:
  return status;
}

static sr_status load(sr_context *ctx, const char *path, const uint8_t *bytes, int64_t count,
                      sr_ensemble **ensemble) {
  sr_status status = SR_OK;
  model_reader m = {.ctx = ctx, .path = path};
  *ensemble = NULL;
  SR_TRY(check_envelope(&m, bytes, count));
  SR_NEW_ZERO(ctx, m.ensemble, 1);
  m.ensemble->allocator = sr__allocator(ctx);
  sr__byte_reader reader = {.ctx = ctx,
                            .data = bytes,
                            .at = SR_MODEL_HEADER_BYTES,
                            .size = count - SR_MODEL_CHECKSUM_BYTES,
                            .what = path};
  while (reader.at < reader.size) SR_TRY(get_section(&m, &reader));
  SR_TRY(check_whole(&m));
  SR_TRY(share_weights(&m));
  *ensemble = m.ensemble;
  m.ensemble = NULL;
cleanup:
  sr__arena_free(ctx, &m.arena);
  sr_ensemble_free(&m.ensemble);
  return status;
}

sr_status sr_ensemble_from_bytes(sr_context *ctx, const void *bytes, int64_t count,
                                 sr_ensemble **ensemble) {
  return load(ctx, "memory", bytes, count, ensemble);
}

static sr_status read_file(sr_context *ctx, const char *path, uint8_t **bytes, int64_t *count) {
  sr_status status = SR_OK;
  int64_t capacity = 0;
  sr__source *source = NULL;
  SR_TRY(sr__source_open(ctx, path, &source));
  for (*count = 0;;) {
    SR_GROW(ctx, *bytes, capacity, *count + (1 << 16));
    size_t got;
    SR_TRY(sr__source_read(ctx, source, *bytes + *count, (size_t)(capacity - *count), &got));
    *count += (int64_t)got;
    if (got == 0) break;
  }
cleanup:
  sr__source_close(ctx, &source);
  return status;
}

sr_status sr_ensemble_load(sr_context *ctx, const char *path, sr_ensemble **ensemble) {
  sr_status status = SR_OK;
  uint8_t *bytes = NULL;
  int64_t count = 0;
  *ensemble = NULL;
  SR_TRY(read_file(ctx, path, &bytes, &count));
  SR_TRY(load(ctx, path, bytes, count, ensemble));
cleanup:
  sr__free(ctx, bytes);
  return status;
}
