/* The slowest linear direction, fitted on one half of the rows and applied to the other, so that
 * the direction cannot flatter itself. */
#include <math.h>
#include <stdlib.h>

#include "dependence.h"

enum { MOST_COLUMNS = 128, TILE = 256 };

/* Moments of one block: row sums, x x' and x y' with y the successor of x. */
typedef struct moments {
  double *sum, *same, *next; /* d, d*d, d*d */
  double rows, pairs;
} moments;

typedef struct slow_job {
  const sr__rows *rows;
  const sr__columns *columns;
  const int64_t *chosen; /* columns that take part */
  int64_t d;
  moments *block;          /* a block */
  double *scratch;         /* (TILE + 1) * d a thread */
  const double *direction; /* 2 * d: the one that each half is projected on */
  float *slow;
} slow_job;

/* ---- moments ------------------------------------------------------------------------------ */

static void add_outer(const double *restrict x, const double *restrict y, int64_t d,
                      double *restrict out) {
  for (int64_t a = 0; a < d; a++)
    for (int64_t b = 0; b < d; b++) out[a * d + b] += x[a] * y[b];
}

/* Row-major copy of positions [start, end). */
static void add_tile(const slow_job *job, int64_t start, int64_t end, int64_t limit, double *tile,
                     moments *m) {
  int64_t d = job->d, last = end < limit ? end + 1 : end;
  for (int64_t a = 0; a < d; a++) {
    const float *x = job->columns->value + job->chosen[a] * job->columns->n;
    for (int64_t t = start; t < last; t++) tile[(t - start) * d + a] = (double)x[t];
  }
  for (int64_t t = start; t < end; t++) {
    const double *x = tile + (t - start) * d;
    for (int64_t a = 0; a < d; a++) m->sum[a] += x[a];
    add_outer(x, x, d, m->same);
    if (t + 1 < last) add_outer(x, x + d, d, m->next);
  }
  m->rows += (double)(end - start);
  m->pairs += (double)(last - 1 - start);
}

static sr_status measure_block(sr_context *ctx, void *data, int64_t block, int slot) {
  slow_job *job = data;
  double *tile = job->scratch + (int64_t)slot * (TILE + 1) * job->d;
  for (int64_t p = 0; p < job->rows->piece_count; p++) {
    const sr__piece *piece = job->rows->piece + p;
    if (piece->block != block) continue;
    for (int64_t start = piece->start; start < piece->end; start += TILE) {
      int64_t end = piece->end - start < TILE ? piece->end : start + TILE;
      add_tile(job, start, end, piece->limit, tile, job->block + block);
    }
  }
  return sr__check_interrupt(ctx);
}

/* Adds the blocks of one half, in order, into covariances: `same` about the mean, `next`
 * symmetrized. false where the half is too short. */
static bool half_covariance(const slow_job *job, int half, double *same, double *next) {
  int64_t d = job->d;
  int32_t each = job->rows->blocks / 2;
  double rows = 0.0, pairs = 0.0;
  double *sum = job->scratch; /* free again: no loop runs now */
  memset(sum, 0, (size_t)d * sizeof *sum);
  memset(same, 0, (size_t)(d * d) * sizeof *same);
  memset(next, 0, (size_t)(d * d) * sizeof *next);
  for (int32_t b = half * each; b < (half + 1) * each; b++) {
    const moments *m = job->block + b;
    rows += m->rows;
    pairs += m->pairs;
    for (int64_t a = 0; a < d; a++) sum[a] += m->sum[a];
    for (int64_t i = 0; i < d * d; i++) same[i] += m->same[i];
    for (int64_t i = 0; i < d * d; i++) next[i] += m->next[i];
  }
  if (rows < 2.0 || pairs < 2.0) return false;
  for (int64_t a = 0; a < d; a++)
    for (int64_t b = 0; b <= a; b++) {
      double product = sum[a] / rows * (sum[b] / rows);
      double lagged = 0.5 * (next[a * d + b] + next[b * d + a]) / pairs - product;
      same[a * d + b] = same[b * d + a] = same[a * d + b] / rows - product;
      next[a * d + b] = next[b * d + a] = lagged;
    }
  return true;
}

/* ---- the direction ------------------------------------------------------------------------ */

