/* Reading numeric csv: the library against a bare memchr/strtod loop, libcsv, pandas, polars and
 * pyarrow, each in a process of its own so that peak memory is its own, and on as many threads
 * where it has them. Files are made in a temporary folder and removed. Usage: bench_csv [megabytes
 * ...] (default 10 100 1000); SR_BENCH_PYTHON names a Python with the peers. */
#include <specroute/specroute.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#ifdef SR_HAVE_LIBCSV
#include <csv.h>
#endif

enum { COLUMNS = 20, BLOCK_BYTES = 1 << 20 };

/* What a run gives back: how long, how many values, their sum as a check, and the peak in MB. */
typedef struct outcome {
  double seconds, values, sum, peak_mb;
  double cpu_seconds; /* of the whole process: what a busy machine does not change */
} outcome;

typedef void (*runner)(const char *path, int threads, outcome *result);

/* ---- the readers -------------------------------------------------------------------------- */

static void run_library(const char *path, int threads, outcome *result) {
  sr_context_options options;
  sr_context *ctx = NULL;
  sr_table *table = NULL;
  sr_context_options_init(&options);
  options.threads = threads;
  double start = bench_seconds();
  if (sr_context_new(&options, &ctx) != SR_OK || sr_table_read(ctx, path, NULL, &table) != SR_OK)
    exit(1);
  result->seconds = bench_seconds() - start;
  const sr_table_view *view = sr_table_get(table);
  result->values = (double)(view->rows * view->features);
  for (int64_t i = 0; i < view->rows * view->features; i++) result->sum += (double)view->x[i];
  sr_table_free(&table);
  sr_context_free(&ctx);
}

typedef struct growing {
  float *value;
  size_t count, capacity;
} growing;

static void keep(growing *values, double value) {
  if (values->count == values->capacity) {
    values->capacity = values->capacity ? values->capacity * 2 : 1 << 16;
    values->value = realloc(values->value, values->capacity * sizeof *values->value);
    if (!values->value) exit(1);
  }
  values->value[values->count++] = (float)value;
}

static void finish(growing *values, outcome *result) {
  result->values = (double)values->count;
  for (size_t i = 0; i < values->count; i++) result->sum += (double)values->value[i];
  free(values->value);
}

/* Lines by memchr, numbers by strtod; nothing is checked. */
static void run_bare_loop(const char *path, int threads, outcome *result) {
  (void)threads;
  growing values = {0};
  double start = bench_seconds();
  FILE *file = fopen(path, "rb");
  char *buffer = malloc(2 * BLOCK_BYTES + 1);
  if (!file || !buffer) exit(1);
  size_t left = 0, got;
  bool header = true;
  while ((got = fread(buffer + left, 1, BLOCK_BYTES, file)) > 0) {
    char *line = buffer, *end = buffer + left + got, *stop;
    for (; (stop = memchr(line, '\n', (size_t)(end - line))); line = stop + 1) {
      *stop = '\0';
      for (char *at = line; !header && at <= stop; at++) keep(&values, strtod(at, &at));
      header = false;
    }
    left = (size_t)(end - line);
    memmove(buffer, line, left);
  }
  fclose(file);
  free(buffer);
  result->seconds = bench_seconds() - start;
  finish(&values, result);
}

#ifdef SR_HAVE_LIBCSV
typedef struct libcsv_state {
  growing values;
  bool header;
} libcsv_state;

static void libcsv_field(void *field, size_t length, void *data) {
  (void)length;
  libcsv_state *state = data;
  if (!state->header) keep(&state->values, strtod(field, NULL));
}

static void libcsv_row(int c, void *data) {
  (void)c;
  ((libcsv_state *)data)->header = false;
}

static void run_libcsv(const char *path, int threads, outcome *result) {
  (void)threads;
  libcsv_state state = {.header = true};
  struct csv_parser parser;
  double start = bench_seconds();
  FILE *file = fopen(path, "rb");
  char *buffer = malloc(BLOCK_BYTES);
  if (!file || !buffer || csv_init(&parser, CSV_APPEND_NULL) != 0) exit(1);
  size_t got;
  while ((got = fread(buffer, 1, BLOCK_BYTES, file)) > 0)
    csv_parse(&parser, buffer, got, libcsv_field, libcsv_row, &state);
  csv_fini(&parser, libcsv_field, libcsv_row, &state);
  csv_free(&parser);
  fclose(file);
  free(buffer);
  result->seconds = bench_seconds() - start;
  finish(&state.values, result);
}
#endif

static void run_python(const char *peer, const char *path, int threads, outcome *result) {
  char line[1000];
  snprintf(line, sizeof line, "%s %s/csv_peers.py %s %d '%s'", getenv("SR_BENCH_PYTHON"),
           SR_BENCH_DIR, peer, threads, path);
  FILE *python = popen(line, "r");
  if (!python || fscanf(python, "%lf %lf %lf %lf %lf", &result->seconds, &result->values,
                        &result->sum, &result->peak_mb, &result->cpu_seconds) != 5)
    exit(1);
  pclose(python);
}

