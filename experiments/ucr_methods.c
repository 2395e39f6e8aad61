#include "ucr_methods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the methods -------------------------------------------------------------------------- */

static const ucr_method methods[UCR_METHODS] = {
    [UCR_RF] = {"rf", "random forest", 78.4, 5.8},
    [UCR_LAG] = {"lag-thin", "lag thinning", 78.7, 5.3},
    [UCR_AUTO_BLOCK] = {"auto-block", "auto block bootstrap", 79.1, 4.8},
    [UCR_STATIONARY] = {"stationary", "stationary bootstrap", 79.4, 4.2},
    [UCR_TSF] = {"tsf", "time series forest", 80.5, 3.5},
    [UCR_RF_SPECTRAL] = {"rf-spectral", "forest, spectral routing", 81.7, 2.7},
    [UCR_ROCKET] = {"rocket", "ROCKET", 82.7, 1.8},
    [UCR_ROCKET_ROUTED] = {"rocket-routed", "ROCKET, routed", 83.6, 1.2},
    [UCR_RF_ROUTED] = {"rf-routed", "forest, routed", NAN, NAN},
    [UCR_RF_SPECTRAL_SIZE] = {"rf-spectral-size", "forest, bags as small as spectral", NAN, NAN},
    [UCR_RF_SIZE] = {"rf-routed-size", "forest, bags as small as routed", NAN, NAN},
    [UCR_ROCKET_SIZE] = {"rocket-routed-size", "ROCKET, bags as small as routed", NAN, NAN},
    [UCR_ROCKET_UNIFORM] = {"rocket-uniform", "ROCKET, bootstrap", NAN, NAN},
    [UCR_ARSENAL] = {"arsenal", "25 small ROCKETs", NAN, NAN},
    [UCR_MINIROCKET] = {"minirocket", "MiniRocket", NAN, NAN},
    [UCR_QUANT] = {"quant", "QUANT", NAN, NAN},
    [UCR_AUTO] = {"auto", "forest, auto", NAN, NAN},
};

const ucr_method *ucr_method_at(int method) { return &methods[method]; }

void ucr_case_name(int set, int method, char *name, size_t size) {
  snprintf(name, size, "set=%s method=%s", ucr_set_name(set), methods[method].name);
}

int ucr_case_of(const char *set, int method) {
  for (int s = 0; s < ucr_set_count(); s++)
    if (strcmp(ucr_set_name(s), set) == 0) return s * UCR_METHODS + method;
  return -1;
}

/* How a method trains. Routed members draw half of the parts of a graph that joins each case to its
 * ten nearest; controls have that graph too and draw as many rows anywhere. Those of the spectral
 * forest are found on the rows: spectral_share. */
static void set_options(experiment_scale scale, int method, sr_train_options *o) {
  bool quick = scale == SCALE_QUICK;
  const char *const graph = "features:k=10", *const small = "uniform-nm:draw_share=0.5";
  sr_train_options_init(o);
  o->evaluate.evaluate = 0;
  o->structure.graph = "none";
  o->learner = "tree";
  o->plan = "uniform";
  o->vote = SR_VOTE_HARD;
  o->members = quick ? 40 : 100;
  bool rocket = method == UCR_ROCKET || method == UCR_ROCKET_ROUTED ||
                method == UCR_ROCKET_UNIFORM || method == UCR_ROCKET_SIZE;
  if (rocket) {
    o->learner = quick ? "rocket:kernels=1000" : "rocket:kernels=10000";
    o->members = method == UCR_ROCKET ? 1 : quick ? 5 : 10;
  }
  switch (method) {
    case UCR_LAG:
      o->plan = "lag-thin";
      o->structure.graph = "time";
      break;
    case UCR_AUTO_BLOCK:
      o->plan = "auto-block";
      o->structure.graph = "time";
      break;
    case UCR_STATIONARY:
      o->plan = "stationary";
      o->structure.graph = "time";
      break;
    case UCR_TSF:
      o->learner = "tsf";
      o->plan = "whole";
      o->vote = SR_VOTE_SOFT;
      o->members = quick ? 40 : 200;
      break;
    case UCR_RF_SPECTRAL:
      o->plan = "spectral";
      o->structure.graph = graph;
      break;
    case UCR_ROCKET:
      o->plan = "whole";
      break;
    case UCR_ROCKET_ROUTED:
    case UCR_RF_ROUTED:
      o->plan = "routed:part_share=0.5";
      o->structure.graph = graph;
      break;
    case UCR_RF_SPECTRAL_SIZE:
    case UCR_RF_SIZE:
    case UCR_ROCKET_SIZE:
      o->plan = small;
      o->structure.graph = graph;
      break;
    case UCR_ARSENAL:
      o->learner = quick ? "rocket:kernels=200" : "rocket:kernels=2000";
      o->plan = "whole";
      o->members = quick ? 5 : 25;
      break;
    case UCR_MINIROCKET:
      o->learner = quick ? "minirocket:features=1000" : "minirocket";
      o->plan = "whole";
      o->members = 1;
      break;
    case UCR_QUANT:
      o->learner = quick ? "quant:trees=40" : "quant:trees=200";
      o->plan = "whole";
      o->vote = SR_VOTE_SOFT;
      o->members = 1;
      break;
    case UCR_AUTO:
      o->plan = "auto";
      break;
    default:
      break;
  }
}

