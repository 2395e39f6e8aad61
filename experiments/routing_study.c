#include "routing_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

sr_status routing_read(sr_context *ctx, const char *file, const sr_read_options *options,
                       measurement *out, sr_table **table) {
  const char *folder = getenv("SPECROUTE_DATA");
  char path[1024] = "", *to = path;
  size_t room = sizeof path;
  *table = NULL;
  if (!folder)
    return experiment_refuse(out, SR_ERROR_IO, "set SPECROUTE_DATA to the folder that holds %s",
                             file);
  for (const char *at = file; *at && room > 1;) { /* a list of files is one path each */
    size_t length = strcspn(at, ",");
    int used = snprintf(to, room, "%s%s/%.*s", at == file ? "" : ",", folder, (int)length, at);
    if (used < 0 || (size_t)used >= room) break;
    const char *one = to + (at == file ? 0 : 1);
    if (access(one, R_OK) != 0)
      return experiment_refuse(out, SR_ERROR_IO, "%s is not there; see the page of the experiment",
                               one);
    to += used;
    room -= (size_t)used;
    at += length + (at[length] == ',');
  }
  return sr_table_read(ctx, path, options, table);
}

/* The rows whose `test` is `wanted`. */
static sr_status select_rows(sr_context *ctx, const sr_table *table, const uint8_t *test,
                             uint8_t wanted, sr_table **selected) {
  int64_t n = sr_table_get(table)->rows, count = 0;
  int64_t *row = malloc(sizeof *row * (size_t)(n > 0 ? n : 1));
  if (!row) return SR_ERROR_MEMORY;
  for (int64_t i = 0; i < n; i++)
    if (test[i] == wanted && sr_table_get(table)->label[i] >= 0) row[count++] = i;
  sr_status status = sr_table_select(ctx, table, row, count, selected);
  free(row);
  return status;
}

/* A named plan on the structure of the rows. */
static sr_status fit_plan(sr_context *ctx, const sr_table *train, const study_fit *fit,
                          const sr_structure_options *wanted, uint64_t seed,
                          sr_ensemble **ensemble) {
  sr_structure *structure = NULL;
  sr_plan *plan = NULL;
  sr_ensemble_options how;
  sr_ensemble_options_init(&how);
  how.learner = fit->learner;
  sr_status status = sr_structure_estimate(ctx, train, wanted, seed, &structure);
  if (status == SR_OK)
    status = sr_plan_new(ctx, structure, fit->arm->plan, (int32_t)fit->members, seed, &plan);
  if (status == SR_OK) status = sr_ensemble_fit(ctx, train, plan, &how, seed, ensemble);
  sr_plan_free(&plan);
  sr_structure_free(&structure);
  return status;
}

/* What only training as a whole can do: plans that choose, and gated votes. */
static sr_status fit_whole(sr_context *ctx, const sr_table *train, const study_fit *fit,
                           const sr_structure_options *wanted, uint64_t seed,
                           sr_ensemble **ensemble) {
  sr_train_options how;
  sr_train_options_init(&how);
  how.plan = fit->arm->plan;
  how.learner = fit->learner;
  how.members = fit->members;
  how.vote = fit->gated ? SR_VOTE_GATED : SR_VOTE_HARD;
  how.structure = *wanted;
  how.evaluate.evaluate = how.evaluate.importance = 0;
  return sr_train(ctx, train, &how, seed, ensemble);
}

sr_status routing_test_error(sr_context *ctx, const sr_table *table, const uint8_t *test,
                             const study_fit *fit, uint64_t seed, double *error) {
  sr_table *train = NULL, *held = NULL;
  sr_ensemble *ensemble = NULL;
  int32_t *vote = NULL;
  sr_structure_options wanted;
  sr_structure_options_init(&wanted);
  wanted.graph = fit->arm->graph ? fit->arm->graph : fit->graph;
  sr_status status = select_rows(ctx, table, test, 0, &train);
  if (status == SR_OK) status = select_rows(ctx, table, test, 1, &held);
  if (status == SR_OK)
    status = (fit->gated || fit->chosen ? fit_whole : fit_plan)(ctx, train, fit, &wanted, seed,
                                                                &ensemble);
  int64_t rows = status == SR_OK ? sr_table_get(held)->rows : 0, wrong = 0;
  if (status == SR_OK) {
    vote = malloc(sizeof *vote * (size_t)(rows > 0 ? rows : 1));
    status = vote ? sr_ensemble_predict(ctx, ensemble, held, vote, NULL) : SR_ERROR_MEMORY;
  }
  for (int64_t i = 0; status == SR_OK && i < rows; i++)
    wrong += vote[i] != sr_table_get(held)->label[i];
  *error = rows ? (double)wrong / (double)rows : NAN;
  free(vote);
  sr_ensemble_free(&ensemble);
  sr_table_free(&held);
  sr_table_free(&train);
  return status;
}

