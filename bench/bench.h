/* What benchmarks share: a clock, repeated timing, peak memory, and the line that is printed. */
#ifndef SR_BENCH_BENCH_H
#define SR_BENCH_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

static inline double bench_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of all threads. */
static inline double bench_cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The best of `repeats` runs of a body that returns nothing. */
static inline double bench_best(void (*body)(void *), void *data, int repeats) {
  double best = 1e300;
  for (int i = 0; i < repeats; i++) {
    double start = bench_seconds();
    body(data);
    double taken = bench_seconds() - start;
    if (taken < best) best = taken;
  }
  return best;
}

/* Peak resident memory of this process in MB (2^20 bytes). getrusage would give that of the program
 * that started this one, where it was larger. */
static inline double bench_peak_mb(void) {
  char line[256];
  double kilobytes = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) (void)sscanf(line, "VmHWM: %lf", &kilobytes);
  if (file) fclose(file);
  return kilobytes / 1024.0;
}

/* One JSON line: how long we and the peer took for the same work; ratio > 1 means that we are
 * faster. `more` is further members, such as ", \"cut\": 12", or "". */
static inline void bench_line(const char *bench, const char *name, int64_t n, int threads,
                              double us, const char *peer, double peer_seconds, const char *more) {
  printf(
      "{\"bench\": \"%s\", \"case\": \"%s\", \"n\": %lld, \"threads\": %d, \"us_seconds\": %.6g, "
      "\"peer\": \"%s\", \"peer_seconds\": %.6g, \"ratio\": %.4g%s}\n",
      bench, name, (long long)n, threads, us, peer, peer_seconds, peer_seconds / us, more);
  fflush(stdout);
}

#endif
