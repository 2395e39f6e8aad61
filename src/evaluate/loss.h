/* What a vote costs on a row and how sure it was, by the kind of target. Every loss and score of
 * the library is defined here; everything after the vote works on these numbers. A class costs 0
 * where it is right and 1 where it is wrong, and its score is a margin. Internal. */
#ifndef SR_EVALUATE_LOSS_H
#define SR_EVALUATE_LOSS_H

#include <math.h>
#include <specroute/data.h>

/* ---- one answer ----------------------------------------------------------------------------- */

/* NaN where the row has no class or no vote (-1). */
static inline double sr__class_loss(int32_t vote, int32_t label) {
  return vote < 0 || label < 0 ? NAN : vote != label;
}
/* 1 where it is right and -1 where it is wrong: the margin of a vote that names one class. */
static inline double sr__class_score(int32_t vote, int32_t label) {
  return 1.0 - 2.0 * sr__class_loss(vote, label);
}
/* The share of the row's own class less the largest share of another. */
double sr__share_score(const float *share, int32_t classes, int32_t label);

/* ---- a sum of votes ------------------------------------------------------------------------- */

/* Sums whose order of addition may differ: shares so near to each other are the same. */
#define SR__SHARE_TIE 1e-7
/* The class that a vote names after its shares are moved by `offset` (NULL: none); the first of
 * equal ones. */
int32_t sr__vote_class(const float *share, const double *offset, int32_t classes);
/* The loss of a row whose class is one of `top` that lead together. */
static inline double sr__tie_loss(int32_t top) { return 1.0 - 1.0 / top; }
/* The loss of a vote whose shares are moved by `offset` (NULL: none); 1 where the row's class
 * is not among those that lead, else sr__tie_loss of them. */
double sr__vote_loss(const double *share, const double *offset, int32_t classes, int32_t label);
/* The same of two classes: `lead` is the share of the second one less that of the first, moved. */
static inline double sr__vote_loss_of_two(double lead, int32_t label) {
  double margin = label == 0 ? -lead : lead;
  return margin > SR__SHARE_TIE ? 0.0 : margin < -SR__SHARE_TIE ? 1.0 : sr__tie_loss(2);
}

/* ---- rows of a table ------------------------------------------------------------------------ */

/* Of the vote on a row, by row number; NaN where the row has no target or no vote. */
double sr__row_loss(const sr_table_view *view, const int32_t *vote, int64_t row);
/* Mean loss over the rows that have one, and how many these are. */
double sr__mean_loss(const sr_table_view *view, const int32_t *vote, int64_t *judged);

#endif
