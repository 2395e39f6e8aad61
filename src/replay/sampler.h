/* Which rows of the buffer a batch is made of, and which heads learn from each. Internal. */
#ifndef SR_REPLAY_SAMPLER_H
#define SR_REPLAY_SAMPLER_H

#include <specroute/replay.h>

#include "buffer.h"
#include "core/options.h"
#include "core/random.h"

/* What the agent must know of a sampler. */
enum {
  SR__SAMPLER_OWNED = 1,    /* each row has one head that learns from it; else every head does */
  SR__SAMPLER_WEIGHTED = 2, /* batches carry weights, and the sampler wants the errors back */
  SR__SAMPLER_MIXES = 4,    /* the loss is that of a random mixture of the heads */
  SR__SAMPLER_SEPARATE = 8, /* a network per head instead of a shared trunk */
  SR__SAMPLER_FEATURES = 16 /* heads own rows by their place in the last hidden layer */
};

/* What a sampler changes of the learning itself. */
typedef struct sr__sampler_pace {
  double gradient_steps; /* per planned one */
  double learning_rate;  /* factor */
} sr__sampler_pace;

typedef struct sr__sampler_setup {
  const sr__buffer *buffer; /* outlives the state */
  int32_t heads;
  int32_t hidden; /* width of the last hidden layer */
  uint64_t seed;
  bool bits; /* a frame is a set of bits, else of bytes */
} sr__sampler_setup;

typedef struct sr__batch {
  int32_t count;
  int64_t *row;
  float *weight; /* largest 1; all 1 where the sampler is not weighted */
} sr__batch;

/* Fills `features` with the last hidden layer (count x hidden) of these rows. */
typedef sr_status (*sr__features_fn)(sr_context *ctx, void *data, int64_t count,
                                     const int64_t *rows, float *features);

typedef struct sr__sampler {
  sr_method about;
  unsigned traits;
  /* NULL where there is nothing to do. */
  void (*set_pace)(const void *options, sr__sampler_pace *pace);
  sr_status (*prepare)(sr_context *ctx, const void *options, const sr__sampler_setup *setup,
                       void **state);
  void (*free_state)(const sr_allocator *allocator, void *state);
  /* Row was written, which overwrote row - capacity. */
  void (*added)(void *state, int64_t row, bool first_of_episode);
  /* Row got its outcome. */
  void (*completed)(void *state, int64_t row);
  /* count drawable rows of any head. progress: share of the training that is over. NULL: uniform.
   */
  void (*draw)(void *state, sr__random *random, double progress, sr__batch *batch);
  /* The head of a row (OWNED); features: of its last hidden layer, NULL unless FEATURES. -1: that
   * takes the features to tell. */
  int32_t (*owner)(void *state, int64_t row, const float *features);
  /* Absolute error of each row of a batch that was learned (WEIGHTED). */
  void (*learned)(void *state, const sr__batch *batch, const float *errors);
  /* Before each gradient step: what is measured or cut anew as the buffer turns over. Sets *cut
   * where a graph was cut (FEATURES). */
  sr_status (*refresh)(sr_context *ctx, void *state, sr__features_fn features, void *data,
                       bool *cut);
  /* Makes room for the slots of `larger`, which holds the rows of the buffer under their numbers
   * and takes its place afterwards. A failure leaves the state as it was. */
  sr_status (*grow)(sr_context *ctx, void *state, const sr__buffer *larger);
  void (*save)(const void *state, sr__bytes *bytes);
  void (*load)(void *state, sr__byte_reader *reader);
} sr__sampler;

/* A drawable row, each with the same probability. There must be one. */
int64_t sr__draw_row(const sr__buffer *buffer, sr__random *random);
/* The head of a row. */
typedef int32_t (*sr__owner_fn)(void *data, int64_t row);
/* Fills the batch with drawable rows of `head`, each with the same probability. Where it has none,
 * with rows of weight 0, which nothing learns from. */
void sr__draw_owned(const sr__buffer *buffer, sr__random *random, sr__owner_fn owner, void *data,
                    int32_t head, sr__batch *batch);

/* Integrated autocorrelation time of the pictures, in rows: pooled over cells, inside episodes,
 * over the newest rows; at least 1. `bits` as in sr__sampler_setup. */
SR_MUST_CHECK sr_status sr__picture_time(sr_context *ctx, const sr__buffer *buffer, bool bits,
                                         double *time);

/* Blocks of consecutive rows inside episodes: the cuts of a window graph, which inside an episode
 * is a path. Parts are numbered in the order of their rows; a part dies row by row as the ring
 * overwrites it. */
typedef struct sr__age_parts {
  const sr__buffer *buffer;
  int64_t block;  /* rows of a part but for the last of an episode, from now on */
  int64_t parts;  /* ever begun */
  int64_t *start; /* first row of part p at p % (capacity + 1) */
  uint32_t *part; /* of each slot, the low bits */
} sr__age_parts;

SR_MUST_CHECK sr_status sr__age_parts_new(sr_context *ctx, const sr__buffer *buffer, int64_t block,
                                          sr__age_parts *parts);
void sr__age_parts_free(const sr_allocator *allocator, sr__age_parts *parts);
void sr__age_parts_add(sr__age_parts *parts, int64_t row, bool first_of_episode);
int64_t sr__age_part_of(const sr__age_parts *parts, int64_t row);
/* Rows [first, end) of a part that still live. */
void sr__age_part_rows(const sr__age_parts *parts, int64_t part, int64_t *first, int64_t *end);
/* Deals the living rows anew into parts of `block` rows, numbered from 0. */
void sr__age_parts_again(sr__age_parts *parts, int64_t block);
SR_MUST_CHECK sr_status sr__age_parts_grow(sr_context *ctx, sr__age_parts *parts,
                                           const sr__buffer *larger);
void sr__age_parts_save(const sr__age_parts *parts, sr__bytes *bytes);
void sr__age_parts_load(sr__age_parts *parts, sr__byte_reader *reader);

#endif
