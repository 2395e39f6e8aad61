/* Losses of a vote of few members, carried to the vote of all of them.
 *
 * Over the rows the margin of a vote is nearly normal, its variance that between rows plus x, what
 * the members' own noise leaves in the vote (v/h for h members of one plan). The error is then
 * Phi(-m / sqrt(s + x)), and 1/z^2 of it, z = Phi^-1(error), is a line in x. It is laid through the
 * votes of all members and of about a fifth of them, all folds together, and read where the
 * delivered vote stands. Rows share the way in proportion to what the fifth loses more on them, so
 * that the interval pays for the noise that this adds. */
#include "core/maths.h"
#include "held.h"

#include <math.h>
#include <specroute/stats.h>

enum { ALL, FIFTH, SIZES, DRAWS = 24, ROUGH_DRAWS = 6 };

/* Odd, because an even vote is worth one member less. */
static void subset_sizes(int32_t members, int32_t size[SIZES]) {
  int32_t least = members >= 9 ? 3 : 1;
  size[ALL] = members;
  size[FIFTH] = (int32_t)(0.2 * members) | 1;
  if (size[FIFTH] < least) size[FIFTH] = least;
}

/* Errors of classes that are named at random stand at z = 0. */
static double z_of(double error, const sr__vote_curve *c) {
  double p = 0.5 * error / (1.0 - 1.0 / c->classes), least = 0.5 / c->rows;
  return sr_normal_quantile(fmin(fmax(p, least), 1.0 - least));
}

double sr__carry_steps(const sr__vote_curve *c) {
  const double *x = c->noise, *e = c->error;
  if (!(x[ALL] > 1e-12 && x[FIFTH] > 1.01 * x[ALL])) return 0.0;
  double line = (x[ALL] - c->goal) / (x[FIFTH] - x[ALL]);
  double z = z_of(e[ALL], c), other = z_of(e[FIFTH], c);
  if (z * other <= 0.0 || fabs(e[ALL] - e[FIFTH]) < 1e-9) return line;
  double ratio = fmin(z * z / (other * other), x[FIFTH] / x[ALL]); /* rows differ: s >= 0 */
  double there = z / sqrt(1.0 - (ratio - 1.0) * line);
  double carried = e[ALL] * sr_normal_cdf(there) / sr_normal_cdf(z);
  return (carried - e[ALL]) / (e[ALL] - e[FIFTH]);
}

/* ---- two classes, hard votes: exact -----------------------------------------------------------
 */

static double log_choose(int32_t n, int32_t k) {
  return sr__lgamma_portable(n + 1.0) - sr__lgamma_portable(k + 1.0) -
         sr__lgamma_portable(n - k + 1.0);
}

double sr__subset_error(int32_t members, int32_t wrong, int32_t size) {
  double lost = 0.0;
  for (int32_t x = (size + 1) / 2; x <= size; x++) {
    if (x > wrong || size - x > members - wrong) continue;
    double p = sr__exp_portable(log_choose(wrong, x) + log_choose(members - wrong, size - x) -
                                log_choose(members, size));
    lost += 2 * x == size ? sr__tie_loss(2) * p : p;
  }
  return lost;
}

static sr_status lose_exactly(sr_context *ctx, const sr__held *held, int32_t fold,
                              double *const loss[SIZES]) {
  sr_status status = SR_OK;
  const int32_t *label = held->prepared->view->label;
  int64_t begin = held->first[fold], count = held->first[fold + 1] - begin;
  int32_t members = held->entry[0].members, size[SIZES];
  double *table = NULL;
  SR_NEW(ctx, table, SIZES * (members + 1));
  subset_sizes(members, size);
  for (int k = 0; k < SIZES; k++)
    for (int32_t wrong = 0; wrong <= members; wrong++)
      table[k * (members + 1) + wrong] = sr__subset_error(members, wrong, size[k]);
  for (int64_t i = 0; i < count; i++) {
    int32_t wrong = 0, other = 1 - label[held->row[begin + i]];
    for (int32_t j = 0; j < members; j++)
      wrong += sr__held_answer(held, 0, j, 0)[(begin + i) * 2 + other] > 0.5f;
    for (int k = 0; k < SIZES; k++) loss[k][i] = table[k * (members + 1) + wrong];
  }
cleanup:
  sr__free(ctx, table);
  return status;
}

