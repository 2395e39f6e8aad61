/* Series as the sequence nets read them: scaled, filled, step by step. Internal.
 *
 * A series ends at the last value that is present in any of its channels. A missing value is taken
 * as the latest one before it (the mean where there is none), and where the training rows had
 * missing values each channel has a second input that is 1 where a value was there. Nothing but the
 * scaling by the series' own moments looks ahead, so that a stream is encoded as a whole series is.
 */
#ifndef SR_LEARNER_SEQUENCE_INPUTS_H
#define SR_LEARNER_SEQUENCE_INPUTS_H

#include "core/bytes.h"
#include "learner/series/series_rows.h"

typedef enum sr__sequence_scaling {
  SR__SCALE_SERIES,   /* each channel of each series to mean 0 and deviation 1 */
  SR__SCALE_TRAINING, /* by the moments of each channel over the training rows */
  SR__SCALE_RUNNING,  /* by the moments of the values up to this one */
  SR__SCALE_NONE,
  SR__SCALINGS
} sr__sequence_scaling;

typedef struct sr__sequence_encoder {
  sr_allocator allocator;
  int32_t channels;
  bool marks_missing;
  sr__sequence_scaling scaling;
  int64_t longest;      /* steps of the longest training series */
  double *mean, *scale; /* channels each: of SR__SCALE_TRAINING; scale is 1 / deviation, or 0 */
} sr__sequence_encoder;

/* Row r: inputs floats for each of its steps [begin[r], begin[r + 1]). */
typedef struct sr__sequence_rows {
  sr_allocator allocator;
  int64_t rows, inputs, longest;
  int64_t *begin;
  float *values;
} sr__sequence_rows;

SR_MUST_CHECK sr_status sr__sequence_encoder_new(sr_context *ctx, const sr__series_view *view,
                                                 sr__sequence_scaling scaling,
                                                 sr__sequence_encoder **encoder);
void sr__sequence_encoder_free(sr__sequence_encoder *encoder);
int64_t sr__sequence_inputs(const sr__sequence_encoder *encoder);
/* Rows [first, first + count) of the view, which must have the encoder's channels. */
SR_MUST_CHECK sr_status sr__sequence_encode(sr_context *ctx, const sr__sequence_encoder *encoder,
                                            const sr__series_view *view, int64_t first,
                                            int64_t count, sr__sequence_rows **rows);
void sr__sequence_rows_free(sr__sequence_rows *rows);

void sr__sequence_encoder_save(const sr__sequence_encoder *encoder, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__sequence_encoder_load(sr__byte_reader *reader,
                                                  sr__sequence_encoder **encoder);

/* One channel on its way through time. */
typedef struct sr__channel_state {
  double mean, scale;             /* given, or of the values so far */
  double count, squared_distance; /* of the values so far: running moments */
  float latest;                   /* scaled */
} sr__channel_state;

/* Before the first step of a stream; `state` holds encoder->channels of them. Scaling by the
 * series' own moments has none. */
void sr__sequence_start(const sr__sequence_encoder *encoder, sr__channel_state *state);
/* sample: channels, NaN = missing. out: the inputs of this step. */
void sr__sequence_step(const sr__sequence_encoder *encoder, sr__channel_state *state,
                       const float *sample, float *out);

#endif
