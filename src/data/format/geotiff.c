/* GeoTIFF rasters on one grid as a table of cells, one feature a band. */
#include "format.h"

#ifdef SR_HAVE_GDAL
#include <gdal.h>
#include <math.h>
#include <ogr_srs_api.h>
#include <strings.h>

#include "gdal_session.h"
#include "geotiff_write.h"
#include "grid.h"
#include "vector_labels.h"

enum { MOST_FILES = 256 };

typedef struct raster_band {
  GDALRasterBandH handle;
  int file;
  bool chosen;
  const char *name;
} raster_band;

typedef struct rasters {
  const char *path; /* as the user gave it */
  GDALDatasetH files[MOST_FILES];
  char *file_paths[MOST_FILES];
  int file_count;
  raster_band *bands;
  const char **names;
  int64_t count, band_capacity, name_capacity;
  int width, height;
  double transform[6];        /* x = t0 + column t1 + row t2, y = t3 + column t4 + row t5 */
  sr__column_role *roles;     /* of the bands */
  const char **feature_names; /* of the bands that are features */
  int64_t features, target;   /* band of the target; -1: none */
  sr__arena arena;
  sr__gdal gdal;
} rasters;

static sr_status fail_raster(sr_context *ctx, const rasters *r, const char *file) {
  sr_status memory = sr__memory_check(ctx, SR__GDAL_BYTES);
  if (memory != SR_OK) return memory;
  return sr__fail_at(ctx, SR_ERROR_FORMAT, file, 0, 0, "cannot read '%s' as GeoTIFF: %s", file,
                     sr__gdal_said(&r->gdal));
}

/* ---- files and bands ---------------------------------------------------------------------- */

/* "folder/dem.tif" gives "dem", and "dem_b2" for the second of several bands. */
static sr_status name_band(sr_context *ctx, rasters *r, const char *path, int band, int bands,
                           const char **name) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  int length = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
  int64_t bytes = length + 24;
  char *text = sr__arena_alloc(ctx, &r->arena, bytes, 1);
  if (!text) return SR_ERROR_MEMORY;
  if (bands == 1)
    snprintf(text, (size_t)bytes, "%.*s", length, base);
  else
    snprintf(text, (size_t)bytes, "%.*s_b%d", length, base, band);
  *name = text;
  return SR_OK;
}

static sr_status check_same_reference(sr_context *ctx, rasters *r, GDALDatasetH file,
                                      const char *path) {
  OGRSpatialReferenceH first = GDALGetSpatialRef(r->files[0]), own = GDALGetSpatialRef(file);
  if (!first || !own || OSRIsSame(first, own)) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_DATA, path, 0, 0,
                     "'%s' has another reference system than '%s'; all rasters must lie on one "
                     "grid: reproject with gdalwarp",
                     path, r->file_paths[0]);
}

static sr_status check_same_grid(sr_context *ctx, rasters *r, GDALDatasetH file, const char *path) {
  double transform[6] = {0, 1, 0, 0, 0, 1};
  int width = GDALGetRasterXSize(file), height = GDALGetRasterYSize(file);
  GDALGetGeoTransform(file, transform);
  if (r->file_count == 0) {
    r->width = width;
    r->height = height;
    memcpy(r->transform, transform, sizeof transform);
    return SR_OK;
  }
  double pixel = fabs(r->transform[1]) + fabs(r->transform[2]);
  bool same = width == r->width && height == r->height;
  for (int k = 0; k < 6; k++) same &= fabs(transform[k] - r->transform[k]) <= 1e-4 * pixel;
  if (same) return check_same_reference(ctx, r, file, path);
  return sr__fail_at(ctx, SR_ERROR_DATA, path, 0, 0,
                     "'%s' has %d x %d cells from (%g, %g), '%s' has %d x %d from (%g, %g); all "
                     "rasters must lie on one grid: resample with gdalwarp",
                     path, width, height, transform[0], transform[3], r->file_paths[0], r->width,
                     r->height, r->transform[0], r->transform[3]);
}

