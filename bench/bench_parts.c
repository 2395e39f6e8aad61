/* Cutting graphs into 64 parts: us against METIS (recursive bisection and k-way) and SCOTCH.
 * bench_parts [N [CASE]] runs one size (default 10^5) and all cases or the one named. Each runs
 * several times where that is short, and the time is the least. SCOTCH is left out from 5 10^6
 * nodes on. All get the same numbering of the nodes. */
#include <math.h>
#include <specroute/specroute.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/random.h"
#include "spectrum/spectrum.h"
#ifdef SR_HAVE_METIS
#include <metis.h>
#endif
#ifdef SR_HAVE_SCOTCH
#include <scotch.h>
#endif

enum { PARTS = 64, LARGE = 5000000, REPEAT_BELOW = 2000000, REPEATS = 3 };

static void *must(void *block) {
  if (!block) {
    fprintf(stderr, "bench_parts: out of memory\n");
    exit(1);
  }
  return block;
}

static void must_be_ok(sr_context *ctx, sr_status status) {
  if (status == SR_OK) return;
  fprintf(stderr, "bench_parts: %s\n", sr_context_error(ctx).message);
  exit(1);
}

/* ---- graphs ------------------------------------------------------------------------------- */

/* A lattice of rows x columns, the share `holes` of its cells left out, 4 or 8 neighbors. */
static sr_graph *make_grid(sr_context *ctx, int64_t rows, int64_t columns, int k, double holes) {
  int64_t cells = rows * columns, nodes = 0, arcs = 0;
  int32_t *name = must(malloc((size_t)cells * sizeof *name));
  sr__random random;
  sr__random_init(&random, 7, SR_PURPOSE_TEST, 0, 0);
  for (int64_t c = 0; c < cells; c++)
    name[c] = holes > 0 && sr__random_uniform(&random) < holes ? -1 : (int32_t)nodes++;
  int64_t *offset = must(malloc(((size_t)nodes + 1) * sizeof *offset));
  int32_t *neighbor = must(malloc((size_t)nodes * (size_t)k * sizeof *neighbor));
  for (int64_t c = 0; c < cells; c++) {
    if (name[c] < 0) continue;
    offset[name[c]] = arcs;
    for (int64_t row = c / columns - 1; row <= c / columns + 1; row++) {
      for (int64_t column = c % columns - 1; column <= c % columns + 1; column++) {
        if (row < 0 || column < 0 || row >= rows || column >= columns) continue;
        int64_t other = row * columns + column;
        if (other == c || name[other] < 0) continue;
        if (k == 4 && row != c / columns && column != c % columns) continue;
        neighbor[arcs++] = name[other];
      }
    }
  }
  offset[nodes] = arcs;
  sr_graph *graph = NULL;
  sr_graph_view view = {.nodes = nodes, .arcs = arcs, .offset = offset, .neighbor = neighbor};
  must_be_ok(ctx, sr_graph_new(ctx, &view, &graph));
  free(name);
  free(offset);
  free(neighbor);
  return graph;
}

/* The graph with its nodes numbered so that neighbors are near. */
static sr_graph *renumber(sr_context *ctx, sr_graph *graph) {
  sr__csr from = sr__csr_view(sr_graph_get(graph)), to;
  int32_t *order = must(malloc((size_t)from.nodes * sizeof *order));
  must_be_ok(ctx, sr__locality_order(ctx, &from, order));
  must_be_ok(ctx, sr__csr_permute(ctx, &from, order, &to));
  for (int64_t i = 0; i < to.nodes; i++) { /* rows must be sorted in a graph */
    int32_t *row = (int32_t *)to.neighbor + to.offset[i];
    int64_t degree = to.offset[i + 1] - to.offset[i];
    for (int64_t a = 1; a < degree; a++) {
      int32_t key = row[a];
      int64_t b = a;
      for (; b > 0 && row[b - 1] > key; b--) row[b] = row[b - 1];
      row[b] = key;
    }
  }
  sr_graph *sorted = NULL;
  sr_graph_view view = {.nodes = to.nodes,
                        .arcs = to.arcs,
                        .offset = to.offset,
                        .neighbor = to.neighbor};
  must_be_ok(ctx, sr_graph_new(ctx, &view, &sorted));
  sr__csr_free(ctx, &to);
  sr_graph_free(&graph);
  free(order);
  return sorted;
}

