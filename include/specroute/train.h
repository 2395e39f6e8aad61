/* Structure, choice, fit and evaluation in one call; plans and learners side by side. */
#ifndef SPECROUTE_TRAIN_H
#define SPECROUTE_TRAIN_H

#include <specroute/evaluate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sr_train_options {
  const char *plan;         /* NAME[:KEY=VALUE,...] of sr_train_plan_method; "auto" */
  const char *learner;      /* NAME[:KEY=VALUE,...] of sr_learner_method; "tree" */
  int64_t members;          /* 100 */
  int vote;                 /* an sr_vote; SR_VOTE_AUTO */
  const char *class_weight; /* "balanced", or the path of a csv file with lines CLASS,WEIGHT: what
                               rows of a class weigh, in learners and in the choice of a mix; NULL
                               or "": all the same */
  const char *resume; /* file that keeps the members as they are fitted, so that the same call goes
                         on after an interrupt; the caller removes it. NULL or "": none */
  sr_structure_options structure;
  sr_evaluate_options evaluate;
} sr_train_options;

SR_API void sr_train_options_init(sr_train_options *options);
/* The options as a constant list: what the command line and other languages set by key. */
SR_API const sr_option *sr_train_option_list(void);
/* That every name, key and value is right: what sr_train asks before it looks at a row, for those
 * who have not read the rows yet. NULL options are right. Errors: SR_ERROR_ARGUMENT,
 * SR_ERROR_NOT_FOUND, SR_ERROR_UNSUPPORTED, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_train_options_check(sr_context *ctx,
                                                      const sr_train_options *options);
/* Structure, plan (or its choice), fit and evaluation. `options` may be NULL; names, keys and
 * values in it are checked before a row is looked at. Rows without a class are left out with a
 * warning to the log. Free with sr_ensemble_free. Errors: SR_ERROR_ARGUMENT, SR_ERROR_NOT_FOUND,
 * SR_ERROR_DATA, SR_ERROR_UNSUPPORTED, SR_ERROR_INTERRUPTED, SR_ERROR_MEMORY. Cost: that of the
 * structure and of the members, and of one more ensemble per fold where it is evaluated. */
SR_API SR_MUST_CHECK sr_status sr_train(sr_context *ctx, const sr_table *table,
                                        const sr_train_options *options, uint64_t seed,
                                        sr_ensemble **ensemble);

/* What is known before training. NULL: found as sr_train does. */
typedef struct sr_train_input {
  const sr_structure *structure; /* of exactly the rows of the table; the ensemble shares it */
  const sr_plan *plan;           /* its bags train the members; options->plan and members say
                                    nothing then */
} sr_train_input;
/* Trains with a structure (one's own graph, parts, groups or T: sr_structure_new) or a plan (one's
 * own bags: sr_plan_from_bags) that was made before. Both may be freed afterwards. With either,
 * every row needs a class. Bags of one's own are judged by the members that saw nothing of a unit.
 * Errors as sr_train, and SR_ERROR_ARGUMENT where structure or plan is of other rows. */
SR_API SR_MUST_CHECK sr_status sr_train_with(sr_context *ctx, const sr_table *table,
                                             const sr_train_input *input,
                                             const sr_train_options *options, uint64_t seed,
                                             sr_ensemble **ensemble);

/* ---- comparison --------------------------------------------------------------------------- */

typedef struct sr_compare_options {
  const char *plans;        /* comma separated, as sr_methods_split takes them; "uniform,auto" */
  const char *learners;     /* the same; "tree" */
  int64_t members;          /* 100 */
  int vote;                 /* hard, soft or auto */
  const char *class_weight; /* as in sr_train_options */
  double level;             /* of the intervals: 0.95 */
  int64_t next;             /* rows of the next unit; 0: a twentieth of the rows, or a group */
  int forward;              /* 1: the future as well */
  int naive;                /* 1: the naive error as well: every plan is fitted on all rows */
  sr_structure_options structure;
  sr_folds_options folds;
} sr_compare_options;

typedef struct sr_compare_row {
  const char *plan, *learner;                /* NAME[:KEY=VALUE,...] */
  double error, low, high;                   /* as sr_train tells them for the plan; NaN: refused */
  double next_low, next_high;                /* for the next unit */
  double forward, forward_low, forward_high; /* NaN: not asked for */
  double naive, naive_low, naive_high;       /* the same */
  double seconds;
  const char *reason; /* why an interval is missing or rough; NULL: nothing to say */
} sr_compare_row;

/* Row `first` against row `second`, paired over held-out units. */
typedef struct sr_compare_test {
  int32_t first, second;
  double difference; /* error of first minus error of second */
  double low, high;  /* interval of the difference, from losses row by row; NaN: refused */
  double p, p_holm;
} sr_compare_test;

