/* Answers on maps. Internal to evaluate; tests see it too. */
#ifndef SR_EVALUATE_MAP_ANSWER_H
#define SR_EVALUATE_MAP_ANSWER_H

#include "evaluate.h"

/* On the variance of the error between the rows. */
#define SR__WIDEN_PIXELS 2.1

typedef struct sr__map_answer {
  double estimate, low, high; /* of the mean */
  double next_low, next_high; /* of one more group */
  double groups;              /* that hold a judged row */
  double worth;               /* groups of equal size that they are worth: n^2 / sum n_g^2 */
} sr__map_answer;

typedef struct sr__grouped_losses {
  int64_t count;
  const double *loss;
  const int32_t *group; /* of each, below `groups` */
  int32_t groups;
} sr__grouped_losses;

/* Of the judged rows of a group. */
typedef struct sr__group_sum {
  double loss; /* first: they are sorted by it */
  double rows;
} sr__group_sum;

/* The mean loss over rows whose groups are independent: Student's t with worth - 1 degrees of
 * freedom on the logit scale, `widen` times the variance between groups; the next of many groups by
 * rank. NaN losses are left out. `group` holds `groups` of scratch. */
sr__map_answer sr__map_interval(sr__grouped_losses of, sr__group_sum *group, double widen,
                                double level);

/* The questions of a map; in place of sr__answer_questions where the structure has one. `between`
 * are the votes of the members that did not draw a row, by row; NULL: none were taken. */
SR_MUST_CHECK sr_status sr__answer_map(sr_context *ctx, const sr__evaluate_input *input,
                                       const sr_evaluate_options *options, uint64_t seed,
                                       const sr__judged *judged, const int32_t *between,
                                       sr_evaluation *evaluation);

#endif
