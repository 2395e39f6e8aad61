/* NetCDF and GeoTIFF: files made here with the libraries, read back by their rules. */
#include "data/geographic.h"
#include "read_check.h"

#if defined(SR_HAVE_NETCDF)
#include <fcntl.h>
#include <netcdf.h>
#include <pthread.h>
#include <unistd.h>
#endif
#if defined(SR_HAVE_GDAL)
#include <cpl_conv.h>
#include <cpl_error.h>
#include <gdal.h>
#include <gdal_frmts.h>
#include <ogr_srs_api.h>
#endif

static void cannot_read(const char *path, const sr_read_options *options, sr_status expected,
                        const char *words) {
  sr_context *ctx = test_context(1);
  sr_table *table = NULL;
  sr_status status = sr_table_read(ctx, path, options, &table);
  if (status != expected || !strstr(sr_context_error(ctx).message, words))
    fail_msg("%s: %s", sr_status_name(status), sr_context_error(ctx).message);
  assert_null(table);
  sr_context_free(&ctx);
}

/* ---- NetCDF ------------------------------------------------------------------------------- */

#if defined(SR_HAVE_NETCDF)

static void nc_ok(int code) {
  if (code != NC_NOERR) fail_msg("%s", nc_strerror(code));
}

/* lat 2 x lon 3, time 2: a packed variable with fill and range, a plain one, a class, bounds. */
static const char *make_netcdf(const char *name) {
  static char path[300];
  int file, time, lat, lon, two, id;
  snprintf(path, sizeof path, "%s/%s", test_folder(), name);
  nc_ok(nc_create(path, NC_CLOBBER | NC_NETCDF4, &file));
  nc_ok(nc_def_dim(file, "time", 2, &time));
  nc_ok(nc_def_dim(file, "lat", 2, &lat));
  nc_ok(nc_def_dim(file, "lon", 3, &lon));
  nc_ok(nc_def_dim(file, "nv", 2, &two));
  int bounds[] = {lat, two}, cube[] = {time, lat, lon}, *flat = cube + 1;
  nc_ok(nc_def_var(file, "lat_bnds", NC_FLOAT, 2, bounds, &id));
  nc_ok(nc_def_var(file, "lat", NC_FLOAT, 1, &lat, &id));
  const float lats[] = {-10, 10}, lons[] = {100, 110, 120};
  nc_ok(nc_put_var_float(file, id, lats));
  nc_ok(nc_def_var(file, "lon", NC_FLOAT, 1, &lon, &id));
  nc_ok(nc_put_var_float(file, id, lons));
  nc_ok(nc_def_var(file, "sst", NC_SHORT, 3, cube, &id));
  const short fill = -999, range[] = {-100, 1000};
  const double scale = 0.1, offset = 5;
  const float missing = 777;
  nc_ok(nc_put_att_short(file, id, "_FillValue", NC_SHORT, 1, &fill));
  nc_ok(nc_put_att_short(file, id, "valid_range", NC_SHORT, 2, range));
  nc_ok(nc_put_att_double(file, id, "scale_factor", NC_DOUBLE, 1, &scale));
  nc_ok(nc_put_att_double(file, id, "add_offset", NC_DOUBLE, 1, &offset));
  /* Cell 1 is missing everywhere, cell 2 in the first step only, cell 5 out of range there. */
  const short sst[] = {10, -999, -999, 40, 50, 2000, 11, -999, 31, 41, 51, 61};
  nc_ok(nc_put_var_short(file, id, sst));
  nc_ok(nc_def_var(file, "depth", NC_FLOAT, 2, flat, &id));
  nc_ok(nc_put_att_float(file, id, "missing_value", NC_FLOAT, 1, &missing));
  const float depth[] = {1, 777, NC_FILL_FLOAT, 4, 5, 6};
  nc_ok(nc_put_var_float(file, id, depth));
  nc_ok(nc_def_var(file, "zone", NC_BYTE, 2, flat, &id));
  const signed char zone[] = {2, 1, 2, -1, 2, 10};
  nc_ok(nc_put_att_text(file, id, "_Unsigned", 4, "true"));
  nc_ok(nc_put_var_schar(file, id, zone));
  nc_ok(nc_close(file));
  return path;
}

static void netcdf_cells(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  const char *path = make_netcdf("a.nc");
  sr_read_options options = read_defaults();
  options.target = "zone";
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, path, &options, &table));
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, 5);
  assert_int_equal(view->features, 3);
  assert_string_equal(view->feature_names[0], "sst:1");
  assert_string_equal(view->feature_names[2], "depth");
  assert_true(view->grid_rows == 2 && view->grid_columns == 3);
  const int64_t cells[] = {0, 2, 3, 4, 5};
  assert_memory_equal(view->cell, cells, sizeof cells);
  assert_close(cell(table, 0, 0), 6.0, 1e-6);
  assert_true(isnan(cell(table, 1, 0)) && isnan(cell(table, 4, 0)));
  assert_close(cell(table, 1, 1), 8.1, 1e-6);
  assert_true(isnan(cell(table, 1, 2)) && cell(table, 4, 2) == 6);
  /* x is the longitude, y the latitude. */
  assert_true(view->coordinates[1] == 120 && view->coordinates[5 + 1] == -10);
  assert_true(view->coordinates[4] == 120 && view->coordinates[5 + 4] == 10);
  /* -1 in an unsigned byte is 255. */
  assert_int_equal(view->classes.count, 3);
  assert_string_equal(class_of(table, 2), "255");
  assert_string_equal(class_of(table, 4), "10");
  sr_table_free(&table);
  static const char *const steps[] = {"sst:2", "depth", NULL};
  options.variables = steps;
  options.target = NULL;
  assert_ok(ctx, sr_table_read(ctx, path, &options, &table));
  assert_int_equal(sr_table_get(table)->features, 2);
  assert_string_equal(sr_table_get(table)->feature_names[0], "sst:2");
  assert_close(cell(table, 0, 0), 6.1, 1e-6);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* A double that no float can hold is refused with its name, or missing where the file says so. */
