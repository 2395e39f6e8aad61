/* More rows than features. A = sum of weight (x - shift)(x - shift)' is fed by chunks of rows; with
 * d the mean of x - shift, A - total d d' is centered, and with v the variances G = A - total d d'
 * + penalty diag(v),  G w = b is the ridge on standardized features without scaling the matrix. The
 * penalty is walked by generalized cross-validation, which needs A, b and the trace of G^-1 diag(v)
 * alone. Where sets of rows are left out together, the walk looks at every fifth set instead,
 * before its rows are added. Left-out residuals at the chosen penalty come from a second pass: with
 * e the residuals and H the hat matrix, (I - H_SS)^-1 e_S. Of a set S of more rows than features
 * the rows are taken out of A instead, and added again. */
#include <math.h>

#include "linear_work.h"

enum {
  CHUNK = 512,        /* rows at a time */
  SMALL_SIDE = 512,   /* features up to which products are doubles */
  JUDGE_EVERY = 5,    /* sets that the walk looks at */
  JUDGE_CHUNK = 128,  /* rows that are judged at a time */
  LEAST_JUDGED = 1000 /* rows */
};
#define MOST_JUDGE_WORK 1e12 /* rows x features^2 of the second pass */

typedef struct features_work {
  sr__linear_work *w;
  bool doubles, held;
  int64_t widest, set; /* features of the widest tile; rows of the largest set that is judged */
  float *all;          /* n x p, where features are held */
  float *tile;         /* widest x CHUNK */
  float *x;            /* CHUNK x p: rows as they are */
  float *panel;        /* p x SR__GRAM_PANEL */
  double *wide;        /* CHUNK x p */
  double *gram;        /* p x p: A */
  double *diagonal;    /* of A */
  double *shift, *sum; /* sum of weight (x - shift) */
  double *offset;      /* sum / total: d */
  double *variance, *penalty;
  double *product; /* targets x p: sum of weight y (x - shift) */
  double *cross;   /* targets x p: b, centered */
  double *target_sum, *target_square;
  double total;        /* weight of the rows that were added */
  int64_t rows;        /* that were added */
  int32_t *list;       /* n: scratch for lists of rows */
  uint8_t *apart;      /* n: rows of the sets that the walk looks at */
  double *solution;    /* targets x p */
  double *lifted;      /* p x rows that are judged together */
  double *hat, *error; /* of these */
} features_work;

/* ---- memory -------------------------------------------------------------------------------- */

static int64_t judged_together(int64_t largest_set) {
  return largest_set > JUDGE_CHUNK ? largest_set : JUDGE_CHUNK;
}

int64_t sr__linear_features_bytes(const sr__linear_size *size, int64_t memory, bool *held) {
  int64_t n = size->rows, p = size->features, targets = size->targets;
  int64_t set = judged_together(size->largest_set), features = n * p * 4;
  bool doubles = p <= SMALL_SIDE;
  int64_t bytes = p * p * 8 + p * CHUNK * (doubles ? 12 : 4) + size->widest * CHUNK * 4 +
                  (doubles ? 0 : p * SR__GRAM_PANEL * 4) + p * (8 + 5 * targets) * 8 +
                  (p * set + set * (set + targets)) * 8 + n * (5 + 3 * targets * 8);
  *held = bytes + features <= memory;
  return bytes + (*held ? features : 0);
}

/* Whether set s is left out by taking its rows out of the matrix. */
static bool takes_rows_away(const features_work *f, int64_t s) {
  const sr__left_out *out = f->w->problem->left_out;
  return out->begin[s + 1] - out->begin[s] > f->w->p;
}

