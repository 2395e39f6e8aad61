/* Draws that learners on series share. */
#ifndef SR_LEARNER_DRAWS_H
#define SR_LEARNER_DRAWS_H

#include "core/random.h"

/* floor(2^x) with x uniform in [0, log2 limit); limit >= 1. The same on every machine. */
int32_t sr__draw_power(double limit, sr__random *random);

#endif
