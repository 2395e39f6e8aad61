/* What the covariance advises against what comes of it, on processes that its factors were not
 * fitted on.
 *
 *   bench_advice FILE [SECONDS]
 *
 * Every run draws a stream, trains plain bagging with its advice, and trains once more as each
 * remedy says: twice the members, bags of 30 % of the rows, half of the parts per member. Kept are
 * shares of the variance of the margin on held-out rows, told and come, and the errors of the four
 * ensembles at 6,000 fresh rows. One JSON line per run is added to FILE; runs that are there are
 * not made again. */
#include "honest_processes.h"

enum { ROWS = 2000, REMEDIES = 3, FEW = 40 };

typedef struct trained {
  sr_evaluation told;
  double risk;
} trained;

static trained train(sr_context *ctx, const sr_table *table, const stream *fresh, const char *plan,
                     int64_t members, bool advice) {
  sr_ensemble *ensemble = NULL;
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = plan;
  options.members = members;
  options.evaluate.importance = advice;
  if (sr_train(ctx, table, &options, 1, &ensemble) != SR_OK) stop(ctx);
  trained result = {.told = *sr_ensemble_get(ensemble)->evaluation,
                    .risk = error_on(ctx, ensemble, fresh, 0, fresh->rows, true)};
  sr_ensemble_free(&ensemble);
  return result;
}

static void run(sr_context *ctx, FILE *out, const process *p, int64_t n, uint64_t seed) {
  static const char *const plan[REMEDIES] = {"uniform", "routed:part_share=1,row_share=0.3",
                                             "routed:part_share=0.5"};
  static const char *const name[REMEDIES] = {"members", "bags", "place"};
  drawn d = draw_run(ctx, p, n, n, seed);
  trained plain = train(ctx, d.table, &d.fresh, "uniform", FEW, true);
  double all = plain.told.variance_of_margin;
  double told[REMEDIES] = {plain.told.gain_members, plain.told.gain_bags, plain.told.gain_place};
  begin_line(out, p, n, NULL, seed);
  print_real(out, "uniform", plain.risk);
  for (int k = 0; k < REMEDIES; k++) {
    trained other = train(ctx, d.table, &d.fresh, plan[k], k == 0 ? 2 * FEW : FEW, false);
    char key[32];
    snprintf(key, sizeof key, "told_%s", name[k]);
    print_real(out, key, told[k] / all);
    snprintf(key, sizeof key, "came_%s", name[k]);
    print_real(out, key, (all - other.told.variance_of_margin) / all);
    snprintf(key, sizeof key, "error_%s", name[k]);
    print_real(out, key, other.risk);
  }
  end_run(out, &d);
}

int main(int argc, char **argv) {
  static const int64_t size[] = {ROWS};
  static const uint64_t every[] = {1};
  const study all = {.processes = test_processes,
                     .count = TEST_PROCESSES,
                     .sizes = 1,
                     .size = size,
                     .every = every,
                     .most = 40,
                     .run = run};
  return run_study(&all, argc - 1, argv + 1);
}
