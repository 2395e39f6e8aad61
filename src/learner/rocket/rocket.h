/* ROCKET: random convolution filters, each giving the share of its outputs that are positive and
 * the largest of them. (The literature says kernel; here a kernel is a file per vector level.)
 *
 * Output o of a filter is the chain of fused sums that begins with the bias and takes channel by
 * channel, tap by tap, fma(weight, x[o - padding + tap * dilation], sum), x being zero outside of
 * the series. There are length + 2 padding - (taps - 1) dilation outputs, and one where a series is
 * too short for any: it is filled up with zeros. Every level gives the same bytes. */
#ifndef SR_LEARNER_ROCKET_H
#define SR_LEARNER_ROCKET_H

#include "core/bytes.h"
#include "core/random.h"
#include "learner/series/series_rows.h"

enum { SR__ROCKET_MAX_TAPS = 11, SR__ROCKET_MAX_FILTERS = 1 << 24 };

/* Sorted so that filters of one shape follow each other; filter k makes features 2k (share) and
 * 2k + 1 (largest). */
typedef struct sr__rocket {
  sr_allocator allocator;
  int32_t filters;
  int32_t channels;       /* of the series */
  int32_t length;         /* of the series that the filters were drawn for */
  int32_t *taps;          /* odd; 7, 9 or 11 where the length allows */
  int32_t *dilation;      /* steps from tap to tap */
  int32_t *padding;       /* zeros on either side */
  int32_t *channel_begin; /* filters + 1 */
  int32_t *channel;       /* that a filter reads */
  int64_t *weight_begin;  /* filters + 1 */
  float *weight;          /* taps of the first channel, of the second, ... */
  float *bias;
  int64_t most_padding, most_reach; /* reach: (taps - 1) dilation */
} sr__rocket;

typedef struct sr__rocket_options {
  int64_t kernels;
} sr__rocket_options;

/* taps uniform in {7, 9, 11}, dilation floor(2^x) with x uniform up to log2((length - 1) / (taps -
 * 1)), padding 0 or (taps - 1) dilation / 2 at even odds, weights normal with the mean of each
 * channel taken off, bias uniform in (-1, 1). Of several channels a filter reads floor(2^u), u
 * uniform up to log2(min(channels, taps) + 1). Taps are at most the largest odd number up to
 * `length`. Free with sr__rocket_free. */
SR_MUST_CHECK sr_status sr__rocket_draw(sr_context *ctx, int64_t filters, int64_t length,
                                        int32_t channels, sr__random *random, sr__rocket **rocket);
void sr__rocket_free(sr__rocket *rocket);

/* Features of filters [first, first + filters), counted from 2 first on. Memory: one padded block.
 */
SR_MUST_CHECK sr_status sr__rocket_transform(sr_context *ctx, const sr__rocket *rocket,
                                             int32_t first, int32_t filters, sr__made_blocks made);
/* All 2 x filters features of row r alone, with low latency; the same bytes as in a block. */
SR_MUST_CHECK sr_status sr__rocket_transform_one(sr_context *ctx, const sr__rocket *rocket,
                                                 const sr__series_rows *rows, int64_t r,
                                                 float *out);

void sr__rocket_save(const sr__rocket *rocket, sr__bytes *bytes);
/* Checks every number. */
SR_MUST_CHECK sr_status sr__rocket_load(sr__byte_reader *reader, sr__rocket **rocket);

#endif
