/* The vector code of Lanczos, chunk by chunk. */
#include "lanczos_kernel.h"

#include "simd.h"

static int64_t pass_end(const sr__lanczos *z, int64_t chunk) {
  int64_t end = (chunk + 1) * SR__CHUNK;
  return end < z->length ? end : z->length;
}

static sr_status scale(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__lanczos_pass *pass = data;
  const sr__lanczos *z = pass->z;
  int64_t end = pass_end(z, chunk);
  if (end > z->graph->nodes) end = z->graph->nodes;
  for (int64_t i = chunk * SR__CHUNK; i < end; i++)
    z->scaled[i] = pass->from[i] * sr__lanczos_root(z, i);
  return SR_OK;
}

static sr_status multiply(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__lanczos_pass *pass = data;
  const sr__csr *g = pass->z->graph;
  const double *v = pass->z->scaled;
  int64_t end = pass_end(pass->z, chunk);
  if (end > g->nodes) end = g->nodes;
  for (int64_t i = chunk * SR__CHUNK; i < end; i++) {
    double even = 0, odd = 0;
    int64_t a = g->offset[i], last = g->offset[i + 1];
    if (g->mass) { /* what the mass exceeds the degree by acts like a loop */
      double degree = 0;
      for (; a < last; a++) {
        double w = g->weight ? g->weight[a] : 1;
        even += w * v[g->neighbor[a]];
        degree += w;
      }
      odd = (g->mass[i] - degree) * v[i];
    } else if (g->weight) {
      for (; a < last; a++) even += g->weight[a] * v[g->neighbor[a]];
    } else {
      for (; a + 1 < last; a += 2) {
        even += v[g->neighbor[a]];
        odd += v[g->neighbor[a + 1]];
      }
      if (a < last) even += v[g->neighbor[a]];
    }
    pass->to[i] = (even + odd) * sr__lanczos_root(pass->z, i);
  }
  return SR_OK;
}

/* Sums to' basis_j for j < count, then to' top. */
static sr_status project(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__lanczos_pass *pass = data;
  sr__lanczos *z = pass->z;
  double *sum = z->partial + chunk * (SR__LANCZOS_STEPS + 2);
  for (int j = 0; j <= pass->count; j++) {
    const double *v = j < pass->count ? z->basis[j] : z->top;
    sr__d4 dot = {0};
    for (int64_t i = chunk * SR__CHUNK; i < pass_end(z, chunk); i += SR__SLICE)
      dot = sr__d4_dot(dot, sr__d8_load(v + i), sr__d8_load(pass->to + i));
    sum[j] = sr__d4_sum(dot);
  }
  return SR_OK;
}

/* to -= sum of coefficient_j basis_j, and of the last one times top; sums to' to. */
static sr_status subtract(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__lanczos_pass *pass = data;
  sr__lanczos *z = pass->z;
  int64_t begin = chunk * SR__CHUNK, end = pass_end(z, chunk);
  for (int j = 0; j <= pass->count; j++) {
    const double *v = j < pass->count ? z->basis[j] : z->top;
    for (int64_t i = begin; i < end; i++) pass->to[i] -= pass->coefficient[j] * v[i];
  }
  sr__d4 norm = {0};
  for (int64_t i = begin; i < end; i += SR__SLICE) {
    sr__d8 v = sr__d8_load(pass->to + i);
    norm = sr__d4_dot(norm, v, v);
  }
  z->partial[chunk * (SR__LANCZOS_STEPS + 2)] = sr__d4_sum(norm);
  return SR_OK;
}

/* The first `count` basis vectors := basis times the columns of `coefficient` (filled x count). */
static sr_status rotate(sr_context *worker, void *data, int64_t chunk, int slot_) {
  (void)worker, (void)slot_;
  const sr__lanczos_pass *pass = data;
  sr__lanczos *z = pass->z;
  for (int64_t i = chunk * SR__CHUNK; i < pass_end(z, chunk); i += SR__SLICE) {
    sr__d8 old[SR__LANCZOS_STEPS];
    for (int j = 0; j < z->filled; j++) old[j] = sr__d8_load(z->basis[j] + i);
    for (int k = 0; k < pass->count; k++) {
      sr__d8 sum = {{0}, {0}};
      for (int j = 0; j < z->filled; j++) {
        sum.low += pass->coefficient[k * z->filled + j] * old[j].low;
        sum.high += pass->coefficient[k * z->filled + j] * old[j].high;
      }
      sr__d8_store(z->basis[k] + i, sum);
    }
  }
  return SR_OK;
}

const sr__lanczos_kernel SR__KERNEL(sr__lanczos_kernel) = {.scale = scale,
                                                           .multiply = multiply,
                                                           .project = project,
                                                           .subtract = subtract,
                                                           .rotate = rotate};
