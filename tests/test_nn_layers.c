/* Each layer of sequence nets against a slow form in double, and every gradient against central
 * differences of that form; all vector levels of this machine to the bit. */
#include <math.h>

#include "core/random.h"
#include "harness.h"
#include "nn/norm_kernel.h"
#include "nn/scan_kernel.h"
#include "nn/softmax_kernel.h"

#if defined(__x86_64__)
#define LEVELS(name) const name *const level[] = {&name##_base, &name##_v3, &name##_v4};
#else
#define LEVELS(name) const name *const level[] = {&name##_base};
#endif
static int levels(void) { return (int)sr__isa() + 1; }

enum { ARGUMENTS_MAX = 8, FLOATS_MAX = 4096 };

/* A layer as a function of some arrays, which lie one behind the other. Its loss is the sum of
 * out[i] * pull(i); so dLoss/dout is `pull`. */
typedef struct problem {
  int arguments, outputs;
  int count[ARGUMENTS_MAX];
  const char *name[ARGUMENTS_MAX];
  void (*slow)(const double *const *in, double *out);
  float in[FLOATS_MAX], gradient[FLOATS_MAX], out[FLOATS_MAX];
} problem;

static double pull(int i) { return (double)(i * 7919 % 101) / 50.0 - 1.0; }

static float *argument(problem *p, float *base, int which) {
  for (int i = 0; i < which; i++) base += p->count[i];
  return base;
}

static void fill(problem *p, uint64_t unit) {
  sr__random random;
  sr__random_init(&random, 39, SR_PURPOSE_TEST, 1, unit);
  for (int i = 0; i < FLOATS_MAX; i++) p->in[i] = (float)sr__random_normal(&random);
  memset(p->gradient, 0, sizeof p->gradient);
}

static double loss_of(const problem *p, const double *values, double *out) {
  const double *in[ARGUMENTS_MAX];
  double loss = 0;
  for (int i = 0; i < p->arguments; values += p->count[i++]) in[i] = values;
  p->slow(in, out);
  for (int i = 0; i < p->outputs; i++) loss += out[i] * pull(i);
  return loss;
}

/* Outputs to 1e-5; each derivative to 1e-5 of the largest in its array. */
static void check(const problem *p) {
  static double values[FLOATS_MAX], out[FLOATS_MAX], central[FLOATS_MAX];
  for (int i = 0; i < FLOATS_MAX; i++) values[i] = (double)p->in[i];
  (void)loss_of(p, values, out);
  for (int i = 0; i < p->outputs; i++) assert_close((double)p->out[i], out[i], 1e-5);
  int at = 0;
  for (int a = 0; a < p->arguments; at += p->count[a++]) {
    double most = 0;
    for (int i = at; i < at + p->count[a]; i++) {
      const double kept = values[i], h = 1e-5;
      values[i] = kept + h;
      double up = loss_of(p, values, out);
      values[i] = kept - h;
      central[i] = (up - loss_of(p, values, out)) / (2 * h);
      values[i] = kept;
      most = fmax(most, fabs(central[i]));
    }
    for (int i = at; i < at + p->count[a]; i++)
      if (fabs((double)p->gradient[i] - central[i]) > 1e-5 * fmax(1, most))
        fail_msg("d/d%s[%d] is %g, by central differences %g", p->name[a], i - at,
                 (double)p->gradient[i], central[i]);
  }
}

/* ---- convolution: 6 channels to 5, 4 taps, stride 3, over 11 steps --------------------------- */

enum { STEPS = 11, IN = 6, OUT = 5, TAPS = 4, STRIDE = 3, OUTPUTS = 4 };
static bool causal;

static void slow_convolution(const double *const *in, double *out) {
  const double *x = in[0], *w = in[1], *bias = in[2];
  const int left = causal ? TAPS - 1 : TAPS / 2;
  for (int t = 0; t < OUTPUTS; t++)
    for (int o = 0; o < OUT; o++) {
      double sum = bias[o];
      for (int k = 0; k < TAPS; k++)
        for (int c = 0; c < IN; c++) {
          int from = t * STRIDE + k - left;
          if (from >= 0 && from < STEPS) sum += x[from * IN + c] * w[(k * IN + c) * OUT + o];
        }
      out[t * OUT + o] = sum;
    }
}

