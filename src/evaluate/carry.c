/* Losses of a vote of few members, carried row by row to the vote of all of them.
 *
 * A vote of h members has the loss e(h) of its row; over subsets this is nearly a parabola in the
 * variance that the members' own noise leaves in the vote (in 1/h for one plan). It is laid through
 * all members, about half and about a fifth of them, and read where the delivered vote stands. Per
 * row, so that the interval pays for the noise that this adds. */
#include "core/maths.h"
#include "held.h"

#include <math.h>

enum { SIZES = 3, DRAWS = 24, ROUGH_DRAWS = 6 };
#define TIE 1e-7 /* shares that are so near to each other are the same */

void sr__parabola(const double x[3], double at, double weight[3]) {
  for (int a = 0; a < 3; a++) {
    weight[a] = 1.0;
    for (int b = 0; b < 3; b++)
      if (b != a) weight[a] *= (at - x[b]) / (x[a] - x[b]);
  }
}

/* All, about half, about a fifth; odd, because an even vote is worth one member less. */
static void subset_sizes(int32_t members, int32_t size[SIZES]) {
  int32_t least = members >= 9 ? 3 : 1;
  size[0] = members;
  size[1] = (int32_t)(0.53 * members) | 1;
  size[2] = (int32_t)(0.2 * members) | 1;
  if (size[2] < least) size[2] = least;
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
    lost += 2 * x == size ? 0.5 * p : p;
  }
  return lost;
}

static sr_status carry_two_classes(sr_context *ctx, const sr__held *held, int32_t fold,
                                   const sr__vote_weights *weights, double *loss) {
  sr_status status = SR_OK;
  const int32_t *label = held->prepared->view->label;
  int64_t begin = held->first[fold], count = held->first[fold + 1] - begin;
  int32_t members = held->entry[0].members, size[SIZES], full = weights->delivered[0];
  double *table = NULL, x[SIZES], weight[SIZES] = {1.0, 0.0, 0.0};
  SR_NEW(ctx, table, members + 1);
  subset_sizes(members, size);
  for (int k = 0; k < SIZES; k++) x[k] = 1.0 / size[k];
  bool carried = full > members && size[0] > size[1] && size[1] > size[2];
  if (carried) sr__parabola(x, 1.0 / (full - (full % 2 == 0)), weight);
  for (int32_t wrong = 0; wrong <= members; wrong++) {
    table[wrong] = 0.0;
    for (int k = 0; k < (carried ? SIZES : 1); k++)
      table[wrong] += weight[k] * sr__subset_error(members, wrong, size[k]);
  }
  for (int64_t i = 0; i < count; i++) {
    int32_t wrong = 0, other = 1 - label[held->row[begin + i]];
    for (int32_t j = 0; j < members; j++)
      wrong += sr__held_answer(held, 0, j, 0)[(begin + i) * 2 + other] > 0.5f;
    loss[i] = table[wrong];
  }
cleanup:
  sr__free(ctx, table);
  return status;
}

/* ---- any vote ------------------------------------------------------------------------------- */

double sr__vote_loss(const double *vote, const double *offset, int32_t classes, int32_t label) {
  double most = -INFINITY, own = 0.0;
  int32_t top = 0;
  for (int32_t c = 0; c < classes; c++) {
    double here = vote[c] + (offset ? offset[c] : 0.0);
    if (c == label) own = here;
    if (here > most) most = here;
  }
  for (int32_t c = 0; c < classes; c++) top += vote[c] + (offset ? offset[c] : 0.0) >= most - TIE;
  return own >= most - TIE ? 1.0 - 1.0 / top : 1.0;
}

