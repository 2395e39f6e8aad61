/* What a sampler does to the targets, defined so that it means something: under one frozen network
 * that is common to all samplers, and over fresh buffers of one policy.
 *
 * Frozen: Var(y) of one buffer, split into within and between heads; the error of a head's batch
 * mean in units of Var(y)/32. Fresh buffers: one policy fills 10 buffers per seed; every sampler
 * learns from each of them from the same start weights; Var over buffers of the mean Q of the heads
 * at fixed probe states, of one head, and the covariance of two heads. The same buffers serve every
 * sampler, so ratios are paired by seed, with bootstrap intervals over seeds.
 *
 * The verdict's rule, on the claim that routing lowers the variance of the ensemble by lowering the
 * covariance between heads:
 * - reproduced: Var(mean Q) of routed is below that of the random fifth and below uniform's, with
 *   the 95 % intervals of both ratios;
 * - partly: the covariance of routed is below the fifth's, but Var(mean Q) is not: the mechanism is
 *   there and idle;
 * - not reproduced: neither;
 * - cannot be tested here: fewer than 500 buffers. */
#include <math.h>
#include <stdlib.h>

#include "experiment.h"

enum { SAMPLERS = 7, BUFFERS = 10, PROBES = 100, HEADS = 5, FROZEN_SAMPLERS = 6 };
enum { UNIFORM, FIFTH, ROUTED, CONTIGUOUS, ONE_PART, SEPARATE, HALF_RATE };
static const char *const samplers[SAMPLERS] = {"uniform",  "fifth",    "routed",   "contiguous",
                                               "one-part", "separate", "half-rate"};
enum { FRESH, FROZEN, CASES };
enum { ASKED_BUFFERS = 500 };

typedef struct sizes {
  int64_t policy_steps, rows, gradient_steps;
  int samplers;
} sizes;
static sizes sizes_at(experiment_scale scale) {
  return scale == SCALE_FULL ? (sizes){10000, 8000, 4000, SAMPLERS} : (sizes){4000, 2000, 600, 3};
}

static int count_cases(experiment_scale scale) {
  (void)scale;
  return CASES;
}
static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  sizes s = sizes_at(scale);
  if (index == FRESH)
    snprintf(name, size,
             "what=fresh game=breakout policy=%lld rows=%lld gradient=%lld buffers=%d samplers=%d",
             (long long)s.policy_steps, (long long)s.rows, (long long)s.gradient_steps, BUFFERS,
             s.samplers);
  else
    snprintf(name, size, "what=frozen game=breakout steps=%lld", (long long)s.policy_steps);
}

static void quick_options(sr_agent_options *o, int64_t steps) {
  sr_agent_options_init(o);
  o->steps = steps;
  o->start = 500;
  o->epsilon_steps = 2000;
  o->target_every = 250;
  o->learning_rate = 1e-3;
}

/* ---- one frozen network --------------------------------------------------------------------- */

static sr_status run_frozen(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  sr_status status = SR_OK;
  sr_agent *agent = NULL;
  sr_agent_options o;
  quick_options(&o, sizes_at(unit->scale).policy_steps);
  SR_TRY(sr_agent_new(ctx, &o, unit->seed, &agent));
  SR_TRY(sr_agent_train(ctx, agent, o.steps));
  for (int s = 0; s < FROZEN_SAMPLERS; s++) {
    sr_target_split split;
    char name[VALUE_NAME_SIZE];
    SR_TRY(sr_agent_target_split(ctx, agent, samplers[s], 5000, unit->seed, &split));
    if (s == 0) {
      experiment_measure(out, "mean", split.mean);
      experiment_measure(out, "total", split.total);
    }
    snprintf(name, sizeof name, "between-%s", samplers[s]);
    experiment_measure(out, name, split.between / split.total);
    snprintf(name, sizeof name, "batch-%s", samplers[s]);
    experiment_measure(out, name, split.batch_error);
  }
cleanup:
  sr_agent_free(&agent);
  return status;
}

/* ---- fresh buffers -------------------------------------------------------------------------- */

/* Over probes and actions, the mean of the unbiased variances over buffers of the mean of the heads
 * and of one head, and of the covariance of two heads: Var(mean) = Var(head)/K + (1 - 1/K) Cov.
 * q: BUFFERS x cells x HEADS, cells = PROBES x actions. */
static void spread(int cells, const double *q, double *of_mean, double *of_head, double *covariance,
                   double *level) {
  *of_mean = *of_head = *level = 0;
  for (int i = 0; i < cells; i++) {
    double mean = 0, head_mean[HEADS] = {0};
    for (int b = 0; b < BUFFERS; b++)
      for (int h = 0; h < HEADS; h++) {
        double value = q[(b * cells + i) * HEADS + h];
        head_mean[h] += value / BUFFERS;
        mean += value / BUFFERS / HEADS;
      }
    for (int b = 0; b < BUFFERS; b++) {
      double sum = 0;
      for (int h = 0; h < HEADS; h++) {
        double value = q[(b * cells + i) * HEADS + h];
        double apart = value - head_mean[h];
        sum += value / HEADS;
        *of_head += apart * apart / (BUFFERS - 1) / HEADS / cells;
      }
      *of_mean += (sum - mean) * (sum - mean) / (BUFFERS - 1) / cells;
    }
    *level += mean / cells;
  }
  *covariance = (*of_mean - *of_head / HEADS) / (1 - 1.0 / HEADS);
}

