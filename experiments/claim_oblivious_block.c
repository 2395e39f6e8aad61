/* The corollary on oblivious blocks: a block length chosen without knowing T fails somewhere: too
 * short leaves autocovariance, too long costs sqrt(B / n). Measured as the risk of circular block
 * bagging over block lengths and mixing times, and as the regret of each fixed length. */
#include <math.h>

#include "experiment.h"
#include "tools.h"
#include "witness.h"

static const double tmix_grid[] = {1, 10, 50, 200}, block_grid[] = {1, 10, 50, 200, 1000, 5000};
enum { TMIX_COUNT = 4, BLOCK_COUNT = 6 };

static witness witness_at(experiment_scale scale, int index) {
  return (witness){.rows = scale == SCALE_FULL ? 50000 : 10000,
                   .features = 5,
                   .noise_kind = NOISE_AR,
                   .noise_sd = 1.0,
                   .members = scale == SCALE_FULL ? 100 : 40,
                   .tmix = tmix_grid[index / BLOCK_COUNT]};
}

static int count_cases(experiment_scale scale) {
  (void)scale;
  return TMIX_COUNT * BLOCK_COUNT;
}

static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  witness w = witness_at(scale, index);
  snprintf(name, size, "B=%g T=%g n=%lld m=%d d=%d noise=%s sd=%g", block_grid[index % BLOCK_COUNT],
           w.tmix, (long long)w.rows, w.members, w.features, witness_noise_name(w.noise_kind),
           w.noise_sd);
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  witness w = witness_at(unit->scale, unit->index);
  char plan[48];
  snprintf(plan, sizeof plan, "circular:block=%.17g", block_grid[unit->index % BLOCK_COUNT]);
  planned p = {.plan = plan};
  return witness_measure(ctx, &w, &p, unit, 10000, out);
}

static sr_status read_results(conclusion *c) {
  double risk[TMIX_COUNT][BLOCK_COUNT], spread = 0.0, least_regret = INFINITY;
  int best[TMIX_COUNT] = {0}, most_robust = 0;
  sr_plot_series series[TMIX_COUNT];
  char label[TMIX_COUNT][32];
  conclusion_begin_table(c, "Excess risk of circular block bagging");
  for (int b = 0; b < BLOCK_COUNT; b++) {
    for (int t = 0; t < TMIX_COUNT; t++) {
      char row[32];
      result_sample s = conclusion_sample(c, t * BLOCK_COUNT + b, "risk");
      snprintf(row, sizeof row, "block %g", block_grid[b]);
      snprintf(label[t], sizeof label[t], "T = %g", tmix_grid[t]);
      conclusion_add_cell(c, row, label[t], NAN, NAN, &s);
      risk[t][b] = s.mean;
      if (risk[t][b] < risk[t][best[t]]) best[t] = b;
    }
  }
  for (int b = 0; b < BLOCK_COUNT; b++) {
    double regret = 0.0;
    for (int t = 0; t < TMIX_COUNT; t++) {
      regret = fmax(regret, risk[t][b] / risk[t][best[t]]);
      spread = fmax(spread, risk[t][b] / risk[t][best[t]]);
    }
    if (regret < least_regret) least_regret = regret, most_robust = b;
  }
  for (int t = 0; t < TMIX_COUNT; t++)
    series[t] = (sr_plot_series){.label = label[t],
                                 .kind = SR_PLOT_LINE_POINTS,
                                 .count = BLOCK_COUNT,
                                 .x = block_grid,
                                 .y = risk[t]};
  sr_plot plot = {.title = "Excess risk against the block length",
                  .x_label = "block length B (rows)",
                  .y_label = "excess risk",
                  .log_x = 1,
                  .log_y = 1,
                  .series_count = TMIX_COUNT,
                  .series = series};
  conclusion_add_plot(c, &plot);
  bool moves = best[3] > best[1], costly = least_regret > 1.25;
  conclusion_decide(
      c,
      moves && costly   ? VERDICT_REPRODUCED
      : moves || costly ? VERDICT_PARTLY
                        : VERDICT_NOT_REPRODUCED,
      "the best block is %g, %g, %g, %g rows at T = 1, 10, 50, 200, but one fixed length (%g) is "
      "never more than %.2f times the best, and no length is more than %.2f times",
      block_grid[best[0]], block_grid[best[1]], block_grid[best[2]], block_grid[best[3]],
      block_grid[most_robust], least_regret, spread);
  return SR_OK;
}

extern const experiment experiment_claim_oblivious_block;
const experiment experiment_claim_oblivious_block = {
    .about = {"claim-oblivious-block", "Fixed block lengths over mixing times", NULL, 0, NULL},
    .place = "Corollary (oblivious block resampling)",
    .needs = "nothing: simulated",
    .seeds = {2, 10},
    .core_seconds = {8, 220},
    .case_count = count_cases,
    .case_name = name_case,
    .run = run_unit,
    .conclude = read_results};
