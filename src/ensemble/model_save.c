#include <zlib.h>

#include "applicability.h"
#include "model_file.h"

uint32_t sr__model_checksum(const void *bytes, int64_t count) {
  return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, (size_t)count);
}

static void put_dictionary(sr__bytes *to, sr_dictionary dictionary) {
  sr__put_u64(to, (uint64_t)dictionary.count);
  for (int32_t c = 0; c < dictionary.count; c++) sr__put_string(to, dictionary.names[c]);
}

/* What the ensemble was trained on. The target's kind comes first, so that numbers can move in
 * without another change of the form. */
static void put_schema(sr__bytes *to, const sr_ensemble *e) {
  const sr_table_view *schema = sr_table_get(e->schema);
  sr__put_u8(to, SR_MODEL_CLASSES);
  sr__put_string(to, e->view.learner);
  sr__put_u32(to, e->view.vote == SR_VOTE_GATED ? SR_MODEL_GATED : (uint32_t)e->view.vote);
  sr__put_u64(to, e->view.seed);
  sr__put_u64(to, (uint64_t)e->view.rows);
  put_dictionary(to, schema->classes);
  sr__put_u8(to, schema->target_name != NULL);
  sr__put_string(to, schema->target_name);
  sr__put_u8(to, schema->feature_names != NULL);
  sr__put_u8(to, schema->categories != NULL);
  sr__put_u64(to, (uint64_t)schema->features);
  for (int64_t j = 0; j < schema->features; j++) {
    sr__put_string(to, schema->feature_names ? schema->feature_names[j] : NULL);
    put_dictionary(to, schema->categories ? schema->categories[j] : (sr_dictionary){0, NULL});
  }
  sr__put_u64(to, (uint64_t)schema->channels);
  sr__put_u8(to, schema->channel_names != NULL);
  for (int32_t c = 0; schema->channel_names && c < schema->channels; c++)
    sr__put_string(to, schema->channel_names[c]);
}

/* Plans with their numbers and the weights of their members. */
static void put_mix(sr__bytes *to, const sr_ensemble *e) {
  sr__put_u64(to, (uint64_t)e->view.mix_count);
  for (int32_t k = 0; k < e->view.mix_count; k++) {
    const sr__plan_record *r = &e->record[k];
    sr__put_string(to, r->text);
    sr__put_u32(to, (uint32_t)r->members);
    sr__put_f64(to, r->weight);
    sr__put_u64(to, (uint64_t)r->parameter_count);
    for (int32_t p = 0; p < r->parameter_count; p++) {
      sr__put_string(to, r->parameters[p].name);
      sr__put_f64(to, r->parameters[p].value);
    }
  }
  sr__put_u8(to, e->offset != NULL);
  for (int32_t c = 0; e->offset && c < e->view.classes.count; c++) sr__put_f32(to, e->offset[c]);
}

/* What made the mix; behind the mix that it belongs to. */
static void put_gain(sr__bytes *to, const sr_ensemble *e) {
  const sr_mix_gain *g = e->view.gain;
  if (!g) return;
  const double reals[] = {g->plain,     g->mix,   g->difference, g->difference_se, g->bag_size,
                          g->leaf_size, g->place, g->offset,     g->score_tmix};
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) sr__put_f64(to, reals[k]);
  sr__put_u8(to, g->thin != 0);
  for (int32_t k = 0; k < e->view.mix_count; k++) sr__put_f64(to, e->record[k].large_leaf);
}

/* What is known of the training, for people. */
static void put_story(sr__bytes *to, const sr_ensemble *e) {
  sr__put_string(to, e->view.reason);
  sr__put_f64(to, e->view.tmix);
  sr__put_u64(to, (uint64_t)e->view.warning_count);
  for (int32_t k = 0; k < e->view.warning_count; k++) sr__put_string(to, e->view.warnings[k]);
}

