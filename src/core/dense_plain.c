/* Factors and eigenpairs by plain code. Each sum has one order, so the bytes are the same on every
 * machine. */
#include <float.h>
#include <math.h>

#include "core/dense.h"
#include "core/dense_kernel.h"

double sr__dot(const float *a, const float *b, int64_t count) {
  return sr__dense_kernel_now()->dot_floats(count, a, b);
}

/* ---- Cholesky ----------------------------------------------------------------------------- */

/* Column j of the factor, from the columns before it. */
static bool factor_column(int64_t n, double *a, int64_t j) {
  const sr__dense_kernel *kernel = sr__dense_kernel_now();
  double *column = a + j * n + j;
  for (int64_t k = 0; k < j; k++) kernel->add(n - j, -a[k * n + j], a + k * n + j, column);
  if (!(column[0] > 0.0) || !isfinite(column[0])) return false;
  double root = sqrt(column[0]);
  for (int64_t i = 0; i < n - j; i++) column[i] /= root;
  return true;
}

sr_status sr__plain_factor(sr_context *ctx, int64_t n, double *a, bool *definite) {
  sr_status status = SR_OK;
  *definite = true;
  for (int64_t j = 0; j < n && *definite; j++) {
    if (j % 64 == 0) SR_TRY(sr__check_interrupt(ctx));
    *definite = factor_column(n, a, j);
  }
cleanup:
  return status;
}

void sr__plain_factor_solve(int64_t n, int64_t columns, const double *factor, double *b) {
  const sr__dense_kernel *kernel = sr__dense_kernel_now();
  for (int64_t c = 0; c < columns; c++) {
    double *x = b + c * n;
    for (int64_t j = 0; j < n; j++) {
      const double *column = factor + j * n + j;
      x[j] /= column[0];
      kernel->add(n - j - 1, -x[j], column + 1, x + j + 1);
    }
    for (int64_t j = n - 1; j >= 0; j--) {
      const double *column = factor + j * n + j;
      x[j] = (x[j] - kernel->dot(n - j - 1, column + 1, x + j + 1)) / column[0];
    }
  }
}

/* Column by column from the last: L^-1 e_j uses only columns of the inverse to its right. */
sr_status sr__plain_factor_invert(sr_context *ctx, int64_t n, double *factor) {
  sr_status status = SR_OK;
  const sr__dense_kernel *kernel = sr__dense_kernel_now();
  for (int64_t j = n - 1; j >= 0; j--) {
    double *column = factor + j * n, scale = 1.0 / column[j];
    if (j % 64 == 0) SR_TRY(sr__check_interrupt(ctx));
    /* column := -(inverse of what lies below and right) (column below) / factor_jj, in place from
     * the last row: entry i needs the factor's entries of rows j + 1 .. i. */
    for (int64_t k = n - 1; k > j; k--) {
      double value = column[k];
      column[k] = value * factor[k * n + k];
      kernel->add(n - k - 1, value, factor + k * n + k + 1, column + k + 1);
    }
    for (int64_t k = j + 1; k < n; k++) column[k] *= -scale;
    column[j] = scale;
  }
cleanup:
  return status;
}

/* With M the inverse factor, A^-1 = M'M: row i of it needs rows of M from i on. */
sr_status sr__plain_invert(sr_context *ctx, int64_t n, double *a, bool *definite) {
  sr_status status = SR_OK;
  const sr__dense_kernel *kernel = sr__dense_kernel_now();
  SR_TRY(sr__plain_factor(ctx, n, a, definite));
  if (!*definite) goto cleanup;
  SR_TRY(sr__plain_factor_invert(ctx, n, a));
  for (int64_t i = 0; i < n; i++) {
    if (i % 64 == 0) SR_TRY(sr__check_interrupt(ctx));
    for (int64_t j = 0; j <= i; j++) /* the diagonal, which all need, comes last */
      a[j * n + i] = kernel->dot(n - i, a + i * n + i, a + j * n + i);
  }
cleanup:
  return status;
}

/* ---- bands -------------------------------------------------------------------------------- */

sr_status sr__plain_band_factor(sr_context *ctx, int64_t n, int64_t width, double *band,
                                bool *definite) {
  sr_status status = SR_OK;
  const sr__dense_kernel *kernel = sr__dense_kernel_now();
  *definite = true;
  for (int64_t j = 0; j < n; j++) {
    double *column = band + j * (width + 1);
    int64_t below = n - 1 - j < width ? n - 1 - j : width;
    if (j % 4096 == 0) SR_TRY(sr__check_interrupt(ctx));
    *definite = column[0] > 0.0 && isfinite(column[0]);
    if (!*definite) goto cleanup;
    double root = sqrt(column[0]);
    for (int64_t i = 0; i <= below; i++) column[i] /= root;
    for (int64_t i = 1; i <= below; i++)
      kernel->add(below - i + 1, -column[i], column + i, column + i * (width + 1));
  }
cleanup:
  return status;
}

