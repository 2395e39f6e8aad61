/* The default: a mix of bag sizes and leaf sizes in one weighted soft vote.
 *
 * A few members of every bag share answer on the folds of the honest error, at leaves of one row
 * and of five. Weights come from the held-out squared error of these answers (mix_weights.c),
 * starting at plain bagging. The weights that judge a fold come from halves of the other folds, so
 * that the choice flatters nobody. A share that weighs gets more members, until it is carried from
 * no less than a twelfth of its delivered members, or from a sixth where that is a far way, and
 * until the vote of every fold has seven members in all, however few are delivered. No fit is made
 * for the choice alone. */
#include <math.h>

#include "dependence/reach.h"
#include "evaluate/interval.h"
#include "mix_weights.h"
#include "train.h"

enum { CHUNK = 1024, PAIRS = 3 }; /* numbers that are summed together; pairs of leaf sizes */
enum { SHARES = 5, ENTRIES = SHARES + 1, PLACE = SHARES, ROUNDS = 8 };
/* Of its delivered members a share has one in so many per fold: the first where what they lose is
 * carried a short way, the second where the way is far. The vote that judges a fold has never fewer
 * than so many members: what is known of weights and losses hangs on their number, not on how many
 * are delivered. */
enum { CARRY_SHORT = 12, CARRY_FAR = 6, LEAST_VOTE = 7, FIRST_MEMBERS = 3 };
#define FAR_CARRY 1.0 /* standard errors of the error */
#define CLEAR_PLACE                                                                               \
  2.0                    /* rows that the score must remember before half of the parts is offered \
                          */
#define LEAST_BAG 16.0   /* rows */
#define LEAST_SPANS 20.0 /* below, the evidence is called thin */
#define PLAIN_SPANS 15.0 /* of the careful T; below, few rows choose nothing */
#define PLAIN_ROWS 2000  /* as far as this was simulated */
#define CLEAR_ROWS 1000  /* below, a mix must be clearly better than plain bagging */

static const char *const plan_text[ENTRIES] = {"uniform",
                                               "routed:part_share=1,row_share=0.3",
                                               "routed:part_share=1,row_share=0.1",
                                               "routed:part_share=1,row_share=0.03",
                                               "routed:part_share=1,row_share=0.01",
                                               "routed:part_share=0.5"};

typedef struct auto_job {
  const sr__choose_input *in;
  sr__configuration plan[ENTRIES];
  sr__trial *trial;
  const sr_folds_view *folds;
  sr__mix_sums sums;
  sr__mix_question question;
  int32_t summed[ENTRIES]; /* members that are in the sums */
  bool grown[ENTRIES];     /* there are more of them now */
  bool place;              /* half of the parts is offered */
  bool plain;              /* too few spans to choose, or no clear gain: plain bagging alone */
  bool unclear;            /* there was a mix, but no clear gain */
  double weight[SR__MOST_NODES];
  double (*fold_weight)[SR__MOST_NODES]; /* that judge each fold: from the other folds */
  uint8_t *use;                          /* per block */
  double score_reach;
  double *offset, slope; /* of the vote; of the line through it */
} auto_job;

static int32_t entry_of(const auto_job *job, int32_t node) {
  return node / job->trial->held.leaves;
}

/* ---- sums over blocks ----------------------------------------------------------------------- */

/* Rows of one unit that are summed together: mean answers of every node, node by node. */
typedef struct sum_chunk {
  int64_t first, values; /* of the held-out rows; rows x classes */
  int64_t room;          /* values that there is room for */
  double *mean;          /* nodes x room */
  double *sum, *product; /* of one entry: leaves x room, pairs of leaves x room */
  double weight;         /* of each of the rows */
} sum_chunk;

