/* What the files of this room share, and what evaluate and train build on. Internal. */
#ifndef SR_ENSEMBLE_ENSEMBLE_H
#define SR_ENSEMBLE_ENSEMBLE_H

#include <specroute/ensemble.h>
#include <stdatomic.h>

#include "core/core.h"
#include "core/options.h"
#include "core/random.h"
#include "learner/learner.h"
#include "member_store.h"
#include "plan/plan.h"

/* ---- preparing ---------------------------------------------------------------------------- */

/* A table encoded for one learner: made once, used by every fit on the table. */
typedef struct sr__prepared {
  const sr_table *table;
  const sr_table_view *view;
  sr_table *columns;               /* series as columns where the learner takes features alone */
  sr__configuration configuration; /* of the learner */
  const sr__learner *learner;
  sr__encoder *encoder;
  sr__training *training;
  int32_t classes;
  int at_once;             /* members in work at a time, at most */
  sr__row_units units;     /* what members leave out together where they judge themselves */
  sr__member_store *store; /* keeps fitted members; NULL: none */
  sr__member_key key;      /* of the rows, the learner and the units */
} sr__prepared;

/* What will be fitted. */
typedef struct sr__fit_plans {
  int64_t members; /* of the ensemble */
  int64_t fits;    /* that may be in work at a time: with the members of folds */
  /* Members leave out whole parts or groups of it, and it must live as long as what is prepared;
   * single rows where they do not depend on each other. NULL: single rows. */
  const sr_structure *structure;
} sr__fit_plans;
/* `learner` is NAME[:KEY=VALUE,...]. The table must live as long as what was prepared. What the
 * learner may take is said to the log first. */
SR_MUST_CHECK sr_status sr__prepare(sr_context *ctx, const sr_table *table, const char *learner,
                                    const sr__fit_plans *plans, sr__prepared *prepared);
void sr__prepared_free(sr_context *ctx, sr__prepared *prepared);

/* Members are looked for in the store before they are fitted, and kept there after. `learner` as
 * sr__prepare took it; the store must live as long as what was prepared. */
SR_MUST_CHECK sr_status sr__prepared_use_store(sr_context *ctx, sr__prepared *prepared,
                                               const char *learner, sr__member_store *store);

/* ---- the mix ------------------------------------------------------------------------------ */

/* Members that one plan trains, and what they weigh together. */
typedef struct sr__mix_entry {
  sr__configuration plan;
  int32_t members;
  double weight;
  double large_leaf;    /* share of that weight that answers from large leaves; 0: none */
  const sr_plan *given; /* bags that were made already; NULL: the configuration makes them */
} sr__mix_entry;

/* Plans with their members and weights; a named plan is a mix of one. Zeroed it is empty. */
typedef struct sr__mix {
  int32_t count;
  sr__mix_entry *entry;
  float *offset; /* per class, added to the shares before the vote; NULL: none */
  char *reason;  /* why this mix */
  bool has_gain;
  sr_mix_gain gain;
  sr_choice choice;
} sr__mix;

/* Room for `count` entries. */
SR_MUST_CHECK sr_status sr__mix_new(sr_context *ctx, int32_t count, sr__mix *mix);
void sr__mix_free(const sr_allocator *allocator, sr__mix *mix);
void sr__choice_free(const sr_allocator *allocator, sr_choice *choice);

/* ---- fitted members ----------------------------------------------------------------------- */

/* What a plan worked with, kept after the plan is gone. */
typedef struct sr__plan_record {
  char *text;
  const char *name; /* of the scheme */
  int32_t parameter_count;
  sr_plan_parameter parameters[SR_PLAN_PARAMETERS];
  char *parameter_name[SR_PLAN_PARAMETERS];
  int32_t members;
  double weight, large_leaf;
} sr__plan_record;

