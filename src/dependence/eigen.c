/* The largest eigenpairs of a symmetric matrix, largest first. */
#include "core/dense.h"
#include "dependence.h"

sr_status sr__symmetric_top(sr_context *ctx, double *matrix, int32_t size, int32_t count,
                            double *value, double *vector) {
  sr_status status = SR_OK;
  double *up = NULL, *rows = NULL;
  SR_NEW(ctx, up, count);
  if (vector) SR_NEW(ctx, rows, (int64_t)count * size);
  sr__eigenpairs top = {size - count, count, up, rows};
  SR_TRY(sr__plain_eigen(ctx, size, matrix, &top));
  for (int32_t k = 0; k < count; k++) {
    value[k] = up[count - 1 - k];
    if (vector)
      memcpy(vector + (int64_t)k * size, rows + (int64_t)(count - 1 - k) * size,
             (size_t)size * sizeof *rows);
  }
cleanup:
  sr__free(ctx, up);
  sr__free(ctx, rows);
  return status;
}
