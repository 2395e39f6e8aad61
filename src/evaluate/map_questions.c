/* What can be told of a map: new pixels, fields, areas and regions, each by what was held out. */
#include <math.h>
#include <stdlib.h>

#include <specroute/stats.h>

#include "core/maths.h"
#include "core/sort.h"
#include "core/text.h"
#include "data/match_columns.h"
#include "ensemble/applicability.h"
#include "interval.h"
#include "map_answer.h"
#include "map_use.h"
#include "trial.h"

enum {
  SENTENCES = 600,
  LEAST_UNITS = 6,
  NAMED_CLASSES = 3,
  LEAST_PATCHES = 6,
  ASKED_OUTSIDE = 20000 /* rows of use that tell the share outside */
};
#define MOST_BEYOND 0.05  /* of the places of use, farther than anything held out */
#define MOST_OUTSIDE 0.5  /* of the rows of use, outside the area of applicability */
#define WORTH_SAYING 0.01 /* such a share is told */
#define LEAST_REGIONS 2.5
#define WIDEN_UNITS 2.1 /* on the variance: units that lie near to each other fail together */
#define WIDEN_REGIONS 1.5
#define LEAST_CLASS_UNITS 3.0
#define LEAST_CLASS_REGIONS 1.5

/* ---- answers -----------------------------------------------------------------------------------
 */

/* One more of many groups that could stand for each other, met by the rows that it has: it lies
 * between the mean losses up to which, from either end, half of what is to be missed of the rows
 * lies, one more group counted. Groups of one size: between the k-th least and the k-th largest
 * with probability 1 - 2 k / (groups + 1), whatever their law. Nothing changes where they are too
 * few for that. */
static void next_by_rank(sr__group_sum *group, int64_t groups, double spend, sr__map_answer *a) {
  double low = NAN, high = NAN, spent = 0.0;
  qsort(group, (size_t)groups, sizeof *group, sr__compare_doubles); /* by their first member */
  for (int64_t g = 0; g < groups && (spent += group[g].rows) <= spend; g++) low = group[g].loss;
  spent = 0.0;
  for (int64_t g = groups - 1; g >= 0 && (spent += group[g].rows) <= spend; g--)
    high = group[g].loss;
  if (isnan(low) || isnan(high)) return;
  a->next_low = fmin(fmax(low, 0.0), 1.0);
  a->next_high = fmin(fmax(high, 0.0), 1.0);
}

sr__map_answer sr__map_interval(sr__grouped_losses of, sr__group_sum *group, double widen,
                                double level) {
  sr__map_answer a = {.estimate = NAN, .low = NAN, .high = NAN, .next_low = NAN, .next_high = NAN};
  double n = 0.0, total = 0.0, squares = 0.0, spread = 0.0;
  for (int32_t g = 0; g < of.groups; g++) group[g] = (sr__group_sum){0};
  for (int64_t k = 0; k < of.count; k++) {
    if (isnan(of.loss[k])) continue;
    group[of.group[k]].loss += of.loss[k];
    group[of.group[k]].rows += 1.0;
    total += of.loss[k];
    n += 1.0;
  }
  if (n < 1.0) return a;
  double p = fmin(fmax(total / n, 0.5 / (n + 1.0)), 1.0 - 0.5 / (n + 1.0));
  int64_t count = 0;
  for (int32_t g = 0; g < of.groups; g++) {
    sr__group_sum own = group[g];
    squares += own.rows * own.rows;
    spread += (own.loss - p * own.rows) * (own.loss - p * own.rows);
    if (own.rows > 0.0) group[count++] = (sr__group_sum){own.loss / own.rows, own.rows};
  }
  a.groups = (double)count;
  a.worth = n * n / squares;
  a.estimate = p;
  double variance =
      fmax(a.groups / fmax(a.groups - 1.0, 1.0) * spread / (n * n), p * (1.0 - p) / n);
  double t = sr_student_quantile(0.5 + 0.5 * level, fmax(1.0, a.worth - 1.0));
  double scale = p * (1.0 - p), middle = sr__log_portable(p / (1.0 - p));
  double mean = t * sqrt(widen * variance) / scale;
  double next = t * sqrt(variance * (widen + a.worth)) / scale;
  a.low = 1.0 / (1.0 + sr__exp_portable(mean - middle));
  a.high = 1.0 / (1.0 + sr__exp_portable(-mean - middle));
  a.next_low = 1.0 / (1.0 + sr__exp_portable(next - middle));
  a.next_high = 1.0 / (1.0 + sr__exp_portable(-next - middle));
  next_by_rank(group, count, 0.5 * (1.0 - level) * (n + squares / n) * (1.0 + 1e-12), &a);
  return a;
}