static sr_status add_bands(sr_context *ctx, rasters *r, GDALDatasetH file, const char *path,
                           bool chosen) {
  sr_status status = SR_OK;
  int bands = GDALGetRasterCount(file);
  for (int b = 1; b <= bands; b++) {
    SR_GROW(ctx, r->bands, r->band_capacity, r->count + 1);
    SR_GROW(ctx, r->names, r->name_capacity, r->count + 1);
    r->bands[r->count] = (raster_band){GDALGetRasterBand(file, b), r->file_count, chosen, NULL};
    SR_TRY(name_band(ctx, r, path, b, bands, &r->names[r->count]));
    r->bands[r->count].name = r->names[r->count];
    r->count++;
  }
cleanup:
  return status;
}

static sr_status open_file(sr_context *ctx, rasters *r, const char *path, size_t length,
                           bool chosen) {
  sr_status status = SR_OK;
  static const char *const drivers[] = {"GTiff", NULL};
  if (r->file_count == MOST_FILES)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED, "more than %d rasters were named", MOST_FILES));
  char *copy = sr__arena_alloc(ctx, &r->arena, (int64_t)length + 1, 1);
  if (!copy) SR_TRY(SR_ERROR_MEMORY);
  memcpy(copy, path, length);
  copy[length] = '\0';
  SR_TRY(sr__gdal_check_file(ctx, copy));
  GDALDatasetH file = GDALOpenEx(copy, GDAL_OF_RASTER | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR,
                                 drivers, NULL, NULL);
  if (!file) SR_TRY(fail_raster(ctx, r, copy));
  r->files[r->file_count] = file;
  r->file_paths[r->file_count] = copy;
  status = check_same_grid(ctx, r, file, copy);
  if (status == SR_OK) status = add_bands(ctx, r, file, copy, chosen);
  r->file_count++; /* closed with the others */
cleanup:
  return status;
}

static sr_status open_list(sr_context *ctx, rasters *r, bool chosen) {
  sr_status status = SR_OK;
  const char *at = r->path;
  for (;;) {
    size_t length = strcspn(at, ",");
    if (length == 0)
      SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "an empty name stands in the list '%s'", r->path));
    SR_TRY(open_file(ctx, r, at, length, chosen));
    if (at[length] == '\0') break;
    at += length + 1;
  }
cleanup:
  return status;
}

static bool is_raster_path(const char *text) {
  size_t length = strlen(text);
  return (length > 4 && strcasecmp(text + length - 4, ".tif") == 0) ||
         (length > 5 && strcasecmp(text + length - 5, ".tiff") == 0);
}

/* Features are all bands, or what `variables` names: further files, bands by number or by name. */
static sr_status choose_bands(sr_context *ctx, rasters *r, const sr_read_options *options) {
  sr_status status = SR_OK;
  SR_TRY(open_list(ctx, r, options->variables == NULL));
  sr__file_columns listed = {r->path, r->names, r->count};
  for (const char *const *name = options->variables; name && *name; name++) {
    int64_t band;
    if (is_raster_path(*name)) {
      SR_TRY(open_file(ctx, r, *name, strlen(*name), true));
      continue;
    }
    SR_TRY(sr__find_column(ctx, listed, "variable", *name, &band));
    r->bands[band].chosen = true;
  }
cleanup:
  return status;
}

/* What each band is; with labels the target is none of them. */
static sr_status give_roles(sr_context *ctx, rasters *r, const sr_read_options *options) {
  sr_status status = SR_OK;
  sr_read_options of_bands = *options;
  if (options->labels) of_bands.target = of_bands.group = of_bands.region = NULL;
  SR_NEW(ctx, r->roles, r->count);
  SR_NEW(ctx, r->feature_names, r->count);
  SR_TRY(sr__assign_roles(ctx, r->path, r->names, r->count, &of_bands, r->roles));
  r->target = -1;
  for (int64_t b = 0; b < r->count; b++) {
    if (r->roles[b].role == SR_ROLE_TARGET) r->target = b;
    if (r->roles[b].role == SR_ROLE_FEATURE && r->bands[b].chosen)
      r->feature_names[r->features++] = r->names[b];
  }
cleanup:
  return status;
}

