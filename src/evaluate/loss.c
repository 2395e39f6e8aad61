#include "loss.h"

double sr__share_score(const float *share, int32_t classes, int32_t label) {
  float other = -1.0f;
  for (int32_t c = 0; c < classes; c++)
    if (c != label && share[c] > other) other = share[c];
  return (double)share[label] - (double)(classes > 1 ? other : 0.0f);
}

int32_t sr__vote_class(const float *share, const double *offset, int32_t classes) {
  int32_t best = 0;
  double most = -INFINITY;
  for (int32_t c = 0; c < classes; c++) {
    double here = (double)share[c] + (offset ? offset[c] : 0.0);
    if (here > most) best = c;
    if (here > most) most = here;
  }
  return best;
}

double sr__vote_loss(const double *share, const double *offset, int32_t classes, int32_t label) {
  double most = -INFINITY, own = 0.0;
  int32_t top = 0;
  for (int32_t c = 0; c < classes; c++) {
    double here = share[c] + (offset ? offset[c] : 0.0);
    if (c == label) own = here;
    if (here > most) most = here;
  }
  for (int32_t c = 0; c < classes; c++)
    top += share[c] + (offset ? offset[c] : 0.0) >= most - SR__SHARE_TIE;
  return own >= most - SR__SHARE_TIE ? sr__tie_loss(top) : 1.0;
}

double sr__row_loss(const sr_table_view *view, const int32_t *vote, int64_t row) {
  return sr__class_loss(vote[row], view->label[row]);
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
