#include "vector_labels.h"

#include <gdal.h>
#include <gdal_alg.h>
#include <gdal_frmts.h>
#include <math.h>
#include <ogr_api.h>
#include <ogr_srs_api.h>
#include <unistd.h>

#include "gdal_session.h"

struct sr__vector_labels {
  int32_t *group_of_cell;  /* -1: no polygon */
  int32_t *region_of_cell; /* NULL: no region was asked for */
  double *target_of_cell;  /* NULL: no target was asked for */
  sr_dictionary groups, regions, classes;
  char *target_name;
  sr__target_rule rule;
  bool by_name; /* the target is a code of `classes` */
};

typedef struct shape_list {
  const char *path; /* of the vector file */
  GDALDatasetH file;
  OGRLayerH layer;
  OGRSpatialReferenceH from, to;
  OGRCoordinateTransformationH moves; /* NULL: both are the same */
  const char **fields;
  int64_t field_count, target, group, region; /* attributes; -1: none */
  OGRGeometryH *geometry;
  double *value; /* per geometry: its target */
  int32_t *group_of, *region_of;
  int64_t count, geometry_capacity, value_capacity, group_capacity, region_capacity;
  int64_t empty, unknown; /* features that were passed over */
  sr__names groups, regions, classes;
  sr__gdal gdal;
} shape_list;

/* ---- the file and its layer ----------------------------------------------------------------- */

static sr_status fail_vector(sr_context *ctx, shape_list *s, sr_status status, const char *what) {
  return sr__fail_at(ctx, status, s->path, 0, 0, "%s of '%s': %s", what, s->path,
                     sr__gdal_said(&s->gdal));
}

/* "FILE:LAYER" unless a file has that very name. */
static sr_status split_name(sr_context *ctx, const char *text, char **path, const char **layer) {
  *layer = NULL;
  *path = sr__strdup(ctx, text);
  if (!*path) return SR_ERROR_MEMORY;
  char *colon = strrchr(*path, ':');
  if (colon && access(*path, F_OK) != 0 && colon[1] != '/') {
    *colon = '\0';
    *layer = colon + 1;
  }
  return SR_OK;
}

static sr_status choose_layer(sr_context *ctx, shape_list *s, const char *name) {
  int count = GDALDatasetGetLayerCount(s->file);
  char known[256] = "";
  for (int i = 0; i < count; i++) {
    const char *here = OGR_L_GetName(GDALDatasetGetLayer(s->file, i));
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", here);
    if (count == 1 ? !name || strcmp(name, here) == 0 : name && strcmp(name, here) == 0)
      s->layer = GDALDatasetGetLayer(s->file, i);
  }
  if (s->layer) return SR_OK;
  if (name)
    return sr__fail_at(ctx, SR_ERROR_NOT_FOUND, s->path, 0, 0, "'%s' has no layer '%s'; it has %s",
                       s->path, name, count ? known : "none at all");
  return sr__fail_at(ctx, SR_ERROR_ARGUMENT, s->path, 0, 0,
                     "'%s' has %d layers; name one as %s:LAYER, of %s", s->path, count, s->path,
                     count ? known : "none");
}

static sr_status open_layer(sr_context *ctx, shape_list *s, const char *layer) {
  static const char *const drivers[] = {"GPKG", "GeoJSON", "ESRI Shapefile", NULL};
  sr_status status = SR_OK;
  SR_TRY(sr__gdal_check_file(ctx, s->path));
  s->file = GDALOpenEx(s->path, GDAL_OF_VECTOR | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR, drivers,
                       NULL, NULL);
  if (!s->file)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, s->path, 0, 0,
                       "cannot read '%s' as GeoPackage, GeoJSON or Shapefile: %s", s->path,
                       sr__gdal_said(&s->gdal)));
  SR_TRY(choose_layer(ctx, s, layer));
cleanup:
  return status;
}

/* ---- attributes ----------------------------------------------------------------------------- */

static OGRFieldType type_of(const shape_list *s, int64_t field) {
  return OGR_Fld_GetType(OGR_FD_GetFieldDefn(OGR_L_GetLayerDefn(s->layer), (int)field));
}

