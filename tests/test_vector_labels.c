/* Polygons and points over a raster: files made here with GDAL, cells against a slow checker. */
#include "harness.h"

#if defined(SR_HAVE_GDAL)
#include "raster_kit.h"

enum { WIDTH = 40, HEIGHT = 30, CELLS = WIDTH * HEIGHT, FIELDS = 4 };
static const double transform[] = {400000, 30, 0, 5500000, 0, -30};

/* Rectangles in meters: left, right, bottom, top. The last one lies inside the third. */
static const struct {
  double box[4];
  const char *crop, *farm;
  int yield;
} fields[FIELDS] = {{{400100, 400400, 5499500, 5499800}, "maize", "north", 3},
                    {{400500, 400800, 5499400, 5499900}, "wheat", "north", 8},
                    {{400050, 400700, 5499150, 5499350}, "maize", "south", 5},
                    {{400200, 400300, 5499200, 5499300}, "rape", "south", 9}};

static const char *make_bands(void) {
  static char path[300];
  double values[2 * CELLS];
  char *projection = test_reference(32633);
  for (int i = 0; i < CELLS; i++) {
    values[i] = i == 5 ? NAN : i;
    values[CELLS + i] = i == 5 ? NAN : -i;
  }
  test_raster(test_path(path, "bands.tif"), WIDTH, HEIGHT, 2, values, transform, projection);
  CPLFree(projection);
  return path;
}

static OGRGeometryH rectangle(const double box[4]) {
  const int corner[5][2] = {{0, 2}, {1, 2}, {1, 3}, {0, 3}, {0, 2}};
  OGRGeometryH ring = OGR_G_CreateGeometry(wkbLinearRing);
  OGRGeometryH polygon = OGR_G_CreateGeometry(wkbPolygon);
  for (int k = 0; k < 5; k++) OGR_G_AddPoint_2D(ring, box[corner[k][0]], box[corner[k][1]]);
  OGR_G_AddGeometryDirectly(polygon, ring);
  return polygon;
}

static void add_field(OGRLayerH layer, const char *name, OGRFieldType type) {
  OGRFieldDefnH field = OGR_Fld_Create(name, type);
  assert_int_equal(OGR_L_CreateField(layer, field, TRUE), OGRERR_NONE);
  OGR_Fld_Destroy(field);
}

static OGRSpatialReferenceH reference_of(int code) {
  OGRSpatialReferenceH made = OSRNewSpatialReference(NULL);
  assert_int_equal(OSRImportFromEPSG(made, code), OGRERR_NONE);
  OSRSetAxisMappingStrategy(made, OAMS_TRADITIONAL_GIS_ORDER);
  return made;
}

typedef enum vector_fault { NO_FAULT, TWO_LAYERS, A_LINE, FAR_AWAY } vector_fault;

static void add_features(OGRLayerH layer, OGRCoordinateTransformationH moves, vector_fault fault) {
  for (int k = 0; k < FIELDS + 2; k++) {
    OGRFeatureH feature = OGR_F_Create(OGR_L_GetLayerDefn(layer));
    if (k < FIELDS) { /* then one without a class and one without a geometry */
      OGR_F_SetFieldString(feature, 0, fields[k].crop);
      OGR_F_SetFieldString(feature, 1, fields[k].farm);
      OGR_F_SetFieldInteger(feature, 2, fields[k].yield);
    } else if (k > FIELDS) {
      OGR_F_SetFieldString(feature, 0, "ghost");
    }
    double box[4];
    memcpy(box, fields[k % FIELDS].box, sizeof box);
    for (int c = 0; fault == FAR_AWAY && c < 2; c++) box[c] += 1e5;
    OGRGeometryH shape = rectangle(box);
    if (fault == A_LINE) {
      OGR_G_DestroyGeometry(shape);
      shape = OGR_G_CreateGeometry(wkbLineString);
      OGR_G_AddPoint_2D(shape, box[0], box[2]);
      OGR_G_AddPoint_2D(shape, box[1], box[3]);
    }
    if (moves) assert_int_equal(OGR_G_Transform(shape, moves), OGRERR_NONE);
    if (k <= FIELDS) OGR_F_SetGeometry(feature, shape);
    OGR_G_DestroyGeometry(shape);
    assert_int_equal(OGR_L_CreateFeature(layer, feature), OGRERR_NONE);
    OGR_F_Destroy(feature);
  }
}

