/* Learners on series through the public header: every learner under plans, stored and loaded, on
 * series of unequal length, with gaps, of several channels and shorter than a kernel. */
#include <math.h>

#include "ensemble/ensemble.h"
#include "harness.h"
#include "learner/minirocket/minirocket.h"
#include "learner/rocket/rocket.h"
#include "learner/series/series_ridge.h"
#include "learner/series/unit_sets.h"

/* Small forms of the learners: what is tested is the same. */
static const char *const learners[] = {"rocket:kernels=200", "minirocket:features=840",
                                       "minirocket:features=840,int16=yes", "quant", "tsf"};
enum { LEARNERS = sizeof learners / sizeof *learners };

static sr_table *read_table(sr_context *ctx, const char *path) {
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, path, NULL, &table));
  return table;
}

static sr_ensemble *train(sr_context *ctx, const sr_table *table, const char *learner,
                          const char *plan, int members, bool judged) {
  sr_ensemble *ensemble = NULL;
  sr_train_options o;
  sr_train_options_init(&o);
  o.learner = learner;
  o.plan = plan;
  o.members = members;
  o.vote = SR_VOTE_SOFT;
  o.evaluate.evaluate = judged;
  assert_ok(ctx, sr_train(ctx, table, &o, 7, &ensemble));
  return ensemble;
}

/* What the default vote makes of a learner; one member that is asked for probabilities gives them.
 */
static void calibrated_members_vote_soft(void **state) {
  (void)state;
  static const struct {
    const char *learner;
    sr_vote vote;
  } expected[] = {{"rocket:kernels=200", SR_VOTE_SOFT},
                  {"minirocket:features=840", SR_VOTE_SOFT},
                  {"quant", SR_VOTE_HARD},
                  {"tsf", SR_VOTE_HARD},
                  {"tree", SR_VOTE_HARD},
                  {"ridge", SR_VOTE_HARD}};
  sr_context *ctx = test_context(1);
  sr_table *training = read_table(ctx, SR_SOURCE_DIR "/data/shapelets_TRAIN.ts.gz");
  sr_table *test = read_table(ctx, SR_SOURCE_DIR "/data/shapelets_TEST.ts.gz");
  int64_t rows = sr_table_get(test)->rows;
  int32_t classes = sr_table_get(test)->classes.count;
  int32_t *label = malloc((size_t)rows * sizeof *label);
  float *proba = malloc((size_t)(rows * classes) * sizeof *proba);
  for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
    sr_ensemble *ensemble = NULL;
    sr_train_options o;
    sr_train_options_init(&o);
    o.learner = expected[k].learner;
    o.plan = "whole";
    o.members = 1;
    o.evaluate.evaluate = 0;
    assert_ok(ctx, sr_train(ctx, training, &o, 7, &ensemble));
    assert_int_equal(sr_ensemble_get(ensemble)->vote, expected[k].vote);
    assert_ok(ctx, sr_ensemble_predict(ctx, ensemble, test, label, proba));
    int64_t between = 0;
    for (int64_t i = 0; i < rows * classes; i++) between += proba[i] > 0.0f && proba[i] < 1.0f;
    assert_int_equal(between > rows / 2, expected[k].vote == SR_VOTE_SOFT);
    sr_own_judgment own;
    assert_int_equal(sr_ensemble_own_judgment(ensemble, 0, &own), expected[k].vote == SR_VOTE_SOFT);
    if (expected[k].vote == SR_VOTE_SOFT) {
      char *text = NULL;
      sr_ensemble *back = NULL;
      void *bytes = NULL;
      int64_t count;
      sr_own_judgment again;
      assert_int_equal(own.judged, sr_table_get(training)->rows);
      assert_int_equal(own.sets, 0); /* cases of a file do not depend on each other */
      assert_true(own.error < 0.4 && own.penalty >= 1e-3 && own.temperature > 0);
      assert_ok(ctx, sr_ensemble_to_bytes(ctx, ensemble, &bytes, &count));
      assert_ok(ctx, sr_ensemble_from_bytes(ctx, bytes, count, &back));
      assert_true(sr_ensemble_own_judgment(back, 0, &again));
      assert_memory_equal(&own, &again, sizeof own);
      assert_ok(ctx, sr_describe_ensemble(ctx, back, SR_DESCRIPTION_TEXT, &text));
      assert_non_null(strstr(text, "rows of its bag that it left out one by one, penalty"));
      sr_bytes_free((void **)&text);
      assert_ok(ctx, sr_describe_ensemble(ctx, back, SR_DESCRIPTION_JSON, &text));
      assert_non_null(strstr(text, "\"left_out\""));
      sr_bytes_free((void **)&text);
      sr_bytes_free(&bytes);
      sr_ensemble_free(&back);
    }
    sr_ensemble_free(&ensemble);
  }
  free(label);
  free(proba);
  sr_table_free(&test);
  sr_table_free(&training);
  sr_context_free(&ctx);
}

