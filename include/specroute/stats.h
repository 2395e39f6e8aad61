/* Statistics: rank tests, corrections for many tests, intervals, fits. */
#ifndef SPECROUTE_STATS_H
#define SPECROUTE_STATS_H

#include <specroute/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tails of the usual laws --------------------------------------------------------------- */

/* P(X <= x) of a standard normal, and the x where it is p. */
SR_API double sr_normal_cdf(double x);
SR_API double sr_normal_quantile(double p);
/* P(X > x): chi-square with `degrees` of freedom, Student's t (beyond t), F with degrees1 and
 * degrees2; and the t where P(T <= t) is p. */
SR_API double sr_chi_square_tail(double x, double degrees);
SR_API double sr_student_tail(double t, double degrees);
SR_API double sr_f_tail(double x, double degrees1, double degrees2);
SR_API double sr_student_quantile(double p, double degrees);
/* P(Q > q) for the range of k standard normals. */
SR_API double sr_studentized_range_tail(double q, int32_t k);

/* ---- rank tests --------------------------------------------------------------------------- */

typedef enum sr_zero_method {
  SR_ZERO_WILCOX, /* zero differences are dropped */
  SR_ZERO_PRATT   /* they are ranked, then their ranks are dropped */
} sr_zero_method;

typedef enum sr_tail_method {
  SR_TAIL_AUTO,  /* exact for n <= 50 without ties and zeros, else normal */
  SR_TAIL_EXACT, /* every sign pattern counted, ties included */
  SR_TAIL_NORMAL /* normal with the tie correction, no continuity correction */
} sr_tail_method;

typedef struct sr_wilcoxon {
  double rank_sum_positive, rank_sum_negative;
  double z;      /* of the normal form; 0 where it was not used */
  double p;      /* two-sided */
  double p_less; /* x tends to be smaller than y */
  double p_greater;
  double median_difference; /* Hodges-Lehmann: median of the pairwise means */
  int64_t used;             /* pairs that entered */
  sr_tail_method method;
} sr_wilcoxon;

/* Signed-rank test of `count` values x against y (y NULL: against 0) into *result; `zeros` says
 * what equal pairs do, `method` how the tail is found. Equal pairs only: p = 1, used = 0. Errors:
 * SR_ERROR_DATA (no pair, or a difference that is not finite), SR_ERROR_MEMORY. Cost: count^2 for
 * the median of pairwise means. */
SR_API SR_MUST_CHECK sr_status sr_wilcoxon_test(sr_context *ctx, int64_t count, const double *x,
                                                const double *y, sr_zero_method zeros,
                                                sr_tail_method method, sr_wilcoxon *result);

typedef struct sr_friedman {
  double statistic; /* chi-square form with the tie correction */
  double p;
} sr_friedman;

/* `value` is datasets x methods, row-major; larger is better where `larger_is_better`.
 * `average_rank` holds one entry per method, 1 = best; the test itself is *result. Errors:
 * SR_ERROR_DATA (fewer than two methods or no data set), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_friedman_test(sr_context *ctx, int64_t datasets, int32_t methods,
                                                const double *value, int larger_is_better,
                                                double *average_rank, sr_friedman *result);
/* Average ranks of so many methods over so many datasets that differ by more than this differ at
 * `alpha`. */
SR_API double sr_nemenyi_critical_difference(int32_t methods, int64_t datasets, double alpha);

/* Holm's step-down of `count` values p: `adjusted` may be `p`. Errors: SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_holm(sr_context *ctx, int64_t count, const double *p,
                                       double *adjusted);

/* rank[i]: the rank of value[i] among `count`, 1 = smallest; ties share their mean. Errors:
 * SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_ranks(sr_context *ctx, int64_t count, const double *value,
                                        double *rank);
/* Spearman's correlation of `count` pairs (x, y) and its two-sided p by Student's t. Errors:
 * SR_ERROR_DATA (fewer than three pairs), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_spearman(sr_context *ctx, int64_t count, const double *x,
                                           const double *y, double *correlation, double *p);

/* ---- estimates with intervals ------------------------------------------------------------- */

typedef struct sr_interval {
  double estimate, low, high;
} sr_interval;

/* Mean of value[0 .. count); 0 of none. */
SR_API double sr_mean(int64_t count, const double *value);
/* Of each value's distance from the mean; divides by count - 1; 0 for fewer than two values. */
SR_API double sr_standard_deviation(int64_t count, const double *value);
/* The value below which a share p lies, by linear interpolation between `count` order statistics;
 * `sorted` increases. */
SR_API double sr_quantile_sorted(int64_t count, const double *sorted, double p);

typedef double (*sr_statistic_fn)(void *data, int64_t count, const double *value);
typedef double (*sr_index_statistic_fn)(void *data, int64_t count, const int64_t *index);

typedef enum sr_bootstrap_kind { SR_BOOTSTRAP_PERCENTILE, SR_BOOTSTRAP_BCA } sr_bootstrap_kind;

typedef struct sr_bootstrap_options {
  sr_bootstrap_kind kind;
  int32_t replicates; /* 2000 */
  double level;       /* 0.95 */
} sr_bootstrap_options;

SR_API void sr_bootstrap_options_init(sr_bootstrap_options *options);
/* An interval for a statistic of `count` values that are drawn again with replacement, by `seed`.
 * `statistic` NULL: the mean. It gets `data` and is called from several threads with their own
 * `value`. `options` may be NULL. *interval is filled. Errors: SR_ERROR_DATA (fewer than two
 * values, or a statistic that is not finite), SR_ERROR_ARGUMENT (replicates, level),
 * SR_ERROR_MEMORY. Cost: `replicates` calls of the statistic, and `count` more where the kind is
 * BCa. */
