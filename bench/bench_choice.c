/* How good the default is where the truth is known: against plain bagging, against the best fixed
 * plan, between two seeds; and what it costs.
 *
 *   bench_choice [tune] FILE [SECONDS [SIZES]]   sizes: 500,2000,10000
 *
 * Every run draws a stream (or groups), trains auto and uniform with two seeds each and twelve
 * fixed plans with one, and keeps the risk of each at 6,000 fresh independent rows, the least risk
 * that is possible there, and processor times: of the training with choice and evaluation, of
 * uniform's, and of a plain fit of as many members. Importance is left out everywhere. One JSON
 * line per run is added to FILE; runs that are there are not made again, and seeds go round all
 * cells before the next seed begins (10,000 rows: every fourth round). */
#include "honest_processes.h"

enum { FIXED = 12 };

typedef struct fixed_plan {
  const char *name, *plan, *learner;
} fixed_plan;

static const fixed_plan fixed[FIXED] = {
    {"share 1, leaf 5", "uniform", "tree:min_leaf=5"},
    {"share .3, leaf 1", "routed:part_share=1,row_share=0.3", "tree"},
    {"share .3, leaf 5", "routed:part_share=1,row_share=0.3", "tree:min_leaf=5"},
    {"share .1, leaf 1", "routed:part_share=1,row_share=0.1", "tree"},
    {"share .1, leaf 5", "routed:part_share=1,row_share=0.1", "tree:min_leaf=5"},
    {"share .03, leaf 1", "routed:part_share=1,row_share=0.03", "tree"},
    {"share .03, leaf 5", "routed:part_share=1,row_share=0.03", "tree:min_leaf=5"},
    {"share .01, leaf 1", "routed:part_share=1,row_share=0.01", "tree"},
    {"share .01, leaf 5", "routed:part_share=1,row_share=0.01", "tree:min_leaf=5"},
    {"half of the parts", "routed:part_share=0.5", "tree"},
    {"a fifth of the parts", "routed:part_share=0.2", "tree"},
    {"1 of 5 parts", "spectral:parts=5", "tree"},
};

typedef struct trained {
  double risk, seconds, tmix;
} trained;

static trained train(sr_context *ctx, const sr_table *table, const stream *fresh, const char *plan,
                     const char *learner, bool judge, double tmix, uint64_t seed) {
  sr_ensemble *ensemble = NULL;
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = plan;
  options.learner = learner;
  options.members = MEMBERS;
  options.evaluate.evaluate = judge;
  options.evaluate.importance = 0;
  options.structure.tmix = tmix;
  double start = processor_seconds();
  if (sr_train(ctx, table, &options, seed, &ensemble) != SR_OK) {
    fprintf(stderr, "%s, %s: ", fresh->p->name, plan);
    stop(ctx);
  }
  trained result = {.seconds = processor_seconds() - start,
                    .tmix = sr_structure_get(sr_ensemble_get(ensemble)->structure)->tmix};
  result.risk = error_on(ctx, ensemble, fresh, 0, fresh->rows, true);
  sr_ensemble_free(&ensemble);
  return result;
}

static void run(sr_context *ctx, FILE *out, const process *p, int64_t n, uint64_t seed) {
  drawn d = draw_run(ctx, p, n, n, seed_of_stream(p, n, seed));
  trained mix = train(ctx, d.table, &d.fresh, "auto", "tree", true, 0.0, seed);
  trained again = train(ctx, d.table, &d.fresh, "auto", "tree", true, 0.0, seed + 100000);
  trained plain = train(ctx, d.table, &d.fresh, "uniform", "tree", true, 0.0, seed);
  trained twice = train(ctx, d.table, &d.fresh, "uniform", "tree", false, 1.0, seed + 100000);
  begin_line(out, p, n, NULL, seed);
  print_tmix(out, p);
  print_real(out, "bayes", bayes_error(&d.fresh));
  print_real(out, "auto", mix.risk);
  print_real(out, "auto_again", again.risk);
  print_real(out, "uniform", plain.risk);
  print_real(out, "uniform_again", twice.risk);
  fprintf(out, ", \"fixed\": [%.6g", plain.risk);
  for (int k = 0; k < FIXED; k++)
    fprintf(
        out, ", %.6g",
        train(ctx, d.table, &d.fresh, fixed[k].plan, fixed[k].learner, false, mix.tmix, seed).risk);
  fprintf(out, "]");
  print_real(out, "auto_seconds", mix.seconds);
  print_real(out, "uniform_seconds", plain.seconds);
  print_real(out, "plain_seconds", twice.seconds);
  end_run(out, &d);
}

int main(int argc, char **argv) {
  bool tuning = argc > 1 && strcmp(argv[1], "tune") == 0;
  return run_three_sizes(tuning ? tuning_processes : test_processes,
                         tuning ? TUNING_PROCESSES : TEST_PROCESSES, run, argc - 1 - tuning,
                         argv + 1 + tuning);
}
