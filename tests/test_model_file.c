/* Model files: the same bytes at any thread count, everything comes back, nothing damaged passes.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ensemble/model_file.h"
#include "harness.h"

enum { N = 120, D = 3 };

static sr_table *small_table(sr_context *ctx) {
  return test_simulate(ctx, 1, "ar1:n=%d,d=%d,tmix=4", N, D);
}

static sr_train_options small_options(sr_vote vote) {
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = "routed";
  options.members = 3;
  options.structure.tmix = 4;
  options.vote = vote;
  options.learner = "tree:max_depth=3";
  return options;
}

static sr_ensemble *small_model(sr_context *ctx, const sr_table *table, sr_vote vote) {
  sr_train_options options = small_options(vote);
  sr_ensemble *ensemble = NULL;
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
  return ensemble;
}

static char *saved(sr_context *ctx, const sr_ensemble *ensemble, size_t *count) {
  char path[256];
  snprintf(path, sizeof path, "%s/model", test_folder());
  assert_ok(ctx, sr_ensemble_save(ctx, ensemble, path));
  return test_read_file(path, count);
}

/* A small table, a model of it, and the bytes of its file. */
typedef struct made {
  sr_context *ctx;
  sr_table *table;
  sr_ensemble *ensemble;
  char *bytes;
  size_t count;
} made;

static made make(sr_vote vote) {
  made m = {.ctx = test_context(1)};
  m.table = small_table(m.ctx);
  m.ensemble = small_model(m.ctx, m.table, vote);
  m.bytes = saved(m.ctx, m.ensemble, &m.count);
  return m;
}

static void made_free(made *m) {
  free(m->bytes);
  sr_ensemble_free(&m->ensemble);
  sr_table_free(&m->table);
  sr_context_free(&m->ctx);
}

