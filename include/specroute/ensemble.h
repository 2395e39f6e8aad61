/* Ensembles: fitted members that vote, and what their votes are worth. */
#ifndef SPECROUTE_ENSEMBLE_H
#define SPECROUTE_ENSEMBLE_H

#include <specroute/dependence.h>
#include <specroute/learner.h>
#include <specroute/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- how the rows of a table depend on each other ------------------------------------------ */

/* Scale, parts and blocks of one table: what plans, honest error and folds are made from. */
typedef struct sr_structure sr_structure;

typedef struct sr_structure_options {
  const char
      *graph;    /* as sr_graph_build takes it; NULL: grid, space or time by the table */
  double tmix;   /* rows (graphs: nodes) until a row is new; 0 = estimate */
  int32_t parts; /* 0: the groups where the table has any, else about 4 tmix rows a part */
  int literal_scale; /* spectral: 1 takes lambda_2 from the cutting graph, 0 from the data's own
                        scale */
  uint64_t seed;
} sr_structure_options;

typedef struct sr_structure_view {
  const char *graph;
  double tmix, tmix_low, tmix_high; /* the bounds are NaN where tmix was given */
  const char *tmix_method;          /* "given" or the estimator's name */
  double block;                     /* Politis-White, circular form; NaN where it cannot be told */
  double lambda2;                   /* what Algorithm 1 divides by */
  const char *unit;                 /* "part" or "group": what is held out together */
  const sr_parts *parts;
} sr_structure_view;

SR_API void sr_structure_options_init(sr_structure_options *options);
/* The table must live as long as the structure. */
SR_API SR_MUST_CHECK sr_status sr_structure_estimate(sr_context *ctx, const sr_table *table,
                                                     const sr_structure_options *options,
                                                     sr_structure **structure);
SR_API void sr_structure_free(sr_structure **structure);
SR_API const sr_structure_view *sr_structure_get(const sr_structure *structure);
/* Any scheme of the registry on this table; spectral cuts as many parts as Algorithm 1 says. */
SR_API SR_MUST_CHECK sr_status sr_structure_plan(sr_context *ctx, const sr_structure *structure,
                                                 const sr_plan_options *options, sr_plan **plan);
/* The same with `parts` parts for spectral and routed; 0 = as above. */
SR_API SR_MUST_CHECK sr_status sr_structure_plan_parts(sr_context *ctx,
                                                       const sr_structure *structure,
                                                       const sr_plan_options *options,
                                                       int32_t parts, sr_plan **plan);

/* ---- ensembles ---------------------------------------------------------------------------- */

typedef struct sr_ensemble sr_ensemble;

typedef enum sr_vote {
  SR_VOTE_HARD, /* each member one vote */
  SR_VOTE_SOFT, /* mean of the members' class probabilities */
  SR_VOTE_GATED /* members weighted by how near their parts lie to the row (an extension) */
} sr_vote;

typedef struct sr_ensemble_options {
  sr_learner_options learner;
  sr_vote vote;
  uint64_t seed;
} sr_ensemble_options;

SR_API void sr_ensemble_options_init(sr_ensemble_options *options);
/* One member a bag, fitted in parallel. Rows without a class are passed over. The same seed gives
 * the same members at any thread count. Gated votes need sr_train. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_fit(sr_context *ctx, const sr_table *table,
                                               const sr_plan *plan,
                                               const sr_ensemble_options *options,
                                               sr_ensemble **ensemble);
SR_API void sr_ensemble_free(sr_ensemble **ensemble);
/* Class of each row; `proba` (may be NULL) gets rows x classes vote shares, row-major. Columns are
 * found by their names where both tables have names, else by their order; categories by their
 * names. Errors: SR_ERROR_DATA names the first column that is missing. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_predict(sr_context *ctx, const sr_ensemble *ensemble,
                                                   const sr_table *table, int32_t *label,
                                                   float *proba);
/* Class of each row by each member: member j's vote on row i is votes[j * rows + i]. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_votes(sr_context *ctx, const sr_ensemble *ensemble,
                                                 const sr_table *table, int32_t *votes);

/* One csv line a row: the class's name and, where `proba` is given, each class's share of the vote.
 * Path "-" is standard output. */
SR_API SR_MUST_CHECK sr_status sr_predictions_write(sr_context *ctx, const sr_ensemble *ensemble,
                                                    int64_t rows, const int32_t *label,
                                                    const float *proba, const char *path);

/* ---- what the votes are worth --------------------------------------------------------------- */

typedef struct sr_class_report {
  int64_t rows;     /* judged rows of this class */
  double error;     /* share of them that the vote missed (1 - recall) */
  double precision; /* share of the votes for this class that were right; NaN: no such vote */
} sr_class_report;

typedef struct sr_evaluation {
  int64_t rows;    /* rows with a class */
  double baseline; /* error of always naming the most frequent class */
  double naive;    /* each row judged by the members that did not draw the row; NaN: none */
  int64_t naive_rows;
  double honest; /* each row judged by members that saw nothing of its part or group */
  double honest_low, honest_high; /* bootstrap over parts or groups */
  double level;                   /* of that interval */
  int64_t honest_rows;
  const char *held_out;      /* "part" or "group" */
  int32_t units;             /* how many of them */
  int32_t folds;             /* 0: members that never saw the part; else folds were fitted */
  int64_t buffer;            /* rows or graph steps kept free around what was held out */
  double judges;             /* mean number of members that judged a row */
  double covariance;         /* mean pairwise covariance of member margins on held-out rows */
  double variance_of_margin; /* variance over rows of the mean margin rho */
  double variance_of_member; /* the same of one member's margin */
  double effective_members;  /* variance_of_member / variance_of_margin */
  int32_t classes;
  const sr_class_report *by_class;
  int64_t features;
  const double *
      importance; /* a feature: honest error gained by shuffling it inside parts; NULL: not asked */
} sr_evaluation;

