/* Times one graph builder and prints a JSON line:
 *   bench_graph BUILDER K THREADS RUNS ROWS COLUMNS [FILE [OPTIONS]]
 * OPTIONS are further ones of the builder, such as exact=yes.
 * FILE holds ROWS x COLUMNS raw values, column-major: float64 coordinates for space, float32
 * features for features. time and grid need none (K is tau for time; the grid is square). Best of
 * RUNS, wall clock and processor time (all threads together); megabytes are the peak of the
 * process beyond what it held before the build. */
#include <math.h>
#include <specroute/specroute.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/core.h"
#include "core/isa.h"

typedef struct request {
  const char *builder;
  int32_t k;
  int threads, runs;
  int64_t rows, columns;
  const char *file, *options;
} request;

static void die(const char *what) {
  fprintf(stderr, "bench_graph: %s\n", what);
  exit(1);
}

static void *read_values(const request *r, size_t size) {
  size_t count = (size_t)(r->rows * r->columns);
  void *values = malloc(count * size);
  FILE *file = r->file ? fopen(r->file, "rb") : NULL;
  if (!values || !file || fread(values, size, count, file) != count) die("cannot read FILE");
  fclose(file);
  return values;
}

static sr_table *make_table(sr_context *ctx, const request *r) {
  sr_table_view view = {.rows = r->rows};
  void *values = NULL;
  if (strcmp(r->builder, "space") == 0) {
    view.coordinates = values = read_values(r, sizeof(double));
    view.coordinate_count = (int32_t)r->columns;
  } else if (strcmp(r->builder, "features") == 0) {
    view.x = values = read_values(r, sizeof(float));
    view.features = r->columns;
  } else if (strcmp(r->builder, "grid") == 0) {
    int64_t *cell = values = malloc((size_t)r->rows * sizeof *cell);
    if (!cell) die("out of memory");
    for (int64_t i = 0; i < r->rows; i++) cell[i] = i;
    view.cell = cell;
    view.grid_columns = (int64_t)sqrt((double)r->rows);
    view.grid_rows = r->rows / view.grid_columns + 1;
  }
  sr_table *table = NULL;
  if (sr_table_new(ctx, &view, &table) != SR_OK) die(sr_context_error(ctx).message);
  free(values);
  return table;
}

/* Makes the peak that the kernel reports begin anew at what is held now. */
static void reset_peak(void) {
  FILE *file = fopen("/proc/self/clear_refs", "w");
  if (!file) return;
  fputs("5", file);
  fclose(file);
}

/* VmHWM (the peak) or VmRSS (now) of this process. */
static double megabytes_of(const char *field) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  double kilobytes = 0;
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, field, strlen(field)) == 0) kilobytes = atof(line + strlen(field) + 1);
  }
  if (file) fclose(file);
  return kilobytes / 1024.0;
}

/* Of the neighbors, so that levels and machines can be compared. */
static uint64_t hash_graph(const sr_graph_view *graph) {
  uint64_t hash = 1469598103934665603u;
  for (int64_t a = 0; a < graph->arcs; a++)
    hash = (hash ^ (uint64_t)graph->neighbor[a]) * 1099511628211u;
  return hash;
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc < 7) die("BUILDER K THREADS RUNS ROWS COLUMNS [FILE]");
  request r = {.builder = argv[1],
               .k = atoi(argv[2]),
               .threads = atoi(argv[3]),
               .runs = atoi(argv[4]),
               .rows = atoll(argv[5]),
               .columns = atoll(argv[6]),
               .file = argc > 7 ? argv[7] : NULL,
               .options = argc > 8 ? argv[8] : NULL};
  sr_context_options settings;
  sr_context_options_init(&settings);
  settings.threads = r.threads;
  sr_context *ctx = NULL;
  if (sr_context_new(&settings, &ctx) != SR_OK) die("no context");
  sr_table *table = make_table(ctx, &r);
  char text[128];
  snprintf(text, sizeof text, "%s:%d%s%s", r.builder, r.k, r.options ? "," : "",
           r.options ? r.options : "");
  reset_peak();
  double best = INFINITY, best_cpu = INFINITY, before = megabytes_of("VmRSS:"), peak = 0,
         recall = 1;
  int64_t arcs = 0;
  uint64_t hash = 0;
  for (int run = 0; run < r.runs; run++) {
    sr_graph *graph = NULL;
    double start = sr_seconds(), start_cpu = cpu_seconds();
    if (sr_graph_build(ctx, table, text, 1, &graph) != SR_OK) die(sr_context_error(ctx).message);
    best = fmin(best, sr_seconds() - start);
    best_cpu = fmin(best_cpu, cpu_seconds() - start_cpu);
    if (run == 0) peak = megabytes_of("VmHWM:") - before;
    arcs = sr_graph_get(graph)->arcs;
    recall = sr_graph_get(graph)->recall;
    hash = hash_graph(sr_graph_get(graph));
    sr_graph_free(&graph);
  }
  double graph_megabytes = ((double)arcs * 4 + (double)r.rows * 8) / 1048576.0;
  printf(
      "{\"bench\":\"graph\",\"case\":\"%s\",\"n\":%lld,\"d\":%lld,\"k\":%d,\"threads\":%d,"
      "\"us_seconds\":%.4f,\"us_cpu_seconds\":%.4f,\"arcs\":%lld,\"recall\":%.4f,\"graph_"
      "megabytes\":%.0f,"
      "\"peak_megabytes\":%.0f,\"isa\":\"%s\",\"hash\":\"%016llx\"}\n",
      r.builder, (long long)r.rows, (long long)r.columns, r.k, r.threads, best, best_cpu,
      (long long)arcs, recall, graph_megabytes, peak, sr__isa_name(sr__isa()),
      (unsigned long long)hash);
  sr_table_free(&table);
  sr_context_free(&ctx);
  return 0;
}
