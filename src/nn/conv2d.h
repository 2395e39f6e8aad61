/* Convolution of pictures without padding, channels last. Internal.
 *
 * A picture is height x width x in floats, a filter size x size x in x out. One row of a window is
 * then size * in consecutive floats and one weight's output channels are consecutive too, so
 * windows are read where they lie and nothing is copied. Channels that are written come in
 * multiples of 16. As in nn.h, gradients of parameters are added to, gradients of inputs are
 * written, and all vector levels give the same bits. */
#ifndef SR_NN_CONV2D_H
#define SR_NN_CONV2D_H

#include "nn/nn.h"

typedef struct sr__conv2d {
  int32_t height, width, in; /* of a picture */
  int32_t size, stride, out; /* of the filters; out: a multiple of 16 */
} sr__conv2d;

static inline int32_t sr__conv2d_rows(const sr__conv2d *c) {
  return (c->height - c->size) / c->stride + 1;
}
static inline int32_t sr__conv2d_columns(const sr__conv2d *c) {
  return (c->width - c->size) / c->stride + 1;
}
/* Floats of one picture, of what comes out for it, and of the filters. */
static inline int64_t sr__conv2d_in_size(const sr__conv2d *c) {
  return (int64_t)c->height * c->width * c->in;
}
static inline int64_t sr__conv2d_out_size(const sr__conv2d *c) {
  return (int64_t)sr__conv2d_rows(c) * sr__conv2d_columns(c) * c->out;
}
static inline int64_t sr__conv2d_weights(const sr__conv2d *c) {
  return (int64_t)c->size * c->size * c->in * c->out;
}

/* y = max(0, x * w + bias), `count` pictures. packed: sr__conv2d_weights floats from
 * sr__conv2d_pack. */
void sr__conv2d_pack(const sr__conv2d *c, const float *weight, float *packed);
void sr__conv2d_forward(const sr__conv2d *c, int64_t count, const float *x, const float *packed,
                        const float *bias, float *y);
/* dy is the gradient before the ReLU (see sr__relu_backward). */
void sr__conv2d_backward_weight(const sr__conv2d *c, int64_t count, const float *x, const float *dy,
                                float *weight_gradient, float *bias_gradient);
/* The same, faster where half of x is 0 or more; the weight is not packed. For the shapes that
 * sr__conv2d_may_be_sparse names. */
bool sr__conv2d_may_be_sparse(const sr__conv2d *c);
void sr__conv2d_forward_sparse(const sr__conv2d *c, int64_t count, const float *x,
                               const float *weight, const float *bias, float *y);
void sr__conv2d_backward_weight_sparse(const sr__conv2d *c, int64_t count, const float *x,
                                       const float *dy, float *weight_gradient,
                                       float *bias_gradient);
/* Needs stride to divide size, in to be a multiple of 16, and every input cell to be under some
 * window. turned: sr__conv2d_weights floats from sr__conv2d_turn; scratch: sr__conv2d_scratch
 * floats. */
int64_t sr__conv2d_scratch(const sr__conv2d *c);
void sr__conv2d_turn(const sr__conv2d *c, const float *weight, float *scratch, float *turned);
void sr__conv2d_backward_input(const sr__conv2d *c, int64_t count, const float *dy,
                               const float *turned, float *scratch, float *dx);
/* dy = 0 where y, which came out of a ReLU, is 0. */
void sr__relu_backward(int64_t count, const float *y, float *dy);

#endif
