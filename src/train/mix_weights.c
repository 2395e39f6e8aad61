/* Weights of a mix by least squares on the simplex. */
#include "mix_weights.h"

#include <math.h>

#define OFFSET_PRICE 4.0 /* variances that the square of the offset must clearly exceed */
#define OFFSET_SPANS 50.0
#define LEAST_SLOPE 0.2
#define MOST_SLOPE 5.0
enum { SWEEPS = 60 };

sr_status sr__mix_sums_new(sr_context *ctx, int32_t nodes, int32_t blocks, int32_t classes,
                           sr__mix_sums *sums) {
  sr_status status = SR_OK;
  *sums = (sr__mix_sums){.nodes = nodes, .blocks = blocks, .classes = classes};
  SR_NEW_ZERO(ctx, sums->square, (int64_t)blocks * nodes * nodes);
  SR_NEW_ZERO(ctx, sums->gram, (int64_t)blocks * nodes * nodes);
  SR_NEW_ZERO(ctx, sums->truth, (int64_t)blocks * nodes);
  SR_NEW_ZERO(ctx, sums->noise, (int64_t)blocks * nodes);
  SR_NEW_ZERO(ctx, sums->answer, (int64_t)blocks * nodes * classes);
  SR_NEW_ZERO(ctx, sums->label, (int64_t)blocks * classes);
  SR_NEW_ZERO(ctx, sums->rows, blocks);
cleanup:
  if (status != SR_OK) sr__mix_sums_free(ctx, sums);
  return status;
}

void sr__mix_sums_clear(sr__mix_sums *s, int32_t node) {
  int64_t nodes = s->nodes, classes = s->classes;
  for (int64_t u = 0; u < s->blocks; u++) {
    double *square = s->square + u * nodes * nodes, *gram = s->gram + u * nodes * nodes;
    for (int64_t k = 0; k < nodes; k++) {
      square[node * nodes + k] = square[k * nodes + node] = 0.0;
      gram[node * nodes + k] = gram[k * nodes + node] = 0.0;
    }
    s->truth[u * nodes + node] = s->noise[u * nodes + node] = 0.0;
    for (int64_t c = 0; c < classes; c++) s->answer[(u * nodes + node) * classes + c] = 0.0;
  }
}

void sr__mix_sums_free(sr_context *ctx, sr__mix_sums *s) {
  void *blocks[] = {s->square, s->gram, s->truth, s->noise, s->answer, s->label, s->rows};
  for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) sr__free(ctx, blocks[k]);
  *s = (sr__mix_sums){0};
}

/* ---- least squares on the simplex ----------------------------------------------------------- */

/* Eigenvectors by Jacobi's rotations; the matrix is overwritten, its diagonal gets the values. */
static void rotate_to_diagonal(int32_t n, double *a, double *v) {
  for (int32_t i = 0; i < n * n; i++) v[i] = i % (n + 1) == 0;
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    double off = 0.0;
    for (int32_t p = 0; p < n; p++)
      for (int32_t q = p + 1; q < n; q++) off += a[p * n + q] * a[p * n + q];
    if (off < 1e-30) return;
    for (int32_t p = 0; p < n; p++) {
      for (int32_t q = p + 1; q < n; q++) {
        if (fabs(a[p * n + q]) < 1e-300) continue;
        double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
        double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
        double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
        for (int32_t k = 0; k < n; k++) {
          double kp = a[k * n + p], kq = a[k * n + q];
          a[k * n + p] = c * kp - s * kq;
          a[k * n + q] = s * kp + c * kq;
        }
        for (int32_t k = 0; k < n; k++) {
          double pk = a[p * n + k], qk = a[q * n + k], kp = v[k * n + p], kq = v[k * n + q];
          a[p * n + k] = c * pk - s * qk;
          a[q * n + k] = s * pk + c * qk;
          v[k * n + p] = c * kp - s * kq;
          v[k * n + q] = s * kp + c * kq;
        }
      }
    }
  }
}

