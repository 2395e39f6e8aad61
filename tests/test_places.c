/* Places, units, regions and range against slow checkers, made-up maps and real ones. */
#include <math.h>

#include <specroute/specroute.h>

#include "core/random.h"
#include "map_kit.h"
#include "structure/places.h"

static const double RADIUS = 6371008.8;

typedef struct map_kit {
  int64_t n;
  double *xy; /* two columns */
  float *x;
  int32_t *label;
} map_kit;

static map_kit new_map(int64_t n) {
  map_kit m = {n, calloc((size_t)(2 * n), sizeof *m.xy), calloc((size_t)n, sizeof *m.x),
               calloc((size_t)n, sizeof *m.label)};
  return m;
}

static void free_map(map_kit *m) {
  free(m->xy);
  free(m->x);
  free(m->label);
}

static sr_table *map_table(sr_context *ctx, const map_kit *m, const char *projection) {
  return kit_map(ctx, (sr_table_view){.rows = m->n,
                                      .features = 1,
                                      .x = m->x,
                                      .label = m->label,
                                      .coordinates = m->xy,
                                      .projection = projection});
}

static void drop_places(sr_context *ctx, sr__places *p) {
  sr_allocator allocator = sr__allocator(ctx);
  sr__places_free(&allocator, p);
}

static void drop_ground(sr_context *ctx, sr__ground *g, sr__places *p) {
  sr_allocator allocator = sr__allocator(ctx);
  sr__ground_free(&allocator, g);
  sr__places_free(&allocator, p);
}

static sr__random stream(uint64_t seed) {
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 3, 0);
  return random;
}

static double between(const sr__places *p, int64_t a, int64_t b) {
  double sum = 0;
  for (int32_t j = 0; j < p->dimension; j++)
    sum += (p->at[j * p->count + a] - p->at[j * p->count + b]) *
           (p->at[j * p->count + a] - p->at[j * p->count + b]);
  return sqrt(sum);
}

/* ---- the tree ------------------------------------------------------------------------------- */

/* Even points, a lattice with ties, repeated places; one to 700 of them. */
static void searches_equal_slow_ones(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr__random random = stream(1);
  const int64_t sizes[] = {1, 2, 13, 100, 700};
  for (int variant = 0; variant < 15; variant++) {
    int64_t n = sizes[variant % 5];
    map_kit m = new_map(n);
    for (int64_t i = 0; i < 2 * n; i++)
      m.xy[i] = variant < 5 ? sr__random_uniform(&random) : (double)sr__random_below(&random, 12);
    sr_table *table = map_table(ctx, &m, NULL);
    sr__places p;
    assert_ok(ctx, sr__places_new(ctx, sr_table_get(table), &p));
    int32_t *fold = malloc(sizeof *fold * (size_t)p.count),
            *nearest = malloc(sizeof *nearest * (size_t)p.count);
    double *distance = malloc(sizeof *distance * (size_t)p.count),
           *training = malloc(sizeof *training * (size_t)p.count), reach = variant < 5 ? 0.1 : 2.0;
    uint64_t *near = malloc(sizeof *near * (size_t)p.count);
    for (int64_t i = 0; i < p.count; i++) fold[i] = (int32_t)sr__random_below(&random, 5);
    assert_ok(ctx, sr__nearest_other(ctx, &p.tree, fold, NULL, nearest, distance));
    assert_ok(ctx, sr__folds_within(ctx, &p.tree, fold, reach, near));
    assert_ok(ctx, sr__distance_to_training(ctx, &p.tree, fold, near, 1, training));
    for (int64_t i = 0; i < p.count; i++) {
      double best = INFINITY;
      uint64_t bits = 0;
      for (int64_t j = 0; j < p.count; j++) {
        double d = between(&p, i, j);
        if (fold[j] == fold[i]) continue;
        if (d < best) best = d;
        if (d <= reach) bits |= UINT64_C(1) << fold[j];
      }
      assert_true(distance[i] == best && near[i] == bits);
      if (isfinite(best)) assert_true(between(&p, i, nearest[i]) == best);
      best = INFINITY;
      for (int64_t j = 0; j < p.count; j++)
        if (fold[j] != fold[i] && !(near[j] >> fold[i] & 1)) best = fmin(best, between(&p, i, j));
      assert_true(training[i] == best);
    }
    free(fold);
    free(nearest);
    free(distance);
    free(training);
    free(near);
    drop_places(ctx, &p);
    sr_table_free(&table);
    free_map(&m);
  }
  sr_context_free(&ctx);
}

/* Degrees become meters on the sphere; 359 and -1 degrees are the same place, and places on both
 * sides of the date line are near. */