static sr_status new_features_work(features_work *f) {
  sr_status status = SR_OK;
  sr__linear_work *w = f->w;
  sr_context *ctx = w->ctx;
  int64_t n = w->n, p = w->p, targets = w->targets;
  f->widest = sr__linear_widest_tile(w->problem->maker);
  f->doubles = p <= SMALL_SIDE;
  const sr__left_out *out = w->problem->left_out;
  for (int64_t s = 0; out && s < out->sets; s++)
    if (out->begin[s + 1] - out->begin[s] > f->set && !takes_rows_away(f, s))
      f->set = out->begin[s + 1] - out->begin[s];
  int64_t set = judged_together(f->set);
  w->report.bytes =
      sr__linear_features_bytes(&(sr__linear_size){n, p, f->widest, f->set, w->targets},
                                w->problem->memory, &f->held);
  w->report.held = f->held;
  if (f->held) SR_NEW(ctx, f->all, n * p);
  SR_NEW(ctx, f->tile, f->widest * CHUNK);
  SR_NEW(ctx, f->x, CHUNK * p);
  if (f->doubles) SR_NEW(ctx, f->wide, CHUNK * p);
  if (!f->doubles) SR_NEW(ctx, f->panel, p * SR__GRAM_PANEL);
  SR_NEW_ZERO(ctx, f->gram, p * p);
  SR_NEW_ZERO(ctx, f->diagonal, p);
  SR_NEW_ZERO(ctx, f->shift, p);
  SR_NEW_ZERO(ctx, f->sum, p);
  SR_NEW(ctx, f->offset, p);
  SR_NEW(ctx, f->variance, p);
  SR_NEW(ctx, f->penalty, p);
  SR_NEW_ZERO(ctx, f->product, p * targets);
  SR_NEW(ctx, f->cross, p * targets);
  SR_NEW_ZERO(ctx, f->target_sum, targets);
  SR_NEW_ZERO(ctx, f->target_square, targets);
  SR_NEW(ctx, f->list, n);
  SR_NEW_ZERO(ctx, f->apart, n);
  SR_NEW(ctx, f->solution, p * targets);
  SR_NEW(ctx, f->lifted, p * set);
  SR_NEW(ctx, f->hat, set * set);
  SR_NEW(ctx, f->error, set * targets);
cleanup:
  return status;
}

static void free_features_work(features_work *f) {
  void *owned[] = {f->all,      f->tile,   f->x,          f->panel,  f->wide,          f->gram,
                   f->diagonal, f->shift,  f->sum,        f->offset, f->variance,      f->penalty,
                   f->product,  f->cross,  f->target_sum, f->list,   f->target_square, f->apart,
                   f->solution, f->lifted, f->hat,        f->error};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) sr__free(f->w->ctx, owned[i]);
}

/* ---- rows of features ---------------------------------------------------------------------- */

/* Features of rows row[0 .. count), count <= CHUNK, into x (count x p). Blocks of
 * eight rows that stand together are made together. */
static sr_status make_rows(features_work *f, const int32_t *row, int64_t count, float *x) {
  sr_status status = SR_OK;
  const sr__feature_maker *maker = f->w->problem->maker;
  int64_t p = f->w->p;
  for (int64_t i = 0, end; i < count; i = end) {
    int64_t first = row[i] / 8 * 8, last = first + 8;
    for (end = i;
         end < count && row[end] >= first && row[end] < last + 8 && row[end] < first + CHUNK; end++)
      if (row[end] >= last) last += 8;
    int64_t rows = last < maker->rows ? last - first : maker->rows - first;
    SR_TRY(sr__check_interrupt(f->w->ctx));
    for (int64_t t = 0; t < maker->tiles; t++) {
      int64_t begin = maker->tile_begin[t], features = maker->tile_begin[t + 1] - begin;
      SR_TRY(maker->make(f->w->ctx, maker->data, t, (sr__made_rows){first, rows, f->tile, CHUNK}));
      for (int64_t q = i; q < end; q++)
        for (int64_t k = 0; k < features; k++)
          x[q * p + begin + k] = f->tile[k * CHUNK + row[q] - first];
    }
  }
cleanup:
  return status;
}

static sr_status get_rows(features_work *f, const int32_t *row, int64_t count, float *x) {
  int64_t p = f->w->p;
  if (!f->held) return make_rows(f, row, count, x);
  for (int64_t i = 0; i < count; i++) memcpy(x + i * p, f->all + row[i] * p, (size_t)p * sizeof *x);
  return SR_OK;
}

static sr_status hold_features(features_work *f) {
  sr_status status = SR_OK;
  int64_t n = f->w->n;
  for (int64_t i = 0; i < n; i++) f->list[i] = (int32_t)i;
  for (int64_t first = 0; f->held && first < n; first += CHUNK) {
    int64_t count = n - first < CHUNK ? n - first : CHUNK;
    SR_TRY(make_rows(f, f->list + first, count, f->all + first * f->w->p));
  }
cleanup:
  return status;
}

/* ---- the matrix ---------------------------------------------------------------------------- */

