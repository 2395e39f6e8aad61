/* What the files of this room share, and what train builds on. Internal. */
#ifndef SR_EVALUATE_EVALUATE_H
#define SR_EVALUATE_EVALUATE_H

#include <specroute/evaluate.h>

#include "ensemble/ensemble.h"

/* ---- fitting on a fold -------------------------------------------------------------------- */

/* Rows of one fold, increasing. */
typedef struct sr__fold_rows {
  int32_t *train, *test;
  int64_t train_count, test_count;
} sr__fold_rows;
SR_MUST_CHECK sr_status sr__fold_rows_new(sr_context *ctx, const sr_folds *folds, int32_t fold,
                                          sr__fold_rows *rows);
void sr__fold_rows_free(sr_context *ctx, sr__fold_rows *rows);

/* Which members of which plan are fitted on the training rows of a fold. */
typedef struct sr__holdout {
  const sr_structure *structure;
  const sr__prepared *prepared;
  const sr__configuration *plan;
  int32_t plan_members; /* that the plan deals bags to */
  int32_t first, count; /* of them, spread fairly; count 0: all */
  uint64_t seed;
} sr__holdout;
/* A plan on the fold's training rows and its members: the one place where anything is fitted on a
 * fold. */
SR_MUST_CHECK sr_status sr__holdout_fit(sr_context *ctx, const sr__holdout *holdout, int32_t fold,
                                        const sr__fold_rows *rows, sr__members *members);

/* Frees training rows (SR_ROLE_TRAIN) within `buffer` rows of a series, or steps of the graph, of a
 * held-out row (SR_ROLE_TEST). */
SR_MUST_CHECK sr_status sr__free_margin(sr_context *ctx, const sr_structure *structure,
                                        int64_t buffer, uint8_t *role);

/* ---- judging training rows ---------------------------------------------------------------- */

/* Sums over judged rows from which covariances come. */
typedef struct sr__margins {
  int32_t members;
  double *member_sum, *member_square; /* per member */
  int64_t *member_count;
  double pair_sum, pair_count; /* over pairs of members that judged the same row */
  double rho_sum, rho_square;  /* of the mean margin of rows with two judges or more */
  int64_t rho_count;
  double judges;
  int64_t judged;
} sr__margins;

/* Members vote on rows of the table that they may judge: rows that they did not draw and whose unit
 * is not barred to them. */
typedef struct sr__judging {
  const sr__prepared *prepared;
  const sr__members *members;
  const sr__encoded *encoded; /* NULL: the training rows */
  sr_vote rule;
  const sr__part_weights *part_weights; /* gated votes only */
  const int32_t *rows;                  /* to judge; NULL: all */
  int64_t count;
  const int32_t *unit;   /* of each row; with `barred` */
  const uint8_t *barred; /* members x units; NULL: every member that did not draw the row judges */
  int32_t units;
  int32_t *vote;        /* by row number, -1 = no judge */
  sr__margins *margins; /* may be NULL */
} sr__judging;

SR_MUST_CHECK sr_status sr__judge_rows(sr_context *ctx, const sr__judging *judging);
SR_MUST_CHECK sr_status sr__margins_init(sr_context *ctx, int32_t members, sr__margins *margins);
void sr__margins_free(sr_context *ctx, sr__margins *margins);

/* ---- errors by unit ----------------------------------------------------------------------- */

/* Loss of votes over units and its bootstrap interval over units. */
typedef struct sr__unit_errors {
  int32_t units;
  double *loss, *judged; /* per unit */
} sr__unit_errors;
double sr__unit_error_rate(const sr__unit_errors *errors);
SR_MUST_CHECK sr_status sr__unit_interval(sr_context *ctx, const sr__unit_errors *errors,
                                          double level, uint64_t seed, double *low, double *high);
SR_MUST_CHECK sr_status sr__unit_errors_new(sr_context *ctx, const sr_table_view *view,
                                            const int32_t *vote, const int32_t *unit, int32_t units,
                                            sr__unit_errors *errors);
void sr__unit_errors_free(sr_context *ctx, sr__unit_errors *errors);

/* The loss of a vote on a row: 1 where it is wrong; NaN where the row has no target or no vote. The
 * one place that asks what kind the target is. */
double sr__row_loss(const sr_table_view *view, const int32_t *vote, int64_t row);
/* Mean loss over the rows that have one, and how many these are. */
double sr__mean_loss(const sr_table_view *view, const int32_t *vote, int64_t *judged);

/* ---- evaluation --------------------------------------------------------------------------- */

/* What is judged and how. */
typedef struct sr__evaluate_input {
  const sr_structure *structure;
  const sr__prepared *prepared;
  const sr__mix *mix;
  const sr__members *members;           /* with what they drew */
  const sr__part_weights *part_weights; /* NULL: not gated */
  sr_vote vote;
} sr__evaluate_input;
SR_MUST_CHECK sr_status sr__evaluate(sr_context *ctx, const sr__evaluate_input *input,
                                     const sr_evaluate_options *options, uint64_t seed,
                                     sr_evaluation *evaluation);
/* Error gained by shuffling each feature inside parts, judged as `judging` says. */
SR_MUST_CHECK sr_status sr__importance(sr_context *ctx, const sr__judging *judging,
                                       const sr_parts_view *parts, uint64_t seed,
                                       double *importance);

#endif
