/* MiniRocket's features against a scalar loop with the same order of additions, bit by bit. */
#include "learner/minirocket/minirocket_kernel.h"
#include "series_kit.h"

static sr__minirocket *fit(sr_context *ctx, const sr__series_rows *rows, int64_t length,
                           int64_t features, bool whole, uint64_t seed) {
  sr__minirocket *mini = NULL;
  sr__minirocket_options options = {.features = features, .dilations = 32, .whole = whole};
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_LEARNER, 0, 0);
  assert_ok(ctx, sr__minirocket_fit(ctx, (sr__mini_sample){rows, {NULL, rows->rows}, length},
                                    &options, &random, &mini));
  return mini;
}

static int tap_of[SR__MINI_FILTERS][3];
static int list_taps(void **state) {
  (void)state;
  int k = 0;
  for (int a = 0; a < 9; a++)
    for (int b = a + 1; b < 9; b++)
      for (int c = b + 1; c < 9; c++, k++) {
        tap_of[k][0] = a;
        tap_of[k][1] = b;
        tap_of[k][2] = c;
      }
  return k - SR__MINI_FILTERS;
}

/* The series that filter k reads at dilation number d, scaled to whole numbers where `scale` > 0;
 * 0 outside. */
static float value_at(const sr__minirocket *m, const sr__series_rows *rows, int64_t row, int32_t d,
                      int32_t k, int64_t t, float scale) {
  int32_t length = sr__series_length(rows, row);
  const int32_t *begin = m->channel_begin + d * SR__MINI_FILTERS + k;
  float sum = 0.0f;
  if (t < 0 || t >= length) return 0.0f;
  for (int32_t c = begin[0]; c < begin[1]; c++) {
    float x = rows->values[rows->begin[row] + (int64_t)m->channel[c] * length + t];
    if (scale > 0.0f) x = rintf(x * scale);
    sum = c == begin[0] ? x : sum + x;
  }
  return sum;
}

static float response_at(const sr__minirocket *m, const sr__series_rows *rows, int64_t row,
                         int32_t d, int32_t k, int64_t t, float scale) {
  static const int order[] = {4, 0, 1, 2, 3, 5, 6, 7, 8};
  float sum = 0.0f;
  for (int i = 0; i < 9; i++) {
    float x = value_at(m, rows, row, d, k, t + (order[i] - 4) * (int64_t)m->dilation[d], scale);
    sum = i == 0 ? -x : sum - x;
  }
  for (int i = 0; i < 3; i++) {
    float x = value_at(m, rows, row, d, k, t + (tap_of[k][i] - 4) * (int64_t)m->dilation[d], scale);
    sum += x + x + x;
  }
  return sum;
}

/* Shares of one filter for all its biases. */
static void slow_shares(const sr__minirocket *m, const sr__series_rows *rows, int64_t row,
                        int32_t d, int32_t k, float *share) {
  int64_t length = sr__series_length(rows, row), skip = (d + k) % 2 ? 4 * m->dilation[d] : 0;
  if (length < 9) length = 9;
  int64_t outputs = length - 2 * skip < 1 ? 1 : length - 2 * skip;
  float peak = sr__series_peak(rows, row), scale = 0.0f;
  if (m->whole) scale = peak > 1e-30f ? 2720.0f / peak : 1.0f;
  if (scale * m->most_bias > 1e9f) scale = 1e9f / m->most_bias;
  for (int32_t b = 0; b < m->biases[d]; b++) share[b] = 0.0f;
  for (int64_t t = skip; t < skip + outputs; t++) {
    float response = response_at(m, rows, row, d, k, t, scale);
    for (int32_t b = 0; b < m->biases[d]; b++) {
      float bias = m->bias[m->first[d] + k * m->biases[d] + b];
      share[b] += m->whole ? response > floorf(bias * scale) : response > bias;
    }
  }
  for (int32_t b = 0; b < m->biases[d]; b++) share[b] = share[b] / (float)outputs;
}

static const sr__minirocket_kernel *level_table(int level) {
#if defined(__x86_64__)
  const sr__minirocket_kernel *table[] = {&sr__minirocket_kernel_base, &sr__minirocket_kernel_v3,
                                          &sr__minirocket_kernel_v4};
  return table[level];
#else
  (void)level;
  return &sr__minirocket_kernel_base;
#endif
}

