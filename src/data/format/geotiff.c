/* GeoTIFF rasters on one grid as a table of cells, one feature a band. */
#include "format.h"

#ifdef SR_HAVE_GDAL
#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_vsi.h>
#include <ctype.h>
#include <errno.h>
#include <gdal.h>
#include <gdal_frmts.h>
#include <math.h>
#include <ogr_srs_api.h>
#include <pthread.h>
#include <strings.h>
#include <sys/stat.h>

#include "data/parse_number.h"
#include "grid.h"

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
  double transform[6]; /* x = t0 + column t1 + row t2, y = t3 + column t4 + row t5 */
  sr__arena arena;
  char message[512]; /* GDAL's last words */
} rasters;

/* ---- GDAL --------------------------------------------------------------------------------- */

static void CPL_STDCALL keep_message(CPLErr level, CPLErrorNum number, const char *message) {
  (void)number;
  rasters *r = CPLGetErrorHandlerUserData();
  if (r && level >= CE_Warning) snprintf(r->message, sizeof r->message, "%s", message);
}

/* The list of drivers belongs to the process; only the one that is needed is added to it. */
static void register_driver(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (!GDALGetDriverByName("GTiff")) GDALRegister_GTiff();
  pthread_mutex_unlock(&lock);
}

static sr_status fail_raster(sr_context *ctx, const rasters *r, const char *file) {
  return sr__fail_at(ctx, SR_ERROR_FORMAT, file, 0, 0, "cannot read '%s' as GeoTIFF: %s", file,
                     r->message[0] ? r->message : "GDAL gives no reason");
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

/* GDAL takes "/vsicurl/...", "GTIFF_DIR:1:..." and addresses for files too. Only a plain file that
 * is there is opened, so that no name reaches the network, memory or another file. */
static sr_status check_plain_file(sr_context *ctx, const char *path) {
  struct stat about;
  if (strncmp(path, "/vsi", 4) == 0 || strstr(path, "://"))
    return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, path, 0, 0,
                       "'%s' is a virtual path; copy the raster to a file and name that", path);
  if (stat(path, &about) != 0)
    return sr__fail_at(ctx, SR_ERROR_IO, path, 0, 0, "cannot open '%s': %s", path, strerror(errno));
  if (!S_ISREG(about.st_mode))
    return sr__fail_at(ctx, SR_ERROR_IO, path, 0, 0, "'%s' is no plain file", path);
  return SR_OK;
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
  SR_TRY(check_plain_file(ctx, copy));
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
  int64_t listed = r->count;
  for (const char *const *name = options->variables; name && *name; name++) {
    int64_t band;
    if (is_raster_path(*name)) {
      SR_TRY(open_file(ctx, r, *name, strlen(*name), true));
      continue;
    }
    SR_TRY(sr__find_column(ctx, r->path, "variable", r->names, listed, *name, &band));
    r->bands[band].chosen = true;
  }
cleanup:
  return status;
}

/* ---- cells -------------------------------------------------------------------------------- */

/* Sets the cells that the band's mask (nodata, alpha, mask band) leaves out to NaN. */
static sr_status apply_mask(sr_context *ctx, rasters *r, GDALRasterBandH band, unsigned char *mask,
                            int row, int rows, double *values) {
  if (GDALGetMaskFlags(band) & GMF_ALL_VALID) return SR_OK;
  if (GDALRasterIO(GDALGetMaskBand(band), GF_Read, 0, row, r->width, rows, mask, r->width, rows,
                   GDT_Byte, 0, 0) != CE_None)
    return fail_raster(ctx, r, r->path);
  for (int64_t i = 0; i < (int64_t)r->width * rows; i++) {
    if (mask[i] == 0) values[i] = NAN;
  }
  return SR_OK;
}

typedef struct strip {
  double *values;
  unsigned char *mask;
  int rows;
} strip;