/* ---- the job -----------------------------------------------------------------------------------
 */

typedef struct map_job {
  const sr__evaluate_input *in;
  const sr_evaluate_options *options;
  const sr__map *map;
  uint64_t seed;
  sr_evaluation *to;
  const int32_t *between; /* votes between the rows */
  sr__use_pool pool;      /* held-out rows, where the places of use are known */
  int32_t *part;          /* compact part of each row, for the pool; NULL: not asked for */
  char text[SENTENCES];
} map_job;

static void say(map_job *job, const char *format, ...) SR_PRINTF(2, 3);
static void say(map_job *job, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sr__add_sentence(job->text, sizeof job->text, format, arguments);
  va_end(arguments);
}

static sr_status add_question(sr_context *ctx, map_job *job, sr_question question) {
  sr_question *list = (sr_question *)job->to->questions;
  if (*job->text) {
    question.reason = sr__strdup(ctx, job->text);
    if (!question.reason) return sr_context_error(ctx).status;
  }
  job->text[0] = '\0';
  list[job->to->question_count++] = question;
  return SR_OK;
}

static const char *distance_text(const map_job *job, double distance, char text[40]) {
  sr_distance_text(distance, job->map->places.unit, text, 40);
  return text;
}

/* Rounded down, so that what is below a limit does not read like it. */
static double tenth_below(double worth) { return floor(10.0 * worth) / 10.0; }

/* ---- designs -----------------------------------------------------------------------------------
 */

/* Rows held out together: by row of the table. */
typedef struct design {
  sr_question_kind kind;
  int32_t *fold, folds;
  const int32_t *group; /* independent pieces that the interval counts */
  int32_t groups;
  double buffer;
  uint64_t *near;   /* by place */
  double *distance; /* by row */
} design;

static void design_free(sr_context *ctx, design *d) {
  sr__free(ctx, d->fold);
  sr__free(ctx, d->near);
  sr__free(ctx, d->distance);
}

static sr_status new_design(sr_context *ctx, const sr__map *map, design *d) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, d->fold, map->places.rows);
  SR_NEW_ZERO(ctx, d->near, map->places.count);
  SR_NEW_ZERO(ctx, d->distance, map->places.rows);
cleanup:
  return status;
}

/* Training and held-out rows of every fold of a design. */
static sr_status rows_of_design(sr_context *ctx, const sr__map *map, const design *d,
                                sr__fold_rows **rows) {
  sr_status status = SR_OK;
  int64_t n = map->places.rows;
  sr__fold_rows *made = NULL;
  SR_NEW_ZERO(ctx, made, d->folds);
  for (int32_t f = 0; f < d->folds; f++) {
    SR_NEW(ctx, made[f].train, n);
    SR_NEW(ctx, made[f].test, n);
    for (int64_t i = 0; i < n; i++) {
      if (d->fold[i] == f)
        made[f].test[made[f].test_count++] = (int32_t)i;
      else if (!(d->near[map->places.place[i]] >> f & 1))
        made[f].train[made[f].train_count++] = (int32_t)i;
    }
    if (made[f].train_count == 0)
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "no row is left to train on beside area %d", f + 1));
  }
  *rows = made;
  made = NULL;
cleanup:
  for (int32_t f = 0; made && f < d->folds; f++) sr__fold_rows_free(ctx, &made[f]);
  sr__free(ctx, made);
  return status;
}

