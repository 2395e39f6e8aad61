#include "interval_learner.h"

#include "learner/labeled_bag.h"
#include "learner/series/table_series.h"

void sr__interval_learner_free_training(sr__training *training) {
  if (!training) return;
  sr_allocator allocator = training->allocator;
  training->learner->free_encoded(training->rows);
  sr__release(&allocator, training->label);
  sr__release(&allocator, training);
}

sr_status sr__interval_learner_prepare(sr_context *ctx, const sr_table *table,
                                       const sr__learner *learner, sr__interval_preparer prepare,
                                       sr__encoder **encoder, sr__training **training) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  sr__training *made = NULL;
  sr__series_view series;
  *encoder = NULL;
  *training = NULL;
  SR_TRY(sr__refuse_weights(ctx, view, learner->about.name));
  SR_TRY(sr__table_series(ctx, table, view->channels, &series));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->learner = learner;
  SR_TRY(sr__copy_labels(ctx, view, &made->label));
  SR_TRY(prepare(ctx, &series, view->classes.count, encoder, &made->rows));
  *training = made;
  made = NULL;
cleanup:
  sr__interval_learner_free_training(made);
  return status;
}

const sr__encoded *sr__interval_learner_training_encoded(const sr__training *training) {
  return training->rows;
}

int64_t sr__interval_learner_features(const sr__encoder *encoder) {
  (void)encoder;
  return 0;
}