/* Means of one entry's nodes, and what its members scatter around them. */
static void add_entry(auto_job *job, const sum_chunk *c, int32_t e, double *noise, double *gram) {
  const sr__held *held = &job->trial->held;
  int32_t leaves = held->leaves, members = held->entry[e].members, nodes = job->sums.nodes;
  double *first = c->sum, *second = c->sum + c->room;
  double *one = c->product, *two = c->product + c->room, *both = c->product + 2 * c->room;
  bool grown = job->grown[e];
  for (int32_t l = 0; l < SR__MOST_LEAVES; l++)
    memset(c->sum + l * c->room, 0, (size_t)c->values * sizeof *c->sum);
  for (int32_t l = 0; l < PAIRS; l++)
    memset(c->product + l * c->room, 0, (size_t)c->values * sizeof *c->product);
  for (int32_t j = 0; j < members; j++) {
    const float *fine = sr__held_answer(held, e, j, 0) + c->first * held->classes;
    const float *coarse = sr__held_answer(held, e, j, leaves - 1) + c->first * held->classes;
    for (int64_t v = 0; v < c->values; v++) {
      first[v] += (double)fine[v];
      second[v] += (double)coarse[v];
    }
    for (int64_t v = 0; grown && v < c->values; v++) {
      double a = (double)fine[v], b = (double)coarse[v];
      one[v] += a * a;
      two[v] += b * b;
      both[v] += a * b;
    }
  }
  for (int32_t l = 0; l < leaves; l++) {
    double *mean = c->mean + (e * leaves + l) * c->room, *sum = l ? second : first;
    for (int64_t v = 0; v < c->values; v++) mean[v] = members ? sum[v] / members : 0.0;
    for (int32_t k = 0; k < leaves && members > 1 && grown; k++) {
      const double *other = k ? second : first, *product = l != k ? both : l ? two : one;
      double scatter = 0.0;
      for (int64_t v = 0; v < c->values; v++) scatter += product[v] - sum[v] * other[v] / members;
      scatter = c->weight * (scatter / (members - 1.0));
      if (l == k) noise[e * leaves + l] += scatter;
      gram[(e * leaves + l) * nodes + e * leaves + k] -= scatter / members;
    }
  }
}

static double class_weight(const auto_job *job, int64_t row) {
  const sr__held *held = &job->trial->held;
  const double *weight = job->in->class_weight;
  return weight ? weight[held->prepared->view->label[held->row[row]]] : 1.0;
}

/* Rows [first, end) of one unit and of one weight. */
static void add_rows(auto_job *job, sum_chunk *c, int64_t first, int64_t end) {
  const sr__held *held = &job->trial->held;
  sr__mix_sums *s = &job->sums;
  int32_t classes = held->classes, nodes = s->nodes;
  const int32_t *label = held->prepared->view->label, *row = held->row;
  int64_t u = job->folds->unit_of_row[row[first]];
  double *square = s->square + u * nodes * nodes, *gram = s->gram + u * nodes * nodes;
  c->first = first;
  c->values = (end - first) * classes;
  c->weight = class_weight(job, first);
  for (int32_t e = 0; e < held->entries; e++) add_entry(job, c, e, s->noise + u * nodes, gram);
  for (int32_t k = 0; k < nodes; k++) {
    const double *p = c->mean + k * c->room;
    bool grown = job->grown[entry_of(job, k)];
    for (int64_t i = first; grown && i < end; i++) {
      const double *here = p + (i - first) * classes;
      s->truth[u * nodes + k] += c->weight * here[label[row[i]]];
      for (int32_t a = 0; a < classes; a++)
        s->answer[(u * nodes + k) * classes + a] += c->weight * here[a];
    }
    for (int32_t l = 0; l <= k; l++) {
      if (!grown && !job->grown[entry_of(job, l)]) continue;
      const double *q = c->mean + l * c->room;
      double part[4] = {0};
      int64_t v = 0;
      for (; v + 4 <= c->values; v += 4)
        for (int a = 0; a < 4; a++) part[a] += p[v + a] * q[v + a];
      for (; v < c->values; v++) part[0] += p[v] * q[v];
      double dot = c->weight * ((part[0] + part[1]) + (part[2] + part[3]));
      square[k * nodes + l] += dot;
      gram[k * nodes + l] += dot;
      if (l == k) continue;
      square[l * nodes + k] += dot;
      gram[l * nodes + k] += dot;
    }
  }
  if (job->summed[0] > 0) return; /* the rows are known */
  for (int64_t i = first; i < end; i++) s->label[u * classes + label[row[i]]] += c->weight;
  s->rows[u] += c->weight * (double)(end - first);
}

