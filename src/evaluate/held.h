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
  const sr_structure *structure;
  const sr__prepared *prepared;
  sr__fold_rows *rows; /* per fold */
  int32_t folds;
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
SR_MUST_CHECK sr_status sr__held_new(sr_context *ctx, const sr__held_options *options,
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

/* Losses of all held-out rows, carried to the delivered members, and the votes as they are. Arrays
 * hold one entry per held-out row; `vote` and `share` (rows x classes) may be NULL. */
typedef struct sr__carried {
  double *loss;
  int32_t *vote;
  float *share;
  bool roughly; /* from fewer draws */
  double way;   /* the mean loss minus that of the votes as they are */
} sr__carried;
SR_MUST_CHECK sr_status sr__carry_losses(sr_context *ctx, const sr__held *held,
                                         const sr__vote_weights *weights, sr__carried *to);
/* Mean loss of all members and of about a fifth of them, the variance that their own noise leaves
 * in either vote, and in the delivered one. */
typedef struct sr__vote_curve {
  double error[2], noise[2], goal, rows;
  int32_t classes;
} sr__vote_curve;
/* How many times the first error less the second is to be added to the first: 1/z(error)^2 is a
 * line in the noise. 0 where the noise of both is the same. */
double sr__carry_steps(const sr__vote_curve *curve);
/* The error of `size` of `members` votes for two classes, `wrong` of them wrong: the mean over all
 * subsets, ties split. */
double sr__subset_error(int32_t members, int32_t wrong, int32_t size);

#endif
