/* Ragged series with missing values, made even: what the learners on intervals of a series see.
 * Internal to src/learner. */
#ifndef SR_LEARNER_INTERVALS_EVEN_SERIES_H
#define SR_LEARNER_INTERVALS_EVEN_SERIES_H

#include "core/core.h"

/* Borrowed. Channel c of row r is values[offset[s]] .. values[offset[s + 1] - 1], s = r * channels
 * + c. Values that are not finite are missing. */
typedef struct sr__ragged {
  const float *values;
  const int64_t *offset; /* rows * channels + 1 */
  int64_t rows;
  int32_t channels;
} sr__ragged;

enum { SR__MAX_EVEN_LENGTH = 1 << 26, SR__MAX_EVEN_CHANNELS = 1 << 20 };

/* The longest series of each channel, at least 1: the length at which its series are looked at.
 * SR_ERROR_DATA where there are no rows or channels or a series is longer than can be held. */
SR_MUST_CHECK sr_status sr__even_lengths(sr_context *ctx, const sr__ragged *series,
                                         int32_t *length);

/* `length` points of the straight lines through the points that are there, first and last point of
 * the series included; before the first and behind the last point that is there its value is
 * repeated. So a series of `length` points without gaps is copied. One point is the middle of the
 * series. All points are NaN where none is there. Point t stands at to[t * stride]. */
void sr__even_series(const float *from, int64_t count, int64_t length, int64_t stride, float *to);

#endif
