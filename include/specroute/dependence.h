/* How far apart two rows must be before they are new. */
#ifndef SPECROUTE_DEPENDENCE_H
#define SPECROUTE_DEPENDENCE_H

#include <specroute/partition.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sr_dependence sr_dependence;

/* An estimate in rows (time) or nodes (graphs) with a 90 % interval; NaN where it cannot be told. */
typedef struct sr_scale {
  const char *method;
  double estimate, low, high;
} sr_scale;

typedef struct sr_dependence_view {
  int64_t rows, features;
  sr_scale tmix;              /* the one that is trusted */
  int32_t scale_count;        /* every estimator that ran */
  const sr_scale *scales;
  double lambda2;             /* of the transition graph: 1 - exp(-1 / T) */
  double iact;                /* 1 + 2 sum rho_k */
  double ess;                 /* rows / iact */
  double politis_white_stationary, politis_white_circular;
  int politis_white_saturated;
  double drift;               /* mean shift across parts in standard deviations */
  double sample_condition;    /* n / (T^3 log n); below 1 the paper's condition fails */
  int32_t parts;              /* how many parts to use */
  double block;               /* rows a block or part should have */
  const char *recommend;      /* name of a plan */
  int32_t warning_count;
  const char *const *warnings;
  int32_t lag_count;          /* pooled autocorrelation (time) or correlogram (graphs) */
  const double *lag, *correlation;
  int32_t implied_count;      /* implied timescales at several lags */
  const double *implied_lag, *implied_timescale;
} sr_dependence_view;

typedef struct sr_dependence_options {
  const char *graph;          /* time (default), space[:k], features[:k], grid */
  uint64_t seed;
  double level;               /* of the interval: 0.9 */
} sr_dependence_options;

SR_API void sr_dependence_options_init(sr_dependence_options *options);
SR_API SR_MUST_CHECK sr_status sr_dependence_estimate(sr_context *ctx, const sr_table *table,
                                                      const sr_dependence_options *options,
                                                      sr_dependence **dependence);
SR_API void sr_dependence_free(sr_dependence **dependence);
SR_API const sr_dependence_view *sr_dependence_get(const sr_dependence *dependence);

/* The paper's bounds in numbers (constants 1). */
typedef struct sr_theory {
  double minimax;             /* sqrt(T / n) */
  double bagging;             /* T / sqrt(n) */
  double drift;               /* nu T / n */
  double sample_condition;    /* n / (T^3 log n) */
} sr_theory;
SR_API sr_theory sr_theory_bounds(double tmix, double n, double drift);

#ifdef __cplusplus
}
#endif
#endif
