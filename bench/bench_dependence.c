/* How long a diagnosis takes. Data are simulated before the clock starts.
 *
 *   bench_dependence diagnose N D THREADS     the whole diagnosis of an AR(1) table, T = 50
 *   bench_dependence block N                  Politis-White of one series, T = 10
 *
 * Prints seconds, processor time of all threads, T and peak memory as one JSON object;
 * bench/dependence.py sets peers beside it.
 */
#include <specroute/specroute.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static void stop(sr_context *ctx) {
  fprintf(stderr, "%s\n", sr_context_error(ctx).message);
  exit(1);
}

static sr_table *simulate(sr_context *ctx, int64_t n, int32_t d, double tmix) {
  char text[160];
  sr_table *table = NULL;
  snprintf(text, sizeof text, "ar1:n=%lld,d=%d,tmix=%.17g", (long long)n, d, tmix);
  if (sr_simulate(ctx, text, 1, 0, &table, NULL) != SR_OK) stop(ctx);
  return table;
}

static void run_diagnose(sr_context *ctx, int64_t n, int32_t d) {
  sr_table *table = simulate(ctx, n, d, 50.0);
  double best = 1e300, best_cpu = 1e300, estimate = 0.0;
  for (int repeat = 0; repeat < 2; repeat++) {
    sr_dependence *dependence = NULL;
    double start = bench_seconds(), start_cpu = bench_cpu_seconds();
    if (sr_dependence_estimate(ctx, table, NULL, NULL, 1, &dependence) != SR_OK) stop(ctx);
    double taken = bench_seconds() - start;
    double cpu = bench_cpu_seconds() - start_cpu;
    if (taken < best) best = taken;
    if (cpu < best_cpu) best_cpu = cpu;
    estimate = sr_dependence_get(dependence)->tmix.estimate;
    sr_dependence_free(&dependence);
  }
  printf("{\"seconds\": %.4f, \"cpu_seconds\": %.4f, \"tmix\": %.3f, \"peak_mb\": %.0f}\n", best,
         best_cpu, estimate, bench_peak_mb());
  sr_table_free(&table);
}

static void run_block(sr_context *ctx, int64_t n) {
  sr_table *table = simulate(ctx, n, 1, 10.0);
  sr_politis_white length;
  double best = 1e300, best_cpu = 1e300;
  for (int repeat = 0; repeat < 3; repeat++) {
    double start = bench_seconds(), start_cpu = bench_cpu_seconds();
    if (sr_politis_white_length(ctx, sr_table_get(table)->x, n, SR_POLITIS_WHITE_ARCH, &length) !=
        SR_OK)
      stop(ctx);
    double taken = bench_seconds() - start, cpu = bench_cpu_seconds() - start_cpu;
    if (taken < best) best = taken;
    if (cpu < best_cpu) best_cpu = cpu;
  }
  printf("{\"seconds\": %.4f, \"cpu_seconds\": %.4f, \"block\": %.2f}\n", best, best_cpu,
         length.stationary);
  sr_table_free(&table);
}

int main(int count, char **arguments) {
  if (count < 3) {
    fprintf(stderr, "bench_dependence diagnose N D THREADS | block N\n");
    return 2;
  }
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = count > 4 ? atoi(arguments[4]) : 1;
  sr_context *ctx = NULL;
  if (sr_context_new(&options, &ctx) != SR_OK) return 1;
  if (strcmp(arguments[1], "block") == 0)
    run_block(ctx, atoll(arguments[2]));
  else
    run_diagnose(ctx, atoll(arguments[2]), count > 3 ? atoi(arguments[3]) : 20);
  sr_context_free(&ctx);
  return 0;
}
