/* The appendix's joint flow of a network and its Polyak target in the kernel regime:
 *   dQ/dt = -eta Theta (Q - Y),  dY/dt = tau (Q - Y)
 * on a bootstrap bag of a Markov buffer. It is said to keep Cov(Q1, Q2) of order T^2 / n whatever
 * the capacity. With p random features Theta = Phi Phi' / n, the flow closes in 2p numbers: w for Q
 * and u = Phi' Y / n for the target, dw/dt = eta (u - A w), du/dt = tau (A w - u), A = Phi' Phi /
 * n. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment.h"
#include "tools.h"

static const double tmix_grid[] = {1, 5, 20, 80};
static const double feature_grid[] = {8, 32, 128};
enum { TMIX_COUNT = 4, FEATURE_COUNT = 3, ROWS = 4000, LEARNERS = 4, PROBES = 16, STATES = 2 };
static const double learning_rate = 1.0, polyak_rate = 0.1, horizon = 60.0, step = 0.25;

static int buffers_at(experiment_scale scale) { return scale == SCALE_FULL ? 60 : 16; }

static int count_cases(experiment_scale scale) {
  (void)scale;
  return TMIX_COUNT * FEATURE_COUNT;
}

static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  snprintf(name, size, "p=%g T=%g n=%d learners=%d buffers=%d", feature_grid[index / TMIX_COUNT],
           tmix_grid[index % TMIX_COUNT], ROWS, LEARNERS, buffers_at(scale));
}

/* ---- random features ---------------------------------------------------------------------- */

typedef struct kernel {
  int p;
  double *frequency; /* p x STATES */
  double *phase;
} kernel;

static void features_at(const kernel *k, const double *state, double *phi) {
  for (int j = 0; j < k->p; j++) {
    double angle = k->phase[j];
    for (int s = 0; s < STATES; s++) angle += k->frequency[j * STATES + s] * state[s];
    phi[j] = sqrt(2.0 / k->p) * cos(angle);
  }
}

/* ---- one buffer --------------------------------------------------------------------------- */

typedef struct workspace {
  kernel k;
  double *noise, *phi, *target, *draw;  /* (STATES + 1) x n, n x p, n, n */
  double *gram, *w, *u, *slope, *probe; /* p x p, p, p, 8p scratch, PROBES x p */
} workspace;

static void fill_buffer(workspace *ws, double tmix, uint64_t seed, uint64_t buffer) {
  double lambda = 1.0 - 1.0 / tmix, fresh = sqrt(1.0 - lambda * lambda), state[STATES + 1] = {0};
  sr_random_normal(seed, 1 + buffer, 0, (int64_t)ROWS * (STATES + 1), ws->noise);
  for (int t = 0; t < ROWS; t++) {
    for (int s = 0; s <= STATES; s++) {
      double draw = ws->noise[t * (STATES + 1) + s];
      state[s] = t == 0 ? draw : lambda * state[s] + fresh * draw;
    }
    features_at(&ws->k, state, ws->phi + (size_t)t * (size_t)ws->k.p);
    ws->target[t] = sin(state[0]) + 0.5 * state[1] + state[STATES];
  }
}

static void bag_moments(workspace *ws, uint64_t seed, uint64_t buffer, int learner) {
  int p = ws->k.p;
  memset(ws->gram, 0, (size_t)p * (size_t)p * sizeof *ws->gram);
  memset(ws->u, 0, (size_t)p * sizeof *ws->u);
  memset(ws->w, 0, (size_t)p * sizeof *ws->w);
  sr_random_uniform(seed, 1 + buffer, 1 + (uint64_t)learner, ROWS, ws->draw);
  for (int i = 0; i < ROWS; i++) {
    int row = (int)(ws->draw[i] * ROWS);
    const double *phi = ws->phi + (size_t)row * (size_t)p;
    for (int j = 0; j < p; j++) {
      double scaled = phi[j] / ROWS;
      ws->u[j] += scaled * ws->target[row];
      for (int l = 0; l < p; l++) ws->gram[j * p + l] += scaled * phi[l];
    }
  }
}