static double accuracy(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *table) {
  const sr_table_view *view = sr_table_get(table);
  int32_t *label = malloc((size_t)view->rows * sizeof *label);
  int64_t right = 0;
  assert_ok(ctx, sr_ensemble_predict(ctx, ensemble, table, label, NULL));
  for (int64_t i = 0; i < view->rows; i++)
    right += strcmp(sr_ensemble_get(ensemble)->classes.names[label[i]],
                    view->classes.names[view->label[i]]) == 0;
  free(label);
  return (double)right / (double)view->rows;
}

/* ---- shapes in noise ------------------------------------------------------------------------ */

/* A third is chance. */
static void shapes_are_found(void **state) {
  (void)state;
  const double least[] = {0.88, 0.85, 0.85, 0.68, 0.50};
  sr_context *ctx = test_context(1);
  sr_table *training = read_table(ctx, SR_SOURCE_DIR "/data/shapelets_TRAIN.ts.gz");
  sr_table *test = read_table(ctx, SR_SOURCE_DIR "/data/shapelets_TEST.ts.gz");
  for (int k = 0; k < LEARNERS; k++) {
    sr_ensemble *ensemble = train(ctx, training, learners[k], "uniform", k < 3 ? 3 : 40, true);
    const sr_ensemble_view *view = sr_ensemble_get(ensemble);
    assert_int_equal(view->channels, 1);
    assert_int_equal(view->features, 0);
    double right = accuracy(ctx, ensemble, test);
    if (right < least[k]) fail_msg("%s: accuracy %.3f", learners[k], right);
    /* The honest error tells what the test set will say: 90 and 150 cases, five standard errors of
     * a difference at an error of .1. */
    assert_true(fabs(view->evaluation->honest - (1.0 - right)) < 0.22);
    sr_ensemble_free(&ensemble);
  }
  sr_table_free(&test);
  sr_table_free(&training);
  sr_context_free(&ctx);
}

static void feature_learners_get_columns(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *training = read_table(ctx, SR_SOURCE_DIR "/data/shapelets_TRAIN.ts.gz");
  sr_table *test = read_table(ctx, SR_SOURCE_DIR "/data/shapelets_TEST.ts.gz");
  const char *const names[] = {"tree", "ridge"};
  for (int k = 0; k < 2; k++) {
    sr_ensemble *ensemble = train(ctx, training, names[k], "uniform", 20, true);
    const sr_ensemble_view *view = sr_ensemble_get(ensemble);
    assert_int_equal(view->channels, 0);
    assert_int_equal(view->features, 80); /* steps of the longest series */
    assert_string_equal(view->feature_names[79], "t80");
    (void)accuracy(ctx, ensemble, test);
    sr_ensemble_free(&ensemble);
  }
  sr_table_free(&test);
  sr_table_free(&training);
  sr_context_free(&ctx);
}

/* ---- the shipped set, to the byte ------------------------------------------------------------ */

static uint64_t hash(uint64_t sum, const void *data, size_t count) {
  const uint8_t *byte = data;
  for (size_t i = 0; i < count; i++) sum = (sum ^ byte[i]) * 1099511628211u;
  return sum;
}
static const uint64_t HASH_START = 14695981039346656037u;

/* Members of learners that need no BLAS are the same bytes everywhere. */
static void trees_of_the_shipped_set_are_known(void **state) {
  (void)state;
  static const struct {
    const char *learner;
    uint64_t members;
  } known[] = {{"quant:trees=3", 0xb29c78f3f4525ef9}, {"tsf", 0xdfa53d595ef58542}};
  bool same = true;
  sr_context *ctx = test_context(2);
  sr_table *training = read_table(ctx, SR_SOURCE_DIR "/data/shapelets_TRAIN.ts.gz");
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    sr_ensemble *ensemble = train(ctx, training, known[k].learner, "uniform", 4, false);
    uint64_t sum = HASH_START;
    for (int j = 0; j < 4; j++) {
      sr__bytes bytes = {.ctx = ctx};
      ensemble->learner->save_member(ensemble->encoder, ensemble->member[j], &bytes);
      assert_int_equal(bytes.status, SR_OK);
      sum = hash(sum, bytes.data, (size_t)bytes.size);
      sr__bytes_free(&bytes);
    }
    if (sum != known[k].members)
      print_error("%s: the members have the hash 0x%016llx\n", known[k].learner,
                  (unsigned long long)sum);
    same = same && sum == known[k].members;
    sr_ensemble_free(&ensemble);
  }
  assert_true(same);
  sr_table_free(&training);
  sr_context_free(&ctx);
}

