/* What the members' covariance is made of: the rows they share, the parts they share, and the law
 * that all of them learn.
 *
 * Members are fitted on halves of a fold's training rows and judge the fold. Two members of one
 * half share rows, parts and law; members of two halves that were dealt row by row share parts and
 * law; members of two halves that are stretches, groups or parts apart share the law alone.
 * Differences of their covariances, over that of the first pair, split the covariance of the whole
 * vote. */
#include <math.h>

#include "trial.h"

enum { HALVES = 4, MEMBERS = 3, SET = HALVES * MEMBERS, MOST_FOLDS = 4, LEAST_ROWS = 4 };
#define SHARED_STREAM (UINT64_C(1) << 41)
/* The vote of members that each see a share s of the rows at random leans on a row like s / (2 -
 * s): the sum of the squared weights that bagged nearest neighbors give. A full bootstrap sees
 * .632. */
#define LEAN(s) ((s) / (2.0 - (s)))
#define SMALLER_BAG 0.3
/* Of what is shared by rows and by parts, half of the parts per member takes this off: measured on
 * processes that no test uses. */
#define TAKEN_BY_PLACE 0.2

typedef struct shared_job {
  const sr__trial *trial;
  const sr__mix_entry *entry; /* the one that weighs most */
  sr__held held;              /* HALVES pseudo-folds per fold: same test rows, half the training */
  double moment[SET * SET], mean[SET], rows;
} shared_job;

/* ---- halves ------------------------------------------------------------------------------- */

/* Which half a row is in where halves are apart: groups and parts are dealt, a series is cut once.
 */
static sr_status deal_places(sr_context *ctx, const sr_structure *s, const sr__fold_rows *fold,
                             sr__random *random, uint8_t *half) {
  sr_status status = SR_OK;
  uint8_t *of_part = NULL;
  const sr_parts_view *parts = sr_parts_get(s->parts);
  if (sr__structure_is_series(s) && s->view.unit != SR_UNIT_GROUP) {
    for (int64_t i = 0; i < fold->train_count; i++) half[i] = 2 * i >= fold->train_count;
    return SR_OK;
  }
  SR_NEW(ctx, of_part, parts->parts);
  for (int32_t p = 0; p < parts->parts; p++) of_part[p] = (uint8_t)(p % 2);
  for (int32_t p = parts->parts - 1; p > 0; p--) {
    int32_t other = (int32_t)sr__random_below(random, (uint64_t)p + 1);
    uint8_t kept = of_part[p];
    of_part[p] = of_part[other];
    of_part[other] = kept;
  }
  for (int64_t i = 0; i < fold->train_count; i++) half[i] = of_part[parts->part[fold->train[i]]];
cleanup:
  sr__free(ctx, of_part);
  return status;
}

static sr_status copy_half(sr_context *ctx, const sr__fold_rows *fold, const uint8_t *half,
                           uint8_t which, sr__fold_rows *to) {
  sr_status status = SR_OK;
  int64_t count = 0;
  for (int64_t i = 0; i < fold->train_count; i++) count += half[i] == which;
  SR_NEW(ctx, to->train, count);
  SR_NEW(ctx, to->test, fold->test_count);
  for (int64_t i = 0; i < fold->train_count; i++)
    if (half[i] == which) to->train[to->train_count++] = fold->train[i];
  memcpy(to->test, fold->test, (size_t)fold->test_count * sizeof *to->test);
  to->test_count = fold->test_count;
cleanup:
  return status;
}

/* Two halves dealt row by row, then two that are apart. */
static sr_status make_halves(sr_context *ctx, const shared_job *job, int32_t folds, uint64_t seed,
                             sr__fold_rows *rows) {
  sr_status status = SR_OK;
  const sr__held *held = &job->trial->held;
  uint8_t *half = NULL;
  for (int32_t f = 0; f < folds; f++) {
    const sr__fold_rows *fold = &held->rows[(int64_t)f * held->folds / folds];
    sr__random random;
    sr__random_init(&random, seed, SR_PURPOSE_FOLD, SHARED_STREAM, (uint64_t)f);
    SR_NEW(ctx, half, fold->train_count);
    for (int64_t i = 0; i < fold->train_count; i++) half[i] = (uint8_t)sr__random_below(&random, 2);
    for (int k = 0; k < HALVES; k++) {
      if (k == 2) SR_TRY(deal_places(ctx, held->structure, fold, &random, half));
      SR_TRY(copy_half(ctx, fold, half, (uint8_t)(k % 2), &rows[f * HALVES + k]));
    }
    sr__free(ctx, half);
    half = NULL;
  }
cleanup:
  sr__free(ctx, half);
  return status;
}

/* ---- moments ------------------------------------------------------------------------------ */

static void add_margins(shared_job *job, int32_t fold, float *answer) {
  const sr__held *held = &job->held;
  int32_t classes = held->classes;
  float large = held->leaves == 2 ? (float)job->entry->large_leaf : 0.0f;
  int64_t count = held->first[fold * HALVES + 1] - held->first[fold * HALVES];
  for (int64_t i = 0; i < count; i++) {
    double margin[SET];
    int32_t label = held->prepared->view->label[held->row[held->first[fold * HALVES] + i]];
    for (int k = 0; k < SET; k++) {
      int64_t at = (held->first[fold * HALVES + k / MEMBERS] + i) * classes;
      const float *fine = sr__held_answer(held, 0, k % MEMBERS, 0) + at;
      const float *coarse = sr__held_answer(held, 0, k % MEMBERS, held->leaves - 1) + at;
      for (int32_t c = 0; c < classes; c++)
        answer[c] = (1.0f - large) * fine[c] + large * coarse[c];
      margin[k] = sr__share_score(answer, classes, label);
      job->mean[k] += margin[k];
    }
    for (int a = 0; a < SET; a++)
      for (int b = 0; b < a; b++) job->moment[a * SET + b] += margin[a] * margin[b];
  }
  job->rows += (double)count;
}

