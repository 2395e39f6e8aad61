/* k nearest neighbors of every point: a k-d tree for few dimensions, matrix products for many. */
#ifndef SR_GRAPH_KNN_H
#define SR_GRAPH_KNN_H

#include "graph.h"

/* The lists of all points. Points may stand in another order than the rows they came from (near
 * points close together), so lists name places: the neighbors of the point at place p are the
 * places neighbor[p * k .. p * k + k), in any order where a tree found them, else nearest first.
 *
 * Equal distances: the row nearest in the file first, then the lower row. So rows that repeat are
 * joined to the repeats beside them, and no row becomes the hub of all its copies. */
typedef struct sr__knn {
  int64_t count;
  int32_t k;
  int32_t *neighbor;
  int32_t *row;  /* row of each place; NULL = the place itself */
  double recall; /* share of true neighbors among those found, on a sample; 1 = exact */
  void *spare;   /* memory that the search has done with, for the union; fresh pages cost time */
  int64_t spare_bytes;
} sr__knn;

/* Checks the number of neighbors and cuts it to what the rows allow. */
SR_MUST_CHECK sr_status sr__knn_check_k(sr_context *ctx, int32_t *k, int64_t rows);
void sr__knn_free(sr_context *ctx, sr__knn *knn);

/* true where the row `a` comes before `b` among equally distant neighbors of `row`. */
static inline bool sr__knn_ties_first(int64_t row, int64_t a, int64_t b) {
  int64_t gap_a = a > row ? a - row : row - a, gap_b = b > row ? b - row : row - b;
  return gap_a < gap_b || (gap_a == gap_b && a < b);
}

/* Finite coordinates, in columns of doubles or row after row of floats. */
typedef struct sr__points {
  int64_t rows;
  int32_t dimension;
  const double *column; /* column j begins at j * rows; NULL: */
  const float *x;       /* row i begins at i * dimension */
} sr__points;

/* Exact; 1 <= dimension <= SR__KDTREE_DIMENSIONS; 0 <= k < rows or k = 0. O(n log n) time where the
 * dimension is small, 16 (dimension + 1) bytes a row. */
enum { SR__KDTREE_DIMENSIONS = 8 };
SR_MUST_CHECK sr_status sr__knn_tree(sr_context *ctx, const sr__points *points, int32_t k,
                                     sr__knn *knn);

/* Approximate, of row-major `x`; k < rows or k = 0: each point is compared with the points of the
 * clusters nearest to its own, then lists are joined. `recall` is measured on a sample of points.
 */
SR_MUST_CHECK sr_status sr__knn_clustered(sr_context *ctx, const float *x, int64_t rows,
                                          int32_t dimension, int32_t k, uint64_t seed,
                                          sr__knn *knn);
/* Offers the neighbors of its neighbors to every list, for a round or two. `distance` are the
 * squared distances of the lists. */
SR_MUST_CHECK sr_status sr__knn_improve(sr_context *ctx, const float *x, int32_t dimension,
                                        double *distance, sr__knn *knn);

/* The graph that joins two rows where one is among the k nearest of the other. Frees the
 * lists. */
SR_MUST_CHECK sr_status sr__graph_from_knn(sr_context *ctx, sr__knn *knn, const char *builder,
                                           sr_graph **graph);

#endif