static void degrees_are_meters_on_the_sphere(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  map_kit m = new_map(5);
  const double longitude[] = {179.5, -179.5, 0, 360, 0}, latitude[] = {0, 0, 0, 0, 90};
  memcpy(m.xy, longitude, sizeof longitude);
  memcpy(m.xy + 5, latitude, sizeof latitude);
  sr_table *table = map_table(ctx, &m, "GEOGCS[\"WGS 84\"]");
  sr__places p;
  assert_ok(ctx, sr__places_new(ctx, sr_table_get(table), &p));
  assert_true(p.sphere);
  assert_int_equal(p.count, 4); /* 0 and 360 degrees are one */
  double degree = RADIUS * acos(-1.0) / 180;
  assert_close(sr__arc_of_chord(&p, between(&p, p.place[0], p.place[1])), degree, 1e-6);
  assert_close(sr__arc_of_chord(&p, between(&p, p.place[2], p.place[4])), 90 * degree, 1e-6);
  assert_close(sr__chord_of_arc(&p, sr__arc_of_chord(&p, 1e6)), 1e6, 1e-6);
  drop_places(ctx, &p);
  sr_table_free(&table);
  table = map_table(ctx, &m, "PROJCS[\"UTM\"]");
  assert_ok(ctx, sr__places_new(ctx, sr_table_get(table), &p));
  assert_true(!p.sphere);
  assert_int_equal(p.count, 5);
  drop_places(ctx, &p);
  sr_table_free(&table);
  free_map(&m);
  sr_context_free(&ctx);
}

/* ---- units and regions ------------------------------------------------------------------------
 */

/* The table is freed. */
static sr__ground ground_of(sr_context *ctx, sr_table *table, sr__places *p) {
  sr__ground g;
  assert_ok(ctx, sr__places_new(ctx, sr_table_get(table), p));
  assert_ok(ctx, sr__ground_find(ctx, p, &g));
  sr_table_free(&table);
  return g;
}

static void assert_no_ground(sr_context *ctx, const map_kit *m) {
  sr__places p;
  sr__ground g = ground_of(ctx, map_table(ctx, m, NULL), &p);
  assert_true(!g.unit && !g.region);
  drop_ground(ctx, &g, &p);
}

/* Rows of one `truth` have one label, rows of two have two. */
static void labels_agree(const sr__places *p, const int32_t *label, const int32_t *truth) {
  for (int64_t i = 0; i < p->rows; i++)
    for (int64_t j = 0; j < i; j++)
      assert_true((truth[i] == truth[j]) == (label[p->place[i]] == label[p->place[j]]));
}

/* Three regions of eight patches of twenty rows. */
static void patches_and_regions_are_found(void **state) {
  (void)state;
  enum { N = 3 * 8 * 20 };
  sr_context *ctx = test_context(1);
  sr__random random = stream(2);
  int32_t unit[N], region[N];
  map_kit m = new_map(N);
  for (int i = 0; i < N; i++) {
    unit[i] = i / 20;
    region[i] = i / 160;
    m.xy[i] = 1000.0 * region[i] + 30.0 * (unit[i] % 4) + sr__random_uniform(&random);
    m.xy[N + i] = 30.0 * (unit[i] % 8 / 4) + sr__random_uniform(&random);
  }
  sr__places p;
  sr__ground g = ground_of(ctx, map_table(ctx, &m, NULL), &p);
  assert_int_equal(g.units, 24);
  assert_int_equal(g.regions, 3);
  assert_true(!g.shared_places);
  labels_agree(&p, g.unit, unit);
  labels_agree(&p, g.region, region);
  drop_ground(ctx, &g, &p);
  /* The same patches as places that rows share. */
  for (int i = 0; i < N; i++) {
    m.xy[i] = floor(m.xy[i] / 30) * 30;
    m.xy[N + i] = floor(m.xy[N + i] / 30) * 30;
  }
  g = ground_of(ctx, map_table(ctx, &m, NULL), &p);
  assert_true(g.shared_places && g.units == 24 && g.regions == 3);
  labels_agree(&p, g.region, region);
  drop_ground(ctx, &g, &p);
  free_map(&m);
  sr_context_free(&ctx);
}