static void a_model_comes_back_whole(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = small_table(ctx);
  for (int vote = SR_VOTE_HARD; vote <= SR_VOTE_GATED; vote++) {
    if (vote == SR_VOTE_AUTO) continue; /* a fitted ensemble has made up its mind */
    sr_ensemble *ensemble = small_model(ctx, table, (sr_vote)vote), *back = NULL;
    size_t count, again;
    char *bytes = saved(ctx, ensemble, &count);
    assert_ok(ctx, sr_ensemble_from_bytes(ctx, bytes, (int64_t)count, &back));
    char *second = saved(ctx, back, &again);
    assert_int_equal(count, again);
    assert_memory_equal(bytes, second, count);
    int32_t label[2][N];
    float proba[2][2 * N];
    assert_ok(ctx, sr_ensemble_predict(ctx, ensemble, table, label[0], proba[0]));
    assert_ok(ctx, sr_ensemble_predict(ctx, back, table, label[1], proba[1]));
    assert_memory_equal(label[0], label[1], sizeof label[0]);
    assert_memory_equal(proba[0], proba[1], sizeof proba[0]);
    const sr_ensemble_view *view = sr_ensemble_get(back);
    assert_string_equal(view->mix[0].plan, "routed");
    assert_string_equal(view->learner, "tree:max_depth=3");
    assert_string_equal(view->target_name, "y");
    assert_string_equal(view->feature_names[2], "x3");
    assert_close(view->evaluation->honest, sr_ensemble_get(ensemble)->evaluation->honest, 0);
    free(bytes);
    free(second);
    sr_ensemble_free(&ensemble);
    sr_ensemble_free(&back);
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void the_same_seed_gives_the_same_bytes_at_any_thread_count(void **state) {
  (void)state;
  const char *plans[] = {"auto", "uniform", "routed"};
  const int threads[] = {1, 2, 8};
  for (int p = 0; p < 3; p++) {
    char *first = NULL;
    size_t first_count = 0;
    for (int t = 0; t < 3; t++) {
      sr_context *ctx = test_context(threads[t]);
      sr_table *table = test_simulate(ctx, 1, "ar1:n=800");
      sr_train_options options;
      sr_train_options_init(&options);
      options.plan = plans[p];
      options.members = 20;
      sr_ensemble *ensemble = NULL;
      assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
      size_t count;
      char *bytes = saved(ctx, ensemble, &count);
      if (!first) {
        first = bytes;
        first_count = count;
      } else {
        assert_int_equal(count, first_count);
        assert_memory_equal(bytes, first, count);
        free(bytes);
      }
      sr_ensemble_free(&ensemble);
      sr_table_free(&table);
      sr_context_free(&ctx);
    }
    free(first);
  }
}

static void every_altered_byte_is_noticed(void **state) {
  (void)state;
  made m = make(SR_VOTE_GATED);
  sr_ensemble *back = NULL;
  for (size_t at = 0; at < m.count; at++) {
    for (int bit = 0; bit < 8; bit += 7) {
      m.bytes[at] ^= (char)(1 << bit);
      assert_int_equal(sr_ensemble_from_bytes(m.ctx, m.bytes, (int64_t)m.count, &back),
                       SR_ERROR_FORMAT);
      assert_null(back);
      m.bytes[at] ^= (char)(1 << bit);
    }
  }
  made_free(&m);
}

static void every_cut_is_noticed(void **state) {
  (void)state;
  made m = make(SR_VOTE_HARD);
  sr_ensemble *back = NULL;
  for (size_t length = 0; length < m.count; length++) {
    /* A copy of exactly this length, so that a read past the end is seen by the sanitizer. */
    char *cut = malloc(length ? length : 1);
    memcpy(cut, m.bytes, length);
    assert_int_equal(sr_ensemble_from_bytes(m.ctx, cut, (int64_t)length, &back), SR_ERROR_FORMAT);
    free(cut);
  }
  made_free(&m);
}

static void seal(char *bytes, size_t count) {
  uint64_t length = count - SR_MODEL_HEADER_BYTES - SR_MODEL_CHECKSUM_BYTES;
  memcpy(bytes + 12, &length, sizeof length);
  uint32_t sum = sr__model_checksum(bytes, (int64_t)(count - SR_MODEL_CHECKSUM_BYTES));
  memcpy(bytes + count - SR_MODEL_CHECKSUM_BYTES, &sum, sizeof sum);
}

/* With the checksum made right again every byte is tried with other values: the reader refuses it,
 * or the model it gives can be used without leaving its arrays. */
static void altered_bytes_behind_a_right_checksum_do_no_harm(void **state) {
  (void)state;
  made m = make(SR_VOTE_GATED);
  sr_ensemble *back = NULL;
  int32_t label[N];
  const char flips[] = {1, (char)0x80, (char)0xff};
  for (size_t at = SR_MODEL_HEADER_BYTES; at < m.count - SR_MODEL_CHECKSUM_BYTES; at++) {
    for (size_t k = 0; k < sizeof flips; k++) {
      m.bytes[at] ^= flips[k];
      seal(m.bytes, m.count);
      sr_status status = sr_ensemble_from_bytes(m.ctx, m.bytes, (int64_t)m.count, &back);
      if (status == SR_OK)
        (void)!sr_ensemble_predict(m.ctx, back, m.table, label, NULL);
      else
        assert_int_equal(status, SR_ERROR_FORMAT);
      sr_ensemble_free(&back);
      m.bytes[at] ^= flips[k];
    }
  }
  made_free(&m);
}

static void unknown_sections_are_passed_over_or_refused_by_their_first_letter(void **state) {
  (void)state;
  made m = make(SR_VOTE_HARD);
  sr_ensemble *back = NULL;
  const char *tags[] = {"note", "Note"};
  for (int k = 0; k < 2; k++) {
    char *longer = calloc(1, m.count + 17);
    size_t end = m.count - SR_MODEL_CHECKSUM_BYTES;
    memcpy(longer, m.bytes, end);
    memcpy(longer + end, tags[k], 4);
    longer[end + 4] = 5;
    seal(longer, m.count + 17);
    sr_status status = sr_ensemble_from_bytes(m.ctx, longer, (int64_t)m.count + 17, &back);
    assert_int_equal(status, k ? SR_ERROR_FORMAT : SR_OK);
    sr_ensemble_free(&back);
    free(longer);
  }
  uint32_t version = SR_MODEL_VERSION + 1;
  memcpy(m.bytes + 8, &version, sizeof version);
  seal(m.bytes, m.count);
  assert_int_equal(sr_ensemble_from_bytes(m.ctx, m.bytes, (int64_t)m.count, &back),
                   SR_ERROR_FORMAT);
  assert_non_null(strstr(sr_context_error(m.ctx).message, "version 4"));
  made_free(&m);
}

static sr_status save_and_load(sr_context *ctx, void *data) {
  char path[256];
  snprintf(path, sizeof path, "%s/oom-model", test_folder());
  sr_ensemble *ensemble = NULL, *back = NULL;
  sr_status status = sr_ensemble_load(ctx, data, &ensemble);
  if (status == SR_OK) status = sr_ensemble_save(ctx, ensemble, path);
  if (status == SR_OK) status = sr_ensemble_load(ctx, path, &back);
  sr_ensemble_free(&ensemble);
  sr_ensemble_free(&back);
  return status;
}

static void files_survive_every_allocation_failure(void **state) {
  (void)state;
  made m = make(SR_VOTE_GATED);
  char path[256];
  snprintf(path, sizeof path, "%s/whole", test_folder());
  assert_ok(m.ctx, sr_ensemble_save(m.ctx, m.ensemble, path));
  test_every_allocation(save_and_load, path);
  made_free(&m);
}

/* A child saves over the model again and again and is killed at arbitrary moments. */
static void a_killed_writer_leaves_a_whole_model(void **state) {
  (void)state;
  made m = make(SR_VOTE_HARD);
  sr_ensemble *back = NULL;
  char path[256];
  snprintf(path, sizeof path, "%s/victim", test_folder());
  assert_ok(m.ctx, sr_ensemble_save(m.ctx, m.ensemble, path));
  for (int round = 0; round < 12; round++) {
    pid_t child = fork();
    if (child == 0) {
      for (;;) (void)!sr_ensemble_save(m.ctx, m.ensemble, path);
    }
    usleep(1500 * (useconds_t)(round + 1));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_ok(m.ctx, sr_ensemble_load(m.ctx, path, &back));
    sr_ensemble_free(&back);
  }
  made_free(&m);
}

static void a_missing_file_is_named(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_ensemble *back = NULL;
  assert_int_equal(sr_ensemble_load(ctx, "/nonexistent/model", &back), SR_ERROR_IO);
  assert_non_null(strstr(sr_context_error(ctx).message, "/nonexistent/model"));
  const char *path = test_file("text.txt", "a,b\n1,2\n", 8);
  assert_int_equal(sr_ensemble_load(ctx, path, &back), SR_ERROR_FORMAT);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_model_comes_back_whole),
      cmocka_unit_test(the_same_seed_gives_the_same_bytes_at_any_thread_count),
      cmocka_unit_test(every_altered_byte_is_noticed),
      cmocka_unit_test(every_cut_is_noticed),
      cmocka_unit_test(altered_bytes_behind_a_right_checksum_do_no_harm),
      cmocka_unit_test(unknown_sections_are_passed_over_or_refused_by_their_first_letter),
      cmocka_unit_test(files_survive_every_allocation_failure),
      cmocka_unit_test(a_killed_writer_leaves_a_whole_model),
      cmocka_unit_test(a_missing_file_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
