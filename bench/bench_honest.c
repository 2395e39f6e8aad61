/* Coverage of the honest error and its companions where the truth is known.
 *
 *   bench_honest [tune] FILE [SECONDS [SIZES [PLANS [PROCESSES]]]]
 *     sizes: 500,2000,10000; plans: auto,uniform,compare; processes by name, all without
 *
 * Every run draws a stream (or groups) from a process whose class probabilities are known, trains
 * on it, and asks: does the interval of the honest error hold the risk of the delivered ensemble,
 * at 6,000 fresh independent rows; that of the next unit the error on the rows that follow; that of
 * the forward line the error on the tenth that follows; that of T the process's own; that of the
 * difference which `compare` tells of auto and uniform the difference of their risks. Every fourth
 * run has the simplest rules beside it: five contiguous folds and a time-series split with
 * Student's t. One JSON line per run and plan is added to FILE; runs that are there are not made
 * again, and seeds go round all cells before the next seed begins (10,000 rows: every sixteenth
 * round). `tune` takes the processes on which rules may be mended. */
#include "data/table.h"
#include "honest_processes.h"

enum { FOLDS = 5, MOST_RUNS = 500, SIZES = 3, PLANS = 3 };

/* ---- the simplest rules ------------------------------------------------------------------- */

typedef struct simple {
  double estimate, low, high;
} simple;

