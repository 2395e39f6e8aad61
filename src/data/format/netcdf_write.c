/* Layers of cells as NetCDF variables, the way of the CF conventions: axes or places of every cell,
 * reference system, and what codes of classes mean. */
#include <math.h>

#include "core/text.h"
#include "data/geographic.h"
#include "netcdf_file.h"

enum { WORDS = 128 };

/* A flag's meaning is one word of the conventions: letters, digits and _-.+@; letters beyond ASCII
 * stay as they are. */
static void join_words(char *text, int64_t length) {
  for (int64_t k = 0; k < length; k++) {
    unsigned char c = (unsigned char)text[k];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 128;
    if (!letter && !(c >= '0' && c <= '9') && !strchr("_-.+@", c)) text[k] = '_';
  }
}

/* Codes of classes that are no numbers get their names the way of the CF conventions. */
static sr_status describe_classes(sr_context *ctx, const sr__nc_file *file, int id,
                                  const sr_table_view *t) {
  sr_status status = SR_OK;
  sr__text meanings = {0};
  int *codes = NULL;
  SR_NEW(ctx, codes, t->classes.count);
  for (int32_t c = 0; c < t->classes.count; c++) {
    codes[c] = c;
    SR_TRY(sr__text_print(ctx, &meanings, "%s%s", c ? " " : "", t->classes.names[c]));
    int64_t named = (int64_t)strlen(t->classes.names[c]);
    join_words(meanings.bytes + meanings.length - named, named);
  }
  NC_TRY(nc_put_att_int(file->id, id, "flag_values", NC_INT, (size_t)t->classes.count, codes),
         "flag_values");
  NC_TRY(nc_put_att_text(file->id, id, "flag_meanings", (size_t)meanings.length, meanings.bytes),
         "flag_meanings");
cleanup:
  sr__free(ctx, codes);
  sr__free(ctx, meanings.bytes);
  return status;
}

static sr_status put_text(sr_context *ctx, const sr__nc_file *file, int id, const char *key,
                          const char *text) {
  sr_status status = SR_OK;
  NC_TRY(nc_put_att_text(file->id, id, key, strlen(text), text), key);
cleanup:
  return status;
}

/* What the CF conventions call an axis: degrees, or a projected coordinate. */
typedef struct cf_axis {
  const char *name, *standard, *units, *letter;
} cf_axis;
static const cf_axis degrees[2] = {{"lon", "longitude", "degrees_east", "X"},
                                   {"lat", "latitude", "degrees_north", "Y"}};
static const cf_axis turned[2] = {{"rlon", "grid_longitude", "degrees", "X"},
                                  {"rlat", "grid_latitude", "degrees", "Y"}};
static const cf_axis lengths[2] = {{"x", "projection_x_coordinate", "m", "X"},
                                   {"y", "projection_y_coordinate", "m", "Y"}};

static bool is_layer(const sr_table_view *t, const char *name) {
  for (int64_t layer = 0; layer < sr__grid_layers(t); layer++) {
    bool is_target;
    char numbered[32];
    if (strcmp(sr__grid_layer_name(t, layer, &is_target, numbered), name) == 0) return true;
  }
  return false;
}

/* Layers keep their names; what the file adds of its own, axes and reference system, gives way:
 * y, axis_y, axis_axis_y ... */
static sr_status name_apart(sr_context *ctx, const sr_table_view *t, const char *name,
                            sr__arena *arena, const char **apart) {
  static const char before[] = "axis_";
  while (is_layer(t, name)) {
    size_t bytes = sizeof before + strlen(name);
    char *longer = sr__arena_alloc(ctx, arena, (int64_t)bytes, 1);
    if (!longer) return SR_ERROR_MEMORY;
    snprintf(longer, bytes, "%s%s", before, name);
    name = longer;
  }
  *apart = name;
  return SR_OK;
}

static sr_status put_axis(sr_context *ctx, const sr__nc_file *file, const cf_axis *axis,
                          int dimension, const double *place) {
  sr_status status = SR_OK;
  int id;
  NC_TRY(nc_def_var(file->id, axis->name, NC_DOUBLE, 1, &dimension, &id), axis->name);
  SR_TRY(put_text(ctx, file, id, "axis", axis->letter));
  if (axis->standard) SR_TRY(put_text(ctx, file, id, "standard_name", axis->standard));
  if (axis->units) SR_TRY(put_text(ctx, file, id, "units", axis->units));
  NC_TRY(nc_put_var_double(file->id, id, place), axis->name);
cleanup:
  return status;
}

