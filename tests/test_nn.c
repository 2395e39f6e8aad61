/* Layers against slow references in double, their gradients against central differences, and every
 * vector level of this machine against the others, to the bit. */
#include <math.h>

#include "core/random.h"
#include "harness.h"
#include "nn/adam_kernel.h"
#include "nn/pointwise_kernel.h"
#include "nn/product_kernel.h"
#include "nn/sparse_kernel.h"

/* The tables of a kernel at the levels that this machine can run. */
#if defined(__x86_64__)
#define LEVELS(name) const name *const level[] = {&name##_base, &name##_v3, &name##_v4};
#else
#define LEVELS(name) const name *const level[] = {&name##_base};
#endif
static int levels(void) { return (int)sr__isa() + 1; }

static sr__random stream(uint64_t unit) {
  sr__random random;
  sr__random_init(&random, 39, SR_PURPOSE_TEST, 0, unit);
  return random;
}

static void fill(sr__random *random, float *x, int64_t count) {
  for (int64_t i = 0; i < count; i++) x[i] = (float)sr__random_normal(random);
}

/* ---- product ------------------------------------------------------------------------------ */

static float any_float(sr__random *random) {
  /* Exponents near each other, so that sums cancel and land between two floats. */
  uint32_t bits = (uint32_t)sr__random_bits(random);
  bits = (bits & 0x807fffffu) | ((uint32_t)(120 + sr__random_below(random, 14)) << 23);
  if (sr__random_below(random, 4) == 0) bits &= 0xfffff000u;
  if (sr__random_below(random, 50) == 0) bits &= 0x80ffffffu; /* tiny or subnormal */
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* sum = a b + c, eight at once. */
static void fused_sums(const sr__product_kernel *level, float a, const float *b, const float *c,
                       float *sum) {
  level->product(&(sr__product){.rows = 1,
                                .columns = 8,
                                .inner = 1,
                                .a = &a,
                                .a_row = 1,
                                .a_inner = 1,
                                .b = b,
                                .b_row = 8,
                                .c = sum,
                                .c_row = 8,
                                .bias = c});
}

static void fused_sums_round_once_at_every_level(void **state) {
  (void)state;
  LEVELS(sr__product_kernel)
  sr__random random = stream(1);
  for (int trial = 0; trial < 20000; trial++) {
    float a = any_float(&random), b[8], c[8], sum[8];
    for (int i = 0; i < 8; i++) {
      b[i] = any_float(&random);
      c[i] = any_float(&random);
      if (trial % 3 == 0) c[i] = -(float)((double)a * (double)b[i]);
    }
    for (int l = 0; l < levels(); l++) {
      fused_sums(level[l], a, b, c, sum);
      for (int i = 0; i < 8; i++) {
        float expected = fmaf(a, b[i], c[i]);
        if (memcmp(&expected, &sum[i], sizeof expected) != 0)
          fail_msg("level %d: %a * %a + %a = %a, not %a", l, a, b[i], c[i], expected, sum[i]);
      }
    }
  }
}

static void infinite_sums_stay_infinite(void **state) {
  (void)state;
  LEVELS(sr__product_kernel)
  const float a = 3e38f, b[8] = {2, -2, INFINITY, -INFINITY, 1, 0, 1e-45f, 1.1f};
  const float c[8] = {1, 1, 1, 1, 3e38f, 1, -1e-45f, INFINITY};
  for (int l = 0; l < levels(); l++) {
    float sum[8];
    fused_sums(level[l], a, b, c, sum);
    for (int i = 0; i < 8; i++) assert_true(sum[i] == fmaf(a, b[i], c[i]));
  }
}

/* The definition of the product, element by element. */
static void slow_product(const sr__product *p, const float *b) {
  for (int64_t j = 0; j < p->columns; j++)
    for (int64_t k = 0; k < p->inner && p->column_sums; k += 256) {
      float sum = 0;
      for (int64_t i = k; i < p->inner && i < k + 256; i++) sum += b[i * p->columns + j];
      p->column_sums[j] += sum;
    }
  for (int64_t k = 0; k == 0 || k < p->inner; k += 256)
    for (int64_t j = 0; j < p->columns; j += 16) /* the order matters where rows of C overlap */
      for (int64_t i = 0; i < p->rows; i++)
        for (int64_t jj = j; jj < p->columns && jj < j + 16; jj++) {
          float sum = p->bias && k == 0 ? p->bias[jj] : 0;
          for (int64_t kk = k; kk < p->inner && kk < k + 256; kk++)
            sum = fmaf(p->a[i * p->a_row + kk * p->a_inner], b[kk * p->columns + jj], sum);
          float *to = p->c + i * p->c_row + jj;
          *to = p->add || k > 0 ? sum + *to : sum;
        }
}

static void check_product(sr__random *random, bool large) {
  LEVELS(sr__product_kernel)
  int64_t m = 1 + (int64_t)sr__random_below(random, 20);
  int64_t n = 1 + (int64_t)sr__random_below(random, 50);
  int64_t k = 1 + (int64_t)sr__random_below(random, large ? 600 : 40);
  bool by_columns = sr__random_below(random, 2), packed = sr__random_below(random, 2);
  bool add = sr__random_below(random, 2), biased = sr__random_below(random, 2);
  bool overlap = add && n > 16 && sr__random_below(random, 2);
  int64_t windows = sr__random_below(random, 2) ? 3 : k; /* rows of A that overlap */
  float *a = malloc(sizeof(float) * (size_t)((m + k) * (m + k + 1)));
  float *b = malloc(sizeof(float) * (size_t)(k * n)), *bias = malloc(sizeof(float) * (size_t)n);
  float *space = malloc(sizeof(float) * (size_t)sr__nn_packed_size(k, n));
  fill(random, a, (m + k) * (m + k + 1));
  fill(random, b, k * n);
  fill(random, bias, n);
  int64_t c_row = overlap ? 16 : n + 3, c_count = m * c_row + n;
  float *c = calloc((size_t)c_count, sizeof(float)), *expected = calloc((size_t)c_count, 4);
  float *sums = calloc((size_t)n, 4), *expected_sums = calloc((size_t)n, 4);
  sr__product p = {.rows = m,
                   .columns = n,
                   .inner = k,
                   .a = a,
                   .c_row = c_row,
                   .add = add,
                   .a_row = by_columns ? 1 : windows,
                   .a_inner = by_columns ? m + 1 : 1,
                   .bias = biased ? bias : NULL};
  for (int l = 0; l < levels(); l++) {
    sr__random start = stream(77);
    fill(&start, c, c_count);
    memcpy(expected, c, sizeof(float) * (size_t)c_count);
    memset(sums, 0, sizeof(float) * (size_t)n);
    memset(expected_sums, 0, sizeof(float) * (size_t)n);
    if (packed) level[l]->pack(k, n, b, n, space);
    p.b = packed ? space : b;
    p.b_row = packed ? 0 : n;
    p.c = c;
    p.column_sums = packed ? NULL : sums;
    level[l]->product(&p);
    p.c = expected;
    p.column_sums = packed ? NULL : expected_sums;
    slow_product(&p, b);
    assert_memory_equal(c, expected, sizeof(float) * (size_t)c_count);
    assert_memory_equal(sums, expected_sums, sizeof(float) * (size_t)n);
  }
  free(a), free(b), free(bias), free(space), free(c), free(expected), free(sums);
  free(expected_sums);
}

static void product_is_its_definition_to_the_bit(void **state) {
  (void)state;
  sr__random random = stream(2);
  for (int trial = 0; trial < 200; trial++) check_product(&random, trial % 20 == 0);
}

static void slow_sparse_product(const sr__sparse_product *p) {
  for (int64_t j = 0; j < p->columns; j++) {
    for (int64_t k = 0; k < p->inner; k++)
      p->column_sums[j] += p->b[k * p->b_row + j * p->b_column];
    for (int64_t i = 0; i < p->rows; i++) {
      float sum = p->bias ? p->bias[j] : 0;
      for (int64_t k = 0; k < p->inner; k++) {
        float x = p->a[i * p->a_row + k * p->a_inner];
        if (x != 0) sum = fmaf(x, p->b[k * p->b_row + j * p->b_column], sum);
      }
      p->c[i * p->c_row + j] = sum;
    }
  }
}

static void sparse_product_is_its_definition_to_the_bit(void **state) {
  (void)state;
  LEVELS(sr__sparse_kernel)
  sr__random random = stream(5);
  for (int trial = 0; trial < 60; trial++) {
    int64_t m = 1 + (int64_t)sr__random_below(&random, 21);
    int64_t k = 1 + (int64_t)sr__random_below(&random, trial % 6 ? 70 : 200);
    int64_t n = SR__SPARSE_COLUMNS * (1 + (int64_t)sr__random_below(&random, 3)), c_row = n + 5;
    uint64_t zeros = sr__random_below(&random, 5); /* of four elements of A */
    bool across = sr__random_below(&random, 2), turned = sr__random_below(&random, 2);
    float *a = malloc(sizeof(float) * (size_t)(m * k)),
          *b = malloc(sizeof(float) * (size_t)(k * n));
    float *bias = malloc(sizeof(float) * (size_t)n);
    float *c[2] = {calloc((size_t)(m * c_row), 4), calloc((size_t)(m * c_row), 4)};
    float *sums[2] = {calloc((size_t)n, 4), calloc((size_t)n, 4)};
    fill(&random, a, m * k), fill(&random, b, k * n), fill(&random, bias, n);
    for (int64_t i = 0; i < m * k; i++)
      if (sr__random_below(&random, 4) < zeros) a[i] = i % 2 ? 0.0f : -0.0f;
    sr__sparse_product p = {.rows = m,
                            .columns = n,
                            .inner = k,
                            .a = a,
                            .a_row = across ? 1 : k,
                            .a_inner = across ? m : 1,
                            .b = b,
                            .b_row = turned ? 1 : n,
                            .b_column = turned ? k : 1,
                            .c = c[0],
                            .c_row = c_row,
                            .bias = sr__random_below(&random, 2) ? bias : NULL,
                            .column_sums = sums[0]};
    slow_sparse_product(&p);
    for (int l = 0; l < levels(); l++) {
      memset(c[1], 0, sizeof(float) * (size_t)(m * c_row));
      memset(sums[1], 0, sizeof(float) * (size_t)n);
      p.c = c[1];
      p.column_sums = sums[1];
      level[l]->product(&p);
      assert_memory_equal(c[1], c[0], sizeof(float) * (size_t)(m * c_row));
      assert_memory_equal(sums[1], sums[0], sizeof(float) * (size_t)n);
    }
    free(a), free(b), free(bias), free(c[0]), free(c[1]), free(sums[0]), free(sums[1]);
  }
}

static void packing_of_the_transpose_is_packing_transposed(void **state) {
  (void)state;
  LEVELS(sr__product_kernel)
  sr__random random = stream(3);
  for (int trial = 0; trial < 60; trial++) {
    int64_t n = 1 + (int64_t)sr__random_below(&random, 40), row = 45;
    int64_t k = 1 + (int64_t)sr__random_below(&random, 40);
    float b[40 * 45], turned[40 * 45] = {0}, one[40 * 40], two[40 * 40];
    fill(&random, b, 40 * 45);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < k; j++) turned[j * row + i] = b[i * row + j];
    for (int l = 0; l < levels(); l++) {
      level[l]->pack(k, n, turned, row, one);
      level[l]->pack_transposed(k, n, b, row, two);
      assert_memory_equal(one, two, sizeof(float) * (size_t)sr__nn_packed_size(k, n));
    }
  }
}

