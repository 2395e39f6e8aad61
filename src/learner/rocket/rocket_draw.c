#include <stdlib.h>

#include "learner/series/draws.h"
#include "rocket_store.h"

void sr__rocket_free(sr__rocket *rocket) {
  if (!rocket) return;
  sr_allocator allocator = rocket->allocator;
  void *owned[] = {rocket->taps,    rocket->dilation,     rocket->padding, rocket->channel_begin,
                   rocket->channel, rocket->weight_begin, rocket->weight,  rocket->bias};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) sr__release(&allocator, owned[i]);
  sr__release(&allocator, rocket);
}

sr_status sr__rocket_new(sr_context *ctx, sr__rocket_sizes sizes, sr__rocket **rocket) {
  sr_status status = SR_OK;
  sr__rocket *made = NULL;
  int64_t filters = sizes.filters;
  *rocket = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->filters = sizes.filters;
  made->channels = sizes.channels;
  made->length = sizes.length;
  SR_NEW(ctx, made->taps, filters);
  SR_NEW(ctx, made->dilation, filters);
  SR_NEW(ctx, made->padding, filters);
  SR_NEW_ZERO(ctx, made->channel_begin, filters + 1);
  SR_NEW(ctx, made->channel, sizes.channels_read);
  SR_NEW_ZERO(ctx, made->weight_begin, filters + 1);
  SR_NEW(ctx, made->weight, sizes.weights);
  SR_NEW(ctx, made->bias, filters);
  *rocket = made;
  made = NULL;
cleanup:
  sr__rocket_free(made);
  return status;
}

void sr__rocket_measure(sr__rocket *rocket) {
  for (int32_t k = 0; k < rocket->filters; k++) {
    int64_t reach = (rocket->taps[k] - 1) * (int64_t)rocket->dilation[k];
    if (reach > rocket->most_reach) rocket->most_reach = reach;
    if (rocket->padding[k] > rocket->most_padding) rocket->most_padding = rocket->padding[k];
  }
}

/* ---- drawing ------------------------------------------------------------------------------- */

/* A filter as it is drawn; sorted by shape afterwards. */
typedef struct drawn_filter {
  int32_t taps, dilation, padding, channels, first_channel, drawn;
  int64_t channel_at, weight_at;
  float bias;
} drawn_filter;

typedef struct drawing {
  sr_context *ctx;
  int32_t channels, length;
  drawn_filter *filter;
  int32_t *channel;
  float *weight;
  uint64_t *bitmap;
  int64_t channels_read, channel_capacity, weights, weight_capacity;
} drawing;

static sr_status draw_filter(drawing *d, sr__random *random, int32_t k) {
  sr_status status = SR_OK;
  drawn_filter *f = &d->filter[k];
  int32_t longest = d->length - (d->length % 2 == 0);
  f->drawn = k;
  f->taps = 7 + 2 * (int32_t)sr__random_below(random, 3);
  if (f->taps > longest) f->taps = longest;
  f->channels = 1;
  if (d->channels > 1) {
    int32_t most = d->channels < f->taps ? d->channels : f->taps;
    f->channels = sr__draw_power((double)most + 1.0, random);
    if (f->channels > most) f->channels = most;
  }
  f->channel_at = d->channels_read;
  SR_GROW(d->ctx, d->channel, d->channel_capacity, d->channels_read + f->channels);
  d->channel[f->channel_at] = 0;
  if (d->channels > 1)
    sr__random_sample(random, d->channels, f->channels, d->bitmap, d->channel + f->channel_at);
  f->first_channel = d->channel[f->channel_at];
  d->channels_read += f->channels;
  f->weight_at = d->weights;
  SR_GROW(d->ctx, d->weight, d->weight_capacity, d->weights + (int64_t)f->channels * f->taps);
  for (int32_t c = 0; c < f->channels; c++, d->weights += f->taps) {
    double value[SR__ROCKET_MAX_TAPS], mean = 0.0;
    for (int32_t j = 0; j < f->taps; j++) mean += value[j] = sr__random_normal(random);
    mean /= f->taps;
    for (int32_t j = 0; j < f->taps; j++) d->weight[d->weights + j] = (float)(value[j] - mean);
  }
  f->bias = (float)(2.0 * sr__random_uniform(random) - 1.0);
  f->dilation =
      f->taps > 1 ? sr__draw_power((double)(d->length - 1) / (double)(f->taps - 1), random) : 1;
  f->padding = sr__random_bits(random) >> 63 ? (f->taps - 1) / 2 * f->dilation : 0;
cleanup:
  return status;
}

/* Filters of one channel first, so that those which can share their loads stand together. */
static int by_shape(const void *a, const void *b) {
  const drawn_filter *p = a, *q = b;
  int32_t difference[] = {p->channels - q->channels, p->first_channel - q->first_channel,
                          p->taps - q->taps,         p->dilation - q->dilation,
                          p->padding - q->padding,   p->drawn - q->drawn};
  for (size_t i = 0; i < sizeof difference / sizeof *difference; i++)
    if (difference[i] != 0) return difference[i] < 0 ? -1 : 1;
  return 0;
}

static void lay_out(const drawing *d, sr__rocket *rocket) {
  for (int32_t k = 0; k < rocket->filters; k++) {
    const drawn_filter *f = &d->filter[k];
    int32_t channel_at = rocket->channel_begin[k];
    int64_t weight_at = rocket->weight_begin[k], weights = (int64_t)f->channels * f->taps;
    rocket->taps[k] = f->taps;
    rocket->dilation[k] = f->dilation;
    rocket->padding[k] = f->padding;
    rocket->bias[k] = f->bias;
    memcpy(rocket->channel + channel_at, d->channel + f->channel_at,
           (size_t)f->channels * sizeof *d->channel);
    memcpy(rocket->weight + weight_at, d->weight + f->weight_at,
           (size_t)weights * sizeof *d->weight);
    rocket->channel_begin[k + 1] = channel_at + f->channels;
    rocket->weight_begin[k + 1] = weight_at + weights;
  }
}

sr_status sr__rocket_draw(sr_context *ctx, int64_t filters, int64_t length, int32_t channels,
                          sr__random *random, sr__rocket **rocket) {
  sr_status status = SR_OK;
  drawing d = {.ctx = ctx, .channels = channels, .length = (int32_t)length};
  *rocket = NULL;
  if (filters < 1 || filters > SR__ROCKET_MAX_FILTERS || length < 1 ||
      length > SR__MAX_SERIES_LENGTH || channels < 1 || channels > SR__MAX_CHANNELS)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "%lld kernels for series of %lld values in %d channels are out of range; use 1 "
                    "to %d kernels",
                    (long long)filters, (long long)length, channels, SR__ROCKET_MAX_FILTERS));
  SR_NEW(ctx, d.filter, filters);
  SR_NEW(ctx, d.bitmap, (channels + 63) / 64);
  for (int32_t k = 0; k < filters; k++) SR_TRY(draw_filter(&d, random, k));
  qsort(d.filter, (size_t)filters, sizeof *d.filter, by_shape);
  sr__rocket_sizes sizes = {(int32_t)filters, channels, (int32_t)length, d.channels_read,
                            d.weights};
  SR_TRY(sr__rocket_new(ctx, sizes, rocket));
  lay_out(&d, *rocket);
  sr__rocket_measure(*rocket);
cleanup:
  sr__free(ctx, d.filter);
  sr__free(ctx, d.channel);
  sr__free(ctx, d.weight);
  sr__free(ctx, d.bitmap);
  return status;
}
