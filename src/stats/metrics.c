/* How good predicted classes and shares are. */
#include <math.h>

#include "core/maths.h"
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
    log_loss -= sr__log_portable(fmax(share[in->truth[i]], least_share));
    rows++;
  }
  m->brier = rows ? brier / (double)rows : NAN;
  m->log_loss = rows ? log_loss / (double)rows : NAN;
}

/* Bins are open below and closed above, as in sr_calibration_error. */
static void calibration(const sr_metrics_input *in, sr_metrics *m) {
  double share[SR_CALIBRATION_BINS] = {0}, right[SR_CALIBRATION_BINS] = {0};
  m->ece = 0.0;
  for (int64_t i = 0; i < in->rows; i++) {
    const float *p = in->share + i * in->classes;
    int32_t top = 0;
    if (in->truth[i] < 0 || in->vote[i] < 0) continue;
    for (int32_t c = 1; c < in->classes; c++)
      if (p[c] > p[top]) top = c;
    int32_t bin = (int32_t)ceil((double)p[top] * SR_CALIBRATION_BINS) - 1;
    bin = bin < 0 ? 0 : bin >= SR_CALIBRATION_BINS ? SR_CALIBRATION_BINS - 1 : bin;
    share[bin] += (double)p[top];
    right[bin] += in->truth[i] == top;
    m->calibration[bin].rows++;
  }
  for (int b = 0; b < SR_CALIBRATION_BINS; b++) {
    sr_calibration_bin *bin = &m->calibration[b];
    if (!bin->rows) continue;
    bin->share = share[b] / (double)bin->rows;
    bin->right = right[b] / (double)bin->rows;
    m->ece += fabs(share[b] - right[b]) / (double)m->rows;
  }
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
  for (int b = 0; b < SR_CALIBRATION_BINS; b++)
    metrics->calibration[b] = (sr_calibration_bin){0, NAN, NAN};
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
  calibration(input, metrics);
cleanup:
  if (counted != confusion) sr__free(ctx, counted);
  return status;
}