/* loss = sum of g y; the derivative of each argument in double. */
static void linear_layer_has_the_gradients_of_its_definition(void **state) {
  (void)state;
  enum { ROWS = 7, IN = 13, OUT = 21 };
  sr__random random = stream(4);
  float w[IN * OUT], bias[OUT], x[ROWS * IN], g[ROWS * OUT], y[ROWS * OUT], dx[ROWS * IN];
  float dw[IN * OUT] = {0}, db[OUT] = {0};
  float *space = malloc(sizeof(float) * (size_t)sr__linear_packed_size(IN, OUT));
  fill(&random, w, IN * OUT), fill(&random, bias, OUT), fill(&random, x, ROWS * IN);
  fill(&random, g, ROWS * OUT);
  sr__linear layer;
  sr__linear_init(&layer, IN, OUT, w, bias, space);
  sr__linear_pack(&layer);
  sr__linear_forward(&layer, ROWS, x, IN, y, OUT, false);
  sr__linear_backward_weight(&layer, ROWS, x, IN, g, OUT, dw, db);
  sr__linear_backward_input(&layer, ROWS, g, OUT, dx, IN, false);
  for (int r = 0; r < ROWS; r++) {
    for (int o = 0; o < OUT; o++) {
      double sum = (double)bias[o];
      for (int i = 0; i < IN; i++) sum += (double)x[r * IN + i] * (double)w[i * OUT + o];
      assert_close((double)y[r * OUT + o], sum, 2e-6);
    }
    for (int i = 0; i < IN; i++) {
      double sum = 0;
      for (int o = 0; o < OUT; o++) sum += (double)g[r * OUT + o] * (double)w[i * OUT + o];
      assert_close((double)dx[r * IN + i], sum, 3e-6);
    }
  }
  for (int o = 0; o < OUT; o++) {
    double total = 0;
    for (int r = 0; r < ROWS; r++) total += (double)g[r * OUT + o];
    assert_close((double)db[o], total, 2e-6);
    for (int i = 0; i < IN; i++) {
      double sum = 0;
      for (int r = 0; r < ROWS; r++) sum += (double)x[r * IN + i] * (double)g[r * OUT + o];
      assert_close((double)dw[i * OUT + o], sum, 2e-6);
    }
  }
  free(space);
}