/* A unit lies in one fold: folds write sums of their own. */
static sr_status sum_fold(sr_context *ctx, void *data, int64_t fold, int slot) {
  (void)slot;
  auto_job *job = data;
  sr_status status = SR_OK;
  const sr__held *held = &job->trial->held;
  const int32_t *unit = job->folds->unit_of_row;
  sum_chunk c = {.room = CHUNK > held->classes ? CHUNK : held->classes};
  int64_t most = c.room / held->classes, limit = held->first[fold + 1];
  SR_NEW(ctx, c.mean, job->sums.nodes * c.room);
  SR_NEW(ctx, c.sum, SR__MOST_LEAVES * c.room);
  SR_NEW(ctx, c.product, PAIRS * c.room);
  for (int64_t first = held->first[fold], end; first < limit; first = end) {
    for (end = first + 1; end < limit && end - first < most; end++)
      if (unit[held->row[end]] != unit[held->row[first]] ||
          class_weight(job, end) != class_weight(job, first))
        break;
    add_rows(job, &c, first, end);
  }
cleanup:
  sr__free(ctx, c.mean);
  sr__free(ctx, c.sum);
  sr__free(ctx, c.product);
  return status;
}

static double entry_weight(const auto_job *job, const double *weight, int32_t entry) {
  double total = 0.0;
  for (int32_t l = 0; l < job->trial->held.leaves; l++)
    total += weight[entry * job->trial->held.leaves + l];
  return total;
}

/* Shares that call for less than half a member are left to the others: a member each would take
 * too many from those that weigh. The largest stays. */
static void drop_crumbs(const auto_job *job, double *weight) {
  int32_t largest = 0, leaves = job->trial->held.leaves;
  double kept = 0.0;
  for (int32_t e = 1; e < ENTRIES; e++)
    if (entry_weight(job, weight, e) > entry_weight(job, weight, largest)) largest = e;
  for (int32_t e = 0; e < ENTRIES; e++) {
    double share = entry_weight(job, weight, e);
    bool stays = e == largest || 2.0 * share * job->in->members >= 1.0;
    for (int32_t l = 0; l < leaves && !stays; l++) weight[e * leaves + l] = 0.0;
    if (stays) kept += share;
  }
  for (int32_t k = 0; k < job->sums.nodes; k++) weight[k] /= kept;
}

/* Whether the fold is among the half of the folds in a row that begins at `first`. */
static bool in_half(int32_t folds, int32_t fold, int32_t first) {
  return (fold - first + folds) % folds < folds / 2;
}

/* The weights that judge each fold: the mean of those that halves of the folds without it give.
 * Folds have members of their own, so the mean moves less from seed to seed than the weights of all
 * other folds together, and is no worse: the squared error is convex in the weights. */
static sr_status weigh_halves(sr_context *ctx, auto_job *job) {
  sr_status status = SR_OK;
  int32_t folds = job->trial->held.folds, without = folds - folds / 2;
  sr__mix_question half = job->question;
  double weight[SR__MOST_NODES];
  half.use = job->use;
  memset(job->fold_weight, 0, (size_t)folds * sizeof *job->fold_weight);
  for (int32_t h = 0; h < folds; h++) {
    for (int32_t u = 0; u < job->sums.blocks; u++)
      job->use[u] = in_half(folds, job->folds->fold_of_unit[u], h);
    SR_TRY(sr__mix_weights(ctx, &job->sums, &half, weight));
    for (int32_t f = 0; f < folds; f++)
      for (int32_t k = 0; !in_half(folds, f, h) && k < job->sums.nodes; k++)
        job->fold_weight[f][k] += weight[k] / without;
  }
cleanup:
  return status;
}

