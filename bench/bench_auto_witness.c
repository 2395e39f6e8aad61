/* How good the chosen plan is on witnesses whose Bayes rule is known: excess risk of every
 * candidate and of the choice among them, over the grid d x noise x T.
 *
 *   bench_auto_witness [first_seed seeds n threads first_cell cells [detail]]
 *
 * One line a cell (there are 18, all by default); with `detail` also one line a seed and candidate
 * as soon as it is known, seeds outermost. The ensemble that auto trains is the chosen candidate's
 * with the same seed, so it is fitted once. */
#include <math.h>
#include <specroute/specroute.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MOST = 16, TEST_ROWS = 10000, CELLS = 18 };

typedef struct cell {
  int32_t d;
  double tmix, noise_sd;
  const char *noise; /* "iid" or "ar" */
} cell;

typedef struct cell_result {
  int32_t candidates;
  char label[MOST][48];
  double sum[MOST], square[MOST];
  double chosen_sum, choice_cost, choose_seconds, uniform_seconds;
  int32_t chosen[MOST];
} cell_result;

static void must(sr_context *ctx, sr_status status) {
  if (status == SR_OK) return;
  fprintf(stderr, "bench_auto_witness: %s\n", sr_context_error(ctx).message);
  exit(1);
}

static double excess_risk(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *test,
                          const double *contrast) {
  static int32_t label[TEST_ROWS];
  must(ctx, sr_ensemble_predict(ctx, ensemble, test, label, NULL));
  double excess = 0.0;
  for (int i = 0; i < TEST_ROWS; i++)
    if (label[i] != (contrast[i] > 0.0)) excess += fabs(contrast[i]);
  return excess / TEST_ROWS;
}

/* The candidate as a plan of its own. */
static double candidate_excess(sr_context *ctx, const sr_table *train,
                               const sr_structure *structure, const sr_candidate *candidate,
                               uint64_t seed, const sr_table *test, const double *contrast,
                               double *seconds) {
  sr_plan *plan = NULL;
  sr_ensemble *ensemble = NULL;
  double start = bench_seconds();
  must(ctx, sr_plan_new(ctx, structure, candidate->plan, 100, seed, &plan));
  must(ctx, sr_ensemble_fit(ctx, train, plan, NULL, seed, &ensemble));
  *seconds = bench_seconds() - start;
  double excess = excess_risk(ctx, ensemble, test, contrast);
  sr_ensemble_free(&ensemble);
  sr_plan_free(&plan);
  return excess;
}

static void run_seed(sr_context *ctx, const cell *c, int64_t n, uint64_t seed, int detail,
                     cell_result *result) {
  static double contrast[TEST_ROWS];
  static const char format[] = "ar1:n=%lld,d=%d,tmix=%.17g,noise=%.17g,noise_kind=%s";
  char text[160];
  sr_table *train = NULL, *test = NULL;
  snprintf(text, sizeof text, format, (long long)n, c->d, c->tmix, c->noise_sd, c->noise);
  must(ctx, sr_simulate(ctx, text, seed, 0, &train, NULL));
  snprintf(text, sizeof text, format, (long long)TEST_ROWS, c->d, 1.0, c->noise_sd, c->noise);
  must(ctx, sr_simulate(ctx, text, seed, 1, &test, NULL));
  must(ctx, sr_simulate_contrast(ctx, text, seed, test, contrast));
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = "choose";
  options.evaluate.evaluate = 0;
  sr_ensemble *ensemble = NULL;
  sr_structure *structure = NULL;
  must(ctx, sr_train(ctx, train, &options, seed, &ensemble));
  must(ctx, sr_structure_estimate(ctx, train, &options.structure, seed, &structure));
  const sr_choice *choice = sr_ensemble_get(ensemble)->choice;
  result->candidates = choice->candidate_count;
  result->chosen[choice->chosen]++;
  result->choice_cost += choice->cost;
  result->choose_seconds += sr_ensemble_get(ensemble)->seconds_choice;
  for (int32_t k = 0; k < choice->candidate_count; k++) {
    const sr_candidate *candidate = &choice->candidates[k];
    double seconds,
        excess = candidate_excess(ctx, train, structure, candidate, seed, test, contrast, &seconds);
    snprintf(result->label[k], sizeof result->label[k], "%s", candidate->plan);
    result->sum[k] += excess;
    result->square[k] += excess * excess;
    if (k == 0) result->uniform_seconds += seconds;
    if (k == choice->chosen) result->chosen_sum += excess;
    if (detail)
      printf(
          "{\"seed\": %llu, \"d\": %d, \"noise\": \"%s\", \"tmix\": %g, \"candidate\": \"%s\", "
          "\"index\": %d, \"excess\": %.6f, \"error\": %.6f, \"difference\": %.6f, \"se\": %.6f, "
          "\"members\": %d, \"chosen\": %d, \"fallback\": %d, \"t_hat\": %.3g}\n",
          (unsigned long long)seed, c->d, c->noise, c->tmix, candidate->plan, k, excess,
          candidate->error, candidate->difference, candidate->difference_se, candidate->members,
          k == choice->chosen, k == choice->fallback, sr_ensemble_get(ensemble)->tmix);
    fflush(stdout);
  }
  sr_structure_free(&structure);
  sr_ensemble_free(&ensemble);
  sr_table_free(&train);
  sr_table_free(&test);
}

