/* Block LOBPCG on one level: iterates in double, residuals and search directions in single
 * precision. Products with the search directions P are never formed: their part of the
 * Rayleigh-Ritz matrices follows from the previous step's. */
#include <math.h>

#include "slices.h"

enum { BASIS_MAX = 3 * SR__BLOCK_MAX };

typedef struct block_pass {
  const sr__level *level;
  double *const *x;
  float *const *p;
  float *const *z;
  int size, with_p, frozen;
  int own;         /* the vector the pass is about */
  double value;    /* its eigenvalue */
  const float *in; /* its preconditioned residual */
  float *r;
  const double *shift; /* what makes z orthogonal to constants */
  const double *mix;   /* basis x size coefficients */
} block_pass;

/* ---- kernels ------------------------------------------------------------------------------ */

/* Sums x_own' L x_j and x_own' D x_j for j <= own, then 1' D x_own. */
static inline void start_gram_chunk(const block_pass *pass, int64_t chunk, const bool narrow) {
  const sr__level *level = pass->level;
  const float *mass_of = sr__level_mass(level);
  sr__d4 a[SR__BLOCK_MAX] = {{0}}, b[SR__BLOCK_MAX] = {{0}}, ones = {0};
  int32_t end = sr__chunk_end(level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__LANES) {
    sr__d8 lx = sr__slice_product_double(level, narrow, pass->x[pass->own], s);
    sr__d8 mass = sr__d8_from(sr__f8_load(mass_of + s));
    sr__d8 own = sr__d8_load(pass->x[pass->own] + s);
    sr__d8 dx = {mass.low * own.low, mass.high * own.high};
    for (int j = 0; j <= pass->own; j++) {
      sr__d8 other = sr__d8_load(pass->x[j] + s);
      a[j] = sr__d4_dot(a[j], lx, other);
      b[j] = sr__d4_dot(b[j], dx, other);
    }
    ones += dx.low + dx.high;
  }
  double *sum = level->partial + chunk * SR__SUMS;
  for (int j = 0; j <= pass->own; j++) {
    sum[2 * j] = sr__d4_sum(a[j]);
    sum[2 * j + 1] = sr__d4_sum(b[j]);
  }
  sum[2 * pass->own + 2] = sr__d4_sum(ones);
}

static sr_status start_gram(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const block_pass *pass = data;
  SR__BY_WIDTH(start_gram_chunk, pass, chunk);
  return SR_OK;
}

/* r := L x - value D x of vector `own`; sums x' L x and x' D x. */
static inline void residual_chunk(const block_pass *pass, int64_t chunk, const bool narrow) {
  const sr__level *level = pass->level;
  const float *mass_of = sr__level_mass(level);
  const double *x = pass->x[pass->own];
  sr__d4 energy = {0}, norm = {0};
  int32_t end = sr__chunk_end(level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__LANES) {
    sr__d8 lx = sr__slice_product_double(level, narrow, x, s), own = sr__d8_load(x + s);
    sr__d8 mass = sr__d8_from(sr__f8_load(mass_of + s));
    sr__d8 dx = {mass.low * own.low, mass.high * own.high};
    sr__d8 r = {lx.low - pass->value * dx.low, lx.high - pass->value * dx.high};
    sr__f8_store(pass->r + s, sr__f8_from(r));
    energy = sr__d4_dot(energy, lx, own);
    norm = sr__d4_dot(norm, dx, own);
  }
  double *sum = level->partial + chunk * SR__SUMS;
  sum[0] = sr__d4_sum(energy);
  sum[1] = sr__d4_sum(norm);
}

static sr_status residual(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const block_pass *pass = data;
  SR__BY_WIDTH(residual_chunk, pass, chunk);
  return SR_OK;
}

/* Dot products of L z and D z, z = z_own, with every vector of the basis that is known by now:
 * x_j, z_j for j <= own, p_j, frozen ones. Then 1' D z and r' z. `size` is a constant where it is
 * inlined. */
