/* The error where the model will be used: held-out losses of every design, weighted so that their
 * distances to the training rows are those of use. No fit is made for it. */
#include <math.h>
#include <stdlib.h>

#include <specroute/stats.h>

#include "core/maths.h"
#include "core/sort.h"
#include "map_use.h"

enum { LEAST_ROWS = 30, LEAST_GROUPS = 3 };
#define WIDEN_USE 1.5

/* Distances in bins: bin k lies behind k of the edges. */
typedef struct binned {
  double edge[SR__USE_BINS - 1];
  double share[SR__USE_BINS]; /* of the places of use */
  int8_t *bin;                /* of each held-out row */
} binned;

static int bin_of(const double *edge, double distance) {
  int k = 0;
  while (k < SR__USE_BINS - 1 && edge[k] < distance) k++;
  return k;
}

static bool is_thin(const sr__use_pool *pool, const binned *b, int k, uint8_t *seen) {
  int64_t rows = 0;
  int32_t groups = 0;
  memset(seen, 0, (size_t)pool->groups);
  for (int64_t i = 0; i < pool->count; i++) {
    if (b->bin[i] != k) continue;
    rows++;
    groups += !seen[pool->group[i]];
    seen[pool->group[i]] = 1;
  }
  return rows < LEAST_ROWS || groups < LEAST_GROUPS;
}

static bool has_share_below(const binned *b, int k) {
  for (int j = 0; j < k; j++)
    if (b->share[j] > 0.0) return true;
  return false;
}

/* A bin that was hardly held out joins its neighbor, the far ones first. */
static void join_thin(const sr__use_pool *pool, binned *b, uint8_t *seen) {
  for (int step = 0; step < 2 * (SR__USE_BINS - 1); step++) {
    int k = step < SR__USE_BINS - 1 ? SR__USE_BINS - 1 - step : step - (SR__USE_BINS - 1);
    int to = has_share_below(b, k) ? k - 1 : k + 1;
    if (to >= SR__USE_BINS || b->share[k] <= 0.0 || !is_thin(pool, b, k, seen)) continue;
    b->share[to] += b->share[k];
    b->share[k] = 0.0;
    for (int64_t i = 0; i < pool->count; i++)
      if (b->bin[i] == k) b->bin[i] = (int8_t)to;
  }
}

static void fill_answer(const sr__use_pool *pool, const binned *b, double level, double *sum,
                        uint8_t *seen, sr__use_answer *a) {
  double rows[SR__USE_BINS] = {0}, mean[SR__USE_BINS] = {0}, total = 0.0, p = 0.0, squares = 0.0;
  for (int64_t i = 0; i < pool->count; i++) {
    rows[b->bin[i]] += 1.0;
    mean[b->bin[i]] += pool->loss[i];
  }
  for (int k = 0; k < SR__USE_BINS; k++) {
    mean[k] /= fmax(rows[k], 1.0);
    if (rows[k] > 0.0) total += b->share[k];
  }
  if (!(total > 0.0)) return;
  for (int k = 0; k < SR__USE_BINS; k++)
    if (rows[k] > 0.0) p += b->share[k] / total * mean[k];
  p = fmin(fmax(p, 1e-4), 1.0 - 1e-4);
  memset(seen, 0, (size_t)pool->groups);
  for (int32_t g = 0; g < pool->groups; g++) sum[g] = 0.0;
  for (int64_t i = 0; i < pool->count; i++) {
    int k = b->bin[i];
    seen[pool->group[i]] = 1;
    sum[pool->group[i]] += b->share[k] / total / rows[k] * (pool->loss[i] - mean[k]);
  }
  double groups = 0.0;
  for (int32_t g = 0; g < pool->groups; g++) {
    groups += seen[g];
    squares += sum[g] * sum[g];
  }
  a->estimate = p;
  a->groups = (int32_t)groups;
  if (groups < 2.0) return;
  double half = sr_student_quantile(0.5 + 0.5 * level, groups - 1.0) *
                sqrt(WIDEN_USE * groups / (groups - 1.0) * squares) / (p * (1.0 - p));
  double middle = sr__log_portable(p / (1.0 - p));
  a->low = 1.0 / (1.0 + sr__exp_portable(half - middle));
  a->high = 1.0 / (1.0 + sr__exp_portable(-half - middle));
}

sr_status sr__match_distances(sr_context *ctx, const sr__use_pool *pool, const double *use,
                              int64_t uses, double level, sr__use_answer *answer) {
  sr_status status = SR_OK;
  binned b = {.bin = NULL};
  double *sorted = NULL, *sum = NULL, nearest = INFINITY, farthest = 0.0;
  uint8_t *seen = NULL;
  *answer = (sr__use_answer){.estimate = NAN, .low = NAN, .high = NAN, .distance = NAN};
  if (uses == 0 || pool->count == 0) return SR_OK;
  SR_NEW(ctx, sorted, uses);
  SR_NEW(ctx, b.bin, pool->count);
  SR_NEW(ctx, sum, pool->groups);
  SR_NEW(ctx, seen, pool->groups);
  memcpy(sorted, use, (size_t)uses * sizeof *use);
  qsort(sorted, (size_t)uses, sizeof *sorted, sr__compare_doubles);
  for (int k = 0; k < SR__USE_BINS - 1; k++)
    b.edge[k] = sr_quantile_sorted(uses, sorted, (k + 1.0) / SR__USE_BINS);
  for (int64_t i = 0; i < pool->count; i++) {
    b.bin[i] = (int8_t)bin_of(b.edge, pool->distance[i]);
    farthest = fmax(farthest, pool->distance[i]);
    nearest = fmin(nearest, pool->distance[i]);
  }
  for (int64_t i = 0; i < uses; i++) {
    b.share[bin_of(b.edge, use[i])] += 1.0 / (double)uses;
    answer->beyond += (use[i] > farthest) / (double)uses;
    answer->within += (use[i] < nearest) / (double)uses;
  }
  answer->distance = sorted[uses / 2];
  join_thin(pool, &b, seen);
  fill_answer(pool, &b, level, sum, seen, answer);
cleanup:
  sr__free(ctx, sorted);
  sr__free(ctx, b.bin);
  sr__free(ctx, sum);
  sr__free(ctx, seen);
  return status;
}
