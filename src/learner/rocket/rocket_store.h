/* Between the files of src/learner/rocket. */
#ifndef SR_LEARNER_ROCKET_STORE_H
#define SR_LEARNER_ROCKET_STORE_H

#include "rocket.h"

/* Arrays without content; the two lists of begins are zero. */
SR_MUST_CHECK sr_status sr__rocket_new(sr_context *ctx, int32_t filters, int32_t channels,
                                       int32_t length, int64_t channels_read, int64_t weights,
                                       sr__rocket **rocket);
/* Fills in most_padding and most_reach. */
void sr__rocket_measure(sr__rocket *rocket);

#endif