/* Ten Gaussian clusters with centers N(0, 9 I); 8 neighbors in the plane, else 10. */
static sr_graph *make_knn(sr_context *ctx, int64_t n, int d) {
  float *x = must(malloc((size_t)n * (size_t)d * sizeof *x));
  double *coordinates = must(malloc((size_t)n * (size_t)d * sizeof *coordinates));
  double center[10][8];
  sr__random random;
  sr__random_init(&random, 7, SR_PURPOSE_TEST, 0, (uint64_t)d);
  for (int c = 0; c < 10; c++)
    for (int j = 0; j < d; j++) center[c][j] = 3.0 * sr__random_normal(&random);
  for (int64_t i = 0; i < n; i++) {
    uint64_t c = sr__random_below(&random, 10);
    for (int j = 0; j < d; j++) {
      coordinates[(int64_t)j * n + i] = center[c][j] + sr__random_normal(&random);
      x[(int64_t)j * n + i] = (float)coordinates[(int64_t)j * n + i];
    }
  }
  sr_table *table = NULL;
  sr_graph *graph = NULL;
  sr_table_view view = {.rows = n, .features = d, .x = x};
  if (d == 2) {
    view.coordinate_count = d;
    view.coordinates = coordinates;
  }
  must_be_ok(ctx, sr_table_new(ctx, &view, &table));
  must_be_ok(ctx, sr_graph_build(ctx, table, d == 2 ? "space:8" : "features:10", 1, &graph));
  sr_table_free(&table);
  free(x);
  free(coordinates);
  return renumber(ctx, graph);
}

static sr_graph *make_window(sr_context *ctx, int64_t n, int32_t tau) {
  sr_table *table = NULL;
  sr_graph *graph = NULL;
  sr_table_view view = {.rows = n};
  must_be_ok(ctx, sr_table_new(ctx, &view, &table));
  char text[32];
  snprintf(text, sizeof text, "time:%d", tau);
  must_be_ok(ctx, sr_graph_build(ctx, table, text, 1, &graph));
  sr_table_free(&table);
  return graph;
}

static sr_graph *make_graph(sr_context *ctx, const char *name, int64_t n) {
  int64_t side = (int64_t)(sqrt((double)n) + 0.5), tall = (int64_t)(sqrt(1.2 * (double)n / 0.8));
  int k = name[strlen(name) - 1] - '0';
  if (strncmp(name, "grid", 4) == 0) return make_grid(ctx, side, side, k, 0);
  if (strncmp(name, "hole", 4) == 0)
    return make_grid(ctx, tall, (int64_t)((double)tall / 1.2), k, 0.2);
  if (strncmp(name, "knn", 3) == 0) return make_knn(ctx, n, k);
  return make_window(ctx, n, k);
}

/* ---- contestants -------------------------------------------------------------------------- */

typedef struct outcome {
  double seconds, cpu; /* wall clock, and processor time of all threads */
  double balance;
  int64_t cut;
} outcome;

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The labels of a run are always the same, so only its time is chosen. */
static outcome quicker(outcome a, outcome b) {
  outcome result = a;
  if (b.seconds < a.seconds) result.seconds = b.seconds;
  if (b.cpu < a.cpu) result.cpu = b.cpu;
  return result;
}

static int repeats(const sr_graph *graph) {
  return sr_graph_get(graph)->nodes < REPEAT_BELOW ? REPEATS : 1;
}

