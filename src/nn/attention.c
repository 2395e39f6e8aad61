#include <math.h>

#include "nn/norm_kernel.h"
#include "nn/softmax_kernel.h"

void sr__norm_forward(int64_t rows, int64_t width, const float *x, const float *weight,
                      const float *bias, float *y, float *moments) {
  sr__norm_kernel_now()->forward(rows, width, x, weight, bias, y, moments);
}

void sr__norm_backward(int64_t rows, int64_t width, const float *x, const float *weight,
                       const float *moments, const float *dy, float *dx, float *weight_gradient,
                       float *bias_gradient) {
  sr__norm_kernel_now()->backward(rows, width, x, weight, moments, dy, dx, weight_gradient,
                                  bias_gradient);
}

/* ---- attention ---------------------------------------------------------------------------- */

static int64_t padded(int64_t tokens) { return (tokens + 7) / 8 * 8; }

static int64_t block_rows(const sr__attention *shape) {
  return shape->tokens < SR__ATTENTION_BLOCK ? shape->tokens : SR__ATTENTION_BLOCK;
}

/* One head while it is worked on. The packed arrays and the two blocks are scratch. */
typedef struct head {
  int64_t tokens, columns, width,
      row;                  /* columns: tokens padded; row: floats between tokens of qkv */
  const float *q, *k, *v;   /* tokens x width, `row` apart */
  float *keys_transposed;   /* packed k': width x columns */
  float *keys;              /* packed k: tokens x width */
  float *values_transposed; /* packed v' */
  float *values;            /* packed v */
  float *p, *dp;            /* a block of queries x columns: weights and their gradient */
  float scale;
} head;

static int64_t packed_by_tokens(const sr__attention *shape) {
  return sr__nn_packed_size(shape->tokens, shape->width / shape->heads);
}
static int64_t packed_by_width(const sr__attention *shape) {
  return sr__nn_packed_size(shape->width / shape->heads, shape->tokens);
}

int64_t sr__attention_scratch_size(const sr__attention *shape) {
  return 2 * packed_by_tokens(shape) + 2 * packed_by_width(shape) +
         2 * block_rows(shape) * padded(shape->tokens);
}

int64_t sr__attention_weights_size(const sr__attention *shape) {
  return shape->heads * shape->tokens * padded(shape->tokens);
}

static head head_of(const sr__attention *shape, int64_t index, const float *qkv, float *scratch) {
  head h = {.tokens = shape->tokens,
            .columns = padded(shape->tokens),
            .width = shape->width / shape->heads,
            .row = 3 * shape->width};
  h.q = qkv + index * h.width;
  h.k = h.q + shape->width;
  h.v = h.k + shape->width;
  h.keys_transposed = scratch;
  h.values_transposed = h.keys_transposed + packed_by_width(shape);
  h.keys = h.values_transposed + packed_by_width(shape);
  h.values = h.keys + packed_by_tokens(shape);
  h.p = h.values + packed_by_tokens(shape);
  h.dp = h.p + block_rows(shape) * h.columns;
  h.scale = 1.0f / sqrtf((float)h.width);
  return h;
}

/* to (rows x columns) = x (rows x width, x_row apart) times a packed width x columns. */
static void across(const head *h, int64_t rows, const float *x, int64_t x_row, const float *packed,
                   float *to) {
  sr__nn_product(&(sr__product){.rows = rows,
                                .columns = h->columns,
                                .inner = h->width,
                                .a = x,
                                .a_row = x_row,
                                .a_inner = 1,
                                .b = packed,
                                .c = to,
                                .c_row = h->columns});
}

/* to (rows x width, to_row apart) = p (rows x columns) times a packed tokens x width. */
static void gather(const head *h, int64_t rows, const float *p, const float *packed, float *to,
                   int64_t to_row) {
  sr__nn_product(&(sr__product){.rows = rows,
                                .columns = h->width,
                                .inner = h->tokens,
                                .a = p,
                                .a_row = h->columns,
                                .a_inner = 1,
                                .b = packed,
                                .c = to,
                                .c_row = to_row});
}

/* to (tokens x width) = or += p' x, where p is a block of `rows` x columns and x rows x width. */
static void scatter(const head *h, int64_t rows, const float *p, const float *x, int64_t x_row,
                    float *to, bool add) {
  sr__nn_product(&(sr__product){.rows = h->tokens,
                                .columns = h->width,
                                .inner = rows,
                                .a = p,
                                .a_row = 1,
                                .a_inner = h->columns,
                                .b = x,
                                .b_row = x_row,
                                .c = to,
                                .c_row = h->row,
                                .add = add});
}

void sr__attention_forward(const sr__attention *shape, const float *qkv, float *out,
                           float *softmax_moments, float *weights, float *scratch) {
  const sr__softmax_kernel *kernel = sr__softmax_kernel_now();
  for (int64_t i = 0; i < shape->heads; i++) {
    head h = head_of(shape, i, qkv, scratch);
    float *moments = softmax_moments + 2 * i * h.tokens;
    sr__nn_pack_transposed(h.width, h.tokens, h.k, h.row, h.keys_transposed);
    sr__nn_pack(h.tokens, h.width, h.v, h.row, h.values);
    for (int64_t t = 0; t < h.tokens; t += SR__ATTENTION_BLOCK) {
      int64_t rows = h.tokens - t < SR__ATTENTION_BLOCK ? h.tokens - t : SR__ATTENTION_BLOCK;
      float *p = weights ? weights + (i * h.tokens + t) * h.columns : h.p;
      across(&h, rows, h.q + t * h.row, h.row, h.keys_transposed, p);
      kernel->forward(rows, h.tokens, h.scale, p, moments + 2 * t);
      gather(&h, rows, p, h.values, out + t * shape->width + i * h.width, shape->width);
    }
  }
}

void sr__attention_backward(const sr__attention *shape, const float *qkv,
                            const float *softmax_moments, const float *weights, const float *dout,
                            float *dqkv, float *scratch) {
  const sr__softmax_kernel *kernel = sr__softmax_kernel_now();
  for (int64_t i = 0; i < shape->heads; i++) {
    head h = head_of(shape, i, qkv, scratch);
    const float *moments = softmax_moments + 2 * i * h.tokens;
    float *dq = dqkv + i * h.width, *dk = dq + shape->width, *dv = dk + shape->width;
    if (!weights) sr__nn_pack_transposed(h.width, h.tokens, h.k, h.row, h.keys_transposed);
    sr__nn_pack_transposed(h.width, h.tokens, h.v, h.row, h.values_transposed);
    sr__nn_pack(h.tokens, h.width, h.k, h.row, h.keys);
    for (int64_t t = 0; t < h.tokens; t += SR__ATTENTION_BLOCK) {
      int64_t rows = h.tokens - t < SR__ATTENTION_BLOCK ? h.tokens - t : SR__ATTENTION_BLOCK;
      const float *p = weights ? weights + (i * h.tokens + t) * h.columns : h.p;
      const float *g = dout + t * shape->width + i * h.width;
      if (!weights) {
        across(&h, rows, h.q + t * h.row, h.row, h.keys_transposed, h.p);
        kernel->again(rows, h.tokens, h.scale, h.p, moments + 2 * t);
      }
      across(&h, rows, g, shape->width, h.values_transposed, h.dp);
      kernel->backward(rows, h.tokens, h.scale, p, h.dp);
      scatter(&h, rows, p, g, shape->width, dv, t > 0);
      scatter(&h, rows, h.dp, h.q + t * h.row, h.row, dk, t > 0);
      gather(&h, rows, h.dp, h.keys, dq + t * h.row, h.row);
    }
  }
}
