/* Place against size: members that leave half of the parts out beside members that leave a random
 * half of the rows out, and what the place node of auto weighs.
 *
 *   bench_place FILE [SECONDS [SIZES]]   sizes: 500,2000,10000
 *
 * Every run draws a stream (or groups) and keeps the risk at 6,000 fresh independent rows of plain
 * bagging, half of the parts, a random half of the rows, and auto; the weight of the place node of
 * auto, and the memory of the score (truth - vote). "auto_without" in the record is the risk of
 * auto from a build whose CLEAR_PLACE (src/train/auto.c) is 1e300, so that no place is offered. One
 * JSON line per run is added to FILE; runs that are there are not made again, and seeds go round
 * all cells before the next seed begins (10,000 rows: every fourth round). */
#include "honest_processes.h"

enum { PLANS = 4 };

static const char *const plan_name[PLANS] = {"uniform", "parts", "rows", "auto"};
static const char *const plan_text[PLANS] = {"uniform", "routed:part_share=0.5",
                                             "routed:part_share=1,row_share=0.5", "auto"};

/* Weight of the node whose members see a part of the parts. */
static void print_place(FILE *out, const sr_ensemble_view *v) {
  double weight = 0.0;
  for (int32_t k = 0; k < v->mix_count; k++)
    for (int32_t i = 0; i < v->mix[k].parameter_count; i++)
      if (strcmp(v->mix[k].parameters[i].name, "part_share") == 0 &&
          v->mix[k].parameters[i].value < 1.0)
        weight += v->mix[k].weight;
  print_real(out, "place_weight", weight);
  print_real(out, "score_tmix", v->gain->score_tmix);
}

static void run(sr_context *ctx, FILE *out, const process *p, int64_t n, uint64_t seed) {
  drawn d = draw_run(ctx, p, n, n, seed_of_stream(p, n, seed));
  begin_line(out, p, n, NULL, seed);
  print_tmix(out, p);
  for (int k = 0; k < PLANS; k++) {
    sr_ensemble *ensemble = NULL;
    sr_train_options options;
    sr_train_options_init(&options);
    options.plan = plan_text[k];
    options.members = MEMBERS;
    options.evaluate.evaluate = 0;
    if (sr_train(ctx, d.table, &options, seed, &ensemble) != SR_OK) stop(ctx);
    print_real(out, plan_name[k], error_on(ctx, ensemble, &d.fresh, 0, FRESH, true));
    if (k == PLANS - 1) print_place(out, sr_ensemble_get(ensemble));
    sr_ensemble_free(&ensemble);
  }
  end_run(out, &d);
}

int main(int argc, char **argv) {
  return run_three_sizes(test_processes, TEST_PROCESSES, run, argc - 1, argv + 1);
}
