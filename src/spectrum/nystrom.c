/* Nystrom approximation of the normalized Laplacian of an RBF kernel: with C the kernel between all
 * rows and the landmarks and W that among landmarks, K = C W^+ C', d = K 1, and the pairs of
 * D^(-1/2) K D^(-1/2) follow from the small matrix G' G, G = D^(-1/2) C W^(-1/2). C is never kept:
 * each pass makes it again, block by block. */
#include <math.h>
#include <stdlib.h>

#include "core/dense.h"
#include "core/random.h"
#include "core/sort.h"
#include "data/column_moments.h"
#include "object.h"

enum { BLOCK_ROWS = 256, SLABS_MAX = 16, SLAB_LEAST = 2048, BANDWIDTH_SAMPLE = 400 };
/* Eigenvalues of W below this share of the largest are noise and left out of its inverse. */
static const double RANK_CUTOFF = 1e-10;

typedef struct nystrom {
  const sr_table_view *table;
  int64_t rows, features;
  int32_t count;        /* landmarks */
  double *mean, *scale; /* of each feature; scale = 1 / sd, 0 for constant ones */
  double *landmark;     /* count x features, row-major, standardized */
  double *landmark_norm;
  double gamma; /* 1 / (2 bandwidth^2) */
  double *root; /* count x rank: W^(-1/2) in the basis of its eigenvectors */
  int32_t rank;
  double *degree; /* one a row */
  int64_t slabs;
  double *sum;         /* a slab: count numbers */
  double *square;      /* a slab: rank x rank */
  const double *right; /* what pass 1 and pass 3 multiply rows with: count x right_count */
  int32_t right_count;
  double *out; /* pass 3: vectors, one after another */
} nystrom;

/* ---- rows ----------------------------------------------------------------------------------- */

static double feature_at(const nystrom *z, int64_t row, int64_t feature) {
  double value = z->table->x[feature * z->rows + row];
  return !isfinite(value) ? 0 : (value - z->mean[feature]) * z->scale[feature];
}

static void standardize(nystrom *z) {
  for (int64_t j = 0; j < z->features; j++) {
    sr__moments m = sr__column_moments(z->table->x + j * z->rows, z->rows);
    z->mean[j] = m.mean;
    z->scale[j] = m.deviation > 0.0 ? 1.0 / m.deviation : 0.0;
  }
}

static void load_landmarks(nystrom *z, const int32_t *row) {
  for (int32_t l = 0; l < z->count; l++) {
    z->landmark_norm[l] = 0;
    for (int64_t j = 0; j < z->features; j++) {
      double value = feature_at(z, row[l], j);
      z->landmark[l * z->features + j] = value;
      z->landmark_norm[l] += value * value;
    }
  }
}

/* kernel (rows x count, row-major) := exp(-gamma |x - landmark|^2) for rows given by standardized
 * features in `x` (rows x features). */
static sr_status kernel_block(sr_context *ctx, const nystrom *z, const double *x, int64_t rows,
                              double *kernel) {
  sr_status status = SR_OK;
  SR_TRY(sr__dense_multiply(ctx, (sr__product_shape){rows, z->count, z->features},
                            (sr__factor_view){x, z->features, false},
                            (sr__factor_view){z->landmark, z->features, true},
                            (sr__product_view){kernel, z->count, false}));
  for (int64_t i = 0; i < rows; i++) {
    double norm = 0;
    for (int64_t j = 0; j < z->features; j++)
      norm += x[i * z->features + j] * x[i * z->features + j];
    for (int32_t l = 0; l < z->count; l++) {
      double distance = norm + z->landmark_norm[l] - 2 * kernel[i * z->count + l];
      kernel[i * z->count + l] = exp(-z->gamma * (distance > 0 ? distance : 0));
    }
  }
cleanup:
  return status;
}

/* ---- passes over all rows ------------------------------------------------------------------- */

typedef struct block {
  double *x, *kernel, *product;
} block;

