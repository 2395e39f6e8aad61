/* Convolution, RMSProp and the agents' networks: slow references in double, central differences,
 * vector levels. */
#include <math.h>

#include "core/random.h"
#include "harness.h"
#include "nn/conv2d_kernel.h"
#include "nn/rmsprop_kernel.h"
#include "nn/sparse_kernel.h"
#include "replay/qnet.h"
#include "replay/qnet_kernel.h"

#if defined(__x86_64__)
#define LEVELS(name) const name *const level[] = {&name##_base, &name##_v3, &name##_v4};
#else
#define LEVELS(name) const name *const level[] = {&name##_base};
#endif
static int levels(void) { return (int)sr__isa() + 1; }

static void fill(sr__random *random, float *x, int64_t count) {
  for (int64_t i = 0; i < count; i++) x[i] = (float)sr__random_normal(random);
}
static float *floats(int64_t count) { return calloc((size_t)count, sizeof(float)); }
static sr__random stream(uint64_t unit) {
  sr__random random;
  sr__random_init(&random, 27, SR_PURPOSE_TEST, 0, unit);
  return random;
}

/* ---- convolution --------------------------------------------------------------------------- */

static const sr__conv2d shapes[] = {{12, 12, 4, 8, 4, 32},  {8, 10, 32, 4, 2, 16},
                                    {5, 6, 16, 3, 1, 64},   {9, 9, 16, 3, 1, 16},
                                    {20, 20, 32, 4, 2, 64}, {4, 4, 16, 2, 2, 16}};

/* Calls with every triple (x index, w index, y index) of one picture. */
#define EACH_PRODUCT(c, body)                                                                  \
  for (int row = 0; row < sr__conv2d_rows(c); row++)                                           \
    for (int column = 0; column < sr__conv2d_columns(c); column++)                             \
      for (int a = 0; a < (c)->size; a++)                                                      \
        for (int b = 0; b < (c)->size; b++)                                                    \
          for (int i = 0; i < (c)->in; i++)                                                    \
            for (int o = 0; o < (c)->out; o++) {                                               \
              int64_t at_x =                                                                   \
                  ((int64_t)(row * (c)->stride + a) * (c)->width + column * (c)->stride + b) * \
                      (c)->in +                                                                \
                  i;                                                                           \
              int64_t at_w = ((int64_t)(a * (c)->size + b) * (c)->in + i) * (c)->out + o;      \
              int64_t at_y = ((int64_t)row * sr__conv2d_columns(c) + column) * (c)->out + o;   \
              body                                                                             \
            }

static void convolution_agrees_with_its_definition(void **state) {
  (void)state;
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    const sr__conv2d *c = &shapes[s];
    int64_t in = sr__conv2d_in_size(c), out = sr__conv2d_out_size(c), n = sr__conv2d_weights(c);
    enum { COUNT = 2 };
    float *x = floats(COUNT * in), *w = floats(n), *bias = floats(c->out), *y = floats(COUNT * out),
          *packed = floats(n);
    float *dy = floats(COUNT * out), *dx = floats(COUNT * in), *dw = floats(n),
          *db = floats(c->out);
    float *scratch = floats(sr__conv2d_scratch(c)), *turned = floats(n);
    sr__random random = stream(s);
    fill(&random, x, COUNT * in), fill(&random, w, n), fill(&random, bias, c->out),
        fill(&random, dy, COUNT * out);
    fill(&random, dw, n), fill(&random, db, c->out); /* gradients of parameters are added to */
    double *yd = calloc((size_t)(uint32_t)out, sizeof *yd), *dxd = calloc((size_t)in, sizeof *dxd);
    double *dwd = calloc((size_t)n, sizeof *dwd), *dbd = calloc((size_t)c->out, sizeof *dbd);
    for (int64_t i = 0; i < n; i++) dwd[i] = (double)dw[i];
    for (int64_t i = 0; i < c->out; i++) dbd[i] = (double)db[i];
    sr__conv2d_pack(c, w, packed);
    sr__conv2d_forward(c, COUNT, x, packed, bias, y);
    sr__conv2d_backward_weight(c, COUNT, x, dy, dw, db);
    if (c->in % 16 == 0) {
      sr__conv2d_turn(c, w, scratch, turned);
      sr__conv2d_backward_input(c, COUNT, dy, turned, scratch, dx);
    }
    for (int k = 0; k < COUNT; k++) {
      const float *px = x + k * in, *pdy = dy + k * out;
      for (int64_t i = 0; i < out; i++)
        yd[i] = (double)bias[i % c->out], dbd[i % c->out] += (double)pdy[i];
      memset(dxd, 0, (size_t)in * sizeof *dxd);
      EACH_PRODUCT(c, {
        yd[at_y] += (double)px[at_x] * (double)w[at_w];
        dxd[at_x] += (double)pdy[at_y] * (double)w[at_w];
        dwd[at_w] += (double)pdy[at_y] * (double)px[at_x];
      })
      for (int64_t i = 0; i < out; i++) assert_close((double)y[k * out + i], fmax(0, yd[i]), 1e-4);
      for (int64_t i = 0; i < in && c->in % 16 == 0; i++)
        assert_close((double)dx[k * in + i], dxd[i], 1e-4);
    }
    for (int64_t i = 0; i < n; i++) assert_close((double)dw[i], dwd[i], 1e-4);
    for (int64_t i = 0; i < c->out; i++) assert_close((double)db[i], dbd[i], 1e-4);
    free(x), free(w), free(bias), free(y), free(packed), free(dy), free(dx), free(dw), free(db),
        free(scratch);
    free(turned), free(yd), free(dxd), free(dwd), free(dbd);
  }
}