static void netcdf_beyond_float(void **state) {
  (void)state;
  char path[300];
  int file, lat, lon, id;
  snprintf(path, sizeof path, "%s/beyond.nc", test_folder());
  nc_ok(nc_create(path, NC_CLOBBER | NC_NETCDF4, &file));
  nc_ok(nc_def_dim(file, "lat", 2, &lat));
  nc_ok(nc_def_dim(file, "lon", 3, &lon));
  int flat[] = {lat, lon};
  const double values[] = {1, 2, 1e300, 4, 5, 6}, fill = 1e300;
  nc_ok(nc_def_var(file, "marked", NC_DOUBLE, 2, flat, &id));
  nc_ok(nc_put_att_double(file, id, "_FillValue", NC_DOUBLE, 1, &fill));
  nc_ok(nc_put_var_double(file, id, values));
  nc_ok(nc_def_var(file, "plain", NC_DOUBLE, 2, flat, &id));
  nc_ok(nc_put_var_double(file, id, values));
  nc_ok(nc_close(file));
  cannot_read(path, NULL, SR_ERROR_DATA, "'plain' holds 1e+300, beyond");
  static const char *const marked[] = {"marked", NULL};
  sr_read_options options = read_defaults();
  options.variables = marked;
  sr_context *ctx = test_context(1);
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, path, &options, &table));
  assert_int_equal(sr_table_get(table)->rows, 5);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void netcdf_errors(void **state) {
  (void)state;
  char path[300];
  snprintf(path, sizeof path, "%s", make_netcdf("b.nc"));
  static const char *const unknown[] = {"sts", NULL}, *const far[] = {"sst:1-3", NULL};
  sr_read_options options = read_defaults();
  options.variables = unknown;
  cannot_read(path, &options, SR_ERROR_NOT_FOUND, "did you mean 'sst'");
  options.variables = far;
  cannot_read(path, &options, SR_ERROR_ARGUMENT, "steps 1 to 2");
  options = read_defaults();
  options.target = "sst";
  cannot_read(path, &options, SR_ERROR_UNSUPPORTED, "2 steps");
  options = read_defaults();
  options.time = "time";
  cannot_read(path, &options, SR_ERROR_UNSUPPORTED, "'time' cannot be set");
  size_t size;
  char *bytes = test_read_file(path, &size);
  cannot_read(test_file("cut.nc", bytes, size / 2), NULL, SR_ERROR_FORMAT, "cannot read");
  free(bytes);
  cannot_read(test_file("text.nc", "hello", 5), NULL, SR_ERROR_FORMAT, "as NetCDF");
}

/* ---- axes ---- */

enum { DOWN = 4, ALONG = 5 };

typedef struct made_axes {
  const char *names[2], *units[2], *standard[2]; /* of the dimensions: down, along */
  const char *wkt;                               /* NULL: none */
  bool places;                                   /* longitude and latitude of every cell as well */
  double down[DOWN], along[ALONG];
} made_axes;

static void put_words(int file, int id, const char *key, const char *text) {
  if (text) nc_ok(nc_put_att_text(file, id, key, strlen(text), text));
}

/* A variable `a` whose third row of cells is missing, on the axes. */
static const char *make_axes(const char *name, const made_axes *axes) {
  static char path[300];
  int file, dimension[2], id;
  float values[DOWN * ALONG];
  double place[DOWN * ALONG];
  snprintf(path, sizeof path, "%s/%s", test_folder(), name);
  nc_ok(nc_create(path, NC_CLOBBER | NC_NETCDF4, &file));
  for (int k = 0; k < 2; k++) {
    nc_ok(nc_def_dim(file, axes->names[k], k ? ALONG : DOWN, &dimension[k]));
    nc_ok(nc_def_var(file, axes->names[k], NC_DOUBLE, 1, &dimension[k], &id));
    nc_ok(nc_put_var_double(file, id, k ? axes->along : axes->down));
    put_words(file, id, "units", axes->units[k]);
    put_words(file, id, "standard_name", axes->standard[k]);
  }
  for (int k = 0; k < 2 && axes->places; k++) {
    nc_ok(nc_def_var(file, k ? "nav_lat" : "nav_lon", NC_DOUBLE, 2, dimension, &id));
    put_words(file, id, "units", k ? "degrees_north" : "degrees_east");
    for (int i = 0; i < DOWN * ALONG; i++) place[i] = k ? 40 + (i / ALONG) * (i % ALONG) : 7 + i;
    nc_ok(nc_put_var_double(file, id, place));
  }
  if (axes->wkt) {
    nc_ok(nc_def_var(file, "mapping", NC_INT, 0, NULL, &id));
    put_words(file, id, "crs_wkt", axes->wkt);
  }
  nc_ok(nc_def_var(file, "a", NC_FLOAT, 2, dimension, &id));
  put_words(file, id, "grid_mapping", axes->wkt ? "mapping: x y" : NULL);
  for (int i = 0; i < DOWN * ALONG; i++) values[i] = i / ALONG == 2 ? NC_FILL_FLOAT : (float)i;
  nc_ok(nc_put_var_float(file, id, values));
  nc_ok(nc_close(file));
  return path;
}

