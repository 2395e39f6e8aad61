/* A Mamba block:  y = x + out(scan(u, delta, A, B, C, D) * silu(z))  with
 *   (h, z) = in(norm x),  u = silu(convolution h),  (r, B, C) = select(u),  delta =
 * softplus(step(r)). */
#include "learner/mamba/mamba_net.h"

#include <math.h>

enum {
  NORM_WEIGHT,
  NORM_BIAS,
  IN_WEIGHT,
  CONVOLUTION_WEIGHT,
  CONVOLUTION_BIAS,
  SELECT_WEIGHT,
  STEP_WEIGHT,
  STEP_BIAS,
  LOG_DECAY,
  SKIP,
  OUT_WEIGHT,
  TENSORS
};

typedef struct block {
  int tensor[TENSORS];
  sr__linear in, select, step, out;
  float *decay;               /* channels x 16: A / ln 2, made by pack */
  float *norm, *norm_moments; /* tokens x width, tokens x 2 */
  float *hz;                  /* tokens x 2 channels */
  float *u, *u_slope;         /* tokens x channels, as all that follow unless said */
  float *selected;            /* tokens x (rank + 32): r, B, C */
  float *delta, *delta_slope;
  float *gate, *gate_slope;
  float *y, *gated;
  float *kept;         /* every eighth state */
  float *past, *state; /* 3 x channels, channels x 16: what a stream carries on */
} block;

static int64_t channels_of(const sr__net *net) { return 2 * net->shape.width; }
static int64_t rank_of(const sr__net *net) { return (net->shape.width + 15) / 16; }
static int64_t selected_width(const sr__net *net) { return rank_of(net) + 2 * SR__MAMBA_STATES; }

static void declare(sr__net *net, void *self) {
  block *b = self;
  const int64_t width = net->shape.width, channels = channels_of(net);
  const sr__net_tensor list[TENSORS] = {
      [NORM_WEIGHT] = {"norm.weight", 1, width, false},
      [NORM_BIAS] = {"norm.bias", 1, width, false},
      [IN_WEIGHT] = {"in.weight", width, 2 * channels, true},
      [CONVOLUTION_WEIGHT] = {"convolution.weight", SR__MAMBA_TAPS, channels, true},
      [CONVOLUTION_BIAS] = {"convolution.bias", 1, channels, false},
      [SELECT_WEIGHT] = {"select.weight", channels, selected_width(net), true},
      [STEP_WEIGHT] = {"step.weight", rank_of(net), channels, true},
      [STEP_BIAS] = {"step.bias", 1, channels, false},
      [LOG_DECAY] = {"log_decay", channels, SR__MAMBA_STATES, false},
      [SKIP] = {"skip", 1, channels, false},
      [OUT_WEIGHT] = {"out.weight", channels, width, true},
  };
  sr__net_declare(net, list, TENSORS, b->tensor);
}

static void layout(sr__net *net, void *self, sr__floats *floats) {
  block *b = self;
  const int64_t tokens = net->tokens, width = net->shape.width, channels = channels_of(net);
  float **const by_channel[] = {&b->u,    &b->u_slope,    &b->delta, &b->delta_slope,
                                &b->gate, &b->gate_slope, &b->y,     &b->gated};
  sr__net_take_linear(net, b->tensor[IN_WEIGHT], -1, floats, &b->in);
  sr__net_take_linear(net, b->tensor[SELECT_WEIGHT], -1, floats, &b->select);
  sr__net_take_linear(net, b->tensor[STEP_WEIGHT], b->tensor[STEP_BIAS], floats, &b->step);
  sr__net_take_linear(net, b->tensor[OUT_WEIGHT], -1, floats, &b->out);
  b->decay = sr__floats_take(floats, channels * SR__MAMBA_STATES);
  b->norm = sr__floats_take(floats, tokens * width);
  b->norm_moments = sr__floats_take(floats, tokens * 2);
  b->hz = sr__floats_take(floats, tokens * 2 * channels);
  for (size_t i = 0; i < sizeof by_channel / sizeof *by_channel; i++)
    *by_channel[i] = sr__floats_take(floats, tokens * channels);
  b->selected = sr__floats_take(floats, tokens * selected_width(net));
  b->kept = sr__floats_take(floats, net->training ? sr__scan_kept_size(tokens, channels) : 0);
  b->past = sr__floats_take(floats, (SR__MAMBA_TAPS - 1) * channels);
  b->state = sr__floats_take(floats, channels * SR__MAMBA_STATES);
}

/* Scratch of the scan's backward pass. */
static int64_t extra_size(const sr__net *net) { return channels_of(net) * SR__MAMBA_STATES; }

