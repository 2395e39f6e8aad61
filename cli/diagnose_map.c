/* The Fiedler vector of the dependency graph on the map. */
#include <stdlib.h>

#include "diagnose_page.h"

/* Where a row lies on the map: its coordinates, or its place on the lattice. */
static bool position(const sr_table_view *t, int64_t i, double *x, double *y) {
  if (t->coordinate_count >= 2) {
    *x = t->coordinates[i];
    *y = t->coordinates[t->rows + i];
    return true;
  }
  if (!t->cell) return false;
  *x = (double)(t->cell[i] % t->grid_columns);
  *y = -(double)(t->cell[i] / t->grid_columns);
  return true;
}

static sr_status add_map_plot(sr_context *ctx, sr_page *page, const sr_table_view *t,
                              const double *vector) {
  double *x = malloc(2 * ((size_t)t->rows + 1) * sizeof *x), *y = x ? x + t->rows : NULL;
  if (!x) return SR_ERROR_MEMORY;
  bool placed = true;
  for (int64_t i = 0; i < t->rows && placed; i++) placed = position(t, i, x + i, y + i);
  sr_plot_series series = {
      .kind = SR_PLOT_HEAT_MAP, .count = t->rows, .x = x, .y = y, .value = vector};
  sr_plot plot = {.title = "Fiedler vector on the map: the first cut runs where it is 0",
                  .series_count = 1,
                  .series = &series};
  sr_status status = placed ? sr_page_add_plot(ctx, page, &plot) : SR_OK;
  free(x);
  return status;
}

sr_status diagnose_add_map(cli_run *run, sr_page *page, const sr_table *table,
                           const sr_graph *graph) {
  sr_status status = SR_OK;
  sr_context *ctx = run->ctx;
  sr_spectrum *spectrum = NULL;
  sr_spectrum_options solver;
  sr_spectrum_options_init(&solver);
  solver.tolerance = 1e-2; /* a picture needs no more */
  if (!graph || sr_graph_get(graph)->arcs == 0) return SR_OK;
  status = sr_spectrum_compute(ctx, graph, &solver, run->seed, &spectrum);
  if (status == SR_ERROR_NOT_CONVERGED) status = SR_OK; /* the best vector found is a picture too */
  TRY(status);
  if (spectrum && sr_spectrum_get(spectrum)->pairs > 0)
    TRY(add_map_plot(ctx, page, sr_table_get(table), sr_spectrum_get(spectrum)->vector));
cleanup:
  sr_spectrum_free(&spectrum);
  return status;
}
