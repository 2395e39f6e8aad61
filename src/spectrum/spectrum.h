/* Fiedler pairs of plain arrays and the aggregation hierarchy: what other rooms may use from
 * inside. Everything works on the generalized problem L x = lambda D x. */
#ifndef SR_SPECTRUM_SPECTRUM_H
#define SR_SPECTRUM_SPECTRUM_H

#include <specroute/spectrum.h>

#include "core/core.h"

/* An undirected weighted graph in compressed sparse rows, without self-loops. Rows need not be
 * sorted. The arrays belong to whoever made them. */
typedef struct sr__csr {
  int64_t nodes;
  int64_t arcs;
  const int64_t *offset;   /* nodes + 1 */
  const int32_t *neighbor; /* arcs */
  const float *weight;     /* arcs; NULL = all 1 */
  const float *mass;       /* diagonal of D, one a node; NULL = the weighted degree */
} sr__csr;

/* The arrays of a public graph. */
sr__csr sr__csr_view(const sr_graph_view *view);
/* Frees the arrays of a graph that sr__coarsen or sr__csr_permute made, and clears it. */
void sr__csr_free(sr_context *ctx, sr__csr *graph);
/* Weighted degree of a node. */
double sr__csr_degree(const sr__csr *graph, int64_t node);

/* One coarsening step, about four nodes to one. Nodes are matched in pairs and pairs in pairs
 * along the heaviest edges, inside chunks of consecutive nodes, so the result is the same for
 * every thread count. aggregate[i] (nodes entries) gets the coarse node of i; they are numbered in
 * the order of their lowest member's chunk. The coarse graph is L_c = P' L P without its loops,
 * D_c = P' D P: weights and masses are sums. `coarse` owns its arrays: sr__csr_free. */
SR_MUST_CHECK sr_status sr__coarsen(sr_context *ctx, const sr__csr *fine, int32_t *aggregate,
                                    sr__csr *coarse);

/* An order of the nodes in which neighbors stand close together: blocks grown by breadth-first
 * search. order[k] is the node at place k. */
SR_MUST_CHECK sr_status sr__locality_order(sr_context *ctx, const sr__csr *graph, int32_t *order);
/* Whether most neighbors are near already, so that another order would gain nothing. */
bool sr__is_local(const sr__csr *graph);
/* The graph with node order[k] as node k; owns its arrays. */
SR_MUST_CHECK sr_status sr__csr_permute(sr_context *ctx, const sr__csr *graph, const int32_t *order,
                                        sr__csr *permuted);

typedef struct sr__fiedler_options {
  double tolerance;       /* relative error asked of lambda_2 */
  bool guard;             /* carry the third vector, so that modes that swap order are noticed */
  int64_t max_iterations; /* on the finest level; 0 = as many as it takes */
  const double *start;    /* a vector to begin with instead of the coarse solution, or NULL */
} sr__fiedler_options;

typedef struct sr__fiedler_result {
  double value;        /* lambda_2: Rayleigh quotient of x from edge differences */
  double value_second; /* lambda_3; infinite where it is not known */
  double error;        /* estimate of the relative error of lambda_2 */
  int64_t iterations;
  bool converged;
} sr__fiedler_result;

sr__fiedler_options sr__fiedler_defaults(void);
/* Fiedler pair of a CONNECTED graph with at least two nodes by the multilevel solver (small graphs:
 * dense). x (nodes entries) gets the vector with x' D x = 1, x' D 1 = 0 and the sign rule applied;
 * x_second (may be NULL; needs guard) the next one. Running out of iterations is not a failure
 * here: see result->converged. The same bits for every thread count. */
SR_MUST_CHECK sr_status sr__fiedler(sr_context *ctx, const sr__csr *graph,
                                    const sr__fiedler_options *options, double *x, double *x_second,
                                    sr__fiedler_result *result);

/* Flips x so that its weighted sum with a fixed odd ramp over the indices is positive; where that
 * sum is too close to zero to be sure of, a parabola and then a hash of the index decide. */
void sr__fix_sign(const sr__csr *graph, double *x);
/* The ramp: -1 at the first node, 1 at the last. */
double sr__ramp(int64_t node, int64_t nodes);

#endif
