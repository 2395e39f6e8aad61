/* Between the files of src/learner/minirocket. */
#ifndef SR_LEARNER_MINIROCKET_STORE_H
#define SR_LEARNER_MINIROCKET_STORE_H

#include "minirocket.h"

SR_MUST_CHECK sr_status sr__minirocket_new(sr_context *ctx, int32_t channels, int32_t length,
                                           sr__minirocket **mini);
/* Counts the features of the dilations and makes the arrays; those of channels are zero. */
SR_MUST_CHECK sr_status sr__minirocket_arrays(sr_context *ctx, int64_t channels_read,
                                              sr__minirocket *mini);
/* Fills in most_bias. */
void sr__minirocket_measure(sr__minirocket *mini);

#endif
