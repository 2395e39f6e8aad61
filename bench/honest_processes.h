/* Streams and groups whose class probabilities are known, and what an ensemble loses on them: what
 * the studies of the honest error and of the choice share. */
#ifndef SR_BENCH_HONEST_PROCESSES_H
#define SR_BENCH_HONEST_PROCESSES_H

#include <math.h>
#include <specroute/specroute.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"
#include "core/random.h"

enum { MOST_FEATURES = 24, MOST_CLASSES = 3, FRESH = 6000, GROUP = 25, MEMBERS = 100 };

/* ---- processes ---------------------------------------------------------------------------- */

typedef struct process process;

/* Rows of a process as they are drawn. */
typedef struct stream {
  const process *p;
  int64_t rows;
  float *x;       /* column-major */
  double *chance; /* rows x classes: P(class | row), over everything that is not in the row */
  int32_t *label, *group;
} stream;

struct process {
  const char *name;
  int32_t features, classes;
  double tmix;       /* 0: none */
  double noise_tmix; /* of the noise behind the labels */
  double noise;      /* its standard deviation */
  int kind;
  bool drifts, groups;
};

enum {
  CHAIN,
  VOLATILITY,
  REGIMES,
  SEASON,
  LONG_MEMORY,
  JUMPS,
  GROUPS,
  HIDDEN,
  RARE,
  WEAK,
  THREE,
  TURNING,
  MOVING,
  BENT
};

/* Tests only: nothing was tuned on them. */
static const process test_processes[] = {
    {"independent", 4, 2, 1, 1, 0.7, CHAIN, false, false},
    {"ar10", 4, 2, 10, 1, 0.7, CHAIN, false, false},
    {"ar50", 4, 2, 50, 1, 0.7, CHAIN, false, false},
    {"ar200", 4, 2, 200, 1, 0.7, CHAIN, false, false},
    {"ar10 ar10", 4, 2, 10, 10, 1.0, CHAIN, false, false},
    {"ar50 ar50", 4, 2, 50, 50, 1.0, CHAIN, false, false},
    {"slow labels", 4, 2, 1, 100, 1.0, CHAIN, false, false},
    {"fast labels", 4, 2, 50, 1, 0.05, CHAIN, false, false},
    {"rare class", 4, 2, 20, 20, 0.7, RARE, false, false},
    {"volatility", 4, 2, 50, 1, 0.7, VOLATILITY, false, false},
    {"regimes", 3, 2, 33, 1, 0.3, REGIMES, false, false},
    {"season", 3, 2, 10, 1, 0.7, SEASON, false, false},
    {"long memory", 3, 2, 0, 1, 0.8, LONG_MEMORY, false, false},
    {"mean jumps", 4, 2, 100, 1, 0.7, JUMPS, false, false},
    {"groups", 4, 2, 25, 1, 0.7, GROUPS, false, true},
    {"slow signal", 4, 2, 50, 1, 0.5, HIDDEN, false, false},
    {"weak features", 20, 2, 10, 1, 0.3, WEAK, false, false},
    {"three classes", 4, 3, 10, 1, 0.7, THREE, false, false},
    {"rule turns", 3, 2, 10, 1, 0.5, TURNING, true, false},
    {"means move", 3, 2, 10, 1, 0.5, MOVING, true, false},
};
/* Kept apart for whoever mends a rule: other scales, rules and noise. */
static const process tuning_processes[] = {
    {"tune independent", 6, 2, 1, 1, 1.2, BENT, false, false},
    {"tune ar20", 3, 2, 20, 1, 0.5, BENT, false, false},
    {"tune ar100", 3, 2, 100, 1, 0.5, BENT, false, false},
    {"tune ar30 ar30", 3, 2, 30, 30, 0.8, BENT, false, false},
    {"tune slow labels", 3, 2, 1, 40, 0.8, BENT, false, false},
    {"tune slower labels", 4, 2, 1, 80, 1.2, BENT, false, false},
    {"tune volatility", 3, 2, 25, 1, 0.5, VOLATILITY, false, false},
    {"tune mean jumps", 3, 2, 60, 1, 0.5, JUMPS, false, false},
    {"tune weak features", 14, 2, 5, 1, 0.4, WEAK, false, false},
    {"tune groups", 3, 2, 25, 1, 0.5, GROUPS, false, true},
    {"tune slow signal", 3, 2, 30, 1, 0.4, HIDDEN, false, false},
    {"tune many weak features", 24, 2, 8, 1, 0.2, WEAK, false, false},
    {"tune three classes", 5, 3, 6, 1, 0.5, THREE, false, false},
    {"tune rare class", 5, 2, 12, 12, 0.6, RARE, false, false},
};
enum {
  TEST_PROCESSES = sizeof test_processes / sizeof *test_processes,
  TUNING_PROCESSES = sizeof tuning_processes / sizeof *tuning_processes
};

