/* Condition (G4): the covariances of margins of different parts add up to o(T / n). With P = T
 * parts the sum over p != q of Cov(rho_p, rho_q) is measured over independent data sets at fixed
 * points and held against T / n; under the condition the ratio goes to zero as n grows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment.h"
#include "tools.h"
#include "witness.h"

static const double tmix_grid[] = {10, 50}, rows_grid[] = {5000, 10000, 20000, 40000};
enum { TMIX_COUNT = 2, ROWS_COUNT = 4, POINTS = 300, MEMBERS = 100, MOST_SETS = 40 };

static int data_sets_at(experiment_scale scale) { return scale == SCALE_FULL ? MOST_SETS : 12; }

static witness witness_at(int index) {
  return (witness){.rows = (int64_t)rows_grid[index % ROWS_COUNT],
                   .features = 5,
                   .noise_kind = NOISE_AR,
                   .noise_sd = 1.0,
                   .members = MEMBERS,
                   .tmix = tmix_grid[index / ROWS_COUNT]};
}

static int count_cases(experiment_scale scale) {
  return TMIX_COUNT * (scale == SCALE_FULL ? ROWS_COUNT : ROWS_COUNT - 1);
}

static int grid_index(experiment_scale scale, int index) {
  int rows = scale == SCALE_FULL ? ROWS_COUNT : ROWS_COUNT - 1;
  return index / rows * ROWS_COUNT + index % rows;
}

static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  witness w = witness_at(grid_index(scale, index));
  snprintf(name, size, "T=%g P=%g n=%lld m=%d d=%d noise=%s sd=%g sets=%d points=%d", w.tmix,
           w.tmix, (long long)w.rows, MEMBERS, w.features, witness_noise_name(w.noise_kind),
           w.noise_sd, data_sets_at(scale), POINTS);
}

/* Trains with P = T contiguous parts and gives the part of each member: that of its bag's first
 * row. */
static sr_status train_parts(sr_context *ctx, const witness *w, uint64_t seed, uint64_t set,
                             int32_t *part, sr_ensemble **ensemble) {
  sr_status status = SR_OK;
  char text[WITNESS_TEXT];
  char scheme[48];
  sr_structure_options options;
  sr_table *table = NULL;
  sr_structure *structure = NULL;
  sr_plan *plan = NULL;
  int64_t *rows = malloc((size_t)w->rows * sizeof *rows);
  int32_t *counts = malloc((size_t)w->rows * sizeof *counts);
  uint64_t own_seed = seed * 1000003 + set;
  sr_structure_options_init(&options);
  options.tmix = w->tmix;
  snprintf(scheme, sizeof scheme, "spectral:parts=%d", (int)w->tmix);
  if (!rows || !counts) SR_TRY(SR_ERROR_MEMORY);
  witness_text(w, text);
  SR_TRY(sr_simulate(ctx, text, seed, set, &table, NULL));
  SR_TRY(sr_structure_estimate(ctx, table, &options, own_seed, &structure));
  SR_TRY(sr_plan_new(ctx, structure, scheme, w->members, own_seed, &plan));
  SR_TRY(sr_ensemble_fit(ctx, table, plan, NULL, own_seed, ensemble));
  for (int32_t j = 0; j < w->members; j++) {
    int64_t length = 0;
    SR_TRY(sr_plan_bag(ctx, plan, j, rows, counts, &length));
    part[j] = (int32_t)((double)rows[length / 2] * w->tmix / (double)w->rows);
  }
cleanup:
  free(rows);
  free(counts);
  sr_plan_free(&plan);
  sr_structure_free(&structure);
  sr_table_free(&table);
  return status;
}

/* For one data set: at each point, rho_p of every part (mean vote of its members). */
static void part_margins(const int32_t *votes, const int32_t *part, int parts, double *rho) {
  double *members = calloc((size_t)parts, sizeof *members);
  memset(rho, 0, (size_t)parts * POINTS * sizeof *rho);
  for (int j = 0; members && j < MEMBERS; j++) {
    members[part[j]] += 1.0;
    for (int i = 0; i < POINTS; i++)
      rho[i * parts + part[j]] += votes[j * POINTS + i] == 1 ? 1.0 : -1.0;
  }
  for (int k = 0; members && k < parts * POINTS; k++)
    if (members[k % parts] > 0.0) rho[k] /= members[k % parts];
  free(members);
}

/* Sum over p != q of the sample covariance over data sets = variance of the sum less the sum of the
 * variances. */