static void convolution_and_its_gradients(void **state) {
  (void)state;
  for (int trial = 0; trial < 2; trial++) {
    static problem p;
    p = (problem){.arguments = 3,
                  .outputs = OUTPUTS * OUT,
                  .count = {STEPS * IN, TAPS * IN * OUT, OUT},
                  .name = {"x", "weight", "bias"},
                  .slow = slow_convolution};
    fill(&p, 1);
    causal = trial == 1;
    float space[2048], padded[512], dpadded[512], g[OUTPUTS * OUT];
    sr__convolution layer;
    sr__convolution_init(&layer, IN, OUT, TAPS, STRIDE, causal, argument(&p, p.in, 1),
                         argument(&p, p.in, 2), space);
    assert_true(sr__linear_packed_size(TAPS * IN, OUT) <= 2048);
    assert_int_equal(sr__convolution_outputs(&layer, STEPS), OUTPUTS);
    sr__linear_pack(&layer.map);
    for (int i = 0; i < 512; i++) padded[i] = 9; /* the layer itself writes the zeros around */
    memcpy(padded + layer.left * IN, p.in, sizeof(float) * STEPS * IN);
    sr__convolution_forward(&layer, STEPS, padded, p.out);
    for (int i = 0; i < p.outputs; i++) g[i] = (float)pull(i);
    sr__convolution_backward_weight(&layer, STEPS, padded, g, argument(&p, p.gradient, 1),
                                    argument(&p, p.gradient, 2));
    sr__convolution_backward_input(&layer, STEPS, g, dpadded);
    memcpy(p.gradient, dpadded + layer.left * IN, sizeof(float) * STEPS * IN);
    check(&p);
  }
}

/* ---- layer norm -------------------------------------------------------------------------------
 */

enum { ROWS = 5, WIDTH = 24 };

static void slow_norm(const double *const *in, double *out) {
  for (int r = 0; r < ROWS; r++) {
    const double *x = in[0] + r * WIDTH;
    double mean = 0, variance = 0;
    for (int j = 0; j < WIDTH; j++) mean += x[j] / WIDTH;
    for (int j = 0; j < WIDTH; j++) variance += (x[j] - mean) * (x[j] - mean) / WIDTH;
    for (int j = 0; j < WIDTH; j++)
      out[r * WIDTH + j] = (x[j] - mean) / sqrt(variance + 1e-5) * in[1][j] + in[2][j];
  }
}

static void norm_and_its_gradients(void **state) {
  (void)state;
  LEVELS(sr__norm_kernel)
  static problem p, first;
  for (int l = 0; l < levels(); l++) {
    p = (problem){.arguments = 3,
                  .outputs = ROWS * WIDTH,
                  .count = {ROWS * WIDTH, WIDTH, WIDTH},
                  .name = {"x", "weight", "bias"},
                  .slow = slow_norm};
    fill(&p, 2);
    float moments[ROWS * 2], g[ROWS * WIDTH];
    for (int i = 0; i < p.outputs; i++) g[i] = (float)pull(i);
    level[l]->forward(ROWS, WIDTH, p.in, argument(&p, p.in, 1), argument(&p, p.in, 2), p.out,
                      moments);
    level[l]->backward(ROWS, WIDTH, p.in, argument(&p, p.in, 1), moments, g, p.gradient,
                       argument(&p, p.gradient, 1), argument(&p, p.gradient, 2));
    check(&p);
    if (l == 0) first = p;
    assert_memory_equal(first.out, p.out, sizeof p.out);
    assert_memory_equal(first.gradient, p.gradient, sizeof p.gradient);
  }
}

/* ---- attention --------------------------------------------------------------------------------
 */

enum { TOKENS = 13, MODEL = 20, HEADS = 2, HEAD = MODEL / HEADS };

static void slow_attention(const double *const *in, double *out) {
  for (int h = 0; h < HEADS; h++)
    for (int t = 0; t < TOKENS; t++) {
      const double *q = in[0] + t * 3 * MODEL + h * HEAD;
      double p[TOKENS], sum = 0;
      for (int s = 0; s < TOKENS; s++) {
        double dot = 0;
        for (int j = 0; j < HEAD; j++) dot += q[j] * in[0][s * 3 * MODEL + MODEL + h * HEAD + j];
        sum += p[s] = exp(dot / sqrt(HEAD));
      }
      for (int j = 0; j < HEAD; j++) {
        double value = 0;
        for (int s = 0; s < TOKENS; s++)
          value += p[s] / sum * in[0][s * 3 * MODEL + 2 * MODEL + h * HEAD + j];
        out[t * MODEL + h * HEAD + j] = value;
      }
    }
}

static void attention_and_its_gradients(void **state) {
  (void)state;
  static problem p;
  p = (problem){.arguments = 1,
                .outputs = TOKENS * MODEL,
                .count = {TOKENS * 3 * MODEL},
                .name = {"qkv"},
                .slow = slow_attention};
  fill(&p, 3);
  const sr__attention shape = {TOKENS, MODEL, HEADS};
  float *scratch = malloc(sizeof(float) * (size_t)sr__attention_scratch_size(&shape));
  float moments[HEADS * TOKENS * 2], g[TOKENS * MODEL];
  for (int i = 0; i < p.outputs; i++) g[i] = (float)pull(i);
  sr__attention_forward(&shape, p.in, p.out, moments, NULL, scratch);
  sr__attention_backward(&shape, p.in, moments, NULL, g, p.gradient, scratch);
  check(&p);
  free(scratch);
}