static inline void gram_chunk(const block_pass *pass, int64_t chunk, const bool narrow,
                              const int size, const int own, const int p_count, const int frozen) {
  const sr__level *level = pass->level;
  const float *mass_of = sr__level_mass(level);
  sr__d4 a[BASIS_MAX] = {{0}}, b[BASIS_MAX] = {{0}}, ones = {0}, rz = {0};
  int32_t end = sr__chunk_end(level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__LANES) {
    sr__d8 lz = sr__d8_from(sr__slice_product(level, narrow, pass->in, s));
    sr__d8 z = sr__d8_from(sr__f8_load(pass->in + s));
    sr__d8 mass = sr__d8_from(sr__f8_load(mass_of + s));
    sr__d8 dz = {mass.low * z.low, mass.high * z.high};
    for (int j = 0; j < size; j++) {
      sr__d8 v = sr__d8_load(pass->x[j] + s);
      a[j] = sr__d4_dot(a[j], lz, v);
      b[j] = sr__d4_dot(b[j], dz, v);
    }
    for (int j = 0; j <= own; j++) {
      sr__d8 v = j == own ? z : sr__d8_from(sr__f8_load(pass->z[j] + s));
      a[size + j] = sr__d4_dot(a[size + j], lz, v);
      b[size + j] = sr__d4_dot(b[size + j], dz, v);
    }
    for (int j = 0; j < p_count; j++) {
      sr__d8 v = sr__d8_from(sr__f8_load(pass->p[j] + s));
      a[2 * size + j] = sr__d4_dot(a[2 * size + j], lz, v);
      b[2 * size + j] = sr__d4_dot(b[2 * size + j], dz, v);
    }
    for (int j = 0; j < frozen; j++) {
      sr__d8 v = sr__d8_load(pass->x[size + j] + s);
      a[3 * size + j] = sr__d4_dot(a[3 * size + j], lz, v);
      b[3 * size + j] = sr__d4_dot(b[3 * size + j], dz, v);
    }
    ones += dz.low + dz.high;
    rz = sr__d4_dot(rz, z, sr__d8_from(sr__f8_load(pass->r + s)));
  }
  double *sum = level->partial + chunk * SR__SUMS;
  const int known = 2 * size + p_count + frozen;
  for (int j = 0; j < known; j++) {
    sum[2 * j] = sr__d4_sum(a[j]);
    sum[2 * j + 1] = sr__d4_sum(b[j]);
  }
  sum[2 * known] = sr__d4_sum(ones);
  sum[2 * known + 1] = sr__d4_sum(rz);
}

static inline void gram_by_size(const block_pass *pass, int64_t chunk, const bool narrow) {
  if (pass->size == 1 && pass->with_p && pass->frozen == 1)
    gram_chunk(pass, chunk, narrow, 1, 0, 1, 1);
  else if (pass->size == 1 && pass->with_p && pass->frozen == 0)
    gram_chunk(pass, chunk, narrow, 1, 0, 1, 0);
  else if (pass->size == 2 && !pass->with_p)
    gram_chunk(pass, chunk, narrow, 2, pass->own, 0, 0);
  else if (pass->size == 2 && pass->frozen == 0)
    gram_chunk(pass, chunk, narrow, 2, pass->own, 2, 0);
  else
    gram_chunk(pass, chunk, narrow, pass->size, pass->own, pass->with_p ? pass->size : 0,
               pass->frozen);
}

static sr_status gram(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const block_pass *pass = data;
  SR__BY_WIDTH(gram_by_size, pass, chunk);
  return SR_OK;
}

/* p_j := the part of the new x_j outside the old x; x_j := the new one. Coefficient of basis
 * vector i in x_j is mix[i * size + j]. */
