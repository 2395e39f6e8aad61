/* Training, asking and storing sequence nets, for both bodies. */
#include <math.h>

#include "core/isa.h"
#include "learner/sequence/fit.h"
#include "sequence_kit.h"

static const sr__body *const BODIES[] = {&sr__transformer_body, &sr__mamba_body};

/* Sines of two speeds with noise: ragged, with holes, the second channel noise of another length.
 */
typedef struct made_set {
  sr__series_view view;
  float *values;
  int64_t *offset;
  int32_t *label;
} made_set;

static made_set make_set(int64_t rows, int32_t channels, int64_t steps, bool ragged, double holes,
                         uint64_t seed) {
  made_set set = {.values = malloc(sizeof(float) * (size_t)(rows * channels * steps)),
                  .offset = malloc(sizeof(int64_t) * (size_t)(rows * channels + 1)),
                  .label = malloc(sizeof(int32_t) * (size_t)rows)};
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 2, 0);
  int64_t at = 0;
  set.offset[0] = 0;
  for (int64_t r = 0; r < rows; r++) {
    set.label[r] = (int32_t)(r % 2);
    const double phase = 6.283 * sr__random_uniform(&random);
    for (int32_t c = 0; c < channels; c++) {
      int64_t length = steps;
      if (ragged) length -= (int64_t)sr__random_below(&random, (uint64_t)steps / 2);
      for (int64_t t = 0; t < length; t++) {
        double value = 0.3 * sr__random_normal(&random);
        if (c == 0) value += sin(phase + (double)t * (set.label[r] ? 0.5 : 0.3));
        if (sr__random_uniform(&random) < holes) value = NAN;
        set.values[at++] = (float)(5 + 3 * value);
      }
      set.offset[r * channels + c + 1] = at;
    }
  }
  set.view = (sr__series_view){set.values, set.offset, rows, channels};
  return set;
}

static void free_set(made_set *set) { free(set->values), free(set->offset), free(set->label); }

static sr__sequence_options quick(int64_t steps) {
  sr__sequence_options options = sr__sequence_defaults();
  options.steps = steps;
  options.width = 32;
  options.feed_forward = 64;
  return options;
}

/* An encoded set. */
typedef struct encoded {
  made_set set;
  sr__sequence_encoder *encoder;
  sr__sequence_rows *rows;
} encoded;

static encoded encode(sr_context *ctx, made_set set, sr__sequence_scaling scaling) {
  encoded e = {.set = set};
  assert_ok(ctx, sr__sequence_encoder_new(ctx, &set.view, scaling, &e.encoder));
  assert_ok(ctx, sr__sequence_encode(ctx, e.encoder, &set.view, 0, set.view.rows, &e.rows));
  return e;
}

static void free_encoded(encoded *e) {
  sr__sequence_rows_free(e->rows);
  sr__sequence_encoder_free(e->encoder);
  free_set(&e->set);
}

static sr__sequence_sample sample_of(const encoded *e, const int32_t *row, int64_t length) {
  return (
      sr__sequence_sample){.rows = e->rows, .label = e->set.label, .row = row, .length = length};
}

static sr_status fit(sr_context *ctx, const sr__body *body, const encoded *e, int32_t classes,
                     const sr__sequence_options *options, const sr__sequence_sample *sample,
                     const sr__sequence_sample *held_out, sr__sequence_member **member) {
  sr__random random;
  sr__random_init(&random, 5, SR_PURPOSE_LEARNER, 0, 0);
  sr__sequence_task task = {body, e->encoder, classes, options, true, sample, held_out};
  return sr__sequence_fit(ctx, &task, &random, member);
}

static double share_right(sr_context *ctx, const sr__body *body, const encoded *e,
                          const sr__sequence_member *member, int64_t first) {
  int64_t rows = e->rows->rows, right = 0;
  int32_t *vote = malloc(sizeof(int32_t) * (size_t)rows);
  assert_ok(ctx, sr__sequence_predict(ctx, body, member, e->rows, (sr__picked){NULL, rows},
                                      (sr__answers){.vote = vote}));
  for (int64_t i = first; i < rows; i++) right += vote[i] == e->set.label[i];
  free(vote);
  return (double)right / (double)(rows - first);
}

