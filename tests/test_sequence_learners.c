/* The nets as learners, through the public header: trained, stored, asked whole and along a stream.
 */
#include <math.h>

#include "core/random.h"
#include "harness.h"

static const char *const learners[] = {"transformer", "mamba"};

/* Slow against quick waves, `channels` of them, some values missing where `gaps`. */
static sr_table *waves(sr_context *ctx, int64_t rows, int32_t channels, bool gaps, uint64_t seed) {
  static const char *const names[] = {"slow", "quick"};
  enum { LONGEST = 40 };
  int64_t *offset = calloc((size_t)(rows * channels + 1), sizeof *offset), at = 0;
  float *series = calloc((size_t)(rows * channels * LONGEST), sizeof *series);
  int32_t *label = calloc((size_t)rows, sizeof *label);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  for (int64_t i = 0; i < rows; i++) {
    int64_t length = 24 + (int64_t)sr__random_below(&random, LONGEST - 24 + 1);
    label[i] = (int32_t)(i % 2);
    for (int32_t c = 0; c < channels; c++) {
      double phase = 6.3 * sr__random_uniform(&random);
      for (int64_t t = 0; t < length; t++) {
        double value = sin((label[i] ? 1.6 : 0.5) * (double)t + phase);
        value += 0.2 * sr__random_normal(&random);
        series[at++] = gaps && sr__random_below(&random, 8) == 0 ? NAN : (float)value;
      }
      offset[i * channels + c + 1] = at;
    }
  }
  sr_table_view view = {.rows = rows,
                        .channels = channels,
                        .series_offset = offset,
                        .series = series,
                        .label = label,
                        .classes = {2, names}};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  free(offset);
  free(series);
  free(label);
  return table;
}

static sr_ensemble *train(sr_context *ctx, const sr_table *table, const char *learner,
                          const char *options, int members) {
  sr_ensemble *ensemble = NULL;
  char text[256];
  sr_train_options o;
  sr_train_options_init(&o);
  snprintf(text, sizeof text, "%s:%s", learner, options);
  o.learner = text;
  o.plan = "uniform";
  o.members = members;
  o.vote = SR_VOTE_SOFT;
  o.evaluate.evaluate = 0;
  assert_ok(ctx, sr_train(ctx, table, &o, 5, &ensemble));
  return ensemble;
}

static void waves_are_learned_and_models_come_back(void **state) {
  (void)state;
  sr_context *one = test_context(1), *two = test_context(2);
  sr_table *training = waves(one, 60, 2, true, 1), *test = waves(one, 80, 2, true, 2);
  float before[160], after[160];
  int32_t label[80];
  for (int k = 0; k < 2; k++) {
    const char *const options = "steps=60,batch=8,width=16,blocks=1,augment=auto";
    sr_ensemble *a = train(one, training, learners[k], options, 2);
    sr_ensemble *b = train(two, training, learners[k], options, 2), *loaded = NULL;
    void *x = NULL, *y = NULL;
    int64_t xs, ys, right = 0;
    assert_ok(one, sr_ensemble_to_bytes(one, a, &x, &xs));
    assert_ok(two, sr_ensemble_to_bytes(two, b, &y, &ys));
    assert_int_equal(xs, ys);
    assert_memory_equal(x, y, (size_t)xs);
    assert_ok(one, sr_ensemble_from_bytes(one, x, xs, &loaded));
    assert_ok(one, sr_ensemble_predict(one, a, test, label, before));
    assert_ok(one, sr_ensemble_predict(one, loaded, test, NULL, after));
    assert_memory_equal(before, after, sizeof before);
    for (int i = 0; i < 80; i++) right += label[i] == sr_table_get(test)->label[i];
    if (right < 64) fail_msg("%s: %d of 80 right", learners[k], (int)right);
    sr_bytes_free(&x);
    sr_bytes_free(&y);
    sr_ensemble_free(&loaded);
    sr_ensemble_free(&b);
    sr_ensemble_free(&a);
  }
  sr_table_free(&test);
  sr_table_free(&training);
  sr_context_free(&two);
  sr_context_free(&one);
}

