#include "sequence_learner.h"

#include <math.h>

#include "learner/labeled_bag.h"
#include "learner/series/table_series.h"
#include "learner/series/unit_sets.h"

struct sr__encoded {
  sr_allocator allocator;
  sr__sequence_rows *rows;
};

struct sr__training {
  sr_allocator allocator;
  sr__encoded *rows;
  int32_t *label;
  float *weight; /* mean 1; NULL: all 1 */
};

/* ---- freeing ------------------------------------------------------------------------------ */

void sr__sequence_learner_free_encoder(sr__encoder *encoder) {
  if (!encoder) return;
  sr_allocator allocator = encoder->allocator;
  sr__sequence_encoder_free(encoder->sequence);
  sr__release(&allocator, encoder);
}

void sr__sequence_learner_free_encoded(sr__encoded *rows) {
  if (!rows) return;
  sr_allocator allocator = rows->allocator;
  sr__sequence_rows_free(rows->rows);
  sr__release(&allocator, rows);
}

void sr__sequence_learner_free_training(sr__training *training) {
  if (!training) return;
  sr_allocator allocator = training->allocator;
  sr__sequence_learner_free_encoded(training->rows);
  sr__release(&allocator, training->label);
  sr__release(&allocator, training->weight);
  sr__release(&allocator, training);
}

void sr__sequence_learner_free_member(sr__member *member) {
  if (!member) return;
  sr_allocator allocator = member->allocator;
  sr__sequence_member_free(member->net);
  sr__release(&allocator, member);
}

/* ---- rows --------------------------------------------------------------------------------- */

sr_status sr__sequence_learner_encode(sr_context *ctx, const sr__encoder *encoder,
                                      const sr_table *table, int64_t first, int64_t count,
                                      sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__encoded *made = NULL;
  sr__series_view series;
  *rows = NULL;
  SR_TRY(sr__table_series(ctx, table, encoder->sequence->channels, &series));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(sr__sequence_encode(ctx, encoder->sequence, &series, first, count, &made->rows));
  *rows = made;
  made = NULL;
cleanup:
  sr__sequence_learner_free_encoded(made);
  return status;
}

/* ---- preparing and fitting ------------------------------------------------------------------ */

static sr__sequence_options net_options(const sr__sequence_learner_options *o) {
  sr__sequence_options net = sr__sequence_defaults();
  net.steps = o->steps;
  net.batch = o->batch;
  net.width = o->width;
  net.blocks = o->blocks;
  if (o->heads > 0) net.heads = o->heads;
  if (o->feed_forward > 0) net.feed_forward = o->feed_forward;
  net.rate = o->rate;
  net.decay = o->decay;
  net.drop = o->drop;
  net.patience = o->patience;
  net.causal = o->causal != 0;
  return net;
}

/* Factors of the loss, mean 1 over the rows. */
static void scale_weights(float *weight, int64_t rows) {
  double sum = 0.0;
  for (int64_t i = 0; weight && i < rows; i++) sum += (double)weight[i];
  for (int64_t i = 0; weight && sum > 0.0 && i < rows; i++)
    weight[i] = (float)((double)weight[i] * (double)rows / sum);
}

sr_status sr__sequence_learner_prepare(sr_context *ctx, const sr_table *table, const void *options,
                                       sr__encoder **encoder, sr__training **training) {
  sr_status status = SR_OK;
  const sr__sequence_learner_options *o = options;
  const sr_table_view *view = sr_table_get(table);
  sr__encoder *common = NULL;
  sr__training *made = NULL;
  sr__series_view series;
  sr__sequence_options net = net_options(o);
  *encoder = NULL;
  *training = NULL;
  SR_TRY(sr__sequence_check(ctx, &net));
  SR_TRY(sr__table_series(ctx, table, view->channels, &series));
  SR_NEW_ZERO(ctx, common, 1);
  common->allocator = sr__allocator(ctx);
  common->classes = view->classes.count;
  SR_TRY(
      sr__sequence_encoder_new(ctx, &series, (sr__sequence_scaling)o->scaling, &common->sequence));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(sr__copy_labels(ctx, view, &made->label));
  SR_TRY(sr__copy_weights(ctx, view, &made->weight));
  scale_weights(made->weight, view->rows);
  SR_TRY(sr__sequence_learner_encode(ctx, common, table, 0, view->rows, &made->rows));
  *encoder = common;
  *training = made;
  common = NULL;
  made = NULL;
cleanup:
  sr__sequence_learner_free_training(made);
  sr__sequence_learner_free_encoder(common);
  return status;
}

