/* A mix of plans tried on folds. Internal to evaluate and train. */
#ifndef SR_EVALUATE_TRIAL_H
#define SR_EVALUATE_TRIAL_H

#include "held.h"

struct sr__trial {
  sr__held held;
  sr__vote_weights *fold; /* that judge each fold */
  double widen;           /* of the variance of the mean: SR__WIDEN or SR__WIDEN_MIX */
};

/* Room for the weights of every fold; the held-out answers are there already. */
SR_MUST_CHECK sr_status sr__trial_make_weights(sr_context *ctx, sr__trial *trial);
/* On what a mix is tried. */
typedef struct sr__trial_folds {
  sr__fold_rows *rows; /* per fold */
  int32_t folds;
  bool keep_members;        /* of the folds, for the importance of features */
  uint64_t seed, replicate; /* of the members' own streams */
  const char *stage;        /* in reports of progress */
} sr__trial_folds;
/* Members of every plan of the mix on every fold, weighing what the mix says. Takes the folds' rows
 * over, also where it fails. */
SR_MUST_CHECK sr_status sr__trial_of_mix(sr_context *ctx, const sr__evaluate_input *input,
                                         sr__trial_folds on, sr__trial *trial);
/* Losses of all held-out rows. */
SR_MUST_CHECK sr_status sr__trial_losses(sr_context *ctx, const sr__trial *trial,
                                         sr__judged *judged);
void sr__trial_free(sr_context *ctx, sr__trial *trial);
/* Zeroed it has no answers. */
static inline bool sr__trial_is_empty(const sr__trial *trial) { return trial->held.count == 0; }

/* Error gained by shuffling each feature inside parts, judged by the members of the folds, which
 * must have been kept. */
SR_MUST_CHECK sr_status sr__importance(sr_context *ctx, const sr__trial *trial, uint64_t seed,
                                       double *importance);
/* How alike the margins of the members are on held-out rows. */
SR_MUST_CHECK sr_status sr__covariance(sr_context *ctx, const sr__trial *trial,
                                       sr_evaluation *evaluation);
/* The error against the number of members that vote: 1, 3, 5, 9, .. of each fold in their order,
 * and the delivered ensemble, to which the losses were carried. */
SR_MUST_CHECK sr_status sr__members_curve(sr_context *ctx, const sr__trial *trial,
                                          const sr__judged *judged, sr_evaluation *to);
/* Weights of the delivered members, squared and summed: 1 / m for one plan of m. */
double sr__delivered_squares(const sr__trial *trial);
/* What that covariance is made of, and what would lower it: needs sr__covariance first. Fits three
 * members on each of four halves of at most four folds. */
SR_MUST_CHECK sr_status sr__shared_covariance(sr_context *ctx, const sr__trial *trial,
                                              const sr__mix *mix, uint64_t seed,
                                              sr_evaluation *evaluation);
/* The same for members that judge the rows that they may, with hard votes. */
SR_MUST_CHECK sr_status sr__covariance_of_members(sr_context *ctx, const sr__judging *judging,
                                                  sr_evaluation *evaluation);
/* The rows that follow, from five origins. */
SR_MUST_CHECK sr_status sr__look_forward(sr_context *ctx, const sr__evaluate_input *input,
                                         const sr_evaluate_options *options, uint64_t seed,
                                         sr_evaluation *evaluation);
/* Whether held-out losses lie in the order of time, so that neighbors are alike. */
bool sr__losses_in_order(const sr_structure *structure, const sr_folds_view *folds);
/* Their careful T in judged rows, one of `stride` each: losses may remember longer than features
 * and labels do. */
SR_MUST_CHECK sr_status sr__scale_of_losses(sr_context *ctx, const sr_structure *structure,
                                            const double *loss, int64_t count, int64_t stride,
                                            double *tmix);
/* Interval, next unit, refusals: the questions that the losses answer. */
SR_MUST_CHECK sr_status sr__answer_questions(sr_context *ctx, const sr__evaluate_input *input,
                                             const sr_evaluate_options *options,
                                             const sr__judged *judged, sr_evaluation *evaluation);

#endif