/* The held-out parts choose; then all rows train. What was found on the held-out ones stays. */
static void all_rows_train_in_the_end(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = waves(ctx, 40, 1, false, 3);
  const char *const options[] = {"steps=40,batch=4,width=16,blocks=1",
                                 "steps=40,batch=4,width=16,blocks=1,refit=no"};
  for (int k = 0; k < 2; k++) {
    sr_ensemble *all = train(ctx, table, learners[k], options[0], 1),
                *judged = train(ctx, table, learners[k], options[1], 1);
    float after[80], before[80];
    sr_learning_look look, other;
    int64_t count = 0;
    for (; sr_ensemble_look(all, 0, count, &look); count++) {
      assert_true(sr_ensemble_look(judged, 0, count, &other));
      assert_true(look.held_out_loss == other.held_out_loss && look.best == other.best);
      assert_false(look.kept); /* the member is a net of another training */
      assert_int_equal(other.kept, other.best);
    }
    char *text = NULL;
    sr_own_judgment own, own_judged;
    assert_ok(ctx, sr_describe_ensemble(ctx, all, SR_DESCRIPTION_TEXT, &text));
    assert_non_null(strstr(text, "rows of its bag that it left out in whole sets, temperature"));
    sr_bytes_free((void **)&text);
    assert_true(sr_ensemble_own_judgment(all, 0, &own));
    assert_true(sr_ensemble_own_judgment(judged, 0, &own_judged));
    assert_true(own.judged > 0 && own.error >= 0 && own.error <= 1 && isnan(own.penalty));
    assert_true(own.judged == own_judged.judged && own.temperature == own_judged.temperature);
    assert_false(sr_ensemble_own_judgment(all, 1, &own));
    assert_true(count > 0 && !sr_ensemble_look(judged, 0, count, &other));
    assert_ok(ctx, sr_ensemble_predict(ctx, all, table, NULL, after));
    assert_ok(ctx, sr_ensemble_predict(ctx, judged, table, NULL, before));
    assert_memory_not_equal(after, before, sizeof after);
    sr_ensemble_free(&judged);
    sr_ensemble_free(&all);
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void members_keep_their_learning_curves(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = waves(ctx, 40, 1, false, 3);
  sr_ensemble *ensemble =
      train(ctx, table, "transformer", "steps=40,batch=4,width=16,blocks=1,refit=no", 2);
  char *text = NULL;
  for (int32_t member = 0; member < 2; member++) {
    sr_learning_look look;
    double least = INFINITY;
    int64_t count = 0, step = 0, kept = -1, best = -1;
    for (; sr_ensemble_look(ensemble, member, count, &look); count++) {
      assert_true(look.step > step && isfinite(look.training_loss));
      step = look.step;
      if (look.held_out_loss < least) least = look.held_out_loss, best = count;
      if (look.kept) {
        assert_int_equal(kept, -1);
        kept = count;
      }
    }
    assert_in_range(count, 2, 20);
    assert_int_equal(kept, best);
  }
  assert_false(sr_ensemble_look(ensemble, 2, 0, &(sr_learning_look){0}));
  assert_ok(ctx, sr_describe_ensemble(ctx, ensemble, SR_DESCRIPTION_JSON, &text));
  assert_non_null(strstr(text, "held_out_loss"));
  sr_bytes_free((void **)&text);
  sr_ensemble_free(&ensemble);
  ensemble = NULL;
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* The answer along a stream is that for the whole series, to the bit. */
static void a_stream_gives_the_same_bits(void **state) {
  (void)state;
  static const char *const options[] = {"steps=15,batch=4,width=16,scaling=running,causal=yes",
                                        "steps=15,batch=4,width=16,scaling=training",
                                        "steps=15,batch=4,width=16,scaling=none,causal=yes"};
  sr_context *ctx = test_context(1);
  sr_table *table = waves(ctx, 24, 2, true, 4);
  const sr_table_view *v = sr_table_get(table);
  for (int k = 0; k < 3; k++) {
    sr_ensemble *ensemble = train(ctx, table, "mamba", options[k], 2);
    sr_stream *stream = NULL;
    int32_t label[24];
    float whole[48], streamed[2];
    assert_ok(ctx, sr_ensemble_predict(ctx, ensemble, table, label, whole));
    assert_ok(ctx, sr_stream_new(ctx, ensemble, &stream));
    for (int64_t i = 0; i < v->rows; i++) {
      const int64_t *offset = v->series_offset + 2 * i;
      int64_t length = offset[1] - offset[0];
      /* a series ends at the last value that is there in any channel */
      while (length > 1 && isnan(v->series[offset[0] + length - 1]) &&
             isnan(v->series[offset[1] + length - 1]))
        length--;
      sr_stream_start(stream);
      for (int64_t t = 0; t < length; t++) {
        float sample[2] = {v->series[offset[0] + t], v->series[offset[1] + t]};
        sr_stream_push(stream, sample);
      }
      sr_stream_end(stream);
      assert_int_equal(sr_stream_answer(stream, streamed), label[i]);
      assert_memory_equal(streamed, whole + 2 * i, sizeof streamed);
    }
    sr_stream_free(&stream);
    for (int64_t every = 1; every <= 7; every += 6) { /* the last answer of a series is its class */
      sr_table *along = NULL;
      sr_context *threads = test_context(every == 1 ? 1 : 3);
      sr_predict_options wanted = {.proba = 1, .uncertainty = 1, .along = every};
      assert_ok(threads, sr_ensemble_predict_table(threads, ensemble, table, &wanted, &along));
      const sr_table_view *a = sr_table_get(along);
      assert_int_equal(a->features, 5);
      assert_string_equal(a->feature_names[0], "row");
      assert_string_equal(a->feature_names[1], "step");
      for (int64_t i = 0; i < a->rows; i++) {
        bool last = i + 1 == a->rows || a->x[i + 1] != a->x[i];
        int64_t row = (int64_t)a->x[i] - 1, step = (int64_t)a->x[a->rows + i];
        assert_true(last || step % every == 0);
        if (i > 0 && a->x[i - 1] == a->x[i]) assert_true(a->x[a->rows + i - 1] < (float)step);
        assert_true((a->label[i] < 0) == (isnan(a->x[2 * a->rows + i]) != 0));
        if (!last) continue;
        assert_int_equal(a->label[i], label[row]);
        assert_true(a->x[2 * a->rows + i] == whole[2 * row]);
        assert_true(a->x[3 * a->rows + i] == whole[2 * row + 1]);
        assert_true(a->x[4 * a->rows + i] == 1.0f - fmaxf(whole[2 * row], whole[2 * row + 1]));
      }
      sr_table_free(&along);
      sr_context_free(&threads);
    }
    sr_ensemble_free(&ensemble);
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void what_cannot_stream_is_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = waves(ctx, 16, 1, false, 5);
  sr_stream *stream = NULL;
  sr_ensemble *ensemble = train(ctx, table, "transformer", "steps=2,batch=2,width=16,blocks=1", 1);
  assert_int_equal(sr_stream_new(ctx, ensemble, &stream), SR_ERROR_UNSUPPORTED);
  sr_ensemble_free(&ensemble);
  ensemble = train(ctx, table, "mamba", "steps=2,batch=2,width=16,blocks=1", 1);
  assert_int_equal(sr_stream_new(ctx, ensemble, &stream), SR_ERROR_ARGUMENT);
  assert_null(stream);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static sr_status fit_and_ask(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  sr_ensemble *ensemble = NULL;
  sr_stream *stream = NULL;
  int32_t label[8];
  sr_train_options o;
  sr_train_options_init(&o);
  o.learner = "mamba:steps=1,batch=2,width=16,blocks=1,scaling=none";
  o.plan = "whole";
  o.members = 1;
  o.evaluate.evaluate = 0;
  SR_TRY(sr_train(ctx, data, &o, 1, &ensemble));
  SR_TRY(sr_ensemble_predict(ctx, ensemble, data, label, NULL));
  SR_TRY(sr_stream_new(ctx, ensemble, &stream));
cleanup:
  sr_stream_free(&stream);
  sr_ensemble_free(&ensemble);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = waves(ctx, 8, 1, false, 6);
  test_every_allocation(fit_and_ask, table);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waves_are_learned_and_models_come_back),
      cmocka_unit_test(all_rows_train_in_the_end),
      cmocka_unit_test(members_keep_their_learning_curves),
      cmocka_unit_test(a_stream_gives_the_same_bits),
      cmocka_unit_test(what_cannot_stream_is_refused),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