/* ---- pointwise ---------------------------------------------------------------------------- */

static double slow_gelu(double x) { return x * 0.5 * erfc(-x * M_SQRT1_2); }
static double slow_silu(double x) { return x / (1 + exp(-x)); }
static double slow_softplus(double x) { return x > 30 ? x : log1p(exp(x)); }

static void functions_and_slopes_are_close_to_double(void **state) {
  (void)state;
  LEVELS(sr__pointwise_kernel)
  for (int l = 0; l < levels(); l++) {
    const sr__pointwise_kernel *k = level[l];
    const struct {
      void (*fast)(int64_t, const float *, float *, float *);
      double (*slow)(double);
      double error; /* relative to max(1, |f|), of value and slope */
    } of[] = {{k->gelu, slow_gelu, 1e-6},
              {k->silu, slow_silu, 1e-6},
              {k->softplus, slow_softplus, 2e-6}};
    for (int f = 0; f < 3; f++)
      for (double at = -20; at < 20; at += 0.01) {
        float x[11], y[11], slope[11];
        for (int i = 0; i < 11; i++) x[i] = (float)(at + 0.0009 * i + 1e-5);
        of[f].fast(11, x, y, slope);
        for (int i = 0; i < 11; i++) {
          double value = (double)x[i], h = 1e-5;
          double central = (of[f].slow(value + h) - of[f].slow(value - h)) / (2 * h);
          assert_close((double)y[i], of[f].slow(value), of[f].error);
          assert_close((double)slope[i], central, of[f].error + 1e-9);
        }
      }
    /* Softplus is relative also where it is small. */
    float small[8] = {-5, -10, -15, -20, -25, -30, -40, -60}, y[8], slope[8];
    k->softplus(8, small, y, slope);
    for (int i = 0; i < 8; i++)
      assert_close((double)y[i] / log1p(exp((double)small[i])), 1.0, 5e-6);
  }
}

