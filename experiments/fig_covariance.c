/* Figure 1: covariance of two trees of an ensemble against T, by plan. Measured as the lemma means
 * it, over independent data sets at fixed test points, and also over test rows of one data set. */
#include <math.h>
#include <stdlib.h>

#include "experiment.h"
#include "tools.h"
#include "witness.h"

static const double tmix_grid[] = {1, 10, 50, 200};
enum { TMIX_COUNT = 4, POINTS = 400 };

static const struct {
  const char *plan;
  double paper[TMIX_COUNT];
} plans[] = {{"uniform", {.0004, .009, .044, .165}},
             {"uniform-nm", {NAN, NAN, NAN, NAN}},
             {"spectral", {.0004, .0006, .0009, .0015}},
             {"routed", {NAN, NAN, NAN, NAN}}};
enum { PLANS = 4 };

static int data_sets_at(experiment_scale scale) { return scale == SCALE_FULL ? 12 : 6; }

static witness witness_at(experiment_scale scale, int index) {
  bool full = scale == SCALE_FULL;
  return (witness){.rows = full ? 50000 : 5000,
                   .features = 5,
                   .noise_kind = NOISE_AR,
                   .noise_sd = 1.0,
                   .members = full ? 100 : 30,
                   .tmix = tmix_grid[index % TMIX_COUNT]};
}

static int count_cases(experiment_scale scale) {
  (void)scale;
  return PLANS * TMIX_COUNT;
}

static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  witness w = witness_at(scale, index);
  snprintf(name, size, "plan=%s T=%g n=%lld m=%d d=%d noise=%s sd=%g sets=%d points=%d",
           plans[index / TMIX_COUNT].plan, w.tmix, (long long)w.rows, w.members, w.features,
           witness_noise_name(w.noise_kind), w.noise_sd, data_sets_at(scale), POINTS);
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  sr_status status = SR_OK;
  witness w = witness_at(unit->scale, unit->index);
  planned p = {.plan = plans[unit->index / TMIX_COUNT].plan};
  int sets = data_sets_at(unit->scale);
  sr_table *test = NULL;
  sr_ensemble *ensemble = NULL;
  double *contrast = NULL, *sum = calloc((size_t)POINTS * (size_t)sets, sizeof *sum);
  double *squares = malloc((size_t)sets * sizeof *squares), covariance = 0.0, variance = 0.0;
  int32_t *votes = malloc((size_t)w.members * POINTS * sizeof *votes);
  if (!sum || !squares || !votes) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(witness_test_rows(ctx, &w, unit->seed, POINTS, &test, &contrast));
  for (int k = 0; k < sets; k++) {
    squares[k] = w.members; /* votes are +1 or -1 */
    SR_TRY(witness_train(ctx, &w, &p, unit->seed, (uint64_t)k, &ensemble));
    SR_TRY(sr_ensemble_votes(ctx, ensemble, test, votes));
    for (int j = 0; j < w.members; j++)
      for (int i = 0; i < POINTS; i++) sum[i * sets + k] += votes[j * POINTS + i] == 1 ? 1.0 : -1.0;
    sr_ensemble_free(&ensemble);
  }
  for (int i = 0; i < POINTS; i++) {
    double mean[64];
    for (int k = 0; k < sets; k++) mean[k] = sum[i * sets + k] / w.members;
    covariance += experiment_pairwise_covariance(sets, w.members, sum + i * sets, squares) / POINTS;
    double sd = sr_standard_deviation(sets, mean);
    variance += sd * sd / POINTS;
  }
  experiment_measure(out, "covariance", covariance);
  experiment_measure(out, "margin_variance", variance);
cleanup:
  sr_table_free(&test);
  sr_ensemble_free(&ensemble);
  free(contrast);
  free(sum);
  free(squares);
  free(votes);
  return status;
}

/* ---- conclusion --------------------------------------------------------------------------- */

