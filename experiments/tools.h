/* What several experiments share: fits over cases, covariances over replicates. */
#ifndef SR_EXPERIMENTS_TOOLS_H
#define SR_EXPERIMENTS_TOOLS_H

#include "experiment.h"

/* The cases first, first + stride, ...: `count` of them. */
typedef struct case_row {
  int first, stride, count;
} case_row;

/* Least-squares slope of log value on log x over all seeds of the cases, which stand at
 * x[0..count), with a 95 % interval. NaN where fewer than three points are positive. */
sr_interval conclusion_slope(conclusion *c, case_row cases, const double *x,
                             const char *value_name);

/* Points of a plot series, with their intervals. */
typedef struct curve {
  double *y, *low, *high;
} curve;

/* Mean and 95 % interval of every case. */
void conclusion_curve(conclusion *c, case_row cases, const char *value_name, curve to);

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
