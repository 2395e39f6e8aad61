/* Approximate neighbors where rows repeat. Internal to src/graph. */
#ifndef SR_GRAPH_KNN_KINDS_H
#define SR_GRAPH_KNN_KINDS_H

#include "equal_rows.h"
#include "knn.h"

/* sr__knn_clustered of the distinct rows, so that copies cost next to nothing and are all found;
 * `recall` is that of the distinct rows. `equal` was found among the rows of `x`; k < rows. */
SR_MUST_CHECK sr_status sr__knn_clustered_kinds(sr_context *ctx, const float *x,
                                                const sr__equal_rows *equal, int32_t dimension,
                                                int32_t k, uint64_t seed, sr__knn *knn);

#endif
