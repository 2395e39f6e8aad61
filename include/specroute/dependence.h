/* How far apart two rows must be before they are new.
 *
 * The unit of T: a first-order chain forgets the share 1/T of its past in one step, so a
 * correlation of lambda after one row means T = 1 / (1 - lambda). Independent rows have T = 1; the
 * witness of sr_simulate with tmix = T has this T. On graphs without an order T counts nodes. */
#ifndef SPECROUTE_DEPENDENCE_H
#define SPECROUTE_DEPENDENCE_H

#include <specroute/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sr_dependence sr_dependence;

/* An estimate in rows (time) or nodes (graphs) with an interval; NaN where it cannot be told. */
typedef struct sr_scale {
  const char *method;
  double estimate, low, high;
} sr_scale;

typedef struct sr_dependence_view {
  int64_t rows, features;
  int32_t classes;     /* 0 where the table has no target */
  sr_scale tmix;       /* the one that is trusted */
  double tmix_careful; /* rather too long than too short: it sets the width of intervals */
  int32_t scale_count; /* every estimator that ran */
  const sr_scale *scales;
  double lambda2; /* of the transition graph (graphs: 1 - correlation of neighbors) */
  double iact;    /* 1 + 2 sum rho_k of the slowest direction (graphs: sum over nodes) */
  double ess;     /* rows / iact */
  double politis_white_stationary, politis_white_circular; /* of the slowest direction */
  int politis_white_saturated;
  double drift; /* largest linear change of a mean over all rows, in standard deviations */
  double sample_condition; /* n / (T^3 log n); below 1 the paper's condition fails */
  int32_t warning_count;
  const char *const *warnings;
  int32_t lag_count; /* pooled autocorrelation (time) or correlogram (graphs) */
  const double *lag, *correlation;
  int32_t implied_count; /* implied timescales at several lags */
  const double *implied_lag, *implied_timescale;
  const char *graph; /* name of the builder */
  sr_graph_relation relation;
  const char *reason;    /* why `tmix` is the trusted one */
  int64_t used_features; /* columns after constant and empty ones are left out */
  double missing_share;  /* of the values */
  int64_t groups;        /* 1 where the table names none */
  double group_share;    /* share of the variance that lies between groups; NaN for one group */
  double iact_pooled;    /* mean over the features, where iact is that of the slowest direction */
  double drift_score;    /* that change over its standard error */
  int64_t drift_feature; /* where it is; -1 where there is none */
  double period;         /* lag at which the autocorrelation comes back; NaN: none seen */
  double range;          /* graphs: steps after which the correlation fell to 1/e; else NaN */
  int32_t eigenvalue_count; /* of the transition graph, decreasing from the second on */
  const double *eigenvalue;
  const double
      *slow_correlation; /* time: autocorrelation of the slow coordinate at `lag`, or NULL */
  const float *slow;     /* time: second eigenvector of the transition graph at each row of the
                            table; NULL on graphs and where it cannot be told */
} sr_dependence_view;

typedef struct sr_dependence_options {
  double level; /* of the interval: 0.9 */
} sr_dependence_options;

/* The options with their defaults and ranges, a constant list that ends with a key of NULL. */
SR_API const sr_option *sr_dependence_option_list(void);
SR_API void sr_dependence_options_init(sr_dependence_options *options);
/* Rows are taken in their order in the table, or as neighbors in `graph` where one is given that is
 * not made of the order; groups are never joined. `options` may be NULL. Too few or too simple data
 * are no error: the numbers are NaN and a warning says why. Free with sr_dependence_free. Errors:
 * SR_ERROR_ARGUMENT (level outside (0, 1), a graph of other rows), SR_ERROR_MEMORY. Cost: O(n d^2)
 * time, O(n d) memory. */
SR_API SR_MUST_CHECK sr_status sr_dependence_estimate(sr_context *ctx, const sr_table *table,
                                                      const sr_graph *graph,
                                                      const sr_dependence_options *options,
                                                      uint64_t seed, sr_dependence **dependence);
SR_API void sr_dependence_free(sr_dependence **dependence);
SR_API const sr_dependence_view *sr_dependence_get(const sr_dependence *dependence);

/* ---- one series --------------------------------------------------------------------------- */

/* Two published readings of the automatic block length of Politis and White (2004), corrected by
 * Patton, Politis and White (2009); they differ in the significance test and in what happens where
 * no insignificant run is found. docs/methods/dependence-politis-white.md has the table. */
typedef enum sr_politis_white_form {
  SR_POLITIS_WHITE_ARCH,
  SR_POLITIS_WHITE_NP
} sr_politis_white_form;

typedef struct sr_politis_white {
  double stationary, circular; /* mean block and block length, in rows; NaN for a constant series */
  int64_t bandwidth;           /* largest lag that was used */
  int saturated;               /* no insignificant run below the lag cap, or the block cap was hit:
                                  the true optimum may be longer */
} sr_politis_white;

/* The block length that Politis and White choose for a series of n values, by the form of one of
 * their programs, into *length. Errors: SR_ERROR_ARGUMENT (fewer than 10 values, a value that is
 * not finite), SR_ERROR_MEMORY. Cost: n times the largest lag. */
SR_API SR_MUST_CHECK sr_status sr_politis_white_length(sr_context *ctx, const float *series,
                                                       int64_t n, sr_politis_white_form form,
                                                       sr_politis_white *length);

/* ---- theory ------------------------------------------------------------------------------- */

/* The paper's bounds in numbers (constants 1). */
typedef struct sr_theory {
  double minimax;          /* sqrt(T / n) */
  double bagging;          /* T / sqrt(n) */
  double drift;            /* nu T / n */
  double sample_condition; /* n / (T^3 log n) */
} sr_theory;
/* The bounds at T = tmix, n rows and a drift of nu. */
SR_API sr_theory sr_theory_bounds(double tmix, double n, double drift);

#ifdef __cplusplus
}
#endif
#endif
