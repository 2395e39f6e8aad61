/* Rasters predicted in tiles: the same bytes as in one piece, whatever the tiles. */
#include "harness.h"

#if defined(SR_HAVE_GDAL)
#include "data/raster_tiles.h"
#include "raster_kit.h"

enum { WIDTH = 700, HEIGHT = 530, CELLS = WIDTH * HEIGHT };

/* Two bands with a hole that covers a whole block, and the class "cover" in a file of its own. */
static void make_scene(char bands[300], char cover[300], const char *projection) {
  const double transform[] = {400000, 30, 0, 5500000, 0, -30};
  double *values = malloc(3 * (size_t)CELLS * sizeof *values);
  assert_non_null(values);
  for (int64_t i = 0; i < CELLS; i++) {
    int64_t row = i / WIDTH, column = i % WIDTH;
    bool hole = (row >= 250 && column < 270) || (row * 31 + column * 17) % 97 == 0;
    double a = sin(0.02 * (double)row) + cos(0.03 * (double)column), b = sin(0.05 * (double)column);
    values[i] = hole ? NAN : a;
    values[CELLS + i] = hole && row % 2 ? NAN : b;
    values[2 * CELLS + i] = hole ? NAN : 10 + 10 * (a > 0.4) + 10 * (b > 0.7);
  }
  test_raster(test_path(bands, "bands.tif"), WIDTH, HEIGHT, 2, values, transform, projection);
  test_raster(test_path(cover, "cover.tif"), WIDTH, HEIGHT, 1, values + 2 * (int64_t)CELLS,
              transform, projection);
  free(values);
}

static sr_ensemble *fit_scene(sr_context *ctx, const char *both) {
  sr_read_options read;
  sr_table *all = NULL, *some = NULL;
  sr_plan *plan = NULL;
  sr_ensemble *ensemble = NULL;
  int64_t rows[600];
  sr_read_options_init(&read);
  read.target = "cover";
  assert_ok(ctx, sr_table_read(ctx, both, &read, &all));
  for (int64_t k = 0; k < 600; k++) rows[k] = k * (sr_table_get(all)->rows / 600);
  assert_ok(ctx, sr_table_select(ctx, all, rows, 600, &some));
  sr_structure *structure = NULL;
  assert_ok(ctx, sr_structure_estimate(ctx, some, NULL, 1, &structure));
  assert_ok(ctx, sr_plan_new(ctx, structure, "uniform", 7, 1, &plan));
  assert_ok(ctx, sr_ensemble_fit(ctx, some, plan, NULL, 1, &ensemble));
  sr_structure_free(&structure);
  sr_plan_free(&plan);
  sr_table_free(&some);
  sr_table_free(&all);
  return ensemble;
}

static void same_files(const char *a, const char *b) {
  size_t first, second;
  char *x = test_read_file(a, &first), *y = test_read_file(b, &second);
  assert_non_null(x);
  assert_non_null(y);
  if (first != second || memcmp(x, y, first) != 0) fail_msg("%s and %s differ", a, b);
  free(x);
  free(y);
}

/* In one piece: the table is read, predicted and written whole. */
static double predict_whole(sr_context *ctx, const sr_ensemble *ensemble, const char *both,
                            const sr_predict_options *options, const char *path) {
  sr_read_options read;
  sr_table *table = NULL, *said = NULL;
  int64_t wrong = 0, judged = 0;
  sr_read_options_init(&read);
  read.schema = sr_ensemble_schema(ensemble);
  read.target = "cover";
  assert_ok(ctx, sr_table_read(ctx, both, &read, &table));
  assert_ok(ctx, sr_ensemble_predict_table(ctx, ensemble, table, options, &said));
  assert_ok(ctx, sr_table_write(ctx, said, path));
  const int32_t *truth = sr_table_get(table)->label, *vote = sr_table_get(said)->label;
  for (int64_t i = 0; i < sr_table_get(table)->rows; i++) {
    judged += truth[i] >= 0;
    wrong += truth[i] >= 0 && truth[i] != vote[i];
  }
  sr_table_free(&said);
  sr_table_free(&table);
  return (double)wrong / (double)judged;
}

static void tiles_give_the_same_bytes(void **state) {
  (void)state;
  char bands[300], cover[300], both[700], whole[300], tiled[300], *projection;
  projection = test_reference(32633);
  make_scene(bands, cover, projection);
  snprintf(both, sizeof both, "%s,%s", bands, cover);
  for (int threads = 1; threads <= 2; threads++) {
    sr_context *ctx = test_context(threads);
    sr_ensemble *ensemble = fit_scene(ctx, both);
    for (int shares = threads == 1 ? 0 : 1; shares <= 1; shares++) {
      sr_predict_options options = {.proba = shares, .uncertainty = shares};
      static const int64_t tiles[] = {1, 3 * 256 * 256, 256 * 700, 2 * 256 * 700 + 5, 0};
      double error = predict_whole(ctx, ensemble, both, &options, test_path(whole, "whole.tif"));
      for (int k = 0; k < (threads == 1 ? 5 : 2); k++) {
        sr_read_options read;
        sr_raster_summary said;
        sr_read_options_init(&read);
        read.schema = sr_ensemble_schema(ensemble);
        read.target = "cover";
        test_path(tiled, "tiled.tif");
        options.tile = tiles[k];
        assert_true(sr_reads_in_tiles(both, &read, tiled));
        assert_ok(ctx,
                  sr_ensemble_predict_raster(ctx, ensemble, both, &read, &options, tiled, &said));
        assert_int_equal(said.tiles, k == 0 ? 9 : k == 1 ? 3 : k == 2 ? 3 : k == 3 ? 2 : 1);
        assert_close((double)said.wrong / (double)said.judged, error, 1e-12);
        same_files(whole, tiled);
      }
    }
    sr_ensemble_free(&ensemble);
    sr_context_free(&ctx);
  }
  CPLFree(projection);
}