void sr__plain_band_solve(int64_t n, int64_t width, const double *band, double *x) {
  for (int64_t j = 0; j < n; j++) {
    const double *column = band + j * (width + 1);
    int64_t below = n - 1 - j < width ? n - 1 - j : width;
    x[j] /= column[0];
    for (int64_t i = 1; i <= below; i++) x[j + i] -= x[j] * column[i];
  }
  for (int64_t j = n - 1; j >= 0; j--) {
    const double *column = band + j * (width + 1);
    int64_t below = n - 1 - j < width ? n - 1 - j : width;
    double sum = x[j];
    for (int64_t i = 1; i <= below; i++) sum -= column[i] * x[j + i];
    x[j] = sum / column[0];
  }
}

/* ---- to tridiagonal form ------------------------------------------------------------------ */

/* A = Q T Q'. Row k of a keeps the vector of reflection k behind its diagonal. */
typedef struct tridiagonal {
  int64_t n;
  double *reflector; /* the matrix that was */
  double *tau;       /* of each reflection; 0: none */
  double *diagonal;
  double *beside; /* n - 1, and a 0 */
  double *scratch;
} tridiagonal;

/* Makes the reflection that takes row k to its first entry behind the diagonal. */
static void make_reflection(tridiagonal *t, int64_t k, int64_t length) {
  double *v = t->reflector + k * t->n + k + 1, largest = 0.0, squares = 0.0;
  for (int64_t i = 1; i < length; i++) largest = fmax(largest, fabs(v[i]));
  t->tau[k] = 0.0;
  t->beside[k] = v[0];
  if (!(largest > 0.0)) return;
  largest = fmax(largest, fabs(v[0]));
  for (int64_t i = 0; i < length; i++) v[i] /= largest;
  squares = sr__dense_kernel_now()->dot(length, v, v);
  double end = v[0] > 0.0 ? -sqrt(squares) : sqrt(squares);
  t->beside[k] = end * largest;
  t->tau[k] = 1.0 / (squares - end * v[0]);
  v[0] -= end;
}

static void reduce_column(tridiagonal *t, int64_t k) {
  const sr__dense_kernel *kernel = sr__dense_kernel_now();
  int64_t n = t->n, length = n - k - 1;
  double *v = t->reflector + k * n + k + 1, *w = t->scratch;
  double *rest = t->reflector + (k + 1) * n + k + 1;
  t->diagonal[k] = t->reflector[k * n + k];
  make_reflection(t, k, length);
  if (t->tau[k] == 0.0) return;
  memset(w, 0, (size_t)length * sizeof *w);
  kernel->add_rows(length, length, v, 1, rest, n, w);
  for (int64_t i = 0; i < length; i++) w[i] *= t->tau[k];
  double half = 0.5 * t->tau[k] * kernel->dot(length, w, v);
  kernel->add(length, -half, v, w);
  for (int64_t i = 0; i < length; i++) kernel->rank_two(length, v[i], w, w[i], v, rest + i * n);
}

static sr_status make_tridiagonal(sr_context *ctx, tridiagonal *t) {
  for (int64_t k = 0; k + 1 < t->n; k++) {
    if (ctx && k % 8 == 0) {
      sr_status status = sr__check_interrupt(ctx);
      if (status != SR_OK) return status;
    }
    reduce_column(t, k);
  }
  t->diagonal[t->n - 1] = t->reflector[t->n * t->n - 1];
  t->beside[t->n - 1] = 0.0;
  return SR_OK;
}

/* z := Q z. */
static void apply_reflections(const tridiagonal *t, double *z) {
  const sr__dense_kernel *kernel = sr__dense_kernel_now();
  for (int64_t k = t->n - 2; k >= 0; k--) {
    const double *v = t->reflector + k * t->n + k + 1;
    int64_t length = t->n - k - 1;
    if (t->tau[k] == 0.0) continue;
    kernel->add(length, -t->tau[k] * kernel->dot(length, v, z + k + 1), v, z + k + 1);
  }
}

/* ---- all pairs: QL ------------------------------------------------------------------------ */

