/* ROCKET's features against a scalar loop with the same order of fused sums, bit by bit. */
#include "learner/rocket/rocket_kernel.h"
#include "series_kit.h"

static sr__rocket *draw(sr_context *ctx, int64_t filters, int64_t length, int32_t channels,
                        uint64_t seed) {
  sr__rocket *rocket = NULL;
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_LEARNER, 0, 0);
  assert_ok(ctx, sr__rocket_draw(ctx, filters, length, channels, &random, &rocket));
  return rocket;
}

/* The definition: branches at the borders, one sum at a time. */
static void slow_features(const sr__rocket *r, const sr__series_rows *rows, int64_t row, int32_t k,
                          float *share, float *largest) {
  int32_t length = sr__series_length(rows, row), taps = r->taps[k], dilation = r->dilation[k];
  int64_t outputs = length + 2 * (int64_t)r->padding[k] - (int64_t)(taps - 1) * dilation, count = 0;
  if (outputs < 1) outputs = 1;
  *largest = -INFINITY;
  for (int64_t o = 0; o < outputs; o++) {
    float sum = r->bias[k];
    const float *weight = r->weight + r->weight_begin[k];
    for (int32_t c = r->channel_begin[k]; c < r->channel_begin[k + 1]; c++)
      for (int32_t j = 0; j < taps; j++, weight++) {
        int64_t t = o - r->padding[k] + (int64_t)j * dilation;
        const float *x = rows->values + rows->begin[row] + (int64_t)r->channel[c] * length;
        if (t >= 0 && t < length) sum = fmaf(*weight, x[t], sum);
      }
    count += sum > 0.0f;
    if (sum > *largest) *largest = sum;
  }
  *share = (float)count / (float)outputs;
}

static const sr__rocket_kernel *level_table(int level) {
#if defined(__x86_64__)
  const sr__rocket_kernel *table[] = {&sr__rocket_kernel_base, &sr__rocket_kernel_v3,
                                      &sr__rocket_kernel_v4};
  return table[level];
#else
  (void)level;
  return &sr__rocket_kernel_base;
#endif
}

static bool same_bits(float a, float b) { return memcmp(&a, &b, sizeof a) == 0; }