/* The weights that judge each fold; the mix gets their mean, which is what was judged. */
static sr_status solve(sr_context *ctx, auto_job *job) {
  sr_status status = SR_OK;
  sr__mix_question *q = &job->question;
  int32_t folds = job->trial->held.folds;
  for (int32_t e = 0; e < ENTRIES; e++)
    job->grown[e] = job->trial->held.entry[e].members > job->summed[e];
  for (int32_t k = 0; k < job->sums.nodes; k++)
    if (job->grown[entry_of(job, k)]) sr__mix_sums_clear(&job->sums, k);
  SR_TRY(sr__parallel_for(ctx, job->trial->held.folds, sum_fold, job));
  for (int32_t e = 0; e < ENTRIES; e++) job->summed[e] = job->trial->held.entry[e].members;
  for (int32_t k = 0; k < job->sums.nodes; k++) {
    const sr__held_entry *entry = &job->trial->held.entry[entry_of(job, k)];
    q->fold_members[k] = entry->members;
    q->open[k] = entry->members > 1 && !job->plain;
  }
  memset(job->weight, 0, sizeof job->weight);
  SR_TRY(weigh_halves(ctx, job));
  for (int32_t f = 0; f < folds; f++) {
    drop_crumbs(job, job->fold_weight[f]);
    for (int32_t k = 0; k < job->sums.nodes; k++) job->weight[k] += job->fold_weight[f][k] / folds;
  }
  drop_crumbs(job, job->weight);
cleanup:
  return status;
}

/* ---- members where the weights are ---------------------------------------------------------- */

/* Of the mix, or of the weights that judge a fold: where it is largest. */
static double largest_share(const auto_job *job, int32_t entry) {
  double most = entry_weight(job, job->weight, entry);
  for (int32_t f = 0; f < job->trial->held.folds; f++)
    most = fmax(most, entry_weight(job, job->fold_weight[f], entry));
  return most;
}

/* Few members choose the weights. Odd, because an even vote of pure leaves is worth one member
 * less. Bags of next to no rows are not looked at. */
static void first_members(const auto_job *job, int32_t *members) {
  static const double share[ENTRIES] = {1.0, 0.3, 0.1, 0.03, 0.01, 1.0};
  double rows = (double)job->in->structure->view.rows;
  for (int32_t e = 0; e < ENTRIES; e++) {
    bool left_out = e == PLACE || (e > 0 && (job->plain || share[e] * rows < LEAST_BAG));
    members[e] = left_out ? 0 : FIRST_MEMBERS;
  }
}

/* The score y - p remembers where label noise or the rule itself persists: only there does it help
 * that members leave whole stretches out. */
static sr_status look_at_score(sr_context *ctx, auto_job *job) {
  sr_status status = SR_OK;
  const sr__held *held = &job->trial->held;
  const int32_t *label = held->prepared->view->label;
  double *score = NULL;
  sr__reach_plan plan = {0};
  int64_t start[2] = {0, held->count};
  job->score_reach = 1.0;
  if (!sr__structure_is_series(job->in->structure)) goto cleanup;
  SR_NEW(ctx, score, held->count);
  SR_TRY(sr__reach_plan_new(ctx, &(sr__runs){1, start}, &plan));
  for (int32_t c = held->classes == 2; c < held->classes; c++) {
    sr__reach reach;
    for (int64_t i = 0; i < held->count; i++) score[i] = label[held->row[i]] == c;
    for (int32_t k = 0; k < job->sums.nodes; k++) {
      int32_t e = entry_of(job, k), members = held->entry[e].members;
      if (job->weight[k] <= 0.0) continue;
      for (int32_t j = 0; j < members; j++) {
        const float *answer = sr__held_answer(held, e, j, k % held->leaves);
        double each = job->weight[k] / members;
        for (int64_t i = 0; i < held->count; i++)
          score[i] -= each * (double)answer[i * held->classes + c];
      }
    }
    SR_TRY(sr__reach_measure(ctx, &plan, score, NULL, (sr__reach_asked){sr__reach_clear(1), false},
                             &reach));
    job->score_reach = fmax(job->score_reach, reach.estimate * (double)held->stride);
  }
cleanup:
  sr__free(ctx, score);
  sr__reach_plan_free(ctx, &plan);
  return status;
}