/* Longitude or latitude of every cell, missing in the holes. */
static sr_status put_places(sr_context *ctx, const sr__nc_file *file, const cf_axis *axis,
                            const int dimensions[2], const sr_table_view *t) {
  sr_status status = SR_OK;
  const double missing = NAN, *coordinate = t->coordinates + (axis->letter[0] == 'Y' ? t->rows : 0);
  double *place = NULL;
  int64_t cells = t->grid_rows * t->grid_columns;
  int id;
  SR_NEW(ctx, place, cells);
  for (int64_t i = 0; i < cells; i++) place[i] = NAN;
  for (int64_t i = 0; i < t->rows; i++) place[t->cell[i]] = coordinate[i];
  NC_TRY(nc_def_var(file->id, axis->name, NC_DOUBLE, 2, dimensions, &id), axis->name);
  NC_TRY(nc_put_att_double(file->id, id, "_FillValue", NC_DOUBLE, 1, &missing), axis->name);
  NC_TRY(nc_def_var_deflate(file->id, id, 1, 1, 4), axis->name);
  SR_TRY(put_text(ctx, file, id, "standard_name", axis->standard));
  SR_TRY(put_text(ctx, file, id, "units", axis->units));
  NC_TRY(nc_put_var_double(file->id, id, place), axis->name);
cleanup:
  sr__free(ctx, place);
  return status;
}

/* What a layer names: its reference system, and the places of its cells where axes tell none. */
typedef struct layer_links {
  const char *reference; /* NULL: none */
  char places[WORDS];
} layer_links;

static sr_status put_layers(sr_context *ctx, const sr__nc_file *file, const int dimensions[2],
                            const sr_table_view *t, const layer_links *links) {
  sr_status status = SR_OK;
  double *cells = NULL, *class_values = NULL;
  SR_NEW(ctx, cells, t->grid_rows * t->grid_columns);
  SR_TRY(sr__grid_class_values(ctx, t, &class_values));
  for (int64_t layer = 0; layer < sr__grid_layers(t); layer++) {
    bool is_target;
    char numbered[32];
    const char *name = sr__grid_layer_name(t, layer, &is_target, numbered);
    int id;
    const double missing = NAN;
    nc_type type = is_target ? NC_DOUBLE : NC_FLOAT;
    SR_TRY(sr__check_interrupt(ctx));
    sr__grid_layer(t, class_values, layer, cells);
    NC_TRY(nc_def_var(file->id, name, type, 2, dimensions, &id), name);
    NC_TRY(nc_put_att_double(file->id, id, "_FillValue", type, 1, &missing), name);
    NC_TRY(nc_def_var_deflate(file->id, id, 1, 1, 4), name);
    SR_TRY(put_text(ctx, file, id, "long_name", name));
    if (links->reference) SR_TRY(put_text(ctx, file, id, "grid_mapping", links->reference));
    if (*links->places) SR_TRY(put_text(ctx, file, id, "coordinates", links->places));
    if (is_target && t->label && !sr__classes_are_numbers(t))
      SR_TRY(describe_classes(ctx, file, id, t));
    NC_TRY(nc_put_var_double(file->id, id, cells), name);
  }
cleanup:
  sr__free(ctx, class_values);
  sr__free(ctx, cells);
  return status;
}

/* Whether every row lies where the axes of the lattice cross. */
static bool axes_tell(const sr_table_view *t) {
  for (int64_t i = 0; i < t->rows; i++)
    if (t->coordinates[i] != t->grid_axes[t->grid_rows + t->cell[i] % t->grid_columns] ||
        t->coordinates[t->rows + i] != t->grid_axes[t->cell[i] / t->grid_columns])
      return false;
  return true;
}

/* Places of the lattice rows, then of the columns: as they were read, else of a straight lattice.
 * *by_cell says that they tell no place: every cell has its own. */