/* Names a process in random streams. */
static uint64_t id_of(const process *p) {
  uint64_t id = UINT64_C(1469598103934665603);
  for (const char *c = p->name; *c; c++) id = (id ^ (unsigned char)*c) * UINT64_C(1099511628211);
  return id;
}

static double uniform(sr__random *r) { return sr__random_uniform(r); }
static double normal(sr__random *r) { return sr__random_normal(r); }

/* One step of a chain of unit variance. */
static double step(sr__random *r, double before, double tmix) {
  double a = 1.0 - 1.0 / tmix;
  return a * before + sqrt(1.0 - a * a) * normal(r);
}

/* What the class depends on, from the row alone. */
static double rule(const process *p, const double *x, double turn) {
  switch (p->kind) {
    case WEAK: {
      double sum = 0.0;
      for (int j = 0; j < p->features; j++) sum += x[j];
      return sum / sqrt((double)p->features) + 0.45;
    }
    case RARE:
      return x[0] + 0.5 * x[1] * x[2] - 2.1;
    case TURNING:
      return cos(turn) * x[0] + sin(turn) * x[1] + 0.3 * x[2];
    case MOVING:
      return x[0] * x[1] + 0.5 * x[2];
    case BENT:
      return x[0] * x[0] - 0.8 + x[1];
    default:
      return x[0] + x[1] * x[2];
  }
}

static double below(double z) { return sr_normal_cdf(z); }

/* P(class | row), everything hidden averaged out. */
static void chances(const process *p, const double *x, double turn, double *chance) {
  if (p->kind == THREE) { /* two thresholds */
    double f = rule(p, x, turn);
    double a = below((-0.6 - f) / p->noise), b = below((0.6 - f) / p->noise);
    chance[0] = a;
    chance[1] = b - a;
    chance[2] = 1.0 - b;
    return;
  }
  if (p->kind == REGIMES) { /* three rules, each a third of the time, means of their own */
    static const double mean[3] = {-1.0, 0.0, 1.0};
    double total = 0.0, one = 0.0;
    for (int s = 0; s < 3; s++) {
      double weight = exp(-0.5 * (x[2] - mean[s]) * (x[2] - mean[s]));
      double f = s == 0 ? x[0] : s == 1 ? -x[0] : x[1];
      total += weight;
      one += weight * below(f / p->noise);
    }
    chance[1] = one / total;
  } else {
    chance[1] = below(rule(p, x, turn) / p->noise);
  }
  chance[0] = 1.0 - chance[1];
}

typedef struct walker {
  double x[MOST_FEATURES], level[MOST_FEATURES], slow[4], noise;
  int state, left;
} walker;

/* The next row; `fresh` draws it independent of all before. `when` runs from 0 to 1 over the
 * training rows of a process that drifts. */