static inline void update_chunk(const block_pass *pass, int64_t chunk, const int size,
                                const int p_count, const int frozen) {
  const sr__level *level = pass->level;
  int32_t end = sr__chunk_end(level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__LANES) {
    sr__d8 x[SR__BLOCK_MAX], z[SR__BLOCK_MAX], p[SR__BLOCK_MAX];
    for (int j = 0; j < size; j++) {
      x[j] = sr__d8_load(pass->x[j] + s);
      z[j] = sr__d8_from(sr__f8_load(pass->z[j] + s));
      z[j].low -= pass->shift[j];
      z[j].high -= pass->shift[j];
      if (j < p_count) p[j] = sr__d8_from(sr__f8_load(pass->p[j] + s));
    }
    for (int j = 0; j < size; j++) {
      sr__d8 step = {{0}, {0}}, kept = {{0}, {0}};
      for (int i = 0; i < size; i++) {
        double of_x = pass->mix[i * size + j], of_z = pass->mix[(size + i) * size + j];
        kept.low += of_x * x[i].low;
        kept.high += of_x * x[i].high;
        step.low += of_z * z[i].low;
        step.high += of_z * z[i].high;
        if (i >= p_count) continue;
        double of_p = pass->mix[(2 * size + i) * size + j];
        step.low += of_p * p[i].low;
        step.high += of_p * p[i].high;
      }
      for (int i = 0; i < frozen; i++) {
        double of_x = pass->mix[(3 * size + i) * size + j];
        sr__d8 v = sr__d8_load(pass->x[size + i] + s);
        step.low += of_x * v.low;
        step.high += of_x * v.high;
      }
      if (pass->p[j]) sr__f8_store(pass->p[j] + s, sr__f8_from(step));
      kept.low += step.low;
      kept.high += step.high;
      sr__d8_store(pass->x[j] + s, kept);
    }
  }
}

static sr_status update(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const block_pass *pass = data;
  if (pass->size == 1)
    update_chunk(pass, chunk, 1, pass->with_p ? 1 : 0, pass->frozen);
  else if (pass->size == 2)
    update_chunk(pass, chunk, 2, pass->with_p ? 2 : 0, pass->frozen);
  else
    update_chunk(pass, chunk, pass->size, pass->with_p ? pass->size : 0, pass->frozen);
  return SR_OK;
}

/* A sweep of Jacobi on a vector that need not be exact yet. */
static const float DAMPING = 0.7f;

static inline sr__f8 smoothed(const sr__level *level, const bool narrow, const float *v,
                              int32_t s) {
  sr__f8 step = sr__by_degree(level, sr__slice_product(level, narrow, v, s), s);
  return sr__f8_load(v + s) - DAMPING * step;
}

/* r := x_own in single precision. */
static sr_status to_single(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const block_pass *pass = data;
  int32_t end = sr__chunk_end(pass->level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__LANES)
    sr__f8_store(pass->r + s, sr__f8_from(sr__d8_load(pass->x[pass->own] + s)));
  return SR_OK;
}

/* y := a sweep on r. */
static inline void smooth_first_chunk(const block_pass *pass, int64_t chunk, const bool narrow) {
  int32_t end = sr__chunk_end(pass->level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__LANES)
    sr__f8_store(pass->level->y + s, smoothed(pass->level, narrow, pass->r, s));
}

static sr_status smooth_first(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const block_pass *pass = data;
  SR__BY_WIDTH(smooth_first_chunk, pass, chunk);
  return SR_OK;
}

/* x_own := a sweep on y. */
static inline void smooth_second_chunk(const block_pass *pass, int64_t chunk, const bool narrow) {
  int32_t end = sr__chunk_end(pass->level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__LANES)
    sr__d8_store(pass->x[pass->own] + s,
                 sr__d8_from(smoothed(pass->level, narrow, pass->level->y, s)));
}

static sr_status smooth_second(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const block_pass *pass = data;
  SR__BY_WIDTH(smooth_second_chunk, pass, chunk);
  return SR_OK;
}

