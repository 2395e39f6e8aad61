/* Scores of boosted trees as XGBoost adds them up: in floats, tree after tree. */
#include <math.h>

#include "boost.h"

void sr__boost_free(const sr_allocator *allocator, sr__boost_model *model) {
  sr__release(allocator, model->seen);
  sr__release(allocator, model->root);
  sr__release(allocator, model->node);
  *model = (sr__boost_model){0};
}

static float leaf_of(const sr__boost_node *node, int64_t at, const float *x) {
  while (node[at].feature >= 0) {
    float value = x[node[at].feature];
    bool left = isnan(value) ? node[at].missing_left : value < node[at].value;
    at = node[at].child + !left;
  }
  return node[at].value;
}

/* XGBoost begins at a probability of .5, which is a score of 0 for two classes; for more it takes
 * the number itself. */
void sr__boost_score(const sr__boost_model *model, const float *x, float *score) {
  int32_t scores = sr__boost_scores(model);
  for (int32_t s = 0; s < scores; s++) score[s] = scores > 1 ? 0.5f : 0.0f;
  for (int64_t t = 0, s = 0; t < model->trees; t++, s = s + 1 == scores ? 0 : s + 1)
    score[s] += leaf_of(model->node, model->root[t], x);
}

void sr__boost_shares(const sr__boost_model *model, const float *score, float *share) {
  int32_t seen = model->seen_count;
  if (seen == 1) {
    share[0] = 1.0f;
  } else if (seen == 2) {
    float exponent = -score[0] < 88.7f ? -score[0] : 88.7f;
    share[1] = 1.0f / (expf(exponent) + 1.0f + 1e-16f);
    share[0] = 1.0f - share[1];
  } else {
    float largest = score[0];
    double sum = 0.0;
    for (int32_t s = 1; s < seen; s++) largest = fmaxf(largest, score[s]);
    for (int32_t s = 0; s < seen; s++) sum += share[s] = expf(score[s] - largest);
    for (int32_t s = 0; s < seen; s++) share[s] /= (float)sum;
  }
}
