/* The plan chosen on held-out blocks.
 *
 * Every candidate trains small ensembles on the same folds and streams. The votes of each small
 * ensemble and of its two halves give its error at full size through e(m) = e + c/m: plans whose
 * members differ more gain more from further members, and would else be judged too harshly. The
 * worse half of the candidates is given up; the others get twice the members, until the budget is
 * spent. The default is left only for a candidate whose paired gain is clear. */
#include <math.h>
#include <stdlib.h>

#include "ensemble.h"

enum {
  MOST_CANDIDATES = 16,
  FOLDS = 4,
  ROUNDS = 3,
  MOST_JUDGED = 40000,
  LEAST_UNITS = 10,
  LEAST_HALF = 5,
  MOST_HALF = 256,
  MOST_UNITS = 200,
  UNIT_SCALES = 2
};
/* Members spent on the choice, in full-bootstrap members of the ensemble; a round that would go
 * beyond is not begun. */
#define BUDGET 1.4
#define FIRST_ROUND 0.8 /* share of it that all candidates together may spend at first */
/* Standard errors by which a candidate must be better before the default is left. */
#define CLEAR 2.0

typedef struct auto_state {
  sr_candidate candidate;
  sr_plan_options plan;
  bool alive;
  int32_t half;       /* members of each half so far */
  float *tally[2];    /* judged rows x classes: votes of the two halves */
  double *unit_error; /* a unit: error at full size, summed over its rows */
  double error;
} auto_state;

typedef struct auto_job {
  const sr__engine *engine;
  const sr_structure *structure;
  const sr_train_options *options;
  int32_t count;
  auto_state state[MOST_CANDIDATES];
  sr__folds folds;
  int32_t *train[FOLDS], *test[FOLDS];
  int64_t train_count[FOLDS], test_count[FOLDS];
  int64_t first_judged[FOLDS + 1]; /* where a fold's rows stand in the tallies */
  int32_t units;
  int32_t *unit;     /* of each row */
  double *unit_rows; /* judged */
  double judged;
  double spent; /* in full-bootstrap members */
  /* the present round */
  int32_t add[MOST_CANDIDATES]; /* members to add to each half */
  int32_t item[MOST_CANDIDATES * FOLDS];
  double item_cost[MOST_CANDIDATES * FOLDS];
} auto_job;

/* ---- candidates --------------------------------------------------------------------------- */

static void add_candidate(auto_job *job, const char *name, double part_share, double row_share,
                          int32_t parts, double cost) {
  auto_state *s = &job->state[job->count++];
  s->plan = job->options->plan;
  s->plan.name = name;
  s->plan.seed = job->options->seed;
  s->plan.part_share = part_share;
  s->plan.row_share = row_share;
  s->alive = true;
  s->candidate = (sr_candidate){.name = name,
                                .part_share = part_share,
                                .row_share = row_share,
                                .parts = parts,
                                .error = NAN,
                                .difference = NAN,
                                .difference_se = NAN,
                                .cost = cost};
  if (strcmp(name, "routed") == 0)
    snprintf(s->candidate.label, sizeof s->candidate.label, "routed %g %g", part_share, row_share);
  else if (parts)
    snprintf(s->candidate.label, sizeof s->candidate.label, "%s %d", name, parts);
  else
    snprintf(s->candidate.label, sizeof s->candidate.label, "%s", name);
}

/* Costs are distinct rows of a bag over those of a full bootstrap, 1 - 1/e of the rows. */
static void list_candidates(auto_job *job) {
  static const double shares[][2] = {{1, .3}, {1, .1}, {1, .03}, {.5, 1},
                                     {.2, 1}, {.1, 1}, {.5, .2}};
  static const int32_t parts[] = {5, 20, 50};
  const double full = 1.0 - exp(-1.0);
  int32_t members = job->options->plan.members, own = sr_parts_get(job->structure->parts)->parts;
  add_candidate(job, "uniform", 1, 1, 0, 1.0);
  add_candidate(job, "uniform-nm", 1, 1, 0, 1.0 / members / full);
  for (size_t k = 0; k < sizeof shares / sizeof *shares && own > 1; k++)
    add_candidate(job, "routed", shares[k][0], shares[k][1], 0, shares[k][0] * shares[k][1] / full);
  bool cuts = sr__is_plain_series(job->structure) || job->structure->hierarchy;
  for (size_t k = 0; k < sizeof parts / sizeof *parts && cuts; k++) {
    if (parts[k] <= members && parts[k] <= own)
      add_candidate(job, "spectral", 1, 1, parts[k], 1.0 / parts[k]);
  }
}