/* sqrt(x^2 + y^2) without overflow; libraries of mathematics differ in their last bit. */
static double length_of(double x, double y) {
  double large = fmax(fabs(x), fabs(y)), small = fmin(fabs(x), fabs(y));
  if (large == 0.0) return 0.0;
  double share = small / large;
  return large * sqrt(1.0 + share * share);
}

/* One implicit QL sweep over rows first .. last (shift from the 2 x 2 block at `first`). */
static void sweep(double *d, double *e, int64_t first, int64_t last, double *rows, int64_t n) {
  double g = (d[first + 1] - d[first]) / (2.0 * e[first]), r = length_of(g, 1.0);
  double s = 1.0, c = 1.0, p = 0.0;
  g = d[last] - d[first] + e[first] / (g + (g < 0.0 ? -r : r));
  for (int64_t i = last - 1; i >= first; i--) {
    double f = s * e[i], b = c * e[i];
    r = length_of(f, g);
    e[i + 1] = r;
    if (r == 0.0) { /* underflow: the matrix falls apart here */
      d[i + 1] -= p;
      e[last] = 0.0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2.0 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    if (rows) sr__dense_kernel_now()->rotate(n, c, s, rows + i * n, rows + (i + 1) * n);
  }
  d[first] -= p;
  e[first] = g;
  e[last] = 0.0;
}

/* d becomes the values, not in order; row i of `rows` (identity on entry) the vector of d[i]. */
static bool ql(double *d, double *e, int64_t n, double *rows) {
  for (int64_t first = 0; first < n; first++) {
    for (int round = 0;; round++) {
      int64_t last = first;
      while (last + 1 < n && fabs(e[last]) > DBL_EPSILON * (fabs(d[last]) + fabs(d[last + 1])) &&
             fabs(e[last]) > DBL_MIN)
        last++;
      if (last == first) break;
      if (round == 80) return false;
      sweep(d, e, first, last, rows, n);
    }
  }
  return true;
}

/* Selection keeps it in place: rows are swapped at most n times. */
static void sort_pairs(double *value, double *rows, int64_t n) {
  for (int64_t i = 0; i + 1 < n; i++) {
    int64_t least = i;
    for (int64_t j = i + 1; j < n; j++)
      if (value[j] < value[least]) least = j;
    if (least == i) continue;
    double kept = value[i];
    value[i] = value[least];
    value[least] = kept;
    for (int64_t j = 0; j < n; j++) {
      double other = rows[i * n + j];
      rows[i * n + j] = rows[least * n + j];
      rows[least * n + j] = other;
    }
  }
}

static bool all_pairs(tridiagonal *t, double *value, double *rows) {
  int64_t n = t->n;
  memset(rows, 0, (size_t)(n * n) * sizeof *rows);
  for (int64_t i = 0; i < n; i++) rows[i * n + i] = 1.0;
  if (!ql(t->diagonal, t->beside, n, rows)) return false;
  memcpy(value, t->diagonal, (size_t)n * sizeof *value);
  sort_pairs(value, rows, n);
  for (int64_t i = 0; i < n; i++) apply_reflections(t, rows + i * n);
  return true;
}

static bool all_finite(int64_t count, const double *a) {
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(a[i])) return false;
  return true;
}

bool sr__small_eigen(int64_t n, double *a, double *value) {
  double tau[SR__DENSE_SMALL], diagonal[SR__DENSE_SMALL], beside[SR__DENSE_SMALL],
      scratch[SR__DENSE_SMALL], rows[SR__DENSE_SMALL * SR__DENSE_SMALL];
  tridiagonal t = {n, a, tau, diagonal, beside, scratch};
  if (!all_finite(n * n, a) || make_tridiagonal(NULL, &t) != SR_OK || !all_pairs(&t, value, rows))
    return false;
  memcpy(a, rows, (size_t)(n * n) * sizeof *a);
  return true;
}

/* A = G G'; the pairs of G^-1 B G^-T, and c = G^-T z. */
bool sr__small_pencil_pairs(int64_t n, double *b, double *a, double *value) {
  for (int64_t j = 0; j < n; j++)
    if (!factor_column(n, a, j)) return false;
  for (int side = 0; side < 2; side++) { /* each time columns of b, which is symmetric: G^-1 b' */
    for (int64_t c = 0; c < n; c++)
      for (int64_t j = 0; j < n; j++) {
        double *x = b + c * n;
        x[j] /= a[j * n + j];
        for (int64_t i = j + 1; i < n; i++) x[i] -= x[j] * a[j * n + i];
      }
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < i; j++) {
        double kept = b[i * n + j];
        b[i * n + j] = b[j * n + i];
        b[j * n + i] = kept;
      }
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++)
      b[i * n + j] = b[j * n + i] = 0.5 * (b[i * n + j] + b[j * n + i]);
  if (!sr__small_eigen(n, b, value)) return false;
  for (int64_t c = 0; c < n; c++)
    for (int64_t j = n - 1; j >= 0; j--) {
      double sum = b[c * n + j];
      for (int64_t i = j + 1; i < n; i++) sum -= a[j * n + i] * b[c * n + i];
      b[c * n + j] = sum / a[j * n + j];
    }
  return true;
}