static bool is_number(OGRFieldType type) {
  return type == OFTInteger || type == OFTInteger64 || type == OFTReal;
}

static sr_status choose_attributes(sr_context *ctx, shape_list *s, const sr_read_options *options,
                                   sr__target_rule *rule) {
  sr_status status = SR_OK;
  OGRFeatureDefnH about = OGR_L_GetLayerDefn(s->layer);
  s->field_count = OGR_FD_GetFieldCount(about);
  s->target = s->group = s->region = -1;
  SR_NEW(ctx, s->fields, s->field_count);
  for (int64_t f = 0; f < s->field_count; f++)
    s->fields[f] = OGR_Fld_GetNameRef(OGR_FD_GetFieldDefn(about, (int)f));
  sr__file_columns columns = {s->path, s->fields, s->field_count};
  SR_TRY(sr__find_target(ctx, columns, options, rule, &s->target));
  if (options->group) SR_TRY(sr__find_column(ctx, columns, "group", options->group, &s->group));
  if (options->region) SR_TRY(sr__find_column(ctx, columns, "region", options->region, &s->region));
  if (s->target >= 0 && rule->form != SR__CLASSES && !is_number(type_of(s, s->target)))
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, s->path, 0, 0,
                       "attribute '%s' is no number, as target '%s' needs", s->fields[s->target],
                       options->target));
cleanup:
  return status;
}

/* ---- reference systems ---------------------------------------------------------------------- */

/* A GeoPackage calls a missing reference system "Undefined geographic SRS" or the like. */
static OGRSpatialReferenceH reference_of(const shape_list *s) {
  OGRSpatialReferenceH own = OGR_L_GetSpatialRef(s->layer);
  const char *name = own ? OSRGetName(own) : NULL;
  return name && strncmp(name, "Undefined", 9) == 0 ? NULL : own;
}

static sr_status join_references(sr_context *ctx, shape_list *s, const sr__raster_shape *shape,
                                 const char *raster) {
  OGRSpatialReferenceH own = reference_of(s);
  if (!own && !shape->projection) return SR_OK;
  if (!own || !shape->projection)
    return sr__fail_at(ctx, SR_ERROR_DATA, s->path, 0, 0,
                       "'%s' says no reference system and '%s' does: where its cells lie beside "
                       "the polygons is not known; give it one with gdal_edit.py or ogr2ogr -a_srs",
                       own ? raster : s->path, own ? s->path : raster);
  s->from = OSRClone(own);
  s->to = OSRNewSpatialReference(shape->projection);
  if (!s->from || !s->to) return fail_vector(ctx, s, SR_ERROR_DATA, "the reference system");
  OSRSetAxisMappingStrategy(s->from, OAMS_TRADITIONAL_GIS_ORDER);
  OSRSetAxisMappingStrategy(s->to, OAMS_TRADITIONAL_GIS_ORDER);
  if (OSRIsSame(s->from, s->to)) return SR_OK;
  s->moves = OCTNewCoordinateTransformation(s->from, s->to);
  if (!s->moves)
    return fail_vector(ctx, s, SR_ERROR_DATA, "no way into the raster's reference system");
  return SR_OK;
}

/* ---- polygons ------------------------------------------------------------------------------- */

static sr_status check_kind(sr_context *ctx, const shape_list *s, OGRGeometryH geometry,
                            int64_t id) {
  OGRwkbGeometryType kind = OGR_GT_Flatten(OGR_G_GetGeometryType(geometry));
  if (kind == wkbPolygon || kind == wkbMultiPolygon || kind == wkbPoint || kind == wkbMultiPoint)
    return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_DATA, s->path, 0, 0,
                     "feature %lld of '%s' is a %s; labels are polygons or points", (long long)id,
                     s->path, OGRGeometryTypeToName(OGR_G_GetGeometryType(geometry)));
}