/* Cheap candidates get more members: they also need more. Odd, so that halves have no ties between
 * two classes. */
static int32_t first_half(double cost, int32_t members) {
  int32_t half = (int32_t)floor(3.0 / sqrt(cost)) | 1;
  if (half < LEAST_HALF) half = LEAST_HALF;
  return half < members / 2 ? half : members / 2 > 0 ? members / 2 : 1;
}

/* How much of the step from halves to whole is still to come at full size. A hard vote of 2h
 * members with split ties is right as often as one of 2h - 1. */
static double remaining_share(const sr_train_options *options, int32_t half) {
  double odd = options->vote == SR_VOTE_SOFT ? 0.0 : 1.0;
  double whole = 2.0 * half - odd, full = options->plan.members - odd;
  if (full <= whole || whole <= half) return 0.0;
  return (1.0 / whole - 1.0 / full) / (1.0 / half - 1.0 / whole);
}

/* ---- folds and units ------------------------------------------------------------------------ */

/* Keeps at most `most` of the rows, evenly. */
static void thin_rows(int32_t *rows, int64_t *count, int64_t most) {
  if (*count <= most) return;
  for (int64_t k = 0; k < most; k++) rows[k] = rows[k * *count / most];
  *count = most;
}

/* Units of the paired differences: long enough to be nearly independent. */
static sr_status make_units(sr_context *ctx, auto_job *job) {
  sr_status status = SR_OK;
  int64_t rows = job->engine->view->rows;
  const sr_parts_view *parts = sr_parts_get(job->structure->parts);
  SR_NEW(ctx, job->unit, rows);
  if (sr__is_plain_series(job->structure)) {
    double wanted = (double)rows / (UNIT_SCALES * job->structure->view.tmix);
    wanted = wanted > MOST_UNITS ? MOST_UNITS : wanted < LEAST_UNITS ? LEAST_UNITS : wanted;
    job->units = (int32_t)(wanted < (double)rows ? wanted : (double)rows);
    SR_TRY(sr__structure_labels(ctx, job->structure, job->units, job->unit));
  } else {
    job->units = parts->parts;
    memcpy(job->unit, parts->part, (size_t)rows * sizeof *job->unit);
  }
  SR_NEW_ZERO(ctx, job->unit_rows, job->units);
  for (int32_t f = 0; f < job->folds.folds; f++) {
    for (int64_t k = 0; k < job->test_count[f]; k++) {
      if (job->engine->view->label[job->test[f][k]] < 0) continue;
      job->unit_rows[job->unit[job->test[f][k]]] += 1.0;
      job->judged += 1.0;
    }
  }
cleanup:
  return status;
}

static sr_status make_folds(sr_context *ctx, auto_job *job) {
  sr_status status = SR_OK;
  int64_t rows = job->engine->view->rows;
  SR_TRY(sr__folds_make(ctx, job->structure, FOLDS, false, job->options->buffer, job->options->seed,
                        &job->folds));
  for (int32_t f = 0; f < job->folds.folds; f++) {
    SR_NEW(ctx, job->train[f], rows);
    SR_NEW(ctx, job->test[f], rows);
    SR_TRY(sr__folds_rows(ctx, job->structure, &job->folds, f, job->train[f], &job->train_count[f],
                          job->test[f], &job->test_count[f]));
    thin_rows(job->test[f], &job->test_count[f], MOST_JUDGED / job->folds.folds);
    job->first_judged[f + 1] = job->first_judged[f] + job->test_count[f];
  }
  int64_t judged = job->first_judged[job->folds.folds];
  SR_TRY(make_units(ctx, job));
  for (int32_t c = 0; c < job->count; c++) {
    auto_state *s = &job->state[c];
    SR_NEW_ZERO(ctx, s->unit_error, job->units);
    for (int h = 0; h < 2; h++) SR_NEW_ZERO(ctx, s->tally[h], judged * job->engine->classes);
  }
cleanup:
  return status;
}

/* ---- one round ---------------------------------------------------------------------------- */

