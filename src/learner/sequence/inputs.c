#include "learner/sequence/inputs.h"

#include <math.h>

/* A constant channel leaves only the rounding of its mean, which must not be blown up. */
static double scale_of(double count, double mean, double squared_distance) {
  const double variance = count > 0 ? squared_distance / count : 0;
  return variance > 1e-14 * mean * mean && variance > 0 ? 1.0 / sqrt(variance) : 0.0;
}

/* Welford's update. */
static void count_value(sr__channel_state *state, double value) {
  const double before = value - state->mean;
  state->count += 1;
  state->mean += before / state->count;
  state->squared_distance += before * (value - state->mean);
}

int64_t sr__sequence_inputs(const sr__sequence_encoder *encoder) {
  return (encoder->marks_missing ? 2 : 1) * (int64_t)encoder->channels;
}

void sr__sequence_start(const sr__sequence_encoder *encoder, sr__channel_state *state) {
  for (int32_t c = 0; c < encoder->channels; c++) {
    state[c] = (sr__channel_state){.scale = 1};
    if (encoder->scaling != SR__SCALE_TRAINING) continue;
    state[c].mean = encoder->mean[c];
    state[c].scale = encoder->scale[c];
  }
}

void sr__sequence_step(const sr__sequence_encoder *encoder, sr__channel_state *state,
                       const float *sample, float *out) {
  enum { FARTHEST = 1000 }; /* deviations; keeps one broken value from drowning a series */
  for (int32_t c = 0; c < encoder->channels; c++) {
    const bool present = isfinite(sample[c]);
    if (present) {
      const double value = (double)sample[c];
      if (encoder->scaling == SR__SCALE_RUNNING) {
        count_value(&state[c], value);
        state[c].scale = scale_of(state[c].count, state[c].mean, state[c].squared_distance);
      }
      double scaled = (value - state[c].mean) * state[c].scale;
      if (encoder->scaling != SR__SCALE_NONE) scaled = fmin(fmax(scaled, -FARTHEST), FARTHEST);
      state[c].latest = (float)scaled;
    }
    out[c] = state[c].latest;
    if (encoder->marks_missing) out[encoder->channels + c] = present ? 1.0f : 0.0f;
  }
}

/* ---- whole series --------------------------------------------------------------------------- */

typedef struct channel_view {
  const float *x;
  int64_t length;
} channel_view;

static channel_view channel_of(const sr__series_view *view, int64_t row, int32_t channel) {
  const int64_t at = row * view->channels + channel;
  return (channel_view){view->values + view->offset[at], view->offset[at + 1] - view->offset[at]};
}

/* Steps up to the last value of any channel; at least 1. */
static int64_t steps_of(const sr__series_view *view, int64_t row) {
  int64_t steps = 1;
  for (int32_t c = 0; c < view->channels; c++) {
    channel_view channel = channel_of(view, row, c);
    while (channel.length > steps && !isfinite(channel.x[channel.length - 1])) channel.length--;
    if (channel.length > steps) steps = channel.length;
  }
  return steps;
}

/* Mean first, then distances from it: two passes lose less than running moments. */
static sr__channel_state own_moments(channel_view channel) {
  sr__channel_state state = {0};
  double sum = 0;
  for (int64_t t = 0; t < channel.length; t++)
    if (isfinite(channel.x[t])) {
      sum += (double)channel.x[t];
      state.count += 1;
    }
  state.mean = state.count > 0 ? sum / state.count : 0;
  for (int64_t t = 0; t < channel.length; t++)
    if (isfinite(channel.x[t])) {
      const double distance = (double)channel.x[t] - state.mean;
      state.squared_distance += distance * distance;
    }
  state.scale = scale_of(state.count, state.mean, state.squared_distance);
  return state;
}

void sr__sequence_encoder_free(sr__sequence_encoder *encoder) {
  if (!encoder) return;
  sr_allocator allocator = encoder->allocator;
  sr__release(&allocator, encoder->mean);
  sr__release(&allocator, encoder->scale);
  sr__release(&allocator, encoder);
}