static void pointwise_levels_agree(void **state) {
  (void)state;
  LEVELS(sr__pointwise_kernel)
  enum { COUNT = 1003 };
  static float x[COUNT], y[2][COUNT], slope[2][COUNT];
  sr__random random = stream(5);
  fill(&random, x, COUNT);
  for (int i = 0; i < COUNT; i += 7) x[i] *= 30;
  x[3] = 0, x[4] = -0.0f, x[5] = 500, x[6] = -500;
  for (int l = 1; l < levels(); l++)
    for (int f = 0; f < 4; f++) {
      for (int side = 0; side < 2; side++) {
        const sr__pointwise_kernel *k = level[side ? l : 0];
        if (f == 0) k->gelu(COUNT, x, y[side], slope[side]);
        if (f == 1) k->silu(COUNT, x, y[side], slope[side]);
        if (f == 2) k->softplus(COUNT, x, y[side], slope[side]);
        if (f == 3) k->dropout(COUNT, x, x, y[side], 0.3f, 11);
      }
      assert_memory_equal(y[0], y[1], sizeof y[0]);
      assert_memory_equal(slope[0], slope[1], sizeof slope[0]);
    }
}

static void dropout_keeps_a_share_and_the_same_one_again(void **state) {
  (void)state;
  enum { COUNT = 100003 };
  float *x = malloc(sizeof(float) * COUNT), *y = malloc(sizeof(float) * COUNT);
  float *again = malloc(sizeof(float) * COUNT);
  for (int i = 0; i < COUNT; i++) x[i] = 3;
  sr__nn_dropout(COUNT, x, NULL, y, 0.25f, 5);
  sr__nn_dropout(COUNT, x, x, again, 0.25f, 5);
  int dropped = 0;
  for (int i = 0; i < COUNT; i++) {
    assert_true(y[i] == 0 || y[i] == 4);
    assert_true(again[i] == y[i] + 3);
    dropped += y[i] == 0;
  }
  assert_close((double)dropped / COUNT, 0.25, 0.005); /* four standard errors */
  sr__nn_dropout(COUNT, x, NULL, again, 0.25f, 6 + 1000003);
  int differ = 0;
  for (int i = 0; i < COUNT; i++) differ += again[i] != y[i];
  assert_close((double)differ / COUNT, 2 * 0.25 * 0.75, 0.01);
  sr__nn_dropout(COUNT, x, NULL, again, 0, 5);
  assert_memory_equal(x, again, sizeof(float) * COUNT);
  free(x), free(y), free(again);
}

