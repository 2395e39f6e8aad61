/* Corollary on replay buffers: m agents fit Q = phi' w by least squares on bootstrap samples of one
 * buffer with a frozen target; Var(mean of the w_j) is said to be of order T^2 / n at least. */
#include <math.h>
#include <stdlib.h>

#include "experiment.h"
#include "tools.h"

enum { STATES = 3, WEIGHTS = STATES + 1, AGENTS = 5 };
static const double tmix_grid[] = {1, 2, 5, 10, 20, 50, 100};
static const double rows_grid[] = {2500, 5000, 10000, 20000, 40000};
enum { TMIX_COUNT = 7, ROWS_COUNT = 5, FIXED_ROWS = 10000, FIXED_TMIX = 20 };

static int buffers_at(experiment_scale scale) { return scale == SCALE_FULL ? 100 : 30; }

static int count_cases(experiment_scale scale) {
  (void)scale;
  return TMIX_COUNT + ROWS_COUNT;
}

static void grid_point(int index, double *tmix, int64_t *rows) {
  *tmix = index < TMIX_COUNT ? tmix_grid[index] : FIXED_TMIX;
  *rows = index < TMIX_COUNT ? FIXED_ROWS : (int64_t)rows_grid[index - TMIX_COUNT];
}

static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  double tmix;
  int64_t rows;
  grid_point(index, &tmix, &rows);
  snprintf(name, size, "sweep=%s T=%g n=%lld agents=%d buffers=%d", index < TMIX_COUNT ? "T" : "n",
           tmix, (long long)rows, AGENTS, buffers_at(scale));
}

/* A buffer: bounded features tanh(s) with an intercept, and Bellman targets
 * r + gamma phi(next)' w_old, where the reward carries noise as dependent as the states. */
typedef struct buffer {
  int64_t rows;
  double *phi; /* rows x WEIGHTS */
  double *target;
} buffer;

static void fill_buffer(double tmix, uint64_t seed, uint64_t replicate, double *noise, buffer *b) {
  static const double reward[WEIGHTS] = {0.2, 1.0, -0.5, 0.3}, old[WEIGHTS] = {0.1, 0.5, 0.2, -0.3};
  double lambda = 1.0 - 1.0 / tmix, step = sqrt(1.0 - lambda * lambda);
  int64_t length = b->rows + 1;
  double state[STATES + 1] = {0};
  sr_random_normal(seed, replicate, 0, length * (STATES + 1), noise);
  for (int64_t t = 0; t < length; t++) {
    double value = 0.0;
    for (int k = 0; k <= STATES; k++) {
      double fresh = noise[t * (STATES + 1) + k];
      state[k] = t == 0 ? fresh : lambda * state[k] + step * fresh;
    }
    double *phi = b->phi + t * WEIGHTS;
    phi[0] = 1.0;
    for (int k = 0; k < STATES; k++) phi[k + 1] = tanh(state[k]);
    for (int k = 0; k < WEIGHTS; k++) value += old[k] * phi[k];
    if (t > 0) b->target[t - 1] += 0.9 * value;
    if (t == b->rows) break;
    b->target[t] = state[STATES];
    for (int k = 0; k < WEIGHTS; k++) b->target[t] += reward[k] * phi[k];
  }
}

static sr_status fit_agent(const buffer *b, const double *draw, double *weights) {
  double gram[WEIGHTS * WEIGHTS] = {0};
  for (int k = 0; k < WEIGHTS; k++) weights[k] = 0.0;
  for (int64_t i = 0; i < b->rows; i++) {
    int64_t row = (int64_t)(draw[i] * (double)b->rows);
    const double *phi = b->phi + row * WEIGHTS;
    for (int k = 0; k < WEIGHTS; k++) {
      weights[k] += phi[k] * b->target[row];
      for (int l = 0; l < WEIGHTS; l++) gram[k * WEIGHTS + l] += phi[k] * phi[l];
    }
  }
  return experiment_solve_definite(WEIGHTS, gram, weights);
}

