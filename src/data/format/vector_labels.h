/* Polygons and points of a vector file as labels of a raster's cells. Internal to src/data. */
#ifndef SR_DATA_FORMAT_VECTOR_LABELS_H
#define SR_DATA_FORMAT_VECTOR_LABELS_H

#include "data/raster_tiles.h"
#include "grid.h"

typedef struct sr__vector_labels sr__vector_labels;

/* Which polygon of options->labels holds the middle of each cell, with the attributes that
 * options->target and options->group name. Polygons are brought into the raster's reference system.
 * Overlapping ones: the last in the file has the cell. Between sr__gdal_enter and sr__gdal_leave.
 * Errors: SR_ERROR_IO, SR_ERROR_FORMAT, SR_ERROR_NOT_FOUND (layer, attribute), SR_ERROR_DATA
 * (lines, reference systems that cannot be joined, no cell inside a polygon), SR_ERROR_INTERRUPTED.
 */
SR_MUST_CHECK sr_status sr__labels_read(sr_context *ctx, const sr_read_options *options,
                                        const sr__raster_shape *shape, const char *raster,
                                        sr__vector_labels **labels);
/* Target and groups of a grid that is all of the raster, before it is allocated ... */
void sr__labels_on_grid(const sr__vector_labels *labels, sr__grid *grid);
/* ... and the target of its cells afterwards. */
void sr__labels_fill_target(const sr__vector_labels *labels, sr__grid *grid);
void sr__labels_free(sr_context *ctx, sr__vector_labels **labels);

#endif
