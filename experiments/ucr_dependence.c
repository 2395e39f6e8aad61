/* What routing does where the rows are series: windows of one long recording, whose dependence is
 * known; cases of an archive under a graph of their nearest ones; and the same cases in an order
 * that means nothing. */
#include <math.h>
#include <stdlib.h>

#include "routing_study.h"

/* `window` 0: a file of cases. */
static const struct {
  const char *label, *file;
  int64_t window, stride;
} sets[] = {{"EEG eye state", "streams/eeg_eye_state.csv.gz", 64, 16},
            {"Elec2", "streams/elec2.csv.gz", 64, 32},
            {"ECG5000", "ucr/ECG5000/ECG5000_TEST.tsv.gz", 0, 0},
            {"MedicalImages", "ucr/MedicalImages/MedicalImages_TEST.tsv.gz", 0, 0},
            {"SwedishLeaf", "ucr/SwedishLeaf/SwedishLeaf_TEST.tsv.gz", 0, 0}};
static const study_arm arms[] = {{"plain", "uniform", "none"},
                                 {"routed", "routed:part_share=0.5", "time"},
                                 {"routed", "routed:part_share=0.5", "features:k=10"},
                                 {"size control", "uniform-nm:draw_share=0.5", "none"}};
enum { SETS = 5, ARMS = 4, PLAIN = 0, ORDER = 1, FEATURES = 2, SIZE = 3 };
enum { QUICK_ROWS = 1500, COMPARISONS = 2 * 2 * SETS };

static int64_t members_of(experiment_scale scale) { return scale == SCALE_FULL ? 100 : 30; }

static int count_cases(experiment_scale scale) {
  (void)scale;
  return SETS * ARMS;
}

static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  char label[32];
  snprintf(label, sizeof label, "%s", sets[index / ARMS].label);
  for (char *at = label; *at; at++)
    if (*at == ' ') *at = '-';
  snprintf(name, size, "set=%s plan=%s graph=%s m=%lld", label, arms[index % ARMS].plan,
           arms[index % ARMS].graph, (long long)members_of(scale));
}

/* Cases in a random order, at most `most` of them. */
static sr_status shuffle(sr_context *ctx, uint64_t seed, int64_t most, sr_table **table) {
  int64_t n = sr_table_get(*table)->rows;
  int64_t *order = malloc(sizeof *order * (size_t)n);
  double *draw = malloc(sizeof *draw * (size_t)n);
  sr_table *selected = NULL;
  sr_status status = order && draw ? SR_OK : SR_ERROR_MEMORY;
  if (status == SR_OK) {
    sr_random_uniform(seed, 8, 0, n, draw);
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
      int64_t j = (int64_t)(draw[i] * (double)(i + 1)), swap = order[i];
      order[i] = order[j];
      order[j] = swap;
    }
    status = sr_table_select(ctx, *table, order, n < most ? n : most, &selected);
  }
  if (status == SR_OK) {
    sr_table_free(table);
    *table = selected;
  }
  free(order);
  free(draw);
  return status;
}

/* Three tenths of the rows are asked. Of cases any: they are in a random order already. Of windows
 * a stretch that begins where the seed says; those beside it that share values with it, and a
 * fiftieth of all more, are left out. */
static void hold_out(const sr_table_view *view, bool windows, uint64_t seed, uint8_t *test) {
  int64_t n = view->rows, asked = n * 3 / 10, gap = windows ? view->overlap + n / 50 : 0;
  double where = 0.0;
  if (windows) sr_random_uniform(seed, 9, 0, 1, &where);
  int64_t first = (int64_t)(where * (double)(n - asked));
  for (int64_t i = 0; i < n; i++) {
    bool inside = i >= first && i < first + asked;
    test[i] = inside ? 1 : i >= first - gap && i < first + asked + gap ? 2 : 0;
  }
}