/* Every level on single rows, through the kernel itself. */
static void check_levels(sr_context *ctx, const sr__minirocket *m, const sr__series_rows *rows,
                         const float *expected) {
  int64_t features = sr__minirocket_features(m), reach = 4 * m->dilation[m->dilations - 1];
  int64_t steps = rows->longest > 2 * reach + 1 ? rows->longest : 2 * reach + 1;
  int64_t size = (steps + 2 * reach) + 128;
  float *one = malloc((size_t)features * sizeof *one);
  for (int level = 0; level < test_levels(); level++)
    for (int64_t r = 0; r < rows->rows; r++) {
      float *memory = calloc((size_t)(4 * size), sizeof *memory);
      size_t element = m->whole ? 2 : 4;
      char *at = (char *)memory;
      sr__mini_work work = {.x = at + (size_t)reach * element,
                            .triple = at + (size_t)(size + reach) * element,
                            .base = at + (size_t)(2 * size) * element,
                            .pair = at + (size_t)(3 * size) * element,
                            .steps = steps};
      int32_t length = sr__series_length(rows, r);
      sr__mini_input input = {.x = {rows->values + rows->begin[r]},
                              .channel_stride = {length},
                              .steps = {length},
                              .step = 1};
      for (int i = 0; i < SR__MINI_LANES; i++) {
        input.length[i] = length;
        input.peak[i] = sr__series_peak(rows, r);
      }
      for (int32_t d = 0; d < m->dilations; d++)
        (m->whole ? level_table(level)->transform_whole
                  : level_table(level)->transform)(m, &input,
                                                   (sr__mini_filters){d, 0, SR__MINI_FILTERS},
                                                   &work, one + m->first[d], 1);
      assert_memory_equal(one, expected + r * features, (size_t)features * sizeof *one);
      free(memory);
    }
  free(one);
  (void)ctx;
}

static void check_case(int64_t rows, int32_t channels, int64_t shortest, int64_t longest,
                       int64_t length, int64_t wanted, bool whole) {
  sr_context *ctx = test_context(1);
  test_series s = test_series_new(rows, channels, shortest, longest, 0, (uint64_t)longest + 1);
  sr__series_rows *prepared = test_prepare(ctx, &s.view, false);
  sr__series_blocks *blocks = NULL;
  sr__minirocket *m = fit(ctx, prepared, length, wanted, whole, 4);
  if (rows > 2) { /* one that is tiny and one that is zero */
    for (int64_t t = prepared->begin[1]; t < prepared->begin[2]; t++) prepared->values[t] *= 1e-9f;
    for (int64_t t = prepared->begin[2]; t < prepared->begin[3]; t++) prepared->values[t] = 0.0f;
  }
  assert_ok(ctx, sr__series_blocks_new(ctx, prepared, NULL, rows, &blocks));
  int64_t features = sr__minirocket_features(m), stride = blocks->blocks * SR__SERIES_LANES;
  float *expected = malloc((size_t)(features * rows) * sizeof *expected);
  float *out = malloc((size_t)(features * stride) * sizeof *out);
  float *one = malloc((size_t)features * sizeof *one);
  assert_int_equal(features, wanted / 84 * 84);
  for (int64_t r = 0; r < rows; r++)
    for (int32_t d = 0; d < m->dilations; d++)
      for (int32_t k = 0; k < SR__MINI_FILTERS; k++)
        slow_shares(m, prepared, r, d, k, expected + r * features + m->first[d] + k * m->biases[d]);
  for (int32_t d = 0; d < m->dilations; d++) /* in two pieces of the filters */
    for (int32_t first = 0; first < SR__MINI_FILTERS; first += 50) {
      int32_t filters = first == 0 ? 50 : SR__MINI_FILTERS - 50;
      float *to = out + (m->first[d] + (int64_t)first * m->biases[d]) * stride;
      sr__made_blocks all_blocks = {blocks, 0, blocks->blocks, to, stride};
      assert_ok(ctx, sr__minirocket_transform(ctx, m, (sr__mini_filters){d, first, filters},
                                              all_blocks));
    }
  for (int64_t f = 0; f < features; f++)
    for (int64_t i = 0; i < rows; i++)
      assert_memory_equal(&out[f * stride + i], &expected[blocks->order[i] * features + f],
                          sizeof *out);
  for (int64_t r = 0; r < rows; r++) {
    assert_ok(ctx, sr__minirocket_transform_one(ctx, m, prepared, r, one));
    assert_memory_equal(one, expected + r * features, (size_t)features * sizeof *one);
  }
  check_levels(ctx, m, prepared, expected);
  free(expected);
  free(out);
  free(one);
  sr__series_blocks_free(blocks);
  sr__series_rows_free(prepared);
  sr__minirocket_free(m);
  test_series_free(&s);
  sr_context_free(&ctx);
}