/* Fits the mix on the folds of a design and judges what they held out. */
static sr_status judge_design(sr_context *ctx, map_job *job, const design *d, const char *stage,
                              sr__judged *judged) {
  sr_status status = SR_OK;
  sr__fold_rows *rows = NULL;
  sr__trial trial = {0};
  SR_TRY(rows_of_design(ctx, job->map, d, &rows));
  sr__trial_folds on = {.rows = rows,
                        .folds = d->folds,
                        .seed = job->seed,
                        .replicate = 16 + (uint64_t)d->kind,
                        .stage = stage};
  SR_TRY(sr__trial_of_mix(ctx, job->in, on, &trial));
  SR_TRY(sr__trial_losses(ctx, &trial, judged));
cleanup:
  sr__trial_free(ctx, &trial);
  return status;
}

/* ---- refusals ----------------------------------------------------------------------------------
 */

/* Groups of rows, of which a class must be worth `least`. */
typedef struct confinement {
  const int32_t *group;
  int32_t groups;
  double least;
  const char *what;
} confinement;

/* Classes whose rows are worth too few groups: nothing that was held out tells their error, and the
 * line is that of the others. */
static sr_status leave_confined(sr_context *ctx, map_job *job, const confinement *within,
                                const sr__judged *judged, double *loss) {
  sr_status status = SR_OK;
  int32_t groups = within->groups;
  const sr_table_view *view = job->in->prepared->view;
  double *size = NULL;
  int32_t named = 0;
  SR_NEW(ctx, size, groups);
  for (int32_t c = 0; c < view->classes.count; c++) {
    double n = 0.0, squares = 0.0;
    for (int32_t g = 0; g < groups; g++) size[g] = 0.0;
    for (int64_t i = 0; i < view->rows; i++)
      if (view->label[i] == c) size[within->group[i]] += 1.0;
    for (int32_t g = 0; g < groups; g++) {
      n += size[g];
      squares += size[g] * size[g];
    }
    if (n < 1.0 || n * n / squares >= within->least) continue;
    for (int64_t k = 0; k < judged->count; k++)
      if (view->label[judged->row[k]] == c) loss[k] = NAN;
    if (named++ < NAMED_CLASSES)
      say(job, "Class %s is worth %.1f %s: its error elsewhere is not known and not in this line.",
          view->classes.names[c], tenth_below(n * n / squares), within->what);
  }
cleanup:
  sr__free(ctx, size);
  return status;
}

static sr_status median_distance(sr_context *ctx, const design *d, const sr__judged *judged,
                                 double *median) {
  sr_status status = SR_OK;
  double *sorted = NULL;
  SR_NEW(ctx, sorted, judged->count);
  int64_t known = 0;
  for (int64_t k = 0; k < judged->count; k++)
    if (!isnan(d->distance[judged->row[k]])) sorted[known++] = d->distance[judged->row[k]];
  qsort(sorted, (size_t)known, sizeof *sorted, sr__compare_doubles);
  *median = known ? sorted[known / 2] : NAN;
cleanup:
  sr__free(ctx, sorted);
  return status;
}

static const char *plural_of(sr_question_kind kind) {
  return kind == SR_QUESTION_FIELDS ? "units" : kind == SR_QUESTION_AREAS ? "areas" : "regions";
}

/* An interval that is nearly as wide as all there is. */
static bool says_nothing(map_job *job, double low, double high) {
  if (!sr__interval_says_nothing(low, high)) return false;
  say(job, "It cannot be told: the %g %% interval would reach from %.2f to %.2f.",
      100.0 * job->options->level, low, high);
  return true;
}

