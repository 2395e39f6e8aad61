/* Thick-restart Lanczos on a connected graph. */
#ifndef SR_SPECTRUM_LANCZOS_H
#define SR_SPECTRUM_LANCZOS_H

#include "spectrum.h"

typedef struct sr__lanczos_options {
  int32_t pairs;
  double tolerance;     /* relative error asked of the values */
  int64_t max_products; /* with the matrix; 0 = as many as it takes, within reason */
  const double *start;  /* or NULL */
} sr__lanczos_options;

typedef struct sr__lanczos_result {
  double error;
  int64_t iterations; /* products with the matrix */
  bool converged;
} sr__lanczos_result;

/* x[p] and value[p] get the lowest pairs, x' D x = 1. */
SR_MUST_CHECK sr_status sr__lanczos_pairs(sr_context *ctx, const sr__csr *graph,
                                          const sr__lanczos_options *options, double *const *x,
                                          double *value, sr__lanczos_result *result);

#endif
