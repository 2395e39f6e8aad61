/* A block of the transformer, norms first:
 *   middle = x + drop(attention(norm1 x)),  y = middle + drop(down gelu(up norm2 middle)). */
#include <math.h>

#include "learner/sequence/net.h"

/* Attention weights of series up to this many tokens are kept for backward; beyond, making them
 * again is cheaper than the memory. The bits are the same. */
enum { KEPT_TOKENS = 512 };

enum {
  NORM1_WEIGHT,
  NORM1_BIAS,
  QKV_WEIGHT,
  QKV_BIAS,
  OUT_WEIGHT,
  OUT_BIAS,
  NORM2_WEIGHT,
  NORM2_BIAS,
  UP_WEIGHT,
  UP_BIAS,
  DOWN_WEIGHT,
  DOWN_BIAS,
  TENSORS
};

typedef struct block {
  int tensor[TENSORS];
  sr__linear qkv, out, up, down;
  float *norm1, *norm1_moments;     /* tokens x width, tokens x 2 */
  float *projected;                 /* tokens x 3 width: q, k, v */
  float *softmax_moments, *weights; /* heads x tokens x 2; of short series */
  float *attended;                  /* tokens x width */
  float *middle, *norm2, *norm2_moments;
  float *hidden, *hidden_slope; /* tokens x feed_forward */
} block;

static void declare(sr__net *net, void *self) {
  block *b = self;
  const int64_t width = net->shape.width, wide = net->shape.feed_forward;
  const sr__net_tensor list[TENSORS] = {
      [NORM1_WEIGHT] = {"norm1.weight", 1, width, false},
      [NORM1_BIAS] = {"norm1.bias", 1, width, false},
      [QKV_WEIGHT] = {"qkv.weight", width, 3 * width, true},
      [QKV_BIAS] = {"qkv.bias", 1, 3 * width, false},
      [OUT_WEIGHT] = {"out.weight", width, width, true},
      [OUT_BIAS] = {"out.bias", 1, width, false},
      [NORM2_WEIGHT] = {"norm2.weight", 1, width, false},
      [NORM2_BIAS] = {"norm2.bias", 1, width, false},
      [UP_WEIGHT] = {"up.weight", width, wide, true},
      [UP_BIAS] = {"up.bias", 1, wide, false},
      [DOWN_WEIGHT] = {"down.weight", wide, width, true},
      [DOWN_BIAS] = {"down.bias", 1, width, false},
  };
  sr__net_declare(net, list, TENSORS, b->tensor);
}

static sr__attention attention_of(const sr__net *net, int64_t tokens) {
  return (sr__attention){tokens, net->shape.width, net->shape.heads};
}

static void layout(sr__net *net, void *self, sr__floats *floats) {
  block *b = self;
  const int64_t tokens = net->tokens, width = net->shape.width, wide = net->shape.feed_forward;
  sr__net_take_linear(net, b->tensor[QKV_WEIGHT], b->tensor[QKV_BIAS], floats, &b->qkv);
  sr__net_take_linear(net, b->tensor[OUT_WEIGHT], b->tensor[OUT_BIAS], floats, &b->out);
  sr__net_take_linear(net, b->tensor[UP_WEIGHT], b->tensor[UP_BIAS], floats, &b->up);
  sr__net_take_linear(net, b->tensor[DOWN_WEIGHT], b->tensor[DOWN_BIAS], floats, &b->down);
  b->norm1 = sr__floats_take(floats, tokens * width);
  b->norm1_moments = sr__floats_take(floats, tokens * 2);
  b->projected = sr__floats_take(floats, tokens * 3 * width);
  b->softmax_moments = sr__floats_take(floats, net->shape.heads * tokens * 2);
  sr__attention kept = attention_of(net, tokens < KEPT_TOKENS ? tokens : KEPT_TOKENS);
  b->weights = sr__floats_take(floats, net->training ? sr__attention_weights_size(&kept) : 0);
  b->attended = sr__floats_take(floats, tokens * width);
  b->middle = sr__floats_take(floats, tokens * width);
  b->norm2 = sr__floats_take(floats, tokens * width);
  b->norm2_moments = sr__floats_take(floats, tokens * 2);
  b->hidden = sr__floats_take(floats, tokens * wide);
  b->hidden_slope = sr__floats_take(floats, tokens * wide);
}

static int64_t extra_size(const sr__net *net) {
  sr__attention shape = attention_of(net, net->tokens);
  return sr__attention_scratch_size(&shape);
}

static void initialize(sr__net *net, void *self, sr__random *random) {
  block *b = self;
  const int weights[] = {QKV_WEIGHT, OUT_WEIGHT, UP_WEIGHT, DOWN_WEIGHT};
  sr__net_fill(net, b->tensor[NORM1_WEIGHT], 1);
  sr__net_fill(net, b->tensor[NORM2_WEIGHT], 1);
  sr__net_fill(net, b->tensor[NORM1_BIAS], 0);
  sr__net_fill(net, b->tensor[NORM2_BIAS], 0);
  for (int i = 0; i < 4; i++) {
    const int64_t in = net->parameters.tensor[b->tensor[weights[i]]].rows;
    sr__net_uniform(net, b->tensor[weights[i]], 1.0 / sqrt((double)in), random);
    sr__net_uniform(net, b->tensor[weights[i] + 1], 1.0 / sqrt((double)in), random);
  }
}