/* The geometry in the raster's reference system, without curves. NULL where there is none. */
static sr_status bring_over(sr_context *ctx, shape_list *s, OGRFeatureH feature,
                            OGRGeometryH *brought) {
  OGRGeometryH own = OGR_F_GetGeometryRef(feature);
  *brought = NULL;
  if (!own || OGR_G_IsEmpty(own)) return SR_OK;
  *brought = OGR_G_GetLinearGeometry(own, 0.0, NULL);
  if (!*brought) return fail_vector(ctx, s, SR_ERROR_DATA, "a polygon");
  sr_status status = check_kind(ctx, s, *brought, OGR_F_GetFID(feature));
  if (status == SR_OK && s->moves && OGR_G_Transform(*brought, s->moves) != OGRERR_NONE)
    status = sr__fail_at(ctx, SR_ERROR_DATA, s->path, 0, 0,
                         "feature %lld of '%s' cannot be brought into the raster's reference "
                         "system: %s",
                         (long long)OGR_F_GetFID(feature), s->path, sr__gdal_said(&s->gdal));
  if (status != SR_OK) {
    OGR_G_DestroyGeometry(*brought);
    *brought = NULL;
  }
  return status;
}

/* The target of a feature: a number, or the code of its text; NaN where it has none. */
static sr_status value_of(sr_context *ctx, shape_list *s, OGRFeatureH feature, double *value) {
  int32_t code;
  *value = NAN;
  if (s->target < 0 || !OGR_F_IsFieldSetAndNotNull(feature, (int)s->target)) return SR_OK;
  if (is_number(type_of(s, s->target))) {
    *value = OGR_F_GetFieldAsDouble(feature, (int)s->target);
    return SR_OK;
  }
  const char *text = OGR_F_GetFieldAsString(feature, (int)s->target);
  if (!*text) return SR_OK;
  sr_status status = sr__names_add(ctx, &s->classes, text, strlen(text), 0, &code);
  if (status == SR_OK) *value = code;
  return status;
}

static sr_status group_of(sr_context *ctx, shape_list *s, OGRFeatureH feature, int32_t *group) {
  char number[32];
  const char *text = number;
  snprintf(number, sizeof number, "%lld", (long long)OGR_F_GetFID(feature));
  if (s->group >= 0 && OGR_F_IsFieldSetAndNotNull(feature, (int)s->group))
    text = OGR_F_GetFieldAsString(feature, (int)s->group);
  return sr__names_add(ctx, &s->groups, text, strlen(text), 0, group);
}

static sr_status region_of(sr_context *ctx, shape_list *s, OGRFeatureH feature, int32_t *region) {
  *region = 0;
  if (s->region < 0) return SR_OK;
  if (!OGR_F_IsFieldSetAndNotNull(feature, (int)s->region))
    return sr__fail_at(ctx, SR_ERROR_DATA, s->path, 0, 0,
                       "feature %lld of '%s' has no region in '%s'; give it one",
                       (long long)OGR_F_GetFID(feature), s->path, s->fields[s->region]);
  const char *text = OGR_F_GetFieldAsString(feature, (int)s->region);
  return sr__names_add(ctx, &s->regions, text, strlen(text), 0, region);
}

/* Takes the feature's geometry where it has one and a target. */
static sr_status take_feature(sr_context *ctx, shape_list *s, OGRFeatureH feature) {
  sr_status status = SR_OK;
  OGRGeometryH geometry = NULL;
  double value;
  if (s->count >= INT32_MAX - 1)
    SR_TRY(
        sr__fail_at(ctx, SR_ERROR_OVERFLOW, s->path, 0, 0, "'%s' has too many polygons", s->path));
  SR_GROW(ctx, s->geometry, s->geometry_capacity, s->count + 1);
  SR_GROW(ctx, s->value, s->value_capacity, s->count + 1);
  SR_GROW(ctx, s->group_of, s->group_capacity, s->count + 1);
  SR_GROW(ctx, s->region_of, s->region_capacity, s->count + 1);
  SR_TRY(value_of(ctx, s, feature, &value));
  if (s->target >= 0 && isnan(value)) {
    s->unknown++;
    goto cleanup;
  }
  SR_TRY(bring_over(ctx, s, feature, &geometry));
  if (!geometry) {
    s->empty++;
    goto cleanup;
  }
  SR_TRY(group_of(ctx, s, feature, &s->group_of[s->count]));
  SR_TRY(region_of(ctx, s, feature, &s->region_of[s->count]));
  s->geometry[s->count] = geometry;
  s->value[s->count++] = value;
  geometry = NULL;
cleanup:
  if (geometry) OGR_G_DestroyGeometry(geometry);
  return status;
}

