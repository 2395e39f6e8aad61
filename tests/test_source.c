/* Where bytes come from: pipes that say nothing, streams that never end. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

#include <specroute/specroute.h>

static const double ALLOWED_SECONDS = 0.2;

typedef struct interrupter {
  sr_context *ctx;
  double asked;
} interrupter;

static void *interrupt_later(void *data) {
  interrupter *self = data;
  usleep(100000);
  self->asked = sr_seconds();
  sr_context_interrupt(self->ctx);
  return NULL;
}

/* Reads `path`, asks it to stop after 0.1 s and checks how soon it does. */
static void assert_stops_soon(const char *path, int threads) {
  sr_context *ctx = test_context(threads);
  interrupter self = {.ctx = ctx};
  sr_table *table = NULL;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, interrupt_later, &self), 0);
  assert_int_equal(sr_table_read(ctx, path, NULL, &table), SR_ERROR_INTERRUPTED);
  double stopped = sr_seconds();
  pthread_join(thread, NULL);
  assert_null(table);
  assert_true(stopped - self.asked < ALLOWED_SECONDS);
  sr_context_free(&ctx);
}

static void a_silent_fifo_can_be_interrupted(void **state) {
  (void)state;
  char path[512];
  snprintf(path, sizeof path, "%s/silent", test_folder());
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_stops_soon(path, 1); /* nobody writes */
  int writer = open(path, O_RDWR | O_CLOEXEC);
  assert_true(writer >= 0);
  assert_stops_soon(path, 1); /* somebody could */
  assert_int_equal(write(writer, "a,b\n1,2\n3,", 10), 10);
  assert_stops_soon(path, 3); /* somebody began */
  close(writer);
}

static void silent_standard_input_can_be_interrupted(void **state) {
  (void)state;
  int ends[2], kept = dup(STDIN_FILENO);
  assert_int_equal(pipe(ends), 0);
  dup2(ends[0], STDIN_FILENO);
  assert_stops_soon("-", 2);
  if (kept >= 0) dup2(kept, STDIN_FILENO);
  close(ends[0]);
  close(ends[1]);
}

static void *write_slowly(void *data) {
  const char *parts[] = {"a,b\n1,", "2\n3,4", "\n"};
  int writer = open(data, O_WRONLY | O_CLOEXEC);
  for (int i = 0; i < 3; i++) {
    usleep(60000);
    (void)!write(writer, parts[i], strlen(parts[i]));
  }
  close(writer);
  return NULL;
}

static void a_slow_fifo_is_read_to_its_end(void **state) {
  (void)state;
  char path[512];
  snprintf(path, sizeof path, "%s/slow", test_folder());
  assert_int_equal(mkfifo(path, 0600), 0);
  sr_context *ctx = test_context(2);
  sr_table *table = NULL;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, write_slowly, path), 0);
  assert_ok(ctx, sr_table_read(ctx, path, NULL, &table));
  pthread_join(thread, NULL);
  assert_int_equal(sr_table_get(table)->rows, 2);
  assert_close(sr_table_get(table)->x[3], 4, 0);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Zeros without end are no text of any format. */
static void endless_zeros_are_refused(void **state) {
  (void)state;
  const char *const formats[] = {"csv", "tsv", "ucr", "ts", "arff", "libsvm", "npy"};
  sr_context *ctx = test_context(2);
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
    sr_read_options options;
    sr_read_options_init(&options);
    options.format = formats[f];
    sr_table *table = NULL;
    double start = sr_seconds();
    assert_int_equal(sr_table_read(ctx, "/dev/zero", &options, &table), SR_ERROR_FORMAT);
    assert_true(sr_seconds() - start < 1);
  }
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_silent_fifo_can_be_interrupted),
      cmocka_unit_test(silent_standard_input_can_be_interrupted),
      cmocka_unit_test(a_slow_fifo_is_read_to_its_end),
      cmocka_unit_test(endless_zeros_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