static sr_status cast_votes(sr_context *ctx, const auto_job *job, int32_t fold,
                            const sr__crew *crew, int32_t half, auto_state *state) {
  sr_status status = SR_OK;
  const sr__engine *engine = job->engine;
  int64_t count = job->test_count[fold];
  sr__ballot ballot = {.learner = engine->learner,
                       .shared = engine->shared,
                       .rule = job->options->vote == SR_VOTE_SOFT ? SR_VOTE_SOFT : SR_VOTE_HARD,
                       .classes = engine->classes};
  SR_NEW(ctx, ballot.vote, count);
  if (ballot.rule == SR_VOTE_SOFT) SR_NEW(ctx, ballot.proba, count * engine->classes);
  const sr__rows *rows = engine->learner->training_rows(engine->training);
  for (int32_t j = 0; j < crew->members; j++) {
    float *tally = state->tally[j < half ? 0 : 1] + job->first_judged[fold] * engine->classes;
    SR_TRY(sr__ballot_cast(ctx, &ballot, crew->member[j], rows, job->test[fold], count));
    for (int64_t k = 0; k < count; k++)
      sr__ballot_add(&ballot, k, 1.0f, tally + k * engine->classes);
  }
cleanup:
  sr__free(ctx, ballot.vote);
  sr__free(ctx, ballot.proba);
  return status;
}

static sr_status score_item(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  auto_job *job = data;
  sr_status status = SR_OK;
  int32_t c = job->item[item] / FOLDS, fold = job->item[item] % FOLDS, add = job->add[c];
  auto_state *s = &job->state[c];
  sr_plan *plan = NULL;
  sr__crew crew = {0};
  SR_TRY(sr__subset_plan(ctx, job->structure, &s->plan, s->candidate.parts, job->train[fold],
                         job->train_count[fold], &plan));
  int32_t members = sr_plan_get(plan).members;
  sr__fit fit = {.plan = plan,
                 .subset = job->train[fold],
                 .first = 2 * s->half,
                 .count = 2 * add,
                 .stride = sr__fair_stride(members),
                 .seed = job->options->seed,
                 .replicate = (uint64_t)fold + 1};
  SR_TRY(sr__crew_fit(ctx, job->engine, &fit, &crew));
  SR_TRY(cast_votes(ctx, job, fold, &crew, add, s));
  job->item_cost[item] = crew.cost;
cleanup:
  sr__crew_free(ctx, &crew);
  sr_plan_free(&plan);
  return status;
}

/* Ties count as the share of wrong answers among those at the top. */
static double tally_error(const float *a, const float *b, int32_t classes, int32_t label) {
  float most = 0.0f;
  int32_t top = 0;
  for (int32_t c = 0; c < classes; c++) {
    float votes = a[c] + (b ? b[c] : 0.0f);
    if (votes > most) {
      most = votes;
      top = 0;
    }
    top += votes == most && votes > 0.0f;
  }
  float own = a[label] + (b ? b[label] : 0.0f);
  return own == most && top > 0 ? 1.0 - 1.0 / top : 1.0;
}

static double binomial(int32_t n, int32_t k) {
  double value = 1.0;
  for (int32_t i = 1; i <= k; i++) value *= (double)(n - k + i) / i;
  return k < 0 || k > n ? 0.0 : value;
}

/* Two classes, hard votes: the error at full size given `wrong` of 2h votes. The error of a random
 * half is the hypergeometric tail, so no luck of one split enters. */
static double binary_error(int32_t half, int32_t wrong, double remaining) {
  double whole = wrong > half ? 1.0 : wrong == half ? 0.5 : 0.0, lost = 0.0;
  for (int32_t x = half / 2 + 1; x <= half; x++)
    lost += binomial(wrong, x) * binomial(2 * half - wrong, half - x);
  if (half % 2 == 0) lost += 0.5 * binomial(wrong, half / 2) * binomial(2 * half - wrong, half / 2);
  return whole - remaining * (lost / binomial(2 * half, half) - whole);
}

/* The error at full size of one row, by its tallies. */
static double row_error(const auto_job *job, const float *a, const float *b, int32_t label,
                        const double *binary, double remaining) {
  int32_t classes = job->engine->classes;
  if (binary) return binary[(int32_t)(a[1 - label] + b[1 - label] + 0.5f)];
  double whole = tally_error(a, b, classes, label);
  double halves =
      0.5 * (tally_error(a, NULL, classes, label) + tally_error(b, NULL, classes, label));
  return whole - remaining * (halves - whole);
}