/* More tokens than a block: the weights kept or made again give the same bits, and the rows of the
 * softmax add up to 1. */
static void attention_in_blocks_is_attention(void **state) {
  (void)state;
  const sr__attention shape = {2 * SR__ATTENTION_BLOCK + 31, 16, 2};
  const int64_t qkv_count = shape.tokens * 48, count = shape.tokens * 16;
  float *qkv = malloc(sizeof(float) * (size_t)qkv_count),
        *g = malloc(sizeof(float) * (size_t)count);
  float *out[2], *d[2], *moments = malloc(sizeof(float) * (size_t)(shape.tokens * 4));
  float *scratch = malloc(sizeof(float) * (size_t)sr__attention_scratch_size(&shape));
  float *weights = malloc(sizeof(float) * (size_t)sr__attention_weights_size(&shape));
  for (int64_t i = 0; i < qkv_count; i++) qkv[i] = (float)pull((int)i);
  for (int64_t i = 0; i < count; i++) g[i] = (float)pull((int)i + 17);
  for (int i = 0; i < 2; i++) {
    out[i] = malloc(sizeof(float) * (size_t)count);
    d[i] = malloc(sizeof(float) * (size_t)qkv_count);
    sr__attention_forward(&shape, qkv, out[i], moments, i ? weights : NULL, scratch);
    sr__attention_backward(&shape, qkv, moments, i ? weights : NULL, g, d[i], scratch);
  }
  assert_memory_equal(out[0], out[1], sizeof(float) * (size_t)count);
  assert_memory_equal(d[0], d[1], sizeof(float) * (size_t)qkv_count);
  const int64_t columns = (shape.tokens + 7) / 8 * 8;
  for (int64_t r = 0; r < 2 * shape.tokens; r++) {
    double sum = 0;
    for (int64_t j = 0; j < columns; j++) sum += (double)weights[r * columns + j];
    assert_close(sum, 1, 1e-5);
    for (int64_t j = shape.tokens; j < columns; j++) assert_true(weights[r * columns + j] == 0);
  }
  for (int i = 0; i < 2; i++) free(out[i]), free(d[i]);
  free(qkv), free(g), free(moments), free(scratch), free(weights);
}

static void softmax_levels_agree(void **state) {
  (void)state;
  LEVELS(sr__softmax_kernel)
  enum { R = 3, C = 29, PADDED = 32 };
  float start[R * PADDED], p[2][R * PADDED], dp[2][R * PADDED], moments[2][R * 2],
      again[R * PADDED];
  for (int i = 0; i < R * PADDED; i++) start[i] = 5 * (float)pull(i);
  for (int l = 0; l < levels(); l++) {
    const int side = l > 0;
    memcpy(p[side], start, sizeof start);
    memcpy(again, start, sizeof start);
    memcpy(dp[side], start, sizeof start);
    level[l]->forward(R, C, 0.3f, p[side], moments[side]);
    level[l]->again(R, C, 0.3f, again, moments[side]);
    level[l]->backward(R, C, 0.3f, p[side], dp[side]);
    assert_memory_equal(again, p[side], sizeof again);
    if (side) {
      assert_memory_equal(p[0], p[1], sizeof p[0]);
      assert_memory_equal(dp[0], dp[1], sizeof dp[0]);
    }
  }
}

/* ---- Mamba ------------------------------------------------------------------------------------
 */

enum { STREAM = 21, CHANNELS = 16, STATES = SR__MAMBA_STATES };

static void slow_causal(const double *const *in, double *out) {
  for (int t = 0; t < STREAM; t++)
    for (int c = 0; c < CHANNELS; c++) {
      double a = in[2][c];
      for (int k = 0; k < 4; k++)
        if (t + k - 3 >= 0) a += in[1][k * CHANNELS + c] * in[0][(t + k - 3) * CHANNELS + c];
      out[t * CHANNELS + c] = a / (1 + exp(-a));
    }
}