/* x := (x - shift) mix for the start. */
static sr_status mix_start(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const block_pass *pass = data;
  int size = pass->size;
  for (int32_t s = sr__chunk_begin(chunk); s < sr__chunk_end(pass->level, chunk); s++) {
    double x[SR__BLOCK_MAX];
    for (int j = 0; j < size; j++) x[j] = pass->x[j][s] - pass->shift[j];
    for (int j = 0; j < size; j++) {
      double sum = 0;
      for (int i = 0; i < size; i++) sum += pass->mix[i * size + j] * x[i];
      pass->x[j][s] = sum;
    }
  }
  return SR_OK;
}

/* ---- Rayleigh-Ritz ------------------------------------------------------------------------ */

typedef struct ritz {
  int size;   /* of the block */
  int frozen; /* guards that are no longer improved */
  int basis;  /* vectors in the basis: x, z and perhaps p and the frozen guards */
  double a[BASIS_MAX * BASIS_MAX], b[BASIS_MAX * BASIS_MAX];
  double mix[BASIS_MAX * SR__BLOCK_MAX]; /* basis x size */
  double value[SR__BLOCK_MAX];
} ritz;

/* Solves the swapped pencil B c = theta A c with lambda = 1 / theta, scaled to unit energy: stable
 * for tiny lambda. Uses the first `basis` vectors; false where they depend on each other. */
static bool solve_ritz(ritz *t, int basis) {
  double a[BASIS_MAX * BASIS_MAX], b[BASIS_MAX * BASIS_MAX], scale[BASIS_MAX];
  double theta[SR__BLOCK_MAX], c[BASIS_MAX * SR__BLOCK_MAX];
  for (int i = 0; i < basis; i++) {
    if (!(t->a[i * BASIS_MAX + i] > 0)) return false;
    scale[i] = 1 / sqrt(t->a[i * BASIS_MAX + i]);
  }
  for (int i = 0; i < basis; i++) {
    for (int j = 0; j < basis; j++) {
      a[i * basis + j] = t->a[i * BASIS_MAX + j] * scale[i] * scale[j];
      b[i * basis + j] = t->b[i * BASIS_MAX + j] * scale[i] * scale[j];
    }
  }
  if (!sr__small_pencil(basis, b, a, t->size, theta, c)) return false;
  for (int j = 0; j < t->size; j++) {
    if (!(theta[j] > 0)) return false;
    t->value[j] = 1 / theta[j];
    /* c' A c = 1, so c' B c = theta: unit D-norm needs 1 / sqrt(theta). The sign keeps x. */
    double norm = 1 / sqrt(theta[j]);
    if (c[j * basis + j] < 0) norm = -norm;
    for (int i = 0; i < basis; i++) t->mix[i * t->size + j] = c[j * basis + i] * scale[i] * norm;
  }
  t->basis = basis;
  return true;
}

static void set_both(double *matrix, int i, int j, double value) {
  matrix[i * BASIS_MAX + j] = matrix[j * BASIS_MAX + i] = value;
}

/* Products of the new x and p with the frozen guards, kept aside until the rest is carried over. */
static void carry_frozen(const ritz *t, const double *matrix, double *with_x, double *with_p) {
  for (int i = 0; i < t->size; i++) {
    for (int f = 0; f < t->frozen; f++) {
      double all = 0, left = 0;
      for (int u = 0; u < t->basis; u++) {
        double term = t->mix[u * t->size + i] * matrix[u * BASIS_MAX + 3 * t->size + f];
        all += term;
        if (u >= t->size) left += term;
      }
      with_x[i * t->frozen + f] = all;
      with_p[i * t->frozen + f] = left;
    }
  }
}