/* e^x in plain arithmetic, so that the start of a net is the same everywhere; |x| < 20. */
static double exponential(double x) {
  double term = 1, sum = 1, part = x / 64;
  for (int k = 1; k < 16; k++) {
    term *= part / k;
    sum += term;
  }
  for (int k = 0; k < 6; k++) sum *= sum;
  return sum;
}

/* Steps log-uniform in [.001, .1] through the inverse of softplus; A = -1 .. -16 in each channel.
 */
static void initialize(sr__net *net, void *self, sr__random *random) {
  block *b = self;
  const int64_t width = net->shape.width, channels = channels_of(net), rank = rank_of(net);
  sr__net_fill(net, b->tensor[NORM_WEIGHT], 1);
  sr__net_fill(net, b->tensor[NORM_BIAS], 0);
  sr__net_uniform(net, b->tensor[IN_WEIGHT], 1.0 / sqrt((double)width), random);
  sr__net_uniform(net, b->tensor[CONVOLUTION_WEIGHT], 0.5, random); /* one of four taps */
  sr__net_uniform(net, b->tensor[CONVOLUTION_BIAS], 0.5, random);
  sr__net_uniform(net, b->tensor[SELECT_WEIGHT], 1.0 / sqrt((double)channels), random);
  sr__net_uniform(net, b->tensor[STEP_WEIGHT], 1.0 / sqrt((double)rank), random);
  const double lowest = sr__log_portable(1e-3), span = sr__log_portable(100.0);
  for (int64_t c = 0; c < channels; c++) {
    double step = exponential(lowest + span * sr__random_uniform(random));
    sr__net_value(net, b->tensor[STEP_BIAS])[c] = (float)sr__log_portable(exponential(step) - 1.0);
  }
  float *log_decay = sr__net_value(net, b->tensor[LOG_DECAY]);
  for (int64_t i = 0; i < channels * SR__MAMBA_STATES; i++)
    log_decay[i] = (float)sr__log_portable((double)(1 + i / 8 % SR__MAMBA_STATES));
  sr__net_fill(net, b->tensor[SKIP], 1);
  sr__net_uniform(net, b->tensor[OUT_WEIGHT], 1.0 / sqrt((double)channels), random);
}

static void pack(sr__net *net, void *self) {
  block *b = self;
  sr__linear_pack(&b->in);
  sr__linear_pack(&b->select);
  sr__linear_pack(&b->step);
  sr__linear_pack(&b->out);
  const int64_t count = channels_of(net) * SR__MAMBA_STATES;
  sr__nn_exp(count, sr__net_value(net, b->tensor[LOG_DECAY]), b->decay);
  const float to_base_2 = 1.44269504f;
  for (int64_t i = 0; i < count; i++) b->decay[i] *= -to_base_2;
}

static sr__scan scan_of(const sr__net *net, const block *b, int64_t tokens) {
  const float *select_b = b->selected + rank_of(net);
  return (sr__scan){.tokens = tokens,
                    .channels = channels_of(net),
                    .u = b->u,
                    .delta = b->delta,
                    .decay = b->decay,
                    .b = select_b,
                    .c = select_b + SR__MAMBA_STATES,
                    .bc_row = selected_width(net),
                    .skip = sr__net_value(net, b->tensor[SKIP]),
                    .gate = b->gate};
}

void sr__mamba_block_start(sr__net *net, void *self) {
  block *b = self;
  memset(b->past, 0, (size_t)((SR__MAMBA_TAPS - 1) * channels_of(net)) * sizeof *b->past);
  memset(b->state, 0, (size_t)(SR__MAMBA_STATES * channels_of(net)) * sizeof *b->state);
}

void sr__mamba_block_continue(sr__net *net, void *self, int64_t tokens, const float *x, float *y) {
  block *b = self;
  const int64_t width = net->shape.width, channels = channels_of(net);
  sr__norm_forward(tokens, width, x, sr__net_value(net, b->tensor[NORM_WEIGHT]),
                   sr__net_value(net, b->tensor[NORM_BIAS]), b->norm, b->norm_moments);
  sr__linear_forward(&b->in, tokens, b->norm, width, b->hz, 2 * channels, false);
  sr__causal_forward(tokens, channels, b->hz, 2 * channels,
                     sr__net_value(net, b->tensor[CONVOLUTION_WEIGHT]),
                     sr__net_value(net, b->tensor[CONVOLUTION_BIAS]), b->u, b->u_slope, b->past);
  for (int64_t t = 0; t < tokens; t++)
    sr__nn_silu(channels, b->hz + (2 * t + 1) * channels, b->gate + t * channels,
                b->gate_slope + t * channels);
  sr__linear_forward(&b->select, tokens, b->u, channels, b->selected, selected_width(net), false);
  sr__linear_forward(&b->step, tokens, b->selected, selected_width(net), b->delta, channels, false);
  sr__nn_softplus(tokens * channels, b->delta, b->delta, b->delta_slope);
  sr__scan scan = scan_of(net, b, tokens);
  sr__scan_forward(&scan, b->y, b->gated, net->training ? b->kept : NULL, b->state);
  memcpy(y, x, (size_t)(tokens * width) * sizeof *y);
  sr__linear_forward(&b->out, tokens, b->gated, channels, y, width, true);
}