static double cross_covariance(int sets, int parts, double *const *rho, int point) {
  double total[MOST_SETS] = {0}, one[MOST_SETS], inside = 0.0;
  for (int p = 0; p < parts; p++) {
    for (int k = 0; k < sets; k++) {
      one[k] = rho[k][point * parts + p];
      total[k] += one[k];
    }
    double sd = sr_standard_deviation(sets, one);
    inside += sd * sd;
  }
  double sd = sr_standard_deviation(sets, total);
  return sd * sd - inside;
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  sr_status status = SR_OK;
  witness w = witness_at(grid_index(unit->scale, unit->index));
  int sets = data_sets_at(unit->scale), parts = (int)w.tmix;
  sr_table *test = NULL;
  sr_ensemble *ensemble = NULL;
  double *contrast = NULL, *rho[MOST_SETS] = {NULL}, cross = 0.0;
  int32_t part[MEMBERS], *votes = malloc(sizeof *votes * MEMBERS * POINTS);
  if (!votes) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(witness_test_rows(ctx, &w, unit->seed, POINTS, &test, &contrast));
  for (int k = 0; k < sets; k++) {
    rho[k] = malloc((size_t)parts * POINTS * sizeof **rho);
    if (!rho[k]) SR_TRY(SR_ERROR_MEMORY);
    SR_TRY(train_parts(ctx, &w, unit->seed, (uint64_t)k, part, &ensemble));
    SR_TRY(sr_ensemble_votes(ctx, ensemble, test, votes));
    part_margins(votes, part, parts, rho[k]);
    sr_ensemble_free(&ensemble);
  }
  for (int i = 0; i < POINTS; i++) cross += cross_covariance(sets, parts, rho, i) / POINTS;
  experiment_measure(out, "cross", cross);
  experiment_measure(out, "ratio", cross * (double)w.rows / w.tmix);
cleanup:
  for (int k = 0; k < sets; k++) free(rho[k]);
  free(votes);
  free(contrast);
  sr_table_free(&test);
  sr_ensemble_free(&ensemble);
  return status;
}

static sr_status read_results(conclusion *c) {
  int rows = conclusion_scale(c) == SCALE_FULL ? ROWS_COUNT : ROWS_COUNT - 1;
  double y[TMIX_COUNT][ROWS_COUNT], low[TMIX_COUNT][ROWS_COUNT], high[TMIX_COUNT][ROWS_COUNT];
  sr_plot_series series[TMIX_COUNT];
  char label[TMIX_COUNT][32];
  conclusion_begin_table(c,
                         "Sum of cross-part covariances over (T / n); (G4) asks that it goes to 0");
  for (int t = 0; t < TMIX_COUNT; t++) {
    snprintf(label[t], sizeof label[t], "T = P = %g", tmix_grid[t]);
    for (int k = 0; k < rows; k++) {
      char column[32];
      result_sample s = conclusion_sample(c, t * rows + k, "ratio");
      snprintf(column, sizeof column, "n = %g", rows_grid[k]);
      conclusion_add_cell(c, label[t], column, NAN, NAN, &s);
    }
    conclusion_curve(c, (case_row){t * rows, 1, rows}, "ratio", (curve){y[t], low[t], high[t]});
    series[t] = (sr_plot_series){.label = label[t],
                                 .kind = SR_PLOT_LINE_POINTS,
                                 .count = rows,
                                 .x = rows_grid,
                                 .y = y[t],
                                 .low = low[t],
                                 .high = high[t]};
  }
  sr_plot plot = {.title = "Cross-part covariance in units of T / n",
                  .x_label = "rows n",
                  .y_label = "sum of covariances / (T / n)",
                  .log_x = 1,
                  .series_count = TMIX_COUNT,
                  .series = series};
  conclusion_add_plot(c, &plot);
  bool vanishes = true, violated = false;
  for (int t = 0; t < TMIX_COUNT; t++) {
    vanishes = vanishes && high[t][rows - 1] < 1.0;
    violated = violated || low[t][rows - 1] > 1.0;
  }
  conclusion_decide(
      c,
      violated   ? VERDICT_NOT_REPRODUCED
      : vanishes ? VERDICT_REPRODUCED
                 : VERDICT_CANNOT_BE_TESTED,
      "at n = %g the cross-part covariances add up to %.1f and %.1f times T/n for T = 10 and 50, "
      "where (G4) needs a share that vanishes: %s",
      rows_grid[rows - 1], y[0][rows - 1], y[1][rows - 1],
      violated   ? "the margins of different parts do not decouple"
      : vanishes ? "it does"
                 : "the noise over data sets is larger than T/n itself");
  return SR_OK;
}

extern const experiment experiment_claim_decoupling;
const experiment experiment_claim_decoupling = {
    .about = {"claim-decoupling", "Do margins of different parts decouple?", NULL, 0, NULL},
    .place = "Definition of the graph-regular subclass, condition (G4)",
    .needs = "nothing: simulated",
    .seeds = {3, 8},
    .core_seconds = {8, 150},
    .case_count = count_cases,
    .case_name = name_case,
    .run = run_unit,
    .conclude = read_results};
