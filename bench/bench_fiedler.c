/* The Fiedler pair: us against CHOLMOD shift-invert, ARPACK, SLEPc with algebraic multigrid, and
 * what Python offers (bench/fiedler_peers.py).
 *   bench_fiedler N CASE[,CASE...] PEER[,PEER...] [TIMEOUT [THREADS]]
 * CASE: path window grid holes knn2 knn5 knn10 path-edges; PEER: none arpack cholmod slepc
 * slepc-hypre eigsh eigsh-shift lobpcg sklearn. A peer that takes more than TIMEOUT seconds (60) is
 * stopped; its line then says so and the ratio is a lower bound. Every peer runs in a process of
 * its own, on one thread. Times of one thread are processor time, others time on the wall;
 * us_wall_seconds is always the latter, so that thread counts can be compared. */
#include <math.h>
#include <signal.h>
#include <specroute/specroute.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench_fiedler_peers.h"
#include "core/random.h"
#include "graph/graph.h"

/* ---- memory of ours ------------------------------------------------------------------------- */

/* A run of its own, so that the meter costs no time. Workers allocate too. */
typedef struct meter {
  atomic_size_t now, peak;
} meter;

/* Blocks carry their size in front, so that the meter knows what a release gives back. */
enum { HEADER = 32 };

static void *meter_allocate(void *data, size_t bytes) {
  meter *m = data;
  char *block = malloc(bytes + HEADER);
  if (!block) return NULL;
  memcpy(block, &bytes, sizeof bytes);
  size_t now = atomic_fetch_add(&m->now, bytes) + bytes, peak = atomic_load(&m->peak);
  while (now > peak && !atomic_compare_exchange_weak(&m->peak, &peak, now)) continue;
  return block + HEADER;
}

static void meter_release(void *data, void *block) {
  size_t bytes;
  if (!block) return;
  memcpy(&bytes, (char *)block - HEADER, sizeof bytes);
  atomic_fetch_sub(&((meter *)data)->now, bytes);
  free((char *)block - HEADER);
}

static void *meter_resize(void *data, void *block, size_t bytes) {
  void *grown = meter_allocate(data, bytes);
  if (grown && block) {
    size_t old;
    memcpy(&old, (char *)block - HEADER, sizeof old);
    memcpy(grown, block, old < bytes ? old : bytes);
    meter_release(data, block);
  }
  return grown;
}

static sr_context *context_with(int threads, meter *m) {
  sr_context_options options;
  sr_context *ctx = NULL;
  sr_context_options_init(&options);
  options.threads = threads;
  if (m) options.allocator = (sr_allocator){meter_allocate, meter_resize, meter_release, m};
  if (sr_context_new(&options, &ctx) != SR_OK) exit(1);
  return ctx;
}

static void check(sr_context *ctx, sr_status status) {
  if (status == SR_OK) return;
  fprintf(stderr, "bench_fiedler: %s\n", sr_context_error(ctx).message);
  exit(1);
}

/* ---- graphs --------------------------------------------------------------------------------- */

static sr_graph *build(sr_context *ctx, const sr_table_view *view, const char *builder,
                       int number) {
  sr_table *table = NULL;
  sr_graph *graph = NULL;
  char text[64];
  snprintf(text, sizeof text, "%s:%d", builder, number);
  check(ctx, sr_table_new(ctx, view, &table));
  check(ctx, sr_graph_build(ctx, table, text, 1, &graph));
  sr_table_free(&table);
  return graph;
}

static sr_graph *window_graph(sr_context *ctx, int64_t n, int tau) {
  float *x = calloc((size_t)n, sizeof *x);
  sr_graph *graph = build(ctx, &(sr_table_view){.rows = n, .features = 1, .x = x}, "time", tau);
  free(x);
  return graph;
}

