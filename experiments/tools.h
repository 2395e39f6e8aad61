/* What several experiments share: fits over cases, covariances over replicates. */
#ifndef SR_EXPERIMENTS_TOOLS_H
#define SR_EXPERIMENTS_TOOLS_H

#include "experiment.h"

/* Least-squares slope of log value on log x over all seeds of the cases first, first + stride, ...
 * (`count` of them, at x[0..count)), with a 95 % interval. NaN where fewer than three points are
 * positive. */
sr_interval conclusion_slope(conclusion *c, int first, int stride, int count, const double *x,
                             const char *value_name);

/* Mean and standard error of every case as a plot series: fills y, low and high. */
void conclusion_curve(conclusion *c, int first, int stride, int count, const char *value_name,
                      double *y, double *low, double *high);

/* Does the interval hold this number? */
bool interval_holds(const sr_interval *interval, double value);

/* Unbiased covariance over replicates of two members' outputs: `sum` and `sum_of_squares` are, for
 * each replicate, sum_j V_j and sum_j V_j^2 over its m members. */
double experiment_pairwise_covariance(int replicates, int members, const double *sum,
                                      const double *sum_of_squares);

/* Solves the symmetric positive definite system A x = b in place (A is size x size, row-major; x
 * replaces b). SR_ERROR_DATA where A is singular. */
SR_MUST_CHECK sr_status experiment_solve_definite(int size, double *a, double *b);

#endif
