/* The lemma on pairwise bootstrap covariance: two bootstrap learners have Cov(V1, V2) of order T^2
 * / n. Here V is the mean margin of the Bayes rule over a bag of n / m rows: the linear statistic
 * that the lemma's proof speaks of. Given the sample, the bags are independent, so the covariance
 * is the variance of the full-sample mean. */
#include <math.h>
#include <stdlib.h>

#include "experiment.h"
#include "tools.h"

enum { MEMBERS = 100 };
static const double tmix_grid[] = {1, 2, 5, 10, 20, 50, 100, 200};
static const double rows_grid[] = {5000, 10000, 20000, 40000, 80000};
enum { TMIX_COUNT = 8, ROWS_COUNT = 5, FIXED_ROWS = 20000, FIXED_TMIX = 20 };

static int replicates_at(experiment_scale scale) { return scale == SCALE_FULL ? 200 : 60; }

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
  snprintf(name, size, "sweep=%s T=%g n=%lld m=%d noise=ar sd=1 replicates=%d",
           index < TMIX_COUNT ? "T" : "n", tmix, (long long)rows, MEMBERS, replicates_at(scale));
}

typedef struct data_set {
  int64_t n;
  double tmix;
  uint64_t seed, replicate;
} data_set;

/* Margins Y h*(X) of the one-dimensional witness: <v, X> has the same law in every dimension. */
static sr_status margins(sr_context *ctx, const data_set *o, double *margin) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  char text[160];
  snprintf(text, sizeof text, "ar1:n=%lld,d=1,tmix=%.17g,noise_kind=ar", (long long)o->n, o->tmix);
  SR_TRY(sr_simulate(ctx, text, o->seed, o->replicate, &table, NULL));
  SR_TRY(sr_simulate_contrast(ctx, text, o->seed, table, margin));
  const int32_t *label = sr_table_get(table)->label;
  for (int64_t i = 0; i < o->n; i++) margin[i] = (margin[i] > 0.0) == (label[i] == 1) ? 1.0 : -1.0;
cleanup:
  sr_table_free(&table);
  return status;
}

static void vote_sums(const data_set *o, const double *margin, double *draw, double *sum,
                      double *sum_of_squares) {
  int64_t bag = o->n / MEMBERS;
  for (int j = 0; j < MEMBERS; j++) {
    double total = 0.0;
    sr_random_uniform(o->seed, o->replicate, (uint64_t)j, bag, draw);
    for (int64_t i = 0; i < bag; i++) total += margin[(int64_t)(draw[i] * (double)o->n)];
    total /= (double)bag;
    *sum += total;
    *sum_of_squares += total * total;
  }
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  sr_status status = SR_OK;
  int replicates = replicates_at(unit->scale);
  data_set o = {.seed = unit->seed};
  grid_point(unit->index, &o.tmix, &o.n);
  double *margin = malloc((size_t)o.n * sizeof *margin), *draw = malloc((size_t)o.n * sizeof *draw);
  double *sum = calloc(2 * (size_t)replicates, sizeof *sum);
  if (!margin || !draw || !sum) SR_TRY(SR_ERROR_MEMORY);
  for (int k = 0; k < replicates; k++) {
    o.replicate = (uint64_t)k;
    SR_TRY(margins(ctx, &o, margin));
    vote_sums(&o, margin, draw, &sum[k], &sum[replicates + k]);
  }
  experiment_measure(out, "covariance",
                     experiment_pairwise_covariance(replicates, MEMBERS, sum, sum + replicates));
cleanup:
  free(margin);
  free(draw);
  free(sum);
  return status;
}

static void plot_sweep(conclusion *c) {
  double y[TMIX_COUNT], low[TMIX_COUNT], high[TMIX_COUNT], paper[TMIX_COUNT], linear[TMIX_COUNT];
  conclusion_curve(c, (case_row){0, 1, TMIX_COUNT}, "covariance", (curve){y, low, high});
  for (int k = 0; k < TMIX_COUNT; k++) {
    paper[k] = y[0] * tmix_grid[k] * tmix_grid[k];
    linear[k] = y[0] * tmix_grid[k];
  }
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
                                    .y = paper},
                                   {.label = "variance of a mean: T",
                                    .kind = SR_PLOT_DASHED,
                                    .count = TMIX_COUNT,
                                    .x = tmix_grid,
                                    .y = linear}};
  sr_plot plot = {.title = "Covariance of two bootstrap learners (mean margin of a bag)",
                  .x_label = "mixing time T (rows)",
                  .y_label = "Cov(V1, V2)",
                  .log_x = 1,
                  .log_y = 1,
                  .series_count = 3,
                  .series = series};
  conclusion_add_plot(c, &plot);
}

static sr_status read_results(conclusion *c) {
  sr_interval by_tmix =
      conclusion_slope(c, (case_row){2, 1, TMIX_COUNT - 2}, tmix_grid + 2, "covariance");
  sr_interval by_rows =
      conclusion_slope(c, (case_row){TMIX_COUNT, 1, ROWS_COUNT}, rows_grid, "covariance");
  conclusion_begin_table(c, "Exponents of Cov(V1, V2), 95 % interval");
  conclusion_add_estimate(c, "in T (n = 20000, T from 5)", "exponent", 2.0, &by_tmix);
  conclusion_add_estimate(c, "in n (T = 20)", "exponent", -1.0, &by_rows);
  conclusion_begin_table(c, "Cov(V1, V2), n = 20000, m = 100");
  for (int k = 0; k < TMIX_COUNT; k++) {
    char row[32];
    result_sample s = conclusion_sample(c, k, "covariance");
    snprintf(row, sizeof row, "T = %g", tmix_grid[k]);
    conclusion_add_cell(c, row, "measured", NAN, NAN, &s);
  }
  plot_sweep(c);
  bool squared = by_tmix.low > 1.5;
  conclusion_decide(
      c, squared ? VERDICT_REPRODUCED : VERDICT_NOT_REPRODUCED,
      "the covariance falls as n^%.2f, but grows as T^%.2f [%.2f, %.2f], the order T/n of a "
      "sample mean%s the lemma's T^2/n",
      by_rows.estimate, by_tmix.estimate, by_tmix.low, by_tmix.high,
      squared ? " or more, near" : ", not");
  return SR_OK;
}

extern const experiment experiment_claim_pairwise_covariance;
const experiment experiment_claim_pairwise_covariance = {
    .about = {"claim-pairwise-covariance", "Covariance of two bootstrap learners against T and n",
              NULL, 0, NULL},

    .place = "Lemma (pairwise bootstrap covariance)",
    .needs = "nothing: simulated",
    .seeds = {4, 20},
    .core_seconds = {20, 340},
    .case_count = count_cases,
    .case_name = name_case,
    .run = run_unit,
    .conclude = read_results};