static double walk(const process *p, sr__random *r, walker *w, bool fresh, int64_t t, double when,
                   double *x) {
  static const double memory[4] = {2.0, 12.0, 80.0, 600.0};
  double tmix = fresh ? 1.0 : p->tmix, noise_tmix = fresh ? 1.0 : p->noise_tmix, turn = 0.0;
  w->noise = step(r, w->noise, noise_tmix);
  for (int j = 0; j < p->features; j++) {
    switch (p->kind) {
      case VOLATILITY:
        if (j == 0) w->slow[0] = step(r, w->slow[0], tmix);
        x[j] = normal(r) * exp(0.7 * w->slow[0]);
        break;
      case REGIMES:
        if (j == 0 && (fresh || uniform(r) < 1.0 / p->tmix * 1.5 * (2.0 / 3.0) * 1.0))
          w->state = (int)(3.0 * uniform(r));
        x[j] = normal(r) + (j == 2 ? w->state - 1.0 : 0.0);
        break;
      case SEASON: {
        double phase = fresh ? uniform(r) : (double)(t % 100) / 100.0;
        if (j == 0) w->slow[1] = phase;
        w->x[j] = step(r, w->x[j], tmix);
        x[j] = w->x[j] + 1.4 * sin(2.0 * acos(-1.0) * (w->slow[1] + 0.3 * j));
        break;
      }
      case LONG_MEMORY:
        x[j] = 0.0;
        for (int k = 0; k < 4; k++) {
          double *part = &w->level[4 * j + k];
          *part = step(r, *part, fresh ? 1.0 : memory[k]);
          x[j] += 0.5 * *part;
        }
        break;
      case JUMPS:
        if (j == 0) w->left--;
        if (fresh || w->left < 0) w->level[j] = 1.2 * normal(r);
        if (j == p->features - 1 && w->left < 0) w->left = (int)p->tmix;
        x[j] = 0.75 * (w->level[j] + normal(r));
        break;
      case GROUPS:
        if (fresh || t % GROUP == 0) w->level[j] = normal(r);
        x[j] = 0.8 * w->level[j] + 0.6 * normal(r);
        break;
      case HIDDEN:
        w->x[j] = step(r, w->x[j], tmix);
        x[j] = w->x[j] + 1.4 * normal(r);
        break;
      default:
        w->x[j] = step(r, w->x[j], tmix);
        x[j] = w->x[j] + (p->kind == MOVING && j < 2 ? 2.0 * when : 0.0);
    }
  }
  if (p->kind == TURNING) turn = 0.5 * acos(-1.0) * when;
  return turn;
}

static int32_t draw_label(const process *p, const double *x, const walker *w, double turn,
                          sr__random *r, const double *chance) {
  double f = rule(p, x, turn);
  if (p->kind == THREE) {
    double z = f + p->noise * w->noise;
    return z < -0.6 ? 0 : z < 0.6 ? 1 : 2;
  }
  if (p->kind == REGIMES) {
    f = w->state == 0 ? x[0] : w->state == 1 ? -x[0] : x[1];
    return f + p->noise * w->noise > 0.0;
  }
  (void)r;
  (void)chance;
  return f + p->noise * w->noise > 0.0;
}

static void *claim(size_t bytes) {
  void *memory = calloc(bytes ? bytes : 1, 1);
  if (!memory) exit(1);
  return memory;
}

static stream new_stream(const process *p, int64_t rows) {
  return (stream){p,
                  rows,
                  claim(sizeof(float) * (size_t)(rows * p->features)),
                  claim(sizeof(double) * (size_t)(rows * p->classes)),
                  claim(sizeof(int32_t) * (size_t)rows),
                  claim(sizeof(int32_t) * (size_t)rows)};
}

static void free_stream(stream *s) {
  free(s->x);
  free(s->chance);
  free(s->label);
  free(s->group);
}

/* `n` training rows; the rows behind them follow in time. */
static stream draw(const process *p, int64_t n, int64_t rows, bool fresh, uint64_t seed) {
  stream s = new_stream(p, rows);
  sr__random r;
  walker w = {0};
  double x[MOST_FEATURES];
  sr__random_init(&r, seed, SR_PURPOSE_EXPERIMENT, id_of(p), fresh);
  for (int t = 0; t < 2; t++) /* from the stationary law */
    walk(p, &r, &w, true, 0, 0.0, x);
  for (int64_t i = 0; i < rows; i++) {
    double when = (double)i / (double)n;
    double turn = walk(p, &r, &w, fresh, i, fresh ? 0.0 : when, x);
    chances(p, x, turn, s.chance + i * p->classes);
    s.label[i] = draw_label(p, x, &w, turn, &r, s.chance + i * p->classes);
    s.group[i] = (int32_t)(i / GROUP);
    for (int j = 0; j < p->features; j++) s.x[j * rows + i] = (float)x[j];
  }
  return s;
}

