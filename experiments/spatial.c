/* Maps: routing on the graph of places beside plain bagging, bags of the same size, and resampling
 * along the rows, on ground that was left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "routing_study.h"

typedef enum hold_out {
  HOLD_GROUPS,
  HOLD_PLACES,
  HOLD_REGION,
  HOLD_TILE,
  HOLD_SECTOR,
  HOLD_YEAR,
  HOLD_MAP
} hold_out;

static const struct {
  const char *label, *file, *target, *group, *east, *north, *drop;
  hold_out rule;
  double paper[2]; /* uniform, spectral: "excess risk" of a table without a known Bayes risk */
} sets[] = {
    {"Germany, polygons",
     "satellite/sentinel2_germany.csv.gz",
     "Label",
     NULL,
     "Lon",
     "Lat",
     "ID,ClassID,Region",
     HOLD_PLACES,
     {.216, .087}},
    {"Germany, regions",
     "satellite/sentinel2_germany.csv.gz",
     "Label",
     "Region",
     "Lon",
     "Lat",
     "ID,ClassID",
     HOLD_REGION,
     {.216, .087}},
    {"Maipo, fields",
     "satellite/maipo_crops.csv.gz",
     "croptype",
     "field",
     "utmx",
     "utmy",
     NULL,
     HOLD_GROUPS,
     {NAN, NAN}},
    {"Zion, tiles",
     "satellite/zion_landsat_b2.tif,satellite/zion_landsat_b3.tif,satellite/zion_landsat_b4.tif,"
     "satellite/zion_landsat_b5.tif,satellite/zion_srtm.tif,satellite/zion_nlcd.tif",
     "zion_nlcd",
     NULL,
     NULL,
     NULL,
     NULL,
     HOLD_TILE,
     {NAN, NAN}},
    {"Sea surface, sector",
     "sst/ersst_v3b_1960-2016.nc",
     NULL,
     NULL,
     NULL,
     NULL,
     NULL,
     HOLD_SECTOR,
     {.320, .188}},
    {"Sea surface, years",
     "sst/ersst_v3b_1960-2016.nc",
     NULL,
     NULL,
     NULL,
     NULL,
     NULL,
     HOLD_YEAR,
     {.320, .188}},
    {"Simulated, new map", NULL, NULL, NULL, NULL, NULL, NULL, HOLD_MAP, {NAN, NAN}}};
enum { SETS = 7, NEW_MAP = SETS - 1, COMPARISONS = 2 * SETS };

/* Row-major resampling takes the rows as a series, as the paper's baselines do. */
static const study_arm arms[] = {{"uniform", "uniform", "none"},
                                 {"spectral", "spectral", NULL},
                                 {"size of spectral", "uniform-nm", "none"},
                                 {"routed", "routed:part_share=0.5", NULL},
                                 {"size of routed", "uniform-nm:draw_share=0.5", "none"},
                                 {"lag-thin, rows", "lag-thin", "time"},
                                 {"stationary, rows", "stationary", "time"},
                                 {"circular, rows", "circular", "time"},
                                 {"tmix-thin, rows", "tmix-thin", "time"},
                                 {"gated", "routed:part_share=0.5", NULL},
                                 {"auto", "auto", NULL}};
enum {
  UNIFORM = 0,
  SPECTRAL = 1,
  SPECTRAL_SIZE = 2,
  ROUTED = 3,
  ROUTED_SIZE = 4,
  GATED = 9,
  AUTO = 10,
  ARMS = 11
};

/* What is asked of a map. Each claim has its own plain rival and its own control: routing is set
 * beside bags of its size, gated votes beside the same members with equal votes, and the choice on
 * held-out ground beside small bags, which need no choice. The 14 intervals of a claim hold
 * together at 95 %. */
static const struct {
  int arm, control;
  const char *plain, *against, *words;
} claims[] = {{SPECTRAL, SPECTRAL_SIZE, "spectral - uniform", "spectral - size",
               "A part per member"},
              {ROUTED, ROUTED_SIZE, "routed - uniform", "routed - size",
               "Half of the parts per member"},
              {GATED, ROUTED, "gated - uniform", "gated - routed", "Votes weighted by near parts"},
              {AUTO, SPECTRAL_SIZE, "auto - uniform", "auto - n/m", "Honest selection"}};