/* Whitens by the eigenvectors of `same` above a floor, so that collinear features do no harm, and
 * takes the top eigenvector of the whitened `next`. Both matrices are overwritten. */
static sr_status slowest_direction(sr_context *ctx, double *same, double *next, int64_t d,
                                   double *direction, bool *found) {
  sr_status status = SR_OK;
  double *value = NULL, *vector = NULL, *white = NULL, *product = NULL, *top = NULL;
  SR_NEW(ctx, value, d);
  SR_NEW(ctx, vector, d * d);
  SR_NEW(ctx, product, d * d);
  SR_NEW(ctx, white, d * d);
  SR_NEW(ctx, top, d);
  SR_TRY(sr__symmetric_top(ctx, same, (int32_t)d, (int32_t)d, value, vector));
  int64_t kept = 0;
  while (kept < d && value[kept] > 1e-5 * value[0] && value[kept] > 1e-12) kept++;
  *found = kept > 0;
  if (!*found) goto cleanup;
  for (int64_t k = 0; k < kept; k++)
    for (int64_t a = 0; a < d; a++) vector[k * d + a] /= sqrt(value[k]);
  for (int64_t k = 0; k < kept; k++)
    for (int64_t a = 0; a < d; a++) {
      double sum = 0.0;
      for (int64_t b = 0; b < d; b++) sum += next[a * d + b] * vector[k * d + b];
      product[k * d + a] = sum;
    }
  for (int64_t k = 0; k < kept; k++)
    for (int64_t l = 0; l < kept; l++) {
      double sum = 0.0;
      for (int64_t a = 0; a < d; a++) sum += vector[k * d + a] * product[l * d + a];
      white[k * kept + l] = sum;
    }
  SR_TRY(sr__symmetric_top(ctx, white, (int32_t)kept, 1, value, top));
  for (int64_t a = 0; a < d; a++) {
    direction[a] = 0.0;
    for (int64_t k = 0; k < kept; k++) direction[a] += top[k] * vector[k * d + a];
  }
cleanup:
  sr__free(ctx, value);
  sr__free(ctx, vector);
  sr__free(ctx, product);
  sr__free(ctx, white);
  sr__free(ctx, top);
  return status;
}

/* The sign has no meaning: the largest entry is positive, and the halves agree with each other. */
static void fix_signs(double *direction, int64_t d) {
  int64_t largest = 0;
  double agree = 0.0;
  for (int64_t a = 1; a < d; a++)
    if (fabs(direction[a]) > fabs(direction[largest])) largest = a;
  if (direction[largest] < 0.0)
    for (int64_t a = 0; a < d; a++) direction[a] = -direction[a];
  for (int64_t a = 0; a < d; a++) agree += direction[a] * direction[d + a];
  if (agree < 0.0)
    for (int64_t a = 0; a < d; a++) direction[d + a] = -direction[d + a];
}

/* ---- the coordinate ----------------------------------------------------------------------- */

static sr_status project_block(sr_context *ctx, void *data, int64_t block, int slot) {
  (void)slot;
  slow_job *job = data;
  const double *direction = job->direction + (block < job->rows->blocks / 2 ? 0 : job->d);
  for (int64_t p = 0; p < job->rows->piece_count; p++) {
    const sr__piece *piece = job->rows->piece + p;
    if (piece->block != block) continue;
    for (int64_t t = piece->start; t < piece->end; t++) job->slow[t] = 0.0F;
    for (int64_t a = 0; a < job->d; a++) {
      const float *x = job->columns->value + job->chosen[a] * job->columns->n;
      float weight = (float)direction[a];
      for (int64_t t = piece->start; t < piece->end; t++) job->slow[t] += weight * x[t];
    }
  }
  return sr__check_interrupt(ctx);
}

static bool standardize_half(float *x, int64_t count) {
  double sum = 0.0, square = 0.0;
  for (int64_t i = 0; i < count; i++) sum += (double)x[i];
  double mean = sum / (double)count;
  for (int64_t i = 0; i < count; i++) square += ((double)x[i] - mean) * ((double)x[i] - mean);
  double sd = sqrt(square / (double)count);
  if (!(sd > 1e-6)) return false;
  for (int64_t i = 0; i < count; i++) x[i] = (float)(((double)x[i] - mean) / sd);
  return true;
}