/* Fitted members, which rows each drew, and what each weighs. */
typedef struct sr__members {
  const sr__learner *learner;
  int32_t count;
  sr__member **member;
  float *weight;   /* of each; NULL: all the same */
  int64_t words;   /* of one member's bitmap */
  uint64_t *drawn; /* bit r of member j: its bag holds row r; NULL where not asked for */
  double cost;     /* distinct rows drawn by all members */
  int32_t record_count;
  sr__plan_record *record; /* one per plan of a mix; NULL where one plan was fitted alone */
  double seconds;
} sr__members;

/* Which members of a plan to fit, and how their streams are named. */
typedef struct sr__fit {
  const sr_plan *plan;
  const int32_t *subset; /* row of the table of each of the plan's rows; NULL: the same */
  int32_t first, count;  /* the k-th member is (first + k) * stride, modulo all */
  int32_t stride; /* 0 = 1; prime to the number of members, so that a few are a fair sample */
  uint64_t seed, replicate; /* names of the members' own streams */
  bool keep_drawn;
  bool leaves;       /* members must answer at both leaf sizes (sr__learner.read_leaves) */
  float large_leaf;  /* above 0: so much of each member's answer comes from large leaves */
  int64_t asked;     /* rows that each member will be asked for, once; 0: many */
  const char *stage; /* what progress calls it; NULL: silent */
} sr__fit;

/* Members of one plan, in parallel. */
SR_MUST_CHECK sr_status sr__fit_plan(sr_context *ctx, const sr__prepared *prepared,
                                     const sr__fit *fit, sr__members *members);
/* All members of a mix on all rows of the structure. */
SR_MUST_CHECK sr_status sr__fit_members(sr_context *ctx, const sr_structure *structure,
                                        const sr__prepared *prepared, const sr__mix *mix,
                                        bool keep_drawn, uint64_t seed, sr__members *members);
void sr__members_free(sr_context *ctx, sr__members *members);
static inline bool sr__has_drawn(const sr__members *members, int32_t member, int64_t row) {
  return members->drawn[member * members->words + row / 64] >> (row % 64) & 1;
}
/* Which parts each member saw: seen[member * parts + part]. */
SR_MUST_CHECK sr_status sr__seen_parts(sr_context *ctx, const sr__members *members,
                                       const sr_parts_view *parts, uint8_t **seen);
/* A stride near the golden section that visits all members. */
int32_t sr__fair_stride(int32_t members);

/* ---- weights by nearness of parts ----------------------------------------------------------- */

/* Where parts lie: a member's vote weighs more near the parts it saw. */
typedef struct sr__part_weights {
  int32_t parts;
  int64_t features;
  float *center; /* parts x features, standardized */
  float *mean, *scale;
  double width;  /* squared distance at which a part's nearness has fallen to 1/e */
  uint8_t *seen; /* members x parts */
} sr__part_weights;

SR_MUST_CHECK sr_status sr__part_weights_new(sr_context *ctx, const sr_table_view *view,
                                             const sr_parts_view *parts, const sr__members *members,
                                             sr__part_weights *weights);
void sr__part_weights_free(const sr_allocator *allocator, sr__part_weights *weights);
/* `nearness` gets count x parts numbers that sum to 1 per row. */
void sr__part_nearness(const sr__part_weights *weights, const sr_table_view *view, int64_t first,
                       int64_t count, const int32_t *rows, float *nearness);
/* Weight of a member for a row with this nearness to the parts. */
float sr__part_weight(const sr__part_weights *weights, int32_t member, const float *nearness);

/* ---- votes of members --------------------------------------------------------------------- */

/* The votes of one member at a time, and how they are counted. `vote` and `proba` are scratch for
 * the rows that it is asked about. */
typedef struct sr__member_votes {
  const sr__learner *learner;
  const sr__encoder *encoder;
  sr_vote rule;
  int32_t classes;
  int32_t *vote;
  float *proba;
} sr__member_votes;
SR_MUST_CHECK sr_status sr__ask_member(sr_context *ctx, sr__member_votes *votes,
                                       const sr__member *member, const sr__encoded *rows,
                                       const int32_t *index, int64_t count);
