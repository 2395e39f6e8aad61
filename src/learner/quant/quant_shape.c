/* The intervals of a length, and the tables of its Fourier transform. */
#include "quant_kernel.h"

static int32_t log2_floor(int32_t count) {
  int32_t log = 0;
  while (count >> (log + 1)) log++;
  return log;
}

/* Gives the number of the next feature. */
static int32_t place_level(sr__quant_kind *kind, int level, int32_t next) {
  int32_t pieces = (int32_t)1 << level, narrow = kind->count >> level, wide = 0;
  for (int32_t j = 0; j < pieces; j++) {
    int32_t width =
        sr__quant_edge(kind->count, level, j + 1) - sr__quant_edge(kind->count, level, j);
    wide += width > narrow;
    kind->at[level][j] = next;
    next += sr__quant_quantiles(width);
  }
  /* The lower median of widths that are `narrow` or one more. */
  int32_t median = wide > pieces / 2 ? narrow + 1 : narrow;
  kind->moved[level] = pieces > 1 && median > 1;
  for (int32_t j = 0; kind->moved[level] && j + 1 < pieces; j++) {
    kind->moved_at[level][j] = next;
    next += sr__quant_quantiles(sr__quant_edge(kind->count, level, j + 1) -
                                sr__quant_edge(kind->count, level, j));
  }
  return next;
}

static int32_t place_kind(sr__quant_kind *kind, int32_t count, int32_t next) {
  kind->count = count > 0 ? count : 0;
  if (count <= 0) return next;
  kind->levels = log2_floor(count) + 1;
  if (kind->levels > SR__QUANT_LEVELS) kind->levels = SR__QUANT_LEVELS;
  for (int level = 0; level < kind->levels; level++) next = place_level(kind, level, next);
  /* Moved intervals of the last level are merged from halves of its pieces. */
  kind->finest = kind->moved[kind->levels - 1] ? kind->levels : kind->levels - 1;
  return next;
}

/* ---- Fourier transform --------------------------------------------------------------------- */

/* cos and sin of 2 pi k / n, 0 <= k < n, in plain arithmetic: the same bits with every libm. The
 * angle is brought into the first eighth of the circle in whole numbers. */
static void unit_circle(int64_t k, int64_t n, double *cosine, double *sine) {
  int64_t eighth = 8 * k / n, rest = 8 * k % n;
  double x = (double)(eighth & 1 ? n - rest : rest) / (double)n * 0.78539816339744830962;
  double q = x * x;
  double s = -1.0 / 1307674368000.0, c = 1.0 / 20922789888000.0;
  static const double SINE[] = {1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0,
                                -1.0 / 5040.0,      1.0 / 120.0,       -1.0 / 6.0};
  static const double COSINE[] = {-1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0,
                                  1.0 / 40320.0,        -1.0 / 720.0,      1.0 / 24.0};
  for (int i = 0; i < 6; i++) {
    s = s * q + SINE[i];
    c = c * q + COSINE[i];
  }
  s = x + x * (q * s);
  c = 1.0 + q * (q * c - 0.5);
  static const int8_t SWAP[8] = {0, 1, 1, 0, 0, 1, 1, 0};
  static const int8_t COSINE_SIGN[8] = {1, 1, -1, -1, -1, -1, 1, 1};
  static const int8_t SINE_SIGN[8] = {1, 1, 1, 1, -1, -1, -1, -1};
  *cosine = COSINE_SIGN[eighth] * (SWAP[eighth] ? s : c);
  *sine = SINE_SIGN[eighth] * (SWAP[eighth] ? c : s);
}

static int32_t factorize(sr__quant_fourier *fourier) {
  int32_t rest = fourier->length, largest = 1;
  for (; rest % 4 == 0; rest /= 4) fourier->factor[fourier->factors++] = 4;
  for (int32_t p = 2; rest > 1; p++) {
    if ((int64_t)p * p > rest) p = rest;
    for (; rest % p == 0; rest /= p) fourier->factor[fourier->factors++] = p;
  }
  for (int32_t i = 0; i < fourier->factors; i++)
    if (fourier->factor[i] > largest) largest = fourier->factor[i];
  return largest;
}

static void fourier_free(const sr_allocator *allocator, sr__quant_fourier *fourier) {
  if (!fourier) return;
  fourier_free(allocator, fourier->inner);
  sr__release(allocator, fourier->root);
  sr__release(allocator, fourier->chirp);
  sr__release(allocator, fourier->chirp_transform);
  sr__release(allocator, fourier);
}