static sr_graph *grid_graph(sr_context *ctx, int64_t n, double holes) {
  int64_t rows = (int64_t)sqrt((double)n / (1 - holes) * 1.2), columns = 0, count = 0;
  columns = (int64_t)((double)n / (1 - holes) / (double)rows);
  float *x = calloc((size_t)(rows * columns), sizeof *x);
  int64_t *cell = malloc((size_t)(rows * columns) * sizeof *cell);
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_TEST, 0, 0);
  for (int64_t c = 0; c < rows * columns; c++) {
    if (holes == 0 || sr__random_uniform(&random) >= holes) cell[count++] = c;
  }
  sr_table_view view = {.rows = count,
                        .features = 1,
                        .x = x,
                        .grid_rows = rows,
                        .grid_columns = columns,
                        .cell = cell};
  sr_graph *graph = build(ctx, &view, "grid", 4);
  free(x);
  free(cell);
  return graph;
}

/* Uniform points, or ten Gaussian clusters whose centers are as far apart as they are wide. */
static sr_graph *knn_graph(sr_context *ctx, int64_t n, int d, bool clustered) {
  float *x = malloc((size_t)(n * d) * sizeof *x);
  double center[10][16];
  sr__random random;
  sr__random_init(&random, 2, SR_PURPOSE_TEST, 0, 0);
  for (int c = 0; c < 10; c++) {
    for (int j = 0; j < d; j++) center[c][j] = sr__random_normal(&random);
  }
  for (int64_t i = 0; i < n; i++) {
    uint64_t c = sr__random_below(&random, 10);
    for (int j = 0; j < d; j++)
      x[j * n + i] = (float)(clustered ? center[c][j] + sr__random_normal(&random)
                                       : sr__random_uniform(&random));
  }
  sr_graph *graph = build(ctx, &(sr_table_view){.rows = n, .features = d, .x = x}, "features", 10);
  free(x);
  return graph;
}

/* The same arcs without the knowledge that they are a window. */
static sr_graph *forget(sr_context *ctx, sr_graph *graph) {
  sr_graph *plain = NULL;
  check(ctx, sr_graph_new(ctx, sr_graph_get(graph), &plain));
  sr_graph_free(&graph);
  return plain;
}

static sr_graph *make_case(sr_context *ctx, const char *name, int64_t n) {
  sr_graph *graph = NULL, *connected = NULL;
  int32_t *nodes = NULL;
  int64_t count = 0;
  if (strcmp(name, "path") == 0) return window_graph(ctx, n, 1);
  if (strcmp(name, "window") == 0) return window_graph(ctx, n, 5);
  if (strcmp(name, "path-edges") == 0) return forget(ctx, window_graph(ctx, n, 1));
  if (strcmp(name, "window-edges") == 0) return forget(ctx, window_graph(ctx, n, 5));
  if (strcmp(name, "grid") == 0) return grid_graph(ctx, n, 0);
  if (strcmp(name, "holes") == 0) graph = grid_graph(ctx, n, 0.2);
  if (strcmp(name, "knn2") == 0) graph = knn_graph(ctx, n, 2, false);
  if (strcmp(name, "knn5") == 0) graph = knn_graph(ctx, n, 5, false);
  if (strcmp(name, "knn10") == 0) graph = knn_graph(ctx, n, 10, true);
  if (!graph) {
    fprintf(stderr, "bench_fiedler: no case %s\n", name);
    exit(1);
  }
  check(ctx, sr__graph_largest(ctx, graph, &nodes, &count));
  check(ctx, sr__graph_extract(ctx, graph, nodes, count, &connected));
  sr__free(ctx, nodes);
  sr_graph_free(&graph);
  return connected;
}

/* ---- peers ---------------------------------------------------------------------------------- */

static const char *graph_file(const sr_graph_view *view) {
  static char path[64];
  snprintf(path, sizeof path, "/tmp/bench_fiedler.%d.csr", (int)getpid());
  FILE *file = fopen(path, "wb");
  if (!file) exit(1);
  int64_t sizes[2] = {view->nodes, view->arcs};
  fwrite(sizes, sizeof *sizes, 2, file);
  fwrite(view->offset, sizeof *view->offset, (size_t)view->nodes + 1, file);
  fwrite(view->neighbor, sizeof *view->neighbor, (size_t)view->arcs, file);
  fclose(file);
  return path;
}