/* ---- few pairs: bisection and inverse iteration --------------------------------------------- */

static double norm_of(const tridiagonal *t) {
  double norm = 0.0;
  for (int64_t i = 0; i < t->n; i++)
    norm = fmax(norm, fabs(t->diagonal[i]) + fabs(t->beside[i]) + (i ? fabs(t->beside[i - 1]) : 0));
  return norm;
}

/* Values below x, by the signs of Sturm's sequence. */
static int64_t values_below(const tridiagonal *t, double x, double tiny) {
  int64_t below = 0;
  double q = 1.0;
  for (int64_t i = 0; i < t->n; i++) {
    double e = i ? t->beside[i - 1] : 0.0;
    if (i && fabs(q) < tiny) q = q < 0.0 ? -tiny : tiny;
    q = t->diagonal[i] - x - (i ? e * (e / q) : 0.0);
    below += q < 0.0;
  }
  return below;
}

/* The value with `before` values below it. */
static double bisect(const tridiagonal *t, int64_t before, double low, double norm) {
  double high = norm, tiny = DBL_EPSILON * DBL_EPSILON * norm + DBL_MIN;
  for (int round = 0; round < 200; round++) {
    double middle = 0.5 * (low + high);
    if (!(middle > low && middle < high)) break;
    if (high - low <= 2.0 * DBL_EPSILON * fmax(fabs(low), fabs(high)) + tiny) break;
    if (values_below(t, middle, tiny) > before)
      high = middle;
    else
      low = middle;
  }
  return 0.5 * (low + high);
}

/* T - shift = P L U with row swaps; three diagonals of U, multipliers, and which rows were swapped.
 */
typedef struct shifted {
  double *u0, *u1, *u2, *multiplier;
  uint8_t *swapped;
} shifted;

static void factor_shifted(const tridiagonal *t, double shift, double tiny, shifted *f) {
  int64_t n = t->n;
  double here = t->diagonal[0] - shift, next = t->beside[0];
  for (int64_t i = 0; i + 1 < n; i++) {
    double below = t->beside[i], own = t->diagonal[i + 1] - shift, right = t->beside[i + 1];
    f->swapped[i] = fabs(below) > fabs(here);
    if (f->swapped[i]) {
      f->u0[i] = below;
      f->u1[i] = own;
      f->u2[i] = right;
      f->multiplier[i] = here / below;
      here = next - f->multiplier[i] * own;
      next = -f->multiplier[i] * right;
    } else {
      f->u0[i] = fabs(here) < tiny ? tiny : here;
      f->u1[i] = next;
      f->u2[i] = 0.0;
      f->multiplier[i] = below / f->u0[i];
      here = own - f->multiplier[i] * next;
      next = right;
    }
  }
  f->u0[n - 1] = fabs(here) < tiny ? tiny : here;
  f->u1[n - 1] = f->u2[n - 1] = 0.0;
}

static void solve_shifted(int64_t n, const shifted *f, double *x) {
  for (int64_t i = 0; i + 1 < n; i++) {
    if (f->swapped[i]) {
      double upper = x[i];
      x[i] = x[i + 1];
      x[i + 1] = upper - f->multiplier[i] * x[i];
    } else {
      x[i + 1] -= f->multiplier[i] * x[i];
    }
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    double sum = x[i];
    if (i + 1 < n) sum -= f->u1[i] * x[i + 1];
    if (i + 2 < n) sum -= f->u2[i] * x[i + 2];
    x[i] = sum / f->u0[i];
  }
}

/* Unit length; a vector that vanished is left as it is. */
static void normalize(int64_t n, double *x) {
  double largest = 0.0;
  for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  if (!(largest > 0.0) || !isfinite(largest)) return;
  for (int64_t i = 0; i < n; i++) x[i] /= largest;
  double length = sqrt(sr__dense_kernel_now()->dot(n, x, x));
  for (int64_t i = 0; i < n; i++) x[i] /= length;
}

/* Vector number `index`, orthogonal to the ones before it from `together` on, whose values are
 * close. */
