#include "learner/sequence/net.h"

#include <assert.h>
#include <math.h>

/* Taps, outputs and stride of the stem; 0 stands for width and stride of the shape. */
static const struct {
  int64_t taps, out, stride;
} STEM[SR__NET_STEM] = {{9, 16, 1}, {7, 32, 2}, {7, 0, 0}};

float *sr__net_value(const sr__net *net, int tensor) {
  return sr__parameters_value(&net->parameters, tensor);
}
float *sr__net_gradient(const sr__net *net, int tensor) {
  return sr__parameters_gradient(&net->parameters, tensor);
}

void sr__net_declare(sr__net *net, const sr__net_tensor *list, int count, int *tensor) {
  for (int i = 0; i < count; i++)
    tensor[i] = sr__parameters_add(&net->parameters, list[i].name, list[i].rows, list[i].columns,
                                   list[i].decay);
}

void sr__net_take_linear(sr__net *net, int weight, int bias, sr__floats *floats,
                         sr__linear *layer) {
  const sr__tensor *t = &net->parameters.tensor[weight];
  sr__linear_init(layer, t->rows, t->columns, sr__net_value(net, weight),
                  bias < 0 ? NULL : sr__net_value(net, bias),
                  sr__floats_take(floats, sr__linear_packed_size(t->rows, t->columns)));
}

void *sr__net_block(const sr__net *net, int64_t index) {
  return net->blocks + (size_t)index * net->body->block_size;
}

/* ---- making a net --------------------------------------------------------------------------- */

static int64_t stem_inputs(const sr__net *net, int level) {
  return level == 0 ? net->shape.channels : STEM[level - 1].out;
}
static int64_t stem_outputs(const sr__net *net, int level) {
  return STEM[level].out ? STEM[level].out : net->shape.width;
}

static int64_t net_tokens(const sr__net *net, int64_t length) {
  for (int i = 0; i < SR__NET_STEM; i++) {
    const int64_t stride = STEM[i].stride ? STEM[i].stride : net->shape.stride;
    length = (length - 1) / stride + 1;
  }
  return length;
}