/* Why no interval can be given; nothing where it can. */
static bool refuse(map_job *job, const design *d, double worth) {
  const sr__map *map = job->map;
  double least = d->kind == SR_QUESTION_REGIONS ? LEAST_REGIONS : LEAST_UNITS;
  char reach[40], extent[40];
  bool refused = worth < least;
  if (refused)
    say(job, "The rows are worth %.1f %s, fewer than %g: no interval can be given.",
        tenth_below(worth), plural_of(d->kind), least);
  if (d->kind != SR_QUESTION_AREAS) return refused;
  double patches = map->range.patches;
  if (map->range.reach > map->places.extent / 3.0) {
    say(job, "Residuals reach %s of a map of %s: there is no ground beyond their range.",
        distance_text(job, map->range.reach, reach),
        distance_text(job, map->places.extent, extent));
    refused = true;
  } else if (patches < LEAST_PATCHES) {
    say(job, "The map is worth %.1f independent areas, fewer than %d.", tenth_below(patches),
        LEAST_PATCHES);
    refused = true;
  }
  return refused;
}

/* A buffer that residuals reach across: cut to the map, or given so. */
static void say_buffer(map_job *job, const design *d) {
  double reach = job->map->range.reach;
  char kept[40], wanted[40];
  if (d->kind != SR_QUESTION_AREAS || !(d->buffer < reach)) return;
  distance_text(job, d->buffer, kept);
  distance_text(job, reach, wanted);
  if (job->options->folds.buffer < 0)
    say(job, "The buffer was cut to a sixth of the map, %s.", kept);
  else
    say(job,
        "The buffer of %s is less than the residuals reach, %s: they still tell of what was "
        "held out.",
        kept, wanted);
}

/* One line: error, interval, next unit, what was held out, how far away. */
static sr_status answer(sr_context *ctx, map_job *job, const design *d, const sr__judged *judged,
                        sr_question *given) {
  sr_status status = SR_OK;
  double *loss = NULL, median = NAN;
  sr__group_sum *sum = NULL;
  int32_t *group = NULL;
  SR_NEW(ctx, loss, judged->count);
  SR_NEW(ctx, group, judged->count);
  SR_NEW(ctx, sum, d->groups);
  for (int64_t k = 0; k < judged->count; k++) {
    loss[k] = judged->loss[k];
    group[k] = d->group[judged->row[k]];
  }
  SR_TRY(median_distance(ctx, d, judged, &median));
  bool regions = d->kind == SR_QUESTION_REGIONS;
  if (regions)
    SR_TRY(leave_confined(ctx, job,
                          &(confinement){d->group, d->groups, LEAST_CLASS_REGIONS, "regions"},
                          judged, loss));
  else if (job->map->unit)
    SR_TRY(
        leave_confined(ctx, job,
                       &(confinement){job->map->unit, job->map->units, LEAST_CLASS_UNITS, "units"},
                       judged, loss));
  double widen = d->kind == SR_QUESTION_AREAS ? 1.0 + d->folds / (d->folds - 1.0)
                 : regions                    ? WIDEN_REGIONS
                                              : WIDEN_UNITS;
  sr__map_answer a = sr__map_interval((sr__grouped_losses){judged->count, loss, group, d->groups},
                                      sum, widen, job->options->level);
  bool refused = refuse(job, d, a.worth) || says_nothing(job, a.low, a.high);
  say_buffer(job, d);
  *given = (sr_question){.kind = d->kind,
                         .estimate = a.estimate,
                         .low = refused ? NAN : a.low,
                         .high = refused ? NAN : a.high,
                         .next_low = refused ? NAN : a.next_low,
                         .next_high = refused ? NAN : a.next_high,
                         .units = (int32_t)a.groups,
                         .distance = median,
                         .buffer = d->buffer};
  SR_TRY(add_question(ctx, job, *given));
cleanup:
  sr__free(ctx, loss);
  sr__free(ctx, group);
  sr__free(ctx, sum);
  return status;
}

/* ---- where the model will be used --------------------------------------------------------------
 */

static sr_status pool_add(sr_context *ctx, map_job *job, int32_t row, double loss,
                          double distance) {
  sr_status status = SR_OK;
  sr__use_pool *p = &job->pool;
  if (isnan(loss) || !isfinite(distance)) return SR_OK;
  SR_GROW(ctx, p->loss, p->loss_capacity, p->count + 1);
  SR_GROW(ctx, p->distance, p->distance_capacity, p->count + 1);
  SR_GROW(ctx, p->group, p->group_capacity, p->count + 1);
  p->loss[p->count] = loss;
  p->distance[p->count] = distance;
  p->group[p->count++] = job->part[row];
cleanup:
  return status;
}

