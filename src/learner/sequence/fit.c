#include "learner/sequence/fit.h"

#include <math.h>

enum {
  LONG_SERIES = 300,   /* steps from which on the stem's last stride is 4, not 2 */
  LOOKS = 20,          /* at the held-out rows, over the whole training */
  HELD_OUT_ROWS = 512, /* that a look goes through at most */
  SHIFT_SHARE = 16     /* series are shifted by up to 1/16 of their length */
};

sr__sequence_options sr__sequence_defaults(void) {
  return (sr__sequence_options){.width = 64,
                                .blocks = 2,
                                .heads = 4,
                                .feed_forward = 128,
                                .steps = 600,
                                .batch = 16,
                                .rate = 3e-3,
                                .decay = 0.05,
                                .drop = 0.1,
                                .warm_up = 0.1,
                                .clip = 1,
                                .patience = 6};
}

sr_status sr__sequence_check(sr_context *ctx, const sr__sequence_options *o) {
  if (o->width < 16 || o->width > 1024 || o->width % 16 != 0)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "width is %lld; give a multiple of 16 between 16 and 1024",
                    (long long)o->width);
  if (o->heads < 1 || o->width % o->heads != 0)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "%lld heads do not divide the width %lld; give a divisor of it",
                    (long long)o->heads, (long long)o->width);
  if (o->blocks < 1 || o->blocks > 4)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "blocks is %lld; give 1 to 4", (long long)o->blocks);
  if (o->feed_forward < 1 || o->feed_forward > 8192)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "feed_forward is %lld; give 1 to 8192",
                    (long long)o->feed_forward);
  if (o->steps < 1 || o->batch < 1 || o->batch > 65536)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "steps is %lld and batch %lld; both are at least 1, batch at most 65536",
                    (long long)o->steps, (long long)o->batch);
  if (!(o->rate > 0) || !(o->rate <= 1) || !(o->decay >= 0) || !(o->drop >= 0) || !(o->drop < 1))
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "rate %g, decay %g and drop %g; rate lies in (0, 1], decay is not negative, "
                    "drop lies in [0, 1)",
                    o->rate, o->decay, o->drop);
  return SR_OK;
}

static int32_t row_at(const sr__sequence_sample *sample, int64_t i) {
  return sample->row ? sample->row[i] : (int32_t)i;
}
static int64_t steps_at(const sr__sequence_rows *rows, int32_t row) {
  return rows->begin[row + 1] - rows->begin[row];
}
static float weight_at(const sr__sequence_sample *sample, int32_t row) {
  return sample->weight ? sample->weight[row] : 1.0f;
}
static const float *series_at(const sr__sequence_rows *rows, int32_t row) {
  return rows->values + rows->begin[row] * rows->inputs;
}

/* ---- members -------------------------------------------------------------------------------- */

void sr__sequence_member_free(sr__sequence_member *member) {
  if (!member) return;
  sr_allocator allocator = member->allocator;
  sr__release(&allocator, member->value);
  sr__release(&allocator, member->seen);
  sr__release(&allocator, member->curve);
  sr__release(&allocator, member);
}

static sr_status new_member(sr_context *ctx, const sr__net_shape *shape, int64_t parameters,
                            int64_t looks, sr__sequence_member **result) {
  sr_status status = SR_OK;
  sr__sequence_member *member = NULL;
  SR_NEW_ZERO(ctx, member, 1);
  member->allocator = sr__allocator(ctx);
  member->shape = *shape;
  member->parameters = parameters;
  member->temperature = 1;
  member->best_look = -1;
  SR_NEW_ZERO(ctx, member->value, parameters);
  SR_NEW_ZERO(ctx, member->seen, shape->classes);
  SR_NEW_ZERO(ctx, member->curve, looks);
  *result = member;
  member = NULL;
cleanup:
  sr__sequence_member_free(member);
  return status;
}

sr_status sr__sequence_member_net(sr_context *ctx, const sr__body *body,
                                  const sr__sequence_member *member, int64_t capacity,
                                  sr__net **net) {
  sr_status status = sr__net_new(ctx, body, &member->shape, capacity, false, net);
  if (status != SR_OK) return status;
  memcpy((*net)->parameters.value, member->value,
         (size_t)member->parameters * sizeof *member->value);
  sr__net_pack(*net);
  return SR_OK;
}

/* ---- training ------------------------------------------------------------------------------- */

