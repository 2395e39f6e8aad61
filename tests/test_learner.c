/* What every learner of the registry must do: store, refuse damage, survive memory failure, and
 * give the same bytes at any thread count. A new learner is covered by its line in the registry. */
#include <math.h>

#include "data/table.h"
#include "learner_kit.h"

/* Numbers with gaps, and one column of words. */
static sr_table *mixed_table(sr_context *ctx, int64_t n) {
  enum { D = 4 };
  static sr_dictionary categories[D] = {{0, NULL}, {0, NULL}, {5, kit_names}, {0, NULL}};
  float *x = malloc(sizeof *x * (size_t)n * D);
  int32_t *label = malloc(sizeof *label * (size_t)n);
  sr__random random;
  sr__random_init(&random, 17, SR_PURPOSE_TEST, 0, 0);
  for (int64_t i = 0; i < n; i++) {
    for (int j = 0; j < D; j++) {
      double value = j == 2 ? (double)sr__random_below(&random, 5) : sr__random_normal(&random);
      x[j * n + i] = sr__random_uniform(&random) < 0.05 ? NAN : (float)value;
    }
    double score =
        (isnan(x[i]) ? 0.0 : x[i]) + (x[2 * n + i] == 3.0f) + 0.5 * sr__random_normal(&random);
    label[i] = score > 0.8 ? 2 : score > 0.0;
    if (i % 50 == 49) label[i] = -1;
  }
  sr_table_view view = {.rows = n,
                        .features = D,
                        .x = x,
                        .categories = categories,
                        .label = label,
                        .classes = {3, kit_names}};
  sr_table *table = NULL;
  if (sr_table_new(ctx, &view, &table) != SR_OK) table = NULL;
  free(x);
  free(label);
  return table;
}

static kit_options options_of(const sr__learner *learner) {
  kit_options options;
  kit_options_init(&options);
  options.name = learner->about.name;
  if (strcmp(options.name, "xgboost") == 0) options.name = "xgboost:rounds=2,max_depth=3";
  options.min_leaf = 3;
  return options;
}

#define FOR_EACH_TABLE_LEARNER(learner)                                                      \
  for (int index_ = 0; sr_learner_method(index_); index_++)                                  \
    for (const sr__learner *learner = (const sr__learner *)sr_learner_method(index_);        \
         learner && !learner->about.missing && (learner->flags & SR_LEARNER_TAKES_FEATURES); \
         learner = NULL)

static sr_status load_fitted(sr_context *ctx, const sr__learner *learner, const sr__bytes *encoder,
                             const sr__bytes *member, fitted *f) {
  sr_status status = SR_OK;
  sr__byte_reader shared_reader = {ctx, encoder->data, encoder->size, 0, "the model", SR_OK};
  sr__byte_reader member_reader = {ctx, member->data, member->size, 0, "the model", SR_OK};
  *f = (fitted){.learner = learner};
  SR_TRY(learner->load_encoder(&shared_reader, &f->encoder));
  SR_TRY(learner->load_member(&member_reader, f->encoder, &f->member));
cleanup:
  return status;
}

static void names_are_found(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const sr_method *found = NULL;
  FOR_EACH_TABLE_LEARNER(learner) {
    assert_ok(ctx, sr_method_check(ctx, "learner", sr_learner_method, learner->about.name, &found));
    assert_ptr_equal(found, &learner->about);
  }
  assert_int_equal(sr_method_check(ctx, "learner", sr_learner_method, "treee", &found),
                   SR_ERROR_NOT_FOUND);
  assert_non_null(strstr(sr_context_error(ctx).message, "tree"));
  assert_null(sr_learner_method(-1));
  assert_null(sr_learner_method(1000));
  sr_context_free(&ctx);
}

