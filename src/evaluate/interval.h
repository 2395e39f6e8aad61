/* Intervals of errors. Internal to evaluate and train; tests see it too. */
#ifndef SR_EVALUATE_INTERVAL_H
#define SR_EVALUATE_INTERVAL_H

#include "core/core.h"

/* On the variance of a mean: what the draw of the delivered ensemble adds. Weights and offset of a
 * mix are draws too. */
#define SR__WIDEN 1.25
#define SR__WIDEN_MIX 1.5

typedef struct sr__interval {
  double estimate, low, high;
  double error, degrees; /* standard error; degrees of freedom */
} sr__interval;

/* How many of the slowest waves n losses of memory T allow: n / 4 T, between 3 and 12. */
int32_t sr__interval_waves(int64_t n, double tmix);
/* The mean of losses in order whose memory is T: the variance of the mean from the q slowest cosine
 * waves, Student's t with q degrees of freedom, logit scale. Cost O(n q). */
void sr__interval_in_order(const double *loss, int64_t n, double tmix, double widen, double level,
                           sr__interval *interval);
/* The mean over units of different size, which are independent: `loss` sums over `rows` rows each.
 */
void sr__interval_of_units(const double *loss, const double *rows, int32_t units, double widen,
                           double level, sr__interval *interval);
/* The same two for differences of the losses of two votes: symmetric around the mean. */
void sr__interval_of_differences(const double *difference, int64_t n, double tmix, double widen,
                                 double level, sr__interval *interval);
void sr__interval_of_unit_differences(const double *difference, const double *rows, int32_t units,
                                      double widen, double level, sr__interval *interval);
/* Also pays for the model behind losses whose mean was carried by `way` to other members: half of
 * the way is added as a standard error of its own. */
void sr__interval_carried(double way, double rows, double level, sr__interval *interval);
/* For one more unit around `center`: NaN for fewer than two. */
void sr__interval_next(double center, const double *unit_error, int32_t units, double degrees,
                       double level, double *low, double *high);

/* Whether an interval of an error holds so much of 0 to 1 that it answers nothing. */
bool sr__interval_says_nothing(double low, double high);

/* Errors in order of time, carried one step on. */
typedef struct sr__outlook {
  sr__interval mean, line; /* for one more unit */
  double slope;            /* of the line, over its standard error */
} sr__outlook;
/* Three errors or more. */
void sr__outlook_of(const double *error, int32_t count, double level, sr__outlook *outlook);

#endif
