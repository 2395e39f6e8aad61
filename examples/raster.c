/* A raster: the cells of a lattice with a lake in the middle. The graph joins lattice neighbors,
 * its Fiedler pair says where it is thinnest, and the parts are regions. cc raster.c $(pkg-config
 * --cflags --libs specroute) && ./a.out */
#include <stdio.h>
#include <stdlib.h>

#include <specroute/specroute.h>

enum { LINES = 60, COLUMNS = 80 };

int main(void) {
  static int64_t cell[LINES * COLUMNS];
  static float height[LINES * COLUMNS];
  int64_t rows = 0;
  for (int64_t c = 0; c < LINES * COLUMNS; c++) {
    int64_t down = c / COLUMNS - LINES / 2, right = c % COLUMNS - COLUMNS / 2;
    if (down * down + right * right < 200) continue; /* the lake has no rows */
    height[rows] = (float)(down * down + right * right);
    cell[rows++] = c;
  }
  sr_status status = SR_OK;
  sr_context *ctx = NULL;
  sr_table *table = NULL;
  sr_graph *graph = NULL;
  sr_spectrum *spectrum = NULL;
  sr_parts *parts = NULL;
  sr_parts_options options;
  sr_parts_options_init(&options);
  options.parts = 12;
  sr_table_view view = {.rows = rows,
                        .features = 1,
                        .x = height,
                        .grid_rows = LINES,
                        .grid_columns = COLUMNS,
                        .cell = cell};
  SR_TRY(sr_context_new(NULL, &ctx));
  SR_TRY(sr_table_new(ctx, &view, &table));
  SR_TRY(sr_graph_build(ctx, table, "grid:8", 1, &graph));
  SR_TRY(sr_spectrum_compute(ctx, graph, NULL, 1, &spectrum));
  SR_TRY(sr_parts_compute(ctx, graph, &options, &parts));
  const sr_parts_view *cut = sr_parts_get(parts);
  printf("%lld cells, lambda_2 = %.3g by %s, %d regions that cut %lld edges\n", (long long)rows,
         sr_spectrum_get(spectrum)->value[0], sr_spectrum_get(spectrum)->solver, cut->parts,
         (long long)cut->cut_edges);
cleanup:
  if (status != SR_OK) fprintf(stderr, "%s\n", ctx ? sr_context_error(ctx).message : "no context");
  sr_parts_free(&parts);
  sr_spectrum_free(&spectrum);
  sr_graph_free(&graph);
  sr_table_free(&table);
  sr_context_free(&ctx);
  return status == SR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