static const double gaussian[DOWN] = {59.444408289, 19.875719287, -19.875719287, -59.444408289};

/* What a table is written as: the axes of the file that it came from, to the bit, also where a
 * whole row of cells is missing; read again it is the same table. */
static void check_written(sr_context *ctx, const sr_table *table, const made_axes *axes) {
  char path[300];
  int file, id;
  double read[ALONG];
  sr_table *back = NULL;
  const sr_table_view *a = sr_table_get(table);
  snprintf(path, sizeof path, "%s/written.nc", test_folder());
  assert_ok(ctx, sr_table_write(ctx, table, path));
  nc_ok(nc_open(path, NC_NOWRITE, &file));
  for (int k = 0; k < 2; k++) {
    const double *wanted = k ? axes->along : axes->down;
    int dimension;
    char name[NC_MAX_NAME + 1];
    nc_ok(nc_inq_varid(file, "a", &id));
    int both[2];
    nc_ok(nc_inq_vardimid(file, id, both));
    dimension = both[k];
    nc_ok(nc_inq_dimname(file, dimension, name));
    nc_ok(nc_inq_varid(file, name, &id));
    nc_ok(nc_get_var_double(file, id, read));
    assert_memory_equal(read, wanted, (size_t)(k ? ALONG : DOWN) * sizeof *read);
  }
  nc_ok(nc_close(file));
  assert_ok(ctx, sr_table_read(ctx, path, NULL, &back));
  const sr_table_view *b = sr_table_get(back);
  assert_int_equal(b->rows, a->rows);
  assert_int_equal(b->features, a->features);
  assert_memory_equal(b->coordinates, a->coordinates, (size_t)(2 * a->rows) * sizeof(double));
  assert_string_equal(b->projection ? b->projection : "", a->projection ? a->projection : "");
  sr_table_free(&back);
}

static void netcdf_axes_are_kept(void **state) {
  (void)state;
  static const char utm[] =
      "PROJCS[\"UTM\",GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,298.25]],"
      "UNIT[\"degree\",0.0174532925199433]],PROJECTION[\"Transverse_Mercator\"],UNIT[\"metre\",1]]";
  static const struct {
    made_axes axes;
    sr_distance_unit unit;
    const char *begins; /* of the reference system */
  } cases[] = {
      {{.names = {"lat", "lon"},
        .units = {"degrees_north", "degrees_east"},
        .along = {0, 72, 144, 216, 288}},
       SR_DISTANCE_METERS,
       "GEOGCS[\"WGS 84\""},
      {{.names = {"j", "i"}, .units = {"degree_N", "degreesE"}, .along = {0, 10, 30, 70, 200}},
       SR_DISTANCE_METERS,
       "GEOGCS[\"WGS 84\""},
      {{.names = {"rlat", "rlon"},
        .units = {"degrees", "degrees"},
        .standard = {"grid_latitude", "grid_longitude"},
        .along = {-2, -1, 0, 1, 2}},
       SR_DISTANCE_METERS,
       "GEOGCS[\"degrees of a turned pole\""},
      {{.names = {"y", "x"}, .units = {"m", "m"}, .wkt = utm, .along = {1, 2, 4, 8, 16}},
       SR_DISTANCE_METERS,
       "PROJCS[\"UTM\""},
      {{.names = {"y", "x"}, .units = {"metre", "metre"}, .along = {1, 2, 4, 8, 16}},
       SR_DISTANCE_METERS,
       "LOCAL_CS"},
      {{.names = {"y", "x"}, .units = {"km", "km"}, .wkt = utm, .along = {1, 2, 4, 8, 16}},
       SR_DISTANCE_MAP,
       ""},
      {{.names = {"y", "x"}, .along = {1, 2, 4, 8, 16}}, SR_DISTANCE_MAP, ""}};
  sr_context *ctx = test_context(1);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    made_axes axes = cases[k].axes;
    sr_table *table = NULL;
    memcpy(axes.down, gaussian, sizeof gaussian);
    assert_ok(ctx, sr_table_read(ctx, make_axes("axes_in.nc", &axes), NULL, &table));
    const sr_table_view *t = sr_table_get(table);
    assert_int_equal(t->rows, (DOWN - 1) * ALONG);
    for (int64_t i = 0; i < t->rows; i++) {
      assert_true(t->coordinates[i] == axes.along[t->cell[i] % ALONG]);
      assert_true(t->coordinates[t->rows + i] == axes.down[t->cell[i] / ALONG]);
    }
    assert_int_equal(sr__distance_unit(t), cases[k].unit);
    if (strncmp(t->projection ? t->projection : "", cases[k].begins, strlen(cases[k].begins)) !=
            0 ||
        (!*cases[k].begins && t->projection))
      fail_msg("case %d: %s", (int)k, t->projection);
    check_written(ctx, table, &axes);
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

/* Longitude and latitude of every cell are its place and no features; where the axes are degrees or
 * meters themselves they stay features. */
static void netcdf_places_of_cells(void **state) {
  (void)state;
  made_axes axes = {.names = {"rlat", "rlon"},
                    .units = {"degrees", "degrees"},
                    .standard = {"grid_latitude", "grid_longitude"},
                    .places = true,
                    .down = {4, 3, 2, 1},
                    .along = {1, 2, 3, 4, 5}};
  sr_context *ctx = test_context(1);
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, make_axes("places.nc", &axes), NULL, &table));
  const sr_table_view *t = sr_table_get(table);
  assert_int_equal(t->features, 1);
  assert_string_equal(t->feature_names[0], "a");
  assert_int_equal(sr__distance_unit(t), SR_DISTANCE_METERS);
  for (int64_t i = 0; i < t->rows; i++) {
    int cell = (int)t->cell[i];
    assert_true(t->coordinates[i] == 7 + cell);
    assert_true(t->coordinates[t->rows + i] == 40 + (cell / ALONG) * (cell % ALONG));
  }
  check_written(ctx, table, &axes);
  char path[300];
  snprintf(path, sizeof path, "%s/places.tif", test_folder());
  sr_status status = sr_table_write(ctx, table, path);
  assert_int_equal(status, SR_ERROR_UNSUPPORTED);
