/* GeoTIFFs in tiles, compressed, block by block. */
#include "geotiff_write.h"

#include <cpl_vsi.h>
#include <gdal.h>
#include <math.h>

#include "core/writer.h"
#include "data/geographic.h"
#include "data/parse_number.h"
#include "gdal_session.h"
#include "grid.h"

/* ---- how cells are stored ----------------------------------------------------------------- */

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

/* ---- a file in the making ------------------------------------------------------------------- */

struct sr__raster_writer {
  sr__writer *file;
  GDALDatasetH raster;
  char *path;        /* as the user gave it */
  char made_at[512]; /* the file that GDAL writes: beside the output, or in memory */
  bool in_memory;    /* what goes straight through is made in memory */
  raster_type type;
  int64_t rows, columns, layers;
  double *cells;  /* of a block */
  void *stored;   /* the same as stored */
  int64_t *first; /* per line of a block: its first row of the table, then the end */
  sr__gdal gdal;
};

static sr_status fail_writing(sr_context *ctx, const sr__raster_writer *w) {
  return sr__fail_at(ctx, SR_ERROR_OUTPUT, w->path, 0, 0, "cannot write '%s': %s", w->path,
                     sr__gdal_said(&w->gdal));
}

/* The file and what GDAL may have put beside it. */
static void remove_made(const sr__raster_writer *w) {
  char beside[sizeof w->made_at + 16];
  snprintf(beside, sizeof beside, "%s.aux.xml", w->made_at);
  VSIUnlink(beside);
  if (w->in_memory) VSIUnlink(w->made_at);
}

void sr__geotiff_abort(sr_context *ctx, sr__raster_writer **writer) {
  sr__raster_writer *w = *writer;
  if (!w) return;
  sr__gdal_enter(&w->gdal);
  if (w->raster) GDALClose(w->raster);
  if (w->made_at[0]) remove_made(w);
  sr__gdal_leave();
  sr__writer_abort(&w->file);
  sr__free(ctx, w->path);
  sr__free(ctx, w->cells);
  sr__free(ctx, w->stored);
  sr__free(ctx, w->first);
  sr__free(ctx, w);
  *writer = NULL;
}

static void describe_bands(sr__raster_writer *w, const sr_table_view *columns) {
  for (int64_t layer = 0; layer < w->layers; layer++) {
    GDALRasterBandH band = GDALGetRasterBand(w->raster, (int)layer + 1);
    bool is_target;
    char numbered[32];
    GDALSetDescription(band, sr__grid_layer_name(columns, layer, &is_target, numbered));
    GDALSetRasterNoDataValue(band, w->type.nodata);
    if (is_target && columns->label) describe_classes(band, columns, w->type);
  }
}

static sr_status create_raster(sr_context *ctx, sr__raster_writer *w, const sr__raster_shape *shape,
                               const sr_table_view *columns) {
  static const char *const creation[] = {
      "COMPRESS=DEFLATE", "TILED=YES", "BLOCKXSIZE=256", "BLOCKYSIZE=256", "INTERLEAVE=BAND",
      "BIGTIFF=IF_SAFER", NULL};
  _Static_assert(SR__RASTER_BLOCK == 256, "blocks are named in the options too");
  w->raster = GDALCreate(GDALGetDriverByName("GTiff"), w->made_at, (int)shape->columns,
                         (int)shape->rows, (int)w->layers, w->type.type, (CSLConstList)creation);
  if (!w->raster) return fail_writing(ctx, w);
  static const double unit[6] = {0, 1, 0, 0, 0, 1}; /* cells of no place */
  double transform[6];
  memcpy(transform, shape->transform, sizeof transform);
  if (memcmp(transform, unit, sizeof unit) != 0) GDALSetGeoTransform(w->raster, transform);
  if (shape->projection) GDALSetProjection(w->raster, shape->projection);
  describe_bands(w, columns);
  return SR_OK;
}

sr_status sr__geotiff_create(sr_context *ctx, const char *path, const sr__raster_shape *shape,
                             const sr_table_view *columns, sr__raster_writer **writer) {
  enum { BLOCK = SR__RASTER_BLOCK };
  sr_status status = SR_OK;
  sr__raster_writer *w = NULL;
  *writer = NULL;
  SR_NEW_ZERO(ctx, w, 1);
  w->path = sr__strdup(ctx, path);
  if (!w->path) SR_TRY(SR_ERROR_MEMORY);
  w->type = choose_type(columns);
  w->rows = shape->rows;
  w->columns = shape->columns;
  w->layers = sr__grid_layers(columns);
  if (w->rows > INT32_MAX || w->columns > INT32_MAX || w->layers > 65535)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED, "a GeoTIFF holds at most 65535 bands"));
  SR_NEW(ctx, w->cells, BLOCK * BLOCK);
  w->stored = sr__alloc(ctx, BLOCK * BLOCK, sizeof(double));
  if (!w->stored) SR_TRY(SR_ERROR_MEMORY);
  SR_NEW(ctx, w->first, 2 * BLOCK);
  SR_TRY(sr__writer_open(ctx, path, &w->file));
  const char *temporary = sr__writer_temporary(w->file);
  if (temporary && strlen(temporary) >= sizeof w->made_at)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_OUTPUT, path, 0, 0, "the path '%s' is too long", path));
  w->in_memory = !temporary;
  if (temporary)
    snprintf(w->made_at, sizeof w->made_at, "%s", temporary);
  else
    snprintf(w->made_at, sizeof w->made_at, "/vsimem/specroute_%p.tif", (void *)w);
  sr__gdal_enter(&w->gdal);
  status = create_raster(ctx, w, shape, columns);
  sr__gdal_leave();
  SR_TRY(status);
  *writer = w;
  w = NULL;
