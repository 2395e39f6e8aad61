/* Learners that are a sequence net: all that transformer and mamba have in common. Internal. */
#ifndef SR_LEARNER_SEQUENCE_LEARNER_H
#define SR_LEARNER_SEQUENCE_LEARNER_H

#include "fit.h"
#include "learner/learner.h"

/* The options of both; heads and feed_forward are the transformer's. */
typedef struct sr__sequence_learner_options {
  int64_t steps, batch, width, blocks, heads, feed_forward, patience;
  double rate, decay, drop, validation;
  int augment;       /* choice: 0 as the held-out parts say, 1 yes, 2 no */
  int scaling;       /* choice: sr__sequence_scaling */
  int causal, refit; /* flags */
} sr__sequence_learner_options;

#define SR__SEQUENCE_OPTIONS                                                                       \
  SR_INTEGER(sr__sequence_learner_options, steps, "600", 1, 1e9, "steps of training"),             \
      SR_INTEGER(sr__sequence_learner_options, batch, "16", 1, 65536, "series of a step"),         \
      SR_INTEGER(sr__sequence_learner_options, width, "64", 16, 1024,                              \
                 "numbers of a token; a multiple of 16"),                                          \
      SR_INTEGER(sr__sequence_learner_options, blocks, "2", 1, 4, "blocks behind the stem"),       \
      SR_REAL(sr__sequence_learner_options, rate, "0.003", 1e-8, 1, "highest learning rate"),      \
      SR_REAL(sr__sequence_learner_options, decay, "0.05", 0, 10, "weight decay of matrices"),     \
      SR_REAL(sr__sequence_learner_options, drop, "0.1", 0, 0.95, "share that dropout takes"),     \
      SR_REAL(sr__sequence_learner_options, validation, "0.15", 0, 0.9,                            \
              "share of a bag, in whole parts, that says when to stop and sets the temperature"),  \
      SR_INTEGER(sr__sequence_learner_options, patience, "6", 0, 20,                               \
                 "of 20 looks at the held-out parts, those without gain that end training; 0 is "  \
                 "never"),                                                                         \
      SR_CHOICE(sr__sequence_learner_options, augment, "auto", "auto|yes|no",                      \
                "shifts, gains and noise on the series; auto trains both ways and keeps what the " \
                "held-out parts like"),                                                            \
      SR_CHOICE(sr__sequence_learner_options, scaling, "series", "series|training|running|none",   \
                "by the moments of each series, of the training rows, of the values so far"),      \
      SR_FLAG(sr__sequence_learner_options, refit, "yes",                                          \
              "train anew on all rows once the held-out parts have chosen"),                       \
      SR_FLAG(sr__sequence_learner_options, causal, "no", "a stem that never looks ahead")

struct sr__encoder {
  sr_allocator allocator;
  int32_t classes;
  sr__sequence_encoder *sequence;
};

struct sr__member {
  sr_allocator allocator;
  sr__sequence_member *net;
};

SR_MUST_CHECK sr_status sr__sequence_learner_fit(sr_context *ctx, const sr__body *body,
                                                 const sr__fit_input *input, const sr__bag *bag,
                                                 sr__random *random, sr__member **member);
SR_MUST_CHECK sr_status sr__sequence_learner_predict(sr_context *ctx, const sr__body *body,
                                                     const sr__member *member,
                                                     const sr__encoded *rows, sr__picked picked,
                                                     sr__answers answers);
SR_MUST_CHECK sr_status sr__sequence_learner_load(sr__byte_reader *reader, const sr__body *body,
                                                  const sr__encoder *encoder, sr__member **member);

/* Operations that need no more than their arguments. */
SR_MUST_CHECK sr_status sr__sequence_learner_prepare(sr_context *ctx, const sr_table *table,
                                                     const void *options, sr__encoder **encoder,
                                                     sr__training **training);
const sr__encoded *sr__sequence_learner_training_encoded(const sr__training *training);
SR_MUST_CHECK sr_status sr__sequence_learner_encode(sr_context *ctx, const sr__encoder *encoder,
                                                    const sr_table *table, int64_t first,
                                                    int64_t count, sr__encoded **rows);
int32_t sr__sequence_learner_classes(const sr__encoder *encoder);
int64_t sr__sequence_learner_features(const sr__encoder *encoder);
int32_t sr__sequence_learner_channels(const sr__encoder *encoder);
bool sr__sequence_learner_look(const sr__member *member, int64_t index, sr__learning_look *look);
bool sr__sequence_learner_own_judgment(const sr__member *member, sr__own_judgment *judgment);
void sr__sequence_learner_save_encoder(const sr__encoder *encoder, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__sequence_learner_load_encoder(sr__byte_reader *reader,
                                                          sr__encoder **encoder);
void sr__sequence_learner_save_member(const sr__encoder *encoder, const sr__member *member,
                                      sr__bytes *bytes);
void sr__sequence_learner_free_encoder(sr__encoder *encoder);
void sr__sequence_learner_free_training(sr__training *training);
void sr__sequence_learner_free_encoded(sr__encoded *rows);
void sr__sequence_learner_free_member(sr__member *member);

#define SR__SEQUENCE_LEARNER_OPERATIONS                                                 \
  .flags = SR_LEARNER_TAKES_SERIES | SR_LEARNER_CALIBRATED,                             \
  .prepare = sr__sequence_learner_prepare,                                              \
  .training_encoded = sr__sequence_learner_training_encoded,                            \
  .encode = sr__sequence_learner_encode, .classes = sr__sequence_learner_classes,       \
  .features = sr__sequence_learner_features, .channels = sr__sequence_learner_channels, \
  .look = sr__sequence_learner_look, .own_judgment = sr__sequence_learner_own_judgment, \
  .save_encoder = sr__sequence_learner_save_encoder,                                    \
  .load_encoder = sr__sequence_learner_load_encoder,                                    \
  .save_member = sr__sequence_learner_save_member,                                      \
  .free_encoder = sr__sequence_learner_free_encoder,                                    \
  .free_training = sr__sequence_learner_free_training,                                  \
  .free_encoded = sr__sequence_learner_free_encoded,                                    \
  .free_member = sr__sequence_learner_free_member

#endif
