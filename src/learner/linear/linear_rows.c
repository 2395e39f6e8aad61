/* Up to as many rows as features. With K = Z Z' fed tile by tile, r the square roots of the
 * weights, G = K + penalty I + level r r' and c = G^-1 t for the centered targets t: W = Z'c;  r is
 * an eigenvector of G, K r being 0, so that P = G^-1 - r r' / (r'r (penalty + level r'r)) belongs
 * to a free intercept: left-out residual of row i c_i / P_ii, of a set S P_SS^-1 c_S. With a level
 * as large as K what is subtracted is small. Without it, P = (K + penalty I)^-1 - r r' / (r'r
 * penalty) is the same on paper and loses all digits at small penalties. The upper triangle keeps
 * K while the lower one is factored in place: one square of doubles serves every penalty. */
#include <math.h>

#include "linear_work.h"

typedef struct rows_work {
  sr__linear_work *w;
  int64_t stride; /* of a feature in a tile */
  int64_t widest; /* features of the widest tile */
  bool doubles;   /* products in doubles: small problems */
  bool held;
  float *tile;        /* widest x stride; all features where they are held as floats */
  double *wide_tile;  /* the same in doubles, where products are */
  float *panel;       /* n x SR__GRAM_PANEL */
  double *gram;       /* n x n */
  double *diagonal;   /* of K */
  double *penalty;    /* the same for every row */
  double *set_square; /* of the largest set */
  double *set_rows;   /* SET_CHUNK rows of its columns of the inverse factor */
  double *set_value;  /* largest set x targets */
  double *dual;       /* targets x n: c */
  double excess;      /* G^-1 minus this times r r' is the inverse without the intercept */
} rows_work;

enum { SET_CHUNK = 1024, SMALL_VALUES = 1 << 22 /* features x rows */ };

static bool in_doubles(int64_t rows, int64_t features) { return rows * features <= SMALL_VALUES; }

int64_t sr__linear_rows_bytes(const sr__linear_size *size, int64_t memory, bool *held) {
  int64_t n = size->rows, set = size->largest_set, targets = size->targets;
  int64_t stride = sr__linear_stride(n);
  bool doubles = in_doubles(n, size->features);
  int64_t bytes = n * n * 8 + size->widest * stride * (doubles ? 12 : 4) +
                  (doubles ? 0 : n * SR__GRAM_PANEL * 4) + 6 * n * targets * 8 +
                  size->features * (targets * 8 + 16) +
                  (set * set + SET_CHUNK * set + set * targets) * 8;
  int64_t features = size->features * stride * (doubles ? 8 : 4);
  *held = bytes + features <= memory;
  return bytes + (*held ? features : 0);
}

static sr_status new_rows_work(rows_work *r) {
  sr_status status = SR_OK;
  sr__linear_work *w = r->w;
  sr_context *ctx = w->ctx;
  int64_t n = w->n, set = w->problem->left_out ? w->largest_set : 0;
  r->stride = sr__linear_stride(n);
  r->widest = sr__linear_widest_tile(w->problem->maker);
  r->doubles = in_doubles(n, w->p);
  w->report.bytes = sr__linear_rows_bytes(&(sr__linear_size){n, w->p, r->widest, set, w->targets},
                                          w->problem->memory, &r->held);
  w->report.held = r->held;
  SR_NEW_ZERO(ctx, r->gram, n * n);
  SR_NEW(ctx, r->diagonal, n);
  SR_NEW(ctx, r->penalty, n);
  SR_NEW(ctx, r->tile, (r->held && !r->doubles ? w->p : r->widest) * r->stride);
  if (r->doubles) SR_NEW(ctx, r->wide_tile, (r->held ? w->p : r->widest) * r->stride);
  if (!r->doubles) SR_NEW(ctx, r->panel, n * SR__GRAM_PANEL);
  SR_NEW(ctx, r->set_square, set * set);
  SR_NEW(ctx, r->set_rows, SET_CHUNK * set);
  SR_NEW(ctx, r->set_value, set * w->targets);
  SR_NEW(ctx, r->dual, n * w->targets);
cleanup:
  return status;
}

static void free_rows_work(rows_work *r) {
  void *owned[] = {r->tile,    r->wide_tile,  r->panel,    r->gram,      r->diagonal,
                   r->penalty, r->set_square, r->set_rows, r->set_value, r->dual};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) sr__free(r->w->ctx, owned[i]);
}