/* d(w, u)/dt into `out`; the common term is u - A w. */
static void flow(const workspace *ws, const double *w, const double *u, double *out) {
  int p = ws->k.p;
  for (int j = 0; j < p; j++) {
    double gap = u[j];
    for (int l = 0; l < p; l++) gap -= ws->gram[j * p + l] * w[l];
    out[j] = learning_rate * gap;
    out[p + j] = -polyak_rate * gap;
  }
}

/* Heun's method; the fastest rate is eta + tau < 2 / step. */
static void integrate(workspace *ws) {
  int p = ws->k.p;
  double *first = ws->slope, *second = first + 2 * p, *ahead = second + 2 * p;
  for (double t = 0.0; t < horizon; t += step) {
    flow(ws, ws->w, ws->u, first);
    for (int j = 0; j < p; j++) {
      ahead[j] = ws->w[j] + step * first[j];
      ahead[p + j] = ws->u[j] + step * first[p + j];
    }
    flow(ws, ahead, ahead + p, second);
    for (int j = 0; j < p; j++) {
      ws->w[j] += 0.5 * step * (first[j] + second[j]);
      ws->u[j] += 0.5 * step * (first[p + j] + second[p + j]);
    }
  }
}

/* ---- one unit ----------------------------------------------------------------------------- */

static double *room(double **block, size_t count) {
  double *piece = *block;
  *block += count;
  return piece;
}

static double *make_workspace(workspace *ws, int features, uint64_t seed) {
  size_t p = (size_t)features, n = ROWS;
  size_t total = p * STATES + p + n * (STATES + 1) + n * p + 2 * n + p * p + 10 * p + PROBES * p;
  double *block = malloc(total * sizeof *block), *next = block, point[STATES * PROBES];
  if (!block) return NULL;
  *ws = (workspace){.k = {features, room(&next, p * STATES), room(&next, p)},
                    .noise = room(&next, n * (STATES + 1)),
                    .phi = room(&next, n * p),
                    .target = room(&next, n),
                    .draw = room(&next, n),
                    .gram = room(&next, p * p),
                    .w = room(&next, p),
                    .u = room(&next, p),
                    .slope = room(&next, 8 * p),
                    .probe = room(&next, PROBES * p)};
  sr_random_normal(seed, 0, 0, (int64_t)(p * STATES), ws->k.frequency);
  sr_random_uniform(seed, 0, 1, (int64_t)p, ws->k.phase);
  sr_random_normal(seed, 0, 2, STATES * PROBES, point);
  for (size_t j = 0; j < p; j++) ws->k.phase[j] *= 2.0 * 3.14159265358979323846;
  for (int x = 0; x < PROBES; x++)
    features_at(&ws->k, point + x * STATES, ws->probe + (size_t)x * p);
  return block;
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  sr_status status = SR_OK;
  workspace ws = {0};
  int features = (int)feature_grid[unit->index / TMIX_COUNT], buffers = buffers_at(unit->scale);
  double *block = make_workspace(&ws, features, unit->seed), covariance = 0.0;
  double *sum = calloc((size_t)buffers * PROBES * 2, sizeof *sum);
  double *squares = sum ? sum + (size_t)buffers * PROBES : NULL;
  if (!block || !sum) SR_TRY(SR_ERROR_MEMORY);
  for (int r = 0; r < buffers; r++) {
    if (sr_context_interrupted(ctx)) SR_TRY(SR_ERROR_INTERRUPTED);
    fill_buffer(&ws, tmix_grid[unit->index % TMIX_COUNT], unit->seed, (uint64_t)r);
    for (int l = 0; l < LEARNERS; l++) {
      bag_moments(&ws, unit->seed, (uint64_t)r, l);
      integrate(&ws);
      for (int x = 0; x < PROBES; x++) {
        double q = 0.0;
        for (int j = 0; j < features; j++) q += ws.probe[x * features + j] * ws.w[j];
        sum[x * buffers + r] += q;
        squares[x * buffers + r] += q * q;
      }
    }
  }
  for (int x = 0; x < PROBES; x++)
    covariance += experiment_pairwise_covariance(buffers, LEARNERS, sum + x * buffers,
                                                 squares + x * buffers) /
                  PROBES;
  experiment_measure(out, "covariance", covariance);
cleanup:
  free(block);
  free(sum);
  return status;
}