/* Pictures with zeros, all windows, every level: to the bit what the plain kernels give. */
static void zeros_left_out_change_nothing(void **state) {
  (void)state;
  LEVELS(sr__sparse_kernel)
  const sr__conv2d some[] = {{5, 6, 16, 3, 1, 64}, {20, 20, 32, 4, 2, 64}, {9, 9, 8, 3, 1, 64}};
  for (size_t s = 0; s < sizeof some / sizeof *some; s++) {
    const sr__conv2d *c = &some[s];
    int64_t in = sr__conv2d_in_size(c), out = sr__conv2d_out_size(c), n = sr__conv2d_weights(c);
    float *x = floats(in), *w = floats(n), *packed = floats(n), *bias = floats(64);
    float *dy = floats(out), *start = floats(n), *db = floats(64);
    float *y[2] = {floats(out), floats(out)}, *dw[2] = {floats(n), floats(n)};
    sr__random random = stream(60 + s);
    fill(&random, x, in), fill(&random, w, n), fill(&random, bias, 64), fill(&random, dy, out);
    fill(&random, start, n);
    for (int64_t i = 0; i < in; i++) x[i] = x[i] > (i < in / 2 ? 0 : 9) ? x[i] : 0;
    sr__conv2d_pack(c, w, packed);
    sr__conv2d_forward(c, 1, x, packed, bias, y[0]);
    memcpy(dw[0], start, (size_t)n * sizeof(float));
    sr__conv2d_backward_weight(c, 1, x, dy, dw[0], db);
    sr__windows windows = {x,
                           sr__conv2d_rows(c),
                           sr__conv2d_columns(c),
                           (int64_t)c->stride * c->width * c->in,
                           (int64_t)c->stride * c->in,
                           c->size,
                           c->size * c->in,
                           (int64_t)c->width * c->in};
    assert_true(sr__conv2d_may_be_sparse(c));
    for (int l = 0; l <= levels(); l++) {
      memcpy(dw[1], start, (size_t)n * sizeof(float));
      if (l < levels()) {
        level[l]->apply(&windows, w, bias, y[1]);
        level[l]->weight_gradient(&windows, dy, dw[1]);
      } else {
        sr__conv2d_forward_sparse(c, 1, x, w, bias, y[1]);
        sr__conv2d_backward_weight_sparse(c, 1, x, dy, dw[1], db);
      }
      assert_memory_equal(y[1], y[0], (size_t)out * sizeof(float));
      assert_memory_equal(dw[1], dw[0], (size_t)n * sizeof(float));
    }
    free(x), free(w), free(packed), free(bias), free(dy), free(start), free(db);
    free(y[0]), free(y[1]), free(dw[0]), free(dw[1]);
  }
}