static outcome run_ours_once(const sr_graph *graph, sr_parts_mode mode, int threads) {
  sr_context *ctx = NULL;
  sr_context_options context;
  sr_parts_options options;
  sr_parts *parts = NULL;
  sr_context_options_init(&context);
  context.threads = threads;
  if (sr_context_new(&context, &ctx) != SR_OK) exit(1);
  sr_parts_options_init(&options);
  options.parts = PARTS;
  options.mode = mode;
  double start = bench_seconds(), cpu = cpu_seconds();
  must_be_ok(ctx, sr_parts_compute(ctx, graph, &options, &parts));
  const sr_parts_view *view = sr_parts_get(parts);
  outcome result = {.seconds = bench_seconds() - start,
                    .cpu = cpu_seconds() - cpu,
                    .balance = view->balance,
                    .cut = view->cut_edges};
  sr_parts_free(&parts);
  sr_context_free(&ctx);
  return result;
}

static outcome run_ours(const sr_graph *graph, sr_parts_mode mode, int threads) {
  outcome best = run_ours_once(graph, mode, threads);
  for (int r = 1; r < repeats(graph); r++)
    best = quicker(best, run_ours_once(graph, mode, threads));
  return best;
}

#if defined(SR_HAVE_METIS) || defined(SR_HAVE_SCOTCH)
static outcome judge(sr_context *ctx, const sr_graph *graph, const int32_t *label, double seconds,
                     double cpu) {
  sr_parts *parts = NULL;
  must_be_ok(ctx, sr_parts_new(ctx, sr_graph_get(graph)->nodes, label, graph, &parts));
  outcome result = {.seconds = seconds,
                    .cpu = cpu,
                    .balance = sr_parts_get(parts)->balance,
                    .cut = sr_parts_get(parts)->cut_edges};
  sr_parts_free(&parts);
  return result;
}
#endif

#ifdef SR_HAVE_METIS
static outcome run_metis(sr_context *ctx, const sr_graph *graph, int recursive) {
  const sr_graph_view *view = sr_graph_get(graph);
  idx_t nodes = (idx_t)view->nodes, constraints = 1, parts = PARTS, cut = 0;
  idx_t *offset = must(malloc(((size_t)nodes + 1) * sizeof *offset));
  idx_t *neighbor = must(malloc((size_t)view->arcs * sizeof *neighbor));
  idx_t *label = must(malloc((size_t)nodes * sizeof *label));
  for (int64_t i = 0; i <= view->nodes; i++) offset[i] = (idx_t)view->offset[i];
  for (int64_t a = 0; a < view->arcs; a++) neighbor[a] = view->neighbor[a];
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  outcome result = {0};
  for (int r = 0; r < repeats(graph); r++) {
    double start = bench_seconds(), cpu = cpu_seconds();
    if (recursive)
      METIS_PartGraphRecursive(&nodes, &constraints, offset, neighbor, NULL, NULL, NULL, &parts,
                               NULL, NULL, options, &cut, label);
    else
      METIS_PartGraphKway(&nodes, &constraints, offset, neighbor, NULL, NULL, NULL, &parts, NULL,
                          NULL, options, &cut, label);
    outcome run = judge(ctx, graph, label, bench_seconds() - start, cpu_seconds() - cpu);
    result = r == 0 ? run : quicker(result, run);
  }
  free(offset);
  free(neighbor);
  free(label);
  return result;
}
#endif