static sr_status measure_scale(sr_context *ctx, const sr_table *table, const char *graph,
                               uint64_t seed, measurement *out) {
  sr_structure_options wanted;
  sr_structure *structure = NULL;
  sr_structure_options_init(&wanted);
  wanted.graph = graph;
  sr_status status = sr_structure_estimate(ctx, table, &wanted, seed, &structure);
  if (status == SR_OK && !isnan(sr_structure_get(structure)->tmix))
    experiment_measure(out, "T", sr_structure_get(structure)->tmix);
  sr_structure_free(&structure);
  return status;
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  int set = unit->index / ARMS, arm = unit->index % ARMS;
  bool windows = sets[set].window > 0;
  sr_read_options read;
  sr_table *table = NULL;
  uint8_t *test = NULL;
  double error = NAN;
  sr_read_options_init(&read);
  if (windows) {
    read.target = "class";
    read.window = sets[set].window;
    read.stride = sets[set].stride;
  }
  sr_status status = routing_read(ctx, sets[set].file, &read, out, &table);
  if (status == SR_OK && !windows)
    status = shuffle(ctx, unit->seed, unit->scale == SCALE_FULL ? INT64_MAX : QUICK_ROWS, &table);
  if (status == SR_OK) {
    test = calloc((size_t)sr_table_get(table)->rows, 1);
    status = test ? SR_OK : SR_ERROR_MEMORY;
  }
  if (status == SR_OK) {
    hold_out(sr_table_get(table), windows, unit->seed, test);
    study_fit fit = {.arm = &arms[arm], .learner = "tree", .members = members_of(unit->scale)};
    status = routing_test_error(ctx, table, test, &fit, unit->seed, &error);
  }
  if (status == SR_OK) experiment_measure(out, "error", error);
  if (status == SR_OK && (arm == ORDER || arm == FEATURES))
    status = measure_scale(ctx, table, arms[arm].graph, unit->seed, out);
  free(test);
  sr_table_free(&table);
  return status;
}

static sr_status read_results(conclusion *c) {
  routing_tally tally = {0};
  conclusion_begin_table(c, "Error of a forest on series that were left out, and T in rows");
  for (int set = 0; set < SETS; set++)
    for (int arm = ORDER; arm <= FEATURES; arm++) {
      result_sample plain = conclusion_sample(c, set * ARMS + PLAIN, "error"),
                    routed = conclusion_sample(c, set * ARMS + arm, "error"),
                    size = conclusion_sample(c, set * ARMS + SIZE, "error"),
                    scale = conclusion_sample(c, set * ARMS + arm, "T");
      char row[96];
      snprintf(row, sizeof row, "%s, %s", sets[set].label,
               arm == FEATURES    ? "nearest features"
               : sets[set].window ? "windows in order"
                                  : "no dependence known");
      conclusion_add_cell(c, row, "T", NAN, NAN, &scale);
      conclusion_add_cell(c, row, arms[PLAIN].label, NAN, NAN, &plain);
      conclusion_add_cell(c, row, arms[arm].label, NAN, NAN, &routed);
      conclusion_add_cell(c, row, arms[SIZE].label, NAN, NAN, &size);
      sr_interval over_plain = routing_paired(&routed, &plain, COMPARISONS),
                  over_size = routing_paired(&routed, &size, COMPARISONS);
      conclusion_add_estimate(c, row, "routed - plain", NAN, &over_plain);
      conclusion_add_estimate(c, row, "routed - size", NAN, &over_size);
      routing_count(&tally, row, &over_plain, &over_size);
    }
  conclusion_add_remark(c,
                        "Windows: a stretch of three tenths of the recording is asked, and "
                        "windows beside it are left out. Cases: three tenths of them, in a "
                        "random order, so that routing along it follows nothing.");
  routing_decide(c, &tally, "routing lowers the error of series");
  return SR_OK;
}

extern const experiment experiment_ucr_dependence;
const experiment experiment_ucr_dependence = {
    .about =
        {"ucr-dependence",
         "What routing does on windows of one series, on nearest cases, and without dependence",
         NULL, 0, NULL},
    .place = "Section 5.3: cases are taken as dependent",
    .needs = "SPECROUTE_DATA with the folders streams and ucr",
    .seeds = {20, 20},
    .core_seconds = {100, 2000},
    .case_count = count_cases,
    .case_name = name_case,
    .run = run_unit,
    .conclude = read_results};
