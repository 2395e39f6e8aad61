/* Wilcoxon, Friedman, Nemenyi, Holm, Spearman. */
#include <math.h>
#include <stdlib.h>

#include "stats.h"

/* ---- Wilcoxon ----------------------------------------------------------------------------- */

typedef struct signed_ranks {
  int64_t count;      /* pairs that enter */
  double *difference; /* those that enter, zeros included under Pratt */
  double *size;       /* |difference| */
  double *rank;
  int64_t *order;
  double ties;   /* sum of t^3 - t */
  int64_t zeros; /* dropped, or ranked and then left out */
} signed_ranks;

static sr_status rank_differences(sr_context *ctx, int64_t count, const double *x, const double *y,
                                  sr_zero_method zeros, signed_ranks *s) {
  sr_status status = SR_OK;
  SR_NEW(ctx, s->difference, count);
  SR_NEW(ctx, s->size, count);
  SR_NEW(ctx, s->rank, count);
  SR_NEW(ctx, s->order, count);
  for (int64_t i = 0; i < count; i++) {
    double difference = y ? x[i] - y[i] : x[i];
    if (!isfinite(difference))
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "pair %lld has a difference that is not finite",
                      (long long)i));
    s->zeros += difference == 0.0;
    if (difference == 0.0 && zeros == SR_ZERO_WILCOX) continue;
    s->difference[s->count] = difference;
    s->size[s->count++] = fabs(difference);
  }
  s->ties = sr__average_ranks(s->count, s->size, s->order, s->rank);
cleanup:
  return status;
}

/* How many of the 2^n sign patterns give each rank sum; ranks are doubled, so that average ranks of
 * ties are whole. Probabilities, because 2^n overflows integers. */
static sr_status exact_tails(sr_context *ctx, const signed_ranks *s, double positive,
                             double *at_most, double *at_least) {
  sr_status status = SR_OK;
  double *chance = NULL;
  int64_t total = 0, reached = 0, observed = (int64_t)llround(2.0 * positive);
  for (int64_t i = 0; i < s->count; i++)
    if (s->difference[i] != 0.0) total += (int64_t)llround(2.0 * s->rank[i]);
  SR_NEW_ZERO(ctx, chance, total + 1);
  chance[0] = 1.0;
  for (int64_t i = 0; i < s->count; i++) {
    if (s->difference[i] == 0.0) continue;
    int64_t step = (int64_t)llround(2.0 * s->rank[i]);
    reached += step;
    for (int64_t sum = reached; sum >= 0; sum--)
      chance[sum] = 0.5 * (chance[sum] + (sum >= step ? chance[sum - step] : 0.0));
  }
  *at_most = *at_least = 0.0;
  for (int64_t sum = 0; sum <= observed; sum++) *at_most += chance[sum];
  for (int64_t sum = total; sum >= observed; sum--) *at_least += chance[sum];
cleanup:
  sr__free(ctx, chance);
  return status;
}

static void normal_tails(const signed_ranks *s, sr_zero_method zeros, sr_wilcoxon *r) {
  double n = (double)s->count, z = zeros == SR_ZERO_PRATT ? (double)s->zeros : 0.0;
  double mean = (n * (n + 1.0) - z * (z + 1.0)) / 4.0;
  double variance = n * (n + 1.0) * (2.0 * n + 1.0) - z * (z + 1.0) * (2.0 * z + 1.0);
  /* The zeros are one group of ties already taken out by the terms above. */
  double ties = s->ties - (z * z * z - z);
  variance = (variance - 0.5 * ties) / 24.0;
  r->z = variance > 0.0 ? (r->rank_sum_positive - mean) / sqrt(variance) : 0.0;
  r->p_less = sr_normal_cdf(r->z);
  r->p_greater = sr_normal_cdf(-r->z);
  r->p = fmin(1.0, 2.0 * sr_normal_cdf(-fabs(r->z)));
}

/* Median of the means of all pairs of differences, each with itself included. */
static sr_status hodges_lehmann(sr_context *ctx, const signed_ranks *s, double *median) {
  enum { MOST_PAIRS_OF = 4000 };
  sr_status status = SR_OK;
  double *mean = NULL;
  int64_t step = 1 + (s->count - 1) / MOST_PAIRS_OF, n = (s->count + step - 1) / step, k = 0;
  SR_NEW(ctx, mean, n * (n + 1) / 2);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i; j < n; j++)
      mean[k++] = 0.5 * (s->difference[i * step] + s->difference[j * step]);
  sr__sort_doubles(mean, k);
  *median = sr_quantile_sorted(k, mean, 0.5);
cleanup:
  sr__free(ctx, mean);
  return status;
}

static sr_tail_method choose_method(const signed_ranks *s, sr_tail_method asked) {
  if (asked != SR_TAIL_AUTO) return asked;
  bool plain = s->ties == 0.0 && s->zeros == 0;
  return plain && s->count <= 50 ? SR_TAIL_EXACT : SR_TAIL_NORMAL;
}