/* ---- any vote ------------------------------------------------------------------------------- */

typedef struct carry_work {
  const sr__held *held;
  const sr__vote_weights *weights;
  int64_t begin, count, values; /* values: rows x classes */
  float **blended;              /* per entry: members x values; NULL where it weighs nothing */
  double *part;                 /* weight of each entry */
  double *vote;                 /* values */
  int32_t *named;               /* members x rows: the class that each names; NULL: not hard */
  int32_t *tally;               /* per class, 0 between rows */
} carry_work;

static sr_status blend_leaves(sr_context *ctx, carry_work *w, int32_t e) {
  sr_status status = SR_OK;
  const sr__held *held = w->held;
  const double *weight = w->weights->weight + e * held->leaves;
  int32_t members = held->entry[e].members;
  for (int32_t l = 0; l < held->leaves; l++) w->part[e] += weight[l];
  if (w->part[e] <= 1e-6 || !w->weights->delivered[e]) {
    w->part[e] = 0.0;
    return SR_OK;
  }
  SR_NEW(ctx, w->blended[e], members * w->values);
  for (int32_t j = 0; j < members; j++) {
    float *to = w->blended[e] + j * w->values;
    const float *fine = sr__held_answer(held, e, j, 0) + w->begin * held->classes;
    float share = (float)(weight[0] / w->part[e]);
    for (int64_t k = 0; k < w->values; k++) to[k] = share * fine[k];
    if (held->leaves < 2) continue;
    const float *coarse = sr__held_answer(held, e, j, 1) + w->begin * held->classes;
    for (int64_t k = 0; k < w->values; k++) to[k] += (1.0f - share) * coarse[k];
  }
cleanup:
  return status;
}

/* ---- hard votes of one plan: classes are counted, with the same sums ---------------------------
 */

static sr_status list_named(sr_context *ctx, carry_work *w) {
  sr_status status = SR_OK;
  const sr__held *held = w->held;
  int32_t classes = held->classes, members = held->entry[0].members;
  SR_NEW(ctx, w->named, members * w->count);
  SR_NEW_ZERO(ctx, w->tally, classes);
  for (int32_t j = 0; j < members; j++) {
    const float *answer = sr__held_answer(held, 0, j, 0) + w->begin * classes;
    for (int64_t i = 0; i < w->count; i++) {
      int32_t c = 0;
      while (c < classes - 1 && answer[i * classes + c] < 0.5f) c++;
      w->named[j * w->count + i] = c;
    }
  }
cleanup:
  return status;
}

/* As member_variance: a class that c of m members name has c answers of 1. */
static double named_variance(carry_work *w) {
  int32_t members = w->held->entry[0].members, classes = w->held->classes;
  double total = 0.0;
  if (members < 2 || w->count == 0) return 0.0;
  for (int64_t i = 0; i < w->count; i++) {
    for (int32_t j = 0; j < members; j++) w->tally[w->named[j * w->count + i]]++;
    for (int32_t c = 0; c < classes; c++) {
      double sum = w->tally[c];
      total += fmax(0.0, sum - sum * sum / members);
      w->tally[c] = 0;
    }
  }
  return total / (members - 1.0) / (double)w->count;
}

/* Of three members: two alike outvote the third, three unlike share. */
static void add_losses_of_three(const carry_work *w, const int32_t *order, double times,
                                double *loss) {
  const int32_t *label = w->held->prepared->view->label, *row = w->held->row + w->begin;
  const int32_t *first = w->named + order[0] * w->count, *second = w->named + order[1] * w->count,
                *third = w->named + order[2] * w->count;
  const double lost[3] = {times, times * sr__tie_loss(3), 0.0};
  for (int64_t i = 0; i < w->count; i++) {
    int32_t own = label[row[i]], a = first[i] == own, b = second[i] == own, c = third[i] == own;
    int unlike = (first[i] != second[i]) & (first[i] != third[i]) & (second[i] != third[i]);
    loss[i] += lost[a + b + c >= 2 ? 2 : (a + b + c) & unlike];
  }
}

