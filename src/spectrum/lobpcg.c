/* Block LOBPCG on one level: iterates in double, residuals and search directions in single
 * precision. Products with the search directions P are never formed: their part of the
 * Rayleigh-Ritz matrices follows from the previous step's. */
#include <math.h>

#include "lobpcg_kernel.h"

/* ---- Rayleigh-Ritz ------------------------------------------------------------------------ */

typedef struct ritz {
  int size;   /* of the block */
  int frozen; /* guards that are no longer improved */
  int basis;  /* vectors in the basis: x, z and perhaps p and the frozen guards */
  double a[SR__BASIS_MAX * SR__BASIS_MAX], b[SR__BASIS_MAX * SR__BASIS_MAX];
  double mix[SR__BASIS_MAX * SR__BLOCK_MAX]; /* basis x size */
  double value[SR__BLOCK_MAX];
} ritz;

/* Solves the swapped pencil B c = theta A c with lambda = 1 / theta, scaled to unit energy: stable
 * for tiny lambda. Uses the first `basis` vectors; false where they depend on each other. */
static bool solve_ritz(ritz *t, int basis) {
  double a[SR__BASIS_MAX * SR__BASIS_MAX], b[SR__BASIS_MAX * SR__BASIS_MAX], scale[SR__BASIS_MAX];
  double theta[SR__BLOCK_MAX], c[SR__BASIS_MAX * SR__BLOCK_MAX];
  for (int i = 0; i < basis; i++) {
    if (!(t->a[i * SR__BASIS_MAX + i] > 0)) return false;
    scale[i] = 1 / sqrt(t->a[i * SR__BASIS_MAX + i]);
  }
  for (int i = 0; i < basis; i++) {
    for (int j = 0; j < basis; j++) {
      a[i * basis + j] = t->a[i * SR__BASIS_MAX + j] * scale[i] * scale[j];
      b[i * basis + j] = t->b[i * SR__BASIS_MAX + j] * scale[i] * scale[j];
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
  matrix[i * SR__BASIS_MAX + j] = matrix[j * SR__BASIS_MAX + i] = value;
}

/* Products of the new x and p with the frozen guards, kept aside until the rest is carried over. */
static void carry_frozen(const ritz *t, const double *matrix, double *with_x, double *with_p) {
  for (int i = 0; i < t->size; i++) {
    for (int f = 0; f < t->frozen; f++) {
      double all = 0, left = 0;
      for (int u = 0; u < t->basis; u++) {
        double term = t->mix[u * t->size + i] * matrix[u * SR__BASIS_MAX + 3 * t->size + f];
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
          double term = matrix[u * SR__BASIS_MAX + v] * t->mix[v * size + j];
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
      matrix[i * SR__BASIS_MAX + j] = xx[i * size + j];
      matrix[i * SR__BASIS_MAX + 2 * size + j] = xp[i * size + j];
      matrix[(2 * size + j) * SR__BASIS_MAX + i] = xp[i * size + j];
      matrix[(2 * size + i) * SR__BASIS_MAX + 2 * size + j] = pp[i * size + j];
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
    sr__block_pass pass = {.level = level, .x = block->x, .own = i, .r = block->r};
    SR_TRY(sr__run(ctx, level, sr__lobpcg_kernel_now()->to_single, &pass, NULL, 0));
    SR_TRY(sr__run(ctx, level, sr__lobpcg_kernel_now()->smooth_first, &pass, NULL, 0));
    SR_TRY(sr__run(ctx, level, sr__lobpcg_kernel_now()->smooth_second, &pass, NULL, 0));
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
  sr__block_pass pass = {
      .level = level, .x = block->x, .size = block->size, .shift = shift, .mix = t->mix};
  for (int i = 0; i < block->size; i++) {
    pass.own = i;
    SR_TRY(sr__run(ctx, level, sr__lobpcg_kernel_now()->start_gram, &pass, sums, 2 * i + 3));
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
  SR_TRY(sr__run(ctx, level, sr__lobpcg_kernel_now()->mix_start, &pass, NULL, 0));
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
  sr__block_pass pass = {.level = level,
                         .x = block->x,
                         .p = block->p,
                         .z = block->z,
                         .size = size,
                         .with_p = with_p,
                         .frozen = t->frozen,
                         .own = i,
                         .value = t->value[i],
                         .r = block->r};
  SR_TRY(sr__run(ctx, level, sr__lobpcg_kernel_now()->residual, &pass, sums, 2));
  t->a[i * SR__BASIS_MAX + i] = sums[0];
  t->b[i * SR__BASIS_MAX + i] = sums[1];
  SR_TRY(sr__cycle(ctx, h, k, block->r));
  /* The last one stays where the cycle left it. */
  if (i < size - 1) memcpy(block->z[i], level->z, (size_t)level->slots * sizeof(float));
  pass.in = level->z;
  SR_TRY(sr__run(ctx, level, sr__lobpcg_kernel_now()->gram, &pass, sums, 2 * known + 2));
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
    double from[SR__BASIS_MAX * SR__BASIS_MAX];
    int place[SR__BASIS_MAX], count = 0;
    memcpy(from, matrices[m], sizeof from);
    /* x, p and the guards; products with z come with the next step. */
    for (int i = 0; i < size; i++) place[count++] = i;
    for (int i = 0; i < size; i++) place[count++] = 0;
    for (int i = 0; i < size; i++) place[count++] = 2 * old + i;
    for (int i = size; i < old; i++) place[count++] = i;
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < count; j++)
        matrices[m][i * SR__BASIS_MAX + j] = from[place[i] * SR__BASIS_MAX + place[j]];
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
    sr__block_pass pass = {.level = &h->level[k],
                           .x = block->x,
                           .p = block->p,
                           .z = z,
                           .size = size,
                           .with_p = with_p,
                           .frozen = t->frozen,
                           .shift = shift,
                           .mix = t->mix};
    SR_TRY(sr__run(ctx, &h->level[k], sr__lobpcg_kernel_now()->update, &pass, NULL, 0));
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