static sr_status block_new(sr_context *ctx, const nystrom *z, block *b) {
  sr_status status = SR_OK;
  int64_t widest = z->rank > z->right_count ? z->rank : z->right_count;
  *b = (block){0};
  SR_NEW(ctx, b->x, BLOCK_ROWS * z->features);
  SR_NEW(ctx, b->kernel, BLOCK_ROWS * (int64_t)z->count);
  SR_NEW(ctx, b->product, BLOCK_ROWS * widest);
cleanup:
  return status;
}

static void block_free(sr_context *ctx, block *b) {
  sr__free(ctx, b->x);
  sr__free(ctx, b->kernel);
  sr__free(ctx, b->product);
}

static sr_status block_kernel(sr_context *ctx, const nystrom *z, block *b, int64_t first,
                              int64_t rows) {
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < z->features; j++)
      b->x[i * z->features + j] = feature_at(z, first + i, j);
  }
  return kernel_block(ctx, z, b->x, rows, b->kernel);
}

static sr_status multiply_block(sr_context *ctx, const nystrom *z, block *b, int64_t rows,
                                const double *right, int32_t columns) {
  return sr__dense_multiply(ctx, (sr__product_shape){rows, columns, z->count},
                            (sr__factor_view){b->kernel, z->count, false},
                            (sr__factor_view){right, columns, false},
                            (sr__product_view){b->product, columns, false});
}

/* Walks the blocks of one slab. */
typedef sr_status (*block_fn)(sr_context *ctx, nystrom *z, block *b, int64_t slab, int64_t first,
                              int64_t rows);

static sr_status walk_slab(sr_context *ctx, nystrom *z, int64_t slab, block_fn fn) {
  sr_status status = SR_OK;
  block b;
  int64_t first = z->rows * slab / z->slabs, end = z->rows * (slab + 1) / z->slabs;
  SR_TRY(block_new(ctx, z, &b));
  for (; first < end; first += BLOCK_ROWS) {
    SR_TRY(sr__check_interrupt(ctx));
    int64_t rows = end - first < BLOCK_ROWS ? end - first : BLOCK_ROWS;
    SR_TRY(block_kernel(ctx, z, &b, first, rows));
    SR_TRY(fn(ctx, z, &b, slab, first, rows));
  }
cleanup:
  block_free(ctx, &b);
  return status;
}

/* Adds product' product of the block to the slab's square. */
static sr_status add_square(sr_context *ctx, nystrom *z, const block *b, int64_t slab,
                            int64_t rows) {
  return sr__dense_square(ctx, 1.0, (sr__factor_view){b->product, z->rank, true}, rows,
                          (sr__triangle_view){SR__UPPER, z->rank,
                                              z->square + slab * z->rank * z->rank});
}

static sr_status first_block(sr_context *ctx, nystrom *z, block *b, int64_t slab, int64_t first,
                             int64_t rows) {
  sr_status status = SR_OK;
  (void)first;
  for (int64_t i = 0; i < rows; i++) {
    for (int32_t l = 0; l < z->count; l++)
      z->sum[slab * z->count + l] += b->kernel[i * z->count + l];
  }
  SR_TRY(multiply_block(ctx, z, b, rows, z->root, z->rank));
  SR_TRY(add_square(ctx, z, b, slab, rows));
cleanup:
  return status;
}

/* degree := C right. */
static sr_status degree_block(sr_context *ctx, nystrom *z, block *b, int64_t slab, int64_t first,
                              int64_t rows) {
  sr_status status = SR_OK;
  (void)slab;
  SR_TRY(multiply_block(ctx, z, b, rows, z->right, 1));
  for (int64_t i = 0; i < rows; i++) z->degree[first + i] = b->product[i];
cleanup:
  return status;
}

