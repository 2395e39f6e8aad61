/* Small dense eigenproblems by LAPACK. */
#include <lapacke.h>
#include <math.h>

#include "multilevel.h"

/* The normalized Laplacian, column-major; scale[i] = D_i^(-1/2). */
static void fill_normalized(const sr__csr *graph, double *a, double *scale) {
  int64_t n = graph->nodes;
  for (int64_t i = 0; i < n; i++) {
    double mass = graph->mass ? graph->mass[i] : sr__csr_degree(graph, i);
    scale[i] = 1 / sqrt(mass);
  }
  for (int64_t i = 0; i < n; i++) {
    double degree = 0;
    for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++) {
      double w = graph->weight ? graph->weight[e] : 1;
      a[i * n + graph->neighbor[e]] -= w * scale[i] * scale[graph->neighbor[e]];
      degree += w;
    }
    a[i * n + i] += degree * scale[i] * scale[i];
  }
}

sr_status sr__dense_pairs(sr_context *ctx, const sr__csr *graph, int32_t wanted, double *values,
                          double *vectors) {
  sr_status status = SR_OK;
  int n = (int)graph->nodes, found = 0, *support = NULL, *integers = NULL, work_integers = 10 * n;
  double *a = NULL, *scale = NULL, *value = NULL, *vector = NULL, *work = NULL;
  int work_doubles = 34 * n;
  SR_NEW_ZERO(ctx, a, (int64_t)n * n);
  SR_NEW(ctx, scale, n);
  SR_NEW(ctx, value, n);
  SR_NEW(ctx, vector, (int64_t)n * (wanted + 1));
  SR_NEW(ctx, support, 2 * (int64_t)(wanted + 1));
  SR_NEW(ctx, work, work_doubles);
  SR_NEW(ctx, integers, work_integers);
  fill_normalized(graph, a, scale);
  int info =
      LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'U', n, a, n, 0, 0, 1, wanted + 1, 0, &found,
                          value, vector, n, support, work, work_doubles, integers, work_integers);
  if (info != 0 || found != wanted + 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_INTERNAL, "LAPACK dsyevr failed with %d on %d nodes", info, n));
  for (int32_t p = 0; p < wanted; p++) {
    values[p] = value[p + 1];
    for (int i = 0; i < n; i++)
      vectors[(int64_t)p * n + i] = vector[(int64_t)(p + 1) * n + i] * scale[i];
  }
cleanup:
  sr__free(ctx, a);
  sr__free(ctx, scale);
  sr__free(ctx, value);
  sr__free(ctx, vector);
  sr__free(ctx, support);
  sr__free(ctx, work);
  sr__free(ctx, integers);
  return status;
}

bool sr__small_pencil(int size, double *b, double *a, int wanted, double *theta, double *vectors) {
  double value[3 * SR__BLOCK_MAX], work[34 * 3 * SR__BLOCK_MAX];
  int info = LAPACKE_dsygv_work(LAPACK_COL_MAJOR, 1, 'V', 'U', size, b, size, a, size, value, work,
                                (int)(sizeof work / sizeof *work));
  if (info != 0) return false;
  for (int w = 0; w < wanted; w++) {
    theta[w] = value[size - 1 - w];
    memcpy(vectors + w * size, b + (size - 1 - w) * size, (size_t)size * sizeof *b);
  }
  return true;
}
