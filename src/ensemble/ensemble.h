/* What the files of this room share. Internal. */
#ifndef SR_ENSEMBLE_ENSEMBLE_H
#define SR_ENSEMBLE_ENSEMBLE_H

#include <specroute/ensemble.h>
#include <stdatomic.h>

#include "core/core.h"
#include "core/random.h"
#include "learner/learner.h"
#include "plan/plan.h"

/* ---- fitting ------------------------------------------------------------------------------ */

/* A table in the form its learner likes: made once, used by every fit on the table. */
typedef struct sr__engine {
  const sr_table *table;
  const sr_table_view *view;
  const sr__learner *learner;
  sr_learner_options options;
  sr__shared *shared;
  sr__training *training;
  int32_t classes;
} sr__engine;

SR_MUST_CHECK sr_status sr__engine_open(sr_context *ctx, const sr_table *table,
                                        const sr_learner_options *options, sr__engine *engine);
void sr__engine_close(sr__engine *engine);

/* Members fitted on one plan. */
typedef struct sr__crew {
  const sr__learner *learner;
  int32_t members;
  sr__member **member;
  int64_t words;   /* of one member's bitmap */
  uint64_t *drawn; /* bit r of member j: its bag holds row r; NULL where not asked for */
  double cost;     /* distinct rows drawn by all members */
} sr__crew;

typedef struct sr__fit {
  const sr_plan *plan;
  const int32_t *subset; /* row of each of the plan's rows; NULL: the same */
  int32_t first,
      count;      /* members of the plan to fit: the k-th is (first + k) * stride, modulo all */
  int32_t stride; /* 0 = 1; prime to the number of members, so that a few are a fair sample */
  uint64_t seed, replicate; /* names of the members' own streams */
  bool keep_drawn;
  const char *stage; /* what progress calls it; NULL: silent */
} sr__fit;

SR_MUST_CHECK sr_status sr__crew_fit(sr_context *ctx, const sr__engine *engine, const sr__fit *fit,
                                     sr__crew *crew);
void sr__crew_free(sr_context *ctx, sr__crew *crew);
static inline bool sr__has_drawn(const sr__crew *crew, int32_t member, int64_t row) {
  return crew->drawn[member * crew->words + row / 64] >> (row % 64) & 1;
}

/* ---- gates -------------------------------------------------------------------------------- */

/* Where parts lie: a member's vote weighs more near the parts it saw. */
typedef struct sr__gate {
  int32_t parts;
  int64_t features;
  float *center; /* parts x features, standardised */
  float *mean, *scale;
  double width;  /* squared distance at which a part's pull has fallen to 1/e */
  uint8_t *seen; /* members x parts */
} sr__gate;

SR_MUST_CHECK sr_status sr__gate_make(sr_context *ctx, const sr_table_view *view,
                                      const sr_parts_view *parts, const sr__crew *crew,
                                      sr__gate *gate);
void sr__gate_free(const sr_allocator *allocator, sr__gate *gate);
/* `pull` gets count x parts numbers that sum to 1 a row: how near each part is. */
void sr__gate_pull(const sr__gate *gate, const sr_table_view *view, int64_t first, int64_t count,
                   const int32_t *rows, float *pull);
/* Weight of a member for a row with this pull. */
float sr__gate_weight(const sr__gate *gate, int32_t member, const float *pull);

/* ---- the ensemble ------------------------------------------------------------------------- */

struct sr_ensemble {
  sr_ensemble_view view;
  sr_allocator allocator;
  const sr__learner *learner;
  sr__shared *shared;
  sr__member **member;
  sr_table *schema; /* no rows: names of features, categories and classes */
  sr_plan_parameter parameters[SR_PLAN_PARAMETERS];
  char *parameter_name[SR_PLAN_PARAMETERS];
  char *plan_name, *reason;
  sr_evaluation evaluation;
  char *held_out;
  sr_choice choice;
  sr__gate gate; /* parts 0 where the vote is not gated */
};

/* An ensemble that takes over the engine's shared state and the crew's members. */
SR_MUST_CHECK sr_status sr__ensemble_assemble(sr_context *ctx, sr__engine *engine, sr__crew *crew,
                                              const sr_plan *plan, sr_vote vote, uint64_t seed,
                                              sr_ensemble **ensemble);

/* ---- votes -------------------------------------------------------------------------------- */

/* Adds a member's votes on rows to `tally` (count x classes): 1 for its class, or its
 * probabilities, times `weight` (NULL: 1). `vote` and `proba` are scratch for count rows. */
typedef struct sr__ballot {
  const sr__learner *learner;
  const sr__shared *shared;
  sr_vote rule;
  int32_t classes;
  int32_t *vote;
  float *proba;
} sr__ballot;
SR_MUST_CHECK sr_status sr__ballot_cast(sr_context *ctx, sr__ballot *ballot,
                                        const sr__member *member, const sr__rows *rows,
                                        const int32_t *index, int64_t count);
/* How far the cast ballot i stands for `label`: 1 or -1, or probability minus the best other. */
double sr__ballot_margin(const sr__ballot *ballot, int64_t i, int32_t label);
void sr__ballot_add(const sr__ballot *ballot, int64_t i, float weight, float *tally);
/* The class with most votes, the lower one at a tie; -1 where nobody voted. */
int32_t sr__tally_winner(const float *tally, int32_t classes);

/* ---- judging training rows ---------------------------------------------------------------- */