/* The seed itself, or, where its first n rows are all of one class and nothing can be learned, one
 * whose rows are not. */
static inline uint64_t seed_of_stream(const process *p, int64_t n, uint64_t seed) {
  for (;; seed += 1000000) {
    stream s = draw(p, n, n, false, seed);
    int64_t same = 0;
    for (int64_t i = 0; i < n; i++) same += s.label[i] == s.label[0];
    free_stream(&s);
    if (same < n) return seed;
  }
}

/* ---- tables ------------------------------------------------------------------------------- */

static void stop(sr_context *ctx) {
  fprintf(stderr, "%s\n", sr_context_error(ctx).message);
  exit(1);
}

/* Rows [first, first + count) as a table. */
static sr_table *table_of(sr_context *ctx, const stream *s, int64_t first, int64_t count,
                          bool groups) {
  static const char *const classes[] = {"a", "b", "c"};
  static char text[1024][8];
  static const char *names[1024];
  float *x = claim(sizeof *x * (size_t)(count * s->p->features));
  int32_t *group = claim(sizeof *group * (size_t)count);
  for (int j = 0; j < s->p->features; j++)
    memcpy(x + j * count, s->x + j * s->rows + first, sizeof *x * (size_t)count);
  for (int g = 0; g < 1024; g++) {
    snprintf(text[g], sizeof text[g], "g%d", g);
    names[g] = text[g];
  }
  for (int64_t i = 0; i < count; i++) group[i] = s->group[first + i] - s->group[first];
  sr_table_view view = {.rows = count,
                        .features = s->p->features,
                        .x = x,
                        .label = s->label + first,
                        .classes = {s->p->classes, classes}};
  if (groups) {
    view.group = group;
    view.groups = (sr_dictionary){group[count - 1] + 1, names};
  }
  sr_table *table = NULL;
  if (sr_table_new(ctx, &view, &table) != SR_OK) stop(ctx);
  free(x);
  free(group);
  return table;
}

/* Expected error at rows whose class probabilities are known, or the error itself. */
static double error_on(sr_context *ctx, const sr_ensemble *ensemble, const stream *s, int64_t first,
                       int64_t count, bool expected) {
  sr_table *table = table_of(ctx, s, first, count, false);
  int32_t *label = claim(sizeof *label * (size_t)count);
  double wrong = 0.0;
  if (sr_ensemble_predict(ctx, ensemble, table, label, NULL) != SR_OK) stop(ctx);
  for (int64_t i = 0; i < count; i++) {
    if (expected)
      wrong += 1.0 - s->chance[(first + i) * s->p->classes + label[i]];
    else
      wrong += label[i] != s->label[first + i];
  }
  free(label);
  sr_table_free(&table);
  return wrong / (double)count;
}

/* Error of the best rule there is, at the rows of a stream. */
static inline double bayes_error(const stream *s) {
  double wrong = 0.0;
  for (int64_t i = 0; i < s->rows; i++) {
    double most = 0.0;
    for (int c = 0; c < s->p->classes; c++) most = fmax(most, s->chance[i * s->p->classes + c]);
    wrong += 1.0 - most;
  }
  return wrong / (double)s->rows;
}

/* ---- what studies share ------------------------------------------------------------------- */

static inline double processor_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static inline void print_real(FILE *out, const char *key, double value) {
  if (isfinite(value))
    fprintf(out, ", \"%s\": %.6g", key, value);
  else
    fprintf(out, ", \"%s\": null", key);
}

/* What a run draws: rows, a table of the first n, which are learned from, and fresh independent
 * ones to judge on. */
typedef struct drawn {
  stream rows, fresh;
  sr_table *table;
} drawn;

static inline drawn draw_run(sr_context *ctx, const process *p, int64_t n, int64_t rows,
                             uint64_t source) {
  drawn d = {draw(p, n, rows, false, source), draw(p, n, FRESH, true, source), NULL};
  d.table = table_of(ctx, &d.rows, 0, n, p->groups);
  return d;
}

