/* Context, memory, arena, thread pool and files. */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/core.h"
#include "core/sort.h"
#include "harness.h"

static void statuses_have_names(void **state) {
  (void)state;
  assert_string_equal(sr_status_name(SR_ERROR_IO), "SR_ERROR_IO");
  assert_string_equal(sr_status_message(SR_OK), "success");
  assert_string_equal(sr_status_name((sr_status)999), "SR_ERROR_UNKNOWN");
}

static void wrong_context_options_are_refused(void **state) {
  (void)state;
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = -1;
  sr_context *ctx = NULL;
  assert_int_equal(sr_context_new(&options, &ctx), SR_ERROR_ARGUMENT);
  assert_null(ctx);
  sr_context_free(&ctx);
}

static void build_info_is_complete(void **state) {
  (void)state;
  sr_build info = sr_build_info();
  assert_string_equal(info.version, sr_version());
  assert_non_null(strstr(info.features, "zlib"));
  assert_true(info.compiler[0] && info.commit[0] && info.build_type[0]);
}

static void failures_carry_their_place(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  assert_int_equal(sr__fail_at(ctx, SR_ERROR_FORMAT, "a.csv", 3, 7, "found %s", "x"),
                   SR_ERROR_FORMAT);
  sr_error error = sr_context_error(ctx);
  assert_string_equal(error.message, "found x");
  assert_string_equal(error.file, "a.csv");
  assert_int_equal(error.line, 3);
  assert_int_equal(error.column, 7);
  /* A sentence may quote the one before it. */
  assert_int_equal(sr__fail(ctx, SR_ERROR_IO, "because %s", error.message), SR_ERROR_IO);
  assert_string_equal(sr_context_error(ctx).message, "because found x");
  assert_string_equal(sr_context_error(ctx).file, "");
  sr_context_free(&ctx);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void sizes_are_checked(void **state) {
  (void)state;
  size_t result = 7;
  assert_false(sr__size_multiply(SIZE_MAX / 2, 3, &result));
  assert_int_equal(result, 7);
  assert_true(sr__size_multiply(6, 7, &result));
  assert_int_equal(result, 42);
  sr_context *ctx = test_context(1);
  assert_null(sr__alloc(ctx, INT64_MAX, 8));
  assert_int_equal(sr_context_error(ctx).status, SR_ERROR_OVERFLOW);
  assert_null(sr__alloc(ctx, -1, 1));
  void *nothing = sr__alloc(ctx, 0, 8);
  assert_non_null(nothing);
  sr__free(ctx, nothing);
  sr_context_free(&ctx);
}

static sr_status use_arena(sr_context *ctx, void *data) {
  (void)data;
  sr_status status = SR_OK;
  sr__arena arena = {0};
  unsigned char *pieces[200];
  for (int i = 0; i < 200; i++) {
    pieces[i] = sr__arena_alloc(ctx, &arena, 1 + i * 37, 1);
    if (!pieces[i]) SR_TRY(SR_ERROR_MEMORY);
    memset(pieces[i], i, (size_t)(1 + i * 37));
  }
  if (!sr__arena_alloc(ctx, &arena, 1 << 20, 1)) SR_TRY(SR_ERROR_MEMORY);
  for (int i = 0; i < 200; i++)
    for (int j = 0; j <= i * 37; j++) assert_int_equal(pieces[i][j], i);
cleanup:
  sr__arena_free(ctx, &arena);
  return status;
}

static void arenas_hold(void **state) {
  (void)state;
  test_every_allocation(use_arena, NULL);
}

static sr_status grow_array(sr_context *ctx, void *data) {
  (void)data;
  sr_status status = SR_OK;
  int64_t *values = NULL, capacity = 0;
  for (int64_t i = 0; i < 5000; i++) {
    SR_GROW(ctx, values, capacity, i + 1);
    values[i] = i;
  }
  for (int64_t i = 0; i < 5000; i++) assert_int_equal(values[i], i);
cleanup:
  sr__free(ctx, values);
  return status;
}

static void arrays_grow(void **state) {
  (void)state;
  test_every_allocation(grow_array, NULL);
}

/* ---- threads ------------------------------------------------------------------------------ */

typedef struct loop {
  int64_t results[1000];
  atomic_int running[64];
  int64_t fail_from;
} loop;

static sr_status square(sr_context *worker, void *data, int64_t item, int slot) {
  loop *l = data;
  assert_int_equal(atomic_fetch_add(&l->running[slot], 1), 0); /* a slot runs one item at a time */
  sr_status status = SR_OK;
  if (l->fail_from && item >= l->fail_from)
    status = sr__fail(worker, SR_ERROR_DATA, "item %lld", (long long)item);
  l->results[item] = item * item;
  atomic_fetch_sub(&l->running[slot], 1);
  return status;
}

static void loops_fill_every_slot_at_any_thread_count(void **state) {
  (void)state;
  int counts[] = {1, 2, 3, 8};
  for (int c = 0; c < 4; c++) {
    sr_context *ctx = test_context(counts[c]);
    for (int round = 0; round < 50; round++) {
      loop l = {.fail_from = 0};
      assert_ok(ctx, sr__parallel_for(ctx, 1000, square, &l));
      for (int64_t i = 0; i < 1000; i++) assert_int_equal(l.results[i], i * i);
    }
    sr_context_free(&ctx);
  }
}

static void the_lowest_failure_is_reported(void **state) {
  (void)state;
  int counts[] = {1, 2, 8};
  for (int c = 0; c < 3; c++) {
    sr_context *ctx = test_context(counts[c]);
    for (int round = 0; round < 50; round++) {
      loop l = {.fail_from = 137};
      assert_int_equal(sr__parallel_for(ctx, 1000, square, &l), SR_ERROR_DATA);
      assert_string_equal(sr_context_error(ctx).message, "item 137");
      for (int64_t i = 0; i < 137; i++) assert_int_equal(l.results[i], i * i);
    }
    sr_context_free(&ctx);
  }
}

static sr_status nested(sr_context *worker, void *data, int64_t item, int slot) {
  (void)item;
  (void)slot;
  (void)data;
  loop inner = {.fail_from = 0};
  return sr__parallel_for(worker, 10, square, &inner);
}

static void loops_nest(void **state) {
  (void)state;
  sr_context *ctx = test_context(4);
  assert_ok(ctx, sr__parallel_for(ctx, 100, nested, NULL));
  sr_context_free(&ctx);
}

typedef struct numbered {
  int32_t key, place;
  double more;
} numbered;

static int by_key(const void *a, const void *b) {
  const numbered *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

/* In order, equal keys as they stood, and every item once. */
static void long_arrays_are_sorted(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  static const int32_t counts[] = {0, 1, 2, 32768, 32769, 100001, 131072, 200000};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    int32_t count = counts[c];
    numbered *item = malloc(((size_t)count + 1) * sizeof *item);
    for (int32_t i = 0; i < count; i++)
      item[i] = (numbered){(int32_t)(i * 7919LL % 1009), i, i * 0.5};
    assert_ok(ctx, sr__sort(ctx, item, count, sizeof *item, by_key));
    for (int32_t i = 0; i < count; i++) {
      assert_int_equal(item[i].key, item[i].place * 7919LL % 1009);
      assert_true(item[i].more == item[i].place * 0.5);
      if (i == 0) continue;
      bool later = item[i].key == item[i - 1].key && item[i].place > item[i - 1].place;
      assert_true(later || item[i].key > item[i - 1].key);
    }
    free(item);
  }
  numbered few[2] = {{2, 0, 0}, {1, 1, 0}};
  sr_context_interrupt(ctx);
  assert_int_equal(sr__sort(ctx, few, 2, sizeof *few, by_key), SR_ERROR_INTERRUPTED);
  sr_context_free(&ctx);
}

static void an_interrupt_ends_the_loop(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  loop l = {.fail_from = 0};
  sr_context_interrupt(ctx);
  assert_int_equal(sr__parallel_for(ctx, 1000, square, &l), SR_ERROR_INTERRUPTED);
  sr_context_resume(ctx);
  assert_ok(ctx, sr__parallel_for(ctx, 1000, square, &l));
  sr_context_free(&ctx);
}

static sr_status start_pool(sr_context *ctx, void *data) {
  (void)data;
  loop l = {.fail_from = 0};
  return sr__parallel_for(ctx, 1000, square, &l);
}

static void chunks_cover_everything_once(void **state) {
  (void)state;
  int64_t sizes[] = {1, 2, 999, 1000, 1001, 10000000};
  for (int s = 0; s < 6; s++) {
    int64_t size = sr__chunk_size(sizes[s], 1000), count = sr__chunk_count(sizes[s], 1000);
    assert_true(count <= 4096 && (count - 1) * size < sizes[s] && count * size >= sizes[s]);
  }
  test_every_allocation(start_pool, NULL);
}

/* ---- files -------------------------------------------------------------------------------- */

static sr_status write_file(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  sr__writer *writer = NULL;
  SR_TRY(sr__writer_open(ctx, data, &writer));
  SR_TRY(sr__writer_print(writer, "%d lines\n", 2));
  SR_TRY(sr__writer_put(writer, "end\n", 4));
  SR_TRY(sr__writer_commit(&writer));
cleanup:
  sr__writer_abort(&writer);
  return status;
}

static void files_appear_whole_or_not_at_all(void **state) {
  (void)state;
  char path[256];
  snprintf(path, sizeof path, "%s/whole.txt", test_folder());
  test_every_allocation(write_file, path);
  char *text = test_read_file(path, NULL);
  assert_string_equal(text, "2 lines\nend\n");
  free(text);
  sr_context *ctx = test_context(1);
  sr__writer *writer = NULL;
  assert_ok(ctx, sr__writer_open(ctx, path, &writer));
  assert_ok(ctx, sr__writer_print(writer, "half"));
  sr__writer_abort(&writer);
  text = test_read_file(path, NULL);
  assert_string_equal(text, "2 lines\nend\n");
  free(text);
  DIR *folder = opendir(test_folder()); /* nothing temporary is left */
  for (struct dirent *entry; (entry = readdir(folder));)
    assert_null(strstr(entry->d_name, ".specroute-"));
  closedir(folder);
  sr_context_free(&ctx);
}

static mode_t mode_of(const char *path) {
  struct stat info;
  assert_int_equal(lstat(path, &info), 0);
  return info.st_mode;
}

/* Links stay links, modes stay, long names work, pipes and devices are written through. */
static void what_stands_at_the_output_stays_what_it_is(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  char target[300], link[300], pipe[300], longest[600], name[251];
  snprintf(target, sizeof target, "%s/secret.txt", test_folder());
  snprintf(link, sizeof link, "%s/link.txt", test_folder());
  snprintf(pipe, sizeof pipe, "%s/pipe", test_folder());
  memset(name, 'n', 250);
  name[250] = '\0';
  snprintf(longest, sizeof longest, "%s/%s", test_folder(), name);
  assert_ok(ctx, write_file(ctx, target));
  assert_int_equal(chmod(target, 0600), 0);
  assert_int_equal(symlink("secret.txt", link), 0);
  assert_ok(ctx, write_file(ctx, link));
  assert_true(S_ISLNK(mode_of(link)));
  assert_true(S_ISREG(mode_of(target)));
  assert_int_equal(mode_of(target) & 07777, 0600);
  assert_ok(ctx, write_file(ctx, longest));
  assert_int_equal(mkfifo(pipe, 0600), 0);
  int reader = open(pipe, O_RDWR); /* keeps the pipe open without a second process */
  char got[32] = "";
  assert_ok(ctx, write_file(ctx, pipe));
  assert_int_equal(read(reader, got, sizeof got), 12);
  assert_memory_equal(got, "2 lines\nend\n", 12);
  assert_true(S_ISFIFO(mode_of(pipe)));
  close(reader);
  assert_ok(ctx, write_file(ctx, (char[]){"/dev/null"}));
  assert_true(S_ISCHR(mode_of("/dev/null")));
  assert_int_equal(sr_output_check(ctx, link, target), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_output_check(ctx, "/no/such/folder/file", NULL), SR_ERROR_OUTPUT);
  assert_ok(ctx, sr_output_check(ctx, target, "/etc/hostname"));
  sr_context_free(&ctx);
}

static void unwritable_paths_are_named(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  char path[] = "/no/such/folder/file";
  assert_int_equal(write_file(ctx, path), SR_ERROR_OUTPUT);
  assert_non_null(strstr(sr_context_error(ctx).message, "/no/such/folder/file"));
  sr_context_free(&ctx);
}

static void a_full_disk_is_an_error(void **state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) skip();
  int code = system(SR_COMMAND " simulate ar1 --n 100000 >/dev/full 2>/dev/null");
  assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(statuses_have_names),
      cmocka_unit_test(wrong_context_options_are_refused),
      cmocka_unit_test(build_info_is_complete),
      cmocka_unit_test(failures_carry_their_place),
      cmocka_unit_test(sizes_are_checked),
      cmocka_unit_test(arenas_hold),
      cmocka_unit_test(arrays_grow),
      cmocka_unit_test(loops_fill_every_slot_at_any_thread_count),
      cmocka_unit_test(the_lowest_failure_is_reported),
      cmocka_unit_test(loops_nest),
      cmocka_unit_test(long_arrays_are_sorted),
      cmocka_unit_test(an_interrupt_ends_the_loop),
      cmocka_unit_test(chunks_cover_everything_once),
      cmocka_unit_test(files_appear_whole_or_not_at_all),
      cmocka_unit_test(what_stands_at_the_output_stays_what_it_is),
      cmocka_unit_test(unwritable_paths_are_named),
      cmocka_unit_test(a_full_disk_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
