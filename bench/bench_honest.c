/* Coverage of the honest error and its companions where the truth is known.
 *
 *   bench_honest FILE [SECONDS [SIZES [PLANS]]]   sizes: 500,2000,10000; plans: auto,uniform
 *
 * Every run draws a stream (or groups) from a process whose class probabilities are known, trains
 * on it, and asks: does the interval of the honest error hold the risk of the delivered ensemble,
 * at 6,000 fresh independent rows; that of the next unit the error on the rows that follow; that of
 * the forward line the error on the tenth that follows; that of T the process's own. Every fourth
 * run has the simplest rules beside it: five contiguous folds and a time-series split with
 * Student's t. One JSON line per run and plan is added to FILE; runs that are there are not made
 * again, and seeds go round all cells before the next seed begins. */
#include <math.h>
#include <specroute/specroute.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/random.h"
#include "data/table.h"

enum { MOST_FEATURES = 24, MOST_CLASSES = 3, FRESH = 6000, GROUP = 25, MEMBERS = 100, FOLDS = 5 };

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
  MOVING
};

/* Tests only: nothing was tuned on them. */
static const process processes[] = {
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
enum { PROCESSES = sizeof processes / sizeof *processes };

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
  sr__random_init(&r, seed, SR_PURPOSE_EXPERIMENT, (uint64_t)(p - processes), fresh);
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

/* ---- the simplest rules ------------------------------------------------------------------- */

typedef struct simple {
  double estimate, low, high;
} simple;

static double fit_and_test(sr_context *ctx, const sr_table *table, const int32_t *train,
                           int64_t trained, const stream *s, int64_t first, int64_t count) {
  sr_table *part = NULL;
  sr_ensemble *ensemble = NULL;
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = "uniform";
  options.members = MEMBERS;
  options.evaluate.evaluate = 0;
  options.structure.tmix = 1.0;
  if (sr__table_select(ctx, table, train, trained, &part) != SR_OK) stop(ctx);
  if (sr_train(ctx, part, &options, 1, &ensemble) != SR_OK) stop(ctx);
  double error = error_on(ctx, ensemble, s, first, count, false);
  sr_ensemble_free(&ensemble);
  sr_table_free(&part);
  return error;
}

static simple student_of(const double *error, int count) {
  double mean = sr_mean(count, error), sd = sr_standard_deviation(count, error);
  double half = sr_student_quantile(0.975, count - 1) * sd / sqrt((double)count);
  return (simple){mean, mean - half, mean + half};
}

static simple contiguous_folds(sr_context *ctx, const sr_table *table, const stream *s, int64_t n) {
  double error[FOLDS];
  int32_t *train = claim(sizeof *train * (size_t)n);
  for (int f = 0; f < FOLDS; f++) {
    int64_t first = n * f / FOLDS, end = n * (f + 1) / FOLDS, count = 0;
    for (int64_t i = 0; i < n; i++)
      if (i < first || i >= end) train[count++] = (int32_t)i;
    error[f] = fit_and_test(ctx, table, train, count, s, first, end - first);
  }
  free(train);
  return student_of(error, FOLDS);
}

static simple time_series_split(sr_context *ctx, const sr_table *table, const stream *s,
                                int64_t n) {
  double error[FOLDS];
  int32_t *train = claim(sizeof *train * (size_t)n);
  for (int64_t i = 0; i < n; i++) train[i] = (int32_t)i;
  for (int f = 0; f < FOLDS; f++) {
    int64_t first = n * (f + 1) / (FOLDS + 1), end = n * (f + 2) / (FOLDS + 1);
    error[f] = fit_and_test(ctx, table, train, first, s, first, end - first);
  }
  free(train);
  return student_of(error, FOLDS);
}

/* ---- one run ------------------------------------------------------------------------------ */

static void print_real(FILE *out, const char *key, double value) {
  if (isfinite(value))
    fprintf(out, ", \"%s\": %.6g", key, value);
  else
    fprintf(out, ", \"%s\": null", key);
}

static double processor_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void run(sr_context *ctx, FILE *out, const process *p, int64_t n, const char *plan,
                uint64_t seed) {
  int64_t gap = (int64_t)(p->tmix > 1.0 ? p->tmix : 0.0), unit = p->groups ? GROUP : n / 20;
  int64_t later = p->drifts ? n / 10 : unit, begin = p->drifts ? n : n + gap;
  if (p->groups) begin = n; /* the next group */
  stream s = draw(p, n, begin + later, false, seed);
  stream fresh = draw(p, n, FRESH, true, seed);
  sr_table *table = table_of(ctx, &s, 0, n, p->groups);
  sr_ensemble *ensemble = NULL;
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = plan;
  options.members = MEMBERS;
  options.evaluate.importance = 0;
  options.evaluate.forward = p->drifts;
  double start = processor_seconds();
  if (sr_train(ctx, table, &options, seed, &ensemble) != SR_OK) {
    fprintf(stderr, "%s n %lld seed %llu: ", p->name, (long long)n, (unsigned long long)seed);
    stop(ctx);
  }
  double taken = processor_seconds() - start;
  const sr_ensemble_view *v = sr_ensemble_get(ensemble);
  const sr_evaluation *e = v->evaluation;
  const sr_structure_view *structure = sr_structure_get(v->structure);
  fprintf(out, "{\"process\": \"%s\", \"n\": %lld, \"plan\": \"%s\", \"seed\": %llu", p->name,
          (long long)n, plan, (unsigned long long)seed);
  print_real(out, "tmix", p->tmix > 0.0 ? fmax(p->tmix, p->noise_tmix) : NAN);
  print_real(out, "tmix_found", structure->tmix);
  print_real(out, "tmix_low", structure->tmix_low);
  print_real(out, "tmix_high", structure->tmix_high);
  print_real(out, "tmix_careful", e->tmix_careful);
  if (!p->drifts) print_real(out, "truth", error_on(ctx, ensemble, &fresh, 0, FRESH, true));
  print_real(out, "naive", e->naive);
  print_real(out, "honest", e->honest);
  print_real(out, "low", e->honest_low);
  print_real(out, "high", e->honest_high);
  for (int32_t k = 0; k < e->question_count; k++) {
    if (e->questions[k].kind != SR_QUESTION_NEXT) continue;
    print_real(out, "next_low", e->questions[k].low);
    print_real(out, "next_high", e->questions[k].high);
  }
  print_real(out, p->drifts ? "later_error" : "next_error",
             error_on(ctx, ensemble, &s, begin, later, false));
  if (p->drifts) {
    print_real(out, "forward", e->forward);
    print_real(out, "forward_low", e->forward_low);
    print_real(out, "forward_high", e->forward_high);
  }
  if (seed % 4 == 1 && !p->groups && !p->drifts && strcmp(plan, "uniform") == 0) {
    simple folds = contiguous_folds(ctx, table, &s, n),
           split = time_series_split(ctx, table, &s, n);
    print_real(out, "folds", folds.estimate);
    print_real(out, "folds_low", folds.low);
    print_real(out, "folds_high", folds.high);
    print_real(out, "split", split.estimate);
    print_real(out, "split_low", split.low);
    print_real(out, "split_high", split.high);
  }
  print_real(out, "seconds", taken);
  fprintf(out, "}\n");
  fflush(out);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  free_stream(&s);
  free_stream(&fresh);
}

/* ---- all of them -------------------------------------------------------------------------- */

/* Runs of a cell that are in the file already. */
static uint64_t runs_there(const char *path, const process *p, int64_t n, const char *plan) {
  char line[4096], begin[160];
  uint64_t count = 0;
  FILE *file = fopen(path, "re");
  snprintf(begin, sizeof begin, "{\"process\": \"%s\", \"n\": %lld, \"plan\": \"%s\",", p->name,
           (long long)n, plan);
  while (file && fgets(line, sizeof line, file)) count += strncmp(line, begin, strlen(begin)) == 0;
  if (file) fclose(file);
  return count;
}

static bool listed(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; (at = strstr(at, word)); at++)
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return true;
  return false;
}