/* Sums over judged rows from which covariances come. */
typedef struct sr__margins {
  int32_t members;
  double *member_sum, *member_square; /* a member */
  int64_t *member_count;
  double pair_sum, pair_count; /* over pairs of members that judged the same row */
  double rho_sum, rho_square;  /* of the mean margin of rows with two judges or more */
  int64_t rho_count;
  double judges;
  int64_t judged;
} sr__margins;

typedef struct sr__jury {
  const sr__engine *engine;
  const sr__crew *crew;
  const sr__rows *encoded; /* NULL: the training rows */
  sr_vote rule;
  const sr__gate *gate; /* gated votes only */
  const int32_t *rows;  /* to judge; NULL: all */
  int64_t count;
  const int32_t *part;    /* honest: member j may judge row r where !blocked[j * parts + part[r]] */
  const uint8_t *blocked; /* NULL: every member that did not draw the row */
  int32_t parts;
  int32_t *naive, *honest; /* votes by row number, -1 = no judge; either may be NULL */
  sr__margins *margins;    /* of honest judges; may be NULL */
} sr__jury;

SR_MUST_CHECK sr_status sr__jury_judge(sr_context *ctx, const sr__jury *jury);
SR_MUST_CHECK sr_status sr__margins_init(sr_context *ctx, int32_t members, sr__margins *margins);
void sr__margins_free(sr_context *ctx, sr__margins *margins);

/* ---- structure, blocks and folds ------------------------------------------------------------ */

struct sr_structure {
  sr_structure_view view;
  sr_allocator allocator;
  const sr_table *table;
  sr_graph *graph;     /* NULL for a plain series */
  sr_parts *parts;     /* the units of honest error and routed plans */
  sr_parts *hierarchy; /* finest cut of the graph; NULL for a plain series and without need */
  char *graph_text;
  sr_graph_relation relation;
  uint64_t seed; /* of graphs that are built again */
  char *tmix_method;
};

/* A series without groups: every cut is a range of rows and needs no graph. */
bool sr__is_plain_series(const sr_structure *structure);
/* The cut of the rows into `count` parts. */
SR_MUST_CHECK sr_status sr__structure_labels(sr_context *ctx, const sr_structure *structure,
                                             int32_t count, int32_t *label);

/* Folds of whole blocks, with what is left out of training around them. */
typedef struct sr__folds {
  int32_t folds;
  int32_t blocks;
  int32_t *block; /* of each row */
  int32_t *fold;  /* of each block */
  int64_t buffer;
  const char *unit; /* "block" or "group" */
} sr__folds;

SR_MUST_CHECK sr_status sr__folds_make(sr_context *ctx, const sr_structure *structure,
                                       int32_t folds, bool leave_group_out, int64_t buffer,
                                       uint64_t seed, sr__folds *made);
void sr__folds_free(sr_context *ctx, sr__folds *folds);
/* Rows to train on and rows to judge, increasing, for one fold; both hold one entry a row. */
SR_MUST_CHECK sr_status sr__folds_rows(sr_context *ctx, const sr_structure *structure,
                                       const sr__folds *folds, int32_t fold, int32_t *train,
                                       int64_t *train_count, int32_t *test, int64_t *test_count);
/* A plan over a subset of the rows: its row i is row subset[i] of the table. `parts` as in
 * sr_structure_plan_parts. */
SR_MUST_CHECK sr_status sr__subset_plan(sr_context *ctx, const sr_structure *structure,
                                        const sr_plan_options *options, int32_t parts,
                                        const int32_t *subset, int64_t count, sr_plan **plan);

/* ---- evaluation --------------------------------------------------------------------------- */

/* Error of votes over blocks and its bootstrap interval over blocks. */
typedef struct sr__block_errors {
  int32_t blocks;
  double *wrong, *judged; /* a block */
} sr__block_errors;
double sr__block_error_rate(const sr__block_errors *errors);
SR_MUST_CHECK sr_status sr__block_interval(sr_context *ctx, const sr__block_errors *errors,
                                           double level, uint64_t seed, double *low, double *high);
SR_MUST_CHECK sr_status sr__count_block_errors(sr_context *ctx, const int32_t *label,
                                               const int32_t *vote, int64_t rows,
                                               const int32_t *block, int32_t blocks,
                                               sr__block_errors *errors);
void sr__block_errors_free(sr_context *ctx, sr__block_errors *errors);

SR_MUST_CHECK sr_status sr__evaluate(sr_context *ctx, const sr__engine *engine,
                                     const sr_structure *structure, const sr_plan_options *plan,
                                     int32_t plan_parts, const sr__crew *crew,
                                     const sr_train_options *options, sr_ensemble *ensemble);
/* Honest (or, with `blocked` NULL, naive) error gained by shuffling each feature inside parts. */
SR_MUST_CHECK sr_status sr__importance(sr_context *ctx, const sr__jury *jury, int32_t parts,
                                       const int32_t *part, uint64_t seed, double *importance);

/* A stride near the golden section that visits all members. */
int32_t sr__fair_stride(int32_t members);

/* ---- auto --------------------------------------------------------------------------------- */

/* Chooses scheme and numbers for options->plan; `choice` and the plan are set. */
SR_MUST_CHECK sr_status sr__auto_choose(sr_context *ctx, const sr__engine *engine,
                                        const sr_structure *structure,
                                        const sr_train_options *options, sr_choice *choice,
                                        sr_plan_options *plan, int32_t *parts);
void sr__choice_free(const sr_allocator *allocator, sr_choice *choice);

#endif