static sr_status second_block(sr_context *ctx, nystrom *z, block *b, int64_t slab, int64_t first,
                              int64_t rows) {
  sr_status status = SR_OK;
  SR_TRY(multiply_block(ctx, z, b, rows, z->root, z->rank));
  for (int64_t i = 0; i < rows; i++) {
    double scale = 1 / sqrt(z->degree[first + i]);
    for (int32_t r = 0; r < z->rank; r++) b->product[i * z->rank + r] *= scale;
  }
  SR_TRY(add_square(ctx, z, b, slab, rows));
cleanup:
  return status;
}

/* x := D^(-1) C right. */
static sr_status third_block(sr_context *ctx, nystrom *z, block *b, int64_t slab, int64_t first,
                             int64_t rows) {
  sr_status status = SR_OK;
  (void)slab;
  SR_TRY(multiply_block(ctx, z, b, rows, z->right, z->right_count));
  for (int64_t i = 0; i < rows; i++) {
    for (int32_t p = 0; p < z->right_count; p++)
      z->out[p * z->rows + first + i] = b->product[i * z->right_count + p] / z->degree[first + i];
  }
cleanup:
  return status;
}

#define SLAB_ITEM(name, fn)                                                       \
  static sr_status name(sr_context *worker, void *data, int64_t slab, int slot) { \
    (void)slot;                                                                   \
    return walk_slab(worker, data, slab, fn);                                     \
  }
SLAB_ITEM(first_slab, first_block)
SLAB_ITEM(degree_slab, degree_block)
SLAB_ITEM(second_slab, second_block)
SLAB_ITEM(third_slab, third_block)

/* ---- landmarks ------------------------------------------------------------------------------ */

static sr_status draw_uniform(sr_context *ctx, const nystrom *z, sr__random *random,
                              int32_t *chosen) {
  sr_status status = SR_OK;
  uint64_t *bitmap = NULL;
  SR_NEW(ctx, bitmap, (z->rows + 63) / 64);
  sr__random_sample(random, z->rows, z->count, bitmap, chosen);
cleanup:
  sr__free(ctx, bitmap);
  return status;
}

/* gamma from the median distance between the first landmarks. */
static sr_status choose_bandwidth(sr_context *ctx, nystrom *z, double bandwidth) {
  sr_status status = SR_OK;
  double *distance = NULL;
  int64_t sample = z->count < BANDWIDTH_SAMPLE ? z->count : BANDWIDTH_SAMPLE, pairs = 0;
  if (bandwidth > 0) {
    z->gamma = 0.5 / (bandwidth * bandwidth);
    goto cleanup;
  }
  SR_NEW(ctx, distance, sample * (sample - 1) / 2);
  for (int64_t a = 0; a < sample; a++) {
    for (int64_t b = 0; b < a; b++) {
      double sum = 0;
      for (int64_t j = 0; j < z->features; j++) {
        double d = z->landmark[a * z->features + j] - z->landmark[b * z->features + j];
        sum += d * d;
      }
      distance[pairs++] = sum;
    }
  }
  qsort(distance, (size_t)pairs, sizeof *distance, sr__compare_doubles);
  if (!(distance[pairs / 2] > 0))
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "most landmarks are the same point, so there is no median distance: give a "
                    "bandwidth"));
  z->gamma = 0.5 / distance[pairs / 2];
cleanup:
  sr__free(ctx, distance);
  return status;
}

/* root := V E^(-1/2) over the eigenvalues that are not noise, shifted by `ridge`. */
static sr_status factor_landmarks(sr_context *ctx, nystrom *z, double ridge) {
  sr_status status = SR_OK;
  double *w = NULL, *value = NULL;
  SR_NEW(ctx, w, (int64_t)z->count * z->count);
  SR_NEW(ctx, value, z->count);
  SR_TRY(kernel_block(ctx, z, z->landmark, z->count, w));
  SR_TRY(sr__dense_eigen(ctx, z->count, w, value));
  int32_t first = 0;
  while (value[first] <= RANK_CUTOFF * value[z->count - 1]) first++;
  z->rank = z->count - first;
  for (int32_t l = 0; l < z->count; l++) {
    for (int32_t r = 0; r < z->rank; r++)
      z->root[l * z->rank + r] =
          w[(int64_t)(first + r) * z->count + l] / sqrt(value[first + r] + ridge);
  }
cleanup:
  sr__free(ctx, w);
  sr__free(ctx, value);
  return status;
}