/* The part of both matrices that belongs to the new x and p, from the old ones and the mix. */
static void carry_over(ritz *t, double *matrix) {
  int size = t->size, basis = t->basis;
  double xx[SR__BLOCK_MAX * SR__BLOCK_MAX], xp[SR__BLOCK_MAX * SR__BLOCK_MAX];
  double pp[SR__BLOCK_MAX * SR__BLOCK_MAX];
  double xf[SR__BLOCK_MAX * SR__BLOCK_MAX], pf[SR__BLOCK_MAX * SR__BLOCK_MAX];
  carry_frozen(t, matrix, xf, pf);
  for (int i = 0; i < size; i++) {
    for (int j = 0; j < size; j++) {
      double all = 0, left = 0, both = 0;
      for (int u = 0; u < basis; u++) {
        double row = 0, row_p = 0;
        for (int v = 0; v < basis; v++) {
          double term = matrix[u * BASIS_MAX + v] * t->mix[v * size + j];
          row += term;
          if (v >= size) row_p += term;
        }
        all += t->mix[u * size + i] * row;
        left += t->mix[u * size + i] * row_p;
        if (u >= size) both += t->mix[u * size + i] * row_p;
      }
      xx[i * size + j] = all;
      xp[i * size + j] = left;
      pp[i * size + j] = both;
    }
  }
  for (int i = 0; i < size; i++) {
    for (int j = 0; j < size; j++) {
      matrix[i * BASIS_MAX + j] = xx[i * size + j];
      matrix[i * BASIS_MAX + 2 * size + j] = xp[i * size + j];
      matrix[(2 * size + j) * BASIS_MAX + i] = xp[i * size + j];
      matrix[(2 * size + i) * BASIS_MAX + 2 * size + j] = pp[i * size + j];
    }
    for (int f = 0; f < t->frozen; f++) {
      set_both(matrix, i, 3 * size + f, xf[i * t->frozen + f]);
      set_both(matrix, 2 * size + i, 3 * size + f, pf[i * t->frozen + f]);
    }
  }
}

/* ---- the iteration ------------------------------------------------------------------------ */

/* A vector lifted from a coarse level is piecewise constant; two cheap sweeps take its steps
 * away. */
static sr_status smooth_block(sr_context *ctx, const sr__level *level, sr__block *block) {
  sr_status status = SR_OK;
  for (int i = 0; i < block->size; i++) {
    block_pass pass = {.level = level, .x = block->x, .own = i, .r = block->r};
    SR_TRY(sr__run(ctx, level, to_single, &pass, NULL, 0));
    SR_TRY(sr__run(ctx, level, smooth_first, &pass, NULL, 0));
    SR_TRY(sr__run(ctx, level, smooth_second, &pass, NULL, 0));
  }
cleanup:
  return status;
}

/* Makes the block D-orthonormal, orthogonal to constants and sorted by Rayleigh quotient. */
static sr_status start_block(sr_context *ctx, const sr__hierarchy *h, int k, sr__block *block,
                             ritz *t) {
  sr_status status = SR_OK;
  const sr__level *level = &h->level[k];
  double sums[SR__SUMS], shift[SR__BLOCK_MAX];
  block_pass pass = {
      .level = level, .x = block->x, .size = block->size, .shift = shift, .mix = t->mix};
  for (int i = 0; i < block->size; i++) {
    pass.own = i;
    SR_TRY(sr__run(ctx, level, start_gram, &pass, sums, 2 * i + 3));
    shift[i] = sums[2 * i + 2] / h->volume;
    for (int j = 0; j <= i; j++) {
      set_both(t->a, i, j, sums[2 * j]);
      set_both(t->b, i, j, sums[2 * j + 1] - shift[i] * shift[j] * h->volume);
    }
  }
  t->size = block->size;
  while (!solve_ritz(t, t->size)) {
    if (--t->size == 0)
      SR_TRY(sr__fail(ctx, SR_ERROR_INTERNAL, "the start vector of the eigensolver is constant"));
  }
  block->size = pass.size = t->size;
  SR_TRY(sr__run(ctx, level, mix_start, &pass, NULL, 0));
  carry_over(t, t->a);
  carry_over(t, t->b);
cleanup:
  return status;
}

/* r' T r / lambda estimates the relative error of lambda up to 1 / (1 - lambda / lambda_next),
 * where lambda_next belongs to the first vector that is not carried. The carried ones say only that
 * it lies above; frozen guards count as carried. */
static const double ERROR_FACTOR = 2;