static sr_status pool_design(sr_context *ctx, map_job *job, const design *d,
                             const sr__judged *judged) {
  sr_status status = SR_OK;
  for (int64_t k = 0; job->part && k < judged->count; k++)
    SR_TRY(pool_add(ctx, job, judged->row[k], judged->loss[k], d->distance[judged->row[k]]));
cleanup:
  return status;
}

/* Rows between the others lie as far as the nearest other place, or share theirs. */
static sr_status pool_pixels(sr_context *ctx, map_job *job) {
  sr_status status = SR_OK;
  const sr__places *p = &job->map->places;
  int32_t *own = NULL, *nearest = NULL;
  double *distance = NULL;
  if (!job->part || !job->between) return SR_OK;
  SR_NEW(ctx, own, p->count);
  SR_NEW(ctx, nearest, p->count);
  SR_NEW(ctx, distance, p->count);
  for (int64_t k = 0; k < p->count; k++) own[k] = (int32_t)k;
  SR_TRY(sr__nearest_other(ctx, &p->tree, own, NULL, nearest, distance));
  for (int64_t i = 0; i < p->rows; i++) {
    int32_t place = p->place[i];
    double away = p->size[place] > 1 ? 0.0 : sr__arc_of_chord(p, distance[place]);
    SR_TRY(pool_add(ctx, job, (int32_t)i, sr__row_loss(job->in->prepared->view, job->between, i),
                    away));
  }
cleanup:
  sr__free(ctx, own);
  sr__free(ctx, nearest);
  sr__free(ctx, distance);
  return status;
}

/* The compact parts that the interval counts. */
static sr_status make_parts(sr_context *ctx, map_job *job) {
  sr_status status = SR_OK;
  int32_t folds = sr_folds_get(job->in->folds)->folds, made = 0;
  if (!job->options->predict_on || !job->in->members) return SR_OK;
  SR_NEW(ctx, job->part, job->map->places.rows);
  SR_TRY(sr__map_areas(ctx, job->map, folds < SR__MOST_MAP_FOLDS ? folds : SR__MOST_MAP_FOLDS,
                       job->part, &made));
  job->pool.groups = made;
cleanup:
  return status;
}

static bool same_projection(const char *a, const char *b) {
  return a && b ? strcmp(a, b) == 0 : !a == !b;
}

/* How far each row of use lies from the nearest training row. */
static sr_status distances_of_use(sr_context *ctx, const map_job *job, double **distance) {
  sr_status status = SR_OK;
  const sr__places *p = &job->map->places;
  const sr_table_view *use = sr_table_get(job->options->predict_on);
  const char *own = job->in->prepared->view->projection;
  double *at = NULL;
  *distance = NULL;
  if (!same_projection(own, use->projection) &&
      !(p->sphere && use->projection && strncmp(use->projection, "GEOG", 4) == 0))
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "the places of use are in another reference system than the training rows; "
                    "reproject them first"));
  SR_TRY(sr__places_project(ctx, p, use, &at));
  SR_NEW(ctx, *distance, use->rows);
  SR_TRY(sr__distance_to_places(ctx, &p->tree, at, use->rows, *distance));
  for (int64_t i = 0; i < use->rows; i++) (*distance)[i] = sr__arc_of_chord(p, (*distance)[i]);
cleanup:
  sr__free(ctx, at);
  return status;
}

/* Whether the rows of use have every feature of training, by name or as bands of another scene. */
static bool has_features(const sr_table_view *own, const sr_table_view *use, bool by_position) {
  if (by_position) return true;
  if (!own->feature_names || !use->feature_names) return own->features == use->features;
  for (int64_t j = 0; j < own->features; j++) {
    bool found = false;
    for (int64_t k = 0; k < use->features && !found; k++)
      found = strcmp(own->feature_names[j], use->feature_names[k]) == 0;
    if (!found) return false;
  }
  return true;
}

