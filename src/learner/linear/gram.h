/* Sums over rows that the linear solvers feed tile by tile. BLAS decides the last bits of large
 * ones. Internal to src/learner/linear. */
#ifndef SR_LEARNER_GRAM_H
#define SR_LEARNER_GRAM_H

#include "core/dense.h"

enum { SR__GRAM_PANEL = 512 /* columns */ };

/* Z: rows of n values. */
typedef struct sr__float_rows {
  const float *at;
  int64_t count;
  int64_t stride; /* from row to row */
} sr__float_rows;
typedef struct sr__double_rows {
  const double *at;
  int64_t count;
  int64_t stride;
} sr__double_rows;

/* Column-major upper triangle of gram (n x n) += sign Z'Z. Products are floats, sums doubles.
 * `panel`: n x SR__GRAM_PANEL floats of scratch. */
SR_MUST_CHECK sr_status sr__gram_add_floats(sr_context *ctx, int64_t n, sr__float_rows z,
                                            double sign, double *gram, float *panel);
SR_MUST_CHECK sr_status sr__gram_add_doubles(sr_context *ctx, int64_t n, sr__double_rows z,
                                             double sign, double *gram);
/* out[f * targets + t] = sum over i < n of row f of Z at i times c[t * n + i]. */
SR_MUST_CHECK sr_status sr__gram_project_floats(sr_context *ctx, int64_t n, int64_t targets,
                                                sr__float_rows z, const float *c, float *out);
SR_MUST_CHECK sr_status sr__gram_project_doubles(sr_context *ctx, int64_t n, int64_t targets,
                                                 sr__double_rows z, const double *c, double *out);
/* Column-major lower triangle of h (m x m) += B'B, B having k rows, `stride` from column to column.
 */
SR_MUST_CHECK sr_status sr__gram_add_columns(sr_context *ctx, int64_t m, int64_t k, const double *b,
                                             int64_t stride, double *h);

#endif
