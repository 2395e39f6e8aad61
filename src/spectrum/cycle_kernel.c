/* The vector code of one K-cycle, chunk by chunk. */
#include "cycle_kernel.h"

#include "slices.h"

/* y := one forward sweep from zero. */
static inline void relax_forward_chunk(const sr__pass *pass, int64_t chunk, const bool narrow) {
  const sr__level *level = pass->level;
  int32_t end = sr__chunk_end(level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE) {
    uint32_t slice = (uint32_t)s / SR__SLICE;
    sr__f8 sum = sr__add_groups(level, narrow, level->y, s, sr__f8_load(pass->in + s),
                                level->first[slice], level->middle[slice]);
    sr__f8_store(level->y + s, sr__by_degree(level, sum, s));
  }
}

static sr_status relax_forward(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__pass *pass = data;
  SR__BY_WIDTH(relax_forward_chunk, pass, chunk);
  return SR_OK;
}

/* b of the next level, which is zero, += P' (b - L y). After the forward sweep the residual of a
 * row is what the columns it did not look at contribute. A chunk's aggregates are its own. */
static inline void restrict_residual_chunk(const sr__pass *pass, int64_t chunk, const bool narrow) {
  const sr__level *level = pass->level;
  float *coarse_b = pass->next->b;
  int32_t begin = sr__chunk_begin(chunk), end = sr__chunk_end(level, chunk);
  for (int32_t s = begin; s < end; s += SR__SLICE) {
    uint32_t slice = (uint32_t)s / SR__SLICE;
    sr__f8 sum = sr__add_groups(level, narrow, level->y, s, (sr__f8){0}, level->middle[slice],
                                level->first[slice + 1]);
    for (int lane = 0; lane < SR__SLICE; lane++) coarse_b[level->coarse[s + lane]] += sum[lane];
  }
}

static sr_status restrict_residual(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__pass *pass = data;
  SR__BY_WIDTH(restrict_residual_chunk, pass, chunk);
  return SR_OK;
}

/* Constants on aggregates are stiffer than the smooth vectors they stand for, so the coarse
 * correction is too short. */
static const float OVERCORRECTION = 1.7f;

/* y += P z of the next level, made longer. */
static sr_status prolong(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__pass *pass = data;
  const sr__level *level = pass->level;
  int32_t end = sr__chunk_end(level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE) {
    sr__f8 step = sr__f8_gather_at(pass->next->z, level->coarse + s);
    sr__f8_store(level->y + s, sr__f8_load(level->y + s) + OVERCORRECTION * step);
  }
  return SR_OK;
}

/* z := one backward sweep from y. Columns that point to earlier slices read y, which this sweep has
 * not come to. Others inside the chunk read z, which starts as a copy of y; those outside read y,
 * which no chunk changes here. Both live in one block, so one gather serves. */
static inline void relax_backward_chunk(const sr__pass *pass, int64_t chunk, const bool narrow) {
  const sr__level *level = pass->level;
  int32_t begin = sr__chunk_begin(chunk), end = sr__chunk_end(level, chunk);
  memcpy(level->z + begin, level->y + begin, (size_t)(end - begin) * sizeof(float));
  const sr__i8 here = (int32_t)chunk - (sr__i8){0}, shift = level->stride - (sr__i8){0};
  for (int32_t s = end - SR__SLICE; s >= begin; s -= SR__SLICE) {
    uint32_t slice = (uint32_t)s / SR__SLICE;
    sr__f8 sum = sr__add_groups(level, narrow, level->y, s, sr__f8_load(pass->in + s),
                                level->first[slice], level->middle[slice]);
    for (size_t g = level->middle[slice]; g < level->first[slice + 1]; g++) {
      sr__i8 from = sr__group_slots(level, narrow, s, g);
      from += (from >> SR__CHUNK_BITS == here) & shift;
      sr__f8 v = sr__f8_gather(level->y, from);
      if (level->value)
        sum += sr__f8_load(level->value + g * SR__SLICE) * v;
      else
        sum += narrow ? sr__f8_mask(v, sr__group_mask(level, narrow, g)) : v;
    }
    sr__f8_store(level->z + s, sr__by_degree(level, sum, s));
  }
}

static sr_status relax_backward(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__pass *pass = data;
  SR__BY_WIDTH(relax_backward_chunk, pass, chunk);
  return SR_OK;
}