enum { CLAIMS = 4 };

static int64_t most_rows(experiment_scale scale) { return scale == SCALE_FULL ? 20000 : 3000; }
static int64_t members_of(experiment_scale scale) { return scale == SCALE_FULL ? 100 : 30; }

static int count_cases(experiment_scale scale) {
  (void)scale;
  return SETS * ARMS;
}

/* Arm by arm, so that a run that is cut short has every set of the first arms. */
static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  char label[64];
  snprintf(label, sizeof label, "%s", sets[index % SETS].label);
  for (char *at = label; *at; at++)
    if (*at == ' ' || *at == ',') *at = '-';
  const study_arm *arm = &arms[index / SETS];
  snprintf(name, size, "set=%s plan=%s graph=%s%s m=%lld rows=%lld", label, arm->plan,
           arm->graph ? arm->graph : "space", index / SETS == GATED ? " vote=gated" : "",
           (long long)members_of(scale), (long long)most_rows(scale));
}

/* ---- which rows are asked
 * ------------------------------------------------------------------------ */

/* A fifth of the groups, or one of them. */
static sr_status hold_groups(const sr_table_view *view, uint64_t seed, bool one, uint8_t *test) {
  int32_t groups = view->groups.count;
  double *draw = malloc(sizeof *draw * (size_t)groups);
  if (!draw) return SR_ERROR_MEMORY;
  sr_random_uniform(one ? 1 : seed, 7, 1, groups, draw);
  for (int64_t i = 0; i < view->rows; i++) {
    int32_t g = view->group[i];
    int32_t rank = 0;
    for (int32_t k = 0; one && k < groups; k++) rank += draw[k] < draw[g];
    test[i] = one ? rank == (int32_t)((seed - 1) % (uint64_t)groups) : draw[g] < 0.2;
  }
  free(draw);
  return SR_OK;
}

/* A fifth of the places that rows share. */
static sr_status hold_places(const sr_table_view *view, uint64_t seed, uint8_t *test) {
  int64_t places = 0, *first = malloc(sizeof *first * (size_t)view->rows);
  double *draw = malloc(sizeof *draw * (size_t)view->rows);
  const double *east = view->coordinates, *north = view->coordinates + view->rows;
  sr_status status = first && draw ? SR_OK : SR_ERROR_MEMORY;
  if (status == SR_OK) sr_random_uniform(seed, 7, 1, view->rows, draw);
  for (int64_t i = 0; status == SR_OK && i < view->rows; i++) {
    int64_t p = 0;
    while (p < places && (east[first[p]] != east[i] || north[first[p]] != north[i])) p++;
    if (p == places) first[places++] = i;
    test[i] = draw[p] < 0.2;
  }
  free(first);
  free(draw);
  return status;
}

/* A tile of a fifth of the width and of the height, and ground around it that is left out. */
static void hold_tile(const sr_table_view *view, uint64_t seed, uint8_t *test) {
  double corner[2];
  sr_random_uniform(seed, 7, 2, 2, corner);
  for (int64_t i = 0; i < view->rows; i++) {
    double x = (double)(view->cell[i] % view->grid_columns) / (double)view->grid_columns;
    double y = (double)(view->cell[i] / view->grid_columns) / (double)view->grid_rows;
    double a = fabs(x - 0.1 - 0.8 * corner[0]), b = fabs(y - 0.1 - 0.8 * corner[1]);
    test[i] = a < 0.1 && b < 0.1 ? 1 : a < 0.13 && b < 0.13 ? 2 : 0;
  }
}

