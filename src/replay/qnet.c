#include "qnet.h"

#include <math.h>

#include "qnet_kernel.h"

enum { GRID_HIDDEN = 128, GRAY_HIDDEN = 512, GRAY_SIDE = 84, SMALL_BATCH = 4 };

sr_status sr__qnet_choose(sr_context *ctx, const sr_game *game, int32_t stack, int32_t outputs,
                          sr__qnet_shape *shape) {
  const sr_game_view *view = sr_game_get(game);
  *shape = (sr__qnet_shape){.form = game->form,
                            .channels = view->channels,
                            .stack = stack,
                            .outputs = outputs};
  int32_t depth = view->channels * stack;
  if (game->form == SR__FRAME_BITS && view->height == 10 && view->width == 10) {
    shape->convs = 1;
    shape->conv[0] = (sr__conv2d){10, 10, depth, 3, 1, SR__GRID_FILTERS};
    shape->hidden = GRID_HIDDEN;
  } else if (game->form == SR__FRAME_GRAY && view->channels == 1 && view->height == GRAY_SIDE &&
             view->width == GRAY_SIDE) {
    shape->convs = 3;
    shape->conv[0] = (sr__conv2d){84, 84, depth, 8, 4, 32};
    shape->conv[1] = (sr__conv2d){20, 20, 32, 4, 2, 64};
    shape->conv[2] = (sr__conv2d){9, 9, 64, 3, 1, 64};
    shape->hidden = GRAY_HIDDEN;
  } else {
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "no network is known for the pictures of %s (%d x %d x %d); grids of 10 x 10 "
                    "and gray pictures of "
                    "84 x 84 have one",
                    view->name, (int)view->channels, (int)view->height, (int)view->width);
  }
  shape->flat = sr__conv2d_out_size(&shape->conv[shape->convs - 1]);
  return SR_OK;
}

sr_status sr__qnet_new(sr_context *ctx, const sr__qnet_shape *shape, bool training, sr__qnet *net) {
  static const char *const names[] = {"convolution 1", "convolution 2", "convolution 3"};
  memset(net, 0, sizeof *net);
  net->shape = *shape;
  for (int l = 0; l < shape->convs; l++) {
    const sr__conv2d *c = &shape->conv[l];
    net->weight[l] = sr__parameters_add(&net->parameters, names[l],
                                        (int64_t)c->size * c->size * c->in, c->out, false);
    net->bias[l] = sr__parameters_add(&net->parameters, "bias", 1, c->out, false);
  }
  int l = shape->convs;
  net->weight[l] =
      sr__parameters_add(&net->parameters, "hidden", shape->flat, shape->hidden, false);
  net->bias[l] = sr__parameters_add(&net->parameters, "bias", 1, shape->hidden, false);
  net->weight[l + 1] =
      sr__parameters_add(&net->parameters, "heads", shape->hidden, shape->outputs, false);
  net->bias[l + 1] = sr__parameters_add(&net->parameters, "bias", 1, shape->outputs, false);
  return sr__parameters_allocate(ctx, &net->parameters, training);
}

void sr__qnet_free(sr__qnet *net) { sr__parameters_free(&net->parameters); }

void sr__qnet_draw_weights(sr__qnet *net, sr__random *random) {
  for (int l = 0; l < net->shape.convs + 2; l++) {
    const sr__tensor *weight = &net->parameters.tensor[net->weight[l]];
    const sr__tensor *bias = &net->parameters.tensor[net->bias[l]];
    float *w = net->parameters.value + weight->at, *b = net->parameters.value + bias->at;
    double width = 1 / sqrt((double)weight->rows);
    for (int64_t i = 0; i < weight->rows * weight->columns; i++)
      w[i] = (float)(width * (2 * sr__random_uniform(random) - 1));
    for (int64_t i = 0; i < bias->columns; i++)
      b[i] = (float)(width * (2 * sr__random_uniform(random) - 1));
  }
}

void sr__qnet_copy_weights(const sr__qnet *from, sr__qnet *to) {
  memcpy(to->parameters.value, from->parameters.value,
         (size_t)from->parameters.count * sizeof(float));
}

/* ---- scratch ------------------------------------------------------------------------------ */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Runs twice, see sr__floats. */
static void lay_out(const sr__qnet_shape *shape, sr__qnet_work *work) {
  sr__floats *floats = &work->floats;
  int64_t batch = work->batch, packed = 0, scratch = 0;
  for (int l = 0; l <= shape->convs; l++) {
    int64_t size = l < shape->convs ? sr__conv2d_in_size(&shape->conv[l]) : shape->flat;
    if (l > 0 || shape->form == SR__FRAME_GRAY) work->x[l] = sr__floats_take(floats, batch * size);
    if (l > 0) work->dx[l] = sr__floats_take(floats, batch * size);
    if (l == shape->convs) continue;
    packed = larger(packed, sr__conv2d_weights(&shape->conv[l]));
    if (l > 0) scratch = larger(scratch, sr__conv2d_scratch(&shape->conv[l]));
  }
  work->hidden = sr__floats_take(floats, batch * shape->hidden);
  work->dhidden = sr__floats_take(floats, batch * shape->hidden);
  work->q = sr__floats_take(floats, batch * shape->outputs);
  work->dq = sr__floats_take(floats, batch * shape->outputs);
  work->packed = sr__floats_take(floats, packed);
  work->scratch = sr__floats_take(floats, scratch);
  work->linear_space =
      sr__floats_take(floats, sr__linear_packed_size(shape->hidden, shape->outputs));
}

