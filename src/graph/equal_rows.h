/* Equal rows merged into kinds. Internal to src/graph. */
#ifndef SR_GRAPH_EQUAL_ROWS_H
#define SR_GRAPH_EQUAL_ROWS_H

#include "core/core.h"

typedef struct sr__equal_rows {
  int64_t rows, kinds;
  int32_t *kind;   /* of each row; kinds are numbered as they first appear */
  int32_t *first;  /* kinds + 1: where the rows of a kind begin in `member` */
  int32_t *member; /* rows, kind after kind, each kind in the order of the file */
} sr__equal_rows;

/* `x` is row-major and finite; -0 equals 0. O(rows * dimension) time, up to 30 bytes a row while it
 * runs. */
SR_MUST_CHECK sr_status sr__equal_rows_find(sr_context *ctx, const float *x, int64_t rows,
                                            int32_t dimension, sr__equal_rows *equal);
void sr__equal_rows_free(sr_context *ctx, sr__equal_rows *equal);

#endif