/* Adds the loss of the classes that most of the named `size` members name. */
static void add_named_losses(carry_work *w, const int32_t *order, int32_t size, double times,
                             double *loss) {
  const int32_t *label = w->held->prepared->view->label;
  if (size == 3) {
    add_losses_of_three(w, order, times, loss);
    return;
  }
  for (int64_t i = 0; i < w->count; i++) {
    int32_t most = 0, on_top = 0, own = label[w->held->row[w->begin + i]];
    for (int32_t j = 0; j < size; j++) {
      int32_t here = ++w->tally[w->named[order[j] * w->count + i]];
      if (here > most) most = here;
    }
    for (int32_t j = 0; j < size; j++)
      on_top += w->tally[w->named[order[j] * w->count + i]] == most;
    bool named = w->tally[own] == most;
    for (int32_t j = 0; j < size; j++) w->tally[w->named[order[j] * w->count + i]] = 0;
    loss[i] += times * (named ? sr__tie_loss(on_top / most) : 1.0);
  }
}

/* As cast, for all members. */
static sr_status cast_named(sr_context *ctx, carry_work *w) {
  sr_status status = SR_OK;
  int32_t members = w->held->entry[0].members, classes = w->held->classes;
  double *share = NULL, weight = w->part[0] / members;
  SR_NEW(ctx, share, members + 1);
  share[0] = 0.0;
  for (int32_t j = 0; j < members; j++) share[j + 1] = share[j] + weight;
  for (int64_t i = 0; i < w->count; i++) {
    for (int32_t j = 0; j < members; j++) w->tally[w->named[j * w->count + i]]++;
    for (int32_t c = 0; c < classes; c++) {
      w->vote[i * classes + c] = share[w->tally[c]];
      w->tally[c] = 0;
    }
  }
cleanup:
  sr__free(ctx, share);
  return status;
}

static sr_status lose_by_named(sr_context *ctx, carry_work *w, int32_t *order, int32_t fold,
                               int draws, double *const loss[SIZES]) {
  sr_status status = SR_OK;
  int32_t members = w->held->entry[0].members, size[SIZES];
  subset_sizes(members, size);
  for (int draw = 0; draw < draws; draw++) {
    sr__random random;
    sr__random_init(&random, w->held->seed, SR_PURPOSE_CARRY, (uint64_t)fold, (uint64_t)draw);
    sr__random_shuffle(&random, order, members);
    add_named_losses(w, order, size[FIFTH], 1.0 / draws, loss[FIFTH]);
  }
  SR_TRY(cast_named(ctx, w));
  add_named_losses(w, order, size[ALL], 1.0, loss[ALL]);
cleanup:
  return status;
}

/* ---- any vote: noise, draws, losses -------------------------------------------------------------
 */

/* Variance of one member's answer, summed over classes, mean over the rows. */
static double member_variance(const carry_work *w, int32_t e) {
  int32_t members = w->held->entry[e].members;
  double total = 0.0;
  if (members < 2 || w->count == 0) return 0.0;
  for (int64_t k = 0; k < w->values; k++) {
    double sum = 0.0, square = 0.0;
    for (int32_t j = 0; j < members; j++) {
      double a = (double)w->blended[e][j * w->values + k];
      sum += a;
      square += a * a;
    }
    total += fmax(0.0, square - sum * sum / members);
  }
  return total / (members - 1.0) / (double)w->count;
}

/* Variance that the members' own noise leaves in the vote, times the rows of the fold. */
static void add_noise(carry_work *w, sr__vote_curve *curve) {
  bool hard = w->held->rule != SR_VOTE_SOFT && w->held->classes == 2;
  for (int32_t e = 0; e < w->held->entries; e++) {
    if (!w->blended[e] && !w->named) continue;
    int32_t size[SIZES], full = w->weights->delivered[e];
    double variance = w->named ? named_variance(w) : member_variance(w, e);
    double one = variance * w->part[e] * w->part[e] * (double)w->count;
    subset_sizes(w->held->entry[e].members, size);
    if (hard && full % 2 == 0 && full > 1) full--;
    for (int k = 0; k < SIZES; k++) curve->noise[k] += one / size[k];
    curve->goal += one / full;
  }
}