/* Mean covariance over pairs: of one half dealt row by row, of both, of halves that are apart. */
static void pair_covariances(const shared_job *job, double covariance[3]) {
  double pairs[3] = {0};
  for (int k = 0; k < 3; k++) covariance[k] = 0.0;
  for (int a = 0; a < SET; a++) {
    for (int b = 0; b < a; b++) {
      int first = b / MEMBERS, second = a / MEMBERS;
      int kind = first == second && first < 2 ? 0 : first == 0 && second == 1 ? 1 : 2;
      if (kind == 2 && !(first == 2 && second == 3)) continue;
      covariance[kind] += job->moment[a * SET + b] / job->rows -
                          job->mean[a] / job->rows * (job->mean[b] / job->rows);
      pairs[kind] += 1.0;
    }
  }
  for (int k = 0; k < 3; k++) covariance[k] /= pairs[k];
}

/* ---- what it says ------------------------------------------------------------------------- */

/* Share of the rows that a member draws: .632 for a full bootstrap. */
static void conclude(const shared_job *job, double squares, sr_evaluation *to) {
  double c[3], rows = 0.0;
  for (int32_t f = 0; f < job->held.folds; f++) rows += (double)job->held.rows[f].train_count;
  double share = job->held.entry[0].cost / (rows * job->held.entry[0].members);
  double drawn = fmin(fmax(share, SMALLER_BAG), 1.0);
  pair_covariances(job, c);
  if (!(c[0] > 0.0) || !(to->covariance > 0.0)) return;
  double law = fmin(fmax(c[2], 0.0), c[0]), parts = fmin(fmax(c[1] - law, 0.0), c[0] - law);
  double scale = to->covariance / c[0];
  to->shared_law = law * scale;
  to->shared_parts = parts * scale;
  to->shared_rows = (c[0] - law - parts) * scale;
  to->gain_members = 0.5 * squares * fmax(to->variance_of_member - to->covariance, 0.0);
  to->gain_bags = to->shared_rows * (1.0 - LEAN(SMALLER_BAG) / LEAN(drawn));
  to->gain_place = TAKEN_BY_PLACE * (to->shared_rows + to->shared_parts);
}

/* Members are fitted by the plan that weighs most. */
static const sr__mix_entry *heaviest(const sr__mix *mix) {
  const sr__mix_entry *entry = &mix->entry[0];
  for (int32_t e = 1; e < mix->count; e++)
    if (mix->entry[e].weight > entry->weight) entry = &mix->entry[e];
  return entry;
}

static bool halves_hold_rows(const sr__fold_rows *rows, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (rows[k].train_count < LEAST_ROWS) return false;
  return true;
}

static void free_halves(sr_context *ctx, sr__fold_rows *rows, int32_t count) {
  for (int32_t k = 0; rows && k < count; k++) sr__fold_rows_free(ctx, &rows[k]);
  sr__free(ctx, rows);
}

sr_status sr__shared_covariance(sr_context *ctx, const sr__trial *trial, const sr__mix *mix,
                                uint64_t seed, sr_evaluation *to) {
  sr_status status = SR_OK;
  shared_job job = {.trial = trial, .entry = heaviest(mix)};
  int32_t folds = trial->held.folds < MOST_FOLDS ? trial->held.folds : MOST_FOLDS;
  int32_t count = folds * HALVES, members = MEMBERS;
  sr__fold_rows *rows = NULL;
  float *answer = NULL;
  if (trial->held.rule == SR_VOTE_GATED || !isfinite(to->covariance)) goto cleanup;
  SR_NEW_ZERO(ctx, rows, count);
  SR_TRY(make_halves(ctx, &job, folds, seed, rows));
  if (!halves_hold_rows(rows, count)) goto cleanup;
  const sr__configuration *plan = &job.entry->plan;
  sr__held_options options = {.structure = trial->held.structure,
                              .prepared = trial->held.prepared,
                              .rows = rows,
                              .folds = count,
                              .rule = trial->held.rule,
                              .plan_members = trial->held.plan_members,
                              .expected = MEMBERS,
                              .entries = 1,
                              .plan = &plan,
                              .leaves = job.entry->large_leaf > 0.0,
                              .seed = seed,
                              .replicate = SHARED_STREAM};
  rows = NULL; /* theirs to free from here on */
  SR_TRY(sr__held_new(ctx, &options, &job.held));
  SR_TRY(sr__held_grow(ctx, &job.held, &members, "shared rows"));
  SR_NEW(ctx, answer, job.held.classes);
  for (int32_t f = 0; f < folds; f++) add_margins(&job, f, answer);
  if (job.rows > 0.0) conclude(&job, sr__delivered_squares(trial), to);
cleanup:
  free_halves(ctx, rows, count);
  sr__held_free(ctx, &job.held);
  sr__free(ctx, answer);
  return status;
}
