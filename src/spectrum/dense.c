/* Small dense eigenproblems. */
#include <math.h>

#include "core/dense.h"
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
  int64_t n = graph->nodes;
  double *a = NULL, *scale = NULL, *value = NULL, *vector = NULL;
  SR_NEW_ZERO(ctx, a, n * n);
  SR_NEW(ctx, scale, n);
  SR_NEW(ctx, value, wanted + 1);
  SR_NEW(ctx, vector, n * (wanted + 1));
  fill_normalized(graph, a, scale);
  sr__eigenpairs pairs = {.count = wanted + 1, .value = value, .vector = vector};
  SR_TRY(sr__plain_eigen(ctx, n, a, &pairs));
  for (int32_t p = 0; p < wanted; p++) {
    values[p] = value[p + 1];
    for (int64_t i = 0; i < n; i++) vectors[p * n + i] = vector[(p + 1) * n + i] * scale[i];
  }
cleanup:
  sr__free(ctx, a);
  sr__free(ctx, scale);
  sr__free(ctx, value);
  sr__free(ctx, vector);
  return status;
}

bool sr__small_pencil(int size, double *b, double *a, int wanted, double *theta, double *vectors) {
  double value[3 * SR__BLOCK_MAX];
  _Static_assert(3 * (int)SR__BLOCK_MAX <= (int)SR__DENSE_SMALL, "small problems only");
  if (!sr__small_pencil_pairs(size, b, a, value)) return false;
  for (int w = 0; w < wanted; w++) {
    theta[w] = value[size - 1 - w];
    memcpy(vectors + w * size, b + (size - 1 - w) * size, (size_t)size * sizeof *b);
  }
  return true;
}