/* One band, some rows at a time, into floats or (target) doubles; classes are not scaled. */
static sr_status read_band(sr_context *ctx, rasters *r, const raster_band *band, strip *s, float *x,
                           double *target, bool scaled) {
  sr_status status = SR_OK;
  int has_scale = 0, has_offset = 0;
  double scale = GDALGetRasterScale(band->handle, &has_scale);
  double offset = GDALGetRasterOffset(band->handle, &has_offset);
  if (!has_scale) scale = 1;
  if (!has_offset) offset = 0;
  for (int row = 0; row < r->height; row += s->rows) {
    int rows = r->height - row < s->rows ? r->height - row : s->rows;
    int64_t first = (int64_t)row * r->width, count = (int64_t)rows * r->width;
    SR_TRY(sr__check_interrupt(ctx));
    if (GDALRasterIO(band->handle, GF_Read, 0, row, r->width, rows, s->values, r->width, rows,
                     GDT_Float64, 0, 0) != CE_None)
      SR_TRY(fail_raster(ctx, r, r->file_paths[band->file]));
    SR_TRY(apply_mask(ctx, r, band->handle, s->mask, row, rows, s->values));
    for (int64_t i = 0; i < count && (x || scaled); i++)
      s->values[i] = s->values[i] * scale + offset;
    if (x)
      SR_TRY(
          sr__grid_store(ctx, r->file_paths[band->file], band->name, s->values, count, x + first));
    else
      memcpy(target + first, s->values, (size_t)count * sizeof *target);
  }
cleanup:
  return status;
}

static void place_cells(const rasters *r, sr__grid *grid) {
  const double *t = r->transform;
  int64_t cells = grid->rows * grid->columns;
  for (int64_t i = 0; i < cells; i++) {
    double column = (double)(i % grid->columns) + 0.5, row = (double)(i / grid->columns) + 0.5;
    grid->coordinates[i] = t[0] + column * t[1] + row * t[2];
    grid->coordinates[cells + i] = t[3] + column * t[4] + row * t[5];
  }
}

static sr_status read_bands(sr_context *ctx, rasters *r, const sr__column_role *roles,
                            sr__grid *grid) {
  enum { STRIP_CELLS = 1 << 18 };
  sr_status status = SR_OK;
  strip s = {.rows = r->width < STRIP_CELLS ? STRIP_CELLS / r->width : 1};
  int64_t cells = grid->rows * grid->columns, feature = 0;
  SR_NEW(ctx, s.values, (int64_t)s.rows * r->width);
  SR_NEW(ctx, s.mask, (int64_t)s.rows * r->width);
  for (int64_t b = 0; b < r->count; b++) {
    if (roles[b].role == SR_ROLE_TARGET)
      SR_TRY(read_band(ctx, r, &r->bands[b], &s, NULL, grid->target,
                       roles[b].rule.form != SR__CLASSES));
    if (roles[b].role != SR_ROLE_FEATURE || !r->bands[b].chosen) continue;
    SR_TRY(read_band(ctx, r, &r->bands[b], &s, grid->x + feature++ * cells, NULL, true));
    sr__progress(ctx, "reading", feature, grid->features);
  }
  place_cells(r, grid);
cleanup:
  sr__free(ctx, s.values);
  sr__free(ctx, s.mask);
  return status;
}

static sr_status read_rasters(sr_context *ctx, rasters *r, const sr_read_options *options,
                              sr_table **table) {
  sr_status status = SR_OK;
  sr__grid grid = {.file = r->path};
  sr__column_role *roles = NULL;
  const char **names = NULL;
  SR_TRY(choose_bands(ctx, r, options));
  SR_NEW(ctx, roles, r->count);
  SR_NEW(ctx, names, r->count);
  SR_TRY(sr__assign_roles(ctx, r->path, r->names, r->count, options, roles));
  for (int64_t b = 0; b < r->count; b++) {
    if (roles[b].role == SR_ROLE_TARGET) {
      grid.target_name = r->names[b];
      grid.target_rule = roles[b].rule;
    }
    if (roles[b].role == SR_ROLE_FEATURE && r->bands[b].chosen)
      names[grid.features++] = r->names[b];
  }
  grid.rows = r->height;
  grid.columns = r->width;
  grid.names = names;
  const char *projection = GDALGetProjectionRef(r->files[0]);
  if (projection && *projection) grid.projection = projection;
  SR_TRY(sr__grid_allocate(ctx, &grid));
  SR_TRY(read_bands(ctx, r, roles, &grid));
  SR_TRY(sr__grid_to_table(ctx, &grid, table));
cleanup:
  sr__grid_free(ctx, &grid);
  sr__free(ctx, names);
  sr__free(ctx, roles);
  return status;
}