#if defined(SR_HAVE_GDAL)
  assert_non_null(strstr(sr_context_error(ctx).message, ".nc or .csv"));
#endif
  sr_table_free(&table);
  axes.names[0] = "lat";
  axes.names[1] = "lon";
  axes.standard[0] = axes.standard[1] = NULL;
  assert_ok(ctx, sr_table_read(ctx, make_axes("both.nc", &axes), NULL, &table));
  assert_int_equal(sr_table_get(table)->features, 3);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void netcdf_time_is_no_place(void **state) {
  (void)state;
  const made_axes axes = {.names = {"lat", "time"},
                          .units = {"degrees_north", "days since 2000-01-01"},
                          .down = {4, 3, 2, 1},
                          .along = {1, 2, 3, 4, 5}};
  cannot_read(make_axes("time.nc", &axes), NULL, SR_ERROR_DATA, "time counts time");
}

typedef struct read_job {
  const char *path;
  sr_status status;
  sr_table *table;
  sr_context *ctx;
} read_job;

static void *read_elsewhere(void *data) {
  read_job *job = data;
  job->status = sr_table_read(job->ctx, job->path, NULL, &job->table);
  return NULL;
}

/* HDF5 prints its errors in every thread that does not keep it from doing so. */
static void netcdf_prints_nothing_in_any_thread(void **state) {
  (void)state;
  char whole[300], cut[300], said[300];
  size_t size;
  snprintf(whole, sizeof whole, "%s", make_netcdf("whole.nc"));
  char *bytes = test_read_file(whole, &size);
  snprintf(cut, sizeof cut, "%s", test_file("half.nc", bytes, size / 2));
  snprintf(said, sizeof said, "%s", test_file("said", "", 0));
  free(bytes);
  read_job jobs[] = {{.path = whole}, {.path = cut}};
  for (int k = 0; k < 2; k++) {
    pthread_t thread;
    jobs[k].ctx = test_context(1);
    fflush(stderr);
    int kept = dup(STDERR_FILENO), file = open(said, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_true(kept >= 0 && file >= 0);
    dup2(file, STDERR_FILENO);
    int failed = pthread_create(&thread, NULL, read_elsewhere, &jobs[k]);
    if (!failed) pthread_join(thread, NULL);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(file);
    assert_int_equal(failed, 0);
  }
  assert_int_equal(jobs[0].status, SR_OK);
  assert_int_equal(jobs[1].status, SR_ERROR_FORMAT);
  char *text = test_read_file(said, &size);
  if (size) fail_msg("on stderr: %.300s", text);
  free(text);
  for (int k = 0; k < 2; k++) {
    sr_table_free(&jobs[k].table);
    sr_context_free(&jobs[k].ctx);
  }
}

/* One step of a variable as the target, the others as features; lists of steps. */
static void netcdf_steps_and_targets(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  char path[300];
  snprintf(path, sizeof path, "%s", make_netcdf("steps.nc"));
  sr_read_options options = read_defaults();
  sr_table *table = NULL;
  options.target = "sst:2 > median";
  assert_ok(ctx, sr_table_read(ctx, path, &options, &table));
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->features, 3); /* sst:1, depth, zone */
  assert_string_equal(view->feature_names[0], "sst:1");
  assert_int_equal(strncmp(view->target_name, "sst:2 > ", 8), 0);
  assert_int_equal(view->classes.count, 2);
  /* cell 1 is missing in sst:2, 6.1 8.1 9.1 10.1 11.1 elsewhere */
  const int32_t expected[] = {0, -1, 0, 0, 1, 1};
  assert_int_equal(view->rows, 6);
  for (int i = 0; i < 6; i++) assert_int_equal(view->label[i], expected[i]);
  assert_non_null(view->projection);
  sr_table_free(&table);
  static const char *const both[] = {"sst:1", "sst:2-2", "zone", NULL};
  options = read_defaults();
  options.variables = both;
  options.target = "depth <= 4";
  assert_ok(ctx, sr_table_read(ctx, path, &options, &table));
  view = sr_table_get(table);
  assert_int_equal(view->features, 3);
  assert_string_equal(view->feature_names[1], "sst:2");
  sr_table_free(&table);
  options.target = "sst:3 > median";
  cannot_read(path, &options, SR_ERROR_ARGUMENT, "steps 1 to 2");
  options.target = "sst:1-2";
  cannot_read(path, &options, SR_ERROR_ARGUMENT, "steps 1 to 2");
  options.target = "sst:0";
  cannot_read(path, &options, SR_ERROR_ARGUMENT, "steps 1 to 2");
  sr_context_free(&ctx);
}