int main(int argc, char **argv) {
  static const int64_t sizes[] = {500, 2000, 10000};
  static const uint64_t share[] = {1, 1, 8}; /* one run in so many rounds */
  static const char *const plans[] = {"auto", "uniform"};
  static uint64_t done[PROCESSES][3][2];
  if (argc < 2) return 2;
  double limit = argc > 2 ? atof(argv[2]) : 1e300, start = bench_seconds();
  const char *wanted_sizes = argc > 3 ? argv[3] : "500,2000,10000";
  const char *wanted_plans = argc > 4 ? argv[4] : "auto,uniform";
  sr_context *ctx = NULL;
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = 1;
  if (sr_context_new(&options, &ctx) != SR_OK) return 1;
  FILE *out = fopen(argv[1], "ae");
  if (!out) return 1;
  for (int k = 0; k < PROCESSES; k++)
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 2; b++)
        done[k][a][b] = runs_there(argv[1], &processes[k], sizes[a], plans[b]);
  for (uint64_t round = 1; round <= 4000; round++)
    for (int a = 0; a < 3; a++)
      for (int k = 0; k < PROCESSES; k++)
        for (int b = 0; b < 2; b++) {
          char size[16];
          snprintf(size, sizeof size, "%lld", (long long)sizes[a]);
          if (!listed(wanted_sizes, size) || !listed(wanted_plans, plans[b])) continue;
          if (round % share[a] != 1 % share[a]) continue;
          uint64_t seed = (round - 1) / share[a] + 1;
          if (seed > 500 || seed <= done[k][a][b] || sizes[a] < 5 * processes[k].tmix) continue;
          if (bench_seconds() - start > limit) return 0;
          run(ctx, out, &processes[k], sizes[a], plans[b], seed);
        }
  fclose(out);
  sr_context_free(&ctx);
  return 0;
}