static sr_status read_geotiff(sr_context *ctx, const char *path, const sr_read_options *options,
                              sr_table **table) {
  sr_status status = SR_OK;
  rasters *r = NULL;
  *table = NULL;
  SR_TRY(sr__grid_check_options(ctx, path, options));
  SR_NEW_ZERO(ctx, r, 1);
  r->path = path;
  register_driver();
  CPLPushErrorHandlerEx(keep_message, r);
  status = read_rasters(ctx, r, options, table);
  for (int f = 0; f < r->file_count; f++) GDALClose(r->files[f]);
  CPLPopErrorHandler();
cleanup:
  if (r) {
    sr__arena_free(ctx, &r->arena);
    sr__free(ctx, r->bands);
    sr__free(ctx, r->names);
  }
  sr__free(ctx, r);
  return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* What the cells of a file are stored as. */
typedef struct raster_type {
  GDALDataType type;
  double nodata;
} raster_type;

/* Classes alone fit into bytes or short integers; shares and numbers are floats. */
static raster_type choose_type(const sr_table_view *t) {
  const raster_type floats = {t->value ? GDT_Float64 : GDT_Float32, NAN};
  double low = 0, high = t->classes.count - 1;
  if (!t->label || t->features > 0) return floats;
  for (int32_t c = 0; sr__classes_are_numbers(t) && c < t->classes.count; c++) {
    double value = 0;
    const char *name = t->classes.names[c];
    if (!sr__whole_double(name, strlen(name), &value) || value != floor(value))
      return (raster_type){GDT_Float64, NAN};
    low = c == 0 || value < low ? value : low;
    high = c == 0 || value > high ? value : high;
  }
  if (low >= 0 && high <= 254) return (raster_type){GDT_Byte, 255};
  if (low > INT16_MIN && high <= INT16_MAX) return (raster_type){GDT_Int16, INT16_MIN};
  return (raster_type){GDT_Float64, NAN};
}

/* Eight colors that are told apart by the color-blind as well (Okabe and Ito), then hues a golden
 * angle apart. */
static GDALColorEntry class_color(int32_t c) {
  static const short known[8][3] = {{230, 159, 0},   {86, 180, 233}, {0, 158, 115},
                                    {240, 228, 66},  {0, 114, 178},  {213, 94, 0},
                                    {204, 121, 167}, {153, 153, 153}};
  if (c < 8) return (GDALColorEntry){known[c][0], known[c][1], known[c][2], 255};
  double hue = fmod(c * 137.50776, 360.0), rgb[3];
  for (int k = 0; k < 3; k++) {
    double away = fabs(fmod(hue + 120.0 * (3 - k), 360.0) - 180.0) / 60.0;
    rgb[k] = away >= 2.0 ? 1.0 : away <= 1.0 ? 0.0 : away - 1.0;
  }
  return (GDALColorEntry){(short)(40 + 180 * rgb[0]), (short)(40 + 180 * rgb[1]),
                          (short)(40 + 180 * rgb[2]), 255};
}

/* Names of classes that are no numbers stand in the band's metadata: class_0=oak. A map of classes
 * in bytes has a color for each. */
static void describe_classes(GDALRasterBandH band, const sr_table_view *t, raster_type type) {
  bool numbers = sr__classes_are_numbers(t);
  GDALColorTableH colors = type.type == GDT_Byte ? GDALCreateColorTable(GPI_RGB) : NULL;
  const GDALColorEntry nothing = {0, 0, 0, 0};
  for (int value = 0; colors && value < 256; value++) GDALSetColorEntry(colors, value, &nothing);
  for (int32_t c = 0; c < t->classes.count; c++) {
    char key[32];
    double value = c;
    const char *name = t->classes.names[c];
    snprintf(key, sizeof key, "class_%d", c);
    if (!numbers) GDALSetMetadataItem(band, key, name, NULL);
    if (numbers && !sr__whole_double(name, strlen(name), &value)) continue;
    const GDALColorEntry color = class_color(c);
    if (colors) GDALSetColorEntry(colors, (int)value, &color);
  }
  if (colors) {
    GDALSetRasterColorTable(band, colors);
    GDALDestroyColorTable(colors);
  }
}

static sr_status fail_writing(sr_context *ctx, const rasters *r) {
  return sr__fail_at(ctx, SR_ERROR_OUTPUT, r->path, 0, 0, "cannot write '%s': %s", r->path,
                     r->message[0] ? r->message : "GDAL gives no reason");
}

static sr_status fill_raster(sr_context *ctx, rasters *r, GDALDatasetH file, const sr_table_view *t,
                             raster_type type) {
  sr_status status = SR_OK;
  double *cells = NULL;
  int64_t count = t->grid_rows * t->grid_columns;
  int width = (int)t->grid_columns, height = (int)t->grid_rows;
  SR_NEW(ctx, cells, count);
  for (int64_t layer = 0; layer < sr__grid_layers(t); layer++) {
    GDALRasterBandH band = GDALGetRasterBand(file, (int)layer + 1);
    bool is_target;
    char numbered[32];
    SR_TRY(sr__check_interrupt(ctx));
    sr__grid_layer(t, layer, cells);
    for (int64_t i = 0; !isnan(type.nodata) && i < count; i++)
      if (isnan(cells[i])) cells[i] = type.nodata;
    GDALSetDescription(band, sr__grid_layer_name(t, layer, &is_target, numbered));
    if (is_target && t->label) describe_classes(band, t, type);
    if (GDALSetRasterNoDataValue(band, type.nodata) != CE_None ||
        GDALRasterIO(band, GF_Write, 0, 0, width, height, cells, width, height, GDT_Float64, 0,
                     0) != CE_None)
      SR_TRY(fail_writing(ctx, r));
  }
cleanup:
  sr__free(ctx, cells);
  return status;
}

/* The file is made in memory and written whole, as all others are. */
static sr_status make_raster(sr_context *ctx, rasters *r, const sr_table_view *t,
                             const char *memory_path) {
  sr_status status = SR_OK;
  static const char *const creation[] = {"COMPRESS=DEFLATE", "TILED=YES", "BIGTIFF=IF_SAFER", NULL};
  double transform[6];
  raster_type type = choose_type(t);
  SR_TRY(sr__grid_transform(ctx, t, "a GeoTIFF", transform));
  if (t->grid_rows > INT32_MAX || t->grid_columns > INT32_MAX || sr__grid_layers(t) > 65535)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED, "a GeoTIFF holds at most 65535 bands"));
  GDALDatasetH file =
      GDALCreate(GDALGetDriverByName("GTiff"), memory_path, (int)t->grid_columns, (int)t->grid_rows,
                 (int)sr__grid_layers(t), type.type, (CSLConstList)creation);
  if (!file) SR_TRY(fail_writing(ctx, r));
  if (t->coordinate_count >= 2) GDALSetGeoTransform(file, transform);
  if (t->projection) GDALSetProjection(file, t->projection);
  status = fill_raster(ctx, r, file, t, type);
  GDALClose(file);