/* Keeps at most `most` training and `most` asked rows, drawn at random. */
static sr_status thin(int64_t n, uint64_t seed, int64_t most, uint8_t *test) {
  int64_t held[2] = {0, 0};
  double *draw = malloc(sizeof *draw * (size_t)n);
  if (!draw) return SR_ERROR_MEMORY;
  sr_random_uniform(seed, 7, 3, n, draw);
  for (int64_t i = 0; i < n; i++)
    if (test[i] < 2) held[test[i]]++;
  for (int64_t i = 0; i < n; i++)
    if (test[i] < 2 && draw[i] * (double)held[test[i]] >= (double)most) test[i] = 2;
  free(draw);
  return SR_OK;
}

/* ---- sea surface temperature
 * --------------------------------------------------------------------- */

enum { LAGS = 6, MONTHS = 8, YEAR = 12 };

/* Rows of cells x months: anomalies of six months, and whether the next one is above zero. */
static sr_status sea_rows(sr_context *ctx, const sr_table *grid, const experiment_unit *unit,
                          hold_out rule, sr_table **table, uint8_t **test) {
  uint64_t seed = unit->seed;
  const sr_table_view *v = sr_table_get(grid);
  int64_t cells = v->rows, steps = v->features, each = 2 * most_rows(unit->scale) / MONTHS, n = 0;
  static const char *const names[] = {"below", "above"};
  double month[MONTHS], sector, *draw = malloc(sizeof *draw * (size_t)cells);
  if (each > cells) each = cells;
  float *x = malloc(sizeof *x * (size_t)(each * MONTHS * LAGS));
  int32_t *label = malloc(sizeof *label * (size_t)(each * MONTHS));
  double *place = malloc(sizeof *place * (size_t)(2 * each * MONTHS));
  *test = calloc((size_t)(each * MONTHS), 1);
  sr_status status = draw && x && label && place && *test ? SR_OK : SR_ERROR_MEMORY;
  int64_t rows = each * MONTHS;
  sr_random_uniform(seed, 7, 4, MONTHS, month);
  sr_random_uniform(seed, 7, 5, 1, &sector);
  for (int m = 0; status == SR_OK && m < MONTHS; m++) {
    int64_t at = YEAR + LAGS + (int64_t)(month[m] * (double)(steps - YEAR - LAGS - 1));
    sr_random_uniform(seed, 7, 6 + (uint64_t)m, cells, draw);
    int64_t taken = 0;
    for (int64_t i = 0; i < cells && taken < each; i++) {
      if (draw[i] * (double)cells >= 1.5 * (double)each) continue;
      double normal[YEAR] = {0};
      int64_t count[YEAR] = {0};
      for (int64_t t = 0; t < steps; t++) {
        normal[t % YEAR] += (double)v->x[t * cells + i];
        count[t % YEAR]++;
      }
      for (int lag = 0; lag < LAGS; lag++) {
        int64_t t = at - 1 - lag;
        x[lag * rows + n] =
            v->x[t * cells + i] - (float)(normal[t % YEAR] / (double)count[t % YEAR]);
      }
      double next = (double)v->x[at * cells + i] - normal[at % YEAR] / (double)count[at % YEAR];
      double east = v->coordinates[i], away = fmod(fabs(east - 360 * sector), 360.0);
      if (away > 180) away = 360 - away;
      label[n] = isnan(next) ? -1 : next > 0;
      place[n] = east;
      place[rows + n] = v->coordinates[cells + i];
      (*test)[n] = rule == HOLD_SECTOR ? (away < 30 ? 1 : away < 40 ? 2 : 0) : m < 2;
      n++;
      taken++;
    }
    for (; status == SR_OK && taken < each; taken++, n++) { /* too few: left out */
      for (int lag = 0; lag < LAGS; lag++) x[lag * rows + n] = 0;
      label[n] = -1;
      place[n] = place[rows + n] = 0;
      (*test)[n] = 2;
    }
  }
  sr_table_view view = {.rows = rows,
                        .features = LAGS,
                        .x = x,
                        .label = label,
                        .classes = {2, names},
                        .coordinate_count = 2,
                        .coordinates = place,
                        .projection = v->projection};
  if (status == SR_OK) status = sr_table_new(ctx, &view, table);
  free(draw);
  free(x);
  free(label);
  free(place);
  return status;
}