/* The vote of `size[e]` members of each entry, by the order that is given. */
static void cast(carry_work *w, int k, int32_t *const *order) {
  memset(w->vote, 0, (size_t)w->values * sizeof *w->vote);
  for (int32_t e = 0; e < w->held->entries; e++) {
    if (!w->blended[e]) continue;
    int32_t size[SIZES];
    subset_sizes(w->held->entry[e].members, size);
    double weight = w->part[e] / size[k];
    for (int32_t j = 0; j < size[k]; j++) {
      const float *from = w->blended[e] + order[e][j] * w->values;
      for (int64_t v = 0; v < w->values; v++) w->vote[v] += weight * (double)from[v];
    }
  }
}

static void add_losses(const carry_work *w, double times, double *loss) {
  const int32_t *label = w->held->prepared->view->label;
  int32_t classes = w->held->classes;
  const double *offset = w->weights->offset;
  double lean = classes == 2 && offset ? offset[1] - offset[0] : 0.0;
  for (int64_t i = 0; i < w->count; i++) {
    int32_t own = label[w->held->row[w->begin + i]];
    const double *vote = w->vote + i * classes;
    double lost = classes == 2 ? sr__vote_loss_of_two(vote[1] - vote[0] + lean, own)
                               : sr__vote_loss(vote, offset, classes, own);
    loss[i] += times * lost;
  }
}

static void give_vote(const carry_work *w, int32_t *vote, float *share) {
  int32_t classes = w->held->classes;
  for (int64_t i = 0; i < w->count; i++) {
    int32_t best = 0;
    double total = 0.0, most = -INFINITY;
    for (int32_t c = 0; c < classes; c++) {
      double moved = w->vote[i * classes + c] + (w->weights->offset ? w->weights->offset[c] : 0.0);
      if (moved > most) best = c;
      if (moved > most) most = moved;
      total += fmax(moved, 0.0);
      if (share) share[i * classes + c] = (float)fmax(moved, 0.0);
    }
    if (vote) vote[i] = best;
    for (int32_t c = 0; share && total > 0.0 && c < classes; c++)
      share[i * classes + c] /= (float)total;
  }
}

/* Leaves the vote of all members in the work. */
static sr_status lose_by_draws(sr_context *ctx, carry_work *w, int32_t fold, int draws,
                               double *const loss[SIZES]) {
  sr_status status = SR_OK;
  const sr__held *held = w->held;
  int32_t **order = NULL;
  SR_NEW_ZERO(ctx, order, held->entries);
  for (int32_t e = 0; e < held->entries; e++) {
    SR_NEW(ctx, order[e], held->entry[e].members);
    for (int32_t j = 0; j < held->entry[e].members; j++) order[e][j] = j;
  }
  for (int k = 0; k < SIZES; k++) memset(loss[k], 0, (size_t)w->count * sizeof **loss);
  if (w->named) {
    SR_TRY(lose_by_named(ctx, w, order[0], fold, draws, loss));
    goto cleanup;
  }
  for (int draw = 0; draw < draws; draw++) {
    sr__random random;
    sr__random_init(&random, held->seed, SR_PURPOSE_CARRY, (uint64_t)fold, (uint64_t)draw);
    for (int32_t e = 0; e < held->entries; e++)
      sr__random_shuffle(&random, order[e], held->entry[e].members);
    cast(w, FIFTH, order);
    add_losses(w, 1.0 / draws, loss[FIFTH]);
  }
  cast(w, ALL, order); /* their order does not count */
  add_losses(w, 1.0, loss[ALL]);
cleanup:
  for (int32_t e = 0; order && e < held->entries; e++) sr__free(ctx, order[e]);
  sr__free(ctx, order);
  return status;
}