static sr_status read_netcdf_once(sr_context *ctx, void *data) {
  sr_read_options options = read_defaults();
  options.target = "zone";
  sr_table *table = NULL;
  sr_status status = sr_table_read(ctx, data, &options, &table);
  sr_table_free(&table);
  return status;
}

static void netcdf_allocations_may_fail(void **state) {
  (void)state;
  char path[300];
  snprintf(path, sizeof path, "%s", make_netcdf("c.nc"));
  test_every_allocation(read_netcdf_once, path);
}

#else

static void netcdf_is_named_where_it_lacks(void **state) {
  (void)state;
  cannot_read(test_file("a.nc", "CDF\x01", 4), NULL, SR_ERROR_UNSUPPORTED, "libnetcdf-dev");
}

#endif

/* ---- GeoTIFF ------------------------------------------------------------------------------ */

#if defined(SR_HAVE_GDAL)

/* 3 columns x 2 rows; nodata NaN for none. */
static const char *make_raster(const char *name, int bands, const double *values, double nodata,
                               double left) {
  static char path[4][300];
  static int next;
  char *made = path[next++ % 4];
  snprintf(made, sizeof path[0], "%s/%s", test_folder(), name);
  GDALRegister_GTiff();
  double transform[] = {left, 30, 0, 5000, 0, -30};
  GDALDatasetH file =
      GDALCreate(GDALGetDriverByName("GTiff"), made, 3, 2, bands, GDT_Float64, NULL);
  assert_non_null(file);
  GDALSetGeoTransform(file, transform);
  for (int b = 1; b <= bands; b++) {
    GDALRasterBandH band = GDALGetRasterBand(file, b);
    if (!isnan(nodata)) GDALSetRasterNoDataValue(band, nodata);
    assert_int_equal(GDALRasterIO(band, GF_Write, 0, 0, 3, 2,
                                  (void *)(uintptr_t)(values + (b - 1) * 6), 3, 2, GDT_Float64, 0,
                                  0),
                     CE_None);
  }
  GDALClose(file);
  return made;
}

static void geotiff_cells(void **state) {
  (void)state;
  const double bands[] = {1, 2, -9, 4, 5, 6, 10, -9, -9, 40, 50, 60}, zone[] = {1, 1, 7, 7, -9, 1};
  char two[700];
  const char *first = make_raster("scene.tif", 2, bands, -9, 1000);
  const char *second = make_raster("zone.tif", 1, zone, -9, 1000);
  snprintf(two, sizeof two, "%s,%s", first, second);
  sr_context *ctx = test_context(1);
  sr_read_options options = read_defaults();
  options.target = "zone";
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, two, &options, &table));
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, 5); /* cell 2 has neither band */
  assert_int_equal(view->features, 2);
  assert_string_equal(view->feature_names[1], "scene_b2");
  assert_true(view->grid_rows == 2 && view->grid_columns == 3 && view->cell[2] == 3);
  assert_true(cell(table, 1, 0) == 2 && isnan(cell(table, 1, 1)) && cell(table, 4, 1) == 60);
  assert_true(view->coordinates[0] == 1015 && view->coordinates[5] == 4985);
  assert_true(view->coordinates[3] == 1045 && view->coordinates[5 + 3] == 4955);
  assert_string_equal(class_of(table, 2), "7");
  assert_null(class_of(table, 3));
  sr_table_free(&table);
  /* The same through `variables`: the second band and the other file as features. */
  const char *const chosen[] = {"2", second, NULL};
  options.target = NULL;
  options.variables = chosen;
  assert_ok(ctx, sr_table_read(ctx, first, &options, &table));
  assert_int_equal(sr_table_get(table)->features, 2);
  assert_string_equal(sr_table_get(table)->feature_names[0], "scene_b2");
  assert_string_equal(sr_table_get(table)->feature_names[1], "zone");
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void geotiff_beyond_float(void **state) {
  (void)state;
  const double values[] = {1, 2, 3, 4, -1e39, 6};
  cannot_read(make_raster("beyond.tif", 1, values, NAN, 0), NULL, SR_ERROR_DATA,
              "holds -1e+39, beyond");
  sr_context *ctx = test_context(1);
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, make_raster("marked.tif", 1, values, -1e39, 0), NULL, &table));
  assert_int_equal(sr_table_get(table)->rows, 5);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void geotiff_errors(void **state) {
  (void)state;
  const double values[] = {1, 2, 3, 4, 5, 6};
  char two[700];
  const char *first = make_raster("here.tif", 1, values, NAN, 0);
  const char *second = make_raster("there.tif", 1, values, NAN, 15);
  snprintf(two, sizeof two, "%s,%s", first, second);
  cannot_read(two, NULL, SR_ERROR_DATA, "must lie on one grid");
  snprintf(two, sizeof two, "%s,/nonexistent/x.tif", first);
  cannot_read(two, NULL, SR_ERROR_IO, "x.tif");
  sr_read_options options = read_defaults();
  options.target = "her";
  cannot_read(first, &options, SR_ERROR_NOT_FOUND, "did you mean 'here'");
  options.target = "here";
  cannot_read(first, &options, SR_ERROR_ARGUMENT, "no feature is left");
  size_t size;
  char *bytes = test_read_file(first, &size);
  cannot_read(test_file("cut.tif", bytes, 30), NULL, SR_ERROR_FORMAT, "as GeoTIFF");
  free(bytes);
  cannot_read(test_file("text.tif", "hello", 5), NULL, SR_ERROR_FORMAT, "as GeoTIFF");
}