static void stored_members_vote_alike(void **state) {
  (void)state;
  enum { N = 400 };
  sr_context *ctx = test_context(1);
  sr_table *table = mixed_table(ctx, N);
  FOR_EACH_TABLE_LEARNER(learner) {
    kit_options options = options_of(learner);
    fitted f, loaded;
    sr__bytes encoder, member, again_shared, again_member;
    int32_t vote[N], loaded_vote[N];
    float proba[3 * N], loaded_proba[3 * N];
    assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
    save_fitted(ctx, &f, &encoder, &member);
    assert_ok(ctx, encoder.status);
    assert_ok(ctx, member.status);
    assert_ok(ctx, load_fitted(ctx, learner, &encoder, &member, &loaded));
    assert_ok(ctx, predict_table(ctx, &f, table, vote, proba));
    assert_ok(ctx, predict_table(ctx, &loaded, table, loaded_vote, loaded_proba));
    assert_memory_equal(vote, loaded_vote, sizeof vote);
    assert_memory_equal(proba, loaded_proba, sizeof proba);
    save_fitted(ctx, &loaded, &again_shared, &again_member);
    assert_int_equal(again_shared.size, encoder.size);
    assert_memory_equal(again_shared.data, encoder.data, (size_t)encoder.size);
    assert_int_equal(again_member.size, member.size);
    assert_memory_equal(again_member.data, member.data, (size_t)member.size);
    for (int i = 0; i < N; i++) {
      double sum = proba[3 * i] + proba[3 * i + 1] + proba[3 * i + 2];
      assert_close(sum, 1.0, 1e-5);
    }
    assert_int_equal(learner->classes(loaded.encoder), 3);
    assert_int_equal(learner->features(loaded.encoder), 4);
    sr__bytes_free(&encoder);
    sr__bytes_free(&member);
    sr__bytes_free(&again_shared);
    sr__bytes_free(&again_member);
    fitted_free(&f);
    fitted_free(&loaded);
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Loads altered bytes. They are refused as SR_ERROR_FORMAT, or they still make a model that can be
 * asked for votes without leaving its arrays (the sanitizers watch). */
static void try_bytes(sr_context *ctx, const sr__learner *learner, const sr__bytes *encoder,
                      const sr__bytes *member, const sr_table *table) {
  fitted f;
  sr_status status = load_fitted(ctx, learner, encoder, member, &f);
  if (status == SR_OK) {
    int64_t n = sr_table_get(table)->rows;
    int32_t classes = learner->classes(f.encoder);
    int32_t *vote = malloc(sizeof *vote * (size_t)n);
    float *proba = malloc(sizeof *proba * (size_t)(n * classes));
    status = predict_table(ctx, &f, table, vote, proba);
    for (int64_t i = 0; status == SR_OK && i < n; i++) assert_in_range(vote[i], 0, classes - 1);
    assert_true(status == SR_OK || status == SR_ERROR_DATA);
    free(vote);
    free(proba);
  } else {
    assert_int_equal(status, SR_ERROR_FORMAT);
  }
  fitted_free(&f);
}

static void damaged_bytes_are_refused_or_harmless(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = mixed_table(ctx, 120), *few = NULL;
  int32_t rows[20];
  for (int i = 0; i < 20; i++) rows[i] = 5 * i;
  assert_ok(ctx, sr__table_select(ctx, table, rows, 20, &few));
  FOR_EACH_TABLE_LEARNER(learner) {
    kit_options options = options_of(learner);
    fitted f;
    sr__bytes stored[2];
    assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
    save_fitted(ctx, &f, &stored[0], &stored[1]);
    for (int which = 0; which < 2; which++) {
      sr__bytes *bytes = &stored[which];
      for (int64_t i = 0; i < bytes->size; i++) {
        for (int bit = 0; bit < 8; bit += 3) {
          bytes->data[i] ^= (uint8_t)(1 << bit);
          try_bytes(ctx, learner, &stored[0], &stored[1], few);
          bytes->data[i] ^= (uint8_t)(1 << bit);
        }
      }
      int64_t whole = bytes->size;
      for (bytes->size = 0; bytes->size < whole; bytes->size++) {
        fitted cut;
        assert_int_equal(load_fitted(ctx, learner, &stored[0], &stored[1], &cut), SR_ERROR_FORMAT);
        fitted_free(&cut);
      }
    }
    sr__random random;
    sr__random_init(&random, 3, SR_PURPOSE_TEST, 0, 0);
    for (int round = 0; round < 2000; round++) {
      uint8_t noise[256];
      for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = round % 2 ? (uint8_t)sr__random_bits(&random)
                             : (uint8_t)(sr__random_below(&random, 8) == 0);
      sr__bytes from = {.ctx = ctx, .data = noise, .size = sizeof noise};
      try_bytes(ctx, learner, &from, &from, few);
      try_bytes(ctx, learner, &stored[0], &from, few);
    }
    sr__bytes_free(&stored[0]);
    sr__bytes_free(&stored[1]);
    fitted_free(&f);
  }
  sr_table_free(&table);
  sr_table_free(&few);
  sr_context_free(&ctx);
}

static sr_status whole_life(sr_context *ctx, void *data) {
  const sr__learner *learner = data;
  sr_status status = SR_OK;
  sr_table *table = mixed_table(ctx, 150);
  fitted f = {0}, loaded = {0};
  sr__bytes encoder = {.ctx = ctx}, member = {.ctx = ctx};
  kit_options options = options_of(learner);
  int32_t vote[150];
  float proba[450];
  sr__encoded *copy = NULL;
  if (!table) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(fit_table(ctx, table, &options, NULL, 1, &f));
  SR_TRY(predict_table(ctx, &f, table, vote, proba));
  SR_TRY(learner->copy_encoded(ctx, f.encoder, learner->training_encoded(f.training), &copy));
  save_fitted(ctx, &f, &encoder, &member);
  SR_TRY(encoder.status);
  SR_TRY(member.status);
  SR_TRY(load_fitted(ctx, learner, &encoder, &member, &loaded));
cleanup:
  if (copy) learner->free_encoded(copy);
  fitted_free(&f);
  fitted_free(&loaded);
  sr__bytes_free(&encoder);
  sr__bytes_free(&member);
  sr_table_free(&table);
  return status;
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  FOR_EACH_TABLE_LEARNER(learner) test_every_allocation(whole_life, (void *)(uintptr_t)learner);
}

/* ---- threads ------------------------------------------------------------------------------ */

typedef struct crowd {
  const fitted *prepared;
  int64_t rows;
  sr__bytes stored[12];
} crowd;

static sr_status fit_one(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  sr_status status = SR_OK;
  crowd *c = data;
  const fitted *f = c->prepared;
  int32_t *rows = NULL;
  sr__member *member = NULL;
  sr__random random;
  SR_NEW(ctx, rows, c->rows);
  for (int64_t i = 0; i < c->rows; i++) rows[i] = (int32_t)((i * 17 + item) % c->rows);
  sr__bag bag = {.rows = rows, .length = c->rows / 2};
  sr__random_init(&random, 1, SR_PURPOSE_LEARNER, 0, (uint64_t)item);
  sr__fit_input input = {f->encoder, f->training, f->configuration.options, 1};
  SR_TRY(f->learner->fit(ctx, &input, &bag, &random, &member));
  f->learner->save_member(f->encoder, member, &c->stored[item]);
  status = c->stored[item].status;
cleanup:
  sr__free(ctx, rows);
  f->learner->free_member(member);
  return status;
}

static void threads_do_not_change_the_bytes(void **state) {
  (void)state;
  enum { MEMBERS = 12 };
  FOR_EACH_TABLE_LEARNER(learner) {
    crowd first = {0};
    sr_context *first_ctx = test_context(1);
    for (int threads = 1; threads <= 8; threads *= 2) {
      sr_context *ctx = threads == 1 ? first_ctx : test_context(threads);
      sr_table *table = mixed_table(ctx, 3001);
      kit_options options = options_of(learner);
      fitted f;
      assert_ok(ctx, fit_table(ctx, table, &options, NULL, 1, &f));
      crowd c = {.prepared = &f, .rows = 3001};
      for (int i = 0; i < MEMBERS; i++) c.stored[i].ctx = ctx;
      assert_ok(ctx, sr__parallel_for(ctx, MEMBERS, fit_one, &c));
      for (int i = 0; threads > 1 && i < MEMBERS; i++) {
        assert_int_equal(c.stored[i].size, first.stored[i].size);
        assert_memory_equal(c.stored[i].data, first.stored[i].data, (size_t)c.stored[i].size);
        sr__bytes_free(&c.stored[i]);
      }
      fitted_free(&f);
      sr_table_free(&table);
      if (threads == 1) first = c;
      if (threads > 1) sr_context_free(&ctx);
    }
    for (int i = 0; i < MEMBERS; i++) sr__bytes_free(&first.stored[i]);
    sr_context_free(&first_ctx);
  }
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void wrong_inputs_are_named(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  float x[4] = {1, 2, 3, 4};
  int32_t label[2] = {0, 1};
  sr_table_view unlabeled = {.rows = 2, .features = 2, .x = x};
  sr_table_view labeled = {
      .rows = 2, .features = 2, .x = x, .label = label, .classes = {2, kit_names}};
  sr_table_view narrow = {.rows = 2, .features = 1, .x = x};
  sr_table *without = NULL, *with = NULL, *other = NULL;
  assert_ok(ctx, sr_table_new(ctx, &unlabeled, &without));
  assert_ok(ctx, sr_table_new(ctx, &labeled, &with));
  assert_ok(ctx, sr_table_new(ctx, &narrow, &other));
  FOR_EACH_TABLE_LEARNER(learner) {
    kit_options options = options_of(learner);
    fitted f;
    int32_t vote[2];
    assert_int_equal(fit_table(ctx, without, &options, NULL, 1, &f), SR_ERROR_DATA);
    fitted_free(&f);
    assert_ok(ctx, fit_table(ctx, with, &options, NULL, 1, &f));
    assert_int_equal(predict_table(ctx, &f, other, vote, NULL), SR_ERROR_DATA);
    assert_non_null(strstr(sr_context_error(ctx).message, "features"));
    fitted_free(&f);
  }
  static const char *const bad[] = {"tree:min_leaf=0", "tree:max_bins=257", "tree:max_bins=1",
                                    "tree:max_features=-2", "tree:max_depth=-1"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    assert_int_equal(sr_method_check(ctx, "learner", sr_learner_method, bad[k], NULL),
                     SR_ERROR_ARGUMENT);
  sr_table_free(&without);
  sr_table_free(&with);
  sr_table_free(&other);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_found),
      cmocka_unit_test(stored_members_vote_alike),
      cmocka_unit_test(damaged_bytes_are_refused_or_harmless),
      cmocka_unit_test(memory_may_run_out_anywhere),
      cmocka_unit_test(threads_do_not_change_the_bytes),
      cmocka_unit_test(wrong_inputs_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
