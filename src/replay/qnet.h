/* The network of an agent: convolutions, one hidden layer, and the values of all heads side by
 * side. Internal.
 *
 * Two shapes: three convolutions and 512 hidden units for gray pictures of 84 x 84 in stacks of
 * four, and one convolution of 16 filters of 3 x 3 and 128 hidden units for grids. Grids come as
 * sets of cells, and the first layer adds up the filters of the cells that are set. */
#ifndef SR_REPLAY_QNET_H
#define SR_REPLAY_QNET_H

#include "core/random.h"
#include "game.h"
#include "nn/conv2d.h"

enum { SR__CONVS_MAX = 3 };

typedef struct sr__qnet_shape {
  sr__frame_form form;
  int32_t channels; /* of one frame */
  int32_t stack;    /* frames shown together */
  int32_t convs;
  sr__conv2d conv[SR__CONVS_MAX];
  int64_t flat; /* floats that come out of the last convolution */
  int32_t hidden;
  int32_t outputs; /* heads x actions */
} sr__qnet_shape;

/* Fails where no network fits the game's pictures. */
SR_MUST_CHECK sr_status sr__qnet_choose(sr_context *ctx, const sr_game *game, int32_t stack,
                                        int32_t outputs, sr__qnet_shape *shape);

typedef struct sr__qnet {
  sr__qnet_shape shape;
  sr__parameters parameters;
  int weight[SR__CONVS_MAX + 2],
      bias[SR__CONVS_MAX + 2]; /* tensors: convolutions, hidden layer, heads */
} sr__qnet;

/* Zeros; with gradient and moments where `training`. Free with sr__qnet_free. */
SR_MUST_CHECK sr_status sr__qnet_new(sr_context *ctx, const sr__qnet_shape *shape, bool training,
                                     sr__qnet *net);
void sr__qnet_free(sr__qnet *net);
/* Weights and biases uniform within 1 / sqrt(inputs of a unit). */
void sr__qnet_draw_weights(sr__qnet *net, sr__random *random);
void sr__qnet_copy_weights(const sr__qnet *from, sr__qnet *to);

/* What forward leaves for backward; for batches of up to `batch` rows. Networks of one shape share
 * it. */
typedef struct sr__qnet_work {
  sr__floats floats;
  int64_t batch;
  float *x[SR__CONVS_MAX + 1],
      *dx[SR__CONVS_MAX + 1]; /* inputs of the convolutions, then the flat layer */
  float *hidden, *dhidden;    /* batch x hidden */
  float *q, *dq;              /* batch x outputs */
  float *packed, *scratch, *linear_space;
} sr__qnet_work;

SR_MUST_CHECK sr_status sr__qnet_work_new(sr_context *ctx, const sr__qnet_shape *shape,
                                          int64_t batch, sr__qnet_work *work);
void sr__qnet_work_free(sr__qnet_work *work);

/* work->q and work->hidden of `count` rows. frames: count x stack, oldest first. */
void sr__qnet_forward(const sr__qnet *net, sr__qnet_work *work, int64_t count,
                      const uint8_t *const *frames);
/* The gradient of sum(dq * q) by the parameters is written; after the forward of the same rows,
 * whose frames must still be there. */
void sr__qnet_backward(sr__qnet *net, sr__qnet_work *work, int64_t count,
                       const uint8_t *const *frames);
/* The same, and a step of Adam without clipping by that gradient; `gradient` of the largest layer
 * may not be written. */
void sr__qnet_learn(sr__qnet *net, sr__qnet_work *work, int64_t count, const uint8_t *const *frames,
                    sr__adam *adam);

#endif