static void test_floats(void **state) {
  (void)state;
  check_case(11, 1, 24, 24, 24, 840, false);
  check_case(9, 1, 153, 153, 153, 84 * 7, false);
  check_case(3, 1, 400, 400, 400, 84 * 30, false);
  check_case(17, 1, 1, 100, 100, 500, false);
  for (int64_t length = 1; length <= 11; length++)
    check_case(9, 1, length, length, length, 84, false);
  check_case(5, 1, 1, 4, 300, 900, false); /* far shorter than the filters */
  check_case(10, 2, 40, 40, 40, 84 * 9, false);
  check_case(10, 12, 5, 40, 40, 84 * 9, false);
}

static void test_whole_numbers(void **state) {
  (void)state;
  check_case(11, 1, 24, 24, 24, 840, true);
  check_case(17, 1, 153, 153, 153, 84 * 7, true);
  check_case(33, 1, 1, 100, 100, 500, true);
  for (int64_t length = 1; length <= 11; length++)
    check_case(9, 1, length, length, length, 84, true);
  check_case(18, 12, 5, 40, 40, 84 * 9, true);
}

/* A count of 16 bits must not run over. */
static void test_long_series(void **state) {
  (void)state;
  check_case(1, 1, 70000, 70000, 70000, 84, true);
}

/* Whole numbers change the shares by little. */
static void test_whole_against_floats(void **state) {
  (void)state;
  enum { ROWS = 40, LENGTH = 300, FEATURES = 84 * 20 };
  sr_context *ctx = test_context(1);
  test_series s = test_series_new(ROWS, 1, LENGTH, LENGTH, 0, 77);
  sr__series_rows *rows = test_prepare(ctx, &s.view, false);
  sr__minirocket *floats = fit(ctx, rows, LENGTH, FEATURES, false, 6);
  sr__minirocket *whole = fit(ctx, rows, LENGTH, FEATURES, true, 6);
  float a[FEATURES], b[FEATURES];
  double difference = 0.0;
  for (int64_t r = 0; r < ROWS; r++) {
    assert_ok(ctx, sr__minirocket_transform_one(ctx, floats, rows, r, a));
    assert_ok(ctx, sr__minirocket_transform_one(ctx, whole, rows, r, b));
    for (int f = 0; f < FEATURES; f++) difference += fabs((double)a[f] - (double)b[f]);
  }
  difference /= ROWS * FEATURES;
  assert_true(difference < 1e-3 && difference > 0.0);
  sr__minirocket_free(floats);
  sr__minirocket_free(whole);
  sr__series_rows_free(rows);
  test_series_free(&s);
  sr_context_free(&ctx);
}

/* Dilations and biases of the published recipe: 10,000 features at length 500, as printed by
 *   import numpy as np
 *   from aeon.transformations.collection.convolution_based import MiniRocket
 *   print(MiniRocket().fit(np.random.rand(3, 1, 500)).parameters[2:4])
 * (aeon 1.6.0). */
static void test_dilations(void **state) {
  (void)state;
  static const int32_t dilation[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 14,
                                     16, 18, 21, 24, 28, 32, 36, 41, 47, 54, 62};
  static const int32_t biases[] = {23, 12, 8, 8, 4, 4, 4, 4, 4, 4, 4, 4,
                                   4,  4,  4, 3, 3, 3, 3, 3, 3, 3, 3};
  sr_context *ctx = test_context(1);
  test_series s = test_series_new(3, 1, 500, 500, 0, 1);
  sr__series_rows *rows = test_prepare(ctx, &s.view, false);
  sr__minirocket *m = fit(ctx, rows, 500, 10000, false, 1);
  assert_int_equal(sr__minirocket_features(m), 9996);
  assert_int_equal(m->dilations, (int)(sizeof dilation / sizeof *dilation));
  assert_memory_equal(m->dilation, dilation, sizeof dilation);
  assert_memory_equal(m->biases, biases, sizeof biases);
  sr__minirocket_free(m);
  sr__series_rows_free(rows);
  test_series_free(&s);
  sr_context_free(&ctx);
}