static void find_vector(const tridiagonal *t, const shifted *f, int64_t index, int64_t together,
                        double *vector) {
  const sr__dense_kernel *kernel = sr__dense_kernel_now();
  enum { ROUNDS = 4 };
  int64_t n = t->n;
  double *x = vector + index * n;
  uint32_t state = 0x9e3779b9u + (uint32_t)index * 0x85ebca6bu;
  for (int64_t i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    x[i] = (double)(state >> 8) / 8388608.0 - 1.0;
  }
  for (int round = 0; round < ROUNDS; round++) {
    solve_shifted(n, f, x);
    normalize(n, x);
    for (int again = 0; again < 2; again++)
      for (int64_t k = together; k < index; k++)
        kernel->add(n, -kernel->dot(n, vector + k * n, x), vector + k * n, x);
    normalize(n, x);
  }
}

/* In coordinates of T; values that are closer than a thousandth of the norm are kept orthogonal. */
static sr_status few_vectors(sr_context *ctx, const tridiagonal *t, int64_t count,
                             const double *value, double norm, double *vector) {
  sr_status status = SR_OK;
  shifted f = {0};
  double *room = NULL, tiny = DBL_EPSILON * norm + DBL_MIN, shift = 0.0;
  int64_t n = t->n, together = 0;
  SR_NEW(ctx, room, 4 * n);
  SR_NEW(ctx, f.swapped, n);
  f.u0 = room;
  f.u1 = room + n;
  f.u2 = room + 2 * n;
  f.multiplier = room + 3 * n;
  for (int64_t k = 0; k < count; k++) {
    SR_TRY(sr__check_interrupt(ctx));
    if (k && value[k] - value[k - 1] > 1e-3 * norm) together = k;
    /* Equal values get shifts a little apart, so that their vectors come out different. */
    shift = k && value[k] < shift + 10.0 * tiny ? shift + 10.0 * tiny : value[k];
    factor_shifted(t, shift, tiny, &f);
    find_vector(t, &f, k, together, vector);
  }
cleanup:
  sr__free(ctx, room);
  sr__free(ctx, f.swapped);
  return status;
}

/* ---- the call ----------------------------------------------------------------------------- */

static sr_status few_pairs(sr_context *ctx, tridiagonal *t, const sr__eigenpairs *pairs) {
  sr_status status = SR_OK;
  double norm = norm_of(t), low = -norm;
  for (int64_t k = 0; k < pairs->count; k++)
    pairs->value[k] = low = bisect(t, pairs->first + k, low, norm);
  if (!pairs->vector) goto cleanup;
  SR_TRY(few_vectors(ctx, t, pairs->count, pairs->value, norm, pairs->vector));
  for (int64_t k = 0; k < pairs->count; k++) apply_reflections(t, pairs->vector + k * t->n);
cleanup:
  return status;
}

static sr_status most_pairs(sr_context *ctx, tridiagonal *t, const sr__eigenpairs *pairs) {
  sr_status status = SR_OK;
  double *all = NULL, *rows = NULL;
  int64_t n = t->n;
  SR_NEW(ctx, all, n);
  SR_NEW(ctx, rows, n * n);
  if (!all_pairs(t, all, rows))
    SR_TRY(sr__fail(ctx, SR_ERROR_NOT_CONVERGED,
                    "the eigenvalues of a %lld x %lld matrix did not settle", (long long)n,
                    (long long)n));
  memcpy(pairs->value, all + pairs->first, (size_t)pairs->count * sizeof *all);
  memcpy(pairs->vector, rows + pairs->first * n, (size_t)(pairs->count * n) * sizeof *rows);
cleanup:
  sr__free(ctx, all);
  sr__free(ctx, rows);
  return status;
}

sr_status sr__plain_eigen(sr_context *ctx, int64_t n, double *a, const sr__eigenpairs *pairs) {
  sr_status status = SR_OK;
  tridiagonal t = {.n = n, .reflector = a};
  double *room = NULL;
  if (!all_finite(n * n, a))
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "a %lld x %lld matrix holds values that are not finite",
                    (long long)n, (long long)n));
  SR_NEW(ctx, room, 4 * n);
  t.tau = room;
  t.diagonal = room + n;
  t.beside = room + 2 * n;
  t.scratch = room + 3 * n;
  SR_TRY(make_tridiagonal(ctx, &t));
  if (pairs->vector && (4 * pairs->count > n || n <= 8))
    SR_TRY(most_pairs(ctx, &t, pairs));
  else
    SR_TRY(few_pairs(ctx, &t, pairs));
cleanup:
  sr__free(ctx, room);
  return status;
}