/* ---- one set ------------------------------------------------------------------------------- */

/* The share of the rows that a spectral member draws from: one over the parts. */
static sr_status spectral_share(sr_context *ctx, const sr_table *train, const sr_train_options *o,
                                uint64_t seed, double *share) {
  sr_status status = SR_OK;
  sr_structure *structure = NULL;
  sr_plan *plan = NULL;
  SR_TRY(sr_structure_estimate(ctx, train, &o->structure, seed, &structure));
  SR_TRY(sr_plan_new(ctx, structure, "spectral", (int32_t)o->members, seed, &plan));
  sr_plan_view view = sr_plan_get(plan);
  for (int32_t k = 0; k < view.parameter_count; k++)
    if (strcmp(view.parameters[k].name, "parts") == 0) *share = 1.0 / view.parameters[k].value;
cleanup:
  sr_plan_free(&plan);
  sr_structure_free(&structure);
  return status;
}

/* A method under one seed. */
typedef struct method_run {
  int method;
  sr_train_options options;
  uint64_t seed;
} method_run;

static sr_status count_right(sr_context *ctx, const sr_table *train, const sr_table *test,
                             const method_run *run, int64_t *right) {
  sr_status status = SR_OK;
  const sr_table_view *v = sr_table_get(test);
  sr_train_options o = run->options;
  char plan[64];
  double share = 1.0;
  sr_ensemble *ensemble = NULL;
  int32_t *label = malloc((size_t)(v->rows ? v->rows : 1) * sizeof *label);
  if (!label) SR_TRY(SR_ERROR_MEMORY);
  if (run->method == UCR_RF_SPECTRAL_SIZE) {
    SR_TRY(spectral_share(ctx, train, &o, run->seed, &share));
    snprintf(plan, sizeof plan, "uniform-nm:draw_share=%.9g", share);
    o.plan = plan;
  }
  SR_TRY(sr_train(ctx, train, &o, run->seed, &ensemble));
  SR_TRY(sr_ensemble_predict(ctx, ensemble, test, label, NULL));
  for (int64_t i = 0; i < v->rows; i++) *right += label[i] == v->label[i];
cleanup:
  sr_ensemble_free(&ensemble);
  free(label);
  return status;
}

static sr_status select_fold(sr_context *ctx, const sr_table *table, const int32_t *fold, int out,
                             bool held_out, sr_table **part) {
  int64_t rows = sr_table_get(table)->rows, count = 0;
  int64_t *row = malloc((size_t)(rows ? rows : 1) * sizeof *row);
  if (!row) return SR_ERROR_MEMORY;
  for (int64_t i = 0; i < rows; i++)
    if ((fold[i] == out) == held_out) row[count++] = i;
  sr_status status = sr_table_select(ctx, table, row, count, part);
  free(row);
  return status;
}

static sr_status cross_validate(sr_context *ctx, const sr_table *table, const method_run *whole,
                                double *accuracy) {
  enum { FOLDS = 10 };
  sr_status status = SR_OK;
  int64_t rows = sr_table_get(table)->rows, right = 0;
  sr_table *train = NULL, *test = NULL;
  int32_t *fold = malloc((size_t)(rows ? rows : 1) * sizeof *fold);
  if (!fold) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(ucr_folds(table, FOLDS, whole->seed, fold));
  for (int k = 0; k < FOLDS; k++) {
    SR_TRY(select_fold(ctx, table, fold, k, false, &train));
    SR_TRY(select_fold(ctx, table, fold, k, true, &test));
    method_run run = *whole;
    run.seed = whole->seed * 1000 + (uint64_t)k;
    SR_TRY(count_right(ctx, train, test, &run, &right));
    sr_table_free(&train);
    sr_table_free(&test);
  }
  *accuracy = (double)right / (double)rows;
cleanup:
  free(fold);
  sr_table_free(&train);
  sr_table_free(&test);
  return status;
}

