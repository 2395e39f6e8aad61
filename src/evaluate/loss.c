/* What a vote costs, by the kind of target. Everything after the vote works on this number. */
#include <math.h>

#include "evaluate.h"

double sr__row_loss(const sr_table_view *view, const int32_t *vote, int64_t row) {
  if (view->label[row] < 0 || vote[row] < 0) return NAN;
  return vote[row] != view->label[row];
}

double sr__mean_loss(const sr_table_view *view, const int32_t *vote, int64_t *judged) {
  double sum = 0.0;
  *judged = 0;
  for (int64_t i = 0; i < view->rows; i++) {
    double loss = sr__row_loss(view, vote, i);
    if (isnan(loss)) continue;
    (*judged)++;
    sum += loss;
  }
  return *judged ? sum / (double)*judged : NAN;
}
