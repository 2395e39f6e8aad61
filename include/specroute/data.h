/* Tables and series: what is learned from. Readers and writers. */
#ifndef SPECROUTE_DATA_H
#define SPECROUTE_DATA_H

#include <specroute/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* n rows x d features with what is known about each row. Read-only once made. */
typedef struct sr_table sr_table;

/* The names of a coded column: code c stands for names[c]. */
typedef struct sr_dictionary {
  int32_t count;
  const char *const *names;
} sr_dictionary;

/* All that a table holds, as plain arrays. Pointers are NULL where the table has no such column. */
typedef struct sr_table_view {
  int64_t rows;
  int64_t features;
  const float *x; /* column-major: feature j of row i is x[j * rows + i]; NaN = missing */
  const char *const *feature_names; /* `features` names, or NULL */
  const sr_dictionary *categories;  /* a feature; count 0 = numeric; or NULL = all numeric */
  const int32_t *label;             /* class of each row in [0, classes.count), -1 = missing */
  sr_dictionary classes;
  const char *target_name;
  int predicted;        /* 1: the target was predicted; writers put it first */
  const double *time;   /* as given; rows are in the order in which they came */
  const int32_t *group; /* in [0, groups.count): series, run, polygon ... */
  sr_dictionary groups;
  int32_t coordinate_count;  /* 0, 2 or 3 */
  const double *coordinates; /* column-major, coordinate_count columns */
  const float *weight;
  int64_t grid_rows, grid_columns; /* 0 where the rows are not cells of one lattice */
  const int64_t *cell;             /* lattice cell of each row, row-major, increasing */
} sr_table_view;

/* Copies the view; arrays and names may be freed afterwards. Free with sr_table_free.
 * Errors: SR_ERROR_ARGUMENT (negative size, code out of range), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_table_new(sr_context *ctx, const sr_table_view *view,
                                            sr_table **table);
SR_API void sr_table_free(sr_table **table);
/* Valid as long as the table. */
SR_API const sr_table_view *sr_table_get(const sr_table *table);
/* The rows with these indices, in this order (repeats allowed); dictionaries are kept whole. */
SR_API SR_MUST_CHECK sr_status sr_table_select(sr_context *ctx, const sr_table *table,
                                               const int32_t *rows, int64_t count,
                                               sr_table **selected);

/* ---- series ------------------------------------------------------------------------------- */

/* A ragged set of labelled series with one or more channels. */
typedef struct sr_series sr_series;

typedef struct sr_series_view {
  int64_t cases;
  int32_t channels;
  /* Channel c of case i is value[offset[i * channels + c] .. offset[i * channels + c + 1]); NaN =
   * missing. Channels of one case may differ in length. */
  const int64_t *offset; /* cases * channels + 1 */
  const float *value;
  const int32_t *label; /* -1 = missing; NULL where the file has no classes */
  sr_dictionary classes;
  const char *name;
} sr_series_view;

/* Copies the view. Errors: SR_ERROR_ARGUMENT (offsets that fall, codes out of range),
 * SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_series_new(sr_context *ctx, const sr_series_view *view,
                                             sr_series **series);
SR_API void sr_series_free(sr_series **series);
SR_API const sr_series_view *sr_series_get(const sr_series *series);

/* ---- reading and writing ------------------------------------------------------------------ */

/* What each column of a file is. Columns are named by name or by 1-based number. Lists end in NULL.
 * Everything may be NULL: then every column is a feature. */
typedef struct sr_read_options {
  /* NULL: by the file's first bytes and name; else csv tsv ucr ts arff npy libsvm netcdf geotiff.
   */
  const char *format;
  char separator;     /* csv: 0 = detect among , ; tab | space */
  int header;         /* csv: -1 = detect, 0 = none, 1 = first line */
  const char *target; /* classes: any text, also numbers, as they are written */
  const char *time;   /* a number, or an ISO 8601 date and time (becomes seconds since 1970) */
  const char *group;
  const char *const *coordinates; /* two or three numeric columns */
  const char *weight;             /* numbers that are not negative */
  const char *const *drop;
  const char *const *categorical; /* features read as categories even where they are numbers */
  /* netcdf variables, or geotiff bands (numbers) and files, that become features; NULL: all */
  const char *const *variables;
} sr_read_options;

SR_API void sr_read_options_init(sr_read_options *options);

/* Reads a table; text formats may be compressed with gzip. Path "-" is csv on standard input. A
 * .ts file becomes one row a series, filled up with NaN. A grid (netcdf, geotiff) becomes one row a
 * cell; cells that are missing in every feature are left out. Rasters on one grid are read together
 * as "a.tif,b.tif". `options` may be NULL. docs/guide/data.md has the rules of each format.
 * Errors: SR_ERROR_IO; SR_ERROR_FORMAT, SR_ERROR_DATA with file, line and column
 * (sr_context_error); SR_ERROR_NOT_FOUND (no such column); SR_ERROR_UNSUPPORTED (a library was
 * missing at build time, or a kind of file that is not read); SR_ERROR_ARGUMENT; SR_ERROR_MEMORY.
 */
SR_API SR_MUST_CHECK sr_status sr_table_read(sr_context *ctx, const char *path,
                                             const sr_read_options *options, sr_table **table);
/* Reads a set of series: .ts, or a table with one series a row and the class in `target` (default:
 * the first column), whose trailing NaN are padding. Errors as above. */
SR_API SR_MUST_CHECK sr_status sr_series_read(sr_context *ctx, const char *path,
                                              const sr_read_options *options, sr_series **series);
/* By the path's ending: .csv, .tsv, .npy (features only), .libsvm, each text form also as .gz.
 * Path "-" is csv on standard output. Numbers come back bit for bit; columns stand in the order
 * features, coordinates, time, group, weight, target. Errors: SR_ERROR_OUTPUT, SR_ERROR_UNSUPPORTED
 * (the ending, or what the format cannot hold), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_table_write(sr_context *ctx, const sr_table *table,
                                              const char *path);
/* By the path's ending: .ts, or .tsv in the UCR layout (one channel only), each also as .gz. */
SR_API SR_MUST_CHECK sr_status sr_series_write(sr_context *ctx, const sr_series *series,
                                               const char *path);

#ifdef __cplusplus
}
#endif
#endif