/* p := z, q := L z; sums z'q, z'b, b'b. */
static inline void first_step_chunk(const sr__pass *pass, int64_t chunk, const bool narrow) {
  const sr__level *level = pass->level;
  int32_t end = sr__chunk_end(level, chunk);
  sr__d4 zq = {0}, zb = {0}, bb = {0};
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE) {
    sr__f8 q = sr__slice_product(level, narrow, level->z, s), z = sr__f8_load(level->z + s);
    sr__d8 dz = sr__d8_from(z), db = sr__d8_from(sr__f8_load(level->b + s));
    sr__f8_store(level->p + s, z);
    sr__f8_store(level->q + s, q);
    zq = sr__d4_dot(zq, dz, sr__d8_from(q));
    zb = sr__d4_dot(zb, dz, db);
    bb = sr__d4_dot(bb, db, db);
  }
  double *sum = level->partial + chunk * SR__SUMS;
  sum[0] = sr__d4_sum(zq);
  sum[1] = sr__d4_sum(zb);
  sum[2] = sr__d4_sum(bb);
}

static sr_status first_step(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__pass *pass = data;
  SR__BY_WIDTH(first_step_chunk, pass, chunk);
  return SR_OK;
}

/* b -= factor * q; sums b'b. */
static sr_status subtract(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__pass *pass = data;
  const sr__level *level = pass->level;
  int32_t end = sr__chunk_end(level, chunk);
  sr__d4 bb = {0};
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE) {
    sr__f8 b = sr__f8_load(level->b + s) - pass->factor[0] * sr__f8_load(level->q + s);
    sr__f8_store(level->b + s, b);
    bb = sr__d4_dot(bb, sr__d8_from(b), sr__d8_from(b));
  }
  level->partial[chunk * SR__SUMS] = sr__d4_sum(bb);
  return SR_OK;
}

/* Sums z'Lz, z'b, z'q of the second direction. */
static inline void second_step_chunk(const sr__pass *pass, int64_t chunk, const bool narrow) {
  const sr__level *level = pass->level;
  int32_t end = sr__chunk_end(level, chunk);
  sr__d4 zz = {0}, zb = {0}, zq = {0};
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE) {
    sr__d8 z = sr__d8_from(sr__f8_load(level->z + s));
    zz = sr__d4_dot(zz, z, sr__d8_from(sr__slice_product(level, narrow, level->z, s)));
    zb = sr__d4_dot(zb, z, sr__d8_from(sr__f8_load(level->b + s)));
    zq = sr__d4_dot(zq, z, sr__d8_from(sr__f8_load(level->q + s)));
  }
  double *sum = level->partial + chunk * SR__SUMS;
  sum[0] = sr__d4_sum(zz);
  sum[1] = sr__d4_sum(zb);
  sum[2] = sr__d4_sum(zq);
}

static sr_status second_step(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__pass *pass = data;
  SR__BY_WIDTH(second_step_chunk, pass, chunk);
  return SR_OK;
}

/* z := factor[0] p + factor[1] z. */
static sr_status combine(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__pass *pass = data;
  const sr__level *level = pass->level;
  int32_t end = sr__chunk_end(level, chunk);
  for (int32_t s = sr__chunk_begin(chunk); s < end; s += SR__SLICE)
    sr__f8_store(level->z + s, pass->factor[0] * sr__f8_load(level->p + s) +
                                   pass->factor[1] * sr__f8_load(level->z + s));
  return SR_OK;
}

static void multiply_dense(const float *matrix, int32_t size, const float *in, float *out) {
  for (int32_t i = 0; i < size; i++) out[i] = 0;
  for (int32_t j = 0; j < size; j++) {
    const float *row = matrix + (size_t)j * (size_t)size;
    for (int32_t i = 0; i < size; i++) out[i] += row[i] * in[j];
  }
}

const sr__cycle_kernel SR__KERNEL(sr__cycle_kernel) = {.relax_forward = relax_forward,
                                                       .restrict_residual = restrict_residual,
                                                       .prolong = prolong,
                                                       .relax_backward = relax_backward,
                                                       .first_step = first_step,
                                                       .subtract = subtract,
                                                       .second_step = second_step,
                                                       .combine = combine,
                                                       .multiply_dense = multiply_dense};