/* ---- a unit
 * ---------------------------------------------------------------------------------------- */

/* Two maps of one law side by side: the first trains, the second is asked. */
static sr_status two_maps(sr_context *ctx, uint64_t seed, int64_t most, sr_table **table,
                          uint8_t **test, double *bayes) {
  sr_table *map[2] = {NULL, NULL};
  char text[64];
  sr_status status = SR_OK;
  int side = (int)sqrt((double)most);
  snprintf(text, sizeof text, "grid:n=%d", side * side);
  for (int k = 0; k < 2 && status == SR_OK; k++)
    status = sr_simulate(ctx, text, seed, (uint64_t)k, &map[k], bayes);
  if (status == SR_OK) {
    const sr_table_view *a = sr_table_get(map[0]), *b = sr_table_get(map[1]);
    int64_t n = a->rows + b->rows, d = a->features;
    float *x = malloc(sizeof *x * (size_t)(n * d));
    int32_t *label = malloc(sizeof *label * (size_t)n);
    double *place = malloc(sizeof *place * (size_t)(2 * n));
    *test = calloc((size_t)n, 1);
    if (!x || !label || !place || !*test) status = SR_ERROR_MEMORY;
    for (int64_t i = 0; status == SR_OK && i < n; i++) {
      bool second = i >= a->rows;
      const sr_table_view *from = second ? b : a;
      int64_t row = second ? i - a->rows : i;
      for (int64_t j = 0; j < d; j++) x[j * n + i] = from->x[j * from->rows + row];
      label[i] = from->label[row];
      place[i] = (double)(row % side) + (second ? 10.0 * side : 0.0);
      place[n + i] = (double)(row / side);
      (*test)[i] = second;
    }
    sr_table_view view = {.rows = n,
                          .features = d,
                          .x = x,
                          .label = label,
                          .classes = a->classes,
                          .coordinate_count = 2,
                          .coordinates = place};
    if (status == SR_OK) status = sr_table_new(ctx, &view, table);
    free(x);
    free(label);
    free(place);
  }
  sr_table_free(&map[0]);
  sr_table_free(&map[1]);
  return status;
}

static sr_status read_set(sr_context *ctx, const experiment_unit *unit, measurement *out,
                          sr_table **table, uint8_t **test, double *bayes) {
  int set = unit->index % SETS;
  int64_t most = most_rows(unit->scale);
  const char *coordinates[] = {sets[set].east, sets[set].north, NULL}, *drop[4] = {NULL};
  char dropped[64] = "";
  sr_read_options read;
  sr_table *raw = NULL;
  *bayes = NAN;
  if (sets[set].rule == HOLD_MAP) return two_maps(ctx, unit->seed, most, table, test, bayes);
  sr_read_options_init(&read);
  read.target = sets[set].target;
  read.group = sets[set].group;
  if (sets[set].east) read.coordinates = coordinates;
  if (sets[set].drop) {
    snprintf(dropped, sizeof dropped, "%s", sets[set].drop);
    int count = 0;
    for (char *word = strtok(dropped, ","); word && count < 3; word = strtok(NULL, ","))
      drop[count++] = word;
    read.drop = drop;
  }
  sr_status status = routing_read(ctx, sets[set].file, &read, out, &raw);
  if (status != SR_OK) return status;
  if (sets[set].rule == HOLD_SECTOR || sets[set].rule == HOLD_YEAR) {
    status = sea_rows(ctx, raw, unit, sets[set].rule, table, test);
    sr_table_free(&raw);
    return status;
  }
  *table = raw;
  const sr_table_view *view = sr_table_get(raw);
  *test = calloc((size_t)view->rows, 1);
  if (!*test) return SR_ERROR_MEMORY;
  if (sets[set].rule == HOLD_TILE)
    hold_tile(view, unit->seed, *test);
  else if (sets[set].rule == HOLD_PLACES)
    status = hold_places(view, unit->seed, *test);
  else
    status = hold_groups(view, unit->seed, sets[set].rule == HOLD_REGION, *test);
  return status == SR_OK ? thin(view->rows, unit->seed, most, *test) : status;
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  sr_table *table = NULL;
  uint8_t *test = NULL;
  double error = NAN, bayes = NAN;
  sr_status status = read_set(ctx, unit, out, &table, &test, &bayes);
  int arm = unit->index / SETS;
  study_fit fit = {.arm = &arms[arm],
                   .graph = "space",
                   .learner = "tree",
                   .members = members_of(unit->scale),
                   .gated = arm == GATED,
                   .chosen = arm == AUTO};
  if (status == SR_OK) status = routing_test_error(ctx, table, test, &fit, unit->seed, &error);
  if (status == SR_OK) {
    experiment_measure(out, "error", error);
    if (!isnan(bayes)) experiment_measure(out, "excess", error - bayes);
  }
  free(test);
  sr_table_free(&table);
  return status;
}