/* So are the kernels of rocket and minirocket and what they make of a series. */
static void features_of_the_shipped_set_are_known(void **state) {
  (void)state;
  static const struct {
    const char *learner;
    bool normalize;
    uint64_t features;
  } known[] = {{"rocket:kernels=200", true, 0x7ee8182df71e350a},
               {"minirocket:features=840", false, 0x45c7a1ba989c20bb},
               {"minirocket:features=840,int16=yes", false, 0xb4f44dbe1ffb201c}};
  bool same = true;
  sr_context *ctx = test_context(1);
  sr_table *training = read_table(ctx, SR_SOURCE_DIR "/data/shapelets_TRAIN.ts.gz");
  const sr_table_view *view = sr_table_get(training);
  sr__series_view series = {view->series, view->series_offset, view->rows, view->channels};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    bool rocket = k == 0;
    const sr__rocket_options by_kernel = {.kernels = 200};
    const sr__minirocket_options by_feature = {.features = 840, .dilations = 32, .whole = k == 2};
    const sr__series_transform *transform = rocket ? &sr__rocket_series : &sr__minirocket_series;
    sr__series_rows *rows = NULL;
    sr__random random;
    void *made = NULL;
    uint64_t sum = HASH_START;
    assert_ok(ctx, sr__series_prepare(ctx, &series, 0, view->rows, known[k].normalize, &rows));
    sr__series_cases cases = {.rows = rows,
                              .count = view->rows,
                              .label = view->label,
                              .classes = view->classes.count};
    sr__series_recipe recipe = {.transform = transform,
                                .options = rocket ? (const void *)&by_kernel : &by_feature,
                                .length = rows->longest};
    sr__random_init(&random, 7, SR_PURPOSE_LEARNER, 0, 0);
    assert_ok(ctx, transform->fit(ctx, &recipe, &cases, &random, &made));
    int64_t tiles = transform->tiles(made, NULL);
    int64_t *begin = malloc((size_t)(tiles + 1) * sizeof *begin);
    transform->tiles(made, begin);
    float *x = malloc((size_t)begin[tiles] * sizeof *x);
    for (int64_t r = 0; r < view->rows; r++) {
      assert_ok(ctx, transform->make_one(ctx, made, rows, r, x));
      sum = hash(sum, x, (size_t)begin[tiles] * sizeof *x);
    }
    if (sum != known[k].features)
      print_error("%s: the features have the hash 0x%016llx\n", known[k].learner,
                  (unsigned long long)sum);
    same = same && sum == known[k].features;
    free(begin);
    free(x);
    transform->free(made);
    sr__series_rows_free(rows);
  }
  assert_true(same);
  sr_table_free(&training);
  sr_context_free(&ctx);
}

/* ---- all plans, bytes -------------------------------------------------------------------------
 */

/* Series whose level says the class, in the order of time so that plans have something to cut. */
static sr_table *level_table(sr_context *ctx, int64_t rows, int32_t channels, int64_t shortest,
                             int64_t longest, bool gaps, bool timed) {
  static const char *const names[] = {"low", "high", "wave"};
  int64_t *offset = calloc((size_t)(rows * channels + 1), sizeof *offset);
  float *series = calloc((size_t)(rows * channels * longest), sizeof *series);
  int32_t *label = calloc((size_t)rows, sizeof *label);
  double *time = calloc((size_t)rows, sizeof *time);
  sr__random random;
  sr__random_init(&random, 3, SR_PURPOSE_TEST, 0, 0);
  int64_t at = 0;
  for (int64_t i = 0; i < rows; i++) {
    int64_t length =
        shortest + (int64_t)sr__random_below(&random, (uint64_t)(longest - shortest + 1));
    label[i] = (int32_t)(i / 7 % 3);
    time[i] = (double)i;
    for (int32_t c = 0; c < channels; c++) {
      for (int64_t t = 0; t < length; t++) {
        double value = 0.3 * sr__random_normal(&random);
        value +=
            label[i] == 2 ? 2.0 * sin(1.9 * (double)t) : (label[i] ? 1.0 : -1.0) * (double)t / 4.0;
        series[at++] = gaps && sr__random_below(&random, 5) == 0 ? NAN : (float)value;
      }
      offset[i * channels + c + 1] = at;
    }
  }
  sr_table_view view = {.rows = rows,
                        .channels = channels,
                        .series_offset = offset,
                        .series = series,
                        .label = label,
                        .classes = {3, names},
                        .time = timed ? time : NULL};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  free(offset);
  free(series);
  free(label);
  free(time);
  return table;
}