/* ---- what is delivered ---------------------------------------------------------------------- */

/* Exactly `members` of them, at least one where there is weight; the shares that weigh least go
 * without where there are fewer members than shares. */
static void count_delivered(const auto_job *job, const double *weight, int32_t *delivered) {
  int32_t members = job->in->members, total = 0, active = 0;
  double part[ENTRIES];
  for (int32_t e = 0; e < ENTRIES; e++) {
    part[e] = entry_weight(job, weight, e);
    delivered[e] = 0;
    active += part[e] > 0.0;
  }
  for (; active > members; active--) {
    int32_t least = -1;
    for (int32_t e = 0; e < ENTRIES; e++)
      if (part[e] > 0.0 && (least < 0 || part[e] < part[least])) least = e;
    part[least] = 0.0;
  }
  for (int32_t e = 0; e < ENTRIES; e++) {
    if (part[e] <= 0.0) continue;
    delivered[e] = (int32_t)floor(members * part[e]);
    if (delivered[e] < 1) delivered[e] = 1;
    total += delivered[e];
  }
  while (total != members) { /* where it is most, or least, called for */
    int32_t best = -1;
    double most = -INFINITY;
    for (int32_t e = 0; e < ENTRIES; e++) {
      double lack = members * part[e] - delivered[e];
      if (part[e] <= 0.0 || (total > members && delivered[e] < 2)) continue;
      if (total > members) lack = -lack;
      if (lack > most) best = e;
      if (lack > most) most = lack;
    }
    delivered[best] += total < members ? 1 : -1;
    total += total < members ? 1 : -1;
  }
}

/* Whether the error of all members lies far, in standard errors, from that of the few. */
static sr_status look_at_carry(sr_context *ctx, const auto_job *job, bool *far) {
  sr_status status = SR_OK;
  const sr__held *held = &job->trial->held;
  int32_t delivered[ENTRIES], units = job->folds->units;
  double weight[SR__MOST_NODES], *unit_loss = NULL, *unit_rows = NULL;
  sr__vote_weights *weights = NULL;
  sr__carried carried = {.roughly = true};
  sr__interval interval;
  memcpy(weight, job->weight, sizeof weight);
  count_delivered(job, job->weight, delivered);
  SR_NEW(ctx, weights, held->folds);
  for (int32_t f = 0; f < held->folds; f++)
    weights[f] = (sr__vote_weights){.weight = weight, .delivered = delivered};
  SR_NEW(ctx, carried.loss, held->count);
  SR_NEW_ZERO(ctx, unit_loss, units);
  SR_NEW_ZERO(ctx, unit_rows, units);
  SR_TRY(sr__carry_losses(ctx, held, weights, &carried));
  for (int64_t i = 0; i < held->count; i++) {
    int32_t unit = job->folds->unit_of_row[held->row[i]];
    unit_loss[unit] += carried.loss[i];
    unit_rows[unit] += 1.0;
  }
  sr__interval_of_units(unit_loss, unit_rows, units, SR__WIDEN_MIX, 0.95, &interval);
  *far = !(fabs(carried.way) < FAR_CARRY * interval.error);
cleanup:
  sr__free(ctx, weights);
  sr__free(ctx, carried.loss);
  sr__free(ctx, unit_loss);
  sr__free(ctx, unit_rows);
  return status;
}

/* Members that the weights call for, at most twice as many as there are, so that a share that
 * seemed to weigh by chance is soon given up. */
static bool call_for_members(const auto_job *job, int32_t carry, int32_t *members) {
  bool grew = false;
  for (int32_t e = 0; e < ENTRIES; e++) {
    double share = largest_share(job, e), mean = entry_weight(job, job->weight, e);
    int32_t wanted = (int32_t)ceil(fmax(LEAST_VOTE * share, job->in->members * mean / carry)) | 1;
    if (wanted > 2 * members[e] + 1) wanted = 2 * members[e] + 1;
    if (share <= 0.0 || wanted <= members[e]) continue;
    members[e] = wanted;
    grew = true;
  }
  return grew;
}