/* The preconditioned residual of vector i and its rows of the Rayleigh-Ritz matrices. */
static sr_status expand(sr_context *ctx, sr__hierarchy *h, int k, sr__block *block, ritz *t, int i,
                        bool with_p, double *shift) {
  sr_status status = SR_OK;
  sr__level *level = &h->level[k];
  int size = block->size, known = 2 * size + (with_p ? size + t->frozen : 0);
  double sums[SR__SUMS];
  block_pass pass = {.level = level,
                     .x = block->x,
                     .p = block->p,
                     .z = block->z,
                     .size = size,
                     .with_p = with_p,
                     .frozen = t->frozen,
                     .own = i,
                     .value = t->value[i],
                     .r = block->r};
  SR_TRY(sr__run(ctx, level, residual, &pass, sums, 2));
  t->a[i * BASIS_MAX + i] = sums[0];
  t->b[i * BASIS_MAX + i] = sums[1];
  SR_TRY(sr__cycle(ctx, h, k, block->r));
  /* The last one stays where the cycle left it. */
  if (i < size - 1) memcpy(block->z[i], level->z, (size_t)level->slots * sizeof(float));
  pass.in = level->z;
  SR_TRY(sr__run(ctx, level, gram, &pass, sums, 2 * known + 2));
  shift[i] = sums[2 * known] / h->volume;
  block->error[i] = ERROR_FACTOR * sums[2 * known + 1] / t->value[i];
  for (int j = 0; j < known; j++) {
    if (j >= size && j < 2 * size && j - size > i) continue;
    double constants = j >= size && j < 2 * size ? shift[i] * shift[j - size] * h->volume : 0;
    set_both(t->a, size + i, j, sums[2 * j]);
    set_both(t->b, size + i, j, sums[2 * j + 1] - constants);
  }
cleanup:
  return status;
}

/* What is left after a step, as far as the last two steps tell: values fall like a geometric
 * series. The estimate from the residual was taken before the step and may be so much larger. */
static const double SLOWEST = 0.95, RESIDUAL_SLACK = 5;
/* In a cluster of more values than the block has vectors, falls shrink and then rise again. Once
 * one has, the next small fall is no sign of the end. */
static const double RATE_AFTER_RISE = 0.9;

static void estimate_errors(sr__block *block, const ritz *t, const double *before, double *fall,
                            bool *rose) {
  for (int i = 0; i < block->size; i++) {
    double last = fall[i], now = (before[i] - t->value[i]) / t->value[i];
    if (now < 0) now = 0; /* rounding: nothing left to fall */
    fall[i] = now;
    if (!(last > 0)) continue;
    if (now > last) rose[i] = true;
    double rate = now / last < SLOWEST ? now / last : SLOWEST;
    if (rose[i] && rate < RATE_AFTER_RISE) rate = RATE_AFTER_RISE;
    double left = now * rate / (1 - rate), bound = block->error[i] / RESIDUAL_SLACK;
    block->error[i] = left > bound ? left : bound;
  }
}

/* On the finest level a guard with nearly the same value must be right too. Where both are one
 * value, what is given is one of the plane that both span; where they are two of a whole cluster, a
 * value seems to settle long before it does, and the guard shows that it has not. */
static const double NEAR_VALUE = 1e-2;

static bool block_converged(const sr__block *block, const ritz *t, double tolerance) {
  int must = block->wanted < block->size ? block->wanted : block->size;
  if (block->may_freeze && must < block->size &&
      t->value[must] - t->value[must - 1] < NEAR_VALUE * t->value[must - 1])
    must++;
  for (int i = 0; i < must; i++) {
    if (!(block->error[i] <= tolerance)) return false;
  }
  return true;
}

/* Guard vectors need no more work once the wanted ones are apart from them by far more than the
 * error of any. They stay in the basis as they are: that takes their part out of the others. */
static const double FREEZE = 2, CLEAR_GAP = 1e-3;