/* Even samples and lattices with holes have neither units nor regions. */
static void even_maps_have_none(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (uint64_t seed = 0; seed < 10; seed++) {
    sr__random random = stream(10 + seed);
    bool lattice = seed % 2;
    map_kit m = new_map(lattice ? 900 : 600);
    int64_t n = 0;
    for (int64_t i = 0; i < m.n; i++) {
      int64_t column = i % 30, row = i / 30;
      if (lattice && (sr__random_uniform(&random) < 0.1 ||
                      pow((double)column - 12, 2) + pow((double)row - 15, 2) < 36))
        continue;
      m.xy[n] = lattice ? (double)column : 100 * sr__random_uniform(&random);
      m.xy[m.n + n++] = lattice ? (double)row : 100 * sr__random_uniform(&random);
    }
    memmove(m.xy + n, m.xy + m.n, (size_t)n * sizeof *m.xy);
    m.n = n;
    assert_no_ground(ctx, &m);
    free_map(&m);
  }
  sr_context_free(&ctx);
}

/* Too few places for anything. */
static void few_places_have_none(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int64_t n = 1; n < 6; n++) {
    map_kit m = new_map(n);
    for (int64_t i = 0; i < n; i++) m.xy[i] = (double)(i / 2);
    assert_no_ground(ctx, &m);
    free_map(&m);
  }
  sr_context_free(&ctx);
}

static void compact_parts_are_balanced(void **state) {
  (void)state;
  enum { N = 1000 };
  sr_context *ctx = test_context(1);
  sr__random random = stream(4);
  double at[2 * N];
  int64_t weight[N], load[16] = {0};
  int32_t label[N], made;
  for (int i = 0; i < N; i++) {
    at[i] = 4 * sr__random_uniform(&random);
    at[N + i] = sr__random_uniform(&random);
    weight[i] = 1;
  }
  assert_ok(ctx, sr__compact_parts(ctx, &(sr__weighed_points){N, 2, at, weight}, 16, label, &made));
  assert_int_equal(made, 16);
  for (int i = 0; i < N; i++) load[label[i]]++;
  for (int k = 0; k < 16; k++) assert_in_range(load[k], 60, 65);
  /* Four wide and one high: eight parts of a half by a half each. */
  for (int k = 0; k < 16; k++)
    for (int j = 0; j < 2; j++) {
      double low = INFINITY, high = -INFINITY;
      for (int i = 0; i < N; i++)
        if (label[i] == k) low = fmin(low, at[j * N + i]), high = fmax(high, at[j * N + i]);
      assert_true(high - low < 1.0);
    }
  /* Places that are all the same cannot be halved. */
  memset(at, 0, sizeof at);
  assert_ok(ctx, sr__compact_parts(ctx, &(sr__weighed_points){N, 2, at, weight}, 16, label, &made));
  assert_int_equal(made, 1);
  sr_context_free(&ctx);
}

/* ---- range ------------------------------------------------------------------------------------
 */

/* A field with covariance near exp(-h / length): 400 waves whose numbers follow its spectrum,
 * (1 + k^2 length^2)^(-3/2) in two dimensions. */
static void draw_field(sr__random *random, double length, map_kit *m, double *field) {
  enum { WAVES = 400 };
  memset(field, 0, (size_t)m->n * sizeof *field);
  for (int w = 0; w < WAVES; w++) {
    double u = sr__random_uniform(random), k = sqrt(pow(1 - u, -2) - 1) / length;
    double angle = 2 * acos(-1.0) * sr__random_uniform(random),
           phase = 2 * acos(-1.0) * sr__random_uniform(random);
    for (int64_t i = 0; i < m->n; i++)
      field[i] += sqrt(2.0 / WAVES) *
                  cos(k * (cos(angle) * m->xy[i] + sin(angle) * m->xy[m->n + i]) + phase);
  }
}

/* Mean of 12 maps: the length of a number's residuals within a third, 0 without structure. */
static void range_of_known_fields(void **state) {
  (void)state;
  enum { N = 1200, MAPS = 12 };
  sr_context *ctx = test_context(1);
  sr__random random = stream(5);
  double field[N], sum = 0;
  int none = 0;
  map_kit m = new_map(N);
  for (int map = 0; map < 2 * MAPS; map++) {
    for (int64_t i = 0; i < 2 * N; i++) m.xy[i] = 200 * sr__random_uniform(&random);
    draw_field(&random, 8.0, &m, field);
    for (int64_t i = 0; i < N; i++) {
      m.x[i] = (float)sr__random_normal(&random);
      if (map >= MAPS) field[i] = sr__random_normal(&random);
    }
    sr_table *table = kit_map(
        ctx,
        (sr_table_view){.rows = N, .features = 1, .x = m.x, .value = field, .coordinates = m.xy});
    sr__places p;
    sr__range range;
    assert_ok(ctx, sr__places_new(ctx, sr_table_get(table), &p));
    assert_ok(ctx, sr__range_estimate(ctx, table, &p, NULL, 1, &range));
    if (map < MAPS) {
      sum += range.length / MAPS;
      assert_true(range.share > 0.6 && range.reach > 12 && range.patches < 400);
    } else {
      none += range.reach == 0.0;
      assert_true(range.patches > 100);
    }
    drop_places(ctx, &p);
    sr_table_free(&table);
  }
  assert_true(sum > 8.0 / 1.5 && sum < 8.0 * 1.5);
  assert_true(none >= MAPS / 2);
  free_map(&m);
  sr_context_free(&ctx);
}