sr_status sr__qnet_work_new(sr_context *ctx, const sr__qnet_shape *shape, int64_t batch,
                            sr__qnet_work *work) {
  memset(work, 0, sizeof *work);
  work->batch = batch;
  lay_out(shape, work);
  sr_status status = sr__floats_allocate(ctx, &work->floats);
  if (status == SR_OK) lay_out(shape, work);
  return status;
}

void sr__qnet_work_free(sr__qnet_work *work) { sr__floats_free(&work->floats); }

/* ---- forward ------------------------------------------------------------------------------ */

static const float *value(const sr__qnet *net, int tensor) {
  return sr__parameters_value(&net->parameters, tensor);
}

/* What comes out of a ReLU is half zeros or more. */
static bool is_sparse(const sr__qnet_shape *shape, int layer) {
  return layer > 0 && sr__conv2d_may_be_sparse(&shape->conv[layer]);
}

static void forward_pictures(const sr__qnet *net, sr__qnet_work *work, int64_t count,
                             const uint8_t *const *frames) {
  const sr__qnet_shape *shape = &net->shape;
  const sr__qnet_kernel *kernel = sr__qnet_kernel_now();
  if (shape->form == SR__FRAME_BITS) {
    for (int64_t i = 0; i < count; i++)
      kernel->grid_forward(shape->stack, shape->channels, frames + i * shape->stack,
                           value(net, net->weight[0]), value(net, net->bias[0]),
                           work->x[1] + i * shape->flat);
    return;
  }
  int64_t cells = (int64_t)shape->conv[0].height * shape->conv[0].width;
  for (int64_t i = 0; i < count; i++)
    kernel->interleave(shape->stack, cells, frames + i * shape->stack,
                       work->x[0] + i * sr__conv2d_in_size(&shape->conv[0]));
  for (int l = 0; l < shape->convs; l++) {
    const float *weight = value(net, net->weight[l]), *bias = value(net, net->bias[l]);
    if (is_sparse(shape, l)) {
      sr__conv2d_forward_sparse(&shape->conv[l], count, work->x[l], weight, bias, work->x[l + 1]);
    } else {
      sr__conv2d_pack(&shape->conv[l], weight, work->packed);
      sr__conv2d_forward(&shape->conv[l], count, work->x[l], work->packed, bias, work->x[l + 1]);
    }
  }
}

static sr__linear heads_layer(const sr__qnet *net, sr__qnet_work *work) {
  sr__linear layer;
  int l = net->shape.convs + 1;
  sr__linear_init(&layer, net->shape.hidden, net->shape.outputs, value(net, net->weight[l]),
                  value(net, net->bias[l]), work->linear_space);
  return layer;
}

void sr__qnet_forward(const sr__qnet *net, sr__qnet_work *work, int64_t count,
                      const uint8_t *const *frames) {
  const sr__qnet_shape *shape = &net->shape;
  const sr__qnet_kernel *kernel = sr__qnet_kernel_now();
  int l = shape->convs;
  forward_pictures(net, work, count, frames);
  const float *weight = value(net, net->weight[l]), *bias = value(net, net->bias[l]);
  if (count <= SMALL_BATCH) { /* the same sums, and the weights are read once */
    for (int64_t i = 0; i < count; i++)
      kernel->dense_row(shape->flat, shape->hidden, work->x[l] + i * shape->flat, weight, bias,
                        work->hidden + i * shape->hidden);
  } else {
    sr__nn_sparse_product(&(sr__sparse_product){.rows = count,
                                                .columns = shape->hidden,
                                                .inner = shape->flat,
                                                .a = work->x[l],
                                                .a_row = shape->flat,
                                                .a_inner = 1,
                                                .b = weight,
                                                .b_row = shape->hidden,
                                                .b_column = 1,
                                                .c = work->hidden,
                                                .c_row = shape->hidden,
                                                .bias = bias});
  }
  kernel->relu(count * shape->hidden, work->hidden);
  sr__linear layer = heads_layer(net, work);
  sr__nn_pack(layer.in, layer.out, layer.weight, layer.out, layer.packed);
  sr__linear_forward(&layer, count, work->hidden, shape->hidden, work->q, shape->outputs, false);
}

/* ---- backward ----------------------------------------------------------------------------- */

/* From dhidden to dx and to the gradient of the hidden layer's weights, which is by far the
 * largest: it is written, or `update` makes its step with it. */