static void pack(sr__net *net, void *self) {
  (void)net;
  block *b = self;
  sr__linear_pack(&b->qkv);
  sr__linear_pack(&b->out);
  sr__linear_pack(&b->up);
  sr__linear_pack(&b->down);
}

static float *kept_weights(const sr__net *net, const block *b, int64_t tokens) {
  return net->training && tokens <= KEPT_TOKENS ? b->weights : NULL;
}

static void forward(sr__net *net, void *self, int64_t tokens, const float *x, float *y, float drop,
                    uint32_t key) {
  block *b = self;
  const int64_t width = net->shape.width, wide = net->shape.feed_forward, count = tokens * width;
  const sr__attention shape = attention_of(net, tokens);
  float *branch = net->scratch[0];
  sr__norm_forward(tokens, width, x, sr__net_value(net, b->tensor[NORM1_WEIGHT]),
                   sr__net_value(net, b->tensor[NORM1_BIAS]), b->norm1, b->norm1_moments);
  sr__linear_forward(&b->qkv, tokens, b->norm1, width, b->projected, 3 * width, false);
  sr__attention_forward(&shape, b->projected, b->attended, b->softmax_moments,
                        kept_weights(net, b, tokens), net->extra);
  sr__linear_forward(&b->out, tokens, b->attended, width, branch, width, false);
  sr__nn_dropout(count, branch, x, b->middle, drop, sr__nn_dropout_key(key, 0));

  sr__norm_forward(tokens, width, b->middle, sr__net_value(net, b->tensor[NORM2_WEIGHT]),
                   sr__net_value(net, b->tensor[NORM2_BIAS]), b->norm2, b->norm2_moments);
  sr__linear_forward(&b->up, tokens, b->norm2, width, b->hidden, wide, false);
  sr__nn_gelu(tokens * wide, b->hidden, b->hidden, b->hidden_slope);
  sr__linear_forward(&b->down, tokens, b->hidden, wide, branch, width, false);
  sr__nn_dropout(count, branch, b->middle, y, drop, sr__nn_dropout_key(key, 1));
}

/* Both gradients of y = x w + b. */
static void linear_backward(const sr__net *net, const block *b, const sr__linear *layer, int weight,
                            int64_t tokens, const float *x, const float *dy, float *dx) {
  sr__linear_backward_weight(layer, tokens, x, layer->in, dy, layer->out,
                             sr__net_gradient(net, b->tensor[weight]),
                             sr__net_gradient(net, b->tensor[weight + 1]));
  sr__linear_backward_input(layer, tokens, dy, layer->out, dx, layer->in, false);
}

static void backward(sr__net *net, void *self, int64_t tokens, const float *x, float *dx,
                     float drop, uint32_t key) {
  block *b = self;
  const int64_t width = net->shape.width, wide = net->shape.feed_forward, count = tokens * width;
  const sr__attention shape = attention_of(net, tokens);
  float *dbranch = net->scratch[1], *dhidden = net->scratch[2], *dinner = net->scratch[3];
  float *dprojected = net->scratch[4];

  sr__nn_dropout(count, dx, NULL, dbranch, drop, sr__nn_dropout_key(key, 1));
  linear_backward(net, b, &b->down, DOWN_WEIGHT, tokens, b->hidden, dbranch, dhidden);
  sr__nn_multiply(tokens * wide, dhidden, b->hidden_slope);
  linear_backward(net, b, &b->up, UP_WEIGHT, tokens, b->norm2, dhidden, dinner);
  sr__norm_backward(tokens, width, b->middle, sr__net_value(net, b->tensor[NORM2_WEIGHT]),
                    b->norm2_moments, dinner, dx, sr__net_gradient(net, b->tensor[NORM2_WEIGHT]),
                    sr__net_gradient(net, b->tensor[NORM2_BIAS]));

  sr__nn_dropout(count, dx, NULL, dbranch, drop, sr__nn_dropout_key(key, 0));
  linear_backward(net, b, &b->out, OUT_WEIGHT, tokens, b->attended, dbranch, dinner);
  sr__attention_backward(&shape, b->projected, b->softmax_moments, kept_weights(net, b, tokens),
                         dinner, dprojected, net->extra);
  linear_backward(net, b, &b->qkv, QKV_WEIGHT, tokens, b->norm1, dprojected, dinner);
  sr__norm_backward(tokens, width, x, sr__net_value(net, b->tensor[NORM1_WEIGHT]), b->norm1_moments,
                    dinner, dx, sr__net_gradient(net, b->tensor[NORM1_WEIGHT]),
                    sr__net_gradient(net, b->tensor[NORM1_BIAS]));
}

const sr__body sr__transformer_body = {.block_size = sizeof(block),
                                       .positions = true,
                                       .declare = declare,
                                       .layout = layout,
                                       .extra_size = extra_size,
                                       .initialize = initialize,
                                       .pack = pack,
                                       .forward = forward,
                                       .backward = backward};
