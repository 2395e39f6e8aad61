/* The dense symmetric eigenproblem, by LAPACK with our memory. */
#include <lapacke.h>

#include "dependence.h"

sr_status sr__symmetric_top(sr_context *ctx, double *matrix, int32_t size, int32_t count,
                            double *value, double *vector) {
  sr_status status = SR_OK;
  double *w = NULL, *work = NULL, *z = NULL;
  lapack_int *support = NULL, *iwork = NULL, found = 0;
  lapack_int work_size = 33 * size, iwork_size = 10 * size;
  SR_NEW(ctx, w, size);
  SR_NEW(ctx, work, work_size);
  SR_NEW(ctx, iwork, iwork_size);
  SR_NEW(ctx, support, 2 * (int64_t)size);
  SR_NEW(ctx, z, vector ? (int64_t)size * count : 1);
  lapack_int info = LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, vector ? 'V' : 'N', 'I', 'U', size,
                                        matrix, size, 0.0, 0.0, size - count + 1, size, 0.0, &found,
                                        w, z, size, support, work, work_size, iwork, iwork_size);
  if (info != 0 || found != count)
    SR_TRY(sr__fail(ctx, SR_ERROR_INTERNAL,
                    "LAPACK found %d of %d eigenvalues of a %d x %d matrix (info %d)", (int)found,
                    count, size, size, (int)info));
  for (int32_t k = 0; k < count; k++) {
    value[k] = w[count - 1 - k];
    if (vector)
      memcpy(vector + (int64_t)k * size, z + (int64_t)(count - 1 - k) * size,
             (size_t)size * sizeof *z);
  }
cleanup:
  sr__free(ctx, w);
  sr__free(ctx, work);
  sr__free(ctx, iwork);
  sr__free(ctx, support);
  sr__free(ctx, z);
  return status;
}