/* What every buffer has in common. */
typedef struct buffer_study {
  sr_agent_options options;
  sr_agent *player, *probes;
  int64_t gradient_steps;
} buffer_study;

static sr_status learn_buffer(sr_context *ctx, const buffer_study *study, uint64_t seed,
                              float *values) {
  sr_status status = SR_OK;
  sr_agent *agent = NULL;
  SR_TRY(sr_agent_new(ctx, &study->options, 1, &agent)); /* the same start weights everywhere */
  SR_TRY(sr_agent_collect(ctx, agent, study->player, study->options.steps, 0.2, seed));
  SR_TRY(sr_agent_learn(ctx, agent, study->gradient_steps));
  SR_TRY(sr_agent_values(ctx, agent, study->probes, PROBES, 1, values));
cleanup:
  sr_agent_free(&agent);
  return status;
}

static sr_status run_fresh(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  sr_status status = SR_OK;
  sizes size = sizes_at(unit->scale);
  sr_agent *player = NULL, *probes = NULL;
  sr_agent_options o;
  float *values = NULL;
  double *q = NULL;
  quick_options(&o, size.policy_steps);
  SR_TRY(sr_agent_new(ctx, &o, 1, &player)); /* one policy for all seeds */
  SR_TRY(sr_agent_train(ctx, player, o.steps));
  quick_options(&o, size.rows);
  SR_TRY(sr_agent_new(ctx, &o, 1, &probes));
  SR_TRY(sr_agent_collect(ctx, probes, player, o.steps, 0.2, 999999937));
  int actions = sr_agent_get(player)->actions, cells = PROBES * actions;
  values = calloc((size_t)(cells * HEADS), sizeof *values);
  q = calloc((size_t)(BUFFERS * cells * HEADS), sizeof *q);
  if (!values || !q) SR_TRY(SR_ERROR_MEMORY);
  for (int s = 0; s < size.samplers; s++) {
    double of_mean, of_head, covariance, level;
    char name[VALUE_NAME_SIZE];
    buffer_study study = {o, player, probes, size.gradient_steps};
    study.options.sampler = samplers[s];
    for (int b = 0; b < BUFFERS; b++) {
      SR_TRY(learn_buffer(ctx, &study, unit->seed * BUFFERS + (uint64_t)b, values));
      for (int p = 0; p < PROBES; p++)
        for (int h = 0; h < HEADS; h++)
          for (int a = 0; a < actions; a++)
            q[(b * cells + p * actions + a) * HEADS + h] =
                (double)values[(p * HEADS + h) * actions + a];
    }
    spread(cells, q, &of_mean, &of_head, &covariance, &level);
    snprintf(name, sizeof name, "mean-%s", samplers[s]);
    experiment_measure(out, name, of_mean);
    snprintf(name, sizeof name, "head-%s", samplers[s]);
    experiment_measure(out, name, of_head);
    snprintf(name, sizeof name, "cov-%s", samplers[s]);
    experiment_measure(out, name, covariance);
    snprintf(name, sizeof name, "level-%s", samplers[s]);
    experiment_measure(out, name, level);
  }
cleanup:
  free(values);
  free(q);
  sr_agent_free(&player);
  sr_agent_free(&probes);
  return status;
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  return unit->index == FRESH ? run_fresh(ctx, unit, out) : run_frozen(ctx, unit, out);
}

/* ---- what it shows -------------------------------------------------------------------------- */

static result_sample sample_of(conclusion *c, int which, const char *what, int sampler) {
  char name[VALUE_NAME_SIZE];
  snprintf(name, sizeof name, "%s-%s", what, samplers[sampler]);
  return conclusion_sample(c, which, name);
}