/* Mean 0 and deviation 1, times the roots of the weights; into `wide` where it is not NULL. */
static void standardize(sr__linear_work *w, int64_t feature, float *x, double *wide) {
  double mean = 0.0, square = 0.0;
  for (int64_t i = 0; i < w->n; i++) mean += w->root[i] * w->root[i] * (double)x[i];
  mean /= w->total;
  for (int64_t i = 0; i < w->n; i++) {
    double deviation = w->root[i] * ((double)x[i] - mean);
    square += deviation * deviation;
  }
  /* A constant feature has only the rounding of its mean. */
  double scale =
      square > 1e-14 * w->total * (1.0 + mean * mean) ? 1.0 / sqrt(square / w->total) : 0.0;
  w->mean[feature] = mean;
  w->scale[feature] = scale;
  if (wide) {
    for (int64_t i = 0; i < w->n; i++) wide[i] = w->root[i] * ((double)x[i] - mean) * scale;
  } else {
    for (int64_t i = 0; i < w->n; i++) x[i] = (float)(w->root[i] * ((double)x[i] - mean) * scale);
  }
}

/* Where tile number `tile` stands once it is standardized. */
static int64_t tile_offset(const rows_work *r, int64_t tile) {
  return r->held ? r->w->problem->maker->tile_begin[tile] * r->stride : 0;
}

/* The features of a tile that was made, as floats or as doubles. */
static sr__float_rows float_tile(const rows_work *r, int64_t tile) {
  const int64_t *begin = r->w->problem->maker->tile_begin + tile;
  return (sr__float_rows){r->tile + tile_offset(r, tile), begin[1] - begin[0], r->stride};
}
static sr__double_rows double_tile(const rows_work *r, int64_t tile) {
  const int64_t *begin = r->w->problem->maker->tile_begin + tile;
  return (sr__double_rows){r->wide_tile + tile_offset(r, tile), begin[1] - begin[0], r->stride};
}

static sr_status make_tile(rows_work *r, int64_t tile) {
  sr_status status = SR_OK;
  sr__linear_work *w = r->w;
  const sr__feature_maker *maker = w->problem->maker;
  int64_t begin = maker->tile_begin[tile], end = maker->tile_begin[tile + 1];
  float *x = r->tile + (r->doubles ? 0 : tile_offset(r, tile));
  SR_TRY(sr__check_interrupt(w->ctx));
  SR_TRY(maker->make(w->ctx, maker->data, tile, (sr__made_rows){0, w->n, x, r->stride}));
  for (int64_t f = begin; f < end; f++) {
    int64_t at = (f - begin) * r->stride;
    standardize(w, f, x + at, r->doubles ? r->wide_tile + tile_offset(r, tile) + at : NULL);
  }
cleanup:
  return status;
}

static sr_status fill_gram(rows_work *r) {
  sr_status status = SR_OK;
  sr__linear_work *w = r->w;
  const sr__feature_maker *maker = w->problem->maker;
  for (int64_t tile = 0; tile < maker->tiles; tile++) {
    SR_TRY(make_tile(r, tile));
    if (r->doubles)
      SR_TRY(sr__gram_add_doubles(w->ctx, w->n, double_tile(r, tile), 1.0, r->gram));
    else
      SR_TRY(sr__gram_add_floats(w->ctx, w->n, float_tile(r, tile), 1.0, r->gram, r->panel));
    sr__progress(w->ctx, "features", tile + 1, maker->tiles);
  }
  for (int64_t i = 0; i < w->n; i++) r->diagonal[i] = r->gram[i * w->n + i];
cleanup:
  return status;
}

/* ---- one penalty --------------------------------------------------------------------------- */

static void leave_rows_out(const rows_work *r, const double *dual, double *residual) {
  int64_t n = r->w->n;
  for (int64_t i = 0; i < n; i++) {
    const double *column = r->gram + i * n;
    double inverse = -r->excess * r->w->root[i] * r->w->root[i];
    for (int64_t j = i; j < n; j++) inverse += column[j] * column[j];
    for (int32_t t = 0; t < r->w->targets; t++) residual[t * n + i] = dual[t * n + i] / inverse;
  }
}

/* Rows [first, first + rows) of the set's columns of the inverse factor, zero above its diagonal.
 */
static void gather_columns(const rows_work *r, const int32_t *row, int64_t size, int64_t first,
                           int64_t rows) {
  for (int64_t k = 0; k < size; k++) {
    const double *column = r->gram + (int64_t)row[k] * r->w->n + first;
    double *to = r->set_rows + k * SET_CHUNK;
    int64_t above = row[k] - first < 0 ? 0 : row[k] - first < rows ? row[k] - first : rows;
    memset(to, 0, (size_t)above * sizeof *to);
    memcpy(to + above, column + above, (size_t)(rows - above) * sizeof *to);
  }
}

