#include "random.h"

#include <specroute/core.h>

#include <math.h>
#include <string.h>

#include <Random123/philox.h>

void sr__random_init(sr__random *random, uint64_t seed, sr__purpose purpose, uint64_t replicate,
                     uint64_t unit) {
  memset(random, 0, sizeof *random);
  random->key[0] = seed;
  random->key[1] = (uint64_t)purpose;
  random->counter[1] = unit;
  random->counter[2] = replicate;
  random->used = 4;
}

static void refill(sr__random *random) {
  philox4x64_key_t key = {{random->key[0], random->key[1]}};
  philox4x64_ctr_t counter;
  memcpy(counter.v, random->counter, sizeof random->counter);
  philox4x64_ctr_t block = philox4x64(counter, key);
  memcpy(random->block, block.v, sizeof random->block);
  random->counter[0]++;
  random->used = 0;
}

uint64_t sr__random_bits(sr__random *random) {
  if (random->used == 4) refill(random);
  return random->block[random->used++];
}

double sr__random_uniform(sr__random *random) {
  return (double)(sr__random_bits(random) >> 11) * 0x1p-53;
}

double sr__random_normal(sr__random *random) {
  return sr__normal_quantile(((double)(sr__random_bits(random) >> 11) + 0.5) * 0x1p-53);
}

uint64_t sr__random_below(sr__random *random, uint64_t bound) {
  __extension__ typedef unsigned __int128 wide;
  wide product = (wide)sr__random_bits(random) * bound;
  if ((uint64_t)product < bound) {
    uint64_t threshold = (0 - bound) % bound;
    while ((uint64_t)product < threshold) product = (wide)sr__random_bits(random) * bound;
  }
  return (uint64_t)(product >> 64);
}

double sr__geometric_rate(double p) {
  if (p >= 1.0) return -INFINITY;
  /* A series where 1 - p would round. */
  return p > 1e-5 ? sr__log_portable(1.0 - p) : -p - 0.5 * p * p;
}

int64_t sr__random_geometric(sr__random *random, double rate) {
  double u = 1.0 - sr__random_uniform(random); /* in (0, 1] */
  double trials = floor(sr__log_portable(u) / rate) + 1.0;
  return trials < 0x1p62 ? (int64_t)trials : INT64_C(1) << 62;
}

void sr__random_shuffle(sr__random *random, int32_t *values, int64_t count) {
  for (int64_t i = count - 1; i > 0; i--) {
    int64_t j = (int64_t)sr__random_below(random, (uint64_t)i + 1);
    int32_t swap = values[i];
    values[i] = values[j];
    values[j] = swap;
  }
}

/* Floyd: for j = n-k .. n-1 take t in [0, j], or j itself where t is taken. */
void sr__random_sample(sr__random *random, int64_t n, int64_t count, uint64_t *bitmap,
                       int32_t *values) {
  int64_t words = (n + 63) / 64;
  memset(bitmap, 0, (size_t)words * sizeof *bitmap);
  for (int64_t j = n - count; j < n; j++) {
    uint64_t t = sr__random_below(random, (uint64_t)j + 1);
    if (bitmap[t / 64] >> (t % 64) & 1) t = (uint64_t)j;
    bitmap[t / 64] |= UINT64_C(1) << (t % 64);
  }
  int64_t written = 0;
  for (int64_t w = 0; w < words; w++) {
    for (uint64_t bits = bitmap[w]; bits; bits &= bits - 1)
      values[written++] = (int32_t)(w * 64 + __builtin_ctzll(bits));
  }
}

static double polynomial(const double *coefficient, int degree, double x) {
  double value = coefficient[degree];
  for (int i = degree - 1; i >= 0; i--) value = value * x + coefficient[i];
  return value;
}

/* Wichura, "Algorithm AS 241", PPND16. */
double sr__normal_quantile(double p) {
  static const double a[8] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                              1.9715909503065514427e3, 1.3731693765509461125e4,
                              4.5921953931549871457e4, 6.7265770927008700853e4,
                              3.3430575583588128105e4, 2.5090809287301226727e3};
  static const double b[8] = {1.0,
                              4.2313330701600911252e1,
                              6.8718700749205790830e2,
                              5.3941960214247511077e3,
                              2.1213794301586595867e4,
                              3.9307895800092710610e4,
                              2.8729085735721942674e4,
                              5.2264952788528545610e3};
  static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                              5.76949722146069140550e0,  3.64784832476320460504e0,
                              1.27045825245236838258e0,  2.41780725177450611770e-1,
                              2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static const double d[8] = {1.0,
                              2.05319162663775882187e0,
                              1.67638483018380384940e0,
                              6.89767334985100004550e-1,
                              1.48103976427480074590e-1,
                              1.51986665636164571966e-2,
                              5.47593808499534494600e-4,
                              1.05075007164441684324e-9};
  static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                              1.78482653991729133580e0,  2.96560571828504891230e-1,
                              2.65321895265761230930e-2, 1.24266094738807843860e-3,
                              2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static const double f[8] = {1.0,
                              5.99832206555887937690e-1,
                              1.36929880922735805310e-1,
                              1.48753612908506148525e-2,
                              7.86869131145613259100e-4,
                              1.84631831751005468180e-5,
                              1.42151175831644588870e-7,
                              2.04426310338993978564e-15};
  double q = p - 0.5;
  if (fabs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return q * polynomial(a, 7, r) / polynomial(b, 7, r);
  }
  double r = sqrt(-sr__log_portable(q < 0 ? p : 1.0 - p));
  double value = r <= 5.0 ? polynomial(c, 7, r - 1.6) / polynomial(d, 7, r - 1.6)
                          : polynomial(e, 7, r - 5.0) / polynomial(f, 7, r - 5.0);
  return q < 0 ? -value : value;
}

/* ---- the public streams ------------------------------------------------------------------- */

void sr_random_uniform(uint64_t seed, uint64_t replicate, uint64_t unit, int64_t count,
                       double *out) {
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_EXPERIMENT, replicate, unit);
  for (int64_t i = 0; i < count; i++) out[i] = sr__random_uniform(&random);
}

void sr_random_normal(uint64_t seed, uint64_t replicate, uint64_t unit, int64_t count,
                      double *out) {
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_EXPERIMENT, replicate, unit);
  for (int64_t i = 0; i < count; i++) out[i] = sr__random_normal(&random);
}
