/* The Fiedler vector of a dependency graph on the map. */
#include "describe.h"

bool sr__has_places(const sr_table_view *t) { return t->coordinate_count >= 2 || t->cell; }

void sr__map_position(const sr_table_view *t, int64_t i, double *x, double *y) {
  if (t->coordinate_count >= 2) {
    *x = t->coordinates[i];
    *y = t->coordinates[t->rows + i];
  } else {
    *x = (double)(t->cell[i] % t->grid_columns);
    *y = -(double)(t->cell[i] / t->grid_columns);
  }
}

static sr_status add_map_plot(sr_context *ctx, sr_page *page, const sr_table_view *t,
                              const double *vector) {
  sr_status status = SR_OK;
  double *x = NULL;
  SR_NEW(ctx, x, 2 * t->rows);
  double *y = x + t->rows;
  for (int64_t i = 0; i < t->rows; i++) sr__map_position(t, i, x + i, y + i);
  sr_plot_series series = {
      .kind = SR_PLOT_HEAT_MAP, .count = t->rows, .x = x, .y = y, .value = vector};
  sr_plot plot = {.title = "Fiedler vector on the map: the first cut runs where it is 0",
                  .series_count = 1,
                  .series = &series};
  SR_TRY(sr_page_add_plot(ctx, page, &plot));
cleanup:
  sr__free(ctx, x);
  return status;
}

sr_status sr_page_add_map(sr_context *ctx, sr_page *page, const sr_table *table,
                          const sr_graph *graph, uint64_t seed) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  sr_spectrum *spectrum = NULL;
  sr_spectrum_options options;
  sr_spectrum_options_init(&options);
  options.tolerance = 1e-2; /* a picture needs no more */
  if (!sr__has_places(view) || sr_graph_get(graph)->nodes != view->rows ||
      sr_graph_get(graph)->arcs == 0)
    return SR_OK;
  status = sr_spectrum_compute(ctx, graph, &options, seed, &spectrum);
  if (status == SR_ERROR_NOT_CONVERGED) status = SR_OK; /* the best vector found is a picture too */
  SR_TRY(status);
  SR_TRY(add_map_plot(ctx, page, view, sr_spectrum_get(spectrum)->vector));
cleanup:
  sr_spectrum_free(&spectrum);
  return status;
}
