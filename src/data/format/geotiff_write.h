/* GeoTIFFs as they are written: of a table, or tile by tile. Internal to src/data. */
#ifndef SR_DATA_FORMAT_GEOTIFF_WRITE_H
#define SR_DATA_FORMAT_GEOTIFF_WRITE_H

#include "data/raster_tiles.h"

/* As in sr__tile_operations. */
SR_MUST_CHECK sr_status sr__geotiff_create(sr_context *ctx, const char *path,
                                           const sr__raster_shape *shape,
                                           const sr_table_view *columns,
                                           sr__raster_writer **writer);
SR_MUST_CHECK sr_status sr__geotiff_put(sr_context *ctx, sr__raster_writer *writer,
                                        const sr__tile *tile, const sr_table_view *table);
SR_MUST_CHECK sr_status sr__geotiff_commit(sr_context *ctx, sr__raster_writer **writer);
void sr__geotiff_abort(sr_context *ctx, sr__raster_writer **writer);

/* The cells of a table, whole. */
SR_MUST_CHECK sr_status sr__geotiff_write(sr_context *ctx, const sr_table_view *table,
                                          const char *path);

#endif