static bool can_freeze(const sr__block *block, const ritz *t) {
  int size = block->wanted;
  if (!block->may_freeze || size >= block->size) return false;
  double gap = (t->value[size] - t->value[size - 1]) / t->value[size - 1];
  for (int i = 0; i < block->size; i++) {
    if (block->error[i] > gap / FREEZE) return false;
  }
  return gap >= CLEAR_GAP;
}

static void freeze_guards(sr__block *block, ritz *t) {
  int old = block->size, size = block->wanted;
  double *matrices[] = {t->a, t->b};
  for (int m = 0; m < 2; m++) {
    double from[BASIS_MAX * BASIS_MAX];
    int place[BASIS_MAX], count = 0;
    memcpy(from, matrices[m], sizeof from);
    /* x, p and the guards; products with z come with the next step. */
    for (int i = 0; i < size; i++) place[count++] = i;
    for (int i = 0; i < size; i++) place[count++] = 0;
    for (int i = 0; i < size; i++) place[count++] = 2 * old + i;
    for (int i = size; i < old; i++) place[count++] = i;
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < count; j++)
        matrices[m][i * BASIS_MAX + j] = from[place[i] * BASIS_MAX + place[j]];
    }
  }
  for (int i = size; i < old; i++) block->value[i] = t->value[i];
  block->size = t->size = size;
  t->frozen = old - size;
}

/* Guards that stay get directions of their own. */
static sr_status add_directions(sr_context *ctx, sr__block *block) {
  sr_status status = SR_OK;
  for (int i = 0; i < block->size; i++) {
    if (!block->p[i]) SR_NEW_ZERO(ctx, block->p[i], block->stride);
  }
cleanup:
  return status;
}

sr_status sr__lobpcg(sr_context *ctx, sr__hierarchy *h, int k, sr__block *block, double tolerance,
                     int64_t max_iterations) {
  sr_status status = SR_OK;
  ritz *t = NULL;
  double shift[SR__BLOCK_MAX], before[SR__BLOCK_MAX], fall[SR__BLOCK_MAX] = {0};
  bool with_p = false, rose[SR__BLOCK_MAX] = {false};
  SR_NEW_ZERO(ctx, t, 1);
  if (block->lifted) SR_TRY(smooth_block(ctx, &h->level[k], block));
  SR_TRY(start_block(ctx, h, k, block, t));
  block->converged = false;
  for (block->iterations = 0; block->iterations < max_iterations && !block->converged;) {
    SR_TRY(sr__check_interrupt(ctx));
    int size = block->size;
    for (int i = 0; i < size; i++) SR_TRY(expand(ctx, h, k, block, t, i, with_p, shift));
    memcpy(before, t->value, sizeof before);
    if (!solve_ritz(t, with_p ? 3 * size + t->frozen : 2 * size)) {
      with_p = false;
      t->frozen = 0;
      if (!solve_ritz(t, 2 * size)) { /* nothing left to gain in this precision */
        block->converged = block_converged(block, t, tolerance);
        break;
      }
    }
    estimate_errors(block, t, before, fall, rose);
    block->converged = block_converged(block, t, tolerance);
    bool freeze = can_freeze(block, t);
    if (!freeze && !block->converged) SR_TRY(add_directions(ctx, block));
    float *z[SR__BLOCK_MAX];
    for (int i = 0; i < size; i++) z[i] = i < size - 1 ? block->z[i] : h->level[k].z;
    block_pass pass = {.level = &h->level[k],
                       .x = block->x,
                       .p = block->p,
                       .z = z,
                       .size = size,
                       .with_p = with_p,
                       .frozen = t->frozen,
                       .shift = shift,
                       .mix = t->mix};
    SR_TRY(sr__run(ctx, &h->level[k], update, &pass, NULL, 0));
    carry_over(t, t->a);
    carry_over(t, t->b);
    with_p = true;
    block->iterations++;
    if (freeze) freeze_guards(block, t);
  }
  for (int i = 0; i < block->size; i++) block->value[i] = t->value[i];
cleanup:
  sr__free(ctx, t);
  return status;
}