/* The nearest matrix with positive eigenvalues: what was taken off for noise may have made some
 * negative. */
static void make_definite(int32_t n, const double *gram, double *g) {
  double a[SR__MOST_NODES * SR__MOST_NODES], v[SR__MOST_NODES * SR__MOST_NODES], most = 0.0;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) a[i * n + j] = 0.5 * (gram[i * n + j] + gram[j * n + i]);
  rotate_to_diagonal(n, a, v);
  for (int32_t k = 0; k < n; k++) most = fmax(most, a[k * n + k]);
  memset(g, 0, (size_t)(n * n) * sizeof *g);
  for (int32_t k = 0; k < n; k++) {
    double value = fmax(a[k * n + k], 1e-7 * most + 1e-300);
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = 0; j < n; j++) g[i * n + j] += value * v[i * n + k] * v[j * n + k];
  }
}

/* Solves a small symmetric system by elimination with pivots; the right side gets the answer. */
static void solve(int32_t n, double *a, double *x) {
  for (int32_t k = 0; k < n; k++) {
    int32_t pivot = k;
    for (int32_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
    for (int32_t j = 0; j < n && pivot != k; j++) {
      double kept = a[k * n + j];
      a[k * n + j] = a[pivot * n + j];
      a[pivot * n + j] = kept;
    }
    double kept = x[k];
    x[k] = x[pivot];
    x[pivot] = kept;
    for (int32_t i = k + 1; i < n; i++) {
      double factor = a[i * n + k] / a[k * n + k];
      for (int32_t j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
      x[i] -= factor * x[k];
    }
  }
  for (int32_t k = n - 1; k >= 0; k--) {
    for (int32_t j = k + 1; j < n; j++) x[k] -= a[k * n + j] * x[j];
    x[k] /= a[k * n + k];
  }
}

/* The best weights where only `free` ones are above 0; gives the multiplier of the sum. */
static double solve_free(int32_t n, const double *g, const double *b, const bool *is_free,
                         double *w) {
  double a[(SR__MOST_NODES + 1) * (SR__MOST_NODES + 1)], x[SR__MOST_NODES + 1];
  int32_t list[SR__MOST_NODES], count = 0;
  for (int32_t k = 0; k < n; k++)
    if (is_free[k]) list[count++] = k;
  int32_t size = count + 1;
  for (int32_t i = 0; i < count; i++) {
    for (int32_t j = 0; j < count; j++) a[i * size + j] = g[list[i] * n + list[j]];
    a[i * size + count] = a[count * size + i] = 1.0;
    x[i] = b[list[i]];
  }
  a[count * size + count] = 0.0;
  x[count] = 1.0;
  solve(size, a, x);
  for (int32_t k = 0; k < n; k++) w[k] = 0.0;
  for (int32_t i = 0; i < count; i++) w[list[i]] = x[i];
  return x[count];
}

/* Active sets: from all weight on node 0, a node is freed where the slope says so, and held at 0
 * where its weight would become negative. */
void sr__on_the_simplex(int32_t n, const double *gram, const double *b, double *w) {
  double g[SR__MOST_NODES * SR__MOST_NODES], trial[SR__MOST_NODES];
  bool is_free[SR__MOST_NODES] = {true};
  make_definite(n, gram, g);
  for (int32_t k = 0; k < n; k++) w[k] = k == 0;
  for (int step = 0; step < 20 * n; step++) {
    double multiplier = solve_free(n, g, b, is_free, trial), share = 1.0;
    int32_t blocked = -1;
    for (int32_t k = 0; k < n; k++) {
      if (!is_free[k] || trial[k] >= 0.0) continue;
      double here = w[k] / (w[k] - trial[k]);
      if (here < share) blocked = k;
      if (here < share) share = here;
    }
    for (int32_t k = 0; k < n; k++) w[k] += share * (trial[k] - w[k]);
    if (blocked >= 0) {
      is_free[blocked] = false;
      w[blocked] = 0.0;
      continue;
    }
    int32_t best = -1;
    double most = 1e-10 * (fabs(multiplier) + g[0]);
    for (int32_t k = 0; k < n; k++) {
      if (is_free[k]) continue;
      double gain = b[k] - multiplier;
      for (int32_t j = 0; j < n; j++) gain -= g[k * n + j] * w[j];
      if (gain > most) best = k;
      if (gain > most) most = gain;
    }
    if (best < 0) break;
    is_free[best] = true;
  }
  double total = 0.0;
  for (int32_t k = 0; k < n; k++) total += w[k] = fmax(w[k], 0.0);
  for (int32_t k = 0; k < n; k++) w[k] /= total;
}

/* ---- weights ------------------------------------------------------------------------------ */

static bool used(const sr__mix_question *q, int32_t block) { return !q->use || q->use[block]; }

/* By block: (truth - P_0) . (P_k - P_0). */
static double slope_of(const sr__mix_sums *s, int32_t block, int32_t k) {
  const double *truth = s->truth + (int64_t)block * s->nodes;
  const double *gram = s->gram + (int64_t)block * s->nodes * s->nodes;
  return truth[k] - truth[0] - (gram[k * s->nodes] - gram[0]);
}

/* Of the sum of x over the sum of rows, blocks as units. */
static double price_of(const sr__mix_sums *s, const sr__mix_question *q, int32_t k) {
  double sum = 0.0, rows = 0.0, square = 0.0;
  int32_t blocks = 0;
  for (int32_t u = 0; u < s->blocks; u++) {
    if (!used(q, u) || s->rows[u] <= 0.0) continue;
    sum += slope_of(s, u, k);
    rows += s->rows[u];
    blocks++;
  }
  if (blocks < 2) return INFINITY;
  for (int32_t u = 0; u < s->blocks; u++) {
    if (!used(q, u) || s->rows[u] <= 0.0) continue;
    double off = slope_of(s, u, k) - s->rows[u] * sum / rows;
    square += off * off;
  }
  return sqrt((1.0 + SR__THIN * q->thin) * square * blocks / (blocks - 1.0)) / rows;
}

sr_status sr__mix_weights(sr_context *ctx, const sr__mix_sums *s, const sr__mix_question *q,
                          double *weight) {
  (void)ctx;
  int32_t list[SR__MOST_NODES], count = 0, n = s->nodes;
  double gram[SR__MOST_NODES * SR__MOST_NODES] = {0}, linear[SR__MOST_NODES] = {0}, rows = 0.0;
  double found[SR__MOST_NODES];
  for (int32_t k = 0; k < n; k++)
    if (k == 0 || (q->open[k] && isfinite(price_of(s, q, k)))) list[count++] = k;
  for (int32_t u = 0; u < s->blocks; u++) {
    if (!used(q, u)) continue;
    const double *g = s->gram + (int64_t)u * n * n;
    rows += s->rows[u];
    for (int32_t i = 0; i < count; i++) {
      linear[i] += s->truth[(int64_t)u * n + list[i]] -
                   s->noise[(int64_t)u * n + list[i]] / (2.0 * q->members);
      for (int32_t j = 0; j < count; j++) gram[i * count + j] += g[list[i] * n + list[j]];
    }
  }
  for (int32_t i = 0; i < count; i++) {
    linear[i] = linear[i] / rows - (list[i] ? price_of(s, q, list[i]) : 0.0);
    for (int32_t j = 0; j < count; j++) gram[i * count + j] /= rows;
  }
  sr__on_the_simplex(count, gram, linear, found);
  for (int32_t k = 0; k < n; k++) weight[k] = 0.0;
  for (int32_t i = 0; i < count; i++) weight[list[i]] = found[i] > 1e-6 ? found[i] : 0.0;
  return SR_OK;
}

/* ---- the offset --------------------------------------------------------------------------- */

/* Sums of the vote over some blocks. */
typedef struct vote_sums {
  double *answer, *label; /* per class */
  double square, truth, rows;
} vote_sums;

static void add_block(const sr__mix_sums *s, const double *w, int32_t u, double times,
                      vote_sums *to) {
  int32_t n = s->nodes, classes = s->classes;
  const double *square = s->square + (int64_t)u * n * n;
  for (int32_t k = 0; k < n; k++) {
    if (w[k] <= 0.0) continue;
    to->truth += times * w[k] * s->truth[(int64_t)u * n + k];
    for (int32_t l = 0; l < n; l++) to->square += times * w[k] * w[l] * square[k * n + l];
    for (int32_t c = 0; c < classes; c++)
      to->answer[c] += times * w[k] * s->answer[((int64_t)u * n + k) * classes + c];
  }
  for (int32_t c = 0; c < classes; c++) to->label[c] += times * s->label[(int64_t)u * classes + c];
  to->rows += times * s->rows[u];
}

/* truth = a + slope vote by least squares; a / slope centered over the classes. Gives the slope, or
 * 0 and no offset where the vote tells next to nothing of the truth: the line has no slope then. */
static double lay_line(const vote_sums *v, int32_t classes, double noise, double *offset) {
  double cross = v->truth / v->rows, spread = v->square / v->rows - noise, mean = 0.0;
  for (int32_t c = 0; c < classes; c++) {
    double p = v->answer[c] / v->rows;
    cross -= p * v->label[c] / v->rows;
    spread -= p * p;
    offset[c] = 0.0;
  }
  if (!(spread > 0.0) || cross < LEAST_SLOPE * spread || cross > MOST_SLOPE * spread) return 0.0;
  double slope = cross / spread;
  for (int32_t c = 0; c < classes; c++) {
    offset[c] = v->label[c] / v->rows / slope - v->answer[c] / v->rows;
    mean += offset[c] / classes;
  }
  for (int32_t c = 0; c < classes; c++) offset[c] -= mean;
  return slope;
}

/* Noise of the mean answers beyond that of the delivered vote, per row. */
static double excess_noise(const sr__mix_sums *s, const sr__mix_question *q, const double *w) {
  double total = 0.0, rows = 0.0;
  for (int32_t u = 0; u < s->blocks; u++) rows += s->rows[u];
  for (int32_t k = 0; k < s->nodes; k++) {
    double one = 0.0;
    if (w[k] <= 0.0) continue;
    for (int32_t u = 0; u < s->blocks; u++) one += s->noise[(int64_t)u * s->nodes + k];
    total += one / rows * (w[k] * w[k] / q->fold_members[k] - w[k] / q->members);
  }
  return total;
}

/* Blocks left out one by one; `scratch` holds two numbers per class. */
static double jackknife(const sr__mix_sums *s, const sr__mix_question *q, const double *w,
                        double noise, vote_sums *v, double *scratch) {
  double *left = scratch, *sum = scratch + s->classes, square = 0.0, mean_square = 0.0;
  int32_t count = 0, classes = s->classes;
  for (int32_t c = 0; c < classes; c++) sum[c] = 0.0;
  for (int32_t u = 0; u < s->blocks; u++) {
    if (!used(q, u) || s->rows[u] <= 0.0) continue;
    add_block(s, w, u, -1.0, v);
    if (v->rows > 0.5) {
      lay_line(v, classes, noise, left);
      for (int32_t c = 0; c < classes; c++) {
        sum[c] += left[c];
        square += left[c] * left[c];
      }
      count++;
    }
    add_block(s, w, u, 1.0, v);
  }
  if (count < 2) return INFINITY;
  for (int32_t c = 0; c < classes; c++) mean_square += sum[c] * sum[c] / count;
  return fmax(0.0, square - mean_square) * (count - 1.0) / count;
}

sr_status sr__mix_offset(sr_context *ctx, const sr__mix_sums *s, const sr__mix_question *q,
                         const double *w, double *offset, double *slope) {
  sr_status status = SR_OK;
  int32_t classes = s->classes;
  double *memory = NULL, size = 0.0;
  *slope = 0.0;
  for (int32_t c = 0; c < classes; c++) offset[c] = 0.0;
  if (q->thin * OFFSET_SPANS > 1.0) goto cleanup;
  SR_NEW_ZERO(ctx, memory, 4 * (int64_t)classes);
  vote_sums v = {.answer = memory, .label = memory + classes};
  for (int32_t u = 0; u < s->blocks; u++)
    if (used(q, u)) add_block(s, w, u, 1.0, &v);
  if (!(v.rows > 0.0)) goto cleanup;
  double noise = excess_noise(s, q, w);
  *slope = lay_line(&v, classes, noise, offset);
  if (!(*slope > 0.0)) goto cleanup;
  double variance = jackknife(s, q, w, noise, &v, memory + 2 * (int64_t)classes);
  for (int32_t c = 0; c < classes; c++) size += offset[c] * offset[c];
  double kept = 1.0 - OFFSET_PRICE * (1.0 + SR__THIN * q->thin) * variance / fmax(size, 1e-12);
  for (int32_t c = 0; c < classes; c++) offset[c] *= kept > 0.0 ? kept : 0.0;
cleanup:
  sr__free(ctx, memory);
  return status;
}

/* ---- what it is worth --------------------------------------------------------------------- */

/* Squared error of a vote on one block, as `members` would have it, without the part that no vote
 * changes. */
static double block_error(const sr__mix_sums *s, int32_t u, const double *w, int32_t members) {
  int32_t n = s->nodes;
  const double *gram = s->gram + (int64_t)u * n * n;
  double total = 0.0;
  for (int32_t k = 0; k < n; k++) {
    total += w[k] * (s->noise[(int64_t)u * n + k] / members - 2.0 * s->truth[(int64_t)u * n + k]);
    for (int32_t l = 0; l < n; l++) total += w[k] * w[l] * gram[k * n + l];
  }
  return total;
}

double sr__mix_error(const sr__mix_sums *s, const double *w, int32_t members) {
  double total = 0.0, rows = 0.0;
  for (int32_t u = 0; u < s->blocks; u++) {
    total += block_error(s, u, w, members) + s->rows[u]; /* the truth has length 1 */
    rows += s->rows[u];
  }
  return total / rows;
}

double sr__mix_offset_gain(const sr__mix_sums *s, const double *w, const double *offset,
                           double slope) {
  double gain = 0.0, rows = 0.0;
  for (int32_t u = 0; u < s->blocks; u++) rows += s->rows[u];
  for (int32_t c = 0; c < s->classes; c++) {
    double lean = 0.0, moved = slope * offset[c];
    for (int32_t u = 0; u < s->blocks; u++) {
      lean -= s->label[(int64_t)u * s->classes + c];
      for (int32_t k = 0; k < s->nodes; k++)
        lean += slope * w[k] * s->answer[((int64_t)u * s->nodes + k) * s->classes + c];
    }
    gain -= 2.0 * moved * lean / rows + moved * moved;
  }
  return gain;
}

void sr__mix_difference(const sr__mix_sums *s, sr__mix_vote first, const double *second,
                        int32_t members, double *difference, double *error) {
  double sum = 0.0, rows = 0.0, square = 0.0;
  int32_t blocks = 0;
  for (int32_t u = 0; u < s->blocks; u++) {
    if (s->rows[u] <= 0.0) continue;
    const double *w = first.weight + (first.fold ? first.fold[u] * SR__MOST_NODES : 0);
    sum += block_error(s, u, w, members) - block_error(s, u, second, members);
    rows += s->rows[u];
    blocks++;
  }
  for (int32_t u = 0; u < s->blocks; u++) {
    if (s->rows[u] <= 0.0) continue;
    const double *w = first.weight + (first.fold ? first.fold[u] * SR__MOST_NODES : 0);
    double off = block_error(s, u, w, members) - block_error(s, u, second, members) -
                 s->rows[u] * sum / rows;
    square += off * off;
  }
  *difference = sum / rows;
  *error = blocks > 1 ? sqrt(square * blocks / (blocks - 1.0)) / rows : NAN;
}