#ifdef SR_HAVE_SCOTCH
static outcome run_scotch(sr_context *ctx, const sr_graph *graph) {
  const sr_graph_view *view = sr_graph_get(graph);
  SCOTCH_Num *offset = must(malloc(((size_t)view->nodes + 1) * sizeof *offset));
  SCOTCH_Num *neighbor = must(malloc((size_t)view->arcs * sizeof *neighbor));
  int32_t *label = must(malloc((size_t)view->nodes * sizeof *label));
  for (int64_t i = 0; i <= view->nodes; i++) offset[i] = (SCOTCH_Num)view->offset[i];
  for (int64_t a = 0; a < view->arcs; a++) neighbor[a] = view->neighbor[a];
  SCOTCH_Graph peer;
  SCOTCH_Strat strategy;
  SCOTCH_graphInit(&peer);
  SCOTCH_graphBuild(&peer, 0, (SCOTCH_Num)view->nodes, offset, offset + 1, NULL, NULL,
                    (SCOTCH_Num)view->arcs, neighbor, NULL);
  SCOTCH_stratInit(&strategy);
  SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATRECURSIVE, PARTS, 0.01);
  double start = bench_seconds(), cpu = cpu_seconds();
  SCOTCH_graphPart(&peer, PARTS, &strategy, (SCOTCH_Num *)label);
  outcome result = judge(ctx, graph, label, bench_seconds() - start, cpu_seconds() - cpu);
  SCOTCH_stratExit(&strategy);
  SCOTCH_graphExit(&peer);
  free(offset);
  free(neighbor);
  free(label);
  return result;
}
#endif

/* ---- lines -------------------------------------------------------------------------------- */

static void print_line(const char *name, const char *mode, int64_t n, int threads, outcome us,
                       const char *peer, outcome them) {
  char title[64], more[384];
  snprintf(title, sizeof title, "%s %s", name, mode);
  snprintf(more, sizeof more,
           ", \"us_cpu\": %.4g, \"peer_cpu\": %.4g, \"cpu_ratio\": %.4g, \"cut\": %lld, "
           "\"balance\": %.4f, \"peer_cut\": %lld, \"peer_balance\": %.4f, "
           "\"cut_ratio\": %.4f",
           us.cpu, them.cpu, them.cpu / us.cpu, (long long)us.cut, us.balance, (long long)them.cut,
           them.balance, (double)us.cut / (double)them.cut);
  bench_line("parts", title, n, threads, us.seconds, peer, them.seconds, more);
}

static void run_case(sr_context *ctx, const char *name, int64_t n) {
  sr_graph *graph = make_graph(ctx, name, n);
  int64_t nodes = sr_graph_get(graph)->nodes;
  outcome exact[2], fast[2];
  for (int t = 0; t < 2; t++) {
    exact[t] = run_ours(graph, SR_PARTS_EXACT, t + 1);
    fast[t] = run_ours(graph, SR_PARTS_FAST, t + 1);
  }
#ifdef SR_HAVE_METIS
  outcome kway = run_metis(ctx, graph, 0), recursive = run_metis(ctx, graph, 1);
  for (int t = 0; t < 2; t++) print_line(name, "fast", nodes, t + 1, fast[t], "METIS k-way", kway);
  for (int t = 0; t < 2; t++)
    print_line(name, "exact", nodes, t + 1, exact[t], "METIS recursive", recursive);
#endif
#ifdef SR_HAVE_SCOTCH
  if (nodes < LARGE) {
    outcome scotch = run_scotch(ctx, graph);
    print_line(name, "exact", nodes, 2, exact[1], "SCOTCH recursive", scotch);
    print_line(name, "fast", nodes, 2, fast[1], "SCOTCH recursive", scotch);
  }
#endif
  sr_graph_free(&graph);
}

int main(int count, char **argument) {
  static const char *const cases[] = {"grid4", "grid8", "hole4",  "hole8",
                                      "knn2",  "knn5",  "window5"};
  int64_t n = count > 1 ? (int64_t)atof(argument[1]) : 100000;
  sr_context *ctx = NULL;
  if (sr_context_new(NULL, &ctx) != SR_OK) return 1;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    if (count < 3 || strcmp(argument[2], cases[c]) == 0) run_case(ctx, cases[c], n);
  sr_context_free(&ctx);
  return 0;
}