/* Adds answer i to `tally` (classes): `weight` for its class, or its probabilities times it. */
void sr__vote_add(const sr__member_votes *votes, int64_t i, float weight, float *tally);
/* The class with most votes, the lower one at a tie; -1 where nobody voted. */
int32_t sr__tally_winner(const float *tally, int32_t classes);
/* Votes become shares, which the offset (NULL: none) moves, not below 0, before the largest wins;
 * all are 0 and the winner is -1 where nobody voted. */
int32_t sr__tally_settle(float *tally, int32_t classes, const float *offset);

/* ---- the ensemble ------------------------------------------------------------------------- */

struct sr_ensemble {
  sr_ensemble_view view;
  sr_allocator allocator;
  const sr__learner *learner;
  sr__encoder *encoder;
  sr__member **member;
  float *weight;    /* per member; NULL: all the same */
  sr_table *schema; /* no rows: names of features, categories, channels and classes */
  char *learner_text, *reason;
  sr__plan_record *record; /* one per entry of the mix */
  sr_mix_entry *mix;       /* what the view shows of them */
  float *offset;
  char **warning;
  sr_structure *structure; /* NULL where it was loaded */
  sr_evaluation evaluation;
  sr_mix_gain gain;
  sr_choice choice;
  sr__part_weights part_weights; /* parts 0 where the vote does not look at them */
};

/* What SR_VOTE_AUTO is with members of this learner; other votes as they are. */
sr_vote sr__vote_of(const sr__learner *learner, sr_vote asked);

/* What sr__ensemble_new takes over: fields are emptied. Any but prepared and members may be NULL.
 */
typedef struct sr__ensemble_pieces {
  sr__prepared *prepared;
  sr__members *members;
  sr__mix *mix;
  sr_evaluation *evaluation;
  sr__part_weights *part_weights;
  sr_structure **structure; /* NULL: none */
  sr_vote vote;
  uint64_t seed;
  double seconds_prepare, seconds_choice;
} sr__ensemble_pieces;
SR_MUST_CHECK sr_status sr__ensemble_new(sr_context *ctx, const sr__ensemble_pieces *pieces,
                                         sr_ensemble **ensemble);
void sr__evaluation_free(const sr_allocator *allocator, sr_evaluation *evaluation);
/* Copies the plan's text and numbers. */
SR_MUST_CHECK sr_status sr__plan_record_new(sr_context *ctx, const sr_plan *plan, int32_t members,
                                            double weight, sr__plan_record *record);
void sr__plan_records_free(const sr_allocator *allocator, int32_t count, sr__plan_record *record);
/* Rows that are predicted in several calls: how many are done, and how many there are. */
typedef struct sr__rows_done {
  int64_t before;
  int64_t total; /* 0: those of this call are all */
  bool silent;   /* something was said of the columns already */
} sr__rows_done;

/* "p_CLASS" of every class, in the arena. */
SR_MUST_CHECK sr_status sr__name_shares(sr_context *ctx, const sr_dictionary *classes,
                                        sr__arena *arena, const char **name);

/* Answers for whole rows; progress is told of all rows. */
SR_MUST_CHECK sr_status sr__predict_rows(sr_context *ctx, const sr_ensemble *ensemble,
                                         const sr_table *table, const sr_predict_options *options,
                                         sr__rows_done done, sr_table **predictions);
/* Answers along series: sr_predict_options.along is 1 or more. */
SR_MUST_CHECK sr_status sr__predict_along(sr_context *ctx, const sr_ensemble *ensemble,
                                          const sr_table *table, const sr_predict_options *options,
                                          sr_table **predictions);
/* SR_ERROR_ARGUMENT where a program set what no option may be. */
SR_MUST_CHECK sr_status sr__predict_options_check(sr_context *ctx,
                                                  const sr_predict_options *options);
/* Shows names of features, channels and classes in the view. */
void sr__ensemble_show_schema(sr_ensemble *ensemble);
/* Shows the records in the view. */
SR_MUST_CHECK sr_status sr__ensemble_show_mix(sr_context *ctx, sr_ensemble *ensemble,
                                              int32_t count);

#endif
