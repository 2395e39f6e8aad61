/* Functions of single elements, with their slopes. Errors are stated as measured over [-20, 20]. */
#include "nn/pointwise_kernel.h"

#include "nn/lanes.h"

typedef struct value_and_slope {
  sr__wide value, slope;
} value_and_slope;

/* x Phi(x). The tail of Phi is t p(t) exp(-x^2/2) with t = 1 / (1 + .3275911 |x| / sqrt 2)
 * (Abramowitz and Stegun 7.1.26). Absolute error 2e-7 max(1, |x|), of the slope 3e-7. */
SR__INLINE value_and_slope gelu_of(sr__wide x) {
  sr__wide bell = sr__exp2(x * x * sr__all(-0.5f * SR__LOG2_E));
  sr__wide t =
      sr__all(1.0f) / sr__fused(sr__magnitude(x), sr__all(0.3275911f * 0.70710678f), sr__all(1.0f));
  sr__wide p = sr__fused(sr__all(0.5f * 1.061405429f), t, sr__all(0.5f * -1.453152027f));
  p = sr__fused(p, t, sr__all(0.5f * 1.421413741f));
  p = sr__fused(p, t, sr__all(0.5f * -0.284496736f));
  p = sr__fused(p, t, sr__all(0.5f * 0.254829592f));
  p = p * t * bell;
  sr__wide phi = sr__select_by_sign(x, p, sr__all(1.0f) - p);
  return (value_and_slope){x * phi, sr__fused(x * sr__all(0.39894228f), bell, phi)};
}

SR__INLINE value_and_slope silu_of(sr__wide x) {
  sr__wide s = sr__sigmoid(x), y = x * s;
  return (value_and_slope){y, sr__fused(y, sr__all(1.0f) - s, s)};
}

/* max(x, 0) + log(1 + u), u = exp(-|x|), with log(1 + u) = 2 artanh(u / (2 + u)). Relative error
 * 1e-6. The slope is the sigmoid; 1 - exp(-softplus) would cancel. */
SR__INLINE value_and_slope softplus_of(sr__wide x) {
  sr__wide u = sr__exp2(sr__magnitude(x) * -SR__LOG2_E);
  sr__wide s = u / (u + sr__all(2.0f)), q = s * s, r = sr__all(1.0f) / (u + sr__all(1.0f));
  sr__wide p = sr__all(2.0f / 13);
  p = sr__fused(p, q, sr__all(2.0f / 11));
  p = sr__fused(p, q, sr__all(2.0f / 9));
  p = sr__fused(p, q, sr__all(2.0f / 7));
  p = sr__fused(p, q, sr__all(2.0f / 5));
  p = sr__fused(p, q, sr__all(2.0f / 3));
  p = sr__fused(p, q, sr__all(2.0f));
  return (value_and_slope){sr__fused(p, s, sr__larger(x, sr__all(0))),
                           sr__select_by_sign(x, u * r, r)};
}

#define POINTWISE(name)                                                     \
  static void name(int64_t count, const float *x, float *y, float *slope) { \
    int64_t i = 0;                                                          \
    for (; i + SR__WIDE <= count; i += SR__WIDE) {                          \
      value_and_slope f = name##_of(sr__load(x + i));                       \
      sr__store(y + i, f.value);                                            \
      sr__store(slope + i, f.slope);                                        \
    }                                                                       \
    if (i == count) return;                                                 \
    value_and_slope f = name##_of(sr__load_some(x + i, count - i));         \
    sr__store_some(y + i, f.value, count - i);                              \
    sr__store_some(slope + i, f.slope, count - i);                          \
  }
POINTWISE(gelu)
POINTWISE(silu)
POINTWISE(softplus)

static void multiply(int64_t count, float *x, const float *factor) {
  for (int64_t i = 0; i < count; i++) x[i] *= factor[i];
}

static void add(int64_t count, float *x, const float *other) {
  for (int64_t i = 0; i < count; i++) x[i] += other[i];
}

/* Counter to random bits: two rounds of multiply, shift and xor. */
SR__INLINE sr__wide_bits hash(sr__wide_bits x) {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ (x >> 16);
}

static void dropout(int64_t count, const float *x, const float *base, float *y, float drop,
                    uint32_t key) {
  const sr__wide factor = sr__all(1.0f / (1.0f - drop));
  const sr__wide_int cut = (sr__wide_int){0} + (int32_t)((double)drop * 2147483648.0);
  sr__wide_bits counter = (sr__wide_bits){0, 1, 2, 3, 4, 5, 6, 7} + key;
  for (int64_t i = 0; i < count; i += SR__WIDE, counter += SR__WIDE) {
    const int64_t left = count - i;
    sr__wide v = left >= SR__WIDE ? sr__load(x + i) : sr__load_some(x + i, left);
    sr__wide_int kept = (sr__wide_int)(hash(counter) >> 1) >= cut;
    if (drop > 0) v = (sr__wide)((sr__wide_int)(v * factor) & kept);
    if (base) v += left >= SR__WIDE ? sr__load(base + i) : sr__load_some(base + i, left);
    if (left >= SR__WIDE)
      sr__store(y + i, v);
    else
      sr__store_some(y + i, v, left);
  }
}

/* Below -87 the value stays at 2^-126. */
static void exponential(int64_t count, const float *x, float *y) {
  for (int64_t i = 0; i < count; i += SR__WIDE) {
    const int64_t left = count - i;
    sr__wide v = left >= SR__WIDE ? sr__load(x + i) : sr__load_some(x + i, left);
    v = sr__exp2(v * sr__all(SR__LOG2_E));
    if (left >= SR__WIDE)
      sr__store(y + i, v);
    else
      sr__store_some(y + i, v, left);
  }
}

const sr__pointwise_kernel SR__KERNEL(sr__pointwise_kernel) = {gelu, silu,    softplus,   multiply,
                                                               add,  dropout, exponential};