typedef struct keyed {
  double key;
  int32_t row;
} keyed;

static int compare_keyed(const void *a, const void *b) {
  const keyed *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

static int compare_rows(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Ridge leverage from the uniform landmarks as a pilot: 1 - c' (W + ridge)^(-1) c is what they
 * leave unexplained of a row. Rows are drawn without replacement, with chances in these
 * proportions, by the smallest exponential waiting times. The ridge is the mean eigenvalue of W, 1.
 */
static sr_status draw_by_leverage(sr_context *ctx, nystrom *z, sr__random *random,
                                  int32_t *chosen) {
  sr_status status = SR_OK;
  block b = {0};
  keyed *waiting = NULL;
  SR_TRY(factor_landmarks(ctx, z, 1));
  SR_NEW(ctx, waiting, z->rows);
  SR_TRY(block_new(ctx, z, &b));
  for (int64_t first = 0; first < z->rows; first += BLOCK_ROWS) {
    SR_TRY(sr__check_interrupt(ctx));
    int64_t rows = z->rows - first < BLOCK_ROWS ? z->rows - first : BLOCK_ROWS;
    SR_TRY(block_kernel(ctx, z, &b, first, rows));
    SR_TRY(multiply_block(ctx, z, &b, rows, z->root, z->rank));
    for (int64_t i = 0; i < rows; i++) {
      double left = 1;
      for (int32_t r = 0; r < z->rank; r++)
        left -= b.product[i * z->rank + r] * b.product[i * z->rank + r];
      if (left < 1e-6) left = 1e-6;
      double wait = -sr__log_portable(1 - sr__random_uniform(random)) / left;
      waiting[first + i] = (keyed){wait, (int32_t)(first + i)};
    }
  }
  qsort(waiting, (size_t)z->rows, sizeof *waiting, compare_keyed);
  for (int32_t l = 0; l < z->count; l++) chosen[l] = waiting[l].row;
  qsort(chosen, (size_t)z->count, sizeof *chosen, compare_rows);
cleanup:
  sr__free(ctx, waiting);
  block_free(ctx, &b);
  return status;
}

static sr_status choose_landmarks(sr_context *ctx, nystrom *z, const sr_nystrom_options *options,
                                  uint64_t seed) {
  sr_status status = SR_OK;
  int32_t *chosen = NULL;
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_LANDMARK, 0, 0);
  SR_NEW(ctx, chosen, z->count);
  SR_TRY(draw_uniform(ctx, z, &random, chosen));
  load_landmarks(z, chosen);
  SR_TRY(choose_bandwidth(ctx, z, options->bandwidth));
  if (options->leverage) {
    SR_TRY(draw_by_leverage(ctx, z, &random, chosen));
    load_landmarks(z, chosen);
  }
  SR_TRY(factor_landmarks(ctx, z, 0));
cleanup:
  sr__free(ctx, chosen);
  return status;
}

/* ---- the small problems --------------------------------------------------------------------- */

/* Adds the slabs' squares in order into the first and fills both triangles. */
static void add_slabs(nystrom *z) {
  int64_t size = (int64_t)z->rank * z->rank;
  for (int64_t s = 1; s < z->slabs; s++) {
    for (int64_t i = 0; i < size; i++) z->square[i] += z->square[s * size + i];
  }
  for (int32_t i = 0; i < z->rank; i++) {
    for (int32_t j = 0; j < i; j++) z->square[i * z->rank + j] = z->square[j * z->rank + i];
  }
}

/* right := root root' (sum of the kernel's columns), so that degree = C right. */
static sr_status degree_weights(sr_context *ctx, nystrom *z, double *right, double *scratch) {
  sr_status status = SR_OK;
  for (int64_t s = 1; s < z->slabs; s++) {
    for (int32_t l = 0; l < z->count; l++) z->sum[l] += z->sum[s * z->count + l];
  }
  SR_TRY(sr__dense_multiply(ctx, (sr__product_shape){1, z->rank, z->count},
                            (sr__factor_view){z->sum, z->count, false},
                            (sr__factor_view){z->root, z->rank, false},
                            (sr__product_view){scratch, z->rank, false}));
  SR_TRY(sr__dense_multiply(ctx, (sr__product_shape){1, z->count, z->rank},
                            (sr__factor_view){scratch, z->rank, false},
                            (sr__factor_view){z->root, z->rank, true},
                            (sr__product_view){right, z->count, false}));
cleanup:
  return status;
}

static sr_status check_degrees(sr_context *ctx, const nystrom *z) {
  for (int64_t i = 0; i < z->rows; i++) {
    if (!(z->degree[i] > 0))
      return sr__fail(ctx, SR_ERROR_DATA,
                      "%d landmarks give row %lld the degree %g, which must be positive: use more "
                      "landmarks or a larger bandwidth",
                      z->count, (long long)i, z->degree[i]);
  }
  return SR_OK;
}

/* ---- the call ------------------------------------------------------------------------------- */

static sr_status check(sr_context *ctx, const sr_table_view *table,
                       const sr_nystrom_options *options) {
  if (table->rows < 3 || table->features < 1)
    return sr__fail(ctx, SR_ERROR_DATA, "%lld rows of %lld features are too few for a kernel",
                    (long long)table->rows, (long long)table->features);
  if (options->landmarks < 2)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "%d landmarks were asked for: at least 2",
                    options->landmarks);
  if (options->pairs < 0 || options->bandwidth < 0)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "pairs is %d and bandwidth %g: at least 0 and 0",
                    options->pairs, options->bandwidth);
  return SR_OK;
}