/* One training while it runs. */
typedef struct training {
  const sr__sequence_options *options;
  const sr__sequence_sample *sample, *held_out;
  int64_t channels; /* inputs that carry values, not marks of missing ones */
  bool augment;
  sr__random *random;
  sr__net *net;
  sr__adam adam;
  int32_t *order; /* the rows of one pass, each as often as it counts */
  int64_t entries, left;
  float *series; /* one augmented series */
  float *scores; /* held-out rows x classes */
  uint32_t key;
} training;

static int64_t held_out_rows(const training *t) {
  const int64_t length = t->held_out ? t->held_out->length : 0;
  return length < HELD_OUT_ROWS ? length : HELD_OUT_ROWS;
}
/* Evenly spread over all that is held out. */
static int32_t held_out_row(const training *t, int64_t i) {
  return row_at(t->held_out, i * t->held_out->length / held_out_rows(t));
}

static sr_status list_entries(sr_context *ctx, training *t) {
  sr_status status = SR_OK;
  const sr__sequence_sample *s = t->sample;
  for (int64_t i = 0; i < s->length; i++) t->entries += s->count ? s->count[i] : 1;
  SR_NEW(ctx, t->order, t->entries);
  int64_t at = 0;
  for (int64_t i = 0; i < s->length; i++)
    for (int32_t k = s->count ? s->count[i] : 1; k > 0; k--) t->order[at++] = row_at(s, i);
cleanup:
  return status;
}

/* A series shifted by `shift` of its steps (the end value repeated), with a gain and noise. */
static void augmented(training *t, const float *x, int64_t steps, double shift) {
  const int64_t inputs = t->sample->rows->inputs, reach = steps / SHIFT_SHARE;
  const int64_t by = (int64_t)floor(shift * (double)(2 * reach + 1)) - reach;
  const float gain = (float)(1.0 + 0.1 * sr__random_normal(t->random));
  for (int64_t i = 0; i < steps; i++) {
    int64_t from = i - by;
    from = from < 0 ? 0 : from >= steps ? steps - 1 : from;
    float *to = t->series + i * inputs;
    memcpy(to, x + from * inputs, (size_t)inputs * sizeof *to);
    for (int64_t c = 0; c < t->channels; c++)
      to[c] = to[c] * gain + (float)(0.05 * sr__random_normal(t->random));
  }
}

/* Gives the mean loss of the batch. */
static double train_batch(training *t, int64_t step) {
  const sr__sequence_options *o = t->options;
  const sr__sequence_rows *rows = t->sample->rows;
  const int64_t batch = t->entries < o->batch ? t->entries : o->batch;
  double loss = 0;
  if (t->left < batch) {
    sr__random_shuffle(t->random, t->order, t->entries);
    t->left = t->entries;
  }
  const double shift = t->augment ? sr__random_uniform(t->random) : 0;
  sr__parameters_clear_gradient(&t->net->parameters);
  sr__net_pack(t->net);
  for (int64_t i = 0; i < batch; i++) {
    const int32_t row = t->order[t->entries - t->left + i];
    const int64_t steps = steps_at(rows, row);
    const float *x = series_at(rows, row);
    const uint32_t key = sr__nn_dropout_key(t->key, (uint32_t)(step * batch + i));
    if (t->augment) {
      augmented(t, x, steps, shift);
      x = t->series;
    }
    sr__net_forward(t->net, steps, x, (float)o->drop, key);
    const float weight = weight_at(t->sample, row);
    loss += (double)weight * sr__nn_cross_entropy(t->net->shape.classes, t->net->score,
                                                  t->sample->label[row], weight / (float)batch,
                                                  t->net->dscore);
    sr__net_backward(t->net, steps, (float)o->drop, key);
  }
  t->left -= batch;
  sr__net_finish_gradient(t->net);
  t->adam.rate = (float)(o->rate * sr__nn_warm_up_cosine(step, o->steps, o->warm_up));
  sr__adam_step(&t->adam, &t->net->parameters);
  return loss / (double)batch;
}

/* Mean loss of the held-out rows; their scores are kept. NaN without any. */
static double look(training *t) {
  const sr__sequence_rows *rows = t->held_out ? t->held_out->rows : NULL;
  const int64_t count = held_out_rows(t), classes = t->net->shape.classes;
  double loss = 0;
  if (count == 0) return NAN;
  sr__net_pack(t->net);
  for (int64_t i = 0; i < count; i++) {
    const int32_t row = held_out_row(t, i);
    sr__net_forward(t->net, steps_at(rows, row), series_at(rows, row), 0, 0);
    memcpy(t->scores + i * classes, t->net->score, (size_t)classes * sizeof *t->scores);
    loss +=
        (double)weight_at(t->held_out, row) *
        sr__nn_cross_entropy(classes, t->net->score, t->held_out->label[row], 0, t->net->dscore);
  }
  return loss / (double)count;
}