/* The chirp's own transform, by the kernel on four equal copies. */
static sr_status transform_chirp(sr_context *ctx, sr__quant_fourier *fourier) {
  sr_status status = SR_OK;
  double *block = NULL;
  int64_t n = fourier->length, m = fourier->inner->length;
  SR_NEW_ZERO(ctx, block, 16 * m + 8);
  double *in = block + (64 - (uintptr_t)block % 64) % 64 / sizeof *block, *out = in + 8 * m;
  for (int64_t k = 0; k < n; k++) {
    for (int j = 0; j < 4; j++) {
      int64_t back = k ? m - k : 0;
      in[8 * k + j] = in[8 * back + j] = fourier->chirp[2 * k];
      in[8 * k + 4 + j] = in[8 * back + 4 + j] = -fourier->chirp[2 * k + 1];
    }
  }
  sr__quant_kernel_now()->fourier(fourier->inner, in, out, NULL);
  for (int64_t k = 0; k < m; k++) {
    fourier->chirp_transform[2 * k] = out[8 * k];
    fourier->chirp_transform[2 * k + 1] = out[8 * k + 4];
  }
cleanup:
  sr__free(ctx, block);
  return status;
}

static sr_status fourier_new(sr_context *ctx, int32_t length, sr__quant_fourier **fourier) {
  sr_status status = SR_OK;
  sr__quant_fourier *made = NULL;
  sr_allocator allocator = sr__allocator(ctx);
  int64_t n = length;
  SR_NEW_ZERO(ctx, made, 1);
  made->length = length;
  int32_t largest = factorize(made);
  if (largest <= 31) {
    SR_NEW(ctx, made->root, 2 * n);
    for (int64_t k = 0; k < n; k++) {
      unit_circle(k, n, &made->root[2 * k], &made->root[2 * k + 1]);
      made->root[2 * k + 1] = -made->root[2 * k + 1];
    }
  } else {
    int32_t points = 1;
    while (points < 2 * length - 1) points *= 2;
    SR_TRY(fourier_new(ctx, points, &made->inner));
    SR_NEW(ctx, made->chirp, 2 * n);
    SR_NEW(ctx, made->chirp_transform, 2 * (int64_t)points);
    for (int64_t k = 0; k < n; k++) {
      unit_circle(k * k % (2 * n), 2 * n, &made->chirp[2 * k], &made->chirp[2 * k + 1]);
      made->chirp[2 * k + 1] = -made->chirp[2 * k + 1];
    }
    SR_TRY(transform_chirp(ctx, made));
  }
  *fourier = made;
  made = NULL;
cleanup:
  fourier_free(&allocator, made);
  return status;
}

/* ---- shape --------------------------------------------------------------------------------- */

void sr__quant_shape_free(sr__quant_shape **shape) {
  if (!*shape) return;
  sr_allocator allocator = (*shape)->allocator;
  fourier_free(&allocator, (*shape)->fourier);
  sr__release(&allocator, *shape);
  *shape = NULL;
}

sr_status sr__quant_shape_new(sr_context *ctx, int32_t length, sr__quant_shape **shape) {
  sr_status status = SR_OK;
  sr__quant_shape *made = NULL;
  *shape = NULL;
  if (length < 1 || length > SR__MAX_SERIES_LENGTH)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "a series of %d points; expected 1 to %d", length,
                    SR__MAX_SERIES_LENGTH));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->length = length;
  int32_t count[SR__QUANT_KINDS] = {length, length - 1, length - 2, length / 2 + 1};
  for (int k = 0; k < SR__QUANT_KINDS; k++)
    made->features = place_kind(&made->kind[k], count[k], made->features);
  SR_TRY(fourier_new(ctx, length, &made->fourier));
  *shape = made;
  made = NULL;
cleanup:
  sr__quant_shape_free(&made);
  return status;
}

/* ---- scratch ------------------------------------------------------------------------------- */

sr_status sr__quant_scratch_new(sr_context *ctx, sr__quant_shape *const *shape, int32_t shapes,
                                sr__quant_scratch *scratch) {
  enum { SPARE_POINTS = 40 /* runs may be one longer than their intervals */ };
  sr_status status = SR_OK;
  int64_t length = 0, points = 0, chirped = 0;
  for (int32_t s = 0; s < shapes; s++) {
    if (shape[s]->length > length) length = shape[s]->length;
    if (shape[s]->fourier->inner && shape[s]->fourier->inner->length > chirped)
      chirped = shape[s]->fourier->inner->length;
  }
  points = length + SPARE_POINTS;
  float *at = NULL;
  SR_NEW(ctx, at, 8 * (6 * points + 2 * (3 * points + 2 * chirped)) + 32);
  scratch->memory = at;
  at += (64 - (uintptr_t)at % 64) % 64 / sizeof *at;
  float **part[] = {&scratch->series, &scratch->changed, &scratch->run[0],
                    &scratch->run[1], &scratch->spare,   &scratch->cut};
  for (int i = 0; i < 6; i++, at += 8 * points) *part[i] = at;
  double *wide = (double *)(void *)at;
  scratch->sum = wide;
  scratch->fourier_in = wide + 8 * points;
  scratch->fourier_out = wide + 16 * points;
  scratch->fourier_spare[0] = wide + 24 * points;
  scratch->fourier_spare[1] = wide + 24 * points + 8 * chirped;
cleanup:
  return status;
}

void sr__quant_scratch_free(sr_context *ctx, sr__quant_scratch *scratch) {
  sr__free(ctx, scratch->memory);
  scratch->memory = NULL;
}