static void score_candidate(const auto_job *job, auto_state *s) {
  int32_t classes = job->engine->classes;
  const int32_t *label = job->engine->view->label;
  double remaining = remaining_share(job->options, s->half);
  double binary[2 * MOST_HALF + 1];
  bool is_binary = classes == 2 && job->options->vote != SR_VOTE_SOFT && s->half <= MOST_HALF;
  for (int32_t wrong = 0; is_binary && wrong <= 2 * s->half; wrong++)
    binary[wrong] = binary_error(s->half, wrong, remaining);
  memset(s->unit_error, 0, (size_t)job->units * sizeof *s->unit_error);
  s->error = 0.0;
  for (int32_t f = 0; f < job->folds.folds; f++) {
    for (int64_t k = 0; k < job->test_count[f]; k++) {
      int32_t row = job->test[f][k];
      if (label[row] < 0) continue;
      const float *a = s->tally[0] + (job->first_judged[f] + k) * classes;
      const float *b = s->tally[1] + (job->first_judged[f] + k) * classes;
      s->unit_error[job->unit[row]] +=
          row_error(job, a, b, label[row], is_binary ? binary : NULL, remaining);
    }
  }
  for (int32_t u = 0; u < job->units; u++) s->error += s->unit_error[u];
  s->error /= job->judged;
  s->candidate.error = s->error;
  s->candidate.members = 2 * s->half;
}

static sr_status run_round(sr_context *ctx, auto_job *job) {
  sr_status status = SR_OK;
  int64_t items = 0;
  for (int32_t c = 0; c < job->count; c++) {
    for (int32_t f = 0; f < job->folds.folds && job->add[c] > 0; f++)
      job->item[items++] = c * FOLDS + f;
  }
  SR_TRY(sr__parallel_for(ctx, items, score_item, job));
  double full = (1.0 - exp(-1.0)) * (double)job->engine->view->rows;
  for (int64_t i = 0; i < items; i++) job->spent += job->item_cost[i] / full;
  for (int32_t c = 0; c < job->count; c++) {
    if (!job->add[c]) continue;
    job->state[c].half += job->add[c];
    score_candidate(job, &job->state[c]);
  }
cleanup:
  return status;
}

static double round_cost(const auto_job *job) {
  double cost = 0.0;
  for (int32_t c = 0; c < job->count; c++) {
    double train = 0.0;
    for (int32_t f = 0; f < job->folds.folds; f++) train += (double)job->train_count[f];
    cost +=
        2.0 * job->add[c] * job->state[c].candidate.cost * train / (double)job->engine->view->rows;
  }
  return cost;
}

/* ---- halving and the choice ----------------------------------------------------------------- */

/* Paired difference to candidate `base` and its standard error over units. */
static void compare_to(const auto_job *job, int32_t base, auto_state *s) {
  const auto_state *b = &job->state[base];
  double difference = s->error - b->error, sum = 0.0;
  int32_t units = 0;
  for (int32_t u = 0; u < job->units; u++) {
    if (job->unit_rows[u] <= 0.0) continue;
    double gap = s->unit_error[u] - b->unit_error[u] - difference * job->unit_rows[u];
    sum += gap * gap;
    units++;
  }
  s->candidate.difference = difference;
  s->candidate.difference_se =
      units > 1 ? sqrt(sum * units / (units - 1.0)) / job->judged : INFINITY;
}

static bool clearly_better(const sr_candidate *candidate) {
  return candidate->difference < -CLEAR * candidate->difference_se;
}

/* uniform, or uniform-nm where the smaller bags are clearly better. */
static int32_t default_candidate(auto_job *job) {
  compare_to(job, 0, &job->state[1]);
  return clearly_better(&job->state[1].candidate) ? 1 : 0;
}

/* Half of the candidates go on, and the default with them. */
static void give_up_on_the_worst(auto_job *job) {
  int32_t alive = 0, base = default_candidate(job);
  for (int32_t c = 0; c < job->count; c++) alive += job->state[c].alive;
  for (int32_t drop = alive / 2; drop > 0; drop--) {
    int32_t worst = -1;
    for (int32_t c = 0; c < job->count; c++) {
      if (!job->state[c].alive || c == base) continue;
      if (worst < 0 || job->state[c].error > job->state[worst].error) worst = c;
    }
    if (worst >= 0) job->state[worst].alive = false;
  }
}

/* A small ensemble has a small budget: then all candidates begin with fewer members. */
static void plan_first_round(auto_job *job) {
  int32_t members = job->options->plan.members, largest = 0;
  for (int32_t c = 0; c < job->count; c++) {
    job->add[c] = first_half(job->state[c].candidate.cost, members);
    if (job->add[c] > largest) largest = job->add[c];
  }
  for (; largest > 1 && round_cost(job) > FIRST_ROUND * BUDGET * members; largest -= 2) {
    for (int32_t c = 0; c < job->count; c++) job->add[c] -= job->add[c] > 2 ? 2 : 0;
  }
}

