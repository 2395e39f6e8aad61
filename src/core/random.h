/* Counter-based random streams. A stream is named by (seed, purpose, replicate, unit): equal names
 * give equal numbers in any thread, order or process. Every draw is specified to the bit: integers
 * and IEEE arithmetic without contraction only, no libm. */
#ifndef SR_CORE_RANDOM_H
#define SR_CORE_RANDOM_H

#include <stdint.h>

/* What the numbers are for. Append; never renumber. */
typedef enum sr__purpose {
  SR_PURPOSE_TEST = 1,
  SR_PURPOSE_SIMULATE_WITNESS = 2,
  SR_PURPOSE_SIMULATE_FEATURE = 3,
  SR_PURPOSE_SIMULATE_NOISE = 4,
  SR_PURPOSE_BAG = 5,
  SR_PURPOSE_LEARNER = 6,
  SR_PURPOSE_FOLD = 7,
  SR_PURPOSE_BOOTSTRAP = 8,
  SR_PURPOSE_PERMUTE = 9,
  SR_PURPOSE_LANDMARK = 10,
  SR_PURPOSE_SOLVER = 11,
  SR_PURPOSE_KNN = 12,
  SR_PURPOSE_EXPERIMENT = 13,
  SR_PURPOSE_SIMULATE_MOVES = 14,
  SR_PURPOSE_CARRY = 15,
  SR_PURPOSE_TUNE = 16,
  SR_PURPOSE_REPLAY = 40
} sr__purpose;

typedef struct sr__random {
  uint64_t key[2];
  uint64_t counter[4];
  uint64_t block[4];
  int used; /* words of block that are spent */
} sr__random;

void sr__random_init(sr__random *random, uint64_t seed, sr__purpose purpose, uint64_t replicate,
                     uint64_t unit);
uint64_t sr__random_bits(sr__random *random);
/* In [0, 1): the upper 53 bits times 2^-53. */
double sr__random_uniform(sr__random *random);
/* Standard normal by inversion (Wichura's AS 241) of (upper 53 bits + 1/2) 2^-53: one word a draw.
 */
double sr__random_normal(sr__random *random);
/* In [0, bound), unbiased (Lemire's multiply and reject); bound >= 1. */
uint64_t sr__random_below(sr__random *random, uint64_t bound);
/* Number of trials up to the first success, >= 1; the rate is that of its probability, 0 < p <= 1:
 * log(1 - p). */
double sr__geometric_rate(double p);
int64_t sr__random_geometric(sr__random *random, double rate);
void sr__random_shuffle(sr__random *random, int32_t *values, int64_t count);
/* `count` distinct values of [0, n), increasing. `bitmap` holds (n + 63) / 64 words of scratch. */
void sr__random_sample(sr__random *random, int64_t n, int64_t count, uint64_t *bitmap,
                       int32_t *values);

/* Natural logarithm in plain IEEE arithmetic, within 2 ulp, the same bits everywhere; x > 0. */
double sr__log_portable(double x);
/* Quantile of the standard normal, 0 < p < 1, relative error below 1e-15. */
double sr__normal_quantile(double p);

#endif
