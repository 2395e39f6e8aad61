#include "rocket_store.h"

#include <math.h>

void sr__rocket_save(const sr__rocket *rocket, sr__bytes *bytes) {
  sr__put_u32(bytes, (uint32_t)rocket->channels);
  sr__put_u32(bytes, (uint32_t)rocket->length);
  sr__put_u64(bytes, (uint64_t)rocket->weight_begin[rocket->filters]);
  sr__put_u64(bytes, (uint64_t)rocket->channel_begin[rocket->filters]);
  sr__put_u64(bytes, (uint64_t)rocket->filters);
  for (int32_t k = 0; k < rocket->filters; k++) {
    int32_t channels = rocket->channel_begin[k + 1] - rocket->channel_begin[k];
    sr__put_u8(bytes, (uint8_t)rocket->taps[k]);
    sr__put_u32(bytes, (uint32_t)rocket->dilation[k]);
    sr__put_u8(bytes, rocket->padding[k] > 0);
    sr__put_u8(bytes, (uint8_t)channels);
    for (int32_t c = 0; c < channels; c++)
      sr__put_u32(bytes, (uint32_t)rocket->channel[rocket->channel_begin[k] + c]);
    sr__put_f32(bytes, rocket->bias[k]);
    for (int64_t j = rocket->weight_begin[k]; j < rocket->weight_begin[k + 1]; j++)
      sr__put_f32(bytes, rocket->weight[j]);
  }
}

static float get_finite(sr__byte_reader *reader) {
  float value = sr__get_f32(reader);
  if (!isfinite(value)) sr__get_refuse(reader, "a number is not finite");
  return value;
}

/* Filter k; refuses what would read outside of the series' channels or of a scratch. */
static void load_filter(sr__byte_reader *reader, sr__rocket *r, int32_t k, int64_t weights,
                        int64_t channels_read) {
  int32_t taps = sr__get_u8(reader);
  int64_t dilation = sr__get_u32(reader);
  uint8_t padded = sr__get_u8(reader);
  int32_t channels = sr__get_u8(reader), channel_at = r->channel_begin[k];
  int64_t weight_at = r->weight_begin[k];
  if (taps % 2 == 0 || taps > SR__ROCKET_MAX_TAPS || dilation < 1 ||
      (taps - 1) * dilation > r->length || padded > 1 || channels < 1 ||
      channels > channels_read - channel_at || taps * channels > weights - weight_at)
    sr__get_refuse(reader, "the shape of a kernel is wrong");
  if (reader->status != SR_OK) return;
  r->taps[k] = taps;
  r->dilation[k] = (int32_t)dilation;
  r->padding[k] = padded ? (int32_t)((taps - 1) / 2 * dilation) : 0;
  for (int32_t c = 0; c < channels; c++) {
    uint32_t channel = sr__get_u32(reader);
    if (channel >= (uint32_t)r->channels)
      sr__get_refuse(reader, "a kernel reads a channel that the series do not have");
    r->channel[channel_at + c] = (int32_t)channel;
  }
  r->bias[k] = get_finite(reader);
  for (int64_t j = 0; j < taps * channels; j++) r->weight[weight_at + j] = get_finite(reader);
  r->channel_begin[k + 1] = channel_at + channels;
  r->weight_begin[k + 1] = weight_at + taps * channels;
}

sr_status sr__rocket_load(sr__byte_reader *reader, sr__rocket **rocket) {
  sr_status status = SR_OK;
  sr__rocket *made = NULL;
  *rocket = NULL;
  uint32_t channels = sr__get_u32(reader), length = sr__get_u32(reader);
  uint64_t weights = sr__get_u64(reader), channels_read = sr__get_u64(reader);
  int64_t filters = sr__get_count(reader, 1 + 4 + 1 + 1 + 4);
  if (reader->status == SR_OK &&
      (channels < 1 || channels > SR__MAX_CHANNELS || length < 1 ||
       length > SR__MAX_SERIES_LENGTH || filters < 1 || filters > SR__ROCKET_MAX_FILTERS ||
       weights > (uint64_t)reader->size / 4 || channels_read > (uint64_t)reader->size / 4 ||
       channels_read > INT32_MAX))
    sr__get_refuse(reader, "the sizes of a set of kernels are wrong");
  SR_TRY(reader->status);
  sr__rocket_sizes sizes = {(int32_t)filters, (int32_t)channels, (int32_t)length,
                            (int64_t)channels_read, (int64_t)weights};
  SR_TRY(sr__rocket_new(reader->ctx, sizes, &made));
  for (int32_t k = 0; k < filters && reader->status == SR_OK; k++)
    load_filter(reader, made, k, (int64_t)weights, (int64_t)channels_read);
  SR_TRY(reader->status);
  sr__rocket_measure(made);
  *rocket = made;
  made = NULL;
cleanup:
  sr__rocket_free(made);
  return status;
}