enum { STOPPED = 3, WALL_FACTOR = 8 };

static void run_python(const char *peer, const char *path, fiedler_outcome *out) {
  char line[512];
  snprintf(line, sizeof line,
           "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 ${SR_BENCH_PYTHON:-python3} "
           "bench/fiedler_peers.py %s %s",
           peer, path);
  FILE *pipe_end = popen(line, "r");
  if (!pipe_end) _exit(1);
  int read = fscanf(pipe_end, "%lf %lf", &out->seconds, &out->value), status = pclose(pipe_end);
  /* A shell tells of a child that a signal ended by 128 and more. */
  if (read != 2) _exit(WIFSIGNALED(status) || WEXITSTATUS(status) > 128 ? STOPPED : 1);
}

static void run_arpack(const sr_graph *graph, fiedler_outcome *out) {
  sr_context *ctx = context_with(1, NULL);
  sr_spectrum_options options;
  sr_spectrum *spectrum = NULL;
  sr_spectrum_options_init(&options);
  options.solver = "arpack";
  double start = cpu_seconds();
  check(ctx, sr_spectrum_compute(ctx, graph, &options, 1, &spectrum));
  *out = (fiedler_outcome){cpu_seconds() - start, sr_spectrum_get(spectrum)->value[0]};
}

static void run_peer(const char *peer, const sr_graph *graph, const char *path,
                     fiedler_outcome *out) {
  const sr_graph_view *view = sr_graph_get(graph);
  if (strcmp(peer, "arpack") == 0)
    run_arpack(graph, out);
  else if (strcmp(peer, "cholmod") == 0)
    fiedler_cholmod(view, out);
  else if (strcmp(peer, "slepc") == 0)
    fiedler_slepc(view, "gamg", out);
  else if (strcmp(peer, "slepc-hypre") == 0)
    fiedler_slepc(view, "hypre", out);
  else
    run_python(peer, path, out);
}

/* Runs the peer in a child that may use `timeout` seconds of processor time. False where that was
 * not enough; out->seconds < 0 where it failed. */
static bool run_in_child(const char *peer, const sr_graph *graph, const char *path, double timeout,
                         fiedler_outcome *out) {
  int ends[2], status = 0;
  bool ended = false;
  *out = (fiedler_outcome){-1, 0};
  if (pipe(ends) != 0) return true;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    fiedler_outcome own = {-1, 0};
    rlim_t seconds = (rlim_t)timeout + 1;
    setpgid(0, 0);
    setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds});
    run_peer(peer, graph, path, &own);
    _exit(write(ends[1], &own, sizeof own) == sizeof own ? 0 : 1);
  }
  close(ends[1]);
  double start = bench_seconds();
  while (!ended && bench_seconds() - start < WALL_FACTOR * timeout) {
    ended = waitpid(child, &status, WNOHANG) == child;
    if (!ended) usleep(2000);
  }
  if (!ended) {
    kill(-child, SIGKILL);
    waitpid(child, &status, 0);
  }
  bool stopped = !ended || WIFSIGNALED(status) || WEXITSTATUS(status) == STOPPED;
  if (!stopped && read(ends[0], out, sizeof *out) != sizeof *out) out->seconds = -1;
  close(ends[0]);
  return !stopped;
}

/* ---- us ------------------------------------------------------------------------------------- */

typedef struct ours {
  double seconds, wall, value, residual, memory_ratio;
  int64_t iterations;
  char solver[32];
} ours;

static double graph_bytes(const sr_graph_view *view) {
  double bytes = 8.0 * (double)(view->nodes + 1) + 4.0 * (double)view->arcs;
  return view->weight ? bytes + 4.0 * (double)view->arcs : bytes;
}

static double peak_over_graph(const sr_graph *graph, int threads) {
  meter m = {0, 0};
  sr_context *ctx = context_with(threads, &m);
  sr_spectrum *spectrum = NULL;
  check(ctx, sr_spectrum_compute(ctx, graph, NULL, 1, &spectrum));
  double ratio = (double)m.peak / graph_bytes(sr_graph_get(graph));
  sr_spectrum_free(&spectrum);
  sr_context_free(&ctx);
  return ratio;
}

