/* A Mamba net along a stream: one sample at a time in constant memory, with the bits of the
 * whole-series form. Internal.
 *
 * The answer at any moment is that for the series so far, except that the stem may still wait for
 * samples ahead (13 of them; none where it is causal). sr__mamba_stream_end lets it see zeros
 * instead, as behind the end of a series. */
#ifndef SR_LEARNER_MAMBA_STREAM_H
#define SR_LEARNER_MAMBA_STREAM_H

#include "learner/sequence/fit.h"

typedef struct sr__mamba_stream sr__mamba_stream;

/* Borrows encoder and member. SR_ERROR_ARGUMENT where series are scaled by their own moments, which
 * a stream does not know. */
SR_MUST_CHECK sr_status sr__mamba_stream_new(sr_context *ctx, const sr__sequence_encoder *encoder,
                                             const sr__sequence_member *member,
                                             sr__mamba_stream **stream);
void sr__mamba_stream_free(sr__mamba_stream **stream);
/* Forgets everything. */
void sr__mamba_stream_start(sr__mamba_stream *stream);
/* sample: the encoder's channels, NaN = missing. */
void sr__mamba_stream_push(sr__mamba_stream *stream, const float *sample);
void sr__mamba_stream_end(sr__mamba_stream *stream);
/* Tokens that the net has seen. */
int64_t sr__mamba_stream_tokens(const sr__mamba_stream *stream);
/* share: classes; gives false while no token is there. */
bool sr__mamba_stream_shares(sr__mamba_stream *stream, float *share);

#endif