static void kernels_give_the_same_bits_at_every_level(void **state) {
  (void)state;
  LEVELS(sr__conv2d_kernel)
  const sr__conv2d c = {6, 7, 16, 3, 1, 16};
  enum { IN = 6 * 7 * 16, OUT_SIZE = 4 * 5 * 16, N = 9 * 16 * 16 };
  float *x = floats(IN), *w = floats(N), *dy = floats(OUT_SIZE), *bias = floats(16);
  float *result[2] = {floats(OUT_SIZE + N + 16 + OUT_SIZE), floats(OUT_SIZE + N + 16 + OUT_SIZE)};
  sr__random random = stream(40);
  fill(&random, x, IN), fill(&random, w, N), fill(&random, dy, OUT_SIZE), fill(&random, bias, 16);
  for (int l = 0; l < levels(); l++) {
    float *to = result[l > 0];
    memset(to, 0, (OUT_SIZE + N + 16) * sizeof *to);
    sr__windows windows = {x, 4, 5, (int64_t)c.width * c.in, c.in, 3, 48, (int64_t)c.width * c.in};
    level[l]->apply(&windows, w, bias, 16, true, to, 5 * 16, 16);
    level[l]->weight_gradient(&windows, dy, 16, to + OUT_SIZE);
    level[l]->row_sums(20, 16, dy, to + OUT_SIZE + N);
    memcpy(to + OUT_SIZE + N + 16, dy, OUT_SIZE * sizeof *to);
    level[l]->relu_backward(OUT_SIZE, to, to + OUT_SIZE + N + 16);
    assert_memory_equal(to, result[0], (OUT_SIZE + N + 16 + OUT_SIZE) * sizeof *to);
  }
  free(x), free(w), free(dy), free(bias), free(result[0]), free(result[1]);
}

static void net_kernels_give_the_same_bits_at_every_level(void **state) {
  (void)state;
  LEVELS(sr__qnet_kernel)
  enum {
    CHANNELS = 5,
    STACK = 2,
    WEIGHTS = 9 * CHANNELS * STACK * 16,
    FLAT = 1024,
    WIDE = 128,
    CELLS = 55
  };
  float *w = floats(WEIGHTS), *bias = floats(WIDE), *dense = floats(FLAT * WIDE),
        *dy = floats(FLAT);
  uint64_t planes[STACK][2 * CHANNELS];
  uint8_t gray[3][CELLS];
  sr__random random = stream(50);
  fill(&random, w, WEIGHTS), fill(&random, bias, WIDE), fill(&random, dense, FLAT * WIDE),
      fill(&random, dy, FLAT);
  for (int s = 0; s < STACK; s++)
    for (int k = 0; k < 2 * CHANNELS; k++) {
      planes[s][k] = sr__random_bits(&random) & sr__random_bits(&random);
      if (k % 2) planes[s][k] &= (UINT64_C(1) << 36) - 1;
    }
  for (int f = 0; f < 3; f++)
    for (int i = 0; i < CELLS; i++) gray[f][i] = (uint8_t)sr__random_bits(&random);
  const uint8_t *frames[STACK] = {(const uint8_t *)planes[0], (const uint8_t *)planes[1]};
  const uint8_t *grays[3] = {gray[0], gray[1], gray[2]};
  enum { SIZE = FLAT + WEIGHTS + 16 + WIDE + 3 * CELLS };
  float *result[2] = {floats(SIZE), floats(SIZE)};
  for (int l = 0; l < levels(); l++) {
    float *y = result[l > 0], *dw = y + FLAT, *db = dw + WEIGHTS, *hidden = db + 16,
          *mixed = hidden + WIDE;
    memset(y, 0, SIZE * sizeof *y);
    level[l]->grid_forward(STACK, CHANNELS, frames, w, bias, y);
    level[l]->grid_backward(STACK, CHANNELS, frames, dy, dw, db);
    level[l]->dense_row(FLAT, WIDE, y, dense, bias, hidden);
    level[l]->relu(WIDE, hidden);
    level[l]->interleave(3, CELLS, grays, mixed);
    assert_memory_equal(y, result[0], SIZE * sizeof *y);
  }
  for (int i = 0; i < CELLS; i++)
    for (int f = 0; f < 3; f++)
      assert_close((double)result[0][SIZE - 3 * CELLS + 3 * i + f], gray[f][i] / 255.0, 1e-7);
  free(w), free(bias), free(dense), free(dy), free(result[0]), free(result[1]);
}