static sr_status new_encoder(sr_context *ctx, int32_t channels, sr__sequence_encoder **result) {
  sr_status status = SR_OK;
  sr__sequence_encoder *encoder = NULL;
  SR_NEW_ZERO(ctx, encoder, 1);
  encoder->allocator = sr__allocator(ctx);
  encoder->channels = channels;
  SR_NEW_ZERO(ctx, encoder->mean, channels);
  SR_NEW_ZERO(ctx, encoder->scale, channels);
  *result = encoder;
  encoder = NULL;
cleanup:
  sr__sequence_encoder_free(encoder);
  return status;
}

sr_status sr__sequence_encoder_new(sr_context *ctx, const sr__series_view *view,
                                   sr__sequence_scaling scaling, sr__sequence_encoder **result) {
  sr_status status = SR_OK;
  sr__sequence_encoder *encoder = NULL;
  SR_TRY(new_encoder(ctx, view->channels, &encoder));
  encoder->scaling = scaling;
  encoder->longest = 1;
  for (int64_t r = 0; r < view->rows; r++) {
    const int64_t steps = steps_of(view, r);
    if (steps > SR__MAX_SERIES_LENGTH)
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                      "the series of row %lld has %lld values, more than the %d that a learner on "
                      "series takes; cut it into windows",
                      (long long)r, (long long)steps, SR__MAX_SERIES_LENGTH));
    if (steps > encoder->longest) encoder->longest = steps;
  }
  for (int32_t c = 0; c < view->channels; c++) {
    sr__channel_state all = {0};
    for (int64_t r = 0; r < view->rows; r++) {
      const channel_view channel = channel_of(view, r, c);
      const int64_t steps = steps_of(view, r);
      for (int64_t t = 0; t < steps; t++)
        if (t < channel.length && isfinite(channel.x[t]))
          count_value(&all, (double)channel.x[t]);
        else
          encoder->marks_missing = true;
    }
    encoder->mean[c] = all.mean;
    encoder->scale[c] = scale_of(all.count, all.mean, all.squared_distance);
  }
  *result = encoder;
  encoder = NULL;
cleanup:
  sr__sequence_encoder_free(encoder);
  return status;
}

static sr_status encode_row(sr_context *ctx, const sr__sequence_encoder *encoder,
                            const sr__series_view *view, int64_t row, int64_t steps, float *out) {
  sr_status status = SR_OK;
  sr__channel_state *state = NULL;
  float *sample = NULL;
  SR_NEW(ctx, state, encoder->channels);
  SR_NEW(ctx, sample, encoder->channels);
  sr__sequence_start(encoder, state);
  for (int32_t c = 0; c < encoder->channels && encoder->scaling == SR__SCALE_SERIES; c++)
    state[c] = own_moments(channel_of(view, row, c));
  for (int64_t t = 0; t < steps; t++, out += sr__sequence_inputs(encoder)) {
    for (int32_t c = 0; c < encoder->channels; c++) {
      const channel_view channel = channel_of(view, row, c);
      sample[c] = t < channel.length ? channel.x[t] : NAN;
    }
    sr__sequence_step(encoder, state, sample, out);
  }
cleanup:
  sr__free(ctx, state);
  sr__free(ctx, sample);
  return status;
}

typedef struct encode_work {
  const sr__sequence_encoder *encoder;
  const sr__series_view *view;
  int64_t first, chunk;
  sr__sequence_rows *rows;
} encode_work;

static sr_status encode_chunk(sr_context *ctx, void *data, int64_t chunk, int slot) {
  (void)slot;
  sr_status status = SR_OK;
  const encode_work *work = data;
  const sr__sequence_rows *rows = work->rows;
  for (int64_t r = chunk * work->chunk; r < (chunk + 1) * work->chunk && r < rows->rows; r++)
    SR_TRY(encode_row(ctx, work->encoder, work->view, work->first + r,
                      rows->begin[r + 1] - rows->begin[r],
                      rows->values + rows->begin[r] * rows->inputs));
cleanup:
  return status;
}