/* Only plain files are opened; what is cut off or lies on another grid is refused with a word. */
static void geotiff_hostile_files(void **state) {
  (void)state;
  static const char *const virtual[] = {"/vsicurl/http://127.0.0.1:9/x.tif", "/vsimem/x.tif",
                                        "/vsizip/a.zip/x.tif", "http://127.0.0.1:9/x.tif",
                                        "file:///etc/x.tif"};
  const double values[] = {1, 2, 3, 4, 5, 6};
  char two[900];
  const char *first = make_raster("plain.tif", 1, values, NAN, 0);
  for (size_t k = 0; k < sizeof virtual / sizeof *virtual; k++) {
    snprintf(two, sizeof two, "%s,%s", first, virtual[k]);
    cannot_read(two, NULL, SR_ERROR_UNSUPPORTED, "virtual path");
    const char *const variables[] = {virtual[k], NULL};
    sr_read_options options = read_defaults();
    options.variables = variables;
    cannot_read(first, &options, SR_ERROR_UNSUPPORTED, "virtual path");
  }
  snprintf(two, sizeof two, "%s,GTIFF_DIR:1:%s", first, first);
  cannot_read(two, NULL, SR_ERROR_IO, "GTIFF_DIR");
  snprintf(two, sizeof two, "%s,/dev/null.tif", first);
  cannot_read(two, NULL, SR_ERROR_IO, "null.tif");
  /* Every cut of a file is refused, or the pixels were all there. */
  size_t size;
  char *bytes = test_read_file(first, &size);
  sr_context *ctx = test_context(1);
  for (size_t length = 0; length < size; length += 7) {
    sr_table *table = NULL;
    sr_status status = sr_table_read(ctx, test_file("cut.tif", bytes, length), NULL, &table);
    assert_true(status != SR_OK || sr_table_get(table)->rows == 6);
    sr_table_free(&table);
  }
  /* Bands are declared by a 16-bit number: 65535 of them on 6 cells of which none is stored. */
  for (size_t at = 0; at + 12 <= size; at++) {
    const unsigned char tag[] = {0x15, 0x01, 0x03, 0x00, 0x01, 0x00, 0x00, 0x00};
    if (memcmp(bytes + at, tag, sizeof tag) == 0) bytes[at + 8] = bytes[at + 9] = (char)0xff;
  }
  sr_table *table = NULL;
  assert_true(sr_table_read(ctx, test_file("bands.tif", bytes, size), NULL, &table) != SR_OK);
  sr_table_free(&table);
  free(bytes);
  sr_context_free(&ctx);
}

/* A turned lattice, and rasters of another cell size or reference system. */
static void geotiff_georeference(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const double values[] = {1, 2, 3, 4, 5, 6};
  char first[300], second[300], two[700];
  snprintf(first, sizeof first, "%s", make_raster("one.tif", 1, values, NAN, 1000));
  snprintf(second, sizeof second, "%s", make_raster("other.tif", 1, values, NAN, 1000));
  snprintf(two, sizeof two, "%s,%s", first, second);
  GDALDatasetH file = GDALOpen(second, GA_Update);
  double coarse[] = {1000, 60, 0, 5000, 0, -60}, turned[] = {500, 3, -4, 900, 4, 3};
  GDALSetGeoTransform(file, coarse);
  GDALClose(file);
  cannot_read(two, NULL, SR_ERROR_DATA, "must lie on one grid");
  snprintf(second, sizeof second, "%s", make_raster("other.tif", 1, values, NAN, 1000));
  OGRSpatialReferenceH system[2] = {OSRNewSpatialReference(NULL), OSRNewSpatialReference(NULL)};
  for (int k = 0; k < 2; k++) {
    char *text = NULL;
    OSRSetUTM(system[k], 30 + k, 1);
    OSRSetWellKnownGeogCS(system[k], "WGS84");
    OSRExportToWkt(system[k], &text);
    file = GDALOpen(k ? second : first, GA_Update);
    GDALSetProjection(file, text);
    GDALClose(file);
    CPLFree(text);
    OSRDestroySpatialReference(system[k]);
  }
  cannot_read(two, NULL, SR_ERROR_DATA, "reference system");
  file = GDALOpen(first, GA_Update);
  GDALSetGeoTransform(file, turned);
  GDALClose(file);
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, first, NULL, &table));
  assert_close(sr_table_get(table)->coordinates[1], 500 + 1.5 * 3 - 0.5 * 4, 1e-12);
  assert_close(sr_table_get(table)->coordinates[6 + 1], 900 + 1.5 * 4 + 0.5 * 3, 1e-12);
  char back[300];
  snprintf(back, sizeof back, "%s/turned.tif", test_folder());
  assert_ok(ctx, sr_table_write(ctx, table, back));
  double transform[6];
  file = GDALOpen(back, GA_ReadOnly);
  GDALGetGeoTransform(file, transform);
  for (int k = 0; k < 6; k++) assert_close(transform[k], turned[k], 1e-9);
  assert_non_null(strstr(GDALGetProjectionRef(file), "UTM zone 30"));
  GDALClose(file);
  char turned_nc[300];
  snprintf(turned_nc, sizeof turned_nc, "%s/turned.nc", test_folder());
  assert_int_equal(sr_table_write(ctx, table, turned_nc), SR_ERROR_UNSUPPORTED);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* Classes alone are bytes with a color each, names in the metadata, 255 in the holes, in tiles. */