typedef struct sr_comparison sr_comparison;

typedef struct sr_comparison_view {
  int32_t row_count;
  const sr_compare_row *rows;
  int32_t test_count;
  const sr_compare_test *tests; /* the best row against every other, Holm over them */
  int32_t best;
  int32_t folds;
  int32_t units;
  sr_unit held_out;
  int64_t buffer;
  int64_t table_rows;       /* that were compared on */
  int64_t next_rows;        /* of the next unit; 0: a whole unit */
  const double *unit_error; /* row_count x units */
  int32_t warning_count;    /* of the structure */
  const char *const *warnings;
} sr_comparison_view;

SR_API void sr_compare_options_init(sr_compare_options *options);
/* The options as a list; a constant. */
SR_API const sr_option *sr_compare_option_list(void);
/* As sr_train_options_check. Errors: SR_ERROR_ARGUMENT, SR_ERROR_NOT_FOUND,
 * SR_ERROR_UNSUPPORTED, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_compare_options_check(sr_context *ctx,
                                                        const sr_compare_options *options);
/* Every plan with every learner on the same folds, with paired tests over the held-out units; a
 * plan that chooses is judged as sr_train does it: weights of a mix for a fold come from the
 * others. `options` may be NULL. Free with sr_comparison_free. Errors as sr_train. Cost:
 * an ensemble per plan, learner and fold. */
SR_API SR_MUST_CHECK sr_status sr_compare(sr_context *ctx, const sr_table *table,
                                          const sr_compare_options *options, uint64_t seed,
                                          sr_comparison **comparison);
SR_API void sr_comparison_free(sr_comparison **comparison);
/* Valid as long as the comparison. */
SR_API const sr_comparison_view *sr_comparison_get(const sr_comparison *comparison);

/* ---- tuning ------------------------------------------------------------------------------- */

typedef struct sr_tune_options {
  const char *plans;        /* comma separated; "auto,uniform,uniform-nm,routed" */
  const char *learners;     /* the same; "tree" */
  int64_t tries;            /* settings that are drawn: 27 */
  int64_t members;          /* of the last round: 100 */
  int vote;                 /* hard, soft or auto */
  const char *class_weight; /* as in sr_train_options; the error that is lowered weighs the same */
  const char *resume; /* file that keeps the tries as they are made, so that the same call goes on
                         after an interrupt; the caller removes it. NULL or "": none */
  double level;       /* of the interval: 0.95 */
  sr_structure_options structure;
  sr_folds_options folds;
} sr_tune_options;

/* A setting at the members of a round. */
typedef struct sr_tune_try {
  const char *plan, *learner; /* NAME[:KEY=VALUE,...] */
  int32_t members, round;     /* rounds from 0 */
  double error;               /* on the folds of the search */
  double seconds;
} sr_tune_try;

typedef struct sr_tuning sr_tuning;

typedef struct sr_tuning_view {
  int32_t settings, rounds; /* the best third of a round gets three times the members */
  int32_t members;
  int32_t tried_count;
  const sr_tune_try *tried; /* in the order in which they were made */
  int64_t searched_rows, judged_rows;
  int32_t folds; /* of the search */
  sr_unit held_out;
  const char *best_plan, *best_learner;
  const char *first_plan, *first_learner; /* the first of each list, as it was named */
  sr_judgment best, first; /* trained on the searched rows, judged on those put aside */
  int32_t warning_count;
  const char *const *warnings; /* of the dependence of all rows */
} sr_tuning_view;

SR_API void sr_tune_options_init(sr_tune_options *options);
/* The options as a list; a constant. */
SR_API const sr_option *sr_tune_option_list(void);
/* Searches options of plans and learners on honest folds by successive halving: the first setting
 * is the first plan with the first learner as named, others draw values for the options that are
 * not named. Two of eight folds and the rows near them are put aside; the winner is trained on the
 * others and judged there. `options` may be NULL. Free *tuning with sr_tuning_free. Errors as
 * sr_train. Cost: about as many ensembles per fold as there are settings over three. */
SR_API SR_MUST_CHECK sr_status sr_tune(sr_context *ctx, const sr_table *table,
                                       const sr_tune_options *options, uint64_t seed,
                                       sr_tuning **tuning);
SR_API void sr_tuning_free(sr_tuning **tuning);
/* Valid as long as the tuning. */
SR_API const sr_tuning_view *sr_tuning_get(const sr_tuning *tuning);

/* What `plan` may name: every scheme of sr_plan_method, then the rules that choose among them; NULL
 * past the end. */
SR_API const sr_method *sr_train_plan_method(int index);

#ifdef __cplusplus
}
#endif
#endif