static void forward(sr__net *net, void *self, int64_t tokens, const float *x, float *y, float drop,
                    uint32_t key) {
  (void)drop, (void)key; /* the reference has no dropout inside */
  sr__mamba_block_start(net, self);
  sr__mamba_block_continue(net, self, tokens, x, y);
}

static void backward(sr__net *net, void *self, int64_t tokens, const float *x, float *dx,
                     float drop, uint32_t key) {
  (void)drop, (void)key;
  block *b = self;
  const int64_t width = net->shape.width, channels = channels_of(net), rank = rank_of(net);
  const int64_t selected = selected_width(net);
  float *dgated = net->scratch[1], *dhz = net->scratch[2], *du = net->scratch[3];
  float *ddelta = net->scratch[4], *dselected = net->scratch[5];
  float *dnorm = dgated; /* which is needed no more when dnorm is made */

  sr__linear_backward_weight(&b->out, tokens, b->gated, channels, dx, width,
                             sr__net_gradient(net, b->tensor[OUT_WEIGHT]), NULL);
  sr__linear_backward_input(&b->out, tokens, dx, width, dgated, channels, false);
  sr__gate_backward(tokens, channels, dgated, b->y, b->gate, b->gate_slope, dhz + channels,
                    2 * channels);
  sr__scan scan = scan_of(net, b, tokens);
  sr__scan_backward(&scan, dgated, b->kept, du, ddelta, dselected + rank,
                    dselected + rank + SR__MAMBA_STATES,
                    sr__net_gradient(net, b->tensor[LOG_DECAY]),
                    sr__net_gradient(net, b->tensor[SKIP]), net->extra);
  sr__nn_multiply(tokens * channels, ddelta, b->delta_slope);
  sr__linear_backward_weight(&b->step, tokens, b->selected, selected, ddelta, channels,
                             sr__net_gradient(net, b->tensor[STEP_WEIGHT]),
                             sr__net_gradient(net, b->tensor[STEP_BIAS]));
  sr__linear_backward_input(&b->step, tokens, ddelta, channels, dselected, selected, false);
  sr__linear_backward_weight(&b->select, tokens, b->u, channels, dselected, selected,
                             sr__net_gradient(net, b->tensor[SELECT_WEIGHT]), NULL);
  sr__linear_backward_input(&b->select, tokens, dselected, selected, du, channels, true);
  sr__nn_multiply(tokens * channels, du, b->u_slope);
  sr__causal_backward(tokens, channels, b->hz, 2 * channels,
                      sr__net_value(net, b->tensor[CONVOLUTION_WEIGHT]), du, dhz,
                      sr__net_gradient(net, b->tensor[CONVOLUTION_WEIGHT]),
                      sr__net_gradient(net, b->tensor[CONVOLUTION_BIAS]));
  sr__linear_backward_weight(&b->in, tokens, b->norm, width, dhz, 2 * channels,
                             sr__net_gradient(net, b->tensor[IN_WEIGHT]), NULL);
  sr__linear_backward_input(&b->in, tokens, dhz, 2 * channels, dnorm, width, false);
  sr__norm_backward(tokens, width, x, sr__net_value(net, b->tensor[NORM_WEIGHT]), b->norm_moments,
                    dnorm, dx, sr__net_gradient(net, b->tensor[NORM_WEIGHT]),
                    sr__net_gradient(net, b->tensor[NORM_BIAS]));
}

/* The scan gave dLoss/dA; A = -exp(log_decay), so dA/dlog_decay = A. */
static void finish_gradient(sr__net *net, void *self) {
  block *b = self;
  const float ln_2 = 0.69314718f;
  float *gradient = sr__net_gradient(net, b->tensor[LOG_DECAY]);
  for (int64_t i = 0; i < channels_of(net) * SR__MAMBA_STATES; i++)
    gradient[i] *= b->decay[i] * ln_2;
}

const sr__body sr__mamba_body = {.block_size = sizeof(block),
                                 .positions = false,
                                 .declare = declare,
                                 .layout = layout,
                                 .extra_size = extra_size,
                                 .initialize = initialize,
                                 .pack = pack,
                                 .forward = forward,
                                 .backward = backward,
                                 .finish_gradient = finish_gradient};
