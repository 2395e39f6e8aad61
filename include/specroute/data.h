/* Tables: rows that are learned from, or what was said of them. Readers and writers. */
#ifndef SPECROUTE_DATA_H
#define SPECROUTE_DATA_H

#include <specroute/core.h>
#include <specroute/method.h>

#ifdef __cplusplus
extern "C" {
#endif

/* n rows with what is known about each. Read-only once made. */
typedef struct sr_table sr_table;

/* The names of a coded column: code c stands for names[c]. */
typedef struct sr_dictionary {
  int32_t count;
  const char *const *names;
} sr_dictionary;

/* All that a table holds, as plain arrays. Pointers are NULL where the table has no such column. */
typedef struct sr_table_view {
  int64_t rows;

  /* Features. */
  int64_t features;
  const float *x; /* column-major: feature j of row i is x[j * rows + i]; NaN = missing */
  const char *const *feature_names; /* `features` names, or NULL */
  const sr_dictionary *categories;  /* per feature; count 0 = numeric; or NULL = all numeric */

  /* A series per row and channel, beside or instead of features. Channel c of row i is
   * series[series_offset[i * channels + c] .. series_offset[i * channels + c + 1]); lengths may
   * differ between rows and between the channels of a row. */
  int32_t channels;                 /* 0: rows carry no series */
  const int64_t *series_offset;     /* rows * channels + 1, from 0, never falling */
  const float *series;              /* NaN = missing */
  const char *const *channel_names; /* `channels` names, or NULL */
  int64_t overlap; /* windows of a recording: so many rows behind a row share values with it */

  /* The target: a class (label) or a number (value), never both. */
  const int32_t *label; /* class of each row in [0, classes.count), -1 = missing */
  sr_dictionary classes;
  const double *value; /* NaN = missing */
  const char *target_name;
  int predicted; /* 1: the target was predicted; writers put it first */

  const double *time;   /* as given; rows are in the order in which they came */
  const int32_t *group; /* in [0, groups.count): series, run, polygon ... */
  sr_dictionary groups;
  const int32_t *region; /* in [0, regions.count): ground whose law may differ, on maps */
  sr_dictionary regions;
  int32_t coordinate_count;  /* 0, 2 or 3 */
  const double *coordinates; /* column-major, coordinate_count columns */
  const float *weight;
  int64_t grid_rows, grid_columns; /* 0 where the rows are not cells of one lattice */
  const double *grid_axes; /* second coordinate of each lattice row, then the first of each column,
                              as a NetCDF file's axes have them; NULL: the coordinates tell */
  const int64_t *cell;     /* lattice cell of each row, row-major, increasing */
  const int64_t *source_row; /* where the row stood in its file, from 0; NULL: in this order */
  int64_t source_rows;       /* rows of that file; 0: as many as here */
  const char *projection; /* the reference system of the coordinates as well-known text, or NULL */
} sr_table_view;

/* What a distance between the places of a map is counted in. */
typedef enum sr_distance_unit {
  SR_DISTANCE_NONE,   /* the rows are no map */
  SR_DISTANCE_METERS, /* degrees, taken along the sphere, or a projection in meters */
  SR_DISTANCE_MAP     /* that of the coordinates, whatever it is */
} sr_distance_unit;
/* A unit as "m", "map" or NULL: a constant. */
SR_API const char *sr_distance_unit_name(sr_distance_unit unit);
/* A distance with its unit into `text` of `size` bytes, as "850 m", "2.30 km" or "12 units of the
 * map". */
SR_API void sr_distance_text(double distance, sr_distance_unit unit, char *text, size_t size);

/* Copies the view; arrays and names may be freed afterwards. Free with sr_table_free.
 * Errors: SR_ERROR_ARGUMENT (negative size, code out of range, offsets that fall, both a class and
 * a number as target), SR_ERROR_MEMORY. Cost: one copy of every array. */
SR_API SR_MUST_CHECK sr_status sr_table_new(sr_context *ctx, const sr_table_view *view,
                                            sr_table **table);
/* The same without a copy: the table shows the arrays and names of the view, which must outlive it
 * unchanged. Free with sr_table_free, which leaves them alone. Errors as sr_table_new. Cost: one
 * look at labels, groups and offsets. */
SR_API SR_MUST_CHECK sr_status sr_table_wrap(sr_context *ctx, const sr_table_view *view,
                                             sr_table **table);
/* Null-safe; sets the pointer to NULL. */
SR_API void sr_table_free(sr_table **table);
/* What the table holds; valid as long as the table. Never NULL. */
SR_API const sr_table_view *sr_table_get(const sr_table *table);
/* What a reader would say of a table that was made otherwise: features that count or name the rows
 * and one that alone tells the class are warned of in the log. `order` gets `rows` entries: the row
 * that comes i-th in the order of group and time; *moved is 0 where the rows stand in it, and
 * sr_table_select puts them there. Rows are counted from 1 in messages. Errors: SR_ERROR_DATA (a
 * time is missing, or times repeat so that the order cannot be told), SR_ERROR_MEMORY. Cost: sorts
 * the times, and features of whole numbers. */
SR_API SR_MUST_CHECK sr_status sr_table_examine(sr_context *ctx, const sr_table *table,
                                                int64_t *order, int *moved);
/* The `count` rows with these indices, from 0, in this order (repeats allowed); dictionaries are
 * kept whole. Lattice cells are kept where the indices increase. `selected` is freed with
 * sr_table_free. Errors: SR_ERROR_ARGUMENT (no such row), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_table_select(sr_context *ctx, const sr_table *table,
                                               const int64_t *rows, int64_t count,
                                               sr_table **selected);

/* Cuts rows in the order of time into windows of `length` rows, one every `stride` rows, never
 * across groups: each becomes a row whose series are the features of its rows, a channel each, with
 * the class, time (without one: the number), group and weight of its last row. `overlap` of the new
 * table says how many windows share values with the one before them, so that honest errors keep
 * them apart. Free with sr_table_free. Errors: SR_ERROR_ARGUMENT (length or stride below 1),
 * SR_ERROR_DATA (no window fits, or a feature is no number), SR_ERROR_UNSUPPORTED (rows that hold
 * series, or cells of a lattice), SR_ERROR_MEMORY. Cost: length / stride copies of the features. */
SR_API SR_MUST_CHECK sr_status sr_table_windows(sr_context *ctx, const sr_table *table,
                                                int64_t length, int64_t stride, sr_table **windows);

/* ---- columns of other programs ------------------------------------------------------------- */

/* How the values of a column stand in memory, in the byte order of this machine. */
typedef enum sr_type {
  SR_TYPE_BIT,  /* one bit a value, the lowest of a byte first */
  SR_TYPE_BOOL, /* one byte a value, 0 or not */
  SR_TYPE_INT8,
  SR_TYPE_INT16,
  SR_TYPE_INT32,
  SR_TYPE_INT64,
  SR_TYPE_UINT8,
  SR_TYPE_UINT16,
  SR_TYPE_UINT32,
  SR_TYPE_UINT64,
  SR_TYPE_FLOAT16,
  SR_TYPE_FLOAT32,
  SR_TYPE_FLOAT64
} sr_type;

/* One column as it stands elsewhere. */
typedef struct sr_column {
  const char *name; /* NULL in every column: they have no names */
  sr_type type;
  const void *data;         /* value i stands `stride` bytes after value i - 1 */
  int64_t stride;           /* may be 0 or negative; bits stand side by side whatever it is */
  int64_t first;            /* row 0 is value `first` of data and bit `first` of valid */
  const uint8_t *valid;     /* bit 0: the value is missing; NULL: none is */
  sr_dictionary categories; /* count > 0: the values are codes; others than 0 .. count - 1 are
                               missing */
} sr_column;

/* A table whose features are `count` columns, converted in one pass; NaN is missing. A table with a
 * target and the like is made of it by sr_table_wrap and the view of both. Free with sr_table_free.
 * Errors: SR_ERROR_ARGUMENT (sizes, no such type), SR_ERROR_DATA (an infinite value, or one beyond
 * what a float holds, with row and column), SR_ERROR_MEMORY. Cost: one read and one write of every
 * value, on all threads, whatever the strides. */
SR_API SR_MUST_CHECK sr_status sr_table_from_columns(sr_context *ctx, int64_t rows, int64_t count,
                                                     const sr_column *columns, sr_table **table);

/* The struct of the Arrow C data interface, as its specification writes it. */
struct ArrowArrayStream;
struct sr_read_options;
/* Reads all of an Arrow C stream of record batches and releases it, whatever comes. Columns of
 * numbers, booleans, dates and times (seconds), texts and dictionaries are understood; nulls are
 * missing. `options` gives columns their roles as in sr_table_read, with the same care for order
 * and counters; NULL: every column is a feature and rows and columns stay as they are. Texts become
 * categories. Free with sr_table_free. Errors: SR_ERROR_UNSUPPORTED (nested and other types),
 * SR_ERROR_IO (the stream's own error), SR_ERROR_NOT_FOUND, SR_ERROR_DATA, SR_ERROR_MEMORY. Cost:
 * one pass over every column. */
SR_API SR_MUST_CHECK sr_status sr_table_from_arrow(sr_context *ctx, struct ArrowArrayStream *stream,
                                                   const struct sr_read_options *options,
                                                   sr_table **table);

/* ---- reading and writing ------------------------------------------------------------------ */

/* How a target column is read. */
typedef enum sr_target_kind {
  SR_TARGET_CLASS, /* any text, also numbers; what is plainly a measurement is refused */
  SR_TARGET_NUMBER /* numbers */
} sr_target_kind;

/* What each column of a file is. Columns are named by name or by 1-based number. Lists end in NULL.
 * Everything may be NULL: then every column is a feature. */
typedef struct sr_read_options {
  /* NULL: by the file's first bytes and name; else the name of a format (sr_format_method) */
  const char *format;
  char separator; /* csv: 0 = detect among , ; tab | space */
  int header;     /* csv: -1 = detect, 0 = none, 1 = first line */
  /* A column, or two classes made of one: "pm2.5 > 75", with > >= < <= == or != and a number or
   * `median`. */
  const char *target;
  sr_target_kind target_kind;
  /* A number, or a date and time, ISO 8601 or with the day first or the month first (becomes
   * seconds since 1970). Several columns, "year,month,day", become the rank of the row among them.
   */
  const char *time;
  /* Order of the numbers in dates such as 31/12/2010: "dmy", "mdy" or "ymd". NULL: told by the
   * first rows; dates that may be read both ways are refused. */
  const char *date_format;
  const char *group; /* several columns, "city,station", become one group per combination */
  /* The region of a row with coordinates, in the same way: what maps hold out as regions. NULL:
   * regions are looked for in the coordinates. */
  const char *region;
  const char *const *coordinates; /* two or three numeric columns */
  const char *weight;             /* numbers that are not negative */
  const char *const *drop;
  const char *const *keep;        /* features although they count or name the rows, by name */
  const char *const *categorical; /* read as categories (or classes) even where they are numbers */
  /* What columns of these names were when a model was trained: they are read as the same. Its
   * classes keep their codes, numbers being the same however they are written, and others come
   * after them. Rows keep their order, and no column is left out for counting rows. NULL: columns
   * are looked at. */
  const struct sr_table_view *schema;
  /* netcdf variables, or geotiff bands (numbers) and files, that become features; NULL: all */
  const char *const *variables;
  /* geotiff: polygons or points of a vector file over the raster, as FILE or FILE:LAYER. `target`
   * is then one of its attributes, `region` and `group` too (no group: each polygon is one of its
   * own), and only cells whose middle lies inside a polygon become rows. NULL: none */
  const char *labels;
  int64_t window; /* rows of a window (sr_table_windows) that the table is cut into; 0: not cut */
  int64_t stride; /* rows from window to window; 0: as many as a window has */
} sr_read_options;

/* Nothing asked for: formats, separators and headers are detected, every column is a feature. */
SR_API void sr_read_options_init(sr_read_options *options);

/* Reads a table; text formats may be compressed with gzip. Path "-" is csv on standard input. `.ts`
 * and UCR files become rows with a series and a class, no target needed. A grid (netcdf, geotiff)
 * becomes one row per cell; cells that are missing in every feature are left out. Rasters on one
 * grid are read together as "a.tif,b.tif". Rows that are not in the order of time are sorted by
 * group and time, and columns that count or name the rows are left out of the features; the log
 * says so. `options` may be NULL. docs/guide/data.md has the rules
 * of each format. Free the table with sr_table_free.
 * Errors: SR_ERROR_IO; SR_ERROR_FORMAT, SR_ERROR_DATA with file, line and column
 * (sr_context_error); SR_ERROR_NOT_FOUND (no such column or format); SR_ERROR_UNSUPPORTED (a
 * library was missing at build time, or a kind of file that is not read); SR_ERROR_ARGUMENT;
 * SR_ERROR_INTERRUPTED; SR_ERROR_MEMORY. Cost: one pass; csv on all threads. */
SR_API SR_MUST_CHECK sr_status sr_table_read(sr_context *ctx, const char *path,
                                             const sr_read_options *options, sr_table **table);
/* The same from `size` bytes in memory, which are read as if they were the file `name`; NULL: as a
 * file whose name tells nothing. Errors as sr_table_read; formats that a library opens by its path
 * (netcdf, geotiff) are SR_ERROR_UNSUPPORTED. Free with sr_table_free; the bytes are not kept. */
SR_API SR_MUST_CHECK sr_status sr_table_read_bytes(sr_context *ctx, const void *bytes, size_t size,
                                                   const char *name, const sr_read_options *options,
                                                   sr_table **table);
/* Writes the table in the format that the path's ending names (sr_format_endings), text also with
 * .gz; "-" is csv on standard output. The file appears whole or not at all. Numbers come back bit
 * for bit; columns stand in the order features, series, coordinates, time, group, weight, target.
 * Formats without room for a series get it as columns. Errors: SR_ERROR_OUTPUT,
 * SR_ERROR_UNSUPPORTED (the ending, what the format cannot hold, or a library missing at build
 * time), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_table_write(sr_context *ctx, const sr_table *table,
                                              const char *path);

/* The file formats in a fixed order; NULL past the last. Lives for ever. */
SR_API const sr_method *sr_format_method(int index);
/* What names of files of a format end in, as ".tif .tiff", a constant; "" where `index` is no
 * format. With `writes`, only where tables are written as such files. */
SR_API const char *sr_format_endings(int index, int writes);

#ifdef __cplusplus
}
#endif
#endif
