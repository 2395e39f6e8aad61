/* The theorem on uniform bagging: uniform bagging pays sqrt(T) over the minimax rate. Measured for
 * trees and for a linear learner (the theorem's own argument treats the margin as linear) as
 * risk(uniform) / risk(best plan known to us) and its exponent in T. */
#include <math.h>

#include "experiment.h"
#include "tools.h"
#include "witness.h"

static const double tmix_grid[] = {5, 10, 20, 50, 100};
static const char *const learners[] = {"tree", "ridge"};
static const char *const plans[] = {"uniform", "uniform-nm", "spectral", "routed"};
enum { TMIX_COUNT = 5, LEARNERS = 2, PLANS = 4, CASES = LEARNERS * PLANS * TMIX_COUNT };

static witness witness_at(experiment_scale scale, int index) {
  return (witness){.rows = scale == SCALE_FULL ? 20000 : 10000,
                   .features = 5,
                   .noise_kind = NOISE_AR,
                   .noise_sd = 1.0,
                   .members = scale == SCALE_FULL ? 100 : 40,
                   .tmix = tmix_grid[index % TMIX_COUNT]};
}

static int count_cases(experiment_scale scale) {
  (void)scale;
  return CASES;
}

static int first_case(int learner, int plan) { return (learner * PLANS + plan) * TMIX_COUNT; }

static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  witness w = witness_at(scale, index);
  snprintf(name, size, "learner=%s plan=%s T=%g n=%lld m=%d d=%d noise=%s sd=%g",
           learners[index / (PLANS * TMIX_COUNT)], plans[index / TMIX_COUNT % PLANS], w.tmix,
           (long long)w.rows, w.members, w.features, witness_noise_name(w.noise_kind), w.noise_sd);
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  witness w = witness_at(unit->scale, unit->index);
  planned p = {.plan = plans[unit->index / TMIX_COUNT % PLANS],
               .learner = learners[unit->index / (PLANS * TMIX_COUNT)]};
  return witness_measure(ctx, &w, &p, unit, 10000, out);
}

/* Slope of log(uniform mean / best mean) on log T. */
static sr_interval gap_slope(conclusion *c, int learner, double *gap) {
  sr_interval none = {NAN, NAN, NAN};
  sr_line_fit fit;
  for (int t = 0; t < TMIX_COUNT; t++) {
    double best = INFINITY;
    for (int p = 0; p < PLANS; p++)
      best = fmin(best, conclusion_sample(c, first_case(learner, p) + t, "risk").mean);
    gap[t] = conclusion_sample(c, first_case(learner, 0) + t, "risk").mean / best;
  }
  sr_status status = sr_fit_line(conclusion_context(c), TMIX_COUNT, tmix_grid, gap, 1, 0.95, &fit);
  return status == SR_OK ? fit.slope : none;
}

static sr_status read_results(conclusion *c) {
  double gap[LEARNERS][TMIX_COUNT], theory[TMIX_COUNT];
  sr_interval slope[LEARNERS];
  sr_plot_series series[LEARNERS + 1];
  conclusion_begin_table(c, "Exponent in T of risk(uniform) / risk(best plan), 95 % interval");
  for (int l = 0; l < LEARNERS; l++) {
    slope[l] = gap_slope(c, l, gap[l]);
    conclusion_add_estimate(c, learners[l], "exponent", 0.5, &slope[l]);
    series[l] = (sr_plot_series){.label = learners[l],
                                 .kind = SR_PLOT_LINE_POINTS,
                                 .count = TMIX_COUNT,
                                 .x = tmix_grid,
                                 .y = gap[l]};
  }
  for (int l = 0; l < LEARNERS; l++) {
    conclusion_begin_table(c, l ? "Excess risk, ridge" : "Excess risk, trees");
    for (int p = 0; p < PLANS; p++) {
      for (int t = 0; t < TMIX_COUNT; t++) {
        char column[32];
        result_sample s = conclusion_sample(c, first_case(l, p) + t, "risk");
        snprintf(column, sizeof column, "T = %g", tmix_grid[t]);
        conclusion_add_cell(c, plans[p], column, NAN, NAN, &s);
      }
    }
  }
  for (int t = 0; t < TMIX_COUNT; t++) theory[t] = sqrt(tmix_grid[t]);
  series[LEARNERS] = (sr_plot_series){.label = "paper: sqrt(T)",
                                      .kind = SR_PLOT_DASHED,
                                      .count = TMIX_COUNT,
                                      .x = tmix_grid,
                                      .y = theory};
  sr_plot plot = {.title = "Excess risk of uniform bagging over the best plan",
                  .x_label = "mixing time T (rows)",
                  .y_label = "ratio",
                  .log_x = 1,
                  .log_y = 1,
                  .series_count = LEARNERS + 1,
                  .series = series};
  conclusion_add_plot(c, &plot);
  int last = TMIX_COUNT - 1;
  bool trees = interval_holds(&slope[0], 0.5), linear = interval_holds(&slope[1], 0.5);
  conclusion_decide(
      c,
      trees && linear                         ? VERDICT_REPRODUCED
      : trees || linear || gap[0][last] > 1.5 ? VERDICT_PARTLY
                                              : VERDICT_NOT_REPRODUCED,
      "at T = %g uniform bagging of trees has %.2f times the risk of the best plan and of linear "
      "learners %.2f times (sqrt(T) = %.1f); the ratio scales as T^%.2f and T^%.2f, not T^0.5",
      tmix_grid[last], gap[0][last], gap[1][last], theory[last], slope[0].estimate,
      slope[1].estimate);
  return SR_OK;
}

extern const experiment experiment_claim_bagging_gap;
const experiment experiment_claim_bagging_gap = {
    .about = {"claim-bagging-gap", "The gap between uniform bagging and the best plan", NULL, 0,
              NULL},
    .place = "Theorem (suboptimality of uniform bagging)",
    .needs = "nothing: simulated",
    .seeds = {3, 20},
    .core_seconds = {14, 200},
    .case_count = count_cases,
    .case_name = name_case,
    .run = run_unit,
    .conclude = read_results};
