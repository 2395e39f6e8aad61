/* Rasters read and written piece by piece, so that none need be whole in memory. Internal. */
#ifndef SR_DATA_RASTER_TILES_H
#define SR_DATA_RASTER_TILES_H

#include "table.h"

enum { SR__RASTER_BLOCK = 256 }; /* cells of a side of a block, the unit of what is written */

/* What is known of a raster before a cell is read. */
typedef struct sr__raster_shape {
  int64_t rows, columns, features;
  double transform[6];    /* x = t0 + column t1 + row t2, y = t3 + column t4 + row t5 */
  const char *projection; /* as well-known text, or NULL */
  const char *median;     /* a target that is compared with the median of the whole, which no tile
                             knows: not read; or NULL */
} sr__raster_shape;

/* Some cells of a raster, whole blocks except at its edges. */
typedef struct sr__tile {
  int64_t row, column, rows, columns;
} sr__tile;

typedef struct sr__raster_reader sr__raster_reader;
typedef struct sr__raster_writer sr__raster_writer;

/* How a format does it. The reader is opened, asked tile by tile and closed; the writer is given
 * tiles in the order of sr__next_tile, then committed or closed. */
typedef struct sr__tile_operations {
  sr_status (*open)(sr_context *ctx, const char *path, const sr_read_options *options,
                    sr__raster_reader **reader, sr__raster_shape *shape);
  /* The cells of a tile that are not missing in every feature, numbered as in the whole raster;
   * *table is NULL where all are. */
  sr_status (*read)(sr_context *ctx, sr__raster_reader *reader, const sr__tile *tile,
                    sr_table **table);
  void (*close)(sr_context *ctx, sr__raster_reader **reader); /* null-safe */
  /* `columns` is a table of the kind that will come, of any rows. */
  sr_status (*create)(sr_context *ctx, const char *path, const sr__raster_shape *shape,
                      const sr_table_view *columns, sr__raster_writer **writer);
  /* `table` NULL: a tile of holes. */
  sr_status (*put)(sr_context *ctx, sr__raster_writer *writer, const sr__tile *tile,
                   const sr_table_view *table);
  sr_status (*commit)(sr_context *ctx, sr__raster_writer **writer);
  void (*abort)(sr_context *ctx, sr__raster_writer **writer); /* null-safe */
} sr__tile_operations;

/* The tile after this one (all zeros: the first), with at most `cells` cells but at least a block.
 * Tiles are runs of blocks row by row, so that blocks come in one order whatever their size. False
 * past the last. */
bool sr__next_tile(const sr__raster_shape *shape, int64_t cells, sr__tile *tile);

/* The way to read `input` and write `output` in tiles, or NULL where it is done in one piece. */
const sr__tile_operations *sr__tiles_of(const char *input, const sr_read_options *options,
                                        const char *output);

#endif
