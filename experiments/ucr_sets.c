#include "ucr_sets.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const archive[UCR_ARCHIVE_SETS] = {"ACSF1",
                                                      "Adiac",
                                                      "AllGestureWiimoteX",
                                                      "AllGestureWiimoteY",
                                                      "AllGestureWiimoteZ",
                                                      "ArrowHead",
                                                      "Beef",
                                                      "BeetleFly",
                                                      "BirdChicken",
                                                      "BME",
                                                      "Car",
                                                      "CBF",
                                                      "Chinatown",
                                                      "ChlorineConcentration",
                                                      "CinCECGTorso",
                                                      "Coffee",
                                                      "Computers",
                                                      "CricketX",
                                                      "CricketY",
                                                      "CricketZ",
                                                      "Crop",
                                                      "DiatomSizeReduction",
                                                      "DistalPhalanxOutlineAgeGroup",
                                                      "DistalPhalanxOutlineCorrect",
                                                      "DistalPhalanxTW",
                                                      "DodgerLoopDay",
                                                      "DodgerLoopGame",
                                                      "DodgerLoopWeekend",
                                                      "Earthquakes",
                                                      "ECG200",
                                                      "ECG5000",
                                                      "ECGFiveDays",
                                                      "ElectricDevices",
                                                      "EOGHorizontalSignal",
                                                      "EOGVerticalSignal",
                                                      "EthanolLevel",
                                                      "FaceAll",
                                                      "FaceFour",
                                                      "FacesUCR",
                                                      "FiftyWords",
                                                      "Fish",
                                                      "FordA",
                                                      "FordB",
                                                      "FreezerRegularTrain",
                                                      "FreezerSmallTrain",
                                                      "Fungi",
                                                      "GestureMidAirD1",
                                                      "GestureMidAirD2",
                                                      "GestureMidAirD3",
                                                      "GesturePebbleZ1",
                                                      "GesturePebbleZ2",
                                                      "GunPoint",
                                                      "GunPointAgeSpan",
                                                      "GunPointMaleVersusFemale",
                                                      "GunPointOldVersusYoung",
                                                      "Ham",
                                                      "HandOutlines",
                                                      "Haptics",
                                                      "Herring",
                                                      "HouseTwenty",
                                                      "InlineSkate",
                                                      "InsectEPGRegularTrain",
                                                      "InsectEPGSmallTrain",
                                                      "InsectWingbeatSound",
                                                      "ItalyPowerDemand",
                                                      "LargeKitchenAppliances",
                                                      "Lightning2",
                                                      "Lightning7",
                                                      "Mallat",
                                                      "Meat",
                                                      "MedicalImages",
                                                      "MelbournePedestrian",
                                                      "MiddlePhalanxOutlineAgeGroup",
                                                      "MiddlePhalanxOutlineCorrect",
                                                      "MiddlePhalanxTW",
                                                      "MixedShapesRegularTrain",
                                                      "MixedShapesSmallTrain",
                                                      "MoteStrain",
                                                      "NonInvasiveFetalECGThorax1",
                                                      "NonInvasiveFetalECGThorax2",
                                                      "OliveOil",
                                                      "OSULeaf",
                                                      "PhalangesOutlinesCorrect",
                                                      "Phoneme",
                                                      "PickupGestureWiimoteZ",
                                                      "PigAirwayPressure",
                                                      "PigArtPressure",
                                                      "PigCVP",
                                                      "PLAID",
                                                      "Plane",
                                                      "PowerCons",
                                                      "ProximalPhalanxOutlineAgeGroup",
                                                      "ProximalPhalanxOutlineCorrect",
                                                      "ProximalPhalanxTW",
                                                      "RefrigerationDevices",
                                                      "Rock",
                                                      "ScreenType",
                                                      "SemgHandGenderCh2",
                                                      "SemgHandMovementCh2",
                                                      "SemgHandSubjectCh2",
                                                      "ShakeGestureWiimoteZ",
                                                      "ShapeletSim",
                                                      "ShapesAll",
                                                      "SmallKitchenAppliances",
                                                      "SmoothSubspace",
                                                      "SonyAIBORobotSurface1",
                                                      "SonyAIBORobotSurface2",
                                                      "StarLightCurves",
                                                      "Strawberry",
                                                      "SwedishLeaf",
                                                      "Symbols",
                                                      "SyntheticControl",
                                                      "ToeSegmentation1",
                                                      "ToeSegmentation2",
                                                      "Trace",
                                                      "TwoLeadECG",
                                                      "TwoPatterns",
                                                      "UMD",
                                                      "UWaveGestureLibraryAll",
                                                      "UWaveGestureLibraryX",
                                                      "UWaveGestureLibraryY",
                                                      "UWaveGestureLibraryZ",
                                                      "Wafer",
                                                      "Wine",
                                                      "WordSynonyms",
                                                      "Worms",
                                                      "WormsTwoClass",
                                                      "Yoga"};

