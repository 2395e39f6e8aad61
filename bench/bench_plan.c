/* Making bags, beside writing as many indices and beside numpy and arch.
 *
 *   bench_plan [members repeats rows...]   20 members, 3 repeats, 10^5 to 10^7 rows unless given
 *   SR_BENCH_PYTHON: a Python with the peers
 *
 * "write indices" computes and stores as many 32-bit numbers as the table has rows, once a member:
 * about the least that a program does that hands out bags of n rows as index lists. Bags hold rows
 * with counts. Those of uniform-nm, lag-thin, routed and spectral (one part of 500) are shorter. */
#include <specroute/specroute.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { PARTS = 500 };

typedef struct job {
  sr_context *ctx;
  sr_plan *plan;
  int64_t *rows;
  int32_t *counts;
  int32_t members;
  int64_t n;
} job;

static void must(sr_context *ctx, sr_status status) {
  if (status == SR_OK) return;
  fprintf(stderr, "bench_plan: %s\n", sr_context_error(ctx).message);
  exit(1);
}

static void make_bags(void *data) {
  job *j = data;
  int64_t length;
  for (int32_t member = 0; member < j->members; member++)
    must(j->ctx, sr_plan_bag(j->ctx, j->plan, member, j->rows, j->counts, &length));
}

static void write_indices(void *data) {
  job *j = data;
  for (int32_t member = 0; member < j->members; member++)
    for (int64_t i = 0; i < j->n; i++) ((volatile int32_t *)j->rows)[i] = (int32_t)(i ^ member);
}

/* Seconds that a Python peer takes for the same bags; below 0 where it cannot run. */
static double peer_seconds(const char *setup, const char *statement, int64_t n, int32_t members) {
  const char *python = getenv("SR_BENCH_PYTHON") ? getenv("SR_BENCH_PYTHON") : "python3";
  char line[1024], text[64];
  snprintf(line, sizeof line,
           "%s -c \"import time, numpy as np\nn, m = %lld, %d\nrng = np.random.default_rng(1)\n%s\n"
           "t = time.perf_counter()\nfor _ in range(m): %s\nprint(time.perf_counter() - t)\" "
           "2>/dev/null",
           python, (long long)n, members, setup, statement);
  FILE *pipe = popen(line, "r");
  double seconds = pipe && fgets(text, sizeof text, pipe) ? atof(text) : -1.0;
  if (pipe) pclose(pipe);
  return seconds;
}

typedef struct peer_times {
  double writing, integers, counted, circular, stationary;
} peer_times;

static peer_times time_peers(job *j, int repeats) {
  return (peer_times){
      .writing = bench_best(write_indices, j, repeats),
      .integers = peer_seconds("", "rng.integers(0, n, n, dtype=np.int32)", j->n, j->members),
      .counted = peer_seconds("", "np.bincount(rng.integers(0, n, n, dtype=np.int32), minlength=n)",
                              j->n, j->members),
      .circular = peer_seconds("b = int(round(n ** (1/3)))\nstep = np.arange(b)",
                               "((rng.integers(0, n, -(-n // b))[:, None] + step) % n).ravel()[:n]",
                               j->n, j->members),
      .stationary = peer_seconds(
          "from arch.bootstrap import StationaryBootstrap\nbs = StationaryBootstrap(n ** (1/3), "
          "np.arange(n), seed=1)",
          "bs.update_indices()", j->n, j->members)};
}

static double time_plan(job *j, const sr_parts *parts, const char *name, int repeats) {
  sr_structure_input known = {.rows = j->n,
                              .part = sr_parts_get(parts)->part,
                              .parts = PARTS,
                              .tmix = 50,
                              .block_rows = 500};
  sr_structure *structure = NULL;
  bool spectral = strcmp(name, "spectral") == 0; /* a part per member */
  bool by_parts = spectral || strcmp(name, "routed") == 0;
  char text[32];
  snprintf(text, sizeof text, by_parts ? "%s:parts=%d" : "%s", name, PARTS);
  must(j->ctx, sr_structure_new(j->ctx, &known, &structure));
  must(j->ctx, sr_plan_new(j->ctx, structure, text, spectral ? PARTS : j->members, 1, &j->plan));
  sr_structure_free(&structure);
  double seconds = bench_best(make_bags, j, repeats);
  sr_plan_free(&j->plan);
  return seconds;
}

static void run(job *j, const sr_parts *parts, int repeats) {
  peer_times peers = time_peers(j, repeats);
  const struct {
    const char *name, *peer;
    double seconds;
  } cases[] = {{"uniform", "write indices", peers.writing},
               {"uniform", "numpy integers", peers.integers},
               {"uniform", "numpy integers + bincount", peers.counted},
               {"uniform-nm", "write indices", peers.writing},
               {"circular", "write indices", peers.writing},
               {"circular", "numpy circular blocks", peers.circular},
               {"stationary", "arch StationaryBootstrap", peers.stationary},
               {"moving", "write indices", peers.writing},
               {"lag-thin", "write indices", peers.writing},
               {"spectral", "write indices", peers.writing},
               {"routed", "write indices", peers.writing}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char more[64];
    snprintf(more, sizeof more, ", \"members\": %d", j->members);
    bench_line("plan", cases[c].name, j->n, 1, time_plan(j, parts, cases[c].name, repeats),
               cases[c].peer, cases[c].seconds, more);
  }
}

static void run_size(job *j, int64_t n, int repeats) {
  sr_parts *parts = NULL;
  int32_t *label = malloc((size_t)n * sizeof *label);
  j->n = n;
  j->rows = malloc((size_t)n * sizeof *j->rows);
  j->counts = malloc((size_t)n * sizeof *j->counts);
  if (!j->rows || !j->counts || !label) exit(1);
  for (int64_t i = 0; i < n; i++) label[i] = (int32_t)(i * PARTS / n);
  must(j->ctx, sr_parts_new(j->ctx, n, label, NULL, &parts));
  run(j, parts, repeats);
  sr_parts_free(&parts);
  free(j->rows);
  free(j->counts);
  free(label);
}

int main(int count, char **arguments) {
  static const int64_t sizes[] = {100000, 1000000, 10000000};
  job j = {.members = count > 1 ? atoi(arguments[1]) : 20};
  int repeats = count > 2 ? atoi(arguments[2]) : 3;
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = 1;
  if (sr_context_new(&options, &j.ctx) != SR_OK) return 1;
  for (int i = 3; i < count; i++) run_size(&j, atoll(arguments[i]), repeats);
  for (int i = 0; count <= 3 && i < 3; i++) run_size(&j, sizes[i], repeats);
  sr_context_free(&j.ctx);
  return 0;
}
