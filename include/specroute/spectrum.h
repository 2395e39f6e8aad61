/* Smallest eigenpairs of the normalized Laplacian I - D^(-1/2) W D^(-1/2). */
#ifndef SPECROUTE_SPECTRUM_H
#define SPECROUTE_SPECTRUM_H

#include <specroute/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sr_spectrum sr_spectrum;

typedef struct sr_spectrum_view {
  int64_t nodes;
  int32_t pairs;        /* non-trivial pairs: lambda_2, lambda_3, ... */
  const double *value;  /* increasing */
  const double *vector; /* pair p at vector + p * nodes: x = D^(-1/2) v, the generalised form L x =
                           lambda D x, with x' D x = 1 */
  double residual;      /* |L v - lambda v| of the first pair, |v| = 1 */
  int64_t iterations;
  const char *solver;
  int64_t components;    /* of the graph; the pair is that of the largest where there are several */
  double effective_rank; /* Nystrom only, else 0 */
} sr_spectrum_view;

typedef struct sr_spectrum_options {
  const char *solver;     /* NULL or "auto", or a name of the registry: dense, window, lanczos,
                             multilevel, nystrom, arpack */
  int32_t pairs;          /* 1 */
  double tolerance;       /* relative error asked of lambda_2: 1e-6 */
  int64_t max_iterations; /* 0 = the solver's own */
  int32_t landmarks;      /* Nystrom */
  int leverage;           /* Nystrom: landmarks by leverage, else uniform */
  double bandwidth;       /* Nystrom: 0 = median distance of the landmarks */
  uint64_t seed;
} sr_spectrum_options;

SR_API void sr_spectrum_options_init(sr_spectrum_options *options);
/* SR_ERROR_NOT_CONVERGED still gives a spectrum with the best pair found. */
SR_API SR_MUST_CHECK sr_status sr_spectrum_compute(sr_context *ctx, const sr_graph *graph,
                                                   const sr_spectrum_options *options,
                                                   sr_spectrum **spectrum);
/* The Fiedler pair of another graph: every two rows of the table joined with the weight
 * exp(-|a - b|^2 / (2 bandwidth^2)) of their standardised features (missing = the mean), as
 * approximated from `landmarks` rows. That graph is dense and its lambda_2 is set by the bandwidth,
 * so it is no replacement for sr_spectrum_compute on a sparse graph. Takes O(rows landmarks^2) time
 * and O(rows + 16 landmarks^2) memory. effective_rank = (sum of the kernel's eigenvalues) / (the
 * largest); residual is 0. Errors: SR_ERROR_DATA where approximate degrees are not positive: use
 * more landmarks or a larger bandwidth. */
SR_API SR_MUST_CHECK sr_status sr_spectrum_nystrom(sr_context *ctx, const sr_table *table,
                                                   const sr_spectrum_options *options,
                                                   sr_spectrum **spectrum);
SR_API void sr_spectrum_free(sr_spectrum **spectrum);
SR_API const sr_spectrum_view *sr_spectrum_get(const sr_spectrum *spectrum);
SR_API const sr_method_info *sr_spectrum_solver(int index);

#ifdef __cplusplus
}
#endif
#endif