/* ---- encoding ---------------------------------------------------------------------------------
 */

static void encoding_scales_fills_and_marks(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  /* Two channels: 1 NaN 3 NaN(end) and 10 20; a second row without missing values. */
  float values[] = {1, NAN, 3, NAN, 10, 20, 4, 6, 7, 7};
  int64_t offset[] = {0, 4, 6, 8, 10};
  sr__series_view view = {values, offset, 2, 2};
  sr__sequence_encoder *encoder = NULL;
  sr__sequence_rows *rows = NULL;
  assert_ok(ctx, sr__sequence_encoder_new(ctx, &view, SR__SCALE_SERIES, &encoder));
  assert_true(encoder->marks_missing && encoder->longest == 3);
  assert_ok(ctx, sr__sequence_encode(ctx, encoder, &view, 0, 2, &rows));
  assert_int_equal(rows->inputs, 4);
  assert_int_equal(rows->begin[1], 3);
  assert_int_equal(rows->begin[2], 5);
  const float expected[] = {-1, -1, 1, 1, -1, 1, 0, 1, 1, 1, 1, 0, /* row 0 */
                            -1, 0,  1, 1, 1,  0, 1, 1};            /* row 1: second is constant */
  for (int i = 0; i < 20; i++) assert_close((double)rows->values[i], (double)expected[i], 1e-6);
  sr__sequence_rows_free(rows);
  sr__sequence_encoder_free(encoder);

  /* Running moments: the second value of 1, 3 is 2 + 1 deviation of 1. */
  assert_ok(ctx, sr__sequence_encoder_new(ctx, &view, SR__SCALE_RUNNING, &encoder));
  assert_ok(ctx, sr__sequence_encode(ctx, encoder, &view, 0, 1, &rows));
  assert_close((double)rows->values[0], 0, 1e-6);
  assert_close((double)rows->values[8], 1, 1e-6);
  sr__sequence_rows_free(rows);
  sr__sequence_encoder_free(encoder);

  /* Moments of the training rows: channel 0 holds 1 3 4 6. */
  assert_ok(ctx, sr__sequence_encoder_new(ctx, &view, SR__SCALE_TRAINING, &encoder));
  assert_close(encoder->mean[0], 3.5, 1e-12);
  assert_close(encoder->scale[0], 1 / sqrt(3.25), 1e-12);
  view.channels = 1;
  assert_int_equal(sr__sequence_encode(ctx, encoder, &view, 0, 1, &rows), SR_ERROR_DATA);
  sr__sequence_encoder_free(encoder);
  sr_context_free(&ctx);
}

static void a_large_offset_is_scaled_away_and_a_constant_stays_zero(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  float values[64];
  int64_t offset[] = {0, 32, 64};
  for (int i = 0; i < 32; i++) values[i] = 1e5f + (float)(i % 4), values[32 + i] = 0.1f;
  sr__series_view view = {values, offset, 2, 1};
  sr__sequence_encoder *encoder = NULL;
  sr__sequence_rows *rows = NULL;
  assert_ok(ctx, sr__sequence_encoder_new(ctx, &view, SR__SCALE_SERIES, &encoder));
  assert_ok(ctx, sr__sequence_encode(ctx, encoder, &view, 0, 2, &rows));
  assert_false(encoder->marks_missing);
  assert_close((double)rows->values[0], -1.5 / sqrt(1.25), 1e-6);
  for (int i = 32; i < 64; i++) assert_true(rows->values[i] == 0);
  sr__sequence_rows_free(rows);
  sr__sequence_encoder_free(encoder);
  sr_context_free(&ctx);
}

/* ---- training ---------------------------------------------------------------------------------
 */

