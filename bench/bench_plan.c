/* Making 100 bags of a million rows, beside writing as many indices and beside numpy and arch.
 *
 *   bench_plan [rows members repeats]      SR_BENCH_PYTHON: a Python with the peers
 *
 * "write indices" copies members x rows 32-bit indices out of a table in the cache's reach: the
 * least that any program does that hands out bags as index lists. */
#include <specroute/specroute.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { PARTS = 500 };

typedef struct job {
  sr_context *ctx;
  sr_plan *plan;
  int32_t *rows, *counts;
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

int main(int count, char **arguments) {
  job j = {.n = count > 1 ? atoll(arguments[1]) : 1000000,
           .members = count > 2 ? atoi(arguments[2]) : 100};
  int repeats = count > 3 ? atoi(arguments[3]) : 3;
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = 1;
  if (sr_context_new(&options, &j.ctx) != SR_OK) return 1;
  j.rows = malloc((size_t)j.n * sizeof *j.rows);
  j.counts = malloc((size_t)j.n * sizeof *j.counts);
  int32_t *label = malloc((size_t)j.n * sizeof *label);
  if (!j.rows || !j.counts || !label) return 1;
  for (int64_t i = 0; i < j.n; i++) label[i] = (int32_t)(i * PARTS / j.n);
  sr_parts *parts = NULL;
  must(j.ctx, sr_parts_new(j.ctx, j.n, label, NULL, &parts));
  double writing = bench_best(write_indices, &j, repeats);
  double randint = peer_seconds("", "rng.integers(0, n, n, dtype=np.int32)", j.n, j.members);
  double counted = peer_seconds(
      "", "np.bincount(rng.integers(0, n, n, dtype=np.int32), minlength=n)", j.n, j.members);
  double circular = peer_seconds(
      "b = int(round(n ** (1/3)))\nstep = np.arange(b)",
      "((rng.integers(0, n, -(-n // b))[:, None] + step) % n).ravel()[:n]", j.n, j.members);
  double stationary = peer_seconds(
      "from arch.bootstrap import StationaryBootstrap\nbs = StationaryBootstrap(n ** (1/3), "
      "np.arange(n), seed=1)",
      "bs.update_indices()", j.n, j.members);
  const struct {
    const char *name, *peer;
    double seconds;
  } cases[] = {{"uniform", "write indices", writing},
               {"uniform", "numpy integers", randint},
               {"uniform", "numpy integers + bincount", counted},
               {"uniform-nm", "write indices", writing},
               {"circular", "write indices", writing},
               {"circular", "numpy circular blocks", circular},
               {"stationary", "arch StationaryBootstrap", stationary},
               {"moving", "write indices", writing},
               {"lag-thin", "write indices", writing},
               {"spectral", "write indices", writing},
               {"routed", "write indices", writing}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    sr_plan_input input = {.rows = j.n, .parts = parts, .tmix = 50, .block = 500};
    sr_plan_options plan_options;
    sr_plan_options_init(&plan_options);
    plan_options.name = cases[c].name;
    plan_options.members = strcmp(cases[c].name, "spectral") == 0 ? PARTS : j.members;
    must(j.ctx, sr_plan_new(j.ctx, &input, &plan_options, &j.plan));
    double us = bench_best(make_bags, &j, repeats);
    bench_line("plan", cases[c].name, j.n, 1, us, cases[c].peer, cases[c].seconds, "");
    sr_plan_free(&j.plan);
  }
  sr_parts_free(&parts);
  sr_context_free(&j.ctx);
  free(j.rows);
  free(j.counts);
  free(label);
  return 0;
}
