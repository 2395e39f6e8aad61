/* Functions whose last bits a C library may choose by the processor, in plain code: the same bits
 * on every machine, within 2 units in the last place (sr__pow_portable: times |y log x|). For
 * whatever decides T, parts, plans and votes. sr__log_portable is declared in random.h. Internal.
 */
#ifndef SR_CORE_MATHS_H
#define SR_CORE_MATHS_H

#include "random.h"

double sr__exp_portable(double x);
/* |x| up to 2^20. */
double sr__sin_portable(double x);
double sr__cos_portable(double x);
/* |x| up to 1. */
double sr__asin_portable(double x);
/* x > 0; within 1e-14 times max(1, |value|). */
double sr__lgamma_portable(double x);
/* x > 0. */
double sr__pow_portable(double x, double y);
/* x >= 0. */
double sr__cbrt_portable(double x);

#endif
