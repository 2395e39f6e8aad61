/* Tails of the normal, chi-square, Student, F and studentized-range laws. */
#include <math.h>

#include "core/maths.h"
#include "core/random.h"
#include "stats.h"

static const double pi = 3.14159265358979323846;

double sr_normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2.0)); }

double sr_normal_quantile(double p) {
  if (!(p >= 0.0 && p <= 1.0)) return NAN;
  if (p == 0.0) return -INFINITY;
  if (p == 1.0) return INFINITY;
  return sr__normal_quantile(p);
}

/* ---- incomplete gamma ---------------------------------------------------------------------- */

enum { MOST_TERMS = 100000 };

/* x^a e^-x / Gamma(a), the factor of both expansions. */
static double gamma_factor(double a, double x) {
  return sr__exp_portable(a * sr__log_portable(x) - x - sr__lgamma_portable(a));
}

/* P(a, x) by its series; quick for x < a + 1. */
static double gamma_series(double a, double x) {
  double term = 1.0 / a, sum = term;
  for (int k = 1; k < MOST_TERMS && fabs(term) > fabs(sum) * 1e-17; k++) {
    term *= x / (a + k);
    sum += term;
  }
  return sum * gamma_factor(a, x);
}

/* Lentz's method keeps its denominators away from zero. */
static double away_from_zero(double value) { return fabs(value) < 1e-300 ? 1e-300 : value; }

/* Q(a, x) by its continued fraction; quick for x >= a + 1. */
static double gamma_fraction(double a, double x) {
  double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, product = d;
  for (int k = 1; k < MOST_TERMS; k++) {
    double numerator = -k * (k - a);
    b += 2.0;
    d = 1.0 / away_from_zero(numerator * d + b);
    c = away_from_zero(b + numerator / c);
    product *= c * d;
    if (fabs(c * d - 1.0) < 1e-16) break;
  }
  return product * gamma_factor(a, x);
}

double sr_chi_square_tail(double x, double degrees) {
  if (!(degrees > 0.0) || isnan(x)) return NAN;
  if (x <= 0.0) return 1.0;
  if (isinf(x)) return 0.0;
  double a = 0.5 * degrees, half = 0.5 * x;
  return half < a + 1.0 ? 1.0 - gamma_series(a, half) : gamma_fraction(a, half);
}

/* ---- incomplete beta ----------------------------------------------------------------------- */

static double beta_fraction(double a, double b, double x) {
  double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), product = d;
  for (int k = 1; k < MOST_TERMS; k++) {
    double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
    d = 1.0 / away_from_zero(1.0 + even * d);
    c = away_from_zero(1.0 + even / c);
    product *= c * d;
    double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
    d = 1.0 / away_from_zero(1.0 + odd * d);
    c = away_from_zero(1.0 + odd / c);
    product *= c * d;
    if (fabs(c * d - 1.0) < 1e-16) break;
  }
  return product;
}

/* I_x(a, b), with 1 - x given apart so that neither end loses digits. */
static double beta_regularized(double a, double b, double x, double rest) {
  if (x <= 0.0) return 0.0;
  if (rest <= 0.0) return 1.0;
  double factor = sr__exp_portable(sr__lgamma_portable(a + b) - sr__lgamma_portable(a) -
                                   sr__lgamma_portable(b) + a * sr__log_portable(x) +
                                   b * sr__log_portable(rest));
  if (x < (a + 1.0) / (a + b + 2.0)) return factor * beta_fraction(a, b, x) / a;
  return 1.0 - factor * beta_fraction(b, a, rest) / b;
}

double sr_student_tail(double t, double degrees) {
  if (!(degrees > 0.0) || isnan(t)) return NAN;
  if (isinf(t)) return t > 0.0 ? 0.0 : 1.0;
  double square = t * t, whole = degrees + square;
  double both = beta_regularized(0.5 * degrees, 0.5, degrees / whole, square / whole);
  return t >= 0.0 ? 0.5 * both : 1.0 - 0.5 * both;
}

double sr_f_tail(double x, double degrees1, double degrees2) {
  if (!(degrees1 > 0.0) || !(degrees2 > 0.0) || isnan(x)) return NAN;
  if (x <= 0.0) return 1.0;
  if (isinf(x)) return 0.0;
  double whole = degrees2 + degrees1 * x;
  return beta_regularized(0.5 * degrees2, 0.5 * degrees1, degrees2 / whole, degrees1 * x / whole);
}

/* Bisection on the tail, from a bracket that doubles: slow and sure. */
double sr_student_quantile(double p, double degrees) {
  if (!(p > 0.0 && p < 1.0) || !(degrees > 0.0)) return NAN;
  if (p == 0.5) return 0.0;
  if (p < 0.5) return -sr_student_quantile(1.0 - p, degrees);
  double tail = 1.0 - p, low = 0.0, high = 1.0;
  while (sr_student_tail(high, degrees) > tail && high < 1e300) high *= 2.0;
  for (int i = 0; i < 200 && high - low > 1e-15 * high; i++) {
    double middle = 0.5 * (low + high);
    if (sr_student_tail(middle, degrees) > tail)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}

/* ---- studentized range --------------------------------------------------------------------- */

static double power(double x, int32_t times) {
  double product = 1.0;
  for (; times > 0; times /= 2, x *= x)
    if (times % 2) product *= x;
  return product;
}

/* P(Q <= q) = k * integral of phi(z) (Phi(z) - Phi(z - q))^(k-1) dz: the range of k standard
 * normals, the studentized range with infinitely many degrees of freedom. Simpson on [-9, 9 + q].
 */
double sr_studentized_range_tail(double q, int32_t k) {
  if (k < 2 || isnan(q)) return NAN;
  if (q <= 0.0) return 1.0;
  enum { STEPS = 4000 };
  double low = -9.0, width = (18.0 + fmin(q, 20.0)) / STEPS, sum = 0.0;
  for (int i = 0; i <= STEPS; i++) {
    double z = low + width * i;
    double density = sr__exp_portable(-0.5 * z * z) / sqrt(2.0 * pi);
    double inside = sr_normal_cdf(z) - sr_normal_cdf(z - q);
    sum += density * power(inside, k - 1) * (i == 0 || i == STEPS ? 1.0 : i % 2 ? 4.0 : 2.0);
  }
  double below = k * sum * width / 3.0;
  return below >= 1.0 ? 0.0 : 1.0 - below;
}
