/* An open NetCDF file: its variables on one grid, their numbers, and where its cells lie. Internal
 * to src/data/format. */
#ifndef SR_DATA_FORMAT_NETCDF_FILE_H
#define SR_DATA_FORMAT_NETCDF_FILE_H

#include <netcdf.h>

#include "grid.h"

enum { SR__NC_DIMENSIONS = 16, SR__NC_MISSING = 16 };

typedef struct sr__nc_variable {
  char name[NC_MAX_NAME + 1];
  int id;
  nc_type type;
  int dimensions;
  int dimension[SR__NC_DIMENSIONS];
  size_t length[SR__NC_DIMENSIONS];
  int64_t steps;   /* product of the dimensions before the last two */
  uint8_t *wanted; /* per step: 1 where it becomes a feature; NULL: none does */
} sr__nc_variable;

typedef struct sr__nc_file {
  const char *path;
  int id;
  sr__nc_variable *variables; /* those on the grid */
  int64_t count;
  const char **names;
  int grid_dimension[2];
  sr__nc_variable place[2]; /* longitude and latitude of every cell; 0 dimensions: axes tell */
  sr__arena arena;
} sr__nc_file;

/* HDF5 below NetCDF does not tell want of memory from a damaged file. */
sr_status sr__nc_fail(sr_context *ctx, const sr__nc_file *file, int code, const char *what);

#define NC_TRY(expression, what)                                        \
  do {                                                                  \
    int code_ = (expression);                                           \
    if (code_ != NC_NOERR) SR_TRY(sr__nc_fail(ctx, file, code_, what)); \
  } while (0)

/* ---- attributes and stored numbers -------------------------------------------------------- */

bool sr__nc_is_number(nc_type type);
/* A text attribute of a variable; "" where it has none that fits. */
void sr__nc_text(const sr__nc_file *file, int id, const char *name, char *text, size_t size);

/* How stored numbers become values. */
typedef struct sr__nc_packing {
  double scale, offset;
  double missing[SR__NC_MISSING]; /* stored numbers that stand for nothing */
  size_t missing_count;
  double lowest, highest; /* stored numbers outside are not valid */
  double wrap;            /* added to negative numbers that are unsigned in truth */
} sr__nc_packing;

sr__nc_packing sr__nc_packing_of(const sr__nc_file *file, const sr__nc_variable *variable);
double sr__nc_unpack(const sr__nc_packing *packing, double stored);

/* ---- axes --------------------------------------------------------------------------------- */

/* The id of the variable that gives the places along a dimension, or -1. */
int sr__nc_axis_variable(const sr__nc_file *file, int dimension);
/* Whether a variable holds degrees: 0 of longitude, 1 of latitude, else -1. */
int sr__nc_degrees_of(const sr__nc_file *file, int id);
/* Variables that hold longitude and latitude of every cell are no features but its place, where the
 * axes do not tell it. */
void sr__nc_take_places(sr__nc_file *file);
/* SR_ERROR_DATA where an axis of the grid counts time: such cells lie at no place. */
SR_MUST_CHECK sr_status sr__nc_refuse_time(sr_context *ctx, const sr__nc_file *file);
/* Fills the coordinates and axes of a grid that is allocated, and its reference system. */
SR_MUST_CHECK sr_status sr__nc_place_cells(sr_context *ctx, sr__nc_file *file, sr__grid *grid);

/* ---- writing ------------------------------------------------------------------------------ */

/* Defines and fills everything of a table of cells in a file that was just made. */
SR_MUST_CHECK sr_status sr__nc_fill(sr_context *ctx, sr__nc_file *file, const sr_table_view *t);

#endif
