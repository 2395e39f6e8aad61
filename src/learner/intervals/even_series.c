#include "even_series.h"

#include <math.h>

/* One behind the last value that is present in any channel. */
static int64_t end_of_row(const sr__series_view *series, int64_t r) {
  int64_t end = 0;
  for (int32_t c = 0; c < series->channels; c++) {
    int64_t s = r * series->channels + c, t = series->offset[s + 1] - series->offset[s];
    while (t > end && !isfinite(series->values[series->offset[s] + t - 1])) t--;
    if (t > end) end = t;
  }
  return end;
}

static int64_t points_of(const sr__series_view *series, int64_t r, int32_t c, int64_t end) {
  int64_t s = r * series->channels + c, count = series->offset[s + 1] - series->offset[s];
  return count < end ? count : end;
}

static sr_status find_lengths(sr_context *ctx, const sr__series_view *series, int32_t *length) {
  if (series->rows < 1 || series->channels < 1)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "there are %lld rows with %d series each; a learner on series needs at least "
                    "one of both",
                    (long long)series->rows, series->channels);
  if (series->channels > SR__MAX_CHANNELS)
    return sr__fail(ctx, SR_ERROR_DATA, "a row has %d series; at most %d can be held",
                    series->channels, SR__MAX_CHANNELS);
  for (int32_t c = 0; c < series->channels; c++) length[c] = 1;
  for (int64_t s = 0; s < series->rows * series->channels; s++) {
    int64_t count = series->offset[s + 1] - series->offset[s];
    if (count > SR__MAX_SERIES_LENGTH)
      return sr__fail(ctx, SR_ERROR_DATA,
                      "a series of row %lld has %lld points; at most %d can be held: cut it into "
                      "windows or take every k-th point",
                      (long long)(s / series->channels), (long long)count, SR__MAX_SERIES_LENGTH);
  }
  for (int64_t r = 0; r < series->rows; r++) {
    int64_t end = end_of_row(series, r);
    for (int32_t c = 0; c < series->channels; c++) {
      int64_t count = points_of(series, r, c, end);
      if (count > length[c]) length[c] = (int32_t)count;
    }
  }
  return SR_OK;
}

sr_status sr__even_shape_find(sr_context *ctx, const sr__series_view *series, int32_t classes,
                              sr__even_shape *shape) {
  sr_status status = SR_OK;
  *shape = (sr__even_shape){.classes = classes, .channels = series->channels};
  SR_NEW(ctx, shape->length, series->channels > 0 ? series->channels : 1);
  SR_TRY(find_lengths(ctx, series, shape->length));
  if (classes < 1 || classes > SR__EVEN_MAX_CLASSES)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "there are %d classes; expected 1 to %d", classes,
                    SR__EVEN_MAX_CLASSES));
cleanup:
  return status;
}

void sr__even_shape_save(sr__even_shape shape, sr__bytes *bytes) {
  sr__put_u32(bytes, (uint32_t)shape.classes);
  sr__put_u64(bytes, (uint64_t)shape.channels);
  for (int32_t c = 0; c < shape.channels; c++) sr__put_u32(bytes, (uint32_t)shape.length[c]);
}

sr_status sr__even_shape_load(sr__byte_reader *reader, sr__even_shape *shape) {
  sr_status status = SR_OK;
  *shape = (sr__even_shape){0};
  uint32_t classes = sr__get_u32(reader);
  int64_t channels = sr__get_count(reader, 4);
  if (classes < 1 || classes > SR__EVEN_MAX_CLASSES)
    sr__get_refuse(reader, "the number of classes is wrong");
  if (channels < 1 || channels > SR__MAX_CHANNELS)
    sr__get_refuse(reader, "the number of series a row is wrong");
  SR_TRY(reader->status);
  shape->classes = (int32_t)classes;
  shape->channels = (int32_t)channels;
  SR_NEW(reader->ctx, shape->length, channels);
  for (int64_t c = 0; c < channels; c++) {
    uint32_t here = sr__get_u32(reader);
    if (here < 1 || here > SR__MAX_SERIES_LENGTH)
      sr__get_refuse(reader, "the length of a series is wrong");
    shape->length[c] = (int32_t)here;
  }
  SR_TRY(reader->status);
cleanup:
  return status;
}

static int64_t next_present(const float *from, int64_t count, int64_t at) {
  while (at < count && !isfinite(from[at])) at++;
  return at;
}

static bool is_whole(const float *from, int64_t count) {
  float sum = 0.0f; /* of zeros, or NaN */
  for (int64_t t = 0; t < count; t++) sum += from[t] - from[t];
  return sum == 0.0f;
}

void sr__even_points(const float *from, int64_t count, int64_t length, int64_t stride, float *to) {
  if (count == length && is_whole(from, count)) {
    for (int64_t t = 0; t < length; t++) to[t * stride] = from[t];
    return;
  }
  int64_t before = next_present(from, count, 0), after = before;
  if (before == count) {
    for (int64_t t = 0; t < length; t++) to[t * stride] = NAN;
    return;
  }
  /* Point t stands at place t * (count - 1) / (length - 1), kept as whole part and rest. */
  int64_t steps = length - 1;
  for (int64_t t = 0; t < length; t++) {
    int64_t whole = steps ? t * (count - 1) / steps : (count - 1) / 2;
    int64_t rest = steps ? t * (count - 1) % steps : (count - 1) % 2;
    double place = (double)whole + (double)rest / (double)(steps ? steps : 2);
    /* The last point that is there at or before the place, and the first one behind it. */
    while (after < count && after <= whole) {
      before = after;
      after = next_present(from, count, after + 1);
    }
    double value = from[before];
    if (after < count && place > (double)before)
      value += ((double)from[after] - value) * (place - (double)before) / (double)(after - before);
    to[t * stride] = (float)value;
  }
}

void sr__even_series(const sr__series_view *series, int64_t r, int32_t c, int64_t length,
                     int64_t stride, float *to) {
  sr__even_points(series->values + series->offset[r * series->channels + c],
                  points_of(series, r, c, end_of_row(series, r)), length, stride, to);
}