/* Pairs of one unit say nothing of the range between units. */
static void pairs_of_one_unit_are_left_out(void **state) {
  (void)state;
  enum { N = 1000 };
  sr_context *ctx = test_context(1);
  sr__random random = stream(6);
  map_kit m = new_map(N);
  int32_t unit[N];
  for (int i = 0; i < N; i++) {
    unit[i] = i / 20;
    m.xy[i] = 10.0 * (unit[i] % 10) + 0.5 * sr__random_uniform(&random);
    m.xy[N + i] = 10.0 * (unit[i] / 10) + 0.5 * sr__random_uniform(&random);
    m.x[i] = (float)sr__random_normal(&random);
    m.label[i] = i % 20 == 0 ? (int32_t)sr__random_below(&random, 2) : m.label[i - 1];
  }
  sr_table *table = map_table(ctx, &m, NULL);
  sr__places p;
  sr__range with, without;
  assert_ok(ctx, sr__places_new(ctx, sr_table_get(table), &p));
  assert_ok(ctx, sr__range_estimate(ctx, table, &p, NULL, 1, &with));
  assert_ok(ctx, sr__range_estimate(ctx, table, &p, unit, 1, &without));
  assert_true(with.share > 0.9 && with.reach > 0);
  assert_true(without.share < 0.3);
  drop_places(ctx, &p);
  sr_table_free(&table);
  free_map(&m);
  sr_context_free(&ctx);
}

/* ---- memory, wrong input, real maps ------------------------------------------------------------
 */

static sr_status look_once(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  sr__places p = {0};
  sr__ground g = {0};
  sr__range range;
  SR_TRY(sr__places_new(ctx, sr_table_get(data), &p));
  SR_TRY(sr__ground_find(ctx, &p, &g));
  SR_TRY(sr__range_estimate(ctx, data, &p, NULL, 1, &range));
cleanup:
  drop_ground(ctx, &g, &p);
  return status;
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr__random random = stream(7);
  map_kit m = new_map(60);
  for (int64_t i = 0; i < 60; i++) {
    m.xy[i] = (double)(i / 10 * 50) + sr__random_uniform(&random);
    m.xy[60 + i] = sr__random_uniform(&random);
    m.label[i] = (int32_t)(i % 2);
  }
  sr_table *table = map_table(ctx, &m, NULL);
  test_every_allocation(look_once, table);
  sr_table_free(&table);
  m.xy[3] = NAN;
  table = map_table(ctx, &m, NULL);
  assert_int_equal(look_once(ctx, table), SR_ERROR_DATA);
  assert_non_null(strstr(sr_context_error(ctx).message, "row 3"));
  sr_table_free(&table);
  free_map(&m);
  sr_context_free(&ctx);
}

/* 183 polygons in four regions by their coordinates alone; nearly all of 400 fields. */
static void real_units_are_found(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = kit_real_map(ctx, "sentinel2_germany.csv.gz", "Label", "Lon", "Lat", NULL);
  if (!table) {
    sr_context_free(&ctx);
    skip();
  }
  sr__places p;
  sr__ground g = ground_of(ctx, table, &p);
  assert_true(p.sphere);
  assert_int_equal(g.units, 183);
  assert_int_equal(g.regions, 4);
  assert_true(g.region_gap > 50e3);
  drop_ground(ctx, &g, &p);
  table = kit_real_map(ctx, "maipo_crops.csv.gz", "croptype", "utmx", "utmy", NULL);
  g = ground_of(ctx, table, &p);
  assert_in_range(g.units, 370, 400);
  assert_true(!g.region && !p.sphere);
  drop_ground(ctx, &g, &p);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(searches_equal_slow_ones),
      cmocka_unit_test(degrees_are_meters_on_the_sphere),
      cmocka_unit_test(patches_and_regions_are_found),
      cmocka_unit_test(even_maps_have_none),
      cmocka_unit_test(few_places_have_none),
      cmocka_unit_test(compact_parts_are_balanced),
      cmocka_unit_test(range_of_known_fields),
      cmocka_unit_test(pairs_of_one_unit_are_left_out),
      cmocka_unit_test(memory_may_run_out_anywhere),
      cmocka_unit_test(real_units_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