/* What the net of the best look says of the held-out rows; their scores are kept. */
static void judge_held_out(training *t, sr__sequence_member *member) {
  const int64_t classes = t->net->shape.classes;
  (void)look(t);
  member->judged = held_out_rows(t);
  for (int64_t i = 0; i < member->judged; i++) {
    const float *score = t->scores + i * classes;
    int32_t best = -1;
    for (int32_t c = 0; c < classes; c++)
      if (member->seen[c] && (best < 0 || score[c] > score[best])) best = c;
    member->wrong += best != t->held_out->label[held_out_row(t, i)];
  }
}

/* The temperature, between 1/4 and 4, under which the scores of the held-out rows are likeliest, by
 * their weights. */
static double best_temperature(training *t) {
  const int64_t count = held_out_rows(t), classes = t->net->shape.classes;
  double best = 1, least = INFINITY;
  if (count == 0) return 1;
  for (int k = -20; k <= 20; k++) {
    double temperature = 1, loss = 0;
    for (int i = 0; i < (k < 0 ? -k : k); i++) temperature *= k < 0 ? 1 / 1.0718 : 1.0718;
    for (int64_t i = 0; i < count; i++) {
      const int32_t row = held_out_row(t, i);
      float *score = t->net->score;
      for (int64_t c = 0; c < classes; c++)
        score[c] = t->scores[i * classes + c] / (float)temperature;
      loss += (double)weight_at(t->held_out, row) *
              sr__nn_cross_entropy(classes, score, t->held_out->label[row], 0, t->net->dscore);
    }
    if (loss < least) least = loss, best = temperature;
  }
  return best;
}

static void keep(const training *t, sr__sequence_member *member) {
  memcpy(member->value, t->net->parameters.value,
         (size_t)member->parameters * sizeof *member->value);
}

static sr_status train(sr_context *ctx, training *t, sr__sequence_member *member) {
  sr_status status = SR_OK;
  const int64_t steps = t->options->steps, apart = (steps + LOOKS - 1) / LOOKS;
  double least = INFINITY, sum = 0;
  int64_t since = 0;
  for (int64_t step = 0; step < steps; step++) {
    SR_TRY(sr__check_interrupt(ctx));
    sum += train_batch(t, step);
    since++;
    if ((step + 1) % apart != 0 && step + 1 < steps) continue;
    if (!isfinite(sum))
      SR_TRY(sr__fail(ctx, SR_ERROR_NOT_CONVERGED,
                      "training left the finite numbers at step %lld with rate %g; give a smaller "
                      "rate, or scale the series",
                      (long long)(step + 1), t->options->rate));
    const double held_out = look(t);
    member->curve[member->looks] = (sr__sequence_look){step + 1, sum / (double)since, held_out};
    char stage[64];
    snprintf(stage, sizeof stage, "net, loss %.3f, held out %.3f", sum / (double)since, held_out);
    sr__progress(ctx, stage, step + 1, steps);
    sum = 0, since = 0;
    if (held_out < least) {
      least = held_out;
      member->best_look = member->looks;
      keep(t, member);
    }
    member->looks++;
    if (t->options->patience > 0 && member->best_look >= 0 &&
        member->looks - 1 - member->best_look >= t->options->patience)
      break;
  }
  if (member->best_look < 0) keep(t, member);
  memcpy(t->net->parameters.value, member->value,
         (size_t)member->parameters * sizeof *member->value);
  judge_held_out(t, member);
  member->temperature = best_temperature(t);
cleanup:
  return status;
}

static sr__net_shape shape_of(const sr__sequence_encoder *encoder, int32_t classes,
                              const sr__sequence_options *o) {
  return (sr__net_shape){.channels = sr__sequence_inputs(encoder),
                         .classes = classes,
                         .longest = encoder->longest,
                         .width = o->width,
                         .blocks = o->blocks,
                         .heads = o->heads,
                         .feed_forward = o->feed_forward,
                         .stride = encoder->longest >= LONG_SERIES ? 4 : 2,
                         .causal = o->causal};
}

static int64_t longest_of(const sr__sequence_sample *sample) {
  int64_t longest = 1;
  for (int64_t i = 0; sample && i < sample->length; i++) {
    const int64_t steps = steps_at(sample->rows, row_at(sample, i));
    if (steps > longest) longest = steps;
  }
  return longest;
}