/* Every cell lies in one tile, blocks come row by row, none is larger than allowed but for one
 * block. */
static void tiles_cover_every_cell_once(void **state) {
  (void)state;
  static const int64_t sizes[][2] = {{1, 1}, {256, 256}, {257, 511}, {1000, 90}, {40, 1300}};
  static const int64_t limits[] = {1, 65536, 70000, 140000, 400000, 1000000000};
  for (int s = 0; s < 5; s++) {
    for (int l = 0; l < 6; l++) {
      sr__raster_shape shape = {.rows = sizes[s][0], .columns = sizes[s][1]};
      sr__tile tile = {0};
      int64_t covered = 0, last = -1, across = (shape.columns + 255) / 256;
      while (sr__next_tile(&shape, limits[l], &tile)) {
        assert_int_equal(tile.row % 256, 0);
        assert_int_equal(tile.column % 256, 0);
        assert_true(tile.rows * tile.columns <= limits[l] ||
                    (tile.rows <= 256 && tile.columns <= 256));
        int64_t first = tile.row / 256 * across + tile.column / 256;
        int64_t end =
            (tile.row + tile.rows - 1) / 256 * across + (tile.column + tile.columns - 1) / 256;
        assert_int_equal(first, last + 1);
        last = end;
        covered += tile.rows * tile.columns;
      }
      assert_int_equal(covered, shape.rows * shape.columns);
    }
  }
}

static void what_is_not_served(void **state) {
  (void)state;
  char bands[300], cover[300], both[700], out[300];
  sr_context *ctx = test_context(1);
  make_scene(bands, cover, NULL);
  snprintf(both, sizeof both, "%s,%s", bands, cover);
  sr_ensemble *ensemble = fit_scene(ctx, both);
  sr_read_options read;
  sr_raster_summary said;
  const sr_predict_options smallest = {.tile = 1}, along = {.along = 1}, wrong = {.proba = 2};
  sr_read_options_init(&read);
  assert_int_equal(sr_ensemble_predict_raster(ctx, ensemble, bands, NULL, &along, "map.tif", &said),
                   SR_ERROR_ARGUMENT);
  assert_int_equal(sr_ensemble_predict_raster(ctx, ensemble, bands, NULL, &wrong, "map.tif", &said),
                   SR_ERROR_ARGUMENT);
  assert_false(sr_reads_in_tiles(bands, NULL, "map.nc"));
  assert_false(sr_reads_in_tiles("rows.csv", NULL, "map.tif"));
  assert_int_equal(sr_ensemble_predict_raster(ctx, ensemble, bands, NULL, NULL, "map.csv", &said),
                   SR_ERROR_UNSUPPORTED);
  test_path(out, "none.tif");
  read.target = "absent";
  assert_int_equal(sr_ensemble_predict_raster(ctx, ensemble, bands, &read, NULL, out, &said),
                   SR_ERROR_NOT_FOUND);
  assert_null(test_read_file(out, NULL)); /* nothing is left behind */
  read.target = "cover > median";         /* no tile knows the median */
  assert_ok(ctx, sr_ensemble_predict_raster(ctx, ensemble, both, &read, &smallest, out, &said));
  assert_int_equal(said.judged, 0);
  read.target = NULL;
  assert_int_equal(sr_ensemble_predict_raster(ctx, ensemble, cover, &read, NULL, out, &said),
                   SR_ERROR_DATA); /* a band of the model is not there */
  sr_context_interrupt(ctx);
  assert_int_equal(sr_ensemble_predict_raster(ctx, ensemble, both, &read, NULL, out, &said),
                   SR_ERROR_INTERRUPTED);
  sr_ensemble_free(&ensemble);
  sr_context_free(&ctx);
}

typedef struct memory_case {
  char bands[300], out[300];
  void *model;
  int64_t bytes;
} memory_case;

static sr_status predict_once(sr_context *ctx, void *data) {
  const memory_case *c = data;
  const sr_predict_options options = {.proba = 1, .uncertainty = 1, .tile = 1};
  sr_ensemble *ensemble = NULL;
  sr_status status = sr_ensemble_from_bytes(ctx, c->model, c->bytes, &ensemble);
  if (status == SR_OK)
    status = sr_ensemble_predict_raster(ctx, ensemble, c->bands, NULL, &options, c->out, NULL);
  sr_ensemble_free(&ensemble);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  memory_case c;
  char cover[300], both[700];
  const double transform[] = {0, 1, 0, 0, 0, -1}, values[] = {1, 2, NAN, 4, 5, 6, 7, 8};
  sr_context *ctx = test_context(1);
  make_scene(c.bands, cover, NULL);
  snprintf(both, sizeof both, "%s,%s", c.bands, cover);
  sr_ensemble *ensemble = fit_scene(ctx, both);
  assert_ok(ctx, sr_ensemble_to_bytes(ctx, ensemble, &c.model, &c.bytes));
  test_raster(c.bands, 2, 2, 2, values, transform, NULL);
  test_path(c.out, "small.tif");
  test_every_allocation(predict_once, &c);
  sr_bytes_free(&c.model);
  sr_ensemble_free(&ensemble);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_cover_every_cell_once),
                                     cmocka_unit_test(tiles_give_the_same_bytes),
                                     cmocka_unit_test(what_is_not_served),
                                     cmocka_unit_test(every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void tiles_need_gdal(void **state) {
  (void)state;
  assert_false(sr_reads_in_tiles("a.tif", NULL, "b.tif"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_need_gdal)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
