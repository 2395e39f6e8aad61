/* Inner loops of the plain dense code at each vector level. Internal to src/core. */
#ifndef SR_CORE_DENSE_KERNEL_H
#define SR_CORE_DENSE_KERNEL_H

#include <stdint.h>

#include "core/isa.h"

typedef struct sr__dense_kernel {
  /* c[j] += sum over k of a[k * a_step] b[k * b_row + j] in the order of k, j < n. */
  void (*add_rows)(int64_t n, int64_t k, const double *a, int64_t a_step, const double *b,
                   int64_t b_row, double *c);
  /* Sum of x y by eight partial sums. */
  double (*dot)(int64_t n, const double *x, const double *y);
  /* The same of floats: floats in sixteen lanes, summed as doubles every 512 products. */
  double (*dot_floats)(int64_t n, const float *x, const float *y);
  /* y += factor x. */
  void (*add)(int64_t n, double factor, const double *x, double *y);
  /* (x, y) := (c x - s y, s x + c y). */
  void (*rotate)(int64_t n, double c, double s, double *x, double *y);
  /* a[j] -= v w[j] + w_here x[j]: one row of a symmetric rank-two update. */
  void (*rank_two)(int64_t n, double v_here, const double *w, double w_here, const double *v,
                   double *a);
} sr__dense_kernel;
SR__KERNEL_LEVELS(sr__dense_kernel)

#endif