cleanup:
  sr__geotiff_abort(ctx, &w);
  return status;
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* The first row of the table whose cell is not below `cell`. */
static int64_t first_row(const sr_table_view *t, int64_t cell) {
  int64_t low = 0, high = t->rows;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (t->cell[middle] < cell)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Which rows of the table lie on each line of a block. */
static void find_lines(sr__raster_writer *w, const sr_table_view *t, int64_t top, int64_t left) {
  int64_t right = left + SR__RASTER_BLOCK < w->columns ? left + SR__RASTER_BLOCK : w->columns;
  for (int64_t y = 0; y < SR__RASTER_BLOCK; y++) {
    bool inside = t && top + y < w->rows;
    w->first[2 * y] = inside ? first_row(t, (top + y) * w->columns + left) : 0;
    w->first[2 * y + 1] = inside ? first_row(t, (top + y) * w->columns + right) : 0;
  }
}

static void fill_block(sr__raster_writer *w, const sr_table_view *t, const double *class_values,
                       int64_t layer, int64_t left) {
  enum { BLOCK = SR__RASTER_BLOCK };
  for (int64_t i = 0; i < BLOCK * BLOCK; i++) w->cells[i] = w->type.nodata;
  for (int64_t y = 0; y < BLOCK; y++) {
    for (int64_t i = w->first[2 * y]; i < w->first[2 * y + 1]; i++) {
      double value = sr__grid_value(t, class_values, layer, i);
      if (!isnan(value)) w->cells[y * BLOCK + t->cell[i] % w->columns - left] = value;
    }
  }
}

/* GDAL's cache is passed by, so that blocks stand in the file in the order in which they come. */
static sr_status put_block(sr_context *ctx, sr__raster_writer *w, const sr_table_view *t,
                           const double *class_values, int64_t top, int64_t left) {
  enum { BLOCK = SR__RASTER_BLOCK };
  find_lines(w, t, top, left);
  for (int64_t layer = 0; layer < w->layers; layer++) {
    fill_block(w, t, class_values, layer, left);
    GDALCopyWords64(w->cells, GDT_Float64, sizeof *w->cells, w->stored, w->type.type,
                    GDALGetDataTypeSizeBytes(w->type.type), BLOCK * BLOCK);
    if (GDALWriteBlock(GDALGetRasterBand(w->raster, (int)layer + 1), (int)(left / BLOCK),
                       (int)(top / BLOCK), w->stored) != CE_None)
      return fail_writing(ctx, w);
  }
  return SR_OK;
}

sr_status sr__geotiff_put(sr_context *ctx, sr__raster_writer *w, const sr__tile *tile,
                          const sr_table_view *table) {
  sr_status status = SR_OK;
  double *class_values = NULL;
  if (table) SR_TRY(sr__grid_class_values(ctx, table, &class_values));
  for (int64_t y = tile->row; y < tile->row + tile->rows; y += SR__RASTER_BLOCK) {
    SR_TRY(sr__check_interrupt(ctx));
    sr__gdal_enter(&w->gdal);
    for (int64_t x = tile->column; status == SR_OK && x < tile->column + tile->columns;
         x += SR__RASTER_BLOCK)
      status = put_block(ctx, w, table, class_values, y, x);
    sr__gdal_leave();
    SR_TRY(status);
  }
cleanup:
  sr__free(ctx, class_values);
  return status;
}

sr_status sr__geotiff_commit(sr_context *ctx, sr__raster_writer **writer) {
  sr_status status = SR_OK;
  sr__raster_writer *w = *writer;
  sr__gdal_enter(&w->gdal);
  w->gdal.message[0] = '\0';
  GDALClose(w->raster);
  w->raster = NULL;
  bool failed = w->gdal.message[0];
  vsi_l_offset size = 0;
  const GByte *bytes = w->in_memory ? VSIGetMemFileBuffer(w->made_at, &size, FALSE) : NULL;
  if (failed) status = fail_writing(ctx, w);
  if (bytes && status == SR_OK) status = sr__writer_put(w->file, bytes, (size_t)size);
  sr__gdal_leave();
  if (status == SR_OK) status = sr__writer_commit(&w->file);
  sr__geotiff_abort(ctx, writer);
  return status;
}

/* ---- a table in one piece ---------------------------------------------------------------------
 */

sr_status sr__geotiff_write(sr_context *ctx, const sr_table_view *t, const char *path) {
  sr_status status = SR_OK;
  sr__raster_writer *w = NULL;
  sr__raster_shape shape = {.rows = t->grid_rows,
                            .columns = t->grid_columns,
                            .projection = t->projection};
  const sr__tile whole = {0, 0, t->grid_rows, t->grid_columns};
  if (sr__is_turned(t->projection))
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "the cells count degrees from a turned pole, and a GeoTIFF would show them "
                    "elsewhere; write .nc instead"));
  SR_TRY(sr__grid_transform(ctx, t, "a GeoTIFF", shape.transform));
  SR_TRY(sr__geotiff_create(ctx, path, &shape, t, &w));
  SR_TRY(sr__geotiff_put(ctx, w, &whole, t));
  SR_TRY(sr__geotiff_commit(ctx, &w));
cleanup:
  sr__geotiff_abort(ctx, &w);
  return status;
}