/* ---- RMSProp ------------------------------------------------------------------------------- */

static void rmsprop_follows_its_equations(void **state) {
  (void)state;
  LEVELS(sr__rmsprop_kernel)
  enum { N = 24, STEPS = 30 };
  for (int centered = 0; centered < 2; centered++)
    for (int l = 0; l < levels(); l++) {
      sr__rmsprop how = {0.01f, 0.95f, 0.001f, centered};
      float value[N], first[N] = {0}, second[N] = {0}, gradient[N];
      double x[N], m[N] = {0}, v[N] = {0};
      sr__random random = stream(60);
      fill(&random, value, N);
      for (int i = 0; i < N; i++) x[i] = (double)value[i];
      for (int t = 0; t < STEPS; t++) {
        fill(&random, gradient, N);
        level[l]->update(N, &how, gradient, first, second, value);
        for (int i = 0; i < N; i++) {
          double g = (double)gradient[i];
          v[i] = 0.95 * v[i] + 0.05 * g * g;
          if (centered) m[i] = 0.95 * m[i] + 0.05 * g;
          x[i] -= 0.01 * g / sqrt(v[i] - m[i] * m[i] + 0.001);
        }
      }
      for (int i = 0; i < N; i++) assert_close((double)value[i], x[i], 1e-5);
    }
}

/* ---- networks ------------------------------------------------------------------------------ */

/* sum of c q in double, from a forward of the float network. */
static double objective(const sr__qnet *net, sr__qnet_work *work, int64_t count,
                        const uint8_t *const *frames, const float *c) {
  double sum = 0;
  sr__qnet_forward(net, work, count, frames);
  for (int64_t i = 0; i < count * net->shape.outputs; i++) sum += (double)c[i] * (double)work->q[i];
  return sum;
}

/* The derivative along a random direction of each tensor, by central differences. */
static void check_gradient(sr__qnet *net, int64_t count, const uint8_t *const *frames, double step,
                           double tolerance) {
  sr_context *ctx = test_context(1);
  sr__qnet_work work;
  assert_ok(ctx, sr__qnet_work_new(ctx, &net->shape, count + 3, &work));
  sr__random random = stream(70);
  sr__qnet_draw_weights(net, &random);
  int64_t outputs = count * net->shape.outputs;
  float *c = floats(outputs);
  fill(&random, c, outputs);
  (void)objective(net, &work, count, frames, c);
  memcpy(work.dq, c, (size_t)outputs * sizeof *c);
  sr__qnet_backward(net, &work, count, frames);
  for (int t = 0; t < net->parameters.tensors; t++) {
    const sr__tensor *tensor = &net->parameters.tensor[t];
    int64_t n = tensor->rows * tensor->columns;
    float *w = net->parameters.value + tensor->at, *g = net->parameters.gradient + tensor->at;
    float *before = floats(n), *direction = floats(n);
    double slope = 0, length = 0;
    memcpy(before, w, (size_t)n * sizeof *w);
    /* half the gradient itself and half noise: the slope is then far from 0 */
    fill(&random, direction, n);
    for (int64_t i = 0; i < n; i++) length += (double)g[i] * (double)g[i];
    assert_true(length > 0);
    for (int64_t i = 0; i < n; i++)
      direction[i] =
          (float)(0.5 * (double)g[i] / sqrt(length) + 0.5 * (double)direction[i] / sqrt((double)n));
    for (int64_t i = 0; i < n; i++) slope += (double)g[i] * (double)direction[i];
    double side[2];
    for (int k = 0; k < 2; k++) {
      for (int64_t i = 0; i < n; i++)
        w[i] = (float)((double)before[i] + (k ? step : -step) * (double)direction[i]);
      side[k] = objective(net, &work, count, frames, c);
    }
    memcpy(w, before, (size_t)n * sizeof *w);
    double measured = (side[1] - side[0]) / (2 * step);
    if (fabs(measured - slope) > tolerance * fabs(slope))
      fail_msg("tensor %d (%s): slope %g, measured %g", t, tensor->name, slope, measured);
    free(before), free(direction);
  }
  free(c);
  sr__qnet_work_free(&work);
  sr_context_free(&ctx);
}