/* The share of the rows of use, evenly taken, that is outside the area of applicability. */
static sr_status share_outside(sr_context *ctx, map_job *job) {
  sr_status status = SR_OK;
  const sr_applicability *a = job->to->applicability;
  const sr_table *use = job->options->predict_on, *matched = NULL;
  sr_table *some = NULL, *owned = NULL;
  int64_t n = sr_table_get(use)->rows, count = n < ASKED_OUTSIDE ? n : ASKED_OUTSIDE, *row = NULL;
  float *outside = NULL;
  double sum = 0.0;
  const sr_table_view *own = job->in->prepared->view;
  bool by_position = false;
  if (!a) return SR_OK;
  SR_TRY(sr__match_by_position(ctx, own, sr_table_get(use), &by_position));
  if (!has_features(own, sr_table_get(use), by_position)) return SR_OK;
  SR_NEW(ctx, row, count);
  SR_NEW(ctx, outside, count);
  for (int64_t k = 0; k < count; k++) row[k] = n * k / count;
  SR_TRY(sr_table_select(ctx, use, row, count, &some));
  SR_TRY(sr__match_columns(ctx, job->in->prepared->view, some, &matched, &owned));
  SR_TRY(sr__applicability_ask(ctx, a, sr_table_get(matched), 0, count, outside));
  for (int64_t k = 0; k < count; k++) sum += (double)outside[k];
  job->to->outside = sum / (double)count;
cleanup:
  sr_table_free(&owned);
  sr_table_free(&some);
  sr__free(ctx, row);
  sr__free(ctx, outside);
  return status;
}

/* Whether no interval can be given; says why, and what else is to know. */
static bool refuse_use(map_job *job, const sr__use_answer *a) {
  bool refused = false;
  if (a->beyond > MOST_BEYOND) {
    say(job, "%.0f %% of the places lie farther than anything held out: no interval can be given.",
        100.0 * a->beyond);
    refused = true;
  }
  if (job->to->outside > MOST_OUTSIDE) {
    say(job,
        "%.0f %% of the rows are unlike the training rows (outside the area of applicability): no "
        "interval can be given.",
        100.0 * job->to->outside);
    refused = true;
  } else if (job->to->outside > WORTH_SAYING) {
    say(job, "%.0f %% of the rows are unlike the training rows: their error is not known.",
        100.0 * job->to->outside);
  }
  if (a->within > MOST_BEYOND)
    say(job,
        "%.0f %% of the places lie nearer than anything held out: there the line of new pixels "
        "answers.",
        100.0 * a->within);
  if (a->groups < LEAST_UNITS) {
    say(job, "%d areas are fewer than %d: no interval can be given.", a->groups, LEAST_UNITS);
    refused = true;
  }
  return refused;
}

static sr_status ask_use(sr_context *ctx, map_job *job) {
  sr_status status = SR_OK;
  double *distance = NULL;
  sr__use_answer a;
  if (!job->part) return SR_OK;
  SR_TRY(distances_of_use(ctx, job, &distance));
  SR_TRY(sr__match_distances(ctx, &job->pool, distance,
                             sr_table_get(job->options->predict_on)->rows, job->options->level,
                             &a));
  SR_TRY(share_outside(ctx, job));
  bool refused = refuse_use(job, &a) || says_nothing(job, a.low, a.high);
  SR_TRY(add_question(ctx, job,
                      (sr_question){.kind = SR_QUESTION_USE,
                                    .estimate = a.estimate,
                                    .low = refused ? NAN : a.low,
                                    .high = refused ? NAN : a.high,
                                    .next_low = NAN,
                                    .next_high = NAN,
                                    .units = a.groups,
                                    .distance = a.distance,
                                    .buffer = NAN}));
cleanup:
  sr__free(ctx, distance);
  return status;
}

/* ---- questions ---------------------------------------------------------------------------------
 */

