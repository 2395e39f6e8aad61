/* Which reader a file belongs to: by its first bytes where these tell, else by its name. */
#include "read.h"

#include <strings.h>
#include <unistd.h>

#include "column_roles.h"

void sr_read_options_init(sr_read_options *options) { *options = (sr_read_options){.header = -1}; }

typedef enum file_kind {
  KIND_TABLE,
  KIND_SERIES,
  KIND_GRID,
} file_kind;

typedef struct file_format {
  const char *name;
  file_kind kind;
  const char *endings[6];
  sr__table_reader read;
} file_format;

static const file_format formats[] = {
    {"csv", KIND_TABLE, {".csv", ".txt", ".data"}, sr__read_csv},
    {"ucr", KIND_TABLE, {"_TRAIN.tsv", "_TEST.tsv", "_TRAIN.txt", "_TEST.txt"}, sr__read_ucr},
    {"tsv", KIND_TABLE, {".tsv", ".tab"}, sr__read_tsv},
    {"ts", KIND_SERIES, {".ts"}, NULL},
    {"arff", KIND_TABLE, {".arff"}, sr__read_arff},
    {"npy", KIND_TABLE, {".npy"}, sr__read_npy},
    {"libsvm", KIND_TABLE, {".libsvm", ".svm", ".svmlight"}, sr__read_libsvm},
    {"netcdf", KIND_GRID, {".nc", ".nc4", ".cdf"}, NULL},
    {"geotiff", KIND_GRID, {".tif", ".tiff"}, NULL},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const file_format *format_of_name(const char *name) {
  for (int i = 0; i < FORMATS; i++) {
    if (strcmp(formats[i].name, name) == 0) return &formats[i];
  }
  return NULL;
}

/* ---- detection ---------------------------------------------------------------------------- */

static bool starts(const char *bytes, size_t size, const char *with, size_t length) {
  return size >= length && memcmp(bytes, with, length) == 0;
}

static const file_format *format_of_bytes(const char *bytes, size_t size) {
  if (starts(bytes, size, "\x93NUMPY", 6)) return format_of_name("npy");
  if (starts(bytes, size, "CDF", 3) && size > 3 && bytes[3] <= 5) return format_of_name("netcdf");
  if (starts(bytes, size, "\x89HDF\r\n", 6)) return format_of_name("netcdf");
  if (starts(bytes, size, "II*\0", 4) || starts(bytes, size, "MM\0*", 4) ||
      starts(bytes, size, "II+\0", 4) || starts(bytes, size, "MM\0+", 4))
    return format_of_name("geotiff");
  return NULL;
}

/* The longest ending wins, so that _TRAIN.tsv is met before .tsv. */
static const file_format *format_of_path(const char *path) {
  size_t length = strlen(path), longest = 0;
  const file_format *found = NULL;
  if (length > 3 && strcasecmp(path + length - 3, ".gz") == 0) length -= 3;
  for (int i = 0; i < FORMATS; i++) {
    for (int e = 0; formats[i].endings[e]; e++) {
      size_t ending = strlen(formats[i].endings[e]);
      if (ending > length || ending <= longest ||
          strncasecmp(path + length - ending, formats[i].endings[e], ending) != 0)
        continue;
      found = &formats[i];
      longest = ending;
    }
  }
  return found;
}

/* The first word of a file with an ending that says nothing. */
static const file_format *format_of_text(const char *bytes, size_t size) {
  while (size && (*bytes == ' ' || *bytes == '\n' || *bytes == '\r')) bytes++, size--;
  if (size >= 9 && strncasecmp(bytes, "@relation", 9) == 0) return format_of_name("arff");
  if (size >= 12 && strncasecmp(bytes, "@problemname", 12) == 0) return format_of_name("ts");
  return format_of_name("csv");
}

static sr_status fail_format(sr_context *ctx, const char *name) {
  return sr__fail(ctx, SR_ERROR_ARGUMENT,
                  "there is no format '%s'; expected csv, tsv, ucr, ts, arff, npy, libsvm, netcdf "
                  "or geotiff",
                  name);
}

/* Looks into the source where there is one. */
static sr_status detect(sr_context *ctx, const char *path, sr__source *source,
                        const sr_read_options *options, const file_format **format) {
  sr_status status = SR_OK;
  char start[512];
  size_t got;
  if (options->format) {
    *format = format_of_name(options->format);
    return *format ? SR_OK : fail_format(ctx, options->format);
  }
  SR_TRY(sr__source_read(ctx, source, start, sizeof start, &got));
  SR_TRY(sr__source_unread(ctx, source, start, got));
  *format = format_of_bytes(start, got);
  if (!*format) *format = format_of_path(path);
  if (!*format) *format = format_of_text(start, got);
cleanup:
  return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static sr_status read_grid(sr_context *ctx, const char *path, const file_format *format,
                           const sr_read_options *options, sr_table **table) {
  (void)options; /* not looked at where neither library is here */
  *table = NULL;
  if (strcmp(path, "-") == 0)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED, "%s is not read from standard input; give a file",
                    format->name);
  if (strcmp(format->name, "netcdf") == 0) {
#ifdef SR_HAVE_NETCDF
    return sr__read_netcdf(ctx, path, options, table);
#else
    return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, path, 0, 0,
                       "this build has no NetCDF; install the Debian package libnetcdf-dev and "
                       "build again");
#endif
  }
#ifdef SR_HAVE_GDAL
  return sr__read_geotiff(ctx, path, options, table);
#else
  return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, path, 0, 0,
                     "this build has no GDAL; install the Debian package libgdal-dev and build "
                     "again");
