#include "minirocket_store.h"

#include <math.h>

void sr__minirocket_save(const sr__minirocket *mini, sr__bytes *bytes) {
  int64_t combinations = (int64_t)mini->dilations * SR__MINI_FILTERS;
  sr__put_u32(bytes, (uint32_t)mini->channels);
  sr__put_u32(bytes, (uint32_t)mini->length);
  sr__put_u8(bytes, mini->whole);
  sr__put_u8(bytes, (uint8_t)mini->dilations);
  for (int32_t d = 0; d < mini->dilations; d++) {
    sr__put_u32(bytes, (uint32_t)mini->dilation[d]);
    sr__put_u32(bytes, (uint32_t)mini->biases[d]);
  }
  for (int32_t f = 0; f < sr__minirocket_features(mini); f++) sr__put_f32(bytes, mini->bias[f]);
  sr__put_u64(bytes, (uint64_t)mini->channel_begin[combinations]);
  for (int64_t at = 0; at < combinations; at++) {
    int32_t begin = mini->channel_begin[at], end = mini->channel_begin[at + 1];
    sr__put_u8(bytes, (uint8_t)(end - begin));
    for (int32_t c = begin; c < end; c++) sr__put_u32(bytes, (uint32_t)mini->channel[c]);
  }
}

/* Dilations must increase, so that the last one reaches farthest. */
static void load_dilations(sr__byte_reader *reader, sr__minirocket *mini) {
  uint64_t biases = 0;
  for (int32_t d = 0; d < mini->dilations; d++) {
    uint32_t dilation = sr__get_u32(reader), number = sr__get_u32(reader);
    if (dilation < 1 || 8 * (uint64_t)dilation >= (uint64_t)mini->length || number < 1 ||
        number > SR__MINI_MAX_FEATURES || (d > 0 && dilation <= (uint32_t)mini->dilation[d - 1]))
      sr__get_refuse(reader, "a dilation is wrong");
    if (reader->status != SR_OK) return;
    mini->dilation[d] = (int32_t)dilation;
    mini->biases[d] = (int32_t)number;
    biases += number;
  }
  if (biases * SR__MINI_FILTERS > (uint64_t)(reader->size - reader->at) / 4)
    sr__get_refuse(reader, "it ends too early");
}

static void load_channels(sr__byte_reader *reader, int64_t channels_read, sr__minirocket *mini) {
  for (int64_t at = 0; at < (int64_t)mini->dilations * SR__MINI_FILTERS; at++) {
    int32_t begin = mini->channel_begin[at], number = sr__get_u8(reader);
    if (number < 1 || number > SR__MINI_TAPS || number > channels_read - begin)
      sr__get_refuse(reader, "a kernel reads a wrong number of channels");
    if (reader->status != SR_OK) return;
    for (int32_t c = begin; c < begin + number; c++) {
      uint32_t channel = sr__get_u32(reader);
      if (channel >= (uint32_t)mini->channels)
        sr__get_refuse(reader, "a kernel reads a channel that the series do not have");
      mini->channel[c] = (int32_t)channel;
    }
    mini->channel_begin[at + 1] = begin + number;
  }
}

sr_status sr__minirocket_load(sr__byte_reader *reader, sr__minirocket **mini) {
  sr_status status = SR_OK;
  sr__minirocket *made = NULL;
  *mini = NULL;
  uint32_t channels = sr__get_u32(reader), length = sr__get_u32(reader);
  uint8_t whole = sr__get_u8(reader), dilations = sr__get_u8(reader);
  if (channels < 1 || channels > SR__MAX_CHANNELS || length < SR__MINI_TAPS ||
      length > SR__MAX_SERIES_LENGTH || whole > 1 || dilations < 1 ||
      dilations > SR__MINI_MAX_DILATIONS)
    sr__get_refuse(reader, "the sizes of a set of kernels are wrong");
  SR_TRY(reader->status);
  SR_TRY(sr__minirocket_new(reader->ctx, (int32_t)channels, (int32_t)length, &made));
  made->whole = whole;
  made->dilations = dilations;
  load_dilations(reader, made);
  SR_TRY(reader->status);
  /* The number of channels stands behind the biases. */
  SR_TRY(sr__minirocket_arrays(reader->ctx, 0, made));
  for (int32_t f = 0; f < sr__minirocket_features(made); f++) {
    made->bias[f] = sr__get_f32(reader);
    if (!isfinite(made->bias[f])) sr__get_refuse(reader, "a number is not finite");
  }
  int64_t channels_read = sr__get_count(reader, sizeof(uint32_t));
  SR_TRY(reader->status);
  sr__free(reader->ctx, made->channel);
  SR_NEW_ZERO(reader->ctx, made->channel, channels_read);
  load_channels(reader, channels_read, made);
  SR_TRY(reader->status);
  sr__minirocket_measure(made);
  *mini = made;
  made = NULL;
cleanup:
  sr__minirocket_free(made);
  return status;
}
