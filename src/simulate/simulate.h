/* Witnesses. Each is one file with an operations table and a line in methods.def. Internal. */
#ifndef SR_SIMULATE_SIMULATE_H
#define SR_SIMULATE_SIMULATE_H

#include <specroute/simulate.h>

#include "core/core.h"
#include "core/options.h"
#include "core/random.h"

/* The options that every witness has; its own struct begins with them. */
#define SR__WITNESS_FIELDS \
  int64_t n;               \
  int64_t d;               \
  double delta;            \
  double noise;            \
  int noise_kind

typedef struct sr__witness {
  SR__WITNESS_FIELDS;
} sr__witness;

enum { SR__NOISE_INDEPENDENT, SR__NOISE_LIKE_FEATURES };

#define SR__WITNESS_OPTIONS(type)                                        \
  SR_INTEGER(type, n, "10000", 1, 2147483647, "rows"),                   \
      SR_INTEGER(type, d, "5", 1, 100000, "features"),                   \
      SR_REAL(type, delta, "0.5", -1e6, 1e6, "length of the mean of X"), \
      SR_REAL(type, noise, "1", 0, 1e6, "standard deviation of the noise in the label")
#define SR__NOISE_OPTION(type)                 \
  SR_CHOICE(type, noise_kind, "iid", "iid|ar", \
            "independent noise, or noise as dependent as the features")

/* One process that is to be drawn: that of a feature, or of the noise. */
typedef struct sr__draw {
  const void *options; /* the witness's own struct */
  uint64_t seed, replicate;
  sr__purpose purpose;
  uint64_t unit; /* which feature */
} sr__draw;

typedef struct sr__simulator {
  sr_method about;
  /* n values of the process, stationary with mean 0 and variance 1. */
  sr_status (*fill)(sr_context *ctx, const sr__draw *draw, double *out);
  /* The noise follows the process always, not only where noise_kind says so. */
  bool noise_is_dependent;
  /* By how much every mean moves over the n rows; NULL: not at all. */
  double (*drift)(const void *options);
  /* Columns of the lattice whose cells are the rows, the last row perhaps short; NULL: no lattice.
   */
  int64_t (*lattice_columns)(const void *options);
} sr__simulator;

const sr__simulator *sr__simulator_at(int index);

sr__random sr__draw_stream(const sr__draw *draw);
/* A stationary AR(1) with lag-one correlation lambda. */
SR_MUST_CHECK sr_status sr__fill_ar1(sr_context *ctx, sr__random *random, double lambda, int64_t n,
                                     double *out);
/* Rows between two looks for an interrupt. */
enum { SR__SIMULATED_AT_ONCE = 1 << 16 };

#endif
