/* Where the cells of a NetCDF grid lie: axes, longitudes and latitudes of every cell, reference
 * system. */
#include <math.h>
#include <strings.h>

#include "data/geographic.h"
#include "netcdf_file.h"

enum { WORDS = 128, REFERENCE_BYTES = 1 << 14 };
static const char meters[] = "LOCAL_CS[\"axes in meters\",UNIT[\"metre\",1]]";

int sr__nc_axis_variable(const sr__nc_file *file, int dimension) {
  char name[NC_MAX_NAME + 1];
  int id, dimensions, first;
  if (nc_inq_dimname(file->id, dimension, name) != NC_NOERR ||
      nc_inq_varid(file->id, name, &id) != NC_NOERR ||
      nc_inq_varndims(file->id, id, &dimensions) != NC_NOERR || dimensions != 1 ||
      nc_inq_vardimid(file->id, id, &first) != NC_NOERR || first != dimension)
    return -1;
  return id;
}

int sr__nc_degrees_of(const sr__nc_file *file, int id) {
  char text[NC_MAX_NAME + 1], units[WORDS];
  if (id < 0) return -1;
  sr__nc_text(file, id, "units", units, sizeof units);
  if (strncasecmp(units, "degree", 6) == 0 && sr__degree_axis(units) >= 0)
    return sr__degree_axis(units);
  sr__nc_text(file, id, "standard_name", text, sizeof text);
  if (*text) return sr__degree_axis(text);
  return nc_inq_varname(file->id, id, text) == NC_NOERR ? sr__degree_axis(text) : -1;
}

/* Degrees that do not count from Greenwich and the equator. */
static bool is_turned(const sr__nc_file *file, int id, const char *standard) {
  char text[WORDS] = "";
  if (id >= 0) sr__nc_text(file, id, "standard_name", text, sizeof text);
  return strcmp(text, standard) == 0;
}

static bool is_in_meters(const sr__nc_file *file, int id) {
  static const char *const names[] = {"m", "metre", "meter", "metres", "meters"};
  char text[WORDS] = "";
  if (id >= 0) sr__nc_text(file, id, "units", text, sizeof text);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (strcmp(text, names[k]) == 0) return true;
  return false;
}

sr_status sr__nc_refuse_time(sr_context *ctx, const sr__nc_file *file) {
  char name[2][NC_MAX_NAME + 1], units[WORDS] = "";
  for (int k = 0; k < 2; k++)
    if (nc_inq_dimname(file->id, file->grid_dimension[k], name[k]) != NC_NOERR) return SR_OK;
  for (int k = 0; k < 2; k++) {
    int id = sr__nc_axis_variable(file, file->grid_dimension[k]);
    if (id >= 0) sr__nc_text(file, id, "units", units, sizeof units);
    if (id < 0 || !strstr(units, " since ")) continue;
    return sr__fail_at(ctx, SR_ERROR_DATA, file->path, 0, 0,
                       "the last two dimensions of '%s' are %s and %s, and %s counts time: a cell "
                       "needs two axes of places; put time first (ncpdq -a time,lat,lon), or write "
                       "a csv with a row per place",
                       file->variables[0].name, name[0], name[1], name[k]);
  }
  return SR_OK;
}

/* ---- places of cells ---------------------------------------------------------------------- */

/* Places along one dimension: its coordinate variable, else 0, 1, 2 ... */
static sr_status read_axis(sr_context *ctx, const sr__nc_file *file, int dimension, int64_t length,
                           double *places) {
  sr_status status = SR_OK;
  int id = sr__nc_axis_variable(file, dimension);
  nc_type type;
  for (int64_t i = 0; i < length; i++) places[i] = (double)i;
  if (id >= 0 && nc_inq_vartype(file->id, id, &type) == NC_NOERR && sr__nc_is_number(type)) {
    const sr__nc_variable axis = {.id = id, .type = type};
    sr__nc_packing p = sr__nc_packing_of(file, &axis);
    NC_TRY(nc_get_var_double(file->id, id, places), "a coordinate variable");
    for (int64_t i = 0; i < length; i++) places[i] = places[i] * p.scale + p.offset;
  }
cleanup:
  return status;
}

static sr_status read_places(sr_context *ctx, const sr__nc_file *file, int64_t cells,
                             double *coordinates) {
  sr_status status = SR_OK;
  for (int k = 0; k < 2; k++) {
    const sr__nc_packing p = sr__nc_packing_of(file, &file->place[k]);
    double *to = coordinates + k * cells;
    NC_TRY(nc_get_var_double(file->id, file->place[k].id, to), file->place[k].name);
    for (int64_t i = 0; i < cells; i++) to[i] = sr__nc_unpack(&p, to[i]);
  }
cleanup:
  return status;
}