static void grid_net_gradients(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_game *game = NULL;
  assert_ok(ctx, sr_game_new(ctx, "seaquest", 3, &game));
  for (int32_t stack = 1; stack <= 4; stack += 3) {
    sr__qnet_shape shape;
    sr__qnet net;
    enum { COUNT = 7 };
    assert_ok(ctx, sr__qnet_choose(ctx, game, stack, 18, &shape));
    assert_ok(ctx, sr__qnet_new(ctx, &shape, true, &net));
    uint8_t pictures[COUNT * 4][128];
    const uint8_t *frames[COUNT * 4];
    for (int i = 0; i < COUNT * stack; i++) {
      double reward;
      assert_ok(ctx, sr_game_step(ctx, game, i % 6, &reward));
      if (sr_game_get(game)->over) assert_ok(ctx, sr_game_reset(ctx, game));
      memcpy(pictures[i], game->frame, 128);
      frames[i] = pictures[i];
    }
    check_gradient(&net, COUNT, frames, 4e-4, 1e-2);
    sr__qnet_free(&net);
  }
  sr_game_free(&game);
  sr_context_free(&ctx);
}

/* In batches that are small enough for it, and in larger ones. */
static void learning_is_a_gradient_and_a_step(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_game *game = NULL;
  sr__qnet_shape shape;
  enum { COUNT = SR__SPARSE_UPDATE_INNER + 5, OUTPUTS = 6 };
  assert_ok(ctx, sr_game_new(ctx, "breakout", 3, &game));
  assert_ok(ctx, sr__qnet_choose(ctx, game, 1, OUTPUTS, &shape));
  uint8_t pictures[COUNT][64];
  const uint8_t *frames[COUNT];
  for (int i = 0; i < COUNT; i++) {
    double reward;
    assert_ok(ctx, sr_game_step(ctx, game, i % 3, &reward));
    if (sr_game_get(game)->over) assert_ok(ctx, sr_game_reset(ctx, game));
    memcpy(pictures[i], game->frame, 64);
    frames[i] = pictures[i];
  }
  for (int64_t count = 8; count <= COUNT; count += COUNT - 8) {
    sr__qnet net[2];
    sr__qnet_work work;
    sr__adam adam[2];
    assert_ok(ctx, sr__qnet_work_new(ctx, &shape, COUNT, &work));
    for (int k = 0; k < 2; k++) {
      sr__random random = stream(71);
      assert_ok(ctx, sr__qnet_new(ctx, &shape, true, &net[k]));
      sr__qnet_draw_weights(&net[k], &random);
      adam[k] = (sr__adam){.rate = 1e-2f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f};
    }
    for (int step = 0; step < 3; step++)
      for (int k = 0; k < 2; k++) {
        sr__qnet_forward(&net[k], &work, count, frames);
        for (int64_t i = 0; i < count * OUTPUTS; i++) work.dq[i] = work.q[i] - (float)(i % 3);
        if (k == 0) sr__qnet_learn(&net[k], &work, count, frames, &adam[k]);
        if (k == 1) sr__qnet_backward(&net[k], &work, count, frames);
        if (k == 1) sr__adam_step(&adam[k], &net[k].parameters);
      }
    size_t bytes = (size_t)net[0].parameters.count * sizeof(float);
    assert_memory_equal(net[0].parameters.value, net[1].parameters.value, bytes);
    assert_memory_equal(net[0].parameters.first_moment, net[1].parameters.first_moment, bytes);
    assert_memory_equal(net[0].parameters.second_moment, net[1].parameters.second_moment, bytes);
    for (int k = 0; k < 2; k++) sr__qnet_free(&net[k]);
    sr__qnet_work_free(&work);
  }
  sr_game_free(&game);
  sr_context_free(&ctx);
}

