/* The vector code of block LOBPCG, chunk by chunk. */
#include "lobpcg_kernel.h"

#include "slices.h"

/* Sums x_own' L x_j and x_own' D x_j for j <= own, then 1' D x_own. */
static inline void start_gram_chunk(const sr__block_pass *pass, int64_t chunk, const bool narrow) {
  const sr__level *level = pass->level;
  const float *mass_of = sr__level_mass(level);
  sr__d4 a[SR__BLOCK_MAX] = {{0}}, b[SR__BLOCK_MAX] = {{0}}, ones = {0};
  int32_t end = sr__chunk_end(level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE) {
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
  const sr__block_pass *pass = data;
  SR__BY_WIDTH(start_gram_chunk, pass, chunk);
  return SR_OK;
}

/* r := L x - value D x of vector `own`; sums x' L x and x' D x. */
static inline void residual_chunk(const sr__block_pass *pass, int64_t chunk, const bool narrow) {
  const sr__level *level = pass->level;
  const float *mass_of = sr__level_mass(level);
  const double *x = pass->x[pass->own];
  sr__d4 energy = {0}, norm = {0};
  int32_t end = sr__chunk_end(level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE) {
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
  const sr__block_pass *pass = data;
  SR__BY_WIDTH(residual_chunk, pass, chunk);
  return SR_OK;
}

/* Dot products of L z and D z, z = z_own, with every vector of the basis that is known by now:
 * x_j, z_j for j <= own, p_j, frozen ones. Then 1' D z and r' z. `size` is a constant where it is
 * inlined. */
static inline void gram_chunk(const sr__block_pass *pass, int64_t chunk, const bool narrow,
                              const int size, const int own, const int p_count, const int frozen) {
  const sr__level *level = pass->level;
  const float *mass_of = sr__level_mass(level);
  sr__d4 a[SR__BASIS_MAX] = {{0}}, b[SR__BASIS_MAX] = {{0}}, ones = {0}, rz = {0};
  int32_t end = sr__chunk_end(level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE) {
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

static inline void gram_by_size(const sr__block_pass *pass, int64_t chunk, const bool narrow) {
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
  const sr__block_pass *pass = data;
  SR__BY_WIDTH(gram_by_size, pass, chunk);
  return SR_OK;
}

/* p_j := the part of the new x_j outside the old x; x_j := the new one. Coefficient of basis
 * vector i in x_j is mix[i * size + j]. */
static inline void update_chunk(const sr__block_pass *pass, int64_t chunk, const int size,
                                const int p_count, const int frozen) {
  const sr__level *level = pass->level;
  int32_t end = sr__chunk_end(level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE) {
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
  const sr__block_pass *pass = data;
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
  const sr__block_pass *pass = data;
  int32_t end = sr__chunk_end(pass->level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE)
    sr__f8_store(pass->r + s, sr__f8_from(sr__d8_load(pass->x[pass->own] + s)));
  return SR_OK;
}

/* y := a sweep on r. */
static inline void smooth_first_chunk(const sr__block_pass *pass, int64_t chunk,
                                      const bool narrow) {
  int32_t end = sr__chunk_end(pass->level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE)
    sr__f8_store(pass->level->y + s, smoothed(pass->level, narrow, pass->r, s));
}

static sr_status smooth_first(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__block_pass *pass = data;
  SR__BY_WIDTH(smooth_first_chunk, pass, chunk);
  return SR_OK;
}

/* x_own := a sweep on y. */
static inline void smooth_second_chunk(const sr__block_pass *pass, int64_t chunk,
                                       const bool narrow) {
  int32_t end = sr__chunk_end(pass->level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE)
    sr__d8_store(pass->x[pass->own] + s,
                 sr__d8_from(smoothed(pass->level, narrow, pass->level->y, s)));
}

static sr_status smooth_second(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__block_pass *pass = data;
  SR__BY_WIDTH(smooth_second_chunk, pass, chunk);
  return SR_OK;
}

/* x := (x - shift) mix for the start. */
static sr_status mix_start(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__block_pass *pass = data;
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

const sr__lobpcg_kernel SR__KERNEL(sr__lobpcg_kernel) = {.start_gram = start_gram,
                                                         .residual = residual,
                                                         .gram = gram,
                                                         .update = update,
                                                         .to_single = to_single,
                                                         .smooth_first = smooth_first,
                                                         .smooth_second = smooth_second,
                                                         .mix_start = mix_start};