/* Every level, blocks and single rows, against the slow reference. */
static void check_case(int64_t filters, int64_t rows, int32_t channels, int64_t shortest,
                       int64_t longest, int64_t drawn_for, int spread, bool normalize) {
  sr_context *ctx = test_context(1);
  test_series s = test_series_new(rows, channels, shortest, longest, spread, (uint64_t)longest);
  sr__series_rows *prepared = test_prepare(ctx, &s.view, normalize);
  sr__series_blocks *blocks = NULL;
  sr__rocket *r = draw(ctx, filters, drawn_for, channels, 17);
  assert_ok(ctx, sr__series_blocks_new(ctx, prepared, NULL, rows, &blocks));
  int64_t stride = blocks->blocks * SR__SERIES_LANES;
  float *out = malloc((size_t)(2 * filters * stride) * sizeof *out);
  float *one = malloc((size_t)(2 * filters) * sizeof *one);
  float *expected = malloc((size_t)(2 * filters * rows) * sizeof *expected);
  for (int64_t i = 0; i < rows; i++)
    for (int32_t k = 0; k < filters; k++)
      slow_features(r, prepared, i, k, &expected[2 * k * rows + i],
                    &expected[(2 * k + 1) * rows + i]);

  assert_ok(ctx, sr__rocket_transform(ctx, r, 0, (int32_t)filters,
                                      (sr__made_blocks){blocks, 0, blocks->blocks, out, stride}));
  for (int64_t f = 0; f < 2 * filters; f++)
    for (int64_t i = 0; i < rows; i++)
      assert_true(same_bits(out[f * stride + i], expected[f * rows + blocks->order[i]]));
  for (int64_t i = 0; i < rows; i++) {
    assert_ok(ctx, sr__rocket_transform_one(ctx, r, prepared, i, one));
    for (int64_t f = 0; f < 2 * filters; f++)
      assert_true(same_bits(one[f], expected[f * rows + i]));
  }
  sr__lane_scratch scratch = {0}, single = {0};
  int64_t steps = prepared->longest > r->most_reach + 1 ? prepared->longest : r->most_reach + 1;
  int64_t before = r->most_padding, after = before + SR__ROCKET_LATE;
  sr__lane_room room = {channels, SR__SERIES_LANES, before, steps, after};
  assert_ok(ctx, sr__lane_scratch_new(ctx, room, &scratch));
  room.step = 1;
  room.after = before + SR__ROCKET_LATE * SR__SERIES_LANES;
  assert_ok(ctx, sr__lane_scratch_new(ctx, room, &single));
  for (int level = 0; level < test_levels(); level++) {
    float lanes[2 * SR__SERIES_LANES];
    for (int64_t b = 0; b < blocks->blocks; b++) {
      sr__lane_input input;
      sr__lane_scratch_block(&scratch, blocks, b, &input);
      for (int32_t k = 0; k < filters; k++) { /* alone, where `transform` ran it beside others */
        sr__rocket_task alone = {&input, 1, k, 1};
        level_table(level)->transform(r, &alone, lanes, SR__SERIES_LANES);
        for (int64_t i = 0; i < 2 * SR__SERIES_LANES; i++) {
          int64_t place = b * SR__SERIES_LANES + i % SR__SERIES_LANES;
          if (place < rows)
            assert_true(
                same_bits(lanes[i],
                          expected[(2 * k + i / SR__SERIES_LANES) * rows + blocks->order[place]]));
        }
      }
      sr__rocket_task all = {&input, 1, 0, (int32_t)filters};
      level_table(level)->transform(r, &all, out, SR__SERIES_LANES);
      for (int64_t f = 0; f < 2 * filters; f++)
        for (int64_t i = 0; i < SR__SERIES_LANES && b * SR__SERIES_LANES + i < rows; i++)
          assert_true(same_bits(out[f * SR__SERIES_LANES + i],
                                expected[f * rows + blocks->order[b * SR__SERIES_LANES + i]]));
    }
    for (int64_t i = 0; i < rows; i++) {
      sr__lane_input input;
      sr__lane_scratch_row(&single, prepared, i, &input);
      sr__rocket_task all = {&input, 1, 0, (int32_t)filters};
      level_table(level)->transform(r, &all, one, 1);
      for (int64_t f = 0; f < 2 * filters; f++)
        assert_true(same_bits(one[f], expected[f * rows + i]));
    }
  }
  sr__lane_scratch_free(ctx, &scratch);
  sr__lane_scratch_free(ctx, &single);
  free(out);
  free(one);
  free(expected);
  sr__series_blocks_free(blocks);
  sr__series_rows_free(prepared);
  sr__rocket_free(r);
  test_series_free(&s);
  sr_context_free(&ctx);
}

static void test_equal_lengths(void **state) {
  (void)state;
  check_case(300, 11, 1, 24, 24, 24, 0, true);
  check_case(200, 8, 1, 80, 80, 80, 0, true);
  check_case(120, 9, 1, 153, 153, 153, 0, true);
  check_case(40, 3, 1, 500, 500, 500, 0, true);
}

static void test_ragged_and_short(void **state) {
  (void)state;
  check_case(150, 21, 1, 1, 90, 90, 0, true);
  check_case(60, 5, 1, 1, 3, 200, 0, true); /* far shorter than the filters */
  for (int64_t length = 1; length <= 13; length++)
    check_case(40, 10, 1, length, length, length, 0, true);
}

static void test_channels(void **state) {
  (void)state;
  check_case(200, 9, 2, 30, 30, 30, 0, true);
  check_case(150, 10, 14, 5, 60, 60, 0, true);
}

/* Sums that cancel and products far below the last bit: where a fused sum differs from two
 * roundings, and where its emulation could go wrong. */
static void test_wide_range(void **state) {
  (void)state;
  check_case(150, 16, 1, 60, 60, 60, 12, false);
  check_case(150, 16, 1, 60, 60, 60, 28, false);
  check_case(100, 9, 1, 40, 40, 40, 90, false);
  check_case(100, 9, 3, 10, 40, 40, 90, false);
  check_case(100, 9, 1, 40, 40, 40, 126, false); /* some sums are infinite */
}

/* A series that is zero but for one value: the outputs are the bias and, once each, bias + height x
 * weight. */