static void plan_next_round(auto_job *job) {
  for (int32_t c = 0; c < job->count; c++) {
    const auto_state *s = &job->state[c];
    int32_t most = job->options->plan.members / 2 - s->half;
    int32_t add = s->half < most ? s->half : most;
    job->add[c] = s->alive && add > 0 ? add : 0;
  }
}

static sr_status run_rounds(sr_context *ctx, auto_job *job) {
  sr_status status = SR_OK;
  int32_t members = job->options->plan.members;
  for (int32_t round = 0; round < ROUNDS; round++) {
    if (round > 0) give_up_on_the_worst(job);
    if (round == 0)
      plan_first_round(job);
    else
      plan_next_round(job);
    if (round > 0 && job->spent + round_cost(job) > BUDGET * members) break;
    SR_TRY(run_round(ctx, job));
    sr__progress(ctx, "choose the plan", round + 1, ROUNDS);
  }
cleanup:
  return status;
}

/* The best candidate that went on, where it beats the default clearly; else the default. */
static int32_t choose(auto_job *job, int32_t base) {
  int32_t best = base;
  for (int32_t c = 0; c < job->count; c++) {
    auto_state *s = &job->state[c];
    compare_to(job, base, s);
    if (s->alive && s->error < job->state[best].error) best = c;
  }
  return clearly_better(&job->state[best].candidate) ? best : base;
}

static sr_status report_choice(sr_context *ctx, const auto_job *job, int32_t base, int32_t chosen,
                               sr_choice *choice) {
  sr_status status = SR_OK;
  sr_candidate *list = NULL;
  char text[256];
  const sr_candidate *b = &job->state[base].candidate, *c = &job->state[chosen].candidate;
  if (chosen == base)
    snprintf(text, sizeof text, "no plan was clearly better than %s on %d held-out folds of %ss",
             b->label, job->folds.folds, job->folds.unit);
  else
    snprintf(text, sizeof text,
             "%.4f less error than %s (standard error %.4f) on %d held-out folds of %ss",
             -c->difference, b->label, c->difference_se, job->folds.folds, job->folds.unit);
  SR_NEW(ctx, list, job->count);
  for (int32_t k = 0; k < job->count; k++) list[k] = job->state[k].candidate;
  *choice = (sr_choice){.candidate_count = job->count,
                        .candidates = list,
                        .chosen = chosen,
                        .fallback = base,
                        .cost = job->spent / job->options->plan.members,
                        .folds = job->folds.folds,
                        .buffer = job->folds.buffer};
  choice->reason = sr__strdup(ctx, text);
  if (!choice->reason) SR_TRY(SR_ERROR_MEMORY);
cleanup:
  return status;
}

static void job_free(sr_context *ctx, auto_job *job) {
  for (int32_t c = 0; c < job->count; c++) {
    sr__free(ctx, job->state[c].tally[0]);
    sr__free(ctx, job->state[c].tally[1]);
    sr__free(ctx, job->state[c].unit_error);
  }
  for (int32_t f = 0; f < FOLDS; f++) {
    sr__free(ctx, job->train[f]);
    sr__free(ctx, job->test[f]);
  }
  sr__free(ctx, job->unit);
  sr__free(ctx, job->unit_rows);
  sr__folds_free(ctx, &job->folds);
  sr__free(ctx, job);
}

sr_status sr__auto_choose(sr_context *ctx, const sr__engine *engine, const sr_structure *structure,
                          const sr_train_options *options, sr_choice *choice, sr_plan_options *plan,
                          int32_t *parts) {
  sr_status status = SR_OK;
  auto_job *job = NULL;
  SR_NEW_ZERO(ctx, job, 1);
  job->engine = engine;
  job->structure = structure;
  job->options = options;
  list_candidates(job);
  SR_TRY(make_folds(ctx, job));
  SR_TRY(run_rounds(ctx, job));
  int32_t base = default_candidate(job), chosen = choose(job, base);
  SR_TRY(report_choice(ctx, job, base, chosen, choice));
  *plan = job->state[chosen].plan;
  *parts = job->state[chosen].candidate.parts;
cleanup:
  if (job) job_free(ctx, job);
  return status;
}