cleanup:
  return status;
}

static sr_status write_geotiff(sr_context *ctx, const sr_table_view *t, const char *path) {
  sr_status status = SR_OK;
  rasters *r = NULL;
  sr__writer *writer = NULL;
  char memory_path[64] = "";
  SR_NEW_ZERO(ctx, r, 1);
  r->path = path;
  snprintf(memory_path, sizeof memory_path, "/vsimem/specroute_%p.tif", (void *)r);
  register_driver();
  CPLPushErrorHandlerEx(keep_message, r);
  status = make_raster(ctx, r, t, memory_path);
  vsi_l_offset size = 0;
  const GByte *bytes = status == SR_OK ? VSIGetMemFileBuffer(memory_path, &size, FALSE) : NULL;
  if (bytes) status = sr__writer_open(ctx, path, &writer);
  if (bytes && status == SR_OK) status = sr__writer_put(writer, bytes, (size_t)size);
  if (bytes && status == SR_OK) status = sr__writer_commit(&writer);
  sr__writer_abort(&writer);
  VSIUnlink(memory_path);
  CPLPopErrorHandler();
cleanup:
  sr__free(ctx, r);
  return status;
}

#define READ read_geotiff
#define WRITE write_geotiff
#define MISSING NULL
#else
#define READ NULL
#define WRITE NULL
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
                                       .is_list = true};
