/* Maps of the Fiedler vector, of parts, fields and regions, and how far residuals reach. */
#include <math.h>

#include "core/maths.h"
#include "describe.h"
#include "evaluate/evaluate.h"
#include "structure/structure.h"

enum { MOST_NAMED = 16, CURVE = 60, NAME = 160 }; /* more than sixteen colors look alike */

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

sr_status sr__page_add_values(sr_context *ctx, sr_page *page, const sr_table_view *view,
                              const double *value, const char *title, sr_dictionary names) {
  sr_status status = SR_OK;
  double *x = NULL;
  int64_t count = 0;
  SR_NEW(ctx, x, 3 * view->rows);
  double *y = x + view->rows, *shown = y + view->rows;
  for (int64_t i = 0; i < view->rows; i++) {
    if (isnan(value[i])) continue;
    sr__map_position(view, i, x + count, y + count);
    shown[count++] = value[i];
  }
  sr_plot_series series = {
      .kind = SR_PLOT_HEAT_MAP, .count = count, .x = x, .y = y, .value = shown};
  sr_plot plot = {.title = title,
                  .series_count = 1,
                  .series = &series,
                  .value_names = names.names,
                  .value_name_count = names.count};
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
  SR_TRY(sr__page_add_values(ctx, page, view, sr_spectrum_get(spectrum)->vector,
                             "Fiedler vector on the map: the first cut runs where it is 0",
                             (sr_dictionary){0}));
cleanup:
  sr_spectrum_free(&spectrum);
  return status;
}

/* ---- the ground --------------------------------------------------------------------------------
 */

/* A table, and the row of it that each row of a structure is. */
typedef struct rooted {
  const sr_table_view *view;
  int64_t *row, rows;
} rooted;

/* Codes of the structure's rows where those of the table lie; few of them are named in a legend. */
static sr_status add_codes(sr_context *ctx, sr_page *page, const rooted *on, const int32_t *code,
                           int32_t codes, const char *what) {
  sr_status status = SR_OK;
  char text[MOST_NAMED][40], title[NAME];
  const char *names[MOST_NAMED] = {""};
  double *value = NULL;
  bool few = codes <= MOST_NAMED;
  SR_NEW(ctx, value, on->view->rows);
  for (int64_t i = 0; i < on->view->rows; i++) value[i] = NAN;
  for (int64_t k = 0; k < on->rows; k++) value[on->row[k]] = code[k];
  for (int32_t c = 0; few && c < codes; c++) {
    snprintf(text[c], sizeof text[c], "%s %d", what, c + 1);
    names[c] = text[c];
  }
  snprintf(title, sizeof title, "The %d %ss on the map%s", codes, what,
           few ? "" : ", the same few colors over and over");
  SR_TRY(sr__page_add_values(ctx, page, on->view, value, title,
                             (sr_dictionary){few ? codes : 0, names}));
cleanup:
  sr__free(ctx, value);
  return status;
}

/* Regions by the names of the table, where it names a few. */
static sr_status add_named_regions(sr_context *ctx, sr_page *page, const sr_table_view *view) {
  sr_status status = SR_OK;
  double *value = NULL;
  SR_NEW(ctx, value, view->rows);
  for (int64_t i = 0; i < view->rows; i++) value[i] = view->region[i];
  SR_TRY(sr__page_add_values(ctx, page, view, value, "The regions on the map, as they were named",
                             view->regions));
cleanup:
  sr__free(ctx, value);
  return status;
}

/* What was seen of the residuals, and the curve that tells their reach. */
static sr_status add_range(sr_context *ctx, sr_page *page, const sr__map *map) {
  const sr__range *r = &map->range;
  double x[CURVE], y[CURVE], scale = 1.0;
  char title[NAME] = "Residuals of near rows are not alike", label[40], reach[40];
  if (r->bins < 2) return SR_OK;
  bool far = map->places.unit == SR_DISTANCE_METERS && r->distance[r->bins - 1] >= 1000.0;
  if (far) scale = 1e-3;
  snprintf(label, sizeof label, "distance%s",
           far                                      ? ", km"
           : map->places.unit == SR_DISTANCE_METERS ? ", m"
                                                    : ", units of the map");
  sr_distance_text(r->reach, map->places.unit, reach, sizeof reach);
  if (r->reach > 0.0) snprintf(title, sizeof title, "Range: residuals are alike up to %s", reach);
  double seen[SR__RANGE_BINS];
  for (int b = 0; b < r->bins; b++) seen[b] = r->distance[b] * scale;
  for (int k = 0; k < CURVE; k++) {
    double h = r->distance[r->bins - 1] * (double)k / (CURVE - 1);
    x[k] = h * scale;
    y[k] = r->share * sr__exp_portable(-h / r->length);
  }
  sr_plot_series series[] = {
      {.label = "pairs of rows",
       .kind = SR_PLOT_POINTS,
       .count = r->bins,
       .x = seen,
       .y = r->correlation},
      {.label = "curve through them", .kind = SR_PLOT_DASHED, .count = CURVE, .x = x, .y = y}};
  sr_plot plot = {.title = title,
                  .x_label = label,
                  .y_label = "correlation of residuals",
                  .series_count = r->length > 0.0 ? 2 : 1,
                  .series = series};
  return sr_page_add_plot(ctx, page, &plot);
}

sr_status sr_page_add_ground(sr_context *ctx, sr_page *page, const sr_table *table,
                             const sr_structure *structure) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  const sr_parts_view *parts = sr_parts_get(structure->parts);
  const sr__map *map = structure->map;
  rooted on = {.view = view, .rows = structure->view.rows};
  int64_t *at = NULL, file_rows;
  if (!sr__has_places(view)) return SR_OK;
  SR_TRY(sr__rows_of_file(ctx, view, &at, &file_rows));
  SR_NEW(ctx, on.row, on.rows);
  for (int64_t k = 0; k < on.rows; k++) {
    int64_t line = structure->source_row ? structure->source_row[k] : k;
    on.row[k] = line < file_rows ? at[line] : -1;
    if (on.row[k] < 0)
      SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "the structure is not one of this table"));
  }
  SR_TRY(add_codes(ctx, page, &on, parts->part, parts->parts, "part"));
  if (map && map->unit && !map->named)
    SR_TRY(add_codes(ctx, page, &on, map->unit, map->units, "field"));
  if (view->region && view->regions.count <= MOST_NAMED)
    SR_TRY(add_named_regions(ctx, page, view));
  else if (map && map->regions > 1)
    SR_TRY(add_codes(ctx, page, &on, map->region, map->regions, "region"));
  if (map) SR_TRY(add_range(ctx, page, map));
cleanup:
  sr__free(ctx, at);
  sr__free(ctx, on.row);
  return status;
}
