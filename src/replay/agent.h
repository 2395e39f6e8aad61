/* The agent's fields, and the pieces it is made of. Internal. */
#ifndef SR_REPLAY_AGENT_H
#define SR_REPLAY_AGENT_H

#include "buffer.h"
#include "game.h"
#include "nn/rmsprop.h"
#include "qnet.h"
#include "sampler.h"

enum { SR__HEADS_MAX = 64, SR__TARGET_READING_STEPS = 100000 };

/* Streams of an agent; the game and its weights are the same for every sampler of one seed. */
enum {
  SR__STREAM_GAME,
  SR__STREAM_WEIGHTS,
  SR__STREAM_PRIOR,
  SR__STREAM_ACT,
  SR__STREAM_DRAW,
  SR__STREAM_MIX,
  SR__STREAM_EVALUATE
};

/* Count, sum and sum of squares. */
typedef struct sr__tally {
  double count, sum, squares;
} sr__tally;
static inline void sr__tally_add(sr__tally *tally, double value) {
  tally->count += 1;
  tally->sum += value;
  tally->squares += value * value;
}
double sr__tally_mean(const sr__tally *tally);     /* NaN where empty */
double sr__tally_variance(const sr__tally *tally); /* about the mean, divided by the count */

/* The network of one head or of all, with its optimizer. */
typedef struct sr__learner_net {
  sr__qnet online, target, prior; /* prior is empty unless options.prior > 0 */
  sr__adam adam;
  int32_t first_head, heads;
} sr__learner_net;

struct sr_agent {
  sr_allocator allocator;
  sr_agent_options options;               /* texts are owned */
  bool chosen_capacity, chosen_log_every; /* from the planned steps */
  sr__sampler_pace pace;
  uint64_t seed;
  sr_game *game;
  sr__buffer *buffer;
  sr__configuration sampler_configuration;
  const sr__sampler *sampler;
  void *sampler_state;
  char *sampler_label;

  int32_t actions, heads;
  int32_t nets; /* 1: a shared trunk; heads: one each */
  sr__learner_net *net;
  sr__qnet_work work;
  int64_t rows_max; /* rows of all batches of a gradient step */
  /* scratch of a gradient step, by row */
  sr__batch batch;
  const uint8_t **frames, **next_frames; /* rows_max x stack */
  uint8_t *mask;   /* rows_max x heads: whether the head learns from the row */
  float *next_q;   /* rows_max x heads x actions */
  float *extra_q;  /* the same: prior values, or the online ones of the next state */
  float *target;   /* rows_max x heads */
  float *error;    /* rows_max: mean absolute error over heads */
  int32_t *chosen; /* rows of the net at hand */

  sr__random act_random, draw_random, mix_random;
  bool playing;        /* an episode has begun in the buffer */
  int32_t acting_head; /* of this episode */
  double credit;       /* gradient steps that are due */

  sr__tally window_return, window_target, window_loss, reading;
  sr_agent_record *record;
  int64_t record_capacity;
  sr_agent_view view;
};

/* One gradient step. */
SR_MUST_CHECK sr_status sr__agent_learn(sr_context *ctx, sr_agent *agent);
/* work.q = values of `count` rows under `which` network of `net`, with those of the prior where
 * there is one. */
void sr__agent_forward(sr_agent *agent, const sr__learner_net *net, const sr__qnet *which,
                       int64_t count, const uint8_t *const *frames);
/* The end of a step: its outcome and the next picture go into the buffer and to the sampler. */
void sr__agent_begin(sr_agent *agent, const uint8_t *frame);
void sr__agent_add(sr_agent *agent, int32_t action, double reward, bool over, const uint8_t *next);
/* Values of all heads for one stack of frames: heads x actions. */
void sr__agent_head_values(sr_agent *agent, const uint8_t *const *frames, float *q);
/* The action of the mean of the heads, or of one where head >= 0. */
int32_t sr__agent_greedy(sr_agent *agent, const uint8_t *const *frames, int32_t head);
/* Last hidden layer of rows of the buffer, by the online network. */
SR_MUST_CHECK sr_status sr__agent_features(sr_context *ctx, void *agent, int64_t count,
                                           const int64_t *rows, float *features);

#endif