/* The well-known text of the grid mapping that a variable names; NULL where there is none. */
static sr_status mapping_text(sr_context *ctx, sr__nc_file *file, const char **text) {
  static const char *const keys[] = {"crs_wkt", "spatial_ref"};
  char name[NC_MAX_NAME + 1], wkt[REFERENCE_BYTES];
  int id;
  *text = NULL;
  for (int64_t v = 0; v < file->count && !*text; v++) {
    sr__nc_text(file, file->variables[v].id, "grid_mapping", name, sizeof name);
    name[strcspn(name, ": ")] = '\0'; /* "crs: x y" names its axes too */
    if (!*name || nc_inq_varid(file->id, name, &id) != NC_NOERR) continue;
    for (int k = 0; k < 2 && !*text; k++) {
      sr__nc_text(file, id, keys[k], wkt, sizeof wkt);
      if (!*wkt) continue;
      char *kept = sr__arena_alloc(ctx, &file->arena, (int64_t)strlen(wkt) + 1, 1);
      if (!kept) return SR_ERROR_MEMORY;
      *text = memcpy(kept, wkt, strlen(wkt) + 1);
    }
  }
  return SR_OK;
}

/* The reference system of the axes: what the file says in words, else what their units tell. */
static sr_status find_reference(sr_context *ctx, sr__nc_file *file, const char **reference) {
  const char *said;
  int y = sr__nc_axis_variable(file, file->grid_dimension[0]);
  int x = sr__nc_axis_variable(file, file->grid_dimension[1]);
  bool in_degrees = sr__nc_degrees_of(file, x) == 0 && sr__nc_degrees_of(file, y) == 1;
  bool turned = is_turned(file, x, "grid_longitude") && is_turned(file, y, "grid_latitude");
  char units[WORDS] = "";
  sr_status status = mapping_text(ctx, file, &said);
  if (status != SR_OK) return status;
  if (x >= 0) sr__nc_text(file, x, "units", units, sizeof units);
  bool projected = said && strncmp(said, "PROJ", 4) == 0 && (!*units || is_in_meters(file, x));
  bool geographic = said && sr__is_geographic(said) && (in_degrees || turned);
  *reference = projected || geographic                          ? said
               : in_degrees                                     ? sr__wgs84
               : turned                                         ? sr__turned_pole
               : is_in_meters(file, x) && is_in_meters(file, y) ? meters
                                                                : NULL;
  return SR_OK;
}

sr_status sr__nc_place_cells(sr_context *ctx, sr__nc_file *file, sr__grid *grid) {
  sr_status status = SR_OK;
  int64_t cells = grid->rows * grid->columns;
  SR_NEW(ctx, grid->axes, grid->rows + grid->columns);
  const double *down = grid->axes, *along = grid->axes + grid->rows;
  SR_TRY(read_axis(ctx, file, file->grid_dimension[0], grid->rows, grid->axes));
  SR_TRY(read_axis(ctx, file, file->grid_dimension[1], grid->columns, grid->axes + grid->rows));
  if (file->place[0].dimensions > 0) {
    grid->projection = sr__wgs84;
    SR_TRY(read_places(ctx, file, cells, grid->coordinates));
    goto cleanup;
  }
  for (int64_t i = 0; i < cells; i++) {
    grid->coordinates[i] = along[i % grid->columns];
    grid->coordinates[cells + i] = down[i / grid->columns];
  }
  SR_TRY(find_reference(ctx, file, &grid->projection));
cleanup:
  return status;
}

/* ---- longitudes and latitudes of every cell ----------------------------------------------- */

static bool on_grid(const sr__nc_file *file, const sr__nc_variable *variable) {
  return memcmp(variable->dimension + variable->dimensions - 2, file->grid_dimension,
                2 * sizeof(int)) == 0;
}

void sr__nc_take_places(sr__nc_file *file) {
  int y = sr__nc_axis_variable(file, file->grid_dimension[0]);
  int x = sr__nc_axis_variable(file, file->grid_dimension[1]);
  int64_t of[2] = {-1, -1}, kept = 0;
  if ((sr__nc_degrees_of(file, x) == 0 && sr__nc_degrees_of(file, y) == 1) ||
      (is_in_meters(file, x) && is_in_meters(file, y)))
    return;
  for (int64_t v = 0; v < file->count; v++) {
    const sr__nc_variable *variable = &file->variables[v];
    int axis = variable->steps == 1 && on_grid(file, variable)
                   ? sr__nc_degrees_of(file, variable->id)
                   : -1;
    if (axis >= 0 && of[axis] < 0) of[axis] = v;
  }
  if (of[0] < 0 || of[1] < 0) return;
  for (int k = 0; k < 2; k++) file->place[k] = file->variables[of[k]];
  for (int64_t v = 0; v < file->count; v++)
    if (v != of[0] && v != of[1]) file->variables[kept++] = file->variables[v];
  file->count = kept;
}
