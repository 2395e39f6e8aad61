/* Figure 2: excess risk against T, and what the paper's theory says of n: exponents with intervals.
 * Theory: uniform bagging T / sqrt(n), spectral routing sqrt(T / n). */
#include <math.h>

#include "experiment.h"
#include "tools.h"
#include "witness.h"

static const double tmix_grid[] = {1, 5, 10, 20, 50, 100, 200};
static const double rows_grid[] = {2000, 5000, 10000, 20000, 50000};
enum { TMIX_COUNT = 7, ROWS_COUNT = 5, POINTS = TMIX_COUNT + ROWS_COUNT };

static const struct {
  const char *plan;
  double in_tmix, in_rows; /* the theory's exponents; NaN: none is claimed */
} plans[] = {{"uniform", 1.0, -0.5},
             {"uniform-nm", NAN, NAN},
             {"spectral", 0.5, -0.5},
             {"routed", NAN, NAN},
             {"auto", NAN, NAN}};
enum { PLANS = 5 };

static witness witness_at(experiment_scale scale, int index) {
  int point = index % POINTS;
  double rows = scale == SCALE_FULL ? 50000 : 10000;
  witness w = {.features = 5, .noise_kind = NOISE_AR, .noise_sd = 1.0, .members = 100};
  if (scale == SCALE_QUICK) w.members = 40;
  w.tmix = point < TMIX_COUNT ? tmix_grid[point] : 10;
  w.rows = (int64_t)(point < TMIX_COUNT ? rows : rows_grid[point - TMIX_COUNT]);
  return w;
}

static int count_cases(experiment_scale scale) {
  (void)scale;
  return PLANS * POINTS;
}

static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  witness w = witness_at(scale, index);
  snprintf(name, size, "plan=%s sweep=%s T=%g n=%lld m=%d d=%d noise=%s sd=%g",
           plans[index / POINTS].plan, index % POINTS < TMIX_COUNT ? "T" : "n", w.tmix,
           (long long)w.rows, w.members, w.features, witness_noise_name(w.noise_kind), w.noise_sd);
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  witness w = witness_at(unit->scale, unit->index);
  planned p = {.plan = plans[unit->index / POINTS].plan};
  return witness_measure(ctx, &w, &p, unit, 10000, out);
}

/* ---- conclusion --------------------------------------------------------------------------- */

/* The paper's figure: its own points for two plans at four mixing times. */
static void add_paper_points(conclusion *c) {
  static const int at[] = {0, 2, 4, 6};
  static const double uniform[] = {.030, .104, .228, .457}, spectral[] = {.030, .039, .046, .053};
  conclusion_begin_table(c, "Excess risk against T (the paper's figure has these points)");
  for (int p = 0; p < PLANS; p++) {
    for (int k = 0; k < 4; k++) {
      char column[32];
      result_sample s = conclusion_sample(c, p * POINTS + at[k], "risk");
      snprintf(column, sizeof column, "T = %g", tmix_grid[at[k]]);
      conclusion_add_cell(c, plans[p].plan, column,
                          p == 0   ? uniform[k]
                          : p == 2 ? spectral[k]
                                   : NAN,
                          NAN, &s);
    }
  }
}

static void plot_sweep(conclusion *c, bool tmix) {
  int count = tmix ? TMIX_COUNT : ROWS_COUNT, offset = tmix ? 0 : TMIX_COUNT;
  const double *x = tmix ? tmix_grid : rows_grid;
  double y[PLANS][TMIX_COUNT], low[PLANS][TMIX_COUNT], high[PLANS][TMIX_COUNT];
  double bagging[TMIX_COUNT], minimax[TMIX_COUNT];
  sr_plot_series series[PLANS + 2];
  for (int p = 0; p < PLANS; p++) {
    conclusion_curve(c, (case_row){p * POINTS + offset, 1, count}, "risk",
                     (curve){y[p], low[p], high[p]});
    series[p] = (sr_plot_series){.label = plans[p].plan,
                                 .kind = SR_PLOT_LINE_POINTS,
                                 .count = count,
                                 .x = x,
                                 .y = y[p],
                                 .low = low[p],
                                 .high = high[p]};
  }
  for (int k = 0; k < count; k++) {
    double factor = x[k] / x[0];
    bagging[k] = y[0][0] * (tmix ? factor : pow(factor, -0.5));
    minimax[k] = y[2][0] * pow(factor, tmix ? 0.5 : -0.5);
  }
  series[PLANS] = (sr_plot_series){.label = tmix ? "theory: T" : "theory: n^-1/2",
                                   .kind = SR_PLOT_DASHED,
                                   .count = count,
                                   .x = x,
                                   .y = bagging};
  series[PLANS + 1] = (sr_plot_series){
      .label = "theory: T^1/2", .kind = SR_PLOT_DASHED, .count = count, .x = x, .y = minimax};
  sr_plot plot = {.title = tmix ? "Excess risk against the mixing time"
                                : "Excess risk against the number of rows (T = 10)",
                  .x_label = tmix ? "mixing time T (rows)" : "rows n",
                  .y_label = "excess risk",
                  .log_x = 1,
                  .log_y = 1,
                  .series_count = tmix ? PLANS + 2 : PLANS + 1,
                  .series = series};
  conclusion_add_plot(c, &plot);
}

static sr_status read_results(conclusion *c) {
  sr_interval tmix[PLANS], rows[PLANS];
  conclusion_begin_table(c,
                         "Fitted exponents of the excess risk, 95 % interval (in T from T = 10)");
  for (int p = 0; p < PLANS; p++) {
    tmix[p] =
        conclusion_slope(c, (case_row){p * POINTS + 2, 1, TMIX_COUNT - 2}, tmix_grid + 2, "risk");
    rows[p] =
        conclusion_slope(c, (case_row){p * POINTS + TMIX_COUNT, 1, ROWS_COUNT}, rows_grid, "risk");
    conclusion_add_estimate(c, plans[p].plan, "in T", plans[p].in_tmix, &tmix[p]);
    conclusion_add_estimate(c, plans[p].plan, "in n (T = 10)", plans[p].in_rows, &rows[p]);
  }
  add_paper_points(c);
  plot_sweep(c, true);
  plot_sweep(c, false);
  bool uniform = interval_holds(&tmix[0], 1.0), spectral = interval_holds(&tmix[2], 0.5);
  conclusion_decide(
      c,
      uniform && spectral   ? VERDICT_REPRODUCED
      : uniform || spectral ? VERDICT_PARTLY
                            : VERDICT_NOT_REPRODUCED,
      "uniform bagging grows as T^%.2f [%.2f, %.2f] (theory 1) and spectral as T^%.2f [%.2f, %.2f] "
      "(theory 1/2); in n they fall as n^%.2f and n^%.2f (theory -1/2 both)",
      tmix[0].estimate, tmix[0].low, tmix[0].high, tmix[2].estimate, tmix[2].low, tmix[2].high,
      rows[0].estimate, rows[2].estimate);
  return SR_OK;
}

extern const experiment experiment_fig_rate;
const experiment experiment_fig_rate = {.about = {"fig-rate",
                                                  "How the excess risk scales with T and n", NULL,
                                                  0, NULL},
                                        .place = "Figure 2",
                                        .needs = "nothing: simulated",
                                        .seeds = {2, 20},
                                        .core_seconds = {14, 700},
                                        .case_count = count_cases,
                                        .case_name = name_case,
                                        .run = run_unit,
                                        .conclude = read_results};
