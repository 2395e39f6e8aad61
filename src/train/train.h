/* Rules that choose a mix of plans, and what the files of this room share. Internal. */
#ifndef SR_TRAIN_TRAIN_H
#define SR_TRAIN_TRAIN_H

#include <specroute/train.h>

#include "evaluate/trial.h"

/* An option that several tasks share; AT(kind, key, field, ...) makes one of a task's struct. */
#define SR__CLASS_WEIGHT_OPTION(AT)          \
  AT(TEXT, "class_weight", class_weight, "", \
     "what classes weigh: balanced, or a csv file with lines CLASS,WEIGHT")

/* What a choice may look at. */
typedef struct sr__choose_input {
  const sr_structure *structure;
  const sr__prepared *prepared;
  const sr_folds *folds; /* the layout that everything is judged on */
  int32_t members;       /* of the ensemble */
  sr_vote vote;
  bool keep_members;          /* of the folds, for the importance of features */
  const double *class_weight; /* of the rows of each class in the choice; NULL: 1 */
  uint64_t seed;
} sr__choose_input;

/* A rule that chooses plans and weights: one file and a line in methods.def. */
typedef struct sr__chooser {
  sr_method about;
  /* *vote may be set to the rule by which the mix votes; *trial may get the held-out answers from
   * which the mix was chosen, where they can judge it as well. */
  sr_status (*choose)(sr_context *ctx, const sr__choose_input *input, const void *options,
                      sr__mix *mix, sr_vote *vote, sr__trial *trial);
} sr__chooser;

/* The mix that a plan's name stands for: a mix of one for a scheme, what it finds for a rule that
 * chooses. `plan` is a configuration of sr_train_plan_method. */
SR_MUST_CHECK sr_status sr__choose(sr_context *ctx, const sr__configuration *plan,
                                   const sr__choose_input *input, sr__mix *mix, sr_vote *vote,
                                   sr__trial *trial);
/* The answers on held-out rows that judge the mix: those of the choice, or new ones. Empty where
 * the plan's bags cannot be dealt on folds. */
SR_MUST_CHECK sr_status sr__try_mix(sr_context *ctx, const sr__choose_input *input,
                                    const sr__mix *mix, sr_vote vote, sr__trial *trial);

/* The candidates of the rule that takes one plan: texts for sr_plan_method and what one member
 * costs over a member of a full bootstrap. */
typedef struct sr__candidate_plan {
  char text[64];
  double cost;
} sr__candidate_plan;
enum { SR__MOST_CANDIDATES = 16 };
int32_t sr__list_candidates(const sr_structure *structure, int32_t members,
                            sr__candidate_plan *list);

/* A table whose rows weigh what their classes do. */
typedef struct sr__class_weights {
  double *of_class;
  float *of_row;
  sr_table *table; /* wraps the rows; NULL: nothing was asked for */
} sr__class_weights;
/* `text`: NULL or "" for none, "balanced", or the path of lines CLASS,WEIGHT. The table must
 * outlive the weights; free with sr__class_weights_free. */
SR_MUST_CHECK sr_status sr__class_weights_new(sr_context *ctx, const sr_table *table,
                                              const char *text, sr__class_weights *weights);
void sr__class_weights_free(sr_context *ctx, sr__class_weights *weights);

/* As sr_train_with on rows that carry the weights of their classes already. */
SR_MUST_CHECK sr_status sr__train_weighted(sr_context *ctx, const sr_table *table,
                                           const sr_train_input *input,
                                           const sr_train_options *options,
                                           const double *class_weight, uint64_t seed,
                                           sr_ensemble **ensemble);

/* Whether it is a rule that fits members on folds to choose among plans. */
bool sr__plan_chooses(const sr__configuration *plan);
/* Values of a plan's options that a search tries, "KEY=A|B,..."; NULL: none. `method` is one of
 * sr_train_plan_method. */
const char *sr__plan_search(const sr_method *method);

/* That the table has a target that can be learned: classes, two of them at least. */
SR_MUST_CHECK sr_status sr__check_target(sr_context *ctx, const sr_table *table);
/* Rows without a class or of weight 0 cannot teach and are left out, with a word. *kept is NULL
 * where all can. */
SR_MUST_CHECK sr_status sr__keep_teaching_rows(sr_context *ctx, const sr_table *table,
                                               sr_table **kept);

#endif