/* Adds `count` rows in f->x, which become root (x - shift); sign -1 takes them away. */
static sr_status add_rows(features_work *f, const int32_t *row, int64_t count, double sign) {
  sr_status status = SR_OK;
  const sr__linear_work *w = f->w;
  int64_t p = w->p, n = w->n;
  for (int64_t i = 0; i < count; i++) {
    float *x = f->x + i * p;
    double root = w->root[row[i]], weight = sign * root * root;
    for (int64_t k = 0; k < p; k++) {
      double deviation = (double)x[k] - f->shift[k];
      f->sum[k] += weight * deviation;
      if (f->doubles) f->wide[i * p + k] = root * deviation;
      for (int32_t t = 0; t < w->targets; t++)
        f->product[t * p + k] += weight * w->problem->target[t * n + row[i]] * deviation;
      x[k] = (float)(root * deviation);
    }
    for (int32_t t = 0; t < w->targets; t++) {
      double y = w->problem->target[t * n + row[i]];
      f->target_sum[t] += weight * y;
      f->target_square[t] += weight * y * y;
    }
    f->total += weight;
  }
  /* A factor may stand where the diagonal was. */
  for (int64_t k = 0; k < p; k++) f->gram[k * p + k] = f->diagonal[k];
  f->rows += sign > 0.0 ? count : -count;
  if (f->doubles)
    SR_TRY(sr__gram_add_doubles(w->ctx, p, (sr__double_rows){f->wide, count, p}, sign, f->gram));
  else
    SR_TRY(
        sr__gram_add_floats(w->ctx, p, (sr__float_rows){f->x, count, p}, sign, f->gram, f->panel));
  for (int64_t k = 0; k < p; k++) f->diagonal[k] = f->gram[k * p + k];
cleanup:
  return status;
}

/* All rows whose mark is `apart`. The first chunk of all gives the shift. */
static sr_status add_marked(features_work *f, uint8_t apart) {
  sr_status status = SR_OK;
  int64_t n = f->w->n, p = f->w->p, count = 0;
  for (int64_t i = 0; i < n; i++) {
    if (f->apart[i] == apart) f->list[count++] = (int32_t)i;
    if (count < CHUNK && (i + 1 < n || count == 0)) continue;
    SR_TRY(sr__check_interrupt(f->w->ctx));
    SR_TRY(get_rows(f, f->list, count, f->x));
    for (int64_t k = 0; f->rows == 0 && k < p; k++) {
      double sum = 0.0;
      for (int64_t q = 0; q < count; q++) sum += (double)f->x[q * p + k];
      f->shift[k] = (double)(float)(sum / (double)count);
    }
    SR_TRY(add_rows(f, f->list, count, 1.0));
    count = 0;
    sr__progress(f->w->ctx, "features", i + 1, n);
  }
cleanup:
  return status;
}

/* Means, centered products and, where they are not to be kept, variances of the rows in A. */
static void center(features_work *f, bool keep_variance) {
  sr__linear_work *w = f->w;
  for (int64_t k = 0; k < w->p; k++) {
    double d = f->sum[k] / f->total, variance = f->diagonal[k] / f->total - d * d;
    w->mean[k] = f->shift[k] + d;
    f->offset[k] = d;
    /* A constant feature has only the rounding of its mean. */
    bool constant = keep_variance ? f->variance[k] == 0.0
                                  : !(variance > 1e-14 * (1.0 + w->mean[k] * w->mean[k]));
    if (!keep_variance) f->variance[k] = constant ? 0.0 : variance;
    for (int32_t t = 0; t < w->targets; t++) {
      double b = f->product[t * w->p + k] - d * f->target_sum[t];
      f->cross[t * w->p + k] = constant ? 0.0 : b;
    }
  }
}

/* The factor of G; `solution` gets w. Constant features stand alone with weight 0. */
static sr_status solve(features_work *f, double penalty, double *solution, bool *definite) {
  sr_status status = SR_OK;
  sr__linear_work *w = f->w;
  for (int64_t k = 0; k < w->p; k++)
    f->penalty[k] = f->variance[k] > 0.0 ? penalty * f->variance[k] : 1.0 + f->diagonal[k];
  w->report.factorizations++;
  sr__penalized matrix = {.side = w->p,
                          .gram = f->gram,
                          .diagonal = f->diagonal,
                          .penalty = f->penalty,
                          .level = -f->total,
                          .direction = f->offset};
  SR_TRY(sr__linear_factor(w->ctx, &matrix, definite));
  if (!*definite) goto cleanup;
  memcpy(solution, f->cross, (size_t)(w->p * w->targets) * sizeof *solution);
  SR_TRY(sr__dense_factor_solve(w->ctx, w->p, w->targets, f->gram, solution));
cleanup:
  return status;
}