/* ---- cells -------------------------------------------------------------------------------- */

/* A strip of the tile that is read. */
typedef struct strip {
  sr__tile tile;
  double *values;
  unsigned char *mask;
  int64_t rows; /* at once */
} strip;

/* Sets the cells that the band's mask (nodata, alpha, mask band) leaves out to NaN. */
static sr_status apply_mask(sr_context *ctx, rasters *r, GDALRasterBandH band, strip *s, int row,
                            int rows) {
  int columns = (int)s->tile.columns;
  if (GDALGetMaskFlags(band) & GMF_ALL_VALID) return SR_OK;
  if (GDALRasterIO(GDALGetMaskBand(band), GF_Read, (int)s->tile.column, row, columns, rows, s->mask,
                   columns, rows, GDT_Byte, 0, 0) != CE_None)
    return fail_raster(ctx, r, r->path);
  for (int64_t i = 0; i < (int64_t)columns * rows; i++) {
    if (s->mask[i] == 0) s->values[i] = NAN;
  }
  return SR_OK;
}

/* One band, some rows at a time, into floats or (target) doubles; classes are not scaled. */
/* Where a band goes: `x`, or else `target`. */
typedef struct band_place {
  float *x;
  double *target;
  bool scaled; /* by the band's scale and offset */
} band_place;

static sr_status read_band(sr_context *ctx, rasters *r, const raster_band *band, strip *s,
                           band_place to) {
  sr_status status = SR_OK;
  int has_scale = 0, has_offset = 0, columns = (int)s->tile.columns;
  double scale = GDALGetRasterScale(band->handle, &has_scale);
  double offset = GDALGetRasterOffset(band->handle, &has_offset);
  if (!has_scale) scale = 1;
  if (!has_offset) offset = 0;
  for (int64_t row = 0; row < s->tile.rows; row += s->rows) {
    int rows = (int)(s->tile.rows - row < s->rows ? s->tile.rows - row : s->rows);
    int64_t first = row * columns, count = (int64_t)rows * columns;
    int top = (int)(s->tile.row + row);
    SR_TRY(sr__check_interrupt(ctx));
    if (GDALRasterIO(band->handle, GF_Read, (int)s->tile.column, top, columns, rows, s->values,
                     columns, rows, GDT_Float64, 0, 0) != CE_None)
      SR_TRY(fail_raster(ctx, r, r->file_paths[band->file]));
    SR_TRY(apply_mask(ctx, r, band->handle, s, top, rows));
    for (int64_t i = 0; i < count && to.scaled; i++) s->values[i] = s->values[i] * scale + offset;
    if (to.x)
      SR_TRY(sr__grid_store(ctx, r->file_paths[band->file], band->name, s->values, count,
                            to.x + first));
    else
      memcpy(to.target + first, s->values, (size_t)count * sizeof *to.target);
  }
cleanup:
  return status;
}

static void place_cells(const rasters *r, const sr__tile *tile, sr__grid *grid) {
  const double *t = r->transform;
  int64_t cells = grid->rows * grid->columns;
  for (int64_t i = 0; i < cells; i++) {
    double column = (double)(tile->column + i % grid->columns) + 0.5;
    double row = (double)(tile->row + i / grid->columns) + 0.5;
    grid->coordinates[i] = t[0] + column * t[1] + row * t[2];
    grid->coordinates[cells + i] = t[3] + column * t[4] + row * t[5];
  }
}