static sr_status grow_and_solve(sr_context *ctx, auto_job *job, int32_t *members) {
  sr_status status = SR_OK;
  int32_t carry = CARRY_SHORT;
  for (int round = 0; round < ROUNDS; round++) {
    SR_TRY(sr__held_grow(ctx, &job->trial->held, members, "honest error"));
    SR_TRY(solve(ctx, job));
    bool grew = false;
    if (round == 0) {
      SR_TRY(look_at_score(ctx, job));
      job->place = !job->plain && job->score_reach >= CLEAR_PLACE &&
                   sr_parts_get(job->in->structure->parts)->parts > 3;
      if (job->place) members[PLACE] = members[0];
      grew = job->place;
    }
    grew |= call_for_members(job, carry, members);
    if (!grew && carry == CARRY_SHORT) {
      bool far = false;
      SR_TRY(look_at_carry(ctx, job, &far));
      if (far) carry = CARRY_FAR;
      grew = far && call_for_members(job, carry, members);
    }
    if (!grew) break;
  }
cleanup:
  return status;
}

/* Few rows: what the mix takes off the squared error of folds that did not choose its weights must
 * exceed a standard error, or plain bagging stays. */
static sr_status keep_clear_gain(sr_context *ctx, auto_job *job, int32_t *members) {
  sr_status status = SR_OK;
  double start[SR__MOST_NODES] = {1.0}, difference, error;
  if (job->plain || job->in->structure->view.rows >= CLEAR_ROWS) goto cleanup;
  sr__mix_vote mix = {job->fold_weight[0], job->folds->fold_of_unit};
  sr__mix_difference(&job->sums, mix, start, job->in->members, &difference, &error);
  if (job->weight[0] >= 1.0 && error == 0.0) goto cleanup; /* no fold has a mix */
  if (difference < -error * sqrt(1.0 + SR__THIN * job->question.thin)) goto cleanup;
  job->plain = true;
  job->unclear = job->weight[0] < 1.0;
  SR_TRY(grow_and_solve(ctx, job, members));
cleanup:
  return status;
}

/* Weights and offset for a fold come from the other folds. */
static sr_status weigh_folds(sr_context *ctx, auto_job *job) {
  sr_status status = SR_OK;
  const sr__held *held = &job->trial->held;
  double slope;
  SR_TRY(sr__trial_make_weights(ctx, job->trial));
  for (int32_t f = 0; f < held->folds; f++) {
    sr__vote_weights *to = &job->trial->fold[f];
    sr__mix_question without = job->question; /* blocks outside the fold */
    without.use = job->use;
    for (int32_t u = 0; u < job->sums.blocks; u++) job->use[u] = job->folds->fold_of_unit[u] != f;
    memcpy(to->weight, job->fold_weight[f], (size_t)job->sums.nodes * sizeof *to->weight);
    SR_NEW(ctx, to->offset, held->classes);
    SR_TRY(sr__mix_offset(ctx, &job->sums, &without, to->weight, to->offset, &slope));
    count_delivered(job, to->weight, to->delivered);
  }
cleanup:
  return status;
}

/* ---- what made the gain --------------------------------------------------------------------- */

/* Held-out squared error of the best weights over some nodes, none of them a place. */
static sr_status best_error(sr_context *ctx, const auto_job *job, bool bags, bool leaves,
                            double *error) {
  sr_status status = SR_OK;
  sr__mix_question q = job->question;
  double weight[SR__MOST_NODES];
  for (int32_t k = 0; k < job->sums.nodes; k++) {
    int32_t e = entry_of(job, k), leaf = k % job->trial->held.leaves;
    q.open[k] &= (leaf == 0 || leaves) && (e == 0 || (e != PLACE && bags));
  }
  SR_TRY(sr__mix_weights(ctx, &job->sums, &q, weight));
  *error = sr__mix_error(&job->sums, weight, job->in->members);
cleanup:
  return status;
}