/* ---- auto --------------------------------------------------------------------------------- */

typedef struct sr_candidate {
  const char *name;             /* scheme */
  char label[48];               /* "routed 0.5 0.2": scheme and its numbers */
  double part_share, row_share; /* routed */
  int32_t parts;                /* spectral */
  double error;                 /* on held-out blocks, NaN: never scored */
  double difference;            /* error minus that of the default, paired over blocks */
  double difference_se;
  int32_t members; /* that the last score used */
  double cost;     /* of one member over one full-bootstrap member */
} sr_candidate;

typedef struct sr_choice {
  int32_t candidate_count;
  const sr_candidate *candidates;
  int32_t chosen, fallback; /* indices */
  double cost;              /* of the choice over one full-bootstrap ensemble */
  int32_t folds;
  int64_t buffer;
  const char *reason; /* one sentence */
} sr_choice;

/* ---- all of it in one call ------------------------------------------------------------------ */

typedef struct sr_train_options {
  sr_structure_options structure;
  sr_plan_options plan; /* name "auto" chooses on held-out blocks */
  sr_learner_options learner;
  sr_vote vote;
  uint64_t seed;  /* names plan, members, folds and bootstrap alike */
  int evaluate;   /* 1: naive and honest error, covariance */
  int importance; /* 1: permutation importance as well */
  int32_t folds;  /* for plans that leave no part out: 5 */
  int64_t buffer; /* -1: tmix rows around held-out blocks of a series, 0 elsewhere */
  double level;   /* 0.95 */
} sr_train_options;

typedef struct sr_ensemble_view {
  const char *learner;
  sr_vote vote;
  int32_t members;
  uint64_t seed;
  int64_t rows; /* it was trained on */
  int64_t features;
  const char *const *feature_names; /* NULL where the table had none */
  sr_dictionary classes;
  const char *target_name; /* may be NULL */
  const char *plan;
  int32_t parameter_count;
  const sr_plan_parameter *parameters;
  double tmix;                     /* NaN where it was not needed */
  const sr_evaluation *evaluation; /* NULL: none was made */
  const sr_choice *choice;         /* NULL: the plan was named; not kept in the model file */
  const char *reason;              /* why this plan */
  double seconds_structure, seconds_choose, seconds_fit, seconds_evaluate; /* not in the file */
} sr_ensemble_view;

SR_API void sr_train_options_init(sr_train_options *options);
/* Structure, plan (or its choice), fit and evaluation. */
SR_API SR_MUST_CHECK sr_status sr_train(sr_context *ctx, const sr_table *table,
                                        const sr_train_options *options, sr_ensemble **ensemble);
SR_API const sr_ensemble_view *sr_ensemble_get(const sr_ensemble *ensemble);

/* ---- model files -------------------------------------------------------------------------- */

SR_API SR_MUST_CHECK sr_status sr_ensemble_save(sr_context *ctx, const sr_ensemble *ensemble,
                                                const char *path);
/* SR_ERROR_FORMAT for anything that is not a whole, unaltered model of a known version. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_load(sr_context *ctx, const char *path,
                                                sr_ensemble **ensemble);
/* The same from memory. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_load_bytes(sr_context *ctx, const void *bytes,
                                                      int64_t count, sr_ensemble **ensemble);

/* ---- comparison --------------------------------------------------------------------------- */

typedef struct sr_compare_options {
  sr_structure_options structure;
  int32_t plan_count;
  const sr_plan_options *plans; /* "auto" is allowed: it then chooses inside each fold */
  int32_t learner_count;
  const sr_learner_options *learners;
  int32_t folds;       /* 5 */
  int leave_group_out; /* 1: one group a fold, at most `folds` > 0 folds of whole groups */
  int64_t buffer;      /* as in sr_train_options */
  sr_vote vote;
  uint64_t seed;
  double level; /* 0.95 */
} sr_compare_options;

typedef struct sr_compare_row {
  const char *plan, *learner;
  char label[48];          /* plan with its numbers */
  double error, low, high; /* interval by bootstrap over held-out blocks */
  double seconds;
} sr_compare_row;

/* Row `first` against row `second`, paired over held-out blocks. */
typedef struct sr_compare_test {
  int32_t first, second;
  double difference; /* error of first minus error of second */
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
  int32_t blocks;       /* units of the tests */
  const char *held_out; /* "block" or "group" */
  int64_t buffer;
  const double *block_error; /* row_count x blocks */
} sr_comparison_view;

SR_API void sr_compare_options_init(sr_compare_options *options);
SR_API SR_MUST_CHECK sr_status sr_compare(sr_context *ctx, const sr_table *table,
                                          const sr_compare_options *options,
                                          sr_comparison **comparison);
SR_API void sr_comparison_free(sr_comparison **comparison);
SR_API const sr_comparison_view *sr_comparison_get(const sr_comparison *comparison);

#ifdef __cplusplus
}
#endif
#endif