static void gray_net_gradients(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_game game = {.form = SR__FRAME_GRAY,
                  .view = {.name = "gray", .channels = 1, .height = 84, .width = 84}};
  sr__qnet_shape shape;
  sr__qnet net;
  enum { COUNT = 2 };
  assert_ok(ctx, sr__qnet_choose(ctx, &game, 4, 8, &shape));
  assert_int_equal(shape.flat, 3136);
  assert_ok(ctx, sr__qnet_new(ctx, &shape, true, &net));
  uint8_t *pictures = malloc(COUNT * 4 * 7056);
  const uint8_t *frames[COUNT * 4];
  sr__random random = stream(80);
  for (int i = 0; i < COUNT * 4 * 7056; i++) pictures[i] = (uint8_t)sr__random_bits(&random);
  for (int i = 0; i < COUNT * 4; i++) frames[i] = pictures + (int64_t)i * 7056;
  check_gradient(&net, COUNT, frames, 4e-4, 1e-2);
  free(pictures);
  sr__qnet_free(&net);
  game.view.height = 50;
  assert_int_equal(sr__qnet_choose(ctx, &game, 4, 8, &shape), SR_ERROR_UNSUPPORTED);
  sr_context_free(&ctx);
}

/* The sparse first layer is a convolution of the picture, and one row alone has the values it has
 * in a batch. */
static void grid_net_is_a_convolution(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_game *game = NULL;
  assert_ok(ctx, sr_game_new(ctx, "breakout", 3, &game));
  sr__qnet_shape shape;
  sr__qnet net;
  sr__qnet_work work;
  enum { COUNT = 9 };
  assert_ok(ctx, sr__qnet_choose(ctx, game, 1, 3, &shape));
  assert_ok(ctx, sr__qnet_new(ctx, &shape, false, &net));
  assert_ok(ctx, sr__qnet_work_new(ctx, &shape, COUNT, &work));
  sr__random random = stream(90);
  sr__qnet_draw_weights(&net, &random);
  uint8_t pictures[COUNT][64], bytes[400];
  const uint8_t *frames[COUNT];
  float x[400], packed[9 * 4 * 16], y[1024], q[COUNT * 3];
  for (int i = 0; i < COUNT; i++) {
    double reward;
    assert_ok(ctx, sr_game_step(ctx, game, i % 3, &reward));
    if (sr_game_get(game)->over) assert_ok(ctx, sr_game_reset(ctx, game));
    memcpy(pictures[i], game->frame, 64);
    frames[i] = pictures[i];
  }
  sr__qnet_forward(&net, &work, COUNT, frames);
  memcpy(q, work.q, sizeof q);
  sr__conv2d_pack(&shape.conv[0], sr__parameters_value(&net.parameters, net.weight[0]), packed);
  for (int i = 0; i < COUNT; i++) {
    sr__frame_to_bytes(SR__FRAME_BITS, sr_game_get(game), pictures[i], bytes);
    for (int c = 0; c < 4; c++)
      for (int cell = 0; cell < 100; cell++) x[4 * cell + c] = bytes[100 * c + cell];
    sr__conv2d_forward(&shape.conv[0], 1, x, packed,
                       sr__parameters_value(&net.parameters, net.bias[0]), y);
    for (int k = 0; k < 1024; k++)
      assert_close((double)work.x[1][1024 * i + k], (double)y[k], 1e-5);
  }
  for (int i = 0; i < COUNT; i++) {
    sr__qnet_forward(&net, &work, 1, frames + i);
    for (int a = 0; a < 3; a++) assert_close((double)work.q[a], (double)q[3 * i + a], 1e-5);
  }
  sr__qnet_work_free(&work);
  sr__qnet_free(&net);
  sr_game_free(&game);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(convolution_agrees_with_its_definition),
                                     cmocka_unit_test(zeros_left_out_change_nothing),
                                     cmocka_unit_test(kernels_give_the_same_bits_at_every_level),
                                     cmocka_unit_test(
                                         net_kernels_give_the_same_bits_at_every_level),
                                     cmocka_unit_test(rmsprop_follows_its_equations),
                                     cmocka_unit_test(grid_net_gradients),
                                     cmocka_unit_test(learning_is_a_gradient_and_a_step),
                                     cmocka_unit_test(gray_net_gradients),
                                     cmocka_unit_test(grid_net_is_a_convolution)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