/* Bag size first, then what leaf size, place and offset add. */
static sr_status share_gain(sr_context *ctx, auto_job *job, sr_mix_gain *gain) {
  sr_status status = SR_OK;
  double plain, bags, leaves, all;
  int32_t members = job->in->members;
  double start[SR__MOST_NODES] = {1.0};
  SR_TRY(best_error(ctx, job, false, false, &plain));
  SR_TRY(best_error(ctx, job, true, false, &bags));
  all = leaves = sr__mix_error(&job->sums, job->weight, members);
  if (job->place) SR_TRY(best_error(ctx, job, true, true, &leaves));
  double offset = sr__mix_offset_gain(&job->sums, job->weight, job->offset, job->slope);
  *gain = (sr_mix_gain){.plain = plain,
                        .mix = all - offset,
                        .bag_size = plain - bags,
                        .leaf_size = bags - leaves,
                        .place = leaves - all,
                        .offset = offset,
                        .score_tmix = job->score_reach,
                        .thin = job->question.thin * LEAST_SPANS > 1.0};
  sr__mix_difference(&job->sums, (sr__mix_vote){.weight = job->weight}, start, members,
                     &gain->difference, &gain->difference_se);
cleanup:
  return status;
}

/* Percent that a part of the gain changes, whole; 0 has no minus. */
static double change_of(double gain, double plain) {
  double percent = -100.0 * gain / plain;
  return fabs(percent) < 0.5 ? 0.0 : percent;
}

static sr_status tell(sr_context *ctx, const auto_job *job, sr__mix *mix) {
  const sr_mix_gain *gain = &mix->gain;
  const char *const names[] = {"smaller bags", "larger leaves", "the offset of the vote",
                               "leaving out whole parts"};
  const double gains[] = {gain->bag_size, gain->leaf_size, gain->offset, gain->place};
  double all = gain->plain - gain->mix;
  char text[512];
  int most = 0;
  for (int k = 1; k < 4; k++)
    if (gains[k] > gains[most]) most = k;
  if (all < 0.002 * gain->plain)
    snprintf(text, sizeof text, "%s the held-out squared error of %.4f%s",
             job->unclear      ? "it stays at plain bagging: nothing else clearly lowers"
             : mix->count == 1 ? "it stays at plain bagging: nothing else lowers"
                               : "next to plain bagging: what joins it hardly lowers",
             gain->plain, gain->thin ? " (the rows are too few to choose)" : "");
  else
    snprintf(text, sizeof text,
             "held-out squared error %.4f instead of the %.4f of plain bagging, mostly by "
             "%s (bag size %+.0f %%, leaf size %+.0f %%, offset %+.0f %%, place %+.0f %%)%s",
             gain->mix, gain->plain, names[most], change_of(gains[0], gain->plain),
             change_of(gains[1], gain->plain), change_of(gains[2], gain->plain),
             change_of(gains[3], gain->plain),
             gain->thin ? "; the rows are too few to choose well" : "");
  mix->reason = sr__strdup(ctx, text);
  return mix->reason ? SR_OK : SR_ERROR_MEMORY;
}

