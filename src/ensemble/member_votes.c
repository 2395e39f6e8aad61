/* The answers of one member, and how they are counted. */
#include "ensemble.h"

sr_status sr__ask_member(sr_context *ctx, sr__member_votes *votes, const sr__member *member,
                         const sr__encoded *rows, const int32_t *index, int64_t count) {
  bool soft = votes->rule == SR_VOTE_SOFT;
  return votes->learner->predict(ctx, votes->encoder, member, rows, (sr__picked){index, count},
                                 (sr__answers){.vote = soft ? NULL : votes->vote,
                                               .share = soft ? votes->proba : NULL});
}

void sr__vote_add(const sr__member_votes *votes, int64_t i, float weight, float *tally) {
  if (votes->rule != SR_VOTE_SOFT) {
    tally[votes->vote[i]] += weight;
    return;
  }
  const float *proba = votes->proba + i * votes->classes;
  for (int32_t c = 0; c < votes->classes; c++) tally[c] += weight * proba[c];
}

int32_t sr__tally_winner(const float *tally, int32_t classes) {
  int32_t winner = -1;
  float most = 0.0f;
  for (int32_t c = 0; c < classes; c++) {
    if (tally[c] > most) {
      most = tally[c];
      winner = c;
    }
  }
  return winner;
}

int32_t sr__tally_settle(float *tally, int32_t classes, const float *offset) {
  float total = 0.0f;
  for (int32_t c = 0; c < classes; c++) total += tally[c];
  if (offset && total > 0.0f) {
    float moved = 0.0f;
    for (int32_t c = 0; c < classes; c++) {
      float share = tally[c] / total + offset[c];
      tally[c] = share > 0.0f ? share : 0.0f;
      moved += tally[c];
    }
    total = moved;
  }
  int32_t winner = sr__tally_winner(tally, classes);
  for (int32_t c = 0; c < classes; c++) tally[c] = total > 0.0f ? tally[c] / total : 0.0f;
  return winner;
}