static sr_status allocate(sr_context *ctx, nystrom *z) {
  sr_status status = SR_OK;
  SR_NEW(ctx, z->mean, z->features);
  SR_NEW(ctx, z->scale, z->features);
  SR_NEW(ctx, z->landmark, z->count * z->features);
  SR_NEW(ctx, z->landmark_norm, z->count);
  SR_NEW(ctx, z->root, (int64_t)z->count * z->count);
  SR_NEW(ctx, z->degree, z->rows);
  SR_NEW_ZERO(ctx, z->sum, z->slabs * z->count);
  SR_NEW_ZERO(ctx, z->square, z->slabs * z->count * z->count);
cleanup:
  return status;
}

/* Degrees, which the pairs divide by, and the largest eigenvalue of the kernel. */
static sr_status first_pass(sr_context *ctx, nystrom *z, bool pairs, double *largest) {
  sr_status status = SR_OK;
  double *right = NULL, *value = NULL;
  SR_NEW(ctx, right, z->count);
  SR_NEW(ctx, value, z->count);
  SR_TRY(sr__parallel_for(ctx, z->slabs, first_slab, z));
  SR_TRY(degree_weights(ctx, z, right, value));
  z->right = right;
  z->right_count = 1;
  SR_TRY(sr__parallel_for(ctx, z->slabs, degree_slab, z));
  if (pairs) SR_TRY(check_degrees(ctx, z));
  add_slabs(z);
  SR_TRY(sr__dense_eigen(ctx, z->rank, z->square, value));
  *largest = value[z->rank - 1];
cleanup:
  z->right = NULL;
  sr__free(ctx, right);
  sr__free(ctx, value);
  return status;
}

