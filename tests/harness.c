#include "harness.h"

#include <math.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The paths of the tests are told from the folder of their programs. */
__attribute__((constructor)) static void enter_folder(void) {
  if (chdir(SR_TEST_FOLDER) != 0) perror(SR_TEST_FOLDER);
}

sr_context *test_context(int threads) {
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = threads;
  sr_context *ctx = NULL;
  if (sr_context_new(&options, &ctx) != SR_OK) fail_msg("no context");
  return ctx;
}

void assert_close_(double actual, double expected, double tolerance, const char *file, int line) {
  double scale = fabs(expected) > 1.0 ? fabs(expected) : 1.0;
  if (!(fabs(actual - expected) <= tolerance * scale)) {
    print_error("%.17g is not within %g of %.17g\n", actual, tolerance, expected);
    _fail(file, line);
  }
}

/* ---- allocation failure ------------------------------------------------------------------- */

typedef struct failing_memory {
  atomic_llong calls;
  long long fail_at; /* this call and all after it fail */
  atomic_llong live;
} failing_memory;

static void *failing_allocate(void *data, size_t bytes) {
  failing_memory *memory = data;
  if (atomic_fetch_add(&memory->calls, 1) >= memory->fail_at) return NULL;
  atomic_fetch_add(&memory->live, 1);
  return malloc(bytes);
}

static void *failing_resize(void *data, void *block, size_t bytes) {
  failing_memory *memory = data;
  if (atomic_fetch_add(&memory->calls, 1) >= memory->fail_at) return NULL;
  if (!block) atomic_fetch_add(&memory->live, 1);
  return realloc(block, bytes);
}

static void failing_release(void *data, void *block) {
  failing_memory *memory = data;
  if (block) atomic_fetch_sub(&memory->live, 1);
  free(block);
}

void test_every_allocation(test_body body, void *data) {
  for (long long fail_at = 0;; fail_at++) {
    failing_memory memory = {.fail_at = fail_at};
    sr_context_options options;
    sr_context_options_init(&options);
    options.threads = 1;
    options.allocator = (sr_allocator){failing_allocate, failing_resize, failing_release, &memory};
    sr_context *ctx = NULL;
    sr_status status = sr_context_new(&options, &ctx);
    if (status == SR_OK) status = body(ctx, data);
    bool failed = atomic_load(&memory.calls) > fail_at;
    if (status != (failed ? SR_ERROR_MEMORY : SR_OK))
      fail_msg("allocation %lld %s, yet the status is %s: %s", fail_at,
               failed ? "failed" : "did not fail", sr_status_name(status),
               ctx ? sr_context_error(ctx).message : "no context");
    sr_context_free(&ctx);
    if (atomic_load(&memory.live) != 0)
      fail_msg("allocation %lld failed and %lld blocks were never freed", fail_at,
               (long long)atomic_load(&memory.live));
    if (!failed) return;
  }
}

/* ---- files -------------------------------------------------------------------------------- */

static char folder[64];

static void remove_folder(void) {
  char line[128];
  snprintf(line, sizeof line, "rm -rf '%s'", folder);
  (void)!system(line);
}

const char *test_folder(void) {
  if (!folder[0]) {
    snprintf(folder, sizeof folder, "/tmp/specroute-test-XXXXXX");
    if (!mkdtemp(folder)) fail_msg("no temporary folder");
    atexit(remove_folder);
  }
  return folder;
}

const char *test_file(const char *name, const void *bytes, size_t count) {
  static char paths[8][256];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, count, file) != count || fclose(file) != 0)
    fail_msg("cannot write %s", path);
  return path;
}

char *test_read_file(const char *path, size_t *count) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  size_t capacity = 1 << 16, used = 0;
  char *bytes = malloc(capacity);
  size_t got;
  while (bytes && (got = fread(bytes + used, 1, capacity - used - 1, file)) > 0) {
    used += got;
    if (capacity - used - 1 == 0) bytes = realloc(bytes, capacity *= 2);
  }
  fclose(file);
  if (!bytes) return NULL;
  bytes[used] = '\0';
  if (count) *count = used;
  return bytes;
}

const char *test_shared_data(const char *relative) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", SR_SHARED_DATA, relative);
  return access(path, R_OK) == 0 ? path : NULL;
}

int test_command(const char *arguments, char **out, char **err) {
  char out_path[128], err_path[128];
  snprintf(out_path, sizeof out_path, "%s/stdout", test_folder());
  snprintf(err_path, sizeof err_path, "%s/stderr", test_folder());
  size_t length = strlen(arguments) + 512;
  char *line = malloc(length);
  snprintf(line, length, "%s %s >%s 2>%s", SR_COMMAND, arguments, out_path, err_path);
  int code = system(line);
  free(line);
  if (out) *out = test_read_file(out_path, NULL);
  if (err) *err = test_read_file(err_path, NULL);
  return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

sr_table *test_simulate(sr_context *ctx, uint64_t seed, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  sr_table *table = NULL;
  assert_ok(ctx, sr_simulate(ctx, text, seed, 0, &table, NULL));
  return table;
}
