/* Training and asking one sequence net. Internal; the learners transformer and mamba are this with
 * a body each. */
#ifndef SR_LEARNER_SEQUENCE_FIT_H
#define SR_LEARNER_SEQUENCE_FIT_H

#include "learner/answers.h"
#include "learner/sequence/inputs.h"
#include "learner/sequence/net.h"

typedef struct sr__sequence_options {
  int64_t width, blocks, heads, feed_forward;
  int64_t steps, batch;
  double rate, decay, drop, warm_up, clip;
  int64_t patience; /* looks at the held-out rows without gain before training ends; 0 = never */
  bool causal;
} sr__sequence_options;

/* Three convolutions, width 64, two blocks, 600 steps of 16 series, AdamW at .003. */
sr__sequence_options sr__sequence_defaults(void);
/* SR_ERROR_ARGUMENT where a number is out of range or they do not go together. */
SR_MUST_CHECK sr_status sr__sequence_check(sr_context *ctx, const sr__sequence_options *options);

/* Some encoded rows with their classes. */
typedef struct sr__sequence_sample {
  const sr__sequence_rows *rows;
  const int32_t *label; /* per row of `rows` */
  const float *weight;  /* per row of `rows`, mean 1: factors of the loss; NULL: all 1 */
  const int32_t *row;   /* which ones; NULL: the first `length` */
  const int32_t *count; /* how often each; NULL: once */
  int64_t length;
} sr__sequence_sample;

/* A look at the held-out rows. */
typedef struct sr__sequence_look {
  int64_t step;
  double training_loss; /* mean of the batches since the last look */
  double held_out_loss; /* NaN where nothing was held out */
} sr__sequence_look;

typedef struct sr__sequence_member {
  sr_allocator allocator;
  sr__net_shape shape;
  int64_t parameters; /* floats of `value` */
  float *value;
  uint8_t *seen;         /* per class: whether it was among the training rows */
  double temperature;    /* scores are divided by it; from the held-out rows, 1 without any */
  bool refitted;         /* trained anew on all rows once the held-out ones had chosen */
  int64_t judged, wrong; /* held-out rows that were asked, and those told wrong by the best net */
  sr__sequence_look *curve;
  int64_t looks, best_look; /* best_look: the one that was liked best; -1 = nothing was held out */
} sr__sequence_member;

/* What a net is made of and learns from. */
typedef struct sr__sequence_task {
  const sr__body *body;
  const sr__sequence_encoder *encoder;
  int32_t classes;
  const sr__sequence_options *options;
  bool augment; /* shifts, gains and noise are put on the series */
  const sr__sequence_sample *sample;
  /* Whole parts that the sample does not touch; length 0 = none. They choose the step whose
   * parameters are kept, and the temperature. */
  const sr__sequence_sample *held_out;
} sr__sequence_task;

/* SR_ERROR_DATA for a sample without rows; SR_ERROR_NOT_CONVERGED, without a member, where the loss
 * left the finite numbers. */
SR_MUST_CHECK sr_status sr__sequence_fit(sr_context *ctx, const sr__sequence_task *task,
                                         sr__random *random, sr__sequence_member **member);
void sr__sequence_member_free(sr__sequence_member *member);

/* Classes that the member never saw get 0. */
SR_MUST_CHECK sr_status sr__sequence_predict(sr_context *ctx, const sr__body *body,
                                             const sr__sequence_member *member,
                                             const sr__sequence_rows *rows, sr__picked picked,
                                             sr__answers answers);
/* Scores to shares, in place: temperature, classes never seen. */
void sr__sequence_shares(const sr__sequence_member *member, float *score);
/* A net with the member's parameters, ready to predict series up to `capacity` steps. */
SR_MUST_CHECK sr_status sr__sequence_member_net(sr_context *ctx, const sr__body *body,
                                                const sr__sequence_member *member, int64_t capacity,
                                                sr__net **net);

void sr__sequence_member_save(const sr__sequence_member *member, sr__bytes *bytes);
/* Refuses a member that does not fit the encoder and the classes. */
SR_MUST_CHECK sr_status sr__sequence_member_load(sr__byte_reader *reader, const sr__body *body,
                                                 const sr__sequence_encoder *encoder,
                                                 int32_t classes, sr__sequence_member **member);

#endif
