/* What the features leave of the labels: a least-squares fit of each class indicator. */
#include "core/dense.h"
#include "dependence.h"

enum { MOST_COLUMNS = 64 };

/* Ridge of a thousandth of the variance keeps collinear features harmless. */
static void gram(const sr__columns *x, const sr__columns *y, int64_t d, double *a, double *b) {
  int64_t n = x->n;
  for (int64_t i = 0; i < d; i++) {
    for (int64_t j = 0; j <= i; j++) a[j * d + i] = sr__dot(x->value + i * n, x->value + j * n, n);
    a[i * d + i] *= 1.001;
    for (int64_t c = 0; c < y->count; c++)
      b[c * d + i] = sr__dot(x->value + i * n, y->value + c * n, n);
  }
}

sr_status sr__columns_residuals(sr_context *ctx, const sr__columns *features, sr__columns *labels) {
  sr_status status = SR_OK;
  double *a = NULL, *b = NULL;
  bool definite = false;
  int64_t n = features->n, d = features->count < MOST_COLUMNS ? features->count : MOST_COLUMNS;
  if (d == 0 || labels->count == 0) goto cleanup;
  SR_NEW(ctx, a, d * d);
  SR_NEW(ctx, b, d * labels->count);
  gram(features, labels, d, a, b);
  SR_TRY(sr__plain_factor(ctx, d, a, &definite));
  if (!definite) goto cleanup; /* the labels stay as they are */
  sr__plain_factor_solve(d, labels->count, a, b);
  for (int64_t c = 0; c < labels->count; c++)
    for (int64_t j = 0; j < d; j++) {
      float weight = (float)b[c * d + j];
      const float *x = features->value + j * n;
      float *y = labels->value + c * n;
      const uint8_t *present = labels->present + c * n;
      for (int64_t i = 0; i < n; i++)
        if (present[i]) y[i] -= weight * x[i];
    }
cleanup:
  sr__free(ctx, a);
  sr__free(ctx, b);
  return status;
}