static void nets_learn_ragged_series_with_holes(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int b = 0; b < 2; b++) {
    encoded e = encode(ctx, make_set(120, 2, 60, true, 0.1, 3), SR__SCALE_SERIES);
    const sr__sequence_options options = quick(60);
    const sr__sequence_sample sample = sample_of(&e, NULL, 80);
    sr__sequence_member *member = NULL;
    assert_ok(ctx, fit(ctx, BODIES[b], &e, 2, &options, &sample, NULL, &member));
    assert_true(isnan(member->curve[0].held_out_loss) && member->best_look == -1);
    assert_true(member->curve[member->looks - 1].training_loss < 0.4);
    double right = share_right(ctx, BODIES[b], &e, member, 80);
    if (right < 0.9) fail_msg("body %d is right on %.2f of new rows", b, right);
    sr__sequence_member_free(member);
    free_encoded(&e);
  }
  sr_context_free(&ctx);
}

static void counts_are_repeated_rows_and_the_same_stream_gives_the_same_member(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  encoded e = encode(ctx, make_set(12, 1, 30, false, 0, 4), SR__SCALE_SERIES);
  const sr__sequence_options options = quick(4);
  const int32_t listed[] = {1, 4, 4, 4, 7, 10, 10}, row[] = {1, 4, 7, 10}, count[] = {1, 3, 1, 2};
  sr__sequence_sample one = sample_of(&e, listed, 7), two = sample_of(&e, row, 4);
  sr__sequence_member *a = NULL, *b = NULL;
  two.count = count;
  for (int i = 0; i < 2; i++) {
    assert_ok(ctx, fit(ctx, BODIES[i], &e, 2, &options, &one, NULL, &a));
    assert_ok(ctx, fit(ctx, BODIES[i], &e, 2, &options, &two, NULL, &b));
    assert_memory_equal(a->value, b->value, sizeof(float) * (size_t)a->parameters);
    sr__sequence_member_free(a), sr__sequence_member_free(b);
  }
  free_encoded(&e);
  sr_context_free(&ctx);
}

/* Labels without meaning: training goes on to learn them by heart, the held-out loss rises. */
static void training_ends_where_held_out_rows_stop_gaining(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  encoded e = encode(ctx, make_set(60, 1, 40, false, 0, 6), SR__SCALE_SERIES);
  sr__random random;
  sr__random_init(&random, 8, SR_PURPOSE_TEST, 3, 0);
  for (int i = 0; i < 60; i++) e.set.label[i] = (int32_t)sr__random_below(&random, 2);
  int32_t held[20];
  for (int i = 0; i < 20; i++) held[i] = 40 + i;
  sr__sequence_options options = quick(200);
  options.patience = 3;
  const sr__sequence_sample sample = sample_of(&e, NULL, 40), held_out = sample_of(&e, held, 20);
  sr__sequence_member *member = NULL;
  assert_ok(ctx, fit(ctx, BODIES[1], &e, 2, &options, &sample, &held_out, &member));
  assert_true(member->curve[member->looks - 1].step < 200);
  assert_int_equal(member->looks - 1 - member->best_look, 3);
  double least = INFINITY, loss = 0;
  for (int64_t i = 0; i < member->looks; i++) least = fmin(least, member->curve[i].held_out_loss);
  assert_true(member->curve[member->best_look].held_out_loss == least);
  /* The member is that of the best look, and the temperature makes it no worse. */
  float proba[40];
  assert_ok(ctx, sr__sequence_predict(ctx, BODIES[1], member, e.rows, (sr__picked){held, 20},
                                      (sr__answers){.share = proba}));
  for (int i = 0; i < 20; i++) loss -= log((double)proba[2 * i + e.set.label[40 + i]]) / 20;
  assert_true(loss <= least + 1e-6);
  member->temperature = 1;
  assert_ok(ctx, sr__sequence_predict(ctx, BODIES[1], member, e.rows, (sr__picked){held, 20},
                                      (sr__answers){.share = proba}));
  loss = 0;
  for (int i = 0; i < 20; i++) loss -= log((double)proba[2 * i + e.set.label[40 + i]]) / 20;
  assert_close(loss, least, 1e-5);
  sr__sequence_member_free(member);
  free_encoded(&e);
  sr_context_free(&ctx);
}