static void test_impulse(void **state) {
  (void)state;
  enum { LENGTH = 101, AT = 50, FILTERS = 400 };
  sr_context *ctx = test_context(1);
  float values[LENGTH] = {0}, features[2 * FILTERS];
  int64_t offset[2] = {0, LENGTH};
  sr__series_view view = {values, offset, 1, 1};
  sr__rocket *r = draw(ctx, FILTERS, LENGTH, 1, 3);
  values[AT] = 2.0f;
  sr__series_rows *rows = test_prepare(ctx, &view, false);
  assert_ok(ctx, sr__rocket_transform_one(ctx, r, rows, 0, features));
  for (int32_t k = 0; k < FILTERS; k++) {
    int64_t outputs = LENGTH + 2 * r->padding[k] - (r->taps[k] - 1) * r->dilation[k];
    int64_t positive = 0, hit = 0;
    double largest = -INFINITY;
    for (int32_t j = 0; j < r->taps[k]; j++) {
      int64_t o = AT + r->padding[k] - j * r->dilation[k];
      if (o < 0 || o >= outputs) continue;
      double sum = (double)r->bias[k] + 2.0 * (double)r->weight[r->weight_begin[k] + j];
      positive += sum > 0.0;
      hit++;
      if (sum > largest) largest = sum;
    }
    if (hit < outputs && (double)r->bias[k] > largest) largest = (double)r->bias[k];
    positive += r->bias[k] > 0.0f ? outputs - hit : 0;
    assert_close(features[2 * k], (double)positive / (double)outputs, 1e-7);
    assert_close(features[2 * k + 1], largest, 1e-6);
  }
  sr__series_rows_free(rows);
  sr__rocket_free(r);
  sr_context_free(&ctx);
}

/* A constant and a factor leave a normalized series alone; reversed channels only rename them. */
static void test_invariances(void **state) {
  (void)state;
  enum { ROWS = 6, CHANNELS = 3, LENGTH = 70, FILTERS = 200 };
  sr_context *ctx = test_context(1);
  test_series s = test_series_new(ROWS, CHANNELS, LENGTH, LENGTH, 0, 5);
  test_series shifted = test_series_new(ROWS, CHANNELS, LENGTH, LENGTH, 0, 5);
  test_series reversed = test_series_new(ROWS, CHANNELS, LENGTH, LENGTH, 0, 5);
  sr__rocket *r = draw(ctx, FILTERS, LENGTH, CHANNELS, 9);
  float a[2 * FILTERS], b[2 * FILTERS];
  for (int64_t i = 0; i < ROWS * CHANNELS * LENGTH; i++)
    shifted.values[i] = 3.0f * s.values[i] + 5.0f;
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t c = 0; c < CHANNELS; c++)
      memcpy(reversed.values + (i * CHANNELS + c) * LENGTH,
             s.values + (i * CHANNELS + CHANNELS - 1 - c) * LENGTH, LENGTH * sizeof(float));
  sr__series_rows *plain = test_prepare(ctx, &s.view, true),
                  *moved = test_prepare(ctx, &shifted.view, true);
  sr__series_rows *turned = test_prepare(ctx, &reversed.view, true);
  for (int64_t i = 0; i < ROWS; i++) {
    double differing = 0.0;
    assert_ok(ctx, sr__rocket_transform_one(ctx, r, plain, i, a));
    assert_ok(ctx, sr__rocket_transform_one(ctx, r, moved, i, b));
    for (int32_t f = 0; f < 2 * FILTERS; f++) {
      if (f % 2 == 1) assert_close(b[f], a[f], 1e-5);
      differing += f % 2 == 0 && a[f] != b[f];
    }
    assert_true(differing <= 1.0); /* a sum within rounding of zero */
    for (int32_t c = 0; c < r->channel_begin[FILTERS]; c++)
      r->channel[c] = CHANNELS - 1 - r->channel[c];
    assert_ok(ctx, sr__rocket_transform_one(ctx, r, turned, i, b));
    assert_memory_equal(a, b, sizeof a);
    for (int32_t c = 0; c < r->channel_begin[FILTERS]; c++)
      r->channel[c] = CHANNELS - 1 - r->channel[c];
  }
  sr__series_rows_free(plain);
  sr__series_rows_free(moved);
  sr__series_rows_free(turned);
  sr__rocket_free(r);
  test_series_free(&s);
  test_series_free(&shifted);
  test_series_free(&reversed);
  sr_context_free(&ctx);
}