static void cross_entropy_is_the_logarithm_of_the_softmax(void **state) {
  (void)state;
  sr__random random = stream(6);
  for (int trial = 0; trial < 100; trial++) {
    int classes = 2 + (int)sr__random_below(&random, 12);
    int32_t label = (int32_t)sr__random_below(&random, (uint64_t)classes);
    float z[16], p[16], dz[16];
    fill(&random, z, classes);
    for (int c = 0; c < classes; c++) z[c] *= trial % 10 == 0 ? 30 : 2;
    double sum = 0, loss = sr__nn_cross_entropy(classes, z, label, 0.5f, dz);
    for (int c = 0; c < classes; c++) sum += exp((double)z[c]);
    assert_close(loss, log(sum) - (double)z[label], 1e-6);
    sr__nn_softmax(classes, z, p);
    for (int c = 0; c < classes; c++) {
      assert_close((double)p[c], exp((double)z[c]) / sum, 1e-6);
      assert_close((double)dz[c], 0.5 * (exp((double)z[c]) / sum - (c == label)), 1e-6);
    }
  }
}

/* ---- optimizers --------------------------------------------------------------------------- */

static void adam_follows_its_recurrence(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr__random random = stream(7);
  sr__parameters p = {0};
  enum { FIRST = 35, SECOND = 13, ALL = FIRST + SECOND };
  int matrix = sr__parameters_add(&p, "matrix", 5, 7, true);
  int bias = sr__parameters_add(&p, "bias", 1, SECOND, false);
  assert_ok(ctx, sr__parameters_allocate(ctx, &p, true));
  fill(&random, sr__parameters_value(&p, matrix), FIRST);
  fill(&random, sr__parameters_value(&p, bias), SECOND);
  double value[ALL], m[ALL] = {0}, v[ALL] = {0};
  for (int i = 0; i < ALL; i++)
    value[i] = (double)(i < FIRST ? sr__parameters_value(&p, matrix)[i]
                                  : sr__parameters_value(&p, bias)[i - FIRST]);
  sr__adam adam = {
      .rate = 0.01f, .beta1 = 0.9f, .beta2 = 0.99f, .epsilon = 1e-8f, .decay = 0.05f, .clip = 1};
  for (int step = 1; step <= 30; step++) {
    double g[ALL], norm = 0;
    sr__parameters_clear_gradient(&p);
    for (int i = 0; i < ALL; i++) {
      float *to = i < FIRST ? sr__parameters_gradient(&p, matrix) + i
                            : sr__parameters_gradient(&p, bias) + i - FIRST;
      *to = (float)sr__random_normal(&random) * (step % 2 ? 0.01f : 2.0f);
      g[i] = (double)*to;
      norm += g[i] * g[i];
    }
    norm = sqrt(norm);
    assert_close(sr__parameters_gradient_norm(&p), norm, 1e-6);
    sr__adam_step(&adam, &p);
    for (int i = 0; i < ALL; i++) {
      double x = norm > 1 ? g[i] / norm : g[i];
      m[i] = 0.9 * m[i] + 0.1 * x;
      v[i] = 0.99 * v[i] + 0.01 * x * x;
      if (i < FIRST) value[i] *= 1 - 0.01 * 0.05;
      value[i] -= 0.01 * m[i] / (1 - pow(0.9, step)) / (sqrt(v[i] / (1 - pow(0.99, step))) + 1e-8);
      assert_close((double)(i < FIRST ? sr__parameters_value(&p, matrix)[i]
                                      : sr__parameters_value(&p, bias)[i - FIRST]),
                   value[i], 2e-6 * step);
    }
  }
  sr__parameters_free(&p);
  sr_context_free(&ctx);
}