/* Pairs of D^(-1/2) K D^(-1/2): the top one is D^(1/2) 1, the next are asked for. */
static sr_status second_pass(sr_context *ctx, nystrom *z, int32_t pairs, double *lambda) {
  sr_status status = SR_OK;
  double *right = NULL, *value = NULL;
  SR_NEW(ctx, value, z->rank);
  SR_NEW_ZERO(ctx, right, (int64_t)z->count * pairs);
  memset(z->square, 0, (size_t)(z->slabs * z->rank * z->rank) * sizeof *z->square);
  SR_TRY(sr__parallel_for(ctx, z->slabs, second_slab, z));
  add_slabs(z);
  SR_TRY(sr__dense_eigen(ctx, z->rank, z->square, value));
  for (int32_t p = 0; p < pairs; p++) {
    int32_t k = z->rank - 2 - p;
    lambda[p] = 1 - value[k];
    /* x = D^(-1/2) G u / sqrt(sigma) = D^(-1) C (root u) / sqrt(sigma) */
    for (int32_t l = 0; l < z->count; l++) {
      double sum = 0;
      for (int32_t r = 0; r < z->rank; r++)
        sum += z->root[l * z->rank + r] * z->square[(int64_t)k * z->rank + r];
      right[l * pairs + p] = sum / sqrt(value[k]);
    }
  }
  z->right = right;
  z->right_count = pairs;
  SR_TRY(sr__parallel_for(ctx, z->slabs, third_slab, z));
cleanup:
  z->right = NULL;
  sr__free(ctx, right);
  sr__free(ctx, value);
  return status;
}

static void nystrom_free(sr_context *ctx, nystrom *z) {
  double *blocks[] = {z->mean, z->scale,  z->landmark, z->landmark_norm,
                      z->root, z->degree, z->sum,      z->square};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__free(ctx, blocks[i]);
}

void sr_nystrom_options_init(sr_nystrom_options *options) {
  *options = (sr_nystrom_options){.pairs = 1, .landmarks = 500};
}

sr_status sr_spectrum_nystrom(sr_context *ctx, const sr_table *table,
                              const sr_nystrom_options *options, uint64_t seed,
                              sr_spectrum **spectrum) {
  sr_status status = SR_OK;
  sr_nystrom_options defaults;
  sr_spectrum *made = NULL;
  const sr_table_view *view = sr_table_get(table);
  nystrom z = {.table = view, .rows = view->rows, .features = view->features};
  double largest = 0;
  *spectrum = NULL;
  sr_nystrom_options_init(&defaults);
  if (!options) options = &defaults;
  SR_TRY(check(ctx, view, options));
  z.count = options->landmarks < z.rows ? options->landmarks : (int32_t)z.rows;
  z.slabs = z.rows / SLAB_LEAST + 1 < SLABS_MAX ? z.rows / SLAB_LEAST + 1 : SLABS_MAX;
  SR_TRY(allocate(ctx, &z));
  standardize(&z);
  SR_TRY(choose_landmarks(ctx, &z, options, seed));
  if (z.rank < options->pairs + 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "the kernel has rank %d among %d landmarks, too little for %d pairs", z.rank,
                    z.count, options->pairs));
  SR_TRY(first_pass(ctx, &z, options->pairs > 0, &largest));
  SR_TRY(sr__spectrum_new(ctx, z.rows, options->pairs, &made));
  SR_NEW_ZERO(ctx, made->vector, z.rows * options->pairs);
  made->view.vector = z.out = made->vector;
  if (options->pairs > 0) SR_TRY(second_pass(ctx, &z, options->pairs, made->value));
  for (int32_t p = 0; p < options->pairs; p++)
    sr__fix_sign(&(sr__csr){.nodes = z.rows}, made->vector + p * z.rows);
  made->view.solver = "nystrom";
  made->view.iterations = 1;
  made->view.effective_rank = (double)z.rows / largest;
  *spectrum = made;
  made = NULL;
cleanup:
  nystrom_free(ctx, &z);
  sr_spectrum_free(&made);
  return status;
}