static void test_missing_values(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  const float nan = NAN;
  /* Row 1: gaps on a line, missing ends. Row 2: nothing. Row 3: two channels of unequal length. */
  float values[] = {nan, 1,   nan, nan, 4,        nan, nan, 2,     2,
                    2,   nan, nan, nan, INFINITY, 5,   7,   3e38f, 2};
  int64_t offset[] = {0, 7, 10, 12, 14, 16, 18};
  sr__series_view view = {values, offset, 3, 2};
  sr__series_rows *rows = test_prepare(ctx, &view, false);
  const float first[] = {1, 1, 2, 3, 4, 2, 2, 2, 2, 2}, third[] = {5, 7, 1e30f, 2};
  assert_int_equal(sr__series_length(rows, 0), 5);
  assert_int_equal(sr__series_length(rows, 1), 1);
  assert_int_equal(sr__series_length(rows, 2), 2);
  assert_memory_equal(rows->values, first, sizeof first);
  assert_true(rows->values[10] == 0.0f && rows->values[11] == 0.0f);
  assert_memory_equal(rows->values + 12, third, sizeof third);
  assert_int_equal(rows->longest, 5);
  sr__series_rows_free(rows);
  rows = test_prepare(ctx, &view, true);
  for (int i = 5; i < 10; i++) assert_true(rows->values[i] == 0.0f); /* constant */
  double sum = 0.0, square = 0.0;
  for (int i = 0; i < 5; i++) {
    sum += (double)rows->values[i];
    square += (double)rows->values[i] * (double)rows->values[i];
  }
  assert_close(sum, 0.0, 1e-6);
  assert_close(square, 5.0, 1e-6);
  sr__series_rows_free(rows);
  sr_context_free(&ctx);
}

/* The laws of the draw, with room for five standard errors. */
static void test_draws(void **state) {
  (void)state;
  enum { FILTERS = 20000, LENGTH = 1025 };
  sr_context *ctx = test_context(1);
  sr__rocket *r = draw(ctx, FILTERS, LENGTH, 1, 1);
  int64_t of_taps[12] = {0}, padded = 0, sevens = 0, below_four = 0;
  double bias = 0.0, square = 0.0, weights = 0.0;
  for (int32_t k = 0; k < FILTERS; k++) {
    double sum = 0.0;
    of_taps[r->taps[k]]++;
    padded += r->padding[k] > 0;
    assert_true(r->padding[k] == 0 || r->padding[k] == (r->taps[k] - 1) / 2 * r->dilation[k]);
    assert_in_range(r->dilation[k], 1, (LENGTH - 1) / (r->taps[k] - 1));
    sevens += r->taps[k] == 7;
    below_four += r->taps[k] == 7 && r->dilation[k] < 4;
    bias += (double)r->bias[k];
    assert_true(fabsf(r->bias[k]) < 1.0f);
    for (int64_t j = r->weight_begin[k]; j < r->weight_begin[k + 1]; j++) {
      sum += (double)r->weight[j];
      square += (double)r->weight[j] * (double)r->weight[j];
    }
    weights += r->taps[k] - 1; /* degrees of freedom left by the mean */
    assert_close(sum, 0.0, 1e-5);
    if (k > 0) assert_true(r->taps[k] >= r->taps[k - 1]);
  }
  assert_close((double)of_taps[7] / FILTERS, 1.0 / 3.0, 0.017);
  assert_close((double)of_taps[11] / FILTERS, 1.0 / 3.0, 0.017);
  assert_close((double)padded / FILTERS, 0.5, 0.018);
  assert_close(bias / FILTERS, 0.0, 0.021);
  assert_close(square / weights, 1.0, 0.02);
  assert_close((double)below_four / (double)sevens, log(4.0) / log(1024.0 / 6.0), 0.03);
  sr__rocket_free(r);
  sr_context_free(&ctx);
}