/* ---- choosing the penalty ------------------------------------------------------------------- */

static sr_status cross_validate(sr__linear_work *w, void *data, double penalty, double *solution,
                                double *residual, double *error) {
  sr_status status = SR_OK;
  features_work *f = data;
  double freedom = 1.0, sum = 0.0; /* 1: the intercept */
  bool definite = true;
  (void)residual;
  *error = INFINITY;
  SR_TRY(sr__check_interrupt(w->ctx));
  SR_TRY(solve(f, penalty, solution, &definite));
  if (!definite) goto cleanup;
  SR_TRY(sr__dense_factor_invert(w->ctx, w->p, f->gram));
  for (int64_t k = 0; k < w->p; k++) {
    const double *column = f->gram + k * w->p;
    double inverse = 0.0;
    if (f->variance[k] == 0.0) continue;
    for (int64_t j = k; j < w->p; j++) inverse += column[j] * column[j];
    freedom += 1.0 - penalty * f->variance[k] * inverse;
  }
  for (int32_t t = 0; t < w->targets; t++) {
    const double *b = f->cross + t * w->p, *x = solution + t * w->p;
    sum += f->target_square[t] - f->target_sum[t] * f->target_sum[t] / f->total;
    for (int64_t k = 0; k < w->p; k++) sum -= b[k] * x[k] + penalty * f->variance[k] * x[k] * x[k];
  }
  double left = 1.0 - freedom / (double)f->rows;
  if (left > 0.0) *error = sum / f->total / w->targets / (left * left);
cleanup:
  return status;
}

/* root (y - score) of `count` rows in f->x, for each target. */
static void find_errors(const features_work *f, const int32_t *row, int64_t count,
                        const double *solution, double *error, int64_t stride) {
  const sr__linear_work *w = f->w;
  for (int32_t t = 0; t < w->targets; t++)
    for (int64_t i = 0; i < count; i++) {
      double score = f->target_sum[t] / f->total;
      const float *x = f->x + i * w->p;
      for (int64_t k = 0; k < w->p; k++)
        score += solution[t * w->p + k] * ((double)x[k] - w->mean[k]);
      error[t * stride + i] = w->root[row[i]] * (w->problem->target[t * w->n + row[i]] - score);
    }
}

/* Judged rows of the sets that stand apart. */
static sr_status validate(sr__linear_work *w, void *data, double penalty, double *solution,
                          double *residual, double *error) {
  sr_status status = SR_OK;
  features_work *f = data;
  const sr__left_out *out = w->problem->left_out;
  double sum = 0.0, weight = 0.0;
  bool definite = true;
  *error = INFINITY;
  for (int64_t i = 0; i < w->n * w->targets; i++) residual[i] = NAN;
  SR_TRY(solve(f, penalty, solution, &definite));
  if (!definite) goto cleanup;
  for (int64_t s = 0; s < out->sets; s += JUDGE_EVERY)
    for (int64_t k = 0; k < out->judged[s]; k += JUDGE_CHUNK) {
      const int32_t *row = out->row + out->begin[s] + k;
      int64_t count = out->judged[s] - k < JUDGE_CHUNK ? out->judged[s] - k : JUDGE_CHUNK;
      SR_TRY(get_rows(f, row, count, f->x));
      find_errors(f, row, count, solution, f->error, JUDGE_CHUNK);
      for (int64_t i = 0; i < count; i++) {
        weight += w->root[row[i]] * w->root[row[i]];
        for (int32_t t = 0; t < w->targets; t++) {
          double e = f->error[t * JUDGE_CHUNK + i];
          residual[t * w->n + row[i]] = e;
          sum += e * e;
        }
      }
    }
  *error = weight > 0.0 ? sum / weight / w->targets : INFINITY;
cleanup:
  return status;
}

/* ---- left-out residuals --------------------------------------------------------------------- */