/* With one training series a bias is the quantile of its own response: the share above it is one
 * minus the probability, to within an output or two. */
static void test_quantiles(void **state) {
  (void)state;
  enum { LENGTH = 1000, FEATURES = 84 * 12 };
  sr_context *ctx = test_context(1);
  test_series s = test_series_new(1, 1, LENGTH, LENGTH, 0, 3);
  sr__series_rows *rows = test_prepare(ctx, &s.view, false);
  sr__minirocket *m = fit(ctx, rows, LENGTH, FEATURES, false, 2);
  float share[FEATURES];
  assert_ok(ctx, sr__minirocket_transform_one(ctx, m, rows, 0, share));
  for (int32_t d = 0; d < m->dilations; d++)
    for (int32_t k = 0; k < SR__MINI_FILTERS; k++)
      for (int32_t b = 0; b < m->biases[d]; b++) {
        int32_t f = m->first[d] + k * m->biases[d] + b;
        double golden = (1.0 + sqrt(5.0)) / 2.0 * (f + 1);
        if ((d + k) % 2 == 0) assert_close(share[f], 1.0 - (golden - floor(golden)), 2.0 / LENGTH);
      }
  sr__minirocket_free(m);
  sr__series_rows_free(rows);
  test_series_free(&s);
  sr_context_free(&ctx);
}

/* The response to a single 1: 2 at the three taps, -1 at the six others, 0 elsewhere. */
static void test_impulse(void **state) {
  (void)state;
  enum { LENGTH = 64, AT = 30 };
  sr_context *ctx = test_context(1);
  float values[LENGTH] = {0}, share[SR__MINI_FILTERS];
  int64_t offset[] = {0, LENGTH};
  sr__series_view view = {values, offset, 1, 1};
  values[AT] = 1.0f;
  sr__series_rows *rows = test_prepare(ctx, &view, false);
  sr__minirocket_options options = {.features = 84, .dilations = 1};
  sr__minirocket *m = NULL;
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_LEARNER, 0, 0);
  assert_ok(ctx, sr__minirocket_fit(ctx, (sr__mini_sample){rows, {NULL, 1}, LENGTH}, &options,
                                    &random, &m));
  assert_int_equal(m->dilation[0], 1);
  const float limit[] = {-1.5f, -0.5f, 0.5f, 1.5f, 2.5f};
  for (int i = 0; i < 5; i++) {
    for (int k = 0; k < SR__MINI_FILTERS; k++) m->bias[k] = limit[i];
    assert_ok(ctx, sr__minirocket_transform_one(ctx, m, rows, 0, share));
    for (int k = 0; k < SR__MINI_FILTERS; k++) {
      int outputs = k % 2 ? LENGTH - 8 : LENGTH;
      int above[] = {outputs, outputs - 6, 3, 3, 0};
      assert_true(share[k] == (float)above[i] / (float)outputs);
    }
  }
  sr__minirocket_free(m);
  sr__series_rows_free(rows);
  sr_context_free(&ctx);
}

