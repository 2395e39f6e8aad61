/* Every call of a dense library that the linear solvers make. Matrices of doubles are column-major;
 * the library decides the last bits. Internal to src/learner/linear. */
#ifndef SR_LEARNER_DENSE_CALLS_H
#define SR_LEARNER_DENSE_CALLS_H

#include "core/core.h"

enum { SR__GRAM_PANEL = 512 /* columns */ };

/* Upper triangle of gram (n x n) += sign Z'Z, Z having k rows of n values, `stride` apart. Products
 * are floats, sums doubles. `panel`: n x SR__GRAM_PANEL floats of scratch. */
void sr__gram_add_floats(int64_t n, int64_t k, const float *z, int64_t stride, double sign,
                         double *gram, float *panel);
void sr__gram_add_doubles(int64_t n, int64_t k, const double *z, int64_t stride, double sign,
                          double *gram);
/* out[f * targets + t] = sum over i of z[f * stride + i] c[t * n + i], f < k. */
void sr__gram_project_floats(int64_t n, int64_t k, int64_t targets, const float *z, int64_t stride,
                             const float *c, float *out);
void sr__gram_project_doubles(int64_t n, int64_t k, int64_t targets, const double *z,
                              int64_t stride, const double *c, double *out);

/* The lower triangle of a positive definite matrix becomes its Cholesky factor; false where it is
 * not positive definite. The upper triangle is left alone. */
bool sr__factor_lower(int64_t n, double *a);
/* Columns of b (n x columns) := A^-1 b, with the factor of A. */
void sr__factor_solve(int64_t n, int64_t columns, const double *factor, double *b);
/* The factor becomes its inverse. */
bool sr__factor_invert(int64_t n, double *factor);
/* Lower triangle of h (m x m) += B'B, B having k rows, `stride` from column to column. */
void sr__square_add(int64_t m, int64_t k, const double *b, int64_t stride, double *h);
/* B := M B with M the lower triangle of an n x n matrix, B n x columns. */
void sr__lower_times(int64_t n, int64_t columns, const double *m, double *b);

#endif
