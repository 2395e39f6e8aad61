/* Corollary on replay buffers: m agents fit Q(s, a) = phi(s, a)' w by least squares on bootstrap
 * samples of one buffer with a frozen target r + gamma max_a' Q_old(s', a'); Var(mean of the w_j)
 * is said to be of order T^2 / n at least.
 *
 * States are an AR(1) chain, actions are drawn at random, the reward's noise is independent or as
 * dependent as the states, and a bag has n or n/m draws: all four are measured.
 *
 * The verdict's rule, on full bags (n draws), exponents of Var(mean w) in T from T = 4 on, with 95
 * % intervals:
 * - reproduced: above 1.5 for both kinds of noise;
 * - partly: above 1.5 for one of them;
 * - not reproduced: below 1.5 for both;
 * - cannot be tested here: else, or where the exponent in n is not within .2 of -1. */
#include <math.h>
#include <stdlib.h>

#include "experiment.h"
#include "tools.h"

enum { STATES = 3, WEIGHTS = STATES + 1, ACTIONS = 2, AGENTS = 5 };
enum { TMIX_COUNT = 7, ROWS_COUNT = 5, FIXED_ROWS = 16000, FIXED_TMIX = 16, FIRST_FITTED = 2 };
static const double tmix_grid[TMIX_COUNT] = {1, 2, 4, 8, 16, 32, 64};
static const double rows_grid[ROWS_COUNT] = {2000, 4000, 8000, 16000, 32000};
enum { PER_NOISE = TMIX_COUNT + ROWS_COUNT, INDEPENDENT = 0, DEPENDENT = 1 };
static const char *const noise_names[] = {"independent", "dependent"};
static const char *const bag_names[] = {"n", "n/m"};

static int buffers_at(experiment_scale scale) { return scale == SCALE_FULL ? 100 : 30; }

static int count_cases(experiment_scale scale) {
  (void)scale;
  return 2 * PER_NOISE;
}

static void grid_point(int index, double *tmix, int64_t *rows) {
  index %= PER_NOISE;
  *tmix = index < TMIX_COUNT ? tmix_grid[index] : FIXED_TMIX;
  *rows = index < TMIX_COUNT ? FIXED_ROWS : (int64_t)rows_grid[index - TMIX_COUNT];
}

static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  double tmix;
  int64_t rows;
  grid_point(index, &tmix, &rows);
  snprintf(name, size, "sweep=%s noise=%s T=%g n=%lld agents=%d actions=%d buffers=%d",
           index % PER_NOISE < TMIX_COUNT ? "T" : "n", noise_names[index / PER_NOISE], tmix,
           (long long)rows, AGENTS, ACTIONS, buffers_at(scale));
}

/* ---- a buffer ------------------------------------------------------------------------------- */

typedef struct buffer {
  int64_t rows;
  double *phi; /* rows + 1 x WEIGHTS: (1, tanh s), bounded and well conditioned */
  int8_t *action;
  double *target;
} buffer;

static double value_of(const double *phi, const double *weights) {
  double value = 0;
  for (int k = 0; k < WEIGHTS; k++) value += weights[k] * phi[k];
  return value;
}

static void fill_buffer(double tmix, bool dependent, uint64_t seed, uint64_t replicate,
                        double *scratch, buffer *b) {
  static const double reward[ACTIONS][WEIGHTS] = {{0.2, 1.0, -0.5, 0.3}, {-0.1, -0.6, 0.8, 0.4}};
  static const double old[ACTIONS][WEIGHTS] = {{0.1, 0.5, 0.2, -0.3}, {0.2, -0.4, 0.6, 0.1}};
  double lambda = 1.0 - 1.0 / tmix, step = sqrt(1.0 - lambda * lambda);
  double state[STATES + 1] = {0};
  int64_t length = b->rows + 1;
  sr_random_normal(seed, replicate, 0, length * (STATES + 1), scratch);
  for (int64_t t = 0; t < length; t++) {
    double *phi = b->phi + t * WEIGHTS;
    for (int k = 0; k <= STATES; k++) {
      double fresh = scratch[t * (STATES + 1) + k];
      bool chained = t > 0 && (k < STATES || dependent);
      state[k] = chained ? lambda * state[k] + step * fresh : fresh;
    }
    phi[0] = 1.0;
    for (int k = 0; k < STATES; k++) phi[k + 1] = tanh(state[k]);
    if (t > 0) b->target[t - 1] += 0.9 * fmax(value_of(phi, old[0]), value_of(phi, old[1]));
    if (t < b->rows) b->target[t] = state[STATES];
  }
  sr_random_uniform(seed, replicate, 1, b->rows, scratch);
  for (int64_t t = 0; t < b->rows; t++) {
    b->action[t] = scratch[t] < 0.5;
    b->target[t] += value_of(b->phi + t * WEIGHTS, reward[b->action[t]]);
  }
}