sr_status sr__sequence_encode(sr_context *ctx, const sr__sequence_encoder *encoder,
                              const sr__series_view *view, int64_t first, int64_t count,
                              sr__sequence_rows **result) {
  enum { GRAIN = 64 };
  sr_status status = SR_OK;
  sr__sequence_rows *rows = NULL;
  if (view->channels != encoder->channels)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the series have %d channels where the training series had %d; give the same "
                    "channels in the same order",
                    view->channels, encoder->channels);
  SR_NEW_ZERO(ctx, rows, 1);
  *rows = (sr__sequence_rows){.allocator = sr__allocator(ctx),
                              .rows = count,
                              .inputs = sr__sequence_inputs(encoder)};
  SR_NEW(ctx, rows->begin, count + 1);
  rows->begin[0] = 0;
  for (int64_t r = 0; r < count; r++) {
    const int64_t steps = steps_of(view, first + r);
    rows->begin[r + 1] = rows->begin[r] + steps;
    if (steps > rows->longest) rows->longest = steps;
  }
  SR_NEW(ctx, rows->values, rows->begin[count] * rows->inputs);
  encode_work work = {encoder, view, first, sr__chunk_size(count, GRAIN), rows};
  SR_TRY(sr__parallel_for(ctx, sr__chunk_count(count, GRAIN), encode_chunk, &work));
  *result = rows;
  rows = NULL;
cleanup:
  sr__sequence_rows_free(rows);
  return status;
}

void sr__sequence_rows_free(sr__sequence_rows *rows) {
  if (!rows) return;
  sr_allocator allocator = rows->allocator;
  sr__release(&allocator, rows->begin);
  sr__release(&allocator, rows->values);
  sr__release(&allocator, rows);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

void sr__sequence_encoder_save(const sr__sequence_encoder *encoder, sr__bytes *bytes) {
  sr__put_u8(bytes, (uint8_t)encoder->scaling);
  sr__put_u8(bytes, encoder->marks_missing ? 1 : 0);
  sr__put_u64(bytes, (uint64_t)encoder->longest);
  sr__put_u64(bytes, (uint64_t)encoder->channels);
  for (int32_t c = 0; c < encoder->channels; c++) {
    sr__put_f64(bytes, encoder->mean[c]);
    sr__put_f64(bytes, encoder->scale[c]);
  }
}

sr_status sr__sequence_encoder_load(sr__byte_reader *reader, sr__sequence_encoder **result) {
  sr__sequence_encoder *encoder = NULL;
  const uint8_t scaling = sr__get_u8(reader), marks = sr__get_u8(reader);
  const uint64_t longest = sr__get_u64(reader);
  const int64_t channels = sr__get_count(reader, 2 * (int64_t)sizeof(double));
  if (reader->status != SR_OK) return reader->status;
  if (scaling >= SR__SCALINGS || marks > 1 || longest < 1 || longest > SR__MAX_SERIES_LENGTH ||
      channels < 1 || channels > SR__MAX_CHANNELS) {
    sr__get_refuse(reader, "the scaling, the length or the number of channels is impossible");
    return reader->status;
  }
  sr_status status = new_encoder(reader->ctx, (int32_t)channels, &encoder);
  if (status != SR_OK) return status;
  encoder->scaling = (sr__sequence_scaling)scaling;
  encoder->marks_missing = marks == 1;
  encoder->longest = (int64_t)longest;
  for (int32_t c = 0; c < encoder->channels; c++) {
    encoder->mean[c] = sr__get_f64(reader);
    encoder->scale[c] = sr__get_f64(reader);
    if (!isfinite(encoder->mean[c]) || !isfinite(encoder->scale[c]))
      sr__get_refuse(reader, "a mean or a scale is not a finite number");
  }
  if (reader->status == SR_OK)
    *result = encoder;
  else
    sr__sequence_encoder_free(encoder);
  return reader->status;
}
