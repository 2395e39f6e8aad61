/* The plan chosen on held-out blocks.
 *
 * Every candidate trains small ensembles on the folds of the honest error, with the same streams.
 * The votes of each small ensemble and of its two halves give its error at full size through e(m) =
 * e + c/m: plans whose members differ more gain more from further members, and would else be judged
 * too harshly. The worse half of the candidates is given up; the others get twice the members,
 * until the budget is spent. The default is left only for a candidate whose paired gain is clear.
 */
#include <math.h>
#include <stdlib.h>

#include "train.h"

enum {
  FOLDS = 8, /* of the honest error's, where it has more */
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
#define CLEAR_GAIN 2.0

typedef struct candidate_state {
  sr_candidate candidate; /* `plan` points to `text` */
  char *text;
  sr__configuration plan;
  bool alive;
  int32_t half;       /* members of each half so far */
  float *tally[2];    /* judged rows x classes: votes of the two halves */
  double *unit_error; /* per unit: error at full size, summed over its rows */
  double error;
} candidate_state;

typedef struct choose_job {
  const sr__choose_input *in;
  int32_t count;
  candidate_state state[SR__MOST_CANDIDATES];
  int32_t fold_count;
  sr__fold_rows rows[FOLDS];
  int64_t first_judged[FOLDS + 1]; /* where a fold's rows stand in the tallies */
  int32_t units;
  int32_t *unit;     /* of each row */
  double *unit_rows; /* judged */
  double judged;
  double spent; /* in full-bootstrap members */
  /* the present round */
  int32_t add[SR__MOST_CANDIDATES]; /* members to add to each half */
  int32_t item[SR__MOST_CANDIDATES * FOLDS];
  double item_cost[SR__MOST_CANDIDATES * FOLDS];
} choose_job;

/* ---- candidates --------------------------------------------------------------------------- */

static sr_status add_candidates(sr_context *ctx, choose_job *job) {
  sr_status status = SR_OK;
  sr__candidate_plan list[SR__MOST_CANDIDATES];
  int32_t count = sr__list_candidates(job->in->structure, job->in->members, list);
  for (int32_t c = 0; c < count; c++) {
    candidate_state *s = &job->state[c];
    job->count++;
    SR_TRY(sr__configure(ctx, "plan", sr_plan_method, list[c].text, &s->plan));
    s->text = sr__configuration_text(ctx, s->plan.method, s->plan.options);
    if (!s->text) SR_TRY(SR_ERROR_MEMORY);
    s->alive = true;
    s->candidate = (sr_candidate){.plan = s->text,
                                  .error = NAN,
                                  .difference = NAN,
                                  .difference_se = NAN,
                                  .cost = list[c].cost};
  }
cleanup:
  return status;
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
static double remaining_share(const sr__choose_input *in, int32_t half) {
  double odd = in->vote == SR_VOTE_SOFT ? 0.0 : 1.0;
  double whole = 2.0 * half - odd, full = in->members - odd;
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
static sr_status make_units(sr_context *ctx, choose_job *job) {
  sr_status status = SR_OK;
  int64_t rows = job->in->prepared->view->rows;
  const sr_parts_view *parts = sr_parts_get(job->in->structure->parts);
  SR_NEW(ctx, job->unit, rows);
  if (sr__structure_is_series(job->in->structure)) {
    double wanted = (double)rows / (UNIT_SCALES * job->in->structure->scale);
    wanted = wanted > MOST_UNITS ? MOST_UNITS : wanted < LEAST_UNITS ? LEAST_UNITS : wanted;
    job->units = (int32_t)(wanted < (double)rows ? wanted : (double)rows);
    SR_TRY(sr_structure_cut(ctx, job->in->structure, job->units, job->unit));
  } else {
    job->units = parts->parts;
    memcpy(job->unit, parts->part, (size_t)rows * sizeof *job->unit);
  }
  SR_NEW_ZERO(ctx, job->unit_rows, job->units);
  for (int32_t f = 0; f < job->fold_count; f++) {
    for (int64_t k = 0; k < job->rows[f].test_count; k++) {
      if (job->in->prepared->view->label[job->rows[f].test[k]] < 0) continue;
      job->unit_rows[job->unit[job->rows[f].test[k]]] += 1.0;
      job->judged += 1.0;
    }
  }
cleanup:
  return status;
}

static sr_status make_folds(sr_context *ctx, choose_job *job) {
  sr_status status = SR_OK;
  int64_t all = sr_folds_get(job->in->folds)->folds;
  job->fold_count = (int32_t)(all < FOLDS ? all : FOLDS);
  for (int32_t f = 0; f < job->fold_count; f++) {
    int32_t fold = (int32_t)(f * all / job->fold_count);
    SR_TRY(sr__fold_rows_new(ctx, job->in->folds, fold, &job->rows[f]));
    thin_rows(job->rows[f].test, &job->rows[f].test_count, MOST_JUDGED / job->fold_count);
    job->first_judged[f + 1] = job->first_judged[f] + job->rows[f].test_count;
  }
  int64_t judged = job->first_judged[job->fold_count];
  SR_TRY(make_units(ctx, job));
  for (int32_t c = 0; c < job->count; c++) {
    candidate_state *s = &job->state[c];
    SR_NEW_ZERO(ctx, s->unit_error, job->units);
    for (int h = 0; h < 2; h++) SR_NEW_ZERO(ctx, s->tally[h], judged * job->in->prepared->classes);
  }
cleanup:
  return status;
}

/* ---- one round ---------------------------------------------------------------------------- */

static sr_status cast_votes(sr_context *ctx, const choose_job *job, int32_t fold,
                            const sr__members *members, int32_t half, candidate_state *state) {
  sr_status status = SR_OK;
  const sr__prepared *prepared = job->in->prepared;
  int64_t count = job->rows[fold].test_count;
  sr__member_votes votes = {.learner = prepared->learner,
                            .encoder = prepared->encoder,
                            .rule = job->in->vote == SR_VOTE_SOFT ? SR_VOTE_SOFT : SR_VOTE_HARD,
                            .classes = prepared->classes};
  SR_NEW(ctx, votes.vote, count);
  if (votes.rule == SR_VOTE_SOFT) SR_NEW(ctx, votes.proba, count * prepared->classes);
  const sr__encoded *rows = prepared->learner->training_encoded(prepared->training);
  for (int32_t j = 0; j < members->count; j++) {
    float *tally = state->tally[j < half ? 0 : 1] + job->first_judged[fold] * prepared->classes;
    SR_TRY(sr__ask_member(ctx, &votes, members->member[j], rows, job->rows[fold].test, count));
    for (int64_t k = 0; k < count; k++)
      sr__vote_add(&votes, k, 1.0f, tally + k * prepared->classes);
  }
cleanup:
  sr__free(ctx, votes.vote);
  sr__free(ctx, votes.proba);
  return status;
}

static sr_status score_item(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  choose_job *job = data;
  sr_status status = SR_OK;
  int32_t c = job->item[item] / FOLDS, fold = job->item[item] % FOLDS, add = job->add[c];
  candidate_state *s = &job->state[c];
  sr__members members = {0};
  sr__holdout holdout = {.structure = job->in->structure,
                         .prepared = job->in->prepared,
                         .plan = &s->plan,
                         .plan_members = job->in->members,
                         .first = 2 * s->half,
                         .count = 2 * add,
                         .seed = job->in->seed};
  SR_TRY(sr__holdout_fit(ctx, &holdout, fold, &job->rows[fold], &members));
  SR_TRY(cast_votes(ctx, job, fold, &members, add, s));
  job->item_cost[item] = members.cost;
cleanup:
  sr__members_free(ctx, &members);
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
static double row_error(const choose_job *job, const float *a, const float *b, int32_t label,
                        const double *binary, double remaining) {
  int32_t classes = job->in->prepared->classes;
  if (binary) return binary[(int32_t)(a[1 - label] + b[1 - label] + 0.5f)];
  double whole = tally_error(a, b, classes, label);
  double halves =
      0.5 * (tally_error(a, NULL, classes, label) + tally_error(b, NULL, classes, label));
  return whole - remaining * (halves - whole);
}

static void score_candidate(const choose_job *job, candidate_state *s) {
  int32_t classes = job->in->prepared->classes;
  const int32_t *label = job->in->prepared->view->label;
  double remaining = remaining_share(job->in, s->half);
  double binary[2 * MOST_HALF + 1];
  bool is_binary = classes == 2 && job->in->vote != SR_VOTE_SOFT && s->half <= MOST_HALF;
  for (int32_t wrong = 0; is_binary && wrong <= 2 * s->half; wrong++)
    binary[wrong] = binary_error(s->half, wrong, remaining);
  memset(s->unit_error, 0, (size_t)job->units * sizeof *s->unit_error);
  s->error = 0.0;
  for (int32_t f = 0; f < job->fold_count; f++) {
    for (int64_t k = 0; k < job->rows[f].test_count; k++) {
      int32_t row = job->rows[f].test[k];
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

static sr_status run_round(sr_context *ctx, choose_job *job) {
  sr_status status = SR_OK;
  int64_t items = 0;
  for (int32_t c = 0; c < job->count; c++) {
    for (int32_t f = 0; f < job->fold_count && job->add[c] > 0; f++)
      job->item[items++] = c * FOLDS + f;
  }
  SR_TRY(sr__parallel_for(ctx, items, score_item, job));
  double full = (1.0 - exp(-1.0)) * (double)job->in->prepared->view->rows;
  for (int64_t i = 0; i < items; i++) job->spent += job->item_cost[i] / full;
  for (int32_t c = 0; c < job->count; c++) {
    if (!job->add[c]) continue;
    job->state[c].half += job->add[c];
    score_candidate(job, &job->state[c]);
  }
cleanup:
  return status;
}

static double round_cost(const choose_job *job) {
  double cost = 0.0;
  for (int32_t c = 0; c < job->count; c++) {
    double train = 0.0;
    for (int32_t f = 0; f < job->fold_count; f++) train += (double)job->rows[f].train_count;
    cost += 2.0 * job->add[c] * job->state[c].candidate.cost * train /
            (double)job->in->prepared->view->rows;
  }
  return cost;
}

/* ---- halving and the choice ----------------------------------------------------------------- */

/* Paired difference to candidate `base` and its standard error over units. */
static void compare_to(const choose_job *job, int32_t base, candidate_state *s) {
  const candidate_state *b = &job->state[base];
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
  return candidate->difference < -CLEAR_GAIN * candidate->difference_se;
}

/* uniform, or uniform-nm where the smaller bags are clearly better. */
static int32_t default_candidate(choose_job *job) {
  compare_to(job, 0, &job->state[1]);
  return clearly_better(&job->state[1].candidate) ? 1 : 0;
}

/* Half of the candidates go on, and the default with them. */
static void give_up_on_the_worst(choose_job *job) {
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
static void plan_first_round(choose_job *job) {
  int32_t members = job->in->members, largest = 0;
  for (int32_t c = 0; c < job->count; c++) {
    job->add[c] = first_half(job->state[c].candidate.cost, members);
    if (job->add[c] > largest) largest = job->add[c];
  }
  for (; largest > 1 && round_cost(job) > FIRST_ROUND * BUDGET * members; largest -= 2) {
    for (int32_t c = 0; c < job->count; c++) job->add[c] -= job->add[c] > 2 ? 2 : 0;
  }
}

static void plan_next_round(choose_job *job) {
  for (int32_t c = 0; c < job->count; c++) {
    const candidate_state *s = &job->state[c];
    int32_t most = job->in->members / 2 - s->half;
    int32_t add = s->half < most ? s->half : most;
    job->add[c] = s->alive && add > 0 ? add : 0;
  }
}

static sr_status run_rounds(sr_context *ctx, choose_job *job) {
  sr_status status = SR_OK;
  int32_t members = job->in->members;
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
static int32_t best_candidate(choose_job *job, int32_t base) {
  int32_t best = base;
  for (int32_t c = 0; c < job->count; c++) {
    candidate_state *s = &job->state[c];
    compare_to(job, base, s);
    if (s->alive && s->error < job->state[best].error) best = c;
  }
  return clearly_better(&job->state[best].candidate) ? best : base;
}

static sr_status report_choice(sr_context *ctx, choose_job *job, int32_t base, int32_t chosen,
                               sr__mix *mix) {
  sr_status status = SR_OK;
  sr_candidate *list = NULL;
  char text[256];
  const sr_folds_view *folds = sr_folds_get(job->in->folds);
  const sr_candidate *b = &job->state[base].candidate, *c = &job->state[chosen].candidate;
  const char *unit = sr_unit_name(folds->unit);
  if (chosen == base)
    snprintf(text, sizeof text, "no plan was clearly better than %s on %d held-out folds of %ss",
             b->plan, job->fold_count, unit);
  else
    snprintf(text, sizeof text,
             "%.4f less error than %s (standard error %.4f) on %d held-out folds of %ss",
             -c->difference, b->plan, c->difference_se, job->fold_count, unit);
  SR_NEW(ctx, list, job->count);
  mix->choice = (sr_choice){.candidates = list,
                            .chosen = chosen,
                            .fallback = base,
                            .cost = job->spent / job->in->members,
                            .folds = job->fold_count,
                            .buffer = folds->buffer};
  for (int32_t k = 0; k < job->count; k++) { /* the texts move over */
    list[k] = job->state[k].candidate;
    job->state[k].text = NULL;
    mix->choice.candidate_count++;
  }
  mix->choice.reason = sr__strdup(ctx, text);
  mix->reason = sr__strdup(ctx, text);
  if (!mix->choice.reason || !mix->reason) SR_TRY(SR_ERROR_MEMORY);
cleanup:
  return status;
}

static void job_free(sr_context *ctx, choose_job *job) {
  sr_allocator allocator = sr__allocator(ctx);
  for (int32_t c = 0; c < job->count; c++) {
    candidate_state *s = &job->state[c];
    sr__configuration_free(&allocator, &s->plan);
    void *blocks[] = {s->text, s->tally[0], s->tally[1], s->unit_error};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) sr__free(ctx, blocks[k]);
  }
  for (int32_t f = 0; f < FOLDS; f++) sr__fold_rows_free(ctx, &job->rows[f]);
  sr__free(ctx, job->unit);
  sr__free(ctx, job->unit_rows);
  sr__free(ctx, job);
}

static sr_status choose_plan(sr_context *ctx, const sr__choose_input *input, const void *options,
                             sr__mix *mix, sr_vote *vote, sr__trial *trial) {
  (void)options;
  (void)vote;
  (void)trial;
  sr_status status = SR_OK;
  choose_job *job = NULL;
  SR_NEW_ZERO(ctx, job, 1);
  job->in = input;
  SR_TRY(sr__mix_new(ctx, 1, mix));
  SR_TRY(add_candidates(ctx, job));
  SR_TRY(make_folds(ctx, job));
  SR_TRY(run_rounds(ctx, job));
  int32_t base = default_candidate(job), chosen = best_candidate(job, base);
  mix->entry[0] =
      (sr__mix_entry){.plan = job->state[chosen].plan, .members = input->members, .weight = 1.0};
  job->state[chosen].plan = (sr__configuration){0};
  SR_TRY(report_choice(ctx, job, base, chosen, mix));
cleanup:
  if (job) job_free(ctx, job);
  return status;
}

const sr__chooser sr__chooser_choose = {
    .about = {"choose", "one plan, the one that is clearly best on held-out blocks", NULL, 0, NULL},
    .choose = choose_plan};