static sr_status leave_set_out(rows_work *r, int64_t s, const double *dual, double *residual,
                               bool *definite) {
  sr_status status = SR_OK;
  sr_context *ctx = r->w->ctx;
  const sr__left_out *out = r->w->problem->left_out;
  const int32_t *row = out->row + out->begin[s];
  int64_t n = r->w->n, size = out->begin[s + 1] - out->begin[s], least = n;
  memset(r->set_square, 0, (size_t)(size * size) * sizeof *r->set_square);
  for (int64_t k = 0; k < size; k++)
    if (row[k] < least) least = row[k];
  for (int64_t first = least; first < n; first += SET_CHUNK) {
    int64_t rows = n - first < SET_CHUNK ? n - first : SET_CHUNK;
    gather_columns(r, row, size, first, rows);
    SR_TRY(sr__gram_add_columns(ctx, size, rows, r->set_rows, SET_CHUNK, r->set_square));
  }
  for (int64_t j = 0; j < size; j++)
    for (int64_t i = j; i < size; i++)
      r->set_square[j * size + i] -= r->excess * r->w->root[row[i]] * r->w->root[row[j]];
  for (int32_t t = 0; t < r->w->targets; t++)
    for (int64_t k = 0; k < size; k++) r->set_value[t * size + k] = dual[t * n + row[k]];
  SR_TRY(sr__dense_factor(ctx, size, r->set_square, definite));
  if (!*definite) goto cleanup;
  SR_TRY(sr__dense_factor_solve(ctx, size, r->w->targets, r->set_square, r->set_value));
  for (int32_t t = 0; t < r->w->targets; t++)
    for (int64_t k = 0; k < out->judged[s]; k++)
      residual[t * n + row[k]] = r->set_value[t * size + k];
cleanup:
  return status;
}

static sr_status at_penalty(sr__linear_work *w, void *data, double penalty, double *dual,
                            double *residual, double *error) {
  sr_status status = SR_OK;
  rows_work *r = data;
  const sr__left_out *out = w->problem->left_out;
  double trace = 0.0;
  bool definite = true;
  *error = INFINITY;
  SR_TRY(sr__check_interrupt(w->ctx));
  for (int64_t i = 0; i < w->n; i++) {
    trace += r->diagonal[i];
    r->penalty[i] = penalty;
  }
  sr__penalized matrix = {.side = w->n,
                          .gram = r->gram,
                          .diagonal = r->diagonal,
                          .penalty = r->penalty,
                          .level = (trace + penalty) / w->total,
                          .direction = w->root};
  r->excess = 1.0 / (w->total * (trace + 2.0 * penalty));
  w->report.factorizations++;
  SR_TRY(sr__linear_factor(w->ctx, &matrix, &definite));
  if (!definite) goto cleanup;
  memcpy(dual, w->target, (size_t)(w->n * w->targets) * sizeof *dual);
  SR_TRY(sr__dense_factor_solve(w->ctx, w->n, w->targets, r->gram, dual));
  SR_TRY(sr__dense_factor_invert(w->ctx, w->n, r->gram));
  if (!out) leave_rows_out(r, dual, residual);
  for (int64_t s = 0; out && s < out->sets; s++) {
    SR_TRY(leave_set_out(r, s, dual, residual, &definite));
    if (!definite) goto cleanup;
  }
  *error = sr__linear_mean_square(w, residual);
  if (!isfinite(*error)) *error = INFINITY;
cleanup:
  return status;
}

/* ---- the weights --------------------------------------------------------------------------- */

static sr_status project(rows_work *r) {
  sr_status status = SR_OK;
  sr__linear_work *w = r->w;
  const sr__feature_maker *maker = w->problem->maker;
  float *dual = NULL, *weights = NULL;
  SR_NEW(w->ctx, dual, w->n * w->targets);
  SR_NEW(w->ctx, weights, r->widest * w->targets);
  for (int64_t i = 0; i < w->n * w->targets; i++) dual[i] = (float)r->dual[i];
  for (int64_t tile = 0; tile < maker->tiles; tile++) {
    int64_t begin = maker->tile_begin[tile], features = maker->tile_begin[tile + 1] - begin;
    double *to = w->weights + begin * w->targets;
    if (!r->held) SR_TRY(make_tile(r, tile));
    if (r->doubles) {
      SR_TRY(sr__gram_project_doubles(w->ctx, w->n, w->targets, double_tile(r, tile), r->dual, to));
    } else {
      SR_TRY(sr__gram_project_floats(w->ctx, w->n, w->targets, float_tile(r, tile), dual, weights));
      for (int64_t i = 0; i < features * w->targets; i++) to[i] = (double)weights[i];
    }
  }
cleanup:
  sr__free(w->ctx, dual);
  sr__free(w->ctx, weights);
  return status;
}

sr_status sr__linear_by_rows(sr__linear_work *w, double *penalty) {
  sr_status status = SR_OK;
  rows_work r = {.w = w};
  int best = 0;
  SR_TRY(new_rows_work(&r));
  SR_TRY(fill_gram(&r));
  SR_TRY(sr__linear_walk(w, at_penalty, &r, w->n * w->targets, r.dual, &best));
  SR_TRY(project(&r));
  *penalty = sr__linear_penalty(best);
cleanup:
  free_rows_work(&r);
  return status;
}