static void declare(sr__net *net) {
  sr__parameters *p = &net->parameters;
  for (int i = 0; i < SR__NET_STEM; i++) {
    net->stem_weight[i] = sr__parameters_add(p, "stem.weight", STEM[i].taps * stem_inputs(net, i),
                                             stem_outputs(net, i), true);
    net->stem_bias[i] = sr__parameters_add(p, "stem.bias", 1, stem_outputs(net, i), false);
  }
  if (net->body->positions)
    net->position = sr__parameters_add(p, "position", net_tokens(net, net->shape.longest),
                                       net->shape.width, false);
  for (int64_t i = 0; i < net->shape.blocks; i++) net->body->declare(net, sr__net_block(net, i));
  net->norm_weight = sr__parameters_add(p, "norm.weight", 1, net->shape.width, false);
  net->norm_bias = sr__parameters_add(p, "norm.bias", 1, net->shape.width, false);
  net->head_weight =
      sr__parameters_add(p, "head.weight", net->shape.width, net->shape.classes, true);
  net->head_bias = sr__parameters_add(p, "head.bias", 1, net->shape.classes, false);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static void layout(sr__net *net, sr__floats *floats) {
  const sr__net_shape *s = &net->shape;
  int64_t length = net->capacity, widest = 0;
  for (int i = 0; i < SR__NET_STEM; i++) {
    const int64_t in = stem_inputs(net, i), out = stem_outputs(net, i);
    float *space = sr__floats_take(floats, sr__linear_packed_size(STEM[i].taps * in, out));
    sr__convolution_init(&net->stem[i], in, out, STEM[i].taps,
                         STEM[i].stride ? STEM[i].stride : s->stride, s->causal,
                         sr__net_value(net, net->stem_weight[i]),
                         sr__net_value(net, net->stem_bias[i]), space);
    const int64_t padded = sr__convolution_padded_size(&net->stem[i], length);
    widest = larger(widest, padded);
    net->input[i] = sr__floats_take(floats, padded);
    length = sr__convolution_outputs(&net->stem[i], length);
    widest = larger(widest, length * out);
    net->slope[i] = sr__floats_take(floats, i + 1 < SR__NET_STEM ? length * out : 0);
  }
  net->tokens = length;
  for (int64_t i = 0; i <= s->blocks; i++)
    net->x[i] = sr__floats_take(floats, net->tokens * s->width);
  for (int64_t i = 0; i < s->blocks; i++) net->body->layout(net, sr__net_block(net, i), floats);
  net->last = sr__floats_take(floats, net->tokens * s->width);
  net->last_moments = sr__floats_take(floats, net->tokens * 2);
  net->pooled = sr__floats_take(floats, s->width);
  net->dropped = sr__floats_take(floats, s->width);
  net->score = sr__floats_take(floats, s->classes);
  net->dscore = sr__floats_take(floats, s->classes);
  sr__net_take_linear(net, net->head_weight, net->head_bias, floats, &net->head);
  widest = larger(widest, net->tokens * larger(4 * s->width, s->feed_forward));
  for (int i = 0; i < SR__NET_SCRATCH; i++) net->scratch[i] = sr__floats_take(floats, widest);
  net->extra = sr__floats_take(floats, net->body->extra_size(net));
}

/* The net with its list of tensors, none of them allocated. */
static sr_status declared_net(sr_context *ctx, const sr__body *body, const sr__net_shape *shape,
                              sr__net **result) {
  sr_status status = SR_OK;
  sr__net *net = NULL;
  assert(shape->width % 16 == 0 && shape->blocks >= 1 && shape->blocks <= SR__NET_BLOCKS_MAX);
  SR_NEW_ZERO(ctx, net, 1);
  net->allocator = sr__allocator(ctx);
  net->body = body;
  net->shape = *shape;
  SR_NEW_ZERO(ctx, net->blocks, shape->blocks * (int64_t)body->block_size);
  declare(net);
  *result = net;
  net = NULL;
cleanup:
  sr__net_free(&net);
  return status;
}

sr_status sr__net_new(sr_context *ctx, const sr__body *body, const sr__net_shape *shape,
                      int64_t capacity, bool training, sr__net **result) {
  sr_status status = SR_OK;
  sr__net *net = NULL;
  SR_TRY(declared_net(ctx, body, shape, &net));
  net->capacity = capacity;
  net->training = training;
  SR_TRY(sr__parameters_allocate(ctx, &net->parameters, training));
  layout(net, &net->floats);
  SR_TRY(sr__floats_allocate(ctx, &net->floats));
  layout(net, &net->floats);
  *result = net;
  net = NULL;
cleanup:
  sr__net_free(&net);
  return status;
}

sr_status sr__net_block_floats(sr_context *ctx, const sr__body *body, const sr__net_shape *shape,
                               int64_t *floats) {
  sr__net *net = NULL;
  sr_status status = declared_net(ctx, body, shape, &net);
  if (status == SR_OK) *floats = net->parameters.count;
  sr__net_free(&net);
  return status;
}

void sr__net_free(sr__net **net) {
  if (!*net) return;
  sr_allocator allocator = (*net)->allocator;
  sr__parameters_free(&(*net)->parameters);
  sr__floats_free(&(*net)->floats);
  sr__release(&allocator, (*net)->blocks);
  sr__release(&allocator, *net);
  *net = NULL;
}

/* ---- start and packing ---------------------------------------------------------------------- */

void sr__net_uniform(sr__net *net, int tensor, double bound, sr__random *random) {
  const sr__tensor *t = &net->parameters.tensor[tensor];
  float *value = sr__net_value(net, tensor);
  for (int64_t i = 0; i < t->rows * t->columns; i++)
    value[i] = (float)((2.0 * sr__random_uniform(random) - 1.0) * bound);
}

void sr__net_fill(sr__net *net, int tensor, float value) {
  const sr__tensor *t = &net->parameters.tensor[tensor];
  for (int64_t i = 0; i < t->rows * t->columns; i++) sr__net_value(net, tensor)[i] = value;
}

void sr__net_initialize(sr__net *net, sr__random *random) {
  for (int i = 0; i < SR__NET_STEM; i++) {
    const double bound = 1.0 / sqrt((double)net->stem[i].map.in);
    sr__net_uniform(net, net->stem_weight[i], bound, random);
    sr__net_uniform(net, net->stem_bias[i], bound, random);
  }
  if (net->body->positions) {
    const sr__tensor *t = &net->parameters.tensor[net->position];
    for (int64_t i = 0; i < t->rows * t->columns; i++)
      sr__net_value(net, net->position)[i] = (float)(0.02 * sr__random_normal(random));
  }
  for (int64_t i = 0; i < net->shape.blocks; i++)
    net->body->initialize(net, sr__net_block(net, i), random);
  sr__net_fill(net, net->norm_weight, 1);
  sr__net_fill(net, net->norm_bias, 0);
  const double bound = 1.0 / sqrt((double)net->shape.width);
  sr__net_uniform(net, net->head_weight, bound, random);
  sr__net_uniform(net, net->head_bias, bound, random);
}

void sr__net_pack(sr__net *net) {
  for (int i = 0; i < SR__NET_STEM; i++) sr__linear_pack(&net->stem[i].map);
  for (int64_t i = 0; i < net->shape.blocks; i++) net->body->pack(net, sr__net_block(net, i));
  sr__linear_pack(&net->head);
}

/* ---- forward -------------------------------------------------------------------------------- */

enum { KEY_POOL = 1000 }; /* blocks have the keys 0, 1, 2, ... */

/* The position of token t; tokens behind the learned ones share the last. */
static int64_t position_row(const sr__net *net, int64_t t) {
  const int64_t known = net->parameters.tensor[net->position].rows;
  return (t < known ? t : known - 1) * net->shape.width;
}

/* Gives the number of tokens, which net->x[0] gets. */
static int64_t stem_forward(sr__net *net, int64_t length, const float *x) {
  const sr__convolution *stem = net->stem;
  memcpy(net->input[0] + stem[0].left * stem[0].in, x, (size_t)(length * stem[0].in) * sizeof *x);
  for (int i = 0; i < SR__NET_STEM; i++) {
    const bool last = i + 1 == SR__NET_STEM;
    float *out = last ? net->x[0] : net->scratch[0];
    sr__convolution_forward(&stem[i], length, net->input[i], out);
    length = sr__convolution_outputs(&stem[i], length);
    if (!last)
      sr__nn_gelu(length * stem[i].out, out, net->input[i + 1] + stem[i + 1].left * stem[i + 1].in,
                  net->slope[i]);
  }
  for (int64_t t = 0; t < length && net->body->positions; t++)
    sr__nn_add(net->shape.width, net->x[0] + t * net->shape.width,
               sr__net_value(net, net->position) + position_row(net, t));
  return length;
}

void sr__net_forward(sr__net *net, int64_t length, const float *x, float drop, uint32_t key) {
  const int64_t width = net->shape.width, tokens = stem_forward(net, length, x);
  for (int64_t i = 0; i < net->shape.blocks; i++)
    net->body->forward(net, sr__net_block(net, i), tokens, net->x[i], net->x[i + 1], drop,
                       sr__nn_dropout_key(key, (uint32_t)i));
  sr__norm_forward(tokens, width, net->x[net->shape.blocks], sr__net_value(net, net->norm_weight),
                   sr__net_value(net, net->norm_bias), net->last, net->last_moments);
  memset(net->pooled, 0, (size_t)width * sizeof *net->pooled);
  for (int64_t t = 0; t < tokens; t++) sr__nn_add(width, net->pooled, net->last + t * width);
  const float share = 1.0f / (float)tokens;
  for (int64_t j = 0; j < width; j++) net->pooled[j] *= share;
  sr__nn_dropout(width, net->pooled, NULL, net->dropped, drop, sr__nn_dropout_key(key, KEY_POOL));
  sr__linear_forward(&net->head, 1, net->dropped, width, net->score, net->shape.classes, false);
}

/* ---- backward ------------------------------------------------------------------------------- */

static void stem_backward(sr__net *net, int64_t length, float *dtokens) {
  const sr__convolution *stem = net->stem;
  int64_t inputs[SR__NET_STEM + 1] = {length};
  for (int i = 0; i < SR__NET_STEM; i++)
    inputs[i + 1] = sr__convolution_outputs(&stem[i], inputs[i]);
  for (int64_t t = 0; t < inputs[SR__NET_STEM] && net->body->positions; t++)
    sr__nn_add(net->shape.width, sr__net_gradient(net, net->position) + position_row(net, t),
               dtokens + t * net->shape.width);
  const float *dy = dtokens;
  for (int i = SR__NET_STEM - 1; i >= 0; i--) {
    sr__convolution_backward_weight(&stem[i], inputs[i], net->input[i], dy,
                                    sr__net_gradient(net, net->stem_weight[i]),
                                    sr__net_gradient(net, net->stem_bias[i]));
    if (i == 0) break;
    float *dx = net->scratch[1 + i % 2], *inside = dx + stem[i].left * stem[i].in;
    sr__convolution_backward_input(&stem[i], inputs[i], dy, dx);
    sr__nn_multiply(inputs[i] * stem[i].in, inside, net->slope[i - 1]);
    dy = inside;
  }
}

void sr__net_backward(sr__net *net, int64_t length, float drop, uint32_t key) {
  const int64_t width = net->shape.width, tokens = net_tokens(net, length);
  float *dpooled = net->pooled, *dlast = net->scratch[1], *dx = net->scratch[0];
  sr__linear_backward_weight(&net->head, 1, net->dropped, width, net->dscore, net->shape.classes,
                             sr__net_gradient(net, net->head_weight),
                             sr__net_gradient(net, net->head_bias));
  sr__linear_backward_input(&net->head, 1, net->dscore, net->shape.classes, dpooled, width, false);
  sr__nn_dropout(width, dpooled, NULL, dpooled, drop, sr__nn_dropout_key(key, KEY_POOL));
  const float share = 1.0f / (float)tokens;
  for (int64_t j = 0; j < width; j++) dpooled[j] *= share;
  for (int64_t t = 0; t < tokens; t++)
    memcpy(dlast + t * width, dpooled, (size_t)width * sizeof *dpooled);
  memset(dx, 0, (size_t)(tokens * width) * sizeof *dx);
  sr__norm_backward(tokens, width, net->x[net->shape.blocks], sr__net_value(net, net->norm_weight),
                    net->last_moments, dlast, dx, sr__net_gradient(net, net->norm_weight),
                    sr__net_gradient(net, net->norm_bias));
  for (int64_t i = net->shape.blocks - 1; i >= 0; i--)
    net->body->backward(net, sr__net_block(net, i), tokens, net->x[i], dx, drop,
                        sr__nn_dropout_key(key, (uint32_t)i));
  stem_backward(net, length, dx);
}

void sr__net_finish_gradient(sr__net *net) {
  for (int64_t i = 0; i < net->shape.blocks && net->body->finish_gradient; i++)
    net->body->finish_gradient(net, sr__net_block(net, i));
}