/* Columns of `lifted`: L^-1 root (x - mean), for `count` rows from f->x. */
static sr_status lift(features_work *f, const int32_t *row, int64_t count, double *lifted) {
  const sr__linear_work *w = f->w;
  for (int64_t i = 0; i < count; i++)
    for (int64_t k = 0; k < w->p; k++)
      lifted[i * w->p + k] =
          f->variance[k] > 0.0 ? w->root[row[i]] * ((double)f->x[i * w->p + k] - w->mean[k]) : 0.0;
  return sr__dense_lower_times(w->ctx, w->p, count, f->gram, lifted);
}

static sr_status leave_rows_out(features_work *f, const double *solution) {
  sr_status status = SR_OK;
  sr__linear_work *w = f->w;
  int64_t n = w->n, p = w->p, step = 1;
  double most = MOST_JUDGE_WORK / (double)p / (double)p;
  if (most < LEAST_JUDGED) most = LEAST_JUDGED;
  if ((double)n > most) step = (int64_t)ceil((double)n / most);
  for (int64_t i = 0; i < n * w->targets; i++) w->residual[i] = NAN;
  for (int64_t i = 0, count = 0; i < n; i += step) {
    f->list[count++] = (int32_t)i;
    if (count < JUDGE_CHUNK && i + step < n) continue;
    SR_TRY(get_rows(f, f->list, count, f->x));
    find_errors(f, f->list, count, solution, f->error, JUDGE_CHUNK);
    SR_TRY(lift(f, f->list, count, f->lifted));
    for (int64_t q = 0; q < count; q++) {
      double root = w->root[f->list[q]], left = 1.0 - root * root / f->total;
      for (int64_t k = 0; k < p; k++) left -= f->lifted[q * p + k] * f->lifted[q * p + k];
      for (int32_t t = 0; t < w->targets; t++)
        w->residual[t * n + f->list[q]] = f->error[t * JUDGE_CHUNK + q] / fmax(left, 1e-12);
    }
    count = 0;
  }
cleanup:
  return status;
}

static sr_status leave_set_out(features_work *f, int64_t s, const double *solution) {
  sr_status status = SR_OK;
  sr__linear_work *w = f->w;
  const sr__left_out *out = w->problem->left_out;
  const int32_t *row = out->row + out->begin[s];
  int64_t size = out->begin[s + 1] - out->begin[s], n = w->n;
  bool definite = true;
  for (int64_t i = 0; i < size; i += JUDGE_CHUNK) {
    int64_t count = size - i < JUDGE_CHUNK ? size - i : JUDGE_CHUNK;
    SR_TRY(get_rows(f, row + i, count, f->x));
    find_errors(f, row + i, count, solution, f->error + i, size);
    SR_TRY(lift(f, row + i, count, f->lifted + i * w->p));
  }
  memset(f->hat, 0, (size_t)(size * size) * sizeof *f->hat);
  SR_TRY(sr__gram_add_columns(w->ctx, size, w->p, f->lifted, w->p, f->hat));
  for (int64_t j = 0; j < size; j++)
    for (int64_t i = j; i < size; i++)
      f->hat[j * size + i] = (i == j ? 1.0 : 0.0) - f->hat[j * size + i] -
                             w->root[row[i]] * w->root[row[j]] / f->total;
  SR_TRY(sr__dense_factor(w->ctx, size, f->hat, &definite));
  if (!definite)
    SR_TRY(sr__fail(w->ctx, SR_ERROR_DATA,
                    "%lld rows cannot be left out together: the others do not determine a ridge; "
                    "use smaller parts",
                    (long long)size));
  SR_TRY(sr__dense_factor_solve(w->ctx, size, w->targets, f->hat, f->error));
  for (int32_t t = 0; t < w->targets; t++)
    for (int64_t i = 0; i < out->judged[s]; i++)
      w->residual[t * n + row[i]] = f->error[t * size + i];
cleanup:
  return status;
}

/* Adds the rows of a set, or takes them away. */
static sr_status move_set(features_work *f, int64_t s, double sign) {
  sr_status status = SR_OK;
  const sr__left_out *out = f->w->problem->left_out;
  for (int64_t i = out->begin[s]; i < out->begin[s + 1]; i += CHUNK) {
    int64_t count = out->begin[s + 1] - i < CHUNK ? out->begin[s + 1] - i : CHUNK;
    SR_TRY(get_rows(f, out->row + i, count, f->x));
    SR_TRY(add_rows(f, out->row + i, count, sign));
  }
cleanup:
  return status;
}

