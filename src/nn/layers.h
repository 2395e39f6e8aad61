/* Layers of sequence nets: convolution over time, layer norm, attention, and what Mamba is made of.
 * The conventions of nn.h hold. A series is tokens x width; one call works on one series. Internal.
 */
#ifndef SR_NN_LAYERS_H
#define SR_NN_LAYERS_H

#include "nn/nn.h"

/* ---- convolution over time ---------------------------------------------------------------- */

/* y_t = bias + sum over taps k and channels of w[k][channel] x_{t * stride + k - left}; zeros
 * beyond the ends. Channels lie last, so the window of an output is contiguous and the layer is one
 * product. */
typedef struct sr__convolution {
  int64_t in, out, taps, stride, left;
  sr__linear map; /* (taps * in) x out */
} sr__convolution;

/* left = taps / 2 looks as far ahead as back; left = taps - 1 never looks ahead. */
void sr__convolution_init(sr__convolution *layer, int64_t in, int64_t out, int64_t taps,
                          int64_t stride, bool causal, const float *weight, const float *bias,
                          float *space);
int64_t sr__convolution_outputs(const sr__convolution *layer, int64_t inputs);
/* Floats of a series of `inputs` rows with the zero rows around it. The series itself stands at
 * x + left * in. */
int64_t sr__convolution_padded_size(const sr__convolution *layer, int64_t inputs);
/* x: padded; the zero rows are written here. y: outputs x out. */
void sr__convolution_forward(const sr__convolution *layer, int64_t inputs, float *x, float *y);
void sr__convolution_backward_weight(const sr__convolution *layer, int64_t inputs, const float *x,
                                     const float *dy, float *weight_gradient, float *bias_gradient);
/* dx: padded; asks for stride * in >= 16. */
void sr__convolution_backward_input(const sr__convolution *layer, int64_t inputs, const float *dy,
                                    float *dx);

/* ---- layer norm --------------------------------------------------------------------------- */

/* y = (x - mean) / sqrt(variance + 1e-5) * weight + bias for each row; width is a multiple of 8.
 * moments: rows x 2, the mean and the factor 1 / sqrt(variance + 1e-5). */
void sr__norm_forward(int64_t rows, int64_t width, const float *x, const float *weight,
                      const float *bias, float *y, float *moments);
/* dx is added to, as a residual path wants it. */
void sr__norm_backward(int64_t rows, int64_t width, const float *x, const float *weight,
                       const float *moments, const float *dy, float *dx, float *weight_gradient,
                       float *bias_gradient);

/* ---- attention of every token to every token ----------------------------------------------- */

/* out = softmax(q k' / sqrt(width of a head)) v per head; qkv: tokens x 3 width (q, k, v; each head
 * by head). Queries are taken in blocks of SR__ATTENTION_BLOCK, so that no tokens x tokens array is
 * needed. */
typedef struct sr__attention {
  int64_t tokens, width, heads;
} sr__attention;
enum { SR__ATTENTION_BLOCK = 96 };

int64_t sr__attention_scratch_size(const sr__attention *shape);
/* Floats of the attention weights, for those who keep them. */
int64_t sr__attention_weights_size(const sr__attention *shape);
/* softmax_moments: heads x tokens x 2. weights: kept for backward, or NULL: then backward makes
 * them again, with the same bits. */
void sr__attention_forward(const sr__attention *shape, const float *qkv, float *out,
                           float *softmax_moments, float *weights, float *scratch);
void sr__attention_backward(const sr__attention *shape, const float *qkv,
                            const float *softmax_moments, const float *weights, const float *dout,
                            float *dqkv, float *scratch);

/* ---- Mamba -------------------------------------------------------------------------------- */

enum { SR__MAMBA_TAPS = 4, SR__MAMBA_STATES = 16, SR__MAMBA_KEPT_EVERY = 8 };

/* Each channel over time on its own, four taps, never ahead, then SiLU.
 * h: tokens x channels, h_row apart; weight: 4 x channels; u, slope: tokens x channels; channels is
 * a multiple of 8. past: the 3 x channels inputs before the first one; those before the next call
 * when it returns. */
void sr__causal_forward(int64_t tokens, int64_t channels, const float *h, int64_t h_row,
                        const float *weight, const float *bias, float *u, float *slope,
                        float *past);
/* da: tokens x channels, the gradient before SiLU (du * slope). dh: h_row apart. Nothing before the
 * first token. */
void sr__causal_backward(int64_t tokens, int64_t channels, const float *h, int64_t h_row,
                         const float *weight, const float *da, float *dh, float *weight_gradient,
                         float *bias_gradient);

/* The selective scan with its gate:
 *   state_t = exp(delta_t A) state_{t-1} + delta_t B_t u_t,  y_t = C_t state_t + D u_t,  g_t = y_t
 * s_t. The 16 states of a channel lie as [channel / 8][state][channel % 8], in A and `state` alike.
 */
typedef struct sr__scan {
  int64_t tokens, channels; /* channels: a multiple of 16 */
  const float *u, *delta;   /* tokens x channels */
  const float *decay;       /* channels x 16: A / ln 2 */
  const float *b, *c;       /* tokens x 16, bc_row apart */
  int64_t bc_row;
  const float *skip; /* D: channels */
  const float *gate; /* s: tokens x channels */
} sr__scan;

/* Floats of every eighth state. */
int64_t sr__scan_kept_size(int64_t tokens, int64_t channels);
/* y, g: tokens x channels. kept: every eighth state, for backward, or NULL. state: channels x 16,
 * before the first token; behind the last one when it returns. */
void sr__scan_forward(const sr__scan *scan, float *y, float *g, float *kept, float *state);
/* dy: dLoss/dy, tokens x channels. du, ddelta: tokens x channels, written. db, dc: tokens x 16,
 * bc_row apart, written. a_gradient (channels x 16, of A itself) and skip_gradient are added to.
 * scratch: channels x 16. */
void sr__scan_backward(const sr__scan *scan, const float *dy, const float *kept, float *du,
                       float *ddelta, float *db, float *dc, float *a_gradient, float *skip_gradient,
                       float *scratch);

/* dg: dLoss/dg, tokens x channels, becomes dLoss/dy; dz: the gradient before the gate's SiLU,
 * dz_row apart. */
void sr__gate_backward(int64_t tokens, int64_t channels, float *dg, const float *y,
                       const float *gate, const float *gate_slope, float *dz, int64_t dz_row);

#endif
