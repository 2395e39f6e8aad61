/* Calls of GDAL: only the drivers that are asked for, messages kept instead of printed, plain files
 * alone. Internal to src/data. */
#ifndef SR_DATA_FORMAT_GDAL_SESSION_H
#define SR_DATA_FORMAT_GDAL_SESSION_H

#include "core/core.h"

/* A failure with less than this left is one of memory. */
enum { SR__GDAL_BYTES = 8 << 20 };

/* GDAL's last words between enter and leave. */
typedef struct sr__gdal {
  char message[512];
} sr__gdal;

/* Every call of GDAL stands between these two, on one thread. */
void sr__gdal_enter(sr__gdal *session);
void sr__gdal_leave(void);
/* What to say where GDAL failed. */
const char *sr__gdal_said(const sr__gdal *session);

/* GDAL takes "/vsicurl/...", "GTIFF_DIR:1:..." and addresses for files too. Only a plain file that
 * is there is opened, so that no name reaches the network, memory or another file. */
SR_MUST_CHECK sr_status sr__gdal_check_file(sr_context *ctx, const char *path);

#endif
