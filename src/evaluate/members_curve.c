/* The error of held-out rows against the number of members that vote, in their order. */
#include <math.h>

#include "trial.h"

enum { MOST_POINTS = 32 };

/* The vote of a fold as it grows member by member. */
typedef struct growing {
  const sr__held *held;
  const sr__vote_weights *weights;
  int64_t begin, rows, values; /* values: rows x classes */
  int32_t *voting;             /* members of each entry so far */
  double *sum;                 /* entries x values: their answers, by leaf size weighted */
  double *vote;                /* values */
} growing;

static double entry_weight(const growing *g, int32_t e) {
  double weight = 0.0;
  for (int32_t l = 0; l < g->held->leaves; l++)
    weight += g->weights->weight[e * g->held->leaves + l];
  return g->weights->delivered[e] > 0 && weight > 1e-6 ? weight : 0.0;
}

static void add_member(growing *g, int32_t e) {
  const sr__held *held = g->held;
  double *sum = g->sum + e * g->values;
  for (int32_t l = 0; l < held->leaves; l++) {
    double weight = g->weights->weight[e * held->leaves + l];
    const float *answer = sr__held_answer(held, e, g->voting[e], l) + g->begin * held->classes;
    for (int64_t v = 0; v < g->values; v++) sum[v] += weight * (double)answer[v];
  }
  g->voting[e]++;
}

/* The share `size` of `most` of every entry votes; gives how many members these are. */
static int32_t grow_to(growing *g, int32_t size, int32_t most) {
  int32_t all = 0;
  memset(g->vote, 0, (size_t)g->values * sizeof *g->vote);
  for (int32_t e = 0; e < g->held->entries; e++) {
    if (entry_weight(g, e) <= 0.0) continue;
    int32_t members = g->held->entry[e].members;
    int32_t wanted = (int32_t)(((int64_t)members * size + most - 1) / most);
    while (g->voting[e] < wanted) add_member(g, e);
    for (int64_t v = 0; v < g->values; v++) g->vote[v] += g->sum[e * g->values + v] / g->voting[e];
    all += g->voting[e];
  }
  return all;
}

static double lost(const growing *g) {
  const int32_t *label = g->held->prepared->view->label;
  double loss = 0.0;
  for (int64_t i = 0; i < g->rows; i++)
    loss += sr__vote_loss(g->vote + i * g->held->classes, g->weights->offset, g->held->classes,
                          label[g->held->row[g->begin + i]]);
  return loss;
}

/* Over all folds: how many members voted and what they lost, per point. */
typedef struct curve_sums {
  int32_t points, size[MOST_POINTS];
  double members[MOST_POINTS], loss[MOST_POINTS];
} curve_sums;

static sr_status grow_fold(sr_context *ctx, const sr__trial *trial, int32_t fold, curve_sums *to) {
  sr_status status = SR_OK;
  const sr__held *held = &trial->held;
  growing g = {.held = held,
               .weights = &trial->fold[fold],
               .begin = held->first[fold],
               .rows = held->first[fold + 1] - held->first[fold]};
  g.values = g.rows * held->classes;
  SR_NEW_ZERO(ctx, g.voting, held->entries);
  SR_NEW_ZERO(ctx, g.sum, held->entries * g.values);
  SR_NEW(ctx, g.vote, g.values);
  for (int32_t p = 0; p < to->points; p++) {
    to->members[p] += grow_to(&g, to->size[p], to->size[to->points - 1]);
    to->loss[p] += lost(&g);
    SR_TRY(sr__check_interrupt(ctx));
  }
cleanup:
  sr__free(ctx, g.voting);
  sr__free(ctx, g.sum);
  sr__free(ctx, g.vote);
  return status;
}

/* 1, 3, 5, 9, 17, .. and all. */
static int32_t list_sizes(const sr__held *held, int32_t size[MOST_POINTS]) {
  int32_t most = 0, count = 0;
  for (int32_t e = 0; e < held->entries; e++)
    most = held->entry[e].members > most ? held->entry[e].members : most;
  for (int32_t s = 1; s < most && count < MOST_POINTS - 1; s = s == 1 ? 3 : 2 * s - 1)
    size[count++] = s;
  if (most > 0) size[count++] = most;
  return count;
}

sr_status sr__members_curve(sr_context *ctx, const sr__trial *trial, const sr__judged *judged,
                            sr_evaluation *to) {
  sr_status status = SR_OK;
  const sr__held *held = &trial->held;
  curve_sums sums = {0};
  int32_t points = sums.points = list_sizes(held, sums.size), delivered = 0;
  double all = 0.0;
  sr_curve_point *curve = NULL;
  if (!points || !held->count) return SR_OK;
  for (int32_t f = 0; f < held->folds; f++) SR_TRY(grow_fold(ctx, trial, f, &sums));
  for (int32_t e = 0; e < held->entries; e++) delivered += trial->fold[0].delivered[e];
  for (int64_t k = 0; k < judged->count; k++) all += judged->loss[k];
  SR_NEW(ctx, curve, points + 1);
  to->curve = curve;
  for (int32_t p = 0; p < points; p++)
    curve[to->curve_count++] = (sr_curve_point){(int32_t)lround(sums.members[p] / held->folds),
                                                sums.loss[p] / (double)held->count};
  if (delivered > curve[points - 1].members)
    curve[to->curve_count++] =
        (sr_curve_point){delivered, fmin(fmax(all / (double)judged->count, 0.0), 1.0)};
cleanup:
  return status;
}
