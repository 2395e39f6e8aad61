#include <math.h>

#include "learner/series/draws.h"
#include "minirocket_store.h"

void sr__minirocket_free(sr__minirocket *mini) {
  if (!mini) return;
  sr_allocator allocator = mini->allocator;
  sr__release(&allocator, mini->bias);
  sr__release(&allocator, mini->channel_begin);
  sr__release(&allocator, mini->channel);
  sr__release(&allocator, mini);
}

sr_status sr__minirocket_new(sr_context *ctx, int32_t channels, int32_t length,
                             sr__minirocket **mini) {
  sr_status status = SR_OK;
  *mini = NULL;
  SR_NEW_ZERO(ctx, *mini, 1);
  (*mini)->allocator = sr__allocator(ctx);
  (*mini)->channels = channels;
  (*mini)->length = length;
cleanup:
  return status;
}

sr_status sr__minirocket_arrays(sr_context *ctx, int64_t channels_read, sr__minirocket *mini) {
  sr_status status = SR_OK;
  for (int32_t d = 0; d < mini->dilations; d++)
    mini->first[d + 1] = mini->first[d] + SR__MINI_FILTERS * mini->biases[d];
  SR_NEW(ctx, mini->bias, sr__minirocket_features(mini));
  SR_NEW_ZERO(ctx, mini->channel_begin, (int64_t)mini->dilations * SR__MINI_FILTERS + 1);
  SR_NEW_ZERO(ctx, mini->channel, channels_read);
cleanup:
  return status;
}

void sr__minirocket_measure(sr__minirocket *mini) {
  for (int32_t f = 0; f < sr__minirocket_features(mini); f++)
    if (fabsf(mini->bias[f]) > mini->most_bias) mini->most_bias = fabsf(mini->bias[f]);
}

/* Whole parts of `most` powers of two, evenly spaced in their exponent from 1 to (length - 1) / 8,
 * each with its share of `per_filter` biases; what is left over goes to the first, one each. */
static void find_dilations(int32_t length, int32_t per_filter, int32_t most, sr__minirocket *mini) {
  int32_t times[SR__MINI_MAX_DILATIONS] = {0}, given = 0, n = 0;
  if (most > per_filter) most = per_filter;
  double last = log2((double)(length - 1) / (SR__MINI_TAPS - 1));
  for (int32_t i = 0; i < most; i++) {
    int32_t dilation = (int32_t)exp2(most > 1 ? last * i / (most - 1) : 0.0);
    if (n == 0 || mini->dilation[n - 1] != dilation) mini->dilation[n++] = dilation;
    times[n - 1]++;
  }
  for (int32_t d = 0; d < n; d++)
    given += mini->biases[d] = (int32_t)((int64_t)times[d] * per_filter / most);
  for (int32_t d = 0; given < per_filter; d = (d + 1) % n, given++) mini->biases[d]++;
  mini->dilations = n;
}

static sr_status draw_channels(sr_context *ctx, sr__random *random, int64_t *capacity,
                               uint64_t *bitmap, int64_t at, sr__minirocket *mini) {
  sr_status status = SR_OK;
  int32_t begin = mini->channel_begin[at], number = 1;
  if (mini->channels > 1) {
    int32_t most = mini->channels < SR__MINI_TAPS ? mini->channels : SR__MINI_TAPS;
    number = sr__draw_power((double)most + 1.0, random);
    if (number > most) number = most;
  }
  SR_GROW(ctx, mini->channel, *capacity, (int64_t)begin + number);
  mini->channel[begin] = 0;
  if (mini->channels > 1)
    sr__random_sample(random, mini->channels, number, bitmap, mini->channel + begin);
  mini->channel_begin[at + 1] = begin + number;
cleanup:
  return status;
}

/* ---- biases -------------------------------------------------------------------------------- */

/* One row, with zeros on either side as far as the taps reach. */
typedef struct response_scratch {
  int64_t reach, steps;
  float *memory, *x; /* x: step 0 */
  float *response;
  uint32_t *key, *other_key;
} response_scratch;

static void load_row(const sr__series_rows *rows, int64_t r, const int32_t *channel,
                     int32_t channels, response_scratch *s, int64_t *length) {
  int64_t given = sr__series_length(rows, r);
  *length = given < SR__MINI_TAPS ? SR__MINI_TAPS : given;
  memset(s->x, 0, (size_t)(*length + s->reach) * sizeof *s->x);
  for (int32_t c = 0; c < channels; c++) {
    const float *from = rows->values + rows->begin[r] + channel[c] * given;
    for (int64_t t = 0; t < given; t++) s->x[t] = c ? s->x[t] + from[t] : from[t];
  }
}

/* In the order of the definition. */
static void respond(const float *x, int64_t length, int64_t d, const int *taps, float *out) {
  const float *a = x + (taps[0] - 4) * d, *b = x + (taps[1] - 4) * d, *c = x + (taps[2] - 4) * d;
  for (int64_t t = 0; t < length; t++) {
    const float *q = x + t;
    float base =
        -q[0] - q[-4 * d] - q[-3 * d] - q[-2 * d] - q[-d] - q[d] - q[2 * d] - q[3 * d] - q[4 * d];
    out[t] = base + (a[t] + a[t] + a[t]) + (b[t] + b[t] + b[t]) + (c[t] + c[t] + c[t]);
  }
}