typedef struct carry_work {
  const sr__held *held;
  const sr__vote_weights *weights;
  int64_t begin, count, values; /* values: rows x classes */
  float **blended;              /* per entry: members x values; NULL where it weighs nothing */
  double *part;                 /* weight of each entry */
  double *vote;                 /* values */
  double noise[SIZES], goal;    /* variance that the members' own noise leaves in the vote */
  double lost;                  /* by the vote of all members, over the rows */
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

static void measure_noise(carry_work *w) {
  bool hard = w->held->rule != SR_VOTE_SOFT && w->held->classes == 2;
  for (int32_t e = 0; e < w->held->entries; e++) {
    if (!w->blended[e]) continue;
    int32_t size[SIZES], full = w->weights->delivered[e];
    double one = member_variance(w, e) * w->part[e] * w->part[e];
    subset_sizes(w->held->entry[e].members, size);
    if (hard && full % 2 == 0 && full > 1) full--;
    for (int k = 0; k < SIZES; k++) w->noise[k] += one / size[k];
    w->goal += one / full;
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

/* Gives the sum of the losses as they are. */
static double add_losses(const carry_work *w, double times, double *loss) {
  const int32_t *label = w->held->prepared->view->label;
  double sum = 0.0;
  int32_t classes = w->held->classes;
  const double *offset = w->weights->offset;
  double lean = classes == 2 && offset ? offset[1] - offset[0] : 0.0;
  for (int64_t i = 0; i < w->count; i++) {
    int32_t own = label[w->held->row[w->begin + i]];
    const double *vote = w->vote + i * classes;
    double lost, margin;
    if (classes == 2) { /* as sr__vote_loss, without its loops */
      margin = vote[1] - vote[0] + lean;
      if (own == 0) margin = -margin;
      lost = margin > TIE ? 0.0 : margin < -TIE ? 1.0 : 0.5;
    } else {
      lost = sr__vote_loss(vote, offset, classes, own);
    }
    loss[i] += times * lost;
    sum += lost;
  }
  return sum;
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

static sr_status carry_any(sr_context *ctx, carry_work *w, int32_t fold, int draws, double *loss) {
  sr_status status = SR_OK;
  const sr__held *held = w->held;
  int32_t **order = NULL;
  double weight[SIZES];
  SR_NEW_ZERO(ctx, order, held->entries);
  for (int32_t e = 0; e < held->entries; e++) {
    SR_NEW(ctx, order[e], held->entry[e].members);
    for (int32_t j = 0; j < held->entry[e].members; j++) order[e][j] = j;
  }
  memset(loss, 0, (size_t)w->count * sizeof *loss);
  bool apart =
      w->noise[0] > 1e-12 && w->noise[1] > 1.01 * w->noise[0] && w->noise[2] > 1.01 * w->noise[1];
  bool carried = apart && fabs(w->goal - w->noise[0]) > 0.001 * w->noise[0];
  if (carried) sr__parabola(w->noise, w->goal, weight);
  for (int draw = 0; carried && draw < draws; draw++) {
    sr__random random;
    sr__random_init(&random, held->seed, SR_PURPOSE_CARRY, (uint64_t)fold, (uint64_t)draw);
    for (int k = 1; k < SIZES; k++) {
      for (int32_t e = 0; e < held->entries; e++)
        sr__random_shuffle(&random, order[e], held->entry[e].members);
      cast(w, k, order);
      add_losses(w, weight[k] / draws, loss);
    }
  }
  cast(w, 0, order); /* all members: the order does not count */
  w->lost = add_losses(w, carried ? weight[0] : 1.0, loss);
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
  for (int32_t e = 0; e < held->entries; e++) SR_TRY(blend_leaves(ctx, w, e));
cleanup:
  return status;
}

static void close_work(sr_context *ctx, carry_work *w) {
  for (int32_t e = 0; w->blended && e < w->held->entries; e++) sr__free(ctx, w->blended[e]);
  sr__free(ctx, w->blended);
  sr__free(ctx, w->part);
  sr__free(ctx, w->vote);
}

sr_status sr__carry_fold(sr_context *ctx, const sr__held *held, int32_t fold,
                         const sr__vote_weights *weights, double *loss, int32_t *vote,
                         float *share) {
  sr_status status = SR_OK;
  carry_work w = {0};
  bool exact = held->entries == 1 && held->leaves == 1 && held->classes == 2 &&
               held->rule == SR_VOTE_HARD && !weights->offset;
  SR_TRY(open_work(ctx, held, fold, weights, &w));
  if (!exact) measure_noise(&w);
  SR_TRY(carry_any(ctx, &w, fold, DRAWS, loss));
  give_vote(&w, vote, share);
  if (exact) SR_TRY(carry_two_classes(ctx, held, fold, weights, loss));
cleanup:
  close_work(ctx, &w);
  return status;
}

sr_status sr__carry_roughly(sr_context *ctx, const sr__held *held, int32_t fold,
                            const sr__vote_weights *weights, double *loss, double *lost) {
  sr_status status = SR_OK;
  carry_work w = {0};
  SR_TRY(open_work(ctx, held, fold, weights, &w));
  measure_noise(&w);
  SR_TRY(carry_any(ctx, &w, fold, ROUGH_DRAWS, loss));
  *lost = w.lost;
cleanup:
  close_work(ctx, &w);
  return status;
}
