#include <assert.h>

#include "nn/conv2d_kernel.h"
#include "nn/sparse_kernel.h"

static sr__windows windows_of(const sr__conv2d *c, const float *x) {
  return (sr__windows){.in = x,
                       .rows = sr__conv2d_rows(c),
                       .columns = sr__conv2d_columns(c),
                       .in_row = (int64_t)c->stride * c->width * c->in,
                       .in_column = (int64_t)c->stride * c->in,
                       .runs = c->size,
                       .run = c->size * c->in,
                       .run_step = (int64_t)c->width * c->in};
}

void sr__conv2d_pack(const sr__conv2d *c, const float *weight, float *packed) {
  sr__nn_pack((int64_t)c->size * c->size * c->in, c->out, weight, c->out, packed);
}

void sr__conv2d_forward(const sr__conv2d *c, int64_t count, const float *x, const float *packed,
                        const float *bias, float *y) {
  assert(c->out % 16 == 0);
  for (int64_t i = 0; i < count; i++) {
    sr__windows w = windows_of(c, x + i * sr__conv2d_in_size(c));
    sr__conv2d_kernel_now()->apply(&w, packed, bias, c->out, true, y + i * sr__conv2d_out_size(c),
                                   (int64_t)w.columns * c->out, c->out);
  }
}

void sr__conv2d_backward_weight(const sr__conv2d *c, int64_t count, const float *x, const float *dy,
                                float *weight_gradient, float *bias_gradient) {
  const sr__conv2d_kernel *kernel = sr__conv2d_kernel_now();
  for (int64_t i = 0; i < count; i++) {
    sr__windows w = windows_of(c, x + i * sr__conv2d_in_size(c));
    const float *own = dy + i * sr__conv2d_out_size(c);
    kernel->weight_gradient(&w, own, c->out, weight_gradient);
    kernel->row_sums((int64_t)w.rows * w.columns, c->out, own, bias_gradient);
  }
}

bool sr__conv2d_may_be_sparse(const sr__conv2d *c) {
  return c->out == SR__SPARSE_COLUMNS && c->size * c->in % 8 == 0;
}

void sr__conv2d_forward_sparse(const sr__conv2d *c, int64_t count, const float *x,
                               const float *weight, const float *bias, float *y) {
  assert(sr__conv2d_may_be_sparse(c));
  for (int64_t i = 0; i < count; i++) {
    sr__windows w = windows_of(c, x + i * sr__conv2d_in_size(c));
    sr__sparse_kernel_now()->apply(&w, weight, bias, y + i * sr__conv2d_out_size(c));
  }
}

void sr__conv2d_backward_weight_sparse(const sr__conv2d *c, int64_t count, const float *x,
                                       const float *dy, float *weight_gradient,
                                       float *bias_gradient) {
  assert(sr__conv2d_may_be_sparse(c));
  for (int64_t i = 0; i < count; i++) {
    sr__windows w = windows_of(c, x + i * sr__conv2d_in_size(c));
    const float *own = dy + i * sr__conv2d_out_size(c);
    sr__sparse_kernel_now()->weight_gradient(&w, own, weight_gradient);
    sr__conv2d_kernel_now()->row_sums((int64_t)w.rows * w.columns, c->out, own, bias_gradient);
  }
}

/* The gradient of an input cell (y, x) is a sum over the windows that cover it. Cells of one parity
 * (y % stride, x % stride) = (v, h) see the same taps of the filter, size / stride of them each
 * way, so the gradient is stride x stride small convolutions of the padded output gradient, with
 * filters turned round. */
static int32_t taps_of(const sr__conv2d *c) { return c->size / c->stride; }

static int64_t padded_columns(const sr__conv2d *c) {
  return sr__conv2d_columns(c) + 2 * (taps_of(c) - 1);
}
static int64_t padded_rows(const sr__conv2d *c) {
  return sr__conv2d_rows(c) + 2 * (taps_of(c) - 1);
}

int64_t sr__conv2d_scratch(const sr__conv2d *c) {
  int64_t padded = padded_rows(c) * padded_columns(c) * c->out, filters = sr__conv2d_weights(c);
  return padded > filters ? padded : filters;
}

void sr__conv2d_turn(const sr__conv2d *c, const float *weight, float *scratch, float *turned) {
  const int32_t s = c->stride, taps = taps_of(c);
  const int64_t inner = (int64_t)taps * taps * c->out;
  assert(c->size % s == 0 && c->in % 16 == 0);
  for (int32_t v = 0; v < s; v++)
    for (int32_t h = 0; h < s; h++, turned += inner * c->in) {
      float *to = scratch; /* taps x taps x out x in */
      for (int32_t a = 0; a < taps; a++)
        for (int32_t b = 0; b < taps; b++) {
          int32_t tap = (v + s * (taps - 1 - a)) * c->size + h + s * (taps - 1 - b);
          const float *from = weight + (int64_t)tap * c->in * c->out; /* in x out */
          for (int32_t o = 0; o < c->out; o++)
            for (int32_t i = 0; i < c->in; i++) *to++ = from[(int64_t)i * c->out + o];
        }
      sr__nn_pack(inner, c->in, scratch, c->in, turned);
    }
}

void sr__conv2d_backward_input(const sr__conv2d *c, int64_t count, const float *dy,
                               const float *turned, float *scratch, float *dx) {
  const int32_t s = c->stride, taps = taps_of(c), rows = sr__conv2d_rows(c),
                columns = sr__conv2d_columns(c);
  const int64_t wide = padded_columns(c), edge = taps - 1, out = c->out;
  memset(scratch, 0, (size_t)(padded_rows(c) * wide * out) * sizeof *scratch);
  for (int64_t i = 0; i < count; i++, dy += sr__conv2d_out_size(c), dx += sr__conv2d_in_size(c)) {
    for (int32_t y = 0; y < rows; y++)
      memcpy(scratch + ((y + edge) * wide + edge) * out, dy + (int64_t)y * columns * out,
             (size_t)(columns * out) * sizeof *dy);
    const float *filters = turned;
    for (int32_t v = 0; v < s; v++)
      for (int32_t h = 0; h < s; h++, filters += (int64_t)taps * taps * out * c->in) {
        sr__windows w = {.in = scratch,
                         .rows = (c->height - v + s - 1) / s,
                         .columns = (c->width - h + s - 1) / s,
                         .in_row = wide * out,
                         .in_column = out,
                         .runs = taps,
                         .run = taps * (int32_t)out,
                         .run_step = wide * out};
        sr__conv2d_kernel_now()->apply(&w, filters, NULL, c->in, false,
                                       dx + ((int64_t)v * c->width + h) * c->in,
                                       (int64_t)s * c->width * c->in, (int64_t)s * c->in);
      }
  }
}

void sr__relu_backward(int64_t count, const float *y, float *dy) {
  sr__conv2d_kernel_now()->relu_backward(count, y, dy);
}
