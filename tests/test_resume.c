/* A training that was interrupted goes on from the members that it kept. */
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

enum { ROWS = 300, MEMBERS = 12 };

typedef struct interrupter {
  sr_context *ctx;
  int64_t after; /* members of the fit; 0: never */
} interrupter;

static void stop_after(void *data, const char *stage, int64_t done, int64_t total) {
  (void)total;
  interrupter *i = data;
  if (i->after && strcmp(stage, "fit") == 0 && done >= i->after) sr_context_interrupt(i->ctx);
}

static sr_context *listening_context(interrupter *i) {
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = 1;
  options.progress = stop_after;
  options.progress_data = i;
  assert_int_equal(sr_context_new(&options, &i->ctx), SR_OK);
  return i->ctx;
}

static sr_train_options resuming(const char *learner, const char *path) {
  sr_train_options o;
  sr_train_options_init(&o);
  o.plan = "routed";
  o.learner = learner;
  o.members = MEMBERS;
  o.resume = path;
  o.evaluate.importance = 0;
  return o;
}

static int64_t file_size(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

static void assert_same_model(sr_context *ctx, const sr_ensemble *a, const sr_ensemble *b) {
  void *bytes[2];
  int64_t size[2];
  assert_ok(ctx, sr_ensemble_to_bytes(ctx, a, &bytes[0], &size[0]));
  assert_ok(ctx, sr_ensemble_to_bytes(ctx, b, &bytes[1], &size[1]));
  assert_int_equal(size[0], size[1]);
  /* Times differ; the numbers of a trained ensemble do not. */
  const sr_evaluation *x = sr_ensemble_get(a)->evaluation, *y = sr_ensemble_get(b)->evaluation;
  assert_close(x->honest, y->honest, 0);
  assert_close(x->naive, y->naive, 0);
  for (int k = 0; k < 2; k++) sr_bytes_free(&bytes[k]);
}

static void assert_same_answers(sr_context *ctx, const sr_ensemble *a, const sr_ensemble *b,
                                const sr_table *table) {
  static int32_t vote[2][ROWS];
  static float proba[2][2 * ROWS];
  assert_ok(ctx, sr_ensemble_predict(ctx, a, table, vote[0], proba[0]));
  assert_ok(ctx, sr_ensemble_predict(ctx, b, table, vote[1], proba[1]));
  assert_memory_equal(vote[0], vote[1], sizeof vote[0]);
  assert_memory_equal(proba[0], proba[1], sizeof proba[0]);
}

static void an_interrupted_training_goes_on(void **state) {
  (void)state;
  static const char *const learners[] = {"tree", "ridge"};
  const char *path = test_file("members", "", 0);
  for (int l = 0; l < 2; l++) {
    interrupter i = {0};
    sr_context *ctx = listening_context(&i);
    sr_table *table = test_simulate(ctx, 1, "ar1:n=%d,d=3,tmix=5", ROWS);
    sr_train_options o = resuming(learners[l], NULL);
    sr_ensemble *whole = NULL, *resumed = NULL, *none = NULL;
    assert_ok(ctx, sr_train(ctx, table, &o, 7, &whole));
    o.resume = path;
    i.after = MEMBERS / 2;
    assert_int_equal(sr_train(ctx, table, &o, 7, &none), SR_ERROR_INTERRUPTED);
    assert_null(none);
    int64_t kept = file_size(path);
    assert_true(kept > 1000);
    i.after = 0;
    sr_context_resume(ctx);
    assert_ok(ctx, sr_train(ctx, table, &o, 7, &resumed));
    int64_t all = file_size(path);
    assert_true(all > kept);
    assert_same_model(ctx, whole, resumed);
    assert_same_answers(ctx, whole, resumed, table);
    sr_ensemble_free(&resumed);
    /* Now nothing is left to fit. */
    assert_ok(ctx, sr_train(ctx, table, &o, 7, &resumed));
    assert_int_equal(file_size(path), all);
    assert_same_answers(ctx, whole, resumed, table);
    sr_ensemble_free(&resumed);
    /* A record that was cut short, or damaged, is fitted again. */
    assert_int_equal(truncate(path, all - 5), 0);
    assert_ok(ctx, sr_train(ctx, table, &o, 7, &resumed));
    assert_int_equal(file_size(path), all);
    assert_same_answers(ctx, whole, resumed, table);
    sr_ensemble_free(&resumed);
    /* Another seed shares no member. */
    assert_ok(ctx, sr_train(ctx, table, &o, 8, &resumed));
    assert_true(file_size(path) > all + (all - kept));
    sr_ensemble_free(&resumed);
    sr_ensemble_free(&whole);
    sr_table_free(&table);
    sr_context_free(&ctx);
    assert_int_equal(truncate(path, 0), 0);
  }
}

/* Nets as well: what they held out, their curves and their answers come back from the file. */
static void nets_go_on(void **state) {
  (void)state;
  enum { NETS = 4 };
  static const char *const learners[] = {"transformer:steps=4,batch=2,width=16,blocks=1",
                                         "mamba:steps=4,batch=2,width=16,blocks=1,refit=no"};
  const char *path = test_file("nets", "", 0);
  for (int l = 0; l < 2; l++) {
    interrupter i = {0};
    sr_context *ctx = listening_context(&i);
    sr_table *table = NULL;
    assert_ok(ctx, sr_table_read(ctx, SR_SOURCE_DIR "/data/shapelets_TRAIN.ts.gz", NULL, &table));
    sr_train_options o = resuming(learners[l], NULL);
    sr_ensemble *whole = NULL, *resumed = NULL, *none = NULL;
    void *bytes[2];
    int64_t size[2];
    o.plan = "uniform";
    o.members = NETS;
    o.evaluate.evaluate = 0;
    assert_ok(ctx, sr_train(ctx, table, &o, 7, &whole));
    o.resume = path;
    i.after = NETS / 2;
    assert_int_equal(sr_train(ctx, table, &o, 7, &none), SR_ERROR_INTERRUPTED);
    int64_t kept = file_size(path);
    assert_true(kept > 1000);
    i.after = 0;
    sr_context_resume(ctx);
    assert_ok(ctx, sr_train(ctx, table, &o, 7, &resumed));
    assert_true(file_size(path) > kept);
    assert_ok(ctx, sr_ensemble_to_bytes(ctx, whole, &bytes[0], &size[0]));
    assert_ok(ctx, sr_ensemble_to_bytes(ctx, resumed, &bytes[1], &size[1]));
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], (size_t)size[0]);
    for (int k = 0; k < 2; k++) sr_bytes_free(&bytes[k]);
    sr_ensemble_free(&resumed);
    sr_ensemble_free(&whole);
    sr_table_free(&table);
    sr_context_free(&ctx);
    assert_int_equal(truncate(path, 0), 0);
  }
}