static void every_plan_takes_every_learner(void **state) {
  (void)state;
  static const char *const plans[] = {"uniform",  "whole",        "uniform-nm:draw_share=0.4",
                                      "lag-thin", "tmix-thin",    "stationary",
                                      "circular", "moving",       "burn-in",
                                      "spectral", "oracle-block", "auto-block",
                                      "routed",   "choose",       "auto"};
  sr_context *ctx = test_context(1);
  sr_table *table = level_table(ctx, 84, 1, 20, 20, false, true);
  static const char *const small[] = {"rocket:kernels=20", "minirocket:features=84",
                                      "quant:trees=1", "tsf", "minirocket:features=84,int16=yes",
                                      "ridge", "tree",
                                      /* too few steps to learn anything */
                                      "transformer:steps=2,batch=2,width=16,blocks=1",
                                      "mamba:steps=2,batch=2,width=16,blocks=1"};
  enum { SMALL = sizeof small / sizeof *small, NETS = 2 };
  for (size_t p = 0; p < sizeof plans / sizeof *plans; p++)
    for (int k = 0; k < SMALL; k++) {
      sr_ensemble *ensemble = train(ctx, table, small[k], plans[p], 3, false);
      double right = accuracy(ctx, ensemble, table);
      assert_true(right > 1.0 / 3.0 || k >= SMALL - NETS);
      sr_ensemble_free(&ensemble);
    }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void same_bytes_at_any_thread_count_and_after_loading(void **state) {
  (void)state;
  sr_context *one = test_context(1), *three = test_context(3);
  sr_table *table = level_table(one, 60, 2, 15, 30, true, false);
  int64_t rows = sr_table_get(table)->rows;
  float *before = malloc((size_t)rows * 3 * sizeof *before),
        *after = malloc((size_t)rows * 3 * sizeof *after);
  for (int k = 0; k < LEARNERS; k++) {
    sr_ensemble *a = train(one, table, learners[k], "uniform", 4, false);
    sr_ensemble *b = train(three, table, learners[k], "uniform", 4, false), *loaded = NULL;
    void *x = NULL, *y = NULL;
    int64_t xs, ys;
    assert_ok(one, sr_ensemble_to_bytes(one, a, &x, &xs));
    assert_ok(three, sr_ensemble_to_bytes(three, b, &y, &ys));
    assert_int_equal(xs, ys);
    assert_memory_equal(x, y, (size_t)xs);
    assert_ok(one, sr_ensemble_from_bytes(one, x, xs, &loaded));
    assert_int_equal(sr_ensemble_get(loaded)->channels, 2);
    assert_ok(one, sr_ensemble_predict(one, a, table, NULL, before));
    assert_ok(three, sr_ensemble_predict(three, loaded, table, NULL, after));
    assert_memory_equal(before, after, (size_t)rows * 3 * sizeof *before);
    /* Cut off and altered models are refused or answer; they never leave their arrays. */
    for (int64_t cut = 0; cut < xs; cut += 1 + xs / 50) {
      sr_ensemble *broken = NULL;
      assert_int_not_equal(sr_ensemble_from_bytes(one, x, cut, &broken), SR_OK);
    }
    sr_bytes_free(&x);
    sr_bytes_free(&y);
    sr_ensemble_free(&loaded);
    sr_ensemble_free(&b);
    sr_ensemble_free(&a);
  }
  free(before);
  free(after);
  sr_table_free(&table);
  sr_context_free(&three);
  sr_context_free(&one);
}

/* ---- series of every kind -------------------------------------------------------------------- */

static void short_ragged_and_broken_series_have_an_answer(void **state) {
  (void)state;
  const struct {
    int32_t channels;
    int64_t shortest, longest;
    bool gaps;
  } kinds[] = {{1, 1, 3, false}, {1, 5, 8, true}, {3, 1, 40, true}, {2, 12, 12, false}};
  sr_context *ctx = test_context(1);
  for (size_t t = 0; t < sizeof kinds / sizeof *kinds; t++) {
    sr_table *table = level_table(ctx, 45, kinds[t].channels, kinds[t].shortest, kinds[t].longest,
                                  kinds[t].gaps, false);
    for (int k = 0; k < LEARNERS; k++) {
      sr_ensemble *ensemble = train(ctx, table, learners[k], "whole", 1, false);
      assert_true(accuracy(ctx, ensemble, table) > 0.5);
      sr_ensemble_free(&ensemble);
    }
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

static void other_channels_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *two = level_table(ctx, 30, 2, 20, 20, false, false);
  sr_table *three = level_table(ctx, 30, 3, 20, 20, false, false);
  int32_t label[30];
  for (int k = 0; k < LEARNERS; k++) {
    sr_ensemble *ensemble = train(ctx, two, learners[k], "whole", 1, false);
    assert_int_equal(sr_ensemble_predict(ctx, ensemble, three, label, NULL), SR_ERROR_DATA);
    assert_non_null(strstr(sr_context_error(ctx).message, "2 channels"));
    sr_ensemble_free(&ensemble);
  }
  sr_table_free(&three);
  sr_table_free(&two);
  sr_context_free(&ctx);
}

static void features_alone_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = test_simulate(ctx, 1, "ar1:n=%d", 50);
  sr_ensemble *ensemble = NULL;
  sr_train_options o;
  sr_train_options_init(&o);
  o.learner = "rocket:kernels=10";
  assert_int_equal(sr_train(ctx, table, &o, 1, &ensemble), SR_ERROR_DATA);
  assert_non_null(strstr(sr_context_error(ctx).message, "learner rocket needs them"));
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- what a member leaves out -----------------------------------------------------------------
 */

/* By the definition: an entry of another unit is in the margin where some row of the unit is near.
 */
static void unit_sets_follow_their_definition(void **state) {
  (void)state;
  enum { ROWS = 60 };
  sr_context *ctx = test_context(1);
  sr__random random;
  sr__random_init(&random, 5, SR_PURPOSE_TEST, 0, 0);
  for (int round = 0; round < 200; round++) {
    int32_t unit[ROWS], row[ROWS], count = 0;
    for (int i = 0; i < ROWS; i++) {
      unit[i] = round % 2 ? i / 12 : (int32_t)sr__random_below(&random, 4);
      if (sr__random_below(&random, 3)) row[count++] = i;
    }
    sr__row_units units = {unit, (int64_t)sr__random_below(&random, 5)};
    sr__unit_sets sets;
    assert_ok(ctx, sr__unit_sets_new(ctx, &units, row, count, &sets));
    int seen[ROWS] = {0};
    for (int64_t s = 0; s < sets.left_out.sets; s++) {
      int64_t begin = sets.begin[s], judged = sets.judged[s], end = sets.begin[s + 1];
      int32_t own = unit[row[sets.entry[begin]]];
      int inside[ROWS] = {0};
      for (int64_t k = begin; k < end; k++) {
        inside[sets.entry[k]] += k < begin + judged ? 1 : 2;
        if (k < begin + judged) seen[sets.entry[k]]++;
      }
      for (int32_t e = 0; e < count; e++) {
        int expected = unit[row[e]] == own ? 1 : 0;
        for (int32_t f = 0; f < count && !expected; f++)
          if (unit[row[f]] == own && llabs((long long)row[e] - row[f]) <= units.buffer)
            expected = 2;
        assert_int_equal(inside[e], expected);
      }
    }
    for (int32_t e = 0; e < count; e++) assert_true(seen[e] <= 1);
    sr__unit_sets_free(ctx, &sets);
  }
  sr_context_free(&ctx);
}

static void held_out_units_keep_every_class_and_their_margin(void **state) {
  (void)state;
  enum { ROWS = 80 };
  sr_context *ctx = test_context(1);
  sr__random random;
  sr__random_init(&random, 6, SR_PURPOSE_TEST, 0, 0);
  for (int round = 0; round < 200; round++) {
    int32_t unit[ROWS], row[ROWS], label[ROWS], left[4] = {0}, all[4] = {0};
    uint8_t role[ROWS];
    for (int i = 0; i < ROWS; i++) {
      unit[i] = i / 10;
      row[i] = i;
      label[i] = (int32_t)sr__random_below(&random, 4);
      all[label[i]]++;
    }
    sr__row_units units = {round % 3 ? unit : NULL, round % 3 == 1 ? 2 : 0};
    sr__unit_entries entries = {&units, ROWS, row, label, 4};
    assert_ok(ctx, sr__hold_out_units(ctx, &entries, 0.2, &random, role));
    int64_t held = 0;
    for (int i = 0; i < ROWS; i++) {
      left[label[i]] += role[i] != SR__ENTRY_HELD_OUT;
      held += role[i] == SR__ENTRY_HELD_OUT;
      for (int j = 0; j < ROWS; j++) {
        if (role[i] == SR__ENTRY_HELD_OUT && role[j] == SR__ENTRY_TRAINS) {
          assert_true(!units.unit || unit[i] != unit[j]);
          assert_true(abs(i - j) > units.buffer || units.buffer == 0);
        }
      }
    }
    for (int c = 0; c < 4; c++) assert_true(left[c] > 0 || all[c] == 0);
    assert_in_range(held, 10, 26);
  }
  sr_context_free(&ctx);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static sr_status fit_and_ask(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  const struct {
    const sr_table *table;
    const char *learner;
  } *given = data;
  sr_ensemble *ensemble = NULL, *loaded = NULL;
  void *bytes = NULL;
  int64_t count;
  int32_t label[24];
  sr_train_options o;
  sr_train_options_init(&o);
  o.learner = given->learner;
  o.plan = "routed";
  o.members = 2;
  o.evaluate.evaluate = 0;
  SR_TRY(sr_train(ctx, given->table, &o, 1, &ensemble));
  SR_TRY(sr_ensemble_to_bytes(ctx, ensemble, &bytes, &count));
  SR_TRY(sr_ensemble_from_bytes(ctx, bytes, count, &loaded));
  SR_TRY(sr_ensemble_predict(ctx, loaded, given->table, label, NULL));
cleanup:
  sr_bytes_free(&bytes);
  sr_ensemble_free(&loaded);
  sr_ensemble_free(&ensemble);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = level_table(ctx, 24, 1, 12, 12, false, true);
  static const char *const small[] = {"rocket:kernels=4", "minirocket:features=84", "quant:trees=1",
                                      "tsf"};
  for (int k = 0; k < 4; k++) {
    struct {
      const sr_table *table;
      const char *learner;
    } given = {table, small[k]};
    test_every_allocation(fit_and_ask, &given);
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- the command -------------------------------------------------------------------------------
 */

static void the_command_needs_no_target(void **state) {
  (void)state;
  char *out = NULL, *err = NULL, line[1024];
  snprintf(
      line, sizeof line,
      "train %s/data/shapelets_TRAIN.ts.gz --learner minirocket:features=840 --plan whole -m 1 "
      "-o shapelets_test.model --threads 1 --json",
      SR_SOURCE_DIR);
  assert_int_equal(test_command(line, &out, &err), 0);
  assert_non_null(strstr(out, "\"channels\""));
  free(out);
  free(err);
  snprintf(
      line, sizeof line,
      "predict shapelets_test.model %s/data/shapelets_TEST.ts.gz -o shapelets_test.csv --proba "
      "--json",
      SR_SOURCE_DIR);
  assert_int_equal(test_command(line, &out, &err), 0);
  assert_non_null(strstr(out, "\"error\""));
  free(out);
  free(err);
  remove("shapelets_test.model");
  remove("shapelets_test.csv");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calibrated_members_vote_soft),
      cmocka_unit_test(trees_of_the_shipped_set_are_known),
      cmocka_unit_test(features_of_the_shipped_set_are_known),
      cmocka_unit_test(shapes_are_found),
      cmocka_unit_test(feature_learners_get_columns),
      cmocka_unit_test(every_plan_takes_every_learner),
      cmocka_unit_test(same_bytes_at_any_thread_count_and_after_loading),
      cmocka_unit_test(short_ragged_and_broken_series_have_an_answer),
      cmocka_unit_test(other_channels_are_refused),
      cmocka_unit_test(features_alone_are_refused),
      cmocka_unit_test(unit_sets_follow_their_definition),
      cmocka_unit_test(held_out_units_keep_every_class_and_their_margin),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(the_command_needs_no_target),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
