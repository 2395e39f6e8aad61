#include "raster_tiles.h"

#include "format/format.h"

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

bool sr__next_tile(const sr__raster_shape *shape, int64_t cells, sr__tile *tile) {
  const int64_t side = SR__RASTER_BLOCK;
  int64_t row = tile->row, column = tile->column + tile->columns;
  if (tile->rows > 0 && column >= shape->columns) {
    row += tile->rows;
    column = 0;
  }
  if (row >= shape->rows) return false;
  int64_t deep = cells / (shape->columns * side); /* rows of blocks that fit */
  if (column == 0 && deep >= 1) {
    *tile = (sr__tile){row, 0, lesser(deep * side, shape->rows - row), shape->columns};
  } else {
    int64_t wide = cells / (side * side);
    if (wide < 1) wide = 1;
    *tile = (sr__tile){row, column, lesser(side, shape->rows - row),
                       lesser(wide * side, shape->columns - column)};
  }
  return true;
}

const sr__tile_operations *sr__tiles_of(const char *input, const sr_read_options *options,
                                        const char *output) {
  const sr__format *from = sr__format_of_path(input), *to = sr__format_of_path(output);
  if (options && (options->labels || options->window)) return NULL;
  if (options && options->format) {
    from = NULL;
    for (int i = 0; sr__format_at(i); i++)
      if (strcmp(sr__format_at(i)->about.name, options->format) == 0) from = sr__format_at(i);
  }
  return from && to && from == to ? from->tiles : NULL;
}
