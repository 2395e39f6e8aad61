/* Rows as points whose Euclidean distance means something. Internal to src/graph. */
#ifndef SR_GRAPH_FEATURES_H
#define SR_GRAPH_FEATURES_H

#include "graph.h"

/* Row-major: each number standardized (missing = the mean), each category an indicator column;
 * features that do not vary are left out. */
typedef struct sr__features {
  int64_t rows, columns;
  float *x;
} sr__features;

/* Errors: SR_ERROR_DATA where no feature varies. */
SR_MUST_CHECK sr_status sr__features_standardize(sr_context *ctx, const sr_table_view *table,
                                                 sr__features *features);
void sr__features_free(sr_context *ctx, sr__features *features);

#endif