sr_status sr__sequence_fit(sr_context *ctx, const sr__sequence_task *task, sr__random *random,
                           sr__sequence_member **result) {
  sr_status status = SR_OK;
  const sr__sequence_options *options = task->options;
  const sr__sequence_sample *sample = task->sample;
  sr__sequence_member *member = NULL;
  const sr__net_shape shape = shape_of(task->encoder, task->classes, options);
  const int64_t own = longest_of(sample), others = longest_of(task->held_out);
  training t = {.options = options,
                .sample = sample,
                .held_out = task->held_out,
                .channels = task->encoder->channels,
                .augment = task->augment,
                .random = random,
                .adam = {.beta1 = 0.9f,
                         .beta2 = 0.99f,
                         .epsilon = 1e-8f,
                         .decay = (float)options->decay,
                         .clip = (float)options->clip}};
  SR_TRY(list_entries(ctx, &t));
  if (t.entries == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "a sequence net was given no row with a class to learn from; larger bags hold "
                    "some"));
  SR_TRY(sr__net_new(ctx, task->body, &shape, own > others ? own : others, true, &t.net));
  SR_TRY(new_member(ctx, &shape, t.net->parameters.count, LOOKS + 1, &member));
  SR_NEW(ctx, t.series, own * sample->rows->inputs);
  SR_NEW(ctx, t.scores, held_out_rows(&t) * task->classes);
  for (int64_t i = 0; i < t.entries; i++) member->seen[sample->label[t.order[i]]] = 1;
  sr__net_initialize(t.net, random);
  t.key = (uint32_t)sr__random_bits(random);
  SR_TRY(train(ctx, &t, member));
  *result = member;
  member = NULL;
cleanup:
  sr__sequence_member_free(member);
  sr__net_free(&t.net);
  sr__free(ctx, t.order);
  sr__free(ctx, t.series);
  sr__free(ctx, t.scores);
  return status;
}

/* ---- prediction -------------------------------------------------------------------------------
 */

void sr__sequence_shares(const sr__sequence_member *member, float *score) {
  const int64_t classes = member->shape.classes;
  float most = -INFINITY;
  for (int64_t c = 0; c < classes; c++) {
    if (!member->seen[c]) continue;
    score[c] /= (float)member->temperature;
    if (score[c] > most) most = score[c];
  }
  /* Far below every other, so that its share is nothing. */
  for (int64_t c = 0; c < classes; c++)
    if (!member->seen[c]) score[c] = most - 100;
  sr__nn_softmax(classes, score, score);
  for (int64_t c = 0; c < classes; c++)
    if (!member->seen[c]) score[c] = 0;
}

sr_status sr__sequence_predict(sr_context *ctx, const sr__body *body,
                               const sr__sequence_member *member, const sr__sequence_rows *rows,
                               sr__picked picked, sr__answers answers) {
  sr_status status = SR_OK;
  sr__net *net = NULL;
  const sr__sequence_sample asked = {.rows = rows, .row = picked.index, .length = picked.count};
  const int64_t classes = member->shape.classes;
  SR_TRY(sr__sequence_member_net(ctx, body, member, longest_of(&asked), &net));
  for (int64_t i = 0; i < picked.count; i++) {
    const int32_t r = row_at(&asked, i);
    if (i % 64 == 0) SR_TRY(sr__check_interrupt(ctx));
    sr__net_forward(net, steps_at(rows, r), series_at(rows, r), 0, 0);
    sr__sequence_shares(member, net->score);
    int32_t best = -1;
    for (int32_t c = 0; c < classes; c++)
      if (member->seen[c] && (best < 0 || net->score[c] > net->score[best])) best = c;
    if (answers.vote) answers.vote[i] = best;
    if (answers.share)
      memcpy(answers.share + i * classes, net->score, (size_t)classes * sizeof *answers.share);
  }
cleanup:
  sr__net_free(&net);
  return status;
}

/* ---- bytes ------------------------------------------------------------------------------------
 */

