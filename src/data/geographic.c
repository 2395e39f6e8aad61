#include "geographic.h"

#include <math.h>
#include <strings.h>

#include "core/maths.h"

const char sr__wgs84[] =
    "GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,298.257223563,AUTHORITY["
    "\"EPSG\",\"7030\"]],AUTHORITY[\"EPSG\",\"6326\"]],PRIMEM[\"Greenwich\",0],UNIT[\"degree\","
    "0.0174532925199433],AXIS[\"Longitude\",EAST],AXIS[\"Latitude\",NORTH],AUTHORITY[\"EPSG\","
    "\"4326\"]]";

const char sr__turned_pole[] =
    "GEOGCS[\"degrees of a turned pole\",DATUM[\"unknown\",SPHEROID[\"WGS 84\",6378137,"
    "298.257223563]],PRIMEM[\"Greenwich\",0],UNIT[\"degree\",0.0174532925199433]]";

bool sr__is_turned(const char *projection) {
  return sr__is_geographic(projection) &&
         (strcmp(projection, sr__turned_pole) == 0 || strstr(projection, "DERIVINGCONVERSION"));
}

bool sr__is_geographic(const char *projection) {
  return projection && (strncmp(projection, "GEOG", 4) == 0);
}

double sr__round_the_globe(double longitude) {
  double turned = fmod(longitude, 360.0);
  if (turned < 0.0) turned += 360.0;
  return turned + 0.0; /* no -0 */
}

void sr__to_sphere(double longitude, double latitude, double out[3]) {
  const double radian = 3.14159265358979323846 / 180.0;
  double along = longitude * radian, up = latitude * radian;
  out[0] = SR__EARTH * sr__cos_portable(up) * sr__cos_portable(along);
  out[1] = SR__EARTH * sr__cos_portable(up) * sr__sin_portable(along);
  out[2] = SR__EARTH * sr__sin_portable(up);
}

static bool is_on_sphere(const sr_table_view *table) {
  return table->coordinate_count == 2 && sr__is_geographic(table->projection);
}

sr_status sr__sphere_points(sr_context *ctx, const sr_table_view *table, double **at) {
  sr_status status = SR_OK;
  int64_t n = table->rows;
  double *made = NULL, point[3];
  *at = NULL;
  if (!is_on_sphere(table) || !table->coordinates) return SR_OK;
  SR_NEW(ctx, made, 3 * n);
  for (int64_t i = 0; i < n; i++) {
    sr__to_sphere(sr__round_the_globe(table->coordinates[i]), table->coordinates[n + i], point);
    for (int j = 0; j < 3; j++) made[j * n + i] = point[j];
  }
  *at = made;
cleanup:
  return status;
}

/* A projected system names its own unit last, behind that of the degrees below it. */
static bool is_in_meters(const char *projection) {
  static const char *const meters[] = {"metre\"", "meter\"", "m\""};
  static const char word[] = "UNIT[\"";
  const char *last = NULL;
  if (strncmp(projection, "PROJ", 4) != 0 && strncmp(projection, "LOCAL_CS", 8) != 0) return false;
  for (const char *at = projection; (at = strstr(at, word)) != NULL;) last = at += strlen(word);
  for (size_t k = 0; last && k < sizeof meters / sizeof *meters; k++)
    if (strncasecmp(last, meters[k], strlen(meters[k])) == 0) return true;
  return false;
}

sr_distance_unit sr__distance_unit(const sr_table_view *table) {
  if (table->coordinate_count < 2) return SR_DISTANCE_NONE;
  bool meters = is_on_sphere(table) || (table->projection && is_in_meters(table->projection));
  return meters ? SR_DISTANCE_METERS : SR_DISTANCE_MAP;
}

const char *sr_distance_unit_name(sr_distance_unit unit) {
  return unit == SR_DISTANCE_METERS ? "m" : unit == SR_DISTANCE_MAP ? "map" : NULL;
}

void sr_distance_text(double distance, sr_distance_unit unit, char *text, size_t size) {
  double km = distance / 1000.0;
  int digits = fabs(km) < 9.995 ? 2 : fabs(km) < 99.95 ? 1 : 0;
  if (unit != SR_DISTANCE_METERS)
    snprintf(text, size, fabs(distance) < 999.5 ? "%.3g%s" : "%.0f%s", distance,
             unit == SR_DISTANCE_MAP ? " units of the map" : "");
  else if (fabs(distance) < 999.5)
    snprintf(text, size, "%.*f m", distance != 0.0 && fabs(distance) < 9.95 ? 1 : 0, distance);
  else
    snprintf(text, size, "%.*f km", digits, km);
}

int sr__degree_axis(const char *name) {
  static const char *const names[2][11] = {{"longitude", "lon", "long", "lng", "degrees_east",
                                            "degree_east", "degrees_E", "degree_E", "degreesE",
                                            "degreeE", NULL},
                                           {"latitude", "lat", "degrees_north", "degree_north",
                                            "degrees_N", "degree_N", "degreesN", "degreeN", NULL}};
  for (int axis = 0; axis < 2; axis++)
    for (const char *const *known = names[axis]; *known; known++)
      if (strcasecmp(name, *known) == 0) return axis;
  return -1;
}

static bool lies_within(const double *x, int64_t rows, double low, double high) {
  for (int64_t i = 0; i < rows; i++)
    if (x[i] < low || x[i] > high) return false; /* missing ones are told later */
  return true;
}

sr_status sr__settle_degrees(sr_context *ctx, const sr_read_options *options, sr_table *table) {
  sr_table_view *view = &table->view;
  const char *const *name = options->coordinates;
  if (!name || view->projection || view->coordinate_count != 2 || !name[0] || !name[1])
    return SR_OK;
  int first = sr__degree_axis(name[0]), second = sr__degree_axis(name[1]);
  if (first < 0 || second != 1 - first) return SR_OK;
  double *x = (double *)(uintptr_t)view->coordinates;
  int64_t longitude = first == 0 ? 0 : view->rows, latitude = view->rows - longitude;
  if (!lies_within(x + longitude, view->rows, -180.0, 360.0) ||
      !lies_within(x + latitude, view->rows, -90.0, 90.0))
    return SR_OK;
  view->projection = sr__strdup(ctx, sr__wgs84);
  if (!view->projection) return sr_context_error(ctx).status;
  for (int64_t i = 0; first == 1 && i < view->rows; i++) {
    double swap = x[i];
    x[i] = x[view->rows + i];
    x[view->rows + i] = swap;
  }
  return SR_OK;
}