/* Held-out rows count in the temperature as much as they weigh. */
static void the_temperature_is_likeliest_by_the_weights(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  encoded e = encode(ctx, make_set(60, 1, 40, false, 0, 6), SR__SCALE_SERIES);
  float weight[60], proba[40];
  int32_t held[20];
  for (int i = 0; i < 60; i++) weight[i] = i % 5 == 0 ? 4.6f : 0.1f;
  for (int i = 0; i < 20; i++) {
    held[i] = 40 + i;
    if (i % 5 == 0) e.set.label[40 + i] = 1 - e.set.label[40 + i]; /* the heavy ones are wrong */
  }
  sr__sequence_options options = quick(60);
  sr__sequence_sample sample = sample_of(&e, NULL, 40), held_out = sample_of(&e, held, 20);
  sample.weight = held_out.weight = weight;
  sr__sequence_member *member = NULL;
  assert_ok(ctx, fit(ctx, BODIES[1], &e, 2, &options, &sample, &held_out, &member));
  double found = member->temperature, least = INFINITY, own = NAN;
  for (int k = -20; k <= 20; k++) {
    double loss = 0;
    member->temperature = pow(1.0718, k);
    assert_ok(ctx, sr__sequence_predict(ctx, BODIES[1], member, e.rows, (sr__picked){held, 20},
                                        (sr__answers){.share = proba}));
    for (int i = 0; i < 20; i++)
      loss -= (double)weight[40 + i] * log((double)proba[2 * i + e.set.label[40 + i]]);
    least = fmin(least, loss);
    if (fabs(member->temperature / found - 1) < 1e-3) own = loss;
  }
  assert_true(own <= least + 1e-4);
  sr__sequence_member_free(member);
  free_encoded(&e);
  sr_context_free(&ctx);
}

static void a_class_that_was_never_seen_gets_nothing(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  encoded e = encode(ctx, make_set(20, 1, 25, false, 0, 7), SR__SCALE_SERIES);
  const sr__sequence_options options = quick(3);
  const sr__sequence_sample sample = sample_of(&e, NULL, 20), none = sample_of(&e, NULL, 0);
  sr__sequence_member *member = NULL;
  assert_ok(ctx, fit(ctx, BODIES[0], &e, 4, &options, &sample, NULL, &member));
  int32_t vote[20];
  float proba[80];
  assert_ok(ctx, sr__sequence_predict(ctx, BODIES[0], member, e.rows, (sr__picked){NULL, 20},
                                      (sr__answers){.vote = vote, .share = proba}));
  for (int i = 0; i < 20; i++) {
    assert_true(vote[i] < 2 && proba[4 * i + 2] == 0 && proba[4 * i + 3] == 0);
    assert_close((double)proba[4 * i] + (double)proba[4 * i + 1], 1, 1e-6);
  }
  sr__sequence_member_free(member);
  assert_int_equal(fit(ctx, BODIES[0], &e, 4, &options, &none, NULL, &member), SR_ERROR_DATA);
  free_encoded(&e);
  sr_context_free(&ctx);
}

static void options_out_of_range_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr__sequence_options o = sr__sequence_defaults();
  assert_ok(ctx, sr__sequence_check(ctx, &o));
  for (int i = 0; i < 9; i++) {
    o = sr__sequence_defaults();
    if (i == 0) o.width = 40;
    if (i == 1) o.heads = 5;
    if (i == 2) o.blocks = 5;
    if (i == 3) o.steps = 0;
    if (i == 4) o.batch = 0;
    if (i == 5) o.rate = NAN;
    if (i == 6) o.drop = 1;
    if (i == 7) o.decay = -1;
    if (i == 8) o.feed_forward = 0;
    assert_int_equal(sr__sequence_check(ctx, &o), SR_ERROR_ARGUMENT);
  }
  sr_context_free(&ctx);
}

/* ---- bytes ------------------------------------------------------------------------------------
 */

typedef struct stored {
  sr__bytes encoder, member;
} stored;

