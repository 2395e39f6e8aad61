#include "maths.h"

#include <math.h>
#include <stddef.h>

/* x = 2^e m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m-1)/(m+1), |s| < 0.1716. */
double sr__log_portable(double x) {
  int exponent;
  if (!(x > 0.0)) return x == 0.0 ? -INFINITY : NAN;
  if (isinf(x)) return x;
  double m = frexp(x, &exponent);
  if (m < 0.70710678118654752440) {
    m *= 2.0;
    exponent--;
  }
  double s = (m - 1.0) / (m + 1.0);
  double s2 = s * s;
  double sum = 0.0;
  for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * s2;
  /* ln 2 in two parts, so that exponent * high is exact. */
  return exponent * 6.93147180369123816490e-01 +
         (exponent * 1.90821492927058770002e-10 + 2.0 * (s + s * sum));
}

/* 1 / n! for n from 13 down to 0. */
static const double SERIES[] = {0x1.6124613a86d09p-33, 0x1.1eed8eff8d898p-29, 0x1.ae64567f544e4p-26,
                                0x1.27e4fb7789f5cp-22, 0x1.71de3a556c734p-19, 0x1.a01a01a01a01ap-16,
                                0x1.a01a01a01a01ap-13, 0x1.6c16c16c16c17p-10, 0x1.1111111111111p-7,
                                0x1.5555555555555p-5,  0x1.5555555555555p-3,  0x1.0000000000000p-1,
                                0x1.0000000000000p+0,  0x1.0000000000000p+0};

/* 2^k exp(r) with |r| at most half of ln 2, where the series ends soon. */
double sr__exp_portable(double x) {
  if (isnan(x)) return x;
  if (x > 710.0) return INFINITY;
  if (x < -746.0) return 0.0;
  double k = rint(x * 1.44269504088896340736), sum = 0.0;
  double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  for (size_t i = 0; i < sizeof SERIES / sizeof *SERIES; i++) sum = sum * r + SERIES[i];
  return ldexp(sum, (int)k);
}

/* x = k pi / 2 + r with |r| at most pi / 4; k * the first parts of pi / 2 is exact. */
static double turn_back(double x, int *quarter) {
  double k = rint(x * 6.36619772367581382433e-01);
  double r = x - k * 1.57079632673412561417e+00;
  r -= k * 6.07710050630396597660e-11;
  r -= k * 2.02226624879595063154e-21;
  *quarter = (int)((int64_t)k & 3);
  return r;
}

static double sine_near_zero(double r) {
  double z = r * r;
  double sum = 1.58969099521155010221e-10;
  sum = sum * z - 2.50507602534068634195e-08;
  sum = sum * z + 2.75573137070700676789e-06;
  sum = sum * z - 1.98412698298579493134e-04;
  sum = sum * z + 8.33333333332248946124e-03;
  sum = sum * z - 1.66666666666666324348e-01;
  return r + r * (z * sum);
}

static double cosine_near_zero(double r) {
  double z = r * r;
  double sum = -1.13596475577881948265e-11;
  sum = sum * z + 2.08757232129817482790e-09;
  sum = sum * z - 2.75573143513906633035e-07;
  sum = sum * z + 2.48015872894767294178e-05;
  sum = sum * z - 1.38888888888741095749e-03;
  sum = sum * z + 4.16666666666666019037e-02;
  double half = 0.5 * z, near = 1.0 - half;
  return near + (((1.0 - near) - half) + z * z * sum);
}

double sr__sin_portable(double x) {
  int quarter;
  double r = turn_back(x, &quarter);
  double value = quarter & 1 ? cosine_near_zero(r) : sine_near_zero(r);
  return quarter & 2 ? -value : value;
}

double sr__cos_portable(double x) {
  int quarter;
  double r = turn_back(x, &quarter);
  double value = quarter & 1 ? sine_near_zero(r) : cosine_near_zero(r);
  return quarter == 1 || quarter == 2 ? -value : value;
}

/* (asin(x) - x) / x by a quotient of polynomials in z = x^2, |x| at most 1/2. */
static double arcsine_excess(double z) {
  double top = 3.47933107596021167570e-05, bottom = 7.70381505559019352791e-02;
  top = top * z + 7.91534994289814532176e-04;
  top = top * z - 4.00555345006794114027e-02;
  top = top * z + 2.01212532134862925881e-01;
  top = top * z - 3.25565818622400915405e-01;
  top = top * z + 1.66666666666666657415e-01;
  bottom = bottom * z - 6.88283971605453293030e-01;
  bottom = bottom * z + 2.02094576023350569471e+00;
  bottom = bottom * z - 2.40339491173441421878e+00;
  bottom = bottom * z + 1.0;
  return top * z / bottom;
}

/* Beyond 1/2: asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)). The root comes in two parts, of which
 * the first is short, and pi / 2 in two. */
double sr__asin_portable(double x) {
  double size = fabs(x);
  if (!(size <= 1.0)) return NAN;
  if (size < 0.5) return x + x * arcsine_excess(x * x);
  double z = (1.0 - size) * 0.5, root = sqrt(z), front = (double)(float)root;
  double back = root > 0.0 ? (z - front * front) / (root + front) : 0.0;
  double rest = 2.0 * root * arcsine_excess(z) - (6.12323399573676603587e-17 - 2.0 * back);
  double value = 7.85398163397448278999e-01 - (rest - (7.85398163397448278999e-01 - 2.0 * front));
  return x < 0.0 ? -value : value;
}

/* Stirling's series from 10 on; below, Gamma(x) = Gamma(x + n) / (x (x + 1) ... (x + n - 1)). Exact
 * where it is 0. */
double sr__lgamma_portable(double x) {
  static const double series[] = {1.0 / 156.0,  -691.0 / 360360.0, 1.0 / 1188.0, -1.0 / 1680.0,
                                  1.0 / 1260.0, -1.0 / 360.0,      1.0 / 12.0};
  double product = 1.0, sum = 0.0;
  if (x == 1.0 || x == 2.0) return 0.0;
  for (; x < 10.0; x += 1.0) product *= x;
  double inverse = 1.0 / x;
  for (size_t i = 0; i < sizeof series / sizeof *series; i++)
    sum = sum * inverse * inverse + series[i];
  return ((x - 0.5) * sr__log_portable(x) - x) + 0.91893853320467274178 + sum * inverse -
         sr__log_portable(product);
}

double sr__pow_portable(double x, double y) { return sr__exp_portable(y * sr__log_portable(x)); }

/* One step of Newton mends what the logarithm lost. */
double sr__cbrt_portable(double x) {
  if (!(x > 0.0)) return 0.0;
  double y = sr__exp_portable(sr__log_portable(x) / 3.0);
  return y - (y - x / (y * y)) / 3.0;
}
