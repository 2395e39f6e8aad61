/* Clusters of points in many dimensions: where to look for neighbors first. Internal to src/graph.
 */
#ifndef SR_GRAPH_CLUSTERS_H
#define SR_GRAPH_CLUSTERS_H

#include "knn.h"

typedef struct sr__clusters {
  int64_t count;
  int32_t probes;      /* near clusters to look into */
  int32_t near_stride; /* near clusters known */
  int64_t *begin;      /* count + 1: cluster c holds the places [begin[c], begin[c + 1]) */
  int32_t *order;      /* row of each place */
  int32_t *near;       /* a cluster: its `near_stride` nearest others, nearest first */
} sr__clusters;

/* k-means on a sample, then every row to its nearest center. `x` is row-major. probes and
 * near_stride are `most_probes`, or all other clusters where these are fewer. */
SR_MUST_CHECK sr_status sr__clusters_find(sr_context *ctx, const float *x, int64_t rows,
                                          int32_t dimension, int64_t most_probes, uint64_t seed,
                                          sr__clusters *clusters);
void sr__clusters_free(sr_context *ctx, sr__clusters *clusters);

#endif