/* Leaves the matrix as it was and its factor destroyed. */
static sr_status leave_large_set_out(features_work *f, int64_t s, double penalty) {
  sr_status status = SR_OK;
  sr__linear_work *w = f->w;
  const sr__left_out *out = w->problem->left_out;
  bool definite = false;
  SR_TRY(move_set(f, s, -1.0));
  center(f, true);
  if (f->rows >= 1) SR_TRY(solve(f, penalty, f->solution, &definite));
  if (!definite)
    SR_TRY(sr__fail(w->ctx, SR_ERROR_DATA,
                    "%lld of %lld rows cannot be left out together: the others do not determine a "
                    "ridge; use smaller parts",
                    (long long)(out->begin[s + 1] - out->begin[s]), (long long)w->n));
  for (int64_t k = 0; k < out->judged[s]; k += JUDGE_CHUNK) {
    const int32_t *row = out->row + out->begin[s] + k;
    int64_t count = out->judged[s] - k < JUDGE_CHUNK ? out->judged[s] - k : JUDGE_CHUNK;
    SR_TRY(get_rows(f, row, count, f->x));
    find_errors(f, row, count, f->solution, f->error, JUDGE_CHUNK);
    for (int32_t t = 0; t < w->targets; t++)
      for (int64_t i = 0; i < count; i++)
        w->residual[t * w->n + row[i]] = f->error[t * JUDGE_CHUNK + i];
  }
  SR_TRY(move_set(f, s, 1.0));
  center(f, true);
cleanup:
  return status;
}

/* The penalty; afterwards all rows are in the matrix. */
static sr_status choose_penalty(features_work *f, double *penalty) {
  sr_status status = SR_OK;
  sr__linear_work *w = f->w;
  const sr__left_out *out = w->problem->left_out;
  bool sets = out && out->sets > 1;
  int best = 0;
  for (int64_t s = 0; sets && s < out->sets; s += JUDGE_EVERY)
    for (int64_t i = out->begin[s]; i < out->begin[s + 1]; i++) f->apart[out->row[i]] = 1;
  SR_TRY(add_marked(f, 0));
  if (f->rows < 2)
    SR_TRY(sr__fail(w->ctx, SR_ERROR_DATA,
                    "every fifth of %lld sets that are left out holds nearly all of %lld rows; use "
                    "smaller parts",
                    (long long)out->sets, (long long)w->n));
  center(f, false);
  SR_TRY(sr__linear_walk(w, sets ? validate : cross_validate, f, w->p * w->targets, f->solution,
                         &best));
  *penalty = sr__linear_penalty(best);
  if (sets) SR_TRY(add_marked(f, 1));
  center(f, false);
cleanup:
  return status;
}

sr_status sr__linear_by_features(sr__linear_work *w, double *penalty) {
  sr_status status = SR_OK;
  features_work f = {.w = w};
  const sr__left_out *out = w->problem->left_out;
  bool definite = true;
  SR_TRY(new_features_work(&f));
  SR_TRY(hold_features(&f));
  SR_TRY(choose_penalty(&f, penalty));
  for (int64_t s = 0; out && s < out->sets; s++)
    if (takes_rows_away(&f, s)) SR_TRY(leave_large_set_out(&f, s, *penalty));
  SR_TRY(solve(&f, *penalty, f.solution, &definite));
  if (definite) SR_TRY(sr__dense_factor_invert(w->ctx, w->p, f.gram));
  if (!definite)
    SR_TRY(sr__fail(w->ctx, SR_ERROR_DATA,
                    "a ridge of %lld rows and %lld features could not be solved at penalty %g; "
                    "look for values of very different size",
                    (long long)w->n, (long long)w->p, *penalty));
  if (!out) SR_TRY(leave_rows_out(&f, f.solution));
  for (int64_t s = 0; out && s < out->sets; s++)
    if (!takes_rows_away(&f, s)) SR_TRY(leave_set_out(&f, s, f.solution));
  for (int64_t k = 0; k < w->p; k++) {
    w->scale[k] = f.variance[k] > 0.0 ? 1.0 : 0.0;
    for (int32_t t = 0; t < w->targets; t++)
      w->weights[k * w->targets + t] = f.solution[t * w->p + k];
  }
cleanup:
  free_features_work(&f);
  return status;
}
