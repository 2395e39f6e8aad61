/* The future: trained on the past alone, with a gap, judged on the rows that follow. */
#include <math.h>

#include "interval.h"
#include "trial.h"

enum { ORIGINS = 5, LEAST_ROWS = 100 };
#define FORWARD_STREAM (UINT64_C(1) << 40)

/* Origins at 50, 60, .. 90 % of the rows; the next tenth is judged. */
static sr_status make_origins(sr_context *ctx, int64_t n, int64_t gap, sr__fold_rows **rows) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, *rows, ORIGINS);
  for (int32_t k = 0; k < ORIGINS; k++) {
    sr__fold_rows *to = &(*rows)[k];
    int64_t start = n * (ORIGINS + k) / (2 * ORIGINS), end = n * (ORIGINS + k + 1) / (2 * ORIGINS);
    int64_t train = start - gap > 1 ? start - gap : 1;
    SR_NEW(ctx, to->train, train);
    SR_NEW(ctx, to->test, end - start);
    for (int64_t i = 0; i < train; i++) to->train[i] = (int32_t)i;
    for (int64_t i = start; i < end; i++) to->test[i - start] = (int32_t)i;
    to->train_count = train;
    to->test_count = end - start;
  }
cleanup:
  if (status != SR_OK && *rows) {
    for (int32_t k = 0; k < ORIGINS; k++) sr__fold_rows_free(ctx, &(*rows)[k]);
    sr__free(ctx, *rows);
    *rows = NULL;
  }
  return status;
}

static sr_status keep_errors(sr_context *ctx, const sr__held *held, const sr__judged *judged,
                             double level, sr_evaluation *to) {
  sr_status status = SR_OK;
  double *error = NULL;
  sr__outlook outlook;
  SR_NEW_ZERO(ctx, error, ORIGINS);
  to->origin_error = error;
  to->origin_count = ORIGINS;
  for (int32_t k = 0; k < ORIGINS; k++) {
    for (int64_t i = held->first[k]; i < held->first[k + 1]; i++) error[k] += judged->loss[i];
    error[k] /= (double)(held->first[k + 1] - held->first[k]);
  }
  sr__outlook_of(error, ORIGINS, level, &outlook);
  to->forward = outlook.line.estimate;
  to->forward_low = outlook.line.low;
  to->forward_high = outlook.line.high;
  to->forward_mean = outlook.mean.estimate;
  to->forward_mean_low = outlook.mean.low;
  to->forward_mean_high = outlook.mean.high;
  to->forward_slope = outlook.slope;
cleanup:
  return status;
}

sr_status sr__look_forward(sr_context *ctx, const sr__evaluate_input *input,
                           const sr_evaluate_options *options, uint64_t seed,
                           sr_evaluation *evaluation) {
  sr_status status = SR_OK;
  sr__fold_rows *rows = NULL;
  sr__trial trial = {0};
  sr__judged judged = {0};
  int64_t n = input->prepared->view->rows;
  evaluation->forward = evaluation->forward_low = evaluation->forward_high = NAN;
  evaluation->forward_mean = evaluation->forward_mean_low = evaluation->forward_mean_high = NAN;
  evaluation->forward_slope = NAN;
  if (!options->forward || !input->trial || !sr__structure_is_series(input->structure) ||
      n < LEAST_ROWS)
    return SR_OK;
  SR_TRY(make_origins(ctx, n, sr_folds_get(input->folds)->buffer, &rows));
  sr__trial_folds on = {
      .rows = rows, .folds = ORIGINS, .seed = seed, .replicate = FORWARD_STREAM, .stage = "future"};
  SR_TRY(sr__trial_of_mix(ctx, input, on, &trial));
  SR_TRY(sr__trial_losses(ctx, &trial, &judged));
  SR_TRY(keep_errors(ctx, &trial.held, &judged, options->level, evaluation));
cleanup:
  sr__trial_free(ctx, &trial);
  sr__judged_free(ctx, &judged);
  return status;
}
