/* What the tests of sequence nets share: nets made by a formula, and PyTorch's gradients of them.
 */
#ifndef SR_TESTS_SEQUENCE_KIT_H
#define SR_TESTS_SEQUENCE_KIT_H

#include <math.h>

#include "harness.h"
#include "learner/sequence/net.h"

/* Numbers in [-1/2, 1/2); the same as in data/sequence_reference.py. */
static inline double kit_formula(int64_t k, int64_t i) {
  int64_t whole = (i + 3) * (k + 7) * 7919 + i * i % 1000003 * 31 + k * 104729;
  return (double)(whole % 2003) / 2003.0 - 0.5;
}

static inline bool kit_ends_with(const char *name, const char *end) {
  size_t n = strlen(name), m = strlen(end);
  return n >= m && strcmp(name + n - m, end) == 0;
}

static inline double kit_start(const char *name, int64_t rows, double v) {
  if (strcmp(name, "norm.weight") == 0 || strcmp(name, "norm1.weight") == 0 ||
      strcmp(name, "norm2.weight") == 0 || strcmp(name, "skip") == 0)
    return 1 + 0.4 * v;
  if (strcmp(name, "log_decay") == 0) return 2 * v + 1;
  if (strcmp(name, "step.bias") == 0) return 2 * v - 3;
  if (kit_ends_with(name, "weight")) return 3 * v / sqrt((double)rows);
  return 0.4 * v;
}

static inline sr__net *kit_net(sr_context *ctx, const sr__body *body, sr__net_shape shape,
                               bool training) {
  sr__net *net = NULL;
  assert_ok(ctx, sr__net_new(ctx, body, &shape, shape.longest, training, &net));
  for (int k = 0; k < net->parameters.tensors; k++) {
    const sr__tensor *t = &net->parameters.tensor[k];
    float *value = sr__parameters_value(&net->parameters, k);
    for (int64_t i = 0; i < t->rows * t->columns; i++)
      value[i] = (float)kit_start(t->name, t->rows, kit_formula(k, i));
  }
  sr__net_pack(net);
  return net;
}

static inline sr__net_shape kit_shape(int64_t length, int64_t channels, int64_t classes,
                                      bool causal) {
  return (sr__net_shape){.channels = channels,
                         .classes = classes,
                         .longest = length,
                         .width = 64,
                         .blocks = 2,
                         .heads = 4,
                         .feed_forward = 128,
                         .stride = length >= 300 ? 4 : 2,
                         .causal = causal};
}

static inline float *kit_series(int64_t count) {
  float *x = malloc(sizeof(float) * (size_t)count);
  for (int64_t i = 0; i < count; i++) x[i] = (float)(2 * kit_formula(99, i));
  return x;
}

static inline double kit_read(FILE *file) {
  double value;
  assert_int_equal(fscanf(file, "%lf", &value), 1);
  return value;
}

/* One case of the file against our float: gradients within 2e-5 of the largest of their tensor. The
 * projection on formula(k + 50) looks at every element. */
static inline void kit_check_case(sr_context *ctx, const sr__body *body, FILE *file, bool compare) {
  int length, channels, classes, batch, causal;
  double loss = 0, expected_loss;
  assert_int_equal(fscanf(file, "%d %d %d %d %d %lf", &length, &channels, &classes, &batch, &causal,
                          &expected_loss),
                   6);
  sr__net *net = kit_net(ctx, body, kit_shape(length, channels, classes, causal), true);
  float *x = kit_series((int64_t)batch * length * channels);
  sr__parameters_clear_gradient(&net->parameters);
  assert_int_equal(fscanf(file, " score"), 0);
  for (int n = 0; n < batch && compare; n++) {
    sr__net_forward(net, length, x + (int64_t)n * length * channels, 0, 0);
    for (int c = 0; c < classes; c++) assert_close((double)net->score[c], kit_read(file), 1e-5);
    loss +=
        sr__nn_cross_entropy(classes, net->score, n % classes, 1.0f / (float)batch, net->dscore);
    sr__net_backward(net, length, 0, 0);
  }
  sr__net_finish_gradient(net);
  for (int i = 0; i < batch * classes && !compare; i++) (void)kit_read(file);
  if (compare) assert_close(loss / batch, expected_loss, 1e-5);
  for (int k = 0; k < net->parameters.tensors; k++) {
    const sr__tensor *t = &net->parameters.tensor[k];
    const float *g = sr__parameters_gradient(&net->parameters, k);
    char name[64];
    assert_int_equal(fscanf(file, "%63s", name), 1);
    if (compare) assert_string_equal(name, t->name);
    int64_t count = (int64_t)kit_read(file);
    double most = kit_read(file), projection = kit_read(file), ours = 0;
    if (compare) assert_int_equal(count, t->rows * t->columns);
    for (int64_t i = 0; i < count && compare; i++) ours += (double)g[i] * kit_formula(k + 50, i);
    if (compare && fabs(ours - projection) > 1e-5 * most * sqrt((double)count))
      fail_msg("length %d: projection of %s is %g, not %g", length, name, ours, projection);
    int picked = (int)kit_read(file);
    for (int i = 0; i < picked; i++) {
      int64_t at = (int64_t)kit_read(file);
      double expected = kit_read(file);
      if (compare && fabs((double)g[at] - expected) > 2e-5 * most)
        fail_msg("length %d: gradient %lld of %s is %.9g, not %.9g (largest %g)", length,
                 (long long)at, name, (double)g[at], expected, most);
    }
  }
  free(x);
  sr__net_free(&net);
}

static inline void kit_check_gradients(const char *kind) {
  sr_context *ctx = test_context(1);
  FILE *file = fopen(SR_TEST_DATA "/sequence_gradients.txt", "r");
  char name[64];
  int cases = 0;
  assert_non_null(file);
  while (fscanf(file, " case %63s", name) == 1) {
    bool ours = strcmp(name, kind) == 0;
    kit_check_case(ctx, strcmp(name, "mamba") == 0 ? &sr__mamba_body : &sr__transformer_body, file,
                   ours);
    cases += ours;
  }
  assert_int_equal(cases, 6);
  fclose(file);
  sr_context_free(&ctx);
}

#endif