/* By their bits, one byte a pass. */
static void sort_floats(int64_t n, float *values, uint32_t *from, uint32_t *to) {
  const uint32_t sign = (uint32_t)1 << 31;
  memcpy(from, values, (size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++) from[i] ^= from[i] & sign ? UINT32_MAX : sign;
  for (int shift = 0; shift < 32; shift += 8) {
    int64_t at[257] = {0};
    for (int64_t i = 0; i < n; i++) at[(from[i] >> shift & 255) + 1]++;
    for (int k = 0; k < 256; k++) at[k + 1] += at[k];
    for (int64_t i = 0; i < n; i++) to[at[from[i] >> shift & 255]++] = from[i];
    uint32_t *swap = from;
    from = to;
    to = swap;
  }
  for (int64_t i = 0; i < n; i++) from[i] ^= from[i] & sign ? sign : UINT32_MAX;
  memcpy(values, from, (size_t)n * sizeof *values);
}

/* Quantile number f of a sequence of low discrepancy, between neighbors on a line. */
static float quantile(const float *sorted, int64_t n, int64_t f) {
  double whole, at = modf((double)(f + 1) * 1.6180339887498949, &whole) * (double)(n - 1);
  int64_t below = (int64_t)at, above = below + 1 < n ? below + 1 : below;
  double low = (double)sorted[below], high = (double)sorted[above];
  return (float)(low + (at - (double)below) * (high - low));
}

static sr_status new_scratch(sr_context *ctx, const sr__minirocket *mini, int64_t longest,
                             response_scratch *s) {
  sr_status status = SR_OK;
  s->reach = 4 * (int64_t)mini->dilation[mini->dilations - 1];
  s->steps = longest < SR__MINI_TAPS ? SR__MINI_TAPS : longest;
  SR_NEW_ZERO(ctx, s->memory, 2 * s->reach + s->steps);
  s->x = s->memory + s->reach;
  SR_NEW(ctx, s->response, s->steps);
  SR_NEW(ctx, s->key, s->steps);
  SR_NEW(ctx, s->other_key, s->steps);
cleanup:
  return status;
}

/* The three taps of the filter after this one, from {0, 1, 2} on. */
static void minirocket_next_taps(int *taps) {
  if (++taps[2] < SR__MINI_TAPS) return;
  if (++taps[1] >= SR__MINI_TAPS - 1) taps[1] = ++taps[0] + 1;
  taps[2] = taps[1] + 1;
}

static sr_status find_biases(sr_context *ctx, const sr__series_rows *rows, sr__picked picked,
                             sr__random *random, sr__minirocket *mini) {
  sr_status status = SR_OK;
  response_scratch s = {0};
  uint64_t *bitmap = NULL;
  int64_t capacity = 0, length = 0;
  SR_TRY(new_scratch(ctx, mini, rows->longest, &s));
  SR_NEW(ctx, bitmap, (mini->channels + 63) / 64);
  for (int32_t d = 0; d < mini->dilations; d++) {
    int taps[3] = {0, 1, 2};
    SR_TRY(sr__check_interrupt(ctx));
    for (int32_t k = 0; k < SR__MINI_FILTERS; k++) {
      int64_t at = (int64_t)d * SR__MINI_FILTERS + k, first = mini->first[d] + k * mini->biases[d];
      SR_TRY(draw_channels(ctx, random, &capacity, bitmap, at, mini));
      int64_t drawn = (int64_t)sr__random_below(random, (uint64_t)picked.count);
      load_row(rows, sr__picked_row(picked, drawn), mini->channel + mini->channel_begin[at],
               mini->channel_begin[at + 1] - mini->channel_begin[at], &s, &length);
      respond(s.x, length, mini->dilation[d], taps, s.response);
      sort_floats(length, s.response, s.key, s.other_key);
      for (int64_t f = first; f < first + mini->biases[d]; f++)
        mini->bias[f] = quantile(s.response, length, f);
      minirocket_next_taps(taps);
    }
  }
cleanup:
  sr__free(ctx, s.memory);
  sr__free(ctx, s.response);
  sr__free(ctx, s.key);
  sr__free(ctx, s.other_key);
  sr__free(ctx, bitmap);
  return status;
}

sr_status sr__minirocket_fit(sr_context *ctx, sr__mini_sample sample,
                             const sr__minirocket_options *options, sr__random *random,
                             sr__minirocket **mini) {
  sr_status status = SR_OK;
  sr__minirocket *made = NULL;
  int64_t length = sample.length < SR__MINI_TAPS ? SR__MINI_TAPS : sample.length;
  *mini = NULL;
  if (options->features < SR__MINI_FILTERS || options->features > SR__MINI_MAX_FEATURES ||
      options->dilations < 1 || options->dilations > SR__MINI_MAX_DILATIONS ||
      sample.picked.count < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "%lld features at %lld dilations from %lld series are out of range; use %d to "
                    "%d features, 1 to %d dilations and at least one series",
                    (long long)options->features, (long long)options->dilations,
                    (long long)sample.picked.count, SR__MINI_FILTERS, SR__MINI_MAX_FEATURES,
                    SR__MINI_MAX_DILATIONS));
  SR_TRY(sr__minirocket_new(ctx, sample.rows->channels, (int32_t)length, &made));
  made->whole = options->whole != 0;
  find_dilations(made->length, (int32_t)(options->features / SR__MINI_FILTERS),
                 (int32_t)options->dilations, made);
  SR_TRY(sr__minirocket_arrays(ctx, 0, made));
  SR_TRY(find_biases(ctx, sample.rows, sample.picked, random, made));
  sr__minirocket_measure(made);
  *mini = made;
  made = NULL;
cleanup:
  sr__minirocket_free(made);
  return status;
}
