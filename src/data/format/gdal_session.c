#include "gdal_session.h"

#include <cpl_error.h>
#include <errno.h>
#include <gdal.h>
#include <gdal_frmts.h>
#include <pthread.h>
#include <sys/stat.h>

/* In GDAL's headers for C++ alone. */
extern void RegisterOGRGeoPackage(void);
extern void RegisterOGRGeoJSON(void);
extern void RegisterOGRShape(void);

static void CPL_STDCALL keep_message(CPLErr level, CPLErrorNum number, const char *message) {
  (void)number;
  sr__gdal *session = CPLGetErrorHandlerUserData();
  if (session && level >= CE_Warning)
    snprintf(session->message, sizeof session->message, "%s", message);
}

/* The list of drivers belongs to the process; only those that are needed are added to it. */
static void register_drivers(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (!GDALGetDriverByName("GTiff")) GDALRegister_GTiff();
  if (!GDALGetDriverByName("MEM")) GDALRegister_MEM();
  if (!GDALGetDriverByName("GPKG")) RegisterOGRGeoPackage();
  if (!GDALGetDriverByName("GeoJSON")) RegisterOGRGeoJSON();
  if (!GDALGetDriverByName("ESRI Shapefile")) RegisterOGRShape();
  pthread_mutex_unlock(&lock);
}

void sr__gdal_enter(sr__gdal *session) {
  register_drivers();
  CPLPushErrorHandlerEx(keep_message, session);
}

void sr__gdal_leave(void) { CPLPopErrorHandler(); }

const char *sr__gdal_said(const sr__gdal *session) {
  return session->message[0] ? session->message : "GDAL gives no reason";
}

/* What its drivers take where they begin: without it they end the process. */
enum { OPEN_BYTES = 24 << 20 };

sr_status sr__gdal_check_file(sr_context *ctx, const char *path) {
  struct stat about;
  if (strncmp(path, "/vsi", 4) == 0 || strstr(path, "://"))
    return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, path, 0, 0,
                       "'%s' is a virtual path; copy what it names to a file and name that", path);
  if (stat(path, &about) != 0)
    return sr__fail_at(ctx, SR_ERROR_IO, path, 0, 0, "cannot open '%s': %s", path, strerror(errno));
  if (!S_ISREG(about.st_mode))
    return sr__fail_at(ctx, SR_ERROR_IO, path, 0, 0, "'%s' is no plain file", path);
  return sr__memory_check(ctx, OPEN_BYTES);
}