static int by_size(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Ratio of the means over seeds of two paired samples, with a percentile bootstrap of the seeds. */
static sr_interval ratio_of(conclusion *c, const char *what, int a, int b) {
  enum { DRAWS = 4000, MOST = 1000 };
  result_sample x = sample_of(c, FRESH, what, a), y = sample_of(c, FRESH, what, b);
  sr_interval ratio = {NAN, NAN, NAN};
  int64_t n = x.count < y.count ? x.count : y.count;
  double *draw = malloc(DRAWS * sizeof *draw), uniform[MOST];
  if (!draw || n < 2 || n > MOST) {
    free(draw);
    return ratio;
  }
  for (int r = 0; r < DRAWS; r++) {
    double top = 0, bottom = 0;
    sr_random_uniform(7, (uint64_t)r, 0, n, uniform);
    for (int64_t i = 0; i < n; i++) {
      int64_t k = (int64_t)(uniform[i] * (double)n);
      top += x.value[k];
      bottom += y.value[k];
    }
    draw[r] = top / bottom;
  }
  qsort(draw, DRAWS, sizeof *draw, by_size);
  ratio.estimate = x.mean / y.mean;
  ratio.low = sr_quantile_sorted(DRAWS, draw, 0.025);
  ratio.high = sr_quantile_sorted(DRAWS, draw, 0.975);
  free(draw);
  return ratio;
}

static sr_status read_results(conclusion *c) {
  int count = sizes_at(conclusion_scale(c)).samplers;
  conclusion_begin_table(c, "Fresh buffers of one policy: variance over buffers at probe states");
  for (int s = 0; s < count; s++) {
    static const char *const what[] = {"mean", "head", "cov", "level"};
    static const char *const title[] = {"Var(mean Q)", "Var(head)", "Cov(heads)", "mean Q"};
    for (int k = 0; k < 4; k++) {
      result_sample sample = sample_of(c, FRESH, what[k], s);
      conclusion_add_cell(c, samplers[s], title[k], NAN, NAN, &sample);
    }
  }
  conclusion_begin_table(c, "Ratios over the same buffers, 95 % bootstrap intervals");
  sr_interval mean_fifth = ratio_of(c, "mean", ROUTED, FIFTH),
              mean_uniform = ratio_of(c, "mean", ROUTED, UNIFORM),
              fifth_uniform = ratio_of(c, "mean", FIFTH, UNIFORM),
              cov_fifth = ratio_of(c, "cov", ROUTED, FIFTH),
              head_fifth = ratio_of(c, "head", ROUTED, FIFTH);
  conclusion_add_estimate(c, "routed / random fifth", "Var(mean Q)", NAN, &mean_fifth);
  conclusion_add_estimate(c, "routed / random fifth", "Var(head)", NAN, &head_fifth);
  conclusion_add_estimate(c, "routed / random fifth", "Cov(heads)", NAN, &cov_fifth);
  conclusion_add_estimate(c, "routed / uniform", "Var(mean Q)", NAN, &mean_uniform);
  conclusion_add_estimate(c, "random fifth / uniform", "Var(mean Q)", NAN, &fifth_uniform);
  conclusion_begin_table(c,
                         "One frozen network: Var(y) is the same for all; what a head's rows and "
                         "batches add");
  for (int s = 0; s < FROZEN_SAMPLERS; s++) {
    result_sample between = sample_of(c, FROZEN, "between", s),
                  batch = sample_of(c, FROZEN, "batch", s),
                  total = conclusion_sample(c, FROZEN, "total"),
                  mean = conclusion_sample(c, FROZEN, "mean");
    conclusion_add_cell(c, samplers[s], "Var(y)", NAN, NAN, &total);
    conclusion_add_cell(c, samplers[s], "mean y", NAN, NAN, &mean);
    conclusion_add_cell(c, samplers[s], "between heads / Var(y)", NAN, NAN, &between);
    conclusion_add_cell(c, samplers[s], "batch error (1: independent rows)", NAN, NAN, &batch);
  }
  int64_t buffers = BUFFERS * sample_of(c, FRESH, "mean", ROUTED).count;
  bool lower = mean_fifth.high < 1 && mean_uniform.high < 1, mechanism = cov_fifth.high < 1;
  if (buffers < ASKED_BUFFERS)
    conclusion_decide(c, VERDICT_CANNOT_BE_TESTED,
                      "%lld of %d fresh buffers are there; so far Var(mean Q) of routed is %.3f "
                      "[%.3f, %.3f] times that of a random fifth",
                      (long long)buffers, ASKED_BUFFERS, mean_fifth.estimate, mean_fifth.low,
                      mean_fifth.high);
  else
    conclusion_decide(
        c,
        lower       ? VERDICT_REPRODUCED
        : mechanism ? VERDICT_PARTLY
                    : VERDICT_NOT_REPRODUCED,
        "over %lld fresh buffers Var(mean Q) of routed is %.3f [%.3f, %.3f] times that "
        "of a random fifth of the rows and %.3f [%.3f, %.3f] times uniform's; the "
        "covariance of two heads is %.3f [%.3f, %.3f] and a head's variance %.3f times "
        "the fifth's",
        (long long)buffers, mean_fifth.estimate, mean_fifth.low, mean_fifth.high,
        mean_uniform.estimate, mean_uniform.low, mean_uniform.high, cov_fifth.estimate,
        cov_fifth.low, cov_fifth.high, head_fifth.estimate);
  return SR_OK;
}

extern const experiment experiment_target_variance;
const experiment experiment_target_variance = {
    .about = {"target-variance",
              "Variance of Q over fresh buffers, and of targets under one network", NULL, 0, NULL},
    .place = "Target variance of the Atari table, Section 5.4 and Appendix E",
    .needs = "nothing: games of our own",
    .seeds = {50, 50},
    .core_seconds = {50 * 25, 50 * 300},
    .case_count = count_cases,
    .case_name = name_case,
    .run = run_unit,
    .conclude = read_results};