static sr_status find_axes(sr_context *ctx, const sr_table_view *t, double **axes, bool *by_cell) {
  sr_status status = SR_OK;
  double transform[6], *made = NULL;
  *by_cell = false;
  SR_NEW(ctx, made, t->grid_rows + t->grid_columns);
  *axes = made;
  if (t->grid_axes && t->coordinate_count == 2) {
    memcpy(made, t->grid_axes, (size_t)(t->grid_rows + t->grid_columns) * sizeof *made);
    *by_cell = !axes_tell(t);
    if (!*by_cell || sr__is_geographic(t->projection)) goto cleanup;
  }
  *by_cell = false;
  SR_TRY(sr__grid_transform(ctx, t, "a NetCDF file", transform));
  double side = fabs(transform[1]) + fabs(transform[5]);
  if (fabs(transform[2]) + fabs(transform[4]) > 1e-6 * side)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "the lattice is turned against its coordinates, which a NetCDF axis cannot "
                    "say; write .tif instead"));
  for (int64_t k = 0; k < t->grid_rows; k++)
    made[k] = transform[3] + ((double)k + 0.5) * transform[5];
  for (int64_t k = 0; k < t->grid_columns; k++)
    made[t->grid_rows + k] = transform[0] + ((double)k + 0.5) * transform[1];
cleanup:
  return status;
}

/* What the two dimensions are called, and longitude and latitude where every cell has its own. */
static sr_status name_axes(sr_context *ctx, sr__nc_file *file, const sr_table_view *t, bool by_cell,
                           cf_axis axis[2], cf_axis place[2]) {
  sr_status status = SR_OK;
  const cf_axis *known = by_cell || !sr__is_geographic(t->projection) ? lengths
                         : sr__is_turned(t->projection)               ? turned
                                                                      : degrees;
  memcpy(axis, known, 2 * sizeof *axis);
  memcpy(place, degrees, 2 * sizeof *place);
  for (int k = 0; k < 2; k++) {
    if (!t->projection || by_cell) axis[k].standard = axis[k].units = NULL;
    if (sr__distance_unit(t) != SR_DISTANCE_METERS) axis[k].units = NULL;
    SR_TRY(name_apart(ctx, t, axis[k].name, &file->arena, &axis[k].name));
    SR_TRY(name_apart(ctx, t, place[k].name, &file->arena, &place[k].name));
  }
cleanup:
  return status;
}

static sr_status put_reference(sr_context *ctx, const sr__nc_file *file, const sr_table_view *t,
                               const char *name) {
  sr_status status = SR_OK;
  int id;
  NC_TRY(nc_def_var(file->id, name, NC_INT, 0, NULL, &id), name);
  SR_TRY(put_text(ctx, file, id, "crs_wkt", t->projection));
  if (sr__is_geographic(t->projection) && !sr__is_turned(t->projection))
    SR_TRY(put_text(ctx, file, id, "grid_mapping_name", "latitude_longitude"));
cleanup:
  return status;
}

sr_status sr__nc_fill(sr_context *ctx, sr__nc_file *file, const sr_table_view *t) {
  sr_status status = SR_OK;
  double *axes = NULL;
  int dimensions[2];
  bool by_cell;
  cf_axis axis[2], place[2];
  layer_links links = {0};
  SR_TRY(find_axes(ctx, t, &axes, &by_cell));
  SR_TRY(name_axes(ctx, file, t, by_cell, axis, place));
  if (t->projection) SR_TRY(name_apart(ctx, t, "crs", &file->arena, &links.reference));
  SR_TRY(put_text(ctx, file, NC_GLOBAL, "Conventions", "CF-1.8"));
  NC_TRY(nc_def_dim(file->id, axis[1].name, (size_t)t->grid_rows, &dimensions[0]), axis[1].name);
  NC_TRY(nc_def_dim(file->id, axis[0].name, (size_t)t->grid_columns, &dimensions[1]), axis[0].name);
  if (links.reference) SR_TRY(put_reference(ctx, file, t, links.reference));
  SR_TRY(put_axis(ctx, file, &axis[1], dimensions[0], axes));
  SR_TRY(put_axis(ctx, file, &axis[0], dimensions[1], axes + t->grid_rows));
  for (int k = 1; by_cell && k >= 0; k--) SR_TRY(put_places(ctx, file, &place[k], dimensions, t));
  if (by_cell)
    snprintf(links.places, sizeof links.places, "%.60s %.60s", place[1].name, place[0].name);
  SR_TRY(put_layers(ctx, file, dimensions, t, &links));
cleanup:
  sr__free(ctx, axes);
  return status;
}