/* Least squares for each action on `draws` rows drawn with replacement; weights: ACTIONS x
 * WEIGHTS. */
static sr_status fit_agent(const buffer *b, int64_t draws, const double *draw, double *weights) {
  double gram[ACTIONS][WEIGHTS * WEIGHTS] = {{0}};
  for (int k = 0; k < ACTIONS * WEIGHTS; k++) weights[k] = 0.0;
  for (int64_t i = 0; i < draws; i++) {
    int64_t row = (int64_t)(draw[i] * (double)b->rows);
    const double *phi = b->phi + row * WEIGHTS;
    double *g = gram[b->action[row]], *w = weights + WEIGHTS * b->action[row];
    for (int k = 0; k < WEIGHTS; k++) {
      w[k] += phi[k] * b->target[row];
      for (int l = 0; l < WEIGHTS; l++) g[k * WEIGHTS + l] += phi[k] * phi[l];
    }
  }
  for (int a = 0; a < ACTIONS; a++) {
    sr_status status = experiment_solve_definite(WEIGHTS, gram[a], weights + WEIGHTS * a);
    if (status != SR_OK) return status;
  }
  return SR_OK;
}

/* ---- what is measured ----------------------------------------------------------------------- */

enum { ALL = ACTIONS * WEIGHTS };

/* Weights of every buffer and agent: buffers x AGENTS x ALL. Sums over the weights of Var(mean) and
 * of the covariance of two agents, over buffers. */
static void spread(int buffers, const double *weights, double *variance, double *covariance) {
  double *sum = calloc((size_t)buffers, sizeof *sum),
         *squares = calloc((size_t)buffers, sizeof *sum);
  *variance = *covariance = NAN;
  if (sum && squares) *variance = *covariance = 0;
  for (int k = 0; k < ALL && sum && squares; k++) {
    double mean = 0, spread_of_means = 0;
    for (int r = 0; r < buffers; r++) {
      sum[r] = squares[r] = 0;
      for (int j = 0; j < AGENTS; j++) {
        double w = weights[(r * AGENTS + j) * ALL + k];
        sum[r] += w;
        squares[r] += w * w;
      }
      mean += sum[r] / AGENTS / buffers;
    }
    for (int r = 0; r < buffers; r++) {
      double apart = sum[r] / AGENTS - mean;
      spread_of_means += apart * apart / (buffers - 1);
    }
    *variance += spread_of_means;
    *covariance += experiment_pairwise_covariance(buffers, AGENTS, sum, squares);
  }
  free(sum);
  free(squares);
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
  b.action = malloc(length);
  double *scratch = malloc(length * (STATES + 1) * sizeof *scratch);
  double *weights[2] = {calloc((size_t)(buffers * AGENTS * ALL), sizeof(double)),
                        calloc((size_t)(buffers * AGENTS * ALL), sizeof(double))};
  if (!b.phi || !b.target || !b.action || !scratch || !weights[0] || !weights[1])
    SR_TRY(SR_ERROR_MEMORY);
  for (int r = 0; r < buffers; r++) {
    if (sr_context_interrupted(ctx)) SR_TRY(SR_ERROR_INTERRUPTED);
    fill_buffer(tmix, unit->index / PER_NOISE == DEPENDENT, unit->seed, (uint64_t)r, scratch, &b);
    for (int j = 0; j < AGENTS; j++) {
      sr_random_uniform(unit->seed, (uint64_t)r, 2 + (uint64_t)j, b.rows, scratch);
      for (int bag = 0; bag < 2; bag++) {
        int64_t draws = bag == 0 ? b.rows : b.rows / AGENTS;
        if (fit_agent(&b, draws, scratch, weights[bag] + (r * AGENTS + j) * ALL) != SR_OK)
          SR_TRY(experiment_refuse(out, SR_ERROR_DATA,
                                   "the features of a bag are linearly dependent"));
      }
    }
  }
  for (int bag = 0; bag < 2; bag++) {
    double variance, covariance;
    spread(buffers, weights[bag], &variance, &covariance);
    experiment_measure(out, bag == 0 ? "variance" : "variance-nm", variance);
    experiment_measure(out, bag == 0 ? "covariance" : "covariance-nm", covariance);
  }
cleanup:
  free(b.phi);
  free(b.target);
  free(b.action);
  free(scratch);
  free(weights[0]);
  free(weights[1]);
  return status;
}

/* ---- what it shows -------------------------------------------------------------------------- */

static sr_interval slope_in_tmix(conclusion *c, int noise, const char *value) {
  return conclusion_slope(c,
                          (case_row){noise * PER_NOISE + FIRST_FITTED, 1,
                                     TMIX_COUNT - FIRST_FITTED},
                          tmix_grid + FIRST_FITTED, value);
}
static sr_interval slope_in_rows(conclusion *c, int noise, const char *value) {
  return conclusion_slope(c, (case_row){noise * PER_NOISE + TMIX_COUNT, 1, ROWS_COUNT}, rows_grid,
                          value);
}

