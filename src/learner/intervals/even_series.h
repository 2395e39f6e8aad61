/* Series of unequal lengths with missing values, made even: what the learners on intervals of a
 * series see. A row's series ends at the last value that is present in any of its channels.
 * Internal to src/learner. */
#ifndef SR_LEARNER_INTERVALS_EVEN_SERIES_H
#define SR_LEARNER_INTERVALS_EVEN_SERIES_H

#include "core/bytes.h"
#include "learner/series/series_rows.h"

enum { SR__EVEN_MAX_CLASSES = 1 << 16 };

/* Rows once they are even. */
typedef struct sr__even_shape {
  int32_t classes;
  int32_t channels;
  int32_t *length; /* a channel: its longest series, at least 1 */
} sr__even_shape;

/* The lengths are freed with sr__free, also after a failure. SR_ERROR_DATA where there are no rows
 * or channels or too many classes, or a series is longer than can be held. */
SR_MUST_CHECK sr_status sr__even_shape_find(sr_context *ctx, const sr__series_view *series,
                                            int32_t classes, sr__even_shape *shape);
void sr__even_shape_save(sr__even_shape shape, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__even_shape_load(sr__byte_reader *reader, sr__even_shape *shape);

/* Channel c of row r as sr__even_points gives it. */
void sr__even_series(const sr__series_view *series, int64_t r, int32_t c, int64_t length,
                     int64_t stride, float *to);
/* `length` points of the straight lines through the points that are there, first and last point of
 * the series included; before the first and behind the last point that is there its value is
 * repeated. So a series of `length` points without gaps is copied. One point is the middle of the
 * series. All points are NaN where none is there. Point t stands at to[t * stride]. */
void sr__even_points(const float *from, int64_t count, int64_t length, int64_t stride, float *to);

#endif