static void put_evaluation(sr__bytes *to, const sr_ensemble *ensemble) {
  const sr_evaluation *e = ensemble->view.evaluation;
  if (!e) return;
  const int64_t counts[] = {e->rows, e->naive_rows, e->honest_rows, e->units, e->folds, e->buffer};
  const double reals[] = {e->baseline,
                          e->naive,
                          e->honest,
                          e->honest_low,
                          e->honest_high,
                          e->level,
                          e->judges,
                          e->covariance,
                          e->variance_of_margin,
                          e->variance_of_member,
                          e->effective_members};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) sr__put_u64(to, (uint64_t)counts[k]);
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) sr__put_f64(to, reals[k]);
  sr__put_u32(to, (uint32_t)e->held_out);
  sr__put_u64(to, (uint64_t)e->classes);
  for (int32_t c = 0; c < e->classes; c++) {
    sr__put_u64(to, (uint64_t)e->by_class[c].rows);
    sr__put_f64(to, e->by_class[c].error);
    sr__put_f64(to, e->by_class[c].precision);
  }
  sr__put_u64(to, e->importance ? (uint64_t)e->features : 0);
  for (int64_t j = 0; e->importance && j < e->features; j++) sr__put_f64(to, e->importance[j]);
}

/* What was asked and answered; behind the evaluation that it belongs to. */
static void put_questions(sr__bytes *to, const sr_ensemble *ensemble) {
  const sr_evaluation *e = ensemble->view.evaluation;
  if (!e) return;
  sr__put_u64(to, (uint64_t)e->question_count);
  for (int32_t k = 0; k < e->question_count; k++) {
    const sr_question *q = &e->questions[k];
    const double reals[] = {q->estimate, q->low, q->high, q->next_low, q->next_high, q->distance};
    sr__put_u32(to, (uint32_t)q->kind);
    sr__put_u32(to, (uint32_t)q->units);
    for (size_t r = 0; r < sizeof reals / sizeof *reals; r++) sr__put_f64(to, reals[r]);
    sr__put_u8(to, q->reason != NULL);
    sr__put_string(to, q->reason);
  }
  const double reals[] = {e->tmix_careful,     e->degrees,           e->forward,
                          e->forward_low,      e->forward_high,      e->forward_mean,
                          e->forward_mean_low, e->forward_mean_high, e->forward_slope};
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) sr__put_f64(to, reals[k]);
  sr__put_u64(to, (uint64_t)e->next_rows);
  sr__put_u64(to, (uint64_t)e->origin_count);
  for (int32_t k = 0; k < e->origin_count; k++) sr__put_f64(to, e->origin_error[k]);
}

/* Of maps: how far away what was held out lay. */
static void put_distances(sr__bytes *to, const sr_ensemble *ensemble) {
  const sr_evaluation *e = ensemble->view.evaluation;
  if (!e || e->distance_unit == SR_DISTANCE_NONE) return;
  sr__put_u32(to, (uint32_t)e->distance_unit);
  sr__put_f64(to, e->reach);
  sr__put_f64(to, e->buffer_distance);
  sr__put_u64(to, (uint64_t)e->question_count);
  for (int32_t k = 0; k < e->question_count; k++) sr__put_f64(to, e->questions[k].buffer);
}

/* What the members' covariance is made of. */
static void put_pairs(sr__bytes *to, const sr_ensemble *ensemble) {
  const sr_evaluation *e = ensemble->view.evaluation;
  if (!e) return;
  const double reals[] = {e->shared_rows,  e->shared_parts, e->shared_law,
                          e->gain_members, e->gain_bags,    e->gain_place};
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) sr__put_f64(to, reals[k]);
}

/* The error against the members; behind the evaluation that it belongs to. */
static void put_curve(sr__bytes *to, const sr_ensemble *ensemble) {
  const sr_evaluation *e = ensemble->view.evaluation;
  if (!e || !e->curve_count) return;
  sr__put_u64(to, (uint64_t)e->curve_count);
  for (int32_t k = 0; k < e->curve_count; k++) {
    sr__put_u32(to, (uint32_t)e->curve[k].members);
    sr__put_f64(to, e->curve[k].error);
  }
}

/* Metrics of the held-out votes; behind the evaluation that they belong to. */
static void put_metrics(sr__bytes *to, const sr_ensemble *ensemble) {
  const sr_evaluation *e = ensemble->view.evaluation;
  if (!e || !e->confusion) return;
  const sr_metrics *m = &e->metrics;
  const double reals[] = {m->error, m->balanced_accuracy, m->macro_f1, m->auc,
                          m->brier, m->log_loss,          m->ece};
  sr__put_u64(to, (uint64_t)m->rows);
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) sr__put_f64(to, reals[k]);
  for (int b = 0; b < SR_CALIBRATION_BINS; b++) {
    sr__put_u64(to, (uint64_t)m->calibration[b].rows);
    sr__put_f64(to, m->calibration[b].share);
    sr__put_f64(to, m->calibration[b].right);
  }
  for (int64_t k = 0; k < (int64_t)e->classes * e->classes; k++)
    sr__put_u64(to, (uint64_t)e->confusion[k]);
}

