/* Neural nets on the processor: layers as forward/backward pairs on plain pointers. Internal; for
 * learners and replay.
 *
 * Arrays are float and row-major; shapes stand in comments as rows x columns. "Rows r apart" means
 * that row i begins r floats after row i - 1. A forward function keeps nothing: what backward needs
 * is among its arguments. Gradients of parameters are added to, gradients of inputs are written,
 * unless it says otherwise. Every function gives the same bits at every vector level, and the
 * result for a row does not depend on the rows beside it. */
#ifndef SR_NN_NN_H
#define SR_NN_NN_H

#include "core/core.h"

/* ---- matrix product ----------------------------------------------------------------------- */

/* C (rows x columns) = A (rows x inner) B (inner x columns), or C += A B.
 * An element is one chain of fused multiply-adds from `bias` (or 0), inner ascending, per block of
 * 256; the blocks are added in order. */
typedef struct sr__product {
  int64_t rows, columns, inner;
  /* Element (i, k) is a[i * a_row + k * a_inner]; one of the two is 1. X, X' and the overlapping
   * windows of a convolution are read where they lie. */
  const float *a;
  int64_t a_row, a_inner;
  /* Rows b_row apart; 0: packed by sr__nn_pack. */
  const float *b;
  int64_t b_row;
  /* Rows c_row apart. With `add` they may overlap where c_row >= 16. */
  float *c;
  int64_t c_row;
  bool add;
  const float *bias; /* columns, or NULL */
  float *
      column_sums; /* columns: the sums over each column of B are added; NULL, or B is not packed */
} sr__product;

void sr__nn_product(const sr__product *p);

/* Floats of a packed B: inner x columns, columns rounded up to 8. The columns beyond are zeros and
 * may be asked for in `columns` of the product. */
int64_t sr__nn_packed_size(int64_t inner, int64_t columns);
/* B (inner x columns, rows b_row apart) as panels of 16 columns. */
void sr__nn_pack(int64_t inner, int64_t columns, const float *b, int64_t b_row, float *packed);
/* The same for B' where b is columns x inner, rows b_row apart. */
void sr__nn_pack_transposed(int64_t inner, int64_t columns, const float *b, int64_t b_row,
                            float *packed);

/* One step of Adam, and a tensor with its moments. */
typedef struct sr__adam_update {
  float gradient_factor; /* of clipping */
  float beta1, beta2, epsilon;
  float shrink;        /* 1 - rate * decay */
  float step;          /* rate / (1 - beta1^t) */
  float second_factor; /* 1 / (1 - beta2^t) */
} sr__adam_update;

typedef struct sr__adam_tensor {
  sr__adam_update how;
  float *first, *second, *value;
} sr__adam_tensor;

/* C (rows x columns) = bias + A B where many elements of A are 0, as behind a ReLU. An element is
 * one chain of fused multiply-adds from `bias` (or 0), inner ascending; terms where A is 0 are left
 * out. */
enum { SR__SPARSE_COLUMNS = 64, SR__SPARSE_UPDATE_INNER = 32 };
typedef struct sr__sparse_product {
  int64_t rows, columns, inner; /* columns: a multiple of SR__SPARSE_COLUMNS */
  const float *a;               /* (i, k) is a[i * a_row + k * a_inner]; one of the two is 1 */
  int64_t a_row, a_inner;
  const float *b; /* (k, j) is b[k * b_row + j * b_column]; one of the two is 1 */
  int64_t b_row, b_column;
  float *c; /* rows c_row apart */
  int64_t c_row;
  const float *bias;  /* columns, or NULL */
  float *column_sums; /* the elements of each column of B are added in order; NULL: none */
  /* NULL, or what has C for its gradient: it makes its step at once, C is not written, and inner is
   * at most SR__SPARSE_UPDATE_INNER. */
  const sr__adam_tensor *update;
} sr__sparse_product;

void sr__nn_sparse_product(const sr__sparse_product *p);

/* ---- linear layer: y = x w + b ------------------------------------------------------------ */

typedef struct sr__linear {
  int64_t in, out;
  const float *weight;               /* in x out */
  const float *bias;                 /* out, or NULL */
  float *packed, *packed_transposed; /* made by sr__linear_pack whenever the weight changed */
} sr__linear;

/* Floats of the two packed copies. */
int64_t sr__linear_packed_size(int64_t in, int64_t out);
/* `space` holds that many floats, or is NULL where sr__linear_backward is never asked for dx and
 * forward never called. */
void sr__linear_init(sr__linear *layer, int64_t in, int64_t out, const float *weight,
                     const float *bias, float *space);
void sr__linear_pack(sr__linear *layer);
/* x: rows x in, x_row apart. y: rows x out, y_row apart, written, or added to where `add`. */
void sr__linear_forward(const sr__linear *layer, int64_t rows, const float *x, int64_t x_row,
                        float *y, int64_t y_row, bool add);
/* weight_gradient (in x out) and bias_gradient (out, or NULL) are added to. */
void sr__linear_backward_weight(const sr__linear *layer, int64_t rows, const float *x,
                                int64_t x_row, const float *dy, int64_t dy_row,
                                float *weight_gradient, float *bias_gradient);