void sr__sequence_member_save(const sr__sequence_member *member, sr__bytes *bytes) {
  const sr__net_shape *s = &member->shape;
  sr__put_u32(bytes, (uint32_t)s->width);
  sr__put_u32(bytes, (uint32_t)s->blocks);
  sr__put_u32(bytes, (uint32_t)s->heads);
  sr__put_u32(bytes, (uint32_t)s->feed_forward);
  sr__put_u8(bytes, (uint8_t)s->stride);
  sr__put_u8(bytes, s->causal ? 1 : 0);
  sr__put_u64(bytes, (uint64_t)member->parameters);
  for (int64_t i = 0; i < member->parameters; i++) sr__put_f32(bytes, member->value[i]);
  sr__put_raw(bytes, member->seen, s->classes);
  sr__put_f64(bytes, member->temperature);
  sr__put_u8(bytes, member->refitted);
  sr__put_u64(bytes, (uint64_t)member->judged);
  sr__put_u64(bytes, (uint64_t)member->wrong);
  sr__put_u64(bytes, (uint64_t)member->looks);
  for (int64_t i = 0; i < member->looks; i++) {
    sr__put_u64(bytes, (uint64_t)member->curve[i].step);
    sr__put_f64(bytes, member->curve[i].training_loss);
    sr__put_f64(bytes, member->curve[i].held_out_loss);
  }
  sr__put_u64(bytes, (uint64_t)(member->best_look + 1));
}

/* Widths, strides and seen classes that `save` could have written. */
static void check_loaded(sr__byte_reader *reader, const sr__sequence_member *member) {
  bool any = false;
  for (int64_t c = 0; c < member->shape.classes; c++) {
    if (member->seen[c] > 1) sr__get_refuse(reader, "a class is neither seen nor unseen");
    any = any || member->seen[c] == 1;
  }
  if (!any) sr__get_refuse(reader, "the net saw no class");
  if (!(member->temperature >= 0.01 && member->temperature <= 100))
    sr__get_refuse(reader, "the temperature is impossible");
  for (int64_t i = 0; i < member->parameters; i++)
    if (!isfinite(member->value[i])) sr__get_refuse(reader, "a parameter is not a finite number");
}

sr_status sr__sequence_member_load(sr__byte_reader *reader, const sr__body *body,
                                   const sr__sequence_encoder *encoder, int32_t classes,
                                   sr__sequence_member **result) {
  sr_status status = SR_OK;
  sr_context *ctx = reader->ctx;
  sr__sequence_member *member = NULL;
  int64_t floats = 0;
  sr__sequence_options options = sr__sequence_defaults();
  options.width = sr__get_u32(reader);
  options.blocks = sr__get_u32(reader);
  options.heads = sr__get_u32(reader);
  options.feed_forward = sr__get_u32(reader);
  const uint8_t stride = sr__get_u8(reader), causal = sr__get_u8(reader);
  if (reader->status != SR_OK) return reader->status;
  options.causal = causal == 1;
  sr__net_shape shape = shape_of(encoder, classes, &options);
  if (sr__sequence_check(ctx, &options) != SR_OK || stride != shape.stride || causal > 1) {
    sr__get_refuse(reader, "the shape of the net is impossible");
    return reader->status;
  }
  SR_TRY(sr__net_block_floats(ctx, body, &shape, &floats));
  if (sr__get_count(reader, 4) != floats)
    sr__get_refuse(reader, "the number of parameters does not fit the net");
  SR_TRY(reader->status);
  SR_TRY(new_member(ctx, &shape, floats, LOOKS + 1, &member));
  for (int64_t i = 0; i < floats; i++) member->value[i] = sr__get_f32(reader);
  sr__get_raw(reader, member->seen, classes);
  member->temperature = sr__get_f64(reader);
  const uint8_t refitted = sr__get_u8(reader);
  member->refitted = refitted == 1;
  member->judged = (int64_t)sr__get_u64(reader);
  member->wrong = (int64_t)sr__get_u64(reader);
  if (refitted > 1 || member->judged < 0 || member->wrong < 0 || member->wrong > member->judged)
    sr__get_refuse(reader, "what the member held out is impossible");
  member->looks = sr__get_count(reader, 24);
  if (member->looks > LOOKS + 1) sr__get_refuse(reader, "there are more looks than a training has");
  SR_TRY(reader->status);
  for (int64_t i = 0; i < member->looks; i++) {
    member->curve[i].step = (int64_t)sr__get_u64(reader);
    member->curve[i].training_loss = sr__get_f64(reader);
    member->curve[i].held_out_loss = sr__get_f64(reader);
  }
  const uint64_t best = sr__get_u64(reader);
  if (best > (uint64_t)member->looks)
    sr__get_refuse(reader, "the best look is not among the looks");
  member->best_look = (int64_t)best - 1;
  check_loaded(reader, member);
  SR_TRY(reader->status);
  *result = member;
  member = NULL;
cleanup:
  sr__sequence_member_free(member);
  return status;
}