static void test_store(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr__rocket *r = draw(ctx, 50, 60, 5, 21), *loaded = NULL;
  sr__bytes bytes = {.ctx = ctx}, again = {.ctx = ctx};
  sr__rocket_save(r, &bytes);
  assert_int_equal(bytes.status, SR_OK);
  sr__byte_reader reader = {.ctx = ctx,
                            .data = bytes.data,
                            .size = bytes.size,
                            .what = "the model"};
  assert_ok(ctx, sr__rocket_load(&reader, &loaded));
  assert_int_equal(reader.at, bytes.size);
  assert_int_equal(loaded->most_padding, r->most_padding);
  assert_int_equal(loaded->most_reach, r->most_reach);
  sr__rocket_save(loaded, &again);
  assert_int_equal(again.size, bytes.size);
  assert_memory_equal(again.data, bytes.data, (size_t)bytes.size);
  sr__rocket_free(loaded);
  for (int64_t size = 0; size < bytes.size; size++) {
    sr__byte_reader cut = {.ctx = ctx, .data = bytes.data, .size = size, .what = "the model"};
    assert_int_equal(sr__rocket_load(&cut, &loaded), SR_ERROR_FORMAT);
    assert_null(loaded);
  }
  /* Any changed byte is refused or gives filters that stay inside of a series. */
  test_series s = test_series_new(3, 5, 4, 60, 0, 2);
  sr__series_rows *rows = test_prepare(ctx, &s.view, true);
  for (int64_t i = 0; i < bytes.size; i++) {
    uint8_t kept = bytes.data[i];
    bytes.data[i] ^= (uint8_t)(1 << (i % 8));
    sr__byte_reader damaged = {.ctx = ctx, .data = bytes.data, .size = bytes.size, .what = "x"};
    if (sr__rocket_load(&damaged, &loaded) == SR_OK && loaded->channels == 5) {
      float *features = malloc((size_t)(2 * loaded->filters) * sizeof *features);
      for (int64_t row = 0; row < 3; row++)
        assert_ok(ctx, sr__rocket_transform_one(ctx, loaded, rows, row, features));
      free(features);
    }
    sr__rocket_free(loaded);
    bytes.data[i] = kept;
  }
  sr__series_rows_free(rows);
  test_series_free(&s);
  sr__bytes_free(&bytes);
  sr__bytes_free(&again);
  sr__rocket_free(r);
  sr_context_free(&ctx);
}

static sr_status draw_and_transform(sr_context *ctx, void *data) {
  const test_series *s = data;
  sr_status status = SR_OK;
  sr__series_rows *rows = NULL;
  sr__series_blocks *blocks = NULL;
  sr__rocket *r = NULL;
  float out[2 * 20 * 16], one[2 * 20];
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_LEARNER, 0, 0);
  SR_TRY(sr__series_prepare(ctx, &s->view, 0, s->view.rows, true, &rows));
  SR_TRY(sr__series_blocks_new(ctx, rows, NULL, rows->rows, &blocks));
  SR_TRY(sr__rocket_draw(ctx, 20, 40, s->view.channels, &random, &r));
  SR_TRY(
      sr__rocket_transform(ctx, r, 0, 20, (sr__made_blocks){blocks, 0, blocks->blocks, out, 16}));
  SR_TRY(sr__rocket_transform_one(ctx, r, rows, 0, one));
cleanup:
  sr__rocket_free(r);
  sr__series_blocks_free(blocks);
  sr__series_rows_free(rows);
  return status;
}

static void test_allocations(void **state) {
  (void)state;
  test_series s = test_series_new(10, 3, 9, 40, 0, 8);
  test_every_allocation(draw_and_transform, &s);
  test_series_free(&s);
}

static void test_refusals(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr__rocket *r = NULL;
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_LEARNER, 0, 0);
  assert_int_equal(sr__rocket_draw(ctx, 0, 10, 1, &random, &r), SR_ERROR_ARGUMENT);
  assert_int_equal(sr__rocket_draw(ctx, 10, 0, 1, &random, &r), SR_ERROR_ARGUMENT);
  assert_int_equal(sr__rocket_draw(ctx, 10, 10, 0, &random, &r), SR_ERROR_ARGUMENT);
  assert_null(r);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equal_lengths),  cmocka_unit_test(test_ragged_and_short),
      cmocka_unit_test(test_channels),       cmocka_unit_test(test_wide_range),
      cmocka_unit_test(test_impulse),        cmocka_unit_test(test_invariances),
      cmocka_unit_test(test_missing_values), cmocka_unit_test(test_draws),
      cmocka_unit_test(test_store),          cmocka_unit_test(test_allocations),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
