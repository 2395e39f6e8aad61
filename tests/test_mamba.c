/* Mamba against PyTorch, and the stream against the whole series, to the bit. */
#include "learner/mamba/stream.h"
#include "sequence_kit.h"

static void gradients_are_those_of_pytorch_in_double(void **state) {
  (void)state;
  kit_check_gradients("mamba");
}

/* A member with parameters by the formula, untrained. */
static sr__sequence_member *made_member(sr_context *ctx, const sr__sequence_encoder *encoder,
                                        bool causal) {
  static uint8_t seen[3] = {1, 1, 1};
  sr__net_shape shape = kit_shape(encoder->longest, sr__sequence_inputs(encoder), 3, causal);
  sr__net *net = kit_net(ctx, &sr__mamba_body, shape, false);
  sr__sequence_member *member = calloc(1, sizeof *member);
  *member = (sr__sequence_member){.shape = shape,
                                  .parameters = net->parameters.count,
                                  .seen = seen,
                                  .temperature = 1.5};
  member->value = malloc(sizeof(float) * (size_t)member->parameters);
  memcpy(member->value, net->parameters.value, sizeof(float) * (size_t)member->parameters);
  sr__net_free(&net);
  return member;
}

static void check_stream(sr_context *ctx, int64_t length, int32_t channels, bool causal,
                         sr__sequence_scaling scaling) {
  const int64_t count = length * channels;
  float *values = kit_series(count), sample[2];
  int64_t offset[3] = {0, length, 2 * length};
  for (int64_t i = 3; i < count; i += 11) values[i] = NAN;
  values[length - 1] = 1; /* the series ends with a value */
  const sr__series_view view = {values, offset, 1, channels};
  sr__sequence_encoder *encoder = NULL;
  sr__sequence_rows *rows = NULL;
  sr__mamba_stream *stream = NULL;
  assert_ok(ctx, sr__sequence_encoder_new(ctx, &view, scaling, &encoder));
  assert_ok(ctx, sr__sequence_encode(ctx, encoder, &view, 0, 1, &rows));
  sr__sequence_member *member = made_member(ctx, encoder, causal);
  float whole[3], share[3];
  assert_ok(ctx, sr__sequence_predict(ctx, &sr__mamba_body, member, rows, (sr__picked){NULL, 1},
                                      (sr__answers){.share = whole}));
  assert_ok(ctx, sr__mamba_stream_new(ctx, encoder, member, &stream));
  for (int again = 0; again < 2; again++) {
    sr__mamba_stream_start(stream);
    assert_false(sr__mamba_stream_shares(stream, share));
    for (int64_t t = 0; t < length; t++) {
      for (int32_t c = 0; c < channels; c++) sample[c] = values[c * length + t];
      sr__mamba_stream_push(stream, sample);
    }
    sr__mamba_stream_end(stream);
    assert_true(sr__mamba_stream_shares(stream, share));
    assert_memory_equal(share, whole, sizeof whole);
  }
  free(member->value), free(member), free(values);
  sr__mamba_stream_free(&stream);
  sr__sequence_rows_free(rows);
  sr__sequence_encoder_free(encoder);
}

static void a_stream_gives_the_bits_of_the_whole_series(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t lengths[] = {1, 5, 24, 97, 140, 301};
  for (int i = 0; i < 6; i++) {
    check_stream(ctx, lengths[i], 1, false, SR__SCALE_TRAINING);
    check_stream(ctx, lengths[i], 2, true, SR__SCALE_RUNNING);
    check_stream(ctx, lengths[i], 2, false, SR__SCALE_NONE);
  }
  sr_context_free(&ctx);
}

/* A causal stem waits for nothing: after each sample the answer is that for the series so far. */
static void a_causal_stream_answers_at_every_sample(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  enum { LENGTH = 40 };
  float *values = kit_series(LENGTH), whole[3], share[3];
  int64_t offset[2] = {0, LENGTH};
  sr__series_view view = {values, offset, 1, 1};
  sr__sequence_encoder *encoder = NULL;
  sr__mamba_stream *stream = NULL;
  assert_ok(ctx, sr__sequence_encoder_new(ctx, &view, SR__SCALE_RUNNING, &encoder));
  sr__sequence_member *member = made_member(ctx, encoder, true);
  assert_ok(ctx, sr__mamba_stream_new(ctx, encoder, member, &stream));
  for (int64_t t = 0; t < LENGTH; t++) {
    sr__sequence_rows *rows = NULL;
    offset[1] = t + 1;
    assert_ok(ctx, sr__sequence_encode(ctx, encoder, &view, 0, 1, &rows));
    assert_ok(ctx, sr__sequence_predict(ctx, &sr__mamba_body, member, rows, (sr__picked){NULL, 1},
                                        (sr__answers){.share = whole}));
    sr__mamba_stream_push(stream, values + t);
    assert_true(sr__mamba_stream_shares(stream, share));
    assert_int_equal(sr__mamba_stream_tokens(stream), t / 4 + 1);
    assert_memory_equal(share, whole, sizeof whole);
    sr__sequence_rows_free(rows);
  }
  free(member->value), free(member), free(values);
  sr__mamba_stream_free(&stream);
  sr__sequence_encoder_free(encoder);
  sr_context_free(&ctx);
}

static void a_stream_cannot_know_the_moments_of_its_future(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  float *values = kit_series(20);
  int64_t offset[2] = {0, 20};
  const sr__series_view view = {values, offset, 1, 1};
  sr__sequence_encoder *encoder = NULL;
  sr__mamba_stream *stream = NULL;
  assert_ok(ctx, sr__sequence_encoder_new(ctx, &view, SR__SCALE_SERIES, &encoder));
  sr__sequence_member *member = made_member(ctx, encoder, true);
  assert_int_equal(sr__mamba_stream_new(ctx, encoder, member, &stream), SR_ERROR_ARGUMENT);
  free(member->value), free(member), free(values);
  sr__sequence_encoder_free(encoder);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_are_those_of_pytorch_in_double),
      cmocka_unit_test(a_stream_gives_the_bits_of_the_whole_series),
      cmocka_unit_test(a_causal_stream_answers_at_every_sample),
      cmocka_unit_test(a_stream_cannot_know_the_moments_of_its_future),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
