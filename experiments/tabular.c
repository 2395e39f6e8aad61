/* Covertype and Higgs: forest and XGBoost, with and without routing on an RBF graph of features. */
#include <math.h>
#include <stdlib.h>

#include "routing_study.h"

static const struct {
  const char *label, *file, *target;
  double paper[4]; /* error: forest, routed forest, XGBoost, routed XGBoost */
} sets[] = {{"Covertype", "tabular/covertype_93k.csv.gz", "last", {.136, .119, .109, .096}},
            {"Higgs", "tabular/higgs_11k.csv.gz", "last", {.285, .267, .256, .243}}};
enum { SETS = 2 };

/* XGBoost alone is the paper's rival; ten of it are bagged beside the ten that are routed. */
static const study_arm forest_arms[] = {{"plain", "uniform", "none"},
                                        {"routed", "routed:part_share=0.5", NULL},
                                        {"size control", "uniform-nm:draw_share=0.5", "none"}};
static const struct {
  const char *label, *learner[2]; /* quick, full */
  int64_t members[2];
} learners[] = {{"forest", {"tree", "tree"}, {50, 100}},
                {"XGBoost", {"xgboost:rounds=40", "xgboost"}, {10, 10}}};
enum { LEARNERS = 2, ARMS = 3, QUICK_ROWS = 4000, COMPARISONS = 2 * SETS * LEARNERS };

static const char graph[] = "features:k=10,weights=rbf";

static int count_cases(experiment_scale scale) {
  (void)scale;
  return SETS * LEARNERS * ARMS;
}

static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  int set = index / (LEARNERS * ARMS), learner = index / ARMS % LEARNERS, arm = index % ARMS;
  snprintf(name, size, "set=%s learner=%s plan=%s m=%lld rows=%s", sets[set].label,
           learners[learner].learner[scale], forest_arms[arm].plan,
           (long long)learners[learner].members[scale], scale == SCALE_FULL ? "all" : "4000+4000");
}

/* Four fifths of the rows train, a fifth is asked; quick takes 4,000 of each. */
static sr_status split(uint64_t seed, int64_t n, experiment_scale scale, uint8_t *test) {
  int64_t *order = malloc(sizeof *order * (size_t)n), fifth = n / 5;
  double *draw = malloc(sizeof *draw * (size_t)n);
  for (int64_t i = 0; order && draw && i < n; i++) order[i] = i;
  if (order && draw) sr_random_uniform(seed, 7, 0, n, draw);
  for (int64_t i = n - 1; order && draw && i > 0; i--) {
    int64_t j = (int64_t)(draw[i] * (double)(i + 1)), swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  for (int64_t i = 0; order && draw && i < n; i++) {
    bool asked = i < fifth;
    int64_t rank = asked ? i : i - fifth;
    test[order[i]] = scale == SCALE_QUICK && rank >= QUICK_ROWS ? 2 : asked;
  }
  sr_status status = order && draw ? SR_OK : SR_ERROR_MEMORY;
  free(order);
  free(draw);
  return status;
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  int set = unit->index / (LEARNERS * ARMS), learner = unit->index / ARMS % LEARNERS;
  sr_read_options read;
  sr_table *table = NULL;
  char target[16] = "";
  double error = NAN;
  sr_read_options_init(&read);
  sr_status status = routing_read(ctx, sets[set].file, &read, out, &table);
  if (status == SR_OK) { /* the class is the last column */
    snprintf(target, sizeof target, "%lld", (long long)sr_table_get(table)->features);
    sr_table_free(&table);
    read.target = target;
    status = routing_read(ctx, sets[set].file, &read, out, &table);
  }
  if (status != SR_OK) return status;
  int64_t n = sr_table_get(table)->rows;
  uint8_t *test = calloc((size_t)n, 1);
  if (!test) status = SR_ERROR_MEMORY;
  if (test) status = split(unit->seed, n, unit->scale, test);
  study_fit fit = {.arm = &forest_arms[unit->index % ARMS],
                   .graph = graph,
                   .learner = learners[learner].learner[unit->scale],
                   .members = learners[learner].members[unit->scale]};
  if (status == SR_OK) status = routing_test_error(ctx, table, test, &fit, unit->seed, &error);
  if (status == SR_OK) experiment_measure(out, "error", error);
  free(test);
  sr_table_free(&table);
  return status;
}

static sr_status read_results(conclusion *c) {
  routing_tally tally = {0};
  conclusion_begin_table(c, "Error on random rows that were left out");
  for (int set = 0; set < SETS; set++)
    for (int learner = 0; learner < LEARNERS; learner++) {
      result_sample s[ARMS];
      char row[64], column[64];
      snprintf(row, sizeof row, "%s, %s", sets[set].label, learners[learner].label);
      for (int arm = 0; arm < ARMS; arm++) {
        double paper = arm == 2 ? NAN : sets[set].paper[2 * learner + arm];
        s[arm] = conclusion_sample(c, (set * LEARNERS + learner) * ARMS + arm, "error");
        snprintf(column, sizeof column, "%s", forest_arms[arm].label);
        conclusion_add_cell(c, row, column, paper, NAN, &s[arm]);
        conclusion_set_agreement(c, SR_AGREEMENT_NONE); /* other rows, other sizes */
      }
      sr_interval plain = routing_paired(&s[1], &s[0], COMPARISONS),
                  size = routing_paired(&s[1], &s[2], COMPARISONS);
      conclusion_add_estimate(c, row, "routed - plain", NAN, &plain);
      conclusion_add_estimate(c, row, "routed - size", NAN, &size);
      routing_count(&tally, row, &plain, &size);
    }
  conclusion_add_remark(c,
                        "The sets are samples of 92,962 and 10,984 rows of Covertype and Higgs; "
                        "levels are not those of the paper's unknown split, differences are.");
  routing_decide(c, &tally, "routing on a graph of features lowers the error of tables");
  return SR_OK;
}

extern const experiment experiment_tabular;
const experiment experiment_tabular = {
    .about = {"tabular", "Forest and XGBoost with routing on an RBF graph of features", NULL, 0,
              NULL},
    .place = "Table on tabular data, appendix",
    .needs =
        "SPECROUTE_DATA with tabular/covertype_93k.csv.gz and tabular/higgs_11k.csv.gz; XGBoost",
    .seeds = {5, 20},
    .core_seconds = {900, 2400},
    .case_count = count_cases,
    .case_name = name_case,
    .run = run_unit,
    .conclude = read_results};
