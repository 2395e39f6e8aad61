#include "even_series.h"

#include <math.h>

sr_status sr__even_lengths(sr_context *ctx, const sr__ragged *series, int32_t *length) {
  if (series->rows < 1 || series->channels < 1)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "there are %lld rows with %d series each; a learner on series needs at least "
                    "one of both",
                    (long long)series->rows, series->channels);
  if (series->channels > SR__MAX_EVEN_CHANNELS)
    return sr__fail(ctx, SR_ERROR_DATA, "a row has %d series; at most %d can be held",
                    series->channels, SR__MAX_EVEN_CHANNELS);
  for (int32_t c = 0; c < series->channels; c++) length[c] = 1;
  for (int64_t s = 0; s < series->rows * series->channels; s++) {
    int64_t count = series->offset[s + 1] - series->offset[s];
    if (count > SR__MAX_EVEN_LENGTH)
      return sr__fail(ctx, SR_ERROR_DATA,
                      "a series of row %lld has %lld points; at most %d can be held: cut it into "
                      "windows or take every k-th point",
                      (long long)(s / series->channels) + 1, (long long)count, SR__MAX_EVEN_LENGTH);
    int32_t c = (int32_t)(s % series->channels);
    if (count > length[c]) length[c] = (int32_t)count;
  }
  return SR_OK;
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

void sr__even_series(const float *from, int64_t count, int64_t length, int64_t stride, float *to) {
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