/* ---- what it shows
 * ----------------------------------------------------------------------------------- */

static sr_status read_results(conclusion *c) {
  routing_tally tally[CLAIMS] = {{0}};
  conclusion_begin_table(c, "Error on ground that was left out");
  for (int set = 0; set < SETS; set++)
    for (int arm = 0; arm < ARMS; arm++) {
      double paper = arm == UNIFORM    ? sets[set].paper[0]
                     : arm == SPECTRAL ? sets[set].paper[1]
                                       : NAN;
      result_sample s = conclusion_sample(c, arm * SETS + set, "error");
      conclusion_add_cell(c, sets[set].label, arms[arm].label, paper, NAN, &s);
      conclusion_set_agreement(c, SR_AGREEMENT_NONE); /* errors beside "excess risks" */
    }
  conclusion_begin_table(c,
                         "Differences of error, paired by seed; the 14 intervals of a claim "
                         "hold together at 95 %");
  for (int set = 0; set < SETS; set++)
    for (int k = 0; k < CLAIMS; k++) {
      result_sample arm = conclusion_sample(c, claims[k].arm * SETS + set, "error"),
                    uniform = conclusion_sample(c, UNIFORM * SETS + set, "error"),
                    control = conclusion_sample(c, claims[k].control * SETS + set, "error");
      sr_interval plain = routing_paired(&arm, &uniform, COMPARISONS),
                  size = routing_paired(&arm, &control, COMPARISONS);
      conclusion_add_estimate(c, sets[set].label, claims[k].plain, NAN, &plain);
      conclusion_add_estimate(c, sets[set].label, claims[k].against, NAN, &size);
      routing_count(&tally[k], sets[set].label, &plain, &size);
    }
  conclusion_begin_table(c, "Excess risk on the new map: error less the known Bayes risk");
  for (int arm = 0; arm < ARMS; arm++) {
    result_sample s = conclusion_sample(c, arm * SETS + NEW_MAP, "excess");
    conclusion_add_cell(c, sets[NEW_MAP].label, arms[arm].label, NAN, NAN, &s);
  }
  for (int k = 0; k < CLAIMS; k++)
    routing_say_where(c, &tally[k], claims[k].words, arms[claims[k].control].label);
  conclusion_add_remark(
      c,
      "The Bayes risk of a real map is not known, so the paper's excess risks can "
      "only be errors here; the simulated map has one. BigEarthNet: six genuine "
      "patches are no set to test on.");
  routing_decide(c, &tally[0], "spectral routing lowers the error on maps");
  return SR_OK;
}

extern const experiment experiment_spatial;
const experiment experiment_spatial = {
    .about = {"spatial",
              "Routing on maps: polygons, regions, fields, tiles, the sea, and a new map", NULL, 0,
              NULL},
    .place = "Table on spatial grids, Section 5.2",
    .needs = "SPECROUTE_DATA with the folders satellite and sst; GDAL and NetCDF",
    .seeds = {5, 20},
    .core_seconds = {1200, 40000},
    .case_count = count_cases,
    .case_name = name_case,
    .run = run_unit,
    .conclude = read_results};