sr_interval routing_paired(const result_sample *a, const result_sample *b, int comparisons) {
  double sum = 0, square = 0;
  int count = 0;
  for (int64_t i = 0; i < a->count; i++)
    for (int64_t j = 0; j < b->count; j++) {
      if (a->seed[i] != b->seed[j]) continue;
      double d = a->value[i] - b->value[j];
      sum += d;
      square += d * d;
      count++;
    }
  sr_interval r = {.estimate = count ? sum / count : NAN, .low = NAN, .high = NAN};
  if (fabs(r.estimate) < 1e-9) r.estimate = 0; /* errors are written with nine digits */
  if (count < 2) return r;
  double variance = fmax(0, (square - sum * sum / count) / (count - 1.0));
  double half = sr_student_quantile(1 - .025 / comparisons, count - 1.0) * sqrt(variance / count);
  r.low = r.estimate - half;
  r.high = r.estimate + half;
  return r;
}

static void add_name(char *list, size_t size, const char *name) {
  size_t used = strlen(list);
  snprintf(list + used, size - used, "%s%s", used ? "; " : "", name);
}

void routing_count(routing_tally *t, const char *where, const sr_interval *plain,
                   const sr_interval *size) {
  t->sets++;
  if (isnan(plain->low) || isnan(size->low)) {
    t->missing++;
  } else if (plain->high < 0 && size->high < 0) {
    t->helps++;
    t->by_place++;
    add_name(t->names, sizeof t->names, where);
  } else if (plain->high < 0) {
    t->helps++;
    add_name(t->only, sizeof t->only, where);
  } else if (plain->low > 0) {
    t->harms++;
    add_name(t->worse, sizeof t->worse, where);
  } else {
    t->open++;
    add_name(t->unclear, sizeof t->unclear, where);
    if (-plain->low > t->most) t->most = -plain->low;
  }
}

void routing_say_where(conclusion *c, const routing_tally *t, const char *words,
                       const char *control) {
  char bound[64] = "", missing[64] = "";
  if (t->open > 0) snprintf(bound, sizeof bound, ", where no gain above %.3f is left", t->most);
  if (t->missing > 0)
    snprintf(missing, sizeof missing, " Too few seeds: %d of %d.", t->missing, t->sets);
  conclusion_add_remark(c,
                        "%s. Better than uniform and than the control (%s): %s. Better than "
                        "uniform alone: %s. Worse than uniform: "
                        "%s. Not told apart from uniform: %s%s.%s",
                        words, control, t->names[0] ? t->names : "nowhere",
                        t->only[0] ? t->only : "nowhere", t->worse[0] ? t->worse : "nowhere",
                        t->unclear[0] ? t->unclear : "nowhere", bound, missing);
}

void routing_decide(conclusion *c, const routing_tally *t, const char *claim) {
  verdict v = t->missing == t->sets             ? VERDICT_CANNOT_BE_TESTED
              : t->by_place == t->sets          ? VERDICT_REPRODUCED
              : t->by_place > 0                 ? VERDICT_PARTLY
              : t->open + t->missing == t->sets ? VERDICT_CANNOT_BE_TESTED
                                                : VERDICT_NOT_REPRODUCED;
  conclusion_decide(
      c, v,
      "%s: of %d comparisons routing is better than plain bagging in %d, and in %d of "
      "these also better than bags of the same size (%s); it is worse in %d, the sign "
      "is open in %d, and %d have too few seeds",
      claim, t->sets, t->helps, t->by_place, t->names[0] ? t->names : "none", t->harms, t->open,
      t->missing);
}