/* Plans move over to the mix. */
static sr_status deliver(sr_context *ctx, auto_job *job, sr__mix *mix) {
  sr_status status = SR_OK;
  int32_t delivered[ENTRIES], count = 0, leaves = job->trial->held.leaves;
  double kept = 0.0;
  bool moved = false;
  count_delivered(job, job->weight, delivered);
  for (int32_t e = 0; e < ENTRIES; e++) {
    count += delivered[e] > 0;
    if (delivered[e] > 0) kept += entry_weight(job, job->weight, e);
  }
  SR_TRY(sr__mix_new(ctx, count, mix));
  for (int32_t e = 0, at = 0; e < ENTRIES; e++) {
    if (!delivered[e]) continue;
    double part = entry_weight(job, job->weight, e);
    mix->entry[at++] =
        (sr__mix_entry){.plan = job->plan[e],
                        .members = delivered[e],
                        .weight = part / kept,
                        .large_leaf = leaves == 2 ? job->weight[e * leaves + 1] / part : 0.0};
    job->plan[e] = (sr__configuration){0};
  }
  for (int32_t c = 0; c < job->sums.classes; c++) moved |= fabs(job->offset[c]) > 1e-9;
  if (moved) {
    SR_NEW(ctx, mix->offset, job->sums.classes);
    for (int32_t c = 0; c < job->sums.classes; c++) mix->offset[c] = (float)job->offset[c];
  }
  SR_TRY(share_gain(ctx, job, &mix->gain));
  mix->has_gain = true;
  SR_TRY(tell(ctx, job, mix));
cleanup:
  return status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static sr_status open_trial(sr_context *ctx, auto_job *job) {
  sr_status status = SR_OK;
  const sr__choose_input *in = job->in;
  const sr__configuration *plan[ENTRIES];
  for (int32_t e = 0; e < ENTRIES; e++) {
    SR_TRY(sr__configure(ctx, "plan", sr_plan_method, plan_text[e], &job->plan[e]));
    plan[e] = &job->plan[e];
  }
  sr__held_options options = {.structure = in->structure,
                              .prepared = in->prepared,
                              .folds = job->folds->folds,
                              .rule = SR_VOTE_SOFT,
                              .plan_members = in->members,
                              .expected = 26 + in->members / CARRY_FAR,
                              .entries = ENTRIES,
                              .plan = plan,
                              .leaves = true,
                              .keep_members = in->keep_members,
                              .seed = in->seed};
  SR_TRY(sr__all_fold_rows(ctx, in->folds, &options.rows));
  SR_TRY(sr__held_new(ctx, &options, &job->trial->held));
  job->trial->widen = SR__WIDEN_MIX;
  SR_TRY(sr__mix_sums_new(ctx, ENTRIES * job->trial->held.leaves, job->folds->units,
                          in->prepared->classes, &job->sums));
  SR_NEW(ctx, job->offset, in->prepared->classes);
  SR_NEW(ctx, job->fold_weight, job->folds->folds);
  SR_NEW(ctx, job->use, job->folds->units);
  job->question.members = in->members;
  bool by_group = job->folds->unit == SR_UNIT_GROUP;
  job->question.thin =
      by_group ? 1.0 / job->folds->units : in->structure->scale / (double)in->structure->view.rows;
  job->plain = !by_group && sr__structure_is_series(in->structure) &&
               in->structure->view.rows <= PLAIN_ROWS &&
               in->structure->scale_careful * PLAIN_SPANS > (double)in->structure->view.rows;
cleanup:
  return status;
}

static sr_status choose_mix(sr_context *ctx, const sr__choose_input *input, const void *options,
                            sr__mix *mix, sr_vote *vote, sr__trial *trial) {
  (void)options;
  sr_status status = SR_OK;
  sr_allocator allocator = sr__allocator(ctx);
  int32_t members[ENTRIES];
  auto_job job = {.in = input, .trial = trial, .folds = sr_folds_get(input->folds)};
  *trial = (sr__trial){0};
  if (input->vote == SR_VOTE_GATED)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "a gated vote weighs the members of one plan; name a plan, as in "
                    "--plan routed"));
  *vote = SR_VOTE_SOFT;
  SR_TRY(open_trial(ctx, &job));
  first_members(&job, members);
  SR_TRY(grow_and_solve(ctx, &job, members));
  SR_TRY(keep_clear_gain(ctx, &job, members));
  SR_TRY(sr__mix_offset(ctx, &job.sums, &job.question, job.weight, job.offset, &job.slope));
  SR_TRY(weigh_folds(ctx, &job));
  SR_TRY(deliver(ctx, &job, mix));
cleanup:
  for (int32_t e = 0; e < ENTRIES; e++) sr__configuration_free(&allocator, &job.plan[e]);
  sr__mix_sums_free(ctx, &job.sums);
  sr__free(ctx, job.offset);
  sr__free(ctx, job.fold_weight);
  sr__free(ctx, job.use);
  if (status != SR_OK) sr__trial_free(ctx, trial);
  return status;
}

const sr__chooser sr__chooser_auto = {
    .about = {"auto", "a mix of bag sizes and leaf sizes, weighted by held-out squared error", NULL,
              0, NULL},
    .choose = choose_mix};
