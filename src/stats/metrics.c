/* How good predicted classes and shares are. */
#include <math.h>

#include "stats.h"

static void count_confusion(const sr_metrics_input *in, int64_t *confusion, int64_t *rows) {
  memset(confusion, 0, (size_t)in->classes * (size_t)in->classes * sizeof *confusion);
  *rows = 0;
  for (int64_t i = 0; i < in->rows; i++) {
    if (in->truth[i] < 0 || in->vote[i] < 0) continue;
    confusion[(int64_t)in->truth[i] * in->classes + in->vote[i]]++;
    ++*rows;
  }
}

/* Means over the classes that occur: of the recall, and of 2 tp / (2 tp + fp + fn). */
static void class_means(const int64_t *confusion, int32_t classes, sr_metrics *m) {
  double recall = 0.0, f1 = 0.0;
  int32_t occurring = 0, named = 0;
  int64_t right = 0, all = 0;
  for (int32_t c = 0; c < classes; c++) {
    int64_t hits = confusion[(int64_t)c * classes + c], truth = 0, votes = 0;
    for (int32_t k = 0; k < classes; k++) {
      truth += confusion[(int64_t)c * classes + k];
      votes += confusion[(int64_t)k * classes + c];
    }
    right += hits;
    all += truth;
    if (truth > 0) {
      recall += (double)hits / (double)truth;
      occurring++;
    }
    if (truth + votes > 0) {
      f1 += 2.0 * (double)hits / (double)(truth + votes);
      named++;
    }
  }
  m->error = all ? 1.0 - (double)right / (double)all : NAN;
  m->balanced_accuracy = occurring ? recall / occurring : NAN;
  m->macro_f1 = named ? f1 / named : NAN;
}

/* The chance that a row of class c has a larger share of c than a row of another class, ties
 * counted half: from the ranks of the shares. NaN where one side is empty. */
static double class_auc(const sr_metrics_input *in, int32_t c, double *value, int64_t *order,
                        double *rank) {
  int64_t count = 0, inside = 0;
  double sum = 0.0;
  for (int64_t i = 0; i < in->rows; i++)
    if (in->truth[i] >= 0 && in->vote[i] >= 0) value[count++] = in->share[i * in->classes + c];
  sr__average_ranks(count, value, order, rank);
  count = 0;
  for (int64_t i = 0; i < in->rows; i++) {
    if (in->truth[i] < 0 || in->vote[i] < 0) continue;
    if (in->truth[i] == c) {
      sum += rank[count];
      inside++;
    }
    count++;
  }
  int64_t outside = count - inside;
  if (inside == 0 || outside == 0) return NAN;
  return (sum - 0.5 * (double)inside * (double)(inside + 1)) / ((double)inside * (double)outside);
}

static sr_status mean_auc(sr_context *ctx, const sr_metrics_input *in, double *auc) {
  sr_status status = SR_OK;
  double *value = NULL, *rank = NULL, sum = 0.0;
  int64_t *order = NULL;
  int32_t told = 0;
  SR_NEW(ctx, value, in->rows);
  SR_NEW(ctx, rank, in->rows);
  SR_NEW(ctx, order, in->rows);
  /* With two classes both sides say the same. */
  for (int32_t c = in->classes == 2; c < in->classes; c++) {
    double one = class_auc(in, c, value, order, rank);
    if (isnan(one)) continue;
    sum += one;
    told++;
  }
  *auc = told ? sum / told : NAN;
cleanup:
  sr__free(ctx, value);
  sr__free(ctx, rank);
  sr__free(ctx, order);
  return status;
}

/* Shares of votes may be 0 where the class came: log loss is that of shares held above this. */
static const double least_share = 1e-7;

static void share_losses(const sr_metrics_input *in, sr_metrics *m) {
  double brier = 0.0, log_loss = 0.0;
  int64_t rows = 0;
  for (int64_t i = 0; i < in->rows; i++) {
    if (in->truth[i] < 0 || in->vote[i] < 0) continue;
    const float *share = in->share + i * in->classes;
    for (int32_t c = 0; c < in->classes; c++) {
      double miss = (c == in->truth[i]) - (double)share[c];
      brier += miss * miss;
    }
    log_loss -= log(fmax(share[in->truth[i]], least_share));
    rows++;
  }
  m->brier = rows ? brier / (double)rows : NAN;
  m->log_loss = rows ? log_loss / (double)rows : NAN;
}

static sr_status calibration(sr_context *ctx, const sr_metrics_input *in, int64_t judged,
                             double *ece) {
  sr_status status = SR_OK;
  float *share = NULL;
  int32_t *truth = NULL;
  int64_t count = 0;
  SR_NEW(ctx, share, judged * in->classes);
  SR_NEW(ctx, truth, judged);
  for (int64_t i = 0; i < in->rows; i++) {
    if (in->truth[i] < 0 || in->vote[i] < 0) continue;
    memcpy(share + count * in->classes, in->share + i * in->classes,
           (size_t)in->classes * sizeof *share);
    truth[count++] = in->truth[i];
  }
  SR_TRY(sr_calibration_error(ctx, judged, in->classes, share, truth, 15, ece));
cleanup:
  sr__free(ctx, share);
  sr__free(ctx, truth);
  return status;
}

sr_status sr_metrics_compute(sr_context *ctx, const sr_metrics_input *input, sr_metrics *metrics,
                             int64_t *confusion) {
  sr_status status = SR_OK;
  int64_t *counted = confusion;
  *metrics = (sr_metrics){.error = NAN,
                          .balanced_accuracy = NAN,
                          .macro_f1 = NAN,
                          .auc = NAN,
                          .brier = NAN,
                          .log_loss = NAN,
                          .ece = NAN};
  if (input->classes < 1)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "classes is %d, expected 1 or more", input->classes);
  for (int64_t i = 0; i < input->rows; i++) {
    if (input->truth[i] < input->classes && input->vote[i] < input->classes) continue;
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "row %lld has a class beyond the %d there are",
                    (long long)i, input->classes);
  }
  if (!counted) SR_NEW(ctx, counted, (int64_t)input->classes * input->classes);
  count_confusion(input, counted, &metrics->rows);
  class_means(counted, input->classes, metrics);
  if (!input->share || metrics->rows == 0) goto cleanup;
  share_losses(input, metrics);
  SR_TRY(mean_auc(ctx, input, &metrics->auc));
  SR_TRY(calibration(ctx, input, metrics->rows, &metrics->ece));
cleanup:
  if (counted != confusion) sr__free(ctx, counted);
  return status;
}
