/* Does the mean wander from the first rows to the last? */
#include <math.h>

#include "dependence.h"

enum { PARTS = 20 };

typedef struct drift_job {
  const sr__columns *columns;
  sr__drift *each; /* a column */
} drift_job;

/* Straight line through the means of twenty parts. The parts' own scatter about the line is the
 * yardstick, so dependence inside a part is paid for; what is left between neighboring parts
 * widens the error by its first-order inflation. */
static sr_status measure_column(sr_context *ctx, void *data, int64_t j, int slot) {
  (void)slot;
  drift_job *job = data;
  const float *x = job->columns->value + j * job->columns->n;
  double mean[PARTS], slope = 0.0, moment = 0.0, square = 0.0, neighbor = 0.0, average = 0.0;
  for (int p = 0; p < PARTS; p++) {
    int64_t from = job->columns->n * p / PARTS, to = job->columns->n * (p + 1) / PARTS;
    mean[p] = 0.0;
    for (int64_t t = from; t < to; t++) mean[p] += (double)x[t];
    mean[p] /= (double)(to - from);
    average += mean[p] / PARTS;
  }
  for (int p = 0; p < PARTS; p++) {
    double at = (p + 0.5) / PARTS - 0.5;
    slope += at * mean[p];
    moment += at * at;
  }
  slope /= moment;
  double before = 0.0;
  for (int p = 0; p < PARTS; p++) {
    double residual = mean[p] - average - slope * ((p + 0.5) / PARTS - 0.5);
    square += residual * residual;
    neighbor += p ? residual * before : 0.0;
    before = residual;
  }
  double r = square > 0.0 ? fmin(fmax(neighbor / square, 0.0), 0.9) : 0.0;
  double error = sqrt(square / (PARTS - 2) / moment * (1.0 + r) / (1.0 - r));
  job->each[j] = (sr__drift){slope, error > 0.0 ? slope / error : 0.0, job->columns->feature[j]};
  return sr__check_interrupt(ctx);
}

sr_status sr__drift_measure(sr_context *ctx, const sr__columns *columns, sr__drift *drift) {
  sr_status status = SR_OK;
  drift_job job = {.columns = columns};
  *drift = (sr__drift){NAN, NAN, -1};
  if (columns->n < 10 * PARTS) goto cleanup;
  SR_NEW(ctx, job.each, columns->count);
  SR_TRY(sr__parallel_for(ctx, columns->count, measure_column, &job));
  for (int64_t j = 0; j < columns->count; j++)
    if (drift->feature < 0 || fabs(job.each[j].score) > fabs(drift->score)) *drift = job.each[j];
cleanup:
  sr__free(ctx, job.each);
  return status;
}
