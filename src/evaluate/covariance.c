/* How alike the members' margins are on held-out rows. */
#include <math.h>

#include "trial.h"

typedef struct margin_sums {
  double *sum, *square; /* per member */
  double *weight;       /* of each member in the vote of the fold */
  double pair, mean, mean_square, rows;
  double own; /* sum over rows of the squared weights: what a pair is not made of */
} margin_sums;

static void add_row(const sr__held *held, const sr__vote_weights *weights, int64_t row,
                    float *answer, margin_sums *m) {
  int32_t label = held->prepared->view->label[held->row[row]], at = 0, classes = held->classes;
  double sum = 0.0, square = 0.0, own = 0.0;
  for (int32_t e = 0; e < held->entries; e++) {
    const double *w = weights->weight + e * held->leaves;
    double part = held->leaves == 2 ? w[0] + w[1] : w[0];
    for (int32_t j = 0; j < held->entry[e].members; j++, at++) {
      if (part <= 1e-6) continue;
      const float *fine = sr__held_answer(held, e, j, 0) + row * classes;
      for (int32_t c = 0; c < classes; c++) answer[c] = (float)(w[0] / part) * fine[c];
      if (held->leaves == 2) {
        const float *coarse = sr__held_answer(held, e, j, 1) + row * classes;
        for (int32_t c = 0; c < classes; c++) answer[c] += (float)(w[1] / part) * coarse[c];
      }
      double margin = sr__share_score(answer, classes, label), each = part / held->entry[e].members;
      m->sum[at] += margin;
      m->square[at] += margin * margin;
      m->weight[at] += each;
      sum += each * margin;
      square += each * each * margin * margin;
      own += each * each;
    }
  }
  m->pair += sum * sum - square;
  m->own += own;
  m->mean += sum;
  m->mean_square += sum * sum;
  m->rows += 1.0;
}

double sr__delivered_squares(const sr__trial *trial) {
  const sr__held *held = &trial->held;
  double total = 0.0;
  for (int32_t f = 0; f < held->folds; f++) {
    for (int32_t e = 0; e < held->entries; e++) {
      const double *w = trial->fold[f].weight + e * held->leaves;
      double part = held->leaves == 2 ? w[0] + w[1] : w[0];
      if (trial->fold[f].delivered[e] > 0) total += part * part / trial->fold[f].delivered[e];
    }
  }
  return total / held->folds;
}

/* Mean over pairs of E[M_i M_j] - E[M_i] E[M_j], members weighing what they weigh in the vote. */
static void conclude(const margin_sums *m, int32_t members, double delivered, sr_evaluation *to) {
  double mean_sum = 0.0, mean_square = 0.0, variance = 0.0, n = m->rows;
  for (int32_t j = 0; j < members; j++) {
    if (m->weight[j] <= 0.0) continue;
    double weight = m->weight[j] / n, mean = m->sum[j] / n;
    mean_sum += weight * mean;
    mean_square += weight * weight * mean * mean;
    variance += weight * (m->square[j] / n - mean * mean);
  }
  double pairs = 1.0 - m->own / n;
  to->judges = members;
  to->variance_of_member = variance;
  if (!(pairs > 1e-9)) return;
  to->covariance = (m->pair / n - (mean_sum * mean_sum - mean_square)) / pairs;
  to->variance_of_margin = to->covariance * (1.0 - delivered) + variance * delivered;
  if (to->variance_of_margin > 0.0) to->effective_members = variance / to->variance_of_margin;
}

sr_status sr__covariance(sr_context *ctx, const sr__trial *trial, sr_evaluation *to) {
  sr_status status = SR_OK;
  const sr__held *held = &trial->held;
  margin_sums m = {0};
  float *answer = NULL;
  int32_t members = 0;
  for (int32_t e = 0; e < held->entries; e++) members += held->entry[e].members;
  SR_NEW_ZERO(ctx, m.sum, members);
  SR_NEW_ZERO(ctx, m.square, members);
  SR_NEW_ZERO(ctx, m.weight, members);
  SR_NEW(ctx, answer, held->classes);
  for (int32_t f = 0; f < held->folds; f++)
    for (int64_t i = held->first[f]; i < held->first[f + 1]; i++)
      add_row(held, &trial->fold[f], i, answer, &m);
  if (m.rows > 0.0) conclude(&m, members, sr__delivered_squares(trial), to);
cleanup:
  sr__free(ctx, m.sum);
  sr__free(ctx, m.square);
  sr__free(ctx, m.weight);
  sr__free(ctx, answer);
  return status;
}