static void geotiff_of_classes(void **state) {
  (void)state;
  static const char *const words[] = {"oak", "beech"}, *const wide[] = {"-7", "300"};
  static const int32_t label[] = {1, 0, -1};
  static const int64_t cells[] = {0, 2, 3};
  sr_context *ctx = test_context(1);
  for (int variant = 0; variant < 2; variant++) {
    sr_table_view view = {.rows = 3,
                          .label = label,
                          .classes = {2, variant ? wide : words},
                          .predicted = 1,
                          .grid_rows = 2,
                          .grid_columns = 2,
                          .cell = cells};
    sr_table *table = NULL;
    char path[300];
    double values[4], expected[2][4] = {{1, 255, 0, 255}, {300, -32768, -7, -32768}};
    snprintf(path, sizeof path, "%s/classes.tif", test_folder());
    assert_ok(ctx, sr_table_new(ctx, &view, &table));
    assert_ok(ctx, sr_table_write(ctx, table, path));
    GDALDatasetH file = GDALOpen(path, GA_ReadOnly);
    assert_non_null(file);
    GDALRasterBandH band = GDALGetRasterBand(file, 1);
    int width, height;
    GDALGetBlockSize(band, &width, &height);
    assert_true(width == 256 && height == 256);
    assert_int_equal(GDALGetRasterDataType(band), variant ? GDT_Int16 : GDT_Byte);
    assert_true(GDALGetRasterNoDataValue(band, NULL) == (variant ? -32768 : 255));
    assert_int_equal(GDALRasterIO(band, GF_Read, 0, 0, 2, 2, values, 2, 2, GDT_Float64, 0, 0),
                     CE_None);
    for (int i = 0; i < 4; i++) assert_true(values[i] == expected[variant][i]);
    if (variant == 0) {
      assert_string_equal(GDALGetMetadataItem(band, "class_1", NULL), "beech");
      GDALColorTableH colors = GDALGetRasterColorTable(band);
      assert_non_null(colors);
      const GDALColorEntry *a = GDALGetColorEntry(colors, 0), *b = GDALGetColorEntry(colors, 1);
      assert_true(a->c1 != b->c1 || a->c2 != b->c2 || a->c3 != b->c3);
    }
    GDALClose(file);
    sr_table_free(&table);
  }
  sr_context_free(&ctx);
}

static sr_status read_raster_once(sr_context *ctx, void *data) {
  sr_table *table = NULL;
  sr_status status = sr_table_read(ctx, data, NULL, &table);
  sr_table_free(&table);
  return status;
}

static void geotiff_allocations_may_fail(void **state) {
  (void)state;
  const double values[] = {1, 2, 3, 4, 5, 6};
  char path[300];
  snprintf(path, sizeof path, "%s", make_raster("fail.tif", 1, values, 2, 0));
  test_every_allocation(read_raster_once, path);
}

#else

static void geotiff_is_named_where_it_lacks(void **state) {
  (void)state;
  cannot_read(test_file("a.tif", "II*\0", 4), NULL, SR_ERROR_UNSUPPORTED, "libgdal-dev");
}

#endif

/* ---- writing ------------------------------------------------------------------------------ */

#if defined(SR_HAVE_NETCDF) || defined(SR_HAVE_GDAL)

/* Five cells of a 3 x 2 lattice with a hole, two features and classes that were predicted. */
static sr_table *small_map(sr_context *ctx, bool numbers) {
  static const float x[] = {1.5f, NAN, 3, 4, 5, -1, -2, -3, -4, -5e-7f};
  static const char *const names[] = {"share one", "two"}, *const words[] = {"oak", "beech", "NA"},
                           *const codes[] = {"10", "20", "255"};
  static const int32_t label[] = {2, 0, -1, 1, 0};
  static const int64_t cells[] = {0, 1, 3, 4, 5};
  static const double coordinates[] = {500015, 500045, 500045, 500015, 500045,
                                       899985, 899985, 899955, 899925, 899925};
  sr_table_view view = {.rows = 5,
                        .features = 2,
                        .x = x,
                        .feature_names = names,
                        .label = label,
                        .classes = {3, numbers ? codes : words},
                        .target_name = "cover",
                        .predicted = 1,
                        .coordinate_count = 2,
                        .coordinates = coordinates,
                        .grid_rows = 3,
                        .grid_columns = 2,
                        .cell = cells};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  return table;
}