static stored store(sr_context *ctx, const encoded *e, const sr__sequence_member *member) {
  stored s = {.encoder = {.ctx = ctx}, .member = {.ctx = ctx}};
  sr__sequence_encoder_save(e->encoder, &s.encoder);
  sr__sequence_member_save(member, &s.member);
  assert_ok(ctx, s.encoder.status);
  assert_ok(ctx, s.member.status);
  return s;
}

static void stored_members_predict_alike_and_damage_is_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  encoded e = encode(ctx, make_set(10, 1, 33, false, 0.1, 10), SR__SCALE_TRAINING);
  sr__sequence_options options = quick(3);
  options.width = 16;
  const sr__sequence_sample sample = sample_of(&e, NULL, 8), held = sample_of(&e, NULL, 2);
  for (int b = 0; b < 2; b++) {
    sr__sequence_member *member = NULL, *again = NULL;
    sr__sequence_encoder *encoder = NULL;
    assert_ok(ctx, fit(ctx, BODIES[b], &e, 2, &options, &sample, &held, &member));
    stored s = store(ctx, &e, member);
    sr__byte_reader reader = {ctx, s.encoder.data, s.encoder.size, 0, "the encoder", SR_OK};
    assert_ok(ctx, sr__sequence_encoder_load(&reader, &encoder));
    assert_int_equal(reader.at, reader.size);
    reader = (sr__byte_reader){ctx, s.member.data, s.member.size, 0, "the member", SR_OK};
    assert_ok(ctx, sr__sequence_member_load(&reader, BODIES[b], encoder, 2, &again));
    assert_int_equal(reader.at, reader.size);
    float p[2][20];
    assert_ok(ctx, sr__sequence_predict(ctx, BODIES[b], member, e.rows, (sr__picked){NULL, 10},
                                        (sr__answers){.share = p[0]}));
    assert_ok(ctx, sr__sequence_predict(ctx, BODIES[b], again, e.rows, (sr__picked){NULL, 10},
                                        (sr__answers){.share = p[1]}));
    assert_memory_equal(p[0], p[1], sizeof p[0]);
    sr__sequence_member_free(again);
    for (int64_t size = 0; size < s.member.size; size += 1 + size / 3) {
      reader = (sr__byte_reader){ctx, s.member.data, size, 0, "the member", SR_OK};
      assert_int_equal(sr__sequence_member_load(&reader, BODIES[b], encoder, 2, &again),
                       SR_ERROR_FORMAT);
    }
    for (int64_t at = 0; at < 40; at++) { /* the shape and the first parameters */
      s.member.data[at] ^= 0xff;
      reader = (sr__byte_reader){ctx, s.member.data, s.member.size, 0, "the member", SR_OK};
      again = NULL;
      if (sr__sequence_member_load(&reader, BODIES[b], encoder, 2, &again) == SR_OK)
        sr__sequence_member_free(again);
      s.member.data[at] ^= 0xff;
    }
    for (int64_t size = 0; size < s.encoder.size; size++) {
      sr__sequence_encoder *none = NULL;
      reader = (sr__byte_reader){ctx, s.encoder.data, size, 0, "the encoder", SR_OK};
      assert_int_equal(sr__sequence_encoder_load(&reader, &none), SR_ERROR_FORMAT);
    }
    sr__bytes_free(&s.encoder), sr__bytes_free(&s.member);
    sr__sequence_encoder_free(encoder);
    sr__sequence_member_free(member);
  }
  free_encoded(&e);
  sr_context_free(&ctx);
}