static void other_files_are_left_alone(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = test_simulate(ctx, 1, "ar1:n=%d,d=3,tmix=5", ROWS);
  sr_ensemble *ensemble = NULL;
  const char *path = test_file("rows.csv", "a,b\n1,2\n", 8);
  sr_train_options o = resuming("tree", path);
  assert_int_equal(sr_train(ctx, table, &o, 1, &ensemble), SR_ERROR_FORMAT);
  assert_int_equal(file_size(path), 8);
  o.resume = test_folder();
  assert_int_equal(sr_train(ctx, table, &o, 1, &ensemble), SR_ERROR_IO);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void the_command_removes_what_is_no_longer_needed(void **state) {
  (void)state;
  char line[4096], rows[512], kept[512];
  snprintf(rows, sizeof rows, "%s/made.csv", test_folder());
  snprintf(kept, sizeof kept, "%s/kept", test_folder());
  snprintf(line, sizeof line, "simulate ar1 --n 300 -q -o %s", rows);
  assert_int_equal(test_command(line, NULL, NULL), 0);
  snprintf(line, sizeof line, "train %s --target y -q -m 5 --resume %s -o %s/model", rows, kept,
           test_folder());
  assert_int_equal(test_command(line, NULL, NULL), 0);
  assert_int_equal(file_size(kept), -1);
  /* A file of rows is refused and kept: that of this run at once, another when it is read. */
  char other[512];
  snprintf(other, sizeof other, "%s/other.csv", test_folder());
  snprintf(line, sizeof line, "simulate ar1 --n 300 -q -o %s", other);
  assert_int_equal(test_command(line, NULL, NULL), 0);
  const char *const refused[] = {rows, other};
  for (int k = 0; k < 2; k++) {
    snprintf(line, sizeof line, "train %s --target y -q -m 5 --resume %s -o %s/model", rows,
             refused[k], test_folder());
    assert_int_equal(test_command(line, NULL, NULL), 2 + k);
    assert_true(file_size(refused[k]) > 1000);
  }
}

static sr_status train_twice(sr_context *ctx, void *data) {
  sr_train_options o = resuming("tree", data);
  o.members = 2;
  o.evaluate.evaluate = 0;
  sr_status status = SR_OK;
  sr_table *table = NULL;
  sr_ensemble *ensemble = NULL;
  SR_TRY(sr_simulate(ctx, "ar1:n=60,d=2,tmix=2", 1, 0, &table, NULL));
  for (int k = 0; k < 2; k++) {
    SR_TRY(sr_train(ctx, table, &o, 1, &ensemble));
    sr_ensemble_free(&ensemble);
  }
cleanup:
  sr_table_free(&table);
  return status;
}

static void memory_runs_out_cleanly(void **state) {
  (void)state;
  const char *path = test_file("members", "", 0);
  test_every_allocation(train_twice, (void *)(uintptr_t)path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_interrupted_training_goes_on),
      cmocka_unit_test(nets_go_on),
      cmocka_unit_test(other_files_are_left_alone),
      cmocka_unit_test(the_command_removes_what_is_no_longer_needed),
      cmocka_unit_test(memory_runs_out_cleanly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