static ours run_us(const sr_graph *graph, int threads) {
  sr_context *ctx = context_with(threads, NULL);
  const sr_graph_view *view = sr_graph_get(graph);
  ours best = {.seconds = 1e300};
  double wall = 1e300;
  int repeats = view->nodes <= 200000 ? 5 : view->nodes <= 2000000 ? 2 : 1;
  for (int r = 0; r < repeats; r++) {
    sr_spectrum *spectrum = NULL;
    double cpu_start = cpu_seconds(), start = bench_seconds();
    check(ctx, sr_spectrum_compute(ctx, graph, NULL, 1, &spectrum));
    double passed = bench_seconds() - start;
    double taken = threads == 1 ? cpu_seconds() - cpu_start : passed;
    if (passed < wall) wall = passed;
    const sr_spectrum_view *s = sr_spectrum_get(spectrum);
    if (taken < best.seconds) {
      best = (ours){.seconds = taken,
                    .value = s->value[0],
                    .residual = s->residual,
                    .iterations = s->iterations};
      snprintf(best.solver, sizeof best.solver, "%s", s->solver);
    }
    sr_spectrum_free(&spectrum);
  }
  best.wall = wall;
  sr_context_free(&ctx);
  best.memory_ratio = peak_over_graph(graph, threads);
  return best;
}

static void print_line(const char *name, const sr_graph_view *view, int threads, const ours *us,
                       const char *peer, double seconds, bool in_time, double value) {
  char more[400];
  snprintf(more, sizeof more,
           ", \"us_wall_seconds\": %.6g, \"arcs\": %lld, \"ns_per_arc\": %.4g, "
           "\"memory_over_graph\": %.3g, \"solver\": "
           "\"%s\", \"iterations\": %lld, \"lambda2\": %.9e, \"peer_lambda2\": %.9e, "
           "\"peer_stopped\": %s",
           us->wall, (long long)view->arcs, us->seconds / (double)view->arcs * 1e9,
           us->memory_ratio, us->solver, (long long)us->iterations, us->value, value,
           in_time ? "false" : "true");
  bench_line("fiedler", name, view->nodes, threads, us->seconds, peer, seconds, more);
}

static void run_case(const char *name, int64_t n, const char *peers, double timeout, int threads) {
  sr_context *ctx = context_with(0, NULL);
  sr_graph *graph = make_case(ctx, name, n);
  const sr_graph_view *view = sr_graph_get(graph);
  ours us = run_us(graph, threads);
  const char *path = strcmp(peers, "none") == 0 ? "" : graph_file(view);
  char list[256], *rest = NULL;
  snprintf(list, sizeof list, "%s", peers);
  for (char *peer = strtok_r(list, ",", &rest); peer; peer = strtok_r(NULL, ",", &rest)) {
    if (strcmp(peer, "none") == 0) {
      print_line(name, view, threads, &us, "", 0, true, 0);
      continue;
    }
    fiedler_outcome out;
    bool in_time = run_in_child(peer, graph, path, timeout, &out);
    if (in_time && out.seconds < 0) continue; /* not in this build, or it gave up */
    print_line(name, view, threads, &us, peer, in_time ? out.seconds : timeout, in_time, out.value);
  }
  if (*path) remove(path);
  sr_graph_free(&graph);
  sr_context_free(&ctx);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "bench_fiedler N CASES PEERS [TIMEOUT [THREADS]]\n");
    return 2;
  }
  char cases[256], *rest = NULL;
  double timeout = argc > 4 ? atof(argv[4]) : 60;
  int threads = argc > 5 ? atoi(argv[5]) : 1;
  snprintf(cases, sizeof cases, "%s", argv[2]);
  for (char *name = strtok_r(cases, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    run_case(name, (int64_t)atof(argv[1]), argv[3], timeout, threads);
  return 0;
}
