/* The experiments, one file each; a new one is one line here and one in registry.c. */
#ifndef SR_EXPERIMENTS_EXPERIMENTS_H
#define SR_EXPERIMENTS_EXPERIMENTS_H

#include "experiment.h"

extern const experiment claim_concentration;
extern const experiment ablation_p;
extern const experiment claim_bagging_gap;
extern const experiment claim_cut;
extern const experiment claim_decoupling;
extern const experiment claim_lfa;
extern const experiment claim_ntk;
extern const experiment claim_oblivious_block;
extern const experiment claim_pairwise_covariance;
extern const experiment fig_covariance;
extern const experiment fig_rate;
extern const experiment table1;
extern const experiment table1_grid;
extern const experiment claim_minimax;
extern const experiment claim_autocovariance;
extern const experiment claim_drift;
extern const experiment nystrom_runtime;
extern const experiment effective_rank;

#endif