static void print_cell(const cell *c, int64_t n, int seeds, int threads, const cell_result *r) {
  int32_t best = 0;
  for (int32_t k = 1; k < r->candidates; k++)
    if (r->sum[k] < r->sum[best]) best = k;
  double uniform = r->sum[0] / seeds;
  double variance = r->square[0] / seeds - uniform * uniform;
  double se = seeds > 1 ? sqrt(variance / (seeds - 1)) : NAN;
  printf(
      "{\"bench\": \"auto_witness\", \"n\": %lld, \"d\": %d, \"noise\": \"%s\", \"tmix\": %g, "
      "\"seeds\": %d, \"threads\": %d, \"auto\": %.5f, \"uniform\": %.5f, \"uniform_se\": %.5f, "
      "\"best\": \"%s\", \"best_excess\": %.5f, \"ratio_to_best\": %.4f, "
      "\"worse_than_uniform\": %s, \"choice_cost\": %.3f, \"choose_over_fit_seconds\": %.3f, "
      "\"excess\": {",
      (long long)n, c->d, c->noise, c->tmix, seeds, threads, r->chosen_sum / seeds, uniform, se,
      r->label[best], r->sum[best] / seeds, r->chosen_sum / r->sum[best],
      r->chosen_sum / seeds > uniform + se ? "true" : "false", r->choice_cost / seeds,
      r->choose_seconds / r->uniform_seconds);
  for (int32_t k = 0; k < r->candidates; k++)
    printf("%s\"%s\": %.5f", k ? ", " : "", r->label[k], r->sum[k] / seeds);
  printf("}, \"chosen\": {");
  for (int32_t k = 0, first = 1; k < r->candidates; k++) {
    if (!r->chosen[k]) continue;
    printf("%s\"%s\": %d", first ? "" : ", ", r->label[k], r->chosen[k]);
    first = 0;
  }
  printf("}}\n");
  fflush(stdout);
}

static cell cell_at(int index) {
  static const int32_t d[] = {2, 5, 10};
  static const double tmix[] = {10, 50, 200};
  int k = index / 6;
  return (cell){d[k], tmix[index % 3], k == 2 ? 0.3 : 1.0, index / 3 % 2 ? "ar" : "iid"};
}

int main(int count, char **arguments) {
  uint64_t first_seed = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
  int seeds = count > 2 ? atoi(arguments[2]) : 20;
  int64_t n = count > 3 ? atoll(arguments[3]) : 10000;
  sr_context_options context_options;
  sr_context_options_init(&context_options);
  context_options.threads = count > 4 ? atoi(arguments[4]) : 1;
  sr_context *ctx = NULL;
  if (sr_context_new(&context_options, &ctx) != SR_OK) return 1;
  int first_cell = count > 5 ? atoi(arguments[5]) : 0,
      cells = count > 6 ? atoi(arguments[6]) : CELLS;
  if (first_cell < 0 || cells < 0 || first_cell + cells > CELLS) return 2;
  static cell_result result[CELLS];
  for (int s = 0; s < seeds; s++)
    for (int k = first_cell; k < first_cell + cells; k++) {
      cell c = cell_at(k);
      run_seed(ctx, &c, n, first_seed + (uint64_t)s, count > 7, &result[k]);
    }
  for (int k = first_cell; k < first_cell + cells; k++) {
    cell c = cell_at(k);
    print_cell(&c, n, seeds, context_options.threads, &result[k]);
  }
  sr_context_free(&ctx);
  return 0;
}
