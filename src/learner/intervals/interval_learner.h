/* What the learners on intervals of a series have in common. Internal to src/learner. */
#ifndef SR_LEARNER_INTERVALS_INTERVAL_LEARNER_H
#define SR_LEARNER_INTERVALS_INTERVAL_LEARNER_H

#include "even_series.h"
#include "learner/learner.h"

/* Rows are counted, not weighed. */
struct sr__training {
  sr_allocator allocator;
  const sr__learner *learner;
  sr__encoded *rows;
  int32_t *label; /* -1: missing, passed over */
};

/* Encoder and encoded rows of a training set. */
typedef sr_status (*sr__interval_preparer)(sr_context *ctx, const sr__series_view *series,
                                           int32_t classes, sr__encoder **encoder,
                                           sr__encoded **rows);
SR_MUST_CHECK sr_status sr__interval_learner_prepare(sr_context *ctx, const sr_table *table,
                                                     const sr__learner *learner,
                                                     sr__interval_preparer prepare,
                                                     sr__encoder **encoder,
                                                     sr__training **training);

/* Operations that need no more than their arguments. */
const sr__encoded *sr__interval_learner_training_encoded(const sr__training *training);
int64_t sr__interval_learner_features(const sr__encoder *encoder);
void sr__interval_learner_free_training(sr__training *training);

#define SR__INTERVAL_LEARNER_OPERATIONS                                                        \
  .flags = SR_LEARNER_TAKES_SERIES, .training_encoded = sr__interval_learner_training_encoded, \
  .features = sr__interval_learner_features, .free_training = sr__interval_learner_free_training

#endif