static void exponents_table(conclusion *c) {
  static const char *const values[2][2] = {{"variance", "covariance"},
                                           {"variance-nm", "covariance-nm"}};
  conclusion_begin_table(c, "Exponents, 95 % intervals: in T from 4 on (n = 16000), in n (T = 16)");
  for (int noise = 0; noise < 2; noise++)
    for (int bag = 0; bag < 2; bag++) {
      char row[48];
      snprintf(row, sizeof row, "%s noise, bags of %s", noise_names[noise], bag_names[bag]);
      sr_interval tmix = slope_in_tmix(c, noise, values[bag][0]),
                  rows = slope_in_rows(c, noise, values[bag][0]),
                  heads = slope_in_tmix(c, noise, values[bag][1]);
      conclusion_add_estimate(c, row, "Var(mean w), in T", 2.0, &tmix);
      conclusion_add_estimate(c, row, "Var(mean w), in n", -1.0, &rows);
      conclusion_add_estimate(c, row, "Cov of two agents, in T", 2.0, &heads);
    }
}

static void variance_plot(conclusion *c) {
  double y[2][TMIX_COUNT], low[2][TMIX_COUNT], high[2][TMIX_COUNT], paper[TMIX_COUNT];
  sr_plot_series series[3];
  static const char *const labels[] = {"independent noise", "dependent noise"};
  for (int noise = 0; noise < 2; noise++) {
    conclusion_curve(c, (case_row){noise * PER_NOISE, 1, TMIX_COUNT}, "variance",
                     (curve){y[noise], low[noise], high[noise]});
    series[noise] = (sr_plot_series){.label = labels[noise],
                                     .kind = SR_PLOT_LINE_POINTS,
                                     .count = TMIX_COUNT,
                                     .x = tmix_grid,
                                     .y = y[noise],
                                     .low = low[noise],
                                     .high = high[noise]};
  }
  for (int k = 0; k < TMIX_COUNT; k++) paper[k] = y[0][0] * tmix_grid[k] * tmix_grid[k];
  series[2] = (sr_plot_series){.label = "paper: T^2",
                               .kind = SR_PLOT_DASHED,
                               .count = TMIX_COUNT,
                               .x = tmix_grid,
                               .y = paper};
  sr_plot plot = {.title = "Variance of the averaged weights of Q-learning on a replay buffer",
                  .x_label = "mixing time T (steps)",
                  .y_label = "total variance",
                  .log_x = 1,
                  .log_y = 1,
                  .series_count = 3,
                  .series = series};
  conclusion_add_plot(c, &plot);
}

static sr_status read_results(conclusion *c) {
  exponents_table(c);
  variance_plot(c);
  sr_interval tmix[2], rows[2];
  for (int noise = 0; noise < 2; noise++) {
    tmix[noise] = slope_in_tmix(c, noise, "variance");
    rows[noise] = slope_in_rows(c, noise, "variance");
  }
  bool first_law = fabs(rows[0].estimate + 1) <= 0.2 && fabs(rows[1].estimate + 1) <= 0.2;
  int above = (tmix[0].low > 1.5) + (tmix[1].low > 1.5);
  int below = (tmix[0].high < 1.5) + (tmix[1].high < 1.5);
  verdict v = !first_law   ? VERDICT_CANNOT_BE_TESTED
              : above == 2 ? VERDICT_REPRODUCED
              : above == 1 ? VERDICT_PARTLY
              : below == 2 ? VERDICT_NOT_REPRODUCED
                           : VERDICT_CANNOT_BE_TESTED;
  conclusion_decide(
      c, v,
      "with a max over actions the variance of the averaged weights grows as T^%.2f [%.2f, %.2f] "
      "under independent and T^%.2f [%.2f, %.2f] under dependent reward noise, where the corollary "
      "says T^2; it falls as n^%.2f and n^%.2f",
      tmix[0].estimate, tmix[0].low, tmix[0].high, tmix[1].estimate, tmix[1].low, tmix[1].high,
      rows[0].estimate, rows[1].estimate);
  return SR_OK;
}

extern const experiment experiment_claim_lfa;
const experiment experiment_claim_lfa = {
    .about = {"claim-lfa", "Variance of linear Q-learning ensembles on a replay buffer", NULL, 0,
              NULL},
    .place = "Appendix E, Corollary",
    .needs = "nothing: simulated",
    .seeds = {5, 20},
    .core_seconds = {60, 800},
    .case_count = count_cases,
    .case_name = name_case,
    .run = run_unit,
    .conclude = read_results};