sr_status ucr_run(sr_context *ctx, const experiment_unit *unit, const char *name, int method,
                  measurement *out) {
  enum { QUICK_POOLED = 150, QUICK_HALF = 200 };
  sr_status status = SR_OK;
  bool quick = unit->scale == SCALE_QUICK;
  ucr_set set = {0};
  sr_table *pooled = NULL, *train = NULL, *test = NULL;
  method_run run = {.method = method, .seed = unit->seed};
  double accuracy = NAN;
  int64_t right = 0;
  set_options(unit->scale, method, &run.options);
  SR_TRY(ucr_set_read(ctx, unit->data, name, &set));
  SR_TRY(ucr_sample(ctx, set.pooled, quick ? QUICK_POOLED : INT64_MAX, unit->seed, &pooled));
  SR_TRY(ucr_sample(ctx, set.train, quick ? QUICK_HALF : INT64_MAX, unit->seed, &train));
  SR_TRY(ucr_sample(ctx, set.test, quick ? QUICK_HALF : INT64_MAX, unit->seed, &test));
  SR_TRY(cross_validate(ctx, pooled, &run, &accuracy));
  experiment_measure(out, "cv", accuracy);
  SR_TRY(count_right(ctx, train, test, &run, &right));
  experiment_measure(out, "default", (double)right / (double)sr_table_get(test)->rows);
  if (method == UCR_RF) {
    experiment_measure(out, "lag1", set.lag1);
    experiment_measure(out, "partial", set.partial);
  }
cleanup:
  sr_table_free(&pooled);
  sr_table_free(&train);
  sr_table_free(&test);
  ucr_set_free(&set);
  return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

double ucr_accuracy(conclusion *c, int set, int method, const char *value) {
  return conclusion_sample(c, set * UCR_METHODS + method, value).mean;
}

static bool is_partial(conclusion *c, int set) {
  return conclusion_sample(c, set * UCR_METHODS + UCR_RF, "partial").mean > 0.0;
}

void ucr_row_name(conclusion *c, int set, char *name, size_t size) {
  snprintf(name, size, "%s%s", ucr_set_name(set), is_partial(c, set) ? " *" : "");
}

void ucr_list_name(const char *name, char *list, size_t size) {
  size_t length = strlen(list);
  snprintf(list + length, size - length, "%s%s", length ? ", " : "", name);
}

void ucr_say_partial(conclusion *c, const char *names, const char *left_out_of) {
  if (*names)
    conclusion_add_remark(c, "* Not all cases of %s are in this folder%s%s.", names,
                          *left_out_of ? "; left out of " : "", left_out_of);
}

void ucr_add_partial_remark(conclusion *c, const char *left_out_of) {
  char names[400] = "";
  for (int s = 0; s < ucr_set_count(); s++)
    if (is_partial(c, s)) ucr_list_name(ucr_set_name(s), names, sizeof names);
  ucr_say_partial(c, names, left_out_of);
}

int64_t ucr_complete_sets(conclusion *c, const int *list, int count, int *set, double *accuracy) {
  int64_t found = 0;
  for (int s = 0; s < ucr_set_count(); s++) {
    bool whole = !is_partial(c, s);
    for (int k = 0; whole && k < count; k++) {
      double value = ucr_accuracy(c, s, list[k], "cv");
      accuracy[found * count + k] = value;
      whole = !isnan(value);
    }
    if (whole) set[found++] = s;
  }
  return found;
}

sr_interval ucr_mean(conclusion *c, int64_t count, const double *value) {
  const sr_interval none = {NAN, NAN, NAN};
  sr_interval mean = none;
  sr_bootstrap_options options;
  sr_bootstrap_options_init(&options);
  if (count < 3) return none;
  sr_status status =
      sr_bootstrap(conclusion_context(c), count, value, NULL, NULL, &options, 1, &mean);
  return status == SR_OK ? mean : none;
}

sr_interval ucr_gain(conclusion *c, int a, int b, int64_t *sets) {
  double accuracy[2 * (UCR_MOST_SETS + 1)], difference[UCR_MOST_SETS];
  int set[UCR_MOST_SETS];
  *sets = ucr_complete_sets(c, (const int[]){a, b}, 2, set, accuracy);
  for (int64_t i = 0; i < *sets; i++)
    difference[i] = 100.0 * (accuracy[2 * i] - accuracy[2 * i + 1]);
  return ucr_mean(c, *sets, difference);
}

verdict ucr_gain_verdict(const sr_interval *gain, double claim) {
  if (isnan(gain->low) || isnan(gain->high)) return VERDICT_CANNOT_BE_TESTED;
  if (gain->high < 0.75 * claim) return VERDICT_NOT_REPRODUCED;
  if (gain->low > 0.0 && gain->low <= 1.25 * claim) return VERDICT_REPRODUCED;
  return gain->low > 1.25 * claim ? VERDICT_PARTLY : VERDICT_CANNOT_BE_TESTED;
}
