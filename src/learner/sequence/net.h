/* The frame that sequence nets share: a stem of three convolutions, some equal blocks, a norm, the
 * mean over time, a linear head. What a block is, transformer or Mamba, is a body. Internal.
 *
 *   x: time x channels -> 16 -> 32 -> tokens x width -> blocks -> width -> classes
 *
 * One series goes forward and backward before the next one; gradients add up in the parameters. */
#ifndef SR_LEARNER_SEQUENCE_NET_H
#define SR_LEARNER_SEQUENCE_NET_H

#include "core/random.h"
#include "nn/layers.h"

enum { SR__NET_BLOCKS_MAX = 8, SR__NET_SCRATCH = 6, SR__NET_STEM = 3 };

typedef struct sr__net_shape {
  int64_t channels, classes;
  int64_t longest; /* time steps that a transformer learns positions for */
  int64_t width;   /* of a token: a multiple of 16 */
  int64_t blocks;
  int64_t heads, feed_forward; /* transformer */
  int64_t stride;              /* of the third convolution */
  bool causal;                 /* the stem never looks ahead */
} sr__net_shape;

typedef struct sr__net sr__net;

/* A kind of block. `self` is the block's own struct of block_size bytes. */
typedef struct sr__body {
  size_t block_size;
  bool positions; /* whether learned positions are added to the tokens */
  /* Adds the tensors. */
  void (*declare)(sr__net *net, void *self);
  /* Takes the arrays, whose pointers are NULL on the first of two calls. */
  void (*layout)(sr__net *net, void *self, sr__floats *floats);
  /* Floats that all blocks share as net->extra. */
  int64_t (*extra_size)(const sr__net *net);
  void (*initialize)(sr__net *net, void *self, sr__random *random);
  void (*pack)(sr__net *net, void *self);
  /* x, y: tokens x width; y = x + block(x). */
  void (*forward)(sr__net *net, void *self, int64_t tokens, const float *x, float *y, float drop,
                  uint32_t key);
  /* dx: the gradient of y becomes that of x. */
  void (*backward)(sr__net *net, void *self, int64_t tokens, const float *x, float *dx, float drop,
                   uint32_t key);
  /* After the last series of a batch; may be NULL. */
  void (*finish_gradient)(sr__net *net, void *self);
} sr__body;

struct sr__net {
  const sr__body *body;
  sr__net_shape shape;
  int64_t capacity; /* time steps of the longest series that the arrays hold */
  int64_t tokens;   /* of that series */
  bool training;
  sr_allocator allocator;
  sr__parameters parameters;
  sr__floats floats;
  char *blocks; /* shape.blocks structs of body->block_size */

  int stem_weight[SR__NET_STEM], stem_bias[SR__NET_STEM], position;
  int norm_weight, norm_bias, head_weight, head_bias;
  sr__convolution stem[SR__NET_STEM];
  sr__linear head;

  float *input[SR__NET_STEM]; /* padded inputs of the convolutions; the first holds the series */
  float *slope[SR__NET_STEM]; /* of GELU behind the first two */
  float *x[SR__NET_BLOCKS_MAX + 1]; /* tokens x width before each block and behind the last */
  float *last, *last_moments;       /* the tokens behind the norm */
  float *pooled, *dropped;          /* width: mean over time, and what dropout left of it */
  float *score, *dscore;            /* classes */
  float *scratch[SR__NET_SCRATCH], *extra;
};

/* capacity >= 1; training = false makes neither gradients nor what only backward needs. */
SR_MUST_CHECK sr_status sr__net_new(sr_context *ctx, const sr__body *body,
                                    const sr__net_shape *shape, int64_t capacity, bool training,
                                    sr__net **net);
void sr__net_free(sr__net **net);
void sr__net_initialize(sr__net *net, sr__random *random);
/* Whenever the parameters changed. */
void sr__net_pack(sr__net *net);
/* Floats of the block of parameters that a net of this shape has; allocates next to nothing. */
SR_MUST_CHECK sr_status sr__net_block_floats(sr_context *ctx, const sr__body *body,
                                             const sr__net_shape *shape, int64_t *floats);
void *sr__net_block(const sr__net *net, int64_t index);

/* x: length x channels, 1 <= length <= capacity; net->score gets the scores. drop 0 to predict. */
void sr__net_forward(sr__net *net, int64_t length, const float *x, float drop, uint32_t key);
/* From net->dscore; to be called right after forward with the same arguments. */
void sr__net_backward(sr__net *net, int64_t length, float drop, uint32_t key);
void sr__net_finish_gradient(sr__net *net);

/* ---- what bodies are made of ------------------------------------------------------------- */

typedef struct sr__net_tensor {
  const char *name;
  int64_t rows, columns;
  bool decay;
} sr__net_tensor;
/* tensor[i] gets the number of list[i]. */
void sr__net_declare(sr__net *net, const sr__net_tensor *list, int count, int *tensor);
float *sr__net_value(const sr__net *net, int tensor);
float *sr__net_gradient(const sr__net *net, int tensor);
/* A layer of the size of its weights; bias -1: none. */
void sr__net_take_linear(sr__net *net, int weight, int bias, sr__floats *floats, sr__linear *layer);
/* Uniform in +-bound. */
void sr__net_uniform(sr__net *net, int tensor, double bound, sr__random *random);
void sr__net_fill(sr__net *net, int tensor, float value);

extern const sr__body sr__transformer_body, sr__mamba_body;

#endif