static void backward_hidden(sr__qnet *net, sr__qnet_work *work, int64_t count,
                            const sr__adam_tensor *update) {
  const sr__qnet_shape *shape = &net->shape;
  int l = shape->convs;
  int64_t flat = shape->flat, hidden = shape->hidden;
  sr__nn_sparse_product(&(sr__sparse_product){.rows = count,
                                              .columns = flat,
                                              .inner = hidden,
                                              .a = work->dhidden,
                                              .a_row = hidden,
                                              .a_inner = 1,
                                              .b = value(net, net->weight[l]),
                                              .b_row = 1,
                                              .b_column = hidden,
                                              .c = work->dx[l],
                                              .c_row = flat});
  sr__nn_sparse_product(
      &(sr__sparse_product){.rows = flat,
                            .columns = hidden,
                            .inner = count,
                            .a = work->x[l],
                            .a_row = 1,
                            .a_inner = flat,
                            .b = work->dhidden,
                            .b_row = hidden,
                            .b_column = 1,
                            .c = sr__parameters_gradient(&net->parameters, net->weight[l]),
                            .c_row = hidden,
                            .column_sums = sr__parameters_gradient(&net->parameters, net->bias[l]),
                            .update = update});
}

static void backward_pictures(sr__qnet *net, sr__qnet_work *work, int64_t count,
                              const uint8_t *const *frames) {
  const sr__qnet_shape *shape = &net->shape;
  sr__parameters *parameters = &net->parameters;
  for (int l = shape->convs - 1; l >= 0; l--) {
    const sr__conv2d *c = &shape->conv[l];
    float *dy = work->dx[l + 1], *dw = sr__parameters_gradient(parameters, net->weight[l]);
    float *db = sr__parameters_gradient(parameters, net->bias[l]);
    sr__relu_backward(count * sr__conv2d_out_size(c), work->x[l + 1], dy);
    if (shape->form == SR__FRAME_BITS) {
      for (int64_t i = 0; i < count; i++)
        sr__qnet_kernel_now()->grid_backward(shape->stack, shape->channels,
                                             frames + i * shape->stack, dy + i * shape->flat, dw,
                                             db);
      return;
    }
    (is_sparse(shape, l) ? sr__conv2d_backward_weight_sparse
                         : sr__conv2d_backward_weight)(c, count, work->x[l], dy, dw, db);
    if (l == 0) return;
    sr__conv2d_turn(c, value(net, net->weight[l]), work->scratch, work->packed);
    sr__conv2d_backward_input(c, count, dy, work->packed, work->scratch, work->dx[l]);
  }
}

static void backward(sr__qnet *net, sr__qnet_work *work, int64_t count,
                     const uint8_t *const *frames, const sr__adam_tensor *update) {
  const sr__qnet_shape *shape = &net->shape;
  sr__parameters *parameters = &net->parameters;
  for (int t = 0; t < parameters->tensors; t++) /* the rest of the gradient is added to */
    if (t != net->weight[shape->convs])
      memset(sr__parameters_gradient(parameters, t), 0,
             (size_t)(parameters->tensor[t].rows * parameters->tensor[t].columns) * sizeof(float));
  sr__linear layer = heads_layer(net, work);
  sr__nn_pack_transposed(layer.out, layer.in, layer.weight, layer.out, layer.packed_transposed);
  sr__linear_backward_weight(&layer, count, work->hidden, shape->hidden, work->dq, shape->outputs,
                             sr__parameters_gradient(parameters, net->weight[shape->convs + 1]),
                             sr__parameters_gradient(parameters, net->bias[shape->convs + 1]));
  sr__linear_backward_input(&layer, count, work->dq, shape->outputs, work->dhidden, shape->hidden,
                            false);
  sr__relu_backward(count * shape->hidden, work->hidden, work->dhidden);
  backward_hidden(net, work, count, update);
  backward_pictures(net, work, count, frames);
}

void sr__qnet_backward(sr__qnet *net, sr__qnet_work *work, int64_t count,
                       const uint8_t *const *frames) {
  backward(net, work, count, frames, NULL);
}

void sr__qnet_learn(sr__qnet *net, sr__qnet_work *work, int64_t count, const uint8_t *const *frames,
                    sr__adam *adam) {
  const sr__parameters *parameters = &net->parameters;
  const sr__adam_update how = sr__adam_begin(adam);
  int hidden = count <= SR__SPARSE_UPDATE_INNER ? net->weight[net->shape.convs] : -1;
  sr__adam_tensor largest = {0};
  if (hidden >= 0) largest = sr__adam_tensor_of(adam, &how, parameters, hidden);
  backward(net, work, count, frames, hidden >= 0 ? &largest : NULL);
  for (int t = 0; t < parameters->tensors; t++) {
    if (t == hidden) continue;
    sr__adam_tensor update = sr__adam_tensor_of(adam, &how, parameters, t);
    sr__adam_step_tensor(&update, parameters, t);
  }
}