/* Behind the evaluation that it belongs to. */
static void put_applicability(sr__bytes *to, const sr_ensemble *ensemble) {
  const sr_evaluation *e = ensemble->view.evaluation;
  if (!e || !e->applicability) return;
  sr__put_f64(to, e->outside);
  sr__applicability_save(e->applicability, to);
}

static void put_part_weights(sr__bytes *to, const sr_ensemble *e) {
  const sr__part_weights *w = &e->part_weights;
  if (!w->parts) return;
  sr__put_u64(to, (uint64_t)w->parts);
  sr__put_f64(to, w->width);
  for (int64_t j = 0; j < w->features; j++) {
    sr__put_f32(to, w->mean[j]);
    sr__put_f32(to, w->scale[j]);
  }
  for (int64_t k = 0; k < w->parts * w->features; k++) sr__put_f32(to, w->center[k]);
  sr__put_raw(to, w->seen, (int64_t)e->view.members * w->parts);
}

static void put_encoder(sr__bytes *to, const sr_ensemble *e) {
  e->learner->save_encoder(e->encoder, to);
}

static void put_members(sr__bytes *to, const sr_ensemble *e) {
  sr__put_u64(to, (uint64_t)e->view.members);
  for (int32_t j = 0; j < e->view.members; j++)
    e->learner->save_member(e->encoder, e->member[j], to);
}

/* The sections in the order of the file. Those that are not always there are left out when they
 * put nothing. */
static const struct {
  char tag[SR_MODEL_TAG_BYTES + 1];
  bool always;
  void (*put)(sr__bytes *to, const sr_ensemble *ensemble);
} sections[] = {{"Head", true, put_schema},         {"Mix ", true, put_mix},
                {"gain", false, put_gain},          {"told", true, put_story},
                {"eval", false, put_evaluation},    {"asks", false, put_questions},
                {"dist", false, put_distances},     {"pair", false, put_pairs},
                {"curv", false, put_curve},         {"scor", false, put_metrics},
                {"area", false, put_applicability}, {"Shar", true, put_encoder},
                {"Memb", true, put_members},        {"Near", false, put_part_weights}};

/* Writes what was put since `begin` as a length into the eight bytes before it. */
static void put_length(sr__bytes *to, int64_t begin) {
  if (to->status != SR_OK) return;
  uint64_t length = (uint64_t)(to->size - begin);
  for (int k = 0; k < 8; k++) to->data[begin - 8 + k] = (uint8_t)(length >> (8 * k));
}

sr_status sr__model_write(const sr_ensemble *ensemble, sr__bytes *to) {
  sr__put_raw(to, SR_MODEL_MAGIC, SR_MODEL_MAGIC_BYTES);
  sr__put_u32(to, SR_MODEL_VERSION);
  sr__put_u64(to, 0);
  int64_t first = to->size;
  for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
    int64_t before = to->size;
    sr__put_raw(to, sections[s].tag, SR_MODEL_TAG_BYTES);
    sr__put_u64(to, 0);
    int64_t begin = to->size;
    sections[s].put(to, ensemble);
    if (to->size > begin || sections[s].always)
      put_length(to, begin);
    else
      to->size = before;
  }
  put_length(to, first);
  if (to->status == SR_OK) sr__put_u32(to, sr__model_checksum(to->data, to->size));
  return to->status;
}

sr_status sr_ensemble_save(sr_context *ctx, const sr_ensemble *ensemble, const char *path) {
  sr_status status = SR_OK;
  sr__bytes bytes = {.ctx = ctx};
  sr__writer *writer = NULL;
  SR_TRY(sr__model_write(ensemble, &bytes));
  SR_TRY(sr__writer_open(ctx, path, &writer));
  SR_TRY(sr__writer_put(writer, bytes.data, (size_t)bytes.size));
  SR_TRY(sr__writer_commit(&writer));
cleanup:
  sr__writer_abort(&writer);
  sr__bytes_free(&bytes);
  return status;
}

sr_status sr_ensemble_to_bytes(sr_context *ctx, const sr_ensemble *ensemble, void **bytes,
                               int64_t *count) {
  sr__bytes written = {.ctx = ctx};
  sr_status status = sr__model_write(ensemble, &written);
  *bytes = NULL;
  *count = 0;
  if (status == SR_OK) status = sr__bytes_hand_over(ctx, &written, bytes, count);
  sr__bytes_free(&written);
  return status;
}