/* The entries of a bag that train and those that are held out. */
typedef struct split_bag {
  int32_t *row, *count;
  sr__sequence_sample training, held_out;
} split_bag;

static sr_status split(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                       double share, sr__random *random, split_bag *parts) {
  sr_status status = SR_OK;
  const sr__training *training = input->training;
  sr__labeled_bag labeled = {0};
  uint8_t *role = NULL;
  int64_t at = 0;
  SR_TRY(sr__labeled_bag_read(ctx, bag, training->label, training->weight, &labeled));
  SR_NEW(ctx, role, labeled.length);
  SR_NEW(ctx, parts->row, labeled.length);
  SR_NEW(ctx, parts->count, labeled.length);
  sr__unit_entries entries = {.units = &bag->units,
                              .count = labeled.length,
                              .row = labeled.row,
                              .label = labeled.label,
                              .classes = input->encoder->classes};
  SR_TRY(sr__hold_out_units(ctx, &entries, share, random, role));
  for (int side = SR__ENTRY_TRAINS; side <= SR__ENTRY_HELD_OUT; side++) {
    sr__sequence_sample *sample = side ? &parts->held_out : &parts->training;
    *sample = (sr__sequence_sample){.rows = training->rows->rows,
                                    .label = training->label,
                                    .weight = training->weight,
                                    .row = parts->row + at,
                                    .count = parts->count + at};
    for (int64_t i = 0; i < labeled.length; i++) {
      if (role[i] != side) continue;
      parts->row[at] = labeled.row[i];
      parts->count[at++] = labeled.count[i];
      sample->length++;
    }
  }
cleanup:
  sr__free(ctx, role);
  sr__labeled_bag_free(ctx, &labeled);
  return status;
}

static double held_out_loss(const sr__sequence_member *member) {
  return member->best_look < 0 ? INFINITY : member->curve[member->best_look].held_out_loss;
}

/* What a member is made from. */
typedef struct fitting {
  const sr__body *body;
  const sr__encoder *encoder;
  sr__sequence_options net;
  split_bag parts;
  sr__random *random;
} fitting;

static sr_status fit_once(sr_context *ctx, const fitting *f, bool augment,
                          const sr__sequence_sample *training, const sr__sequence_sample *held_out,
                          sr__sequence_member **member) {
  sr__sequence_task task = {.body = f->body,
                            .encoder = f->encoder->sequence,
                            .classes = f->encoder->classes,
                            .options = &f->net,
                            .augment = augment,
                            .sample = training,
                            .held_out = held_out};
  return sr__sequence_fit(ctx, &task, f->random, member);
}

/* Both ways from the same start and in the same order of rows, where the held-out rows are to
 * choose; *augment becomes what they chose. */
static sr_status fit_best(sr_context *ctx, const fitting *f, bool choose, bool *augment,
                          sr__sequence_member **best) {
  sr_status status = SR_OK;
  sr__sequence_member *other = NULL;
  const sr__random start = *f->random;
  SR_TRY(fit_once(ctx, f, *augment, &f->parts.training, &f->parts.held_out, best));
  if (!choose) goto cleanup;
  *f->random = start;
  SR_TRY(fit_once(ctx, f, !*augment, &f->parts.training, &f->parts.held_out, &other));
  if (held_out_loss(other) < held_out_loss(*best)) {
    sr__sequence_member *worse = *best;
    *best = other;
    other = worse;
    *augment = !*augment;
  }
cleanup:
  sr__sequence_member_free(other);
  return status;
}

/* Trains anew on all rows for all steps: the schedule ends in small ones, so a shorter one is
 * another net. Curve and temperature stay those that were found on rows that the net had not seen.
 */
static sr_status fit_all(sr_context *ctx, const fitting *f, bool augment,
                         sr__sequence_member *chosen) {
  sr_status status = SR_OK;
  sr__sequence_member *all = NULL;
  sr__sequence_sample rows = f->parts.training, none = f->parts.held_out;
  rows.length += none.length; /* the held-out entries stand behind the others */
  none.length = 0;
  SR_TRY(fit_once(ctx, f, augment, &rows, &none, &all));
  float *value = chosen->value;
  chosen->value = all->value;
  chosen->refitted = true;
  all->value = value;
  uint8_t *seen = chosen->seen;
  chosen->seen = all->seen;
  all->seen = seen;
cleanup:
  sr__sequence_member_free(all);
  return status;
}

