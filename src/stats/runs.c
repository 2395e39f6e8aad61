/* Runs x tasks: performance profiles and the probability of improvement, with intervals that
 * resample runs inside each task. */
#include <math.h>

#include "core/random.h"
#include "stats.h"

static sr_status check_runs(sr_context *ctx, int64_t runs, int64_t tasks,
                            const sr_bootstrap_options *o) {
  if (runs < 1 || tasks < 1)
    return sr__fail(ctx, SR_ERROR_DATA, "a comparison of runs needs a run and a task");
  if (o->replicates < 1 || !(o->level > 0 && o->level < 1))
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "%d replicates at level %g: expected 1 or more, and between 0 and 1",
                    o->replicates, o->level);
  return SR_OK;
}

/* Runs x tasks. */
typedef struct run_values {
  int64_t runs, tasks;
  const double *value;
} run_values;

/* Runs drawn inside each task; `side` tells two samples of one replicate apart. */
static void draw_runs(run_values from, uint64_t seed, int32_t replicate, uint64_t side,
                      double *drawn) {
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_BOOTSTRAP, (uint64_t)replicate, side);
  for (int64_t i = 0; i < from.runs * from.tasks; i++) {
    int64_t run = (int64_t)sr__random_below(&random, (uint64_t)from.runs);
    drawn[i] = from.value[run * from.tasks + i % from.tasks];
  }
}

static void ends_of(int32_t count, double *replicate, double level, sr_interval *interval) {
  double tail = 0.5 * (1 - level);
  sr__sort_doubles(replicate, count);
  interval->low = sr_quantile_sorted(count, replicate, tail);
  interval->high = sr_quantile_sorted(count, replicate, 1 - tail);
}

/* ---- performance profile ------------------------------------------------------------------- */

static double share_above(int64_t count, const double *value, double tau) {
  int64_t above = 0;
  for (int64_t i = 0; i < count; i++) above += value[i] > tau;
  return (double)above / (double)count;
}

sr_status sr_performance_profile(sr_context *ctx, int64_t runs, int64_t tasks, const double *value,
                                 int64_t taus, const double *tau,
                                 const sr_bootstrap_options *options, uint64_t seed,
                                 sr_interval *share) {
  sr_status status = SR_OK;
  double *drawn = NULL, *replicate = NULL;
  sr_bootstrap_options defaults;
  sr_bootstrap_options_init(&defaults);
  const sr_bootstrap_options *o = options ? options : &defaults;
  SR_TRY(check_runs(ctx, runs, tasks, o));
  SR_NEW(ctx, drawn, runs * tasks);
  SR_NEW(ctx, replicate, taus * o->replicates);
  for (int32_t r = 0; r < o->replicates; r++) {
    SR_TRY(sr__check_interrupt(ctx));
    draw_runs((run_values){runs, tasks, value}, seed, r, 0, drawn);
    for (int64_t t = 0; t < taus; t++)
      replicate[t * o->replicates + r] = share_above(runs * tasks, drawn, tau[t]);
  }
  for (int64_t t = 0; t < taus; t++) {
    share[t].estimate = share_above(runs * tasks, value, tau[t]);
    ends_of(o->replicates, replicate + t * o->replicates, o->level, &share[t]);
  }
cleanup:
  sr__free(ctx, drawn);
  sr__free(ctx, replicate);
  return status;
}

/* ---- probability of improvement ------------------------------------------------------------ */

/* Mean over tasks of the share of pairs with x above y, a tie counting half. */
static double improvement(int64_t tasks, int64_t runs_x, const double *x, int64_t runs_y,
                          const double *y) {
  double sum = 0;
  for (int64_t i = 0; i < runs_x; i++)
    for (int64_t j = 0; j < runs_y; j++)
      for (int64_t t = 0; t < tasks; t++) {
        double a = x[i * tasks + t], b = y[j * tasks + t];
        sum += a > b ? 1 : a == b ? 0.5 : 0;
      }
  return sum / ((double)runs_x * (double)runs_y * (double)tasks);
}

sr_status sr_probability_of_improvement(sr_context *ctx, int64_t tasks, int64_t runs_x,
                                        const double *x, int64_t runs_y, const double *y,
                                        const sr_bootstrap_options *options, uint64_t seed,
                                        sr_interval *probability) {
  sr_status status = SR_OK;
  double *drawn_x = NULL, *drawn_y = NULL, *replicate = NULL;
  sr_bootstrap_options defaults;
  sr_bootstrap_options_init(&defaults);
  const sr_bootstrap_options *o = options ? options : &defaults;
  SR_TRY(check_runs(ctx, runs_x < runs_y ? runs_x : runs_y, tasks, o));
  SR_NEW(ctx, drawn_x, runs_x * tasks);
  SR_NEW(ctx, drawn_y, runs_y * tasks);
  SR_NEW(ctx, replicate, o->replicates);
  for (int32_t r = 0; r < o->replicates; r++) {
    SR_TRY(sr__check_interrupt(ctx));
    draw_runs((run_values){runs_x, tasks, x}, seed, r, 0, drawn_x);
    draw_runs((run_values){runs_y, tasks, y}, seed, r, 1, drawn_y);
    replicate[r] = improvement(tasks, runs_x, drawn_x, runs_y, drawn_y);
  }
  probability->estimate = improvement(tasks, runs_x, x, runs_y, y);
  ends_of(o->replicates, replicate, o->level, probability);
cleanup:
  sr__free(ctx, drawn_x);
  sr__free(ctx, drawn_y);
  sr__free(ctx, replicate);
  return status;
}