/* Features, places and classes come back. Band 1 or variable "cover" holds the classes. */
static void map_comes_back(const char *name, const char *target) {
  sr_context *ctx = test_context(1);
  char path[300];
  snprintf(path, sizeof path, "%s/%s", test_folder(), name);
  sr_table *table = small_map(ctx, true), *back = NULL;
  assert_ok(ctx, sr_table_write(ctx, table, path));
  sr_read_options options = read_defaults();
  options.target = target;
  assert_ok(ctx, sr_table_read(ctx, path, &options, &back));
  const sr_table_view *a = sr_table_get(table), *b = sr_table_get(back);
  assert_int_equal(b->rows, 5);
  assert_int_equal(b->features, 2);
  assert_memory_equal(a->cell, b->cell, 5 * sizeof *a->cell);
  for (int i = 0; i < 10; i++) {
    assert_close(b->coordinates[i], a->coordinates[i], 1e-12);
    assert_true(a->x[i] == b->x[i] || (isnan(a->x[i]) && isnan(b->x[i])));
  }
  assert_int_equal(b->label[2], -1);
  for (int i = 0; i < 5; i++) {
    if (i != 2) assert_string_equal(class_of(back, i), class_of(table, i));
  }
  sr_table_free(&back);
  sr_table_free(&table);
  /* Names that are no numbers become codes. */
  table = small_map(ctx, false);
  assert_ok(ctx, sr_table_write(ctx, table, path));
  assert_ok(ctx, sr_table_read(ctx, path, &options, &back));
  assert_string_equal(class_of(back, 0), "2");
  sr_table_free(&back);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void maps_need_cells(const char *name) {
  sr_context *ctx = test_context(1);
  char path[300];
  snprintf(path, sizeof path, "%s/%s", test_folder(), name);
  sr_table *table = read_text(ctx, "a,b\n1,2\n3,4\n", "x.csv", NULL), *bent = NULL;
  assert_int_equal(sr_table_write(ctx, table, path), SR_ERROR_UNSUPPORTED);
  assert_non_null(strstr(sr_context_error(ctx).message, "write csv"));
  sr_table_free(&table);
  table = small_map(ctx, true);
  sr_table_view view = *sr_table_get(table);
  double moved[10];
  memcpy(moved, view.coordinates, sizeof moved);
  moved[3] += 20;
  view.coordinates = moved;
  assert_ok(ctx, sr_table_new(ctx, &view, &bent));
  assert_int_equal(sr_table_write(ctx, bent, path), SR_ERROR_UNSUPPORTED);
  assert_non_null(strstr(sr_context_error(ctx).message, "straight lattice"));
  sr_table_free(&bent);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static sr_status write_map_once(sr_context *ctx, void *data) {
  static const float x[] = {1, 2};
  static const int64_t cells[] = {0, 1};
  static const double coordinates[] = {0.5, 1.5, 0.5, 0.5};
  sr_table_view view = {.rows = 2,
                        .features = 1,
                        .x = x,
                        .coordinate_count = 2,
                        .coordinates = coordinates,
                        .grid_rows = 1,
                        .grid_columns = 2,
                        .cell = cells};
  sr_table *table = NULL;
  sr_status status = sr_table_new(ctx, &view, &table);
  if (status == SR_OK) status = sr_table_write(ctx, table, data);
  sr_table_free(&table);
  return status;
}

static void writing_survives_every_allocation_failure(const char *name) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", test_folder(), name);
  test_every_allocation(write_map_once, path);
}

#endif

#if defined(SR_HAVE_NETCDF)
/* Columns may be called what the file's own axes and reference system are called. */
static void axes_give_way_to_columns(const char *name, const char *projection) {
  static const char *const names[] = {"y", "axis_y"};
  sr_context *ctx = test_context(1);
  char path[300];
  snprintf(path, sizeof path, "%s/%s", test_folder(), name);
  sr_table *table = small_map(ctx, true), *named = NULL, *back = NULL;
  sr_table_view view = *sr_table_get(table);
  view.feature_names = names;
  view.target_name = "crs";
  view.projection = projection;
  assert_ok(ctx, sr_table_new(ctx, &view, &named));
  assert_ok(ctx, sr_table_write(ctx, named, path));
  sr_read_options options = read_defaults();
  options.target = "crs";
  assert_ok(ctx, sr_table_read(ctx, path, &options, &back));
  const sr_table_view *b = sr_table_get(back);
  assert_int_equal(b->features, 2);
  for (int j = 0; j < 2; j++) { /* the library lists variables in an order of its own */
    int k = strcmp(b->feature_names[j], "y") == 0 ? 0 : 1;
    assert_string_equal(b->feature_names[j], names[k]);
    assert_true(b->x[j * 5] == view.x[k * 5]);
  }
  assert_string_equal(class_of(back, 0), "255");
  for (int i = 0; i < 10; i++) assert_close(b->coordinates[i], view.coordinates[i], 1e-12);
  sr_table_free(&back);
  sr_table_free(&named);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void netcdf_is_written(void **state) {
  (void)state;
  axes_give_way_to_columns("axes.nc", NULL);
  axes_give_way_to_columns("referenced.nc", "PROJCS[\"somewhere\"]");
  map_comes_back("map.nc", "cover");
  maps_need_cells("none.nc");
  writing_survives_every_allocation_failure("memory.nc");
}
#endif

#if defined(SR_HAVE_GDAL)
static void geotiff_is_written(void **state) {
  (void)state;
  map_comes_back("map.tif", "1");
  maps_need_cells("none.tif");
  writing_survives_every_allocation_failure("memory.tif");
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
#if defined(SR_HAVE_NETCDF)
    cmocka_unit_test(netcdf_cells),
    cmocka_unit_test(netcdf_steps_and_targets),
    cmocka_unit_test(netcdf_errors),
    cmocka_unit_test(netcdf_axes_are_kept),
    cmocka_unit_test(netcdf_places_of_cells),
    cmocka_unit_test(netcdf_time_is_no_place),
    cmocka_unit_test(netcdf_prints_nothing_in_any_thread),
    cmocka_unit_test(netcdf_beyond_float),
    cmocka_unit_test(netcdf_allocations_may_fail),
    cmocka_unit_test(netcdf_is_written),
#else
    cmocka_unit_test(netcdf_is_named_where_it_lacks),
#endif
#if defined(SR_HAVE_GDAL)
    cmocka_unit_test(geotiff_cells),
    cmocka_unit_test(geotiff_hostile_files),
    cmocka_unit_test(geotiff_georeference),
    cmocka_unit_test(geotiff_of_classes),
    cmocka_unit_test(geotiff_errors),
    cmocka_unit_test(geotiff_beyond_float),
    cmocka_unit_test(geotiff_allocations_may_fail),
    cmocka_unit_test(geotiff_is_written),
#else
    cmocka_unit_test(geotiff_is_named_where_it_lacks),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
