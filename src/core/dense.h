/* Dense algebra: the one door to BLAS and LAPACK. Internal.
 *
 * What has at most SR__DENSE_SMALL unknowns, and every eigenproblem of which few pairs are wanted,
 * is solved by plain code of our own: the same bytes on every machine, and no memory but the
 * caller's. Larger products, factors and whole eigenproblems go to BLAS and LAPACK, which decide
 * the last bits. Around each such call BLAS is set to one thread, and set back; the buffer that it
 * would map is tried first, since OpenBLAS asks for ever where it is refused. All functions give
 * SR_ERROR_MEMORY where that fails; long ones look for interrupts. */
#ifndef SR_CORE_DENSE_H
#define SR_CORE_DENSE_H

#include "core/core.h"

enum { SR__DENSE_SMALL = 64 };

/* For a library that calls BLAS by itself: claims what it needs and sets it to one thread, until
 * sr__blas_end. Not to be nested with other calls of this file in the same thread. */
SR_MUST_CHECK sr_status sr__blas_begin(sr_context *ctx);
void sr__blas_end(void);

/* ---- products of row-major matrices --------------------------------------------------------- */

typedef struct sr__factor_view {
  const double *at;
  int64_t row; /* from row to row, as stored */
  bool transposed;
} sr__factor_view;

/* A product is rows x columns; its factors have `inner` columns and rows. */
typedef struct sr__product_shape {
  int64_t rows, columns, inner;
} sr__product_shape;

typedef struct sr__product_view {
  double *at;
  int64_t row; /* from row to row */
  bool add;    /* to what stands there */
} sr__product_view;

/* C := A B or C += A B; A is rows x inner and B inner x columns, once transposed where asked. */
SR_MUST_CHECK sr_status sr__dense_multiply(sr_context *ctx, sr__product_shape shape,
                                           sr__factor_view a, sr__factor_view b,
                                           sr__product_view c);
typedef struct sr__float_view {
  const float *at;
  int64_t row;
  bool transposed;
} sr__float_view;
/* C := A B, the rows of C one behind the other. */
SR_MUST_CHECK sr_status sr__dense_multiply_floats(sr_context *ctx, sr__product_shape shape,
                                                  sr__float_view a, sr__float_view b, float *c);

/* One triangle of a matrix of `side` rows, one behind the other. */
typedef enum sr__triangle { SR__UPPER, SR__LOWER } sr__triangle;
typedef struct sr__triangle_view {
  sr__triangle triangle;
  int64_t side;
  double *at;
} sr__triangle_view;

/* C += sign A A', A being side x inner once transposed where asked. */
SR_MUST_CHECK sr_status sr__dense_square(sr_context *ctx, double sign, sr__factor_view a,
                                         int64_t inner, sr__triangle_view c);

/* ---- positive definite systems, column-major ------------------------------------------------ */

/* The lower triangle of a (n x n) becomes its Cholesky factor; *definite is false where it is not
 * positive definite. The upper triangle is left alone. */
SR_MUST_CHECK sr_status sr__dense_factor(sr_context *ctx, int64_t n, double *a, bool *definite);
/* Columns of b (n x columns) := A^-1 b, with the factor of A. */
SR_MUST_CHECK sr_status sr__dense_factor_solve(sr_context *ctx, int64_t n, int64_t columns,
                                               const double *factor, double *b);
/* The factor becomes its inverse. */
SR_MUST_CHECK sr_status sr__dense_factor_invert(sr_context *ctx, int64_t n, double *factor);
/* B := M B with M the lower triangle of an n x n matrix, B n x columns. */
SR_MUST_CHECK sr_status sr__dense_lower_times(sr_context *ctx, int64_t n, int64_t columns,
                                              const double *m, double *b);

/* ---- by plain code at any size: no BLAS ----------------------------------------------------- */

/* As sr__dense_factor and sr__dense_factor_solve. */
SR_MUST_CHECK sr_status sr__plain_factor(sr_context *ctx, int64_t n, double *a, bool *definite);
void sr__plain_factor_solve(int64_t n, int64_t columns, const double *factor, double *b);
/* The factor becomes its inverse. */
SR_MUST_CHECK sr_status sr__plain_factor_invert(sr_context *ctx, int64_t n, double *factor);
/* The lower triangle becomes that of the inverse. */
SR_MUST_CHECK sr_status sr__plain_invert(sr_context *ctx, int64_t n, double *a, bool *definite);
/* A band of `width` below the diagonal, column i at band + i * (width + 1): its factor, false where
 * it is not positive definite; and x := A^-1 x. */
SR_MUST_CHECK sr_status sr__plain_band_factor(sr_context *ctx, int64_t n, int64_t width,
                                              double *band, bool *definite);
void sr__plain_band_solve(int64_t n, int64_t width, const double *band, double *x);

/* Sum of a[i] * b[i] in a fixed order, float products with double totals. */
double sr__dot(const float *a, const float *b, int64_t count);

/* ---- symmetric eigenproblems ---------------------------------------------------------------- */

/* All pairs of the symmetric matrix a (n x n, both triangles filled), increasing; row j of a
 * becomes the vector of value[j]. Of one sign or the other. BLAS where n is large. */
SR_MUST_CHECK sr_status sr__dense_eigen(sr_context *ctx, int64_t n, double *a, double *value);
/* Pairs first .. first + count - 1 in increasing order. */
typedef struct sr__eigenpairs {
  int64_t first, count;
  double *value;
  double *vector; /* one after another; NULL: values alone */
} sr__eigenpairs;
/* Fills value and vector by plain code. a (both triangles) is overwritten. n^3 for few pairs. */
SR_MUST_CHECK sr_status sr__plain_eigen(sr_context *ctx, int64_t n, double *a,
                                        const sr__eigenpairs *pairs);
/* All pairs of B c = value A c for small matrices, n <= SR__DENSE_SMALL, both triangles filled:
 * rows of b become the vectors with c'Ac = 1, increasing. False where A is not positive definite
 * or the values do not settle. Needs no context: it has its room on the stack. */
bool sr__small_pencil_pairs(int64_t n, double *b, double *a, double *value);
/* All pairs of a small symmetric matrix, as sr__dense_eigen. */
bool sr__small_eigen(int64_t n, double *a, double *value);

#endif