/* ---- members that judge different rows ------------------------------------------------------ */

typedef struct row_sums {
  double *sum, *square; /* of margins, per row */
  int32_t *judges, *index, *vote;
} row_sums;

/* Of one member's margins. */
typedef struct member_margins {
  int64_t rows; /* that it judged */
  double mean, variance;
} member_margins;

/* The margins of one member on the rows that it may judge. */
static sr_status add_member(sr_context *ctx, const sr__judging *judging, int32_t member,
                            row_sums *r, member_margins *own) {
  sr_status status = SR_OK;
  const sr__prepared *p = judging->prepared;
  const int32_t *label = p->view->label;
  int64_t count = 0;
  double sum = 0.0;
  for (int64_t i = 0; i < p->view->rows; i++) {
    if (label[i] < 0 || !sr__may_judge(judging, member, (int32_t)i)) continue;
    r->index[count++] = (int32_t)i;
  }
  *own = (member_margins){.rows = count};
  if (count == 0) return SR_OK;
  SR_TRY(p->learner->predict(ctx, p->encoder, judging->members->member[member],
                             p->learner->training_encoded(p->training),
                             (sr__picked){r->index, count}, (sr__answers){.vote = r->vote}));
  for (int64_t k = 0; k < count; k++) {
    int32_t row = r->index[k];
    double margin = sr__class_score(r->vote[k], label[row]);
    sum += margin;
    r->sum[row] += margin;
    r->square[row] += 1.0;
    r->judges[row]++;
  }
  own->mean = sum / (double)count;
  own->variance = 1.0 - own->mean * own->mean;
cleanup:
  return status;
}

/* Mean over pairs that judged the same row of M_i M_j, minus that of the products of their means.
 */
static void conclude_rows(const row_sums *r, int64_t rows, double mean_pairs, sr_evaluation *to) {
  double pairs = 0.0, product = 0.0, rho_sum = 0.0, rho_square = 0.0, rho_rows = 0.0;
  double judges = 0.0, judged = 0.0;
  for (int64_t i = 0; i < rows; i++) {
    double here = r->judges[i], sum = r->sum[i];
    judges += here;
    judged += here > 0.0;
    if (here < 2.0) continue;
    product += 0.5 * (sum * sum - r->square[i]);
    pairs += 0.5 * here * (here - 1.0);
    rho_sum += sum / here;
    rho_square += sum / here * (sum / here);
    rho_rows += 1.0;
  }
  to->judges = judged > 0.0 ? judges / judged : 0.0;
  if (pairs <= 0.0) return;
  to->covariance = product / pairs - mean_pairs;
  to->variance_of_margin = rho_square / rho_rows - rho_sum / rho_rows * (rho_sum / rho_rows);
  if (to->variance_of_margin > 0.0)
    to->effective_members = to->variance_of_member / to->variance_of_margin;
}

sr_status sr__covariance_of_members(sr_context *ctx, const sr__judging *judging,
                                    sr_evaluation *to) {
  sr_status status = SR_OK;
  int64_t rows = judging->prepared->view->rows;
  row_sums r = {0};
  double sum = 0.0, square = 0.0, variance = 0.0, count = 0.0;
  SR_NEW_ZERO(ctx, r.sum, rows);
  SR_NEW_ZERO(ctx, r.square, rows);
  SR_NEW_ZERO(ctx, r.judges, rows);
  SR_NEW(ctx, r.index, rows);
  SR_NEW(ctx, r.vote, rows);
  for (int32_t j = 0; j < judging->members->count; j++) {
    member_margins own;
    SR_TRY(add_member(ctx, judging, j, &r, &own));
    if (own.rows == 0) continue;
    sum += own.mean;
    square += own.mean * own.mean;
    variance += own.variance;
    count += 1.0;
  }
  if (count < 2.0) goto cleanup;
  to->variance_of_member = variance / count;
  conclude_rows(&r, rows, (sum * sum - square) / (count * (count - 1.0)), to);
cleanup:;
  void *blocks[] = {r.sum, r.square, r.judges, r.index, r.vote};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) sr__free(ctx, blocks[b]);
  return status;
}
