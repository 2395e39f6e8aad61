/* Mamba's block as a recurrence, for streams. Internal to the learner. */
#ifndef SR_LEARNER_MAMBA_NET_H
#define SR_LEARNER_MAMBA_NET_H

#include "learner/sequence/net.h"

/* The block forgets all tokens it has seen. */
void sr__mamba_block_start(sr__net *net, void *self);
/* The tokens behind those of the last call; a net made for one token serves a stream. */
void sr__mamba_block_continue(sr__net *net, void *self, int64_t tokens, const float *x, float *y);

#endif