static double fit_and_test(sr_context *ctx, const sr_table *table, const int32_t *train,
                           int64_t trained, const stream *s, int64_t first, int64_t count) {
  sr_table *part = NULL;
  sr_ensemble *ensemble = NULL;
  sr_train_options options;
  int64_t same = 0, other = 0; /* rows of the first one's class; held-out rows of another */
  for (int64_t i = 0; i < trained; i++) same += s->label[train[i]] == s->label[train[0]];
  for (int64_t i = first; i < first + count; i++) other += s->label[i] != s->label[train[0]];
  if (same == trained) return (double)other / (double)count; /* one class: it is always named */
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

static void run(sr_context *ctx, FILE *out, const process *p, int64_t n, const char *plan,
                uint64_t seed) {
  int64_t gap = (int64_t)(p->tmix > 1.0 ? p->tmix : 0.0), unit = p->groups ? GROUP : n / 20;
  int64_t later = p->drifts ? n / 10 : unit, begin = p->drifts ? n : n + gap;
  if (p->groups) begin = n; /* the next group */
  drawn d = draw_run(ctx, p, n, begin + later, seed_of_stream(p, n, seed));
  sr_ensemble *ensemble = NULL;
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = plan;
  options.members = MEMBERS;
  options.evaluate.importance = 0;
  options.evaluate.forward = p->drifts;
  double start = processor_seconds();
  if (sr_train(ctx, d.table, &options, seed, &ensemble) != SR_OK) {
    fprintf(stderr, "%s n %lld seed %llu: ", p->name, (long long)n, (unsigned long long)seed);
    stop(ctx);
  }
  double taken = processor_seconds() - start;
  const sr_ensemble_view *v = sr_ensemble_get(ensemble);
  const sr_evaluation *e = v->evaluation;
  const sr_structure_view *structure = sr_structure_get(v->structure);
  begin_line(out, p, n, plan, seed);
  print_tmix(out, p);
  print_real(out, "tmix_found", structure->tmix);
  print_real(out, "tmix_low", structure->tmix_low);
  print_real(out, "tmix_high", structure->tmix_high);
  print_real(out, "tmix_careful", e->tmix_careful);
  if (!p->drifts) print_real(out, "truth", error_on(ctx, ensemble, &d.fresh, 0, FRESH, true));
  print_real(out, "naive", e->naive);
  print_real(out, "honest", e->honest);
  print_real(out, "low", e->honest_low);
  print_real(out, "high", e->honest_high);
  print_real(out, "degrees", e->degrees);
  for (int32_t k = 0; k < e->question_count; k++) {
    if (e->questions[k].kind != SR_QUESTION_NEXT) continue;
    print_real(out, "next_low", e->questions[k].low);
    print_real(out, "next_high", e->questions[k].high);
  }
  print_real(out, p->drifts ? "later_error" : "next_error",
             error_on(ctx, ensemble, &d.rows, begin, later, false));
  if (p->drifts) {
    print_real(out, "forward", e->forward);
    print_real(out, "forward_low", e->forward_low);
    print_real(out, "forward_high", e->forward_high);
  }
  if (seed % 4 == 1 && !p->groups && !p->drifts && strcmp(plan, "uniform") == 0) {
    simple folds = contiguous_folds(ctx, d.table, &d.rows, n),
           split = time_series_split(ctx, d.table, &d.rows, n);
    print_real(out, "folds", folds.estimate);
    print_real(out, "folds_low", folds.low);
    print_real(out, "folds_high", folds.high);
    print_real(out, "split", split.estimate);
    print_real(out, "split_low", split.low);
    print_real(out, "split_high", split.high);
  }
  print_real(out, "seconds", taken);
  sr_ensemble_free(&ensemble);
  end_run(out, &d);
}

/* ---- a comparison ------------------------------------------------------------------------- */

static double risk_of(sr_context *ctx, const sr_table *table, const stream *fresh, const char *plan,
                      uint64_t seed) {
  sr_ensemble *ensemble = NULL;
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = plan;
  options.members = MEMBERS;
  options.evaluate.evaluate = 0;
  if (sr_train(ctx, table, &options, seed, &ensemble) != SR_OK) stop(ctx);
  double risk = error_on(ctx, ensemble, fresh, 0, FRESH, true);
  sr_ensemble_free(&ensemble);
  return risk;
}

/* auto minus uniform: what is told of the difference, and what it is. */
static void run_comparison(sr_context *ctx, FILE *out, const process *p, int64_t n, uint64_t seed) {
  drawn d = draw_run(ctx, p, n, n, seed_of_stream(p, n, seed));
  sr_compare_options options;
  sr_comparison *comparison = NULL;
  sr_compare_options_init(&options);
  options.plans = "auto,uniform";
  options.members = MEMBERS;
  if (sr_compare(ctx, d.table, &options, seed, &comparison) != SR_OK) stop(ctx);
  const sr_compare_test *test = &sr_comparison_get(comparison)->tests[0];
  bool turned = test->first == 1;
  begin_line(out, p, n, "compare", seed);
  print_tmix(out, p);
  print_real(out, "difference", turned ? -test->difference : test->difference);
  print_real(out, "difference_low", turned ? -test->high : test->low);
  print_real(out, "difference_high", turned ? -test->low : test->high);
  print_real(out, "p", test->p);
  print_real(out, "true_difference",
             risk_of(ctx, d.table, &d.fresh, "auto", seed) -
                 risk_of(ctx, d.table, &d.fresh, "uniform", seed));
  sr_comparison_free(&comparison);
  end_run(out, &d);
}

/* ---- all of them -------------------------------------------------------------------------- */

/* A cell: one process, size and plan. */
typedef struct cell {
  const process *p;
  int64_t n;
  const char *plan;
  uint64_t every; /* one run in so many rounds */
  uint64_t done;  /* runs that are in the file */
} cell;

/* What is asked for, each a list with commas; no processes: all of them. */
typedef struct wishes {
  bool tuning;
  const char *sizes, *plans, *processes;
} wishes;

static int32_t list_cells(const char *path, const wishes *w, cell *list) {
  static const int64_t size[SIZES] = {500, 2000, 10000};
  static const uint64_t every[SIZES] = {1, 1, 16};
  static const char *const plan[PLANS] = {"auto", "uniform", "compare"};
  const process *processes = w->tuning ? tuning_processes : test_processes;
  int32_t count = 0, all = w->tuning ? TUNING_PROCESSES : TEST_PROCESSES;
  for (int a = 0; a < SIZES; a++) {
    char text[32], begin[256];
    snprintf(text, sizeof text, "%lld", (long long)size[a]);
    if (!listed(w->sizes, text)) continue;
    for (int32_t k = 0; k < all; k++)
      for (int b = 0; b < PLANS; b++) {
        const process *p = &processes[k];
        if (w->processes && !listed(w->processes, p->name)) continue;
        if (!listed(w->plans, plan[b]) || (double)size[a] < 5.0 * fmax(p->tmix, p->noise_tmix))
          continue;
        if (p->drifts && strcmp(plan[b], "compare") == 0) continue;
        snprintf(begin, sizeof begin, "{\"process\": \"%s\", \"n\": %s, \"plan\": \"%s\",", p->name,
                 text, plan[b]);
        list[count++] = (cell){p, size[a], plan[b], every[a], lines_there(path, begin)};
      }
  }
  return count;
}

int main(int argc, char **argv) {
  cell list[(TEST_PROCESSES + TUNING_PROCESSES) * SIZES * PLANS];
  wishes w = {.tuning = argc > 1 && strcmp(argv[1], "tune") == 0};
  argv += w.tuning;
  argc -= w.tuning;
  if (argc < 2) return 2;
  w.sizes = argc > 3 ? argv[3] : "500,2000,10000";
  w.plans = argc > 4 ? argv[4] : "auto,uniform,compare";
  w.processes = argc > 5 ? argv[5] : NULL;
  double limit = argc > 2 ? atof(argv[2]) : 1e300, start = bench_seconds();
  sr_context *ctx = NULL;
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = 1;
  if (sr_context_new(&options, &ctx) != SR_OK) return 1;
  int32_t cells = list_cells(argv[1], &w, list);
  FILE *out = fopen(argv[1], "ae");
  if (!out) return 1;
  for (uint64_t round = 0; round < MOST_RUNS * 16; round++)
    for (int32_t k = 0; k < cells; k++) {
      uint64_t seed = round / list[k].every + 1;
      if (round % list[k].every || seed > MOST_RUNS || seed <= list[k].done) continue;
      if (bench_seconds() - start > limit) goto end;
      if (strcmp(list[k].plan, "compare") == 0)
        run_comparison(ctx, out, list[k].p, list[k].n, seed);
      else
        run(ctx, out, list[k].p, list[k].n, list[k].plan, seed);
    }
end:
  fclose(out);
  sr_context_free(&ctx);
  return 0;
}