static void run_pandas(const char *path, int threads, outcome *result) {
  run_python("pandas", path, threads, result);
}

static void run_polars(const char *path, int threads, outcome *result) {
  run_python("polars", path, threads, result);
}

static void run_pyarrow(const char *path, int threads, outcome *result) {
  run_python("pyarrow", path, threads, result);
}

static double cpu_seconds(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* ---- children ----------------------------------------------------------------------------- */

/* The best of `repeats` runs, each in a child; false where it failed. */
static bool run(runner body, const char *path, int threads, int repeats, outcome *best) {
  best->seconds = 1e300;
  for (int i = 0; i < repeats; i++) {
    int ends[2];
    outcome result = {0};
    if (pipe(ends) != 0) return false;
    pid_t child = fork();
    if (child == 0) {
      body(path, threads, &result);
      if (result.peak_mb == 0) result.peak_mb = bench_peak_mb();
      if (result.cpu_seconds == 0) result.cpu_seconds = cpu_seconds();
      _exit(write(ends[1], &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
    }
    close(ends[1]);
    bool good = child > 0 && read(ends[0], &result, sizeof result) == (ssize_t)sizeof result;
    close(ends[0]);
    waitpid(child, NULL, 0);
    if (!good) return false;
    if (result.seconds < best->seconds) *best = result;
  }
  return true;
}

/* ---- files -------------------------------------------------------------------------------- */

/* Rows of numbers with six decimals, repeated until the file is large enough. */
static bool make_file(const char *path, long megabytes) {
  char *block = malloc(2 * BLOCK_BYTES);
  FILE *file = fopen(path, "wb");
  if (!block || !file) return false;
  uint64_t state = 88172645463325252u;
  size_t used = 0;
  for (int row = 0; used < BLOCK_BYTES; row++) {
    for (int j = 0; j < COLUMNS; j++) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      double value = ((double)(state >> 11) * 0x1p-53 - 0.5) * 20;
      used += (size_t)sprintf(block + used, "%.6f%c", value, j + 1 < COLUMNS ? ',' : '\n');
    }
  }
  for (int j = 0; j < COLUMNS; j++) fprintf(file, "x%d%c", j + 1, j + 1 < COLUMNS ? ',' : '\n');
  bool good = true;
  for (size_t written = 0; written < (size_t)megabytes * 1000000; written += used)
    good &= fwrite(block, 1, used, file) == used;
  free(block);
  return fclose(file) == 0 && good;
}

typedef struct peer {
  const char *name;
  runner body;
  bool threaded; /* it runs on as many threads as we do */
} peer;

static void compare(const char *path, long megabytes) {
  const peer all[] = {{"memchr/strtod loop", run_bare_loop, false},
#ifdef SR_HAVE_LIBCSV
                      {"libcsv + strtod", run_libcsv, false},
#endif
                      {"pandas read_csv", run_pandas, true},
                      {"polars read_csv", run_polars, true},
                      {"pyarrow read_csv", run_pyarrow, true}};
  size_t count = sizeof all / sizeof *all - (getenv("SR_BENCH_PYTHON") ? 0 : 3);
  int repeats = megabytes < 50 ? 5 : megabytes < 500 ? 2 : 1;
  int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
  outcome us[2];
  for (int k = 0; k < 2; k++) {
    if (!run(run_library, path, k ? cores : 1, repeats, &us[k])) exit(1);
  }
  for (size_t p = 0; p < count; p++) {
    outcome theirs = {0};
    for (int k = 0; k < 2; k++) {
      if ((k == 0 || all[p].threaded) && !run(all[p].body, path, k ? cores : 1, repeats, &theirs))
        break;
      char name[64], more[400];
      double table_mb = us[k].values * 4 / 1048576;
      snprintf(name, sizeof name, "%ld MB", megabytes);
      snprintf(more, sizeof more,
               ", \"us_cpu_seconds\": %.4g, \"peer_cpu_seconds\": %.4g, \"mb_per_second\": %.4g, "
               "\"peak_mb\": %.4g, \"table_mb\": %.4g, "
               "\"peak_over_table\": %.4g, \"peer_peak_mb\": %.4g, \"same_count\": %s",
               us[k].cpu_seconds, theirs.cpu_seconds, (double)megabytes / us[k].seconds,
               us[k].peak_mb, table_mb, us[k].peak_mb / table_mb, theirs.peak_mb,
               us[k].values == theirs.values ? "true" : "false");
      bench_line("csv", name, (int64_t)us[k].values, k ? cores : 1, us[k].seconds, all[p].name,
                 theirs.seconds, more);
    }
  }
}

int main(int count, char **arguments) {
  const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
  static const long defaults[] = {10, 100, 1000};
  int sizes = count > 1 ? count - 1 : 3;
  for (int i = 0; i < sizes; i++) {
    long megabytes = count > 1 ? atol(arguments[i + 1]) : defaults[i];
    char path[500];
    snprintf(path, sizeof path, "%s/bench_csv_%ld.csv", folder, (long)getpid());
    if (!make_file(path, megabytes)) return 1;
    compare(path, megabytes);
    unlink(path);
  }
  return 0;
}