static sr__adam_update adam_update(float gradient_factor) {
  return (sr__adam_update){.gradient_factor = gradient_factor,
                           .beta1 = 0.9f,
                           .beta2 = 0.99f,
                           .epsilon = 1e-8f,
                           .shrink = 0.999f,
                           .step = 0.01f,
                           .second_factor = 3};
}

static void adam_levels_agree(void **state) {
  (void)state;
  LEVELS(sr__adam_kernel)
  enum { COUNT = 5003 };
  static float g[COUNT], start[COUNT], x[2][3][COUNT];
  sr__random random = stream(8);
  fill(&random, g, COUNT), fill(&random, start, COUNT);
  sr__adam_update how = adam_update(0.7f);
  for (int l = 0; l < levels(); l++) {
    float(*to)[COUNT] = x[l > 0];
    for (int i = 0; i < COUNT; i++) to[0][i] = start[i], to[1][i] = g[i] * g[i], to[2][i] = 1;
    level[l]->update(COUNT, &(sr__adam_tensor){how, to[0], to[1], to[2]}, g);
    if (l > 0) assert_memory_equal(x[0], x[1], sizeof x[0]);
    double a = level[0]->sum_of_squares(COUNT, g), b = level[l]->sum_of_squares(COUNT, g);
    assert_memory_equal(&a, &b, sizeof a);
  }
}