/* ---- names -------------------------------------------------------------------------------- */

enum { NAME_SIZE = 64 };
/* Grows before units are listed and results are read, never beside workers. */
static char more[UCR_MOST_SETS - UCR_ARCHIVE_SETS][NAME_SIZE];
static int more_count;

int ucr_set_count(void) { return UCR_ARCHIVE_SETS + more_count; }
const char *ucr_set_name(int set) {
  return set < UCR_ARCHIVE_SETS ? archive[set] : more[set - UCR_ARCHIVE_SETS];
}

/* Names become words of case names: no spaces, no signs of equality. */
static void add_name(const char *name, size_t length) {
  if (length == 0 || length >= NAME_SIZE || memchr(name, ' ', length) ||
      memchr(name, '=', length) || ucr_set_count() == UCR_MOST_SETS)
    return;
  for (int s = 0; s < ucr_set_count(); s++)
    if (strncmp(ucr_set_name(s), name, length) == 0 && ucr_set_name(s)[length] == '\0') return;
  memcpy(more[more_count], name, length);
  more[more_count++][length] = '\0';
}

static int by_name(const void *left, const void *right) {
  return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Each entry that is a set's folder or its training file, in the order of the names. */
static void find_names(const char *data) {
  enum { MOST_ENTRIES = 1 << 14 };
  DIR *folder = opendir(data);
  struct dirent *entry;
  char **list = folder ? calloc(MOST_ENTRIES, sizeof *list) : NULL;
  int count = 0;
  while (list && count < MOST_ENTRIES && (entry = readdir(folder)))
    if ((list[count] = strdup(entry->d_name))) count++;
  if (list) qsort(list, (size_t)count, sizeof *list, by_name);
  for (int i = 0; i < count; i++) {
    char *end = strstr(list[i], "_TRAIN.");
    if (end) *end = '\0';
    if (ucr_set_available(data, list[i])) add_name(list[i], strlen(list[i]));
    free(list[i]);
  }
  free(list);
  if (folder) closedir(folder);
}

void ucr_know_sets(const char *data, const char *case_name) {
  const char *name = case_name && strncmp(case_name, "set=", 4) == 0 ? case_name + 4 : NULL;
  if (data) find_names(data);
  if (name) add_name(name, strcspn(name, " "));
}

/* ---- files -------------------------------------------------------------------------------- */

enum { PATH_SIZE = 1200 };

static bool find_file(const char *data, const char *name, const char *part, char *path) {
  static const char *const endings[] = {".tsv.gz", ".tsv", ".ts.gz", ".ts", ".txt.gz", ".txt"};
  for (size_t k = 0; data && k < sizeof endings / sizeof *endings; k++) {
    snprintf(path, PATH_SIZE, "%s/%s/%s_%s%s", data, name, name, part, endings[k]);
    if (access(path, R_OK) == 0) return true;
    snprintf(path, PATH_SIZE, "%s/%s_%s%s", data, name, part, endings[k]);
    if (access(path, R_OK) == 0) return true;
  }
  return false;
}

bool ucr_set_available(const char *data, const char *name) {
  char path[PATH_SIZE];
  return find_file(data, name, "TRAIN", path) && find_file(data, name, "TEST", path);
}

/* INDEX.tsv, where there is one, ends each line with the state of the set. */
static bool is_partial(const char *data, const char *name) {
  char path[PATH_SIZE], line[1024];
  bool partial = false;
  size_t length = strlen(name);
  snprintf(path, sizeof path, "%s/INDEX.tsv", data);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, name, length) != 0 || line[length] != '\t') continue;
    line[strcspn(line, "\r\n")] = '\0';
    const char *last = strrchr(line, '\t');
    partial = last && strcmp(last + 1, "full") != 0;
  }
  if (file) fclose(file);
  return partial;
}

/* ---- tables ------------------------------------------------------------------------------- */

static sr_status pool(sr_context *ctx, const sr_table *first, const sr_table *second,
                      sr_table **pooled) {
  sr_status status = SR_OK;
  const sr_table_view *a = sr_table_get(first), *b = sr_table_get(second);
  int64_t rows = a->rows + b->rows, values = a->series_offset[a->rows];
  int64_t all = values + b->series_offset[b->rows];
  int64_t *offset = malloc((size_t)(rows + 1) * sizeof *offset);
  float *series = malloc((size_t)(all ? all : 1) * sizeof *series);
  int32_t *label = malloc((size_t)rows * sizeof *label);
  if (!offset || !series || !label) SR_TRY(SR_ERROR_MEMORY);
  memcpy(offset, a->series_offset, (size_t)(a->rows + 1) * sizeof *offset);
  for (int64_t i = 1; i <= b->rows; i++) offset[a->rows + i] = values + b->series_offset[i];
  if (values) memcpy(series, a->series, (size_t)values * sizeof *series);
  if (all > values) memcpy(series + values, b->series, (size_t)(all - values) * sizeof *series);
  memcpy(label, a->label, (size_t)a->rows * sizeof *label);
  memcpy(label + a->rows, b->label, (size_t)b->rows * sizeof *label);
  sr_table_view view = {.rows = rows,
                        .channels = 1,
                        .series_offset = offset,
                        .series = series,
                        .label = label,
                        .classes = b->classes};
  SR_TRY(sr_table_new(ctx, &view, pooled));
cleanup:
  free(offset);
  free(series);
  free(label);
  return status;
}