#endif
}

static sr_status read_table(sr_context *ctx, sr__source *source, const file_format *format,
                            const sr_read_options *options, sr_table **table) {
  sr_status status = SR_OK;
  sr_series *series = NULL;
  if (format->kind == KIND_TABLE) return format->read(ctx, source, options, table);
  SR_TRY(sr__refuse_roles(ctx, sr__source_name(source), format->name, options));
  SR_TRY(sr__read_ts(ctx, source, &series));
  SR_TRY(sr__table_from_series(ctx, series, table));
cleanup:
  sr_series_free(&series);
  return status;
}

static sr_status read_series(sr_context *ctx, sr__source *source, const file_format *format,
                             const sr_read_options *options, sr_series **series) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  sr_read_options read = *options;
  if (format->kind == KIND_SERIES) {
    SR_TRY(sr__refuse_roles(ctx, sr__source_name(source), format->name, options));
    return sr__read_ts(ctx, source, series);
  }
  bool delimited = format->read == sr__read_csv || format->read == sr__read_tsv;
  if (delimited && !read.target) read.target = "1";
  SR_TRY(format->read(ctx, source, &read, &table));
  SR_TRY(sr__series_from_table(ctx, sr__source_name(source), table, series));
cleanup:
  sr_table_free(&table);
  return status;
}

/* "a.tif,b.tif" names several rasters, unless a file has that very name. */
static bool is_list_of_rasters(const char *path) {
  return strchr(path, ',') && access(path, F_OK) != 0 &&
         format_of_path(path) == format_of_name("geotiff");
}

sr_status sr_table_read(sr_context *ctx, const char *path, const sr_read_options *options,
                        sr_table **table) {
  sr_status status = SR_OK;
  sr__source *source = NULL;
  sr_read_options defaults;
  const file_format *format = NULL;
  *table = NULL;
  sr_read_options_init(&defaults);
  if (!options) options = &defaults;
  if (is_list_of_rasters(path))
    return read_grid(ctx, path, format_of_name("geotiff"), options, table);
  SR_TRY(sr__source_open(ctx, path, &source));
  SR_TRY(detect(ctx, path, source, options, &format));
  if (format->kind == KIND_GRID) {
    sr__source_close(ctx, &source);
    return read_grid(ctx, path, format, options, table);
  }
  SR_TRY(read_table(ctx, source, format, options, table));
cleanup:
  sr__source_close(ctx, &source);
  return status;
}

static sr_status read_series_from(sr_context *ctx, const char *path, sr__source *source,
                                  const sr_read_options *options, sr_series **series) {
  sr_status status = SR_OK;
  sr_read_options defaults;
  const file_format *format = NULL;
  sr_read_options_init(&defaults);
  if (!options) options = &defaults;
  SR_TRY(detect(ctx, path, source, options, &format));
  if (format->kind == KIND_GRID)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, path, 0, 0,
                       "a %s file is a grid of cells, not a set of series; read it as a table",
                       format->name));
  SR_TRY(read_series(ctx, source, format, options, series));
cleanup:
  return status;
}

sr_status sr_series_read(sr_context *ctx, const char *path, const sr_read_options *options,
                         sr_series **series) {
  sr_status status = SR_OK;
  sr__source *source = NULL;
  *series = NULL;
  SR_TRY(sr__source_open(ctx, path, &source));
  SR_TRY(read_series_from(ctx, path, source, options, series));
cleanup:
  sr__source_close(ctx, &source);
  return status;
}

/* ---- from memory -------------------------------------------------------------------------- */

sr_status sr__table_read_memory(sr_context *ctx, const void *bytes, size_t size, size_t step,
                                const char *name, const sr_read_options *options,
                                sr_table **table) {
  sr_status status = SR_OK;
  sr__source *source = NULL;
  const file_format *format = NULL;
  *table = NULL;
  SR_TRY(sr__source_open_memory(ctx, bytes, size, name, &source));
  if (step) sr__source_set_step(source, step);
  SR_TRY(detect(ctx, name, source, options, &format));
  if (format->kind == KIND_GRID)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, name, 0, 0,
                       "a %s file cannot be read from memory", format->name));
  SR_TRY(read_table(ctx, source, format, options, table));
cleanup:
  sr__source_close(ctx, &source);
  return status;
}

sr_status sr__series_read_memory(sr_context *ctx, const void *bytes, size_t size, const char *name,
                                 const sr_read_options *options, sr_series **series) {
  sr_status status = SR_OK;
  sr__source *source = NULL;
  *series = NULL;
  SR_TRY(sr__source_open_memory(ctx, bytes, size, name, &source));
  SR_TRY(read_series_from(ctx, name, source, options, series));
cleanup:
  sr__source_close(ctx, &source);
  return status;
}