/* A product whose result is a gradient, and the step by it, at once and one after the other. */
static void a_product_may_step_at_once(void **state) {
  (void)state;
  LEVELS(sr__sparse_kernel)
  enum { ROWS = 21, COLUMNS = 3 * SR__SPARSE_COLUMNS, COUNT = ROWS * COLUMNS };
  enum { INNER = SR__SPARSE_UPDATE_INNER };
  static float a[INNER * ROWS], b[INNER * COLUMNS], gradient[COUNT], x[2][3][COUNT];
  static float sums[2][COLUMNS];
  sr__random random = stream(9);
  fill(&random, a, INNER * ROWS), fill(&random, b, INNER * COLUMNS);
  for (int i = 0; i < INNER * ROWS; i++) a[i] = a[i] > 0 ? a[i] : 0;
  sr__adam_update how = adam_update(1);
  for (int l = 0; l < levels(); l++)
    for (int64_t inner = 1; inner <= INNER; inner += 31) {
      sr__sparse_product p = {.rows = ROWS,
                              .columns = COLUMNS,
                              .inner = inner,
                              .a = a,
                              .a_row = 1,
                              .a_inner = ROWS,
                              .b = b,
                              .b_row = COLUMNS,
                              .b_column = 1,
                              .c = gradient,
                              .c_row = COLUMNS,
                              .column_sums = sums[0]};
      memset(sums, 0, sizeof sums);
      for (int k = 0; k < 2; k++)
        for (int i = 0; i < COUNT; i++) x[k][0][i] = 1, x[k][1][i] = 2, x[k][2][i] = 3;
      slow_sparse_product(&p);
      sr__adam_kernel_base.update(COUNT, &(sr__adam_tensor){how, x[0][0], x[0][1], x[0][2]},
                                  gradient);
      p.c = NULL;
      p.column_sums = sums[1];
      p.update = &(sr__adam_tensor){how, x[1][0], x[1][1], x[1][2]};
      level[l]->product(&p);
      assert_memory_equal(x[0], x[1], sizeof x[0]);
      assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
    }
}

static void the_rate_warms_up_and_falls_as_a_cosine(void **state) {
  (void)state;
  for (int64_t i = 0; i < 600; i++) {
    double rise = fmin(1, (double)(i + 1) / 60), past = fmax(0, (double)i - 60) / 540;
    assert_close(sr__nn_warm_up_cosine(i, 600, 0.1), rise * 0.5 * (1 + cos(M_PI * past)), 1e-12);
  }
  assert_close(sr__nn_warm_up_cosine(0, 5, 0), 1, 1e-12);
}

static sr_status allocate_all(sr_context *ctx, void *data) {
  (void)data;
  sr_status status = SR_OK;
  sr__parameters p = {0};
  sr__floats floats = {0};
  sr__parameters_add(&p, "one", 3, 5, true);
  SR_TRY(sr__parameters_allocate(ctx, &p, true));
  sr__floats_take(&floats, 7);
  sr__floats_take(&floats, 9);
  SR_TRY(sr__floats_allocate(ctx, &floats));
  float *first = sr__floats_take(&floats, 7), *second = sr__floats_take(&floats, 9);
  assert_true(second - first == 16 && (uintptr_t)first % 64 == 0);
cleanup:
  sr__parameters_free(&p);
  sr__floats_free(&floats);
  return status;
}

static void memory_runs_out_cleanly(void **state) {
  (void)state;
  test_every_allocation(allocate_all, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fused_sums_round_once_at_every_level),
      cmocka_unit_test(infinite_sums_stay_infinite),
      cmocka_unit_test(product_is_its_definition_to_the_bit),
      cmocka_unit_test(sparse_product_is_its_definition_to_the_bit),
      cmocka_unit_test(packing_of_the_transpose_is_packing_transposed),
      cmocka_unit_test(linear_layer_has_the_gradients_of_its_definition),
      cmocka_unit_test(functions_and_slopes_are_close_to_double),
      cmocka_unit_test(pointwise_levels_agree),
      cmocka_unit_test(dropout_keeps_a_share_and_the_same_one_again),
      cmocka_unit_test(cross_entropy_is_the_logarithm_of_the_softmax),
      cmocka_unit_test(adam_follows_its_recurrence),
      cmocka_unit_test(adam_levels_agree),
      cmocka_unit_test(a_product_may_step_at_once),
      cmocka_unit_test(the_rate_warms_up_and_falls_as_a_cosine),
      cmocka_unit_test(memory_runs_out_cleanly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
