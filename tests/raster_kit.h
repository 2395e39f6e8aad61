/* Rasters and vector files made with GDAL for the tests that read them. */
#ifndef SR_TESTS_RASTER_KIT_H
#define SR_TESTS_RASTER_KIT_H

#include <cpl_conv.h>
#include <gdal.h>
#include <gdal_frmts.h>
#include <math.h>
#include <ogr_api.h>
#include <ogr_srs_api.h>

#include "harness.h"

extern void RegisterOGRGeoPackage(void);
extern void RegisterOGRGeoJSON(void);

static inline char *test_path(char path[300], const char *name) {
  snprintf(path, 300, "%s/%s", test_folder(), name);
  return path;
}

/* Well-known text of an EPSG code; freed by CPLFree, or never. */
static inline char *test_reference(int code) {
  char *text = NULL;
  OGRSpatialReferenceH reference = OSRNewSpatialReference(NULL);
  assert_int_equal(OSRImportFromEPSG(reference, code), OGRERR_NONE);
  OSRExportToWkt(reference, &text);
  OSRDestroySpatialReference(reference);
  return text;
}

/* Bands of doubles, row-major; NaN is nodata. `projection` may be NULL. */
static inline void test_raster(const char *path, int width, int height, int bands,
                               const double *values, const double transform[6],
                               const char *projection) {
  double place[6];
  GDALRegister_GTiff();
  memcpy(place, transform, sizeof place);
  GDALDatasetH file =
      GDALCreate(GDALGetDriverByName("GTiff"), path, width, height, bands, GDT_Float64, NULL);
  assert_non_null(file);
  GDALSetGeoTransform(file, place);
  if (projection) GDALSetProjection(file, projection);
  for (int b = 1; b <= bands; b++) {
    GDALRasterBandH band = GDALGetRasterBand(file, b);
    GDALSetRasterNoDataValue(band, NAN);
    void *from = (void *)(uintptr_t)(values + (int64_t)(b - 1) * width * height);
    assert_int_equal(GDALRasterIO(band, GF_Write, 0, 0, width, height, from, width, height,
                                  GDT_Float64, 0, 0),
                     CE_None);
  }
  GDALClose(file);
}

#endif
