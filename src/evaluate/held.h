/* Answers of members at rows that they did not train near. Internal to evaluate and train.
 *
 * One layout of folds serves every plan: few members are fitted per fold and plan, their answers on
 * the fold's rows are kept, and everything that is told of held-out rows (weights of a mix, losses,
 * importance, covariance) is worked out from these. */
#ifndef SR_EVALUATE_HELD_H
#define SR_EVALUATE_HELD_H

#include "evaluate.h"

enum { SR__MOST_LEAVES = 2 };

/* Members of one plan. */
typedef struct sr__held_entry {
  sr__configuration plan; /* borrowed */
  int32_t members;        /* of every fold so far */
  float **answer;         /* per member: leaf sizes x rows x classes */
  sr__member **fitted;    /* folds x members in the order of `answer`; NULL where not kept */
  double cost;            /* distinct rows drawn, over all folds */
} sr__held_entry;

typedef struct sr__held {
  const sr_structure *structure;
  const sr__prepared *prepared;
  sr_vote rule; /* hard: one for the member's class; soft: its shares; gated: hard, weighted */
  int32_t plan_members;
  uint64_t seed, replicate;
  bool keep_members;
  int32_t folds;
  sr__fold_rows *rows; /* per fold, test rows thinned where there are too many to keep */
  int64_t *first;      /* rows of fold f are [first[f], first[f + 1]) */
  int64_t count;       /* rows in all */
  int32_t *row;        /* of the table */
  int64_t stride;      /* one of so many held-out rows is judged */
  int32_t classes;
  int32_t leaves; /* answers per member: at leaves of one row, and of some */
  int32_t entries;
  sr__held_entry *entry;
} sr__held;

typedef struct sr__held_options {
  sr_vote rule;
  int32_t plan_members; /* that a plan deals bags to */
  int32_t expected;     /* members per fold and row that will be kept, for the thinning */
  int32_t entries;
  const sr__configuration *const *plan; /* per entry */
  bool leaves;                          /* answers at both leaf sizes, where the learner has them */
  bool keep_members;
  uint64_t seed, replicate;
} sr__held_options;

/* Takes the folds' rows over (the array and what it holds), also where it fails. Free with
 * sr__held_free. */
SR_MUST_CHECK sr_status sr__held_new(sr_context *ctx, const sr_structure *structure,
                                     const sr__prepared *prepared, sr__fold_rows *rows,
                                     int32_t folds, const sr__held_options *options,
                                     sr__held *held);
/* The rows of every fold. Free the array with what it holds, or give it to sr__held_new. */
SR_MUST_CHECK sr_status sr__all_fold_rows(sr_context *ctx, const sr_folds *folds,
                                          sr__fold_rows **rows);
/* Until entry k has members[k] members in every fold; more are not taken away. */
SR_MUST_CHECK sr_status sr__held_grow(sr_context *ctx, sr__held *held, const int32_t *members,
                                      const char *stage);
/* Frees the fitted members of an entry; their answers stay. */
void sr__held_forget_members(sr_context *ctx, sr__held *held, int32_t entry);
void sr__held_free(sr_context *ctx, sr__held *held);
static inline const float *sr__held_answer(const sr__held *held, int32_t entry, int32_t member,
                                           int32_t leaf) {
  return held->entry[entry].answer[member] + leaf * held->count * held->classes;
}
/* Members that judge a fold for an ensemble of so many: a sixth, odd, at least nine. */
int32_t sr__fold_members(int32_t members);

/* ---- losses ------------------------------------------------------------------------------- */

/* What the entries weigh where rows are judged, and how many members each will have in the
 * delivered vote. */
typedef struct sr__vote_weights {
  double *weight;     /* entries x leaves; sums to 1 */
  double *offset;     /* per class; NULL: none */
  int32_t *delivered; /* per entry */
} sr__vote_weights;

/* Losses of the rows of one fold, carried to the delivered members, and the vote as it is. Arrays
 * hold one entry per row of the fold; `vote` and `share` (rows x classes) may be NULL. */
SR_MUST_CHECK sr_status sr__carry_fold(sr_context *ctx, const sr__held *held, int32_t fold,
                                       const sr__vote_weights *weights, double *loss, int32_t *vote,
                                       float *share);
/* The loss of a vote whose shares are moved by `offset` (NULL: none); ties count as the share of
 * wrong classes among those at the top. */
double sr__vote_loss(const double *vote, const double *offset, int32_t classes, int32_t label);
/* The same losses from fewer draws, and what the vote as it is lost on all rows of the fold: how
 * far the carry goes. */
SR_MUST_CHECK sr_status sr__carry_roughly(sr_context *ctx, const sr__held *held, int32_t fold,
                                          const sr__vote_weights *weights, double *loss,
                                          double *lost);
/* The error of `size` of `members` votes for two classes, `wrong` of them wrong: the mean over all
 * subsets, ties split. */
double sr__subset_error(int32_t members, int32_t wrong, int32_t size);
/* Weights of the values at x[0..2] in the parabola through them at `at`. */
void sr__parabola(const double x[3], double at, double weight[3]);

#endif