sr_status sr_wilcoxon_test(sr_context *ctx, int64_t count, const double *x, const double *y,
                           sr_zero_method zeros, sr_tail_method method, sr_wilcoxon *result) {
  sr_status status = SR_OK;
  signed_ranks s = {0};
  sr_wilcoxon r = {.p = 1.0, .p_less = 1.0, .p_greater = 1.0};
  if (count < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the signed-rank test needs at least one pair"));
  SR_TRY(rank_differences(ctx, count, x, y, zeros, &s));
  r.used = s.count - (zeros == SR_ZERO_PRATT ? s.zeros : 0);
  r.method = choose_method(&s, method);
  *result = r;
  if (r.used == 0) goto cleanup;
  for (int64_t i = 0; i < s.count; i++) {
    if (s.difference[i] > 0.0) r.rank_sum_positive += s.rank[i];
    if (s.difference[i] < 0.0) r.rank_sum_negative += s.rank[i];
  }
  if (r.method == SR_TAIL_EXACT) {
    SR_TRY(exact_tails(ctx, &s, r.rank_sum_positive, &r.p_less, &r.p_greater));
    r.p = fmin(1.0, 2.0 * fmin(r.p_less, r.p_greater));
  } else {
    normal_tails(&s, zeros, &r);
  }
  SR_TRY(hodges_lehmann(ctx, &s, &r.median_difference));
  *result = r;
cleanup:
  sr__free(ctx, s.difference);
  sr__free(ctx, s.size);
  sr__free(ctx, s.rank);
  sr__free(ctx, s.order);
  return status;
}

/* ---- Friedman and Nemenyi ----------------------------------------------------------------- */

sr_status sr_friedman_test(sr_context *ctx, int64_t datasets, int32_t methods, const double *value,
                           int larger_is_better, double *average_rank, sr_friedman *result) {
  sr_status status = SR_OK;
  double *row = NULL, *rank = NULL, ties = 0.0, squares = 0.0;
  int64_t *order = NULL;
  if (datasets < 1 || methods < 2)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "Friedman's test needs two methods and a data set"));
  SR_NEW(ctx, row, methods);
  SR_NEW(ctx, rank, methods);
  SR_NEW(ctx, order, methods);
  for (int32_t j = 0; j < methods; j++) average_rank[j] = 0.0;
  for (int64_t i = 0; i < datasets; i++) {
    for (int32_t j = 0; j < methods; j++)
      row[j] = larger_is_better ? -value[i * methods + j] : value[i * methods + j];
    ties += sr__average_ranks(methods, row, order, rank);
    for (int32_t j = 0; j < methods; j++) average_rank[j] += rank[j];
  }
  double n = (double)datasets, k = (double)methods;
  for (int32_t j = 0; j < methods; j++) {
    squares += average_rank[j] * average_rank[j];
    average_rank[j] /= n;
  }
  double correction = 1.0 - ties / (n * k * (k * k - 1.0));
  double statistic = 12.0 / (n * k * (k + 1.0)) * squares - 3.0 * n * (k + 1.0);
  result->statistic = correction > 0.0 ? statistic / correction : 0.0;
  result->p = correction > 0.0 ? sr_chi_square_tail(result->statistic, k - 1.0) : 1.0;
cleanup:
  sr__free(ctx, row);
  sr__free(ctx, rank);
  sr__free(ctx, order);
  return status;
}

double sr_nemenyi_critical_difference(int32_t methods, int64_t datasets, double alpha) {
  if (methods < 2 || datasets < 1 || !(alpha > 0.0 && alpha < 1.0)) return NAN;
  double low = 0.0, high = 20.0;
  for (int i = 0; i < 60; i++) {
    double middle = 0.5 * (low + high);
    if (sr_studentized_range_tail(middle, methods) > alpha)
      low = middle;
    else
      high = middle;
  }
  double q = 0.5 * (low + high) / sqrt(2.0);
  return q * sqrt((double)methods * (methods + 1.0) / (6.0 * (double)datasets));
}

/* ---- Holm and Spearman -------------------------------------------------------------------- */

sr_status sr_holm(sr_context *ctx, int64_t count, const double *p, double *adjusted) {
  sr_status status = SR_OK;
  int64_t *order = NULL;
  double *rank = NULL, largest = 0.0;
  SR_NEW(ctx, order, count);
  SR_NEW(ctx, rank, count);
  sr__average_ranks(count, p, order, rank);
  for (int64_t i = 0; i < count; i++) rank[order[i]] = p[order[i]];
  for (int64_t i = 0; i < count; i++) {
    double scaled = fmin(1.0, (double)(count - i) * rank[order[i]]);
    largest = fmax(largest, scaled);
    adjusted[order[i]] = largest;
  }
cleanup:
  sr__free(ctx, order);
  sr__free(ctx, rank);
  return status;
}

static double pearson(int64_t count, const double *x, const double *y) {
  double mean_x = sr_mean(count, x), mean_y = sr_mean(count, y), xx = 0.0, xy = 0.0, yy = 0.0;
  for (int64_t i = 0; i < count; i++) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xx > 0.0 && yy > 0.0 ? fmax(-1.0, fmin(1.0, xy / sqrt(xx * yy))) : NAN;
}

sr_status sr_spearman(sr_context *ctx, int64_t count, const double *x, const double *y,
                      double *correlation, double *p) {
  sr_status status = SR_OK;
  double *rank_x = NULL, *rank_y = NULL;
  if (count < 3)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "a rank correlation needs three pairs, not %lld",
                    (long long)count));
  SR_NEW(ctx, rank_x, count);
  SR_NEW(ctx, rank_y, count);
  SR_TRY(sr_ranks(ctx, count, x, rank_x));
  SR_TRY(sr_ranks(ctx, count, y, rank_y));
  double r = pearson(count, rank_x, rank_y), degrees = (double)(count - 2);
  *correlation = r;
  double rest = (1.0 - r) * (1.0 + r);
  if (isnan(r))
    *p = NAN;
  else
    *p = rest > 0.0 ? 2.0 * sr_student_tail(fabs(r) * sqrt(degrees / rest), degrees) : 0.0;
cleanup:
  sr__free(ctx, rank_x);
  sr__free(ctx, rank_y);
  return status;
}