/* A file of the fields in a reference system; code 0: it says none. */
static const char *make_fields(const char *name, const char *driver, int code, vector_fault fault) {
  static char path[300];
  RegisterOGRGeoPackage();
  RegisterOGRGeoJSON();
  GDALDatasetH file =
      GDALCreate(GDALGetDriverByName(driver), test_path(path, name), 0, 0, 0, GDT_Unknown, NULL);
  assert_non_null(file);
  OGRSpatialReferenceH utm = reference_of(32633), own = code ? reference_of(code) : NULL;
  OGRCoordinateTransformationH moves =
      code && code != 32633 ? OCTNewCoordinateTransformation(utm, own) : NULL;
  for (int k = 0; k <= (fault == TWO_LAYERS); k++) {
    OGRLayerH layer = GDALDatasetCreateLayer(file, k ? "more" : "fields", own, wkbUnknown, NULL);
    assert_non_null(layer);
    add_field(layer, "crop", OFTString);
    add_field(layer, "farm", OFTString);
    add_field(layer, "yield", OFTInteger);
    add_features(layer, moves, fault);
  }
  if (moves) OCTDestroyCoordinateTransformation(moves);
  OSRDestroySpatialReference(utm);
  if (own) OSRDestroySpatialReference(own);
  GDALClose(file);
  return path;
}

/* The field of a cell by its middle, the last one where several hold it; -1: none. */
static int field_of(int64_t cell) {
  double x = transform[0] + 30 * ((double)(cell % WIDTH) + 0.5);
  double y = transform[3] - 30 * ((double)(cell / WIDTH) + 0.5);
  int found = -1;
  for (int k = 0; k < FIELDS; k++) {
    const double *b = fields[k].box;
    if (x > b[0] && x < b[1] && y > b[2] && y < b[3]) found = k;
  }
  return found;
}

static sr_read_options labels_of(const char *labels, const char *target, const char *group) {
  sr_read_options options;
  sr_read_options_init(&options);
  options.labels = labels;
  options.target = target;
  options.group = group;
  return options;
}