static sr_status read_bands(sr_context *ctx, rasters *r, const sr__tile *tile, bool alone,
                            sr__grid *grid) {
  enum { STRIP_CELLS = 1 << 18 };
  sr_status status = SR_OK;
  strip s = {.tile = *tile, .rows = STRIP_CELLS / tile->columns};
  int64_t cells = grid->rows * grid->columns, feature = 0;
  if (s.rows < 1) s.rows = 1;
  SR_NEW(ctx, s.values, s.rows * tile->columns);
  SR_NEW(ctx, s.mask, s.rows * tile->columns);
  for (int64_t b = 0; b < r->count; b++) {
    if (b == r->target)
      SR_TRY(read_band(ctx, r, &r->bands[b], &s,
                       (band_place){.target = grid->target,
                                    .scaled = r->roles[b].rule.form != SR__CLASSES}));
    if (r->roles[b].role != SR_ROLE_FEATURE || !r->bands[b].chosen) continue;
    SR_TRY(read_band(ctx, r, &r->bands[b], &s,
                     (band_place){.x = grid->x + feature++ * cells, .scaled = true}));
    if (alone) sr__progress(ctx, "reading", feature, grid->features);
  }
  place_cells(r, tile, grid);
cleanup:
  sr__free(ctx, s.values);
  sr__free(ctx, s.mask);
  return status;
}

/* ---- a table of cells --------------------------------------------------------------------- */

static const char *projection_of(const rasters *r) {
  const char *projection = GDALGetProjectionRef(r->files[0]);
  return projection && *projection ? projection : NULL;
}

/* `labels` may be NULL. A tile is a window of the lattice; where it is all of it no hole may be. */
static sr_status read_tile(sr_context *ctx, rasters *r, const sr__tile *tile, bool window,
                           const sr__vector_labels *labels, sr_table **table) {
  sr_status status = SR_OK;
  sr__grid grid = {.file = r->path,
                   .rows = tile->rows,
                   .columns = tile->columns,
                   .features = r->features,
                   .names = r->feature_names,
                   .projection = projection_of(r)};
  if (r->target >= 0) {
    grid.target_name = r->names[r->target];
    grid.target_rule = r->roles[r->target].rule;
  }
  if (window) {
    grid.lattice_rows = r->height;
    grid.lattice_columns = r->width;
    grid.first_row = tile->row;
    grid.first_column = tile->column;
  }
  if (labels) sr__labels_on_grid(labels, &grid);
  SR_TRY(sr__grid_allocate(ctx, &grid));
  SR_TRY(read_bands(ctx, r, tile, !window, &grid));
  if (labels) sr__labels_fill_target(labels, &grid);
  SR_TRY(sr__grid_to_table(ctx, &grid, table));
cleanup:
  sr__grid_free(ctx, &grid);
  return status;
}

/* ---- opening and closing ------------------------------------------------------------------ */

static void close_rasters(sr_context *ctx, rasters **rasters_of) {
  rasters *r = *rasters_of;
  if (!r) return;
  for (int f = 0; f < r->file_count; f++) GDALClose(r->files[f]);
  sr__arena_free(ctx, &r->arena);
  sr__free(ctx, r->bands);
  sr__free(ctx, r->names);
  sr__free(ctx, r->roles);
  sr__free(ctx, r->feature_names);
  sr__free(ctx, r);
  *rasters_of = NULL;
}

static sr_status open_rasters(sr_context *ctx, const char *path, const sr_read_options *options,
                              rasters **opened) {
  sr_status status = SR_OK;
  rasters *r = NULL;
  *opened = NULL;
  SR_TRY(sr__grid_check_options(ctx, path, options));
  SR_NEW_ZERO(ctx, r, 1);
  r->path = path;
  sr__gdal_enter(&r->gdal);
  status = choose_bands(ctx, r, options);
  if (status == SR_OK) status = give_roles(ctx, r, options);
  if (status != SR_OK) close_rasters(ctx, &r);
  sr__gdal_leave();
  *opened = r;
cleanup:
  return status;
}