static sr_status whole_life(sr_context *ctx, void *data) {
  const made_set *set = data;
  sr_status status = SR_OK;
  sr__sequence_encoder *encoder = NULL;
  sr__sequence_rows *rows = NULL;
  sr__sequence_member *member = NULL, *again = NULL;
  sr__bytes bytes = {.ctx = ctx};
  sr__random random;
  sr__sequence_options options = quick(1);
  options.width = 16;
  options.blocks = 1;
  float proba[8];
  sr__random_init(&random, 5, SR_PURPOSE_LEARNER, 0, 0);
  SR_TRY(sr__sequence_encoder_new(ctx, &set->view, SR__SCALE_SERIES, &encoder));
  SR_TRY(sr__sequence_encode(ctx, encoder, &set->view, 0, 4, &rows));
  const sr__sequence_sample sample = {.rows = rows, .label = set->label, .length = 4};
  sr__sequence_task task = {BODIES[1], encoder, 2, &options, true, &sample, &sample};
  SR_TRY(sr__sequence_fit(ctx, &task, &random, &member));
  SR_TRY(sr__sequence_predict(ctx, BODIES[1], member, rows, (sr__picked){NULL, 4},
                              (sr__answers){.share = proba}));
  sr__sequence_member_save(member, &bytes);
  SR_TRY(bytes.status);
  sr__byte_reader reader = {ctx, bytes.data, bytes.size, 0, "the member", SR_OK};
  SR_TRY(sr__sequence_member_load(&reader, BODIES[1], encoder, 2, &again));
cleanup:
  sr__bytes_free(&bytes);
  sr__sequence_member_free(member), sr__sequence_member_free(again);
  sr__sequence_rows_free(rows);
  sr__sequence_encoder_free(encoder);
  return status;
}

static void memory_runs_out_cleanly(void **state) {
  (void)state;
  made_set set = make_set(4, 1, 12, false, 0, 11);
  test_every_allocation(whole_life, &set);
  free_set(&set);
}

/* ---- levels -----------------------------------------------------------------------------------
 */

static uint64_t hash_of(const void *data, size_t size) {
  const uint8_t *byte = data;
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 1099511628211u;
  return hash;
}

/* Trains both nets and prints what came out, for another process that runs at another level. */
static int print_hashes(void) {
  sr_context *ctx = test_context(1);
  encoded e = encode(ctx, make_set(8, 1, 41, true, 0.1, 12), SR__SCALE_RUNNING);
  const sr__sequence_options options = quick(2);
  const sr__sequence_sample sample = sample_of(&e, NULL, 8);
  for (int b = 0; b < 2; b++) {
    sr__sequence_member *member = NULL;
    float proba[16];
    assert_ok(ctx, fit(ctx, BODIES[b], &e, 2, &options, &sample, &sample, &member));
    assert_ok(ctx, sr__sequence_predict(ctx, BODIES[b], member, e.rows, (sr__picked){NULL, 8},
                                        (sr__answers){.share = proba}));
    printf("%016llx %016llx\n",
           (unsigned long long)hash_of(member->value, sizeof(float) * (size_t)member->parameters),
           (unsigned long long)hash_of(proba, sizeof proba));
    sr__sequence_member_free(member);
  }
  free_encoded(&e);
  sr_context_free(&ctx);
  return 0;
}

static const char *program;

static void members_are_the_same_at_every_level(void **state) {
  (void)state;
  char first[256] = "";
  for (int l = 0; l <= (int)sr__isa(); l++) {
    char command[1024], text[256] = "";
    snprintf(command, sizeof command, "SPECROUTE_ISA=%s '%s' hashes",
             sr__isa_name((sr__isa_level)l), program);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fread(text, 1, sizeof text - 1, pipe), 68);
    assert_int_equal(pclose(pipe), 0);
    if (l == 0) memcpy(first, text, sizeof first);
    assert_string_equal(first, text);
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "hashes") == 0) return print_hashes();
  program = argv[0];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(encoding_scales_fills_and_marks),
      cmocka_unit_test(a_large_offset_is_scaled_away_and_a_constant_stays_zero),
      cmocka_unit_test(nets_learn_ragged_series_with_holes),
      cmocka_unit_test(counts_are_repeated_rows_and_the_same_stream_gives_the_same_member),
      cmocka_unit_test(training_ends_where_held_out_rows_stop_gaining),
      cmocka_unit_test(the_temperature_is_likeliest_by_the_weights),
      cmocka_unit_test(a_class_that_was_never_seen_gets_nothing),
      cmocka_unit_test(options_out_of_range_are_refused),
      cmocka_unit_test(stored_members_predict_alike_and_damage_is_refused),
      cmocka_unit_test(memory_runs_out_cleanly),
      cmocka_unit_test(members_are_the_same_at_every_level),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