/* Rows are the cells inside a field, with its class, and its farm or itself as the group. */
static void check_rows(const char *labels, const char *target, const char *group) {
  sr_context *ctx = test_context(1);
  sr_table *table = NULL;
  sr_read_options options = labels_of(labels, target, group);
  options.region = "farm";
  assert_ok(ctx, sr_table_read(ctx, make_bands(), &options, &table));
  const sr_table_view *t = sr_table_get(table);
  int64_t next = 0;
  int32_t group_seen[FIELDS] = {-1, -1, -1, -1};
  for (int64_t cell = 0; cell < CELLS; cell++) {
    int k = field_of(cell);
    if (k < 0) continue;
    assert_true(next < t->rows);
    assert_int_equal(t->cell[next], cell);
    assert_true(t->x[next] == (float)cell);
    const char *expected = strcmp(target, "crop") == 0    ? fields[k].crop
                           : strcmp(target, "yield") == 0 ? (const char *[]){"3", "8", "5", "9"}[k]
                           : fields[k].yield > 4          ? "1"
                                                          : "0";
    if (strcmp(target, "crop") == 0 || strcmp(target, "yield") == 0)
      assert_string_equal(t->classes.names[t->label[next]], expected);
    else
      assert_int_equal(t->label[next], fields[k].yield > 4);
    assert_string_equal(t->regions.names[t->region[next]], fields[k].farm);
    if (group)
      assert_string_equal(t->groups.names[t->group[next]], fields[k].farm);
    else
      group_seen[k] = t->group[next];
    next++;
  }
  assert_int_equal(next, t->rows);
  assert_int_equal(t->groups.count, group ? 2 : FIELDS);
  for (int a = 0; !group && a < FIELDS; a++)
    for (int b = 0; b < a; b++) assert_int_not_equal(group_seen[a], group_seen[b]);
  assert_int_equal(t->grid_rows, HEIGHT);
  assert_int_equal(t->grid_columns, WIDTH);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void cells_get_their_field(void **state) {
  (void)state;
  char named[400];
  check_rows(make_fields("utm.gpkg", "GPKG", 32633, NO_FAULT), "crop", NULL);
  check_rows(make_fields("degrees.gpkg", "GPKG", 4326, NO_FAULT), "crop", "farm");
  check_rows(make_fields("degrees.geojson", "GeoJSON", 4326, NO_FAULT), "crop", NULL);
  check_rows(make_fields("other.gpkg", "GPKG", 3035, NO_FAULT), "yield", NULL);
  check_rows(make_fields("utm2.gpkg", "GPKG", 32633, NO_FAULT), "yield > 4", NULL);
  snprintf(named, sizeof named, "%s:fields", make_fields("two.gpkg", "GPKG", 32633, TWO_LAYERS));
  check_rows(named, "crop", NULL);
}

static void refused(const char *labels, const char *target, const char *group, sr_status expected,
                    const char *words) {
  sr_context *ctx = test_context(1);
  sr_table *table = NULL;
  sr_read_options options = labels_of(labels, target, group);
  sr_status status = sr_table_read(ctx, make_bands(), &options, &table);
  if (status != expected || !strstr(sr_context_error(ctx).message, words))
    fail_msg("%s: %s", sr_status_name(status), sr_context_error(ctx).message);
  assert_null(table);
  sr_context_free(&ctx);
}

static void wrong_labels_are_refused(void **state) {
  (void)state;
  char text[400];
  refused(make_fields("none.gpkg", "GPKG", 0, NO_FAULT), "crop", NULL, SR_ERROR_DATA,
          "no reference system");
  refused(make_fields("lines.gpkg", "GPKG", 32633, A_LINE), "crop", NULL, SR_ERROR_DATA,
          "polygons or points");
  refused(make_fields("far.gpkg", "GPKG", 32633, FAR_AWAY), "crop", NULL, SR_ERROR_DATA,
          "same ground");
  const char *good = make_fields("good.gpkg", "GPKG", 32633, NO_FAULT);
  refused(good, "corp", NULL, SR_ERROR_NOT_FOUND, "crop");
  refused(good, "crop", "farms", SR_ERROR_NOT_FOUND, "farm");
  refused(good, "crop > 3", NULL, SR_ERROR_DATA, "is no number");
  snprintf(text, sizeof text, "%s:meadows", good);
  refused(text, "crop", NULL, SR_ERROR_NOT_FOUND, "it has fields");
  refused(make_fields("layers.gpkg", "GPKG", 32633, TWO_LAYERS), "crop", NULL, SR_ERROR_ARGUMENT,
          "2 layers");
  refused("/vsicurl/http://localhost/x.gpkg", "crop", NULL, SR_ERROR_UNSUPPORTED, "virtual path");
  refused("/no/such/file.gpkg", "crop", NULL, SR_ERROR_IO, "cannot open");
  refused(test_file("junk.geojson", "{\"type\": \"Feat", 14), "crop", NULL, SR_ERROR_FORMAT,
          "cannot read");
  /* Other formats carry their own target. */
  sr_context *ctx = test_context(1);
  sr_table *table = NULL;
  sr_read_options options = labels_of(good, "crop", NULL);
  assert_int_equal(sr_table_read(ctx, test_file("a.csv", "a,b\n1,2\n", 8), &options, &table),
                   SR_ERROR_UNSUPPORTED);
  assert_non_null(strstr(sr_context_error(ctx).message, "over a GeoTIFF"));
  sr_context_free(&ctx);
}

static void points_are_their_cell(void **state) {
  (void)state;
  static const char text[] =
      "{\"type\":\"FeatureCollection\",\"features\":["
      "{\"type\":\"Feature\",\"properties\":{\"kind\":\"a\"},\"geometry\":{\"type\":\"Point\","
      "\"coordinates\":[13.61630,49.64360]}},"
      "{\"type\":\"Feature\",\"properties\":{\"kind\":\"b\"},\"geometry\":{\"type\":\"MultiPoint\","
      "\"coordinates\":[[13.62343,49.64153],[13.62770,49.63753]]}}]}";
  sr_context *ctx = test_context(1);
  sr_table *table = NULL;
  sr_read_options options =
      labels_of(test_file("points.geojson", text, sizeof text - 1), "kind", NULL);
  assert_ok(ctx, sr_table_read(ctx, make_bands(), &options, &table));
  const sr_table_view *t = sr_table_get(table);
  assert_int_equal(t->rows, 3);
  assert_int_equal(t->groups.count, 2);
  static const int64_t cells[] = {2 * WIDTH + 3, 10 * WIDTH + 20, 25 * WIDTH + 30};
  assert_memory_equal(t->cell, cells, sizeof cells);
  for (int i = 0; i < 3; i++) assert_string_equal(t->classes.names[t->label[i]], i ? "b" : "a");
  sr_table_free(&table);
  sr_context_free(&ctx);
}

typedef struct label_files {
  const char *bands, *labels;
} label_files;

static sr_status read_once(sr_context *ctx, void *data) {
  const label_files *files = data;
  sr_table *table = NULL;
  sr_read_options options = labels_of(files->labels, "crop", "farm");
  options.region = "farm";
  sr_status status = sr_table_read(ctx, files->bands, &options, &table);
  sr_table_free(&table);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  label_files files = {make_bands(), make_fields("memory.gpkg", "GPKG", 4326, NO_FAULT)};
  test_every_allocation(read_once, &files);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cells_get_their_field),
                                     cmocka_unit_test(wrong_labels_are_refused),
                                     cmocka_unit_test(points_are_their_cell),
                                     cmocka_unit_test(every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void labels_need_gdal(void **state) { (void)state; }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(labels_need_gdal)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
