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
  const double *vector; /* pair p at vector + p * nodes: x = D^(-1/2) v, the generalized form L x =
                           lambda D x, with x' D x = 1 */
  double residual;      /* |L v - lambda v| of the first pair, |v| = 1 */
  int64_t iterations;
  const char *solver;
  int64_t components;    /* of the graph; the pair is that of the largest where there are several */
  double effective_rank; /* Nystrom only, else 0 */
} sr_spectrum_view;

typedef struct sr_spectrum_options {
  const char *solver;     /* a method of the registry with its options; NULL = "auto" */
  int64_t pairs;          /* 1 */
  double tolerance;       /* relative error asked of lambda_2: 1e-6 */
  int64_t max_iterations; /* 0 = the solver's own */
} sr_spectrum_options;

/* The options with their defaults and ranges, a constant list that ends with a key of NULL. */
SR_API const sr_option *sr_spectrum_option_list(void);
SR_API void sr_spectrum_options_init(sr_spectrum_options *options);
/* The smallest non-trivial pairs of a graph; of its largest component where it has several. The
 * seed is of start vectors drawn at random. *spectrum is freed with sr_spectrum_free. `options` may
 * be NULL. Errors: SR_ERROR_NOT_CONVERGED (*spectrum is still the best pair found),
 * SR_ERROR_NOT_FOUND (solver or key), SR_ERROR_ARGUMENT, SR_ERROR_DATA (no edges),
 * SR_ERROR_UNSUPPORTED (the solver does not take this graph, or this build lacks it),
 * SR_ERROR_MEMORY. Memory and, on meshes and neighbor graphs, time are linear in nodes and arcs. */
SR_API SR_MUST_CHECK sr_status sr_spectrum_compute(sr_context *ctx, const sr_graph *graph,
                                                   const sr_spectrum_options *options,
                                                   uint64_t seed, sr_spectrum **spectrum);

typedef struct sr_nystrom_options {
  int32_t pairs;     /* 1; 0: the effective rank alone, which no row can spoil */
  int32_t landmarks; /* 500 */
  int leverage;      /* 1: landmarks by leverage, 0: uniform */
  double bandwidth;  /* 0 = median distance of the landmarks */
} sr_nystrom_options;

SR_API void sr_nystrom_options_init(sr_nystrom_options *options);
/* The Fiedler pair of another graph: every two rows of the table joined with the weight
 * exp(-|a - b|^2 / (2 bandwidth^2)) of their standardized features (missing = the mean), as
 * approximated from `landmarks` rows. That graph is dense and its lambda_2 is set by the bandwidth,
 * so it is no replacement for sr_spectrum_compute on a sparse graph. Takes O(rows landmarks^2) time
 * and O(rows + 16 landmarks^2) memory. effective_rank = (sum of the kernel's eigenvalues) / (the
 * largest); residual is 0. `options` may be NULL. Errors: SR_ERROR_DATA where approximate degrees
 * are not positive (use more landmarks or a larger bandwidth), SR_ERROR_ARGUMENT, SR_ERROR_MEMORY.
 * Free with sr_spectrum_free. */
SR_API SR_MUST_CHECK sr_status sr_spectrum_nystrom(sr_context *ctx, const sr_table *table,
                                                   const sr_nystrom_options *options, uint64_t seed,
                                                   sr_spectrum **spectrum);
SR_API void sr_spectrum_free(sr_spectrum **spectrum);
/* Valid as long as the spectrum. */
SR_API const sr_spectrum_view *sr_spectrum_get(const sr_spectrum *spectrum);
/* The registry: solvers in a fixed order; NULL past the end. */
SR_API const sr_method *sr_solver_method(int index);

#ifdef __cplusplus
}
#endif
#endif