static void test_store(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  test_series s = test_series_new(4, 3, 30, 60, 0, 12);
  sr__series_rows *rows = test_prepare(ctx, &s.view, false);
  sr__minirocket *m = fit(ctx, rows, 60, 84 * 3, true, 5), *loaded = NULL;
  sr__bytes bytes = {.ctx = ctx}, again = {.ctx = ctx};
  sr__minirocket_save(m, &bytes);
  sr__byte_reader reader = {.ctx = ctx, .data = bytes.data, .size = bytes.size, .what = "x"};
  assert_ok(ctx, sr__minirocket_load(&reader, &loaded));
  sr__minirocket_save(loaded, &again);
  assert_int_equal(again.size, bytes.size);
  assert_memory_equal(again.data, bytes.data, (size_t)bytes.size);
  sr__minirocket_free(loaded);
  for (int64_t size = 0; size < bytes.size; size += 1 + size / 50) {
    sr__byte_reader cut = {.ctx = ctx, .data = bytes.data, .size = size, .what = "x"};
    assert_int_equal(sr__minirocket_load(&cut, &loaded), SR_ERROR_FORMAT);
    assert_null(loaded);
  }
  for (int64_t i = 0; i < bytes.size; i += i < 60 ? 1 : 7) {
    uint8_t kept = bytes.data[i];
    bytes.data[i] ^= (uint8_t)(1 << (i % 8));
    sr__byte_reader damaged = {.ctx = ctx, .data = bytes.data, .size = bytes.size, .what = "x"};
    if (sr__minirocket_load(&damaged, &loaded) == SR_OK && loaded->channels == 3) {
      float *out = malloc((size_t)sr__minirocket_features(loaded) * sizeof *out);
      assert_ok(ctx, sr__minirocket_transform_one(ctx, loaded, rows, i % 4, out));
      free(out);
    }
    sr__minirocket_free(loaded);
    bytes.data[i] = kept;
  }
  sr__bytes_free(&bytes);
  sr__bytes_free(&again);
  sr__minirocket_free(m);
  sr__series_rows_free(rows);
  test_series_free(&s);
  sr_context_free(&ctx);
}

static sr_status fit_and_transform(sr_context *ctx, void *data) {
  const test_series *s = data;
  sr_status status = SR_OK;
  sr__series_rows *rows = NULL;
  sr__series_blocks *blocks = NULL;
  sr__minirocket *m = NULL;
  float out[84 * 16], one[84];
  sr__minirocket_options options = {.features = 84, .dilations = 1, .whole = true};
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_LEARNER, 0, 0);
  SR_TRY(sr__series_prepare(ctx, &s->view, 0, s->view.rows, true, &rows));
  SR_TRY(sr__series_blocks_new(ctx, rows, NULL, rows->rows, &blocks));
  SR_TRY(sr__minirocket_fit(ctx, (sr__mini_sample){rows, {NULL, rows->rows}, 40}, &options, &random,
                            &m));
  SR_TRY(sr__minirocket_transform(ctx, m, (sr__mini_filters){0, 0, 84},
                                  (sr__made_blocks){blocks, 0, blocks->blocks, out, 16}));
  SR_TRY(sr__minirocket_transform_one(ctx, m, rows, 0, one));
cleanup:
  sr__minirocket_free(m);
  sr__series_blocks_free(blocks);
  sr__series_rows_free(rows);
  return status;
}

static void test_allocations(void **state) {
  (void)state;
  test_series s = test_series_new(10, 3, 9, 40, 0, 8);
  test_every_allocation(fit_and_transform, &s);
  test_series_free(&s);
}

static void test_refusals(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  test_series s = test_series_new(1, 1, 20, 20, 0, 8);
  sr__series_rows *rows = test_prepare(ctx, &s.view, false);
  sr__minirocket *m = NULL;
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_LEARNER, 0, 0);
  sr__minirocket_options few = {.features = 83, .dilations = 32};
  sr__minirocket_options none = {.features = 84, .dilations = 0};
  assert_int_equal(sr__minirocket_fit(ctx, (sr__mini_sample){rows, {NULL, 1}, 20}, &few, &random,
                                      &m),
                   SR_ERROR_ARGUMENT);
  assert_int_equal(sr__minirocket_fit(ctx, (sr__mini_sample){rows, {NULL, 1}, 20}, &none, &random,
                                      &m),
                   SR_ERROR_ARGUMENT);
  assert_null(m);
  sr__series_rows_free(rows);
  test_series_free(&s);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_floats),      cmocka_unit_test(test_whole_numbers),
      cmocka_unit_test(test_long_series), cmocka_unit_test(test_whole_against_floats),
      cmocka_unit_test(test_dilations),   cmocka_unit_test(test_quantiles),
      cmocka_unit_test(test_impulse),     cmocka_unit_test(test_store),
      cmocka_unit_test(test_allocations), cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, list_taps, NULL);
}