/* All of it, in one piece. */
static sr_status read_geotiff(sr_context *ctx, const char *path, const sr_read_options *options,
                              sr_table **table) {
  sr_status status = SR_OK;
  rasters *r = NULL;
  sr__vector_labels *labels = NULL;
  *table = NULL;
  SR_TRY(open_rasters(ctx, path, options, &r));
  const sr__tile whole = {0, 0, r->height, r->width};
  sr__gdal_enter(&r->gdal);
  if (options->labels) {
    const sr__raster_shape shape = {r->height,
                                    r->width,
                                    r->features,
                                    {r->transform[0], r->transform[1], r->transform[2],
                                     r->transform[3], r->transform[4], r->transform[5]},
                                    projection_of(r),
                                    NULL};
    status = sr__labels_read(ctx, options, &shape, path, &labels);
  }
  if (status == SR_OK) status = read_tile(ctx, r, &whole, false, labels, table);
  sr__labels_free(ctx, &labels);
  close_rasters(ctx, &r);
  sr__gdal_leave();
cleanup:
  return status;
}

/* ---- tiles -------------------------------------------------------------------------------- */

struct sr__raster_reader {
  rasters *rasters;
  char *path;
};

static void close_reader(sr_context *ctx, sr__raster_reader **reader) {
  sr__gdal gdal;
  if (!*reader) return;
  sr__gdal_enter(&gdal);
  close_rasters(ctx, &(*reader)->rasters);
  sr__gdal_leave();
  sr__free(ctx, (*reader)->path);
  sr__free(ctx, *reader);
  *reader = NULL;
}

static sr_status open_reader(sr_context *ctx, const char *path, const sr_read_options *options,
                             sr__raster_reader **reader, sr__raster_shape *shape) {
  sr_status status = SR_OK;
  sr__raster_reader *opened = NULL;
  SR_NEW_ZERO(ctx, opened, 1);
  opened->path = sr__strdup(ctx, path);
  if (!opened->path) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(open_rasters(ctx, opened->path, options, &opened->rasters));
  rasters *r = opened->rasters;
  *shape = (sr__raster_shape){.rows = r->height,
                              .columns = r->width,
                              .features = r->features,
                              .projection = projection_of(r)};
  memcpy(shape->transform, r->transform, sizeof r->transform);
  if (r->target >= 0 && r->roles[r->target].rule.with_median) {
    shape->median = r->names[r->target];
    r->target = -1;
  }
  *reader = opened;
  opened = NULL;
cleanup:
  if (opened) close_reader(ctx, &opened);
  return status;
}

static sr_status read_reader(sr_context *ctx, sr__raster_reader *reader, const sr__tile *tile,
                             sr_table **table) {
  *table = NULL;
  sr__gdal_enter(&reader->rasters->gdal);
  sr_status status = read_tile(ctx, reader->rasters, tile, true, NULL, table);
  sr__gdal_leave();
  return status;
}

static const sr__tile_operations tiles = {.open = open_reader,
                                          .read = read_reader,
                                          .close = close_reader,
                                          .create = sr__geotiff_create,
                                          .put = sr__geotiff_put,
                                          .commit = sr__geotiff_commit,
                                          .abort = sr__geotiff_abort};

#define TILES &tiles
#define READ read_geotiff
#define WRITE sr__geotiff_write
#define MISSING NULL
#else
#define READ NULL
#define WRITE NULL
#define TILES NULL
#define MISSING "GDAL (Debian: libgdal-dev)"
#endif

static sr__recognition recognize(const sr__beginning *beginning) {
  static const char *const marks[] = {"II*\0", "MM\0*", "II+\0", "MM\0+"};
  for (int i = 0; i < 4; i++) {
    if (beginning->size >= 4 && memcmp(beginning->bytes, marks[i], 4) == 0) return SR__CERTAIN;
  }
  return SR__NOT_RECOGNIZED;
}

const sr__format sr__format_geotiff = {.about = {"geotiff",
                                                 "GeoTIFF rasters on one grid, a row per cell",
                                                 NULL, 0, MISSING},
                                       SR__ENDINGS_2(".tif", ".tiff"),
                                       .recognize = recognize,
                                       .read_path = READ,
                                       .write = WRITE,
                                       .tiles = TILES,
                                       .is_list = true,
                                       .takes_labels = true};
