#include "tools.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_POINTS = 20000 };

sr_interval conclusion_slope(conclusion *c, case_row cases, const double *x,
                             const char *value_name) {
  sr_interval none = {NAN, NAN, NAN};
  sr_line_fit fit;
  int64_t used = 0;
  double *u = malloc(2 * MOST_POINTS * sizeof *u), *v = u + MOST_POINTS;
  if (!u) return none;
  for (int k = 0; k < cases.count; k++) {
    result_sample s = conclusion_sample(c, cases.first + k * cases.stride, value_name);
    for (int64_t i = 0; i < s.count && used < MOST_POINTS; i++) {
      if (!(s.value[i] > 0.0)) continue;
      u[used] = x[k];
      v[used++] = s.value[i];
    }
  }
  sr_status status = sr_fit_line(conclusion_context(c), used, u, v, 1, 0.95, &fit);
  free(u);
  return status == SR_OK ? fit.slope : none;
}

void conclusion_curve(conclusion *c, case_row cases, const char *value_name, curve to) {
  for (int k = 0; k < cases.count; k++) {
    result_sample s = conclusion_sample(c, cases.first + k * cases.stride, value_name);
    double error = s.count > 1 ? 1.96 * s.sd / sqrt((double)s.count) : 0.0;
    to.y[k] = s.mean;
    to.low[k] = s.mean - error;
    to.high[k] = s.mean + error;
  }
}

bool interval_holds(const sr_interval *interval, double value) {
  return interval->low <= value && value <= interval->high;
}

double experiment_pairwise_covariance(int replicates, int members, const double *sum,
                                      const double *sum_of_squares) {
  double r = replicates, m = members, inside = 0.0, total = 0.0, squares = 0.0;
  for (int k = 0; k < replicates; k++) {
    inside += (sum[k] * sum[k] - sum_of_squares[k]) / (m * (m - 1.0));
    total += sum[k] / m;
    squares += sum[k] / m * (sum[k] / m);
  }
  /* E V1 E V2 from pairs of different replicates, so that it is unbiased. */
  return inside / r - (total * total - squares) / (r * (r - 1.0));
}

sr_status experiment_solve_definite(int size, double *a, double *b) {
  for (int j = 0; j < size; j++) {
    for (int k = 0; k < j; k++)
      for (int i = j; i < size; i++) a[i * size + j] -= a[i * size + k] * a[j * size + k];
    if (!(a[j * size + j] > 0.0)) return SR_ERROR_DATA;
    double root = sqrt(a[j * size + j]);
    for (int i = j; i < size; i++) a[i * size + j] /= root;
  }
  for (int i = 0; i < size; i++) {
    for (int k = 0; k < i; k++) b[i] -= a[i * size + k] * b[k];
    b[i] /= a[i * size + i];
  }
  for (int i = size - 1; i >= 0; i--) {
    for (int k = i + 1; k < size; k++) b[i] -= a[k * size + i] * b[k];
    b[i] /= a[i * size + i];
  }
  return SR_OK;
}