/* New rows between those that are there: the members that did not draw a row judge it. */
static sr_status ask_pixels(sr_context *ctx, map_job *job) {
  sr_evaluation *e = job->to;
  double n = (double)e->naive_rows, p = e->naive;
  if (!job->in->members || !isfinite(p)) return SR_OK;
  double q = fmin(fmax(p, 0.5 / (n + 1.0)), 1.0 - 0.5 / (n + 1.0)),
         center = sr__log_portable(q / (1.0 - q));
  double step = sr_student_quantile(0.5 + 0.5 * e->level, fmax(1.0, n - 1.0)) *
                sqrt(SR__WIDEN_PIXELS / (n * q * (1.0 - q)));
  return add_question(ctx, job,
                      (sr_question){.kind = SR_QUESTION_PIXELS,
                                    .estimate = p,
                                    .low = 1.0 / (1.0 + sr__exp_portable(step - center)),
                                    .high = 1.0 / (1.0 + sr__exp_portable(-step - center)),
                                    .next_low = NAN,
                                    .next_high = NAN,
                                    .units = (int32_t)fmin(n, INT32_MAX),
                                    .distance = NAN,
                                    .buffer = NAN});
}

/* The folds that everything else was judged on: whole units, or areas where there are none. */
static sr_status ask_folds(sr_context *ctx, map_job *job, const sr__judged *judged) {
  sr_status status = SR_OK;
  const sr_folds_view *folds = sr_folds_get(job->in->folds);
  sr_question given;
  design d = {.kind = job->map->unit ? SR_QUESTION_FIELDS : SR_QUESTION_AREAS,
              .folds = folds->folds,
              .group = folds->unit_of_row,
              .groups = folds->units,
              .buffer = folds->buffer_distance};
  SR_TRY(new_design(ctx, job->map, &d));
  for (int64_t i = 0; i < folds->rows; i++) d.fold[i] = folds->fold_of_unit[folds->unit_of_row[i]];
  SR_TRY(sr__map_margin(ctx, job->map, d.fold, d.buffer, d.near, d.distance));
  SR_TRY(answer(ctx, job, &d, judged, &given));
  SR_TRY(pool_design(ctx, job, &d, judged));
  if (job->in->members) {
    sr_applicability *area = NULL;
    SR_TRY(sr__applicability_new(ctx, job->in->prepared->view, d.fold, job->seed, &area));
    job->to->applicability = area;
    if (area) job->to->applicability_limit = area->limit;
  }
  job->to->honest = given.estimate;
  job->to->honest_low = given.low;
  job->to->honest_high = given.high;
cleanup:
  design_free(ctx, &d);
  return status;
}

static sr_status ask_areas(sr_context *ctx, map_job *job) {
  sr_status status = SR_OK;
  int32_t folds = sr_folds_get(job->in->folds)->folds;
  sr__judged judged = {0};
  sr_question given;
  int64_t asked = job->options->folds.buffer;
  design d = {.kind = SR_QUESTION_AREAS, .buffer = asked >= 0 ? (double)asked : job->map->buffer};
  if (!job->map->unit) return SR_OK; /* the folds were areas */
  SR_TRY(new_design(ctx, job->map, &d));
  SR_TRY(sr__map_areas(ctx, job->map, folds < SR__MOST_MAP_FOLDS ? folds : SR__MOST_MAP_FOLDS,
                       d.fold, &d.folds));
  if (d.folds < 2) goto cleanup;
  d.group = d.fold;
  d.groups = d.folds;
  SR_TRY(sr__map_margin(ctx, job->map, d.fold, d.buffer, d.near, d.distance));
  SR_TRY(judge_design(ctx, job, &d, "new areas", &judged));
  SR_TRY(answer(ctx, job, &d, &judged, &given));
  SR_TRY(pool_design(ctx, job, &d, &judged));
cleanup:
  sr__judged_free(ctx, &judged);
  design_free(ctx, &d);
  return status;
}