sr_status sr__sequence_learner_fit(sr_context *ctx, const sr__body *body,
                                   const sr__fit_input *input, const sr__bag *bag,
                                   sr__random *random, sr__member **member) {
  enum { AUTO, YES };
  sr_status status = SR_OK;
  const sr__sequence_learner_options *o = input->options;
  fitting f = {.body = body, .encoder = input->encoder, .net = net_options(o), .random = random};
  sr__member *made = NULL;
  bool augment = o->augment == YES || o->augment == AUTO;
  *member = NULL;
  SR_TRY(split(ctx, input, bag, o->validation, random, &f.parts));
  bool judged = f.parts.held_out.length > 0;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(fit_best(ctx, &f, judged && o->augment == AUTO, &augment, &made->net));
  if (judged && o->refit) SR_TRY(fit_all(ctx, &f, augment, made->net));
  *member = made;
  made = NULL;
cleanup:
  sr__sequence_learner_free_member(made);
  sr__free(ctx, f.parts.row);
  sr__free(ctx, f.parts.count);
  return status;
}

sr_status sr__sequence_learner_predict(sr_context *ctx, const sr__body *body,
                                       const sr__member *member, const sr__encoded *rows,
                                       sr__picked picked, sr__answers answers) {
  return sr__sequence_predict(ctx, body, member->net, rows->rows, picked, answers);
}

const sr__encoded *sr__sequence_learner_training_encoded(const sr__training *training) {
  return training->rows;
}
int32_t sr__sequence_learner_classes(const sr__encoder *encoder) { return encoder->classes; }
int64_t sr__sequence_learner_features(const sr__encoder *encoder) {
  (void)encoder;
  return 0;
}
int32_t sr__sequence_learner_channels(const sr__encoder *encoder) {
  return encoder->sequence->channels;
}
bool sr__sequence_learner_look(const sr__member *member, int64_t index, sr__learning_look *look) {
  const sr__sequence_member *net = member->net;
  int64_t kept = net->refitted ? -1 : net->best_look < 0 ? net->looks - 1 : net->best_look;
  if (index < 0 || index >= net->looks) return false;
  *look = (sr__learning_look){.step = net->curve[index].step,
                              .training_loss = net->curve[index].training_loss,
                              .held_out_loss = net->curve[index].held_out_loss,
                              .kept = index == kept,
                              .best = index == net->best_look};
  return true;
}
bool sr__sequence_learner_own_judgment(const sr__member *member, sr__own_judgment *judgment) {
  const sr__sequence_member *net = member->net;
  *judgment = (sr__own_judgment){.judged = net->judged,
                                 .wrong = net->wrong,
                                 .sets = 1,
                                 .penalty = NAN,
                                 .temperature = net->temperature};
  return net->judged > 0;
}

/* ---- storing ------------------------------------------------------------------------------ */

void sr__sequence_learner_save_encoder(const sr__encoder *encoder, sr__bytes *bytes) {
  sr__put_u32(bytes, (uint32_t)encoder->classes);
  sr__sequence_encoder_save(encoder->sequence, bytes);
}

sr_status sr__sequence_learner_load_encoder(sr__byte_reader *reader, sr__encoder **encoder) {
  sr_status status = SR_OK;
  sr__encoder *made = NULL;
  *encoder = NULL;
  uint32_t classes = sr__get_u32(reader);
  if (classes < 1 || classes > 1 << 16) sr__get_refuse(reader, "the number of classes is wrong");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  made->classes = (int32_t)classes;
  SR_TRY(sr__sequence_encoder_load(reader, &made->sequence));
  *encoder = made;
  made = NULL;
cleanup:
  sr__sequence_learner_free_encoder(made);
  return status;
}

void sr__sequence_learner_save_member(const sr__encoder *encoder, const sr__member *member,
                                      sr__bytes *bytes) {
  (void)encoder;
  sr__sequence_member_save(member->net, bytes);
}

sr_status sr__sequence_learner_load(sr__byte_reader *reader, const sr__body *body,
                                    const sr__encoder *encoder, sr__member **member) {
  sr_status status = SR_OK;
  sr__member *made = NULL;
  *member = NULL;
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  SR_TRY(sr__sequence_member_load(reader, body, encoder->sequence, encoder->classes, &made->net));
  *member = made;
  made = NULL;
cleanup:
  sr__sequence_learner_free_member(made);
  return status;
}
