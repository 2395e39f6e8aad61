/* Copy me to experiments/NAME.c, rename `coin` to NAME, and add SR_ENTRY(NAME) to
 * experiments/methods.def and a page docs/methods/experiment-NAME.md.
 *
 * This one asks whether a coin is fair: cases are numbers of tosses, and the paper says one half.
 */
#include "experiment.h"

#include <math.h>

static const int tosses[] = {100, 400, 1600};
enum { CASES = 3 };

static int count_cases(experiment_scale scale) { return scale == SCALE_FULL ? CASES : CASES - 1; }

/* Every parameter that changes the numbers: results are found again by this name. */
static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  (void)scale;
  snprintf(name, size, "tosses=%d", tosses[index]);
}

/* One case under one seed; depends on the unit alone, and may run beside others. */
static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  char text[64];
  int64_t heads = 0;
  snprintf(text, sizeof text, "ar1:n=%d,d=1,tmix=1,delta=0", tosses[unit->index]);
  SR_TRY(sr_simulate(ctx, text, unit->seed, 0, &table, NULL));
  const sr_table_view *view = sr_table_get(table);
  for (int64_t i = 0; i < view->rows; i++) heads += view->label[i];
  experiment_measure(out, "share", (double)heads / (double)view->rows);
cleanup:
  sr_table_free(&table);
  return status;
}

/* Tables, plots and the verdict; every number in the sentence is measured. */
static sr_status read_results(conclusion *c) {
  double worst = 0.0;
  for (int k = 0; k < count_cases(conclusion_scale(c)); k++) {
    char row[32];
    result_sample share = conclusion_sample(c, k, "share");
    snprintf(row, sizeof row, "%d tosses", tosses[k]);
    conclusion_add_cell(c, row, "share of heads", 0.5, NAN, &share);
    worst = fmax(worst, fabs(share.mean - 0.5));
  }
  conclusion_decide(c, worst < 0.1 ? VERDICT_REPRODUCED : VERDICT_NOT_REPRODUCED,
                    "the share of heads is never farther than %.3f from one half", worst);
  return SR_OK;
}

extern const experiment experiment_coin;
const experiment experiment_coin = {.about = {"coin", "A fair coin", NULL, 0, NULL},
                                    .place = "Section 0",
                                    .needs = "nothing: simulated",
                                    .seeds = {4, 20},
                                    .core_seconds = {1, 1},
                                    .case_count = count_cases,
                                    .case_name = name_case,
                                    .run = run_unit,
                                    .conclude = read_results};
