/* MiniRocket: the 84 filters of nine taps with weight 2 at three of them and -1 at six, at up to 32
 * dilations; each gives shares of outputs above biases that are quantiles of its response on
 * training series. Nothing is random but the series that the quantiles are taken from.
 *
 * The response at time t with taps at t + (j - 4) dilation is the sum, in this order, of
 *   -(x_4) - x_0 - x_1 - x_2 - x_3 - x_5 - x_6 - x_7 - x_8, 3 x_a, 3 x_b, 3 x_c  (a < b < c),
 * x being zero outside of the series and, of several channels, the sum over those that the filter
 * reads at this dilation. Every second filter looks only at outputs that see no zeros; where there
 * is none the series is filled up with zeros to one output. Series of fewer than nine values are
 * filled up with zeros. Every level gives the same bytes. */
#ifndef SR_LEARNER_MINIROCKET_H
#define SR_LEARNER_MINIROCKET_H

#include "core/bytes.h"
#include "core/random.h"
#include "learner/answers.h"
#include "learner/series/series_rows.h"

enum {
  SR__MINI_FILTERS = 84,
  SR__MINI_TAPS = 9,
  SR__MINI_MAX_DILATIONS = 32,
  SR__MINI_MAX_FEATURES = 1 << 24
};

typedef struct sr__minirocket {
  sr_allocator allocator;
  int32_t channels;
  int32_t length; /* that the dilations were made for, at least 9 */
  bool whole;     /* whole numbers of 16 bits instead of floats: faster and a little different */
  int32_t dilations;
  int32_t dilation[SR__MINI_MAX_DILATIONS];  /* increasing */
  int32_t biases[SR__MINI_MAX_DILATIONS];    /* of each filter at this dilation */
  int32_t first[SR__MINI_MAX_DILATIONS + 1]; /* feature of each dilation */
  float *bias;                               /* features, in the order dilation, filter, bias */
  float most_bias;                           /* the largest |bias| */
  int32_t *channel_begin;                    /* dilations * 84 + 1 */
  int32_t *channel;                          /* that a filter reads at a dilation */
} sr__minirocket;

static inline int32_t sr__minirocket_features(const sr__minirocket *mini) {
  return mini->first[mini->dilations];
}

typedef struct sr__minirocket_options {
  int64_t features;  /* rounded down to a multiple of 84; at least 84 */
  int64_t dilations; /* 1 to 32 */
  int whole;         /* flag */
} sr__minirocket_options;

/* Series of up to `length` values; the biases come from the picked rows. */
typedef struct sr__mini_sample {
  const sr__series_rows *rows;
  sr__picked picked;
  int64_t length;
} sr__mini_sample;

/* Free with sr__minirocket_free. */
SR_MUST_CHECK sr_status sr__minirocket_fit(sr_context *ctx, sr__mini_sample sample,
                                           const sr__minirocket_options *options,
                                           sr__random *random, sr__minirocket **mini);
void sr__minirocket_free(sr__minirocket *mini);

/* Filters [first, first + count) at one dilation. */
typedef struct sr__mini_filters {
  int32_t dilation; /* its number */
  int32_t first, count;
} sr__mini_filters;

/* Features of the filters, counted from the first filter's first bias on. */
SR_MUST_CHECK sr_status sr__minirocket_transform(sr_context *ctx, const sr__minirocket *mini,
                                                 sr__mini_filters filters, sr__made_blocks made);
/* All features of row r alone, with low latency; the same bytes as in a block. */
SR_MUST_CHECK sr_status sr__minirocket_transform_one(sr_context *ctx, const sr__minirocket *mini,
                                                     const sr__series_rows *rows, int64_t r,
                                                     float *out);

void sr__minirocket_save(const sr__minirocket *mini, sr__bytes *bytes);
/* Checks every number. */
SR_MUST_CHECK sr_status sr__minirocket_load(sr__byte_reader *reader, sr__minirocket **mini);

#endif
