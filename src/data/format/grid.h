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
  double *axes;        /* of rows, then of columns; NULL: the coordinates tell */
  double *target;      /* of every cell, NaN = missing; NULL where there is none */
  const char *target_name;
  sr__target_rule target_rule;
  const char *projection;   /* of the coordinates, or NULL; borrowed */
  const char *const *names; /* of the features; borrowed */
  /* Polygons over the grid: only cells inside one become rows. */
  const int32_t *group;  /* polygon of every cell, -1 = none; NULL: there are none; borrowed */
  sr_dictionary groups;  /* their names; borrowed */
  const int32_t *region; /* in the same way */
  sr_dictionary regions;
  const char *const *target_names; /* the target holds codes of these; NULL: numbers; borrowed */
  /* The grid may be a window of a larger lattice, whose cells are numbered; 0 x 0: it is all. */
  int64_t lattice_rows, lattice_columns, first_row, first_column;
} sr__grid;

/* Allocates all arrays, filled with NaN, once the sizes and target_name are set. */
SR_MUST_CHECK sr_status sr__grid_allocate(sr_context *ctx, sr__grid *grid);
/* Leaves out the cells that are missing in every feature and hands the rest to a table. Takes the
 * arrays; the grid is still to be freed. SR_ERROR_DATA where no cell is left; of a window *table is
 * NULL then. */
SR_MUST_CHECK sr_status sr__grid_to_table(sr_context *ctx, sr__grid *grid, sr_table **table);
void sr__grid_free(sr_context *ctx, sr__grid *grid);

/* A value as a table keeps it. SR_ERROR_DATA, with the name of its feature, where it is beyond the
 * largest float. */
SR_MUST_CHECK sr_status sr__grid_store(sr_context *ctx, const char *file, const char *feature,
                                       const double *values, int64_t count, float *x);

/* ---- writing ------------------------------------------------------------------------------ */

/* Where the cells of a table lie: x = t[0] + (column + 1/2) t[1] + (row + 1/2) t[2], and y with
 * t[3], t[4], t[5]. Without coordinates a cell is a square of side 1. SR_ERROR_UNSUPPORTED where
 * the table has no cells or its coordinates lie on no straight lattice. `format` is for the
 * message. */
SR_MUST_CHECK sr_status sr__grid_transform(sr_context *ctx, const sr_table_view *table,
                                           const char *format, double t[6]);
/* The columns of a table that a grid shows: its features, and its target first (predicted) or last.
 */
int64_t sr__grid_layers(const sr_table_view *table);
/* The name of a layer, and whether it is the target. */
const char *sr__grid_layer_name(const sr_table_view *table, int64_t layer, bool *is_target,
                                char numbered[32]);
/* What a class is on a grid: its number, or its code where a name is no number. Gives an array of
 * classes.count entries to be freed by sr__free; NULL where the target is no class. */
SR_MUST_CHECK sr_status sr__grid_class_values(sr_context *ctx, const sr_table_view *table,
                                              double **values);
/* One row of a layer, NaN where it is missing. */
double sr__grid_value(const sr_table_view *table, const double *class_values, int64_t layer,
                      int64_t row);
/* One layer on the whole lattice, NaN in its holes. */
void sr__grid_layer(const sr_table_view *table, const double *class_values, int64_t layer,
                    double *cells);
/* Whether all classes are numbers. */
bool sr__classes_are_numbers(const sr_table_view *table);

/* Grids have target, drop and their own coordinates, nothing else. */
SR_MUST_CHECK sr_status sr__grid_check_options(sr_context *ctx, const char *file,
                                               const sr_read_options *options);

#endif
