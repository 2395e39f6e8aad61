/* Learners that are a transform of series and a ridge behind it: all that rocket and minirocket
 * have in common. Internal. */
#ifndef SR_LEARNER_SERIES_LEARNER_H
#define SR_LEARNER_SERIES_LEARNER_H

#include "learner/learner.h"
#include "series_ridge.h"

/* The options that both have. */
typedef struct sr__series_ridge_options {
  int judged_by;  /* choice: 0 whole parts, 1 single rows */
  int64_t memory; /* MB */
} sr__series_ridge_options;

#define SR__SERIES_RIDGE_OPTIONS(type, field)                                                    \
  SR_CHOICE_AT(type, field.judged_by, "judged_by", "parts", "parts|rows",                        \
               "what is left out to choose penalty and temperature"),                            \
      SR_INTEGER_AT(type, field.memory, "memory", "1024", 1, 1e9,                                \
                    "MB that all members in work may take to keep features; else they are made " \
                    "twice")

/* What differs between the learners. Their options begin with those of the transform. */
typedef struct sr__series_kind {
  const sr__series_transform *transform;
  bool normalize; /* every channel of every series to mean 0 and deviation 1 */
  int64_t (*features)(const void *options); /* that a member makes, for the word on memory */
  size_t ridge_at;                          /* of sr__series_ridge_options in the options */
} sr__series_kind;

SR_MUST_CHECK sr_status sr__series_learner_prepare(sr_context *ctx, const sr_table *table,
                                                   const sr__series_kind *kind,
                                                   sr__encoder **encoder, sr__training **training);
SR_MUST_CHECK sr_status sr__series_learner_fit(sr_context *ctx, const sr__fit_input *input,
                                               const sr__series_kind *kind, const sr__bag *bag,
                                               sr__random *random, sr__member **member);
SR_MUST_CHECK sr_status sr__series_learner_load(sr__byte_reader *reader, const sr__encoder *encoder,
                                                const sr__series_kind *kind, sr__member **member);

void sr__series_learner_memory(const sr__series_kind *kind, const void *options,
                               const sr__fit_size *of, sr__fit_memory *memory);

/* Operations that need no more than their arguments. */
const sr__encoded *sr__series_learner_training_encoded(const sr__training *training);
SR_MUST_CHECK sr_status sr__series_learner_encode(sr_context *ctx, const sr__encoder *encoder,
                                                  const sr_table *table, int64_t first,
                                                  int64_t count, sr__encoded **rows);
SR_MUST_CHECK sr_status sr__series_learner_predict(sr_context *ctx, const sr__encoder *encoder,
                                                   const sr__member *member,
                                                   const sr__encoded *rows, sr__picked picked,
                                                   sr__answers answers);
bool sr__series_learner_own_judgment(const sr__member *member, sr__own_judgment *judgment);
int32_t sr__series_learner_classes(const sr__encoder *encoder);
int64_t sr__series_learner_features(const sr__encoder *encoder);
int32_t sr__series_learner_channels(const sr__encoder *encoder);
void sr__series_learner_save_encoder(const sr__encoder *encoder, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__series_learner_load_encoder(sr__byte_reader *reader,
                                                        sr__encoder **encoder);
void sr__series_learner_save_member(const sr__encoder *encoder, const sr__member *member,
                                    sr__bytes *bytes);
void sr__series_learner_free_encoder(sr__encoder *encoder);
void sr__series_learner_free_training(sr__training *training);
void sr__series_learner_free_encoded(sr__encoded *rows);
void sr__series_learner_free_member(sr__member *member);

#define SR__SERIES_LEARNER_OPERATIONS                                                             \
  .flags = SR_LEARNER_TAKES_SERIES | SR_LEARNER_CALIBRATED,                                       \
  .training_encoded = sr__series_learner_training_encoded, .encode = sr__series_learner_encode,   \
  .predict = sr__series_learner_predict, .classes = sr__series_learner_classes,                   \
  .features = sr__series_learner_features, .channels = sr__series_learner_channels,               \
  .own_judgment = sr__series_learner_own_judgment,                                                \
  .save_encoder = sr__series_learner_save_encoder,                                                \
  .load_encoder = sr__series_learner_load_encoder, .save_member = sr__series_learner_save_member, \
  .free_encoder = sr__series_learner_free_encoder,                                                \
  .free_training = sr__series_learner_free_training,                                              \
  .free_encoded = sr__series_learner_free_encoded, .free_member = sr__series_learner_free_member

#endif
