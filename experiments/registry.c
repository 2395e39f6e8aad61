/* Every experiment, in the order of the report: one line each. */
#include <string.h>

#include "experiments.h"

static const experiment *const registered[] = {
    &table1,
    &table1_grid,
    &fig_covariance,
    &fig_rate,
    &ablation_p,
    &claim_pairwise_covariance,
    &claim_concentration,
    &claim_bagging_gap,
    &claim_oblivious_block,
    &claim_cut,
    &claim_decoupling,
    &claim_lfa,
    &claim_ntk,
    &claim_minimax,
    &claim_autocovariance,
    &claim_drift,
    &nystrom_runtime,
    &effective_rank,
    NULL,
};

const experiment *experiment_at(int index) {
  int count = (int)(sizeof registered / sizeof *registered) - 1;
  return index >= 0 && index < count ? registered[index] : NULL;
}

const experiment *experiment_find(const char *name) {
  for (int i = 0; registered[i]; i++)
    if (strcmp(registered[i]->name, name) == 0) return registered[i];
  return NULL;
}