static double lag1_of(const sr_table_view *v) {
  double sum = 0.0;
  int64_t count = 0;
  for (int64_t i = 0; i < v->rows; i++) {
    const float *x = v->series + v->series_offset[i];
    int64_t length = v->series_offset[i + 1] - v->series_offset[i], present = 0;
    double mean = 0.0, square = 0.0, product = 0.0;
    for (int64_t t = 0; t < length; t++)
      if (!isnan(x[t])) mean += (double)x[t], present++;
    mean /= present ? (double)present : 1.0;
    for (int64_t t = 0; t < length; t++) {
      double here = isnan(x[t]) ? 0.0 : (double)x[t] - mean;
      double next = t + 1 == length || isnan(x[t + 1]) ? 0.0 : (double)x[t + 1] - mean;
      square += here * here;
      product += here * next;
    }
    if (square > 0.0) sum += product / square, count++;
  }
  return count ? sum / (double)count : NAN;
}

sr_status ucr_set_read(sr_context *ctx, const char *data, const char *name, ucr_set *set) {
  sr_status status = SR_OK;
  char path[PATH_SIZE];
  sr_read_options read;
  sr_read_options_init(&read);
  *set = (ucr_set){.partial = is_partial(data, name)};
  if (!find_file(data, name, "TRAIN", path)) SR_TRY(SR_ERROR_NOT_FOUND);
  SR_TRY(sr_table_read(ctx, path, &read, &set->train));
  if (!find_file(data, name, "TEST", path)) SR_TRY(SR_ERROR_NOT_FOUND);
  read.schema = sr_table_get(set->train);
  SR_TRY(sr_table_read(ctx, path, &read, &set->test));
  if (sr_table_get(set->train)->channels != 1 || sr_table_get(set->test)->channels != 1)
    SR_TRY(SR_ERROR_DATA);
  SR_TRY(pool(ctx, set->train, set->test, &set->pooled));
  set->lag1 = lag1_of(sr_table_get(set->pooled));
cleanup:
  return status;
}

void ucr_set_free(ucr_set *set) {
  sr_table_free(&set->train);
  sr_table_free(&set->test);
  sr_table_free(&set->pooled);
}

/* ---- samples and folds -------------------------------------------------------------------- */

typedef struct placed_row {
  double key;
  int64_t row;
} placed_row;

static int by_key(const void *left, const void *right) {
  const placed_row *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

static int by_row(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

/* Rows in a random order. */
static sr_status shuffle(int64_t rows, uint64_t seed, uint64_t purpose, placed_row **list) {
  double *key = malloc((size_t)(rows ? rows : 1) * sizeof *key);
  *list = malloc((size_t)(rows ? rows : 1) * sizeof **list);
  if (key && *list) {
    sr_random_uniform(seed, purpose, 0, rows, key);
    for (int64_t i = 0; i < rows; i++) (*list)[i] = (placed_row){key[i], i};
    qsort(*list, (size_t)rows, sizeof **list, by_key);
  }
  free(key);
  return key && *list ? SR_OK : SR_ERROR_MEMORY;
}

sr_status ucr_sample(sr_context *ctx, const sr_table *table, int64_t most, uint64_t seed,
                     sr_table **sample) {
  enum { SAMPLE = 1 };
  sr_status status = SR_OK;
  int64_t rows = sr_table_get(table)->rows, count = rows < most ? rows : most;
  placed_row *list = NULL;
  int64_t *chosen = malloc((size_t)(count ? count : 1) * sizeof *chosen);
  if (!chosen) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(shuffle(rows, seed, SAMPLE, &list));
  for (int64_t i = 0; i < count; i++) chosen[i] = list[i].row;
  qsort(chosen, (size_t)count, sizeof *chosen, by_row);
  SR_TRY(sr_table_select(ctx, table, chosen, count, sample));
cleanup:
  free(chosen);
  free(list);
  return status;
}

sr_status ucr_folds(const sr_table *table, int folds, uint64_t seed, int32_t *fold) {
  enum { DEAL = 2 };
  const sr_table_view *v = sr_table_get(table);
  placed_row *list = NULL;
  int32_t next = 0;
  sr_status status = shuffle(v->rows, seed, DEAL, &list);
  for (int32_t c = -1; status == SR_OK && c < v->classes.count; c++)
    for (int64_t i = 0; i < v->rows; i++)
      if (v->label[list[i].row] == c) fold[list[i].row] = next++ % folds;
  free(list);
  return status;
}