/* dx: rows x in, dx_row apart, written, or added to where `add`. */
void sr__linear_backward_input(const sr__linear *layer, int64_t rows, const float *dy,
                               int64_t dy_row, float *dx, int64_t dx_row, bool add);

/* ---- pointwise ---------------------------------------------------------------------------- */

/* y = f(x) and slope = f'(x), count each; y or slope may be x. Backward is
 * sr__nn_multiply(count, dy, slope): dy *= slope. */
void sr__nn_gelu(int64_t count, const float *x, float *y, float *slope);
void sr__nn_silu(int64_t count, const float *x, float *y, float *slope);
void sr__nn_softplus(int64_t count, const float *x, float *y, float *slope);
void sr__nn_multiply(int64_t count, float *x, const float *factor);
/* y = exp(x), x < 87; y may be x. */
void sr__nn_exp(int64_t count, const float *x, float *y);
void sr__nn_add(int64_t count, float *x, const float *other);
/* y = base + kept(x) / (1 - drop); base NULL = 0, y may be x or base. Element i is kept by a hash
 * of (key, i), so that backward is the same call on dy. drop 0 keeps all. */
void sr__nn_dropout(int64_t count, const float *x, const float *base, float *y, float drop,
                    uint32_t key);
/* A key for the mask that is called `name` below `key`. */
uint32_t sr__nn_dropout_key(uint32_t key, uint32_t name);

/* ---- losses ------------------------------------------------------------------------------- */

/* p (classes) = softmax(score); p may be score. */
void sr__nn_softmax(int64_t classes, const float *score, float *p);
/* Cross-entropy of one row with the class `label`; dscore = scale (softmax - one-hot). */
double sr__nn_cross_entropy(int64_t classes, const float *score, int32_t label, float scale,
                            float *dscore);

/* ---- parameters and optimizers ------------------------------------------------------------ */

enum { SR__TENSORS_MAX = 64 };

typedef struct sr__tensor {
  const char *name; /* static storage */
  int64_t at, rows, columns;
  bool decay; /* whether weight decay shrinks it: matrices, not biases, norms and positions */
} sr__tensor;

/* All parameters of a net in one block; a tensor begins at value + at, a multiple of eight.
 * Gradient and moments lie alike. A zeroed struct is empty. */
typedef struct sr__parameters {
  sr_allocator allocator;
  sr__tensor tensor[SR__TENSORS_MAX];
  int tensors;
  int64_t count;
  void *block;
  float *value, *gradient, *first_moment, *second_moment;
} sr__parameters;

/* Gives the index of the new tensor. All are added before the block is allocated. */
int sr__parameters_add(sr__parameters *parameters, const char *name, int64_t rows, int64_t columns,
                       bool decay);
/* Zeros. Gradient and moments only where `training`, else NULL. */
SR_MUST_CHECK sr_status sr__parameters_allocate(sr_context *ctx, sr__parameters *parameters,
                                                bool training);
/* Null-safe; the list of tensors goes too. */
void sr__parameters_free(sr__parameters *parameters);
float *sr__parameters_value(const sr__parameters *parameters, int tensor);
float *sr__parameters_gradient(const sr__parameters *parameters, int tensor);
void sr__parameters_clear_gradient(sr__parameters *parameters);
/* The gradient's length over all tensors. */
double sr__parameters_gradient_norm(const sr__parameters *parameters);

/* Adam, and AdamW where decay > 0: value -= rate (decay value + m / (sqrt(v) + epsilon)). */
typedef struct sr__adam {
  float rate, beta1, beta2, epsilon, decay;
  float clip;            /* gradients longer than this are shortened to it; 0 = never */
  double power1, power2; /* beta1 and beta2 to the number of steps taken; 0 = none taken yet */
} sr__adam;

void sr__adam_step(sr__adam *adam, sr__parameters *parameters);
/* The same in pieces where there is no clipping: what a step is, then each tensor once. */
sr__adam_update sr__adam_begin(sr__adam *adam);
sr__adam_tensor sr__adam_tensor_of(const sr__adam *adam, const sr__adam_update *how,
                                   const sr__parameters *parameters, int tensor);
void sr__adam_step_tensor(const sr__adam_tensor *update, const sr__parameters *parameters,
                          int tensor);

/* Factor of the rate in step 0 .. steps - 1: linear over the first `warm_up` share of the steps,
 * then half a cosine down to 0. */
double sr__nn_warm_up_cosine(int64_t step, int64_t steps, double warm_up);

/* ---- scratch floats ----------------------------------------------------------------------- */

/* Lays out many arrays in one block, each on a line of 64 bytes. The layout function runs twice:
 * with `base` NULL it counts, then sr__floats_allocate makes the block, and it takes the arrays. */
typedef struct sr__floats {
  sr_allocator allocator;
  void *block;
  float *base;
  int64_t count;
} sr__floats;

float *sr__floats_take(sr__floats *floats, int64_t count);
/* Zeros; `count` starts again at 0. */
SR_MUST_CHECK sr_status sr__floats_allocate(sr_context *ctx, sr__floats *floats);
void sr__floats_free(sr__floats *floats);

#endif