static void causal_convolution_and_its_gradients(void **state) {
  (void)state;
  LEVELS(sr__scan_kernel)
  static problem p, first;
  for (int l = 0; l < levels(); l++) {
    p = (problem){.arguments = 3,
                  .outputs = STREAM * CHANNELS,
                  .count = {STREAM * CHANNELS, 4 * CHANNELS, CHANNELS},
                  .name = {"h", "weight", "bias"},
                  .slow = slow_causal};
    fill(&p, 4);
    float slope[STREAM * CHANNELS], da[STREAM * CHANNELS], past[3 * CHANNELS] = {0};
    level[l]->causal_forward(STREAM, CHANNELS, p.in, CHANNELS, argument(&p, p.in, 1),
                             argument(&p, p.in, 2), p.out, slope, past);
    assert_memory_equal(past, p.in + (STREAM - 3) * CHANNELS, sizeof past);
    for (int i = 0; i < p.outputs; i++) da[i] = (float)pull(i) * slope[i];
    level[l]->causal_backward(STREAM, CHANNELS, p.in, CHANNELS, argument(&p, p.in, 1), da,
                              p.gradient, argument(&p, p.gradient, 1), argument(&p, p.gradient, 2));
    check(&p);
    if (l == 0) first = p;
    assert_memory_equal(first.out, p.out, sizeof p.out);
    assert_memory_equal(first.gradient, p.gradient, sizeof p.gradient);
  }
}

/* Arguments: u, delta, A, B, C, D, gate. Output: the gated y. */
static void slow_scan(const double *const *in, double *out) {
  double h[CHANNELS][STATES] = {{0}};
  for (int t = 0; t < STREAM; t++)
    for (int c = 0; c < CHANNELS; c++) {
      const double u = in[0][t * CHANNELS + c], delta = in[1][t * CHANNELS + c];
      double y = in[5][c] * u;
      for (int n = 0; n < STATES; n++) {
        const double a = in[2][(c / 8 * STATES + n) * 8 + c % 8];
        h[c][n] = exp(delta * a) * h[c][n] + delta * in[3][t * STATES + n] * u;
        y += in[4][t * STATES + n] * h[c][n];
      }
      out[t * CHANNELS + c] = y * in[6][t * CHANNELS + c];
    }
}

typedef struct scan_run {
  float y[STREAM * CHANNELS], kept[3 * CHANNELS * STATES], state[CHANNELS * STATES];
  float decay[CHANNELS * STATES], scratch[CHANNELS * STATES];
  float dy[STREAM * CHANNELS], dz[STREAM * CHANNELS], ones[STREAM * CHANNELS];
} scan_run;

static sr__scan scan_of(problem *p, const scan_run *r) {
  return (sr__scan){STREAM,
                    CHANNELS,
                    p->in,
                    argument(p, p->in, 1),
                    r->decay,
                    argument(p, p->in, 3),
                    argument(p, p->in, 4),
                    STATES,
                    argument(p, p->in, 5),
                    argument(p, p->in, 6)};
}

static void scan_and_its_gradients(void **state) {
  (void)state;
  LEVELS(sr__scan_kernel)
  static problem p, first;
  static scan_run r;
  assert_true(sr__scan_kept_size(STREAM, CHANNELS) == 3 * CHANNELS * STATES);
  for (int l = 0; l < levels(); l++) {
    const int wide = STREAM * CHANNELS, narrow = STREAM * STATES;
    p = (problem){.arguments = 7,
                  .outputs = wide,
                  .count = {wide, wide, CHANNELS * STATES, narrow, narrow, CHANNELS, wide},
                  .name = {"u", "delta", "A", "B", "C", "D", "gate"},
                  .slow = slow_scan};
    fill(&p, 5);
    float *delta = argument(&p, p.in, 1), *a = argument(&p, p.in, 2);
    for (int i = 0; i < wide; i++) delta[i] = expf(delta[i] - 2);
    for (int i = 0; i < CHANNELS * STATES; i++) {
      a[i] = -expf(a[i]);
      r.decay[i] = (float)((double)a[i] / M_LN2);
    }
    memset(r.state, 0, sizeof r.state);
    const sr__scan scan = scan_of(&p, &r);
    level[l]->forward(&scan, r.y, p.out, r.kept, r.state);
    for (int i = 0; i < wide; i++) r.dy[i] = (float)pull(i), r.ones[i] = 1;
    /* A slope of 1: dz is then the gradient of the gate itself. */
    level[l]->gate_backward(STREAM, CHANNELS, r.dy, r.y, scan.gate, r.ones,
                            argument(&p, p.gradient, 6), CHANNELS);
    level[l]->backward(&scan, r.dy, r.kept, p.gradient, argument(&p, p.gradient, 1),
                       argument(&p, p.gradient, 3), argument(&p, p.gradient, 4),
                       argument(&p, p.gradient, 2), argument(&p, p.gradient, 5), r.scratch);
    check(&p);
    if (l == 0) first = p;
    assert_memory_equal(first.out, p.out, sizeof p.out);
    assert_memory_equal(first.gradient, p.gradient, sizeof p.gradient);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convolution_and_its_gradients),
      cmocka_unit_test(norm_and_its_gradients),
      cmocka_unit_test(attention_and_its_gradients),
      cmocka_unit_test(attention_in_blocks_is_attention),
      cmocka_unit_test(softmax_levels_agree),
      cmocka_unit_test(causal_convolution_and_its_gradients),
      cmocka_unit_test(scan_and_its_gradients),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