SR_API SR_MUST_CHECK sr_status sr_bootstrap(sr_context *ctx, int64_t count, const double *value,
                                            sr_statistic_fn statistic, void *data,
                                            const sr_bootstrap_options *options, uint64_t seed,
                                            sr_interval *interval);
/* The same for items that are more than a value each: the statistic gets the numbers of the items
 * that were drawn, each in [0, count of all items). The same seed draws the same items as
 * sr_bootstrap. It may not change `index`. *interval, `data`, `options`, errors and cost as there.
 * Errors: those of sr_bootstrap. */
SR_API SR_MUST_CHECK sr_status sr_bootstrap_indices(sr_context *ctx, int64_t count,
                                                    sr_index_statistic_fn statistic, void *data,
                                                    const sr_bootstrap_options *options,
                                                    uint64_t seed, sr_interval *interval);
/* Mean of the middle half of all runs x tasks values (floor of a quarter trimmed on each side); the
 * interval resamples runs inside each task. `value` is runs x tasks, row-major. Errors as
 * sr_bootstrap. */
SR_API SR_MUST_CHECK sr_status sr_iqm(sr_context *ctx, int64_t runs, int64_t tasks,
                                      const double *value, const sr_bootstrap_options *options,
                                      uint64_t seed, sr_interval *interval);
/* Performance profile: the share of all runs x tasks values above each of `taus` thresholds tau,
 * with pointwise intervals that resample runs inside each task. `value` is runs x tasks, row-major;
 * `share` holds one entry per threshold; `options` NULL: defaults. Errors: SR_ERROR_DATA (no run or
 * task), SR_ERROR_ARGUMENT, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_performance_profile(sr_context *ctx, int64_t runs, int64_t tasks,
                                                      const double *value, int64_t taus,
                                                      const double *tau,
                                                      const sr_bootstrap_options *options,
                                                      uint64_t seed, sr_interval *share);
/* P(X > Y) for a random run of each on a random task, ties a half: the mean over tasks of
 * Mann-Whitney's U / (runs_x runs_y), with an interval that resamples both inside each task. `x` is
 * runs_x x tasks, `y` runs_y x tasks, row-major. `options` NULL: defaults. *probability is filled.
 * Errors as above. Cost: replicates x tasks x runs_x x runs_y. */
SR_API SR_MUST_CHECK sr_status sr_probability_of_improvement(
    sr_context *ctx, int64_t tasks, int64_t runs_x, const double *x, int64_t runs_y,
    const double *y, const sr_bootstrap_options *options, uint64_t seed, sr_interval *probability);
/* Expected calibration error of the top label: `bins` equal-width bins (15), L1. `proba` is rows x
 * classes, row-major. Errors: SR_ERROR_DATA (no rows, classes or bins), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_calibration_error(sr_context *ctx, int64_t rows, int32_t classes,
                                                    const float *proba, const int32_t *label,
                                                    int32_t bins, double *error);

/* ---- metrics of predicted classes ------------------------------------------------------------ */

/* Rows whose truth or vote is -1 are passed over. */
typedef struct sr_metrics_input {
  int64_t rows;
  int32_t classes;
  const int32_t *truth, *vote; /* in [0, classes), -1 = none */
  const float *share;          /* rows x classes, row-major; NULL: only the votes are judged */
} sr_metrics_input;

/* Rows whose top class got a share in (b / 15, (b + 1) / 15]. */
enum { SR_CALIBRATION_BINS = 15 };
typedef struct sr_calibration_bin {
  int64_t rows;
  double share; /* mean share of the top class; NaN: no rows */
  double right; /* share of the rows whose top class was right */
} sr_calibration_bin;

typedef struct sr_metrics {
  int64_t rows; /* judged */
  double error;
  double balanced_accuracy; /* mean recall of the classes that occur */
  double macro_f1;          /* mean over the classes that occur or were named */
  double auc;               /* two classes: area under the curve; more: mean of one against rest */
  double brier;             /* mean over rows of the squared error summed over classes */
  double log_loss;          /* of shares held above 1e-7 */
  double ece;               /* expected calibration error of the top class, 15 bins */
  sr_calibration_bin calibration[SR_CALIBRATION_BINS];
} sr_metrics;

/* *metrics of the input; NaN where it cannot be told. `confusion` (may be NULL) gets classes x
 * classes counts, a row per true class. Errors: SR_ERROR_ARGUMENT (a class out of range),
 * SR_ERROR_MEMORY. Cost: O(rows log rows) per class. */
SR_API SR_MUST_CHECK sr_status sr_metrics_compute(sr_context *ctx, const sr_metrics_input *input,
                                                  sr_metrics *metrics, int64_t *confusion);

typedef struct sr_line_fit {
  sr_interval slope, intercept; /* Student's t intervals */
  double r_squared;
  int64_t used;
} sr_line_fit;

/* Least squares y = intercept + slope x through `count` points into *fit, with intervals of a
 * `level`; `log_log` takes logarithms of both (all must be > 0). Errors: SR_ERROR_DATA (fewer than
 * three points, or points that have no line), SR_ERROR_ARGUMENT (level), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_fit_line(sr_context *ctx, int64_t count, const double *x,
                                           const double *y, int log_log, double level,
                                           sr_line_fit *fit);

#ifdef __cplusplus
}
#endif
#endif
