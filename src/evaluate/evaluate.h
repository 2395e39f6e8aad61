/* What the files of this room share, and what train builds on. Internal. */
#ifndef SR_EVALUATE_EVALUATE_H
#define SR_EVALUATE_EVALUATE_H

#include <specroute/evaluate.h>

#include "ensemble/ensemble.h"
#include "evaluate/loss.h"

/* ---- options ------------------------------------------------------------------------------ */

/* As SR__STRUCTURE_OPTIONS: where the folds of a task's struct are. */
#define SR__FOLDS_OPTIONS(AT, where)                                                               \
  AT(INTEGER, "folds", where folds, "8", 0, 1e6, "folds; 0 is one per group"),                     \
      AT(INTEGER, "buffer", where buffer, "-1", -1, 1e12,                                          \
         "rows or graph steps left out around what is held out, on maps a distance in their unit " \
         "(meters for degrees); -1 is by T, on maps by the reach of the residuals")

/* What can be wrong in them is found before a row is looked at. */
SR_MUST_CHECK sr_status sr__folds_options_check(sr_context *ctx, const sr_folds_options *options);

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
  int32_t plan_members;     /* that the plan deals bags to */
  int32_t first, count;     /* of them, spread fairly; count 0: all */
  uint64_t seed, replicate; /* names of the members' own streams, with the fold */
  bool leaves;              /* members must answer at both leaf sizes */
  bool keep_drawn;
  bool once; /* members judge the fold's rows and are not asked again */
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
  const float *weight; /* of each member, in place of its own; NULL: its own */
  const float *offset; /* added to each class's share; NULL: none */
  int32_t *vote;       /* by row number, -1 = no judge */
} sr__judging;

SR_MUST_CHECK sr_status sr__judge_rows(sr_context *ctx, const sr__judging *judging);
/* Whether the member drew neither the row nor anything that bars it. */
bool sr__may_judge(const sr__judging *judging, int32_t member, int32_t row);

/* ---- losses ------------------------------------------------------------------------------- */

/* Held-out rows and what the vote lost on each: what every answer is made from. */
typedef struct sr__judged {
  int64_t count;
  int32_t *row;   /* of the table; increasing where the rows are a series */
  double *loss;   /* carried to the delivered members */
  int32_t *vote;  /* class */
  float *share;   /* rows x classes: shares of the vote; NULL: none */
  int64_t stride; /* one of so many held-out rows was judged */
  double way;     /* by which their mean was carried */
} sr__judged;
void sr__judged_free(sr_context *ctx, sr__judged *judged);
/* The row of the table for every row of its file, -1 where the table left it out; free *at with
 * sr__free. */
SR_MUST_CHECK sr_status sr__rows_of_file(sr_context *ctx, const sr_table_view *view, int64_t **at,
                                         int64_t *count);
/* Metrics and confusion of the votes on held-out rows and, with `keep`, these rows themselves. */
SR_MUST_CHECK sr_status sr__measure_held(sr_context *ctx, const sr_table_view *view,
                                         const sr_folds_view *folds, const sr__judged *judged,
                                         bool keep, sr_evaluation *to);

/* ---- evaluation --------------------------------------------------------------------------- */

/* A mix tried on folds: members' answers on held-out rows, and the weights that judge each fold. */
typedef struct sr__trial sr__trial;

/* What is judged and how. */
typedef struct sr__evaluate_input {
  const sr_structure *structure;
  const sr__prepared *prepared;
  const sr_folds *folds;
  const sr__mix *mix;
  sr__trial *trial; /* forgets its members; NULL: the members' own bags cannot be dealt on folds */
  const sr__members *members;           /* with what they drew; NULL: held-out answers alone */
  const sr__part_weights *part_weights; /* NULL: not gated */
  sr_vote vote;
} sr__evaluate_input;
/* Frees the fitted members, which importance alone asks: those of plans that no fold weighs, or
 * all of them. */
void sr__trial_forget_members(sr_context *ctx, sr__trial *trial, bool all);
SR_MUST_CHECK sr_status sr__evaluate(sr_context *ctx, const sr__evaluate_input *input,
                                     const sr_evaluate_options *options, uint64_t seed,
                                     sr__judged *judged, sr_evaluation *evaluation);

#endif