/* ---- conclusion --------------------------------------------------------------------------- */

static sr_status read_results(conclusion *c) {
  double y[FEATURE_COUNT][TMIX_COUNT], low[FEATURE_COUNT][TMIX_COUNT],
      high[FEATURE_COUNT][TMIX_COUNT];
  double paper[TMIX_COUNT];
  char label[FEATURE_COUNT][32];
  sr_plot_series series[FEATURE_COUNT + 1];
  sr_interval slope = {NAN, NAN, NAN};
  conclusion_begin_table(c, "Exponent of Cov(Q1, Q2) in T (from T = 5), 95 % interval");
  for (int f = 0; f < FEATURE_COUNT; f++) {
    snprintf(label[f], sizeof label[f], "%g features", feature_grid[f]);
    slope = conclusion_slope(c, (case_row){f * TMIX_COUNT + 1, 1, TMIX_COUNT - 1}, tmix_grid + 1,
                             "covariance");
    conclusion_add_estimate(c, label[f], "exponent", 2.0, &slope);
    conclusion_curve(c, (case_row){f * TMIX_COUNT, 1, TMIX_COUNT}, "covariance",
                     (curve){y[f], low[f], high[f]});
    series[f] = (sr_plot_series){.label = label[f],
                                 .kind = SR_PLOT_LINE_POINTS,
                                 .count = TMIX_COUNT,
                                 .x = tmix_grid,
                                 .y = y[f],
                                 .low = low[f],
                                 .high = high[f]};
  }
  for (int k = 0; k < TMIX_COUNT; k++) paper[k] = y[0][0] * tmix_grid[k] * tmix_grid[k];
  series[FEATURE_COUNT] = (sr_plot_series){.label = "paper: T^2",
                                           .kind = SR_PLOT_DASHED,
                                           .count = TMIX_COUNT,
                                           .x = tmix_grid,
                                           .y = paper};
  sr_plot plot = {.title = "Covariance of two kernel-regime learners on one buffer",
                  .x_label = "mixing time T (steps)",
                  .y_label = "Cov(Q1, Q2)",
                  .log_x = 1,
                  .log_y = 1,
                  .series_count = FEATURE_COUNT + 1,
                  .series = series};
  conclusion_add_plot(c, &plot);
  double ratio = y[FEATURE_COUNT - 1][TMIX_COUNT - 1] / y[0][TMIX_COUNT - 1];
  bool squared = slope.low > 1.5, persists = ratio > 0.5;
  conclusion_decide(
      c, persists ? (squared ? VERDICT_REPRODUCED : VERDICT_PARTLY) : VERDICT_NOT_REPRODUCED,
      "more capacity does not average the covariance out (%g features have %.1f times that of %g "
      "at T = %g), but it grows as T^%.2f [%.2f, %.2f], not as T^2",
      feature_grid[FEATURE_COUNT - 1], ratio, feature_grid[0], tmix_grid[TMIX_COUNT - 1],
      slope.estimate, slope.low, slope.high);
  return SR_OK;
}

extern const experiment experiment_claim_ntk;
const experiment experiment_claim_ntk = {
    .about = {"claim-ntk", "Covariance of learners in the kernel regime with a Polyak target", NULL,
              0, NULL},

    .place = "Appendix E, joint ODE",
    .needs = "nothing: simulated",
    .seeds = {2, 12},
    .core_seconds = {9, 200},
    .case_count = count_cases,
    .case_name = name_case,
    .run = run_unit,
    .conclude = read_results};
