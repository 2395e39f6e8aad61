/* The K-cycle in single precision: Gauss-Seidel inside chunks, aggregation, and up to two steps of
 * flexible conjugate gradients on every coarse level. */
#include "cycle_kernel.h"

/* Levels with fewer chunks run faster on one thread than the pool wakes up. */
enum { CHUNKS_FOR_THREADS = 8 };

sr_status sr__run(sr_context *ctx, const sr__level *level, sr__item_fn kernel, void *pass,
                  double *sums, int count) {
  sr_status status = SR_OK;
  if (level->chunks < CHUNKS_FOR_THREADS) {
    for (int64_t c = 0; c < level->chunks; c++) SR_TRY(kernel(ctx, pass, c, 0));
  } else {
    SR_TRY(sr__parallel_for(ctx, level->chunks, kernel, pass));
  }
  for (int s = 0; s < count; s++) sums[s] = 0;
  for (int64_t c = 0; c < level->chunks; c++) {
    for (int s = 0; s < count; s++) sums[s] += level->partial[c * SR__SUMS + s];
  }
cleanup:
  return status;
}

/* ---- the cycle ---------------------------------------------------------------------------- */

/* A second step is taken unless the first reduced the residual to a quarter. */
static const double GOOD_ENOUGH = 0.0625;

/* z := up to two steps of conjugate gradients for L z = b, each preconditioned by a cycle. */
static sr_status inner_steps(sr_context *ctx, sr__hierarchy *h, int k) {
  sr_status status = SR_OK;
  sr__level *level = &h->level[k];
  const sr__cycle_kernel *kernel = sr__cycle_kernel_now();
  sr__pass pass = {.level = level};
  double one[3], two[3], rest;
  SR_TRY(sr__cycle(ctx, h, k, level->b));
  if (k == h->count - 1) goto cleanup;
  SR_TRY(sr__run(ctx, level, kernel->first_step, &pass, one, 3));
  if (!(one[0] > 0)) goto cleanup;
  double alpha = one[1] / one[0];
  pass.factor[0] = (float)alpha;
  SR_TRY(sr__run(ctx, level, kernel->subtract, &pass, &rest, 1));
  if (rest >= GOOD_ENOUGH * one[2]) {
    SR_TRY(sr__cycle(ctx, h, k, level->b));
    SR_TRY(sr__run(ctx, level, kernel->second_step, &pass, two, 3));
    double curvature = two[0] - two[2] * two[2] / one[0];
    if (curvature > 1e-30 * two[0]) {
      pass.factor[1] = (float)(two[1] / curvature);
      pass.factor[0] = (float)(alpha - two[2] * (two[1] / curvature) / one[0]);
    }
  }
  SR_TRY(sr__run(ctx, level, kernel->combine, &pass, NULL, 0));
cleanup:
  return status;
}

/* z := inverse b; the last level is one chunk. */
static void solve_dense(const sr__hierarchy *h, const float *b) {
  const sr__level *level = &h->level[h->count - 1];
  float in[SR__DENSE_MAX], out[SR__DENSE_MAX];
  for (int32_t j = 0; j < h->dense; j++) in[j] = b[sr__slot_of(h->dense, j)];
  sr__cycle_kernel_now()->multiply_dense(h->solve, h->dense, in, out);
  for (int32_t i = 0; i < h->dense; i++) level->z[sr__slot_of(h->dense, i)] = out[i];
}

sr_status sr__cycle(sr_context *ctx, sr__hierarchy *h, int k, const float *b) {
  sr_status status = SR_OK;
  if (k == h->count - 1) {
    solve_dense(h, b);
    return SR_OK;
  }
  const sr__cycle_kernel *kernel = sr__cycle_kernel_now();
  const sr__level *level = &h->level[k];
  sr__pass pass = {.level = level, .next = &h->level[k + 1], .in = b};
  SR_TRY(sr__run(ctx, level, kernel->relax_forward, &pass, NULL, 0));
  memset(pass.next->b, 0, (size_t)pass.next->slots * sizeof(float));
  SR_TRY(sr__run(ctx, level, kernel->restrict_residual, &pass, NULL, 0));
  SR_TRY(inner_steps(ctx, h, k + 1));
  SR_TRY(sr__run(ctx, level, kernel->prolong, &pass, NULL, 0));
  SR_TRY(sr__run(ctx, level, kernel->relax_backward, &pass, NULL, 0));
cleanup:
  return status;
}
