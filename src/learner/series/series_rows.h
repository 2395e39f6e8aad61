/* Series as the learners read them: filled, normalized, and eight of them side by side. Internal.
 *
 * A row's series ends at the last value that is present in any of its channels, so that a series
 * filled up with missing values and a shorter one are the same. Inside, a missing value lies on the
 * line between its neighbors in time; before the first and after the last value of a channel that
 * value is repeated. A channel without a value is zero; a row without a value has length 1. */
#ifndef SR_LEARNER_SERIES_ROWS_H
#define SR_LEARNER_SERIES_ROWS_H

#include "core/core.h"

/* Channel c of row r is values[offset[r * channels + c] .. offset[r * channels + c + 1]); what is
 * not finite is missing. */
typedef struct sr__series_view {
  const float *values;
  const int64_t *offset; /* rows * channels + 1, increasing */
  int64_t rows;
  int32_t channels;
} sr__series_view;

enum { SR__MAX_SERIES_LENGTH = 1 << 26, SR__MAX_CHANNELS = 1 << 16 };

/* Row r has `channels` times length values from begin[r] on, one channel after the other. */
typedef struct sr__series_rows {
  sr_allocator allocator;
  int64_t rows;
  int32_t channels;
  int64_t longest; /* length of the longest row; 0 without rows */
  int64_t *begin;  /* rows + 1 */
  float *values;
} sr__series_rows;

static inline int32_t sr__series_length(const sr__series_rows *rows, int64_t r) {
  return (int32_t)((rows->begin[r + 1] - rows->begin[r]) / rows->channels);
}

/* Rows [first, first + count) of the view. With `normalize` each channel of each row gets mean 0
 * and standard deviation 1; a constant one becomes zero. Values beyond +-1e30 count as that. The
 * result is freed with sr__series_rows_free. */
SR_MUST_CHECK sr_status sr__series_prepare(sr_context *ctx, const sr__series_view *view,
                                           int64_t first, int64_t count, bool normalize,
                                           sr__series_rows **rows);
void sr__series_rows_free(sr__series_rows *rows);

/* The largest sum over the channels of |x| at one time. */
float sr__series_peak(const sr__series_rows *rows, int64_t r);

/* ---- eight series in the lanes -------------------------------------------------------------- */

enum { SR__SERIES_LANES = 8 };

/* The rows of a list in increasing order of length, eight to a block. Lanes past the last row are
 * zeros of the block's length. */
typedef struct sr__series_blocks {
  sr_allocator allocator;
  int64_t rows;
  int64_t blocks;
  int32_t channels;
  int64_t longest;
  int32_t *order;  /* place i holds entry order[i] of the list; rows of equal length keep theirs */
  int32_t *length; /* blocks * 8 */
  float *peak;     /* blocks * 8: sr__series_peak */
  const sr__series_rows *of;
  int32_t *row; /* of each place */
} sr__series_blocks;

/* `row` NULL: all rows. The rows must live as long as the blocks. */
SR_MUST_CHECK sr_status sr__series_blocks_new(sr_context *ctx, const sr__series_rows *rows,
                                              const int32_t *row, int64_t count,
                                              sr__series_blocks **blocks);
void sr__series_blocks_free(sr__series_blocks *blocks);

/* Value t of lane i of channel c goes to x[c * channel_stride + t * 8 + i] for the steps of block
 * b; zeros follow where a lane is shorter. */
void sr__series_block_fill(const sr__series_blocks *blocks, int64_t b, int64_t channel_stride,
                           float *x);

static inline int32_t sr__block_steps(const sr__series_blocks *blocks, int64_t b) {
  return blocks->length[b * SR__SERIES_LANES + SR__SERIES_LANES - 1];
}

/* Blocks [first, first + count) and where their features go: feature f of place i of these blocks
 * to out[f * stride + i]. stride >= 8 count. */
typedef struct sr__made_blocks {
  const sr__series_blocks *blocks;
  int64_t first, count;
  float *out;
  int64_t stride;
} sr__made_blocks;

/* What a kernel runs over: either eight series with one time step a vector (`step` 8), or one
 * series with eight successive times a vector (`step` 1). Zeros surround it as far as a kernel may
 * reach. Value t of channel c begins at x + c * channel_stride + t * step. */
typedef struct sr__lane_input {
  const float *x;
  int64_t channel_stride;
  int64_t step;
  int32_t length[SR__SERIES_LANES]; /* of each lane; all equal where step is 1 */
} sr__lane_input;

/* Of each channel `before` zero steps, room for `steps`, `after` zeros. */
typedef struct sr__lane_room {
  int32_t channels;
  int64_t step;
  int64_t before, steps, after;
} sr__lane_room;

/* Scratch that lane inputs are laid into. */
typedef struct sr__lane_scratch {
  sr__lane_room room;
  float *memory, *x; /* x: step 0 of channel 0, on a cache line where lanes are series */
  int64_t channel_stride;
} sr__lane_scratch;

SR_MUST_CHECK sr_status sr__lane_scratch_new(sr_context *ctx, sr__lane_room room,
                                             sr__lane_scratch *scratch);
void sr__lane_scratch_free(sr_context *ctx, sr__lane_scratch *scratch);
/* Block b; what an earlier, longer block left behind is cleared. */
void sr__lane_scratch_block(sr__lane_scratch *scratch, const sr__series_blocks *blocks, int64_t b,
                            sr__lane_input *input);
/* Row r alone. */
void sr__lane_scratch_row(sr__lane_scratch *scratch, const sr__series_rows *rows, int64_t r,
                          sr__lane_input *input);

#endif
