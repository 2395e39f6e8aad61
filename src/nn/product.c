#include <assert.h>

#include "nn/product_kernel.h"
#include "nn/sparse_kernel.h"

void sr__nn_product(const sr__product *p) {
  assert(p->a_row == 1 || p->a_inner == 1);
  assert(p->c_row >= p->columns || (p->add && p->c_row >= 16));
  assert(!p->column_sums || p->b_row);
  sr__product_kernel_now()->product(p);
}

void sr__nn_sparse_product(const sr__sparse_product *p) {
  assert(p->a_row == 1 || p->a_inner == 1);
  assert(p->b_row == 1 || p->b_column == 1);
  assert(p->columns % SR__SPARSE_COLUMNS == 0);
  assert(p->update ? p->inner <= SR__SPARSE_UPDATE_INNER : p->c != NULL);
  sr__sparse_kernel_now()->product(p);
}

int64_t sr__nn_packed_size(int64_t inner, int64_t columns) {
  return inner * ((columns + 7) / 8 * 8);
}

void sr__nn_pack(int64_t inner, int64_t columns, const float *b, int64_t b_row, float *packed) {
  sr__product_kernel_now()->pack(inner, columns, b, b_row, packed);
}

void sr__nn_pack_transposed(int64_t inner, int64_t columns, const float *b, int64_t b_row,
                            float *packed) {
  sr__product_kernel_now()->pack_transposed(inner, columns, b, b_row, packed);
}

/* ---- linear layer ------------------------------------------------------------------------- */

int64_t sr__linear_packed_size(int64_t in, int64_t out) {
  return sr__nn_packed_size(in, out) + sr__nn_packed_size(out, in);
}

void sr__linear_init(sr__linear *layer, int64_t in, int64_t out, const float *weight,
                     const float *bias, float *space) {
  *layer = (sr__linear){.in = in,
                        .out = out,
                        .weight = weight,
                        .bias = bias,
                        .packed = space,
                        .packed_transposed = space ? space + sr__nn_packed_size(in, out) : NULL};
}

void sr__linear_pack(sr__linear *layer) {
  sr__nn_pack(layer->in, layer->out, layer->weight, layer->out, layer->packed);
  sr__nn_pack_transposed(layer->out, layer->in, layer->weight, layer->out,
                         layer->packed_transposed);
}

void sr__linear_forward(const sr__linear *layer, int64_t rows, const float *x, int64_t x_row,
                        float *y, int64_t y_row, bool add) {
  sr__nn_product(&(sr__product){.rows = rows,
                                .columns = layer->out,
                                .inner = layer->in,
                                .a = x,
                                .a_row = x_row,
                                .a_inner = 1,
                                .b = layer->packed,
                                .c = y,
                                .c_row = y_row,
                                .add = add,
                                .bias = layer->bias});
}

void sr__linear_backward_weight(const sr__linear *layer, int64_t rows, const float *x,
                                int64_t x_row, const float *dy, int64_t dy_row,
                                float *weight_gradient, float *bias_gradient) {
  sr__nn_product(&(sr__product){.rows = layer->in,
                                .columns = layer->out,
                                .inner = rows,
                                .a = x,
                                .a_row = 1,
                                .a_inner = x_row,
                                .b = dy,
                                .b_row = dy_row,
                                .c = weight_gradient,
                                .c_row = layer->out,
                                .add = true,
                                .column_sums = bias_gradient});
}

void sr__linear_backward_input(const sr__linear *layer, int64_t rows, const float *dy,
                               int64_t dy_row, float *dx, int64_t dx_row, bool add) {
  sr__nn_product(&(sr__product){.rows = rows,
                                .columns = layer->in,
                                .inner = layer->out,
                                .a = dy,
                                .a_row = dy_row,
                                .a_inner = 1,
                                .b = layer->packed_transposed,
                                .c = dx,
                                .c_row = dx_row,
                                .add = add});
}