/* One fold a region; of more regions than there can be folds some share one, so that the folds
 * hold about as many rows each. */
static sr_status deal_regions(sr_context *ctx, const sr__map *map, design *d) {
  sr_status status = SR_OK;
  int32_t *fold = NULL;
  int64_t *size = NULL, held[SR__MOST_MAP_FOLDS] = {0};
  d->group = map->region;
  d->groups = map->regions;
  d->folds = map->regions < SR__MOST_MAP_FOLDS ? map->regions : SR__MOST_MAP_FOLDS;
  SR_NEW(ctx, fold, map->regions);
  SR_NEW_ZERO(ctx, size, map->regions);
  for (int64_t i = 0; i < map->places.rows; i++) size[map->region[i]]++;
  for (int32_t r = 0; r < map->regions; r++) {
    fold[r] = r < d->folds ? r : 0;
    for (int32_t f = 1; f < d->folds && r >= d->folds; f++)
      if (held[f] < held[fold[r]]) fold[r] = f;
    held[fold[r]] += size[r];
  }
  for (int64_t i = 0; i < map->places.rows; i++) d->fold[i] = fold[map->region[i]];
cleanup:
  sr__free(ctx, fold);
  sr__free(ctx, size);
  return status;
}

static sr_status ask_regions(sr_context *ctx, map_job *job) {
  sr_status status = SR_OK;
  const sr__map *map = job->map;
  sr__judged judged = {0};
  sr_question given;
  design d = {.kind = SR_QUESTION_REGIONS};
  if (map->regions < 2) {
    say(job, "The sample is one region: what happens in another cannot be told.");
    return add_question(ctx, job,
                        (sr_question){.kind = SR_QUESTION_REGIONS,
                                      .estimate = NAN,
                                      .low = NAN,
                                      .high = NAN,
                                      .next_low = NAN,
                                      .next_high = NAN,
                                      .units = 1,
                                      .distance = NAN,
                                      .buffer = NAN});
  }
  SR_TRY(new_design(ctx, map, &d));
  SR_TRY(deal_regions(ctx, map, &d));
  SR_TRY(sr__map_margin(ctx, map, d.fold, 0.0, d.near, d.distance));
  SR_TRY(judge_design(ctx, job, &d, "new regions", &judged));
  SR_TRY(answer(ctx, job, &d, &judged, &given));
cleanup:
  sr__judged_free(ctx, &judged);
  design_free(ctx, &d);
  return status;
}

sr_status sr__answer_map(sr_context *ctx, const sr__evaluate_input *input,
                         const sr_evaluate_options *options, uint64_t seed,
                         const sr__judged *judged, const int32_t *between,
                         sr_evaluation *evaluation) {
  sr_status status = SR_OK;
  enum { MOST_QUESTIONS = 5 };
  map_job job = {.in = input,
                 .options = options,
                 .map = input->structure->map,
                 .seed = seed,
                 .between = between,
                 .to = evaluation};
  sr_question *list = NULL;
  SR_NEW_ZERO(ctx, list, MOST_QUESTIONS);
  evaluation->questions = list;
  evaluation->tmix_careful = input->structure->view.tmix_careful;
  evaluation->degrees = NAN;
  evaluation->distance_unit = job.map->places.unit;
  evaluation->reach = job.map->range.reach;
  evaluation->buffer_distance = sr_folds_get(input->folds)->buffer_distance;
  SR_TRY(make_parts(ctx, &job));
  SR_TRY(ask_pixels(ctx, &job));
  SR_TRY(pool_pixels(ctx, &job));
  SR_TRY(ask_folds(ctx, &job, judged));
  if (input->members) { /* a delivered ensemble, not one of many that are compared */
    SR_TRY(ask_areas(ctx, &job));
    SR_TRY(ask_regions(ctx, &job));
    SR_TRY(ask_use(ctx, &job));
  }
cleanup:
  sr__free(ctx, job.part);
  sr__free(ctx, job.pool.loss);
  sr__free(ctx, job.pool.distance);
  sr__free(ctx, job.pool.group);
  return status;
}