static void plot_curves(conclusion *c) {
  double y[PLANS][TMIX_COUNT], low[PLANS][TMIX_COUNT], high[PLANS][TMIX_COUNT], theory[TMIX_COUNT];
  sr_plot_series series[PLANS + 1];
  for (int p = 0; p < PLANS; p++) {
    conclusion_curve(c, (case_row){p * TMIX_COUNT, 1, TMIX_COUNT}, "covariance",
                     (curve){y[p], low[p], high[p]});
    series[p] = (sr_plot_series){.label = plans[p].plan,
                                 .kind = SR_PLOT_LINE_POINTS,
                                 .count = TMIX_COUNT,
                                 .x = tmix_grid,
                                 .y = y[p],
                                 .low = low[p],
                                 .high = high[p]};
  }
  double rows = (double)witness_at(conclusion_scale(c), 0).rows;
  for (int k = 0; k < TMIX_COUNT; k++) theory[k] = tmix_grid[k] * tmix_grid[k] / rows;
  series[PLANS] = (sr_plot_series){.label = "theory: T^2/n",
                                   .kind = SR_PLOT_DASHED,
                                   .count = TMIX_COUNT,
                                   .x = tmix_grid,
                                   .y = theory};
  sr_plot plot = {.title = "Covariance of two trees over data sets",
                  .x_label = "mixing time T (rows)",
                  .y_label = "Cov(V1, V2)",
                  .log_x = 1,
                  .log_y = 1,
                  .series_count = PLANS + 1,
                  .series = series};
  conclusion_add_plot(c, &plot);
}

static sr_status read_results(conclusion *c) {
  static const char *const values[] = {"covariance", "margin_variance"};
  static const char *const captions[] = {
      "Covariance of two trees of one ensemble, over data sets",
      "Variance of the mean margin rho over data sets (the paper has no numbers)"};
  for (int v = 0; v < 2; v++) {
    conclusion_begin_table(c, captions[v]);
    for (int p = 0; p < PLANS; p++) {
      for (int t = 0; t < TMIX_COUNT; t++) {
        char column[32];
        result_sample s = conclusion_sample(c, p * TMIX_COUNT + t, values[v]);
        snprintf(column, sizeof column, "T = %g", tmix_grid[t]);
        conclusion_add_cell(c, plans[p].plan, column, v == 0 ? plans[p].paper[t] : NAN, NAN, &s);
      }
    }
  }
  plot_curves(c);
  sr_interval slope =
      conclusion_slope(c, (case_row){1, 1, TMIX_COUNT - 1}, tmix_grid + 1, "covariance");
  double uniform = conclusion_sample(c, 3, "covariance").mean;
  double spectral = conclusion_sample(c, 2 * TMIX_COUNT + 3, "covariance").mean;
  double small = conclusion_sample(c, TMIX_COUNT + 3, "covariance").mean;
  bool squared = slope.low > 1.5, compressed = uniform / spectral > 10.0;
  conclusion_decide(
      c,
      squared && compressed                         ? VERDICT_REPRODUCED
      : squared || compressed || spectral < uniform ? VERDICT_PARTLY
                                                    : VERDICT_NOT_REPRODUCED,
      "the covariance of uniform bagging grows as T^%.2f [%.2f, %.2f] from T = 10 on (theory 2); "
      "at "
      "T = 200 spectral has %.4f of uniform's %.4f (paper 110 times less), bags of n/m rows %.4f",
      slope.estimate, slope.low, slope.high, spectral, uniform, small);
  return SR_OK;
}

extern const experiment experiment_fig_covariance;
const experiment experiment_fig_covariance = {.about = {"fig-covariance",
                                                        "Covariance of base learners against T",
                                                        NULL, 0, NULL},
                                              .place = "Figure 1",
                                              .needs = "nothing: simulated",
                                              .seeds = {2, 5},
                                              .core_seconds = {10, 500},
                                              .case_count = count_cases,
                                              .case_name = name_case,
                                              .run = run_unit,
                                              .conclude = read_results};
