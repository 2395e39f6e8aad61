/* Lattice graph with holes: cells joined to their 4 or 8 neighbors that hold a row. Where the
 * columns go once round the globe, the last one lies beside the first. */
#include <math.h>

#include "data/geographic.h"
#include "graph.h"

typedef struct grid_work {
  const int64_t *cell; /* of each row, increasing */
  int64_t rows, columns;
  bool diagonal, wraps;
  sr_graph *graph;
} grid_work;

/* The first row whose cell is at least `cell`. */
static int64_t first_row_from(const grid_work *work, int64_t cell) {
  int64_t low = 0, high = work->rows;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (work->cell[middle] < cell)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Walks along the rows with one finger in the lattice line above and one in the line below. Cells
 * increase, so the fingers only move forward and no map from cells to rows is needed. */
typedef struct grid_fingers {
  int64_t above, below;
} grid_fingers;

static void advance(const grid_work *work, int64_t *finger, int64_t cell) {
  while (*finger < work->rows && work->cell[*finger] < cell) (*finger)++;
}

/* Appends the rows whose cells lie in [low, high], starting at the finger. */
static int collect(const grid_work *work, int64_t finger, int64_t low, int64_t high, int32_t *found,
                   int count) {
  for (; finger < work->rows && work->cell[finger] <= high; finger++) {
    if (work->cell[finger] >= low) found[count++] = (int32_t)finger;
  }
  return count;
}

/* Adds the rows at the other end of the lattice lines of a cell in the first or last column. */
static int collect_across(const grid_work *work, int64_t cell, int32_t *found, int count) {
  int64_t column = cell % work->columns, reach = work->diagonal ? 1 : 0;
  if (!work->wraps || (column != 0 && column != work->columns - 1)) return count;
  int64_t other = column == 0 ? cell + work->columns - 1 : cell - work->columns + 1;
  for (int64_t line = -reach; line <= reach; line++) {
    int64_t wanted = other + line * work->columns, row = first_row_from(work, wanted);
    if (row >= work->rows || work->cell[row] != wanted) continue;
    int at = count++;
    for (; at > 0 && found[at - 1] > row; at--) found[at] = found[at - 1];
    found[at] = (int32_t)row;
  }
  return count;
}

/* The neighbors of row i in increasing order. */
static int neighbors_of(const grid_work *work, int64_t i, grid_fingers *fingers, int32_t *found) {
  int64_t cell = work->cell[i], column = cell % work->columns;
  bool has_left = column > 0, has_right = column + 1 < work->columns;
  int64_t reach_left = work->diagonal && has_left, reach_right = work->diagonal && has_right;
  int64_t up = cell - work->columns, down = cell + work->columns;
  int count = 0;
  advance(work, &fingers->above, up - reach_left);
  count = collect(work, fingers->above, up - reach_left, up + reach_right, found, count);
  if (has_left && i > 0 && work->cell[i - 1] == cell - 1) found[count++] = (int32_t)(i - 1);
  if (has_right && i + 1 < work->rows && work->cell[i + 1] == cell + 1)
    found[count++] = (int32_t)(i + 1);
  advance(work, &fingers->below, down - reach_left);
  count = collect(work, fingers->below, down - reach_left, down + reach_right, found, count);
  return collect_across(work, cell, found, count);
}

/* By the longitudes of all columns, however uneven: what is left to the whole circle is no wider
 * than one and a half of the widest step. */
static bool axis_goes_round(const double *along, int64_t columns) {
  double widest = 0.0, left = 360.0 - fabs(along[columns - 1] - along[0]);
  for (int64_t c = 1; c < columns; c++) widest = fmax(widest, fabs(along[c] - along[c - 1]));
  return left > 0.0 && left <= 1.5 * widest;
}

/* Whether the columns go once round the globe. Where no axis tells, their number times the step
 * between two of them is 360 degrees. */
static bool goes_round(const sr_table_view *table) {
  if (!sr__is_geographic(table->projection) || table->coordinate_count < 2 ||
      table->grid_columns < 3)
    return false;
  const double *along = table->grid_axes ? table->grid_axes + table->grid_rows : NULL;
  if (along && table->rows > 0 &&
      table->coordinates[0] == along[table->cell[0] % table->grid_columns])
    return axis_goes_round(along, table->grid_columns);
  for (int64_t i = 1; i < table->rows; i++) {
    int64_t apart = table->cell[i] - table->cell[i - 1];
    if (table->cell[i] / table->grid_columns != table->cell[i - 1] / table->grid_columns) continue;
    double step = fabs(table->coordinates[i] - table->coordinates[i - 1]) / (double)apart;
    return fabs(step * (double)table->grid_columns - 360.0) < 0.25 * step;
  }
  return false;
}

static grid_fingers place_fingers(const grid_work *work, int64_t row) {
  int64_t cell = work->cell[row];
  return (grid_fingers){first_row_from(work, cell - work->columns - 1),
                        first_row_from(work, cell + work->columns - 1)};
}

static sr_status count_grid(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  grid_work *work = data;
  sr__span span = sr__graph_chunk(work->rows, chunk);
  grid_fingers fingers = place_fingers(work, span.begin);
  int32_t found[8]; /* in the first or last column the far side takes the place of the near one */
  for (int64_t i = span.begin; i < span.end; i++)
    work->graph->offset[i + 1] = neighbors_of(work, i, &fingers, found);
  return SR_OK;
}

static sr_status fill_grid(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  grid_work *work = data;
  sr__span span = sr__graph_chunk(work->rows, chunk);
  grid_fingers fingers = place_fingers(work, span.begin);
  for (int64_t i = span.begin; i < span.end; i++)
    (void)neighbors_of(work, i, &fingers, work->graph->neighbor + work->graph->offset[i]);
  return SR_OK;
}

typedef struct grid_options {
  int k; /* 0: four neighbors, 1: eight */
  int weights;
} grid_options;

static sr_status build_grid(sr_context *ctx, const sr_table_view *table, const void *options,
                            uint64_t seed, sr_graph **graph) {
  (void)seed;
  sr_status status = SR_OK;
  const grid_options *o = options;
  grid_work work = {table->cell, table->rows, table->grid_columns, o->k == 1, false, NULL};
  if (!table->cell || table->grid_columns < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "the rows are not cells of one lattice; read a NetCDF or GeoTIFF file, or use "
                    "graph space with coordinates"));
  work.wraps = goes_round(table);
  SR_TRY(sr__graph_begin(ctx, table->rows, "grid", &work.graph));
  int64_t chunks = sr__graph_chunks(table->rows);
  SR_TRY(sr__parallel_for(ctx, chunks, count_grid, &work));
  SR_TRY(sr__graph_sum_degrees(ctx, work.graph, false));
  SR_TRY(sr__parallel_for(ctx, chunks, fill_grid, &work));
  sr__graph_finish(work.graph);
  if (o->weights == SR__WEIGHTS_RBF)
    SR_TRY(sr__graph_weigh(ctx, table, SR__METRIC_FEATURES, work.graph));
  *graph = work.graph;
  work.graph = NULL;
cleanup:
  sr_graph_free(&work.graph);
  return status;
}

static const sr_option options_of_grid[] = {SR_CHOICE(grid_options, k, "4", "4|8",
                                                      "neighbors of a cell; 8: with diagonals"),
                                            SR__WEIGHTS_OPTION(grid_options), SR_OPTIONS_END};

const sr__graph_builder sr__builder_grid = {.about = {"grid", "lattice neighbors, holes left out",
                                                      options_of_grid, sizeof(grid_options), NULL},
                                            .relation = SR_RELATION_PLACE,
                                            .build = build_grid};
