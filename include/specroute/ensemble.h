/* Ensembles: fitted members that vote, and what their votes are worth. */
#ifndef SPECROUTE_ENSEMBLE_H
#define SPECROUTE_ENSEMBLE_H

#include <specroute/dependence.h>
#include <specroute/learner.h>
#include <specroute/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sr_ensemble sr_ensemble;

typedef enum sr_vote { SR_VOTE_HARD, SR_VOTE_SOFT, SR_VOTE_GATED } sr_vote;

typedef struct sr_ensemble_options {
  sr_learner_options learner;
  sr_vote vote;
  uint64_t seed;
} sr_ensemble_options;

SR_API void sr_ensemble_options_init(sr_ensemble_options *options);
SR_API SR_MUST_CHECK sr_status sr_ensemble_fit(sr_context *ctx, const sr_table *table,
                                               const sr_plan *plan,
                                               const sr_ensemble_options *options,
                                               sr_ensemble **ensemble);
SR_API void sr_ensemble_free(sr_ensemble **ensemble);
/* Class of each row; `proba` (may be NULL) gets rows x classes vote shares, row-major. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_predict(sr_context *ctx, const sr_ensemble *ensemble,
                                                   const sr_table *table, int32_t *label,
                                                   float *proba);
SR_API SR_MUST_CHECK sr_status sr_ensemble_save(sr_context *ctx, const sr_ensemble *ensemble,
                                                const char *path);
SR_API SR_MUST_CHECK sr_status sr_ensemble_load(sr_context *ctx, const char *path,
                                                sr_ensemble **ensemble);

#ifdef __cplusplus
}
#endif
#endif