/* `plan` may be NULL. */
static inline void begin_line(FILE *out, const process *p, int64_t n, const char *plan,
                              uint64_t seed) {
  fprintf(out, "{\"process\": \"%s\", \"n\": %lld", p->name, (long long)n);
  if (plan) fprintf(out, ", \"plan\": \"%s\"", plan);
  fprintf(out, ", \"seed\": %llu", (unsigned long long)seed);
}

static inline void print_tmix(FILE *out, const process *p) {
  print_real(out, "tmix", p->tmix > 0.0 ? fmax(p->tmix, p->noise_tmix) : NAN);
}

/* The line is written, what was drawn is freed. */
static inline void end_run(FILE *out, drawn *d) {
  fprintf(out, "}\n");
  fflush(out);
  sr_table_free(&d->table);
  free_stream(&d->rows);
  free_stream(&d->fresh);
}

/* Lines of a file that begin like this: runs that are there already. */
static inline uint64_t lines_there(const char *path, const char *begin) {
  char line[4096];
  uint64_t count = 0;
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file)) count += strncmp(line, begin, strlen(begin)) == 0;
  if (file) fclose(file);
  return count;
}

static inline bool listed(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; (at = strstr(at, word)); at++)
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return true;
  return false;
}

typedef void study_run(sr_context *ctx, FILE *out, const process *p, int64_t n, uint64_t seed);

/* Runs of every process at every size, seeds going round all of them before the next one begins. */
typedef struct study {
  const process *processes;
  int32_t count;
  int sizes;
  const int64_t *size;
  const uint64_t *every; /* a size takes part in every so many rounds */
  uint64_t most;         /* seeds */
  double least_scales;   /* T that the rows hold at least */
  study_run *run;
} study;

enum { MOST_CELLS = 512 };

/* Adds the runs that are not in FILE yet: `arguments` is FILE [SECONDS [SIZES]]. The exit code of
 * the program. */
static inline int run_study(const study *s, int count, char **arguments) {
  static uint64_t done[MOST_CELLS];
  if (count < 1 || s->count * s->sizes > MOST_CELLS) return 2;
  double limit = count > 1 ? atof(arguments[1]) : 1e300, start = bench_seconds();
  uint64_t rounds = 0;
  for (int a = 0; a < s->sizes; a++)
    rounds = s->most * s->every[a] > rounds ? s->most * s->every[a] : rounds;
  for (int32_t c = 0; c < s->count * s->sizes; c++) {
    char begin[256];
    snprintf(begin, sizeof begin, "{\"process\": \"%s\", \"n\": %lld,",
             s->processes[c / s->sizes].name, (long long)s->size[c % s->sizes]);
    done[c] = lines_there(arguments[0], begin);
  }
  sr_context *ctx = NULL;
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = 1;
  if (sr_context_new(&options, &ctx) != SR_OK) return 1;
  FILE *out = fopen(arguments[0], "ae");
  if (!out) return 1;
  for (uint64_t round = 0; round < rounds; round++)
    for (int a = 0; a < s->sizes; a++)
      for (int32_t k = 0; k < s->count; k++) {
        const process *p = &s->processes[k];
        uint64_t seed = round / s->every[a] + 1;
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)s->size[a]);
        if ((count > 2 && !listed(arguments[2], text)) || p->drifts ||
            (double)s->size[a] < s->least_scales * fmax(p->tmix, p->noise_tmix))
          continue;
        if (round % s->every[a] || seed > s->most || seed <= done[k * s->sizes + a]) continue;
        if (bench_seconds() - start > limit) goto end;
        s->run(ctx, out, p, s->size[a], seed);
      }
end:
  fclose(out);
  sr_context_free(&ctx);
  return 0;
}

/* 200 seeds at 500 and 2,000 rows, a fourth of them at 10,000. */
static inline int run_three_sizes(const process *processes, int32_t processes_count, study_run *run,
                                  int count, char **arguments) {
  static const int64_t size[] = {500, 2000, 10000};
  static const uint64_t every[] = {1, 1, 4};
  const study all = {.processes = processes,
                     .count = processes_count,
                     .sizes = 3,
                     .size = size,
                     .every = every,
                     .most = 200,
                     .least_scales = 5.0,
                     .run = run};
  return run_study(&all, count, arguments);
}

#endif
