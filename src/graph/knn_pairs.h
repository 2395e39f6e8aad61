/* Exact neighbors of rows that were merged into kinds. Internal to src/graph. */
#ifndef SR_GRAPH_KNN_PAIRS_H
#define SR_GRAPH_KNN_PAIRS_H

#include "equal_rows.h"
#include "knn.h"
#include "pair_kernel.h"

/* `x` is row-major; k < rows or k = 0; lists are nearest first. kinds^2 products at most, 12 (2 k +
 * 16) + 8 dimension bytes a kind. The lists are the same with every kernel and thread count. */
SR_MUST_CHECK sr_status sr__knn_pairs(sr_context *ctx, const float *x, const sr__equal_rows *equal,
                                      int32_t dimension, int32_t k, const sr__pair_kernel *kernel,
                                      sr__knn *knn);

#endif
