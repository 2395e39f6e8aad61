/* Grids on their way to tables: all cells first, then without the holes. Internal to src/data. */
#ifndef SR_DATA_GRID_H
#define SR_DATA_GRID_H

#include "data/column_roles.h"

/* Cells are numbered row by row. A struct of zeros is empty. */
typedef struct sr__grid {
  const char *file;
  int64_t rows, columns;
  int64_t features;
  float *x;            /* features x cells; NaN = missing */
  double *coordinates; /* x of every cell, then y of every cell */
  double *target;      /* of every cell, NaN = missing; NULL where there is none */
  const char *target_name;
  const char *const *names; /* of the features; borrowed */
} sr__grid;

/* Allocates all arrays, filled with NaN, once the sizes and target_name are set. */
SR_MUST_CHECK sr_status sr__grid_allocate(sr_context *ctx, sr__grid *grid);
/* Leaves out the cells that are missing in every feature and hands the rest to a table. Takes the
 * arrays; the grid is still to be freed. */
SR_MUST_CHECK sr_status sr__grid_to_table(sr_context *ctx, sr__grid *grid, sr_table **table);
void sr__grid_free(sr_context *ctx, sr__grid *grid);

/* Grids have target, drop and their own coordinates, nothing else. */
SR_MUST_CHECK sr_status sr__grid_check_options(sr_context *ctx, const char *file,
                                               const sr_read_options *options);

#endif
