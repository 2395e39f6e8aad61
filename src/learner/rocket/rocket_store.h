/* Between the files of src/learner/rocket. */
#ifndef SR_LEARNER_ROCKET_STORE_H
#define SR_LEARNER_ROCKET_STORE_H

#include "rocket.h"

/* Arrays without content; the two lists of begins are zero. */
typedef struct sr__rocket_sizes {
  int32_t filters, channels, length;
  int64_t channels_read, weights; /* of all filters */
} sr__rocket_sizes;
SR_MUST_CHECK sr_status sr__rocket_new(sr_context *ctx, sr__rocket_sizes sizes,
                                       sr__rocket **rocket);
/* Fills in most_padding and most_reach. */
void sr__rocket_measure(sr__rocket *rocket);

#endif