static sr_status open_work(sr_context *ctx, const sr__held *held, int32_t fold,
                           const sr__vote_weights *weights, carry_work *w) {
  sr_status status = SR_OK;
  *w = (carry_work){.held = held,
                    .weights = weights,
                    .begin = held->first[fold],
                    .count = held->first[fold + 1] - held->first[fold]};
  w->values = w->count * held->classes;
  SR_NEW_ZERO(ctx, w->blended, held->entries);
  SR_NEW_ZERO(ctx, w->part, held->entries);
  SR_NEW(ctx, w->vote, w->values);
  if (held->entries == 1 && held->leaves == 1 && held->rule == SR_VOTE_HARD && !weights->offset &&
      weights->weight[0] > 1e-6 && weights->delivered[0]) {
    w->part[0] = weights->weight[0];
    SR_TRY(list_named(ctx, w));
    goto cleanup;
  }
  for (int32_t e = 0; e < held->entries; e++) SR_TRY(blend_leaves(ctx, w, e));
cleanup:
  return status;
}

static void close_work(sr_context *ctx, carry_work *w) {
  for (int32_t e = 0; w->blended && e < w->held->entries; e++) sr__free(ctx, w->blended[e]);
  sr__free(ctx, w->blended);
  sr__free(ctx, w->part);
  sr__free(ctx, w->vote);
  sr__free(ctx, w->named);
  sr__free(ctx, w->tally);
}

/* ---- all folds ------------------------------------------------------------------------------ */

typedef struct carry_job {
  const sr__held *held;
  const sr__vote_weights *weights; /* per fold */
  sr__carried *to;
  double *fifth;         /* losses of a fifth of the members, per row */
  sr__vote_curve *curve; /* per fold, its noise times its rows */
} carry_job;

static sr_status carry_fold(sr_context *ctx, void *data, int64_t fold, int slot) {
  (void)slot;
  const carry_job *job = data;
  sr_status status = SR_OK;
  const sr__held *held = job->held;
  const sr__vote_weights *weights = &job->weights[fold];
  int64_t at = held->first[fold];
  double *const loss[SIZES] = {job->to->loss + at, job->fifth + at};
  carry_work w = {0};
  bool exact = held->entries == 1 && held->leaves == 1 && held->classes == 2 &&
               held->rule == SR_VOTE_HARD && !weights->offset;
  int draws = exact ? 0 : job->to->roughly ? ROUGH_DRAWS : DRAWS;
  SR_TRY(open_work(ctx, held, (int32_t)fold, weights, &w));
  add_noise(&w, &job->curve[fold]);
  SR_TRY(lose_by_draws(ctx, &w, (int32_t)fold, draws, loss));
  give_vote(&w, job->to->vote ? job->to->vote + at : NULL,
            job->to->share ? job->to->share + at * held->classes : NULL);
  if (exact) SR_TRY(lose_exactly(ctx, held, (int32_t)fold, loss));
cleanup:
  close_work(ctx, &w);
  return status;
}

sr_status sr__carry_losses(sr_context *ctx, const sr__held *held, const sr__vote_weights *weights,
                           sr__carried *to) {
  sr_status status = SR_OK;
  carry_job job = {.held = held, .weights = weights, .to = to};
  sr__vote_curve curve = {.classes = held->classes, .rows = (double)held->count};
  SR_NEW(ctx, job.fifth, held->count);
  SR_NEW_ZERO(ctx, job.curve, held->folds);
  SR_TRY(sr__parallel_for(ctx, held->folds, carry_fold, &job));
  for (int32_t f = 0; f < held->folds; f++) {
    for (int k = 0; k < SIZES; k++) curve.noise[k] += job.curve[f].noise[k] / curve.rows;
    curve.goal += job.curve[f].goal / curve.rows;
  }
  for (int64_t i = 0; i < held->count; i++) {
    curve.error[ALL] += to->loss[i] / curve.rows;
    curve.error[FIFTH] += job.fifth[i] / curve.rows;
  }
  double steps = sr__carry_steps(&curve);
  for (int64_t i = 0; i < held->count; i++) to->loss[i] += steps * (to->loss[i] - job.fifth[i]);
  to->way = steps * (curve.error[ALL] - curve.error[FIFTH]);
cleanup:
  sr__free(ctx, job.fifth);
  sr__free(ctx, job.curve);
  return status;
}
