#include "witness.h"

#include <math.h>
#include <stdlib.h>

/* Replicates of test rows start here, so that they never meet those of training rows. */
static const uint64_t first_test_replicate = 1000000;

const char *witness_noise_name(noise_kind kind) { return kind == NOISE_AR ? "ar" : "iid"; }

void witness_text(const witness *w, char text[WITNESS_TEXT]) {
  snprintf(text, WITNESS_TEXT, "ar1:n=%lld,d=%d,tmix=%.17g,noise=%.17g,noise_kind=%s",
           (long long)w->rows, w->features, w->tmix, w->noise_sd,
           witness_noise_name(w->noise_kind));
}

sr_status witness_train(sr_context *ctx, const witness *w, const planned *p, uint64_t seed,
                        uint64_t replicate, sr_ensemble **ensemble) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  char text[WITNESS_TEXT];
  sr_train_options t;
  sr_train_options_init(&t);
  t.evaluate.evaluate = 0;
  t.plan = p->plan;
  t.members = w->members;
  if (p->learner) t.learner = p->learner;
  if (p->knows_tmix) t.structure.tmix = w->tmix;
  *ensemble = NULL;
  witness_text(w, text);
  SR_TRY(sr_simulate(ctx, text, seed, replicate, &table, NULL));
  SR_TRY(sr_train(ctx, table, &t, seed * 1000003 + replicate, ensemble));
cleanup:
  sr_table_free(&table);
  return status;
}

sr_status witness_test_rows(sr_context *ctx, const witness *w, uint64_t seed, int64_t rows,
                            sr_table **table, double **contrast) {
  sr_status status = SR_OK;
  witness independent = *w;
  char text[WITNESS_TEXT];
  independent.rows = rows;
  independent.tmix = 1.0;
  witness_text(&independent, text);
  *table = NULL;
  *contrast = malloc((size_t)rows * sizeof **contrast);
  if (!*contrast) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(sr_simulate(ctx, text, seed, first_test_replicate, table, NULL));
  SR_TRY(sr_simulate_contrast(ctx, text, seed, *table, *contrast));
cleanup:
  return status;
}

sr_status witness_excess_risk(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *test,
                              const double *contrast, double *risk) {
  sr_status status = SR_OK;
  int64_t rows = sr_table_get(test)->rows;
  int32_t *label = malloc((size_t)rows * sizeof *label);
  double sum = 0.0;
  if (!label) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(sr_ensemble_predict(ctx, ensemble, test, label, NULL));
  for (int64_t i = 0; i < rows; i++)
    if ((label[i] == 1) != (contrast[i] > 0.0)) sum += fabs(contrast[i]);
  *risk = sum / (double)rows;
cleanup:
  free(label);
  return status;
}

sr_status witness_measure(sr_context *ctx, const witness *w, const planned *p,
                          const experiment_unit *unit, int64_t test_rows, measurement *out) {
  sr_status status = SR_OK;
  sr_table *test = NULL;
  sr_ensemble *ensemble = NULL;
  double *contrast = NULL, risk = NAN;
  SR_TRY(witness_train(ctx, w, p, unit->seed, 0, &ensemble));
  SR_TRY(witness_test_rows(ctx, w, unit->seed, test_rows, &test, &contrast));
  SR_TRY(witness_excess_risk(ctx, ensemble, test, contrast, &risk));
  experiment_measure(out, "risk", risk);
  const sr_ensemble_view *view = sr_ensemble_get(ensemble);
  experiment_measure(out, "tmix", view->tmix);
  for (int32_t k = 0; k < view->mix[0].parameter_count; k++)
    experiment_measure(out, view->mix[0].parameters[k].name, view->mix[0].parameters[k].value);
cleanup:
  sr_table_free(&test);
  sr_ensemble_free(&ensemble);
  free(contrast);
  return status;
}