static sr_status take_features(sr_context *ctx, shape_list *s) {
  sr_status status = SR_OK;
  OGRFeatureH feature;
  OGR_L_ResetReading(s->layer);
  s->gdal.message[0] = '\0';
  while (status == SR_OK && (feature = OGR_L_GetNextFeature(s->layer))) {
    status = sr__check_interrupt(ctx);
    if (status == SR_OK) status = take_feature(ctx, s, feature);
    OGR_F_Destroy(feature);
  }
  if (status == SR_OK && s->count == 0)
    status = sr__fail_at(ctx, SR_ERROR_DATA, s->path, 0, 0,
                         "'%s' has no polygon%s: %lld features are empty, %lld have no target",
                         s->path, s->target >= 0 ? " with a target" : "", (long long)s->empty,
                         (long long)s->unknown);
  return status;
}

/* ---- cells ---------------------------------------------------------------------------------- */

static int CPL_STDCALL go_on(double share, const char *message, void *ctx) {
  (void)share;
  (void)message;
  return sr__check_interrupt(ctx) == SR_OK;
}

/* Burns each geometry's number (from 1) into band 1 and counts how many hold a cell in band 2. */
static sr_status burn(sr_context *ctx, shape_list *s, const sr__raster_shape *shape,
                      GDALDatasetH memory) {
  static const char *const add[] = {"MERGE_ALG=ADD", NULL};
  sr_status status = SR_OK;
  double *number = NULL, transform[6];
  int own = 1, how_many = 2;
  SR_NEW(ctx, number, s->count);
  memcpy(transform, shape->transform, sizeof transform);
  GDALSetGeoTransform(memory, transform);
  for (int64_t k = 0; k < s->count; k++) number[k] = (double)k + 1.0;
  CPLErr failed = GDALRasterizeGeometries(memory, 1, &own, (int)s->count, s->geometry, NULL, NULL,
                                          number, NULL, go_on, ctx);
  for (int64_t k = 0; k < s->count; k++) number[k] = 1.0;
  if (failed == CE_None)
    failed = GDALRasterizeGeometries(memory, 1, &how_many, (int)s->count, s->geometry, NULL, NULL,
                                     number, (char **)(uintptr_t)add, go_on, ctx);
  SR_TRY(sr__check_interrupt(ctx));
  if (failed != CE_None) SR_TRY(fail_vector(ctx, s, SR_ERROR_DATA, "the polygons"));
cleanup:
  sr__free(ctx, number);
  return status;
}

/* The number of the polygon of each cell, from 1; 0: none. */
static sr_status find_cells(sr_context *ctx, shape_list *s, const sr__raster_shape *shape,
                            int32_t **polygon) {
  sr_status status = SR_OK;
  int width = (int)shape->columns, height = (int)shape->rows;
  int64_t cells = shape->rows * shape->columns, shared = 0;
  uint8_t *times = NULL;
  GDALDatasetH memory =
      GDALCreate(GDALGetDriverByName("MEM"), "", width, height, 2, GDT_Int32, NULL);
  if (!memory) SR_TRY(fail_vector(ctx, s, SR_ERROR_MEMORY, "a raster for the polygons"));
  SR_TRY(burn(ctx, s, shape, memory));
  SR_NEW(ctx, *polygon, cells);
  SR_NEW(ctx, times, cells);
  if (GDALRasterIO(GDALGetRasterBand(memory, 1), GF_Read, 0, 0, width, height, *polygon, width,
                   height, GDT_Int32, 0, 0) != CE_None ||
      GDALRasterIO(GDALGetRasterBand(memory, 2), GF_Read, 0, 0, width, height, times, width, height,
                   GDT_Byte, 0, 0) != CE_None)
    SR_TRY(fail_vector(ctx, s, SR_ERROR_DATA, "the cells"));
  for (int64_t i = 0; i < cells; i++) shared += times[i] > 1;
  if (shared > 0)
    sr__log(ctx, SR_LOG_WARNING,
            "%s: %lld cells lie in several polygons; the last one in the file has them", s->path,
            (long long)shared);
cleanup:
  sr__free(ctx, times);
  if (memory) GDALClose(memory);
  return status;
}