/* All columns, or the ones with the largest correlation from row to row where there are many. */
typedef struct ranked_column {
  double correlation;
  int64_t column;
} ranked_column;

static int by_correlation(const void *a, const void *b) {
  const ranked_column *x = a, *y = b;
  if (x->correlation != y->correlation) return x->correlation > y->correlation ? -1 : 1;
  return x->column < y->column ? -1 : x->column > y->column;
}

static sr_status choose_columns(sr_context *ctx, const sr__rows *rows, const sr__columns *columns,
                                int64_t *chosen, int64_t *d) {
  sr_status status = SR_OK;
  ranked_column *ranked = NULL;
  *d = columns->count < MOST_COLUMNS ? columns->count : MOST_COLUMNS;
  SR_NEW(ctx, ranked, columns->count);
  for (int64_t j = 0; j < columns->count; j++) {
    ranked[j] = (ranked_column){0.0, j};
    if (columns->count <= MOST_COLUMNS) continue;
    const float *x = columns->value + j * columns->n;
    for (int64_t p = 0; p < rows->piece_count; p++) {
      const sr__piece *piece = rows->piece + p;
      int64_t end = piece->limit - 1 < piece->end ? piece->limit - 1 : piece->end;
      if (end > piece->start)
        ranked[j].correlation +=
            sr__dot(x + piece->start, x + piece->start + 1, end - piece->start);
    }
  }
  qsort(ranked, (size_t)columns->count, sizeof *ranked, by_correlation);
  for (int64_t a = 0; a < *d; a++) chosen[a] = ranked[a].column;
cleanup:
  sr__free(ctx, ranked);
  return status;
}

/* One allocation holds the moments of all blocks. */
static sr_status new_moments(sr_context *ctx, slow_job *job, double **memory) {
  sr_status status = SR_OK;
  int64_t each = job->d + 2 * job->d * job->d;
  SR_NEW_ZERO(ctx, *memory, each * job->rows->blocks);
  SR_NEW_ZERO(ctx, job->block, job->rows->blocks);
  for (int32_t b = 0; b < job->rows->blocks; b++) {
    double *at = *memory + b * each;
    job->block[b] = (moments){at, at + job->d, at + job->d + job->d * job->d, 0.0, 0.0};
  }
cleanup:
  return status;
}

sr_status sr__slow_coordinate(sr_context *ctx, const sr__rows *rows, const sr__columns *columns,
                              float *slow, bool *found) {
  sr_status status = SR_OK;
  slow_job job = {.rows = rows, .columns = columns, .slow = slow};
  int64_t *chosen = NULL;
  double *memory = NULL, *direction = NULL, *same = NULL, *next = NULL;
  *found = false;
  if (columns->count == 0) goto cleanup;
  SR_NEW(ctx, chosen, columns->count);
  SR_TRY(choose_columns(ctx, rows, columns, chosen, &job.d));
  job.chosen = chosen;
  int64_t d = job.d;
  SR_TRY(new_moments(ctx, &job, &memory));
  SR_NEW(ctx, job.scratch, sr_context_threads(ctx) * (TILE + 1) * d);
  SR_NEW(ctx, direction, 2 * d);
  SR_NEW(ctx, same, d * d);
  SR_NEW(ctx, next, d * d);
  SR_TRY(sr__parallel_for(ctx, rows->blocks, measure_block, &job));
  for (int half = 0; half < 2; half++) {
    bool enough = half_covariance(&job, 1 - half, same, next);
    if (enough) SR_TRY(slowest_direction(ctx, same, next, d, direction + half * d, &enough));
    if (!enough) goto cleanup;
  }
  fix_signs(direction, d);
  job.direction = direction;
  SR_TRY(sr__parallel_for(ctx, rows->blocks, project_block, &job));
  *found =
      standardize_half(slow, rows->cut) && standardize_half(slow + rows->cut, rows->n - rows->cut);
cleanup:
  sr__free(ctx, chosen);
  sr__free(ctx, memory);
  sr__free(ctx, job.block);
  sr__free(ctx, job.scratch);
  sr__free(ctx, direction);
  sr__free(ctx, same);
  sr__free(ctx, next);
  return status;
}