/* Sum over weights of the variance over buffers. */
static double total_variance(int buffers, const double *mean_weights) {
  double total = 0.0;
  for (int k = 0; k < WEIGHTS; k++) {
    double mean = 0.0, squares = 0.0;
    for (int r = 0; r < buffers; r++) mean += mean_weights[r * WEIGHTS + k] / buffers;
    for (int r = 0; r < buffers; r++) {
      double difference = mean_weights[r * WEIGHTS + k] - mean;
      squares += difference * difference;
    }
    total += squares / (buffers - 1);
  }
  return total;
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  sr_status status = SR_OK;
  double tmix;
  buffer b = {0};
  grid_point(unit->index, &tmix, &b.rows);
  int buffers = buffers_at(unit->scale);
  size_t length = (size_t)b.rows + 1;
  b.phi = malloc(length * WEIGHTS * sizeof *b.phi);
  b.target = malloc(length * sizeof *b.target);
  double *noise = malloc(length * (STATES + 1) * sizeof *noise);
  double *mean = calloc((size_t)buffers * WEIGHTS, sizeof *mean);
  if (!b.phi || !b.target || !noise || !mean) SR_TRY(SR_ERROR_MEMORY);
  for (int r = 0; r < buffers; r++) {
    if (sr_context_interrupted(ctx)) SR_TRY(SR_ERROR_INTERRUPTED);
    fill_buffer(tmix, unit->seed, (uint64_t)r, noise, &b);
    for (int j = 0; j < AGENTS; j++) {
      double weights[WEIGHTS];
      sr_random_uniform(unit->seed, (uint64_t)r, 1 + (uint64_t)j, b.rows, noise);
      if (fit_agent(&b, noise, weights) != SR_OK)
        SR_TRY(
            experiment_refuse(out, SR_ERROR_DATA, "the features of a bag are linearly dependent"));
      for (int k = 0; k < WEIGHTS; k++) mean[r * WEIGHTS + k] += weights[k] / AGENTS;
    }
  }
  experiment_measure(out, "variance", total_variance(buffers, mean));
cleanup:
  free(b.phi);
  free(b.target);
  free(noise);
  free(mean);
  return status;
}

static sr_status read_results(conclusion *c) {
  sr_interval by_tmix = conclusion_slope(c, 2, 1, TMIX_COUNT - 2, tmix_grid + 2, "variance");
  sr_interval by_rows = conclusion_slope(c, TMIX_COUNT, 1, ROWS_COUNT, rows_grid, "variance");
  double y[TMIX_COUNT], low[TMIX_COUNT], high[TMIX_COUNT], paper[TMIX_COUNT];
  conclusion_begin_table(c, "Exponents of Var(mean weights), 95 % interval");
  conclusion_add_estimate(c, "in T (n = 10000, T from 5)", "exponent", 2.0, &by_tmix);
  conclusion_add_estimate(c, "in n (T = 20)", "exponent", -1.0, &by_rows);
  conclusion_curve(c, 0, 1, TMIX_COUNT, "variance", y, low, high);
  for (int k = 0; k < TMIX_COUNT; k++) paper[k] = y[0] * tmix_grid[k] * tmix_grid[k];
  const sr_plot_series series[] = {{.label = "measured",
                                    .kind = SR_PLOT_LINE_POINTS,
                                    .count = TMIX_COUNT,
                                    .x = tmix_grid,
                                    .y = y,
                                    .low = low,
                                    .high = high},
                                   {.label = "paper: T^2",
                                    .kind = SR_PLOT_DASHED,
                                    .count = TMIX_COUNT,
                                    .x = tmix_grid,
                                    .y = paper}};
  sr_plot plot = {.title = "Variance of the averaged weights of Q-learning on a replay buffer",
                  .x_label = "mixing time T (steps)",
                  .y_label = "total variance",
                  .log_x = 1,
                  .log_y = 1,
                  .series_count = 2,
                  .series = series};
  conclusion_add_plot(c, &plot);
  bool squared = by_tmix.low > 1.5;
  conclusion_decide(
      c, squared ? VERDICT_REPRODUCED : VERDICT_NOT_REPRODUCED,
      "the variance of the averaged weights falls as n^%.2f and grows as T^%.2f [%.2f, %.2f], "
      "where the corollary says T^2: the penalty is real, but of first order",
      by_rows.estimate, by_tmix.estimate, by_tmix.low, by_tmix.high);
  return SR_OK;
}

extern const experiment experiment_claim_lfa;
const experiment experiment_claim_lfa = {
    .about = {"claim-lfa", "Variance of linear Q-learning ensembles on a replay buffer", NULL, 0,
              NULL},
    .place = "Appendix E, Corollary",
    .needs = "nothing: simulated",
    .seeds = {3, 20},
    .core_seconds = {10, 250},
    .case_count = count_cases,
    .case_name = name_case,
    .run = run_unit,
    .conclude = read_results};