static sr_status fail_elsewhere(sr_context *ctx, const shape_list *s, const sr__raster_shape *shape,
                                const char *raster) {
  const double *t = shape->transform, w = (double)shape->columns, h = (double)shape->rows;
  OGREnvelope all = {INFINITY, -INFINITY, INFINITY, -INFINITY};
  for (int64_t k = 0; k < s->count; k++) {
    OGREnvelope one;
    OGR_G_GetEnvelope(s->geometry[k], &one);
    all.MinX = fmin(all.MinX, one.MinX);
    all.MaxX = fmax(all.MaxX, one.MaxX);
    all.MinY = fmin(all.MinY, one.MinY);
    all.MaxY = fmax(all.MaxY, one.MaxY);
  }
  return sr__fail_at(ctx, SR_ERROR_DATA, s->path, 0, 0,
                     "no polygon of '%s' (x %g to %g, y %g to %g) holds the middle of a cell of "
                     "'%s' (from %g, %g to %g, %g): do they lie on the same ground?",
                     s->path, all.MinX, all.MaxX, all.MinY, all.MaxY, raster, t[0], t[3],
                     t[0] + w * t[1] + h * t[2], t[3] + w * t[4] + h * t[5]);
}

/* The region of each cell, by its polygon's number from 1. */
static sr_status place_regions(sr_context *ctx, const shape_list *s, int64_t cells,
                               sr__vector_labels *made) {
  sr_status status = SR_OK;
  if (s->region < 0) return SR_OK;
  SR_NEW(ctx, made->region_of_cell, cells);
  for (int64_t i = 0; i < cells; i++) {
    int32_t k = made->group_of_cell[i] - 1;
    made->region_of_cell[i] = k >= 0 ? s->region_of[k] : -1;
  }
  SR_TRY(sr__names_dictionary(ctx, &s->regions, &made->regions));
cleanup:
  return status;
}

