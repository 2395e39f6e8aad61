/* Rules that choose a mix of plans, and what the files of this room share. Internal. */
#ifndef SR_TRAIN_TRAIN_H
#define SR_TRAIN_TRAIN_H

#include <specroute/train.h>

#include "evaluate/evaluate.h"

/* What a choice may look at. */
typedef struct sr__choose_input {
  const sr_structure *structure;
  const sr__prepared *prepared;
  int32_t members; /* of the ensemble */
  sr_vote vote;
  int64_t buffer; /* as in sr_folds_options */
  uint64_t seed;
} sr__choose_input;

/* A rule that chooses plans and weights: one file and a line in methods.def. */
typedef struct sr__chooser {
  sr_method about;
  sr_status (*choose)(sr_context *ctx, const sr__choose_input *input, const void *options,
                      sr__mix *mix);
} sr__chooser;

/* The mix that a plan's name stands for: a mix of one for a scheme, what it finds for a rule that
 * chooses. `plan` is a configuration of sr_train_plan_method. */
SR_MUST_CHECK sr_status sr__choose(sr_context *ctx, const sr__configuration *plan,
                                   const sr__choose_input *input, sr__mix *mix);

/* The candidates of the rule that takes one plan: texts for sr_plan_method and what one member
 * costs over a member of a full bootstrap. */
typedef struct sr__candidate_plan {
  char text[64];
  double cost;
} sr__candidate_plan;
enum { SR__MOST_CANDIDATES = 16 };
int32_t sr__list_candidates(const sr_structure *structure, int32_t members,
                            sr__candidate_plan *list);

/* That the table has a target that can be learned. */
SR_MUST_CHECK sr_status sr__check_target(sr_context *ctx, const sr_table *table);

#endif
