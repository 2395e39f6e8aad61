#include <assert.h>

#include "nn/layers.h"

void sr__convolution_init(sr__convolution *layer, int64_t in, int64_t out, int64_t taps,
                          int64_t stride, bool causal, const float *weight, const float *bias,
                          float *space) {
  *layer = (sr__convolution){
      .in = in, .out = out, .taps = taps, .stride = stride, .left = causal ? taps - 1 : taps / 2};
  sr__linear_init(&layer->map, taps * in, out, weight, bias, space);
}

int64_t sr__convolution_outputs(const sr__convolution *layer, int64_t inputs) {
  return (inputs - 1) / layer->stride + 1;
}

int64_t sr__convolution_padded_size(const sr__convolution *layer, int64_t inputs) {
  return (inputs + layer->taps - 1) * layer->in;
}

void sr__convolution_forward(const sr__convolution *layer, int64_t inputs, float *x, float *y) {
  const int64_t before = layer->left * layer->in, end = before + inputs * layer->in;
  memset(x, 0, (size_t)before * sizeof *x);
  memset(x + end, 0, (size_t)(sr__convolution_padded_size(layer, inputs) - end) * sizeof *x);
  sr__linear_forward(&layer->map, sr__convolution_outputs(layer, inputs), x,
                     layer->stride * layer->in, y, layer->out, false);
}

void sr__convolution_backward_weight(const sr__convolution *layer, int64_t inputs, const float *x,
                                     const float *dy, float *weight_gradient,
                                     float *bias_gradient) {
  sr__linear_backward_weight(&layer->map, sr__convolution_outputs(layer, inputs), x,
                             layer->stride * layer->in, dy, layer->out, weight_gradient,
                             bias_gradient);
}

void sr__convolution_backward_input(const sr__convolution *layer, int64_t inputs, const float *dy,
                                    float *dx) {
  assert(layer->stride * layer->in >= 16);
  memset(dx, 0, (size_t)sr__convolution_padded_size(layer, inputs) * sizeof *dx);
  sr__linear_backward_input(&layer->map, sr__convolution_outputs(layer, inputs), dy, layer->out, dx,
                            layer->stride * layer->in, true);
}