/* Groups that hold no cell fall away; the others keep their order. */
static sr_status number_groups(sr_context *ctx, shape_list *s, const sr__raster_shape *shape,
                               const char *raster, sr__vector_labels *made) {
  sr_status status = SR_OK;
  int64_t cells = shape->rows * shape->columns, missed = 0;
  int32_t *code = NULL, used = 0;
  int32_t *cell = made->group_of_cell;
  double *target = made->target_of_cell;
  const char **names = NULL;
  SR_NEW_ZERO(ctx, code, s->groups.count);
  SR_NEW(ctx, names, s->groups.count);
  for (int64_t i = 0; i < cells; i++)
    if (cell[i] > 0) code[s->group_of[cell[i] - 1]] = 1;
  for (int64_t g = 0; g < s->groups.count; g++) {
    missed += !code[g];
    if (code[g]) names[used] = sr__names_get(&s->groups, g);
    code[g] = code[g] ? used++ : -1;
  }
  if (used == 0) SR_TRY(fail_elsewhere(ctx, s, shape, raster));
  for (int64_t i = 0; i < cells; i++) {
    int32_t k = cell[i] - 1;
    if (target) target[i] = k >= 0 ? s->value[k] : NAN;
    cell[i] = k >= 0 ? code[s->group_of[k]] : -1;
  }
  if (missed > 0)
    sr__log(ctx, SR_LOG_WARNING, "%s: %lld of %lld groups hold the middle of no cell", s->path,
            (long long)missed, (long long)s->groups.count);
  SR_TRY(sr__dictionary_copy(ctx, (sr_dictionary){used, names}, &made->groups));
cleanup:
  sr__free(ctx, names);
  sr__free(ctx, code);
  return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static sr_status make_labels(sr_context *ctx, shape_list *s, const sr_read_options *options,
                             const sr__raster_shape *shape, const char *raster,
                             sr__vector_labels *made) {
  sr_status status = SR_OK;
  SR_TRY(choose_attributes(ctx, s, options, &made->rule));
  SR_TRY(join_references(ctx, s, shape, raster));
  SR_TRY(take_features(ctx, s));
  SR_TRY(find_cells(ctx, s, shape, &made->group_of_cell));
  if (s->target >= 0) {
    SR_NEW(ctx, made->target_of_cell, shape->rows * shape->columns);
    made->target_name = sr__strdup(ctx, s->fields[s->target]);
    if (!made->target_name) SR_TRY(SR_ERROR_MEMORY);
    made->by_name = !is_number(type_of(s, s->target));
    SR_TRY(sr__names_dictionary(ctx, &s->classes, &made->classes));
  }
  SR_TRY(place_regions(ctx, s, shape->rows * shape->columns, made));
  SR_TRY(number_groups(ctx, s, shape, raster, made));
  if (s->empty + s->unknown > 0)
    sr__log(ctx, SR_LOG_WARNING,
            "%s: %lld features without a geometry and %lld without a target were passed over",
            s->path, (long long)s->empty, (long long)s->unknown);
cleanup:
  return status;
}

static void close_shapes(sr_context *ctx, shape_list *s) {
  for (int64_t k = 0; k < s->count; k++) OGR_G_DestroyGeometry(s->geometry[k]);
  if (s->moves) OCTDestroyCoordinateTransformation(s->moves);
  if (s->from) OSRDestroySpatialReference(s->from);
  if (s->to) OSRDestroySpatialReference(s->to);
  if (s->file) GDALClose(s->file);
  sr__free(ctx, s->geometry);
  sr__free(ctx, s->value);
  sr__free(ctx, s->group_of);
  sr__free(ctx, s->region_of);
  sr__free(ctx, s->fields);
  sr__names_free(ctx, &s->groups);
  sr__names_free(ctx, &s->regions);
  sr__names_free(ctx, &s->classes);
}

sr_status sr__labels_read(sr_context *ctx, const sr_read_options *options,
                          const sr__raster_shape *shape, const char *raster,
                          sr__vector_labels **labels) {
  sr_status status = SR_OK;
  char *path = NULL;
  const char *layer;
  shape_list s = {0};
  *labels = NULL;
  sr__gdal_enter(&s.gdal);
  if (shape->rows * shape->columns > INT32_MAX)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_OVERFLOW, raster, 0, 0,
                       "'%s' has more cells than labels can be laid over; cut it with "
                       "gdal_translate",
                       raster));
  SR_TRY(split_name(ctx, options->labels, &path, &layer));
  s.path = path;
  SR_NEW_ZERO(ctx, *labels, 1);
  SR_TRY(open_layer(ctx, &s, layer));
  SR_TRY(make_labels(ctx, &s, options, shape, raster, *labels));
cleanup:
  close_shapes(ctx, &s);
  sr__gdal_leave();
  if (status != SR_OK) sr__labels_free(ctx, labels);
  sr__free(ctx, path);
  return status;
}

void sr__labels_on_grid(const sr__vector_labels *labels, sr__grid *grid) {
  grid->group = labels->group_of_cell;
  grid->groups = labels->groups;
  grid->region = labels->region_of_cell;
  grid->regions = labels->regions;
  grid->target_name = labels->target_name;
  grid->target_rule = labels->rule;
  if (labels->by_name) grid->target_names = labels->classes.names;
}

void sr__labels_fill_target(const sr__vector_labels *labels, sr__grid *grid) {
  if (labels->target_of_cell)
    memcpy(grid->target, labels->target_of_cell,
           (size_t)(grid->rows * grid->columns) * sizeof *grid->target);
}

void sr__labels_free(sr_context *ctx, sr__vector_labels **labels) {
  sr__vector_labels *l = *labels;
  if (!l) return;
  sr__free(ctx, l->group_of_cell);
  sr__free(ctx, l->region_of_cell);
  sr__free(ctx, l->target_of_cell);
  sr__free(ctx, l->target_name);
  sr__free(ctx, (void *)(uintptr_t)l->groups.names);
  sr__free(ctx, (void *)(uintptr_t)l->regions.names);
  sr__free(ctx, (void *)(uintptr_t)l->classes.names);
  sr__free(ctx, l);
  *labels = NULL;
}
